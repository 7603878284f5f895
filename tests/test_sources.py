"""Sources: what a file is.  Python's own csv module is the oracle of every CSV file."""

import csv
import io
import os
import re
import subprocess
import sys
from datetime import date, datetime, time
from types import SimpleNamespace

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kech
from by_hand import held_rows
from kech.errors import BadColumns, BadOption, BadRow, KechError, MissingExtra, TooLarge, UnreadableFile
from strategies import further

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def look_at(path, **named):
    """What kech knows of a file before it reads rows."""
    with kech.read_table(path, **named) as table:
        return table.source


def rows_of(source, **named):
    """Every row of a table as the engine holds it."""
    with kech.read_table(source, **named) as table:
        return list(table.columns), held_rows(table.engine)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# -- the delimiter ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a,b\n1;5,2;5\n", ","),
        ('"a;b;c",d\n"1;2",3\n', ","),
        ('a,b\n"x;y\nz;w",2\n', ","),
        ("a;b\r1;2\r", ";"),
        ("a,b;c\n1,2;3\n4,5;6\n", ","),
        ("a b\n1 2\n", ","),
        ("a\n1\n", ","),
        ("a;b", ";"),
    ],
)
def test_the_delimiter_is_found(tmp_path, sample, delimiter):
    assert look_at(write(tmp_path / "t.csv", sample)).delimiter == delimiter


@pytest.mark.parametrize(("sample", "refusal"), [("\n\n", BadColumns), ('a;"b', BadRow)])
def test_where_no_delimiter_helps_the_file_is_refused(tmp_path, sample, refusal):
    with pytest.raises(refusal):
        look_at(write(tmp_path / "t.csv", sample))


def test_the_delimiter_is_found_in_a_ragged_file(tmp_path):
    with pytest.raises(BadRow, match="line 3: it has 3 fields, the header 2"):
        look_at(write(tmp_path / "t.csv", "a,b\n1,2\n3,4,5\n"))


def test_the_delimiter_is_found_where_the_sample_ends_inside_a_row(tmp_path):
    row = ";".join(["x,y" * 700] * 3) + "\n"
    source = look_at(write(tmp_path / "t.csv", "a;b;c\n" + row * 20))
    assert (source.delimiter, source.columns) == (";", ("a", "b", "c"))


def test_a_named_delimiter_is_taken(tmp_path):
    path = write(tmp_path / "t.csv", "a,b~c\n1,2~3\n")
    assert rows_of(path, delimiter="~") == (["a,b", "c"], [("1,2", "3")])


# -- rows: what Python's csv module reads, or a refusal ----------------------------------------------------

CELLS = st.sampled_from(
    ["", "a", "1", '"q"', '""', '"x,y"', '"x""y"', 'a"b', "' '", " a", '" a "', "é", "#", "\\", "\\N", "NULL"]
)
ODD_CELLS = st.sampled_from(['"x\ny"', '"x\r\ny"', '"\r"', '"', '"a"b', "\r", "\ufeff", "x" * 99])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def csv_texts(draw):
    """Text that is nearly CSV: mostly as wide as its header, mostly well quoted, its lines ending in any way."""
    width = draw(st.integers(1, 3))
    end = st.just(draw(ENDS)) if draw(st.booleans()) else ENDS
    cell = st.one_of(CELLS, CELLS, CELLS, ODD_CELLS)
    header = [draw(st.sampled_from([f"c{i}", f'"c{i}"', f'"c\n{i}"', f'"c\r\n{i}"'])) for i in range(width)]
    lines = [",".join(header)]
    for _ in range(draw(st.integers(0, 6))):
        fields = draw(st.sampled_from([width] * 12 + [0, width + 1, max(width - 1, 0)]))
        lines.append(",".join(draw(cell) for _ in range(fields)))
    written = "".join(line + draw(end) for line in lines)
    return written if draw(st.booleans()) else written.rstrip("\r\n")


def read_by_python(content):
    """Header and rows, None for nothing; or None where the text is no CSV."""
    try:
        header, *rows = csv.reader(io.StringIO(content, newline=""), strict=True)
    except csv.Error:
        return None
    width = len(header)
    rows = [row or [""] * (width == 1) for row in rows]
    rows = [row[:-1] if len(row) == width + 1 and row[-1] == "" else row for row in rows if row]  # 1,2, is forgiven
    if any(len(row) != width for row in rows):
        return None
    return header, [tuple(cell or None for cell in row) for row in rows]


@settings(in_one_folder, max_examples=150)
@given(csv_texts())
@example('"a\nb",c\r\n1,2\r\n')  # DuckDB alone would read no row
@example("a,b\r\n1,2\n3,4\r\n")
@example("a\n\r\n1\n")
@example("a,b\n1,2")
def test_a_csv_file_is_read_as_python_reads_it_or_refused(tmp_path, content):
    expected = read_by_python(content)
    try:
        found = rows_of(write(tmp_path / "t.csv", content), delimiter=",")
    except KechError:
        found = None
    assert found == expected


@pytest.mark.long
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_keep_their_order_in_a_large_file(tmp_path, end):
    rows = [[str(i), "x" * (i % 50) + (end if i % 7 == 0 else ""), '"' * (i % 3)] for i in range(120_000)]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator=end).writerows([["a", "b", "c"], *rows])
    _, found = rows_of(tmp_path / "t.csv")
    assert found == [tuple(cell or None for cell in row) for row in rows]


@pytest.mark.parametrize("encoding", [None, "latin-1"])
def test_the_line_of_a_fault_is_exact(tmp_path, encoding):
    good = 'a,b\n"1\n\n1",2\n\n3,4\n' + '"x\ny",5\n' * 5_000
    write(tmp_path / "t.csv", good + "\n\n6,7,8\n" + "9,10\n" * 99)
    with pytest.raises(BadRow, match=rf"line {good.count(chr(10)) + 3}: it has 3 fields, the header 2\."):
        kech.read_table(tmp_path / "t.csv", encoding=encoding)


# -- encodings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
def test_every_encoding_gives_the_same_rows(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes('größe,b\nä,ö\n"ü\r\n",ß\n'.encode(encoding))
    assert rows_of(tmp_path / "t.csv", encoding=encoding) == (["größe", "b"], [("ä", "ö"), ("ü\r\n", "ß")])


def test_all_bytes_of_latin_1_are_read(tmp_path):
    letters = [chr(i) for i in range(1, 256) if chr(i) not in '\r\n",']
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{x},1\n" for x in letters), "latin-1", newline="")
    assert rows_of(tmp_path / "t.csv", encoding="latin-1")[1] == [(x, "1") for x in letters]


def test_the_encoding_is_kept_for_the_plan(tmp_path):
    write(tmp_path / "t.csv", "a\n1\n")
    assert [look_at(tmp_path / "t.csv", encoding=e).encoding for e in (None, "UTF8", "l1", "cp1252")] == [
        "utf-8", "utf-8", "latin-1", "cp1252"]  # fmt: skip


@pytest.mark.parametrize("name", ["", "klingon", "base64", "rot13", "a\0b", "undefined"])
def test_what_is_no_encoding_is_refused(tmp_path, name):
    with pytest.raises(BadOption, match="Name an encoding of text"):
        look_at(write(tmp_path / "t.csv", "a\n1\n"), encoding=name)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 24])
def test_bytes_are_checked_across_chunks(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("kech.tables.csv_dialect.CHUNK", chunk)
    path = tmp_path / "t.csv"
    assert look_at(write(path, "a,ä\r\n€,漢\r\n")).csv.plain is True
    assert look_at(write(path, "a,ä\r\n€,漢\n")).csv.plain is False
    for content, line in [
        (b"a\r\nb\r\nc\xff", 3),
        (b"a\rb\r\0", 3),
        (b"a\n\n\xe2\x82", 3),
        (b"\xe2\x82\xac\n\xe2\x82x", 2),
        (b"\0", 1),
    ]:
        with pytest.raises(BadRow, match=f"line {line}: "):
            look_at(write(path, content))


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"x"])), st.integers(1, 5))
@in_one_folder
def test_line_ends_are_counted_as_a_reader_counts_them(tmp_path, parts, size):
    content, path = b"".join([b"h", *parts]), tmp_path / "t.csv"
    found = re.findall(rb"\r\n|\r|\n", content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kech.tables.csv_dialect.CHUNK", size)
        assert look_at(write(path, content)).csv.plain == (len(set(found)) <= 1)
        with pytest.raises(BadRow, match=f"line {len(found) + 1}\\b"):
            look_at(write(path, content + b"x\0"))


# -- columns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("a,a", "not distinct"),
        ("a,A", "not distinct"),
        ("straße,STRASSE", "not distinct"),
        ("a,,b", "column 2 has no name"),
        ("a,b, ", "column 3 has no name"),
        ("", "column 1 has no name"),
    ],
)
def test_columns_need_names_of_their_own(tmp_path, header, says):
    with pytest.raises(BadColumns, match=says):
        look_at(write(tmp_path / "t.csv", header + "\n1,2,3\n"))


def test_equal_looking_names_stay_apart(tmp_path):
    path = write(tmp_path / "t.csv", "\u00e9,e\u0301\n1,2\n")
    assert look_at(path).columns == ("\u00e9", "e\u0301")


# -- Excel -----------------------------------------------------------------------------------------------


def write_book(path, rows, *more):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for i, other in enumerate(more):
        book.create_sheet(f"other {i}").append(other)
    book.save(path)
    return path


def test_excel_cells_read_like_csv(tmp_path):
    row = [1, 2.5, "02138", True, date(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5), time(3, 4), None, 1e15, -0.0]
    header = [f"c{i}" for i in range(len(row))]
    expected = (
        "1",
        "2.5",
        "02138",
        "True",
        "2020-01-02",
        "2020-01-02 03:04:05",
        "03:04:00",
        None,
        "1000000000000000",
        "0",
    )
    assert rows_of(write_book(tmp_path / "t.xlsx", [header, row], ["second sheet"])) == (header, [expected])


def test_excel_header_of_numbers_and_tables_that_start_anywhere(tmp_path):
    assert rows_of(write_book(tmp_path / "t.xlsx", [[2020, 2021.5], [1, 2]]))[0] == ["2020", "2021.5"]
    moved = [[None, None, None], [None, "a", "b"], [None, 1, 2]]
    assert rows_of(write_book(tmp_path / "t.xlsx", moved)) == (["a", "b"], [("1", "2")])
    assert rows_of(write_book(tmp_path / "t.xlsx", [["a", "b"]])) == (["a", "b"], [])


def test_empty_lines_of_a_workbook_are_nobody(tmp_path):
    lines = [["a", "b"], [1, None], [None, None], [None, 2], [None, None]]
    assert rows_of(write_book(tmp_path / "t.xlsx", lines)) == (["a", "b"], [("1", None), (None, "2")])


def test_excel_without_header_or_cells_is_refused(tmp_path):
    with pytest.raises(UnreadableFile, match="its first sheet is empty"):
        look_at(write_book(tmp_path / "t.xlsx", []))
    with pytest.raises(BadColumns, match="column 3 has no name"):
        look_at(write_book(tmp_path / "t.xlsx", [["a", "b"], [1, 2, 3]]))
    book = openpyxl.load_workbook(write_book(tmp_path / "t.xlsx", [["made in 2026"]], ["a", "b"]))
    book["other 0"].append([1, 2])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(UnreadableFile, match="another sheet has more rows"):
        look_at(tmp_path / "t.xlsx")


def test_typed_columns_of_yes_and_no_are_inspected_and_published(tmp_path):
    rows = range(60)
    typed = {"age": [20 + i % 7 for i in rows], "older": [i % 7 > 3 for i in rows], "paid": [i % 3 == 0 for i in rows]}
    kinds = pa.array([f"k{i % 2}" for i in rows]).dictionary_encode()
    pq.write_table(pa.table(typed | {"level": [i % 40 for i in rows], "kind": kinds}), tmp_path / "t.parquet")
    with kech.read_table(tmp_path / "t.parquet") as table:
        found = {column.column: column.type for column in kech.inspect_table(table).columns}
    assert found == {"age": "number", "older": "text", "paid": "text", "level": "number", "kind": "text"}
    roles = {"quasi_identifiers": ["age"], "sensitive": ["paid", "level", "older", "kind"]}
    with kech.read_table(tmp_path / "t.parquet", **roles) as table:
        release = kech.make_release(table, k=5)
        document = release.write(tmp_path / "safe.parquet", ledger=False)
        assert release.summarize(tmp_path / "safe.parquet", document)["identifying"] == []
    assert pq.read_schema(tmp_path / "safe.parquet").field("paid").type == pa.bool_()


def test_a_title_of_a_workbook_is_told_and_can_be_passed_over(tmp_path):
    names, row = ["Emp ID", "Age", "Sex"], ["E1", "30", "f"]
    write_book(tmp_path / "t.xlsx", [["Staff list", "", ""], ["", "", ""], names, row, row])
    with pytest.raises(UnreadableFile, match="Say so: header_line=3"):
        kech.read_table(tmp_path / "t.xlsx")
    with kech.read_table(tmp_path / "t.xlsx", header_line=3) as table:
        assert (list(table.loaded), table.rows) == (names, 2)
    write_book(tmp_path / "blank.xlsx", [["", "", ""], ["Staff list", "", ""], ["", "", ""], names, row, row])
    with pytest.raises(UnreadableFile, match="Say so: header_line=4"):
        kech.read_table(tmp_path / "blank.xlsx")
    with kech.read_table(tmp_path / "blank.xlsx", header_line=4) as table:
        assert (list(table.loaded), table.rows) == (names, 2)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(BadOption, match="only CSV files and workbooks"):
        kech.read_table(tmp_path / "t.parquet", header_line=3)
    with kech.read_table(tmp_path / "t.parquet", kech.Request().override(header_line=3)) as table:  # a plan for both
        assert list(table.loaded) == ["a"]


def test_any_sheet_of_a_workbook_is_read(tmp_path):
    book = openpyxl.load_workbook(write_book(tmp_path / "t.xlsx", [["made in 2026"]], ["a", "b"]))
    book["other 0"].append([1, 2])
    book.save(tmp_path / "t.xlsx")
    with kech.read_table(tmp_path / "t.xlsx", sheet="other 0") as table:
        assert (table.columns, table.rows) == (("a", "b"), 1)
    with pytest.raises(BadOption, match="Name one of these: 'Sheet', 'other 0'"):
        kech.read_table(tmp_path / "t.xlsx", sheet="missing")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(BadOption, match="only workbooks have sheets"):
        kech.read_table(tmp_path / "t.csv", sheet="other 0")
    with kech.read_table(tmp_path / "t.csv", kech.Request().override(sheet="other 0")) as table:  # a plan for both
        assert table.rows == 1


def test_excel_dates_and_numbers_are_axes(tmp_path):
    rows = [["age", "born"], *([20 + i % 3, date(2000, 1, 1 + i % 3)] for i in range(12))]
    with kech.read_table(write_book(tmp_path / "t.xlsx", rows), quasi_identifiers=["age", "born"]) as table:
        assert [table.kind("age"), table.kind("born")] == ["number", "date"]


def test_excel_needs_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'kech[excel]'")):
        look_at(write_book(tmp_path / "t.xlsx", [["a"], [1]]))


# -- Arrow -----------------------------------------------------------------------------------------------

ARROW = pa.table({"a": [1, 2, None], "b": pa.array(["x", "y", "x"]).dictionary_encode(), "c": [0.5, 1.5, 2.5]})


def write_arrow(path, table, *, stream=False, compression=None, rows=2):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("name", ["t.arrow", "t.feather", "t.ipc", "t.ARROW"])
@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_arrow_files_and_streams_are_read(tmp_path, name, stream, compression):
    path = write_arrow(tmp_path / name, ARROW, stream=stream, compression=compression)
    assert rows_of(path) == (["a", "b", "c"], [(1, "x", 0.5), (2, "y", 1.5), (None, "x", 2.5)])


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
def test_an_arrow_file_without_rows_is_read(tmp_path, stream):
    assert rows_of(write_arrow(tmp_path / "t.arrow", ARROW.slice(0, 0), stream=stream)) == (["a", "b", "c"], [])


DAMAGE = """
import random, sys
from pathlib import Path
import kech

path, rng = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
whole, refused = path.read_bytes(), 0
for _ in range(int(sys.argv[3])):
    content = bytearray(whole)
    for _ in range(rng.choice([1, 4, 30])):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)
    try:
        with kech.read_table(path, quasi_identifiers=["a", "b"]) as table:
            kech.compute_spectrum(table, k=[2])
    except kech.errors.InputError:
        refused += 1
    except kech.errors.UsageError:
        pass  # the damage hit a name
print(refused)
"""


@pytest.mark.parametrize("tries", [20, *further([60])])
@pytest.mark.parametrize("kind", ["arrow", "stream", "parquet", "xlsx"])
def test_a_damaged_file_never_takes_kech_down(tmp_path, kind, tries):
    """In a process of its own: before batches were checked, a damaged Arrow file crashed it."""
    table = pa.table({"a": list(range(300)), "b": [f"v{i % 7}" for i in range(300)]})
    path = tmp_path / f"t.{'arrow' if kind == 'stream' else kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "xlsx":
        write_book(path, [["a", "b"], *zip(*table.to_pydict().values(), strict=True)])
    else:
        write_arrow(path, table, stream=kind == "stream", rows=100)
    words = [sys.executable, "-c", DAMAGE, path, "1", str(tries)]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > tries // 6


@pytest.fixture(scope="session")
def bomb(tmp_path_factory):
    """200 million rows in well under a megabyte: every row is the same."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.parquet"
    group = pa.table({"age": np.zeros(20_000_000, np.int8)})
    with pq.ParquetWriter(path, group.schema, compression="zstd", use_dictionary=True) as writer:
        for _ in range(10):
            writer.write_table(group, row_group_size=20_000_000)
    assert path.stat().st_size < 1_000_000
    return path


def test_a_parquet_bomb_is_refused_by_what_it_says_of_itself(bomb, folder, refuse, monkeypatch):
    monkeypatch.setattr("kech.tables.duckdb.DuckDB.load_parquet", None)  # nothing of it is read
    said = refuse("spectrum", bomb, "--qi", "age", "--memory", "1GB", code=5, says="states 200,000,000 rows")
    assert "at least 2,600 MB, and 1,000 MB are allowed" in said
    (folder / "parts").mkdir()
    (folder / "parts" / "a.parquet").symlink_to(bomb)
    refuse("inspect", folder / "parts", "--memory", "1GiB", code=5, says="and 1,074 MB are allowed")


def test_a_table_larger_than_memory_and_disk_is_refused(tmp_path, monkeypatch):
    rows = pa.table({"a": np.random.default_rng(0).integers(0, 2**62, 1000)})
    pq.write_table(rows, tmp_path / "t.parquet")
    monkeypatch.setattr("kech.tables.table.measure_parquet", lambda *_: (1000, 10**9, 10**9))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(TooLarge, match="1,000 rows"):
        kech.read_table(tmp_path / "t.parquet", memory="320MB")
    monkeypatch.undo()
    kech.read_table(tmp_path / "t.parquet", memory="320MB").close()
