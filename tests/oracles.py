"""Oracles: what labels, classes and cuts mean, by definition; slow, and sharing no code with kech."""

import json
import math
import re
from collections import Counter, defaultdict
from datetime import datetime
from fractions import Fraction
from itertools import accumulate, product

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


def as_brackets(cells, axis):
    """The cells that one axis was published in, as a label in brackets, whatever their form."""
    if len(cells) == 1:
        between = {"number": r"([\d.eE+]+)-([\d.eE+]+)", "date": "(.+)/(.+)"}.get(axis["axis"], "$.")
        ends = re.fullmatch(between, cells[0] or "") if axis.get("form") == "dash" else None
        return f"[{ends[1]}, {ends[2]}]" if ends else cells[0]
    low, high = cells
    least, most = ("0001-01-01", "9999-12-31") if axis["axis"] == "date" else ("-inf", "inf")
    if low == high or (low, high) == (least, most):
        return low if low == high else "*"
    if low == least:
        return f"{'<=' if axis['closed'] else '<'} {high}"
    return f">= {low}" if high == most else f"[{low}, {high}{']' if axis['closed'] else ')'}"


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
    if axis["axis"] == "hierarchy":
        return label == "*" or (value is not None and label in (value, *paths[value]))
    return label == "*" or (value is not None and STANDS_FOR[axis["axis"]](label, value, axis))


def range_of(label, order):
    """First and last place of `low..high`, `low..`, `..high` or a value."""
    ends = [order.index(end) if end else None for end in (label.split("..") * 2)[:2]]
    return ends[0] or 0, len(order) - 1 if ends[1] is None else ends[1]


def is_between(label, value, axis):
    low, high = range_of(label, axis["order"])
    return low <= axis["order"].index(value) <= high


def listed(label):
    """What a set spells out, and how many rare values it counts."""
    if not label.startswith("{"):
        return [label], 0
    count = re.search(r"(?:^\{|, )([0-9]+) rare values?\}$", label)
    bare = label if count is None else label[: count.start()] + "}" if count.start() else "{}"
    return set_members(bare), 0 if count is None else int(count[1])


STANDS_FOR = {
    "set": lambda label, value, axis: (
        value in listed(label)[0] or (listed(label)[1] and value in axis.get("hidden", [value]))
    ),
    "ordered": is_between,
    "date": lambda label, value, _: lies_in(value, label, read_date),
    "number": lambda label, value, _: lies_in(value, label, float),
}


# Widths: the share of an axis a label covers


def label_width(label, axis):
    """Width in [0, 1] of a label; `axis` is public."""
    if label is None:
        return 0.0
    if axis["axis"] == "hierarchy":
        leaves = axis["labels"].get(label, 1)
        return (leaves - 1) / max(axis["leaves"] - 1, 1)
    if label == "*":
        return 1.0
    if axis["axis"] == "set":
        spelled, rare = listed(label)
        return (len(spelled) + rare - 1) / max(axis["values"] - 1, 1)
    if axis["axis"] == "ordered":
        low, high = range_of(label, axis["order"])
        return (high - low) / max(len(axis["order"]) - 1, 1)
    return interval_width(label, axis, read_date if axis["axis"] == "date" else Fraction)


def set_width(axis, codes):
    """Width of the narrowest label of a set around these codes: they are listed, and all rare ones where one is."""
    rare = {code for code in range(axis.values) if axis.rows is not None and axis.rows[code] < axis.k}
    held = {int(code) for code in codes}
    held |= rare if rare & held else set()
    mixed = axis.null in held and len(held) > 1
    whole = axis.null not in held and len(held) == axis.values > 1
    spelled = len(held - rare) + bool(held & rare)
    return 1.0 if mixed or whole or spelled > 50 else (len(held) - 1) / max(axis.members - 1, 1)


def interval_width(label, axis, read):
    start, stop = (read(str(end)) for end in axis["domain"])
    low, high, _ = interval_ends(label, read)
    low = start if low is None else min(max(low, start), stop)
    high = stop if high is None else min(max(high, start), stop)
    return float((high - low) / (stop - start)) if stop > start else 0.0


def table_loss(rows, axes):
    """Average width of the labels of all rows on all axes; every label is measured once."""
    columns = [Counter(cells) for cells in zip(*rows, strict=True)]
    widths = [
        label_width(label, axis) * n for held, axis in zip(columns, axes, strict=True) for label, n in held.items()
    ]
    return math.fsum(widths) / (len(rows) * len(axes))


# Classes


def smallest_class(rows):
    """Rows that share their labels with the fewest others."""
    return min(Counter(map(tuple, rows)).values())


def class_models(rows, secrets, values, depth=None):
    """Every model by its definition, the worst of all classes.

    `values` are those of the sensitive column in their order, or None if they have none; `depth` is the l of c.
    """
    classes, overall, total = defaultdict(Counter), Counter(secrets), len(secrets)
    for row, secret in zip(rows, secrets, strict=True):
        classes[tuple(row)][secret] += 1
    fewest = min(map(len, classes.values()))
    found = [one_class(held, overall, total, values, depth or fewest) for held in classes.values()]
    lowest = {name: min(class_[name] for class_ in found) for name in ("l", "entropy_l")}
    names = ("t", "t_ordered", "alpha", "beta", "enhanced_beta", "delta", "recursive_c")
    highest = {name: max(class_[name] for class_ in found) for name in names}
    return lowest | {name: None if figure == math.inf else figure for name, figure in highest.items()}


def one_class(held, overall, total, values, depth):
    """The same of one class; what it has not is infinite."""
    size = held.total()
    p, q = {v: n / size for v, n in held.items()}, {v: n / total for v, n in overall.items()}
    ranked = sorted(held.values(), reverse=True)
    gains = {v: p[v] / q[v] - 1 for v in p}
    return {
        "l": len(held),
        "t": sum(abs(held[v] * total - overall[v] * size) for v in overall) / (2 * size * total),
        "entropy_l": math.exp(-math.fsum(x * math.log(x) for x in p.values())),
        "recursive_c": ranked[0] / sum(ranked[depth - 1 :]) if len(ranked) >= depth else math.inf,
        "t_ordered": math.inf if values is None else moved_mass(held, overall, values) / (size * total),
        "alpha": max(p.values()),
        "beta": max(gains.values()),
        "enhanced_beta": math.inf
        if any(gain > 1e-9 - math.log(q[v]) for v, gain in gains.items())
        else max(gains.values()),
        "delta": max(abs(math.log(p[v] / q[v])) for v in p),
    }


def moved_mass(held, overall, values):
    """What has to be carried from each value to the next, so that a class has the shares of the table."""
    size, total, carried, mass = held.total(), overall.total(), 0, 0
    for value in values:
        carried += held[value] * total - overall[value] * size
        mass += abs(carried)
    return mass / max(len(values) - 1, 1)


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


# -- sensitive values: what each class tells about them, row by row --------------------------------------------


def class_values(partition):
    """For each sensitive column, whether it has an order, and the values of each class, one a row."""
    held = partition.points.sensitive
    for s, column in enumerate(held.columns):
        classes = [[] for _ in range(partition.classes)]
        codes = held.codes[partition.point, s].tolist()
        for group, code, rows in zip(partition.group.tolist(), codes, partition.rows.tolist(), strict=True):
            classes[group] += [code] * rows
        yield column.ordered, classes


def shares_of(values, everybody):
    """The share of each value of the table among some of its rows."""
    counts = Counter(values)
    return [Fraction(counts[value], len(values)) for value in sorted(set(everybody))]


def value_figures(values, everybody):
    """l, entropy l, alpha, and t with and without an order, of the rows of one class of a table."""
    p, q = shares_of(values, everybody), shares_of(everybody, everybody)
    apart = list(accumulate(map(Fraction.__sub__, p, q)))
    return {
        "l": len(set(values)),
        "entropy_l": math.exp(-sum(float(x) * math.log(x) for x in p if x)),
        "alpha": float(max(p)),
        "t": float(sum(map(abs, map(Fraction.__sub__, p, q))) / 2),
        "t_ordered": float(sum(map(abs, apart)) / max(len(q) - 1, 1)),
    }


def recursive_factor(values, depth):
    """r_1 / (r_l + r_(l+1) + ...), which c must exceed; inf where fewer than l values are."""
    counts = sorted(Counter(values).values(), reverse=True)
    return Fraction(counts[0], sum(counts[depth - 1 :])) if len(counts) >= depth else math.inf


def keeps_goals(goal, partition):
    """Whether every class keeps what was asked for every sensitive column."""
    return all(
        values_keep(goal, values, [value for held in classes for value in held], ordered)
        for ordered, classes in class_values(partition)
        for values in classes
    )


def values_keep(goal, values, everybody, ordered):
    """Whether the rows of one class keep what was asked."""
    found, slack = value_figures(values, everybody), 1e-9
    if goal.l is not None and goal.l_kind == "recursive":
        if recursive_factor(values, int(goal.l)) >= goal.c:
            return False
    elif goal.l is not None and found["entropy_l" if goal.l_kind == "entropy" else "l"] < goal.l - slack:
        return False
    distance = found["t_ordered" if goal.t_kind == "ordered" and ordered else "t"]
    return (goal.t is None or distance <= goal.t + slack) and (
        goal.alpha is None or found["alpha"] <= goal.alpha + slack
    )
