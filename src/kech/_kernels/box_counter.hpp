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
        for (std::size_t j = 0; j < points_.axes && points_.count > 0; ++j) lists_.push_back(list_codes(j));
    }

    // Rows in each box, people where points have persons, or any number above `enough`.  Each box may list codes.
    std::vector<std::int64_t> count(const Code* lo, const Code* hi, std::size_t boxes, std::int64_t enough,
                                    Listed listed) const {
        std::vector<std::int64_t> rows;
        std::size_t axes = points_.axes;
        for (std::size_t i = 0; i < boxes; ++i, listed.codes += listed.axis.size()) {
            const Code *low = lo + i * axes, *high = hi + i * axes;
            rows.push_back(points_.person.empty() ? count_rows(low, high, enough, listed)
                                                  : count_people(low, high, enough, listed));
        }
        return rows;
    }

  private:
    // The points by their codes on one axis; none where codes lie far apart.
    struct CodeList {
        std::vector<std::uint32_t> points;
        std::vector<std::size_t> starts;  // of each code, from the first one on
        std::int64_t first, last;

        bool is_empty() const { return starts.empty(); }

        std::span<const std::uint32_t> between(Code lo, Code hi) const {
            std::int64_t low = std::max<std::int64_t>(lo, first), high = std::min<std::int64_t>(hi, last);
            if (low > high) return {};
            return {points.data() + starts[low - first], starts[high - first + 1] - starts[low - first]};
        }
    };

    CodeList list_codes(std::size_t j) const {
        CodeList list{{}, {}, all_.lo[j], all_.hi[j]};
        if (list.last - list.first > static_cast<std::int64_t>(points_.count)) return list;
        list.starts.assign(list.last - list.first + 2, 0);
        for (std::size_t i = 0; i < points_.count; ++i) ++list.starts[points_[i][j] - list.first + 1];
        std::partial_sum(list.starts.begin(), list.starts.end(), list.starts.begin());
        std::vector<std::size_t> next(list.starts.begin(), list.starts.end() - 1);
        list.points.resize(points_.count);
        for (std::size_t i = 0; i < points_.count; ++i)
            list.points[next[points_[i][j] - list.first]++] = static_cast<std::uint32_t>(i);
        return list;
    }

    // The axis on which the fewest points are within the box decides how they are counted.
    std::int64_t count_rows(const Code* lo, const Code* hi, std::int64_t enough, const Listed& listed) const {
        std::span<const std::uint32_t> fewest;
        bool any = false;
        for (std::size_t j = 0; j < lists_.size(); ++j) {
            if (lists_[j].is_empty()) continue;
            auto here = lists_[j].between(lo[j], hi[j]);
            if (!any || here.size() < fewest.size()) fewest = here;
            any = true;
        }
        if (!any || fewest.size() > constants::listed_points) return count(lo, hi, enough, listed);
        std::int64_t rows = 0;
        for (std::size_t i = 0; i < fewest.size() && rows <= enough; ++i)
            rows += holds(lo, hi, listed, fewest[i]) ? points_.weights[fewest[i]] : 0;
        return rows;
    }

    bool holds(const Code* lo, const Code* hi, const Listed& listed, std::size_t i) const {
        const Code* point = points_[i];
        for (std::size_t j = 0; j < points_.axes; ++j)
            if (point[j] < lo[j] || point[j] > hi[j]) return false;
        return listed.holds(point);
    }

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
            if (!holds(lo, hi, listed, point)) continue;
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
            rows += holds(lo, hi, listed, point) ? points_.weights[point] : 0;
        }
        return rows;
    }

    Points points_;
    Box all_;
    KdTree tree_;
    std::vector<std::int64_t> rows_;  // of each node
    std::vector<CodeList> lists_;     // of each axis
};

}  // namespace kech
