"""Run: time and peak memory of kech beside two peers, in one run; prints the tables and writes pages/speed.md.

usage: python benchmarks/run.py [--quick] [--cap SECONDS] [--page]
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kech.tables.demo import write_demo_key
from measure import REPEATS, SHORT, describe_commit, measure
from page import draw_page, draw_tables
from score import score_release
from tables import SEED, BenchTable, make_tables

HERE = Path(__file__).parent
ROOT = HERE.parent
RESULTS, PAGE = HERE / "results" / "latest.json", HERE / "pages" / "speed.md"
PINS, PEERS_HOME = ROOT / "requirements" / "bench.txt", ROOT / ".venv-bench"
SIZES = (30_000, 300_000, 1_000_000)
K = 10
MIDDLE_K = 50  # of the spectrum from 2 to 100
KECH = str(Path(sys.executable).with_name("kech"))


def main() -> None:
    """Measure everything, one thing at a time."""
    asked = parse_arguments()
    results, page = RESULTS, PAGE
    if asked.quick:  # a fast check leaves the published figures alone; git ignores these names
        results, page = RESULTS.with_name("quick.json.tmp"), RESULTS.with_name("quick.md.tmp")
    results.parent.mkdir(exist_ok=True)
    if not asked.page:
        found = run(asked.cap, SIZES[:1] if asked.quick else SIZES, results.with_name("unfinished.json.tmp"))
        results.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    found = json.loads(results.read_text("utf-8"))
    page.write_text(draw_page(found), "utf-8")
    print("\n" + draw_tables(found))


def parse_arguments() -> argparse.Namespace:
    """What was asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30,000 rows only; writes nothing that is published")
    parser.add_argument("--cap", type=float, default=600, help="seconds after which a command is stopped")
    parser.add_argument("--page", action="store_true", help="measure nothing; draw the page again")
    os.environ["KECH_KEY_FILE"] = str(write_demo_key(Path(tempfile.mkdtemp())))  # the same figures for everybody
    return parser.parse_args()


def run(cap: float, sizes: tuple[int, ...], unfinished: Path) -> dict[str, Any]:
    """All figures; what is already known is kept in a file meanwhile."""
    found: dict[str, Any] = describe_run(cap) | {"measured": []}
    python = peers_python()
    with tempfile.TemporaryDirectory() as folder:
        for table in make_tables(Path(folder), sizes):
            for what, command in commands(table, python, Path(folder)).items():
                line = {"table": table.name, "rows": table.rows, "what": what, **measure(command, cap)}
                line |= judge(table, what, line, Path(folder))
                found["measured"].append(line)
                unfinished.write_text(json.dumps(found, indent=2), "utf-8")
                print(progress(line), flush=True)
    unfinished.unlink()
    return found


def commands(table: BenchTable, python: str, folder: Path) -> dict[str, list[str]]:
    """What is measured on one table, in this order."""

    def target(what: str) -> str:
        return str(target_of(table, what, folder))

    def job(source: Path, what: str) -> str:
        given = {"source": str(source), "target": target(what), "k": K, "sensitive": table.sensitive}
        return json.dumps(given | {"quasi_identifiers": table.quasi_identifiers, "numbers": table.numbers})

    columns = ["--qi", ",".join(table.quasi_identifiers)]
    goals = ["--sensitive", table.sensitive, "--k", str(K), "--no-ledger"]
    release = [KECH, "release", str(table.source), *columns, *goals, "-o"]
    spectrum = [KECH, "spectrum", str(table.source), *columns, "--json"]
    return {
        "kech": [*release, target("kech")],
        "kech like peers": [*release, target("kech like peers"), *table.like_peers],
        "mondrian": [python, str(HERE / "public" / "peers.py"), "mondrian", job(table.plain, "mondrian")],
        "anonypy": [python, str(HERE / "anonypy_peer.py"), job(table.plain, "anonypy")],
        "parts": [sys.executable, str(HERE / "parts.py"), job(table.source, "parts")],
        "verify": [KECH, "verify", target("kech")],
        "spectrum": spectrum,
        "spectrum of one k": [*spectrum, "--k", str(MIDDLE_K)],
    }


def target_of(table: BenchTable, what: str, folder: Path) -> Path:
    """Where a tool writes."""
    return folder / f"{table.name}-{table.rows}-{what.replace(' ', '-')}.csv"


def judge(table: BenchTable, what: str, line: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The score of a released file, and what a command said that is worth keeping."""
    said, target = line.pop("said", ""), target_of(table, what, folder)
    if line["outcome"] != "done":
        return {}
    if what == "parts":
        parts = json.loads(said)
        return {"parts": {"start and import": line["wall"] - sum(parts.values()), **parts}}
    if not target.exists():
        return {}
    return {"score": score_release(table.source, target, table.quasi_identifiers, table.numbers, table.delimiter)}


def progress(line: dict[str, Any]) -> str:
    """One line for whoever waits."""
    score = "".join(f"  {key} {value:.4g}" for key, value in line.get("score", {}).items())
    took = f"{line['outcome']:6} {line['wall']:8.2f} s  {line['cpu']:8.2f} CPU s  {line['peak_mb']:6.0f} MB"
    return f"{line['table']:6} {line['rows']:>9,}  {line['what']:18} {took}{score}  {line.get('why', '')}".rstrip()


def peers_python() -> str:
    """Python of the peers' own environment, made from the pins when they have changed."""
    python, stamp = PEERS_HOME / "bin" / "python", PEERS_HOME / "installed.txt"
    pins = PINS.read_text("utf-8")
    if not stamp.exists() or stamp.read_text("utf-8") != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(PEERS_HOME)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(PINS)]
        subprocess.run(install, check=True)
        stamp.write_text(pins, "utf-8")
    return str(python)


def describe_run(cap: float) -> dict[str, Any]:
    """Machine, versions and settings; no names of hosts or people."""
    pins = dict(line.split("==") for line in PINS.read_text("utf-8").split())
    return {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "versions": {
            "python": platform.python_version(),
            "commit": describe_commit(),
            **{name: version(name) for name in ("kech", "duckdb", "pyarrow", "numpy")},
        },
        "peers": {name: pins[name] for name in ("anonypy", "hdbscan", "mlpack", "pandas", "numpy")},
        "settings": {"k": K, "middle_k": MIDDLE_K, "seed": SEED, "cap": cap, "short": SHORT, "repeats": REPEATS},
    }


def processor() -> str:
    """Its model, where the system says so."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text("utf-8").splitlines() if known.exists() else []
    return next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()
