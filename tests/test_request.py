"""A request: each field is defined once, checked once, written to a plan and read back."""

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from kech import AxisChoice, Request, read_request, write_request
from kech.errors import BadOption, BadPlan, ColumnInTwoRoles
from kech.request import reference
from kech.tables.demo import nine_rows

VALUES = {  # of each field some that differ from the default
    "quasi_identifiers": [("age", "zip")],
    "sensitive": [("diagnosis",)],
    "identifiers": [("name",)],
    "person": [("patient",), ("born", "street")],
    "keep": [("ward", "a,b")],
    "rows_are_people": [True],
    "hierarchies": ["trees"],
    "axes": [{"zip": AxisChoice(kind="hierarchy")}, {"size": AxisChoice(kind="ordered", order=("S", "M"))}],
    "k": [1, 5],
    "l": [2, 3],
    "t": [0.25],
    "t_kind": ["ordered"],
    "alpha": [0.5],
    "cut": ["domain", "regime"],
    "suppress": [0.02],
    "weights": [{"age": 3.0}],
    "target": ["diagnosis"],
    "effort": ["best", 1.5],
    "seed": [7],
    "grid": ["exact", 5, 0.5],
    "labels": ["dash"],
    "key_file": ["team.key"],
    "null_values": [("NA", "?")],
    "delimiter": [";"],
    "encoding": ["latin-1"],
    "sheet": ["Patients"],
    "header_line": [3],
    "decimal": [","],
    "dates": ["dmy"],
    "fold_variants": [True],
    "rename_duplicates": [True],
    "memory": ["2GB"],
    "threads": [2],
    "engine": ["duckdb"],
    "master": ["local[2]"],
    "max_points": [1000],
    "key": [("visit",), ("clinic", "visit")],
    "wait": [0.1],
    "gather": [500],
    "most_changed": [0.2],
    "departures": ["withdraw"],
    "corrections": ["withdraw"],
}
TIED = {
    "l_kind",
    "c",
    "objective",
    "metric",
    "reading",
    "field",
    "eps",
    "protect",
    "protect_history",
    "dp_epsilon",
    "dp_delta",
    "dp_rate",
    "dp_search",
    "levels",
    "gap",
}  # say something only beside others
WRONG = {
    "rows_are_people": ["yes", 1],
    "k": [0, -3, 2.5, "many"],
    "l": [0.5, float("nan"), float("inf")],
    "l_kind": ["other"],
    "t": [-0.1, 1.1],
    "t_kind": ["other"],
    "alpha": [0, 1.5],
    "protect_history": ["yes", 1],
    "dp_epsilon": [0, 11, float("nan")],
    "dp_delta": [0, 1, float("nan")],
    "dp_rate": [0, 1, 0.0001],
    "dp_search": [0, 10, float("nan")],
    "levels": [{"age": -1}, {"age": 1.5}, {"age": "high"}],
    "cut": ["global"],
    "objective": ["entropy"],
    "metric": ["cube"],
    "reading": ["loud"],
    "eps": [-1.0, float("nan")],
    "suppress": [-0.1, 1.0],
    "weights": [{"age": 0}, {"age": -1.0}, {"age": "heavy"}],
    "effort": ["lazy", -1.0],
    "gap": [1.0, -0.1],
    "seed": [-1, 2**63],
    "grid": ["auto", "loose", "tight", 0, -1, "inf"],
    "protect": ["auto", "tight"],
    "labels": ["words"],
    "decimal": [";"],
    "dates": ["ydm"],
    "encoding": ["klingon", "base64", ""],
    "sheet": [""],
    "header_line": [0, -1, 1.5],
    "delimiter": ["ab", '"', "\n", "é", ""],
    "field": [-3, 0, 1, 4, 9, 91, 121, 131, 2**61 - 1],
    "memory": ["much", "5", "99999999TB"],
    "engine": ["mysql", ""],
    "master": ["", "local[", "two words"],
    "threads": [0, 1000],
    "max_points": [0],
    "wait": [-0.1, 1.0],
    "gather": [-1, 0.5],
    "most_changed": [-0.1, 1.5],
    "departures": ["keep"],
    "corrections": ["hold"],
}


def is_accepted(said):
    """Whether nothing was said together that is refused together."""
    people = "person" in said and "rows_are_people" in said
    return not people


def drop_refused(said):
    """The same values, but for the first of two that are refused together."""
    return {name: value for name, value in said.items() if is_accepted(said) or name != "person"}


sayings = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()})
requests = sayings.map(drop_refused)


PARTS = {  # fields of every section of a plan
    part: getattr(Request(), part).__struct_fields__ for part in Request.__struct_fields__ if part != "axes"
}


def option_of(name):
    """How a field is typed."""
    return {"quasi_identifiers": "--qi", "axes": "--axis", "target": "--for"}.get(name, f"--{name.replace('_', '-')}")


def test_the_values_above_are_of_every_field():
    assert {*VALUES, *TIED} == {"axes"}.union(*PARTS.values())


@given(requests)
def test_a_request_is_written_to_a_plan_and_read_back(tmp_path_factory, said):
    folder = tmp_path_factory.mktemp("plans")
    paths = {name: str(folder / said[name]) for name in ("hierarchies", "key_file") if name in said}
    request = Request().override(**said | paths)
    (folder / "kech.toml").unlink(missing_ok=True)
    write_request(request, folder / "kech.toml", "a note")
    assert read_request(folder / "kech.toml") == request
    assert {name: request.value(name) for name in said} == said | paths


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_value_is_refused_by_the_option_wherever_it_is_said(name, value, tmp_path):
    with pytest.raises(BadOption) as refusal:
        Request().override(**{name: value})
    assert refusal.value.typed.startswith(f"{option_of(name)}: ")
    (part,) = (part for part, names in PARTS.items() if name in names)
    (tmp_path / "kech.toml").write_text(f"[{part}]\n{name} = {msgspec.json.encode(value).decode()}\n")
    with pytest.raises(BadPlan):
        read_request(tmp_path / "kech.toml")


def test_unknown_words_are_refused(tmp_path):
    with pytest.raises(BadOption, match="Did you mean 'sensitive'"):
        Request().override(sensitiv=["a"])
    for text in ("[goal]\nkk = 5\n", "[gaol]\nk = 5\n", "goal = 5\n", "axes = 5\n", "release = 5\n", "k ="):
        (tmp_path / "kech.toml").write_text(text)
        with pytest.raises(BadPlan):
            read_request(tmp_path / "kech.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[goal]\nk == 5\n", "line 2, column 4: it is not TOML. Write fields as NAME = VALUE"),
        ('[goal]\nk = "CANARY\n', "it is not TOML."),
        ("[goal]\nk = 5\nk = 6\n", "line 3, column 6: a field or section is written twice."),
        ("[goal]\nk = 5\n[goal]\n", "a field or section is written twice."),
        ("[columns]\nkeep = 3\n", "keep in [columns]: kech cannot use this value. Write a list of names, each a text."),
        ('[goal]\nk = 2\nl_kind = "entropy"\n', "l_kind in [goal]: it says how l counts values. Add l=3,"),
        ('[axes.age]\nkind = "odd"\n', "axes: column 'age', kind: kech cannot use this value. Choose among number,"),
        ('[columns]\nkeep = ["\xff"]\n', "it is not UTF-8. Save it as UTF-8."),
    ],
)
def test_a_fault_of_a_plan_is_told_in_its_own_words(tmp_path, text, says):
    (tmp_path / "kech.toml").write_text(text, "latin-1")
    with pytest.raises(BadPlan) as refusal:
        read_request(tmp_path / "kech.toml")
    assert says in str(refusal.value)
    assert "--" not in refusal.value.typed
    assert "CANARY" not in str(refusal.value)


def test_what_is_said_later_counts_and_drops_what_belonged_to_the_earlier():
    first = Request().override(cut="regime", reading="homological", field=3, k=4, l=2, l_kind="recursive", c=2.0)
    assert first.override(k=5).goal.k == 5
    assert first.override(cut="local").cut.reading == "strict"
    assert first.override(cut="regime").cut.field == 3
    assert (first.override(eps=0.1).goal.k, first.override(eps=0.1, k=3).goal.k) == (None, 3)
    assert first.override(eps=0.1).override(k=3).cut.eps is None
    assert (first.override(l=3).goal.l_kind, first.override(l=3).goal.c) == ("distinct", None)
    assert first.override(k=None) == first


def test_fields_that_need_each_other():
    for said in (
        {"protect_history": True, "cut": "domain"},
        {"eps": 0.1},
        {"l_kind": "entropy"},
        {"l": 2, "l_kind": "recursive"},
        {"c": 2},
        {"l": 2.5},
        {"grid": 5, "protect": "ends"},
        {"person": "patient", "rows_are_people": True},
    ):
        with pytest.raises(BadOption):
            Request().override(**said)
    with pytest.raises(ColumnInTwoRoles):
        Request().override(keep="age", sensitive="age")
    for axes in ({"age": "numeric"}, {"size": "ordered"}, {"size": AxisChoice(kind="set", order=("S",))}):
        with pytest.raises(BadOption, match=f"column '{next(iter(axes))}'"):
            Request().override(axes=axes)


def test_grid_and_protection_of_one_column():
    labels = Request().override(protect="ends").labels
    assert labels.for_axis(AxisChoice()) == ("round", "ends")
    assert labels.for_axis(AxisChoice(protect="none")) == ("round", "none")
    assert labels.for_axis(AxisChoice(grid=5)) == (5, "none")
    exact = Request().override(grid="exact").labels
    assert exact.for_axis(AxisChoice()) == ("exact", "none")
    assert exact.for_axis(AxisChoice(grid="round")) == ("round", "full")


def test_an_old_plan_is_refused_with_the_new_words(tmp_path):
    old = """
        hierarchies = "trees"
        [table]
        delimiter = ";"
        [roles]
        quasi_identifiers = ["age"]
        [axes.age]
        kind = "numeric"
        grid = "tight"
        [axes.zip]
        kind = "categorical"
        [reading]
        decimal = ","
        [release]
        k = 5
        cut = "domain"
        grid = "loose"
        labels = "dash"
        max_points = 10
    """
    (tmp_path / "kech.toml").write_text(old, "utf-8")
    with pytest.raises(BadPlan) as refusal:
        read_request(tmp_path / "kech.toml")
    for now in (
        "[table] is now [input]",
        "[reading] is now [input]",
        "[roles] is now [columns]",
        "hierarchies is now hierarchies in [columns]",
        "k in [release] is now k in [goal]",
        "cut in [release] is now cut in [cut]",
        "labels in [release] is now labels in [labels]",
        "max_points in [release] is now max_points in [limits]",
        'grid = "loose" is now grid = "round" with protect = "ends"',
        'grid = "tight" is now grid = "round" with protect = "none"',
        'kind = "numeric" is now kind = "number"',
        'kind = "categorical" is now kind = "set"',
    ):
        assert now in refusal.value.typed


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ('[labels]\ngrid = "loose"\n', 'grid = "loose" is now grid = "round" with protect = "ends"'),
        ('[labels]\nlabels = "brackets"\n', 'labels = "brackets" is now labels = "text"'),
        ('[release]\nlabels = "brackets"\n', 'labels = "brackets" is now labels = "text"'),
        ('labels = "brackets"\n', 'labels = "brackets" is now labels = "text"'),
        ("k = 3\n", "k: it is a field of the section goal. Write it below [goal]."),
        ('l_kind = "entropy"\n', "l_kind: it is a field of the section goal. Write it below [goal]."),
    ],
)
def test_a_plan_that_is_half_old_is_refused_with_the_new_words(tmp_path, text, now):
    (tmp_path / "kech.toml").write_text(text, "utf-8")
    with pytest.raises(BadPlan) as refusal:
        read_request(tmp_path / "kech.toml")
    assert now in str(refusal.value)


def test_an_old_grid_is_refused_with_the_new_words():
    with pytest.raises(BadOption) as refusal:
        Request().override(grid="loose")
    assert refusal.value.typed == "--grid: loose is a word of an earlier version. Write --grid round --protect ends."


def test_every_field_is_explained():
    """In the section of its name: the word of the plan, the option, the default, an example and what it does."""
    _, *sections = reference.render_reference().split("### ")
    shown = {section.partition("\n")[0].strip("`[]"): section for section in sections}
    assert {*shown} == {*PARTS, "axes.NAME"}
    for part, names in PARTS.items():
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in shown[part].splitlines()[4:] if line]
        assert [row[0].strip(" `") for row in rows] == [*names]
        for name, (_, option, default, example, told) in zip(names, rows, strict=True):
            said = getattr(getattr(Request(), part), name)
            assert option.strip() == f"`{option_of(name)}`"
            written = str(said).lower() if isinstance(said, bool) else said
            assert default.strip() == ("" if said in (None, ()) else f"`{written}`")
            assert len(example.strip(" `")) > 0 and len(told.strip()) > 10


def test_a_grid_that_is_typed_drops_the_protection_of_a_plan():
    planned = Request().override(grid="round", protect="full")

    assert planned.override(grid="exact").labels == Request().override(grid="exact").labels
    assert planned.override(k=5).labels == planned.labels


@pytest.mark.parametrize("k", [True, False, 0, 2.5, "5"])
def test_what_is_no_number_of_rows_is_no_k(k):
    with pytest.raises(BadOption):
        Request().override(k=k)


@pytest.mark.parametrize("other", ["kech.toml", {"k": 5}])
def test_a_file_or_a_dictionary_is_no_request(other):
    with (
        kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table,
        pytest.raises(BadOption, match="read_request"),
    ):
        kech.make_release(table, other)
    with pytest.raises(BadOption, match="read_request"):
        kech.read_table(nine_rows(), other)


@pytest.mark.parametrize("text", ["style = 'local'\n", "form = 'dash'\n"])
def test_the_plan_uses_the_words_of_the_keywords(tmp_path, text):
    section, now = ("cut", "cut") if "style" in text else ("labels", "labels")
    (tmp_path / "kech.toml").write_text(f"[{section}]\n{text}")
    with pytest.raises(BadPlan, match=rf"{text.split()[0]} in \[{section}\] is now {now}\."):
        read_request(tmp_path / "kech.toml")


def test_a_part_may_be_a_dictionary_of_its_fields():
    said = Request(goal={"k": 5}, columns={"quasi_identifiers": "age"}, axes={"age": {"kind": "number"}})
    assert said == Request().override(k=5, quasi_identifiers=["age"], axes={"age": "number"})
    for wrong, says in (
        ({"goal": {"kk": 5}}, r"\[goal\] has no such field. Did you mean 'k'"),
        ({"goal": {"k": "five"}}, "a number of rows or people, 1 or more"),
        ({"goal": 5}, "Write it as a section with the fields k, l"),
        ({"axes": ["age"]}, "Name the kind of each column"),
        ({"columns": {"keep": 5}}, "keep: "),
    ):
        with pytest.raises(BadOption, match=says):
            Request(**wrong)


@pytest.mark.parametrize("names", [5, [5]])
def test_names_of_columns_are_texts(names):
    with pytest.raises(BadOption, match="Write a list of names"):
        Request(columns={"keep": ["x"]}).override(keep=names)


def test_a_role_that_is_said_later_replaces_that_of_the_plan(run, tmp_path):
    planned = Request().override(quasi_identifiers=["age", "zip"], sensitive="salary", keep=["ward"])
    changed = planned.override(sensitive=["zip"], keep=["age"])
    assert changed.columns.roles() == {
        "quasi_identifiers": (), "sensitive": ("zip",), "person": (), "identifiers": (), "keep": ("age",)
    }  # fmt: skip
    assert planned.override(k=5).columns == planned.columns
    with pytest.raises(ColumnInTwoRoles):
        planned.override(sensitive=["zip"], keep=["zip"])
    plan, table = tmp_path / "kech.toml", tmp_path / "t.csv"
    write_request(Request().override(quasi_identifiers=["age", "zip"], k=2), plan)
    table.write_text("age,zip\n1,1\n1,2\n2,1\n2,2\n", "utf-8")
    released = run("release", table, "--plan", plan, "--keep", "zip", "-o", tmp_path / "safe.csv", "--no-ledger")
    assert released.code == 0, released.err
    assert json.loads((tmp_path / "safe.csv.certificate.json").read_bytes())["kept"] == ["zip"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: kech.make_release("a.csv", k=5),
        lambda: kech.compute_spectrum("a.csv", k=5),
        lambda: kech.compute_barcode("a.csv"),
        lambda: kech.compute_lattice("a.csv"),
        lambda: kech.compute_zigzag("a.csv", "rows"),
        lambda: kech.inspect_table("a.csv"),
        lambda: kech.review_hierarchy("a.csv", "zip"),
        lambda: kech.compare("a.csv", "b.csv"),
        lambda: kech.run_attacks("b.csv", "a.csv"),
        lambda: kech.make_report("b.csv", original="a.csv"),
    ],
)
def test_a_path_is_no_table(call):
    with pytest.raises(BadOption, match=r"it is a str, not a kech.Table. Read it first: kech.read_table"):
        call()


@pytest.mark.parametrize("given", [5, None, nine_rows()])
@pytest.mark.parametrize(
    "call",
    [
        kech.check_certificate,
        lambda given: kech.check_certificate("a.csv", given or 5),
        lambda given: kech.check_table(given, ["age"], 2),
        kech.compute_risk,
        lambda given: kech.compute_risk(given, quasi_identifiers=["age"]),
        kech.make_report,
        kech.open_series,
        kech.read_hierarchy,
        kech.read_request,
        kech.verify_release,
        kech.verify_series,
        kech.write_key_file,
        lambda given: write_request(Request(), given),
    ],
)
def test_a_table_or_a_number_is_no_path(call, given):
    with pytest.raises(BadOption, match=r"its type is \w+\. Give the path of a file or folder"):
        call(given)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Request(k=5), r"^k: it is a field of the section goal\. Write kech\.Request\(goal=\{'k': \.\.\.\}\)"),
        (lambda: Request(gaol={}), "^gaol: a request has no such section. Did you mean 'goal'"),
        (lambda: AxisChoice(knd="set"), "^knd: AxisChoice has no such field. Did you mean 'kind'"),
        (lambda: Request().override(weights=5), "^weights: "),
        (lambda: kech.publish_release(5, "folder", "a.csv"), "^release: its type is int. Make one first"),
        (lambda: write_request(5, "kech.toml"), "^request: its type is int, not a kech.Request"),
        (lambda: kech.compute_joint_risk("a.csv", ["b.csv"]), "^releases: a joint k is of two releases or more"),
        (lambda: kech.compute_lives(5), "^versions: its type is int. Give a series, or a list of versions"),
        (
            lambda: kech.compute_risk("a.csv", threshold="a"),
            "^threshold: kech cannot use this value. Give chances above 0 and at most 1",
        ),
    ],
)
def test_arguments_of_another_kind_are_refused_in_plain_words(call, says):
    with pytest.raises(BadOption, match=says):
        call()


def test_a_spectrum_takes_one_k_or_several():
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table:
        assert kech.compute_spectrum(table, k=3).rows() == kech.compute_spectrum(table, k=[3]).rows()
        for wrong in ("3", [3, "4"], 2.5, [0, 3]):
            with pytest.raises(BadOption, match="1 or more"):
                kech.compute_spectrum(table, k=wrong)


@pytest.mark.parametrize(
    ("command", "words", "says"),
    [
        ("release", ("--k", 2, "-o", "safe.csv", "--l-kind", "distinct"), "--l-kind: it says how l counts values."),
        (
            "release",
            ("--k", 2, "-o", "safe.csv", "--t-kind", "ordered"),
            "--t-kind: it says which distance t measures.",
        ),
        ("preview", ("--k", 2, "--l-kind", "entropy"), "--l-kind: it says how l counts values."),
        ("spectrum", ("--axis", "ward=set"), "--axis: column 'ward' is no quasi-identifier. Add it to --qi"),
        ("barcode", ("--axis", "ward=set"), "--axis: column 'ward' is no quasi-identifier."),
    ],
)
def test_no_option_is_passed_over(refuse, folder, command, words, says):
    (folder / "t.csv").write_text("age,ward\n1,1\n1,2\n2,1\n2,2\n", "utf-8")
    refuse(command, folder / "t.csv", "--qi", "age", *words, code=2, says=says)


def test_an_axis_is_of_the_column_whose_hierarchy_is_built(refuse, run, folder):
    (folder / "t.csv").write_text("age,ward\n1,1\n1,2\n2,1\n2,2\n", "utf-8")
    refuse("hierarchy", folder / "t.csv", "age", "--axis", "ward=set", code=2, says="column 'ward' is not 'age'.")
    assert run("hierarchy", folder / "t.csv", "age", "--axis", "age=number").code == 0


def test_a_spectrum_shows_t_of_a_kind_without_a_goal(run, folder):
    (folder / "t.csv").write_text("age,ill\n1,1\n1,2\n2,1\n2,3\n", "utf-8")
    assert run("spectrum", folder / "t.csv", "--qi", "age", "--sensitive", "ill", "--t-kind", "ordered").code == 0


@pytest.mark.parametrize("command", ["verify", "risk", "release"])
def test_every_example_of_a_command_stands_on_a_line_of_its_own(run, command):
    lines = [line.strip() for line in run(command, "--help").out.splitlines()]
    assert len([line for line in lines if line.startswith("Example: kech ")]) >= 2
    assert not [line for line in lines if line.count("Example:") > 1 or line.find("Example:") > 0]


@pytest.mark.parametrize("words", [("risk", "{0}", "--original", "{1}"), ("compare", "{0}", "--original", "{1}")])
def test_advice_names_the_plan_where_a_command_lacks_the_option(refuse, release, folder, words):
    (folder / "t.csv").write_text("age,ward\n1,1\n1,2\n2,1\n2,2\n", "utf-8")
    (folder / "other.csv").write_bytes(b"age,ward\n1,\xe9\n")
    release(folder / "t.csv", "--qi", "age", "--no-ledger")
    typed = [word.format(folder / "released.csv", folder / "other.csv") for word in words]
    says = f"`kech {words[0]}` reads --encoding from a plan: encoding in [input], --plan FILE."
    refuse(*typed, code=3, says=says)
    assert "from a plan" not in refuse("inspect", folder / "other.csv", code=3, says="--encoding latin-1")


def test_no_plan_is_advised_where_a_certificate_is_missing(refuse, folder):
    (folder / "bare.csv").write_text("age\n1\n1\n", "utf-8")
    for words in (("risk", folder / "bare.csv"), ("report", folder / "bare.csv", "-o", folder / "r.html")):
        assert "from a plan" not in refuse(*words, code=3, says="Name it: --certificate FILE.")


def test_a_column_that_was_not_published_is_said_to_be_so(refuse, release, folder):
    (folder / "t.csv").write_text("age,ward\n1,1\n1,2\n2,1\n2,2\n", "utf-8")
    release(folder / "t.csv", "--qi", "age", "--no-ledger")
    says = "The released file has no column 'ward'. It was not published, or has another name. Check the header line"
    refuse("verify", folder / "released.csv", "--qi", "ward", "--k", 2, code=2, says=says)
    refuse("risk", folder / "released.csv", "--qi", "ward", code=2, says=says)


# -- forms of the studio ---------------------------------------------------------------------------------------

PAGES = Path(kech.__file__).parent / "studio" / "pages"
TEXTS = (PAGES / "text.js").read_text("utf-8")
SCRIPTS = {
    path.name: path.read_text("utf-8") for path in PAGES.glob("*.js") if path.name not in ("text.js", "words.js")
}
OTHER_MEANINGS = {  # words that are a choice of a field and also name something else in a page
    *(
        "number",
        "date",
        "hierarchy",
        "ordered",
        "set",
        "text",
        "width",
    ),  # a type of a column, of an input or of a label; a verb
    *(
        "keep",
        "columns",
        "none",
        "exact",
        ".",
        ",",
        ";",
        "|",
        "\t",
    ),  # a role, a part of the plan, styles, marks of text
}


def lists_in(script):
    """The literals of every list in a script that holds only literals."""
    for inside in re.findall(r"\[([^][]*)\]", script):
        if re.fullmatch(r'\s*(("[^"]*"|[\d.]+)\s*,?\s*)+', inside):
            yield {json.loads(literal) for literal in re.findall(r'"[^"]*"|[\d.]+', inside)}


def test_no_page_spells_a_choice_a_default_or_a_limit_of_a_field():
    forms = reference.describe_forms()
    for name, field in forms["fields"].items():
        values = {*field["choices"], *field["offered"]}
        for page, script in SCRIPTS.items():
            words = {word for word in values - OTHER_MEANINGS if isinstance(word, str) and f'"{word}"' in script}
            assert not words, f"{page} spells {words} of {name}"
            few = max(1, (len(values) - 1) // 2 if field["offered"] else 1)  # round numbers have other uses too
            assert not [listed for listed in lists_in(script) if len(listed & values) > few], f"{page} lists {name}"
    for page, script in SCRIPTS.items():
        boxes = re.sub(r'.*input\("range".*', "", script)  # a slider counts positions
        assert page == "forms.js" or 'input("number"' not in boxes, f"{page} makes a number box itself"
        assert not re.search(r"\b(?:min|max|step): [\d.]", boxes), f"{page} limits a number itself"


WORDS_OF_CHOICES = {"l_kind": "l", "t_kind": "t", "axes.kind": "kind"}  # others have their own name


@pytest.mark.parametrize(
    "name", ["cut", "objective", "effort", "l_kind", "t_kind", "dates", "decimal", "encoding", "delimiter", "axes.kind"]
)
def test_forms_have_words_for_every_choice_in_both_languages(name):
    field = reference.describe_forms()["fields"][name]
    for value in (*field["choices"], *field["offered"]):
        key = json.dumps(f"{WORDS_OF_CHOICES.get(name, name)}:{value}")
        assert TEXTS.count(f"  {key}: ") == 2, value
    assert any(f'"{name}"' in script for script in SCRIPTS.values())


def test_forms_accept_what_a_request_accepts():
    """The ends of a number box are accepted, one step beyond them is refused."""
    for name, field in reference.FIELDS.items():
        if box := reference.describe_field(field)["numbers"]:
            for end, beyond in ((box["min"], -box["step"]), (box["max"], box["step"])):
                if end is not None:
                    field.check({"age": end} if field.by_column else end)
                    with pytest.raises(BadOption):
                        field.check({"age": end + beyond} if field.by_column else end + beyond)
        if field.choices:
            assert reference.describe_field(field)["default"] in field.choices, name


def test_the_help_of_a_field_names_every_choice_and_its_default():
    worded = {"decimal", "cut"}  # a point or a comma in words; the default of --cut is the first that is named
    for name, field in reference.FIELDS.items():
        assert name in worded or [word for word in field.choices if not re.search(rf"\b{word}\b", field.help)] == []
        usual = field.usual if field.default is None else field.default
        if field.choices and name not in worded:
            assert re.search(rf"\b{usual} \([^)]*default", field.help), name


def test_another_limit_in_a_request_is_told_to_forms(monkeypatch):
    field = reference.FIELDS["t"]
    narrow = replace(field, numbers=replace(field.numbers, most=0.5), choices=("any",))
    monkeypatch.setitem(reference.FIELDS, "t", narrow)

    told = reference.describe_forms()["fields"]["t"]
    assert (told["numbers"]["max"], told["choices"]) == (0.5, ("any",))
    with pytest.raises(BadOption, match=r"Choose among any, or write a distance from 0 to 0\.5\."):
        narrow.check(0.6)


def test_the_rules_of_every_choice_are_told_to_forms():
    forms = reference.describe_forms()
    assert [*forms["cuts"]] == [*forms["fields"]["cut"]["choices"]]
    for name, rules in forms["cuts"].items():
        assert rules["purpose"] in forms["fields"]["cut"]["help"]
        with nullcontext() if rules["by_components"] else pytest.raises(BadOption):
            Request().override(cut=name, eps=0.1)
        with nullcontext() if rules["keeps_histories"] else pytest.raises(BadOption):
            Request().override(cut=name, protect_history=True)
    set_goals = {"l": 2, "l_kind": "recursive", "c": 2, "t": 0.5, "t_kind": "ordered", "alpha": 0.5}
    found = Request().override(**set_goals).goal.sensitive_goals()
    assert {*found} == {*forms["sensitive_goals"]}
    for name, rules in forms["l_kinds"].items():
        factor = {"c": 2} if rules["needs_c"] else {}
        assert Request().override(l=3, l_kind=name, **factor).goal.l_kind == name
        with pytest.raises(BadOption) if rules["is_whole"] else nullcontext():
            Request().override(l=2.5, l_kind=name, **factor)
    for name, rules in forms["axis_kinds"].items():
        with pytest.raises(BadOption) if rules["needs_order"] else nullcontext():
            Request().override(axes={"size": name})
