// Peeling: lattice cells from the narrowest up; each that still holds k rows becomes a class with all of them.
#pragma once

#include <atomic>
#include <numeric>

#include "chance.hpp"
#include "cutting.hpp"
#include "logarithm.hpp"
#include "threads.hpp"
#include "widths.hpp"

namespace kech {

// On each axis nested ways to put codes into cells, from fine to coarse; the last has one cell.
class Levels {
  public:
    struct Axis {
        std::size_t count, codes;
        std::vector<std::uint64_t> name;  // [level][code] a random number for the cell; equal cells, equal numbers
        std::vector<double> width;        // [level][code] of the cell
    };

    void add(const Code* cells, std::size_t count, std::size_t codes, const Widths& widths) {
        std::size_t j = axes_.size();
        Axis axis{count, codes, std::vector<std::uint64_t>(count * codes), std::vector<double>(count * codes)};
        for (std::size_t level = 0; level < count; ++level) {
            const Code* cell = cells + level * codes;
            std::vector<Code> first(codes, -1), last(codes, -1);
            for (std::size_t c = 0; c < codes; ++c) {
                if (first[cell[c]] < 0) first[cell[c]] = static_cast<Code>(c);
                last[cell[c]] = static_cast<Code>(c);
            }
            for (std::size_t c = 0; c < codes; ++c) {
                axis.name[level * codes + c] = scramble(scramble(j << 8 | level) + cell[c]);
                axis.width[level * codes + c] = widths.width(j, first[cell[c]], last[cell[c]]);
            }
        }
        axes_.push_back(std::move(axis));
    }

    std::size_t axes() const { return axes_.size(); }
    const Axis& operator[](std::size_t axis) const { return axes_[axis]; }

  private:
    std::vector<Axis> axes_;
};

// Nodes of the lattice, a level for each axis, by the mean width of their cells; of a large lattice, random chains.
class Nodes {
  public:
    Nodes(const Code* codes, const std::int64_t* weights, std::size_t points, const Levels& levels, std::size_t most,
          std::uint64_t seed)
        : axes_(levels.axes()) {
        auto means = mean_widths(codes, weights, points, levels);
        std::size_t all = 1;
        for (std::size_t j = 0; j < axes_ && all <= most; ++j) all *= levels[j].count;
        if (all <= most) take_all(levels, all);
        else take_chains(means, most / 2, seed);
        sort(means);
    }

    std::size_t size() const { return levels_.size() / axes_; }
    const std::uint8_t* operator[](std::size_t node) const { return levels_.data() + node * axes_; }
    double width(std::size_t node) const { return width_[node]; }

  private:
    using Means = std::vector<std::vector<double>>;  // [axis][level]

    Means mean_widths(const Code* codes, const std::int64_t* weights, std::size_t points, const Levels& levels) const {
        Means means(axes_);
        for (std::size_t j = 0; j < axes_; ++j) {
            std::vector<double> rows(levels[j].codes, 0.0);
            for (std::size_t p = 0; p < points; ++p) rows[codes[p * axes_ + j]] += weights[p];
            double total = std::accumulate(rows.begin(), rows.end(), 0.0);
            for (std::size_t level = 0; level < levels[j].count; ++level) {
                const double* width = levels[j].width.data() + level * levels[j].codes;
                means[j].push_back(std::inner_product(rows.begin(), rows.end(), width, 0.0) / total);
            }
        }
        return means;
    }

    void take_all(const Levels& levels, std::size_t all) {
        for (std::size_t node = 0; node < all; ++node) {
            std::size_t rest = node;
            for (std::size_t j = 0; j < axes_; ++j) {
                levels_.push_back(static_cast<std::uint8_t>(rest % levels[j].count));
                rest /= levels[j].count;
            }
        }
    }

    // From the finest node up to the coarsest; steps that widen little come early more often.
    void take_chains(const Means& means, std::size_t most, std::uint64_t seed) {
        Chance chance(seed);
        std::vector<std::uint8_t> at(axes_);
        while (levels_.size() < most * axes_) {
            std::fill(at.begin(), at.end(), std::uint8_t{0});
            for (bool open = true; open;) {
                levels_.insert(levels_.end(), at.begin(), at.end());
                double best = std::numeric_limits<double>::infinity();
                std::size_t axis = axes_;
                for (std::size_t j = 0; j < axes_; ++j) {
                    if (at[j] + 1u >= means[j].size()) continue;
                    double wait = (means[j][at[j] + 1] - means[j][at[j]] + 1e-3) * -logarithm(1 - chance.share());
                    if (wait < best) best = wait, axis = j;
                }
                open = axis < axes_;
                if (open) ++at[axis];
            }
        }
    }

    void sort(const Means& means) {
        std::vector<double> width(size(), 0.0);
        for (std::size_t node = 0; node < size(); ++node)
            for (std::size_t j = 0; j < axes_; ++j) width[node] += means[j][(*this)[node][j]];
        std::vector<std::size_t> order(size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return width[a] < width[b]; });
        std::vector<std::uint8_t> sorted;
        sorted.reserve(levels_.size());
        for (std::size_t node : order) {
            sorted.insert(sorted.end(), (*this)[node], (*this)[node] + axes_);
            width_.push_back(width[node]);
        }
        levels_ = std::move(sorted);
    }

    std::size_t axes_;
    std::vector<std::uint8_t> levels_;
    std::vector<double> width_;  // of the cells of a node, on the mean
};

class Peeler {
  public:
    Peeler(const Code* codes, const std::int64_t* weights, std::size_t points, const Widths& widths,
           const Levels& levels, const Nodes& nodes)
        : codes_(codes), weights_(weights), points_(points), axes_(levels.axes()), widths_(widths), levels_(levels),
          nodes_(nodes) {}

    // For each k its shares; none, where they would cost more than the limit by far.
    std::vector<Share> run(const std::vector<std::int64_t>& ks, const std::vector<double>& limits,
                           unsigned threads) const {
        std::vector<Share> shares(ks.size());
        std::atomic<std::size_t> next{0};
        auto worker = [&] {
            for (std::size_t q; (q = next.fetch_add(1)) < ks.size();) shares[q] = peel(ks[q], limits[q]);
        };
        together(threads, [&](std::size_t) { worker(); });
        return shares;
    }

  private:
    static constexpr double hope = 0.6;  // boxes are narrower than their cells
    static constexpr std::size_t most_visits = 800'000'000;  // look-ups of a point on an axis at a node; more for many points

    struct Slot {
        std::uint64_t key = 0;
        std::int64_t rows = 0;
        std::int64_t group = -1;
        std::uint32_t node = 0;  // 1 + the node this slot was last used for
    };

    Share peel(std::int64_t k, double limit) const {
        std::vector<std::int64_t> group(points_, -1);
        std::vector<std::uint32_t> left(points_), place(points_);
        std::iota(left.begin(), left.end(), 0u);
        std::vector<Slot> slots(std::bit_ceil(2 * points_ + 1));
        std::int64_t rows = std::accumulate(weights_, weights_ + points_, std::int64_t{0}), groups = 0;
        double paid = 0;
        std::size_t visits = (most_visits + 800 * points_) / axes_;
        for (std::size_t node = 0; node < nodes_.size() && rows >= k; node += stride(node, left.size(), visits)) {
            if (hope * (paid + nodes_.width(node) * rows) > limit) return {};
            visits -= std::min(visits, left.size());
            if (!count(node, left, place, slots, k)) continue;
            std::int64_t taken = take(left, place, slots, k, group, groups);
            paid += nodes_.width(node) * taken;
            rows -= taken;
        }
        attach(left, group, groups);
        return share(group, groups);
    }

    // Nodes are left out when there is too much to do, but never the last one.
    std::size_t stride(std::size_t node, std::size_t left, std::size_t visits) const {
        std::size_t ahead = nodes_.size() - 1 - node;
        if (ahead == 0) return 1;
        return std::clamp<std::size_t>(left * ahead / (4 * visits + 1), 1, ahead);  // fewer will be left soon
    }

    // Rows left in each cell of the node; whether any cell has k.
    bool count(std::size_t node, const std::vector<std::uint32_t>& left, std::vector<std::uint32_t>& place,
               std::vector<Slot>& slots, std::int64_t k) const {
        std::size_t mask = std::bit_ceil(2 * left.size() + 1) - 1;
        std::vector<const std::uint64_t*> name(axes_);
        for (std::size_t j = 0; j < axes_; ++j) name[j] = levels_[j].name.data() + nodes_[node][j] * levels_[j].codes;
        bool found = false;
        for (std::size_t i = 0; i < left.size(); ++i) {
            const Code* point = codes_ + std::size_t{left[i]} * axes_;
            std::uint64_t key = 0;
            for (std::size_t j = 0; j < axes_; ++j) key += name[j][point[j]];
            std::size_t at = key & mask;
            while (slots[at].node == node + 1 && slots[at].key != key) at = (at + 1) & mask;
            Slot& slot = slots[at];
            if (slot.node != node + 1) slot = {key, 0, -1, static_cast<std::uint32_t>(node + 1)};
            slot.rows += weights_[left[i]];
            place[i] = static_cast<std::uint32_t>(at);
            found |= slot.rows >= k;
        }
        return found;
    }

    std::int64_t take(std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& place,
                      std::vector<Slot>& slots, std::int64_t k, std::vector<std::int64_t>& group,
                      std::int64_t& groups) const {
        std::size_t kept = 0;
        std::int64_t taken = 0;
        for (std::size_t i = 0; i < left.size(); ++i) {
            Slot& slot = slots[place[i]];
            if (slot.rows < k) {
                left[kept++] = left[i];
                continue;
            }
            if (slot.group < 0) slot.group = groups++;
            group[left[i]] = slot.group;
            taken += weights_[left[i]];
        }
        left.resize(kept);
        return taken;
    }

    // Fewer than k rows are left: each point goes where it widens least.
    void attach(const std::vector<std::uint32_t>& left, std::vector<std::int64_t>& group, std::int64_t& groups) const {
        if (left.empty()) return;
        if (groups == 0) groups = 1;
        std::vector<Box> boxes(groups, Box(axes_));
        std::vector<double> rows(groups, 0.0);
        for (std::size_t p = 0; p < points_; ++p)
            if (group[p] >= 0) boxes[group[p]].cover(codes_ + p * axes_), rows[group[p]] += weights_[p];
        for (std::uint32_t p : left) {
            const Code* point = codes_ + std::size_t{p} * axes_;
            double best = std::numeric_limits<double>::infinity();
            for (std::int64_t g = 0; g < groups; ++g) {
                double price = rows[g] > 0 ? growth(boxes[g], rows[g], point, weights_[p]) : 0;
                if (price < best) best = price, group[p] = g;
            }
            boxes[group[p]].cover(point);
            rows[group[p]] += weights_[p];
        }
    }

    double growth(const Box& box, double rows, const Code* point, double more) const {
        double before = 0, after = 0;
        for (std::size_t j = 0; j < axes_; ++j) {
            before += widths_.width(j, box.lo[j], box.hi[j]);
            after += widths_.width(j, std::min(box.lo[j], point[j]), std::max(box.hi[j], point[j]));
        }
        return (rows + more) * after - rows * before;
    }

    Share share(const std::vector<std::int64_t>& group, std::int64_t groups) const {
        std::vector<std::size_t> start(groups + 1, 0);
        for (std::int64_t g : group) ++start[g + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        Share out;
        out.point.resize(points_);
        out.group.resize(points_);
        out.rows.resize(points_);
        for (std::size_t p = 0; p < points_; ++p) {
            std::size_t at = start[group[p]]++;
            out.point[at] = p;
            out.group[at] = group[p];
            out.rows[at] = weights_[p];
        }
        return out;
    }

    const Code* codes_;
    const std::int64_t* weights_;
    std::size_t points_, axes_;
    const Widths& widths_;
    const Levels& levels_;
    const Nodes& nodes_;
};

}  // namespace kech
