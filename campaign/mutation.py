"""Mutation: small changes to the code that claims, checks and writes; some test must notice each.

usage: python -m campaign.mutation [--room release/release.py] [--seconds 4] [--minutes 60] [--again]  (make mutation)
A change is made in a forked copy of a process that has imported everything, and only tests that run the changed lines
are run (campaign.coverage knows them), the quickest first, until one fails.  A change that no test notices is a
survivor: it is explained in campaign/explained.json (why nobody could notice), or it is a loss.
"""

import argparse
import ast
import gc
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from itertools import pairwise, takewhile
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from coverage import CoverageData
from hypothesis import Phase, settings

from campaign.core import EVERY, ROOT, Tally
from campaign.coverage import KECH, Ground
from campaign.mutants import Mutant, mutants_of

LAWS = [f"tests/test_{name}.py" for name in ("recount", "written_release", "divided_points", "axis_codes")]
EXPLAINED = Path(__file__).parent / "explained.json"
TESTED_FOR = 4.0  # seconds of processor time for the tests of one change; no test is begun after them
PATIENCE = 15  # seconds of processor time beyond those of the tests; what takes longer has no end
MEMORY = 6 << 30
FIRST = 4  # tests that noticed most are run first
FAULT = "fault: "  # of the harness, in the words of a fork
UNREADABLE = "a module of tests that imports no more"
OPEN = ("survived", "fault")  # what is tried again
IMPORTED = (
    "duckdb", "numpy", "pandas", "polars", "pyarrow.csv", "pyarrow.dataset", "pyarrow.parquet", "rich", "cyclopts",
)  # fmt: skip


@dataclass(frozen=True)
class Fate:
    """Which test noticed a change, or how it ended without one."""

    mutant: Mutant
    word: str  # noticed, stopped (no end, or no memory), survived, or fault (of the harness)
    by: str = ""


# -- which tests -----------------------------------------------------------------------------------------------------


class Map:
    """The tests that run a line, the most useful first."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        found = json.loads((ground.kept / "tests.json").read_bytes())
        self.seconds: dict[str, float] = found["seconds"]
        self.users: dict[str, list[str]] = found["users"]
        self.cost = Counter(self.seconds)  # of a test run alone
        for name, taken in found["shared"].items():
            self.cost.update(dict.fromkeys(self.users.get(name, ()), taken))
        self.data = CoverageData(str(ground.kept / "data.sqlite"))
        self.data.read()
        self.noticed: Counter[str] = Counter()

    @cached_property
    def lines(self) -> dict[str, dict[int, set[str]]]:
        """For each room and line the tests that run it."""
        return {room: self.lines_of(self.ground.path(room)) for room in self.ground.rooms}

    def lines_of(self, path: Path) -> dict[int, set[str]]:
        """For each line of a file the tests that run it."""
        found = self.data.contexts_by_lineno(str(path))
        return {line: {test for name in names for test in self.tests_in(name)} for line, names in found.items()}

    def tests_in(self, context: str) -> list[str]:
        """The test of a context, or all tests that use its fixture."""
        return [context] if context in self.seconds else self.users.get(context, [])

    def tests_of(self, room: str, lines: Iterable[tuple[str, int]]) -> list[str]:
        """The tests of some lines: those that noticed most so far, those of promises, then those made for the room.

        Of each kind the quickest first.
        """
        tests = set().union(*(self.lines[at].get(line, set()) for at, line in lines))
        first = [name for name, _ in self.noticed.most_common() if name in tests][:FIRST]
        own = [*LAWS, *(f"tests/test_{part}.py" for part in Path(room).with_suffix("").parts)]
        kind = {module: rank for rank, module in enumerate(own)}
        rest = sorted(
            tests.difference(first), key=lambda name: (kind.get(module_of(name), len(own)), self.cost[name], name)
        )
        return [*first, *rest]


def module_of(test: str) -> str:
    """The file of a test."""
    return test.partition("::")[0]


def reached_by(mutant: Mutant, texts: Mapping[str, str]) -> set[tuple[str, int]]:
    """Lines that run what a change touches: its own, or where it is run once on import, its function or users."""
    tree = ast.parse(texts[mutant.room])
    own = own_lines(mutant)
    heads = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and own & at_room(mutant, head_of(node))
    ]
    if heads:
        bodies = [range(node.body[0].lineno, node.end_lineno + 1) for node in heads]
        return {line for body in bodies for line in at_room(mutant, body)}
    stands = [node for node in tree.body if own & at_room(mutant, range(node.lineno, node.end_lineno + 1))]
    names = {target.id for node in stands for target in ast.walk(node) if is_stored(target)}
    used = {
        (room, node.lineno)
        for room, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name | ast.Attribute) and name_of(node) in names
    }
    return own | used


def own_lines(mutant: Mutant) -> set[tuple[str, int]]:
    """The lines that a change stands on."""
    return at_room(mutant, range(mutant.line, mutant.last + 1))


def at_room(mutant: Mutant, lines: Iterable[int]) -> set[tuple[str, int]]:
    """Lines of the room that is changed."""
    return {(mutant.room, line) for line in lines}


def head_of(node: ast.FunctionDef) -> set[int]:
    """The lines of a function above its body."""
    return set(range(node.lineno, node.body[0].lineno))


def is_stored(node: ast.AST) -> bool:
    """Whether a name is given a value."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def name_of(node: ast.Name | ast.Attribute) -> str:
    """The last part of a name."""
    return node.id if isinstance(node, ast.Name) else node.attr


# -- changes in a process that has imported everything ---------------------------------------------------------------


def outer_functions(code: CodeType) -> list[CodeType]:
    """Functions of a module and of its classes, in their order."""
    found = []
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found += outer_functions(inner) if is_class(inner) else [inner]
    return found


def is_class(code: CodeType) -> bool:
    """Whether it is the body of a class."""
    return "__qualname__" in code.co_names and code.co_argcount == 0 and "__module__" in code.co_names


class Source:
    """A room as it is, to be compared with its changes."""

    def __init__(self, ground: Ground, room: str) -> None:
        self.path = ground.path(room)
        self.text = self.path.read_text("utf-8")
        self.code = compile(self.text, str(self.path), "exec")

    def changed(self, mutant: Mutant) -> CodeType:
        """The code of a change."""
        return compile(mutant.tree(self.text), str(self.path), "exec")

    def replaced(self, mutant: Mutant) -> dict[CodeType, CodeType]:
        """The functions that a change changes."""
        pairs = zip(outer_functions(self.code), outer_functions(self.changed(mutant)), strict=True)
        return {old: new for old, new in pairs if old != new}


class Loop:
    """In place of the tests: for every change a fork of this process, which runs those that could notice."""

    def __init__(
        self, known: Map, sources: dict[str, Source], mutants: Sequence[Mutant], seconds: float, end: float
    ) -> None:
        self.known, self.sources, self.mutants = known, sources, mutants
        self.seconds, self.end = seconds, end
        self.fates: list[Fate] = []
        self.wrong: str | None = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All changes, and then the tests that noticed them on the code as it is: which of them fail on it."""
        if session.testsfailed:  # a module of tests could not be read, which is how this run ends
            return True
        items = {item.nodeid: item for item in session.items}
        for room in self.sources:
            import_module(self.known.ground.module(room))
        paths = {str(source.path) for source in self.sources.values()}
        live = [x for x in gc.get_objects() if isinstance(x, FunctionType) and x.__code__.co_filename in paths]
        gc.freeze()  # forks share what is not looked at
        for mutant in takewhile(lambda _: time.monotonic() < self.end, self.mutants):
            source = self.sources[mutant.room]
            codes = source.replaced(mutant)
            touched = [(function, codes[function.__code__]) for function in live if function.__code__ in codes]
            chosen = self.known.tests_of(mutant.room, own_lines(mutant))
            if codes and not touched:
                raise RuntimeError(f"the changed function is not alive: {mutant.name}")
            given = touched, [items[name] for name in chosen], self.seconds
            self.note(mutant, in_fork(try_change, *given, patience=PATIENCE + self.seconds))
        gc.unfreeze()
        noticing = [item for item in session.items if item.nodeid in self.known.noticed]
        self.wrong = in_fork(all_failures, noticing, patience=60 * PATIENCE)
        return True

    def note(self, mutant: Mutant, by: str | None) -> None:
        """What became of a change."""
        fate = fate_of(mutant, by)
        if fate.word == "noticed":
            self.known.noticed[fate.by] += 1
        self.fates.append(fate)
        tell(self.known.ground, fate)


def fate_of(mutant: Mutant, by: str | None) -> Fate:
    """By whom it was noticed: "" is nobody, None a process that was ended; a fault of the harness notices nothing."""
    if by is None:
        return Fate(mutant, "stopped")
    if by.startswith(FAULT):
        return Fate(mutant, "fault", by)
    return Fate(mutant, "noticed", by) if by else Fate(mutant, "survived")


def tell(ground: Ground, fate: Fate) -> None:
    """One line a change, past the capture of pytest, and one in a file for those who go on later."""
    print(f"{fate.word} {fate.mutant.name} {fate.by}", file=sys.__stderr__, flush=True)
    with (ground.kept / "fates.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps([*key_of(ground, fate.mutant), fate.word, fate.by]) + "\n")


def key_of(ground: Ground, mutant: Mutant) -> tuple[str, str, int, int]:
    """A change of a room as it is now."""
    return mutant.room, digest_of(ground.path(mutant.room)), mutant.slot, mutant.turn


@cache
def digest_of(path: Path) -> str:
    """Of the bytes of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def earlier_fates(ground: Ground, mutants: Sequence[Mutant]) -> dict[Mutant, Fate]:
    """What became of changes in earlier runs on the same code; whoever was noticed once is noticed."""
    held: dict[tuple[Any, ...], tuple[str, str]] = {}
    kept = ground.kept / "fates.jsonl"
    for line in kept.read_text("utf-8").splitlines() if kept.exists() else ():
        *key, word, by = json.loads(line)
        if held.get(tuple(key), ("survived", ""))[0] in OPEN:
            held[tuple(key)] = word, by
    return {mutant: Fate(mutant, *held[key]) for mutant in mutants if (key := key_of(ground, mutant)) in held}


def forget(ground: Ground, tests: Iterable[str]) -> None:
    """Take back what these tests noticed: they cannot be believed."""
    kept, wrong = ground.kept / "fates.jsonl", set(tests)
    lines = kept.read_text("utf-8").splitlines(keepends=True)
    kept.write_text("".join(line for line in lines if json.loads(line)[-1] not in wrong), "utf-8")


def try_change(touched: Sequence[tuple[FunctionType, CodeType]], items: Sequence[pytest.Item], seconds: float) -> str:
    """The test that notices other code in these functions."""
    for function, code in touched:
        function.__code__ = code
    return first_failure(items, seconds)


def first_failure(items: Sequence[pytest.Item], seconds: float) -> str:
    """The first of some tests that fails, or nothing."""
    start = time.process_time()
    for item, after in pairwise([*items, None]):
        if time.process_time() - start > seconds:
            break
        assert item is not None
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
            return item.nodeid
    return ""


def all_failures(items: Sequence[pytest.Item]) -> str:
    """All of some tests that fail, one a line."""
    runs = pairwise([*items, None])
    return "\n".join(
        item.nodeid
        for item, after in runs
        if item is not None and any(report.failed for report in runtestprotocol(item, log=False, nextitem=after))
    )


def in_fork(work: Callable[..., str], *given: Any, patience: float) -> str | None:
    """What the work says in a process of its own with a temporary folder of its own; None if it was ended."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        hears, says = os.pipe()
        child = os.fork()
        if not child:
            try:
                limit(folder, patience)
                os.write(says, work(*given).encode()[:4_000] or b" ")
            except MemoryError:
                pass
            except BaseException as fault:
                os.write(says, f"{FAULT}{type(fault).__name__}: {fault}".encode()[:4_000])
            finally:
                os._exit(0)
        os.close(says)
        os.waitpid(child, 0)
        with os.fdopen(hears, "rb") as file:
            said = file.read().decode()
    return said.strip() if said else None


def limit(folder: str, patience: float) -> None:
    """What a changed program may take."""
    os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(patience), math.ceil(patience)))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.alarm(math.ceil(20 * patience))


# -- changes of what is run on import --------------------------------------------------------------------------------


class Changed(MetaPathFinder, Loader):
    """One module is imported as changed."""

    def __init__(self, module: str, code: CodeType) -> None:
        self.module, self.code = module, code

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The changed module, and no other."""
        return spec_from_loader(name, self, origin=self.code.co_filename) if name == self.module else None

    def exec_module(self, module: ModuleType) -> None:
        """Run its code."""
        exec(self.code, module.__dict__)


class Chosen:
    """These tests in this order, up to the first that fails."""

    def __init__(self, tests: Sequence[str], seconds: float) -> None:
        self.tests, self.seconds, self.failed = tests, seconds, ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run them; a change may be the end of a test that is made from what it changes."""
        items = {item.nodeid: item for item in session.items}
        found = [items[name] for name in self.tests if name in items]
        self.failed = UNREADABLE if session.testsfailed else first_failure(found, self.seconds)
        return True


def import_changed(ground: Ground, mutant: Mutant, code: CodeType, tests: Sequence[str], seconds: float) -> str:
    """The test that notices a module imported as changed."""
    sys.meta_path.insert(0, Changed(ground.module(mutant.room), code))
    try:
        import_module(ground.module(mutant.room))
    except Exception as fault:
        return f"import: {type(fault).__name__}"
    if not tests:
        return ""
    chosen = Chosen(tests, seconds)
    ended = pytest.main([*OPTIONS, *sorted({str(ground.root / module_of(test)) for test in tests})], plugins=[chosen])
    if ended and chosen.failed != UNREADABLE:
        raise RuntimeError(f"pytest ended with {ended!r}")
    return chosen.failed


OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", *EVERY, "-W", "ignore::pytest.PytestAssertRewriteWarning")


def hunt(
    ground: Ground, mutants: Sequence[Mutant], seconds: float = TESTED_FOR, minutes: float = math.inf
) -> list[Fate]:
    """The fate of every change, or of as many as can be tried in so many minutes."""
    end = time.monotonic() + 60 * minutes
    known = Map(ground)
    sources = {room: Source(ground, room) for room in dict.fromkeys(mutant.room for mutant in mutants)}
    texts = {room: ground.path(room).read_text("utf-8") for room in ground.rooms}
    imported = [mutant for mutant in mutants if mutant.on_import]
    fates = []
    for mutant in imported:
        if time.monotonic() > end:
            break
        source = sources[mutant.room]
        tests = known.tests_of(mutant.room, reached_by(mutant, texts))
        given = ground, mutant, source.changed(mutant), tests, seconds
        by = in_fork(import_changed, *given, patience=PATIENCE + seconds)
        fates.append(fate_of(mutant, by))
        known.noticed.update([by] if by in known.seconds else [])
        tell(ground, fates[-1])
    loop = Loop(known, sources, [mutant for mutant in mutants if not mutant.on_import], seconds, end)
    ended = pytest.main([*OPTIONS, *ground.files], plugins=[loop])
    if ended:
        forget(ground, [UNREADABLE])
        raise RuntimeError(f"the changes were not tried to their end: {ended!r}")
    if loop.wrong != "":
        forget(ground, (loop.wrong or "").splitlines())
        raise RuntimeError(f"tests that noticed changes fail on the code as it is: {loop.wrong or 'they have no end'}")
    return fates + loop.fates


def all_mutants(ground: Ground, rooms: Sequence[str] = ()) -> list[Mutant]:
    """Every change of these rooms, or of all."""
    texts = {room: ground.path(room).read_text("utf-8") for room in rooms or ground.rooms}
    return [mutant for room, text in texts.items() for mutant in mutants_of(text, room)]


def import_others() -> None:
    """Once what every fork would import again, but nothing of kech; hypothesis looks for no smaller example."""
    for name in IMPORTED:
        if find_spec(name.partition(".")[0]):
            import_module(name)
    settings.register_profile(
        "mutation", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate)
    )
    settings.load_profile("mutation")


def explained() -> dict[tuple[str, str, int, str], str]:
    """Why nobody could notice a change of a line that reads so, at a column of it."""
    known = json.loads(EXPLAINED.read_bytes())
    return {(one["room"], one["code"], one["column"], one["change"]): one["why"] for one in known}


def survivors_of(ground: Ground, fates: Iterable[Fate]) -> list[dict[str, Any]]:
    """Every change that no test noticed, with its explanation or None."""
    reasons = explained()
    return [
        {
            "room": mutant.room,
            "line": mutant.line,
            "column": mutant.column,
            "code": code_of(ground, mutant),
            "change": mutant.change,
            "why": reasons.get(key_in_words(ground, mutant)),
        }
        for mutant in [fate.mutant for fate in fates if fate.word == "survived"]
    ]


def key_in_words(ground: Ground, mutant: Mutant) -> tuple[str, str, int, str]:
    """How an explanation names a change, on whichever line it stands."""
    return mutant.room, code_of(ground, mutant), mutant.column, mutant.change


def code_of(ground: Ground, mutant: Mutant) -> str:
    """The line that is changed."""
    return ground.path(mutant.room).read_text("utf-8").splitlines()[mutant.line - 1].strip()


def main() -> int:
    """Every room, or one."""
    parser = argparse.ArgumentParser(description="Changes that the tests must notice.")
    parser.add_argument("--room", choices=KECH.rooms, action="append", default=[])
    parser.add_argument("--seconds", type=float, default=TESTED_FOR, help="of processor time for the tests of a change")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no other change is tried")
    parser.add_argument(
        "--again",
        action="store_true",
        help="go on: what was noticed or is explained is not tried again",
    )
    asked = parser.parse_args()
    tally = Tally("mutation")
    if not (KECH.kept / "tests.json").exists():
        subprocess.run([sys.executable, "-m", "campaign.coverage"], cwd=ROOT, check=False)
    mutants = all_mutants(KECH, asked.room)
    fates = earlier_fates(KECH, mutants) if asked.again else {}
    import_others()
    reasons = explained()
    again = [x for x, fate in fates.items() if fate.word in OPEN and key_in_words(KECH, x) not in reasons]
    found = hunt(KECH, [*(x for x in mutants if x not in fates), *again], asked.seconds, asked.minutes)
    close(tally, KECH, mutants, fates | {fate.mutant: fate for fate in found}, math.isinf(asked.minutes))
    return tally.close()


def close(tally: Tally, ground: Ground, mutants: Sequence[Mutant], fates: dict[Mutant, Fate], to_the_end: bool) -> None:
    """Count the changes; a survivor without an explanation is a loss, and so is a change that was not tried."""
    missing = [mutant for mutant in mutants if mutant not in fates]
    tally.expect(not (to_the_end and missing), f"{len(missing)} changes were not tried")
    for fate in fates.values():
        tally.expect(fate.word != "fault", f"{fate.mutant.name}: not tried, {fate.by}")
    survivors = survivors_of(ground, fates.values())
    for one in survivors:
        tally.expect(one["why"] is not None, f"{one['room']}, line {one['line']}: {one['change']}: no test noticed")
    ends = Counter(fate.word for fate in fates.values())
    tally.cases = tally.faults = len(fates) - ends["fault"]
    tally.figures = {word: ends[word] for word in ("noticed", "stopped", "survived", "fault")}
    tally.figures["explained"] = sum(one["why"] is not None for one in survivors)
    tally.figures["not_tried"] = len(set(all_mutants(ground)).difference(fates))
    tally.lists = {"survivors": survivors}


if __name__ == "__main__":
    sys.exit(main())
