"""The ledger knows a table again, whatever became of its order and format, and lets no second release slip by."""

import fcntl
import json
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech import Ledger
from kech.errors import BadLedger, OutOfMemory, ReleasedBefore
from kech.release.admission import AdmissionOptions
from kech.tables.demo import generate_town, write_csv
from strategies import begin_with

AGE = ("--qi", "age", "--sensitive", "diagnosis")
TWO = ("--qi", "age", "moved_in", "--sensitive", "diagnosis")


@pytest.fixture(scope="module", autouse=True)
def quick_ledger():
    """Here a hash takes its time."""


@pytest.fixture
def people(folder):
    return write_csv(generate_town(300), folder / "people.csv")


@pytest.fixture
def said(run, folder):
    """Release, and give back the word of the ledger."""

    def run_release(source, *words, target="out.csv"):
        outcome = run("release", source, "-o", folder / target, "--json", *words)
        assert outcome.code == 0, outcome.err
        return outcome.json["ledger"]

    return run_release


def rewritten(people, name, change=lambda frame: frame):
    """The same people, somehow else."""
    path = people.with_name(name)
    frame = change(pd.read_csv(people, dtype=str, keep_default_na=False))
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".arrow":
        frame.to_feather(path, compression="uncompressed")
    else:
        frame.to_csv(path, index=False, encoding="utf-16" if "utf-16" in name else "utf-8")
    return path


# -- the ways to a second release that docs/how-to/second_releases.md names ----------------------------------------


def test_guessing_what_a_table_holds_is_slow():
    assert kech.release.ledger.WORK >= 2**14


@pytest.mark.parametrize("cut", ["local", "domain"])
def test_the_same_classes_with_fewer_columns_are_nested(people, said, cut):
    assert said(people, *TWO, "--k", 5, "--cut", cut, "--keep", "sex")["verdict"] == "first"
    assert said(people, *TWO, "--k", 5, "--cut", cut, target="two.csv")["verdict"] == "nested"


def test_one_level_for_all_rows_is_nested_at_a_larger_k(people, said):
    assert said(people, *AGE, "--k", 3, "--cut", "domain")["verdict"] == "first"
    assert said(people, *AGE, "--k", 40, "--cut", "domain", target="two.csv")["verdict"] == "nested"


def test_the_refusal_points_to_them(people, said, refuse, folder):
    said(people, *TWO, "--k", 5)
    words = ("release", people, "-o", folder / "two.csv", *TWO, "--k", 7)
    refuse(*words, code=4, says="docs/how-to/second_releases.md")
    page = Path(__file__).parents[1] / "docs/how-to/second_releases.md"
    assert "\n## Make a nested release\n" in page.read_text("utf-8")


def test_rows_that_were_left_out_and_come_back_get_a_remedy_that_helps(said, refuse, folder):
    rows = [(age, zip_) for age in (20, 40, 60) for zip_ in "ab" for _ in range(5)] + [(90, "c")]
    people = folder / "few.csv"
    people.write_text("age,zip,kept\n" + "".join(f"{a},{z},x\n" for a, z in rows), "utf-8")
    words = ("--qi", "age", "zip", "--cut", "domain", "--suppress", 0.05)
    assert said(people, *words, "--keep", "kept", "--k", 5)["verdict"] == "first"
    again = ("release", people, "-o", folder / "two.csv", *words[:-2], "--k", 10)
    told = refuse(*again, code=4, says="The earlier one left rows out (--suppress)")
    assert "or without all of its --keep columns" in told
    assert said(people, *words, "--k", 5, target="three.csv")["verdict"] == "nested"


# -- which tables are the same -----------------------------------------------------------------------------------


SAME = {
    "shuffled.csv": lambda frame: frame.sample(frac=1, random_state=3),
    "sideways.csv": lambda frame: frame[frame.columns[::-1]],
    "typed.parquet": lambda frame: frame.astype({"age": "int32", "income": "float64"}),
    "dated.parquet": lambda frame: frame.assign(moved_in=pd.to_datetime(frame["moved_in"])),
    "typed.arrow": lambda frame: frame.astype({"age": "int32"}).iloc[::-1].reset_index(drop=True),
    "utf-16.csv": lambda frame: frame,
    "spaced.csv": lambda frame: frame.assign(age=frame["age"] + ".0", sex=" " + frame["sex"].str.upper()),
}


@pytest.mark.parametrize("name", begin_with({"shuffled.csv", "typed.arrow", "spaced.csv"}, SAME))
def test_a_table_is_known_again(people, said, refuse, folder, name):
    assert said(people, *TWO, "--k", 5)["verdict"] == "first"
    again = rewritten(people, name, SAME[name])
    words = (*TWO, "--k", 7, *(("--encoding", "utf-16") if "utf-16" in name else ()))
    refuse("release", again, "-o", folder / "two.csv", *words, code=4, says="This table was released before")


@pytest.mark.parametrize("words", [("--qi", "age", "sex"), ("--qi", "zip"), ("--qi", "job", "--sensitive", "income")])
def test_another_choice_of_columns_is_the_same_table(people, said, refuse, folder, words):
    said(people, "--qi", "moved_in", "--k", 5)
    refuse("release", people, "-o", folder / "two.csv", *words, "--k", 5, code=4, says="not a coarsening")


def test_a_dataframe_is_the_same_table_as_its_file(people, said, folder):
    said(people, *TWO, "--k", 5)
    frame = pd.read_csv(people)
    with kech.read_table(frame, quasi_identifiers=["age", "moved_in"], sensitive=["diagnosis"]) as table:
        with pytest.raises(ReleasedBefore):
            kech.make_release(table, k=7).write(folder / "two.csv")
        assert kech.make_release(table, k=7).frame.shape == (300, 3)


def test_a_file_with_other_people_is_another_table_and_that_is_said(people, said, run, folder):
    said(people, *TWO, "--k", 5)
    write_csv(generate_town(301, seed=4), people)
    word = said(people, *TWO, "--k", 7, target="two.csv")
    assert (word["verdict"], word["updated"]) == ("first", 1)
    write_csv(generate_town(302, seed=5), people)
    shown = run("release", people, "-o", folder / "three.csv", *TWO, "--k", 5).out
    assert "was released 2 times with rows of which none was found in it again" in " ".join(shown.split())


CELLS = st.one_of(st.none(), st.integers(-9, 99), st.sampled_from(["x", "y", "02", "x y"]))
ROWS = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6)


def fingerprint(rows):
    texts = [[None if cell is None else str(cell) for cell in column] for column in zip(*rows, strict=True)]
    with kech.read_table(pa.table([pa.array(column, pa.string()) for column in texts], names=["a", "b"])) as table:
        return table.fingerprint()


@settings(deadline=None, max_examples=10)
@given(ROWS, st.randoms())
def test_a_fingerprint_is_that_of_the_rows_whatever_their_order(rows, rng):
    shuffled = rng.sample(rows, len(rows))
    assert fingerprint(rows) == fingerprint(shuffled)
    place = rng.randrange(len(rows))
    other = [("other", b) if i == place else (a, b) for i, (a, b) in enumerate(rows)]
    assert fingerprint(other) != fingerprint(rows)
    assert fingerprint([*rows, rows[0]]) != fingerprint(rows)


def test_cells_belong_to_their_rows_and_columns():
    assert fingerprint([("1", "2"), ("3", "4")]) != fingerprint([("1", "4"), ("3", "2")])
    assert fingerprint([("1", "2")]) != fingerprint([("2", "1")])
    assert fingerprint([("1.0", "")]) == fingerprint([(" 1 ", None)])


def test_a_source_that_changes_under_way_is_refused(people, folder):
    with kech.read_table(people, quasi_identifiers=["age"]) as table:
        made = kech.make_release(table, k=5)
        write_csv(generate_town(310), people)
        with pytest.raises(kech.errors.UnreadableFile, match="changed while kech worked"):
            made.write(folder / "out.csv")
    assert not (folder / "out.csv").exists()


# -- second releases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["local", "domain"])
def test_the_same_release_again_is_nested(people, said, cut):
    words = (people, "--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 5, "--cut", cut)
    assert said(*words)["verdict"] == "first"
    assert said(*words)["verdict"] == "nested"
    word = said(*words, target="again.parquet")
    assert (word["verdict"], word["earlier"], word["nested_in"], word["joint_k"]) == ("nested", 2, "out.csv", None)


def test_a_repeat_in_the_place_of_a_release_stands_for_both(people, said, folder):
    words = (people, "--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 5)
    said(*words)
    said(*words)  # takes the place of the first, whose bytes are gone
    other = (people, "--qi", "age", "--sensitive", "diagnosis", "--k", 10, "--allow-composition")
    word = said(*other, target="other.csv")
    assert word["verdict"] in ("composed", "nested")


def test_a_coarser_release_is_nested_and_a_finer_one_is_not(people, said, refuse, run, folder):
    words = (*AGE, "--cut", "domain")
    said(people, *words, "--k", 5)
    assert said(people, *words, "--k", 40, target="coarse.csv")["verdict"] == "nested"
    assert (
        "is a union of classes of coarse.csv" in run("release", people, "-o", folder / "c.csv", *words, "--k", 40).out
    )
    run("ledger", "--forget", folder / "out.csv")
    (folder / "out.csv").unlink()
    refuse("release", people, "-o", folder / "fine.csv", *words, "--k", 5, code=4, says="not a coarsening")


def test_a_finer_grid_is_not_nested_though_its_classes_are_the_same(said, refuse, folder):
    rows = [(age, "xyzwv"[i % 5]) for age in (23, 61, 87) for i in range(10)]
    pd.DataFrame(rows, columns=["age", "diagnosis"]).to_csv(folder / "people.csv", index=False)
    said(folder / "people.csv", *AGE, "--k", 5, "--grid", 20)
    words = ("release", folder / "people.csv", "-o", folder / "two.csv", *AGE, "--k", 5)
    refuse(*words, "--grid", "exact", code=4, says="not a coarsening")
    assert said(folder / "people.csv", *AGE, "--k", 5, "--grid", 40, target="two.csv")["verdict"] == "nested"


def test_leaving_a_column_away_is_nested(people, said):
    said(people, "--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 2, "--cut", "domain", "--grid", "50")
    word = said(people, *AGE, "--k", 2, "--cut", "domain", "--grid", "50", target="less.csv")
    assert (word["verdict"], word["nested_in"]) == ("nested", "out.csv")


def test_a_column_that_was_not_published_as_it_is_is_not_nested(people, said, refuse, folder):
    said(people, "--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 5, "--cut", "domain")
    added = (("--sensitive", "income"), ("--keep", "income"), ("--keep", "sex"))
    for roles in (*(("--qi", "age", *more) for more in added), ("--qi", "sex", "--keep", "age")):
        words = ("release", people, "-o", folder / "two.csv", *roles, "--k", 300, "--cut", "domain")
        refuse(*words, code=4, says="not a coarsening")
    assert said(people, "--qi", "age", "--k", 300, "--cut", "domain", target="two.csv")["verdict"] == "nested"


def test_another_release_is_refused_until_it_is_allowed(people, said, refuse, run, folder):
    said(people, *TWO, "--k", 5)
    first = json.loads((folder / "out.csv.certificate.json").read_text("utf-8"))["claims"]["k"]
    words = ("release", people, "-o", folder / "two.csv", *TWO, "--k", 7)
    message = refuse(*words, code=4, says="--allow-composition")
    found = run(*words, "--allow-composition", "--json").json["ledger"]
    assert found["verdict"] == "composed"
    assert found["earlier"] == 1
    assert found["k"] == first
    assert f"every row among {found['k']} rows or more; together, joint k = {found['joint_k']}, " in message
    assert f"and {found['below']:,} of 300 rows stay together with fewer than {found['k']}." in message
    certificate = json.loads((folder / "two.csv.certificate.json").read_text("utf-8"))
    assert certificate["parameters"]["allow_composition"] is True
    assert "joint" not in json.dumps(certificate)
    shown = run("release", people, "-o", folder / "three.csv", *TWO, "--k", 9, "--allow-composition").out
    assert "Together with earlier releases (2), joint k = " in " ".join(shown.split())


def test_boxes_that_overlap_too_often_are_refused_with_the_number(people, said, refuse, folder, monkeypatch):
    said(people, *TWO, "--k", 5)
    monkeypatch.setattr("kech.release.admission.PAIR_BYTES", 10**12)
    words = ("release", people, "-o", folder / "two.csv", *TWO, "--k", 7, "--allow-composition")
    refuse(*words, code=5, says="comparing it with earlier releases: it needs about")
    assert not list(folder.glob("two*"))
    assert len(kech.open_ledger().list_releases()) == 1


def test_a_file_beside_that_is_no_certificate_harms_nobody(people, said, folder):
    words = (people, "--qi", "age", "--k", 5, "--cut", "domain")
    said(*words)
    (folder / "a.certificate.json").write_text("[" * 100_000, "utf-8")
    assert said(*words, target="two.csv")["verdict"] == "nested"


@pytest.mark.long
def test_what_comparing_takes_grows_with_the_different_cells(folder):
    few, many = (pa.table({"a": [i % different for i in range(100_000)]}) for different in (9, 100_000))
    for rows in (few, many):
        with kech.read_table(rows, quasi_identifiers=["a"], memory="320MB") as table:
            first = kech.make_release(table, k=50_000, effort="quick")
            first.write(folder / "one.csv")
            if rows is few:
                assert first.write(folder / "two.csv")
                continue
            with pytest.raises(OutOfMemory, match="comparing it with earlier releases: it needs about 332 MB"):
                first.write(folder / "two.csv")


def test_the_earlier_file_is_found_or_must_be_named(people, said, refuse, run, folder, tmp_path):
    said(people, *TWO, "--k", 5)
    away = tmp_path / "away"
    away.mkdir()
    for name in ("out.csv", "out.csv.certificate.json"):
        (folder / name).rename(away / name.replace("out", "sent"))
    words = ("release", people, "-o", folder / "two.csv", *TWO, "--k", 7, "--allow-composition")
    (known,) = kech.open_ledger().list_releases()
    message = refuse(*words, code=4, says="name the earlier one")
    assert f"('out.csv', {known['time'][:10]} " in message
    assert f"Not at hand: out.csv {known['release'][:12]}." in message
    named = run(*words, "--earlier", away / "sent.csv", "--json")
    assert named.json["ledger"]["verdict"] == "composed"
    (away / "sent.csv").write_text((away / "sent.csv").read_text("utf-8") + "1,1,1\n", "utf-8")
    refuse(*words, "--earlier", away / "sent.csv", code=4, says="sha256")
    assert run("ledger", "--forget", known["release"][:12]).code == 0
    assert all(held["release"] != known["release"] for held in kech.open_ledger().list_releases())


def test_an_earlier_file_the_ledger_never_saw_counts_too(people, refuse, said, folder, run):
    assert said(people, *TWO, "--k", 5, "--no-ledger")["verdict"] == "no ledger"
    words = ("release", people, "-o", folder / "two.csv", *TWO, "--k", 7)
    refuse(*words, "--earlier", folder / "out.csv", code=4, says="not a coarsening")
    refuse(*words, "--no-ledger", "--earlier", folder / "out.csv", code=4, says="not a coarsening")
    other = write_csv(generate_town(300, seed=9), folder / "other.csv")
    other_words = ("release", other, "-o", folder / "two.csv", *TWO, "--k", 7, "--earlier", folder / "out.csv")
    refuse(*other_words, code=4, says="They cannot be compared")


def test_a_file_the_ledger_never_saw_justifies_nothing_beside_one_it_knows(people, refuse, said, folder):
    said(people, *TWO, "--k", 5)
    assert said(people, *TWO, "--k", 7, "--no-ledger", target="made.csv")["verdict"] == "no ledger"
    words = (*TWO, "--k", 7, "--earlier", folder / "made.csv")
    refuse("release", people, "-o", folder / "two.csv", *words, code=4, says="not a coarsening")
    word = said(people, *words, "--allow-composition", target="two.csv")
    assert (word["verdict"], word["earlier"]) == ("composed", 2)
    word = said(people, *AGE, "--k", 300, "--earlier", folder / "made.csv", target="three.csv")
    assert (word["verdict"], word["nested_in"]) == ("nested", "out.csv")


def test_without_the_ledger_the_certificate_says_so(people, said, own_ledger, run, folder):
    assert said(people, *TWO, "--k", 5, "--no-ledger")["verdict"] == "no ledger"
    assert said(people, *TWO, "--k", 7, "--no-ledger")["verdict"] == "no ledger"
    parameters = json.loads((folder / "out.csv.certificate.json").read_text("utf-8"))["parameters"]
    assert parameters["no_ledger"] is True
    assert [file.name for file in own_ledger.iterdir()] == ["secret"]
    assert "was not asked" in run("release", people, "-o", folder / "out.csv", *TWO, "--k", 7, "--no-ledger").out


def test_the_demo_leaves_the_ledger_alone(run, own_ledger, folder, monkeypatch):
    monkeypatch.setattr("kech.tables.demo.generate_town", lambda: generate_town(200))
    assert run("demo", "-o", folder / "demo").code == 0
    assert [file.name for file in own_ledger.iterdir()] == ["secret"]


# -- the file --------------------------------------------------------------------------------------------------------


def test_the_ledger_keeps_hashes_only_and_to_its_owner(people, said, own_ledger):
    said(people, *TWO, "--k", 5)
    file = own_ledger / "ledger.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert (own_ledger / "ledger.lock").stat().st_mode & 0o777 == 0o600
    book = json.loads(file.read_text("utf-8"))
    (entry,) = book["releases"]
    assert set(entry) == {"table", "source", "release", "k", "time", "rows", "columns", "sketch", "name", "place"}
    assert entry["columns"] == ["age", "moved_in", "diagnosis"]
    assert all(len(entry[name]) == 64 for name in ("table", "source", "release"))
    for word in ("people", "hypertension", str(people.parent)):
        assert word not in file.read_text("utf-8")


def test_a_folder_that_is_made_is_private(people, tmp_path, monkeypatch, said):
    monkeypatch.delenv("KECH_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    said(people, *TWO, "--k", 5)
    assert (tmp_path / "state" / "kech").stat().st_mode & 0o777 == 0o700
    assert kech.open_ledger().path.is_file()


def test_two_ledgers_know_one_table_under_two_hashes(people, tmp_path, folder):
    with kech.read_table(people, quasi_identifiers=["age"]) as table:
        books = [Ledger(tmp_path / name) for name in ("one", "two")]
        for ledger in books:
            kech.make_release(table, k=5).write(folder / "out.csv", ledger=ledger)
    (one,), (two,) = (json.loads(ledger.path.read_text("utf-8"))["releases"] for ledger in books)
    assert one["table"] != two["table"]
    assert one["source"] != two["source"]


def test_a_table_is_known_by_its_columns_and_its_cells_whatever_their_order(folder):
    """Its hash needs its key, too: see above."""
    ones = {"a": [1, 2] * 5, "b": [3, 4] * 5}
    tables = [ones, {"b": ones["b"], "a": ones["a"]}, {"a": ones["a"], "c": ones["b"]}, {"a": ones["a"]}]
    tables += [{"a": [12] * 10, "b": ones["b"]}, {"a": ones["b"], "b": ones["a"]}]
    for number, columns in enumerate(tables):
        with kech.read_table(pa.table(columns), quasi_identifiers=["a"]) as table:
            kech.make_release(table, k=5).write(folder / f"{number}.csv")
    assert [held["table"] for held in kech.open_ledger().list_releases()] == [1, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it is damaged"),
        ("[]", "it is damaged"),
        ('{"ledger": 3, "key": "", "releases": []}', "a newer kech wrote it"),
        ('{"ledger": 1, "key": "", "releases": [{"k": "x"}]}', "it is damaged"),
        ('{"ledger": 1, "key": "", "releases": []}', "its key is damaged"),
        ('{"ledger": 1, "key": "zz", "releases": []}', "its key is damaged"),
        (f'{{"ledger": 1, "key": "{"ab" * 80}", "releases": []}}', "its key is damaged"),
    ],
)
def test_a_ledger_that_cannot_be_read_is_refused(people, refuse, own_ledger, folder, text, says):
    (own_ledger / "ledger.json").write_text(text, "utf-8")
    refuse("release", people, "-o", folder / "out.csv", *TWO, "--k", 5, code=3, says=says)
    with pytest.raises(BadLedger):
        kech.open_ledger().list_releases()


def test_a_ledger_that_cannot_be_written_is_refused(people, refuse, folder, monkeypatch):
    monkeypatch.setenv("KECH_HOME", str(people))
    refuse("release", people, "-o", folder / "out.csv", *TWO, "--k", 5, code=5, says="KECH_HOME")


def test_releases_are_listed_and_forgotten(people, said, run, own_ledger, folder):
    said(people, *AGE, "--k", 5, "--cut", "domain")
    said(people, *AGE, "--k", 40, "--cut", "domain", target="coarse.csv")
    said(write_csv(generate_town(100), folder / "few.csv"), *AGE, "--k", 5, target="few-out.csv")
    found = run("ledger", "--json").json
    assert [held["table"] for held in found["releases"]] == [1, 1, 2]
    shown = run("ledger").out
    assert "3 releases" in shown
    assert all(held["release"][:8] in shown and held["name"] in shown for held in found["releases"])
    assert [held["name"] for held in found["releases"]][1:] == ["coarse.csv", "few-out.csv"]
    assert run("ledger", "--forget", folder / "coarse.csv", "--json").json["forgotten"] == [
        found["releases"][1]["release"]
    ]
    assert run("ledger", "--forget", found["releases"][2]["release"][:8]).code == 0
    assert [held["k"] for held in run("ledger", "--json").json["releases"]] == [found["releases"][0]["k"]]
    assert run("ledger", "--forget", folder / "coarse.csv").code == 2
    assert run("ledger", "--forget", "abc").code == 2


# -- runs that were killed ---------------------------------------------------------------------------------------


def enter(ledger, **where):
    """Write a line as a run does that is killed while it puts a release in place."""
    ledger.folder.mkdir(exist_ok=True)
    book = {"ledger": 1, "key": "ab" * 32, "releases": []}
    book = json.loads(ledger.path.read_text("utf-8")) if ledger.path.exists() else book
    line = {"table": "table", "source": "", "release": "f" * 64, "k": 5, "time": "2026-01-01T00:00:00Z"}
    book["releases"].append(line | {name: str(value) for name, value in where.items()})
    ledger.path.write_text(json.dumps(book), "utf-8")


def lines(ledger):
    book = json.loads(ledger.path.read_text("utf-8"))
    return [(held.get("draft", ""), held.get("address", "")) for held in book["releases"]]


def entered(ledger, **where):
    """What is left of a line of a release that was being put in place."""
    enter(ledger, **where)
    ledger.recover()
    return lines(ledger)


def test_a_release_that_was_killed_before_it_had_its_name_is_struck_out(tmp_path):
    ledger, draft = Ledger(tmp_path / "home"), tmp_path / ".out.csv.1.kech-draft"
    assert entered(ledger, draft=str(draft)) == [("", "")]  # the draft is gone: it has its name
    draft.touch()
    assert entered(ledger, draft=str(draft)) == [("", "")]  # only the first one stands
    draft.touch()
    with draft.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert entered(ledger, draft=str(draft))[1:] == [(str(draft), "")]  # somebody is at it
        draft.unlink()
    ledger.recover()
    assert lines(ledger) == [("", ""), ("", "")]


def test_a_draft_in_a_folder_that_was_closed_is_in_doubt(tmp_path, monkeypatch):
    ledger, draft, exists = Ledger(tmp_path / "home"), tmp_path / "closed" / "draft", Path.exists

    def closed(path, **how):
        if path == draft:
            raise PermissionError(13, "Permission denied", str(path))
        return exists(path, **how)

    monkeypatch.setattr(Path, "exists", closed)
    assert entered(ledger, draft=str(draft)) == [(str(draft), "")]


def test_a_table_that_was_never_committed_is_struck_out_and_in_doubt_stays(tmp_path):
    ledger, draft, base = Ledger(tmp_path / "home"), tmp_path / "draft", tmp_path / "base.db"
    draft.touch()
    assert entered(ledger, draft=str(draft), address=f"duckdb:{base}#safe") == []
    with duckdb.connect(str(base)) as connection:
        connection.execute("CREATE TABLE safe AS SELECT 1 AS age")
    assert entered(ledger, draft=str(draft), address=f"duckdb:{base}#safe") == []
    assert entered(ledger, draft=str(draft), address=f"duckdb:{base}#other") == []
    base.write_bytes(b"damaged")
    assert len(entered(ledger, draft=str(draft), address=f"duckdb:{base}#safe")) == 1


# -- many at once ----------------------------------------------------------------------------------------------------


RELEASING = """
import sys
from pathlib import Path
import pyarrow as pa
import kech
folder, start, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for i in range(start, start + count):
    with kech.read_table(pa.table({"a": [i] * 5}), quasi_identifiers=["a"]) as table:
        kech.make_release(table, k=i % 5 + 1).write(folder / f"{i}.csv", ledger=kech.Ledger(folder / "shared"))
"""


@pytest.mark.long
def test_processes_and_threads_share_a_ledger_without_tearing_it(tmp_path):
    """Each releases tables of its own; all are known afterwards."""
    ledger = Ledger(tmp_path / "shared")
    processes = [subprocess.Popen([sys.executable, "-c", RELEASING, tmp_path, str(start), "4"]) for start in (0, 4)]

    def release(start):
        for i in range(start, start + 3):
            with kech.read_table(pa.table({"a": [i] * 5}), quasi_identifiers=["a"]) as table:
                kech.make_release(table, k=i % 5 + 1).write(tmp_path / f"{i}.csv", ledger=ledger)

    threads = [threading.Thread(target=release, args=(8 + 3 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for worker in threads:
        worker.join()
    assert [process.wait(120) for process in processes] == [0, 0]
    found = ledger.list_releases()
    assert len({held["table"] for held in found}) == 20
    written = {json.loads(path.read_text("utf-8"))["file"]["sha256"] for path in tmp_path.glob("*.json")}
    assert {held["release"] for held in found} == written
    assert sorted(path.name for path in ledger.folder.iterdir()) == [
        *("ledger.json", "ledger.lock", "rows", "secret", "secret.lock")
    ]
    assert len(list((ledger.folder / "rows").iterdir())) == len(found)


def test_of_two_releases_at_once_one_is_refused(people, folder):
    outcomes = []

    def release(k):
        with kech.read_table(people, quasi_identifiers=["age", "moved_in"]) as table:
            try:
                outcomes.append(kech.make_release(table, k=k).write(folder / f"out{k}.csv") and "written")
            except ReleasedBefore:
                outcomes.append("refused")

    threads = [threading.Thread(target=release, args=(k,)) for k in (5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused", "written"]
    assert len(kech.open_ledger().list_releases()) == 1


# -- releases of a series ------------------------------------------------------------------------------------------


def test_releases_of_one_series_are_no_obstacle_to_each_other(people, folder, monkeypatch):
    def write(series, k, name):
        monkeypatch.setattr(
            "kech.release.release.AdmissionOptions", partial(AdmissionOptions, series=frozenset(series))
        )
        with kech.read_table(people, quasi_identifiers=["age", "moved_in"]) as table:
            return kech.make_release(table, k=k).write(folder / name)

    first = write([], 5, "one.csv")["file"]["sha256"]
    assert write([first], 7, "two.csv")
    for series in ([], ["another"], [first]):
        with pytest.raises(ReleasedBefore):
            write(series, 6, "three.csv")


def test_a_release_takes_the_place_of_one_that_nobody_received(run, people, folder):
    release = ("release", people, "-o", folder / "out.csv")
    assert run(*release, *TWO, "--k", 5).code == 0
    refused = run(*release, *TWO, "--k", 3)
    assert refused.code == 4 and "If 'out.csv' was never handed out, let this release take its place: --replace" in (
        refused.err
    )
    assert run(*release, *TWO, "--k", 3, "--replace").code == 0
    (known,) = run("ledger", "--json").json["releases"]
    assert known["release"] == json.loads((folder / "out.csv.certificate.json").read_text())["file"]["sha256"]
    assert run("release", people, "-o", folder / "other.csv", *TWO, "--k", 5).code == 4


def test_a_copy_that_was_entered_too_is_not_replaced(run, people, folder):
    for name in ("out.csv", "copy.csv"):
        assert run("release", people, "-o", folder / name, *TWO, "--k", 5).code == 0
    before = (folder / "out.csv").read_bytes()
    assert run("release", people, "-o", folder / "out.csv", *TWO, "--k", 3, "--replace").code == 4
    assert (folder / "out.csv").read_bytes() == before and len(run("ledger", "--json").json["releases"]) == 2


@pytest.mark.parametrize("way", ["copy", "link", "series"])
def test_a_release_that_stays_elsewhere_is_not_replaced(run, people, folder, way):
    series = ("--series", folder / "series") if way == "series" else ()
    assert run("release", people, "-o", folder / "out.csv", *TWO, "--k", 5, *series).code == 0
    path = folder / ("out.csv" if way == "series" else "again.csv")
    if way == "copy":
        path.write_bytes((folder / "out.csv").read_bytes())
    if way == "link":
        path.symlink_to(folder / "out.csv")
    refused = run("release", people, "-o", path, *TWO, "--k", 3, "--replace")
    assert refused.code == 2 and "no release that the ledger knows at this path" in refused.err
    assert len(run("ledger", "--json").json["releases"]) == 1


@pytest.mark.parametrize(("name", "words"), [("people.csv", ()), ("new.csv", ("--replace",))])
def test_a_file_that_cannot_be_written_is_refused_before_any_search(run, people, folder, monkeypatch, name, words):
    monkeypatch.setattr(kech, "make_release", lambda *_: pytest.fail("it was searched"))
    assert people == folder / "people.csv"
    assert run("release", people, "-o", folder / name, *AGE, "--k", 5, *words).code == 2


@pytest.mark.parametrize("words", [(), ("--no-ledger",), ("--folder", "new")])
def test_only_a_release_that_the_ledger_knows_is_replaced(run, people, folder, words):
    refused = run("release", people, "-o", folder / "out.csv", *AGE, "--k", 5, "--replace", *words)
    assert refused.code == 2 and "--replace" in refused.err
    assert not (folder / "out.csv").exists() and run("ledger", "--json").json["releases"] == []
