"""Bad input: the right exit code, a message that says what, where and what to do, and nothing written."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kech.cli import main

GOOD = "age,zip,job,note\n" + "".join(f"{20 + i % 7},0213{i % 3},job{i % 2},n{i}\n" for i in range(30))


def run(words, capsys):
    """Exit code and what was said on standard error."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
        raise SystemExit(0)
    return stop.value.code, capsys.readouterr().err


def release(path, capsys, *more, qi="age", k=2, name="out.csv"):
    """Release a file; the code, the message, and the names now in its folder."""
    target = path.parent / name
    code, said = run(["release", path, "-o", target, "--qi", qi, "--k", k, *more], capsys)
    return code, said, sorted(entry.name for entry in path.parent.iterdir())


def write(folder, content, name="table.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


BAD_FILES = {
    "empty": ("", 3, r"table\.csv.*empty"),
    "header only": ("age,zip\n", 4, r"needs 2 rows.*has 0"),
    "one row": ("age,zip\n1,2\n", 4, r"needs 2 rows.*has 1"),
    "long row": ("age,zip\n1,2\n3,4,5\n", 3, r"line 3.*3 fields.*header 2.*--delimiter"),
    "short row": ("age,zip\n1,2\n3\n5,6\n", 3, r"line 3"),
    "unclosed quote": ('age,zip\n1,2\n"3,4\n5,6\n', 3, r"line 3.*quote"),
    "unclosed quote at the end": ('age,zip\n1,2\n3,"4\n', 3, r"line 3.*quote"),
    "NUL byte": (b"age,zip\n1,2\n3\0,4\n", 3, r"line 3.*NUL"),
    "UTF-16": ("age,zip\n1,2\n3,4\n".encode("utf-16"), 3, r"--encoding utf-16"),
    "Latin-1": ("age,zip\né,2\ne,4\n".encode("latin-1"), 3, r"line 2.*--encoding latin-1"),
    "duplicate names": ("age,age\n1,2\n3,4\n", 3, r"columns 1, 2 are not distinct"),
    "names equal but for case": ("age,Age\n1,2\n3,4\n", 3, r"columns 1, 2 are not distinct"),
    "a name is missing": ("age,\n1,2\n3,4\n", 3, r"column 2 has no name"),
    "NaN": ("age,zip\n1,2\nnan,4\n3,1\n" + "5,6\n" * 30, 3, r"'age', row 2.*--null-values"),
    "infinity": ("age,zip\n1,2\n3,1\n-inf,4\n" + "5,6\n" * 30, 3, r"'age', row 3.*--null-values"),
    "a type changes late": ("age,zip\n" + "5,6\n" * 29_999 + "secret,6\n", 3, r"'age', row 30000.*categorical"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused(case, tmp_path, capsys):
    content, code, pattern = BAD_FILES[case]
    found, said, left = release(write(tmp_path, content), capsys)
    assert found == code
    assert re.search(pattern, said, re.S), said
    assert "secret" not in said
    assert left == ["table.csv"]


WRONG_WORDS = {
    "k below 1": (["--qi", "age", "--k", "0"], 2, r"--k.*1 or more"),
    "k above the rows": (["--qi", "age", "--k", "31"], 4, r"needs 31 rows.*has 30"),
    "k is a word": (["--qi", "age", "--k", "five"], 2, r"k"),
    "no k": (["--qi", "age"], 2, r"--k 5"),
    "no quasi-identifier": (["--k", "2"], 2, r"--qi"),
    "unknown column": (["--qi", "agee", "--k", "2"], 2, r"'agee'.*Did you mean 'age'"),
    "two roles": (["--qi", "age", "--sensitive", "age", "--k", "2"], 2, r"'age'.*quasi-identifiers.*sensitive"),
    "bad grid": (["--qi", "age", "--k", "2", "--grid", "-1"], 2, r"--grid"),
    "bad axis": (["--qi", "age", "--k", "2", "--axis", "age=purple"], 2, r"--axis"),
    "axis without a kind": (["--qi", "age", "--k", "2", "--axis", "age"], 2, r"COLUMN=KIND"),
    "bad memory": (["--qi", "age", "--k", "2", "--memory", "much"], 2, r"--memory"),
    "bad threads": (["--qi", "age", "--k", "2", "--threads", "0"], 2, r"--threads"),
    "bad encoding": (["--qi", "age", "--k", "2", "--encoding", "klingon"], 2, r"--encoding"),
    "bad delimiter": (["--qi", "age", "--k", "2", "--delimiter", "ab"], 2, r"--delimiter"),
    "bad cut": (["--qi", "age", "--k", "2", "--cut", "thread"], 2, r"--cut"),
    "unknown option": (["--qi", "age", "--k", "2", "--kk", "3"], 2, r"--kk"),
    "missing plan": (["--qi", "age", "--k", "2", "--plan", "no.toml"], 3, r"no\.toml"),
    "missing hierarchies": (["--qi", "age", "--k", "2", "--hierarchies", "nowhere"], 3, r"nowhere"),
}


@pytest.mark.parametrize("case", WRONG_WORDS)
def test_wrong_words_are_refused(case, tmp_path, capsys):
    words, code, pattern = WRONG_WORDS[case]
    path = write(tmp_path, GOOD)
    found, said = run(["release", path, "-o", tmp_path / "out.csv", *words], capsys)
    assert found == code
    assert re.search(pattern, said, re.S), said
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize(
    ("plan", "code"),
    [("[release]\nkk = 3", 2), ("[release\n", 2), ("[release]\nk = 'x'", 2), ("[axes.age]\nkind = 'purple'", 2)],
)
def test_a_bad_plan_is_refused(plan, code, tmp_path, capsys):
    path, file = write(tmp_path, GOOD), write(tmp_path, plan, "kech.toml")
    found, _, left = release(path, capsys, "--plan", file)
    assert (found, left) == (code, ["kech.toml", "table.csv"])


TARGETS = {
    "the source": ("table.csv", 2, r"source table itself"),
    "a link to the source": ("link.csv", 2, r"source table itself"),
    "a hard link to the source": ("hard.csv", 2, r"source table itself"),
    "a folder": ("folder", 2, r"folder"),
    "an unknown ending": ("out.doc", 2, r"\.csv"),
    "a missing folder": ("no/out.csv", 2, r"does not exist"),
    "below a file": ("table.csv/out.csv", 2, r"out\.csv"),
}


@pytest.mark.parametrize("case", TARGETS)
def test_a_bad_target_is_refused(case, tmp_path, capsys):
    name, code, pattern = TARGETS[case]
    path = write(tmp_path, GOOD)
    (tmp_path / "link.csv").symlink_to(path)
    (tmp_path / "hard.csv").hardlink_to(path)
    (tmp_path / "folder").mkdir()
    before = sorted(entry.name for entry in tmp_path.iterdir())
    found, said, left = release(path, capsys, name=name)
    assert found == code
    assert re.search(pattern, said), said
    assert left == before
    assert path.read_text() == GOOD


def test_a_target_that_cannot_be_written_is_a_matter_of_resources(tmp_path, capsys, monkeypatch):
    path = write(tmp_path, GOOD)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("kech.files.claim_draft", refuse)
    found, said, left = release(path, capsys)
    assert (found, left) == (5, ["table.csv"])
    assert "permission denied" in said


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.xlsx", "t.csv.zip", "t"])
def test_a_damaged_or_unknown_file_is_refused(name, tmp_path, capsys):
    found, said, left = release(write(tmp_path, b"PAR1 nothing of the kind", name), capsys)
    assert (found, left) == (3, [name])
    assert name in said


def test_a_truncated_parquet_file_is_refused(tmp_path, capsys):
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"age": list(range(1000))}), whole)
    path = write(tmp_path, whole.read_bytes()[:-20], "cut.parquet")
    whole.unlink()
    found, _, left = release(path, capsys)
    assert (found, left) == (3, ["cut.parquet"])


def test_nan_in_a_parquet_file_is_refused_and_can_be_declared_missing(tmp_path, capsys):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": [1.5, float("nan"), 2.5, 2.5, float("nan"), 1.5]}), path)
    found, said, left = release(path, capsys)
    assert (found, left) == (3, ["t.parquet"])
    assert "row 2" in said
    assert release(path, capsys, "--null-values", "nan")[0] == 0


def test_a_folder_and_a_missing_file_are_no_tables(tmp_path, capsys):
    assert run(["inspect", tmp_path], capsys)[0] == 3
    assert run(["inspect", tmp_path / "no.csv"], capsys)[0] == 3


def test_memory_that_is_too_small_is_said(tmp_path, capsys):
    wide = "age,zip\n" + "".join(f"{i},{'x' * 50}{i}\n" for i in range(200_000))
    found, said, left = release(write(tmp_path, wide), capsys, "--sensitive", "zip", "--memory", "2MB")
    assert (found, left) == (5, ["table.csv"])
    assert "--memory" in said


def test_hierarchy_faults_name_the_node_but_never_a_cell(tmp_path, capsys):
    path = write(tmp_path, GOOD)
    trees = tmp_path / "trees"
    trees.mkdir()
    write(trees, "job0;work;*\n", "job.csv")
    found, said, _ = release(path, capsys, "--hierarchies", trees, qi="job")
    assert found == 3
    assert "job1" not in said
    write(trees, "job0;a;b;a\njob1;a;b;a\n", "job.csv")
    found, said, left = release(path, capsys, "--hierarchies", trees, qi="job")
    assert (found, left) == (3, ["table.csv", "trees"])
    assert "'a'" in said


GOOD_FILES = {
    "all equal": ("age\n" + "7\n" * 10, "age", {"7"}),
    "all NULL": ("age,b\n" + ",1\n" * 10, "age", {""}),
    "zero-padded codes": ("zip\n" + "02138\n" * 5 + "00501\n" * 5, "zip", {"02138", "00501"}),
    "blank lines": ("age,b\n1,2\n\n1,2\n", "age", {"1"}),
    "a mark at the start": (b"\xef\xbb\xbfage\n1\n1\n", "age", {"1"}),
    "CR alone": (b"age,b\r1,2\r1,2\r", "age", {"1"}),
    "mixed line ends": (b"age,b\r\n1,2\n1,2\r\n", "age", {"1"}),
}


@pytest.mark.parametrize("case", GOOD_FILES)
def test_odd_but_honest_files_are_read(case, tmp_path, capsys):
    content, column, values = GOOD_FILES[case]
    found, said, _ = release(write(tmp_path, content), capsys, qi=column)
    assert found == 0, said
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert {line.split(",")[0].strip('"') for line in lines[1:]} == values


def test_encodings_are_read_when_they_are_named(tmp_path, capsys):
    text = "stadt,b\n" + "Köln,1\n" * 4
    for codec in ("latin-1", "utf-16"):
        path = write(tmp_path, text.encode(codec))
        assert release(path, capsys, "--encoding", codec, qi="stadt")[0] == 0
        assert "Köln" in (tmp_path / "out.csv").read_text("utf-8")


def test_ten_thousand_categories_are_no_trouble(tmp_path, capsys):
    content = "job,b\n" + "".join(f"name {i * 7919 % 10_007},1\n" for i in range(20_000))
    assert release(write(tmp_path, content), capsys, qi="job", k=3)[0] == 0


@pytest.mark.parametrize("name", ["s[12].csv", "a b*.csv", "what?.csv", "it's {ok}.csv", "-dash.csv", "ünï.csv"])
def test_file_names_are_never_patterns(name, tmp_path, capsys):
    write(tmp_path, "age\n1\n1\n1\n", "s1.csv")
    write(tmp_path, "age\n2\n2\n", name)
    found, said, _ = release(tmp_path / name, capsys)
    assert found == 0, said
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ['"2"', '"2"']


NAMES = ['a"b', "a;b", "a\nb", "日本", "'; DROP TABLE source; --", '"; DROP TABLE source; --', "c0", "select", "a,b"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_column_names_are_never_code(name, ending, tmp_path, capsys):
    quoted = '"' + name.replace('"', '""') + '"'
    path = write(tmp_path, f"{quoted},other\n" + "1,x\n" * 3)
    asked = quoted
    found, said, _ = release(path, capsys, qi=asked, name=f"out.{ending}")
    assert found == 0, said
    if ending == "parquet":
        assert pq.read_table(tmp_path / "out.parquet").column_names == [name]
    else:
        assert quoted in Path(tmp_path / "out.csv").read_text("utf-8")
    assert run(["verify", tmp_path / f"out.{ending}"], capsys)[0] == 0
