"""No silence about people with several rows: what is refused, what is warned of, and what is not."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kech
from kech.errors import BadOption, RepeatedIdentifier, RepeatedPeople
from studios import running

NAMES = """
    patient_id PatientID patient pid subject usubjid customer_id customerId user_id member employee_number household_id
    Patientennummer Kundennummer Versicherten-Nr. Mitgliedsnummer Personalnummer Schülernummer Haushalt client
    id_client numéro_de_patient bénéficiaire identifiant_usager ménage paciente codigo_cliente usuario_id hogar
    id_persona paziente codice_assistito utente klantnummer patiëntnummer deelnemer huishouden aluno numero_utente
    mrn hashed_user_id account_id device_id id uuid Identifiant patient_nbr idcode IDNo Pat.-Nr. Kd.Nr Pers.Nr
"""
OTHER_NAMES = """
    row_id zip job age sex city diagnosis salary visit_id product_id order_no customer_type patient_age user_count
    number_of_members num_patients membership clientele person_height household_size family_status code name
    subject_area
"""


def test_columns_are_counted_whose_names_say_that_they_name_people():
    columns = ["quasi", *NAMES.split(), *OTHER_NAMES.split()]
    with kech.read_table(pa.table({name: ["a", "b"] for name in columns}), quasi_identifiers=["quasi"]) as table:
        assert set(table.counted) == set(NAMES.split())


# -- tables of several shapes


def clinic(people=150, seed=1):
    """Visits: a person's birth, sex and zip stay."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(1, 10, people))
    return pd.DataFrame(
        {
            "patient_id": 70_000 + person,
            "born": (np.datetime64("1940-01-01") + rng.integers(0, 25_000, people))[person].astype(str),
            "sex": rng.choice(["f", "m"], people)[person],
            "zip": rng.integers(10_000, 10_060, people)[person],
            "day": rng.integers(1, 366, len(person)),
            "finding": rng.choice(["flu", "cold", "burn", "cut"], len(person)),
        }
    )


def shop(seed=2):
    """Orders of customers, with a product each."""
    rng = np.random.default_rng(seed)
    customer = np.repeat(np.arange(200), rng.integers(1, 8, 200))
    return pd.DataFrame(
        {
            "order_no": np.arange(len(customer)),
            "Kundennummer": [f"K{number:04}" for number in customer],
            "product_id": rng.integers(0, 300, len(customer)),
            "age": rng.integers(18, 90, 200)[customer],
            "amount": rng.gamma(2, 20, len(customer)).round(2),
        }
    )


def households(seed=3):
    """A survey: every row is a person, and several share a household."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(250), rng.integers(1, 5, 250))
    return pd.DataFrame(
        {"household_id": home, "age": rng.integers(0, 95, len(home)), "town": rng.choice(list("abcdef"), 250)[home]}
    )


def town(rows=900, seed=4):
    """Every row is a person; nothing tells otherwise."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": rng.permutation(rows),
            "row_id": np.arange(rows),
            "person": [f"P{number}" for number in rng.permutation(rows)],
            "first_name": [f"name{number}" for number in rng.integers(0, 200, rows)],
            "born": (np.datetime64("1940-01-01") + rng.integers(0, 25_000, rows)).astype(str),
            "sex": rng.choice(["f", "m"], rows),
            "zip": rng.integers(10_000, 10_060, rows),
            "job": [f"job {number}" for number in rng.integers(0, 150, rows)],
            "income": rng.integers(100, 400, rows) * 100,
            "member": rng.choice(["gold", "silver"], rows),
            "diagnosis": rng.choice(["flu", "cold"], rows),
        }
    )


def said_of(frame, **roles):
    with kech.read_table(frame, **roles) as table:
        return kech.inspect_table(table).repeated_people


def test_an_identifier_that_repeats_is_refused_without_a_cell():
    frame = clinic()
    with kech.read_table(frame, quasi_identifiers=["born", "sex"], identifiers="patient_id") as table:
        with pytest.raises(RepeatedIdentifier) as refusal:
            kech.make_release(table, k=3)
    most = frame["patient_id"].value_counts().max()
    assert f"150 values in {len(frame):,} rows, up to {most} rows each" in refusal.value.typed
    assert "--person patient_id" in refusal.value.typed and "--rows-are-people" in refusal.value.typed
    assert 'person="patient_id"' in str(refusal.value) and "rows_are_people=True" in str(refusal.value)
    assert not re.search(r"70\d{3}", refusal.value.typed)


def test_a_preview_is_not_published(tmp_path):
    with kech.read_table(clinic(), quasi_identifiers=["sex", "zip"], identifiers="patient_id") as table:
        with pytest.warns(RepeatedPeople):
            seen = kech.make_release(table, k=3, effort="quick", preview=True)
        assert kech.compute_preview(seen, rows=2).figures["k"] == 3
        for publish in (lambda: seen.frame, lambda: seen.write(tmp_path / "safe.csv", ledger=False)):
            with pytest.raises(RepeatedIdentifier):
                publish()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("said", [{"person": "patient_id"}, {"identifiers": "patient_id", "rows_are_people": True}])
def test_saying_whose_rows_they_are_is_enough(said):
    with kech.read_table(clinic(), quasi_identifiers=["born", "sex"], **said) as table:
        release = kech.make_release(table, k=3, effort="quick")
        assert table.repeats == ()
    assert "patient_id" not in release.columns


def test_identifiers_that_do_not_repeat_are_no_trouble():
    with kech.read_table(town(), quasi_identifiers=["born", "sex"], identifiers=["person", "id"]) as table:
        assert kech.make_release(table, k=3, effort="quick").partition.k >= 3


def test_the_identifier_is_read_to_be_counted_and_never_published():
    with kech.read_table(town(), quasi_identifiers=["born", "sex"], identifiers=["id"]) as table:
        assert table.loaded == ("born", "sex")
        assert table.counted == ("id", "person", "member")
        assert len(table.head(1)[0]) == 2
        assert list(kech.make_release(table, k=3, effort="quick").frame) == ["born", "sex"]


def test_counts_below_three_are_not_said():
    frame = pd.DataFrame({"age": range(20), "patient_id": [*range(19), 0]})
    with kech.read_table(frame, quasi_identifiers=["age"], identifiers="patient_id") as table:
        with pytest.raises(RepeatedIdentifier, match="19 values in 20 rows, fewer than 3 rows each"):
            kech.make_release(table, k=2)


LOOKS = {
    "spectrum": lambda table: kech.compute_spectrum(table, k=[3], effort="quick"),
    "barcode": lambda table: kech.compute_barcode(table, max_dimension=0),
    "lattice": kech.compute_lattice,
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("role", [{}, {"identifiers": "patient_id"}])
def test_what_only_looks_warns(look, role):
    with kech.read_table(clinic(), quasi_identifiers=["sex", "zip"], **role) as table:
        with pytest.warns(RepeatedPeople, match='Say person="patient_id", or rows_are_people=True'):
            LOOKS[look](table)


def test_a_release_warns_of_columns_without_a_role(tmp_path):
    with kech.read_table(shop(), quasi_identifiers=["age"]) as table:
        with pytest.warns(RepeatedPeople, match="Column 'Kundennummer' repeats: 200 values"):
            release = kech.make_release(table, k=3, effort="quick")
        written = release.write(tmp_path / "safe.csv", ledger=False)
        (said,) = release.summarize(tmp_path / "safe.csv", written)["repeated_people"]
    assert said.endswith("Say --person Kundennummer, or --rows-are-people.")


def test_households_are_in_doubt_until_somebody_says_that_rows_are_people():
    assert "'household_id' repeats: 250 values" in said_of(households())[0]
    assert said_of(households(), rows_are_people=True) == ()
    assert said_of(households(), person="household_id") == ()


@pytest.mark.parametrize("rows", [40, 900])
def test_nothing_is_said_where_every_row_is_a_person(rows):
    frame = town(rows).drop(columns="first_name")
    assert said_of(frame) == ()
    with kech.read_table(frame, quasi_identifiers=["born", "sex", "zip"], keep=["job", "income"]) as table:
        assert kech.make_release(table, k=3, effort="quick").partition.k >= 3  # a warning would be an error


def test_an_identifier_that_inspect_proposes_is_in_doubt_if_it_repeats():
    (said,) = said_of(town())
    assert said.startswith("Column 'first_name' repeats: ")


def test_a_column_with_any_name_is_seen_by_what_stays_with_its_values():
    frame = clinic().rename(columns={"patient_id": "kuerzel"})
    frame["kuerzel"] = "A" + frame["kuerzel"].astype(str)
    with kech.read_table(frame) as table:
        found = kech.inspect_table(table)
    assert [column.role for column in found.columns][:1] == ["person"]
    assert found.repeated_people[0].startswith("Column 'kuerzel' repeats: 150 values")
    gaps = np.random.default_rng(7).random(len(frame)) < 0.3
    assert said_of(frame.assign(kuerzel=frame["kuerzel"].where(~gaps)))[0].startswith("Column 'kuerzel' repeats: ")
    shuffled = frame.assign(kuerzel=frame["kuerzel"].sample(frac=1, random_state=1).to_numpy())
    assert not any("kuerzel" in said for said in said_of(shuffled))


def test_numbers_without_a_noun_are_seen_if_they_repeat():
    frame = town().assign(id=lambda rows: rows["id"] % 300).drop(columns="first_name")
    assert "Column 'id' repeats: 300 values in 900 rows" in said_of(frame)[0]


@pytest.mark.parametrize("people", [20, 150])
def test_a_bare_id_that_repeats_is_proposed_as_the_person(people):
    frame = clinic(people).rename(columns={"patient_id": "id"}).drop(columns=["born", "zip"])
    with kech.read_table(frame) as table:
        found = kech.inspect_table(table)
    assert (found.columns[0].role, found.columns[0].reason) == ("person", "it numbers something and repeats")
    assert found.repeated_people[0].startswith(f"Column 'id' repeats: {people} values")
    with kech.read_table(frame.assign(patient_id=frame["id"] // 2)) as table:
        roles = {column.column: column.role for column in kech.inspect_table(table).columns}
    assert (roles["patient_id"], roles["id"]) == ("person", "identifier")  # a noun tells more than `id` does
    with kech.read_table(frame, quasi_identifiers=["sex"]) as table, pytest.warns(RepeatedPeople, match="Column 'id'"):
        kech.make_release(table, k=3, effort="quick")


def test_codes_of_a_disease_or_an_income_are_not_planned_as_the_person():
    """They repeat as numbers of people do; what their names say is surer."""
    rng = np.random.default_rng(3)
    codes = [f"{letter}{number:02}" for letter in "ABCDEFGHIJKLMNOP" for number in range(10)]
    names = ("disease_code", "income_code", "code")
    frame = pd.DataFrame({"age": rng.integers(20, 80, 400)} | {name: rng.choice(codes, 400) for name in names})
    with kech.read_table(frame) as table:
        roles = {column.column: column.role for column in kech.inspect_table(table).columns}
    assert [roles[name] for name in names] == ["sensitive", "sensitive", "person"]


@pytest.mark.parametrize("people", [1, 2, 6])
def test_few_people_with_very_many_rows_are_seen(people, run, tmp_path):
    """Readings of a device: two in a hundred rows or fewer tell another person."""
    frame = pd.DataFrame({"subject_id": np.arange(900) % people, "heart_rate": np.arange(900) % 97 + 50})
    frame.to_csv(tmp_path / "readings.csv", index=False)
    assert "Column 'subject_id' repeats" in said_of(frame)[0]
    assert "Say --person subject_id" in run("inspect", tmp_path / "readings.csv").out
    with kech.read_table(frame, quasi_identifiers=["heart_rate"]) as table:
        with pytest.warns(RepeatedPeople, match="Column 'subject_id'"):
            kech.make_release(table, k=3, effort="quick")


def test_few_levels_of_a_word_for_people_are_no_people():
    frame = town().assign(customer=np.arange(900) % 3).drop(columns="first_name")
    assert said_of(frame) == ()


def test_whole_numbers_that_repeat_as_people_do_are_the_person_and_no_quasi_identifier():
    person = np.repeat(np.arange(120) * 7 + 13, 8)
    frame = pd.DataFrame({"nr": person, "school": person % 11 + 5, "year": np.tile(np.arange(8) + 1980, 120)})
    with kech.read_table(frame) as table:
        assert {c.column: c.role for c in kech.inspect_table(table).columns}["nr"] == "person"
    with kech.read_table(frame.rename(columns={"nr": "zz"})) as table:
        found = kech.inspect_table(table).columns[0]
    assert found.role == "plain" and "follows" not in found.reason  # numbers of rows tell everything


def test_whole_numbers_with_which_sex_and_origin_stay_are_the_person_though_their_name_says_nothing():
    """A panel such as that of an insurance: `zper` numbers people, income stays with them too."""
    person, rng = np.repeat(np.arange(500), 3), np.random.default_rng(5)
    frame = pd.DataFrame({"zper": 125_000 + person, "year": np.tile([1, 2, 3], 500)})
    for name, values in {"female": 2, "black": 2, "income": 90_000}.items():
        frame[name] = rng.integers(0, values, 500)[person]
    with kech.read_table(frame) as table:
        found = kech.inspect_table(table)
    assert {column.column: column.role for column in found.columns}["zper"] == "person"
    assert found.counted == "people" and "Column 'zper' repeats: 500 values" in found.repeated_people[0]
    other_sex = frame.assign(female=rng.integers(0, 2, 1500))
    assert not any("zper" in said for said in said_of(other_sex))
    far = frame.assign(zper=frame["zper"] * 1000)  # as amounts of money are
    assert not any("zper" in said for said in said_of(far))


def test_whole_numbers_with_which_birth_and_origin_stay_are_the_person_though_people_move():
    """A panel of women, such as that of labour: there is no sex, and one year in five they live elsewhere."""
    person, rng = np.repeat(np.arange(500), 6), np.random.default_rng(5)
    frame = pd.DataFrame({"zper": 1 + person, "wave": np.tile(np.arange(6), 500)})
    frame = frame.assign(birth_yr=rng.integers(42, 56, 500)[person], race=rng.choice([1, 2], 500, p=[0.7, 0.3])[person])
    moved = np.where(rng.random(3000) < 0.2, rng.integers(0, 2, 3000), (person % 2))
    assert len({*zip(person, moved, strict=True)}) - 500 > 0.05 * 2500
    with kech.read_table(frame.assign(c_city=moved)) as table:
        assert {column.column: column.role for column in kech.inspect_table(table).columns}["zper"] == "person"
    for changed in ({"birth_yr": rng.integers(42, 56, 3000)}, {"race": rng.integers(1, 3, 3000)}, {"race": 1}):
        assert not any("zper" in said for said in said_of(frame.assign(c_city=moved, **changed)))


def test_a_published_column_that_links_the_rows_of_a_person_is_warned_of(run, tmp_path):
    frame = clinic().assign(joined=lambda rows: rows["patient_id"] * 3 + 1, wave=lambda rows: rows.index % 4)
    assert [said.split("'")[1] for said in said_of(frame, person="patient_id", keep=["wave", "joined"])] == ["joined"]
    assert said_of(frame, person="patient_id", keep="joined", protect_history=True) == ()
    frame.to_csv(tmp_path / "visits.csv", index=False)
    words = ("--qi", "sex", "--person", "patient_id", "--keep", "joined", "--k", 3, "--effort", "quick")
    for command, *to in (("release", "-o", tmp_path / "safe.csv"), ("preview",)):
        assert "it tells which rows belong to one person" in run(command, tmp_path / "visits.csv", *words, *to).err


def test_a_linking_column_is_warned_of_where_values_are_missing():
    """Whose value is missing in a row is one more pair of a value and a person, but no value of two people."""
    gaps = np.random.default_rng(7).random(len(clinic())) < 0.3
    frame = clinic().assign(joined=lambda rows: (rows["patient_id"] * 3 + 1).where(~gaps))
    assert "Column 'joined' is published" in said_of(frame, person="patient_id", keep="joined")[0]


def test_an_identifier_that_half_of_the_people_have_is_not_one_of_several_people():
    own = clinic().assign(card=lambda rows: [f"c{person}" if person % 2 else None for person in rows["patient_id"]])
    shared = own.assign(card=lambda rows: [f"c{person // 5}" for person in rows["patient_id"]])
    for frame, kinds in ((own, []), (shared, ["shared"])):
        with kech.read_table(frame, quasi_identifiers="sex", person="patient_id", identifiers="card") as table:
            assert [repeat.kind for repeat in table.repeats] == kinds


def test_people_are_not_counted_where_no_published_column_can_link_their_rows(monkeypatch):
    """Counting a million people took a sixth of a release."""
    with kech.read_table(clinic(), quasi_identifiers=["sex"], sensitive=["finding"], person="patient_id") as table:
        monkeypatch.setattr(type(table.engine), "count_repeats", None)
        assert table.repeats == ()


def test_names_of_things_that_repeat_are_not_taken_for_people():
    rng = np.random.default_rng(1)
    frame = town().drop(columns="first_name")
    frame["region_name"], frame["store_id"] = rng.choice(["north", "south"], 900), rng.integers(0, 12, 900)
    frame["product_name"] = [f"p{number}" for number in rng.integers(0, 300, 900)]
    frame["invoice_id"] = rng.permutation(900)
    with kech.read_table(frame) as table:
        found = kech.inspect_table(table)
    roles = {column.column: column.role for column in found.columns}
    assert found.repeated_people == ()
    assert [roles[name] for name in ("region_name", "store_id", "product_name")] == ["quasi-identifier", *["plain"] * 2]
    assert roles["invoice_id"] == "identifier"  # every row has its own


@pytest.mark.parametrize("said", [{}, {"person": "patient_id"}, {"person": ["sex", "patient_id"]}])
def test_with_a_person_inspect_counts_people(run, tmp_path, said):
    frame = clinic()
    with kech.read_table(frame, **said) as table:
        found = kech.inspect_table(table)
    names = list(found.quasi_identifiers)
    people = frame.groupby(names)["patient_id"].transform("nunique")
    assert (found.counted, found.k, found.unique_share) == ("people", people.min(), (people == 1).mean())
    assert found.unique_share > (frame.groupby(names)["patient_id"].transform("size") == 1).mean()
    with kech.read_table(frame, rows_are_people=True) as table:
        assert kech.inspect_table(table).counted == "rows"
    frame.to_csv(tmp_path / "visits.csv", index=False)
    shown = run("inspect", tmp_path / "visits.csv")
    assert f"k = 1 by people: {found.unique_share:.1%} of the rows equal no row of another person on" in shown.out


def test_birth_sex_and_zip_that_repeat_together_are_seen():
    (said,) = said_of(clinic().drop(columns="patient_id"))
    assert said.startswith("Columns 'born', 'sex' and 'zip' repeat together: 150 combinations")
    years = town().drop(columns="first_name").assign(born=lambda rows: rows["born"].str[:4] + "-01-01")
    assert said_of(years) == ()


def test_birth_sex_and_zip_of_a_person_with_a_third_of_all_rows_are_seen():
    """Their rows make equal births likely, so that pairs alone would tell nothing."""
    frame = clinic(people=120).drop(columns="patient_id")
    frame = pd.concat([frame, frame.iloc[[0] * (len(frame) // 2)]])
    assert "'born', 'sex' and 'zip' repeat together" in said_of(frame)[0]


def test_different_people_born_in_one_year_are_no_repeats():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"born": rng.integers(1940, 2000, 900), "sex": rng.choice(["f", "m"], 900)})
    assert said_of(frame.assign(zip=rng.integers(10_000, 10_008, 900))) == ()


@pytest.mark.parametrize("values", ["number", "text", "few"])
def test_inspect_proposes_the_person(run, tmp_path, values):
    frame = clinic(people=60 if values == "few" else 150)
    if values != "number":
        frame["patient_id"] = "P" + frame["patient_id"].astype(str)
    frame.to_csv(tmp_path / "visits.csv", index=False)
    shown = run("inspect", tmp_path / "visits.csv", "--plan", tmp_path / "kech.toml")
    assert "The plan makes it the person: k counts people." in shown.out
    assert "--person" not in shown.out and "Warning: Column" not in shown.out  # the plan solved it
    columns = kech.read_request(tmp_path / "kech.toml").columns
    assert columns.person == ("patient_id",) and "patient_id" not in columns.quasi_identifiers
    found = run("inspect", tmp_path / "visits.csv", "--json")
    assert len(json.loads(found.out)["repeated_people"]) == 1


def test_the_person_with_most_values_is_proposed_and_others_are_identifiers():
    frame = clinic().assign(employee_id=lambda rows: rows["patient_id"] % 12)
    with kech.read_table(frame) as table:
        roles = {column.column: column.role for column in kech.inspect_table(table).columns}
    assert (roles["patient_id"], roles["employee_id"]) == ("person", "identifier")


def test_commands_refuse_warn_and_are_told(run, tmp_path):
    table, safe = tmp_path / "visits.csv", tmp_path / "safe.csv"
    clinic().to_csv(table, index=False)
    words = (table, "--qi", "sex", "zip", "--k", 3, "--identifiers", "patient_id", "--effort", "quick")
    refused = run("release", *words, "-o", safe)
    assert (refused.code, safe.exists()) == (2, False) and "--person patient_id" in refused.err
    looked = run("preview", *words, "--json")
    assert looked.code == 0 and '"warning": "RepeatedPeople"' in looked.err
    both = run("release", *words[:-4], "--person", "patient_id", "--rows-are-people", "-o", safe)
    assert both.code == 2 and "Omit one of the two" in both.err
    told = run("release", *words, "--rows-are-people", "-o", safe, "--json")
    assert told.code == 0 and json.loads(told.out)["repeated_people"] == [] and told.err == ""


def test_a_plan_says_it(tmp_path):
    request = kech.Request().override(quasi_identifiers=["age"], rows_are_people=True)
    kech.write_request(request, tmp_path / "kech.toml")
    assert "rows_are_people = true" in (tmp_path / "kech.toml").read_text("utf-8")
    assert kech.read_request(tmp_path / "kech.toml") == request
    with pytest.raises(BadOption, match="Omit one of the two"):
        request.override(person="patient")


def test_a_published_column_that_looks_like_a_person_is_told_to_readers(run, tmp_path):
    roles = {"quasi_identifiers": ["sex", "zip"], "keep": ["patient_id", "day"], "rows_are_people": True}
    with kech.read_table(clinic(), **roles) as table:
        kech.make_release(table, k=3, effort="quick").write(tmp_path / "safe.csv", ledger=False)
    (said,) = kech.verify_release(tmp_path / "safe.csv")["repeated_people"]
    assert said.startswith("Column 'patient_id' repeats: 150 values")
    assert "Warning: Column 'patient_id' repeats" in run("verify", tmp_path / "safe.csv").out


def test_readers_are_told_nothing_of_people_that_were_counted(tmp_path):
    roles = {"quasi_identifiers": ["sex", "zip"], "person": "patient_id", "keep": ["day"]}
    with kech.read_table(clinic(), **roles) as table:
        kech.make_release(table, k=3, effort="quick").write(tmp_path / "safe.csv", ledger=False)
    assert kech.verify_release(tmp_path / "safe.csv")["repeated_people"] == []


def test_the_studio_takes_the_person_warns_and_refuses(tmp_path):
    body = clinic(people=60).to_csv(index=False).encode()
    others = ["born", "day", "finding"]
    with running(tmp_path) as studio:
        table = studio.upload("visits.csv", body)["id"]
        found = studio.ask(table, "inspect")
        assert found["columns"][0]["role"] == "person" and len(found["repeated_people"]) == 1
        roles, goal = {"quasi_identifiers": ["sex", "zip"]}, {"k": 3, "effort": "quick"}
        studio.give_roles(table, others, release=goal, identifiers=["patient_id"], **roles)
        assert studio.ask(table, "preview")["figures"]["k"] == 3
        refused = studio.ask(table, "release", 422, folder="first", ending=".csv")
        assert refused["error"] == "RepeatedIdentifier"
        studio.give_roles(table, others, release=goal, identifiers=["patient_id"], rows_are_people=True, **roles)
        assert studio.ask(table, "release", folder="second", ending=".csv")["repeated_people"] == []
        state = studio.give_roles(table, others, release=goal, person=["patient_id"], **roles)
        assert state["plan"]["columns"]["person"] == ["patient_id"]
        assert studio.ask(table, "preview")["figures"]["k"] == 3
