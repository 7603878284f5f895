"""Peers: Mondrian and MDAV in numpy, as they are usually written; a table in, its classes as labels out.

usage: python peers.py mondrian|mdav JOB; JOB is JSON with source, target, k, quasi_identifiers, numbers and sensitive

Mondrian (LeFevre, DeWitt, Ramakrishnan 2006, strict): the widest axis, by its share of the whole range, is cut at its
median while both sides keep k rows; where it cannot be cut, the next widest is tried.
MDAV (Domingo-Ferrer, Mateo-Sanz 2002): the row farthest from the centroid with its k - 1 nearest rows, then the row
farthest from that one with its nearest, until fewer than 2k rows are left.
Text is ordered by its letters.  Written for this benchmark.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

Cut = Callable[[np.ndarray, int], Iterator[np.ndarray]]


def mondrian(codes: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """The rows of each class."""
    ranges = np.maximum(np.ptp(codes, axis=0), 1e-300)
    waiting = [np.arange(len(codes))]
    while waiting:
        rows = waiting.pop()
        left = left_side(codes[rows], ranges, k)
        if left is None:
            yield rows
        else:
            waiting += [rows[left], rows[~left]]


def left_side(values: np.ndarray, ranges: np.ndarray, k: int) -> np.ndarray | None:
    """Which rows go left, by the widest axis that can be cut."""
    if len(values) < 2 * k:
        return None
    for axis in np.argsort(-np.ptp(values, axis=0) / ranges):
        left = below_median(values[:, axis])
        if k <= np.count_nonzero(left) <= len(values) - k:
            return left
    return None


def below_median(values: np.ndarray) -> np.ndarray:
    """The median goes to the side that leaves the halves more equal."""
    middle = len(values) // 2
    median = np.partition(values, middle)[middle]
    below, upto = values < median, values <= median
    return min(below, upto, key=lambda side: abs(2 * np.count_nonzero(side) - len(values)))


def mdav(codes: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """The rows of each class."""
    x = (codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), 1e-300)
    left = np.arange(len(x))
    while len(left) >= 2 * k:
        first = left[np.argmax(squares(x[left], x[left].mean(axis=0)))]
        second = left[np.argmax(squares(x[left], x[first]))]
        for seed in (first, second)[: 2 if len(left) >= 3 * k else 1]:
            near = np.argpartition(squares(x[left], x[seed]), k - 1)[:k]
            yield left[near]
            left = np.delete(left, near)
    yield left


def squares(x: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Squared distances from a point."""
    return ((x - centre) ** 2).sum(axis=1)


CUTS: dict[str, Cut] = {"mondrian": mondrian, "mdav": mdav}


def publish(cut: Cut, job: dict) -> None:
    """Read the table, cut it, and write one line for each row with the labels of its class."""
    names, k = job["quasi_identifiers"], job["k"]
    *columns, sensitive = read_columns(job["source"], [*names, job["sensitive"]])
    coded = [code(column, name in job["numbers"]) for name, column in zip(names, columns, strict=True)]
    codes = np.stack([values for values, _ in coded], axis=1)
    with Path(job["target"]).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, job["sensitive"]])
        for rows in cut(codes, k):
            labels = [label(codes[rows, j], texts) for j, (_, texts) in enumerate(coded)]
            writer.writerows([*labels, sensitive[i]] for i in rows)


def read_columns(path: str, names: list[str]) -> list[list[str]]:
    """These columns as text."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        header = next(rows)
        places = [header.index(name) for name in names]
        return [list(column) for column in zip(*([row[i] for i in places] for row in rows), strict=True)]


def code(column: list[str], is_number: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """Numbers as they are; text as its place in the order of letters, with the texts."""
    if is_number:
        return np.array(column, dtype=float), None
    texts, codes = np.unique(np.array(column), return_inverse=True)
    return codes.astype(float), np.where(texts == "", "nan", texts)


def label(values: np.ndarray, texts: np.ndarray | None) -> str:
    """`lo-hi` for numbers, `a,b,c` for text."""
    if texts is not None:
        return ",".join(texts[np.unique(values).astype(int)])
    low, high = values.min(), values.max()
    return f"{low:.15g}" if low == high else f"{low:.15g}-{high:.15g}"


if __name__ == "__main__":
    publish(CUTS[sys.argv[1]], json.loads(sys.argv[2]))
