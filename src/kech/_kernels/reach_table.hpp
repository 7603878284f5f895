// How far each row must reach for k rows, or k people, for every k at once.
#pragma once

#include <array>

#include "kd_tree.hpp"
#include "threads.hpp"

namespace kech {

// Points are looked at together with their neighbours in the tree.  One of them is searched from.  What it finds holds
// enough for every k, so the farthest of it bounds how far any other one must reach.  What lies within these bounds is
// gathered once, into a crowd, and each point chooses from the crowd.
template <class Fold>
class ReachTable {
  public:
    // k goes from 1 to `most`; there are so many people.
    ReachTable(const Points& points, const Widths& widths, std::int64_t most)
        : tree_(points, widths), most_(most), rows_(points.rows()) {
        for (auto i : tree_.order()) {
            weights_.push_back(points.weights[i]);
            if (!points.person.empty()) person_.push_back(points.person[i]);
        }
        is_unit_ = rows_ == static_cast<std::int64_t>(weights_.size());
        std::size_t largest = person_.empty() ? constants::reach_group : constants::tree_leaf;
        for (std::size_t n = 0; n < tree_.nodes().size();) {
            const auto& node = tree_.nodes()[n];
            bool is_group = tree_.is_leaf(n) || node.end - node.begin <= largest;
            if (is_group) groups_.push_back(n);
            n = is_group ? node.after : n + 1;
        }
    }

    // The point at each place of the table.
    const std::vector<std::int64_t>& order() const { return tree_.order(); }

    // Half the distances, k by k; points in the order of the tree.
    std::vector<double> run(unsigned threads) {
        radii_.resize(most_ * weights_.size());
        constexpr std::size_t task = constants::point_task / constants::tree_leaf;
        for_each((groups_.size() + task - 1) / task, threads, [&](std::size_t b, std::size_t) {
            Workspace space(person_);
            for (std::size_t g = b * task; g < std::min((b + 1) * task, groups_.size()); ++g) measure(groups_[g], space);
        });
        return std::move(radii_);
    }

  private:
    // A point that was found.
    struct Found {
        double far;
        std::size_t at;  // its place

        bool operator<(const Found& other) const { return far < other.far; }
    };

    // What one thread works with.
    struct Workspace {
        explicit Workspace(std::span<const Person> person) : people(person) {}

        PeopleCounter people;
        std::vector<std::pair<double, std::size_t>> open;  // nodes
        std::vector<Found> found, sorted;
        std::vector<double> limits;
        typename MetricTree<Fold>::Crowd crowd;
        std::vector<std::uint32_t> chosen;  // of the crowd
    };

    void measure(std::size_t node, Workspace& space) {
        if (tree_.is_leaf(node)) return measure_leaf(node, space);
        auto [begin, end, _, __] = tree_.nodes()[node];
        std::size_t middle = (begin + end) / 2;
        search(middle, infinity, most_, space);
        double near = 0, across = tree_.gap_across(node);
        for (auto [far, __] : space.found) near = std::max(near, far);
        if (tree_.fold().radius(across) > constants::reach_spread * tree_.fold().radius(near)) {
            measure(tree_.left(node), space);
            measure(tree_.right(node), space);
            return;
        }
        auto anchors = space.found;
        double reach = 0;
        space.crowd.clear();
        for (auto [_, at] : anchors) space.crowd.add(tree_, at, at + 1);
        for (std::size_t i = begin; i < end; ++i) {
            const auto& far = space.crowd.distances(tree_, i);
            reach = std::max(reach, *std::max_element(far.begin(), far.end()));
        }
        double doubt = constants::reach_doubt * (reach + across);
        gather(node, reach, space);
        space.crowd.simplify(tree_, middle);
        double guess = constants::reach_growth * near;
        for (std::size_t i = begin; i < end; ++i) {
            const auto& seems = space.crowd.rough_distances(tree_, i);
            double limit = guess;
            for (double growth = constants::reach_growth; limit < reach; growth *= growth) {
                if (choose_within(i, limit, seems, limit + doubt, space)) break;
                limit = limit > 0 ? limit * growth : reach;
            }
            if (limit >= reach) choose_within(i, limit = farthest_of(anchors, i), seems, infinity, space);
            guess = constants::reach_growth * write_radii(i, limit, space);
        }
    }

    double farthest_of(const std::vector<Found>& anchors, std::size_t i) const {
        double farthest = 0;
        for (auto [_, at] : anchors) farthest = std::max(farthest, tree_.distance(at, i));
        return farthest;
    }

    // Points of the crowd within the limit, of those that seem to be within another one; whether they hold enough rows.
    bool choose_within(std::size_t i, double limit, const std::vector<float>& seems, double seeming, Workspace& space) {
        auto most = static_cast<float>(seeming);
        auto& chosen = space.chosen;
        chosen.resize(seems.size());
        std::size_t count = 0;
        for (std::size_t c = 0; c < seems.size(); ++c) {
            chosen[count] = static_cast<std::uint32_t>(c);
            count += seems[c] <= most;
        }
        space.found.clear();
        if (static_cast<std::int64_t>(count) < most_ && is_unit_ && seeming < infinity) return false;
        std::int64_t rows = 0;
        for (std::size_t n = 0; n < count; ++n) {
            std::size_t at = space.crowd.place(chosen[n]);
            double far = tree_.distance(at, i);
            if (far >= limit) continue;
            space.found.push_back({far, at});
            rows += weights_[at];
        }
        return rows >= most_;
    }

    void measure_leaf(std::size_t leaf, Workspace& space) {
        auto [begin, end, _, __] = tree_.nodes()[leaf];
        std::size_t middle = (begin + end) / 2;
        search(middle, infinity, person_.empty() ? most_ + most_ / 2 : most_, space);
        double reach = bound_leaf(begin, end, space);
        write_radii(middle, infinity, space);
        bool together = tree_.gap_across(leaf) < reach;
        if (together) gather(leaf, reach, space);
        for (std::size_t i = begin; i < end; ++i) {
            if (i == middle) continue;
            double limit = space.limits[i - begin];
            if (together) choose(i, limit, space);
            else search(i, limit, most_, space);
            write_radii(i, limit, space);
        }
    }

    // How far each point of a leaf reaches at most, and the farthest of these.
    double bound_leaf(std::size_t begin, std::size_t end, Workspace& space) {
        space.crowd.clear();
        for (auto [_, at] : space.found) space.crowd.add(tree_, at, at + 1);
        space.limits.clear();
        for (std::size_t i = begin; i < end; ++i) {
            auto& far = space.crowd.distances(tree_, i);
            auto enough = far.end() - 1;  // all of it, or so many points, each of a row or more
            if (person_.empty() && static_cast<std::int64_t>(far.size()) > most_) enough = far.begin() + (most_ - 1);
            std::nth_element(far.begin(), enough, far.end());
            space.limits.push_back(*enough);
        }
        return *std::max_element(space.limits.begin(), space.limits.end());
    }

    // All points of nodes that are nearer to a node than the reach.
    void gather(std::size_t around, double reach, Workspace& space) {
        space.crowd.clear();
        for (std::size_t n = 0; n < tree_.nodes().size();) {
            const auto& node = tree_.nodes()[n];
            bool near = tree_.gap_between(around, n) < reach;
            if (near && tree_.is_leaf(n)) space.crowd.add(tree_, node.begin, node.end);
            n = near ? n + 1 : node.after;
        }
    }

    // Of the gathered points, those within the limit.
    void choose(std::size_t i, double limit, Workspace& space) {
        const auto& far = space.crowd.distances(tree_, i);
        space.found.clear();
        for (std::size_t c = 0; c < far.size(); ++c)
            if (far[c] < limit) space.found.push_back({far[c], space.crowd.place(c)});
    }

    // The nearest points that hold enough people, or all within the limit.
    void search(std::size_t i, double limit, std::int64_t rows, Workspace& space) {
        for (;; rows *= 2)
            if (search_rows(i, limit, std::min(rows, rows_), space) || person_.empty() || count(space) >= most_) return;
    }

    // The nearest points that hold so many rows; whether all within the limit were found.
    bool search_rows(std::size_t i, double limit, std::int64_t rows, Workspace& space) {
        auto &heap = space.found;
        auto &open = space.open;
        heap.clear();
        open.assign(1, {0.0, 0});
        std::int64_t held = 0;
        bool all = true;
        while (!open.empty()) {
            auto [least, n] = open.back();
            open.pop_back();
            if (least >= limit) continue;
            if (!tree_.is_leaf(n)) {
                std::size_t left = tree_.left(n), right = tree_.right(n);
                std::pair close{tree_.gap(left, i), left}, far{tree_.gap(right, i), right};
                if (far.first < close.first) std::swap(far, close);
                if (far.first < limit) open.push_back(far);
                if (close.first < limit) open.push_back(close);
                continue;
            }
            for (std::size_t at = tree_.nodes()[n].begin; at < tree_.nodes()[n].end; ++at) {
                double far = tree_.distance(at, i);
                if (far >= limit) continue;
                heap.push_back({far, at});
                std::push_heap(heap.begin(), heap.end());
                for (held += weights_[at]; held - weights_[heap.front().at] >= rows; heap.pop_back()) {
                    held -= weights_[heap.front().at];
                    std::pop_heap(heap.begin(), heap.end());
                }
                if (held >= rows) limit = heap.front().far, all = false;
            }
        }
        return all || held == rows_;
    }

    std::int64_t count(Workspace& space) const {
        space.people.start();
        for (auto [_, at] : space.found) space.people.add({static_cast<std::int64_t>(at), weights_[at]});
        return space.people.people();
    }

    // From what was found within the limit, the radius of one point for each k; where it does not reach, the limit is one.
    // Returns the distance that the largest k needs.
    double write_radii(std::size_t i, double limit, Workspace& space) {
        sort_found(space);
        std::size_t points = weights_.size();
        std::int64_t k = 0, rows = 0;
        space.people.start();
        for (auto [far, at] : space.sorted) {
            if (person_.empty()) rows += weights_[at];
            else space.people.add({static_cast<std::int64_t>(at), weights_[at]}), rows = space.people.people();
            double radius = tree_.fold().radius(far);
            for (; k < std::min(rows, most_); ++k) radii_[k * points + i] = radius;
            if (k == most_) return far;
        }
        for (; k < most_; ++k) radii_[k * points + i] = tree_.fold().radius(limit);
        return limit;
    }

    // Distances are put into as many buckets as there are, and those of a bucket are sorted.
    void sort_found(Workspace& space) const {
        auto &found = space.found, &sorted = space.sorted;
        sorted.resize(found.size());
        if (found.empty()) return;
        double most = 0;
        for (auto [far, _] : found) most = std::max(most, far);
        std::array<std::uint32_t, constants::reach_buckets + 1> ends{};
        double scale = most > 0 ? (constants::reach_buckets - 1) / most : 0;
        auto bucket = [&](double far) { return static_cast<std::size_t>(far * scale); };
        for (auto [far, _] : found) ++ends[bucket(far) + 1];
        std::partial_sum(ends.begin(), ends.end(), ends.begin());
        auto next = ends;
        for (auto each : found) sorted[next[bucket(each.far)]++] = each;
        for (std::size_t b = 0; b < constants::reach_buckets; ++b)
            if (ends[b + 1] > ends[b] + 1) std::sort(sorted.begin() + ends[b], sorted.begin() + ends[b + 1]);
    }

    MetricTree<Fold> tree_;
    std::int64_t most_, rows_;
    std::vector<std::int64_t> weights_;  // in the order of the tree
    bool is_unit_;  // every point is a row
    std::vector<Person> person_;
    std::vector<std::size_t> groups_;
    std::vector<double> radii_;
};

}  // namespace kech
