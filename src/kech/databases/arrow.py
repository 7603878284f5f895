"""Arrow types that every database knows; others are turned into them where nothing is lost."""

from typing import Any

import pyarrow as pa

from kech.errors import BadColumns


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
