"""Intake: options that every command shares, and words turned into values."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import App, Parameter

import kech
from kech.errors import BadOption, NoQuasiIdentifier
from kech.tables.databases import find_address
from kech.views import screen

if TYPE_CHECKING:
    from kech.release.plan import AxisSection, Plan, ReleaseSection

app = App(
    name="kech",
    help=kech.__doc__,
    version=lambda: kech.__version__,
    version_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # main says what Ctrl-C leaves
)

MOST_KS = 10_000


def whole(_: Any, tokens: Sequence[cyclopts.Token]) -> int:
    """A whole number; a fraction is refused, not cut off."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError("write a whole number.") from None


def chance(converter: Any, tokens: Sequence[cyclopts.Token]) -> int:
    """A seed: a whole number, 0 or more."""
    if (seed := whole(converter, tokens)) < 0:
        raise ValueError("write a whole number, 0 or more.")
    return seed


def share(_: Any, tokens: Sequence[cyclopts.Token]) -> float:
    """A share of the rows: 0.01, or 1%."""
    text = tokens[0].value.strip()
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError("write a share of the rows: 0.01 or 1%.") from None


Whole = Annotated[int, Parameter(converter=whole)]
Seed = Annotated[int, Parameter(converter=chance)]

Names = Annotated[list[str], Parameter(consume_multiple=True, negative="")]
Flag = Annotated[bool, Parameter(negative="")]


@Parameter(name="*")
@dataclass
class Intake:
    """How the table is read, and the role of each column."""

    qi: Annotated[Names, Parameter(name=["--qi", "--quasi-identifiers"])] = field(default_factory=list)
    """Columns that could point at a person: --qi age zip, or --qi age,zip."""
    sensitive: Names = field(default_factory=list)
    """Columns to protect; published as they are."""
    identifiers: Names = field(default_factory=list)
    """Columns that name a person; never published."""
    keep: Names = field(default_factory=list)
    """Other columns to publish as they are."""
    hierarchies: Path | None = None
    """Folder of generalization hierarchies: age.csv or anything_age.csv belongs to column age."""
    axis: Names = field(default_factory=list)
    """Kind of an axis: age=numeric, born=date, zip=categorical, city=star, or an order, low to high: size=S<M<L."""
    grid: str | None = None
    """Edges of intervals: auto (round, each hiding k rows), loose and tight (narrower), exact, or a step such as 5."""
    null_values: Names = field(default_factory=list)
    """Texts that mean a missing value, besides the empty cell: --null-values NA ?"""
    delimiter: str | None = None
    """Field separator of a CSV file; found by itself otherwise."""
    encoding: str | None = None
    """Encoding of a CSV file: utf-8 (default), utf-16, latin-1, cp1252."""
    decimal: str | None = None
    """Mark of decimals in text: a comma where numbers are written 1.234,5; a point otherwise."""
    dates: str | None = None
    """Order of day, month and year in text: dmy (31.12.2020), mdy (12/31/2020), or ymd (default)."""
    memory: str | None = None
    """Memory that kech may use, such as 2GB; larger tables go to encrypted files."""
    threads: Annotated[int | None, Parameter(converter=whole)] = None
    """Threads of the engine and the kernels; otherwise all cores, and one for the engine of a small table."""
    engine: str | None = None
    """Where rows are worked on: duckdb (files), postgres (tables of a server), or spark (files too, of any size)."""
    master: str | None = None
    """The cluster of --engine spark: local[4] or spark://host:7077."""
    plan: Path | None = None
    """A plan (kech.toml); options on the command line come before it."""
    json: Flag = False
    """Print one JSON object."""
    json_lines: Flag = False
    """Print JSON objects, one a line: what is being done, as it is done, and at last the result."""

    def show(self, found: dict[str, Any], draw: Callable[[dict[str, Any]], None]) -> None:
        """What was found, in the way that was asked for."""
        screen.show(found, self.json, draw, last=self.json_lines)

    def settle(self) -> "Plan":
        """The plan, overruled by what was typed."""
        plan = read_given(self.plan)
        typed = {
            "quasi_identifiers": self.qi,
            **{role: getattr(self, role) for role in ("sensitive", "identifiers", "keep")},
        }
        overrule(plan.roles, {role: split(names) for role, names in typed.items() if names})
        overrule(plan.table, {name: getattr(self, name) for name in ("delimiter", "encoding", "decimal", "dates")})
        overrule(plan.table, {"null_values": split(self.null_values) if self.null_values else None})
        plan.hierarchies = str(self.hierarchies) if self.hierarchies else plan.hierarchies
        overrule(plan.release, {"grid": self.grid})
        plan.axes |= dict(axis_section(text, plan) for text in self.axis)
        return plan

    def open(self, path: str | Path, plan: "Plan", search: "SearchOptions | None" = None) -> "kech.Table":
        """The table, read as planned, with a quasi-identifier or more; labels are drawn with the key that was named."""
        table = self.look(path, plan, key_file=search and search.key_file)
        if not table.quasi_identifiers:
            with table:
                raise NoQuasiIdentifier(kech.inspect_table(table).quasi_identifiers)
        return table

    def look(self, path: str | Path, plan: "Plan", **others: Any) -> "kech.Table":
        """The table, read as planned."""
        screen.doing("reading the table")
        typed = {
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "engine": self.engine,
            "master": self.master,
        }
        known = {name: value for name, value in (typed | others).items() if value is not None}
        return plan.read_table(path, memory=self.memory, threads=self.threads, **known)


@Parameter(name="*")
@dataclass
class GoalOptions:
    """What every class must keep for every sensitive column, beside k."""

    l: float | None = None  # noqa: E741
    """Values of each sensitive column in every class, at least: --l 3."""
    l_kind: str | None = None
    """How l counts: distinct (default), entropy, or recursive, which takes --c too."""
    c: float | None = None
    """Recursive l-diversity: the most frequent value has fewer rows than c times all from the l-th on."""
    t: float | None = None
    """How far the values of a class may be from those of the whole table, 0 to 1: --t 0.2."""
    t_kind: str | None = None
    """Distance of values: equal (default), or ordered for numbers, dates and ordinal columns."""
    alpha: float | None = None
    """Largest share that one value may have in a class: --alpha 0.5."""

    def settle(self, release: "ReleaseSection") -> None:
        """What was typed comes before the plan; an l of another kind leaves the plan's l behind."""
        if self.l is not None:
            release.l_kind, release.c = "distinct", None
        overrule(release, vars(self))


@Parameter(name="*")
@dataclass
class SearchOptions:
    """How far a cut may go."""

    suppress: Annotated[float | None, Parameter(converter=share)] = None
    """Share of the rows that may be left out: 0.02 or 2%; the regime cut leaves none out."""
    effort: str | None = None
    """How long to search for a lower loss: quick, normal, best, or seconds for each k; Ctrl-C keeps the best so far."""
    seed: Annotated[int | None, Parameter(converter=whole)] = None
    """Equal seeds give equal partitions, unless effort is in seconds; the order of the rows is always secret."""
    key_file: Path | None = None
    """A key that a team shares, in place of your own secret: equal keys, equal labels (kech ledger --new-key FILE)."""
    max_points: Annotated[int | None, Parameter(converter=whole)] = None
    """Distinct points to work on at most; beyond, axes are made coarser. As many as memory allows otherwise."""

    def settle(self, release: "ReleaseSection", cuts: Sequence[str]) -> None:
        """What was typed comes before the plan; only some cuts search."""
        for option, value in (("--effort", self.effort), ("--seed", self.seed)):
            if value is not None and not set(cuts) & {"local", "minimal"}:
                raise BadOption(option, "only --cut local and --cut minimal search.")
        typed = {name: value for name, value in vars(self).items() if name != "key_file"}
        overrule(release, {**typed, "effort": as_effort(self.effort)})


@Parameter(name="*")
@dataclass
class CutOptions:
    """The goal of a release and the way there."""

    k: Annotated[int | None, Parameter(converter=whole)] = None
    """Every row hides among at least k."""
    cut: str | None = None
    """Style of release: local (lowest loss), minimal (smallest eps, then lowest loss), domain (one level for all rows
    of a column) or regime (one eps, classes are connected components)."""
    reading: str | None = None
    """Reading of the regime cut: strict (default) or homological."""
    field: Annotated[int | None, Parameter(converter=whole)] = None
    """Coefficients of the homological reading: numbers modulo this prime, 2 otherwise."""
    eps: float | None = None
    """Radius of the regime cut, in place of k."""

    def settle(self, release: "ReleaseSection", search: SearchOptions | None, wanted: GoalOptions | None) -> None:
        """What was typed comes before the plan; k and eps stand for each other."""
        overrule(release, {"cut": self.cut} | (release.reading_of([self.cut]) if self.cut else {}))
        overrule(release, {"reading": check_reading(self.reading, [release.cut]), "field": self.field})
        (search or SearchOptions()).settle(release, [release.cut])
        (wanted or GoalOptions()).settle(release)
        if self.k is not None or self.eps is not None:
            release.k, release.eps = self.k, self.eps
        if self.eps is not None and self.field is None:
            release.field = 2  # the plan's was for a reading, which eps stands for


def check_reading(reading: str | None, cuts: Sequence[str]) -> str | None:
    """Only the regime cut has readings."""
    if reading is not None and "regime" not in cuts:
        raise BadOption("--reading", "only --cut regime takes it.")
    return reading


def overrule(section: object, typed: Mapping[str, Any]) -> None:
    """What was typed comes before what a section of the plan says."""
    for name, value in typed.items():
        if value is not None:
            setattr(section, name, value)


def read_given(plan: Path | None) -> "Plan":
    """The plan that was named, or one that says nothing."""
    return kech.read_plan(plan) if plan else kech.Plan()


@contextmanager
def opened_population(population: str | Path | None, plan: Path | None) -> "Iterator[kech.Table | int | None]":
    """The table of a population, of which a plan names the quasi-identifiers; or its size."""
    if population is None or str(population).isdecimal():
        yield None if population is None else int(str(population))
        return
    from kech.release.plan import RolesSection

    given = read_given(plan)
    given.roles = RolesSection(quasi_identifiers=given.roles.quasi_identifiers)
    given.axes = {name: axis for name, axis in given.axes.items() if name in given.roles.quasi_identifiers}
    with given.read_table(population) as opened:
        yield opened


def without_password(word: str | Path) -> str:
    """A word of the command as it may be shown: of an address what it shows of itself, and nothing of a strange one."""
    option, text = re.fullmatch(r"(-[\w-]*=)?(.*)", str(word), re.DOTALL).groups("")  # type: ignore[union-attr]
    try:
        return f"{option}{find_address(text) or text}"
    except BadOption:
        return f"{option}{text.partition('://')[0]}://..." if "://" in text else str(word)


def check_picture(path: Path | None) -> None:
    """A picture that cannot be drawn is refused before any work."""
    if path is not None:
        from kech.views.plot import check_plot

        check_plot(path)


TableName = Annotated[
    str | Path,  # a shell completes names of files
    Parameter(
        help="CSV, Parquet, Arrow or Excel file; folder of Parquet files; duckdb:FILE#TABLE; "
        "postgresql://USER@HOST/BASE?table=SCHEMA.NAME; spark://HOST:7077/PATH; s3a://BUCKET/PATH"
    ),
]


# -- words into values -----------------------------------------------------------------------------------


def split(names: Sequence[str]) -> list[str]:
    """Names given apart or with commas between; a name with a comma is written in double quotes."""
    try:
        return [name for text in names for name in next(csv.reader([text], skipinitialspace=True), []) if name]
    except csv.Error:
        reason = "a name with a line end or a quote is written in double quotes, each quote in it twice."
        raise BadOption("--qi and other lists", reason) from None


def parse_ks(texts: Sequence[str]) -> list[int]:
    """Numbers and ranges such as 2-20."""
    try:
        ends = [part.split("-", 1) for part in split(texts)]
        spans = [range(int(span[0]), int(span[-1]) + 1) for span in ends]
        count = sum(map(len, spans))
    except (ValueError, OverflowError):
        count = 0
    if not 0 < count <= MOST_KS:
        raise BadOption("--k", f"write numbers or ranges: --k 2-20,50,100; at most {MOST_KS:,} of them.")
    return [k for span in spans for k in span]


def axis_section(text: str, plan: "Plan") -> "tuple[str, AxisSection]":
    """`column=kind`, or `column=low<middle<high`."""
    from kech.release.plan import AxisSection

    column, equals, wish = text.rpartition("=")
    if not equals or not column:
        raise BadOption("--axis", "write COLUMN=KIND, for example zip=categorical.")
    held = plan.axes.get(column, AxisSection())
    order = wish.split("<") if "<" in wish else []
    return column, AxisSection("ordinal" if order else wish, order, held.grid, held.hierarchy)


def as_effort(text: str | None) -> str | float | None:
    """A word, or seconds."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
