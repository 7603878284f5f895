"""Zig-zag child: one zig-zag by one tool, in a process of its own; prints the seconds of the job alone.

usage: python zigzag_child.py TOOL THROUGH ROWS NODES PROTOTYPE
"""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

Classes = np.ndarray


def make_path(rows: int, nodes: int) -> list[Classes]:
    """Two numeric columns on ever coarser steps, one coarser while the other becomes finer: neighbours cross.

    The steps are shares of the range, so the classes of a node grow with the rows.
    """
    rng = np.random.default_rng(17)
    columns = rng.normal(0.5, 0.15, (2, rows)).clip(0, 1)
    finest = np.sqrt(2 * rows)
    path = []
    for node in range(nodes):
        levels = node % 5, (4 * node + 2) % 5
        codes = [(column * finest / 2**level).astype(np.int64) for column, level in zip(columns, levels, strict=True)]
        path.append(np.unique(codes[0] * 2**32 + codes[1], return_inverse=True)[1].astype(np.int64))
    return path


def kech_job(path: list[Classes], through: str) -> dict[str, float]:
    """Births, deaths, holes, and the rows of every bar at every position."""
    from kech._kernels import walk_path

    weights = np.ones(len(path[0]), np.int64)
    began = time.perf_counter()
    found = walk_path(path, weights, through == "union", os.cpu_count() or 1)
    seconds = time.perf_counter() - began
    bars, classes, holes = len(found["birth"]), int(found["classes"].sum()), int(found["holes"].sum())
    return {"seconds": seconds, "bars": bars, "classes": classes, "all_bars": bars + holes}


def prototype_job(path: list[Classes], prototype: Path) -> dict[str, float]:
    """Births, deaths and holes, in Python with scipy."""
    spec = importlib.util.spec_from_file_location("prototype", prototype)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    began = time.perf_counter()
    bars = module.zigzag(path)
    return {"seconds": time.perf_counter() - began, "bars": len(bars)}


def main() -> None:
    """Make the path, do the job, tell."""
    tool, through, rows, nodes, prototype = sys.argv[1:]
    path = make_path(int(rows), int(nodes))
    found = kech_job(path, through) if tool == "kech" else prototype_job(path, Path(prototype))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
