"""Terminal: standard output, and plain tables on it."""

import sys

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

INDENT = "    "
BETWEEN = 2  # spaces between two columns
ISOLATES = str.maketrans({"\u2068": "'", "\u2069": "'"})  # a terminal shows quotes around a name


class ScreenTable(Table):
    """A plain table that never breaks a word; where it does not fit, each row is a list of its cells."""

    too_wide = ""  # what to say instead of such lists

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        spare = options.max_width - BETWEEN * (len(self.columns) - 1)
        for column in self.columns:
            cells = [Text.from_markup(str(cell)) for cell in (column.header, *column.cells)]
            parts = cells if column.no_wrap else [word for cell in cells for word in cell.split(" ") or [cell]]
            column.width, column.max_width = (max(cell.cell_len for cell in each) for each in (parts, cells))
            spare -= column.width
        if spare < 0:
            yield from [Text(self.too_wide)] if self.too_wide else self._list_rows()
        else:
            self._widen(spare)
            yield from super().__rich_console__(console, options)

    def _widen(self, spare: int) -> None:
        """Give what the words leave to the columns that lack something, the least first."""
        for column in sorted(self.columns, key=lambda each: (each.max_width or 0) - (each.width or 0)):
            more = min(spare, (column.max_width or 0) - (column.width or 0))
            column.width, spare = (column.width or 0) + more, spare - more

    def _list_rows(self) -> RenderResult:
        """Each row: its first cell, and below it the others behind their headings, where they say anything."""
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            first, *rest = (Text.from_markup(str(cell)) for cell in cells)
            yield first
            for column, cell in zip(self.columns[1:], rest, strict=True):
                if cell.plain:
                    heading = f"{column.header}: " if column.header else ""
                    yield Text(INDENT + heading) + cell


def out() -> Console:
    """Standard output as it is now."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def grid(*headings: str) -> ScreenTable:
    """A plain table; a heading that ends in > is aligned right, in ~ it may wrap, in >~ both."""
    table = ScreenTable(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        wraps = heading.endswith("~")
        table.add_column(heading.rstrip(">~"), no_wrap=not wraps, overflow="fold" if wraps else "ellipsis")
        table.columns[-1].justify = "right" if ">" in heading else "left"
    return table


def say(text: str) -> None:
    """Print a sentence as it is; on a terminal, lines end between words."""
    out().print(escape(text))


def count_classes(classes: int) -> str:
    """A number of classes in a sentence."""
    return "1 class" if classes == 1 else f"{classes:,} classes"


def warn(text: str) -> None:
    """Print what a user should look at before going on."""
    out().print(f"[yellow]Warning:[/] {escape(text)}")


def warn_of_values(text: str) -> None:
    """Print which values are given away: red on a terminal, as everywhere."""
    out().print(f"[red]Warning:[/] {escape(text)}")


def say_private(text: str) -> None:
    """Print what nobody else should see, or that nobody should."""
    out().print(f"[yellow]PRIVATE:[/] {escape(text)}")


def say_drawn(plot: str | None) -> None:
    """Print where a picture was drawn, if one was."""
    if plot:
        say(f"Drawn to {plot} (PRIVATE)")
