// The door of the kernels: arrays in, checked (door.hpp), arrays out, GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "counting.hpp"
#include "crowding.hpp"
#include "cutting.hpp"
#include "dealing.hpp"
#include "door.hpp"
#include "gathering.hpp"
#include "hilbert.hpp"
#include "joining.hpp"
#include "merging.hpp"
#include "numbering.hpp"
#include "ordering.hpp"
#include "peeling.hpp"
#include "pricing.hpp"
#include "reaching.hpp"
#include "repairing.hpp"
#include "rolling.hpp"
#include "searching.hpp"
#include "suppressing.hpp"
#include "zigzag.hpp"

namespace nb = nanobind;
using namespace kech;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
static std::vector<T> copy(const In<T>& array) { return {array.data(), array.data() + array.size()}; }

template <class T>
static std::span<const T> look(const In<T>& array) { return {array.data(), array.size()}; }

static Grid look(const Codes& codes) { return {codes.data(), codes.shape(0), codes.shape(1)}; }

static std::span<const double> look(const Table& table) { return {table.data(), table.size()}; }

static Share read_share(const In<std::int64_t>& point, const In<std::int64_t>& group, const In<std::int64_t>& rows) {
    return {copy(point), copy(group), copy(rows)};
}

template <class T>
static Out<T> hand_over(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(kept->data(), {kept->size()}, owner);
}

static Out<std::int64_t> order_points(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths, unsigned threads) {
    std::vector<std::int64_t> order;
    {
        nb::gil_scoped_release release;
        check_points(look(codes), look(weights), widths);
        order = KdOrder(codes.data(), weights.data(), codes.shape(0), widths).run(crew(threads));
    }
    return hand_over(std::move(order));
}

static Out<std::int64_t> order_by_hilbert(const Codes& codes, const Widths& widths) {
    std::vector<std::int64_t> order;
    {
        nb::gil_scoped_release release;
        check_codes(look(codes), widths);
        order = HilbertOrder(codes.data(), codes.shape(0), widths).run();
    }
    return hand_over(std::move(order));
}

static nb::tuple hand_over(Share&& s) {
    return nb::make_tuple(hand_over(std::move(s.point)), hand_over(std::move(s.group)), hand_over(std::move(s.rows)));
}

static nb::list hand_over(std::vector<Share>&& shares) {
    nb::list out;
    for (auto& s : shares) out.append(hand_over(std::move(s)));
    return out;
}

static nb::list cut_order(const Codes& codes, const In<std::int64_t>& weights, const In<std::int64_t>& order,
                          const Widths& widths, const std::vector<std::int64_t>& ks, bool part, unsigned threads) {
    std::vector<Share> shares;
    {
        nb::gil_scoped_release release;
        check_ks(ks, check_points(look(codes), look(weights), widths));
        check_order(look(order), codes.shape(0));
        Cutter cutter(codes.data(), weights.data(), order.data(), codes.shape(0), widths, part);
        shares = cutter.run(ks, crew(threads));
    }
    return hand_over(std::move(shares));
}

static nb::tuple find_distinct(const nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& table) {
    Distinct found;
    {
        nb::gil_scoped_release release;
        found = distinct_rows(table.data(), table.shape(0), table.shape(1));
    }
    return nb::make_tuple(hand_over(std::move(found.first)), hand_over(std::move(found.name)));
}

static nb::tuple add_shares(const In<std::int64_t>& point, const In<std::int64_t>& group, const In<std::int64_t>& rows) {
    Share share;
    {
        nb::gil_scoped_release release;
        check_pieces(look(point), look(group), look(rows), std::numeric_limits<std::int64_t>::max());
        share = add_up(point.data(), group.data(), rows.data(), point.size());
    }
    return hand_over(std::move(share));
}

static double price_classes(const Codes& codes, const Widths& widths, const In<std::int64_t>& point,
                            const In<std::int64_t>& group, const In<std::int64_t>& rows) {
    nb::gil_scoped_release release;
    check_codes(look(codes), widths);
    check_pieces(look(point), look(group), look(rows), static_cast<std::int64_t>(codes.shape(0)));
    return price_shares(codes.data(), widths, point.data(), group.data(), rows.data(), point.size());
}

static Levels read_levels(const std::vector<Codes>& tables, const Widths& widths) {
    std::vector<Grid> cells;
    for (const auto& t : tables) cells.push_back(look(t));
    check_levels(cells, widths);
    Levels levels;
    for (const auto& t : tables) levels.add(t.data(), t.shape(0), t.shape(1), widths);
    return levels;
}

static nb::list peel_points(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                            const std::vector<Codes>& tables, const std::vector<std::int64_t>& ks,
                            const std::vector<double>& limits, std::size_t most, std::uint64_t seed,
                            unsigned threads) {
    std::vector<Share> shares;
    {
        nb::gil_scoped_release release;
        check_ks(ks, check_points(look(codes), look(weights), widths));
        check_limits(limits, ks.size(), most);
        auto levels = read_levels(tables, widths);
        auto points = codes.shape(0);
        Nodes nodes(codes.data(), weights.data(), points, levels, most, seed);
        shares = Peeler(codes.data(), weights.data(), points, widths, levels, nodes).run(ks, limits, crew(threads));
    }
    return hand_over(std::move(shares));
}

static nb::tuple grow_points(const Codes& codes, const In<std::int64_t>& weights, const In<std::int64_t>& order,
                             const Widths& widths, std::int64_t k, bool part, std::size_t stretch, std::uint64_t seed,
                             unsigned threads) {
    Share share;
    {
        nb::gil_scoped_release release;
        std::int64_t rows = check_points(look(codes), look(weights), widths);
        check_k(k, rows);
        check_classes(k, rows);
        check_order(look(order), codes.shape(0));
        Ground ground{{codes.data(), codes.data() + codes.size()}, widths.axes(), widths, {}, k, part};
        share = grow_classes(ground, weights.data(), order.data(), codes.shape(0), stretch, seed, crew(threads));
    }
    return hand_over(std::move(share));
}

static void begin_search(Search* place, const Codes& codes, const Widths& widths, const std::vector<Codes>& tables,
                         std::int64_t k, bool part, const In<std::int64_t>& point, const In<std::int64_t>& group,
                         const In<std::int64_t>& rows, std::uint64_t seed) {
    auto start = read_share(point, group, rows);
    std::vector<Code> copied(codes.data(), codes.data() + codes.size());
    nb::gil_scoped_release release;
    check_codes(look(codes), widths);
    check_classes(k, check_share(start, codes.shape(0), k));
    new (place) Search({std::move(copied), widths.axes(), widths, read_levels(tables, widths), k, part}, start, seed);
}

static void begin_pricing(Pricer* place, const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                          const std::vector<Codes>& tables, std::int64_t k) {
    nb::gil_scoped_release release;
    check_k(k, check_points(look(codes), look(weights), widths));
    auto levels = read_levels(tables, widths);
    auto points = codes.shape(0);
    auto cells = CellFinder(codes.data(), weights.data(), points, levels).run(k);
    new (place) Pricer(std::move(cells), {weights.data(), weights.data() + points}, k);
}

static nb::tuple leave_out(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                           const std::vector<In<double>>& growth, std::int64_t k, const In<std::int64_t>& point,
                           const In<std::int64_t>& group, const In<std::int64_t>& rows, double price,
                           std::int64_t limit) {
    auto start = read_share(point, group, rows);
    std::vector<Codebook> books;
    for (const auto& of_axis : growth) books.push_back({copy(of_axis), {}, 0});
    {
        nb::gil_scoped_release release;
        check_points(look(codes), look(weights), widths);
        check_share(start, codes.shape(0), k);
        check_held(start, look(weights));
        check_books(books, widths, price, limit);
        Ground ground{{codes.data(), codes.data() + codes.size()}, widths.axes(), widths, {}, k, true};
        start = Suppressor(std::move(ground), start, weights.data(), std::move(books), price, limit).run();
    }
    return hand_over(std::move(start));
}

static nb::dict merge_points(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths, bool ball,
                             unsigned threads) {
    MergeTree tree;
    {
        nb::gil_scoped_release release;
        check_points(look(codes), look(weights), widths);
        if (ball) check_balls(widths);
        threads = crew(threads);
        auto points = codes.shape(0);
        auto edges = ball ? SpanningTree<SquareSum>(codes.data(), points, widths, threads).run()
                          : SpanningTree<WidestSide>(codes.data(), points, widths, threads).run();
        std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
            return std::tie(a.length, a.from, a.to) < std::tie(b.length, b.from, b.to);
        });
        tree = Merger(codes.data(), weights.data(), points, widths).run(edges, ball, threads);
    }
    nb::dict out;
    out["parent"] = hand_over(std::move(tree.parent));
    out["weight"] = hand_over(std::move(tree.weight));
    out["birth"] = hand_over(std::move(tree.birth));
    out["death"] = hand_over(std::move(tree.death));
    out["simplex_from"] = hand_over(std::move(tree.simplex));
    out["begin"] = hand_over(std::move(tree.begin));
    out["end"] = hand_over(std::move(tree.end));
    out["order"] = hand_over(std::move(tree.order));
    return out;
}

static Out<double> reach_rows(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                              const std::vector<std::int64_t>& ks, unsigned threads) {
    std::vector<double> found;
    {
        nb::gil_scoped_release release;
        check_ks(ks, check_points(look(codes), look(weights), widths));
        found = Reacher<SideSum>(codes.data(), weights.data(), codes.shape(0), widths).sums(ks, crew(threads));
    }
    return hand_over(std::move(found));
}

static Out<double> reach_farthest(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                                  const std::vector<std::int64_t>& ks, unsigned threads) {
    std::vector<double> found;
    {
        nb::gil_scoped_release release;
        check_ks(ks, check_points(look(codes), look(weights), widths));
        found = Reacher<WidestSide>(codes.data(), weights.data(), codes.shape(0), widths).largest(ks, crew(threads));
    }
    return hand_over(std::move(found));
}

static nb::dict walk_path(const std::vector<In<std::int64_t>>& path, const In<std::int64_t>& weights, bool unions,
                          unsigned threads) {
    std::vector<const std::int64_t*> nodes;
    std::vector<std::span<const std::int64_t>> seen;
    for (auto& classes : path) nodes.push_back(classes.data()), seen.push_back(look(classes));
    Zigzag found;
    {
        nb::gil_scoped_release release;
        sum_rows(look(weights));
        check_path(seen, weights.size());
        found = PathWalk(nodes, weights.data(), weights.size(), unions).run(crew(threads));
    }
    nb::dict out;
    out["birth"] = hand_over(std::move(found.birth));
    out["death"] = hand_over(std::move(found.death));
    out["begin"] = hand_over(std::move(found.begin));
    out["rows"] = hand_over(std::move(found.rows));
    out["classes"] = hand_over(std::move(found.classes));
    out["smallest"] = hand_over(std::move(found.smallest));
    out["holes"] = hand_over(std::move(found.holes));
    return out;
}

static nb::tuple gather_points(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths, std::int64_t k,
                               double reach, double most_pairs) {
    Share made;
    bool possible;
    {
        nb::gil_scoped_release release;
        check_points(look(codes), look(weights), widths);
        check_reach(k, reach, most_pairs);
        possible = Centres(codes.data(), weights.data(), codes.shape(0), widths, k).run(reach, most_pairs, made);
    }
    return nb::make_tuple(possible, hand_over(std::move(made)));
}

static double bound_side(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths, std::int64_t k,
                         unsigned threads) {
    nb::gil_scoped_release release;
    check_k(k, check_points(look(codes), look(weights), widths));
    return Loneliest(codes.data(), weights.data(), codes.shape(0), widths).run(k, crew(threads));
}

static nb::tuple repair_classes(const Codes& codes, const Codes& secrets, const Widths& widths, std::int64_t k,
                                const Aims& aims, const In<std::int64_t>& point, const In<std::int64_t>& group,
                                const In<std::int64_t>& rows, bool split, bool apart) {
    Share found;
    {
        nb::gil_scoped_release release;
        check_codes(look(codes), widths);
        check_share(read_share(point, group, rows), codes.shape(0), k);
        check_secrets(look(secrets), codes.shape(0), aims);
        Repair repair(codes.data(), secrets.data(), secrets.shape(1), widths, k, aims, split);
        found = repair.run(point.data(), group.data(), rows.data(), point.size(), apart);
    }
    return hand_over(std::move(found));
}

static Out<std::uint32_t> number_words(Words& words, const In<std::uint8_t>& bits, std::size_t bit,
                                       const In<std::int32_t>& ends, const In<std::uint8_t>& letters) {
    std::vector<std::uint32_t> numbers(ends.size() ? ends.size() - 1 : 0);
    {
        nb::gil_scoped_release release;
        check_texts(look(bits), bit, look(ends), look(letters));
        const auto* text = reinterpret_cast<const char*>(letters.data());
        words.number(bits.size() ? bits.data() : nullptr, bit, ends.data(), text, numbers.size(), numbers.data());
    }
    return hand_over(std::move(numbers));
}

// A counter looks at codes and weights as long as it lives.
struct HeldCounter {
    Codes codes;
    In<std::int64_t> weights;
    BoxCounter counter;
};

static void hold_counter(HeldCounter* place, const Codes& codes, const In<std::int64_t>& weights) {
    check_boxes(look(codes), look(weights));
    new (place) HeldCounter{codes, weights, {codes.data(), weights.data(), codes.shape(0), codes.shape(1)}};
}

static Out<std::int64_t> count_boxes(const HeldCounter& held, const Codes& lo, const Codes& hi, std::int64_t enough) {
    std::vector<std::int64_t> found;
    {
        nb::gil_scoped_release release;
        check_corners(look(lo), look(hi), held.codes.shape(1));
        found = held.counter.each(lo.data(), hi.data(), lo.shape(0), enough);
    }
    return hand_over(std::move(found));
}

static double enclosing_radius(const Table& places) {
    check_places(look(places), places.shape(0), places.shape(1));
    return EnclosingBall(places.data(), places.shape(0), places.shape(1)).radius();
}

static nb::dict hand_over(NodeFigures&& figures) {
    nb::dict out;
    out["classes"] = hand_over(std::move(figures.classes));
    out["smallest"] = hand_over(std::move(figures.smallest));
    out["counts"] = hand_over(std::move(figures.counts));
    out["costs"] = hand_over(std::move(figures.costs));
    out["peak_bytes"] = figures.peak_bytes;
    return out;
}

static nb::dict roll_lattice(const Lattice& lattice, const Lattice::Node& fixed, std::size_t bound, unsigned threads) {
    NodeFigures figures(0, 0);
    {
        nb::gil_scoped_release release;
        check_roll(lattice, fixed, bound);
        figures = lattice.roll(fixed, bound, crew(threads));
    }
    return hand_over(std::move(figures));
}

static nb::dict look_at_nodes(const Lattice& lattice, const Codes& levels, std::size_t bound, unsigned threads) {
    NodeFigures figures(0, 0);
    {
        nb::gil_scoped_release release;
        check_looks(lattice, look(levels), bound);
        figures = lattice.look(levels.data(), levels.shape(0), bound, crew(threads));
    }
    return hand_over(std::move(figures));
}

static Out<std::int64_t> classes_at(const Lattice& lattice, const Lattice::Node& node) {
    std::vector<std::int64_t> found;
    {
        nb::gil_scoped_release release;
        check_node(lattice, node, true);
        found = lattice.classes(node);
    }
    return hand_over(std::move(found));
}

static Out<std::int64_t> draw_shares(Urns& urns, const In<std::int64_t>& point, const In<std::uint64_t>& chance) {
    std::vector<std::int64_t> drawn;
    {
        nb::gil_scoped_release release;
        require(point.size() == chance.size(), "there is a chance for each row");
        drawn = urns.draw(point.data(), chance.data(), point.size());
    }
    return hand_over(std::move(drawn));
}

static Out<std::uint32_t> draw_cards(Deck& deck, const In<std::uint64_t>& chance) {
    std::vector<std::uint32_t> drawn;
    {
        nb::gil_scoped_release release;
        drawn = deck.draw(chance.data(), chance.size());
    }
    return hand_over(std::move(drawn));
}

static void add_line(Widths& widths, const In<double>& left, const In<double>& right, double length, double cap, Code null) {
    check_line(look(left), look(right), length, cap, null);
    widths.add_line(copy(left), copy(right), length, cap, null);
}

static void add_tree(Widths& widths, const In<double>& single, const In<double>& gaps) {
    check_tree(look(single), look(gaps));
    widths.add_tree(copy(single), gaps.data());
}

static void loosen(Widths& widths, std::size_t axis, const In<double>& left, const In<double>& right, double narrow) {
    check_loose(widths, axis, look(left), look(right), narrow);
    widths.loosen(axis, copy(left), copy(right), narrow);
}

static void abridge(Widths& widths, const In<double>& printed) {
    check_abridged(widths, look(printed));
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

static void begin_lattice(Lattice* place, const Codes& codes, const In<std::int64_t>& weights) {
    check_boxes(look(codes), look(weights));
    new (place) Lattice(codes.data(), weights.data(), codes.shape(0), codes.shape(1));
}

static void add_axis(Lattice& lattice, const Codes& cells, const Table& widths) {
    require(widths.shape(0) == cells.shape(0), "every cell has a width");
    check_axis(lattice, look(cells), look(widths));
    lattice.add_axis(cells.data(), widths.data(), cells.shape(0), cells.shape(1));
}

static void step_on(Search& search, double heat, bool ruin, unsigned threads) {
    nb::gil_scoped_release release;
    require(heat >= 0 && std::isfinite(heat), "heat is finite, 0 or more");
    search.step(heat, ruin, crew(threads));
}

static void climb_on(Pricer& pricer, std::size_t steps, double goal) {
    nb::gil_scoped_release release;
    require(steps <= 1'000'000, "a million steps at most");
    require(std::isfinite(goal), "the goal is finite");
    pricer.climb(steps, goal);
}

NB_MODULE(_kernels, m) {
    const auto array = nb::arg().noconvert();  // never a copy with other numbers in it
    const auto one = nb::arg();
    nb::class_<Widths>(m, "Widths")
        .def(nb::init<>())
        .def("loosen", &loosen, one, array, array, one)
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
    nb::class_<HeldCounter>(m, "BoxCounter")
        .def("__init__", &hold_counter, array, array)
        .def("count", &count_boxes, array, array, one);
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
        .def("__init__", &begin_lattice, array, array)
        .def("add_axis", &add_axis, array, array)
        .def("roll", &roll_lattice)
        .def("look", &look_at_nodes, array, one, one)
        .def("classes", &classes_at);
    nb::class_<Urns>(m, "Urns")
        .def("__init__", [](Urns* made, const In<std::int64_t>& starts, const In<std::int64_t>& rows) {
            check_urns(look(starts), look(rows));
            new (made) Urns(starts.data(), starts.size() - 1, rows.data());
        }, array, array)
        .def("draw", &draw_shares, array, array);
    nb::class_<Deck>(m, "Deck").def(nb::init<std::uint32_t>(), one).def("draw", &draw_cards, array);
    nb::class_<Search>(m, "Search")
        .def("__init__", &begin_search, array, one, array, one, one, array, array, array, one)
        .def("step", &step_on)
        .def("shares", [](const Search& search) { return hand_over(search.best()); })
        .def_prop_ro("price", &Search::price)
        .def_prop_ro("work", &Search::work)
        .def_prop_ro("rounds", &Search::rounds);
    nb::class_<Pricer>(m, "Pricer")
        .def("__init__", &begin_pricing, array, array, one, array, one)
        .def("climb", &climb_on)
        .def_prop_ro("bound", &Pricer::bound);
    m.def("peel_points", &peel_points, array, array, one, array, one, one, one, one, one);
    m.def("grow_points", &grow_points, array, array, array, one, one, one, one, one, one);
    m.def("leave_out", &leave_out, array, array, one, array, one, array, array, array, one, one);
    m.def("order_points", &order_points, array, array, one, one);
    m.def("order_by_hilbert", &order_by_hilbert, array, one);
    m.def("cut_order", &cut_order, array, array, array, one, one, one, one);
    m.def("distinct_rows", &find_distinct, array);
    m.def("add_up", &add_shares, array, array, array);
    m.def("price_classes", &price_classes, array, one, array, array, array);
    m.def("merge_points", &merge_points, array, array, one, one, one);
    m.def("reach_rows", &reach_rows, array, array, one, one, one);
    m.def("reach_farthest", &reach_farthest, array, array, one, one, one);
    m.def("repair_classes", &repair_classes, array, array, one, one, one, array, array, array, one, one);
    m.def("walk_path", &walk_path, array, array, one, one);
    m.def("bound_side", &bound_side, array, array, one, one, one);
    m.def("gather_points", &gather_points, array, array, one, one, one, one);
    m.def("enclosing_radius", &enclosing_radius, array);
}
