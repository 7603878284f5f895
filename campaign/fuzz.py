"""Fuzz: random tables, plans, hierarchies, paths and options, and damaged bytes, through the command line.

usage: python -m campaign.fuzz [--seconds 60] [--seed 0] [--case SEED]
No uncaught exception, no traceback, no hang; exit codes 0, 2, 3, 4 and 5 only; what is released verifies, and has k by
a count of its own.  A case is made from its seed alone: `--case` shows one.
"""

import argparse
import csv
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from campaign.core import Child, Outcome, Tally, import_all, own_place, run_kech, use_place
from campaign.tables import write_plan, write_source, write_trees

CODES = (0, 2, 3, 4, 5)
PATIENCE = 60  # seconds for one command
BATCH = 25  # cases of one child

# What may be said of each option; the first ones are sensible
QUASI = ["a", "b", "c", "a,b", "a,b,c", "d", "nope", ""]
INTAKE: dict[str, list[Any]] = {
    "--sensitive": ["s", "c", "nope"],
    "--keep": ["d", "s", "a"],
    "--identifiers": ["d", "a"],
    "--axis": ["a=numeric", "b=set", "a=date", "b=star", "a=x<y<z", "c=ordinal", "=", "a=round", "nope=date"],
    "--grid": ["round", "exact", "loose", "tight", "1", "2.5", "1e-300", "1e300", "0", "nan", "inf", "-1", "wide"],
    "--null-values": ["NA", "?", "", "0", "NaN,inf"],
    "--delimiter": [",", ";", "\t", "|", "ab", '"', "\0"],
    "--encoding": ["utf-8", "latin-1", "utf-16", "cp1252", "klingon", "base64"],
    "--memory": ["1GB", "320MB", "1MB", "-5GB", "much"],
    "--threads": ["1", "2", "0", "-1", "x"],
    "--plan": ["kech.toml", "none.toml"],
    "--hierarchies": ["trees", "none", "kech.toml"],
    "--json": [None],
}
GOALS: dict[str, list[Any]] = {
    "--l": ["2", "1.5", "0", "nan", "-1", "1e400"],
    "--l-kind": ["distinct", "entropy", "recursive", "x"],
    "--c": ["3", "0", "-1", "inf"],
    "--t": ["0.5", "0", "1", "2", "nan"],
    "--t-kind": ["equal", "ordered", "x"],
    "--alpha": ["0.6", "0", "1", "nan"],
    "--suppress": ["0.1", "5%", "0", "1", "100%", "-1", "nan", "x%"],
    "--seed": ["1", "-1", str(2**64), "x"],
}
SENSIBLE_INTAKE = [
    [], [], [], ["--json"], ["--grid=exact"], ["--grid=2.5"], ["--keep=d"], ["--identifiers=d"], ["--axis=b=star"],
    ["--axis=a=set"], ["--threads=2"], ["--plan=kech.toml"], ["--hierarchies=trees"], ["--memory=320MB"],
]  # fmt: skip
SENSIBLE_GOALS = [
    [], [], [], ["--l=2"], ["--t=0.5"], ["--alpha=0.7"], ["--l=1.5", "--l-kind=entropy"],
    ["--t=0.4", "--t-kind=ordered"], ["--l=2", "--l-kind=recursive", "--c=3"], ["--suppress=0.1"],
    ["--suppress=5%", "--l=2"],
]  # fmt: skip
CUTS = ["local", "local", "minimal", "domain", "regime", "nope"]
KS = ["2", "3", "5", "1", "0", "-2", "999999999999999999999", "2.5", "x"]
OUT = ["out.csv", "out.parquet", "OUT.CSV", "out.pq", "é [1].csv", "out.txt", "no/out.csv", "kech.toml", ".csv"]
LOOKS = {
    "inspect": [[], ["--plan=new.toml"], ["--k=x"]],
    "spectrum": [
        ["--k=2"],
        ["--k=2-4", "--cut=domain"],
        ["--k=2,9", "--cut=minimal,regime"],
        ["--k=5-2"],
        ["--plot=p.x"],
    ],
    "barcode": [["--max-dimension=0"], ["--max-dimension=1"], ["--metric=ball", "--max-dimension=2"], ["--metric=x"]],
    "lattice": [[], ["--suppress=0.2"], ["--k=2,5", "--search=chains"], ["--suppress=x"]],
    "zigzag": [["--path=rows"], ["--path=diagonal"], ["--path=0,0 0,1"], ["--path=9,9"], ["--through=intersection"]],
    "hierarchy": [[], ["--kind=prefixes"], ["--from=trees/a.csv"], ["--kind=intervals", "-o=h.csv"], ["--pad"]],
}
AFTER = {
    "verify": [[], ["--qi=a", "--k=2"], ["--qi=a,b", "--k=2", "--sensitive=s", "--l=2"], ["--population=SOURCE"]],
    "risk": [[], ["--population=1000"], ["--population=SOURCE"], ["--original=SOURCE"], ["--threshold=x"]],
    "report": [["-o=r.html"], ["-o=r.html", "--original=SOURCE"], ["-o=r.txt"], ["-o=none/r.html"]],
    "attack edge": [["--original=SOURCE"], ["--original=none.csv"]],
    "attack order": [["--original=SOURCE"], ["--original=TARGET"]],
    "attack downcode": [["--original=SOURCE"], ["--original=SOURCE", "--seed=-1"], ["--original=SOURCE", "--seed=x"]],
    "attack homogeneity": [["--original=SOURCE"], []],
    "compare SOURCE": [[], ["--target=s"], ["--target=nope"]],
}
MORE = [
    [],
    [],
    ["--no-ledger"],
    ["--allow-composition"],
    ["--earlier=TARGET"],
    ["--eps=0.1"],
    ["--reading=homological"],
]
LEDGER = [["ledger"], ["ledger", "--json"], ["ledger", "--forget=TARGET"], ["ledger", "--forget=00"]]


class Typist:
    """Somebody who types commands; a calm one keeps to what is sensible."""

    def __init__(self, rng: random.Random, source: str) -> None:
        self.rng, self.calm, self.source = rng, source.startswith("./calm"), source
        self.target = self.one_of(OUT)

    def one_of(self, values: Sequence[Any]) -> Any:
        """The first ones more often."""
        return values[min(int(self.rng.expovariate(1.5 if self.calm else 0.6)), len(values) - 1)]

    def some_of(self, options: dict[str, list[Any]]) -> list[str]:
        """Some of these options, whatever they are for."""
        typed = [(option, self.one_of(values)) for option, values in options.items() if self.rng.random() < 0.12]
        return [option if value is None else f"{option}={value}" for option, value in typed]

    def intake(self) -> list[str]:
        """How the table is read."""
        if self.calm:
            return [f"--qi={self.rng.choice(QUASI[:5])}", "--sensitive=s", *self.rng.choice(SENSIBLE_INTAKE)]
        return [f"--qi={self.one_of(QUASI)}", *self.some_of(INTAKE)]

    def look(self) -> list[str]:
        """A command that looks at the table."""
        name = self.rng.choice(list(LOOKS))
        column = [self.rng.choice("abcd")] if name == "hierarchy" else []
        return [name, self.source, *column, *self.intake(), *self.one_of(LOOKS[name])]

    def release(self) -> list[str]:
        """A release."""
        cut = self.rng.choice(CUTS[:5] if self.calm else CUTS)
        goals = self.rng.choice(SENSIBLE_GOALS) if self.calm else self.some_of(GOALS)
        words = [
            "release",
            self.source,
            "-o",
            self.target,
            f"--k={self.one_of(KS)}",
            f"--cut={cut}",
            *self.intake(),
            *goals,
        ]
        return words + ["--effort=quick"] * (cut in ("local", "minimal")) + self.named(self.one_of(MORE))

    def after(self) -> list[str]:
        """A command that looks at the release."""
        name = self.rng.choice(list(AFTER))
        return self.named([*name.split(), self.target, *self.one_of(AFTER[name])])

    def named(self, words: Sequence[str]) -> list[str]:
        """With the names of the files."""
        return [word.replace("SOURCE", self.source).replace("TARGET", self.target) for word in words]

    def commands(self) -> list[list[str]]:
        """What somebody does with a table: looks at it, releases it, looks at the release, does it again."""
        again = self.rng.choice([self.release(), self.look(), self.named(self.rng.choice(LEDGER))])
        return [self.look(), self.release(), ["verify", self.target], self.after(), self.after(), again]


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Whatever takes longer is a hang."""

    def stop(*_: object) -> None:
        raise TimeoutError("a hang")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def try_case(seed: int, folder: Path, seconds: int = PATIENCE, aloud: bool = False) -> tuple[list[str], Counter[int]]:
    """All commands of a case; what went wrong, and how often each exit code came."""
    rng, codes, losses = random.Random(seed), Counter[int](), []
    source = write_source(rng, folder, calm=rng.random() < 0.6)
    write_plan(rng, folder / "kech.toml")
    write_trees(rng, folder / "trees")
    for words in Typist(rng, source).commands():
        try:
            with patience(seconds):
                outcome = run_kech(*words)
        except BaseException as fault:
            losses.append(f"case {seed}: {words}: raised {type(fault).__name__}")
            continue
        codes[outcome.code] += 1
        if aloud:
            print(words, outcome)
        losses += [f"case {seed}: {words}: {wrong}" for wrong in wrongs(words, outcome)]
    left = [path.name for path in (folder / "tmp").iterdir()] + [path.name for path in folder.glob(".*.kech-draft")]
    return losses + ([f"case {seed}: left behind {left}"] if left else []), codes


def wrongs(words: list[str], outcome: Outcome) -> Iterator[str]:
    """What a command must not do."""
    said = outcome.out + outcome.err
    if outcome.code not in CODES:
        yield f"exit code {outcome.code}"
    if "Internal fault" in said or "Traceback" in said or (outcome.code and not outcome.err.strip()):
        yield said.strip()[-300:]
    if words[0] == "release" and outcome.code == 0:
        target, k = Path(words[3]), next(int(word[4:]) for word in words if word.startswith("--k="))
        verified = run_kech("verify", target)
        if verified.code != 0:
            yield f"released, and verify says {verified.code}: {verified.err.strip()[-200:]}"
        elif counted(target) < k and not any(word.startswith("--eps") for word in words):
            yield f"released for k={k}, and a count says {counted(target)}"


def counted(path: Path) -> int:
    """Rows of the smallest class, counted from the file and the columns its certificate names."""
    axes = json.loads(Path(f"{path}.certificate.json").read_bytes())["quasi_identifiers"]
    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file, strict=True)
        columns = list(zip(*[row or [""] for row in rows], strict=True))
    else:
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        header, columns = table.column_names, [column.to_pylist() for column in table.columns]
    labels = zip(*(columns[header.index(axis["column"])] for axis in axes), strict=True)
    return min(Counter(labels).values(), default=0)


def try_cases(seeds: range, place: Path, fault: str | None, say: Any) -> tuple[list[str], dict[int, int]]:
    """A batch of cases, each in a folder of its own; each is named before it is tried."""
    PLANTED[fault]() if fault else None
    losses, codes = [], Counter[int]()
    for seed in seeds:
        folder = place / f"case {seed}"
        folder.mkdir()
        use_place(folder)
        os.chdir(folder)
        say(f"case {seed}")
        lost, found = try_case(seed, folder, 2 if fault else PATIENCE)
        losses += lost
        codes += found
        os.chdir(place)
        shutil.rmtree(folder)
    return losses, dict(codes)


def fuzz(tally: Tally, place: Path, seeds: range, fault: str | None = None) -> None:
    """One batch in a child; a child that dies is a loss."""
    answer = Child(try_cases, seeds, place, fault).result(len(seeds) * PATIENCE)
    if tally.expect(answer.word == "done", f"{seeds}: {answer.word} {answer.value}"):
        for loss in answer.value[0]:
            tally.expect(False, loss)
        for code, count in answer.value[1].items():
            tally.cases += count
            name = f"exit_{code}"
            tally.figures[name] = tally.figures.get(name, 0) + count
            tally.faults += count * (code != 0)


# -- faults, to see that they are seen -------------------------------------------------------------------------------


def raise_sometimes() -> None:
    """A bug that nobody caught."""
    import kech

    made, calls = kech.make_release, iter(range(10**6))
    kech.make_release = lambda *a, **b: made(*a, **b) if next(calls) % 2 else 1 / 0


def hang_sometimes() -> None:
    """A search that never ends."""
    import kech

    kech.make_release = lambda *a, **b: time.sleep(1000)


def exit_oddly() -> None:
    """An exit code nobody promised."""
    from kech.errors import UsageError

    UsageError.exit_code = 1


def lose_a_row() -> None:
    """A row that is lost after it was checked."""
    import kech.release.release

    placed = kech.release.release.put_in_place

    def lose(moves: Any, *, private: bool = False) -> None:
        draft = next(iter(moves))
        draft.write_bytes(draft.read_bytes()[:-5])
        placed(moves, private=private)

    kech.release.release.put_in_place = lose


PLANTED = {"raises": raise_sometimes, "hangs": hang_sometimes, "exits oddly": exit_oddly, "loses a row": lose_a_row}


def main() -> int:
    """Batches until the time is up."""
    parser = argparse.ArgumentParser(description="Random tables, options and bytes through the command line.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int)
    asked = parser.parse_args()
    tally, seed = Tally("fuzz"), asked.seed
    import_all()
    with own_place() as place:
        if asked.case is not None:
            return show_case(asked.case, place)
        while time.monotonic() - tally.started < asked.seconds:
            fuzz(tally, place, range(seed, seed + BATCH))
            seed += BATCH
    tally.figures["tables"] = seed - asked.seed
    return tally.close()


def show_case(seed: int, place: Path) -> int:
    """One case, with all that was said."""
    os.chdir(place)
    losses, _ = try_case(seed, place, aloud=True)
    print(*losses, sep="\n")
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
