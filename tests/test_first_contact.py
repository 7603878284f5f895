"""What somebody meets who types kech for the first time."""

from io import StringIO
from shlex import quote

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import kech
from kech.errors import NoSuchFile
from kech.system.console import listen, report, scale_progress
from kech.tables.demo import generate_town
from kech.views.screen.progress import estimate
from kech.views.screen.terminal import grid

ROLES = ("--qi", "age", "sex", "--sensitive", "diagnosis")


@pytest.fixture
def town(folder):
    pc.write_csv(generate_town(120), folder / "town.csv")
    return folder / "town.csv"


@pytest.mark.parametrize("command", ["spectrum", "barcode", "lattice", "zigzag"])
def test_forgotten_roles_get_the_command_to_type(run, town, command):
    refused = run(command, town)
    typed = refused.err.rpartition("for example: kech ")[2].split()

    assert refused.code == 2
    assert typed[:3] == [command, str(town), "--qi"]
    assert {"age", "sex", "zip"} <= set(typed[3:])


def test_a_command_that_is_shown_again_has_no_password(run, town, folder):
    secret = "postgresql://me:s3cret@nowhere/base?password=s3cret&table=safe"
    for words in (
        ("release", town, "--k", 5, "-o", secret, "--certificate", folder / "c.json"),
        ("release", town, "--k", 5, f"--output={secret}", "--certificate", folder / "c.json"),
        ("release", town, "--k", 5, "-o", "mysql://me:s3cret@nowhere/base"),
        ("spectrum", town, secret),
        ("spectrum", town, f"--nowhere={secret}"),
    ):
        refused = run(*words)
        assert refused.code == 2
        assert "s3cret" not in refused.err + refused.out
    assert "-o 'postgresql://me@nowhere/base?table=safe'" in run("release", town, "--k", 5, "-o", secret).err


def test_the_command_that_is_suggested_works(run, town, folder):
    words = ("release", town, "--k", 5, "-o", folder / "safe.csv", "--effort", "quick", "--no-ledger")
    suggested = run(*words).err.rpartition("for example: kech ")[2].split()

    assert run(*suggested).code == 0


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (("spectrum", "--qi", "agee"), "age"),
        (("spectrum", "--qi", "AGE"), "age"),
        (("release", "--qi", "age", "--keep", "diagnosi", "--k", "5", "-o", "x.csv"), "diagnosis"),
        (("barcode", "--qi", "age", "--sensitive", "diagnose"), "diagnosis"),
        (("lattice", "--qi", "zipp"), "zip"),
        (("zigzag", "--qi", "age", "--identifiers", "persn"), "person"),
        (("inspect", "--axis", "agee=number"), "age"),
        (("hierarchy", "zipp"), "zip"),
        (("verify", "--qi", "gae", "--k", "2"), "age"),
        (("verify", "--qi", "age", "--sensitive", "diagnosi", "--k", "1"), "diagnosis"),
        (("risk", "--qi", "sexx"), "sex"),
    ],
)
def test_a_mistyped_column_gets_a_suggestion(refuse, town, words, right):
    command, *rest = words
    at = (command, town, *rest)
    refuse(*at, code=2, says=f"Did you mean {right!r}?")


def test_a_mistyped_file_gets_a_suggestion(refuse, town, monkeypatch):
    refuse("inspect", town.with_name("twon.csv"), code=3, says=f"Did you mean {str(town)!r}?")
    monkeypatch.chdir(town.parent)
    said = "There is no file or folder 'twon.csv'."
    assert "Did you mean 'town.csv'?" in refuse("inspect", "twon.csv", code=3, says=said)
    assert "mean" not in refuse("inspect", town.parent / "nowhere" / "town.csv", code=3, says="There is no file")


@pytest.mark.parametrize(
    ("words", "right"),
    [(("--sensitiv", "x"), "--sensitive"), (("--anything", "x"), None), (("--zzz", "x"), None)],
)
def test_an_unknown_option_gets_a_suggestion_only_if_one_is_close(run, town, words, right):
    refused = run("spectrum", town, *words)
    assert refused.code == 2
    assert f"Did you mean {right}?" in refused.err if right else "Did you mean" not in refused.err


def test_an_unknown_command_names_those_to_begin_with(refuse):
    refuse("outlook", code=2, says="Usual ones: inspect, release, verify, report. Run kech --help.")
    assert "Usual ones" not in refuse("verify", "--outlook", code=2, says="Run kech verify --help.")


def test_a_file_that_is_hardly_alike_is_not_suggested(refuse, town):
    assert "Did you mean" not in refuse("inspect", town.with_name("total.csv"), code=3, says="There is no file")


def test_columns_that_share_a_name_are_refused_and_can_be_read(run, refuse, folder):
    path = folder / "twice.csv"
    path.write_text(
        "age,sex,AGE,age_2\n" + "".join(f"{20 + row % 9},{'fm'[row % 2]},{row % 4},7\n" for row in range(30)), "utf-8"
    )
    refuse("inspect", path, code=3, says="columns 1, 3 are not distinct where case is ignored. Rename")
    found = run("inspect", path, "--rename-duplicates", "--plan", folder / "kech.toml", "--json").json
    assert [column["column"] for column in found["columns"]] == ["age", "sex", "AGE_3", "age_2"]
    words = ("--plan", folder / "kech.toml", "-o", folder / "safe.csv", "--k", 3, "--effort", "quick")
    assert run("release", path, *words).code == 0
    assert run("ledger").out.count("age, sex") == 1


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_no_word_is_broken_on_a_narrow_screen(run, town, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    words = {*run("inspect", town).out.split("As it is")[0].split()}
    monkeypatch.setenv("COLUMNS", "300")
    wide = {*run("inspect", town).out.split("As it is")[0].split()}
    assert {word.rstrip(":") for word in words} <= {word.rstrip(":") for word in wide}


def test_goals_that_hold_are_listed(run, town, folder):
    safe = folder / "safe.csv"
    shown = run("release", town, *ROLES, "--k", 5, "--l", 2, "--alpha", 0.9, "-o", safe, "--effort", "quick").out
    assert "In every class l >= 2 (distinct), alpha <= 0.9 for diagnosis." in shown
    assert "l counts a missing value as a value." in shown
    verified = run("verify", safe, "--k", 3, "--t", 1).out
    assert "Checked (certificate): in every class k >= 5, l >= 2 (distinct), alpha <= 0.9 for diagnosis." in verified
    assert "Checked (your own): in every class k >= 3, t <= 1 (equal) for diagnosis." in verified
    found = run("verify", safe, "--k", 3, "--json").json["checked"]
    assert found == {"certified": {"k": 5, "l": 2, "l_kind": "distinct", "alpha": 0.9}, "asked": {"k": 3}}
    assert ": 1 release\n" in run("ledger").out
    assert "not only how many people it has: --population FILE." in run("risk", safe, "--population", 5000).out
    assert (
        "compose: it attacks two releases of one table together. Name the other: --second OTHER.csv."
        in run("attack", "compose", safe, "--original", town).err
    )


def test_what_should_be_looked_at_comes_with_a_remedy(run, town, folder):
    words = ("release", town, "--qi", "age", "sex", "--sensitive", "person", "--no-ledger")
    shown = run(*words, "--k", 5, "--protect", "none", "--t", 0.01, "-o", folder / "safe.csv", "--effort", "quick").out
    assert "hides among at least 120: 120 rows in 1 class, " in shown
    assert "nearly every row has a value of its own in person, so no smaller class is like all rows" in shown
    assert "person: published as it is, and most of its values occur in one row only: leave it out" in shown
    assert "ends of age are not moved at random, so many are somebody's value (--protect none)." in shown
    shown = run(*words, "--k", 5, "-o", folder / "two.csv", "--effort", "quick").out
    assert "not moved at random" not in shown and "one class" not in shown


def test_a_certificate_that_is_passed_over_is_told(run, town, folder):
    safe, beside = folder / "safe.csv", folder / "safe.csv.certificate.json"
    run("release", town, *ROLES, "--k", 5, "-o", safe, "--effort", "quick")
    beside.write_text("broken", "utf-8")
    words = ("verify", safe, "--qi", "age", "sex", "--k", 2)
    assert f"Warning: {beside} was not checked" in run(*words).out
    assert run(*words, "--json").json["passed_over"] == str(beside)
    beside.unlink()
    assert "not looked at" not in run(*words).out


def test_a_hierarchy_is_never_written_over_another(refuse, run, town, folder):
    words = ("hierarchy", town, "zip", "-o", folder / "zip.csv")
    assert run(*words).code == 0
    refuse(*words, code=2, says="it exists")


def test_a_refusal_of_a_column_stands_below_the_table_in_one_line(run, folder):
    path = folder / "t.csv"
    path.write_text("age,zip\n" + "".join(f"{i},{i % 3}\n" for i in range(40)) + "x,1\n", "utf-8")
    lines = run("inspect", path).out.splitlines()

    said = "Warning: a release will refuse this table. Column 'age', row 41: nearly all values are numbers"
    assert any(line.startswith(said) for line in lines)
    assert any("see below" in line for line in lines)


def test_numbers_with_an_n_for_those_who_were_not_asked_become_sets_and_the_plan_works(run, folder):
    rows = range(600)
    columns = {
        "AGEP": [row * 7 % 90 for row in rows],
        "SEX": [1 + row % 2 for row in rows],
        "EDU": ["N" if row % 13 == 0 else 1 + row % 12 for row in rows],
    }
    path, plan = folder / "ma.csv", folder / "kech.toml"
    pd.DataFrame(columns).to_csv(path, index=False)
    shown = run("inspect", path, "--plan", plan).out
    assert "'EDU': Nearly all its values are numbers or dates, and a few are not: --axis EDU=set makes sets" in shown
    assert kech.read_request(plan).axes["EDU"].kind == "set"
    assert run("release", path, "--plan", plan, "--k", 5, "-o", folder / "safe.csv").code == 0
    kech.check_certificate(folder / "safe.csv")


def test_the_time_that_is_left_follows_from_the_share_that_is_done():
    clock = iter([0.0, 10.0, 30.0, 31.0, 31.0, 531.0]).__next__
    left = estimate(clock)

    assert left(0.25) == ", about 30 s left"
    assert left(0.75) == ", about 10 s left"
    assert left(0.0) == ""  # other work begins
    assert left(0.5) == ", about 8 min left"


def test_without_a_share_nothing_is_said_of_time():
    clock = iter(range(0, 100, 10)).__next__
    left = estimate(clock)

    assert left(None) == ""


def test_shares_of_pieces_are_shares_of_the_whole():
    heard = []
    with listen(lambda what, share: heard.append((what, share))):
        report("before", 0.5)
        for done in range(2):
            with scale_progress(done, 2):
                report("piece")
                with scale_progress(1, 2):
                    report("half of it", 0.5)
    assert heard == [("before", 0.5), ("piece", None), ("half of it", 0.375), ("piece", None), ("half of it", 0.875)]


def test_a_name_that_is_no_file_is_not_proposed_again(tmp_path):
    (tmp_path / "plan.toml").mkdir()
    (tmp_path / "plan.tom").touch()
    assert str(NoSuchFile(tmp_path / "plan.toml")).endswith(f"Did you mean {str(tmp_path / 'plan.tom')!r}?")
    (tmp_path / "plan.tom").unlink()
    assert "mean" not in str(NoSuchFile(tmp_path / "plan.toml"))


SENTENCES = st.text("abcdefgh-_ ", min_size=1, max_size=40).map(lambda text: " ".join(text.split()) or "x")


@given(st.lists(st.lists(SENTENCES, min_size=4, max_size=4), min_size=1, max_size=4), st.integers(45, 90))
def test_a_table_breaks_no_word_and_fits_its_screen(rows, width):
    table = grid("name~", "count>", "why~", "others without it>~")
    for row in rows:
        table.add_row(*row)
    shown = StringIO()
    Console(file=shown, width=width).print(table)
    assert max(map(len, shown.getvalue().splitlines())) <= width
    words = shown.getvalue().split()
    assert all(word in words for row in rows for cell in row for word in cell.split())


@pytest.fixture
def crew(folder):
    """Hundred people: fares and lab values of their own, an outcome that follows from the ticket class."""
    rows = [{"sex": 1 + i % 2, "pclass": 1 + i % 3 // 2, "fare": 7 + i / 8, "hba1c": 4 + i / 50} for i in range(100)]
    people = pa.Table.from_pylist([row | {"survived": int(row["pclass"] == 1)} for row in rows])
    pc.write_csv(people, folder / "crew.csv")
    return folder / "crew.csv"


def test_a_value_that_points_at_its_row_is_told_before_the_release(crew):
    with kech.read_table(crew) as table:
        columns = {column.column: column for column in kech.inspect_table(table).columns}
    assert columns["fare"].role == "quasi-identifier" and "its own amount" in columns["fare"].reason
    assert columns["hba1c"].role == "sensitive" and "Most of its values occur in one row only" in columns["hba1c"].hint
    assert columns["survived"].hint is None


def test_inspect_foresees_what_a_release_gives_away(run, crew, folder):
    plan = folder / "kech.toml"
    said = " ".join(run("inspect", crew, "--plan", plan).out.split())
    with kech.read_table(crew) as table:
        (share,) = kech.inspect_table(table).given_away.values()
    released = run("release", crew, "--plan", plan, "-o", folder / "safe.csv", "--json").json
    assert share == pytest.approx(released["given_away"]["survived"], abs=0.2) and share > 0.5
    assert "survived value given away" in said and "--l 2 prevents it: write l = 2 below [goal]" in said
    mended = run("release", crew, "--plan", plan, "-o", folder / "safe.csv", "--l", 2, "--replace", "--json").json
    assert mended["given_away"] == {}
    words = ("release", crew, "--plan", plan, "-o", folder / "aside.csv", "--no-ledger")
    assert "run the command again with --l 2." in run(*words).out
    assert run(*words, "--l", 2).code == 0


def test_inspect_shows_the_kind_that_its_plan_has(run, crew, folder):
    found = run("inspect", crew, "--plan", folder / "kech.toml", "--json").json["columns"]
    kinds = kech.read_request(folder / "kech.toml").axes
    words = {"set": "sets of values", "number": "intervals of round numbers"}
    shown = {column["column"]: column["generalized"] for column in found if column["generalized"]}
    assert shown == {name: words[axis.kind] for name, axis in kinds.items()} and shown["sex"] == words["set"]


def test_a_wide_preview_is_short_until_rows_are_asked_for(run, folder):
    wide = pa.table({f"column_with_a_long_name_{i}": [i, 1, 2, 3] * 10 for i in range(9)})
    pc.write_csv(wide, folder / "wide.csv")
    words = ("preview", folder / "wide.csv", "--qi", *wide.column_names, "--k", 5)
    short = run(*words).out
    assert len(short.splitlines()) < 30 and "--rows 2 lists two of them" in short
    assert run(*words, "--rows", 2).out.count("column_with_a_long_name_8: ") == 4


def test_a_column_without_a_name_can_be_read(run, folder):
    path, plan = folder / "export.csv", folder / "kech.toml"
    path.write_text("age;Datum;Datum;\n" + "".join(f"{20 + row % 9};{row % 3};{row % 2};\n" for row in range(60)))
    refused = run("inspect", path)
    assert (refused.code, "column 4 has no name. Name it, or say --rename-duplicates." in refused.err) == (3, True)
    found = run("inspect", path, "--rename-duplicates", "--plan", plan, "--json").json
    assert [column["column"] for column in found["columns"]] == ["age", "Datum", "Datum_2", "column_4"]
    assert run("release", path, "--plan", plan, "--k", 3, "-o", folder / "safe.csv").code == 0


@pytest.mark.parametrize(("title", "encoding"), [("Auswertung 2025, Süd;;;\n", "cp1252"), ("Auswertung\n\n", "utf-8")])
def test_a_title_above_the_names_is_told_and_can_be_passed_over(run, folder, title, encoding):
    path, plan, line = folder / "klinik.csv", folder / "kech.toml", title.count("\n") + 1
    rows = "".join(f"{row};{20 + row % 9};{'mw'[row % 2]};{row % 3},5\n" for row in range(60))
    path.write_bytes(f"{title}Fall-Nr.;Alter;Geschlecht;Größe\n{rows}".encode(encoding))
    refused = run("inspect", path, "--encoding", encoding)
    assert (refused.code, f"Say so: --header-line {line}." in refused.err) == (3, True)
    words = ("--encoding", encoding, "--header-line", line, "--plan", plan, "--json")
    found = run("inspect", path, *words).json
    assert [column["column"] for column in found["columns"]] == ["Fall-Nr.", "Alter", "Geschlecht", "Größe"]
    assert found["rows"] == 60
    assert run("release", path, "--plan", plan, "--k", 3, "-o", folder / "safe.csv", "--no-ledger").code == 0
    path.write_bytes(path.read_bytes() + b"1;2\n")
    assert f"line {line + 61}" in run("inspect", path, "--encoding", encoding, "--header-line", line).err


def test_a_title_above_names_that_repeat_is_not_sought_among_decimal_commas(run, folder):
    rows = "".join(f"P{row};{20 + row % 9};Ulm;{row},5;Werk {row % 3};{row % 7},2\n" for row in range(60))
    path = folder / "personal.csv"
    path.write_text(f"Gehälter 2025;;;;;\nNr;Alter;Ort;Gehalt;Ort;Stunden\n{rows}", "utf-8")

    assert "line 2 seems to name the columns. Say so: --header-line 2." in run("inspect", path).err
    refused = run("inspect", path, "--header-line", 2).err
    assert "the names of columns 3, 5 are not distinct" in refused and "--rename-duplicates" in refused


@pytest.mark.parametrize("title", ["Ward 3, exported 2024-01-05", "Survey,Ward 3,,", "Patients, ward 3, spring, 2024"])
def test_a_title_with_commas_is_told(run, folder, title):
    path = folder / "ward.csv"
    rows = "".join(f"{20 + row % 50},{'fm'[row % 2]},{10100 + row % 9},{'abc'[row % 3]}\n" for row in range(60))
    path.write_text(f"{title}\nage,sex,zip,diagnosis\n{rows}", "utf-8")
    refused = run("inspect", path)
    assert (refused.code, "line 2 seems to name the columns. Say so: --header-line 2." in refused.err) == (3, True)
    assert run("inspect", path, "--header-line", 2, "--json").json["rows"] == 60


@pytest.mark.parametrize("first", ["List, of, ward\nage,sex,zip,diagnosis\n", "age,sex,zip\n"])
def test_a_header_that_is_narrower_by_one_may_be_a_title_or_lack_the_name_of_row_names(run, folder, first):
    path = folder / "ward.csv"
    path.write_text(first + "30,f,10101,a\n31,m,10102,b\n" * 9, "utf-8")
    says = (
        "line 2: it has 4 fields, the header 3. Correct the header or the row, or name the delimiter (--delimiter) or "
    )
    assert f"{says}the line that names the columns (--header-line)." in run("inspect", path).err
    path.write_text("age,sex,zip\n" + "30,f,10101\n" * 9 + "30,f\n", "utf-8")
    assert "--header-line" not in run("inspect", path).err


@pytest.mark.parametrize(
    "text",
    [
        "age,weight,height\nyears,kg,cm\n30,70,180\n31,80,190\n",  # a row of units
        "name,town,,\nAnna,Ulm,x,y\nEva,Bonn,z,w\n",  # two columns without a name
        "country,2019,2020\nMali,3,4\nPeru,5,6\n",  # years
        ",age,sex\na,20,f\nb,30,m\n",  # an index without a name
        "a,b,c\n,,\nx,y,z\n",  # the first row is empty
        "note\nhello, you\nwell, then\n",
        "id,codes\na,x;y;z\nb,x;y;w\n",  # another sign in the cells
        "1979,f,3\n1980,m,4\n",
        "a;;\n1;2;3\n",  # numbers name no columns
    ],
)
def test_what_is_no_title_is_not_taken_for_one(run, folder, text):
    (folder / "t.csv").write_text(text)
    assert "begins with a title" not in run("inspect", folder / "t.csv").err


def test_one_column_is_spoken_of_as_one(run, folder):
    rows = range(200)
    flags = {name: [int(row < 3) for row in rows] for name in ("stroke", "asthma", "diabetes", "death")}
    columns = {"age": [20 + row % 40 for row in rows], "glucose": [100 + row / 7 for row in rows], **flags}
    pd.DataFrame(columns).to_csv(folder / "ill.csv", index=False)
    shown = run(
        "release",
        folder / "ill.csv",
        "--qi",
        "age",
        "--sensitive",
        ",".join(list(columns)[1:]),
        "--k",
        5,
        "-o",
        folder / "safe.csv",
    )
    assert "in 1 other column: " in shown.out + shown.err
    assert (
        "glucose: published as it is, and most of its values occur in one row only: leave it out"
        in shown.out + shown.err
    )


def write_people(path, odd=None, column=0):
    """Ages, amounts and states of people, one cell of which is odd: in row 7, or none."""
    rows = [[str(18 + row * 7 % 50), f"{900 + row * 37.25:.2f}", "abc"[row % 3]] for row in range(200)]
    if odd is not None:
        rows[6][column] = odd
    path.write_text("age,charges (EUR),state\n" + "".join(f"{','.join(row)}\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize(("odd", "column"), [("3o", "age"), ("about 900", "charges (EUR)")])
def test_inspect_says_which_cell_a_release_will_refuse_and_so_does_the_plan(run, folder, odd, column):
    path, plan = write_people(folder / "people.csv", odd, ["age", "charges (EUR)"].index(column)), folder / "kech.toml"
    shown = run("inspect", path, "--plan", plan).out
    refused = run("release", path, "--plan", plan, "-o", folder / "safe.csv")
    assert refused.code == 3
    reason = refused.err.partition("kech: ")[2].strip()
    assert reason.startswith(f"Column {column!r}, row 7: ")
    assert f"--axis {quote(column)}=set." in reason
    assert f"Warning: a release will refuse this table. {reason}" in shown
    assert f"# A release will refuse the table, until this is mended. {reason}" in plan.read_text("utf-8")
    assert odd not in shown + plan.read_text("utf-8")
    assert "# In this plan, texts that mean missing are null_values below [input]; kind" in plan.read_text("utf-8")
    changes = ({"null_values": [odd]}, {"axes": {column: kech.AxisChoice(kind="set")}})
    for number, change in enumerate(changes):
        kech.write_request(kech.read_request(plan).override(**change), folder / f"{number}.toml")
    ways = (
        ["--null-values", odd],
        ["--axis", f"{column}=set"],
        ["--plan", folder / "0.toml"],
        ["--plan", folder / "1.toml"],
    )
    for number, way in enumerate(ways):
        words = [*([] if "--plan" in way else ["--plan", plan]), *way, "-o", folder / f"{number}.csv", "--no-ledger"]
        assert run("release", path, *words).code == 0


def test_a_table_that_a_release_reads_raises_no_such_warning(run, folder):
    path, plan = write_people(folder / "people.csv"), folder / "kech.toml"
    assert "refuse" not in run("inspect", path, "--plan", plan).out + plan.read_text("utf-8")


@pytest.mark.parametrize("amount", ["{:.2f}", "${:,.2f}", "{:.2f}\N{NO-BREAK SPACE}\N{EURO SIGN}"])
def test_amounts_of_ones_own_are_never_published_as_they_are(amount):
    amounts = [amount.format(900 + row * 37.25) for row in range(200)]
    for odd in ([], ["?!"]):
        table = pa.table({"charges": [*amounts, *odd], "age": [row % 50 for row in range(200 + len(odd))]})
        with kech.read_table(table) as read:
            roles = {column.column: column.role for column in kech.inspect_table(read).columns}
        assert roles["charges"] in ("quasi-identifier", "identifier")


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_row_numbers_of_pandas_and_r_are_read_and_not_published(run, folder, ending, name):
    frame = pd.DataFrame({"age": [20 + row % 9 for row in range(60)], "state": ["ab"[row % 2] for row in range(60)]})
    path, plan = folder / f"export.{ending}", folder / "kech.toml"
    writer = frame.to_csv if ending == "csv" else frame.to_excel
    writer(path, index_label=name or None)
    found = run("inspect", path, "--plan", plan, "--json").json["columns"][0]
    assert (found["column"], found["role"]) == (name or "column_1", "identifier")
    assert run("release", path, "--plan", plan, "--k", 3, "-o", folder / "safe.csv").code == 0
    assert [*pd.read_csv(folder / "safe.csv").columns] == ["age", "state"]


def test_a_column_of_row_names_takes_no_name_that_another_has(run, folder):
    (folder / "t.csv").write_text('"","column_1"\n' + "".join(f'"{row}",{row % 3}\n' for row in range(30)), "utf-8")
    refused = run("inspect", folder / "t.csv")
    assert (refused.code, "the names of columns 1, 2 are not distinct" in refused.err) == (3, True)


def test_only_columns_that_follow_are_told_what_they_follow_from(run, folder):
    path = write_people(folder / "people.csv")
    assert "follows from" not in run("inspect", path, "--qi", "age", "charges (EUR)", "state").out
    rows = "".join(f"{20 + row % 40},{'young' if row % 40 < 20 else 'old'},{'abc'[row % 3]}\n" for row in range(200))
    (folder / "groups.csv").write_text("age,group,state\n" + rows, "utf-8")
    assert "follows from" in run("inspect", folder / "groups.csv", "--qi", "age", "group", "state").out


def test_row_numbers_beside_numbered_columns_are_read(run, folder):
    frame = pd.DataFrame([[row % 4, row % 5, row % 3] for row in range(60)])
    frame.to_csv(folder / "t.csv")
    found = run("inspect", folder / "t.csv", "--json").json["columns"]
    assert [column["column"] for column in found] == ["column_1", "0", "1", "2"]


def test_inspect_foresees_sets_that_tell_nothing(run, folder):
    """Cabins of a ship: the release says it of the same columns, when it is made already."""
    rows = range(200)
    cabins = [f"{'ABCDE'[row % 5]}{row}" if row % 4 == 0 else None for row in rows]
    columns = {"age": [20 + row % 40 for row in rows], "cabin": cabins, "town": ["abc"[row % 3] for row in rows]}
    path, plan = folder / "ship.csv", folder / "kech.toml"
    pd.DataFrame(columns).to_csv(path, index=False)
    said = "Nearly all its texts occur in one row only, so labels hardly tell anything. Give it a hierarchy, or leave "
    said += "it out."
    hints = {
        column["column"]: column["hint"] for column in run("inspect", path, "--plan", plan, "--json").json["columns"]
    }
    assert hints == {"age": None, "cabin": said, "town": None}
    released = run("release", path, "--plan", plan, "--k", 5, "-o", folder / "safe.csv", "--json").json
    assert released["rare_texts"] == ["cabin"]
    again = run("release", path, "--plan", plan, "--k", 5, "-o", folder / "again.csv", "--no-ledger").out
    assert again.count("Warning: cabin: ") == 1, again


@pytest.mark.parametrize("shared", [0, 3])
def test_inspect_foresees_columns_that_link_the_rows_of_a_person(run, folder, shared):
    """A plan that makes a column the person was released with a warning that `inspect` had not given.

    A few of the hundred people may have one time by chance.
    """
    people = [row // 4 for row in range(400)]
    times = [400 + 7 * max(person, shared) for person in people]
    columns = {"id": people, "futime": times, "age": [30 + p % 40 for p in people]}
    columns["bili"] = [row * 37 % 367 for row in range(400)]  # nearly all differ: it links nothing
    columns |= {"sex": ["fm"[person % 2] for person in people], "hepato": [row % 3 % 2 for row in range(400)]}
    path, plan = folder / "visits.csv", folder / "kech.toml"
    pd.DataFrame(columns).to_csv(path, index=False)
    said = (
        "Column 'futime' is published, and nearly all its values are of one person each: it tells which rows belong to"
    )
    shown = run("inspect", path, "--plan", plan).out
    assert f"Warning: {said}" in shown and "Column 'bili'" not in shown
    assert said in run("release", path, "--plan", plan, "--k", 3, "-o", folder / "safe.csv").err
    assert said not in run("inspect", path, "--rows-are-people").out


def test_inspect_says_why_it_compares_no_columns(run, folder, monkeypatch):
    rows = range(60)
    pd.DataFrame({f"age_{j}": [row * (j + 1) % 50 for row in rows] for j in range(31)}).to_csv(folder / "wide.csv")
    assert "is compared for 30 of them at most. Name fewer (--qi)" in run("inspect", folder / "wide.csv").out
    few = write_people(folder / "people.csv")
    assert "is not compared" not in run("inspect", few).out
    for module in ("audit.inspection", "release.sentences"):
        monkeypatch.setattr(f"kech.{module}.MOST_PRICED", 199)
    assert "is not compared for more than 199 rows: kech preview does." in run("inspect", few).out


def test_an_option_of_the_command_line_leads_to_the_argument_of_python():
    with pytest.raises(kech.errors.BadOption) as refusal:
        kech.make_release(pd.DataFrame({"age": [20, 30]}), k=2, qi=["age"])
    assert str(refusal.value) == "qi: a request has no such field. Did you mean 'quasi_identifiers'?"


@pytest.mark.parametrize(
    ("ending", "says"),
    [
        ("Summe,,,,\n", "row 41 has at most one value, in 5 columns. A sum or a blank line is nobody"),
        (",,,,12\n,,,,\n", "2 rows have at most one value, in 5 columns; the last is row 42."),
        ("Ann,,,3,\n", None),
    ],
)
def test_sums_and_blank_lines_are_told_before_they_count_for_k(run, folder, ending, says):
    """A file of Excel ends in a row of sums: it became a person, and widened the labels of four others."""
    rows = "".join(f"A{i},{20 + i % 9},{'mf'[i % 2]},{i % 5},{i % 3}\n" for i in range(40))
    (folder / "sums.csv").write_text(f"nr,age,sex,days,children\n{rows}{ending}")
    shown = run("inspect", folder / "sums.csv").out
    assert (says in shown) if says else ("at most one value" not in shown)
    assert "Summe" not in shown
    with kech.read_table(folder / "sums.csv") as table:
        assert ("at most one value" in kech.inspect_table(table)._repr_html_()) == bool(says)
    (folder / "narrow.csv").write_text(f"age,sex\n{'20,m,' * 3}")


def test_a_hint_that_holds_for_several_columns_is_told_once(run, folder):
    names = ("black", "asian", "hispanic kind")
    rows = "".join(f"{20 + i % 50},{i % 2},{i // 2 % 2},{i // 3 % 2}\n" for i in range(200))
    (folder / "codes.csv").write_text(f"age,{','.join(names)}\n{rows}")
    run("inspect", folder / "codes.csv", "--plan", folder / "codes.toml")
    shown = run("inspect", folder / "codes.csv").out
    said = "Its numbers seem to be codes without an order: --axis black=set makes sets of them."
    assert f"'black': {said} The same holds for 'asian', 'hispanic kind'." in shown
    assert shown.count("seem to be codes") == 1
    assert (folder / "codes.toml").read_text().count('kind = "set"') == 3
