"""Verification: every model with its value, goals of one's own, the population; and what is wrong is named."""

import csv
import json
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kech
from by_hand import certified, write
from kech.errors import BadOption, ClaimBroken, ColumnInTwoRoles
from kech.tables.demo import generate_town, write_csv

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20)
NUMBERS = st.lists(st.integers(0, 19), min_size=1, max_size=25)
PEOPLE = [("[0, 9]", "a"), ("[0, 9]", "b"), ("[0, 9]", "b"), ("[10, 19]", "a"), ("[10, 19]", "a"), ("[10, 19]", "c")]


@pytest.fixture
def six(folder):
    """Two classes of three people."""
    return certified(folder / "six.csv", PEOPLE)


@pytest.fixture
def plain(folder):
    """The same without a certificate."""
    return write(folder / "plain.csv", ("age", "salary"), PEOPLE)


@pytest.fixture
def town(folder, run):
    """A release of a town, and the town."""
    source = write_csv(generate_town(300), folder / "town.csv")
    words = ("--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 5, "--l", 2)
    assert run("release", source, "-o", folder / "out.csv", *words).code == 0
    return folder / "out.csv", source


# -- the population ----------------------------------------------------------------------------------------------


def test_what_no_file_shows_is_named_as_stated(run, folder):
    write_csv(pa.table({"age": [20 + i % 5 for i in range(40)]}), folder / "in.csv")
    run("release", folder / "in.csv", "--qi", "age", "--k", 4, "-o", folder / "out.csv", "--no-ledger")
    told = run("verify", folder / "out.csv", "--json").json["unchecked"]
    assert told == {"cut": "local", "grid": "round", "protect": "full", "owner_secret": True, "no_ledger": True}
    beside = folder / "out.csv.certificate.json"
    beside.write_text(beside.read_text("utf-8").replace('"cut": "local"', '"cut": "domain"'), "utf-8")
    assert "and not checked, since no file shows it: cut domain, grid round," in run("verify", folder / "out.csv").out
    assert run("verify", folder / "out.csv", "--qi", "age", "--k", 4, "--json").json["unchecked"] == {}


@in_one_folder
@given(NUMBERS, NUMBERS, st.sampled_from([2, 5, 10, 20]))
def test_k_map_and_delta_presence_as_they_are_defined(folder, released, others, step):
    """Nergiz, Atzori and Clifton 2007: the share of each class of the population that is in the file."""
    rows = [(f"[{age // step * step}, {age // step * step + step - 1}]", 1) for age in released]
    everybody = write(folder / "everybody.csv", ("age",), [(age,) for age in released + others])
    inside, people = (Counter(age // step for age in ages) for ages in (released, released + others))
    chances = [inside[cell] / people[cell] for cell in people]
    found = kech.verify_release(certified(folder / "out.csv", rows), population=everybody)
    assert found["k_map"] == min(people[cell] for cell in inside)
    assert found["delta_presence"] == pytest.approx([min(chances), max(chances)])
    assert found["population"] == len(released + others)


def test_people_in_two_boxes_may_be_in_either(folder):
    path = certified(folder / "out.csv", [("[0, 2]", 1), ("[1, 3]", 1)])
    everybody = write(folder / "everybody.csv", ("age",), [(0,), (1,), (2,), (3,), (9,)])
    found = kech.verify_release(path, population=everybody)
    assert (found["k_map"], found["delta_presence"]) == (3, [0.0, pytest.approx(2 / 3)])


def test_a_population_states_its_models(town, run):
    out, source = town
    found = run("verify", out, "--population", source, "--json").json
    assert found["k_map"] >= found["k"] == 5
    assert 0 < found["delta_presence"][1] <= 1
    assert found["population"] == 300
    assert f"{found['k_map']} of 300 rows" in run("verify", out, "--population", source).out
    assert run("verify", out).out.count("not available (population unknown)") == 2
    assert {run("verify", out, "--json").json[name] for name in ("population", "k_map")} == {None}


def test_an_unknown_population_is_refused(town, refuse, folder):
    out, _ = town
    refuse("verify", out, "--population", folder / "none.csv", code=3, says="There is no file")
    refuse("verify", out, "--population", 9000, code=2, says="Name their table, not their number")
    others = write_csv(generate_town(40, seed=4), folder / "others.csv")
    refuse("verify", out, "--population", others, code=2, says="Some released people are not in this table")
    nameless = write(folder / "nameless.csv", ("x",), [(1,)])
    refuse("verify", out, "--population", nameless, code=2, says="There is no column 'age'")
    refuse("risk", out, "--population", 3, code=2, says="3 people are fewer than")


# -- goals of one's own --------------------------------------------------------------------------------------------


GOALS = [
    (("--k", 3), None),
    (("--k", 4), "k: asked 4, found 3"),
    (("--l", 2), None),
    (("--l", 3), "l of 'salary': asked 3, found 2"),
    (("--l", 1.8, "--l-kind", "entropy"), None),
    (("--l", 1.9, "--l-kind", "entropy"), "l of 'salary': asked 1.9, found 1.89"),
    (("--l", 2, "--l-kind", "recursive", "--c", 2.1), None),
    (("--l", 2, "--l-kind", "recursive", "--c", 2), "c of 'salary': asked 2.0 for l = 2, found 2.0"),
    (("--t", 0.34), None),
    (("--t", 0.3), "t of 'salary': asked 0.3, found 0.3333"),
    (("--alpha", 0.67), None),
    (("--alpha", 0.5), "alpha of 'salary': asked 0.5, found 0.6667"),
    (("--k", 4, "--alpha", 0.5), "k: asked 4, found 3; alpha of"),
]


@pytest.mark.parametrize(("words", "says"), GOALS, ids=lambda words: " ".join(map(str, words)) if words else "holds")
def test_goals_are_checked_with_and_without_a_certificate(six, plain, run, refuse, words, says):
    for command in (("verify", six), ("verify", plain, "--quasi-identifiers", "age", "--sensitive", "salary")):
        if says:
            refuse(*command, *words, code=4, says=says)
        else:
            assert run(*command, *words, "--json").json["holds"] is True


def test_every_model_is_stated_with_its_value(plain, run):
    command = ("verify", plain, "--qi", "age", "--sensitive", "salary", "--k", 3)
    found = run(*command, "--json").json
    models = ["k", "l", "entropy_l", "recursive_c", "t", "t_ordered", "alpha", "beta", "enhanced_beta", "delta"]
    assert set(models) <= set(found)
    assert found["alpha"] == {"salary": pytest.approx(2 / 3)}
    assert found["beta"] == {"salary": pytest.approx(1.0)}
    shown = run(*command).out
    assert all(name.replace("_", " ") in shown for name in [*models, "k-map", "delta-presence"])


def test_goals_and_orders_come_from_a_plan(folder, run):
    rows = [("x", size) for size in ("S", "M", "L", "L")] + [("y", size) for size in ("S", "S", "M", "L")]
    path = write(folder / "sizes.csv", ("q", "size"), rows)
    (folder / "kech.toml").write_text(
        '[columns]\nquasi_identifiers = ["q"]\nsensitive = ["size"]\n[axes.size]\nkind = "ordered"\n'
        'order = ["S", "M", "L"]\n[goal]\nk = 4\nt = 0.2\nt_kind = "ordered"\n'
    )
    found = run("verify", path, "--plan", folder / "kech.toml", "--json").json
    assert found["t_ordered"] == {"size": pytest.approx(0.125)}
    assert run("verify", path, "--plan", folder / "kech.toml", "--t", 0.1).code == 4


@pytest.mark.parametrize(
    ("order", "kind"),
    [({}, "equal"), ({"size": kech.AxisChoice(kind="ordered", order=("S", "M", "L"))}, "ordered")],
    ids=["text", "ordered"],
)
def test_the_distance_that_was_used_is_the_one_that_is_certified(folder, order, kind):
    """An ordered distance needs an order: of plain texts the equal one is kept, and stated."""
    table = {"q": list(range(12)), "size": ["S", "M", "L"] * 4}
    with kech.read_table(pa.table(table), quasi_identifiers=["q"], sensitive=["size"], axes=order) as read:
        release = kech.make_release(read, k=3, t=0.5, t_kind="ordered")
        certificate = release.write(folder / "sizes.csv", ledger=False)
    assert certificate["claims"]["goals"]["t_kind"] == certificate["parameters"]["t_kind"] == kind
    assert (certificate["measured"]["t_ordered"]["size"] is None) == (kind == "equal")
    found = kech.verify_release(folder / "sizes.csv", t=0.5, t_kind="ordered")["checked"]
    assert found["certified"]["t_kind"] == found["asked"]["t_kind"] == kind


def test_without_a_goal_or_with_two_questions_nothing_is_checked(plain, six, refuse):
    refuse("verify", plain, "--qi", "age", code=2, says="--k: it is missing. Name the k to check")
    refuse(
        "verify", six, "--certificate", beside(six), "--qi", "age", "--k", 2, code=2, says="Omit --certificate or --qi"
    )
    refuse("verify", six, "--sensitive", "salary", code=2, says="a certificate names its columns itself")
    refuse("verify", plain, "--qi", "age", "--k", 2, "--l", 2, code=2, says="Name one: --sensitive COLUMN")
    with pytest.raises(BadOption, match=r"goals\.t"):
        kech.check_table(plain, ["age"], 2, ["salary"], goals={"t": "much"})


# -- bad input and faults ----------------------------------------------------------------------------------------------


def test_a_constant_sensitive_column(folder, run, refuse):
    source = write(folder / "people.csv", ("age", "ill"), [(age, "yes") for age in range(20)])
    words = ("release", source, "--qi", "age", "--sensitive", "ill", "--k", 5)
    refuse(*words, "--l", 2, "-o", folder / "out.csv", code=4, says="You asked for l = 2.")
    assert run(*words, "-o", folder / "out.csv").code == 0
    found = run("verify", folder / "out.csv", "--json").json
    figures = {name: found[name]["ill"] for name in ("l", "entropy_l", "t", "alpha", "beta", "delta")}
    assert figures == {"l": 1, "entropy_l": 1.0, "t": 0.0, "alpha": 1.0, "beta": 0.0, "delta": 0.0}
    assert "20 rows, in 4 classes, share one ill with their class" in run("verify", folder / "out.csv").out


def test_a_sensitive_column_that_is_a_quasi_identifier(plain, six, folder, refuse):
    roles = ("--qi", "age", "--sensitive", "age", "--k", 2)
    refuse("release", plain, "-o", folder / "out.csv", *roles, code=2, says="Give it one role")
    refuse("verify", plain, *roles, code=2, says="Give it one role")
    with pytest.raises(ColumnInTwoRoles):
        kech.verify_release(plain, quasi_identifiers=["age"], sensitive=["age"], k=2)
    edit(six, lambda certificate: certificate.update(sensitive=["age"]))
    refuse("verify", six, code=3, says="sensitive: it is missing or malformed")


EDITS = {
    "a row left away": (lambda rows: rows[:-1], ["sha256", "k: asked 3, claimed 3, found 2", "rows: not as claimed"]),
    "a secret changed": (lambda rows: [*rows[:-1], [rows[-1][0], "a"]], ["sha256", "l: not as claimed"]),
    "a label changed": (
        lambda rows: [*rows[:-1], ["[10, 18]", rows[-1][1]]],
        ["k: asked 3", "classes: not"],
    ),
    "a label spoilt": (lambda rows: [*rows[:-1], ["about ten", rows[-1][1]]], ["'age': 1 rows have a label"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_release_is_told_which_claims_broke(six, refuse, name):
    change, says = EDITS[name]
    header, *rows = csv.reader(six.read_text("utf-8").splitlines())
    edit(six, lambda certificate: certificate["parameters"].update(k=3))
    write(six, header, change(rows))
    for words in says:
        refuse("verify", six, code=4, says=words)


@pytest.mark.parametrize(
    ("place", "name", "wrong"),
    [("claims", "classes", 3), ("claims", "loss", 0.5), ("claims", "rows", 7), ("measured", "alpha", {"salary": 0.5})],
)
def test_a_false_claim_is_told_by_its_name(six, refuse, place, name, wrong):
    edit(six, lambda certificate: certificate[place].update({name: wrong}))
    refuse("verify", six, code=4, says=f"{name}: not as claimed")


def test_a_certificate_for_another_file(six, folder, refuse):
    other = certified(folder / "other.csv", [*PEOPLE, *PEOPLE])
    refuse("verify", six, "--certificate", beside(other), code=4, says="sha256: this is not the file")


@pytest.mark.parametrize("version", [6, 0, "5", None, 1.5])
def test_a_certificate_of_an_unknown_version(six, refuse, version):
    edit(six, lambda certificate: certificate.update(certificate=version))
    refuse("verify", six, code=3, says="this kech does not know its version")
    refuse("risk", six, code=3, says="this kech does not know its version")


@pytest.mark.parametrize("left_out", [1, 2, 3, 4])
def test_few_suppressed_rows_are_not_counted(folder, run, left_out):
    """k = 5: one to four people alone in their classes are left out, and nothing says how many."""
    ages = [30] * 20 + [40] * 20 + [41 + i for i in range(left_out)]
    source = write(folder / "people.csv", ("age",), [(f"v{age}",) for age in ages])
    words = ("--qi", "age", "--k", 5, "--cut", "domain", "--suppress", 0.2)
    found = run("release", source, "-o", folder / "out.csv", *words, "--json").json
    assert (found["suppressed"], found["rows_in"], found["rows"]) == ("<5", None, 40)
    assert "suppressed <5" in run("release", source, "-o", folder / "out.csv", *words).out
    certificate = beside(folder / "out.csv").read_text("utf-8")
    assert str(len(ages)) not in certificate.replace(json.loads(certificate)["file"]["sha256"], "")
    edit(folder / "out.csv", lambda document: document["claims"].update(suppressed=left_out, rows_in=len(ages)))
    with pytest.raises(ClaimBroken, match="suppressed: it contradicts"):
        kech.verify_release(folder / "out.csv")


def beside(path):
    return path.with_name(path.name + ".certificate.json")


def edit(path, change):
    document = json.loads(beside(path).read_text("utf-8"))
    change(document)
    beside(path).write_text(json.dumps(document), "utf-8")
