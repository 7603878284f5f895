"""Apache Spark: rows stay on the workers, which read and write Parquet folders.

In: Parquet in any file system that Spark can access, or record batches.
Out: a `Backend` for an engine; a `Database` for a release.
"""

import logging
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from kech.errors import BadOption, BadTarget, MissingExtra, NoSuchTable, ResourceError, UnreadableFile
from kech.system.files import NO_FOLDER
from kech.tables.batches import SIZES, rebatch_evenly
from kech.tables.formats import ENDINGS, LOGGED, LOGS
from kech.tables.frames import as_plain, plain_type
from kech.tables.source import Address
from kech.tables.sql import GUARDED, MARK, NOT_FINITE, NUMBER, ColumnType, Dialect, hash_rows

try:
    from py4j.protocol import Py4JError
    from pyspark import SparkContext, StorageLevel
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as sf
    from pyspark.sql import types as st
except ImportError:
    raise MissingExtra("Spark", "spark") from None

APPLICATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # its messages quote cells
    "spark.executor.syncLogLevel.enabled": "true",  # those of the workers too
    "spark.io.encryption.enabled": "true",  # what is spilled is not readable on disk
}
READING = "reading the table"
MOST_BROADCAST = 1_000_000  # rows of codes, points or labels
SESSION = {
    "spark.sql.session.timeZone": "UTC",  # times with a zone are the same everywhere
    "spark.sql.ansi.enabled": "true",
    "spark.sql.maxPlanStringLength": "10000",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # 02138 stays text
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # dates are not converted between calendars
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
TYPES: dict[Any, Any] = {
    pa.string(): st.StringType(),
    pa.bool_(): st.BooleanType(),
    pa.int16(): st.ShortType(),
    pa.int32(): st.IntegerType(),
    pa.int64(): st.LongType(),
    pa.float32(): st.FloatType(),
    pa.float64(): st.DoubleType(),
    pa.date32(): st.DateType(),
    pa.timestamp("us"): st.TimestampNTZType(),
    pa.timestamp("us", tz="UTC"): st.TimestampType(),
}
RENAMES = ("file", "hdfs", "viewfs")  # file systems with atomic renaming; others copy file by file
MARKED = "_kech"  # a file in folders that kech may replace; readers of Parquet ignore it
NUMBER_TYPES = re.compile(r"(tinyint|smallint|int|bigint|float|double|decimal\(.*\))")
PARTITION = 1_000_000  # rows that a worker sorts at a time
ROW_IN_PARTITION = (1 << 33) - 1  # mask of the position of a row in its partition, in the number from Spark
STARTS = pa.schema([("part", pa.int64()), ("start", pa.int64())])


class SparkDialect(Dialect):
    """The SQL of Spark where it differs from DuckDB."""

    group_mark, everywhere = "$", ""  # as in Java, which always replaces all
    nan = "double('NaN')"

    def quote(self, name: str) -> str:
        """An identifier, with any characters."""
        return quote(name)

    def literal(self, text: str) -> str:
        """A string constant, with any characters."""
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern matches the whole text."""
        whole = self.literal(rf"\A(?s:{pattern})\z")
        return f"regexp_like({text}, {whole})"

    def text(self, cell: str, type: str) -> str:
        """A cell as text; floats as Python writes them."""
        return as_text(cell, type.lower())

    def number(self, text: str) -> str:
        """A text as a float."""
        return f"try_cast({text} AS DOUBLE)"

    def loose_number(self, text: str) -> str:
        """A text as a float, which may be an infinity or NaN."""
        return self.number(f"CASE WHEN {self.matches(text, f'{NUMBER}|{NOT_FINITE}')} THEN {text} END")

    def bytes(self, text: str) -> str:
        """The number of bytes of a text in UTF-8."""
        return f"octet_length({text})"

    def digests(self, text: str) -> tuple[str, str]:
        """The two halves of the MD5 of a text, as whole numbers."""
        halves = [
            " || ".join(f"substr(md5({text}), {2 * byte + 1}, 2)" for byte in range(start + 7, start - 1, -1))
            for start in (8, 0)
        ]
        return tuple(f"CAST(conv({half}, 16, 10) AS DECIMAL(20, 0))" for half in halves)  # type: ignore[return-value]

    def moment(self, text: str) -> str:
        """A text as a date with time."""
        return f"try_cast({text} AS TIMESTAMP_NTZ)"

    def seconds(self, moment: str) -> str:
        """Seconds since 1970, from whole microseconds."""
        return f"(CAST(unix_micros(CAST({moment} AS TIMESTAMP)) AS DOUBLE) / 1e6D)"

    def is_finite(self, number: str) -> str:
        """Whether a float is neither NaN nor infinite."""
        return f"(NOT isnan({number}) AND abs({number}) <> double('Infinity'))"

    def secret(self, row: str) -> str:
        """A secret random text for each row: its hash with a new key."""
        return f"sha2({self.literal(secrets.token_hex(32))} || CAST({row} AS STRING), 256)"


class Spark:
    """One session of the Spark application of this process."""

    dialect = SparkDialect()
    piece = SIZES[0]
    on_workers = True
    reads = ("parquet", "folder", "spark")

    def __init__(self, *, master: str | None = None, memory: int | None = None, threads: int | None = None) -> None:
        self.columns: dict[int, ColumnType] = {}
        self.session = open_session(master, memory, threads)
        self._source: Any = None  # the frame of the source, to be read again
        self._views: set[str] = set()

    def close(self) -> None:
        """Delete all rows; the application keeps running."""
        for name in list(self._views):
            self.drop(name, "VIEW")
        self._source = None

    # -- rows in ---------------------------------------------------------------------------------------------

    def load_parquet(self, path: Path, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a Parquet file, or a folder of them, by a path that is valid on this machine and on the workers."""
        self._copy_columns(read_parquet(self.session, f"file://{path.resolve()}", path), names, selected, nulls)

    def load_table(self, address: Address, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read Parquet files from any file system that Spark can access."""
        self._copy_columns(read_parquet(self.session, address.location, address), names, selected, nulls)

    def load_arrow(self, batches: Any, selected: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Send record batches to the workers."""
        self._copy_columns(send(self.session, batches, path), batches.schema.names, selected, nulls)

    def _copy_columns(self, frame: Any, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Create the table `kept`: the selected columns, and a number for each row.

        The number is the position in the partition, plus the rows of all partitions before it.
        """
        self._source = frame
        columns = [f"{quote(names[i])} AS c{i}" for i in selected]
        with refusals(READING):
            kept = frame.selectExpr(*columns, "monotonically_increasing_id() AS id").localCheckpoint()
            types = {i: kept.schema[f"c{i}"].dataType.simpleString() for i in selected}
            counts = kept.selectExpr("shiftright(id, 33) AS part").groupBy("part").count().collect()
        self.columns.update({i: ColumnType(type, kind_of(type)) for i, type in types.items()})
        before, starts = 0, []
        for part, rows in sorted(tuple(row) for row in counts):
            starts.append({"part": part, "start": before})
            before += rows
        parts = max(int(self.session.conf.get("spark.sql.shuffle.partitions")), before // PARTITION)
        self.session.conf.set("spark.sql.shuffle.partitions", str(parts))
        self._name(kept, "loaded")
        self.put("starts", pa.Table.from_pylist(starts, STARTS), READING)
        cleaned = ", ".join(f"{self.dialect.without(f'c{i}', types[i], nulls)} AS c{i}" for i in selected)
        query = f"""SELECT (id & {ROW_IN_PARTITION}L) + start AS r, {cleaned} FROM loaded
            JOIN starts ON starts.part = shiftright(id, 33)"""
        self.create("kept", query, READING)
        for name in ("loaded", "starts"):  # rows are stored once
            self.drop(name, "VIEW")

    def overwrite(self, column: int, value: str, where: str) -> None:
        """Replace the value of a column in the loaded rows that meet a condition."""
        others = [f"c{i}" for i in self.columns if i != column]
        chosen = f"CASE WHEN {where} THEN {value} ELSE c{column} END AS c{column}"
        self.create("kept", f"SELECT {', '.join(['r', *others, chosen])} FROM kept", READING)

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """A hash of the whole source, which is read once more with all its columns; or of the batches."""
        frame = send(self.session, batches, "table") if batches is not None else self._source
        self._name(frame, "source")
        types = {field.name: field.dataType.simpleString() for field in frame.schema}
        cells = {name: (quote(name), types[name], kind_of(types[name])) for name in columns}
        (figures,) = self.rows(hash_rows(self.dialect, cells, "source"), "comparing tables")
        return tuple(int(figure or 0) for figure in figures)

    # -- queries ---------------------------------------------------------------------------------------------

    def create(self, name: str, query: str, doing: str) -> None:
        """Create a view of the rows of a query, which are computed now."""
        with refusals(doing):
            self._name(
                self.session.sql(query).localCheckpoint(), name
            )  # without a checkpoint, plans of plans grow without end

    def define(self, name: str, query: str, doing: str) -> None:
        """Create a view of a query."""
        with refusals(doing):
            self._name(self.session.sql(query), name)

    def drop(self, name: str, kind: str) -> None:  # noqa: ARG002 - all are views here
        """Drop a view if it exists."""
        with refusals("tidying up"):
            self.session.catalog.dropTempView(name)
        self._views.discard(name)

    def broadcast_small(self, name: str, rows: int) -> None:
        """Copy a small table to every worker, so that joins need no sorting."""
        if rows <= MOST_BROADCAST:
            with refusals("loading codes"):
                self._name(sf.broadcast(self.session.table(name)), name)

    def put(self, name: str, table: Any, doing: str) -> None:
        """Send an Arrow table to the workers, in place of an earlier one of this name."""
        schema = pa.schema([(field.name, plain_type(field, "labels")) for field in table.schema])
        with refusals(doing):
            self._name(send_plain(self.session, table.cast(schema)), name)
        self.broadcast_small(name, table.num_rows)

    def rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        """The few rows of a query."""
        with refusals(doing):
            return [tuple(row) for row in self.session.sql(query).collect()]

    def read(self, query: str, doing: str) -> Any:
        """The rows of a query as an Arrow table."""
        with refusals(doing):
            return self.session.sql(query).toArrow()

    def shuffle(self, query: str, row: str, rows: int) -> Any:  # noqa: ARG002 - the workers sort any number
        """The rows of a query in a secret random order; they stay on the workers until they are read."""
        with refusals("publishing"):
            return SparkRows(hold_on_disk(self.session.sql(f"{query} ORDER BY {self.dialect.secret(row)}")))

    def _name(self, frame: Any, name: str) -> None:
        frame.createOrReplaceTempView(name)
        self._views.add(name)


def kind_of(type: str) -> str:
    """The kind of a Spark type: number, date, text or other."""
    if NUMBER_TYPES.fullmatch(type):
        return "number"
    return {"date": "date", "timestamp": "date", "timestamp_ntz": "date", "string": "text", "boolean": "text"}.get(
        type, "other"
    )


# -- refusals -------------------------------------------------------------------------------------------------


@contextmanager
def refusals(doing: str) -> Iterator[None]:
    """Turn failures of Spark inside the block into refusals without cells, and silence its log."""
    log = logging.getLogger("SQLQueryContextLogger")
    before, log.disabled = log.disabled, True
    try:
        yield
    except (PySparkException, Py4JError) as failure:
        raise ResourceError(f"Spark failed while {doing} ({type(failure).__name__}). Run the command again.") from None
    finally:
        log.disabled = before


# -- a session -------------------------------------------------------------------------------------------------


def open_session(master: str | None, memory: int | None = None, threads: int | None = None) -> Any:
    """A new session in the one Spark application of this process, which is started where none is running."""
    with refusals("starting"):
        session = start_session(master, memory, threads).newSession()
        running = str(session.sparkContext.master)
        if master not in (None, running):
            raise BadOption("--master", f"this process already works on {running}. Use that, or start another process.")
        cores = str(session.sparkContext.defaultParallelism)
        local = {"spark.sql.shuffle.partitions": cores} if running.startswith("local") else {}
        for name, value in (SESSION | local).items():
            session.conf.set(name, value)
        for name, write in (("kech_double", float_writer()), ("kech_float", float_writer(single=True))):
            session.udf.register(name, write, st.StringType())
    return session


def hold_on_disk(table: Any) -> Any:
    """The same table, computed and stored on disk: it needs no memory beside the sort that computes it."""
    return table.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)


def start_session(master: str | None, memory: int | None, threads: int | None) -> Any:
    """The session of the running application, whose settings stay; otherwise that of a new application."""
    builder = SparkSession.builder
    if SparkContext._active_spark_context is None:
        builder = builder.appName("kech").master(master or f"local[{threads or '*'}]")
        settings = APPLICATION | ({"spark.driver.memory": f"{max(512, memory >> 20)}m"} if memory else {})
        for name, value in settings.items():
            builder = builder.config(name, value)
    return builder.getOrCreate()


def float_writer(*, single: bool = False) -> Callable[[float | None], str | None]:
    """A function from a float to its shortest exact digits; it runs on workers without kech."""

    def write(number: float | None) -> str | None:
        import struct

        if number is None:
            return None
        if not single or number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124
            return repr(number)
        digits = (float(f"{number:.{size}g}") for size in range(1, 10))
        return repr(next((x for x in digits if struct.pack("f", x) == struct.pack("f", number)), number))

    return write


def quote(name: str) -> str:
    """An identifier, with any characters."""
    return "`" + name.replace("`", "``") + "`"


def as_text(cell: str, type: str) -> str:
    """A cell as text; floats as Python writes them, times with a zone in UTC."""
    if type in ("float", "double"):
        return f"kech_{type}({cell})"
    zone = " || '+00'" if type == "timestamp" else ""
    return f"(CAST({cell} AS STRING){zone})"


# -- rows in and out -------------------------------------------------------------------------------------------


class SparkRows:
    """Rows on the workers, and a stream of record batches that reads them."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self.schema = frame.limit(0).toArrow().schema

    def __iter__(self) -> Iterator[Any]:
        """Record batches, one partition after the other: the driver never has all rows in memory."""
        return rebatch_evenly(self._parts())

    def _parts(self) -> Iterator[Any]:
        with refusals("publishing"):
            for part in range(self.frame.rdd.getNumPartitions()):
                table = self.frame.where(sf.spark_partition_id() == part).toArrow()
                yield from table.cast(self.schema).to_batches()

    def read_all(self) -> Any:
        """All rows as one table."""
        return pa.Table.from_batches(self, self.schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return pa.RecordBatchReader.from_batches(self.schema, iter(self)).__arrow_c_stream__(requested_schema)


def send(session: Any, batches: Any, path: object) -> DataFrame:
    """Send record batches to the workers."""
    plain = pa.schema([(f"c{i}", plain_type(field, path)) for i, field in enumerate(batches.schema)])
    tables = [pa.record_batch(as_plain(batch, path).columns, schema=plain) for batch in batches]
    return send_plain(session, pa.Table.from_batches(tables, plain)).toDF(*batches.schema.names)


def send_plain(session: Any, table: Any) -> DataFrame:
    """Send a table of plain types to the workers."""
    fields = [st.StructField(field.name, spark_type(field.type)) for field in table.schema]
    frame: DataFrame = session.createDataFrame(table if table.num_rows else [], st.StructType(fields))
    return frame


def spark_type(kind: Any) -> Any:
    """The Spark type for a plain type of Arrow."""
    return st.DecimalType(kind.precision, kind.scale) if pa.types.is_decimal(kind) else TYPES[kind]


def read_parquet(session: Any, location: str, printable: object) -> DataFrame:
    """The rows of a Parquet file, or of all files below a folder; subfolders `year=2020` are a column of text."""
    folder = find_folder(session, location, printable)
    with refusals("looking for the table"):
        files = folder.parts()
        logged = any(Folder(session, f"{folder}/{log}").exists() for log in LOGS)
    if logged:
        raise UnreadableFile(printable, LOGGED)
    if not files:
        raise NoSuchTable(printable, "there is no Parquet file and no folder of them. Check the path.")
    try:
        reader = session.read.option("mergeSchema", "true")
        reader = reader if folder.is_file() else reader.option("basePath", str(folder))
        frame: DataFrame = reader.parquet(*map(literal_path, files))
    except (PySparkException, Py4JError):
        raise UnreadableFile(
            printable, "Spark cannot read it as Parquet. Check that all files in it are Parquet."
        ) from None
    return frame


def literal_path(path: str) -> str:
    """A path with the characters of patterns escaped."""
    return re.sub(r"([\\\[\]{}*?])", r"\\\1", path)


def find_folder(session: Any, location: str, printable: object) -> "Folder":
    """A file or folder, which need not exist; refused where Spark cannot access its file system."""
    try:
        return Folder(session, location)
    except (PySparkException, Py4JError):
        advice = "Add the connector and the keys of this file system to spark-defaults.conf."
        raise UnreadableFile(printable, f"Spark cannot access it. {advice}") from None


class Folder:
    """A file or folder in a file system of Hadoop."""

    def __init__(self, session: Any, location: str) -> None:
        self.session, self.jvm = session, session._jvm.org.apache.hadoop.fs
        path = self.jvm.Path(location)
        self.system = path.getFileSystem(session._jsc.hadoopConfiguration())
        self.path = self.system.makeQualified(path)

    def __str__(self) -> str:
        return str(self.path.toString())

    def beside(self, name: str) -> "Folder":
        """The path with another name in the same folder."""
        return Folder(self.session, self.jvm.Path(self.path.getParent(), name).toString())

    def exists(self) -> bool:
        """Whether the file or folder exists."""
        return bool(self.system.exists(self.path))

    def is_file(self) -> bool:
        """Whether it is an existing file."""
        return self.exists() and bool(self.system.getFileStatus(self.path).isFile())

    def parts(self) -> list[str]:
        """The file itself, or the Parquet files below the folder by name; names that begin with _ or . are ignored."""
        if not self.exists() or self.is_file():
            return [str(self)] if self.exists() else []
        files, listed = [], self.system.listFiles(self.path, True)
        while listed.hasNext():
            files.append(str(listed.next().getPath().toString()))
        below = {file: file.removeprefix(str(self)).strip("/").split("/") for file in files}
        fitting = {file for file, names in below.items() if not any(name[0] in "._" for name in names)}
        return sorted(file for file in fitting if file.lower().endswith(ENDINGS))

    def make_private(self) -> None:
        """Create the folder, for its owner only."""
        self.system.mkdirs(self.path)
        self.system.setPermission(self.path, self.permission(0o700))

    def permission(self, mode: int) -> Any:
        """The permission object of Hadoop for a mode."""
        return self.jvm.permission.FsPermission(format(mode, "o"))

    def move(self, target: "Folder") -> None:
        """Rename it atomically."""
        if not self.system.rename(self.path, target.path):
            raise ResourceError("Spark could not put the table in place: renaming failed. Run the command again.")

    def delete(self) -> None:
        """Delete it with all files in it."""
        self.system.delete(self.path, True)


# -- a table, read and written --------------------------------------------------------------------------------


class SparkDatabase:
    """A Parquet file or folder, and a session."""

    def __init__(self, address: Address, session: Any) -> None:
        self.address, self.session = address, session
        self.folder = find_folder(session, address.location, address)

    @classmethod
    @contextmanager
    def open(cls, address: Address) -> Iterator["SparkDatabase"]:
        """The database of a table, with a new session; the application keeps running."""
        yield cls(address, open_session(address.master))

    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return list(read_parquet(self.session, self.address.location, self.address).columns)

    def identity(self) -> object:
        """The full path; on this machine with links resolved."""
        name = str(self.folder)
        return Path(name.removeprefix("file:")).resolve().as_uri() if name.startswith("file:") else name

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""
        frame = read_parquet(self.session, self.address.location, self.address)
        with refusals("reading the released table"):
            export(self.session, frame, path)

    @contextmanager
    def write_draft(self, batches: Any) -> Iterator["SparkDraft"]:
        """A draft in a hidden folder next to the target, deleted unless it is put in place."""
        with refusals("writing the table"):
            self.check_free()
            frame = batches.frame if isinstance(batches, SparkRows) else send(self.session, batches, self.address)
            draft = self.folder.beside(f".{self.address.table}.{secrets.token_hex(4)}.kech-draft")
            try:
                draft.make_private()
                frame.write.mode("append").parquet(str(draft))
                yield SparkDraft(self, draft)
            finally:
                draft.delete()

    def check_free(self) -> None:
        """Refuse a target that kech did not write, or whose file system cannot rename atomically."""
        scheme = str(self.folder.system.getScheme())
        if scheme not in RENAMES:
            reason = f"{scheme} renames by copying, so others could read half a table. Write elsewhere, and copy it."
            raise BadTarget(self.address, reason)
        if not self.folder.system.exists(self.folder.path.getParent()):
            raise BadTarget(self.address, NO_FOLDER)
        if self.folder.exists() and not Folder(self.session, f"{self.folder}/{MARKED}").exists():
            reason = "a table of this name exists that kech did not write. Delete it yourself, or choose another name."
            raise BadTarget(self.address, reason)


class SparkDraft:
    """The draft of a table: a hidden folder of Parquet files."""

    def __init__(self, database: SparkDatabase, folder: Folder) -> None:
        self.database, self.folder = database, folder

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""
        session = self.database.session
        export(session, session.read.parquet(literal_path(str(self.folder))), path)

    def put_in_place(self) -> None:
        """Replace an earlier release, which is renamed first, and renamed back if that fails."""
        self.database.check_free()
        target, marked = self.database.folder, Folder(self.database.session, f"{self.folder}/{MARKED}")
        with_mark = marked.system.create(marked.path)
        with_mark.write(MARK.encode())
        with_mark.close()
        self.folder.system.setPermission(self.folder.path, self.default_permission())
        earlier = target.beside(f".{self.database.address.table}.{secrets.token_hex(4)}.kech-earlier")
        if target.exists():
            target.move(earlier)
        try:
            self.folder.move(target)
        except BaseException:
            if earlier.exists():
                earlier.move(target)
            raise
        with suppress(PySparkException, Py4JError):  # the release is complete: a failure now must not undo the ledger
            earlier.delete()

    def default_permission(self) -> Any:
        """The permission of a new folder by the settings of the file system."""
        permission = self.folder.jvm.permission.FsPermission
        mask = permission.getUMask(self.database.session._jsc.hadoopConfiguration())
        return permission.getDirDefault().applyUMask(mask)


def export(session: Any, frame: DataFrame, path: Path) -> None:
    """Write rows as CSV, every cell as text, sorted by their text: equal rows give equal bytes."""
    frame.createOrReplaceTempView("released")
    types = [(field.name, field.dataType.simpleString()) for field in frame.schema]
    texts = ", ".join(f"{as_text(quote(name), type)} AS {quote(name)}" for name, type in types)
    plain = session.sql(f"SELECT {texts} FROM released")
    guarded = [sf.regexp_replace(sf.col(quote(name)), GUARDED.replace("''", "'"), "'$1") for name, _ in types]
    renamed = plain.select(*(text.alias(name) for text, (name, _) in zip(guarded, types, strict=True)))
    order = [sf.col(quote(name)).asc_nulls_last() for name, _ in types]
    rows = SparkRows(hold_on_disk(renamed.orderBy(*order)))
    with path.open("wb") as file, pc.CSVWriter(file, rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch)
