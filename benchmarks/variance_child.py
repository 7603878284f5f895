"""Variance child: variance inside the classes of kech (objective variance, exact edges) and of MDAV, as a share.

usage: python variance_child.py SOURCE K

Every column but the last is a number.  kech publishes a copy of each one unchanged, so that its classes can be read.
"""

import json
import sys
import warnings
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.csv

import kech
from public.peers import mdav


def main() -> None:
    """Print both shares."""
    source, k = sys.argv[1], int(sys.argv[2])
    table = pyarrow.csv.read_csv(source)
    numbers = table.column_names[:-1]
    values = np.stack([table[name].to_numpy() for name in numbers], axis=1).astype(float)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    shares = {"kech": share_inside(classes_of_kech(table, numbers, k)), "MDAV": share_inside(mdav_classes(standard, k))}
    print(json.dumps(shares))


def classes_of_kech(table: pa.Table, numbers: list[str], k: int) -> Iterable[np.ndarray]:
    """The standardised rows of each class."""
    copies = {f"copy_{name}": table[name] for name in numbers}
    beside = pa.table({name: table[name] for name in numbers} | copies)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # copies of quasi-identifiers are what this is about
        roles = {"quasi_identifiers": numbers, "keep": list(copies)}
        with kech.read_table(beside, **roles) as source:
            released = kech.make_release(source, k=k, grid="exact", objective="variance").frame
    values = np.stack([released[name].to_numpy() for name in copies], axis=1).astype(float)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    labels = ["\t".join(map(str, row)) for row in zip(*(released[name].to_pylist() for name in numbers), strict=True)]
    places = np.unique(labels, return_inverse=True)[1]
    return (standard[places == i] for i in range(places.max() + 1))


def mdav_classes(standard: np.ndarray, k: int) -> Iterable[np.ndarray]:
    """The standardised rows of each class of MDAV."""
    return (standard[rows] for rows in mdav(standard, k))


def share_inside(classes: Iterable[np.ndarray]) -> float:
    """Squared distances of rows from the mean of their class, over those from the mean of all rows."""
    kept = list(classes)
    inside = sum(((rows - rows.mean(axis=0)) ** 2).sum() for rows in kept)
    return float(inside / sum((rows**2).sum() for rows in kept))


if __name__ == "__main__":
    main()
