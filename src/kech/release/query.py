"""Query: a release at uniform levels as SQL, so that a database makes the same rows from the original.

In: a release of `--cut domain`.  Out: a SELECT, and whether it is PRIVATE.
Numbers, dates, prefixes and values without a hierarchy are described by published labels alone.  Labels of a hierarchy
that was given, and ranges of an order, list the values below them: such a query is PRIVATE.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kech.axes import NodeAxis
from kech.axes.hierarchy import read_hierarchy
from kech.certificate.labels import EVERYTHING, is_line, read_prefix, read_set, split_interval
from kech.errors import BadOption
from kech.points.points import find_hierarchy
from kech.tables.sql import quote

if TYPE_CHECKING:
    from kech.release.release import Release

PRIVATE = "-- PRIVATE: not for publication. It lists values that stand behind labels.\n"
SELECT = """\
-- Made by kech. Put the name of your table in place of "original". A row without a published label, or in a class
-- of fewer than {k} rows, is left out. Rows come in a random order.
-- Of a table that changes, every reading is a new release, and two of them may tell more than one.
WITH labelled AS (
  SELECT *,
    {expressions}
  FROM original
), counted AS (
  SELECT *, count(*) OVER (PARTITION BY {labels}) AS kech_rows
  FROM labelled
  WHERE {conditions}
)
SELECT {columns}
FROM counted
WHERE kech_rows >= {k}
ORDER BY random()
"""


@dataclass(frozen=True, slots=True)
class Case:
    """How a column becomes labels: its value, and for each label a condition."""

    column: str
    value: str
    conditions: Mapping[str, str]  # of each label
    is_private: bool = False

    def expression(self) -> str:
        """The label of a row; NULL where it has none, or its value is missing."""
        if EVERYTHING in self.conditions:
            return literal(EVERYTHING)
        whens = "\n      ".join(f"WHEN {test} THEN {literal(label)}" for label, test in self.conditions.items())
        return f"CASE\n      {whens}\n    END" if whens else "CAST(NULL AS VARCHAR)"


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT, and whether it lists values behind labels."""

    text: str
    is_private: bool


def build_query(release: "Release") -> Query:
    """The SELECT that makes the rows of a release from its original."""
    check_query(release)
    cases = [build_case(release, axis) for axis in release.axes]
    labels = {case.column: f"kech_label_{number}" for number, case in enumerate(cases, 1)}
    expressions = [f"{case.expression()} AS {labels[case.column]}" for case in cases]
    conditions = [f"({labels[case.column]} IS NOT NULL OR {case.value} IS NULL)" for case in cases]
    columns = [f"{labels[name]} AS {quote(name)}" if name in labels else quote(name) for name in release.columns]
    is_private = any(case.is_private for case in cases)
    text = SELECT.format(
        k=release.parameters["k"],
        expressions=",\n    ".join(expressions),
        labels=", ".join(labels.values()),
        conditions="\n    AND ".join(conditions),
        columns=", ".join(columns),
    )
    return Query(PRIVATE * is_private + text, is_private)


def check_query(release: "Release") -> None:
    """Refuse what no query of labels gives back."""
    request, options = release.request, release.request.input
    if not request.cut.by_level:
        raise BadOption("--as-sql", "only --cut domain gives all rows of a column one level. Add --cut domain.")
    if request.goal.dp_epsilon is not None:
        raise BadOption("--as-sql", "a query publishes all rows, and --dp-epsilon a secret sample. Omit --as-sql.")
    if release.table.person:
        raise BadOption("--as-sql", "a query counts rows; this release counts people. Omit --as-sql.")
    if request.labels.labels not in ("text", "dash"):
        raise BadOption("--as-sql", "a query writes labels as text. Take --labels text or --labels dash.")
    if options.null_values or options.decimal or options.dates or options.fold_variants:
        reason = "a query takes cells as the database holds them."
        raise BadOption("--as-sql", f"{reason} Omit --null-values, --decimal, --dates and --fold-variants.")


def build_case(release: "Release", axis: Mapping[str, Any]) -> Case:
    """How one column becomes labels."""
    name = axis["column"]
    written = dict(zip(release.labels[name], release.published_cells[name][1][name], strict=True))
    plain = {label: cell for label, cell in sorted(written.items(), key=str) if label is not None}
    if is_line(axis):
        value = position_of(axis)
        tests = {label: interval_condition(axis, value, label) for label in plain}
        return Case(name, value, {str(plain[label]): test for label, test in tests.items()})
    value = f"CAST({quote(name)} AS VARCHAR)"
    values = values_behind(release, axis, list(plain))
    tests = {label: text_condition(value, label, values.get(label)) for label in plain}
    is_listed = axis["axis"] == "ordered" or find_hierarchy(release.table, name) is not None
    return Case(name, value, tests, is_listed and any(values[label] not in (None, [label]) for label in plain))


# -- lines -----------------------------------------------------------------------------------------------------------


def position_of(axis: Mapping[str, Any]) -> str:
    """A number or a moment of a row; not a number is missing."""
    if axis["axis"] == "date":
        return f"CAST({quote(axis['column'])} AS TIMESTAMP)"
    return f"nullif(CAST({quote(axis['column'])} AS DOUBLE PRECISION), CAST('NaN' AS DOUBLE PRECISION))"


def interval_condition(axis: Mapping[str, Any], value: str, label: str) -> str:
    """Whether a place lies in an interval."""
    low, high, closed = split_interval(label)
    low, high = (end and position_literal(axis, end) for end in (low, high))
    if low == high:
        return f"{value} = {low}"
    sides = [f"{value} >= {low}"] * bool(low) + [f"{value} {'<=' if closed else '<'} {high}"] * bool(high)
    return " AND ".join(sides)


def position_literal(axis: Mapping[str, Any], end: str) -> str:
    """An end of an interval as a constant."""
    return f"TIMESTAMP {literal(end)}" if axis["axis"] == "date" else f"CAST({literal(end)} AS DOUBLE PRECISION)"


# -- texts -----------------------------------------------------------------------------------------------------------


def values_behind(release: "Release", axis: Mapping[str, Any], labels: Sequence[str]) -> dict[str, list[str] | None]:
    """The values that each label of texts stands for: none for a prefix, None for all that are not missing."""
    if axis["axis"] == "set":
        return {label: spelled_value(label) for label in labels}
    if axis["axis"] == "ordered":
        return order_values(release, axis["column"], labels)
    source = find_hierarchy(release.table, axis["column"])
    if source is not None:
        paths = read_hierarchy(source, column=axis["column"]).paths
        return {
            label: None if all(label == path[-1] for path in paths) else list_leaves_below(paths, label)
            for label in labels
        }
    return prefix_values(release, axis["column"], labels)


def spelled_value(label: str) -> list[str] | None:
    """The one value of a set; several are all, since a set has no level between."""
    values, rare = read_set(label)
    return values if len(values) == 1 and not rare else None


def list_leaves_below(paths: Sequence[Sequence[str]], label: str) -> list[str]:
    """The leaves of a hierarchy below a node, also those that no row has."""
    return [path[0] for path in paths if label in path]


def prefix_values(release: "Release", column: str, labels: Sequence[str]) -> dict[str, list[str] | None]:
    """A label that ends in stars is a prefix, if it is as long as those of its level; any other is a value."""
    axis = next(axis for axis in release.partition.points.axes if axis.column == column)
    nodes = axis.nodes if isinstance(axis, NodeAxis) else ()
    kept = max((len(read_prefix(node) or "") for node in nodes), default=0)
    prefixes = {label: read_prefix(label) for label in labels}
    return {
        label: [] if prefix and len(prefix) == kept else [label if prefix is None else prefix]
        for label, prefix in prefixes.items()
    }


def order_values(release: "Release", column: str, labels: Sequence[str]) -> dict[str, list[str] | None]:
    """The values of an order that were published with each label."""
    position = release.table.quasi_identifiers.index(column)
    partition = release.partition
    texts = partition.points.axes[position].texts  # type: ignore[attr-defined]
    behind: dict[str, set[int]] = {label: set() for label in labels}
    for point, group in zip(partition.point.tolist(), partition.group.tolist(), strict=True):
        if (label := release.labels[column][group]) is not None:
            behind[label].add(int(partition.points.codes[point, position]))
    return {label: [texts[code] for code in sorted(codes) if code < len(texts)] for label, codes in behind.items()}


def text_condition(value: str, label: str, behind: list[str] | None) -> str:
    """Whether a text is one of those behind a label."""
    if behind is None:
        return f"{value} IS NOT NULL"
    if not behind:
        prefix = read_prefix(label) or ""
        return f"left({value}, {len(prefix)}) = {literal(prefix)}"
    return f"{value} IN ({', '.join(map(literal, behind))})"


def literal(text: str) -> str:
    """A text as a constant."""
    return "'" + text.replace("'", "''") + "'"
