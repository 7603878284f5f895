// Merge tree of the points: which components live from when to when, and from when on each is a full simplex.
#pragma once

#include <tuple>

#include "enclosing_ball.hpp"
#include "spanning_tree.hpp"
#include "threads.hpp"

namespace kech {

// Rows of one person at one point, or of all there who have no second row anywhere (person -1).  None: rows are people.
struct Units {
    std::span<const std::int64_t> place;  // the point of each
    std::span<const Person> person;
    std::span<const std::int64_t> rows;
};

// Node i < points is a point; later nodes are merges, in the order of their radii.
struct MergeTree {
    std::vector<std::int64_t> parent, weight, begin, end, order;  // a node's points are order[begin .. end)
    std::vector<std::int64_t> people;                             // different people of a node; empty where rows are people
    std::vector<double> birth, death, simplex;
};

class MergeTreeBuilder {
  public:
    MergeTreeBuilder(const Points& points, const Widths& widths, const Units& units)
        : points_(points), widths_(widths), units_(units) {
        tree_.weight.assign(points.weights, points.weights + points.count);
        tree_.parent.assign(points.count, -1);
        tree_.birth.assign(points.count, 0.0);
        tree_.death.assign(points.count, infinity);
    }

    MergeTree run(const std::vector<Edge>& edges, bool ball, unsigned threads) {
        UnionFind<> sets(points_.count);
        auto top = count_up<std::int64_t>(points_.count);
        for (std::size_t i = 0, j = 0; i < edges.size(); i = j) {
            while (j < edges.size() && edges[j].length == edges[i].length) ++j;
            merge(edges.data() + i, edges.data() + j, sets, top);
        }
        lay_out();
        if (!units_.place.empty()) count_people();
        measure_simplices();
        if (ball) enclose(threads);
        return std::move(tree_);
    }

  private:
    // All edges of one length at once: what they join is one merge, of two components or of many.
    void merge(const Edge* first, const Edge* last, UnionFind<>& sets, std::vector<std::int64_t>& top) {
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

    // Every unit counts its people at its point, and each two consecutive units of a person, in the order of the leaves,
    // count -1 at their lowest common ancestor.  A node holds a stretch of that order, so its m units of a person are
    // consecutive: m - 1 of their pairs meet within the node and every other pair meets above it, which leaves one.
    void count_people() {
        tree_.people.assign(tree_.parent.size(), 0);
        auto units = order_units();
        auto previous = find_previous(units);
        std::vector<std::int64_t> open;  // nodes around a leaf, the widest first
        std::int64_t leaf = -1;
        for (std::size_t i = 0; i < units.size(); ++i) {
            auto point = units_.place[units[i]];
            if (leaf != tree_.begin[point]) open_nodes(leaf = tree_.begin[point], open);
            tree_.people[point] += units_.person[units[i]] < 0 ? units_.rows[units[i]] : 1;
            if (previous[i] >= 0) --tree_.people[narrowest_around(previous[i], open)];
        }
        for (std::size_t n = 0; n < tree_.parent.size(); ++n)
            if (tree_.parent[n] >= 0) tree_.people[tree_.parent[n]] += tree_.people[n];
    }

    // Units in the order of their leaves.
    std::vector<std::int64_t> order_units() const {
        auto units = count_up<std::int64_t>(units_.place.size());
        std::stable_sort(units.begin(), units.end(), [&](auto a, auto b) { return leaf_of(a) < leaf_of(b); });
        return units;
    }

    std::int64_t leaf_of(std::int64_t unit) const { return tree_.begin[units_.place[unit]]; }

    // The leaf of the unit before each, in their order, that has the same person, or -1.
    std::vector<std::int64_t> find_previous(const std::vector<std::int64_t>& units) const {
        auto person = [&](std::int64_t i) { return units_.person[units[i]]; };
        auto places = count_up<std::int64_t>(units.size());
        std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return person(a) < person(b); });
        std::vector<std::int64_t> previous(units.size(), -1);
        for (std::size_t i = 1; i < places.size(); ++i)
            if (person(places[i]) >= 0 && person(places[i]) == person(places[i - 1]))
                previous[places[i]] = leaf_of(units[places[i - 1]]);
        return previous;
    }

    void open_nodes(std::int64_t place, std::vector<std::int64_t>& open) const {
        while (!open.empty() && tree_.end[open.back()] <= place) open.pop_back();
        std::size_t held = open.size();
        for (auto n = tree_.order[place]; n >= 0 && tree_.begin[n] == place; n = tree_.parent[n]) open.push_back(n);
        std::reverse(open.begin() + held, open.end());
    }

    std::int64_t narrowest_around(std::int64_t place, const std::vector<std::int64_t>& open) const {
        auto begins_after = [&](std::int64_t at, std::int64_t n) { return at < tree_.begin[n]; };
        return *(std::upper_bound(open.begin(), open.end(), place, begins_after) - 1);
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
            tree_.simplex.push_back(clip_to_life(n, widest / 2));
        }
    }

    // A component is never a simplex before it is born, and never becomes one if it dies first.
    double clip_to_life(std::size_t node, double radius) const {
        radius = std::max(radius, tree_.birth[node]);
        return radius >= tree_.death[node] ? infinity : radius;
    }

    // Half the widest side bounds the enclosing ball from below: components that die before it need no ball.
    void enclose(unsigned threads) {
        for_each(tree_.parent.size() - points_.count, threads, [&](std::size_t merge, std::size_t) {
            std::size_t n = points_.count + merge;
            if (tree_.simplex[n] < infinity) tree_.simplex[n] = clip_to_life(n, ball_radius(n));
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
    Units units_;
    MergeTree tree_;
};

// Edges in the order of their lengths, then of their points.
inline MergeTree build_merge_tree(const Points& points, const Widths& widths, bool ball, unsigned threads,
                                  const Units& units) {
    auto edges = ball ? SpanningTree<SquareSum>(points, widths, threads).run()
                      : SpanningTree<WidestSide>(points, widths, threads).run();
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
        return std::tie(a.length, a.from, a.to) < std::tie(b.length, b.from, b.to);
    });
    return MergeTreeBuilder(points, widths, units).run(edges, ball, threads);
}

}  // namespace kech
