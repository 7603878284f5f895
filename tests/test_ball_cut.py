"""The minimal cut in the ball metric: the paper's table, exact answers, bounds that hold, and no ball above eps."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kech
from cutting import check_partition, code_points, cut
from kech.errors import BadOption
from kech.points.partition import largest_radius, mean_loss
from kech.tables.demo import nine_rows
from kech.topology.minimal import find_class_counts_by_program, minimal_complex
from topology_oracles import ball_bounds, unit_cube

KINDS = ("random", "integers", "clusters", "skewed")


def numbers(kind, rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    made = {
        "random": lambda: rng.random((rows, columns)).round(3),
        "integers": lambda: rng.integers(0, 12, (rows, columns)).astype(float),
        "clusters": lambda: rng.random((5, columns))[rng.integers(0, 5, rows)] + rng.normal(0, 0.03, (rows, columns)),
        "skewed": lambda: rng.lognormal(0, 1.2, (rows, columns)).round(2),
    }[kind]()
    return pa.table({f"x{j}": column for j, column in enumerate(made.T)})


def exact_points(frame):
    return code_points(frame, grid="exact")


def cut_balls(points, k, **said):
    (partition,) = cut(points, [k], "minimal", metric="ball", **said)
    return partition


def widest_of(points, partition):
    """The radius of the widest class between two numbers, by an oracle that shares nothing with the kernels."""
    places = np.array(unit_cube(points), dtype=float)
    classes = [np.unique(partition.point[partition.group == g]) for g in range(partition.classes)]
    return np.max([(0, 0), *(ball_bounds(places[own]) for own in classes if len(own) > 1)], axis=0)


@pytest.mark.parametrize(("k", "eps"), [(2, 0.2334), (3, 0.25), (4, 0.4678)])
def test_the_nine_rows_have_the_radii_of_the_paper(k, eps):
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        release = kech.make_release(table, k=k, cut="minimal", metric="ball", grid="exact")

    assert release.partition.eps_bound == largest_radius(release.partition) == pytest.approx(eps, abs=5e-5)
    if k == 3:
        assert sorted(release.labels["age"]) == ["[22, 25]", "[32, 47]", "[38, 52]"]


@pytest.mark.parametrize("seed", range(3))
def test_a_handful_of_rows_is_solved_exactly(seed):
    for kind in KINDS:
        points = exact_points(numbers(kind, 9, 2, seed))
        for k in range(1, points.rows + 1):
            assert largest_radius(cut_balls(points, k)) == minimal_complex(points, k, "ball")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_dozen_rows_are_close_to_the_exact_answer(kind):
    for seed in range(2):
        points = exact_points(numbers(kind, 26, 2, seed))
        for k in (2, 3, 5):
            partition, exact = cut_balls(points, k), find_class_counts_by_program(points, k, "ball")[0][0]

            assert partition.eps_bound <= exact + 1e-12
            assert exact - 1e-12 <= largest_radius(partition) <= 1.15 * exact


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_no_ball_is_larger_than_eps_and_none_of_the_boxes_is_better(kind, columns):
    points = exact_points(numbers(kind, 200, columns))
    for k in (2, 5, 20):
        partition, (boxes,) = cut_balls(points, k, effort="quick"), cut(points, [k], "minimal", effort="quick")
        low, high = widest_of(points, partition)

        check_partition(partition, points, k)
        assert low - 1e-9 <= largest_radius(partition) <= high + 1e-9
        assert partition.eps_bound <= largest_radius(partition) <= 2 * partition.eps_bound + 1e-9
        assert largest_radius(partition) <= widest_of(points, boxes)[1] + 1e-9
        assert mean_loss(partition) <= 1.3 * mean_loss(boxes)


def test_rows_of_one_point_stay_together_where_they_must():
    points = exact_points(numbers("integers", 150, 2))
    partition = cut_balls(points, 4, split_points=False)

    check_partition(partition, points, 4)
    assert len(partition.point) == len(np.unique(partition.point))


def test_threads_do_not_show():
    points = exact_points(numbers("random", 200, 2))
    made = [cut_balls(points, 4, threads=threads) for threads in (1, 2)]

    assert [one.tolist() for one in (made[0].point, made[0].group)] == [
        one.tolist() for one in (made[1].point, made[1].group)
    ]


def test_a_release_states_its_metric_and_is_verified(tmp_path):
    with kech.read_table(numbers("random", 60, 2), quasi_identifiers=["x0", "x1"]) as table:
        release = kech.make_release(table, k=3, cut="minimal", metric="ball", grid="exact")
        release.write(tmp_path / "safe.csv")

    assert kech.check_certificate(tmp_path / "safe.csv")["k"] >= 3
    assert '"metric": "ball"' in (tmp_path / "safe.csv.certificate.json").read_text("utf-8")


def test_goals_of_sensitive_columns_hold_in_balls_too():
    frame = numbers("random", 80, 2).append_column("s", pa.array(["a"] * 60 + ["b"] * 20))
    with kech.read_table(frame, quasi_identifiers=["x0", "x1"], sensitive=["s"]) as table:
        release = kech.make_release(table, k=3, l=2, cut="minimal", metric="ball", grid="exact")
    partition = release.partition
    values = partition.points.sensitive.codes[partition.point, 0]

    assert all(len(set(values[partition.group == g])) == 2 for g in range(partition.classes))


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"cut": "local"}, "minimal"),
        ({"cut": "minimal", "suppress": 0.1}, "suppress"),
        ({"cut": "minimal", "grid": "round"}, "grid"),
    ],
)
def test_what_balls_cannot_do_is_refused_with_advice(said, word):
    with (
        kech.read_table(numbers("random", 60, 2), quasi_identifiers=["x0", "x1"]) as table,
        pytest.raises(BadOption, match=word),
    ):
        kech.make_release(table, **{"k": 3, "metric": "ball", "grid": "exact", **said})


def test_balls_count_rows_only():
    frame = numbers("random", 40, 2).append_column("who", pa.array([*range(20)] * 2))
    with (
        kech.read_table(frame, quasi_identifiers=["x0", "x1"], person=["who"]) as table,
        pytest.raises(BadOption, match="people"),
    ):
        kech.make_release(table, k=3, metric="ball", cut="minimal", grid="exact")


def test_a_plan_with_balls_can_be_given_another_cut():
    request = kech.Request().override(cut="minimal", metric="ball").override(cut="local")

    assert request.cut.metric == "box"


@pytest.mark.parametrize("kind", KINDS)
def test_a_barcode_of_balls_marks_what_the_cut_reaches(kind):
    frame = numbers(kind, 120, 2)
    with kech.read_table(frame, quasi_identifiers=["x0", "x1"]) as table:
        barcode = kech.search_partitions(kech.compute_barcode(table, metric="ball", max_dimension=0), 5)
    partition = cut_balls(exact_points(frame), 5)
    reached = barcode.reached[5]

    assert reached.eps_at_most == largest_radius(partition)
    assert reached.classes == partition.classes
    assert reached.eps_at_least <= partition.eps_bound + 1e-12


TWIN = """0,0 1,1 .31,.42 .83,.41 .55,.03 .75,.54 .33,.79 .3,.45 .13,.4 .2,.26 .75,.28 .49,.98 .75,.54"""


def test_a_class_that_is_given_up_takes_no_row_back():
    """A row that went on from a near class came to the one that was being emptied, and stayed there alone."""
    rows = np.array([cell.split(",") for cell in TWIN.split()], float)
    points = exact_points(pa.table({"a": rows[:, 0], "b": rows[:, 1]}))

    assert cut_balls(points, 3).sizes.min() >= 3


def test_classes_of_people_are_measured_by_their_own_rows():
    """Several rows of a person, and equal rows of others, are parted where a cut needs it."""
    visits = pa.table({"x": [42, 42, 42, 42, 50], "who": [1, 2, 8, 1, 3]})
    with kech.read_table(visits, quasi_identifiers=["x"], person=["who"], axes={"x": "number"}) as table:
        reached = kech.search_partitions(kech.compute_barcode(table, metric="ball"), 2).reached[2]

    assert reached.eps_at_most == pytest.approx(0.5)


def test_what_a_barcode_of_balls_says_of_a_release_is_what_the_release_gives(tmp_path, run):
    """The minimal cut in boxes makes wider balls; the sentence names the command that makes the narrow ones."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"x": rng.random(150), "y": rng.random(150), "z": rng.integers(0, 6, 150)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = (tmp_path / "t.csv", "--qi", "x", "y", "z", "--k", "5")
    found = run("barcode", *words, "--metric", "ball", "--max-dimension", "0").out
    said = " ".join(found.split()).split("kech release ")[1].split("; ")[1]
    how, classes, eps = re.match(r"(.+) into ([\d,]+) classes, none wider than ([\d.]+)", said).groups()
    option = dict(zip(how.split()[::2], how.split()[1::2], strict=True))
    with kech.read_table(frame, quasi_identifiers=[*frame]) as table:
        chosen = {name.removeprefix("--"): value for name, value in option.items()}
        release = kech.make_release(table, k=5, grid="exact", effort="quick", **chosen)

    assert how == "--cut minimal --metric ball"
    assert release.partition.classes == int(classes)
    assert f"{widest_of(exact_points(pa.Table.from_pandas(frame)), release.partition)[1]:.4g}" == eps
    profile = " ".join(run("profile", *words, "--metric", "ball").out.split())
    assert f"({how}): eps is the radius of the smallest ball around their widest class" in profile


def test_where_people_are_counted_in_balls_the_narrower_of_the_cuts_is_the_bound():
    """The cuts measure boxes there, so either may have the narrower balls."""
    seen = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"x": rng.random(150), "y": rng.lognormal(0, 1, 150), "who": rng.integers(0, 60, 150)})
        with kech.read_table(frame, quasi_identifiers=["x", "y"], person=["who"]) as table:
            profile = kech.compute_profile(table, metric="ball")
            reached = kech.search_partitions(profile, [4], effort="quick").reached[4]
        seen.add(reached.local_eps < reached.minimal_eps)

        assert reached.eps_at_least <= reached.eps_at_most == min(reached.local_eps, reached.minimal_eps)
    assert True in seen


def test_a_barcode_of_balls_that_counts_people_names_the_cut_that_it_made(tmp_path, run):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"x": rng.random(120), "y": rng.random(120), "who": np.arange(120) // 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("--qi", "x", "y", "--person", "who", "--metric", "ball", "--max-dimension", "0", "--k", "3")
    found = run("barcode", tmp_path / "t.csv", *words).out

    assert "--cut minimal into" in " ".join(found.split())
