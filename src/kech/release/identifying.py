"""Identifying columns: published as they are, and most rows have a value of their own in one, or nearly all in several.

In: a table and the names of columns.  Out: pairs, or all of them, on which nearly every row has values of its own; and
all else that the maker of a release should look at.
The rule is that of `published.py`, which looks at a written file: the likeliest pairs, and empty text is no value.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kech.release.published import NEARLY_ALL, OWN_VALUES, likeliest_pairs
from kech.tables.table import Table

NOTHING = frozenset((None, "", "*", "-inf", "inf", "0001-01-01", "9999-12-31"))  # labels that tell nothing of a row


def find_doubts(
    table: Table, published: Table, axes: Sequence[Mapping[str, Any]], hidden: Sequence[str]
) -> dict[str, Any]:
    """What the maker of a release should look at; `published` is the table without the rows that are left out.

    No published cell of a `hidden` column tells anything.
    """
    as_they_are = (*table.sensitive, *table.keep)
    sets = [axis["column"] for axis in axes if axis["axis"] == "set"]
    return {
        "dropped": list(table.dropped),
        "hidden": list(hidden),
        "identifying": [name for name in as_they_are if is_identifying(published, name)],
        "identifying_together": find_identifying_together(published, as_they_are),
        "rare_texts": [name for name in sets if is_identifying(table, name, NEARLY_ALL)],
        "repeated_people": [repeat.says for repeat in table.repeats],
        "unhidden_edges": [axis["column"] for axis in axes if axis.get("grid", "round") != "round"],
    }


def find_hidden(labels: Mapping[str, Iterable[Any]]) -> list[str]:
    """Quasi-identifiers of which no published cell tells anything: each is `*`, or missing.

    The labels of each are given as they are published, in one Arrow column or two.
    """
    return [name for name, columns in labels.items() if not is_informative(columns)]


def is_informative(columns: Iterable[Any]) -> bool:
    """Whether some label of an axis, in one Arrow column or two, says where a row lies."""
    return any(not NOTHING.issuperset(column.unique().to_pylist()) for column in columns)


def is_identifying(table: Table, column: str, share: float = OWN_VALUES) -> bool:
    """Whether most rows that have a value in this column have one of their own."""
    distinct, rows = count_held(table, column)
    return distinct > share * rows


def count_held(table: Table, column: str) -> tuple[int, int]:
    """Distinct values of a column, and the rows that have one; empty text is none."""
    facts = table.facts(column)
    return facts.distinct - (facts.blank > 0), facts.rows - facts.nulls - facts.blank


def find_identifying_together(table: Table, columns: Sequence[str]) -> list[list[str]]:
    """Pairs of columns on which nearly every row is unique; all columns where no pair is enough."""
    counts = {name: count_held(table, name) for name in columns}
    names = [name for name, (distinct, rows) in counts.items() if distinct <= OWN_VALUES * rows]
    pairs = likeliest_pairs({name: counts[name][0] for name in names})
    identifying = [list(pair) for pair in pairs if identify_together(table, pair, counts)]
    if identifying or len(names) < 3:
        return identifying
    return [names] if identify_together(table, names, counts) else []


def identify_together(table: Table, columns: Sequence[str], counts: dict[str, tuple[int, int]]) -> bool:
    """Whether nearly every row that has a value in one of these columns has a combination of its own."""
    most = 1
    for name in columns:
        most *= counts[name][0] + 1  # a missing value is one more
    if most <= NEARLY_ALL * max(counts[name][1] for name in columns):
        return False
    combinations_held, rows = table.engine.count_together([table.index(name) for name in columns])
    return combinations_held > NEARLY_ALL * rows
