"""Publishing: rows leave the engine with the labels of their classes, in an order nobody can know.

In: shares of points in classes, and the columns of a release.  Out: a stream of record batches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.tables.databases.arrow import SIZES
from kech.tables.engines import Mapping1D, Output
from kech.tables.engines.dealing import Dealer, Listed, dealt, list_values
from kech.tables.engines.dialect import WHOLE
from kech.tables.engines.splitting import Splitting

LONGEST_FLOAT = 24  # no double needs more characters to be written exactly


class Publishing(Splitting):
    """Labels are listed once; cells of the source are text, or what they read as."""

    def __init__(self) -> None:
        super().__init__()
        self._piece = SIZES[0]  # rows that may be on their way at a time

    def publish(
        self,
        mappings: Sequence[Mapping1D],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        *,
        for_csv: bool,
        key: bytes | None = None,
    ) -> Any:
        """Each row gets the labels of its class.

        Rows leave the engine as narrow as they can, in an order nobody can know, and are dealt to their classes here:
        where several share equal rows, or some of these are suppressed, by a draw of its own for each row.
        """
        same = self._grouped_rows(mappings)
        split = self._split(mappings, shares, outputs, key)
        lists = self._lists(outputs, for_csv)
        cells = {
            f"o{i}": f"kept.{self._keys(o.source)[0]}" if i in lists else self._published(o, i, for_csv)
            for i, o in enumerate(outputs)
            if o.source is not None
        }
        also = "".join(f", {cell} AS {name}" for name, cell in cells.items()) + split.cells
        columns = [o.source for i, o in enumerate(outputs) if o.source is not None and i not in lists]
        told = ", ".join(f"{cell} AS {self.dialect.quote(outputs[int(cell[1:])].name)}" for cell in cells)
        stream = self._shuffled(
            f"""SELECT CAST({split.number} AS {split.kind}) AS p{told and ", " + told}
            FROM ({self._coded_rows(mappings, also, columns)}) AS coded
            JOIN {self._named("points")} AS points ON {same} {split.joins}""",
            "coded.r",
        )  # refusals on the way name columns of the table
        named = renamed(stream, ["p", *cells])
        return dealt(named, Dealer(split.shares, split.weights), outputs, lists, self._piece)

    def _shuffled(self, query: str, row: str) -> Any:
        """What a query finds, in an order nobody can know."""
        return self._stream(f"{query} ORDER BY {self.dialect.secret(row)}")

    def _lists(self, outputs: Sequence[Output], for_csv: bool) -> dict[int, Listed]:
        """For outputs that are no cells of the table, the labels of the classes as they are published, each once."""
        lists = {i: list_values(pa.array(o.labels, pa.string())) for i, o in enumerate(outputs) if o.source is None}
        if for_csv and lists:
            texts = pa.chunked_array([found.values for found in lists.values()])
            self._put("labels", pa.table({"i": np.arange(len(texts)), "l": texts}), "loading labels")
            query = f"SELECT {self.dialect.harmless('l')} AS x FROM labels ORDER BY i"
            written, start = self._get(query, "loading labels")["x"].cast(pa.string()), 0
            for i, found in lists.items():
                lists[i] = replace(found, values=written.slice(start, len(found.values)).combine_chunks())
                start += len(found.values)
        return {i: replace(found, labels=True) for i, found in lists.items()}

    def _published(self, output: Output, position: int, for_csv: bool) -> str:
        """Labels and text, defused for CSV; numbers and dates; anything else as text."""
        sql = self.dialect
        if output.source is None:
            return sql.harmless(f"l{position}") if for_csv else f"l{position}"
        cell, kind = f"kept.c{output.source}", self._type(output.source)
        if output.private:
            return sql.text(cell, self.types[output.source])
        if kind == "other" or (kind == "text" and for_csv):
            text = sql.text(cell, self.types[output.source])
            return sql.harmless(text) if for_csv else text
        return self._typed(cell, output.source) if kind == "text" and output.typed else cell

    def _typed(self, cell: str, column: int) -> str:
        """Text that reads as numbers or dates throughout, and loses nothing by it, becomes what it reads as."""
        facts, sql = self.describe(column), self.dialect
        text = f"trim({sql.text('value', self.types[column])})"
        ((whole, longest),) = self._rows(
            f"""SELECT min(CASE WHEN {sql.matches(text, WHOLE)} THEN 1 ELSE 0 END),
            coalesce(max(length({text})), 0) FROM {self._named(f"v{column}")} WHERE value IS NOT NULL""",
            "publishing",
        )
        present = facts.rows - facts.nulls
        exact = not facts.zero_padded and facts.longest <= 15 and longest <= LONGEST_FLOAT
        trimmed = f"trim({cell})"
        if present and facts.numbers == present and exact:
            return f"CAST({trimmed} AS BIGINT)" if whole else sql.number(trimmed)
        if present and facts.dates == present:
            return f"CAST({trimmed} AS DATE)" if longest == len("2020-12-31") else sql.moment(trimmed)
        return cell


def renamed(stream: Any, names: Sequence[str]) -> Any:
    """The columns of a stream under other names."""
    schema = pa.schema([field.with_name(name) for field, name in zip(stream.schema, names, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, (pa.record_batch(b.columns, schema=schema) for b in stream))
