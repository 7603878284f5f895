"""Strategies: columns and tables of every kind, drawn by hypothesis or, by the thousand, from a seed."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from kech import read_hierarchy
from kech.axes import build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.hierarchy import build_prefix_tree
from kech.errors import BadHierarchy
from kech.points.points import Points

unhurried = settings(deadline=None)  # a shared machine may pause at any time


def seeds(count):
    """Numbers to draw from; five of six are tried in `make test-long` only."""
    first = (count + 5) // 6
    return [*range(first), *further(range(first, count))]


def further(cases):
    """Cases that are tried in `make test-long` only."""
    return [pytest.param(case, marks=pytest.mark.long) for case in cases]


def begin_with(first, cases):
    """All cases in their order, of which the others are tried in `make test-long` only."""
    return [case if case in first else pytest.param(case, marks=pytest.mark.long) for case in cases]


DAY = 86400.0

# Columns of numbers and dates, as an engine counts them: values ascend

shapes = st.lists(st.tuples(st.integers(-(10**4), 10**4), st.integers(1, 12)), min_size=1, max_size=30)


@st.composite
def number_columns(draw):
    """Distinct floats and their rows: whole, decimal, tiny, huge, crowded far from zero, and free."""
    rows = dict(draw(shapes))
    digits = draw(st.sampled_from([0, 0, 1, 2, 6, -3, -12, 25, 280, -290]))
    shift = draw(st.sampled_from([0, 0, 0, 7, -(10**6), 10**9]))
    bend = draw(st.sampled_from([1.0, 1.0, np.pi]))
    values = {float(f"{x + shift}e{-digits}") * bend: n for x, n in rows.items()}
    ascending = sorted(values)
    return np.array(ascending), np.array([values[x] for x in ascending])


@st.composite
def date_columns(draw):
    """Distinct seconds since 1970 and their rows: days, seconds, fractions; leap days; the ends of the calendar."""
    kind = draw(st.sampled_from(["days", "days", "seconds", "fractions", "leap days", "ends"]))
    rows = dict(draw(shapes))
    if kind == "days":
        values = {x * DAY: n for x, n in rows.items()}
    elif kind == "seconds":
        values = {float(x * 977): n for x, n in rows.items()}
    elif kind == "fractions":
        values = {round(x / 7 * 1e6) / 1e6: n for x, n in rows.items()}
    elif kind == "leap days":
        moments = {datetime(1904 + x % 49 * 4, 2, 29) - timedelta(days=x % 2): n for x, n in rows.items()}
        values = {seconds(x): n for x, n in moments.items()}
    else:
        ends = [date.min, date.max, date(1970, 1, 1), date(1969, 12, 31)]
        moments = {ends[x % 4] - timedelta(days=x % 3 if x % 4 else 0): n for x, n in rows.items()}
        values = {seconds(x): n for x, n in moments.items()}
    ascending = sorted(values)
    return np.array(ascending), np.array([values[x] for x in ascending])


def seconds(moment):
    midnight = datetime(moment.year, moment.month, moment.day)
    return (midnight - datetime(1970, 1, 1)).total_seconds()


# Axes of every kind, each with the values of its codes: floats, datetimes or text

ODD_TEXTS = [
    "*",
    "{a}",
    "a, b",
    'say "a"',
    "back\\slash",
    " a",
    "a ",
    "é",
    "=1+1",
    "'=x",
    "a",
    "b",
    "{",
    "}",
    "\n",
    "1",
]
texts = st.one_of(st.sampled_from(ODD_TEXTS), st.text("abc,{} *", min_size=1, max_size=4))


@st.composite
def given_domains(draw, values, is_date):
    """Ends around, inside or beyond the values, now and then at one of them, and not always in their unit."""
    span = float(values[-1] - values[0]) or abs(float(values[0])) or 1.0
    places = [*values.tolist(), *(float(values[0]) + span * share for share in (-9.5, -1, 0.25, 0.5, 1.75, 30))]
    if is_date:
        first, last = seconds(date.min), seconds(date.max)
        places = [min(max(place // DAY * DAY, first), last) for place in places] + values.tolist()
    low, high = sorted(draw(st.lists(st.sampled_from(places), min_size=2, max_size=2)))
    if low == high:
        low, high = (low - DAY, high) if is_date and low > 0 else (low, high + (DAY if is_date else span))
    return low, high


@st.composite
def line_axes(draw, grids=("round", "exact", "step"), domains=(False, False, True)):
    is_date = draw(st.booleans())
    values, counts = draw(date_columns() if is_date else number_columns())
    grid = draw(st.sampled_from(grids))
    if grid == "step":
        smallest = max(np.abs(values).max() / (DAY if is_date else 1) * 1e-12, 1e-9)
        steps = [0.1, 0.25, 0.3, 0.5, 1.0, 1.5, 5.0, 7.0, 1000.0, 1e9]
        grid = draw(st.sampled_from([step for step in steps if step > smallest] or [smallest]))
    domain = draw(given_domains(values, is_date)) if draw(st.sampled_from(domains)) else None
    has_null = draw(st.booleans())
    axis = build_line_axis("c", values, counts, has_null, is_date=is_date, grid=grid, domain=domain)
    known = [datetime(1970, 1, 1) + timedelta(seconds=float(x)) for x in values] if is_date else values.tolist()
    return axis.at(draw(st.integers(1, 20))), known


@st.composite
def rank_axes(draw):
    ordinal = draw(st.booleans())
    if draw(st.integers(0, 5)) == 0:
        values = [f"v{i}" for i in range(draw(st.integers(45, 70)))]
    else:
        values = draw(st.lists(texts, unique=True, max_size=8))
    if ordinal:
        values = [value for value in values if value not in ("*", "")] or ["a"]
    order = draw(st.permutations(values))
    if ordinal:
        order = [*order, *(f"unseen{i}" for i in range(draw(st.integers(0, 2))))]
    has_null = draw(st.booleans()) or not values
    held = draw(st.lists(st.integers(1, 9), min_size=len(order), max_size=len(order)))
    rows = np.array(held if ordinal else sorted(held, reverse=True), np.int64)
    axis = build_rank_axis("c", values, order, has_null, is_ordered=ordinal, rows=rows)
    return axis.at(draw(st.integers(1, 10))), values


@st.composite
def tree_paths(draw):
    """Leaves with labels up to a root: some repeat upward, as ARX pads them; siblings may be alone."""
    leaves = draw(st.lists(texts.filter(lambda text: text.strip()), unique=True, min_size=1, max_size=12))
    height = draw(st.integers(0, 3))
    top = draw(st.sampled_from(["*", "all", "*"]))
    rows = []
    for leaf in leaves:
        path, group = [leaf], draw(st.integers(0, 3))
        for level in range(height):
            repeats = draw(st.integers(0, 4)) == 0 and (level == 0 or path[-1] == leaf)
            path.append(path[-1] if repeats else f"n{level}-{group >> level}")
        rows.append([*path, top])
    return rows


@st.composite
def tree_axes(draw):
    kind, has_null = draw(st.sampled_from(["given", "given", "prefix"])), draw(st.booleans())
    if kind == "prefix":
        values = draw(st.lists(st.text("012*", min_size=1, max_size=4), unique=True, min_size=1, max_size=12))
        tree = build_prefix_tree(values)
    else:
        rows = draw(tree_paths())
        tree = read_or_none(rows)
        if tree is None:
            rows = [[f"leaf {i}", *row[1:]] for i, row in enumerate(rows)]
            tree = read_or_none(rows) or read_hierarchy({0: [row[0] for row in rows], 1: ["*"] * len(rows)})
        values = draw(st.lists(st.sampled_from(tree.leaves), unique=True, min_size=1))
    has_null &= all("*" not in path[:-1] or path[-1] == "*" for path in tree.paths)
    rows = np.array(draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values))), np.int64)
    known = {"is_public": kind == "given", "rows": rows, "nulls": draw(st.integers(1, 9)) * has_null}
    return build_tree_axis("c", values, tree, has_null, **known).at(draw(st.integers(1, 10))), values


def read_or_none(rows):
    """A tree of these paths, unless a label would be ambiguous."""
    try:
        return read_hierarchy({level: list(labels) for level, labels in enumerate(zip(*rows, strict=True))})
    except BadHierarchy:
        return None


axes = st.one_of(line_axes(), rank_axes(), tree_axes())


# Points: distinct code tuples on axes of every kind, with weights


def unprotected(case):
    """An axis whose values are printed whoever holds them, as k = 1 asks: of lattices, whose nodes serve every k."""
    axis, values = case
    return (axis if axis.kind in ("number", "date") else replace(axis, rows=None, k=1)), values


bare_axes = axes.map(unprotected)


def kernel_widths(axis):
    """What kernels know of the widths of one axis, which is their axis 0."""
    return Points((axis,), (), np.zeros((1, 1), np.int32), np.ones(1, np.int64)).widths()


@st.composite
def point_sets(draw, most_rows=40, heaviest=12, kinds=axes):
    drawn = draw(st.lists(kinds, min_size=1, max_size=3))
    made = tuple(axis for axis, _ in drawn)
    tuples = st.tuples(*(st.sampled_from(held_codes(axis)) for axis in made))
    codes = draw(st.lists(tuples, unique=True, min_size=1, max_size=min(12, most_rows)))
    weights, left = [], most_rows
    for _ in codes:
        weights.append(draw(st.integers(1, max(1, min(heaviest, left)))))
        left -= weights[-1]
    return Points(made, (), np.array(codes, np.int32), np.array(weights, np.int64))


def held_codes(axis):
    """Codes behind which there are values; the steps of a grid may be empty."""
    return sorted({*axis.codes.tolist(), *([axis.null] if axis.has_null else [])})


# Tables by the thousand, from a seed


@dataclass(frozen=True)
class Case:
    """A table, the roles and axes of its columns, a goal, and whatever else is asked of its release."""

    table: pa.Table
    quasi_identifiers: list[str]
    axes: dict[str, object]
    hierarchies: dict[str, dict[int, list[str]]]
    k: int
    grid: str | float
    suffix: str
    asked: dict[str, object] = field(default_factory=dict)
    source: str = "frame"  # or the ending of a file it is read from

    @property
    def roles(self):
        return {"quasi_identifiers": self.quasi_identifiers, "sensitive": ["s"], "axes": self.axes} | (
            {"hierarchies": self.hierarchies} if self.hierarchies else {}
        )


def random_case(seed):
    """2 to 60 rows, 1 to 4 quasi-identifiers of any kind, with NULLs and twins; `s` is sensitive, `x` is dropped."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 61))
    twins = rng.integers(0, rows, rows) if rng.random() < 0.3 else np.arange(rows)
    names = [f"q{j}" for j in range(rng.choice([1, 2, 2, 3, 4]))]
    columns, axes_asked, hierarchies = {"x": pa.array([f"name {i}" for i in range(rows)])}, {}, {}
    for name in names:
        draw = COLUMNS[rng.integers(len(COLUMNS))]
        values, asked, hierarchy = draw(rng, rows)
        missing = rng.random(rows) < rng.choice([0, 0, 0, 0.1, 0.5, 1.0], p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
        filled = pa.array(values)  # its type, should all of it be missing
        columns[name] = pa.array(values, filled.type, mask=missing).take(pa.array(twins))
        axes_asked |= {name: asked} if asked else {}
        hierarchies |= {name: hierarchy} if hierarchy else {}
    columns["s"] = pa.array(SENSITIVE[rng.integers(len(SENSITIVE))](rng, rows))
    k = int(rng.integers(1, rows + 1) if rng.random() < 0.3 else rng.integers(2, min(rows, 7) + 1))
    grid = [*["round"] * 6, "exact", "exact", 1.0, 2.5][rng.integers(10)]
    suffix = ".csv" if rng.random() < 0.5 else ".parquet"
    return Case(pa.table(columns), names, axes_asked, hierarchies, k, grid, suffix)


def random_asked_case(seed):
    """The same with every cut, goal, form and limit at random, and often with fewer and other sensitive values."""
    rng, case = np.random.default_rng([seed, 1]), random_case(seed)
    cut = ["local", "local", "local", "minimal", "domain", "domain", "regime"][rng.integers(7)]
    asked = {"cut": cut, "seed": int(rng.integers(1000))}
    asked |= {"reading": ["strict", "homological"][rng.integers(2)]} if cut == "regime" else {}
    asked |= {"effort": "quick"} if cut in ("local", "minimal") else {}
    asked |= GOALS[rng.integers(len(GOALS))](rng)
    asked |= {"suppress": float(rng.choice([0.05, 0.2, 0.6]))} if cut != "regime" and rng.random() < 0.3 else {}
    asked |= (
        {"labels": ["dash", "columns", "columns"][rng.integers(3)]} if has_line(case) and rng.random() < 0.4 else {}
    )
    asked |= {"max_points": int(rng.integers(1, 30))} if cut != "domain" and rng.random() < 0.1 else {}
    if rng.random() < 0.6:
        values, order = FEW_SENSITIVE[rng.integers(len(FEW_SENSITIVE))](rng, case.table.num_rows)
        table = case.table.set_column(case.table.num_columns - 1, "s", pa.array(values))
        case = replace(case, table=table, axes=case.axes | ({"s": order} if order else {}))
    return replace(case, asked=asked, source=["frame", "frame", ".csv", ".parquet"][rng.integers(4)])


def has_line(case):
    """Whether some quasi-identifier is published as intervals."""
    free = set(case.quasi_identifiers) - case.axes.keys() - case.hierarchies.keys()
    kinds = [case.table.schema.field(name).type for name in free]
    return any(not pa.types.is_string(kind) and not pa.types.is_boolean(kind) for kind in kinds)


def whole_numbers(rng, rows):
    return rng.integers(-20, 20, rows) * int(rng.choice([1, 7, 1000])), None, None


def decimal_numbers(rng, rows):
    return np.round(rng.normal(0, 10.0 ** rng.integers(0, 4), rows), int(rng.integers(1, 4))), None, None


def free_numbers(rng, rows):
    return rng.normal(rng.choice([0.0, 5.0]), 1, rows) * 10.0 ** rng.integers(-6, 9), None, None


def constant_numbers(rng, rows):
    return np.full(rows, float(rng.choice([0, 5, 0.25, -3]))), None, None


def days(rng, rows):
    spread = int(rng.choice([10, 400, 40_000]))
    return np.datetime64("2024-02-29") - rng.integers(0, spread, rows).astype("timedelta64[D]"), None, None


def times(rng, rows):
    spread = int(rng.choice([100, 10**5, 10**8]))
    start = np.datetime64("2001-01-01T00:00:00", "us")
    return start + rng.integers(0, spread, rows) * np.timedelta64(int(rng.choice([1, 10**3, 10**6])), "us"), None, None


def few_texts(rng, rows):
    return np.array(["red", "green", "blue", "dark blue"], object)[rng.integers(0, 4, rows)], None, None


def odd_texts(rng, rows):
    return np.array(ODD_TEXTS, object)[rng.integers(0, len(ODD_TEXTS), rows)], None, None


def many_texts(rng, rows):
    return np.array([f"t{i}" for i in rng.permutation(rows)], object), None, None


def codes_of_places(rng, rows):
    return np.array([f"{x:05}" for x in rng.integers(2100, 2400, rows)], object), None, None


def yes_or_no(rng, rows):
    return rng.random(rows) < 0.5, None, None


def ordered_texts(rng, rows):
    order = ["none", "low", "middle", "high", "very high"]
    return np.array(order, object)[rng.integers(0, 5, rows)], order, None


def numbers_as_texts(rng, rows):
    return np.array([str(x) for x in rng.integers(0, 99, rows)], object), "set", None


def leaves_of_a_tree(rng, rows):
    jobs = ["clerk", "boss", "Other", "misc", "nurse", "doctor", "*"]
    levels = {
        0: jobs,
        1: ["office", "office", "Other", "Other", "health", "health", "*"],
        2: ["*"] * 7,
    }
    if rng.random() < 0.3:
        levels = {0: jobs[:6], 1: levels[1][:6], 2: ["all"] * 6}
    return np.array(levels[0], object)[rng.integers(0, len(levels[0]), rows)], None, levels


def numbers_under_a_tree(rng, rows):
    ages = [str(x) for x in range(20, 40)]
    levels = {0: ages, 1: [f"{x[0]}0s" for x in ages], 2: ["*"] * 20}
    return rng.integers(20, 40, rows), None, levels


COLUMNS = [
    whole_numbers, decimal_numbers, free_numbers, constant_numbers, days, times, few_texts, odd_texts, many_texts,
    codes_of_places, yes_or_no, ordered_texts, numbers_as_texts, leaves_of_a_tree, numbers_under_a_tree,
]  # fmt: skip

SENSITIVE = [
    lambda rng, rows: [f"patient {i}" for i in rng.permutation(rows)],
    lambda rng, rows: rng.permutation(rows),
    lambda rng, rows: np.array(["flu", "=SUM(A1)", "-", "+a", "@x", "a, b", None, 'say "a"'], object)[
        rng.integers(0, 8, rows)
    ],
    lambda rng, rows: np.round(rng.normal(0, 1, rows), 2),
]


def skewed(rng, rows, values):
    """The first ones more often."""
    return [values[min(int(rng.exponential(2)), len(values) - 1)] for _ in range(rows)]


FEW_SENSITIVE = [
    lambda rng, rows: (skewed(rng, rows, ["flu", "cold", None, "=1+1", "", " flu", "*"]), None),
    lambda rng, rows: (skewed(rng, rows, [0, 5, -1, None, 1000, 7]), None),
    lambda rng, rows: (skewed(rng, rows, [0.5, -0.0, 0.0, 1e-9, 2.25, None]), None),
    lambda rng, rows: (skewed(rng, rows, [date(2024, 2, 29), date(1999, 12, 31), None, date(2024, 3, 1)]), None),
    lambda rng, rows: (skewed(rng, rows, ["mild", "none", "severe", None]), ["none", "mild", "severe", "fatal"]),
    lambda rng, rows: (skewed(rng, rows, [True, False]), None),
]

GOALS = [
    lambda rng: {},
    lambda rng: {},
    lambda rng: {"l": int(rng.integers(1, 4))},
    lambda rng: {"l": float(np.round(rng.uniform(1, 3), 2)), "l_kind": "entropy"},
    lambda rng: {"l": int(rng.integers(1, 4)), "l_kind": "recursive", "c": float(rng.choice([1.2, 3, 8]))},
    lambda rng: {"t": float(np.round(rng.uniform(0, 0.8), 2)), "t_kind": ["equal", "ordered"][rng.integers(2)]},
    lambda rng: {"alpha": float(np.round(rng.uniform(0.35, 1), 2))},
    lambda rng: {"l": 2, "t": float(np.round(rng.uniform(0.1, 0.8), 2)), "alpha": 0.9},
]
