"""Address: a table that is no file of this machine, as it is typed.

postgresql://user@host/base?table=schema.name, duckdb:file#name, spark://host:7077/path, s3a://bucket/path.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

from kech.errors import BadOption

SERVERS = ("postgresql", "postgres")
FILE_SYSTEMS = ("file", "hdfs", "viewfs", "s3a", "gs", "abfs", "abfss")  # which Spark reaches through Hadoop
WHERE = ("host", "hostaddr", "port", "dbname", "user", "options", "service")  # of a server; none is a secret
NAME = r'"(?:[^"]|"")+"|[^."]+'


@dataclass(frozen=True, slots=True)
class Address:
    """One table: where its database is, and its name with the schema in front, if one was given."""

    scheme: str  # postgresql, duckdb or spark
    place: str  # what the driver connects to: a URL, which may hold a password, or a file; for Spark, where rows lie
    names: tuple[str, ...]
    shown: str  # as it may be printed: without a password
    master: str | None = None  # the cluster of Spark that is named in it

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
        """Without a password too, and in another folder read as the same table: the ledger asks there what became."""
        if self.scheme == "duckdb":
            return f"duckdb:{Path(self.place).resolve()}#{self.shown.rpartition('#')[2]}"
        if self.scheme == "spark":
            return self.shown
        where = [(name, value) for name, value in parse_qsl(self.place.partition("?")[2]) if name in WHERE]
        table = ".".join('"' + name.replace('"', '""') + '"' for name in self.names)
        return f"{self.shown.partition('?')[0]}?{urlencode([*where, ('table', table)], quote_via=quote)}"


def find_address(text: object) -> Address | None:
    """The address a text holds; None for the path of a file, and for anything else."""
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
    """A URL whose query names the table; the rest of it is for the driver.  What is refused is not shown."""
    if scheme == "spark":
        return cluster_address(typed)
    if scheme in FILE_SYSTEMS:
        return path_address(f"{scheme}://{typed}")
    if scheme not in SERVERS:
        known = (
            "postgresql://user@host/base?table=name, duckdb:file#name, spark://host:7077/path and s3a://bucket/path."
        )
        raise BadOption("table", f"kech knows files, {known}")
    place, _, asked = typed.partition("?")
    query = parse_qsl(asked, keep_blank_values=True)
    tables = [value for name, value in query if name == "table"]
    names = split_name(tables[0] if len(tables) == 1 else "", "postgresql://user@host/base?table=schema.name")
    rest = urlencode([pair for pair in query if pair[0] != "table"], quote_via=quote)
    shown = f"{scheme}://{without_password(place)}?table={tables[0]}"
    return Address("postgresql", f"{scheme}://{place}" + (f"?{rest}" if rest else ""), names, shown)


def cluster_address(typed: str) -> Address:
    """A cluster of Spark, and a path that its workers know."""
    host, slash, path = typed.partition("/")
    if not host or not path.strip("/"):
        raise BadOption("table", "name the path of its Parquet files on the workers: spark://host:7077/data/people.")
    found = path_address(slash + path)
    return replace(found, shown=f"spark://{without_password(host)}{found.shown}", master=f"spark://{host}")


def path_address(typed: str) -> Address:
    """A Parquet file or folder in a file system that Spark reaches; a password in front of the host is not shown."""
    scheme, colon, rest = typed.rpartition("://")
    host, slash, path = rest.partition("/")
    if not path.strip("/"):
        raise BadOption("table", "name the path of its Parquet files: s3a://bucket/people.")
    if re.search(":[^@]*[^@0-9]", host) and "@" not in host and "@" in path:  # a password with a slash, as those of S3
        _, _, path = path.rpartition("@")
        shown = f"{scheme}{colon}{host.partition(':')[0]}@{path}"
    else:
        shown = f"{scheme}{colon}{without_password(host)}{slash}{path}"
    return Address("spark", typed, (path.strip("/").rpartition("/")[2],), shown)


def without_password(host: str) -> str:
    """A host, and the user in front of it."""
    login, at, server = host.rpartition("@")
    return f"{login.partition(':')[0]}{at}{server}"


def split_name(text: str, example: str) -> tuple[str, ...]:
    """The parts of a name between its dots; a part that holds a dot is written in double quotes."""
    if not re.fullmatch(rf"({NAME})(\.({NAME}))?", text):
        raise BadOption("table", f"name one table of the database: {example}.")
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in re.findall(NAME, text))
