"""Roles: what each column of a table is for, guessed with a reason and a confidence.

In: a table.  Out: a `Guess` for each column.  The owner decides; a guess is where the decision starts.

Evidence is weighed in this order.  Values that have the form of an identifier come first.  Then the name, where it
fits the values.  Then statistics: values that all differ, dates, columns that follow from one that is known, and two
values in the last column.  What nothing is known about is not published.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2

from kech.audit.roles.names import (
    GLUED,
    PART,
    STEM,
    Clue,
    counts_time,
    counts_years,
    is_participle,
    read_name,
    says_kind,
    says_number,
    says_period,
    says_state,
)
from kech.audit.roles.values import SURE, read_values
from kech.audit.roles.words import (
    MAY_BE_AMOUNTS,
    MONEY,
    NAME,
    NUMBER,
    OUTCOME,
    PLACE,
    PLACE_OF_LIFE,
    PLACES,
    TEXT,
    TIME_TO_EVENT,
    UNORDERED,
)
from kech.tables.engine import ColumnFacts
from kech.tables.person_names import names_people, names_things, split_words
from kech.tables.repeats import MOST_SHARE
from kech.tables.table import Table

SAMPLE = 1000  # distinct values that are looked at, about
FEW = 100  # distinct values of a column that looks like a category
FLAG = 2  # values of a column that says yes or no
LARGEST_DIGIT = 9
SMALL = 20  # rows, below which few values mean nothing
ROW_NUMBERS = 50  # rows from which on whole numbers that all differ are no measurements
FEWEST_NUMBERED = 0.1  # share of distinct values, up to which numbers are of kinds of things, not of people or rows
MOST_CODES = 20  # of an outcome, or of sex
HEAVIEST = 700  # weight or height of a person; beyond are weights of a survey
OLDEST = 130
SHORTEST_POSTCODE = 4
MAY_BE_RANDOM = 1e-6  # the probability that as many random rows are all of those to whom something happened
NEARLY_CONSTANT = 0.9  # share of the most frequent value, from which on a column follows from anything
MOST_PLACES, MOST_SCHOOL = 1000, 25  # codes of places; years that somebody went to school
MOST_PAIRS, MOST_PAIRED_ROWS = (60, 400), 2_000_000  # columns that are compared: at least, at most, and by rows
FEWEST_ALIKE, ALIKE = 3, 0.8  # sensitive columns with the same codes, and their share of the columns with them
FARTHEST, NEXT = 3, 2  # columns apart, that two may be which tell what stands between them; sensitive ones
FIRST_YEAR, LAST_YEAR = 1850, 2100
CODED_YEAR = 1000  # the least number that may be a year or a date
LARGE_UNKNOWN = frozenset(float(10**digits - less) for digits in range(3, 8) for less in (1, 2, 3))
ORDERED = ("age", "education")  # meanings whose codes have an order

YES_OR_NO = [
    {"0", "1"}, {"1", "2"}, {"y", "n"}, {"yes", "no"}, {"t", "f"}, {"true", "false"}, {"ja", "nein"}, {"j", "n"},
    {"ja", "nee"}, {"oui", "non"}, {"o", "n"}, {"si", "no"}, {"sí", "no"}, {"sì", "no"}, {"s", "n"}, {"sim", "não"},
    {"sim", "nao"},
]  # fmt: skip
LIKELY, POSSIBLE, FAINT = 0.7, 0.4, 0.2
BOTH_WAYS, ONE_WAY = "by where it is empty", "where it is not empty"
DATES, YEARS = "dates of a person are often known", "years of a person are often known"


@dataclass(frozen=True, slots=True)
class Guess:
    """The role of a column."""

    role: str
    reason: str
    confidence: float  # from 0 to 1; what the owner named has 1
    is_code: bool = False  # whole numbers that have no order


@dataclass(frozen=True, slots=True)
class Look:
    """What is known of the values of a column; PRIVATE."""

    facts: ColumnFacts
    texts: Sequence[str]  # a sample of its distinct values
    numbers: Sequence[float]  # the same as numbers, where all of it reads as numbers
    edge: str = ""  # "first" or "last" of the columns that number no rows

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.facts.rows - self.facts.nulls

    @property
    def share(self) -> float:
        """Distinct values by rows that have one."""
        return self.facts.distinct / self.present if self.present else 0.0

    @property
    def is_number(self) -> bool:
        """Whether every value reads as a number."""
        return 0 < self.present == self.facts.numbers

    @property
    def is_date(self) -> bool:
        """Whether every value is a date."""
        return 0 < self.present == self.facts.dates

    @property
    def is_flag(self) -> bool:
        """Whether it says no more than yes or no."""
        return self.facts.distinct <= FLAG and self.present > SMALL

    @property
    def says_yes_or_no(self) -> bool:
        """Whether its two values are words or codes for yes and no."""
        return self.is_flag and {text.strip().casefold() for text in self.texts} in YES_OR_NO

    @property
    def is_whole(self) -> bool:
        """Whether all of the sample are whole numbers."""
        return self.is_number and all(float(number).is_integer() for number in self.numbers)

    @property
    def largest(self) -> float:
        """The largest number of the sample, without codes such as 999 for what is not known."""
        return max((number for number in self.numbers if number not in LARGE_UNKNOWN), default=0.0)


def guess_roles(table: Table) -> dict[str, Guess]:
    """A guess for every column that was read."""
    edges = find_edges(table)
    looks = {name: look_at(table, name, edges.get(name, "")) for name in table.loaded}
    guesses = {name: drop_constant(guess_role(name, look), look) for name, look in looks.items()}
    guesses |= dict(follow_others(table, guesses, looks))
    guesses |= dict(compare_codes(guesses, looks))
    guesses |= dict(follow_times(guesses, looks))
    guesses |= dict(tell_outcomes(table, guesses, looks))
    guesses |= dict(follow_neighbours(guesses, looks))
    guesses |= point_at_somebody(guesses, looks)
    return {
        name: replace(
            each, is_code=each.is_code or says_one_of_two(each, looks[name]) or are_kinds(name, each, looks[name])
        )
        for name, each in guesses.items()
    }


def says_one_of_two(each: Guess, look: Look) -> bool:
    """Whether a quasi-identifier has two digits, which stand for yes and no: they become sets, and no intervals."""
    are_two = look.is_whole and look.facts.distinct == FLAG and look.present > SMALL
    return each.role == "quasi-identifier" and are_two and min(look.numbers) >= 0 and look.largest <= LARGEST_DIGIT


def are_kinds(column: str, each: Guess, look: Look) -> bool:
    """Whether a quasi-identifier numbers a few kinds of something, by its name: `injtype`, `ind_code`."""
    are_few = look.is_whole and 2 <= look.facts.distinct <= MOST_CODES
    is_ordered = any(clue.meaning.says in ORDERED for clue in read_name(column)[:1])
    return each.role == "quasi-identifier" and are_few and says_kind(column) and not is_ordered


def find_edges(table: Table) -> dict[str, str]:
    """The first and the last column, of those that do not number the rows."""
    facts = {name: table.facts(name) for name in table.loaded}
    others = [name for name, each in facts.items() if each.distinct < each.rows - each.nulls] or list(facts)
    return {others[0]: "first", others[-1]: "last"}


def drop_constant(first: Guess, look: Look) -> Guess:
    """A column that says the same of everybody is not published: it tells nothing, and no goal for it can be met."""
    is_constant = look.present > 1 and look.facts.distinct + (look.facts.nulls > 0) <= 1
    is_empty = look.facts.rows > 0 and not look.present
    if first.role == "identifier" or not (is_constant or is_empty):
        return first
    return guess("plain", "it is empty" if is_empty else "it says the same of every row", LIKELY)


def look_at(table: Table, column: str, edge: str) -> Look:
    """A sample of the values of a column, the same for equal values."""
    facts = table.facts(column)
    if facts.type == "other" or not facts.distinct:
        return Look(facts, [], [], edge)
    depth = max(0, int(log2(facts.distinct / SAMPLE))) if facts.distinct > SAMPLE else 0
    texts = sorted(table.hash_values(column, depth).texts)
    if table.request.input.fold_variants:
        texts = [text.upper() for text in texts]  # names, postcodes and codes are known by their capitals
    numbers = [read_number(text) for text in texts] if facts.numbers == facts.rows - facts.nulls else []
    return Look(facts, texts, numbers, edge)


def read_number(text: str) -> float:
    """A text that is known to be a number."""
    return float(text.strip())


def guess_role(column: str, look: Look) -> Guess:
    """What the values, the name and the statistics of one column say."""
    seen = None if look.is_number or look.is_date else read_values(look.texts, look.share)
    named = [clue for clue in read_name(column) if fits(clue, column, look)]
    by_name = named[0] if named else None
    if seen and seen.meaning.role == "identifier" and overrules(seen, by_name, look):
        return as_guess(seen, by_name)
    if look.is_date:
        about = by_name if by_name and by_name.meaning.role == "quasi-identifier" else None
        return as_guess(about, None) if about else guess("quasi-identifier", DATES, LIKELY)
    if by_name and by_name.confidence <= STEM and guess_event(column, look):
        by_name = None  # what happened is said more clearly than what the name sounds like
    if by_name and is_row_number(column, by_name, look):
        return guess("identifier", "every value is another whole number", LIKELY)
    if by_name and is_known_amount(column, by_name, look):
        return guess("quasi-identifier", "nearly every row has its own amount, and others can know it", LIKELY)
    if by_name and not is_unique_text(by_name, look):
        return replace(as_guess(by_name, seen), is_code=are_codes(column, by_name, look))
    return as_guess(seen, None) if seen else guess_by_counts(column, look)


def are_codes(column: str, by_name: Clue, look: Look) -> bool:
    """Whether few whole numbers stand for kinds of something, and do not count time; the name must be sure."""
    if not look.is_whole or by_name.confidence <= STEM or counts_time(column):
        return False
    says, least = by_name.meaning.says, min(look.numbers)
    are_years = says == PLACE_OF_LIFE and least != 1 and look.largest <= MOST_SCHOOL  # of school or of work
    most = MOST_PLACES if says in PLACES else FEW
    return says in UNORDERED and 2 <= look.facts.distinct <= most and not are_years


def overrules(seen: Clue, by_name: Clue | None, look: Look) -> bool:
    """Whether values say more than a name: their form is sure, they are free text, or the name is weak.

    Names of people are never published for what the column is called, as `suspect`, unless they are as few as
    candidates of an election.
    """
    if by_name is None or by_name.meaning.role == "identifier":
        return True
    are_people = seen.meaning.says == NAME and by_name.meaning.role == "sensitive" and look.facts.distinct > MOST_CODES
    return are_people or seen.confidence >= SURE or seen.meaning.says == TEXT or by_name.confidence < GLUED


def as_guess(clue: Clue, other: Clue | None) -> Guess:
    """A clue as a guess; another one that says the same makes it surer."""
    agrees = other is not None and other.meaning == clue.meaning
    doubt = (1 - clue.confidence) * (1 - other.confidence if agrees and other else 1)
    return guess(clue.meaning.role, clue.reason, 1 - doubt)


def guess(role: str, reason: str, confidence: float) -> Guess:
    """A guess whose confidence is rounded, and never certain."""
    return Guess(role, reason, min(0.99, round(confidence, 2)))


def guess_by_counts(column: str, look: Look) -> Guess:
    """What can be said of a column whose name and values say nothing."""
    facts = look.facts
    if (numbers_rows := guess_identifier(look)) is not None:
        return numbers_rows
    if look.is_number and counts_years(column) and (look.largest <= OLDEST or are_calendar_years(look)):
        return guess("quasi-identifier", YEARS, STEM)
    if (outcome := guess_outcome(column, look)) is not None:
        return outcome
    if 2 <= facts.distinct <= FEW and not look.is_number:
        return guess("quasi-identifier", f"a category of {facts.distinct} values", POSSIBLE)
    return guess("plain", "nothing known about it", POSSIBLE)


def guess_outcome(column: str, look: Look) -> Guess | None:
    """What a table may be about: whether something happened, or few values at its edge."""
    distinct, is_enough = look.facts.distinct, look.present > SMALL
    if (event := guess_event(column, look)) is not None:
        return event
    if look.says_yes_or_no and says_period(column):
        return guess("sensitive", "it says what happened within a time", STEM)
    if look.edge and distinct == FLAG and is_enough:
        return guess("sensitive", "two values in the first or last column are often an outcome", POSSIBLE)
    if look.edge == "last" and FLAG < distinct <= (MOST_CODES if look.is_whole else LARGEST_DIGIT) and is_enough:
        return guess("sensitive", "few values in the last column are often an outcome", POSSIBLE)
    return None


def guess_event(column: str, look: Look) -> Guess | None:
    """Whether something happened to somebody: yes or no."""
    is_state = says_state(column) and {*look.texts} != {"1", "2"}  # which number kinds: an event is 0 or 1
    if look.says_yes_or_no and (is_participle(column) or is_state):
        return guess("sensitive", "it says whether something happened", STEM)
    return None


def are_calendar_years(look: Look) -> bool:
    """Whether values are years of our time."""
    return look.is_whole and bool(look.numbers) and min(look.numbers) >= FIRST_YEAR and look.largest <= LAST_YEAR


def guess_identifier(look: Look) -> Guess | None:
    """Values that all differ, or nearly all texts, point at single rows."""
    is_counted = not look.is_number or (look.is_whole and look.present >= SMALL)
    if look.present > 1 and look.facts.distinct == look.present and is_counted:
        return guess("identifier", "every value is different", LIKELY if look.is_number else PART)
    if not look.is_number and look.present >= SMALL and look.share > MOST_SHARE:
        return guess("identifier", "nearly every value is different", LIKELY)
    return None


def is_unique_text(by_name: Clue, look: Look) -> bool:
    """Whether a column that would be published as it is names every row."""
    unique = look.present >= SMALL and look.share > MOST_SHARE
    lettered = sum(any(map(str.isalpha, text)) for text in look.texts)
    return by_name.meaning.role == "sensitive" and unique and lettered > len(look.texts) / 2


def is_row_number(column: str, by_name: Clue, look: Look) -> bool:
    """Whether a column that would be published as it is numbers the rows, as case and report numbers do."""
    is_unique = look.present >= ROW_NUMBERS and look.facts.distinct == look.present
    is_amount = by_name.meaning.says == MONEY and not says_number(column)
    return by_name.meaning.role == "sensitive" and not is_amount and look.is_whole and is_unique


def is_known_amount(column: str, by_name: Clue, look: Look) -> bool:
    """Whether an amount of money would point at its row, if it were published as it is: others paid or received it.

    It counts however it is written, as $1,200, and where one of its cells is no amount.
    """
    says, is_own = by_name.meaning.says, look.present >= SMALL and look.share > MOST_SHARE
    is_paid = says == OUTCOME and look.is_number and not MAY_BE_AMOUNTS.isdisjoint(split_words(column).split("_"))
    return (says == MONEY or is_paid) and is_own and not is_unique_text(by_name, look)


# -- whether values can be what a name says --------------------------------------------------------------


def fits(clue: Clue, column: str, look: Look) -> bool:
    """Whether the values can be what the name says."""
    if not look.present:
        return True
    says, is_weak = clue.meaning.says, clue.confidence < GLUED
    if clue.meaning.role == "identifier":
        return fits_identifier(clue, column, look, is_weak=is_weak)
    lengths = [len(text.strip()) for text in look.texts]
    checks = {
        "sex": look.facts.distinct <= MOST_CODES,
        "age": clue.confidence != GLUED or not look.is_number or look.largest <= OLDEST,
        "postcode": not is_weak or max(lengths, default=0) >= SHORTEST_POSTCODE,
        "coordinates": not is_weak or (look.is_number and not look.is_whole),
        "a date": not is_weak or look.is_date or has_digits(look),
        "the body": look.largest <= HEAVIEST,
        PLACE_OF_LIFE: not look.says_yes_or_no,
        OUTCOME: not is_weak or look.facts.distinct <= MOST_CODES or (look.edge == "last" and look.is_number),
        PLACE: not is_weak or not look.is_number or look.is_whole,
        TIME_TO_EVENT: measures(look),
    }
    return checks.get(says, True)


def fits_identifier(clue: Clue, column: str, look: Look, *, is_weak: bool) -> bool:
    """Whether values can be an identifier: no flag, no name that things share, no number where names are expected."""
    says = clue.meaning.says
    is_answer = look.is_flag and (says not in (NAME, TEXT) or look.is_number or look.says_yes_or_no)
    if is_answer or are_repeated_things(column, look.facts):
        return False
    is_few = look.present > SMALL and look.share <= FEWEST_NUMBERED
    if clue.confidence <= STEM and says != NUMBER and (look.is_number or (says != NAME and is_few)):
        return False
    if says == NAME:
        return look.facts.numbers < look.present / 2
    if says == NUMBER and not names_people(column) and look.present > SMALL:
        return look.share > (0.5 if is_weak else FEWEST_NUMBERED)
    return look.share > 0.5 if says == TEXT and is_weak else True


def has_digits(look: Look) -> bool:
    """Whether values can be dates or years that are written otherwise."""
    if look.is_number:
        return min(look.numbers, default=0.0) >= CODED_YEAR
    dated = sum(sum(map(str.isdecimal, text)) >= 4 for text in look.texts)
    return dated >= MOST_SHARE * len(look.texts)


def are_repeated_things(column: str, facts: ColumnFacts) -> bool:
    """Whether a name such as `region_name` or `store_id` stands for things that many rows share."""
    return names_things(column) and facts.distinct <= MOST_SHARE * (facts.rows - facts.nulls)


# -- columns that follow from others ---------------------------------------------------------------------


def follow_others(table: Table, guesses: Mapping[str, Guess], looks: Mapping[str, Look]) -> Iterator[tuple[str, Guess]]:
    """Columns of which little is known, and that follow from a quasi-identifier, as an age group from age.

    The other way round as well: a column from which a quasi-identifier follows tells at least as much.
    """
    known = [name for name, each in guesses.items() if each.role == "quasi-identifier" and each.confidence >= GLUED]
    known = [name for name in known if repeats(looks[name])]
    open_ones = [name for name, each in guesses.items() if each.confidence <= POSSIBLE and repeats(looks[name])]
    pairs = [(name, other) for name in open_ones for other in known][: count_pairs(table)]
    explained: set[str] = set()
    for name, other in pairs:
        if name not in explained and (reason := compare(table, name, other, looks)):
            explained.add(name)
            yield name, guess("quasi-identifier", reason, LIKELY)


def count_pairs(table: Table) -> int:
    """How many pairs of columns are compared: few where there are many rows."""
    least, most = MOST_PAIRS
    return max(least, min(most, MOST_PAIRED_ROWS // max(1, table.rows)))


def compare_codes(guesses: Mapping[str, Guess], looks: Mapping[str, Look]) -> Iterator[tuple[str, Guess]]:
    """Columns of which nothing is known, whose codes are those of sensitive ones and of hardly another column."""
    known: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for name, each in guesses.items():
        if each.confidence >= STEM:
            known.setdefault(tuple(looks[name].texts), []).append((name, each.role))
    for name, each in guesses.items():
        alike = known.get(tuple(looks[name].texts), [])
        sensitive = [other for other, role in alike if role == "sensitive"]
        is_open = each.confidence <= POSSIBLE and 2 <= looks[name].facts.distinct <= MOST_CODES
        if is_open and len(sensitive) >= max(FEWEST_ALIKE, ALIKE * len(alike)):
            reason = f"it has the same values as {sensitive[0]!r} and {len(sensitive) - 1} other sensitive columns"
            yield name, guess("sensitive", reason, POSSIBLE)


def follow_times(guesses: Mapping[str, Guess], looks: Mapping[str, Look]) -> Iterator[tuple[str, Guess]]:
    """Flags of which little is known, beside a time until something happened: they say whether it did.

    Tables of survival write them side by side (`time`, `x`), or with one ending (`t1`, `d1`).
    """
    names = list(guesses)
    for place, name in enumerate(names):
        beside = [*names[max(0, place - 1) : place], *names[place + 1 : place + 2]]
        times = [other for other in beside if times_event(other, looks[other])]
        twin = "t" + name[1:].casefold()
        times += [other for other in names if other.casefold() == twin != name.casefold() and measures(looks[other])]
        if times and looks[name].is_flag and guesses[name].confidence <= STEM and len(twin) >= 2:
            yield name, guess("sensitive", f"it seems to say whether what {times[0]!r} times has happened", STEM)


def tell_outcomes(table: Table, guesses: Mapping[str, Guess], looks: Mapping[str, Look]) -> Iterator[tuple[str, Guess]]:
    """Columns of which little is known, and that only those have to whom something happened: causes of death.

    Where they have many values, as dates of what happened, they are not published.  Flags that follow from them both
    ways come last, and so count.
    """
    flags = [name for name, each in guesses.items() if each.role == "sensitive" and looks[name].is_flag]
    flags = [name for name in flags if not looks[name].facts.nulls]
    known = {name for name, each in guesses.items() if each.confidence > POSSIBLE and not says_time(each)}
    open_ones = [name for name in guesses if name not in known and looks[name].facts.nulls]
    pairs = [(name, flag) for name in open_ones for flag in flags][: count_pairs(table)]
    outcomes = [(name, flag, tell_flag(table, name, flag)) for name, flag in pairs if table.rows > FEW]
    for name, flag, where in sorted(outcomes, key=lambda each: each[2] == BOTH_WAYS):
        if where:
            role = "sensitive" if looks[name].facts.distinct < FEW else "plain"
            yield name, guess(role, f"it tells {flag!r}, {where}", STEM)


def tell_flag(table: Table, name: str, flag: str) -> str | None:
    """Where a column tells a flag: only rows with one of its values have a value there, and hardly by chance."""
    groups = table.engine.count_by_value(table.index(name), table.index(flag))
    having = [(rows, present) for rows, present in groups if present]
    if len(groups) != FLAG or len(having) != 1:
        return None
    ((rows, present),) = having
    if (rows / table.rows) ** present > MAY_BE_RANDOM:
        return None
    return BOTH_WAYS if present == rows else ONE_WAY


def says_time(guess: Guess) -> bool:
    """Whether a guess rests on nothing but that values are dates or years."""
    return guess.reason in (DATES, YEARS)


def times_event(column: str, look: Look) -> bool:
    """Whether a column says how long it took until something happened."""
    return measures(look) and any(clue.meaning.says == TIME_TO_EVENT for clue in read_name(column)[:1])


def measures(look: Look) -> bool:
    """Whether values are numbers, and too many to be codes."""
    return look.is_number and look.facts.distinct > MOST_CODES


def follow_neighbours(guesses: Mapping[str, Guess], looks: Mapping[str, Look]) -> Iterator[tuple[str, Guess]]:
    """Columns of which nothing is known, between two of one role: tables put like beside like."""
    names = list(guesses)
    known = [place for place, name in enumerate(names) if is_known(guesses[name])]
    for place, name in enumerate(names):
        before = max((other for other in known if other < place), default=None)
        after = min((other for other in known if other > place), default=None)
        if is_known(guesses[name]) or before is None or after is None or after - before > FARTHEST:
            continue
        (role, *other) = {guesses[names[before]].role, guesses[names[after]].role}
        is_alike = role == "quasi-identifier" or (
            role == "sensitive" and after - before == NEXT and is_coded(looks[name])
        )
        if not other and is_alike and 2 <= looks[name].facts.distinct <= FEW:
            reason = f"it stands between {names[before]!r} and {names[after]!r}"
            yield name, guess(role, reason, POSSIBLE)


def is_known(guess: Guess) -> bool:
    """Whether something speaks for a guess beside that its values are few."""
    return guess.confidence > POSSIBLE or guess.role == "sensitive"


def is_coded(look: Look) -> bool:
    """Whether values are numbers, or no more than yes or no: a category in words is easier to know."""
    return look.is_number or look.says_yes_or_no


def repeats(look: Look) -> bool:
    """Whether values repeat, so that following from another column means something."""
    return 2 <= look.facts.distinct <= look.present / 2 and look.present >= SMALL and not look.facts.nulls


def compare(table: Table, name: str, other: str, looks: Mapping[str, Look]) -> str | None:
    """Whether one of two columns follows from the other."""
    fewer, more = sorted((looks[name].facts.distinct, looks[other].facts.distinct))
    together, _, most = table.engine.count_repeats([table.index(name), table.index(other)])
    if together != more or most > NEARLY_CONSTANT * looks[name].present:
        return None
    column = name if looks[name].facts.distinct == fewer else other
    if column == other and looks[name].share > FEWEST_NUMBERED:
        return None  # what numbers rows or people tells everything about them
    _, _, frequent = table.engine.count_repeats([table.index(column)])
    if frequent > NEARLY_CONSTANT * looks[name].present:
        return None
    return f"it follows from {other!r}" if column == name else f"{other!r} follows from it"


def point_at_somebody(guesses: Mapping[str, Guess], looks: Mapping[str, Look]) -> dict[str, Guess]:
    """Where no column seems to point at a person, the ones that could: k needs a column."""
    roles = {each.role for each in guesses.values()}
    if "quasi-identifier" in roles:
        return {}
    reason = "no column seems to point at a person; this one could"
    for role, most, surest in (
        ("plain", FEW, 1),
        ("plain", None, 1),
        ("sensitive", None, POSSIBLE),
        ("sensitive", None, 1),
    ):
        candidates = [
            name
            for name, each in guesses.items()
            if each.role == role
            and each.confidence <= surest
            and 2 <= looks[name].facts.distinct <= (most or looks[name].facts.rows)
        ]
        if candidates:
            return {name: guess("quasi-identifier", reason, FAINT) for name in candidates}
    return {}
