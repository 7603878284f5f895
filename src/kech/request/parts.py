"""Parts: every field of a request, defined once, in the section of the plan file where it stands."""

from collections.abc import Sequence
from math import ceil, inf, isfinite
from typing import Annotated, Any

from kech.errors import BadOption, ColumnInTwoRoles
from kech.request.field import Field, Part, is_whole, settle

ROLES = ("quasi_identifiers", "sensitive", "identifiers", "keep")
AXIS_KINDS = ("number", "date", "ordered", "hierarchy", "set", "star")
PROTECTIONS = ("full", "ends", "none")
CUTS = ("local", "minimal", "domain", "regime")
L_KINDS = ("distinct", "entropy", "recursive")
EFFORTS = ("quick", "normal", "best")
MOST_THREADS = 256
LARGEST_SEED = 2**63 - 1
MIDPOINT = (
    "a midpoint is refused: it looks like a measured value and does not say how wide its class is, so nobody can check "
    "what was lost or which values it stands for. Publish --labels columns, and take the middle of both ends yourself."
)
ROUNDING = 1e-9  # figures that differ by less are equal


class Reading(Part, frozen=True):
    """How the cells of a file are read."""

    delimiter: Annotated[str | None, Field("Field separator of a CSV file; found by itself otherwise.", ";")] = None
    encoding: Annotated[
        str | None, Field("Encoding of a CSV file: utf-8 (default), utf-16, latin-1, cp1252.", "latin-1")
    ] = None
    null_values: Annotated[
        tuple[str, ...], Field("Texts that mean a missing value, besides the empty cell: --null-values NA ?", "NA ?")
    ] = ()
    decimal: Annotated[
        str | None,
        Field(
            "Mark of decimals in text: a comma where numbers are written 1.234,5; a point otherwise.",
            ",",
            choices=(".", ","),
            reason="choose among . ,",
        ),
    ] = None
    dates: Annotated[
        str | None,
        Field(
            "Order of day, month and year in text: dmy (31.12.2020), mdy (12/31/2020), or ymd (default).",
            "dmy",
            choices=("ymd", "dmy", "mdy"),
            reason="choose among ymd dmy mdy",
        ),
    ] = None

    def __post_init__(self) -> None:
        settle(self, null_values=as_names(self.null_values))
        super().__post_init__()


class Columns(Part, frozen=True):
    """What each column is for."""

    quasi_identifiers: Annotated[
        tuple[str, ...],
        Field("Columns that could point at a person: --qi age zip, or --qi age,zip.", "age zip", first=True),
    ] = ()
    sensitive: Annotated[
        tuple[str, ...], Field("Columns to protect; published as they are.", "diagnosis", first=True)
    ] = ()
    identifiers: Annotated[tuple[str, ...], Field("Columns that name a person; never published.", "name")] = ()
    keep: Annotated[tuple[str, ...], Field("Other columns to publish as they are.", "ward")] = ()
    hierarchies: Annotated[
        Any,
        Field("Folder of generalization hierarchies: age.csv or anything_age.csv belongs to column age.", "trees"),
    ] = None

    def __post_init__(self) -> None:
        named: dict[str, str] = {}
        for role in ROLES:
            names = as_names(getattr(self, role))
            settle(self, **{role: names})
            for name in names:
                if name in named:
                    raise ColumnInTwoRoles(name, named[name].replace("_", "-"), role.replace("_", "-"))
                named[name] = role
        super().__post_init__()

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role."""
        return {role: getattr(self, role) for role in ROLES}


class AxisChoice(Part, frozen=True):
    """How one column is generalized; what is not said, kech decides."""

    kind: Annotated[str | None, Field("What the values are.", "hierarchy", choices=AXIS_KINDS)] = None
    order: Annotated[tuple[str, ...], Field("Values of an ordered axis, low to high.", '["low", "high"]')] = ()
    grid: Annotated[str | float | None, Field("The grid of this column alone.", "5")] = None
    protect: Annotated[str | None, Field("The protection of this column alone.", "none", choices=PROTECTIONS)] = None
    hierarchy: Annotated[Any, Field("The hierarchy of this column alone: a file.", "trees/job.csv")] = None

    def __post_init__(self) -> None:
        settle(self, order=as_names(self.order), grid=None if self.grid is None else check_grid(self.grid))
        super().__post_init__()


class Goal(Part, frozen=True):
    """What every class of rows must keep."""

    k: Annotated[
        int | None,
        Field(
            "Every row hides among at least k.",
            "5",
            accepts=lambda k: is_whole(k, 1),
            reason="k is a number of rows, 1 or more.",
            drops=("eps",),
            first=True,
            public=True,
        ),
    ] = None
    l: Annotated[  # noqa: E741 - the letter of l-diversity
        float | None,
        Field(
            "Values of each sensitive column in every class, at least: --l 3.",
            "3",
            accepts=lambda l: l >= 1 and isfinite(l),  # noqa: E741
            reason="it is a number of values, 1 or more.",
            drops=("l_kind", "c"),
            public=True,
        ),
    ] = None
    l_kind: Annotated[
        str,
        Field(
            "How l counts: distinct (default), entropy, or recursive, which takes --c too.",
            "entropy",
            choices=L_KINDS,
            public=True,
        ),
    ] = "distinct"
    c: Annotated[
        float | None,
        Field(
            "Recursive l-diversity: the most frequent value has fewer rows than c times all from the l-th on.",
            "2",
            accepts=lambda c: c > 0 and isfinite(c),
            reason="it is a factor greater than 0.",
            public=True,
        ),
    ] = None
    t: Annotated[
        float | None,
        Field(
            "How far the values of a class may be from those of the whole table, 0 to 1: --t 0.2.",
            "0.2",
            accepts=lambda t: 0 <= t <= 1,
            reason="it is a distance between 0 and 1.",
            public=True,
        ),
    ] = None
    t_kind: Annotated[
        str,
        Field(
            "Distance of values: equal (default), or ordered for numbers, dates and ordered columns.",
            "ordered",
            choices=("equal", "ordered"),
            public=True,
        ),
    ] = "equal"
    alpha: Annotated[
        float | None,
        Field(
            "Largest share that one value may have in a class: --alpha 0.5.",
            "0.5",
            accepts=lambda alpha: 0 < alpha <= 1,
            reason="it is the largest share one value may have in a class: above 0, at most 1.",
            public=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.l is not None and self.l == int(self.l):
            settle(self, l=int(self.l))
        if self.l is not None and self.l_kind != "entropy" and self.l != int(self.l):
            raise BadOption("--l", f"{self.l_kind} l-diversity counts values: give a whole number.")
        if (self.l is not None and self.l_kind == "recursive") != (self.c is not None):
            raise BadOption("--c", "recursive l-diversity takes both, and it alone: --l 3 --l-kind recursive --c 2.")

    @property
    def is_for_values(self) -> bool:
        """Whether sensitive values must keep something, beside k."""
        return bool(self.for_values())

    @property
    def least_rows(self) -> int:
        """No class of fewer rows can keep what is asked for sensitive values."""
        return max(1, ceil(self.l or 1), ceil(1 / (self.alpha or 1) - ROUNDING))

    def for_values(self) -> dict[str, Any]:
        """What is asked for sensitive values, by name."""
        found: dict[str, Any] = {} if self.l is None else {"l": self.l, "l_kind": self.l_kind}
        found |= {} if self.c is None else {"c": self.c}
        found |= {} if self.t is None else {"t": self.t, "t_kind": self.t_kind}
        return found | ({} if self.alpha is None else {"alpha": self.alpha})

    def check_sensitive(self, sensitive: Sequence[str]) -> None:
        """Goals for sensitive values need a sensitive column."""
        if self.is_for_values and not sensitive:
            raise BadOption("--l, --t, --alpha", "they protect sensitive columns; name one: --sensitive COLUMN.")


class Cut(Part, frozen=True):
    """How rows are parted into classes."""

    style: Annotated[
        str,
        Field(
            "Style of release: local (lowest loss), minimal (smallest eps, then lowest loss), domain (one level for "
            "all rows of a column) or regime (one eps, classes are connected components).",
            "domain",
            name="cut",
            choices=CUTS,
            public=True,
        ),
    ] = "local"
    reading: Annotated[
        str,
        Field(
            "Reading of the regime cut: strict (default) or homological.",
            "homological",
            choices=("strict", "homological"),
            public=True,
        ),
    ] = "strict"
    field: Annotated[
        int, Field("Coefficients of the homological reading: numbers modulo this prime, 2 otherwise.", "3", public=True)
    ] = 2
    eps: Annotated[
        float | None,
        Field(
            "Radius of the regime cut, in place of k.",
            "0.1",
            accepts=lambda eps: 0 <= eps < inf,
            reason="give a radius of 0 or more.",
            drops=("k", "field"),
            public=True,
        ),
    ] = None
    suppress: Annotated[
        float,
        Field(
            "Share of the rows that may be left out: 0.02 or 2%; the regime cut leaves none out.",
            "2%",
            accepts=lambda share: 0 <= share < 1,
            reason="give a share of the rows, 0 or more and less than 1.",
            public=True,
            percent=True,
        ),
    ] = 0.0
    effort: Annotated[
        str | float | None,
        Field(
            "How long to search for a lower loss: quick, normal, best, or seconds for each k; Ctrl-C keeps the best "
            "so far.",
            "best",
            accepts=lambda effort: effort in EFFORTS or (not isinstance(effort, str) and 0 <= effort < inf),
            reason=f"choose among {', '.join(EFFORTS)}, or a number of seconds.",
        ),
    ] = None
    seed: Annotated[
        int,
        Field(
            "Equal seeds give equal partitions, unless effort is in seconds; the order of the rows is always secret.",
            "7",
            accepts=lambda seed: is_whole(seed, 0, LARGEST_SEED),
            reason=f"give a whole number from 0 to {LARGEST_SEED}.",
        ),
    ] = 0


class Labels(Part, frozen=True):
    """How labels are made and written."""

    grid: Annotated[
        str | float,
        Field(
            "Where edges of intervals may lie: round (numbers that hide k rows each), exact, or a step such as 5.",
            "5",
            drops=("protect",),
            public=True,
        ),
    ] = "round"
    protect: Annotated[
        str | None,
        Field(
            "What hides the edges of a round grid: full (default: ends moved and labels padded), ends (moved only) or "
            "none.",
            "ends",
            choices=PROTECTIONS,
            public=True,
        ),
    ] = None
    form: Annotated[
        str,
        Field(
            "How intervals are written: brackets ([22, 25], default), dash (22-25) or columns (age_low and age_high).",
            "dash",
            name="labels",
            choices=("brackets", "dash", "columns"),
        ),
    ] = "brackets"
    key_file: Annotated[
        Any,
        Field(
            "A key that a team shares, in place of your own secret: equal keys, equal labels (kech ledger --new-key "
            "FILE).",
            "team.key",
        ),
    ] = None

    def __post_init__(self) -> None:
        settle(self, grid=check_grid(self.grid))
        if self.form == "midpoint":
            raise BadOption("--labels", MIDPOINT)
        super().__post_init__()
        if self.grid != "round" and self.protect not in (None, "none"):
            raise BadOption("--protect", "only the edges of a round grid are hidden: leave it out, or --grid round.")

    def on(self, axis: AxisChoice) -> tuple[str | float, str]:
        """The grid of one column, and what protects its labels."""
        grid = self.grid if axis.grid is None else axis.grid
        return grid, (axis.protect or self.protect or "full") if grid == "round" else "none"


class Limits(Part, frozen=True):
    """What the machine may spend."""

    memory: Annotated[
        str | None, Field("Memory that kech may use, such as 2GB; larger tables go to encrypted files.", "2GB")
    ] = None
    threads: Annotated[
        int | None,
        Field(
            "Threads of the engine and the kernels; otherwise all cores, and one for the engine of a small table.",
            "4",
            accepts=lambda threads: is_whole(threads, 1, MOST_THREADS),
            reason=f"give 1 to {MOST_THREADS}.",
        ),
    ] = None
    engine: Annotated[
        str | None,
        Field(
            "Where rows are worked on: duckdb (files), postgres (tables of a server), or spark (files too, of any "
            "size).",
            "spark",
        ),
    ] = None
    master: Annotated[
        str | None, Field("The cluster of --engine spark: local[4] or spark://host:7077.", "spark://host:7077")
    ] = None
    max_points: Annotated[
        int | None,
        Field(
            "Distinct points to work on at most; beyond, axes are made coarser. As many as memory allows otherwise.",
            "1000000",
            accepts=lambda points: is_whole(points, 1),
            reason="give a number of points, 1 or more.",
        ),
    ] = None


# -- checks that several parts share


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names as a tuple, each once; a single name is welcome."""
    return tuple(dict.fromkeys((names,) if isinstance(names, str) else names))


def check_grid(grid: Any) -> str | float:
    """Round, exact, or a step as a number."""
    if isinstance(grid, str) and grid in ("round", "exact"):
        return grid
    try:
        step = float(grid)
    except (TypeError, ValueError):
        step = 0.0
    if not 0 < step < inf:
        raise BadOption("--grid", "round, exact, or a step greater than 0 (for dates, in days).")
    return int(step) if step == int(step) else step
