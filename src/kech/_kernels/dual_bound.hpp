// Dual bound: a price for each row; where no class of k rows is cheaper than its rows' prices, they add up to a bound.
//
// A class of rows under trees is published as the lattice cell around it.  For any prices v all rows together pay
//     sum of v + sum over classes of (width - v) of each row  >=  sum of v - sum over cells of excess(cell)
// where excess(cell) is what k or more of the cell's rows are priced above its width, at most, and 0 where they are
// not.  The right side is a bound whatever v is; v climbs along its slope.  At first v is the width of the narrowest
// cell with k rows around each row, and nothing exceeds.
#pragma once

#include <span>

#include "cells.hpp"

namespace kech {

// Some cells of a lattice: the points in them, and how wide they are.
struct Cells {
    std::vector<std::uint32_t> members;
    std::vector<std::size_t> start{0};
    std::vector<double> width;

    std::size_t size() const { return width.size(); }
    std::span<const std::uint32_t> operator[](std::size_t c) const {
        return {members.data() + start[c], start[c + 1] - start[c]};
    }
};

// The cells that can be the label of a class: k rows or more, and on no axis all of them in one finer cell.
class CellFinder {
  public:
    CellFinder(const Points& points, const Levels& levels) : points_(points), axes_(levels.axes()), levels_(levels) {}

    Cells run(std::int64_t k) const {
        Cells found;
        auto line = count_up<std::uint32_t>(points_.count);
        std::vector<std::uint64_t> key(points_.count);
        Node at(axes_, 0);
        do {
            for (std::size_t p = 0; p < points_.count; ++p) key[p] = name(p, at);
            auto before = [&](auto a, auto b) { return key[a] != key[b] ? key[a] < key[b] : a < b; };
            std::sort(line.begin(), line.end(), before);
            for (std::size_t i = 0, end = 0; i < points_.count; i = end) {
                std::int64_t rows = 0;
                for (end = i; end < points_.count && key[line[end]] == key[line[i]]; ++end)
                    rows += points_.weights[line[end]];
                std::span<const std::uint32_t> cell(line.data() + i, end - i);
                if (rows >= k && is_closed(cell, at)) add(found, cell, at);
            }
        } while (advance(at));
        return found;
    }

  private:
    using Node = std::vector<std::size_t>;  // a level for each axis

    bool advance(Node& at) const {
        for (std::size_t j = 0; j < axes_; ++j) {
            if (++at[j] < levels_[j].count) return true;
            at[j] = 0;
        }
        return false;
    }

    std::size_t place(std::size_t point, std::size_t j, std::size_t level) const {
        return level * levels_[j].codes + points_[point][j];
    }

    std::uint64_t name(std::size_t point, const Node& at) const {
        std::uint64_t sum = 0;
        for (std::size_t j = 0; j < axes_; ++j) sum += levels_[j].name[place(point, j, at[j])];
        return sum;
    }

    bool is_closed(std::span<const std::uint32_t> cell, const Node& at) const {
        for (std::size_t j = 0; j < axes_; ++j) {
            if (at[j] == 0) continue;
            auto finer = [&](std::uint32_t p) { return levels_[j].name[place(p, j, at[j] - 1)]; };
            if (std::all_of(cell.begin(), cell.end(), [&](auto p) { return finer(p) == finer(cell[0]); })) return false;
        }
        return true;
    }

    void add(Cells& found, std::span<const std::uint32_t> cell, const Node& at) const {
        double width = 0;
        for (std::size_t j = 0; j < axes_; ++j) width += levels_[j].width[place(cell[0], j, at[j])];
        found.members.insert(found.members.end(), cell.begin(), cell.end());
        found.start.push_back(found.members.size());
        found.width.push_back(width);
    }

    Points points_;
    std::size_t axes_;
    const Levels& levels_;
};

class DualBound {
  public:
    DualBound(Cells cells, std::vector<std::int64_t> weights, std::int64_t k)
        : cells_(std::move(cells)), weights_(std::move(weights)), k_(k), price_(weights_.size(), infinity),
          slope_(weights_.size()), pace_(weights_.size()), above_(cells_.size(), 0) {
        for (std::size_t c = 0; c < cells_.size(); ++c)
            for (auto p : cells_[c]) price_[p] = std::min(price_[p], cells_.width[c]);
        for (double price : price_) most_.push_back(static_cast<double>(k_) * price);
        look_at_all();
    }

    // Some steps that heed only cells near their limit, then a look at all: only there a bound is found.
    void climb(std::size_t steps, double goal) {
        std::fill(pace_.begin(), pace_.end(), 0.0);
        std::vector<double> best = price_;
        double most = -infinity;
        for (std::size_t i = 0, worse = 0; i < steps; ++i) {
            double here = worth();
            worse = here > most ? 0 : worse + 1;
            if (here > most) most = here, best = price_;
            if (worse == constants::dual_patience) {
                price_ = best;
                stride_ *= constants::dual_shorter;
                worse = 0;
                std::fill(pace_.begin(), pace_.end(), 0.0);
            } else {
                move(goal - here);
            }
        }
        price_ = best;
        stride_ = std::min(1.0, stride_ * constants::dual_longer);
        look_at_all();
    }

    double bound() const { return bound_; }

  private:
    struct Dear {
        double below;  // the width of the cell
        std::uint32_t point;

        bool operator<(const Dear& other) const {
            return below != other.below ? below < other.below : point < other.point;
        }
    };

    // What k or more rows of a cell are priced above its width, at most; less than 0 where they are priced below.
    // Where they are above and it is asked for, they are taken off the slope.
    double excess(std::size_t c, bool slope) {
        double width = cells_.width[c], sum = 0;
        std::int64_t rows = 0;
        for (auto p : cells_[c]) {
            if (price_[p] <= width) continue;
            sum += static_cast<double>(weights_[p]) * (price_[p] - width);
            rows += weights_[p];
        }
        dear_.clear();
        std::int64_t missing = k_ - rows;
        if (missing > 0) {
            for (auto p : cells_[c])
                if (price_[p] <= width) dear_.push_back({width - price_[p], p});
            auto enough = dear_.begin() + std::min<std::size_t>(dear_.size(), missing);
            std::partial_sort(dear_.begin(), enough, dear_.end());
            dear_.erase(enough, dear_.end());
            for (const Dear& dear : dear_) {
                std::int64_t some = std::min(weights_[dear.point], missing);
                sum -= static_cast<double>(some) * dear.below;
                missing -= some;
            }
        }
        if (slope && sum > 0) take_off(c, k_ - rows);
        return sum;
    }

    void take_off(std::size_t c, std::int64_t missing) {
        double width = cells_.width[c];
        for (auto p : cells_[c])
            if (price_[p] > width) slope_[p] -= static_cast<double>(weights_[p]);
        for (const Dear& dear : dear_) {
            std::int64_t some = std::min(weights_[dear.point], std::max<std::int64_t>(missing, 0));
            slope_[dear.point] -= static_cast<double>(some);
            missing -= some;
        }
    }

    double all_prices() const { return std::inner_product(price_.begin(), price_.end(), weights_.begin(), 0.0); }

    // The bound, were there only the listed cells; and its slope.
    double worth() {
        double sum = all_prices();
        std::copy(weights_.begin(), weights_.end(), slope_.begin());
        for (std::size_t c : list_) sum -= std::max(0.0, excess(c, true));
        return sum;
    }

    void move(double missing) {
        double square = 0;
        for (std::size_t p = 0; p < price_.size(); ++p) {
            pace_[p] = 0.5 * (pace_[p] + slope_[p] / static_cast<double>(weights_[p]));
            square += pace_[p] * pace_[p] * static_cast<double>(weights_[p]);
        }
        if (square <= 0 || missing <= 0) return;
        double step = stride_ * missing / square;
        for (std::size_t p = 0; p < price_.size(); ++p) price_[p] = std::clamp(price_[p] + step * pace_[p], 0.0, most_[p]);
    }

    // The true bound, and the cells that are near their limit or were above it at the last look.
    void look_at_all() {
        double sum = all_prices();
        list_.clear();
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            double above = excess(c, false);
            sum -= std::max(0.0, above);
            bool was = above_[c];
            above_[c] = above > 0;
            if (was || above > -constants::dual_near * static_cast<double>(k_) * cells_.width[c]) list_.push_back(c);
        }
        bound_ = std::max(bound_, sum);
    }

    Cells cells_;
    std::vector<std::int64_t> weights_;
    std::int64_t k_;
    std::vector<double> price_, slope_, pace_;
    std::vector<double> most_;  // dearer, a row alone is above what k rows of its narrowest cell may be
    std::vector<char> above_;  // at the last look
    std::vector<std::size_t> list_;
    std::vector<Dear> dear_;
    double stride_ = 1.0, bound_ = 0;
};

}  // namespace kech
