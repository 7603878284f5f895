// How many rows, or different people, lie in each of many boxes.
#pragma once

#include "kd_tree.hpp"

namespace kech {

// Of some axes, the codes that a box holds; all codes between its corners where it lists none.
struct Listed {
    const Code* codes = nullptr;  // ascending, then -1
    std::span<const std::int64_t> axis;  // of each of these codes, in blocks

    bool holds(const Code* point) const {
        for (std::size_t i = 0; i < axis.size();) {
            std::size_t start = i;
            bool found = codes[start] < 0;
            for (; i < axis.size() && axis[i] == axis[start]; ++i) found |= codes[i] == point[axis[start]];
            if (!found) return false;
        }
        return true;
    }
};

class BoxCounter {
  public:
    explicit BoxCounter(const Points& points) : points_(points), all_(points.axes), tree_(build()) {
        for (const auto& node : tree_.nodes()) {
            std::int64_t rows = 0;
            for (std::size_t i = node.begin; i < node.end; ++i) rows += points_.weights[tree_.order()[i]];
            rows_.push_back(rows);
        }
    }

    // Rows in each box, people where points have persons, or any number above `enough`.  Each box may list codes.
    std::vector<std::int64_t> count(const Code* lo, const Code* hi, std::size_t boxes, std::int64_t enough,
                                    Listed listed) const {
        std::vector<std::int64_t> rows;
        std::size_t axes = points_.axes;
        for (std::size_t i = 0; i < boxes; ++i, listed.codes += listed.axis.size()) {
            const Code *low = lo + i * axes, *high = hi + i * axes;
            rows.push_back(points_.person.empty() ? count(low, high, enough, listed) : count_people(low, high, enough, listed));
        }
        return rows;
    }

  private:
    // Sides are measured in shares of the box around all points: there are no widths here.
    KdTree build() {
        for (std::size_t i = 0; i < points_.count; ++i) all_.cover(points_[i]);
        return {points_.codes, points_.count, points_.axes, [&](std::size_t j, Code lo, Code hi) {
                    return (double{1} * hi - lo) / (double{1} * all_.hi[j] - all_.lo[j] + 1.0);
                }};
    }

    // People are not additive, so every leaf that a box meets is scanned, until enough are found.
    std::int64_t count_people(const Code* lo, const Code* hi, std::int64_t enough, const Listed& listed) const {
        std::int64_t people = 0;
        std::vector<Person> seen;
        for (std::size_t at = 0; at < rows_.size() && people <= enough;) {
            bool apart = false;
            for (std::size_t j = 0; j < points_.axes; ++j) apart |= tree_.hi(at)[j] < lo[j] || tree_.lo(at)[j] > hi[j];
            if (!apart && !tree_.is_leaf(at)) {
                ++at;
                continue;
            }
            if (!apart) people += scan_people(at, lo, hi, listed, seen);
            at = tree_.nodes()[at].after;
        }
        return people;
    }

    std::int64_t scan_people(std::size_t leaf, const Code* lo, const Code* hi, const Listed& listed,
                             std::vector<Person>& seen) const {
        std::int64_t people = 0;
        for (std::size_t i = tree_.nodes()[leaf].begin; i < tree_.nodes()[leaf].end; ++i) {
            std::size_t point = tree_.order()[i];
            if (!is_inside(point, lo, hi) || !listed.holds(points_[point])) continue;
            Person person = points_.person[point];
            if (person < 0) {
                people += points_.weights[point];
            } else if (std::find(seen.begin(), seen.end(), person) == seen.end()) {
                seen.push_back(person);
                ++people;
            }
        }
        return people;
    }

    bool is_inside(std::size_t point, const Code* lo, const Code* hi) const {
        bool inside = true;
        for (std::size_t j = 0; j < points_.axes; ++j) inside &= points_[point][j] >= lo[j] && points_[point][j] <= hi[j];
        return inside;
    }

    std::int64_t count(const Code* lo, const Code* hi, std::int64_t enough, const Listed& listed) const {
        std::int64_t rows = 0;
        for (std::size_t at = 0; at < rows_.size() && rows <= enough;) {
            const Code *low = tree_.lo(at), *high = tree_.hi(at);
            bool apart = false, within = listed.axis.empty();
            for (std::size_t j = 0; j < points_.axes; ++j) {
                apart |= high[j] < lo[j] || low[j] > hi[j];
                within &= low[j] >= lo[j] && high[j] <= hi[j];
            }
            if (!apart && !within && !tree_.is_leaf(at)) {
                ++at;
                continue;
            }
            if (within) rows += rows_[at];
            else if (!apart) rows += scan(at, lo, hi, listed);
            at = tree_.nodes()[at].after;
        }
        return rows;
    }

    std::int64_t scan(std::size_t leaf, const Code* lo, const Code* hi, const Listed& listed) const {
        std::int64_t rows = 0;
        for (std::size_t i = tree_.nodes()[leaf].begin; i < tree_.nodes()[leaf].end; ++i) {
            std::size_t point = tree_.order()[i];
            rows += is_inside(point, lo, hi) && listed.holds(points_[point]) ? points_.weights[point] : 0;
        }
        return rows;
    }

    Points points_;
    Box all_;
    KdTree tree_;
    std::vector<std::int64_t> rows_;  // of each node
};

}  // namespace kech
