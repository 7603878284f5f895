"""Linux, macOS and Windows: the fallbacks of `system.machine`, on a machine that is made to look like another."""

import ctypes
import json
import ntpath
import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import kech
from conftest import FIXED_SECRET, needs_posix
from kech.errors import BadKey, CannotWrite, UnreadableFile
from kech.system import files, machine
from kech.system.memory import half_the_memory
from kech.tables.demo import nine_rows, write_csv

on_linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="plays Windows on Linux")
ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"]}
# Windows has no such modules and names, says 0 of every owner, makes no link for most users, opens no folder, and
# renames or removes no open file.
WINDOWS = """
import multiprocessing, os, shutil, signal, subprocess, sys, tempfile
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in ("geteuid", "getuid", "sysconf", "sysconf_names", "nice", "O_NONBLOCK", "O_NOFOLLOW"):
    delattr(os, name)
del signal.SIGHUP
shutil._use_fd_functions = False
look = os.fstat
os.fstat = lambda handle: os.stat_result([*look(handle)[:4], 0, 0, *look(handle)[6:]])

def guard(act):
    def acted(path, *more, **named):
        opened = {os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")}
        if os.path.realpath(path) in opened:
            raise PermissionError(13, "open")
        return act(path, *more, **named)
    return acted

def link(source, target, target_is_directory=False, **named):
    raise OSError(22, "a required privilege is not held by the client")

def open_file(path, *more, opener=os.open, **named):
    if os.path.isdir(path):
        raise PermissionError(13, "a folder")
    return opener(path, *more, **named)

os.open, os.symlink = open_file, link
for name in ("rename", "replace", "unlink", "remove", "rmdir"):
    setattr(os, name, guard(getattr(os, name)))
"""
RELEASE = """
import importlib.util, kech
if importlib.util.find_spec("uvicorn"):
    import kech.studio.jobs, kech.studio.server
table = kech.read_table("nine.csv", quasi_identifiers=["age", "zip"], sensitive=["salary"])
kech.make_release(table, k=3).write("safe.csv")
print(kech.check_certificate("safe.csv")["k"])
kech.write_key_file("team.key")
kech.read_table("nine.csv", quasi_identifiers=["age"], key_file="team.key").close()
"""


@pytest.fixture(params=["handles", "beside"])
def locks(request, monkeypatch):
    """Locks of Linux, and those of Windows."""
    if request.param == "beside":
        use_locks_beside(monkeypatch)


def use_locks_beside(monkeypatch):
    locks = machine.LockFiles()
    calls = ("open_handle", locks.open), ("stat_handle", locks.fstat), ("sync_handle", locks.fsync)
    for name, call in (*calls, ("flock", locks.flock), ("close_handle", locks.close)):
        monkeypatch.setattr(machine, name, call)


@on_linux
def test_the_papers_rows_are_released_alike_where_windows_is_played(tmp_path):
    """A process without fcntl, resource and the rest of POSIX writes the same rows, and leaves nothing behind."""
    written = []
    for number, prelude in enumerate(("", WINDOWS)):
        folder = tmp_path / str(number)
        (folder / "home").mkdir(parents=True)
        (folder / "home" / "secret").touch(mode=0o600)
        (folder / "home" / "secret").write_text(f"{FIXED_SECRET}\n", "ascii")
        write_csv(nine_rows(), folder / "nine.csv")
        env = os.environ | {"KECH_HOME": str(folder / "home"), "TMPDIR": str(folder)}
        words = [sys.executable, "-W", "error", "-c", prelude + RELEASE]
        ran = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert (ran.stdout.strip(), ran.stderr) == ("3", "")
        files_left = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
        rows = sorted(files_left[Path("safe.csv")].read_bytes().splitlines())  # their order is drawn at random
        written.append((rows, len(files_left)))

    assert written[0] == written[1]


def test_who_holds_a_lock_is_alone(locks, tmp_path):
    inside, most = [], []

    def work():
        for _ in range(5):
            with files.hold_lock(tmp_path / "lock"):
                inside.append(1)
                time.sleep(0.001)  # the others have their chance
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20
    assert {path.name for path in tmp_path.iterdir()} == {"lock"}


def test_drafts_are_kept_while_they_are_held_and_cleared_afterwards(locks, tmp_path):
    target = tmp_path / "out.txt"
    with files.draft_file(target) as draft:
        files.write_text(target, "new")
        assert draft.exists() and files.is_draft_locked(draft)
    left = tmp_path / ".out.txt.0.kech-draft"  # of a run that was killed
    left.write_text("cells", "utf-8")
    assert not files.is_draft_locked(left)
    files.write_text(target, "newer")

    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert target.read_text("utf-8") == "newer"


def test_folders_are_put_in_place_and_removed(locks, tmp_path, monkeypatch):
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    with files.draft_folder(tmp_path / "bundle") as draft:
        (draft / "a").write_text("a", "utf-8")
        files.put_folder_in_place(draft, tmp_path / "bundle")
    with files.private_folder() as private, files.private_folder():
        assert private.exists()

    assert [path.name for path in tmp_path.rglob("*")] == ["bundle", "a"]


def test_a_lock_that_cannot_be_made_is_refused_and_not_awaited_forever(tmp_path, monkeypatch):
    def refuse(path, *_):
        if str(path).endswith(".held"):
            raise PermissionError(13, "")
        return opened(path, *_)

    opened = os.open
    use_locks_beside(monkeypatch)
    monkeypatch.setattr(machine, "PATIENCE", 0.05)
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(CannotWrite, match="permission denied"), files.hold_lock(tmp_path / "lock"):
        pass


@needs_posix
def test_memory_is_that_of_the_machine_or_what_windows_says_or_four_gigabytes(monkeypatch):
    def tell(reference):
        reference._obj.total = 12345
        return reference._obj.length == 64

    assert machine.sysconf is os.sysconf
    monkeypatch.setattr(machine, "sysconf", machine.windows_sysconf)
    assert half_the_memory() == 2 * 2**30
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=tell)), False)
    assert half_the_memory() == 12345 // 2


@needs_posix
def test_modes_are_judged_only_where_they_say_something(tmp_path, monkeypatch):
    path, key = write_csv(nine_rows(), tmp_path / "nine.csv"), kech.write_key_file(tmp_path / "team.key")
    key.chmod(0o644)
    with pytest.raises(BadKey, match="chmod 600"):
        kech.read_table(path, key_file=key, **ROLES)
    monkeypatch.setattr(machine, "OTHERS", 0)
    kech.read_table(path, key_file=key, **ROLES).close()


@needs_posix
def test_a_file_is_read_where_no_link_to_it_can_be_made(tmp_path, monkeypatch):
    """A [ in a name is a pattern for DuckDB: with a link it is read, without one it is refused in words."""
    plain, patterned = (write_csv(nine_rows(), tmp_path / name) for name in ("nine.csv", "nine[1].csv"))
    for path in (plain, patterned):
        with kech.read_table(path, **ROLES) as table:
            assert table.rows == 9
    monkeypatch.setattr(Path, "symlink_to", refuse_link)
    with pytest.raises(OSError, match="privilege"):
        kech.read_table(plain, **ROLES)
    monkeypatch.setattr(machine, "fcntl", None)
    with kech.read_table(plain, **ROLES) as table:
        assert table.rows == 9
    with pytest.raises(UnreadableFile, match="Rename it"):
        kech.read_table(patterned, **ROLES)


def refuse_link(*_):
    raise OSError(22, "a required privilege is not held by the client")


@pytest.mark.long  # mypy reads the whole package for each system
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_no_module_calls_what_another_system_lacks(system, tmp_path):
    words = [sys.executable, "-m", "mypy", "--platform", system, "--cache-dir", tmp_path]
    ran = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert "Success" in ran.stdout, ran.stdout


@on_linux
def test_a_worker_is_limited_where_the_system_can():
    code = "from kech.system.machine import limit_this_process as limit; limit(2**28); bytearray(2**29)"
    for prelude, words in (("", "MemoryError"), (WINDOWS, "")):
        ran = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, check=False)
        assert ran.stderr.strip().endswith(words) and bool(ran.stderr) == bool(words)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_signs_that_a_code_page_lacks_end_no_command(encoding, tmp_path):
    """Windows writes files and pipes in its code page: there bars become ?, and JSON has escapes."""
    rows = nine_rows().rename_columns(["größe", "日本😀", *nine_rows().column_names[2:]])
    write_csv(rows, tmp_path / "nine.csv")
    env = os.environ | {"KECH_HOME": str(tmp_path), "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    asked = [sys.executable, "-m", "kech", "risk", "nine.csv", "--qi", "größe,日本😀"]
    text, as_json = (
        subprocess.run([*asked, *more], cwd=tmp_path, env=env, capture_output=True, check=False)
        for more in ([], ["--json"])
    )
    assert (text.returncode, text.stderr) == (0, b"") and b"????" in text.stdout
    assert json.loads(as_json.stdout.decode(encoding))["quasi_identifiers"] == ["größe", "日本😀"]
    asked[-1] = "日本😀x"
    refused = subprocess.run([*asked, "--json"], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert "日本😀x" in json.loads(refused.stderr.decode(encoding))["message"]


@pytest.fixture
def two_drives(monkeypatch):
    """Windows knows no way from one drive to another."""
    monkeypatch.setattr(os.path, "relpath", lambda *_: ntpath.relpath("D:\\a", "C:\\b"))


def test_a_plan_names_the_whole_path_of_a_file_on_another_drive(two_drives, tmp_path):
    key = kech.write_key_file(tmp_path / "team.key")
    kech.write_request(kech.Request().override(key_file=key, **ROLES), tmp_path / "kech.toml")
    assert tomllib.loads((tmp_path / "kech.toml").read_text("utf-8"))["labels"]["key_file"] == str(key)


def test_a_series_finds_a_release_on_another_drive(two_drives, tmp_path):
    series = kech.open_series(tmp_path / "series")
    with kech.read_table(write_csv(nine_rows(), tmp_path / "nine.csv"), k=3, **ROLES) as table:
        series.publish(table, tmp_path / "safe.csv", table.request)
    assert series.forget() == 1 and not (tmp_path / "safe.csv").exists()


def test_no_module_leaves_the_ends_of_lines_to_the_system():
    """Text mode writes other bytes on Windows, and certificates and series hash them."""
    opens = re.compile(r"""\.write_text\(|\b(?:fd)?open\([^)]*["'](?:w|a|x|w\+|wt)["']""")
    source = Path(kech.__file__).parent
    lines = {path: path.read_text("utf-8").splitlines() for path in source.rglob("*.py")}
    assert [line.strip() for path in lines for line in lines[path] if opens.search(line)] == []
