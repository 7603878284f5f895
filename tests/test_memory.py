import re
from pathlib import Path

import pytest

import memory

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return memory.write_table(tmp_path_factory.mktemp("memory") / "t.parquet")


def test_a_release_keeps_to_its_memory(table, tmp_path):
    code, found, peak = memory.release(table, tmp_path / "out.parquet", memory.LIMIT)

    assert code == 0
    assert found["rows"] == memory.ROWS
    assert found["coarse"]["step"] > 0
    assert peak <= memory.MOST * memory.LIMIT


def test_too_little_memory_is_refused_with_what_is_needed(table, tmp_path):
    code, found, _ = memory.release(table, tmp_path / "out.parquet", 150)

    assert code == 5
    assert not (tmp_path / "out.parquet").exists()
    assert found["error"] == "NeedsMemory"
    assert re.search(r"takes about [0-9]{3} MB of memory, and 150 MB are allowed", found["message"])
