"""Comparisons: against scipy and scikit-learn on rows written out, by hand, and as laws."""

import json
from math import lcm

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, spearmanr
from scipy.stats.contingency import association
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, cross_val_score

import kech
from kech.audit.comparison.associations import count_after, cramers_v, spearman_rho
from kech.audit.comparison.columns import find_edges, pair_column
from kech.audit.comparison.design import design_before
from kech.audit.comparison.pieces import Pieces, distance, point_pieces, spread_labels
from kech.audit.comparison.prediction import (
    ORIGINAL,
    ORIGINAL_ALL,
    RELEASE,
    RELEASE_ALONE,
    Rows,
    draw_parts,
    draw_rows,
    find_task,
    judge_all,
    one_thread,
    summarize,
)
from kech.errors import BadOption, ClaimBroken, NoSuchColumn
from kech.release.linkage import link
from kech.release.published import read_published
from kech.tables.demo import generate_town, write_csv
from strategies import unhurried

AXIS = {"column": "x", "axis": "numeric", "domain": [0, 40], "grid": "round"}
SCHOOLING = ["primary", "secondary", "bachelor", "master", "doctorate"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    write_csv(generate_town(500, seed=2), folder / "people.csv")
    with open_town(folder) as table:
        kech.make_release(table, k=5, effort="quick").write(folder / "safe.csv")
    return folder


def open_town(folder):
    columns = ["age", "sex", "zip", "moved_in", "schooling", "job"]
    roles = {"quasi_identifiers": columns, "sensitive": ["diagnosis"], "keep": ["income"]}
    return kech.read_table(folder / "people.csv", **roles, axes={"schooling": SCHOOLING})


@pytest.fixture(scope="module")
def sides(town):
    with open_town(town) as table:
        release = read_published(town / "safe.csv", with_cells=True)
        linkage = link(release, table)
        return {name: pair_column(release, linkage, name) for name in (*release.quasi_identifiers, *release.cells)}


# -- numbers spread over their labels --------------------------------------------------------------------

boxes = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6), st.integers(1, 4)), min_size=1, max_size=5)
values = st.lists(st.integers(0, 40), min_size=1, max_size=20)


def written_out(held):
    """Every row as often as makes each value of each label equally frequent."""
    times = lcm(*(wide + 1 for _, wide, _ in held))
    return np.concatenate(
        [np.repeat(np.arange(low, low + wide + 1), size * times // (wide + 1)) for low, wide, size in held]
    )


def pieces_of(held):
    labels = [f"[{low}, {low + wide}]" if wide else str(low) for low, wide, _ in held]
    return spread_labels(AXIS, labels, np.array([size for _, _, size in held]), 1.0)


@given(boxes, values)
@settings(deadline=None, max_examples=50)
def test_spread_numbers_are_those_written_out(held, original):
    rows, spread = written_out(held), pieces_of(held)
    before = point_pieces(*np.unique(np.array(original, float), return_counts=True))

    assert spread.mean == pytest.approx(rows.mean())
    assert spread.sd == pytest.approx(rows.std(), abs=1e-9)
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert spread.quantile(share) == np.quantile(rows, share, method="inverted_cdf")
    assert distance(before, spread) == pytest.approx(
        ks_2samp(np.tile(original, 20), np.tile(rows, 20), method="asymp").statistic, abs=1e-12
    )


def test_a_column_without_a_unit_is_spread_along_the_line():
    spread = spread_labels(AXIS, ["[10, 20)"], np.array([3]), 0.0)
    assert spread.below(np.array([10.0, 12.5, 20.0])).tolist() == [0.0, 0.25, 1.0]
    assert (spread.mean, spread.sd, spread.quantile(0.25)) == (
        15.0,
        pytest.approx(10 / np.sqrt(12)),
        pytest.approx(12.5),
    )


def test_tails_end_where_the_domain_does():
    spread = spread_labels(AXIS, [">= 37", "<= 1", "*"], np.array([1, 1, 1]), 1.0)
    assert (spread.low.tolist(), spread.high.tolist()) == ([37, 0, 0], [40, 1, 40])
    assert spread.steps.tolist() == [4, 2, 41]


def test_many_values_are_thinned_out(monkeypatch):
    monkeypatch.setattr("kech.audit.comparison.pieces.MOST_PLACES", 50)
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=3_000), rng.normal(0.2, 1, 3_000)
    pieces = [point_pieces(*np.unique(rows, return_counts=True)) for rows in (one, other)]
    assert distance(*pieces) == pytest.approx(ks_2samp(one, other).statistic, abs=1 / 50)


# -- associations ----------------------------------------------------------------------------------------

tables = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=5).map(np.array)


@given(tables)
def test_cramers_v_is_that_of_scipy(table):
    held = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(held.shape) < 2:
        assert cramers_v(table.astype(float)) is None
    else:
        assert cramers_v(table.astype(float)) == pytest.approx(association(held, method="cramer"), abs=1e-9)


@given(tables)
@unhurried
def test_rho_is_that_of_scipy(table):
    first, second = (np.repeat(places.ravel(), table.ravel()) for places in np.indices(table.shape))
    rho = spearman_rho(table.astype(float))
    if len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
        assert rho is None
    else:
        assert rho == pytest.approx(spearmanr(first, second).statistic, abs=1e-9)


def test_rows_are_spread_over_both_labels(sides):
    for one, other in (("age", "job"), ("zip", "diagnosis"), ("diagnosis", "income")):
        table = np.zeros((len(sides[one].parts), len(sides[other].parts)))
        for first, second in zip(sides[one].label, sides[other].label, strict=True):
            table += np.outer(sides[one].shares[first], sides[other].shares[second])
        assert count_after(sides[one], sides[other]) == pytest.approx(table)
        assert table.sum() == pytest.approx(500)


def test_every_label_is_spread_whole(sides):
    for side in sides.values():
        assert side.shares.sum(axis=1) == pytest.approx(1)
        assert side.shares.min() >= 0
        assert side.before.max() < len(side.parts)
        assert side.label.max() < len(side.shares)


def test_shares_of_an_interval_are_counted(sides, town):
    side, labels = sides["age"], read_published(town / "safe.csv").column_labels("age")
    ages = np.sort(np.repeat(side.line.before.low, side.line.before.rows))
    starts = [ages[np.searchsorted(np.sort(side.before), part)] for part in range(1, len(side.parts) - 1)]
    intervals = {
        label: shares for label, shares in zip(dict.fromkeys(labels), side.shares, strict=True) if "[" in label
    }
    assert intervals
    for label, shares in intervals.items():
        low, high = map(int, label.strip("[]").split(", "))
        parts = np.searchsorted(starts, np.arange(low, high + 1), side="right")
        assert shares == pytest.approx(np.bincount(parts, minlength=len(side.parts)) / len(parts))


# -- models ----------------------------------------------------------------------------------------------


def rare_outcome(rows=600, seed=4):
    """People of whom the oldest have a stroke more often: a few in a hundred, written as 0 and 1."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, rows)
    stroke = (rng.random(rows) < 1 / (1 + np.exp((90 - age) / 5))).astype(int)
    assert 0.02 < stroke.mean() < 0.1
    return pa.table({"age": age, "sex": rng.choice(["f", "m"], rows), "stroke": stroke})


def means(prediction):
    return {model["trained_on"]: model["mean"] for model in prediction["models"]}


def test_a_rare_outcome_of_zeros_and_ones_is_predicted(folder):
    with kech.read_table(rare_outcome(), quasi_identifiers=["age", "sex"], sensitive=["stroke"]) as table:
        kech.make_release(table, k=5).write(folder / "safe.csv")
        found = kech.compare(table, folder / "safe.csv")
    told = found.prediction
    assert (told["note"], told["measure"], told["classes"], told["rows_before"]) == ("", "auc", 2, 600)
    assert set(means(told)) == {ORIGINAL, ORIGINAL_ALL, RELEASE, RELEASE_ALONE}
    assert min(means(told).values()) > 0.75
    for model in told["models"]:
        assert model["low"] < model["mean"] < model["high"]
    (pair,) = [pair for pair in found.associations if pair["columns"] == ["age", "stroke"]]
    assert pair["before"] > 0.1  # it was a constant to associations, too


def test_scores_are_those_of_scikit_learn(sides):
    for name, scoring, model, folds in (
        ("diagnosis", "roc_auc_ovr", LogisticRegression(max_iter=100, tol=1e-3), RepeatedStratifiedKFold),
        ("income", "r2", Ridge(), RepeatedKFold),
    ):
        features, target = [side for side in sides.values() if side.column != name], sides[name]
        task = find_task(target, np.random.default_rng(0))
        rows = draw_rows(task.before, task.is_class, np.random.default_rng(0))
        design, outcome = design_before(features, rows), task.before[rows]
        cv = folds(n_splits=5, n_repeats=2, random_state=7)
        with one_thread():
            ours = judge_all(*[Rows(design, outcome)] * 3, task.is_class, 7)
            theirs = cross_val_score(model, design, outcome, scoring=scoring, cv=cv)
        assert means(ours)[ORIGINAL] == pytest.approx(theirs.mean())
        assert means(ours)[RELEASE_ALONE] == pytest.approx(theirs.mean())
        assert means(ours)[RELEASE] == pytest.approx(means(ours)[ORIGINAL_ALL])
        assert means(ours)[ORIGINAL_ALL] > theirs.mean()  # it has seen the rows it is judged by
        assert ours["difference"] == pytest.approx({"mean": 0, "low": 0, "high": 0})


def test_the_interval_by_hand():
    scores = [0.6, 0.7, 0.8, 0.7, 0.7, 0.6, 0.8, 0.7, 0.7, 0.7]
    wide = 2.2621571627409915 * np.std(scores, ddof=1) * np.sqrt(1 / 10 + 1 / 4)  # of Student's t with 9 degrees
    assert summarize(scores) == pytest.approx({"mean": 0.7, "low": 0.7 - wide, "high": 0.7 + wide})
    assert summarize([]) == {"mean": None, "low": None, "high": None}


def test_a_release_without_an_outcome_trains_no_model():
    rng = np.random.default_rng(0)
    held = Rows(rng.normal(size=(40, 2)), np.arange(40) % 2)
    told = judge_all(held, held, Rows(held.design, np.zeros(40)), True, 0)
    assert means(told)[RELEASE] is means(told)[RELEASE_ALONE] is told["difference"]["mean"] is None
    assert means(told)[ORIGINAL] is not None


def test_a_label_of_several_classes_is_one_of_them_by_its_shares(sides):
    side, rng = sides["job"], np.random.default_rng(0)
    drawn = np.stack([draw_parts(side, rng) for _ in range(200)])
    expected = side.shares[side.label]
    assert (expected[np.arange(500), drawn] > 0).all()
    seen = np.stack([(drawn == part).mean(axis=0) for part in range(len(side.parts))], axis=1)
    assert np.abs(seen - expected).max() < 0.2 and np.abs((seen - expected).mean(axis=0)).max() < 0.01


def test_many_rows_are_sampled(town, monkeypatch):
    monkeypatch.setattr("kech.audit.comparison.prediction.MOST_ROWS", 120)
    with open_town(town) as table:
        told = kech.compare(table, town / "safe.csv", target="income").prediction
    assert (told["rows_before"], told["rows_after"], told["measure"]) == (120, 120, "r2")


def test_a_target_nobody_can_learn(folder, monkeypatch):
    rows = {
        "age": [1, 2] * 20,
        "one": ["x"] * 40,
        "few": [None] * 30 + ["a", "b"] * 5,
        "rare": ["a"] * 38 + ["b"] * 2,
        "thin": ["a"] * 9 + ["b"] * 9 + [f"v{i % 10}" for i in range(22)],
        "own": [f"CANARY_{i}" for i in range(40)],
        "fine": [0] * 33 + [1] * 7,
    }
    notes = {
        "one": "all rows have the same value",
        "few": "fewer than 20 rows have a value",
        "rare": "fewer than two of its values are held by 5 rows or more",
        "thin": "fewer than 20 rows have a value that 5 rows or more hold",
        "own": "nearly every row has a value of its own, as an identifier has",
        "fine": "",
    }
    with kech.read_table(pa.table(rows), quasi_identifiers=["age"], sensitive=["one"], keep=[*notes][1:]) as table:
        kech.make_release(table, k=5).write(folder / "safe.csv")
        told = {name: kech.compare(table, folder / "safe.csv", target=name).prediction for name in notes}
        monkeypatch.setattr("kech.audit.comparison.prediction.find_spec", lambda name: None)
        lacking = kech.compare(table, folder / "safe.csv", target="fine").prediction
    assert {name: found["note"] for name, found in told.items()} == notes
    assert [name for name, found in told.items() if found["models"]] == ["fine"]
    assert "pip install 'kech[sklearn]'" in lacking["note"] and lacking["models"] == []


@pytest.mark.parametrize(
    ("values", "edges"),
    [([0] * 95 + [1] * 5, [1]), ([0] * 95 + [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), ([7] * 9, []), ([], [])],
)
def test_few_values_are_parts_of_their_own(values, edges):
    assert find_edges(np.array(values, float), 10).tolist() == edges


def test_a_column_that_is_nearly_always_zero_is_no_constant():
    assert find_edges(np.array([0.0] * 950 + list(range(100, 150))), 10).tolist() == [100]


def test_amounts_of_which_nearly_all_are_zero_are_numbers(folder):
    rng = np.random.default_rng(4)
    spent = np.where(rng.random(400) < 0.97, 0, rng.integers(1, 9001, 400))
    rows = pa.table({"age": rng.integers(20, 60, 400), "spent": spent})
    with kech.read_table(rows, quasi_identifiers=["age"], keep=["spent"]) as table:
        kech.make_release(table, k=5).write(folder / "safe.csv")
        told = kech.compare(table, folder / "safe.csv", target="spent").prediction
    assert (told["measure"], told["classes"], told["note"]) == ("r2", None, "")
    assert all(np.isfinite(mean) for mean in means(told).values())


# -- whole comparisons -----------------------------------------------------------------------------------


def test_a_release_that_loses_nothing_compares_as_equal(folder):
    rng = np.random.default_rng(3)
    rows = {
        "age": rng.integers(20, 60, 40),
        "job": rng.choice(["a", "b", "c"], 40),
        "size": rng.choice(["S", "M", "L"], 40),
    }
    rows["ill"] = np.where(rows["age"] > 40, "yes", "no")
    table = pa.table({name: np.tile(column, 5) for name, column in rows.items()})
    given = {"quasi_identifiers": ["age", "job", "size"], "sensitive": ["ill"], "axes": {"size": ["S", "M", "L"]}}
    with kech.read_table(table, **given) as original:
        kech.make_release(original, k=5, grid="exact").write(folder / "safe.csv")
        found = kech.compare(original, folder / "safe.csv")

    assert set(found.loss_per_column.values()) == {0.0}
    for column in found.columns:
        assert column["ks" if column["kind"] == "number" else "tv"] == pytest.approx(0, abs=1e-12)
        if column["before"]:
            assert column["before"].pop("quantiles") == column["after"].pop("quantiles")
            assert column["before"] == pytest.approx(column["after"])
    for pair in found.associations:
        assert pair["change"] == pytest.approx(0, abs=1e-9)
    assert found.prediction["difference"] == pytest.approx({"mean": 0, "low": 0, "high": 0}, abs=1e-4)
    assert means(found.prediction)[RELEASE] > 0.95


def test_total_variation_by_hand(folder):
    rows = {"job": ["a"] * 6 + ["b"] * 2 + ["c"] * 2, "s": ["x", "y"] * 5}
    with kech.read_table(pa.table(rows), quasi_identifiers=["job"], sensitive=["s"], axes={"job": "set"}) as table:
        kech.make_release(table, k=4).write(folder / "safe.csv")
        found = kech.compare(table, folder / "safe.csv")
    job, sensitive = found.columns
    assert job["tv"] == 0  # {b, c} is spread evenly, and so were they
    assert sensitive["tv"] == 0
    assert [bar["label"] for bar in job["bars"]] == ["a", "b", "c"]
    rows["job"] = ["a"] * 6 + ["b"] * 3 + ["c"]
    with kech.read_table(pa.table(rows), quasi_identifiers=["job"], sensitive=["s"], axes={"job": "set"}) as table:
        kech.make_release(table, k=4).write(folder / "safe.csv")
        job = kech.compare(table, folder / "safe.csv").columns[0]
    assert job["tv"] == pytest.approx(0.1)
    assert [(bar["before"], bar["after"]) for bar in job["bars"]] == [(0.6, 0.6), (0.3, 0.2), (0.1, 0.2)]


def test_missing_values_are_told_apart(folder):
    rows = {"age": [1, 2, 3, 4, None, None, None, None], "s": [None, "", "x", "y"] * 2}
    with kech.read_table(pa.table(rows), quasi_identifiers=["age"], sensitive=["s"]) as table:
        kech.make_release(table, k=4).write(folder / "safe.csv")
        age, sensitive = kech.compare(table, folder / "safe.csv").columns
    assert (age["missing_before"], age["missing_after"]) == (0.5, 0.5)
    assert (sensitive["missing_before"], sensitive["missing_after"], sensitive["tv"]) == (0.5, 0.5, 0)
    assert age["before"]["mean"] == 2.5


def test_bars_of_each_column_are_all_rows(town):
    with open_town(town) as table:
        found = kech.compare(table, town / "safe.csv")
    assert found.rows_before == found.rows_after == 500
    for column in found.columns:
        for when in ("before", "after"):
            assert sum(bar[when] for bar in column["bars"]) == pytest.approx(1)
    moved = next(column for column in found.columns if column["column"] == "moved_in")
    assert moved["before"]["mean"][:2] == "20"
    assert moved["before"]["quantiles"]["0.5"] <= "2025-12-31"


def test_seeds(town):
    with open_town(town) as table:
        one, same, other = (kech.compare(table, town / "safe.csv", seed=seed) for seed in (1, 1, 2))
    assert one.to_json() == same.to_json()
    assert one.prediction != other.prediction
    assert one.columns == other.columns


def test_the_command(run, town):
    with open_town(town) as table:
        found = kech.compare(table, town / "safe.csv", target="income").to_json()
    words = ("compare", town / "people.csv", town / "safe.csv", "--target", "income")
    assert run(*words, "--json").json == json.loads(json.dumps(found)) | {"file": str(town / "safe.csv")}
    shown = run(*words)
    assert shown.out.startswith("PRIVATE:")
    for column in found["columns"]:
        assert column["column"] in shown.out
    assert f"{found['prediction']['models'][-1]['mean']:.4f}" in shown.out and "ridge regression" in shown.out


def test_refusals(run, town, folder):
    with open_town(town) as table:
        with pytest.raises(NoSuchColumn):
            kech.compare(table, town / "safe.csv", target="person")
        with pytest.raises(BadOption, match=r"^seed: "):
            kech.compare(table, town / "safe.csv", seed=-1)
    write_csv(generate_town(500, seed=9), folder / "others.csv")
    outcome = run("compare", folder / "others.csv", town / "safe.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert "not all in this table" in outcome.err
    lines = (town / "safe.csv").read_text().splitlines(keepends=True)
    (folder / "safe.csv").write_text("".join(lines[:-1]))
    with open_town(town) as table, pytest.raises(ClaimBroken):
        kech.compare(table, folder / "safe.csv", certificate=town / "safe.csv.certificate.json")


def test_pieces_without_rows_have_no_width():
    pieces = Pieces(np.array([2.0]), np.array([2.0]), np.array([0.0]), np.array([4]))
    assert (pieces.mean, pieces.sd, pieces.quantile(0.5)) == (2.0, 0.0, 2.0)
