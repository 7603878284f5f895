// Merge tree of the points: which components live from when to when, and from when on each is a full simplex.
#pragma once

#include "enclosing.hpp"
#include "spanning.hpp"
#include "threads.hpp"

namespace kech {

// Node i < points is a point; later nodes are merges, in the order of their radii.
struct MergeTree {
    std::vector<std::int64_t> parent, weight, begin, end, order;  // a node's points are order[begin .. end)
    std::vector<double> birth, death, simplex;
};

class Merger {
  public:
    Merger(const Code* codes, const std::int64_t* weights, std::size_t points, const Widths& widths)
        : codes_(codes), points_(points), axes_(widths.axes()), widths_(widths) {
        tree_.weight.assign(weights, weights + points);
        tree_.parent.assign(points, -1);
        tree_.birth.assign(points, 0.0);
        tree_.death.assign(points, infinity);
    }

    MergeTree run(const std::vector<Edge>& edges, bool ball, unsigned threads) {
        UnionFind sets(points_);
        std::vector<std::int64_t> top(points_);
        std::iota(top.begin(), top.end(), std::int64_t{0});
        for (std::size_t i = 0, j = 0; i < edges.size(); i = j) {
            while (j < edges.size() && edges[j].length == edges[i].length) ++j;
            merge(edges.data() + i, edges.data() + j, sets, top);
        }
        lay_out();
        auto lo = boxes(true), hi = boxes(false);
        tree_.simplex.resize(tree_.parent.size());
        for (std::size_t n = 0; n < tree_.parent.size(); ++n)
            tree_.simplex[n] = settle(n, half_widest(lo.data() + n * axes_, hi.data() + n * axes_));
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
            if (n < points_) size[n] = 1;
            if (tree_.parent[n] >= 0) size[tree_.parent[n]] += size[n];
        }
        tree_.begin.assign(nodes, 0);
        tree_.end.assign(nodes, 0);
        tree_.order.assign(points_, 0);
        std::vector<std::int64_t> next(nodes, 0);
        std::int64_t start = 0;
        for (std::size_t n = nodes; n-- > 0;) {
            auto& from = tree_.parent[n] < 0 ? start : next[tree_.parent[n]];
            tree_.begin[n] = next[n] = from;
            from += size[n];
            tree_.end[n] = from;
            if (n < points_) tree_.order[tree_.begin[n]] = static_cast<std::int64_t>(n);
        }
    }

    std::vector<Code> boxes(bool low) const {
        std::size_t nodes = tree_.parent.size();
        std::vector<Code> side(nodes * axes_, low ? std::numeric_limits<Code>::max() : std::numeric_limits<Code>::min());
        std::copy(codes_, codes_ + points_ * axes_, side.begin());
        for (std::size_t n = 0; n < nodes; ++n)
            if (auto up = tree_.parent[n]; up >= 0)
                for (std::size_t j = 0; j < axes_; ++j) {
                    auto &above = side[up * axes_ + j], own = side[n * axes_ + j];
                    above = low ? std::min(above, own) : std::max(above, own);
                }
        return side;
    }

    double half_widest(const Code* lo, const Code* hi) const {
        double widest = 0;
        for (std::size_t j = 0; j < axes_; ++j)
            if (lo[j] != hi[j]) widest = std::max(widest, widths_.width(j, lo[j], hi[j]));
        return widest / 2;
    }

    // A component is never a simplex before it is born, and never becomes one if it dies first.
    double settle(std::size_t node, double radius) const {
        radius = std::max(radius, tree_.birth[node]);
        return radius >= tree_.death[node] ? infinity : radius;
    }

    // Half the widest side bounds the enclosing ball from below: components that die before it need no ball.
    void enclose(unsigned threads) {
        std::atomic<std::size_t> next{points_};
        auto worker = [&] {
            for (std::size_t n; (n = next.fetch_add(1)) < tree_.parent.size();)
                if (tree_.simplex[n] < infinity) tree_.simplex[n] = settle(n, ball_radius(n));
        };
        together(threads, [&](std::size_t) { worker(); });
    }

    // Places are taken from the first point, where they are most precise.
    double ball_radius(std::size_t node) const {
        const std::int64_t* inside = tree_.order.data() + tree_.begin[node];
        std::size_t count = tree_.end[node] - tree_.begin[node];
        std::vector<double> place(count * axes_);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j < axes_; ++j) {
                const Line& line = widths_.line(j);
                double start = line.left[codes_[inside[0] * axes_ + j]];
                place[i * axes_ + j] = (line.left[codes_[inside[i] * axes_ + j]] - start) / line.length;
            }
        EnclosingBall ball(place.data(), count, axes_);
        auto held = ball.support();
        return held.size() == 2 ? half_distance(inside[held[0]], inside[held[1]]) : ball.radius();
    }

    // As the spanning tree computes it, so that two points are a simplex from the moment they meet.
    double half_distance(std::int64_t a, std::int64_t b) const {
        SquareSum fold(widths_);
        double square = 0;
        for (std::size_t j = 0; j < axes_; ++j) {
            double side = fold.position(j, codes_[a * axes_ + j]) - fold.position(j, codes_[b * axes_ + j]);
            square = fold(square, side / fold.length(j));
        }
        return fold.radius(square);
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    const Code* codes_;
    std::size_t points_, axes_;
    const Widths& widths_;
    MergeTree tree_;
};

}  // namespace kech
