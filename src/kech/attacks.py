"""Attacks: what somebody who has the original table can do to a release, each beside a control.  PRIVATE.

In: a release with its certificate, and the original table.  Out: `Attack`s: success rates with confidence intervals.
Who is in which class is not known even here: a class is seen as its candidates, the rows that its labels cover.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, sqrt
from typing import Any

import numpy as np

from kech.certificate import AnyPath, Cell
from kech.errors import BadOption, NoSuchColumn
from kech.linkage import Bools, Linkage, LinkedColumn, check_covers, link
from kech.published import Ints, read_published
from kech.table import Table

FEWEST_TARGETS = 100  # with fewer, a rate says too little for a verdict
MOST_CLASSES = 5_000  # attacked; of more, so many are drawn
MOST_RECORDS = 1_000  # looked up among all classes
SINGLED = "records singled out by an end"
Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Attack:
    """How often an attack succeeds, and how often its control does on the same targets."""

    attack: str
    about: str
    targets: int
    hits: int
    control_hits: int
    note: str = ""

    @property
    def verdict(self) -> str:
        """Above its control when the intervals do not even touch; none with too few targets."""
        if self.targets < FEWEST_TARGETS:
            return "no verdict"
        above = wilson(self.hits, self.targets)[0] > wilson(self.control_hits, self.targets)[1]
        return "above its control" if above else "not above its control"

    def to_json(self) -> dict[str, Any]:
        """What the command prints; rates of nothing are null."""
        found = {"attack": self.attack, "about": self.about, "targets": self.targets}
        for name, hits in (("rate", self.hits), ("control", self.control_hits)):
            low, high = wilson(hits, self.targets) if self.targets else (None, None)
            rate = hits / self.targets if self.targets else None
            found |= {name: rate, f"{name}_low": low, f"{name}_high": high}
        return found | {"verdict": self.verdict, "note": self.note}


def wilson(hits: int, targets: int) -> tuple[float, float]:
    """95 % confidence interval of a rate p = hits / n (Wilson 1927).

    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
    """
    rate, share = hits / targets, Z * Z / targets
    middle, reach = rate + share / 2, Z * sqrt(rate * (1 - rate) / targets + share / (4 * targets))
    return max(0.0, (middle - reach) / (1 + share)), min(1.0, (middle + reach) / (1 + share))


@dataclass(frozen=True, eq=False, repr=False)
class Target:
    """A release, its original, and the candidates of the classes that are attacked."""

    linkage: Linkage
    groups: Ints
    candidates: Sequence[Ints]
    seed: int

    @property
    def rows(self) -> int:
        """Rows of the attacked classes."""
        return int(self.linkage.release.sizes[self.groups].sum())

    def rng(self) -> np.random.Generator:
        """Chance, the same for equal seeds."""
        return np.random.default_rng(self.seed)

    def labelled(self) -> Iterator[tuple[Ints, LinkedColumn, Cell]]:
        """Candidates, column and label, for every attacked class and every column."""
        for group, rows in zip(self.groups.tolist(), self.candidates, strict=True):
            for column in self.linkage.columns:
                yield rows, column, column.labels[group]

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """Rows of the release in each attacked class, in the order of the file."""
        found: dict[int, list[int]] = {group: [] for group in self.groups.tolist()}
        for row, group in enumerate(self.linkage.release.group.tolist()):
            if group in found:
                found[group].append(row)
        return found


def run_attacks(
    path: AnyPath,
    original: Table,
    *,
    attacks: Sequence[str] | None = None,
    certificate: AnyPath | None = None,
    seed: int = 0,
) -> list[Attack]:
    """Attack a release, whose certificate must hold, with everything the original tells.  PRIVATE.

    `attacks` are some of edge, order, downcode and homogeneity; all of them otherwise.  The seed decides what chance
    decides: the controls, and which classes are attacked where there are many.
    """
    wanted = list(ATTACKS) if attacks is None else list(attacks)
    if unknown := [name for name in wanted if name not in ATTACKS]:
        raise BadOption("attack", f"{unknown[0]!r} is none; choose among {', '.join(ATTACKS)}.")
    target = aim(path, original, certificate, seed)
    return [attack for name in wanted for attack in ATTACKS[name](target)]


def aim(path: AnyPath, original: Table, certificate: AnyPath | None, seed: int) -> Target:
    """Find the candidates of every class, or of as many classes as are attacked."""
    release = read_published(path, certificate=certificate, with_cells=True)
    if seed < 0:
        raise BadOption("--seed", "give 0 or a larger whole number.")
    for name in release.cells:
        if name not in original.loaded:
            raise NoSuchColumn(name, original.loaded)
    linkage = link(release, original)
    classes = len(release.labels)
    groups = np.random.default_rng(seed).permutation(classes)[:MOST_CLASSES]
    candidates = [linkage.candidates(group) for group in np.sort(groups)]
    check_covers(linkage, np.sort(groups), np.array(list(map(len, candidates))), "--original")
    return Target(linkage, np.sort(groups), candidates, seed)


# -- edge: the end of a label is somebody's value -------------------------------------------------------------


def attack_edges(target: Target) -> list[Attack]:
    """Look for the one row in a class whose value is the end of the published label.

    A hit is a record which "in this box, and this column equals this end" singles out.  Control: the same with a
    value drawn from those of the table that the label covers, in place of the end.
    """
    rng, most = target.rng(), target.rows
    found, by_chance = (defaultdict[str, set[int]](set) for _ in range(2))
    for rows, column, label in target.labelled():
        codes, name = column.codes[rows], column.axis["column"]
        for edge in find_edges(column, label):
            drawn = rng.choice(np.flatnonzero(column.covered(label)))
            for held, singled in ((edge[codes], found[name]), (codes == drawn, by_chance[name])):
                singled.update(rows[held].tolist() if np.count_nonzero(held) == 1 else ())
    if not found:
        return [Attack("edge", SINGLED, 0, 0, 0, "no label shows an end")]
    shown = [name for name in target.linkage.release.quasi_identifiers if name in found]
    each = {f"by {name}": (found[name], by_chance[name]) for name in shown}
    anywhere = (set().union(*found.values()), set().union(*by_chance.values()))
    return [
        Attack("edge", f"{SINGLED}, {about}", most, min(len(hits), most), min(len(control), most))
        for about, (hits, control) in {"by any column": anywhere, **each}.items()
    ]


def find_edges(column: LinkedColumn, label: Cell) -> list[Bools]:
    """For each end that a label shows, the distinct cells equal to it; a label of one value has no ends."""
    if label is None:
        return []
    if column.is_line:
        low, high, closed = column.interval(label)
        ends = [low, *([high] if closed else [])] if low < high else []
        return [column.numbers == end for end in ends if isfinite(end)]
    run = column.run(label) if column.axis["axis"] == "ordinal" else []
    return [column.among([end]) for end in (run[0], run[-1])] if len(run) > 1 else []


# -- order: rows lie as they did in the original ------------------------------------------------------------------


def attack_order(target: Target) -> list[Attack]:
    """Take released rows for the original rows at the same place: of the file, or of their class.

    A target is a released row whose sensitive and kept cells occur once among the candidates of its class, and once in
    its class, so that the right answer is known.  Control: a candidate drawn at random, right once in class size.
    """
    release, rng = target.linkage.release, target.rng()
    ours, theirs = published_cells(target)
    scale = target.linkage.rows / max(release.rows, 1)
    hits, targets = Counter[str](), 0
    for group, rows in zip(target.groups.tolist(), target.candidates, strict=True):
        members = target.members[group]
        once, held = Counter(theirs[row] for row in rows), Counter(ours[row] for row in members)
        for place, row in enumerate(members):
            if once[ours[row]] != 1 or held[ours[row]] != 1:
                continue
            guesses = {
                "file": rows[np.argmin(np.abs(rows - (row + 0.5) * scale + 0.5))],
                "class": rows[int((place + 0.5) / len(members) * len(rows))],
                "chance": rng.choice(rows),
            }
            targets += 1
            hits.update(name for name, guess in guesses.items() if theirs[guess] == ours[row])
    note = "" if release.cells else "no sensitive or kept column is published, so nobody can tell a right link"
    return [
        Attack("order", "links by the place in the file", targets, hits["file"], hits["chance"], note),
        Attack("order", "links by the place in the class", targets, hits["class"], hits["chance"], note),
    ]


def published_cells(target: Target) -> tuple[list[tuple[Cell, ...]], list[tuple[Cell, ...]]]:
    """What is published as it is, for every row of the release and of the original."""
    linkage = target.linkage
    cells = linkage.release.cells
    ours = [[plain(cell) for cell in held] for held in cells.values()]
    theirs = [[plain(cell) for cell in linkage.texts(name)] for name in cells]
    return (
        list(zip(*ours, strict=True)) or [()] * linkage.release.rows,
        list(zip(*theirs, strict=True)) or [()] * linkage.rows,
    )


def plain(cell: Cell) -> Cell:
    """Text to compare: 1.0 is 1, and empty text is NULL."""
    try:
        return repr(float(cell or ""))
    except ValueError:
        return (cell or "").strip() or None


# -- downcode: both ends of a label are occupied ----------------------------------------------------------------------


def attack_downcode(target: Target) -> list[Attack]:
    """Claim that somebody of the class lies in the first, and in the last, finer part of each label.

    Parts are the two halves of an interval, range or set; or, finer, the stretches between the edges that are published
    anywhere in the column, or single values.  Control: as many rows, drawn from all that the label covers in this
    column, lie in the same part.  Where labels are no tighter than they must be, knowing the algorithm gives nothing.
    """
    columns = target.linkage.columns
    cuts = {id(column): find_cuts(column) for column in columns}
    return [
        claim_parts(target, "both halves of a label are occupied", find_halves),
        claim_parts(
            target,
            "both end parts of a label are occupied",
            lambda column, label: find_ends(column, label, cuts[id(column)]),
        ),
    ]


def claim_parts(target: Target, about: str, find: Callable[[LinkedColumn, str], list[Bools]]) -> Attack:
    """How often a part of a label is occupied by its class, and by as many rows at random."""
    rng = target.rng()
    targets = hits = by_chance = 0
    for rows, column, label in target.labelled():
        for part in find(column, label) if label is not None else ():
            covered = column.rows(label)
            drawn = covered[rng.choice(len(covered), len(rows), replace=False, shuffle=False)]
            targets += 1
            hits += bool(part[column.codes[rows]].any())
            by_chance += bool(part[column.codes[drawn]].any())
    return Attack("downcode", about, targets, hits, by_chance)


def find_halves(column: LinkedColumn, label: str) -> list[Bools]:
    """Both halves of a label, as distinct cells; none where it cannot be halved."""
    if column.is_line:
        low, high, _ = column.interval(label)
        return split_line(column, label, [(low + high) / 2] if low < high and isfinite(high - low) else [])
    run = find_run(column, label)
    return [column.among(run[: len(run) // 2]), column.among(run[len(run) // 2 :])] if len(run) > 1 else []


def find_ends(column: LinkedColumn, label: str, cuts: Sequence[float]) -> list[Bools]:
    """The first and the last finer part of a label, as distinct cells; none where it has no parts."""
    if column.is_line:
        low, high, _ = column.interval(label)
        inner = cuts[bisect_right(cuts, low) : bisect_left(cuts, high)] if low < high else []
        return split_line(column, label, inner) or find_halves(column, label)
    run = find_run(column, label)
    return [column.among([end]) for end in (run[0], run[-1])] if len(run) > 1 else []


def find_run(column: LinkedColumn, label: str) -> list[str]:
    """The values of a range or a set; none of other labels."""
    return column.run(label) if column.axis["axis"] in ("ordinal", "set") else []


def split_line(column: LinkedColumn, label: str, cuts: Sequence[float]) -> list[Bools]:
    """What lies before the first cut and after the last one."""
    low, high, closed = column.interval(label)
    return [column.between(low, cuts[0], False), column.between(cuts[-1], high, closed)] if cuts else []


def find_cuts(column: LinkedColumn) -> list[float]:
    """Where the published intervals of a column begin, and where they end."""
    if not column.is_line:
        return []
    ends = [column.interval(label) for label in set(column.labels) if label is not None]
    after = [float(np.nextafter(high, np.inf)) if closed else high for _, high, closed in ends]
    return sorted({end for end in [*(low for low, _, _ in ends), *after] if isfinite(end)})


# -- homogeneity: a class gives a sensitive value away --------------------------------------------------------------


def attack_homogeneity(target: Target) -> list[Attack]:
    """Look a person up: all classes it could be in hold one and the same sensitive value.

    Control: the sensitive values of the release, dealt to its rows at random.
    """
    release, rng = target.linkage.release, target.rng()
    rows = np.sort(rng.permutation(target.linkage.rows)[:MOST_RECORDS])
    found = [groups for groups in target.linkage.classes_of(rows) if len(groups)]
    attacks = []
    for column in release.sensitive:
        values = np.unique([cell or "" for cell in release.cells[column]], return_inverse=True)[1].ravel()
        shared, by_chance = (shared_values(release.group, held) for held in (values, rng.permutation(values)))
        hits, control = (sum(is_pinned(held[groups]) for groups in found) for held in (shared, by_chance))
        note = f"{int((shared >= 0).sum()):,} of {len(shared):,} classes hold one value"
        attacks.append(Attack("homogeneity", f"records whose {column} is given away", len(found), hits, control, note))
    return attacks


def shared_values(group: Ints, values: Ints) -> Ints:
    """The one value of each class, -1 where it holds several."""
    classes = int(group.max()) + 1
    least, most = np.full(classes, np.iinfo(np.int64).max), np.full(classes, -1)
    np.minimum.at(least, group, values)
    np.maximum.at(most, group, values)
    return np.where(least == most, least, -1)


def is_pinned(shared: Ints) -> bool:
    """Whether all classes share one value."""
    return bool(shared[0] >= 0 and (shared == shared[0]).all())


ATTACKS: dict[str, Callable[[Target], list[Attack]]] = {
    "edge": attack_edges,
    "order": attack_order,
    "downcode": attack_downcode,
    "homogeneity": attack_homogeneity,
}
