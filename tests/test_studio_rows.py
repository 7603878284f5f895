"""What the table of the studio shows of every row, against counting by hand."""

import re
from collections import Counter, defaultdict
from itertools import combinations

import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")

import pyarrow.csv as pc

from kech.tables.demo import generate_town, nine_rows
from studios import running

TOWN = generate_town(400)
QI, SECRET = ["age", "zip", "sex"], "diagnosis"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with running(tmp_path_factory.mktemp("releases")) as served:
        yield served


@pytest.fixture(scope="module")
def ask(studio, tmp_path_factory):
    """Ask of the town with some roles."""
    file = tmp_path_factory.mktemp("town") / "town.csv"
    pc.write_csv(TOWN, file)
    table = studio.upload("town.csv", file.read_bytes())["id"]

    def ask(verb, release=None, **roles):
        others = set(TOWN.column_names) - {name for names in roles.values() for name in names}
        studio.give_roles(table, dropped=others, release=release, **roles)
        return studio.ask(table, verb)

    return ask


def columns(*names):
    return list(zip(*(TOWN[name].to_pylist() for name in names), strict=True))


def test_a_crowd_is_counted_as_by_hand(ask):
    told = ask("crowds", quasi_identifiers=["sex", "schooling"], sensitive=[SECRET])
    rows = columns("sex", "schooling")
    alike = Counter(rows)
    assert told["crowd"] == [alike[row] for row in rows]
    assert told["k"] == min(alike.values()) and (told["counted"], told["people"]) == ("rows", None)
    assert told["alone"] == sum(size for size in alike.values() if size == 1) / len(rows)


def test_a_crowd_of_people_counts_each_once(ask):
    told = ask("crowds", quasi_identifiers=["sex", "schooling"], person=["job"])
    people = defaultdict(set)
    for *row, who in columns("sex", "schooling", "job"):
        people[tuple(row)].add(who)
    assert told["crowd"] == [len(people[row]) for row in columns("sex", "schooling")]
    assert told["counted"] == "people" and told["people"] == len(set(TOWN["job"].to_pylist()))


def covers(label, age):
    """Whether a label of numbers holds a value."""
    if label == "*":
        return True
    if ends := re.fullmatch(r"\[([\d.]+), ([\d.]+)([\])])", label):
        return float(ends[1]) <= age <= float(ends[2])
    sign, _, end = label.partition(" ")
    return {">=": age >= float(end or 0), "<=": age <= float(end or 0)}.get(sign, label == str(age))


@pytest.mark.parametrize("suppress", [0.0, 0.1])
def test_every_row_is_in_one_class_whose_labels_hold_it(ask, suppress):
    wish = {"k": 5, "effort": 0.0, "suppress": suppress, "seed": 2}  # with which one is left out
    told = ask("classes", wish, quasi_identifiers=QI, sensitive=[SECRET])
    group, classes, suppressed = told["class_of_row"], told["classes"], told["figures"]["suppressed"]
    sizes = Counter(group)
    assert sizes.pop(-1, 0) == suppressed and (suppressed > 0) == (suppress > 0)
    assert [sizes[number] for number in range(len(classes["rows"]))] == classes["rows"] and min(classes["rows"]) >= 5
    ages, labels = TOWN["age"].to_pylist(), classes["labels"]["age"]
    texts = [labels["texts"][place] for place in labels["at"]]
    assert all(number < 0 or covers(texts[number], age) for number, age in zip(group, ages, strict=True))
    values = defaultdict(set)
    for number, value in zip(group, TOWN[SECRET].to_pylist(), strict=True):
        values[number].add(value)
    alike = sorted(number for number in values if number >= 0 and len(values[number]) == 1)
    assert classes["given_away"][SECRET] == alike


def test_the_icicle_shows_the_nine_rows_at_their_true_places(studio):
    """Components of rows whose distance is at most 2 eps, found by joining pairs, at every eps of the picture."""
    picture = studio.ask(studio.open_nine(k=3, grid="exact"), "icicle")
    points = list(zip(*(nine_rows()[name].to_pylist() for name in ("age", "zip")), strict=True))
    spans = [max(column) - min(column) for column in zip(*points, strict=True)]
    reach = [
        (max(abs(a - b) / span for a, b, span in zip(points[i], points[j], spans, strict=True)) / 2, i, j)
        for i, j in combinations(range(9), 2)
    ]
    for step in picture["at"]:
        component = list(range(9))
        for eps, i, j in reach:
            if eps <= step["eps"] + 1e-12:
                component = [component[i] if c == component[j] else c for c in component]
        sizes = Counter(component)
        assert (step["classes"], step["smallest"]) == (len(sizes), min(sizes.values()))
        among = [
            max(m for e, m in zip(x["eps"], x["among"], strict=True) if e <= step["eps"]) for x in picture["lines"]
        ]
        assert sorted(among) == sorted(sizes[c] for c in component)
    assert len(picture["lines"]) == 9 and [line["rows"] for line in picture["lines"]] == [1] * 9
