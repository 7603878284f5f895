"""Writers: the metadata that pyarrow, kech's writer of Parquet, adds to a file; any other metadata is a complaint.

In: the footer of a file.  Out: complaints about metadata that could reveal more than the rows.
"""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from kech.certificate.thrift import ChunkField, FileField, GroupField, MetadataField, NodeField, PairField, Struct

WRITER = re.compile(rb"parquet-cpp-arrow version \d{1,4}\.\d{1,4}\.\d{1,4}(\.dev\d{1,5})?(-SNAPSHOT)?")
KEY = b"ARROW:schema"
OFFSET = re.compile(r"[+-]\d\d:\d\d")
PARTS = {b"item", b"element", b"key", b"value", b"key_value", b"entries", b"list"}  # names of nested fields in Arrow
OF_FILE, OF_GROUP, OF_CHUNK = {*range(1, 8)}, {*range(1, 8)}, {2, 3, 4, 5, 6, 7}  # numbers of fields
OF_COLUMN, OF_NODE = {1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 16, 17}, {*range(1, 11)}


def odd_metadata(footer: Struct) -> list[str]:
    """A complaint for each kind of metadata in the footer that kech does not write."""
    chunks = [chunk for group in footer[FileField.ROW_GROUPS] for chunk in group[GroupField.COLUMNS]]
    columns = [chunk[ChunkField.METADATA] for chunk in chunks]
    pairs = [dict(pair) for pair in footer.get(FileField.KEY_VALUES, ())]
    complaints = {
        "metadata: keys that kech does not write": any(pair[PairField.KEY] != KEY for pair in pairs),
        "metadata: fields that kech does not write": not _is_known(footer, chunks, columns),
        "metadata: another writer's name": not WRITER.fullmatch(footer.get(FileField.CREATED_BY, b"")),
        "metadata: its schema says more than its columns": not all(
            _is_plain(pair[PairField.VALUE], footer[FileField.SCHEMA]) for pair in pairs if pair[PairField.KEY] == KEY
        ),
        "metadata: of a column": any(MetadataField.KEY_VALUES in column for column in columns),
        "filters: a column has one": any(MetadataField.BLOOM_FILTER in column for column in columns),
    }
    return [words for words, is_so in complaints.items() if is_so]


def _is_known(footer: Struct, chunks: Sequence[Struct], columns: Sequence[Struct]) -> bool:
    """Whether the footer has only fields that are checked or that contain no text, and only paths of its columns."""
    nodes = footer[FileField.SCHEMA]
    reported = {MetadataField.KEY_VALUES, MetadataField.BLOOM_FILTER}  # these have complaints of their own
    return (
        footer.keys() <= OF_FILE
        and nodes[0][NodeField.NAME] == b"schema"
        and all(group.keys() <= OF_GROUP for group in footer[FileField.ROW_GROUPS])
        and all(chunk.keys() <= OF_CHUNK for chunk in chunks)
        and all(column.keys() <= OF_COLUMN | reported for column in columns)
        and all(node.keys() <= OF_NODE for node in nodes)
        and {name for column in columns for name in column[MetadataField.PATH]}
        <= {node[NodeField.NAME] for node in nodes}
        and all(pair.keys() <= {*PairField} for pair in footer.get(FileField.KEY_VALUES, ()))
    )


def _is_plain(encoded: bytes, nodes: Sequence[Mapping[int, Any]]) -> bool:
    """Whether the schema that pyarrow stores has the names and types of the columns and nothing else."""
    import pyarrow

    text = b64decode(encoded, validate=True)
    schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(text))
    names = {node[NodeField.NAME] for node in nodes} | PARTS
    fields = list(_fields(schema))
    return (
        not schema.metadata
        and not any(field.metadata for field in fields)
        and all(field.name.encode() in names and _is_valueless(field.type) for field in fields)
        and len(text) <= len(pyarrow.schema(list(schema)).serialize())
    )


def _fields(parent: Any) -> Iterator[Any]:
    """All fields of a schema or a type, with nested ones."""
    import pyarrow

    children = (
        list(parent) if isinstance(parent, pyarrow.Schema) else [parent.field(i) for i in range(parent.num_fields)]
    )
    for field in children:
        yield field
        yield from _fields(field.type)


def _is_valueless(type: Any) -> bool:
    """Whether a type reveals no value: it is no dictionary and no extension, and its time zone exists."""
    import pyarrow

    if isinstance(type, pyarrow.BaseExtensionType) or pyarrow.types.is_dictionary(type):
        return False
    zone = getattr(type, "tz", None)
    return zone is None or bool(OFFSET.fullmatch(zone)) or _is_zone(zone)


def _is_zone(name: str) -> bool:
    try:
        return bool(ZoneInfo(name).key)
    except (LookupError, ValueError, OSError):
        return False
