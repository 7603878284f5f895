"""The peak memory of a release under --memory, measured on a child process: python tests/memory.py prints it last."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LIMIT = 350  # MB
MOST = 1.3  # times the limit
ROWS = 300_000
COLUMNS = [f"c{j}" for j in range(6)]

CHILD = """
import sys
from kech.cli import main
try:
    main(sys.argv[1:])
finally:
    print(open("/proc/self/status").read(), file=sys.stderr)
"""


def write_table(path, rows=ROWS):
    """Rows that are nearly all distinct: they fit into no such limit without coarser axes."""
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 1000, rows) for name in COLUMNS}
    pq.write_table(pa.table(columns | {"s": rng.integers(0, 9, rows).astype(str)}), path)
    return path


def release(table, target, limit, *more):
    """A release in a process of its own: its exit code, what it says, and its peak memory in MB."""
    words = ["release", str(table), "-o", str(target), "--qi", *COLUMNS, "--sensitive", "s", "--k", "10"]
    words += ["--effort", "quick", "--memory", f"{limit}MB", "--no-ledger", "--json", *more]
    done = subprocess.run([sys.executable, "-c", CHILD, *words], capture_output=True, text=True, check=False)
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", done.stderr)[1]) * 1024 / 1e6
    said = done.stdout or next(line for line in done.stderr.splitlines() if line.startswith("{"))
    return done.returncode, json.loads(said), peak


def main():
    with tempfile.TemporaryDirectory() as folder:
        code, found, peak = release(write_table(Path(folder) / "t.parquet"), Path(folder) / "out.parquet", LIMIT)
    print(f"{found.get('rows', 0):,} rows, exit code {code}, axes in cells of {found['coarse']['step']:.3f}")
    print(f"peak memory: {peak:.0f} MB with --memory {LIMIT}MB: {peak / LIMIT:.2f} times the limit, {MOST} allowed")
    sys.exit(code or peak > MOST * LIMIT)


if __name__ == "__main__":
    main()
