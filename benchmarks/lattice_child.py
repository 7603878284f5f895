"""Lattice child: k of some nodes by pyCANON, in an environment of its own; prints the seconds of each.

usage: python lattice_child.py < JSON: {"columns": {name: labels of every row by level}, "nodes": [[level, ...]]}
"""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity


def main() -> None:
    """Labels are put into a frame before the clock starts."""
    given = json.load(sys.stdin)
    names, seconds, found = list(given["columns"]), [], []
    for node in given["nodes"]:
        frame = pd.DataFrame({name: given["columns"][name][level] for name, level in zip(names, node, strict=True)})
        began = time.perf_counter()
        found.append(int(anonymity.k_anonymity(frame, names)))
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": seconds, "k": found}))


if __name__ == "__main__":
    main()
