"""Given: public tables that lie beside this repository, and are measured where they do."""

import csv
import random
from pathlib import Path
from typing import NamedTuple

from benchmarks.tables import ADULT


class GivenTable(NamedTuple):
    """A file whose last column is the sensitive one."""

    about: str
    source: Path
    delimiter: str
    numbers: tuple[str, ...]


GIVEN = {
    "adult": GivenTable(
        "Rows of Adult, from a census of the United States: eight columns, one of them a number.", ADULT, ";", ("age",)
    )
}


def list_given() -> list[str]:
    """The names of the public tables that are at hand."""
    return [name for name, table in GIVEN.items() if table.source.exists()]


def sample_rows(name: str, rows: int, seed: int) -> tuple[list[str], list[list[str]]]:
    """The names of the columns of a public table, and as many of its rows at random."""
    with GIVEN[name].source.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file, delimiter=GIVEN[name].delimiter)
    return header, random.Random(seed).sample(lines, rows)
