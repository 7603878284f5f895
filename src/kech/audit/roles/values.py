"""Values: what the values of a column say about it, whatever its name is.

In: distinct values as text, a sample of them.  Out: a `Clue`, or none.  No value leaves this module.

Forms are checked by their own rules: an IBAN and a card by their check digits, an IP address by the standard library.
Larger libraries were looked at: numbers of telephones and of citizens mostly have a form or a name that tells, and
whatever is unique is an identifier anyhow.
"""

import re
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from kech.audit.roles.given_names import KNOWN
from kech.audit.roles.names import Clue
from kech.audit.roles.words import (
    ADDRESSES,
    IDENTIFIERS,
    NAME,
    NET,
    OUTCOME,
    QUASI_IDENTIFIERS,
    SENSITIVE,
    TEXT,
    Meaning,
)
from kech.tables.person_names import split_words

MOSTLY = 0.8  # share of values with a form
SURE, LIKELY = 0.95, 0.75
KNOWN_NAMES = 0.3  # share of values that hold a name of the lists, where all look like names
KNOWN_SMALL = 0.6  # the same where all are written in small letters, as common words are
FREE_WORDS, FREE_LETTERS = 5, 30  # of a value on average, from which on it is free text
ICD_DOTS, ICD_LETTERS = 0.2, 8  # share with a dot, or different first letters: cabins of a ship have neither

MOST_EVENTS = 20  # values of a column that says what happened
EVENT_WORDS = """
    death died dead deceased alive survived relapse relapsed recurrence remission recovered cured progression
    improved worsened passed failed fail withdrawn dropout denied approved rejected accepted convicted acquitted
    arrested completed discontinued dismissed settled evicted guilty hired resigned fired terminated defaulted
    churned readmitted discharged hospitalized tot gestorben verstorben lebend genesen geheilt bestanden
    durchgefallen abgelehnt bewilligt gekuendigt gekundigt entlassen decede decedee vivant gueri refuse accepte
    demission licencie reussi fallecido fallecida vivo curado aprobado suspenso rechazado concedido despedido
    renuncia deceduto deceduta guarito promosso bocciato respinto accolto dimissioni licenziato overleden levend
    hersteld genezen geslaagd gezakt afgewezen toegekend ontslagen falecido obito recuperado aprovado reprovado
    indeferido deferido demitido
"""
EVENTS = frozenset(EVENT_WORDS.split())

EMAIL = re.compile(r"[\w.+'-]+@[\w-]+(\.[\w-]+)+")
URL = re.compile(r"(https?://|www\.)\S+", re.I)
HASH = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}", re.I)
MAC = re.compile(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.I)
PHONE = re.compile(r"(\+|00|\(?0)[\d ()./-]{6,20}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}")
IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
CARD = re.compile(r"\d{13,19}")
OFFICIAL = re.compile(
    r"\d{3}-\d{2}-\d{4}"  # United States
    r"|[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]"  # Italy
    r"|\d{8}[A-HJ-NP-TV-Z]|[XYZ]\d{7}[A-HJ-NP-TV-Z]"  # Spain
    r"|[12] ?\d{2} ?(0[1-9]|1[0-2]) ?\d[0-9AB] ?\d{3} ?\d{3}( ?\d{2})?"  # France
    r"|\d{3}\.\d{3}\.\d{3}-\d{2}"  # Brazil
    r"|\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}"  # Belgium
    r"|[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]"  # United Kingdom
)
POSTCODES = re.compile(
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"  # United Kingdom
    r"|[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d"  # Canada
    r"|[1-9]\d{3} ?[A-Z]{2}"  # Netherlands
    r"|\d{4}-\d{3}"  # Portugal
    r"|\d{5}-\d{3}"  # Brazil
    r"|\d{5}-\d{4}"  # United States
    r"|\d{2}-\d{3}"  # Poland
    r"|\d{3} \d{2}"  # Sweden, Czechia
    r"|(AD|B|CH|D|F|I|L|A)-\d{4,5}"  # with the sign of the country
)
STREET = re.compile(  # with a number
    r".{3,}(stra(ß|ss)e|str\.?|weg|platz|allee|gasse|damm|ufer|straat|laan|plein|gracht|kade) ?\d+ ?[a-z]?"
    r"|\d+[a-z]?,? .*\b(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|terrace)\b.*"
    r"|\d+[a-z]?,? (rue|avenue|boulevard|bd|place|chemin|impasse|allée|quai)\b.*"
    r"|(calle|avenida|av\.?|plaza|paseo|via|viale|piazza|corso|vicolo|rua|travessa|praça) .*\d+.*",
    re.I,
)
ICD = re.compile(r"[A-TV-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?")
POINT = re.compile(r"\(?-?\d{1,3}\.\d{3,}[,; ]+-?\d{1,3}\.\d{3,}\)?")
PERSON = re.compile(r"[^\W\d_][\w'’.-]*([ ,]+[^\W\d_][\w'’.()\"-]*){0,6}")


def read_values(texts: Sequence[str], share: float) -> Clue | None:
    """What most values of a column are; `share` is how many of the rows have a value of their own."""
    present = [text.strip() for text in texts if text.strip()]
    if not present:
        return None
    for says, form, confidence in FORMS:
        if sum(bool(form(text)) for text in present) >= MOSTLY * len(present):
            return Clue(MEANING_OF[says], confidence, f"its values look like {says}")
    return read_health(present) or read_names(present, share)


def read_health(present: Sequence[str]) -> Clue | None:
    """Codes of diseases, or words for what happened to somebody."""
    if is_icd(present):
        return Clue(MEANING_OF["health"], SURE, "its values look like codes of ICD-10")
    if len(present) <= MOST_EVENTS and 2 * sum(map(tells_event, present)) >= len(present):
        return Clue(MEANING_OF[OUTCOME], LIKELY, "its values say what happened to somebody")
    return None


def read_names(present: Sequence[str], share: float) -> Clue | None:
    """Names of people, or free text."""
    if are_people(present):
        return Clue(MEANING_OF[NAME], LIKELY, f"its values look like {NAME}")
    if is_free_text(present) and share > 0.5:
        return Clue(MEANING_OF[TEXT], LIKELY, f"its values look like {TEXT}")
    return None


def is_ip(text: str) -> bool:
    """Whether a text is an address of the net; a bare number is none."""
    try:
        return bool(ip_address(text)) and ("." in text or ":" in text)
    except ValueError:
        return False


def is_iban(text: str) -> bool:
    """Whether a text is an IBAN: its check digits fit (ISO 13616).

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    plain = text.replace(" ", "").upper()
    if not IBAN.fullmatch(plain):
        return False
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Whether a text is the number of a card: its last digit fits (ISO/IEC 7812).

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
    (True, False)
    """
    plain = re.sub("[ -]", "", text)
    if not CARD.fullmatch(plain):
        return False
    doubled = [int(digit) * (1 + index % 2) for index, digit in enumerate(reversed(plain))]
    return sum(digit // 10 + digit % 10 for digit in doubled) % 10 == 0


def is_phone(text: str) -> bool:
    """Whether a text has the form of a telephone number: signs between its digits, a plus, or a leading zero."""
    digits = sum(map(str.isdecimal, text))
    written = not text.isdecimal() or text.startswith("00") or digits >= 9
    return bool(PHONE.fullmatch(text)) and 7 <= digits <= 15 and written and not re.fullmatch(r"\d+\.\d+", text)


def is_icd(texts: Sequence[str]) -> bool:
    """Whether nearly all are codes of ICD-10, some with a dot or of many chapters."""
    codes = [text for text in texts if ICD.fullmatch(text)]
    if len(codes) < 0.9 * len(texts):
        return False
    dots = sum("." in code for code in codes)
    return dots >= ICD_DOTS * len(codes) or len({code[0] for code in codes}) >= ICD_LETTERS


def are_people(texts: Sequence[str]) -> bool:
    """Whether nearly all have the form of names, and many hold a name of the lists or a title."""
    are_small = all(text == text.lower() for text in texts)
    formed = sum(bool(PERSON.fullmatch(text)) and (are_small or text[:1].isupper()) for text in texts)
    if len(texts) < 5 or formed < MOSTLY * len(texts):
        return False
    return sum(map(holds_name, texts)) >= (KNOWN_SMALL if are_small else KNOWN_NAMES) * len(texts)


def holds_name(text: str) -> bool:
    """Whether one of its words is a given name, a surname or a title of a person."""
    return not KNOWN.isdisjoint(split_words(text.lower()).split("_"))


def tells_event(text: str) -> bool:
    """Whether one of its words says what became of somebody: that they died, passed, or were refused."""
    return not EVENTS.isdisjoint(split_words(text.lower()).split("_"))


def is_free_text(texts: Sequence[str]) -> bool:
    """Whether values are sentences rather than terms."""
    words = sum(len(text.split()) for text in texts) / len(texts)
    return words >= FREE_WORDS and sum(map(len, texts)) / len(texts) >= FREE_LETTERS


MEANING_OF: dict[str, Meaning] = {meaning.says: meaning for meaning in (*IDENTIFIERS, *QUASI_IDENTIFIERS, *SENSITIVE)}
FORMS: tuple[tuple[str, Callable[[str], object], float], ...] = (
    ("e-mail addresses", EMAIL.fullmatch, SURE),
    (NET, lambda text: URL.fullmatch(text) or MAC.fullmatch(text) or is_ip(text), SURE),
    ("numbers of people or of rows", HASH.fullmatch, SURE),
    ("accounts and cards", lambda text: is_iban(text) or is_card(text), SURE),
    ("official numbers of people", OFFICIAL.fullmatch, SURE),
    ("postcode", POSTCODES.fullmatch, LIKELY),
    ("coordinates", POINT.fullmatch, SURE),
    (ADDRESSES, STREET.fullmatch, SURE),
    ("telephone numbers", is_phone, LIKELY),
)
