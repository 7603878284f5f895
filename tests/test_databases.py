"""Tables of databases: addresses, sources, targets written whole or not at all, and what they never show."""

import fcntl
import json
import re
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Timer

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import kech
from by_hand import held_rows
from failing import refuse_query
from kech.errors import BadOption, BadTarget, NoSuchFile, OutOfMemory, ResourceError, UnreadableFile
from kech.tables.demo import generate_town
from kech.tables.duckdb import DuckDB
from kech.tables.duckdb_files import DuckDBDraft
from kech.tables.source import find_address, open_database
from test_bad_input import largest_file

pytestmark = [
    pytest.mark.usefixtures("temporary"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets that Spark leaves to its own end
]
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["diagnosis"]}


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def base(request, folder):
    """The address of a table called by any name, in a database of its own."""
    if request.param == "spark":
        request.getfixturevalue("spark")("spark")
        return lambda name: f"file://{folder}/{name}"
    if request.param == "duckdb":
        return lambda name: f"duckdb:{folder / 'base.db'}#{name}"
    url = request.getfixturevalue("postgres")
    sql(url, "DROP SCHEMA IF EXISTS town CASCADE", "CREATE SCHEMA town")
    return lambda name: f"{url}?table=town.{name}"


def sql(url, *statements):
    """Statements of somebody else, and the rows of the last."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        found = [connection.execute(statement) for statement in statements][-1]
        return found.fetchall() if found.description else None


def store(address, table):
    """A table of somebody else: kech did not write it."""
    found = find_address(address)
    if found.scheme == "duckdb":
        with duckdb.connect(found.location) as connection:
            connection.register("incoming", table)
            connection.execute(f'CREATE OR REPLACE TABLE "{found.names[-1]}" AS FROM incoming')
    elif found.scheme == "spark":
        pq.write_table(table, found.location.removeprefix("file://"))
    else:
        from test_engines import put_into_postgres

        put_into_postgres(address, table)


def rows_of(address, folder):
    with open_database(find_address(address)) as database:
        database.export(folder / "export.csv")
    return (folder / "export.csv").read_bytes()


def town(rows=400):
    return pa.table(generate_town(rows))


def release(source, **options):
    with kech.read_table(source, **ROLES) as table:
        yield kech.make_release(table, k=5, protect="none", effort="quick", **options)


# -- addresses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "names", "shown"),
    [
        ("duckdb:a b.db#t", "a b.db", ("t",), "duckdb:a b.db#t"),
        ('duckdb:x#y.db#"a.b"."c""d"', "x#y.db", ("a.b", 'c"d'), 'duckdb:x#y.db#"a.b"."c""d"'),
        ("postgresql://u@h:5/b?table=s.t", "postgresql://u@h:5/b", ("s", "t"), "postgresql://u@h:5/b?table=s.t"),
        (
            "postgres://u:secret@h/b?sslmode=require&table=t",
            "postgres://u:secret@h/b?sslmode=require",
            ("t",),
            "postgres://u@h/b?table=t",
        ),
        (
            "postgresql:///b?table=t&password=secret",
            "postgresql:///b?password=secret",
            ("t",),
            "postgresql:///b?table=t",
        ),
        ("spark://h:7077/data/a b", "/data/a b", ("a b",), "spark://h:7077/data/a b"),
        ("s3a://bucket/x/t.parquet/", "s3a://bucket/x/t.parquet/", ("t.parquet",), "s3a://bucket/x/t.parquet/"),
        ("S3A://key:secret@bucket/t", "s3a://key:secret@bucket/t", ("t",), "s3a://key@bucket/t"),
        ("s3a://key:se/secret@bucket/t", "s3a://key:se/secret@bucket/t", ("t",), "s3a://key@bucket/t"),
        ("hdfs://names:8020/x@y/t", "hdfs://names:8020/x@y/t", ("t",), "hdfs://names:8020/x@y/t"),
        ("abfss://a@b.net/x@y/t", "abfss://a@b.net/x@y/t", ("t",), "abfss://a@b.net/x@y/t"),
        ("spark://u:secret@h:7077/x/t", "/x/t", ("t",), "spark://u@h:7077/x/t"),
        ("file:///x:y@z/t", "file:///x:y@z/t", ("t",), "file:///x:y@z/t"),
    ],
)
def test_an_address_names_a_table_and_hides_a_password(text, place, names, shown):
    found = find_address(text)
    assert (found.location, found.names, str(found)) == (place, names, shown)
    assert "secret" not in str(found) + repr(found)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://u:secret@h/b?table=t",
        "postgresql:///b?host=/run/other&port=5433&password=secret&options=-csearch_path%3Ds&table=t",
        "postgresql:///b?table=a%2Bb",
        "postgresql:///b?table=%22a.b%26c%22.%22d%22%22e%3Ftable%3Df%22",
        'duckdb:x#y.db#"a.b"."c""d"',
        "spark://h:7077/data/a b",
    ],
)
def test_what_the_ledger_keeps_names_the_same_table_without_a_password(text):
    """Another server, or another table of it, would say that a release was never put in place."""
    given, kept = find_address(text), find_address(find_address(text).anywhere)
    assert "secret" not in given.anywhere
    assert (kept.names, kept.master) == (given.names, given.master)
    if given.scheme == "postgresql":
        known, again = (psycopg.conninfo.conninfo_to_dict(found.location) for found in (given, kept))
        assert again == {name: value for name, value in known.items() if name != "password"}


@pytest.mark.parametrize("text", ["people.csv", "C:/people.csv", "postgresql", "a:b.csv", Path("duckdb:x#y")])
def test_a_file_is_no_address(text):
    assert find_address(text) is None


@pytest.mark.parametrize(
    "text", ["duckdb:x", "duckdb:#t", "duckdb:x#", "postgresql://h/b", "postgresql://h/b?table=", "duckdb:x#a.b.c"]
)
def test_an_address_without_a_table_is_refused(text):
    with pytest.raises(BadOption, match="Name one table"):
        find_address(text)


@pytest.mark.parametrize("text", ["spark://h:7077", "spark://h:7077/", "spark:///x", "s3a://bucket", "file:///"])
def test_an_address_on_spark_without_a_path_is_refused(text):
    with pytest.raises(BadOption, match="Name the path"):
        find_address(text)


# -- sources ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "postgresql+psycopg://alice:s3cret@host/base?table=t",
        "PostgreSQL://alice:s3cret@host/base",
        "postgresql://[alice:s3cret@host/base",
        "mysql://alice:s3cret@host/base?table=t",
    ],
)
def test_what_is_no_address_of_ours_is_refused_without_its_password(text):
    with pytest.raises(BadOption) as refused:
        kech.read_table(text)
    assert "s3cret" not in str(refused.value)


def test_a_password_with_a_slash_is_hidden():
    assert str(find_address("PostgreSQL://alice:s3/cr@et@host/base?table=t")) == "postgresql://alice@host/base?table=t"


@pytest.mark.parametrize(
    ("kind", "cell"),
    [("date", "'0044-03-15 BC'"), ("timestamp", "'infinity'"), ("numeric(10, 2)", "'NaN'"), ("date", "'20000-01-01'")],
)
def test_what_no_file_can_hold_is_refused_without_the_cell(postgres, folder, kind, cell):
    with psycopg.connect(postgres) as connection:
        connection.execute(
            f"CREATE TABLE unheld AS SELECT g AS age, {cell}::{kind} AS kept FROM generate_series(1, 9) AS g"
        )
    address = f"{postgres}{'&' if '?' in postgres else '?'}table=unheld"
    try:
        with kech.read_table(address, quasi_identifiers=["age"], keep=["kept"]) as table:
            kech.make_release(table, k=3).write(folder / "out.csv")
    except kech.errors.KechError as refusal:
        assert "'kept' has a value that kech cannot read" in str(refusal)
        assert not {"0044", "20000"} & set(re.findall(r"\d+", str(refusal)))
        assert not (folder / "out.csv").exists()
    finally:
        with psycopg.connect(postgres) as connection:
            connection.execute("DROP TABLE unheld")


def test_a_new_file_has_no_schema_of_its_own(folder):
    with kech.read_table(generate_town(50), quasi_identifiers=["age"]) as table:
        for place in (f"duckdb:{folder}/new.db#other.people", f"duckdb:{folder}/none/new.db#people"):
            with pytest.raises(BadTarget):
                kech.make_release(table, k=3).write(place, folder / "people.json")
    assert not list(folder.glob("*.db"))


def test_a_table_of_a_database_is_read_like_a_frame(base):
    store(base("people"), town())
    with kech.read_table(base("people"), **ROLES) as table, kech.read_table(town(), **ROLES) as frame:
        assert table.columns == frame.columns
        assert [table.facts(name) for name in table.loaded] == [frame.facts(name) for name in frame.loaded]


@pytest.mark.parametrize("name", ["nothing", '"peo.ple"', '"PEOPLE "'])
def test_a_table_that_is_not_there_is_refused(base, name):
    store(base("people"), town(10))
    with pytest.raises(UnreadableFile, match="no such table"):
        kech.read_table(base(name))


def test_a_view_is_a_table(base):
    store(base("people"), town(50))
    found = find_address(base("people"))
    statement = "CREATE VIEW {0} AS SELECT age, sex FROM {1} WHERE age > 40"
    if found.scheme == "spark":
        pytest.skip("a folder of files has no views")
    if found.scheme == "duckdb":
        with duckdb.connect(found.location) as connection:
            connection.execute(statement.format("old", "people"))
    else:
        sql(found.location, statement.format("town.old", "town.people"))
    with kech.read_table(base("old")) as table:
        ages, counts = table.engine.count_values(0, "number")
        assert min(ages) > 40
        assert counts.sum() == table.rows < 50


def test_a_file_that_is_written_keeps_to_a_part_of_the_memory(folder):
    address = find_address(f"duckdb:{folder / 'base.db'}#safe")
    rows = pa.table({"a": [f"{i:0100}" for i in range(200_000)]})
    settings = "SELECT current_setting('memory_limit'), current_setting('threads')"
    with open_database(address, 320_000_000) as database, database.write_draft(rows.to_reader()) as draft:
        assert draft.connection.execute(settings).fetchone() == ("30.5 MiB", 1)
        draft.export(folder / "rows.csv")
        draft.put_in_place()
        with database.open_reader() as connection:
            assert connection.execute(settings).fetchone() == ("30.5 MiB", 1)
    assert (folder / "rows.csv").read_text("utf-8").count("\n") == 200_001

    with (
        pytest.raises(OutOfMemory, match="while writing the table: it needs about 10 MB of memory, and 5 MB"),
        open_database(find_address(f"duckdb:{folder / 'other.db'}#safe"), 5_000_000) as database,
        database.write_draft(rows.to_reader()),
    ):
        raise AssertionError


def test_what_a_file_spills_lies_in_a_private_folder_and_not_beside_it(folder):
    with duckdb.connect(folder / "base.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT sha256(range::VARCHAR) AS a FROM range(600_000)")
    with open_database(find_address(f"duckdb:{folder / 'base.db'}#t"), 320_000_000) as database:
        with database.open_reader() as connection, connection.cursor() as cursor:
            rows = cursor.sql("SELECT a FROM target.main.t ORDER BY a").to_arrow_reader(1000)
            rows.read_next_batch()
            (spilled,) = connection.execute("SELECT current_setting('temp_directory')").fetchone()
            assert any(Path(spilled).iterdir())
            assert Path(spilled).parent.stat().st_mode & 0o777 == 0o700
            assert [path.name for path in folder.iterdir()] == ["base.db"]
        assert not Path(spilled).parent.exists()


@pytest.mark.parametrize("name", ["new.db", "link.db"])
def test_a_file_that_was_made_for_a_table_is_gone_if_that_does_not_fit(folder, name):
    rows = pa.table({"a": [f"{i:0100}" for i in range(20_000)]})
    (folder / "link.db").symlink_to("new.db")
    with (
        pytest.raises(OutOfMemory, match="while writing the table"),
        open_database(find_address(f"duckdb:{folder / name}#t"), 320_000_000) as database,
        database.write_draft(rows.to_reader()) as draft,
    ):
        draft.connection.execute("SET memory_limit = '1MB'")
        draft.put_in_place()
    assert [path.name for path in folder.iterdir()] == ["link.db"]


@pytest.fixture
def small_release(folder):
    """A release in a file of DuckDB, and the words that would replace it by one of another table."""
    store_csv(folder / "people.csv", 60)
    store_csv(folder / "more.csv", 9_000)
    words = ["--qi", "age", "sex", "--k", 5, "--effort", "quick", "--certificate", folder / "safe.json"]
    words += ["-o", f"duckdb:{folder / 'base.db'}#safe"]
    with kech.read_table(folder / "people.csv", **ROLES) as table:
        kech.make_release(table, k=5, effort="quick").write(words[-1], folder / "safe.json")
    return ["release", folder / "more.csv", *words]


def store_csv(path, rows):
    pa.csv.write_csv(town(rows), path)


def with_a_full_disk(monkeypatch, most):
    """No file may grow beyond so many bytes once the release takes its place."""
    put = DuckDBDraft.put_in_place

    def put_on_full_disk(draft):
        with largest_file(most):
            put(draft)

    monkeypatch.setattr(DuckDBDraft, "put_in_place", put_on_full_disk)


@pytest.mark.parametrize("most", [0, pytest.param(5_000, marks=pytest.mark.long), 20_000])
@pytest.mark.parametrize("new", [True, False])
def test_a_full_disk_under_a_file_of_duckdb_is_refused_with_what_to_do(refuse, small_release, monkeypatch, most, new):
    address = small_release[-1].replace("base.db", "new.db" if new else "base.db")
    with_a_full_disk(monkeypatch, most)
    says = f"Cannot write {address!r}: file too large. Free some space on its disk, or write to another.\n"
    refuse(*small_release[:-1], address, code=5, says=says)


def test_a_full_disk_under_temporary_files_names_their_folder(folder):
    rows = pa.table({"a": [f"{i:0100}" for i in range(20_000)]})
    address = find_address(f"duckdb:{folder / 'base.db'}#t")
    with (
        largest_file(20_000),
        pytest.raises(
            ResourceError, match=r"The disk is full while writing the table\. Free some space, or set TMPDIR"
        ),
        open_database(address) as database,
        database.write_draft(rows.to_reader()),
    ):
        raise AssertionError
    assert not list(folder.iterdir())


def test_rows_that_are_in_place_stay_there_though_the_disk_has_no_room_to_tidy_up(
    run, folder, small_release, monkeypatch
):
    """The log of a file has room for them, the file itself has not."""
    with_a_full_disk(monkeypatch, (folder / "base.db").stat().st_size + 10_000)
    assert run(*small_release).code == 0
    assert (folder / "base.db.wal").stat().st_size > 0
    assert kech.verify_release(small_release[-1], certificate=folder / "safe.json")["rows"] == 9_000


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OutOfMemory("publishing", 1, 2)])
def test_what_ends_the_rows_of_a_release_ends_its_table_in_the_same_words(folder, failure):
    def failing():
        yield pa.record_batch({"a": [1]})
        raise failure

    rows = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), failing())
    address = find_address(f"duckdb:{folder / 'base.db'}#t")
    with pytest.raises(type(failure)) as caught, open_database(address) as database, database.write_draft(rows):
        raise AssertionError
    assert str(caught.value) == str(failure)


@contextmanager
def writing(folder, memory=None):
    """While a table is written to a file, before it takes its place."""
    address = find_address(f"duckdb:{folder / 'base.db'}#t")
    with (
        open_database(address, memory) as database,
        database.write_draft(pa.table({"a": [1]}).to_reader()) as draft,
    ):
        yield draft


def test_ctrl_c_in_the_midst_of_a_query_of_a_file_is_ctrl_c(folder):
    for failure in (duckdb.InterruptException("INTERRUPT Error"), RuntimeError("Query interrupted")):
        with pytest.raises(KeyboardInterrupt), writing(folder):
            raise failure
    with pytest.raises(RuntimeError, match="other"), writing(folder):
        raise RuntimeError("other")


@pytest.mark.parametrize(
    "doing",
    [
        "reading the schema of the object registered as 'incoming' failed",
        "counting the rows of the object registered as 'in\ncoming' failed",
        "exporting a stream from the object registered as 'incoming' failed",
    ],
)
def test_ctrl_c_while_duckdb_looks_at_rows_that_are_handed_over_is_ctrl_c(folder, doing):
    """It was a fault of the engine."""
    said = f"Invalid Input Error: {doing}: {{}}: "
    stopped = duckdb.InvalidInputException(said.format("KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt), writing(folder):
        raise stopped
    assert isinstance(refuse_query(stopped, "loading labels"), KeyboardInterrupt)
    with pytest.raises(ResourceError, match="DuckDB failed while writing the table"), writing(folder):
        raise duckdb.InvalidInputException(said.format("ValueError"))


class Pressed:
    """A connection whose query ends with Ctrl-C, as when a long log is read."""

    def execute(self, query):
        raise RuntimeError("Query interrupted")


def test_ctrl_c_while_a_file_is_opened_is_ctrl_c(folder):
    address, engine = find_address(f"duckdb:{folder / 'base.db'}#t"), DuckDB()
    with pytest.raises(KeyboardInterrupt), writing(folder) as draft:
        draft.connection = Pressed()
        draft.put_in_place()
    engine.connection = Pressed()
    with pytest.raises(KeyboardInterrupt):
        engine.attach(address)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_while_a_table_takes_its_place_waits_until_all_of_it_is_there(run, folder, small_release, monkeypatch):
    """Rows were new, their certificate was that of the rows before, and the ledger knew nothing of them."""
    replace_table = DuckDBDraft.replace

    def replace_and_press(draft):
        replace_table(draft)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(DuckDBDraft, "replace", replace_and_press)
    assert run(*small_release).code == 130
    assert kech.verify_release(small_release[-1], certificate=folder / "safe.json")["rows"] == 9_000
    assert len(kech.open_ledger().list_releases()) == 2


HOLD = (
    "import duckdb, sys; held = duckdb.connect(sys.argv[1], read_only=bool(sys.argv[2])); print(1, flush=True); input()"
)


@contextmanager
def held_elsewhere(path, mode):
    """Another program has the file open."""
    words = [sys.executable, "-c", HOLD, path, mode]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        holder.stdout.readline()
        try:
            yield holder.pid
        finally:
            holder.communicate("\n")


@pytest.mark.parametrize("mode", ["", "read only"])
def test_a_file_that_another_program_has_open_is_refused_before_anything_is_read(
    refuse, folder, small_release, monkeypatch, mode
):
    monkeypatch.setattr("kech.tables.duckdb_files.PATIENCE", 0.2)
    monkeypatch.setattr("kech.tables.table.open_source", None)
    with held_elsewhere(folder / "base.db", mode) as program:
        reason = f"another program has it open (process {program}). Close it there, and try again.\n"
        refuse(*small_release, code=5, says=f"Cannot write {small_release[-1]!r}: {reason}")


@pytest.mark.parametrize("mode", ["", "read only"])
def test_a_file_that_is_opened_while_a_release_is_made_is_refused_in_the_same_words(
    refuse, folder, small_release, monkeypatch, mode
):
    monkeypatch.setattr("kech.tables.duckdb_files.PATIENCE", 0.2)
    export = DuckDBDraft.export
    with ExitStack() as later:

        def export_and_open(draft, path):
            export(draft, path)
            later.enter_context(held_elsewhere(folder / "base.db", mode))

        monkeypatch.setattr(DuckDBDraft, "export", export_and_open)
        refuse(*small_release, code=5, says="another program has it open (process")


def test_a_file_that_is_open_for_a_moment_is_waited_for(run, folder, small_release):
    holding = ExitStack()
    holding.enter_context(held_elsewhere(folder / "base.db", ""))
    end = Timer(0.5, holding.close)
    end.start()
    assert run(*small_release).code == 0
    end.join()


def test_a_file_that_another_program_writes_cannot_be_read(folder, small_release, monkeypatch):
    monkeypatch.setattr("kech.tables.duckdb_files.PATIENCE", 0.2)
    with (
        held_elsewhere(folder / "base.db", ""),
        pytest.raises(UnreadableFile, match=r"another program has it open \(process \d+\). Close it there"),
    ):
        kech.read_table(small_release[-1])


def test_a_table_that_kech_did_not_write_is_refused_before_anything_is_read(
    refuse, base, folder, small_release, monkeypatch
):
    if base("x").startswith("file:"):
        pytest.skip("Spark is started as the table needs it, so it is asked later")
    store(base("taken"), town(10))
    monkeypatch.setattr("kech.tables.table.open_source", None)
    refuse(*small_release[:-1], base("taken"), code=2, says="a table of this name exists that kech did not write.")


@pytest.mark.parametrize("name", ["base.db", "link.db"])
def test_a_log_that_a_crash_left_is_not_worked_in_by_looking(folder, name):
    """Whoever opens such a file to write changes it."""
    crash = "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute('CREATE TABLE t (a INT)'); os._exit(0)"
    subprocess.run([sys.executable, "-c", crash, folder / "base.db"], check=True)
    (folder / "link.db").symlink_to("base.db")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(before) == {"base.db", "base.db.wal", "link.db"}
    with open_database(find_address(f"duckdb:{folder / name}#safe")) as database:
        database.check_free()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("lacking", ["could not allocate", "failed to pin"])
def test_a_commit_that_lacks_memory_is_refused_with_a_number(folder, lacking):
    said = f"TransactionContext Error: Failed to commit: {lacking} block of size 256.0 KiB"
    with pytest.raises(OutOfMemory, match="it needs about 640 MB"), writing(folder, 320_000_000):
        raise duckdb.TransactionException(said)


def test_no_bar_is_drawn_where_somebody_types(folder):
    """DuckDB draws one for who has no script, as in a notebook."""
    with duckdb.connect(folder / "base.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    program = f"""
from kech.tables.source import find_address, open_database
with open_database(find_address({f"duckdb:{folder / 'base.db'}#t"!r})) as database, database.open_reader() as held:
    print(held.execute("SELECT current_setting('enable_progress_bar')").fetchone())
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said == "(False,)\n"


@pytest.mark.parametrize("memory", [None, "400MB"])
def test_a_file_is_read_beside_a_connection_of_its_owner_which_stays_as_it_was(folder, memory):
    address = f"duckdb:{folder / 'base.db'}#t"
    with duckdb.connect(folder / "base.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS a FROM range(10)")
    with duckdb.connect(folder / "base.db", read_only=True) as connection:
        before = connection.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        for _ in range(2):
            with kech.read_table(address, memory=memory) as table:
                assert table.rows == 10
        assert kech.verify_release(address, quasi_identifiers=["a"])["k"] == 1
        assert connection.execute("SELECT name, value FROM duckdb_settings()").fetchall() == before


@pytest.mark.parametrize(("memory", "share"), [(320, "30.5 MiB"), (640, "114.4 MiB"), (1280, "297.5 MiB")])
def test_a_file_has_more_memory_where_more_is_allowed(folder, memory, share):
    with duckdb.connect(folder / "base.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    with (
        open_database(find_address(f"duckdb:{folder / 'base.db'}#t"), memory * 10**6) as database,
        database.open_reader() as connection,
    ):
        assert connection.execute("SELECT current_setting('memory_limit')").fetchone() == (share,)


def test_a_view_of_a_file_reaches_nothing_outside_it(folder):
    (folder / "secret.csv").write_text("a\n1\n")
    with duckdb.connect(folder / "base.db") as connection:
        connection.execute(f"CREATE VIEW stolen AS FROM read_csv('{folder / 'secret.csv'}')")
    with pytest.raises(kech.errors.KechError):
        kech.read_table(f"duckdb:{folder / 'base.db'}#stolen")


def test_a_file_that_is_no_database_is_refused(folder):
    (folder / "x.db").write_text("not a database")
    with pytest.raises(UnreadableFile, match="no DuckDB file"):
        kech.read_table(f"duckdb:{folder / 'x.db'}#t")
    with pytest.raises(NoSuchFile):
        kech.read_table(f"duckdb:{folder / 'y.db'}#t")
    assert not (folder / "y.db").exists()


def test_a_server_that_is_not_there_is_refused_without_the_password(postgres):
    with pytest.raises(UnreadableFile, match=r"cannot be used: .*: Connection refused\. Check the address") as caught:
        kech.read_table("postgresql://kech:secret@127.0.0.1:1/postgres?table=t")
    assert "secret" not in str(caught.value)


TYPES = """CREATE TYPE town.size AS ENUM ('S', 'M'); CREATE DOMAIN town.years AS integer;
    CREATE TABLE town.kinds (free numeric, size town.size, id uuid, doc jsonb, list integer[], years town.years,
        padded char(5), name varchar(9), day date, price money);
    INSERT INTO town.kinds VALUES (1.50, 'M', '00000000-0000-0000-0000-000000000001', '{"a": 1}', '{1,2}', 4, 'ab',
        'x', 'infinity', 1), (0.1000000000000000055511151231257827, 'S', NULL, NULL, NULL, 5, NULL, 'y', '2020-01-31',
        NULL)"""


def test_types_of_a_server_are_numbers_dates_text_or_other(postgres):
    sql(postgres, "DROP SCHEMA IF EXISTS town CASCADE", "CREATE SCHEMA town", TYPES)
    with kech.read_table(f"{postgres}?table=town.kinds") as table:
        kinds = {name: table.facts(name).type for name in table.columns}
        texts = {name: table.engine.count_values(table.index(name), "text")[0] for name in table.columns}
        assert table.facts("day").dates == 1
    assert kinds == {
        "free": "text", "size": "text", "id": "text", "doc": "other", "list": "other", "years": "number",
        "padded": "text", "name": "text", "day": "date", "price": "other"}  # fmt: skip
    assert texts["free"] == ["0.1000000000000000055511151231257827", "1.50"]
    assert (texts["doc"], texts["list"], texts["padded"]) == (['{"a": 1}'], ["{1,2}"], ["ab"])


def test_rows_hidden_by_a_policy_are_refused_not_lost(postgres):
    sql(postgres, "DROP SCHEMA IF EXISTS town CASCADE", "DROP ROLE IF EXISTS clerk", "CREATE ROLE clerk LOGIN",
        "CREATE SCHEMA town", "CREATE TABLE town.people AS SELECT generate_series(1, 9) AS age",
        "ALTER TABLE town.people ENABLE ROW LEVEL SECURITY", "CREATE POLICY old ON town.people USING (age > 5)",
        "GRANT USAGE ON SCHEMA town TO clerk", "GRANT SELECT ON town.people TO clerk")  # fmt: skip
    with pytest.raises(kech.errors.ResourceError, match="lacks a right"):
        kech.read_table(postgres.replace("kech@", "clerk@") + "?table=town.people")


def test_functions_of_a_server_cannot_be_shadowed(postgres):
    sql(postgres, "DROP SCHEMA IF EXISTS town CASCADE", "CREATE SCHEMA town",
        "CREATE TABLE town.people AS SELECT 'x' || generate_series(1, 9) AS name",
        "CREATE FUNCTION public.length(text) RETURNS integer LANGUAGE plpgsql AS $$BEGIN RAISE 'shadow'; END$$",
        "ALTER ROLE kech SET search_path = public, pg_catalog")  # fmt: skip
    try:
        with kech.read_table(f"{postgres}?table=town.people") as table:
            assert table.facts("name").rows == 9
    finally:
        sql(postgres, "ALTER ROLE kech RESET search_path", "DROP FUNCTION public.length(text)")


# -- targets ---------------------------------------------------------------------------------------------------


def test_a_release_becomes_a_table_and_holds(base, run, folder):
    store(base("people"), town())
    words = ["--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 5, "--protect", "none", "--effort", "quick"]
    outcome = run("release", base("people"), "-o", base("safe"), "--certificate", folder / "c.json", *words, "--json")
    assert outcome.code == 0, outcome.err
    claims = json.loads((folder / "c.json").read_text())["claims"]
    assert (claims["rows"], outcome.json["classes"]) == (400, claims["classes"])
    assert run("verify", base("safe"), "--certificate", folder / "c.json").code == 0
    assert run("verify", base("safe"), "--qi", "age", "sex", "--k", 5).code == 0
    with kech.read_table(base("safe")) as table:
        assert table.columns == ("age", "sex", "diagnosis")
        assert table.rows == 400


def test_the_certificate_of_a_table_notices_a_change(base, folder):
    for made in release(town()):
        made.write(base("safe"), folder / "c.json")
    found = find_address(base("safe"))
    change = "DELETE FROM {} WHERE age = (SELECT max(age) FROM {})"
    if found.scheme == "duckdb":
        with duckdb.connect(found.location) as connection:
            connection.execute(change.format("safe", "safe"))
    elif found.scheme == "spark":
        part = max((folder / "safe").glob("*.parquet"), key=lambda path: pq.read_metadata(path).num_rows)
        pq.write_table(pq.read_table(part).slice(1), part)
        part.with_name(f".{part.name}.crc").unlink()  # with it Hadoop would not even read the file
    else:
        sql(found.location, change.format("town.safe", "town.safe"))
    with pytest.raises(kech.errors.ClaimBroken, match="rows: not as claimed") as caught:
        kech.verify_release(base("safe"), certificate=folder / "c.json")
    assert str(found) in str(caught.value)


def test_an_earlier_release_is_replaced_and_a_table_of_somebody_else_is_not(base, folder):
    store(base("people"), town(20))
    before = rows_of(base("people"), folder)
    for made in release(town()):
        made.write(base("safe"), folder / "c.json")
        first = rows_of(base("safe"), folder)
        made.write(base("safe"), folder / "c.json", ledger=False)
        assert len(rows_of(base("safe"), folder)) == len(first)
        with pytest.raises(BadTarget, match="kech did not write"):
            made.write(base("people"), folder / "d.json")
    assert rows_of(base("people"), folder) == before
    assert not (folder / "d.json").exists()


def test_the_ledger_knows_a_table_of_a_database_again(base, folder, run):
    store(base("people"), town())
    words = ["--protect", "none", "--effort", "quick", "--json"]
    first = run("release", base("people"), "-o", folder / "first.csv", "--qi", "age", "--k", 5, *words)
    assert first.json["ledger"]["verdict"] == "first"
    target = ["-o", base("safe"), "--certificate", folder / "c.json"]
    again = run("release", base("people"), *target, "--qi", "age", "--k", 5, *words)
    assert again.json["ledger"]["verdict"] == "nested"
    (folder / "first.csv").unlink()
    lacking = run("release", base("people"), *target, "--qi", "age", "--k", 5, *words)
    assert (lacking.code, lacking.json["error"]) == (4, "ReleasedBefore")
    third = run("release", base("people"), *target, "--qi", "age", "--k", 5, *words, "--earlier", base("safe"))
    assert third.json["ledger"]["nested_in"].startswith(("safe", "town.safe")), third
    finer = run("release", base("people"), *target, "--qi", "age", "sex", "--k", 2, *words)
    assert (finer.code, finer.json["error"]) == (4, "ReleasedBefore")
    assert run("verify", base("safe"), "--certificate", folder / "c.json").code == 0


def test_the_source_itself_is_never_written(base, folder):
    for made in release(town()):
        made.write(base("safe"), folder / "c.json")
    with kech.read_table(base("safe"), quasi_identifiers=["sex"]) as table:
        made = kech.make_release(table, k=5)
        with pytest.raises(BadTarget, match="source table itself"):
            made.write(base("safe"), folder / "d.json")


def test_a_file_that_spark_reads_is_never_written(folder):
    """Its address is another name of the file: neither it nor a place in its folder is a target."""
    (folder / "a b").mkdir()
    pq.write_table(town(), folder / "a b" / "people.parquet")
    for source in (folder / "a b" / "people.parquet", folder / "a b"):
        with kech.read_table(source, **ROLES) as table:
            address = find_address(f"file://{source}")
            told = {"path": Path(address.table), "format": "spark", "address": address, "identity": source.as_uri()}
            found = replace(table.source, csv=None, **told)
            made = kech.make_release(replace(table, source=found), k=5, effort="quick")
            with pytest.raises(BadTarget, match="source table"):
                made.write(folder / "a b" / "people.parquet", ledger=False)


def test_a_table_needs_a_name_for_its_certificate(base):
    for made in release(town()):
        with pytest.raises(BadOption, match="Name a file"):
            made.write(base("safe"))
    with pytest.raises(BadOption, match="Name its file"):
        kech.verify_release(base("safe"))


@pytest.mark.parametrize("moment", ["rows", "check", "swap"])
def test_a_failure_on_the_way_leaves_everything_as_it_was(base, folder, monkeypatch, moment):
    for made in release(town()):
        made.write(base("safe"), folder / "c.json")
    before, certificate = rows_of(base("safe"), folder), (folder / "c.json").read_bytes()

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    for made in release(town(200)):
        if moment == "rows":
            monkeypatch.setattr(type(made), "batches", lambda *_, **__: pa.RecordBatchReader.from_batches(
                pa.schema([("age", pa.string())]), (fail() for _ in range(1))))  # fmt: skip
        else:
            monkeypatch.setattr(f"kech.release.release.{'make_certificate' if moment == 'check' else 'as_json'}", fail)
        with pytest.raises(kech.errors.ResourceError):
            made.write(base("safe"), folder / "c.json")
    assert rows_of(base("safe"), folder) == before
    assert (folder / "c.json").read_bytes() == certificate
    assert {path.name for path in folder.iterdir()} <= {"base.db", "safe", "c.json", "export.csv"}


def test_apostrophes_before_formulas_survive_the_check(base, folder):
    cells = ["'=x", "''+y", "=z", "'x"] * 5
    table = pa.table({"q": cells, "s": cells})
    with kech.read_table(table, quasi_identifiers=["q"], sensitive=["s"], axes={"q": "set"}) as opened:
        kech.make_release(opened, k=5).write(base("safe"), folder / "c.json")
    assert kech.verify_release(base("safe"), certificate=folder / "c.json")["loss"] == 0
    with kech.read_table(base("safe")) as opened:
        assert opened.engine.count_values(0, "text")[0] == sorted(set(cells))


def test_both_ends_of_intervals_are_numbers_in_a_database(base, folder):
    """Open ends are infinite: -inf, -Infinity, whatever a database writes; dates and missing values are there too."""
    days = [f"20{year:02}-0{1 + year % 9}-11" for year in range(60)]
    cells = [None if i % 20 == 3 else i * 7 % 41 - 20 for i in range(60)]
    store(base("people"), pa.table({"x": cells, "day": days}))
    with kech.read_table(base("people"), quasi_identifiers=["x", "day"]) as table:
        release = kech.make_release(table, k=5, effort="quick", labels="columns")
        release.write(base("safe"), folder / "c.json", mapping=folder / "map.json")
    assert kech.verify_release(base("safe"), certificate=folder / "c.json", k=5)["rows"] == 60
    with kech.read_table(base("safe")) as table:
        assert table.facts("x_low").type == table.facts("x_high").type == "number"
    mapped = json.loads((folder / "map.json").read_text("utf-8"))["classes"]
    behind = [value for one in mapped for value, rows in one["values"]["x"] for _ in range(rows)]
    assert sorted(behind, key=str) == sorted((None if x is None else str(x) for x in cells), key=str)
    assert any("inf" in str(one["labels"]["x_high"]) for one in mapped)


def test_the_certificate_of_a_file_can_be_named_too(folder):
    for made in release(town()):
        made.write(folder / "safe.csv", folder / "c.json")
    assert {path.name for path in folder.iterdir()} == {"safe.csv", "c.json"}
    assert kech.check_certificate(folder / "safe.csv", folder / "c.json")["k"] >= 5


def test_a_folder_that_is_named_in_two_ways_is_one_folder(folder, monkeypatch):
    """It is locked once: a second lock would wait for the first forever."""
    (folder / "link").symlink_to(folder, target_is_directory=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("kech.system.machine.flock", only_once(fcntl.flock))
    for made in release(town()):
        for i, other in enumerate((folder, folder / "link", Path("link/link"))):
            made.write(f"safe{i}.csv", other / f"c{i}.json", ledger=False)
            assert kech.check_certificate(f"safe{i}.csv", f"c{i}.json")["k"] >= 5


def only_once(flock):
    """A lock that fails where the real one would wait."""

    def tried(handle, how):
        try:
            flock(handle, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if how & fcntl.LOCK_NB:
                raise
            pytest.fail("it waits for itself")

    return tried


# -- folders of Parquet files ----------------------------------------------------------------------------------


def test_a_folder_of_parquet_files_is_one_table(folder):
    table = pa.table({"zip": ["02138", "10001", None, "02138"], "age": [1, 2, 3, 4], "a b": ["x", "y/z", "%", "x"]})
    ds.write_dataset(table, folder / "parts", format="parquet", partitioning=["zip", "a b"], partitioning_flavor="hive")
    (folder / "parts" / "_SUCCESS").write_text("")
    (folder / "parts" / ".hidden.parquet").write_text("")
    (folder / "parts" / "readme.txt").write_text("")
    with kech.read_table(folder / "parts") as opened:
        assert set(opened.columns) == {"zip", "age", "a b"}
        assert opened.rows == 4
        assert opened.engine.count_values(opened.index("zip"), "text")[0] == ["02138", "10001"]
        assert opened.engine.count_values(opened.index("a b"), "text")[0] == ["%", "x", "y/z"]
        assert opened.facts("zip").nulls == 1
        rows = held_rows(opened.engine)
    columns = [opened.columns.index(name) for name in table.column_names]
    assert sorted(str(tuple(row[i] for i in columns)) for row in rows) == sorted(
        str(tuple(row.values())) for row in table.to_pylist()
    )


def test_a_folder_with_a_log_of_its_own_is_refused(folder):
    """Its files need not be part of the table."""
    (folder / "people" / "_delta_log").mkdir(parents=True)
    pq.write_table(town(10), folder / "people" / "a.parquet")
    with pytest.raises(UnreadableFile, match="of Delta"):
        kech.read_table(folder / "people")


def test_a_folder_without_parquet_files_or_with_a_damaged_one_is_refused(folder):
    (folder / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="without Parquet files"):
        kech.read_table(folder / "empty")
    pq.write_table(pa.table({"a": list(range(999))}), folder / "empty" / "a.parquet")
    (folder / "empty" / "b.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(UnreadableFile, match="damaged"):
        kech.read_table(folder / "empty")
