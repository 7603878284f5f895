"""Dealing: rows that come as numbers of their points get classes and labels, a batch at a time.

In: batches in a secret order, each row the number of its point and the cells that are published as they are.
Out: batches as they are published.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kech._kernels import Deck, Urns
from kech.databases.arrow import even
from kech.engines import Output

Ints = NDArray[np.int64]
NOBODY = -1  # the class of rows that are not published
FEW = 1000  # labels that may be listed in every batch


class Dealer:
    """Who gets a row: where several classes share a point, or some of its rows are suppressed, a ticket decides.

    Tickets are drawn by a chance that has nothing to do with the order of the rows, so the place of a row in the file
    says nothing about how it was dealt.
    """

    def __init__(self, shares: Mapping[str, Ints], weights: Ints) -> None:
        taken = shares["last"] - shares["first"] + 1
        left = weights - np.bincount(shares["p"], taken, len(weights)).astype(np.int64)
        rest = np.flatnonzero(left)
        point = np.r_[shares["p"], rest]
        order = np.argsort(point, kind="stable")
        starts = np.searchsorted(point[order], np.arange(len(weights) + 1))
        self._class = np.r_[shares["class"], np.full(len(rest), NOBODY)][order]
        self._first = self._class[starts[:-1]]
        self._shared = np.diff(starts) > 1
        self._urns = Urns(starts, np.r_[taken, left[rest]][order])

    def deal(self, points: Ints) -> Ints:
        """The class of each row, by its point."""
        classes: Ints = self._first[points]
        shared = np.flatnonzero(self._shared[points])
        if len(shared):
            classes[shared] = self._class[self._urns.draw(points[shared], chances(len(shared)))]
        return classes


def chances(count: int) -> NDArray[np.uint64]:
    """Numbers that nobody can know."""
    return np.frombuffer(secrets.token_bytes(8 * count), np.uint64)


def shuffled(rows: Any, most: int) -> Iterator[Any]:
    """The rows of an Arrow table in an order nobody can know, so many at a time."""
    held, deck = rows.combine_chunks(), Deck(rows.num_rows)
    for start in range(0, rows.num_rows, most):
        cards = deck.draw(chances(min(most, rows.num_rows - start)))
        yield from held.take(pa.array(cards)).to_batches()


@dataclass(frozen=True, slots=True)
class Listed:
    """Values that are each held once, and which of them every number stands for."""

    values: Any
    code: NDArray[np.int32]  # one more than the last where a number stands for nothing
    labels: bool = False  # each is published for certain

    @property
    def missing(self) -> bool:
        """Whether a number stands for nothing."""
        return bool((self.code == len(self.values)).any())

    @property
    def kind(self) -> Any:
        """The type of a column of them; texts stay listed."""
        kind = self.values.type
        return pa.dictionary(pa.int32(), kind) if pa.types.is_string(kind) else kind

    def of(self, numbers: NDArray[Any]) -> Any:
        """The value of each row; what no row has is left out, but for a few labels, which other rows have."""
        codes, values = self.code[numbers], self.values
        missing = codes == len(values) if self.missing else None
        if not self.labels or len(values) > FEW:
            used = np.bincount(codes, minlength=len(values) + 1)[:-1] > 0
            codes = np.r_[np.cumsum(used, dtype=np.int32) - np.int32(1), np.int32(0)][codes]
            values = values.filter(pa.array(used))
        indices = pa.array(codes, mask=missing)
        return values.take(indices) if self.kind == values.type else pa.DictionaryArray.from_arrays(indices, values)


def list_values(values: Any) -> Listed:
    """What an Arrow array holds at each place; the list is sorted, so it does not tell what came first."""
    coded = values.dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary)
    place = np.r_[np.argsort(order.to_numpy()), len(order)].astype(np.int32)
    return Listed(coded.dictionary.take(order), place[coded.indices.fill_null(len(order)).to_numpy()])


def dealt(stream: Any, dealer: Dealer, outputs: Sequence[Output], lists: Mapping[int, Listed], most: int) -> Any:
    """Rows as they are published, so many at a time at most: columns of the stream are p, and o<i> for each output
    that is no label.

    What is listed stands there as a number, and labels have the numbers of the classes.
    """
    kinds = [lists[i].kind if i in lists else spelled(stream.schema.field(f"o{i}").type) for i in range(len(outputs))]
    schema = pa.schema([pa.field(output.name, kind) for output, kind in zip(outputs, kinds, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, _dealt(even(_published(stream, dealer), most), schema, lists))


def spelled(kind: Any) -> Any:
    """The type of cells that are spelled out: a dictionary of the source may list what no published row holds."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _dealt(batches: Iterable[Any], schema: Any, lists: Mapping[int, Listed]) -> Iterator[Any]:
    for rows in batches:
        cells: dict[str, Any] = dict(zip(rows.schema.names, rows.columns, strict=True))
        found = {i: cells.get(f"o{i}", cells["class"]).to_numpy() for i in lists}
        columns = [
            lists[i].of(found[i]) if i in lists else cells[f"o{i}"].cast(field.type) for i, field in enumerate(schema)
        ]
        yield pa.record_batch(columns, schema=schema)


def _published(stream: Any, dealer: Dealer) -> Iterator[Any]:
    """Rows with their classes, without those of nobody."""
    for batch in stream:
        classes = dealer.deal(batch.column("p").to_numpy().astype(np.int64))
        rows = pa.record_batch([*batch.columns, pa.array(classes)], names=[*batch.schema.names, "class"])
        published = classes != NOBODY
        yield rows if published.all() else rows.filter(pa.array(published))
