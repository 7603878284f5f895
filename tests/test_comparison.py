"""Comparisons: against scipy and scikit-learn on rows written out, by hand, and as laws."""

import json
from itertools import product
from math import lcm

import numpy as np
import pyarrow as pa
import pytest
import sklearn.model_selection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, spearmanr
from scipy.stats.contingency import association
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, cross_val_score

import kech
from by_hand import certify
from kech.errors import BadOption, ClaimBroken, NoSuchColumn
from kech.tables.demo import generate_town, write_csv

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
ORIGINAL, ORIGINAL_ALL = "original, other folds", "original, all rows"
RELEASE, RELEASE_ALONE = "release", "release, other folds"
AXIS = {"column": "x", "axis": "number", "domain": [0, 40], "grid": "round"}
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


# -- numbers spread over their labels --------------------------------------------------------------------

boxes = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6), st.integers(1, 4)), min_size=1, max_size=5)
values = st.lists(st.integers(0, 40), min_size=1, max_size=20)


def written_out(held):
    """Every row as often as makes each value of each label equally frequent."""
    times = lcm(*(wide + 1 for _, wide, _ in held))
    return np.concatenate(
        [np.repeat(np.arange(low, low + wide + 1), size * times // (wide + 1)) for low, wide, size in held]
    )


def compare_labels(folder, original, labels):
    """A column of numbers beside the labels it is published with."""
    path = certify(folder / "labels.csv", ("x",), [(label,) for label in labels], [AXIS])
    with kech.read_table(pa.table({"x": original}), quasi_identifiers=["x"]) as table:
        (column,) = kech.compare(table, path).columns
    return column


@given(boxes, values)
@settings(in_one_folder, max_examples=50)
def test_spread_numbers_are_those_written_out(folder, held, drawn):
    inside = [low + i % (wide + 1) for low, wide, size in held for i in range(size)]
    original, rows = [*drawn, *inside], written_out(held)
    labels = [f"[{low}, {low + wide}]" if wide else str(low) for low, wide, size in held for _ in range(size)]
    column = compare_labels(folder, original, labels)

    for found, expected in ((column["before"], np.array(original)), (column["after"], rows)):
        assert found["mean"] == pytest.approx(expected.mean())
        assert found["sd"] == pytest.approx(expected.std(), abs=1e-9)
        for share in ("0.05", "0.25", "0.5", "0.75", "0.95"):
            assert found["quantiles"][share] == np.quantile(expected, float(share), method="inverted_cdf")
    assert column["ks"] == pytest.approx(
        ks_2samp(np.tile(original, 20), np.tile(rows, 20), method="asymp").statistic, abs=1e-12
    )


@pytest.mark.parametrize("label", ["[10, 20)", "[10, 20]"])
def test_a_column_without_a_unit_is_spread_along_the_line(folder, label):
    """A quarter of the label lies below 12.5, where three of four rows of the original are; none lies at its start."""
    column = compare_labels(folder, [10.0, 12.5, 12.5, 12.5, 10 + 1e-7][: 4 + (label[-1] == "]")], [label] * 3)
    assert (column["after"]["mean"], column["after"]["sd"]) == (15.0, pytest.approx(10 / np.sqrt(12)))
    assert column["after"]["quantiles"]["0.25"] == pytest.approx(12.5)
    assert column["ks"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("label", "values"), [(">= 37", range(37, 41)), ("<= 1", range(2)), ("*", range(41)), ("2", [2])]
)
def test_tails_end_where_the_domain_does(folder, label, values):
    found = compare_labels(folder, list(values), [label])["after"]
    assert (found["mean"], found["sd"]) == (pytest.approx(np.mean(values)), pytest.approx(np.std(values)))
    for share, place in found["quantiles"].items():
        assert place == np.quantile(list(values), float(share), method="inverted_cdf")


def test_many_values_are_thinned_out(folder, monkeypatch):
    monkeypatch.setattr("kech.audit.comparison.pieces.MOST_POSITIONS", 50)
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=3_000), rng.normal(0.2, 1, 3_000)
    column = compare_kept(folder, {"v": one}, {"v": other}).columns[1]
    assert column["ks"] == pytest.approx(ks_2samp(one, other).statistic, abs=1 / 50)


def compare_kept(folder, original, released, *, labels=None, axes=None, **options):
    """Columns that are published as they are, beside quasi-identifiers with these labels; other rows may be released.

    Without labels there is one more column, of which nothing is published.
    """
    axes = axes or [AXIS]
    count = len(next(iter(released.values())))
    labels = labels or {"x": ["*"] * count}
    before = original if "x" in original else {"x": [0] * len(next(iter(original.values())))} | original
    names = [axis["column"] for axis in axes]
    rows = list(zip(*(labels | released).values(), strict=True))
    path = certify(folder / "kept.csv", [*labels, *released], rows, axes, kept=list(released))
    with kech.read_table(pa.table(before), quasi_identifiers=names, keep=list(released)) as table:
        return kech.compare(table, path, **options)


# -- associations ----------------------------------------------------------------------------------------

tables = (
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=5)
    .map(np.array)
    .filter(lambda table: table.sum() > 0)
)


def rows_of(table):
    """The rows that a table counts: the place of each in one column and in the other."""
    return [np.repeat(places.ravel(), table.ravel()) for places in np.indices(table.shape)]


@st.composite
def two_tables(draw):
    """An original, and a release of other rows: not more of them, and no value that the original lacks."""
    before, after = draw(tables), draw(tables)
    rows, columns = len(before), before.shape[1]
    after = np.resize(after, (rows, columns)) * (before.sum(axis=1) > 0)[:, None] * (before.sum(axis=0) > 0)
    after = after if after.sum() else before
    return before * -(-int(after.sum()) // int(before.sum())), after


def pair_of(comparison, *columns):
    (pair,) = [pair for pair in comparison.associations if pair["columns"] == [*columns]]
    return pair


def v_of_scipy(table):
    held = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return None if min(held.shape) < 2 else pytest.approx(association(held, method="cramer"), abs=1e-9)


def rho_of_scipy(first, second):
    constant = len(np.unique(first)) < 2 or len(np.unique(second)) < 2
    return None if constant else pytest.approx(spearmanr(first, second).statistic, abs=1e-9)


@given(two_tables())
@settings(in_one_folder, max_examples=25)
def test_cramers_v_is_that_of_scipy(folder, both):
    sides = [
        {name: [f"v{place}" for place in places] for name, places in zip("ab", rows_of(table), strict=True)}
        for table in both
    ]
    pair = pair_of(compare_kept(folder, *sides), "a", "b")
    assert pair["measure"] == "cramers_v"
    assert (pair["before"], pair["after"]) == tuple(map(v_of_scipy, both))


@given(two_tables())
@settings(in_one_folder, max_examples=25)
def test_rho_is_that_of_scipy(folder, both):
    sides = [dict(zip("ab", rows_of(table), strict=True)) for table in both]
    pair = pair_of(compare_kept(folder, *sides), "a", "b")
    assert pair["measure"] == "spearman"
    assert pair["before"] == rho_of_scipy(*sides[0].values())
    assert pair["after"] == rho_of_scipy(*sides[1].values())


WIDTHS, SETS = (1, 2, 3, 4, 6, 12), ("{a, b}", "{b, c}", "{a, b, c}", "a", "c")


def stretches(values, original):
    """The stretch of each number: tenths of the original where it has many values, each value itself otherwise."""
    distinct = np.unique(original)
    edges = distinct[1:]
    if len(distinct) > 10:
        tenths = np.quantile(original, np.arange(1, 10) / 10, method="inverted_cdf")
        edges = np.unique(tenths[tenths > distinct[0]])
    return np.searchsorted(edges, values, side="right")


@pytest.mark.parametrize("highest", [8, 60])
def test_rows_are_spread_over_both_labels(folder, highest):
    """Every value of a label counts the same, whatever the label of the other column: rows are written out."""
    rng = np.random.default_rng(highest)
    age = rng.integers(0, highest, 240)
    job = np.where(rng.random(240) < age / highest, "a", rng.choice(["b", "c"], 240))
    income = age // 7 + rng.integers(0, 4, 240)
    ages, jobs, labels = [], [], {"age": [], "job": []}
    for value, held in zip(age.tolist(), job.tolist(), strict=True):
        width = int(rng.choice(WIDTHS))
        low = value // width * width
        ages.append(range(low, low + width))
        jobs.append([name for name in SETS if held in name.strip("{}").split(", ")][rng.integers(2)])
        labels["age"].append(f"[{low}, {low + width - 1}]" if width > 1 else str(low))
    labels["job"] = jobs
    axes = [AXIS | {"column": "age", "domain": [0, 60]}, {"column": "job", "axis": "set", "values": 3}]
    original = {"x": [0] * 240, "age": age, "job": job, "income": income}
    found = compare_kept(folder, original, {"income": income}, labels=labels, axes=axes)

    rows = []
    for span, members, earned in zip(ages, jobs, income.tolist(), strict=True):
        names = members.strip("{}").split(", ")
        rows += [(one, other, earned) for one, other in product(span, names)] * (12 // len(span) * 6 // len(names))
    one, other, earned = (np.array(column) for column in zip(*rows, strict=True))
    counted = np.zeros((12, 3), int)
    np.add.at(counted, (stretches(one, age), np.searchsorted(["a", "b", "c"], other)), 1)
    assert pair_of(found, "age", "job")["after"] == v_of_scipy(counted)
    rho = rho_of_scipy(stretches(one, age), stretches(earned, income))
    assert pair_of(found, "age", "income")["after"] == rho
    for column in found.columns:
        assert sum(bar["after"] for bar in column["bars"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ([0] * 95 + [1] * 5, [0] * 95 + [1] * 5),
        ([0] * 95 + [1, 2, 3, 4, 5], [0] * 95 + [1, 2, 3, 4, 5]),
        ([7] * 100, [7] * 100),
        ([None] * 100, [7] * 100),
        ([0] * 950 + list(range(100, 150)), [0] * 950 + [1] * 50),
    ],
    ids=["two", "six", "one", "none", "nearly always zero"],
)
def test_few_values_are_parts_of_their_own(folder, values, parts):
    """A column that is nearly always zero is no constant: all else is a stretch of its own."""
    other = np.arange(len(values)) * 7 % 10
    columns = {"a": pa.array(values, pa.int64()), "b": other}
    released = {"a": ["" if value is None else value for value in values], "b": other.tolist()}
    pair = pair_of(compare_kept(folder, columns, released), "a", "b")
    assert pair["before"] == pair["after"] == rho_of_scipy(parts, other)


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


@pytest.fixture
def judged(monkeypatch):
    """What scikit-learn is given to part into folds: rows, outcomes and the seed, first of the original."""
    calls = []

    def record(kind):
        class Recording(kind):
            def split(self, rows, outcomes=None, groups=None):
                calls.append((np.array(rows), np.array(outcomes), self.random_state))
                return super().split(rows, outcomes, groups)

        return Recording

    for kind in (RepeatedKFold, RepeatedStratifiedKFold):
        monkeypatch.setattr(sklearn.model_selection, kind.__name__, record(kind))
    return calls


def design(columns):
    """Each part of each column as 0 and 1, and numbers in standard deviations; as a set of columns."""
    found = []
    for values in columns:
        if values.dtype.kind in "US":
            found += [values == part for part in np.unique(values)]
        else:
            parts = stretches(values, values)
            found += [parts == part for part in np.unique(parts)] + [(values - values.mean()) / values.std()]
    return np.array(found, float)


def by_value(columns):
    return columns[np.lexsort(np.round(columns, 9).T)]


@pytest.mark.parametrize("target", ["ill", "income"])
def test_scores_are_those_of_scikit_learn(folder, judged, target):
    rng = np.random.default_rng(6)
    age = rng.integers(20, 80, 300)
    columns = {
        "age": age,
        "job": rng.choice(["a", "b", "c"], 300),
        "ill": np.array(["well", "flu", "gout"])[(age // 30 + rng.integers(0, 2, 300)) % 3],
        "income": age * 10 + rng.integers(0, 400, 300),
    }
    kept = {name: columns[name].tolist() for name in ("ill", "income")}
    labels = {"age": [str(one) for one in age], "job": columns["job"].tolist()}
    axes = [AXIS | {"column": "age", "domain": [0, 99]}, {"column": "job", "axis": "set", "values": 3}]
    told = compare_kept(folder, {"x": [0] * 300} | columns, kept, labels=labels, axes=axes, target=target).prediction

    (before, outcome, seed), (after, published, _) = judged
    expected = design([held for name, held in columns.items() if name != target])
    used = before.T[before.any(axis=0)]
    assert by_value(used) == pytest.approx(by_value(expected))
    assert sorted(map(tuple, np.round(before, 9))) == sorted(map(tuple, np.round(after, 9)))

    is_class = target == "ill"
    model = LogisticRegression(max_iter=100, tol=1e-3) if is_class else Ridge()
    kind = RepeatedStratifiedKFold if is_class else RepeatedKFold
    cv = kind(n_splits=5, n_repeats=2, random_state=seed)
    scoring = "roc_auc_ovr" if is_class else "r2"
    models = {held["trained_on"]: held for held in told["models"]}
    for name, rows, held in ((ORIGINAL, before, outcome), (RELEASE_ALONE, after, published)):
        scores = cross_val_score(model, rows, held, scoring=scoring, cv=cv)
        assert models[name]["mean"] == pytest.approx(scores.mean())
        wide = 2.2621571627409915 * np.std(scores, ddof=1) * np.sqrt(1 / 10 + 1 / 4)  # Student's t, 9 degrees
        assert models[name]["low"] == pytest.approx(scores.mean() - wide)
        assert models[name]["high"] == pytest.approx(scores.mean() + wide)
    whole = model.fit(before, outcome)
    seen = []
    for _, test in cv.split(before, outcome):
        if is_class:
            seen.append(roc_auc_score(outcome[test], whole.predict_proba(before[test]), multi_class="ovr"))
        else:
            seen.append(r2_score(outcome[test], whole.predict(before[test])))
    assert models[ORIGINAL_ALL]["mean"] == pytest.approx(np.mean(seen))
    assert models[RELEASE]["mean"] == pytest.approx(np.mean(seen), abs=1e-3)
    assert models[ORIGINAL_ALL]["mean"] > models[ORIGINAL]["mean"]  # it has seen the rows it is judged by
    assert told["difference"] == pytest.approx({"mean": 0, "low": 0, "high": 0}, abs=1e-3)


def test_a_release_without_an_outcome_trains_no_model(folder):
    rng = np.random.default_rng(0)
    held = {"v": rng.normal(size=40), "y": ["a", "b"] * 20}
    told = compare_kept(folder, held, {"v": held["v"], "y": ["a"] * 40}, target="y").prediction
    assert means(told)[RELEASE] is means(told)[RELEASE_ALONE] is told["difference"]["mean"] is None
    assert means(told)[ORIGINAL] is not None


def test_a_label_of_several_classes_is_one_of_them_by_its_shares(folder, judged):
    """Jobs of the young are published as a or b, of the old as b, c or d."""
    jobs = {0: "{a, b}", 1: "{b, c, d}"}
    young, old = ["a"] * 150 + ["b"] * 150, ["b"] * 100 + ["c"] * 100 + ["d"] * 100
    old_ones = [0] * 300 + [1] * 300
    axes = [{"column": "job", "axis": "set", "values": 4}]
    labels = {"job": [jobs[one] for one in old_ones]}
    original = {"x": [0] * 600, "job": young + old, "old": old_ones}
    compare_kept(folder, original, {"old": old_ones}, labels=labels, axes=axes, target="job")
    (before, outcome, _), (after, drawn, _) = judged
    names = {"a": outcome[0], "b": outcome[200], "c": outcome[450], "d": outcome[599]}
    assert len(set(names.values())) == 4
    for side, members in ((before[0], "ab"), (before[-1], "bcd")):
        found = drawn[(after == side).all(axis=1)]
        assert len(found) == 300
        shares = {name: np.mean(found == code) for name, code in names.items()}
        assert all(share == 0 for name, share in shares.items() if name not in members)
        assert all(abs(shares[name] - 1 / len(members)) < 0.1 for name in members)


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


@pytest.mark.long
def test_seeds(town):
    with open_town(town) as table:
        one, same, other = (kech.compare(table, town / "safe.csv", seed=seed) for seed in (1, 1, 2))
    assert one.to_json() == same.to_json()
    assert one.prediction != other.prediction
    assert one.columns == other.columns


def test_the_command(run, town):
    with open_town(town) as table:
        found = kech.compare(table, town / "safe.csv", target="income").to_json()
    words = ("compare", town / "safe.csv", "--original", town / "people.csv", "--target", "income")
    assert run(*words, "--json").json == json.loads(json.dumps(found)) | {"file": str(town / "safe.csv")}
    shown = run(*words)
    assert shown.out.startswith("PRIVATE:")
    for column in found["columns"]:
        assert column["column"] in shown.out
    assert f"{found['prediction']['models'][-1]['mean']:.4f}" in shown.out and "ridge regression" in shown.out


def test_refusals(run, town, folder):
    with open_town(town) as table:
        with pytest.raises(NoSuchColumn):
            kech.compare(table, town / "safe.csv", target="nobody")
        with pytest.raises(BadOption, match="'person' is not published"):
            kech.compare(table, town / "safe.csv", target="person")
        with pytest.raises(BadOption, match=r"^seed: "):
            kech.compare(table, town / "safe.csv", seed=-1)
    write_csv(generate_town(500, seed=9), folder / "others.csv")
    outcome = run("compare", town / "safe.csv", "--original", folder / "others.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Some released people are not in this table" in outcome.err
    lines = (town / "safe.csv").read_text().splitlines(keepends=True)
    (folder / "safe.csv").write_text("".join(lines[:-1]))
    with open_town(town) as table, pytest.raises(ClaimBroken):
        kech.compare(table, folder / "safe.csv", certificate=town / "safe.csv.certificate.json")
