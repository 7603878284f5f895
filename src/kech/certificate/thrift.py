"""Thrift: a reader of the compact protocol, as far as the headers of a Parquet file use it.

In: bytes, and where a struct begins.  Out: its fields by number, and where it ends.
"""

from enum import IntEnum
from typing import Any

DEEPEST = 16  # structs inside structs; Parquet needs 6
Struct = dict[int, Any]

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
WHOLE = (4, 5, 6)  # numbers of 16, 32 and 64 bits


# -- numbers of fields, by their names in parquet.thrift, of which only those that kech reads


class FileField(IntEnum):
    """Fields of FileMetaData, the footer of a file."""

    SCHEMA = 2
    ROW_GROUPS = 4
    KEY_VALUES = 5
    CREATED_BY = 6


class GroupField(IntEnum):
    """Fields of RowGroup."""

    COLUMNS = 1


class ChunkField(IntEnum):
    """Fields of ColumnChunk: the metadata of a chunk, and where its page indexes lie."""

    METADATA = 3
    OFFSET_INDEX = 4
    OFFSET_INDEX_BYTES = 5
    COLUMN_INDEX = 6
    COLUMN_INDEX_BYTES = 7


class MetadataField(IntEnum):
    """Fields of ColumnMetaData."""

    PATH = 3
    CODEC = 4
    CELLS = 5
    COMPRESSED_BYTES = 7
    KEY_VALUES = 8
    FIRST_DATA_PAGE = 9
    DICTIONARY_PAGE = 11
    STATISTICS = 12
    BLOOM_FILTER = 14


class NodeField(IntEnum):
    """Fields of SchemaElement, a node of the schema."""

    TYPE = 1
    TYPE_BYTES = 2
    REPETITION = 3
    NAME = 4
    CHILDREN = 5


class PageField(IntEnum):
    """Fields of PageHeader."""

    KIND = 1
    UNCOMPRESSED_BYTES = 2
    COMPRESSED_BYTES = 3
    DATA_PAGE = 5
    DICTIONARY_PAGE = 7
    DATA_PAGE_V2 = 8


class DataPageField(IntEnum):
    """Fields of DataPageHeader; a DictionaryPageHeader has CELLS alone."""

    CELLS = 1
    ENCODING = 2
    STATISTICS = 5


class DataPageV2Field(IntEnum):
    """Fields of DataPageHeaderV2."""

    CELLS = 1
    ENCODING = 4
    DEFINITION_BYTES = 5
    REPETITION_BYTES = 6
    IS_COMPRESSED = 7
    STATISTICS = 8


class StatisticsField(IntEnum):
    """Fields of Statistics; OLD_MAXIMUM and OLD_MINIMUM are deprecated."""

    OLD_MAXIMUM = 1
    OLD_MINIMUM = 2
    NULLS = 3
    DISTINCT = 4
    MAXIMUM = 5
    MINIMUM = 6


class IndexField(IntEnum):
    """Fields of ColumnIndex, with an entry for each page."""

    IS_NULL = 1
    MINIMA = 2
    MAXIMA = 3


class PairField(IntEnum):
    """Fields of KeyValue."""

    KEY = 1
    VALUE = 2


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
