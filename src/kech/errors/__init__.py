"""Every refusal of kech, one tree.  A message names files, columns and rows, never a cell.

Messages are written in the words of the command line, which shows them as `typed`; str() says them in those of Python.

KechError
├── UsageError (exit 2)        the question is wrong: NoSuchColumn, ColumnInTwoRoles, NoQuasiIdentifier,
│                              BadOption, NoSuchNode, BadTarget, AlreadyReleased, BadPlan, MissingExtra
├── InputError (exit 3)        the data is wrong: NoSuchFile, UnreadableFile (NoSuchTable), BadColumns,
│                              BadRow, BadValue, BadHierarchy, BadCertificate, BadLedger, BadKey
├── GoalNotMet (exit 4)        the privacy goal cannot be kept: TooFewRows, ClaimBroken, ReleasedBefore
└── ResourceError (exit 5)     the machine is too small or refuses: OutOfMemory, TooLittleMemory, TooLarge,
                               TooManyNodes, TooManyPoints, NeedsMemory, ManyValues, CannotWrite
DoubtfulColumn                 a warning: nothing is refused
"""

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from shlex import join, quote

from kech.errors.wording import in_python


class TwoVoices:
    """A message, said in the words of the command line or in those of Python."""

    @property
    def typed(self) -> str:
        """The message in the words of the command line."""
        return super().__str__()

    def __str__(self) -> str:
        return in_python(self.typed)


class KechError(TwoVoices, Exception):
    """Base of everything kech refuses."""

    exit_code = 1


class DoubtfulColumn(TwoVoices, UserWarning):
    """A warning: a quasi-identifier is read as text and looks like dates or numbers (31.12.2020, 1.234,5)."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"Column {column!r}: {reason}")


class UsageError(KechError):
    """The question itself is wrong; the data was not touched."""

    exit_code = 2


class InputError(KechError):
    """The table, hierarchy or certificate cannot be read as what it claims to be."""

    exit_code = 3


class GoalNotMet(KechError):
    """The data is fine, but the privacy asked for does not hold."""

    exit_code = 4


class ResourceError(KechError):
    """Memory, disk or permissions ran out."""

    exit_code = 5


class NoSuchColumn(UsageError):
    """A column is named that the table does not have."""

    def __init__(self, column: str, columns: Iterable[str]) -> None:
        known = {name.casefold(): name for name in columns}
        close = [known[name] for name in get_close_matches(column.casefold(), known, n=1)]
        look = "`kech inspect TABLE` lists the columns. Has the file a header line; is the delimiter right?"
        super().__init__(f"There is no column {column!r}. {f'Did you mean {close[0]!r}?' if close else look}")


class ColumnInTwoRoles(UsageError):
    """A column is named in two roles."""

    def __init__(self, column: str, first: str, second: str) -> None:
        super().__init__(f"Column {column!r} is named as {first} and as {second}. Give it one role.")


class NoQuasiIdentifier(UsageError):
    """No quasi-identifier is named."""

    def __init__(self, suggested: Iterable[str] = (), command: str = "") -> None:
        self.suggested = tuple(suggested)
        example = f"for example: {command} --qi {join(self.suggested)}" if command and self.suggested else ""
        super().__init__(
            "No quasi-identifier is named. Name the columns that could point at a person: --qi COLUMN ...; "
            f"{example or '`kech inspect TABLE` suggests them.'}"
        )


class BadOption(UsageError):
    """A value of an option cannot be used."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")


class NoSuchNode(UsageError):
    """A node is not in the lattice: too many or too few levels, or a level that a column does not have."""

    def __init__(self, levels: Iterable[int], reason: str) -> None:
        super().__init__(f"The lattice has no node {','.join(map(str, levels))!r}: {reason}")


class TooManyNodes(ResourceError):
    """A lattice is too large to list its nodes; its best node can still be searched."""

    def __init__(self, nodes: int, most: int) -> None:
        super().__init__(
            f"The lattice has {nodes:,} nodes, too many to look at each ({most:,} at most). "
            "Ask for the best node of one k, or name fewer columns or hierarchies with fewer levels."
        )


class TooLittleMemory(ResourceError):
    """Class sizes at all nodes of a lattice do not fit into the memory it may take."""

    def __init__(self, nodes: int, k: int, need: int, allowed: int) -> None:
        super().__init__(
            f"Counting the classes of {nodes:,} nodes for k={k} with suppression takes {need:,} bytes of memory, and "
            f"{allowed:,} are allowed. Allow the lattice more memory, choose a smaller k, or suppress nothing."
        )


class BadTarget(UsageError):
    """The output is a folder, the source itself, of an unknown format, or a table that kech did not write."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot write to {str(path)!r}: {reason}")


class AlreadyReleased(UsageError):
    """The table is a file that kech has released: its certificate lies beside it and its hash fits."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{str(path)!r} is itself a release of kech: its certificate lies beside it. Labels are no values, and a "
            "release of them would promise nothing. Release the original table again, coarser: with fewer columns, or "
            "with --cut domain at a larger --k."
        )


class BadPlan(UsageError):
    """A plan cannot be read."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Plan {str(path)!r}: {reason}")


class MissingExtra(UsageError):
    """An optional package is needed."""

    def __init__(self, purpose: str, extra: str) -> None:
        python = quote(sys.executable or "python")
        super().__init__(
            f"{purpose} needs an optional package. Install it with: {python} -m pip install 'kech[{extra}]'"
        )


class NoSuchFile(InputError):
    """A file is missing."""

    def __init__(self, path: object) -> None:
        close = self.similar_file(str(path))
        super().__init__(f"There is no file {str(path)!r}.{f' Did you mean {close!r}?' if close else ''}")

    @staticmethod
    def similar_file(path: str) -> str | None:
        """The file beside a missing one whose name is most like it."""
        from pathlib import Path  # importing kech does not need it

        wanted = Path(path)
        try:
            close = get_close_matches(
                wanted.name, [x.name for x in wanted.parent.iterdir() if x.name != wanted.name], n=1
            )
        except (OSError, ValueError):
            return None
        return str(wanted.parent / close[0]) if close else None


class UnreadableFile(InputError):
    """A file or database cannot be read: empty, damaged, of an unknown format, or out of reach."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot read {str(path)!r}: {reason}")


class NoSuchTable(UnreadableFile):
    """A database has no such table."""


class BadColumns(InputError):
    """Column names are missing or not distinct, or a dataframe column mixes types."""

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
    """A hierarchy is no tree, or lacks values of the column."""

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
            f"Ledger {str(path)!r}: {reason} Move it away to begin a new one, which knows no earlier release; "
            "or release without it: --no-ledger."
        )


class BadKey(InputError):
    """A key file, or the secret beside the ledger, is missing, empty, damaged, or readable by others."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Key file {str(path)!r}: {reason}")


class TooFewRows(GoalNotMet):
    """The table has fewer than k rows, or none."""

    def __init__(self, rows: int, k: int) -> None:
        wanting = f"k={k} needs {k:,} rows or more; the table has {rows:,}. Choose a smaller k."
        super().__init__(wanting if rows else "The table has no rows, only columns. Is it the right file?")


class ClaimBroken(GoalNotMet):
    """A file does not keep the promise of its certificate, or the k asked for."""

    def __init__(self, path: object, broken: Iterable[str]) -> None:
        self.broken = tuple(broken)
        super().__init__(f"{str(path)!r} does not hold what is promised or asked: {'; '.join(self.broken)}.")


class ReleasedBefore(GoalNotMet):
    """The table was released before, and this release is not coarser, or the earlier file is missing."""

    def __init__(self, when: str, reason: str) -> None:
        super().__init__(
            f"This table was released before ({when}); two releases of one table tell more than each alone. {reason}"
        )


class OutOfMemory(ResourceError):
    """More memory is needed than is allowed, or than the machine has."""

    def __init__(self, doing: str, limit: int | None = None, need: int | None = None) -> None:
        if limit is None or need is None:
            super().__init__(f"Out of memory while {doing}: this machine is too small. Use fewer rows or columns.")
        else:
            super().__init__(
                f"Out of memory while {doing}: it takes about {megabytes(need)} of memory, and {megabytes(limit)} are "
                "allowed. Raise --memory to that, or use fewer columns."
            )


class TooLarge(ResourceError):
    """A Parquet file says it holds more rows than memory and disk can; nothing of it was read."""

    def __init__(self, path: object, rows: int, need: int, room: int) -> None:
        super().__init__(
            f"{str(path)!r} says it holds {rows:,} rows: they take {megabytes(need)} at least, "
            f"and {megabytes(room)} are allowed. Raise --memory, name fewer columns, or use a larger machine."
        )


class TooManyPoints(ResourceError):
    """More distinct points than memory or --max-points allows, and coarser axes do not help or are not allowed."""

    each = 5000  # bytes of memory that a point takes, with those of the engine

    def __init__(self, points: int, most: int) -> None:
        super().__init__(
            f"The table has {points:,} distinct points, and {most:,} are allowed. They take about "
            f"{megabytes(points * self.each)}: raise --memory or --max-points, name fewer columns, widen --grid, or "
            "give columns of text a hierarchy."
        )


class NeedsMemory(ResourceError):
    """Working on the points, or cutting them into classes, takes more than --memory allows."""

    def __init__(self, points: int, k: int | None, need: int, room: int) -> None:
        what = f"Parting {points:,} points into classes of {k} rows" if k else f"Working on {points:,} points"
        instead = "lower --max-points, or choose a larger k" if k else "or use fewer rows or columns"
        super().__init__(
            f"{what} takes about {megabytes(need)} of memory, and {megabytes(room)} are allowed. "
            f"Raise --memory to that, {instead}."
        )


class ManyValues(ResourceError):
    """Values of a sensitive column, or texts of a quasi-identifier, take more than --memory allows."""

    def __init__(self, column: str, values: int, need: int, room: int) -> None:
        super().__init__(
            f"Column {column!r} has {values:,} different values: working on them takes about {megabytes(need)} of "
            f"memory, and {megabytes(room)} are allowed. Raise --memory to that, or leave the column out."
        )


class CannotWrite(ResourceError):
    """The output cannot be written."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"Cannot write {str(path)!r}: {reason}")


def megabytes(size: int) -> str:
    """A size, rounded up: what is said to be enough is."""
    return f"{-(-size // 10**6):,} MB"
