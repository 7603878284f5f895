"""NIST's k-marginals, propensity and unique exact matches of a typed twin; run by the Python of its own environment.

JSON in: {"excerpts": the folder of NIST's excerpts, "twin": a CSV file with some columns of national2019}.
JSON out: {"k_marginal": 0 to 1000, "propensity": mean square error, "unique_matched": percent}.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import sdnist.report  # noqa: F401 - before its parts, which import each other
from sdnist.load import TestDatasetName
from sdnist.metrics.kmarginal import KMarginal
from sdnist.metrics.propensity import PropensityMSE
from sdnist.metrics.unique_exact_matches import unique_exact_matches
from sdnist.report.dataset import Dataset
from sdnist.utils import SimpleLogger

RARE = "rare value"


def main() -> None:
    """Measure as NIST's report does, and print the figures."""
    job = json.loads(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        told = measure(Path(job["excerpts"]), Path(job["twin"]), Path(folder))
    print(json.dumps(told))


def measure(excerpts: Path, twin: Path, folder: Path) -> dict:
    """The three figures; data are binned and coded by sdnist itself."""
    name_rare_values(twin, json.loads((excerpts / "data_dictionary.json").read_text("utf-8")))
    table = Dataset(twin, SimpleLogger(), TestDatasetName.national2019, excerpts, download=False)
    marginals = KMarginal(table.d_target_data, table.d_synthetic_data)
    propensity = PropensityMSE(table.t_target_data, table.t_synthetic_data, folder)
    _, matched, _, _ = unique_exact_matches(table.c_target_data, table.c_synthetic_data)
    return {
        "k_marginal": float(marginals.compute_score()),
        "propensity": float(propensity.compute_score()),
        "unique_matched": float(matched),
    }


def name_rare_values(twin: Path, dictionary: dict) -> None:
    """A value of NIST's dictionary that the file lacks for each value that a twin only calls rare."""
    cells = pd.read_csv(twin, dtype=str, keep_default_na=False)
    draw = np.random.default_rng(1).choice
    for column in cells.columns:
        is_rare = cells[column] == RARE
        if is_rare.any():
            unlisted = sorted(set(dictionary[column]["values"]) - set(cells[column]))
            cells.loc[is_rare, column] = draw(unlisted, int(is_rare.sum()))
    cells.to_csv(twin, index=False)


if __name__ == "__main__":
    main()
