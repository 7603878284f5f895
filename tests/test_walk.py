"""The walk of a release: how much of the code a reader must pass."""

import re
from pathlib import Path

from walk import walk_release

PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"
MOST_PACKAGES, MOST_MODULES, MOST_DEPTH = 12, 40, 14


def test_a_release_passes_no_more_than_the_page_says(tmp_path):
    walk = walk_release(tmp_path)
    said = re.search(r"(\d+) packages, (\d+) modules, (\d+) functions, and calls (\d+) deep", PAGE.read_text("utf-8"))
    packages, modules, functions, depth = map(int, said.groups())

    assert len(walk.packages) <= packages <= MOST_PACKAGES
    assert len(walk.functions) <= modules <= MOST_MODULES
    assert sum(map(len, walk.functions.values())) <= functions
    assert len(walk.deepest) <= depth <= MOST_DEPTH


def test_the_walk_is_seen_from_the_first_call_to_the_written_file(tmp_path):
    walk = walk_release(tmp_path)

    assert {"read_table", "Table.values"} <= walk.functions["kech.tables.table"]
    assert "make_release" in walk.functions["kech.release.making"]
    assert "Release.write" in walk.functions["kech.release.release"]
    assert (tmp_path / "released.csv.certificate.json").exists()
