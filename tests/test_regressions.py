"""Faults that were found once, each by name."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from kech.tables.duckdb import DuckDB
from kech.tables.engine import Engine

CROWD = {"age": [30] * 400 + [24, 26, 28, 33, 35, 37]}


def test_the_place_of_a_row_in_the_file_does_not_tell_how_it_was_dealt():
    places = []
    with kech.read_table(
        pa.table(CROWD | {"mark": ["crowd"] * 400 + ["few"] * 6}), quasi_identifiers=["age"], keep=["mark"]
    ) as table:
        release = kech.make_release(table, k=5, grid="exact")
        for _ in range(25):
            frame = release.batches(for_csv=False).read_all().to_pandas()
            ours = (frame["age"] == "[24, 30]") & (frame["mark"] == "crowd")
            assert ours.any()
            places += (np.flatnonzero(ours) / len(frame)).tolist()
    assert max(places) > 0.6
    assert min(places) < 0.4


def test_row_groups_do_not_tell_how_many_rows_were_suppressed(tmp_path, monkeypatch):
    """They were the batches of the engine without its rows of nobody: all but those were of a known size."""
    monkeypatch.setattr("kech.tables.batches.SIZES", (50,))
    shuffle = DuckDB.shuffle
    monkeypatch.setattr(
        DuckDB, "shuffle", lambda self, *given: shuffle(self, *given).read_all().to_reader(max_chunksize=40)
    )
    table = pa.table({"job": [*"abcd"] * 60 + ["zz"] * 2, "age": [20, 30] * 121})
    with kech.read_table(table, quasi_identifiers=["job", "age"], axes={"job": "star"}) as held:
        release = kech.make_release(held, k=5, cut="domain", suppress=0.01)
        assert release.partition.suppressed == 2
        release.write(tmp_path / "out.parquet", ledger=False)
        assert [len(batch) for batch in release.batches(for_csv=True)] == [50, 50, 50, 50, 40]
    with pq.ParquetFile(tmp_path / "out.parquet") as file:
        groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert groups == [50, 50, 50, 50, 40]


def test_rows_lost_on_the_way_are_never_certified(tmp_path, monkeypatch):
    publish = Engine.publish

    def lose_two(self, *arguments, **options):
        return publish(self, *arguments, **options).read_all().slice(2).to_reader()

    monkeypatch.setattr(Engine, "publish", lose_two)
    with kech.read_table(pa.table({"age": list(range(20)) * 6}), quasi_identifiers=["age"]) as table:
        with pytest.raises(kech.errors.ClaimBroken, match="rows: some were lost"):
            kech.make_release(table, k=3).write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_open_tails_cost_something_and_domains_show_no_person(tmp_path):
    with kech.read_table(pa.table({"a": [i % 7 for i in range(50)]}), quasi_identifiers=["a"]) as table:
        release = kech.make_release(table, k=9)
        labels = {label for label in release.labels["a"] if label[0] in "<>"}
        assert release.write(tmp_path / "out.csv")["claims"]["loss"] > 0 or not labels
    lonely = [1, 2, 40, 43, 44, 45, 47, 90, 99]
    with kech.read_table(pa.table({"a": lonely}), quasi_identifiers=["a"]) as table:
        (axis,) = kech.make_release(table, k=5).axes
    assert not set(axis["domain"]) & set(lonely) - {1}


def test_nothing_shows_a_cell_by_its_repr():
    cells = [f"CANARY{i % 9}" for i in range(90)]
    with kech.read_table(pa.table({"job": cells}), quasi_identifiers=["job"]) as table:
        release = kech.make_release(table, k=3)
        shown = [table, release, release.partition, release.partition.points, *release.partition.points.axes]
        shown += [*release.partition.points.mappings, kech.compute_barcode(table, max_dimension=0)]
        assert not [thing for thing in shown if "CANARY" in repr(thing)]
    assert repr(release) == "Release(k=10, 90 rows in 9 classes)"


def test_the_index_of_pandas_is_no_column():
    frame = pd.DataFrame({"zip": ["a", "b"] * 20, "age": range(40)})[lambda f: f["age"] > 9]
    made = kech.Anonymizer(k=3, quasi_identifiers=["zip"]).set_output(transform="pandas").fit_transform(frame)
    assert list(made.columns) == ["zip", "age"]
    assert made.shape == (30, 2)


def test_fitted_rows_keep_their_class_whatever_the_type_of_the_column():
    tree = {"low": ["0.5"], "mid": ["1.0", "1.5"], "high": ["2.5"]}
    frame = pd.DataFrame({"a": [0.5] * 3 + [1.0] + [1.5] * 2 + [2.5] * 3})
    made = kech.Anonymizer(k=3, hierarchies={"a": tree}).fit(frame)
    labels, counts = np.unique(made.transform(frame).astype(str), return_counts=True)
    assert dict(zip(labels, counts, strict=True)) == {"0.5": 3, "mid": 3, "2.5": 3}


def test_values_an_axis_cannot_read_are_suppressed_and_not_quoted():
    made = kech.Anonymizer(k=2).fit(pd.DataFrame({"a": [1.0, 1.0, 2.0, 2.0]}))
    assert made.transform(pd.DataFrame({"a": ["CANARY77"]})).tolist() == [["*"]]


def test_a_pipe_in_the_temporary_folder_holds_nobody_up(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    os.mkfifo(tmp_path / "kech-folder-x")
    with kech.read_table(pa.table({"a": [1, 1]}), quasi_identifiers=["a"]) as table:
        assert table.rows == 2


def test_a_folder_in_place_of_the_certificate_is_seen_before_anything_is_written(tmp_path):
    (tmp_path / "out.csv.certificate.json").mkdir()
    with kech.read_table(pa.table({"a": [1, 1]}), quasi_identifiers=["a"]) as table:
        with pytest.raises(kech.errors.BadTarget):
            kech.make_release(table, k=2).write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_plan_from_csv_serves_parquet_too(tmp_path):
    frame = pa.table({"age": list(range(10)) * 4})
    pq.write_table(frame, tmp_path / "t.parquet")
    plan = kech.Request().override(delimiter=",", encoding="utf-8", quasi_identifiers=["age"])
    with kech.read_table(tmp_path / "t.parquet", plan) as table:
        assert table.rows == 40


def test_an_axis_with_exact_edges_is_named_in_the_certificate():
    choice = {"a": kech.AxisChoice(grid="exact")}
    with kech.read_table(pa.table({"a": list(range(40))}), quasi_identifiers=["a"], axes=choice) as table:
        (axis,) = kech.make_release(table, k=5).axes
    assert axis["grid"] == "exact"


def test_the_spectrum_of_the_regime_cut_tells_the_radius_of_the_cut():
    rng = np.random.default_rng(4)
    frame = pa.table({"a": rng.integers(0, 50, 40), "b": rng.integers(0, 50, 40)})
    with kech.read_table(frame, quasi_identifiers=["a", "b"]) as table:
        (row,) = kech.compute_spectrum(table, k=[3], cut="regime", grid="exact").rows()
        (regime, *_) = kech.compute_barcode(table, max_dimension=0).regimes("strict", 3)
    assert row["eps"] == regime.start


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_too_little_memory_in_a_thread_of_a_kernel_is_an_error_not_the_end_of_the_process():
    script = """
import resource, sys
import numpy as np
from kech._kernels import Widths, cut_order
points = 400_000
widths = Widths()
widths.add_line(np.arange(points, dtype=float), np.arange(points, dtype=float), float(points), np.inf, -1)
codes, ones = np.arange(points, dtype=np.int32)[:, None].copy(), np.ones(points, np.int64)
order = np.arange(points)
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 60_000_000, resource.RLIM_INFINITY))
try:
    cut_order(codes, ones, order, widths, list(range(2, 66)), True, 2)
except MemoryError:
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 7


def test_the_hierarchy_of_a_column_that_was_not_read_is_refused(run, folder):
    """Found by fuzzing: a column without a role, beside others that have one."""
    (folder / "t.csv").write_text("a,b\n1,x\n2,y\n")
    outcome = run("hierarchy", folder / "t.csv", "b", "--qi", "a")
    assert (outcome.code, "'b' has no role among those named" in outcome.err) == (2, True)
    assert run("hierarchy", folder / "t.csv", "b").code == 0


def test_a_folder_for_temporary_files_that_cannot_be_used_is_refused(run, folder, monkeypatch):
    """Found by releasing as a user who may not write there."""
    (folder / "t.csv").write_text("a\n1\n1\n")
    monkeypatch.setattr("tempfile.tempdir", str(folder / "none"))
    outcome = run("release", folder / "t.csv", "-o", folder / "out.csv", "--qi", "a", "--k", 2)
    assert (outcome.code, "in TMPDIR" in outcome.err) == (5, True)


def test_two_releases_to_one_target_leave_a_file_with_its_own_certificate(folder, monkeypatch):
    """Without a ledger nothing else makes one wait for the other; the first is slow between its two names."""
    half_way, over, named = threading.Event(), threading.Event(), Path.replace

    def name_slowly(self, target):
        named(self, target)
        if target.suffix == ".csv" and not half_way.is_set():
            half_way.set()
            over.wait(2)

    def release(value):
        with kech.read_table(pa.table({"a": [value] * 4}), quasi_identifiers=["a"]) as table:
            made = kech.make_release(table, k=2)
            assert value == 1 or half_way.wait(20)
            made.write(folder / "out.csv", ledger=False)

    monkeypatch.setattr(Path, "replace", name_slowly)
    threads = [threading.Thread(target=lambda: (release(2), over.set())), threading.Thread(target=release, args=(1,))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kech.check_certificate(folder / "out.csv")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_no_search_can_take_is_refused(run, folder, seed):
    """Found by fuzzing: it reached the kernels, or numpy."""
    (folder / "t.csv").write_text("a\n" + "1\n2\n" * 4)
    words = ("release", folder / "t.csv", "-o", folder / "out.csv", "--qi", "a", "--k", 2)
    assert run(*words, f"--seed={seed}").code == 2
    assert run(*words).code == 0
    if seed < 0:
        assert run("attack", "order", folder / "out.csv", "--original", folder / "t.csv", f"--seed={seed}").code == 2
