"""Intake: the common options of all commands, generated from the fields of a request, and the parsers of values."""

import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter as Argument
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import cyclopts
from cyclopts import App, Group, Parameter
from msgspec.structs import replace as replace_part

import kech
from kech.errors import BadOption, KechError, NoQuasiIdentifier, unusable_value
from kech.request import FIELDS, AxisChoice, Columns, Field, Goal
from kech.request.parts import CUTS, DEFAULT_AXIS, KIND_WITHOUT_L, check_domain, fields_of
from kech.request.reference import HEADINGS, heading_of
from kech.request.request import LARGEST_K, parse_axis_choice
from kech.tables.source import DIALECT, find_address
from kech.views import screen

app = App(
    name="kech",
    help="Make tables of people k-anonymous, and certify the result. Begin with: kech inspect TABLE",
    version=lambda: kech.__version__,
    version_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # main says what Ctrl-C leaves
)

MOST_KS = 10_000
GROUPS = {heading: Group(heading, sort_key=index) for index, heading in enumerate(HEADINGS.values(), 1)}
OUTPUT = Group("Output", sort_key=len(GROUPS) + 1)


Names = Annotated[list[str], Parameter(consume_multiple=True, negative="", show_default=False)]
Numbers = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Ks = Annotated[
    list[str] | None,
    Parameter(
        consume_multiple=True,
        negative="",
        help=f"Values of k, with ranges: --k 2-20,50. By default 2 to {LARGEST_K}.",
    ),
]
Files = Annotated[list[str | Path], Parameter(consume_multiple=True, negative="", show_default=False)]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Json = Annotated[bool, Parameter(negative="", show_default=False, group=OUTPUT, help="Print one JSON object.")]
Certificate = Annotated[Path | None, Parameter(help="The certificate, if it is not beside the file.")]
Probabilities = Annotated[
    list[str],
    Parameter(
        consume_multiple=True,
        negative="",
        show_default=False,
        help="Probabilities above which a record counts as at risk. By default --threshold 0.09 0.2.",
    ),
]

TABLE = ("[columns]", "axes", "[input]", "grid", "memory", "threads", "engine", "master")
SEARCH = ("suppress", "effort", "gap", "seed", "key_file", "max_points", "protect")
RELEASE = (*TABLE, "[goal]", "[cut]", *SEARCH)


@dataclass(frozen=True)
class TypedOptions:
    """The typed options of a command: fields of a request, plan, and the format of the output."""

    typed: dict[str, Any]
    plan: Path | None = None
    json: bool = False
    json_lines: bool = False
    domains: Mapping[str, Any] | None = None  # of columns, as typed by --domain

    def show(self, result: dict[str, Any], draw: Callable[[dict[str, Any]], None]) -> None:
        """Print the result as JSON where that was typed, otherwise with `draw`."""
        screen.show(result, self.json, draw, last=self.json_lines)

    def request(
        self, cuts: Sequence[str] = (), *, shows_t: bool = False, default: "kech.Request | None" = None
    ) -> "kech.Request":
        """The request of the plan, or `default`, with the typed fields and these cuts.

        `shows_t` is true for a command that shows t without a goal for it.
        """
        before = default if default and not self.plan else read_plan_or_default(self.plan)
        typed = self.typed | ({"cut": before.pick_cut(cuts, self.typed.get("objective"))} if cuts else {})
        if default and not before.series.key:
            before = before.override(key=default.series.key)
        if self.domains:
            typed["axes"] = self.merge_domains(before, self.domains)
        request = before.override(**typed)
        check_typed_options(self.typed, cuts or [request.cut.cut], request.goal, shows_t=shows_t)
        return request

    def merge_domains(self, before: "kech.Request", domains: Mapping[str, Any]) -> dict[str, Any]:
        """The typed axes, each with its typed domain; a column without a typed kind is as it was before."""
        axes = dict(self.typed.get("axes") or {})
        for column, domain in domains.items():
            choice = before.axes.get(column, DEFAULT_AXIS)
            choice = parse_axis_choice(column, axes[column], choice) if column in axes else choice
            axes[column] = replace_part(choice, domain=domain)
        return axes

    def open(self, path: str | Path, request: "kech.Request") -> "kech.Table":
        """The table, read with the request; refused without a quasi-identifier."""
        table = self.read(path, request)
        if not table.quasi_identifiers:
            with table:
                raise NoQuasiIdentifier(kech.inspect_table(table, costs=False).quasi_identifiers)
        self.refuse_unused_axes((*table.quasi_identifiers, *table.sensitive), "no quasi-identifier. Add it to --qi")
        return table

    def refuse_unused_axes(self, generalized: Sequence[str], reason: str) -> None:
        """Refuse `--axis COLUMN=KIND` for a column that is not among those the command generalizes."""
        for column in self.typed.get("axes") or ():
            if column not in generalized:
                raise BadOption("--axis", f"column {column!r} is {reason}, or omit its axis.")
        for column in self.domains or ():
            if column not in generalized:
                raise BadOption("--domain", f"column {column!r} is {reason}, or omit its domain.")

    def read(self, path: str | Path, request: "kech.Request") -> "kech.Table":
        """The table, read with the request; a typed dialect is used or refused, that of a plan is for text only."""
        screen.doing("reading the table")
        hide_pandas()
        return kech.read_table(path, request, **{name: self.typed.get(name) for name in DIALECT})


class PandasHider:
    """A finder for which pandas is not installed."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        """Nothing is found here; pandas nowhere else."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def hide_pandas() -> None:
    """Let pyarrow look for pandas in vain, once: it would import it, in 0.3 s, to recognise what no command has.

    Whoever needs pandas later finds it.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    hider = PandasHider()
    sys.meta_path.insert(0, hider)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(hider)


def check_typed_options(typed: Mapping[str, Any], cuts: Sequence[str], goal: Goal, *, shows_t: bool) -> None:
    """Refuse typed options without effect: --effort without a search, --l-kind without --l, and so on."""
    for name in ("effort", "seed"):
        if typed.get(name) is not None and not any(CUTS[cut].is_searched for cut in cuts):
            searched = " and ".join(f"--cut {cut}" for cut, rules in CUTS.items() if rules.is_searched)
            raise BadOption(f"--{name}", f"only {searched} search. Omit --{name}.")
    if typed.get("reading") is not None and not any(CUTS[cut].by_components for cut in cuts):
        raise BadOption("--reading", "only --cut regime uses it. Add --cut regime, or omit --reading.")
    if typed.get("l_kind") is not None and goal.l is None:
        raise BadOption("--l-kind", KIND_WITHOUT_L)
    if typed.get("t_kind") is not None and goal.t is None and not shows_t:
        raise BadOption("--t-kind", "it says which distance t measures. Add --t 0.2, or omit --t-kind.")


def with_options(*names: str, but: Sequence[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: add the options of these [parts] and fields of a request to a command, as its argument `options`."""
    selected = [field for field in FIELDS.values() if {field.name, f"[{field.part}]"} & {*names}]
    fields = [field for field in selected if field.name not in but]
    return lambda command: add_options(command, fields)


def add_options(command: Callable[..., None], fields: Sequence[Field]) -> Callable[..., None]:
    """The command for Cyclopts: its own arguments, then a keyword for each field and for --plan and --json.

    The typed values are passed to the command as one argument, `options`.  Cyclopts reads signature and annotations.
    """
    own = dict(signature(command).parameters)
    del own["options"]
    if clash := own.keys() & {field.name for field in fields}:
        raise TypeError(f"{command.__name__} has its own {', '.join(clash)}")
    hints = get_type_hints(command, include_extras=True)
    kinds: dict[str, Any] = {"domain": DOMAIN} if "axes" in {field.name for field in fields} else {}
    kinds |= DISPLAY | {name: hints[name] for name in own} | {field.name: build_option(field) for field in fields}

    @wraps(command)
    def run(*positional: Any, **keywords: Any) -> None:
        typed = {field.name: parse_field(field, keywords.pop(field.name, None)) for field in fields}
        display: dict[str, Any] = {"domains": dict(read_domain(text) for text in keywords.pop("domain", None) or ())}
        display |= {name: keywords.pop(name) for name in DISPLAY if name in keywords and name not in own}
        command(*positional, **keywords, options=TypedOptions(typed, **display))

    added = {name: Argument(name, Argument.KEYWORD_ONLY, default=None) for name in kinds if name not in own}
    run.__signature__ = Signature([*own.values(), *added.values()])  # type: ignore[attr-defined]
    run.__annotations__ = kinds
    return run


DISPLAY: dict[str, Any] = {
    "plan": Annotated[Path | None, Parameter(help="Plan file (kech.toml). Options that you type override it.")],
    "json": Json,
    "json_lines": Annotated[
        bool,
        Parameter(
            negative="",
            group=OUTPUT,
            help="Print JSON objects, one on each line: first progress, then the result.",
        ),
    ],
}


DOMAIN = Annotated[
    list[str] | None,
    Parameter(
        consume_multiple=True,
        negative="",
        group=GROUPS[HEADINGS["columns"]],
        help=next(field.help for field in fields_of(AxisChoice) if field.name == "domain"),
    ),
]


def build_option(field: Field) -> Any:
    """The annotated type of the option for a field, in the group of its part."""
    names = [field.option] + (["--quasi-identifiers"] if field.name == "quasi_identifiers" else [])
    about: dict[str, Any] = {"name": names, "help": field.help}
    about |= {} if field.first else {"group": GROUPS[heading_of(field)]}
    if field.type is Any:
        return Annotated[Path | None, Parameter(**about)]
    if field.is_switch:
        return Annotated[bool | None, Parameter(negative="", **about)]
    if field.name in ("axes", "weights", "levels") or field.is_list:
        return Annotated[list[str] | None, Parameter(consume_multiple=True, negative="", **about)]
    if field.choices and not field.numbers:
        return Annotated[Literal[field.choices] | str | None, Parameter(show_choices=False, metavar="WORD", **about)]
    kind = str if field.type in (str | None, *MIXED) else int if is_int(field) else float
    return Annotated[kind | None, Parameter(converter=find_parser(field), **about)]


def find_parser(field: Field) -> Callable[..., Any] | None:
    """The function that parses the value of a field; None where Cyclopts parses it by its type."""
    if field.percent:
        return parse_share
    if field.type in MIXED:
        return parse_number
    return parse_whole if is_int(field) else None


MIXED = (str | float, str | float | None)  # words, or numbers


def is_int(field: Field) -> bool:
    """Whether the type of a field is a whole number."""
    return field.type in (int, int | None)


def parse_field(field: Field, typed: Any) -> Any:
    """The typed value of a field, converted for the request: names are split, axes, weights and levels parsed."""
    if typed is None:
        return None
    if field.name == "axes":
        return dict(read_axis(text) for text in typed)
    if field.name in ("weights", "levels"):
        return dict(read_column_number(field, text) for text in split_names(typed))
    return split_names(typed) if field.is_list else typed


def read_plan_or_default(plan: Path | None) -> "kech.Request":
    """The request in a plan file; an empty request without one."""
    return kech.read_request(plan) if plan else kech.Request()


@contextmanager
def open_population(population: str | Path | None, plan: Path | None) -> "Iterator[kech.Table | int | None]":
    """The table of a population, read with a plan; its size where a number was typed; or None."""
    if population is None or str(population).isdecimal():
        yield None if population is None else int(str(population))
        return
    planned = read_plan_or_default(plan)
    names = planned.columns.quasi_identifiers
    axes = {name: choice for name, choice in planned.axes.items() if name in names}
    request = kech.Request(axes=axes, input=planned.input, columns=only_quasi_identifiers(planned.columns))
    with kech.read_table(population, request) as opened:
        yield opened


def only_quasi_identifiers(columns: Columns) -> Columns:
    """The quasi-identifiers and hierarchies of these columns, without other roles."""
    return Columns(quasi_identifiers=columns.quasi_identifiers, hierarchies=columns.hierarchies)


def hide_password(word: str | Path) -> str:
    """A word of the command line without a password; of an unknown kind of address only the scheme."""
    option, text = re.fullmatch(r"(-[\w-]*=)?(.*)", str(word), re.DOTALL).groups("")  # type: ignore[union-attr]
    try:
        return f"{option}{find_address(text) or text}"
    except BadOption:
        return f"{option}{text.partition('://')[0]}://..." if "://" in text else str(word)


def point_to_plan(refusal: KechError, words: Sequence[str]) -> KechError:
    """The refusal; where it advises an option that this command reads from a plan only, with the field of the plan.

    Columns and goals are not mentioned: a plan does not replace those of a certificate.
    """
    if not words or words[0] not in app:
        return refusal
    own = {name for argument in app[words[0]].assemble_argument_collection() for name in argument.names}
    advised = {*re.findall(r"--[a-z]+(?:-[a-z]+)*", refusal.typed)} - own
    for field in FIELDS.values():
        if field.option in advised and "--plan" in own and field.part not in ("columns", "goal"):
            advice = f"`kech {words[0]}` reads {field.option} from a plan: {field.name} in [{field.part}], --plan FILE."
            refusal.args = (f"{refusal.typed} {advice}",)
    return refusal


def check_picture(path: Path | None) -> None:
    """Refuse the file of a picture that cannot be drawn, before any work."""
    if path is not None:
        from kech.views.pictures import check_plot

        check_plot(path)


TableName = Annotated[
    str | Path,  # a shell completes names of files
    Parameter(
        help="CSV, Parquet, Arrow or Excel file; folder of Parquet files; duckdb:FILE#TABLE; "
        "postgresql://USER@HOST/BASE?table=SCHEMA.NAME; spark://HOST:7077/PATH; s3a://BUCKET/PATH"
    ),
]


# -- parsers -----------------------------------------------------------------------------------------------


def split_names(names: Sequence[str]) -> list[str]:
    """Names from words that may contain several, separated by commas; a name with a comma is in double quotes."""
    try:
        return [name for text in names for name in next(csv.reader([text], skipinitialspace=True), []) if name]
    except csv.Error:
        reason = "write a name with a line end or a quote in double quotes, and each quote in it twice."
        raise BadOption("--qi and other lists", reason) from None


def parse_ks(texts: Sequence[str]) -> list[int]:
    """The values of k in numbers and ranges such as 2-20."""
    try:
        ends = [part.split("-", 1) for part in split_names(texts)]
        spans = [range(int(span[0]), int(span[-1]) + 1) for span in ends]
        count = sum(map(len, spans)) if all(spans) else 0
    except (ValueError, OverflowError):
        count = 0
    if not 0 < count <= MOST_KS:
        raise unusable_value("--k", f"Write numbers or ranges: --k 2-20,50,100; at most {MOST_KS:,} of them.")
    return [k for span in spans for k in span]


def read_axis(text: str) -> tuple[str, str | list[str]]:
    """Column and kind of `column=kind`, or column and order of `column=low<middle<high`."""
    column, equals, kind = text.rpartition("=")
    if not equals or not column:
        raise unusable_value("--axis", "Write COLUMN=KIND, for example zip=hierarchy.")
    return column, kind.split("<") if "<" in kind else kind


def read_domain(text: str) -> tuple[str, tuple[Any, Any]]:
    """Column and ends of `column=low:high`; dates may have a time of day, with colons of its own."""
    column, _, ends = text.rpartition("=")
    if not column:
        raise unusable_value("--domain", "Write COLUMN=LOW:HIGH, for example income=0:500000.")
    parts = ends.split(":")
    both = [":".join(half) for half in (parts[: len(parts) // 2], parts[len(parts) // 2 :])]
    try:
        return column, check_domain([float(end) for end in both])
    except ValueError:
        return column, check_domain(both)


def read_column_number(field: Field, text: str) -> tuple[str, float]:
    """Column and number of `column=number`: a weight, or a level, which is a whole number."""
    column, _, number = text.rpartition("=")
    try:
        return column, (int if field.name == "levels" else float)(number)
    except ValueError:
        return field.refuse()


def parse_whole(_: Any, tokens: Sequence[cyclopts.Token]) -> int:
    """A whole number; a fraction is refused."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError("write a whole number.") from None


def read_seed(converter: Any, tokens: Sequence[cyclopts.Token]) -> int:
    """A seed: a whole number, 0 or more."""
    if (seed := parse_whole(converter, tokens)) < 0:
        raise ValueError("write a whole number, 0 or more.")
    return seed


def parse_share(_: Any, tokens: Sequence[cyclopts.Token]) -> float:
    """A share of the rows: 0.01, or 1%."""
    text = tokens[0].value.strip()
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError("write a share of the rows: 0.01 or 1%.") from None


def parse_number(_: Any, tokens: Sequence[cyclopts.Token]) -> str | float:
    """A number; any other text unchanged."""
    try:
        return float(tokens[0].value)
    except ValueError:
        return tokens[0].value


Whole = Annotated[int, Parameter(converter=parse_whole)]
WholeOrNone = Annotated[int | None, Parameter(converter=parse_whole)]
Seed = Annotated[int, Parameter(converter=read_seed)]
