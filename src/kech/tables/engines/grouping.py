"""Grouping: coded rows as points, and engines of what is left when some points leave.

In: mappings of values to codes.  Out: points; tables m0, m1, ... with the part of each value in the number of a row.
"""

import weakref
from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.errors import TooManyPoints
from kech.tables.engines import Mapping1D
from kech.tables.engines.describing import Describing, as_array
from kech.tables.engines.packing import Packing


class Grouping(Describing):
    """One table and everything made from it; `without` gives further engines on the same connection."""

    def __init__(self) -> None:
        super().__init__()
        self._whole: Self | None = None  # of what is left of a table, which keeps it open
        self._rests = 0
        self._grouped: Sequence[Mapping1D] = ()
        self._weights = np.zeros(0, np.int64)  # rows of the points of these
        self._loaded: Sequence[Mapping1D] = ()  # whose codes lie in the engine

    def close(self) -> None:
        """Forget all rows; what `without` gave is forgotten together with the whole."""
        if self._whole is None:
            self._shut()

    def group(
        self, mappings: Sequence[Mapping1D], most: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Code every row in one number, or a few, and GROUP BY that."""
        self._grouped = ()  # the points of before are not of these codes
        packing = Packing(mappings)
        keys = ", ".join(packing.names)
        self._make(
            "points",
            f"""SELECT row_number() OVER (ORDER BY {keys}) - 1 AS p, grouped.* FROM (SELECT {keys}, count(*) AS n
            FROM ({self._coded_rows(mappings)}) AS coded GROUP BY {keys}) AS grouped ORDER BY p""",
            "grouping rows",
        )
        if most is not None and self.describe(mappings[0].column).rows > most:
            self._check_points(most)
        found = self._get(f"SELECT {keys}, n FROM {self._named('points')} ORDER BY p", "grouping rows")
        self._grouped, self._weights = mappings, as_array(found, "n", np.int64)
        return packing.unpack(found), self._weights

    def _check_points(self, most: int) -> None:
        ((found,),) = self._rows(f"SELECT count(*) FROM {self._named('points')}", "grouping rows")
        if found > most:
            raise TooManyPoints(found, most)

    def code_rows(self, mappings: Sequence[Mapping1D], every: int = 1) -> NDArray[np.int32]:
        """Codes of every row, or of each n-th, in the order of the table."""
        query = f"{self._coded_rows(mappings)} WHERE kept.r % {int(every)} = 0 ORDER BY kept.r"
        return Packing(mappings).unpack(self._get(query, "coding rows"))

    def without(self, mappings: Sequence[Mapping1D], points: NDArray[np.int64]) -> Self:
        """The rows of all other points, as an engine of their own: nothing here changes."""
        same = self._grouped_rows(mappings)
        whole = self._whole or self
        whole._rests += 1
        rest = copy(self)
        rest.prefix, rest._whole, rest._made = f"rest{whole._rests}_", whole, {}
        rest._counted, rest._facts, rest._grouped, rest._loaded = set(), {}, (), ()
        weakref.finalize(rest, self._garbage.update, rest._made)  # only names: another query may be under way
        rest._put("gone", pa.table({"p": points}), "leaving rows out")
        rest._make(
            "left_out",
            f"""SELECT coded.r FROM ({self._coded_rows(mappings)}) AS coded
            JOIN {self._named("points")} AS points ON {same} JOIN gone ON gone.p = points.p""",
            "leaving rows out",
        )
        rest._define(
            rest._new("kept", "VIEW"),
            f"""SELECT kept.* FROM {self._named("kept")} AS kept WHERE NOT EXISTS
            (SELECT 1 FROM {rest._named("left_out")} AS left_out WHERE left_out.r = kept.r)""",
        )
        return rest

    def _grouped_rows(self, mappings: Sequence[Mapping1D]) -> str:
        """Points of these codes; the condition under which a coded row is of a point."""
        if self._grouped is not mappings:
            self.group(mappings)
        return " AND ".join(f"coded.{key} = points.{key}" for key in Packing(mappings).names)

    def _coded_rows(self, mappings: Sequence[Mapping1D], also: str = "", columns: Sequence[int] = ()) -> str:
        """The query for coded rows, and what else is wanted of `kept`: of these columns, as they were read."""
        packing = Packing(mappings)
        if self._loaded is not mappings:
            self._loaded = ()
            for mapping, stride in zip(mappings, packing.strides, strict=True):
                self._load(mapping, stride)
            self._loaded = mappings
        loaded = [self._found(m, stride) for m, stride in zip(mappings, packing.strides, strict=True)]
        sums = [" + ".join(loaded[j][0] for j in held) for held in packing.keys]
        keys = ", ".join(f"{added} AS {name}" for name, added in zip(packing.names, sums, strict=True))
        joins = " ".join(join for _, join in loaded)
        return f"SELECT kept.r, {keys}{also} FROM {self._as_read(columns)} AS kept {joins}"

    def _keys(self, column: int) -> tuple[str, str, bool]:
        """How a column is held, a table of its keys with their values, and whether some rows have none."""
        missing = self.describe(column).nulls > 0
        return f"c{column}", f"(SELECT value AS key, value FROM {self._named(f'v{column}')})", missing

    def _load(self, mapping: Mapping1D, stride: int) -> None:
        """A table with the part of each value in the number of a row."""
        column, kind = mapping.column, pa.string() if mapping.kind == "text" else pa.float64()
        _, key_table, _ = self._keys(column)
        loaded = {"x": pa.array(mapping.values, kind), "part": pa.array(mapping.codes.astype(np.int64) * stride)}
        self._put("mapping", pa.table(loaded), "loading codes")
        self._make(
            f"m{column}",
            f"""SELECT key, coalesce(part, {mapping.null * stride}) AS part
            FROM (SELECT key, {self._reads(column, mapping.kind)} AS x FROM {key_table} AS keyed) AS read
            LEFT JOIN mapping ON mapping.x = read.x""",
            "loading codes",
        )

    def _found(self, mapping: Mapping1D, stride: int) -> tuple[str, str]:
        """The part of a value in the number of a row, and the join that finds it."""
        column = mapping.column
        name, _, missing = self._keys(column)
        join = f"JOIN {self._named(f'm{column}')} AS m{column} ON m{column}.key = kept.{name}"
        if missing:
            return f"coalesce(m{column}.part, {mapping.null * stride})", f"LEFT {join}"
        return f"m{column}.part", join
