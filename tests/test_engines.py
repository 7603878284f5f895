"""One suite for all engines: the same table in, the same facts, points, release and certificate out.

The oracles are plain Python; they share no code with the engines.
"""

import csv
import datetime as dt
import hashlib
import json
import math
import random
import re
from collections import Counter, defaultdict
from dataclasses import astuple
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import kech
from kech.errors import BadColumns, ResourceError, UnreadableFile
from kech.tables.batches import Output
from kech.tables.duckdb import DuckDB
from kech.tables.engine import Engine
from kech.tables.source import find_address
from kech.tables.sql import ColumnCodes

UTC = dt.timezone.utc  # noqa: UP017
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets that Spark leaves to its own end
]


@pytest.fixture(params=["duckdb", "postgres", "spark", "cluster"], scope="module")
def home(request):
    """Engines one after the other: a process has one application of Spark, in its threads or on a cluster."""
    return request.param


@pytest.fixture
def workshop(request, home, temporary):
    """An engine, the way to it, and an end to it."""
    made = Workshop(request, home)
    yield made
    made.close()


class Workshop:
    """Makes engines of one kind, and puts tables where that kind reads them."""

    def __init__(self, request, kind):
        self.kind, self.request, self.opened = kind, request, []
        self.master = request.getfixturevalue("spark")(kind) if kind in ("spark", "cluster") else None

    def load(self, table, nulls=()):
        """An engine that holds a table."""
        made = self.make()
        table = table if isinstance(table, pa.Table) else pa.table(table)
        made.backend.load_arrow(table.to_reader(max_chunksize=7), range(table.num_columns), nulls, "t")
        return made

    def make(self):
        """An engine without rows."""
        made = Engine(self._open())
        self.opened.append(made)
        return made

    def _open(self):
        if self.kind == "duckdb":
            return DuckDB()
        if self.kind == "postgres":
            from kech.tables.postgres import Postgres

            return Postgres(find_address(self.request.getfixturevalue("postgres") + "?table=t"))

        from kech.tables.spark import Spark

        return Spark(master=self.master)

    def place(self, table, name="people"):
        """What `read_table` takes to read this table on this engine."""
        if self.kind == "duckdb":
            return {"source": table}
        if self.master:
            path = self.request.getfixturevalue("tmp_path") / f"{name}.parquet"
            pq.write_table(table, path)
            return {"source": path, "engine": "spark", "master": self.master}
        address = self.request.getfixturevalue("postgres") + f"?table=public.{name}"
        put_into_postgres(address, table)
        return {"source": address}

    def close(self):
        for made in self.opened:
            made.close()


def put_into_postgres(address, table):
    """A table as somebody else would have made it."""
    import psycopg

    found = find_address(address)
    quoted = ".".join(map(quote, found.names))
    columns = ", ".join(f"{quote(field.name)} {stored_type(field.type)}" for field in table.schema)
    with psycopg.connect(found.location) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {quoted} CASCADE")
        cursor.execute(f"CREATE TABLE {quoted} ({columns})")
        with cursor.copy(f"COPY {quoted} FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def stored_type(kind):
    """The type of PostgreSQL for a type of Arrow."""
    if pa.types.is_dictionary(kind):
        return stored_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_integer(kind):
        return "bigint"
    if pa.types.is_floating(kind):
        return "double precision"
    return "boolean" if pa.types.is_boolean(kind) else "date" if pa.types.is_date(kind) else "text"


# -- what a cell is, in plain Python ---------------------------------------------------------------------------

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.I | re.A)
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)([ T](\d\d):(\d\d)(:(\d\d)(\.\d{1,6})?)?)?", re.A)


def as_text(cell):
    """A cell as every engine writes it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, dt.datetime):
        written = cell.astimezone(UTC) if cell.tzinfo else cell
        fraction = f".{written.microsecond:06}".rstrip("0") if written.microsecond else ""
        return f"{written:%Y-%m-%d %H:%M:%S}".zfill(19) + fraction + ("+00" if cell.tzinfo else "")
    return repr(cell + 0.0) if isinstance(cell, float) else str(cell)


def as_number(cell):
    """A cell as a float; None where it is none."""
    if isinstance(cell, str):
        trimmed = cell.strip(" ")
        return float(trimmed) + 0.0 if NUMBER.fullmatch(trimmed) else None
    return float(cell) + 0.0


def as_seconds(cell):
    """A cell as seconds since 1970; None where it is no date."""
    if isinstance(cell, str):
        found = DATE.fullmatch(cell.strip(" "))
        try:
            cell = dt.datetime.fromisoformat(found[0]) if found else None
        except ValueError:
            cell = None
    if cell is None:
        return None
    moment = cell if isinstance(cell, dt.datetime) else dt.datetime(cell.year, cell.month, cell.day)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=UTC)) // dt.timedelta(microseconds=1) / 1e6


def told(value):
    """A value that equals itself."""
    return "nan" if isinstance(value, float) and math.isnan(value) else value


READ = {"text": as_text, "number": as_number, "date": as_seconds}


def type_of(column):
    if pa.types.is_temporal(column.type):
        return "date"
    plain = pa.types.is_string(column.type) or pa.types.is_boolean(column.type) or pa.types.is_null(column.type)
    return "text" if plain else "number"


def facts_of(column):
    """What an engine must say about a column."""
    kind, cells = type_of(column), column.to_pylist()
    numbers, odd, dates, padded, whole, others, no_dates = [], [], [], [], [0], [], []
    for row, cell in enumerate(cells, 1):
        if cell is None:
            continue
        text = as_text(cell).strip(" ")
        number = as_number(cell) if kind == "number" or isinstance(cell, str) else None
        finite = number is not None and math.isfinite(number)
        numbers += [row] if finite else []
        others += [] if finite else [row]
        named = kind != "date" and re.fullmatch(r"[+-]?(nan|inf|infinity)", text, re.I | re.A)
        odd += [row] if named or (number is not None and not finite) else []
        date = kind == "date" or (isinstance(cell, str) and as_seconds(cell) is not None)
        dates += [row] if date else []
        no_dates += [] if date else [row]
        padded += [row] if kind != "date" and re.match(r"[+-]?0[0-9]", text) else []
        whole += [len(text)] if re.fullmatch(r"[+-]?[0-9]+", text) else []
    distinct = len({as_text(cell) for cell in cells if cell is not None})
    first = [min(rows, default=None) for rows in (others, odd, no_dates)]
    missing = column.null_count, cells.count("")
    return (kind, len(cells), *missing, distinct, len(numbers), first[0], first[1], len(padded),
            len(dates), first[2], max(whole))  # fmt: skip


def values_of(column, kind):
    """Distinct values of a column and their rows, in order."""
    read = [READ[kind](cell) for cell in column.to_pylist() if cell is not None]
    counted = Counter(told(value) for value in read if value is not None)
    return sorted(counted.items(), key=lambda item: (item[0] == "nan" and kind != "text", item[0]))


def counted(engine, column, kind):
    """The same from an engine."""
    values, rows = engine.count_values(column, kind)
    return [(told(value), n) for value, n in zip(list(values), rows.tolist(), strict=True)]


# -- tables --------------------------------------------------------------------------------------------------

FLOATS = [1e15, 1e16, 123456789012345.6, 0.0001, 1e-5, 1e300, -0.0, 0.0, math.nan, math.inf, -math.inf, 5e-324, 1.5,
          1234567890123456.5, None, 0.1 + 0.2, -2.5, 1e22, 100.0]  # fmt: skip
TEXTS = ["é", "e\u0301", "Z", "a", "A", "ß", "", None, "1e999", "-1e999", "1e-999", " 7", "2020-02-30", "02138", "\n=x",
         "nan", "+Infinity", "0x10", "1_0", "\U0001f600", "zz", "ZZ", "ä", "a'b", 'a"b', "a\\b", "%s", "null", "x\ny",
         "0001-01-01", "0000-01-01", "2020-01-31T23:59:59.5", "2020-01-31 24:00"]  # fmt: skip
MOMENTS = [dt.datetime(2020, 1, 1, 10, 0, 0, 120000), dt.datetime(1950, 6, 30, 23, 59, 59, 999999), None,
           dt.datetime(2020, 1, 1, 10), dt.datetime(1, 1, 1)]  # fmt: skip
ROWS = 132


def cycle(cells, type=None):
    return pa.array([cells[i % len(cells)] for i in range(ROWS)], type)


ODD = pa.table(
    {
        "double": cycle(FLOATS),
        "decimal": cycle([Decimal("1.50"), Decimal("-0.75"), None, Decimal("99999999.99")], pa.decimal128(10, 2)),
        "day": cycle([dt.date(2020, 2, 29), None, dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)]),
        "moment": cycle(MOMENTS),
        "zone": cycle([x and x.replace(tzinfo=UTC) for x in MOMENTS]).cast(pa.timestamp("us", tz="Europe/Paris")),
        "boolean": cycle([True, False, None]),
        "text": cycle(TEXTS),
        "small": cycle([-128, 0, 127], pa.int8()),
        "large": cycle([2**63 - 1, -(2**63), 0, None], pa.int64()),
        "nothing": cycle([None], pa.null()),
        "category": cycle(["x", "y", None]).dictionary_encode(),
    }
)
PLAIN = ODD.set_column(10, "category", ODD["category"].cast(pa.string()))


def nasty_texts(seed):
    """Texts that nearly are numbers or dates."""
    chance = random.Random(seed)
    pieces = [
        "0",
        "1",
        "9",
        ".",
        "e",
        "E",
        "+",
        "-",
        " ",
        "nan",
        "inf",
        "2020-01-31",
        "-02-30",
        "T10:00",
        ":59",
        "x",
        "é",
    ]
    return ["".join(chance.choices(pieces, k=chance.randint(0, 4))) or None for _ in range(40)]


# -- the verbs -------------------------------------------------------------------------------------------------


def test_facts_and_values_are_those_of_plain_python(workshop):
    engine = workshop.load(ODD)
    for i, name in enumerate(ODD.column_names):
        assert astuple(engine.describe(i)) == facts_of(PLAIN[name]), name
        assert counted(engine, i, "text") == values_of(PLAIN[name], "text"), name
        kind = type_of(PLAIN[name])
        if kind != "text":
            assert counted(engine, i, kind) == values_of(PLAIN[name], kind), name


def test_facts_are_the_same_where_the_engine_reads_the_table_itself(workshop):
    table = PLAIN.drop_columns(["nothing", "text"])
    with kech.read_table(**workshop.place(table, "odd")) as opened:
        for i, name in enumerate(table.column_names):
            assert astuple(opened.facts(name)) == facts_of(table[name]), name
            assert counted(opened.engine, i, "text") == values_of(table[name], "text"), name


def test_what_nearly_is_a_number_or_a_date_is_told_apart_alike(workshop):
    table = pa.table({f"t{seed}": pa.array(nasty_texts(seed), pa.string()) for seed in range(12)})
    engine = workshop.load(table)
    for i, name in enumerate(table.column_names):
        assert astuple(engine.describe(i)) == facts_of(table[name]), name
        for kind in ("number", "date"):
            found = [pair for pair in counted(engine, i, kind) if pair[0] not in ("nan", None)]  # what is none is NULL
            assert found == values_of(table[name], kind), (name, kind)


def test_texts_are_ordered_by_their_code_points(workshop):
    texts = sorted({text for text in TEXTS if text is not None})
    engine = workshop.load({"a": pa.array(texts[::-1])})
    assert engine.count_values(0, "text")[0] == sorted(texts, key=lambda text: text.encode())


def test_bytes_are_those_of_the_distinct_values_as_text(workshop):
    engine = workshop.load({"a": ["\u00e9", "\u00e9", "abc", None], "b": [1.5, 10.5, 10.5, None]})
    assert (engine.text_bytes(0), engine.text_bytes(1)) == (5, 7)


def test_values_are_counted_together(workshop):
    """A missing value, or empty text, is one of a combination; rows without any value are not counted."""
    columns = {"a": cycle(["x", "y", None, ""]), "b": cycle([1, None, None, 2, 1]), "c": cycle([None, None, None])}
    table = pa.table({name: column[:24] for name, column in columns.items()})
    rows = list(zip(*table.to_pydict().values(), strict=True))
    engine = workshop.load(table)
    for chosen in ([0], [0, 1], [2, 1, 0], [2, 2]):
        picked = [tuple(row[i] if row[i] != "" else None for i in chosen) for row in rows]
        held = [cells for cells in picked if any(cell is not None for cell in cells)]
        assert engine.count_together(chosen) == (len(set(held)), len(held))
        assert engine.count_with(chosen[0], chosen[1:]) == len({cells for cells in picked if cells[0] is not None})


def test_values_are_hashed_alike_by_every_engine(workshop):
    """By what they read as: numbers to six digits and their place, texts without case and outer spaces."""
    texts = ["23", "23.000000001", "-0.00012345678", "0", "1e300", " Abc ", "abc", None, ""]
    engine = workshop.load({"a": texts, "b": [float(i) for i in range(9)]})
    found = engine.hash_values(0, 0)
    hashes = dict(zip(found.texts, found.hashes.tolist(), strict=True))
    spelled = {
        "23": "230000e1",
        "23.000000001": "230000e1",
        "-0.00012345678": "123457e-4",
        " Abc ": "abc",
        "abc": "abc",
    }
    for text, read in spelled.items():
        assert hashes[text] == int.from_bytes(hashlib.md5(read.encode()).digest()[8:], "little"), text
    assert (found.distinct, found.present, len(hashes)) == (7, 7, 7)
    numbers = engine.hash_values(1, 0)
    five = hashlib.md5(b"500000e0").digest()[8:]
    assert int.from_bytes(five, "little") in numbers.hashes.tolist()
    sampled = engine.hash_values(1, 1)
    assert sorted(sampled.hashes.tolist()) == sorted(h for h in numbers.hashes.tolist() if h < 2**63)


def test_the_first_rows_are_shown_as_text(workshop):
    engine, names = workshop.load(ODD), ["text", "moment", "decimal", "zone"]
    expected = zip(*(PLAIN[name].to_pylist() for name in names), strict=True)
    found = engine.head([ODD.column_names.index(name) for name in names], 20)
    assert found == [[None if cell is None else as_text(cell) for cell in row] for row in expected][:20]


def test_texts_that_mean_missing(workshop):
    cells = pa.array(["NA", "na", "?", "N'A", "NAN", None, "x", "ÄÖ", "äö"])
    engine = workshop.load({"a": cells, "b": pa.array([1.0, math.nan] + [2.0] * 7)}, ["NA", "?", "n'a", "NaN", "Äö"])
    assert counted(engine, 0, "text") == [("x", 1)]
    assert engine.describe(0).nulls == 8
    assert engine.describe(1).not_finite is None
    assert counted(engine, 1, "number") == [(1.0, 1), (2.0, 7)]


def mappings_of(engine, table, kinds):
    """Codes in the order of the values; NULL comes last."""
    made = []
    for name, kind in kinds.items():
        column = table.column_names.index(name)
        values, _ = engine.count_values(column, kind)
        made.append(ColumnCodes(column, kind, values, np.arange(len(values), dtype=np.int32), len(values)))
    return made


def codes_of(table, kinds):
    """The same of every row, in plain Python."""
    columns = []
    for name, kind in kinds.items():
        place = {value: i for i, (value, _) in enumerate(values_of(table[name], kind))}
        read = [None if cell is None else READ[kind](cell) for cell in table[name].to_pylist()]
        columns.append([len(place) if v is None else place[told(v)] for v in read])
    return list(zip(*columns, strict=True))


KINDS = {"double": "text", "decimal": "number", "day": "date", "zone": "date", "boolean": "text", "text": "text"}


def test_points_are_those_of_plain_python(workshop):
    engine = workshop.load(ODD)
    mappings = mappings_of(engine, ODD, KINDS)
    expected = codes_of(PLAIN, KINDS)
    codes, weights = engine.group(mappings)
    assert (codes.dtype, weights.dtype) == (np.int32, np.int64)
    assert list(zip(map(tuple, codes.tolist()), weights.tolist(), strict=True)) == sorted(Counter(expected).items())
    assert list(map(tuple, engine.code_rows(mappings).tolist())) == expected


def shares_of(weights):
    """Every point is a class of its own."""
    each = np.arange(len(weights))
    return {"point": each, "class": each, "first": np.ones(len(weights), np.int64), "last": weights}


def test_every_row_is_published_once_with_the_labels_of_its_class(workshop):
    engine = workshop.load(ODD)
    mappings = mappings_of(engine, ODD, KINDS)
    codes, weights = engine.group(mappings)
    kept = [name for name in ODD.column_names if name not in ("nothing", "category")]
    outputs = [Output("label", None, [str(tuple(code)) for code in codes.tolist()])]
    outputs += [Output(name, ODD.column_names.index(name)) for name in kept]
    found = engine.publish(mappings, shares_of(weights), outputs, for_csv=False).read_all()
    assert found.column_names == ["label", *kept]
    expected = [map(str, codes_of(PLAIN, KINDS)), *(shown(PLAIN[name]) for name in kept)]
    assert Counter(zip(*map(shown, found.columns), strict=True)) == Counter(zip(*expected, strict=True))


def shown(column):
    """Cells that can be compared: NaN equals NaN, moments are in UTC."""
    zoned = pa.types.is_timestamp(column.type) and column.type.tz
    cells = (column.cast(pa.timestamp("us", tz="UTC")) if zoned else column).to_pylist()
    return cells if column.type == pa.string() or pa.types.is_dictionary(column.type) else list(map(repr, cells))


def test_rows_of_a_point_are_dealt_out_each_once_in_an_order_nobody_knows(workshop):
    engine = workshop.load({"a": ["x"] * 20 + ["y"] * 6, "b": list(range(26))})
    mappings = mappings_of(engine, pa.table({"a": [""]}), {"a": "text"})
    engine.group(mappings)
    shares = {"point": [0, 0, 1], "class": [0, 1, 2], "first": [1, 9, 1], "last": [8, 17, 6]}
    shares = {name: np.array(cells) for name, cells in shares.items()}
    outputs = [Output("label", None, ["low", "high", "all"]), Output("b", 1)]
    dealt = [engine.publish(mappings, shares, outputs, for_csv=False).read_all().to_pydict() for _ in range(3)]
    for found in dealt:
        assert Counter(found["label"]) == {"low": 8, "high": 9, "all": 6}
        assert len(set(found["b"])) == 23
        assert set(range(20, 26)) == {b for label, b in zip(found["label"], found["b"], strict=True) if label == "all"}
    assert len({tuple(found["b"]) for found in dealt}) == 3
    assert len({frozenset(found["b"]) for found in dealt}) > 1


CELLS = {
    "q": ["x"] * 12 + ["y"] * 5,
    "number": [1.0, 2.5, None, 1e300, -0.0, 7.0] * 2 + [3.0] * 5,
    "text": ["a", "A", "", None, "ä", "n"] * 2 + ["n", "vn", None, "", "z"],
    "day": pa.array([18000, None, 18001, 18000, 18500, 0] * 2 + [1] * 5, pa.date32()),
}


def test_rows_of_a_point_are_dealt_alike_by_every_engine_under_one_key(workshop):
    """DuckDB deals them in another order of rows; the other engines must deal as it does."""
    mirrored = Engine(DuckDB())
    mirrored.backend.load_arrow(pa.table(CELLS).take(list(range(17))[::-1]).to_reader(), range(4), (), "table")
    found = [deal_under(engine, key) for engine in (workshop.load(CELLS), mirrored) for key in (b"one", b"one", b"two")]
    mirrored.close()
    assert found[0] == found[1] == found[3] == found[4]
    assert found[2] == found[5] != found[0]


def deal_under(engine, key):
    mappings = mappings_of(engine, pa.table({"q": [""]}), {"q": "text"})
    engine.group(mappings)
    shares = {
        "point": [0, 0, 1],
        "class": [0, 1, 2],
        "first": [1, 6, 1],
        "last": [5, 10, 3],
    }  # of both some are left out
    shares = {name: np.array(cells) for name, cells in shares.items()}
    outputs = [Output("label", None, ["low", "high", "rest"]), *(Output(n, i) for i, n in enumerate(CELLS) if i)]
    rows = engine.publish(mappings, shares, outputs, for_csv=False, key=key).read_all()
    return Counter(zip(*map(shown, rows.columns), strict=True))


def test_what_is_left_of_a_table_is_a_table(workshop):
    engine = workshop.load({"a": ["x", "y", "x", None, "y", "z"], "b": [1, 2, 3, 4, 5, 6]})
    names = pa.table({"a": [""], "b": [0]})
    mappings = mappings_of(engine, names, {"a": "text"})
    engine.group(mappings)
    rest = engine.without(mappings, np.array([0, 3]))  # x and NULL
    assert counted(rest, 0, "text") == [("y", 2), ("z", 1)]
    assert (rest.describe(0).rows, rest.describe(0).nulls) == (3, 0)
    fewer = rest.without(inner := mappings_of(rest, names, {"a": "text"}), np.array([1]))  # z
    assert counted(fewer, 1, "number") == [(2.0, 1), (5.0, 1)]
    outputs = [Output("a", None, ["*", None]), Output("b", 1)]
    found = rest.publish(inner, shares_of(rest.group(inner)[1]), outputs, for_csv=False).read_all().to_pydict()
    assert Counter(zip(found["a"], found["b"], strict=True)) == {("*", 2): 1, ("*", 5): 1, (None, 6): 1}
    rest.close()
    del rest, fewer
    assert counted(engine, 0, "text") == [("x", 2), ("y", 2), ("z", 1)]
    assert engine.code_rows(mappings).ravel().tolist() == [0, 1, 0, 3, 1, 2]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "+3"], pa.int64()),
        (["1", "2.5", "1e3", " 7 "], pa.float64()),
        (["2020-01-31", "1999-12-31"], pa.date32()),
        (["2020-01-31 01:02:03", "1999-12-31"], pa.timestamp("us")),
        (["02138", "10001"], pa.string()),
        (["0.1000000000000000055511151231257827", "1"], pa.string()),
        ([None, None], pa.string()),
    ],
)
def test_published_text_becomes_what_it_is_where_nothing_is_lost(workshop, cells, kind):
    engine = workshop.load({"q": ["x"] * len(cells), "a": pa.array(cells, pa.string())})
    mappings = mappings_of(engine, pa.table({"q": [""]}), {"q": "text"})
    shares = shares_of(engine.group(mappings)[1])
    outputs = [Output("q", None, ["*"]), Output("a", 1, typed=True)]
    found = engine.publish(mappings, shares, outputs, for_csv=False).read_all()["a"].type
    assert (found.value_type if pa.types.is_dictionary(found) else found) == kind


FORMULAS = ["=1+1", "-cmd", "@SUM(A1)", "\tx", "\rx", " =x", "\u00a0=x", "\u2003@x", "\x0b=x", "\x85=x", "'=x", "\n=x",
            "-1+2", "''  =x\ny"]  # fmt: skip
HARMLESS = ["-1", "+1.5", "-1e5", "x=1", "'x", "", "a@b", "[-1, 2]", "<= -5", "{=a, b}", "*", "x\n=1", None]


def test_formulas_are_defused_and_numbers_are_not(workshop):
    cells = FORMULAS + HARMLESS
    engine = workshop.load({"q": ["x"] * len(cells), "a": pa.array(cells)})
    mappings = mappings_of(engine, pa.table({"q": [""]}), {"q": "text"})
    shares = shares_of(engine.group(mappings)[1])
    outputs = [Output("q", None, ["=x"]), Output("a", 1)]
    found = engine.publish(mappings, shares, outputs, for_csv=True).read_all().to_pydict()
    assert set(found["q"]) == {"'=x"}
    assert Counter(found["a"]) == Counter([*("'" + cell for cell in FORMULAS), *HARMLESS])


NAMES = ["select", "SELECT 1", 'quo"te', "apo'strophe", "c0", "r", "p", "class", "value", "first", "größe", "%s", "a.b",
         "table", "user", "order", "`tick`", "back\\slash", "{x}", "$1", "?"]  # fmt: skip


def test_any_name_is_a_name(workshop):
    names = [name for name in NAMES if name.casefold() != "select 1"]
    table = pa.table({name: [i, i + 1, None] for i, name in enumerate(names)})
    engine = workshop.load(table)
    mappings = mappings_of(engine, table, {names[0]: "number", names[1]: "number"})
    shares = shares_of(engine.group(mappings)[1])
    outputs = [Output(names[0], None, ["a", "b", "c"]), *(Output(name, i) for i, name in enumerate(names) if i)]
    found = engine.publish(mappings, shares, outputs, for_csv=False).read_all()
    assert found.column_names == names
    for i, name in list(enumerate(names))[1:]:
        assert Counter(found[name].to_pylist()) == {i: 1, i + 1: 1, None: 1}


def test_forty_columns(workshop):
    chance = random.Random(4)
    table = pa.table({f"q{j}": [chance.choice(["a", "b", None]) for _ in range(300)] for j in range(40)})
    engine = workshop.load(table)
    kinds = dict.fromkeys(table.column_names, "text")
    mappings = mappings_of(engine, table, kinds)
    expected = codes_of(table, kinds)
    codes, weights = engine.group(mappings)
    assert list(zip(map(tuple, codes.tolist()), weights.tolist(), strict=True)) == sorted(Counter(expected).items())
    found = engine.publish(mappings, shares_of(weights), [Output("all", None, ["*"] * len(weights))], for_csv=False)
    assert found.read_all().num_rows == 300


def test_an_empty_table_has_no_points(workshop):
    engine = workshop.load(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.float64())}))
    assert astuple(engine.describe(0)) == ("text", 0, 0, 0, 0, 0, None, None, 0, 0, None, 0)
    mappings = mappings_of(engine, pa.table({"a": [""], "b": [0]}), {"a": "text", "b": "number"})
    codes, weights = engine.group(mappings)
    assert (codes.shape, weights.shape) == ((0, 2), (0,))
    assert engine.code_rows(mappings).shape == (0, 2)


def test_a_failure_shows_no_cell(workshop, caplog):
    engine = workshop.load({"a": ["CANARY"]})
    query = "SELECT CAST(c0 AS INTEGER) AS x FROM kept"
    for verb in (
        lambda: engine.backend.read(query, "testing"),
        lambda: engine.backend.shuffle(query, "r", 1).read_all(),
    ):
        with pytest.raises(ResourceError) as caught:
            verb()
        assert "CANARY" not in str(caught.value)
        assert caught.value.__suppress_context__
    assert "CANARY" not in caplog.text


def test_a_type_that_is_neither_text_number_nor_date_is_refused_by_name_or_kept_as_text(workshop):
    halves = pa.table({"a": [1, 2], "half": pa.array(np.array([1, 2], np.float16))})
    with pytest.raises(BadColumns, match="column 'half' is of type halffloat"):
        workshop.load(halves)


def test_a_refusal_of_the_reader_passes_through(workshop):
    def failing():
        yield pa.record_batch({"a": ["x"]})
        raise UnreadableFile("t", "it is what the reader says.")

    engine = workshop.load({"a": ["x"]})
    fresh = workshop.make()
    with pytest.raises(UnreadableFile, match="it is what the reader says"):
        fresh.backend.load_arrow(
            pa.RecordBatchReader.from_batches(pa.schema([("a", pa.string())]), failing()), [0], (), "t"
        )
    assert engine.describe(0).rows == 1


# -- from a table to a certificate -----------------------------------------------------------------------------


def people(rows=240):
    chance = random.Random(8)
    born = [dt.date(1930, 1, 1) + dt.timedelta(days=chance.randrange(30_000)) for _ in range(rows)]
    return pa.table(
        {
            "age": pa.array([chance.choice([None, *range(18, 90)]) for _ in range(rows)], pa.int64()),
            "weight": pa.array([chance.choice([None, -0.0, 61.5, 70.25, 88.125]) for _ in range(rows)], pa.float64()),
            "fee": pa.array([Decimal(chance.randrange(9000)) / 100 for _ in range(rows)], pa.decimal128(10, 2)),
            "born": pa.array(born),
            "seen": pa.array([dt.datetime(2020, 1, 1, 12, tzinfo=UTC) + dt.timedelta(hours=i) for i in range(rows)]),
            'ord"er': pa.array([chance.choice(["é", "e\u0301", "Z", "a", "ß", None, "=1+1"]) for _ in range(rows)]),
            "zip": pa.array([f"{chance.randrange(20):05}" for _ in range(rows)]),
            "ill": pa.array([chance.choice(["flu", "cold", "'=x", "", None]) for _ in range(rows)]),
            "note": pa.array([chance.choice(["1", "2.5", "x", "-cmd"]) for _ in range(rows)]),
        }
    )


ROLES = {
    "quasi_identifiers": ["age", "weight", "born", 'ord"er', "zip"],
    "sensitive": ["ill", "fee"],
    "keep": ["seen", "note"],
}


def released(source, target, **options):
    """The rows of a release, sorted, and what its certificate claims."""
    with kech.read_table(**source, **ROLES) as table:
        certificate = kech.make_release(table, k=4, protect="none", effort="quick", seed=1, **options).write(
            target, ledger=False
        )
    assert kech.check_certificate(target)["k"] >= 4
    with target.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    del certificate["file"]["sha256"]
    return header, rows, json.loads(json.dumps(certificate))


@pytest.mark.parametrize("options", [{}, {"l": 2, "cut": "local"}, {"cut": "domain", "suppress": 0.05}], ids=str)
def test_the_release_and_its_certificate_are_the_same_on_every_engine(workshop, tmp_path, options):
    table = people()
    header, rows, certificate = released({"source": table}, tmp_path / "reference.csv", **options)
    found_header, found, claimed = released(workshop.place(table), tmp_path / "found.csv", **options)
    reference_file, found_file = certificate.pop("file"), claimed.pop("file")
    assert found_file["format"] == reference_file["format"]
    assert claimed == certificate
    assert found_header == header
    assert classes(header, found) == classes(header, rows)


def classes(header, rows):
    """Which labels stand with which cells; whose rows are dealt to which class is chance."""
    labels = [header.index(name) for name in ROLES["quasi_identifiers"]]
    counts = Counter(tuple(row[i] for i in labels) for row in rows)
    kept = defaultdict(Counter)
    for name in (*ROLES["sensitive"], *ROLES["keep"]):
        kept[name].update(row[header.index(name)] for row in rows)
    return counts, {} if len(rows) < 240 else kept


def test_a_table_has_the_same_fingerprint_on_every_engine(workshop):
    texts = [text for text in TEXTS if text != "1_0"]  # which DuckDB reads as 10
    table = people().append_column("odd", pa.array([*texts, *["x"] * (240 - len(texts))]))
    with kech.read_table(table, quasi_identifiers=["age"]) as reference:
        expected = reference.fingerprint()
    with kech.read_table(**workshop.place(table), quasi_identifiers=["age"]) as opened:
        assert opened.fingerprint() == expected
    with kech.read_table(**workshop.place(table.slice(1), "fewer"), quasi_identifiers=["age"]) as opened:
        assert opened.fingerprint() != expected


# -- people: the same classes wherever they are counted ------------------------------------------------------


def visits(rows=240):
    """Rows of about seventy people of two clinics; names are missing or written in several ways."""
    chance = random.Random(9)
    who = [chance.randrange(70) for _ in range(rows)]
    names = [chance.choice(["Zoé {}", "zoé {}", "ZOÉ  {} "]).format(person // 2) for person in who]
    return pa.table(
        {
            "clinic": pa.array([person % 2 for person in who], pa.int64()),
            "patient": pa.array([None if chance.random() < 0.03 else name for name in names]),
            "age": pa.array([chance.choice([None, *range(18, 90)]) for _ in range(rows)], pa.int64()),
            "born": pa.array([dt.date(1930, 1, 1) + dt.timedelta(days=400 * person) for person in who]),
            "town": pa.array([chance.choice(["é", "Z", "a", None]) for _ in range(rows)]),
            "ill": pa.array([chance.choice(["flu", "cold", "FLU", None]) for _ in range(rows)]),
        }
    )


PERSONS = pytest.mark.parametrize("person", [["patient"], ["clinic", "patient"]], ids=["one column", "two columns"])
CUT_BY_PEOPLE = [
    *({"l": 2}, {"cut": "domain", "suppress": 0.05}),
    *(pytest.param(options, marks=pytest.mark.long) for options in ({}, {"cut": "minimal"})),
]


def release_visits(source, target, person, **options):
    """How many rows each tuple of labels has, and what the certificate says."""
    names = ["age", "born", "town"]
    with kech.read_table(**source, quasi_identifiers=names, sensitive=["ill"], person=person) as table:
        options = {"effort": "quick"} | options if options.get("cut") != "domain" else options
        certificate = kech.make_release(table, k=4, **options).write(target, ledger=False)
    assert kech.check_certificate(target)["k"] >= 4
    with target.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert sorted(header) == sorted([*names, "ill"])
    del certificate["file"]
    places = [header.index(name) for name in names]
    return Counter(tuple(row[i] for i in places) for row in rows), json.loads(json.dumps(certificate))


@PERSONS
@pytest.mark.parametrize("options", CUT_BY_PEOPLE, ids=str)
def test_people_get_the_same_labels_on_every_engine(workshop, tmp_path, person, options):
    reference = release_visits({"source": visits()}, tmp_path / "reference.csv", person, **options)
    found = release_visits(workshop.place(visits(), "visits"), tmp_path / "found.csv", person, **options)
    assert found == reference
    assert reference[1]["stated"]["k"] >= 4


@PERSONS
@pytest.mark.parametrize("name", ["visits.csv", "visits.parquet", "pandas", "polars"])
def test_people_get_the_same_labels_from_files_and_frames(tmp_path, person, name):
    table, path = visits(), tmp_path / name
    if name == "visits.csv":
        pc.write_csv(table, path)
    elif name == "visits.parquet":
        pq.write_table(table, path)
    frames = {"pandas": table.to_pandas, "polars": lambda: pytest.importorskip("polars").from_arrow(table)}
    source = frames[name]() if name in frames else path
    reference = release_visits({"source": table}, tmp_path / "reference.csv", person)
    assert release_visits({"source": source}, tmp_path / "found.csv", person) == reference


def test_no_statement_to_a_server_names_a_person(postgres, tmp_path, monkeypatch):
    """Who looks at the list of processes of a server sees statements: they hold no cell."""
    psycopg = pytest.importorskip("psycopg")
    statements = []
    execute, copy = psycopg.Connection.execute, psycopg.Cursor.copy

    def execute_and_note(self, statement, *given, **named):
        statements.append(str(statement))
        return execute(self, statement, *given, **named)

    def copy_and_note(self, statement, *given, **named):
        statements.append(str(statement))
        return copy(self, statement, *given, **named)

    address = postgres + "?table=public.visits"
    put_into_postgres(address, visits())
    monkeypatch.setattr(psycopg.Connection, "execute", execute_and_note)
    monkeypatch.setattr(psycopg.Cursor, "copy", copy_and_note)
    release_visits({"source": address}, tmp_path / "found.csv", ["clinic", "patient"])
    assert len(statements) > 10
    assert [statement for statement in statements if "zoé" in statement.lower()] == []


# -- dates and numbers as others write them ------------------------------------------------------------------


WRITTEN = {
    "born": ["31.12.1980", "1.2.1990", " 05/06/1975 ", "2001-09-08", None, "28-02-2000 10:30"],
    "income": ["1.234,50", "-7,5", "12", "1.000.000", None, "0,25"],
    "words": ["1,5", "a", "b", "c", "d", "31.12.1980"],
    "zip": ["02138", "02139", "10115", "10117", None, "99999"],
}
READ_AS = {
    "born": ["1980-12-31", "1990-02-01", "1975-06-05", "2001-09-08", None, "2000-02-28 10:30"],
    "income": ["1234.50", "-7.5", "12", "1000000", None, "0.25"],
}


def test_dates_and_numbers_of_other_countries_are_rewritten_and_nothing_else(workshop):
    engine = workshop.load(WRITTEN)
    engine.rewrite(decimal=",", dates="dmy")
    columns = [list(column) for column in zip(*engine.head(range(4), 6), strict=True)]

    assert dict(zip(WRITTEN, columns, strict=True)) == WRITTEN | READ_AS
    facts = [engine.describe(column) for column in (0, 1)]
    assert (facts[0].dates, facts[1].numbers) == (5, 5)


def test_months_may_come_first_and_a_day_that_is_none_stays(workshop):
    engine = workshop.load({"a": ["12/31/2020"] * 19 + ["31/12/2020"], "b": ["1,5"] * 20})
    engine.rewrite(decimal=None, dates="mdy")

    assert [row[0] for row in engine.head([0], 20)] == ["2020-12-31"] * 19 + ["31/12/2020"]
    assert engine.describe(0).first_not_date == 20
    assert {row[0] for row in engine.head([1], 20)} == {"1,5"}


SPELLINGS = (
    "Female",
    " female",
    "FEMALE\u00a0",
    "O'Brien",
    "o'BRIEN",
    "a\\n",
    "A\\N",
    "Straße",
    "STRASSE",
    "ｆｅｍａｌｅ",
    "%s",
)
FOLDED = ("female", "female", "female", "o'brien", "o'brien", "a\\n", "a\\n", "strasse", "strasse", "female", "%s")


def test_spellings_are_folded_alike_on_every_engine(workshop):
    texts = [None if place % 13 == 5 else SPELLINGS[place % len(SPELLINGS)] for place in range(40)]
    folded = [text if text is None else FOLDED[SPELLINGS.index(text)] for text in texts]
    many = [f"Value {place}" for place in range(1001)]
    engine = workshop.load({"few": texts})
    engine.rewrite(decimal=None, dates=None, fold=True)
    assert [row[0] for row in engine.head([0], 40)] == folded

    engine = workshop.load({"many": many})
    engine.rewrite(decimal=None, dates=None, fold=True)
    assert engine.count_values(0, "text")[0] == sorted(many)  # so many texts are no categories


def test_folded_spellings_get_the_same_labels_on_every_engine(workshop, tmp_path):
    table = people()
    spelled = pa.array([SPELLINGS[row % len(SPELLINGS)] for row in range(table.num_rows)])
    table = table.set_column(table.column_names.index('ord"er'), 'ord"er', spelled)
    header, rows, _ = released({"source": table, "fold_variants": True}, tmp_path / "reference.csv")
    _, found, _ = released(workshop.place(table) | {"fold_variants": True}, tmp_path / "found.csv")
    assert classes(header, found) == classes(header, rows)
    assert "female" in str(rows)
    assert "Female" not in str(rows)
