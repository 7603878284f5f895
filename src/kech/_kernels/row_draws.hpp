// Random draws: the class of each row that several classes share, and the order of the published rows.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kech {

// Gives each row of a point to one of the shares of that point, at random and as often as the share has rows.  Drawing is
// without replacement, as if the rows were shuffled first.  What each share still lacks lies in one Fenwick tree a point.
class ShareDraw {
  public:
    // The shares of point p are starts[p], ..., starts[p + 1] - 1.
    ShareDraw(const std::int64_t* starts, std::size_t points, const std::int64_t* rows)
        : starts_(starts, starts + points + 1), sums_(rows, rows + starts[points]), left_(points) {
        for (std::size_t p = 0; p < points; ++p) {
            std::int64_t* sums = sums_.data() + starts_[p];
            std::size_t shares = size(p);
            for (std::size_t i = 0; i < shares; ++i) left_[p] += sums[i];
            for (std::size_t i = 1; i <= shares; ++i)
                if (std::size_t next = i + (i & -i); next <= shares) sums[next - 1] += sums[i - 1];
        }
    }

    // The share of each row, by its point and a number nobody can know.
    std::vector<std::int64_t> draw(const std::int64_t* point, const std::uint64_t* numbers, std::size_t rows) {
        std::vector<std::int64_t> drawn(rows);
        for (std::size_t i = 0; i < rows; ++i) drawn[i] = draw(static_cast<std::size_t>(point[i]), numbers[i]);
        return drawn;
    }

  private:
    std::size_t size(std::size_t p) const { return static_cast<std::size_t>(starts_[p + 1] - starts_[p]); }

    std::int64_t draw(std::size_t p, std::uint64_t number) {
        if (p >= left_.size() || left_[p] <= 0) throw std::invalid_argument("a point has more rows than its shares");
        std::int64_t* sums = sums_.data() + starts_[p];
        std::size_t shares = size(p), at = 0;
        auto place = static_cast<std::int64_t>(number % static_cast<std::uint64_t>(left_[p]--));
        for (std::size_t step = std::bit_floor(shares); step; step /= 2)
            if (at + step <= shares && sums[at + step - 1] <= place) place -= sums[(at += step) - 1];
        for (std::size_t i = at + 1; i <= shares; i += i & -i) --sums[i - 1];
        return starts_[p] + static_cast<std::int64_t>(at);
    }

    std::vector<std::int64_t> starts_, sums_, left_;
};

// The rows 0, 1, ... in random order, drawn some at a time (Fisher-Yates).  The random numbers come from the caller.
class RowShuffle {
  public:
    explicit RowShuffle(std::uint32_t rows) : rows_(rows) { std::iota(rows_.begin(), rows_.end(), 0U); }

    std::vector<std::uint32_t> draw(const std::uint64_t* numbers, std::size_t count) {
        if (count > rows_.size() - drawn_) throw std::invalid_argument("there are fewer rows left");
        std::size_t first = drawn_;
        for (std::size_t i = 0; i < count; ++i, ++drawn_)
            std::swap(rows_[drawn_], rows_[drawn_ + numbers[i] % (rows_.size() - drawn_)]);
        return {rows_.begin() + static_cast<std::ptrdiff_t>(first), rows_.begin() + static_cast<std::ptrdiff_t>(drawn_)};
    }

  private:
    std::vector<std::uint32_t> rows_;
    std::size_t drawn_ = 0;
};

}  // namespace kech
