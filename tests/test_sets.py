"""Labels of sets list the values that occur, and decoys where they are protected: read from files, and by hand."""

import csv
import json
from collections import Counter, defaultdict
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points, cut, cut_unprotected
from kech.cuts.bounds import lower_bounds
from kech.cuts.padding import padding_loss
from kech.cuts.protection import protect_labels
from kech.points.partition import build_partition, mean_loss
from oracles import listed, smallest_class
from strategies import unhurried

TIGHT = [{"protect": "none"}, {"protect": "ends"}, {"grid": "exact"}]


def jobs(rows=240, values=30, seed=1):
    """A skewed column of text with missing cells, an even one, and ages."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, values + 1)
    job = rng.choice([f"j{chr(97 + i // 5)}{chr(97 + i % 5)}x" for i in range(values)], rows, p=shares / shares.sum())
    return pa.table(
        {
            "job": [None if i % 29 == 3 else text for i, text in enumerate(job.tolist())],
            "town": rng.choice(["Ulm", "Rom", "Paris", "Wien", "Bern", "Oslo"], rows),
            "age": rng.integers(20, 60, rows),
            "row": [f"w{i}" for i in range(rows)],
        }
    )


AXES = {"job": "set", "town": "set"}


def publish(table, folder, *, k=5, columns=("job", "town", "age"), **asked):
    """Rows as they were, rows as they are written, in pairs; and the certificate."""
    with kech.read_table(table, quasi_identifiers=list(columns), keep=["row"], axes=AXES) as read:
        kech.make_release(read, k=k, **{"effort": "quick", **asked}).write(folder / "safe.csv", ledger=False)
    with (folder / "safe.csv").open(encoding="utf-8", newline="") as file:
        after = {row["row"]: row for row in csv.DictReader(file)}
    before = {row["row"]: row for row in table.to_pylist()}
    document = json.loads((folder / "safe.csv.certificate.json").read_text("utf-8"))
    return [(before[name], row) for name, row in after.items()], document


def values_of_classes(pairs, columns, column):
    """For each class, by its labels, its label in one column and the values that its rows had."""
    held = defaultdict(list)
    for before, after in pairs:
        held[tuple(after[name] for name in columns)].append(before[column])
    return [(labels[columns.index(column)], values) for labels, values in held.items()]


def recount_width(label, values, rare):
    """(members - 1) / (values - 1), each rare value a member; NULL is a value."""
    every = len(set(values))
    if label == "*":
        return 1.0
    spelled, counted = ([None], 0) if label == "" else listed(label)
    assert counted in (0, rare)
    return (len(spelled) + counted - 1) / max(every - 1, 1)


@pytest.mark.parametrize("asked", TIGHT, ids=str)
@pytest.mark.parametrize("column", ["job", "town"])
def test_without_padding_a_label_lists_the_values_that_occur(tmp_path, asked, column):
    table, columns = jobs(), ["job", "town", "age"]
    pairs, _ = publish(table, tmp_path, **asked)
    rows = Counter(table[column].to_pylist())
    rare = {value for value, count in rows.items() if value is not None and count < 5}
    several = 0
    for label, values in values_of_classes(pairs, columns, column):
        occurring = set(values)
        if label == "*":
            whole = occurring | (rare if occurring & rare else set())
            assert (None in occurring and len(occurring) > 1) or whole >= set(rows) - {None} or len(occurring) > 50
        elif label == "":
            assert occurring == {None}
        else:
            spelled, counted = listed(label)
            assert set(spelled) == occurring - rare
            assert counted == (len(rare) if occurring & rare else 0)
            several += len(spelled) > 1
    assert several > 3


@pytest.mark.parametrize("asked", [{}, *TIGHT, {"cut": "minimal"}, {"suppress": 0.1}, {"cut": "regime"}], ids=str)
def test_loss_rare_values_and_k_are_recounted_from_the_file(tmp_path, asked):
    """Widths by hand, k by SQL; ages are in the loss too, so only texts are published here."""
    table, columns = jobs(), ["job", "town"]
    pairs, document = publish(table, tmp_path, columns=columns, **asked)
    kept = [before for before, _ in pairs]
    widths = []
    for column in columns:
        values = [row[column] for row in kept]
        rare = {value for value, count in Counter(values).items() if value is not None and count < 5}
        labels = [after[column] for _, after in pairs]
        assert not rare & {text for label in labels if label not in ("", "*") for text in listed(label)[0]}
        widths += [recount_width(label, values, len(rare)) for label in labels]
        for before, after in pairs:
            value, label = before[column], after[column]
            spelled, counted = listed(label) if label not in ("", "*") else ([], 0)
            assert label == "*" or (value is None and label == "") or value in spelled or (value in rare and counted)
    lost = len(table) - len(pairs)
    expected = (sum(widths) + lost * len(columns)) / (len(table) * len(columns))
    assert document["claims"]["loss"] == pytest.approx(expected, abs=1e-9) or lost
    path = str(tmp_path / "safe.csv")
    query = "SELECT min(n) FROM (SELECT count(*) AS n FROM read_csv(?, all_varchar = true) GROUP BY job, town)"
    assert duckdb.execute(query, [path]).fetchone()[0] == document["claims"]["k"] >= 5
    assert smallest_class([tuple(after[name] for name in columns) for _, after in pairs]) == document["claims"]["k"]
    assert kech.check_certificate(path)["k"] >= 5


def test_a_set_is_no_longer_than_the_run_of_its_values():
    """The first and the last of thirty values are two values, not thirty."""
    held = [f"j{i:02}x" for i in range(30) for _ in range(40 - i)]
    table = pa.table({"job": [*held, *["a b"] * 3, *["c d"] * 3]})
    points = code_points(table, ["job"], grid="exact", roles={"axes": {"job": "set"}})
    partition = cut_unprotected(points, 5)
    assert max(len(listed(label)[0]) for label in partition.labels(0)) <= 2


# -- decoys ----------------------------------------------------------------------------------------------------------


def protect_classes(classes, k=5):
    """Labels of classes of values, as they are and protected; every class has a name of its own, so that none join."""
    rows = [(f"class {i}", value) for i, held in enumerate(classes) for value in held]
    names, values = zip(*rows, strict=True)
    axes = {"name": "star", "value": "set"}
    points = code_points(pa.table({"name": names, "value": values}), roles={"axes": axes}).published_at(k)
    group = points.codes[:, 0].astype(np.int64)
    order = np.argsort(group, kind="stable")
    tight = build_partition(points, order, np.unique(group[order], return_inverse=True)[1], points.weights[order])
    before, after = (dict(zip(each.labels(0), each.labels(1), strict=True)) for each in (tight, protect_labels(tight)))
    return tight, [(before[f"class {i}"], after[f"class {i}"]) for i in range(len(classes))]


@st.composite
def held_values(draw):
    """Values of each class, five rows or more in each; some values are rare, some are missing."""
    value = st.sampled_from([None, *"abcdefghij"])
    return [
        [*held, *[held[0]] * max(5 - len(held), 0)]
        for held in draw(st.lists(st.lists(value, min_size=1, max_size=8), min_size=2, max_size=12))
    ]


@settings(unhurried, max_examples=150)
@given(held_values())
def test_labels_cover_their_rows_and_decoys_are_common_values(classes):
    rows = Counter(value for held in classes for value in held)
    rare = {value for value, count in rows.items() if value is not None and count < 5}
    _, labels = protect_classes(classes)
    for held, (before, after) in zip(classes, labels, strict=True):
        if before is None or before == "*":
            assert after == before
            assert (set(held) == {None}) == (before is None)
            continue
        spelled, counted = listed(before)
        assert set(spelled) == set(held) - rare
        assert bool(counted) == bool(rare & set(held))
        if after != "*":
            assert set(listed(after)[0]) >= set(spelled)
            assert not set(listed(after)[0]) & rare
            assert listed(after)[1] == counted
        if len(spelled) + bool(counted) == 1:
            assert after == before


def draw_classes(rng, values, lengths):
    """Classes of five rows, each with so many different ones of even values."""
    for m in lengths:
        held = rng.choice(values, m, replace=False).tolist()
        yield [*held, *rng.choice(held, 5 - m).tolist()]


def test_a_listed_value_is_absent_as_often_as_rows_at_random_leave_it_out():
    """Even values, five rows a class: a share of (1 - 1/s)^5 of what is listed is held by nobody."""
    rng = np.random.default_rng(3)
    classes = list(draw_classes(rng, [f"v{chr(97 + i)}" for i in range(20)], rng.integers(2, 5, 1500)))
    sizes = [len(listed(after)[0]) for _, (_, after) in zip(classes, protect_classes(classes)[1], strict=True)]
    absent = sum(sizes) - sum(len(set(held)) for held in classes)
    meant = sum(size * (1 - 1 / size) ** 5 for size in sizes)
    assert -0.01 < (absent - meant) / sum(sizes) < 0.03
    assert absent / sum(sizes) > 0.1


def test_groups_of_labels_need_the_fewest_decoys():
    """All ways to group lengths 2 to 4, and what each would need."""
    rng, counts = np.random.default_rng(5), {2: 360, 3: 540, 4: 240}
    lengths = [m for m, labels in counts.items() for _ in range(labels)]
    classes = list(draw_classes(rng, [f"v{chr(97 + i // 20)}{chr(97 + i % 20)}x" for i in range(40)], lengths))
    _, labels = protect_classes(classes)
    found = sum(len(listed(after)[0]) for _, after in labels) - sum(lengths)

    def show(values):
        return values * (1 - (1 - 1 / values) ** 5)

    def show_in_part(m, size):
        low, high = (2, 4) if m == 2 and size < 4 else (int(size), int(size) + 1)
        return show(low) + (show(high) - show(low)) * (size - low) / (high - low)

    def size_of(group):
        target = sum(counts[m] * m for m in group)
        grid = np.arange(max(group) * 100, 5000) / 100
        return next(size for size in grid if sum(counts[m] * show_in_part(m, size) for m in group) >= target)

    ways = ([[2], [3], [4]], [[2, 3], [4]], [[2], [3, 4]], [[2, 3, 4]])
    costs = [sum((size_of(group) - m) * counts[m] for group in way for m in group) for way in ways]
    assert found == pytest.approx(min(costs), rel=0.06)
    assert max(costs) > 1.2 * min(costs)


def test_what_decoys_are_expected_to_cost_is_what_they_cost():
    rng = np.random.default_rng(6)
    classes = list(draw_classes(rng, [f"v{chr(97 + i)}" for i in range(20)], rng.integers(1, 5, 1500)))
    tight, _ = protect_classes(classes)
    assert padding_loss(tight) == pytest.approx(mean_loss(protect_labels(tight)) - mean_loss(tight), rel=0.05)


# -- laws of partitions ----------------------------------------------------------------------------------------------


def small_table(seed, rows=9):
    rng = np.random.default_rng(seed)
    return pa.table({name: rng.choice(list("uvwxyz")[:n], rows) for name, n in (("a", 4), ("b", 3))})


def test_no_partition_of_few_rows_is_below_the_bound():
    """Every partition into classes of two rows or more, measured by the values that occur."""
    for seed in range(12):
        table = small_table(seed, 7)
        points = code_points(table, grid="exact", roles={"axes": {"a": "set", "b": "set"}}).published_at(2)
        rows = list(zip(*(table[name].to_pylist() for name in "ab"), strict=True))
        best = min(loss_of(way, rows) for way in partitions(range(len(rows))) if min(map(len, way)) >= 2)
        (bound,) = lower_bounds(points, [2])
        assert bound.loss <= best + 1e-12, seed


def test_rows_that_are_far_apart_in_codes_may_be_near_in_labels():
    """Six pairs, each with one value of b and two of a that are three codes apart: they list two values of six."""
    pairs = [(f"v{i % 3}", f"v{i % 3 + 3}", f"w{i}") for i in range(6)]
    rows = [(value, name) for first, second, name in pairs for value in (first, second)]
    table = pa.table({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    points = code_points(table, grid="exact", roles={"axes": {"a": "set", "b": "set"}}).published_at(2)
    (bound,) = lower_bounds(points, [2])
    assert bound.loss <= loss_of([[i, i + 1] for i in range(0, 12, 2)], rows) == pytest.approx(0.1)


def loss_of(way, rows):
    """The mean width of labels that list what occurs; values that one row has are counted together."""
    total = 0.0
    for j in (0, 1):
        counts = Counter(row[j] for row in rows)
        rare = {value for value, count in counts.items() if count < 2}
        for group in way:
            occurring = {rows[i][j] for i in group}
            occurring |= rare if occurring & rare else set()
            total += len(group) * (len(occurring) - 1) / max(len(counts) - 1, 1)
    return total / (2 * len(rows))


def partitions(items):
    """All partitions of a few things."""
    items = list(items)
    if not items:
        yield []
        return
    for way in partitions(items[1:]):
        yield [[items[0]], *way]
        for i, group in enumerate(way):
            yield [*way[:i], [items[0], *group], *way[i + 1 :]]


@pytest.mark.parametrize("protect", ["full", "none"])
def test_losses_do_not_fall_as_k_grows(protect):
    points = code_points(jobs(), ["job", "town"], protect=protect, roles={"axes": AXES})
    losses = [mean_loss(partition) for partition in cut(points, [2, 3, 5, 8, 20])]
    assert losses == sorted(losses)


ODD = {
    "one row": (pa.table({"job": ["a"], "town": ["b"]}), 1),
    "twins": (pa.table({"job": ["a", "a", "b"] * 4, "town": ["u"] * 12}), 3),
    "a constant": (pa.table({"job": list("abcdef") * 3, "town": ["u"] * 18}), 4),
    "missing": (pa.table({"job": ["a", None, None, "b", None, "c"] * 3, "town": ["u", None] * 9}), 3),
    "nothing": (pa.table({"job": pa.array([None] * 6, pa.string()), "town": list("uvwuvw")}), 2),
    "all rare": (pa.table({"job": list("abcdefgh"), "town": ["u", "v"] * 4}), 4),
    "all together": (pa.table({"job": list("abcdefgh"), "town": ["u", "v"] * 4}), 8),
}


@pytest.mark.parametrize("protect", ["full", "none"])
@pytest.mark.parametrize("name", ODD)
def test_odd_tables_are_published_as_they_are_certified(tmp_path, name, protect):
    table, k = ODD[name]
    with kech.read_table(table, quasi_identifiers=["job", "town"], axes=AXES) as read:
        release = kech.make_release(read, k=max(k, 1), protect=protect)
        document = release.write(tmp_path / "safe.csv", ledger=False)
    assert document["claims"]["k"] >= k
    assert kech.check_certificate(tmp_path / "safe.csv")["k"] >= k


def test_people_with_several_rows_and_goals(tmp_path):
    rng = np.random.default_rng(4)
    table = jobs(300).append_column("who", [[f"p{i % 90}" for i in range(300)]])
    table = table.append_column("ill", [rng.choice(["yes", "no", "maybe"], 300).tolist()])
    roles = {"quasi_identifiers": ["job", "town"], "person": ["who"], "sensitive": ["ill"], "axes": AXES}
    with kech.read_table(table.drop_columns(["row"]), **roles) as read:
        release = kech.make_release(read, k=4, l=2, suppress=0.05, effort="quick")
        release.write(tmp_path / "safe.csv", ledger=False)
    assert release.partition.k >= 4
    assert kech.check_certificate(tmp_path / "safe.csv")["k"] >= 1


def test_new_rows_get_labels_that_list_their_values():
    frame = jobs(300).select(["job", "town"]).to_pandas()
    model = kech.Anonymizer(k=5, request=kech.Request().override(protect="none", effort="quick")).set_output(
        transform="pandas"
    )
    fitted = model.fit(frame)
    strangers = frame.iloc[:1].reindex(range(36)).copy()
    values = list(product(sorted(set(frame["job"].dropna()))[:6], sorted(set(frame["town"]))))
    strangers["job"], strangers["town"] = zip(*values, strict=True)
    for (_, row), (_, labels) in zip(strangers.iterrows(), fitted.transform(strangers).iterrows(), strict=True):
        for name in ("job", "town"):
            label = labels[name]
            assert label == "*" or row[name] in listed(label)[0] or listed(label)[1]


@pytest.mark.parametrize("protect", ["full", "none"])
def test_threads_change_no_label(protect):
    points = code_points(jobs(400), ["job", "town", "age"], protect=protect, roles={"axes": AXES})
    one, two = (cut(points, [5], threads=threads, effort="quick")[0] for threads in (1, 2))
    assert [one.labels(j) for j in range(3)] == [two.labels(j) for j in range(3)]
