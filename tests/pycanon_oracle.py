"""pyCANON's figures of CSV files, for test_oracle_tables; run by the Python of pyCANON's own environment.

JSON in: [{"path", "quasi_identifiers", "sensitive"}].  JSON out: [{"k", "l", "t"}].
"""

import json
import sys

import pandas as pd
from pycanon import anonymity


def measure(case):
    # Every cell as text: pyCANON 1.3.6 counts rows with a NaN as if they were in every class.
    table = pd.read_csv(case["path"], dtype=str, keep_default_na=False)
    roles = (table, case["quasi_identifiers"], [case["sensitive"]])
    k = anonymity.k_anonymity(table, case["quasi_identifiers"])
    return {"k": int(k), "l": int(anonymity.l_diversity(*roles)), "t": float(anonymity.t_closeness(*roles))}


json.dump([measure(case) for case in json.load(sys.stdin)], sys.stdout)
