"""Memory: how much of it a user allows, and how much each step of the work needs.

One table of figures in bytes.  Each was chosen so that the peak of the whole process stays within 1.3 times --memory:
`make memory` (campaign/memory.py) measures it in child processes, on tables of several shapes.
"""

import re
from collections.abc import Sequence

from kech.errors import OutOfMemory, ResourceError, megabytes
from kech.system import machine

# the program itself: tables, points, release
BASE_BYTES = 240_000_000  # Python, Arrow and the kernels, before a row is read
LEAST_BYTES = 320_000_000  # the smallest --memory: the program and a small table
MACHINE_SHARE = 0.8  # of the memory of the machine, which is allowed without --memory
# DuckDB: tables.duckdb, tables.duckdb_files
DUCKDB_SHARE = 0.3  # of --memory; points, classes and the interpreter need the rest
WRITTEN_SHARE, WORDS_SHARE = 0.1, 0.1  # of --memory for rows that are written, and for words while rows are read
SHUFFLED_BYTES = 1 << 30  # of rows that are shuffled in Python, without --memory
ROW_NUMBER_BYTES = 4  # the number of a shuffled row
THREAD_BYTES = 400_000_000  # a thread: with less, DuckDB cannot even spill
BATCH_ROW_BYTES = 25_000  # a row of a batch
SMALL_BYTES = 600_000_000  # a small --memory: DuckDB hands over shorter batches
BATCHES, GATHERED_BYTES = 20, 1 << 28  # batches that must fit in memory, and bytes of joined small batches
LINE_BYTES, LINES = 1 << 25, 6  # the longest line of CSV, and how many such lines DuckDB's memory must hold
JOIN_BYTES, BLOCKS = 6_000_000, 4  # a join, and how many blocks it may request
FILE_SHARE, FILE_SHARE_BEYOND = 0.1, 0.3  # for writing a file: of --memory, or of --memory without BASE_BYTES
# PostgreSQL: tables.postgres
SORT_PART = 8  # each sort or join of a query gets --memory divided by this
# values of a column of text: tables.table
TEXT_BYTES = 60  # a text beside its letters
TEXT_COPIES = 8  # of a text that are in memory at once
TEXT_SHARE = 0.1  # of --memory, which texts may always use
# points and classes: points.points
ENGINE_POINT_BYTES = 5000  # a point, with the memory of the engine: so many points are always allowed
POINT_BYTES, AXIS_BYTES = 700, 70  # a point while it is cut and published, and each of its codes
GRAIN_BYTES = 150  # a grain: the rows of a point with the same sensitive values
CLASS_BYTES = 700  # a class with its labels
HELD_POINT_BYTES, HELD_CLASS_BYTES = 80, 320  # in the partition of each further k of a spectrum
SAMPLE_ROW_BYTES = 3000  # a row of the sample from which the step of coarse axes is found
# values of a sensitive column, counted in the written file: points.points
VALUE_BYTES = 200  # a value of any column
VALUE_FIGURE_BYTES = 250  # a value of the column that is being counted
# hiding radii: topology.profile
RADIUS_BYTES = 8  # a point, at each k
# a lattice and its paths: topology.lattice, topology.rollup, topology.zigzag
NODE_SIZE_BYTES = 12  # a class size of a node
SETTLED_BYTES = 8  # a class of a node: how many people are in no other
PERSON_CLASS_BYTES = 4  # a person and a class of a node, and a person
PATH_POINT_BYTES, PATH_CLASS_BYTES = 8, 40  # at each position of a path, in the kernel and the result
# holes: topology.homology; ripser measured on boxes, Qhull and the reduction on balls of 2 to 8 axes
HOLE_BYTES = {2: 500, 3: 850, 4: 1_400}  # a point on so many axes, where boxes have holes of dimension 1
DISTANCE_BYTES, HELD_DISTANCE_BYTES = 50, 30  # the square of the points while distances are ranked, and then
RIPSER_BYTES = 70_000_000  # ripser and the libraries that it reads
RIPS_BYTES, RIPS_AXIS_BYTES = 55, 7.5  # the square of the points while ripser reduces pairs, and each axis
CORNER_BYTES = 48  # a corner of a simplex, where bars of zero length are listed
SIMPLEX_BYTES = 60  # a simplex that ripser reduces for a higher dimension
QHULL_BYTES = 30_000_000  # Qhull and the libraries that it reads
DELAUNAY_BYTES, DELAUNAY_GROWTH = 700, 1.42  # a cell of the Delaunay complex, and its growth with each axis
# comparing with earlier releases: release.admission; measured on 20,000 rows of 20 columns in four releases
ROW_BYTES = 300  # a row of a release
CELL_BYTES, CELL_COPIES = 400, 2  # a distinct cell that is published as it is, and copies of its text
CODE_BYTES = 12  # a cell of the table
TUPLE_BYTES = 40  # a row of several columns while its tuples are counted
DISTINCT_VALUE_BYTES = 150  # a distinct value of a quasi-identifier
PAIR_BYTES = 100  # a row and one more class of a release that it could be in


def working_bytes(points: int, grains: int, classes: int, values: Sequence[int]) -> int:
    """Bytes needed to cut points into classes and to publish them.

    In: bytes of all points, number of grains and classes, and the distinct values of each person or sensitive column.
    """
    return BASE_BYTES + points + grains * GRAIN_BYTES + classes * CLASS_BYTES + counting_bytes(values)


def point_bytes(axes: int) -> int:
    """Bytes of a point on so many axes while it is cut and published.

    Measured on 100,000 and 1,000,000 rows of 3 and 8 columns, for rows and for people: all estimates are 1.0 to 1.5
    times the peak.
    """
    return POINT_BYTES + AXIS_BYTES * axes


def counting_bytes(values: Sequence[int]) -> int:
    """Bytes needed to count the distinct values of sensitive columns: texts of all, figures of one column at a time."""
    return sum(values) * VALUE_BYTES + max(values, default=0) * VALUE_FIGURE_BYTES


def further_partitions_bytes(points: int, classes: Sequence[int]) -> int:
    """Bytes of the partitions of the other k of a spectrum, from the number of points and of classes at each k."""
    return sum(points * HELD_POINT_BYTES + count * HELD_CLASS_BYTES for count in classes)


def check_need(need: int, limit: int, what: str, advice: str) -> None:
    """Refuse work (`what`) that needs more bytes than the limit; `advice` is a sentence with what to do."""
    if need > limit:
        sizes = f"{megabytes(need)} of memory or more, and {megabytes(limit)} are allowed"
        raise ResourceError(f"{what} may need {sizes}. {advice} Or raise --memory by {megabytes(need - limit)}.")


def half_the_memory() -> int:
    """Half of the memory of this machine, in bytes."""
    return machine.sysconf("SC_PAGE_SIZE") * machine.sysconf("SC_PHYS_PAGES") // 2


def check_memory(memory: str | None) -> str | None:
    """The limit, refused where it is less than what kech needs for itself."""
    if memory is not None and (size := in_bytes(memory)) < LEAST_BYTES:
        raise OutOfMemory("starting", size, LEAST_BYTES)
    return memory


def allowed_bytes(memory: str | None) -> int:
    """The limit in bytes; without one, 80 % of the memory of the machine."""
    if memory:
        return in_bytes(memory)
    return int(MACHINE_SHARE * machine.sysconf("SC_PAGE_SIZE") * machine.sysconf("SC_PHYS_PAGES"))


def limit_of(memory: str | None) -> int | None:
    """The limit in bytes; None without one."""
    return in_bytes(memory) if memory else None


def in_bytes(memory: str) -> int:
    """A checked size such as 2GB, in bytes."""
    number, power = re.match(r"([\d.]+)\s*([KMGT])", memory.upper()).groups()  # type: ignore[union-attr]
    return int(float(number) * (1024 if "I" in memory.upper() else 1000) ** ("KMGT".index(power) + 1))
