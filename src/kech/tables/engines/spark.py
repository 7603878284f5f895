"""Apache Spark engine: the rows stay on the workers; the driver sees counts, codes and what is published."""

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.tables.databases.address import Address
from kech.tables.databases.arrow import plain_type
from kech.tables.databases.spark import (
    SparkRows,
    as_text,
    hold_on_disk,
    name_table,
    open_session,
    quote,
    read_parquet,
    refusals,
    send,
    send_plain,
)
from kech.tables.engines import Mapping1D, Output
from kech.tables.engines.dealing import shared_points
from kech.tables.engines.dialect import NOT_FINITE, NUMBER, Dialect
from kech.tables.engines.splitting import Split
from kech.tables.engines.sql import SqlEngine

NUMBER_TYPES = re.compile(r"(tinyint|smallint|int|bigint|float|double|decimal\(.*\))")
PARTITION = 1_000_000  # rows that a worker sorts at a time
PLACE = (1 << 33) - 1  # of a row in its partition, within the number Spark gives it


class SparkDialect(Dialect):
    """What Spark says differently."""

    group_mark, everywhere = "$", ""  # as in Java, which replaces all that fits
    nan = "double('NaN')"

    def quote(self, name: str) -> str:
        """An identifier, whatever its characters."""
        return quote(name)

    def literal(self, text: str) -> str:
        """A string constant, whatever its characters."""
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern fits the whole of a text."""
        whole = self.literal(rf"\A(?s:{pattern})\z")
        return f"regexp_like({text}, {whole})"

    def text(self, cell: str, type: str) -> str:
        """A cell as text; floats as Python writes them."""
        return as_text(cell, type.lower())

    def number(self, text: str) -> str:
        """A text as a float."""
        return f"try_cast({text} AS DOUBLE)"

    def loose_number(self, text: str) -> str:
        """A text as a float, infinities and NaN too."""
        return self.number(f"CASE WHEN {self.matches(text, f'{NUMBER}|{NOT_FINITE}')} THEN {text} END")

    def bytes(self, text: str) -> str:
        """How many bytes a text has in UTF-8."""
        return f"octet_length({text})"

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

    def secret(self, row: str) -> str:
        """A text for each row that nobody can know: its hash with a key of its own."""
        return f"sha2({self.literal(secrets.token_hex(32))} || CAST({row} AS STRING), 256)"


class SparkEngine(SqlEngine):
    """One session of a Spark application, which all engines of this process share."""

    dialect = SparkDialect()

    def __init__(self, *, master: str | None = None, memory: int | None = None, threads: int | None = None) -> None:
        super().__init__()
        self.session = open_session(master, memory, threads)
        self._given: Any = None  # the source, to be read again

    def _shut(self) -> None:
        for name in ("kept", "mapping", "gone", *self._made):
            self._drop(name, "TABLE")
        self._given = None

    # -- loading -------------------------------------------------------------------------------------------

    def load_parquet(self, path: Path, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a Parquet file, or a folder of them, by a path of this machine that the workers know too."""
        self._keep(read_parquet(self.session, f"file://{path.resolve()}", path), names, wanted, nulls)

    def load_table(self, address: Address, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Read Parquet files wherever Spark reaches them."""
        self._keep(read_parquet(self.session, address.place, address), names, wanted, nulls)

    def load_arrow(self, batches: Any, wanted: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Send record batches to the workers."""
        self._keep(send(self.session, batches, path), batches.schema.names, wanted, nulls)

    def _keep(self, given: Any, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Number the rows as they lie: their place in their partition, after all partitions before it."""
        self._given = given
        columns = [f"{quote(names[i])} AS c{i}" for i in wanted]
        with refusals("reading the table"):
            kept = given.selectExpr(*columns, "monotonically_increasing_id() AS id").localCheckpoint()
            self.types = {i: kept.schema[f"c{i}"].dataType.simpleString() for i in wanted}
            counts = kept.selectExpr("shiftright(id, 33) AS part").groupBy("part").count().collect()
        before, starts = 0, []
        for part, rows in sorted(tuple(row) for row in counts):
            starts.append((part, before))
            before += rows
        parts = max(int(self.session.conf.get("spark.sql.shuffle.partitions")), before // PARTITION)
        self.session.conf.set("spark.sql.shuffle.partitions", str(parts))
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
        for name in ("loaded", "starts"):  # rows are kept once
            self._drop(name, "TABLE")

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """The source as Spark reads it again, all its columns."""
        given = send(self.session, batches, "table") if batches is not None else self._given
        given.createOrReplaceTempView("given")
        types = {field.name: field.dataType.simpleString() for field in given.schema}
        return self._hashed({name: (quote(name), types[name], kind_of(types[name])) for name in columns}, "given")

    # -- publishing ------------------------------------------------------------------------------------------

    def publish(
        self,
        mappings: Sequence[Mapping1D],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        *,
        for_csv: bool,
        key: bytes | None = None,
    ) -> Any:
        """Each row gets the labels of its class on the workers, which may write them, too.

        Equal rows that several classes share, or of which some are suppressed, are dealt out in one secret
        order, and the whole table is written in another: the place of a row in the file says nothing about how
        it was dealt.  Rows in no share are not published.
        """
        same = self._grouped_rows(mappings)
        split = self._split(mappings, shares, outputs, key)
        self._load_shares(split, outputs)
        deal, order = self.dialect.secret("r"), self.dialect.secret("r")
        cells = {f"o{j}": self._published(o, j, for_csv) for j, o in enumerate(outputs) if o.source is not None}
        also = "".join(f", {cell} AS {name}" for name, cell in cells.items()) + split.cells
        told = "".join(f", {name}" for name in cells)
        rows = f"""FROM ({self._coded_rows(mappings, also)}) AS coded
            JOIN {self._named("points")} AS points ON {same} {split.joins}
            JOIN {self._named("takers")} AS takers ON takers.p = {split.number}"""
        dealt = f"""SELECT r, {order} AS h, takers.p, split{told},
            row_number() OVER (PARTITION BY takers.p ORDER BY {deal}, r) AS i {rows} WHERE split"""
        whole = f"SELECT r, {order} AS h, takers.p, split{told}, 1 AS i {rows} WHERE NOT split"
        columns = ", ".join(
            f"{f'o{j}' if f'o{j}' in cells else self._published(o, j, for_csv)} AS {self.dialect.quote(o.name)}"
            for j, o in enumerate(outputs)
        )
        return self._stream(
            f"""SELECT {columns} FROM ({dealt} UNION ALL {whole}) AS dealt
            JOIN {self._named("shares")} AS shares
            ON shares.p = dealt.p AND (NOT dealt.split OR dealt.i BETWEEN shares.first AND shares.last)
            JOIN {self._named("labels")} AS labels ON labels.class = shares.class ORDER BY dealt.h, dealt.r"""
        )

    def _load_shares(self, split: Split, outputs: Sequence[Output]) -> None:
        labels = {f"l{j}": pa.array(o.labels, pa.string()) for j, o in enumerate(outputs) if o.source is None}
        classes, taken = len(next(iter(labels.values()))), np.unique(split.shares["p"])
        divided = np.isin(taken, shared_points(split.shares, split.weights))
        self._put(self._new("shares"), pa.table(dict(split.shares)), "loading labels")
        self._put(self._new("labels"), pa.table({"class": np.arange(classes), **labels}), "loading labels")
        self._put(self._new("takers"), pa.table({"p": taken, "split": divided}), "loading labels")
        self._spread("takers", len(taken))

    # -- small tables, which every worker holds whole: rows need not be sorted to meet them --------------------

    def group(
        self, mappings: Sequence[Mapping1D], most: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Code every row in one number, or a few, and GROUP BY that."""
        codes, weights = super().group(mappings, most)
        self._spread("points", len(weights))
        return codes, weights

    def _load(self, mapping: Mapping1D, stride: int) -> None:
        super()._load(mapping, stride)
        self._spread(f"m{mapping.column}", len(mapping.values))

    def _spread(self, name: str, rows: int) -> None:
        named = self._named(name)
        with refusals("loading codes"):
            name_table(self.session.table(named), named, rows)

    # -- what the verbs stand on -----------------------------------------------------------------------------

    def _type(self, column: int) -> str:
        return kind_of(self.types[column])

    def _create(self, name: str, query: str, doing: str) -> None:
        with refusals(doing):
            self.session.sql(query).localCheckpoint().createOrReplaceTempView(name)  # plans of plans grow without end

    def _overwrite(self, column: int, value: str, where: str) -> None:
        others = [f"c{i}" for i in self.types if i != column]
        chosen = f"CASE WHEN {where} THEN {value} ELSE c{column} END AS c{column}"
        self._create("kept", f"SELECT {', '.join(['r', *others, chosen])} FROM kept", "reading the table")

    def _define(self, name: str, query: str) -> None:
        with refusals("leaving rows out"):
            self.session.sql(query).createOrReplaceTempView(name)

    def _drop(self, name: str, kind: str) -> None:  # noqa: ARG002 - all are views here
        with refusals("tidying up"):
            self.session.catalog.dropTempView(name)

    def _put(self, name: str, table: Any, doing: str) -> None:
        with refusals(doing):
            name_table(send_plain(self.session, as_plain_table(table)), name, table.num_rows)

    def _get(self, query: str, doing: str) -> Any:
        with refusals(doing):
            return self.session.sql(query).toArrow()

    def _rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        with refusals(doing):
            return [tuple(row) for row in self.session.sql(query).collect()]

    def _stream(self, query: str) -> Any:
        with refusals("publishing"):
            return SparkRows(hold_on_disk(self.session.sql(query)))


STARTS = pa.schema([("part", pa.int64()), ("start", pa.int64())])


def kind_of(type: str) -> str:
    """What a column of this type is for kech."""
    if NUMBER_TYPES.fullmatch(type):
        return "number"
    return {"date": "date", "timestamp": "date", "timestamp_ntz": "date", "string": "text", "boolean": "text"}.get(
        type, "other"
    )


def as_plain_table(table: Any) -> Any:
    """An Arrow table in plain types."""
    schema = pa.schema([(field.name, plain_type(field, "labels")) for field in table.schema])
    return table.cast(schema)
