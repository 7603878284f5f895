"""Options: what a page may say with each verb; unknown words are refused."""

import msgspec


class VerbOptions(msgspec.Struct, forbid_unknown_fields=True):
    """What a page may say; unknown words are refused."""


class InspectOptions(VerbOptions):
    """How many of the first rows to show, and whether to say what columns cost one another."""

    rows: int = 0
    costs: bool = True


class CellsOptions(VerbOptions):
    """Which rows, by their places in the table."""

    rows: list[int]


class ClassesOptions(VerbOptions):
    """Another k or effort than the plan's; whether the class of every row is told."""

    k: int | None = None
    effort: str | float | None = None
    with_rows: bool = True


class KOptions(VerbOptions):
    """One k."""

    k: int


class PictureOptions(VerbOptions):
    """What is drawn, for which k; along which path of nodes."""

    of: str
    k: int = 2
    path: str = "diagonal"


class HierarchyOptions(VerbOptions):
    """One column, and a hierarchy to check in place of building one."""

    column: str
    kind: str | None = None
    source: str | None = None
    pad: bool = False


class SpectrumOptions(VerbOptions):
    """Which k, by which cuts."""

    k: list[int] | None = None
    cut: list[str] = []
    effort: str | float | None = None


class BarcodeOptions(VerbOptions):
    """How far to look for holes, on which grid, and for which k regimes are shown."""

    max_dimension: int = 0
    field: int = 2
    grid: str | float = "exact"
    k: int = 2


class LatticeOptions(VerbOptions):
    """Which k; or one node, to look around from."""

    k: list[int] | None = None
    node: list[int] | None = None


class ZigzagOptions(VerbOptions):
    """A path of nodes."""

    path: str
    k: int = 2


class PreviewOptions(VerbOptions):
    """How many of the first rows to show; two columns, and what is seen on them: another k and cut, or a radius.

    Of a goal for histories, the price alone: it is known before any search.
    """

    rows: int = 10
    on: list[str] = []
    radius: float | None = None
    k: int | None = None
    cut: str | None = None
    effort: str | None = None
    protect_history: bool | None = None
    price: bool = False


class ReleaseOptions(VerbOptions):
    """Where to write, and what was written before; the paths come from the server, not from the page."""

    folder: str
    file: str
    ledger: bool
    earlier: list[str]
    allow_composition: bool


class PublishOptions(VerbOptions):
    """The next version of a series; the paths come from the server, not from the page."""

    series: str
    file: str
    wait: float | None
    most_changed: float | None
    hierarchies: dict[str, str]
    ledger: bool
