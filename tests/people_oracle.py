"""People oracle: random visits tables, released, and counted on the original joined to what is published.

Every row keeps a number of its own in a kept column, so the join is exact.  Who a row belongs to is known from how the
table was made, before names were written in several ways or lost; kech has no part in it.
"""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from math import inf

import pyarrow as pa

import kech
from kech.errors import GoalNotMet, TooManyPoints
from oracles import one_class

CUTS = ("local", "local", "minimal", "domain", "regime")
ROW = "row_number"
MOST_ROWS = 60
JOBS = {
    0: ["nurse", "doctor", "clerk", "boss", "cook"],
    1: ["health", "health", "office", "office", "kitchen"],
    2: ["*"] * 5,
}
SPELLINGS = (str, str.lower, str.swapcase, " {} ".format, "{}\u00a0".format, "{}.".format)
NAMELESS = (None, None, "", "  ")
GOALS = (
    {},
    {"l": 2},
    {"l": 3},
    {"l": 1.7, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": 3.0},
    {"l": 3, "l_kind": "recursive", "c": 4.0},
    {"t": 0.3},
    {"t": 0.5, "t_kind": "equal"},
    {"t": 0.25, "t_kind": "ordered"},
    {"alpha": 0.6},
    {"alpha": 0.8},
    {"l": 2, "t": 0.5, "alpha": 0.8},
)
GOAL_NAMES = ("l", "t", "alpha")


@dataclass
class Case:
    """A table of visits, what is asked of it, and whose every row is."""

    table: pa.Table
    roles: dict
    k: int
    who: list  # the true person of each row
    asked: dict = field(default_factory=dict)

    @property
    def secrets(self):
        """What the sensitive cell of each row says; nothing where no column is sensitive."""
        (name,) = self.roles.get("sensitive", [None])
        return [say(cell) for cell in self.table.column(name).to_pylist()] if name else []

    @property
    def has_goals(self):
        return any(name in self.asked for name in GOAL_NAMES)


def say(cell):
    """A sensitive cell as it is compared."""
    return cell.strip().lower() if isinstance(cell, str) else cell


# -- tables ----------------------------------------------------------------------------------------------------


def random_case(seed):
    """Up to 60 rows of 1 to 20 people: one or two person columns, names missing or written in several ways, twins."""
    rng = random.Random(seed)
    who = draw_people(rng)
    two, messy = rng.random() < 0.3, rng.choice([0, 0, 0.1, 0.4])
    names, who = write_names(rng, who, messy, two=two)
    columns = names | draw_cells(rng, who)
    quasi_identifiers = rng.sample(["age", "town", "zone", "born", "job"], rng.randint(1, 3))
    roles = {"quasi_identifiers": quasi_identifiers, "keep": [ROW], "person": list(names)}
    if "job" in quasi_identifiers and rng.random() < 0.6:
        roles["hierarchies"] = {"job": JOBS}
    asked = draw_request(rng)
    if rng.random() < 0.5:
        roles["sensitive"] = [rng.choice(["finding", "severity"])]
        asked |= rng.choice(GOALS)
    used = [*roles["person"], *quasi_identifiers, *roles.get("sensitive", ()), ROW]
    return Case(pa.table(columns).select(used), roles, rng.choice([2, 2, 3, 4]), who, asked)


def draw_people(rng):
    """The person of each row: 1 to 30 rows each, now and then one person alone or nobody with a second row."""
    kind = rng.random()
    if kind < 0.05:
        return [0] * rng.randint(2, 12)
    people = rng.randint(2, 20)
    each = [1] * people if kind < 0.12 else [rng.choice([1, 1, 2, 3, 6]) for _ in range(people)]
    if rng.random() < 0.15:
        each[0] = rng.randint(10, 30)
    who = [person for person, rows in enumerate(each) for _ in range(rows)][:MOST_ROWS]
    rng.shuffle(who)
    return who


def write_names(rng, who, messy, *, two):
    """The person columns, and who a row then belongs to: all without a name are one person (of each clinic)."""
    texts = [f"Pat {person // 2 if two else person}" for person in who]
    written = [rng.choice(SPELLINGS)(text) if rng.random() < messy else text for text in texts]
    nameless = [rng.random() < messy / 4 for _ in who]
    patient = [rng.choice(NAMELESS) if lost else text for text, lost in zip(written, nameless, strict=True)]
    clinic = [person % 2 for person in who]
    if not two:
        return {"patient": patient}, [-1 if lost else person for person, lost in zip(who, nameless, strict=True)]
    known = zip(who, nameless, clinic, strict=True)
    return {"clinic": clinic, "patient": patient}, [-1 - place if lost else person for person, lost, place in known]


def draw_cells(rng, who):
    """The other columns: what belongs to a person stays with them in half of the tables; some are twins."""
    stays, gaps = rng.random() < 0.5, rng.choice([0, 0.1])
    homes = {}
    for person in dict.fromkeys(who):
        homes[person] = rng.choice(list(homes.values())) if homes and rng.random() < 0.2 else draw_home(rng)
    rows = [homes[person] if stays or rng.random() < 0.3 else draw_home(rng) for person in who]
    names = ("age", "town", "zone", "born", "job")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    columns["town"] = [None if rng.random() < gaps else town for town in columns["town"]]
    columns["age"] = [None if rng.random() < gaps / 2 else age for age in columns["age"]]
    columns["finding"] = rng.choices(["flu", "FLU ", "cold", "burn", "cut", None], [4, 1, 3, 2, 1, 0.5], k=len(who))
    columns["severity"] = rng.choices([1, 2, 3, 5, None], [4, 3, 2, 1, 0.5], k=len(who))
    return columns | {ROW: list(range(len(who)))}


def draw_home(rng):
    born = date(1930, 1, 1) + timedelta(days=rng.randrange(30_000))
    return rng.randint(20, 60), rng.choice("abc"), rng.randint(0, 9), born, rng.choice(JOBS[0])


def draw_request(rng):
    """A cut with its options, a grid and a protection."""
    asked = {"cut": rng.choice(CUTS), "grid": rng.choice(["round", "exact"]), "seed": rng.randrange(1000)}
    if asked["grid"] == "round" and asked["cut"] != "domain":
        asked["protect"] = rng.choice(["full", "ends", "none"])
    if asked["cut"] in ("local", "minimal"):
        asked["effort"] = "quick"
    if asked["cut"] == "regime":
        asked["reading"] = rng.choice(["strict", "strict", "homological"])
    elif rng.random() < 0.3:
        asked["suppress"] = rng.choice([0.1, 0.3])
    if asked["cut"] != "domain" and rng.random() < 0.1:
        asked["max_points"] = rng.randint(3, 30)
    return asked


# -- judging ---------------------------------------------------------------------------------------------------


def release_frame(case):
    """The released rows as an Arrow table."""
    with kech.read_table(case.table, **case.roles) as table:
        return kech.make_release(table, k=case.k, **case.asked).frame


def judge_tables(database, seeds):
    """What is false of these tables; nothing where all is well."""
    wrong, published = [], {}
    for seed in seeds:
        case = random_case(seed)
        try:
            released = release_frame(case)
        except GoalNotMet:
            faults = [] if is_rightly_refused(case) else ["refused without need"]
        except TooManyPoints:
            faults = [] if "max_points" in case.asked else ["too many points without a limit"]
        except Exception as failure:  # whatever else is raised is a fault
            faults = [f"{type(failure).__name__}: {failure}"]
        else:
            published[seed] = (case, released)
            faults = [*check_rows(case, released), *check_goals(case, released)]
        wrong += [f"random_case({seed}): {fault}" for fault in faults]
    small = [(seed, people) for seed, people in count_by_sql(database, published) if people < published[seed][0].k]
    return wrong + [f"random_case({seed}): a class of {people} people" for seed, people in small]


def count_by_sql(database, published):
    """The people of every class: what is published alike, joined to the original by the number of the row."""
    original = [(seed, row, str(who)) for seed, (case, _) in published.items() for row, who in enumerate(case.who)]
    cells = [
        (seed, row, repr(label))
        for seed, (case, released) in published.items()
        for row, label in zip(released[ROW].to_pylist(), labels_of(case, released), strict=True)
    ]
    if not cells:
        return []
    database.register("original", as_table(original, ["seed", "row", "person"]))
    database.register("released", as_table(cells, ["seed", "row", "label"]))
    query = """SELECT seed, count(DISTINCT person) FROM released JOIN original USING (seed, row)
        GROUP BY seed, label ORDER BY ALL"""
    return database.execute(query).fetchall()


def as_table(rows, names):
    return pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


def labels_of(case, released):
    """What is published of each row."""
    return list(zip(*(released[name].to_pylist() for name in case.roles["quasi_identifiers"]), strict=True))


def check_rows(case, released):
    """Nobody is lost beyond what may be left out, nothing is published twice, and no person column is published."""
    rows, total = released[ROW].to_pylist(), case.table.num_rows
    wrong = ["rows are published twice"] if len(set(rows)) < len(rows) else []
    left_out = total - len(rows)
    if left_out > case.asked.get("suppress", 0) * total:
        wrong.append(f"{left_out} rows of {total} are missing")
    if set(case.roles["person"]) & set(released.column_names):
        wrong.append("a person column is published")
    return wrong


def check_goals(case, released):
    """Goals that a published class misses, by rows or by people."""
    if not case.has_goals:
        return []
    return missed_goals(case, released[ROW].to_pylist(), labels_of(case, released))


def missed_goals(case, rows, labels):
    """The same of any labels of these rows."""
    secrets = case.secrets
    order = order_of(secrets) if case.roles["sensitive"] == ["severity"] else None
    shares = {
        "rows": [(label, row, secrets[row]) for row, label in zip(rows, labels, strict=True)],
        "people": [(label, case.who[row], secrets[row]) for row, label in zip(rows, labels, strict=True)],
    }
    return [
        f"{case.asked} is missed by {counted}"
        for counted, held in shares.items()
        if not all(keeps_goals(figures, case.asked) for figures in class_figures(held, order, case.asked.get("l")))
    ]


def class_figures(shares, order, depth):
    """The figures of each class from (class, holder, value): a value counts once for each holder of the class."""
    held, members = defaultdict(Counter), defaultdict(set)
    for label, holder, value in set(shares):
        held[label][value] += 1
        members[label].add(holder)
    overall = Counter(value for _, value in {(holder, value) for _, holder, value in shares})
    for label, counts in held.items():
        figures = one_class(counts, overall, overall.total(), order, int(depth or 1))
        yield figures | {"alpha": max(counts.values()) / len(members[label])}


def order_of(values):
    """Values of a line in their order, what is missing first."""
    return sorted(set(values), key=lambda value: -inf if value is None else value)


def keeps_goals(figures, asked):
    """Whether the figures of a class reach what is asked; t goes by order only where values have one."""
    kind = asked.get("l_kind", "distinct")
    diverse = {
        "distinct": figures["l"] >= asked.get("l", 0),
        "entropy": figures["entropy_l"] >= asked.get("l", 0) - 1e-9,
        "recursive": figures["recursive_c"] < asked.get("c", inf),
    }[kind]
    by_order = asked.get("t_kind", "equal") == "ordered" and figures["t_ordered"] < inf
    far = figures["t_ordered" if by_order else "t"]
    return diverse and far <= asked.get("t", 1) + 1e-9 and figures["alpha"] <= asked.get("alpha", 1) + 1e-9


def is_rightly_refused(case):
    """Cuts that may make one class of all rows refuse only what that class misses; of others it cannot be decided."""
    if len(set(case.who)) < case.k or case.asked["cut"] in ("domain", "regime"):
        return True
    rows = range(case.table.num_rows)
    return case.has_goals and bool(missed_goals(case, rows, [()] * len(rows)))
