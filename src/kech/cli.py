"""The command line: a command parses, makes one library call, shows."""

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import cyclopts
import msgspec
from cyclopts import App, Parameter

import kech
from kech import screen
from kech.demo import generate_town, nine_rows, write_csv
from kech.errors import BadOption, KechError, UsageError
from kech.files import clear_refusals
from kech.plan import AxisSection, Plan, plan_from

app = App(name="kech", help=kech.__doc__, version=kech.__version__, result_action="return_value")

MOST_KS = 10_000


def whole(_: Any, tokens: Sequence[cyclopts.Token]) -> int:
    """A whole number; a fraction is refused, not cut off."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError("write a whole number.") from None


Whole = Annotated[int, Parameter(converter=whole)]

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
    """Edges of intervals: auto (round, each hiding k rows), exact (as in the data), or a step such as 5."""
    null_values: Names = field(default_factory=list)
    """Texts that mean a missing value, besides the empty cell: --null-values NA ?"""
    delimiter: str | None = None
    """Field separator of a CSV file; found by itself otherwise."""
    encoding: str | None = None
    """Encoding of a CSV file: utf-8 (default), utf-16 or latin-1."""
    memory: str | None = None
    """Memory the engine may use, such as 2GB; larger tables go to encrypted files."""
    threads: Annotated[int | None, Parameter(converter=whole)] = None
    """Threads of the engine and the kernels; all cores otherwise."""
    plan: Path | None = None
    """A plan (kech.toml); options on the command line come before it."""
    json: Flag = False
    """Print one JSON object."""

    def settle(self) -> Plan:
        """The plan, overruled by what was typed."""
        plan = kech.read_plan(self.plan) if self.plan else Plan()
        for role in ("sensitive", "identifiers", "keep"):
            setattr(plan.roles, role, split(getattr(self, role)) or getattr(plan.roles, role))
        plan.roles.quasi_identifiers = split(self.qi) or plan.roles.quasi_identifiers
        plan.table.delimiter = self.delimiter or plan.table.delimiter
        plan.table.encoding = self.encoding or plan.table.encoding
        plan.table.null_values = split(self.null_values) or plan.table.null_values
        plan.hierarchies = str(self.hierarchies) if self.hierarchies else plan.hierarchies
        plan.release.grid = self.grid or plan.release.grid
        plan.axes |= dict(axis_section(text, plan) for text in self.axis)
        return plan

    def open(self, path: Path, plan: Plan) -> kech.Table:
        """The table, read as planned."""
        screen.doing("reading the table")
        typed = {"delimiter": self.delimiter, "encoding": self.encoding}
        known = {name: value for name, value in typed.items() if value is not None}
        return plan.read_table(path, memory=self.memory, threads=self.threads, **known)


TableFile = Annotated[Path, Parameter(help="CSV, Parquet, Arrow or Excel file.")]


@app.command
def inspect(table: TableFile, /, *, intake: Intake | None = None, k: Whole = 5) -> None:
    """Show columns, guessed roles with reasons, distinctness, and k as it is.

    With --plan FILE a plan is written for review instead of read.

    Example: kech inspect people.csv --plan kech.toml

    Parameters
    ----------
    k: int
        The k written into the plan.
    """
    asked = intake or Intake()
    target, asked.plan = asked.plan, None
    plan = asked.settle()
    with asked.open(table, plan) as opened:
        found = kech.inspect_table(opened)
    if target is not None:
        plain = [column.column for column in found.columns if column.role == "plain"]
        note = f"Not published unless you add them to keep: {', '.join(map(repr, plain))}" if plain else ""
        plan_from(found, k, plan).write(target, note)
    screen.show(found.to_json() | {"plan": target and str(target)}, asked.json, screen.inspection)


@app.command
def spectrum(
    table: TableFile,
    /,
    *,
    intake: Intake | None = None,
    k: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    cut: Names = [],  # noqa: B006
    reading: str | None = None,
) -> None:
    """Show for every k what a release would cost: classes, loss, eps.

    Example: kech spectrum people.csv --qi age zip sex --k 2,5,10

    Parameters
    ----------
    k: list[str]
        Which k; 2 to 100 otherwise. Ranges are welcome: --k 2-20,50.
    cut: list[str]
        Styles of release to compare: local, regime.
    reading: str
        Reading of the regime cut: strict (default) or homological.
    """
    asked = intake or Intake()
    plan = asked.settle()
    ks = parse_ks(k) if k else None
    goals, cuts = plan.release, split(cut) or [plan.release.cut]
    goals.reading = check_reading(reading, cuts) or goals.reading
    with asked.open(table, plan) as opened:
        found = kech.compute_spectrum(opened, k=ks, cut=cuts, grid=goals.grid, reading=goals.reading)
    screen.show(found.to_json(), asked.json, screen.spectrum)


@app.command
def barcode(
    table: TableFile,
    /,
    *,
    intake: Intake | None = None,
    metric: str = "box",
    max_dimension: Annotated[int | None, Parameter(converter=whole)] = None,
    k: Annotated[list[str], Parameter(consume_multiple=True, negative="")] = ["2"],  # noqa: B006
    reading: str | None = None,
    radii: Annotated[list[str], Parameter(consume_multiple=True, negative="")] = [],  # noqa: B006
    zero_length: Flag = False,
    plot: Path | None = None,
) -> None:
    """Show which rows are together while eps grows, and where the table is k-anonymous. PRIVATE: not for publication.

    Example: kech barcode people.csv --qi age zip --metric ball --plot barcode.svg

    Parameters
    ----------
    metric: str
        box (any columns; Cech = Rips) or ball (Euclidean; numbers and dates).
    max_dimension: int
        Holes up to this dimension: 1 otherwise, where the extra `topology` is installed; 0 for components alone,
        which is fast for millions of rows.
    k: list[str]
        Show regimes for this k and larger ones; several k are drawn side by side: --k 2,3,4.
    reading: str
        Show this reading only: homological, strict or partition; the plot shades homological otherwise.
    radii: list[str]
        Look at these radii only, as Algorithm 1 of the paper does: --radii 0.05,0.10,0.15.
    zero_length: bool
        Show bars of zero length too: twin rows, and holes that are filled the moment they open.
    plot: Path
        Draw the barcode: .svg, .png or .html.
    """
    asked = intake or Intake()
    plan, ks = asked.settle(), parse_ks(k)
    dimension = int(has_topology()) if max_dimension is None else max_dimension
    with asked.open(table, plan) as opened:
        found = kech.compute_barcode(
            opened,
            metric=metric,
            max_dimension=dimension,
            grid=asked.grid or "exact",
            zero_length=zero_length,
        )
    shown = found.to_json(min(ks), parse_radii(radii), [reading] if reading else None)
    if plot is not None:
        found.plot(plot, k=ks, reading=reading or "homological")
    screen.show(shown | {"plot": plot and str(plot)}, asked.json, screen.barcode)


@app.command
def release(
    table: TableFile,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    intake: Intake | None = None,
    k: Annotated[int | None, Parameter(converter=whole)] = None,
    cut: str | None = None,
    reading: str | None = None,
    eps: float | None = None,
) -> None:
    """Write a k-anonymous table and its certificate.

    Example: kech release people.csv -o safe.csv --qi age zip sex --sensitive diagnosis --k 5

    Parameters
    ----------
    output: Path
        The file to write: .csv or .parquet; its certificate is written beside it.
    k: int
        Every row hides among at least k.
    cut: str
        Style of release: local (lowest loss) or regime (one eps, classes are connected components).
    reading: str
        Reading of the regime cut: strict (default) or homological.
    eps: float
        Radius of the regime cut, in place of k.
    """
    asked = intake or Intake()
    plan = asked.settle()
    goals = plan.release
    goals.cut = cut or goals.cut
    goals.reading = check_reading(reading, [goals.cut]) or goals.reading
    if k is not None or eps is not None:
        goals.k, goals.eps = k, eps
    with asked.open(table, plan) as opened:
        made = kech.make_release(opened, **msgspec.structs.asdict(goals))
        certificate = made.write(output)
        found = {"file": str(output), "certificate": f"{output}.certificate.json", **certificate["claims"]}
        found |= {"measured": certificate["measured"], "dropped": list(opened.dropped)}
        found["unhidden_edges"] = [axis["column"] for axis in made.axes if axis.get("grid", "auto") != "auto"]
    screen.show(found, asked.json, screen.released)


@app.command
def verify(
    table: Annotated[Path, Parameter(help="A released file.")],
    /,
    *,
    certificate: Path | None = None,
    qi: Annotated[Names, Parameter(name=["--qi", "--quasi-identifiers"])] = [],  # noqa: B006
    sensitive: Names = [],  # noqa: B006
    k: Annotated[int | None, Parameter(converter=whole)] = None,
    plan: Path | None = None,
    json: Flag = False,
) -> None:
    """Check a released file against its certificate, or against a k of your own.

    Example: kech verify safe.csv
    Example: kech verify any.csv --qi age zip --k 5

    Parameters
    ----------
    certificate: Path
        The certificate, if it is not beside the file.
    qi: list[str]
        Check these columns instead of a certificate.
    sensitive: list[str]
        Also state l and t of these columns.
    k: int
        The k to check.
    plan: Path
        Take columns and k from a plan.
    json: bool
        Print one JSON object.
    """
    given = kech.read_plan(plan) if plan else Plan()
    columns, goal = split(qi) or given.roles.quasi_identifiers, k or given.release.k
    if columns and goal is None:
        raise BadOption("--k", "say which k to check: --k 5.")
    if certificate is not None and columns:
        raise BadOption("--certificate", "check a certificate, or the columns and k you name, not both.")
    if sensitive and not columns:
        raise BadOption("--sensitive", "a certificate names its sensitive columns itself; use it with --qi and --k.")
    if k is not None and not columns:
        raise BadOption("--qi", "name the columns to check, or leave --k away to check the certificate.")
    screen.doing("checking the file")
    if columns and goal is not None:
        figures = kech.check_table(table, columns, goal, split(sensitive) or given.roles.sensitive)
    else:
        figures = kech.check_certificate(table, certificate)
    screen.show({"file": str(table), "holds": True, **figures}, json, screen.verified)


@app.command
def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("kech-demo"),
    plan: Path | None = None,
    json: Flag = False,
) -> None:
    """Do the whole job on the paper's nine rows and on a made-up town of 20,000 people.

    Example: kech demo

    Parameters
    ----------
    output: Path
        Folder for the tables, releases and certificates.
    plan: Path
        A plan for the town; without it a plan is written there.
    json: bool
        Print one JSON object.
    """
    with clear_refusals(output):
        output.mkdir(parents=True, exist_ok=True)
    nine = Plan()
    nine.roles.quasi_identifiers, nine.roles.sensitive = ["age", "zip"], ["salary"]
    nine.release.k, nine.release.grid = 3, "exact"
    town = kech.read_plan(plan) if plan else town_plan(output / "town.toml")
    found = [
        run_demo("the paper's nine rows", write_csv(nine_rows(), output / "nine.csv"), nine, as_json=json),
        run_demo("a town of 20,000 people", write_csv(generate_town(), output / "town.csv"), town, as_json=json),
    ]
    if json:
        screen.show({"demo": found}, True, screen.nothing)


def town_plan(path: Path) -> Plan:
    """The plan of the made-up town, written for the user to read."""
    plan = Plan()
    plan.roles.identifiers, plan.roles.sensitive = ["person"], ["diagnosis"]
    plan.roles.quasi_identifiers = ["age", "sex", "zip", "moved_in", "schooling", "job"]
    plan.axes["schooling"] = AxisSection("ordinal", ["primary", "secondary", "bachelor", "master", "doctorate"])
    plan.release.k = 5
    plan.write(path)
    return plan


def run_demo(title: str, path: Path, plan: Plan, *, as_json: bool) -> dict[str, Any]:
    """Spectrum, release, certificate and verification of one table."""
    target = path.with_name(f"{path.stem}-released.csv")
    goals = plan.release
    with plan.read_table(path) as table:
        found = kech.compute_spectrum(table, cut=goals.cut, grid=goals.grid, reading=goals.reading)
        certificate = kech.make_release(table, **msgspec.structs.asdict(goals)).write(target)
    figures = kech.check_certificate(target)
    if not as_json:
        screen.demo(title, path, target, found.to_json(), certificate, figures)
    return {"table": str(path), "release": str(target), "spectrum": found.rows(), "verified": figures}


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
        ends = [part.split("-") for part in split(texts)]
        spans = [range(int(span[0]), int(span[-1]) + 1) for span in ends]
        count = sum(map(len, spans))
    except (ValueError, OverflowError):
        count = 0
    if not 0 < count <= MOST_KS:
        raise BadOption("--k", f"write numbers or ranges: --k 2-20,50,100; at most {MOST_KS:,} of them.")
    return [k for span in spans for k in span]


def check_reading(reading: str | None, cuts: Sequence[str]) -> str | None:
    """Only the regime cut has readings."""
    if reading is not None and "regime" not in cuts:
        raise BadOption("--reading", "only --cut regime takes it.")
    return reading


def has_topology() -> bool:
    """Whether the extra that looks for holes is installed."""
    return all(find_spec(name) for name in ("ripser", "scipy"))


def parse_radii(texts: Sequence[str]) -> list[float]:
    """Numbers with commas between."""
    try:
        return [float(part) for part in split(texts)]
    except ValueError:
        raise BadOption("--radii", "write numbers: --radii 0.05,0.10,0.15.") from None


def axis_section(text: str, plan: Plan) -> tuple[str, AxisSection]:
    """`column=kind`, or `column=low<middle<high`."""
    column, equals, wish = text.rpartition("=")
    if not equals or not column:
        raise BadOption("--axis", "write COLUMN=KIND, for example zip=categorical.")
    held = plan.axes.get(column, AxisSection())
    order = wish.split("<") if "<" in wish else []
    return column, AxisSection("ordinal" if order else wish, order, held.grid, held.hierarchy)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a refusal becomes a message and an exit code, here and nowhere else."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words
    with screen.watching():
        try:
            app(words, exit_on_error=False, print_error=False)
        except cyclopts.CycloptsError as misuse:
            sys.exit(screen.refuse(UsageError(f"{misuse} See kech --help."), as_json))
        except KechError as refusal:
            sys.exit(screen.refuse(refusal, as_json))
        except MemoryError:
            sys.exit(screen.refuse(kech.errors.OutOfMemory("working", "of this machine"), as_json))
        except KeyboardInterrupt:
            sys.exit(130)
        except Exception as fault:  # a traceback would show cells
            sys.exit(screen.refuse(screen.internal(fault), as_json))
