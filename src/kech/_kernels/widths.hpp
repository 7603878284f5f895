// How wide a range of codes is on each axis: the only thing a kernel knows about a column.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "constants.hpp"

namespace kech {

using Code = std::int32_t;

// A code has a left and a right end on a line of some length; beyond `cap`, and together with NULL (the last code),
// all is lost.  Ends are whole units where the data is, so equal widths are equal numbers wherever they lie.
struct Line {
    std::vector<double> left, right;
    double length, cap;
    Code null;
    std::vector<double> loose_left = {}, loose_right = {};  // where ends of several cells are published, on average,
    double narrow = std::numeric_limits<double>::infinity();  // of sides as long as this or longer
    std::vector<double> printed = {};  // places of codes as they are listed, which the cap counts; otherwise their ends

    double operator()(Code lo, Code hi) const {
        if (hi == null) return lo == hi ? 0.0 : 1.0;
        double side = right[hi] - left[lo];
        if (side >= narrow && left[lo] < left[hi]) side = loose_right[hi] - loose_left[lo];
        return (printed.empty() ? side : printed[hi] - printed[lo]) > cap ? 1.0 : side / length;
    }
};

// Leaves of a tree in depth-first order: the widest gap between neighbours is the width of the range.
struct Tree {
    std::size_t leaves;
    std::vector<double> single;
    std::vector<std::vector<double>> widest;  // widest[p][i] = max of gaps i .. i + 2^p - 1

    Tree(std::vector<double> single_, const double* gaps) : leaves(single_.size()), single(std::move(single_)) {
        widest.emplace_back(gaps, gaps + (leaves ? leaves - 1 : 0));
        for (std::size_t reach = 1; 2 * reach < leaves; reach *= 2) {
            const auto& last = widest.back();
            std::vector<double> next(last.size() - reach);
            for (std::size_t i = 0; i < next.size(); ++i) next[i] = std::max(last[i], last[i + reach]);
            widest.push_back(std::move(next));
        }
    }

    double operator()(std::size_t lo, std::size_t hi) const {
        if (lo == hi) return single[lo];
        auto level = std::bit_width(hi - lo) - 1;
        return std::max(widest[level][lo], widest[level][hi - (std::size_t{1} << level)]);
    }
};

class Widths {
  public:
    void add_line(std::vector<double> left, std::vector<double> right, double length, double cap, Code null) {
        std::size_t codes = left.size();
        lines_.push_back({std::move(left), std::move(right), length, cap, null});
        axes_.push_back({false, lines_.size() - 1, codes});
        fill(axes_.back(), lines_.back());
    }

    void add_tree(std::vector<double> single, const double* gaps) {
        std::size_t codes = single.size();
        trees_.emplace_back(std::move(single), gaps);
        axes_.push_back({true, trees_.size() - 1, codes});
        fill(axes_.back(), trees_.back());
    }

    // From here on, sides of a line that are not narrow end elsewhere.
    void loosen(std::size_t axis, std::vector<double> left, std::vector<double> right, double narrow) {
        Line& line = lines_[axes_[axis].at];
        line.loose_left = std::move(left);
        line.loose_right = std::move(right);
        line.narrow = narrow;
        fill(axes_[axis], line);
    }

    // From here on, the cap of the line added last counts places in a list, where several codes may share one.
    void abridge(std::vector<double> printed) {
        Line& line = lines_[axes_.back().at];
        line.printed = std::move(printed);
        fill(axes_.back(), line);
    }

    // From here on, widths of an axis count this many times.
    void weigh(std::size_t axis, double weight) {
        axes_[axis].weight = weight;
        for (double& w : axes_[axis].all) w *= weight;
    }

    // The same axes, on which what is wider than the limit is dear: a search that saves keeps to the limit.
    Widths limited(double limit) const {
        Widths out = *this;
        out.limit_ = limit;
        for (auto& axis : out.axes_)
            for (double& w : axis.all) w = axis.weight * out.dear(w / axis.weight);
        return out;
    }

    std::size_t axes() const { return axes_.size(); }
    std::size_t codes(std::size_t axis) const { return axes_[axis].codes; }

    bool is_line(std::size_t axis) const { return !axes_[axis].tree; }

    // A line of exact values, without NULL, without a cap and without a weight.
    bool is_plain(std::size_t axis) const {
        return is_line(axis) && axes_[axis].weight == 1 && line(axis).null < 0 &&
               line(axis).cap == std::numeric_limits<double>::infinity() && line(axis).left == line(axis).right;
    }

    const Line& line(std::size_t axis) const { return lines_[axes_[axis].at]; }

    double width(std::size_t axis, Code lo, Code hi) const {
        const Axis& found = axes_[axis];
        return found.stride ? found.all[lo * found.stride + hi] : measure(found, lo, hi);
    }

    // The width of the range between two codes, in any order.
    double between(std::size_t axis, Code a, Code b) const { return width(axis, std::min(a, b), std::max(a, b)); }

    // The width of every (lo, hi), at lo * codes + hi; nothing for a large axis.
    const double* table(std::size_t axis) const { return axes_[axis].stride ? axes_[axis].all.data() : nullptr; }

    double sum(const Code* lo, const Code* hi) const {
        double total = 0;
        for (std::size_t j = 0; j < axes_.size(); ++j) total += width(j, lo[j], hi[j]);
        return total;
    }

  private:
    double dear(double width) const {
        return width > limit_ ? width + constants::limit_price * (1 + width - limit_) : width;
    }

    struct Axis {
        bool tree;
        std::size_t at, codes;
        double weight = 1;
        std::size_t stride = 0;        // codes of an axis that has a table, or 0
        std::vector<double> all = {};  // the table: the width of every (lo, hi)
    };

    template <class Ruler>
    static void fill(Axis& axis, const Ruler& ruler) {
        std::size_t codes = axis.codes;
        if (codes > constants::table_codes) return;
        axis.stride = codes;
        axis.all.assign(codes * codes, 0.0);
        for (std::size_t lo = 0; lo < codes; ++lo)
            for (std::size_t hi = lo; hi < codes; ++hi) axis.all[lo * codes + hi] = axis.weight * ruler(lo, hi);
    }

    // Kept out of line, so that the look-up in a table is inlined everywhere.
    [[gnu::noinline]] double measure(const Axis& axis, Code lo, Code hi) const {
        return axis.weight * dear(axis.tree ? trees_[axis.at](lo, hi) : lines_[axis.at](lo, hi));
    }

    double limit_ = std::numeric_limits<double>::infinity();
    std::vector<Axis> axes_;
    std::vector<Line> lines_;
    std::vector<Tree> trees_;
};

}  // namespace kech
