// How far each row must reach for k rows, or k people, for every k at once.
#pragma once

#include <array>

#include "kd_tree.hpp"
#include "threads.hpp"

namespace kech {

// Points are looked at together with their neighbours in the tree.  One of them is searched from; the anchors that this
// finds hold enough for every k.  What lies a little farther away is gathered once, into a crowd, and the others choose from
// the crowd.  Where it holds too little for one of them, that one is searched from, no farther than its farthest anchor, and
// another crowd is gathered.
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
        // A group of more points than k rows is mostly too wide for one crowd.
        auto wide = std::min(constants::reach_group, static_cast<std::size_t>(most_));
        std::size_t largest = person_.empty() ? wide : constants::tree_leaf;
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
        std::vector<Found> found, sorted, anchors;
        std::vector<double> limits;
        typename MetricTree<Fold>::Crowd crowd;
        std::vector<double> radii;  // of one point after another
    };

    void measure(std::size_t node, Workspace& space) {
        if (tree_.is_leaf(node)) return measure_leaf(node, space);
        auto [begin, end, _, __] = tree_.nodes()[node];
        std::size_t middle = (begin + end) / 2;
        search(middle, infinity, most_, space);
        double across = tree_.gap_across(node);
        if (tree_.fold().radius(across) > constants::reach_spread * tree_.fold().radius(farthest(space))) {
            measure(tree_.left(node), space);
            measure(tree_.right(node), space);
            return;
        }
        space.anchors = space.found;
        double far = write_radii(middle, infinity, begin, space);
        double reach = gather_around(node, far, space);
        for (std::size_t i = begin; i < end; ++i) {
            if (i == middle) continue;
            double bound = infinity, doubt = constants::reach_doubt * (reach + across);
            bool is_held = choose_nearest(i, constants::reach_growth * far, reach, doubt, space);
            if (!is_held) bound = farthest_anchor(i, space);
            if (bound <= reach) is_held = true;  // all that is nearer was chosen
            if (!is_held) search(i, bound, most_, space);
            far = write_radii(i, bound, begin, space);
            if (!is_held) reach = gather_around(node, far, space);
        }
        put_radii(begin, end, space);
    }

    static double farthest(const Workspace& space) {
        double most = 0;
        for (auto [far, _] : space.found) most = std::max(most, far);
        return most;
    }

    // How far a point must reach at most, since the anchors hold enough rows.
    double farthest_anchor(std::size_t i, const Workspace& space) const {
        double most = 0;
        for (auto [_, at] : space.anchors) most = std::max(most, tree_.distance(at, i));
        return most;
    }

    // A crowd for points of a node that reach a little farther than one of them did, but no farther than the anchors can be
    // from the node: where most columns have no order, that is often as far as any two rows are apart.  What is nearer to a
    // point than the returned reach is in the crowd.
    double gather_around(std::size_t node, double far, Workspace& space) {
        double most = 0;
        for (auto [_, at] : space.anchors) most = std::max(most, tree_.farthest(node, at));
        double reach = std::min(constants::reach_start * far, most);
        gather(node, reach, space);
        space.crowd.simplify(tree_, tree_.nodes()[node].begin);
        return reach;
    }

    // The nearest points of the crowd that hold enough rows, or all within the reach; whether they hold enough.
    bool choose_nearest(std::size_t i, double guess, double reach, double doubt, Workspace& space) {
        space.crowd.measure_roughly(tree_, i);
        std::size_t fewest = is_unit_ ? most_ : 0;
        double growth = constants::reach_growth;
        for (double limit = guess; 0 < limit && limit < reach; limit *= growth, growth *= growth)
            if (space.crowd.select(limit + doubt) >= fewest && choose_selected(i, limit, space)) return true;
        space.crowd.select(reach + doubt);
        return choose_selected(i, reach, space);
    }

    // Of the selected points of the crowd, those within the limit; whether they hold enough rows.
    bool choose_selected(std::size_t i, double limit, Workspace& space) {
        const auto& far = space.crowd.measure_selected(tree_, i);
        space.found.resize(far.size());
        std::int64_t rows = 0;
        std::size_t within = 0;
        for (std::size_t n = 0; n < far.size(); ++n) {
            std::size_t at = space.crowd.selected_place(n);
            space.found[within] = {far[n], at};
            bool is_within = far[n] < limit;
            within += is_within;
            rows += is_within ? weights_[at] : 0;
        }
        space.found.resize(within);
        return rows >= most_;
    }

    void measure_leaf(std::size_t leaf, Workspace& space) {
        auto [begin, end, _, __] = tree_.nodes()[leaf];
        std::size_t middle = (begin + end) / 2;
        search(middle, infinity, person_.empty() ? most_ + most_ / 2 : most_, space);
        double reach = bound_leaf(begin, end, space);
        write_radii(middle, infinity, begin, space);
        bool together = tree_.gap_across(leaf) < reach;
        if (together) gather(leaf, reach, space);
        for (std::size_t i = begin; i < end; ++i) {
            if (i == middle) continue;
            double limit = space.limits[i - begin];
            if (together) choose(i, limit, space);
            else search(i, limit, most_, space);
            write_radii(i, limit, begin, space);
        }
        put_radii(begin, end, space);
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
            if (near && tree_.is_leaf(n))
                space.crowd.add(tree_, node.begin, node.end);
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
    double write_radii(std::size_t i, double limit, std::size_t begin, Workspace& space) {
        sort_found(space);
        space.radii.resize(std::max(space.radii.size(), (i - begin + 1) * most_));
        double* radii = space.radii.data() + (i - begin) * most_;
        std::int64_t k = 0, rows = 0;
        space.people.start();
        for (auto [far, at] : space.sorted) {
            if (person_.empty()) rows += weights_[at];
            else space.people.add({static_cast<std::int64_t>(at), weights_[at]}), rows = space.people.people();
            double radius = tree_.fold().radius(far);
            for (; k < std::min(rows, most_); ++k) radii[k] = radius;
            if (k == most_) return far;
        }
        for (; k < most_; ++k) radii[k] = tree_.fold().radius(limit);
        return limit;
    }

    // The radii of some points to their places in the table.
    void put_radii(std::size_t begin, std::size_t end, const Workspace& space) {
        for (std::int64_t k = 0; k < most_; ++k)
            for (std::size_t i = begin; i < end; ++i)
                radii_[k * weights_.size() + i] = space.radii[(i - begin) * most_ + k];
    }

    // Distances are put into as many buckets as there are, and those of a bucket are sorted.
    void sort_found(Workspace& space) const {
        auto &found = space.found, &sorted = space.sorted;
        if (person_.empty() && static_cast<std::int64_t>(found.size()) > 2 * most_) {  // each has a row or more
            std::nth_element(found.begin(), found.begin() + most_, found.end());
            found.resize(most_);
        }
        sorted.resize(found.size());
        if (found.empty()) return;
        double most = farthest(space);
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
