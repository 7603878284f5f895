// A start of the search: the whole lattice peeled, from the nodes with the narrowest cells up.
#pragma once

#include "cells.hpp"
#include "logarithm.hpp"
#include "shares.hpp"
#include "threads.hpp"

namespace kech {

// Nodes of the lattice, a level for each axis, by the mean width of their cells; of a large lattice, random chains.
class Nodes {
  public:
    Nodes(const Points& points, const Levels& levels, std::size_t most, std::uint64_t seed) : axes_(levels.axes()) {
        auto means = mean_widths(points, levels);
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

    Means mean_widths(const Points& points, const Levels& levels) const {
        Means means(axes_);
        for (std::size_t j = 0; j < axes_; ++j) {
            std::vector<double> rows(levels[j].codes, 0.0);
            for (std::size_t p = 0; p < points.count; ++p) rows[points[p][j]] += points.weights[p];
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
        Random random(seed);
        std::vector<std::uint8_t> at(axes_);
        while (levels_.size() < most * axes_) {
            std::fill(at.begin(), at.end(), std::uint8_t{0});
            for (bool open = true; open;) {
                levels_.insert(levels_.end(), at.begin(), at.end());
                double best = infinity;
                std::size_t axis = axes_;
                for (std::size_t j = 0; j < axes_; ++j) {
                    if (at[j] + 1u >= means[j].size()) continue;
                    double wait = (means[j][at[j] + 1] - means[j][at[j]] + 1e-3) * -logarithm(1 - random.uniform());
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
        auto order = count_up<std::size_t>(size());
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

class LatticePeel {
  public:
    LatticePeel(const Points& points, const Widths& widths, const Levels& levels, const Nodes& nodes)
        : points_(points), widths_(widths), levels_(levels), nodes_(nodes) {
        for (Person who : points.person) who_.push_back(name_person(who));
    }

    // For each k its shares; none, where they would cost more than the limit by far.  With `alike`, other k look only at
    // nodes where the first, which is the smallest, found classes, and at those that it did not reach.
    std::vector<Shares> run(const std::vector<std::int64_t>& ks, const std::vector<double>& limits, bool alike,
                            unsigned threads) const {
        std::vector<Shares> shares(ks.size());
        std::vector<bool> skipped(nodes_.size(), false);
        std::size_t done = alike ? 1 : 0;
        if (alike) shares[0] = run(ks[0], limits[0], {}, &skipped);
        for_each(ks.size() - done, threads, [&](std::size_t q, std::size_t) {
            shares[done + q] = run(ks[done + q], limits[done + q], skipped, nullptr);
        });
        return shares;
    }

  private:
    // Notes which nodes had no class.
    Shares run(std::int64_t k, double limit, const std::vector<bool>& skipped, std::vector<bool>* useless) const {
        std::vector<std::int64_t> group(points_.count, -1);
        Peel peel;
        peel.start(points_.count);
        PeopleCounter counter(points_.person);
        std::int64_t rows = points_.rows(), groups = 0, people = count_left(peel, counter, rows);
        double paid = 0;
        std::size_t visits = (constants::peel_visits + constants::peel_visits_per_point * points_.count) / points_.axes;
        for (std::size_t node = 0; node < nodes_.size() && people >= k; node += stride(node, peel.left.size(), visits)) {
            if (constants::peel_hope * (paid + nodes_.width(node) * rows) > limit) return {};
            if (!skipped.empty() && skipped[node]) continue;
            visits -= std::min(visits, peel.left.size());
            if (!count(peel, node, k)) {
                if (useless) (*useless)[node] = true;
                continue;
            }
            std::int64_t taken = 0;
            peel.take(k, [&](std::uint32_t p, CellTable::Cell& cell) {
                if (cell.number < 0) cell.number = groups++;
                group[p] = cell.number;
                taken += points_.weights[p];
            });
            paid += nodes_.width(node) * taken;
            rows -= taken;
            people = count_left(peel, counter, rows);
        }
        attach(peel.left, group, groups);
        auto every = count_up<std::int64_t>(points_.count);
        return merge_shares(every.data(), group.data(), points_.weights, points_.count);
    }

    // The people of points without a class, of which there are so many rows.
    std::int64_t count_left(const Peel& peel, PeopleCounter& counter, std::int64_t rows) const {
        if (points_.person.empty()) return rows;
        counter.start();
        for (std::uint32_t p : peel.left) counter.add({p, points_.weights[p]});
        return counter.people();
    }

    // Nodes are skipped when there is too much to do, but never the last one.
    std::size_t stride(std::size_t node, std::size_t left, std::size_t visits) const {
        std::size_t ahead = nodes_.size() - 1 - node;
        if (ahead == 0) return 1;
        return std::clamp<std::size_t>(left * ahead / (4 * visits + 1), 1, ahead);  // fewer will be left soon
    }

    bool count(Peel& peel, std::size_t node, std::int64_t k) const {
        std::vector<const std::uint64_t*> names(points_.axes);
        for (std::size_t j = 0; j < points_.axes; ++j)
            names[j] = levels_[j].name.data() + nodes_[node][j] * levels_[j].codes;
        auto name = [codes = points_.codes, axes = points_.axes, first = names.data()](std::uint32_t p) {
            const Code* point = codes + p * axes;
            std::uint64_t sum = 0;
            for (std::size_t j = 0; j < axes; ++j) sum += first[j][point[j]];
            return sum;
        };
        auto rows = [weights = points_.weights](std::uint32_t p) { return weights[p]; };
        if (who_.empty()) return peel.count(name, rows, k);
        return peel.count_people(name, rows, [who = who_.data()](std::uint32_t p) { return who[p]; }, k);
    }

    // Fewer than k people are left: each point goes where it adds least.
    void attach(const std::vector<std::uint32_t>& left, std::vector<std::int64_t>& group, std::int64_t groups) const {
        if (left.empty()) return;
        std::vector<MeasuredClass> classes(std::max<std::int64_t>(groups, 1), MeasuredClass(widths_));
        for (std::size_t p = 0; p < points_.count; ++p)
            if (group[p] >= 0) classes[group[p]].grow(points_[p], points_.weights[p]);
        auto class_at = [&](std::size_t c) -> const MeasuredClass& { return classes[c]; };
        for (std::uint32_t p : left) {
            group[p] = groups ? cheapest_home(classes.size(), class_at, points_[p], points_.weights[p]).place : 0;
            classes[group[p]].grow(points_[p], points_.weights[p]);
        }
    }

    Points points_;
    const Widths& widths_;
    const Levels& levels_;
    const Nodes& nodes_;
    std::vector<std::uint64_t> who_;  // a random number for the person of each point
};

}  // namespace kech
