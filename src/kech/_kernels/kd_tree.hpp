// A kd tree over the codes of points, and on it how near a point can be to anything in a node.
#pragma once

#include <cmath>

#include "core.hpp"

namespace kech {

// Nodes stand in preorder: a node, what is below its left child, what is below its right child.
class KdTree {
  public:
    struct Node {
        std::size_t begin, end;  // places of its points
        std::size_t right;       // its right child; 0: a leaf
        std::size_t after;       // the node after all that are below it
    };

    // Nodes are halved along the axis with the longest side(axis, lo, hi).
    template <class Side>
    KdTree(const Code* codes, std::size_t points, std::size_t axes, const Side& side)
        : codes_(codes), axes_(axes), order_(count_up<std::int64_t>(points)) {
        if (points) build(0, points, side);
    }

    KdTree(const Points& points, const Widths& widths)
        : KdTree(points.codes, points.count, points.axes,
                 [&](std::size_t j, Code lo, Code hi) { return widths.width(j, lo, hi); }) {}

    // The point at each place.
    const std::vector<std::int64_t>& order() const { return order_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    bool is_leaf(std::size_t node) const { return nodes_[node].right == 0; }
    std::size_t left(std::size_t node) const { return node + 1; }
    std::size_t right(std::size_t node) const { return nodes_[node].right; }

    // The box around the points of a node.
    const Code* lo(std::size_t node) const { return lo_.data() + node * axes_; }
    const Code* hi(std::size_t node) const { return hi_.data() + node * axes_; }

  private:
    template <class Side>
    void build(std::size_t begin, std::size_t end, const Side& side) {
        std::size_t node = nodes_.size();
        nodes_.push_back({begin, end, 0, 0});
        Box box(axes_);
        for (std::size_t i = begin; i < end; ++i) box.cover(codes_ + order_[i] * axes_);
        lo_.insert(lo_.end(), box.lo.begin(), box.lo.end());
        hi_.insert(hi_.end(), box.hi.begin(), box.hi.end());
        if (end - begin <= constants::tree_leaf) {
            std::sort(order_.begin() + begin, order_.begin() + end);  // nth_element leaves them in no order
        } else {
            std::size_t middle = begin + (end - begin) / 2, axis = longest_axis(box, side);
            std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](auto a, auto b) {
                Code x = codes_[a * axes_ + axis], y = codes_[b * axes_ + axis];
                return x != y ? x < y : a < b;
            });
            middle = find_cut(begin, middle, end, axis);
            build(begin, middle, side);
            nodes_[node].right = nodes_.size();
            build(middle, end, side);
        }
        nodes_[node].after = nodes_.size();
    }

    // Points with one code stay together where that leaves no half empty: then the boxes of both halves are apart.
    std::size_t find_cut(std::size_t begin, std::size_t middle, std::size_t end, std::size_t axis) {
        auto code = [&](std::int64_t i) { return codes_[i * axes_ + axis]; };
        Code at = code(order_[middle]);
        auto is_below = [&](std::int64_t i) { return code(i) < at; };
        auto cut = std::partition(order_.begin() + begin, order_.begin() + middle, is_below) - order_.begin();
        if (static_cast<std::size_t>(cut) > begin) return cut;
        auto is_equal = [&](std::int64_t i) { return code(i) == at; };
        cut = std::partition(order_.begin() + middle, order_.begin() + end, is_equal) - order_.begin();
        return static_cast<std::size_t>(cut) < end ? cut : middle;
    }

    template <class Side>
    std::size_t longest_axis(const Box& box, const Side& side) const {
        std::size_t longest = 0;
        double length = -1;
        for (std::size_t j = 0; j < axes_; ++j) {
            if (box.lo[j] == box.hi[j]) continue;
            if (double here = side(j, box.lo[j], box.hi[j]); here > length) length = here, longest = j;
        }
        return longest;
    }

    const Code* codes_;
    std::size_t axes_;
    std::vector<std::int64_t> order_;
    std::vector<Node> nodes_;
    std::vector<Code> lo_, hi_;
};

// -- distances ------------------------------------------------------------------------------------------------

// The widest side of the box around two points.
struct WidestSide {
    const Widths& widths;

    double position(std::size_t axis, Code code) const { return widths.line(axis).left[code]; }
    double length(std::size_t axis) const { return widths.line(axis).length; }
    template <class Number>
    Number operator()(Number total, Number side) const { return std::max(total, side); }
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
    template <class Number>
    Number operator()(Number total, Number side) const { return total + side * side; }
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

// A kd tree with distances: plain lines as positions, every other axis as codes.
template <class Fold>
class MetricTree : public KdTree {
  public:
    MetricTree(const Points& points, const Widths& widths) : KdTree(points, widths), widths_(widths), fold_{widths} {
        for (std::size_t j = 0; j < widths.axes(); ++j) (widths.is_plain(j) ? lines_ : others_).push_back(j);
        for (auto j : lines_) length_.push_back(fold_.length(j));
        for (auto i : order()) points_.add(*this, points[i]);
        for (std::size_t n = 0; n < nodes().size(); ++n) lows_.add(*this, lo(n)), highs_.add(*this, hi(n));
    }

    const Fold& fold() const { return fold_; }

    // Between the points at two places.
    double distance(std::size_t a, std::size_t b) const {
        double total = 0;
        std::size_t lines = lines_.size(), others = others_.size();
        const double *from = points_.position.data() + a * lines, *to = points_.position.data() + b * lines;
        for (std::size_t l = 0; l < lines; ++l) total = fold_(total, std::abs(from[l] - to[l]) / length_[l]);
        const Code *here = points_.code.data() + a * others, *there = points_.code.data() + b * others;
        for (std::size_t o = 0; o < others; ++o)
            if (here[o] != there[o]) total = fold_(total, widths_.between(others_[o], here[o], there[o]));
        return total;
    }

    // Between the box of a node and the point at a place; 0 on axes where they overlap.
    double gap(std::size_t node, std::size_t i) const { return apart(lows_, highs_, node, points_, points_, i); }

    // Between the point at a place and the farthest corner of a node.
    double farthest(std::size_t node, std::size_t i) const {
        double total = 0;
        for (std::size_t l = 0; l < lines_.size(); ++l) {
            std::size_t at = node * lines_.size() + l;
            double x = points_.position[i * lines_.size() + l];
            total = fold_(total, std::max(x - lows_.position[at], highs_.position[at] - x) / length_[l]);
        }
        for (std::size_t o = 0; o < others_.size(); ++o) {
            std::size_t at = node * others_.size() + o;
            Code x = points_.code[i * others_.size() + o];
            total = fold_(total, widths_.width(others_[o], std::min(x, lows_.code[at]), std::max(x, highs_.code[at])));
        }
        return total;
    }

    // Between the boxes of two nodes, and between the lowest and the highest corner of one.
    double gap_between(std::size_t a, std::size_t b) const { return apart(lows_, highs_, a, lows_, highs_, b); }
    double gap_across(std::size_t node) const { return apart(lows_, lows_, node, highs_, highs_, node); }

    // Points side by side, so that their distances from another one are computed together.
    class Crowd {
      public:
        void clear() {
            places_.clear();
            for (auto& along : position_) along.clear();
            for (auto& along : code_) along.clear();
        }

        void add(const MetricTree& tree, std::size_t begin, std::size_t end) {
            std::size_t lines = tree.lines_.size(), others = tree.others_.size(), size = places_.size();
            position_.resize(lines);
            code_.resize(others);
            places_.resize(size + end - begin);
            std::iota(places_.begin() + size, places_.end(), begin);
            for (std::size_t l = 0; l < lines; ++l) {
                position_[l].resize(places_.size());
                for (std::size_t i = begin; i < end; ++i)
                    position_[l][size + i - begin] = tree.points_.position[i * lines + l];
            }
            for (std::size_t o = 0; o < others; ++o) {
                code_[o].resize(places_.size());
                for (std::size_t i = begin; i < end; ++i) code_[o][size + i - begin] = tree.points_.code[i * others + o];
            }
        }

        std::size_t place(std::size_t c) const { return places_[c]; }

        std::vector<double>& distances(const MetricTree& tree, std::size_t i) {
            total_.assign(places_.size(), 0.0);
            for (std::size_t l = 0; l < position_.size(); ++l) {
                const double* along = position_[l].data();
                double x = tree.points_.position[i * position_.size() + l], length = tree.length_[l];
                for (std::size_t c = 0; c < total_.size(); ++c)
                    total_[c] = tree.fold_(total_[c], std::abs(along[c] - x) / length);
            }
            for (std::size_t o = 0; o < code_.size(); ++o) {
                const Code* along = code_[o].data();
                Code x = tree.points_.code[i * code_.size() + o];
                for (std::size_t c = 0; c < total_.size(); ++c)
                    if (along[c] != x) total_[c] = tree.fold_(total_[c], tree.widths_.between(tree.others_[o], along[c], x));
            }
            return total_;
        }

        // From here on rough distances can be told: positions on lines are floats, seen from the point at a place.
        void simplify(const MetricTree& tree, std::size_t centre) {
            centre_ = centre;
            rough_.resize(position_.size());
            for (std::size_t l = 0; l < position_.size(); ++l) {
                rough_[l].clear();
                for (double x : position_[l]) rough_[l].push_back(simplify(tree, l, x));
            }
        }

        void measure_roughly(const MetricTree& tree, std::size_t i) {
            seems_.assign(places_.size(), 0.0f);
            for (std::size_t l = 0; l < position_.size(); ++l) {
                const float* along = rough_[l].data();
                float x = simplify(tree, l, tree.points_.position[i * position_.size() + l]);
                for (std::size_t c = 0; c < seems_.size(); ++c) seems_[c] = tree.fold_(seems_[c], std::abs(along[c] - x));
            }
            for (std::size_t o = 0; o < code_.size(); ++o) {
                const Code* along = code_[o].data();
                Code x = tree.points_.code[i * code_.size() + o];
                for (std::size_t c = 0; c < seems_.size(); ++c)
                    if (along[c] != x)
                        seems_[c] = tree.fold_(seems_[c], static_cast<float>(tree.widths_.between(tree.others_[o], along[c], x)));
            }
        }

        // Points whose rough distance is at most the limit; how many.
        std::size_t select(double limit) {
            auto most = static_cast<float>(limit);
            selected_.resize(seems_.size());
            std::size_t count = 0;
            for (std::size_t c = 0; c < seems_.size(); ++c) {
                selected_[count] = static_cast<std::uint32_t>(c);
                count += seems_[c] <= most;
            }
            selected_.resize(count);
            return count;
        }

        std::size_t selected_place(std::size_t n) const { return places_[selected_[n]]; }

        // Exact distances of those selected.
        const std::vector<double>& measure_selected(const MetricTree& tree, std::size_t i) {
            total_.assign(selected_.size(), 0.0);
            for (std::size_t l = 0; l < position_.size(); ++l) {
                const double* along = position_[l].data();
                double x = tree.points_.position[i * position_.size() + l], length = tree.length_[l];
                for (std::size_t n = 0; n < selected_.size(); ++n)
                    total_[n] = tree.fold_(total_[n], std::abs(along[selected_[n]] - x) / length);
            }
            for (std::size_t o = 0; o < code_.size(); ++o) {
                const Code* along = code_[o].data();
                Code x = tree.points_.code[i * code_.size() + o];
                for (std::size_t n = 0; n < selected_.size(); ++n)
                    if (Code code = along[selected_[n]]; code != x)
                        total_[n] = tree.fold_(total_[n], tree.widths_.between(tree.others_[o], code, x));
            }
            return total_;
        }

      private:
        float simplify(const MetricTree& tree, std::size_t l, double x) const {
            return static_cast<float>((x - tree.points_.position[centre_ * position_.size() + l]) / tree.length_[l]);
        }

        std::vector<std::size_t> places_;
        std::vector<std::vector<double>> position_;
        std::vector<std::vector<Code>> code_;
        std::vector<double> total_;
        std::vector<std::vector<float>> rough_;
        std::vector<float> seems_;
        std::vector<std::uint32_t> selected_;
        std::size_t centre_ = 0;
    };

  private:
    struct Corners {
        std::vector<double> position;
        std::vector<Code> code;

        void add(const MetricTree& tree, const Code* corner) {
            for (auto j : tree.lines_) position.push_back(tree.fold_.position(j, corner[j]));
            for (auto j : tree.others_) code.push_back(corner[j]);
        }
    };

    // Between box a and box b.
    double apart(const Corners& lows_a, const Corners& highs_a, std::size_t a, const Corners& lows_b, const Corners& highs_b,
                 std::size_t b) const {
        double total = 0;
        std::size_t lines = lines_.size(), others = others_.size();
        const double *lo_a = lows_a.position.data() + a * lines, *hi_a = highs_a.position.data() + a * lines;
        const double *lo_b = lows_b.position.data() + b * lines, *hi_b = highs_b.position.data() + b * lines;
        for (std::size_t l = 0; l < lines; ++l) {
            double side = std::max(std::max(lo_a[l] - hi_b[l], lo_b[l] - hi_a[l]), 0.0);
            total = fold_(total, side / length_[l]);
        }
        const Code *low_a = lows_a.code.data() + a * others, *high_a = highs_a.code.data() + a * others;
        const Code *low_b = lows_b.code.data() + b * others, *high_b = highs_b.code.data() + b * others;
        for (std::size_t o = 0; o < others; ++o)
            total = fold_(total, high_b[o] < low_a[o]   ? widths_.width(others_[o], high_b[o], low_a[o])
                                 : low_b[o] > high_a[o] ? widths_.width(others_[o], high_a[o], low_b[o])
                                                        : 0.0);
        return total;
    }

    const Widths& widths_;
    Fold fold_;
    std::vector<std::size_t> lines_, others_;
    std::vector<double> length_;
    Corners points_, lows_, highs_;
};

}  // namespace kech
