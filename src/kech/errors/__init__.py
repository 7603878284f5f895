"""Every refusal of kech, one tree.  A message names files, columns and rows, never a cell.

Messages use the words of the command line, which shows them as `typed`; str() gives them in the words of Python.

KechError
├── UsageError (exit 2)        the request is wrong: NoSuchColumn, ColumnInTwoRoles, NoQuasiIdentifier,
│                              BadOption (NotAPath), NoSuchNode, BadTarget, AlreadyReleased, BadPlan,
│                              MissingExtra, RepeatedIdentifier
├── InputError (exit 3)        the data is wrong: NoSuchFile, UnreadableFile (NoSuchTable), BadColumns,
│                              BadRow, BadValue, BadHierarchy, BadCertificate, BadLedger, BadKey,
│                              BadSeries, BadRowKey
├── GoalNotMet (exit 4)        the privacy goal is not met: TooFewRows, TooFewPeople, ClaimBroken, ReleasedBefore
└── ResourceError (exit 5)     too little memory or disk, or access denied: OutOfMemory, TooLittleMemory, TooLarge,
                               TooManyNodes, TooManyPoints, NeedsMemory, ManyValues, CannotWrite
DoubtfulColumn, RepeatedPeople warnings: nothing is refused
"""

import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from os import PathLike
from shlex import join, quote

from kech.errors.wording import in_python

CLOSE = 0.8  # similarity of two names from which kech suggests one for the other
CLOSE_COLUMN = 0.65  # the same of columns, whose names are short


class MessageMixin:
    """A message that names options of the command line in `typed`, and arguments of Python in `str()`."""

    @property
    def typed(self) -> str:
        """The message with the options of the command line."""
        return super().__str__()

    def __str__(self) -> str:
        return in_python(self.typed)


class KechError(MessageMixin, Exception):
    """Base class of all refusals."""

    exit_code = 1


class DoubtfulColumn(MessageMixin, UserWarning):
    """Warning: a quasi-identifier is text like dates or numbers (31.12.2020, 1.234,5), or lies beyond its domain."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"Column {column!r}: {reason}")


class RepeatedPeople(MessageMixin, UserWarning):
    """Warning: a column seems to name people who have several rows, while k counts rows."""


class UsageError(KechError):
    """The request is wrong. No data was changed."""

    exit_code = 2


class InputError(KechError):
    """The table, hierarchy, certificate or other file has wrong content."""

    exit_code = 3


class GoalNotMet(KechError):
    """The data is valid, but it cannot meet the privacy goal."""

    exit_code = 4


class ResourceError(KechError):
    """The machine has too little memory or disk, or denies access."""

    exit_code = 5


class NoSuchColumn(UsageError):
    """The table has no column of that name."""

    def __init__(self, column: str, columns: Iterable[str], *, released: bool = False) -> None:
        original_names = {name.casefold(): name for name in columns}
        close = [
            original_names[name]
            for name in get_close_matches(column.casefold(), original_names, n=1, cutoff=CLOSE_COLUMN)
        ]
        advice = "`kech inspect TABLE` lists the columns. Check the header line and the delimiter."
        if released:
            advice = "It was not published, or has another name. Check the header line of the file."
        where = "The released file has" if released else "There is"
        super().__init__(f"{where} no column {column!r}. {f'Did you mean {close[0]!r}?' if close else advice}")


class ColumnInTwoRoles(UsageError):
    """A column has two roles."""

    def __init__(self, column: str, first: str, second: str) -> None:
        super().__init__(f"Column {column!r} has two roles: {first} and {second}. Give it one role.")


class RepeatedIdentifier(UsageError):
    """An identifier repeats, and the request does not say whether its rows belong to one person."""

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
    """An option has a value that kech cannot use, or does not fit the others."""

    def __init__(self, option: str, reason: str) -> None:
        self.option, self.reason = option, reason
        super().__init__(f"{option}: {reason}")


def unusable_value(option: str, advice: str) -> BadOption:
    """The refusal of a value; the advice says what to write instead."""
    return BadOption(option, f"kech cannot use this value. {advice}")


class NotAPath(BadOption):
    """An argument that must be the path of a file or folder has another type."""

    def __init__(self, value: object, name: str = "path") -> None:
        reason = f"its type is {type(value).__name__}. Give the path of a file or folder, as a text or a Path."
        super().__init__(name, reason)


class NoSuchNode(UsageError):
    """A node is not in the lattice: too many or too few levels, or a level that a column does not have."""

    def __init__(self, levels: Iterable[float], reason: str) -> None:
        super().__init__(f"The lattice has no node {','.join(map(str, levels))!r}: {reason}")


class TooManyNodes(ResourceError):
    """A lattice has too many nodes to list. kech can still search for its best node."""

    def __init__(self, nodes: int, most: int) -> None:
        super().__init__(
            f"The lattice has {nodes:,} nodes; kech lists {most:,} at most. "
            "Ask for the best node of one k, name fewer columns, or use hierarchies with fewer levels."
        )


class TooLittleMemory(ResourceError):
    """The class sizes of all nodes of a lattice need more memory than is allowed."""

    def __init__(self, nodes: int, k: int, need: int, allowed: int) -> None:
        super().__init__(
            f"Counting the classes of {nodes:,} nodes for k={k} with suppression needs {need:,} bytes of memory, and "
            f"{allowed:,} are allowed. Allow the lattice more memory, choose a smaller k, or suppress no rows."
        )


class BadTarget(UsageError):
    """The output is a folder, the source itself, of an unknown format, or a table that kech did not write."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot write to {str(path)!r}: {reason}")


class AlreadyReleased(UsageError):
    """The table is itself a release: a certificate beside the file has its hash."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{str(path)!r} is already a release of kech: its certificate lies beside it. Its cells are labels, so a "
            "second release would protect nobody. Release the original table again instead: with fewer columns, or "
            "with --cut domain and a larger --k."
        )


class BadPlan(UsageError):
    """A plan file has wrong content."""

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
        """The path of the file in the same folder whose name is most similar; None where none is similar."""
        from pathlib import Path  # importing kech does not need it

        missing = Path(path)
        try:
            names = [x.name for x in missing.parent.iterdir() if x.name != missing.name]
            close = get_close_matches(missing.name, names, n=1, cutoff=CLOSE)
        except (OSError, ValueError):
            return None
        return str(missing.parent / close[0]) if close else None


class UnreadableFile(InputError):
    """A file or database cannot be read: it is empty, damaged, of an unknown format, or not accessible."""

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
    """A cell does not fit its column: NaN, an infinity, or text among numbers."""

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
    """The folder of a series is missing, damaged or of another owner, or its last released file is missing."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Series {str(path)!r}: {reason}")


class BadRowKey(InputError):
    """The key of a series is missing in some rows, or several rows have the same key."""

    def __init__(self, columns: Iterable[str], rows: int, examples: Sequence[int], reason: str) -> None:
        key, where = ", ".join(map(repr, columns)), " and ".join(map(str, examples))
        super().__init__(
            f"The key {key} {reason} in {rows:,} row{'s' * (rows != 1)}: see row{'s' * (len(examples) != 1)} {where}. "
            "Each key must name one row. Correct these rows. Only a new series can have another key: "
            "--series NEW_FOLDER --key COLUMN."
        )


class TooFewRows(GoalNotMet):
    """The table has fewer than k rows, or none."""

    def __init__(self, rows: int, k: int) -> None:
        few = f"k={k} needs {k:,} rows or more; the table has {rows:,}. Choose a smaller k."
        super().__init__(few if rows else "The table has columns but no rows. Check that it is the right file.")


class TooFewPeople(GoalNotMet):
    """The table has fewer than k people."""

    def __init__(self, people: int, k: int) -> None:
        count = "1 person" if people == 1 else f"{people:,} people"
        super().__init__(f"k={k} needs {k:,} people or more; the table has {count}. Choose a smaller k.")


DO_NOT_PUBLISH = "Do not publish it. Release the original table again."
FAULT_OF_KECH = "This is a fault of kech: nothing was published; please report it."


class ClaimBroken(GoalNotMet):
    """A file does not meet the claims of its certificate, or the goals of a check."""

    def __init__(self, path: object, broken: Iterable[str], advice: str = DO_NOT_PUBLISH, *, finding: str = "") -> None:
        self.broken = tuple(broken)
        finding = finding or f"{str(path)!r} does not meet its claims or goals: {'; '.join(self.broken)}."
        super().__init__(f"{finding} {advice}")


class ReleasedBefore(GoalNotMet):
    """The table or some of its rows were released before, and the new release is not coarser or the old one is gone."""

    def __init__(self, when: str, reason: str, *, some: bool = False) -> None:
        what = "Some rows of this table were" if some else "This table was"
        super().__init__(
            f"{what} released before ({when}). Two releases together reveal more than each of them. {reason}"
        )


class OutOfMemory(ResourceError):
    """The work needs more memory than --memory allows or the machine has."""

    def __init__(self, doing: str, limit: int | None = None, need: int | None = None) -> None:
        if limit is None or need is None:
            super().__init__(f"Out of memory while {doing}. Use fewer rows or columns, or a larger machine.")
        else:
            super().__init__(
                f"Out of memory while {doing}: it needs about {megabytes(need)} of memory, and {megabytes(limit)} are "
                "allowed. Raise --memory to that, or use fewer columns."
            )


class TooLarge(ResourceError):
    """The metadata of a Parquet file states more rows than memory and disk can hold. No row was read."""

    def __init__(self, path: object, rows: int, need: int, allowed: int) -> None:
        super().__init__(
            f"The metadata of {str(path)!r} states {rows:,} rows. They need at least {megabytes(need)}, "
            f"and {megabytes(allowed)} are allowed. Raise --memory, name fewer columns, or use a larger machine."
        )


class TooManyPoints(ResourceError):
    """More distinct points than memory or --max-points allows, and coarser axes do not help or are not allowed."""

    def __init__(self, points: int, most: int, need: int) -> None:
        super().__init__(
            f"The table has {points:,} distinct points, and {most:,} are allowed. They need about "
            f"{megabytes(need)}. Raise --memory or --max-points, name fewer columns, "
            "widen --grid, or give columns of text a hierarchy."
        )


class NeedsMemory(ResourceError):
    """The points, or their division into classes, need more memory than --memory allows."""

    def __init__(self, points: int, k: int | None, need: int, allowed: int) -> None:
        what = f"Dividing {points:,} points into classes of {k} rows" if k else f"Working on {points:,} points"
        instead = "lower --max-points, or choose a larger k" if k else "or use fewer rows or columns"
        super().__init__(
            f"{what} needs about {megabytes(need)} of memory, and {megabytes(allowed)} are allowed. "
            f"Raise --memory to that, {instead}."
        )


class ManyValues(ResourceError):
    """The distinct values of one column need more memory than --memory allows."""

    def __init__(self, column: str, values: int, need: int, allowed: int) -> None:
        super().__init__(
            f"Column {column!r} has {values:,} different values. They need about {megabytes(need)} of memory, "
            f"and {megabytes(allowed)} are allowed. Raise --memory to that, or omit the column."
        )


class CannotWrite(ResourceError):
    """kech cannot write the output."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot write {str(path)!r}: {reason}")


def check_path(path: object, name: str = "path") -> None:
    """Refuse an argument that is not the path of a file or folder."""
    if not isinstance(path, str | PathLike):
        raise NotAPath(path, name)


def megabytes(size: int) -> str:
    """A number of bytes as text in MB, rounded up, so that the stated memory is enough."""
    return f"{-(-size // 10**6):,} MB"
