"""pyCANON's figures of CSV files, for test_oracle_tables; run by the Python of pyCANON's own environment.

JSON in: [{"path", "quasi_identifiers", "sensitive", "number"}].  JSON out: [{"k", "l", "t", "alpha", ...}].
A case with a "fault" shows a known error of pyCANON: {"k"} or {"l"} as it finds them, or {"error"}.
"""

import json
import sys
import warnings

import pandas as pd
from pycanon import anonymity

FAULTS = {
    # numbers as pandas reads them, with NaN for what is missing
    "nan": lambda case: {"k": int(anonymity.k_anonymity(pd.read_csv(case["path"]), case["quasi_identifiers"]))},
    "none": lambda case: {"k": int(anonymity.k_anonymity(with_none(case), case["quasi_identifiers"]))},
    # rows in another order, each with its number
    "index": lambda case: {"l": diversity(case, pd.read_csv(case["path"], dtype=str).iloc[case["order"]])},
    "far index": lambda case: {"l": diversity(case, pd.read_csv(case["path"], dtype=str).set_axis(range(10, 16)))},
    "no rows": lambda case: {"l": diversity(case, pd.read_csv(case["path"], dtype=str).iloc[:0])},
}


def with_none(case):
    return pd.read_csv(case["path"], dtype=object).replace({float("nan"): None})


def diversity(case, table):
    return int(anonymity.l_diversity(table, case["quasi_identifiers"], [case["sensitive"]]))


def show_fault(case):
    try:
        return FAULTS[case["fault"]](case)
    except (IndexError, ValueError) as error:
        return {"error": type(error).__name__}


def measure(case):
    if "fault" in case:
        return show_fault(case)
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
