"""Sentences: what a release does to people's rows, in sentences.

In: the figures of a release and of its columns.  Out: sentences, for a terminal or a page.
"""

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote as quote_word
from typing import Any

from kech.cuts.history import find_share, say_count
from kech.release.column_costs import MOST_COLUMNS, MOST_PRICED

MONTH, YEAR = 30.44, 365.25  # days
TIMES = ((YEAR, 730, "years"), (MONTH, 60, "months"))  # days of a unit, days from which it is used, its name
SPACE = "\u00a0"
MOST_NAMED = 3  # columns that have a sentence of their own
MOST_LISTED = 6  # names of further columns in one sentence
WORTH_SAYING = 0.01  # the loss that must go before a column is named as dear
HARDLY_TOLD = 0.9  # the loss of a column that is worth nothing to its readers
COARSE = 0.5  # of the mean loss: a column that loses less is nearly kept as it is, and nobody drops it


def release_words(
    figures: Mapping[str, Any],
    parameters: Mapping[str, Any],
    left_out: float,
    *,
    shared: Mapping[str, Any],
    of_people: bool = False,
) -> Iterator[str]:
    """Who hides among how many, which share of the rows is left out, which goals hold.

    k counts rows, or `of_people` different people.  `shared` is what classes give away.
    """
    classes = f"{figures['classes']:,} class{'es' * (figures['classes'] != 1)}"
    average = f"{format_short(figures['average_class'])} rows each on average"
    crowd = f"at least {figures['k']:,} row{'s' * (figures['k'] != 1)}"
    if of_people:
        crowd = f"rows of at least {figures['k']:,} different people (stated by the maker)"
    if parameters.get("protect_history"):
        people = f"at least {parameters['k']:,} people with all of their rows"
        yield f"Every person hides among {people}: {classes}, {average}."
    else:
        yield f"Every row hides among {crowd}: {classes}, {average}."
    yield f"{percent(left_out)} of the rows are left out." if left_out else "No row is left out."
    if figures["l"] == 1:
        yield from shared_words(shared, figures["loss"])
    elif figures["l"]:
        yield f"Every class has at least {figures['l']:,} values of each sensitive column."
    yield from sample_words(parameters)
    yield from target_words(parameters)
    if goals := list(goal_words(parameters)):
        yield f"As asked, every class keeps {', '.join(goals)}."


def shared_words(shared: Mapping[str, Any], loss: float) -> Iterator[str]:
    """Which rows have a sensitive value that their class gives away, and what mends it."""
    yield from given_away_words(shared["given_away"])
    if shared["given_away"]:
        yield diversity_words(shared["loss_with_l_2"], loss)


def given_away_words(shares: Mapping[str, float]) -> Iterator[str]:
    """How many rows give a sensitive value away: the worst columns, and what the others have in common."""
    ranked = sorted(shares, key=lambda column: -shares[column])
    for index, column in enumerate(ranked[:MOST_NAMED]):
        rows = f"{percent(shares[column])} of the published rows"
        missing = "" if index else "; a missing value counts as one"
        yield f"{rows} have their {column} value given away: their whole class shares it{missing}."
    if rest := ranked[MOST_NAMED:]:
        columns = "1 other column" if len(rest) == 1 else f"{len(rest)} other columns"
        named = list_names(rest)
        yield f"Up to {percent(shares[rest[0]])} of the rows have their value given away in {columns}: {named}."


def list_names(names: Sequence[str]) -> str:
    """Names with commas; of many the first ones."""
    more = [f"and {len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED + 1 else names[MOST_LISTED:]
    return ", ".join((*names[:MOST_LISTED], *more))


def nearly_empty_words(nearly_empty: Sequence[int], columns: int) -> Iterator[str]:
    """That some rows seem to hold nobody, as sums and blank lines do, and what to do about them."""
    if nearly_empty:
        rows, last = nearly_empty
        which = f"row {last:,} has" if rows == 1 else f"{rows:,} rows have"
        where = "" if rows == 1 else f"; the last is row {last:,}"
        yield (
            f"{which} at most one value, in {columns:,} columns{where}. A sum or a blank line is nobody, but counts "
            "for k: delete it in the file."
        )


def joint_words(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """That nearly every row is unique on columns that are published as they are, and what mends it."""
    if pairs := [pair for pair in groups if len(pair) == 2]:
        remedy = "leave one of them out of --keep and --sensitive; numbers and dates may go to --qi"
        names = "; ".join(", ".join(pair) for pair in pairs)
        yield f"{names}: published as they are, and nearly every row is unique on them together: {remedy}."
    for columns in (group for group in groups if len(group) > 2):
        remedy = "leave out those that others can know, or make them quasi-identifiers"
        yield f"published as they are, {len(columns)} columns are together unique in nearly every row: {remedy}."


def diversity_words(loss: float | None, now: float) -> str:
    """What two values in every class would cost."""
    if loss is None:
        return "kech preview with --l 2 tells whether that mends it, and what it costs."
    price = f"the loss becomes about {loss:.4f} or less, instead of {now:.4f}"
    return f"--l 2 mends it: {price}." if f"{loss:.4f}" > f"{now:.4f}" else "--l 2 mends it, at about the same loss."


def several_rows_words(
    stated: Mapping[str, Any] | None, rows: int, *, of_series: bool, in_several: bool = False
) -> Iterator[str]:
    """What stays open where k counts people of each class, and some have several rows, in one release or several."""
    if stated and stated["promise"] == "person" and (rows > stated["people"] or in_several):
        remedy = "Series cannot prevent that." if of_series else "--protect-history prevents that."
        yield f"Who knows several rows of one person can narrow down further than to k people. {remedy}"


def cost_words(costs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Which quasi-identifiers to drop: those that would hardly tell anything, and those that follow from another.

    Where all tell something, the dearest that is not kept as it is.
    """
    mean = sum(cost["loss"] for cost in costs) / max(1, len(costs))
    dear = [cost for cost in costs if cost["others"] - cost["others_without"] >= WORTH_SAYING]
    worthless = [cost for cost in costs if cost["loss"] >= HARDLY_TOLD]
    if worthless:
        yield worthless_words(worthless, [cost for cost in worthless if cost in dear], len(costs))
    for cost in [cost for cost in dear if cost["loss"] >= COARSE * mean and not worthless][:1]:
        yield (
            f"Without {quote(cost['column'])} the other columns would lose about {saving_words(cost)} less. If nobody "
            f"needs it, do not publish it. --weights {quote_word(cost['column'] + '=0.3')} keeps it, only coarser."
        )
    follows = {cost["column"]: cost["follows"] for cost in costs if cost["follows"]}
    origins = {column: find_origin(column, follows) for column in follows}
    for origin in dict.fromkeys(origins.values()):
        names = [quote(column) for column in origins if origins[column] == origin != column]
        verb = "follows" if len(names) == 1 else "follow"
        yield f"{join_words(names)} {verb} from {quote(origin)}, nearly always. Publish one of them."


def worthless_words(worthless: Sequence[Mapping[str, Any]], dear: Sequence[Mapping[str, Any]], columns: int) -> str:
    """That columns would hardly tell anything; of a single one also what it costs, which was measured for it alone."""
    if len(worthless) == columns:
        return (
            f"Hardly any label would tell anything: every quasi-identifier has a loss of {HARDLY_TOLD:g} or more. "
            "Choose a smaller k, or fewer quasi-identifiers, or give texts a hierarchy."
        )
    if len(worthless) > 1:
        names = list_names([quote(cost["column"]) for cost in worthless])
        return f"These would hardly tell anything: {names}. Their losses are {HARDLY_TOLD:g} or more. Leave them out."
    (cost,) = worthless
    saved = f": the other columns would lose about {saving_words(cost)} less" if dear else ""
    return f"{quote(cost['column'])} would hardly tell anything: its loss is {cost['loss']:.2f}. Leave it out{saved}."


def saving_words(cost: Mapping[str, Any]) -> str:
    """The share of the loss of the others that goes with a column."""
    return f"{100 * (1 - cost['others_without'] / cost['others']):.0f}{SPACE}%"


def uncompared_words(rows: int, columns: int) -> Iterator[str]:
    """Why `inspect` does not say what each quasi-identifier costs the others."""
    if columns > MOST_COLUMNS:
        yield (
            f"What each quasi-identifier costs is compared for {MOST_COLUMNS} of them at most. Name fewer (--qi): with "
            "so many, labels become very wide."
        )
    elif columns > 1 and rows > MOST_PRICED:
        yield f"What each quasi-identifier costs is not compared for more than {MOST_PRICED:,} rows: kech preview does."


def find_origin(column: str, follows: Mapping[str, str]) -> str:
    """The column that a column follows from in the end; of several that follow from each other, the first by name."""
    path = [column]
    while path[-1] in follows and follows[path[-1]] not in path:
        path.append(follows[path[-1]])
    last = follows.get(path[-1])
    return min(path[path.index(last) :]) if last else path[-1]


def join_words(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def price_words(price: Mapping[str, Any], limit: int) -> Iterator[str]:
    """What it costs that all rows of a person stay together; so many rows may be left out."""
    k, rows, lost = price["k"], price["rows"], price["rows_left_out"]
    yield f"{price['people']:,} people have {rows:,} rows; the longest history has {price['most_rows']:,} rows."
    if not lost:
        yield "No row has to be left out."
    else:
        some, whole = (say_count(price[name], k) for name in ("shortened", "people_left_out"))
        yield (
            f"A history hides only among histories of as many rows. So {say_count(lost, k)} rows would have to be left "
            f"out: {some} people would lose some of their rows, {whole} people all."
        )
        more = "" if lost <= limit else f": allow --suppress {find_share(lost, rows):g}, or choose a smaller k"
        yield f"{limit:,} rows may be left out{more}."
    if price["loss"] is None:
        yield "What is left cannot be cut: histories are too long to be compared, or there are too few people."
    else:
        yield f"The loss would be about {format_short(price['loss'])}; a search lowers it."


def column_words(about: Any) -> str:
    """What becomes of one column, as its preview says."""
    name, rest = quote(about.column), "".join(absent_words(about))
    if about.exact + about.missing > 0.9995:
        return f"{name} stays as it is{rest}."
    if about.exact + about.missing > 0.95:
        return f"{name} stays as it is in {percent(about.exact)} of the rows{rest}."
    if about.width is None and about.open:
        return f"{name} is told by one end only{rest}."
    if about.width is None:
        return f"{name} is hidden{rest if about.missing else ''}."
    kept = f", as it is in {percent(about.exact)} of the rows" if about.exact > 0.005 else ""
    return f"{name} becomes {extent(about.axis, about.width)} on average{kept}{rest}."


def absent_words(about: Any) -> Iterator[str]:
    """The rows in which a range is open-ended, a column is missing, or it is hidden."""
    if about.open:
        yield f"; open-ended in {percent(about.open)} of the rows"
    if about.missing:
        yield f"; missing in {percent(about.missing)} of the rows"
    if about.lost:
        yield f"; in {percent(about.lost)} of the rows it is hidden"


def extent(axis: str, width: float) -> str:
    """How wide a cell is, in numbers, in days, or in values."""
    if axis == "number":
        return f"ranges of {format_short(width)}"
    if axis != "date":
        words = {"hierarchy": "labels that stand for", "ordered": "ranges of"}
        return f"{words.get(axis, 'sets of')} {format_short(width)} values"
    unit, name = next(((days, name) for days, least, name in TIMES if width >= least), (1.0, "days"))
    return f"ranges of {format_short(width / unit)} {name}"


def goal_words(goals: Mapping[str, Any]) -> Iterator[str]:
    """The goals for sensitive columns that were set."""
    if "l" in goals:
        more = f", c = {format_short(goals['c'])}" if "c" in goals else ""
        yield f"l = {format_short(goals['l'])} ({goals['l_kind']}{more})"
    if "t" in goals:
        yield f"t = {format_short(goals['t'])} ({goals['t_kind']} distance)"
    if "alpha" in goals:
        yield f"alpha = {format_short(goals['alpha'])}"


def sample_words(parameters: Mapping[str, Any]) -> Iterator[str]:
    """What differential privacy promises, and who states what."""
    if "dp_epsilon" in parameters:
        pair = f"({parameters['dp_epsilon']:g}, {parameters['dp_delta']:g})"
        levels = "drawn levels" if "dp_search" in parameters else "fixed levels"
        yield (
            f"The rows are a random sample ({percent(parameters['dp_rate'])}) at {levels}: the maker states that. "
            f"The file is {pair}-differentially private for every row, since k is {parameters['k']:,} or more: that is "
            "recounted."
        )


def target_words(parameters: Mapping[str, Any]) -> Iterator[str]:
    """How much each column counts, where they are weighed by their use for a target; the heaviest come first."""
    if "target" in parameters:
        weights = sorted(parameters["weights"].items(), key=lambda pair: -pair[1])
        counts = ", ".join(f"{quote(column)} {weight:g}" for column, weight in weights)
        yield f"Columns count by their use for predicting {quote(parameters['target'])}: {counts}."


def quote(name: str) -> str:
    """A name inside a sentence, isolated: its letters do not turn the direction of the words around it."""
    return f"\u2068{name}\u2069"


def format_short(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share; what is nearly nothing or nearly all is not rounded to it."""
    if 0 < share < 0.001:
        return f"less than 0.1{SPACE}%"
    return f"more than 99.9{SPACE}%" if 0.999 < share < 1 else f"{format_short(100 * share)}{SPACE}%"
