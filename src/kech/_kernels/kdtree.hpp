// One kd tree over the points, cut by widths: how near a point can be to anything in a cell.
#pragma once

#include <cmath>
#include <numeric>

#include "widths.hpp"

namespace kech {

// The widest side of the box around two points.
struct WidestSide {
    const Widths& widths;

    double position(std::size_t axis, Code code) const { return widths.line(axis).left[code]; }
    double length(std::size_t axis) const { return widths.line(axis).length; }
    double operator()(double total, double side) const { return std::max(total, side); }
    double radius(double distance) const { return distance / 2; }
};

// Euclidean, on plain lines; compared as squares, told as radii.
class SquareSum {
  public:
    SquareSum(const Widths& widths) : widths_(widths), cube_(common_length(widths)) {}

    double position(std::size_t axis, Code code) const {
        const Line& line = widths_.line(axis);
        return cube_ ? (line.left[code] - line.left[0]) * (cube_ / line.length) : line.left[code];
    }
    double length(std::size_t axis) const { return cube_ ? 1 : widths_.line(axis).length; }
    double operator()(double total, double side) const { return total + side * side; }
    double radius(double distance) const { return std::sqrt(distance) / 2 / (cube_ ? cube_ : 1); }

  private:
    static constexpr double longest = 1 << 24;  // squares of it, and the sum of ten, are exact

    // Side of a cube of whole units, in which equal distances are equal numbers; 0 where there is none.
    static double common_length(const Widths& widths) {
        std::int64_t common = 1;
        for (std::size_t j = 0; j < widths.axes(); ++j) {
            double length = widths.line(j).length;
            if (length > longest || length != std::floor(length)) return 0;
            common = std::lcm(common, static_cast<std::int64_t>(length));
            if (common > longest) return 0;
        }
        return static_cast<double>(common);
    }

    const Widths& widths_;
    double cube_;
};

// Points in an order of our own: plain lines as positions, every other axis as codes.
class Space {
  public:
    template <class Fold>
    Space(const Code* codes, const std::vector<std::int64_t>& order, const Widths& widths, const Fold& fold) : widths_(widths) {
        std::size_t axes = widths.axes();
        for (std::size_t j = 0; j < axes; ++j) (widths.is_plain(j) ? lines_ : others_).push_back(j);
        for (auto j : lines_) length_.push_back(fold.length(j));
        position_.reserve(order.size() * lines_.size());
        code_.reserve(order.size() * others_.size());
        for (auto i : order) {
            const Code* point = codes + i * axes;
            for (auto j : lines_) position_.push_back(fold.position(j, point[j]));
            for (auto j : others_) code_.push_back(point[j]);
        }
    }

    std::size_t lines() const { return lines_.size(); }
    std::size_t others() const { return others_.size(); }
    const double* position(std::size_t i) const { return position_.data() + i * lines_.size(); }
    const Code* code(std::size_t i) const { return code_.data() + i * others_.size(); }


    // The sides between two boxes (or points), axis by axis; 0 where they overlap.
    template <class Fold>
    double apart(const double* lo, const double* hi, const Code* low, const Code* high, std::size_t i, const Fold& fold) const {
        double total = 0;
        const double* x = position(i);
        for (std::size_t l = 0; l < lines_.size(); ++l) {
            double side = std::max(std::max(lo[l] - x[l], x[l] - hi[l]), 0.0);
            total = fold(total, side / length_[l]);
        }
        const Code* c = code(i);
        for (std::size_t o = 0; o < others_.size(); ++o)
            total = fold(total, c[o] < low[o]    ? widths_.width(others_[o], c[o], low[o])
                                : c[o] > high[o] ? widths_.width(others_[o], high[o], c[o])
                                                 : 0.0);
        return total;
    }

  private:
    const Widths& widths_;
    std::vector<std::size_t> lines_, others_;
    std::vector<double> length_, position_;
    std::vector<Code> code_;
};

template <class Fold>
class KdTree {
  public:
    struct Node {
        std::size_t begin, end, right;  // right == 0: a leaf; the left child is the next node
    };

    KdTree(const Code* codes, std::size_t points, const Widths& widths)
        : order_(kd_sort(codes, points, widths)), fold_{widths}, space_(codes, order_, widths, fold_) {
        if (points) build(0, points);
    }

    // The point at each place of the tree.
    const std::vector<std::int64_t>& order() const { return order_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    const Fold& fold() const { return fold_; }

    double distance(std::size_t a, std::size_t b) const {
        return space_.apart(space_.position(a), space_.position(a), space_.code(a), space_.code(a), b, fold_);
    }

    double gap(std::size_t node, std::size_t i) const {
        std::size_t p = node * space_.lines(), c = node * space_.others();
        return space_.apart(lo_.data() + p, hi_.data() + p, low_.data() + c, high_.data() + c, i, fold_);
    }

  private:
    static constexpr std::size_t leaf = 8;

    static std::vector<std::int64_t> kd_sort(const Code* codes, std::size_t points, const Widths& widths) {
        std::vector<std::int64_t> order(points);
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::size_t axes = widths.axes();
        std::vector<std::pair<std::size_t, std::size_t>> open{{0, points}};
        Box box(axes);
        while (!open.empty()) {
            auto [begin, end] = open.back();
            open.pop_back();
            if (end - begin <= leaf) {
                std::sort(order.begin() + begin, order.begin() + end);  // nth_element leaves them in no order
                continue;
            }
            box.clear();
            for (std::size_t i = begin; i < end; ++i) box.cover(codes + order[i] * axes);
            std::size_t widest = 0;
            double width = -1;
            for (std::size_t j = 0; j < axes; ++j)
                if (double w = widths.width(j, box.lo[j], box.hi[j]); box.lo[j] < box.hi[j] && w > width) width = w, widest = j;
            std::size_t middle = begin + (end - begin) / 2;
            std::nth_element(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](auto a, auto b) {
                Code x = codes[a * axes + widest], y = codes[b * axes + widest];
                return x != y ? x < y : a < b;
            });
            open.push_back({begin, middle});
            open.push_back({middle, end});
        }
        return order;
    }

    std::size_t build(std::size_t begin, std::size_t end) {
        std::size_t at = nodes_.size();
        nodes_.push_back({begin, end, 0});
        add_box(begin, end);
        if (end - begin > leaf) {
            std::size_t middle = begin + (end - begin) / 2;
            build(begin, middle);
            std::size_t right = build(middle, end);
            nodes_[at].right = right;
        }
        return at;
    }

    void add_box(std::size_t begin, std::size_t end) {
        std::size_t lines = space_.lines(), others = space_.others(), p = lo_.size(), c = low_.size();
        lo_.insert(lo_.end(), space_.position(begin), space_.position(begin) + lines);
        hi_.insert(hi_.end(), space_.position(begin), space_.position(begin) + lines);
        low_.insert(low_.end(), space_.code(begin), space_.code(begin) + others);
        high_.insert(high_.end(), space_.code(begin), space_.code(begin) + others);
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t l = 0; l < lines; ++l) {
                lo_[p + l] = std::min(lo_[p + l], space_.position(i)[l]);
                hi_[p + l] = std::max(hi_[p + l], space_.position(i)[l]);
            }
            for (std::size_t o = 0; o < others; ++o) {
                low_[c + o] = std::min(low_[c + o], space_.code(i)[o]);
                high_[c + o] = std::max(high_[c + o], space_.code(i)[o]);
            }
        }
    }

    std::vector<std::int64_t> order_;
    Fold fold_;
    Space space_;
    std::vector<Node> nodes_;
    std::vector<double> lo_, hi_;
    std::vector<Code> low_, high_;
};

}  // namespace kech
