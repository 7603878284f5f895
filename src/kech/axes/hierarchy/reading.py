"""Reading hierarchies as the field writes them: ARX and ANJANA CSV, nested TOML and JSON, mappings.

In: a file or a mapping.  Out: a tree, or a refusal that names the file, the line and the node.
"""

import csv
import io
import json
import os
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import isfinite, isnan
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kech.axes.hierarchy.tree import ROOT, GeneralizationTree, LeafPath, depth_first
from kech.errors import BadHierarchy, NoSuchFile, UnreadableFile

FilePath: TypeAlias = str | os.PathLike[str]
FORMATS = (".csv", ".toml", ".json")
QUOTED = re.compile(r'(?<![^;,\t\r\n])"[^"]*(?:""[^"]*)*"')
DEEPEST = 100  # levels of a nested file; far above any use, far below Python's stack

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
    the longest name wins.  Files of no column are left alone, unless there is none of a column.
    """
    if isinstance(where, Mapping):
        return {column: where[column] for column in columns if column in where}
    names, found = list(columns), defaultdict(list)
    for file in _hierarchy_files(Path(where)):
        owners = [name for name in names if file.stem == name or file.stem.endswith(f"_{name}")]
        if owners:
            found[max(owners, key=len)].append(file)
    if not found:
        raise UnreadableFile(where, "no file in it belongs to a column. Name each after its column: age.csv.")
    return {column: _only_file(files, column) for column, files in found.items()}


def find_hierarchy(own: Any, where: Any, column: str, columns: Iterable[str]) -> Any:
    """The hierarchy source of one column: its own, or the one among those of the table; None where it has none."""
    if own is not None or where is None:
        return own
    return find_hierarchies(where, columns).get(column)


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
        """A node by its label; a leaf is a value of the data, on whatever level it is repeated."""
        if any(label == path[0] for _, path in self.rows):
            return "a value"
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
    """The first mark that stands outside quotes in the first line; quotes may hold line ends."""
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
    """NULL is a value of its own and no leaf; the raw column of a dataframe may hold it."""
    return value is None or (isinstance(value, float) and isnan(value))


def _as_written(value: object) -> object:
    """A number of the raw column as the engine writes it."""
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


def _grow(draft: _Draft, pad: bool) -> GeneralizationTree:
    """The tree of a draft, its siblings in the order of their first line; or a refusal."""
    if not draft.rows:
        raise draft.refuse(0, "it is empty. Write a value and its labels, from narrow to wide, on each line.")
    _check_labels_filled(draft)
    level_draft = _level(draft, pad)
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
            depths = f"a value has {len(path)} levels, the first has {len(first)}"
            raise draft.refuse(line, f"{depths}. Make them equal, or have `kech hierarchy --pad` do it.")


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
