"""Peer: anonypy as its own README uses it, text columns as categories; then one line for each row."""

import json
import sys

import anonypy
import pandas as pd

job = json.loads(sys.argv[1])
names, sensitive = job["quasi_identifiers"], job["sensitive"]
texts = [name for name in [*names, sensitive] if name not in job["numbers"]]

table = pd.read_csv(
    job["source"],
    usecols=[*names, sensitive],
    dtype=dict.fromkeys(texts, str),
    keep_default_na=False,
    na_values=[""],
)
table = table.astype(dict.fromkeys(texts, "category"))
classes = anonypy.Preserver(table, names, sensitive).anonymize_k_anonymity(k=job["k"])
found = pd.DataFrame(classes)
for name in names:
    found[name] = found[name].str[0]  # each label comes in a list of its own
found.loc[found.index.repeat(found["count"]), [*names, sensitive]].to_csv(job["target"], index=False)
