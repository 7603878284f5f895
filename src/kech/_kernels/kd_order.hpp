// kd order: neighbours in the table become neighbours on a line, independent of k.
#pragma once

#include <condition_variable>
#include <mutex>
#include <span>

#include "core.hpp"
#include "threads.hpp"

namespace kech {

class KdOrder {
  public:
    KdOrder(const Points& points, const Widths& widths)
        : points_(points), widths_(widths), order_(count_up<std::int64_t>(points.count)) {}

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
        double cost = infinity;
        double balance = -1;
        std::size_t axis = 0;
        Code last = 0;  // highest code of the lower part
    };
    // Points with neighbouring codes on an axis: their box and rows, and their highest code.
    struct Bucket {
        Box box;
        double rows = 0;
        Code last = 0;
    };
    // What a thread needs again and again.
    struct Scratch {
        std::vector<Bucket> buckets;
        std::vector<std::int64_t> sorted;
        std::vector<double> above;

        explicit Scratch(std::size_t axes)
            : buckets(constants::kd_buckets, Bucket{Box(axes)}), above(constants::kd_buckets) {}
    };

    const Code* point(std::size_t i) const { return points_[order_[i]]; }

    void work(Node root, unsigned threads) {
        std::vector<Node> open{root};
        std::mutex lock;
        std::condition_variable wake;
        std::size_t busy = 0;
        auto worker = [&] {
            Scratch scratch(points_.axes);
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
                    if (node.end - node.begin <= constants::kd_task) finish(node, scratch);
                    else children = split(node, scratch);
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
        run_threads(threads, [&](std::size_t) { worker(); });
    }

    void finish(Node root, Scratch& scratch) {
        std::vector<Node> open{root};
        while (!open.empty()) {
            Node node = open.back();
            open.pop_back();
            auto children = split(node, scratch);
            open.insert(open.end(), children.begin(), children.end());
        }
    }

    std::vector<Node> split(const Node& node, Scratch& scratch) {
        if (node.end - node.begin < 2) return {};
        Split best = find_split(node, scratch);
        if (best.balance < 0) return {};  // all points are equal
        bool flip = best.axis < 64 && (node.flipped >> best.axis & 1);
        auto lower = [&](std::int64_t i) { return (points_[i][best.axis] <= best.last) != flip; };
        auto middle = std::stable_partition(order_.begin() + node.begin, order_.begin() + node.end, lower);
        std::size_t cut = middle - order_.begin();
        std::uint64_t others = best.axis < 64 ? ~(std::uint64_t{1} << best.axis) : ~std::uint64_t{0};
        return {{node.begin, cut, node.flipped}, {cut, node.end, node.flipped ^ others}};
    }

    // Cuts between buckets on every axis: of small nodes a bucket for each code, of large ones at most 64.
    Split find_split(const Node& node, Scratch& scratch) const {
        Box all(points_.axes);
        for (std::size_t i = node.begin; i < node.end; ++i) all.cover(point(i));
        bool small = node.end - node.begin <= constants::kd_exact_points;
        Split best;
        for (std::size_t j = 0; j < points_.axes; ++j) {
            if (all.lo[j] == all.hi[j]) continue;
            std::size_t count = small ? sort_codes(node, j, scratch) : fill_buckets(node, j, all, scratch.buckets);
            sweep(j, {scratch.buckets.data(), count}, scratch.above, best);
        }
        return best;
    }

    std::size_t sort_codes(const Node& node, std::size_t j, Scratch& scratch) const {
        auto& buckets = scratch.buckets;
        auto& sorted = scratch.sorted;
        sorted.assign(order_.begin() + node.begin, order_.begin() + node.end);
        std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return points_[a][j] < points_[b][j]; });
        std::size_t count = 0;
        for (std::int64_t p : sorted) {
            Code code = points_[p][j];
            if (count == 0 || buckets[count - 1].last != code) open(buckets[count++], code);
            put(buckets[count - 1], p);
        }
        return count;
    }

    std::size_t fill_buckets(const Node& node, std::size_t j, const Box& all, std::vector<Bucket>& buckets) const {
        std::int64_t low = all.lo[j], range = std::int64_t{all.hi[j]} - low + 1;
        std::size_t count = std::min<std::int64_t>(range, buckets.size());
        for (std::size_t b = 0; b < count; ++b)
            open(buckets[b], static_cast<Code>(low + ((b + 1) * range + count - 1) / count - 1));
        for (std::size_t i = node.begin; i < node.end; ++i)
            put(buckets[(point(i)[j] - low) * count / range], order_[i]);
        return count;
    }

    static void open(Bucket& bucket, Code last) {
        bucket.box.clear();
        bucket.rows = 0;
        bucket.last = last;
    }

    void put(Bucket& bucket, std::int64_t p) const {
        bucket.box.cover(points_[p]);
        bucket.rows += points_.weights[p];
    }

    void sweep(std::size_t j, std::span<const Bucket> buckets, std::vector<double>& above, Split& best) const {
        Box box(points_.axes);
        double total = 0;
        for (std::size_t b = buckets.size() - 1; b > 0; --b) {
            box.cover(buckets[b].box);
            total += buckets[b].rows;
            above[b] = total > 0 ? total * box.width(widths_) : 0;
        }
        total += buckets[0].rows;
        box.clear();
        double below = 0;
        for (std::size_t b = 0; b + 1 < buckets.size(); ++b) {
            box.cover(buckets[b].box);
            below += buckets[b].rows;
            if (below == 0 || below == total) continue;
            double cost = below * box.width(widths_) + above[b + 1];
            consider(best, {cost, std::min(below, total - below) / total, j, buckets[b].last});
        }
    }

    // The cheapest cut that leaves both parts a fair share; without one, the most even cut.
    static void consider(Split& best, const Split& next) {
        bool fair = next.balance >= constants::kd_least_share, had = best.balance >= constants::kd_least_share;
        bool better = fair == had ? (fair ? next.cost < best.cost : next.balance > best.balance) : fair;
        if (better) best = next;
    }

    Points points_;
    const Widths& widths_;
    std::vector<std::int64_t> order_;
};

}  // namespace kech
