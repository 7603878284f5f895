"""Oracles: what labels, classes and cuts mean, by definition; slow, and sharing no code with kech."""

import json
import math
import re
from collections import Counter
from datetime import datetime
from fractions import Fraction
from itertools import product

# Labels: which values a printed label stands for


def interval_ends(label, read):
    """Low end, high end and whether the high end belongs to the interval."""
    if label == "*":
        return None, None, True
    if found := re.fullmatch(r"\[(.+), (.+)([\])])", label):
        return read(found[1]), read(found[2]), found[3] == "]"
    if found := re.fullmatch(r"(<=|<|>=) (.+)", label):
        end = read(found[2])
        return (end, None, True) if found[1] == ">=" else (None, end, found[1] == "<=")
    return read(label), read(label), True


def lies_in(value, label, read):
    low, high, closed = interval_ends(label, read)
    below = high is None or (value <= high if closed else value < high)
    return below and (low is None or low <= value)


def read_date(text):
    return datetime.fromisoformat(text)


def set_members(label):
    """The members of `{a, "b, c"}`: JSON strings where quoted, plain text elsewhere."""
    rest, members = label[1:-1], []
    while rest:
        if rest.startswith('"'):
            member, end = json.JSONDecoder().raw_decode(rest)
        else:
            end = len(rest.split(", ", 1)[0])
            member = rest[:end]
        members.append(member)
        rest = rest[end:].removeprefix(", ")
    return members


def means(label, value, axis, paths=None):
    """Whether `label`, printed for the public axis, stands for `value` (text or number or date; None is NULL).

    `paths` holds, for a tree, the labels above each value.
    """
    if label is None or label == "":
        return value is None or value == ""
    if axis["axis"] == "tree":
        return label in ("*", root(paths)) if value is None else label in (value, *paths[value])
    return label == "*" or (value is not None and STANDS_FOR[axis["axis"]](label, value, axis))


def root(paths):
    return next(iter(paths.values()))[-1]


def is_between(label, value, axis):
    low, high = (axis["order"].index(end) for end in (label.split("..") * 2)[:2])
    return low <= axis["order"].index(value) <= high


STANDS_FOR = {
    "set": lambda label, value, _: value in (set_members(label) if label.startswith("{") else [label]),
    "ordinal": is_between,
    "date": lambda label, value, _: lies_in(value, label, read_date),
    "numeric": lambda label, value, _: lies_in(value, label, float),
}


# Widths: the share of an axis a label covers


def label_width(label, axis):
    """Width in [0, 1] of a label; `axis` is public."""
    if label is None:
        return 0.0
    if axis["axis"] == "tree":
        leaves = axis["labels"].get(label, 1)
        return (leaves - 1) / max(axis["leaves"] - 1, 1)
    if label == "*":
        return 1.0
    if axis["axis"] == "set":
        members = len(set_members(label)) if label.startswith("{") else 1
        return (members - 1) / max(axis["values"] - 1, 1)
    if axis["axis"] == "ordinal":
        low, high = (axis["order"].index(end) for end in (label.split("..") * 2)[:2])
        return (high - low) / max(len(axis["order"]) - 1, 1)
    return interval_width(label, axis, read_date if axis["axis"] == "date" else Fraction)


def interval_width(label, axis, read):
    start, stop = (read(str(end)) for end in axis["domain"])
    low, high, _ = interval_ends(label, read)
    low = start if low is None else min(max(low, start), stop)
    high = stop if high is None else min(max(high, start), stop)
    return float((high - low) / (stop - start)) if stop > start else 0.0


def table_loss(rows, axes):
    """Average width of the labels of all rows on all axes."""
    return math.fsum(label_width(cell, axis) for row in rows for cell, axis in zip(row, axes, strict=True)) / (
        len(rows) * len(axes)
    )


# Classes


def smallest_class(rows):
    """Rows that share their labels with the fewest others."""
    return min(Counter(map(tuple, rows)).values())


def diversity_and_closeness(rows, secrets):
    """l and t by their definitions: fewest values of a class, and how far the shares in a class are from all shares."""
    classes, overall = {}, Counter(secrets)
    for row, secret in zip(rows, secrets, strict=True):
        classes.setdefault(tuple(row), Counter())[secret] += 1
    fewest = min(map(len, classes.values()))
    farthest = max(
        sum(abs(Fraction(held[value], held.total()) - Fraction(overall[value], overall.total())) for value in overall)
        for held in classes.values()
    )
    return fewest, float(farthest / 2)


# Cuts of a line


def all_cuts(units):
    """Every way to cut a line of units into runs."""
    for marks in product([False, True], repeat=len(units) - 1):
        runs = [[units[0]]]
        for unit, cut in zip(units[1:], marks, strict=True):
            if cut:
                runs.append([])
            runs[-1].append(unit)
        yield runs


def price_of(runs, width):
    """What a cut costs: every row pays the width of the box around its run; a unit is (codes, rows)."""
    return math.fsum(sum(rows for _, rows in run) * width([codes for codes, _ in run]) for run in runs)


def cheapest_cut(units, k, width):
    """Smallest price of a cut into runs of k rows or more; every run that could end at each place is looked at."""
    best = [0.0] + [math.inf] * len(units)
    for end in range(1, len(units) + 1):
        for start in range(end):
            run = units[start:end]
            if sum(rows for _, rows in run) >= k:
                best[end] = min(best[end], best[start] + price_of([run], width))
    return best[-1]


def box_width(matrices):
    """The width of a run: for each axis a matrix of widths by lowest and highest code."""

    def width(codes):
        ends = ((min(axis), max(axis)) for axis in zip(*codes, strict=True))
        return math.fsum(matrix[lo][hi] for matrix, (lo, hi) in zip(matrices, ends, strict=True))

    return width
