// Zig-zag of a path of partitions: how classes split and merge from node to node, through unions or intersections.
#pragma once

#include "core.hpp"
#include "threads.hpp"

namespace kech {

using Label = std::uint32_t;
using Labels = std::vector<Label>;
using Rows = std::vector<std::int64_t>;
constexpr Label nobody = std::numeric_limits<Label>::max();

// Position 2i is node i of the path, 2i + 1 the union or intersection of nodes i and i + 1.
// Bar b lives from birth[b] to death[b] and carries rows[begin[b] .. begin[b + 1]), a number for each position.
struct Zigzag {
    Rows birth, death, begin, rows;
    Rows classes, smallest, holes;  // at each position
};

// Items in the order of their keys, equal ones as they were; one pass to count and one to place.
template <class Key>
Labels in_order(const Labels& items, std::size_t keys, Key key) {
    std::vector<std::size_t> place(keys + 1, 0);
    for (auto item : items) ++place[key(item) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    Labels ordered(items.size());
    for (auto item : items) ordered[place[key(item)]++] = item;
    return ordered;
}

// Classes with many rows first, digit by digit of what they lack of the heaviest.
inline Labels heaviest_first(const Rows& rows) {
    constexpr unsigned bits = 11, digits = 1u << bits;
    Labels order = count_up<Label>(rows.size());
    if (rows.empty()) return order;
    auto [least, most] = std::minmax_element(rows.begin(), rows.end());
    auto top = *most, reach = top - *least;
    for (unsigned shift = 0; shift < 63 && reach >> shift; shift += bits)
        order = in_order(order, digits, [&](Label c) { return static_cast<std::size_t>((top - rows[c]) >> shift) % digits; });
    return order;
}

// A node of the path: the class of each point.
struct PathNode {
    const std::int64_t* of;
    std::size_t points, count;

    PathNode(const std::int64_t* labels, std::size_t size)
        : of(labels), points(size), count(size ? *std::max_element(labels, labels + size) + 1 : 0) {}

    Rows rows(const std::int64_t* weights) const {
        Rows sums(count, 0);
        for (std::size_t i = 0; i < points; ++i) sums[of[i]] += weights[i];
        return sums;
    }
};

// What lies between two neighbours.  Meet: `left` and `right` say for each of its classes of which class of either
// neighbour it is a part.  Join: they say for each class of either neighbour into which class it goes.
struct Between {
    Labels left, right;
    Rows rows;
    std::int64_t holes = 0;  // dim H_1
};

// Points go class by class of the left neighbour; a part is new when its right class was last seen before this class.
inline Between meet(const PathNode& a, const PathNode& b, const std::int64_t* weights) {
    struct Item {
        Label other;
        std::int64_t rows;
    };
    std::vector<std::size_t> place(a.count + 1, 0);
    for (std::size_t i = 0; i < a.points; ++i) ++place[a.of[i] + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<Item> items(a.points);
    for (std::size_t i = 0; i < a.points; ++i) items[place[a.of[i]]++] = {static_cast<Label>(b.of[i]), weights[i]};
    Between parts;
    std::vector<std::size_t> seen(b.count, 0);  // parts there were when the right class last had a part, that one too
    for (std::size_t own = 0, i = 0; own < a.count; ++own) {
        auto before = parts.rows.size();
        for (; i < place[own]; ++i) {
            auto& part = seen[items[i].other];
            if (part <= before) {
                parts.left.push_back(static_cast<Label>(own));
                parts.right.push_back(items[i].other);
                parts.rows.push_back(0);
                part = parts.rows.size();
            }
            parts.rows[part - 1] += items[i].rows;
        }
    }
    return parts;
}

// Disjoint sets, linked by size, with halved paths; what is known of an item lies beside its link.
struct Linked {
    Label up, size = 1;
};

template <class Item>
class Sets {
  public:
    explicit Sets(std::size_t size) : items_(size) {
        for (Label i = 0; i < size; ++i) items_[i].up = i;
    }

    Item& operator[](Label i) { return items_[i]; }

    Label find(Label i) {
        while (items_[i].up != i) i = items_[i].up = items_[items_[i].up].up;
        return i;
    }

    // The root of both.
    Label unite(Label a, Label b) {
        a = find(a), b = find(b);
        if (a == b) return a;
        if (items_[a].size < items_[b].size) std::swap(a, b);
        items_[b].up = a;
        items_[a].size += items_[b].size;
        return a;
    }

  private:
    std::vector<Item> items_;
};

// The parts of the meet are the edges between the classes of both neighbours: dim H_1 = #meet - #a - #b + #join.
inline Between join(const Between& parts, std::size_t left, std::size_t right) {
    Sets<Linked> sets(left + right);
    for (std::size_t i = 0; i < parts.rows.size(); ++i)
        sets.unite(parts.left[i], static_cast<Label>(left) + parts.right[i]);
    Between whole{Labels(left), Labels(right), {}, 0};
    Labels number(left + right, nobody);
    Label count = 0;
    for (Label c = 0; c < left + right; ++c) {
        auto& own = number[sets.find(c)];
        if (own == nobody) own = count++;
        (c < left ? whole.left[c] : whole.right[c - left]) = own;
    }
    whole.rows.assign(count, 0);
    for (std::size_t i = 0; i < parts.rows.size(); ++i) whole.rows[whole.left[parts.left[i]]] += parts.rows[i];
    whole.holes = static_cast<std::int64_t>(parts.rows.size() + count) - static_cast<std::int64_t>(left + right);
    return whole;
}

// The classes of every position, each hanging from one of the position before.  Where classes merge, their paths
// back are glued, position by position, up to where they parted: a bar was born there, and ends here.  Every step
// of gluing unites two sets, so all steps together are fewer than the classes.
class MergeForest {
  public:
    explicit MergeForest(Rows rows) { add(std::move(rows), {}); }

    // Classes part, or stay.
    void refine(const Labels& parent, Rows rows) { add(std::move(rows), parent); }

    // Classes merge, or stay: the heaviest of each new class lives on.
    void coarsen(const Labels& into, Rows rows) {
        Labels living(rows.size(), nobody);
        for (auto c : heaviest_first(levels_.back().rows)) {
            auto& heir = living[into[c]];
            if (heir == nobody)
                heir = c;
            else
                glue(c, heir);
        }
        add(std::move(rows), living);
    }

    // What lives to the end is parted into bars as if all classes merged after it.
    Zigzag finish() {
        auto order = heaviest_first(levels_.back().rows);
        for (std::size_t i = 1; i < order.size(); ++i) glue(order[i], order[0]);
        if (!order.empty()) keep(order[0]);
        return collect();
    }

  private:
    // A class of a position.  A set of glued ones has one heir, the only one whose bar is not known yet.
    struct Vertex : Linked {
        Label parent = nobody, heir = nobody, bar = nobody;
    };

    // One position.
    struct Level {
        Rows rows;
        Sets<Vertex> classes;
    };

    void add(Rows rows, const Labels& parent) {
        Sets<Vertex> classes(rows.size());
        for (Label c = 0; c < rows.size(); ++c) classes[c].heir = c;
        for (Label c = 0; c < parent.size(); ++c) classes[c].parent = parent[c];
        levels_.push_back({std::move(rows), std::move(classes)});
    }

    // The lighter class dies and takes the heirs of its own path; the heavier one keeps those of the other.
    void glue(Label dying, Label living) {
        auto bar = static_cast<Label>(birth_.size());
        std::size_t at = levels_.size();
        for (; at > 0; --at) {
            auto& classes = levels_[at - 1].classes;
            auto x = classes.find(dying), y = classes.find(living);
            if (x == y) break;
            auto heir = classes[y].heir;
            dying = classes[x].parent, living = classes[y].parent;
            classes[classes[x].heir].bar = bar;
            classes[classes.unite(x, y)].heir = heir;
        }
        close(at);
    }

    void keep(Label living) {
        auto bar = static_cast<Label>(birth_.size());
        for (std::size_t at = levels_.size(); at > 0; --at) {
            auto& classes = levels_[at - 1].classes;
            auto& root = classes[classes.find(living)];
            classes[root.heir].bar = bar;
            living = root.parent;
        }
        close(0);
    }

    void close(std::size_t birth) {
        birth_.push_back(static_cast<std::int64_t>(birth));
        death_.push_back(static_cast<std::int64_t>(levels_.size()) - 1);
    }

    // Bars by birth, then death; each class hands its rows to its bar.
    Zigzag collect() {
        Zigzag out;
        auto by = [](const Rows& values) { return [&values](Label b) { return static_cast<std::size_t>(values[b]); }; };
        Labels by_death = in_order(count_up<Label>(birth_.size()), levels_.size(), by(death_));
        Labels order = in_order(by_death, levels_.size(), by(birth_));
        Rows start(order.size());
        out.begin.assign(1, 0);
        for (auto b : order) {
            out.birth.push_back(birth_[b]);
            out.death.push_back(death_[b]);
            start[b] = out.begin.back() - birth_[b];
            out.begin.push_back(out.begin.back() + death_[b] - birth_[b] + 1);
        }
        out.rows.resize(out.begin.back());
        for (std::size_t at = 0; at < levels_.size(); ++at) {
            Level level = std::move(levels_[at]);
            for (Label c = 0; c < level.rows.size(); ++c) out.rows[start[level.classes[c].bar] + at] = level.rows[c];
            out.classes.push_back(static_cast<std::int64_t>(level.rows.size()));
            out.smallest.push_back(level.rows.empty() ? 0 : *std::min_element(level.rows.begin(), level.rows.end()));
        }
        return out;
    }

    std::vector<Level> levels_;
    Rows birth_, death_;
};

// The zig-zag of a path.
class PathWalk {
  public:
    PathWalk(const std::vector<const std::int64_t*>& path, const std::int64_t* weights, std::size_t points, bool unions)
        : weights_(weights), unions_(unions) {
        for (auto labels : path) nodes_.emplace_back(labels, points);
    }

    // As many steps at once as there are threads, so that little is held beside the forest.
    Zigzag run(unsigned threads) {
        if (nodes_.empty()) return {};
        threads = std::max(threads, 1u);
        MergeForest forest(nodes_[0].rows(weights_));
        Rows holes{0};
        for (std::size_t first = 0; first + 1 < nodes_.size(); first += threads) {
            auto count = std::min<std::size_t>(threads, nodes_.size() - 1 - first);
            for (auto& [between, next] : look_ahead(first, count)) {
                holes.insert(holes.end(), {between.holes, 0});
                advance(forest, std::move(between), std::move(next));
            }
        }
        auto out = forest.finish();
        out.holes = std::move(holes);
        return out;
    }

  private:
    using Step = std::pair<Between, Rows>;  // what lies between, and the rows of the node after it

    std::vector<Step> look_ahead(std::size_t first, std::size_t count) const {
        std::vector<Step> steps(count);
        auto look = [&](std::size_t i) {
            const PathNode &a = nodes_[first + i], &b = nodes_[first + i + 1];
            auto parts = meet(a, b, weights_);
            Rows next(b.count, 0);
            for (std::size_t part = 0; part < parts.rows.size(); ++part) next[parts.right[part]] += parts.rows[part];
            steps[i] = {unions_ ? join(parts, a.count, b.count) : std::move(parts), std::move(next)};
        };
        run_threads(count, look);
        return steps;
    }

    void advance(MergeForest& forest, Between between, Rows next) const {
        if (unions_) {
            forest.coarsen(between.left, std::move(between.rows));
            forest.refine(between.right, std::move(next));
        } else {
            forest.refine(between.left, std::move(between.rows));
            forest.coarsen(between.right, std::move(next));
        }
    }

    std::vector<PathNode> nodes_;
    const std::int64_t* weights_;
    bool unions_;
};

}  // namespace kech
