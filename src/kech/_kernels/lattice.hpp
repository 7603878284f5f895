// Generalization lattice: the classes of every node, each rolled up from the smallest node just below it.
#pragma once

#include "core.hpp"
#include "threads.hpp"

namespace kech {

// What is known of some nodes; for classes of s = 1 .. bound people, how many there are and what their suppression adds.
struct NodeFigures {
    std::vector<std::int64_t> classes, smallest;
    std::vector<std::int32_t> counts;  // nodes x bound: classes of s people
    std::vector<double> costs;         // nodes x bound: rows of such classes, each times (axes - sum of its widths)
    std::vector<std::int64_t> rows;    // nodes x bound: rows of such classes; empty where rows are people
    std::int64_t peak_bytes = 0;       // of the classes kept at one time
    bool by_people;

    NodeFigures(std::size_t nodes, std::size_t bound, bool people)
        : classes(nodes), smallest(nodes), counts(nodes * bound), costs(nodes * bound), rows(people ? nodes * bound : 0),
          by_people(people) {}
};

// The cells of an axis at each level: `up` leads from a cell to the one above it, `cell` from a code.
struct AxisLevels {
    std::vector<std::vector<Code>> cell, up;
    std::vector<std::vector<double>> width;  // of each cell
    std::size_t word;                        // where the cell stands in a packed key
    unsigned shift;
    std::uint64_t mask;

    std::uint64_t of(const std::uint64_t* key) const { return key[word] >> shift & mask; }
};

// Pairs of a person and a class, each once, person by person.  Who is in one class only stays in one class at every
// node above, so the class counts them in `only_here` and their pair is dropped.  Empty where rows are people.
struct PeoplePairs {
    std::vector<std::int64_t> only_here;   // people of each class who are in no other
    std::vector<std::uint32_t> classes;  // of the pairs
    std::vector<std::uint32_t> ends;     // of each person's pairs

    std::int64_t bytes() const {
        return static_cast<std::int64_t>(only_here.size() * 8 + (classes.size() + ends.size()) * 4);
    }
};

// Classes of one node, in the order in which points show them.
struct Classes {
    std::vector<std::uint64_t> keys;  // `words` for each class: its cells, packed
    std::vector<std::int64_t> rows;
    std::vector<double> suppression_cost;  // what suppressing one of its rows adds to the widths of the row's cells
    PeoplePairs pairs = {};

    std::size_t size() const { return rows.size(); }
    std::size_t work() const { return rows.size() + pairs.classes.size(); }  // of rolling it up
    std::int64_t bytes() const {
        return static_cast<std::int64_t>((keys.size() + 2 * rows.size()) * 8) + pairs.bytes();
    }
};

// Pairs become those of a coarser node; kept from one node to the next.
class PairRoller {
  public:
    // `number`: the new class of each old one.
    PeoplePairs roll(const PeoplePairs& below, const std::vector<std::uint32_t>& number, std::size_t classes) {
        PeoplePairs made{std::vector<std::int64_t>(classes, 0), {}, {}};
        for (std::size_t c = 0; c < number.size(); ++c) made.only_here[number[c]] += below.only_here[c];
        people_ = made.only_here;
        made.classes.reserve(below.classes.size());
        made.ends.reserve(below.ends.size());
        seen_.assign(classes, nobody);
        std::uint32_t begin = 0;
        for (std::uint32_t person = 0; person < below.ends.size(); ++person) {
            std::size_t before = made.classes.size();
            for (; begin < below.ends[person]; ++begin) {
                auto c = number[below.classes[begin]];
                if (seen_[c] == person) continue;
                seen_[c] = person;
                ++people_[c];
                made.classes.push_back(c);
            }
            if (made.classes.size() - before > 1) {
                made.ends.push_back(static_cast<std::uint32_t>(made.classes.size()));
                continue;
            }
            ++made.only_here[made.classes.back()];
            made.classes.pop_back();
        }
        made.classes.shrink_to_fit();
        made.ends.shrink_to_fit();
        return made;
    }

    // Of each class that was made last.
    const std::vector<std::int64_t>& people() const { return people_; }

  private:
    static constexpr std::uint32_t nobody = ~std::uint32_t{0};

    std::vector<std::uint32_t> seen_;  // the last person of each class
    std::vector<std::int64_t> people_;
};

// Where the classes of a node are put together; kept from one node to the next.
template <std::size_t Words>  // of a key; 0 where only `words` knows
class ClassTable {
  public:
    explicit ClassTable(std::size_t words) : words_(words) {}

    void start(std::size_t most) {
        std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * most, 16));
        if (slots_.size() < size) {
            slots_.resize(size);
            classes_.keys.resize(size * words());
            classes_.rows.resize(size);
            classes_.suppression_cost.resize(size);
        }
        std::fill_n(slots_.begin(), size, empty);
        shift_ = 64 - std::countr_zero(size);
        mask_ = size - 1;
        count_ = 0;
    }

    // Rows of the class with this key; gives back the number of the class.
    std::uint32_t add(const std::uint64_t* key, std::int64_t rows, double suppression_cost) {
        for (std::size_t at = mix(key) >> shift_;; at = (at + 1) & mask_) {
            auto slot = slots_[at];
            if (slot == empty) {
                slot = slots_[at] = static_cast<std::uint32_t>(count_++);
                std::copy_n(key, words(), classes_.keys.data() + slot * words());
                classes_.rows[slot] = rows;
                classes_.suppression_cost[slot] = suppression_cost;
                return slot;
            }
            if (std::equal(key, key + words(), classes_.keys.data() + slot * words())) {
                classes_.rows[slot] += rows;
                return slot;
            }
        }
    }

    Classes finish() const {
        auto first = [](const auto& all, std::size_t count) {
            return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
        };
        const auto& [keys, rows, costs, pairs] = classes_;
        return {first(keys, count_ * words()), first(rows, count_), first(costs, count_)};
    }

  private:
    static constexpr std::uint32_t empty = ~std::uint32_t{0};

    std::size_t words() const { return Words ? Words : words_; }

    std::uint64_t mix(const std::uint64_t* key) const {
        std::uint64_t hash = key[0] * 0x9E3779B97F4A7C15u;
        for (std::size_t w = 1; w < words(); ++w) hash = (hash ^ hash >> 32 ^ key[w]) * 0x9E3779B97F4A7C15u;
        return hash;
    }

    std::size_t words_, count_ = 0, mask_ = 0;
    int shift_ = 0;
    std::vector<std::uint32_t> slots_;
    Classes classes_;
};

class Lattice {
  public:
    using Node = std::vector<int>;  // a level for each axis

    explicit Lattice(const Points& points)
        : codes_(points.codes, points.codes + points.count * points.axes),
          weights_(points.weights, points.weights + points.count), pairs_(pair_points(points)), points_(points.count),
          axes_(points.axes) {}

    std::size_t points() const { return points_; }
    std::size_t axes() const { return axes_; }
    std::size_t axes_with_levels() const { return levels_.size(); }
    std::size_t levels(std::size_t axis) const { return levels_[axis].width.size(); }
    std::int64_t rows() const { return std::accumulate(weights_.begin(), weights_.end(), std::int64_t{0}); }

    // The lowest and the highest code of all points on an axis, 0 among them.
    std::pair<Code, Code> range(std::size_t axis) const {
        std::pair<Code, Code> found{0, 0};
        for (std::size_t p = 0; p < points_; ++p) {
            found.first = std::min(found.first, codes_[p * axes_ + axis]);
            found.second = std::max(found.second, codes_[p * axes_ + axis]);
        }
        return found;
    }

    // cells and widths: levels x codes; cells are counted from 0, and each lies in one cell of the next level.
    void add_axis(const Code* cells, const double* widths, std::size_t levels, std::size_t codes) {
        AxisLevels axis;
        for (std::size_t l = 0; l < levels; ++l) {
            axis.cell.emplace_back(cells + l * codes, cells + (l + 1) * codes);
            auto count = static_cast<std::size_t>(axis.cell[l].back()) + 1;
            axis.width.emplace_back(count);
            axis.up.emplace_back(count);
            for (std::size_t c = 0; c < codes; ++c) {
                axis.width[l][axis.cell[l][c]] = widths[l * codes + c];
                if (l + 1 < levels) axis.up[l][axis.cell[l][c]] = cells[(l + 1) * codes + c];
            }
        }
        place(axis, static_cast<unsigned>(std::bit_width(axis.width[0].size() - 1)));
        levels_.push_back(std::move(axis));
    }

    // Every node whose first levels are `fixed`; the level of the last axis runs fastest.
    NodeFigures roll(const Node& fixed, std::size_t bound, unsigned threads) const {
        return words_ == 1 ? roll<1>(fixed, bound, threads) : roll<0>(fixed, bound, threads);
    }

    // Some nodes, each straight from the points.
    NodeFigures look(const int* levels, std::size_t nodes, std::size_t bound, unsigned threads) const {
        NodeFigures figures(nodes, bound, by_people());
        std::vector<Workspace<0>> spaces(threads, Workspace<0>(words_));
        for_each(nodes, threads, [&](std::size_t n, std::size_t worker) {
            Node node(levels + n * axes_, levels + (n + 1) * axes_);
            Classes made = group(node, spaces[worker]);
            measure(made, sizes(made, spaces[worker]), n, bound, figures);
        });
        return figures;
    }

    // The class of each point at a node, numbered in the order in which points show them.  Where the classes of a finer node
    // are known, one point of each is looked at.
    std::vector<std::int64_t> classes(const Node& node, std::span<const std::int64_t> finer) const {
        return words_ == 1 ? number<1>(node, finer) : number<0>(node, finer);
    }

  private:
    template <std::size_t Words>
    struct Workspace {
        ClassTable<Words> table;
        std::vector<std::uint32_t> number;  // the class into which each class of the node below goes
        PairRoller roller = {};

        explicit Workspace(std::size_t words) : table(words) {}
    };

    template <std::size_t Words>
    std::vector<std::int64_t> number(const Node& node, std::span<const std::int64_t> finer) const {
        std::size_t most = finer.empty() ? points_ : *std::max_element(finer.begin(), finer.end()) + 1;
        ClassTable<Words> table(words_);
        table.start(most);
        std::vector<std::int64_t> numbers(points_), of_finer(most, -1);
        std::vector<std::uint64_t> key(words_);
        for (std::size_t p = 0; p < points_; ++p) {
            auto& number = of_finer[finer.empty() ? p : finer[p]];
            if (number < 0) {
                pack(p, node, key.data());
                number = table.add(key.data(), 0, 0);
            }
            numbers[p] = number;
        }
        return numbers;
    }

    bool by_people() const { return !pairs_.only_here.empty(); }

    // People of each class that was made last, or rows.
    template <std::size_t Words>
    const std::vector<std::int64_t>& sizes(const Classes& made, const Workspace<Words>& space) const {
        return by_people() ? space.roller.people() : made.rows;
    }

    // Every point as a class of its own.
    static PeoplePairs pair_points(const Points& points) {
        PeoplePairs pairs;
        if (points.person.empty()) return pairs;
        for (std::size_t p = 0; p < points.count; ++p) {
            pairs.only_here.push_back(points.person[p] < 0 ? points.weights[p] : 0);
            if (points.person[p] >= 0) pairs.classes.push_back(static_cast<std::uint32_t>(p));
        }
        auto person = [&](std::uint32_t p) { return points.person[p]; };
        auto& order = pairs.classes;
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return person(a) < person(b); });
        for (std::size_t i = 0; i < order.size(); ++i)
            if (i + 1 == order.size() || person(order[i]) != person(order[i + 1]))
                pairs.ends.push_back(static_cast<std::uint32_t>(i + 1));
        return PairRoller().roll(pairs, count_up<std::uint32_t>(points.count), points.count);
    }

    // A cell never stands astride two words.
    void place(AxisLevels& axis, unsigned bits) {
        if (used_ + bits > 64) {
            ++words_;
            used_ = 0;
        }
        axis.word = words_ - 1;
        axis.shift = bits ? used_ : 0;
        axis.mask = bits ? ~std::uint64_t{0} >> (64 - bits) : 0;
        used_ += bits;
    }

    void pack(std::size_t point, const Node& node, std::uint64_t* key) const {
        std::fill_n(key, words_, 0);
        for (std::size_t j = 0; j < axes_; ++j) {
            const auto& axis = levels_[j];
            auto cell = axis.cell[node[j]][codes_[point * axes_ + j]];
            key[axis.word] |= static_cast<std::uint64_t>(cell) << axis.shift;
        }
    }

    template <std::size_t Words>
    Classes group(const Node& node, Workspace<Words>& space) const {
        space.table.start(points_);
        space.number.resize(points_);
        std::vector<std::uint64_t> key(words_);
        for (std::size_t p = 0; p < points_; ++p) {
            pack(p, node, key.data());
            space.number[p] = space.table.add(key.data(), weights_[p], suppression_cost(key.data(), node));
        }
        return finish(pairs_, space);
    }

    template <std::size_t Words>
    Classes finish(const PeoplePairs& below, Workspace<Words>& space) const {
        Classes made = space.table.finish();
        if (by_people()) made.pairs = space.roller.roll(below, space.number, made.size());
        return made;
    }

    double suppression_cost(const std::uint64_t* key, const Node& node) const {
        auto left = static_cast<double>(axes_);
        for (std::size_t j = 0; j < axes_; ++j) left -= levels_[j].width[node[j]][levels_[j].of(key)];
        return left;
    }

    template <std::size_t Words>
    NodeFigures roll(const Node& fixed, std::size_t bound, unsigned threads) const {
        Node node(fixed);
        node.resize(axes_, 0);
        auto strides = strides_from(fixed.size());
        NodeFigures figures(strides.back(), bound, by_people());
        auto layers = layers_from(fixed.size(), strides);
        std::vector<Classes> kept(strides.back());
        std::vector<Workspace<Words>> spaces(threads, Workspace<Words>(words_));
        kept[0] = group(node, spaces[0]);
        measure(kept[0], sizes(kept[0], spaces[0]), 0, bound, figures);
        std::int64_t below = figures.peak_bytes = kept[0].bytes();
        for (std::size_t t = 1; t < layers.size(); ++t) {
            for_each(layers[t].size(), threads, [&](std::size_t i, std::size_t worker) {
                auto n = layers[t][i];
                kept[n] = roll_up(n, fixed.size(), strides, kept, spaces[worker]);
                measure(kept[n], sizes(kept[n], spaces[worker]), n, bound, figures);
            });
            std::int64_t here = 0;
            for (auto n : layers[t]) here += kept[n].bytes();
            figures.peak_bytes = std::max(figures.peak_bytes, below + here);
            for (auto n : layers[t - 1]) kept[n] = {};
            below = here;
        }
        return figures;
    }

    std::vector<std::size_t> strides_from(std::size_t first) const {
        std::vector<std::size_t> strides(axes_ - first + 1, 1);  // of the last axis first; the last stride is all nodes
        for (std::size_t i = 0; i + 1 < strides.size(); ++i)
            strides[i + 1] = strides[i] * levels_[axes_ - 1 - i].width.size();
        return strides;
    }

    int level_of(std::size_t node, std::size_t axis, const std::vector<std::size_t>& strides) const {
        return static_cast<int>(node / strides[axes_ - 1 - axis] % levels_[axis].width.size());
    }

    // Nodes by the sum of their levels.
    std::vector<std::vector<std::size_t>> layers_from(std::size_t first, const std::vector<std::size_t>& strides) const {
        std::vector<std::vector<std::size_t>> layers;
        for (std::size_t n = 0; n < strides.back(); ++n) {
            std::size_t sum = 0;
            for (std::size_t j = first; j < axes_; ++j) sum += static_cast<std::size_t>(level_of(n, j, strides));
            if (layers.size() <= sum) layers.resize(sum + 1);
            layers[sum].push_back(n);
        }
        return layers;
    }

    // From the smallest node just below.
    template <std::size_t Words>
    Classes roll_up(std::size_t n, std::size_t first, const std::vector<std::size_t>& strides,
                    const std::vector<Classes>& kept, Workspace<Words>& space) const {
        std::size_t from = n, along = 0;
        for (std::size_t j = first; j < axes_; ++j) {
            if (level_of(n, j, strides) == 0) continue;
            std::size_t below = n - strides[axes_ - 1 - j];
            if (from == n || kept[below].work() < kept[from].work()) from = below, along = j;
        }
        return climb(kept[from], levels_[along], level_of(n, along, strides) - 1, space);
    }

    template <std::size_t Words>
    Classes climb(const Classes& below, const AxisLevels& axis, int level, Workspace<Words>& space) const {
        const std::size_t words = Words ? Words : words_;
        const auto &up = axis.up[level];
        std::vector<double> change(up.size());
        for (std::size_t c = 0; c < up.size(); ++c) change[c] = axis.width[level][c] - axis.width[level + 1][up[c]];
        space.table.start(below.size());
        space.number.resize(below.size());
        std::vector<std::uint64_t> key(words);
        for (std::size_t i = 0; i < below.size(); ++i) {
            std::copy_n(below.keys.data() + i * words, words, key.data());
            auto cell = axis.of(key.data());
            key[axis.word] ^= (cell ^ static_cast<std::uint64_t>(up[cell])) << axis.shift;
            space.number[i] = space.table.add(key.data(), below.rows[i], below.suppression_cost[i] + change[cell]);
        }
        return finish(below.pairs, space);
    }

    static void measure(const Classes& made, const std::vector<std::int64_t>& sizes, std::size_t n, std::size_t bound,
                        NodeFigures& figures) {
        std::int64_t smallest = made.size() ? sizes[0] : 0;
        auto* counts = figures.counts.data() + n * bound;
        auto* costs = figures.costs.data() + n * bound;
        auto* held = figures.by_people ? figures.rows.data() + n * bound : nullptr;
        for (std::size_t i = 0; i < made.size(); ++i) {
            auto size = sizes[i], rows = made.rows[i];
            smallest = std::min(smallest, size);
            if (size > static_cast<std::int64_t>(bound)) continue;
            ++counts[size - 1];
            costs[size - 1] += static_cast<double>(rows) * made.suppression_cost[i];
            if (held) held[size - 1] += rows;
        }
        figures.classes[n] = static_cast<std::int64_t>(made.size());
        figures.smallest[n] = smallest;
    }

    std::vector<Code> codes_;
    std::vector<std::int64_t> weights_;
    PeoplePairs pairs_;  // of the points
    std::size_t points_, axes_, words_ = 1;
    unsigned used_ = 0;
    std::vector<AxisLevels> levels_;
};

}  // namespace kech
