"""What a Parquet file holds beside its rows."""

import json
import random
from base64 import b64encode
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import kech
from kech.certificate.pages import find_unpublished
from kech.certificate.thrift import Reader
from kech.errors import ClaimBroken, KechError, UnreadableFile

MEMBERS = {
    "sex": ["a", "b", "far", "never_sex"],
    "disease": ["flu", "cold", "odd_disease", "never_disease"],
    "ward": ["x", "y", "odd_ward", "never_ward"],
}
HIDDEN = (b"far", b"odd_", b"never_")
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease"], "keep": ["ward"]}


def people():
    """Two of a hundred rows are far from all others, and hold values of their own."""
    rows = [(20 + i % 5, "ab"[i % 2], ("flu", "cold")[i % 3 > 0], "xy"[i % 2]) for i in range(98)]
    return pd.DataFrame([*rows, *[(90, "far", "odd_disease", "odd_ward")] * 2], columns=["age", *MEMBERS])


def as_categories(frame):
    return frame.assign(**{name: pd.Categorical(frame[name], held) for name, held in MEMBERS.items()})


def as_enums(frame, folder):
    file = folder / "people.db"
    with duckdb.connect(str(file)) as connection:
        for name, held in MEMBERS.items():
            connection.execute(f"CREATE TYPE e_{name} AS ENUM ({', '.join(map(repr, held))})")
        casts = ", ".join(f"CAST({name} AS e_{name}) AS {name}" for name in MEMBERS)
        connection.execute(f"CREATE TABLE people AS SELECT age, {casts} FROM frame")
    return f"duckdb:{file}#people"


def as_parquet(frame, folder):
    pq.write_table(pa.Table.from_pandas(as_categories(frame)), folder / "people.parquet")
    return folder / "people.parquet"


SOURCES = {
    "enums of DuckDB": as_enums,
    "categories of pandas": lambda frame, _: as_categories(frame),
    "enums of polars": lambda frame, _: pl.DataFrame(frame).with_columns(
        pl.col(name).cast(pl.Enum(held)) for name, held in MEMBERS.items()
    ),
    "dictionaries of Arrow": lambda frame, _: pa.Table.from_pandas(as_categories(frame)),
    "Parquet": as_parquet,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_release_lists_no_value_of_a_row_that_is_left_out(kind, tmp_path):
    path = tmp_path / "safe.parquet"
    with kech.read_table(SOURCES[kind](people(), tmp_path), **ROLES) as table:
        release = kech.make_release(table, k=5, cut="domain", suppress=0.02)
        release.write(path)
        release.write(f"duckdb:{tmp_path / 'safe.db'}#safe", tmp_path / "safe.json", ledger=False)
        frame = release.frame

    assert len(pq.read_table(path)) == len(frame) == 98
    assert [text for text in HIDDEN if text in path.read_bytes()] == []
    with pq.ParquetFile(path, read_dictionary=list(MEMBERS)) as file:
        assert sorted(file.read()["disease"].chunk(0).dictionary.to_pylist()) == ["cold", "flu"]
    with duckdb.connect(str(tmp_path / "safe.db")) as connection:
        assert "ENUM" not in str(connection.execute("DESCRIBE safe").fetchall())
    assert not any(isinstance(kind, pd.CategoricalDtype | pl.Enum) for kind in getattr(frame, "dtypes", ()))


def released(folder):
    path = folder / "safe.parquet"
    with kech.read_table(people(), **ROLES) as table:
        kech.make_release(table, k=5, cut="domain", suppress=0.02).write(path)
    return path, folder / "safe.parquet.certificate.json"


def certify_again(path, certificate):
    """As a forger would: the certificate is of the bytes that are there."""
    document = json.loads(certificate.read_text("utf-8"))
    document["file"]["sha256"] = sha256(path.read_bytes()).hexdigest()
    certificate.write_text(json.dumps(document), "utf-8")


def with_spare_values(path):
    """The same rows, and a dictionary that lists more."""
    rows = pq.read_table(path)
    coded = rows["disease"].combine_chunks().dictionary_encode()
    listed = pa.concat_arrays([coded.dictionary, pa.array(["odd_disease", "never_disease"])])
    column = pa.DictionaryArray.from_arrays(coded.indices, listed)
    pq.write_table(rows.set_column(rows.column_names.index("disease"), "disease", column), path)


def test_spare_values_of_a_dictionary_are_refused_and_not_shown(tmp_path, run):
    path, certificate = released(tmp_path)
    kech.check_certificate(path)
    with_spare_values(path)
    certify_again(path, certificate)

    with pytest.raises(ClaimBroken, match="'disease': its dictionary lists 2 values that no row has") as refusal:
        kech.check_certificate(path)
    assert not any(text.decode() in str(refusal.value) for text in HIDDEN)
    for words in ([], ["--qi", "age", "sex", "--k", "5"]):
        outcome = run("verify", path, *words)
        assert outcome.code == 4
        assert "its dictionary lists 2 values" in outcome.err


def test_no_certificate_is_made_of_a_file_with_spare_values(tmp_path):
    path, certificate = released(tmp_path)
    document = json.loads(certificate.read_text("utf-8"))
    with_spare_values(path)

    with pytest.raises(ClaimBroken, match="its dictionary lists 2 values"):
        kech.certificate.make_certificate(
            path,
            published_name=path.name,
            axes=document["quasi_identifiers"],
            sensitive=["disease"],
            kept=["ward"],
            rows_in=98,
            parameters=document["parameters"],
            kech_version="1",
        )


def test_a_value_may_be_listed_where_another_part_of_the_file_holds_it(tmp_path):
    column = pa.DictionaryArray.from_arrays([0] * 5 + [1] * 5, ["one", "two"])
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": column}), path, row_group_size=5)
    assert find_unpublished(path, certified=False) == []

    pq.write_table(pa.table({"a": column}).slice(0, 5), path)
    assert find_unpublished(path, certified=False) == ["'a': its dictionary lists 1 values that no row has"]


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize(
    ("kind", "rows", "planted"),
    [(pa.string(), ["bbb", "ccc", None], "aaa"), (pa.int64(), [1 << 40, (1 << 40) + 5, None], (1 << 40) - 3)],
)
def test_statistics_that_are_of_no_row_are_refused(tmp_path, kind, rows, planted, indexed):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": pa.array(rows, kind)}), path, compression="none", write_page_index=indexed)
    assert find_unpublished(path, certified=True) == []

    def spelled(value):
        return value.encode() if isinstance(value, str) else value.to_bytes(8, "little")

    head, _, tail = path.read_bytes().rpartition(spelled(rows[0]))  # the last one is in the footer
    path.write_bytes(head + spelled(planted) + tail)
    assert find_unpublished(path, certified=False) == ["'a': minimum: not of the rows of the file"]


def test_a_number_of_missing_cells_is_that_of_the_rows(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": pa.array(["b", None, "c"])}), path, compression="none", use_dictionary=False)
    head, one, tail = path.read_bytes().rpartition(b"6\x02(\x01c")  # of the statistics: one is missing, c is the last
    assert one
    path.write_bytes(head + b"6\x06(\x01c" + tail)

    assert find_unpublished(path, certified=False) == ["'a': null count: not of the rows of the file"]


@pytest.mark.parametrize("plant", ["metadata", "bytes", "writer"])
def test_a_certified_file_has_nothing_but_rows(tmp_path, plant):
    path, certificate = released(tmp_path)
    if plant == "metadata":
        rows = pq.read_table(path)
        pq.write_table(rows.replace_schema_metadata({"pandas": "odd_disease"}), path)
    elif plant == "writer":
        duckdb.sql(f"COPY (FROM '{path}') TO '{tmp_path / 'other.parquet'}'")
        path.write_bytes((tmp_path / "other.parquet").read_bytes())
    else:
        data = path.read_bytes()
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        path.write_bytes(data[:start] + b"odd_disease" + data[start:])
    certify_again(path, certificate)

    with pytest.raises(ClaimBroken, match=r"metadata|bytes"):
        kech.check_certificate(path)


def odd_rows(count, seed=0):
    """Columns of many types, with cells that are missing."""
    draw = random.Random(seed)

    def some(make):
        return [None if draw.random() < 0.2 else make() for _ in range(count)]

    text, places = ["", "a", "é" * 40, "x" * 100], [0.0, -0.0, 1.5, float("nan")]
    return pa.table(
        {
            "whole": pa.array(some(lambda: draw.randrange(50)), pa.int64()),
            "small": pa.array(some(lambda: draw.randrange(5)), pa.int16()),
            "wide": pa.array([draw.randrange(2**40) for _ in range(count)], pa.int64()),
            "double": pa.array(some(lambda: draw.choice(places)), pa.float64()),
            "float": pa.array(some(draw.random), pa.float32()),
            "truth": pa.array(some(lambda: draw.random() < 0.5), pa.bool_()),
            "text": pa.array(some(lambda: draw.choice(text)), pa.string()),
            "long": pa.array([str(draw.random()) * draw.randrange(1, 9) for _ in range(count)], pa.string()),
            "day": pa.array(some(lambda: date(2000, 1, draw.randrange(1, 31))), pa.date32()),
            "moment": pa.array(some(lambda: datetime(2000, 1, 1, draw.randrange(24))), pa.timestamp("us")),
            "decimal": pa.array(some(lambda: Decimal(draw.randrange(999)) / 100), pa.decimal128(20, 2)),
            "nothing": pa.array([None] * count, pa.string()),
            "list": pa.array(some(lambda: [draw.randrange(9)] * draw.randrange(4)), pa.list_(pa.int64())),
        }
    )


@pytest.mark.parametrize("count", [0, 1, 2000])
def test_files_of_honest_writers_hold_what_their_rows_hold(tmp_path, count):
    rows, path = odd_rows(count), tmp_path / "t.parquet"
    for options in (
        {},
        {"data_page_version": "2.0", "compression": "zstd"},
        {"write_page_index": True, "data_page_size": 500},
        {"compression": "none", "use_dictionary": False},
        {"compression": "gzip", "dictionary_pagesize_limit": 500},
    ):
        pq.write_table(rows, path, row_group_size=max(count // 3, 1), **options)
        assert find_unpublished(path, certified=True) == []
    flat = rows.drop(["list"])
    pl.from_arrow(flat).write_parquet(path)
    assert find_unpublished(path, certified=False) == []
    duckdb.sql(f"COPY flat TO '{path}' (FORMAT parquet)")
    assert find_unpublished(path, certified=False) == []


def test_torn_headers_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(odd_rows(50), path)
    whole, draw = path.read_bytes(), random.Random(1)
    for _ in range(150):
        place = draw.randrange(4, len(whole) - 4)
        path.write_bytes(whole[:place] + bytes([draw.randrange(256)]) + whole[place + 1 :])
        try:
            assert isinstance(find_unpublished(path, certified=True), list)
        except UnreadableFile as refusal:
            assert "cannot be checked" in str(refusal)


def damaged(whole, draw):
    """One to three bytes of the footer or of the first headers are flipped, or set to an end of their range."""
    data, footer = bytearray(whole), len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for _ in range(draw.randint(1, 3)):
        place = draw.choice([draw.randrange(footer, len(whole) - 4), draw.randrange(4, min(150, footer))])
        data[place] = draw.choice([0, 1, 127, 128, 255, data[place] ^ 1 << draw.randrange(8), draw.randrange(256)])
    return bytes(data)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))])
def test_damaged_headers_end_in_a_verdict(seed, tmp_path):
    path, certificate = released(tmp_path)
    whole, draw = path.read_bytes(), random.Random(seed)
    for _ in range(300):
        path.write_bytes(damaged(whole, draw))
        certify_again(path, certificate)
        with suppress(KechError):
            kech.check_certificate(path)
        with suppress(KechError):
            kech.certificate.check_table(path, ["age", "sex"], 2, ["disease"])


def as_number(value, length=None):
    """A number of a header, in so many bytes."""
    value = value << 1 ^ value >> 63
    length = length or -(-value.bit_length() // 7)
    return bytes(value >> 7 * i & 127 | (128 if i < length - 1 else 0) for i in range(length))


@pytest.mark.parametrize("told", ["negative", "the header again", "huge"])
@pytest.mark.parametrize("field", ["unpacked", "stored", "values"])
def test_sizes_that_no_page_has_are_refused(field, told, tmp_path, monkeypatch):
    monkeypatch.setattr("kech.certificate.pages.MOST_UNPACKED", 0)
    path = tmp_path / "t.parquet"
    numbers = pa.table({"a": np.arange(10_000) % 3})
    pq.write_table(numbers, path, compression="zstd", use_dictionary=False)
    assert find_unpublished(path, certified=True) == []

    whole = path.read_bytes()
    reader = Reader(whole, 4)
    head = reader.struct()
    mark = as_number({"unpacked": head[2], "stored": head[3], "values": head[5][1]}[field])
    sizes = {"negative": -1, "the header again": 4 - reader.offset, "huge": (1 << 7 * len(mark) - 1) - 1}
    place = whole.index(mark, 4, reader.offset)
    path.write_bytes(whole[:place] + as_number(sizes[told], len(mark)) + whole[place + len(mark) :])
    with pytest.raises(UnreadableFile, match="cannot be checked"):
        find_unpublished(path, certified=False)


@pytest.mark.parametrize("bits", [33, 40])
def test_numbers_of_too_many_bits_are_refused(bits, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": pa.array(["x", "y"] * 160)}), path, compression="none")
    whole = path.read_bytes()
    head, _, tail = whole.partition(b"\x01\x51")  # of one bit, forty times eight packed numbers
    path.write_bytes(head + bytes([bits, 3]) + tail)

    with pytest.raises(UnreadableFile, match="cannot be checked"):
        find_unpublished(path, certified=False)


SAID = {"left_out": "Ann Smith, HIV"}


def with_schema(path, change):
    """The same rows, with another schema of Arrow beside them."""
    rows = pq.read_table(path)
    with pq.ParquetWriter(path, rows.schema, store_schema=False, write_statistics=False) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata({"ARROW:schema": b64encode(change(rows.schema).serialize())})


def with_first(change):
    return lambda schema: schema.set(0, change(schema.field(0)))


@pytest.mark.parametrize(
    "change",
    {
        "schema": lambda schema: schema.with_metadata(SAID),
        "field": with_first(lambda field: field.with_metadata(SAID)),
        "name": with_first(lambda field: field.with_name("Ann Smith")),
        "zone": with_first(lambda field: field.with_type(pa.timestamp("us", "Ann Smith"))),
        "part": with_first(lambda field: field.with_type(pa.struct([pa.field("Ann Smith", pa.int8())]))),
        "inside": with_first(lambda field: field.with_type(pa.list_(pa.field("item", pa.int8(), metadata=SAID)))),
        "dictionary": with_first(lambda field: field.with_type(pa.dictionary(pa.int8(), pa.string()))),
        "extension": with_first(lambda field: field.with_type(pa.json_())),
    }.items(),
    ids=lambda change: change[0],
)
def test_the_schema_beside_the_rows_says_nothing_more(change, tmp_path):
    path, _ = released(tmp_path)
    with_schema(path, lambda schema: schema)
    assert find_unpublished(path, certified=True) == []

    with_schema(path, change[1])
    assert find_unpublished(path, certified=True) == ["metadata: its schema says more than its columns"]


def test_the_writer_is_named_as_pyarrow_names_itself(tmp_path):
    path, certificate = released(tmp_path)
    named = f"parquet-cpp-arrow version {pa.__version__}".encode()
    whole = path.read_bytes()
    assert named in whole
    path.write_bytes(whole.replace(named, (b"parquet-cpp-arrow version AnnSmith" + b"V" * 20)[: len(named)]))
    certify_again(path, certificate)

    with pytest.raises(ClaimBroken, match="another writer's name"):
        kech.check_certificate(path)


TYPED = {"ward": "int64", "dose": "int64", "share": "double", "day": "date32[day]"}


def odd_people(rows):
    """The last row is alone in its town, and holds what is no number and no date."""
    held = [("ab"[i % 2], str(i), str(i % 7), f"{i % 9}.5", f"2020-01-{i % 28 + 1:02}") for i in range(rows)]
    return pa.table(
        dict(zip(["town", *TYPED], zip(*held, ("c", "x1", "odd", "none", "never"), strict=True), strict=True))
    )


@pytest.fixture
def placed(request, tmp_path):
    """Puts people where a table is read from."""

    def place(kind, people):
        if kind == "postgresql":
            from test_engines import put_into_postgres

            address = f"{request.getfixturevalue('postgres')}?table=odd_people"
            put_into_postgres(address, people)
            return address
        if kind == "frame":
            return people.to_pandas()
        path = tmp_path / f"people.{kind}"
        (pa.csv.write_csv if kind == "csv" else pq.write_table)(people, path)
        return path

    return place


@pytest.mark.parametrize(
    ("kind", "cut", "rows"),
    [("csv", "domain", 40), ("csv", "local", 40), ("csv", "domain", 2100)]
    + [(kind, "domain", 40) for kind in ("parquet", "frame", "postgresql")],
)
def test_rows_left_out_decide_no_type_and_no_kind(kind, cut, rows, placed, tmp_path):
    roles = {"quasi_identifiers": ["town"], "sensitive": ["dose"], "keep": ["ward", "share", "day"]}
    with kech.read_table(placed(kind, odd_people(rows)), **roles) as table:
        release = kech.make_release(table, k=5, cut=cut, suppress=0.05)
        certificate = release.write(tmp_path / "safe.parquet", ledger=False)
        in_text = release.write(tmp_path / "safe.csv", ledger=False)
        frame = pl.DataFrame(release.frame)

    written = pq.read_table(tmp_path / "safe.parquet")
    assert (written.num_rows, certificate["claims"]["suppressed"]) == (rows, "<5")
    assert {name: str(written.schema.field(name).type) for name in TYPED} == TYPED
    assert certificate["values"] == in_text["values"] == {"dose": {"kind": "number"}}
    assert len(frame) == rows
    assert frame["ward"].sum() == sum(range(rows))
