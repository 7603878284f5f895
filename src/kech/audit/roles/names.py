"""Names: what the name of a column says about it.

In: the name of a column.  Out: `Clue`s, the best first, each with a meaning and a confidence.

A name is taken apart at spaces, signs, digits and capitals, and accents are dropped.  Words and phrases of the list
are looked for, the longest first; a word that is written together with others counts if all parts are words, so
`birthcontrol` is birth control and not birth.  Then a word may be cut short (`bundesl`), drawn out (`alcoholism`) or
bent (`survivor`), and an ending may name a disease (`bronchitis`).  Last, a word may be spelled as in another language
(`kolesterol`) or with one letter amiss (`Handcap`), or a long word may begin or end with one of the list.  Surveys cut
several words short and write them together (`staciv`), or drop vowels (`wrkstat`).
Of several words the last counts, as in `patient_age`, or the one before
a preposition, as in `age_at_diagnosis`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from kech.audit.roles.words import FILLERS, MEANINGS, PREPOSITIONS, Meaning
from kech.tables.person_names import split_words

LONGEST_PHRASE = 5  # words
VOWELS = frozenset("aeiou")
SHORTEST_PART = 3  # letters of a word that is written together with others
SHORTEST_STEM, SHORTEST_SHARED = 4, 6  # letters of a word that is cut short, and that two words begin with
SHORTEST_AMISS = 6  # letters of a word that may have one letter amiss
SHORTEST_HEAD, HEAD = 6, 0.5  # letters of a word that a longer one begins or ends with, and its share of that one
SPELLINGS = (  # the same sound in other languages
    ("ph", "f"), ("th", "t"), ("rh", "r"), ("ck", "k"), ("qu", "k"), ("ch", "k"), ("c", "k"), ("y", "i"), ("z", "s"),
    ("ae", "e"), ("oe", "e"), ("ue", "u"), ("x", "s"), ("w", "v"), ("j", "i"),
)  # fmt: skip
SHARED = 0.6  # of both words, that they begin with
DISEASE = re.compile(  # and what is measured in blood
    "[a-z]{3,}(itis|a?emia|a?emie|osis|opathy|opathie|opatia|algia|algie|uria|plegia|iasis|penia|oma"
    "|transferase|phosphatase|kinase|globulin|protein)"
)
PARTICIPLE = re.compile(  # what happened to somebody, in the seven languages; accents count
    "[a-z]{3,}ed|(?:ge|ver|be|ent|er|zer)[a-zäöü]{3,}(?:t|en)|[a-zéèêç]{3,}ée?|[a-zçãíé]{2,}[aiu]d[oa]"
    "|[a-z]{3,}(?:[aiu]t[oa]|so|sa)|(?:ge|ont|ver)[a-z]{3,}[dt]"
    "|(?:aan|ab|af|an|auf|aus|bei|bij|dar|door|durch|ein|fort|heim|her|hin|in|los|mee|mit|na|nach|nieder|om|op|teil|toe"
    "|uit|um|vor|weg|zu)ge[a-zäöü]{3,}(?:[dt]|en)"  # separable, as in `ingediend`, and not as in `management`
)
PERIOD = re.compile(  # days, weeks, months or years, in the seven languages
    "(?=[^\\W\\d_]{3}).*(?:[_. -]|[^\\W\\d_]{3})(?![23]d$)[0-9]{1,3}[_. -]?"  # `room3d` has dimensions
    "(d|days?|tage?|t|jours?|j|dias?|giorni|g|dagen|w|wks?|weeks?|wochen?|m|mo|months?|monate?n?|mois|meses|mesi|maanden"
    "|y|yrs?|years?|jahre?n?|ans?|anos?|anni|jaar)"
)
SURVEY_PREFIXES = "xhrqmfdivpsln"  # single letters before the word: xage, hsex, rrace; lwage is its logarithm
CODE_SUFFIXES = ("fl", "cd")  # flags and codes: dthfl, statecd
HEAD_OF_HOUSEHOLD = "hh"  # hhsex
LINK = "s"  # between the words of a German or Dutch compound
SURVEY_SUFFIXES = "pdr"  # and behind it: aged, sexp, racer
NUMBERS = ("num", "nr", "no", "number", "numero", "nummer", "id")
KINDS = ("type", "typ", "tipo", "tipus", "soort", "kind", "code", "codigo", "codice")
RATES, YEARS = ("rate", "rates", "rated", "rating"), ("years", "yrs", "jahre", "annees", "anos", "anni", "jaren")
SPANS = "in at on since until to with"
TIMES = """
    days weeks months nights tage wochen monate nachte jours semaines mois nuits dias semanas meses noches giorni
    settimane mesi notti dagen weken maanden nachten noites
"""
WHOLE, PART, GLUED = 0.95, 0.8, 0.7  # a phrase is the whole name, a part of it, or written together with other words
STEM = 0.5
SHORTEST_CUT = 3  # letters of each of several words that are cut short
SHORTEST_BEHIND_LETTER = 5  # letters of a word behind a single one
WEAK = 0.6  # of that for a word that can mean something else
NAME_SAYS = "its name says"  # how the reason of a clue begins that names a word of the list


@dataclass(frozen=True, slots=True)
class Clue:
    """What a name or values say about a column, and how sure that is."""

    meaning: Meaning
    confidence: float
    reason: str


def read_name(column: str) -> list[Clue]:
    """All that the name of a column can mean, the likeliest first.

    >>> [read_name(name)[0].meaning.says for name in ("Geburtsdatum", "birthcontrol", "xage", "age_at_diagnosis")]
    ['birth', 'health', 'age', 'age']
    >>> read_name("zzz")
    []
    """
    words = split_words(column).split("_")
    clues = (
        list(find_rating(words)) or list(find_phrases(words)) or [clue for word in words for clue in find_parts(word)]
    )
    clues = clues or [clue for word in words for clue in find_stem(word)]
    clues = clues or [clue for word in words for clue in find_alike(word)]
    clues = clues or [clue for word in dict.fromkeys(("".join(words), *words)) for clue in find_cut(word)]
    clues = clues or [clue for word in words for clue in find_behind_letter(word)]
    best = sorted(clues, key=lambda each: -each[0])
    return [clue for _, clue in best]


def find_rating(words: list[str]) -> Iterator[tuple[float, Clue]]:
    """What somebody thinks of the thing that is named: `rate_marriage`, and not `birth_rate`."""
    if words[0] in RATES and len(words) > 1:
        yield 0, Clue(vocabulary()["evaluation"][0], PART, f"{NAME_SAYS} that somebody rates it")


def find_phrases(words: list[str]) -> Iterator[tuple[float, Clue]]:
    """Words and phrases of the list that stand in the name, with a rank."""
    preposition = next((index for index, word in enumerate(words) if index and word in PREPOSITIONS), None)
    for length in range(min(LONGEST_PHRASE, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            entry = find_word("".join(words[start : start + length]))
            if entry is not None:
                meaning, weak = entry
                if weak and length < len(words) and words[start] in FILLERS:
                    continue  # `first` alone is a name, and `level_first` is not
                rest = [word for word in (*words[:start], *words[start + length :]) if not is_filler(word)]
                before = preposition is not None and start < preposition
                rank = 10 * (not weak) + 2 * length + (1 + before) * (start + 1 if not before else len(words)) / 20
                share = PART if rest else WHOLE
                yield rank, Clue(meaning, share * (WEAK if weak else 1), f"{NAME_SAYS} {meaning.says}")


def find_word(text: str) -> tuple[Meaning, bool] | None:
    """The meaning of a word or phrase without its spaces, and whether it is weak; digits behind it do not matter."""
    return vocabulary().get(text) or vocabulary().get(text.rstrip("0123456789"))


def is_filler(word: str) -> bool:
    """Whether a word adds nothing to the others."""
    return word in FILLERS or word.isdecimal() or word in PREPOSITIONS


def find_parts(word: str) -> Iterator[tuple[float, Clue]]:
    """Words of the list that a longer one is made of, where all the rest is words too."""
    for parts in split_compound(word.strip("0123456789")):
        for index, part in enumerate(parts):
            entry = vocabulary().get(part)
            if entry is not None and not entry[1]:
                yield len(part) + index / 10, Clue(entry[0], GLUED, f"its name seems to say {entry[0].says}")


def find_stem(word: str) -> Iterator[tuple[float, Clue]]:
    """What a word means that begins as words with one meaning do, or that ends as diseases do.

    >>> [clue.meaning.says for name in ("bundesl", "survivor", "house", "nephritis") for _, clue in find_stem(name)]
    ['a place', 'an outcome', 'health']
    """
    plain = word.strip("0123456789")
    if len(plain) < SHORTEST_STEM or is_filler(plain):
        return
    meanings = {meaning for text, meaning in single_words().items() if begin_alike(plain, text)}
    if not meanings and DISEASE.fullmatch(plain):
        meanings = {vocabulary()["disease"][0]}
    yield from agree(meanings, len(plain))


def agree(meanings: Iterable[Meaning], rank: float) -> Iterator[tuple[float, Clue]]:
    """What words mean that a name may stand for, where all have one role."""
    ordered = sorted(meanings, key=MEANINGS.index)
    if len({meaning.role for meaning in ordered}) == 1:
        yield rank, Clue(ordered[0], STEM, f"its name seems to say {ordered[0].says}")


def begin_alike(word: str, known: str) -> bool:
    """Whether a word is the beginning of a known one, or both are alike but for their endings."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, known, strict=False)))
    return shared == len(word) or (shared >= SHORTEST_SHARED and shared >= SHARED * max(len(word), len(known)))


def find_alike(word: str) -> Iterator[tuple[float, Clue]]:
    """What a word means that sounds like one of the list, but for one letter, or that begins or ends with one.

    >>> [clue.meaning.says for name in ("kolesterol", "Handcap", "storage") for _, clue in find_alike(name.lower())]
    ['health', 'health']
    """
    plain = word.strip("0123456789")
    if is_filler(plain):
        return
    meanings = meanings_by_sound().get(sound_of(plain), set()) or {
        meaning for letters in omit_letter(sound_of(plain)) for meaning in meanings_by_near_sound().get(letters, ())
    }
    yield from agree(meanings or set(find_heads(plain)), len(plain))


def find_heads(word: str) -> Iterator[Meaning]:
    """The meanings of listed words that are at least half of a long word, at its end or at its beginning."""
    for text, meaning in single_words().items():
        if len(text) >= max(SHORTEST_HEAD, HEAD * len(word)) and (word.endswith(text) or word.startswith(text)):
            yield meaning


def find_cut(word: str) -> Iterator[tuple[float, Clue]]:
    """What a name means that joins words which are cut short or lack their vowels.

    >>> [clue.meaning.says for name in ("staciv", "cantville", "wrkstat", "window") for _, clue in find_cut(name)]
    ['marital status', 'a place', 'work']
    """
    plain = re.sub("[0-9]+[a-z]?$", "", word)
    phrases = {meaning for parts, meaning in phrases_of_list() if joins_beginnings(plain, parts)}
    yield from agree(phrases, len(plain))
    for cut in () if phrases else range(SHORTEST_CUT, len(plain) - SHORTEST_CUT + 1):
        head, tail = expand(plain[:cut]), expand(plain[cut:])
        if head and tail:
            yield from agree(set(filter(None, tail)) or set(filter(None, head)), cut)


def find_behind_letter(word: str) -> Iterator[tuple[float, Clue]]:
    """What a word means that stands behind one letter, weak words too: `tgrade`."""
    entry = vocabulary().get(word[1:]) if len(word) > SHORTEST_BEHIND_LETTER else None
    if entry is not None:
        yield len(word), Clue(entry[0], STEM, f"its name seems to say {entry[0].says}")


def counts_years(column: str) -> bool:
    """Whether a name counts years of something: `yrs.since.phd`, `years_here`, `yronset`.

    >>> [counts_years(name) for name in ("yrs.since.phd", "YearsMember", "yronset", "year", "styrene")]
    [True, True, True, False, False]
    """
    words = split_words(column).split("_")
    return any(word in YEARS or word.startswith(("yrs", "yr")) for word in words) and words not in (["year"], ["yr"])


def counts_time(column: str) -> bool:
    """Whether a name counts days, weeks, months or years of something, or says for how long or since when.

    >>> [counts_time(name) for name in ("months_in_school", "yrs.since.phd", "time_at_home", "month", "day")]
    [True, True, True, False, False]
    """
    words = split_words(column).split("_")
    is_span = words[0] == "time" and words[1:2] in ([word] for word in SPANS.split())
    return counts_years(column) or is_span or (len(words) > 1 and any(word in TIMES.split() for word in words))


def says_number(column: str) -> bool:
    """Whether a name says that something is numbered: `num_salarie`, `Fall-Nr.`; a count says so too.

    >>> [says_number(name) for name in ("num_salarie", "Fall-Nr.", "salary", "number")]
    [True, True, False, False]
    """
    words = split_words(column).split("_")
    return len(words) > 1 and (words[0] in NUMBERS or words[-1] in NUMBERS)


def says_kind(column: str) -> bool:
    """Whether a name ends in a word for kinds of something, or for their codes.

    >>> [says_kind(name) for name in ("injtype", "ind_code", "Tipo", "Kostentyp", "types", "age")]
    [True, True, True, True, False, False]
    """
    return split_words(column).endswith(KINDS)


def says_state(column: str) -> bool:
    """Whether a name ends in what became of somebody: `linkstatus`, `fstat`; words that are known come before it.

    >>> [says_state(name) for name in ("linkstatus", "dstat", "static", "status")]
    [True, True, False, False]
    """
    return re.fullmatch("[a-z]+_?(status|stat|stt)", column.casefold()) is not None


def says_period(column: str) -> bool:
    """Whether a name ends in a time after which somebody looked again: `Revision_30T`, `radiologic_6m`.

    >>> [says_period(name) for name in ("Revision_30T", "falls_12months", "suivi_1an", "bp2", "wave_3", "30d")]
    [True, True, True, False, False, False]
    >>> [says_period(name) for name in ("death30d", "falls_2days", "vitamin_b12d", "room2d")]
    [True, True, False, False]
    """
    return PERIOD.fullmatch(column.casefold()) is not None


def is_participle(column: str) -> bool:
    """Whether a word of a name says that something happened.

    >>> [is_participle(name) for name in ("readmitted", "Gekündigt", "résilié", "desahuciada", "ingediend", "zone")]
    [True, True, True, True, True, False]
    >>> [is_participle(name) for name in ("abgebrochen", "management", "engagement", "judgement", "pflegegeld")]
    [True, False, False, False, False]
    """
    return any(PARTICIPLE.fullmatch(word) for word in re.findall("[^\\W\\d_]+", column.casefold()))


def joins_beginnings(word: str, parts: Sequence[str]) -> bool:
    """Whether a word is made of the beginnings of these words, three letters or more of each."""
    if not parts:
        return not word
    longest = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, parts[0], strict=False)))
    return any(joins_beginnings(word[size:], parts[1:]) for size in range(SHORTEST_CUT, longest + 1))


def expand(part: str) -> set[Meaning | None]:
    """Meanings of the words that a part may be the beginning or the consonants of; None stands for a filler."""
    if part in FILLERS or (len(part) > SHORTEST_CUT and any(filler.startswith(part) for filler in FILLERS)):
        return {None}
    known = single_words()
    if part in known:
        return {known[part]}
    if not set(part) & VOWELS:
        return {meaning for text, (meaning, _) in vocabulary().items() if skeleton_of(text) == part}
    return {meaning for text, meaning in known.items() if len(part) > SHORTEST_CUT and text.startswith(part)}


@cache
def skeleton_of(word: str) -> str:
    """The consonants of a word."""
    return "".join(letter for letter in word if letter not in VOWELS)


@cache
def phrases_of_list() -> list[tuple[list[str], Meaning]]:
    """The phrases of the list, as words."""
    phrases = [(word.split("_"), meaning) for meaning in MEANINGS for word in meaning.words.split() if "_" in word]
    return [(parts, meaning) for parts, meaning in phrases if not parts[0].startswith("~")]


def sound_of(word: str) -> str:
    """A word without what languages spell differently.

    >>> sound_of("pneumonia") == sound_of("neumonia"), sound_of("asthma") == sound_of("asma")
    (True, True)
    """
    for written, heard in SPELLINGS:
        word = word.replace(written, heard)
    word = re.sub(r"(.)\1", r"\1", word)
    return re.sub("^(p(?=[ns])|h)", "", word).rstrip("aeos").replace("stm", "sm")


def omit_letter(sound: str) -> list[str]:
    """A sound, and itself without each of its letters."""
    if len(sound) < SHORTEST_AMISS:
        return []
    return [sound, *(sound[:place] + sound[place + 1 :] for place in range(len(sound)))]


@cache
def meanings_by_sound() -> dict[str, set[Meaning]]:
    """Meanings by sound, of words that are long enough to be known by it."""
    by_sound: dict[str, set[Meaning]] = {}
    for text, meaning in single_words().items():
        if len(sound_of(text)) >= SHORTEST_PART:
            by_sound.setdefault(sound_of(text), set()).add(meaning)
    return by_sound


@cache
def meanings_by_near_sound() -> dict[str, set[Meaning]]:
    """Meanings by sounds, and by sounds that lack one letter."""
    by_sound: dict[str, set[Meaning]] = {}
    for sound, meanings in meanings_by_sound().items():
        for letters in omit_letter(sound):
            by_sound.setdefault(letters, set()).update(meanings)
    return by_sound


def split_compound(word: str) -> list[list[str]]:
    """The ways to read a word as words of the list and fillers, with the fewest parts.

    >>> split_compound("xage"), split_compound("homezipcode"), split_compound("storage")
    ([['x', 'age']], [['home', 'zipcode']], [])
    """
    ways: list[list[list[str]]] = [[[]], *([] for _ in word)]
    for end in range(1, len(word) + 1):
        readings = [[*way, word[start:end]] for start in range(end) if is_part(word, start, end) for way in ways[start]]
        fewest = min(map(len, readings), default=0)
        ways[end] = [way for way in readings if len(way) == fewest]
    return ways[-1] if word else []


def is_part(word: str, start: int, end: int) -> bool:
    """Whether a stretch of a word is a word of its own."""
    part = word[start:end]
    if end - start < SHORTEST_PART:
        before = start == 0 and part in (*SURVEY_PREFIXES, HEAD_OF_HOUSEHOLD) and len(word) - end >= SHORTEST_PART
        links = part == LINK and start >= SHORTEST_PART and len(word) - end >= SHORTEST_PART
        return (
            before
            or links
            or (end == len(word) and part in (*SURVEY_SUFFIXES, *CODE_SUFFIXES) and start >= SHORTEST_PART)
        )
    entry = vocabulary().get(part)
    return part in FILLERS or (entry is not None and not entry[1])


@cache
def vocabulary() -> dict[str, tuple[Meaning, bool]]:
    """Every word and phrase without its spaces, with what it means; the first meaning of a word counts."""
    meanings: dict[str, tuple[Meaning, bool]] = {}
    for meaning in MEANINGS:
        for word in meaning.words.split():
            meanings.setdefault(re.sub("[~_]", "", word), (meaning, word.startswith("~")))
    return meanings


@cache
def single_words() -> dict[str, Meaning]:
    """The words of the list that are no phrases and not weak."""
    phrases = {word.replace("_", "") for meaning in MEANINGS for word in meaning.words.split() if "_" in word}
    return {text: meaning for text, (meaning, weak) in vocabulary().items() if not weak and text not in phrases}
