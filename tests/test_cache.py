"""What is kept of large files: the same answers as without, private, whole, and gone when asked."""

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor

import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import kech
from kech import spectrum
from kech.errors import TooManyPoints, UnreadableFile
from kech.points.points import Coarse, build_points
from kech.system.files import claim_folder
from kech.tables import cache, table
from kech.tables.cache import Cache
from kech.tables.demo import generate_town, write_csv
from kech.tables.engines import remembering

ROLES = ("--qi", "age", "zip", "job", "--sensitive", "diagnosis")
COLUMNS = ["age", "zip", "job"]
COMMANDS = {
    "spectrum": ("--k", "3-6", "--effort", "quick"),
    "barcode": ("--max-dimension", "0"),
    "lattice": ("--k", "3"),
    "inspect": (),
}


@pytest.fixture
def eager(monkeypatch):
    """Small files that were written just now are worth keeping, too."""
    monkeypatch.setattr(remembering, "MANY", 1)
    monkeypatch.setattr(remembering, "SETTLED", -1.0)
    monkeypatch.delenv("KECH_CACHE", raising=False)


@pytest.fixture
def town(eager, folder):
    return write_csv(generate_town(300), folder / "town.csv")


@pytest.fixture
def loads(monkeypatch):
    """How often rows were read."""
    counted, load = [], table.load
    monkeypatch.setattr(table, "load", lambda *words: counted.append(load(*words)))
    return counted


def kept(home):
    """The files of the cache."""
    return sorted((home / "cache").glob("*")) if (home / "cache").exists() else []


def found(run, command, source, *words):
    outcome = run(command, source, *ROLES, *COMMANDS[command], *words, "--json")
    assert outcome.code == 0, outcome.err
    return {name: value for name, value in outcome.json.items() if name != "seconds"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_second_run_answers_the_same_and_reads_no_row(run, town, loads, command):
    plain = found(run, command, town, "--no-cache")
    first = found(run, command, town)
    assert len(loads) == 2
    assert found(run, command, town) == first == plain
    assert len(loads) == 2


@pytest.mark.parametrize("ending", ["parquet", "arrow", "folder"])
def test_other_files_are_known_again_and_change_with_any_part(run, eager, folder, loads, ending):
    source = folder / f"town.{ending}"
    if ending == "folder":
        source.mkdir()
        pq.write_table(generate_town(200), source / "a.parquet")
    else:
        write = pq.write_table if ending == "parquet" else feather.write_feather
        write(generate_town(200), source)

    first = found(run, "spectrum", source)
    assert found(run, "spectrum", source) == first
    assert len(loads) == 1
    if ending == "folder":
        pq.write_table(generate_town(50, seed=3), source / "b.parquet")
        assert found(run, "spectrum", source) == found(run, "spectrum", source, "--no-cache") != first


def test_a_release_reads_its_rows_again_and_is_the_same(run, release, town, folder, loads):
    words = (*ROLES, "--no-ledger", "--suppress", "2%")
    first = release(town, *words, k=4)
    again = release(town, *words, k=4)
    assert {name: sorted(cells) for name, cells in first.items()} == {n: sorted(c) for n, c in again.items()}
    assert len(loads) == 2


def test_work_that_was_interrupted_resumes_behind_the_group_by(run, town, loads, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(spectrum, "partitions", stop)
        assert run("spectrum", town, *ROLES, *COMMANDS["spectrum"]).code == 130
    assert found(run, "spectrum", town) == found(run, "spectrum", town, "--no-cache")
    assert len(loads) == 2


def test_every_choice_that_changes_points_asks_anew(run, town, folder):
    """Each is compared with a run that knows nothing."""
    tree = folder / "job.csv"
    jobs = sorted({job for job in generate_town(300)["job"].to_pylist() if job})
    choices = [(), ("--grid", "exact"), ("--grid", "7"), ("--axis", "zip=set"), ("--null-values", "none")]
    choices += [("--axis", "zip=numeric"), *[("--hierarchies", folder)] * 2]
    for i, words in enumerate(choices):
        tree.write_text("".join(f"{job};{job[: i + 1]};*\n" for job in jobs), "utf-8")
        fresh = found(run, "lattice", town, *words, "--no-cache")
        assert found(run, "lattice", town, *words) == fresh, words
        assert found(run, "lattice", town, *words) == fresh, words


def test_a_file_with_the_same_size_and_time_is_another_file(run, town):
    first, before = found(run, "spectrum", town), town.stat()
    text = town.read_text("utf-8")
    town.write_text(re.sub(r"nursing", "farming", text), "utf-8")
    os.utime(town, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert (town.stat().st_size, town.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert found(run, "spectrum", town) == found(run, "spectrum", town, "--no-cache") != first


def test_a_file_that_changes_behind_known_answers_is_refused(town):
    with kech.read_table(town, quasi_identifiers=COLUMNS, cache=True) as opened:
        build_points(opened)
    with kech.read_table(town, quasi_identifiers=COLUMNS, cache=True) as opened:
        build_points(opened)
        write_csv(generate_town(299), town)
        with pytest.raises(UnreadableFile, match="changed while kech worked"):
            opened.head()


def test_bytes_of_texts_are_known_again(town, loads):
    for _ in range(2):
        with kech.read_table(town, quasi_identifiers=["job"], memory="1GB", cache=True) as opened:
            texts, _ = opened.values("job", "text")
            assert opened.engine.text_bytes(opened.index("job")) == sum(map(len, texts)) > 0
    assert len(loads) == 1


def test_limits_of_points_hold_for_known_points(town, monkeypatch, loads):
    monkeypatch.setattr("kech.points.points.SAMPLE", 100)
    for _ in range(2):
        with kech.read_table(town, quasi_identifiers=COLUMNS, cache=True) as opened:
            whole = build_points(opened)
            with pytest.raises(TooManyPoints):
                opened.engine.group(whole.mappings, 5)
            few = build_points(opened, coarse=Coarse(20))
            assert len(few.weights) <= 20 < len(whole.weights)
    assert len(loads) == 1


def spoil_end(path):
    path.write_bytes(path.read_bytes()[:-1])


def spoil_inside(path):
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 1
    path.write_bytes(held)


def spoil_all(path):
    path.write_bytes(b"")


def make_open(path):
    path.chmod(0o644)


def make_link(path):
    aside = path.with_suffix(".aside")
    path.rename(aside)
    path.symlink_to(aside)


def make_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [spoil_end, spoil_inside, spoil_all, make_open, make_link, make_folder])
def test_damaged_and_foreign_files_are_ignored(run, town, loads, own_ledger, spoil):
    first = found(run, "spectrum", town)
    for path in kept(own_ledger):
        spoil(path)
    assert found(run, "spectrum", town) == first
    assert len(loads) == 2
    if spoil is not make_folder:
        assert all(cache.is_private(path.lstat()) for path in kept(own_ledger) if path.suffix == cache.ENDING)
        assert found(run, "spectrum", town) == first
        assert len(loads) == 2


def test_a_sealed_file_that_is_no_answer_is_dropped(town, own_ledger):
    notes = remembering.Notes(Cache(own_ledger / "cache"), [town], [], 10**9)
    notes.cache.keep(notes.name(["x"]), b"no arrow")
    assert notes.find(["x"]) is None
    assert kept(own_ledger) == []


def test_only_the_owner_can_read_and_names_say_nothing(run, town, own_ledger):
    (own_ledger / "cache").mkdir(mode=0o755)
    found(run, "spectrum", town)
    assert stat.S_IMODE((own_ledger / "cache").stat().st_mode) == 0o700
    assert kept(own_ledger)
    for path in kept(own_ledger):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert re.fullmatch(r"[0-9a-f]{64}\.kech-cache", path.name)


def test_what_would_take_too_much_memory_is_not_kept(run, town, loads, monkeypatch):
    monkeypatch.setattr(remembering, "PART", 10**7)
    first = found(run, "spectrum", town)
    assert found(run, "spectrum", town) == first
    assert len(loads) == 2


@pytest.mark.parametrize("off", ["small", "fresh", "option", "variable", "library", "frame"])
def test_nothing_is_kept_where_nothing_is_asked_or_saved(run, town, own_ledger, monkeypatch, off):
    if off == "small":
        monkeypatch.setattr(remembering, "MANY", 301)
    if off == "fresh":
        monkeypatch.setattr(remembering, "SETTLED", 60.0)
    if off == "variable":
        monkeypatch.setenv("KECH_CACHE", "0")
    if off in ("library", "frame"):
        source = town if off == "library" else generate_town(300)
        with kech.read_table(source, quasi_identifiers=COLUMNS, cache=off == "frame") as opened:
            build_points(opened)
    else:
        found(run, "spectrum", town, *(["--no-cache"] if off == "option" else []))
    assert not (own_ledger / "cache").exists()


def test_a_cache_that_cannot_be_written_stops_nobody(run, town, own_ledger):
    (own_ledger / "cache").write_text("in the way", "utf-8")
    assert found(run, "spectrum", town) == found(run, "spectrum", town, "--no-cache")


def test_the_longest_unused_go(tmp_path, monkeypatch):
    held = Cache(tmp_path / "cache")
    monkeypatch.setattr(cache, "MOST_BYTES", 3 * (100 + len(cache.seal(b""))))
    for i, name in enumerate("abc"):
        held.keep(name, bytes(100))
        os.utime(held.path(name), (i, i))
    assert held.find("a") == bytes(100)
    held.keep("d", bytes(100))
    assert [held.find(name) is not None for name in "abcd"] == [True, False, True, True]
    held.keep("e", bytes(1000))
    assert held.find("e") is None


def test_who_shares_a_cache_sees_whole_answers(tmp_path):
    held = Cache(tmp_path / "cache")
    bodies = [bytes([i]) * 50_000 for i in range(8)]

    def work(i):
        held.keep("same", bodies[i % 8])
        return held.find("same")

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(40))) <= set(bodies)
    assert [path.name for path in held.folder.iterdir()] == ["same.kech-cache"]


def test_clean_removes_all_and_says_how_much(run, town, own_ledger, temporary):
    found(run, "spectrum", town)
    files = kept(own_ledger)
    size = sum(path.stat().st_size for path in files)
    (own_ledger / "cache" / ".x.kech-draft").write_bytes(bytes(7))
    left, handle = claim_folder()
    (left / "spill").write_bytes(bytes(11))
    os.close(handle)

    outcome = run("clean", "--json")
    folder = str(own_ledger / "cache")
    counted = {"folder": folder, "files": len(files), "bytes": size, "leftovers": 2, "leftover_bytes": 18}
    assert outcome.json == counted
    assert not (own_ledger / "cache").exists()
    assert not left.exists()
    assert "0 files removed, 0 bytes" in run("clean").out.replace("\n", " ")


def test_clean_leaves_alone_what_others_hold(run, temporary):
    left, handle = claim_folder()
    assert run("clean", "--json").json["leftovers"] == 0
    assert left.exists()
    os.close(handle)
    assert run("clean", "--json").json["leftovers"] == 1


def test_the_cache_has_its_place(monkeypatch, tmp_path):
    monkeypatch.delenv("KECH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "kech"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / ".cache" / "kech"
