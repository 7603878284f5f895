"""Parts: every field of a request, defined once, in the section of the plan file to which it belongs.

A field has its help text and the check of its value.  Command line, plan file, manual and studio use both.
"""

import codecs
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache
from math import ceil, inf
from typing import Annotated, Any, NoReturn, get_type_hints

import msgspec

from kech.errors import BadOption, ColumnInTwoRoles, unusable_value

OPTIONS = {
    "quasi_identifiers": "--qi",
    "axes": "--axis",
    "target": "--for",
}  # options whose name differs from their field
ROLES = {  # fields of [columns], each with the name of the role in the singular
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "person": "person",
    "identifiers": "identifier",
    "keep": "keep",
}
PROTECTIONS = ("full", "ends", "none")
USUAL_PROTECTION = "full"
SENSITIVE_GOALS = ("l", "l_kind", "c", "t", "t_kind", "alpha")  # fields of [goal] that need a sensitive column
GRIDS = ("round", "exact")  # or a step
ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252")  # the usual ones; Python knows more
OLD_GRIDS = {"auto": ("round", ""), "loose": ("round", "ends"), "tight": ("round", "none")}  # now grid and protect
DELIMITERS = (",", ";", "\t", "|")  # among which kech finds that of a file
KIND_WITHOUT_L = "it says how l counts values. Add --l 3, or omit --l-kind."
ENGINES = ("duckdb", "postgres", "spark")
EFFORTS = ("quick", "normal", "best")
USUAL_K = 5  # where none is named, and the nearest one where not all are shown
FEW_KS = 8  # so many k are all searched, and with the normal effort where none is named
MOST_THREADS = 256
MOST_FOLDED = 1000  # distinct texts of a column whose spellings are compared: it is a category
LARGEST_FIELD = 127  # ripser holds coefficients in 8 bits with a sign: beyond, it never ends or ends the process
LARGEST_SEED = 2**63 - 1
EXACT = 1e15  # whole numbers below it are exact as floats
LARGEST_END = 1e307  # of a domain: its length must be a float
SMALLEST_DELTA = 1e-15
SMALLEST_RATE = 0.001  # of a sample: every larger double is a whole multiple of 2^-64
ROUNDING = 1e-9  # figures that differ by less are equal


@dataclass(frozen=True, slots=True)
class AxisRules:
    """What a kind of axis can be told."""

    has_grid: bool = False  # its labels are intervals whose ends lie on a grid
    needs_order: bool = False


AXIS_KINDS = {
    "number": AxisRules(has_grid=True),
    "date": AxisRules(has_grid=True),
    "ordered": AxisRules(needs_order=True),
    "hierarchy": AxisRules(),
    "set": AxisRules(),
    "star": AxisRules(),
}


@dataclass(frozen=True, slots=True)
class CountRules:
    """What a way of counting sensitive values asks of l and c."""

    is_whole: bool = True  # l is a whole number
    needs_c: bool = False


L_KINDS = {
    "distinct": CountRules(),
    "entropy": CountRules(is_whole=False),
    "recursive": CountRules(needs_c=True),
}


@dataclass(frozen=True, slots=True)
class CutRules:
    """What a cut is for, and which options it accepts."""

    purpose: str
    result: str  # what happened to the rows, for a report
    is_searched: bool = False  # a search improves its classes, as --effort and --seed say
    stops_at_gap: bool = False  # the search is for the lowest loss, and may end at a proven gap
    by_level: bool = False  # every column is printed at one level, and levels need grids of equal steps
    by_components: bool = False  # it accepts --eps instead of --k, and --reading
    keeps_histories: bool = False  # it accepts --protect-history
    measures_balls: bool = False  # it accepts --metric ball
    has_objective: bool = False  # it accepts --objective variance


CUTS = {
    "local": CutRules(
        "lowest loss",
        "every class is blurred for itself, as its own rows need",
        is_searched=True,
        stops_at_gap=True,
        keeps_histories=True,
        has_objective=True,
    ),
    "minimal": CutRules(
        "smallest eps, then lowest loss",
        "the widest class is kept as narrow as the search could make it",
        is_searched=True,
        measures_balls=True,
    ),
    "domain": CutRules(
        "one level for all rows of a column",
        "all rows of a column are blurred to the same level",
        by_level=True,
    ),
    "regime": CutRules(
        "one eps, classes are connected components",
        "classes are the connected components at one radius",
        by_components=True,
    ),
}


def list_cuts() -> str:
    """The names of all cuts with their purposes, for a sentence."""
    *first, last = (f"{name} ({rules.purpose})" for name, rules in CUTS.items())
    return f"{', '.join(first)} or {last}"


def usual_effort(ks: int) -> str:
    """The effort of a search for this many k where none is named: few are searched normally, many quickly."""
    return "normal" if ks <= FEW_KS else "quick"


YES_OR_NO: dict[str, Any] = {  # arguments of every field that is a switch
    "example": "true",
    "accepts": lambda value: isinstance(value, bool),
    "reason": "Write true or false.",
}


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The numbers that a field accepts."""

    least: float = 0
    most: float = inf  # infinity itself is refused
    above: bool = False  # refuses `least` itself
    below: bool = False  # refuses `most` itself
    whole: bool = False
    step: float = 1  # by which a box of a form counts

    def contains(self, value: Any) -> bool:
        """Whether a field accepts this number."""
        if isinstance(value, bool | str):
            return False
        number = operator.index(value) if self.whole else value
        is_above = number > self.least if self.above else number >= self.least
        return bool(is_above and (number < self.most if self.below or self.most == inf else number <= self.most))

    def __str__(self) -> str:
        least, most = f"{self.least:,.15g}", f"{self.most:,.15g}"
        if self.most == inf:
            return f" greater than {least}" if self.above else f", {least} or more"
        if self.above:
            return f" above {least} and {'less than' if self.below else 'at most'} {most}"
        return f", {least} or more and less than {most}" if self.below else f" from {least} to {most}"


STEPS = NumberRange(0, above=True)  # of a grid
SHARE_BELOW_ONE: dict[str, Any] = {
    "numbers": NumberRange(0, 1, below=True, step=0.001),
    "noun": "a share of the rows",
    "percent": True,
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request."""

    help: str
    example: str = ""  # a value, as it is typed
    choices: tuple[str, ...] = ()
    usual: str | float | None = None  # what kech takes where nothing is set
    numbers: NumberRange | None = None  # accepted beside the choices
    by_column: bool = False  # the value is a table of columns, each with such a number
    noun: str = "a number"  # what these numbers are
    offered: tuple[Any, ...] = ()  # values that a form offers; you may type others
    accepts: Callable[[Any], bool] | None = None
    reason: str = ""  # the refusal of any other value, where it is not made from choices and numbers
    resets: tuple[str, ...] = ()  # fields that get their defaults back when this one is set
    first: bool = False  # shown at the top of the help, before all groups
    public: bool = False  # the certificate states it
    percent: bool = False  # may be typed as 2%
    name: str = ""  # this and the following are filled in by `fields_of` and `FIELDS`
    part: str = ""
    type: Any = None
    default: Any = None

    @property
    def option(self) -> str:
        """The option of the command line."""
        return OPTIONS.get(self.name, f"--{self.name.replace('_', '-')}")

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a message may name as its values."""
        return self.choices or tuple(value for value in self.offered if isinstance(value, str))

    @property
    def is_list(self) -> bool:
        """Whether the value is a list of names."""
        return bool(self.type == tuple[str, ...])

    @property
    def is_switch(self) -> bool:
        """Whether the value is true or false."""
        return self.type is bool

    def check(self, value: Any) -> None:
        """Refuse a value that the field does not accept."""
        if value is None or not (self.choices or self.numbers or self.accepts):
            return
        try:
            is_accepted = self.accepts(value) if self.accepts else self.is_choice(value) or self.is_in_range(value)
        except (AttributeError, TypeError, ValueError):
            is_accepted = False
        if not is_accepted:
            self.refuse()

    def is_choice(self, value: Any) -> bool:
        """Whether a value is one of the choices."""
        return isinstance(value, str) and value in self.choices

    def is_in_range(self, value: Any) -> bool:
        """Whether a number, or every number of a table of columns, is in the range of the field."""
        numbers = value.values() if self.by_column else (value,)
        return self.numbers is not None and all(self.numbers.contains(number) for number in numbers)

    def convert(self, value: Any) -> Any:
        """A value from a plan or a dictionary, converted to the type of the field."""
        if self.is_list:
            return as_names(value, self.option)
        try:
            return msgspec.convert(value, self.type)
        except msgspec.ValidationError:
            return self.refuse()

    def refuse(self) -> NoReturn:
        """Raise a refusal that says what to write for this field."""
        raise unusable_value(self.option, self.reason or self.describe_values()) from None

    def describe_values(self) -> str:
        """A sentence that says which values the field accepts."""
        choices, numbers = ", ".join(self.choices), f"{self.noun}{self.numbers}"
        if self.choices:
            return f"Choose among {choices}, or write {numbers}." if self.numbers else f"Choose among {choices}."
        if self.by_column:
            return f"Name columns with {numbers}: {self.example}."
        return f"Write {numbers}." if self.numbers else f"Write a value such as {self.example}."


class PartType(msgspec.StructMeta):
    """Metaclass of all parts: refuses the names of fields that a part does not have."""

    def __call__(cls, *values: Any, **fields: Any) -> Any:  # noqa: N805 - a metaclass creates classes
        """Create a part from known fields."""
        for name in fields:
            if name not in cls.__struct_fields__:
                cls.refuse_unknown(name)
        return super().__call__(*values, **fields)

    def refuse_unknown(cls, name: str) -> None:  # noqa: N805
        """Refuse the name of a field that this part does not have."""
        check_known(name, cls.__struct_fields__, f"{cls.__name__} has no such field.")


# -- checks of single values


def is_small_prime(value: Any) -> bool:
    """Whether a value is a prime that homology can compute with."""
    number = operator.index(value)
    return 2 <= number <= LARGEST_FIELD and all(number % divisor for divisor in range(2, number))


def is_text_encoding(value: Any) -> bool:
    """Whether Python knows this encoding of text."""
    try:
        "".encode(value)
        return bool(codecs.lookup(value))
    except LookupError:
        return False


def is_delimiter(value: Any) -> bool:
    """Whether a text is one ASCII character that may separate the fields of a CSV file."""
    return len(value.encode()) == 1 and value not in '"\r\n\0'


def is_size(value: Any) -> bool:
    """Whether a text is a size of memory, such as 2GB."""
    return re.fullmatch(r"\d{1,6}(\.\d{1,3})?\s*[KMGT]i?B", value, re.I) is not None


def is_master(value: Any) -> bool:
    """Whether a text can be the master of Spark: a word, perhaps with the number of its threads, or an address."""
    return re.fullmatch(r"[a-z][a-z0-9-]*(\[[^\s\[\]]+\]|://\S+)?", value) is not None


class Part(msgspec.Struct, metaclass=PartType, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """A part of a request, which is a section of the plan file; its values are checked when it is created."""

    def __post_init__(self) -> None:
        for field in fields_of(type(self)):
            field.check(getattr(self, field.name))


@cache
def fields_of(part: type[Part]) -> tuple[Field, ...]:
    """The fields of a part, each with its name, type and default; `FIELDS` adds the section."""
    hints = get_type_hints(part, include_extras=True)
    return tuple(
        replace(field, name=name, type=hints[name].__origin__, default=default)
        for name, default in zip(part.__struct_fields__, part.__struct_defaults__, strict=True)
        for field in getattr(hints[name], "__metadata__", ())
    )


class Input(Part, frozen=True):
    """How kech reads the cells of a file."""

    delimiter: Annotated[
        str | None,
        Field(
            "Separator of the fields of a CSV file. By default kech finds it.",
            ";",
            offered=DELIMITERS,
            accepts=is_delimiter,
            reason="Give one ASCII character, not a quote or line break; write a tab as $'\\t'.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        Field(
            f"Encoding of a CSV file: {ENCODINGS[0]} (default), {', '.join(ENCODINGS[1:])}, or another of Python.",
            "latin-1",
            usual=ENCODINGS[0],
            offered=ENCODINGS,
            accepts=is_text_encoding,
            reason=f"Name an encoding of text that Python knows: {', '.join(ENCODINGS)}.",
        ),
    ] = None
    sheet: Annotated[
        str | None, Field("Sheet of a workbook with the table. By default the first one.", "Patients", accepts=bool)
    ] = None
    header_line: Annotated[
        int | None,
        Field(
            "Line of a CSV file or workbook that names the columns; lines above it are not read.",
            "3",
            usual=1,
            numbers=NumberRange(1, whole=True),
            noun="the number of a line",
        ),
    ] = None
    null_values: Annotated[
        tuple[str, ...], Field("Texts that mean a missing value, as an empty cell does: --null-values NA ?", "NA ?")
    ] = ()
    decimal: Annotated[
        str | None,
        Field(
            "Decimal mark of numbers in text: a point (default), or a comma as in 1.234,5.",
            ",",
            choices=(".", ","),
            usual=".",
            reason="Write a point or a comma.",
        ),
    ] = None
    dates: Annotated[
        str | None,
        Field(
            "Order of day, month and year in text: ymd (default), dmy (31.12.2020) or mdy (12/31/2020).",
            "dmy",
            choices=("ymd", "dmy", "mdy"),
            usual="ymd",
        ),
    ] = None
    fold_variants: Annotated[
        bool,
        Field(
            f"Treat spellings as equal (Female = female) in text columns with at most {MOST_FOLDED:,} values, and "
            "publish small letters.",
            **YES_OR_NO,
        ),
    ] = False
    rename_duplicates: Annotated[
        bool,
        Field(
            "Read a CSV file with repeated or missing column names: the second age becomes age_2.",
            **YES_OR_NO,
        ),
    ] = False

    def __post_init__(self) -> None:
        set_fields(self, null_values=as_names(self.null_values, "--null-values"))
        super().__post_init__()


class Columns(Part, frozen=True):
    """What each column is for."""

    quasi_identifiers: Annotated[
        tuple[str, ...],
        Field("Columns that could point at a person: --qi age zip, or --qi age,zip.", "age zip", first=True),
    ] = ()
    sensitive: Annotated[
        tuple[str, ...],
        Field("Columns that l, t and alpha protect. They are published unchanged.", "diagnosis", first=True),
    ] = ()
    person: Annotated[
        tuple[str, ...],
        Field(
            "Rows with the same value here are one person, and k counts people. It is never published. Several columns "
            "name a person together.",
            "patient_id",
            first=True,
        ),
    ] = ()
    identifiers: Annotated[tuple[str, ...], Field("Columns that name a person. They are never published.", "name")] = ()
    keep: Annotated[tuple[str, ...], Field("Other columns to publish unchanged.", "ward")] = ()
    rows_are_people: Annotated[
        bool,
        Field(
            "Every row is another person, even if an identifier repeats.",
            **YES_OR_NO,
            resets=("person",),
        ),
    ] = False
    hierarchies: Annotated[
        Any,
        Field(
            "Folder of generalization hierarchies: age.csv, or any name that ends in _age.csv, is for column age.",
            "trees",
        ),
    ] = None

    def __post_init__(self) -> None:
        role_of_column: dict[str, str] = {}
        for role in ROLES:
            names = as_names(getattr(self, role), OPTIONS.get(role, f"--{role}"))
            set_fields(self, **{role: names})
            for name in names:
                if name in role_of_column:
                    raise ColumnInTwoRoles(name, role_of_column[name].replace("_", "-"), role.replace("_", "-"))
                role_of_column[name] = role
        super().__post_init__()
        if self.person and self.rows_are_people:
            raise BadOption("--rows-are-people", "the people are named already by --person. Omit one of the two.")

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role."""
        return {role: getattr(self, role) for role in ROLES}


class AxisChoice(Part, frozen=True):
    """How one column is generalized. kech chooses what you omit."""

    kind: Annotated[str | None, Field("Kind of the axis.", "hierarchy", choices=tuple(AXIS_KINDS))] = None
    order: Annotated[tuple[str, ...], Field("Values of an ordered axis, from low to high.", '["low", "high"]')] = ()
    grid: Annotated[str | float | None, Field("Grid of this column alone.", "5", choices=GRIDS, numbers=STEPS)] = None
    protect: Annotated[str | None, Field("Protection of this column alone.", "none", choices=PROTECTIONS)] = None
    hierarchy: Annotated[Any, Field("File of the hierarchy of this column.", "trees/job.csv")] = None
    domain: Annotated[
        Any,
        Field(
            "Domain of numbers or dates, which does not depend on the rows: income=0:500000. Widths are shares of it, "
            "and no label ends beyond it. By default kech chooses one.",
            "[0, 500000]",
        ),
    ] = None

    def __post_init__(self) -> None:
        set_fields(
            self,
            order=as_names(self.order, "--axis"),
            grid=None if self.grid is None else check_grid(self.grid),
            domain=None if self.domain is None else check_domain(self.domain),
        )
        super().__post_init__()
        if self.domain and (self.hierarchy is not None or not AXIS_KINDS[self.kind or "number"].has_grid):
            raise BadOption("--domain", "only numbers and dates have a domain. Omit it.")


class Goal(Part, frozen=True):
    """The goals that every class of rows must meet."""

    k: Annotated[
        int | None,
        Field(
            "Smallest size of a class: its people where --person is given, otherwise its rows.",
            "5",
            numbers=NumberRange(1, whole=True),
            noun="a number of rows or people",
            offered=(2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100),
            resets=("eps",),
            first=True,
            public=True,
        ),
    ] = None
    l: Annotated[  # noqa: E741 - the letter of l-diversity
        float | None,
        Field(
            "Number of different values that each sensitive column must have in every class: --l 3.",
            "3",
            numbers=NumberRange(1),
            noun="a number of values",
            resets=("l_kind", "c"),
            public=True,
        ),
    ] = None
    l_kind: Annotated[
        str,
        Field(
            "How --l counts values: distinct (default), entropy, or recursive, which also needs --c.",
            "entropy",
            choices=tuple(L_KINDS),
            public=True,
        ),
    ] = "distinct"
    c: Annotated[
        float | None,
        Field(
            "Factor of recursive l-diversity: the commonest value has fewer rows than c times the l-th commonest "
            "value and all rarer ones together.",
            "2",
            numbers=NumberRange(0, above=True, step=0.1),
            noun="a factor",
            public=True,
        ),
    ] = None
    t: Annotated[
        float | None,
        Field(
            "Largest distance between the values of a class and those of the whole table, from 0 to 1: --t 0.2.",
            "0.2",
            numbers=NumberRange(0, 1, step=0.01),
            noun="a distance",
            public=True,
        ),
    ] = None
    t_kind: Annotated[
        str,
        Field(
            "Distance that --t measures: equal (default), or ordered for numbers, dates and ordered columns.",
            "ordered",
            choices=("equal", "ordered"),
            public=True,
        ),
    ] = "equal"
    alpha: Annotated[
        float | None,
        Field(
            "Largest share of a class that one sensitive value may have: --alpha 0.5.",
            "0.5",
            numbers=NumberRange(0, 1, above=True, step=0.01),
            noun="a share",
            public=True,
        ),
    ] = None
    protect_history: Annotated[
        bool,
        Field(
            "Keep all rows of a person together: at least k people have the same labels on all of their rows. A random "
            "person_number links them in the release.",
            **YES_OR_NO,
            public=True,
        ),
    ] = False

    dp_epsilon: Annotated[
        float | None,
        Field(
            "Publish a random sample that is (epsilon, delta)-differentially private, with --cut domain at fixed "
            "levels. Also needs --dp-delta and --dp-rate; k follows from the three.",
            "1",
            numbers=NumberRange(0, 10, above=True, step=0.1),  # above 10 it promises next to nothing
            resets=("k",),
            public=True,
        ),
    ] = None
    dp_delta: Annotated[
        float | None,
        Field(
            "Probability with which --dp-epsilon may fail; it should be much smaller than 1 / rows.",
            "1e-6",
            numbers=NumberRange(SMALLEST_DELTA, 1, below=True, step=SMALLEST_DELTA),
            noun="a probability",
            resets=("k",),
            public=True,
        ),
    ] = None
    dp_rate: Annotated[
        float | None,
        Field(
            "Probability with which a row is in the sample of --dp-epsilon: 0.1 or 10%. A smaller one needs a smaller "
            "k.",
            "10%",
            numbers=NumberRange(SMALLEST_RATE, 1, below=True, step=0.001),
            noun="a share of the rows",
            resets=("k",),
            public=True,
            percent=True,
        ),
    ] = None
    dp_search: Annotated[
        float | None,
        Field(
            "Part of --dp-epsilon that pays for drawing the levels which --levels does not fix.",
            "0.1",
            numbers=NumberRange(0, 10, above=True, below=True, step=0.1),
            resets=("k",),
            public=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(value is not None for value in (self.dp_epsilon, self.dp_delta, self.dp_rate, self.dp_search)):
            self._check_sample()
        if self.l is not None and self.l == int(self.l):
            set_fields(self, l=int(self.l))
        if self.l is not None and L_KINDS[self.l_kind].is_whole and self.l != int(self.l):
            raise BadOption("--l", f"{self.l_kind} l-diversity counts values: write a whole number.")
        if self.l is None and self.l_kind != "distinct":
            raise BadOption("--l-kind", KIND_WITHOUT_L)
        if L_KINDS[self.l_kind].needs_c != (self.c is not None):
            raise BadOption(
                "--c",
                "only recursive l-diversity has a factor, and it needs one. Write --l 3 --l-kind recursive --c 2.",
            )

    def _check_sample(self) -> None:
        """Set k to the one that differential privacy needs; refuse a smaller one, and an epsilon without a k."""
        from kech.request.sampling import smallest_epsilon, smallest_k

        epsilon, delta, rate = self.dp_epsilon, self.dp_delta, self.dp_rate
        if epsilon is None or delta is None or rate is None:
            reason = "differential privacy needs all three. Write --dp-epsilon 1 --dp-delta 1e-6 --dp-rate 0.1."
            raise BadOption("--dp-epsilon, --dp-delta, --dp-rate", reason)
        search = self.dp_search or 0.0
        if epsilon - search < smallest_epsilon(rate):
            least = f"{smallest_epsilon(rate) + search:.4g}" + (f" beside --dp-search {search:g}" if search else "")
            reason = f"for --dp-rate {rate:g} it is {least} or more. Write a larger one, or a smaller --dp-rate."
            raise BadOption("--dp-epsilon", reason)
        needed = smallest_k(epsilon - search, delta, rate)
        if self.k is not None and self.k < needed:
            raise BadOption("--k", f"this differential privacy needs k = {needed} or more. Omit --k.")
        set_fields(self, k=needed if self.k is None else self.k)

    def refuse_sample(self, reason: str) -> None:
        """Refuse differential privacy where the theorem does not apply."""
        if self.dp_epsilon is not None:
            raise BadOption("--dp-epsilon", f"{reason} Or omit --dp-epsilon, --dp-delta and --dp-rate.")

    @property
    def has_sensitive_goals(self) -> bool:
        """Whether l, t or alpha is set."""
        return bool(self.sensitive_goals())

    @property
    def least_rows(self) -> int:
        """The fewest rows with which a class can meet l and alpha."""
        return max(1, ceil(self.l or 1), ceil(1 / (self.alpha or 1) - ROUNDING))

    def sensitive_goals(self) -> dict[str, Any]:
        """The goals for sensitive values that are set (l, c, t, alpha), with the kinds of l and t."""
        goals: dict[str, Any] = {} if self.l is None else {"l": self.l, "l_kind": self.l_kind}
        goals |= {} if self.c is None else {"c": self.c}
        goals |= {} if self.t is None else {"t": self.t, "t_kind": self.t_kind}
        return goals | ({} if self.alpha is None else {"alpha": self.alpha})

    def check_person(self, person: Sequence[str]) -> None:
        """Refuse to protect histories without a person column."""
        if self.protect_history and not person:
            raise BadOption(
                "--protect-history", "it needs to know whose rows they are. Name the column: --person COLUMN."
            )

    def refuse_history(self, reason: str) -> None:
        """Refuse to protect histories in a command that ignores them."""
        if self.protect_history:
            raise BadOption("--protect-history", f"{reason} Omit it here; kech preview and kech release use it.")

    def check_sensitive(self, sensitive: Sequence[str]) -> None:
        """Refuse goals for sensitive values without a sensitive column."""
        if self.has_sensitive_goals and not sensitive:
            raise BadOption("--l, --t, --alpha", "they protect sensitive columns. Name one: --sensitive COLUMN.")


class Cut(Part, frozen=True):
    """How rows are divided into classes."""

    cut: Annotated[
        str,
        Field(
            f"How rows are divided into classes: {list_cuts()}.",
            "domain",
            choices=tuple(CUTS),
            public=True,
        ),
    ] = "local"
    objective: Annotated[
        str,
        Field(
            "What the local cut makes small: width (default: the labels are narrow) or variance (the numbers of a "
            "class differ little from their mean, each column rescaled; for analysis).",
            "variance",
            choices=("width", "variance"),
            public=True,
        ),
    ] = "width"
    metric: Annotated[
        str,
        Field(
            "How the minimal cut measures classes: box (default: half the widest side) or ball (radius of the smallest "
            "enclosing ball; numbers and dates with --grid exact).",
            "ball",
            choices=("box", "ball"),
            public=True,
        ),
    ] = "box"
    reading: Annotated[
        str,
        Field(
            "Reading of k-anonymity in the regime cut: strict (default) or homological.",
            "homological",
            choices=("strict", "homological"),
            public=True,
        ),
    ] = "strict"
    field: Annotated[
        int,
        Field(
            f"Coefficients of the homological reading: integers modulo this prime, 2 to {LARGEST_FIELD}.",
            "3",
            accepts=is_small_prime,
            reason=f"Give a prime from 2 to {LARGEST_FIELD}: --field 3.",
            public=True,
        ),
    ] = 2
    eps: Annotated[
        float | None,
        Field(
            "Radius of the regime cut, instead of k.",
            "0.1",
            numbers=NumberRange(step=0.01),
            noun="a radius",
            resets=("k", "field"),
            public=True,
        ),
    ] = None
    suppress: Annotated[
        float,
        Field(
            "Largest share of the rows to omit: 0.02 or 2%.",
            "2%",
            **SHARE_BELOW_ONE,
            public=True,
        ),
    ] = 0.0
    weights: Annotated[
        dict[str, float] | None,
        Field(
            "Weights of columns in the loss, by default 1: --weights age=3 keeps age more precise.",
            "age=3",
            numbers=NumberRange(0, 1000, above=True, step=0.25),
            by_column=True,
            usual=1,
            offered=(0.25, 0.5, 1, 2, 4),
            public=True,
        ),
    ] = None
    target: Annotated[
        str | None,
        Field(
            "A sensitive column that readers will predict: columns that help to predict it stay more precise. kech "
            "measures their weights on a draft that is as safe as the release.",
            "diagnosis",
            public=True,
        ),
    ] = None
    levels: Annotated[
        dict[str, int] | None,
        Field(
            "Levels of --cut domain, one for each quasi-identifier: --levels job=1 zip=2. 0 are the values themselves; "
            "kech lattice lists nodes. With --dp-epsilon choose them before you look at the rows; there the level of a "
            "number or date is its step: --grid 10.",
            "job=1",
            numbers=NumberRange(whole=True),
            by_column=True,
            noun="the number of a level",
            public=True,
        ),
    ] = None
    effort: Annotated[
        str | float | None,
        Field(
            f"How long to search for a lower loss: quick, {usual_effort(1)} (default), best, or seconds for each k. Of "
            f"more than {FEW_KS} k each gets a part of it. Ctrl-C keeps the best so far.",
            "best",
            choices=EFFORTS,
            usual=usual_effort(1),
            numbers=NumberRange(),
            noun="a number of seconds",
        ),
    ] = None
    gap: Annotated[
        float | None,
        Field(
            "Stop searching once the loss is proven to be at most this share above the lowest possible one: 0.05 or "
            "5%. Only where all columns have hierarchies is the proof close enough to end a search early. It takes "
            "time too, so use it with --effort best.",
            "5%",
            numbers=NumberRange(0, 1, below=True, step=0.01),
            noun="a share of the loss",
            percent=True,
        ),
    ] = None
    seed: Annotated[
        int,
        Field(
            "Seed of the search. Equal seeds give equal classes, unless effort is in seconds. The order of the rows is "
            "always secret.",
            "7",
            numbers=NumberRange(0, LARGEST_SEED, whole=True),
            noun="a whole number",
        ),
    ] = 0

    @property
    def is_searched(self) -> bool:
        """Whether a search improves the classes."""
        return CUTS[self.cut].is_searched

    @property
    def by_level(self) -> bool:
        """Whether every column is printed at one level."""
        return CUTS[self.cut].by_level


class Labels(Part, frozen=True):
    """How kech makes and writes labels."""

    grid: Annotated[
        str | float,
        Field(
            "Where intervals may begin and end: round (default; each end hides among k), exact, or a step: 5.",
            "5",
            choices=GRIDS,
            numbers=STEPS,
            resets=("protect",),
            public=True,
        ),
    ] = "round"
    protect: Annotated[
        str | None,
        Field(
            "Protection of labels on a round grid: full (default: kech moves ends and pads labels), ends (it moves "
            "ends only) or none.",
            "ends",
            choices=PROTECTIONS,
            usual=USUAL_PROTECTION,
            public=True,
        ),
    ] = None
    labels: Annotated[
        str,
        Field(
            "How intervals are written: text ([22, 25], default), dash (22-25), or as numbers: columns (age_low, "
            "age_high) or midpoint (age_mid, age_half_width).",
            "columns",
            choices=("text", "dash", "columns", "midpoint"),
        ),
    ] = "text"
    key_file: Annotated[
        Any,
        Field(
            "Key file of a team, instead of your own secret: equal keys give equal labels. `kech ledger --new-key "
            "FILE` makes one.",
            "team.key",
        ),
    ] = None

    def __post_init__(self) -> None:
        set_fields(self, grid=check_grid(self.grid))
        super().__post_init__()
        if self.grid != "round" and self.protect not in (None, "none"):
            raise BadOption("--protect", "it protects labels on a round grid only. Omit it, or say --grid round.")

    def for_axis(self, axis: AxisChoice) -> tuple[str | float, str]:
        """The grid and the protection of one column."""
        grid = self.grid if axis.grid is None else axis.grid
        return grid, (axis.protect or self.protect or USUAL_PROTECTION) if grid == "round" else "none"


class Limits(Part, frozen=True):
    """What kech may use of the machine."""

    memory: Annotated[
        str | None,
        Field(
            "Memory that kech may use, such as 2GB. Larger tables go to encrypted temporary files.",
            "2GB",
            accepts=is_size,
            reason="Write a size such as 512MB or 2GB.",
        ),
    ] = None
    threads: Annotated[
        int | None,
        Field(
            "Number of threads. By default all cores; the engine of a small table has one.",
            "4",
            numbers=NumberRange(1, MOST_THREADS, whole=True),
            noun="a whole number",
        ),
    ] = None
    engine: Annotated[
        str | None,
        Field(
            "Engine that stores the rows: duckdb (files), postgres (tables of a server) or spark (files of any size).",
            "spark",
            offered=ENGINES,
            accepts=lambda value: value in ENGINES,
            reason=f"Choose among {', '.join(ENGINES)}.",
        ),
    ] = None
    master: Annotated[
        str | None,
        Field(
            "Cluster of --engine spark: local[4] or spark://host:7077.",
            "spark://host:7077",
            accepts=is_master,
            reason="Write the address of a cluster: local[4] or spark://host:7077.",
        ),
    ] = None
    max_points: Annotated[
        int | None,
        Field(
            "Largest number of distinct points. With more points kech makes the axes coarser. By default memory "
            "decides.",
            "1000000",
            numbers=NumberRange(1, whole=True),
            noun="a number of points",
        ),
    ] = None


class SeriesPolicy(Part, frozen=True):
    """How a series of releases of a growing table is made: --series FOLDER."""

    key: Annotated[
        tuple[str, ...],
        Field(
            "Columns that identify a row in every version of a series. Without them, kech compares whole rows.",
            "visit_id",
        ),
    ] = ()
    wait: Annotated[
        float | None,
        Field(
            "Largest share of the new rows that may wait for a later version, those with the widest labels first: 0.1 "
            "or 10%. The series remembers it.",
            "10%",
            usual=0.0,
            **SHARE_BELOW_ONE,
        ),
    ] = None
    departures: Annotated[
        str | None,
        Field(
            "What happens to a row that left the table: hold (default: it stays until its whole cohort has left) or "
            "withdraw (its cohort leaves at once). The series remembers it.",
            "withdraw",
            choices=("hold", "withdraw"),
            usual="hold",
        ),
    ] = None
    corrections: Annotated[
        str | None,
        Field(
            "What happens to a row that was corrected: keep (default: it stays as first published) or withdraw (its "
            "cohort leaves). The series remembers it.",
            "withdraw",
            choices=("keep", "withdraw"),
            usual="keep",
        ),
    ] = None
    most_changed: Annotated[
        float | None,
        Field(
            "Largest share of the known rows that may have other cells or another key, or be exchanged for new rows "
            "(default 50%). kech refuses more, since the key is probably wrong. It holds for this version alone.",
            "100%",
            usual=0.5,
            numbers=NumberRange(0, 1, step=0.01),
            noun="a share of the rows",
            percent=True,
        ),
    ] = None
    gather: Annotated[
        int | None,
        Field(
            "New rows of later versions wait until there are this many. Divided together, they get narrower labels. "
            "The series remembers it.",
            "500",
            usual=0,
            numbers=NumberRange(whole=True),
            noun="a number of rows",
        ),
    ] = None

    def __post_init__(self) -> None:
        set_fields(self, key=as_names(self.key, "--key"))
        super().__post_init__()


# -- checks of several parts


def build_part(kind: type[Part], title: str, value: Any) -> Any:
    """The part of a request in `value`, which is the part itself or a dictionary of its fields."""
    if isinstance(value, kind):
        return value
    fields = {field.name: field for field in fields_of(kind)}
    if not isinstance(value, Mapping):
        raise unusable_value(f"[{title}]", f"Write it as a section with the fields {', '.join(fields)}.")
    for name in value:
        check_known(name, fields, f"[{title}] has no such field.")
    return kind(**{name: fields[name].convert(each) for name, each in value.items()})


def check_known(name: str, allowed: Iterable[str], reason: str) -> None:
    """Refuse a name that is not allowed, and suggest a similar one."""
    names = list(allowed)
    if name not in names:
        close = get_close_matches(name, names, n=1)
        raise BadOption(
            name, f"{reason} {f'Did you mean {close[0]!r}?' if close else 'Choose among ' + ', '.join(names) + '.'}"
        )


def set_fields(part: Part, **values: Any) -> None:
    """Overwrite fields of a part while it is created; afterwards it is frozen."""
    for name, value in values.items():
        msgspec.structs.force_setattr(part, name, value)


def as_names(names: Any, option: str) -> tuple[str, ...]:
    """One name or several as a tuple without repeats."""
    listed = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else (names,)
    if not all(isinstance(name, str) for name in listed):
        raise unusable_value(option, "Write a list of names, each a text.")
    return tuple(dict.fromkeys(listed))


def check_grid(grid: Any) -> str | float:
    """A grid, checked: `round`, `exact`, or a step as a number."""
    if isinstance(grid, str) and grid in GRIDS:
        return grid
    try:
        step = float(grid)
    except (TypeError, ValueError):
        step = inf
    if isinstance(grid, str) and grid in OLD_GRIDS:
        now, protect = OLD_GRIDS[grid]
        raise BadOption(
            "--grid",
            f"{grid} is a word of an earlier version. Write --grid {now}{protect and f' --protect {protect}'}.",
        )
    if not STEPS.contains(step):
        raise unusable_value("--grid", f"Write {', '.join(GRIDS)}, or a step{STEPS} (for dates, in days).")
    return int(step) if step == int(step) else step


def check_domain(domain: Any) -> tuple[Any, Any]:
    """The two ends of a domain, checked: numbers, or dates as ISO text."""
    ends = tuple(domain) if isinstance(domain, Iterable) and not isinstance(domain, str | Mapping) else ()
    low: Any
    high: Any
    try:
        low, high = map(check_date if any(isinstance(end, str | date) for end in ends) else check_end, ends)
    except (TypeError, ValueError):
        low = high = None
    if low is None or not low < high:
        raise unusable_value("--domain", "Write two numbers, or two dates such as 2020-01-31, the lower one first.")
    return low, high


def check_end(end: Any) -> float:
    """One end of a domain of numbers."""
    number = float(end)
    if isinstance(end, bool) or not abs(number) <= LARGEST_END:
        raise ValueError
    return int(number) if number.is_integer() and abs(number) < EXACT else number


def check_date(end: Any) -> str:
    """One end of a domain of dates as text: a day, with the time of day if it is not midnight."""
    text = str(end) if isinstance(end, date) else end
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?", text):
        raise ValueError
    return datetime.fromisoformat(text).isoformat(sep=" ").removesuffix(" 00:00:00")


DEFAULT_AXIS = AxisChoice()  # of a column for which the user chose nothing
