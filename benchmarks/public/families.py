"""Families: tables of shapes that differ, made from a seed, so that nobody tunes a tool to one of them.

Each family has quasi-identifiers of its own and one sensitive column, `secret`.
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.public.given import GIVEN, sample_rows
from numpy.random import Generator
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]
Cells = tuple[list[str], Iterable[Sequence[Any]], tuple[str, ...]]
SECRETS = np.array(["healthy", "asthma", "diabetes", "hypertension", "depression", "cancer", "hiv"])
SECRET_SHARES = (0.55, 0.08, 0.09, 0.13, 0.08, 0.04, 0.03)


@dataclass(frozen=True)
class PublicTable:
    """A table as every tool gets it: a CSV file with commas, and the roles of its columns."""

    family: str
    rows: int
    seed: int
    source: Path
    quasi_identifiers: tuple[str, ...]
    numbers: tuple[str, ...]
    sensitive: str = "secret"


def make_table(family: str, rows: int, seed: int, folder: Path) -> PublicTable:
    """Draw a table of the family, or rows of a public table, and write it."""
    if family in GIVEN:
        (*names, sensitive), lines = sample_rows(family, rows, seed)
        numbers = GIVEN[family].numbers
    else:
        (*names, sensitive), lines, numbers = draw_table(family, rows, seed)
    path = folder / f"{family.replace(' ', '_')}-{rows}-{seed}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*names, sensitive], *lines])
    return PublicTable(family, rows, seed, path, tuple(names), numbers, sensitive)


def draw_table(family: str, rows: int, seed: int) -> Cells:
    """The names of the columns, the sensitive one last, the rows, and which columns are numbers."""
    rng = np.random.default_rng([seed, *family.encode()])
    columns = FAMILIES[family](rng, rows)
    secret = SECRETS[rng.choice(len(SECRETS), rows, p=SECRET_SHARES)]
    lines = zip(*(column.tolist() for column in columns.values()), secret.tolist(), strict=True)
    return [*columns, "secret"], lines, tuple(name for name, column in columns.items() if column.dtype.kind in "if")


def draw_town(rng: Generator, rows: int) -> Columns:
    """Ages, sexes, schooling and jobs with shares that differ, and a skewed income."""
    return {
        "age": np.clip(rng.normal(45, 18, rows), 0, 104).astype(int),
        "sex": rng.choice(["female", "male", "other"], rows, p=[0.505, 0.485, 0.01]),
        "schooling": rng.choice(["bachelor", "doctorate", "master", "primary", "secondary"], rows),
        "job": np.array([f"job {i:02d}" for i in draw_skewed(rng, rows, 25)]),
        "income": np.round(np.exp(rng.normal(10.2, 0.6, rows)), -2).astype(int),
    }


def draw_firms(rng: Generator, rows: int) -> Columns:
    """Heavy tails: turnover, staff, profit and the like of firms, each spread over several powers of ten."""
    size = rng.normal(0, 1.5, rows)
    return {f"figure_{j}": np.round(np.exp(size + rng.normal(6, 0.8, rows)), 1) for j in range(8)}


def draw_survey(rng: Generator, rows: int) -> Columns:
    """Small whole numbers: answers from 1 to 5 that hang together, an age and the number of children."""
    mood = rng.normal(0, 1, rows)
    answers = {
        f"question_{j}": np.clip(np.round(3 + mood + rng.normal(0, 1, rows)), 1, 5).astype(int) for j in range(6)
    }
    return {"age": rng.integers(18, 90, rows), "children": rng.poisson(1.2, rows), **answers}


def draw_cards(rng: Generator, rows: int) -> Columns:
    """Twenty-four columns of card data: limits, delays in months, bills and payments."""
    limit = np.round(np.exp(rng.normal(11.5, 0.8, rows)), -4)
    late = np.clip(rng.poisson(0.5, rows), 0, 8)
    columns: Columns = {
        "limit": limit.astype(int),
        "sex": rng.choice(["f", "m"], rows),
        "schooling": rng.choice(["college", "other", "school"], rows, p=[0.5, 0.2, 0.3]),
        "married": rng.choice(["no", "yes"], rows),
        "age": np.clip(rng.normal(35, 9, rows), 21, 79).astype(int),
    }
    columns |= {f"delay_{j}": np.clip(late + rng.integers(-1, 2, rows), -1, 8) for j in range(6)}
    bill = limit * rng.beta(1, 3, rows)
    columns |= {f"bill_{j}": np.round(bill * rng.lognormal(0, 0.3, rows)).astype(int) for j in range(6)}
    columns |= {f"payment_{j}": np.round(bill * rng.beta(1, 6, rows)).astype(int) for j in range(6)}
    return columns | {"years": rng.geometric(0.15, rows)}


def draw_clusters(rng: Generator, rows: int) -> Columns:
    """Sixty round clusters in four dimensions, with a little noise everywhere."""
    centres = rng.random((60, 4))
    values = centres[rng.integers(0, 60, rows)] + rng.normal(0, 0.02, (rows, 4))
    noise = rng.random(rows) < 0.05
    values[noise] = rng.random((int(noise.sum()), 4))
    return {f"x{j}": np.round(values[:, j], 4) for j in range(4)}


def draw_codes(rng: Generator, rows: int) -> Columns:
    """Text only: five columns of codes, a few frequent and many rare."""
    return {
        f"code_{j}": np.array([f"c{i:02d}" for i in draw_skewed(rng, rows, values)])
        for j, values in enumerate((4, 8, 16, 30, 60))
    }


def draw_skewed(rng: Generator, rows: int, values: int) -> NDArray[np.int64]:
    """Numbers below `values`; the i-th has a share in proportion to 1 / (i + 1)."""
    shares = 1 / np.arange(1, values + 1)
    return rng.choice(values, rows, p=shares / shares.sum())


FAMILIES: dict[str, Callable[[Generator, int], Columns]] = {
    "town": draw_town,
    "firms": draw_firms,
    "survey": draw_survey,
    "cards": draw_cards,
    "clusters": draw_clusters,
    "codes": draw_codes,
}
