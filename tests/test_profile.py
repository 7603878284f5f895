"""A profile counts the rows that cannot hide; scipy's nearest rows, all pairs and all simplices decide."""

import dataclasses
import json
import time
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial import cKDTree

import kech
from kech.errors import BadOption, TooFewPeople, TooFewRows
from kech.tables.demo import nine_rows
from kech.topology.profile import build_profile
from strategies import unhurried
from topology_oracles import KINDS, build_filtration, components, coordinates, distances, line_points, mixed_points

METRICS = ("box", "ball")
metrics = pytest.mark.parametrize("metric", METRICS)
SIDE = 8  # of a square; distances are eighths, so that floats are exact


def profile_of(frame, columns=None, person=(), **options):
    roles = {"quasi_identifiers": columns or [c for c in frame.columns if c != "who"], "person": person}
    with kech.read_table(frame, **roles, rows_are_people=not person) as table:
        return kech.compute_profile(table, **options)


def small_sets(seed, count, metric):
    rng, kinds = np.random.default_rng(seed), list(KINDS)
    for i in range(count):
        shape = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        if metric == "box" and i % 2:
            yield mixed_points(rng, *shape)
        else:
            yield line_points(coordinates(rng, kinds[i % len(kinds)], *shape))


# The paper's rows


@metrics
def test_the_nine_rows(metric):
    rows = np.stack([nine_rows()[name].to_numpy() for name in ("age", "zip")], axis=1)
    found = profile_of(nine_rows().select(["age", "zip"]).to_pandas(), metric=metric)

    unit = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    far, _ = cKDTree(unit).query(unit, k=9, p=np.inf if metric == "box" else 2)
    for k in range(1, 10):
        assert found.eps_for(k, [1 / 9, 5 / 9, 1]) == pytest.approx(np.sort(far[:, k - 1])[[0, 4, 8]] / 2)
    assert found.eps_for(3, [1.0]) == pytest.approx([0.25], abs=1e-4)  # eps* of Table 1(b): the bound is met
    assert found.shares(3, 0.2501)["exposed_at_least"] == 0.0
    assert found.shares(3, 0.2141 if metric == "ball" else 0.1833)["alone"] > 0
    assert found.shares(3, 0.2143 if metric == "ball" else 0.1834)["alone"] == 0


# Laws


@metrics
@pytest.mark.parametrize("axes", [1, 2, 5])
def test_radii_are_those_of_scipy(metric, axes):
    values = np.random.default_rng(axes).random((1500, axes))
    values[1200:] = values[:300]  # twins
    points = line_points(values)
    unit = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    far, _ = cKDTree(unit).query(unit, k=100, p=np.inf if metric == "box" else 2)

    for threads in (1, 3):
        found = build_profile(points, metric, threads=threads)
        for k in (1, 2, 3, 10, 99, 100):
            expected = np.sort(far[:, k - 1])[[14, 149, 749, 1349, 1499]] / 2
            assert found.eps_for(k, [0.01, 0.1, 0.5, 0.9, 1.0]) == pytest.approx(expected, abs=1e-12)


@metrics
def test_rows_beside_much_denser_ones_have_the_radii_of_scipy(metric):
    rng = np.random.default_rng(4)
    values = np.where(rng.random((3000, 3)) < 0.5, 0.0, 1000.0) + rng.normal(size=(3000, 3))
    dense = rng.random((3000, 3)) < 0.7
    values[dense] = (
        np.round(values[dense], -3) + rng.normal(size=dense.sum()) / 1000
    )  # many within one group of the tree
    unit = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    far, _ = cKDTree(unit).query(unit, k=100, p=np.inf if metric == "box" else 2)

    reaches = build_profile(line_points(values), metric).reaches

    for k in (2, 10, 100):
        assert np.sort(reaches.at(k)) == pytest.approx(np.sort(far[:, k - 1]) / 2, abs=1e-12)


def test_radii_of_mixed_rows_are_those_of_all_pairs():
    rng = np.random.default_rng(25)
    for axes in (1, 2, 3, 4, 6) * 2:
        points = mixed_points(rng, 400, axes)
        apart = distances(points, "box")
        nearest = np.argsort(apart, axis=1, kind="stable")
        rows = np.cumsum(points.weights[nearest], axis=1)
        far = np.take_along_axis(apart, nearest, axis=1)

        found = build_profile(points, "box").reaches

        for k in (1, 2, 7, 30, 100):
            expected = far[np.arange(len(far)), (rows < k).sum(axis=1)] / 2
            assert found.at(k) == pytest.approx(expected[found.order], abs=1e-12)


def test_rows_among_columns_without_an_order_cost_less_than_in_scipy():
    rng = np.random.default_rng(8)
    codes = rng.zipf(1.6, (6000, 7)) % 12
    frame = pd.DataFrame({f"c{j}": np.char.add("v", column.astype(str)) for j, column in enumerate(codes.T)})
    frame["age"] = rng.integers(17, 90, len(frame))
    unit = np.column_stack([codes, frame["age"] / 73])

    began = time.process_time()
    cKDTree(unit).query(unit, k=100, p=np.inf)
    scipy = time.process_time() - began
    with kech.read_table(frame, quasi_identifiers=list(frame), threads=1) as table:
        began = time.process_time()
        kech.compute_profile(table)
        took = time.process_time() - began

    assert took < scipy  # a quarter, as a rule; four times, where all rows at distance 1 are gathered


@metrics
def test_shares_bound_the_rows_that_are_in_no_simplex(metric):
    for points in small_sets(5, 24, metric):
        found, far = build_profile(points, metric), distances(points, metric)
        near = np.array([np.sort(np.repeat(row, points.weights)) for row in far])
        parts = {eps: components(far, eps) for eps in np.unique(far / 2)}
        for k in range(1, min(points.rows, 100) + 1):
            for eps in parts if metric == "box" else ():
                seen = found.shares(k, eps)
                weighed = [points.weights[chosen].sum() / points.rows for chosen in near_and_far(near, k, eps)]
                assert [seen["exposed_at_least"], seen["exposed_at_most"]] == pytest.approx(weighed)
                assert weighed[0] - 1e-9 <= in_no_simplex(points, far, k, eps) <= weighed[1] + 1e-9
                assert seen["alone"] == pytest.approx(in_small_components(points, parts[eps], k))
                assert seen["alone"] <= seen["exposed_at_least"]
            assert found.eps_for(k, [1.0]) == pytest.approx([near[:, k - 1].max() / 2], abs=1e-9)


def near_and_far(near, k, eps):
    """Points whose k-th nearest row is farther than 2 eps, and than eps while not all rows are in one box; two rows
    are a simplex at half their distance.
    """
    exposed = near[:, k - 1] / 2 > eps
    return exposed, (near[:, k - 1] / 2 > eps / 2) & (eps < near.max() / 2) if k > 2 else exposed


def in_no_simplex(points, far, k, eps):
    """The share of rows in no set of k rows that are pairwise within 2 eps: subset by subset."""
    hidden, count = set(), len(points.weights)
    for size in range(1, count + 1):
        for some in combinations(range(count), size):
            if points.weights[list(some)].sum() >= k and far[np.ix_(some, some)].max() / 2 <= eps:
                hidden |= {*some}
    return points.weights[[i for i in range(count) if i not in hidden]].sum() / points.rows


def in_small_components(points, parts, k):
    sizes = [points.weights[list(part)].sum() for part in parts]
    return sum(size for size in sizes if size < k) / points.rows


@metrics
@pytest.mark.parametrize("person", [(), ("who",)])
def test_at_k_2_the_share_of_exposed_rows_is_known(metric, person):
    """A row and the nearest one of somebody else are a simplex at half their distance, and nothing is one before."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.integers(0, 90, 70), "y": rng.integers(0, 90, 70), "who": rng.integers(0, 30, 70)})
    unit = frame[["x", "y"]] / np.ptp(frame[["x", "y"]], axis=0)
    far = np.linalg.norm(unit.to_numpy()[:, None] - unit.to_numpy(), np.inf if metric == "box" else 2, axis=2)
    same = np.equal.outer(*[frame["who"].to_numpy()] * 2) if person else np.eye(70, dtype=bool)
    nearest = np.where(same, np.inf, far).min(axis=1) / 2
    found = profile_of(frame, ["x", "y"], person, metric=metric)

    for eps in np.quantile(nearest, [0.1, 0.5, 0.9]) + 1e-9:
        seen = found.shares(2, float(eps))
        assert seen["exposed_at_least"] == seen["exposed_at_most"] == pytest.approx((nearest > eps).mean())
    assert found.eps_for(2) == found.safe_eps_for(2)


def test_mixed_columns_with_many_ties_are_those_of_all_pairs():
    rng = np.random.default_rng(7)
    for axes in (2, 4):
        points = mixed_points(rng, 600, axes)
        far = distances(points, "box")
        near = np.array([np.sort(np.repeat(row, points.weights))[:100] for row in far])
        found = build_profile(points, "box")
        for k in (1, 2, 7, 50, 100):
            order = np.argsort(near[:, k - 1], kind="stable")
            reached = np.searchsorted(np.cumsum(points.weights[order]), [1, points.rows // 2, points.rows])
            expected = near[order[reached], k - 1] / 2
            shares = [1 / points.rows, (points.rows // 2) / points.rows, 1.0]
            assert found.eps_for(k, shares) == pytest.approx(expected.tolist(), abs=1e-12)


@metrics
def test_classes_that_cuts_found_bound_the_exposed_rows_from_above(metric):
    for points in small_sets(6, 24, metric):
        ks, far = range(1, points.rows + 1), distances(points, metric)
        plain = build_profile(points, metric)
        found = kech.search_partitions(plain, list(ks)[::2], effort="quick")
        for k in ks:
            reached = min(
                cut.eps_at_most for goal, cut in found.reached.items() if goal >= k or goal == max(found.reached)
            )
            for eps in {*np.unique(far / 2).tolist(), reached}:
                seen, before = found.shares(k, eps), plain.shares(k, eps)
                assert seen["exposed_at_least"] <= seen["exposed_at_most"] <= before["exposed_at_most"]
                if metric == "box":
                    assert in_no_simplex(points, far, k, eps) <= seen["exposed_at_most"] + 1e-9
            if k <= max(found.reached):
                assert found.shares(k, reached)["exposed_at_most"] == 0
                assert found.safe_eps_for(k, [1.0])[0] <= reached


@metrics
def test_u_is_what_the_barcode_has_in_small_bars(metric):
    for points in small_sets(9, 30, metric):
        tree, found = build_filtration(points, metric), build_profile(points, metric)
        for k in range(1, points.rows + 1):
            for eps in np.unique(tree.birth):
                bars = tree.nodes_at(eps)
                small = tree.weight[bars][tree.weight[bars] < k].sum()
                assert found.shares(k, float(eps))["alone"] == pytest.approx(small / points.rows)
            far = distances(points, metric)
            for at in kech.WeightedBarcode(tree).list_joining(k):
                parts = components(far, at["eps"] + 1e-12)
                left = in_small_components(points, parts, k) * points.rows
                assert (at["classes"], at["rows_left"]) == (len(parts), pytest.approx(left))


@metrics
@pytest.mark.parametrize("k", [2, 4, 7])
def test_u_is_that_of_the_condensed_tree_of_hdbscan(metric, k):
    rows = np.random.default_rng(k).random((60, 2)) ** 2
    unit = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    found = profile_of(pd.DataFrame(rows, columns=["x", "y"]), metric=metric)
    far = np.array(fall_out(linkage(unit, "single", "chebyshev" if metric == "box" else "euclidean"), k))

    for eps in [*np.sort(far)[[5, 30, 50]] / 2 * (1 + 1e-9), 0.01, 0.1]:
        assert found.shares(k, float(eps))["alone"] == pytest.approx(np.mean(far / 2 > eps))


@metrics
@pytest.mark.parametrize("k", [2, 5])
def test_u_is_the_noise_of_scikit_learns_hdbscan(metric, k):
    cluster = pytest.importorskip("sklearn.cluster")
    rows = np.random.default_rng(k).random((150, 2)) ** 3
    unit = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    found = profile_of(pd.DataFrame(rows, columns=["x", "y"]), metric=metric)
    distance = "chebyshev" if metric == "box" else "euclidean"
    tree = cluster.HDBSCAN(min_cluster_size=2, min_samples=1, metric=distance, copy=True).fit(unit)

    for eps in (0.002, 0.01, 0.03):
        noise = tree.dbscan_clustering(2 * eps, min_cluster_size=k) == -1
        assert found.shares(k, eps)["alone"] == pytest.approx(noise.mean())
        assert 0 < noise.mean() < 1


def fall_out(merges, k):
    """The distance at which each row leaves its last cluster of k rows, as distances shrink: Campello et al. (2013)."""
    count = len(merges) + 1
    far = [0.0] * count

    def rows(node):
        return [node] if node < count else [row for child in merges[node - count, :2] for row in rows(int(child))]

    def condense(node):
        for child in map(int, merges[node - count, :2]) if node >= count else ():
            if len(rows(child)) >= k:
                condense(child)
            else:
                for row in rows(child):
                    far[row] = merges[node - count, 2]

    condense(2 * count - 2)
    return far


# People


@st.composite
def visits(draw):
    place = st.tuples(st.integers(0, SIDE), st.integers(0, SIDE), st.integers(0, 6))
    rows = [(0, 0, 0), (SIDE, SIDE, 1), (3, 3, 0), *draw(st.lists(place, min_size=1, max_size=12))]
    return pd.DataFrame(rows, columns=["x", "y", "who"]).astype({"who": str})


@settings(unhurried, max_examples=15)
@given(visits())
def test_people_are_counted_as_sets(frame):
    found, places, who = profile_of(frame, person="who"), frame[["x", "y"]].to_numpy(), frame["who"].to_numpy()
    far, people = np.abs(places[:, None] - places[None]).max(axis=2) / SIDE, len({*who})
    for k, step in product(range(1, people + 1), range(0, 2 * SIDE + 1, 2)):
        eps, seen = step / (2 * SIDE), found.shares(k, step / (2 * SIDE))
        for name, reach in (("exposed_at_least", 2 * eps), ("exposed_at_most", eps if k > 2 else 2 * eps)):
            exposed = [len({*who[near]}) < k and eps < far.max() / 2 for near in far <= reach]
            assert seen[name] == pytest.approx(np.mean(exposed))
            assert seen[f"people_{name}"] == pytest.approx(len({*who[exposed]}) / people)
        small = [row for part in components(far, eps) if len({*who[[*part]]}) < k for row in part]
        assert seen["alone"] == pytest.approx(len(small) / len(who))
        assert seen["people_alone"] == pytest.approx(len({*who[small]}) / people)


def test_many_rows_of_few_people_are_searched_farther():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.random(900), "y": rng.random(900), "who": rng.integers(0, 130, 900).astype(str)})
    frame.loc[:200, "who"] = "7"  # hides nobody but itself
    found = profile_of(frame, person="who")
    unit = frame[["x", "y"]].to_numpy()
    unit = (unit - unit.min(axis=0)) / np.ptp(unit, axis=0)
    far = np.abs(unit[:, None] - unit[None]).max(axis=2)
    who = frame["who"].to_numpy(str)
    reached = []
    for row in far:
        order = np.argsort(row, kind="stable")
        _, first = np.unique(who[order], return_index=True)
        reached.append(row[order[np.sort(first)]] / 2)  # where each new person is met
    for k in (2, 20, 100):
        radii = [met[k - 1] for met in reached]
        assert found.eps_for(k, [0.5, 1.0]) == pytest.approx(np.sort(radii)[[449, 899]].tolist())


# Columns


@pytest.mark.parametrize("person", [(), "who"])
def test_a_column_is_left_out_as_if_the_table_had_never_had_it(person):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 30, 200), "b": rng.integers(0, 9, 200), "c": rng.choice([*"xyz"], 200)})
    frame["who"] = rng.integers(0, 90, 200).astype(str)
    found = profile_of(frame, [*"abc"], person)
    for line in found.columns([2, 10]):
        rest = profile_of(frame, [c for c in "abc" if c != line["column"]], person)
        assert line["eps_half"] == found.eps_for(line["k"], [0.5])[0]
        assert line["eps_half_without"] == rest.eps_for(line["k"], [0.5])[0]


def test_without_its_only_column_all_rows_are_alike():
    found = profile_of(pd.DataFrame({"a": [1, 2, 5, 9]}))

    assert [line["eps_half_without"] for line in found.columns([2, 4])] == [0.0, 0.0]


def test_advice_names_the_column_that_isolates_and_counts_the_last_rows():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"few": rng.integers(0, 2, 400), "many": rng.random(400), "one": 7})
    frame.loc[:1, "many"] = [900.0, 5000.0]  # two rows, 0.5 %, far from all others
    found = profile_of(frame)
    advice = found.advise(5)

    assert advice["column"] == "many"
    assert advice["eps_half_without"] == profile_of(frame, ["few", "one"]).eps_for(5, [0.5])[0] == 0.0
    assert advice["last_rows"] == 2
    rest = np.sort(found.reaches.at(5))
    assert (advice["eps_but_last"], advice["eps_all"]) == (rest[397], rest[399])
    assert found.to_json([5])["advice"] == [advice]


def test_advice_names_the_column_that_keeps_the_last_tenth_apart():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.random(200), "cabin": ["none"] * 150 + [f"c{i}" for i in range(50)]})
    found = profile_of(frame)
    advice = found.advise(5)

    assert (advice["column"], advice["last_column"]) == ("age", "cabin")
    assert advice["eps_most"] == found.eps_for(5, [0.9])[0] == 0.5
    assert advice["eps_most_without"] == profile_of(frame, ["age"]).eps_for(5, [0.9])[0] < 0.1
    html = found._repr_html_()
    assert "; age isolates most, cabin the last tenth." in html
    assert "cabin keeps the last tenth apart: without it 90 % of the rows could hide from" in html


def test_advice_names_columns_that_isolate_only_together(tmp_path, run):
    """Any one column may be left out: the others still keep everybody apart."""
    rng = np.random.default_rng(3)
    letters = {name: rng.choice(list("abcdefghijkl"), 300) for name in ("job", "town", "school")}
    frame = pd.DataFrame({"age": rng.random(300), "sex": rng.choice(["f", "m"], 300), **letters})
    axes = dict.fromkeys(("job", "town", "school", "sex"), "set")
    with kech.read_table(frame, quasi_identifiers=[*frame], axes=axes) as table:
        found = kech.compute_profile(table)
        advice = found.advise(5)
    chosen, rest = advice["columns"], advice["eps_half_without_columns"]
    alone = {name: found.without(name, [5])[0].half for name in frame}

    assert len(chosen) == 2 and {*chosen} < {*letters}
    assert {*alone.values(), advice["eps_half"]} == {0.5} and rest < 0.5
    others = frame.drop(columns=chosen)
    with kech.read_table(others, quasi_identifiers=[*others], axes={n: "set" for n in others if n in axes}) as table:
        assert kech.compute_profile(table).eps_for(5, [0.5]) == [rest]
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("--qi", *frame, "--axis", *[f"{name}=set" for name in axes], "--k", "5")
    said = " ".join(run("profile", tmp_path / "t.csv", *words).out.split())
    assert "from eps 0.5, all from 0.5; 2 columns isolate together" in said
    names = ", ".join(chosen)
    assert f"Without {names} together half of the rows could hide from eps {rest:.4g} on at best, now from 0.5." in said


def test_a_title_names_no_more_columns_than_it_has_room_for():
    pytest.importorskip("matplotlib")
    names = {"half": "h" * 30, "tenth": "t" * 30}
    frame = pd.DataFrame(
        {"half": np.random.default_rng(1).random(200), "tenth": ["none"] * 150 + [*map(str, range(50))]}
    )
    found = profile_of(frame.rename(columns=names))
    found.advise(5)
    title = next(text.get_text() for text in found.plot().figure.texts if text.get_text().startswith("k = 5"))

    assert title.endswith(", all from 0.5")


def test_the_screen_says_what_to_do(tmp_path, run):
    frame = pd.DataFrame({"a": [*range(398), 5000, 9000], "b": [1] * 400})
    frame.to_csv(tmp_path / "t.csv", index=False)
    shown = run("profile", tmp_path / "t.csv", "--qi", "a", "b", "--k", "5", "--eps", "0.1").out

    assert "k = 5: at best, half of the rows can hide from eps 0.000111, all from 0.478; a isolates most" in shown
    assert "a isolates most: without it half of the rows could hide from eps 0 on at best, now from 0.0001111." in shown
    assert "No release of all rows with exact edges goes below eps 0.4781." in shown
    assert "Without the last 2 rows to hide (kech profile --rows), none goes below 0.0002222." in shown


def test_the_screen_says_one_bound_of_releases_and_no_weaker_one(tmp_path, run):
    """At k = 2 row 7 of the paper could hide beside row 8 from 0.1833 on, but row 9 would be left alone then."""
    nine_rows().to_pandas().to_csv(tmp_path / "t.csv", index=False)
    words = ["profile", tmp_path / "t.csv", "--qi", "age", "zip", "--k", "2"]
    shown, (advice,) = run(*words).out, run(*words, "--json").json["advice"]
    plain = run(*words, "--no-cuts").out

    none = "No release of all rows with exact edges goes below eps"
    assert f"{none} 0.2333. Without 0.5 % of them, none goes below 0.1833." in shown
    assert f"{none} 0.1833. Not even one without 0.5 % of them does." in plain
    assert (advice["eps_all"], advice["eps_bound"]) == pytest.approx((0.18333, 0.23333), abs=1e-5)


def test_classes_of_people_who_share_a_place_lower_the_upper_bounds():
    """Two people with one row each are one unit of the points, and two grains of a class."""
    frame = pd.DataFrame({"x": [3, 4, 3, 2, 1, 3], "y": [0, 9, 0, 0, 0, 0], "who": [*"BDCDAE"]})
    with kech.read_table(frame, quasi_identifiers=["x", "y"], person="who") as table:
        for metric in ("box", "ball"):
            cut = kech.search_partitions(kech.compute_profile(table, metric=metric), [2, 4], effort="quick")
            for k in (2, 4):
                assert cut.safe_eps_for(k, [1.0])[0] <= cut.reached[k].eps_at_most
            assert cut.shares(3, 0.0)["exposed_at_most"] == 0.5  # B, C and E stand at one place


# Odd tables, and what a user sees


def test_one_row_hides_from_nobody():
    found = profile_of(pd.DataFrame({"a": [1]}))

    assert found.largest_k == 1
    assert found.shares(1, 0.0) == {"k": 1, "eps": 0.0, "alone": 0, "exposed_at_least": 0, "exposed_at_most": 0}
    assert "PRIVATE" in found._repr_html_()


@pytest.mark.parametrize(
    ("ks", "eps", "refusal"),
    [([10], None, TooFewRows), ([0], None, BadOption), (None, [-1.0], BadOption), (None, [], BadOption)],
)
def test_what_cannot_be_listed_is_refused(ks, eps, refusal):
    found = profile_of(nine_rows().to_pandas(), ["age", "zip"])

    with pytest.raises(refusal):
        found.to_json(ks, eps)


def test_k_beyond_the_people_is_refused():
    frame = pd.DataFrame({"a": [1, 2, 3], "who": [*"aab"]})

    with pytest.raises(TooFewPeople):
        profile_of(frame, ["a"], "who").shares(3, 0.1)


def test_the_command_prints_what_python_gives(tmp_path, run):
    frame = pd.DataFrame({"a": range(60), "b": [i % 7 for i in range(60)], "who": [f"p{i % 50}" for i in range(60)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ["--qi", "a", "b", "--person", "who", "--k", "2,5", "--eps", "0.05,0.2"]
    outcome = run("profile", tmp_path / "t.csv", *options, "--plot", tmp_path / "p.svg", "--json")
    shown = json.loads(outcome.out)

    found = kech.search_partitions(profile_of(frame, person="who"), [2, 5], effort="quick")
    assert shown == {**found.to_json([2, 5], [0.05, 0.2]), "plot": str(tmp_path / "p.svg")}
    assert [cut["k"] for cut in shown["reached"]] == [2, 5]
    assert all(cut["eps_at_least"] <= cut["eps_at_most"] <= cut["local_eps"] for cut in shown["reached"])
    drawn = (tmp_path / "p.svg").read_text("utf-8")
    assert all(words in drawn for words in ("minimal cut", "k = 5: at best, half of the rows can hide", "PRIVATE"))
    assert run("profile", tmp_path / "t.csv", *options, "--no-cuts", "--json").out.count('"reached": []') == 1
    assert [line["k"] for line in shown["profile"]] == [2, 2, 5, 5]


def test_the_screen_says_private_and_counts(tmp_path, run):
    nine_rows().to_pandas().to_csv(tmp_path / "t.csv", index=False)
    shown = run("profile", str(tmp_path / "t.csv"), "--qi", "age", "zip", "--k", "2,3", "--eps", "0.1").out

    assert shown.startswith("PRIVATE")
    assert "(none)" in shown
    box = "A row can hide at eps among k rows of which no column differs by more than 2 eps of its range."
    assert f"9 rows, metric box\n{box} eps is measured between values as they are" in shown


@pytest.mark.parametrize(("rows", "ends"), [(9, "Of so few rows, 0.5 % is not one."), (300, "at one eps.")])
def test_the_screen_says_why_no_last_row_is_named_and_that_axes_stay(tmp_path, run, rows, ends):
    pd.DataFrame({"a": [i % 3 for i in range(rows)]}).to_csv(tmp_path / "t.csv", index=False)
    shown = run(
        "profile", tmp_path / "t.csv", "--qi", "a", "--k", "2", "--rows", "--one-person", "--rows-are-people"
    ).out

    assert [line.endswith(ends) for line in shown.splitlines() if line.startswith("k = 2: kech release")] == [True]
    assert "The columns keep their ranges here." in shown


def test_the_title_of_the_picture_is_of_the_k_that_was_listed():
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(4)
    found = profile_of(pd.DataFrame({"few": rng.integers(0, 2, 400), "many": rng.random(400)}))
    half, every = (f"{eps:.3g}" for eps in found.eps_for(20, [0.5, 1.0]))
    found.to_json([20])
    title = f"k = 20: at best, half of the rows can hide from eps {half}, all from {every}"

    assert f"{title}; many isolates most" in [text.get_text() for text in found.plot().figure.texts]


def test_spectra_with_exact_edges_measure_eps_as_profiles_do():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        reached = kech.search_partitions(kech.compute_profile(table), [2, 3, 4]).reached
        spectrum = kech.compute_spectrum(table, k=[2, 3, 4], cut="minimal", grid="exact").to_json()["spectrum"]

    assert [row["eps"] for row in spectrum] == pytest.approx([reached[k].eps_at_most for k in (2, 3, 4)], abs=1e-12)


# -- the last rows, one person, stability ------------------------------------------------------------------


def test_what_releases_reach_grows_with_k():
    rng = np.random.default_rng(1)
    rows = {"age": rng.integers(18, 65, 120), "sex": rng.choice(["f", "m"], 120)}
    rows |= {"bmi": rng.normal(30, 6, 120).round(1), "children": rng.geometric(0.45, 120).clip(max=6) - 1}
    found = kech.search_partitions(profile_of(pd.DataFrame(rows)), [5, 7, 10, 20], effort="quick")

    reached = [found.reached[k] for k in (5, 7, 10, 20)]

    assert list(found.reached) == [5, 7, 10, 20]
    assert sorted(reach.eps_at_most for reach in reached) == [reach.eps_at_most for reach in reached]
    assert all(found.shares(reach.k, reach.eps_at_most)["exposed_at_most"] == 0 for reach in reached)


def test_the_last_rows_to_hide_are_listed_by_their_place_in_the_table():
    places = np.random.default_rng(4).permutation(1000)
    lonely = np.isin(places, [10, 990])  # off the diagonal on which all others lie
    frame = pd.DataFrame({"x": places, "y": np.where(lonely, 1000 - places, places)})
    with kech.read_table(frame, quasi_identifiers=["x", "y"]) as table:
        profile = kech.compute_profile(table)
        weighed = kech.weigh_last_rows(profile, 5)

        assert set(np.flatnonzero(lonely) + 1) <= set(profile.last_rows(5))
        assert len(profile.last_rows(5)) <= 5
    assert 2 <= weighed["left_out"] <= 5
    assert 0 < weighed["loss_without"] < weighed["loss"]


def test_what_leaving_out_saves_is_what_releases_lose(tmp_path, run):
    """The loss with --suppress 0.5%, and that of a table without the rows that hide last."""
    places = np.random.default_rng(4).permutation(1000)
    frame = pd.DataFrame({"x": places, "y": np.where(np.isin(places, [10, 990]), 1000 - places, places)})
    frame.to_csv(tmp_path / "all.csv", index=False)
    words = ("--qi", "x", "y", "--k", "5", "--rows-are-people")
    weigh = ("profile", tmp_path / "all.csv", *words, "--rows", "--no-cuts")
    (last,), said = run(*weigh, "--json").json["last"], " ".join(run(*weigh).out.split())
    frame.drop(index=[number - 1 for number in last["rows"]]).to_csv(tmp_path / "rest.csv", index=False)

    for name, file, more in (("loss", "all", "0"), ("loss_without", "all", "0.5%"), ("loss_without_last", "rest", "0")):
        exact = ("--grid", "exact", "--no-ledger", "-o", tmp_path / f"{name}.csv", "--suppress", more, "--json")
        released = run("release", tmp_path / f"{file}.csv", *words, *exact).json
        assert last[name] == pytest.approx(released["loss"], abs=1e-12)
    assert last["left_out"] >= 2 and last["loss_without"] != last["loss"] != last["loss_without_last"]
    loses = f"leaves out {last['left_out']} rows and loses {last['loss_without']:.4f} instead of {last['loss']:.4f}."
    assert f"k = 5: kech release --grid exact --suppress 0.5% {loses}" in said
    assert (
        f"Without those rows it loses {last['loss_without_last']:.4f} of the ranges that are left, instead of" in said
    )


def test_the_screen_names_one_last_row_as_one(tmp_path, run):
    (tmp_path / "people.csv").write_text("x\n" + "1\n" * 150 + "2\n" * 149 + "90\n", "utf-8")

    printed = run("profile", tmp_path / "people.csv", "--qi", "x", "--k", "2", "--rows").out

    assert "leaves out 1 row and loses 0.0000 instead of" in printed
    assert (
        "Last to hide is row 300. Without that row it loses 0.0000 of the ranges that are left, instead of" in printed
    )


def test_nobody_is_cut_without_the_last_rows_where_fewer_than_k_people_are_left():
    frame = pd.DataFrame({"x": [*range(400), 900], "who": [3, *(i % 3 for i in range(399)), 4]})
    with kech.read_table(frame, quasi_identifiers=["x"], person=["who"]) as table:
        profile = kech.compute_profile(table)

        assert profile.last_rows(5) == [1, 401]
        assert kech.weigh_last_rows(profile, 5)["loss_without_last"] is None
        assert kech.weigh_last_rows(profile, 3)["loss_without_last"] > 0


def test_rows_that_are_all_alike_have_no_last_ones():
    with kech.read_table(pd.DataFrame({"x": [7] * 300}), quasi_identifiers=["x"]) as table:
        profile = kech.compute_profile(table)

        assert profile.last_rows(2) == []
        assert kech.weigh_last_rows(profile, 2) == {
            "k": 2,
            "loss": 0.0,
            "loss_without": 0.0,
            "left_out": 0,
            "loss_without_last": None,
        }


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("metric", ["box", "ball"])
def test_without_any_one_person_all_rows_hide_between_the_two_radii(metric, k):
    """Every person is left out in turn, on the axes of all: the range of eps is told, and its upper end is met."""
    rng = np.random.default_rng(k)
    for rows in (5, 6, 12):
        places = rng.integers(0, 9, (rows, 2))
        told = build_profile(line_points(places), metric).find_eps_without_one(k)
        if k == rows:
            assert told["eps_all_at_least"] is told["eps_all_at_most"] is None
            continue
        points = line_points(places)
        without = [build_profile(drop_row(points, row), metric).eps_for(k, [1.0])[0] for row in range(rows)]

        assert told["eps_all_at_least"] - 1e-12 <= min(without)
        assert max(without) <= told["eps_all_at_most"] + 1e-12
        assert k == 1 or max(without) == pytest.approx(told["eps_all_at_most"])


def drop_row(points, row):
    """Points on the same axes without one row, counted in the order of the points."""
    weights = points.weights.copy()
    weights[np.searchsorted(np.cumsum(weights), row, side="right")] -= 1
    kept = weights > 0
    return dataclasses.replace(points, codes=points.codes[kept], weights=weights[kept], results={})


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.tuples(*[st.integers(0, 1000)] * 2), min_size=2, max_size=8),
    st.integers(0, 60),
    st.randoms(use_true_random=False),
)
def test_rows_that_move_by_delta_move_every_radius_by_delta_at_most(rows, delta, random):
    """Stability.  Two rows at the corners do not move, so the axes stay; a radius is a share of their range."""

    def move(value):
        return min(max(value + random.randint(-delta, delta), 0), 1000)

    ends = [(0, 0), (1000, 1000)]
    before, after = (
        pd.DataFrame(part, columns=["x", "y"]) for part in (rows + ends, [tuple(map(move, row)) for row in rows] + ends)
    )
    found = []
    for frame in (before, after):
        with kech.read_table(frame, quasi_identifiers=["x", "y"], axes={"x": "number", "y": "number"}) as table:
            barcode = kech.compute_barcode(table, max_dimension=0, zero_length=True)
            merges = sorted(bar.death for bar in barcode.bars() if bar.birth == 0)
            hides = kech.compute_profile(table).eps_for(2, [1.0])
            found.append(
                [*merges[:-1], *hides, *(barcode.find_start("partition", k).at_most for k in (2, 3) if k <= len(frame))]
            )

    assert np.abs(np.subtract(*found)).max() <= delta / 1000 + 1e-9


def test_twins_change_weights_and_no_radius():
    frame = pd.DataFrame({"x": [0, 3, 4, 10], "y": [0, 1, 5, 9]})
    barcodes = []
    for rows in (frame, pd.concat([frame, frame])):
        with kech.read_table(rows, quasi_identifiers=["x", "y"], axes={"x": "number", "y": "number"}) as table:
            barcodes.append(kech.compute_barcode(table, max_dimension=0))
    once, twice = ([(bar.birth, bar.death, bar.weight) for bar in barcode.bars()] for barcode in barcodes)

    assert twice == [(birth, death, 2 * weight) for birth, death, weight in once]
