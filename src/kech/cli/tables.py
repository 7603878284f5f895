"""Commands that make and check tables: inspect, spectrum, release, verify, demo."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import kech
from kech.cli.intake import (
    CutOptions,
    Flag,
    GoalOptions,
    Intake,
    Names,
    SearchOptions,
    TableName,
    Whole,
    app,
    check_picture,
    check_reading,
    opened_population,
    overrule,
    parse_ks,
    read_given,
    split,
    whole,
    without_password,
)
from kech.errors import BadOption, BadTarget
from kech.system.files import clear_refusals
from kech.tables.source import check_free, find_address
from kech.views import screen
from kech.views.screen import releases
from kech.views.screen import tables as drawings
from kech.views.screen.progress import hide

if TYPE_CHECKING:
    from kech.release.plan import Plan


@app.command
def inspect(table: TableName, /, *, intake: Intake | None = None, k: Whole = 5, rows: Whole = 0) -> None:
    """Show columns, guessed roles with reasons, distinctness, and k as it is.

    With --plan FILE a plan is written for review instead of read.

    Example: kech inspect people.csv --plan kech.toml

    Parameters
    ----------
    k: int
        The k written into the plan.
    rows: int
        Show so many of the first rows too, as they are read. PRIVATE.
    """
    asked = intake or Intake()
    target, asked.plan = asked.plan, None
    if target is not None and target.exists():
        raise BadTarget(target, "it exists, and inspect would write a new plan over it. Name another file.")
    plan = asked.settle()
    with asked.look(table, plan) as opened:
        found = kech.inspect_table(opened, rows=rows)
    if target is not None:
        from kech.audit.inspection import suggest_plan

        plain = [column.column for column in found.columns if column.role == "plain"]
        note = f"Not published unless you add them to keep: {', '.join(map(repr, plain))}" if plain else ""
        suggest_plan(found, k, plan).write(target, note)
    asked.show(
        found.to_json() | {"plan": target and str(target)},
        partial(drawings.print_inspection, source=without_password(table)),
    )


@app.command
def spectrum(
    table: TableName,
    /,
    *,
    intake: Intake | None = None,
    k: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    cut: Names = [],  # noqa: B006
    reading: str | None = None,
    field: Annotated[int | None, Parameter(converter=whole)] = None,
    search: SearchOptions | None = None,
    plot: Path | None = None,
    bound: Flag = False,
    wanted: GoalOptions | None = None,
) -> None:
    """Show for every k what a release would cost: classes, loss, eps, and l and t of the sensitive columns.

    Example: kech spectrum people.csv --qi age zip sex --k 2,5,10

    Parameters
    ----------
    k: list[str]
        Which k; 2 to 100 otherwise. Ranges are welcome: --k 2-20,50.
    cut: list[str]
        Styles of release to compare: local, minimal, domain, regime.
    reading: str
        Reading of the regime cut: strict (default) or homological.
    field: int
        Coefficients of the homological reading: numbers modulo this prime, 2 otherwise.
    plot: Path
        Draw loss, classes and eps against k: .svg, .png or .html.
    bound: bool
        Prove how far each loss is above what any release could reach. It takes longer: name a few k.
    """
    asked = intake or Intake()
    plan = asked.settle()
    ks = parse_ks(k) if k else None
    goals, cuts = plan.release, split(cut) if cut else [plan.release.cut]
    overrule(goals, goals.reading_of(cuts) if cut else {})
    overrule(goals, {"reading": check_reading(reading, cuts), "field": field})
    check_picture(plot)
    (search or SearchOptions()).settle(goals, cuts)
    (wanted or GoalOptions()).settle(goals)
    with asked.open(table, plan, search) as opened:
        found = kech.compute_spectrum(opened, **goals.spectrum_wishes() | {"k": ks, "cut": cuts, "bound": bound})
    if plot is not None:
        found.plot(plot)
    asked.show(found.to_json() | {"plot": plot and str(plot), "effort": goals.effort}, drawings.print_spectrum)


@app.command
def release(
    table: TableName,
    /,
    *,
    output: Annotated[str, Parameter(name=["--output", "-o"])],
    certificate: Path | None = None,
    folder: Path | None = None,
    intake: Intake | None = None,
    cutting: CutOptions | None = None,
    search: SearchOptions | None = None,
    wanted: GoalOptions | None = None,
    labels: Annotated[Literal["brackets", "dash", "columns"] | str | None, Parameter(show_choices=False)] = None,
    mapping: Path | None = None,
    earlier: Annotated[list[str | Path], Parameter(consume_multiple=True, negative="")] = [],  # noqa: B006
    allow_composition: Flag = False,
    no_ledger: Flag = False,
    bound: Flag = False,
) -> None:
    """Write a k-anonymous table and its certificate; with --folder also its report and its plan.

    Example: kech release people.csv -o safe.csv --qi age zip sex --sensitive diagnosis --k 5
    Example: kech release people.csv -o safe.csv --folder safe-k5 --plan kech.toml

    Parameters
    ----------
    output: str
        What to write: a .csv or .parquet file; a table: duckdb:FILE#TABLE or postgresql://...?table=SCHEMA.NAME; or a
        folder of Parquet files on Spark: spark://HOST:7077/PATH or hdfs://...
    certificate: Path
        The file of the certificate; beside the file otherwise, so a table in a database needs it.
    folder: Path
        Write into this new folder, where the output is the name of the file: the table and its certificate, a report
        and the plan, all or nothing, and verified.
    labels: str
        How intervals are written: brackets ([22, 25], default), dash (22-25) or columns (age_low and age_high).
    mapping: Path
        Also write which values stand behind the labels of each class: a .json file. PRIVATE: it undoes the release.
    earlier: list[str]
        Files or tables released before from the same table: a coarser one is welcome, any other is refused.
    allow_composition: bool
        Release all the same, and show what the releases leave together.
    no_ledger: bool
        Neither look for earlier releases of this table nor remember this one; the certificate says so.
    bound: bool
        Say how far the loss is above what any release could reach. PRIVATE, so the certificate does not say it.
    """
    asked = intake or Intake()
    plan = asked.settle()
    (cutting or CutOptions()).settle(plan.release, search, wanted)
    overrule(plan.release, {"labels": labels})
    if folder is not None and (certificate is not None or mapping is not None):
        raise BadOption(
            "--folder", "it holds what goes out, certificate included: leave --certificate and --mapping away."
        )
    past: dict[str, Any] = {"ledger": not no_ledger, "earlier": earlier, "allow_composition": allow_composition}
    with ExitStack() as held:
        with screen.note_interrupt("nothing was released"):
            target = find_address(output) if folder is None else None
            if target and plan.roles.quasi_identifiers:  # who names none is told that first
                check_free(target, find_address(table))
            opened = held.enter_context(asked.open(table, plan, search))
            made = kech.make_release(opened, **plan.release.wishes())
        with screen.note_interrupt("the release is as it was before, or new and whole: kech verify tells"):
            if folder is not None:
                found = kech.publish_release(made, folder, output, plan, **past).to_json()
            else:
                written = made.write(output, certificate, mapping=mapping, **past)
                found = made.summarize(output, written, certificate, mapping)
        found |= {"bound": made.bound().to_json()} if bound else {}
        unmoved = [axis["column"] for axis in made.axes if axis.get("grid") == "tight" and plan.release.cut != "domain"]
    asked.show(found, partial(releases.print_release, unmoved=unmoved))


@app.command
def verify(
    table: Annotated[str | Path, Parameter(help="A released file, or a table of a database.")],
    /,
    *,
    certificate: Path | None = None,
    qi: Annotated[Names, Parameter(name=["--qi", "--quasi-identifiers"])] = [],  # noqa: B006
    sensitive: Names = [],  # noqa: B006
    k: Annotated[int | None, Parameter(converter=whole)] = None,
    wanted: GoalOptions | None = None,
    population: str | Path | None = None,
    plan: Path | None = None,
    json: Flag = False,
) -> None:
    """Check a released file against its certificate, or against columns and goals of your own; state every model.

    Example: kech verify safe.csv
    Example: kech verify safe.csv --population town.csv
    Example: kech verify any.csv --qi age zip --k 5 --sensitive diagnosis --l 3

    Parameters
    ----------
    certificate: Path
        The certificate, if it is not beside the file.
    qi: list[str]
        Check these columns instead of a certificate.
    sensitive: list[str]
        With --qi: also state what a class tells about these columns: l, t, alpha, beta, delta.
    k: int
        The k to check.
    population: str
        The table the people are from, raw or labelled: states k-map and delta-presence.
    plan: Path
        Take goals, and where there is no certificate columns, from a plan; it also says how the population is read.
    json: bool
        Print one JSON object.
    """
    given = read_given(plan)
    (wanted or GoalOptions()).settle(given.release)
    certified = certificate is not None or Path(f"{table}.certificate.json").exists()
    columns = split(qi) or (None if certified else given.roles.quasi_identifiers or None)
    goals = {name: getattr(given.release, name) for name in ("l", "l_kind", "c", "t", "t_kind", "alpha")}
    goals["k"] = given.release.k if k is None else k
    if columns and all(goals[name] is None for name in ("k", "l", "t", "alpha")):
        raise BadOption("--k", "say which k to check: --k 5.")
    secrets = split(sensitive) or (given.roles.sensitive if columns else [])
    orders = {name: axis.order for name, axis in given.axes.items() if axis.order and name in secrets}
    screen.doing("checking the file")
    with opened_population(population, plan) as people:
        figures = kech.verify_release(
            table,
            certificate=certificate,
            quasi_identifiers=columns,
            sensitive=secrets,
            orders=orders,
            population=people,
            **goals,
        )
    screen.show(
        {"file": str(find_address(table) or table), "holds": True, **figures}, json, releases.print_verification
    )


@app.command
def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("kech-demo"),
    plan: Path | None = None,
    json: Flag = False,
) -> None:
    """Do the whole job on the paper's nine rows and on a made-up town of 20,000 people, with a key that is no secret.

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
    from kech.tables.demo import generate_town, nine_rows, write_csv, write_demo_key

    with clear_refusals(output):
        output.mkdir(parents=True, exist_ok=True)
    nine = kech.Plan()
    nine.roles.quasi_identifiers, nine.roles.sensitive = ["age", "zip"], ["salary"]
    nine.release.k, nine.release.grid = 3, "exact"
    town = kech.read_plan(plan) if plan else town_plan(output / "town.toml")
    key = write_demo_key(output)
    found = [
        run_demo("the paper's nine rows", write_csv(nine_rows(), output / "nine.csv"), nine, key, as_json=json),
        run_demo("a town of 20,000 people", write_csv(generate_town(), output / "town.csv"), town, key, as_json=json),
    ]
    if json:
        screen.show({"demo": found}, True, screen.print_nothing)


def town_plan(path: Path) -> "Plan":
    """The plan of the made-up town, written for the user to read."""
    from kech.release.plan import AxisSection

    plan = kech.Plan()
    plan.roles.identifiers, plan.roles.sensitive = ["person"], ["diagnosis"]
    plan.roles.quasi_identifiers = ["age", "sex", "zip", "moved_in", "schooling", "job"]
    plan.axes["schooling"] = AxisSection("ordinal", ["primary", "secondary", "bachelor", "master", "doctorate"])
    plan.release.k = 5
    plan.write(path)
    return plan


def run_demo(title: str, path: Path, plan: "Plan", key: Path, *, as_json: bool) -> dict[str, Any]:
    """Spectrum, release, certificate and verification of one table, drawn with the key of the demo."""
    target = path.with_name(f"{path.stem}-released.csv")
    goals = plan.release
    with plan.read_table(path, key_file=key) as table:
        found = kech.compute_spectrum(table, **goals.spectrum_wishes() | {"k": None})
        certificate = kech.make_release(table, **goals.wishes()).write(target, ledger=False)  # nobody is in it
    figures = kech.check_certificate(target)
    if not as_json:
        hide()
        releases.print_demo(title, path, target, found.to_json(), certificate, figures)
    return {"table": str(path), "release": str(target), "spectrum": found.rows(), "verified": figures}
