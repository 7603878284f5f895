// The door of the kernels: arrays in, arrays out, no checks, GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "counting.hpp"
#include "crowding.hpp"
#include "cutting.hpp"
#include "gathering.hpp"
#include "hilbert.hpp"
#include "joining.hpp"
#include "merging.hpp"
#include "ordering.hpp"
#include "peeling.hpp"
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

static std::vector<double> copy(const In<double>& array) { return {array.data(), array.data() + array.size()}; }

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
        order = KdOrder(codes.data(), weights.data(), codes.shape(0), widths).run(threads);
    }
    return hand_over(std::move(order));
}

static Out<std::int64_t> order_by_hilbert(const Codes& codes, const Widths& widths) {
    std::vector<std::int64_t> order;
    {
        nb::gil_scoped_release release;
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
        Cutter cutter(codes.data(), weights.data(), order.data(), codes.shape(0), widths, part);
        shares = cutter.run(ks, threads);
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
        share = add_up(point.data(), group.data(), rows.data(), point.size());
    }
    return hand_over(std::move(share));
}

static double price_classes(const Codes& codes, const Widths& widths, const In<std::int64_t>& point,
                            const In<std::int64_t>& group, const In<std::int64_t>& rows) {
    nb::gil_scoped_release release;
    return price_shares(codes.data(), widths, point.data(), group.data(), rows.data(), point.size());
}

static Levels read_levels(const std::vector<Codes>& tables, const Widths& widths) {
    Levels levels;
    for (const auto& t : tables) levels.add(t.data(), t.shape(0), t.shape(1), widths);
    return levels;
}

static nb::list peel_points(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                            const std::vector<Codes>& tables, const std::vector<std::int64_t>& ks,
                            const std::vector<double>& limits, std::size_t most_nodes, std::uint64_t seed,
                            unsigned threads) {
    std::vector<Share> shares;
    {
        nb::gil_scoped_release release;
        auto levels = read_levels(tables, widths);
        auto points = codes.shape(0);
        Nodes nodes(codes.data(), weights.data(), points, levels, most_nodes, seed);
        shares = Peeler(codes.data(), weights.data(), points, widths, levels, nodes).run(ks, limits, threads);
    }
    return hand_over(std::move(shares));
}

static nb::tuple grow_points(const Codes& codes, const In<std::int64_t>& weights, const In<std::int64_t>& order,
                             const Widths& widths, std::int64_t k, bool part, std::size_t stretch, std::uint64_t seed,
                             unsigned threads) {
    Share share;
    {
        nb::gil_scoped_release release;
        Ground ground{{codes.data(), codes.data() + codes.size()}, widths.axes(), widths, {}, k, part};
        share = grow_classes(ground, weights.data(), order.data(), codes.shape(0), stretch, seed, threads);
    }
    return hand_over(std::move(share));
}

static void begin_search(Search* place, const Codes& codes, const Widths& widths, const std::vector<Codes>& tables,
                         std::int64_t k, bool part, const In<std::int64_t>& point, const In<std::int64_t>& group,
                         const In<std::int64_t>& rows, std::uint64_t seed) {
    Share start{{point.data(), point.data() + point.size()},
                {group.data(), group.data() + group.size()},
                {rows.data(), rows.data() + rows.size()}};
    std::vector<Code> copied(codes.data(), codes.data() + codes.size());
    nb::gil_scoped_release release;
    new (place) Search({std::move(copied), widths.axes(), widths, read_levels(tables, widths), k, part}, start, seed);
}

static nb::tuple leave_out(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                           const std::vector<In<double>>& growth, std::int64_t k, const In<std::int64_t>& point,
                           const In<std::int64_t>& group, const In<std::int64_t>& rows, double price,
                           std::int64_t limit) {
    Share start{{point.data(), point.data() + point.size()},
                {group.data(), group.data() + group.size()},
                {rows.data(), rows.data() + rows.size()}};
    std::vector<Codebook> books;
    for (const auto& of_axis : growth) books.push_back({copy(of_axis), {}, 0});
    {
        nb::gil_scoped_release release;
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
        auto points = codes.shape(0);
        auto edges = ball ? SpanningTree<SquareSum>(codes.data(), points, widths, threads).run()
                          : SpanningTree<WidestSide>(codes.data(), points, widths, threads).run();
        std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.length < b.length; });
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
        found = Reacher<SideSum>(codes.data(), weights.data(), codes.shape(0), widths).sums(ks, threads);
    }
    return hand_over(std::move(found));
}

static Out<double> reach_farthest(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                                  const std::vector<std::int64_t>& ks, unsigned threads) {
    std::vector<double> found;
    {
        nb::gil_scoped_release release;
        found = Reacher<WidestSide>(codes.data(), weights.data(), codes.shape(0), widths).largest(ks, threads);
    }
    return hand_over(std::move(found));
}

static nb::dict walk_path(const std::vector<In<std::int64_t>>& path, const In<std::int64_t>& weights, bool unions,
                          unsigned threads) {
    std::vector<const std::int64_t*> nodes;
    for (auto& classes : path) nodes.push_back(classes.data());
    Zigzag found;
    {
        nb::gil_scoped_release release;
        found = PathWalk(nodes, weights.data(), weights.size(), unions).run(threads);
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
        possible = Centres(codes.data(), weights.data(), codes.shape(0), widths, k).run(reach, most_pairs, made);
    }
    return nb::make_tuple(possible, hand_over(std::move(made)));
}

static double bound_side(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths, std::int64_t k,
                         unsigned threads) {
    nb::gil_scoped_release release;
    return Loneliest(codes.data(), weights.data(), codes.shape(0), widths).run(k, threads);
}

static nb::tuple repair_classes(const Codes& codes, const Codes& secrets, const Widths& widths, std::int64_t k,
                                const Aims& aims, const In<std::int64_t>& point, const In<std::int64_t>& group,
                                const In<std::int64_t>& rows, bool split, bool apart) {
    Share found;
    {
        nb::gil_scoped_release release;
        Repair repair(codes.data(), secrets.data(), secrets.shape(1), widths, k, aims, split);
        found = repair.run(point.data(), group.data(), rows.data(), point.size(), apart);
    }
    return nb::make_tuple(hand_over(std::move(found.point)), hand_over(std::move(found.group)),
                          hand_over(std::move(found.rows)));
}

static Out<std::int64_t> count_boxes(const BoxCounter& counter, const Codes& lo, const Codes& hi, std::int64_t enough) {
    std::vector<std::int64_t> found;
    {
        nb::gil_scoped_release release;
        found = counter.each(lo.data(), hi.data(), lo.shape(0), enough);
    }
    return hand_over(std::move(found));
}

static double enclosing_radius(const Table& places) {
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
        figures = lattice.roll(fixed, bound, threads);
    }
    return hand_over(std::move(figures));
}

static nb::dict look_at_nodes(const Lattice& lattice, const Codes& levels, std::size_t bound, unsigned threads) {
    NodeFigures figures(0, 0);
    {
        nb::gil_scoped_release release;
        figures = lattice.look(levels.data(), levels.shape(0), bound, threads);
    }
    return hand_over(std::move(figures));
}

static Out<std::int64_t> classes_at(const Lattice& lattice, const Lattice::Node& node) {
    std::vector<std::int64_t> found;
    {
        nb::gil_scoped_release release;
        found = lattice.classes(node);
    }
    return hand_over(std::move(found));
}

NB_MODULE(_kernels, m) {
    nb::class_<Widths>(m, "Widths")
        .def(nb::init<>())
        .def("loosen", [](Widths& w, std::size_t axis, const In<double>& left, const In<double>& right, double narrow) {
            w.loosen(axis, copy(left), copy(right), narrow);
        })
        .def("add_line", [](Widths& w, const In<double>& left, const In<double>& right, double length, double cap,
                            Code null) { w.add_line(copy(left), copy(right), length, cap, null); })
        .def("add_tree", [](Widths& w, const In<double>& single,
                            const In<double>& gaps) { w.add_tree(copy(single), gaps.data()); })
        .def("width", &Widths::width)
        .def("limited", &Widths::limited);
    nb::class_<Aims>(m, "Aims")
        .def("__init__", [](Aims* made, int kind, double l, double c, double t, double alpha,
                            const std::vector<bool>& ordered) {
            new (made) Aims{static_cast<Aims::Kind>(kind), l, c, t, alpha, ordered};
        });
    nb::class_<BoxCounter>(m, "BoxCounter")
        .def("__init__", [](BoxCounter* made, const Codes& codes, const In<std::int64_t>& weights) {
            new (made) BoxCounter(codes.data(), weights.data(), codes.shape(0), codes.shape(1));
        }, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("count", &count_boxes);
    nb::class_<Lattice>(m, "Lattice")
        .def("__init__", [](Lattice* made, const Codes& codes, const In<std::int64_t>& weights) {
            new (made) Lattice(codes.data(), weights.data(), codes.shape(0), codes.shape(1));
        })
        .def("add_axis", [](Lattice& lattice, const Codes& cells, const Table& widths) {
            lattice.add_axis(cells.data(), widths.data(), cells.shape(0), cells.shape(1));
        })
        .def("roll", &roll_lattice)
        .def("look", &look_at_nodes)
        .def("classes", &classes_at);
    nb::class_<Search>(m, "Search")
        .def("__init__", &begin_search)
        .def("step", &Search::step, nb::call_guard<nb::gil_scoped_release>())
        .def("shares", [](const Search& search) { return hand_over(search.best()); })
        .def_prop_ro("price", &Search::price)
        .def_prop_ro("work", &Search::work)
        .def_prop_ro("rounds", &Search::rounds);
    m.def("peel_points", &peel_points);
    m.def("grow_points", &grow_points);
    m.def("leave_out", &leave_out);
    m.def("order_points", &order_points);
    m.def("order_by_hilbert", &order_by_hilbert);
    m.def("cut_order", &cut_order);
    m.def("distinct_rows", &find_distinct);
    m.def("add_up", &add_shares);
    m.def("price_classes", &price_classes);
    m.def("merge_points", &merge_points);
    m.def("reach_rows", &reach_rows);
    m.def("reach_farthest", &reach_farthest);
    m.def("repair_classes", &repair_classes);
    m.def("walk_path", &walk_path);
    m.def("bound_side", &bound_side);
    m.def("gather_points", &gather_points);
    m.def("enclosing_radius", &enclosing_radius);
}
