// Zig-zag of a path of partitions: how classes split and merge from node to node, through unions or intersections.
#pragma once

#include <deque>
#include <optional>
#include <variant>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core.hpp"
#include "threads.hpp"
#include "union_find.hpp"

namespace kech {

using Label = std::uint32_t;
using Labels = std::vector<Label>;
using Rows = std::vector<std::int64_t>;
constexpr Label nobody = std::numeric_limits<Label>::max();

// Position 2i is node i of the path, 2i + 1 the union or intersection of nodes i and i + 1.
// Bar b lives from birth[b] to death[b] and carries rows[begin[b] .. begin[b + 1]), a number for each position.
// Different people are counted beside rows; where rows are people, `people` and `smallest_people` are empty.
using BarCounts = std::variant<std::vector<std::int32_t>, Rows>;  // the latter where a class has so many rows

struct Zigzag {
    std::vector<std::int32_t> birth, death;
    Rows begin;
    BarCounts rows, people;
    Rows classes, smallest, smallest_people, holes;  // at each position
};

// Lets the system have what many small vectors left behind; glibc would keep it.
inline void return_freed_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// The rows of each class of a position, and its people.
struct Sizes {
    Rows rows, people;
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

// A node of the path: the class of each point, -1 where the point is not there.
struct PathNode {
    const std::int64_t* of;
    std::size_t points, count;

    PathNode(const std::int64_t* labels, std::size_t size)
        : of(labels), points(size), count(size ? *std::max_element(labels, labels + size) + 1 : 0) {}

    Rows rows(const std::int64_t* weights) const {
        Rows sums(count, 0);
        for (std::size_t i = 0; i < points; ++i)
            if (has(i)) sums[of[i]] += weights[i];
        return sums;
    }

    bool has(std::size_t point) const { return of[point] >= 0; }
};

// Counts the different people of classes.  Points come person by person, so a class has a new person where the last
// one it saw was another.
class PeopleOfClasses {
  public:
    PeopleOfClasses(std::span<const Person> person, const std::int64_t* weights) : person_(person), weights_(weights) {
        order_ = count_up<Label>(person.size());
        std::stable_sort(order_.begin(), order_.end(), [&](Label a, Label b) { return person_[a] < person_[b]; });
    }

    bool empty() const { return person_.empty(); }

    // `class_of(point)` is below `classes`, or `nobody`; nothing is counted where rows are people.
    template <class ClassOf>
    Rows count(std::size_t classes, const ClassOf& class_of) const {
        if (empty()) return {};
        Rows people(classes, 0);
        std::vector<Person> last(classes, -1);
        for (auto point : order_) {
            Label c = class_of(point);
            if (c == nobody) continue;
            auto who = person_[point];
            if (who < 0) people[c] += weights_[point];
            else if (last[c] != who) last[c] = who, ++people[c];
        }
        return people;
    }

  private:
    std::span<const Person> person_;
    const std::int64_t* weights_;
    Labels order_;
};

// What lies between two neighbours.  Meet: `left` and `right` say for each of its classes of which class of either
// neighbour it is a part.  Join: they say for each class of either neighbour into which class it goes.
struct Between {
    Labels left, right;
    Rows rows;
    std::int64_t holes = 0;  // dim H_1
    Labels part = {};        // of the meet, that of each point; empty where rows are people
    bool is_left = false, is_right = false;  // whether it was seen to be one of the neighbours
};

// Points go class by class of the left neighbour; a part is new when its right class was last seen before this class.
template <bool NameParts>
Between meet(const PathNode& a, const PathNode& b, const std::int64_t* weights) {
    struct Item {
        Label other, point;
        std::int64_t rows;
    };
    std::vector<std::size_t> place(a.count + 1, 0);
    auto in_both = [&](std::size_t i) { return a.has(i) && b.has(i); };
    for (std::size_t i = 0; i < a.points; ++i)
        if (in_both(i)) ++place[a.of[i] + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<Item> items(place.back());
    for (std::size_t i = 0; i < a.points; ++i)
        if (in_both(i)) items[place[a.of[i]]++] = {static_cast<Label>(b.of[i]), static_cast<Label>(i), weights[i]};
    Between parts;
    if constexpr (NameParts) parts.part.assign(a.points, nobody);
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
            if constexpr (NameParts) parts.part[items[i].point] = static_cast<Label>(part - 1);
        }
    }
    return parts;
}

// Classes in sets, linked by size.
struct Linked {
    Label up, size = 1;
};

// The union of two neighbours: classes that share a part become one.  The parts of the meet are the edges between the classes of both neighbours: dim H_1 = #meet - #a - #b + #join.
inline Between unite_neighbours(const Between& parts, std::size_t left, std::size_t right) {
    UnionFind<Linked> sets(left + right);
    for (std::size_t i = 0; i < parts.rows.size(); ++i)
        sets.unite(parts.left[i], static_cast<Label>(left) + parts.right[i]);
    Between whole{Labels(left), Labels(right), {}};
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

// For each class of the finer neighbour the class of the coarser one that holds it; nothing where some class is parted.
inline Labels map_up(const PathNode& finer, const PathNode& coarser) {
    Labels into(finer.count, nobody);
    for (std::size_t i = 0; i < finer.points; ++i) {
        auto& up = into[finer.of[i]];
        if (up == nobody) up = static_cast<Label>(coarser.of[i]);
        else if (up != coarser.of[i]) return {};
    }
    return into;
}

// The union of two neighbours of which one is coarser: its classes and rows are those of the coarser one, and it has no holes.
inline Between join_comparable(Labels into, const PathNode& coarser, bool left_is_finer) {
    Between whole{std::move(into), count_up<Label>(coarser.count), {}};
    if (!left_is_finer) std::swap(whole.left, whole.right);
    (left_is_finer ? whole.is_right : whole.is_left) = true;
    return whole;
}

// What ended bars carry: a number for each level of a bar, from its death back to its birth, bar after bar.  Seven bits a
// byte, since most classes are small.
class Trails {
  public:
    void append(std::int64_t number) {
        if (blocks_.empty() || blocks_.back().size() + longest > block) {
            blocks_.emplace_back();
            blocks_.back().reserve(block);
        }
        auto rest = static_cast<std::uint64_t>(number);
        for (; rest >= 128; rest >>= 7) blocks_.back().push_back(static_cast<std::uint8_t>(rest | 128));
        blocks_.back().push_back(static_cast<std::uint8_t>(rest));
    }

    // The next number from the front; a block that was read is freed.
    std::int64_t take() {
        if (read_ == blocks_.front().size()) blocks_.pop_front(), read_ = 0;
        std::uint64_t number = 0;
        for (unsigned shift = 0;; shift += 7) {
            auto byte = blocks_.front()[read_++];
            number |= static_cast<std::uint64_t>(byte & 127) << shift;
            if (byte < 128) return static_cast<std::int64_t>(number);
        }
    }

    std::size_t bytes() const { return blocks_.size() * block; }

  private:
    static constexpr std::size_t block = 1 << 18, longest = 10;
    std::deque<std::vector<std::uint8_t>> blocks_;
    std::size_t read_ = 0;
};

// The classes of every position, each hanging from one of the position before, or from none where all its points are
// new.  Where classes merge, their paths back are glued, position by position, up to where they parted or the younger
// one begins: a bar was born there, and ends here.  Where all points of a class leave, so does its path, back to
// where another class still hangs from it.  Every step unites or ends sets, so all steps are fewer than the classes.
// What a bar carries is written down when it ends, and its classes are dropped: only bars that live are held.
class MergeForest {
  public:
    MergeForest(Sizes sizes, bool counts_people) : counts_people_(counts_people) { add(std::move(sizes), {}); }

    // Classes part, stay or leave.
    void refine(const Labels& parent, Sizes sizes) {
        std::vector<bool> stays(levels_.back().sizes.rows.size(), false);
        for (auto c : parent) stays[c] = true;
        Labels leaving;
        if (std::find(stays.begin(), stays.end(), false) != stays.end())
            for (auto c : heaviest_first(levels_.back().sizes.rows))
                if (!stays[c]) leaving.push_back(c);
        leave(leaving);
        add(std::move(sizes), parent);
    }

    // Classes merge, stay or arrive: the heaviest of each new class lives on.
    void coarsen(const Labels& into, Sizes sizes) {
        Labels living(sizes.rows.size(), nobody);
        for (auto c : heaviest_first(levels_.back().sizes.rows)) {
            auto& heir = living[into[c]];
            if (heir == nobody)
                heir = c;
            else
                glue(c, heir);
        }
        add(std::move(sizes), living);
    }

    // The classes of the last position are those of the next one, too: no bar begins or ends between them.
    void stay() { ++levels_.back().positions; }

    // What lives to the end is parted into bars as if all classes left after it.
    Zigzag finish() {
        leave(heaviest_first(levels_.back().sizes.rows));
        ended_.push_back(birth_.size());
        return collect();
    }

    // Bytes of the forest and of its bars, and of the result if the path ended here.
    std::size_t bytes() const {
        std::size_t numbers = counts_people_ ? 2 : 1;
        auto last = static_cast<std::size_t>(levels_.back().count), positions = static_cast<std::size_t>(levels_.back().positions);
        auto forest = stored_ * (sizeof(Vertex) + 2 * numbers * sizeof(std::int64_t)) + levels_.size() * sizeof(Level);
        auto bars = (birth_.size() + last) * (4 * sizeof(Label) + sizeof(std::int64_t));
        return forest + trails_.bytes() + bars + (carried_ + last * positions) * numbers * count_bytes();
    }

  private:
    // A class of a position.  A set of glued ones has one heir, the only one whose bar has not ended; none where it has.
    struct Vertex : Linked {
        Label parent = nobody, heir = nobody, children = 0;  // sets that hang from it and live
    };

    // Neighbouring positions with the same classes; those of ended bars may be missing.
    struct Level {
        Sizes sizes;
        UnionFind<Vertex> classes;
        std::int64_t positions = 1, count = 0, smallest = 0, smallest_people = 0;
    };

    void add(Sizes sizes, const Labels& parent) {
        auto count = sizes.rows.size();
        UnionFind<Vertex> classes(count);
        for (Label c = 0; c < count; ++c) classes[c].heir = c;
        for (Label c = 0; c < parent.size(); ++c) {
            classes[c].parent = parent[c];
            if (parent[c] == nobody) continue;
            auto& before = levels_.back().classes;
            ++before[before.find(parent[c])].children;
        }
        if (!levels_.empty()) carried_ += static_cast<std::size_t>(levels_.back().count * levels_.back().positions);
        auto least = [](const Rows& counts) { return counts.empty() ? 0 : *std::min_element(counts.begin(), counts.end()); };
        for (auto rows : sizes.rows) largest_ = std::max(largest_, rows);
        auto smallest = least(sizes.rows), people = least(sizes.people);
        if (!levels_.empty()) ended_.push_back(birth_.size());
        levels_.push_back({std::move(sizes), std::move(classes), 1, static_cast<std::int64_t>(count), smallest, people});
        stored_ += count;
        if (2 * dropped_ > stored_ + levels_.size()) drop_ended();
    }

    // The lighter class dies and takes the heirs of its own path; the heavier one keeps those of the other.
    void glue(Label dying, Label living) {
        std::size_t at = levels_.size();
        for (Label united = 0;; united = 1) {
            auto& classes = levels_[--at].classes;
            auto x = classes.find(dying), y = classes.find(living);
            if (x == y) {
                --classes[x].children;
                ++at;
                break;
            }
            auto [heir, children] = std::pair(classes[y].heir, classes[x].children + classes[y].children - united);
            dying = classes[x].parent, living = classes[y].parent;
            write_down(levels_[at], classes[x].heir, trails_);
            auto& both = classes[classes.unite(x, y)];
            both.heir = heir, both.children = children, both.parent = living == nobody ? dying : living;
            if (dying == nobody || living == nobody) break;
        }
        birth_.push_back(static_cast<Label>(at));
    }

    // The lightest goes first, so that the heaviest has the longest bar; of bars with equal ends the heaviest comes first.
    void leave(const Labels& heaviest_first) {
        std::vector<Rows> carried(heaviest_first.size());
        for (auto bar = heaviest_first.size(); bar-- > 0;) end_path(heaviest_first[bar], carried[bar]);
        for (const Rows& numbers : carried) {
            for (auto number : numbers) trails_.append(number);
            auto lived = static_cast<Label>(numbers.size() / (counts_people_ ? 2 : 1));
            birth_.push_back(static_cast<Label>(levels_.size()) - lived);
        }
    }

    // Ends what no other class hangs from.
    void end_path(Label leaving, Rows& carried) {
        struct List {
            Rows& numbers;
            void append(std::int64_t number) { numbers.push_back(number); }
        } list{carried};
        for (std::size_t at = levels_.size() - 1;; --at) {
            auto& classes = levels_[at].classes;
            auto& own = classes[classes.find(leaving)];
            write_down(levels_[at], own.heir, list);
            own.heir = nobody;
            leaving = own.parent;
            if (leaving == nobody) return;
            auto& before = levels_[at - 1].classes;
            if (--before[before.find(leaving)].children) return;
        }
    }

    template <class List>
    void write_down(const Level& level, Label heir, List& list) {
        list.append(level.sizes.rows[heir]);
        if (counts_people_) list.append(level.sizes.people[heir]);
        ++dropped_;
    }

    // Keeps of each level but the last one class for each set that lives; so much was dropped that this costs little.
    void drop_ended() {
        stored_ = dropped_ = 0;
        Labels number;
        for (std::size_t at = 0; at < levels_.size(); ++at) {
            auto& [sizes, classes, positions, count, smallest, smallest_people] = levels_[at];
            auto size = static_cast<Label>(sizes.rows.size());
            for (Label c = 0; c < size && at; ++c)
                if (classes[c].parent != nobody) classes[c].parent = number[classes[c].parent];
            if (at + 1 == levels_.size()) {
                stored_ += size;
                break;
            }
            Labels roots;
            for (Label c = 0; c < size; ++c)
                if (classes.find(c) == c && classes[c].heir != nobody) roots.push_back(c);
            Labels place(size, nobody);
            for (Label kept = 0; kept < roots.size(); ++kept) place[roots[kept]] = kept;
            number.resize(size);
            for (Label c = 0; c < size; ++c) number[c] = place[classes.find(c)];
            if (roots.size() < size) levels_[at] = keep(std::move(levels_[at]), roots);
            stored_ += roots.size();
        }
    }

    static Level keep(Level level, const Labels& roots) {
        UnionFind<Vertex> classes(roots.size());
        Sizes sizes{Rows(roots.size()), Rows(level.sizes.people.empty() ? 0 : roots.size())};
        for (Label kept = 0; kept < roots.size(); ++kept) {
            const Vertex& root = level.classes[roots[kept]];
            sizes.rows[kept] = level.sizes.rows[root.heir];
            if (!sizes.people.empty()) sizes.people[kept] = level.sizes.people[root.heir];
            classes[kept].parent = root.parent, classes[kept].children = root.children, classes[kept].heir = kept;
        }
        level.sizes = std::move(sizes), level.classes = std::move(classes);
        return level;
    }

    // Bars by birth, then death.
    Zigzag collect() {
        Zigzag out;
        Rows first(1, 0);  // position of each level
        for (const Level& level : levels_) {
            first.push_back(first.back() + level.positions);
            out.classes.insert(out.classes.end(), level.positions, level.count);
            out.smallest.insert(out.smallest.end(), level.positions, level.smallest);
            if (counts_people_) out.smallest_people.insert(out.smallest_people.end(), level.positions, level.smallest_people);
        }
        levels_ = {};
        return_freed_memory();
        Labels rank = place_bars(out, first);
        birth_ = {};
        if (count_bytes() == sizeof(std::int32_t)) unpack<std::int32_t>(out, rank, first);
        else unpack<std::int64_t>(out, rank, first);
        return out;
    }

    // Births, deaths and where each bar's numbers begin; the place of each bar among all.  Bars come by death already.
    Labels place_bars(Zigzag& out, const Rows& first) {
        std::vector<Label> place(first.size(), 0);  // of the next bar that was born at each level
        for (auto birth : birth_) ++place[birth + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        Labels rank(birth_.size());
        out.birth.resize(rank.size()), out.death.resize(rank.size()), out.begin.resize(rank.size() + 1);
        std::size_t level = 0;
        for (std::size_t bar = 0; bar < rank.size(); ++bar) {
            while (bar >= ended_[level]) ++level;
            rank[bar] = place[birth_[bar]]++;
            out.birth[rank[bar]] = static_cast<std::int32_t>(first[birth_[bar]]);
            out.death[rank[bar]] = static_cast<std::int32_t>(first[level + 1] - 1);
        }
        for (std::size_t bar = 0; bar < rank.size(); ++bar)
            out.begin[bar + 1] = out.begin[bar] + out.death[bar] - out.birth[bar] + 1;
        return rank;
    }

    template <class Count>
    void unpack(Zigzag& out, const Labels& rank, const Rows& first) {
        auto numbers = static_cast<std::size_t>(out.begin.back());
        auto& rows = out.rows.emplace<std::vector<Count>>(numbers);
        auto& people = out.people.emplace<std::vector<Count>>(counts_people_ ? numbers : 0);
        Rows start;  // of the level of each position
        for (std::size_t at = 0; at + 1 < first.size(); ++at) start.insert(start.end(), first[at + 1] - first[at], first[at]);
        for (auto bar : rank)
            for (auto end = out.begin[bar + 1], position = std::int64_t{out.death[bar]}; end > out.begin[bar];) {
                auto length = position + 1 - start[position];
                end -= length, position -= length;
                std::fill_n(rows.begin() + end, length, static_cast<Count>(trails_.take()));
                if (counts_people_) std::fill_n(people.begin() + end, length, static_cast<Count>(trails_.take()));
            }
    }

    std::size_t count_bytes() const {
        return largest_ <= std::numeric_limits<std::int32_t>::max() ? sizeof(std::int32_t) : sizeof(std::int64_t);
    }

    bool counts_people_;
    std::vector<Level> levels_;
    Labels birth_;                    // level of each bar that has ended
    std::vector<std::size_t> ended_;  // bars that ended at each level or before
    Trails trails_;
    std::size_t stored_ = 0, dropped_ = 0, carried_ = 0;  // classes in all levels; of ended bars; all before the last level
    std::int64_t largest_ = 0;
};

// The zig-zag of a path.  Points may be missing at some nodes of a path through intersections.
class PathWalk {
  public:
    PathWalk(std::vector<std::int64_t> weights, bool unions, std::vector<Person> person)
        : weights_(std::move(weights)), unions_(unions), person_(std::move(person)), people_(person_, weights_.data()) {}

    std::size_t points() const { return weights_.size(); }
    bool unions() const { return unions_; }
    bool counts_people() const { return !people_.empty(); }

    // Bytes of the walk so far, and of its result.
    std::size_t bytes() const { return forest_ ? forest_->bytes() : 0; }

    // Further nodes of the path.  As many steps at once as there are threads, so that little is held beside the forest.
    void extend(const std::vector<const std::int64_t*>& path, unsigned threads) {
        std::vector<PathNode> nodes;
        if (forest_) nodes.emplace_back(last_.data(), last_.size());
        for (auto labels : path) nodes.emplace_back(labels, weights_.size());
        if (nodes.empty()) return;
        if (!forest_) {
            forest_.emplace(Sizes{nodes[0].rows(weights_.data()), count_people(nodes[0])}, counts_people());
            holes_.push_back(0);
        }
        threads = std::max(threads, 1u);
        for (std::size_t first = 0; first + 1 < nodes.size(); first += threads) {
            auto count = std::min<std::size_t>(threads, nodes.size() - 1 - first);
            for (auto& step : look_ahead(nodes, first, count)) {
                holes_.insert(holes_.end(), {step.between.holes, 0});
                advance(*forest_, std::move(step));
            }
        }
        last_.assign(nodes.back().of, nodes.back().of + weights_.size());
    }

    // The bars; the walk is over.
    Zigzag finish() {
        if (!forest_) return {};
        auto out = forest_->finish();
        out.holes = std::move(holes_);
        forest_.reset();
        return out;
    }

  private:
    // What lies between two nodes, its classes, and those of the node after it; the sizes of classes that stay are empty.
    struct Step {
        Between between;
        Sizes middle, next;
    };

    Rows count_people(const PathNode& node) const {
        return people_.count(node.count, [&](Label point) { return static_cast<Label>(node.of[point]); });
    }

    std::vector<Step> look_ahead(const std::vector<PathNode>& nodes, std::size_t first, std::size_t count) const {
        std::vector<Step> steps(count);
        run_threads(count, [&](std::size_t i) { steps[i] = look(nodes[first + i], nodes[first + i + 1]); });
        return steps;
    }

    Between look_between(const PathNode& a, const PathNode& b) const {
        if (!unions_) return people_.empty() ? meet<false>(a, b, weights_.data()) : meet<true>(a, b, weights_.data());
        if (a.count >= b.count)
            if (auto into = map_up(a, b); !into.empty()) return join_comparable(std::move(into), b, true);
        if (a.count < b.count)
            if (auto into = map_up(b, a); !into.empty()) return join_comparable(std::move(into), a, false);
        return unite_neighbours(meet<false>(a, b, weights_.data()), a.count, b.count);
    }

    Step look(const PathNode& a, const PathNode& b) const {
        Step step;
        step.next = {b.rows(weights_.data()), count_people(b)};
        step.between = look_between(a, b);
        Between& middle = step.between;
        if (middle.is_right) step.middle = std::move(step.next);
        if (middle.is_left || middle.is_right) return step;
        auto class_of = [&](Label point) { return unions_ ? middle.left[a.of[point]] : middle.part[point]; };
        step.middle.people = people_.count(middle.rows.size(), class_of);
        step.middle.rows = std::move(middle.rows);
        middle.part = {};
        return step;
    }

    void advance(MergeForest& forest, Step step) const {
        if (unions_) {
            if (step.between.is_left) forest.stay();
            else forest.coarsen(step.between.left, std::move(step.middle));
            if (step.between.is_right) forest.stay();
            else forest.refine(step.between.right, std::move(step.next));
        } else {
            forest.refine(step.between.left, std::move(step.middle));
            forest.coarsen(step.between.right, std::move(step.next));
        }
    }

    Rows weights_;
    bool unions_;
    std::vector<Person> person_;
    PeopleOfClasses people_;
    std::optional<MergeForest> forest_;
    Rows last_, holes_;  // the last node; dim H_1 at each position
};

}  // namespace kech
