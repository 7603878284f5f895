"""Demo: three invented tables to try kech with: the paper's nine rows, travellers for its trees, a town."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from kech.system.files import write_text
from kech.system.secret import OwnerSecret

NINE_ROWS = {
    "age": [25, 22, 24, 43, 52, 38, 47, 36, 32],
    "zip": [47677, 47602, 47678, 47905, 47909, 47906, 47605, 47673, 47607],
    "salary": [47000, 32000, 52000, 151000, 145000, 98000, 110000, 92000, 115000],
}

JOBS = {
    "farming": 0.04, "building": 0.09, "factory": 0.13, "driving": 0.07, "sales": 0.14, "office": 0.16,
    "teaching": 0.07, "nursing": 0.06, "medicine": 0.02, "law": 0.02, "science": 0.03, "art": 0.02, "none": 0.15,
}  # fmt: skip
SCHOOLING = {"primary": 0.15, "secondary": 0.45, "bachelor": 0.25, "master": 0.12, "doctorate": 0.03}
DIAGNOSES = {
    "healthy": 0.55, "asthma": 0.08, "diabetes": 0.09, "hypertension": 0.13, "depression": 0.08, "cancer": 0.04,
    "hiv": 0.03,
}  # fmt: skip


COUNTRIES = {
    "Europe": {"West Europe": ["Portugal", "Spain"], "East Europe": ["Hungary", "Poland"]},
    "America": {"North America": ["USA", "Canada"], "South America": ["Brazil", "Chile"]},
}
GENDERS = {"Person": ["Female", "Male"]}


def write_demo_key(folder: Path) -> Path:
    """Write a key that is not secret, so that the demo prints the same figures on every machine."""
    path = folder / "demo.key"
    write_text(path, OwnerSecret(sha256(b"kech demo").digest()).to_text(), private=True)
    return path


def nine_rows() -> pa.Table:
    """Table 1(a) of the paper."""
    return pa.table(NINE_ROWS)


def travellers() -> pa.Table:
    """A table for the trees in section 5 of the paper: a woman and a man of each country, two more women of Spain."""
    countries = [country for regions in COUNTRIES.values() for region in regions.values() for country in region]
    rows = [(gender, country) for gender in ("Female", "Male") for country in countries] + [("Female", "Spain")] * 2
    return pa.table({"gender": [gender for gender, _ in rows], "country": [country for _, country in rows]})


def generate_town(people: int = 20_000, seed: int = 7) -> pa.Table:
    """The people of a town: an identifier, seven quasi-identifiers of all kinds, and a diagnosis."""
    rng = np.random.default_rng(seed)
    age = np.clip(np.where(rng.random(people) < 0.2, rng.gamma(2, 4, people), rng.normal(45, 18, people)), 0, 104)
    moved = np.datetime64("2025-12-31") - (rng.beta(1, 3, people) * age * 365).astype(int).astype("timedelta64[D]")
    district = rng.choice(12, people, p=np.arange(12, 0, -1) / 78)
    income = np.round(np.exp(rng.normal(10.2, 0.6, people)) * (age > 17), -2)
    return pa.table(
        {
            "person": [f"P{i:06d}" for i in rng.permutation(people)],
            "age": age.astype(int),
            "sex": rng.choice(["female", "male", "other"], people, p=[0.505, 0.485, 0.01]),
            "zip": [f"0{2100 + 10 * d + r}" for d, r in zip(district, rng.integers(0, 10, people), strict=True)],
            "moved_in": moved,
            "schooling": draw_values(rng, SCHOOLING, people),
            "job": pa.array(draw_values(rng, JOBS, people), mask=rng.random(people) < 0.03),
            "income": income.astype(int),
            "diagnosis": draw_values(rng, DIAGNOSES, people),
        }
    )


def draw_values(rng: np.random.Generator, shares: dict[str, float], people: int) -> list[str]:
    """Random values with these shares."""
    probabilities = np.array(list(shares.values()))
    return [str(value) for value in rng.choice(list(shares), people, p=probabilities / probabilities.sum())]


def write_csv(table: pa.Table, path: Path) -> Path:
    """Write a table as CSV."""
    pc.write_csv(table, path, pc.WriteOptions(quoting_style="needed"))
    return path
