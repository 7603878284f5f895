"""Cells: what judges that know no labels are given of a released file.

A twin has one random value that a label covers in place of the label.  Features are the middle of an interval, and for
each text the share that a label gives to it; raw values are features in the same way, so that a model learns from a
release and predicts from raw rows.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.public.families import PublicTable
from benchmarks.score import covered, ends_of, position, read_columns
from numpy.typing import NDArray


def write_twin(table: PublicTable, released: Path, target: Path, seed: int = 0) -> None:
    """A released file of any tool with a random value in place of each label."""
    rng = np.random.default_rng(seed)
    source, labels = (
        read_columns(path, [*table.quasi_identifiers, table.sensitive], ",") for path in (table.source, released)
    )
    columns = []
    for name in table.quasi_identifiers:
        known = source[name].unique().to_pylist()
        draw = draw_number(known, rng) if name in table.numbers else draw_text(known, rng)
        columns.append([draw(label) for label in labels[name].to_pylist()])
    columns.append(labels[table.sensitive].to_pylist())
    with target.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([labels.column_names, *zip(*columns, strict=True)])


def draw_number(known: list[str], rng: np.random.Generator) -> Any:
    """A function that draws a number of a label, with as many decimals as the column has."""
    places = [position(value) for value in known]
    decimals = max(len(value.partition(".")[2]) for value in known)
    first, last = min(places), max(places)

    def draw(label: str) -> str:
        return f"{rng.uniform(*ends_of(label, first, last)):.{decimals}f}"

    return draw


def draw_text(known: list[str], rng: np.random.Generator) -> Any:
    """A function that draws a value of a label."""
    members = {}

    def draw(label: str) -> str:
        if label not in members:
            members[label] = sorted(covered(label, set(known)))
        return members[label][rng.integers(len(members[label]))]

    return draw


def draw_features(table: PublicTable, released: Path, folder: Path, seed: int) -> NDArray[np.float64]:
    """The features of a released file with a random value in place of each label."""
    twin = folder / "drawn.csv"
    write_twin(table, released, twin, seed)
    return build_features(table, twin)


def build_features(table: PublicTable, path: Path) -> NDArray[np.float64]:
    """The features of each row of a raw or released file; the values of the source tell what text there is."""
    source, labels = (read_columns(each, list(table.quasi_identifiers), ",") for each in (table.source, path))
    features = []
    for name in table.quasi_identifiers:
        known = sorted(source[name].unique().to_pylist())
        encode = encode_number(known) if name in table.numbers else encode_text(known)
        cells = labels[name].combine_chunks().dictionary_encode()
        features.append(np.array([encode(label) for label in cells.dictionary.to_pylist()])[cells.indices.to_numpy()])
    return np.hstack(features)


def encode_number(known: list[str]) -> Any:
    """A function from a label to the middle of its interval."""
    places = [position(value) for value in known]
    first, last = min(places), max(places)
    return lambda label: [sum(ends_of(label, first, last)) / 2 if not is_raw(label) else position(label)]


def encode_text(known: list[str]) -> Any:
    """A function from a label to the share of each known value; of an unknown one all are 0."""
    texts = set(known)

    def encode(label: str) -> list[float]:
        try:
            members = covered(label, texts)
        except ValueError:  # a raw value that the released half of the table does not have
            members = set()
        return [(value in members) / max(len(members), 1) for value in known]

    return encode


def is_raw(label: str) -> bool:
    """Whether a label is a plain number."""
    try:
        float(label)
    except ValueError:
        return False
    return True
