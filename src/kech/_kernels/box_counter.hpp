// How many rows, or different people, lie in each of many boxes.
#pragma once

#include "kd_tree.hpp"

namespace kech {

// Of some axes, the codes that a box holds; all codes between its corners where it lists none.
struct Listed {
    const Code* codes = nullptr;  // ascending, then -1
    std::span<const std::int64_t> axis;  // of each of these codes, in blocks

    // The point has the code code_on(axis) on each axis.
    template <class CodeOn>
    bool holds(const CodeOn& code_on) const {
        for (std::size_t i = 0; i < axis.size();) {
            std::size_t start = i;
            bool found = codes[start] < 0;
            for (; i < axis.size() && axis[i] == axis[start]; ++i) found |= codes[i] == code_on(axis[start]);
            if (!found) return false;
        }
        return true;
    }

    // No point outside the first and the last of them is held.
    void narrow(Box& box) const {
        for (std::size_t i = 0; i < axis.size();) {
            std::size_t start = i, j = axis[start];
            Code last = codes[start];
            for (; i < axis.size() && axis[i] == axis[start]; ++i) last = std::max(last, codes[i]);
            if (last < 0) continue;
            box.lo[j] = std::max(box.lo[j], codes[start]);
            box.hi[j] = std::min(box.hi[j], last);
        }
    }
};

// Rows that were counted, or different people; whoever is no known person counts as many times as there are rows.
class Tally {
  public:
    void add(std::int64_t rows, Person person) {
        if (person < 0) {
            count_ += rows;
        } else if (std::find(seen_.begin(), seen_.end(), person) == seen_.end()) {
            seen_.push_back(person);
            ++count_;
        }
    }

    void clear() { count_ = 0, seen_.clear(); }
    std::int64_t count() const { return count_; }

  private:
    std::int64_t count_ = 0;
    std::vector<Person> seen_;
};

// Points stand in the order of a tree, so that those of a box lie near each other in memory.
class BoxCounter {
  public:
    explicit BoxCounter(const Points& points) : axes_(points.axes), all_(points.axes), tree_(build(points)) {
        for (std::int64_t i : tree_.order()) {
            weights_.push_back(points.weights[i]);
            if (!points.person.empty()) person_.push_back(points.person[i]);
        }
        for (std::size_t j = 0; j < axes_; ++j)
            for (std::int64_t i : tree_.order()) codes_.push_back(points[i][j]);
        for (const auto& node : tree_.nodes())
            rows_.push_back(std::accumulate(&weights_[node.begin], weights_.data() + node.end, std::int64_t{0}));
        for (std::size_t j = 0; j < axes_ && points.count > 0; ++j) lists_.push_back(list_codes(j));
    }

    std::size_t axes() const { return axes_; }

    // Rows in each box, people where points have persons, or any number above `enough`.  Each box may list codes.
    std::vector<std::int64_t> count(const Code* lo, const Code* hi, std::size_t boxes, std::int64_t enough,
                                    const Listed& listed) const {
        std::vector<std::int64_t> found;
        Query query{Box(axes_), listed, enough, {}};
        for (std::size_t b = 0; b < boxes; ++b, lo += axes_, hi += axes_, query.listed.codes += listed.axis.size()) {
            query.box.lo.assign(lo, lo + axes_);
            query.box.hi.assign(hi, hi + axes_);
            query.listed.narrow(query.box);
            query.tally.clear();
            count(query);
            found.push_back(query.tally.count());
        }
        return found;
    }

  private:
    struct Query {
        Box box;
        Listed listed;
        std::int64_t enough;
        Tally tally;

        bool is_over() const { return tally.count() > enough; }
    };

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
        if (list.last - list.first > static_cast<std::int64_t>(weights_.size())) return list;
        list.starts.assign(list.last - list.first + 2, 0);
        for (std::size_t i = 0; i < weights_.size(); ++i) ++list.starts[code(i, j) - list.first + 1];
        std::partial_sum(list.starts.begin(), list.starts.end(), list.starts.begin());
        std::vector<std::size_t> next(list.starts.begin(), list.starts.end() - 1);
        list.points.resize(weights_.size());
        for (std::size_t i = 0; i < weights_.size(); ++i)
            list.points[next[code(i, j) - list.first]++] = static_cast<std::uint32_t>(i);
        return list;
    }

    // Sides are measured in shares of the box around all points: there are no widths here.
    KdTree build(const Points& points) {
        for (std::size_t i = 0; i < points.count; ++i) all_.cover(points[i]);
        return {points.codes, points.count, points.axes, [&](std::size_t j, Code lo, Code hi) {
                    return (double{1} * hi - lo) / (double{1} * all_.hi[j] - all_.lo[j] + 1.0);
                }};
    }

    // The two axes on which the fewest points are within the box decide how they are counted.
    void count(Query& query) const {
        std::span<const std::uint32_t> fewest;
        std::size_t axis = axes_, next = axes_, next_size = 0;
        for (std::size_t j = 0; j < lists_.size(); ++j) {
            if (lists_[j].is_empty()) continue;
            auto here = lists_[j].between(query.box.lo[j], query.box.hi[j]);
            if (axis == axes_ || here.size() < fewest.size()) {
                next = axis, next_size = fewest.size();
                axis = j, fewest = here;
            } else if (next == axes_ || here.size() < next_size) {
                next = j, next_size = here.size();
            }
        }
        if (axis == axes_ || fewest.size() > constants::listed_points * axes_ * axes_) return walk(query);
        if (next == axes_) next = axis;
        const Code* codes = codes_.data() + next * weights_.size();
        Code lo = query.box.lo[next], hi = query.box.hi[next];
        for (std::size_t i = 0; i < fewest.size() && !query.is_over(); ++i)
            if (codes[fewest[i]] >= lo && codes[fewest[i]] <= hi) add_point(query, fewest[i]);
    }

    // Rows of a node that lies within the box add up; people do not, nor do rows where codes are listed.
    void walk(Query& query) const {
        bool adds_up = query.listed.axis.empty() && person_.empty();
        const Box& box = query.box;
        for (std::size_t at = 0; at < rows_.size() && !query.is_over();) {
            const Code *low = tree_.lo(at), *high = tree_.hi(at);
            bool apart = false, within = adds_up;
            for (std::size_t j = 0; j < axes_; ++j) {
                apart |= high[j] < box.lo[j] || low[j] > box.hi[j];
                within &= low[j] >= box.lo[j] && high[j] <= box.hi[j];
            }
            const auto& node = tree_.nodes()[at];
            if (!apart && !within && !tree_.is_leaf(at)) {
                ++at;
                continue;
            }
            if (within) query.tally.add(rows_[at], -1);
            else if (!apart)
                for (std::size_t i = node.begin; i < node.end; ++i) add_point(query, i);
            at = node.after;
        }
    }

    void add_point(Query& query, std::size_t i) const {
        for (std::size_t j = 0; j < axes_; ++j)
            if (code(i, j) < query.box.lo[j] || code(i, j) > query.box.hi[j]) return;
        if (query.listed.holds([&](std::size_t j) { return code(i, j); }))
            query.tally.add(weights_[i], person_.empty() ? -1 : person_[i]);
    }

    Code code(std::size_t i, std::size_t j) const { return codes_[j * weights_.size() + i]; }

    std::size_t axes_;
    Box all_;
    KdTree tree_;
    std::vector<Code> codes_;  // of all points on the first axis, on the second, ...
    std::vector<std::int64_t> weights_;
    std::vector<Person> person_;      // none where every row is another person
    std::vector<std::int64_t> rows_;  // of each node
    std::vector<CodeList> lists_;     // of each axis
};

}  // namespace kech
