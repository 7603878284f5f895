"""What a newcomer is told of a column before it is generalized."""

import json
from collections import Counter
from shlex import quote

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech.errors import BadOption, DoubtfulColumn
from strategies import unhurried


def inspect(values, column="c", *, kind=None):
    """What is said of a quasi-identifier with these values."""
    with kech.read_table(pa.table({column: pa.array(values, kind)}), quasi_identifiers=[column]) as table:
        return kech.inspect_table(table, as_read=True).columns[0]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["31.12.1980", "01.02.1990"], "--dates dmy reads"),
        (["12/31/1980", "1/2/1990"], "--dates mdy reads"),
        (["01-02-1980", "03-04-1990"], "--dates dmy or --dates mdy reads"),
        ([*(f"{day}.12.1980" for day in range(13, 31)), "12/31/1980"], "--dates dmy reads"),
        (["31.12.1980", "12/31/1980"], "--dates dmy or --dates mdy reads"),
        (["31.12.1980", "N/A", "?"], "--null-values '?' N/A declares them. These look like dates"),
        (["03.04.23", "24.03.23"], "Their years have two digits: write four, since no century is guessed."),
        (
            ["12/31/99", "?"],
            "--null-values '?' declares them. These look like dates, and are read as text. Their years",
        ),
        (["yes", "no", "n/a"], "--null-values n/a declares"),
        (["yes", "--", "-", "n/a"], "--null-values=- --null-values=-- --null-values n/a declares"),
        (["1.234,5", "12", "-0,25"], "--decimal , reads"),
        (["12", "13"], None),
        (["1,5", "Berlin, Mitte"], None),
        (["1980-12-31"], None),
        ([], None),
    ],
)
def test_text_that_is_written_otherwise(values, says):
    hint = inspect(values, kind=pa.string()).hint
    assert hint is None if says is None else says in hint


def postcodes(length=5):
    return [str(10 ** (length - 1) + step * 37) for step in range(60)]


@pytest.mark.parametrize("column", ["zip", "ZIP code", "plz", "home_postcode", "Postal Code"])
def test_numbers_that_are_called_a_postcode(column):
    found = inspect([*map(int, postcodes())], column)
    assert found.suggested == "hierarchy"
    assert f"--axis {quote(f'{column}=hierarchy')} " in found.hint


@pytest.mark.parametrize("column", ["Code postal", "zip", "PLZ"])
def test_a_few_postcodes_are_a_set_and_no_interval(column):
    found = inspect([75011, 69003, 13001, 31000, 44000, 59000, 67000, 33000] * 5, column)
    assert (found.suggested, found.generalized, found.is_planned) == ("set", "sets of values", True)


def test_other_numbers_are_no_codes():
    codes = [*map(int, postcodes())]
    for values, column in ((codes, "income"), ([*codes, 123], "zip"), ([10115, 20115], "zip")):
        found = inspect(values, column)
        assert found.suggested == {"income": None, "zip": "set"}[column]
        assert "looks like a code" not in (found.hint or "")


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("postcode", ["04109", "04229", "10115"], True),
        ("post code", ["SW1A", "SW2B", "N1 9"], True),
        ("postcode", ["04109", "10115"], False),
        ("postcode", [f"0{code}" for code in postcodes()], False),  # shortened without a word
        ("ward", [f"W{i:03}" for i in range(12)], True),
        ("ward", ["W01", "W02"], False),
        ("job", ["nurse", "nun", "cook"], False),
    ],
)
def test_codes_that_become_sets_are_better_shortened(column, values, told):
    hint = inspect(values * 2, column).hint
    assert (hint is not None) == told
    assert hint is None or f"kech hierarchy TABLE {quote(column)} --kind prefixes -o " in hint


def test_the_hierarchy_of_prefixes_that_is_told_works(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "trees").mkdir()
    (folder / "t.csv").write_text("postcode\n" + "04109\n04229\n10115\n" * 4, "utf-8")
    told = run("inspect", "t.csv", "--json").json["columns"][0]["hint"]
    words = told.partition("kech ")[2].partition(", then")[0].replace("TABLE", "t.csv").split()
    assert run(*words).code == 0
    found = run("inspect", "t.csv", "--hierarchies", "trees", "--json").json["columns"][0]
    assert (found["hint"], found["generalized"]) == (None, "a hierarchy over 3 values")


lone_rows = st.tuples(st.lists(st.integers(0, 100), min_size=20, max_size=60), st.integers(1000, 10**6), st.booleans())


@given(st.lists(lone_rows, min_size=5, max_size=5))
@settings(unhurried, max_examples=20)
def test_a_lone_row_is_far_where_it_is_farther_away_than_all_others_are_wide(cases):
    """A hundred cases, five of them at once: reading a table takes longer than looking at it."""
    columns = {}
    for number, (bulk, far, below) in enumerate(cases):
        lone = min(bulk) - far if below else max(bulk) + far
        columns |= {f"far {number}": [*bulk, lone], f"near {number}": bulk}
    hints = inspect_all(columns)
    for number, (bulk, _, _) in enumerate(cases):
        (lone,) = (Counter(columns[f"far {number}"]) - Counter(bulk)).elements()
        trimmed = sorted([*bulk, lone])[1:-1]
        hint = hints[f"far {number}"]
        assert (hint is not None) == (trimmed[0] != trimmed[-1])
        assert hint is None or (hint.startswith("1 row lies far") and str(lone) not in hint)
        assert hints[f"near {number}"] is None or max(bulk) - min(bulk) > 2


def inspect_all(columns):
    """What is said of each column; those with fewer values end with missing ones."""
    longest = max(map(len, columns.values()))
    padded = {name: values + [None] * (longest - len(values)) for name, values in columns.items()}
    with kech.read_table(pa.table(padded), quasi_identifiers=[*padded]) as table:
        return {found.column: found.hint for found in kech.inspect_table(table, as_read=True).columns}


@pytest.mark.parametrize("values", [[], [1.0], [1e308, -1e308, *range(18)]])
def test_few_and_huge_values(values):
    hint = inspect(values, kind=pa.float64()).hint
    assert (hint is not None) == (len(values) == 20)


@pytest.fixture
def foreign(folder):
    """A table as a spreadsheet in Berlin writes it."""
    dates = [f"{i % 28 + 1:02}.{i % 12 + 1:02}.{1950 + i % 50}" for i in range(200)]
    rows = [f"p{i};{born};{10115 + 37 * (i % 90)};{900 + i},{i % 100:02};{20 + i % 50}" for i, born in enumerate(dates)]
    path = folder / "leute.csv"
    path.write_text(
        "\n".join(["name;geboren;plz;einkommen;age", *rows[:-1], "q;01.01.1990;10115;1000,00;999"]), "utf-8"
    )
    return path


def test_inspect_says_what_to_type_and_the_typed_options_help(run, foreign, folder):
    shown = run("inspect", foreign).out
    assert "'geboren': These look like dates, and are read as text: --dates dmy reads them." in shown
    assert "'einkommen': These look like numbers with decimal commas" in shown
    assert "'plz': It looks like a code: --axis plz=hierarchy" in shown
    assert "'age': 1 row lies far from all others." in shown
    assert "999" not in shown
    assert "read as text" not in run("inspect", foreign, "--dates", "dmy", "--decimal", ",").out
    shown = run("inspect", foreign, "--plan", folder / "kech.toml").out
    assert shown.count("The plan says so.") == 3
    assert f"kech release {foreign} --plan {folder / 'kech.toml'} -o safe.csv" in shown
    plan = kech.read_request(folder / "kech.toml")
    assert (plan.input.dates, plan.input.decimal) == ("dmy", ",")
    assert {name: axis.kind for name, axis in plan.axes.items()} == {
        "geboren": "date",
        "plz": "hierarchy",
        "einkommen": "number",
        "age": "number",
    }


@pytest.mark.parametrize("odd", ["12/31/1980", "unbekannt", "31.02.2020", "1980"])
def test_one_odd_cell_among_dates_is_refused_with_its_row_by_a_release_from_the_plan(odd, run, foreign, folder):
    lines = foreign.read_text("utf-8").splitlines()
    lines[7] = lines[7].replace(lines[7].split(";")[1], odd)
    foreign.write_text("\n".join(lines), "utf-8")
    plan = folder / "kech.toml"
    assert run("inspect", foreign, "--plan", plan).code == 0
    refused = run("release", foreign, "--plan", plan, "-o", folder / "safe.csv")
    assert refused.code == 3
    assert "'geboren', row 7" in refused.err
    assert odd not in refused.err
    assert not (folder / "safe.csv").exists()


def test_roles_and_uniqueness_are_those_of_the_reading_that_the_plan_gets(run, folder):
    path, plan = folder / "klinik.csv", folder / "kech.toml"
    rows = [f"{i % 25 + 4:02}.{i % 12 + 1:02}.2024;{i % 7};k.A." for i in range(150)]
    path.write_text("\n".join(["Aufnahme;n;Befund", *rows[:-1], rows[-1].replace("k.A.", "gut")]), "utf-8")
    found, asked = (
        run("inspect", path, *words, "--json").json
        for words in ([], ["--dates", "dmy", "--null-values", "k.A.", "--plan", plan])
    )
    assert found["input"] == {"null_values": ["k.A."], "dates": "dmy"}
    assert asked["input"] == {}
    assert found["quasi_identifiers"] == asked["quasi_identifiers"] == ["Aufnahme"]
    assert [found[name] for name in ("k", "unique_share")] == [asked[name] for name in ("k", "unique_share")]
    own = {"hint", "suggested", "input", "is_planned"}
    for ours, theirs in zip(found["columns"], asked["columns"], strict=True):
        assert {key: ours[key] for key in set(ours) - own} == {key: theirs[key] for key in set(theirs) - own}
    run("inspect", path, "--plan", folder / "own.toml")
    assert kech.read_request(folder / "own.toml") == kech.read_request(plan)
    with kech.read_table(path) as table:
        assert kech.inspect_table(table, as_read=True).input == {}
        assert kech.inspect_table(table).columns[0].type == "date"


def test_dates_of_either_order_are_not_planned_as_text(run, folder):
    path, plan = folder / "people.csv", folder / "kech.toml"
    path.write_text("geboren,x\n" + "".join(f"{i % 9 + 1:02}/{i % 11 + 1:02}/1980,{i}\n" for i in range(60)), "utf-8")
    assert "The plan says so" not in run("inspect", path, "--plan", plan).out
    refused = run("release", path, "--plan", plan, "-o", folder / "safe.csv")
    assert refused.code == 3
    assert "--dates" in refused.err


def test_a_table_that_was_read_otherwise_is_released_and_attacked_by_its_plan(release, run, foreign, folder):
    plan = folder / "kech.toml"
    words = ("--dates", "dmy", "--decimal", ",", "--qi", "geboren", "age", "--sensitive", "einkommen")
    assert run("inspect", foreign, *words, "--plan", plan).code == 0
    cells = release(foreign, "--plan", plan, k=5)
    assert all(cell[0] in "[<>*1" and "." not in cell for cell in cells["geboren"])
    assert all("," not in cell for cell in cells["einkommen"])
    found = run("risk", folder / "released.csv", "--original", foreign, "--plan", plan, "--json")
    assert found.code == 0, found.err


@pytest.mark.parametrize("command", ["release", "spectrum"])
def test_a_column_of_text_that_looks_like_dates_is_told_without_a_plan(command, run, foreign, folder):
    more = ["-o", folder / "safe.csv", "--no-ledger"] if command == "release" else []
    words = [command, foreign, "--k", "5", *more]
    said = "Column 'geboren': These look like dates, and are read as text: --dates dmy reads them."
    for _ in range(2):  # each run says it, once
        assert run(*words, "--qi", "geboren", "age").err == f"kech: warning: {said}\n"
    line = json.loads(run(*words, "--qi", "geboren", "--json").err)
    assert line == {"warning": "DoubtfulColumn", "message": said}
    for more in (["--dates", "dmy"], ["--axis", "geboren=set"]):
        assert not run(*words, "--qi", "geboren", *more).err
    assert not run(*words, "--qi", "age", "--sensitive", "einkommen").err


def test_python_warns_in_its_own_words(foreign):
    with kech.read_table(foreign, quasi_identifiers=["geboren"]) as table:
        with pytest.warns(DoubtfulColumn, match="'geboren'.*: dates=\"dmy\" reads them"):
            kech.make_release(table, k=5)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"decimal": ";"}, "^decimal: kech cannot use this value. Write a point or a comma"),
        ({"dates": "dym"}, "^dates: kech cannot use this value. Choose among"),
    ],
)
def test_a_writing_that_is_none_is_refused(words, says, foreign):
    with pytest.raises(BadOption, match=says):
        kech.read_table(foreign, **words)
