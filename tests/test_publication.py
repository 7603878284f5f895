"""A release with all that goes with it: one folder, whole or not at all, by a command or by the library."""

import pytest

import kech
from kech.errors import BadOption, BadTarget
from kech.release.plan import AxisSection
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
    plan = kech.Plan()
    plan.roles.quasi_identifiers, plan.roles.sensitive = ROLES["quasi_identifiers"], ROLES["sensitive"]
    plan.release.k = 3
    plan.axes = {name: AxisSection(hierarchy=file) for name, file in axes.items()}
    return plan


def test_a_command_writes_what_the_library_writes(nine, release, run, tmp_path):
    found = kech.publish_release(release, tmp_path / "one", "safe.csv", plan_of(), ledger=False).to_json()
    words = ("--folder", tmp_path / "two", "--qi", "age", "zip", "--sensitive", "salary", "--k", 3, "--no-ledger")
    printed = run("release", nine, "-o", "safe.csv", *words, "--json").json
    assert {name: type(value) for name, value in printed.items()} == {
        name: type(value) for name, value in found.items()
    }
    names = {"safe.csv", "safe.csv.certificate.json", "report.html", "kech.toml"}
    for folder in (tmp_path / "one", tmp_path / "two"):
        assert {file.name for file in folder.iterdir()} == names
    assert kech.read_plan(printed["plan"]) == kech.read_plan(found["plan"])
    assert run("verify", printed["file"], "--json").json == printed["verified"]
    assert (
        "the file was verified" in run("release", nine, "-o", "a.csv", "--folder", tmp_path / "three", *words[2:]).out
    )


def test_a_plan_that_says_otherwise_is_refused(release, tmp_path):
    plan = plan_of()
    plan.release.k, plan.release.l = 4, 2
    with pytest.raises(BadOption, match=r"otherwise than the release about k, l\."):
        kech.publish_release(release, tmp_path / "one", "safe.csv", plan, ledger=False)
    assert not (tmp_path / "one").exists()


@pytest.mark.parametrize(
    ("made", "planned"),
    [
        ({"l": 2}, {"l_kind": "entropy"}),
        ({"l": 2, "l_kind": "recursive", "c": 2}, {"c": 3}),
        ({"t": 1, "t_kind": "ordered"}, {"t_kind": "equal"}),
        ({"cut": "regime", "grid": "exact"}, {"reading": "homological"}),
        ({}, {"labels": "dash"}),
    ],
)
def test_kinds_readings_and_labels_of_a_plan_are_those_of_the_release(nine, tmp_path, made, planned):
    plan = plan_of()
    for name, value in (made | planned).items():
        setattr(plan.release, name, value)
    with kech.read_table(nine, **ROLES) as table:
        release = kech.make_release(table, k=3, effort="quick", **made)
        with pytest.raises(BadOption, match=rf"otherwise than the release about {next(iter(planned))}\."):
            kech.publish_release(release, tmp_path / "one", "safe.csv", plan, ledger=False)
        for name in planned:
            setattr(plan.release, name, made.get(name, getattr(kech.Plan().release, name)))
        kech.publish_release(release, tmp_path / "one", "safe.csv", plan, ledger=False)


@pytest.mark.parametrize("name", ["../safe.csv", "/tmp/safe.csv", "kech.toml", "report.html", "safe.txt"])
def test_a_name_is_that_of_a_table_in_the_folder(release, tmp_path, name):
    with pytest.raises(BadTarget):
        kech.publish_release(release, tmp_path / "safe", name, plan_of(), ledger=False)
    assert not (tmp_path / "safe").exists()


def test_a_folder_is_written_once(release, tmp_path):
    kech.publish_release(release, tmp_path / "safe", "safe.csv", plan_of(), ledger=False)
    for place in (tmp_path / "safe", tmp_path / "nine.csv"):
        with pytest.raises(BadTarget, match="not empty"):
            kech.publish_release(release, place, "safe.csv", plan_of(), ledger=False)


def test_in_a_folder_the_certificate_has_its_place(nine, run, tmp_path):
    words = ("--folder", tmp_path / "safe", "--certificate", tmp_path / "c.json", "--qi", "age", "--k", 3)
    assert run("release", nine, "-o", "safe.csv", *words, "--json").json["error"] == "BadOption"


def test_hierarchies_go_with_the_plan_and_stay_private(nine, tmp_path):
    plan = plan_of(age=tree(tmp_path / "a" / "x.csv", "age"), zip=tree(tmp_path / "b" / "x.csv", "zip"))
    with plan.read_table(nine) as table:
        found = kech.publish_release(kech.make_release(table, k=3), tmp_path / "safe", "safe.csv", plan, ledger=False)
    assert [file.name for file in found.private] == ["x-2.csv", "x.csv"]
    assert {file.stat().st_mode & 0o777 for file in found.private} == {0o600}
    with kech.read_plan(found.plan).read_table(nine) as table:
        for column in ("age", "zip"):
            assert kech.review_hierarchy(table, column).to_json()["levels"] == [9, 2, 1]


def test_a_folder_of_hierarchies_goes_with_the_plan(nine, tmp_path):
    tree(tmp_path / "trees" / "age.csv", "age")
    plan = plan_of()
    plan.hierarchies = str(tmp_path / "trees")
    with plan.read_table(nine) as table:
        found = kech.publish_release(kech.make_release(table, k=3), tmp_path / "safe", "safe.csv", plan, ledger=False)
    assert found.private == (tmp_path / "safe" / "private" / "hierarchies" / "age.csv",)
    with kech.read_plan(found.plan).read_table(nine) as table:
        assert kech.review_hierarchy(table, "age").to_json()["levels"] == [9, 2, 1]
