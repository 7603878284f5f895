"""Nothing raw leaks: planted values turn up in no message, certificate, plan or temporary file."""

import os
import re
import threading
import time
from pathlib import Path

import pytest

import kech
from kech.cli import main

ROWS = 400
COLUMNS = ("person", "age", "born", "zip", "job", "extra", "diagnosis")


def mark(column, row):
    """A value that occurs once in the table and nowhere else in the world."""
    return f"CANARY{column.upper()}{row:04d}"


def plant(folder, *, spoil=None):
    """A table with a unique text in each text column; `spoil` plants one where numbers are expected."""
    lines = [",".join(COLUMNS)]
    for row in range(ROWS):
        cells = {name: mark(name, row) for name in COLUMNS}
        cells |= {"age": str(20 + row % 60), "born": f"19{40 + row % 50}-01-{1 + row % 28:02d}"}
        if spoil and row == 77:
            cells[spoil] = mark(spoil, row)
        lines.append(",".join(cells[name] for name in COLUMNS))
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def leaks(text):
    """Whole values only: CANARYJOB00** is a label that hides many."""
    return re.search(r"CANARY[A-Z]+\d{4}", text) is not None


class Watch(threading.Thread):
    """Reads every temporary file while something runs."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.seen, self.found, self.done = folder, 0, [], False

    def run(self):
        while not self.done:
            for base, _, names in os.walk(self.folder):
                for name in names:
                    self.look(Path(base) / name)
            time.sleep(0.01)

    def look(self, path):
        try:
            content = b"" if path.is_symlink() else path.read_bytes()
        except OSError:
            return
        self.seen += 1
        if b"CANARY" in content:
            self.found.append(path.name)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done = True
        self.join()


def command(words, capsys):
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out + said.err


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_commands_that_work_say_no_value(extra, tmp_path, capsys, monkeypatch):
    path, out = plant(tmp_path), tmp_path / "out.csv"
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    roles = ["--qi", "age", "born", "job", "--sensitive", "diagnosis"]
    jobs = [
        ["inspect", path, "--plan", tmp_path / "kech.toml"],
        ["spectrum", path, *roles],
        ["barcode", path, "--qi", "age", "born", "--max-dimension", "0"],
        ["release", path, "-o", out, *roles, "--k", "5"],
        ["verify", out],
    ]
    with Watch(private) as watch:
        for words in jobs:
            code, said = command([*words, *extra], capsys)
            assert code == 0, said
            assert not leaks(said), words[0]
    assert not watch.found
    assert not list(private.iterdir())
    for left in (tmp_path / "kech.toml", tmp_path / "out.csv.certificate.json"):
        assert not leaks(left.read_text("utf-8"))


def test_the_release_holds_nothing_that_was_not_named(tmp_path, capsys):
    path, out = plant(tmp_path), tmp_path / "out.csv"
    command(["release", path, "-o", out, "--qi", "age", "--sensitive", "diagnosis", "--k", "5"], capsys)
    published = out.read_text("utf-8")
    assert mark("diagnosis", 3) in published
    assert not [name for name in ("person", "zip", "job", "extra") if f"CANARY{name.upper()}" in published]


@pytest.mark.parametrize("extra", [[], ["--json"]])
@pytest.mark.parametrize("spoil", ["age", "born"])
def test_refusals_say_no_value(spoil, extra, tmp_path, capsys):
    path = plant(tmp_path, spoil=spoil)
    for words in (["spectrum"], ["release", "-o", tmp_path / "o.csv", "--k", "5"], ["barcode"], ["inspect"]):
        code, said = command([words[0], path, *words[1:], "--qi", "age", "born", *extra], capsys)
        assert code == (0 if words[0] == "inspect" else 3)
        assert not leaks(said)
        assert words[0] == "inspect" or "row 78" in said


def test_damaged_lines_say_no_value(tmp_path, capsys):
    value = mark("job", 1)
    for damage in (f',{value},"{value}', f"{value}\n", f'{value}"x",1\n"{value}"y\n'):
        path = plant(tmp_path)
        path.write_text(path.read_text() + damage)
        code, said = command(["inspect", path], capsys)
        assert code == 3
        assert not leaks(said)


def test_exceptions_of_the_library_hold_no_value(tmp_path):
    path = plant(tmp_path, spoil="age")
    with kech.read_table(path, quasi_identifiers=["age"]) as table, pytest.raises(kech.errors.KechError) as caught:
        kech.make_release(table, k=5)
    seen, fault = [], caught.value
    while fault is not None:
        seen.append(repr(fault) + str(fault))
        fault = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    assert not leaks("".join(seen))


def test_spilled_rows_are_encrypted(tmp_path, monkeypatch):
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    path = tmp_path / "big.csv"
    with path.open("w") as file:
        file.write("age,text\n")
        file.writelines(f"{i % 90},CANARY{i:012d}{'x' * 60}\n" for i in range(600_000))
    with (
        Watch(private) as watch,
        kech.read_table(path, quasi_identifiers=["age"], sensitive=["text"], memory="150MB") as t,
    ):
        certificate = kech.make_release(t, k=5).write(tmp_path / "out.parquet")
        spilled = [entry for entry in private.rglob("*.tmp") if entry.stat().st_size]
    assert certificate["claims"]["rows"] == 600_000
    assert spilled
    assert not watch.found
    assert not list(private.iterdir())


def test_the_watch_would_see_a_leak(tmp_path):
    with Watch(tmp_path) as watch:
        (tmp_path / "leak").write_text(mark("age", 1))
        time.sleep(0.2)
    assert watch.found
