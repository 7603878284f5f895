"""All rows of a person stay together: at least k people share the same labels on all of their rows."""

import csv
import hashlib
import json
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from history_oracle import judge_history
from kech.errors import BadCertificate, BadOption, ClaimBroken, GoalNotMet, ReleasedBefore
from strategies import further
from test_people import visits

TABLES = 240
BLOCKS = 16
LABELS = ["age", "town", "day"]
ROLES = {"quasi_identifiers": LABELS, "person": "patient", "keep": ["row_number"]}
HISTORY = {"protect_history": True, "effort": "quick", "suppress": 0.2}


def release(frame, k=4, **asked):
    roles = {name: asked.pop(name, value) for name, value in (ROLES | {"sensitive": ()}).items()}
    return kech.make_release(kech.read_table(frame, **roles), k=k, **(HISTORY | asked))


@pytest.fixture(scope="module")
def made():
    """The release of all visits; nobody changes it."""
    return release(visits())


def histories(released, by):
    """The multiset of labels of each person, by pandas."""
    rows = released[LABELS].astype(str).agg("|".join, axis=1)
    return rows.groupby(released[by]).agg(lambda labels: tuple(sorted(labels)))


def join(frame, released):
    """Released rows with their person in the original."""
    joined = released.merge(frame[["row_number", "patient"]].fillna({"patient": "nobody"}), on="row_number")
    assert len(joined) == len(released)
    return joined


def check_promise(frame, released, k):
    """By the original and by the file alone: k people or more share every history."""
    joined = join(frame, released)
    for by in ("patient", "person_number"):
        assert Counter(histories(joined, by)).most_common()[-1][1] >= k
    assert (joined.groupby("patient")["person_number"].nunique() == 1).all()
    assert sorted(set(released["person_number"])) == list(range(1, joined["patient"].nunique() + 1))


@pytest.mark.parametrize("k", [*further([2]), 5])
@pytest.mark.parametrize("asked", [{}, {"grid": "exact"}, {"protect": "none"}, {"max_points": 300}])
def test_k_people_share_every_history(k, asked):
    frame = visits()

    check_promise(frame, release(frame, k, **asked).frame, k)


def test_without_the_promise_histories_point_at_people():
    """The control: classes of k people are not enough, so the tests above can fail."""
    frame = visits()
    joined = join(frame, release(frame, 5, protect_history=False).frame)

    assert min(Counter(histories(joined, "patient")).values()) == 1


@pytest.mark.parametrize("block", [0, *further(range(1, BLOCKS))])
def test_histories_by_sql_on_random_tables(block, tmp_path):
    each = TABLES // BLOCKS
    with duckdb.connect() as database:
        wrong = [
            fault
            for seed in range(block * each, (block + 1) * each)
            for fault in judge_history(database, seed, tmp_path / f"{seed}.csv")
        ]

    assert wrong == []


# -- what is published ---------------------------------------------------------------------------------------


def test_numbers_are_drawn_anew_and_labels_are_not():
    frame = visits()
    first, again, shuffled = (
        release(one).frame.sort_values("row_number", ignore_index=True) for one in (frame, frame, frame.sample(frac=1))
    )

    for other in (again, shuffled):
        pd.testing.assert_frame_equal(first[[*LABELS, "row_number"]], other[[*LABELS, "row_number"]])
        assert (first["person_number"] != other["person_number"]).any()


def test_numbers_follow_no_order():
    """Neither that of the table, nor that of names, nor that of labels: ranks hardly agree on 400 people."""
    frame = visits(people=400)
    joined = join(frame, release(frame).frame).drop_duplicates("patient")
    number = joined["person_number"].rank()

    for other in (joined["row_number"], joined["patient"], joined["age"], joined["day"]):
        assert abs(np.corrcoef(number, other.rank())[0, 1]) < 0.25


def test_the_person_is_nowhere_in_what_is_published(made, tmp_path):
    for name in ("safe.csv", "safe.parquet"):
        made.write(tmp_path / name, ledger=False)
        assert b"P-0" not in (tmp_path / name).read_bytes()
        certificate = (tmp_path / f"{name}.certificate.json").read_text("utf-8")
        assert "P-0" not in certificate
        assert "patient" not in certificate
        assert "person_number" in certificate


@pytest.mark.parametrize("name", ["person_number", "Person_Number"])
@pytest.mark.parametrize("role", ["keep", "person", None])
def test_a_column_of_that_name_is_refused(name, role):
    frame = visits(people=40).rename(columns={"patient": name} if role == "person" else {"finding": name})
    roles = {"person": name} if role == "person" else {"keep": [name]} if role == "keep" else {}

    with pytest.raises(BadOption, match="Rename column"):
        release(frame, **roles)


@pytest.mark.parametrize("labels", ["dash", "columns"])
def test_other_forms_of_labels(tmp_path, labels):
    frame = visits(people=100)
    release(frame, labels=labels, quasi_identifiers=["age", "town"]).write(tmp_path / "safe.parquet", ledger=False)

    assert kech.check_certificate(tmp_path / "safe.parquet")["histories"]["k"] >= 4
    assert pq.read_schema(tmp_path / "safe.parquet").field("person_number").type == pa.int64()


@pytest.mark.parametrize("protect_history", [True, False])
def test_people_are_counted_while_a_mapping_is_made(tmp_path, protect_history):
    """The original values of the mapping pass by under the names of the labels."""
    made = release(visits(people=100), 4, protect_history=protect_history)
    found = made.write(tmp_path / "safe.csv", mapping=tmp_path / "private.json", ledger=False)
    plain = made.write(tmp_path / "plain.csv", ledger=False)

    assert found["stated"] == plain["stated"]
    assert found["stated"]["k"] >= 4


# -- rows left out -------------------------------------------------------------------------------------------


def crowd_and_one(rows=40):
    """Twenty people with two visits each, and one with many, far from all others and with values of their own."""
    rng = np.random.default_rng(5)
    person = [f"P-{number:05}" for number in np.repeat(np.arange(20), 2)] + ["P-00099"] * rows
    return pd.DataFrame(
        {
            "patient": person,
            "age": [*np.repeat(rng.integers(20, 60, 20), 2), *[30] * (rows - 5), *[95] * 5],
            "town": [*rng.choice(list("ab"), 40), *["a"] * rows],
            "day": [*rng.integers(0, 300, 40), *[100] * (rows - 5), *[400] * 5],
            "finding": [*rng.choice(["flu", "cold"], 40), *(["aids"] * (rows // 2) + ["flu"] * (rows - rows // 2))],
            "row_number": np.arange(40 + rows),
        }
    )


def test_rows_left_out_shape_nothing_that_is_published(tmp_path):
    """The axes of the certificate are those of the published rows alone."""
    frame = crowd_and_one()
    made = release(frame, 4, suppress=0.9).write(tmp_path / "safe.csv", ledger=False)
    kept = pd.read_csv(tmp_path / "safe.csv")["row_number"]
    alone = release(frame[frame["row_number"].isin(kept)], 4, suppress=0.0).write(tmp_path / "rest.csv", ledger=False)

    assert made["claims"]["rows"] == alone["claims"]["rows"] == 42
    domains = [[axis.get("domain") for axis in one["quasi_identifiers"]] for one in (made, alone)]
    assert domains[0] == domains[1]
    assert "400" not in (tmp_path / "safe.csv").read_text("utf-8")


@pytest.mark.parametrize("tables", [6, *further([60])])
def test_sensitive_values_do_not_decide_which_rows_are_left_out(tables):
    """35 equal visits, of which two stay: over many tables each of two values stays about as often."""
    stays = Counter()
    for day in range(tables):
        frame = crowd_and_one().iloc[:75].assign(day=lambda x, day=day: x["day"] + day)
        frame.loc[40:, "finding"] = ["aids"] * 18 + ["zoster"] * 17
        released = release(frame, 4, suppress=0.9, sensitive=["finding"]).frame
        stays.update(frame.loc[released["row_number"][released["row_number"] >= 40], "finding"])

    assert stays["aids"] + stays["zoster"] == 2 * tables
    assert abs(stays["aids"] - tables) <= 4.5 * (tables / 2) ** 0.5  # standard deviations


def test_a_person_with_a_thousand_rows_is_refused_in_plain_words(run, tmp_path):
    crowd_and_one(1000).to_csv(tmp_path / "visits.csv", index=False)
    words = ("--qi", "age", "town", "day", "--person", "patient", "--k", "5", "--protect-history")
    found = run("release", tmp_path / "visits.csv", "-o", tmp_path / "safe.csv", *words)

    assert found.code == 4
    assert "fewer than 5 people have too many rows" in found.err
    assert "998 of 1,040 rows would have to be left out" in found.err
    assert not (tmp_path / "safe.csv").exists()


# -- the certificate recounts --------------------------------------------------------------------------------


def forge(path, change):
    """Change the rows of a written file, and sign it anew, so that only recounting finds out."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    change(header, rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    beside = path.with_name(f"{path.name}.certificate.json")
    document = json.loads(beside.read_text("utf-8"))
    document["file"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    beside.write_text(json.dumps(document), "utf-8")


def of_another_history(header, rows):
    """A row whose person has a history that the person of the first row has not, with other labels."""
    frame = pd.DataFrame(rows, columns=header)
    known = histories(frame, "person_number")
    first = known[rows[0][-1]]
    return next(i for i, row in enumerate(rows) if known[row[-1]] != first and "|".join(row[:3]) not in first)


def change_label(header, rows):
    rows[0][:3] = rows[of_another_history(header, rows)][:3]


def drop_row(header, rows):
    del rows[0]


def swap_numbers(header, rows):
    other = of_another_history(header, rows)
    rows[0][-1], rows[other][-1] = rows[other][-1], rows[0][-1]


def drop_number(header, rows):
    rows[0][-1] = ""


def name_people(header, rows):
    for row in rows:
        row[-1] = str(int(row[-1]) + 4711)


@pytest.mark.parametrize("change", [change_label, drop_row, swap_numbers, drop_number, name_people])
def test_a_changed_file_is_refused(made, tmp_path, run, change):
    path = tmp_path / "safe.csv"
    made.write(path, ledger=False)
    assert kech.check_certificate(path)["histories"]["k"] >= 4
    forge(path, change)

    with pytest.raises(ClaimBroken) as refusal:
        kech.check_certificate(path)
    assert any("histories" in claim or "person_number" in claim for claim in refusal.value.broken)
    assert not any("sha256" in claim for claim in refusal.value.broken)
    assert run("verify", path).code == refusal.value.exit_code


def test_rows_in_another_order_are_the_same_histories(made, tmp_path):
    path = tmp_path / "safe.csv"
    made.write(path, ledger=False)
    before = kech.check_certificate(path)
    forge(path, lambda _, rows: rows.sort())

    assert kech.check_certificate(path)["histories"] == before["histories"]


@pytest.mark.parametrize(
    "forget",
    [
        lambda document: document.pop("person_number"),
        lambda document: document["claims"].pop("histories"),
        lambda document: document.pop("stated"),
        lambda document: document["stated"].update(promise="person"),
        lambda document: document["parameters"].pop("protect_history"),
        lambda document: document.update(person_number="age"),
    ],
)
def test_a_certificate_that_forgets_the_promise_is_refused(made, tmp_path, forget):
    path = tmp_path / "safe.csv"
    document = made.write(path, ledger=False)
    forget(document)
    path.with_name("safe.csv.certificate.json").write_text(json.dumps(document), "utf-8")

    with pytest.raises(BadCertificate):
        kech.check_certificate(path)


def test_a_maker_who_mixes_up_numbers_gets_no_certificate(tmp_path):
    made = release(visits())
    made.numbering.number[:] = np.roll(made.numbering.number, 1)

    with pytest.raises(ClaimBroken):
        made.write(tmp_path / "safe.csv", ledger=False)
    assert list(tmp_path.iterdir()) == []


def test_a_maker_who_gives_one_person_two_numbers_gets_no_certificate(tmp_path):
    """Twins change numbers on one of their rows: every history of the file is as it was."""
    twins = [visits(people=1, seed=3).iloc[[0, 0]].assign(patient=f"P-{i}", day=[5, 300]) for i in range(6)]
    made = release(pd.concat(twins).assign(row_number=range(12)), 6, grid="exact")
    assert len(set(made.labels["day"])) == 2
    numbers = made.numbering.number
    first, second = np.flatnonzero(made.numbering.group == 0)[:2]
    numbers[[first, second]] = numbers[[second, first]]

    with pytest.raises(ClaimBroken, match=r"stated.k: 6 people were asked, 0 stated"):
        made.write(tmp_path / "safe.csv", ledger=False)


def test_people_are_recounted_and_stated_alike(made, tmp_path):
    frame = visits()
    document = made.write(tmp_path / "safe.csv", ledger=False)
    people = frame["patient"].nunique()

    assert document["parameters"]["protect_history"] is True
    assert document["stated"] == {"promise": "history", **document["claims"]["histories"]}
    assert document["claims"]["histories"]["people"] == people


# -- goals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", [{"l": 2}, {"l": 1.5, "l_kind": "entropy"}, {"t": 0.6}, {"alpha": 0.8}])
def test_goals_hold_in_every_class_too(tmp_path, goal):
    frame = visits(people=100)
    made = release(frame, 4, sensitive=["finding"], **goal)
    made.write(tmp_path / "safe.csv", ledger=False)
    values = made.frame.groupby(LABELS, dropna=False)["finding"]

    check_promise(frame, made.frame, 4)
    if goal.get("l") == 2:
        assert values.nunique().min() >= 2
    if "alpha" in goal:
        assert values.agg(lambda held: held.value_counts(normalize=True).max()).max() <= 0.8


def test_goals_that_no_class_reaches_are_refused():
    with pytest.raises(GoalNotMet, match="Ask for less"):
        release(visits(people=60), 4, sensitive=["finding"], t=0.001)
    with pytest.raises(GoalNotMet):
        release(visits(), 4, sensitive=["finding"], l=5)


# -- odd tables ----------------------------------------------------------------------------------------------


def test_everybody_has_one_row():
    frame = visits().drop_duplicates("patient")
    released = release(frame, 5, suppress=0.0).frame

    check_promise(frame, released, 5)
    assert len(released) == released["person_number"].nunique() == len(frame)


def test_twins_keep_their_values():
    frame = pd.concat([visits(people=1, seed=3).assign(patient=f"P-{twin}") for twin in range(6)], ignore_index=True)
    frame["row_number"] = range(len(frame))
    released = release(frame, 6, suppress=0.0, protect="none").frame

    check_promise(frame, released, 6)
    assert len(released) == len(frame)


def test_rows_without_a_person_are_one_person():
    frame = visits(people=60)
    frame.loc[frame.index % 29 == 0, "patient"] = None

    check_promise(frame, release(frame, 4, suppress=0.5).frame, 4)


def test_spelling_does_not_make_two_people_of_one():
    frame = visits(people=40)
    frame.loc[::2, "patient"] = frame.loc[::2, "patient"].str.lower() + " "
    released = release(frame).frame

    check_promise(frame.assign(patient=frame["patient"].str.strip().str.upper()), released, 4)


@pytest.mark.parametrize("frame", [visits(people=4), visits().assign(patient="the same")])
def test_fewer_people_than_k_are_refused(frame):
    with pytest.raises(GoalNotMet, match="needs 5 people or more"):
        release(frame, 5)


# -- what has no meaning is refused --------------------------------------------------------------------------


def test_histories_need_a_person():
    with pytest.raises(BadOption, match="Name the column: person="):
        release(visits(), person=())


@pytest.mark.parametrize("cut", ["minimal", "domain", "regime"])
def test_only_the_local_cut_keeps_histories(cut):
    with pytest.raises(BadOption, match="only cut="):
        release(visits(), cut=cut, suppress=0.0)


def test_a_spectrum_and_a_transformer_know_no_histories():
    frame, request = visits(people=40), kech.Request().override(protect_history=True, k=4)
    with pytest.raises(BadOption, match="protect_history: a spectrum"):
        kech.compute_spectrum(kech.read_table(frame, **ROLES), k=[2], protect_history=True)
    with pytest.raises(BadOption, match="protect_history: a transformer"):
        kech.Anonymizer(request=request).fit(frame[LABELS])


def test_verify_finds_out_whether_a_file_promises_histories(made, tmp_path):
    made.write(tmp_path / "safe.csv", ledger=False)
    release(visits(), protect_history=False).write(tmp_path / "rows.csv", ledger=False)

    assert kech.verify_release(tmp_path / "safe.csv", protect_history=True, k=4)["histories"]["k"] >= 4
    with pytest.raises(ClaimBroken, match="histories"):
        kech.verify_release(tmp_path / "rows.csv", protect_history=True)
    with pytest.raises(ClaimBroken, match="histories"):
        kech.verify_release(tmp_path / "safe.csv", protect_history=True, k=2, quasi_identifiers=LABELS)


def test_verify_counts_people_and_not_their_rows(tmp_path):
    """Six people with two equal visits each are one class of twelve rows."""
    frame = pd.concat([visits(people=1, seed=3).iloc[[0, 0]].assign(patient=f"P-{i}") for i in range(6)])
    release(frame.assign(row_number=range(12)), 6, protect="none").write(tmp_path / "safe.csv", ledger=False)

    assert kech.verify_release(tmp_path / "safe.csv", protect_history=True, k=6)["k"] == 12
    assert kech.verify_release(tmp_path / "safe.csv", k=8)["k"] == 12
    with pytest.raises(ClaimBroken, match=r"histories.k: asked 8, found 6"):
        kech.verify_release(tmp_path / "safe.csv", protect_history=True, k=8)


# -- command line, plan, price -------------------------------------------------------------------------------


def test_a_flag_a_plan_and_a_sentence(tmp_path, run):
    frame = visits()
    frame.to_csv(tmp_path / "visits.csv", index=False)
    plan = kech.Request().override(**ROLES, k=4, **HISTORY)
    kech.write_request(plan, tmp_path / "kech.toml")
    assert "protect_history = true" in (tmp_path / "kech.toml").read_text("utf-8")
    assert kech.read_request(tmp_path / "kech.toml").goal.protect_history

    typed = ("--qi", *LABELS, "--person", "patient", "--keep", "row_number", "--k", "4", "--suppress", "20%")
    options = {"flag": (*typed, "--effort", "quick", "--protect-history"), "plan": ("--plan", tmp_path / "kech.toml")}
    for name, words in options.items():
        found = run("release", tmp_path / "visits.csv", "-o", tmp_path / f"{name}.csv", "--no-ledger", *words)
        assert found.code == 0
        assert "Every person hides among at least 4 people with all of their rows: 200 people" in found.out
        check_promise(frame, pd.read_csv(tmp_path / f"{name}.csv"), 4)
        assert "people with the same labels on all rows" in run("verify", tmp_path / f"{name}.csv").out


def test_the_price_comes_before_the_search(tmp_path, run):
    crowd_and_one().to_csv(tmp_path / "visits.csv", index=False)
    words = ("--qi", *LABELS, "--person", "patient", "--k", "4", "--protect-history")
    refused = run("preview", tmp_path / "visits.csv", *words)
    shown = run("preview", tmp_path / "visits.csv", *words, "--suppress", "0.5", "--json")

    assert refused.code == 4
    assert "21 people have 80 rows; the longest history has 40 rows." in refused.out
    assert "38 rows would have to be left out: fewer than 4 people would lose some of their rows" in refused.out
    assert "allow --suppress 0.475" in refused.out
    assert shown.json["price"] | {"loss": 0} == {
        "people": 21,
        "most_rows": 40,
        "shortened": "<4",
        "people_left_out": 0,
        "rows_left_out": 38,
        "loss": 0,
        "rows": 80,
        "k": 4,
    }
    assert any("Every person hides among at least 4 people" in sentence for sentence in shown.json["words"])


def test_the_price_of_a_table_without_a_search():
    frame = visits()
    with kech.read_table(frame, **ROLES) as table:
        found = kech.compute_preview(table, kech.Request().override(k=4, **HISTORY))
        with pytest.raises(BadOption, match=r"Give a release: kech\.compute_preview\(kech\.make_release"):
            kech.compute_preview(table, kech.Request().override(k=4))

    assert found.price["people"] == 200
    assert found.price["rows"] == len(frame)
    assert 0 < found.price["loss"] < 1


# -- further releases, engines -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_second_release(tmp_path):
    """The same again passes; histories of a table that was released finer, by rows, do not."""
    frame = visits(80)
    frame.to_csv(tmp_path / "visits.csv", index=False)

    def write(name, **asked):
        made = release(tmp_path / "visits.csv", **asked)
        made.write(tmp_path / name)
        return made.admissions[-1].verdict

    assert write("first.csv") == "first"
    assert write("again.csv") == "nested"
    with pytest.raises(ReleasedBefore):
        write("other.csv", protect_history=False)
    with pytest.raises(ReleasedBefore):
        write("larger.csv", k=8)


@pytest.mark.parametrize(("first", "second", "admitted"), [(0, 0, True), (1, 1, True), (1, 0, True), (0, 1, False)])
def test_histories_do_not_follow_finer_labels(tmp_path, first, second, admitted):
    """Four people of two ages: a coarser release is welcome, unless it links rows that an earlier one shows finer."""
    frame = pd.DataFrame({"patient": list("abcd"), "age": [10, 10, 20, 20], "row_number": range(4)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    asked = {"quasi_identifiers": ["age"], "grid": "exact", "suppress": 0.0}
    release(tmp_path / "people.csv", 2, protect_history=bool(first), **asked).write(tmp_path / "first.csv")
    later = release(tmp_path / "people.csv", 4, protect_history=bool(second), **asked)

    if admitted:
        later.write(tmp_path / "second.csv")
        assert later.admissions[-1].verdict == "nested"
    else:
        with pytest.raises(ReleasedBefore):
            later.write(tmp_path / "second.csv")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["postgres", "spark"])
def test_engines_give_equal_histories(kind, request, tmp_path):
    from test_engines import Workshop

    frame = crowd_and_one()
    place = Workshop(request, kind).place(pa.Table.from_pandas(frame, preserve_index=False), "visits")
    roles = ROLES | {"sensitive": ["finding"]}
    with kech.read_table(place.pop("source"), **place, **roles) as table:
        kech.make_release(table, k=4, **HISTORY | {"suppress": 0.5}).write(tmp_path / "there.csv", ledger=False)
    release(frame, sensitive=["finding"], suppress=0.5).write(tmp_path / "here.csv", ledger=False)
    there, here = (pd.read_csv(tmp_path / f"{name}.csv").sort_values("row_number") for name in ("there", "here"))

    check_promise(frame, there, 4)
    columns = [*LABELS, "finding", "row_number"]
    pd.testing.assert_frame_equal(there[columns].reset_index(drop=True), here[columns].reset_index(drop=True))
