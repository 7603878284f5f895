"""Apache Spark engine: the rows stay on the workers; the driver sees counts, codes and what is published."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from kech.databases.arrow import as_plain, plain_type
from kech.engines.dialect import NOT_FINITE, NUMBER, Dialect
from kech.engines.sql import EngineFailed, SqlEngine
from kech.errors import MissingExtra, UnreadableFile

try:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as sf
    from pyspark.sql import types as st
except ImportError:
    raise MissingExtra("Spark", "spark") from None

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.io.encryption.enabled": "true",  # what is spilled is not readable on disk
    "spark.sql.session.timeZone": "UTC",  # moments with a zone read the same everywhere
    "spark.sql.ansi.enabled": "true",
    "spark.sql.maxPlanStringLength": "10000",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
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
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
PLACE = (1 << 33) - 1  # of a row in its partition, within the number Spark gives it


class SparkDialect(Dialect):
    """What Spark says differently."""

    text_type = "STRING"
    nan = "double('NaN')"

    def quote(self, name: str) -> str:
        """An identifier, whatever its characters."""
        return "`" + name.replace("`", "``") + "`"

    def literal(self, text: str) -> str:
        """A string constant, whatever its characters."""
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern fits the whole of a text."""
        whole = self.literal(rf"\A(?s:{pattern})\z")
        return f"regexp_like({text}, {whole})"

    def text(self, cell: str, type: str) -> str:
        """A cell as text; floats as Python writes them."""
        if type.lower() in ("float", "double"):
            return f"kech_{type.lower()}({cell})"
        zone = " || '+00'" if type == "timestamp" else ""
        return f"(CAST({cell} AS STRING){zone})"

    def number(self, text: str) -> str:
        """A text as a float."""
        return f"try_cast({text} AS DOUBLE)"

    def loose_number(self, text: str) -> str:
        """A text as a float, infinities and NaN too."""
        return self.number(f"CASE WHEN {self.matches(text, f'{NUMBER}|{NOT_FINITE}')} THEN {text} END")

    def digests(self, text: str) -> tuple[str, str]:
        """The two halves of the MD5 of a text, as whole numbers."""
        halves = [
            " || ".join(f"substr(md5({text}), {2 * byte + 1}, 2)" for byte in range(start + 7, start - 1, -1))
            for start in (8, 0)
        ]
        return tuple(f"CAST(conv({half}, 16, 10) AS DECIMAL(20, 0))" for half in halves)  # type: ignore[return-value]

    def moment(self, text: str) -> str:
        """A text as a date with its time."""
        return f"try_cast({text} AS TIMESTAMP_NTZ)"

    def seconds(self, moment: str) -> str:
        """Seconds since 1970, from whole microseconds."""
        return f"(CAST(unix_micros(CAST({moment} AS TIMESTAMP)) AS DOUBLE) / 1e6D)"

    def finite(self, number: str) -> str:
        """Whether a float is neither NaN nor infinite."""
        return f"(NOT isnan({number}) AND abs({number}) <> double('Infinity'))"

    def secret(self, key: str, row: str) -> str:
        """A key for each row that nobody can know."""
        return f"sha2({self.literal(key)} || CAST({row} AS STRING), 256)"


class SparkEngine(SqlEngine):
    """One session of a Spark application, which all engines of this process share."""

    dialect = SparkDialect()

    def __init__(self, *, master: str | None = None, memory: int | None = None, threads: int | None = None) -> None:
        super().__init__()
        self.session = open_session(master, memory, threads or 1)
        self._given: DataFrame | None = None

    def _shut(self) -> None:
        for name in ("loaded", "starts", "kept", *self._made):
            self._drop(name, "TABLE")
        self._given = None

    # -- loading -------------------------------------------------------------------------------------------

    def load_parquet(self, path: object, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Read Parquet files by any path the workers know."""
        try:
            given = self.session.read.option("mergeSchema", "true").parquet(str(path))
        except (PySparkException, Py4JError):
            raise UnreadableFile(path, "Spark cannot read it as Parquet.") from None
        self._keep(given, names, wanted, nulls)

    def load_arrow(self, batches: Any, wanted: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Send record batches to the workers."""
        self._keep(self._sent(batches, path), batches.schema.names, wanted, nulls)

    def _sent(self, batches: Any, path: object) -> DataFrame:
        plain = pa.schema([(f"c{i}", plain_type(field, path)) for i, field in enumerate(batches.schema)])
        held = [pa.record_batch(as_plain(batch, path).columns, schema=plain) for batch in batches]
        return self._frame(pa.Table.from_batches(held, plain)).toDF(*batches.schema.names)

    def _keep(self, given: DataFrame, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Number the rows as they lie: their place in their partition, after all partitions before it."""
        self._given = given
        columns = [sf.col(self.dialect.quote(names[i])).alias(f"c{i}") for i in wanted]
        with refusals("reading the table"):
            kept = given.select(*columns).withColumn("id", sf.monotonically_increasing_id()).localCheckpoint()
            self.types = {i: kept.schema[f"c{i}"].dataType.simpleString() for i in wanted}
            counts = kept.groupBy(sf.shiftright("id", 33).alias("part")).count().collect()
        before, starts = 0, []
        for part, rows in sorted(tuple(row) for row in counts):
            starts.append((part, before))
            before += rows
        numbered = pa.table({"part": [p for p, _ in starts], "start": [s for _, s in starts]}, schema=STARTS)
        kept.createOrReplaceTempView("loaded")
        self._put("starts", numbered, "reading the table")
        mended = ", ".join(f"{self.dialect.without(f'c{i}', self.types[i], nulls)} AS c{i}" for i in wanted)
        self._create(
            "kept",
            f"""SELECT (id & {PLACE}L) + start AS r, {mended} FROM loaded
            JOIN starts ON starts.part = shiftright(id, 33)""",
            "reading the table",
        )

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """The source as Spark reads it again, all its columns."""
        given = self._sent(batches, "table") if batches is not None else self._given
        assert given is not None  # rows were loaded
        given.createOrReplaceTempView("given")
        types = {name: field.dataType.simpleString() for name, field in zip(columns, given.schema, strict=True)}
        return self._hashed(
            {name: (self.dialect.quote(name), type, kind_of(type)) for name, type in types.items()}, "given"
        )

    # -- what the verbs stand on -----------------------------------------------------------------------------

    def _type(self, column: int) -> str:
        return kind_of(self.types[column])

    def _create(self, name: str, query: str, doing: str) -> None:
        with refusals(doing):
            self.session.sql(query).localCheckpoint().createOrReplaceTempView(name)  # plans of plans grow without end

    def _define(self, name: str, query: str) -> None:
        with refusals("leaving rows out"):
            self.session.sql(query).createOrReplaceTempView(name)

    def _drop(self, name: str, kind: str) -> None:  # noqa: ARG002 - all are views here
        with refusals("tidying up"):
            self.session.catalog.dropTempView(name)

    def _put(self, name: str, table: Any, doing: str) -> None:
        with refusals(doing):
            self._frame(as_plain_table(table)).createOrReplaceTempView(name)

    def _frame(self, table: Any) -> DataFrame:
        """Plain Arrow rows as rows of Spark."""
        fields = [st.StructField(field.name, spark_type(field.type)) for field in table.schema]
        rows = table if table.num_rows else []
        made: DataFrame = self.session.createDataFrame(rows, st.StructType(fields))
        return made

    def _get(self, query: str, doing: str) -> Any:
        with refusals(doing):
            return self.session.sql(query).toArrow()

    def _stream(self, query: str) -> Any:
        with refusals("publishing"):
            ordered = self.session.sql(query).localCheckpoint()
            parts = ordered.rdd.getNumPartitions()
            schema = ordered.limit(0).toArrow().schema
        return pa.RecordBatchReader.from_batches(schema, self._parts(ordered, parts, schema))

    def _parts(self, ordered: DataFrame, parts: int, schema: Any) -> Iterator[Any]:
        """A partition after the other, so that the driver never holds all rows."""
        with refusals("publishing"):
            for part in range(parts):
                found = ordered.where(sf.spark_partition_id() == part).toArrow()
                yield from found.cast(schema).to_batches()


STARTS = pa.schema([("part", pa.int64()), ("start", pa.int64())])


def open_session(master: str | None, memory: int | None, threads: int) -> Any:
    """A session of its own, in the one application of this process."""
    chosen = master or f"local[{threads}]"
    builder = SparkSession.builder.appName("kech").master(chosen)
    settings = dict(SETTINGS)
    settings |= {"spark.driver.memory": f"{max(512, memory >> 20)}m"} if memory else {}
    settings |= {"spark.sql.shuffle.partitions": str(threads)} if chosen.startswith("local") else {}
    for name, value in settings.items():
        builder = builder.config(name, value)
    with refusals("starting"):
        session = builder.getOrCreate().newSession()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        for name, write in (("kech_double", float_writer()), ("kech_float", float_writer(single=True))):
            session.udf.register(name, write, st.StringType())
    return session


def float_writer(*, single: bool = False) -> Callable[[float | None], str | None]:
    """The shortest digits that read back; what it returns travels to workers that have no kech."""

    def write(number: float | None) -> str | None:
        import struct

        if number is None:
            return None
        if not single or number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124
            return repr(number)
        digits = (float(f"{number:.{size}g}") for size in range(1, 10))
        return repr(next((x for x in digits if struct.pack("f", x) == struct.pack("f", number)), number))

    return write


@contextmanager
def refusals(doing: str) -> Iterator[None]:
    """What Spark says, without the cells it quotes."""
    try:
        yield
    except (PySparkException, Py4JError) as failure:
        raise EngineFailed(f"Spark failed while {doing} ({type(failure).__name__}).") from None


def kind_of(type: str) -> str:
    """What a column of this type is for kech."""
    if type.startswith(NUMBERS):
        return "number"
    return {"date": "date", "timestamp": "date", "timestamp_ntz": "date", "string": "text", "boolean": "text"}.get(
        type, "other"
    )


def spark_type(kind: Any) -> Any:
    """A plain type of Arrow in Spark."""
    return st.DecimalType(kind.precision, kind.scale) if pa.types.is_decimal(kind) else TYPES[kind]


def as_plain_table(table: Any) -> Any:
    """An Arrow table in plain types."""
    schema = pa.schema([(field.name, plain_type(field, "labels")) for field in table.schema])
    return table.cast(schema)
