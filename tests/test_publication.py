"""A release with all that goes with it: one folder, whole or not at all, by a command or by the library."""

import pytest

import kech
from kech.errors import BadOption, BadTarget
from kech.tables.demo import nine_rows, write_csv

ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"]}


@pytest.fixture
def nine(tmp_path):
    return write_csv(nine_rows(), tmp_path / "nine.csv")


@pytest.fixture
def release(nine):
    with kech.read_table(nine, **ROLES) as table:
        yield kech.make_release(table, k=3)


def tree(path, column):
    """A hierarchy of two halves."""
    values = sorted(nine_rows()[column].to_pylist())
    lines = [f"{value};{'low' if at < 5 else 'high'};*\n" for at, value in enumerate(values)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines), "utf-8")
    return str(path)


def plan_of(**axes):
    choices = {name: kech.AxisChoice(hierarchy=file) for name, file in axes.items()}
    return kech.Request().override(**ROLES, k=3, axes=choices)


def test_a_command_writes_what_the_library_writes(nine, release, run, tmp_path):
    found = kech.publish_release(release, tmp_path / "one", "safe.csv", ledger=False).to_json()
    words = ("--folder", tmp_path / "two", "--qi", "age", "zip", "--sensitive", "salary", "--k", 3, "--no-ledger")
    printed = run("release", nine, "-o", "safe.csv", *words, "--json").json
    assert {name: type(value) for name, value in printed.items()} == {
        name: type(value) for name, value in found.items()
    }
    names = {"safe.csv", "safe.csv.certificate.json", "report.html", "kech.toml"}
    for folder in (tmp_path / "one", tmp_path / "two"):
        assert {file.name for file in folder.iterdir()} == names
    assert kech.read_request(printed["plan"]) == kech.read_request(found["plan"])
    assert run("verify", printed["file"], "--json").json == printed["verified"]
    assert (
        "the file was verified" in run("release", nine, "-o", "a.csv", "--folder", tmp_path / "three", *words[2:]).out
    )


@pytest.mark.parametrize(
    "asked",
    [
        {"l": 2, "l_kind": "recursive", "c": 2},
        {"t": 1, "t_kind": "ordered"},
        {"cut": "regime", "grid": "exact", "reading": "homological"},
        {"protect": "ends", "labels": "dash"},
    ],
)
def test_the_plan_in_the_folder_makes_the_same_release(nine, tmp_path, asked):
    with kech.read_table(nine, **ROLES) as table:
        release = kech.make_release(table, k=3, effort="quick", **asked)
        found = kech.publish_release(release, tmp_path / "one", "safe.csv", ledger=False)
    plan = kech.read_request(found.plan)
    assert {name: plan.value(name) for name in asked} == asked
    with kech.read_table(nine, plan) as table:
        again = kech.make_release(table)
    assert (again.parameters, again.labels, again.request) == (release.parameters, release.labels, release.request)


def test_the_plan_in_the_folder_says_nothing_of_the_machine(nine, tmp_path):
    key = kech.write_key_file(tmp_path / "team.key")
    with kech.read_table(nine, **ROLES, threads=1, memory="2GB", key_file=key) as table:
        found = kech.publish_release(kech.make_release(table, k=3), tmp_path / "one", "safe.csv", ledger=False)
    text = found.plan.read_text("utf-8")
    assert not [word for word in ("key", "memory", "threads") if word in text]


def test_a_request_for_other_columns_is_refused(nine):
    with kech.read_table(nine, **ROLES) as table:
        with pytest.raises(BadOption, match="other columns"):
            kech.make_release(table, kech.Request().override(quasi_identifiers=["age"], k=3))
        with pytest.raises(BadOption, match="read_table"):
            kech.make_release(table, k=3, sensitive=["age"])


@pytest.mark.parametrize("name", ["../safe.csv", "/tmp/safe.csv", "kech.toml", "report.html", "safe.txt"])
def test_a_name_is_that_of_a_table_in_the_folder(release, tmp_path, name):
    with pytest.raises(BadTarget):
        kech.publish_release(release, tmp_path / "safe", name, ledger=False)
    assert not (tmp_path / "safe").exists()


def test_a_folder_is_written_once(release, tmp_path):
    kech.publish_release(release, tmp_path / "safe", "safe.csv", ledger=False)
    for place in (tmp_path / "safe", tmp_path / "nine.csv"):
        with pytest.raises(BadTarget, match="not empty"):
            kech.publish_release(release, place, "safe.csv", ledger=False)


def test_in_a_folder_the_certificate_has_its_place(nine, run, tmp_path):
    words = ("--folder", tmp_path / "safe", "--certificate", tmp_path / "c.json", "--qi", "age", "--k", 3)
    assert run("release", nine, "-o", "safe.csv", *words, "--json").json["error"] == "BadOption"


def test_hierarchies_go_with_the_plan_and_stay_private(nine, tmp_path):
    plan = plan_of(age=tree(tmp_path / "a" / "x.csv", "age"), zip=tree(tmp_path / "b" / "x.csv", "zip"))
    with kech.read_table(nine, plan) as table:
        found = kech.publish_release(kech.make_release(table), tmp_path / "safe", "safe.csv", ledger=False)
    assert [file.name for file in found.private] == ["x-2.csv", "x.csv"]
    assert {file.stat().st_mode & 0o777 for file in found.private} == {0o600}
    with kech.read_table(nine, kech.read_request(found.plan)) as table:
        for column in ("age", "zip"):
            assert kech.review_hierarchy(table, column).to_json()["levels"] == [9, 2, 1]


def test_a_folder_of_hierarchies_goes_with_the_plan(nine, tmp_path):
    tree(tmp_path / "trees" / "age.csv", "age")
    plan = plan_of().override(hierarchies=str(tmp_path / "trees"))
    with kech.read_table(nine, plan) as table:
        found = kech.publish_release(kech.make_release(table), tmp_path / "safe", "safe.csv", ledger=False)
    assert found.private == (tmp_path / "safe" / "private" / "hierarchies" / "age.csv",)
    with kech.read_table(nine, kech.read_request(found.plan)) as table:
        assert kech.review_hierarchy(table, "age").to_json()["levels"] == [9, 2, 1]
