"""Canaries: a value planted in every cell of a table is found nowhere but where it was meant to be published.

Looked at are both streams down to the file descriptor, the log, warnings, every file written, the temporary folder
while kech runs, and exceptions with all that hangs on them.
"""

import json
import logging
import os
import re
import resource
import traceback
import warnings
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import kech
from kech.cli import main
from kech.errors import KechError
from kech.release import release as writer
from kech.release.tallies import PeopleTally
from kech.tables import duckdb as backend
from kech.tables.duckdb import DuckDB
from kech.tables.engine import Engine
from strategies import begin_with, further

ROWS = 40
TEXTS = ("name", "note", "job", "disease", "kept")
CANARY = re.compile(rb"canary_(\w+?)_\d{4}|(?<![\d.])(73459)\d\d3(?!\d)|(04:17):\d\d")
COLUMNS = {b"73459": "income", b"04:17": "born"}
ROLES = ("--qi", "job", "income", "born", "--sensitive", "disease", "--keep", "kept", "--identifiers", "name")
PUBLISHED = {"job", "disease", "kept"}


def canaries(rows=ROWS):
    """Every cell of every column is a canary; no number of them is round, so none is an edge of an interval."""
    columns = {column: [f"CANARY_{column}_{i:04d}" for i in range(rows)] for column in TEXTS}
    moment = datetime(1931, 3, 2, 4, 17, 1)
    columns["income"] = [str(73_459_003 + 10 * i) for i in range(rows)]
    columns["born"] = [str(moment + timedelta(days=i, seconds=i % 50)) for i in range(rows)]
    return columns


def found_in(*contents):
    """Columns whose canaries are in bytes or text, whatever the case, also in UTF-16."""
    found = set()
    for content in contents:
        raw = (content if isinstance(content, bytes) else str(content).encode(errors="replace")).lower()
        for text in (raw, raw.replace(b"\0", b"")):
            hits = CANARY.finditer(text) if any(start in text for start in (b"canary", *COLUMNS)) else ()
            found.update(COLUMNS.get(hit[2] or hit[3]) or hit[1].decode() for hit in hits)
    return found


def files_below(folder):
    """Files with their bytes; a link is no copy, and a file may go while we look."""
    for path in folder.rglob("*"):
        with suppress(OSError):
            if not path.is_symlink() and path.is_file():
                yield path, path.read_bytes()


# -- the watch -------------------------------------------------------------------------------------------


class Watch:
    """All that leaves kech while it runs: place -> columns whose canaries were seen there."""

    def __init__(self, temporary, capfd, caplog):
        self.temporary, self.capfd, self.caplog = temporary, capfd, caplog
        self.seen, self.spilled, self.known = {}, 0, {}

    def note(self, place, *contents):
        self.seen[place] = self.seen.get(place, set()) | found_in(*contents)

    def look_at_temporary(self):
        for path, content in files_below(self.temporary):
            if self.known.get(path) != hash(content):
                self.known[path] = hash(content)
                self.spilled += len(content) * ("spill" in path.parts)
                self.note("temporary folder", content, path.name)

    @contextmanager
    def __call__(self):
        self.capfd.readouterr()
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            yield
        self.note("screen", *self.capfd.readouterr())
        self.note("log", *(f"{record.getMessage()} {record.__dict__}" for record in self.caplog.records))
        self.note("warnings", *(warning.message for warning in raised))
        self.look_at_temporary()

    @property
    def leaks(self):
        return {place: columns for place, columns in self.seen.items() if columns}


@pytest.fixture
def watch(temporary, capfd, caplog, monkeypatch):
    """Also looks into the temporary folder after every statement of the engine and before it is emptied."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.delenv("KECH_DEBUG", raising=False)
    watched = Watch(temporary, capfd, caplog)
    ran, close = DuckDB.rows, backend.close_and_remove

    def run_and_look(self, sql, doing):
        result = ran(self, sql, doing)
        watched.look_at_temporary()
        return result

    def look_and_close(*given):
        watched.look_at_temporary()
        close(*given)

    monkeypatch.setattr(DuckDB, "rows", run_and_look)
    monkeypatch.setattr(backend, "close_and_remove", look_and_close)
    return watched


@pytest.fixture
def run(watch, folder, own_ledger):
    """Run kech under watch; look at every file it wrote, and at the release for what may not be in it."""

    def run_watched(*words, code=0):
        before = dict(files_below(folder))
        with watch():
            try:
                main([str(word) for word in words])
                ended = 0
            except SystemExit as stop:
                ended = stop.code
        assert ended == code
        for path, content in files_below(folder):
            if before.get(path) == content:
                continue
            if path.name in ("released.csv", "released.parquet"):
                watch.note("release", *cells(path))
                watch.seen["release"] -= PUBLISHED
            else:
                watch.note("written file", content)
        watch.note("ledger", *(content for _, content in files_below(own_ledger)))

    return run_watched


def cells(path):
    table = pq.read_table(path) if path.suffix == ".parquet" else pc.read_csv(path)
    return table.to_pydict().values()


@pytest.fixture
def people(folder):
    """The table of canaries."""
    pc.write_csv(pa.table(canaries()), folder / "people.csv")
    return folder / "people.csv"


# -- every command, when it works ------------------------------------------------------------------------


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize("target", ["released.csv", "released.parquet"])
def test_no_command_that_works_leaks(run, watch, people, folder, how, target):
    out = folder / target
    run("inspect", people, *how)
    run("inspect", people, *ROLES, "--plan", folder / "kech.toml", *how)
    run("spectrum", people, *ROLES, "--k", "2-9", *how)
    run("release", people, "-o", out, *ROLES, "--k", 5, *how)
    run("release", people, "-o", out, "--plan", folder / "kech.toml", "--keep", "kept", *how)
    run("verify", out, *how)
    run("verify", out, "--qi", "job", "income", "--sensitive", "disease", "--k", 5, *how)
    run("risk", out, *how)
    run("risk", out, "--population", people, *how)
    run("risk", out, "--original", people, *how)
    run("attack", "order", out, "--original", people, *how)
    run("verify", out, "--population", people, *how)
    run("ledger", *how)
    assert watch.leaks == {}


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
def test_no_second_release_leaks(run, watch, people, folder, own_ledger, how):
    out = folder / "released.csv"
    run("release", people, "-o", out, *ROLES, "--k", 7, *how)
    (folder / "first").mkdir()
    for path in (out, folder / "released.csv.certificate.json"):
        path.rename(folder / "first" / path.name)
    words = ("release", people, "-o", out, *ROLES, "--k", 2, *how)
    run(*words, code=4)
    run(*words, "--earlier", folder / "first" / out.name, code=4)
    run(*words, "--earlier", folder / "first" / out.name, "--allow-composition")
    run("attack", "compose", out, "--second", folder / "first" / out.name, "--original", people, *how)
    run("ledger", "--forget", out, *how)
    assert (own_ledger / "ledger.json").is_file()
    assert watch.leaks == {}


PERSON_ROLES = ("--qi", "job", "income", "born", "--sensitive", "disease", "--keep", "kept", "--person")


@pytest.fixture
def visits(folder):
    """The table of canaries in which every name, and every note, has two rows: a note is a name, a ward or a bed."""
    columns = canaries()
    twice = {column: [columns[column][i // 2] for i in range(ROWS)] for column in ("name", "note")}
    pc.write_csv(pa.table(columns | twice), folder / "visits.csv")
    return folder / "visits.csv"


@pytest.mark.parametrize("person", [("name",), ("name", "note")], ids=["one column", "two columns"])
@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize("target", begin_with(["released.csv"], ["released.csv", "released.parquet"]))
def test_no_person_leaks(run, watch, visits, folder, how, target, person):
    out, roles = folder / target, (*PERSON_ROLES, *person)
    run("inspect", visits, *roles, "--plan", folder / "kech.toml", *how)
    run("spectrum", visits, *roles, "--k", "2-9", *how)
    run("release", visits, "-o", out, *roles, "--k", 5, *how)
    run("verify", out, *how)
    run("risk", out, "--original", visits, *how)
    run("release", visits, "-o", folder / "none.csv", *roles, "--k", 21, *how, code=4)
    assert watch.leaks == {}


def test_a_seeded_leak_of_a_person_is_seen(run, watch, visits, folder, monkeypatch):
    shown = PeopleTally.state
    monkeypatch.setattr(PeopleTally, "state", lambda self: shown(self) | {"first": "CANARY_name_0000"})
    run("release", visits, "-o", folder / "released.csv", *PERSON_ROLES, "name", "--k", 5)
    assert "name" in watch.leaks["written file"]


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
def test_the_barcode_shows_distances_but_no_cell(run, watch, people, how):
    run("barcode", people, "--qi", "income", "born", "--max-dimension", 0, *how)
    assert watch.leaks == {}


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
def test_the_demo_shows_released_rows_only(run, watch, folder, monkeypatch, how):
    columns = canaries()
    town = pa.table(
        {
            "person": columns["name"],
            **{name: ["x"] * ROWS for name in ("sex", "zip", "job")},
            "age": list(range(ROWS)),
            "moved_in": columns["born"],
            "schooling": ["primary"] * ROWS,
            "income": columns["income"],
            "diagnosis": columns["disease"],
        }
    )
    monkeypatch.setattr("kech.tables.demo.generate_town", lambda: town)
    monkeypatch.chdir(folder)
    run("demo", *how)
    del watch.seen["written file"]  # the made-up town itself
    shown = watch.seen.pop("screen")
    assert shown <= {"disease"}  # the demo shows the first lines of its release
    assert bool(shown) == (how == ())
    assert watch.leaks == {}


def test_hierarchies_leak_no_leaf_into_the_certificate(run, watch, people, folder):
    (folder / "job.csv").write_text("".join(f"{job},group {i % 2},*\n" for i, job in enumerate(canaries()["job"])))
    rest = ("--qi", "job", "--k", 5, "--hierarchies", folder)
    run("release", people, "-o", folder / "released.csv", *rest, "--json")
    assert "group 1" in (folder / "released.csv.certificate.json").read_text()
    assert watch.leaks == {}


SPILLED = [pytest.param(0.1, 0, marks=pytest.mark.long, id="enough"), pytest.param(0.03, 5, id="too little")]


@pytest.mark.parametrize(("share", "code"), SPILLED)
def test_spilled_rows_cannot_be_read(run, watch, folder, share, code, monkeypatch):
    monkeypatch.setattr("kech.tables.duckdb.DUCKDB_SHARE", share)
    write_large(folder / "large.parquet")
    rest = ("--qi", "income", "--sensitive", "disease", "--keep", "note", "--k", 5, "--memory", "320MB", "--threads", 1)
    run("release", folder / "large.parquet", "-o", folder / "released.parquet", *rest, code=code)
    assert watch.spilled > 1_000_000
    watch.seen["release"] = watch.seen.get("release", set()) - {"note"}
    assert watch.leaks == {}


def write_large(path, rows=40_000):
    filling = "0123456789" * 50
    columns = {
        "income": [i % 10 for i in range(rows)],
        "disease": [f"CANARY_disease_{i % 100:04d}" for i in range(rows)],
        "note": [f"CANARY_note_{i % 10_000:04d} {i} {filling}" for i in range(rows)],
    }
    pq.write_table(pa.table(columns), path)


# -- every command, when it fails ------------------------------------------------------------------------


def spoil(people, change):
    """The table of canaries with something wrong in it."""
    people.write_bytes(change(people.read_bytes()))


def swap(old, new):
    return lambda content: content.replace(old, new)


def add(line):
    return lambda content: content + line


SPOILED = {
    "long row": (add(b'"CANARY_name_0099",1,2,3,4,5,6,7,8\n'), 3),
    "short row": (add(b"CANARY_name_0099\n"), 3),
    "short row among mixed line ends": (add(b"CANARY_name_0099\r\n"), 3),
    "unclosed quote": (swap(b'"CANARY_job_0007"', b'"CANARY_job_0007'), 3),
    "unclosed quote at the end": (add(b'"CANARY_name_0099'), 3),
    "text after a quote": (swap(b'"CANARY_job_0007"', b'"CANARY_job"_0007'), 3),
    "NUL": (swap(b"CANARY_job_0007", b"CANARY_job_0007\0"), 3),
    "Latin-1": (swap(b"CANARY_job_0007", b"CANARY_job_0007\xe9"), 3),
    "text among numbers": (swap(b"73459003", b"CANARY_income_0000"), 3),
    "text among dates": (swap(b"1931-03-02 04:17:01", b"CANARY_born_0000"), 3),
    "infinity": (swap(b"73459003", b"inf"), 3),
    "too few rows": (lambda content: b"\n".join(content.split(b"\n")[:4]), 4),
}


@pytest.mark.parametrize("how", [(), *further([("--json",)])], ids=["plain", "json"])
@pytest.mark.parametrize("fault", SPOILED)
def test_no_command_that_meets_bad_rows_leaks(run, watch, people, folder, fault, how):
    change, code = SPOILED[fault]
    spoil(people, change)
    run("release", people, "-o", folder / "released.csv", *ROLES, "--k", 5, *how, code=code)
    run("spectrum", people, *ROLES, "--k", 5, *how, code=code)
    whole_file_is_read = fault not in ("text among numbers", "text among dates", "infinity", "too few rows")
    run("inspect", people, *how, code=code if whole_file_is_read else 0)
    run("verify", people, *ROLES[:4], "--k", 5, *how, code=3 if whole_file_is_read else 4)
    assert watch.leaks == {}


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--qi", "jobb", "--k", 5), 2),
        (("--qi", "job", "--sensitive", "job", "--k", 5), 2),
        (("--qi", "job", "--k", 99), 4),
        (("--qi", "job", "--k", 5, "--axis", "job=number"), 3),
        (("--qi", "job", "--k", 5, "--axis", "job=date"), 3),
        (("--qi", "job", "--k", 5, "--axis", "job=low<high"), 3),
        (("--qi", "job", "--k", 5, "--memory", "1MB"), 5),
        (("--qi", "job", "--k", 5, "--delimiter", ";"), 3),
        (("--qi", "job", "--k", 5, "--encoding", "utf-16"), 3),
        (("--qi", "job", "--k", 5, "--encoding", "utf-32"), 3),
        (("--qi", "job", "--k", 5, "--hierarchies", "trees"), 3),
    ],
)
def test_no_refused_question_leaks(run, watch, people, folder, monkeypatch, words, code, how):
    monkeypatch.chdir(folder)
    Path("trees").mkdir()
    Path("trees", "job.csv").write_text("cook,food,*\n")
    run("release", people, "-o", "released.csv", *words, *how, code=code)
    assert watch.leaks == {}


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
def test_no_file_without_a_header_leaks_its_first_row(run, watch, people, folder, how):
    spoil(people, lambda content: content.partition(b"\n")[2])
    run("release", people, "-o", folder / "released.csv", *ROLES, "--k", 5, *how, code=2)
    run("verify", people, *ROLES[:2], "--k", 5, *how, code=2)
    spoil(people, lambda content: content.replace(b"_note_", b"_NAME_", 1).replace(b"_name_", b"_name_", 1))
    run("release", people, "-o", folder / "released.csv", *ROLES, "--k", 5, *how, code=3)
    assert watch.leaks == {}


@pytest.mark.parametrize("name", ["people.parquet", "people.arrow", "people.feather"])
def test_no_damaged_file_leaks(run, watch, folder, name):
    path, table = folder / name, pa.table(canaries())
    if name.endswith("parquet"):
        pq.write_table(table, path, compression="none")
    else:
        with (pa.ipc.new_file if name.endswith("arrow") else pa.ipc.new_stream)(path, table.schema) as file:
            file.write_table(table)
    whole = path.read_bytes()
    for kept in (0.3, 0.6, 0.9):
        path.write_bytes(whole[: int(len(whole) * kept)])
        run("release", path, "-o", folder / "released.csv", *ROLES, "--k", 5, code=3)
    assert watch.leaks == {}


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
def test_no_failure_to_write_leaks(run, watch, people, folder, how):
    rest = (*ROLES, "--k", 5, *how)
    run("release", people, "-o", folder / "none" / "released.csv", *rest, code=2)
    run("release", people, "-o", "/proc/released.csv", *rest, code=5)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        run("release", people, "-o", folder / "released.csv", *rest, code=5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert watch.leaks == {}


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize(
    "place", ["kech.tables.table.open_source", "kech.release.release.write_batches", "kech.cli.intake.split_names"]
)
def test_no_fault_of_kech_itself_leaks(run, watch, people, folder, monkeypatch, place, how):
    def fail(*_, **__):
        cell = "CANARY_job_0001"
        raise ValueError(f"{cell} is not in list") from KeyError(cell)

    monkeypatch.setattr(place, fail)
    run("release", people, "-o", folder / "released.csv", *ROLES, "--k", 5, *how, code=5)
    assert watch.leaks == {}


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize("target", ["released.csv", "released.parquet"])
def test_no_broken_release_leaks(run, watch, people, folder, target, how):
    out, certificate = folder / target, folder / f"{target}.certificate.json"
    run("release", people, "-o", out, *ROLES, "--k", 5)
    released, claims = out.read_bytes(), certificate.read_text()
    table = pq.read_table(out) if target.endswith("parquet") else pc.read_csv(out)
    table = table.set_column(table.schema.get_field_index("income"), "income", pa.array(canaries()["income"]))
    (pq.write_table if target.endswith("parquet") else pc.write_csv)(table, out)
    run("verify", out, *how, code=4)
    out.write_bytes(released[: len(released) // 2])
    run("verify", out, *how, code=3)
    out.write_bytes(released)
    for spoiled in (claims[:99] + "CANARY_job_0001", json.dumps({"certificate": "CANARY_job_0001"})):
        certificate.write_text(spoiled)
        run("verify", out, *how, code=3)
    watch.seen.pop("written file", None)  # what this test wrote itself
    assert watch.leaks == {}


# -- names of files and folders --------------------------------------------------------------------------

NAMES = {"folder", "source", "plan", "trees", "target"}


@pytest.fixture
def named(folder):
    """A table without canaries, at a path that is full of them: source, plan, hierarchies and target."""
    place = folder / "CANARY_folder_0001"
    trees, out = place / "CANARY_trees_0001", place / "CANARY_target_0001"
    for made in (place, trees, out):
        made.mkdir()
    rows = {"age": [20 + i % 8 for i in range(ROWS)], "job": [f"job{i % 4}" for i in range(ROWS)], "ill": ["x"] * ROWS}
    pc.write_csv(pa.table(rows), place / "CANARY_source_0001.csv")
    (trees / "job.csv").write_text("".join(f"job{i},group {i % 2},*\n" for i in range(4)))
    return place / "CANARY_source_0001.csv", place / "CANARY_plan_0001.toml", trees, out / "released.csv"


def test_no_name_of_a_file_or_folder_leaks_beyond_the_screen_of_who_typed_it(run, watch, named):
    source, plan, trees, out = named
    run("inspect", source, "--qi", "age", "job", "--sensitive", "ill", "--plan", plan)
    run("release", source, "-o", out, "--plan", plan, "--hierarchies", trees, "--k", 5, "--json")
    run("report", out, "-o", out.with_name("report.html"))
    run("risk", out, "--original", source, "--json")
    run("verify", out, "--population", source)
    run("ledger", "--json")
    run("release", source.with_name("CANARY_source_0002.csv"), "-o", out, "--k", 5, code=3)
    assert watch.seen.pop("screen") <= NAMES
    assert watch.leaks == {}


def test_a_seeded_name_in_a_certificate_is_seen(run, watch, named, monkeypatch):
    written, (source, _, _, out) = writer.as_json, named
    monkeypatch.setattr("kech.release.release.as_json", lambda found: written({**found, "from": str(source)}))
    run("release", source, "-o", out, "--qi", "age", "--k", 5)
    assert watch.leaks["written file"] == {"folder", "source"}


def test_no_name_of_a_table_of_the_studio_leaks_but_as_the_name_of_its_release(named, tmp_path):
    pytest.importorskip("starlette", reason="the extra `studio` is not installed")
    from studios import running

    name = named[0].name
    with running(tmp_path / "released") as studio:
        table = studio.upload(name, named[0].read_bytes())["id"]
        roles = {"quasi_identifiers": ["age", "job"], "sensitive": ["ill"]}
        studio.give_roles(table, **roles, release={"k": 5})
        answers = [studio.ask(table, verb) for verb in ("inspect", "preview")]
        told = studio.ask(table, "release", folder="safe")
    assert found_in(json.dumps(answers)) == set()
    assert found_in(json.dumps(told).replace(name, "")) == set()
    written = list(files_below(tmp_path / "released"))
    assert {path.name for path, _ in written} >= {name, f"{name}.certificate.json", "report.html", "kech.toml"}
    assert found_in(*(content.replace(name.encode(), b"") for _, content in written)) == set()


# -- exceptions of the library ---------------------------------------------------------------------------


def hanging_on(error):
    """All a log would show of an exception: its own text, its notes, its cause, and its context unless suppressed."""
    yield from (str(error), repr(error), error.args, getattr(error, "__notes__", ()), vars(error))
    yield "".join(traceback.format_exception(error))
    if error.__cause__ is not None:
        yield from hanging_on(error.__cause__)
    if error.__context__ is not None and not error.__suppress_context__:
        yield from hanging_on(error.__context__)


def read(source, **named):
    with kech.read_table(source, quasi_identifiers=["job", "income", "born"], sensitive=["disease"], **named) as table:
        kech.make_release(table, k=5)


@pytest.mark.parametrize("fault", SPOILED)
def test_no_exception_of_a_bad_file_leaks(people, watch, fault):
    spoil(people, SPOILED[fault][0])
    with watch(), pytest.raises(KechError) as caught:
        read(people)
    watch.note("exception", *hanging_on(caught.value))
    assert watch.leaks == {}


FRAMES = {
    "mixed types": lambda: pd.DataFrame(canaries()).assign(job=[1, *canaries()["job"][1:]]),
    "names that are no text": lambda: pd.DataFrame(canaries()).rename(columns={"job": 7}),
    "text among numbers": lambda: pd.DataFrame(canaries(99)).replace({"income": {"73459003": "CANARY_income_0000"}}),
    "a lazy cast": lambda: pl.LazyFrame(canaries()).with_columns(pl.col("job").cast(pl.Int64)),
    "a lazy column": lambda: pl.LazyFrame(canaries()).with_columns(pl.col("jobb")),
    "a lazy query": lambda: duckdb.sql("SELECT CAST('CANARY_job_0001' AS INT) AS job, 1 AS income"),
    "no table": lambda: [canaries()],
    "no table either": lambda: pd.Series(canaries()["job"]),
}


@pytest.mark.parametrize("fault", FRAMES)
def test_no_exception_of_a_bad_frame_leaks(watch, fault):
    frame = FRAMES[fault]()
    with watch(), pytest.raises(KechError) as caught:
        read(frame)
    watch.note("exception", *hanging_on(caught.value))
    assert watch.leaks == {}


def test_no_exception_of_the_engine_leaks(watch, people, monkeypatch):
    with watch(), kech.read_table(people, quasi_identifiers=["job"], sensitive=["disease"]) as table:
        release = kech.make_release(table, k=5)
        monkeypatch.setattr(Engine, "_type_cell", lambda *_: "CAST(source.c3 AS INTEGER)")  # fails at the first row
        with pytest.raises(KechError) as caught:
            release.frame  # noqa: B018
    watch.note("exception", *hanging_on(caught.value))
    assert watch.leaks == {}


# -- the watch has teeth ---------------------------------------------------------------------------------


def test_canaries_are_in_every_column(people):
    assert found_in(people.read_bytes()) == {*TEXTS, "income", "born"}
    assert found_in(canaries()["job"][0].encode("utf-16"), "Canary_DISEASE_0001") == {"job", "disease"}


LEAKS = {
    "a line on the screen": lambda: os.write(1, b"CANARY_name_0001"),
    "a line among the errors": lambda: os.write(2, b"CANARY_name_0001"),
    "a log record": lambda: logging.getLogger("kech").debug("cell %s", "CANARY_name_0001"),
    "a warning": lambda: warnings.warn("CANARY_name_0001", stacklevel=1),
    "a number": lambda: os.write(2, b"row 3: 73459003 is odd"),
    "a moment": lambda: os.write(2, b"1931-03-02T04:17:01Z"),
    "a number in a refusal": lambda: (_ for _ in ()).throw(KechError("73459003")),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_seeded_leak_is_seen(run, watch, people, monkeypatch, leak):
    inspected = kech.inspect_table
    monkeypatch.setattr(kech, "inspect_table", lambda *given, **more: (LEAKS[leak](), inspected(*given, **more))[1])
    run("inspect", people, code=1 if "refusal" in leak else 0)
    assert watch.leaks


def test_a_seeded_leak_into_a_file_is_seen(run, watch, people, folder, monkeypatch):
    monkeypatch.setattr("kech.release.plan.write_plan", lambda *_: "CANARY_name_0001")
    run("inspect", people, "--plan", folder / "kech.toml")
    assert watch.leaks == {"written file": {"name"}}


def test_a_seeded_leak_into_the_release_is_seen(run, watch, people, folder):
    rest = ("--qi", "job", "--keep", "name", "--k", 5)
    run("release", people, "-o", folder / "released.csv", *rest)
    assert watch.leaks == {"release": {"name"}}


@pytest.mark.long
def test_a_spill_that_is_not_encrypted_is_seen(run, watch, folder, monkeypatch):
    connect = DuckDB._connect
    openly = {"temp_file_encryption": False, "force_mbedtls_unsafe": False}
    monkeypatch.setattr(DuckDB, "_connect", lambda self, given: connect(self, given | openly))
    monkeypatch.setattr("kech.tables.duckdb.DUCKDB_SHARE", 0.1)
    write_large(folder / "large.parquet")
    rest = ("--qi", "income", "--keep", "note", "--k", 5, "--memory", "320MB", "--threads", 1)
    run("release", folder / "large.parquet", "-o", folder / "released.parquet", *rest)
    assert "note" in watch.leaks["temporary folder"]


@pytest.mark.parametrize("chain", ["cause", "context", "note", "attribute"])
def test_a_leak_in_the_chain_of_an_exception_is_seen(chain):
    error = KechError("nothing here")
    if chain == "cause":
        error.__cause__ = ValueError("CANARY_name_0001")
    elif chain == "context":
        error.__context__ = ValueError("CANARY_name_0001")
    elif chain == "note":
        error.add_note("CANARY_name_0001")
    else:
        error.cell = "CANARY_name_0001"
    assert found_in(*hanging_on(error)) == {"name"}
    error = KechError("nothing here")
    error.__context__, error.__suppress_context__ = ValueError("CANARY_name_0001"), True
    assert found_in(*hanging_on(error)) == set()
