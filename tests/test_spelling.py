"""Sensitive texts are compared by what they say, not by how they are written."""

import json
import unicodedata
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech import inspect_table
from kech.errors import ClaimBroken, GoalNotMet
from strategies import unhurried

HIV = ["hiv", "HIV", "hiv ", "hiv\u00a0", "\u3000Hiv", "ｈｉｖ", "h\u200biv", "hi\u00adv", "hiv.", "\ufeffHIV"]
ROLES = {"quasi_identifiers": ["age"], "sensitive": ["disease"]}
CODES = ["1", "1.0", "01", "+1", "250.0", "250.00"]

letters = st.text(
    st.sampled_from("hHİßſΣς\u0301\u0345\u0307 \u00a0\u200b\u3000\u1160\u2800\x00\t\x1f.10+-²ﬁé"), max_size=8
)


def count_meanings(folder, texts):
    """How many different things these texts say, to whoever makes a release and to whoever checks it."""
    rows = pa.table({"age": [1] * len(texts), "disease": pa.array(texts, pa.string())})
    with kech.read_table(rows, **ROLES) as read:
        table = replace(read, kinds={"disease": "text"})
        (row,) = kech.compute_spectrum(table, k=[1], cut="domain").rows()
        kech.make_release(table, k=1, cut="domain").write(folder / "said.parquet", ledger=False)
    checked = kech.check_certificate(folder / "said.parquet")["l"]["disease"]
    assert row["l"] == checked
    return checked


@pytest.mark.parametrize(
    ("texts", "meanings"),
    [
        (HIV, 1),
        (["Type  2\tdiabetes", "type 2 diabetes", "type 1 diabetes"], 2),
        (["", " ", "\u200b", "\u00a0\u2800", "\u3164"], 1),
        (["", "..."], 2),
        (["café", "cafe\u0301", "cafe"], 2),
        (CODES, len(CODES)),
        (["1.", "1"], 1),
    ],
)
def test_case_width_and_spaces_do_not_matter(tmp_path, texts, meanings):
    assert count_meanings(tmp_path, texts) == meanings


IGNORABLE = (  # as Unicode lists them
    "AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8 "
    "1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)


@pytest.mark.long
def test_what_unicode_lets_programs_hide_does_not_matter(tmp_path):
    ends = [[int(end, 16) for end in listed.split("-")] for listed in IGNORABLE.split()]
    hidden = [chr(code) for held in ends for code in range(held[0], held[-1] + 1)]
    assert count_meanings(tmp_path, ["hiv", *(f"HI{letter}V" for letter in hidden)]) == 1
    assert count_meanings(tmp_path, ["", *hidden]) == 1
    beside = {chr(code) for held in ends for code in (held[0] - 1, held[-1] + 1)} - set(hidden)
    shown = {letter for letter in beside if unicodedata.category(letter) not in ("Cc", "Cf")}
    for letter in shown:
        assert count_meanings(tmp_path, ["hiv", f"hi{letter}v"]) == 2


@given(st.lists(st.text(max_size=8) | letters, min_size=1, max_size=12))
@settings(unhurried, max_examples=40)
def test_maker_and_checker_fold_alike(tmp_path_factory, texts):
    """Both count the same, and how often a text is written does not matter."""
    folder = tmp_path_factory.getbasetemp()
    assert count_meanings(folder, texts) == count_meanings(folder, [*texts, *(f" {text}" for text in texts)])


def write(folder, diseases, name="safe.csv", **goals):
    rows = pa.table({"age": [1] * len(diseases), "disease": diseases})
    with kech.read_table(rows, **ROLES) as table:
        return kech.make_release(table, k=2, **goals).write(folder / name)


@pytest.mark.parametrize("name", ["safe.csv", "safe.parquet"])
def test_l_counts_what_is_said(tmp_path, name):
    measured = write(tmp_path, HIV, name)["measured"]

    assert (measured["l"], measured["alpha"], measured["t"]) == ({"disease": 1}, {"disease": 1.0}, {"disease": 0.0})
    assert measured["entropy_l"] == {"disease": 1.0}
    assert kech.verify_release(tmp_path / name)["l"] == {"disease": 1}
    with pytest.raises(ClaimBroken, match="l of 'disease': asked 2, found 1"):
        kech.verify_release(tmp_path / name, l=2)


def test_a_goal_is_not_met_by_spellings(tmp_path):
    with pytest.raises(GoalNotMet):
        write(tmp_path, HIV, l=2)
    with pytest.raises(GoalNotMet):
        write(tmp_path, ["hiv", "HIV", "hiv ", "flu"], alpha=0.5)
    assert write(tmp_path, ["hiv", "HIV", "flu ", "Flu"], l=2, alpha=0.5)["measured"]["l"] == {"disease": 2}


def test_published_texts_stay_as_they_are(tmp_path):
    diseases = ["hiv", "HIV", "ｈｉｖ", "flu"]
    write(tmp_path, diseases, "safe.parquet")
    assert sorted(pq.read_table(tmp_path / "safe.parquet")["disease"].to_pylist()) == sorted(diseases)


def test_a_certificate_that_counts_spellings_is_refused(tmp_path):
    certificate = write(tmp_path, HIV)
    certificate["measured"]["l"] = {"disease": len(HIV)}
    (tmp_path / "safe.csv.certificate.json").write_text(json.dumps(certificate))

    with pytest.raises(ClaimBroken, match="l: not as claimed"):
        kech.check_certificate(tmp_path / "safe.csv")


def test_classes_of_one_disease_are_found_by_the_attack(tmp_path):
    rows = pa.table({"age": [1] * 3 + [50] * 3, "disease": ["hiv", "HIV", "hiv ", "flu", "Flu", "flu."]})
    with kech.read_table(rows, **ROLES) as table:
        kech.make_release(table, k=3, grid="exact").write(tmp_path / "safe.csv")
        (found,) = kech.run_attacks(tmp_path / "safe.csv", table, attacks=["homogeneity"])
    assert found.note == "2 of 2 classes hold one value"


def test_inspect_counts_variants_and_shows_none(run, tmp_path):
    rows = {"age": list(range(12)), "disease": [*HIV, "flu", "Flu"]}
    with kech.read_table(pa.table(rows), **ROLES) as table:
        _, disease = inspect_table(table).columns
    assert "2 values are spelled in several ways each" in disease.hint
    assert "hiv" not in disease.hint.casefold()
    with kech.read_table(pa.table({"age": [1, 2, 3, 4], "disease": ["a", "b", "", None]}), **ROLES) as table:
        assert inspect_table(table).columns[1].hint is None

    others = {"disease": rows["disease"], "ward": rows["disease"]}
    with kech.read_table(pa.table(others), quasi_identifiers=["disease"], keep=["ward"]) as table:
        hints = [column.hint for column in inspect_table(table).columns]
    assert "l, t and alpha count each once" in disease.hint
    assert all("kech takes each spelling for another value" in hint and "alpha" not in hint for hint in hints)

    path = tmp_path / "people.csv"
    path.write_text("age,disease\n" + "".join(f"{i},{text}\n" for i, text in enumerate(("hiv", "HIV", "flu"))))
    assert "1 value is spelled in several ways" in " ".join(run("inspect", path).out.split())
