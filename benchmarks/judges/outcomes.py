"""Outcomes: ten tables made from a seed, each with an outcome that follows from its columns, and noise.

Six are the families of the public benchmark with an outcome of their own; four are like tables that people learn on.
An outcome is yes or no, or a number.
"""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.public.families import FAMILIES, Columns, PublicTable
from numpy.random import Generator
from numpy.typing import NDArray

OUTCOME = "outcome"


class Split(NamedTuple):
    """One half of a table is released, the other is held back: raw rows that no tool has seen."""

    table: PublicTable
    held_back: Path
    is_number: bool  # whether the outcome is


def make_split(name: str, rows: int, seed: int, folder: Path) -> Split:
    """Draw a table with its outcome, and write its halves of `rows` rows each."""
    rng = np.random.default_rng([seed, *name.encode()])
    columns, outcome = draw_family(rng, 2 * rows, name) if name in FAMILIES else TABLES[name](rng, 2 * rows)
    names = [*columns, OUTCOME]
    lines = list(zip(*(column.tolist() for column in columns.values()), outcome.tolist(), strict=True))
    halves = [folder / f"{name}-{half}.csv" for half in ("released", "held-back")]
    for path, part in zip(halves, (lines[:rows], lines[rows:]), strict=True):
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, *part])
    numbers = tuple(name for name, column in columns.items() if column.dtype.kind in "if")
    table = PublicTable(name, rows, seed, halves[0], tuple(columns), numbers, OUTCOME)
    return Split(table, halves[1], outcome.dtype.kind in "if")


def draw_family(rng: Generator, rows: int, family: str) -> tuple[Columns, NDArray]:
    """A table of the public benchmark; each column has an effect, two of them only together."""
    columns = FAMILIES[family](rng, rows)
    ranks = np.stack([rank(column) for column in columns.values()], axis=1)
    effects = rng.normal(0, 1, ranks.shape[1])
    score = ranks @ effects + 3 * ranks[:, 0] * ranks[:, 1] + rng.normal(0, 0.6, rows)
    if family in ("firms", "clusters"):
        return columns, np.round(100 * score, 1)
    return columns, np.where(score > np.median(score), "yes", "no")


def rank(column: NDArray) -> NDArray[np.float64]:
    """The place of each value among the values of its column, from -1 to 1; text in an order drawn for it."""
    values, place = np.unique(column, return_inverse=True)
    if column.dtype.kind not in "if":
        place = np.random.default_rng(len(values)).permutation(len(values))[place]
    return np.asarray(2 * place / max(len(values) - 1, 1) - 1)


def draw_insurance(rng: Generator, rows: int) -> tuple[Columns, NDArray]:
    """Charges by age, weight and smoking, as in a table that courses use."""
    age, bmi = rng.integers(18, 65, rows), np.round(rng.normal(30.7, 6.1, rows), 1)
    smoker, children = rng.random(rows) < 0.2, np.minimum(rng.poisson(1.1, rows), 5)
    charges = 250 * age + 480 * children + smoker * (14_000 + 16_000 * (bmi > 30)) + rng.gamma(1.2, 3000, rows) - 4000
    return {
        "age": age,
        "sex": rng.choice(["female", "male"], rows),
        "bmi": bmi,
        "children": children,
        "smoker": np.where(smoker, "yes", "no"),
        "region": rng.choice(["northeast", "northwest", "southeast", "southwest"], rows),
    }, np.round(np.maximum(charges, 1000), 2)


def draw_voyage(rng: Generator, rows: int) -> tuple[Columns, NDArray]:
    """Passengers of a ship that sank: sex and class decide most."""
    deck, sex = rng.choice(3, rows, p=[0.24, 0.21, 0.55]), rng.choice(["female", "male"], rows, p=[0.36, 0.64])
    age = np.clip(rng.normal(38 - 6 * deck, 13, rows), 1, 80).astype(int)
    fare = np.round(np.exp(rng.normal(4.2 - 0.9 * deck, 0.5)), 2)
    score = 2.5 * (sex == "female") - 1.1 * deck - 0.03 * age + 1.5 * (age < 10) + 0.9 + rng.logistic(0, 1, rows)
    return {
        "class": np.array(["first", "second", "third"])[deck],
        "sex": sex,
        "age": age,
        "fare": fare,
        "siblings": np.minimum(rng.poisson(0.5, rows), 8),
        "port": rng.choice(["Cherbourg", "Queenstown", "Southampton"], rows, p=[0.19, 0.09, 0.72]),
    }, np.where(score > 0, "yes", "no")


def draw_houses(rng: Generator, rows: int) -> tuple[Columns, NDArray]:
    """Prices of houses by place, size and age."""
    north, east = rng.random(rows), rng.random(rows)
    rooms, built = rng.integers(1, 9, rows), rng.integers(1900, 2024, rows)
    area = np.round(rooms * rng.normal(22, 4, rows) + 20).clip(18).astype(int)
    near = np.exp(-8 * ((north - 0.3) ** 2 + (east - 0.6) ** 2))
    price = area * (2000 + 4000 * near) + 300 * (built - 1900) + rng.normal(0, 40_000, rows)
    return {
        "north": np.round(north, 3),
        "east": np.round(east, 3),
        "rooms": rooms,
        "area": area,
        "built": built,
    }, np.round(price, -2)


def draw_loans(rng: Generator, rows: int) -> tuple[Columns, NDArray]:
    """Defaults by the burden of a loan, earlier delays and the kind of work."""
    income = np.round(np.exp(rng.normal(10.4, 0.5, rows)), -2)
    amount = np.round(income * rng.beta(2, 5, rows), -2)
    late, years = rng.poisson(0.6, rows), rng.geometric(0.12, rows)
    work = rng.choice(["employed", "retired", "self-employed", "student"], rows, p=[0.6, 0.15, 0.17, 0.08])
    score = 5 * amount / income + 0.8 * late - 0.08 * years + 0.9 * np.isin(work, ["student", "self-employed"]) - 2.6
    return {
        "income": income.astype(int),
        "amount": amount.astype(int),
        "late": late,
        "years": years,
        "work": work,
        "age": np.clip(rng.normal(44, 14, rows), 18, 90).astype(int),
    }, np.where(score + rng.logistic(0, 1, rows) > 0, "yes", "no")


TABLES: dict[str, Callable[[Generator, int], tuple[Columns, NDArray]]] = {
    "insurance": draw_insurance,
    "voyage": draw_voyage,
    "houses": draw_houses,
    "loans": draw_loans,
}
