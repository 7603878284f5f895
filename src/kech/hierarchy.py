"""Generalization trees: the steps by which a value is blurred, up to a root that says nothing.

In: a hierarchy file, a mapping, or the values of a column.  Out: trees with their leaves in depth-first
order, so that any set of values is a range of codes, for `axes` and `lattice`.
"""

import csv
import io
import json
import os
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from operator import ne
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kech.errors import BadHierarchy, NoSuchFile, UnreadableFile

LeafPath: TypeAlias = tuple[str, ...]
FilePath: TypeAlias = str | os.PathLike[str]
ROOT = "*"
FORMATS = (".csv", ".toml", ".json")
DEEPEST = 100  # levels of a nested file; far above any use, far below Python's stack


@dataclass(frozen=True)
class GeneralizationTree:
    """Leaves in depth-first order, each with its path (value, level-1 label, ..., root label).

    The leaves under a node are neighbours, so LCA(S) = LCA(min S, max S).  A label that repeats upward
    (Other, Other, *) is read as the highest node that bears it, and is as wide as that node.
    """

    paths: tuple[LeafPath, ...]
    source: str = field(default="given tree", compare=False)

    @property
    def leaves(self) -> tuple[str, ...]:
        """Values, by code."""
        return tuple(path[0] for path in self.paths)

    @property
    def height(self) -> int:
        """Number of levels, leaves and root included."""
        return len(self.paths[0]) if self.paths else 1

    def label(self, lo: int, hi: int) -> str:
        """Label of LCA(lo..hi), the lowest node above all of these leaves; of the leaf if lo == hi."""
        return self.paths[lo][self._meeting_level(lo, hi)]

    def span(self, lo: int, hi: int) -> tuple[int, int]:
        """First and last leaf that a reader of label(lo, hi) has to think of."""
        path, level = self.paths[lo], self._meeting_level(lo, hi)
        while level + 1 < len(path) and path[level] == path[level + 1]:
            level += 1
        codes = self._codes[level]
        first, after = np.searchsorted(codes, np.array([codes[lo], codes[lo] + 1], np.int32))
        return int(first), int(after) - 1

    def gap_widths(self) -> npt.NDArray[np.float64]:
        """Width of LCA(i, i+1) for every two neighbours; gaps[lo:hi].max() is the width of lo..hi, lo < hi.

            width = (leaves under - 1) / (leaves - 1)

        LCA(lo, hi) is the highest of the LCAs of the neighbours between, and no node is wider than one above.
        """
        levels = (self._codes[:, 1:] != self._codes[:, :-1]).sum(axis=0)
        return self._widths(self._leaves_read[levels, np.arange(len(levels))])

    def leaf_widths(self) -> npt.NDArray[np.float64]:
        """0 for every leaf, but for one whose text also names a node above it: the width of that node."""
        return self._widths(self._leaves_read[0])

    def level_codes(self, level: int) -> npt.NDArray[np.int32]:
        """Leaf -> index of its node at this level, in depth-first order."""
        codes: npt.NDArray[np.int32] = self._codes[level]
        return codes

    def level_labels(self, level: int) -> tuple[str, ...]:
        """Labels of the nodes at this level, by index."""
        return tuple(dict.fromkeys(path[level] for path in self.paths))

    def leaf_counts(self) -> dict[str, int]:
        """Label of every node -> leaves under it; a label that repeats upward counts at its highest."""
        counts: dict[str, int] = {}
        for level, codes in enumerate(self._codes):
            counts.update(zip(self.level_labels(level), np.bincount(codes).tolist(), strict=True))
        return counts

    def restrict(self, values: Iterable[str]) -> "GeneralizationTree":
        """The tree of the values present, so that widths are relative to them."""
        present = set(values)
        lacking = len(present.difference(self.leaves))
        if lacking:
            reason = f"distinct values of the column that are none of its leaves: {lacking}. Add a leaf for each."
            raise BadHierarchy(self.source, None, reason)
        return replace(self, paths=tuple(path for path in self.paths if path[0] in present))

    def _meeting_level(self, lo: int, hi: int) -> int:
        pairs = zip(self.paths[lo], self.paths[hi], strict=True)
        return next(level for level, (low, high) in enumerate(pairs) if low == high)

    def _widths(self, leaves: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        return (leaves - 1) / max(len(self.paths) - 1, 1)

    @cached_property
    def _codes(self) -> npt.NDArray[np.int32]:
        codes = np.zeros((self.height, len(self.paths)), np.int32)
        for level, row in enumerate(codes):
            labels = [path[level] for path in self.paths]
            row[1:] = np.cumsum(np.fromiter(map(ne, labels, labels[1:]), bool))
        codes.flags.writeable = False
        return codes

    @cached_property
    def _leaves_read(self) -> npt.NDArray[np.int64]:
        """[level, leaf]: leaves under the highest node with the text of this leaf's node at this level."""
        counts = np.stack([np.bincount(codes)[codes] for codes in self._codes])
        for level in reversed(range(self.height - 1)):
            repeats = np.fromiter((path[level] == path[level + 1] for path in self.paths), bool)
            counts[level, repeats] = counts[level + 1, repeats]
        return counts


Source: TypeAlias = FilePath | GeneralizationTree | Mapping[Any, Any]


def read_hierarchy(source: Source, *, pad: bool = False, column: str | None = None) -> GeneralizationTree:
    """The tree in a .csv, .toml or .json file, a nested mapping, or one of ANJANA's {level: labels}.

    CSV has no header: a value, then its labels upward, split by `;`, else `,`, else tab.  A nested mapping
    holds lists of leaves.  Where no single root stands above all, `*` becomes the root.

    pad=True lets values differ in depth: the label below the root repeats until all are equally deep.
    column names a mapping in messages; there, an entry's position in {level: labels} stands for its line.
    """
    if isinstance(source, GeneralizationTree):
        return _grow(_Draft(column or source.source, list(enumerate(source.paths, 1)), shown=False), pad)
    if isinstance(source, Mapping):
        return _grow(_draft_mapping(source, column or "given mapping"), pad)
    return _grow(_draft_file(Path(source)), pad)


def find_hierarchies(where: FilePath | Mapping[str, Source], columns: Iterable[str]) -> dict[str, Source]:
    """The hierarchy source of every column that has one.

    In a folder, `age.csv` and any name ending in `_age.csv` belong to column `age`; of several columns
    the longest name wins.  Files of no column are left alone.
    """
    if isinstance(where, Mapping):
        return {column: where[column] for column in columns if column in where}
    names, found = list(columns), defaultdict(list)
    for file in _hierarchy_files(Path(where)):
        owners = [name for name in names if file.stem == name or file.stem.endswith(f"_{name}")]
        if owners:
            found[max(owners, key=len)].append(file)
    return {column: _only_file(files, column) for column, files in found.items()}


def build_prefix_tree(values: Sequence[str]) -> GeneralizationTree:
    """Codes, cut from the right: 47677, 4767*, 476**, 47***, 4****, *.

    With w the length of the longest value, level l keeps the first w - l characters of each value
    filled up to w with `*`.

    >>> build_prefix_tree(["130", "148"]).paths
    (('130', '13*', '1**', '*'), ('148', '14*', '1**', '*'))
    """
    leaves = sorted(set(values))
    width = max(map(len, leaves), default=0)
    return GeneralizationTree(_depth_first([_prefix_path(leaf, width) for leaf in leaves]), "prefixes")


def star_tree(values: Iterable[str]) -> GeneralizationTree:
    """Every value under one root: published as it is, or as `*`."""
    return GeneralizationTree(tuple((value, ROOT) for value in sorted(set(values))), "star")


def looks_like_codes(values: Sequence[str]) -> bool:
    """Whether these are codes such as ZIP, whose prefixes mean something.

    20 distinct values or more, of one or two lengths from 3 on, nearly all letters and digits, a digit in
    each; and half of the shorter length is a prefix that, on average, two values or more share.
    """
    codes = set(values)
    lengths = {len(code) for code in codes}
    if len(codes) < 20 or len(lengths) > 2 or min(lengths) < 3:
        return False
    prefixes = {code[: min(lengths) // 2] for code in codes}
    return 2 * len(prefixes) <= len(codes) and _mostly_alphanumeric(codes)


def _mostly_alphanumeric(codes: set[str]) -> bool:
    characters = "".join(codes)
    plain = sum(map(str.isalnum, characters))
    return plain >= 0.8 * len(characters) and all(any(map(str.isdigit, code)) for code in codes)


def _prefix_path(value: str, width: int) -> LeafPath:
    filled = value.ljust(width, ROOT)
    prefixes = (filled[:kept] for kept in range(width - 1, 0, -1))
    # A prefix of nothing but stars says what the root says, so it is the root, once and again.
    return (value, *(p.ljust(width, ROOT) if p.strip(ROOT) else ROOT for p in prefixes), ROOT)


def _hierarchy_files(folder: Path) -> list[Path]:
    if not folder.exists():
        raise NoSuchFile(folder)
    if not folder.is_dir():
        raise UnreadableFile(folder, "it is not a folder. Give a folder with one hierarchy file per column.")
    files = (file for file in folder.iterdir() if file.suffix.lower() in FORMATS and file.is_file())
    return sorted(file for file in files if not file.name.startswith("."))


def _only_file(files: list[Path], column: str) -> Path:
    if len(files) > 1:
        both = " and ".join(repr(file.name) for file in files)
        raise BadHierarchy(files[0].parent, None, f"{both} belong to column {column!r}. Keep one of them.")
    return files[0]


@dataclass(frozen=True, slots=True)
class _Draft:
    """Paths as somebody wrote them, not yet known to form a tree."""

    source: str
    rows: list[tuple[int, LeafPath]]  # line, or 0 where there are none
    shown: bool = True  # whether messages may name labels: not if they may be cells of the data

    def name(self, label: str) -> str:
        return repr(label) if self.shown else "'...'"

    def refuse(self, line: int, reason: str) -> BadHierarchy:
        return BadHierarchy(self.source, line or None, reason)


def _draft_file(path: Path) -> _Draft:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise BadHierarchy(path, None, f"its name ends in none of {', '.join(FORMATS)}. Convert it.")
    text = _read_text(path)
    return _draft_csv(path, text) if suffix == ".csv" else _draft_nested(_parse_nested(path, text), str(path))


def _read_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise NoSuchFile(path) from None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or type(error).__name__) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadHierarchy(path, line, "a byte here is not UTF-8. Save the file as UTF-8.") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadHierarchy(path, line, "there is a NUL character. Remove it, or save the file as UTF-8.")
    return text


def _draft_csv(path: Path, text: str) -> _Draft:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        rows = [(reader.line_num, tuple(fields)) for fields in reader if "".join(fields).strip()]
    except csv.Error as error:
        raise BadHierarchy(path, reader.line_num, f"it is not CSV ({error}). Look at its quotes.") from None
    return _Draft(str(path), rows)


def _delimiter(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = re.sub('"[^"]*"', "", first)
    return next((mark for mark in ";,\t" if mark in unquoted), ",")


def _parse_nested(path: Path, text: str) -> object:
    try:
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=partial(_unique_keys, path))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise BadHierarchy(path, line, f"it cannot be parsed ({error}). Correct it there.") from None


def _unique_keys(path: Path, pairs: list[tuple[str, object]]) -> dict[str, object]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise BadHierarchy(path, None, f"node {key!r} is written twice side by side. Join the two.")
    return dict(pairs)


def _draft_mapping(mapping: Mapping[Any, Any], source: str) -> _Draft:
    if set(mapping) == set(range(len(mapping))):
        return _draft_levels([mapping[level] for level in range(len(mapping))], source)
    return _draft_nested(mapping, source)


def _draft_levels(levels: list[object], source: str) -> _Draft:
    columns = []
    for level, labels in enumerate(levels):
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise BadHierarchy(source, None, f"level {level} is no list of labels. Give one label per value.")
        columns.append([_text(label, source, f"level {level}") for label in labels])
        if len(columns[level]) != len(columns[0]):
            reason = f"level {level} has {len(columns[level])} labels and level 0 has {len(columns[0])}."
            raise BadHierarchy(source, None, f"{reason} Give one label per value.")
    return _Draft(source, list(enumerate(zip(*columns, strict=True), 1)), shown=False)


def _draft_nested(node: object, source: str) -> _Draft:
    paths = list(_flatten(node, (), source)) if node else []
    for path, count in Counter(paths).items():
        if count > 1:
            raise BadHierarchy(source, None, f"leaf {path[0]!r} is listed twice. Remove one of the two.")
    return _Draft(source, [(0, path) for path in paths])


def _flatten(node: object, above: LeafPath, source: str) -> Iterator[LeafPath]:
    where = f"node {above[0]!r}" if above else "the top"
    if not isinstance(node, Mapping | list | tuple):
        reason = f"{where} is of type {type(node).__name__}. Give it a list of leaves or a table of nodes."
        raise BadHierarchy(source, None, reason)
    if not node or len(above) > DEEPEST:
        fault = f"is deeper than {DEEPEST} levels" if node else "has no leaves"
        raise BadHierarchy(source, None, f"{where} {fault}. Remove it.")
    for entry in node:
        path = (_text(entry, source, where), *above)
        if isinstance(node, Mapping):
            yield from _flatten(node[entry], path, source)
        else:
            yield path


def _text(label: object, source: str, where: str) -> str:
    if isinstance(label, str):
        return str(label)
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return str(int(label))
    reason = f"{where} holds a label of type {type(label).__name__}. Write labels as text, in quotes."
    raise BadHierarchy(source, None, reason)


def _grow(draft: _Draft, pad: bool) -> GeneralizationTree:
    """The tree of a draft, its siblings in the order of their first line; or a refusal."""
    if not draft.rows:
        raise draft.refuse(0, "it is empty. Write a value and its labels, from narrow to wide, on each line.")
    _check_labels_filled(draft)
    level_draft = _level(draft, pad)
    _check_single_parents(level_draft)
    _check_labels_unambiguous(level_draft)
    return GeneralizationTree(_depth_first([path for _, path in level_draft.rows]), draft.source)


def _check_labels_filled(draft: _Draft) -> None:
    for line, path in draft.rows:
        for level, label in enumerate(path[1:], 1):
            if not label.strip():
                fault = f"{draft.name(path[0])} has an empty label at level {level}"
                raise draft.refuse(line, f"{fault}. Fill it, or drop the field.")


def _level(draft: _Draft, pad: bool) -> _Draft:
    """All paths equally deep, under one root, each once."""
    paths = [path for _, path in draft.rows]
    rooted = len({path[-1] for path in paths}) == 1 and min(map(len, paths)) > 1
    bodies = [path[:-1] if rooted else path for path in paths]
    root, depth = paths[0][-1:] if rooted else (ROOT,), max(map(len, bodies))
    if not pad:
        _check_equal_depth(draft)
    lines: dict[LeafPath, int] = {}
    for (line, _), body in zip(draft.rows, bodies, strict=True):
        lines.setdefault(body + body[-1:] * (depth - len(body)) + root, line)
    return replace(draft, rows=[(line, path) for path, line in lines.items()])


def _check_equal_depth(draft: _Draft) -> None:
    first = draft.rows[0][1]
    for line, path in draft.rows:
        if len(path) != len(first):
            depths = f"{draft.name(path[0])} has {len(path)} levels, {draft.name(first[0])} has {len(first)}"
            raise draft.refuse(line, f"{depths}. Make them equal, or read it with pad=True.")


def _check_single_parents(draft: _Draft) -> None:
    known: defaultdict[int, dict[str, tuple[str, int]]] = defaultdict(dict)
    for line, path in draft.rows:
        for level, (label, parent) in enumerate(pairwise(path)):
            other, since = known[level].setdefault(label, (parent, line))
            if other != parent:
                both = f"{draft.name(other)}{_at(since)} and {draft.name(parent)}"
                reason = f"{draft.name(label)} at level {level} has two parents, {both}. Keep one of them."
                raise draft.refuse(line, reason)


def _check_labels_unambiguous(draft: _Draft) -> None:
    """A label names one node, or a run of nodes one above the other: the printed text must say which."""
    tops: dict[str, tuple[int, int]] = {}  # label -> its highest level, and the first line there
    for level in range(len(draft.rows[0][1])):
        tops.update((path[level], (level, line)) for line, path in reversed(draft.rows))
    for line, path in draft.rows:
        for level, (label, parent) in enumerate(pairwise(path)):
            if label != parent and tops[label][0] > level:
                raise _refuse_label(draft, line, path, level, tops[label])


def _refuse_label(draft: _Draft, line: int, path: LeafPath, level: int, top: tuple[int, int]) -> BadHierarchy:
    name = f"{draft.name(path[level])} at level {level}"
    if path[level] in path[level + 1 :]:
        return draft.refuse(line, f"{name} comes back above itself: a cycle. Rename one of the two.")
    also = f"also a node elsewhere, at level {top[0]}{_at(top[1])}"
    return draft.refuse(line, f"{name} is {also}; the label is ambiguous. Rename one of the two.")


def _at(line: int) -> str:
    return f" (line {line})" if line else ""


def _depth_first(paths: Sequence[LeafPath]) -> tuple[LeafPath, ...]:
    """Paths with the leaves of every node side by side; siblings in the order of first appearance."""
    ranks = []
    for labels in zip(*paths, strict=True):
        seen: dict[str, int] = {}
        ranks.append([seen.setdefault(label, len(seen)) for label in labels])
    return tuple(paths[row] for row in np.lexsort(ranks)) if ranks else ()
