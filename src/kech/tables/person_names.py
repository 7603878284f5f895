"""Person names: names of columns that mean people, in seven languages.

In: the name of a column.  Out: whether it means numbers of people (`patient_id`, or `id`), people (`patient`), a thing,
place or event (`region_name`), or numbers of something unknown (`code`).
"""

import re
from unicodedata import combining, normalize

NOUNS = """
    patient person subject participant respondent customer client user member employee worker student pupil donor
    borrower subscriber passenger rider guest tenant citizen resident beneficiary claimant applicant household family
    cardholder policyholder taxpayer enrollee panelist individual shopper buyer voter
    patienten patientin personen kunde kunden kundin klient klienten mandant mandanten versicherte versicherten
    versicherter mitglied mitglieds mitglieder mitarbeiter mitarbeiterin beschaftigte beschaftigten angestellte
    teilnehmer teilnehmerin proband probanden befragte befragten nutzer benutzer schuler schueler studenten studierende
    studierenden haushalt haushalts burger buerger spender mieter mieterin
    patiente personne cliente usager utilisateur utilisatrice membre adherent assure employe salarie participante sujet
    repondant eleve etudiant etudiante beneficiaire menage foyer abonne individu
    paciente persona usuario usuaria miembro socio socia empleado empleada trabajador trabajadora sujeto encuestado
    alumno alumna estudiante beneficiario hogar afiliado asegurado individuo
    paziente utente membro dipendente lavoratore partecipante soggetto rispondente studente alunno assistito famiglia
    assicurato
    persoon persoons klant klanten gebruiker gebruikers lid leden medewerker medewerkers werknemer werknemers deelnemer
    deelnemers respondenten proefpersoon leerling leerlingen huishouden huishoudens verzekerde
    pessoa utilizador associado empregado funcionario trabalhador respondente aluno estudante agregado domicilio
    familia segurado
"""
NUMBERED = """
    personal matrikel device gerate geraete account konto card karte pat pers subj kd
"""  # they mean people only with a number
NUMBERS = """
    id ident identifier identifiant identificador identificativo no nr nbr num number nummer numero code codigo codice
    cod key schlussel schluessel kennung kennzeichen kennziffer uuid guid hash pseudonym ref reference
"""
FIXED = """
    pid mrn subjid usubjid patid custid empid memid uid nhs_number ssn bsn dni cpf codice_fiscale
    sozialversicherungsnummer svnr kvnr nir
"""
BARE = re.compile(
    "id_?(?:code|nr|nbr|no|num|number|nummer|numero)?|ident|identifier|identifiant|identificador|identificativo|uuid"
    "|guid|pseudonym"
)
AMBIGUOUS = ("pid", "uid")  # a person or a user, but also a party or a unit
GROUPS = "household family familia famiglia famille hogar menage foyer haushalt huishouden agregado domicilio"
OF = r"(?:(?:of|de|du|del|della|do|da|des|der|van|la|le|el|l|d)_)*"
THINGS = re.compile(
    r"(?:^|_)(?:product|produkt|produit|producto|prodotto|item|sku|article|artikel|order|bestell|commande|pedido|ordine"
    r"|invoice|rechnung|visit|encounter|admission|event|session|transaction|trip|route|store|shop|branch|station|stop"
    r"|room|ward|bed|site|location|zip|post|plz|area|tract|block|country|city|region|state|department|school|hospital"
    r"|clinic|provider|doctor|physician|practice|lab|test|drug|diagnos|icd|atc|procedure|job|occupation|industry|class"
    r"|course|batch|lot|campaign|category|group|type|status|row|line|record|phone|fax|county|district|province|village"
    r"|street|building|company|firm|brand|vendor|supplier|merchant|bank|project|service|team|species|file|variable)"
)
PERSONAL_NAMES = """
    name names first last surname forename firstname lastname given_name family_name maiden_name middle_name first_name
    last_name full_name fullname vorname nachname familienname geburtsname zuname prenom nom nom_de_famille nombre
    nombres apellido apellidos cognome nome nome_completo voornaam achternaam naam sobrenome apelido
"""
COMMON_NAMES = ("name", "names", "first", "last", "nom", "nombre", "nombres", "nome", "naam")  # things have them too
_NOUN, _NUMBER, _FIXED = ("|".join(words.split()) for words in (NOUNS, NUMBERS, FIXED))
_PEOPLE = "|".join((NOUNS + NUMBERED).split())
NUMBERS_PEOPLE = re.compile(
    rf"(?:.+_)?(?:{_PEOPLE})_?(?:{_NUMBER})(?:_\d+)?|(?:{_NUMBER})_?{OF}(?:{_PEOPLE})|(?:.+_)?(?:{_FIXED})"
)
WORD_FOR_PEOPLE = re.compile(_NOUN)
NUMBERS_SOMETHING = re.compile(rf"(?:.+_)?(?:{_NUMBER})(?:_.+)?")


def numbers_people(column: str) -> bool:
    """Whether the name means numbers of people, or is a bare `id`.

    >>> [numbers_people(name) for name in ("PatientID", "Kundennummer", "número de paciente", "id", "row_id")]
    [True, True, True, True, False]
    """
    words = split_words(column)
    return bool(BARE.fullmatch(words) or NUMBERS_PEOPLE.fullmatch(words))


def is_ambiguous(column: str) -> bool:
    """Whether the name is an abbreviation that also means other things than people."""
    return split_words(column) in AMBIGUOUS


def may_be_size(column: str) -> bool:
    """Whether the name means a group of people, so that small numbers are its size, as in `family`."""
    return split_words(column) in GROUPS.split()


def is_personal_name(column: str) -> bool:
    """Whether the name means personal names, which several people may have.

    >>> [is_personal_name(name) for name in ("Nachname", "last_name", "fake_last_name", "patient_id", "region_name")]
    [True, True, True, False, False]
    """
    words, known = split_words(column), PERSONAL_NAMES.split()
    return words in known or words.endswith(tuple(f"_{name}" for name in known if name not in COMMON_NAMES))


def is_bare(column: str) -> bool:
    """Whether the name is `id` or a synonym."""
    return bool(BARE.fullmatch(split_words(column)))


def names_people(column: str) -> bool:
    """Whether the name means people, or numbers of people.

    >>> [names_people(name) for name in ("patient", "customer_id", "customer_type", "zip", "job", "id")]
    [True, True, False, False, False, True]
    """
    return numbers_people(column) or bool(WORD_FOR_PEOPLE.fullmatch(split_words(column)))


def names_things(column: str) -> bool:
    """Whether the name means things, places or events, and not people.

    >>> [names_things(name) for name in ("region_name", "store_id", "hospital_patient_id", "last_name")]
    [True, True, False, False]
    """
    return bool(THINGS.search(split_words(column))) and not names_people(column)


def numbers_something(column: str) -> bool:
    """Whether the name means numbers, and not those of a thing, place or event.

    >>> [numbers_something(name) for name in ("id", "code", "product_id", "income")]
    [True, True, False, False]
    """
    return bool(NUMBERS_SOMETHING.fullmatch(split_words(column))) and not names_things(column)


def split_words(column: str) -> str:
    """The name in small letters without accents, with `_` between words.

    >>> split_words("PatientenNr."), split_words("n° Bénéficiaire"), split_words("customerID")
    ('patienten_nr', 'n_beneficiaire', 'customer_id')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", column)
    plain = "".join(letter for letter in normalize("NFKD", parted.replace("ß", "ss")) if not combining(letter))
    return re.sub(r"[^a-z0-9]+", "_", plain.casefold()).strip("_")
