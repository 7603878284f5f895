"""pyCANON's figures of CSV files, for test_oracle_tables; run by the Python of pyCANON's own environment.

JSON in: [{"path", "quasi_identifiers", "sensitive", "number"}].  JSON out: [{"k", "l", "t", "alpha", ...}].
"""

import json
import sys
import warnings

import pandas as pd
from pycanon import anonymity


def measure(case):
    # Every cell as text: pyCANON 1.3.6 counts rows with a NaN as if they were in every class.
    table = pd.read_csv(case["path"], dtype=str, keep_default_na=False)
    roles = (table, case["quasi_identifiers"], [case["sensitive"]])
    alpha, k = anonymity.alpha_k_anonymity(*roles)
    found = {
        "k": int(k),
        "l": int(anonymity.l_diversity(*roles)),
        "t": float(anonymity.t_closeness(*roles)),
        "alpha": float(alpha),
        "entropy_l": int(anonymity.entropy_l_diversity(*roles)),
        "recursive_c": float(anonymity.recursive_c_l_diversity(*roles)[0]),
        "beta": float(anonymity.basic_beta_likeness(*roles)),
        "enhanced_beta": float(anonymity.enhanced_beta_likeness(*roles)),
        "delta": float(anonymity.delta_disclosure(*roles)),
    }
    if case.get("number"):
        table[case["sensitive"]] = table[case["sensitive"]].astype(float)
        found["t_ordered"] = float(anonymity.t_closeness(*roles))
    return found


warnings.simplefilter("ignore")  # it divides by 0 where a column has one value
json.dump([measure(case) for case in json.load(sys.stdin)], sys.stdout)
