"""Dealing: rows that come as numbers of their points get classes and labels, a batch at a time.

In: batches in a secret order, each row the number of its point and the cells that are published as they are.
Out: batches as they are published.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech._kernels import Urns
from kech.engines import Output

Ints = NDArray[np.int64]
NOBODY = -1  # the class of rows that are not published
LABEL = pa.dictionary(pa.int32(), pa.string())


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
            chance = np.frombuffer(secrets.token_bytes(8 * len(shared)), np.uint64)
            classes[shared] = self._class[self._urns.draw(points[shared], chance)]
        return classes


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one column: each text once, and which of them every class has."""

    texts: Any
    code: NDArray[np.int32]  # one more than the last where a class has none

    def of(self, classes: Ints) -> Any:
        """The label of each row, by its class; texts that no row has are left out."""
        codes = self.code[classes]
        used = np.bincount(codes, minlength=len(self.texts) + 1)[:-1] > 0
        place = np.r_[np.cumsum(used, dtype=np.int32) - np.int32(1), np.int32(0)]
        listed = pa.array(place[codes], mask=codes == len(self.texts))
        return pa.DictionaryArray.from_arrays(listed, self.texts.filter(pa.array(used)))


def list_labels(labels: Sequence[str | None]) -> Labels:
    """The labels of all classes."""
    coded = pa.array(labels, pa.string()).dictionary_encode()
    return Labels(coded.dictionary, coded.indices.fill_null(len(coded.dictionary)).to_numpy())


def dealt(stream: Any, dealer: Dealer, outputs: Sequence[Output], labels: Mapping[int, Labels]) -> Any:
    """Rows as they are published; columns of the stream are p, and o<i> for each output that is no label."""
    kinds = [LABEL if i in labels else stream.schema.field(f"o{i}").type for i in range(len(outputs))]
    schema = pa.schema([pa.field(output.name, kind) for output, kind in zip(outputs, kinds, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, _dealt(stream, dealer, schema, labels))


def _dealt(stream: Any, dealer: Dealer, schema: Any, labels: Mapping[int, Labels]) -> Iterator[Any]:
    for batch in stream:
        classes = dealer.deal(batch.column("p").to_numpy().astype(np.int64))
        published = classes != NOBODY
        rows = batch if published.all() else batch.filter(pa.array(published))
        theirs = classes[published]
        columns = [labels[i].of(theirs) if i in labels else rows.column(f"o{i}") for i in range(len(schema))]
        yield pa.record_batch(columns, schema=schema)
