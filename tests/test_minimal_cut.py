"""The minimal cut: the paper's table, exhaustive answers, bounds that hold, and no class wider than promised."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points, cut, recording
from kech.cuts.bounds import eps_bound, lower_bounds
from kech.points.partition import largest_radius, mean_loss
from kech.tables.demo import nine_rows
from kech.topology.minimal import minimal_complex
from strategies import point_sets, unhurried
from topology_oracles import eps_widths


def numbers(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table({f"x{j}": rng.random(rows).round(3) for j in range(columns)})


def exact_points(frame):
    return code_points(frame, grid="exact")


def test_the_nine_rows_give_the_papers_table():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        release = kech.make_release(table, k=3, cut="minimal", grid="exact")

    assert sorted(zip(release.labels["age"], release.labels["zip"], strict=True)) == [
        ("[22, 25]", "[47602, 47678]"),
        ("[32, 47]", "[47605, 47673]"),
        ("[38, 52]", "[47905, 47909]"),
    ]
    assert release.partition.eps_bound == largest_radius(release.partition) == 0.25


def printed_minimum(points, k):
    """The exact answer; a row alone is printed as wide as its cell, too."""
    codes = points.codes.astype(np.int64)
    cells = [eps_widths(axis, codes[:, j], codes[:, j]).max() / 2 for j, axis in enumerate(points.axes)]
    return max(minimal_complex(points, k)[0], *cells)


@settings(unhurried, max_examples=60)
@given(point_sets(most_rows=9, heaviest=2), st.data())
def test_a_handful_of_rows_is_solved_exactly(points, data):
    assume(points.rows <= 9)
    k = data.draw(st.integers(1, points.rows))
    (partition,) = cut(points, [k], "minimal", effort="quick")

    assert partition.k >= k
    assert partition.suppressed == 0
    assert largest_radius(partition) == pytest.approx(printed_minimum(points.published_at(k), k))


@settings(unhurried, max_examples=150)
@given(point_sets(most_rows=9, heaviest=2), st.data())
def test_the_bound_is_below_the_exact_answer_and_above_the_reach(points, data):
    assume(points.rows <= 9)
    k = data.draw(st.integers(1, points.rows))
    bound = eps_bound(points.published_at(k), k)

    assert (
        lower_bounds(points.published_at(k), [k])[0].eps - 1e-12
        <= bound
        <= printed_minimum(points.published_at(k), k) + 1e-9
    )


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("columns", [1, *(pytest.param(many, marks=pytest.mark.long) for many in (2, 3))])
def test_no_class_is_wider_than_promised_and_the_gap_is_small(columns, k):
    points = exact_points(numbers(400, columns))
    (partition,) = cut(points, [k], "minimal")
    (local,) = cut(points, [k])

    assert partition.k >= k
    assert partition.eps_bound <= largest_radius(partition) <= largest_radius(local) + 1e-12
    assert largest_radius(partition) <= 1.6 * partition.eps_bound
    assert mean_loss(partition) <= 3 * mean_loss(local)


def test_an_even_start_is_valid_and_even():
    with recording("kech.cuts.minimal.even_start") as calls:
        cut(exact_points(numbers(500, 2)), [10], "minimal", effort="quick")
    ((_, (start,)),) = calls

    assert start.sizes.min() >= 10
    assert start.sizes.sum() == 500
    assert largest_radius(start) < 0.2


def test_the_spectrum_shows_bound_and_eps():
    with kech.read_table(numbers(300, 2), quasi_identifiers=["x0", "x1"]) as table:
        rows = kech.compute_spectrum(table, k=[2, 10], cut="minimal", grid="exact").rows()

    assert all(0 < row["eps_lower_bound"] <= row["eps"] for row in rows)


@pytest.mark.parametrize("seed", [0, 1])
def test_threads_do_not_show(seed):
    points = exact_points(numbers(300, 2, seed))
    made = [cut(points, [4], "minimal", threads=threads, seed=seed, effort="quick")[0] for threads in (1, 2)]

    assert largest_radius(made[0]) == largest_radius(made[1])
    assert mean_loss(made[0]) == mean_loss(made[1])
