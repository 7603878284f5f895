"""Print a hash of the labels of many releases, made by the kernels in a given file: kernel_labels.py [FILE].

Without a file the installed kernels are used.  Two builds agree where they print the same.
"""

import hashlib
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pyarrow as pa

import kech
from kech.errors import KechError
from kech.tables.demo import generate_town

RANDOM = range(60)
TOWN = ["age", "sex", "zip", "moved_in", "schooling", "job"]
ORDER = ["primary", "secondary", "bachelor", "master", "doctorate"]
PEOPLE = 6_000  # more classes of two rows than one block of any kernel holds
SMALL = 1_500
ASKED = (
    (PEOPLE, {"k": 2, "effort": "quick"}),
    (PEOPLE, {"k": 2, "effort": "quick", "suppress": 0.02}),
    (PEOPLE, {"k": 2, "effort": "quick", "grid": "exact", "seed": 3}),
    (SMALL, {"k": 2, "effort": "normal"}),
    (SMALL, {"k": 3, "effort": "quick", "l": 2, "l_kind": "entropy"}),
    (SMALL, {"k": 4, "effort": "quick", "t": 0.4}),
    (SMALL, {"k": 5, "effort": "normal", "suppress": 0.05, "l": 2}),
    (SMALL, {"k": 50, "effort": "quick"}),
    (SMALL, {"k": 7, "cut": "minimal", "effort": "quick"}),
    (SMALL, {"k": 10, "cut": "domain", "suppress": 0.1}),
    (SMALL, {"k": 2, "cut": "regime", "reading": "homological"}),
)


def hash_labels(source, roles, asked, threads=1):
    """Of the labels and sizes of all classes, as they are published; a refusal is an answer too."""
    try:
        with kech.read_table(source, **roles, threads=threads) as table:
            made = kech.make_release(table, **asked)
            labels = zip(*made.labels.values(), made.partition.sizes.tolist(), strict=True)
            told = json.dumps(sorted(map(list, labels), key=str))
    except KechError as refusal:
        told = type(refusal).__name__
    return hashlib.sha256(told.encode()).hexdigest()


def release_town():
    """Releases of a town, of every cut and goal."""
    roles = {"quasi_identifiers": TOWN, "sensitive": ["diagnosis"], "axes": {"schooling": ORDER}}
    for number, (people, asked) in enumerate(ASKED):
        yield f"town of {people}, {asked}", hash_labels(generate_town(people), roles, asked, 1 + number % 2)


def release_ties():
    """Few numbers on two axes and many equal rows: almost every comparison is a tie."""
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.integers(0, 9, 3_000) for name in ("a", "b", "c", "d")})
    for k in (2, 3):
        roles = {"quasi_identifiers": table.column_names}
        yield f"ties, k={k}", hash_labels(table, roles, {"k": k, "effort": "quick", "grid": "exact"})


def release_random():
    """Small random tables of every kind of column."""
    from strategies import random_asked_case

    for seed in RANDOM:
        case = random_asked_case(seed)
        yield f"random {seed}", hash_labels(case.table, case.roles, {"k": case.k, "grid": case.grid} | case.asked)


def load_kernels(file):
    """From here on, kech uses the kernels in this file."""
    if "kech._kernels" in sys.modules:
        sys.exit("Other kernels were loaded before.")
    found = spec_from_file_location("kech._kernels", file)
    sys.modules["kech._kernels"] = module_from_spec(found)
    found.loader.exec_module(sys.modules["kech._kernels"])


def main(file=None):
    """Everything, as JSON."""
    if file:
        load_kernels(file)
    print(json.dumps(dict([*release_town(), *release_ties(), *release_random()])))


if __name__ == "__main__":
    main(*sys.argv[1:])
