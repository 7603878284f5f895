"""How what was removed from the cache looks on a terminal."""

from typing import Any

from rich.markup import escape

from kech.views.screen.terminal import out


def cleared(found: dict[str, Any]) -> None:
    """Files and bytes that are gone."""
    out().print(escape(f"{found['folder']}: {found['files']:,} files removed, {found['bytes']:,} bytes."))
    out().print(f"Left by killed runs: {found['leftovers']:,} removed, {found['leftover_bytes']:,} bytes.")
