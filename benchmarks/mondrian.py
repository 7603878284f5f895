"""Peer: strict Mondrian (LeFevre, DeWitt, Ramakrishnan 2006) in Python and numpy, as it is usually written.

The widest axis, by its share of the whole range, is cut at its median while both sides keep k rows; where it cannot
be cut, the next widest is tried.  Text is ordered by its letters.  Written for this benchmark.
"""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

job = json.loads(sys.argv[1])
names, k = job["quasi_identifiers"], job["k"]


def read_columns(path: str, wanted: list[str]) -> list[list[str]]:
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        header = next(rows)
        places = [header.index(name) for name in wanted]
        return [list(column) for column in zip(*([row[i] for i in places] for row in rows), strict=True)]


def parted(codes: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of each class."""
    whole = np.maximum(np.ptp(codes, axis=0), 1e-300)
    waiting = [np.arange(len(codes))]
    while waiting:
        rows = waiting.pop()
        left = left_side(codes[rows], whole)
        if left is None:
            yield rows
        else:
            waiting += [rows[left], rows[~left]]


def left_side(part: np.ndarray, whole: np.ndarray) -> np.ndarray | None:
    """Which rows go left, by the widest axis that can be cut."""
    if len(part) < 2 * k:
        return None
    for axis in np.argsort(-np.ptp(part, axis=0) / whole):
        left = below_median(part[:, axis])
        if k <= np.count_nonzero(left) <= len(part) - k:
            return left
    return None


def below_median(values: np.ndarray) -> np.ndarray:
    """The median goes to the side that leaves the halves more equal."""
    middle = len(values) // 2
    median = np.partition(values, middle)[middle]
    below, upto = values < median, values <= median
    return min(below, upto, key=lambda side: abs(2 * np.count_nonzero(side) - len(values)))


def label(values: np.ndarray, texts: np.ndarray | None) -> str:
    """`lo-hi` for numbers, `a,b,c` for text."""
    if texts is not None:
        return ",".join(texts[np.unique(values).astype(int)])
    low, high = values.min(), values.max()
    return f"{low:.15g}" if low == high else f"{low:.15g}-{high:.15g}"


def main() -> None:
    *columns, sensitive = read_columns(job["source"], [*names, job["sensitive"]])
    coded: list[tuple[np.ndarray, np.ndarray | None]] = []
    for name, column in zip(names, columns, strict=True):
        if name in job["numbers"]:
            coded.append((np.array(column, dtype=float), None))
        else:
            texts, codes = np.unique(np.array(column), return_inverse=True)
            coded.append((codes.astype(float), np.where(texts == "", "nan", texts)))
    codes = np.stack([values for values, _ in coded], axis=1)
    with Path(job["target"]).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, job["sensitive"]])
        for rows in parted(codes):
            labels = [label(codes[rows, j], texts) for j, (_, texts) in enumerate(coded)]
            writer.writerows([*labels, sensitive[i]] for i in rows)


main()
