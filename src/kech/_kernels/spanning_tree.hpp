// Minimum spanning tree of the points by Boruvka rounds on one kd tree: which points meet first while balls grow.
#pragma once

#include <atomic>

#include "kd_tree.hpp"
#include "threads.hpp"
#include "union_find.hpp"

namespace kech {

struct Edge {
    double length;
    std::int64_t from, to;
};

template <class Fold>
class SpanningTree {
  public:
    SpanningTree(const Points& points, const Widths& widths, unsigned threads)
        : tree_(points, widths), labels_(tree_.nodes().size()), threads_(threads) {}

    // Edges with their radii (half distances), in no order.
    std::vector<Edge> run() {
        const auto& order = tree_.order();
        std::size_t points = order.size();
        std::vector<Edge> edges;
        UnionFind<> sets(points);
        component_ = count_up<std::int64_t>(points);
        lower_.assign(points, 0.0);
        while (edges.size() + 1 < points) {
            search_round();
            std::vector<std::int64_t> winner(points, -1);
            for (std::size_t i = 0; i < points; ++i) {
                auto& best = winner[component_[i]];
                if (found_[i].to >= 0 && (best < 0 || found_[i].length < found_[best].length)) best = i;
            }
            for (auto i : winner)
                if (i >= 0 && sets.join(i, found_[i].to))
                    edges.push_back({tree_.fold().radius(found_[i].length), order[i], order[found_[i].to]});
            for (std::size_t i = 0; i < points; ++i) component_[i] = sets.find(i);
        }
        return edges;
    }

  private:
    struct Found {
        double length;
        std::int64_t to;
    };

    void search_round() {
        std::size_t points = component_.size();
        label_nodes();
        best_ = std::vector<std::atomic<double>>(points);
        for (auto& b : best_) b.store(infinity, std::memory_order_relaxed);
        found_.assign(points, {infinity, -1});
        for (std::size_t i = 0; i + 1 < points; ++i)
            if (component_[i] != component_[i + 1]) {
                double length = tree_.distance(i, i + 1);
                offer(i, i + 1, length);
                offer(i + 1, i, length);
            }
        constexpr std::size_t block = constants::point_task;
        for_each((points + block - 1) / block, threads_, [&](std::size_t b, std::size_t) {
            std::vector<std::pair<double, std::size_t>> open;
            for (std::size_t i = b * block; i < std::min((b + 1) * block, points); ++i) search(i, open);
        });
    }

    // The one component of each node, or -1.
    void label_nodes() {
        const auto& nodes = tree_.nodes();
        for (std::size_t left = nodes.size(); left > 0; --left) {
            std::size_t n = left - 1;
            auto& label = labels_[n];
            if (!tree_.is_leaf(n)) {
                label = labels_[tree_.left(n)] == labels_[tree_.right(n)] ? labels_[tree_.left(n)] : -1;
                continue;
            }
            label = component_[nodes[n].begin];
            for (std::size_t i = nodes[n].begin; i < nodes[n].end; ++i)
                if (component_[i] != label) label = -1;
        }
    }

    void offer(std::size_t i, std::size_t to, double length) {
        if (length >= found_[i].length) return;
        found_[i] = {length, static_cast<std::int64_t>(to)};
        auto& best = best_[component_[i]];
        for (double held = best.load(std::memory_order_relaxed); length < held;)
            if (best.compare_exchange_weak(held, length, std::memory_order_relaxed)) break;
    }

    // The nearest point of another component, unless it cannot be nearer than what the component has.
    void search(std::size_t i, std::vector<std::pair<double, std::size_t>>& open) {
        auto own = component_[i];
        const auto& best = best_[own];
        if (lower_[i] >= best.load(std::memory_order_relaxed)) return;
        open.clear();
        open.push_back({tree_.gap(0, i), 0});
        while (!open.empty()) {
            auto [near, n] = open.back();
            open.pop_back();
            double limit = best.load(std::memory_order_relaxed);
            const auto& node = tree_.nodes()[n];
            if (near >= limit || labels_[n] == own) continue;
            if (!tree_.is_leaf(n)) {
                std::size_t left = tree_.left(n), right = tree_.right(n);
                std::pair<double, std::size_t> close{tree_.gap(left, i), left}, far{tree_.gap(right, i), right};
                if (close.first >= far.first) std::swap(far, close);
                if (far.first < limit) open.push_back(far);
                if (close.first < limit) open.push_back(close);
                continue;
            }
            for (std::size_t k = node.begin; k < node.end; ++k)
                if (component_[k] != own) offer(i, k, tree_.distance(i, k));
        }
        lower_[i] = std::min(found_[i].length, best.load(std::memory_order_relaxed));
    }

    MetricTree<Fold> tree_;
    std::vector<std::int64_t> labels_, component_;
    unsigned threads_;
    std::vector<double> lower_;
    std::vector<Found> found_;
    std::vector<std::atomic<double>> best_;
};

}  // namespace kech
