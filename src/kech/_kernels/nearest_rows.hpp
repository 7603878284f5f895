// How far each row lies from the nearest k rows: every class that holds it is at least as wide.
#pragma once

#include "kd_tree.hpp"
#include "threads.hpp"

namespace kech {

// The sides of the box around two points, added up.
struct SideSum : WidestSide {
    double operator()(double total, double side) const { return total + side; }
};

template <class Fold>
class NearestRows {
  public:
    NearestRows(const Points& points, const Widths& widths)
        : axes_(widths.axes()), widths_(widths), fold_{widths}, tree_(points, widths) {
        for (std::int64_t i : tree_.order()) {
            codes_.insert(codes_.end(), points[i], points[i] + axes_);
            weights_.push_back(points.weights[i]);
        }
        for (std::size_t j = 0; j < axes_; ++j) between_.push_back(mirror_widths(j));
        order_axes();
    }

    // For each k, the sum over all rows; ks ascend.  Blocks are added up in their order, so that threads do not show.
    std::vector<double> sums(const std::vector<std::int64_t>& ks, unsigned threads) const {
        std::vector<std::vector<double>> parts(blocks(), std::vector<double>(ks.size(), 0.0));
        each_point(threads, [&](std::size_t i, std::size_t b, std::size_t) {
            auto near = nearest(i, ks.back(), [](const auto&) { return false; });
            auto rows = static_cast<double>(weights_[i]);
            each_k(near, ks, [&](std::size_t q, double width) { parts[b][q] += width * rows; });
        });
        std::vector<double> all(ks.size(), 0.0);
        for (const auto& part : parts)
            for (std::size_t q = 0; q < ks.size(); ++q) all[q] += part[q];
        return all;
    }

    // For each k, the loneliest row's; ks ascend.  A row that is seen to be no lonelier than others is not looked at further.
    std::vector<double> largest(const std::vector<std::int64_t>& ks, unsigned threads) const {
        std::vector<std::vector<double>> parts(std::max(threads, 1u), std::vector<double>(ks.size(), -1.0));
        each_point(threads, [&](std::size_t i, std::size_t, std::size_t thread) {
            auto& mine = parts[thread];
            auto near = nearest(i, ks.back(), [&](std::vector<Found> found) {
                bool known = true;
                each_k(found, ks, [&](std::size_t q, double width) { known &= width <= mine[q]; });
                return known;
            });
            each_k(near, ks, [&](std::size_t q, double width) { mine[q] = std::max(mine[q], width); });
        });
        std::vector<double> all(ks.size(), 0.0);
        for (const auto& part : parts)
            for (std::size_t q = 0; q < ks.size(); ++q) all[q] = std::max(all[q], part[q]);
        return all;
    }

    // For each point, how far it must reach for k rows.
    std::vector<double> each(std::int64_t k, unsigned threads) const {
        std::vector<double> far(weights_.size());
        each_point(threads, [&](std::size_t i, std::size_t, std::size_t) {
            auto near = nearest(i, k, [](const auto&) { return false; });
            for (const auto& [width, _] : near) far[tree_.order()[i]] = std::max(far[tree_.order()[i]], width);
        });
        return far;
    }

  private:
    static constexpr std::size_t block = constants::point_task;
    using Found = std::pair<double, std::int64_t>;  // how wide the box is, rows

    const Code* point(std::size_t i) const { return codes_.data() + i * axes_; }
    std::size_t blocks() const { return (weights_.size() + block - 1) / block; }

    // job(point, block, thread) for every point.
    template <class Job>
    void each_point(unsigned threads, const Job& job) const {
        for_each(blocks(), threads, [&](std::size_t b, std::size_t thread) {
            for (std::size_t i = b * block; i < std::min(weights_.size(), (b + 1) * block); ++i) job(i, b, thread);
        });
    }

    // tell(q, width) for each k, where that many rows are reached.
    template <class Tell>
    static void each_k(std::vector<Found>& near, const std::vector<std::int64_t>& ks, const Tell& tell) {
        std::sort(near.begin(), near.end());
        std::int64_t rows = 0;
        std::size_t q = 0;
        for (const auto& [width, weight] : near)
            for (rows += weight; q < ks.size() && rows >= ks[q]; ++q) tell(q, width);
    }

    // The width between any two codes, whichever is larger; nothing for a large axis.
    std::vector<double> mirror_widths(std::size_t axis) const {
        const double* table = widths_.table(axis);
        if (!table) return {};
        std::size_t codes = widths_.codes(axis);
        std::vector<double> both(table, table + codes * codes);
        for (std::size_t lo = 0; lo < codes; ++lo)
            for (std::size_t hi = lo; hi < codes; ++hi) both[hi * codes + lo] = both[lo * codes + hi];
        return both;
    }

    // Axes on which points are far apart come first: a limit is reached sooner.
    void order_axes() {
        std::vector<double> apart(axes_, 0.0);
        std::size_t points = weights_.size();
        for (std::size_t i = 0; i < points; i += 1 + points / block)
            for (std::size_t j = 0; j < axes_; ++j) apart[j] += side(j, point(i)[j], point((i + points / 2) % points)[j]);
        axis_order_ = count_up<std::size_t>(axes_);
        std::stable_sort(axis_order_.begin(), axis_order_.end(), [&](auto a, auto b) { return apart[a] > apart[b]; });
    }

    double side(std::size_t axis, Code from, Code to) const {
        if (between_[axis].empty()) return widths_.between(axis, from, to);
        return between_[axis][from * widths_.codes(axis) + to];
    }

    // What a class that holds two points prints, at least; beyond the limit, something beyond it.
    double cost(const Code* a, const Code* b, double limit) const {
        double total = 0;
        for (std::size_t j : axis_order_)
            if ((total = fold_(total, side(j, a[j], b[j]))) >= limit) break;
        return total;
    }

    // The same for a point and whatever point of a node.
    double gap(const Code* a, std::size_t node, double limit) const {
        const Code *low = tree_.lo(node), *high = tree_.hi(node);
        double total = 0;
        for (std::size_t j : axis_order_)
            if ((total = fold_(total, side(j, a[j], std::clamp(a[j], low[j], high[j])))) >= limit) break;
        return total;
    }

    // The nearest points that hold k rows together, its own included; none, when `enough` says so of some that do.
    template <class Enough>
    std::vector<Found> nearest(std::size_t i, std::int64_t k, const Enough& enough) const {
        std::vector<Found> heap;
        std::vector<std::pair<double, std::size_t>> open{{0.0, 0}};
        std::int64_t held = 0;
        double limit = infinity;
        while (!open.empty()) {
            auto [least, n] = open.back();
            open.pop_back();
            if (least >= limit) continue;
            const auto& node = tree_.nodes()[n];
            if (!tree_.is_leaf(n)) {
                std::size_t left = tree_.left(n), right = tree_.right(n);
                std::pair close{gap(point(i), left, limit), left}, far{gap(point(i), right, limit), right};
                if (far.first < close.first) std::swap(far, close);
                if (far.first < limit) open.push_back(far);
                if (close.first < limit) open.push_back(close);
                continue;
            }
            bool before = held >= k;
            for (std::size_t at = node.begin; at < node.end; ++at) {
                double width = cost(point(i), point(at), limit);
                if (width >= limit) continue;
                heap.emplace_back(width, weights_[at]);
                std::push_heap(heap.begin(), heap.end());
                for (held += weights_[at]; held - heap.front().second >= k;) {
                    held -= heap.front().second;
                    std::pop_heap(heap.begin(), heap.end());
                    heap.pop_back();
                }
                if (held >= k) limit = heap.front().first;
            }
            if (!before && held >= k && enough(heap)) return {};
        }
        return heap;
    }

    std::size_t axes_;
    const Widths& widths_;
    Fold fold_;
    KdTree tree_;
    std::vector<Code> codes_;  // of points in the order of the tree
    std::vector<std::int64_t> weights_;
    std::vector<std::vector<double>> between_;  // of each axis
    std::vector<std::size_t> axis_order_;
};

}  // namespace kech
