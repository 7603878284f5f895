"""The five verbs in SQL, one text for all engines; what differs is in their dialect.

`queries.py` is what an engine must know by itself; `describing.py`, `grouping.py` and `publishing.py` are the verbs.
"""

from collections.abc import Mapping

from kech.tables.engines.publishing import Publishing


class SqlEngine(Publishing):
    """All verbs, and a hash by which a table is known again."""

    def _hashed(self, cells: Mapping[str, tuple[str, str, str]], source: str) -> tuple[int, ...]:
        """Rows, and twice the sum of a hash of each row; for each column its cell, its type and what it holds.

        Cells are taken for what they read as: 1.0 is 1, TRUE is true, and empty text is NULL.
        """
        sql = self.dialect
        joined = ", ".join(self._compared(*cells[name]) for name in sorted(cells))
        low, high = sql.digests("cells")
        (found,) = self._rows(
            f"""SELECT count(*), {sql.text(f"sum({low})", "")}, {sql.text(f"sum({high})", "")}
            FROM (SELECT concat_ws(chr(31), {joined}) AS cells FROM {source}) AS rows_of_text""",
            "comparing tables",
        )
        return tuple(int(figure or 0) for figure in found)

    def _compared(self, cell: str, type: str, kind: str) -> str:
        """A cell of any type as text that is the same for all types it could have."""
        sql = self.dialect
        text = sql.text(cell, type)
        if kind == "date":
            return f"coalesce(regexp_replace({text}, ' 00:00:00([+]00)?$', ''), '')"
        number = f"nullif({sql.loose_number(f'trim({text})')} + CAST(0 AS {sql.float_type}), {sql.nan})"
        return f"coalesce({sql.text(number, sql.float_type)}, nullif({sql.lower(f'trim({text})')}, 'nan'), '')"
