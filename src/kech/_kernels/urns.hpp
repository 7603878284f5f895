// Dealing: rows come one by one, and each is given to one of those who share its point.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kech {

// An urn for each point, with a ticket for each of its rows; tickets are drawn without being put back, so whoever draws
// all of them deals the rows as evenly as by shuffling them first.  In each urn sums of tickets lie in a Fenwick tree.
class Urns {
  public:
    // The shares of point p are starts[p], ..., starts[p + 1] - 1.
    Urns(const std::int64_t* starts, std::size_t points, const std::int64_t* rows)
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
    std::vector<std::int64_t> draw(const std::int64_t* point, const std::uint64_t* chance, std::size_t rows) {
        std::vector<std::int64_t> drawn(rows);
        for (std::size_t i = 0; i < rows; ++i) drawn[i] = draw(static_cast<std::size_t>(point[i]), chance[i]);
        return drawn;
    }

  private:
    std::size_t size(std::size_t p) const { return static_cast<std::size_t>(starts_[p + 1] - starts_[p]); }

    std::int64_t draw(std::size_t p, std::uint64_t chance) {
        if (p >= left_.size() || left_[p] <= 0) throw std::invalid_argument("a point has more rows than tickets");
        std::int64_t* sums = sums_.data() + starts_[p];
        std::size_t shares = size(p), at = 0;
        auto ticket = static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(left_[p]--));
        for (std::size_t step = std::bit_floor(shares); step; step /= 2)
            if (at + step <= shares && sums[at + step - 1] <= ticket) ticket -= sums[(at += step) - 1];
        for (std::size_t i = at + 1; i <= shares; i += i & -i) --sums[i - 1];
        return starts_[p] + static_cast<std::int64_t>(at);
    }

    std::vector<std::int64_t> starts_, sums_, left_;
};

// A card for each row; none is put back. Where nobody can know the numbers it is drawn by, nobody can know the order.
class Deck {
  public:
    explicit Deck(std::uint32_t cards) : cards_(cards) { std::iota(cards_.begin(), cards_.end(), 0U); }

    std::vector<std::uint32_t> draw(const std::uint64_t* chance, std::size_t cards) {
        if (cards > cards_.size() - drawn_) throw std::invalid_argument("there are fewer cards left");
        std::size_t first = drawn_;
        for (std::size_t i = 0; i < cards; ++i, ++drawn_)
            std::swap(cards_[drawn_], cards_[drawn_ + chance[i] % (cards_.size() - drawn_)]);
        return {cards_.begin() + static_cast<std::ptrdiff_t>(first), cards_.begin() + static_cast<std::ptrdiff_t>(drawn_)};
    }

  private:
    std::vector<std::uint32_t> cards_;
    std::size_t drawn_ = 0;
};

}  // namespace kech
