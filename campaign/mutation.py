"""Mutation: small changes to the code that claims, checks and writes; the tests of its room must notice each.

usage: python -m campaign.mutation [--mutants 20] [--seed 0] [--room release.py]        so many changes to each room
A change that no test notices is a survivor: it is listed with its line, to be killed by a test or explained.
"""

import argparse
import ast
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from copy import copy
from pathlib import Path

from campaign.core import ROOT, Tally, own_place

ROOMS = {
    "certificate/cells.py": ("certificate", "regressions"),
    "certificate/check.py": ("certificate",),
    "certificate/claims.py": ("certificate",),
    "certificate/counting.py": ("certificate",),
    "certificate/models.py": ("certificate", "models"),
    "certificate/widths.py": ("certificate",),
    "partition.py": ("partition", "models"),
    "release.py": ("release", "regressions"),
    "axes.py": ("axes",),
}
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
PATIENCE = 600  # seconds for the tests of one change; what takes longer is noticed


def change_node(node: ast.AST) -> bool:
    """Change a node in place; whether there is anything to change."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        node.ops = [SWAPS[type(node.ops[0])](), *node.ops[1:]]  # type: ignore[list-item]
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
    else:
        return False
    return True


def mutants_of(source: str) -> Iterator[tuple[int, str]]:
    """Every change of a module, one at a time: its line and the changed source.  Types are not code."""
    for place in range(len(changeable(ast.parse(source)))):
        tree = ast.parse(source)
        node = changeable(tree)[place]
        change_node(node)
        yield getattr(node, "lineno", 0), ast.unparse(tree)


def changeable(tree: ast.AST) -> list[ast.AST]:
    """Nodes that can be changed, in their order; only copies of them are."""
    typed = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    types = {id(inner) for outer in typed if outer is not None for inner in ast.walk(outer)}
    return [node for node in ast.walk(tree) if id(node) not in types and change_node(copy(node))]


def is_noticed(folder: Path, room: str, changed: str, tests: tuple[str, ...]) -> bool:
    """Whether the tests fail on a changed room."""
    (folder / "kech" / room).write_text(changed, "utf-8")
    files = [str(ROOT / "tests" / f"test_{name}.py") for name in tests]
    words = [sys.executable, str(ROOT / "tests" / "sanitized.py"), str(folder), "-x", "-p", "no:cacheprovider", *files]
    try:
        run = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return True
    return run.returncode != 0


def copy_package(place: Path) -> Path:
    """The package with its kernels, to be changed."""
    import kech._kernels

    shutil.copytree(ROOT / "src" / "kech", place / "kech")
    shutil.copy(kech._kernels.__file__, place / "kech")
    return place


def mutate(tally: Tally, folder: Path, room: str, tests: tuple[str, ...], mutants: int, rng: random.Random) -> None:
    """Some changes of one room; the room itself must pass, or nothing is learned."""
    source = (ROOT / "src" / "kech" / room).read_text("utf-8")
    if is_noticed(folder, room, source, tests):
        raise RuntimeError(f"the tests of {room} fail on the code as it is")
    known = list(mutants_of(source))
    for line, changed in sorted(rng.sample(known, min(mutants, len(known)))):
        tally.cases, tally.faults = tally.cases + 1, tally.faults + 1
        tally.expect(is_noticed(folder, room, changed, tests), f"{room}, line {line}: no test noticed a change")
    (folder / "kech" / room).write_text(source, "utf-8")


def main() -> int:
    """Every room, or one."""
    parser = argparse.ArgumentParser(description="Changes that the tests must notice.")
    parser.add_argument("--mutants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", choices=list(ROOMS), action="append")
    asked = parser.parse_args()
    tally, rng = Tally("mutation"), random.Random(asked.seed)
    with own_place() as place:
        folder = copy_package(place)
        for room in asked.room or ROOMS:
            mutate(tally, folder, room, ROOMS[room], asked.mutants, rng)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
