// Counting: how many rows lie in each of many boxes.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "widths.hpp"

namespace kech {

// Points in a tree of boxes, in preorder: a node is followed by what is below it, and `after` is where that ends.
class BoxCounter {
  public:
    BoxCounter(const Code* codes, const std::int64_t* weights, std::size_t points, std::size_t axes)
        : codes_(codes), weights_(weights), axes_(axes), order_(points) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        if (points) build(0, points);
    }

    // Rows in each box, or any number above `enough`.
    std::vector<std::int64_t> each(const Code* lo, const Code* hi, std::size_t boxes, std::int64_t enough) const {
        std::vector<std::int64_t> found(boxes);
        for (std::size_t i = 0; i < boxes; ++i) found[i] = count(lo + i * axes_, hi + i * axes_, enough);
        return found;
    }

  private:
    static constexpr std::size_t leaf = 8;
    struct Node {
        std::size_t begin, end, after;
        std::int64_t rows;
    };

    void build(std::size_t begin, std::size_t end) {
        std::size_t at = nodes_.size();
        nodes_.push_back({begin, end, 0, 0});
        for (std::size_t i = begin; i < end; ++i) nodes_[at].rows += weights_[order_[i]];
        for (std::size_t j = 0; j < axes_; ++j) {
            auto [least, most] = std::minmax_element(order_.begin() + begin, order_.begin() + end,
                                                     [&](auto a, auto b) { return code(a, j) < code(b, j); });
            low_.push_back(code(*least, j));
            high_.push_back(code(*most, j));
        }
        if (std::size_t axis = longest(at); end - begin > leaf && axis < axes_) {
            std::size_t middle = (begin + end) / 2;
            std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                             [&](auto a, auto b) { return code(a, axis) != code(b, axis) ? code(a, axis) < code(b, axis) : a < b; });
            build(begin, middle);
            build(middle, end);
        }
        nodes_[at].after = nodes_.size();
    }

    // The side that is longest beside that of all points; no axis where all points are equal.
    std::size_t longest(std::size_t at) const {
        std::size_t found = axes_;
        double best = 0;
        for (std::size_t j = 0; j < axes_; ++j) {
            double share = side(at, j) / (side(0, j) + 1.0);
            if (share > best) best = share, found = j;
        }
        return found;
    }

    double side(std::size_t at, std::size_t j) const {
        return static_cast<double>(high_[at * axes_ + j]) - static_cast<double>(low_[at * axes_ + j]);
    }

    std::int64_t count(const Code* lo, const Code* hi, std::int64_t enough) const {
        std::int64_t rows = 0;
        for (std::size_t at = 0; at < nodes_.size() && rows <= enough;) {
            const Node& node = nodes_[at];
            const Code *low = low_.data() + at * axes_, *high = high_.data() + at * axes_;
            bool apart = false, within = true;
            for (std::size_t j = 0; j < axes_; ++j) {
                apart |= high[j] < lo[j] || low[j] > hi[j];
                within &= low[j] >= lo[j] && high[j] <= hi[j];
            }
            if (!apart && !within && node.after > at + 1) {
                ++at;
                continue;
            }
            if (within) rows += node.rows;
            else if (!apart) rows += scan(node, lo, hi);
            at = node.after;
        }
        return rows;
    }

    std::int64_t scan(const Node& node, const Code* lo, const Code* hi) const {
        std::int64_t rows = 0;
        for (std::size_t i = node.begin; i < node.end; ++i) {
            bool inside = true;
            for (std::size_t j = 0; j < axes_; ++j) inside &= code(order_[i], j) >= lo[j] && code(order_[i], j) <= hi[j];
            rows += inside ? weights_[order_[i]] : 0;
        }
        return rows;
    }

    Code code(std::size_t point, std::size_t axis) const { return codes_[point * axes_ + axis]; }

    const Code* codes_;
    const std::int64_t* weights_;
    std::size_t axes_;
    std::vector<std::size_t> order_;
    std::vector<Node> nodes_;
    std::vector<Code> low_, high_;  // of each node
};

}  // namespace kech
