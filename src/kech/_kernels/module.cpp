// The door of the kernels: arrays in, arrays out, no checks, GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "bounding.hpp"
#include "cutting.hpp"
#include "merging.hpp"
#include "ordering.hpp"
#include "peeling.hpp"
#include "searching.hpp"

namespace nb = nanobind;
using namespace kech;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
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

static Levels read_levels(const std::vector<Codes>& tables, const Widths& widths) {
    Levels levels;
    for (const auto& t : tables) levels.add(t.data(), t.shape(0), t.shape(1), widths);
    return levels;
}

static nb::list peel_points(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                            const std::vector<Codes>& tables, const std::vector<std::int64_t>& ks, std::size_t most_nodes,
                            std::uint64_t seed, unsigned threads) {
    std::vector<Share> shares;
    {
        nb::gil_scoped_release release;
        auto levels = read_levels(tables, widths);
        auto points = codes.shape(0);
        Nodes nodes(codes.data(), weights.data(), points, levels, most_nodes, seed);
        shares = Peeler(codes.data(), weights.data(), points, widths, levels, nodes).run(ks, threads);
    }
    return hand_over(std::move(shares));
}

static std::vector<double> bound_prices(const Codes& codes, const In<std::int64_t>& weights, const Widths& widths,
                                        const std::vector<std::int64_t>& ks, unsigned threads) {
    nb::gil_scoped_release release;
    return Bounder(codes.data(), weights.data(), codes.shape(0), widths, ks).run(threads);
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

static double enclosing_radius(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& places) {
    return EnclosingBall(places.data(), places.shape(0), places.shape(1)).radius();
}

NB_MODULE(_kernels, m) {
    nb::class_<Widths>(m, "Widths")
        .def(nb::init<>())
        .def("add_line", [](Widths& w, const In<double>& left, const In<double>& right, double length, double cap,
                            Code null) { w.add_line(copy(left), copy(right), length, cap, null); })
        .def("add_tree", [](Widths& w, const In<double>& single,
                            const In<double>& gaps) { w.add_tree(copy(single), gaps.data()); })
        .def("width", &Widths::width);
    nb::class_<Search>(m, "Search")
        .def("__init__", &begin_search)
        .def("step", &Search::step, nb::call_guard<nb::gil_scoped_release>())
        .def("shares", [](const Search& search) { return hand_over(search.best()); })
        .def_prop_ro("price", &Search::price)
        .def_prop_ro("work", &Search::work)
        .def_prop_ro("rounds", &Search::rounds);
    m.def("peel_points", &peel_points);
    m.def("grow_points", &grow_points);
    m.def("bound_prices", &bound_prices);
    m.def("order_points", &order_points);
    m.def("cut_order", &cut_order);
    m.def("merge_points", &merge_points);
    m.def("enclosing_radius", &enclosing_radius);
}
