"""Forms: intervals as a file writes them, read as `[low, high]`; the axis of a column says which form it has.

brackets   [22, 25]
dash       22-25, and of dates 2001-01-01/2001-12-31
columns    two columns, low and high; -inf and inf where an end is open, both empty where a value is missing

Single values, open tails (`>= 80`) and `*` are written alike in the first two.  Reading keeps different cells
different, so that classes are those of the file.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from kech.certificate.cells import Batch, TextTable
from kech.certificate.tally import Cell

FORMS = ("brackets", "dash", "columns")
DASHES = {
    "numeric": re.compile(r"([0-9.]+(?:[eE]\+?[0-9]+)?)-([0-9.]+(?:[eE]\+?[0-9]+)?)"),
    "date": re.compile(r"([-0-9:. ]+)/([-0-9:. ]+)"),
}
PLACE = re.compile("[-+.0-9]")  # how a number or a date begins
OPEN = {"-inf": "-", "-Infinity": "-", "inf": "+", "Infinity": "+"}  # as DuckDB and PostgreSQL write them too


def form_of(axis: Mapping[str, Any]) -> str:
    """The form of an axis; ValueError where it has none that is known."""
    form = str(axis.get("form", "brackets"))
    if form not in FORMS or (form != "brackets" and axis["axis"] not in DASHES):
        raise ValueError
    if form == "columns":
        low, high = axis["columns"]
        if not isinstance(low, str) or not isinstance(high, str) or low == high or type(axis["closed"]) is not bool:
            raise TypeError
    return form


def published_columns(axis: Mapping[str, Any]) -> list[str]:
    """The columns of the file that hold the labels of an axis."""
    return list(axis["columns"]) if form_of(axis) == "columns" else [axis["column"]]


def as_brackets(table: TextTable, axes: Sequence[Mapping[str, Any]]) -> TextTable:
    """The same table with one column for each axis, and every interval as `[low, high]`."""
    forms = {axis["column"]: (form_of(axis), axis) for axis in axes if form_of(axis) != "brackets"}
    readers = {name: lru_cache(maxsize=None)(_one_to_one(_READERS[form](axis))) for name, (form, axis) in forms.items()}
    parts = {axis["column"]: published_columns(axis) for axis in axes if axis["column"] in readers}
    held = {name: found for name, found in parts.items() if set(found) <= set(table.columns)}
    hidden = {part for found in held.values() for part in found}

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        spread = [held.get(name, [name]) for name in names]
        for batch in table.batches([part for found in spread for part in found]):
            cells = iter(batch)
            taken = [[next(cells) for _ in found] for found in spread]
            yield [
                list(map(readers[name], *columns)) if name in held else columns[0]
                for name, columns in zip(names, taken, strict=True)
            ]

    columns = [*(name for name in table.columns if name not in hidden), *held]
    return TextTable(columns, batches, table.label) if held else table


def _one_to_one(read: Callable[..., Cell]) -> Callable[..., Cell]:
    """A reader that reads no two cells alike: `-inf` and `-Infinity` tell rows apart.  The second is no label."""
    held: dict[Cell, tuple[Cell, ...]] = {}

    def distinct(*cells: Cell) -> Cell:
        label = read(*cells)
        return label if held.setdefault(label, cells) == cells else f"written otherwise: {cells}"

    return distinct


def _read_dash(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    pattern = DASHES[axis["axis"]]

    def read(cell: Cell) -> Cell:
        if match := pattern.fullmatch(cell or ""):
            return f"[{match[1]}, {match[2]}]"
        return f"no dash: {cell}" if cell and cell.startswith("[") else cell

    return read


def _read_columns(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    closed = axis["closed"]

    def read(low: Cell, high: Cell) -> Cell:
        if not low and not high:
            return low
        start, stop = OPEN.get(low or ""), OPEN.get(high or "")
        if (start, stop) == ("-", "+"):
            return "*"
        if start == "-" and stop is None:
            return f"{'<=' if closed else '<'} {high}"
        if stop == "+" and start is None:
            return f">= {low}"
        if low == high:
            return low if low and PLACE.match(low) else f"no place: {low}"
        return f"[{low}, {high}{']' if closed else ')'}"

    return read


_READERS = {"dash": _read_dash, "columns": _read_columns}
