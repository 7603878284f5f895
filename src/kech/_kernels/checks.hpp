// Checks of what comes in: arrays that fit together, codes that are on their axes, numbers that can be counted with.
// Kernels index by codes and points and trust them; what is refused here would be a fault in there.
#pragma once

#include <cmath>
#include <span>
#include <stdexcept>

#include "blake2b.hpp"
#include "goals.hpp"
#include "lattice.hpp"
#include "merge_tree.hpp"
#include "suppression.hpp"

namespace kech {

constexpr std::int64_t most_rows = std::int64_t{1} << 53;   // beyond it a double does not count row by row
constexpr std::size_t most_points = 0xfffffffe;             // numbered with 32 bits
constexpr std::int64_t most_classes = std::int64_t{1} << 28;  // held at one time
constexpr std::size_t most_levels = 255;                    // of an axis: numbered with 8 bits
constexpr std::size_t most_nodes = std::size_t{1} << 31;    // of a lattice
constexpr std::size_t most_bound = std::size_t{1} << 31;    // of class sizes that are counted one by one
constexpr double most_width = 1 + 1e-9;                     // of a range, in lengths of its axis
constexpr double most_weight = 1e6;                         // of an axis in the variance
constexpr double farthest_place = 1e150;                    // of a point of a ball: squares are finite

inline void require(bool holds, const char* otherwise) {
    if (!holds) throw std::invalid_argument(otherwise);
}

inline bool is_finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

// As many as make sense; what is computed never depends on it.
inline unsigned clamp_threads(unsigned threads) { return std::clamp(threads, 1u, 256u); }

// -- widths ---------------------------------------------------------------------------------------------------

inline void check_line(std::span<const double> left, std::span<const double> right, double length, double cap, Code null) {
    require(left.size() == right.size(), "a line has as many left ends as right ends");
    require(left.size() <= static_cast<std::size_t>(std::numeric_limits<Code>::max()), "a line has too many codes");
    require(is_finite(left) && is_finite(right), "the ends of a line are finite");
    require(std::isfinite(length) && length > 0, "the length of a line is finite and more than nothing");
    require(cap >= 0, "the cap of a line is a number, 0 or more");
    auto codes = static_cast<Code>(left.size());
    require(null == -1 || null == codes - 1, "NULL is the last code, or -1");
    auto values = static_cast<std::size_t>(null < 0 ? codes : null);
    for (std::size_t i = 0; i < values; ++i) {
        require(left[i] <= right[i], "a code ends where it begins or later");
        require(i == 0 || (left[i - 1] <= left[i] && right[i - 1] <= right[i]), "codes ascend along their line");
    }
    if (values > 0)
        require((right[values - 1] - left[0]) / length <= most_width, "a line is as long as its codes reach");
}

inline void check_tree(std::span<const double> single, std::span<const double> gaps) {
    require(gaps.size() == (single.empty() ? 0 : single.size() - 1), "a tree has a gap between each two leaves");
    auto is_width = [](double w) { return w >= 0 && w <= most_width; };
    require(std::all_of(single.begin(), single.end(), is_width) && std::all_of(gaps.begin(), gaps.end(), is_width),
            "the widths of a tree are between 0 and 1");
    for (std::size_t i = 0; i < gaps.size(); ++i)
        require(std::max(single[i], single[i + 1]) <= gaps[i], "two leaves are as wide as each of them, or wider");
}

inline void check_loose(const Widths& widths, std::size_t axis, std::span<const double> left, std::span<const double> right,
                        double narrow) {
    require(axis < widths.axes() && widths.is_line(axis), "only a line is loosened");
    require(left.size() == widths.codes(axis) && right.size() == left.size(), "every code has loose ends");
    require(is_finite(left) && is_finite(right) && !std::isnan(narrow), "loose ends are finite");
}

inline void check_abridged(const Widths& widths, std::span<const double> printed) {
    require(widths.axes() > 0 && widths.is_line(widths.axes() - 1), "only a line is abridged");
    require(printed.size() == widths.codes(widths.axes() - 1), "every code has a place in the list");
    require(is_finite(printed) && std::is_sorted(printed.begin(), printed.end()), "places ascend along the list");
}

inline void check_range(const Widths& widths, std::size_t axis, Code lo, Code hi) {
    require(axis < widths.axes(), "there is no such axis");
    require(0 <= lo && lo <= hi && static_cast<std::size_t>(hi) < widths.codes(axis), "there is no such range of codes");
}

// -- points ---------------------------------------------------------------------------------------------------

struct Grid {
    const Code* data;
    std::size_t rows, columns;
};

inline void check_codes(const Grid& codes, const Widths& widths) {
    require(codes.columns == widths.axes() && codes.columns > 0, "a point has a code on each axis, and there is an axis");
    require(codes.rows <= most_points, "there are too many points");
    std::vector<std::size_t> most;
    for (std::size_t j = 0; j < codes.columns; ++j) most.push_back(widths.codes(j));
    for (std::size_t i = 0; i < codes.rows; ++i)
        for (std::size_t j = 0; j < codes.columns; ++j) {
            Code code = codes.data[i * codes.columns + j];
            require(code >= 0 && static_cast<std::size_t>(code) < most[j], "a code is not on its axis");
        }
}

// All rows; every entry has one or more.
inline std::int64_t sum_rows(std::span<const std::int64_t> rows) {
    std::int64_t total = 0;
    for (std::int64_t some : rows) {
        require(some >= 1 && some <= most_rows - total, "a point has a row or more, and all have less than 2^53");
        total += some;
    }
    return total;
}

inline std::int64_t check_points(const Grid& codes, std::span<const std::int64_t> weights, const Widths& widths) {
    require(weights.size() == codes.rows, "there are as many weights as points");
    check_codes(codes, widths);
    return sum_rows(weights);
}

inline void check_person(std::span<const Person> person) {
    require(std::all_of(person.begin(), person.end(), [](Person who) { return who >= -1; }), "a person is -1 or more");
}

// Every row of a point is in one of its units.
inline void check_units(const Units& units, std::span<const std::int64_t> weights) {
    require(units.place.size() == units.person.size() && units.place.size() == units.rows.size(),
            "every unit has a point, a person and rows");
    check_person(units.person);
    sum_rows(units.rows);
    std::vector<std::int64_t> left(weights.begin(), weights.end());
    for (std::size_t i = 0; i < units.place.size(); ++i) {
        require(0 <= units.place[i] && static_cast<std::size_t>(units.place[i]) < left.size(), "units are of points");
        left[units.place[i]] -= units.rows[i];
    }
    require(std::all_of(left.begin(), left.end(), [](auto rows) { return rows == 0; }), "units hold all rows of a point");
}

// All people; without persons, every row is another one.
inline std::int64_t check_people(std::span<const Person> person, std::span<const std::int64_t> weights) {
    check_person(person);
    PeopleCounter people(person);
    for (std::size_t p = 0; p < weights.size(); ++p) people.add({static_cast<std::int64_t>(p), weights[p]});
    return people.people();
}

inline void check_k(std::int64_t k, std::int64_t people) {
    require(k >= 1 && k <= people, "k is 1 or more, and there are k people; without persons, every row is another one");
}

// Classes that are made one by one, of k rows each.
inline void check_classes(std::int64_t k, std::int64_t rows) {
    require(rows / k <= most_classes, "there are too many classes");
}

inline void check_ks(std::span<const std::int64_t> ks, std::int64_t people) {
    require(!ks.empty(), "there is a k");
    for (std::int64_t k : ks) check_k(k, people);
    require(std::is_sorted(ks.begin(), ks.end()), "ks ascend");
}

inline void check_limits(std::span<const double> limits, std::size_t ks, std::size_t nodes) {
    require(limits.size() == ks, "there is a limit for each k");
    for (double limit : limits) require(!std::isnan(limit), "a limit is a number");
    require(nodes <= most_nodes, "there are too many nodes");
}

inline void check_reach(std::int64_t k, double reach, double most_pairs) {
    require(k >= 1 && k <= most_rows, "k is 1 or more");
    require(reach >= 0 && most_pairs >= 0, "a reach and a number of pairs are 0 or more");
}

// Points whose codes need not be on an axis.
inline void check_boxes(const Grid& codes, std::span<const std::int64_t> weights) {
    require(weights.size() == codes.rows, "there are as many weights as points");
    require(codes.columns > 0 && codes.rows <= most_points, "a point has a code, and there are not too many");
    sum_rows(weights);
}

inline void check_corners(const Grid& lo, const Grid& hi, std::size_t axes) {
    require(lo.rows == hi.rows && lo.columns == axes && hi.columns == axes, "a box has two corners with a code on each axis");
}

inline void check_listed(const Grid& listed, std::span<const std::int64_t> axis, std::size_t boxes, std::size_t axes) {
    require(listed.rows == boxes && listed.columns == axis.size(), "each box lists codes of the same axes");
    for (std::int64_t j : axis) require(j >= 0 && static_cast<std::size_t>(j) < axes, "codes of an axis are listed");
}

inline void check_order(std::span<const std::int64_t> order, std::size_t points) {
    require(order.size() == points, "an order holds every point");
    std::vector<bool> seen(points, false);
    for (std::int64_t p : order) {
        require(p >= 0 && static_cast<std::size_t>(p) < points && !seen[p], "an order holds every point once");
        seen[p] = true;
    }
}

// Rows and values below marks, with both ends of their line, never fall.
inline void check_marks(std::span<const std::int64_t> rows, std::span<const std::int64_t> values,
                        std::span<const std::int64_t> ranks) {
    require(rows.size() == ranks.size() + 2 && values.size() == rows.size(), "every mark and both ends have rows and values");
    for (auto counts : {rows, values}) {
        require(counts.front() >= 0 && counts.back() <= most_rows, "rows and values are counted from 0 to 2^53");
        require(std::is_sorted(counts.begin(), counts.end()), "rows and values below marks never fall");
    }
}

// Shares ascend by class; every class has k people, and no point twice.  All rows.
inline std::int64_t check_shares(const Shares& share, std::size_t points, std::int64_t k,
                                 std::span<const Person> person = {}) {
    require(share.point.size() == share.group.size() && share.point.size() == share.rows.size(),
            "a share has a point, a class and rows");
    require(k >= 1 && k <= most_rows, "k is 1 or more");
    std::int64_t rows = sum_rows(share.rows);
    std::vector<std::int64_t> last(points, -1);
    PeopleCounter people(person);
    std::int64_t group = -1;
    auto is_full = [&] { return group < 0 || people.people() >= k; };
    for (std::size_t i = 0; i < share.point.size(); ++i) {
        auto p = share.point[i];
        require(p >= 0 && static_cast<std::size_t>(p) < points, "there is no such point");
        if (share.group[i] != group) {
            require(share.group[i] == group + 1 && is_full(), "classes are numbered from 0 on, and have k people");
            people.start();
            ++group;
        }
        require(last[p] != group, "a class holds a point once");
        last[p] = group;
        people.add({p, share.rows[i]});
    }
    require(is_full(), "classes are numbered from 0 on, and have k people");
    return rows;
}

// Rows of points in classes, in any order; every class has some.
inline void check_pieces(std::span<const std::int64_t> point, std::span<const std::int64_t> group,
                         std::span<const std::int64_t> rows, std::int64_t points) {
    require(point.size() == group.size() && point.size() == rows.size(), "every share has a point, a class and rows");
    sum_rows(rows);
    for (std::size_t i = 0; i < point.size(); ++i) {
        require(0 <= point[i] && point[i] < points, "shares are of points");
        require(0 <= group[i] && static_cast<std::size_t>(group[i]) < group.size(), "classes are counted from 0");
    }
}

inline void check_held(const Shares& share, std::span<const std::int64_t> weights) {
    std::vector<std::int64_t> left(weights.begin(), weights.end());
    for (std::size_t i = 0; i < share.point.size(); ++i)
        require((left[share.point[i]] -= share.rows[i]) >= 0, "no more rows of a point are held than it has");
}

// By how much an axis grows without a code, for all of them; what a row outside costs, and how many may be there.
inline void check_books(std::span<const Codebook> books, const Widths& widths, double price, std::int64_t limit) {
    require(books.size() == widths.axes(), "every axis has its growth");
    for (std::size_t j = 0; j < books.size(); ++j)
        require(books[j].growth.size() == widths.codes(j) && is_finite(books[j].growth), "the growth of every code is finite");
    require(price >= 0 && std::isfinite(price), "the price of a row outside is finite");
    require(limit >= 0 && limit <= most_rows, "so many rows are never left out");
}

// -- levels and nodes -----------------------------------------------------------------------------------------

// Cells of each level, from fine to coarse, as peeling knows them: the last level has one cell.
inline void check_levels(std::span<const Grid> tables, const Widths& widths) {
    require(tables.size() == widths.axes(), "every axis has levels");
    for (std::size_t j = 0; j < tables.size(); ++j) {
        const auto& [cells, levels, codes] = tables[j];
        require(levels >= 1 && levels <= most_levels && codes == widths.codes(j), "every code has a cell at 1 to 255 levels");
        for (std::size_t i = 0; i < levels * codes; ++i)
            require(cells[i] >= 0 && static_cast<std::size_t>(cells[i]) < codes, "there is no such cell");
        for (std::size_t c = 1; c < codes; ++c)
            require(cells[(levels - 1) * codes + c] == cells[(levels - 1) * codes], "the last level has one cell");
    }
}

// Cells as a lattice knows them: counted from 0, each within one of the next level.
inline void check_cells(const Grid& cells, std::span<const double> widths) {
    const auto& [cell, levels, codes] = cells;
    require(levels >= 1 && levels <= most_levels && codes >= 1, "an axis has codes, and 1 to 255 levels");
    require(widths.size() == levels * codes && is_finite(widths), "every cell has a finite width");
    for (std::size_t l = 0; l < levels; ++l) {
        const Code *here = cell + l * codes, *above = here + codes;
        Code last = here[codes - 1];
        require(last >= 0 && static_cast<std::size_t>(last) < codes, "cells are counted from 0");
        std::vector<Code> up(static_cast<std::size_t>(last) + 1, -1);
        for (std::size_t c = 0; c < codes; ++c) {
            require(here[c] >= 0 && here[c] <= last, "cells are counted from 0");
            if (l + 1 == levels) continue;
            require(above[c] <= last && (up[here[c]] < 0 || up[here[c]] == above[c]), "a cell lies in one of the next level");
            up[here[c]] = above[c];
        }
    }
}

// The next axis of a lattice, and all its points have codes there.
inline void check_axis(const Lattice& lattice, const Grid& cells, std::span<const double> widths) {
    require(lattice.axes_with_levels() < lattice.axes(), "there are no more axes than codes of a point");
    check_cells(cells, widths);
    auto [low, high] = lattice.range(lattice.axes_with_levels());
    require(low >= 0 && static_cast<std::size_t>(high) < cells.columns, "a code is not on its axis");
}

// A level for each of the first axes, or for all of them.
inline void check_node(const Lattice& lattice, std::span<const int> node, bool whole) {
    require(lattice.axes_with_levels() == lattice.axes(), "every axis has levels");
    require(whole ? node.size() == lattice.axes() : node.size() <= lattice.axes(), "a node has a level on each axis");
    for (std::size_t j = 0; j < node.size(); ++j)
        require(node[j] >= 0 && static_cast<std::size_t>(node[j]) < lattice.levels(j), "there is no such level");
}

inline void check_bound(const Lattice& lattice, std::size_t bound) {
    require(bound <= most_bound && bound <= static_cast<std::size_t>(lattice.rows()), "no class is as large as the bound");
}

inline void check_roll(const Lattice& lattice, std::span<const int> fixed, std::size_t bound) {
    check_node(lattice, fixed, false);
    check_bound(lattice, bound);
    std::size_t nodes = 1;
    for (std::size_t j = fixed.size(); j < lattice.axes(); ++j)
        require((nodes *= lattice.levels(j)) <= most_nodes, "the lattice has too many nodes");
}

inline void check_looks(const Lattice& lattice, const Grid& levels, std::size_t bound) {
    check_bound(lattice, bound);
    for (std::size_t n = 0; n < levels.rows; ++n)
        check_node(lattice, {levels.data + n * levels.columns, levels.columns}, true);
}

inline void check_meet(std::span<const std::int64_t> first, std::span<const std::int64_t> second) {
    require(first.size() == second.size(), "both partitions have the class of every point");
    for (auto classes : {first, second})
        for (std::int64_t c : classes) require(c >= 0 && c < std::numeric_limits<std::int32_t>::max(), "classes are numbered from 0 on");
}

// A point may be missing at a node of a path through intersections: its class there is -1.
inline void check_path(const std::vector<std::span<const std::int64_t>>& path, std::size_t points, bool unions) {
    for (auto classes : path) {
        require(classes.size() == points, "a node of the path has the class of every point");
        std::int64_t next = 0;
        if (std::all_of(classes.begin(), classes.end(), [&](auto c) { return c >= 0 && c <= next && (next += c == next, true); }))
            continue;  // numbered as they come, which is the usual way
        std::vector<bool> seen(points, false);
        std::int64_t last = -1;
        for (std::int64_t c : classes) {
            if (c == -1 && !unions) continue;
            require(c >= 0 && static_cast<std::size_t>(c) < points, "there are no more classes than points");
            seen[c] = true;
            last = std::max(last, c);
        }
        require(std::count(seen.begin(), seen.end(), true) == last + 1, "classes are numbered from 0 on");
    }
}

// -- texts and draws ----------------------------------------------------------------------------------------

// Cells between their ends, as Arrow holds them; without bits all are present, otherwise from one bit on.
inline void check_texts(std::span<const std::uint8_t> bits, std::size_t bit, std::span<const std::int32_t> ends,
                        std::span<const std::uint8_t> letters) {
    if (ends.empty()) return;
    require(ends.front() >= 0 && std::is_sorted(ends.begin(), ends.end()), "ends ascend");
    require(static_cast<std::size_t>(ends.back()) <= letters.size(), "texts end within their letters");
    std::size_t known = 8 * bits.size();
    require(bits.empty() || (bit <= known && ends.size() - 1 <= known - bit), "every cell has its bit");
}

inline void check_hashing(std::size_t key, std::size_t size, std::span<const std::int64_t> ends, std::size_t letters) {
    require(key >= 1 && key <= KeyedHash::MOST_BYTES, "a key has 1 to 64 bytes");
    require(size >= 1 && size <= KeyedHash::MOST_BYTES, "a digest has 1 to 64 bytes");
    require(!ends.empty() && ends.front() >= 0 && std::is_sorted(ends.begin(), ends.end()), "texts lie one after the other");
    require(ends.back() <= static_cast<std::int64_t>(letters), "every text lies within its letters");
}

inline void check_share_draw(std::span<const std::int64_t> starts, std::span<const std::int64_t> rows) {
    require(!starts.empty() && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()),
            "the shares of points lie one after the other");
    require(starts.back() == static_cast<std::int64_t>(rows.size()), "every share belongs to a point");
    std::int64_t total = 0;
    for (std::int64_t some : rows) {
        require(some >= 0 && some <= most_rows - total, "a share has no less than no rows, and all have less than 2^53");
        total += some;
    }
}

inline void check_lookup(std::span<const std::uint8_t> sought, std::span<const std::uint8_t> known, std::size_t size) {
    require(sought.size() % size == 0 && known.size() % size == 0, "every hash has 16 bytes");
    require(known.size() / size < std::numeric_limits<std::uint32_t>::max(), "there are too many hashes");
}

// Every row fits some classes, whose room is that of all rows together.
inline void check_placements(std::span<const std::int64_t> starts, std::span<const std::int64_t> right,
                             std::span<const std::int64_t> room) {
    require(!starts.empty() && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()),
            "the classes of rows lie one after the other");
    require(starts.back() == static_cast<std::int64_t>(right.size()), "every pair belongs to a row");
    require(sum_rows(room) == static_cast<std::int64_t>(starts.size()) - 1, "classes have room for just so many rows");
    for (std::int64_t j : right) require(j >= 0 && static_cast<std::size_t>(j) < room.size(), "classes are numbered from 0 on");
}

// -- goals and balls ------------------------------------------------------------------------------------------

inline void check_aims(int kind, double l, double c, double t, double alpha) {
    require(kind >= Aims::distinct && kind <= Aims::recursive, "there is no such kind of diversity");
    require(l == 0 || (l >= 1 && l <= static_cast<double>(most_rows)), "l is 0, or 1 and more");
    require(c >= 0 && std::isfinite(c) && t >= 0 && alpha >= 0, "c, t and alpha are numbers, 0 or more");
}

inline void check_secrets(const Grid& secrets, std::size_t points, const Aims& aims) {
    require(secrets.rows == points, "every point has its sensitive values");
    require(aims.ordered.size() == secrets.columns, "every sensitive column is ordered or not");
}

inline void check_balls(const Widths& widths) {
    for (std::size_t j = 0; j < widths.axes(); ++j) require(widths.is_plain(j), "balls are on plain lines");
}

inline void check_places(std::span<const double> places, std::size_t points, std::size_t axes) {
    require(points > 0 && axes > 0, "a ball encloses a point or more");
    for (double x : places) require(std::abs(x) <= farthest_place, "the places of points are finite");
}

}  // namespace kech
