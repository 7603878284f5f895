"""How releases, their check and the ledger look on a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from kech.views.screen.cohorts import describe_section, print_version
from kech.views.screen.people import describe_recount, describe_stated
from kech.views.screen.tables import describe_bound, print_coarseness, print_spectrum
from kech.views.screen.terminal import ISOLATES, count_classes, grid, out, say, say_private, warn, warn_of_values

SIGNS = {"k": ">=", "l": ">=", "c": "<", "t": "<=", "alpha": "<="}  # how goals bound what is found
MISSING_IS_A_VALUE = "l counts a missing value as a value."
SHOWN_LETTERS = 8  # of a hash: as many as --forget asks for
MODELS = ("l", "entropy_l", "recursive_c", "alpha", "t", "t_ordered")  # that are shown of sensitive columns
MOST_SHOWN = 3  # columns whose shared values are counted, as many as a warning names
NEARLY_ALL = 0.9  # of the rows: then a value points at its row


def print_release(result: dict[str, Any], *, unmoved: Sequence[str] = ()) -> None:
    """What was written, in plain words; `unmoved` are columns whose ends are not moved at random."""
    say(f"Wrote {result['file']} and {result['certificate']}")
    if "verified" in result:
        say(f"Wrote {result['report']} and {result['plan']}; the file was verified.")
    for file in result.get("private", []):
        say_private(f"{file} holds values of the table; the plan needs it, do not publish it.")
    print_claims(result)
    print_sample(result.get("sample"))
    print_target(result)
    print_goals("In", result["goals"], result["measured"]["l"])
    explain_one_class(result)
    if "l" in result["goals"]:
        out().print(MISSING_IS_A_VALUE)
    if result["coarse"]:
        print_coarseness(result["coarse"]["step"], result["coarse"]["eps_error"])
    print_shared_values(result)
    if "series" in result:
        print_version(result["series"])
    print_earlier_releases(result["ledger"])
    if "bound" in result:
        say_private(f"{describe_bound(result['bound'])}")
    if result["mapping"]:
        say_private(f"{result['mapping']} undoes this release. Keep it as you keep the original.")
    if result.get("sql"):
        private = "PRIVATE: it lists values behind labels. " if result["sql"]["private"] else ""
        say(f"{private}Wrote {result['sql']['file']}: a query that makes these rows from the original.")
    if result["dropped"]:
        say(f"Not published: {', '.join(result['dropped'])}")
    print_open_risk(result)
    if result.get("histories"):
        say("Published too: person_number, a random number that links the rows of each person.")
    for doubt in find_doubts(result, unmoved):
        warn(f"{doubt}")


def print_sample(sample: Mapping[str, Any] | None) -> None:
    """What differential privacy promises, where it was asked for."""
    from kech.release.sentences import sample_words  # its libraries are not read for --help

    for sentence in sample_words(sample or {}):
        say(sentence)


def print_target(result: Mapping[str, Any]) -> None:
    """The weights of columns, where they were measured for a target."""
    from kech.release.sentences import target_words  # its libraries are not read for --help

    for sentence in target_words({} if result.get("target") is None else result):
        say(sentence.translate(ISOLATES))


def print_open_risk(result: dict[str, Any]) -> None:
    """What people with several rows should know."""
    from kech.release.sentences import several_rows_words  # its libraries are not read for --help

    series = result.get("series", {})
    known = {"of_series": bool(series), "in_several": bool(series.get("known_people"))}
    for sentence in several_rows_words(result.get("stated"), result["rows"], **known):
        say(sentence)


def find_doubts(result: dict[str, Any], unmoved: Sequence[str]) -> Iterator[str]:
    """What its maker should look at before a release goes out."""
    if result["identifying"]:
        them = "it" if len(result["identifying"]) == 1 else "them"
        remedy = f"leave {them} out of --keep and --sensitive; numbers and dates may go to --qi"
        yield f"{unique_words(result['identifying'])}: {remedy}."
    yield from find_joint_doubts(result)
    hidden = result.get("hidden", [])
    if hidden:
        yield (
            f"{', '.join(hidden)}: every published cell is *, or missing. Leave out a column that tells "
            "nothing: the others stay more precise."
        )
    if rare := [name for name in result["rare_texts"] if name not in hidden]:
        names, remedy = ", ".join(rare), "give them a hierarchy, or no role"
        yield f"{names}: nearly all texts occur in one row only, so labels hardly tell anything: {remedy}."
    if result["unhidden_edges"] and not result.get("sample"):
        yield f"edges of {', '.join(result['unhidden_edges'])} need not hide among k rows (--grid)."
    if unmoved:
        yield f"ends of {', '.join(unmoved)} are not moved at random, so many are somebody's value (--protect none)."


def unique_words(columns: Sequence[str]) -> str:
    """That most values of columns that are published as they are occur in one row only."""
    published, its = ("published as it is", "its") if len(columns) == 1 else ("published as they are", "their")
    return f"{', '.join(columns)}: {published}, and most of {its} values occur in one row only"


def find_joint_doubts(result: dict[str, Any]) -> Iterator[str]:
    """Columns that point at rows together."""
    from kech.release.sentences import joint_words  # its libraries are not read for --help

    yield from joint_words(result["identifying_together"])


def print_claims(result: dict[str, Any]) -> None:
    """k, classes and loss in a sentence."""
    who = f"Every row hides among {describe_crowd(result['k'], result.get('stated'))}: "
    if histories := result.get("histories"):
        who = (
            f"Every person hides among at least {histories['k']:,} people with all of their rows: "
            f"{histories['people']:,} people, "
        )
    say(
        f"{who}{result['rows']:,} rows in {count_classes(result['classes'])}, "
        f"loss {result['loss']:.4f}, suppressed {format_rows(result.get('suppressed', 0))}."
    )
    if isinstance(result.get("suppressed"), str) and not result.get("sample"):
        say("So few rows are left out that their number is hidden; the loss is that of the published rows.")
    if result["k"] == 1:
        warn("k = 1 hides nobody: some row is alone in its class.")
    if result["classes"] == 1:
        say("All rows are one class: the quasi-identifiers tell nothing any more.")


def describe_crowd(k: int, stated: dict[str, Any] | None) -> str:
    """Among how many a row hides: rows are recounted from the file, people are stated by its maker."""
    if not stated:
        return f"at least {k:,}"
    return f"rows of at least {stated['k']:,} different people (stated by the maker; {k:,} rows, recounted)"


def format_rows(rows: int | str) -> str:
    """A number of rows, or words where it is hidden."""
    return rows if isinstance(rows, str) else f"{rows:,}"


def print_goals(head: str, goals: dict[str, Any], sensitive: Iterable[str], counted: str = "") -> None:
    """The goals that hold in what was written; where a person may have several rows, also what they count."""
    kinds = {"l": f" ({goals.get('l_kind')})", "t": f" ({goals.get('t_kind')})"}
    parts = [f"{name} {sign} {goals[name]:g}{kinds.get(name, '')}" for name, sign in SIGNS.items() if name in goals]
    if parts:
        names = f" for {', '.join(sensitive)}" if goals.keys() - {"k"} else ""
        by = f", counted in {counted}" if counted else ""
        say(f"{head} every class {', '.join(parts)}{names}{by}.")


def explain_one_class(result: dict[str, Any]) -> None:
    """Why goals left but one class, by the columns of which nearly every row has a value of its own."""
    if result["classes"] > 1 or not result["goals"]:
        return
    diversity, rows = result["measured"]["l"], result["rows"]
    names = ", ".join(column for column, values in diversity.items() if values > NEARLY_ALL * rows)
    if names:
        reason = f"nearly every row has a value of its own in {names}, so no smaller class is like all rows"
        say(f"The goals leave one class: {reason}. Ask --t-kind ordered, or publish {names} in fewer values.")
    else:
        say("The goals leave one class: ask for less, or name fewer sensitive columns.")


def print_shared_values(result: dict[str, Any]) -> None:
    """k alone does not hide a value that a whole class shares: how many rows it gives away, and what mends it."""
    away = result.get("given_away")
    if away is None:
        for column, values in result["measured"]["l"].items():
            if values == 1:
                say(f"In some class all rows share one {column} (l = 1): who knows the class learns it.")
        return
    from kech.release.sentences import diversity_words  # its libraries are not read for --help

    warn_of_given_away(away)
    if away:
        is_file = "series" not in result and "verified" not in result and Path(result["file"]).is_file()
        replaces = " --replace" * (result["ledger"]["verdict"] != "no ledger")
        again = f" Before anybody gets this file, run the command again with --l 2{replaces}." if is_file else ""
        say(diversity_words(result["loss_with_l_2"], result["loss"]) + again)


def warn_of_given_away(shares: Mapping[str, float]) -> None:
    """Say how many rows have a sensitive value that their class gives away."""
    from kech.release.sentences import given_away_words  # its libraries are not read for --help

    for sentence in given_away_words(shares):
        warn_of_values(sentence)


def print_verification(result: dict[str, Any]) -> None:
    """The figures of a file that holds."""
    say(f"{result['file']} holds: recomputed from the file alone.")
    table = grid("recounted from the file", "value>")
    for name in ("k", "classes", "rows", "average_class", "loss"):
        value = result.get(name)
        label = "k (rows)" if name == "k" and result["stated"] else name
        table.add_row(
            label, "not known" if value is None else f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"
        )
    if histories := result.get("histories"):
        table.add_row("people", f"{histories['people']:,}")
        table.add_row("people with the same labels on all rows", f"{histories['k']:,} or more")
    known = result["population"] is not None
    delta = "{:.4f} to {:.4f}".format(*result["delta_presence"]) if known else ""
    unknown = "not available (population unknown)"
    table.add_row(
        "k-map", f"{result['k_map']:,} of {result['population']:,} {result['population_counted']}" if known else unknown
    )
    table.add_row("delta-presence", delta if known else unknown)
    out().print(table)
    if result["recounted"]:
        say(describe_recount(result["recounted"]))
    if result["stated"]:
        is_open = result["stated"]["promise"] == "person" and not result["recounted"]
        say(describe_stated(result["stated"]) + " It was not recounted." * is_open)
    print_sample(result.get("sample"))
    if result["series"]:
        say(describe_section(result["series"]))
    print_models(result)
    for whose, goals in (("certificate", result["checked"]["certified"]), ("your own", result["checked"]["asked"])):
        print_goals(f"Checked ({whose}): in", goals, result["l"], "rows" if result["stated"] else "")
    if result["l"]:
        out().print(MISSING_IS_A_VALUE)
    if result["unchecked"]:
        named = ", ".join(describe_parameter(*pair) for pair in result["unchecked"].items())
        say(f"Stated by the maker, and not checked, since no file shows it: {named}.")
    print_exposure(result)
    if result["passed_over"]:
        words = f"{result['passed_over']} was not checked, since you named columns with --qi: omit --qi"
        warn(f"{words} to check it.")


MAKE_SERIES = "Publish later versions as a series, so that releases stay safe together."
OF_SERIES = (
    "These are releases of a series, which change by whole cohorts only. Check that: kech verify --series FOLDER."
)


def print_joint_risk(result: dict[str, Any]) -> None:
    """What several releases tell together."""
    say_private("made with the originals; do not publish what follows.")
    names, counted = [part["file"] for part in result["releases"]], result["counted"]
    for part in result["releases"]:
        say(f"{part['file']}: alone, every row hides among {part['k']:,} {counted} or more.")
    if result["joint_k"] is None:
        doubt = "rows may wait or be withdrawn" if result["of_series"] else "is this the right key?"
        say(f"No row must be in several releases, so none is seen twice: {doubt}")
    else:
        print_joint_k(result)
    for part in result["pinned"]:
        few = f"{part['right']:,} of them the right one, {part['alone']:,} by one release alone"
        sentence = f"{part['column']}: one value is left of {part['pinned']:,} of {part['rows']:,} rows ({few})."
        say(sentence)
    for part in result["differences"]:
        print_difference(part, f"{names[part['first']]} and {names[part['second']]}", result["goal"], counted)
    if not result["holds"]:
        out().print(OF_SERIES if result["of_series"] else MAKE_SERIES)


def print_difference(part: dict[str, Any], pair: str, k: int, counted: str) -> None:
    """What subtracting two releases shows."""
    if classes := part["same_label"] + part["widened"]:
        say(f"Classes of {pair} that differ by fewer than {k:,} rows: {classes:,}. The rows show.")
    if rows := part["changed"]:
        few = f"rows that came or left with fewer than {k:,} {counted} at once"
        say(f"Subtracting {pair}, class by class where labels overlap, shows the cells of {rows:,} {few}.")


def print_joint_k(result: dict[str, Any]) -> None:
    """Among how many rows hide in all releases: one number, or between which two where rows fit several classes."""
    k, counted, joint_k, at_least = result["goal"], result["counted"], result["joint_k"], result["at_least"]
    is_open = at_least < joint_k and not result["of_series"]
    meaning = f"the fewest {counted} that stay together in all releases of a row"
    figure = f"is between {at_least:,} and {joint_k:,}" if is_open else f"= {joint_k:,}"
    say(f"Together: joint k {figure}, {meaning}, over {result['rows']:,} rows that are in several.")
    if is_open:
        reading = f"kech counts with {at_least:,}, which holds wherever they are"
        say(f"{result['undecided']:,} rows fit several classes of a release: {reading}.")
    who = "" if result["people_below"] is None else f" of {result['people_below']:,} people"
    say(f"{result['below']:,} rows{who} stay together with fewer than {k:,}.")
    is_few = result["candidates"] < k
    count, noun = result["candidates"], "candidate" if result["candidates"] == 1 else "candidates"
    fewest = f"some row has only {count:,} {noun}" if is_few else f"every row has {k:,} or more candidates"
    say(f"By labels and sizes of classes alone, {fewest}.")


def describe_parameter(name: str, value: Any) -> str:
    """A parameter of a certificate in a few words."""
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"no {words}"
    return words if isinstance(value, dict | list) else f"{words} {value}"


def print_exposure(result: dict[str, Any]) -> None:
    """The columns by their roles, and what the file gives away beside its classes."""
    for role in ("quasi_identifiers", "sensitive", "kept"):
        if result[role]:
            say(f"{role.replace('_', '-').capitalize()}: {', '.join(result[role])}")
    rows, share = result["unique_rows"], result["unique_share"]
    many = f"{rows} rows are" if share is None else f"{rows:,} rows ({share:.1%}) are"
    say(f"{many} unique on all published columns together.")
    for column, shared in pick_largest(result["one_value"]):
        rows, classes = format_rows(shared["rows"]), count_classes(shared["classes"])
        sentence = f"{rows} rows, in {classes}, share one {column} with their class"
        say(f"{sentence}: who knows the class learns it.")
    counts = {column: shared["rows"] for column, shared in result["one_value"].items()}
    warn_of_given_away({name: n / result["rows"] for name, n in counts.items() if n and not isinstance(n, str)})
    if result["identifying"]:
        warn(f"{unique_words(result['identifying'])}.")
    for sentence in (*find_joint_doubts(result), *result["repeated_people"]):
        warn(f"{sentence}")


def pick_largest(one_value: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """The columns that most rows share with their class, as many as a warning names; a hidden count is small."""
    shared = [(column, each) for column, each in one_value.items() if each["rows"]]
    return sorted(shared, key=lambda pair: -pair[1]["rows"] if isinstance(pair[1]["rows"], int) else 0)[:MOST_SHOWN]


def print_models(result: dict[str, Any]) -> None:
    """What a class tells about each sensitive column, the worst class of all."""
    if not result["l"]:
        return
    by = ", by rows" if result["stated"] else ""
    table = grid(f"the worst class{by}~", *(f"{name.replace('_', ' ')}>~" for name in MODELS))
    for column in result["l"]:
        values = (result[name][column] for name in MODELS)
        cells = ["none" if x is None else f"{x:,.4f}" if isinstance(x, float) else str(x) for x in values]
        table.add_row(escape(column), *cells)
    out().print(table)
    say("--json also has beta, enhanced beta and delta.")


# -- ledger ----------------------------------------------------------------------------------------------


def print_ledger(result: dict[str, Any]) -> None:
    """The releases of the ledger."""
    if result["forgotten"]:
        say(f"Forgotten: {', '.join(result['forgotten'])}")
    if result["key_file"]:
        say(f"Made: {result['key_file']}. Whoever has it can make your releases again: keep it secret.")
    count = len(result["releases"])
    say(f"{result['file']}: {count} release{'' if count == 1 else 's'}")
    table = grid("name~", "time", "table>", "rows>", "k>", "columns~", "SHA-256")
    for release in result["releases"]:
        rows = "" if release["rows"] is None else f"{release['rows']:,}"
        facts = (str(release["table"]), rows, str(release["k"]), escape(", ".join(release["columns"])))
        named = (escape(release["name"] or ""), release["time"][:16].replace("T", " "))
        table.add_row(*named, *facts, release["release"][:SHOWN_LETTERS])
    if result["releases"]:
        out().print(table)


def print_earlier_releases(word: dict[str, Any]) -> None:
    """What the ledger said; nothing of a first release."""
    if word["verdict"] == "no ledger":
        say("The ledger was not asked and does not know this release (--no-ledger).")
    if word["verdict"] == "nested":
        proof = f"it is proved that every class of this release is a union of classes of {word['nested_in']}"
        say(f"This table was released before; {proof}.")
    if word["verdict"] == "composed":
        of_what = " of some of its rows" if word["shared"] else ""
        counted, joint_k, least = word["counted"], word["joint_k"], word["at_least"]
        figure = f"is between {least} and {joint_k}" if least < joint_k else f"= {joint_k}"
        warn(
            f"this release alone hides every row among {word['k']} {counted} or more. Together with earlier "
            f"releases{of_what} ({word['earlier']}), joint k {figure}: {word['below']:,} rows stay together "
            f"with fewer than {word['k']}. Do not publish these figures."
        )
    if word["updated"]:
        warn(
            f"this file was released {word['updated']} times with rows of which none was found in "
            "it again. If some are the same people, name those releases: --earlier FILE."
        )


# -- demo ------------------------------------------------------------------------------------------------


def print_demo(
    title: str, path: Path, target: Path, result: dict[str, Any], certificate: dict[str, Any], figures: dict[str, Any]
) -> None:
    """One table of the demo, end to end."""
    from kech.certificate import certificate_path

    out().rule(title, align="left")
    print_spectrum(result)
    say(f"\nReleased at k = {certificate['parameters']['k']}:")
    print_claims(certificate["claims"])
    with target.open(encoding="utf-8") as file:
        for _, text in zip(range(4), file, strict=False):
            out().print("  " + escape(text.rstrip("\n")), style="dim")
    say(f"Verified from the file alone: k = {figures['k']}, loss = {figures['loss']:.4f}.")
    say(f"table        {path}\nrelease      {target}\ncertificate  {certificate_path(target)}\n")
