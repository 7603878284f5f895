// How wide a box must be to hold a given row and k rows in all; the loneliest row decides for the whole table.
#pragma once

#include "reaching.hpp"

namespace kech {

class Loneliest {
  public:
    Loneliest(const Code* codes, const std::int64_t* weights, std::size_t points, const Widths& widths)
        : codes_(codes), weights_(weights), points_(points), axes_(widths.axes()), widths_(widths) {}

    // A side below which no class around some row can be.  A row that reaches k rows within d is in a box of side 2d,
    // so only rows that reach farther than half of what is known need a look.
    double run(std::int64_t k, unsigned threads) const {
        auto far = Reacher<WidestSide>(codes_, weights_, points_, widths_).each(k, threads);
        std::vector<std::size_t> order(points_);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::size_t looked = std::min(points_, most_rows);
        std::partial_sort(order.begin(), order.begin() + looked, order.end(),
                          [&](auto a, auto b) { return far[a] != far[b] ? far[a] > far[b] : a < b; });
        double bound = points_ ? far[order[0]] : 0;
        for (std::size_t i = 0; i < looked && 2 * far[order[i]] > bound; ++i)
            bound = std::max(bound, narrowest(order[i], far[order[i]], bound, k));
        return bound;
    }

  private:
    static constexpr std::size_t most_rows = 200, most_work = 200'000;
    static constexpr int halvings = 48;

    // The widest side that is known to be too narrow for k rows around one; never less than `least`.
    double narrowest(std::size_t row, double least, double bound, std::int64_t k) const {
        double low = std::max(least, bound), high = 2 * least;
        if (fits(row, low, k)) return least;
        for (int i = 0; i < halvings && high - low > 1e-15; ++i) {
            double middle = (low + high) / 2;
            (fits(row, middle, k) ? high : low) = middle;
        }
        return low;
    }

    // Whether some box with no side wider than this holds the row and k rows; yes where that takes too long to find out.
    bool fits(std::size_t row, double side, std::int64_t k) const {
        const Code* centre = codes_ + row * axes_;
        std::vector<std::size_t> near;
        for (std::size_t i = 0; i < points_; ++i)
            if (within(centre, codes_ + i * axes_, side)) near.push_back(i);
        std::size_t work = 0;
        return fits_from(0, near, centre, side, k, work);
    }

    bool within(const Code* a, const Code* b, double side) const {
        for (std::size_t j = 0; j < axes_; ++j)
            if (widths_.width(j, std::min(a[j], b[j]), std::max(a[j], b[j])) > side) return false;
        return true;
    }

    // Axis by axis: each longest range of codes around the row that is no wider than the side.
    bool fits_from(std::size_t axis, const std::vector<std::size_t>& near, const Code* centre, double side, std::int64_t k,
                   std::size_t& work) const {
        std::int64_t rows = 0;
        for (auto i : near) rows += weights_[i];
        if (rows < k) return false;
        if (axis == axes_ || (work += near.size()) > most_work) return true;
        std::vector<Code> starts, stops;
        for (auto i : near) (codes_[i * axes_ + axis] <= centre[axis] ? starts : stops).push_back(codes_[i * axes_ + axis]);
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
                if (Code code = codes_[i * axes_ + axis]; code >= starts[start] && code <= stops[stop - 1]) inside.push_back(i);
            if (fits_from(axis + 1, inside, centre, side, k, work)) return true;
        }
        return false;
    }

    const Code* codes_;
    const std::int64_t* weights_;
    std::size_t points_, axes_;
    const Widths& widths_;
};

}  // namespace kech
