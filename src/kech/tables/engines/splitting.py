"""Splitting: equal rows of points that several classes share, each with a number of its own.

In: shares of points, and the columns that are published as they are.  Out: a `Split`: shares of equal rows, dealt under
a key by what rows hold, so that equal tables are dealt alike in any order, format and engine.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.tables.engines import Mapping1D, Output
from kech.tables.engines.dealing import Contents, shared_points, split_shares
from kech.tables.engines.describing import as_array
from kech.tables.engines.grouping import Grouping

MOST_SHORT = 1 << 31  # numbers that an INTEGER holds
DOING = "dealing rows to classes"


@dataclass(frozen=True, slots=True)
class Split:
    """What is dealt, and how a query finds its number: a point, or equal rows of a shared one."""

    shares: Mapping[str, NDArray[np.int64]]
    weights: NDArray[np.int64]
    cells: str = ""  # of `kept`
    joins: str = ""
    number: str = "points.p"

    @property
    def kind(self) -> str:
        """The type of a number."""
        return "INTEGER" if len(self.weights) < MOST_SHORT else "BIGINT"


class Splitting(Grouping):
    """Contents are the cells of a shared point's rows, as text; they lie in the engine under the number g."""

    def _split(
        self,
        mappings: Sequence[Mapping1D],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        key: bytes | None,
    ) -> Split:
        """Shares of equal rows in place of those of shared points; without a key points stay whole."""
        columns = list(dict.fromkeys(o.source for o in outputs if o.source is not None and not o.private))
        points = shared_points(shares, self._weights)
        if key is None or not columns or not len(points):
            return Split(shares, self._weights)
        cells = "".join(f", kept.{self._cell(i)[0]} AS x{i}" for i in columns)
        self._make_contents(mappings, points, columns, cells)
        found = " AND ".join(f"contents.e{i} = {self._content(i)}" for i in columns)
        joins = f"""LEFT JOIN {self._named("parts")} AS parts ON parts.p = points.p
            LEFT JOIN {self._named("contents")} AS contents ON contents.p = points.p AND {found}"""
        number = f"coalesce(contents.g + {len(self._weights)}, points.p)"
        return Split(*split_shares(shares, self._weights, self._read_contents(columns), key), cells, joins, number)

    def _make_contents(
        self, mappings: Sequence[Mapping1D], points: NDArray[np.int64], columns: Sequence[int], cells: str
    ) -> None:
        """A table of the equal rows of these points."""
        same = self._grouped_rows(mappings)
        self._put("shared", pa.table({"p": points}), DOING)
        self._make("parts", "SELECT p FROM shared", DOING)
        told = ", ".join(f"{self._content(i)} AS e{i}" for i in columns)
        names = ", ".join(f"e{i}" for i in columns)
        self._make(
            "contents",
            f"""SELECT row_number() OVER (ORDER BY p, {names}) - 1 AS g, grouped.* FROM (
            SELECT p, {names}, count(*) AS n FROM (SELECT points.p, {told}
            FROM ({self._coded_rows(mappings, cells)}) AS coded JOIN {self._named("points")} AS points ON {same}
            JOIN {self._named("parts")} AS parts ON parts.p = points.p) AS held GROUP BY p, {names}) AS grouped""",
            DOING,
        )

    def _read_contents(self, columns: Sequence[int]) -> Contents:
        """Hashes of the contents: of what cells read as, the same for all types, and of their letters."""
        spelled = {i: self._spelled(i) for i in columns}
        read = ", ".join(self._compared(spelled[i][0], "string", self._type(i)) for i in columns)
        exact = ", ".join(f"coalesce('v' || {text}, 'n')" for text, _ in spelled.values())
        found = self._get(
            f"""SELECT p, n, md5(concat_ws(chr(31), {read})) AS hash, md5(concat_ws(chr(31), {exact})) AS letters
            FROM {self._named("contents")} AS contents {" ".join(join for _, join in spelled.values())} ORDER BY g""",
            DOING,
        )
        texts = [found[name].to_pylist() for name in ("hash", "letters")]
        return Contents(as_array(found, "p", np.int64), as_array(found, "n", np.int64), *texts)

    def _content(self, column: int) -> str:
        """A cell of a shared point as text that equal rows share; NULL elsewhere, where nothing need be read."""
        cell, text = f"coded.x{column}", self.dialect.text(f"coded.x{column}", self._cell(column)[1])
        return f"CASE WHEN parts.p IS NULL THEN NULL WHEN {cell} IS NULL THEN 'n' ELSE 'v' || {text} END"

    def _cell(self, column: int) -> tuple[str, str]:
        """How a column is held in `kept`, and its type."""
        return f"c{column}", self.types[column]

    def _spelled(self, column: int) -> tuple[str, str]:
        """The text of a cell in the contents, and the join that finds it."""
        return f"CASE WHEN contents.e{column} <> 'n' THEN substr(contents.e{column}, 2) END", ""

    @abstractmethod
    def _compared(self, cell: str, type: str, kind: str) -> str:
        """A cell of any type as text that is the same for all types it could have."""
