"""The objective variance: measured by all pairs, never above MDAV, bounded from below, and equal on all threads."""

from itertools import combinations, pairwise
from pkgutil import resolve_name

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import kech
from cutting import check_partition, code_points, cut, say_goal, say_labels
from kech.errors import BadOption
from kech.points.partition import build_partition
from kech.points.points import build_points
from strategies import seeds
from test_ball_cut import KINDS, numbers

TREE = [(leaf, leaf[0], "*") for leaf in ("ax", "ay", "bx", "by", "bz")]


def mixed(rows, seed):
    """Numbers, some of them missing, a set, and a column that may have a hierarchy."""
    rng = np.random.default_rng(seed)
    age = [None if rng.random() < 0.1 else int(x) for x in rng.integers(20, 60, rows)]
    town = rng.choice(["Ulm", "Bonn", "Kiel"], rows).tolist()
    job = rng.choice([leaf for leaf, *_ in TREE], rows).tolist()
    return pa.table({"age": age, "pay": rng.lognormal(0, 1, rows).round(2), "town": town, "job": job})


def squares_between(axis, codes):
    """The squared distance of each two codes, before it is rescaled; `codes` of all rows tell the mean of a number."""
    every = np.arange(axis.size)
    if axis.kind not in ("number", "date"):
        apart = axis.metric(*(end.ravel() for end in np.sort(np.meshgrid(every, every), axis=0)))
        return apart.reshape(len(every), -1) ** 2 * (1 - np.eye(len(every)))
    middles = (axis.ends[0] / 2 + axis.ends[1] / 2) / axis.length
    if axis.has_null:  # at the mean, and one length aside
        middles[axis.null] = middles[codes[codes != axis.null]].mean()
    is_missing = every == axis.null
    return (middles[:, None] - middles) ** 2 + (is_missing[:, None] != is_missing)


def brute_variance(partition):
    """Squared distances of all pairs of each class over its rows; over those of the table, on average of columns."""
    points, inside = partition.points.published_at(1), []
    members = [np.repeat(partition.point[own], partition.rows[own]) for own in classes_of(partition)]
    for j, axis in enumerate(points.axes):
        codes = np.repeat(points.codes[:, j], points.weights)
        squares = squares_between(axis, codes)
        parts = [points.codes[own, j] for own in members]
        each = [squares[np.ix_(part, part)].sum() / 2 / len(part) for part in (codes, *parts)]
        inside.append(sum(each[1:]) / each[0] if each[0] else 0.0)
    return float((points.column_weights * inside).mean())


def classes_of(partition):
    return [partition.group == g for g in range(partition.classes)]


def mdav(places, k):
    """MDAV as its paper describes it: the rows of each class."""
    left, classes = list(range(len(places))), []

    def apart(row, other):
        return float(((places[row] - other) ** 2).sum())

    def take(seed):
        nearest = sorted(left, key=lambda row: apart(row, places[seed]))[:k]
        classes.append(nearest)
        left[:] = [row for row in left if row not in nearest]

    while len(left) >= 2 * k:
        centre = places[left].mean(axis=0)
        first = max(left, key=lambda row: apart(row, centre))
        second = max(left, key=lambda row: apart(row, places[first]))
        is_last = len(left) < 3 * k
        take(first)
        if not is_last:
            take(second)
    return [*classes, left]


def share_inside(places, classes):
    return sum(((places[own] - places[own].mean(axis=0)) ** 2).sum() for own in classes) / (places**2).sum()


def released(frame, k, grid="exact", roles=None, **said):
    """The classes of a release, and what is known of their variance."""
    with kech.read_table(frame, quasi_identifiers=frame.column_names, **roles or {}) as table:
        release = kech.make_release(table, k=k, objective="variance", grid=grid, **said)
        check_partition(release.partition, release.partition.points, k)
        return release.partition, release.bound()


@pytest.mark.parametrize("grid", ["exact", "round"])
@pytest.mark.parametrize("seed", seeds(12))
def test_variance_is_that_of_all_pairs(seed, grid, tmp_path):
    (tmp_path / "job.csv").write_text("\n".join(map(",".join, TREE)), "utf-8")
    for k in (2, 5):
        partition, bound = released(mixed(60, seed), k, grid, {"hierarchies": tmp_path})
        assert {axis.kind for axis in partition.points.axes} == {"number", "set", "hierarchy"}
        assert bound.variance == pytest.approx(brute_variance(partition), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(6))
def test_variance_is_never_above_that_of_mdav(kind, seed):
    frame = numbers(kind, 90, 3, seed)
    places = np.stack([column.to_numpy() for column in frame.columns], axis=1)
    places = (places - places.mean(axis=0)) / places.std(axis=0)
    for k in (2, 3, 7):
        most = share_inside(places, mdav(places, k)) * (1 + 1e-9)
        assert all(released(frame, k, effort=effort)[1].variance <= most for effort in ("quick", "normal"))


@pytest.mark.parametrize("seed", seeds(12))
def test_no_partition_of_few_rows_is_below_the_bound_and_the_search_finds_the_best(seed):
    frame = numbers(KINDS[seed % 4], 7, 2, seed)
    points = code_points(frame, grid="exact")
    for k in (2, 3):
        least = min(map(brute_variance, all_partitions(points, k)))
        bound = released(frame, k)[1]
        assert bound.variance_lower_bound <= least + 1e-12
        assert least - 1e-12 <= bound.variance <= 1.15 * least + 1e-12


def all_partitions(points, k):
    """Every partition of a few rows into classes of k or more."""
    row = np.repeat(np.arange(len(points.weights)), points.weights)

    def divide(rows):
        if not rows:
            yield []
            return
        first, *others = rows
        for size in range(k - 1, len(others) + 1):
            for chosen in combinations(others, size):
                for rest in divide([row for row in others if row not in chosen]):
                    yield [[first, *chosen], *rest]

    for classes in divide(list(range(len(row)))):
        point = row[np.concatenate(classes)]
        group = np.repeat(np.arange(len(classes)), [len(own) for own in classes])
        yield build_partition(points, point, group, np.ones(len(point), np.int64))


def test_equal_classes_on_any_number_of_threads():
    points = code_points(numbers("clusters", 7000, 3, 1), grid="exact")
    one, other = (
        next(iter(cut(points, [5], "local", objective="variance", effort="quick", threads=threads)))
        for threads in (1, 3)
    )
    assert (one.point == other.point).all()
    assert (one.group == other.group).all()
    check_partition(one, points, 5)


def test_equal_rows_are_divided_among_classes():
    frame = pa.table({"x": [1.0] * 50 + [2.0, 3.0, 9.0], "y": [1.0] * 50 + [2.0, 3.0, 9.0]})

    assert released(frame, 3)[0].classes >= 2


def test_a_spectrum_shows_variance_and_it_never_falls():
    with kech.read_table(numbers("skewed", 300, 4, 2), quasi_identifiers=["x0", "x1", "x2", "x3"]) as table:
        spectrum = kech.compute_spectrum(table, k=range(2, 30), objective="variance", grid="exact", bound=True)
        width = kech.compute_spectrum(table, k=[5], grid="exact")
    variances = [row["variance"] for row in spectrum.rows()]
    assert variances == sorted(variances)
    assert all(row["variance_lower_bound"] <= row["variance"] for row in spectrum.rows())
    assert all(row["loss_lower_bound"] <= row["loss"] for row in spectrum.rows())
    assert width.rows()[0]["variance"] is None


def test_a_release_states_its_objective_and_is_verified(tmp_path):
    with kech.read_table(mixed(300, 3), quasi_identifiers=["age", "pay", "town"], sensitive=["job"]) as table:
        release = kech.make_release(table, k=5, l=2, objective="variance")
        release.write(tmp_path / "safe.csv", ledger=False)
        bound = release.bound()
        narrow = kech.make_release(table, k=5, l=2)
    assert '"objective": "variance"' in (tmp_path / "safe.csv.certificate.json").read_text("utf-8")
    assert kech.check_certificate(tmp_path / "safe.csv")["k"] >= 5
    assert bound.variance_lower_bound <= bound.variance < 1
    assert bound.to_json()["variance"] == bound.variance
    assert "objective" not in narrow.parameters


@pytest.mark.parametrize(
    "said",
    [{"cut": "minimal"}, {"cut": "domain"}, {"suppress": 0.1}, {"gap": 0.1}, {"protect_history": True}],
    ids=lambda said: next(iter(said)),
)
def test_what_goes_by_widths_is_refused(said):
    with pytest.raises(BadOption):
        kech.Request().override(objective="variance", k=5, **said)


def test_people_with_several_rows_are_refused_before_a_table_is_read():
    with pytest.raises(BadOption, match="counts people"):
        kech.Request().override(objective="variance", person=["who"])
    frame = numbers("random", 60, 2).append_column("who", pa.array([i // 2 for i in range(60)]))
    with (
        kech.read_table(frame, quasi_identifiers=["x0", "x1"], person=["who"]) as table,
        pytest.raises(BadOption, match="counts people"),
    ):
        kech.make_release(table, k=5, objective="variance")


def test_another_cut_forgets_the_objective():
    request = kech.Request().override(objective="variance").override(cut="minimal")

    assert request.cut.objective == "width"


NUMBERS = ["x0", "x1", "x2"]


@pytest.mark.parametrize("sensitive", [[], ["job"]], ids=["alone", "sensitive"])
@pytest.mark.parametrize("cuts", [["local", "domain"], ["domain", "local"], ["regime", "minimal", "local"]], ids=str)
def test_other_cuts_beside_it_are_made_and_measured_by_width(cuts, sensitive):
    frame = numbers("clusters", 120, 3, 4).append_column("job", pa.array(["a", "b", "c", "d"] * 30))
    with kech.read_table(frame, quasi_identifiers=NUMBERS, sensitive=sensitive) as table:
        mixed_rows = kech.compute_spectrum(table, k=[3, 5], cut=cuts, objective="variance").rows()
        of_plan = kech.Request().override(objective="variance")
        assert kech.compute_spectrum(table, of_plan, k=[3, 5], cut=cuts).rows() == mixed_rows
        for name in cuts:
            objective = "variance" if name == "local" else "width"
            alone = kech.compute_spectrum(table, k=[3, 5], cut=name, objective=objective).rows()
            assert [row for row in mixed_rows if row["cut"] == name] == alone
            assert all((row["variance"] is not None) == (name == "local") for row in alone)
        with pytest.raises(BadOption, match="can make variance small"):
            kech.compute_spectrum(table, k=[3], cut=[name for name in cuts if name != "local"], objective="variance")


@pytest.mark.parametrize("order", [("local", "domain"), ("domain", "local"), ("regime", "local")], ids=str)
def test_a_command_compares_cuts_in_any_order(run, folder, order):
    source = folder / "numbers.csv"
    pa.csv.write_csv(numbers("clusters", 120, 3, 4), source)
    words = (source, "--qi", *NUMBERS, "--k", "3", "--objective", "variance", "--json")
    shown = run("spectrum", *words, "--cut", *order)
    assert shown.code == 0
    assert {row["cut"]: row["variance"] is None for row in shown.json["spectrum"]} == {
        name: name != "local" for name in order
    }
    assert run("spectrum", *words, "--cut", "domain", "regime").code == 2
    assert run("spectrum", *words, "--cut", "local", "best").code == 2


@pytest.mark.parametrize("seed", seeds(6))
def test_with_goals_partitions_of_many_k_are_compared_by_variance(seed):
    """What serves a larger k serves a smaller one where it varies less."""
    with kech.read_table(mixed(160, seed), quasi_identifiers=["age", "pay", "town"], sensitive=["job"]) as table:
        points = build_points(table, labels=say_labels(grid="exact"), with_sensitive=True)
    ks, goal = [2, 3, 4, 5, 6, 8, 10, 12, 15], say_goal(l=4)
    variances = [brute_variance(each) for each in cut(points, ks, objective="variance", effort="quick", goal=goal)]
    assert all(one <= other + 1e-12 for one, other in pairwise(variances))


@pytest.mark.parametrize(("steps", "is_released"), [(0, False), (1, True), (3, True)])
def test_ctrl_c_at_any_step_ends_the_search_with_the_best_so_far(monkeypatch, steps, is_released):
    """The first step makes the classes: before it there is nothing to release."""

    class Pressed(resolve_name("kech.cuts.variance.VarianceSearch")):
        def step(self, threads):
            if not steps:
                raise KeyboardInterrupt
            super().step(threads)
            if self.rounds == steps:
                raise KeyboardInterrupt

    monkeypatch.setattr("kech.cuts.variance.VarianceSearch", Pressed)
    with kech.read_table(numbers("skewed", 90, 3, 2), quasi_identifiers=NUMBERS) as table:
        if is_released:
            assert kech.make_release(table, k=3, objective="variance").partition.k >= 3
        else:
            with pytest.raises(KeyboardInterrupt):
                kech.make_release(table, k=3, objective="variance")
