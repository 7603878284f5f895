"""Hierarchy: the tree of labels above the values of a column, up to a root that covers all of them.

In: a file or a mapping in a usual format (CSV of ARX and ANJANA, nested TOML and JSON), or the values of a column.
Out: a `GeneralizationTree`, or a refusal that names the file, the line and the node.
Leaves are in depth-first order, so that the values under any node are a range of codes.
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
from math import isfinite, isnan
from operator import ne
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kech.errors import BadHierarchy, BadTarget, NoSuchFile, UnreadableFile, check_path
from kech.system.files import NO_FOLDER, write_text

LeafPath: TypeAlias = tuple[str, ...]
Ints: TypeAlias = NDArray[np.int64]
ROOT = "*"
PLAIN = re.compile(r"[^\s\";,\ufeff]([^\t\r\n\";,\ufeff]*[^\s\";,\ufeff])?")  # a field that needs no quotes in any CSV


@dataclass(frozen=True, repr=False)
class GeneralizationTree:
    """Leaves in depth-first order, each with its path (value, level-1 label, ..., root label).

    The leaves under a node are neighbours, so LCA(S) = LCA(min S, max S).  A label that repeats upward
    (Other, Other, *) means the highest node with this label, and is as wide as that node.
    """

    paths: tuple[LeafPath, ...]
    source: str = field(default="given tree", compare=False)
    padded: int = field(default=0, compare=False)  # number of leaves whose paths were shorter than others

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_tree

        return show_tree(self)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Values, by code."""
        return tuple(path[0] for path in self.paths)

    @property
    def height(self) -> int:
        """Number of levels, leaves and root included."""
        return len(self.paths[0]) if self.paths else 1

    def label(self, lo: int, hi: int) -> str:
        """The label of the lowest common ancestor of the leaves lo to hi; of the leaf itself if lo == hi."""
        return self.paths[lo][self._meeting_level(lo, hi)]

    def spans(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """First and last leaf under the node that each label(lo, hi) means."""
        level = self.read_level(lo, hi)
        first, last = self._ends
        return first[level, lo], last[level, lo]

    def is_root(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each label(lo, hi) means the root."""
        return np.asarray(self.read_level(lo, hi) == self.height - 1)

    def level_codes(self, level: int) -> NDArray[np.int32]:
        """Leaf -> index of its node at this level, in depth-first order."""
        codes: NDArray[np.int32] = self._codes[level]
        return codes

    def level_labels(self, level: int) -> tuple[str, ...]:
        """Labels of the nodes at this level, by index."""
        return tuple(dict.fromkeys(path[level] for path in self.paths))

    def leaf_counts(self, sizes: Ints | None = None) -> dict[str, int]:
        """The number of leaves under each label; a repeated label means its highest node."""
        counts: dict[str, int] = {}
        for level, codes in enumerate(self.node_sizes() if sizes is None else sizes):
            first = np.flatnonzero(np.diff(self._codes[level], prepend=-1))
            counts.update(zip(self.level_labels(level), codes[first].tolist(), strict=True))
        return counts

    def node_sizes(self) -> Ints:
        """[level, leaf]: leaves under this leaf's node at this level."""
        first, last = self._ends
        return np.asarray(last - first + 1)

    def known_sizes(self, rows: Ints, k: int) -> Ints:
        """[level, leaf]: the leaves under children with k rows or more, and one for all other children together.

        So the numbers do not reveal whether children of fewer than k rows occur, and how many.
        A node counts at least two leaves, since its label does not tell the value.
        """
        sizes, node_rows = np.ones((self.height, len(self.paths)), np.int64), rows
        for level, codes in enumerate(self._codes[1:], 1):
            below = np.flatnonzero(np.diff(self._codes[level - 1], prepend=-1))  # the first leaf of each child
            common = below[node_rows[below] >= k]
            under = np.bincount(codes[common], sizes[level - 1, common], codes[-1] + 1).astype(np.int64)
            sizes[level] = np.maximum(1 + under, 2)[codes]
            node_rows = np.bincount(codes, rows)[codes]
        return sizes

    def restrict(self, values: Iterable[str]) -> "GeneralizationTree":
        """The tree with only these values as leaves; refused where a value has no leaf."""
        present = set(values)
        if missing := len(present.difference(self.leaves)):
            reason = f"it has no leaf for {missing:,} distinct value{'s' * (missing > 1)} of the column."
            raise BadHierarchy(self.source, None, f"{reason} Add a leaf for each.")
        return replace(self, paths=tuple(path for path in self.paths if path[0] in present))

    def to_levels(self) -> dict[int, list[str]]:
        """The tree in the format of ANJANA: {level: labels}, one label for each value; level 0 has the values."""
        return {level: [path[level] for path in self.paths] for level in range(self.height)}

    def write(self, path: str | PathLike[str]) -> None:
        """Write the tree in the format of ARX and ANJANA: CSV without a header, on each line `value;label;...;root`."""
        target = Path(path)
        if target.suffix.lower() != ".csv":
            raise BadTarget(target, "a hierarchy is written as CSV. Name a .csv file.")
        if not target.parent.is_dir():
            raise BadTarget(target, NO_FOLDER)
        lines = "".join(";".join(map(_quote, labels)) + "\n" for labels in self.paths)
        write_text(target, lines, private=True)  # its leaves are values of the table

    def _meeting_level(self, lo: int, hi: int) -> int:
        pairs = zip(self.paths[lo], self.paths[hi], strict=True)
        return next(level for level, (low, high) in enumerate(pairs) if low == high)

    def read_level(self, lo: Ints, hi: Ints) -> Ints:
        """The level of the node that each label(lo, hi) means."""
        meeting = (self._codes[:, lo] != self._codes[:, hi]).sum(axis=0)
        return np.asarray(self._read_levels[meeting, lo])

    @cached_property
    def _codes(self) -> NDArray[np.int32]:
        codes = np.zeros((self.height, len(self.paths)), np.int32)
        for level, row in enumerate(codes):
            labels = [path[level] for path in self.paths]
            row[1:] = np.cumsum(np.fromiter(map(ne, labels, labels[1:]), bool))
        codes.flags.writeable = False
        return codes

    @cached_property
    def _read_levels(self) -> Ints:
        """[level, leaf]: the highest level at which the label of this leaf's node at this level repeats."""
        levels = np.repeat(np.arange(self.height)[:, None], len(self.paths), axis=1)
        for level in reversed(range(self.height - 1)):
            repeats = np.fromiter((path[level] == path[level + 1] for path in self.paths), bool)
            levels[level, repeats] = levels[level + 1, repeats]
        return levels

    @cached_property
    def _ends(self) -> tuple[Ints, Ints]:
        """[level, leaf]: first and last leaf under this leaf's node at this level."""
        first = np.stack([np.searchsorted(codes, codes) for codes in self._codes])
        last = np.stack([np.searchsorted(codes, codes, side="right") - 1 for codes in self._codes])
        return first, last


def build_prefix_tree(values: Sequence[str]) -> GeneralizationTree:
    """The tree of prefixes of codes: 47677, 4767*, 476**, 47***, 4****, *.

    With w the length of the longest value, level l has the first w - l characters of each value, filled up to w with
    `*`.

    >>> build_prefix_tree(["130", "148"]).paths
    (('130', '13*', '1**', '*'), ('148', '14*', '1**', '*'))
    """
    leaves = sorted(set(values))
    width = max(map(len, leaves), default=0)
    return GeneralizationTree(depth_first([_prefix_path(leaf, width) for leaf in leaves]), "prefixes")


def star_tree(values: Iterable[str]) -> GeneralizationTree:
    """The tree with every value directly under the root `*`."""
    return GeneralizationTree(tuple((value, ROOT) for value in sorted(set(values))), "star")


def _quote(label: str) -> str:
    return label if PLAIN.fullmatch(label) else '"' + label.replace('"', '""') + '"'


def _prefix_path(value: str, width: int) -> LeafPath:
    filled = value.ljust(width, ROOT)
    prefixes = (filled[:length] for length in range(width - 1, 0, -1))
    # A prefix of stars only means the same as the root, so it is the root.
    return (value, *(p.ljust(width, ROOT) if p.strip(ROOT) else ROOT for p in prefixes), ROOT)


def depth_first(paths: Sequence[LeafPath]) -> tuple[LeafPath, ...]:
    """Paths in depth-first order; siblings in the order of first appearance."""
    ranks = []
    for labels in zip(*paths, strict=True):
        rank_of_label: dict[str, int] = {}
        ranks.append([rank_of_label.setdefault(label, len(rank_of_label)) for label in labels])
    return tuple(paths[row] for row in np.lexsort(ranks)) if ranks else ()


# -- reading --------------------------------------------------------------------------------------------


FilePath: TypeAlias = str | os.PathLike[str]
HIERARCHY_FORMATS = (".csv", ".toml", ".json")
QUOTED = re.compile(r'(?<![^;,\t\r\n])"[^"]*(?:""[^"]*)*"')
DEEPEST = 100  # levels of a nested file: more than any use, less than Python's stack

Source: TypeAlias = FilePath | GeneralizationTree | Mapping[Any, Any]


def read_hierarchy(source: Source, *, pad: bool = False, column: str | None = None) -> GeneralizationTree:
    """The tree in a .csv, .toml or .json file, a nested mapping, or a mapping {level: labels} of ANJANA.

    CSV has no header: a value, then its labels upward, split by `;`, else `,`, else tab.  A nested mapping
    ends in lists of leaves.  Without a common root, `*` becomes the root.

    pad=True allows values of different depth: the label below the root repeats until all have the same depth.
    column is the name of a mapping in messages; there the position of an entry is its line.
    """
    if isinstance(source, GeneralizationTree):
        return _build_tree(_Draft(column or source.source, list(enumerate(source.paths, 1)), shown=False), pad)
    if isinstance(source, Mapping):
        return _build_tree(_draft_mapping(source, column or "given mapping"), pad)
    check_path(source, "source")
    return _build_tree(_draft_file(Path(source)), pad)


def find_hierarchies(where: FilePath | Mapping[str, Source], columns: Iterable[str]) -> dict[str, Source]:
    """The hierarchy source of every column that has one.

    In a folder, `age.csv` and any name ending in `_age.csv` belong to column `age`; of several columns
    the one with the longest name.  Other files are ignored, but a folder without any hierarchy is refused.
    """
    if isinstance(where, Mapping):
        return {column: where[column] for column in columns if column in where}
    names, files_of_column = list(columns), defaultdict(list)
    for file in _hierarchy_files(Path(where)):
        owners = [name for name in names if file.stem == name or file.stem.endswith(f"_{name}")]
        if owners:
            files_of_column[max(owners, key=len)].append(file)
    if not files_of_column:
        raise UnreadableFile(where, "no file in it belongs to a column. Name each after its column: age.csv.")
    return {column: _only_file(files, column) for column, files in files_of_column.items()}


def _hierarchy_files(folder: Path) -> list[Path]:
    if not folder.exists():
        raise NoSuchFile(folder)
    if not folder.is_dir():
        raise UnreadableFile(folder, "it is not a folder. Give a folder with one hierarchy file per column.")
    files = (file for file in folder.iterdir() if file.suffix.lower() in HIERARCHY_FORMATS and file.is_file())
    return sorted(file for file in files if not file.name.startswith("."))


def _only_file(files: list[Path], column: str) -> Path:
    if len(files) > 1:
        both = " and ".join(repr(file.name) for file in files)
        raise BadHierarchy(files[0].parent, None, f"{both} belong to column {column!r}. Keep one of them.")
    return files[0]


@dataclass(frozen=True, slots=True)
class _Draft:
    """Paths from a file or mapping, not yet checked to form a tree."""

    source: str
    rows: list[tuple[int, LeafPath]]  # the line, or 0 without lines, and the path
    shown: bool = True  # whether messages may show labels: not if they may be cells of the data

    def name(self, label: str) -> str:
        """The label of a node for messages; never that of a leaf, which is a value of the data."""
        if any(label == path[0] for _, path in self.rows):
            return "a value"
        return repr(label) if self.shown else "'...'"

    def refuse(self, line: int, reason: str) -> BadHierarchy:
        return BadHierarchy(self.source, line or None, reason)


def _draft_file(path: Path) -> _Draft:
    suffix = path.suffix.lower()
    if suffix not in HIERARCHY_FORMATS:
        raise BadHierarchy(path, None, f"its name ends in none of {', '.join(HIERARCHY_FORMATS)}. Convert it.")
    text = _read_text(path)
    return _draft_csv(path, text) if suffix == ".csv" else _draft_nested(_parse_nested(path, text), str(path))


def _read_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise NoSuchFile(path) from None
    except OSError as error:
        raise UnreadableFile(path, f"{error.strerror or type(error).__name__}. Check its permissions.") from None
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
        raise BadHierarchy(path, reader.line_num, f"it is not CSV ({error}). Check its quotes.") from None
    return _Draft(str(path), rows)


def _delimiter(text: str) -> str:
    """The first of ; , and tab that occurs outside quotes in the first line; quotes may contain line ends."""
    unquoted = re.sub(QUOTED, "", text)
    first = next((line for line in re.split(r"[\r\n]", unquoted) if line.strip()), "")
    return next((mark for mark in ";,\t" if mark in first), ",")


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
        columns.append(list(labels))
        if len(columns[level]) != len(columns[0]):
            reason = f"level {level} has {len(columns[level])} labels and level 0 has {len(columns[0])}."
            raise BadHierarchy(source, None, f"{reason} Give one label per value.")
    rows = [(line, row) for line, row in enumerate(zip(*columns, strict=True), 1) if not _is_missing(row[0])]
    rows = [(line, (_as_written(row[0]), *row[1:])) for line, row in rows]
    texts = [(line, tuple(_text(x, source, f"level {level}") for level, x in enumerate(row))) for line, row in rows]
    return _Draft(source, texts, shown=False)


def _is_missing(value: object) -> bool:
    """Whether a value is NULL or NaN, as in a column of a dataframe; it is no leaf."""
    return value is None or (isinstance(value, float) and isnan(value))


def _as_written(value: object) -> object:
    """A float as text, as the engine writes it; other values unchanged."""
    return repr(float(value)) if isinstance(value, float) and isfinite(value) else value


def _draft_nested(node: object, source: str) -> _Draft:
    paths = list(_flatten(node, (), source)) if node else []
    for path, count in Counter(paths).items():
        if count > 1:
            where = f"of node {path[1]!r} " if path[1:] and path[1] != path[0] else ""
            raise BadHierarchy(source, None, f"a leaf {where}is listed twice. Remove one of the two.")
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


def _build_tree(draft: _Draft, pad: bool) -> GeneralizationTree:
    """The tree of a draft, with siblings in the order of their first line; refused where it is no tree."""
    if not draft.rows:
        raise draft.refuse(0, "it is empty. Write a value and its labels, from narrow to wide, on each line.")
    _check_labels_filled(draft)
    level_draft = _pad_paths(draft, pad)
    _check_single_parents(level_draft)
    _check_labels_unambiguous(level_draft)
    deepest = max(len(path) for _, path in draft.rows)
    padded = {path[0] for _, path in draft.rows if len(path) < deepest}
    return GeneralizationTree(depth_first([path for _, path in level_draft.rows]), draft.source, len(padded))


def _check_labels_filled(draft: _Draft) -> None:
    for line, path in draft.rows:
        for level, label in enumerate(path[1:], 1):
            if not label.strip():
                raise draft.refuse(line, f"a value has an empty label at level {level}. Fill it, or drop the field.")


def _pad_paths(draft: _Draft, pad: bool) -> _Draft:
    """The distinct paths with a common root and, where `pad` allows it, filled up to the same length."""
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
            depths = f"a value has {len(path)} levels, the first has {len(first)}"
            raise draft.refuse(line, f"{depths}. Make them equal, or use `kech hierarchy --pad`.")


def _check_single_parents(draft: _Draft) -> None:
    parent_of_label: defaultdict[int, dict[str, tuple[str, int]]] = defaultdict(dict)
    for line, path in draft.rows:
        for level, (label, parent) in enumerate(pairwise(path)):
            other, since = parent_of_label[level].setdefault(label, (parent, line))
            if other != parent:
                both = f"{draft.name(other)}{_at(since)} and {draft.name(parent)}"
                reason = f"{draft.name(label)} at level {level} has two parents, {both}. Keep one of them."
                raise draft.refuse(line, reason)


def _check_labels_unambiguous(draft: _Draft) -> None:
    """Refuse a label of two nodes, unless one is directly above the other: a label must mean one node."""
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
        return draft.refuse(line, f"{name} is also a node above itself, which is a cycle. Rename one of the two.")
    also = f"also a node at level {top[0]}{_at(top[1])}"
    return draft.refuse(line, f"{name} is {also}, so the label is ambiguous. Rename one of the two.")


def _at(line: int) -> str:
    return f" (line {line})" if line else ""
