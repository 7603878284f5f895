"""Tables: what is released in the benchmark: a made-up town of any size and, where it lies beside us, Adult."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from kech.tables.demo import generate_town, write_csv

SEED = 7
ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult.csv"


@dataclass(frozen=True)
class BenchTable:
    """One table: as kech gets it, and as tools get it that know only numbers, text and commas."""

    name: str
    rows: int
    source: Path
    plain: Path
    quasi_identifiers: tuple[str, ...]
    numbers: tuple[str, ...]
    sensitive: str
    delimiter: str = ","
    like_peers: tuple[str, ...] = ("--grid", "exact")  # options with which kech prints labels like theirs


def make_tables(folder: Path, sizes: Sequence[int]) -> Iterator[BenchTable]:
    """Each table is made when its turn comes."""
    if ADULT.exists():
        yield adult(folder)
    for people in sizes:
        yield town(folder, people)


def town(folder: Path, people: int) -> BenchTable:
    """The town; dates become days since 1970 for the peers."""
    table = generate_town(people, SEED)
    days = pc.cast(pc.cast(table["moved_in"], pa.date32()), pa.int32())
    plain = table.set_column(table.column_names.index("moved_in"), "moved_in", days)
    return BenchTable(
        "town",
        people,
        write_csv(table, folder / f"town-{people}.csv"),
        write_csv(plain, folder / f"town-{people}-plain.csv"),
        ("age", "sex", "zip", "moved_in", "schooling", "job"),
        ("age", "moved_in"),
        "diagnosis",
        like_peers=("--grid", "exact", "--axis", "zip=" + "<".join(sorted(set(table["zip"].to_pylist())))),
    )


def adult(folder: Path) -> BenchTable:
    """Adult, all columns but the salary class as quasi-identifiers."""
    table = pyarrow.csv.read_csv(ADULT, parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    *names, sensitive = table.column_names
    plain = write_csv(table, folder / "adult-plain.csv")
    return BenchTable("Adult", table.num_rows, ADULT, plain, tuple(names), ("age",), sensitive, ";")
