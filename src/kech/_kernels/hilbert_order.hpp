// Hilbert order: one curve through all cells of a fine grid, always on to a cell beside it, independent of k.
#pragma once

#include "core.hpp"

namespace kech {

class HilbertOrder {
  public:
    HilbertOrder(const Code* codes, std::size_t points, const Widths& widths)
        : codes_(codes), points_(points), axes_(widths.axes()), words_((bits * axes_ + 63) / 64) {
        for (std::size_t j = 0; j < axes_; ++j) steps_.push_back(grid_steps(widths, j));
    }

    std::vector<std::int64_t> run() const {
        std::vector<std::uint64_t> keys(points_ * words_, 0);
        std::vector<std::uint32_t> cell(axes_);
        for (std::size_t p = 0; p < points_; ++p) {
            for (std::size_t j = 0; j < axes_; ++j) cell[j] = steps_[j][codes_[p * axes_ + j]];
            turn(cell);
            interleave(cell, keys.data() + p * words_);
        }
        auto order = count_up<std::int64_t>(points_);
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            const std::uint64_t *first = keys.data() + a * words_, *second = keys.data() + b * words_;
            return std::lexicographical_compare(first, first + words_, second, second + words_);
        });
        for (std::size_t begin = 0, end = 0; begin < points_; begin = end) {
            while (end < points_ && std::equal(key(keys, order[begin]), key(keys, order[begin]) + words_, key(keys, order[end])))
                ++end;
            if (end - begin > 2) join_equal({order.data() + begin, end - begin});
        }
        return order;
    }

  private:
    static constexpr std::size_t bits = constants::hilbert_bits;  // of the grid, on each axis

    const std::uint64_t* key(const std::vector<std::uint64_t>& keys, std::int64_t p) const { return keys.data() + p * words_; }

    // Points of one cell of the grid: equal ones side by side, where the first of them stands.
    void join_equal(std::span<std::int64_t> cell) const {
        auto point = [&](std::int64_t p) { return codes_ + p * axes_; };
        auto before = [&](std::int64_t a, std::int64_t b) {
            return std::lexicographical_compare(point(a), point(a) + axes_, point(b), point(b) + axes_);
        };
        std::vector<std::int64_t> sorted(cell.begin(), cell.end());
        std::stable_sort(sorted.begin(), sorted.end(), before);
        std::vector<std::pair<std::int64_t, std::int64_t>> places;  // the first equal point, and the point
        for (std::int64_t p : sorted)
            places.emplace_back(places.empty() || before(places.back().first, p) ? p : places.back().first, p);
        if (std::all_of(places.begin(), places.end(), [](auto& place) { return place.first == place.second; })) return;
        std::sort(places.begin(), places.end());
        for (std::size_t i = 0; i < cell.size(); ++i) cell[i] = places[i].second;
    }

    // Codes lie as far apart as they are wide together; the last one at the end of the grid.
    static std::vector<std::uint32_t> grid_steps(const Widths& widths, std::size_t axis) {
        std::vector<double> place(widths.codes(axis), 0.0);
        for (std::size_t c = 1; c < place.size(); ++c)
            place[c] = place[c - 1] + widths.width(axis, static_cast<Code>(c - 1), static_cast<Code>(c));
        double end = place.empty() ? 0.0 : place.back();
        std::vector<std::uint32_t> steps;
        for (double at : place)
            steps.push_back(end > 0 ? static_cast<std::uint32_t>(at / end * ((1u << bits) - 1)) : 0u);
        return steps;
    }

    // From a cell to its place on the curve, bits still on their axes (Skilling 2004).
    static void turn(std::vector<std::uint32_t>& cell) {
        for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
            for (std::uint32_t& side : cell) {
                std::uint32_t swapped = side & bit ? 0 : (cell[0] ^ side) & (bit - 1);
                cell[0] ^= side & bit ? bit - 1 : swapped;
                side ^= swapped;
            }
        for (std::size_t j = 1; j < cell.size(); ++j) cell[j] ^= cell[j - 1];
        std::uint32_t flipped = 0;
        for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
            if (cell.back() & bit) flipped ^= bit - 1;
        for (std::uint32_t& side : cell) side ^= flipped;
    }

    static void interleave(const std::vector<std::uint32_t>& cell, std::uint64_t* key) {
        std::size_t at = 0;
        for (std::size_t left = bits; left > 0; --left)
            for (std::uint32_t side : cell) {
                key[at / 64] |= std::uint64_t{side >> (left - 1) & 1} << (63 - at % 64);
                ++at;
            }
    }

    const Code* codes_;
    std::size_t points_, axes_, words_;
    std::vector<std::vector<std::uint32_t>> steps_;
};

}  // namespace kech
