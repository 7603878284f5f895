"""pyCANON's k and l of a file; run by the Python of its own environment.

JSON in: {"path", "quasi_identifiers", "secret"}.  JSON out: {"k", "l"}.
"""

import json
import sys

import pandas as pd
from pycanon import anonymity

job = json.loads(sys.argv[1])
table = pd.read_csv(job["path"], dtype=str, keep_default_na=False)
k = anonymity.k_anonymity(table, job["quasi_identifiers"])
l_found = anonymity.l_diversity(table, job["quasi_identifiers"], [job["secret"]])
print(json.dumps({"k": int(k), "l": int(l_found)}))
