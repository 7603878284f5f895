// Generalization lattice: the classes of every node, each rolled up from the smallest node just below it.
#pragma once

#include <atomic>
#include <thread>

#include "widths.hpp"

namespace kech {

// What is known of some nodes; for classes of s = 1 .. bound rows, how many there are and what their suppression adds.
struct NodeFigures {
    std::vector<std::int64_t> classes, smallest;
    std::vector<std::int32_t> counts;  // nodes x bound: classes of s rows
    std::vector<double> costs;         // nodes x bound: rows of such classes, each times (axes - sum of its widths)
    std::int64_t peak_bytes = 0;       // of the classes kept at one time

    NodeFigures(std::size_t nodes, std::size_t bound)
        : classes(nodes), smallest(nodes), counts(nodes * bound), costs(nodes * bound) {}
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

// Classes of one node: a packed key and a number of rows each, in the order in which points show them.
struct Classes {
    std::vector<std::uint64_t> keys;  // `words` for each class
    std::vector<std::int64_t> rows;

    std::size_t size() const { return rows.size(); }
    std::int64_t bytes() const { return static_cast<std::int64_t>((keys.size() + rows.size()) * 8); }
};

// Finds keys by open addressing; the slots are kept from one node to the next.
class KeyIndex {
  public:
    explicit KeyIndex(std::size_t words) : words_(words) {}

    void reset(std::size_t most) {
        std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * most, 16));
        if (slots_.size() < size) slots_.resize(size);
        std::fill_n(slots_.begin(), size, empty);
        shift_ = 64 - std::countr_zero(size);
        mask_ = size - 1;
    }

    // The number of this key among `keys`, to which it is added if it is new.
    std::size_t find(const std::uint64_t* key, std::vector<std::uint64_t>& keys) {
        for (std::size_t at = mix(key) >> shift_;; at = (at + 1) & mask_) {
            auto& slot = slots_[at];
            if (slot == empty) {
                slot = static_cast<std::uint32_t>(keys.size() / words_);
                keys.insert(keys.end(), key, key + words_);
                return slot;
            }
            if (std::equal(key, key + words_, keys.begin() + static_cast<std::ptrdiff_t>(slot * words_))) return slot;
        }
    }

  private:
    static constexpr std::uint32_t empty = ~std::uint32_t{0};

    std::uint64_t mix(const std::uint64_t* key) const {
        std::uint64_t hash = 0;
        for (std::size_t w = 0; w < words_; ++w) {
            hash = (hash ^ key[w]) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
        }
        return hash * 0x9E3779B97F4A7C15u;
    }

    std::size_t words_, mask_ = 0;
    int shift_ = 0;
    std::vector<std::uint32_t> slots_;
};

class Lattice {
  public:
    using Node = std::vector<int>;  // a level for each axis

    Lattice(const Code* codes, const std::int64_t* weights, std::size_t points, std::size_t axes)
        : codes_(codes, codes + points * axes), weights_(weights, weights + points), points_(points), axes_(axes) {}

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
        Node node(fixed);
        node.resize(axes_, 0);
        auto strides = strides_from(fixed.size());
        NodeFigures figures(strides.back(), bound);
        auto layers = layers_from(fixed.size(), figures.classes.size(), strides);
        std::vector<Classes> kept(figures.classes.size());
        std::vector<KeyIndex> finders(threads, KeyIndex(words_));
        kept[0] = group(node, finders[0]);
        measure(kept[0], node, 0, bound, figures);
        std::int64_t below = figures.peak_bytes = kept[0].bytes();
        for (std::size_t t = 1; t < layers.size(); ++t) {
            share_out(layers[t].size(), threads, [&](std::size_t i, unsigned worker) {
                roll_node(layers[t][i], fixed, strides, bound, kept, finders[worker], figures);
            });
            std::int64_t here = 0;
            for (auto n : layers[t]) here += kept[n].bytes();
            figures.peak_bytes = std::max(figures.peak_bytes, below + here);
            for (auto n : layers[t - 1]) kept[n] = {};
            below = here;
        }
        return figures;
    }

    // Some nodes, each straight from the points.
    NodeFigures look(const int* levels, std::size_t nodes, std::size_t bound, unsigned threads) const {
        NodeFigures figures(nodes, bound);
        std::vector<KeyIndex> finders(threads, KeyIndex(words_));
        share_out(nodes, threads, [&](std::size_t n, unsigned worker) {
            Node node(levels + n * axes_, levels + (n + 1) * axes_);
            measure(group(node, finders[worker]), node, n, bound, figures);
        });
        return figures;
    }

    // The class of each point at a node, numbered in the order in which points show them.
    std::vector<std::int64_t> classes(const Node& node) const {
        KeyIndex finder(words_);
        finder.reset(points_);
        std::vector<std::int64_t> found(points_);
        std::vector<std::uint64_t> keys, key(words_);
        for (std::size_t p = 0; p < points_; ++p) {
            pack(p, node, key.data());
            found[p] = static_cast<std::int64_t>(finder.find(key.data(), keys));
        }
        return found;
    }

  private:
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

    Classes group(const Node& node, KeyIndex& finder) const {
        Classes made;
        finder.reset(points_);
        std::vector<std::uint64_t> key(words_);
        for (std::size_t p = 0; p < points_; ++p) {
            pack(p, node, key.data());
            add(made, finder.find(key.data(), made.keys), weights_[p]);
        }
        return made;
    }

    static void add(Classes& made, std::size_t at, std::int64_t rows) {
        if (at == made.rows.size()) made.rows.push_back(0);
        made.rows[at] += rows;
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
    std::vector<std::vector<std::size_t>> layers_from(std::size_t first, std::size_t nodes,
                                                      const std::vector<std::size_t>& strides) const {
        std::vector<std::vector<std::size_t>> layers;
        for (std::size_t n = 0; n < nodes; ++n) {
            std::size_t sum = 0;
            for (std::size_t j = first; j < axes_; ++j) sum += static_cast<std::size_t>(level_of(n, j, strides));
            if (layers.size() <= sum) layers.resize(sum + 1);
            layers[sum].push_back(n);
        }
        return layers;
    }

    void roll_node(std::size_t n, const Node& fixed, const std::vector<std::size_t>& strides, std::size_t bound,
                   std::vector<Classes>& kept, KeyIndex& finder, NodeFigures& figures) const {
        Node node(fixed);
        std::size_t from = n, along = 0;
        for (std::size_t j = fixed.size(); j < axes_; ++j) {
            node.push_back(level_of(n, j, strides));
            std::size_t below = n - strides[axes_ - 1 - j];
            if (node[j] > 0 && (from == n || kept[below].size() < kept[from].size())) from = below, along = j;
        }
        kept[n] = words_ == 1 ? roll_up<1>(kept[from], along, node[along] - 1, finder)
                              : roll_up<0>(kept[from], along, node[along] - 1, finder);
        measure(kept[n], node, n, bound, figures);
    }

    template <std::size_t Words>
    Classes roll_up(const Classes& below, std::size_t along, int level, KeyIndex& finder) const {
        const std::size_t words = Words ? Words : words_;
        const auto& axis = levels_[along];
        const auto& up = axis.up[level];
        Classes made;
        finder.reset(below.size());
        std::vector<std::uint64_t> key(words);
        for (std::size_t i = 0; i < below.size(); ++i) {
            std::copy_n(below.keys.begin() + static_cast<std::ptrdiff_t>(i * words), words, key.begin());
            auto cell = axis.of(key.data());
            key[axis.word] ^= (cell ^ static_cast<std::uint64_t>(up[cell])) << axis.shift;
            add(made, finder.find(key.data(), made.keys), below.rows[i]);
        }
        made.keys.shrink_to_fit();
        made.rows.shrink_to_fit();
        return made;
    }

    void measure(const Classes& made, const Node& node, std::size_t n, std::size_t bound, NodeFigures& figures) const {
        figures.classes[n] = static_cast<std::int64_t>(made.size());
        figures.smallest[n] = made.size() ? *std::min_element(made.rows.begin(), made.rows.end()) : 0;
        for (std::size_t i = 0; i < made.size(); ++i) {
            auto rows = static_cast<std::size_t>(made.rows[i]);
            if (rows > bound) continue;
            ++figures.counts[n * bound + rows - 1];
            figures.costs[n * bound + rows - 1] += static_cast<double>(rows) * spared(made.keys.data() + i * words_, node);
        }
    }

    // What suppressing one row of a class adds to the widths of its cells.
    double spared(const std::uint64_t* key, const Node& node) const {
        auto left = static_cast<double>(axes_);
        for (std::size_t j = 0; j < axes_; ++j) left -= levels_[j].width[node[j]][levels_[j].of(key)];
        return left;
    }

    template <class Job>
    static void share_out(std::size_t jobs, unsigned threads, const Job& job) {
        std::atomic<std::size_t> next{0};
        auto worker = [&](unsigned id) {
            for (std::size_t i; (i = next.fetch_add(1)) < jobs;) job(i, id);
        };
        std::vector<std::jthread> pool;
        for (unsigned t = 1; t < std::min<std::size_t>(threads, jobs); ++t) pool.emplace_back(worker, t);
        worker(0);
    }

    std::vector<Code> codes_;
    std::vector<std::int64_t> weights_;
    std::size_t points_, axes_, words_ = 1;
    unsigned used_ = 0;
    std::vector<AxisLevels> levels_;
};

}  // namespace kech
