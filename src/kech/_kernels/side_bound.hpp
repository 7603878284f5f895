// How wide a box must be to hold a given row and k rows in all; the loneliest row decides for the whole table.
#pragma once

#include "nearest_rows.hpp"

namespace kech {

class SideBound {
  public:
    SideBound(const Points& points, const Widths& widths) : points_(points), widths_(widths) {}

    // A side below which no class around some row can be.  A row that reaches k rows within d is in a box of side 2d,
    // so only rows that reach farther than half of what is known need a look.
    double run(std::int64_t k, unsigned threads) const {
        auto far = NearestRows<WidestSide>(points_, widths_).each(k, threads);
        auto order = count_up<std::size_t>(points_.count);
        std::size_t looked = std::min(points_.count, constants::side_points);
        std::partial_sort(order.begin(), order.begin() + looked, order.end(),
                          [&](auto a, auto b) { return far[a] != far[b] ? far[a] > far[b] : a < b; });
        double bound = points_.count ? far[order[0]] : 0;
        for (std::size_t i = 0; i < looked && 2 * far[order[i]] > bound; ++i)
            bound = std::max(bound, narrowest(order[i], far[order[i]], bound, k));
        return bound;
    }

  private:
    // The widest side that is known to be too narrow for k rows around one; never less than `least`.
    double narrowest(std::size_t row, double least, double bound, std::int64_t k) const {
        double low = std::max(least, bound), high = 2 * least;
        if (fits(row, low, k)) return least;
        for (int i = 0; i < constants::side_halvings && high - low > 1e-15; ++i) {
            double middle = (low + high) / 2;
            (fits(row, middle, k) ? high : low) = middle;
        }
        return low;
    }

    // Whether some box with no side wider than this holds the row and k rows; yes where that takes too long to find out.
    bool fits(std::size_t row, double side, std::int64_t k) const {
        const Code* centre = points_[row];
        std::vector<std::size_t> near;
        for (std::size_t i = 0; i < points_.count; ++i)
            if (widest_side(widths_, centre, points_[i], side) <= side) near.push_back(i);
        std::size_t work = 0;
        return fits_from(0, near, centre, side, k, work);
    }

    // Axis by axis: each longest range of codes around the row that is no wider than the side.
    bool fits_from(std::size_t axis, const std::vector<std::size_t>& near, const Code* centre, double side, std::int64_t k,
                   std::size_t& work) const {
        std::int64_t rows = 0;
        for (auto i : near) rows += points_.weights[i];
        if (rows < k) return false;
        if (axis == points_.axes || (work += near.size()) > constants::side_work) return true;
        std::vector<Code> starts, stops;
        for (auto i : near) (points_[i][axis] <= centre[axis] ? starts : stops).push_back(points_[i][axis]);
        stops.push_back(centre[axis]);
        for (auto* ends : {&starts, &stops}) {
            std::sort(ends->begin(), ends->end());
            ends->erase(std::unique(ends->begin(), ends->end()), ends->end());
        }
        std::size_t stop = 0;
        for (std::size_t start = 0; start < starts.size(); ++start) {
            std::size_t before = stop;
            while (stop < stops.size() && widths_.width(axis, starts[start], stops[stop]) <= side) ++stop;
            if (stop == 0 || (start > 0 && stop == before)) continue;
            std::vector<std::size_t> inside;
            for (auto i : near)
                if (Code code = points_[i][axis]; code >= starts[start] && code <= stops[stop - 1]) inside.push_back(i);
            if (fits_from(axis + 1, inside, centre, side, k, work)) return true;
        }
        return false;
    }

    Points points_;
    const Widths& widths_;
};

}  // namespace kech
