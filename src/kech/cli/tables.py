"""Commands that make and check tables: inspect, spectrum, release, verify, demo."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

import kech
from kech.cli.intake import (
    RELEASE,
    TABLE,
    Certificate,
    Files,
    Flag,
    Json,
    Ks,
    Names,
    TableName,
    TypedOptions,
    Whole,
    app,
    check_picture,
    hide_password,
    open_population,
    parse_ks,
    read_plan_or_default,
    split_names,
    with_options,
)
from kech.errors import BadOption, BadTarget
from kech.request import FIELDS, Columns, Goal
from kech.request.parts import CUTS
from kech.system.files import refuse_disk_errors
from kech.tables.source import check_free, find_address
from kech.views import screen
from kech.views.screen import releases
from kech.views.screen import tables as drawings
from kech.views.screen.cohorts import print_series_check
from kech.views.screen.progress import hide

if TYPE_CHECKING:
    from kech.audit.inspection import ColumnReport

TOGETHER = ("quasi_identifiers", "sensitive", "person", "k")  # what a check of several releases uses
CutNames = Annotated[Names, Parameter(help=f"Cuts to compare: {', '.join(CUTS)}.")]
MAY_REPEAT = "\nRows may be of one person: name a column that numbers people as person, or set rows_are_people = true"
FILES = Group("Files and earlier releases", sort_key=0)
INSTEAD_IN_SERIES = {
    "--folder": " For a report: kech report FILE -o report.html.",
    "--replace": " If nobody received the last version, forget it: kech series FOLDER --forget.",
}
BEGIN = (
    "there is no series in {folder!r}. Check the name. To begin one, name its columns and k: --qi COLUMN ... "
    "--key COLUMN --k 5."
)


@app.command
@with_options(*TABLE)
def inspect(
    table: TableName,
    /,
    *,
    options: TypedOptions,
    plan: Path | None = None,
    replace: Flag = False,
    k: Whole = 5,
    rows: Whole = 0,
) -> None:
    """Show the columns, suggested roles with reasons, distinct values, and the k of the original table.

    Example: kech inspect people.csv --plan kech.toml

    Parameters
    ----------
    plan: Path
        Write a suggested plan into this new file, for your review.
    replace: bool
        Write the new plan in the place of an older one. What you changed in it is lost.
    k: int
        k of the plan, and of the comparison of what each column costs.
    rows: int
        Number of first rows to show too, as kech reads them. PRIVATE.
    """
    check_plan(plan, replace=replace)
    request = options.request()
    with options.read(table, request) as opened:
        inspection = kech.inspect_table(opened, rows=rows, k=k)
    if plan is not None:
        from kech.audit.inspection import suggest_request

        suggested = suggest_request(inspection, k, request)
        note = note_unpublished(inspection.columns, suggested)
        note += MAY_REPEAT * bool(inspection.repeated_people and not suggested.columns.person)
        kech.write_request(suggested, plan, note)
    options.show(
        inspection.to_json() | {"plan": plan and str(plan)},
        partial(drawings.print_inspection, source=hide_password(table)),
    )


def check_plan(plan: Path | None, *, replace: bool) -> None:
    """Refuse to overwrite a plan that nobody gave up, and any other file."""
    if plan is None:
        if replace:
            raise BadOption("--replace", "it replaces a plan, and none is written. Add --plan FILE, or omit --replace.")
    elif plan.exists() and not replace:
        raise BadTarget(plan, "it exists. Name another file, or add --replace to write the new plan in its place.")
    elif plan.exists():
        kech.read_request(plan)


def note_unpublished(columns: "Sequence[ColumnReport]", suggested: "kech.Request") -> str:
    """The comment of a plan about the columns without a role in it, and the cells that a release refuses."""
    kept = suggested.columns.keep
    plain = [repr(column.column) for column in columns if column.role == "plain" and column.column not in kept]
    named = [
        repr(c.column) for c in columns if c.role == "identifier" and c.column not in suggested.columns.identifiers
    ]
    notes = [f"kech does not publish these columns unless you add them to keep: {', '.join(plain)}"] * bool(plain)
    shared = f"These name people or hold text, and rows share values of them, so never publish them: {', '.join(named)}"
    refused = [f"A release will refuse the table, until this is mended. {c.trouble}" for c in columns if c.trouble]
    here = 'In this plan, texts that mean missing are null_values below [input]; kind = "set" reads a column as text.'
    ways = [here] * any("--null-values" in line for line in refused)
    return "\n".join([*notes, *[shared] * bool(named), *refused, *ways])


@app.command
@with_options(*RELEASE, but=("k", "cut", "eps", "target"))
def spectrum(
    table: TableName,
    /,
    *,
    options: TypedOptions,
    k: Ks = None,
    cut: CutNames = [],  # noqa: B006
    plot: Path | None = None,
    bound: Flag = False,
) -> None:
    """Show for every k what a release would cost: classes, loss, eps, and l and t of the sensitive columns.

    Example: kech spectrum people.csv --qi age zip sex --k 2,5,10

    Parameters
    ----------
    plot: Path
        Draw loss, classes and eps against k into this file: .svg, .png or .html.
    bound: bool
        Prove how far each loss is above the lowest possible one. It takes longer, so name a few k.
    """
    ks, cuts = parse_ks(k) if k else None, split_names(cut) if cut else None
    request = options.request(cuts or (), shows_t=True)
    check_picture(plot)
    with options.open(table, request) as opened:
        result = kech.compute_spectrum(opened, request, k=ks, cut=cuts, bound=bound)
    if plot is not None:
        result.plot(plot)
    options.show(result.to_json() | {"plot": plot and str(plot), "effort": request.cut.effort}, drawings.print_spectrum)


@app.command
@with_options(*RELEASE, "[labels]", "[series]")
def release(
    table: TableName,
    /,
    *,
    options: TypedOptions,
    output: Annotated[str, Parameter(name=["--output", "-o"])],
    certificate: Annotated[Path | None, Parameter(group=FILES)] = None,
    folder: Annotated[Path | None, Parameter(group=FILES)] = None,
    series: Annotated[Path | None, Parameter(group=FILES)] = None,
    mapping: Annotated[Path | None, Parameter(group=FILES)] = None,
    as_sql: Annotated[Path | None, Parameter(group=FILES)] = None,
    earlier: Annotated[Files, Parameter(group=FILES)] = [],  # noqa: B006
    allow_composition: Annotated[Flag, Parameter(group=FILES)] = False,
    replace: Annotated[Flag, Parameter(group=FILES)] = False,
    no_ledger: Annotated[Flag, Parameter(group=FILES)] = False,
    bound: Flag = False,
) -> None:
    """Write a k-anonymous table and its certificate; with --folder also its report and its plan.

    Example: kech release people.csv -o safe.csv --qi age zip sex --sensitive diagnosis --k 5

    Example: kech release people.csv -o safe.csv --folder safe-k5 --plan kech.toml

    Example: kech release nov.csv -o nov_safe.csv --series clinic --key visit_id --qi age zip --k 5

    Parameters
    ----------
    output: str
        Where to write: a .csv or .parquet file; a table (duckdb:FILE#TABLE, postgresql://...?table=SCHEMA.NAME); or a
        folder of Parquet files on Spark (spark://HOST:7077/PATH, hdfs://...).
    certificate: Path
        File of the certificate. By default it lies beside the output; a table in a database needs a name.
    folder: Path
        Write the table, its certificate, a report and the plan into this new folder, and verify them. The output is
        the name of the table in it.
    series: Path
        PRIVATE folder of a series: releases of a growing table that stay safe together. The first release creates it;
        later ones need only their table, output and hierarchies.
    mapping: Path
        Also write the values behind the labels of each class into this .json file. PRIVATE: it undoes the release.
    as_sql: Path
        With --cut domain, also write a query that makes the same rows from the original into this .sql file. It says
        PRIVATE where it lists values behind labels.
    earlier: list[str]
        Earlier releases of the same table. kech refuses a new release that is not coarser. With --series also files of
        the series that were moved; it remembers their new place.
    allow_composition: bool
        Release nevertheless, and show the k of all releases together.
    replace: bool
        The release at the path of the output was never handed out: this one takes its place, and the ledger forgets it.
    no_ledger: bool
        Do not look for earlier releases and do not remember this one. The certificate says so.
    bound: bool
        Show how far the loss is above the lowest possible one. PRIVATE: the certificate does not state it.
    """
    past: dict[str, Any] = {"ledger": not no_ledger, "earlier": earlier, "allow_composition": allow_composition}
    if series is not None:
        unused = {"--folder": folder, "--mapping": mapping, "--as-sql": as_sql, "--bound": bound, "--replace": replace}
        for option, value in unused.items():
            if value:
                advice = INSTEAD_IN_SERIES.get(option, "")
                raise BadOption(option, f"a release of a series cannot use it. Omit it.{advice}")
        publish_in_series(series, table, options, output, certificate, past)
        return
    for name in (field.name for field in FIELDS.values() if field.part == "series"):
        if options.typed[name] is not None:
            raise BadOption(FIELDS[name].option, "only a series uses it. Add --series FOLDER, or omit it.")
    request = options.request()
    if folder is not None and any(path is not None for path in (certificate, mapping, as_sql)):
        raise BadOption("--folder", "the folder holds the certificate. Omit --certificate, --mapping and --as-sql.")
    if folder is not None and replace:
        raise BadOption("--replace", "it replaces one file. Delete the folder and say: kech ledger --forget HASH.")
    with ExitStack() as stack:
        with screen.note_interrupt("nothing was released"):
            target = find_address(output) if folder is None else None
            if target and request.columns.quasi_identifiers:  # without any, that is refused first
                check_free(target, find_address(table))
            opened = stack.enter_context(options.open(table, request))
            if request.columns.quasi_identifiers and folder is None:
                check_output(output, opened, replace=replace, ledger=not no_ledger)
            new_release = kech.make_release(opened, request)
        with screen.note_interrupt("the release is as it was before, or new and whole: kech verify tells"):
            if folder is not None:
                result = kech.publish_release(new_release, folder, output, **past).to_json()
            else:
                files: dict[str, Any] = {"mapping": mapping, "sql": as_sql, "replace": replace}
                new_release.state_price()
                written = new_release.write(output, certificate, **files, **past)
                result = new_release.summarize(output, written, certificate, mapping, as_sql)
        result |= {"bound": new_release.bound().to_json()} if bound or request.cut.gap is not None else {}
        unmoved = [
            axis["column"] for axis in new_release.axes if (axis.get("grid"), axis.get("protect")) == ("round", "none")
        ]
        unmoved = [] if request.cut.cut == "domain" else unmoved
    options.show(result, partial(releases.print_release, unmoved=unmoved))


def check_output(output: str, table: "kech.Table", *, replace: bool, ledger: bool) -> None:
    """Refuse, before the search, a file that the release cannot be written to."""
    from kech.release.admission import check_replaced
    from kech.release.ledger import pick_ledger
    from kech.release.writing import check_target

    target = None if find_address(output) else Path(output)
    if target:
        with refuse_disk_errors(target):
            check_target(target, table)
    if replace:
        check_replaced(target, pick_ledger(ledger))


def publish_in_series(
    folder: Path, table: str | Path, options: TypedOptions, output: str, certificate: Path | None, past: dict[str, Any]
) -> None:
    """Write the next release of a series and show its summary."""
    opened = kech.open_series(folder)
    request = options.request(default=opened.request if opened.exists else None)
    if not opened.exists and not request.columns.quasi_identifiers:
        raise BadOption("--series", BEGIN.format(folder=str(folder)))
    note = "the series is as it was before, or has one more release: kech series tells"
    with screen.note_interrupt(note), options.open(table, request) as source:
        result = opened.publish(source, output, request, certificate=certificate, **past)
    options.show(result, releases.print_release)


@app.command
@with_options(
    *("quasi_identifiers", "sensitive", "person", "[goal]", "effort", "seed", "key_file"),
    but=("dp_epsilon", "dp_delta", "dp_rate", "dp_search"),  # no file shows that its rows are a sample; a plan may ask
)
def verify(
    table: Annotated[str | Path | None, Parameter(help="A released file, or a table of a database.")] = None,
    /,
    *others: Annotated[Path, Parameter(help="More released files, to measure the joint k of all.")],
    options: TypedOptions,
    certificate: Certificate = None,
    population: str | Path | None = None,
    original: Files = [],  # noqa: B006
    key: Names = [],  # noqa: B006
    series: Path | None = None,
) -> None:
    """Check a released file against its certificate, or against your own columns and goals.

    With --qi it checks the columns that you name, without a certificate. A plan has the goals, the columns if there is
    no certificate, and the options to read the population.

    Example: kech verify safe.csv

    Example: kech verify safe.csv --population town.csv

    Example: kech verify any.csv --qi age zip --k 5 --sensitive diagnosis --l 3

    Example: kech verify safe.csv --original visits.csv --person patient_id

    Example: kech verify --series clinic

    Example: kech verify march_safe.csv april_safe.csv --original march.csv april.csv --key visit_id

    Parameters
    ----------
    population: str
        Table of the population, raw or labelled. It adds k-map and delta-presence.
    original: list[str]
        The original table. kech makes the release again from it and recounts the people of every class. With several
        releases: the original of each, or one for all outside a series. kech shows what they tell together. PRIVATE.
    key: list[str]
        With several releases: columns of the originals by which a row is recognised in the next version.
    series: Path
        Folder of a series: check every file of it, and that rows came and left by whole cohorts only.
    """
    from kech.audit.joint import measure_joint_risk  # its libraries are not read for --help
    from kech.audit.verification import find_beside

    if (series is None) == (table is None):
        raise BadOption(
            "--series",
            "exactly one is needed. Name a released file to check, or the folder of a series: one of the two.",
        )
    if series is not None:
        one_release = {"--certificate": certificate, "--population": population, "--original": original, "--key": key}
        check_alone(options, one_release)
        screen.doing("checking the files")
        options.show(kech.verify_series(series), print_series_check)
        return
    assert table is not None
    request = options.request()
    if others:
        check_together(options, certificate, population)
        screen.doing("comparing the releases")
        joint = measure_joint_risk([table, *others], original, request, key=split_names(key))
        options.show(joint.to_json(), releases.print_joint_risk)
        joint.check()
        return
    if key:
        raise BadOption("--key", "it recognises rows in several versions. Name two releases or more, or omit --key.")
    if len(original) > 1:
        raise BadOption("--original", "one release has one original. Name more releases, or fewer originals.")
    certified = certificate is not None or find_beside(table) is not None
    quasi_identifiers = options.typed["quasi_identifiers"] or (() if certified else request.columns.quasi_identifiers)
    if quasi_identifiers and request.goal == Goal():
        raise BadOption("--k", "it is missing. Name the k to check: --k 5.")
    secrets = options.typed["sensitive"] or (request.columns.sensitive if quasi_identifiers else ())
    raw = original[0] if original else None
    check_search(options, raw)
    columns = Columns(quasi_identifiers=tuple(quasi_identifiers), sensitive=tuple(secrets))
    checked = kech.Request(columns=columns, axes=request.axes, goal=request.goal)
    screen.doing("checking the file")
    with open_population(population, options.plan) as people, open_original(raw, options) as opened:
        figures = kech.verify_release(table, checked, certificate=certificate, population=people, original=opened)
    options.show({"file": str(find_address(table) or table), "holds": True, **figures}, releases.print_verification)


def check_alone(options: TypedOptions, arguments: dict[str, Any]) -> None:
    """Refuse options beside --series: it checks its files by what the series remembers."""
    typed = {FIELDS[name].option: value is not None for name, value in options.typed.items()}
    for option, value in ({"--plan": options.plan} | arguments | typed).items():
        if value:
            reason = "--series checks every file by its own certificate. Check one file with it, without --series"
            raise BadOption(option, f"{reason}, or omit {option}.")


def check_together(options: TypedOptions, certificate: Path | None, population: str | Path | None) -> None:
    """Refuse options that only the check of one release uses."""
    typed = {name for name, value in options.typed.items() if value is not None} - {*TOGETHER}
    unused = [FIELDS[name].option for name in sorted(typed)]
    unused += [name for name, argument in (("--certificate", certificate), ("--population", population)) if argument]
    if unused:
        reason = "several releases together are read by the certificates beside them, and judged by their joint k."
        raise BadOption(unused[0], f"{reason} Check each file alone with it, or omit {unused[0]}.")


def check_search(options: TypedOptions, original: str | Path | None) -> None:
    """Refuse options that only the check against an original uses, where there is none."""
    for name in ("person", "effort", "seed", "key_file"):
        if original is None and options.typed[name] is not None:
            option = FIELDS[name].option
            raise BadOption(option, f"only --original uses it. Add --original TABLE, or omit {option}.")


@contextmanager
def open_original(original: str | Path | None, options: TypedOptions) -> "Iterator[kech.Table | None]":
    """The original, read with the plan and the typed options about people and the search; None without one."""
    if original is None:
        yield None
        return
    names = ("person", "effort", "seed", "key_file")
    request = read_plan_or_default(options.plan).override(**{name: options.typed[name] for name in names})
    with kech.read_table(original, request) as opened:
        yield opened


@app.command
def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("kech-demo"),
    plan: Path | None = None,
    json: Json = False,
) -> None:
    """Release two invented tables, nine rows and a town of 20,000 people, with a key that is not secret.

    Example: kech demo

    Parameters
    ----------
    output: Path
        Folder for the tables, releases and certificates.
    plan: Path
        Plan for the town. Without it, kech writes a plan into the folder.
    """
    from kech.tables.demo import generate_town, nine_rows, write_csv, write_demo_key

    with refuse_disk_errors(output):
        output.mkdir(parents=True, exist_ok=True)
    nine = kech.Request().override(quasi_identifiers=["age", "zip"], sensitive="salary", k=3, grid="exact")
    town = read_plan_or_default(plan) if plan else town_plan(output / "town.toml")
    key = write_demo_key(output)
    results = [
        run_demo("the paper's nine rows", write_csv(nine_rows(), output / "nine.csv"), nine, key, as_json=json),
        run_demo("a town of 20,000 people", write_csv(generate_town(), output / "town.csv"), town, key, as_json=json),
    ]
    if json:
        screen.show({"demo": results}, True, screen.print_nothing)


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
    """Compute the spectrum of one table, release it with the key of the demo, verify it, and show all."""
    target = path.with_name(f"{path.stem}-released.csv")
    with kech.read_table(path, plan, key_file=key) as table:
        spectrum = kech.compute_spectrum(table)
        certificate = kech.make_release(table).write(target, ledger=False)  # nobody is in it
    figures = kech.check_certificate(target)
    if not as_json:
        hide()
        releases.print_demo(title, path, target, spectrum.to_json(), certificate, figures)
    return {"table": str(path), "release": str(target), "spectrum": spectrum.rows(), "verified": figures}
