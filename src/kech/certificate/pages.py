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
from kech.certificate.thrift import DEEPEST, Reader, Struct
from kech.certificate.writers import odd_metadata
from kech.errors import NoSuchFile, UnreadableFile

MAGIC = b"PAR1"
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
DATA, DICTIONARY, DATA_V2 = 0, 2, 3  # kinds of pages
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
# fields of a page header, and of the headers of data pages in it, as numbered in the Parquet format
DATA_PAGE, DATA_PAGE_V2, V1_STATISTICS, V2_STATISTICS = 5, 8, 5, 8
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
    start = size - 8 - int.from_bytes(data[size - 8 : size - 4], "little")
    if data[:4] != MAGIC or data[size - 4 :] != MAGIC or start < 4:
        raise ValueError
    footer = Reader(data, start).struct()
    columns = _columns(footer[2])
    chunks = [(column, chunk) for group in footer[4] for column, chunk in zip(columns, group[1], strict=True)]
    _check_sizes([chunk for _, chunk in chunks], start)
    for column, chunk in chunks:
        _inspect_chunk(data, column, chunk, certified)
    for column in (column for column in columns if column.unused):
        _drop_values_of_other_chunks(data, column, [chunk for owner, chunk in chunks if owner is column])
    return (_find_extra_content(footer, data, start) if certified else []) + _complaints(columns)


def _check_sizes(chunks: Sequence[Struct], end: int) -> None:
    """ValueError where chunks and page indexes together state more bytes than the file has."""
    sizes = [chunk[3][7] for chunk in chunks] + [chunk[7] for chunk in chunks if 6 in chunk]
    if min(sizes, default=0) < 0 or sum(sizes) > end or any(chunk[3][5] < 0 for chunk in chunks):
        raise ValueError


def _complaints(columns: Sequence[ParquetColumn]) -> list[str]:
    listed = [f"{x.name!r}: its dictionary lists {len(x.unused)} values that no row has" for x in columns if x.unused]
    untrue = [f"{x.name!r}: {', '.join(sorted(x.untrue))}: not of the rows of the file" for x in columns if x.untrue]
    return listed + untrue


def _find_extra_content(footer: Struct, data: Any, end: int) -> list[str]:
    """A complaint for each content that kech does not write: other metadata, filters, bytes of no page."""
    chunks = [chunk for group in footer[4] for chunk in group[1]]
    odd = odd_metadata(footer)
    if not _has_no_gaps(chunks, data, end):
        odd.append("bytes: some belong to no row")
    return odd


def _has_no_gaps(chunks: Sequence[Struct], data: Any, end: int) -> bool:
    """Whether pages and page indexes fill the file from its beginning to its footer."""
    first_pages = [(_first_page(chunk[3]), chunk[3][7]) for chunk in chunks if chunk[3][7]]
    first_pages += [(chunk[at], chunk[at + 1]) for chunk in chunks for at in (4, 6) if at in chunk]
    offset = len(MAGIC)
    for start, size in sorted(first_pages):
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
        kind = node.get(3, 0)
        repeats, defines = repeats + (kind == 2), defines + (kind in (1, 2))
        if children := node.get(5, 0):
            for _ in range(children):
                child = next(rest, {})
                visit(child, (*names, child[4].decode()), repeats, defines)
        elif names:
            width = int(node[2]) if node[1] == FIXED else WIDTHS.get(node[1], 0)
            if width < (node[1] == FIXED):
                raise ValueError
            columns.append(ParquetColumn(".".join(names), node[1], width, repeats, defines))

    visit(next(rest, {}) | {3: 0}, (), 0, 0)
    if next(rest, None) is not None:
        raise ValueError
    return columns


# -- one chunk -------------------------------------------------------------------------------------------------


def _inspect_chunk(data: Any, column: ParquetColumn, chunk: Struct, certified: bool) -> None:
    """Add to the column the unused values of one chunk, and the names of its false statistics."""
    metadata, statistics = chunk[3], _statistics(data, chunk)
    pages = list(_pages(data, metadata))
    values = _values(column, metadata, pages)
    if certified and not values.readable:
        raise ValueError
    if sum(_page_rows(head) for head, _ in pages) != metadata[5]:
        raise ValueError
    column.unused |= values.unused
    statistics += [stats for head, _ in pages for stats in _page_statistics(head)]
    column.untrue |= {words for stats in statistics for words in _false_statistics(column, stats, values)}
    nulls, chunk_statistics = metadata[5] - values.rows, metadata.get(12, {})
    if values.readable and not column.repeats and chunk_statistics.get(3, nulls) != nulls:
        column.untrue.add("null count")
    if values.readable and chunk_statistics.get(4, 0) > values.distinct:
        column.untrue.add("distinct count")


def _drop_values_of_other_chunks(data: Any, column: ParquetColumn, chunks: Sequence[Struct]) -> None:
    """Remove from the unused values of a column those that occur in another chunk."""
    for chunk in chunks:
        pages = list(_pages(data, chunk[3]))
        values = _values(column, chunk[3], pages)
        column.unused -= values.referred
        column.unused -= {value for value in column.unused if _occurs_plain(column, value, values)}


def _first_page(metadata: Struct) -> int:
    """Where the pages of a chunk begin; a chunk without rows has only a dictionary."""
    return int(min((offset for offset in (metadata[9], metadata.get(11, 0)) if offset > 0), default=0))


def _pages(data: Any, metadata: Struct) -> Iterator[tuple[Struct, bytes]]:
    """The header of each page of a chunk, and its stored bytes."""
    offset = _first_page(metadata)
    end = offset + metadata[7]
    allowed = MOST_UNPACKED + MOST_TIMES * metadata[7]
    while offset < end:
        reader = Reader(data, offset)
        head = reader.struct()
        offset, allowed = reader.offset + head[3], allowed - head[2]
        if head[3] < 0 or head[2] < 0 or allowed < 0 or offset > end:
            raise ValueError
        yield head, data[reader.offset : offset]
    if offset != end:
        raise ValueError


def _page_rows(head: Struct) -> int:
    """How many cells a page has, with a value or without."""
    return int(head[5][1] if head[1] == DATA else head[8][1] if head[1] == DATA_V2 else 0)


def _unpack(metadata: Struct, stored: bytes, size: int) -> bytes:
    """The bytes of a page, decompressed by the codec of its chunk to `size` bytes."""
    import pyarrow

    if size < 0:
        raise ValueError
    if metadata[4] == 0 or not size:
        return stored
    return bytes(pyarrow.Codec(CODECS[metadata[4]]).decompress(stored, size, asbytes=True))


def _dictionaries(metadata: Struct, pages: Sequence[tuple[Struct, bytes]]) -> tuple[int, bytes]:
    """How many values the dictionaries of a chunk list, and the bytes of these values."""
    dictionaries = [(head[7][1], _unpack(metadata, stored, head[2])) for head, stored in pages if head[1] == DICTIONARY]
    return sum(count for count, _ in dictionaries), b"".join(page for _, page in dictionaries)


def _split_values(column: ParquetColumn, page: bytes, count: int) -> list[bytes]:
    """The values in the bytes of a plain page or a dictionary."""
    if column.type != BYTE_ARRAY:
        return [page[i * column.width : (i + 1) * column.width] for i in range(count)]
    values, offset = [], 0
    for _ in range(count):
        start = offset + 4
        offset = start + int.from_bytes(page[offset:start], "little")
        values.append(page[start:offset])
    return values


def _values(column: ParquetColumn, metadata: Struct, pages: Sequence[tuple[Struct, bytes]]) -> ChunkValues:
    """The values in the pages of a chunk; a dictionary without unused values counts as a plain page."""
    listed, dictionary = _dictionaries(metadata, pages)
    if not 0 <= listed * (column.width or 4) <= len(dictionary):
        raise ValueError
    used = np.zeros(listed, bool)
    values = ChunkValues(0, 0, set(), set(), [], True)
    for head, stored in pages:
        if head[1] in (DATA, DATA_V2):
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
    return b"".join(numbers.astype(np.uint8).tobytes() for numbers, _ in _runs(body[4:], 1, rows))


def _read_page_body(column: ParquetColumn, metadata: Struct, head: Struct, stored: bytes) -> tuple[int, int, bytes]:
    """The encoding of a data page, the number of its values, and their bytes, without the levels."""
    if head[1] == DATA:
        page, header = _unpack(metadata, stored, head[2]), head[5]
        if column.repeats:
            page = page[4 + int.from_bytes(page[:4], "little") :]
        levels, start = page[4:], 4 + int.from_bytes(page[:4], "little") if column.defines else 0
        return header[2], _count_present(column, levels, header[1]), page[start:]
    header = head[8]
    start = header[5] + header[6]
    if header[5] < 0 or header[6] < 0:
        raise ValueError
    size = head[2] - start
    body = _unpack(metadata, stored[start:], size) if header.get(7, True) else stored[start:]
    return header[4], _count_present(column, stored[header[6] :], header[1]), body


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
    statistics = [chunk[3][12]] if 12 in chunk[3] else []
    if 6 in chunk:
        reader = Reader(data, chunk[6])
        index = reader.struct()
        if reader.offset != chunk[6] + chunk[7]:
            raise ValueError
        bounds = zip(index[1], index[2], index[3], strict=True)
        statistics += [{6: low, 5: high} for is_null, low, high in bounds if is_null != 1]
    return statistics


def _page_statistics(head: Struct) -> list[Struct]:
    """The statistics in the header of a page, of version 1 or 2 of data pages."""
    first, second = head.get(DATA_PAGE, {}), head.get(DATA_PAGE_V2, {})
    return [statistics for statistics in (first.get(V1_STATISTICS), second.get(V2_STATISTICS)) if statistics]


def _false_statistics(column: ParquetColumn, stats: Struct, values: ChunkValues) -> Iterator[str]:
    """The names of minimum and maximum where no row has the value; unreadable pages are not checked."""
    for words, number in (("maximum", 1), ("minimum", 2), ("maximum", 5), ("minimum", 6)):
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
        prefixed = len(value).to_bytes(4, "little") + value
        return any(prefixed in page for page in values.plain)
    width = column.width or 1
    if len(value) != width:
        return False
    value_bytes = np.frombuffer(value, np.uint8)
    pages = (np.frombuffer(page, np.uint8).reshape(-1, width) for page in values.plain)
    return any(bool((page == value_bytes).all(axis=1).any()) for page in pages)
