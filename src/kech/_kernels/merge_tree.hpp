// Merge tree of the points: which components live from when to when, and from when on each is a full simplex.
#pragma once

#include <tuple>

#include "enclosing_ball.hpp"
#include "spanning_tree.hpp"
#include "threads.hpp"

namespace kech {

// Node i < points is a point; later nodes are merges, in the order of their radii.
struct MergeTree {
    std::vector<std::int64_t> parent, weight, begin, end, order;  // a node's points are order[begin .. end)
    std::vector<double> birth, death, simplex;
};

class MergeTreeBuilder {
  public:
    MergeTreeBuilder(const Points& points, const Widths& widths) : points_(points), widths_(widths) {
        tree_.weight.assign(points.weights, points.weights + points.count);
        tree_.parent.assign(points.count, -1);
        tree_.birth.assign(points.count, 0.0);
        tree_.death.assign(points.count, infinity);
    }

    MergeTree run(const std::vector<Edge>& edges, bool ball, unsigned threads) {
        UnionFind sets(points_.count);
        auto top = count_up<std::int64_t>(points_.count);
        for (std::size_t i = 0, j = 0; i < edges.size(); i = j) {
            while (j < edges.size() && edges[j].length == edges[i].length) ++j;
            merge(edges.data() + i, edges.data() + j, sets, top);
        }
        lay_out();
        measure_simplices();
        if (ball) enclose(threads);
        return std::move(tree_);
    }

  private:
    // All edges of one length at once: what they join is one merge, of two components or of many.
    void merge(const Edge* first, const Edge* last, UnionFind& sets, std::vector<std::int64_t>& top) {
        std::vector<std::int64_t> touched, roots;
        for (auto edge = first; edge < last; ++edge)
            for (auto point : {edge->from, edge->to}) touched.push_back(sets.find(point));
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        std::vector<std::int64_t> old;
        for (auto root : touched) old.push_back(top[root]);
        for (auto edge = first; edge < last; ++edge) sets.join(edge->from, edge->to);
        auto fresh = static_cast<std::int64_t>(tree_.parent.size());
        for (std::size_t i = 0; i < touched.size(); ++i) {
            auto root = sets.find(touched[i]);
            if (top[root] < fresh) top[root] = add_node(first->length);
            tree_.parent[old[i]] = top[root];
            tree_.death[old[i]] = first->length;
            tree_.weight[top[root]] += tree_.weight[old[i]];
        }
    }

    std::int64_t add_node(double birth) {
        tree_.parent.push_back(-1);
        tree_.weight.push_back(0);
        tree_.birth.push_back(birth);
        tree_.death.push_back(infinity);
        return static_cast<std::int64_t>(tree_.parent.size()) - 1;
    }

    // Parents come after children, so one pass counts and one pass back places.
    void lay_out() {
        std::size_t nodes = tree_.parent.size();
        std::vector<std::int64_t> size(nodes, 0);
        for (std::size_t n = 0; n < nodes; ++n) {
            if (n < points_.count) size[n] = 1;
            if (tree_.parent[n] >= 0) size[tree_.parent[n]] += size[n];
        }
        tree_.begin.assign(nodes, 0);
        tree_.end.assign(nodes, 0);
        tree_.order.assign(points_.count, 0);
        std::vector<std::int64_t> next(nodes, 0);
        std::int64_t start = 0;
        for (std::size_t left = nodes; left > 0; --left) {
            std::size_t n = left - 1;
            auto& from = tree_.parent[n] < 0 ? start : next[tree_.parent[n]];
            tree_.begin[n] = next[n] = from;
            from += size[n];
            tree_.end[n] = from;
            if (n < points_.count) tree_.order[tree_.begin[n]] = static_cast<std::int64_t>(n);
        }
    }

    // In the box metric, rows form a simplex from half the widest side of their box on.
    void measure_simplices() {
        std::size_t axes = points_.axes, merges = tree_.parent.size() - points_.count;
        std::vector<Box> boxes(merges, Box(axes));
        for (std::size_t n = 0; n < tree_.parent.size(); ++n) {
            bool point = n < points_.count;
            const Code* lo = point ? points_[n] : boxes[n - points_.count].lo.data();
            const Code* hi = point ? points_[n] : boxes[n - points_.count].hi.data();
            if (auto up = tree_.parent[n]; up >= 0) boxes[up - points_.count].cover(lo, hi);
            double widest = 0;
            for (std::size_t j = 0; j < axes; ++j)
                if (lo[j] != hi[j]) widest = std::max(widest, widths_.width(j, lo[j], hi[j]));
            tree_.simplex.push_back(settle(n, widest / 2));
        }
    }

    // A component is never a simplex before it is born, and never becomes one if it dies first.
    double settle(std::size_t node, double radius) const {
        radius = std::max(radius, tree_.birth[node]);
        return radius >= tree_.death[node] ? infinity : radius;
    }

    // Half the widest side bounds the enclosing ball from below: components that die before it need no ball.
    void enclose(unsigned threads) {
        for_each(tree_.parent.size() - points_.count, threads, [&](std::size_t merge, std::size_t) {
            std::size_t n = points_.count + merge;
            if (tree_.simplex[n] < infinity) tree_.simplex[n] = settle(n, ball_radius(n));
        });
    }

    // Places are taken from the first point, where they are most precise.
    double ball_radius(std::size_t node) const {
        const std::int64_t* inside = tree_.order.data() + tree_.begin[node];
        std::size_t count = tree_.end[node] - tree_.begin[node];
        std::vector<double> place;
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j < points_.axes; ++j) {
                const Line& line = widths_.line(j);
                place.push_back((line.left[points_[inside[i]][j]] - line.left[points_[inside[0]][j]]) / line.length);
            }
        EnclosingBall ball(place.data(), count, points_.axes);
        auto held = ball.support();
        return held.size() == 2 ? half_distance(inside[held[0]], inside[held[1]]) : ball.radius();
    }

    // As the spanning tree computes it, so that two points are a simplex from the moment they meet.
    double half_distance(std::int64_t a, std::int64_t b) const {
        SquareSum fold(widths_);
        double square = 0;
        for (std::size_t j = 0; j < points_.axes; ++j) {
            double side = fold.position(j, points_[a][j]) - fold.position(j, points_[b][j]);
            square = fold(square, side / fold.length(j));
        }
        return fold.radius(square);
    }

    Points points_;
    const Widths& widths_;
    MergeTree tree_;
};

// Edges in the order of their lengths, then of their points.
inline MergeTree build_merge_tree(const Points& points, const Widths& widths, bool ball, unsigned threads) {
    auto edges = ball ? SpanningTree<SquareSum>(points, widths, threads).run()
                      : SpanningTree<WidestSide>(points, widths, threads).run();
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
        return std::tie(a.length, a.from, a.to) < std::tie(b.length, b.from, b.to);
    });
    return MergeTreeBuilder(points, widths).run(edges, ball, threads);
}

}  // namespace kech
