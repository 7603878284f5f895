"""Source: format, columns and dialect of a file, a dataframe or a table of a database.

In: a path, or an address: postgresql://user@host/base?table=schema.name, duckdb:file#name, spark://host:7077/path,
s3a://bucket/path.  Out: a `Source` that a backend reads without guessing; a `Database` to read from and write to.
To keep the command line fast, readers of formats are imported where a file is opened.
"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, quote, urlencode

from kech.errors import BadColumns, BadOption, NoSuchFile, UnreadableFile

if TYPE_CHECKING:
    from kech.tables.csv_dialect import CsvDialect

READ_FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".xlsx": "excel", ".xls": "excel", ".ods": "excel",
}  # fmt: skip
LINED_FORMATS = ("csv", "excel")  # whose columns are named in a line
DIALECT = ("delimiter", "encoding", "sheet", "header_line")  # how a file is written, not what its cells mean
SERVERS = ("postgresql", "postgres")
FILE_SYSTEMS = ("file", "hdfs", "viewfs", "s3a", "gs", "abfs", "abfss")  # of Spark, through Hadoop
WHERE = ("host", "hostaddr", "port", "dbname", "user", "options", "service")  # parameters of a URL without a secret
NAME = r'"(?:[^"]|"")+"|[^."]+'
ACCESS = "Check the path and its permissions."


@dataclass(frozen=True, slots=True)
class Address:
    """The address of one table of a database."""

    scheme: str  # postgresql, duckdb or spark
    location: str  # for the driver: a URL, which may contain a password, or a path
    names: tuple[str, ...]  # of schema and table, or of the table only
    shown: str  # the address without a password, for messages
    master: str | None = None  # the cluster of Spark in the address

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    @property
    def table(self) -> str:
        """The name of the table, with its schema."""
        return ".".join(self.names)

    @property
    def anywhere(self) -> str:
        """The address for the ledger: without a password, and independent of the current folder."""
        if self.scheme == "duckdb":
            return f"duckdb:{Path(self.location).resolve()}#{self.shown.rpartition('#')[2]}"
        if self.scheme == "spark":
            return self.shown
        where = [(name, value) for name, value in parse_qsl(self.location.partition("?")[2]) if name in WHERE]
        table = ".".join('"' + name.replace('"', '""') + '"' for name in self.names)
        return f"{self.shown.partition('?')[0]}?{urlencode([*where, ('table', table)], quote_via=quote)}"


def find_address(text: object) -> Address | None:
    """The address in a text; None where it is a path."""
    if isinstance(text, Address):
        return text
    typed = text if isinstance(text, str) else ""
    scheme, colon, rest = typed.partition(":")
    if colon and scheme == "duckdb":
        file, _, table = rest.rpartition("#")
        return Address("duckdb", file, split_name(table if file else "", "duckdb:people.db#people"), typed)
    if colon and rest.startswith("//"):
        return server_address(scheme.lower(), rest[2:])
    return None


def server_address(scheme: str, typed: str) -> Address:
    """The address in a URL, whose query names the table; a refusal does not quote it."""
    if scheme == "spark":
        return cluster_address(typed)
    if scheme in FILE_SYSTEMS:
        return path_address(f"{scheme}://{typed}")
    if scheme not in SERVERS:
        known = (
            "postgresql://user@host/base?table=name, duckdb:file#name, spark://host:7077/path and s3a://bucket/path."
        )
        raise BadOption("table", f"this kind of address is unknown. Name a file, or write {known}")
    location, _, options = typed.partition("?")
    query = parse_qsl(options, keep_blank_values=True)
    tables = [value for name, value in query if name == "table"]
    names = split_name(tables[0] if len(tables) == 1 else "", "postgresql://user@host/base?table=schema.name")
    rest = urlencode([pair for pair in query if pair[0] != "table"], quote_via=quote)
    printable = f"{scheme}://{hide_password(location)}?table={tables[0]}"
    return Address("postgresql", f"{scheme}://{location}" + (f"?{rest}" if rest else ""), names, printable)


def cluster_address(typed: str) -> Address:
    """The address spark://host:port/path: a cluster of Spark, and a path on its workers."""
    host, slash, path = typed.partition("/")
    if not host or not path.strip("/"):
        raise BadOption(
            "table",
            "the address names no path. Name the path of its Parquet files on the workers: spark://host:7077/data/people.",
        )
    address = path_address(slash + path)
    return replace(address, shown=f"spark://{hide_password(host)}{address.shown}", master=f"spark://{host}")


def path_address(typed: str) -> Address:
    """The address of a Parquet file or folder in a file system of Spark; `shown` omits a password."""
    scheme, colon, rest = typed.rpartition("://")
    host, slash, path = rest.partition("/")
    if not path.strip("/"):
        raise BadOption("table", "the address names no path. Name the path of its Parquet files: s3a://bucket/people.")
    if re.search(":[^@]*[^@0-9]", host) and "@" not in host and "@" in path:  # a password with a slash, as those of S3
        _, _, path = path.rpartition("@")
        printable = f"{scheme}{colon}{host.partition(':')[0]}@{path}"
    else:
        printable = f"{scheme}{colon}{hide_password(host)}{slash}{path}"
    return Address("spark", typed, (path.strip("/").rpartition("/")[2],), printable)


def hide_password(host: str) -> str:
    """The host of a URL and the user before it, without the password."""
    login, at, server = host.rpartition("@")
    return f"{login.partition(':')[0]}{at}{server}"


def split_name(text: str, example: str) -> tuple[str, ...]:
    """The parts of a name between dots; a part with a dot is in double quotes."""
    if not re.fullmatch(rf"({NAME})(\.({NAME}))?", text):
        raise BadOption("table", f"the address names no table, or several. Name one table of the database: {example}.")
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in re.findall(NAME, text))


# -- a file, a dataframe, or a table ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """A file, dataframe or table with its column names and, for CSV, its dialect."""

    path: Path
    format: str  # csv, parquet, folder, arrow, excel, frame, duckdb, postgresql or spark
    columns: tuple[str, ...]
    csv: "CsvDialect | None" = None
    address: Address | None = None  # of a table in a database
    identity: object = None  # of that table, equal for all its addresses
    sheet: str | None = None  # of a workbook; None is the first one
    header_line: int = 1  # of a CSV file or workbook

    @property
    def delimiter(self) -> str | None:
        """The delimiter of a CSV file."""
        return self.csv.delimiter if self.csv else None

    @property
    def encoding(self) -> str | None:
        """The encoding of a CSV file."""
        return self.csv.encoding if self.csv else None

    @property
    def shown(self) -> object:
        """The address or path for messages."""
        return self.address or self.path

    @property
    def here(self) -> Path:
        """The path on this machine, also of a `file:` URL of Spark."""
        name = str(self.identity)
        if not name.startswith("file://"):
            return self.path
        from urllib.request import url2pathname

        return Path(url2pathname(name.removeprefix("file://")))


def check_columns(source: Source) -> None:
    """Refuse a source without columns, or with missing names or names that are equal where case is ignored."""
    if not source.columns:
        raise BadColumns(source.shown, "there are none. Name a file that begins with a header line.")
    if any(not name.strip() for name in source.columns):
        position = next(i for i, name in enumerate(source.columns, 1) if not name.strip())
        raise BadColumns(source.shown, f"column {position} has no name. {advise_on_names(source)}")
    seen = Counter(name.casefold() for name in source.columns)
    repeated = [str(i) for i, name in enumerate(source.columns, 1) if seen[name.casefold()] > 1]
    if repeated:
        advice = "Rename them, or say --rename-duplicates." if source.csv else "Rename them."
        reason = f"the names of columns {', '.join(repeated)} are not distinct where case is ignored. {advice}"
        raise BadColumns(source.shown, reason)


def advise_on_names(source: Source) -> str:
    """What to do about a column without a name: a file whose other columns have names has a header line."""
    has_header = source.csv is not None and any(name.strip() for name in source.columns)
    return "Name it, or say --rename-duplicates." if has_header else "Add a header line with a name for each column."


def name_first(names: Sequence[str]) -> tuple[str, ...]:
    """Names of which the first, where it alone is missing, is `column_1`: pandas and R write row numbers there.

    >>> name_first(["", "age"]), name_first(["", "age", ""])
    (('column_1', 'age'), ('', 'age', ''))
    """
    is_alone = len(names) > 1 and [place for place, name in enumerate(names) if not name.strip()] == [0]
    return ("column_1", *names[1:]) if is_alone else tuple(names)


def rename_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Names made distinct, ignoring case: the second `age` becomes `age_2`, or has the next free number.

    A column without a name gets its number, where others have one.

    >>> rename_columns(["age", "AGE", "age_2", ""])
    ('age', 'AGE_3', 'age_2', 'column_4')
    """
    if any(name.strip() for name in names):
        names = [name if name.strip() else f"column_{place}" for place, name in enumerate(names, 1)]
    folded, used, distinct = {name.casefold() for name in names}, set[str](), []
    for name in names:
        free = (f"{name}_{number}" for number in count(2))
        taken = name.casefold() in used and bool(name.strip())
        chosen = next(text for text in free if text.casefold() not in folded | used) if taken else name
        used.add(chosen.casefold())
        distinct.append(chosen)
    return tuple(distinct)


def open_source(
    location: str | PathLike[str] | Address,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    header_line: int | None = None,
    rename_duplicates: bool = False,
) -> Source:
    """The format, columns and dialect of a file, a folder or a table of a database."""
    address = find_address(location)
    path = Path("." if isinstance(location, Address) else location)
    try:
        kind = address.scheme if address else find_format(path)
        if kind != "csv" and (delimiter or encoding):
            raise BadOption("--delimiter, --encoding", "only CSV files have them. Omit them.")
        if kind != "excel" and sheet:
            raise BadOption("--sheet", "only workbooks have sheets. Omit it.")
        if kind not in LINED_FORMATS and header_line:
            raise BadOption("--header-line", "only CSV files and workbooks have one. Omit it.")
        source = open_table(address) if address else open_file(path, kind, delimiter, encoding, sheet, header_line)
    except OSError as failure:
        raise UnreadableFile(
            address or path, f"{(failure.strerror or 'it cannot be opened').lower()}. {ACCESS}"
        ) from None
    if kind in LINED_FORMATS:
        source = replace(source, columns=name_first(source.columns))
    if source.csv:
        names = rename_columns(source.columns) if rename_duplicates else source.columns
        source = replace(source, columns=names, csv=replace(source.csv, header=names))
    check_columns(source)
    return source


def open_file(
    path: Path, kind: str, delimiter: str | None, encoding: str | None, sheet: str | None, header_line: int | None
) -> Source:
    """The source for a file or folder."""
    if kind == "csv":
        from kech.tables.csv_dialect import find_dialect

        dialect = find_dialect(path, delimiter, encoding, header_line)
        return Source(path, kind, dialect.header, dialect, header_line=dialect.header_line)
    from kech.tables.formats import read_names

    return Source(path, kind, read_names(path, kind, sheet, header_line), sheet=sheet, header_line=header_line or 1)


def open_table(address: Address) -> Source:
    """The source for a table of a database."""
    with open_database(address) as database:
        columns, identity = tuple(database.columns()), database.identity()
    path = Path(address.location if address.scheme == "duckdb" else address.table)
    return Source(path, address.scheme, columns, address=address, identity=identity)


def find_format(path: Path) -> str:
    """The format of a file by the ending of its name; `folder` for a folder."""
    if not path.exists():
        raise NoSuchFile(path)
    if path.is_dir():
        return "folder"
    if path.stat().st_size == 0:
        raise UnreadableFile(path, "it is empty. Name a file with a header line and rows.")
    kind = READ_FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UnreadableFile(path, f"its ending is unknown. Use a file that ends in {', '.join(READ_FORMATS)}.")
    return kind


def read_batches(source: Source) -> Any:
    """The rows of a file as record batches, for a backend that does not read its format."""
    if source.csv:
        from kech.tables.csv_dialect import csv_batches

        return csv_batches(source.path, source.csv)
    from kech.tables.formats import read_rows

    return read_rows(source.path, source.format, source.sheet, source.header_line)


# -- a table of a database ------------------------------------------------------------------------------------


class DraftTable(Protocol):
    """The draft of a table, invisible to readers; it is deleted unless it is put in place."""

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""

    def put_in_place(self) -> None:
        """Rename it to the target, replacing an earlier release."""


class Database(Protocol):
    """One table of a database."""

    def columns(self) -> Sequence[str]:
        """The names of its columns."""

    def identity(self) -> object:
        """An object that is equal for all addresses of the table; None where there is no table."""

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""

    def check_free(self) -> None:
        """Refuse a target that is a table kech did not write, or that cannot be written."""

    def write_draft(self, batches: Any) -> AbstractContextManager[DraftTable]:
        """A draft of the table with these rows."""


def open_database(address: Address, memory: int | None = None) -> AbstractContextManager[Database]:
    """The database of a table; `memory` limits one that works in this process."""
    if address.scheme == "duckdb":
        from kech.tables.duckdb_files import DuckDBDatabase

        return DuckDBDatabase.open(address, memory)
    if address.scheme == "spark":
        from kech.tables.spark import SparkDatabase

        return SparkDatabase.open(address)
    from kech.tables.postgres import PostgresDatabase

    return PostgresDatabase.open(address)


def check_free(target: Address, source: Address | None = None) -> None:
    """Refuse a target before any work.

    The source as target is refused later, with its own message; a target of Spark once its application runs.
    """
    if target.scheme != "spark" and (source is None or source.anywhere != target.anywhere):
        with open_database(target) as database:
            database.check_free()
