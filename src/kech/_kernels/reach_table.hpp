// How far each row must reach for k rows, or k people, for every k at once.
#pragma once

#include "kd_tree.hpp"
#include "threads.hpp"

namespace kech {

// Points are looked at leaf by leaf.  One point of a leaf is searched from.  What it finds holds enough for every k, so the
// farthest of it bounds how far any other point of the leaf must reach.  What lies within these bounds is gathered once.
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
        for (std::size_t n = 0; n < tree_.nodes().size(); ++n)
            if (tree_.is_leaf(n)) leaves_.push_back(n);
    }

    // The point at each place of the table.
    const std::vector<std::int64_t>& order() const { return tree_.order(); }

    // Half the distances, k by k; points in the order of the tree.
    std::vector<double> run(unsigned threads) {
        radii_.resize(most_ * weights_.size());
        constexpr std::size_t task = constants::point_task / constants::tree_leaf;
        for_each((leaves_.size() + task - 1) / task, threads, [&](std::size_t b, std::size_t) {
            Workspace space(person_);
            for (std::size_t l = b * task; l < std::min((b + 1) * task, leaves_.size()); ++l) measure(leaves_[l], space);
        });
        return std::move(radii_);
    }

  private:
    using Found = std::pair<double, std::size_t>;  // distance, place

    // What one thread works with.
    struct Workspace {
        explicit Workspace(std::span<const Person> person) : people(person) {}

        PeopleCounter people;
        std::vector<std::pair<double, std::size_t>> open;  // nodes
        std::vector<Found> found;
        std::vector<double> limits;
        typename MetricTree<Fold>::Crowd crowd;
    };

    void measure(std::size_t leaf, Workspace& space) {
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

    // All points of nodes that are nearer to a leaf than the reach.
    void gather(std::size_t leaf, double reach, Workspace& space) {
        space.crowd.clear();
        for (std::size_t n = 0; n < tree_.nodes().size();) {
            const auto& node = tree_.nodes()[n];
            bool near = tree_.gap_between(leaf, n) < reach;
            if (near && tree_.is_leaf(n)) space.crowd.add(tree_, node.begin, node.end);
            n = near ? n + 1 : node.after;
        }
    }

    // Of the gathered points, those within the limit.
    void choose(std::size_t i, double limit, Workspace& space) {
        const auto& far = space.crowd.distances(tree_, i);
        space.found.clear();
        for (std::size_t c = 0; c < far.size(); ++c)
            if (far[c] < limit) space.found.emplace_back(far[c], space.crowd.place(c));
    }

    // The nearest points that hold enough people, or all within the limit.
    void search(std::size_t i, double limit, std::int64_t rows, Workspace& space) {
        for (;; rows *= 2)
            if (search_rows(i, limit, std::min(rows, rows_), space) || person_.empty() || count(space) >= most_) return;
    }

    // The nearest points that hold so many rows; whether all within the limit were found.
    bool search_rows(std::size_t i, double limit, std::int64_t rows, Workspace& space) {
        auto &heap = space.found, &open = space.open;
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
                heap.emplace_back(far, at);
                std::push_heap(heap.begin(), heap.end());
                for (held += weights_[at]; held - weights_[heap.front().second] >= rows; heap.pop_back()) {
                    held -= weights_[heap.front().second];
                    std::pop_heap(heap.begin(), heap.end());
                }
                if (held >= rows) limit = heap.front().first, all = false;
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
    void write_radii(std::size_t i, double limit, Workspace& space) {
        auto& found = space.found;
        if (person_.empty() && static_cast<std::int64_t>(found.size()) > most_) {  // a point has a row or more
            std::nth_element(found.begin(), found.begin() + most_, found.end());
            found.resize(most_);
        }
        std::sort(found.begin(), found.end());
        std::size_t points = weights_.size();
        std::int64_t k = 0;
        space.people.start();
        for (auto [far, at] : found) {
            if (k >= most_) break;
            space.people.add({static_cast<std::int64_t>(at), weights_[at]});
            double radius = tree_.fold().radius(far);
            for (; k < std::min(space.people.people(), most_); ++k) radii_[k * points + i] = radius;
        }
        for (; k < most_; ++k) radii_[k * points + i] = tree_.fold().radius(limit);
    }

    MetricTree<Fold> tree_;
    std::int64_t most_, rows_;
    std::vector<std::int64_t> weights_;  // in the order of the tree
    std::vector<Person> person_;
    std::vector<std::size_t> leaves_;
    std::vector<double> radii_;
};

}  // namespace kech
