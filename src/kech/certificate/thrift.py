"""Thrift: a reader of the compact protocol, as far as the headers of a Parquet file use it.

In: bytes, and where a struct begins.  Out: its fields by number, and where it ends.
"""

from typing import Any

DEEPEST = 16  # structs inside structs; Parquet needs 6
Struct = dict[int, Any]

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
WHOLE = (4, 5, 6)  # numbers of 16, 32 and 64 bits


class Reader:
    """A position in bytes that advances; IndexError or ValueError where the bytes are no struct."""

    def __init__(self, data: Any, offset: int = 0) -> None:
        if offset < 0:
            raise ValueError
        self.data, self.offset = data, offset

    def struct(self, depth: int = 0) -> Struct:
        """The fields of a struct, by their numbers."""
        if depth > DEEPEST:
            raise ValueError
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            if number in fields:
                raise ValueError
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            return self._list(depth)
        if kind == BINARY:
            return self.read_bytes(self.number())
        if kind == DOUBLE:
            return self.read_bytes(8)
        if kind in (TRUE, FALSE, BYTE):  # in a list, a boolean has a byte of its own
            return self._byte()
        if kind in WHOLE:
            return self._zigzag()
        raise ValueError

    def _list(self, depth: int) -> list[Any]:
        if depth > DEEPEST:
            raise ValueError
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self.number()
        return [self._value(head & 15, depth + 1) for _ in range(size)]

    def _byte(self) -> int:
        self.offset += 1
        return int(self.data[self.offset - 1])

    def read_bytes(self, size: int) -> bytes:
        """The next bytes."""
        start, self.offset = self.offset, self.offset + size
        if self.offset > len(self.data):
            raise IndexError
        return bytes(self.data[start : self.offset])

    def number(self) -> int:
        """The next unsigned number."""
        number = shift = 0
        while (byte := self._byte()) & 128:
            number, shift = number | (byte & 127) << shift, shift + 7
            if shift > 63:
                raise ValueError
        return number | byte << shift

    def _zigzag(self) -> int:
        """The next signed number, in the zigzag encoding: 0, -1, 1, -2, ..."""
        number = self.number()
        return (number >> 1) ^ -(number & 1)
