"""SQL: the text of every query, the same for all backends.

In: how a backend stores rows (`Layout`), and the SQL in which it differs from others (`Dialect`).  Out: queries.
Rows are a table `kept`, numbered by r from 0, with columns c0, c1, ...  Derived from it are tables of distinct values
(v0, v1, ...), tables of codes (m0, m1, ...), and `points`.  Every name, text and pattern of a query is quoted here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from re import fullmatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.tables.batches import Output

YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
NOT_FINITE = r"[+-]?([nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
ZERO_PADDED = r"[+-]?0[0-9]+([^.0-9].*)?"  # 02138, and no decimal such as 01.08
DATE = rf"{YEAR}-[0-9]{{2}}-[0-9]{{2}}([ T]{TIME})?"
WHOLE = r"[+-]?[0-9]+"
OPEN_END = "-inf"  # the lower end of an open interval, in a column of numbers
COMMA_NUMBER = r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]*)?([eE][+-]?[0-9]+)?"
DAY, MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
DAY_FIRST = rf"{DAY}[./-]{MONTH}[./-]{YEAR}([ T]{TIME})?"
MONTH_FIRST = rf"{MONTH}[./-]{DAY}[./-]{YEAR}([ T]{TIME})?"
BLANK = "\t\n\v\f\r\x1c-\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # white space of all scripts
FORMULA = f"'*[{BLANK}]*[=+@\t\r-].*"
GUARDED = f"^(''+[{BLANK}]*[=+@\t\r-])"  # in a constant of SQL: text from which a reader of CSV removes an apostrophe
MARK = "released by kech"  # the comment of tables that kech may replace
FLOATS = ("float", "double", "real")  # prefixes of their types
LARGEST = 2**62
MOST_DIGITS = 15  # longer numbers are codes, since a float cannot represent them
SMALLEST, GREATEST = "1e-15", "1e15"  # numbers between them are rounded before they are hashed


def quote(name: str) -> str:
    """An identifier, with any characters."""
    return '"' + name.replace('"', '""') + '"'


def guard(text: str) -> str:
    """Text for a CSV file whose reader removes an apostrophe in front of formulas: with one more apostrophe there."""
    return rf"regexp_replace({text}, '{GUARDED}', '''\1')"


class Dialect:
    """The SQL of DuckDB; other backends override what differs."""

    float_type = "DOUBLE"
    nan = "CAST('nan' AS DOUBLE)"
    group_mark, everywhere = "\\", ", 'g'"  # prefix of a group in a replacement, and the flag to replace all

    def quote(self, name: str) -> str:
        """An identifier, with any characters."""
        return quote(name)

    def literal(self, text: str) -> str:
        """A string constant, with any characters."""
        return "'" + text.replace("'", "''") + "'"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern matches the whole text; a dot is any character."""
        return f"regexp_full_match({text}, {self.literal(pattern)}, 's')"

    def text(self, cell: str, type: str) -> str:  # noqa: ARG002
        """A cell as text: floats with the shortest exact digits (1.0 for a whole one), times with a zone in UTC."""
        return f"CAST({cell} AS VARCHAR)"

    def number(self, text: str) -> str:
        """A text as a float, infinite where it is too large; NULL where it is no number."""
        return f"TRY_CAST({text} AS DOUBLE)"

    def loose_number(self, text: str) -> str:
        """A text as a float, which may be an infinity or NaN; NULL where it is no number."""
        return f"TRY_CAST({text} AS DOUBLE)"

    def digests(self, text: str) -> tuple[str, str]:
        """The two halves of the MD5 of a text, as whole numbers; md5_number_lower takes four times as long."""
        whole = f"md5_number({text})"
        return f"CAST({whole} >> 64 AS UBIGINT)", f"CAST({whole} & {2**64 - 1}::UHUGEINT AS UBIGINT)"

    def moment(self, text: str) -> str:
        """A text as a date with time; NULL where there is no such day."""
        return f"TRY_CAST({text} AS TIMESTAMP)"

    def seconds(self, moment: str) -> str:
        """Seconds since 1970 of a date, with or without time, as a float; NULL where it is infinite."""
        return f"epoch_us(TRY_CAST({moment} AS TIMESTAMP)) / 1e6"

    def point_number(self, text: str) -> str:
        """1.234,5 as 1234.5."""
        return f"replace(replace({text}, '.', ''), ',', '.')"

    def year_first(self, text: str, day_first: bool) -> str:
        """31.12.2020 as 2020-12-31, or 12/31/2020 where the month comes first."""
        order = "321" if day_first else "312"
        year, month, day = (f"{self.group_mark}{number}" for number in order)
        first = self.literal("^([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})")
        padded = f"regexp_replace({text}, {first}, {self.literal(f'{year}-0{month}-0{day}')})"
        of_two = f"{self.literal('-0([0-9]{2})')}, {self.literal(f'-{self.group_mark}1')}"
        return f"regexp_replace({padded}, {of_two}{self.everywhere})"

    def is_finite(self, number: str) -> str:
        """Whether a float is neither NaN nor infinite."""
        return f"isfinite({number})"

    def bytes(self, text: str) -> str:
        """The number of bytes of a text in UTF-8."""
        return f"strlen({text})"

    def lower(self, text: str) -> str:
        """A text in small letters of all scripts."""
        return f"lower({text})"

    def secret(self, row: str) -> str:
        """A secret random number or text for each row; in DuckDB from a function that the backend registers."""
        return f"kech_random({row})"

    def without(self, cell: str, type: str, nulls: Sequence[str]) -> str:
        """A cell, or NULL where its text is one of `nulls`."""
        if not nulls:
            return cell
        texts = ", ".join(self.literal(text.lower()) for text in nulls)
        return f"CASE WHEN {self.lower(self.text(cell, type))} NOT IN ({texts}) THEN {cell} END"

    def guard_formula(self, text: str) -> str:
        """A text, with an apostrophe in front where a spreadsheet would run it as a formula."""
        formula = f"{self.matches(text, FORMULA)} AND NOT {self.matches(text, f'{NUMBER}|{OPEN_END}')}"
        return f"CASE WHEN {formula} THEN '''' || {text} ELSE {text} END"

    def comparable_text(self, cell: str, type: str, kind: str) -> str:
        """A cell as text that does not depend on its type: 1.0 is 1, TRUE is true."""
        text = self.text(cell, type)
        if kind == "date":
            return f"coalesce(regexp_replace({text}, ' 00:00:00([+]00)?$', ''), '')"
        number = f"nullif({self.loose_number(f'trim({text})')} + CAST(0 AS {self.float_type}), {self.nan})"
        return f"coalesce({self.text(number, self.float_type)}, nullif({self.lower(f'trim({text})')}, 'nan'), '')"

    def rounded_text(self, cell: str, type: str, kind: str) -> str:
        """A cell as comparable text with less precision: six digits and the exponent of a number, the day of a date."""
        text = self.comparable_text(cell, type, kind)
        if kind == "date":
            return f"substr({text}, 1, 10)"
        number = f"abs({self.loose_number(f'trim({self.text(cell, type)})')})"
        exponent = f"floor(log10(greatest({number}, {SMALLEST})))"
        digits = f"round(least({number}, {GREATEST}) * power(10, 5 - {exponent}))"
        spelled = (
            f"{self.text(f'CAST({digits} AS BIGINT)', '')} || 'e' || {self.text(f'CAST({exponent} AS INTEGER)', '')}"
        )
        return f"CASE WHEN {number} > {SMALLEST} AND {number} < {GREATEST} THEN {spelled} ELSE {text} END"


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How a backend stores a column."""

    type: str  # the name of its type in the backend
    kind: str  # number, date, text or other
    in_words: bool = False  # rows have numbers k<i>, and a table words<i> has the text c<i> of each number


@dataclass(frozen=True, slots=True)
class Layout:
    """How a backend stores rows; the names of all derived tables begin with a prefix."""

    dialect: Dialect
    columns: Mapping[int, ColumnType]
    prefix: str = ""

    def name(self, table: str) -> str:
        """The full name of a table."""
        return self.prefix + table

    def text(self, column: int, cell: str) -> str:
        """A cell of a column as text."""
        return self.dialect.text(cell, self.columns[column].type)

    def key(self, column: int) -> str:
        """The column of `kept` that identifies a value: its number, or the value itself."""
        return f"k{column}" if self.columns[column].in_words else f"c{column}"

    def rows(self, columns: Sequence[int]) -> str:
        """The rows for FROM, with the texts of these columns where they are stored as words."""
        worded = [i for i in dict.fromkeys(columns) if self.columns[i].in_words]
        if not worded:
            return self.name("kept")
        cells = ", ".join(["kept.*", *(f"words{i}.c{i}" for i in worded)])
        joins = " ".join(f"JOIN words{i} ON words{i}.k{i} = kept.k{i}" for i in worded)
        return f"(SELECT {cells} FROM {self.name('kept')} AS kept {joins})"


# -- columns and their distinct values -----------------------------------------------------------------------


def distinct_values(layout: Layout, column: int) -> str:
    """The distinct values of a column, their rows, and the first row of each."""
    stored, kept = layout.columns[column], layout.name("kept")
    zero = f" + CAST(0 AS {stored.type})" if is_float(stored) else ""  # -0.0 becomes 0.0
    if stored.in_words:
        numbers = f"SELECT k{column}, count(*) AS n, min(r) + 1 AS first FROM {kept} GROUP BY k{column}"
        return f"""SELECT c{column} AS value, CAST(sum(n) AS BIGINT) AS n, min(first) AS first
            FROM ({numbers}) AS numbers JOIN words{column} USING (k{column}) GROUP BY value"""
    return f"""SELECT value, count(*) AS n, min(r) + 1 AS first
        FROM (SELECT r, c{column}{zero} AS value FROM {kept}) AS cells GROUP BY value"""


def grouped_values(layout: Layout, columns: Sequence[int]) -> str:
    """The distinct values of columns, counted by their properties; each pattern is matched once."""
    sql = layout.dialect
    number, date = (f"CASE WHEN {sql.matches('written', pattern)} THEN written END" for pattern in (NUMBER, DATE))
    each = {
        "number": f"coalesce(number, {sql.number(number)})",
        "dated": f"dated OR {sql.moment(date)} IS NOT NULL",
        "odd": sql.matches("written", NOT_FINITE),
        "padded": sql.matches("written", ZERO_PADDED),
        "digits": f"coalesce(digits, CASE WHEN {sql.matches('written', WHOLE)} THEN length(written) END)",
    }
    finite = sql.is_finite("number")
    alike = f"i, missing, blank, coalesce({finite}, false), coalesce(odd OR NOT {finite}, false), padded, dated"
    written = " UNION ALL ".join(written_values(layout, column) for column in columns)
    return f"""SELECT {alike}, CAST(sum(n) AS BIGINT), count(*), min(first), max(digits)
        FROM (SELECT i, n, first, missing, blank, {", ".join(f"{cell} AS {name}" for name, cell in each.items())}
        FROM ({written}) AS cells) AS described GROUP BY {alike}"""


def written_values(layout: Layout, column: int) -> str:
    """The distinct values of a column as text, with the properties that follow from their type."""
    kept, sql = layout.columns[column], layout.dialect
    kind, floating, whole = kept.kind, is_float(kept), is_whole(kept)
    number = "value" if floating or whole else read_value(layout, column, "number") if kind == "number" else "NULL"
    dated = f"{read_value(layout, column, 'date')} IS NOT NULL" if kind == "date" else "false"
    text = layout.text(column, "value" if kind in ("text", "number") and not (floating or whole) else "NULL")
    digits = f"length({layout.text(column, 'value')})" if whole else "NULL"
    blank = f"coalesce({text} = '', false)" if kind == "text" else "false"
    return f"""SELECT {column} AS i, n, first, value IS NULL AS missing, {blank} AS blank, trim({text}) AS written,
        CAST({number} AS {sql.float_type}) AS number, {dated} AS dated, CAST({digits} AS INTEGER) AS digits
        FROM {layout.name(f"v{column}")}"""


def read_values(layout: Layout, column: int, kind: str) -> str:
    """The distinct values of a column, read as `kind`, without NULL, and their rows."""
    return f"""SELECT x, CAST(sum(n) AS BIGINT) AS n FROM (SELECT {read_value(layout, column, kind)} AS x, n
        FROM {layout.name(f"v{column}")} WHERE value IS NOT NULL) AS read GROUP BY x ORDER BY x NULLS LAST"""


def read_value(layout: Layout, column: int, kind: str) -> str:
    """A distinct value as a number, as seconds since 1970, or as text."""
    sql, kept = layout.dialect, layout.columns[column]
    text = sql.text("value", kept.type)
    if kind == "text":
        return text
    fits = sql.matches(f"trim({text})", NUMBER if kind == "number" else DATE)
    checked = f"CASE WHEN {fits} THEN trim({text}) END"
    if kind == "number":
        number = sql.number(checked) if kept.kind == "text" else f"CAST(value AS {sql.float_type})"
        return f"({number} + CAST(0 AS {sql.float_type}))"
    return sql.seconds(sql.moment(checked) if kept.kind == "text" else "value")


def is_float(column: ColumnType) -> bool:
    """Whether the type of a column is a float."""
    return column.type.lower().startswith(FLOATS)


def is_whole(column: ColumnType) -> bool:
    """Whether the type of a column is an integer."""
    return fullmatch("u?(tiny|small|big)?int(eger)?", column.type.lower()) is not None


def text_bytes(layout: Layout, column: int) -> str:
    """The number of bytes of all distinct values of a column as text."""
    text = layout.dialect.bytes(read_value(layout, column, "text"))
    return f"""SELECT CAST(coalesce(sum({text}), 0) AS BIGINT)
        FROM {layout.name(f"v{column}")} WHERE value IS NOT NULL"""


def hashed_values(layout: Layout, column: int, depth: int) -> str:
    """Distinct values of a column as text, their hashes that begin with `depth` zero bits, and their rows.

    The hash is of the comparable text, with rounded numbers and dates without time; empty values are left out.
    """
    stored, sql = layout.columns[column], layout.dialect
    rounded = sql.rounded_text("value", stored.type, stored.kind)
    (low, _), (nothing, _) = (
        sql.digests("cell"),
        sql.digests("''"),
    )  # a test of cells would be made before they are read
    below = f"AND h < CAST('{2 ** (64 - depth)}' AS DECIMAL(20, 0))" if depth else ""
    return f"""SELECT x, {sql.text("h", "")} AS h, n FROM (SELECT x, {low} AS h, n
        FROM (SELECT {sql.text("value", stored.type)} AS x, {rounded} AS cell, n FROM {layout.name(f"v{column}")}
        WHERE value IS NOT NULL) AS rounded) AS hashed WHERE h <> {nothing} {below}"""


def present_values(layout: Layout, column: int) -> str:
    """The number of distinct values of a column and of rows with a value; empty text is no value."""
    stored = layout.columns[column]
    present = f"trim({layout.text(column, 'value')}) <> ''" if stored.kind == "text" else "value IS NOT NULL"
    return f"SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT) FROM {layout.name(f'v{column}')} WHERE {present}"


def missing_value(layout: Layout, column: int) -> str:
    """One record if a row of the column has no value, otherwise none."""
    return f"SELECT 1 FROM {layout.name(f'v{column}')} WHERE value IS NULL LIMIT 1"


def text_lengths(layout: Layout, column: int) -> str:
    """Whether all values of a column of text are whole numbers, and the length of the longest."""
    text = f"trim({layout.text(column, 'value')})"
    return f"""SELECT min(CASE WHEN {layout.dialect.matches(text, WHOLE)} THEN 1 ELSE 0 END),
        coalesce(max(length({text})), 0) FROM {layout.name(f"v{column}")} WHERE value IS NOT NULL"""


def combinations(layout: Layout, columns: Sequence[int], folded: bool = False, *, by_first: bool = False) -> str:
    """The numbers of distinct combinations, of rows with a value in any of these columns, of rows of the commonest.

    By the first: of rows with a value in the first column alone.
    """
    cells = [fold_cell(layout, i) if folded else hold_cell(layout, i) for i in columns]
    folded_cells = ", ".join(f"{cell} AS h{index}" for index, cell in enumerate(cells))
    names = [f"h{index}" for index in range(len(cells))]
    return f"""SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT), coalesce(max(n), 0) FROM (SELECT count(*) AS n
        FROM (SELECT {folded_cells} FROM {layout.rows(columns)} AS kept) AS held
        WHERE {" OR ".join(f"{name} IS NOT NULL" for name in (names[:1] if by_first else names))}
        GROUP BY {", ".join(names)}) AS together"""


def rows_by_value(layout: Layout, column: int, by: int) -> str:
    """For each value of the second column its rows, and those with a value in the first."""
    cells = f"{hold_cell(layout, column)} AS h0, {hold_cell(layout, by)} AS h1"
    return f"""SELECT count(*), count(h0) FROM (SELECT {cells} FROM {layout.rows([column, by])} AS kept) AS held
        WHERE h1 IS NOT NULL GROUP BY h1"""


def rows_with_few_cells(layout: Layout, columns: Sequence[int], most: int) -> str:
    """Rows with a value in so many of these columns at most, and the number of the last one; '' is no value."""
    present = " + ".join(f"CASE WHEN {hold_cell(layout, column)} IS NULL THEN 0 ELSE 1 END" for column in columns)
    return f"""SELECT count(*), coalesce(max(r) + 1, 0) FROM {layout.rows(columns)} AS kept
        WHERE {present} <= {int(most)}"""


def hold_cell(layout: Layout, column: int) -> str:
    """A cell; NULL where it is an empty text."""
    is_text = layout.columns[column].kind == "text"  # booleans have no ''
    return f"nullif({layout.text(column, f'c{column}')}, '')" if is_text else f"c{column}"


def fold_cell(layout: Layout, column: int) -> str:
    """A cell in the form in which identifiers are compared, with long numbers as text; NULL where it is empty."""
    stored, sql = layout.columns[column], layout.dialect
    text = sql.text(f"c{column}", stored.type)
    short = f"length({text}) <= {MOST_DIGITS}"
    read = sql.comparable_text(f"c{column}", stored.type, stored.kind)
    return f"nullif(CASE WHEN {short} THEN {read} ELSE {sql.lower(f'trim({text})')} END, '')"


def first_rows(layout: Layout, columns: Sequence[int], rows: int) -> str:
    """The first rows as text."""
    cells = ", ".join(f"{layout.text(i, f'c{i}')} AS c{i}" for i in columns)
    return f"SELECT {cells} FROM {layout.rows(columns)} AS kept ORDER BY r LIMIT {int(rows)}"


def all_rows(layout: Layout, columns: Sequence[int]) -> str:
    """All rows with their numbers; cells are text, or numbers of words."""
    texts = {i: layout.key(i) if layout.columns[i].in_words else layout.text(i, f"c{i}") for i in columns}
    cells = "".join(f", {text} AS t{i}" for i, text in texts.items())
    return f"SELECT r{cells} FROM {layout.name('kept')} AS kept ORDER BY r"


def all_words(column: int) -> str:
    """The words of a column by ascending number, from 0."""
    return f"SELECT c{column} FROM words{column} ORDER BY k{column}"


def chosen_rows(layout: Layout) -> str:
    """The rows whose numbers are in a table `chosen`."""
    return f"SELECT kept.* FROM {layout.name('kept')} AS kept JOIN chosen ON chosen.r = kept.r"


def count_matching_cells(layout: Layout, column: int, pattern: str) -> str:
    """How many cells of a column match a pattern, and how many are not NULL."""
    fits = layout.dialect.matches(f"trim({layout.text(column, f'c{column}')})", pattern)
    return f"SELECT count(*) FILTER (WHERE {fits}), count(c{column}) FROM {layout.rows([column])} AS kept"


def first_distinct_texts(layout: Layout, column: int, most: int) -> str:
    """The distinct cells of a column of text, at most `most + 1` of them."""
    present = f"{layout.rows([column])} AS kept WHERE c{column} IS NOT NULL"
    return f"SELECT DISTINCT c{column} AS x FROM {present} LIMIT {most + 1}"


def replacement_of_texts(layout: Layout, column: int, spellings: Mapping[str, str]) -> tuple[str, str]:
    """The SQL of the new cells of a column, and the condition for the cells to replace."""
    literal = layout.dialect.literal
    cases = " ".join(f"WHEN {literal(old)} THEN {literal(new)}" for old, new in spellings.items())
    return f"CASE c{column} {cases} END", f"c{column} IN ({', '.join(map(literal, spellings))})"


# -- codes and points ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class ColumnCodes:
    """The code of each distinct value of a column, and how its values are read."""

    column: int
    kind: str  # number, date or text
    values: Any  # ascending floats, or text
    codes: NDArray[np.int32]
    null: int


class PackedCodes:
    """The codes of a row packed into one number, or a few, with the same order as the codes.

    `keys[i]` lists the mappings in number i, from the most significant down; a code is multiplied by its stride.  A
    code may be -1, for a value that is not on the axis.
    """

    def __init__(self, mappings: Sequence[ColumnCodes]) -> None:
        self.lowest = [min(int(mapping.codes.min(initial=0)), mapping.null, 0) for mapping in mappings]
        highest = [max(int(mapping.codes.max(initial=0)), mapping.null) for mapping in mappings]
        self.sizes = [high - low + 1 for low, high in zip(self.lowest, highest, strict=True)]
        self.strides = [1] * len(mappings)
        self.keys: list[list[int]] = [[]]
        for j, size in enumerate(self.sizes):
            columns = self.keys[-1]
            if columns and size * self.strides[columns[0]] * self.sizes[columns[0]] > LARGEST:  # it would overflow
                self.keys.append(columns := [])
            for i in columns:
                self.strides[i] *= size
            columns.append(j)

    @property
    def names(self) -> list[str]:
        """The names of the columns with these numbers."""
        return [f"q{i}" for i in range(len(self.keys))]

    @property
    def same_point(self) -> str:
        """The condition for a coded row to belong to a point."""
        return " AND ".join(f"coded.{key} = points.{key}" for key in self.names)

    def unpack(self, table: Any) -> NDArray[np.int32]:
        """The codes in an Arrow table of packed numbers, one row for each of its rows."""
        codes = np.empty((len(table), len(self.sizes)), np.int32)
        for name, columns in zip(self.names, self.keys, strict=True):
            rest = np.asarray(table[name].to_numpy(), np.int64) - sum(self.lowest[j] * self.strides[j] for j in columns)
            for j in columns:
                quotient, rest = np.divmod(rest, self.strides[j])
                codes[:, j] = quotient + self.lowest[j]
        return codes


def codes_of_values(layout: Layout, mapping: ColumnCodes) -> str:
    """The code of each value, from a table `mapping` of values x and their codes."""
    column = mapping.column
    keys = f"SELECT value AS key, value FROM {layout.name(f'v{column}')}"
    if layout.columns[column].in_words:
        keys = f"SELECT k{column} AS key, c{column} AS value FROM words{column}"
    return f"""SELECT key, coalesce(code, {mapping.null}) AS code
        FROM (SELECT key, {read_value(layout, column, mapping.kind)} AS x FROM ({keys}) AS keyed) AS read
        LEFT JOIN mapping ON mapping.x = read.x"""


@dataclass(frozen=True, slots=True)
class CodedRows:
    """Queries for the rows with their packed codes; `missing` are columns with NULL in some rows."""

    layout: Layout
    mappings: Sequence[ColumnCodes]
    packing: PackedCodes
    missing: Collection[int]

    def select(self, also: str = "", columns: Sequence[int] = ()) -> str:
        """The coded rows, with further expressions (`also`) that may use the texts of these columns."""
        parts, joins = zip(*map(self._part, self.mappings, self.packing.strides), strict=True)
        sums = [" + ".join(parts[j] for j in key) for key in self.packing.keys]
        keys = ", ".join(f"{added} AS {name}" for name, added in zip(self.packing.names, sums, strict=True))
        return f"SELECT kept.r, {keys}{also} FROM {self.layout.rows(columns)} AS kept {' '.join(joins)}"

    def with_points(self, also: str = "", columns: Sequence[int] = ()) -> str:
        """The coded rows joined with their points, for FROM."""
        points = self.layout.name("points")
        return f"({self.select(also, columns)}) AS coded JOIN {points} AS points ON {self.packing.same_point}"

    def points(self, *, numbered: bool = True) -> str:
        """The distinct packed codes and their rows; numbered by point, ascending, which takes twice as long."""
        keys = ", ".join(self.packing.names)
        grouped = f"SELECT {keys}, count(*) AS n FROM ({self.select()}) AS coded GROUP BY {keys}"
        number = f"row_number() OVER (ORDER BY {keys}) - 1 AS point"
        return f"SELECT {number}, grouped.* FROM ({grouped}) AS grouped ORDER BY point" if numbered else grouped

    def _part(self, mapping: ColumnCodes, stride: int) -> tuple[str, str]:
        """The summand of one code in the packed number of a row, and the join that finds the code."""
        column = mapping.column
        join = f"JOIN {self.layout.name(f'm{column}')} AS m{column} ON m{column}.key = kept.{self.layout.key(column)}"
        missing = column in self.missing
        code = f"coalesce(m{column}.code, {mapping.null})" if missing else f"m{column}.code"
        return f"{code} * {stride}" if stride > 1 else code, f"LEFT {join}" if missing else join


def rows_not_left_out(layout: Layout, rest: Layout) -> str:
    """The rows of `layout` that are not in the table `left_out` of `rest`."""
    return f"""SELECT kept.* FROM {layout.name("kept")} AS kept WHERE NOT EXISTS
        (SELECT 1 FROM {rest.name("left_out")} AS left_out WHERE left_out.r = kept.r)"""


def surplus_rows(rows: str) -> str:
    """The rows of each group beyond the number that stays, which is `kept` in a table `gone`."""
    return f"""SELECT r FROM (SELECT coded.r, gone.kept,
        row_number() OVER (PARTITION BY gone.point ORDER BY coded.r) AS rank FROM {rows}) AS beyond WHERE rank > kept"""


# -- equal rows of points that several classes share -----------------------------------------------------------


def equal_rows(coded: CodedRows, columns: Sequence[int]) -> str:
    """The groups of equal rows in the points of `shared_points`, numbered by g; cells are text as e<i>."""
    layout = coded.layout
    cells = ", ".join(f"{equal_row_cell(layout, i)} AS e{i}" for i in columns)
    names = ", ".join(f"e{i}" for i in columns)
    return f"""SELECT row_number() OVER (ORDER BY point, {names}) - 1 AS g, grouped.* FROM (
        SELECT point, {names}, count(*) AS n FROM (SELECT points.point, {cells}
        FROM {coded.with_points(equal_row_cells(layout, columns))}
        JOIN {layout.name("shared_points")} AS shared_points ON shared_points.point = points.point) AS cells
        GROUP BY point, {names}) AS grouped"""


def equal_row_cells(layout: Layout, columns: Sequence[int]) -> str:
    """Further columns of `kept`, from which the group of equal rows is found."""
    return "".join(f", kept.{layout.key(i)} AS x{i}" for i in columns)


def equal_row_joins(layout: Layout, columns: Sequence[int]) -> str:
    """The joins that find the group of equal rows of a row in a shared point."""
    same = " AND ".join(f"equal_rows.e{i} = {equal_row_cell(layout, i)}" for i in columns)
    return f"""LEFT JOIN {layout.name("shared_points")} AS shared_points ON shared_points.point = points.point
        LEFT JOIN {layout.name("equal_rows")} AS equal_rows ON equal_rows.point = points.point AND {same}"""


def equal_row_cell(layout: Layout, column: int) -> str:
    """A cell of a shared point as text, 'n' for NULL; of other points NULL, since they need no text."""
    kept, cell = layout.columns[column], f"coded.x{column}"
    text = layout.dialect.text(cell, "UINTEGER" if kept.in_words else kept.type)
    return f"CASE WHEN shared_points.point IS NULL THEN NULL WHEN {cell} IS NULL THEN 'n' ELSE 'v' || {text} END"


def equal_row_hashes(layout: Layout, columns: Sequence[int]) -> str:
    """Two hashes of each group of equal rows: of comparable texts, which do not depend on types, and of exact texts."""
    texts = {i: equal_row_text(layout, i) for i in columns}
    comparable = [layout.dialect.comparable_text(texts[i][0], "string", layout.columns[i].kind) for i in columns]
    exact = [f"coalesce('v' || {text}, 'n')" for text, _ in texts.values()]
    hashes = (f"md5(concat_ws(chr(31), {', '.join(cells)}))" for cells in (comparable, exact))
    return f"""SELECT point, n, {next(hashes)} AS hash, {next(hashes)} AS letters
        FROM {layout.name("equal_rows")} AS equal_rows {" ".join(join for _, join in texts.values())} ORDER BY g"""


def equal_row_text(layout: Layout, column: int) -> tuple[str, str]:
    """The text of a cell of equal rows, and the join that finds it."""
    if not layout.columns[column].in_words:
        return f"CASE WHEN equal_rows.e{column} <> 'n' THEN substr(equal_rows.e{column}, 2) END", ""
    number = f"CAST(substr(equal_rows.e{column}, 2) AS UINTEGER)"
    return f"words{column}.c{column}", f"JOIN words{column} ON words{column}.k{column} = {number}"


# -- what is published, and a hash of all ------------------------------------------------------------------------


def published_cell(layout: Layout, output: Output, for_csv: bool) -> str:
    """A cell of the source as it is published: numbers and dates with their type, all else as text, guarded for CSV."""
    assert output.source is not None
    cell, kind = f"kept.c{output.source}", layout.columns[output.source].kind
    text = layout.text(output.source, cell)
    if output.private:
        return text
    if kind == "other" or (kind == "text" and for_csv):
        return layout.dialect.guard_formula(text) if for_csv else text
    return cell


def labelled_rows(layout: Layout, rows: str, number: str, names: Mapping[str, str], for_csv: bool) -> str:
    """Rows with the labels of their classes; `names` are the published names of cells o<i> and labels l<i>.

    A table `takers` marks the groups that several classes share, `shares` has the rows of a group that each class
    takes, `labels` the labels of each class.  The rows of a shared group are numbered in a secret random order.
    """
    sql, cells = layout.dialect, [name for name in names if name.startswith("o")]
    columns = ", ".join(["r", "takers.point", "split", *cells])
    turn = f"row_number() OVER (PARTITION BY takers.point ORDER BY {sql.secret('r')}, r)"
    taken = f"{rows} JOIN {layout.name('takers')} AS takers ON takers.point = {number}"
    published = {name: name if name in cells or not for_csv else sql.guard_formula(name) for name in names}
    return f"""SELECT {", ".join(f"{published[name]} AS {published_name}" for name, published_name in names.items())}
        FROM (SELECT {columns}, {turn} AS i FROM {taken} WHERE split
        UNION ALL SELECT {columns}, 1 AS i FROM {taken} WHERE NOT split) AS taken JOIN {layout.name("shares")} AS shares
        ON shares.point = taken.point AND (NOT taken.split OR taken.i BETWEEN shares.first AND shares.last)
        JOIN {layout.name("labels")} AS labels ON labels.class = shares.class"""


def held_words(layout: Layout, column: int) -> str:
    """The words of a column, with NULL for those that no row has: they may be unreadable as its type."""
    used = f"SELECT DISTINCT k{column} FROM {layout.name('kept')}"
    cell = f"CASE WHEN held.k{column} IS NOT NULL THEN c{column} END AS c{column}"
    return f"(SELECT words.k{column}, {cell} FROM words{column} AS words LEFT JOIN ({used}) AS held USING (k{column}))"


def hash_rows(sql: Dialect, cells: Mapping[str, tuple[str, str, str]], source: str) -> str:
    """The number of rows, and two sums of hashes over all rows; in: for each column its cell, type and kind."""
    joined = ", ".join(sql.comparable_text(*cells[name]) for name in sorted(cells))
    low, high = sql.digests("cells")
    return f"""SELECT count(*), {sql.text(f"sum({low})", "")}, {sql.text(f"sum({high})", "")}
        FROM (SELECT concat_ws(chr(31), {joined}) AS cells FROM {source}) AS rows_of_text"""
