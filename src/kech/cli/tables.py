"""Commands that make and check tables: inspect, spectrum, release, verify, demo."""

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

import kech
from kech.cli.intake import (
    RELEASE,
    TABLE,
    Asked,
    Flag,
    Names,
    TableName,
    Whole,
    app,
    asks,
    check_picture,
    opened_population,
    parse_ks,
    read_given,
    split,
    without_password,
)
from kech.errors import BadOption, BadTarget
from kech.request import Columns, Goal
from kech.system.files import clear_refusals
from kech.tables.source import check_free, find_address
from kech.views import screen
from kech.views.screen import releases
from kech.views.screen import tables as drawings
from kech.views.screen.progress import hide

FILES = Group("Files and earlier releases", sort_key=0)


@app.command
@asks(*TABLE)
def inspect(table: TableName, /, *, asked: Asked, k: Whole = 5, rows: Whole = 0) -> None:
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
    target, asked = asked.plan, replace(asked, plan=None)
    if target is not None and target.exists():
        raise BadTarget(target, "it exists, and inspect would write a new plan over it. Name another file.")
    request = asked.request()
    with asked.look(table, request) as opened:
        found = kech.inspect_table(opened, rows=rows)
    if target is not None:
        from kech.audit.inspection import suggest_request

        plain = [column.column for column in found.columns if column.role == "plain"]
        note = f"Not published unless you add them to keep: {', '.join(map(repr, plain))}" if plain else ""
        kech.write_request(suggest_request(found, k, request), target, note)
    asked.show(
        found.to_json() | {"plan": target and str(target)},
        partial(drawings.print_inspection, source=without_password(table)),
    )


@app.command
@asks(*RELEASE, but=("k", "cut", "eps"))
def spectrum(
    table: TableName,
    /,
    *,
    asked: Asked,
    k: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    cut: Names = [],  # noqa: B006
    plot: Path | None = None,
    bound: Flag = False,
) -> None:
    """Show for every k what a release would cost: classes, loss, eps, and l and t of the sensitive columns.

    Example: kech spectrum people.csv --qi age zip sex --k 2,5,10

    Parameters
    ----------
    k: list[str]
        Which k; 2 to 100 otherwise. Ranges are welcome: --k 2-20,50.
    cut: list[str]
        Styles of release to compare: local, minimal, domain, regime.
    plot: Path
        Draw loss, classes and eps against k: .svg, .png or .html.
    bound: bool
        Prove how far each loss is above what any release could reach. It takes longer: name a few k.
    """
    ks, cuts = parse_ks(k) if k else None, split(cut) if cut else None
    request = asked.request(cuts or ())
    check_picture(plot)
    with asked.open(table, request) as opened:
        found = kech.compute_spectrum(opened, request, k=ks, cut=cuts, bound=bound)
    if plot is not None:
        found.plot(plot)
    asked.show(found.to_json() | {"plot": plot and str(plot), "effort": request.cut.effort}, drawings.print_spectrum)


@app.command
@asks(*RELEASE, "[labels]")
def release(
    table: TableName,
    /,
    *,
    asked: Asked,
    output: Annotated[str, Parameter(name=["--output", "-o"])],
    certificate: Annotated[Path | None, Parameter(group=FILES)] = None,
    folder: Annotated[Path | None, Parameter(group=FILES)] = None,
    mapping: Annotated[Path | None, Parameter(group=FILES)] = None,
    earlier: Annotated[list[str | Path], Parameter(consume_multiple=True, negative="", group=FILES)] = [],  # noqa: B006
    allow_composition: Annotated[bool, Parameter(negative="", group=FILES)] = False,
    no_ledger: Annotated[bool, Parameter(negative="", group=FILES)] = False,
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
    request = asked.request()
    if folder is not None and (certificate is not None or mapping is not None):
        raise BadOption("--folder", "it holds what goes out, certificate included: omit --certificate and --mapping.")
    past: dict[str, Any] = {"ledger": not no_ledger, "earlier": earlier, "allow_composition": allow_composition}
    with ExitStack() as held:
        with screen.note_interrupt("nothing was released"):
            target = find_address(output) if folder is None else None
            if target and request.columns.quasi_identifiers:  # who names none is told that first
                check_free(target, find_address(table))
            opened = held.enter_context(asked.open(table, request))
            made = kech.make_release(opened, request)
        with screen.note_interrupt("the release is as it was before, or new and whole: kech verify tells"):
            if folder is not None:
                found = kech.publish_release(made, folder, output, **past).to_json()
            else:
                written = made.write(output, certificate, mapping=mapping, **past)
                found = made.summarize(output, written, certificate, mapping)
        found |= {"bound": made.bound().to_json()} if bound else {}
        unmoved = [axis["column"] for axis in made.axes if (axis.get("grid"), axis.get("protect")) == ("round", "none")]
        unmoved = [] if request.cut.style == "domain" else unmoved
    asked.show(found, partial(releases.print_release, unmoved=unmoved))


@app.command
@asks("quasi_identifiers", "sensitive", "[goal]")
def verify(
    table: Annotated[str | Path, Parameter(help="A released file, or a table of a database.")],
    /,
    *,
    asked: Asked,
    certificate: Path | None = None,
    population: str | Path | None = None,
) -> None:
    """Check a released file against its certificate, or against columns and goals of your own; state every model.

    With --qi the columns you name are checked instead of a certificate. A plan says goals, columns where there is no
    certificate, and how the population is read.

    Example: kech verify safe.csv
    Example: kech verify safe.csv --population town.csv
    Example: kech verify any.csv --qi age zip --k 5 --sensitive diagnosis --l 3

    Parameters
    ----------
    certificate: Path
        The certificate, if it is not beside the file.
    population: str
        The table the people are from, raw or labelled: states k-map and delta-presence.
    """
    request = asked.request()
    certified = certificate is not None or Path(f"{table}.certificate.json").exists()
    named = asked.typed["quasi_identifiers"] or (() if certified else request.columns.quasi_identifiers)
    if named and request.goal == Goal():
        raise BadOption("--k", "say which k to check: --k 5.")
    secrets = asked.typed["sensitive"] or (request.columns.sensitive if named else ())
    columns = Columns(quasi_identifiers=tuple(named), sensitive=tuple(secrets))
    checked = kech.Request(columns=columns, axes=request.axes, goal=request.goal)
    screen.doing("checking the file")
    with opened_population(population, asked.plan) as people:
        figures = kech.verify_release(table, checked, certificate=certificate, population=people)
    asked.show({"file": str(find_address(table) or table), "holds": True, **figures}, releases.print_verification)


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
    nine = kech.Request().override(quasi_identifiers=["age", "zip"], sensitive="salary", k=3, grid="exact")
    town = read_given(plan) if plan else town_plan(output / "town.toml")
    key = write_demo_key(output)
    found = [
        run_demo("the paper's nine rows", write_csv(nine_rows(), output / "nine.csv"), nine, key, as_json=json),
        run_demo("a town of 20,000 people", write_csv(generate_town(), output / "town.csv"), town, key, as_json=json),
    ]
    if json:
        screen.show({"demo": found}, True, screen.print_nothing)


def town_plan(path: Path) -> "kech.Request":
    """The plan of the made-up town, written for the user to read."""
    schooling = ["primary", "secondary", "bachelor", "master", "doctorate"]
    plan = kech.Request().override(
        identifiers=["person"],
        sensitive=["diagnosis"],
        quasi_identifiers=["age", "sex", "zip", "moved_in", "schooling", "job"],
        axes={"schooling": schooling},
        k=5,
    )
    kech.write_request(plan, path)
    return plan


def run_demo(title: str, path: Path, plan: "kech.Request", key: Path, *, as_json: bool) -> dict[str, Any]:
    """Spectrum, release, certificate and verification of one table, drawn with the key of the demo."""
    target = path.with_name(f"{path.stem}-released.csv")
    with kech.read_table(path, plan, key_file=key) as table:
        found = kech.compute_spectrum(table)
        certificate = kech.make_release(table).write(target, ledger=False)  # nobody is in it
    figures = kech.check_certificate(target)
    if not as_json:
        hide()
        releases.print_demo(title, path, target, found.to_json(), certificate, figures)
    return {"table": str(path), "release": str(target), "spectrum": found.rows(), "verified": figures}
