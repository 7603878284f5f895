"""Pages: the dictionaries, statistics and metadata of a Parquet file, checked for values that no row has.

In: a Parquet file.  Out: a complaint for each column whose dictionary or statistics contain a value of no row.

A dictionary lists values, and pages refer to them by number.  A value to which no page refers is in no row.  Statistics
state the least and the greatest value of a page or of a chunk, the pages of a column in one row group.  `thrift.py`
reads headers, `writers.py` knows the metadata that pyarrow writes, and pages are read here.  No header is trusted:
sizes are compared with the size of the file.
"""

import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kech.certificate.tally import Ints
from kech.certificate.thrift import (
    DEEPEST,
    ChunkField,
    DataPageField,
    DataPageV2Field,
    FileField,
    GroupField,
    IndexField,
    MetadataField,
    NodeField,
    PageField,
    Reader,
    StatisticsField,
    Struct,
)
from kech.certificate.writers import odd_metadata
from kech.errors import NoSuchFile, UnreadableFile

MAGIC = b"PAR1"
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
DATA, DICTIONARY, DATA_V2 = 0, 2, 3  # kinds of pages
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2  # repetitions of a node of the schema
UNCOMPRESSED = 0
LENGTH = 4  # bytes of a length before texts, levels and the footer
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8  # encodings
BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = range(8)  # physical types
WIDTHS = {INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8}
ZEROS = {FLOAT: (b"\0" * 4, b"\0\0\0\x80"), DOUBLE: (b"\0" * 8, b"\0" * 7 + b"\x80")}  # 0.0 and -0.0 are equal
MOST_BITS = 32  # of an index into a dictionary
MOST_UNPACKED, MOST_TIMES = 1 << 26, 1 << 10  # bytes of an unpacked chunk: at all, and for each stored byte
REFUSED = (  # errors from bytes that are not a Parquet file
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    OSError,
    MemoryError,
    RecursionError,
    NotImplementedError,
)
STATED = {  # the statistics that are a value of a row
    "maximum": (StatisticsField.OLD_MAXIMUM, StatisticsField.MAXIMUM),
    "minimum": (StatisticsField.OLD_MINIMUM, StatisticsField.MINIMUM),
}
LEAST_CUT = 8  # fewest bytes of a text that a writer may have shortened in statistics


@dataclass(slots=True)
class ParquetColumn:
    """A column of the schema, and the findings in its pages."""

    name: str
    type: int
    width: int  # bytes of a value; 0 where they differ
    repeats: int  # the highest repetition level
    defines: int  # the highest definition level
    unused: set[bytes] = field(default_factory=set)  # values of a dictionary to which no page of its chunk refers
    untrue: set[str] = field(default_factory=set)  # names of statistics that are not of its rows


@dataclass(slots=True)
class ChunkValues:
    """The values in the pages of one chunk."""

    rows: int  # with a value
    distinct: int  # an upper bound of the number of distinct values
    referred: set[bytes]  # used values of a dictionary that also has unused ones
    unused: set[bytes]
    plain: list[bytes]  # the bytes of pages that are not dictionary-encoded, and of dictionaries without unused values
    readable: bool  # whether the encodings of all pages are known


def find_unpublished(path: Path, *, certified: bool) -> list[str]:
    """Complaints about values in dictionaries and statistics of a Parquet file that no row has.

    In a certified file, whose writer is known, any other content is a complaint too.
    """
    try:
        with _map_file(path) as data:
            return _inspect_file(data, certified)
    except REFUSED:
        reason = "its pages cannot be checked: it is damaged, or has an unknown encoding. Write it again with pyarrow."
        raise UnreadableFile(path, reason) from None


@contextmanager
def _map_file(path: Path) -> Iterator[Any]:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
    except FileNotFoundError:
        raise NoSuchFile(path) from None


def _inspect_file(data: Any, certified: bool) -> list[str]:
    size = len(data)
    end = size - len(MAGIC)
    start = end - LENGTH - int.from_bytes(data[end - LENGTH : end], "little")
    if data[: len(MAGIC)] != MAGIC or data[end:] != MAGIC or start < len(MAGIC):
        raise ValueError
    footer = Reader(data, start).struct()
    columns, groups = _columns(footer[FileField.SCHEMA]), footer[FileField.ROW_GROUPS]
    chunks = [pair for group in groups for pair in zip(columns, group[GroupField.COLUMNS], strict=True)]
    _check_sizes([chunk for _, chunk in chunks], start)
    for column, chunk in chunks:
        _inspect_chunk(data, column, chunk, certified)
    for column in (column for column in columns if column.unused):
        _drop_values_of_other_chunks(data, column, [chunk for owner, chunk in chunks if owner is column])
    return (_find_extra_content(footer, data, start) if certified else []) + _complaints(columns)


def _check_sizes(chunks: Sequence[Struct], end: int) -> None:
    """ValueError where chunks and page indexes together state more bytes than the file has."""
    metadata = [chunk[ChunkField.METADATA] for chunk in chunks]
    sizes = [each[MetadataField.COMPRESSED_BYTES] for each in metadata]
    sizes += [chunk[ChunkField.COLUMN_INDEX_BYTES] for chunk in chunks if ChunkField.COLUMN_INDEX in chunk]
    if min(sizes, default=0) < 0 or sum(sizes) > end or any(each[MetadataField.CELLS] < 0 for each in metadata):
        raise ValueError


def _complaints(columns: Sequence[ParquetColumn]) -> list[str]:
    listed = [f"{x.name!r}: its dictionary lists {len(x.unused)} values that no row has" for x in columns if x.unused]
    untrue = [f"{x.name!r}: {', '.join(sorted(x.untrue))}: not of the rows of the file" for x in columns if x.untrue]
    return listed + untrue


def _find_extra_content(footer: Struct, data: Any, end: int) -> list[str]:
    """A complaint for each content that kech does not write: other metadata, filters, bytes of no page."""
    chunks = [chunk for group in footer[FileField.ROW_GROUPS] for chunk in group[GroupField.COLUMNS]]
    odd = odd_metadata(footer)
    if not _has_no_gaps(chunks, data, end):
        odd.append("bytes: some belong to no row")
    return odd


def _has_no_gaps(chunks: Sequence[Struct], data: Any, end: int) -> bool:
    """Whether pages and page indexes fill the file from its beginning to its footer."""
    metadata = [chunk[ChunkField.METADATA] for chunk in chunks]
    stretches = [
        (_first_page(each), each[MetadataField.COMPRESSED_BYTES])
        for each in metadata
        if each[MetadataField.COMPRESSED_BYTES]
    ]
    indexes = (ChunkField.OFFSET_INDEX, ChunkField.COLUMN_INDEX)  # each is followed by the field of its size
    stretches += [(chunk[index], chunk[index + 1]) for chunk in chunks for index in indexes if index in chunk]
    offset = len(MAGIC)
    for start, size in sorted(stretches):
        if start != offset:
            return False
        offset = start + size
    return offset == end and len(data) > end


def _columns(schema: Sequence[Struct]) -> list[ParquetColumn]:
    """The columns of a schema, which lists the nodes of a tree in depth-first order."""
    columns: list[ParquetColumn] = []
    rest = iter(schema)

    def visit(node: Struct, names: tuple[str, ...], repeats: int, defines: int) -> None:
        if len(names) > DEEPEST:
            raise ValueError
        repetition = node.get(NodeField.REPETITION, REQUIRED)
        repeats, defines = repeats + (repetition == REPEATED), defines + (repetition in (OPTIONAL, REPEATED))
        if children := node.get(NodeField.CHILDREN, 0):
            for _ in range(children):
                child = next(rest, {})
                visit(child, (*names, child[NodeField.NAME].decode()), repeats, defines)
        elif names:
            kind = node[NodeField.TYPE]
            width = int(node[NodeField.TYPE_BYTES]) if kind == FIXED else WIDTHS.get(kind, 0)
            if width < (kind == FIXED):
                raise ValueError
            columns.append(ParquetColumn(".".join(names), kind, width, repeats, defines))

    visit(next(rest, {}) | {NodeField.REPETITION: REQUIRED}, (), 0, 0)
    if next(rest, None) is not None:
        raise ValueError
    return columns


# -- one chunk -------------------------------------------------------------------------------------------------


def _inspect_chunk(data: Any, column: ParquetColumn, chunk: Struct, certified: bool) -> None:
    """Add to the column the unused values of one chunk, and the names of its false statistics."""
    metadata, statistics = chunk[ChunkField.METADATA], _statistics(data, chunk)
    pages = list(_pages(data, metadata))
    values = _values(column, metadata, pages)
    if certified and not values.readable:
        raise ValueError
    if sum(_page_rows(head) for head, _ in pages) != metadata[MetadataField.CELLS]:
        raise ValueError
    column.unused |= values.unused
    statistics += [stats for head, _ in pages for stats in _page_statistics(head)]
    column.untrue |= {words for stats in statistics for words in _false_statistics(column, stats, values)}
    nulls, stated = metadata[MetadataField.CELLS] - values.rows, metadata.get(MetadataField.STATISTICS, {})
    if values.readable and not column.repeats and stated.get(StatisticsField.NULLS, nulls) != nulls:
        column.untrue.add("null count")
    if values.readable and stated.get(StatisticsField.DISTINCT, 0) > values.distinct:
        column.untrue.add("distinct count")


def _drop_values_of_other_chunks(data: Any, column: ParquetColumn, chunks: Sequence[Struct]) -> None:
    """Remove from the unused values of a column those that occur in another chunk."""
    for chunk in chunks:
        metadata = chunk[ChunkField.METADATA]
        values = _values(column, metadata, list(_pages(data, metadata)))
        column.unused -= values.referred
        column.unused -= {value for value in column.unused if _occurs_plain(column, value, values)}


def _first_page(metadata: Struct) -> int:
    """Where the pages of a chunk begin; a chunk without rows has only a dictionary."""
    offsets = (metadata[MetadataField.FIRST_DATA_PAGE], metadata.get(MetadataField.DICTIONARY_PAGE, 0))
    return int(min((offset for offset in offsets if offset > 0), default=0))


def _pages(data: Any, metadata: Struct) -> Iterator[tuple[Struct, bytes]]:
    """The header of each page of a chunk, and its stored bytes."""
    offset = _first_page(metadata)
    end = offset + metadata[MetadataField.COMPRESSED_BYTES]
    allowed = MOST_UNPACKED + MOST_TIMES * metadata[MetadataField.COMPRESSED_BYTES]
    while offset < end:
        reader = Reader(data, offset)
        head = reader.struct()
        stored, unpacked = head[PageField.COMPRESSED_BYTES], head[PageField.UNCOMPRESSED_BYTES]
        offset, allowed = reader.offset + stored, allowed - unpacked
        if stored < 0 or unpacked < 0 or allowed < 0 or offset > end:
            raise ValueError
        yield head, data[reader.offset : offset]
    if offset != end:
        raise ValueError


def _page_rows(head: Struct) -> int:
    """How many cells a page has, with a value or without."""
    if head[PageField.KIND] == DATA:
        return int(head[PageField.DATA_PAGE][DataPageField.CELLS])
    return int(head[PageField.DATA_PAGE_V2][DataPageV2Field.CELLS]) if head[PageField.KIND] == DATA_V2 else 0


def _unpack(metadata: Struct, stored: bytes, size: int) -> bytes:
    """The bytes of a page, decompressed by the codec of its chunk to `size` bytes."""
    import pyarrow

    if size < 0:
        raise ValueError
    codec = metadata[MetadataField.CODEC]
    if codec == UNCOMPRESSED or not size:
        return stored
    return bytes(pyarrow.Codec(CODECS[codec]).decompress(stored, size, asbytes=True))


def _dictionaries(metadata: Struct, pages: Sequence[tuple[Struct, bytes]]) -> tuple[int, bytes]:
    """How many values the dictionaries of a chunk list, and the bytes of these values."""
    listed = [(head, stored) for head, stored in pages if head[PageField.KIND] == DICTIONARY]
    count = sum(head[PageField.DICTIONARY_PAGE][DataPageField.CELLS] for head, _ in listed)
    return count, b"".join(_unpack(metadata, stored, head[PageField.UNCOMPRESSED_BYTES]) for head, stored in listed)


def _split_values(column: ParquetColumn, page: bytes, count: int) -> list[bytes]:
    """The values in the bytes of a plain page or a dictionary."""
    if column.type != BYTE_ARRAY:
        return [page[i * column.width : (i + 1) * column.width] for i in range(count)]
    values, offset = [], 0
    for _ in range(count):
        start = offset + LENGTH
        offset = start + int.from_bytes(page[offset:start], "little")
        values.append(page[start:offset])
    return values


def _values(column: ParquetColumn, metadata: Struct, pages: Sequence[tuple[Struct, bytes]]) -> ChunkValues:
    """The values in the pages of a chunk; a dictionary without unused values counts as a plain page."""
    listed, dictionary = _dictionaries(metadata, pages)
    if not 0 <= listed * (column.width or LENGTH) <= len(dictionary):
        raise ValueError
    used = np.zeros(listed, bool)
    values = ChunkValues(0, 0, set(), set(), [], True)
    for head, stored in pages:
        if head[PageField.KIND] in (DATA, DATA_V2):
            encoding, rows, body = _read_page_body(column, metadata, head, stored)
            values.rows += rows
            if encoding in (PLAIN_DICTIONARY, RLE_DICTIONARY) and rows:
                for numbers, _ in _runs(body[1:], body[0], rows):
                    used[numbers] = True
            elif encoding == PLAIN or (encoding == RLE and column.type == BOOLEAN):
                values.plain.append(_as_bits(body, rows, encoding) if column.type == BOOLEAN else body)
                values.distinct += rows
            elif rows:
                values.readable = False
    if used.all():
        values.plain.append(dictionary)
    else:
        each = _split_values(column, dictionary, listed)
        values.referred = {each[i] for i in np.flatnonzero(used).tolist()}
        values.unused = {each[i] for i in np.flatnonzero(~used).tolist()} - values.referred
    values.distinct += int(used.sum())
    return values


def _as_bits(body: bytes, rows: int, encoding: int) -> bytes:
    """The booleans of a page, one byte for each, or for each run of equal ones."""
    if encoding == PLAIN:
        return np.unpackbits(np.frombuffer(body, np.uint8), bitorder="little")[:rows].tobytes()
    return b"".join(numbers.astype(np.uint8).tobytes() for numbers, _ in _runs(body[LENGTH:], 1, rows))


def _read_page_body(column: ParquetColumn, metadata: Struct, head: Struct, stored: bytes) -> tuple[int, int, bytes]:
    """The encoding of a data page, the number of its values, and their bytes, without the levels."""
    unpacked = head[PageField.UNCOMPRESSED_BYTES]
    if head[PageField.KIND] == DATA:
        page, header = _unpack(metadata, stored, unpacked), head[PageField.DATA_PAGE]
        if column.repeats:
            page = page[_after_levels(page) :]
        present = _count_present(column, page[LENGTH:], header[DataPageField.CELLS])
        return header[DataPageField.ENCODING], present, page[_after_levels(page) if column.defines else 0 :]
    header = head[PageField.DATA_PAGE_V2]
    repetitions, definitions = header[DataPageV2Field.REPETITION_BYTES], header[DataPageV2Field.DEFINITION_BYTES]
    if repetitions < 0 or definitions < 0:
        raise ValueError
    body = stored[repetitions + definitions :]
    if header.get(DataPageV2Field.IS_COMPRESSED, True):
        body = _unpack(metadata, body, unpacked - repetitions - definitions)
    present = _count_present(column, stored[repetitions:], header[DataPageV2Field.CELLS])
    return header[DataPageV2Field.ENCODING], present, body


def _after_levels(page: bytes) -> int:
    """Where the levels at the beginning of a page end: their length is stated before them."""
    return LENGTH + int.from_bytes(page[:LENGTH], "little")


def _count_present(column: ParquetColumn, levels: bytes, count: int) -> int:
    """How many of the `count` cells of a page have a value, by their definition levels."""
    if count < 0:
        raise ValueError
    if not column.defines:
        return count
    runs = _runs(levels, column.defines.bit_length(), count)
    return sum(times * int(np.count_nonzero(numbers == column.defines)) for numbers, times in runs)


def _runs(runs: bytes, bits: int, count: int) -> Iterator[tuple[Ints, int]]:
    """Numbers and how often each repeats, in the hybrid encoding of Parquet: first runs, then packed numbers."""
    if bits > MOST_BITS:
        raise ValueError
    if not bits:
        yield np.zeros(1, np.int64), count
        return
    remaining, reader, width = count, Reader(runs), (bits + 7) // 8
    packed: list[bytes] = []
    while remaining > 0:
        head = reader.number()
        if head & 1:
            packed.append(reader.read_bytes((head >> 1) * bits))
            times = (head >> 1) * 8
        else:
            times = min(head >> 1, remaining)
            yield np.array([int.from_bytes(reader.read_bytes(width), "little")]), times
        if not times:
            raise ValueError
        remaining -= times
    if packed:  # the last eight may be filled up
        numbers = _unpack_bits(b"".join(packed), bits)
        yield numbers[: len(numbers) + remaining], 1


def _unpack_bits(packed: bytes, bits: int) -> Any:
    """Numbers of `bits` bits each, packed with the lowest bit first."""
    each = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little").reshape(-1, bits)
    width = next(width for width in (8, 16, 32) if bits <= width)
    wide = np.zeros((len(each), width), np.uint8)
    wide[:, :bits] = each
    return np.packbits(wide, axis=1, bitorder="little").view(f"<u{width // 8}").ravel()


# -- statistics -------------------------------------------------------------------------------------------


def _statistics(data: Any, chunk: Struct) -> list[Struct]:
    """The statistics of a chunk: those of its header and those of its page index."""
    metadata = chunk[ChunkField.METADATA]
    statistics = [metadata[MetadataField.STATISTICS]] if MetadataField.STATISTICS in metadata else []
    if ChunkField.COLUMN_INDEX in chunk:
        reader = Reader(data, chunk[ChunkField.COLUMN_INDEX])
        index = reader.struct()
        if reader.offset != chunk[ChunkField.COLUMN_INDEX] + chunk[ChunkField.COLUMN_INDEX_BYTES]:
            raise ValueError
        bounds = zip(
            *(index[field] for field in (IndexField.IS_NULL, IndexField.MINIMA, IndexField.MAXIMA)), strict=True
        )
        statistics += [
            {StatisticsField.MINIMUM: low, StatisticsField.MAXIMUM: high}
            for is_null, low, high in bounds
            if is_null != 1
        ]
    return statistics


def _page_statistics(head: Struct) -> list[Struct]:
    """The statistics in the header of a page, of version 1 or 2 of data pages."""
    first, second = head.get(PageField.DATA_PAGE, {}), head.get(PageField.DATA_PAGE_V2, {})
    both = (first.get(DataPageField.STATISTICS), second.get(DataPageV2Field.STATISTICS))
    return [statistics for statistics in both if statistics]


def _false_statistics(column: ParquetColumn, stats: Struct, values: ChunkValues) -> Iterator[str]:
    """The names of minimum and maximum where no row has the value; unreadable pages are not checked."""
    for words, field_numbers in STATED.items():
        for number in field_numbers:
            if number in stats and values.readable and not _occurs(column, stats[number], values):
                yield words


def _occurs(column: ParquetColumn, value: bytes, values: ChunkValues) -> bool:
    """Whether a row has the value of a statistic; 0.0 is -0.0, and a long text may be shortened and rounded up."""
    same = ZEROS[column.type] if value in ZEROS.get(column.type, ()) else (value,)
    if any(each in values.referred or _occurs_plain(column, each, values) for each in same):
        return True
    if column.type not in (BYTE_ARRAY, FIXED) or len(value) < LEAST_CUT:
        return False
    begin = value[:-1]
    return any(each.startswith(begin) for each in values.referred) or any(begin in page for page in values.plain)


def _occurs_plain(column: ParquetColumn, value: bytes, values: ChunkValues) -> bool:
    """Whether a plain page contains the value."""
    if column.type == BYTE_ARRAY:
        prefixed = len(value).to_bytes(LENGTH, "little") + value
        return any(prefixed in page for page in values.plain)
    width = column.width or 1
    if len(value) != width:
        return False
    value_bytes = np.frombuffer(value, np.uint8)
    pages = (np.frombuffer(page, np.uint8).reshape(-1, width) for page in values.plain)
    return any(bool((page == value_bytes).all(axis=1).any()) for page in pages)
