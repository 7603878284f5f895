"""Terminal: standard output, and plain tables on it."""

import sys

from rich.console import Console
from rich.table import Table


def out() -> Console:
    """Standard output as it is now."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def grid(*headings: str) -> Table:
    """A plain table; a heading that ends in > is aligned right, one that ends in ~ may wrap."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading.rstrip(">~"), no_wrap=not heading.endswith("~"), overflow="fold")
        table.columns[-1].justify = "right" if heading.endswith(">") else "left"
    return table
