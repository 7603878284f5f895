"""Parts: where the time of one release goes, by what kech itself reports while it works."""

import json
import sys
import time

import kech
from kech.system.console import listen

job = json.loads(sys.argv[1])
began = time.perf_counter()
reported: dict[str, float] = {}  # when each kind of work was first reported


def note(doing: str, share: float | None) -> None:
    del share
    reported.setdefault(doing, time.perf_counter())


roles = {"quasi_identifiers": job["quasi_identifiers"], "sensitive": [job["sensitive"]]}
with listen(note), kech.read_table(job["source"], **roles) as table:
    kech.make_release(table, k=job["k"]).write(job["target"], ledger=False)
ended = time.perf_counter()

ordering, writing, checking = (reported[x] for x in ("ordering points", "writing", "checking the written file"))
parts = {
    "read and group": ordering - began,
    "order and cut": writing - ordering,
    "write": checking - writing,
    "check": ended - checking,
}
print(json.dumps(parts))
