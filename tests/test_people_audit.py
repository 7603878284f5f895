"""People in audits: risks, attacks and checks count people where the original names them, and say rows elsewhere."""

import json

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kech
from kech.errors import BadOption, ClaimBroken, NoSuchColumn
from test_engines import put_into_postgres
from test_people import visits

QI = ["age", "town", "day"]
WHO = "patient"


def constant_visits(people=150, seed=1):
    """Visits with an illness that stays the same for a person, whatever their age and town."""
    frame = visits(people, seed=seed)
    rng = np.random.default_rng(seed)
    illness = dict(zip(frame[WHO].unique(), rng.choice(list("abcdef"), people), strict=True))
    return frame.assign(illness=frame[WHO].map(illness))


def write_release(frame, path, *, person=WHO, sensitive=("illness",), keep=(), **asked):
    roles = {"quasi_identifiers": QI, "person": person, "sensitive": list(sensitive), "keep": list(keep)}
    roles["rows_are_people"] = not person
    with kech.read_table(frame, **roles) as table:
        return kech.make_release(table, **({"k": 4, "effort": "quick"} | asked)).write(path, ledger=False)


def verify(path, frame, person=WHO, **fields):
    return kech.verify_release(path, original=as_table(frame), person=person, effort="quick", **fields)


def recount(path, frame, monkeypatch, **fields):
    """People of a file, whether it holds by people or not."""
    monkeypatch.setattr("kech.audit.verification.check_people", lambda *_: None)
    return verify(path, frame, **fields)["recounted"]


def as_table(frame, **roles):
    return kech.read_table(frame, effort="quick", **roles)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same visits, released by people and by rows; a kept number of each row lets an oracle join them."""
    place = tmp_path_factory.mktemp("visits")
    frame = constant_visits()
    frame.to_csv(place / "visits.csv", index=False)
    for name, person in (("people", WHO), ("rows", ())):
        write_release(frame, place / f"{name}.csv", person=person, keep=["row_number"])
    return place


@pytest.fixture(scope="module")
def frame(folder):
    return pd.read_csv(folder / "visits.csv")


def people_by_sql(file, original):
    """People of each class, by SQL: the kept number of a row joins the file with the original."""
    labels = ", ".join(f"r.{name}" for name in QI)
    query = f"""SELECT count(*), count(DISTINCT o.{WHO}) FROM read_csv('{file}', all_varchar=true) r
        JOIN read_csv('{original}', all_varchar=true) o USING (row_number) GROUP BY {labels}"""
    with duckdb.connect() as database:
        return database.execute(query).fetchall()


# -- verify ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["people", "rows"])
def test_people_are_recounted_as_sql_counts_them(folder, frame, name, monkeypatch):
    found = recount(folder / f"{name}.csv", frame, monkeypatch)
    expected = people_by_sql(folder / f"{name}.csv", folder / "visits.csv")

    assert found["made_again"] and found["why_not"] is None
    assert found["k_at_least"] == found["k_at_most"] == min(people for _, people in expected)
    assert found["exact_classes"] == len(expected)
    assert found["people"] == frame[WHO].nunique()


GOALS = {"suppress": 0.1, "l": 2, "t": 0.7, "alpha": 0.9}
ALONE = [{"grid": "exact"}, {"protect": "none"}, {"suppress": 0.05}, {"l": 2}, {"t": 0.6}, {"alpha": 0.8}]
TOGETHER = [GOALS, {"cut": "minimal"} | GOALS, {"cut": "domain"} | GOALS, {"cut": "regime", "l": 2, "alpha": 0.9}]
MADE_AGAIN = [*TOGETHER, *(pytest.param(asked, marks=pytest.mark.long) for asked in ALONE)]


@pytest.mark.parametrize("asked", MADE_AGAIN, ids=str)
def test_a_release_is_made_again_from_its_certificate_and_a_forged_one_is_found(tmp_path, asked):
    frame, safe = constant_visits(30), tmp_path / ("safe.parquet" if "cut" in asked else "safe.csv")
    write_release(frame, safe, keep=["row_number"], k=3, **asked)
    found = verify(safe, frame)
    document = json.loads((tmp_path / f"{safe.name}.certificate.json").read_text("utf-8"))
    document["stated"] |= {"k": document["stated"]["k"] + 1, "people": document["stated"]["people"] + 1}
    (tmp_path / "forged.json").write_text(json.dumps(document), "utf-8")

    assert found["recounted"]["made_again"]
    assert found["recounted"]["k_at_least"] == found["stated"]["k"]
    with pytest.raises(ClaimBroken):
        verify(safe, frame, certificate=tmp_path / "forged.json")


def test_a_coarse_release_is_made_again_with_any_memory(tmp_path):
    frame, safe = constant_visits(30), tmp_path / "safe.csv"
    certificate = write_release(frame, safe, k=3, max_points=40)

    assert certificate["parameters"]["coarse"]["step"] > 0
    assert verify(safe, frame)["recounted"]["made_again"]


@pytest.mark.parametrize("kind", ["parquet", "postgres"])
def test_the_original_may_lie_elsewhere(folder, frame, tmp_path, kind, request, run):
    place = tmp_path / "visits.parquet"
    if kind == "postgres":
        place = request.getfixturevalue("postgres") + "?table=public.visits_to_verify"
        put_into_postgres(place, pa.Table.from_pandas(frame, preserve_index=False))
    else:
        frame.to_parquet(place)
    words = ("--original", place, "--person", WHO, "--effort", "quick")
    told = run("verify", folder / "people.csv", *words).out

    assert "Recounted with the original" in told and "at least 4 different people, the file rows of 150." in told


def test_kinds_of_columns_are_read_from_the_certificate(tmp_path):
    frame = constant_visits(60).assign(zip=lambda f: 47600 + f.age, size=lambda f: np.where(f.age > 50, "L", "S"))
    axes = {"zip": "hierarchy", "size": ["S", "L"], "town": "star"}
    roles = {"quasi_identifiers": ["zip", "size", "town"], "person": WHO, "axes": axes}
    with kech.read_table(frame, **roles) as table:
        kech.make_release(table, k=3, effort="quick").write(tmp_path / "safe.csv", ledger=False)

    assert verify(tmp_path / "safe.csv", frame)["recounted"]["made_again"]


@pytest.mark.parametrize("name", ["people", "rows"])
def test_where_it_cannot_be_made_again_bounds_hold_the_truth(folder, frame, name, tmp_path, monkeypatch):
    kech.write_key_file(tmp_path / "other.key")
    found = recount(folder / f"{name}.csv", frame, monkeypatch, key_file=tmp_path / "other.key")
    truth = min(people for _, people in people_by_sql(folder / f"{name}.csv", folder / "visits.csv"))

    assert not found["made_again"] and "other rows" in found["why_not"]
    assert found["k_at_least"] <= truth <= found["k_at_most"]
    assert found["people"] is None


def test_minus_zero_is_recounted_as_the_person_zero(tmp_path):
    frame = constant_visits(people=40)
    first = frame[WHO] == frame[WHO].iloc[0]
    frame.loc[first, WHO] = np.resize(["0", "-0"], first.sum())
    assert first.sum() > 1
    write_release(frame, tmp_path / "safe.csv")
    assert verify(tmp_path / "safe.csv", frame)["recounted"]["people"] == 40


def test_more_people_than_a_class_can_have_are_a_broken_claim(folder, frame, tmp_path):
    """A forger states people for a release that was made by rows."""
    document = json.loads((folder / "rows.csv.certificate.json").read_text("utf-8"))
    document["stated"] = {"promise": "person", "k": 4, "people": 150}
    (tmp_path / "forged.json").write_text(json.dumps(document), "utf-8")

    assert kech.verify_release(folder / "rows.csv", certificate=tmp_path / "forged.json")["stated"]["k"] == 4
    with pytest.raises(ClaimBroken, match="people: 4 stated, at most 1"):
        verify(folder / "rows.csv", frame, certificate=tmp_path / "forged.json")


def test_a_wrong_number_of_people_is_a_broken_claim(folder, frame, tmp_path):
    document = json.loads((folder / "people.csv.certificate.json").read_text("utf-8"))
    document["stated"]["people"] += 1
    (tmp_path / "forged.json").write_text(json.dumps(document), "utf-8")

    with pytest.raises(ClaimBroken, match="151 stated, found 150"):
        verify(folder / "people.csv", frame, certificate=tmp_path / "forged.json")


def test_a_k_of_your_own_counts_people_with_the_original(folder, frame):
    assert kech.verify_release(folder / "rows.csv", k=4)["k"] >= 4
    with pytest.raises(ClaimBroken, match="people: 4 asked, found 1"):
        verify(folder / "rows.csv", frame, k=4)


def test_a_release_by_rows_does_not_hold_by_people(folder, run):
    told = run("verify", folder / "rows.csv", "--original", folder / "visits.csv", "--person", WHO, "--effort", "quick")

    assert told.code == 4 and "k = 4 counts rows here, found 1 with the original" in told.err
    assert "Release the original table again with --person." in told.err


def test_another_table_is_refused(folder, frame):
    with pytest.raises(BadOption, match="original"):
        verify(folder / "people.csv", frame.head(50))


def test_people_are_named_with_the_original_and_only_there(folder, frame):
    with pytest.raises(BadOption, match="original"):
        kech.verify_release(folder / "people.csv", person=WHO)
    with pytest.raises(BadOption, match="person"):
        kech.verify_release(folder / "people.csv", original=as_table(frame))
    with pytest.raises(NoSuchColumn):
        verify(folder / "people.csv", frame, person="nobody")


# -- odd people --------------------------------------------------------------------------------------------------


def test_rows_without_a_person_are_one_person(tmp_path):
    frame = constant_visits(60)
    frame.loc[frame.index % 5 == 0, WHO] = None
    write_release(frame, tmp_path / "safe.csv", k=3)
    found = verify(tmp_path / "safe.csv", frame)

    assert found["recounted"]["made_again"]
    assert found["recounted"]["people"] == found["stated"]["people"] == frame[WHO].nunique() + 1


def test_several_columns_and_spellings_name_a_person(tmp_path):
    frame = constant_visits(60)
    frame["ward"], frame["bed"] = frame[WHO].str[:5], frame[WHO].str[5:] + np.where(frame.index % 2, " ", "")
    write_release(frame, tmp_path / "safe.csv", person=["ward", "bed"], k=3)
    found = verify(tmp_path / "safe.csv", frame, person=["ward", "bed"])["recounted"]

    assert found["made_again"] and found["people"] == 60
    with as_table(frame, person=["ward", "bed"]) as table:
        assert kech.compute_risk(tmp_path / "safe.csv", original=table).people == 60


def test_one_person_with_all_rows_hides_nowhere(tmp_path):
    frame = constant_visits(30).assign(patient="the same")
    write_release(frame, tmp_path / "safe.csv", person=())
    with as_table(frame, person=WHO) as table:
        risk = kech.compute_risk(tmp_path / "safe.csv", original=table)
        (attack,) = kech.run_attacks(tmp_path / "safe.csv", table, attacks=["one-row"])

    assert (risk.counted, risk.k, risk.people, risk.prosecutor.highest) == ("people", 1, 1, 1.0)
    assert risk.sample_uniqueness == 1.0
    assert (attack.targets, attack.hits) == (1, 1)


# -- risk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["people", "rows"])
def test_risks_with_an_original_are_those_of_people(folder, frame, name):
    with as_table(frame, person=WHO) as table:
        risk = kech.compute_risk(folder / f"{name}.csv", original=table, threshold=(0.2,))
    classes = people_by_sql(folder / f"{name}.csv", folder / "visits.csv")
    rows = sum(rows for rows, _ in classes)

    assert (risk.counted, risk.k) == ("people", min(people for _, people in classes))
    assert risk.prosecutor.highest == 1 / risk.k
    assert risk.prosecutor.average == pytest.approx(sum(n / people for n, people in classes) / rows)
    assert risk.prosecutor.above["0.2"] == pytest.approx(sum(n for n, people in classes if 1 / people > 0.2) / rows)
    assert sum(risk.class_sizes.values()) == len(classes)


def test_without_an_original_rows_are_counted_and_people_are_stated(folder):
    by_people, by_rows = (kech.compute_risk(folder / f"{name}.csv") for name in ("people", "rows"))

    assert by_people.counted == by_rows.counted == "rows"
    assert by_people.recounted is by_rows.recounted is by_rows.stated is None
    assert by_people.stated == {"promise": "person", "k": 4, "people": 150, "highest": 0.25}


def test_where_people_are_only_bounded_risks_are_at_most_those(folder, frame, tmp_path):
    kech.write_key_file(tmp_path / "other.key")
    with (
        as_table(frame, person=WHO) as table,
        as_table(frame, person=WHO, key_file=tmp_path / "other.key") as other,
    ):
        known, bounded = (kech.compute_risk(folder / "people.csv", original=each) for each in (table, other))

    assert not bounded.recounted["made_again"]
    assert bounded.prosecutor.highest >= known.prosecutor.highest
    assert bounded.prosecutor.average >= known.prosecutor.average


def test_a_population_that_names_people_counts_them(folder, frame):
    found = kech.compute_risk(folder / "people.csv", population=folder / "visits.csv", person=WHO)
    by_rows = kech.compute_risk(folder / "people.csv", population=folder / "visits.csv")

    assert (found.population, found.population_counted) == (150, "people")
    assert (by_rows.population, by_rows.population_counted) == (len(frame), "rows")
    assert 4 <= found.k_map <= by_rows.k_map
    with kech.read_table(folder / "visits.csv", person=WHO) as table:
        verified = kech.verify_release(folder / "people.csv", population=table)
    assert (verified["k_map"], verified["population"]) == (found.k_map, 150)


def test_a_register_with_a_row_for_each_person_is_a_population_of_visits(tmp_path):
    """It has fewer rows than some class, and enough people."""
    frame = constant_visits(40).assign(day=1)
    write_release(frame, tmp_path / "safe.csv", k=3)
    register = frame.drop_duplicates(WHO)
    with kech.read_table(register) as table:
        risk = kech.compute_risk(tmp_path / "safe.csv", population=table)

    assert risk.rows > risk.population == 40
    assert risk.k_map >= 3
    assert kech.compute_risk(tmp_path / "safe.csv", population=40).population_uniqueness == 0.0
    with pytest.raises(BadOption, match="fewer than the 40 people of the file"):
        kech.compute_risk(tmp_path / "safe.csv", population=39)


def test_a_person_without_a_table_is_refused(folder):
    with pytest.raises(BadOption, match="person"):
        kech.compute_risk(folder / "people.csv", person=WHO)
    with pytest.raises(BadOption, match="certificate"):
        kech.compute_risk(folder / "people.csv", original=folder / "visits.csv", person=WHO, quasi_identifiers=QI)


# -- attacks -----------------------------------------------------------------------------------------------------


def attack(path, frame, *names):
    with as_table(frame, person=WHO) as table:
        return kech.run_attacks(path, table, attacks=names or None)


@pytest.mark.parametrize("seed", range(5))
def test_one_row_never_leaves_fewer_than_k_people(tmp_path, seed):
    frame = constant_visits(80, seed)
    write_release(frame, tmp_path / "safe.csv", k=3 + seed)
    (found,) = attack(tmp_path / "safe.csv", frame, "one-row")

    assert (found.targets, found.hits) == (80, 0)


def test_one_row_finds_people_in_a_release_by_rows(folder, frame):
    (found,) = attack(folder / "rows.csv", frame, "one-row")

    assert found.hits > 20 > found.control_hits
    assert found.verdict == "above its control"


def test_all_rows_find_people_whom_the_promise_does_not_cover(folder, frame):
    (found,) = attack(folder / "people.csv", frame, "all-rows")

    assert found.targets == 150
    assert found.hits > 20
    assert found.control_hits == 0


def test_rows_of_people_with_one_row_each_leave_as_many_as_one_row(tmp_path):
    frame = constant_visits(200).drop_duplicates(WHO)
    write_release(frame, tmp_path / "safe.csv")
    one, every, constant = attack(tmp_path / "safe.csv", frame, "one-row", "all-rows", "constant")

    assert one.hits == every.hits == every.control_hits == 0
    assert constant.targets == 0


def test_a_constant_value_by_hand(tmp_path):
    """Ann is in the young class with flu and cut, and in the old one with flu and burn: flu is left."""
    rows = [("ann", 20, "flu"), ("bob", 20, "cut"), ("ann", 70, "flu"), ("cid", 70, "burn"), ("bob", 20, "cut")]
    frame = pd.DataFrame(rows, columns=["patient", "age", "illness"])
    with kech.read_table(frame, quasi_identifiers=["age"], person=WHO, sensitive=["illness"]) as table:
        kech.make_release(table, k=2, cut="domain", grid="exact", l=2).write(tmp_path / "safe.csv", ledger=False)
    every, constant = attack(tmp_path / "safe.csv", frame, "all-rows", "constant")

    assert sorted(pd.read_csv(tmp_path / "safe.csv").groupby("age").size()) == [2, 3]
    assert (every.targets, every.hits) == (3, 1)
    assert (constant.targets, constant.hits) == (2, 1)
    assert constant.note == "0 by one row alone"


def test_a_constant_value_of_linked_rows_by_hand(tmp_path):
    """All three are young and old with flu, cut and burn; only one number has the same illness twice."""
    rows = [("ann", 20, "flu"), ("bob", 20, "cut"), ("cid", 20, "burn")]
    rows += [("ann", 70, "flu"), ("bob", 70, "burn"), ("cid", 70, "cut")]
    frame = pd.DataFrame(rows, columns=["patient", "age", "illness"])
    roles = {"quasi_identifiers": ["age"], "sensitive": ["illness"], "person": WHO}
    for name, promise in (("linked", {"protect_history": True}), ("loose", {"cut": "domain", "grid": "exact"})):
        with kech.read_table(frame, **roles) as table:
            kech.make_release(table, k=3, **promise).write(tmp_path / f"{name}.csv", ledger=False)
    every, constant = attack(tmp_path / "linked.csv", frame, "all-rows", "constant")
    (loose,) = attack(tmp_path / "loose.csv", frame, "constant")

    assert pd.read_csv(tmp_path / "loose.csv")["age"].nunique() == 2
    assert (every.targets, every.hits, every.note) == (3, 0, "0 are the only one whose rows fit")
    assert (constant.targets, constant.hits) == (1, 1)
    assert (loose.targets, loose.hits) == (1, 0)


def test_linked_rows_give_more_away_than_their_control(tmp_path):
    frame = constant_visits(60).groupby(WHO).head(2)
    write_release(frame, tmp_path / "linked.csv", k=2, protect_history=True, suppress=0.5)
    every, constant = attack(tmp_path / "linked.csv", frame, "all-rows", "constant")

    assert (every.hits, every.targets) == (0, 60)
    assert constant.hits > constant.control_hits


def test_whoever_is_left_out_of_linked_rows_is_no_hit(tmp_path):
    frame = constant_visits(30).groupby(WHO).head(2)
    alone = frame[frame[WHO].duplicated(keep=False)][:-1]  # one person is left with one row, and has to go
    write_release(alone, tmp_path / "linked.csv", k=3, protect_history=True, suppress=0.1)
    (every,) = attack(tmp_path / "linked.csv", alone, "all-rows")

    assert (every.hits, every.targets) == (0, alone[WHO].nunique() - 1)


def test_diversity_leaves_nobody_to_one_row_and_some_to_all_rows(tmp_path, frame):
    """l = 2 mends what one row gives away; values that stay the same are still intersected."""
    found = {}
    for goal in (None, 2, 3):
        write_release(frame, tmp_path / f"{goal}.csv", k=3, l=goal)
        (found[goal],) = attack(tmp_path / f"{goal}.csv", frame, "constant")

    assert int(found[None].note.split()[0]) > 0
    assert found[2].note == found[3].note == "0 by one row alone"
    assert found[None].hits > found[3].hits > 0


def test_attacks_on_people_run_where_the_original_names_them(folder, frame):
    names = {found.attack for found in attack(folder / "people.csv", frame)}
    with as_table(frame) as table:
        without = {found.attack for found in kech.run_attacks(folder / "people.csv", table)}
        with pytest.raises(BadOption, match="person"):
            kech.run_attacks(folder / "people.csv", table, attacks=["constant"])

    assert names - without == {"one-row", "all-rows", "constant"}


# -- words -------------------------------------------------------------------------------------------------------


def test_commands_say_who_counted_what(folder, run):
    safe, visits = folder / "people.csv", folder / "visits.csv"
    plan = folder / "plan.toml"
    plan.write_text('[cut]\neffort = "quick"\n', "utf-8")
    alone = run("verify", safe).out
    again = run("verify", safe, "--original", visits, "--person", WHO, "--effort", "quick").out
    bounds = run("verify", safe, "--original", visits, "--person", WHO, "--seed", "3").out
    risk = run("risk", safe).out
    private = run("risk", safe, "--original", visits, "--person", WHO, "--plan", plan).out

    assert "recounted from the file" in alone and "It was not recounted." in alone
    assert "Recounted with the original: the release was made again" in again
    assert "Bounded with the original" in bounds and "They were not counted." in bounds
    assert all(
        "Stated by the maker: every class holds rows of at least 4 different people" in out for out in (alone, again)
    )
    assert "the smallest has 4 rows" in risk and "at most 0.2500" in risk
    assert "the smallest has 4 people" in private and "constant: people of several rows" in private
    assert "in every class k >= 4, counted in rows." in alone and "the worst class, by rows" in alone


@pytest.mark.long
def test_a_bound_is_not_shown_as_a_count(folder, frame, run):
    safe, visits = folder / "people.csv", folder / "visits.csv"
    asked = (safe, "--original", visits, "--person", WHO)  # made with another effort, so it cannot be made again
    found, shown = json.loads(run("risk", *asked, "--json").out), run("risk", *asked).out
    low, high = (found["recounted"][name] for name in ("k_at_least", "k_at_most"))
    told = run("report", *asked, "-o", folder / "private.html").out
    page = (folder / "private.html").read_text("utf-8")

    assert "at most, by people" in told and "The guess is right with a chance of at most" in page
    assert low < high and found["k"] is None and found["bounded"]
    assert f"the class with the fewest people has between {low} and {high}" in shown
    assert f"the smallest has {low}" not in shown and "people at least" in shown
    assert f"classes of one person: at most {found['sample_uniqueness']:.4%}" in shown
    assert "the fewest that a class can have by the original" in page and "people, counted with" not in page


def test_what_only_serves_an_original_is_refused_without_one(folder, refuse):
    safe = folder / "people.csv"
    refuse("verify", safe, "--person", WHO, code=2, says="--original")
    refuse("verify", safe, "--seed", "3", code=2, says="--original")
    refuse("attack", "edge", safe, "--original", folder / "visits.csv", "--person", WHO, code=2, says="one-row")
    refuse("attack", "one-row", safe, "--original", folder / "visits.csv", code=2, says="--person")


def test_sentences_of_a_release_by_people_say_people(frame, run, tmp_path):
    roles = ["--qi", *QI, "--person", WHO, "--k", "4"]
    frame.to_csv(tmp_path / "visits.csv", index=False)
    told = run("release", tmp_path / "visits.csv", "-o", tmp_path / "safe.csv", *roles, "--effort", "quick").out
    spectrum = run("spectrum", tmp_path / "visits.csv", *roles).out
    with kech.read_table(frame, quasi_identifiers=QI, person=WHO) as table:
        release = kech.make_release(table, k=4, effort="quick")
        words = kech.compute_preview(release).words[0]

    assert "rows of at least 4 different people (stated by the maker; 4 rows, recounted)" in told
    assert "Who knows several rows of one person can narrow down further" in told and "--protect-history" in told
    assert words.startswith("Every row hides among rows of at least 4 different people (stated by the maker):")
    assert "k counts different people" in spectrum
    assert "k=4 people" in repr(release)


def test_reports_show_stated_people_as_stated(folder, frame):
    page = kech.make_report(folder / "people.csv")
    by_rows = kech.make_report(folder / "rows.csv")
    with as_table(frame, person=WHO) as table:
        private = kech.make_report(folder / "people.csv", original=table)

    assert page.to_json()["stated"]["people"] == 150 and "Stated by the maker" in page.html
    assert "1 in 4 people, stated by the maker" in page.html
    assert "Who knows several rows of one person" in page.html and "no column tells" not in page.html
    assert "Who knows several rows" not in by_rows.html
    assert "Sensitive, and published as they are" in page.html and "Protected" not in page.html  # no goal was asked
    assert by_rows.to_json()["stated"] is None and "Stated by the maker" not in by_rows.html
    assert private.to_json()["risk"]["counted"] == "people"
    assert "These chances count people" in private.html
