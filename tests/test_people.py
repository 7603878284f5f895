"""People, not rows: every class of a release holds at least k different people."""

import json
from hashlib import sha256

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kech
import people_oracle
from kech.errors import BadOption, ClaimBroken, GoalNotMet
from kech.points.people import ALONE, draw_person_numbers
from people_oracle import ROW, judge_tables
from strategies import begin_with, further

TABLES = 2000
BLOCKS = 80
SHOWING = {  # tables in which a planted fault shows
    "count_rows": [0, 4],
    "count_twice": [0, 4],
    "lose_somebody": [0, 1],
    "count_nameless": [23, 89],
    "count_spellings": [4, 6],
}


def visits(people=200, each=4, seed=1):
    """Visits of people: age and town stay, the day changes."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(1, 2 * each, people))
    return pd.DataFrame(
        {
            "patient": [f"P-{number:05}" for number in person],
            "age": rng.integers(18, 90, people)[person],
            "town": rng.choice(list("abcdefgh"), people)[person],
            "day": rng.integers(0, 365, len(person)),
            "finding": rng.choice(["flu", "cold", "burn", "cut"], len(person)),
            "row_number": np.arange(len(person)),
        }
    )


ROLES = {"quasi_identifiers": ["age", "town", "day"], "person": "patient", "keep": ["row_number"]}


def release(frame, k=5, **asked):
    roles = {name: asked.pop(name, value) for name, value in ROLES.items()}
    roles["rows_are_people"] = asked.pop("rows_are_people", False)
    if "sensitive" in asked:
        roles["sensitive"] = asked.pop("sensitive")
    return kech.make_release(kech.read_table(frame, **roles), k=k, **({"effort": "quick"} | asked))


def people_in_classes(frame, released):
    """Different people of each class, by pandas on the joined original."""
    joined = released.merge(frame[["row_number", "patient"]], on="row_number")
    assert len(joined) == len(released)
    return joined.groupby(["age", "town", "day"], dropna=False)["patient"].nunique()


@pytest.mark.parametrize("cut", ["local", "minimal", "domain", "regime"])
@pytest.mark.parametrize("k", [2, 5])
def test_every_class_holds_k_people(cut, k):
    frame = visits()

    assert people_in_classes(frame, release(frame, k, cut=cut).frame).min() >= k


@pytest.mark.parametrize(
    "asked", [{"suppress": 0.05}, {"l": 2}, {"t": 0.5}, {"alpha": 0.9}, {"l": 2, "suppress": 0.02}]
)
@pytest.mark.parametrize("cut", begin_with(["local", "domain"], ["local", "minimal", "domain"]))
def test_people_are_kept_whatever_else_is_asked(asked, cut):
    frame = visits(people=100)
    more = {"sensitive": ["finding"]} if {"l", "t", "alpha"} & asked.keys() else {}

    assert people_in_classes(frame, release(frame, 4, cut=cut, **asked, **more).frame).min() >= 4


def test_people_are_kept_on_coarser_axes():
    frame = visits()

    assert people_in_classes(frame, release(frame, 4, max_points=300).frame).min() >= 4


def test_without_a_person_rows_are_counted_and_classes_of_one_person_come_out():
    """The control: the same table by rows breaks the promise, so the tests above can fail."""
    frame = visits()

    assert people_in_classes(frame, release(frame, 5, person=(), rows_are_people=True).frame).min() < 5


def test_people_with_one_row_each_give_the_labels_of_today():
    frame = visits().drop_duplicates("patient")
    by_people, by_rows = (release(frame, 5, person=who).frame.sort_values("row_number") for who in ("patient", ()))

    pd.testing.assert_frame_equal(by_people.reset_index(drop=True), by_rows.reset_index(drop=True))


def test_several_columns_name_a_person_together():
    frame = visits()
    frame["ward"], frame["bed"] = frame["patient"].str[:4], frame["patient"].str[4:]
    released = release(frame, 5, person=["ward", "bed"]).frame

    assert people_in_classes(frame, released).min() >= 5


def test_spelling_does_not_make_two_people_of_one():
    frame = visits(people=40)
    frame.loc[::2, "patient"] = frame.loc[::2, "patient"].str.lower() + " "
    released = release(frame, 5).frame
    frame["patient"] = frame["patient"].str.strip().str.upper()

    assert people_in_classes(frame, released).min() >= 5


def test_rows_without_a_person_count_as_one():
    frame = visits(people=60)
    frame.loc[frame.index % 7 == 0, "patient"] = None
    released = release(frame, 5).frame

    assert people_in_classes(frame.fillna({"patient": "nobody"}), released).min() >= 5


def test_fewer_people_than_k_are_refused():
    frame = visits(people=4)

    with pytest.raises(GoalNotMet, match="people"):
        release(frame, 5)


def test_one_person_with_all_rows_is_refused():
    frame = visits().assign(patient="the same")

    with pytest.raises(GoalNotMet, match="people"):
        release(frame, 2)


SPELLINGS = [["P-1", "p-1"], ["007", "7"], ["A_b", "a_B"], ["1\n2", "1 2"], ["x\ny", "X\nY"], ["0", "-0"], [0.0, -0.0]]


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_spellings_of_one_person_are_one(spellings):
    frame = visits(people=20).assign(patient=lambda rows: np.resize(spellings, len(rows)))

    with pytest.raises(GoalNotMet, match="1 person"):
        release(frame, 2)


@pytest.mark.parametrize("least", [0, 5, -50])
def test_numbers_of_people_give_the_labels_of_their_texts(least):
    frame = visits(people=60)
    numbers = frame["patient"].str[2:].astype(int) * 7 + least
    labels = [release(frame.assign(patient=each), 5).frame for each in (numbers, numbers.astype(str))]
    first, second = (each.sort_values("row_number").reset_index(drop=True) for each in labels)

    pd.testing.assert_frame_equal(first, second)


def test_the_person_is_nowhere_in_what_is_published(tmp_path):
    frame = visits()
    made = release(frame, 5)
    made.write(tmp_path / "safe.csv", ledger=False)
    certificate = (tmp_path / "safe.csv.certificate.json").read_text("utf-8")

    assert "patient" not in made.frame.columns
    for text in (certificate, (tmp_path / "safe.csv").read_text("utf-8")):
        assert "P-0" not in text
        assert "patient" not in text


def test_the_certificate_separates_what_was_recounted_and_what_is_stated(tmp_path):
    frame = visits()
    release(frame, 5).write(tmp_path / "safe.csv", ledger=False)
    document = json.loads((tmp_path / "safe.csv.certificate.json").read_text("utf-8"))

    assert document["stated"]["promise"] == "person"
    assert document["stated"]["k"] >= 5
    assert document["claims"]["k"] >= document["stated"]["k"]
    assert kech.check_certificate(tmp_path / "safe.csv")["k"] >= 5


def test_the_ledger_lists_k_of_people(tmp_path):
    frame = visits()
    certificate = release(frame, frame["patient"].nunique()).write(tmp_path / "safe.csv")
    (entry,) = kech.open_ledger().list_releases()
    assert entry["k"] == certificate["stated"]["k"] != certificate["claims"]["k"]


def test_names_that_say_nothing_and_missing_names_are_one_person():
    frame = pd.DataFrame({"patient": [None, " "], "age": [1, 2]})
    table = kech.read_table(frame, quasi_identifiers=["age"], person="patient")

    with table, pytest.raises(GoalNotMet, match="people"):
        kech.make_release(table, k=2)


@pytest.mark.parametrize("asked", [{}, {"suppress": 0.3}, {"cut": "minimal"}])
def test_a_goal_may_need_more_rows_than_there_are_people(asked):
    """Two people hold three values."""
    frame = pd.DataFrame({"patient": ["a", "a", "b"], "age": [1, 2, 3], "finding": ["x", "y", "z"]})
    with kech.read_table(frame, quasi_identifiers=["age"], person="patient", sensitive=["finding"]) as table:
        released = kech.make_release(table, k=2, l=3, effort="quick", **asked).frame

    assert released["finding"].nunique() == 3
    assert released["age"].nunique() == 1


@pytest.mark.parametrize("block", [0, *further(range(1, BLOCKS))])
def test_people_by_sql_on_random_tables(block):
    each = TABLES // BLOCKS
    with duckdb.connect() as database:
        assert judge_tables(database, range(block * each, (block + 1) * each)) == []


@pytest.mark.parametrize("tries", [0, 4])
def test_classes_that_are_printed_alike_keep_goals_by_people(tries, tmp_path, monkeypatch):
    """A table of which classes were joined after they were repaired; where no repair is left, all rows are one."""
    monkeypatch.setattr("kech.cuts.goals.MOST_REPAIRS", tries)
    (tmp_path / "demo.key").touch(0o600)
    (tmp_path / "demo.key").write_text(f"kech-key-{sha256(b'kech demo').hexdigest()}-6a708c70\n", "utf-8")
    monkeypatch.setenv("KECH_KEY_FILE", str(tmp_path / "demo.key"))
    with duckdb.connect() as database:
        assert judge_tables(database, [2372]) == []


# -- planted faults: the oracle finds each ---------------------------------------------------------------------


def count_rows(patch):
    """Rows in place of people."""
    patch.setattr("kech.points.points.encode_people", lambda *_, **__: ())


def count_twice(patch):
    """Somebody with rows at several points is two people."""
    patch.setattr(
        "kech.points.points.draw_person_numbers", lambda *given, **how: divide(draw_person_numbers(*given, **how))
    )


def divide(person):
    """Every second unit of a person under another number."""
    turn = np.array([np.count_nonzero(person[:i] == who) % 2 for i, who in enumerate(person)])
    return np.where(person == ALONE, ALONE, 2 * person + turn).astype(np.int32)


def lose_somebody(patch):
    """The rows of one person are not published."""
    publish = people_oracle.release_frame

    def publish_others(case):
        released = publish(case)
        return released.filter(pa.array([case.who[row] != case.who[0] for row in released[ROW].to_pylist()]))

    patch.setattr(people_oracle, "release_frame", publish_others)


def count_nameless(patch):
    """Every row without a name is another person."""
    patch.setattr(
        "kech.points.points.draw_person_numbers",
        lambda codes, *given, **how: np.where(
            (codes == 0).any(axis=1), ALONE, draw_person_numbers(codes, *given, **how)
        ).astype(np.int32),
    )


def count_spellings(patch):
    """Every way to write a name is another person."""
    patch.setattr("kech.points.people.encode_spellings", lambda texts, _: np.arange(1, len(texts) + 1, dtype=np.int32))


@pytest.mark.parametrize("plant", [count_rows, count_twice, *further([lose_somebody, count_nameless, count_spellings])])
def test_the_oracle_finds_a_planted_fault(plant, monkeypatch):
    with duckdb.connect() as database:
        assert judge_tables(database, SHOWING[plant.__name__]) == []
        plant(monkeypatch)
        wrong = judge_tables(database, SHOWING[plant.__name__])

    words = "missing" if plant is lose_somebody else "people"
    assert any(words in fault for fault in wrong)


def test_a_transformer_refuses_people():
    frame = visits().drop(columns="row_number")
    asked = kech.Request(columns={"quasi_identifiers": ("age", "town"), "person": ("patient",)})

    with pytest.raises(BadOption, match="counts rows"):
        kech.Anonymizer(5, request=asked).fit(frame)


def test_rows_left_out_of_few_people_are_not_counted_in_public(tmp_path):
    """One person alone in a town has seven rows: their number would point at that person."""
    rows = [(f"P{person}", "north") for person in range(30) for _ in range(2)] + [("far", "south")] * 7
    frame = pd.DataFrame(rows, columns=["patient", "town"]).assign(row_number=range(67))
    made = release(frame, 5, cut="domain", suppress=0.2, quasi_identifiers=["town"])
    claims = made.write(tmp_path / "safe.csv", ledger=False)["claims"]

    assert claims["rows"] == 60
    assert (claims["rows_in"], claims["suppressed"]) == (None, "hidden")
    assert kech.check_certificate(tmp_path / "safe.csv")["rows"] == 60


def test_a_value_that_k_people_hold_is_spelled_out():
    """Everybody has a row at each place, and stands at one of them only."""
    rows = [(f"P{person}", place) for person in range(8) for place in ("north", "south")]
    frame = pd.DataFrame(rows, columns=["patient", "town"]).assign(row_number=range(16))
    released = release(frame, 4, quasi_identifiers=["town"]).frame

    assert sorted(released["town"].unique()) == ["north", "south"]


@pytest.mark.parametrize("other", ["{}.0", "00{}", "{},0", "{}e0"])
def test_numbers_written_in_two_ways_are_one_person(other):
    rows = [(20 + age, form.format(age)) for age in range(1, 41) for form in ("{}", other)]
    frame = pd.DataFrame(rows, columns=["age", "patient"]).assign(row_number=range(80))
    released = release(frame, 2, quasi_identifiers=["age"], grid="exact").frame
    joined = released.merge(frame.assign(patient=frame["age"])[["row_number", "patient"]], on="row_number")

    assert joined.groupby("age")["patient"].nunique().min() >= 2


@pytest.mark.parametrize("k", [4, 5, 6])
def test_no_edge_closes_in_on_one_person_who_stands_elsewhere(k):
    """One person has a row far from all others, and stands at another value: no label may point at that row."""
    crowd = [*range(100, 700, 10), *range(9000, 9600, 10)]
    frame = pd.DataFrame({"age": [*crowd, 500, 500, 5000], "patient": [*map(str, range(120)), "x", "x", "x"]})
    frame["row_number"] = range(123)
    released = release(frame, k, quasi_identifiers=["age"]).frame
    own = released.loc[released["row_number"] == 122, "age"].item()
    others = {float(end) for label in released["age"] if label != own for end in label.strip("[]").split(", ")}

    assert not [end for end in others if 700 <= end < 8999]


def test_more_people_than_rows_are_a_false_claim(tmp_path):
    release(visits(), 5).write(tmp_path / "safe.csv", ledger=False)
    beside = tmp_path / "safe.csv.certificate.json"
    document = json.loads(beside.read_text("utf-8"))
    document["stated"]["people"] = 10**9
    beside.write_text(json.dumps(document), "utf-8")

    with pytest.raises(ClaimBroken, match=r"stated\.people"):
        kech.check_certificate(tmp_path / "safe.csv")


def two_visits(first, second):
    """Four people; at each of two places everybody has one visit."""
    people = ["ann", "bob", "cyd", "dan"]
    return pd.DataFrame(
        {"who": people * 2, "place": [0] * 4 + [9] * 4, "finding": [*first, *second], "row_number": range(8)}
    )


def release_findings(frame, **asked):
    roles = {"quasi_identifiers": ["place"], "sensitive": ["finding"], "person": ["who"]}
    with kech.read_table(frame, **roles) as table:
        return kech.make_release(table, k=2, grid="exact", protect="none", **asked).frame


@pytest.mark.parametrize("cut", ["local", "minimal", "regime"])
def test_a_goal_by_people_is_met_that_all_rows_as_one_class_miss(cut):
    """Together everybody has had both, and alpha is 1; in a class for each place it is a half."""
    frame = two_visits(["flu", "flu", "burn", "burn"], ["burn", "burn", "flu", "flu"])
    released = release_findings(frame, cut=cut, alpha=0.5)

    assert released.groupby("place")["finding"].value_counts().tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("people", "places", "values", "alpha"), [(10, 10, 2, 0.5), (20, 20, 4, 0.3), (30, 50, 3, 0.4)]
)
def test_trades_meet_a_goal_by_people_that_mergers_break(people, places, values, alpha):
    """At every place everybody has one row, and findings are even; over all places everybody has every finding."""
    rng = np.random.default_rng(1)
    findings = np.concatenate([rng.permutation(np.arange(people) % values) for _ in range(places)])
    frame = pd.DataFrame(
        {"who": np.tile(np.arange(people), places), "place": np.repeat(np.arange(places) * 10, people)}
    )
    frame = frame.assign(finding=findings, near=rng.integers(0, 4, len(frame)), row_number=range(len(frame)))
    roles = {"quasi_identifiers": ["place", "near"], "sensitive": ["finding"], "person": ["who"], "keep": [ROW]}
    with kech.read_table(frame, **roles) as table:
        released = kech.make_release(table, k=2, grid="exact", protect="none", alpha=alpha, effort="quick").frame
    joined = released[[ROW, "place", "near"]].merge(frame[[ROW, "who", "finding"]], on=ROW)
    classes = joined.groupby(["place", "near"])
    holders = joined.groupby(["place", "near", "finding"])["who"].nunique().groupby(["place", "near"]).max()

    assert len(joined) == people * places
    assert (classes["who"].nunique() >= 2).all()
    assert (holders / classes["who"].nunique() <= alpha).all()


@pytest.mark.parametrize("by_people", [True, False])
@pytest.mark.parametrize("cut", ["local", "minimal"])
def test_nobody_is_left_out_for_a_sensitive_value(cut, by_people):
    """Without two of six rows with flu, alpha would be a half; readers would know what the two had."""
    who = [0, 1, 2, 3, 4, 0, 6, 7, 8, 9] if by_people else range(10)
    frame = pd.DataFrame({"who": who, "place": range(10), "finding": ["flu"] * 6 + ["burn"] * 4})

    with pytest.raises(GoalNotMet, match="suppress does not help: rows that are missing for their values would tell"):
        release_findings(frame, cut=cut, alpha=0.5, suppress=0.3)


@pytest.mark.parametrize("cut", ["local", "minimal", "domain", "regime"])
def test_a_goal_by_people_that_nothing_meets_is_refused(cut):
    frame = two_visits(["flu", "flu", "flu", "burn"], ["burn", "burn", "burn", "flu"])

    with pytest.raises(GoalNotMet, match=r"by people, .* reach(es)? alpha = 1 |No node of the lattice keeps"):
        release_findings(frame, cut=cut, alpha=0.5)


def test_a_regime_that_misses_a_goal_by_people_is_refused():
    """The campaign found these published, when all rows as one class were no longer the last resort."""
    with duckdb.connect() as database:
        assert judge_tables(database, [18205, 18554, 18652]) == []


@pytest.mark.parametrize("columns", [["x", "y"], ["y", "x"]])
def test_a_goal_by_people_may_hold_below_a_node_that_misses_it(columns):
    """By x both illnesses are of one person in each class; by y, and together, each is of both."""
    held = {"x": list("aabb"), "y": list("cddc"), "who": [1, 2, 1, 2], "illness": ["flu", "cold", "cold", "flu"]}
    roles = {"quasi_identifiers": columns, "sensitive": ["illness"], "person": ["who"]}
    with kech.read_table(pa.table(held), **roles) as table:
        labels = kech.make_release(table, k=2, cut="domain", alpha=0.5).labels

    assert sorted(labels["x"]) == ["a", "b"]
    assert {*labels["y"]} == {"*"}


def test_waves_that_everybody_has_stay_apart():
    """Medians would put all people of a panel at one wave, and leave no edge between waves."""
    panel = pd.DataFrame({"who": np.repeat(np.arange(400), 8), "wave": np.tile(np.arange(2001, 2009), 400)})
    with kech.read_table(panel, quasi_identifiers=["wave"], person="who") as table:
        released = kech.make_release(table, k=5)
    assert (released.partition.classes, released.public_loss) == (8, 0.0)
