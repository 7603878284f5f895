"""Terminal: standard output, and plain tables on it."""

import sys

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

INDENT = "    "


class Grid(Table):
    """A plain table that never breaks a word; where it does not fit, each row is a list of its cells."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for column in self.columns:
            cells = [Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)]
            words = cells if column.no_wrap else [word for cell in cells for word in cell.split()]
            column.min_width = max(map(len, words), default=0)
        needed = sum(column.min_width or 0 for column in self.columns) + len(self.columns) - 1
        if needed <= options.max_width:
            yield from super().__rich_console__(console, options)
        else:
            yield from self._list_rows()

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


def grid(*headings: str) -> Grid:
    """A plain table; a heading that ends in > is aligned right, one that ends in ~ may wrap."""
    table = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        wraps = heading.endswith("~")
        table.add_column(heading.rstrip(">~"), no_wrap=not wraps, overflow="fold" if wraps else "ellipsis")
        table.columns[-1].justify = "right" if heading.endswith(">") else "left"
    return table
