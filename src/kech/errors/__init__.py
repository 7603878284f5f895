"""Every refusal of kech, one tree.  A message names files, columns and rows, never a cell.

Messages use the words of the command line, which shows them as `typed`; str() gives them in the words of Python.

KechError
├── UsageError (exit 2)        the question is wrong: NoSuchColumn, ColumnInTwoRoles, NoQuasiIdentifier,
│                              BadOption (NotAPath), NoSuchNode, BadTarget, AlreadyReleased, BadPlan,
│                              MissingExtra, RepeatedIdentifier
├── InputError (exit 3)        the data is wrong: NoSuchFile, UnreadableFile (NoSuchTable), BadColumns,
│                              BadRow, BadValue, BadHierarchy, BadCertificate, BadLedger, BadKey,
│                              BadSeries, BadRowKey
├── GoalNotMet (exit 4)        the privacy goal cannot be kept: TooFewRows, TooFewPeople, ClaimBroken, ReleasedBefore
└── ResourceError (exit 5)     the machine is too small or refuses: OutOfMemory, TooLittleMemory, TooLarge,
                               TooManyNodes, TooManyPoints, NeedsMemory, ManyValues, CannotWrite
DoubtfulColumn, RepeatedPeople warnings: nothing is refused
"""

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike
from shlex import join, quote

from kech.errors.wording import in_python

CLOSE = 0.8  # likeness of names, from which on one is suggested for another


class MessageMixin:
    """A message in the words of the command line, or in those of Python."""

    @property
    def typed(self) -> str:
        """The message in the words of the command line."""
        return super().__str__()

    def __str__(self) -> str:
        return in_python(self.typed)


class KechError(MessageMixin, Exception):
    """Base of everything kech refuses."""

    exit_code = 1


class DoubtfulColumn(MessageMixin, UserWarning):
    """A warning: a quasi-identifier is read as text and looks like dates or numbers (31.12.2020, 1.234,5)."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"Column {column!r}: {reason}")


class RepeatedPeople(MessageMixin, UserWarning):
    """A warning: columns seem to name people who have several rows, and k counts rows."""


class UsageError(KechError):
    """The question itself is wrong; the data was not touched."""

    exit_code = 2


class InputError(KechError):
    """The table, hierarchy or certificate cannot be read as what it claims to be."""

    exit_code = 3


class GoalNotMet(KechError):
    """The data is fine, but it cannot meet the privacy goal."""

    exit_code = 4


class ResourceError(KechError):
    """Memory, disk or permissions ran out."""

    exit_code = 5


class NoSuchColumn(UsageError):
    """The table has no column of that name."""

    def __init__(self, column: str, columns: Iterable[str], *, released: bool = False) -> None:
        original_names = {name.casefold(): name for name in columns}
        close = [original_names[name] for name in get_close_matches(column.casefold(), original_names, n=1)]
        look = "`kech inspect TABLE` lists the columns. Check the header line and the delimiter."
        if released:
            look = "It was not published, or has another name: see the header line of the file."
        where = "The released file has" if released else "There is"
        super().__init__(f"{where} no column {column!r}. {f'Did you mean {close[0]!r}?' if close else look}")


class ColumnInTwoRoles(UsageError):
    """A column has two roles."""

    def __init__(self, column: str, first: str, second: str) -> None:
        super().__init__(f"Column {column!r} has two roles: {first} and {second}. Give it one role.")


class RepeatedIdentifier(UsageError):
    """An identifier repeats, and nobody said whether its rows belong to one person."""

    def __init__(self, column: str, counts: str) -> None:
        super().__init__(
            f"Column {column!r} is an identifier and repeats: {counts}. k would count rows, not people. "
            f"Make it the person: --person {quote(column)}. If every row is another person, say --rows-are-people."
        )


class NoQuasiIdentifier(UsageError):
    """The request names no quasi-identifier."""

    def __init__(self, suggested: Iterable[str] = (), command: str = "") -> None:
        self.suggested = tuple(suggested)
        example = f"for example: {command} --qi {join(self.suggested)}" if command and self.suggested else ""
        super().__init__(
            "You named no quasi-identifier. Name the columns that could point at a person: --qi COLUMN ...; "
            f"{example or '`kech inspect TABLE` suggests them.'}"
        )


class BadOption(UsageError):
    """An option has a value that kech cannot use."""

    def __init__(self, option: str, reason: str) -> None:
        self.option, self.reason = option, reason
        super().__init__(f"{option}: {reason}")


class NotAPath(BadOption):
    """Something else is given where the path of a file or folder is needed."""

    def __init__(self, value: object, name: str = "path") -> None:
        reason = f"its type is {type(value).__name__}. Give the path of a file or folder, as a text or a Path."
        super().__init__(name, reason)


class NoSuchNode(UsageError):
    """A node is not in the lattice: too many or too few levels, or a level that a column does not have."""

    def __init__(self, levels: Iterable[float], reason: str) -> None:
        super().__init__(f"The lattice has no node {','.join(map(str, levels))!r}: {reason}")


class TooManyNodes(ResourceError):
    """A lattice is too large to list its nodes; kech can still search its best node."""

    def __init__(self, nodes: int, most: int) -> None:
        super().__init__(
            f"The lattice has {nodes:,} nodes; kech lists {most:,} at most. "
            "Ask for the best node of one k, name fewer columns, or use hierarchies with fewer levels."
        )


class TooLittleMemory(ResourceError):
    """The class sizes at all nodes of a lattice need more memory than allowed."""

    def __init__(self, nodes: int, k: int, need: int, allowed: int) -> None:
        super().__init__(
            f"Counting the classes of {nodes:,} nodes for k={k} with suppression takes {need:,} bytes of memory, and "
            f"{allowed:,} are allowed. Allow the lattice more memory, choose a smaller k, or suppress no rows."
        )


class BadTarget(UsageError):
    """The output is a folder, the source itself, of an unknown format, or a table that kech did not write."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot write to {str(path)!r}: {reason}")


class AlreadyReleased(UsageError):
    """The table is a file that kech has released: its certificate lies beside it and its hash fits."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{str(path)!r} is already a release of kech: its certificate lies beside it. Its cells are labels, so a "
            "second release would protect nobody. Release the original table again instead: with fewer columns, or "
            "with --cut domain and a larger --k."
        )


class BadPlan(UsageError):
    """kech cannot read a plan."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Plan {str(path)!r}: {reason}")


class MissingExtra(UsageError):
    """An optional package is missing."""

    def __init__(self, purpose: str, extra: str) -> None:
        python = quote(sys.executable or "python")
        super().__init__(f"{purpose} needs an optional package. Install it: {python} -m pip install 'kech[{extra}]'")


class NoSuchFile(InputError):
    """A file is missing."""

    def __init__(self, path: object) -> None:
        close = self.similar_file(str(path))
        advice = f"Did you mean {close!r}?" if close else "Check the name and the folder you are in."
        super().__init__(f"There is no file or folder {str(path)!r}. {advice}")

    @staticmethod
    def similar_file(path: str) -> str | None:
        """The file beside a missing one whose name is most like it."""
        from pathlib import Path  # importing kech does not need it

        missing = Path(path)
        try:
            beside = [x.name for x in missing.parent.iterdir() if x.name != missing.name]
            close = get_close_matches(missing.name, beside, n=1, cutoff=CLOSE)
        except (OSError, ValueError):
            return None
        return str(missing.parent / close[0]) if close else None


class UnreadableFile(InputError):
    """A file or database cannot be read: empty, damaged, of an unknown format, or out of reach."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot read {str(path)!r}: {reason}")


class NoSuchTable(UnreadableFile):
    """A database has no such table."""


class BadColumns(InputError):
    """Column names are missing or repeat, or a column of a dataframe mixes types."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Columns of {str(path)!r}: {reason}")


class BadRow(InputError):
    """A line of a CSV file is ragged, badly quoted or badly encoded."""

    def __init__(self, path: object, line: int, reason: str) -> None:
        super().__init__(f"{str(path)!r}, line {line}: {reason}")


class BadValue(InputError):
    """A value does not fit its column: NaN, an infinity, text among numbers."""

    def __init__(self, column: str, row: int, reason: str) -> None:
        super().__init__(f"Column {column!r}, row {row}: {reason}")


class BadHierarchy(InputError):
    """A hierarchy is not a tree, or lacks values of the column."""

    def __init__(self, source: object, line: int | None, reason: str) -> None:
        where = f"{str(source)!r}, line {line}" if line is not None else repr(str(source))
        super().__init__(f"Hierarchy {where}: {reason}")


class BadCertificate(InputError):
    """A certificate is missing, malformed or of an unknown version."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Certificate {str(path)!r}: {reason}")


class BadLedger(InputError):
    """The ledger is damaged or of an unknown version."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"Ledger {str(path)!r}: {reason} Move the file away to begin a new ledger, which knows no earlier release; "
            "or release without a ledger: --no-ledger."
        )


class BadKey(InputError):
    """A key file, or the secret beside the ledger, is missing, empty, damaged, or readable by others."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Key file {str(path)!r}: {reason}")


class BadSeries(InputError):
    """The folder of a series is missing, damaged or another owner's, or its last file is not at hand."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Series {str(path)!r}: {reason}")


class BadRowKey(InputError):
    """The key of a series is missing in some rows, or several rows share one."""

    def __init__(self, columns: Iterable[str], rows: int, reason: str) -> None:
        key = ", ".join(map(repr, columns))
        super().__init__(f"The key {key} {reason} in {rows:,} row{'s' * (rows != 1)}. A key names one row: mend it.")


class TooFewRows(GoalNotMet):
    """The table has fewer than k rows, or none."""

    def __init__(self, rows: int, k: int) -> None:
        few = f"k={k} needs {k:,} rows or more; the table has {rows:,}. Choose a smaller k."
        super().__init__(few if rows else "The table has columns but no rows. Check that it is the right file.")


class TooFewPeople(GoalNotMet):
    """A table has fewer people than k."""

    def __init__(self, people: int, k: int) -> None:
        count = "1 person" if people == 1 else f"{people:,} people"
        super().__init__(f"k={k} needs {k:,} people or more; the table has {count}. Choose a smaller k.")


DO_NOT_PUBLISH = "Do not publish it. Release the original table again."
FAULT_OF_KECH = "This is a fault of kech: nothing was published; please report it."


class ClaimBroken(GoalNotMet):
    """A file does not keep the promise of its certificate, or the k asked for."""

    def __init__(self, path: object, broken: Iterable[str], advice: str = DO_NOT_PUBLISH) -> None:
        self.broken = tuple(broken)
        super().__init__(f"{str(path)!r} does not keep what is promised or asked: {'; '.join(self.broken)}. {advice}")


class ReleasedBefore(GoalNotMet):
    """There is an earlier release of the table, or of some of its rows; this one is not coarser, or that is missing."""

    def __init__(self, when: str, reason: str, *, some: bool = False) -> None:
        what = "Some rows of this table were" if some else "This table was"
        super().__init__(
            f"{what} released before ({when}). Two releases together reveal more than each of them. {reason}"
        )


class OutOfMemory(ResourceError):
    """More memory is needed than is allowed, or than the machine has."""

    def __init__(self, doing: str, limit: int | None = None, need: int | None = None) -> None:
        if limit is None or need is None:
            super().__init__(f"Out of memory while {doing}. Use fewer rows or columns, or a larger machine.")
        else:
            super().__init__(
                f"Out of memory while {doing}: it takes about {megabytes(need)} of memory, and {megabytes(limit)} are "
                "allowed. Raise --memory to that, or use fewer columns."
            )


class TooLarge(ResourceError):
    """A Parquet file says it holds more rows than memory and disk can; nothing of it was read."""

    def __init__(self, path: object, rows: int, need: int, allowed: int) -> None:
        super().__init__(
            f"{str(path)!r} says that it holds {rows:,} rows. They take {megabytes(need)} at least, "
            f"and {megabytes(allowed)} are allowed. Raise --memory, name fewer columns, or use a larger machine."
        )


class TooManyPoints(ResourceError):
    """More distinct points than memory or --max-points allows, and coarser axes do not help or are not allowed."""

    each = 5000  # bytes of memory that a point takes, with those of the engine

    def __init__(self, points: int, most: int) -> None:
        super().__init__(
            f"The table has {points:,} distinct points, and {most:,} are allowed. They take about "
            f"{megabytes(points * self.each)}. Raise --memory or --max-points, name fewer columns, widen --grid, or "
            "give columns of text a hierarchy."
        )


class NeedsMemory(ResourceError):
    """Working on the points, or cutting them into classes, takes more than --memory allows."""

    def __init__(self, points: int, k: int | None, need: int, allowed: int) -> None:
        what = f"Dividing {points:,} points into classes of {k} rows" if k else f"Working on {points:,} points"
        instead = "lower --max-points, or choose a larger k" if k else "or use fewer rows or columns"
        super().__init__(
            f"{what} takes about {megabytes(need)} of memory, and {megabytes(allowed)} are allowed. "
            f"Raise --memory to that, {instead}."
        )


class ManyValues(ResourceError):
    """Values of a sensitive column, or texts of a quasi-identifier, take more than --memory allows."""

    def __init__(self, column: str, values: int, need: int, allowed: int) -> None:
        super().__init__(
            f"Column {column!r} has {values:,} different values. They take about {megabytes(need)} of memory, "
            f"and {megabytes(allowed)} are allowed. Raise --memory to that, or omit the column."
        )


class CannotWrite(ResourceError):
    """kech cannot write the output."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot write {str(path)!r}: {reason}")


def check_path(path: object, name: str = "path") -> None:
    """Refuse a table, a release or a number where the path of a file or folder is needed."""
    if not isinstance(path, str | PathLike):
        raise NotAPath(path, name)


def megabytes(size: int) -> str:
    """A size, rounded up, so that the stated memory is enough."""
    return f"{-(-size // 10**6):,} MB"
