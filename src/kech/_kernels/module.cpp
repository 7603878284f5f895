// Bindings of the kernels: arrays in, checked (checks.hpp), arrays out, GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "ball_search.hpp"
#include "blake2b.hpp"
#include "box_counter.hpp"
#include "box_holes.hpp"
#include "checks.hpp"
#include "dictionary.hpp"
#include "dual_bound.hpp"
#include "goal_repair.hpp"
#include "grown_start.hpp"
#include "hilbert_order.hpp"
#include "kd_order.hpp"
#include "lattice.hpp"
#include "lattice_peel.hpp"
#include "local_search.hpp"
#include "lookup.hpp"
#include "merge_tree.hpp"
#include "nearest_rows.hpp"
#include "order_cut.hpp"
#include "placements.hpp"
#include "r_gather.hpp"
#include "reach_table.hpp"
#include "shares.hpp"
#include "side_bound.hpp"
#include "suppression.hpp"
#include "round_marks.hpp"
#include "row_draws.hpp"
#include "variance_search.hpp"
#include "zigzag.hpp"

namespace nb = nanobind;
using namespace kech;

// -- arrays in and out ----------------------------------------------------------------------------------------

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = In<std::int64_t>;
using Codes = nb::ndarray<const Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Persons = std::optional<In<Person>>;  // none: every row is another person
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
static std::vector<T> copy(const In<T>& array) { return {array.data(), array.data() + array.size()}; }

static std::vector<Code> copy(const Codes& codes) { return {codes.data(), codes.data() + codes.size()}; }

template <class T>
static std::span<const T> view(const In<T>& array) { return {array.data(), array.size()}; }

static Grid view(const Codes& codes) { return {codes.data(), codes.shape(0), codes.shape(1)}; }

static std::span<const double> view(const Table& table) { return {table.data(), table.size()}; }

// The person of each of so many points; an empty span without persons.
static std::span<const Person> view(const Persons& person, std::size_t points) {
    if (!person) return {};
    require(person->size() == points, "every point has its person");
    return view(*person);
}

static std::vector<Person> copy(const Persons& person) { return person ? copy(*person) : std::vector<Person>{}; }

static Points view(const Codes& codes, const Ints& weights, const Persons& person = {}) {
    return {codes.data(), weights.data(), codes.shape(0), codes.shape(1), view(person, codes.shape(0))};
}

static Shares copy(const Ints& point, const Ints& group, const Ints& rows) {
    return {copy(point), copy(group), copy(rows)};
}

template <class T>
static Out<T> hand_over(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(kept->data(), {kept->size()}, owner);
}

static nb::tuple hand_over(Shares&& shares) {
    auto& [point, group, rows] = shares;
    return nb::make_tuple(hand_over(std::move(point)), hand_over(std::move(group)), hand_over(std::move(rows)));
}

static nb::list hand_over(std::vector<Shares>&& all) {
    nb::list out;
    for (auto& shares : all) out.append(hand_over(std::move(shares)));
    return out;
}

// Builds for tests check what leaves a kernel as they check what comes in: every class has k people.
static Shares check_result(Shares&& shares, std::size_t points, std::int64_t k, std::span<const Person> person) {
#ifndef NDEBUG
    check_shares(shares, points, k, person);
#else
    static_cast<void>(points), static_cast<void>(k), static_cast<void>(person);
#endif
    return std::move(shares);
}

static std::vector<Shares> check_results(std::vector<Shares>&& all, const std::vector<std::int64_t>& ks, const Points& points) {
    for (std::size_t q = 0; q < ks.size(); ++q) all[q] = check_result(std::move(all[q]), points.count, ks[q], points.person);
    return std::move(all);
}

// What the work gives back, made while other threads of Python run.
template <class Work>
static auto release_gil(const Work& work) {
    nb::gil_scoped_release release;
    return work();
}

// -- axes -----------------------------------------------------------------------------------------------------

static void add_line(Widths& widths, const In<double>& left, const In<double>& right, double length, double cap, Code null) {
    check_line(view(left), view(right), length, cap, null);
    widths.add_line(copy(left), copy(right), length, cap, null);
}

static void add_tree(Widths& widths, const In<double>& single, const In<double>& gaps) {
    check_tree(view(single), view(gaps));
    widths.add_tree(copy(single), gaps.data());
}

static void loosen(Widths& widths, std::size_t axis, const In<double>& left, const In<double>& right, double narrow) {
    check_loose(widths, axis, view(left), view(right), narrow);
    widths.loosen(axis, copy(left), copy(right), narrow);
}

static void weigh(Widths& widths, std::size_t axis, double weight) {
    require(axis < widths.axes(), "there is no such axis");
    require(weight > 0 && std::isfinite(weight), "a weight is a number above 0");
    widths.weigh(axis, weight);
}

static void abridge(Widths& widths, const In<double>& printed) {
    check_abridged(widths, view(printed));
    widths.abridge(copy(printed));
}

static double width_of(const Widths& widths, std::size_t axis, Code lo, Code hi) {
    check_range(widths, axis, lo, hi);
    return widths.width(axis, lo, hi);
}

static Widths limit_widths(const Widths& widths, double limit) {
    require(limit >= 0, "a limit is a number, 0 or more");
    return widths.limited(limit);
}

static Levels read_levels(const std::vector<Codes>& tables, const Widths& widths) {
    std::vector<Grid> cells;
    for (const auto& t : tables) cells.push_back(view(t));
    check_levels(cells, widths);
    Levels levels;
    for (const auto& t : tables) levels.add(t.data(), t.shape(0), t.shape(1), widths);
    return levels;
}

// -- orders and starts ----------------------------------------------------------------------------------------

static Out<std::int64_t> order_points(const Codes& codes, const Ints& weights, const Widths& widths, unsigned threads) {
    return hand_over(release_gil([&] {
        check_points(view(codes), view(weights), widths);
        return KdOrder(view(codes, weights), widths).run(clamp_threads(threads));
    }));
}

static Out<std::int64_t> order_by_hilbert(const Codes& codes, const Widths& widths) {
    return hand_over(release_gil([&] {
        check_codes(view(codes), widths);
        return HilbertOrder(codes.data(), codes.shape(0), widths).run();
    }));
}

static nb::list cut_order(const Codes& codes, const Ints& weights, const Ints& order, const Widths& widths,
                          const std::vector<std::int64_t>& ks, bool split_points, unsigned threads, const Persons& person) {
    return hand_over(release_gil([&] {
        check_points(view(codes), view(weights), widths);
        check_ks(ks, check_people(view(person, codes.shape(0)), view(weights)));
        check_order(view(order), codes.shape(0));
        auto points = view(codes, weights, person);
        return check_results(OrderCut(points, order.data(), widths, split_points).run(ks, clamp_threads(threads)), ks, points);
    }));
}

static nb::list peel_points(const Codes& codes, const Ints& weights, const Widths& widths, const std::vector<Codes>& tables,
                            const std::vector<std::int64_t>& ks, const std::vector<double>& limits, std::size_t most,
                            std::uint64_t seed, bool alike, unsigned threads, const Persons& person) {
    return hand_over(release_gil([&] {
        check_points(view(codes), view(weights), widths);
        check_ks(ks, check_people(view(person, codes.shape(0)), view(weights)));
        check_limits(limits, ks.size(), most);
        auto levels = read_levels(tables, widths);
        auto points = view(codes, weights, person);
        Nodes nodes(points, levels, most, seed);
        return check_results(LatticePeel(points, widths, levels, nodes).run(ks, limits, alike, clamp_threads(threads)), ks,
                             points);
    }));
}

static nb::tuple grow_points(const Codes& codes, const Ints& weights, const Ints& order, const Widths& widths, std::int64_t k,
                             bool split_points, std::size_t stretch, std::uint64_t seed, unsigned threads,
                             const Persons& person) {
    return hand_over(release_gil([&] {
        std::int64_t rows = check_points(view(codes), view(weights), widths);
        check_k(k, check_people(view(person, codes.shape(0)), view(weights)));
        check_classes(k, rows);
        check_order(view(order), codes.shape(0));
        Problem problem{copy(codes), widths.axes(), widths, k, split_points, copy(person)};
        auto made = grow_classes(problem, weights.data(), order.data(), stretch, seed, clamp_threads(threads));
        return check_result(std::move(made), codes.shape(0), k, problem.person);
    }));
}

static nb::tuple gather_points(const Codes& codes, const Ints& weights, const Widths& widths, bool ball, std::int64_t k,
                               double reach, double most_pairs) {
    Shares made;
    bool possible = release_gil([&] {
        check_points(view(codes), view(weights), widths);
        check_reach(k, reach, most_pairs);
        if (ball) check_balls(widths);
        return RGather(view(codes, weights), widths, ball, k).run(reach, most_pairs, made);
    });
    return nb::make_tuple(possible, hand_over(std::move(made)));
}

// -- the search, suppression and goals ------------------------------------------------------------------------

static void begin_search(LocalSearch* place, const Codes& codes, const Widths& widths, const std::vector<Codes>& tables,
                         std::int64_t k, bool split_points, const Ints& point, const Ints& group, const Ints& rows,
                         std::uint64_t seed, const Persons& person) {
    auto start = copy(point, group, rows);
    nb::gil_scoped_release release;
    check_codes(view(codes), widths);
    check_person(view(person, codes.shape(0)));
    check_classes(k, check_shares(start, codes.shape(0), k, view(person, codes.shape(0))));
    auto levels = read_levels(tables, widths);
    new (place) LocalSearch({copy(codes), widths.axes(), widths, k, split_points, copy(person)}, std::move(levels), start, seed);
}

static void step_on(LocalSearch& search, double heat, bool ruin, unsigned threads) {
    nb::gil_scoped_release release;
    require(heat >= 0 && std::isfinite(heat), "heat is finite, 0 or more");
    search.step(heat, ruin, clamp_threads(threads));
}

// Classes as they are, ready to be narrowed or made cheaper; the loss is measured by `widths`.
static BallSearch begin_balls(const Codes& codes, const Widths& metric, const Widths& widths, std::int64_t k, bool split,
                              const Shares& start, double limit) {
    check_codes(view(codes), metric);
    check_codes(view(codes), widths);
    check_balls(metric);
    check_classes(k, check_shares(start, codes.shape(0), k, {}));
    require(limit >= 0, "a limit is a number, 0 or more");
    return {codes.data(), metric, widths, k, split, start};
}

// Classes in balls of the limit, or as near to that as the search comes: the radius of the widest, and all of them.
static nb::tuple narrow_balls(const Codes& codes, const Widths& metric, std::int64_t k, bool split, const Ints& point,
                              const Ints& group, const Ints& rows, double limit) {
    auto start = copy(point, group, rows);
    double radius = 0;
    auto made = release_gil([&] {
        auto search = begin_balls(codes, metric, metric, k, split, start, limit);
        radius = search.narrow(limit);
        return check_result(search.shares(), codes.shape(0), k, {});
    });
    return nb::make_tuple(radius, hand_over(std::move(made)));
}

static nb::tuple cheapen_balls(const Codes& codes, const Widths& metric, const Widths& widths, std::int64_t k, bool split,
                               const Ints& point, const Ints& group, const Ints& rows, double limit) {
    auto start = copy(point, group, rows);
    return hand_over(release_gil([&] {
        auto search = begin_balls(codes, metric, widths, k, split, start, limit);
        search.cheapen(limit);
        return check_result(search.shares(), codes.shape(0), k, {});
    }));
}

// -- variance -------------------------------------------------------------------------------------------------

static void check_variance(const Codes& codes, const Ints& weights, const Widths& metric, const In<double>& scales) {
    check_points(view(codes), view(weights), metric);
    require(scales.size() == metric.axes(), "every axis has a weight");
    auto is_weight = [](double w) { return w >= 0 && w <= most_weight; };
    require(std::all_of(scales.data(), scales.data() + scales.size(), is_weight), "weights of axes are from 0 to a million");
}

static void begin_variance(VarianceSearch* place, const Codes& codes, const Ints& weights, const Widths& metric,
                           const In<double>& scales, std::int64_t k, bool split, const std::vector<Ints>& orders,
                           std::uint64_t seed) {
    check_variance(codes, weights, metric, scales);
    auto points = view(codes, weights);
    check_k(k, points.rows());
    check_classes(k, points.rows());
    require(!orders.empty(), "there is an order of the points");
    std::vector<std::vector<std::int64_t>> along;
    for (const Ints& order : orders) {
        check_order(view(order), points.count);
        along.push_back(copy(order));
    }
    new (place) VarianceSearch(points, metric, view(scales), k, split, along, seed);
}

// For each axis the squares inside classes, as a share of those of the whole table.
static Out<double> measure_variance(const Codes& codes, const Ints& weights, const Widths& metric, const Ints& point,
                                    const Ints& group, const Ints& rows) {
    auto shares = copy(point, group, rows);
    return hand_over(release_gil([&] {
        check_points(view(codes), view(weights), metric);
        check_shares(shares, codes.shape(0), 1, {});
        check_held(shares, view(weights));
        std::vector<double> shared;
        for (std::size_t j = 0; j < metric.axes(); ++j) {
            std::vector<double> only(metric.axes(), 0.0);
            only[j] = 1;
            shared.push_back(measure_squares(view(codes, weights), Spread(view(codes, weights), metric, only), shares));
        }
        return shared;
    }));
}

static Out<double> bound_variance(const Codes& codes, const Ints& weights, const Widths& metric, const In<double>& scales,
                                  const std::vector<std::int64_t>& ks, unsigned threads) {
    return hand_over(release_gil([&] {
        check_variance(codes, weights, metric, scales);
        auto points = view(codes, weights);
        check_ks(ks, points.rows());
        return bound_squares(points, Spread(points, metric, view(scales)), ks, clamp_threads(threads));
    }));
}

static nb::tuple leave_out(const Codes& codes, const Ints& weights, const Widths& widths, const std::vector<In<double>>& growth,
                           std::int64_t k, const Ints& point, const Ints& group, const Ints& rows, double price,
                           std::int64_t limit, const Persons& person) {
    auto start = copy(point, group, rows);
    std::vector<Codebook> books;
    for (const auto& of_axis : growth) books.push_back({copy(of_axis), {}, 0});
    return hand_over(release_gil([&] {
        check_points(view(codes), view(weights), widths);
        check_person(view(person, codes.shape(0)));
        check_shares(start, codes.shape(0), k, view(person, codes.shape(0)));
        check_held(start, view(weights));
        check_books(books, widths, price, limit);
        Problem problem{copy(codes), widths.axes(), widths, k, true, copy(person)};
        return Suppression(std::move(problem), start, weights.data(), std::move(books), price, limit).run();
    }));
}

static nb::tuple repair_classes(const Codes& codes, const Codes& secrets, const Widths& widths, std::int64_t k, const Aims& aims,
                                const Ints& point, const Ints& group, const Ints& rows, bool split, bool part_all,
                                const Persons& person) {
    auto start = copy(point, group, rows);
    return hand_over(release_gil([&] {
        auto persons = view(person, codes.shape(0));
        check_codes(view(codes), widths);
        check_person(persons);
        check_shares(start, codes.shape(0), k, persons);
        check_secrets(view(secrets), codes.shape(0), aims);
        return GoalRepair(codes.data(), secrets.data(), secrets.shape(1), widths, k, aims, split, persons).run(start, part_all);
    }));
}

// -- shares ---------------------------------------------------------------------------------------------------

static nb::tuple find_distinct(const nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& table) {
    Distinct found = release_gil([&] { return distinct_rows(table.data(), table.shape(0), table.shape(1)); });
    return nb::make_tuple(hand_over(std::move(found.first)), hand_over(std::move(found.name)));
}

static nb::tuple add_shares(const Ints& point, const Ints& group, const Ints& rows) {
    return hand_over(release_gil([&] {
        check_pieces(view(point), view(group), view(rows), std::numeric_limits<std::int64_t>::max());
        return merge_shares(point.data(), group.data(), rows.data(), point.size());
    }));
}

static double price_classes(const Codes& codes, const Widths& widths, const Ints& point, const Ints& group, const Ints& rows) {
    return release_gil([&] {
        check_codes(view(codes), widths);
        check_pieces(view(point), view(group), view(rows), static_cast<std::int64_t>(codes.shape(0)));
        return price_shares(codes.data(), widths, point.data(), group.data(), rows.data(), point.size());
    });
}

// -- bounds ---------------------------------------------------------------------------------------------------

static Out<double> reach_rows(const Codes& codes, const Ints& weights, const Widths& widths, const std::vector<std::int64_t>& ks,
                              unsigned threads) {
    return hand_over(release_gil([&] {
        check_ks(ks, check_points(view(codes), view(weights), widths));
        return NearestRows<SideSum>(view(codes, weights), widths).sums(ks, clamp_threads(threads));
    }));
}

static Out<double> reach_farthest(const Codes& codes, const Ints& weights, const Widths& widths,
                                  const std::vector<std::int64_t>& ks, unsigned threads) {
    return hand_over(release_gil([&] {
        check_ks(ks, check_points(view(codes), view(weights), widths));
        return NearestRows<WidestSide>(view(codes, weights), widths).largest(ks, clamp_threads(threads));
    }));
}

static double bound_side(const Codes& codes, const Ints& weights, const Widths& widths, std::int64_t k, unsigned threads) {
    return release_gil([&] {
        check_k(k, check_points(view(codes), view(weights), widths));
        return SideBound(view(codes, weights), widths).run(k, clamp_threads(threads));
    });
}

static void begin_pricing(DualBound* place, const Codes& codes, const Ints& weights, const Widths& widths,
                          const std::vector<Codes>& tables, std::int64_t k) {
    nb::gil_scoped_release release;
    check_k(k, check_points(view(codes), view(weights), widths));
    auto levels = read_levels(tables, widths);
    auto cells = CellFinder(view(codes, weights), levels).run(k);
    new (place) DualBound(std::move(cells), {weights.data(), weights.data() + weights.size()}, k);
}

static void climb_on(DualBound& bound, std::size_t steps, double goal) {
    nb::gil_scoped_release release;
    require(steps <= 1'000'000, "a million steps at most");
    require(std::isfinite(goal), "the goal is finite");
    bound.climb(steps, goal);
}

// -- topology -------------------------------------------------------------------------------------------------

static nb::dict merge_points(const Codes& codes, const Ints& weights, const Widths& widths, bool ball, unsigned threads,
                             const std::optional<std::tuple<Ints, In<Person>, Ints>>& told_apart) {
    Units units;
    if (told_apart) {
        const auto& [place, person, rows] = *told_apart;
        units = {view(place), view(person), view(rows)};
    }
    MergeTree tree = release_gil([&] {
        check_points(view(codes), view(weights), widths);
        if (ball) check_balls(widths);
        if (told_apart) check_units(units, view(weights));
        return build_merge_tree(view(codes, weights), widths, ball, clamp_threads(threads), units);
    });
    nb::dict out;
    out["parent"] = hand_over(std::move(tree.parent));
    out["weight"] = hand_over(std::move(tree.weight));
    if (told_apart) out["people"] = hand_over(std::move(tree.people));
    out["birth"] = hand_over(std::move(tree.birth));
    out["death"] = hand_over(std::move(tree.death));
    out["simplex_from"] = hand_over(std::move(tree.simplex));
    out["begin"] = hand_over(std::move(tree.begin));
    out["end"] = hand_over(std::move(tree.end));
    out["order"] = hand_over(std::move(tree.order));
    return out;
}

// Widths at which holes of dimension 1 open, and at which they are filled.
static nb::tuple find_holes(const Codes& codes, const Ints& weights, const Widths& widths, std::int64_t prime,
                            unsigned threads) {
    auto [births, deaths] = release_gil([&] {
        check_points(view(codes), view(weights), widths);
        require(prime >= 2 && prime <= 127, "coefficients are counted modulo a prime");
        return find_box_holes(view(codes, weights), widths, prime, clamp_threads(threads));
    });
    return nb::make_tuple(hand_over(std::move(births)), hand_over(std::move(deaths)));
}

template <class Fold>
static std::pair<std::vector<double>, std::vector<std::int64_t>> fill_table(const Points& points, const Widths& widths,
                                                                            std::int64_t most, unsigned threads) {
    ReachTable<Fold> table(points, widths, most);
    auto radii = table.run(threads);
    return {std::move(radii), table.order()};
}

// Radii that hold k people, for k from 1 to `most`, one after another; and the point of each place in them.
static nb::tuple reach_all(const Codes& codes, const Ints& weights, const Widths& widths, bool ball, std::int64_t most,
                           unsigned threads, const Persons& person) {
    auto [radii, order] = release_gil([&] {
        check_points(view(codes), view(weights), widths);
        check_k(most, check_people(view(person, codes.shape(0)), view(weights)));
        if (ball) check_balls(widths);
        auto fill = ball ? fill_table<SquareSum> : fill_table<WidestSide>;
        return fill(view(codes, weights, person), widths, most, clamp_threads(threads));
    });
    return nb::make_tuple(hand_over(std::move(radii)), hand_over(std::move(order)));
}

static double enclosing_radius(const Table& places) {
    check_places(view(places), places.shape(0), places.shape(1));
    return EnclosingBall(places.data(), places.shape(0), places.shape(1)).radius();
}

// The class of each point in the common refinement of two partitions.
static auto meet_classes(const Ints& first, const Ints& second) {
    std::vector<std::int64_t> met = release_gil([&] {
        check_meet(view(first), view(second));
        auto size = first.size();
        std::vector<std::int64_t> ones(size, 1);
        auto part = meet<true>(PathNode(first.data(), size), PathNode(second.data(), size), ones.data()).part;
        return std::vector<std::int64_t>(part.begin(), part.end());
    });
    return hand_over(std::move(met));
}

// Whether all rows can be placed into classes, and which pairs of a row and a class are in some placement.
static nb::tuple find_placements(const Ints& starts, const Ints& right, const Ints& room) {
    std::vector<std::uint8_t> possible;
    bool all = release_gil([&] {
        check_placements(view(starts), view(right), view(room));
        return Placements(view(starts), view(right), view(room)).run(possible);
    });
    return nb::make_tuple(all, hand_over(std::move(possible)));
}

static nb::object hand_over(BarCounts&& counts) {
    return std::visit([](auto&& values) { return nb::cast(hand_over(std::move(values))); }, std::move(counts));
}

static nb::dict hand_over(Zigzag&& found, bool people) {
    nb::dict out;
    out["birth"] = hand_over(std::move(found.birth));
    out["death"] = hand_over(std::move(found.death));
    out["begin"] = hand_over(std::move(found.begin));
    out["rows"] = hand_over(std::move(found.rows));
    out["classes"] = hand_over(std::move(found.classes));
    out["smallest"] = hand_over(std::move(found.smallest));
    if (people) {
        out["people"] = hand_over(std::move(found.people));
        out["smallest_people"] = hand_over(std::move(found.smallest_people));
    }
    out["holes"] = hand_over(std::move(found.holes));
    return out;
}

static void begin_walk(PathWalk* place, const Ints& weights, bool unions, const Persons& person) {
    sum_rows(view(weights));
    check_person(view(person, weights.size()));
    new (place) PathWalk(copy(weights), unions, copy(person));
}

static void walk_on(PathWalk& walk, const std::vector<Ints>& path, unsigned threads) {
    std::vector<const std::int64_t*> nodes;
    std::vector<std::span<const std::int64_t>> seen;
    for (auto& classes : path) nodes.push_back(classes.data()), seen.push_back(view(classes));
    nb::gil_scoped_release release;
    check_path(seen, walk.points(), walk.unions());
    walk.extend(nodes, clamp_threads(threads));
}

static nb::dict end_walk(PathWalk& walk) {
    return hand_over(release_gil([&] { return walk.finish(); }), walk.counts_people());
}

// A whole path at once.
static nb::dict walk_path(const std::vector<Ints>& path, const Ints& weights, bool unions, unsigned threads,
                          const Persons& person) {
    sum_rows(view(weights));
    check_person(view(person, weights.size()));
    PathWalk walk(copy(weights), unions, copy(person));
    walk_on(walk, path, threads);
    return hand_over(release_gil([&] { return walk.finish(); }), person.has_value());
}

// -- the lattice ----------------------------------------------------------------------------------------------

static void begin_lattice(Lattice* place, const Codes& codes, const Ints& weights, const Persons& person) {
    check_boxes(view(codes), view(weights));
    check_person(view(person, codes.shape(0)));
    new (place) Lattice(view(codes, weights, person));
}

static void add_axis(Lattice& lattice, const Codes& cells, const Table& widths) {
    require(widths.shape(0) == cells.shape(0), "every cell has a width");
    check_axis(lattice, view(cells), view(widths));
    lattice.add_axis(cells.data(), widths.data(), cells.shape(0), cells.shape(1));
}

static nb::dict hand_over(NodeFigures&& figures) {
    nb::dict out;
    out["classes"] = hand_over(std::move(figures.classes));
    out["smallest"] = hand_over(std::move(figures.smallest));
    out["counts"] = hand_over(std::move(figures.counts));
    out["costs"] = hand_over(std::move(figures.costs));
    if (figures.by_people) out["rows"] = hand_over(std::move(figures.rows));
    out["peak_bytes"] = figures.peak_bytes;
    return out;
}

static nb::dict roll_lattice(const Lattice& lattice, const Lattice::Node& fixed, std::size_t bound, unsigned threads) {
    return hand_over(release_gil([&] {
        check_roll(lattice, fixed, bound);
        return lattice.roll(fixed, bound, clamp_threads(threads));
    }));
}

static nb::dict look_at_nodes(const Lattice& lattice, const Codes& levels, std::size_t bound, unsigned threads) {
    return hand_over(release_gil([&] {
        check_looks(lattice, view(levels), bound);
        return lattice.look(levels.data(), levels.shape(0), bound, clamp_threads(threads));
    }));
}

static Out<std::int64_t> classes_at(const Lattice& lattice, const Lattice::Node& node, const std::optional<Ints>& finer) {
    return hand_over(release_gil([&] {
        check_node(lattice, node, true);
        auto known = finer ? view(*finer) : std::span<const std::int64_t>{};
        if (finer) check_path({known}, lattice.points(), true);
        return lattice.classes(node, known);
    }));
}

// -- rows on their way in and out -----------------------------------------------------------------------------

static Out<std::uint32_t> number_words(Words& words, const In<std::uint8_t>& bits, std::size_t bit, const In<std::int32_t>& ends,
                                       const In<std::uint8_t>& letters) {
    return hand_over(release_gil([&] {
        check_texts(view(bits), bit, view(ends), view(letters));
        std::vector<std::uint32_t> numbers(ends.size() ? ends.size() - 1 : 0);
        const auto* text = reinterpret_cast<const char*>(letters.data());
        words.number(bits.size() ? bits.data() : nullptr, bit, ends.data(), text, numbers.size(), numbers.data());
        return numbers;
    }));
}

static Out<std::int64_t> find_largest_k(const Ints& rows, const Ints& values, const Ints& ranks) {
    return hand_over(release_gil([&] {
        check_marks(view(rows), view(values), view(ranks));
        return RoundMarks(view(rows), view(values), view(ranks)).run();
    }));
}

static void build_counter(BoxCounter* place, const Codes& codes, const Ints& weights, const Persons& person) {
    check_boxes(view(codes), view(weights));
    check_person(view(person, codes.shape(0)));
    new (place) BoxCounter(view(codes, weights, person));
}

static Out<std::int64_t> count_boxes(const BoxCounter& counter, const Codes& lo, const Codes& hi, std::int64_t enough,
                                     const std::optional<Codes>& listed, const std::optional<Ints>& axes) {
    return hand_over(release_gil([&] {
        check_corners(view(lo), view(hi), counter.axes());
        if (!listed || !axes) return counter.count(lo.data(), hi.data(), lo.shape(0), enough, {});
        check_listed(view(*listed), view(*axes), lo.shape(0), counter.axes());
        return counter.count(lo.data(), hi.data(), lo.shape(0), enough, {listed->data(), view(*axes)});
    }));
}

static Out<std::int64_t> draw_shares(ShareDraw& shares, const Ints& point, const In<std::uint64_t>& numbers) {
    return hand_over(release_gil([&] {
        require(point.size() == numbers.size(), "there is a random number for each row");
        return shares.draw(point.data(), numbers.data(), point.size());
    }));
}

static Out<std::uint32_t> draw_rows(RowShuffle& rows, const In<std::uint64_t>& numbers) {
    return hand_over(release_gil([&] { return rows.draw(numbers.data(), numbers.size()); }));
}

// Digests of texts that lie between their ends, one after another.
static Out<std::uint8_t> hash_texts(const nb::bytes& key, std::size_t size, const Ints& ends,
                                    const In<std::uint8_t>& letters) {
    return hand_over(release_gil([&] {
        check_hashing(key.size(), size, view(ends), letters.size());
        const KeyedHash keyed(reinterpret_cast<const std::uint8_t*>(key.c_str()), key.size(), size);
        const std::size_t texts = ends.size() - 1;
        std::vector<std::uint8_t> digests(texts * size);
        const std::int64_t* end = ends.data();
        for (std::size_t i = 0; i < texts; ++i)
            keyed.hash(letters.data() + end[i], static_cast<std::size_t>(end[i + 1] - end[i]), &digests[i * size]);
        return digests;
    }));
}

// Where each of some hashes of 16 bytes stands first among others; -1 where it does not.
static Out<std::int64_t> find_hashes(const In<std::uint8_t>& sought, const In<std::uint8_t>& known) {
    return hand_over(release_gil([&] {
        check_lookup(view(sought), view(known), HashLookup::size);
        return HashLookup(view(known)).find(view(sought));
    }));
}

NB_MODULE(_kernels, m) {
    const auto array = nb::arg().noconvert();  // never a copy with other numbers in it
    const auto one = nb::arg();
    const auto person = nb::arg("person").noconvert() = nb::none();
    nb::class_<Widths>(m, "Widths")
        .def(nb::init<>())
        .def("loosen", &loosen, one, array, array, one)
        .def("weigh", &weigh)
        .def("abridge", &abridge, array)
        .def("add_line", &add_line, array, array, one, one, one)
        .def("add_tree", &add_tree, array, array)
        .def("width", &width_of)
        .def("limited", &limit_widths);
    nb::class_<Aims>(m, "Aims")
        .def("__init__", [](Aims* made, int kind, double l, double c, double t, double alpha,
                            const std::vector<bool>& ordered) {
            check_aims(kind, l, c, t, alpha);
            new (made) Aims{static_cast<Aims::Kind>(kind), l, c, t, alpha, ordered};
        });
    nb::class_<BoxCounter>(m, "BoxCounter")
        .def("__init__", &build_counter, array, array, person)
        .def("count", &count_boxes, array, array, one, nb::arg("listed").noconvert() = nb::none(),
             nb::arg("axes").noconvert() = nb::none());
    nb::class_<Words>(m, "Words")
        .def(nb::init<>())
        .def("number", &number_words, array, one, array, array)
        .def("texts", [](const Words& words) {
            std::vector<std::uint8_t> letters(words.letters().begin(), words.letters().end());
            return nb::make_tuple(hand_over(std::vector<std::int64_t>(words.ends())), hand_over(std::move(letters)));
        })
        .def_prop_ro("count", [](const Words& words) { return words.ends().size(); })
        .def_prop_ro("bytes", [](const Words& words) { return words.letters().size(); });
    nb::class_<Lattice>(m, "Lattice")
        .def("__init__", &begin_lattice, array, array, person)
        .def("add_axis", &add_axis, array, array)
        .def("roll", &roll_lattice)
        .def("look", &look_at_nodes, array, one, one)
        .def("classes", &classes_at, one, nb::arg("finer").noconvert() = nb::none());
    nb::class_<ShareDraw>(m, "ShareDraw")
        .def("__init__", [](ShareDraw* made, const Ints& starts, const Ints& rows) {
            check_share_draw(view(starts), view(rows));
            new (made) ShareDraw(starts.data(), starts.size() - 1, rows.data());
        }, array, array)
        .def("draw", &draw_shares, array, array);
    nb::class_<RowShuffle>(m, "RowShuffle").def(nb::init<std::uint32_t>(), one).def("draw", &draw_rows, array);
    nb::class_<LocalSearch>(m, "Search")
        .def("__init__", &begin_search, array, one, array, one, one, array, array, array, one, person)
        .def("step", &step_on)
        .def("shares", [](const LocalSearch& search) {
            const Problem& problem = search.problem();
            return hand_over(check_result(search.best(), problem.points(), problem.k, problem.person));
        })
        .def_prop_ro("price", &LocalSearch::price)
        .def_prop_ro("work", &LocalSearch::work)
        .def_prop_ro("rounds", &LocalSearch::rounds);
    nb::class_<VarianceSearch>(m, "VarianceSearch")
        .def("__init__", &begin_variance, array, array, one, array, one, one, array, one)
        .def("step", [](VarianceSearch& search, unsigned threads) {
            nb::gil_scoped_release release;
            search.step(clamp_threads(threads));
        })
        .def("shares", [](const VarianceSearch& search) {
            return hand_over(check_result(search.shares(), search.points(), search.k(), {}));
        })
        .def_prop_ro("price", &VarianceSearch::price)
        .def_prop_ro("work", &VarianceSearch::work)
        .def_prop_ro("rounds", &VarianceSearch::rounds);
    m.def("measure_variance", &measure_variance, array, array, one, array, array, array);
    m.def("bound_variance", &bound_variance, array, array, one, array, one, one);
    nb::class_<DualBound>(m, "Pricer")
        .def("__init__", &begin_pricing, array, array, one, array, one)
        .def("climb", &climb_on)
        .def_prop_ro("bound", &DualBound::bound);
    m.def("peel_points", &peel_points, array, array, one, array, one, one, one, one, one, one, person);
    m.def("grow_points", &grow_points, array, array, array, one, one, one, one, one, one, person);
    m.def("leave_out", &leave_out, array, array, one, array, one, array, array, array, one, one, person);
    m.def("order_points", &order_points, array, array, one, one);
    m.def("order_by_hilbert", &order_by_hilbert, array, one);
    m.def("cut_order", &cut_order, array, array, array, one, one, one, one, person);
    m.def("distinct_rows", &find_distinct, array);
    m.def("add_up", &add_shares, array, array, array);
    m.def("price_classes", &price_classes, array, one, array, array, array);
    m.def("merge_points", &merge_points, array, array, one, one, one, nb::arg("units").noconvert() = nb::none());
    m.def("find_holes", &find_holes, array, array, one, one, one);
    m.def("reach_rows", &reach_rows, array, array, one, one, one);
    m.def("reach_all", &reach_all, array, array, one, one, one, one, person);
    m.def("reach_farthest", &reach_farthest, array, array, one, one, one);
    m.def("repair_classes", &repair_classes, array, array, one, one, one, array, array, array, one, one, person);
    m.def("meet_classes", &meet_classes, array, array);
    m.def("find_placements", &find_placements, array, array, array);
    m.def("walk_path", &walk_path, array, array, one, one, person);
    nb::class_<PathWalk>(m, "PathWalk")
        .def("__init__", &begin_walk, array, one, person)
        .def("extend", &walk_on, array, one)
        .def("bytes", &PathWalk::bytes)
        .def("finish", &end_walk);
    m.def("bound_side", &bound_side, array, array, one, one, one);
    m.def("gather_points", &gather_points, array, array, one, one, one, one, one);
    m.def("narrow_balls", &narrow_balls, array, one, one, one, array, array, array, one);
    m.def("cheapen_balls", &cheapen_balls, array, one, one, one, one, array, array, array, one);
    m.def("find_largest_k", &find_largest_k, array, array, array);
    m.def("find_hashes", &find_hashes, array, array);
    m.def("hash_texts", &hash_texts, one, one, array, array);
    m.def("enclosing_radius", &enclosing_radius, array);
}
