"""Walk: which packages, modules and functions of kech a release of 300 rows passes, and how deep its calls are.

Run `python tests/walk.py` (`--all` lists the modules).  Imports do not count: only functions that run.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

PACKAGE = "kech"
ROWS = 300


class Walk(NamedTuple):
    """Functions of kech by module, and the deepest call of kech inside kech."""

    functions: dict[str, set[str]]
    deepest: tuple[str, ...]

    @property
    def packages(self) -> list[str]:
        """The entries of src/kech that were passed."""
        return sorted({module.split(".")[1] for module in self.functions if module != PACKAGE})


class Tracer:
    """Follows every call on this thread; frames of kech alone count."""

    def __init__(self) -> None:
        self.functions: dict[str, set[str]] = {}
        self.names: dict[CodeType, str | None] = {}
        self.stack: list[str | None] = []
        self.deepest: tuple[str, ...] = ()

    def trace(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call of a function of kech, or leave it."""
        if event == "call":
            self.enter(frame)
        elif event == "return" and self.stack:
            self.stack.pop()

    def enter(self, frame: FrameType) -> None:
        """Note the function; what is only an import, a comprehension or another library is no step."""
        code = frame.f_code
        if code not in self.names:
            self.names[code] = self.name(frame, code)
        name = self.names[code]
        self.stack.append(name)
        if name is not None:
            module, function = name.split(":")
            self.functions.setdefault(module, set()).add(function)
            steps = tuple(step for step in self.stack if step is not None)
            self.deepest = max(self.deepest, steps, key=len)

    def name(self, frame: FrameType, code: CodeType) -> str | None:
        """`module:function` where the frame is one of kech."""
        module = str(frame.f_globals.get("__name__", ""))
        is_kech = module.split(".", maxsplit=1)[0] == PACKAGE and module != "kech._kernels"
        return f"{module}:{code.co_qualname}" if is_kech and not code.co_name.startswith("<") else None


def walk_release(folder: Path) -> Walk:
    """Release 300 rows through the public interface, from a file to a file with its certificate."""
    import kech

    source = folder / "people.csv"
    source.write_text(make_rows(), "utf-8")
    other = folder / "other.csv"
    other.write_text(make_rows(shift=1), "utf-8")
    release_file(
        kech, other, folder / "warm.csv", kech.Ledger(folder / "ledger")
    )  # what is imported when it is first used is imported now
    tracer = Tracer()
    sys.setprofile(tracer.trace)
    try:
        release_file(kech, source, folder / "released.csv")
    finally:
        sys.setprofile(None)
    return Walk(tracer.functions, tracer.deepest)


def release_file(kech: Any, source: Path, target: Path, ledger: Any = True) -> None:
    """The three calls of the README."""
    with kech.read_table(source, quasi_identifiers=["age", "zip", "sex"], sensitive=["illness"], threads=1) as table:
        kech.make_release(table, k=5).write(target, ledger=ledger)


def make_rows(shift: int = 0) -> str:
    """Rows that no generator of numbers changes between versions."""
    lines = ["age,zip,sex,illness"]
    for i in range(ROWS):
        mixed = (i + shift) * 7919 % 1009
        lines.append(f"{18 + mixed % 71},{10000 + mixed * 31 % 400},{'fm'[mixed % 2]},{'abcd'[mixed // 3 % 4]}")
    return "\n".join(lines) + "\n"


def show(walk: Walk, *, everything: bool) -> None:
    """Figures first, then the deepest call; with `everything`, each module and how many of its functions ran."""
    functions = sum(map(len, walk.functions.values()))
    print(f"packages {len(walk.packages)}, modules {len(walk.functions)}, functions {functions}, ", end="")
    print(f"depth {len(walk.deepest)}")
    print(f"packages: {', '.join(walk.packages)}")
    print("deepest call:", *walk.deepest, sep="\n  ")
    if everything:
        counts = Counter({module: len(names) for module, names in walk.functions.items()})
        print("functions of each module:", *(f"{n:4} {module}" for module, n in sorted(counts.items())), sep="\n  ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="list the modules")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"KECH_HOME": folder}  # the ledger and the secret of nobody
        show(walk_release(Path(folder)), everything=options.all)
