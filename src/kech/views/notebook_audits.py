"""Notebook cards of inspections, previews, audits, series and files: figures and sentences, no cell of the table.

Hints at an inspected column name marks of missing values, as the screen does.

In: a result.  Out: HTML that stands alone.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from kech.errors.wording import in_python
from kech.release.sentences import (
    cost_words,
    given_away_words,
    joint_words,
    nearly_empty_words,
    uncompared_words,
)
from kech.views.markup import figure, format_distance, format_interval, format_rate
from kech.views.notebook import GIVEN, MOST_LINES, SIZE, card, embed, format_figure, grid, sentences
from kech.views.pictures.released import draw_sizes


def show_inspection(inspection: Any) -> str:
    """Columns with their roles and why, what is to be said of each, and what each quasi-identifier costs."""
    names = ("column", "type", "distinct", "missing", "role", "why", "sure")
    lines = [
        (c.column, c.type, f"{c.distinct:,}", f"{c.nulls:,}", c.role, c.reason, f"{c.confidence:.0%}")
        for c in inspection.columns
    ]
    title = f"Inspection({inspection.rows:,} rows, {len(inspection.columns)} columns)"
    costs = inspection.to_json()["costs"]
    away = [f"A release would give values away: {each}" for each in given_away_words(inspection.given_away)]
    about_costs = list(
        cost_words(costs) if costs else uncompared_words(inspection.rows, len(inspection.quasi_identifiers))
    )
    intro = sentences([*say_unique(inspection), *map(in_python, about_costs)]) + sentences(away, GIVEN)
    notes = sentences(map(in_python, say_notes(inspection)))
    return card(title, grid(names, lines), notes, intro, cost_grid(costs), private=True)


def say_unique(inspection: Any) -> Iterator[str]:
    """How many rows are unique as the table is, or equal nobody else's."""
    if inspection.k is not None:
        by_people = inspection.counted == "people"
        are = "equal no row of another person" if by_people else "are unique"
        share, on = f"{inspection.unique_share:.1%} of the rows", ", ".join(inspection.quasi_identifiers)
        yield f"As it is, k = {inspection.k}{' by people' * by_people}: {share} {are} on {on}."


def say_notes(inspection: Any) -> Iterator[str]:
    """What the owner should know of single rows and columns, and before a release."""
    columns = len(inspection.columns)
    yield from (f"Before a release: {each}" for each in nearly_empty_words(inspection.nearly_empty, columns))
    yield from (f"{c.column!r}: {c.hint}" for c in inspection.columns if c.hint)
    yield from (f"A release will refuse this table. {c.trouble}" for c in inspection.columns if c.trouble)
    yield from (f"Before a release: {each}" for each in joint_words(inspection.identifying_together))
    yield from inspection.repeated_people


def show_preview(preview: Any) -> str:
    """What a release would do, in sentences and by column."""
    figures = preview.figures
    title = "Preview" if figures is None else f"Preview(k={figures['k']}, {figures['classes']:,} classes)"
    names = ("column", "exact", "open-ended", "missing", "not told", "loss")
    lines = [
        (c.column, *(f"{share:.1%}" for share in (c.exact, c.open, c.missing, c.lost)), figure(c.loss))
        for c in preview.columns
    ]
    costs = preview.to_json()["costs"]
    table = grid(names, lines) if lines else ""
    says = (*preview.words, *(column.words for column in preview.columns), *cost_words(costs))
    intro = sentences(map(in_python, says))
    return card(title, intro, table, cost_grid(costs), private=True)


def show_plane(plane: Any) -> str:
    """Two columns and how many classes and points they show; its picture would show cells."""
    counts = (("classes", plane.classes), ("rows of the smallest", plane.smallest), ("points", len(plane.points)))
    table = grid(("plane", ""), [(name, f"{count:,}") for name, count in counts])
    title = f"Plane({plane.x.column}, {plane.y.column})"
    return card(title, sentences([".plot() draws it, with values of the table."]), table, private=True)


def show_risk(risk: Any) -> str:
    """Chances of three attackers, and class sizes."""
    lines = []
    for name in ("prosecutor", "journalist"):
        chances = getattr(risk, name)
        lines.append((name, *(("not available",) * 2 if chances is None else chance_cells(chances))))
    marketer = "not available" if risk.marketer is None else f"{risk.marketer['average']:.1%}"
    lines.append(("marketer", "", marketer))
    counted = risk.counted + " at least" * risk.bounded
    drawn = embed(draw_sizes(dict(risk.class_sizes), counted, size=SIZE))
    title = f"Risk({risk.rows:,} rows in {risk.classes:,} classes, counted in {risk.counted})"
    return card(title, drawn, grid(("attacker", "highest chance", "average"), lines), private=False)


def chance_cells(chances: Any) -> tuple[str, str]:
    """The highest and the average chance of an attacker."""
    return f"{chances.highest:.1%}", f"{chances.average:.1%}"


def show_joint_risk(joint: Any) -> str:
    """k of each release, and of all together."""
    lines = [(file, f"{k:,}") for file, k in zip(joint.releases, joint.alone, strict=True)]
    together = "unknown: no row is in several" if joint.joint_k is None else f"{joint.joint_k:,}"
    together = f"{joint.sure_k:,} to {together}" if joint.sure_k != joint.joint_k else together
    lines.append((f"all together, counted in {joint.counted}", together))
    title = f"JointRisk({len(joint.releases)} releases, {joint.below:,} rows below k)"
    return card(title, grid(("release", "k"), lines), private=True)


def show_attack(attack: Any) -> str:
    """How often it succeeds beside its control."""
    facts = attack.to_json()
    lines = [(name, format_rate(facts, key)) for name, key in (("attack", "rate"), ("control", "control"))]
    intro = sentences([attack.about, *([attack.note] if attack.note else []), f"It is {attack.verdict}."])
    return card(f"Attack({attack.attack}, {attack.targets:,} targets)", intro, grid(("", "rate"), lines), private=True)


def show_comparison(comparison: Any) -> str:
    """Columns before and after, the pairs that changed most, and models."""
    columns = [
        (c["column"], figure(comparison.loss_per_column.get(c["column"], 0.0)), format_distance(c))
        for c in comparison.columns
    ]
    pairs = [
        (" and ".join(pair["columns"]), *(figure(pair[name]) for name in ("before", "after", "change")))
        for pair in comparison.associations[:MOST_LINES]
    ]
    prediction = comparison.prediction or {"models": []}
    models = [(each["trained_on"], each["tested_on"], *format_interval(each)) for each in prediction["models"]]
    parts = [
        grid(("column", "loss", "distance"), columns),
        grid(("association of", "before", "after", "change"), pairs) if pairs else "",
        grid(("model trained on", "judged on", "score", "95 % interval"), models) if models else "",
    ]
    title = f"Comparison({comparison.rows_after:,} of {comparison.rows_before:,} rows published)"
    return card(title, *parts, private=True)


def show_review(review: Any) -> str:
    """Levels of a hierarchy and how many nodes each has; no value."""
    levels = [(str(level), f"{nodes:,}") for level, nodes in enumerate(review.to_json()["levels"])]
    title = f"HierarchyReview({review.column}: {review.kind}, {len(review.rows):,} values)"
    return card(title, grid(("level", "nodes"), levels), private=True)


def show_tree(tree: Any) -> str:
    """Levels of a tree and how many nodes each has; no value."""
    levels = [(str(level), f"{len(tree.level_labels(level)):,}") for level in range(tree.height)]
    title = f"GeneralizationTree({len(tree.leaves):,} values, {tree.height} levels)"
    return card(title, grid(("level", "nodes"), levels), private=True)


def show_report(report: Any) -> str:
    """What the page says first, and where it goes."""
    facts, risk = report.figures["verified"], report.figures["risk"]
    lines = [
        ("k", f"{facts['k']:,}"),
        ("rows", f"{facts['rows']:,}"),
        ("classes", f"{facts['classes']:,}"),
        ("loss", figure(facts["loss"])),
        (
            "highest risk, by rows" if report.figures["stated"] else "highest risk",
            f"{risk['prosecutor']['highest']:.1%}",
        ),
    ]
    advice = sentences(
        ["The file keeps every promise of its certificate. report.write('report.html') writes the page."]
    )
    title = f"Report({report.figures['file']['name']})"
    return card(title, advice, grid(("verified", "value"), lines), private=report.figures["private"])


def show_twin(twin: Any) -> str:
    """Where the rows were drawn from, and what holds for them."""
    lines = [("release", twin.path.name), ("columns", ", ".join(twin.table.column_names)), ("seed", str(twin.seed))]
    k = twin.document["claims"]["k"]
    intro = sentences([f"Values are drawn inside the labels of a release with k = {k}; they are not measured ones."])
    return card(repr(twin), intro, grid(("drawn from", ""), lines), private=False)


def show_publication(publication: Any) -> str:
    """The files of a publication, and what was verified."""
    facts, verified = publication.to_json(), publication.verified
    files = [(name, str(facts[name])) for name in ("file", "certificate", "report", "plan")]
    figures = [(name, format_figure(verified[name])) for name in ("k", "rows", "classes", "loss")]
    return card("Publication", grid(("written", "path"), files), grid(("verified", "value"), figures), private=False)


def show_series(series: Any) -> str:
    """Versions of a series."""
    if not series.exists:
        return card("Series", sentences([f"{series.folder} holds no version yet."]), private=True)
    facts = series.to_json()
    return card(
        f"Series(k={facts['k']}, {len(facts['versions'])} versions)", show_lines(facts["versions"]), private=True
    )


def show_ledger(ledger: Any) -> str:
    """Releases that the ledger remembers."""
    lines = ledger.list_releases()
    more = sentences([f"The last {MOST_LINES} are shown."]) if len(lines) > MOST_LINES else ""
    return card(f"Ledger({len(lines)} releases)", more, show_lines(lines) if lines else "", private=True)


# -- pieces --------------------------------------------------------------------------------------------


def show_lines(lines: Sequence[dict[str, Any]]) -> str:
    """Objects with equal keys as a table, the last ones only where they are many."""
    shown = lines[-MOST_LINES:]
    names = [name for name in shown[0] if name not in ("release", "certificate")]
    return grid(names, [[show_cell(name, line[name]) for name in names] for line in shown])


def show_cell(name: str, value: Any) -> str:
    """A time to the minute, a list with commas, or a figure."""
    if name == "time":
        return str(value)[: len("2025-12-31 23:59")].replace("T", " ")
    return ", ".join(value) if isinstance(value, list) else format_figure(value)


def cost_grid(costs: Sequence[dict[str, Any]]) -> str:
    """What each quasi-identifier costs the others."""
    names = ("costs the others", "its loss", "others with it", "others without it")
    lines = [(c["column"], *(figure(c[name]) for name in ("loss", "others", "others_without"))) for c in costs]
    return grid(names, lines) if lines else ""
