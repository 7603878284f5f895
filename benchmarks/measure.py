"""Measure: one command in a fresh process: wall and CPU seconds, peak memory, and how busy the machine was otherwise.

Run as a script this file is the stub, a small process that starts the command and waits for it.  It must be small:
Linux counts what a process held before exec, so a large parent would show in the peak memory of its child.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SHORT = 4.0  # seconds; below it the best of several runs counts
REPEATS = 3
TICKS = os.sysconf("SC_CLK_TCK")
WRITTEN = ("benchmarks/results", "benchmarks/pages", "docs/explanation/measured")  # by the runs themselves
TO_MB = 1 / 2**20 if sys.platform == "darwin" else 1 / 2**10  # ru_maxrss counts bytes there, KiB on Linux


def measure(command: list[str], cap: float) -> dict[str, Any]:
    """The best run by wall time; a run over the cap, or a failed one, is the result."""
    runs = [run_once(command, cap)]
    while runs[-1]["outcome"] == "done" and runs[0]["wall"] < SHORT and len(runs) < REPEATS:
        runs.append(run_once(command, cap))
    spoilt = [run for run in runs if run["outcome"] != "done"]
    return min(spoilt or runs, key=lambda run: run["wall"]) | {"runs": len(runs)}


def run_once(command: list[str], cap: float) -> dict[str, Any]:
    """One run, through the stub."""
    stub = [sys.executable, "-I", "-S", __file__, str(cap), *command]
    return json.loads(subprocess.run(stub, stdout=subprocess.PIPE, text=True, check=True).stdout)


def account(command: list[str], cap: float) -> dict[str, Any]:
    """Start the command, stop it at the cap, and say what it took."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complained:
        busy, began = busy_seconds(), time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=complained)
        signal.signal(signal.SIGALRM, lambda *_: child.kill())
        signal.setitimer(signal.ITIMER_REAL, cap)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        signal.setitimer(signal.ITIMER_REAL, 0)
        cpu = usage.ru_utime + usage.ru_stime
        found = {"wall": wall, "cpu": cpu, "peak_mb": usage.ru_maxrss * TO_MB}
        found["others"] = max(0.0, busy_seconds() - busy - cpu) / wall  # cores that others kept busy meanwhile
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if killed and wall >= cap:
            return found | {"outcome": "over", "cap": cap}
        if status:
            complained.seek(0)
            return found | {"outcome": "failed", "why": (complained.read().strip().splitlines() or ["?"])[-1]}
        said.seek(0)
        return found | {"outcome": "done", "said": said.read()}


def read_answer(command: list[str]) -> dict[str, Any]:
    """What a command prints as JSON, or why it failed."""
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    if answer.returncode:
        return {"failed": (answer.stderr.strip().splitlines() or ["?"])[-1][:200]}
    return dict(json.loads(answer.stdout))


def describe_commit() -> str:
    """The commit that is measured; "-dirty" where a file differs that no run writes."""
    root = Path(__file__).parents[1]
    others = [".", *(f":(exclude){folder}" for folder in WRITTEN)]
    here = ask_git(root, "rev-parse", "--short", "HEAD")
    return f"{here}-dirty" if ask_git(root, "status", "--porcelain", "-uno", "--", *others) else here


def ask_git(root: Path, *words: str) -> str:
    """What git says of a checkout."""
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False).stdout.strip()


def busy_seconds() -> float:
    """CPU seconds the whole machine has worked since it started; 0 where nobody can tell."""
    ledger = Path("/proc/stat")
    if not ledger.exists():
        return 0.0
    user, nice, system, _idle, _waiting, *interrupts = map(int, ledger.read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system + sum(interrupts)) / TICKS


if __name__ == "__main__":
    print(json.dumps(account(sys.argv[2:], float(sys.argv[1]))))
