"""Arrow types that every database knows; others are turned into them where nothing is lost.  Batches of one size."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from kech.errors import BadColumns, ResourceError

SIZES = (100_000, 10_000, 1_000)  # rows of a published batch: the first of them whose rows are likely to fit into
AT_ONCE = 1 << 26  # bytes


def plain_type(field: Any, path: object) -> Any:
    """The plain type that holds all values of a column."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_integer(kind):
        return plain_integer(kind)
    if pa.types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= 38:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz and "UTC")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    simple = {pa.null(): pa.string(), pa.date64(): pa.date32()}
    simple |= {same: same for same in (pa.bool_(), pa.float32(), pa.float64(), pa.date32())}
    if kind in simple:
        return simple[kind]
    reason = f"column {field.name!r} is of type {field.type}. Convert it to text, a number or a date."
    raise BadColumns(path, reason)


def plain_integer(kind: Any) -> Any:
    """The smallest type with a sign that holds all values."""
    bits = kind.bit_width + pa.types.is_unsigned_integer(kind)
    return next((type for type in (pa.int16(), pa.int32(), pa.int64()) if bits <= type.bit_width), pa.decimal128(20))


def as_plain(batch: Any, path: object) -> Any:
    """Rows in plain types; a column that would lose something is refused by name."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        try:
            columns.append(column.cast(plain_type(field, path)))
        except pa.ArrowException:
            raise BadColumns(path, f"column {field.name!r} holds values finer than a database keeps.") from None
    return pa.record_batch(columns, names=batch.schema.names)


def even(batches: Iterable[Any], most: int = SIZES[0]) -> Iterator[Any]:
    """The same rows in batches of one size, but for the last: where they were parted before tells of rows left out.

    The size follows from the first of the rows alone, and from how many there is memory for.
    """
    held: list[Any] = []
    count, size = 0, 0
    for batch in batches:
        held.append(batch)
        count += len(batch)
        if not size and count >= SIZES[-1]:
            size = fitting(together(held).slice(0, SIZES[-1]), most)
        while size and count >= size:
            whole = together(held)
            yield whole.slice(0, size)
            held, count = [whole.slice(size)], count - size
    if count:
        yield together(held)


def gathered(batches: Iterable[Any], rows: int, most: int) -> Iterator[Any]:
    """Small batches together, so that each has about so many rows, and no more bytes than can be held at once."""
    held: list[Any] = []
    count = size = 0
    for batch in batches:
        if held and size + batch.nbytes > most:
            yield together(held)
            held, count, size = [], 0, 0
        held.append(batch)
        count, size = count + len(batch), size + batch.nbytes
        if count >= rows:
            yield together(held)
            held, count, size = [], 0, 0
    if held:
        yield together(held)


def fitting(sample: Any, most: int) -> int:
    """How many rows like these are a batch."""
    most = min(most, AT_ONCE * len(sample) // max(sample.nbytes, 1))
    return next((size for size in SIZES if size <= most), SIZES[-1])


def together(batches: Sequence[Any]) -> Any:
    """Batches as one."""
    try:
        return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
    except pa.ArrowException:
        reason = "The texts of neighbouring rows are too long to be held together."
        raise ResourceError(f"{reason} Shorten them, or leave their column out.") from None


def ahead(batches: Iterable[Any]) -> Iterator[Any]:
    """The same batches; while one is used the next is made."""
    rest = iter(batches)
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, rest, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, rest, None)
            yield batch
