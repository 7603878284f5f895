// Zig-zag of a path of partitions: how classes split and merge from node to node, through unions or intersections.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

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

inline Labels count_up(std::size_t size) {
    Labels all(size);
    std::iota(all.begin(), all.end(), Label{0});
    return all;
}

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
    Labels order = count_up(rows.size());
    if (rows.empty()) return order;
    auto [least, most] = std::minmax_element(rows.begin(), rows.end());
    auto top = *most, reach = top - *least;
    for (unsigned shift = 0; shift < 63 && reach >> shift; shift += bits)
        order = in_order(order, digits, [&](Label c) { return static_cast<std::size_t>((top - rows[c]) >> shift) % digits; });
    return order;
}

// A partition of the points, as it comes in.
struct Classes {
    const std::int64_t* of;
    std::size_t points, count;

    Classes(const std::int64_t* labels, std::size_t size)
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

// Points go class by class of the left neighbour; the last part seen of a right class tells whether a part is new.
inline Between meet(const Classes& a, const Classes& b, const std::int64_t* weights) {
    Between parts;
    Labels last(b.count, nobody);
    for (auto i : in_order(count_up(a.points), a.count, [&](Label i) { return static_cast<std::size_t>(a.of[i]); })) {
        auto own = static_cast<Label>(a.of[i]), other = static_cast<Label>(b.of[i]);
        auto& part = last[other];
        if (part == nobody || parts.left[part] != own) {
            part = static_cast<Label>(parts.left.size());
            parts.left.push_back(own);
            parts.right.push_back(other);
            parts.rows.push_back(0);
        }
        parts.rows[part] += weights[i];
    }
    return parts;
}

// Disjoint sets, linked by size, with halved paths.
class Sets {
  public:
    explicit Sets(std::size_t size) : up_(count_up(size)), size_(size, 1) {}

    Label find(Label i) {
        while (up_[i] != i) i = up_[i] = up_[up_[i]];
        return i;
    }

    // The root of both.
    Label unite(Label a, Label b) {
        a = find(a), b = find(b);
        if (a == b) return a;
        if (size_[a] < size_[b]) std::swap(a, b);
        up_[b] = a;
        size_[a] += size_[b];
        return a;
    }

  private:
    Labels up_, size_;
};

// The parts of the meet are the edges between the classes of both neighbours: dim H_1 = #meet - #a - #b + #join.
inline Between join(const Between& parts, std::size_t left, std::size_t right) {
    Sets sets(left + right);
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
    void refine(Labels parent, Rows rows) { add(std::move(rows), std::move(parent)); }

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
        add(std::move(rows), std::move(living));
    }

    // What lives to the end is parted into bars as if all classes merged after it.
    Zigzag finish() {
        auto order = heaviest_first(levels_.back().rows);
        for (std::size_t i = 1; i < order.size(); ++i) glue(order[i], order[0]);
        if (!order.empty()) keep(order[0]);
        return collect();
    }

  private:
    // One position.  A set of glued classes has one heir, the only one whose bar is not known yet.
    struct Level {
        Rows rows;
        Labels parent, heir, bar;
        Sets sets;
    };

    void add(Rows rows, Labels parent) {
        auto size = rows.size();
        levels_.push_back({std::move(rows), std::move(parent), count_up(size), Labels(size, nobody), Sets(size)});
    }

    // The lighter class dies and takes the heirs of its own path; the heavier one keeps those of the other.
    void glue(Label dying, Label living) {
        auto bar = static_cast<Label>(birth_.size());
        std::size_t at = levels_.size();
        while (at > 0) {
            Level& level = levels_[at - 1];
            auto x = level.sets.find(dying), y = level.sets.find(living);
            if (x == y) break;
            auto heir = level.heir[y];
            level.bar[level.heir[x]] = bar;
            level.heir[level.sets.unite(x, y)] = heir;
            if (--at > 0) dying = level.parent[x], living = level.parent[y];
        }
        close(at);
    }

    void keep(Label living) {
        auto bar = static_cast<Label>(birth_.size());
        for (std::size_t at = levels_.size(); at > 0; --at) {
            Level& level = levels_[at - 1];
            auto root = level.sets.find(living);
            level.bar[level.heir[root]] = bar;
            if (at > 1) living = level.parent[root];
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
        auto order = in_order(in_order(count_up(birth_.size()), levels_.size(), by(death_)), levels_.size(), by(birth_));
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
            for (std::size_t c = 0; c < level.rows.size(); ++c) out.rows[start[level.bar[c]] + at] = level.rows[c];
            out.classes.push_back(static_cast<std::int64_t>(level.rows.size()));
            out.smallest.push_back(level.rows.empty() ? 0 : *std::min_element(level.rows.begin(), level.rows.end()));
        }
        return out;
    }

    std::vector<Level> levels_;
    Rows birth_, death_;
};

// The zig-zag of one node or more.
class PathWalk {
  public:
    PathWalk(const std::vector<const std::int64_t*>& path, const std::int64_t* weights, std::size_t points, bool unions)
        : weights_(weights), unions_(unions) {
        for (auto labels : path) nodes_.emplace_back(labels, points);
    }

    // As many steps at once as there are threads, so that little is held beside the forest.
    Zigzag run(unsigned threads) {
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
            const Classes &a = nodes_[first + i], &b = nodes_[first + i + 1];
            auto parts = meet(a, b, weights_);
            steps[i] = {unions_ ? join(parts, a.count, b.count) : std::move(parts), b.rows(weights_)};
        };
        std::vector<std::jthread> pool;
        for (std::size_t i = 1; i < count; ++i) pool.emplace_back(look, i);
        look(0);
        pool.clear();
        return steps;
    }

    void advance(MergeForest& forest, Between between, Rows next) const {
        if (unions_) {
            forest.coarsen(between.left, std::move(between.rows));
            forest.refine(std::move(between.right), std::move(next));
        } else {
            forest.refine(std::move(between.left), std::move(between.rows));
            forest.coarsen(between.right, std::move(next));
        }
    }

    std::vector<Classes> nodes_;
    const std::int64_t* weights_;
    bool unions_;
};

}  // namespace kech
