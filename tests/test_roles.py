"""What each column seems to be for: guesses with a reason and a confidence, and plans that releases take."""

import random
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from benchmarks.role_tables import TABLES, make_columns, split_spec

import kech

LETTERS = {"identifier": "I", "person": "I", "quasi-identifier": "Q", "sensitive": "S", "plain": "P"}
NAMED = {
    "identifier": "Nachname Vorname first last e_mail Telefonnummer apellidos cognome achternaam prénom",
    "quasi-identifier": (
        "xage AGEP female fml eth ethrace2a yedu black Geburtsjahr code_postal fecha_nacimiento sesso woonplaats "
        "age_at_exam"
    ),
    "sensitive": "birthcontrol Attrition stroke Survived two_year_recid death Gehalt diagnosi ziekte doença religión",
    "plain": "storage usage mileage",
}


def guess(columns):
    with kech.read_table(pd.DataFrame(columns)) as table:
        return {column.column: column for column in kech.inspect_table(table, as_read=True).columns}


def values_of(role, count=60):
    """Values that say nothing of the role themselves."""
    if role == "identifier":
        return [f"Q{number % 50}q" for number in range(count)]
    return [number % 7 for number in range(count)]


def test_one_value_that_may_tell_an_event_does_not_decide():
    found = guess({"operadora": ["Vivo", "Claro", "Tim"] * 20, "exit": ["Died", "Alive", "unknown"] * 20})
    assert (found["operadora"].role, found["exit"].role) == ("quasi-identifier", "sensitive")


def test_distances_have_an_order_and_places_have_none():
    found = guess({"DistanceFromHome": [1 + i % 29 for i in range(300)], "region": [1 + i % 9 for i in range(300)]})
    assert {column.role for column in found.values()} == {"quasi-identifier"}
    assert [found[name].suggested for name in found] == [None, "set"]


def test_a_flag_of_many_columns_follows_from_age():
    """Among sixty columns of yes and no, one says who is older than fifty: it is no more sensitive than the age."""
    rng = np.random.default_rng(5)
    age = rng.integers(20, 80, 300)
    flags = {f"zq{i}": rng.integers(0, 2, 300) for i in range(60)}
    with kech.read_table(
        pd.DataFrame({"age": age, "sex": rng.integers(0, 2, 300)} | flags | {"zolder": age > 50})
    ) as table:
        found = {column.column: column.role for column in kech.inspect_table(table).columns}
    assert found["zolder"] == "quasi-identifier"


def test_the_paper_is_read_as_the_paper_says():
    nine = {"age": [25, 22, 24, 40, 53, 50, 33, 35, 37], "zip": range(47600, 47609), "salary": range(9)}
    roles = [column.role for column in guess(nine).values()]
    assert roles == ["quasi-identifier", "quasi-identifier", "sensitive"]


@pytest.mark.parametrize("role", NAMED)
def test_names_of_columns_in_seven_languages(role):
    found = guess({name: values_of(role) for name in NAMED[role].split()} | {"city": ["a", "b", "c"] * 20})
    assert {name: found[name].role for name in NAMED[role].split()} == dict.fromkeys(NAMED[role].split(), role)
    assert all(0 < column.confidence < 1 and column.reason for column in found.values())


@pytest.mark.parametrize(
    ("values", "role"),
    [
        ([f"Anna {letter}. Weber" for letter in "ABCDEFGHIJ"], "identifier"),
        ([f"{number}@mail.example" for number in range(10)], "identifier"),
        ([f"+49 30 {number}" for number in range(123450, 123460)], "identifier"),
        (
            [f"{name} {number}" for name in ("Hauptstraße", "Gartenweg", "Ringstr.") for number in range(1, 9)],
            "identifier",
        ),
        ([f"{number} {name}" for name in ("Main St", "Oak Ave.", "rue Monge") for number in range(1, 9)], "identifier"),
        (["Station 3", "Zimmer 12", "Werk 2", "Heimweg"], "quasi-identifier"),
        (["DE89370400440532013000", "GB82WEST12345698765432"] * 5, "identifier"),
        ([f"192.168.0.{number}" for number in range(10)], "identifier"),
        ([f"she came again on day {number} with her son" for number in range(60)], "identifier"),
        (["SW1A 1AA", "N1 9GU", "EC1A 1BB"], "quasi-identifier"),
        (["1012 AB", "3511 CD"], "quasi-identifier"),
        (["48.13743, 11.57549", "52.52437, 13.41053"], "quasi-identifier"),
        (["1950-01-01", "1960-02-03"], "quasi-identifier"),
        (["E11.9", "I10", "J45.0"], "sensitive"),
        (["C85", "B42", "E12"], "quasi-identifier"),  # cabins
    ],
)
def test_values_tell_where_a_name_does_not(values, role):
    shared = (values * 60)[:60]
    assert guess({"v": shared, "age": [20, 30, 40] * 20})["v"].role == role


def test_events_that_were_paid_are_amounts_and_postcodes_have_many_names():
    """An amount of one's own would point at its row; what happened, or was measured, stays an outcome."""
    rows = range(100)
    own, often = [37.25 * row + 900 for row in rows], [100 + row % 9 for row in rows]
    names = ("claim_cost", "deposit", "withdrawal", "Kaltmiete", "copay")
    found = guess(dict.fromkeys(names, own) | {"city": ["a", "b", "c", "d"] * 25})
    assert {found[name].role for name in names} == {"quasi-identifier"}
    found = guess({"claim": often, "deposit": [row % 2 for row in rows], "outcome": own, "city": ["a", "b"] * 50})
    assert [found[name].role for name in ("claim", "deposit", "outcome")] == ["sensitive"] * 3
    postcodes = {name: [10_000 + 13 * (row % 60) for row in rows] for name in ("postnr", "PC4", "kod_pocztowy", "NPA")}
    assert {column.role for column in guess(postcodes).values()} == {"quasi-identifier"}


def test_a_measured_outcome_is_the_last_column_and_no_place_is_measured():
    """Tables for learning end with `target` or `y`, of many values; `worst area` is that of a cell."""
    rng = np.random.default_rng(5)
    found = guess(
        {
            "age": rng.integers(20, 70, 200),
            "area": rng.integers(0, 9, 200),
            "glucose": rng.integers(70, 200, 200),
            "result": rng.integers(0, 90, 200) / 7,
            "worst area": rng.integers(0, 90, 200) / 9,
            "target": rng.integers(0, 130, 200),
        }
    )
    assert found["target"].role == "sensitive"
    assert {found[name].role for name in ("result", "worst area")} == {"plain"}
    assert found["area"].role == "quasi-identifier"


@pytest.mark.parametrize("fold", [False, True])
def test_names_and_codes_are_known_in_small_letters_and_where_spellings_are_joined(fold):
    """--fold-variants, which `inspect` advises, writes categories in small letters: names were planned as sets."""
    rng = np.random.default_rng(2)
    given, family = ("Anna", "Bernd", "Carla", "Franz", "Eva"), ("Weber", "Schmidt", "Fischer", "Wagner")
    names = [f"{rng.choice(family)}, {rng.choice(given)}" for _ in range(200)]
    columns = {"v": names if fold else [name.lower() for name in names], "age": rng.integers(20, 60, 200)}
    columns |= {"kind": rng.choice(["rose", "oak", "elm", "ash", "fir", "lily"], 200)}
    columns |= {"w": rng.choice(["E11.9", "I10", "J45.0"], 200), "x": rng.choice(["SW1A 1AA", "N1 9GU"], 200)}
    with kech.read_table(pd.DataFrame(columns | {"zz": rng.integers(0, 9, 200)}), fold_variants=fold) as table:
        roles = {column.column: column.role for column in kech.inspect_table(table, costs=False).columns}
    assert [roles[name] for name in "vwx"] == ["identifier", "sensitive", "quasi-identifier"]
    assert roles["kind"] == "quasi-identifier"


def test_addresses_and_plates_that_repeat_are_never_published():
    """Streets are things that many share, but not with a number; `plate` is no beginning of platelets."""
    rng = np.random.default_rng(4)
    numbers = rng.integers(1, 30, (2, 300))
    columns = {"street": [f"Bahnhofstraße {number}" for number in numbers[0]], "age": rng.integers(20, 60, 300)}
    columns |= {"plate": [f"FR-XY {number}" for number in numbers[1]], "platelet": rng.integers(100, 400, 300)}
    found = guess(columns | {"road": rng.choice(["Hauptstraße", "Gartenweg"], 300)})
    roles = [found[name].role for name in ("street", "plate", "platelet")]
    assert roles == ["identifier", "identifier", "sensitive"]
    assert found["road"].role != "identifier"


def test_names_of_people_are_not_published_for_what_their_column_is_called():
    """Suspects and tenants have several rows; the few candidates of an election are what somebody voted."""
    rng = np.random.default_rng(6)
    given, family = ("Anna", "Peter", "Maria", "Paul", "Laura"), ("Weber", "Smith", "Garcia", "Rossi", "Silva", "Moore")
    people = [f"{first} {last}" for first in given for last in family]
    columns = {name: rng.choice(people, 300) for name in ("suspect", "Mieter", "defendant_verdict")}
    columns |= {"vote": rng.choice(people[:6], 300), "card": rng.choice([f"C{i}X" for i in range(90)], 300)}
    found = guess({"age": rng.integers(20, 60, 300)} | columns | {"zz": rng.integers(0, 9, 300)})
    assert {found[name].role for name in ("suspect", "Mieter", "defendant_verdict", "card")} <= {"identifier", "person"}
    assert found["vote"].role == "sensitive"


def test_values_that_all_differ_are_identifiers_and_flags_are_none():
    rows = range(60)
    found = guess(
        {
            "PassengerId": rows,
            "zz": [7 * row for row in rows],
            "phone": ["yes", "no"] * 30,
            "city": ["a", "b", "c"] * 20,
        }
    )
    assert found["zz"].role == found["PassengerId"].role == "identifier"
    assert found["phone"].role != "identifier"


def test_whole_numbers_that_all_differ_are_no_findings():
    rows = 120
    city = {"city": ["a", "b", "c"] * (rows // 3)}
    numbered = guess(dict.fromkeys(("Befund", "treatment"), range(900, 900 + rows)) | city)
    measured = guess({name: [90 + i % 100 for i in range(rows)] for name in ("Befund", "treatment")} | city)
    assert [numbered[name].role for name in ("Befund", "treatment")] == ["identifier"] * 2
    assert [measured[name].role for name in ("Befund", "treatment")] == ["sensitive"] * 2


def test_what_follows_from_a_quasi_identifier_is_one():
    age = [20 + row % 40 for row in range(200)]
    unknown = [row % 7 for row in range(200)]
    found = guess({"qq": unknown, "zz": [years // 10 for years in age], "age": age})
    assert (found["zz"].role, found["zz"].reason) == ("quasi-identifier", "it follows from 'age'")
    assert found["qq"].role == "plain"


def test_outcomes_are_known_by_what_happened():
    """Participles of seven languages whose values say yes or no; places where somebody boarded are none."""
    happened = "evicted gerügt verwarnt résilié desahuciada sfrattata ontruimd despejado".split()  # noqa: SIM905
    answers = dict.fromkeys((*happened, "spotted_at"), ["ja", "nein", "nein"] * 20)
    found = guess({"city": ["a", "b", "c"] * 20} | answers | {"spotted_at": ["Bath", "Lyon", "Lyon"] * 20})
    assert [found[name].role for name in happened] == ["sensitive"] * 8
    assert found["spotted_at"].role != "sensitive"


def test_cut_names_and_neighbours_tell_what_a_column_is():
    names = (
        "staciv",
        "cantville",
        "mrtlstat",
        "qq",
        "zip",
        "meal.cal",
        "tgrade",
        "strat",
        "PID",
        "salary",
        "vv",
        "age",
    )
    found = guess({name: draw_from(range(7)) for name in names})
    roles = {name: found[name].role for name in names}
    assert [name for name in names if roles[name] == "quasi-identifier"] == [*names[:5], "age"]
    assert found["qq"].reason == "it stands between 'mrtlstat' and 'zip'"
    assert (roles["tgrade"], roles["strat"], roles["vv"]) == ("sensitive", "plain", "plain")
    assert {roles[name] for name in ("meal.cal", "PID")} <= {"plain", "sensitive"}


def test_where_nothing_points_at_a_person_something_must():
    found = guess({"zz": [row % 7 for row in range(60)], "qq": [row % 30 for row in range(60)]})
    assert {column.role for column in found.values()} == {"quasi-identifier"}
    assert all(column.confidence < 0.5 for column in found.values())


def test_codes_without_an_order_become_sets(run, folder):
    rows = range(80)
    columns = {"race": [1 + row % 7 for row in rows], "SEX": [1 + row % 2 for row in rows]}
    columns |= {"birthplace": [19 + row % 10 for row in rows], "Pclass": [1 + row % 3 for row in rows]}
    columns |= {"age": [20 + row % 50 for row in rows], "school": [6 + row % 13 for row in rows]}
    columns |= {"commune": [1 + 97 * row % 194 for row in rows], "fips": [6001 + 2 * row for row in rows]}
    columns = {name: [*values, *values] for name, values in columns.items()}
    path, plan = folder / "codes.csv", folder / "kech.toml"
    pd.DataFrame(columns).to_csv(path, index=False)
    shown = run("inspect", path, "--plan", plan).out
    assert "'race': Its numbers seem to be codes without an order: --axis race=set makes sets of them." in shown
    kinds = {name: axis.kind for name, axis in kech.read_request(plan).axes.items()}
    sets = dict.fromkeys(("race", "SEX", "birthplace", "Pclass", "commune", "fips"), "set")
    assert kinds == {**sets, "age": "number", "school": "number"}


def test_numbers_of_kinds_are_codes_by_their_names_and_those_of_ages_are_not():
    """They stand between quasi-identifiers, or are known: `injtype` 1 to 8 is no scale."""
    columns = {name: [1 + i % 8 for i in range(200)] for name in ("sex", "injtype", "ind_code", "age_code", "stage")}
    found = guess(columns | {"sex": ["m", "f"] * 100, "age": [20 + i % 60 for i in range(200)]})
    suggested = {name: column.suggested for name, column in found.items() if column.role == "quasi-identifier"}
    assert suggested == {"sex": None, "injtype": "set", "ind_code": "set", "age_code": None, "age": None}


def test_a_code_for_what_is_not_known_does_not_hide_what_a_name_says():
    """Heights of 150 to 200 cm, and 999: the code was taken for a weight of a survey."""
    heights = [150 + i % 50 for i in range(300)]
    assert guess({"Größe (cm)": heights})["Größe (cm)"].reason.endswith("the body")
    assert guess({"Größe (cm)": [999 if i % 15 == 0 else each for i, each in enumerate(heights)]})[
        "Größe (cm)"
    ].reason.endswith("the body")
    assert not guess({"Größe (cm)": [150 + 10 * i for i in range(300)]})["Größe (cm)"].reason.endswith("the body")


def test_codes_for_what_is_not_known_are_named_if_many_have_them():
    rows = range(300)
    found = guess(
        {
            "age": [99 if row % 10 == 0 else 18 + row % 70 for row in rows],
            "income": [-9 if row % 20 == 0 else 1000 * (row % 50) for row in rows],
            "children": [97 if row == 7 else row % 5 for row in rows],  # one row: never named
            "years_at_company": [row % 99 + 1 for row in rows],  # 97 to 99 are years as others are
            "city": ["a", "b", "c"] * 100,
            "health": [(1, 2, 3, 4, 5, 8, 9)[row % 7] for row in rows],
        }
    )
    hints = {name: column.hint or "" for name, column in found.items()}
    assert "Codes such as 8 and 9 look like 'not known' (85 rows)" in hints["health"]
    assert "say --null-values 8 9, which holds for every column" in hints["health"]
    assert "--null-values=-9" in hints["income"]
    assert "Codes such as 99 look like 'not known' (30 rows)" in hints["age"]
    assert "Codes such as -9 look like 'not known' (15 rows)" in hints["income"]
    assert not [name for name in ("children", "years_at_company") if "not known" in hints[name]]
    assert "97" not in hints["children"]


def test_days_and_months_somewhere_are_numbers_and_no_codes():
    rows = range(300)
    times = [1 + row % 27 for row in rows]
    columns = {"months_at_school": times, "Days in hospital": times, "time_at_school": times, "time_in_hospital": times}
    found = guess(columns | {"sex": ["f", "m", "m"] * 100})
    assert found["months_at_school"].generalized == "intervals of round numbers"
    assert found["time_at_school"].generalized == "intervals of round numbers"
    assert found["Days in hospital"].role == found["time_in_hospital"].role == "sensitive"


def test_dates_that_only_those_have_to_whom_it_happened_are_not_published():
    """Dates of those who came back: where they are empty, they tell everything."""
    rows = range(900)
    days = [str(date(2014, 1, 1) + timedelta(days=row)) if row % 3 == 0 else None for row in rows]
    columns = {"sex": ["f", "m"] * 450, "age": [20 + row % 50 for row in rows], "r_jail_in": days}
    columns |= {"arrest": [str(date(2014, 1, 1) + timedelta(days=row)) for row in rows]}
    columns |= {"yrdth": [1980 + row % 10 if row % 3 == 0 else None for row in rows]}
    found = guess(columns | {"is_recid": [int(row % 3 == 0) for row in rows]})
    roles = {name: column.role for name, column in found.items()}
    assert (roles["r_jail_in"], roles["arrest"], roles["yrdth"]) == ("plain", "quasi-identifier", "sensitive")
    assert found["r_jail_in"].reason == "it tells 'is_recid', by where it is empty"
    some = [day if row % 6 else None for row, day in enumerate(days)]  # half of them went to jail
    found = guess(columns | {"r_jail_in": some, "is_recid": [int(row % 3 == 0) for row in rows]})
    assert found["r_jail_in"].role == "plain"
    assert found["r_jail_in"].reason == "it tells 'is_recid', where it is not empty"


def test_values_that_are_missing_at_random_tell_no_event():
    """Prices that nearly all differ, of which a few are missing, beside an illness that few have."""
    rows = range(900)
    prices = [round(2 + row * 7919 % 9973 / 9973, 6) if row % 19 else None for row in rows]
    days = [str(date(1971, 1, 1) + timedelta(days=row)) if row % 300 == 7 else None for row in rows]  # three rows
    columns = {"sex": ["f", "m"] * 450, "age": [20 + row % 50 for row in rows], "price71": prices, "seen": days}
    found = guess(columns | {"hepatitis": [int(row % 60 == 3) for row in rows], "asthma": [row % 2 for row in rows]})
    assert "tells" not in found["price71"].reason + found["seen"].reason


@pytest.mark.parametrize("many", [False, True])
def test_variants_are_told_and_folded(run, folder, many):
    path = folder / "variants.csv"
    sexes = ["female", "Female", " female ", "MALE", "male"] * 8
    kinds = [f"Kind {row}" for row in range(1100)] if many else ["Private ", "private"] * 20
    pd.DataFrame({"sex": (sexes * 28)[: len(kinds)], "sector": kinds}).to_csv(path, index=False)
    assert "2 values are spelled in several ways" in run("inspect", path).out
    assert "--fold-variants" in run("inspect", path).out
    assert "several ways" not in run("inspect", path, "--fold-variants").out
    with kech.read_table(path, quasi_identifiers=["sex", "sector"], fold_variants=True) as table:
        assert sorted(table.values("sex", "text")[0]) == ["female", "male"]
        sectors = table.values("sector", "text")[0]
    assert sorted(sectors) == (sorted(kinds) if many else ["private"])  # so many texts are no categories


SOME = ("klinik", "acs", "mammo")


@pytest.mark.parametrize("name", [n if n in SOME else pytest.param(n, marks=pytest.mark.long) for n in TABLES])
def test_a_plan_of_inspect_works_in_release_and_publishes_no_identifier(run, folder, name):
    path, plan = folder / f"{name}.csv", folder / "kech.toml"
    pd.DataFrame(make_columns(TABLES[name], 120, 1)).to_csv(path, index=False)
    inspected = run("inspect", path, "--plan", plan, "--k", 3, "--json")
    assert inspected.code == 0
    guessed = {column["column"]: LETTERS[column["role"]] for column in inspected.json["columns"]}
    direct = [column for column, roles, _ in split_spec(TABLES[name]) if roles == {"I"}]
    assert {guessed[column] for column in direct} <= {"I", "P"}
    released = run("release", path, "--plan", plan, "-o", folder / "safe.csv", "--effort", "quick", "--no-ledger")
    assert (released.code, released.err) == (0, "")
    assert {*pd.read_csv(folder / "safe.csv").columns}.isdisjoint(direct)


def draw_from(values, rows=200):
    """Values at random, of which none follows from another column."""
    return DRAW.choices(values, k=rows)


DRAW = random.Random(5)


def test_names_are_read_though_spelled_otherwise():
    names = {
        "kolesterol": "sensitive",
        "Handcap": "sensitive",
        "medicijngebruik": "sensitive",
        "aged": "quasi-identifier",
    }
    columns = {name: draw_from(range(5)) for name in names}
    found = guess({"city": draw_from("abc"), **columns, "zz": draw_from(range(9))})
    assert {name: found[name].role for name in names} == names
    assert max(found[name].confidence for name in names) < 0.9


def test_first_and_last_are_names_only_alone():
    columns = {
        "first": draw_from(["Anna", "Tom", "Jan"]),
        "Supervision_Level_First": draw_from(["low", "high", "none"]),
    }
    found = guess({"age": draw_from(range(20, 50)), **columns})
    assert found["first"].role == "identifier"
    assert found["Supervision_Level_First"].role != "identifier"


def test_codes_that_only_sensitive_columns_have_are_sensitive():
    codes = (1, 2, 98)
    known = {name: draw_from(codes) for name in ("diabetes", "asthma", "hypertension")} | {"city": draw_from("abc")}
    found = guess({**known, "zz": draw_from(codes), "qq": draw_from((1, 2, 3)), "age": draw_from(range(20, 50))})
    assert (found["zz"].role, found["qq"].role) == ("sensitive", "plain")
    assert found["zz"].reason == "it has the same values as 'diabetes' and 2 other sensitive columns"
    with_sex = guess({**known, "sex": draw_from(codes), "zz": draw_from(codes), "age": draw_from(range(20, 50))})
    assert with_sex["zz"].role == "quasi-identifier"  # it could be what everybody sees, as its neighbours are


def test_names_of_doctors_and_tickets_are_not_advised_as_the_person():
    """Several people have one doctor or ticket; the warning about names is said once."""
    doctors = [f"Dr. {name}" for name in ("Weber", "Smith", "Garcia", "Rossi", "Dubois", "Silva")] * 10
    tickets = [f"PC {row}" for row in range(58)] + ["PC 0"] * 2
    people = {"Arzt": doctors, "Patient Nachname": doctors[::-1], "Ticket": tickets, "age": list(range(20, 80))}
    with kech.read_table(pd.DataFrame(people)) as table:
        (said,) = kech.inspect_table(table).repeated_people
    assert "Different people may have one name" in said
    assert "--person COLUMN" in said


def test_survival_times_years_and_ratings_are_told_by_name():
    rows = range(120)
    found = guess(
        {
            "age": [20 + row % 40 for row in rows],
            "time": [7 * row % 90 for row in rows],
            "yrs.since.phd": [row % 30 for row in rows],
            "rate_marriage": [1 + row % 5 for row in rows],
            "occupation": [1 + row % 6 for row in rows],
            "YearsInCurrentRole": [row % 19 for row in rows],
            "zz": [row % 2 for row in rows],
            "city": ["a", "b", "c"] * 40,
            "sample.yr": [1995 + row % 9 for row in rows],
            "normexam": [row % 37 / 10 for row in rows],
            "last": [row % 11 for row in rows],
        }
    )
    roles = {"time": "sensitive", "yrs.since.phd": "quasi-identifier", "rate_marriage": "sensitive"}
    roles |= {"sample.yr": "quasi-identifier", "normexam": "sensitive", "last": "sensitive"}
    assert {name: found[name].role for name in roles} == roles
    kinds = {"occupation": "set", "YearsInCurrentRole": None, "zz": "set"}
    assert {name: found[name].suggested for name in kinds} == kinds


def test_what_tells_an_event_is_sensitive():
    """Flags beside a time or with its ending, and values that only those have to whom something happened."""
    times, flags = [7 * row % 90 for row in range(120)], [row % 2 for row in range(120)]
    columns = {"city": list("abc") * 40, "futime": times, "mgus": flags, "age": times, "t1": times, "q1": flags[::-1]}
    chapters = [None if flag else "abc"[row % 3] for row, flag in enumerate(flags)]
    found = guess({**columns, "zip": times, "death": flags, "chapter": chapters, "town": list("aab") * 40})
    told = ["mgus", "q1", "chapter"]
    assert [found[name].role for name in told] == ["sensitive"] * 3
    assert found["chapter"].reason == "it tells 'death', by where it is empty"


def test_a_party_or_a_remark_is_not_the_person():
    """PID may be a party: rows of one have many births.  Three remarks are fewer than the people, and name nobody."""
    rows = range(240)
    table = {
        "PID": [row % 12 for row in rows],
        "birth_date": [f"19{50 + row % 50}-01-{1 + row % 28:02}" for row in rows],
        "city": ["a", "b", "c"] * 80,
    }
    assert guess(table)["PID"].role != "person"
    people = pd.DataFrame({"who": [row // 2 for row in rows], "Bemerkung": ["x", "y", "z"] * 80, "age": rows})
    columns = {"person": "who", "identifiers": ["Bemerkung"], "quasi_identifiers": ["age"]}
    with kech.read_table(people, **columns) as read:
        assert read.repeats == ()


def test_inspect_replaces_a_plan_and_nothing_else(run, refuse, folder):
    (folder / "t.csv").write_text("age,city\n" + "20,a\n30,b\n" * 30, "utf-8")
    plan, other = folder / "p.toml", folder / "notes.toml"
    run("inspect", folder / "t.csv", "--plan", plan, "--k", 3)
    refuse("inspect", folder / "t.csv", "--plan", plan, code=2, says="--replace")
    run("inspect", folder / "t.csv", "--plan", plan, "--k", 7, "--replace")
    assert kech.read_request(plan).goal.k == 7
    other.write_text("my notes", "utf-8")
    refuse("inspect", folder / "t.csv", "--plan", other, "--replace", code=2, says="it is not TOML")
    assert other.read_text("utf-8") == "my notes"
    refuse("inspect", folder / "t.csv", "--replace", code=2, says="--plan FILE")


def test_an_event_beats_a_name_that_only_sounds_like_something():
    half = ["ja", "nee"] * 30
    ages = [20 + number % 40 for number in range(60)]
    read = guess({"age": ages, "bezwaar_ingediend": half, "Revision_30T": [0, 1] * 30, "region": ["N", "S"] * 30})
    assert read["bezwaar_ingediend"].role == "sensitive", "`ingediend` sounds like gender"
    assert read["Revision_30T"].role == "sensitive"
    ages = {name: [f"{i % 9}" for i in range(300)] for name in ("ageband5yr", "agegrp5y", "altersgr_5j", "region5y")}
    found = guess({"sex": ["f", "m"] * 150, **ages, "outcome": ["a", "b"] * 150})
    assert {name: found[name].role for name in ages if found[name].role == "sensitive"} == {}  # a time tells nothing


def test_two_texts_or_names_are_no_outcome():
    notes = ["ruft wieder an; Tochter wartet", "Pat. unruhig"] * 30
    read = guess({"age": [20 + row % 40 for row in range(60)], "Nachname": ["Weber", "Huber"] * 30, "Bemerkung": notes})
    assert {read["Nachname"].role, read["Bemerkung"].role} == {"identifier"}


def test_an_outcome_is_no_quasi_identifier_while_another_column_could_be_one():
    rows = range(60)
    read = guess({"outcome": [0, 1] * 30, "zz1": [row % 7 for row in rows], "zz2": [row % 5 for row in rows]})
    assert read["outcome"].role == "sensitive"
    assert "quasi-identifier" in {each.role for each in read.values()}
