"""Profile child: distances to the 100 nearest rows by one tool, in a process of its own; prints CPU seconds of the job.

usage: python profile_child.py TOOL KIND ROWS METRIC
"""

import json
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

NEAREST = 100


def make_table(kind: str, rows: int) -> pa.Table:
    """Three columns of random numbers, or the quasi-identifiers of Adult."""
    if kind == "uniform":
        values = np.random.default_rng(11).random((rows, 3))
        return pa.table({f"x{j}": column for j, column in enumerate(values.T)})
    from tables import ADULT

    found = pc.read_csv(ADULT, parse_options=pc.ParseOptions(delimiter=";"))
    return found.drop_columns(["salary-class"])


def kech_job(table: pa.Table, metric: str) -> dict[str, float]:
    """Group equal rows, then the merge tree and the nearest rows; parts are told apart."""
    import kech
    from kech.topology.profile import reach_points

    with kech.read_table(table, quasi_identifiers=table.column_names, threads=1) as opened:
        began = time.process_time()
        found = kech.compute_profile(opened, metric=metric)
        ended = time.process_time()
    points = found.units
    del found
    middle = time.process_time()
    reach_points(points, metric, NEAREST, threads=1)
    nearest = time.process_time() - middle
    return {"nearest": nearest, "all": ended - began, "points": len(points.weights)}


def scipy_job(table: pa.Table, metric: str) -> dict[str, float]:
    """A tree of all rows, asked for every row; numbers are scaled to 1, and texts are numbered."""
    from scipy.spatial import cKDTree

    columns = []
    for column in table.columns:
        values = column.to_numpy()
        if values.dtype.kind in "if":
            columns.append((values - values.min()) / np.ptp(values))
        else:
            columns.append(np.unique(values.astype(str), return_inverse=True)[1].astype(float))
    rows = np.stack(columns, axis=1)
    began = time.process_time()
    tree = cKDTree(rows)
    for start in range(0, len(rows), 10_000):  # all at once would need gigabytes
        tree.query(rows[start : start + 10_000], k=NEAREST, p=np.inf if metric == "box" else 2)
    return {"nearest": time.process_time() - began, "points": len(rows)}


def main() -> None:
    """Do the job, tell."""
    tool, kind, rows, metric = sys.argv[1:]
    table = make_table(kind, int(rows))
    print(json.dumps({"kech": kech_job, "scipy": scipy_job}[tool](table, metric)))


if __name__ == "__main__":
    main()
