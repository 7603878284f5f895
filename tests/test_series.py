"""Series: releases of a growing table.  The paper's nine rows first, then laws, then refusals and the folder itself."""

import csv
import io
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from kech.errors import (
    BadCertificate,
    BadKey,
    BadOption,
    BadRowKey,
    BadSeries,
    BadTarget,
    ClaimBroken,
    GoalNotMet,
    NoSuchFile,
    TooFewRows,
)
from strategies import seeds

NINE = [  # of the paper: age, zip, salary; the first column is a key
    (1, 22, "47671", 5),
    (2, 25, "47630", 3),
    (3, 23, "47673", 7),
    (4, 52, "47605", 9),
    (5, 43, "47612", 8),
    (6, 47, "47607", 6),
    (7, 30, "47673", 4),
    (8, 36, "47607", 2),
    (9, 32, "47651", 1),
]
ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"], "rows_are_people": True, "threads": 1}


def table_of(rows, names=("id", "age", "zip", "salary"), **fields):
    """Rows as a table of kech, with a key."""
    columns = list(zip(*rows, strict=True)) or [[] for _ in names]
    arrow = pa.table({name: pa.array(list(cells)) for name, cells in zip(names, columns, strict=True)})
    return kech.read_table(arrow, **{"key": ["id"], **ROLES, **fields})


def publish(series, rows, path, read=None, **fields):
    """One more version of rows."""
    with table_of(rows, **(read or {})) as table:
        return series.publish(table, path, **{"k": 3, "effort": "quick", **fields})


def read_rows(path):
    """The rows of a published file, as text."""
    if Path(path).suffix == ".parquet":
        return [
            {name: None if x is None else str(x) for name, x in row.items()} for row in pq.read_table(path).to_pylist()
        ]
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def label_of(row, others=("salary",)):
    """The labels of a published row."""
    return tuple(cell for name, cell in row.items() if name not in others)


@pytest.fixture
def series(tmp_path):
    return kech.open_series(tmp_path / "clinic")


@pytest.fixture
def nine(series, tmp_path):
    """A series whose first version has the nine rows."""
    publish(series, NINE, tmp_path / "one.csv")
    return series


# -- the nine rows ---------------------------------------------------------------------------------------------------


def test_nine_rows_in_two_versions_keep_their_labels(series, tmp_path):
    first = publish(series, NINE[:6], tmp_path / "one.csv")
    second = publish(series, NINE, tmp_path / "two.csv")

    before = {row["salary"]: label_of(row) for row in read_rows(tmp_path / "one.csv")}
    after = {row["salary"]: label_of(row) for row in read_rows(tmp_path / "two.csv")}
    assert before.items() <= after.items() and len(after) == 9
    assert len({after[salary] for salary in "421"}) == 1  # rows 7, 8 and 9, as in Table 1(b)
    assert (first["series"]["version"], first["series"]["arrivals"]) == (1, 6)
    assert (second["series"]["version"], second["series"]["arrivals"], second["series"]["new_cohorts"]) == (2, 3, 1)
    assert kech.verify_series(series)["holds"]


def test_versions_are_rows_with_their_cohorts(series, tmp_path):
    publish(series, NINE[:6], tmp_path / "one.csv")
    publish(series, NINE, tmp_path / "two.csv")

    (rows, cohorts), (more, later) = series.versions()
    assert rows.tolist() == list(range(6)) and more.tolist() == list(range(9))
    assert later[:6].tolist() == cohorts.tolist()
    assert min(Counter(later.tolist()).values()) >= 3


def test_two_arrivals_wait_until_a_third_comes(nine, tmp_path):
    few = publish(nine, [*NINE, (10, 31, "47650", 10), (11, 33, "47652", 11)], tmp_path / "two.csv")
    enough = publish(nine, [*NINE, *((i, 30 + i, "47650", i) for i in (10, 11, 12))], tmp_path / "three.csv")

    assert (few["rows"], few["series"]["arrivals"], few["series"]["waiting"]) == (9, 0, "<3")
    assert (enough["rows"], enough["series"]["waiting"]) == (12, 0)
    assert json.loads((tmp_path / "two.csv.certificate.json").read_text())["series"]["waiting"] == "<3"


@pytest.mark.parametrize(("effort", "searched_as"), [(None, 9), ("quick", 0)])
def test_new_rows_are_searched_as_a_part_of_their_table(series, tmp_path, monkeypatch, effort, searched_as):
    """Unless an effort is named: at most so many times as long, for each row, as the whole table would be."""
    local = import_module("kech.cuts.local")
    measured, efforts = local.progress_of, []
    monkeypatch.setattr(local, "progress_of", lambda *given: efforts.append(given) or measured(*given))
    publish(series, NINE[:3], tmp_path / "one.csv", effort=effort)
    publish(series, NINE, tmp_path / "two.csv", effort=effort)

    assert efforts[-1][2] == searched_as
    for rows in (2_000, 5_000, 100_000, 3_000_000):
        longest = [1 / measured(part, "normal", of)(1) / part for part, of in ((2_000, rows), (rows, 0))]
        most = 2 if rows > 50_000 else 3
        assert longest[0] <= min(most * longest[1], 1 / measured(2_000, "normal", 0)(1) / 2_000) * (1 + 1e-9)


def test_new_rows_gather_until_there_are_enough(series, tmp_path):
    publish(series, NINE[:3], tmp_path / "one.csv", gather=4)  # the first version waits for nobody
    few = publish(series, NINE[:6], tmp_path / "two.csv")
    enough = publish(series, NINE[:7], tmp_path / "three.csv")

    assert (few["series"]["arrivals"], few["series"]["waiting"], few["rows"]) == (0, 3, 3)
    assert (enough["series"]["arrivals"], enough["series"]["waiting"], enough["rows"]) == (4, 0, 7)
    assert enough["series"]["in_force"]["gather"] == 4  # as it was said at first


def test_a_departure_is_held_or_takes_its_cohort_along(nine, tmp_path):
    held = publish(nine, NINE[1:], tmp_path / "held.csv")
    gone = publish(nine, NINE[1:], tmp_path / "gone.csv", departures="withdraw")
    back = publish(nine, NINE, tmp_path / "back.csv")

    assert (held["rows"], held["series"]["held"]) == (9, "<3")
    cohort = {row["salary"] for row in read_rows(tmp_path / "held.csv")} - {
        row["salary"] for row in read_rows(tmp_path / "gone.csv")
    }
    assert "5" in cohort and gone["series"]["withdrawn"] == len(cohort) == 9 - gone["rows"] >= 3
    assert back["series"]["returned"] == len(cohort)  # all of them are there again
    assert rows_of(tmp_path / "back.csv") == rows_of(tmp_path / "one.csv")
    assert kech.verify_series(nine)["holds"]


def rows_of(path):
    """The rows of a file, whatever their order."""
    return Counter(tuple(row.values()) for row in read_rows(path))


def test_a_cohort_leaves_when_its_last_row_has_left_and_never_in_part(nine, tmp_path):
    cohorts = defaultdict(set)
    for row in read_rows(tmp_path / "one.csv"):
        cohorts[label_of(row)].add(int(row["salary"]))
    gone = min(cohorts.values(), key=len)
    left = publish(nine, [row for row in NINE if row[3] not in gone], tmp_path / "two.csv")
    some = publish(nine, [row for row in NINE if row[3] != min(gone)], tmp_path / "three.csv")

    assert left["series"]["withdrawn"] == len(gone)
    assert (some["series"]["returned"], some["rows"], some["series"]["kept_out"]) == (0, 9 - len(gone), "<3")


def test_a_correction_is_kept_as_first_published_or_withdraws_its_cohort(nine, tmp_path):
    corrected = [(1, 60, "10000", 5), *NINE[1:]]
    kept = publish(nine, corrected, tmp_path / "kept.csv")
    gone = publish(nine, corrected, tmp_path / "gone.csv", corrections="withdraw")
    again = publish(nine, corrected, tmp_path / "again.csv", corrections="withdraw")

    assert rows_of(tmp_path / "kept.csv") == rows_of(tmp_path / "one.csv") and kept["series"]["corrected"] == "<3"
    assert "5" not in {row["salary"] for row in read_rows(tmp_path / "gone.csv")} and gone["series"]["withdrawn"] >= 3
    assert again["rows"] == gone["rows"] and again["series"]["withdrawn"] == 0


def test_the_order_of_rows_is_new_in_every_file(series, tmp_path):
    rows = [(i, 20 + i % 40, "47671", i) for i in range(60)]
    publish(series, rows[:40], tmp_path / "one.csv")
    publish(series, rows, tmp_path / "two.csv")

    order = [int(row["salary"]) for row in read_rows(tmp_path / "two.csv")]
    first = [int(row["salary"]) for row in read_rows(tmp_path / "one.csv")]
    assert [i for i in order if i < 40] != first and order[:40] != first and sorted(order) == list(range(60))


# -- laws ------------------------------------------------------------------------------------------------------------


class Histories:
    """A table that changes at random; the sensitive cell names the row, so that a file tells whose rows it holds."""

    KINDS = (("age", "zip"), ("job", "born"), ("zip", "job", "age"), ("size", "age"))

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.columns, self.k, self.count, self.past = self.rng.choice(self.KINDS), self.rng.choice([2, 3]), 0, []
        self.has_nulls, self.of_people = self.rng.random() < 0.5, self.rng.random() < 0.4
        self.rows = [self.new_row() for _ in range(self.rng.randrange(4 * self.k, 24))]

    def new_row(self):
        self.count += 1
        who = self.rng.randrange(self.count // 2 + 3) if self.of_people else self.count
        return {"id": self.count, "who": f"p{who}", "name": f"n{self.count}", **{c: self.cell(c) for c in self.columns}}

    def cell(self, column):
        rng = self.rng
        if self.has_nulls and rng.random() < 0.15:
            return None
        made = {
            "age": rng.randrange(20, 60),
            "zip": f"0{rng.randrange(20, 24)}{rng.randrange(10):02}",
            "job": rng.choice(["nurse", "clerk, a", "driver", "cook", "clerk, b"]),
            "born": f"{rng.randrange(1950, 2000)}-{rng.randrange(1, 13):02}-01",
            "size": rng.choice(["S", "M", "L"]),
        }
        return made[column]

    def change(self):
        """Rows leave, come back, are corrected, and arrive."""
        rng = self.rng
        for _ in range(rng.randrange(6)):
            self.past.append(self.rows.pop(rng.randrange(len(self.rows))))
        if rng.random() < 0.5:
            self.rows, self.past = self.rows + self.past, []
        for _ in range(rng.randrange(3)):
            row = rng.choice(self.rows)
            row[self.columns[0]] = self.cell(self.columns[0])
        self.rows += [self.new_row() for _ in range(rng.choice([0, 1, 6, 14]))]

    def table(self):
        kinds = {"id": pa.int64(), "age": pa.int64()}
        names = ("id", "who", "name", *self.columns)
        arrow = pa.table({n: pa.array([row[n] for row in self.rows], kinds.get(n, pa.string())) for n in names})
        roles = {"person": ["who"]} if self.of_people else {"rows_are_people": True}
        axes = {"size": ["S", "M", "L"]} if "size" in self.columns else {}
        given = {"quasi_identifiers": self.columns, "sensitive": ["name"], "key": ["id"], "axes": axes}
        return kech.read_table(arrow, threads=1, **given, **roles)

    def fields(self):
        """What may be asked anew for each version."""
        pick = self.rng.choice
        ways = {"departures": pick(["hold", "withdraw"]), "corrections": pick(["keep", "withdraw"])}
        return {"k": self.k, "effort": "quick", "wait": pick([0, 0.3]), "most_changed": 1, **ways}


@pytest.mark.parametrize("seed", seeds(12))
def test_whatever_happens_rows_come_and_go_with_their_whole_cohort(series, tmp_path, seed):
    """From the files alone: rows with the same label that are in the same versions are k people or more."""
    history, suffix = Histories(seed), random.Random(seed).choice(["csv", "parquet"])
    label, seen, whose = {}, defaultdict(list), {}
    for version in range(4):
        history.change() if version else None
        whose |= {row["name"]: row["who"] for row in history.rows}
        path = tmp_path / f"{version}.{suffix}"
        try:
            with history.table() as table:
                found = series.publish(table, path, **history.fields())
        except GoalNotMet:
            break
        assert kech.verify_release(path)["k"] >= history.k
        rows = read_rows(path)
        assert len({row["name"] for row in rows}) == len(rows) == found["rows"]
        for row in rows:
            assert label.setdefault(row["name"], label_of(row, ["name"])) == label_of(row, ["name"])
            seen[row["name"]].append(version)
    assert kech.verify_series(series)["holds"]
    atoms = defaultdict(set)
    for name, versions in seen.items():
        atoms[label[name], *versions].add(whose[name])
    assert min(map(len, atoms.values())) >= history.k


def test_without_a_key_equal_rows_are_a_multiset(series, tmp_path):
    rows = [(20 + i % 3, "47671", i % 2) for i in range(12)]
    given = {"names": ("age", "zip", "salary"), "key": []}
    publish(series, rows, tmp_path / "one.csv", given)
    twins = publish(series, [*rows, *rows[:3]], tmp_path / "two.csv", given)
    fewer = publish(series, rows[1:], tmp_path / "three.csv", given)

    assert (twins["rows"], twins["series"]["arrivals"]) == (15, 3)
    assert (fewer["rows"], fewer["series"]["held"], fewer["series"]["withdrawn"]) == (15, 4, 0)  # the oldest left
    assert kech.verify_series(series)["holds"]


@pytest.mark.parametrize("finding", ["flu", "burn"])
@pytest.mark.parametrize("left", [1, 3])
def test_without_a_key_other_cells_do_not_tell_which_cohort_leaves(series, tmp_path, finding, left):
    """One row of the second cohort has the quasi-identifiers of one that leaves, with its finding or without."""
    given = {"names": ("age", "zip", "salary"), "key": []}
    exact = {"grid": "exact", "protect": "none"}
    first = [(30, "47671", "flu"), (31, "47671", "cold"), (32, "47671", "burn")]
    old = [(60, "47671", "flu"), (61, "47671", "cold"), (62, "47671", "burn")]
    second = [(30, "47671", finding), (33, "47671", "cold"), (34, "47671", "cut")]
    publish(series, [*first, *old], tmp_path / "one.csv", given, **exact)
    publish(series, [*first, *old, *second], tmp_path / "two.csv", given, **exact)
    found = publish(series, [*first[left:], *old, *second], tmp_path / "three.csv", given, **exact)

    assert found["series"]["withdrawn"] == (3 if left == 3 else 0)
    gone = rows_of(tmp_path / "two.csv") - rows_of(tmp_path / "three.csv")
    assert {row[0] for row in gone} == ({"[30, 32]"} if left == 3 else set())


def test_without_a_key_a_correction_keeps_its_place_and_other_new_rows_wait(series, tmp_path):
    """A finding is corrected; later one more row has the same quasi-identifiers, and then both happen at once."""
    given = {"names": ("age", "zip", "salary"), "key": []}
    rows = [(30 + i, "47671", "flu") for i in range(6)]
    corrected = [(30, "47671", "burn"), *rows[1:]]
    more = [(30, "47671", "cut"), (50, "47671", "cold"), (51, "47671", "cold")]
    both = [(31, "47671", "burn"), (31, "47671", "cut"), (55, "47671", "cold"), (56, "47671", "cold")]
    one = publish(series, rows, tmp_path / "one.csv", given)
    two = publish(series, corrected, tmp_path / "two.csv", given)
    three = publish(series, [*corrected, *more], tmp_path / "three.csv", given)
    four = publish(series, [corrected[0], *corrected[2:], *more, *both], tmp_path / "four.csv", given, wait=0)

    assert [each["rows"] for each in (one, two, three, four)] == [6, 6, 9, 9]
    assert two["series"]["corrected"] == "<3" and rows_of(tmp_path / "two.csv") == rows_of(tmp_path / "one.csv")
    new = Counter(row["salary"] for row in read_rows(tmp_path / "three.csv")) - Counter({"flu": 6})
    assert new == Counter(cut=1, cold=2)
    assert four["series"]["waiting"] == 3  # two others, and the one of whom nobody can tell which it is


def test_without_a_key_quasi_identifiers_alone_make_a_series(series, tmp_path):
    """All that is read of a row is then what it is counted by."""
    given = {"names": ("age", "zip"), "key": [], "sensitive": []}
    rows = [row[1:3] for row in NINE]
    publish(series, rows, tmp_path / "one.csv", given)
    found = publish(series, [*rows, *rows[:3]], tmp_path / "two.csv", given)

    assert (found["rows"], found["series"]["arrivals"]) == (12, 3)


@pytest.mark.parametrize("policy", [{"departures": "withdraw"}, {"corrections": "withdraw"}])
def test_nothing_is_withdrawn_without_a_key(series, tmp_path, policy):
    given = {"names": ("age", "zip", "salary"), "key": []}
    with pytest.raises(kech.errors.BadOption, match="name a key"):
        publish(series, [row[1:] for row in NINE], tmp_path / "one.csv", given, **policy)
    assert not series.exists


def test_people_of_a_cohort_are_counted_not_rows(series, tmp_path):
    names = ("id", "who", "age", "zip", "salary")
    given = {"names": names, "person": ["who"], "rows_are_people": False}
    rows = [(i, i // 2, 20 + i, "47671", i) for i in range(24)]
    first = publish(series, rows, tmp_path / "one.csv", given)
    second = publish(series, [*rows, *((i, 99, 30, "47671", i) for i in range(24, 30))], tmp_path / "two.csv", given)

    assert first["stated"]["k"] >= 3 and first["stated"]["people"] == 12
    assert second["series"]["arrivals"] == 0 and second["series"]["waiting"]  # six rows, and one person
    assert second["stated"] == first["stated"]
    with table_of(rows, **given) as original:
        recounted = kech.verify_release(tmp_path / "two.csv", original=original)["recounted"]
    assert not recounted["made_again"] and "holds cohorts of earlier versions" in recounted["why_not"]


@pytest.mark.parametrize("words", [["--original", "x.csv"], ["--person", "id"], ["--k", 3], ["--plan", "kech.toml"]])
def test_the_check_of_a_series_refuses_options_that_it_does_not_use(nine, run, words):
    said = run("verify", "--series", nine.folder, *words)
    assert said.code == 2 and f"omit {words[0]}" in said.err


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        (["--replace"], "kech series FOLDER --forget"),
        (["--folder", "site"], "kech report FILE"),
        (["--l", 2], "once all versions of this one are forgotten"),
    ],
)
def test_what_a_later_version_cannot_do_is_refused_with_the_way_out(nine, run, tmp_path, words, way_out):
    with (tmp_path / "nine.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "age", "zip", "salary"), *NINE])
    said = run("release", tmp_path / "nine.csv", "--series", nine.folder, "-o", tmp_path / "two.csv", *words)
    assert said.code == 2 and way_out in " ".join(said.err.split())
    assert len(nine.versions()) == 1


@pytest.mark.parametrize("name", ["one.csv", "one.csv.certificate.json", "clinic/series.json", "clinic/new.json"])
def test_a_certificate_overwrites_no_version_and_stays_out_of_the_folder(series, tmp_path, name):
    publish(series, NINE, tmp_path / "one.csv")
    place = series.folder / Path(name).name if name.startswith("clinic") else tmp_path / name
    before = place.read_bytes() if place.exists() else None
    with pytest.raises(BadOption, match=r"certificate: it (is the|lies in)"):
        publish(series, NINE, tmp_path / "two.csv", certificate=place)
    assert (place.read_bytes() if place.exists() else None) == before
    assert not (tmp_path / "two.csv").exists() and len(series.versions()) == 1


def test_a_key_that_would_be_published_is_refused(series, tmp_path):
    with pytest.raises(BadOption, match="key: it would be published"):
        publish(series, NINE, tmp_path / "one.csv", {"keep": ["id"]})
    assert not (tmp_path / "one.csv").exists()


def test_goals_hold_in_every_cohort_and_t_is_recounted(series, tmp_path):
    rows = [(i, 20 + i, "47671", i % 3) for i in range(30)]
    more = [(i, 20 + i % 30, "47671", 7 + i % 2) for i in range(30, 42)]
    publish(series, rows, tmp_path / "one.csv", l=2, t=0.8)
    publish(series, [*rows, *more], tmp_path / "two.csv", l=2, t=0.8)

    document = json.loads((tmp_path / "two.csv.certificate.json").read_text())
    assert document["claims"]["goals"] == {"l": 2, "l_kind": "distinct"}
    assert document["series"]["at_cut"] == {"t": 0.8, "t_kind": "equal"}
    assert document["measured"]["t"]["salary"] > 0.4  # against a file that has grown
    kech.verify_release(tmp_path / "two.csv")


def test_the_t_of_cohorts_is_told_where_they_are_cut_and_to_readers(run, tmp_path):
    rows = [("id", "age", "zip", "salary"), *((*row[:3], row[3] % 2) for row in NINE)]
    (tmp_path / "nine.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    asked = ("--qi", "age", "zip", "--sensitive", "salary", "--k", 3, "--t", 0.9, "--key", "id")
    said = run("release", tmp_path / "nine.csv", "--series", tmp_path / "c", *asked, "-o", tmp_path / "safe.csv")
    for shown in (said.out, run("verify", tmp_path / "safe.csv").out):
        assert "t <= 0.9 (equal) held in each cohort when it was cut" in " ".join(shown.split())


@pytest.mark.parametrize("kind", ["equal", "ordered"])
@pytest.mark.parametrize("new", [[1] * 3, [1] * 12, [0, 1, 2, 3] * 5, [0, 0, 1, 3] * 4])
def test_t_of_new_cohorts_is_measured_against_published_and_new_rows(series, tmp_path, kind, new):
    """Judged from the two files: a cohort of one value is far from a table of four."""
    rows, t = [(i, 20 + i % 30, "47671", i % 4) for i in range(40)], 0.35
    more = [(40 + i, 60 + i % 30, "47671", value) for i, value in enumerate(new)]
    publish(series, rows, tmp_path / "one.csv", t=t, t_kind=kind)
    found = publish(series, [*rows, *more], tmp_path / "two.csv", t=t, t_kind=kind)

    old, all_rows = rows_of(tmp_path / "one.csv"), read_rows(tmp_path / "two.csv")
    cohorts, overall = defaultdict(Counter), Counter(row["salary"] for row in all_rows)
    for cells, times in (rows_of(tmp_path / "two.csv") - old).items():
        cohorts[cells[:2]][cells[2]] += times
    far = [distance(cohort, overall, kind) for cohort in cohorts.values()]
    document = json.loads((tmp_path / "two.csv.certificate.json").read_text())
    assert max(far, default=0) <= t + 1e-9 and document["series"]["at_cut"] == {"t": t, "t_kind": kind}
    assert found["series"]["waiting"] == (0 if cohorts else "<3" if len(new) < 3 else len(new))
    assert bool(cohorts) == (len(new) > 12 or kind == "ordered")  # value 1 is near the middle of the order


def distance(cohort, overall, kind):
    """Between shares of values 0 to 3: half of all differences, or those of cumulative shares by three steps."""
    gaps = [cohort[str(i)] / cohort.total() - overall[str(i)] / overall.total() for i in range(4)]
    return sum(map(abs, gaps)) / 2 if kind == "equal" else sum(abs(sum(gaps[: i + 1])) for i in range(4)) / 3


def test_the_most_blurred_rows_wait_and_no_more_than_the_share(series, tmp_path):
    rows = [
        *((i, 30 + i % 30, "47671", i) for i in range(60)),
        *((i, 30 + 7 * (i % 5), "10000", i) for i in range(60, 65)),
    ]
    found = publish(series, rows, tmp_path / "one.csv", wait=0.2)

    assert 0 < found["series"]["waiting"] <= 0.2 * len(rows)
    assert not {row["salary"] for row in read_rows(tmp_path / "one.csv")} & {str(i) for i in range(60, 65)}


# -- axes of several versions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "dash", "columns"])
def test_one_certificate_measures_the_labels_of_all_versions(series, tmp_path, form):
    young = [(i, 20 + i % 9, "47671", i) for i in range(30)]
    old = [(i, 70 + i % 9, "99671", i) for i in range(30, 60)]
    publish(series, young, tmp_path / "one.csv", labels=form)
    publish(series, [*young, *old], tmp_path / "two.csv", labels=form)

    ages = json.loads((tmp_path / "two.csv.certificate.json").read_text())["quasi_identifiers"][0]
    assert ages["domain"][0] <= 22 and ages["domain"][1] >= 76  # the bulk of both
    assert kech.verify_release(tmp_path / "two.csv")["loss"] < 1


def test_a_pool_that_tells_nothing_does_not_stretch_a_domain(series, tmp_path):
    rows = [(i, 1950 + i % 40, "47671", i) for i in range(40)]
    publish(series, rows, tmp_path / "one.csv")
    before = json.loads((tmp_path / "one.csv.certificate.json").read_text())["quasi_identifiers"][0]["domain"]
    publish(series, [*rows, *((i, None, "47671", i) for i in range(40, 44))], tmp_path / "two.csv")

    after = json.loads((tmp_path / "two.csv.certificate.json").read_text())
    assert after["quasi_identifiers"][0]["domain"] == before and after["claims"]["rows"] == 44


def test_rare_values_of_several_versions_are_read_and_forged_ones_are_not(series, tmp_path):
    common = ["nurse", "clerk", "baker", "smith"] * 6
    first = [(i, 30, job, i) for i, job in enumerate([*common, "spy", "pope", "king"])]
    second = [(i + 40, 30, job, i + 40) for i, job in enumerate([*common, "poet", "czar"])]
    given = {"axes": {"zip": "set"}}
    publish(series, first, tmp_path / "one.csv", given, k=5, protect="none")
    publish(series, [*first, *second], tmp_path / "two.csv", given, k=5, protect="none")

    beside = tmp_path / "two.csv.certificate.json"
    document = json.loads(beside.read_text())
    jobs = next(axis for axis in document["quasi_identifiers"] if axis["column"] == "zip")
    assert jobs["rare"] == [2, 3]
    kech.verify_release(tmp_path / "two.csv")
    jobs["rare"] = [2]
    beside.write_text(json.dumps(document))
    with pytest.raises(ClaimBroken, match="its axis cannot read"):
        kech.verify_release(tmp_path / "two.csv")


def test_a_column_is_read_as_in_the_first_version(series, tmp_path):
    """Codes in the first month, and in the second only such as would be read as numbers."""
    first = [(i, 30 + i % 5, f"0{i:02}00", i) for i in range(40)]
    publish(series, first, tmp_path / "one.csv")
    publish(series, [*first, *((i, 30 + i % 5, f"{i}100", i) for i in range(40, 80))], tmp_path / "two.csv")

    axes = json.loads((tmp_path / "two.csv.certificate.json").read_text())["quasi_identifiers"]
    assert [axis["axis"] for axis in axes] == ["number", "hierarchy"]


def test_a_file_of_one_column_keeps_rows_that_are_blank_lines(series, tmp_path):
    """A missing value is an empty cell, and alone in its row it is an empty line."""
    rows = [*((i, 30) for i in range(6)), *((i, None) for i in range(10, 14))]
    given = {"names": ("id", "age"), "quasi_identifiers": ["age"], "sensitive": []}
    publish(series, rows, tmp_path / "one.csv", given)
    publish(series, [*rows, *((i, None) for i in range(20, 24))], tmp_path / "two.csv", given)

    assert (tmp_path / "two.csv").read_text().count("\n\n") > 0
    assert [len(each) for each, _ in series.versions()] == [10, 14] and kech.verify_series(series)["holds"]


def test_a_column_whose_type_changes_becomes_text(series, tmp_path):
    rows = [(i, 20 + i % 9, "47671", i) for i in range(12)]
    publish(series, rows, tmp_path / "one.parquet")
    texts = [*((*row[:3], str(row[3])) for row in rows), *((i, 20 + i % 9, "47671", f"x{i}") for i in range(20, 32))]
    found = publish(series, texts, tmp_path / "two.parquet")

    assert found["series"]["corrected"] == 0
    assert {row["salary"] for row in read_rows(tmp_path / "two.parquet")} >= {"0", "x20"}
    assert kech.verify_series(series)["holds"]


FORGED = [
    ("cohorts", 1, "cohorts"),
    ("arrivals", 2, "arrivals|new_cohorts"),
    ("withdrawn", 1, "withdrawn"),
    ("returned", 3, "returned"),
    ("promise", "All is well.", "promise"),
    ("version", 0, "version"),
]


def test_a_forged_section_is_found_out(nine, tmp_path):
    publish(nine, [*NINE, *((i, 30 + i, "47650", i) for i in (10, 11, 12))], tmp_path / "two.csv")
    beside = tmp_path / "two.csv.certificate.json"
    document = json.loads(beside.read_text())
    for place, value, said in FORGED:
        beside.write_text(json.dumps(document | {"series": document["series"] | {place: value}}))
        with pytest.raises(ClaimBroken, match=said):
            kech.check_certificate(tmp_path / "two.csv")


@pytest.mark.parametrize("id", ["a person", 7, None])
def test_the_id_of_a_series_is_nothing_but_a_hash(nine, tmp_path, id):
    publish(nine, NINE, tmp_path / "two.csv")
    besides = [tmp_path / f"{name}.csv.certificate.json" for name in ("one", "two")]
    first, second = (json.loads(beside.read_text()) for beside in besides)
    assert first["series"]["id"] == second["series"]["id"]
    besides[0].write_text(json.dumps(first | {"series": first["series"] | {"id": id}}))
    with pytest.raises(BadCertificate, match="series"):
        kech.check_certificate(tmp_path / "one.csv")


def test_verify_series_finds_a_file_with_one_row_more(nine, tmp_path):
    """A release outside the rules, entered by hand with a certificate that holds: one newcomer joined a class."""
    publish(nine, NINE, tmp_path / "two.csv")
    book = json.loads((nine.folder / "series.json").read_text())
    lines = (tmp_path / "two.csv").read_text().splitlines()
    (tmp_path / "two.csv").write_text("\n".join([*lines, lines[-1]]) + "\n")
    document = json.loads((nine.folder / "0002-certificate.json").read_text())
    document["file"]["sha256"] = book["versions"][1]["release"] = sha256(tmp_path / "two.csv")
    (nine.folder / "0002-certificate.json").write_text(json.dumps(document))
    book["versions"][1]["files"]["0002-certificate.json"] = sha256(nine.folder / "0002-certificate.json")
    (nine.folder / "series.json").write_text(json.dumps(book))

    with pytest.raises(ClaimBroken, match="rows"):
        kech.verify_series(nine)


def test_verify_series_finds_a_certificate_that_tells_of_another_version(nine, tmp_path):
    """Beside the file; in the folder; and in the folder with its hash."""
    publish(nine, NINE, tmp_path / "two.csv")
    held, beside = nine.folder / "0002-certificate.json", tmp_path / "two.csv.certificate.json"
    document = json.loads(held.read_text())
    forged = json.dumps(document | {"series": document["series"] | {"version": 3}})
    beside.write_text(forged)
    with pytest.raises(ClaimBroken, match="beside the file"):
        kech.verify_series(nine)

    held.write_text(forged)
    with pytest.raises(BadSeries, match=r"certificate[.]json is missing or damaged"):
        kech.verify_series(nine)

    book = json.loads((nine.folder / "series.json").read_text())
    book["versions"][1]["files"][held.name] = sha256(held)
    (nine.folder / "series.json").write_text(json.dumps(book))
    with pytest.raises(ClaimBroken, match="another version"):
        kech.verify_series(nine)


def sha256(path):
    """Of a file, by another library than kech's."""
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


# -- refusals --------------------------------------------------------------------------------------------------------


CHANGED = [
    ({}, {"k": 4}, "k"),
    ({}, {"l": 2}, "l"),
    ({}, {"grid": "exact"}, "grid"),
    ({}, {"labels": "columns"}, "labels"),
    ({}, {"cut": "minimal"}, "cut"),
    ({"sensitive": []}, {}, "sensitive"),
    ({"quasi_identifiers": ["age"]}, {}, "quasi_identifiers"),
    ({"key": []}, {}, "key"),
    ({"axes": {"zip": "set"}}, {}, "axes"),
]


def test_what_the_first_version_fixed_is_named_when_it_changes(nine, tmp_path):
    for read, fields, said in CHANGED:
        with pytest.raises(BadOption, match=rf"Different now: {said}\..* new series"):
            publish(nine, NINE, tmp_path / "two.csv", read, **fields)
    assert not (tmp_path / "two.csv").exists() and len(nine.versions()) == 1


def test_a_series_begun_before_a_goal_existed_stands_at_its_default(nine):
    request = nine.request
    edit_series_file(nine, lambda known: known["fixed"].pop("alpha"))
    assert kech.open_series(nine.folder).request == request


@pytest.mark.parametrize(
    "edit",
    [
        lambda known: known["fixed"].update(k=2),
        lambda known: known["fixed"].update(sensitive=[]),
        lambda known: known["judged"].append("0" * 64),
        lambda known: known["versions"][0].update(release="0" * 64),
        lambda known: known["versions"].pop(),
        lambda known: known["versions"].clear(),
        lambda known: known["versions"][-1].update(seal="0" * 64),
    ],
)
def test_a_series_that_was_edited_has_no_further_version(nine, tmp_path, edit):
    """Who may write the folder and lacks the secret lowers no k; what may change without it still can."""
    publish(nine, NINE, tmp_path / "two.csv")
    edit_series_file(nine, lambda known: known["policy"].update(wait=0.1))
    publish(nine, NINE, tmp_path / "three.csv")
    edit_series_file(nine, edit)
    with pytest.raises(BadSeries, match=r"was edited|does not know|is damaged"):
        publish(nine, NINE, tmp_path / "four.csv")
    assert not [*tmp_path.glob("four*")]


def edit_series_file(series, edit):
    """Change what the folder says."""
    known = json.loads((series.folder / "series.json").read_text("utf-8"))
    edit(known)
    (series.folder / "series.json").write_text(json.dumps(known), "utf-8")


def test_another_format_is_refused(nine, tmp_path):
    with pytest.raises(BadOption, match="format of the file"):
        publish(nine, NINE, tmp_path / "two.parquet")


def test_a_hierarchy_that_changed_is_refused(series, tmp_path):
    leaves = ["47671", "47630", "47673", "47605", "47612", "47607", "47651"]
    publish(series, NINE, tmp_path / "one.csv", read_tree(tmp_path, {"*": {"476": leaves}}))
    for tree, said in (
        ({"*": {"A": leaves}}, "'zip' lacks 7 of its leaves, or has other labels"),
        ({"*": {"476": leaves[1:]}}, "'zip' lacks 1 of its leaves"),
    ):
        with pytest.raises(BadOption, match=said) as refusal:
            publish(series, NINE, tmp_path / "two.csv", read_tree(tmp_path, tree))
        assert leaves[0] not in str(refusal.value)
    with pytest.raises(BadOption, match="'zip' is not named"):
        publish(series, NINE, tmp_path / "two.csv")


def read_tree(folder, tree):
    """How to read a table whose zips have this hierarchy."""
    (folder / "tree.json").write_text(json.dumps(tree))
    return {"axes": {"zip": {"kind": "hierarchy", "hierarchy": folder / "tree.json"}}}


def test_a_hierarchy_may_gain_leaves_and_nodes(series, tmp_path):
    towns = {"*": {"north": ["aa", "ab"], "south": ["ba", "bb"]}}
    grown = {"*": {"north": ["aa", "ab", "ac"], "south": ["ba", "bb"], "west": ["ca", "cb"]}}
    first = [(i, 30, ("aa", "ab", "ba", "bb")[i % 4], i) for i in range(40)]
    more = [*first, *((i, 30, ("ac", "ca", "cb")[i % 3], i) for i in range(40, 70))]
    publish(series, first, tmp_path / "one.csv", read_tree(tmp_path, towns))
    publish(series, more, tmp_path / "two.csv", read_tree(tmp_path, grown))

    axis = json.loads((tmp_path / "two.csv.certificate.json").read_text())["quasi_identifiers"][1]
    assert axis["leaves"] == 7 and "ac" in {row["zip"] for row in read_rows(tmp_path / "two.csv")}
    assert kech.verify_series(series)["holds"] and kech.verify_release(tmp_path / "two.csv")["rows"] == 70
    with pytest.raises(BadOption, match="lacks 3 of its leaves"):  # those of the second month stay, too
        publish(series, more, tmp_path / "three.csv", read_tree(tmp_path, towns))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*NINE, (9, 50, "47651", 77)], "repeats in 2 rows: see rows 9 and 10"),
        ([NINE[8], *NINE], "repeats in 2 rows: see rows 1 and 10"),  # as it was published, twice
        ([*NINE[:8], (None, 50, "47651", 77)], "is missing in 1 row: see row 9"),
    ],
)
def test_a_key_names_one_row(nine, tmp_path, rows, said):
    with pytest.raises(BadRowKey, match=said) as refusal:
        publish(nine, rows, tmp_path / "two.csv")
    assert refusal.value.exit_code == 3 and "'id'" in str(refusal.value) and "77" not in str(refusal.value)
    assert "Only a new series can have another key" in str(refusal.value)


def test_minus_zero_is_the_key_zero(series, tmp_path):
    publish(series, [(0.0, *NINE[0][1:]), *NINE[1:]], tmp_path / "one.csv")
    again = publish(series, [(-0.0, *NINE[0][1:]), *NINE[1:]], tmp_path / "two.csv")
    assert (again["rows"], again["series"]["arrivals"], again["series"]["waiting"]) == (9, 0, 0)
    with pytest.raises(BadRowKey, match="repeats in 2 rows"):
        publish(series, [(0.0, *NINE[0][1:]), (-0.0, *NINE[1][1:]), *NINE[2:]], tmp_path / "three.csv")


@pytest.mark.parametrize(
    ("fields", "option"),
    [({"suppress": 0.1}, "wait"), ({"protect_history": True}, "series"), ({"k": 1}, "one"), ({"k": None}, "k")],
)
def test_what_a_series_cannot_promise_is_refused(series, tmp_path, fields, option):
    with pytest.raises(BadOption, match=option):
        publish(series, NINE, tmp_path / "one.csv", **fields)
    assert not series.exists


def test_the_first_version_needs_k_rows(series, tmp_path):
    with pytest.raises(TooFewRows):
        publish(series, NINE[:2], tmp_path / "one.csv")
    assert not series.exists and not (tmp_path / "one.csv").exists()


def test_a_database_is_no_place_for_a_series(series, tmp_path):
    with pytest.raises(BadOption, match=r"\.csv or \.parquet"):
        publish(series, NINE, f"duckdb:{tmp_path}/base.db#safe")


def test_nothing_is_published_where_nothing_is_left(nine, tmp_path):
    with pytest.raises(GoalNotMet, match="nothing is left"):
        publish(nine, [(i, 20, "47671", i) for i in (50, 51)], tmp_path / "two.csv", most_changed=1)
    assert len(nine.versions()) == 1


def test_another_secret_is_refused(nine, tmp_path):
    kech.write_key_file(tmp_path / "team.key")
    with pytest.raises(BadSeries, match="another secret"):
        publish(nine, NINE, tmp_path / "two.csv", {"key_file": tmp_path / "team.key"})
    with pytest.raises(BadKey):
        publish(nine, NINE, tmp_path / "two.csv", {"key_file": tmp_path / "none.key"})


def test_the_last_file_must_be_at_hand(nine, tmp_path):
    (tmp_path / "one.csv").rename(tmp_path / "moved.csv")
    with pytest.raises(BadSeries, match="earlier"):
        publish(nine, NINE, tmp_path / "two.csv")
    with pytest.raises(NoSuchFile):
        publish(nine, NINE, tmp_path / "two.csv", earlier=tmp_path / "none.csv")
    with pytest.raises(BadSeries, match="version 1"):
        publish(nine, NINE, tmp_path / "two.csv", earlier=tmp_path / "one.csv.certificate.json")
    assert publish(nine, NINE, tmp_path / "two.csv", earlier=tmp_path / "moved.csv")["rows"] == 9
    assert kech.verify_series(nine)["versions"][0]["file"] == str(tmp_path / "moved.csv")  # it is remembered


def test_a_series_whose_file_is_missing_does_not_verify(nine, run, tmp_path):
    publish(nine, NINE, tmp_path / "two.csv")
    (tmp_path / "one.csv").rename(tmp_path / "moved.csv")
    said = run("verify", "--series", nine.folder)
    assert (said.code, said.out) == (3, "")
    assert "version 1 (one.csv)" in said.err and "The other one holds" in said.err and "--moved FILE" in said.err
    assert run("series", nine.folder, "--moved", tmp_path / "two.csv.certificate.json").code == 2
    assert str(tmp_path / "moved.csv") in run("series", nine.folder, "--moved", tmp_path / "moved.csv", "--json").out
    assert run("verify", "--series", nine.folder).code == 0
    for name in ("moved.csv", "two.csv"):
        (tmp_path / name).unlink()
    assert "version 1 (moved.csv), version 2 (two.csv)" in run("verify", "--series", nine.folder).err


# -- the folder ------------------------------------------------------------------------------------------------------


def test_the_folder_is_private_and_holds_no_cell(series, tmp_path):
    marked = [(f"canary-key-{i}", 20 + i % 9, f"canary{i % 4}", f"canary-salary-{i}") for i in range(24)]
    given = {"axes": {"zip": "star"}}
    publish(series, marked, tmp_path / "one.csv", given)
    publish(series, marked[3:], tmp_path / "two.csv", given, departures="withdraw", wait=0.2)

    assert series.folder.stat().st_mode & 0o777 == 0o700
    files = [path for path in series.folder.iterdir() if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert not [path.name for path in files if b"canary-" in path.read_bytes()]


def test_a_refused_first_version_leaves_nothing(series, tmp_path):
    with table_of(town(0, 60)) as table:
        kech.make_release(table, k=3, cut="minimal").write(tmp_path / "before.csv")
    repeated, before = ([*NINE, NINE[0]], BadRowKey), (town(0, 60), kech.errors.ReleasedBefore)
    for rows, error in ((NINE[:2], TooFewRows), repeated, before):
        with pytest.raises(error):
            publish(series, rows, tmp_path / "one.csv")
        assert not series.folder.exists()
    series.folder.mkdir(mode=0o755)
    with pytest.raises(TooFewRows):
        publish(series, NINE[:2], tmp_path / "one.csv")
    assert not list(series.folder.iterdir()) and series.folder.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_is_no_series_is_refused_and_stays_as_it_is(run, tmp_path):
    (tmp_path / "papers").mkdir()
    for words in (["series", tmp_path / "papers"], ["verify", "--series", tmp_path / "none"]):
        said = run(*words)
        assert (said.code, said.out) == (3, "") and "there is no series" in said.err
    (tmp_path / "papers" / "letter.txt").touch()
    with pytest.raises(BadSeries, match="other files and no series"):
        publish(kech.open_series(tmp_path / "papers"), NINE, tmp_path / "one.csv")
    assert [path.name for path in (tmp_path / "papers").iterdir()] == ["letter.txt"]
    assert not (tmp_path / "none").exists()


def test_a_folder_that_others_can_read_is_closed(series, tmp_path):
    series.folder.mkdir(mode=0o755)
    publish(series, NINE, tmp_path / "one.csv")
    assert series.folder.stat().st_mode & 0o777 == 0o700


def test_folder_and_files_may_move_together(nine, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    for name in ("clinic", "one.csv", "one.csv.certificate.json"):
        shutil.move(tmp_path / name, place / name)
    moved = kech.open_series(place / "clinic")
    publish(moved, NINE, place / "two.csv")

    assert kech.verify_series(moved)["holds"]
    assert [each["file"] for each in moved.to_json()["versions"]] == [str(place / "one.csv"), str(place / "two.csv")]


def test_a_damaged_folder_is_refused_and_says_where(nine, tmp_path):
    held = nine.folder / "0001-rows.arrow"
    held.write_bytes(held.read_bytes()[:-20] + bytes(20))
    with pytest.raises(BadSeries, match=r"0001-rows\.arrow is missing or damaged"):
        publish(nine, NINE, tmp_path / "two.csv")
    (nine.folder / "series.json").write_text("{")
    with pytest.raises(BadSeries, match=r"series\.json is damaged"):
        nine.versions()


@pytest.mark.parametrize("forget", [False, True])
def test_an_older_copy_of_the_folder_is_refused_where_a_later_version_lies_beside(nine, tmp_path, forget):
    """Otherwise rows of the lost version would be cut anew."""
    shutil.copytree(nine.folder, tmp_path / "copy")
    more = [*NINE, *((i, 30 + i, "47650", i) for i in (10, 11, 12))]
    publish(nine, more, tmp_path / "two.csv")
    if forget:
        nine.forget()
    shutil.rmtree(nine.folder)
    shutil.copytree(tmp_path / "copy", nine.folder)

    if forget:
        assert publish(nine, more, tmp_path / "three.csv")["series"]["version"] == 2
    else:
        with pytest.raises(
            BadSeries, match=r"two\.csv\.certificate\.json.*Restore the folder as it was after the last"
        ):
            publish(nine, more, tmp_path / "three.csv")
        assert not (tmp_path / "three.csv").exists()


def test_no_series_is_no_file(tmp_path):
    with pytest.raises(BadSeries, match="there is no series"):
        kech.open_series(tmp_path / "none").versions()
    (tmp_path / "file").touch()
    with pytest.raises(BadSeries, match="Name a folder"):
        kech.open_series(tmp_path / "file")


def test_the_last_version_can_be_forgotten(nine, tmp_path):
    more = [*NINE, *((i, 30 + i, "47650", i) for i in (10, 11, 12))]
    publish(nine, more, tmp_path / "two.csv")
    assert nine.forget() == 2
    assert not [path.name for path in (*tmp_path.glob("two*"), *nine.folder.glob("0002*"))]
    assert len(kech.open_ledger().list_releases()) == 1
    again = publish(nine, more, tmp_path / "three.csv")

    assert (again["series"]["version"], again["series"]["arrivals"], len(nine.versions())) == (2, 3, 2)


@pytest.mark.parametrize("moved", ["series", "file"])
def test_forgetting_removes_the_certificate_where_it_was_moved_with_its_file(tmp_path, moved):
    """Otherwise the next version is refused: a later one seems to lie beside it."""
    home, later = tmp_path / "home", tmp_path / "later"
    home.mkdir()
    publish(kech.open_series(home / "clinic"), NINE, home / "one.csv")
    publish(kech.open_series(home / "clinic"), [*NINE, *OTHERS[10:20]], home / "two.csv")
    if moved == "series":
        home.rename(later)
    else:
        later.mkdir()
        for name in ("two.csv", "two.csv.certificate.json"):
            (home / name).rename(later / name)
        kech.open_series(home / "clinic").find_files(later / "two.csv")
    series = kech.open_series((later if moved == "series" else home) / "clinic")
    assert series.forget() == 2 and not list(later.glob("two*"))

    assert publish(series, [*NINE, *OTHERS[10:20]], later / "three.csv")["series"]["version"] == 2


def test_forgetting_a_version_forgets_what_it_put_in_force(nine, tmp_path):
    """Policy, hierarchies and kinds are those of the version before it, and so is all that series.json says."""
    before, more = nine.series_file, [*NINE, *((i, 30 + i, "47650", i) for i in (10, 11, 12))]
    publish(nine, more, tmp_path / "two.csv", departures="withdraw", wait=0.3)
    assert nine.series_file.policy["departures"] == "withdraw"
    nine.forget()

    assert nine.series_file == before
    assert publish(nine, NINE[1:], tmp_path / "three.csv")["series"]["held"] == "<3"


def test_forgetting_a_version_forgets_the_leaves_that_it_added(series, tmp_path):
    trees = [{"476": sorted({row[2] for row in NINE}) + more} for more in ([], ["47699"], ["47698"])]
    for number, tree in enumerate(trees):
        publish(series, NINE, tmp_path / f"{number}.csv", {"hierarchies": {"zip": tree}})
        assert number != 1 or series.forget() == 2
    assert len(series.versions()) == 2


def test_forgetting_says_that_a_file_that_was_changed_stays(nine, run, tmp_path):
    for name in ("two.csv", "three.csv"):
        publish(nine, NINE, tmp_path / name)
    (tmp_path / "three.csv").write_text("changed\n")
    told = [" ".join(run("series", nine.folder, "--forget", "--yes").out.split()) for _ in range(2)]

    assert ["so it stays. Remove it yourself" in each for each in told] == [True, False]
    assert ["Its files are removed" in each for each in told] == [False, True]
    assert (tmp_path / "three.csv").exists() and not (tmp_path / "two.csv").exists()


def test_forgetting_asks_first(nine, run, monkeypatch, tmp_path):
    publish(nine, NINE, tmp_path / "two.csv")
    refused = run("series", nine.folder, "--forget")
    assert refused.code == 2 and "add --yes" in refused.err and "two.csv" in refused.err
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert "nothing was forgotten" in run("series", nine.folder, "--forget").err and len(nine.versions()) == 2
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    forgotten = run("series", nine.folder, "--forget").out
    assert "Forgotten: version 2" in forgotten and "this version was never handed out" in forgotten
    assert run("series", nine.folder, "--yes").code == 2
    assert "0 releases" in run("series", nine.folder, "--forget", "--yes").out
    assert not list(nine.folder.iterdir())


MORE = [*NINE, *((i, 30 + i, "47650", i) for i in (10, 11, 12))]


class FullDisk:
    """Renames that fail from some step on, once or ever again, before the file has its name or after."""

    def __init__(self, step, is_done, stays):
        self.step, self.is_done, self.stays, self.count, self.replace = step, is_done, stays, 0, Path.replace

    def fail(self, path, target):
        """In place of `Path.replace`."""
        fails = self.count == self.step or (self.stays and self.count > self.step)
        self.count += 1
        if self.is_done or not fails:
            self.replace(path, target)
        if fails:
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("is_done", [False, True])
def test_a_failure_at_any_write_leaves_the_series_as_it_was(tmp_path, monkeypatch, is_done, stays):
    """After it, series, ledger and folder tell of the same versions, and the next run goes on."""
    for step in range(99):
        disk, folder = FullDisk(step, is_done, stays), tmp_path / str(step)
        monkeypatch.setenv("KECH_HOME", str(folder / "home"))
        series, two = kech.open_series(folder / "clinic"), folder / "two.csv"
        folder.mkdir()
        publish(series, NINE, folder / "one.csv")
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", lambda path, target, disk=disk: disk.fail(path, target))
            with suppress(kech.errors.CannotWrite):
                publish(series, MORE, two)
        if disk.count <= step:
            break
        placed = two.exists()
        with pytest.raises(BadOption, match="version 2") if placed else nullcontext():
            assert publish(series, MORE, two)["series"]["version"] == 2
        known = [each["release"] for each in kech.open_ledger().list_releases()]
        assert known == [each["release"] for each in series.to_json()["versions"]]
        assert known == [sha256(folder / "one.csv"), sha256(two)]
        assert kech.verify_series(series)["holds"]
        assert not [path.name for path in folder.rglob("*") if "kech-draft" in path.name]
    assert step > 10  # hashes of rows, ledger, five parts and a certificate, series, file, its certificate


@pytest.mark.parametrize("ledger", [True, False])
def test_what_a_killed_run_left_outlives_other_releases_in_its_folder(nine, tmp_path, ledger):
    """The series knows by the draft that its file was never put in place; nobody else removes it."""
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import kech, test_series
import kech.release.series.series as module
module.put_in_place = lambda moves: os._exit(9)
test_series.publish(kech.open_series({str(nine.folder)!r}), test_series.MORE, {str(tmp_path / "two.csv")!r})
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    with table_of(town(0, 30)) as table:
        kech.make_release(table, k=3, cut="domain").write(tmp_path / "plain.csv", ledger=ledger)

    assert len(nine.versions()) == 1
    assert publish(nine, MORE, tmp_path / "two.csv")["series"]["version"] == 2
    assert len(kech.open_ledger().list_releases()) == 2 + ledger
    assert not [path.name for path in tmp_path.rglob("*") if "kech-draft" in path.name]


@pytest.mark.parametrize(
    "place", ["series.series.put_in_place", "series.entering.finish_last_version", "admission.finish_entry"]
)
def test_a_run_that_is_killed_once_its_file_is_in_place_leaves_no_marks(nine, tmp_path, place):
    """The next run is refused, since the version is there, and tidies up all the same."""
    module, name = place.rsplit(".", 1)
    script = f"""
import importlib, os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import kech, test_series
module = importlib.import_module("kech.release.{module}")
known = module.{name}
module.{name} = lambda *given: (known(*given), os._exit(9))
test_series.publish(kech.open_series({str(nine.folder)!r}), test_series.MORE, {str(tmp_path / "two.csv")!r})
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    with pytest.raises(BadOption, match="version 2"):
        publish(nine, MORE, tmp_path / "two.csv")
    assert kech.verify_series(nine)["holds"] and len(kech.open_ledger().list_releases()) == 2
    assert not [path.name for path in tmp_path.rglob("*") if "kech-draft" in path.name]


def publish_in_process(folder, first):
    """What one of several processes does."""
    series = kech.open_series(folder / "clinic")
    rows = [*NINE, *((i, 30 + i % 9, "47650", i) for i in range(first, first + 4))]
    publish(series, rows, folder / f"{first}.csv")


@pytest.mark.long
def test_two_processes_at_once_publish_one_after_the_other(nine, tmp_path):
    context = multiprocessing.get_context("fork" if os.environ.get("PYTEST_XDIST_WORKER") is None else "spawn")
    workers = [context.Process(target=publish_in_process, args=(tmp_path, first)) for first in (100, 200)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [worker.exitcode for worker in workers] == [0, 0]
    last = nine.to_json()["versions"]
    assert [each["version"] for each in last] == [1, 2, 3]
    assert kech.verify_series(nine)["holds"]


# -- the ledger, the command line, other engines ---------------------------------------------------------------------


def test_the_ledger_admits_what_belongs_to_the_series_and_nothing_else(nine, tmp_path):
    again = publish(nine, NINE, tmp_path / "two.csv")
    assert again["ledger"]["verdict"] == "series"
    assert {each["release"] for each in kech.open_ledger().list_releases()} >= {
        each["release"] for each in nine.to_json()["versions"]
    }
    with table_of(NINE) as table, pytest.raises(kech.errors.ReleasedBefore):
        kech.make_release(table, k=2, cut="minimal").write(tmp_path / "outside.csv")
    other = kech.open_series(tmp_path / "other")
    publish(kech.open_series(tmp_path / "town"), town(0, 60), tmp_path / "town.csv")
    with pytest.raises(kech.errors.ReleasedBefore, match=r"is a version of a series: .* name its folder"):
        publish(other, town(0, 60), tmp_path / "first_of_other.csv", cut="minimal")
    assert not other.exists


def town(first, last, seed=1):
    """Visits of a made-up town."""
    rng = random.Random(seed)
    rows = [(i, rng.randrange(18, 90), f"47{rng.randrange(600, 690)}", rng.randrange(9)) for i in range(last)]
    return rows[first:]


def test_a_plain_release_can_become_the_first_of_a_series(series, tmp_path):
    """It is repeated as version 1; later months are judged by their new cohorts, which it does not hold."""
    with table_of(town(0, 300)) as table:
        kech.make_release(table, k=3, effort="quick").write(tmp_path / "plain.csv")
    for months, first in ((300, 0), (350, 4), (400, 9), (450, 12)):
        found = publish(series, town(first, months), tmp_path / f"{months}.csv")
    assert rows_of(tmp_path / "plain.csv") == rows_of(tmp_path / "300.csv")
    assert found["series"]["version"] == 4 and found["ledger"]["verdict"] == "series"


def test_rows_released_before_a_series_are_refused_at_its_first_release_with_a_way_out(series, tmp_path):
    with table_of(town(0, 300)) as table:
        kech.make_release(table, k=3, effort="quick").write(tmp_path / "plain.csv")
    with pytest.raises(kech.errors.ReleasedBefore, match="Make the earlier release the first of the series") as refusal:
        publish(series, town(0, 330), tmp_path / "one.csv")
    assert "Some rows" in str(refusal.value) and not series.folder.exists()
    kept = publish(series, town(0, 330), tmp_path / "one.csv", allow_composition=True)
    assert kept["ledger"]["verdict"] == "composed" and kept["ledger"]["joint_k"] < 3
    assert publish(series, town(0, 380), tmp_path / "two.csv")["ledger"]["verdict"] == "series"
    with pytest.raises(BadOption, match="Omit wait in the first"):
        publish(kech.open_series(tmp_path / "b"), town(0, 330), tmp_path / "b.csv", allow_composition=True, wait=0.2)


def test_new_rows_of_a_release_that_an_earlier_version_was_compared_with_are_compared_too(series, tmp_path):
    """Composition was allowed for the rows of the first version, and for no others."""
    with table_of(town(0, 200)) as table:
        kech.make_release(table, k=3, effort="quick").write(tmp_path / "plain.csv")
    publish(series, town(0, 150), tmp_path / "one.csv", allow_composition=True)
    with pytest.raises(kech.errors.ReleasedBefore, match="Omit the rows that are new in the series"):
        publish(series, town(0, 200), tmp_path / "two.csv")
    assert publish(series, town(0, 200), tmp_path / "two.csv", allow_composition=True)["ledger"]["joint_k"] < 3
    assert publish(series, town(0, 200) + town(200, 250, 2), tmp_path / "three.csv")["ledger"]["verdict"] == "series"


@pytest.mark.parametrize("key", [["id"], ()])
@pytest.mark.parametrize("count", [1, 6, 12])
def test_few_new_rows_of_a_release_that_was_allowed_are_compared_too(series, tmp_path, key, count):
    """Known by their key, or else by their quasi-identifiers; too few for sketches to say that tables are alike."""
    read = {"key": key, **({} if key else {"identifiers": ["id"]})}
    with table_of(town(0, 200), **read) as table:
        kech.make_release(table, k=3, effort="quick").write(tmp_path / "plain.csv")
    publish(series, town(0, 150), tmp_path / "one.csv", read, allow_composition=True)
    others = [(i + 800, age + 200, "99999", pay) for i, age, _, pay in town(200, 212)]
    with pytest.raises(kech.errors.ReleasedBefore, match="Omit the rows that are new in the series"):
        publish(series, town(0, 150 + count) + others, tmp_path / "two.csv", read)
    assert publish(series, town(0, 150) + others, tmp_path / "two.csv", read)["ledger"]["verdict"] == "series"


def test_new_rows_that_were_released_outside_are_refused_later_too(series, tmp_path):
    publish(series, town(0, 300), tmp_path / "one.csv")
    with table_of(town(300, 400)) as table:  # the new rows of the next month, alone
        kech.make_release(table, k=4, effort="quick", seed=5).write(tmp_path / "plain.csv")
    with pytest.raises(kech.errors.ReleasedBefore, match="Omit the rows that are new in the series"):
        publish(series, town(0, 400), tmp_path / "two.csv", seed=7)
    assert [path.name for path in series.folder.glob("0002*")] == []


def test_what_becomes_of_rows_is_remembered_and_shown(nine, run, tmp_path):
    publish(nine, NINE, tmp_path / "two.csv", wait=0.25, departures="withdraw")
    assert "--wait 25%, --departures withdraw, --corrections keep" in run("series", nine.folder).out
    gone = publish(nine, NINE[1:], tmp_path / "three.csv")
    assert gone["series"]["withdrawn"] >= 3 and gone["series"]["in_force"]["wait"] == 0.25
    publish(nine, NINE, tmp_path / "four.csv", wait=0, departures="hold")
    assert json.loads(run("series", nine.folder, "--json").out)["in_force"]["departures"] == "hold"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda i, age, *rest: (i, age * 12, *rest), "other cells in more than 50%"),  # another unit
        (lambda i, *rest: (99 - i, *rest), "other cells in more than 50%"),  # numbered anew
        (lambda i, *rest: (1000 + i, *rest), "under other keys, of more than 50%"),
    ],
)
def test_a_key_that_names_other_rows_is_refused(series, tmp_path, change, said):
    publish(series, town(0, 100), tmp_path / "one.csv")
    rows = [change(*row) for row in town(0, 100)] + town(100, 120)
    with pytest.raises(BadSeries, match=f"{said}.*'id'.*most_changed") as refusal:
        publish(series, rows, tmp_path / "two.csv")
    assert refusal.value.exit_code == 3 and len(series.versions()) == 1
    assert publish(series, rows, tmp_path / "two.csv", most_changed=1)["series"]["version"] == 2


def test_rows_with_other_keys_are_known_again_among_many_that_left(series, tmp_path):
    """60 of 200 rows leave, 9 of them under other keys; by accident, none of the 140 that stay has a new twin."""
    rows = [(i, 20 + i % 67, f"{47600 + i % 101}", i) for i in range(200)]
    publish(series, rows, tmp_path / "one.csv")
    others = [(i, 20 + i % 67, f"{47600 + i % 101}", i) for i in range(300, 340)]
    again = [(1000 + i, *rest) for i, *rest in rows[:9]]
    with pytest.raises(BadSeries, match="9 rows that the series knows are gone"):
        publish(series, [*rows[60:], *others, *again], tmp_path / "two.csv")
    assert publish(series, [*rows[60:], *others], tmp_path / "two.csv")["series"]["version"] == 2


@pytest.mark.parametrize("seed", seeds(4))
def test_twins_by_accident_are_no_rows_with_other_keys(series, tmp_path, seed):
    """Few codes: of rows that left, and of rows that stayed, many have a new twin."""
    rng = random.Random(seed)
    rows = [(i, rng.randrange(20, 60), str(47600 + rng.randrange(5)), rng.randrange(4)) for i in range(900)]
    publish(series, rows[:500], tmp_path / "one.csv")
    assert publish(series, rows[100:], tmp_path / "two.csv")["series"]["version"] == 2


def test_a_few_rows_with_other_keys_are_known_again_by_their_cells(series, tmp_path):
    """Three of a hundred rows: the same people would stand in two cohorts.  Two of them may be a coincidence."""
    publish(series, town(0, 100), tmp_path / "one.csv")
    rows = town(0, 100)
    moved = [(1000 + i, *rest) if i < 3 else (i, *rest) for i, *rest in rows]
    with pytest.raises(BadSeries, match=r"3 rows that the series knows are gone, .* under other keys"):
        publish(series, moved, tmp_path / "two.csv")
    assert publish(series, [(1000 + i, *rest) if i < 2 else (i, *rest) for i, *rest in rows], tmp_path / "two.csv")
    assert publish(series, moved, tmp_path / "three.csv", most_changed=1)["series"]["version"] == 3


def test_rows_that_get_other_keys_two_a_month_are_known_again_in_the_third(series, tmp_path):
    """Fewer than k at once, six in all.  Others that leave and come in their place are welcome."""
    rows = town(0, 160)
    for month in range(3):
        moved = [(1000 + i, *rest) if i < 2 * month else (i, *rest) for i, *rest in rows[: 100 + 10 * month]]
        publish(series, moved, tmp_path / f"{month}.csv")
    again = [(1000 + i, *rest) if i < 6 else (i, *rest) for i, *rest in rows[:130]]
    with pytest.raises(BadSeries, match=r"6 rows that the series knows are gone, .* under other keys"):
        publish(series, again, tmp_path / "four.csv")
    assert publish(series, [*again[:4], *again[6:], *rows[130:]], tmp_path / "four.csv")["series"]["version"] == 4


def test_the_claim_page_says_how_many_rows_under_other_keys_were_seen():
    """Of each kind of history, as `benchmarks/rekeyed.py` counted it."""
    root = Path(__file__).parents[1]
    found = json.loads((root / "benchmarks/results/rekeyed.json").read_text("utf-8"))
    refused, page = found["refused"], (root / "docs/explanation/claims/series.md").read_text("utf-8").split()
    seen = [refused[kind] for kind in ("k at once", "k - 1 a month", "1 a month")]
    told = found["told"]
    few = [kind for kind in refused if kind.endswith("year older") and "%" not in kind and "most" not in kind]
    changed = [refused[kind] + told[kind] for kind in few]

    said = "Of {} made-up years each (`benchmarks/rekeyed.py`), K at once were seen in {}, K - 1 a month in {}, one a"
    assert f"{said.format(found['histories'], *seen[:2])} month in {seen[2]};" in " ".join(page)
    assert refused["k - 1 a month, common cells"] == 0 and refused["most, a year older"] == found["histories"]
    assert f"seen in {sum(changed)} of {len(changed) * found['histories']}" in " ".join(page)
    many = f"40 % new, a year older: in {told['40 %, a year older']} of {found['histories']}"
    others = [kind for kind in refused if kind.startswith("others")]
    innocent, words = [refused[kind] for kind in others], {0: "none", 1: "one"}
    assert f"{many}; innocent: in {sum(told[kind] for kind in others)} of {2 * found['histories']}" in " ".join(page)
    assert f"Of {2 * found['histories']} innocent years {words[sum(innocent)]} was refused" in " ".join(page)


@pytest.mark.parametrize("departures", ["hold", "withdraw"])
def test_rows_that_left_long_ago_are_known_again_under_other_keys(series, tmp_path, departures):
    """Versions 2 and 3 have none of the first 60 rows; 40 of them come back with other keys."""
    rows = town(0, 250)
    publish(series, rows[:60], tmp_path / "one.csv", departures=departures)
    publish(series, rows[60:200], tmp_path / "two.csv", most_changed=1)
    publish(series, rows[100:220], tmp_path / "three.csv")
    again = [(1000 + i, *rest) for i, *rest in rows[:40]]
    with pytest.raises(BadSeries, match=r"40 rows that the series knows are gone, .* under other keys"):
        publish(series, [*rows[100:220], *again], tmp_path / "four.csv")
    assert publish(series, [*rows[100:250], *rows[:60]], tmp_path / "four.csv")["series"]["version"] == 4


@pytest.mark.parametrize("seed", seeds(4))
def test_twins_of_rows_that_left_long_ago_are_accidents_too(series, tmp_path, seed):
    """A window of 200 rows moves over rows with few codes: a tenth of all rows has a twin among 50 others."""
    rng = random.Random(seed)
    rows = [(i, rng.randrange(20, 60), str(47600 + rng.randrange(5)), rng.randrange(4)) for i in range(550)]
    for number, start in enumerate(range(0, 400, 50), start=1):
        made = publish(series, rows[start : start + 200], tmp_path / f"{number}.csv")
        assert made["series"]["version"] == number


def test_no_version_is_published_in_the_private_folder(series, tmp_path):
    publish(series, town(0, 100), tmp_path / "one.csv")
    with pytest.raises(BadOption, match="it lies in the folder of the series, which is private"):
        publish(series, town(0, 120), series.folder / "two.csv")
    assert not (series.folder / "two.csv").exists()


def test_a_folder_without_a_series_is_named_where_no_column_is(run, tmp_path):
    (tmp_path / "1.csv").write_text("id,age\n1,2\n", "utf-8")
    refused = run("release", tmp_path / "1.csv", "--series", tmp_path / "clinik", "-o", tmp_path / "x.csv")

    assert refused.code == 2 and "no series in" in refused.err and "clinik" in refused.err and "--key" in refused.err
    assert not (tmp_path / "clinik").exists()


def test_three_months_from_the_command_line(run, tmp_path):
    rng = random.Random(3)
    rows = [(i, rng.randrange(20, 60), f"47{rng.randrange(600, 620)}", rng.randrange(9)) for i in range(60)]
    for month, last in enumerate((40, 50, 60)):
        with (tmp_path / f"{month}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("visit", "age", "zip", "ill"), *rows[month:last]])
    folder, roles = tmp_path / "clinic", ("--key", "visit", "--qi", "age", "zip", "--sensitive", "ill", "--k", 5)
    run("release", tmp_path / "0.csv", "-o", tmp_path / "safe0.csv", "--series", folder, *roles)
    for month in (1, 2):
        run("release", tmp_path / f"{month}.csv", "-o", tmp_path / f"safe{month}.csv", "--series", folder)

    said = run("series", folder).out
    assert "3 releases" in said and "withdrawn" in said and str(tmp_path / "safe2.csv") in said  # on 80 columns
    assert "holds" in run("verify", "--series", folder).out
    assert "Version 3 of a series" in run("verify", tmp_path / "safe2.csv").out
    found = json.loads(run("series", folder, "--json").out)
    assert [each["arrivals"] for each in found["versions"]] == [40, 10, 10]
    assert found["versions"][2]["held"] == "<5"
    for words in (["--bound"], ["--folder", tmp_path / "f"], ["--k", 6]):
        assert run("release", tmp_path / "2.csv", "-o", tmp_path / "x.csv", "--series", folder, *words).code == 2
    assert "only a series" in run("release", tmp_path / "2.csv", "-o", tmp_path / "x.csv", "--wait", "10%").err
    assert "one of the two" in run("verify").err
    assert "Forgotten: version 3" in run("series", folder, "--forget", "--yes").out


def test_later_months_are_read_as_the_first_was_and_a_plan_needs_no_key(run, tmp_path):
    rows = [(i, 20 + i % 9, "NA" if i % 4 else f"{i % 5},5") for i in range(40)]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows([("visit", "age", "cost"), *rows])
    (tmp_path / "plan.toml").write_text(
        '[columns]\nquasi_identifiers = ["age"]\nkeep = ["cost"]\n[goal]\nk = 5\n'
        '[input]\ndecimal = ","\nnull_values = ["NA"]\n'
    )
    asked = ("--series", tmp_path / "clinic", "--json")
    run(
        "release",
        tmp_path / "t.csv",
        "-o",
        tmp_path / "0.csv",
        *asked,
        "--key",
        "visit",
        "--plan",
        tmp_path / "plan.toml",
    )
    for month, words in enumerate([(), ("--plan", tmp_path / "plan.toml")], start=1):
        said = run("release", tmp_path / "t.csv", "-o", tmp_path / f"{month}.csv", *asked, *words)
        assert (said.code, json.loads(said.out)["series"]["corrected"]) == (0, 0)
    assert "--decimal" in run("release", tmp_path / "t.csv", "-o", tmp_path / "3.csv", *asked, "--decimal", ".").err


def test_people_who_turn_out_to_be_one_take_their_cohort_along(series, tmp_path):
    rows = [(i, f"P{i}", 20 + 10 * (i // 4), "47671", i) for i in range(12)]
    read = {"names": ("id", "who", "age", "zip", "salary"), "person": ["who"], "rows_are_people": False}
    asked = {"k": 4, "l": None, "grid": "exact", "read": read}
    publish(series, rows, tmp_path / "one.csv", **asked)
    merged = [(i, "P0" if i == 1 else who, *rest) for i, who, *rest in rows]
    found = publish(series, merged, tmp_path / "two.csv", **asked)

    assert (found["rows"], found["stated"]["k"], found["series"]["corrected"]) == (8, 4, 0)
    assert not {"0", "1", "2", "3"} & {row["salary"] for row in read_rows(tmp_path / "two.csv")}


def test_a_person_is_who_the_last_version_of_a_row_named(series, tmp_path):
    """Row 0 turns out to be person 1's and leaves; then row 2 turns out to be person 1's, too: three are left."""
    rows = [(i, f"P{i}", 20 + 10 * (i // 5), "47671", i) for i in range(15)]
    read = {"names": ("id", "who", "age", "zip", "salary"), "person": ["who"], "rows_are_people": False}
    asked = {"k": 4, "grid": "exact", "read": read}
    second = [(i, "P1" if i == 0 else who, *rest) for i, who, *rest in rows]
    third = [(i, "P1" if i == 2 else who, *rest) for i, who, *rest in second[1:]]
    found = [publish(series, some, tmp_path / f"{at}.csv", **asked) for at, some in enumerate((rows, second, third))]

    assert [each["rows"] for each in found] == [15, 15, 10]
    assert found[-1]["stated"]["k"] == 5


@pytest.mark.parametrize(("first", "then", "rows"), [("X", (1, "P0"), [12, 12, 8]), ("P1", (0, "P0"), [12, 8, 12])])
def test_a_row_that_is_again_as_first_published_is_its_first_persons(series, tmp_path, first, then, rows):
    """Row 0 is named another person's for one version; then either row 1 is person 0's, so three are left, or not."""
    read = {"names": ("id", "who", "age", "zip", "salary"), "person": ["who"], "rows_are_people": False}
    found = []
    for at, (row, who) in enumerate([(0, "P0"), (0, first), then]):
        named = [(i, who if i == row else f"P{i}", 20 + 10 * (i // 4), "47671", i) for i in range(12)]
        found.append(publish(series, named, tmp_path / f"{at}.csv", read, k=4, grid="exact"))
    assert [each["rows"] for each in found] == rows


def test_levels_stay_those_of_the_first_version(series, tmp_path):
    asked = {"cut": "domain", "levels": {"age": 2, "zip": 3}}
    publish(series, NINE, tmp_path / "one.csv", **asked)
    with pytest.raises(BadOption, match="levels"):
        publish(series, [*NINE, *OTHERS], tmp_path / "two.csv", **{**asked, "levels": {"age": 3, "zip": 2}})


def test_a_table_whose_rows_are_mostly_others_is_refused(run, tmp_path):
    words = (
        "--qi",
        "age",
        "--sensitive",
        "salary",
        "--key",
        "id",
        "--series",
        tmp_path / "clinic",
        "--k",
        3,
        "--no-ledger",
    )
    told = []
    for month, moved in enumerate((0, 0, 1000)):  # the keys are written anew in the third, and everybody is older
        lines = [f"{i + moved},{20 + i // 2 + bool(moved)},{i % 9}" for i in range(60)]
        (tmp_path / f"{month}.csv").write_text("\n".join(["id,age,salary", *lines]))
        told.append(run("release", tmp_path / f"{month}.csv", *words, "-o", tmp_path / f"{month}_safe.csv"))
    assert [each.code for each in told] == [0, 0, 3]
    assert "most rows of the table are new" in " ".join(told[2].err.split())
    assert not (tmp_path / "2_safe.csv").exists()
    said = run("release", tmp_path / "2.csv", *words, "--most-changed", "100%", "-o", tmp_path / "2_safe.csv")
    assert said.code == 0


def test_rows_that_the_owner_said_are_others_are_not_counted_again(series, tmp_path):
    """Seven of them in version 2.  Three more in two versions are no refusal, and five in three are."""

    def rename(count, month):
        return [(1000 + i, *rest) if i < count else (i, *rest) for i, *rest in town(0, 100 + 10 * month)]

    publish(series, rename(0, 0), tmp_path / "one.csv")
    publish(series, rename(7, 1), tmp_path / "two.csv", most_changed=1)
    for month, count in ((2, 8), (3, 10)):
        assert publish(series, rename(count, month), tmp_path / f"{month}.csv")["series"]["version"] == month + 1
    with pytest.raises(BadSeries, match=r"5 rows that the series knows are gone, .* under other keys"):
        publish(series, rename(12, 4), tmp_path / "five.csv")


def test_rows_that_wait_are_not_counted_again_once_the_owner_said_that_they_are_others(series, tmp_path):
    """Seven of them wait in versions 2 and 3, and are published in version 4.  Others are counted as before."""

    def rename(count):
        return [(1000 + i, *rest) if i < count else (i, *rest) for i, *rest in town(0, 100)]

    publish(series, rename(0), tmp_path / "one.csv", ledger=False)
    said = publish(series, rename(7), tmp_path / "two.csv", most_changed=1, gather=50, ledger=False)
    assert said["series"]["waiting"] == 7
    assert publish(series, rename(7), tmp_path / "three.csv", ledger=False)["series"]["waiting"] == 7
    with pytest.raises(BadSeries, match=r"5 rows that the series knows are gone, .* under other keys"):
        publish(series, rename(12), tmp_path / "four.csv", ledger=False)
    assert publish(series, rename(7), tmp_path / "four.csv", gather=0, ledger=False)["series"]["arrivals"] == 7
    assert publish(series, rename(8), tmp_path / "five.csv", ledger=False)["series"]["version"] == 5


def test_rows_that_were_withdrawn_before_count_as_gone_too(series, tmp_path):
    """A third leaves, so that nearly all cohorts are withdrawn; then the others come under other keys, and older."""
    rows = town(0, 190)
    publish(series, rows[:150], tmp_path / "one.csv", departures="withdraw")
    left = [row for row in rows[:150] if row[0] % 3]
    publish(series, [*left, *rows[150:]], tmp_path / "two.csv", most_changed=1)
    older = [(1000 + i, age + 1, *rest) for i, age, *rest in left]
    with pytest.raises(BadSeries, match="most rows of the table are new"):
        publish(series, [*older, *rows[150:]], tmp_path / "three.csv")


def test_rows_under_other_keys_do_not_hide_among_many_that_are_new(series, tmp_path):
    """All rows that the series knows come under other keys, a year older, in a table that has grown threefold."""
    rows = town(0, 300)
    publish(series, rows[:100], tmp_path / "one.csv")
    older = [(1000 + i, age + 1, *rest) for i, age, *rest in rows[:100]]
    with pytest.raises(BadSeries, match="most rows of the table are new"):
        publish(series, [*older, *rows[100:]], tmp_path / "two.csv")
    assert publish(series, rows, tmp_path / "two.csv")["series"]["version"] == 2


@pytest.mark.parametrize("by_people", [False, True])
def test_a_table_that_doubles_is_welcome_however_many_left_before(series, tmp_path, by_people):
    """Versions have rows 0-299, 200-399 and 300-439; the next one has all of the last, and 145 more."""
    rows = [(i, 20 + i % 67, f"p{i}", i) for i in range(600)]
    roles = {"quasi_identifiers": ["age"], "person": ["zip"], "rows_are_people": False} if by_people else {}
    for number, (first, last) in enumerate(((0, 300), (200, 400), (300, 440)), start=1):
        publish(series, rows[first:last], tmp_path / f"{number}.csv", roles)
    older = [(1000 + i, age + 1, f"q{i}", rest) for i, age, _, rest in rows[300:440]]
    with pytest.raises(BadSeries, match=r"most (rows|people) of the table are new, while half as many"):
        publish(series, [*older, *rows[440:]], tmp_path / "four.csv", roles)
    assert publish(series, rows[300:585], tmp_path / "four.csv", roles)["series"]["version"] == 4


def test_that_most_cells_changed_says_nothing_of_rows_under_other_keys(series, tmp_path):
    """Two of them in each version.  In the third, all others grow older, which the owner says."""
    rows = town(0, 160)
    for month in range(3):
        moved = [(1000 + i, *rest) if i < 2 * month else (i, *rest) for i, *rest in rows[: 100 + 10 * month]]
        if month == 2:
            moved[4:] = [(i, age + 1, *rest) for i, age, *rest in moved[4:]]
        publish(series, moved, tmp_path / f"{month}.csv", most_changed=1 if month == 2 else None)
    again = [(1000 + i, *rest) if i < 6 else (i, *rest) for i, *rest in rows[:130]]
    with pytest.raises(BadSeries, match=r"6 rows that the series knows are gone, .* under other keys"):
        publish(series, again, tmp_path / "four.csv")


def test_a_small_share_of_changes_lets_rows_come_and_go(series, tmp_path):
    publish(series, town(0, 100), tmp_path / "one.csv")
    assert publish(series, town(20, 120), tmp_path / "two.csv", most_changed=0.1)["series"]["version"] == 2


@pytest.mark.parametrize("new_people", [False, True])
def test_visits_of_the_same_people_may_all_be_new(series, tmp_path, new_people):
    """Each table has the visits of one month.  Where the people are new too, they may be the same ones."""
    months = [[(1000 * month + i, 20 + i // 4, f"p{i // 2}", i + 80 * month) for i in range(80)] for month in range(2)]
    renamed = [(i, age, f"q{person}" if new_people else person, finding) for i, age, person, finding in months[1]]
    roles = {"quasi_identifiers": ["age"], "person": ["zip"], "rows_are_people": False}
    publish(series, months[0], tmp_path / "one.csv", roles)
    if new_people:
        with pytest.raises(BadSeries, match="most people of the table are new"):
            publish(series, [(i, age + 30, *rest) for i, age, *rest in renamed], tmp_path / "two.csv", roles)
    else:
        assert publish(series, renamed, tmp_path / "two.csv", roles)["series"]["version"] == 2


def test_known_people_in_new_cohorts_are_counted_and_told(run, tmp_path):
    """All visits are new and everybody is older; in the third month a few people come again."""
    people = [(20 + i % 40, f"p{i}", "abc"[i % 3]) for i in range(60)]
    months = [
        [(i, *rest) for i, rest in enumerate(people)],
        [(100 + i, age + 1, *rest) for i, (age, *rest) in enumerate(people)],
        [(200 + i, age + 2, *rest) for i, (age, *rest) in enumerate(people[:2])]
        + [(300 + i, age, f"q{i}", rest) for i, (age, _, rest) in enumerate(people)],
    ]
    words = ("--key", "id", "--qi", "age", "--person", "who", "--sensitive", "ill", "--k", 5)
    told = []
    for number, rows in enumerate(months, start=1):
        with (tmp_path / f"{number}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("id", "age", "who", "ill"), *rows])
        safe = ("-o", tmp_path / f"{number}_safe.csv", "--no-ledger", *(words if number == 1 else ()))
        changed = ("--most-changed", "100%") if number == 3 else ()
        asked = ("release", tmp_path / f"{number}.csv", "--series", tmp_path / "clinic", *safe, *changed)
        told.append(" ".join(run(*asked).out.split()))

    several = "Who knows several rows of one person can narrow down further"
    assert several not in told[0] and "people of the new cohorts" not in told[0]
    assert "60 people of the new cohorts have rows in earlier cohorts, too" in told[1] and several in told[1]
    assert "<5 people of the new cohorts have rows in earlier cohorts, too" in told[2] and several in told[2]
    versions = json.loads(run("series", tmp_path / "clinic", "--json").out)["versions"]
    assert [each["known_people"] for each in versions] == [0, 60, "<5"]


@pytest.mark.parametrize(("new", "warns"), [(9, False), (40, True)])
def test_many_rows_that_left_and_many_that_came_may_be_the_same(run, tmp_path, new, warns):
    """Keys and cells are others, so nothing tells.  The owner is warned, unless the owner says that they are others."""
    rows = town(0, 100)
    older = [(1000 + i, age + 1, *rest) for i, age, *rest in rows[:new]]
    words = ("--key", "id", "--qi", "age", "zip", "--sensitive", "salary", "--k", 3)
    told = []
    for number, (table, more) in enumerate(
        [(rows, words), ([*older, *rows[new:]], ()), ([*town(100, 150), *rows[new:]], ("--most-changed", "100%"))],
        start=1,
    ):
        with (tmp_path / f"{number}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("id", "age", "zip", "salary"), *table])
        asked = ("release", tmp_path / f"{number}.csv", "--series", tmp_path / "clinic", *more, "--no-ledger")
        told.append(run(*asked, "-o", tmp_path / f"{number}_safe.csv"))
    said = [("many rows left, and many are new" in " ".join(each.out.split())) for each in told]
    assert [each.code for each in told] == [0, 0, 0] and said == [False, warns, False]


@pytest.mark.parametrize("key", [True, False])
def test_a_series_without_a_key_warns_once_and_one_with_a_key_shows_what_came_back(run, tmp_path, key):
    rows, words = [(i, 20 + i % 30, i % 7) for i in range(60)], ("--qi", "age", "--sensitive", "ill", "--k", 5)
    words = (*words, "--key", "id", "--departures", "withdraw") if key else words
    told = []
    for number, table in enumerate((rows, rows[1:], rows), start=1):
        with (tmp_path / f"{number}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("id", "age", "ill"), *table])
        more = (*words, "--no-ledger") if number == 1 else ("--no-ledger",)
        safe = ("-o", tmp_path / f"{number}_safe.csv", "--series", tmp_path / "clinic")
        told.append(" ".join(run("release", tmp_path / f"{number}.csv", *safe, *more).out.split()))
    assert ["without --key a row whose quasi-identifiers" in each for each in told] == [not key, False, False]
    shown = run("series", tmp_path / "clinic").out
    assert ("came back" in shown) == ("stay out: rows of the table whose cohort was withdrawn" in shown) == key


@pytest.mark.parametrize("rows", [254, 255, 256])
def test_keys_of_text_may_be_as_many_as_a_byte_counts(series, tmp_path, rows):
    cells = [(f"v{i}", 20 + i % 7, f"{i % 3}", f"finding {i}") for i in range(rows)]
    assert publish(series, cells, tmp_path / "one.csv", ledger=False)["rows"] == rows
    assert publish(series, cells, tmp_path / "two.csv", ledger=False)["series"]["version"] == 2


def test_that_most_rows_changed_is_said_of_one_version_alone(series, tmp_path):
    publish(series, town(0, 100), tmp_path / "one.csv")
    older = [(i, age + 1, *rest) for i, age, *rest in town(0, 100)]
    said = publish(series, older, tmp_path / "two.csv", most_changed=1)
    assert "most_changed" not in said["series"]["in_force"]
    with pytest.raises(BadSeries, match="rows that the series knows"):
        publish(series, [(1000 + i, *rest) for i, *rest in town(0, 100)], tmp_path / "three.csv")


@pytest.mark.parametrize("folder", ["{}/clinic", "clinic"])
def test_a_published_version_is_not_overwritten(nine, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadOption, match="file of version 1 of this series"):
        publish(kech.open_series(folder.format(tmp_path)), NINE, tmp_path / "one.csv")


OTHERS = [(i, 20 + i % 7, f"{i % 3}", i) for i in range(30)]


@pytest.mark.parametrize("ledger", [True, False])
@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("one.csv", {}),
        ("x.csv", {"certificate": "one.csv"}),
        ("x.csv", {"certificate": "one.csv.certificate.json"}),
        ("x.csv", {"mapping": "one.csv.certificate.json"}),
        ("x.csv", {"certificate": "plain.csv"}),
        ("x.csv", {"certificate": "plain.json"}),
        ("x.csv", {"mapping": "plain.json"}),
        ("x.csv", {"sql": "plain.sql"}),
    ],
)
def test_a_plain_release_overwrites_no_other_release(nine, tmp_path, path, named, ledger):
    certificates = {"plain.csv": None, "other.csv": tmp_path / "plain.json", "third.csv": tmp_path / "plain.sql"}
    with table_of(OTHERS) as table:
        for name, certificate in certificates.items():
            kech.make_release(table, k=3, cut="domain").write(tmp_path / name, certificate)
    before = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    options = {option: tmp_path / name for option, name in named.items()}
    with table_of([(i, age + 60, f"5{zip_code}", i) for i, age, zip_code, _ in OTHERS]) as table:
        release = kech.make_release(table, k=3, cut="domain")
        with pytest.raises(BadTarget, match=r"a published release, .* Choose another name"):
            release.write(tmp_path / path, ledger=ledger, **options)
    assert {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before


def test_a_version_whose_certificate_lies_elsewhere_is_known_by_the_ledger(series, tmp_path):
    publish(series, NINE, tmp_path / "one.csv", certificate=tmp_path / "c.json")
    with table_of(OTHERS) as table, pytest.raises(BadTarget, match="a published release"):
        kech.make_release(table, k=3).write(tmp_path / "one.csv")
    assert kech.verify_series(series)["holds"]


def test_the_certificate_of_a_version_that_was_moved_is_not_overwritten(nine, tmp_path):
    (tmp_path / "archive").mkdir()
    moved = [(tmp_path / name).rename(tmp_path / "archive" / name) for name in ("one.csv", "one.csv.certificate.json")]
    before = moved[1].read_bytes()
    with pytest.raises(BadTarget, match="a published release"):
        publish(nine, NINE, tmp_path / "two.csv", certificate=moved[1], earlier=moved[:1])
    assert moved[1].read_bytes() == before and not (tmp_path / "two.csv").exists() and len(nine.versions()) == 1


def test_postgres_and_files_know_the_same_rows(nine, tmp_path, postgres):
    from test_engines import put_into_postgres

    address = f"{postgres}?table=public.visits"
    rows = [*NINE, *((i, 30 + i, "47650", i) for i in (10, 11, 12))]
    columns = zip(("id", "age", "zip", "salary"), zip(*rows, strict=True), strict=True)
    put_into_postgres(address, pa.table({name: list(cells) for name, cells in columns}))
    with kech.read_table(address, key=["id"], **ROLES) as table:
        found = nine.publish(table, tmp_path / "two.csv", k=3, effort="quick")

    assert (found["rows"], found["series"]["arrivals"], found["series"]["corrected"]) == (12, 3, 0)
    assert kech.verify_series(nine)["holds"]


def test_a_column_that_tells_nothing_in_any_cohort_is_told_of(tmp_path):
    for month, rows in (("oct", 7), ("nov", 15)):
        cells = {"id": range(rows), "age": [40] * rows, "cabin": [f"c{i}" if i % 3 else None for i in range(rows)]}
        with kech.read_table(pa.table(cells), quasi_identifiers=["age", "cabin"], key=["id"]) as table:
            said = kech.open_series(tmp_path / "clinic").publish(table, tmp_path / f"{month}.csv", k=4, ledger=False)
        assert said["hidden"] == ["cabin"]
