"""Span child: one minimum spanning tree by one tool, in a process of its own; prints the seconds of the job alone.

usage: python span_child.py TOOL METRIC KIND ROWS AXES
"""

import json
import sys
import time

import numpy as np

from kech.request import Labels


def make_points(kind: str, rows: int, axes: int) -> np.ndarray:
    """Uniform, clustered, or whole numbers from 0 to 100."""
    rng = np.random.default_rng(11)
    if kind == "uniform":
        return rng.random((rows, axes))
    if kind == "integers":
        return np.clip(np.round(rng.normal(50, 15, (rows, axes))), 0, 100)
    centres, spread = rng.random((60, axes)), 10 ** rng.uniform(-2.3, -0.9, (60, 1))
    chosen = rng.integers(0, 60, rows)
    return centres[chosen] + spread[chosen] * rng.standard_normal((rows, axes))


def kech_job(points: np.ndarray, metric: str) -> dict[str, float]:
    """Group equal rows in the engine, then tree, weights and simplex radii; parts are told apart."""
    import os

    import pyarrow as pa

    import kech
    from kech.points.points import build_points
    from kech.topology.filtration import build_filtration

    names = [f"x{j}" for j in range(points.shape[1])]
    frame = pa.table(dict(zip(names, points.T, strict=True)))
    began = time.perf_counter()
    with kech.read_table(frame, quasi_identifiers=names) as table:
        grouped = build_points(table, labels=Labels(grid="exact"))
    middle = time.perf_counter()
    tree = build_filtration(grouped, metric, threads=os.cpu_count() or 1)
    ended = time.perf_counter()
    merged = len(tree.birth) - len(grouped.weights)
    return {"seconds": ended - middle, "group": middle - began, "distinct": len(grouped.weights), "merges": merged}


def mlpack_job(points: np.ndarray, metric: str) -> dict[str, float]:
    """Dual-tree Boruvka; Euclidean only."""
    import mlpack

    assert metric == "ball"
    began = time.perf_counter()
    mlpack.emst(points)
    return {"seconds": time.perf_counter() - began}


def hdbscan_job(points: np.ndarray, metric: str) -> dict[str, float]:
    """kd-tree Boruvka of plain distances."""
    from hdbscan._hdbscan_boruvka import KDTreeBoruvkaAlgorithm
    from sklearn.neighbors import KDTree

    named = "chebyshev" if metric == "box" else "euclidean"
    began = time.perf_counter()
    tree = KDTree(points, metric=named, leaf_size=40)
    KDTreeBoruvkaAlgorithm(tree, 1, metric=named, leaf_size=13, approx_min_span_tree=False).spanning_tree()
    return {"seconds": time.perf_counter() - began}


def main() -> None:
    """Scale the points into the unit cube, do the job, tell."""
    tool, metric, kind, rows, axes = sys.argv[1:]
    points = make_points(kind, int(rows), int(axes))
    points = np.ascontiguousarray((points - points.min(0)) / np.ptp(points, axis=0))
    if kind == "integers" and tool == "kech":
        points = np.round(points * 100)
    print(json.dumps({"kech": kech_job, "mlpack": mlpack_job, "hdbscan": hdbscan_job}[tool](points, metric)))


if __name__ == "__main__":
    main()
