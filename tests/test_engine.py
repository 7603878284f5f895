"""The DuckDB engine: locked, quoting, exact in its row numbers, larger than memory, and silent about cells."""

import gc
import math
import traceback
from collections import Counter
from contextlib import suppress

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kech
from by_hand import held_rows
from failing import refuse_query
from kech.errors import BadColumns, KechError, OutOfMemory, ResourceError, UnreadableFile
from kech.tables.batches import Output
from kech.tables.csv_dialect import longest_row
from kech.tables.duckdb import DuckDB
from kech.tables.engine import Engine
from kech.tables.sql import ColumnCodes

quote, literal, guard_formula = DuckDB.dialect.quote, DuckDB.dialect.literal, DuckDB.dialect.guard_formula
pytestmark = pytest.mark.usefixtures("temporary")
NO_COMMIT = "TransactionContext Error: Failed to commit: could not allocate block of size 343.0 MiB"
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def engine():
    """An engine of two columns and six rows, NULL among them."""
    made = Engine(DuckDB())
    cells = pa.table({"a": ["x", "y", "x", None, "y", None], "b": [1.0, 2.0, 1.0, 2.0, None, None]})
    made.backend.load_arrow(cells.to_reader(), [0, 1], (), "t")
    yield made
    made.close()


def load(columns, nulls=()):
    made = Engine(DuckDB())
    table = pa.table(columns)
    made.backend.load_arrow(table.to_reader(), range(table.num_columns), nulls, "t")
    return made


def texts(*cells):
    return {"a": pa.array(cells, pa.string())}


# -- quoting ---------------------------------------------------------------------------------------------

PAYLOADS = {
    quote: ['x" FROM source; DROP TABLE source; --', 'x", 1 FROM source; DROP TABLE source; --'],
    literal: ["x' FROM source; DROP TABLE source; --", "'; DROP TABLE source; --"],
}


def naive(text, quoting):
    return f'"{text}"' if quoting == quote else f"'{text}'"


@pytest.mark.parametrize(("quoting", "payload"), [(q, p) for q, payloads in PAYLOADS.items() for p in payloads])
def test_a_payload_fires_where_text_is_pasted_and_not_where_it_is_quoted(quoting, payload):
    def run(quoted):
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE source AS SELECT 1 AS {quote('x')}, 2 AS {quote(payload)}")
        connection.execute(f"SELECT {quoted} FROM source").fetchall()
        return connection.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (1,)

    assert not run(naive(payload, quoting))
    assert run(quoting(payload))


@unhurried
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
@example('"')
@example("'")
@example("\\'")
@example('a""b')
@example("$$")
@example("\r\n")
def test_any_text_is_one_constant_and_one_name(text):
    connection = duckdb.connect()
    assert connection.execute(f"SELECT {literal(text)}").fetchone() == (text,)
    assert connection.execute(f"SELECT 1 AS {quote(text)}").description[0][0] == text


# -- the lock --------------------------------------------------------------------------------------------

FORBIDDEN = {
    "read a file": "SELECT * FROM read_csv('{other}')",
    "read a file by its name": "SELECT * FROM '{other}'",
    "read text": "SELECT * FROM read_text('{other}')",
    "read bytes": "SELECT * FROM read_blob('{other}')",
    "look at a file": "SELECT * FROM sniff_csv('{other}')",
    "list a folder": "SELECT * FROM glob('{folder}/*')",
    "write a file": "COPY source TO '{folder}/stolen.csv'",
    "write Parquet": "COPY source TO '{folder}/stolen.parquet' (FORMAT parquet)",
    "write all": "EXPORT DATABASE '{folder}/stolen'",
    "open a database": "ATTACH '{folder}/stolen.db'",
    "set": "SET threads = 1",
    "set for all": "SET GLOBAL threads = 1",
    "set for the session": "SET SESSION python_enable_replacements = true",
    "set the folder for spills": "SET temp_directory = '{folder}'",
    "set a pragma": "PRAGMA memory_limit = '9GB'",
    "reset": "RESET temp_file_encryption",
    "unlock": "SET lock_configuration = false",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "load a file": "LOAD '{folder}/evil.duckdb_extension'",
    "reach the net": "SELECT * FROM read_csv('https://example.org/t.csv')",
    "read a variable of Python": "SELECT * FROM frame_of_the_caller",
}


@pytest.fixture
def reach(folder):
    """Everything a statement could reach."""
    (folder / "other.csv").write_text("a\n1\n")
    (folder / "source.csv").write_text("a\n1\n")
    return {"other": folder / "other.csv", "folder": folder}


@pytest.mark.parametrize("way", FORBIDDEN)
def test_an_open_engine_would_allow_what_a_locked_one_refuses(reach, folder, way):
    """First see that the statement does something where nothing is locked, as far as that needs no network."""
    statement = FORBIDDEN[way].format(**reach)
    frame_of_the_caller = pa.table({"a": [1]})
    needs_network = ("install", "load", "reach the net", "load a file")
    if way not in needs_network:
        opened = duckdb.connect()
        opened.execute("CREATE TABLE source AS SELECT 1 AS a")
        opened.execute(statement)
        opened.close()
    before = {path: path.stat().st_size for path in folder.rglob("*")}
    with kech.read_table(folder / "source.csv") as table:
        for connection in (table.engine.backend.connection, table.engine.backend.connection.cursor()):
            with pytest.raises(duckdb.Error) as caught:
                connection.execute(statement).fetchall()
            assert isinstance(
                caught.value, duckdb.PermissionException | duckdb.InvalidInputException | duckdb.CatalogException
            )
    assert {path: path.stat().st_size for path in folder.rglob("*")} == before
    assert frame_of_the_caller.num_rows == 1


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_every_way_in_ends_locked(tmp_path, kind):
    table = pa.table({"a": [1, 2]})
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    pq.write_table(table, tmp_path / "t.parquet")
    with kech.read_table(table if kind == "frame" else tmp_path / f"t.{kind}") as opened:
        for connection in (opened.engine.backend.connection, opened.engine.backend.connection.cursor()):
            names = (
                "lock_configuration",
                "enable_external_access",
                "python_enable_replacements",
                "temp_file_encryption",
                "timezone",
            )
            settings = connection.execute(
                "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
            ).fetchone()
            assert settings == (True, False, False, True, "UTC")


# -- folders and failures --------------------------------------------------------------------------------


def test_the_private_folder_goes_with_the_engine(temporary):
    engine = DuckDB()
    assert engine.folder.parent == temporary
    assert engine.folder.stat().st_mode & 0o777 == 0o700
    engine.close()
    engine.close()
    assert not engine.folder.exists()
    forgotten = DuckDB().folder
    gc.collect()
    assert not forgotten.exists()


def test_ctrl_c_while_duckdb_starts_leaves_no_folder(temporary, monkeypatch):
    def press(*_, **__):
        assert len(list(temporary.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(duckdb, "connect", press)
    with suppress(KeyboardInterrupt):
        DuckDB()
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_a_file_that_cannot_be_loaded_leaves_no_folder(tmp_path, temporary):
    pq.write_table(pa.table({"a": list(range(999))}), tmp_path / "t.parquet")
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[4:200] = bytes(196)  # the rows, not the schema at the end
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(UnreadableFile) as caught:
        kech.read_table(tmp_path / "t.parquet")
    assert list(temporary.iterdir()) == []
    assert "load_parquet" in [entry.name for entry in caught.traceback]  # whose frames are still held


@pytest.mark.parametrize(
    ("failure", "kind", "says"),
    [
        (
            duckdb.OutOfMemoryException("CANARY"),
            OutOfMemory,
            "Out of memory while counting: it needs about 2,000 MB of memory, and 1,000 MB are allowed. Raise --memory",
        ),
        (
            pa.ArrowInvalid("Out of Memory Error: CANARY"),
            OutOfMemory,
            "Out of memory while counting: it needs about 2,000 MB",
        ),
        (duckdb.TransactionException(NO_COMMIT), OutOfMemory, "Out of memory while counting: it needs about 4,816 MB"),
        (duckdb.IOException("CANARY: No space left on device"), ResourceError, "The disk is full while counting."),
        (
            duckdb.ConversionException("CANARY"),
            ResourceError,
            "DuckDB failed while counting (ConversionException).",
        ),
    ],
)
def test_what_duckdb_says_is_not_repeated(failure, kind, says):
    refused = refuse_query(failure, "counting", 10**9)
    assert isinstance(refused, kind)
    assert refused.typed.startswith(says)
    assert "CANARY" not in str(refused)


def test_a_failure_while_rows_stream_is_a_refusal(engine):
    def failing():
        yield pa.record_batch({"a": [1]})
        raise pa.ArrowInvalid("CANARY")

    batches = engine.backend.check_batches(failing(), "publishing")
    assert next(batches).num_rows == 1
    with pytest.raises(ResourceError, match="while publishing") as caught:
        next(batches)
    assert "CANARY" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("verb", ["rows", "read", "stream"])
def test_a_failed_statement_shows_no_cell(verb):
    engine = load(texts("CANARY"))
    statement = "SELECT CAST(c0 AS INTEGER) FROM words0"
    with pytest.raises(ResourceError, match="while") as caught:
        found = getattr(engine.backend, verb)(statement, "testing")
        found.read_all()
    assert "CANARY" not in "".join(traceback.format_exception(caught.value))
    engine.close()


def test_a_refusal_of_the_reader_passes_through_the_engine():
    def failing():
        yield pa.record_batch({"a": ["x"]})
        raise UnreadableFile("t", "it is what the reader says.")

    schema = pa.schema([("a", pa.string())])
    engine = DuckDB()
    with pytest.raises(UnreadableFile, match="it is what the reader says"):
        engine.load_arrow(pa.RecordBatchReader.from_batches(schema, failing()), [0], (), "t")
    engine.close()


def test_a_type_duckdb_does_not_know_is_refused_by_name_unless_it_is_not_wanted():
    halves = pa.table({"a": [1, 2], "half": pa.array(np.array([1, 2], np.float16))})
    engine = DuckDB()
    with pytest.raises(BadColumns, match="column 'half' is of type halffloat"):
        engine.load_arrow(halves.to_reader(), [0, 1], (), "t")
    engine.close()
    engine = DuckDB()
    engine.load_arrow(halves.to_reader(), [0], (), "t")
    assert Engine(engine).describe(0).rows == 2
    engine.close()


# -- describing ------------------------------------------------------------------------------------------


def facts(cells, nulls=()):
    engine = load({"a": cells}, nulls)
    found = engine.describe(0)
    engine.close()
    return found


@pytest.mark.parametrize(
    ("cells", "numbers", "first_other"),
    [
        (["1", "-2.5", "+3", ".5", "5.", "1e3", " 7 "], 7, None),
        (["1", "2", "x", "x"], 2, 3),
        (["1_000", "0x10", "1,5", "١", "", "--1", "1e", "e5"], 0, 1),
        (["nan", "inf", "1"], 1, 1),
        ([None, "1", None, "y"], 1, 4),
    ],
)
def test_numbers_are_what_is_written_like_one(cells, numbers, first_other):
    found = facts(pa.array(cells, pa.string()))
    assert (found.numbers, found.first_other) == (numbers, first_other)


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        (["1", "NaN", "2"], 2),
        (["1", "-Infinity"], 2),
        (["1", "+INF"], 2),
        (["1", "1e999"], 2),
        (["1", "information", "nano"], None),
    ],
)
def test_what_is_not_finite_is_found_by_its_row(cells, row):
    assert facts(pa.array(cells)).not_finite == row


@pytest.mark.parametrize(
    ("cells", "dates", "row"),
    [
        (["2020-01-31", "2020-12-31"], 2, None),
        (["2020-01-31 12:30", "2020-01-31T12:30:59.123456"], 2, None),
        (["2020-01-31", "2020-02-31", "31.1.2020"], 1, 2),
        (["20200131", "2020", "12"], 0, 1),
    ],
)
def test_dates_are_iso_dates_that_exist(cells, dates, row):
    found = facts(pa.array(cells))
    assert (found.dates, found.first_not_date) == (dates, row)


def test_codes_show_by_leading_zeros_and_length():
    assert facts(pa.array(["02138", "10001", "0", "0.5", "-007"])).zero_padded == 2
    assert facts(pa.array(["1234567890123456", "12"])).longest == 16
    assert facts(pa.array([2**60, 1])).longest == 19
    assert facts(pa.array(["0.30000000000000004", "a long word, no number"])).longest == 0
    assert facts(pa.array([0.1 + 0.2, 1e300])).longest == 0


def test_row_numbers_are_exact_in_a_large_table(tmp_path):
    rows = 300_000
    cells = ["12"] * rows
    cells[199_999], cells[250_000] = "oops", "oops"
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f'{cell},"{i}\n"\n' for i, cell in enumerate(cells)))
    with kech.read_table(tmp_path / "t.csv", quasi_identifiers=["a"], keep=["b"]) as table:
        assert table.facts("a").first_other == 200_000
        assert all(int(cell) == row for row, (_, cell) in enumerate(held_rows(table.engine)))


def test_minus_zero_is_zero():
    for cells in (pa.array([-0.0, 0.0, 1.0]), pa.array([0.0, -0.0, 1.0]), pa.array(["-0.0", "0", "1"])):
        engine = load({"a": cells})
        values, counts = engine.count_values(0, "number")
        assert values.tolist() == [0.0, 1.0]
        assert math.copysign(1, values[0]) == 1
        assert counts.tolist() == [2, 1]
        codes, weights = engine.group([ColumnCodes(0, "number", values, np.arange(2, dtype=np.int32), 2)])
        assert (codes.tolist(), weights.tolist()) == ([[0], [1]], [2, 1])
        engine.close()


def test_equal_looking_texts_stay_apart():
    engine = load(texts("\u00e9", "e\u0301", "\u00e9", "E\u0301", "é "))
    values, counts = engine.count_values(0, "text")
    assert dict(zip(values, counts.tolist(), strict=True)) == {"\u00e9": 2, "e\u0301": 1, "E\u0301": 1, "é ": 1}
    engine.close()


# -- grouping and publishing -----------------------------------------------------------------------------


def code_of(engine, columns):
    mappings = []
    for column, kind in columns.items():
        values, _ = engine.count_values(column, kind)
        mappings.append(ColumnCodes(column, kind, values, np.arange(len(values), dtype=np.int32), len(values)))
    return mappings


def test_rows_with_null_are_grouped_not_lost(engine):
    codes, weights = engine.group(code_of(engine, {0: "text", 1: "number"}))
    assert codes.tolist() == [[0, 0], [1, 1], [1, 2], [2, 1], [2, 2]]
    assert weights.tolist() == [2, 1, 1, 1, 1]


def test_rows_with_null_are_published_not_lost(engine):
    mappings = code_of(engine, {0: "text", 1: "number"})
    codes, weights = engine.group(mappings)
    one = np.ones(len(codes), np.int64)
    shares = {"point": np.arange(len(codes)), "class": np.arange(len(codes)), "first": one, "last": weights}
    outputs = [Output("label", None, [str(code) for code in codes.tolist()]), Output("b", 1)]
    found = engine.publish(mappings, shares, outputs, for_csv=False).read_all().to_pylist()
    expected = {("[0, 0]", 1.0): 2, ("[1, 1]", 2.0): 1, ("[1, 2]", None): 1, ("[2, 1]", 2.0): 1, ("[2, 2]", None): 1}
    assert Counter((row["label"], row["b"]) for row in found) == expected


def test_rows_are_coded_in_their_order_and_grouped_again_before_they_are_published(engine):
    mappings = code_of(engine, {0: "text"})
    _, weights = engine.group(mappings)
    assert engine.code_rows(code_of(engine, {1: "number"})).tolist() == [[0], [1], [0], [1], [2], [2]]
    assert engine.code_rows(mappings).tolist() == [[0], [1], [0], [2], [1], [2]]
    each = np.arange(3)
    shares = {"point": each, "class": each, "first": np.ones(3, np.int64), "last": weights}
    engine.group(code_of(engine, {0: "text", 1: "number"}))
    engine.code_rows(mappings)
    outputs = [Output("label", None, ["x", "y", None]), Output("cell", 0)]
    found = engine.publish(mappings, shares, outputs, for_csv=False).read_all().to_pylist()
    assert [row["label"] for row in found] == [row["cell"] for row in found]
    assert len(found) == 6


def test_rows_of_one_point_are_dealt_out_each_once():
    engine = load({"a": ["x"] * 10, "b": list(range(10))})
    mappings = code_of(engine, {0: "text"})
    engine.group(mappings)
    shares = {
        "point": np.array([0, 0, 0]),
        "class": np.array([0, 1, 2]),
        "first": np.array([1, 4, 9]),
        "last": np.array([3, 8, 10]),
    }
    outputs = [Output("label", None, ["low", "middle", "high"]), Output("b", 1)]
    dealt = [engine.publish(mappings, shares, outputs, for_csv=False).read_all().to_pydict() for _ in range(3)]
    for found in dealt:
        assert Counter(found["label"]) == {"low": 3, "middle": 5, "high": 2}
        assert sorted(found["b"]) == list(range(10))
    assert len({tuple(found["b"]) for found in dealt}) == 3  # an order nobody can know: 1 in 10! to fail
    engine.close()


def test_rows_in_no_share_are_not_published():
    engine = load({"a": ["x"] * 10 + ["y"] * 4 + ["z"] * 3, "b": list(range(17))})
    mappings = code_of(engine, {0: "text"})
    engine.group(mappings)
    shares = {"point": np.array([0, 2]), "class": np.array([0, 1]), "first": np.array([1, 1]), "last": np.array([7, 3])}
    outputs = [Output("label", None, ["some", "all"]), Output("b", 1)]
    dealt = [engine.publish(mappings, shares, outputs, for_csv=False).read_all().to_pydict() for _ in range(4)]
    for found in dealt:
        assert Counter(found["label"]) == {"some": 7, "all": 3}
        assert len(set(found["b"])) == 10
        assert {14, 15, 16} <= set(found["b"]) <= {*range(10), 14, 15, 16}
    assert len({frozenset(found["b"]) for found in dealt}) > 1  # who is left out is dealt, too: 1 in 120^3 to fail
    engine.close()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "+3"], pa.int64()),
        (["1", "2.5", "1e3"], pa.float64()),
        (["0.30000000000000004", "1"], pa.float64()),
        (["2020-01-31", "1999-12-31"], pa.date32()),
        (["2020-01-31 01:02:03", "1999-12-31"], pa.timestamp("us")),
        (["02138", "10001"], pa.string()),
        (["1234567890123456", "1"], pa.string()),
        (["0.1000000000000000055511151231257827", "1"], pa.string()),
        (["1", "x"], pa.string()),
        ([None, None], pa.string()),
    ],
)
def test_published_text_becomes_what_it_is_where_nothing_is_lost(cells, kind):
    engine = load({"q": ["x"] * len(cells), "a": pa.array(cells, pa.string())})
    mappings = code_of(engine, {0: "text"})
    _, weights = engine.group(mappings)
    shares = {"point": np.array([0]), "class": np.array([0]), "first": np.array([1]), "last": weights}
    outputs = [Output("q", None, ["*"]), Output("a", 1, typed=True)]
    found = engine.publish(mappings, shares, outputs, for_csv=False).read_all()["a"]
    assert (found.type.value_type if pa.types.is_dictionary(found.type) else found.type) == kind
    if kind == pa.float64():
        assert sorted(found.to_pylist()) == sorted(map(float, cells))
    text = engine.publish(mappings, shares, outputs, for_csv=True).read_all()["a"]
    assert text.type == pa.dictionary(pa.int32(), pa.string())
    assert text.null_count == cells.count(None)
    engine.close()


FORMULAS = [
    "=1+1",
    "+cmd|x",
    "-cmd",
    "@SUM(A1)",
    "\tx",
    "\rx",
    " =x",
    "\u00a0=x",
    "\u2003@x",
    "\x0b=x",
    "\x85=x",
    "'=x",
    "''  =x",
    "\n=x",
    "-1+2",
]
HARMLESS = ["-1", "+1.5", "-1e5", "-.5", "x=1", "'x", "", "a@b", "[-1, 2]", "<= -5", "{=a, b}", "*", "1-2"]


def test_formulas_are_defused_and_numbers_are_not():
    connection = duckdb.connect()

    def defused(cell):
        return connection.execute(f"SELECT {guard_formula('x')} FROM (SELECT {literal(cell)} AS x)").fetchone()[0]

    assert [defused(cell) for cell in FORMULAS] == ["'" + cell for cell in FORMULAS]
    assert [defused(cell) for cell in HARMLESS] == HARMLESS
    assert connection.execute(f"SELECT {guard_formula('x')} FROM (SELECT NULL::VARCHAR AS x)").fetchone() == (None,)


def test_texts_that_mean_missing():
    cells = pa.array(["NA", "na", "?", "N'A", "NAN", None, "x"])
    engine = load({"a": cells}, ["NA", "?", "n'a"])
    assert engine.head([0], 10) == [[None], [None], [None], [None], ["NAN"], [None], ["x"]]
    engine.close()
    assert DuckDB.dialect.without("x", "VARCHAR", ()) == "x"


@pytest.mark.parametrize(
    "cells", [[30.0, math.nan], [30.0, 30.0, math.nan], [math.nan], [1.0, 2.0, math.inf, math.nan, None]]
)
def test_nan_of_parquet_can_mean_missing(tmp_path, cells):
    """DuckDB believes the statistics of a Parquet file, which leave NaN out."""
    pq.write_table(pa.table({"a": pa.array(cells, pa.float64())}), tmp_path / "t.parquet")
    with kech.read_table(tmp_path / "t.parquet", null_values=["NaN", "inf"]) as table:
        found = [cell for (cell,) in held_rows(table.engine)]
    assert found == [cell if cell is not None and math.isfinite(cell) else None for cell in cells]


# -- larger than memory ----------------------------------------------------------------------------------


@pytest.mark.long
def test_a_table_larger_than_the_memory_is_published_whole(tmp_path):
    rows, long = 320_000, "x" * 200
    source = duckdb.connect()
    source.execute(
        f"""COPY (SELECT range % 50 AS age, range AS id, '{long}' || sha256(range::VARCHAR) AS note FROM range({rows}))
        TO '{tmp_path / "t.parquet"}' (FORMAT parquet, ROW_GROUP_SIZE 20000)"""
    )
    source.close()
    with kech.read_table(
        tmp_path / "t.parquet", quasi_identifiers=["age"], keep=["id", "note"], memory="320MB", threads=1
    ) as table:
        batches = kech.make_release(table, k=50).batches(for_csv=False)  # the engine has 96 MB
        ids, notes, largest = np.zeros(rows, np.int64), 0, 0
        for batch in batches:
            ids[batch.column("id").to_numpy()] += 1
            notes += batch.column("note").nbytes
            largest = max(largest, spilled(table.engine.backend.folder))
    assert (ids == 1).all()
    assert notes > 84_000_000
    assert largest > 10_000_000


def spilled(folder):
    return sum(path.stat().st_size for path in (folder / "spill").glob("*"))


def test_memory_that_is_too_small_is_refused():
    table = pa.table({"a": [f"{i:0100}" for i in range(50_000)]})
    with pytest.raises(OutOfMemory, match=r"needs about 320 MB of memory, and 1 MB are allowed"):
        kech.read_table(table, memory="1MB")
    kech.read_table(table, memory="320MB").close()


def test_errors_of_the_engine_are_of_one_tree():
    assert isinstance(refuse_query(duckdb.Error("x"), "x"), KechError)


# -- long rows of CSV --------------------------------------------------------------------------------------

LONG = {
    "a long cell": "y" * 5000,
    "many lines": '"' + "y\n" * 2500 + '"',
    "quotes of quotes": '"' + 'y""\n' * 1250 + '"',
}


@pytest.fixture
def short_lines(monkeypatch):
    """With 320 MB lines of 2,000 bytes are read, and of 8,000 with any."""
    for name, size in {"duckdb.LINE_BYTES": 8000, "duckdb.LINES": 48_000, "csv_dialect.BLOCK": 64}.items():
        monkeypatch.setattr(f"kech.tables.{name}", size)


@pytest.mark.parametrize("after", [0, 1000])
@pytest.mark.parametrize("cell", LONG.values(), ids=LONG)
def test_a_row_longer_than_the_buffer_is_refused_with_a_number_that_is_enough(short_lines, tmp_path, cell, after):
    """DuckDB loses it without a word where it is the last one."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,x\n" * 1000 + f"1,{cell}\n" + "1,x\n" * after, "utf-8", newline="")
    with pytest.raises(OutOfMemory, match=r"while reading long lines: it needs about 1,281 MB"):
        kech.read_table(path, memory="320MB")
    with kech.read_table(path, memory="1281MB") as table:
        assert table.rows == 1001 + after


@pytest.mark.parametrize("memory", ["320MB", "1281MB", None])
def test_a_row_that_no_memory_is_enough_for_is_no_matter_of_memory(short_lines, tmp_path, memory):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "x\n" * 1000 + "y" * 20_000, "utf-8")
    with pytest.raises(UnreadableFile, match="a row is longer than 32 MB"):
        kech.read_table(path, memory=memory)


def test_a_quote_within_a_cell_makes_no_row_long(short_lines, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,6" pipe\n' + "1,x\n" * 5000, "utf-8")
    with kech.read_table(path, memory="320MB") as table:
        assert table.rows == 5001


@pytest.mark.parametrize("block", [1, 7, 64])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_the_longest_row_is_found_in_any_blocks(monkeypatch, tmp_path, end, block):
    path, rows = tmp_path / "t.csv", ["a,b", f'1,"{end * 30}""{end}x"', "y" * 70, '"z"']
    monkeypatch.setattr("kech.tables.csv_dialect.BLOCK", block)
    for last in range(len(rows)):
        held = rows[last:] + rows[:last]
        path.write_text(end.join(held), "utf-8", newline="")
        assert max(map(len, rows)) <= longest_row(path) <= max(map(len, rows)) + 2


def test_long_rows_are_handed_on_with_the_memory_that_their_refusal_names():
    long_rows = "SELECT repeat('y', 5000) AS a FROM range(16384)"
    engine = DuckDB(memory=150_000_000, threads=1)
    with pytest.raises(OutOfMemory, match="it needs about 205 MB of memory, and 150 MB are allowed"):
        engine.stream(long_rows, "publishing").read_all()
    engine.close()
    engine = DuckDB(memory=206_000_000, threads=1)
    assert sum(map(len, engine.stream(long_rows, "publishing"))) == 16384
    engine.close()


def test_more_memory_hands_out_more_rows_and_the_refusal_knows_it():
    longer = "SELECT repeat('y', 20000) AS a FROM range(2048)"
    engine = DuckDB(memory=300_000_000, threads=1)
    with pytest.raises(OutOfMemory, match=r"it needs about 3,27[78] MB of memory"):  # 20 batches of 8,192 rows
        engine.stream(longer, "publishing").read_all()
    engine.close()


@pytest.mark.parametrize(("rows", "fits"), [(0, True), ((1 << 32) - 1, True), (1 << 32, False)])
def test_only_rows_that_have_a_card_are_shuffled_here(engine, rows, fits):
    backend = engine.backend
    backend.row_bytes = 1 << 50
    assert backend.fits(backend.connection.sql("SELECT 1").types, rows) == fits
    assert not backend.fits(backend.connection.sql("SELECT 'a', 1").types, rows)


class Interrupted:
    """A connection whose queries are ended by Ctrl-C: DuckDB says of it what it says of faults."""

    def execute(self, sql):
        raise RuntimeError("Query interrupted")

    sql = execute
    cursor = lambda self: self  # noqa: E731


@pytest.mark.parametrize("ask", ["rows", "read", "stream", "shuffle"])
def test_ctrl_c_in_the_midst_of_a_query_is_ctrl_c(engine, monkeypatch, ask):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(engine.backend, "connection", Interrupted())
        getattr(engine.backend, ask)("SELECT 1", *(("", 1) if ask == "shuffle" else ("",)))


def test_ctrl_c_while_rows_get_their_chances_is_ctrl_c(monkeypatch):
    """They are drawn in Python, in the midst of a query: DuckDB takes that for a fault of the function."""

    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kech.tables.duckdb.draw_random_numbers", press)
    engine = DuckDB()
    with pytest.raises(KeyboardInterrupt):
        engine.rows("SELECT kech_random(range) FROM range(9)", "publishing")
    engine.close()
