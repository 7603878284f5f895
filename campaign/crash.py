"""Crash: `kill -9` at every file operation of a release and at random moments, full disks and read-only folders.

usage: python -m campaign.crash [--kills 60] [--seed 0]        random moments for each kind of target
A release over an earlier one: always the old file or the whole new one, its certificate never ahead of it, a line of
the ledger for what was put in place and for nothing else, and nothing left behind after the next run.
"""

import argparse
import csv
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import kech
import kech.release.ledger
import kech.release.release
import kech.system.files
from campaign.core import ROOT, Answer, Child, Tally, import_all, in_child, own_place, run_kech, use_place
from kech.system.console import listen
from kech.tables.source import find_address, open_database

sys.path.insert(0, str(ROOT / "tests"))

from servers import running_postgres

QI, K = ["age", "zip"], 5
OPERATIONS = {"open", "os.rename", "os.remove", "os.chmod", "os.mkdir", "os.rmdir", "shutil.rmtree", "fcntl.flock"}
STATEMENT = "campaign.statement"  # to a server, which is an operation too
SERVER = "CAMPAIGN_POSTGRES"  # where the URL of the server stands, for all children
WHOLE = {("old", "old"), ("new", "old"), ("new", "new")}  # file and certificate
LIMITS = (0, 300, 1_500)  # bytes that a full disk still takes
NOBODY = 65534
WINDOW = "kills_in_the_window"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of target: where it lies, how it is written, and what stands there."""

    name: str
    write: Callable[[Path, Path], Any]  # the folder, the source
    state: Callable[[Path, dict[str, str]], tuple[str, str, str]]  # file, certificate, hash of the release
    address: Callable[[Path], str] | None = None  # of a table in a database


@dataclass(frozen=True, slots=True)
class Scene:
    """An earlier release in its place, and how long the next one takes."""

    kind: Kind
    template: Path
    before: dict[str, str]
    operations: list[str]
    seconds: float  # from the first word of writing to the end


@dataclass(frozen=True, slots=True)
class Moment:
    """When a run is killed: before its n-th operation on files, or some seconds after it begins to write."""

    operation: int | None = None
    delay: float = 0.0


# -- the runs that are killed ----------------------------------------------------------------------------------------


def write_rows(path: Path, rows: int, first: int) -> Path:
    """A small table; another first row makes a table of other people in other places."""
    lines = [f"{20 + 90 * first + i * 7 % 60},{2100 + 10 * first + i % 9},ill{i % 4}" for i in range(rows)]
    path.write_text("age,zip,ill\n" + "\n".join(lines) + "\n", "utf-8")
    return path


def write_file(folder: Path, source: Path, name: str) -> Any:
    """`kech release` into a file."""
    with kech.read_table(source, quasi_identifiers=QI, sensitive=["ill"], threads=1) as table:
        return kech.make_release(table, k=K, effort="quick").write(folder / "out" / name)


def write_table(folder: Path, source: Path, address: str) -> Any:
    """`kech release` into a table of a database."""
    with kech.read_table(source, quasi_identifiers=QI, sensitive=["ill"], threads=1) as table:
        made = kech.make_release(table, k=K, effort="quick")
        return made.write(address, folder / "out" / "safe.json")


def write_folder(folder: Path, source: Path) -> Any:
    """`kech release --folder`, and what the studio does: table, certificate, plan and report in a new folder."""
    with kech.read_table(source, quasi_identifiers=QI, sensitive=["ill"], threads=1) as table:
        made = kech.make_release(table, k=K, effort="quick")
        return kech.publish_release(made, folder / "out" / "safe", "safe.csv")


def write_series(folder: Path, source: Path) -> Any:
    """`kech release --series`: the earlier version has the first rows of the same growing table."""
    if source.name == "earlier.csv":
        write_rows(source, len(source.read_text("utf-8").splitlines()) - 1, 0)
    target = folder / "out" / ("earlier_safe.csv" if source.name == "earlier.csv" else "safe.csv")
    with kech.read_table(source, quasi_identifiers=QI, sensitive=["ill"], threads=1) as table:
        return kech.open_series(folder / "clinic").publish(table, target, k=K, effort="quick")


# -- what stands there afterwards ------------------------------------------------------------------------------------


def state_of_file(folder: Path, before: dict[str, str], name: str) -> tuple[str, str, str]:
    """The file counted anew, and whose certificate lies beside it."""
    path = folder / "out" / name
    found = digest(path)
    if found == before["release"]:
        return "old", whose(path.with_name(name + ".certificate.json"), before, found), found
    whole = is_whole(read_rows(path), before)
    return "new" if whole else "torn", whose(path.with_name(name + ".certificate.json"), before, found), found


def state_of_table(folder: Path, before: dict[str, str], address: str) -> tuple[str, str, str]:
    """Likewise of a table, whose text has the hash."""
    text = folder / "text.csv"
    with open_database(find_address(address)) as database:
        database.export(text)
    found, rows = digest(text), read_rows(text)
    text.unlink()
    file = "old" if found == before["release"] else "new" if is_whole(rows, before) else "torn"
    return file, whose(folder / "out" / "safe.json", before, found), found


def state_of_folder(folder: Path, before: dict[str, str]) -> tuple[str, str, str]:
    """Nothing, or all of it."""
    safe = folder / "out" / "safe"
    if not safe.exists():
        return "old", "old", ""
    names = {path.name for path in safe.iterdir()}
    missing = {"safe.csv", "safe.csv.certificate.json", "kech.toml", "report.html"} - names
    found = digest(safe / "safe.csv")
    whole = not missing and is_whole(read_rows(safe / "safe.csv"), before)
    return "new" if whole else "torn", whose(safe / "safe.csv.certificate.json", before, found), found


def state_of_series(folder: Path, before: dict[str, str]) -> tuple[str, str, str]:
    """The earlier version alone, or the next one beside it; a certificate that is not there yet is an old one."""
    out = folder / "out"
    if not (out / "safe.csv").exists():
        certified = (out / "safe.csv.certificate.json").exists()
        return "old", "of nothing there" if certified else "old", digest(out / "earlier_safe.csv")
    file, certificate, found = state_of_file(folder, before, "safe.csv")
    return file, certificate if (out / "safe.csv.certificate.json").exists() else "old", found


def read_rows(path: Path) -> list[tuple[Any, ...]]:
    """Rows without their header; a file that cannot be read has none."""
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(path)
            return list(zip(*(table.column(name).to_pylist() for name in ("age", "zip", "ill")), strict=True))
        with path.open(encoding="utf-8", newline="") as file:
            return [tuple(row) for row in csv.reader(file, strict=True)][1:]
    except Exception:
        return []


def is_whole(rows: list[tuple[Any, ...]], before: dict[str, str]) -> bool:
    """All rows are there, and every class has k of them."""
    sizes = Counter(row[:2] for row in rows)
    return len(rows) == int(before["rows"]) and min(sizes.values(), default=0) >= K


def whose(certificate: Path, before: dict[str, str], found: str) -> str:
    """Whose certificate this is."""
    if digest(certificate) == before["certificate"]:
        return "old"
    try:
        return "new" if json.loads(certificate.read_bytes())["file"]["sha256"] == found else "of nothing there"
    except (OSError, ValueError, LookupError):
        return "torn"


def digest(path: Path) -> str:
    """SHA-256 of a file; nothing where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def file_kind(name: str) -> Kind:
    """A file of this name."""
    return Kind(
        name.partition(".")[2],
        lambda folder, source: write_file(folder, source, name),
        lambda folder, before: state_of_file(folder, before, name),
    )


def table_kind(name: str, address: Callable[[Path], str]) -> Kind:
    """A table at this address."""
    return Kind(
        name,
        lambda folder, source: write_table(folder, source, address(folder)),
        lambda folder, before: state_of_table(folder, before, address(folder)),
        address,
    )


KINDS = {
    kind.name: kind
    for kind in (
        file_kind("safe.csv"),
        file_kind("safe.parquet"),
        Kind("folder", write_folder, state_of_folder),
        Kind("series", write_series, state_of_series),
        table_kind("duckdb", lambda folder: f"duckdb:{folder}/out/base.db#safe"),
        table_kind("postgres", lambda folder: f"{database_url('trial')}?table=safe"),
    )
}


# -- a server --------------------------------------------------------------------------------------------------------


def database_url(name: str) -> str:
    """A database of the server of this run."""
    return f"{os.environ[SERVER].rpartition('/')[0]}/{name}"


def tell_server(*statements: str, database: str = "postgres") -> list[Any]:
    """What the last statement finds."""
    import psycopg

    found: list[Any] = []
    with psycopg.connect(database_url(database), autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
            found = cursor.fetchall() if cursor.description else []
    return found


def wait_for_server(seconds: float = 30.0) -> bool:
    """Until the server has seen that whoever was killed is gone: it ends what they began, one way or the other."""
    end = time.monotonic() + seconds
    while tell_server("SELECT 1 FROM pg_stat_activity WHERE datname = 'trial'"):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def announce_statements() -> None:
    """Make every statement an operation that can be the last."""
    import psycopg

    execute = psycopg.Connection.execute

    def say_and_execute(self: Any, *given: Any, **named: Any) -> Any:
        sys.audit(STATEMENT, "")
        return execute(self, *given, **named)

    psycopg.Connection.execute = say_and_execute  # type: ignore[method-assign,assignment]


# -- a trial ---------------------------------------------------------------------------------------------------------


def prepare(folder: Path, kind: Kind, rows: int, say: Any) -> dict[str, str]:
    """An earlier release of another table in its place, and what is known of it."""
    del say
    use_place(folder)
    (folder / "out").mkdir()
    source = write_rows(folder / "people.csv", rows, 0)
    if kind.name != "folder":
        kind.write(folder, write_rows(folder / "earlier.csv", rows - 20, 3))
    state = kind.state(folder, {"release": "", "certificate": "", "rows": str(rows - 20)})
    certificates = [path for path in (folder / "out").iterdir() if path.name.endswith(".json")]
    return {
        "release": state[2],
        "certificate": digest(certificates[0]) if certificates else "",
        "rows": str(rows),
        "source": source.name,
    }


def work(folder: Path, kind: Kind, operation: int | None, fault: str | None, say: Any) -> list[str]:
    """Write a release, telling when it begins; stop dead before the n-th operation; which ones there were."""
    FAULTS[fault]() if fault else None
    use_place(folder)
    seen: list[str] = []
    writing = Event()

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if writing.is_set() and event in {*OPERATIONS, STATEMENT} and (event != "open" or str(folder) in str(given[0])):
            if len(seen) == operation:
                os.kill(os.getpid(), signal.SIGKILL)
            seen.append(event)

    def hear(what: str, share: float | None) -> None:
        if what == "writing" and share is None and not writing.is_set():
            writing.set()
            say("writing")

    if kind.name == "postgres":
        announce_statements()
    sys.addaudithook(watch)
    with listen(hear):
        kind.write(folder, folder / "people.csv")
    return seen


def lay_out(template: Path, kind: Kind) -> Path:
    """Everything as it was before, to be tried on."""
    folder = template.with_name("trial")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    if kind.name == "postgres":
        tell_server("DROP DATABASE trial WITH (FORCE)", "CREATE DATABASE trial TEMPLATE kept")
    return folder


def kill_at(folder: Path, kind: Kind, moment: Moment, fault: str | None) -> Answer:
    """Run and kill; "killed" if it was killed while it wrote."""
    child = Child(work, folder, kind, moment.operation, fault)
    if moment.operation is None:
        child.wait_for("writing")
        time.sleep(moment.delay)
        child.kill()
    return child.result()


def look(folder: Path, kind: Kind, before: dict[str, str], say: Any) -> tuple[str, str, str]:
    """The state, seen by a process of its own."""
    del say
    use_place(folder)
    return kind.state(folder, before)


def try_moment(tally: Tally, scene: Scene, moment: Moment, fault: str | None = None) -> None:
    """Kill a run, look at what stands, run again, look again."""
    kind, before, folder = scene.kind, scene.before, lay_out(scene.template, scene.kind)
    answer = kill_at(folder, kind, moment, fault)
    where = (
        f"{kind.name}, {f'operation {moment.operation}' if moment.operation is not None else f'{moment.delay:.3f} s'}"
    )
    tally.expect(answer.word in ("killed", "done"), f"{where}: {answer.word} {answer.value}")
    tally.expect(kind.name != "postgres" or wait_for_server(), f"{where}: the server goes on with what was begun")
    file, certificate, release = in_child(look, folder, kind, before)
    tally.expect((file, certificate) in WHOLE, f"{where}: the file is {file}, its certificate {certificate}")
    entered = ledger_of(folder)
    tally.expect(file != "new" or release in entered, f"{where}: in place, and not in the ledger")
    again = Child(work, folder, kind, None, fault).result()
    released = file == "new" and (certificate == "old" or kind.name in ("folder", "series") or kind.address)
    tally.expect(again.word == ("refused" if released else "done"), f"{where}: then {again.word} {again.value}")
    after = in_child(look, folder, kind, before)
    healed = after[:2] == ("new", "new")  # a series puts the certificate in place, even when it refuses
    tally.expect((released and kind.name != "series") or healed, f"{where}: the next run left {after[:2]}")
    known = {before["release"], release if file == "new" else "", after[2]} - {""}
    tally.expect(set(ledger_of(folder)) == known, f"{where}: the ledger does not know what was put in place")
    if kind.name == "series":
        wanted = [before["release"], after[2]]
        tally.expect(in_child(look_at_series, folder) == wanted, f"{where}: the series knows other versions")
    left = left_behind(folder, kind)
    tally.expect(not left, f"{where}: left behind {left}")
    in_window = answer.word == "killed"
    tally.cases, tally.faults = tally.cases + 1, tally.faults + in_window
    tally.figures[WINDOW] = tally.figures.get(WINDOW, 0) + in_window


def look_at_series(folder: Path, say: Any) -> list[str]:
    """The versions of a series, whose last file holds."""
    del say
    use_place(folder)
    kech.verify_series(folder / "clinic")
    return [each["release"] for each in kech.open_series(folder / "clinic").to_json()["versions"]]


def left_behind(folder: Path, kind: Kind) -> list[str]:
    """Drafts that nobody will ever want: files, folders and tables."""
    found = [path.name for path in folder.rglob("*") if "kech-draft" in path.name or "kech-folder" in path.name]
    if kind.name == "postgres":
        drafts = tell_server("SELECT relname FROM pg_class WHERE relname LIKE '%kech-draft%'", database="trial")
        found += [name for (name,) in drafts]
    return sorted(found)


def ledger_of(folder: Path) -> list[str]:
    """The hashes in the ledger."""
    path = folder / "home" / "ledger.json"
    return [line["release"] for line in json.loads(path.read_bytes())["releases"]] if path.exists() else []


def set_scene(place: Path, kind: Kind, rows: int = 120) -> Scene:
    """Release an earlier table, then the table itself without any harm."""
    template = place / kind.name / "template"
    template.mkdir(parents=True)
    if kind.name == "postgres":
        tell_server(*(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)" for name in ("trial", "kept")))
        tell_server("CREATE DATABASE trial")
    before = in_child(prepare, template, kind, rows)
    if kind.name == "postgres":
        wait_for_server()
        tell_server("CREATE DATABASE kept TEMPLATE trial")
    child = Child(work, lay_out(template, kind), kind, None, None)
    begun = child.wait_for("writing")
    answer = child.result() if begun.word == "writing" else begun
    if answer.word != "done":
        raise RuntimeError(f"{kind.name} cannot be written: {answer.word} {answer.value}")
    return Scene(kind, template, before, answer.value, time.monotonic() - begun.value)


# -- full disks and folders that cannot be written -------------------------------------------------------------------


def refused(folder: Path, kind: Kind, limit: int | None, say: Any) -> tuple[int, str]:
    """`kech release` where no file may grow beyond a limit, or (None) where nobody may write to the folder."""
    del say
    use_place(folder)
    in_series = kind.name == "series"
    target = kind.address(folder) if kind.address else f"{folder}/out/safe.{'csv' if in_series else kind.name}"
    more = ["--certificate", folder / "out" / "safe.json"] if kind.address else []
    more += ["--series", folder / "clinic"] if in_series else []
    words = ("release", folder / "people.csv", "--qi", *QI, "--sensitive", "ill", "--k", K, "--effort", "quick")
    if limit is None:
        run_kech(*words, "-o", folder / "tmp" / "first.csv", "--no-ledger")  # nobody may not even import
        give_away(folder)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    outcome = run_kech(*words, "-o", target, *more)
    return outcome.code, outcome.err


def give_away(folder: Path) -> None:
    """All is read-only but temporary files and the ledger; nobody is root any more."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for name in ("tmp", "home"):
        for path in (folder / name, *(folder / name).rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
    folder.parent.parent.chmod(0o755)
    if os.geteuid() == 0:
        for path in folder.rglob("*"):
            os.chown(path, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def fill_disk(tally: Tally, scene: Scene, limits: tuple[int | None, ...] = (*LIMITS, None)) -> None:
    """Refused with exit code 5 or 3, the old file as it was, nothing left behind, nothing in the ledger."""
    kind, template = scene.kind, scene.template
    before = in_child(count_before, lay_out(template, kind), kind)
    for limit in limits:
        trial = lay_out(template, kind)
        code, said = in_child(refused, trial, kind, limit)
        where = f"{kind.name}, {'read-only' if limit is None else f'a disk of {limit} bytes'}"
        tally.expect(code in (3, 5) and "Internal" not in said, f"{where}: exit {code}: {said}")
        tally.expect(in_child(count_before, trial, kind) == before, f"{where}: the old release changed")
        left = left_behind(trial, kind)
        tally.expect(not left, f"{where}: left behind {left}")
        tally.cases, tally.faults = tally.cases + 1, tally.faults + 1


def count_before(folder: Path, kind: Kind, say: Any) -> dict[str, Any]:
    """Files and ledger as they stand; a database by its rows."""
    del say
    files = {path.name: digest(path) for path in (folder / "out").iterdir() if path.suffix not in (".db", ".wal")}
    table = kind.state(folder, {"release": "", "certificate": "", "rows": "0"})[2] if kind.address else ""
    return {"files": files, "table": table, "ledger": ledger_of(folder)}


# -- faults, to see that they are seen -------------------------------------------------------------------------------


def write_naively() -> None:
    """Copy a draft over its target piece by piece."""

    def copy(moves: Any, *, private: bool = False) -> None:
        del private
        for draft, target in moves.items():
            with target.open("wb") as file:
                for byte in draft.read_bytes()[::-1]:
                    file.write(bytes([byte]))
                (target.parent / "out.lock").touch()
            draft.unlink()

    kech.release.release.put_in_place = copy


def certify_first() -> None:
    """Put the certificate in place before its file."""
    placed = kech.system.files.put_in_place

    def reverse(moves: Any, *, private: bool = False) -> None:
        for draft, target in reversed(moves.items()):
            placed({draft: target}, private=private)

    kech.release.release.put_in_place = reverse


def leave_drafts() -> None:
    """Never clear what killed runs left."""
    kech.system.files.remove_leftovers = lambda folder, pattern: None


def never_recover() -> None:
    """Let lines of the ledger stand whatever became of them."""
    kech.release.ledger.Ledger.recover = lambda self: None


def forget_ledger() -> None:
    """Enter a release after it is put in place, and not before."""

    def write_late(self: kech.Ledger, book: Any, releases: Sequence[Any]) -> None:
        if not any(entry.draft for entry in releases):
            WRITE(self, book, releases)

    kech.release.ledger.Ledger.write = write_late  # type: ignore[method-assign]


WRITE = kech.release.ledger.Ledger.write
FAULTS: dict[str | None, Callable[[], None]] = {
    "written naively": write_naively,
    "certified first": certify_first,
    "drafts left": leave_drafts,
    "never recovered": never_recover,
    "entered too late": forget_ledger,
}


def main() -> int:
    """All kinds of targets."""
    parser = argparse.ArgumentParser(description="Kill releases while they are written.")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS), action="append")
    asked = parser.parse_args()
    tally, rng = Tally("crash"), random.Random(asked.seed)
    import_all()
    with ExitStack() as running:
        place = running.enter_context(own_place())
        kinds = [KINDS[name] for name in asked.kind or KINDS]
        try:
            os.environ[SERVER] = running.enter_context(running_postgres()) if KINDS["postgres"] in kinds else ""
        except pytest.skip.Exception as reason:
            print(f"postgres is left out: {reason}")
            kinds.remove(KINDS["postgres"])
        for kind in kinds:
            scene = set_scene(place, kind)
            moments = [Moment(operation=i) for i in range(len(scene.operations))]
            moments += [Moment(delay=rng.uniform(0, scene.seconds)) for _ in range(asked.kills)]
            for moment in moments:
                try_moment(tally, scene, moment)
            print(f"{kind.name}: {len(moments)} moments in {scene.seconds:.2f} s of writing", flush=True)
            if kind.name != "folder":
                fill_disk(tally, scene)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
