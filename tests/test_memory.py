import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import kech
from campaign import memory
from campaign.core import Tally
from kech.errors import NeedsMemory, ResourceError
from kech.topology.lattice import build_lattice

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return memory.write_table(tmp_path_factory.mktemp("memory") / "t.parquet")


@pytest.mark.long
def test_a_release_keeps_to_its_memory(table, tmp_path):
    code, found, peak = memory.release(table, tmp_path / "out.parquet", memory.LIMIT)

    assert code == 0
    assert found["rows"] == memory.ROWS
    assert found["coarse"]["step"] > 0
    assert peak <= memory.MOST * memory.LIMIT


def test_too_little_memory_is_refused_with_what_is_needed(table, tmp_path):
    code, found, _ = memory.release(table, tmp_path / "out.parquet", 320)

    assert code == 5
    assert not (tmp_path / "out.parquet").exists()
    assert found["error"] == "NeedsMemory"
    assert re.search(r"needs about 395 MB of memory, and 320 MB are allowed", found["message"])


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return memory.write_texts(tmp_path_factory.mktemp("memory") / "t.parquet", 40_000)


@pytest.mark.long
def test_long_texts_that_cannot_be_held_are_refused_with_what_is_needed(texts, tmp_path):
    code, found, peak = memory.release(texts, tmp_path / "out.parquet", 350)

    assert code == 5
    assert not (tmp_path / "out.parquet").exists()
    assert found["error"] == "ManyValues"
    assert re.search(r"'s' has 40,000 different values.* about 426 MB of memory, and 350 MB", found["message"])
    assert peak <= memory.MOST * 350


@pytest.mark.long
def test_long_texts_keep_to_the_memory(texts, tmp_path):
    code, found, peak = memory.release(texts, tmp_path / "out.parquet", 430)

    assert (code, found.get("rows")) == (0, 40_000)
    assert peak <= memory.MOST * 430


@pytest.mark.parametrize("compute", [kech.compute_barcode, kech.compute_lattice])
def test_shapes_refuse_too_little_memory_with_what_is_needed(compute, monkeypatch):
    monkeypatch.setattr("kech.system.memory.LEAST_BYTES", 240_000_000)
    with (
        kech.read_table(pa.table({"a": range(100)}), quasi_identifiers=["a"], memory="240MB") as table,
        pytest.raises(NeedsMemory, match=r"needs about 241 MB of memory, and 240 MB are allowed") as caught,
    ):
        compute(table)
    assert caught.value.exit_code == 5


def test_holes_keep_to_what_is_left_of_the_memory():
    steps = {"a": 1, "b": 7, "c": 11, "d": 13, "e": 17}  # more columns than links of pairs are looked for in
    cells = pa.table({name: [i * step % 2000 for i in range(2000)] for name, step in steps.items()})
    with (
        kech.read_table(cells, quasi_identifiers=list(steps), memory="400MB") as table,
        pytest.raises(
            ResourceError, match=r"Holes among 2,000 points may need 270 MB .* and 158 MB are allowed"
        ) as told,
    ):
        kech.compute_barcode(table, max_dimension=1)
    assert told.value.typed.endswith("--max-dimension 0. Or raise --memory by 113 MB.")


def test_a_lattice_keeps_to_what_is_left_of_the_memory():
    cells = pa.table({"a": range(2000)})
    with kech.read_table(cells, quasi_identifiers=["a"], memory="400MB") as table:
        left = kech.compute_lattice(table).memory
    with kech.read_table(cells, quasi_identifiers=["a"]) as table:
        assert kech.compute_lattice(table).memory > left > 40_000_000


def test_the_lattice_of_a_release_keeps_to_what_is_left_of_the_memory(monkeypatch):
    built = []
    monkeypatch.setattr(
        "kech.cuts.domain.build_lattice", lambda *a, **b: built.append(build_lattice(*a, **b)) or built[-1]
    )
    for limit in ("400MB", None):
        with kech.read_table(pa.table({"a": range(2000)}), quasi_identifiers=["a"], memory=limit) as table:
            kech.make_release(table, k=2, cut="domain")
    assert 40_000_000 < built[0].memory < 160_000_000 < built[1].memory


@pytest.mark.parametrize("cut", ["local", "minimal", "regime", "domain"])
@pytest.mark.parametrize("k", [2, 17])
def test_no_cut_makes_more_classes_than_there_is_memory_for(cut, k):
    """However many rows the points have: a point of 700 rows is no 350 pairs."""
    rng = np.random.default_rng(k)
    rows = np.repeat(np.arange(60), rng.choice([1, 2, 5, 40, 700], 60))
    columns = {"a": rng.integers(0, 40, 60)[rows], "b": rng.choice(list("abcdefgh"), 60)[rows]}
    with kech.read_table(pa.table(columns), quasi_identifiers=["a", "b"]) as table:
        partition = kech.make_release(table, k=k, cut=cut, grid="exact", effort="quick").partition
    assert partition.classes <= partition.points.most_classes(k) < len(rows) // k / 5


@pytest.mark.long
def test_different_sensitive_numbers_are_counted_within_the_memory(tmp_path):
    numbers, target = memory.write_numbers(tmp_path / "t.parquet", 200_000), tmp_path / "out.csv"
    code, found, peak = memory.release(numbers, target, 320)
    assert (code, found["error"]) == (5, "ManyValues")
    assert re.search(r"'s' has 199,.* different values.* about 360 MB of memory", found["message"])
    assert peak <= memory.MOST * 320
    assert not target.exists()

    code, found, peak = memory.release(numbers, target, 363)
    assert (code, found.get("rows")) == (0, 200_000)
    assert peak <= memory.MOST * 363


@pytest.mark.long
def test_releases_are_compared_within_the_memory(tmp_path):
    rows, named = memory.write_few(tmp_path / "t.parquet", 200_000), r"comparing it with earlier .* about 375 MB"
    code, found, peak = memory.release_twice(rows, tmp_path, 320)
    assert (code, found["error"]) == (5, "OutOfMemory")
    assert re.search(named, found["message"])
    assert peak <= memory.MOST * 320
    assert not (tmp_path / "second.parquet").exists()

    code, found, peak = memory.release_twice(rows, tmp_path, 375)
    assert (code, found["ledger"]["earlier"]) == (0, 1)
    assert peak <= memory.MOST * 375


@pytest.mark.long
@pytest.mark.parametrize("fault", [None, *memory.FAULTS])
def test_the_harness_sees_what_is_planted(fault, tmp_path):
    tally, small = Tally("memory"), memory.write_table(tmp_path / "t.parquet", 100)
    how = {"fault": memory.FAULTS.get(fault, "")}
    memory.follow(tally, "a small table", 319, lambda limit: memory.release(small, tmp_path / "o.csv", limit, **how))
    assert bool(tally.losses) == (fault is not None)
    assert tally.faults
