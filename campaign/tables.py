"""Tables: random columns of every kind, in every format, with bytes damaged on the way; plans and hierarchies."""

import csv
import io
import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ODD = [
    "", " ", "*", "NULL", "NA", "=1+1", "-", "a,b", 'say "a"', "a\nb", "é漢", "e\u0301", "[1, 2)", "{a, b}", "a..b",
    "<= 3", ">= x", "0", "00", "nan", "inf", "1e5", "x" * 400, "\ufeffx", "\u202e", "'", "\\", "%s", "{}",
]  # fmt: skip
NUMBERS = [0, 1, -1, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**53 + 1, 2**62, -(2**63), 1e-7, 123456789.123]
DAYS = [date(1, 1, 1), date(9999, 12, 31), date(1900, 2, 28), date(2024, 2, 29), date(1970, 1, 1)]
NAMES = ["a", "b", "c", "d", "s"]
ENDINGS = ["csv", "csv", "csv", "parquet", "parquet", "arrow", "folder"]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]
DAMAGED = 0.25  # share of sources


def write_source(rng: random.Random, folder: Path, calm: bool) -> str:
    """A table in some format, damaged now and then unless all is calm; what to call it."""
    rows = rng.choice([12, 20, 40, 60] if calm else [0, 1, 2, 3, 5, 9, 20, 40, 60])
    columns = calm_columns(rng, rows) if calm else {name: rng.choice(KINDS)(rng, rows) for name in NAMES}
    if not calm and rng.random() < 0.03:
        columns = {rng.choice(ODD): cells for cells in columns.values()}
    kind = rng.choice(ENDINGS)
    name = ("calm" if calm else rng.choice(["t", "s[12]", "a b", "é", "-x", "it's"])) + (
        f".{kind}" if kind != "folder" else ""
    )
    path = folder / name
    if kind == "csv":
        path.write_bytes(as_csv(rng, columns, "utf-8" if calm else rng.choice(ENCODINGS)))
    elif kind == "folder":
        path.mkdir()
        pq.write_table(as_arrow(columns), path / "part.parquet")
    elif kind == "parquet":
        pq.write_table(as_arrow(columns), path, compression=rng.choice(["snappy", "none", "zstd"]))
    else:
        table = as_arrow(columns)
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)
    if not calm and rng.random() < DAMAGED:
        victim = path / "part.parquet" if kind == "folder" else path
        victim.write_bytes(damage(rng, victim.read_bytes()))
    return f"./{name}"


def calm_columns(rng: random.Random, rows: int) -> dict[str, list[Any]]:
    """Columns that nothing is wrong with."""
    return {name: rng.choice(CALM)(rng, rows) for name in NAMES}


def as_csv(rng: random.Random, columns: dict[str, list[Any]], encoding: str) -> bytes:
    """Any dialect people write."""
    text = io.StringIO()
    dialect = {
        "delimiter": rng.choice([",", ",", ";", "\t", "|"]),
        "lineterminator": rng.choice(["\n", "\n", "\r\n", "\r"]),
        "quoting": rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    }
    writer = csv.writer(text, **dialect)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode(encoding, errors="replace")


def as_arrow(columns: dict[str, list[Any]]) -> pa.Table:
    """Typed where the cells are of one type, text elsewhere."""
    arrays = {}
    for name, cells in columns.items():
        try:
            arrays[name] = pa.array(cells)
        except (pa.ArrowException, OverflowError):
            arrays[name] = pa.array([None if cell is None else str(cell) for cell in cells])
    return pa.table(arrays)


def damage(rng: random.Random, content: bytes) -> bytes:
    """Bytes flipped, cut, doubled, or put in."""
    found = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8, 50])):
        at, size = rng.randrange(len(found) + 1), rng.choice([1, 1, 2, 4, 40])
        harm = rng.randrange(5)
        if harm == 0:
            found[at : at + 1] = bytes([rng.randrange(256)])
        elif harm == 1:
            del found[at : at + size]
        elif harm == 2:
            found[at:at] = found[at : at + size]
        elif harm == 3:
            found[at:at] = rng.choice([b"\0", b'"', b"\n", b"\r", b",", b"\xff", b"\xef\xbb\xbf", b"9" * 400])
        elif rng.random() < 0.2:
            del found[at:]
    return bytes(found)


# -- columns ---------------------------------------------------------------------------------------------------------

Draw = Callable[[random.Random, int], list[Any]]


def some(values: list[Any], missing: float = 0.0) -> Draw:
    """Cells from a list, some of them missing."""
    return lambda rng, rows: [None if rng.random() < missing else rng.choice(values) for _ in range(rows)]


def constant(rng: random.Random, rows: int) -> list[Any]:
    return [rng.choice(["x", 7, 0.1, None, date(2020, 1, 1), True])] * rows


def whole(rng: random.Random, rows: int) -> list[Any]:
    return [rng.randrange(-20, 90) for _ in range(rows)]


def real(rng: random.Random, rows: int) -> list[Any]:
    scale = 10.0 ** rng.randrange(-9, 15)
    return [rng.gauss(0, scale) for _ in range(rows)]


def days(rng: random.Random, rows: int) -> list[Any]:
    return [date(1990, 1, 1) + timedelta(days=rng.randrange(9000)) for _ in range(rows)]


def moments(rng: random.Random, rows: int) -> list[Any]:
    return [datetime(1990, 1, 1) + timedelta(seconds=rng.randrange(10**9)) for _ in range(rows)]


def codes(rng: random.Random, rows: int) -> list[Any]:
    return [f"{rng.randrange(99999):05}" for _ in range(rows)]


def distinct(rng: random.Random, rows: int) -> list[Any]:
    return [f"name {i}" for i in rng.sample(range(rows), rows)]


def mixed(rng: random.Random, rows: int) -> list[Any]:
    usual = rng.choice([1, "x", date(2020, 1, 1)])
    return [usual if rng.random() < 0.9 else rng.choice([*ODD, *NUMBERS]) for _ in range(rows)]


def nested(rng: random.Random, rows: int) -> list[Any]:
    return [[rng.randrange(3)] for _ in range(rows)]


KINDS: list[Draw] = [
    whole, whole, real, days, moments, codes, distinct, constant, mixed, nested,
    some(["red", "green", "blue"]), some(["x", "y", "z"], 0.2), some(ODD), some(ODD, 0.3),
    some([float(x) for x in NUMBERS]), some([*NUMBERS, float("nan"), float("inf")], 0.1), some(DAYS, 0.1),
    some([True, False], 0.1), some([None]), some([2**63 - 1, -(2**63), 0]), some([b"\xff", b"a"]),
]  # fmt: skip
CALM: list[Draw] = [
    whole, whole, real, days, moments, codes, distinct, constant, some(["red", "green", "blue"]),
    some(["x", "y", "z"], 0.2), some([True, False], 0.1), some([1.5, 2.5, 4.0], 0.1),
]  # fmt: skip


# -- plans and hierarchies -------------------------------------------------------------------------------------------

PLANS = [
    '[columns]\nquasi_identifiers = ["a", "b"]\nsensitive = ["s"]\n[goal]\nk = 2\n[cut]\neffort = "quick"\n',
    '[columns]\nquasi_identifiers = ["b"]\n[axes.b]\nkind = "set"\n[goal]\nk = 3\n[labels]\ngrid = 5.0\n',
    '[columns]\nhierarchies = "trees"\nquasi_identifiers = ["a"]\n[goal]\nk = 2\n'
    '[cut]\nstyle = "domain"\nsuppress = 0.1\n',
    '[axes.a]\nkind = "ordered"\norder = ["x", "y", "z"]\n[goal]\nk = 2\nl = 2\nt = 0.5\n',
    '[axes.a]\nhierarchy = "trees/a.csv"\ngrid = "exact"\n[goal]\nk = 2\n[cut]\nseed = 5\n',
]


def write_plan(rng: random.Random, path: Path) -> None:
    """A good plan, or one that somebody has typed in a hurry."""
    text = rng.choice(PLANS).encode()
    path.write_bytes(damage(rng, text) if rng.random() < 0.3 else text)


def write_trees(rng: random.Random, folder: Path) -> None:
    """Hierarchies of some columns, right or wrong."""
    folder.mkdir()
    leaves = rng.choice([["x", "y", "z"], [str(i) for i in range(-20, 90)], ["red", "green", "blue"], ODD])
    for name in rng.sample(NAMES, 2):
        lines = [f"{leaf},{leaf[:1] or '?'}-group,*" for leaf in leaves if not set(leaf) & set(',"\n')]
        content = "\n".join(lines).encode() + b"\n"
        (folder / f"{name}.csv").write_bytes(damage(rng, content) if rng.random() < 0.3 else content)
    if rng.random() < 0.2:
        text = rng.choice([b'{"*": {"x": null}}', b"[", b'{"*": ["x", "y", "z"]}', b'{"*": {"*": ["x"]}}', b"null"])
        (folder / "c.json").write_bytes(text)
