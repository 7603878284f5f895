"""Batches: record batches of rows, while a backend loads them and while a release is written.

While rows are loaded, texts become numbers, so that each text is stored once and rows are narrow: columns c<i> become
k<i>.  While a release is written, rows come in a secret order, each with the number of its point.  They get classes
and labels, and leave in batches of one size.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kech._kernels import RowShuffle, ShareDraw, Words
from kech.errors import ResourceError

Ints = NDArray[np.int64]
SIZES = (100_000, 10_000, 1_000)  # rows of a published batch: the largest size that is likely to need at most
AT_ONCE = 1 << 26  # bytes
NO_CLASS = -1  # the class of rows that are not published
FEW_LABELS = 1000  # that every batch may list


@dataclass(frozen=True, slots=True, repr=False)
class Output:
    """A column of the release: labels of a quasi-identifier, or a column of the source, unchanged."""

    name: str
    source: int | None  # None for labels
    labels: Sequence[str | None] = ()  # one for each class
    typed: bool = False  # convert text to numbers or dates where the whole column can be read so
    private: bool = False  # unchanged text or whole numbers of the source, for its owner only


class RowAssigner:
    """Finds the class of each row; at random where several classes share equal rows, or some are suppressed.

    The draw does not depend on the order of the rows, so the position of a row in the file does not reveal its class.
    """

    def __init__(self, shares: Mapping[str, Ints], weights: Ints) -> None:
        taken = shares["last"] - shares["first"] + 1
        left = weights - np.bincount(shares["point"], taken, len(weights)).astype(np.int64)
        rest = np.flatnonzero(left)
        point = np.r_[shares["point"], rest]
        order = np.argsort(point, kind="stable")
        starts = np.searchsorted(point[order], np.arange(len(weights) + 1))
        self._class = np.r_[shares["class"], np.full(len(rest), NO_CLASS)][order]
        self._first = self._class[starts[:-1]]
        self._shared = np.diff(starts) > 1
        self._shares = ShareDraw(starts, np.r_[taken, left[rest]][order])

    def assign(self, points: Ints) -> Ints:
        """The class of each row, from the number of its point."""
        classes: Ints = self._first[points]
        shared = np.flatnonzero(self._shared[points])
        if len(shared):
            classes[shared] = self._class[self._shares.draw(points[shared], draw_numbers(len(shared)))]
        return classes


def shared_points(shares: Mapping[str, Ints], weights: Ints) -> Ints:
    """Points that several classes share, or of which some rows are suppressed and others are not."""
    taken = np.bincount(shares["point"], shares["last"] - shares["first"] + 1, len(weights))
    takers = np.bincount(shares["point"], minlength=len(weights))
    return np.flatnonzero((takers > 1) | ((takers == 1) & (taken < weights)))


@dataclass(frozen=True, slots=True)
class EqualRows:
    """Groups of rows of one point whose published cells are equal, in points that several classes share."""

    point: Ints
    rows: Ints
    hashes: Sequence[str]  # of the comparable texts of the cells
    letters: Sequence[str]  # hashes of the exact texts, which order groups with equal `hashes`


def divide_shares(
    shares: Mapping[str, Ints], weights: Ints, equal_rows: EqualRows, key: bytes
) -> tuple[dict[str, Ints], Ints]:
    """The same shares, with every shared point replaced by its groups of equal rows, numbered after all points.

    The division depends on the key and the cells of the rows, not on their order: equal tables are divided equally.
    """
    shared = np.isin(shares["point"], equal_rows.point)
    point, group, taken = list_shares_with_suppressed(
        {name: values[shared] for name, values in shares.items()}, weights, equal_rows.point
    )
    row_groups, taker = order_equal_rows(equal_rows, key), interleave_takers(point, taken)
    pairs, rows = np.unique(np.stack([row_groups, group[taker]]), axis=1, return_counts=True)
    pairs, rows = pairs[:, pairs[1] != NO_CLASS], rows[pairs[1] != NO_CLASS]
    last = np.cumsum(rows) - np.r_[0, np.cumsum(rows)][np.searchsorted(pairs[0], pairs[0])]
    of_equal_rows = {"point": pairs[0] + len(weights), "class": pairs[1], "first": last - rows + 1, "last": last}
    left = weights.copy()
    left[equal_rows.point] = 0
    all_shares = {name: np.r_[values[~shared], of_equal_rows[name]] for name, values in shares.items()}
    return all_shares, np.r_[left, equal_rows.rows]


def list_shares_with_suppressed(shares: Mapping[str, Ints], weights: Ints, points: Ints) -> tuple[Ints, Ints, Ints]:
    """The shares of these points, ordered by point: point, class and number of rows.

    The suppressed rows of a point are a share more, of the class NO_CLASS.
    """
    taken, points = shares["last"] - shares["first"] + 1, np.unique(points)
    left = (weights - np.bincount(shares["point"], taken, len(weights)).astype(np.int64))[points]
    point = np.r_[shares["point"], points]
    group, rows = np.r_[shares["class"], np.full(len(points), NO_CLASS)], np.r_[taken, left]
    order = np.lexsort((group, point))
    return point[order], group[order], rows[order]


def order_equal_rows(equal_rows: EqualRows, key: bytes) -> Ints:
    """The group of equal rows of each row, ordered by point, and within a point by a hash under the key."""
    identified = zip(equal_rows.point.tolist(), equal_rows.hashes, strict=True)
    drawn = b"".join(blake2b(b"%d %b" % (p, text.encode()), key=key, digest_size=8).digest() for p, text in identified)
    order = np.lexsort((np.array(equal_rows.letters), np.frombuffer(drawn, "<u8"), equal_rows.point))
    return np.repeat(order, equal_rows.rows[order])


def interleave_takers(point: Ints, rows: Ints) -> Ints:
    """The index of the share that takes each row of a point, ordered by point; shares take turns in proportion.

    The j-th of the n rows of a share has the position (j + 1/2) / n.
    """
    taker = np.repeat(np.arange(len(rows)), rows)
    turn = (np.arange(len(taker)) - np.repeat(np.cumsum(rows) - rows, rows) + 0.5) / rows[taker]
    return taker[np.lexsort((turn, point[taker]))]


def draw_numbers(count: int) -> NDArray[np.uint64]:
    """Secret random numbers of 64 bits."""
    return np.frombuffer(secrets.token_bytes(8 * count), np.uint64)


def shuffle_rows(rows: Any, most: int) -> Iterator[Any]:
    """The rows of an Arrow table in a secret random order, in batches of `most` rows."""
    table, shuffle = rows.combine_chunks(), RowShuffle(rows.num_rows)
    for start in range(0, rows.num_rows, most):
        drawn = shuffle.draw(draw_numbers(min(most, rows.num_rows - start)))
        yield from table.take(pa.array(drawn)).to_batches()


@dataclass(frozen=True, slots=True)
class CodedValues:
    """Distinct values, and for each number the index of its value."""

    values: Any
    code: NDArray[np.int32]  # the index of the value; len(values) for NULL
    labels: bool = False  # every value is surely published

    @property
    def missing(self) -> bool:
        """Whether a number means NULL."""
        return bool((self.code == len(self.values)).any())

    @property
    def kind(self) -> Any:
        """The Arrow type of the decoded column; texts stay dictionary-encoded."""
        kind = self.values.type
        return pa.dictionary(pa.int32(), kind) if pa.types.is_string(kind) else kind

    def decode(self, numbers: NDArray[Any]) -> Any:
        """The values of these numbers; the dictionary omits values of no row, except for few labels."""
        codes, values = self.code[numbers], self.values
        missing = codes == len(values) if self.missing else None
        if not self.labels or len(values) > FEW_LABELS:
            used = np.bincount(codes, minlength=len(values) + 1)[:-1] > 0
            codes = np.r_[np.cumsum(used, dtype=np.int32) - np.int32(1), np.int32(0)][codes]
            values = values.filter(pa.array(used))
        indices = pa.array(codes, mask=missing)
        return values.take(indices) if self.kind == values.type else pa.DictionaryArray.from_arrays(indices, values)


def fill_indices(coded: Any, missing: int) -> Ints:
    """The place of each cell in the dictionary of its array; a number of its own for what is missing.

    Indices may be of a type that cannot hold that number.
    """
    return np.asarray(coded.indices.cast(pa.int64()).fill_null(missing).to_numpy(zero_copy_only=False))


def code_values(values: Any) -> CodedValues:
    """The distinct values of an Arrow array, and the index of each cell; sorted, to hide the order of the rows."""
    coded = values.dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary)
    rank = np.r_[np.argsort(order.to_numpy()), len(order)].astype(np.int32)
    return CodedValues(coded.dictionary.take(order), rank[fill_indices(coded, len(order))])


def assign_classes(
    stream: Any, assigner: RowAssigner, outputs: Sequence[Output], lists: Mapping[int, CodedValues], most: int
) -> Any:
    """The published rows, in batches of at most `most` rows.

    In: a stream with the point of each row, and o<i> for each output that is no label.  In the stream, columns in
    `lists` are numbers; the numbers of labels are those of the classes.
    """
    kinds = [lists[i].kind if i in lists else cell_type(stream.schema.field(f"o{i}").type) for i in range(len(outputs))]
    schema = pa.schema([pa.field(output.name, kind) for output, kind in zip(outputs, kinds, strict=True)])
    return pa.RecordBatchReader.from_batches(
        schema, _label(rebatch_evenly(_add_classes(stream, assigner), most), schema, lists)
    )


def cell_type(kind: Any) -> Any:
    """The type without dictionary encoding: a dictionary of the source may list values of no published row."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _label(batches: Iterable[Any], schema: Any, lists: Mapping[int, CodedValues]) -> Iterator[Any]:
    for rows in batches:
        cells: dict[str, Any] = dict(zip(rows.schema.names, rows.columns, strict=True))
        classes = {i: cells.get(f"o{i}", cells["class"]).to_numpy() for i in lists}
        columns = [
            lists[i].decode(classes[i]) if i in lists else cells[f"o{i}"].cast(field.type)
            for i, field in enumerate(schema)
        ]
        yield pa.record_batch(columns, schema=schema)


def _add_classes(stream: Any, assigner: RowAssigner) -> Iterator[Any]:
    """The rows with their classes, without the rows that are not published."""
    for batch in stream:
        classes = assigner.assign(batch.column("point").to_numpy().astype(np.int64))
        rows = pa.record_batch([*batch.columns, pa.array(classes)], names=[*batch.schema.names, "class"])
        published = classes != NO_CLASS
        yield rows if published.all() else rows.filter(pa.array(published))


# -- batches of one size ------------------------------------------------------------------------------------


def rebatch_evenly(batches: Iterable[Any], most: int = SIZES[0]) -> Iterator[Any]:
    """The same rows in batches of one size, except the last: earlier boundaries would reveal where rows are left out.

    The size follows from the bytes of the first rows and from `most`.
    """
    waiting: list[Any] = []
    count, size = 0, 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if not size and count >= SIZES[-1]:
            size = count_fitting(join_batches(waiting).slice(0, SIZES[-1]), most)
        while size and count >= size:
            whole = join_batches(waiting)
            yield whole.slice(0, size)
            waiting, count = [whole.slice(size)], count - size
    if count:
        yield join_batches(waiting)


def count_fitting(sample: Any, most: int) -> int:
    """How many rows of the size of these make a batch."""
    most = min(most, AT_ONCE * len(sample) // max(sample.nbytes, 1))
    return next((size for size in SIZES if size <= most), SIZES[-1])


def join_batches(batches: Sequence[Any]) -> Any:
    """Several batches as one; refused where Arrow cannot join their texts."""
    try:
        return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
    except pa.ArrowException:
        column = max(batches[0].schema.names, key=lambda name: sum(batch[name].nbytes for batch in batches))
        reason = f"Column {column!r}: the texts of neighbouring rows exceed 2 GB."
        raise ResourceError(f"{reason} Leave the column out, or shorten its texts.") from None


def read_ahead(batches: Iterable[Any]) -> Iterator[Any]:
    """The same batches; the next one is read on another thread while one is used."""
    rest = iter(batches)
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(next, rest, None)
        while (batch := pending.result()) is not None:
            pending = pool.submit(next, rest, None)
            yield batch


# -- texts become numbers while rows are read -----------------------------------------------------------


MOST_TEXTS, MOST_BYTES = 1 << 20, 1 << 26  # of the texts of a column
FEW_TEXTS, REPEATED = 1000, 2  # a column with more texts stays numbered if each repeats so often on average
TYPES = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}


class TextNumbers:
    """Numbers for the texts of several columns; a column with too many texts keeps its texts from then on."""

    def __init__(self, columns: Sequence[int], threads: int | None, most: int = MOST_BYTES) -> None:
        self.words = {column: Words() for column in columns}
        self.given_up: dict[int, Words] = {}  # the words of columns with too many texts
        self.threads = threads
        self.most = most  # bytes of the texts of a column

    def number(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Each batch with numbers in place of texts; 0 is NULL."""
        rows = 0
        with ThreadPoolExecutor(self.threads) as pool:
            for batch in batches:
                rows += batch.num_rows
                numbers = dict(zip(self.words, pool.map(number_cells, self._cells(batch)), strict=True))
                for column in [
                    i for i, words in self.words.items() if numbers[i] is None or self._too_many(words, rows)
                ]:
                    self.given_up[column] = self.words.pop(column)
                yield pa.table(dict(self._columns(batch, numbers)))

    def _cells(self, batch: Any) -> list[tuple[Words, Any]]:
        return [(words, batch.column(f"c{column}")) for column, words in self.words.items()]

    def _columns(self, batch: Any, numbers: dict[int, Any]) -> Iterator[tuple[str, Any]]:
        for name in batch.schema.names:
            column = int(name[1:])
            if column in self.words:
                yield f"k{column}", numbers[column].astype(self.kind(column))
            else:
                yield name, batch.column(name)

    def _too_many(self, words: Words, rows: int) -> bool:
        """Whether a column has too many texts, or too long ones, to number them."""
        return words.count > MOST_TEXTS or words.bytes > self.most or words.count > max(FEW_TEXTS, rows // REPEATED)

    def kind(self, column: int) -> Any:
        """The narrowest numpy type for the numbers of a column."""
        return np.min_scalar_type(self.words[column].count - 1)

    def list_words(self, column: int) -> Any:
        """The texts of a column with their numbers, NULL first; those of a given-up column are freed."""
        words = self.given_up.pop(column, None) or self.words[column]
        texts = spell_words(words)
        numbers = np.arange(words.count).astype(np.min_scalar_type(words.count - 1))
        return pa.table({f"k{column}": numbers, f"c{column}": pa.chunked_array([pa.nulls(1, texts.type), texts])})


def spell_words(words: Words) -> Any:
    """The texts with numbers 1, 2, ... as an Arrow array."""
    ends, letters = words.texts()
    return pa.Array.from_buffers(pa.large_string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(letters)])


def number_cells(words_and_cells: tuple[Words, Any]) -> NDArray[np.uint32] | None:
    """The number of each cell of an Arrow array of text; None where the texts are too long for Arrow."""
    words, cells = words_and_cells
    try:
        texts = cells.cast(pa.string())
    except pa.ArrowInvalid:
        return None
    present, ends, letters = (np.frombuffer(part or b"", np.uint8) for part in texts.buffers())
    bounds = ends.view(np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return words.number(present, texts.offset, bounds, letters)


def join_small_batches(batches: Iterable[Any], rows: int, most: int) -> Iterator[Any]:
    """Batches joined to at least `rows` rows, as far as they have at most `most` bytes together."""
    waiting: list[Any] = []
    count = size = 0
    for batch in batches:
        if waiting and size + batch.nbytes > most:
            yield join_batches(waiting)
            waiting, count, size = [], 0, 0
        waiting.append(batch)
        count, size = count + len(batch), size + batch.nbytes
        if count >= rows:
            yield join_batches(waiting)
            waiting, count, size = [], 0, 0
    if waiting:
        yield join_batches(waiting)
