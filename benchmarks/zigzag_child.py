"""Zig-zag child: one zig-zag by one tool, in a process of its own; prints the seconds of the job alone.

usage: python zigzag_child.py TOOL THROUGH ROWS NODES PROTOTYPE
"""

import importlib.util
import json
import os
import sys
import tempfile
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


# -- over versions ----------------------------------------------------------------------------------------

K, ARRIVE, LEAVE = 5, 0.05, 0.02
Version = tuple[Classes, Classes]


def cut_in_order(rows: int, rng: np.random.Generator) -> Classes:
    """Classes of K to 2 K - 1 neighbours."""
    sizes = rng.integers(K, 2 * K, rows // K + 1)
    classes = np.repeat(np.arange(len(sizes)), sizes)[:rows]
    return np.where(classes == classes[-1], max(classes[-1] - 1, 0), classes)  # the last may lack rows


def make_series(rows: int, versions: int, rng: np.random.Generator) -> list[Version]:
    """Arrivals are cut among themselves, and cohorts leave as a whole."""
    cohort = cut_in_order(rows, rng)
    found = [(np.arange(rows), cohort)]
    for _ in range(versions - 1):
        here, of = found[-1]
        stays = rng.random(int(of.max()) + 1) >= LEAVE
        arrived = cut_in_order(int(ARRIVE * len(here)), rng) + len(stays)
        more = np.arange(len(arrived)) + max(int(own.max()) for own, _ in found) + 1
        found.append((np.concatenate([here[stays[of]], more]), np.concatenate([of[stays[of]], arrived])))
    return found


def cut_anew(rows: int, versions: int, rng: np.random.Generator) -> list[Version]:
    """Rows come and go one by one, and every version is cut along a line, as if there was no other."""
    here, count, found = np.arange(rows), rows, list[Version]()
    place = rng.random(rows * (1 + versions))
    for _ in range(versions):
        classes = np.empty(len(here), np.int64)
        classes[np.argsort(place[here])] = cut_in_order(len(here), rng)
        found.append((here, classes))
        arrived = np.arange(count, count + int(ARRIVE * len(here)))
        here, count = np.concatenate([here[rng.random(len(here)) >= LEAVE], arrived]), count + len(arrived)
    return found


def versions_job(kind: str, rows: int, versions: int) -> dict[str, float]:
    """Bars over versions and their summary; or one release of the first version."""
    import kech

    rng = np.random.default_rng(24)
    if kind == "release":
        return release_job(rows, rng)
    made = (make_series if kind == "series" else cut_anew)(rows, versions, rng)
    began, cpu = time.perf_counter(), time.process_time()
    lives = kech.compute_lives(made, k=K, threads=os.cpu_count())
    lives.summary()
    spent = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    return {**spent, "bars": len(lives.zigzag.birth), "row_versions": sum(len(own) for own, _ in made)}


def release_job(rows: int, rng: np.random.Generator) -> dict[str, float]:
    """Read, cut, write and check a table of four quasi-identifiers."""
    import pyarrow as pa
    import pyarrow.parquet

    import kech

    columns = {"age": rng.integers(18, 95, rows), "zip": rng.integers(10_000, 20_000, rows)}
    columns |= {"sex": rng.integers(0, 2, rows), "income": rng.normal(40_000, 9_000, rows).round(-2)}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "people.parquet")
        pa.parquet.write_table(pa.table(columns | {"ill": rng.integers(0, 30, rows)}), source)
        began, cpu = time.perf_counter(), time.process_time()
        with kech.read_table(source, quasi_identifiers=list(columns), sensitive=["ill"]) as table:
            kech.make_release(table, k=K).write(Path(folder, "safe.parquet"), ledger=False)
        return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}


def main() -> None:
    """Make the path, do the job, tell."""
    tool, through, rows, nodes, prototype = sys.argv[1:]
    if tool == "versions":
        print(json.dumps(versions_job(through, int(rows), int(nodes))))
        return
    path = make_path(int(rows), int(nodes))
    found = kech_job(path, through) if tool == "kech" else prototype_job(path, Path(prototype))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
