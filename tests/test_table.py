"""The table: the only door for foreign data.  Roles, kinds, and dataframes of every library, in and out."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from by_hand import held_rows
from kech import AxisChoice
from kech.errors import (
    BadColumns,
    BadOption,
    BadValue,
    ColumnInTwoRoles,
    InputError,
    NoSuchColumn,
    NoSuchFile,
)

PEOPLE = {"name": list("abcdef"), "age": [20, 20, 30, 30, 40, 40], "job": ["x", "y"] * 3, "ill": ["p", "q", "r"] * 2}


def kind_of(cells, **named):
    with kech.read_table(pa.table({"a": cells}), quasi_identifiers=["a"], **named) as table:
        return table.kind("a")


# -- roles -----------------------------------------------------------------------------------------------


def test_only_columns_with_a_role_are_read():
    frame = pa.table(PEOPLE)
    with kech.read_table(frame, quasi_identifiers=["age"], sensitive="ill", identifiers=["name"]) as table:
        assert table.columns == ("name", "age", "job", "ill")
        assert table.loaded == ("age", "ill")
        assert table.dropped == ("name", "job")
        assert table.rows == 6
        held = {name[1:] for name, *_ in table.engine.backend.connection.execute("DESCRIBE source").fetchall()}
        assert held == set(map(str, table.engine.layout.columns)) == {"0", "1", "3"}  # names are counted, not published


def test_without_a_quasi_identifier_all_columns_are_read():
    with kech.read_table(pa.table(PEOPLE), identifiers=["name"]) as table:
        assert table.loaded == table.columns


def test_roles_are_checked_before_anything_is_read(tmp_path, temporary):
    with pytest.raises(NoSuchColumn, match="Did you mean 'age'"):
        kech.read_table(pa.table(PEOPLE), quasi_identifiers=["agee"])
    with pytest.raises(ColumnInTwoRoles, match="'age' has two roles: quasi-identifiers and keep"):
        kech.read_table(pa.table(PEOPLE), quasi_identifiers=["age"], keep=["job", "age"])
    with pytest.raises(NoSuchColumn):
        kech.read_table(pa.table(PEOPLE), quasi_identifiers=["age"], axes={"agee": "number"})
    with pytest.raises(NoSuchFile):
        kech.read_table(tmp_path / "none.csv")
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "order"),
    [
        ("t.csv", ["looked at"]),
        ("duckdb:people.db#people", ["looked at"]),
        ("postgresql://host/base?table=people", ["looked at"]),
        ("file:///data/people", ["started", "looked at", "closed"]),
        ("spark://host:7077/data/people", ["started", "looked at", "closed"]),
    ],
)
def test_only_spark_is_started_before_a_table_is_looked_at(source, order, monkeypatch):
    """It has one application in a process: looking first would start one without the master and memory asked for."""
    heard = []

    def look(given, **_):
        heard.append("looked at")
        raise NoSuchFile(given)

    monkeypatch.setattr(
        "kech.tables.table.open_backend",
        lambda *_, **__: heard.append("started") or SimpleNamespace(close=lambda: heard.append("closed")),
    )
    monkeypatch.setattr("kech.tables.table.open_source", look)
    with pytest.raises(NoSuchFile):
        kech.read_table(source)
    assert heard == order


@pytest.fixture
def started_with(monkeypatch):
    """How many threads of a machine with three cores the engine of a table has."""
    monkeypatch.setattr("os.cpu_count", lambda: 3)

    def count_threads(source, threads=None):
        with kech.read_table(source, quasi_identifiers=["a"], threads=threads) as table:
            assert table.threads == (threads or 3)
            return table.engine.backend.connection.execute("SELECT current_setting('threads')").fetchone()[0]

    return count_threads


def test_a_small_dataframe_takes_one_thread_of_the_engine_unless_more_are_asked_for(started_with):
    small, large = pa.table({"a": np.arange(10_000)}), pa.table({"a": np.arange(10_001)})
    assert [started_with(small), started_with(small, 2), started_with(large), started_with(large, 1)] == [1, 2, 3, 1]
    assert started_with(pl.from_arrow(small).lazy()) == 3  # nobody knows how many rows it will have


def test_an_engine_that_others_will_use_gets_all_threads(monkeypatch):
    """Spark has one application in a process, whichever table it was started for."""
    asked = []

    def start(*_, threads, **__):
        asked.append(threads)
        raise NoSuchFile("nothing")

    monkeypatch.setattr("os.cpu_count", lambda: 3)
    monkeypatch.setattr("kech.tables.table.open_backend", start)
    for engine in ("duckdb", "spark"):
        with pytest.raises(NoSuchFile):
            kech.read_table(pa.table(PEOPLE), quasi_identifiers=["age"], engine=engine)
    assert asked == [1, 3]


def test_a_small_file_takes_one_thread_of_the_engine(started_with, tmp_path):
    path = tmp_path / "a.csv"
    for rows, threads in ((131_071, 1), (131_072, 3)):
        path.write_text("a\n" + "1\n" * rows, "utf-8")
        assert started_with(path) == threads
    (tmp_path / "parts").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "parts" / "a.parquet")
    assert started_with(tmp_path / "parts") == 3


def test_a_name_given_twice_or_alone_is_one_name():
    with kech.read_table(pa.table(PEOPLE), quasi_identifiers=("age", "age"), sensitive="ill") as table:
        assert (table.quasi_identifiers, table.sensitive) == (("age",), ("ill",))


def test_a_table_closes_its_engine(temporary):
    with kech.read_table(pa.table(PEOPLE)) as table:
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []
    table.close()


def test_a_table_does_not_show_its_rows():
    with kech.read_table(pa.table(PEOPLE)) as table:
        assert repr(table) == "Table(6 rows, 4 columns)"


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("number", AxisChoice("number")),
        (["low", "high"], AxisChoice("ordered", ("low", "high"))),
        (AxisChoice(grid=5), AxisChoice(grid=5)),
    ],
)
def test_an_axis_can_be_chosen_in_short(choice, expected):
    with kech.read_table(pa.table(PEOPLE), quasi_identifiers=["age"], axes={"age": choice}) as table:
        assert table.request.axes == {"age": expected}


@pytest.mark.parametrize("choice", ["round", "ordinal", AxisChoice("number", ("a", "b")), []])
def test_an_axis_that_makes_no_sense_is_refused(choice):
    with pytest.raises(BadOption, match=r"^axes: "):
        kech.read_table(pa.table(PEOPLE), quasi_identifiers=["age"], axes={"age": choice})


@pytest.mark.parametrize("memory", ["512MB", "1.5 GB", "2gib", "1TB", "900000KB"])
def test_a_size_of_memory_is_taken(memory):
    kech.read_table(pa.table(PEOPLE), memory=memory).close()


@pytest.mark.parametrize("memory", ["512", "GB", "-1GB", "1 XB", "1GB; SET threads = 1", "80%", ""])
def test_a_size_that_is_none_is_refused(memory):
    with pytest.raises(BadOption, match=r"^memory: "):
        kech.read_table(pa.table(PEOPLE), memory=memory)


@pytest.mark.parametrize("threads", [0, -1, 257])
def test_a_number_of_threads_that_is_none_is_refused(threads):
    with pytest.raises(BadOption, match=r"^threads: "):
        kech.read_table(pa.table(PEOPLE), threads=threads)


# -- kinds -----------------------------------------------------------------------------------------------

NUMBERS = {
    "whole": pa.array([1, 2, None], pa.int8()),
    "unsigned": pa.array([1, 2, None], pa.uint64()),
    "float": pa.array([1.5, 2.5, None], pa.float32()),
    "decimal": pa.array([Decimal("1.10"), Decimal("2.20"), None], pa.decimal128(10, 2)),
    "text": pa.array(["1", "-2.5e3", None]),
    "text of a float": pa.array(["0.30000000000000004", "0.1", "12345.678901234567"]),
    "long text of numbers": pa.array(["1.0000000000000000000001", "2"]),
    "spaces": pa.array([" 1", "2 "]),
    "coded": pa.array([1, 2, 1]).dictionary_encode(),
}
DATES = {
    "date": pa.array([date(2020, 1, 1), None]),
    "seconds": pa.array([datetime(2020, 1, 1, 3), None], pa.timestamp("s")),
    "nanoseconds": pa.array([datetime(2020, 1, 1, 3), None], pa.timestamp("ns")),
    "zone": pa.array([datetime(2020, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "Asia/Tokyo")),
    "text": pa.array(["2020-01-01", "1999-12-31", None]),
    "text with time": pa.array(["2020-01-01 10:00", "1999-12-31T23:59:59"]),
}
TEXTS = {
    "text": pa.array(["a", "b", None]),
    "categories": pa.array(["a", "b", "a"]).dictionary_encode(),
    "large text": pa.array(["a", "b"], pa.large_string()),
    "yes or no": pa.array([True, False, None]),
    "leading zeros": pa.array(["02138", "10001"]),
    "long codes": pa.array(["4242424242424242", "1"]),
    "long numbers": pa.array([2**60 + 1, 2**60 + 2]),
    "nothing": pa.array([None, None], pa.string()),
    "no type": pa.nulls(3),
    "half numbers": pa.array(["1", "x"]),
}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        pytest.param(cells, kind, id=f"{kind}: {name}")
        for kind, arrays in {"number": NUMBERS, "date": DATES, "text": TEXTS}.items()
        for name, cells in arrays.items()
    ],
)
def test_the_kind_of_a_column_is_found(cells, kind):
    assert kind_of(cells) == kind


def test_a_kind_can_be_asked_for():
    assert kind_of(["02138", "10001"], axes={"a": "number"}) == "number"
    assert kind_of([1, 2], axes={"a": "set"}) == "text"
    assert kind_of([[1], [2]], axes={"a": "set"}) == "text"
    with pytest.raises(BadValue, match="row 2: this is not a number"):
        kind_of(["1", "x", "2"], axes={"a": "number"})
    with pytest.raises(BadValue, match="row 3: this is no date"):
        kind_of(["2020-01-01", None, "2020"], axes={"a": "date"})
    with pytest.raises(BadValue, match="row 2: NaN or an infinity"):
        kind_of(["1", "inf", "2"], axes={"a": "number"})


def test_nearly_all_is_not_enough():
    with pytest.raises(BadValue, match=r"row 5: nearly all values are numbers, this one is not\..*null_values"):
        kind_of(["1"] * 4 + ["CANARY"] + ["2"] * 20)
    with pytest.raises(BadValue, match="row 1: nearly all values are dates"):
        kind_of(["soon"] + ["2020-01-01"] * 20)
    assert kind_of(["1"] * 4 + ["n/a"] + ["2"] * 20, null_values=["N/A"]) == "number"


@pytest.mark.parametrize("cells", [[[1], [2]], [b"a", b"b"], [{"x": 1}, {"x": 2}]])
def test_what_has_no_order_and_no_text_is_refused(cells):
    with pytest.raises(InputError, match="Column 'a' has lists, blobs or times of day as cells"):
        kind_of(cells)


def test_moments_with_a_zone_read_the_same_everywhere(tmp_path):
    """Labels are in UTC, wherever the zone of the column and of the machine is."""
    tokyo = timezone(timedelta(hours=9))
    moments = [datetime(2020, 1, 1, 3, tzinfo=tokyo)] * 2
    pq.write_table(pa.table({"a": pa.array(moments, pa.timestamp("us", "Asia/Tokyo"))}), tmp_path / "t.parquet")
    script = (
        "import kech, sys\n"
        "with kech.read_table(sys.argv[1], quasi_identifiers=['a']) as table:\n"
        "    print(kech.make_release(table, k=2, grid='exact').frame['a'].tolist())"
    )
    for zone in ("UTC", "America/New_York"):
        done = subprocess.run(
            [sys.executable, "-c", script, tmp_path / "t.parquet"],
            capture_output=True,
            text=True,
            env=os.environ | {"TZ": zone},
            check=True,
        )
        assert done.stdout == "['2019-12-31 18:00:00', '2019-12-31 18:00:00']\n"


# -- dataframes in ---------------------------------------------------------------------------------------

LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas with Arrow types": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with an index": lambda columns: pd.DataFrame(columns, index=list("uvwxyz")),
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "a batch": lambda columns: pa.table(columns).to_batches()[0],
    "a stream": lambda columns: pa.table(columns).to_reader(),
    "a query": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_dataframes_of_every_library_are_read(library):
    with kech.read_table(LIBRARIES[library](PEOPLE), quasi_identifiers=["age", "job"], sensitive=["ill"]) as table:
        assert table.columns == ("name", "age", "job", "ill")
        assert held_rows(table.engine) == list(zip(PEOPLE["age"], PEOPLE["job"], PEOPLE["ill"], strict=True))


@pytest.mark.parametrize(
    ("library", "kind"),
    [
        ("pandas", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("lazy polars", pl.DataFrame),
        ("pyarrow", pa.Table),
        ("a stream", pa.Table),
        ("a query", pd.DataFrame),
    ],
)
def test_a_release_is_a_dataframe_of_the_same_library(library, kind):
    with kech.read_table(LIBRARIES[library](PEOPLE), quasi_identifiers=["age"], sensitive=["ill"]) as table:
        frame = kech.make_release(table, k=2, grid="exact").frame
    assert isinstance(frame, kind)
    rows = (
        frame.to_pylist()
        if kind is pa.Table
        else frame.to_dict("records")
        if kind is pd.DataFrame
        else frame.to_dicts()
    )
    assert sorted(row["age"] for row in rows) == ["20", "20", "30", "30", "40", "40"]
    assert sorted(row["ill"] for row in rows) == ["p", "p", "q", "q", "r", "r"]


def test_the_release_of_a_file_is_a_pandas_dataframe(tmp_path):
    (tmp_path / "t.csv").write_text("age,n\n20,1\n20,2\n")
    with kech.read_table(tmp_path / "t.csv", quasi_identifiers=["age"], keep=["n"]) as table:
        frame = kech.make_release(table, k=2).frame
    assert isinstance(frame, pd.DataFrame)
    assert sorted(frame["n"]) == [1, 2]


def test_nan_of_pandas_is_missing_and_nan_of_polars_is_not():
    cells = [1.0, np.nan, 2.0, 1.0, None, 2.0]
    with kech.read_table(pd.DataFrame({"a": cells}), quasi_identifiers=["a"]) as table:
        assert (table.kind("a"), table.facts("a").nulls) == ("number", 2)
    frame = pl.DataFrame({"a": cells}, strict=False)
    with kech.read_table(frame, quasi_identifiers=["a"]) as table, pytest.raises(BadValue, match="row 2: NaN"):
        table.kind("a")
    with kech.read_table(frame, quasi_identifiers=["a"], null_values=["nan"]) as table:
        assert (table.kind("a"), table.facts("a").nulls) == ("number", 2)


def test_types_of_pandas_and_polars_keep_their_meaning():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "category": pd.Categorical(["x", None]),
            "yes": [True, False],
            "day": [date(2020, 1, 1), None],
            "moment": pd.to_datetime(["2020-01-01", None]),
            "zone": pd.to_datetime(["2020-01-01", None], utc=True),
            "text": ["a", None],
        }
    )
    kinds = ["number", "text", "text", "date", "date", "date", "text"]
    with kech.read_table(frame) as table:
        assert [table.kind(name) for name in table.columns] == kinds
        assert [table.facts(name).nulls for name in table.columns] == [1, 1, 0, 1, 1, 1, 1]
    enum = pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"]))
    frame = pl.DataFrame({"enum": enum, "category": enum.cast(pl.Categorical), "decimal": [Decimal("1.5"), None]})
    with kech.read_table(frame) as table:
        assert [table.kind(name) for name in table.columns] == ["text", "text", "number"]


@pytest.mark.parametrize(
    ("frame", "error", "says"),
    [
        (pd.DataFrame([[1, 2]]), BadColumns, "every column needs a name that is text"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), BadColumns, "the names are not distinct"),
        (pd.DataFrame([[1, 2]], columns=["a", "A"]), BadColumns, "not distinct"),
        (pd.DataFrame({"a": [1, "x"]}), BadColumns, "column 'a' mixes types"),
        (pd.DataFrame({"b": [1, 2], "a": [object(), object()]}), BadColumns, "column 'a' mixes types"),
        (pd.DataFrame(), BadColumns, "there are none"),
        (pl.LazyFrame({"a": ["x"]}).with_columns(pl.col("a").cast(pl.Int64)), InputError, "InvalidOperationError"),
        (pl.LazyFrame({"a": ["x"]}).select("b"), InputError, "ColumnNotFoundError"),
        ({"a": [1]}, InputError, "A dict is no table"),
        (np.ones((2, 2)), InputError, "A ndarray is no table"),
        (pd.Series([1]), InputError, "A Series is no table"),
        (None, InputError, "A NoneType is no table"),
        (b"t.csv", InputError, "A bytes is no table"),
    ],
)
def test_what_is_no_table_is_refused(frame, error, says):
    with pytest.raises(error, match=says):
        kech.read_table(frame)


def test_the_same_numbers_are_one_value_however_written(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n1.0\n01e0\n+1\n 1\n-0\n0\n0.0\n-0.0\n.0\n")
    with kech.read_table(tmp_path / "t.csv", quasi_identifiers=["a"], axes={"a": "number"}) as table:
        assert sorted(kech.make_release(table, k=5, grid="exact").frame["a"]) == ["0"] * 5 + ["1"] * 5
