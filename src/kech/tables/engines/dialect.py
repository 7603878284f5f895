"""Dialect: how an engine writes what SQL does not say alike.  Every name, text and pattern in a query passes here."""

from collections.abc import Sequence

from kech.tables.databases.text import BLANK, quote

YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
NOT_FINITE = r"[+-]?([nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
ZERO_PADDED = r"[+-]?0[0-9].*"
DATE = rf"{YEAR}-[0-9]{{2}}-[0-9]{{2}}([ T]{TIME})?"
WHOLE = r"[+-]?[0-9]+"
OPEN_END = "-inf"  # the lower end of an open interval, in a column of numbers
COMMA_NUMBER = r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]*)?([eE][+-]?[0-9]+)?"
DAY, MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
DAY_FIRST = rf"{DAY}[./-]{MONTH}[./-]{YEAR}([ T]{TIME})?"
MONTH_FIRST = rf"{MONTH}[./-]{DAY}[./-]{YEAR}([ T]{TIME})?"
FORMULA = f"'*[{BLANK}]*[=+@\t\r-].*"


class Dialect:
    """The words of DuckDB; other engines overrule what they say differently."""

    float_type = "DOUBLE"
    nan = "CAST('nan' AS DOUBLE)"
    group_mark, everywhere = "\\", ", 'g'"  # how a replacement names a bracket of its pattern, and replaces all

    def quote(self, name: str) -> str:
        """An identifier, whatever its characters."""
        return quote(name)

    def literal(self, text: str) -> str:
        """A string constant, whatever its characters."""
        return "'" + text.replace("'", "''") + "'"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern fits the whole of a text; a dot is any character."""
        return f"regexp_full_match({text}, {self.literal(pattern)}, 's')"

    def text(self, cell: str, type: str) -> str:  # noqa: ARG002
        """A cell as text: shortest digits that read back, 1.0 for a whole float; moments with a zone in UTC."""
        return f"CAST({cell} AS VARCHAR)"

    def number(self, text: str) -> str:
        """A text as a float, infinite where it is too large; NULL where it is none."""
        return f"TRY_CAST({text} AS DOUBLE)"

    def loose_number(self, text: str) -> str:
        """A text as a float, infinities and NaN too; NULL where it is none."""
        return f"TRY_CAST({text} AS DOUBLE)"

    def digests(self, text: str) -> tuple[str, str]:
        """The two halves of the MD5 of a text, as whole numbers."""
        return f"md5_number_lower({text})", f"md5_number_upper({text})"

    def moment(self, text: str) -> str:
        """A text as a date with its time; NULL where there is no such day."""
        return f"TRY_CAST({text} AS TIMESTAMP)"

    def seconds(self, moment: str) -> str:
        """Seconds since 1970 of a date or moment, as a float; NULL where it is infinite."""
        return f"epoch_us(TRY_CAST({moment} AS TIMESTAMP)) / 1e6"

    def point_number(self, text: str) -> str:
        """1.234,5 as 1234.5."""
        return f"replace(replace({text}, '.', ''), ',', '.')"

    def year_first(self, text: str, day_first: bool) -> str:
        """31.12.2020 as 2020-12-31, or 12/31/2020 where the month comes first."""
        order = "321" if day_first else "312"
        year, month, day = (f"{self.group_mark}{place}" for place in order)
        first = self.literal("^([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4})")
        padded = f"regexp_replace({text}, {first}, {self.literal(f'{year}-0{month}-0{day}')})"
        of_two = f"{self.literal('-0([0-9]{2})')}, {self.literal(f'-{self.group_mark}1')}"
        return f"regexp_replace({padded}, {of_two}{self.everywhere})"

    def finite(self, number: str) -> str:
        """Whether a float is neither NaN nor infinite."""
        return f"isfinite({number})"

    def bytes(self, text: str) -> str:
        """How many bytes a text has in UTF-8."""
        return f"strlen({text})"

    def lower(self, text: str) -> str:
        """A text in small letters of all scripts."""
        return f"lower({text})"

    def secret(self, row: str) -> str:
        """A number or text for each row that nobody can know; in DuckDB by a function of the engine."""
        return f"kech_chance({row})"

    def without(self, cell: str, type: str, nulls: Sequence[str]) -> str:
        """A cell, with the texts that mean NULL turned into NULL."""
        if not nulls:
            return cell
        texts = ", ".join(self.literal(text.lower()) for text in nulls)
        return f"CASE WHEN {self.lower(self.text(cell, type))} NOT IN ({texts}) THEN {cell} END"

    def harmless(self, text: str) -> str:
        """Text that a spreadsheet would run as a formula gets an apostrophe in front."""
        formula = f"{self.matches(text, FORMULA)} AND NOT {self.matches(text, f'{NUMBER}|{OPEN_END}')}"
        return f"CASE WHEN {formula} THEN '''' || {text} ELSE {text} END"
