// How far each row must reach to find k rows: every class that holds it is at least as wide.
#pragma once

#include <atomic>

#include "kdtree.hpp"
#include "threads.hpp"

namespace kech {

// The sides of the box around two points, added up.
struct SideSum : WidestSide {
    double operator()(double total, double side) const { return total + side; }
};

struct Reach {
    std::vector<double> total, largest;  // for each k: over all rows, and of the loneliest row
};

template <class Fold>
class Reacher {
  public:
    Reacher(const Code* codes, const std::int64_t* weights, std::size_t points, const Widths& widths)
        : codes_(codes), weights_(weights), axes_(widths.axes()), widths_(widths), tree_(codes, points, widths) {}

    // ks ascend.  Blocks are added up in their order, so that threads do not show.
    Reach run(const std::vector<std::int64_t>& ks, unsigned threads) const {
        std::size_t points = tree_.order().size(), blocks = (points + block - 1) / block;
        std::vector<Reach> parts(blocks);
        std::atomic<std::size_t> next{0};
        auto worker = [&] {
            for (std::size_t b; (b = next.fetch_add(1)) < blocks;) {
                parts[b] = {std::vector<double>(ks.size(), 0.0), std::vector<double>(ks.size(), 0.0)};
                for (std::size_t i = b * block; i < std::min(points, (b + 1) * block); ++i) add(i, ks, parts[b]);
            }
        };
        together(threads, [&](std::size_t) { worker(); });
        Reach all{std::vector<double>(ks.size(), 0.0), std::vector<double>(ks.size(), 0.0)};
        for (const auto& part : parts)
            for (std::size_t q = 0; q < ks.size(); ++q) {
                all.total[q] += part.total[q];
                all.largest[q] = std::max(all.largest[q], part.largest[q]);
            }
        return all;
    }

    // For each point, how far it must reach for k rows.
    std::vector<double> each(std::int64_t k, unsigned threads) const {
        std::size_t points = tree_.order().size();
        std::vector<double> far(points);
        std::atomic<std::size_t> next{0};
        auto worker = [&] {
            for (std::size_t at; (at = next.fetch_add(block)) < points;)
                for (std::size_t i = at; i < std::min(points, at + block); ++i) {
                    double widest = 0;
                    for (const auto& [width, _] : nearest(i, k)) widest = std::max(widest, width);
                    far[tree_.order()[i]] = widest;
                }
        };
        together(threads, [&](std::size_t) { worker(); });
        return far;
    }

  private:
    static constexpr std::size_t block = 512;
    using Found = std::pair<double, std::int64_t>;  // how wide the box is, rows

    // What a class that holds two points prints, at least.
    double cost(std::int64_t a, std::int64_t b) const {
        double total = 0;
        for (std::size_t j = 0; j < axes_; ++j) {
            Code x = codes_[a * axes_ + j], y = codes_[b * axes_ + j];
            total = tree_.fold()(total, widths_.width(j, std::min(x, y), std::max(x, y)));
        }
        return total;
    }

    void add(std::size_t i, const std::vector<std::int64_t>& ks, Reach& part) const {
        auto near = nearest(i, ks.back());
        std::sort(near.begin(), near.end());
        std::int64_t rows = 0, own = weights_[tree_.order()[i]];
        std::size_t q = 0;
        for (const auto& [width, weight] : near)
            for (rows += weight; q < ks.size() && rows >= ks[q]; ++q) {
                part.total[q] += width * static_cast<double>(own);
                part.largest[q] = std::max(part.largest[q], width);
            }
    }

    // The nearest points that hold k rows together, its own included.
    std::vector<Found> nearest(std::size_t i, std::int64_t k) const {
        const auto& order = tree_.order();
        std::vector<Found> heap;
        std::vector<std::pair<double, std::size_t>> open{{0.0, 0}};
        std::int64_t held = 0;
        auto limit = [&] { return held >= k ? heap.front().first : std::numeric_limits<double>::infinity(); };
        while (!open.empty()) {
            auto [gap, n] = open.back();
            open.pop_back();
            const auto& node = tree_.nodes()[n];
            if (gap >= limit()) continue;
            if (node.right) {
                std::pair<double, std::size_t> close{tree_.gap(n + 1, i), n + 1}, far{tree_.gap(node.right, i), node.right};
                if (far.first < close.first) std::swap(far, close);
                open.push_back(far);
                open.push_back(close);
                continue;
            }
            for (std::size_t at = node.begin; at < node.end; ++at) {
                double width = cost(order[i], order[at]);
                if (width >= limit()) continue;
                heap.emplace_back(width, weights_[order[at]]);
                std::push_heap(heap.begin(), heap.end());
                for (held += weights_[order[at]]; held - heap.front().second >= k;) {
                    held -= heap.front().second;
                    std::pop_heap(heap.begin(), heap.end());
                    heap.pop_back();
                }
            }
        }
        return heap;
    }

    const Code* codes_;
    const std::int64_t* weights_;
    std::size_t axes_;
    const Widths& widths_;
    KdTree<Fold> tree_;
};

}  // namespace kech
