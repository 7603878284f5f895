"""Every bad input ends in the right exit code, with words that say what, where and what to do, and nothing written.

The odd but good ones, which a careless reader would get wrong, are here too: they must work.
"""

import codecs
import csv
import os
import resource
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech.tables.table
from kech.errors import GoalNotMet, InputError
from kech.system import machine

UNUSABLE = "kech cannot use this value."
QI = ("--qi", "age")
GOOD = "age,job\n" + "".join(f"{20 + i % 8},job{i % 3}\n" for i in range(24))
QUOTES = "a quote is opened and never closed"
ENCODING = "Name its encoding: --encoding latin-1"


@pytest.fixture
def people(folder):
    """A table that nothing is wrong with."""
    return write(folder / "people.csv", GOOD)


@pytest.fixture
def target(folder):
    return folder / "released.csv"


@pytest.fixture(autouse=True)
def earlier(target):
    """What an earlier run wrote; a refusal leaves it alone."""
    certificate = target.with_name(target.name + ".certificate.json")
    certificate.write_text("the old certificate")
    return write(target, "the old release\n")


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# -- the file --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        pytest.param("", 3, "it is empty.", id="empty"),
        pytest.param("age,job\n", 4, "The table has columns but no rows.", id="header only"),
        pytest.param("age,job", 4, "The table has columns but no rows.", id="header without line end"),
        pytest.param("age,job\n1,2\n", 4, "k=2 needs 2 rows or more; the table has 1.", id="one row"),
        pytest.param("age,job\n1,2\n3,4,5\n6,7\n", 3, "line 3: it has 3 fields, the header 2.", id="long row"),
        pytest.param("age,job\n1,2\n3\n6,7\n", 3, "line 3: it has 1 field, the header 2. Correct", id="short row"),
        pytest.param("age,job\n" + "1,2\n" * 99_999 + "3\n", 3, "line 100001: it has 1 field", id="short row, late"),
        pytest.param('age,job\n"1\n\n2",3\n\n\n4\n', 3, "line 7: it has 1 field", id="short row after long cells"),
        pytest.param("age,job\r\n1,2\n3\r\n", 3, "line 3: it has 1 field", id="short row, mixed line ends"),
        pytest.param("age,job\r1,2\r3\r", 3, "line 3: it has 1 field", id="short row, old Mac line ends"),
        pytest.param('age,job\n1,2\n"3,4\n5,6\n', 3, f"line 3: {QUOTES}", id="unclosed quote"),
        pytest.param('age,job\n1,2\n3,"4', 3, f"line 3: {QUOTES}", id="unclosed quote at the end"),
        pytest.param('age,job\n1,2\n"3"x,4\n', 3, "text follows a closing quote", id="text after a quote"),
        pytest.param('age,"job\n1,2\n', 3, f"line 1: {QUOTES}", id="unclosed quote in the header"),
        pytest.param(b"age,job\n1,2\n3,\0004\n", 3, "line 3: it contains a NUL byte.", id="NUL byte"),
        pytest.param(b"age,job\n1,2\n\xe9,4\n", 3, f"line 3: it is not UTF-8. {ENCODING}", id="Latin-1"),
        pytest.param(b"age,job\n1,2\n3,\xe2\x82", 3, "line 3: it is not UTF-8.", id="cut inside a character"),
        pytest.param(GOOD.encode("utf-16"), 3, "it looks like UTF-16. Say so: --encoding utf-16.", id="UTF-16"),
        pytest.param(GOOD.encode("utf-16-le"), 3, "--encoding utf-16.", id="UTF-16 without a mark"),
        pytest.param("age,age\n1,2\n", 3, "the names of columns 1, 2 are not distinct", id="two names alike"),
        pytest.param("age,AGE\n1,2\n", 3, "the names of columns 1, 2 are not distinct", id="two names alike but case"),
        pytest.param("age,\n1,2\n", 3, "column 2 has no name.", id="column without a name"),
        pytest.param("\n\nage,job\n1,2\n", 3, "column 1 has no name. Add a header line", id="blank start"),
        pytest.param("age,job\n1," + "x" * (33 << 20), 3, "line 2: it is longer than 32 MB.", id="endless line"),
    ],
)  # fmt: skip
def test_a_broken_csv_file_is_refused_by_line(refuse, folder, target, content, code, says):
    source = write(folder / "source.csv", content)
    message = refuse("release", source, "-o", target, "--k", 2, *QI, code=code, says=says)
    if code == 3:
        assert repr(str(source)) in message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.parquet", b"PAR1 this is no Parquet PAR1"),
        ("t.arrow", b"ARROW1 this is no Arrow ARROW1"),
        ("t.feather", GOOD.encode()),
        ("t.xlsx", b"PK\3\4 this is no workbook"),
        ("t.xls", GOOD.encode()),
        ("t.ods", b"\0"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(refuse, folder, target, name, content):
    source = write(folder / name, content)
    refuse(
        "release", source, "-o", target, "--k", 2, *QI, code=3, says="it is damaged, or its ending names another format"
    )


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.xlsx"])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.99])
def test_a_truncated_file_is_refused(refuse, folder, target, name, kept):
    source = folder / name
    write_binary(source, pa.table({"age": list(range(999)), "job": ["x"] * 999}))
    write(source, source.read_bytes()[: int(source.stat().st_size * kept)])
    refuse("release", source, "-o", target, "--k", 2, *QI, code=3, says="it is damaged")


def write_binary(path, table):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    else:
        import openpyxl

        book = openpyxl.Workbook()
        for row in [table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)]:
            book.active.append(list(row))
        book.save(path)


def test_a_file_without_a_header_is_refused_and_shows_none_of_its_first_row(refuse, folder, target):
    rows = [f"{20 + i % 8},f,job{i % 3},{i}" for i in range(24)]
    source, says = write(folder / "t.csv", "\n".join(rows)), "looks like a row: 3 of its 4 cells occur again below them"
    message = refuse("release", source, "-o", target, "--qi", "20", code=3, says=says)
    assert "Add a header line" in message
    assert "job0" not in message


def test_numbers_that_count_the_columns_are_names(release, folder):
    rows = [f"{i % 3},{i % 2},{i % 4}" for i in range(24)]
    assert list(release(write(folder / "t.csv", "\n".join(["0,1,2", *rows])), "--qi", "1", "2")) == ["1", "2"]


def test_a_missing_file_a_folder_and_an_unknown_ending_are_refused(refuse, folder, target):
    rest = ("-o", target, "--k", 2, *QI)
    refuse("release", folder / "none.csv", *rest, code=3, says="There is no file")
    refuse("release", folder, *rest, code=3, says="it is a folder without Parquet files. Name a file.")
    refuse(
        "release",
        write(folder / "t.dta", GOOD),
        *rest,
        code=3,
        says="its ending is unknown. Use a file that ends in .csv",
    )
    refuse("release", folder / ("long" * 99 + ".csv"), *rest, code=3, says="file name too long.")


def test_an_unreadable_file_is_refused(refuse, people, target, monkeypatch):
    def deny(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("kech.tables.source.find_format", deny)  # the tests may run as root, who may read anything
    refuse("release", people, "-o", target, "--k", 2, *QI, code=3, says="permission denied.")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-8-sig"])
def test_a_named_encoding_works(release, folder, encoding):
    said = "utf-16" if encoding.startswith("utf-16") else encoding
    source = folder / "t.csv"
    source.write_text("größe,ort\n" + "é,Köln\n" * 3 + "ü,Ö\n" * 3, encoding)
    found = release(source, "--qi", "größe", "--sensitive", "ort", "--encoding", said)
    assert Counter(found["größe"]) == {"é": 3, "ü": 3}
    assert Counter(found["ort"]) == {"Köln": 3, "Ö": 3}


@pytest.mark.parametrize(
    ("content", "encoding", "says"),
    [
        ("age,job\n1,2\n".encode("utf-16-le"), "utf-8", "NUL byte"),
        (GOOD.encode(), "utf-16", "it is not UTF-16."),
        (GOOD.encode("utf-16") + b"\0", "utf-16", "it is not utf-16."),
        (b"age,job\n\x81,2\n", "cp1252", f"it is not cp1252. {ENCODING}"),
        ("age,job\n1,2\n3,\0\n".encode("utf-16"), "utf-16", "line 3: it contains a NUL character."),
    ],
)
def test_a_wrong_encoding_is_refused(refuse, folder, target, content, encoding, says):
    source = write(folder / "t.csv", content)
    refuse("release", source, "-o", target, "--k", 2, *QI, "--encoding", encoding, code=3, says=says)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("age,job\r\n30,a\n30,b\r\n40,c\n40,d", id="mixed line ends"),
        pytest.param("age,job\r30,a\r30,b\r40,c\r40,d\r", id="old Mac line ends"),
        pytest.param("age,job\n30,a\r30,b\r\n40,c\n\r40,d\n", id="all line ends"),
        pytest.param("age,job\n\n30,a\n30,b\n\n\n40,c\n40,d\n\n\n", id="blank lines"),
        pytest.param(codecs.BOM_UTF8 + b"age,job\n30,a\n30,b\n40,c\n40,d\n", id="byte order mark"),
        pytest.param(codecs.BOM_UTF8 + b'"age",job\n30,a\n30,b\n40,c\n40,d\n', id="byte order mark before a quote"),
        pytest.param("age;job\n30;a\n30;b\n40;c\n40;d\n", id="semicolons"),
        pytest.param("age\tjob\n30\ta\n30\tb\n40\tc\n40\td\n", id="tabs"),
        pytest.param('"age","job"\n"30","a"\n"30","b"\n"40","c"\n"40","d"\n', id="all quoted"),
    ],
)
def test_an_odd_but_good_csv_file_is_read_whole(release, folder, content):
    found = release(write(folder / "t.csv", content), *QI, "--axis", "age=set", "--sensitive", "job")
    assert sorted(found["age"]) == ["30", "30", "40", "40"]
    assert sorted(found["job"]) == ["a", "b", "c", "d"]


def test_line_ends_inside_cells_and_header_survive(release, folder):
    cells = ["one\ntwo", "one\r\ntwo", "one\rtwo"]
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["ag\ne", "job"], *([1, cell] for cell in cells)])  # rows end in CR LF
    found = release(folder / "t.csv", "--qi", '"ag\ne"', "--sensitive", "job", target="released.parquet")
    assert found["ag\ne"] == ["1"] * 3
    assert sorted(found["job"]) == sorted(cells)


def test_a_single_column_may_hold_blank_lines(release, folder):
    found = release(write(folder / "t.csv", "age\n30\n\n30\n\n40\n40\n"), *QI, "--axis", "age=set")
    assert Counter(found["age"]) == {"30": 2, "": 2, "40": 2}


def test_a_long_line_is_read(release, folder):
    source = write(folder / "t.csv", "age,job\n1," + "x" * (1 << 22) + "\n1,b\n")
    found = release(source, *QI, "--sensitive", "job", target="released.parquet")
    assert sorted(map(len, found["job"])) == [1, 1 << 22]


NAMES = [
    "s[12].csv",
    "a b.csv",
    "it's.csv",
    'q"uote.csv',
    "*.csv",
    "?.csv",
    "{1,2}.csv",
    "é漢.csv",
    "a;b.csv",
    "-x.csv",
]


@pytest.mark.parametrize(
    "name", [*NAMES, "back\\slash.csv", "%41.csv", "new\nline.csv", "~.csv", "x'); DROP TABLE source;--.csv"]
)
def test_exactly_the_named_file_is_read_and_written(release, folder, name):
    others = ("s1.csv", "s2.csv", "1.csv", "2.csv", "A.csv", "x.csv")
    for other in others:
        write(folder / other, "age,job\nwrong,1\nwrong,1\n")
    found = release(write(folder / name, "age,job\nright,1\nright,1\n"), *QI, target="out" + name)
    assert found["age"] == ["right", "right"]
    assert {(folder / other).read_text() for other in others} == {"age,job\nwrong,1\nwrong,1\n"}


# -- columns and values ----------------------------------------------------------------------------------


def test_an_unknown_column_is_refused_with_a_close_name(refuse, people, target):
    rest = ("-o", target, "--k", 2)
    refuse("release", people, *rest, "--qi", "agee", code=2, says="There is no column 'agee'. Did you mean 'age'?")
    refuse("release", people, *rest, "--qi", "Age", code=2, says="Did you mean 'age'?")
    refuse("release", people, *rest, "--qi", "zzz", code=2, says="`kech inspect TABLE` lists the columns.")
    refuse("release", people, *rest, *QI, "--axis", "jobb=set", code=2, says="Did you mean 'job'?")
    refuse("spectrum", people, "--qi", "agee", code=2, says="Did you mean 'age'?")
    assert "Did you mean" not in refuse("spectrum", people, "--qi", "job_age", code=2, says="no column 'job_age'")


@pytest.mark.parametrize("option", ["delimiter", "encoding", "decimal", "dates", "grid", "labels", "cut", "effort"])
def test_an_option_that_says_nothing_is_not_passed_over(refuse, people, target, option):
    refuse("release", people, "-o", target, "--k", 2, *QI, f"--{option}=", code=2, says=f"--{option}: ")


def test_no_command_passes_over_an_option_that_says_nothing(refuse, people, target):
    refuse("release", people, "-o", target, *QI, "--cut", "regime", "--k", 2, "--reading=", code=2, says="--reading: ")
    refuse("spectrum", people, *QI, "--cut=", code=2, says="--cut: kech cannot use this value. Choose among")
    refuse("lattice", people, *QI, "--search=", code=2, says="--search: ")
    refuse("barcode", people, *QI, "--reading=", code=2, says="--reading: ")
    refuse("barcode", people, *QI, "--grid=", code=2, says="--grid: ")
    refuse("barcode", people, *QI, "--radii=", code=2, says="--radii: ")
    refuse("release", people, "-o", target, "--k", 2, "--qi=", code=2, says="--qi")
    refuse("preview", people, "--on", "age", "age", *QI, "--radius", 0.1, "--grid=", code=2, says="--grid: ")
    refuse(
        "preview",
        people,
        "--on",
        "age",
        "age",
        *QI,
        "--k",
        2,
        code=2,
        says="--on: a plane needs two columns. Name two different quasi-identifiers",
    )
    refuse("verify", people, *QI, "--k", 0, code=2, says="a number of rows or people, 1 or more")


@pytest.mark.parametrize("role", ["sensitive", "identifiers", "keep"])
def test_a_column_in_two_roles_is_refused(refuse, people, target, role):
    says = f"Column 'age' has two roles: quasi-identifiers and {role}. Give it one role."
    refuse("release", people, "-o", target, "--k", 2, *QI, f"--{role}", "age", code=2, says=says)


@pytest.mark.parametrize("value", ["NaN", "nan", "inf", "-inf", "Infinity", "1e999"])
def test_what_is_not_finite_is_refused_in_csv_and_can_be_declared_missing(refuse, release, folder, target, value):
    source = write(folder / "t.csv", "age\n" + "30\n" * 20 + f"{value}\n" * 2)
    says = "Column 'age', row 21: NaN or an infinity cannot be generalized. Correct it; or, if it means"
    refuse("release", source, "-o", target, "--k", 2, *QI, code=3, says=says)
    assert Counter(release(source, *QI, f"--null-values={value}")["age"]) == {"30": 20, "": 2}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_refused_in_parquet_and_can_be_declared_missing(refuse, release, folder, target, value):
    pq.write_table(pa.table({"age": [30.0] * 20 + [value] * 2}), folder / "t.parquet")
    refuse("release", folder / "t.parquet", "-o", target, "--k", 2, *QI, code=3, says="Column 'age', row 21: NaN or")
    found = release(folder / "t.parquet", *QI, "--null-values=NaN,inf,-inf")
    assert Counter(found["age"]) == {"30": 20, "": 2}


@pytest.mark.parametrize(
    ("usual", "odd", "says"),
    [("12", "CANARY", "nearly all values are numbers"), ("2020-02-28", "2020-02-31", "nearly all values are dates")],
)
def test_a_late_change_of_type_is_refused_with_its_row(refuse, folder, target, usual, odd, says):
    rows = [usual] * 30_100
    rows[29_999] = odd
    source = write(folder / "t.csv", "age\n" + "\n".join(rows) + "\n")
    message = refuse("release", source, "-o", target, "--k", 2, *QI, code=3, says=f"Column 'age', row 30000: {says}")
    assert "--null-values" in message
    assert "--axis age=set" in message
    assert odd not in message


@pytest.mark.parametrize(
    ("kind", "word"), [("number", "this is not a number"), ("date", "this is no date such as 2020-12-31")]
)
def test_a_declared_kind_that_does_not_hold_is_refused_with_its_row(refuse, folder, target, kind, word):
    good = "12" if kind == "number" else "2020-01-01"
    source = write(folder / "t.csv", f"age\n{good}\n\n{good}\nCANARY\nCANARY\n")
    says = f"Column 'age', row 4: {word}"
    message = refuse("release", source, "-o", target, "--k", 2, *QI, "--axis", f"age={kind}", code=3, says=says)
    assert "CANARY" not in message


def test_an_all_equal_column_works(release, folder):
    assert release(write(folder / "t.csv", "age,job\n" + "7,x\n" * 9), "--qi", "age", "job")["age"] == ["7"] * 9


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_empty_column_works(release, folder, kind):
    if kind == "csv":
        write(folder / "t.csv", "age,job\n" + ",x\n" * 9)
    else:
        pq.write_table(pa.table({"age": pa.nulls(9), "job": ["x"] * 9}), folder / "t.parquet")
    assert release(folder / f"t.{kind}", "--qi", "age", "job")["age"] == [""] * 9


def test_ten_thousand_categories_work(release, folder):
    source = write(folder / "t.csv", "job\n" + "".join(f"job {i % 10_000:x}\n" for i in range(30_000)))
    started = time.process_time()
    found = release(source, "--qi", "job", k=5)
    assert time.process_time() - started < 20
    assert min(Counter(found["job"]).values()) >= 5


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_leading_zeros_stay(release, folder, kind):
    source = write(folder / "t.csv", "zip,code\n" + "02138,007\n" * 3 + "02139,008\n" * 3)
    found = release(source, "--qi", "zip", "--sensitive", "code", target=f"released.{kind}")
    assert Counter(found["zip"]) == {"02138": 3, "02139": 3}
    assert Counter(found["code"]) == {"007": 3, "008": 3}


ODD_NAMES = [
    'x"; DROP TABLE source; --', "x'; DROP TABLE source; --", '"); COPY source TO \'stolen.csv\'; --',
    "x) FROM source; --", 'a"b', "a;b", "a\nb", "a\rb", "a\r\nb", "a\tb", "a,b", "a b", " lead", "é漢", "\u0301",
    "c0", "c1", "rowid", "value", "class", "p", "first", "select", "*", "%s", "{x}", "$1", "?", "\\", "/*", "--",
    "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", pytest.param("parquet", marks=pytest.mark.long)])
@pytest.mark.parametrize("source", ["t.csv", pytest.param("t.parquet", marks=pytest.mark.long)])
def test_any_column_name_comes_out_as_it_went_in(release, folder, source, kind):
    """Every name twice: as a quasi-identifier, and with an s in front as a sensitive column."""
    sensitive = ["s" + name for name in ODD_NAMES]
    rows = [[f"{cell} {i}" for i in range(2 * len(ODD_NAMES))] for cell in ("one", "one", "two", "two")]
    if source == "t.csv":
        with (folder / source).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([ODD_NAMES + sensitive, *rows])
    else:
        pq.write_table(pa.table(list(map(list, zip(*rows, strict=True))), ODD_NAMES + sensitive), folder / source)
    roles = ("--qi", *map(quoted, ODD_NAMES), "--sensitive", *map(quoted, sensitive))
    found = release(folder / source, *roles, target=f"released.{kind}")
    assert list(found) == ODD_NAMES + sensitive
    for i, cells in enumerate(found.values()):
        assert sorted(cells) == [f"one {i}", f"one {i}", f"two {i}", f"two {i}"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


UNUSUAL = {
    "list": pa.array([[1], [2]] * 3),
    "struct": pa.array([{"x": 1}, {"x": 2}] * 3),
    "map": pa.array([[("a", 1)], [("b", 2)]] * 3, pa.map_(pa.string(), pa.int64())),
    "blob": pa.array([b"a", b"\xff"] * 3),
    "time": pa.array([1, 2] * 3, pa.time64("us")),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_a_nested_column_is_refused_as_quasi_identifier_and_published_as_text(refuse, release, folder, target, name):
    pq.write_table(pa.table({"odd": UNUSUAL[name], "age": [1] * 6}), folder / "t.parquet")
    says = "Column 'odd' has lists, blobs or times of day as cells. Convert it to text first."
    refuse("release", folder / "t.parquet", "-o", target, "--k", 2, "--qi", "odd", code=3, says=says)
    for place in ("released.csv", "released.parquet"):
        found = release(folder / "t.parquet", *QI, "--sensitive", "odd", target=place)
        assert sorted(Counter(found["odd"]).values()) == [3, 3]


# -- hierarchies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hierarchy", "says"),
    [
        ("job.csv", "cook,food,*\nbaker,food,*\n", "it has no leaf for 1 distinct value of the column."),
        ("job.csv", "cook,food,cook\nbaker,food,cook\nCANARY,food,cook\n", "a cycle"),
        ("job.csv", "cook,food,*\ncook,work,*\n", "two parents"),
        ("job.csv", "cook,food,*\nbaker,*\n", "line 2"),
        ("job.csv", "", "it is empty."),
        ("job.csv", 'cook,"food\n', "it is not CSV"),
        ("job.csv", b"cook,\xff\n", "line 1"),
        ("job.json", '{"*": ', "it cannot be parsed"),
        ("job.toml", "= 3", "it cannot be parsed"),
    ],
)
def test_a_bad_hierarchy_is_refused_without_a_cell(refuse, folder, target, name, hierarchy, says):
    source = write(folder / "t.csv", "job\ncook\ncook\nbaker\nbaker\nCANARY\n")
    (folder / "trees").mkdir()
    write(folder / "trees" / name, hierarchy)
    command = ("release", source, "-o", target, "--k", 2, "--qi", "job", "--hierarchies", folder / "trees")
    message = refuse(*command, code=3, says=says)
    assert "Hierarchy" in message
    assert "CANARY" not in message


def test_an_order_that_lacks_a_value_is_refused_without_a_cell(refuse, folder, target):
    source = write(folder / "t.csv", "size\nS\nM\nL\nCANARY\n")
    command = ("release", source, "-o", target, "--k", 2, "--qi", "size", "--axis", "size=S<M<L")
    assert "CANARY" not in refuse(*command, code=3, says="1 values of the column are missing from it. Add")


def test_a_missing_folder_of_hierarchies_is_refused(refuse, people, folder, target):
    command = ("release", people, "-o", target, "--k", 2, *QI, "--hierarchies", folder / "none")
    refuse(*command, code=3, says="none'")


# -- options and plans -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((*QI, "--k", "0"), 2, "--k: kech cannot use this value. Write a number of rows or people, 1 or more."),
        ((*QI, "--k", "-3"), 2, "--k: kech cannot use this value. Write a number of rows or people, 1 or more."),
        ((*QI, "--k", "25"), 4, "k=25 needs 25 rows or more; the table has 24. Choose a smaller k."),
        ((*QI, "--k", "9" * 30), 4, "the table has 24."),
        ((*QI, "--k", "five"), 2, 'write a whole number. Run kech release --help.'),
        (QI, 2, "--k: it is missing. Say among how many rows every row must hide: --k 5."),
        (("--k", "2"), 2, "You named no quasi-identifier."),
        ((*QI, "--k", "2", "--nope"), 2, "Unknown option: --nope"),
        ((*QI, "--k", "2", "--cut", "nope"), 2, "--cut: kech cannot use this value. Choose among local"),
        ((*QI, "--k", "2", "--grid", "wide"), 2, f"--grid: {UNUSABLE} Write round, exact, or a step greater than 0"),
        ((*QI, "--k", "2", "--grid", "0"), 2, f"--grid: {UNUSABLE} Write round, exact, or a step greater than 0"),
        ((*QI, "--k", "2", "--grid", "nan"), 2, f"--grid: {UNUSABLE} Write round, exact, or a step greater than 0"),
        ((*QI, "--k", "2", "--grid=-5"), 2, f"--grid: {UNUSABLE} Write round, exact, or a step greater than 0"),
        ((*QI, "--k", "2", "--axis", "age"), 2, f"--axis: {UNUSABLE} Write COLUMN=KIND, for example zip=hierarchy."),
        ((*QI, "--k", "2", "--axis", "age=round"), 2, f"--axis: {UNUSABLE} Choose the kind of column 'age' among"),
        ((*QI, "--k", "2", "--axis", "age=ordered"), 2, "name the order of an ordered axis, from low to high: age="),
        ((*QI, "--k", "2", "--memory", "much"), 2, f"--memory: {UNUSABLE} Write a size such as 512MB or 2GB."),
        ((*QI, "--k", "2", "--memory", "5"), 2, f"--memory: {UNUSABLE} Write a size such as 512MB or 2GB."),
        ((*QI, "--k", "2", "--memory", "99999999TB"), 2, f"--memory: {UNUSABLE} Write a size such as 512MB or 2GB."),
        ((*QI, "--k", "2", "--memory", "1MB"), 5, "needs about 320 MB of memory, and 1 MB are allowed."),
        ((*QI, "--k", "2", "--threads", "0"), 2, f"--threads: {UNUSABLE} Write a whole number from 1 to 256."),
        ((*QI, "--k", "2", "--threads", "100000"), 2, f"--threads: {UNUSABLE} Write a whole number from 1 to 256."),
        ((*QI, "--k", "2", "--threads", "all"), 2, 'write a whole number.'),
        ((*QI, "--k", "2", "--encoding", "klingon"), 2, f"--encoding: {UNUSABLE} Name an encoding of text"),
        ((*QI, "--k", "2", "--encoding", "base64"), 2, f"--encoding: {UNUSABLE} Name an encoding of text"),
        ((*QI, "--k", "2", "--delimiter", "ab"), 2, f"--delimiter: {UNUSABLE} Give one ASCII character"),
        ((*QI, "--k", "2", "--delimiter", '"'), 2, "--delimiter: kech cannot use this value. Give one ASCII character"),
        ((*QI, "--k", "2", "--delimiter", "\n"), 2, f"--delimiter: {UNUSABLE} Give one ASCII character"),
        ((*QI, "--k", "2", "--delimiter", "é"), 2, "--delimiter: kech cannot use this value. Give one ASCII character"),
    ],
)  # fmt: skip
def test_a_bad_option_is_refused(refuse, people, target, words, code, says):
    refuse("release", people, "-o", target, *words, code=code, says=says)


@pytest.mark.parametrize("k", ["x", "5-2", "0", "2-", "1-99999999999"])
def test_a_bad_range_of_k_is_refused(refuse, people, k):
    refuse("spectrum", people, *QI, "--k", k, code=2, says="--k: ")


def test_a_delimiter_for_a_workbook_is_refused(refuse, folder, target):
    pq.write_table(pa.table({"age": [1, 1]}), folder / "t.parquet")
    command = ("release", folder / "t.parquet", "-o", target, "--k", 2, *QI, "--delimiter", ";")
    refuse(*command, code=2, says="--delimiter, --encoding: only CSV files have them.")


@pytest.mark.parametrize(
    ("plan", "code", "says"),
    [
        (None, 3, "There is no file"),
        ("[goal", 2, "Plan "),
        (b"\xff", 2, "Plan "),
        ("[goal]\nk = 3\nkk = 4", 2, "kk: [goal] has no such field. Did you mean 'k'?"),
        ("[nonsense]\nk = 3", 2, "nonsense: a plan has no such section."),
        (
            '[goal]\nk = "three"',
            2,
            "k in [goal]: kech cannot use this value. Write a number of rows or people, 1 or more.",
        ),
        ("[goal]\nk = 0", 2, "k in [goal]: kech cannot use this value. Write a number of rows or people, 1 or more."),
        ("[goal]\nk = 99", 4, "k=99 needs 99 rows or more"),
        ('[goal]\nk = 2\n[cut]\ncut = "nope"', 2, "cut in [cut]: kech cannot use this value. Choose among local"),
        (
            '[goal]\nk = 2\n[labels]\ngrid = "nope"',
            2,
            "grid in [labels]: kech cannot use this value. Write round, exact",
        ),
        (
            "[columns]\nquasi_identifiers = [5]\n[goal]\nk = 2",
            2,
            "quasi_identifiers in [columns]: kech cannot use this value. Write a list of names",
        ),
        ('[axes.agee]\nkind = "number"\n[goal]\nk = 2', 2, "Did you mean 'age'?"),
        ('[axes.age]\nkind = "round"\n[goal]\nk = 2', 2, "Choose among number, date"),
        ('[input]\nencoding = "klingon"\n[goal]\nk = 2', 2, "encoding in [input]: kech cannot use this value. Name"),
        ('[columns]\nhierarchies = "none"\n[goal]\nk = 2', 3, "none'"),
    ],
)
def test_a_bad_plan_is_refused(refuse, people, folder, target, plan, code, says):
    if plan is not None:
        write(folder / "kech.toml", plan)
    refuse("release", people, "-o", target, *QI, "--plan", folder / "kech.toml", code=code, says=says)


# -- the target ------------------------------------------------------------------------------------------


def test_a_target_that_is_the_source_is_refused(refuse, people, folder):
    (folder / "symlink.csv").symlink_to(people)
    os.link(people, folder / "hardlink.csv")
    (folder / "around").symlink_to(folder)
    says = "it is the source table itself. Choose another name."
    for target in (people, folder / "symlink.csv", folder / "hardlink.csv", folder / "around" / "people.csv"):
        refuse("release", people, "-o", target, "--k", 2, *QI, code=2, says=says)
        refuse("release", target, "-o", people, "--k", 2, *QI, code=2, says=says)


def test_a_target_that_cannot_be_is_refused(refuse, people, folder):
    command = ("release", people, "--k", 2, *QI, "-o")
    refuse(*command, folder, code=2, says="it is a folder. Name a file.")
    refuse(*command, folder / "none" / "t.csv", code=2, says="its folder does not exist. Create it first.")
    refuse(*command, people / "t.csv", code=2, says="its folder does not exist. Create it first.")
    refuse(*command, folder / "t.xlsx", code=2, says="its name must end in .csv or .parquet or .pq.")
    refuse(*command, "/proc/t.csv", code=5, says="Cannot write '/proc/t.csv': no such file or directory.")


def test_a_folder_that_may_not_be_written_to_is_refused(refuse, people, target, monkeypatch):
    opened = machine.open_handle

    def deny(path, flags, *rest, **named):
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, *rest, **named)

    monkeypatch.setattr(machine, "open_handle", deny)  # the tests may run as root, who may write anywhere
    refuse(
        "release", people, "-o", target, "--k", 2, *QI, code=5, says=f"Cannot write {str(target)!r}: permission denied."
    )


@contextmanager
def largest_file(size):
    """No file may grow beyond this, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["released.csv", "released.parquet"])
def test_a_full_disk_is_refused(refuse, folder, name):
    source = write(folder / "big.csv", "age,job\n" + "".join(f"30,job number {i}\n" for i in range(50_000)))
    command = ("release", source, "-o", folder / name, "--k", 2, *QI, "--sensitive", "job")
    with largest_file(100_000):
        refuse(*command, code=5, says="file too large.")


def test_memory_that_is_too_small_while_publishing_is_refused(refuse, folder, target, monkeypatch):
    pq.write_table(pa.table({"age": [1] * 60_000, "job": [f"{i:060}" for i in range(60_000)]}), folder / "t.parquet")
    monkeypatch.setattr("kech.tables.duckdb.DuckDB._lock", without_spill)
    monkeypatch.setattr("kech.tables.duckdb.DUCKDB_SHARE", 0.04)
    command = ("release", folder / "t.parquet", "-o", target, "--k", 2, *QI, "--sensitive", "job", "--memory", "320MB")
    refuse(*command, code=5, says="Out of memory while")


def without_spill(engine, *_):
    """An engine that may not go to disk, as where the temporary folder is full."""
    engine.connection.execute("SET temp_directory = ''")


# -- verify ----------------------------------------------------------------------------------------------


def test_verify_refuses_what_it_cannot_check(refuse, people, folder):
    refuse("verify", folder / "none.csv", code=3, says="There is no file")
    refuse("verify", people, code=3, says="there is no such file.")
    refuse("verify", people, "--k", 2, code=3, says="use the columns that you name: --qi COLUMN ...")
    refuse("verify", people, *QI, code=2, says="--k: it is missing. Name the k to check")
    refuse("verify", people, "--qi", "agee", "--k", 2, code=2, says="Did you mean 'age'?")
    refuse("verify", people, *QI, "--k", 4, code=4, says="k: asked 4, found 3.")


# -- what a careless refusal would do --------------------------------------------------------------------


def fail_with(failure):
    def plant(patch, target):
        patch.setattr("kech.tables.table.open_source", lambda *_, **__: (_ for _ in ()).throw(failure))

    return plant


def do_before(act):
    def plant(patch, target):
        opened = kech.tables.table.open_source
        patch.setattr(
            "kech.tables.table.open_source", lambda *given, **named: (act(target), opened(*given, **named))[1]
        )

    return plant


PLANTED = {
    "another exit code": fail_with(GoalNotMet("line 3: it has 3 fields")),
    "other words": fail_with(InputError("It cannot be read.")),
    "a traceback": fail_with(RuntimeError("line 3: it has 3 fields")),
    "nothing said": fail_with(SystemExit(3)),
    "the old file is gone": do_before(lambda target: target.unlink()),
    "something is written": do_before(lambda target: target.with_name("more.csv").write_text("torn")),
    "a temporary file stays": do_before(lambda _: Path(tempfile.gettempdir(), "left").touch()),
    "a line on the screen": do_before(lambda _: print("reading")),
}


@pytest.mark.parametrize("fault", [None, *PLANTED])
def test_a_planted_fault_is_not_taken_for_a_refused_file(refuse, folder, target, temporary, monkeypatch, fault):
    source = write(folder / "t.csv", "age,job\n1,2\n3,4,5\n6,7\n")
    if fault is not None:
        PLANTED[fault](monkeypatch, target)
    with nullcontext() if fault is None else pytest.raises(AssertionError):
        refuse("release", source, "-o", target, *QI, "--k", 2, code=3, says="line 3: it has 3 fields")
    (temporary / "left").unlink(missing_ok=True)
