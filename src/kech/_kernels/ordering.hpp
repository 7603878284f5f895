// kd order: neighbours in the table become neighbours on a line, independent of k.
#pragma once

#include <condition_variable>
#include <mutex>
#include <numeric>

#include "threads.hpp"
#include "widths.hpp"

namespace kech {

class KdOrder {
  public:
    KdOrder(const Code* codes, const std::int64_t* weights, std::size_t points, const Widths& widths)
        : codes_(codes), weights_(weights), axes_(widths.axes()), widths_(widths), order_(points) {
        std::iota(order_.begin(), order_.end(), std::int64_t{0});
    }

    std::vector<std::int64_t> run(unsigned threads) {
        if (order_.size() > 1) work({0, order_.size(), 0}, threads);
        return std::move(order_);
    }

  private:
    struct Node {
        std::size_t begin, end;
        std::uint64_t flipped;  // axes walked from high to low, so that neighbours on the line stay neighbours
    };
    struct Split {
        double cost = std::numeric_limits<double>::infinity();
        double balance = -1;
        std::size_t axis = 0;
        Code last = 0;  // highest code of the lower part
    };
    static constexpr std::size_t grain = 8192, exact = 32, buckets = 64;
    static constexpr double smallest_share = 0.1;

    const Code* point(std::size_t i) const { return codes_ + order_[i] * axes_; }

    void work(Node root, unsigned threads) {
        std::vector<Node> open{root};
        std::mutex lock;
        std::condition_variable wake;
        std::size_t busy = 0;
        auto worker = [&] {
            std::unique_lock hold(lock);
            while (true) {
                wake.wait(hold, [&] { return !open.empty() || busy == 0; });
                if (open.empty()) return;
                Node node = open.back();
                open.pop_back();
                ++busy;
                hold.unlock();
                std::vector<Node> children;
                try {
                    if (node.end - node.begin <= grain) finish(node);
                    else children = split(node);
                } catch (...) {
                    hold.lock();
                    open.clear();
                    --busy;
                    wake.notify_all();
                    throw;
                }
                hold.lock();
                open.insert(open.end(), children.begin(), children.end());
                --busy;
                wake.notify_all();
            }
        };
        together(threads, [&](std::size_t) { worker(); });
    }

    void finish(Node root) {
        std::vector<Node> open{root};
        while (!open.empty()) {
            Node node = open.back();
            open.pop_back();
            auto children = split(node);
            open.insert(open.end(), children.begin(), children.end());
        }
    }

    std::vector<Node> split(const Node& node) {
        if (node.end - node.begin < 2) return {};
        Split best = node.end - node.begin <= exact ? split_sorted(node) : split_buckets(node);
        if (best.balance < 0) return {};  // all points are equal
        bool flip = best.axis < 64 && (node.flipped >> best.axis & 1);
        auto lower = [&](std::int64_t i) { return (codes_[i * axes_ + best.axis] <= best.last) != flip; };
        auto middle = std::stable_partition(order_.begin() + node.begin, order_.begin() + node.end, lower);
        std::size_t cut = middle - order_.begin();
        std::uint64_t others = best.axis < 64 ? ~(std::uint64_t{1} << best.axis) : ~std::uint64_t{0};
        return {{node.begin, cut, node.flipped}, {cut, node.end, node.flipped ^ others}};
    }

    // Small nodes: every cut on every axis.
    Split split_sorted(const Node& node) const {
        std::size_t size = node.end - node.begin;
        std::vector<std::int64_t> sorted(order_.begin() + node.begin, order_.begin() + node.end);
        std::vector<double> above(size);
        Split best;
        for (std::size_t j = 0; j < axes_; ++j) {
            auto code = [&](std::int64_t i) { return codes_[i * axes_ + j]; };
            std::stable_sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return code(a) < code(b); });
            if (code(sorted.front()) == code(sorted.back())) continue;
            double total = 0;
            Box box(axes_);
            for (std::size_t i = size; i-- > 1;) {
                box.cover(codes_ + sorted[i] * axes_);
                total += weights_[sorted[i]];
                above[i] = total * widths_.sum(box.lo.data(), box.hi.data());
            }
            total += weights_[sorted[0]];
            box.clear();
            double below = 0;
            for (std::size_t i = 0; i + 1 < size; ++i) {
                box.cover(codes_ + sorted[i] * axes_);
                below += weights_[sorted[i]];
                if (code(sorted[i]) == code(sorted[i + 1])) continue;
                double cost = below * widths_.sum(box.lo.data(), box.hi.data()) + above[i + 1];
                consider(best, {cost, std::min(below, total - below) / total, j, code(sorted[i])});
            }
        }
        return best;
    }

    // Large nodes: cuts between at most 64 buckets on every axis.
    Split split_buckets(const Node& node) const {
        Box all(axes_);
        for (std::size_t i = node.begin; i < node.end; ++i) all.cover(point(i));
        Split best;
        std::vector<Box> boxes(buckets, Box(axes_));
        std::vector<double> weight(buckets), above(buckets);
        for (std::size_t j = 0; j < axes_; ++j) {
            std::int64_t low = all.lo[j], range = std::int64_t{all.hi[j]} - low + 1;
            if (range < 2) continue;
            std::size_t count = std::min<std::int64_t>(range, buckets);
            fill(node, j, low, range, count, boxes, weight);
            sweep(j, low, range, count, boxes, weight, above, best);
        }
        return best;
    }

    void fill(const Node& node, std::size_t j, std::int64_t low, std::int64_t range, std::size_t count,
              std::vector<Box>& boxes, std::vector<double>& weight) const {
        for (std::size_t b = 0; b < count; ++b) boxes[b].clear(), weight[b] = 0;
        for (std::size_t i = node.begin; i < node.end; ++i) {
            std::size_t b = (point(i)[j] - low) * count / range;
            boxes[b].cover(point(i));
            weight[b] += weights_[order_[i]];
        }
    }

    void sweep(std::size_t j, std::int64_t low, std::int64_t range, std::size_t count, const std::vector<Box>& boxes,
               const std::vector<double>& weight, std::vector<double>& above, Split& best) const {
        Box box(axes_);
        double total = 0;
        for (std::size_t b = count; b-- > 1;) {
            if (weight[b] > 0) box.cover(boxes[b].lo.data(), boxes[b].hi.data());
            total += weight[b];
            above[b] = total > 0 ? total * widths_.sum(box.lo.data(), box.hi.data()) : 0;
        }
        total += weight[0];
        box.clear();
        double below = 0;
        for (std::size_t b = 0; b + 1 < count; ++b) {
            if (weight[b] > 0) box.cover(boxes[b].lo.data(), boxes[b].hi.data());
            below += weight[b];
            if (below == 0 || below == total) continue;
            double cost = below * widths_.sum(box.lo.data(), box.hi.data()) + above[b + 1];
            std::int64_t last = low + ((b + 1) * range + count - 1) / count - 1;
            consider(best, {cost, std::min(below, total - below) / total, j, static_cast<Code>(last)});
        }
    }

    // The cheapest cut that leaves both parts a fair share; without one, the most even cut.
    static void consider(Split& best, const Split& next) {
        bool fair = next.balance >= smallest_share, had = best.balance >= smallest_share;
        bool better = fair == had ? (fair ? next.cost < best.cost : next.balance > best.balance) : fair;
        if (better) best = next;
    }

    const Code* codes_;
    const std::int64_t* weights_;
    std::size_t axes_;
    const Widths& widths_;
    std::vector<std::int64_t> order_;
};

}  // namespace kech
