// Holes of dimension 1 among boxes.  Pairs of points decide, and enter one at a time, the nearest first.
//
// The link of a pair are the points that are nearer to both of its ends than these are to each other.
//   empty link:            the pair joins two components or opens a hole; it is critical
//   c components, c > 1:   the pair may fill c - 1 holes, around the ways through two components
//   one component:         no hole changes; the pair is worth the way through a point of its link
// So holes are found by a reduction of few pairs, and most pairs are never looked at.
//
// Each pair is measured on its widest axis.  Points have ranks on every axis, where equal codes have some order too: of
// two pairs as wide, the one with fewer ranks between comes first.  Then a point between two others, on every axis, is
// nearer to any third than one of them.  All below follows from that, whatever the kind of the axis.
#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "kd_tree.hpp"
#include "spanning_tree.hpp"
#include "threads.hpp"

namespace kech {

using Place = std::int32_t;

// How far apart two points are; no two pairs are equally far.
struct PairLength {
    double width;
    std::int32_t ranks, axis, low;

    bool operator<(const PairLength& other) const {
        if (width != other.width) return width < other.width;
        if (ranks != other.ranks) return ranks < other.ranks;
        return axis != other.axis ? axis < other.axis : low < other.low;
    }
};

// A box of ranks, both ends included.
struct RankBox {
    std::array<Place, 16> lo, hi;
};

// Some points on some axes by their ranks, and a kd tree over them; a place is a point in the order of the tree.
class RankSpace {
  public:
    static constexpr std::size_t most_axes = std::tuple_size_v<decltype(RankBox::lo)>;

    RankSpace(const Points& points, const std::vector<std::int64_t>& chosen, const std::vector<std::size_t>& axes,
              const Widths& widths)
        : axes_(axes.size()), widths_(widths), used_(axes), ranks_(rank(points, chosen)),
          tree_(ranks_.data(), chosen.size(), axes_, [&](std::size_t j, Place lo, Place hi) { return width(j, lo, hi); }) {
        std::vector<Place> ordered;
        for (auto i : tree_.order()) ordered.insert(ordered.end(), &ranks_[i * axes_], &ranks_[i * axes_] + axes_);
        ranks_ = std::move(ordered);
    }

    std::size_t size() const { return tree_.order().size(); }
    std::size_t axes() const { return axes_; }
    const KdTree& tree() const { return tree_; }
    const Place* ranks(std::size_t p) const { return &ranks_[p * axes_]; }

    double width(std::size_t j, Place lo, Place hi) const {
        if (length_[j] > 0) return (position_[j][hi] - position_[j][lo]) / length_[j];
        Code a = code_[j][lo], b = code_[j][hi];
        return a == b ? 0.0 : widths_.width(used_[j], a, b);
    }

    // The distance of two places on one axis; of equal ones, the places between them, axis and lower place decide.
    PairLength side(std::size_t j, Place a, Place b) const {
        Place lo = std::min(a, b), hi = std::max(a, b);
        return {width(j, lo, hi), hi - lo, static_cast<std::int32_t>(j), lo};
    }

    PairLength length(std::size_t p, std::size_t q) const {
        PairLength longest = side(0, ranks(p)[0], ranks(q)[0]);
        for (std::size_t j = 1; j < axes_; ++j)
            if (auto here = side(j, ranks(p)[j], ranks(q)[j]); longest < here) longest = here;
        return longest;
    }

    // How near a point can be to anything in a node.
    double gap(std::size_t node, std::size_t p) const {
        const Code *lo = tree_.lo(node), *hi = tree_.hi(node);
        double widest = 0;
        for (std::size_t j = 0; j < axes_; ++j) {
            Place r = ranks(p)[j];
            if (r < lo[j]) widest = std::max(widest, width(j, r, lo[j]));
            else if (r > hi[j]) widest = std::max(widest, width(j, hi[j], r));
        }
        return widest;
    }

    // The farthest rank below and above another one that is nearer to it than a length.
    Place lowest(std::size_t j, Place from, const PairLength& length) const {
        Place out = -1, in = from;
        while (in - out > 1) (side(j, (in + out) / 2, from) < length ? in : out) = (in + out) / 2;
        return in;
    }
    Place highest(std::size_t j, Place from, const PairLength& length) const {
        Place in = from, out = static_cast<Place>(size());
        while (out - in > 1) (side(j, from, (in + out) / 2) < length ? in : out) = (in + out) / 2;
        return in;
    }

    // visit(place) for the points in a box, until it says that one is enough.
    template <class Visit>
    bool visit_box(const RankBox& box, const Visit& visit) const {
        const auto& nodes = tree_.nodes();
        for (std::size_t n = 0; n < nodes.size();) {
            if (!overlaps(box, n)) {
                n = nodes[n].after;
                continue;
            }
            if (tree_.is_leaf(n))
                for (std::size_t p = nodes[n].begin; p < nodes[n].end; ++p)
                    if (contains(box, p) && visit(p)) return true;
            ++n;
        }
        return false;
    }

    // The point of a box with the lowest or the highest rank on an axis, or -1.
    Place outermost(RankBox box, std::size_t axis, bool low) const {
        Place best = -1;
        descend(0, box, axis, low, best);
        return best;
    }

  private:
    std::vector<Place> rank(const Points& points, const std::vector<std::int64_t>& chosen) {
        std::vector<Place> ranks(chosen.size() * axes_);
        for (std::size_t j = 0; j < axes_; ++j) {
            auto order = count_up<std::int64_t>(chosen.size());
            auto code = [&](std::int64_t i) { return points[chosen[i]][used_[j]]; };
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return code(a) < code(b); });
            code_.emplace_back();
            position_.emplace_back();
            length_.push_back(widths_.is_plain(used_[j]) ? widths_.line(used_[j]).length : 0.0);
            for (std::size_t r = 0; r < order.size(); ++r) {
                ranks[order[r] * axes_ + j] = static_cast<Place>(r);
                code_[j].push_back(code(order[r]));
                if (length_[j] > 0) position_[j].push_back(widths_.line(used_[j]).left[code_[j][r]]);
            }
        }
        return ranks;
    }

    bool overlaps(const RankBox& box, std::size_t n) const {
        for (std::size_t j = 0; j < axes_; ++j)
            if (tree_.hi(n)[j] < box.lo[j] || tree_.lo(n)[j] > box.hi[j]) return false;
        return true;
    }
    bool contains(const RankBox& box, std::size_t p) const {
        for (std::size_t j = 0; j < axes_; ++j)
            if (ranks(p)[j] < box.lo[j] || ranks(p)[j] > box.hi[j]) return false;
        return true;
    }

    // The box shrinks to what would be further out.
    void descend(std::size_t n, RankBox& box, std::size_t axis, bool low, Place& best) const {
        if (!overlaps(box, n)) return;
        if (!tree_.is_leaf(n)) {
            std::size_t first = tree_.left(n), second = tree_.right(n);
            bool right_first = low ? tree_.lo(second)[axis] < tree_.lo(first)[axis] : tree_.hi(second)[axis] > tree_.hi(first)[axis];
            if (right_first) std::swap(first, second);
            descend(first, box, axis, low, best);
            descend(second, box, axis, low, best);
            return;
        }
        for (std::size_t p = tree_.nodes()[n].begin; p < tree_.nodes()[n].end; ++p)
            if (contains(box, p)) {
                best = static_cast<Place>(p);
                (low ? box.hi : box.lo)[axis] = ranks(p)[axis] + (low ? -1 : 1);
            }
    }

    std::size_t axes_;
    const Widths& widths_;
    std::vector<std::size_t> used_;
    std::vector<double> length_;  // of plain lines, otherwise 0
    std::vector<std::vector<double>> position_;
    std::vector<std::vector<Code>> code_;
    std::vector<Place> ranks_;
    KdTree tree_;
};

// Widths at which holes open, and at which they are filled.
struct Bars {
    std::vector<double> births, deaths;

    void add(double birth, double death) {
        births.push_back(birth);
        deaths.push_back(death);
    }
};

// A pair of points; where it is not critical, one point of each component of its link.
struct CriticalPair {
    PairLength length;
    Place from, to;
    std::vector<Place> ways;
};

// All pairs nearer than `end` whose link is empty or falls apart.
//
// An orthant of p are the points on one side of it on every axis.  Those of a link that are in one orthant are all near
// each other, so a link is as connected as its orthants.  Where the nearest points of all orthants are near, every
// longer pair of p has a connected link.
class CriticalPairs {
  public:
    CriticalPairs(const RankSpace& space, double end, unsigned threads)
        : space_(space), end_(end), threads_(threads), axes_(space.axes()), orthants_(std::size_t{1} << axes_),
          nearest_(space.size() * orthants_), reach_(space.size() * axes_ * 2) {}

    // In no order.
    std::vector<CriticalPair> run() {
        each_point([&](std::size_t p, std::vector<CriticalPair>&) { find_nearest(p); });
        return each_point([&](std::size_t p, std::vector<CriticalPair>& pairs) { search(p, pairs); });
    }

  private:
    template <class Work>
    std::vector<CriticalPair> each_point(const Work& work) const {
        constexpr std::size_t block = constants::point_task;
        std::vector<std::vector<CriticalPair>> parts((space_.size() + block - 1) / block);
        for_each(parts.size(), threads_, [&](std::size_t b, std::size_t) {
            for (std::size_t p = b * block; p < std::min((b + 1) * block, space_.size()); ++p) work(p, parts[b]);
        });
        std::vector<CriticalPair> all;
        for (auto& part : parts) std::move(part.begin(), part.end(), std::back_inserter(all));
        return all;
    }

    static bool is_above(std::size_t orthant, std::size_t axis) { return orthant >> axis & 1; }

    // In which orthant of p another point is.
    std::size_t orthant(std::size_t p, std::size_t q) const {
        std::size_t found = 0;
        for (std::size_t j = 0; j < axes_; ++j) found |= std::size_t{space_.ranks(q)[j] > space_.ranks(p)[j]} << j;
        return found;
    }

    Place nearest(std::size_t p, std::size_t orthant) const { return nearest_[p * orthants_ + orthant]; }

    // Pairs that have p at the lower (above: 0) or upper end of their widest axis and a connected link beyond this.
    double& reach(std::size_t p, std::size_t axis, bool above) { return reach_[(p * axes_ + axis) * 2 + above]; }

    // The nearest points of all orthants of p; -1 where there is none before the end.
    void find_nearest(std::size_t p) {
        for (std::size_t j = 0; j < 2 * axes_; ++j) reach_[p * axes_ * 2 + j] = 0;
        for (std::size_t o = 0; o < orthants_; ++o) {
            auto [place, width] = nearest_in(p, o);
            nearest_[p * orthants_ + o] = place;
            double beyond = place < 0 ? infinity : 2 * width * (1 + 1e-9);
            for (std::size_t j = 0; j < axes_; ++j) {
                double& here = reach(p, j, !is_above(o, j));
                here = std::max(here, beyond);
            }
        }
    }

    std::pair<Place, double> nearest_in(std::size_t p, std::size_t orthant) const {
        const KdTree& tree = space_.tree();
        Place best = -1;
        double width = end_;
        std::vector<std::pair<double, std::size_t>> open{{0.0, 0}};
        while (!open.empty()) {
            auto [near, n] = open.back();
            open.pop_back();
            if (near >= width) continue;
            if (tree.is_leaf(n)) {
                for (std::size_t q = tree.nodes()[n].begin; q < tree.nodes()[n].end; ++q)
                    if (q != p && this->orthant(p, q) == orthant)
                        if (double here = space_.length(p, q).width; here < width) best = static_cast<Place>(q), width = here;
                continue;
            }
            std::pair<double, std::size_t> close{0, tree.left(n)}, far{0, tree.right(n)};
            for (auto* child : {&close, &far})
                child->first = meets_orthant(child->second, p, orthant) ? space_.gap(child->second, p) : infinity;
            if (far.first < close.first) std::swap(far, close);
            if (far.first < width) open.push_back(far);
            if (close.first < width) open.push_back(close);
        }
        return {best, width};
    }

    bool meets_orthant(std::size_t n, std::size_t p, std::size_t orthant) const {
        for (std::size_t j = 0; j < axes_; ++j) {
            Place r = space_.ranks(p)[j];
            if (is_above(orthant, j) ? space_.tree().hi(n)[j] <= r : space_.tree().lo(n)[j] >= r) return false;
        }
        return true;
    }

    void search(std::size_t p, std::vector<CriticalPair>& pairs) {
        const KdTree& tree = space_.tree();
        double farthest = 0;
        for (std::size_t j = 0; j < axes_; ++j) farthest = std::max(farthest, reach(p, j, false));
        for (std::size_t n = 0; n < tree.nodes().size();) {
            double near = space_.gap(n, p);
            if (near >= end_ || near > farthest || is_beyond_nearest(n, p)) {
                n = tree.nodes()[n].after;
                continue;
            }
            if (tree.is_leaf(n))
                for (std::size_t q = tree.nodes()[n].begin; q < tree.nodes()[n].end; ++q)
                    if (q != p) judge(p, q, pairs);
            ++n;
        }
    }

    // Whether a nearest point of p is between p and every point of a node.
    bool is_beyond_nearest(std::size_t n, std::size_t p) const {
        const Code *lo = space_.tree().lo(n), *hi = space_.tree().hi(n);
        std::size_t orthant = 0;
        for (std::size_t j = 0; j < axes_; ++j) {
            Place r = space_.ranks(p)[j];
            if (lo[j] <= r && r <= hi[j]) return false;
            orthant |= std::size_t{lo[j] > r} << j;
        }
        Place v = nearest(p, orthant);
        if (v < 0) return false;
        for (std::size_t j = 0; j < axes_; ++j)
            if (is_above(orthant, j) ? lo[j] <= space_.ranks(v)[j] : hi[j] >= space_.ranks(v)[j]) return false;
        return true;
    }

    bool is_between(Place v, std::size_t p, std::size_t q) const {
        for (std::size_t j = 0; j < axes_; ++j) {
            auto [lo, hi] = std::minmax(space_.ranks(p)[j], space_.ranks(q)[j]);
            if (space_.ranks(v)[j] <= lo || space_.ranks(v)[j] >= hi) return false;
        }
        return true;
    }

    // Each pair belongs to its lower end on its widest axis.
    void judge(std::size_t p, std::size_t q, std::vector<CriticalPair>& pairs) {
        PairLength length = space_.length(p, q);
        std::size_t a = length.axis;
        if (space_.ranks(p)[a] > space_.ranks(q)[a] || length.width >= end_) return;
        if (length.width > reach(p, a, false) || length.width > reach(q, a, true)) return;
        if (is_between(nearest(p, orthant(p, q)), p, q) || is_between(nearest(q, orthant(q, p)), p, q)) return;
        if (is_plainly_connected(p, q, length)) return;
        auto ways = part_link(p, q, length);
        if (ways.size() != 1) pairs.push_back({length, static_cast<Place>(p), static_cast<Place>(q), std::move(ways)});
    }

    // Whether the nearest points of p are in the link, in every orthant that can hold one of its points, and near the first.
    bool is_plainly_connected(std::size_t p, std::size_t q, const PairLength& length) const {
        Place first = -1;
        for (std::size_t o = 0; o < orthants_; ++o) {
            if (!is_above(o, length.axis)) continue;
            Place v = nearest(p, o);
            if (v < 0 || length.width < space_.length(p, v).width) continue;
            if (!(space_.length(p, v) < length) || !(space_.length(q, v) < length)) return false;
            if (first < 0) first = v;
            else if (!(space_.length(first, v) < length)) return false;
        }
        return first >= 0;
    }

    // The points of a link in one orthant of p; on each axis, the one nearest to p.
    struct Part {
        std::size_t orthant;
        RankBox box;
        std::array<Place, RankSpace::most_axes> inner;
    };

    // One point of each component of the link of a pair.
    std::vector<Place> part_link(std::size_t p, std::size_t q, const PairLength& length) const {
        std::vector<Part> parts = split_link(p, q, length);
        UnionFind<> sets(parts.size());
        for (bool is_close : {true, false})
            for (std::size_t i = 0; i < parts.size(); ++i)
                for (std::size_t k = 0; k < i; ++k) {
                    std::size_t apart = parts[i].orthant ^ parts[k].orthant;
                    if (std::has_single_bit(apart) != is_close || sets.find(i) == sets.find(k)) continue;
                    if (meet(parts[i], parts[k], apart, length)) sets.join(i, k);
                }
        std::vector<Place> best(parts.size(), -1), ways;
        for (std::size_t i = 0; i < parts.size(); ++i)
            for (std::size_t j = 0; j < axes_; ++j)
                if (auto& way = best[sets.find(i)]; j != static_cast<std::size_t>(length.axis))
                    if (Place v = parts[i].inner[j]; way < 0 || detour(p, q, v) < detour(p, q, way)) way = v;
        for (Place way : best)
            if (way >= 0) ways.push_back(way);
        return ways;
    }

    PairLength detour(std::size_t p, std::size_t q, Place v) const {
        return std::max(space_.length(p, v), space_.length(q, v));
    }

    std::vector<Part> split_link(std::size_t p, std::size_t q, const PairLength& length) const {
        std::size_t a = length.axis;
        RankBox link;
        for (std::size_t j = 0; j < axes_; ++j) {
            auto [lo, hi] = std::minmax(space_.ranks(p)[j], space_.ranks(q)[j]);
            link.lo[j] = j == a ? lo + 1 : space_.lowest(j, hi, length);
            link.hi[j] = j == a ? hi - 1 : space_.highest(j, lo, length);
        }
        std::vector<Part> parts;
        for (std::size_t o = 0; o < orthants_; ++o) {
            Place v = nearest(p, o);
            if (!is_above(o, a) || v < 0 || length.width < space_.length(p, v).width) continue;
            Part part{o, link, {}};
            for (std::size_t j = 0; j < axes_; ++j)
                if (is_above(o, j)) part.box.lo[j] = std::max(link.lo[j], space_.ranks(p)[j] + 1);
                else part.box.hi[j] = std::min(link.hi[j], space_.ranks(p)[j] - 1);
            if (find_inner(part, a)) parts.push_back(part);
        }
        return parts;
    }

    // Whether there is a point in a part at all.
    bool find_inner(Part& part, std::size_t widest) const {
        for (std::size_t j = 0; j < axes_; ++j)
            if (j != widest)
                if ((part.inner[j] = space_.outermost(part.box, j, is_above(part.orthant, j))) < 0) return false;
        return true;
    }

    // Whether a point of one part is near a point of another; only the axes on which their orthants differ count.
    bool meet(const Part& one, const Part& other, std::size_t apart, const PairLength& length) const {
        for (std::size_t j = 0; j < axes_; ++j)
            if (apart >> j & 1)
                if (!(space_.side(j, space_.ranks(one.inner[j])[j], space_.ranks(other.inner[j])[j]) < length)) return false;
        if (std::has_single_bit(apart)) return true;
        return space_.visit_box(one.box, [&](std::size_t x) {
            RankBox near = other.box;
            for (std::size_t j = 0; j < axes_; ++j)
                if (apart >> j & 1) {
                    near.lo[j] = std::max(near.lo[j], space_.lowest(j, space_.ranks(x)[j], length));
                    near.hi[j] = std::min(near.hi[j], space_.highest(j, space_.ranks(x)[j], length));
                }
            return space_.visit_box(near, [](std::size_t) { return true; });
        });
    }

    const RankSpace& space_;
    double end_;
    unsigned threads_;
    std::size_t axes_, orthants_;
    std::vector<Place> nearest_;
    std::vector<double> reach_;
};

// A number of a list with its factor, which is not 0 modulo a prime.
struct Term {
    std::int32_t index;
    std::int32_t factor;

    bool operator>(const Term& other) const { return index > other.index; }
};
using Sum = std::vector<Term>;

// A sum in the making: the term with the smallest index is at hand.
class GrowingSum {
  public:
    explicit GrowingSum(std::int32_t prime) : prime_(prime) {}

    void add(const Sum& terms, std::int64_t times) {
        for (Term term : terms) {
            terms_.push_back({term.index, static_cast<std::int32_t>(term.factor * times % prime_)});
            std::push_heap(terms_.begin(), terms_.end(), std::greater<>());
        }
    }

    // The first term, taken out; nothing where none is left.
    std::optional<Term> take() {
        while (!terms_.empty()) {
            Term first{terms_.front().index, 0};
            while (!terms_.empty() && terms_.front().index == first.index) {
                first.factor = (first.factor + terms_.front().factor) % prime_;
                std::pop_heap(terms_.begin(), terms_.end(), std::greater<>());
                terms_.pop_back();
            }
            if (first.factor) return first;
        }
        return {};
    }

    // All terms, ascending; nothing is left.
    Sum take_all() {
        Sum all;
        while (auto term = take()) all.push_back(*term);
        return all;
    }

  private:
    std::int32_t prime_;
    Sum terms_;
};

// Which critical pair opens the hole that a way around two components of a link fills, modulo a prime.
//
// Every such way is written as a sum of critical pairs.  Then the pairs are reduced, the youngest first, each to the
// first way that it is a part of (persistent cohomology); those that join two components open no hole.
class HoleReduction {
  public:
    HoleReduction(const RankSpace& space, std::vector<CriticalPair> pairs, double end, std::int64_t prime)
        : space_(space), end_(end), prime_(static_cast<std::int32_t>(prime)) {
        std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.length < b.length; });
        for (const auto& pair : pairs)
            if (pair.ways.empty()) {
                critical_.emplace(name(pair.from, pair.to), static_cast<std::int32_t>(births_.size()));
                births_.push_back(pair.length.width);
            }
        parts_of_.resize(births_.size());
        find_joins(pairs);
        for (const auto& pair : pairs)
            for (std::size_t i = 1; i < pair.ways.size(); ++i) add_way(pair, pair.ways[i]);
    }

    // Holes that are open at the end are filled there.
    void run(Bars& bars) {
        std::unordered_map<std::int32_t, Sum> owners;
        for (std::size_t i = births_.size(); i-- > 0;) {
            if (joins_[i]) continue;
            GrowingSum sum(prime_);
            sum.add(parts_of_[i], 1);
            Sum().swap(parts_of_[i]);
            auto first = sum.take();
            for (; first; first = sum.take()) {
                auto owner = owners.find(first->index);
                if (owner == owners.end()) break;
                std::int64_t times = (prime_ - first->factor) * invert(owner->second.front().factor) % prime_;
                sum.add({owner->second.begin() + 1, owner->second.end()}, times);
            }
            double death = first ? deaths_[first->index] : end_;
            if (births_[i] < death) bars.add(births_[i], death);
            if (!first) continue;
            Sum reduced = sum.take_all();
            reduced.insert(reduced.begin(), *first);
            owners.emplace(first->index, std::move(reduced));
        }
    }

  private:
    struct Pair {
        PairLength length;
        Place from, to;
        std::int64_t factor;

        bool operator<(const Pair& other) const { return length < other.length; }
    };

    static std::uint64_t name(Place from, Place to) {
        auto [lo, hi] = std::minmax(from, to);
        return static_cast<std::uint64_t>(lo) << 32 | static_cast<std::uint32_t>(hi);
    }

    void find_joins(const std::vector<CriticalPair>& pairs) {
        UnionFind<> sets(space_.size());
        for (const auto& pair : pairs)
            if (pair.ways.empty()) joins_.push_back(sets.join(pair.from, pair.to));
    }

    // The way from one end through the first component to the other end and back through another component.
    void add_way(const CriticalPair& pair, Place way) {
        std::vector<Pair> open;
        add(open, pair.from, pair.ways[0], 1), add(open, pair.ways[0], pair.to, 1);
        add(open, pair.to, way, 1), add(open, way, pair.from, 1);
        auto number = static_cast<std::int32_t>(deaths_.size());
        while (!open.empty()) {
            Pair longest = take_longest(open);
            if (!longest.factor) continue;
            auto known = critical_.find(name(longest.from, longest.to));
            if (known == critical_.end()) {
                Place between = find_between(longest);
                add(open, longest.from, between, longest.factor), add(open, between, longest.to, longest.factor);
            } else if (!joins_[known->second]) {
                parts_of_[known->second].push_back({number, static_cast<std::int32_t>(longest.factor)});
            }
        }
        deaths_.push_back(pair.length.width);
    }

    void add(std::vector<Pair>& open, Place from, Place to, std::int64_t factor) const {
        if (from > to) std::swap(from, to), factor = prime_ - factor;
        open.push_back({space_.length(from, to), from, to, factor % prime_});
        std::push_heap(open.begin(), open.end());
    }

    // With its factor, which may be 0.
    Pair take_longest(std::vector<Pair>& open) const {
        Pair longest = open.front();
        longest.factor = 0;
        while (!open.empty() && !(open.front() < longest)) {
            longest.factor = (longest.factor + open.front().factor) % prime_;
            std::pop_heap(open.begin(), open.end());
            open.pop_back();
        }
        return longest;
    }

    std::int64_t invert(std::int64_t factor) const {
        std::int64_t inverse = 1;
        for (std::int64_t power = prime_ - 2; power > 0; --power) inverse = inverse * factor % prime_;
        return inverse;
    }

    // The point of the link of a pair through which the way is shortest.
    Place find_between(const Pair& pair) {
        auto [known, is_new] = between_.try_emplace(name(pair.from, pair.to), -1);
        Place& best = known->second;
        if (!is_new) return best;
        const KdTree& tree = space_.tree();
        PairLength shortest = pair.length;
        for (std::size_t n = 0; n < tree.nodes().size();) {
            double near = std::max(space_.gap(n, pair.from), space_.gap(n, pair.to));
            if (near > shortest.width || (near == shortest.width && best >= 0)) {
                n = tree.nodes()[n].after;
                continue;
            }
            if (tree.is_leaf(n))
                for (std::size_t v = tree.nodes()[n].begin; v < tree.nodes()[n].end; ++v) {
                    if (static_cast<Place>(v) == pair.from || static_cast<Place>(v) == pair.to) continue;
                    PairLength here = std::max(space_.length(pair.from, v), space_.length(pair.to, v));
                    if (here < shortest) shortest = here, best = static_cast<Place>(v);
                }
            ++n;
        }
        return best;
    }

    const RankSpace& space_;
    double end_;
    std::int32_t prime_;
    std::unordered_map<std::uint64_t, std::int32_t> critical_;  // their numbers, the shortest first
    std::unordered_map<std::uint64_t, Place> between_;
    std::vector<bool> joins_;
    std::vector<double> births_, deaths_;  // of critical pairs, of ways
    std::vector<Sum> parts_of_;            // for each critical pair, the ways that it is a part of
};

// -- parts that meet no earlier than everything -----------------------------------------------------------------

// The width at which some point reaches all others, and nothing is open.
inline double find_end(const Points& points, const Widths& widths) {
    Box all(points.axes);
    for (std::size_t i = 0; i < points.count; ++i) all.cover(points[i]);
    double end = infinity;
    for (std::size_t i = 0; i < points.count; ++i) {
        double farthest = 0;
        for (std::size_t j = 0; j < points.axes; ++j)
            for (Code other : {all.lo[j], all.hi[j]})
                if (other != points[i][j]) farthest = std::max(farthest, widths.between(j, other, points[i][j]));
        end = std::min(end, farthest);
    }
    return end;
}

// For each point and axis, the number of gaps below it that are as wide as the end.
inline std::vector<Code> count_gaps(const Points& points, const Widths& widths, double end) {
    std::vector<Code> below(points.count * points.axes);
    for (std::size_t j = 0; j < points.axes; ++j) {
        std::vector<Code> gaps(widths.codes(j), -1);
        for (std::size_t i = 0; i < points.count; ++i) gaps[points[i][j]] = 0;
        Code last = -1, count = 0;
        for (Code code = 0; code < static_cast<Code>(gaps.size()); ++code) {
            if (gaps[code] < 0) continue;
            if (last >= 0 && widths.width(j, last, code) >= end) ++count;
            gaps[code] = count;
            last = code;
        }
        for (std::size_t i = 0; i < points.count; ++i) below[i * points.axes + j] = gaps[points[i][j]];
    }
    return below;
}

// Axes on which some points are not all equal.
inline std::vector<std::size_t> find_varying_axes(const Points& points, const std::vector<std::int64_t>& chosen) {
    std::vector<std::size_t> axes;
    for (std::size_t j = 0; j < points.axes; ++j)
        if (std::any_of(chosen.begin(), chosen.end(), [&](auto i) { return points[i][j] != points[chosen[0]][j]; }))
            axes.push_back(j);
    return axes;
}

// Widths at which holes of dimension 1 open and are filled, without those filled at once, in no order.
inline Bars find_box_holes(const Points& points, const Widths& widths, std::int64_t prime, unsigned threads) {
    double end = find_end(points, widths);
    auto below = count_gaps(points, widths, end);
    auto part = [&](std::int64_t i) { return std::span(&below[i * points.axes], points.axes); };
    auto order = count_up<std::int64_t>(points.count);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return std::ranges::lexicographical_compare(part(a), part(b)); });
    Bars bars;
    for (std::size_t start = 0, stop = 0; start < points.count; start = stop) {
        while (stop < points.count && std::ranges::equal(part(order[start]), part(order[stop]))) ++stop;
        std::vector<std::int64_t> chosen(order.begin() + start, order.begin() + stop);
        auto axes = find_varying_axes(points, chosen);
        if (axes.size() < 2 || chosen.size() < 4) continue;
        if (axes.size() > RankSpace::most_axes) throw std::invalid_argument("boxes have holes on few axes only");
        RankSpace space(points, chosen, axes, widths);
        HoleReduction(space, CriticalPairs(space, end, threads).run(), end, prime).run(bars);
    }
    return bars;
}

}  // namespace kech
