"""A request: each field is defined once, checked once, written to a plan and read back."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from kech.errors import BadOption, BadPlan, ColumnInTwoRoles
from kech.request import FIELDS, PARTS, AxisChoice, Request, read_request, write_plan
from kech.request.reference import describe_fields, render_reference
from kech.tables.demo import nine_rows

VALUES = {  # of each field some that differ from the default
    "quasi_identifiers": [("age", "zip")],
    "sensitive": [("diagnosis",)],
    "identifiers": [("name",)],
    "keep": [("ward", "a,b")],
    "hierarchies": ["trees"],
    "axes": [{"zip": AxisChoice(kind="hierarchy")}, {"size": AxisChoice(kind="ordered", order=("S", "M"))}],
    "k": [1, 5],
    "l": [2, 3],
    "l_kind": ["entropy"],
    "t": [0.25],
    "t_kind": ["ordered"],
    "alpha": [0.5],
    "cut": ["domain", "regime"],
    "suppress": [0.02],
    "effort": ["best", 1.5],
    "seed": [7],
    "grid": ["exact", 5, 0.5],
    "labels": ["dash"],
    "key_file": ["team.key"],
    "null_values": [("NA", "?")],
    "delimiter": [";"],
    "encoding": ["latin-1"],
    "decimal": [","],
    "dates": ["dmy"],
    "memory": ["2GB"],
    "threads": [2],
    "engine": ["duckdb"],
    "master": ["local[2]"],
    "max_points": [1000],
}
TIED = {"c", "reading", "field", "eps", "protect"}  # say something only beside others
WRONG = {
    "k": [0, -3, 2.5, "many"],
    "l": [0.5, float("nan"), float("inf")],
    "l_kind": ["other"],
    "t": [-0.1, 1.1],
    "t_kind": ["other"],
    "alpha": [0, 1.5],
    "cut": ["global"],
    "reading": ["loud"],
    "eps": [-1.0, float("nan")],
    "suppress": [-0.1, 1.0],
    "effort": ["lazy", -1.0],
    "seed": [-1, 2**63],
    "grid": ["auto", "loose", "tight", 0, -1, "inf"],
    "protect": ["auto", "tight"],
    "labels": ["words"],
    "decimal": [";"],
    "dates": ["ydm"],
    "threads": [0, 1000],
    "max_points": [0],
}

requests = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()})


def test_the_values_above_are_of_every_field():
    assert {*VALUES, *TIED} == {*FIELDS}


@given(requests)
def test_a_request_is_written_to_a_plan_and_read_back(tmp_path_factory, said):
    folder = tmp_path_factory.mktemp("plans")
    paths = {name: str(folder / said[name]) for name in ("hierarchies", "key_file") if name in said}
    request = Request().override(**said | paths)
    (folder / "kech.toml").write_text(write_plan(request, folder, "a note"), "utf-8")
    assert read_request(folder / "kech.toml") == request
    assert {name: request.value(name) for name in said} == said | paths


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_value_is_refused_by_the_option_wherever_it_is_said(name, value, tmp_path):
    with pytest.raises(BadOption) as refusal:
        Request().override(**{name: value})
    assert refusal.value.typed.startswith(f"{FIELDS[name].option}: ")
    field = FIELDS[name]
    (tmp_path / "kech.toml").write_text(f"[{field.part}]\n{field.attribute} = {msgspec.json.encode(value).decode()}\n")
    with pytest.raises(BadPlan):
        read_request(tmp_path / "kech.toml")


def test_unknown_words_are_refused(tmp_path):
    with pytest.raises(BadOption, match="Did you mean 'sensitive'"):
        Request().override(sensitiv=["a"])
    for text in ("[goal]\nkk = 5\n", "[gaol]\nk = 5\n", "goal = 5\n", "axes = 5\n", "release = 5\n", "k ="):
        (tmp_path / "kech.toml").write_text(text)
        with pytest.raises(BadPlan):
            read_request(tmp_path / "kech.toml")


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
    for said in ({"eps": 0.1}, {"l": 2, "l_kind": "recursive"}, {"c": 2}, {"l": 2.5}, {"grid": 5, "protect": "ends"}):
        with pytest.raises(BadOption):
            Request().override(**said)
    with pytest.raises(ColumnInTwoRoles):
        Request().override(keep="age", sensitive="age")
    for axes in ({"age": "numeric"}, {"size": "ordered"}, {"size": AxisChoice(kind="set", order=("S",))}):
        with pytest.raises(BadOption, match=f"column '{next(iter(axes))}'"):
            Request().override(axes=axes)


def test_grid_and_protection_of_one_column():
    labels = Request().override(protect="ends").labels
    assert labels.on(AxisChoice()) == ("round", "ends")
    assert labels.on(AxisChoice(protect="none")) == ("round", "none")
    assert labels.on(AxisChoice(grid=5)) == (5, "none")
    exact = Request().override(grid="exact").labels
    assert exact.on(AxisChoice()) == ("exact", "none")
    assert exact.on(AxisChoice(grid="round")) == ("round", "full")


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
        "[table] is now [reading]",
        "[roles] is now [columns]",
        "hierarchies is now hierarchies in [columns]",
        "k in [release] is now k in [goal]",
        "cut in [release] is now style in [cut]",
        "labels in [release] is now form in [labels]",
        "max_points in [release] is now max_points in [limits]",
        'grid = "loose" is now grid = "round" with protect = "ends"',
        'grid = "tight" is now grid = "round" with protect = "none"',
        'kind = "numeric" is now kind = "number"',
        'kind = "categorical" is now kind = "set"',
    ):
        assert now in refusal.value.typed


def test_every_field_is_explained():
    shown = render_reference()
    for field in FIELDS.values():
        assert field.help
        assert field.example
        assert field.help in shown or field.name == "axes"
    assert all(f"### `[{part}]`" in shown for part in (*PARTS, "axes.NAME"))
    assert {each["name"] for each in describe_fields()} == {*FIELDS}


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
