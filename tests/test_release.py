import csv
import errno
import fcntl
import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import kech
from kech.errors import AlreadyReleased, BadOption, BadTarget, CannotWrite, ClaimBroken, TooFewRows
from kech.release import release
from kech.system import files
from kech.tables.demo import nine_rows
from oracles import table_loss
from strategies import further, random_case

SUFFIXES = [".csv", ".parquet"]


def read(columns, quasi_identifiers=("a",), **options):
    table = columns if not isinstance(columns, dict) else pa.table(columns)
    return kech.read_table(table, quasi_identifiers=list(quasi_identifiers), **options)


def rows_of(path):
    """Cells of a written file, as text in CSV, as they are in Parquet."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return pq.read_table(path).to_pylist()


def written_loss(path):
    """The loss of a file in which no row is suppressed: the average width of its labels, by their definition."""
    axes = json.loads(Path(f"{path}.certificate.json").read_text("utf-8"))["quasi_identifiers"]
    guard = re.compile(r"^'(?='*\s*[=+\-@])") if path.suffix == ".csv" else re.compile("$.")
    rows = [
        [None if row[axis["column"]] in (None, "") else guard.sub("", row[axis["column"]], count=1) for axis in axes]
        for row in rows_of(path)
    ]
    return table_loss(rows, axes)


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def nine():
    with read(nine_rows(), ["age", "zip"], sensitive=["salary"]) as table:
        yield table


# The paper's nine rows


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_table_1b_is_written_with_its_certificate(nine, tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    certificate = kech.make_release(nine, k=3, grid="exact").write(path)
    rows = rows_of(path)

    assert Counter((row["age"], row["zip"]) for row in rows) == {
        ("[22, 25]", "[47602, 47678]"): 3,
        ("[38, 52]", "[47905, 47909]"): 3,
        ("[32, 47]", "[47605, 47673]"): 3,
    }
    assert sorted(int(row["salary"]) for row in rows) == sorted(nine_rows()["salary"].to_pylist())
    assert certificate["claims"]["k"] == certificate["claims"]["classes"] == 3
    assert json.loads(Path(f"{path}.certificate.json").read_text("utf-8")) == certificate
    assert kech.check_certificate(path)["loss"] == certificate["claims"]["loss"]
    assert listed(tmp_path) == [path.name, f"{path.name}.certificate.json"]


def test_salaries_stay_with_their_own_boxes(nine):
    frame = kech.make_release(nine, k=3, grid="exact").frame
    rows = set(zip(*(frame[name].to_pylist() for name in ("age", "salary")), strict=True))

    assert rows >= {("[22, 25]", 32000), ("[38, 52]", 151000), ("[32, 47]", 110000)}


# What leaves


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_named_columns_leave_in_the_order_of_the_table(tmp_path, suffix):
    columns = {"name": ["x", "y"], "s": [1, 2], "a": [5, 6], "city": ["u", "v"], "note": ["p", "q"]}
    path = tmp_path / f"out{suffix}"
    with read(columns, sensitive=["s"], keep=["note"], identifiers=["name"]) as table:
        kech.make_release(table, k=2).write(path)

    assert list(rows_of(path)[0]) == ["s", "a", "note"]


@pytest.mark.parametrize(
    ("make", "library"),
    [(lambda table: table, pa.Table), (lambda table: table.to_pandas(), pd.DataFrame), (pl.from_arrow, pl.DataFrame)],
)
def test_the_frame_is_of_the_callers_kind(make, library):
    with read(make(nine_rows()), ["age", "zip"], sensitive=["salary"]) as table:
        made = kech.make_release(table, k=3, grid="exact")
        frame = made.frame

    assert type(frame) is library
    columns = {name: list(frame[name].to_pylist() if library is pa.Table else frame[name]) for name in made.columns}
    assert list(columns) == ["age", "zip", "salary"]
    assert Counter(columns["age"]) == {"[22, 25]": 3, "[38, 52]": 3, "[32, 47]": 3}
    assert sorted(columns["salary"]) == sorted(nine_rows()["salary"].to_pylist())


def test_the_frame_of_a_file_is_pandas(tmp_path):
    pc.write_csv(nine_rows(), tmp_path / "nine.csv")
    with read(tmp_path / "nine.csv", ["age", "zip"], sensitive=["salary"]) as table:
        frame = kech.make_release(table, k=3).frame

    assert type(frame) is pd.DataFrame
    assert frame["salary"].dtype == np.int64


def test_null_labels_and_values_are_null_in_a_frame():
    with read({"a": ["x", "x", None, None], "s": ["p", None, "q", "r"]}, sensitive=["s"]) as table:
        frame = kech.make_release(table, k=2).frame

    assert Counter(frame["a"].to_pylist()) == {"x": 2, None: 2}
    assert set(frame["s"].to_pylist()) == {"p", None, "q", "r"}


FORMULAS = ["=1+1", "+cmd", "-x", "@sum", "\t=1", "\r=1", "'=1", "  =1"]
HARMLESS = ["-5", "+7.5", "a=b", "'quoted", "5-3", "[1, 2]"]


def test_formulas_are_disarmed_in_csv_and_nowhere_else(tmp_path):
    cells = FORMULAS + HARMLESS
    columns = {"a": cells * 2, "s": cells * 2, "n": cells * 2}
    with read(columns, sensitive=["s"], keep=["n"], axes={"a": "set"}) as table:
        made = kech.make_release(table, k=2)
        made.write(tmp_path / "out.csv")
        made.write(tmp_path / "out.parquet")

    disarmed = Counter(["'" + cell for cell in FORMULAS] * 2 + HARMLESS * 2)
    assert kech.check_certificate(tmp_path / "out.csv")["loss"] == 0
    for name in "asn":
        assert Counter(row[name] for row in rows_of(tmp_path / "out.csv")) == disarmed
        assert Counter(row[name] for row in rows_of(tmp_path / "out.parquet")) == Counter(cells * 2)


@pytest.mark.parametrize("first", [3000, *further([3010, 3020])])
@pytest.mark.parametrize("source", SUFFIXES)
def test_tables_from_files_are_released_too(tmp_path, source, first):
    for seed in range(first, first + 10):
        case = random_case(seed)
        given, out = tmp_path / f"in{source}", tmp_path / f"out{case.suffix}"
        if source == ".csv":
            pc.write_csv(case.table, given)
        else:
            pq.write_table(case.table, given)
        with kech.read_table(given, **case.roles) as table:
            kech.make_release(table, k=case.k, grid=case.grid, effort="quick").write(out, ledger=False)
        checked = kech.check_certificate(out)
        assert checked["k"] >= case.k
        assert checked["loss"] == pytest.approx(written_loss(out), abs=1e-9)


# Order


def people(count=2000):
    rng = np.random.default_rng(0)
    return {"id": np.arange(count), "age": rng.integers(18, 90, count), "sex": rng.choice(["f", "m"], count)}


def order_of(table):
    return np.array(kech.make_release(table, k=5).frame["id"].to_pylist())


def test_the_order_of_rows_says_nothing_and_is_never_the_same():
    with read(people(), ["age", "sex"], keep=["id"]) as table:
        first, second = order_of(table), order_of(table)

    assert sorted(first) == list(range(2000))
    for one, other in ((first, np.arange(2000)), (second, np.arange(2000)), (first, second)):
        # of two unrelated orders the correlation is 0 +- 1/sqrt(2000) = 0.022
        assert abs(np.corrcoef(np.argsort(one), np.argsort(other))[0, 1]) < 0.12


@pytest.mark.parametrize("most", [0, 1 << 30])  # bytes of rows that are shuffled here; DuckDB sorts what is more
def test_no_seed_decides_the_order(most, monkeypatch):
    orders = []
    monkeypatch.setattr("kech.tables.duckdb.SHUFFLED_BYTES", most)
    with read(people(200), ["age", "sex"], keep=["id"]) as table:
        for _ in range(2):
            random.seed(1)
            np.random.seed(1)
            table.engine.backend.connection.execute("SELECT setseed(0.5)").fetchall()
            orders.append(order_of(table).tolist())
        monkeypatch.setattr("kech.tables.batches.secrets.token_bytes", lambda size: random.Random(1).randbytes(size))
        fixed = [order_of(table).tolist() for _ in range(2)]

    assert orders[0] != orders[1]
    assert fixed[0] == fixed[1]  # what the system draws decides alone


def test_which_twin_joins_which_class_only_the_secret_decides(tmp_path):
    """Of 60 twins one must help the stranger: always the same one for one owner, not for 12 of them."""
    columns = {"a": [1, *[2] * 60], "id": range(61)}
    keys = [tmp_path / f"{number}.key" for number in range(12)]
    for key in keys:
        kech.write_key_file(key)
    owners = [read(columns, keep=["id"], key_file=key) for key in keys]
    helpers = [find_helpers(owner) for owner in owners]
    assert [find_helpers(owner) for owner in owners[:3]] == helpers[:3]
    for owner in owners:
        owner.close()

    assert len(set(helpers)) > 3


def find_helpers(table):
    """The twins beside the stranger."""
    frame = kech.make_release(table, k=2, grid="exact", effort="quick").frame
    rows = zip(frame["a"].to_pylist(), frame["id"].to_pylist(), strict=True)
    return frozenset(key for label, key in rows if label == "[1, 2]" and key != 0)


# Writing: whole or not at all

OLD = "old\n"


@pytest.fixture
def old(tmp_path):
    """A folder with an older file and certificate."""
    for name in ("out.csv", "out.csv.certificate.json"):
        (tmp_path / name).write_text(OLD, "utf-8")
    return tmp_path / "out.csv"


def fail_at(monkeypatch, step, failure):
    """Let a step of writing fail; `module.name` or `module.name:2` for its second call."""
    place, _, turn = step.partition(":")
    owner, name = place.rsplit(".", 1)
    owner = {"release": release, "files": files, "os": os, "Path": Path, "json": json, "Release": kech.Release}[owner]
    real, calls = getattr(owner, name), []

    def failing(*args, **options):
        calls.append(name)
        if len(calls) == int(turn or 1):
            raise failure
        return real(*args, **options)

    monkeypatch.setattr(owner, name, failing)


STEPS = [
    "release.write_batches", "Release.batches", "Release.certify", "release.make_certificate", "json.dumps",
    "Path.write_bytes", "release.put_in_place", "os.fsync", "os.fsync:2", "Path.chmod", "Path.replace",
]  # fmt: skip


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("step", STEPS)
def test_a_crash_leaves_the_old_file_and_no_draft(nine, old, monkeypatch, step, failure):
    made = kech.make_release(nine, k=3)
    with monkeypatch.context() as patch:
        fail_at(patch, step, failure(28, "No space left on device"))
        with pytest.raises(CannotWrite if failure is OSError else KeyboardInterrupt):
            made.write(old)

    assert listed(old.parent) == ["out.csv", "out.csv.certificate.json"]
    assert old.read_text("utf-8") == Path(f"{old}.certificate.json").read_text("utf-8") == OLD
    made.write(old)
    assert kech.check_certificate(old)["k"] == 3


def test_a_crash_between_the_two_names_leaves_a_certificate_that_does_not_fit(nine, old, monkeypatch):
    kech.make_release(nine, k=9).write(old)
    certificate = Path(f"{old}.certificate.json").read_bytes()
    with monkeypatch.context() as patch:
        fail_at(patch, "Path.replace:2", OSError(5, "Input/output error"))
        with pytest.raises(CannotWrite, match="input/output error"):
            kech.make_release(nine, k=3).write(old, ledger=False)

    assert len(rows_of(old)) == 9
    assert Path(f"{old}.certificate.json").read_bytes() == certificate
    assert listed(old.parent) == ["out.csv", "out.csv.certificate.json"]
    with pytest.raises(ClaimBroken, match="sha256"):
        kech.check_certificate(old)


def test_the_table_gets_its_name_before_its_certificate(nine, tmp_path, monkeypatch):
    named, real = [], Path.replace

    def replace(draft, target):
        named.append(Path(target).name)
        return real(draft, target)

    monkeypatch.setattr(Path, "replace", replace)
    kech.make_release(nine, k=3).write(tmp_path / "out.csv")

    assert named[1:] == [  # first its sketches
        "ledger.json",
        "out.csv",
        "out.csv.certificate.json",
        "ledger.json",
    ]  # its line is begun, then settled


def test_a_file_that_breaks_its_promise_is_not_written(nine, old, monkeypatch):
    made = kech.make_release(nine, k=3)
    monkeypatch.setattr(kech.Release, "public_loss", made.public_loss + 0.001)
    with pytest.raises(ClaimBroken, match="loss"):
        made.write(old)

    assert old.read_text("utf-8") == OLD
    assert listed(old.parent) == ["out.csv", "out.csv.certificate.json"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_drafts_are_private_and_files_as_the_umask_says(nine, tmp_path, monkeypatch, mask, mode):
    seen, real = {}, release.make_certificate

    def spy(draft, **options):
        seen.update({path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()})
        return real(draft, **options)

    monkeypatch.setattr(release, "make_certificate", spy)
    before = os.umask(mask)
    try:
        kech.make_release(nine, k=3).write(tmp_path / "out.csv")
    finally:
        os.umask(before)

    assert len(seen) == 2
    assert set(seen.values()) == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {mode}


HOLD = """
import sys, time
from pathlib import Path
from kech.system.files import draft_file
with draft_file(Path(sys.argv[1])) as draft:
    print(draft, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("fault", [errno.ENOLCK, errno.EBADF])  # no locks at all, or none of folders (NFS)
def test_where_nothing_can_be_locked_nothing_is_written_and_nothing_left(tmp_path, monkeypatch, fault):
    def refuse(*_):
        raise OSError(fault, "")

    monkeypatch.setattr("kech.system.machine.flock", refuse)
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    for write in (
        lambda: files.write_text(tmp_path / "a.txt", "a"),
        lambda: files.draft_folder(tmp_path / "a").__enter__(),
        files.claim_folder,
        lambda: files.hold_lock(tmp_path / "lock").__enter__(),
    ):
        with pytest.raises((CannotWrite, OSError)):
            write()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    with pytest.raises(CannotWrite, match="Its file system has no locks"):
        files.write_text(tmp_path / "a.txt", "a")


def test_drafts_of_killed_runs_are_cleared_and_those_of_living_ones_kept(nine, tmp_path):
    target = tmp_path / "out.csv"
    with subprocess.Popen([sys.executable, "-c", HOLD, target], stdout=subprocess.PIPE, text=True) as other:
        draft = Path(other.stdout.readline().strip())
        kech.make_release(nine, k=3).write(target)
        assert draft.exists()
        other.send_signal(signal.SIGKILL)
    assert draft.exists()
    kech.make_release(nine, k=3).write(target)

    assert listed(tmp_path) == ["out.csv", "out.csv.certificate.json"]


def test_private_folders_of_killed_runs_are_cleared_and_those_of_living_ones_kept(temporary):
    left, held = files.claim_folder()
    (left / "spill").write_bytes(b"rows")
    with files.private_folder():
        assert left.exists()
    os.close(held)  # as the system does for a process that was killed
    with files.private_folder() as folder:
        assert list(temporary.iterdir()) == [folder]
    assert list(temporary.iterdir()) == []


def test_a_foreign_file_of_a_similar_name_is_left_alone(nine, tmp_path):
    for name in (".out.csv", "out.csv.kech-draft", ".other.tmp"):
        (tmp_path / name).write_text("x", "utf-8")
    locked = (tmp_path / ".x.kech-draft").open("w", encoding="utf-8")
    fcntl.flock(locked, fcntl.LOCK_EX)
    kech.make_release(nine, k=3).write(tmp_path / "out.csv")
    locked.close()

    assert {".out.csv", "out.csv.kech-draft", ".other.tmp", ".x.kech-draft"} < set(listed(tmp_path))


# Where to write


def test_targets_that_are_refused(tmp_path):
    source = tmp_path / "in.csv"
    pc.write_csv(nine_rows(), source)
    (tmp_path / "link.csv").symlink_to(source)
    (tmp_path / "folder.csv").mkdir()
    with read(source, ["age", "zip"]) as table:
        made = kech.make_release(table, k=3)
        for name, reason in {
            "in.csv": "source table itself",
            "link.csv": "source table itself",
            "folder.csv": "folder",
            "out.xlsx": "its name must end in",
            "out": "its name must end in",
            "nowhere/out.csv": "does not exist",
        }.items():
            with pytest.raises(BadTarget, match=reason):
                made.write(tmp_path / name)

    assert pc.read_csv(source).num_rows == 9


# The odd ones


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("grid", ["round", *further(["exact"]), 10])
@pytest.mark.parametrize(
    ("values", "k"),
    [
        ([5], 1),
        ([0.5], 1),
        (["x"], 1),
        ([5, 5], 2),
        ([5, 6], 2),
        ([5, 5, 5], 3),
        ([0.25] * 4, 2),
        ([5, None], 2),
        ([5, None], 1),
        ([5, None, None, None], 2),
        ([5, 6, 7, None], 2),
        ([None, None], 2),
        ([1, 2, 3, 4, 5], 1),
        ([1, 2, 3, 4, 5], 5),
        ([1000000000.123456789, 1000000000.2, 1000000000.3], 2),
        (["*", "*", "a"], 2),
        (["{a}", "a", "b", "b"], 1),
    ],
)
def test_small_and_strange_tables(tmp_path, values, k, grid, suffix):
    column = pa.array(values) if any(value is not None for value in values) else pa.array(values, pa.float64())
    path = tmp_path / f"out{suffix}"
    with read({"a": column, "s": range(len(values))}, sensitive=["s"]) as table:
        kech.make_release(table, k=k, grid=grid).write(path, ledger=False)

    figures = kech.check_certificate(path)
    assert figures["k"] >= k
    assert figures["rows"] == len(values)
    assert figures["loss"] == pytest.approx(written_loss(path), abs=1e-9)


@pytest.mark.parametrize("grid", ["round", "exact"])
@pytest.mark.parametrize("values", [[1e300, -1e300, 1e-300, 0.0], [1.7e308, -1.7e308]])
def test_the_ends_of_the_floats(tmp_path, values, grid):
    with read({"a": values}) as table:
        for k in (1, 2):
            kech.make_release(table, k=k, grid=grid).write(tmp_path / "out.csv", ledger=False)
            assert kech.check_certificate(tmp_path / "out.csv")["k"] >= k
        with pytest.raises(BadOption, match="step is too small"):
            kech.make_release(table, k=1, grid=10)


def test_a_goal_nobody_can_keep(nine):
    with pytest.raises(TooFewRows, match="k=10 needs 10 rows"):
        kech.make_release(nine, k=10)
    for k in (0, -1):
        with pytest.raises(BadOption, match=r"^k: "):
            kech.make_release(nine, k=k)
    with pytest.raises(BadOption, match=r"^cut: "):
        kech.make_release(nine, k=3, cut="none")


def test_one_column_of_null_only(tmp_path):
    with read({"a": pa.array([None] * 3, pa.string())}) as table:
        kech.make_release(table, k=3).write(tmp_path / "out.csv")

    assert kech.check_certificate(tmp_path / "out.csv")["rows"] == 3


def test_a_certificate_never_takes_the_place_of_the_source_or_the_release(folder):
    source = folder / "people.csv"
    source.write_text("age\n" + "\n".join(map(str, range(20, 40))) + "\n")
    before = source.read_text()
    (folder / "taken").mkdir()
    with kech.read_table(source, quasi_identifiers=["age"]) as table:
        release = kech.make_release(table, k=5)
        for beside in (source, folder / "out.csv", folder / "taken", folder / "nowhere" / "c.json"):
            with pytest.raises(BadTarget):
                release.write(folder / "out.csv", beside, ledger=False)
    assert source.read_text() == before
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "taken"]


def test_a_release_never_goes_into_the_folder_of_its_source(folder):
    parts = folder / "parts"
    parts.mkdir()
    for name in ("a", "b"):
        pq.write_table(pa.table({"age": range(20, 40)}), parts / f"{name}.parquet")
    with kech.read_table(parts, quasi_identifiers=["age"]) as table:
        release = kech.make_release(table, k=5)
        for name in ("a.parquet", "c.parquet"):
            with pytest.raises(BadTarget, match="folder of the source"):
                release.write(parts / name, ledger=False)
        with pytest.raises(BadTarget, match="folder of the source"):
            release.write(folder / "out.csv", parts / "c.json", ledger=False)
    assert len(list(parts.iterdir())) == 2


def test_a_temporary_folder_that_another_process_clears_is_made_again(monkeypatch):
    made, opened = [], os.open

    def open_late(path, *given, **named):
        if str(path).count("kech") and not made:
            made.append(path)
            Path(path).rmdir()
        return opened(path, *given, **named)

    monkeypatch.setattr(os, "open", open_late)
    with files.private_folder() as folder:
        assert folder.is_dir()
        assert made != [folder]


@pytest.mark.usefixtures("heard")
def test_ctrl_c_waits_while_a_file_and_its_certificate_take_their_place(nine, old, monkeypatch):
    made, replace = kech.make_release(nine, k=3), Path.replace

    def press(self, target):
        replace(self, target)
        if target == old:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", press)
        made.write(old)
    assert kech.check_certificate(old)["k"] == 3


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_release_is_no_table_to_release(nine, tmp_path, suffix):
    released = tmp_path / f"released{suffix}"
    kech.make_release(nine, k=3).write(released, ledger=False)
    with kech.read_table(released, quasi_identifiers=["age"]) as table:
        with pytest.raises(
            AlreadyReleased, match=r"already a release of kech.*original table again.*fewer columns.*larger k"
        ):
            kech.make_release(table, k=3)
        kech.compute_spectrum(table, k=[3])
    beside = Path(f"{released}.certificate.json")
    for other in ("{}", "[]", "no JSON", beside.read_text("utf-8").replace('"sha256": "', '"sha256": "0')):
        beside.write_text(other, "utf-8")
        with kech.read_table(released, quasi_identifiers=["age"]) as table:
            kech.make_release(table, k=3)


def test_a_release_held_in_memory_is_a_table_like_any_other(nine):
    with kech.read_table(kech.make_release(nine, k=3).frame, quasi_identifiers=["age"]) as table:
        kech.make_release(table, k=3)
