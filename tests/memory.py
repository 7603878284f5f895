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


def write_texts(path, rows, letters=520):
    """A few points of rows with long texts that are all different."""
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 3, rows) for name in COLUMNS}
    texts = [rng.bytes(letters // 2).hex() for _ in range(rows)]
    pq.write_table(pa.table(columns | {"s": texts}), path, row_group_size=5_000)
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
        table, texts = write_table(Path(folder) / "t.parquet"), write_texts(Path(folder) / "long.parquet", 400_000)
        target = Path(folder) / "out.parquet"
        broken = show("nearly distinct rows", 0, LIMIT, *release(table, target, LIMIT))
        for limit, expected in ((450, 5), (2080, 0)):
            broken |= show("long texts", expected, limit, *release(texts, target, limit))
    sys.exit(broken)


def show(what, expected, limit, code, found, peak):
    """Print what a release took; whether it broke its promise."""
    print(f"{what}: {found.get('rows', 0):,} rows, exit code {code}: {found.get('message', 'released')}")
    print(f"  peak memory: {peak:.0f} MB with --memory {limit}MB: {peak / limit:.2f} times the limit, {MOST} allowed")
    return code != expected or peak > MOST * limit


if __name__ == "__main__":
    main()
