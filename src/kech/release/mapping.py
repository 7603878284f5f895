"""Mapping: which values of the original stand behind the labels of each class; PRIVATE, written only when asked for.

In: the rows of a release on their way into the file, each with its original values.  Out: a JSON document.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from kech.system.files import clear_refusals, put_in_place, written_aside

Cell: TypeAlias = str | None

BANNER = (
    "PRIVATE: not for publication. Whoever has this file and the release undoes the release. Keep it as you keep the "
    "original, or delete it."
)


class ValueTally:
    """Counts the original values of every class while rows pass by."""

    many = 100_000  # rows that are counted together

    def __init__(self, labels: Sequence[str], columns: Sequence[str]) -> None:
        self.labels = list(labels)  # the published columns of the quasi-identifiers
        self.columns = list(columns)  # the quasi-identifiers
        self.counts: list[Counter[tuple[Cell, ...]]] = [Counter() for _ in self.columns]  # (*labels, value) -> rows

    def watch(self, stream: Any) -> Any:
        """The stream without the original values, which are its last columns."""
        schema = pa.schema([stream.schema.field(i) for i in range(len(stream.schema) - len(self.columns))])
        return pa.RecordBatchReader.from_batches(schema, self._passing(stream, schema))

    def _passing(self, stream: Any, schema: Any) -> Iterator[Any]:
        held: list[Any] = []
        for batch in stream:
            held.append(batch)
            yield pa.record_batch(batch.columns[: len(schema)], schema=schema)
            if sum(map(len, held)) >= self.many:
                self._count(held, schema)
                held = []
        self._count(held, schema)

    def _count(self, batches: Sequence[Any], schema: Any) -> None:
        if not batches:
            return
        columns = pa.Table.from_batches(batches).columns
        labels = [columns[schema.get_field_index(name)] for name in self.labels]
        names = [str(i) for i in range(len(labels) + 1)]
        for counts, column in zip(self.counts, columns[len(schema) :], strict=True):
            found = pa.table([*labels, column], names=names).group_by(names).aggregate([([], "count_all")])
            keys = zip(*(found[name].to_pylist() for name in names), strict=True)
            counts.update(dict(zip(keys, found["count_all"].to_pylist(), strict=True)))

    def to_json(self, released: str) -> dict[str, Any]:
        """Classes in the order of their labels; `released` is the SHA-256 of the file they are in."""
        classes: defaultdict[tuple[Cell, ...], dict[str, list[tuple[Cell, int]]]] = defaultdict(dict)
        for column, counts in zip(self.columns, self.counts, strict=True):
            for key, rows in counts.items():
                classes[key[:-1]].setdefault(column, []).append((key[-1], rows))
        listed = [
            {
                "rows": sum(rows for _, rows in values[self.columns[0]]),
                "labels": dict(zip(self.labels, labels, strict=True)),
                "values": {name: sorted(pairs, key=lambda pair: in_order(pair[:1])) for name, pairs in values.items()},
            }
            for labels, values in sorted(classes.items(), key=lambda item: in_order(item[0]))
        ]
        return {"private": True, "notice": BANNER, "released": released, "classes": listed}

    def text(self, released: str) -> str:
        """The document as it is written, a class on each line."""
        document = self.to_json(released)
        lines = [json.dumps(one, ensure_ascii=False) for one in document.pop("classes")]
        return json.dumps(document, ensure_ascii=False)[:-1] + ', "classes": [\n' + ",\n".join(lines) + "\n]}\n"


@dataclass(frozen=True, slots=True)
class MappingDraft:
    """A mapping that is put in place together with its release; one without a target is none."""

    tally: ValueTally | None = None
    draft: Path = Path()
    target: Path = Path()

    def fill(self, released: str) -> None:
        """Write the draft, once all rows have passed by."""
        if self.tally is not None:
            self.draft.write_text(self.tally.text(released), "utf-8")

    def put_in_place(self) -> None:
        """Give it its name, readable to its owner only."""
        if self.tally is not None:
            put_in_place({self.draft: self.target}, private=True)


@contextmanager
def mapping_aside(target: Path | None, tally: ValueTally) -> Iterator[MappingDraft]:
    """A private draft beside the target, which is gone afterwards unless it was put in place."""
    if target is None:
        yield MappingDraft()
        return
    with clear_refusals(target), written_aside(target) as draft:
        yield MappingDraft(tally, draft, target)


def in_order(cells: Sequence[Cell]) -> list[tuple[bool, str]]:
    """Missing cells after all others."""
    return [(cell is None, cell or "") for cell in cells]
