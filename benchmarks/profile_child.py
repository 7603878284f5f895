"""Profile child: distances to the 100 nearest rows by one tool, in a process of its own; prints CPU seconds of the job.

The tool `cuts` tells instead between which radii the narrowest partition lies at some k.

usage: python profile_child.py TOOL KIND ROWS METRIC
"""

import json
import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

NEAREST = 100
KS = [2, 5, 10, 20, 50, 100]


def make_table(kind: str, rows: int) -> pa.Table:
    """Three columns of random numbers, or the quasi-identifiers of Adult."""
    if kind == "uniform":
        values = np.random.default_rng(11).random((rows, 3))
        return pa.table({f"x{j}": column for j, column in enumerate(values.T)})
    if kind == "town":
        from kech.tables.demo import generate_town

        return generate_town(rows, 7).select(["age", "sex", "zip", "moved_in", "schooling", "job"])
    from tables import ADULT

    found = pc.read_csv(ADULT, parse_options=pc.ParseOptions(delimiter=";"))
    return found.drop_columns(["salary-class"])


def kech_job(table: pa.Table, metric: str) -> dict[str, float]:
    """Group equal rows, then the merge tree and the nearest rows; parts are told apart."""
    import kech
    from kech.topology.profile import compute_hiding_radii

    with kech.read_table(table, quasi_identifiers=table.column_names, threads=1) as opened:
        began = time.process_time()
        found = kech.compute_profile(opened, metric=metric)
        ended = time.process_time()
    points = found.units
    del found
    middle = time.process_time()
    compute_hiding_radii(points, metric, NEAREST, threads=1)
    nearest = time.process_time() - middle
    return {"nearest": nearest, "all": ended - began, "points": len(points.weights)}


def cuts_job(table: pa.Table, metric: str) -> dict[str, Any]:
    """For each k the bound of eps and what the minimal cut reaches."""
    import kech

    with kech.read_table(table, quasi_identifiers=table.column_names, threads=1) as opened:
        found = kech.search_partitions(kech.compute_barcode(opened, metric=metric, max_dimension=0), KS, effort="quick")
    return {"reached": [[k, cut.eps_at_least, cut.eps_at_most] for k, cut in found.reached.items()]}


def scale_rows(table: pa.Table) -> np.ndarray:
    """Numbers scaled to 1, and texts numbered."""
    columns = []
    for column in table.columns:
        values = column.to_numpy()
        if values.dtype.kind in "if":
            columns.append((values - values.min()) / np.ptp(values))
        else:
            columns.append(np.unique(values.astype(str), return_inverse=True)[1].astype(float))
    return np.stack(columns, axis=1)


def scipy_job(table: pa.Table, metric: str) -> dict[str, float]:
    """A tree of all rows, asked for every row."""
    from scipy.spatial import cKDTree

    rows = scale_rows(table)
    began = time.process_time()
    tree = cKDTree(rows)
    for start in range(0, len(rows), 10_000):  # all at once would need gigabytes
        tree.query(rows[start : start + 10_000], k=NEAREST, p=np.inf if metric == "box" else 2)
    return {"nearest": time.process_time() - began, "points": len(rows)}


def hdbscan_job(table: pa.Table, metric: str) -> dict[str, float]:
    """The tree that hdbscan asks for core distances, scikit-learn's, asked for every row."""
    from sklearn.neighbors import KDTree

    rows = scale_rows(table)
    began = time.process_time()
    tree = KDTree(rows, metric="chebyshev" if metric == "box" else "euclidean")
    for start in range(0, len(rows), 10_000):
        tree.query(rows[start : start + 10_000], k=NEAREST)
    return {"nearest": time.process_time() - began, "points": len(rows)}


JOBS = {"kech": kech_job, "scipy": scipy_job, "hdbscan": hdbscan_job, "cuts": cuts_job}


def main() -> None:
    """Do the job, tell."""
    tool, kind, rows, metric = sys.argv[1:]
    table = make_table(kind, int(rows))
    print(json.dumps(JOBS[tool](table, metric)))


if __name__ == "__main__":
    main()
