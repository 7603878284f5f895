"""Joint k of releases of a table that changes, against the definition by brute force."""

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import chain, combinations, product

import pytest

import joint_oracle as oracle
import kech
from by_hand import certified, write
from kech.certificate.cohorts import PROMISE
from kech.errors import BadOption, ClaimBroken
from strategies import seeds

HEADER = ("id", "who", "age", "salary")


# -- random histories ------------------------------------------------------------------------------------------


def random_versions(seed):
    """Two or three versions of rows (id, who, age, salary), and a partition of each into classes of two or more."""
    rng = random.Random(seed)
    rows = [draw_row(rng, number) for number in range(rng.randint(6, 14))]
    versions = []
    for _ in range(rng.choice([2, 2, 3])):
        parts = halve(rng, sorted(rows, key=lambda row: row[2]) if rng.random() < 0.8 else list(rows))
        versions.append((list(rows), parts))
        rows = [row for row in rows if rng.random() < 0.85] + [draw_row(rng, 100 * len(versions) + i) for i in range(3)]
        rows = [(*row[:3], rng.choice("abcd")) if rng.random() < 0.1 else row for row in rows]
    return versions


def draw_row(rng, number):
    return number, f"p{rng.randrange(9)}", rng.randint(0, 30), rng.choice("abcd")


def halve(rng, rows):
    if len(rows) < 4:
        return [rows]
    middle = rng.randint(2, len(rows) - 2)
    return [*halve(rng, rows[:middle]), *halve(rng, rows[middle:])]


def box_of(part):
    ages = [age for _, _, age, _ in part]
    return min(ages), max(ages)


def write_versions(folder, versions):
    """Originals and certified releases; both in an order of their own."""
    originals, releases = [], []
    for place, (rows, parts) in enumerate(versions):
        originals.append(write(folder / f"{place}.csv", HEADER, random.Random(place).sample(rows, len(rows))))
        cells = [(f"[{low}, {high}]", salary) for part in parts for (low, high), (*_, salary) in label(part)]
        releases.append(certified(folder / f"{place}_safe.csv", cells))
    return releases, originals


def label(part):
    return [(box_of(part), row) for row in part]


# -- the definition --------------------------------------------------------------------------------------------


def judge(versions, named=False):
    """All figures from the definition, pair by pair of rows."""
    classes = [join_classes(parts) for _, parts in versions]
    owner = {row[0]: row[1] for rows, _ in reversed(versions) for row in rows}
    seen = [find_classes(rows, held) for (rows, _), held in zip(versions, classes, strict=True)]
    k = min(len(cells) for held in classes for cells in held.values())
    if named:
        k = min(k, *(len({owner[key] for key in keys}) for fits in seen for keys in find_members(fits).values()))
    own = [narrow_to_own(*each) for each in zip(versions, classes, seen, strict=True)]
    meets = oracle.find_together(own)
    sizes = [{box: len(cells) for box, cells in held.items()} for held in classes]
    together = {
        key: oracle.count_smallest(cells, sizes, lambda keys: len(count(keys, owner, named)))
        for key, cells in meets.items()
    }
    below = [key for key, rows in together.items() if rows < k]
    return {
        "k": k,
        "rows": len(together),
        "joint_k": min(together.values(), default=None),
        "below": len(below),
        "people_below": len({owner[key] for key in below}) if named else None,
        "candidates": count_candidates(seen, owner, named),
        "undecided": sum(any(len(fits.get(key, ())) > 1 for fits in own) for key in meets),
        "pinned": judge_values(versions, classes, seen),
        "differences": [
            judge_pair(seen, classes, i, j, k)
            | {"changed": judge_change(seen, classes, i, j, k, owner if named else {})}
            for i, j in combinations(range(len(versions)), 2)
        ],
    }


def count(keys, owner, named):
    return {owner[key] for key in keys} if named else keys


def join_classes(parts):
    """Salaries by label: classes with equal labels are one."""
    held = {}
    for part in parts:
        held.setdefault(box_of(part), Counter()).update(row[3] for row in part)
    return {box: list(cells.elements()) for box, cells in held.items()}


def find_classes(rows, held):
    """The classes that each key could be in, by labels and sizes."""
    fits = {key: [box for box in held if box[0] <= age <= box[1]] for key, _, age, _ in rows}
    return oracle.narrow(fits, {box: len(cells) for box, cells in held.items()})


def find_members(fits):
    """The keys that could be in each class."""
    return {cell: {key for key in fits if cell in fits[key]} for cell in chain(*fits.values())}


def narrow_to_own(version, held, fits):
    """The classes of each key that publish its salary."""
    return oracle.narrow_own(fits, held, {row[0]: row[3] for row in version[0]})


def count_candidates(seen, owner, named):
    """The fewest keys that share some class with a key in all its versions."""
    members = [find_members(fits) for fits in seen]
    fewest = []
    for key in owner:
        mine = [v for v, fits in enumerate(seen) if key in fits]
        others = {k for k in owner if {v for v, fits in enumerate(seen) if k in fits} == {*mine}}
        shared = [set().union(*(members[v][cell] for cell in seen[v][key])) for v in mine]
        if len(mine) > 1:
            fewest.append(len(count(set.intersection(others, *shared), owner, named)))
    return min(fewest, default=None)


def judge_values(versions, classes, seen):
    left = oracle.find_values(list(zip(seen, classes, strict=True)))
    alone = [oracle.find_values_alone(*each) for each in zip(seen, classes, strict=True)]
    truth = {key: {row[3] for rows, _ in versions for row in rows if row[0] == key} for key in left}
    pinned = {key: values for key, values in left.items() if len(values) == 1}
    right = {key: values for key, values in pinned.items() if values <= truth[key]}
    by_one = sum(any(each.get(key) == values for each in alone) for key, values in right.items())
    return [{"column": "salary", "rows": len(left), "pinned": len(pinned), "right": len(right), "alone": by_one}]


def judge_pair(seen, classes, first, second, k):
    both = seen[first].keys() & seen[second].keys()
    same = widened = 0
    for one, cells in classes[first].items():
        for other, theirs in classes[second].items():
            grown, shrunk = Counter(theirs) - Counter(cells), Counter(cells) - Counter(theirs)
            if one == other:
                same += 0 < grown.total() < k or 0 < shrunk.total() < k
            elif (
                one not in classes[second]
                and other not in classes[first]
                and covered(seen[first], one, both) == covered(seen[second], other, both) != set()
            ):
                more, less = sorted((grown.total(), shrunk.total()))[::-1]
                widened += less == 0 < more < k
    return {"first": first, "second": second, "same_label": same, "widened": widened}


def judge_change(seen, classes, first, second, k, owner):
    """Salaries that came or left in all classes that rows connect, where fewer than k rows or people did."""
    places, changed = (first, second), 0
    left = {(place, box) for place in places for box in classes[place]}
    while left:
        group = {left.pop()}
        while (
            grown := {
                (place, box)
                for keys in [find_keys(seen, group)]
                for place in places
                for key in keys & seen[place].keys()
                for box in seen[place][key]
            }
            - group
        ):
            group |= grown
        left -= group
        one, other = (sum((Counter(classes[p][box]) for p, box in group if p == place), Counter()) for place in places)
        keys = find_keys(seen, group)
        for salaries, mine, theirs in ((one - other, first, second), (other - one, second, first)):
            movers = {owner.get(key, key) for key in keys if key in seen[mine] and key not in seen[theirs]}
            if len(movers) < k and (owner or salaries.total() < k):
                changed += salaries.total()
    return changed


def find_keys(seen, group):
    return {key for place, box in group for key, boxes in seen[place].items() if box in boxes}


def covered(seen, box, both):
    return {key for key in both if box in seen[key]}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("seed", seeds(18))
def test_figures_are_those_of_the_definition(folder, seed, named):
    versions = random_versions(seed)
    releases, originals = write_versions(folder, versions)
    person = {"person": ["who"]} if named else {}

    found = kech.compute_joint_risk(releases, originals, key="id", **person).to_json()

    expected = judge(versions, named)
    if expected["candidates"] is not None and expected["candidates"] >= expected["k"]:
        assert expected["k"] <= found.pop("candidates") <= expected.pop("candidates")  # beyond k, at least so many
    assert {name: found[name] for name in expected} == expected
    assert found["counted"] == ("people" if named else "rows")


# -- by hand ---------------------------------------------------------------------------------------------------

MARCH = [(1, "ann", 20, "a"), (2, "bob", 24, "b"), (3, "cat", 31, "c"), (4, "dan", 35, "a"), (5, "eve", 39, "b")]
APRIL = [*MARCH, (6, "fay", 27, "d")]


@pytest.fixture
def months(folder):
    """March: two and three rows.  April: a newcomer widens the first class."""
    parts = [MARCH[:2], MARCH[2:]], [[*MARCH[:2], APRIL[5]], MARCH[2:]]
    return write_versions(folder, list(zip((MARCH, APRIL), parts, strict=True)))


def test_a_class_that_is_widened_for_a_newcomer_shows_her(months):
    found = kech.compute_joint_risk(*months, key="id").to_json()

    assert (found["k"], found["joint_k"], found["below"], found["rows"]) == (2, 2, 0, 5)
    assert found["differences"] == [{"first": 0, "second": 1, "same_label": 0, "widened": 1, "changed": 1}]


def test_the_command_shows_it_in_words_and_as_json(months, run):
    (march, april), (before, after) = months
    words = ("verify", march, april, "--original", before, after, "--key", "id")

    shown = run(*words)
    assert shown.code == 4
    assert "PRIVATE" in shown.out
    said = " ".join(shown.out.split())
    assert "joint k = 2, the fewest rows that stay together in all releases of a row, over 5 rows" in said
    assert "By labels and sizes of classes alone, every row has 2 or more candidates." in said
    assert "that differ by fewer than 2 rows: 1. The rows show." in " ".join(shown.out.split())
    as_json = kech.compute_joint_risk([march, april], [before, after], key="id").to_json()
    assert json.loads(run(*words, "--json").out) == as_json
    assert "do not keep k = 2: differences: fewer than 2 came or left." in " ".join(shown.err.split())
    assert run(*words, "--k", "3").code == 4
    assert run(*words, "--k", "1").code == 0


def test_a_row_that_left_shows_under_coarser_labels_too(folder, run):
    """April lacks row 5 and has one class for all: joint k is 2, and subtracting all from all leaves salary b."""
    versions = [(MARCH, [MARCH[:2], MARCH[2:]]), (MARCH[:4], [MARCH[:4]])]
    releases, originals = write_versions(folder, versions)

    shown = run("verify", *releases, "--original", *originals, "--key", "id")

    said = " ".join(shown.out.split())
    assert shown.code == 4
    assert "joint k = 2" in said and "Classes of" not in said
    assert "shows the cells of 1 rows that came or left with fewer than 2 rows at once." in said
    words = ("attack", "compose", releases[0], "--original", originals[0], "--second", releases[1])
    found = run(*words, "--second-original", originals[1], "--key", "id", "--json").json["attacks"]
    assert [(each["about"], each["rate"]) for each in found][1] == ("records that came or left with fewer than 2", 0.2)


def test_one_original_serves_all_releases_of_it(folder):
    """[20, 31] and [35, 39] in the one, [20, 24] and [31, 39] in the other: row 3 is alone."""
    rows = [(None, [MARCH[:3], MARCH[3:]]), (None, [MARCH[:2], MARCH[2:]])]
    releases, _ = write_versions(folder, [(MARCH, parts) for _, parts in rows])

    found = kech.compute_joint_risk(releases, [folder / "0.csv"]).to_json()

    assert (found["k"], found["joint_k"], found["below"]) == (2, 1, 1)
    with pytest.raises(ClaimBroken, match=r"joint k: asked 2, found less.*Do not hand out"):
        kech.compute_joint_risk(releases, [folder / "0.csv"], k=2)


def test_sizes_of_classes_tell_where_a_row_is(folder):
    """Of 0, 3, 5 and 7 only 0 and 3 can fill [0, 3], and [0, 7] needs 0 and 7: so 3 is alone, also for a reader."""
    rows = [(number, "ann", age, "a") for number, age in enumerate((0, 3, 5, 7))]
    parts = [[rows[:2], rows[2:]], [rows[1:3], [rows[0], rows[3]]]]
    releases, _ = write_versions(folder, [(rows, each) for each in parts])

    found = kech.compute_joint_risk(releases, [folder / "0.csv"]).to_json()

    assert (found["k"], found["joint_k"], found["below"], found["candidates"]) == (2, 1, 4, 1)
    assert (found["undecided"], found["at_least"]) == (0, 1)


def test_a_repeat_of_overlapping_classes_keeps_its_k_in_one_reading(folder, run):
    """Twins of 5 fit [0, 5] and [5, 9], which hold one salary: nobody can tell which is where, and nothing moved."""
    rows = [(number, "ann", age, "a") for number, age in enumerate((0, 0, 5, 5, 9, 9))]
    releases, _ = write_versions(folder, [(rows, [rows[:3], rows[3:]])] * 2)

    found = kech.compute_joint_risk(releases, [folder / "0.csv"]).to_json()

    assert (found["k"], found["joint_k"], found["below"]) == (3, 3, 0)
    assert (found["undecided"], found["at_least"]) == (2, 1)
    assert not found["holds"]  # a moved twin would be alone: the safe side counts
    shown = run("verify", *releases, "--original", folder / "0.csv")
    assert shown.code == 4 and "joint k is between 1 and 3" in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("spell", "reads"),
    [
        ("[{}, {}]".format, True),
        (lambda low, high: f"[{low}, {high + 1}[", True),
        ("{}-{}".format, True),
        (lambda low, high: "3*" if low > 29 else "2*", True),
        (lambda low, high: "{{{}}}".format(", ".join(map(str, range(low, high + 1)))), True),
        (lambda low, high: "old" if low > 29 else "young", False),
    ],
)
def test_labels_of_other_tools_are_read_where_they_are_written_in_a_known_way(folder, spell, reads):
    """Without certificates; row 3 goes to the other class in April, and so shares only itself and those who follow."""
    paths = []
    for place, parts in enumerate(([MARCH[:2], MARCH[2:]], [MARCH[:2], MARCH[2:]])):
        cells = [(spell(*box_of(part)), row[3]) for part in parts for row in part]
        paths.append(write(folder / f"{place}_other.csv", ("age", "salary"), cells))
    original = write(folder / "march.csv", HEADER, MARCH)
    columns = {"quasi_identifiers": ["age"], "sensitive": ["salary"]}

    if not reads:
        with pytest.raises(BadOption, match="cover fewer of its rows than they hold"):
            kech.compute_joint_risk(paths, [original], **columns)
        return
    found = kech.compute_joint_risk(paths, [original], **columns).to_json()
    assert (found["k"], found["joint_k"], found["below"], found["rows"]) == (2, 2, 0, 5)
    assert found["pinned"] == [{"column": "salary", "rows": 5, "pinned": 0, "right": 0, "alone": 0}]


def test_nodes_of_a_hierarchy_are_read_where_it_is_given(folder):
    cells = [("young" if row[2] < 30 else "old", row[3]) for row in MARCH]
    paths = [write(folder / f"{place}_other.csv", ("age", "salary"), cells) for place in range(2)]
    original = write(folder / "march.csv", HEADER, MARCH)
    tree = {"young": [20, 24], "old": [31, 35, 39]}
    asked = {
        "quasi_identifiers": ["age"],
        "hierarchies": {"age": {"*": {k: list(map(str, v)) for k, v in tree.items()}}},
    }

    found = kech.compute_joint_risk(paths, [original], **asked).to_json()

    assert (found["k"], found["joint_k"]) == (2, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--original", "{0}", "{1}"], "--key"),
        (["--original", "{0}", "{1}", "{1}", "--key", "id"], "--original"),
        (["--original", "{0}", "{1}", "--key", "salary"], "is the same in 4 rows"),
        (["--original", "{0}", "{1}", "--key", "id", "--qi", "age"], "--qi"),
        (["--original", "{0}", "{1}", "--key", "id", "--l", "2"], "--l"),
        (["--original", "{0}", "{1}", "--key", "id", "--population", "{0}"], "--population"),
        (["--key", "id"], "--original"),
        (["--original", "{0}", "{1}", "--key", "nobody"], "nobody"),
    ],
)
def test_refusals_say_what_to_name(months, run, words, said):
    releases, originals = months
    done = run("verify", *releases, *(word.format(*originals) for word in words))

    assert done.code == 2
    assert said in done.err


def test_one_release_takes_neither_key_nor_two_originals(months, run):
    (march, _), (before, after) = months
    assert run("verify", march, "--key", "id").code == 2
    assert run("verify", march, "--original", before, after, "--person", "who").code == 2


def test_the_attack_compares_versions_of_a_table(folder, run):
    """Rows 3 to 5 move together; row 2 joins them in April, so its class of March and of April share it alone."""
    parts = [MARCH[:2], MARCH[2:]], [[MARCH[0], (6, "fay", 19, "d")], MARCH[1:]]
    april = [*MARCH, (6, "fay", 19, "d")]
    (one, two), (before, after) = write_versions(folder, list(zip((MARCH, april), parts, strict=True)))
    words = ("attack", "compose", one, "--original", before, "--second", two)

    found = run(*words, "--second-original", after, "--key", "id", "--json").json["attacks"]

    assert found[0]["targets"] == 5
    assert found[0]["note"] == "joint k = 1"
    assert found[0]["rate"] == 2 / 5  # rows 1 and 2
    with kech.read_table(before) as original, kech.read_table(after) as changed:
        same = kech.run_attacks(one, original, attacks=["compose"], second=(two, changed), key="id")
    assert [each.to_json() for each in same] == found
    assert run(*words, "--key", "id").code == 2
    assert run(*words, "--second-original", after).code == 2
    assert run("attack", "edge", one, "--original", before, "--second-original", after).code == 2


def publish_series(folder, originals):
    """Versions of a series at k = 3, one for each original."""
    roles = {"quasi_identifiers": ["age"], "sensitive": ["salary"], "key": ["id"], "rows_are_people": True}
    releases = [folder / f"{place}_safe.csv" for place in range(len(originals))]
    for original, release in zip(originals, releases, strict=True):
        with kech.read_table(original, **roles) as table:
            kech.open_series(folder / "series").publish(table, release, k=3, ledger=False, most_changed=1)
    return releases


def test_a_series_whose_keys_were_written_anew_is_found_guilty(folder):
    """The same people under other keys, a year older: all cohorts left, and everybody stands in a second one."""
    rng = random.Random(7)
    first = [(number, f"k{number}", rng.randrange(20, 80), rng.choice("abcdefgh")) for number in range(60)]
    second = [(number, f"n{number}", age + 1, salary) for number, _, age, salary in first]
    header = ("person", "id", "age", "salary")
    originals = [write(folder / f"{place}.csv", header, rows) for place, rows in enumerate((first, second))]
    releases = publish_series(folder, originals)

    found = kech.compute_joint_risk(releases, originals, key="person").to_json()

    assert found["of_series"] and found["rows"] == 60 and found["renewed"] == 60
    assert found["joint_k"] < 3 and not found["holds"]


def test_only_the_first_versions_of_one_series_are_compared(folder):
    """What rows became in between is not known."""
    rng = random.Random(4)
    rows = [draw_row(rng, number) for number in range(30)]
    originals = [write(folder / f"{place}.csv", HEADER, rows[: 20 + 5 * place]) for place in range(3)]
    releases = publish_series(folder, originals)
    assert kech.compute_joint_risk(releases, originals, key="id").to_json()["holds"]
    for chosen in ([0, 2], [1, 2], [1, 0], [0, 0]):
        with pytest.raises(BadOption, match="not its versions 1, 2"):
            kech.compute_joint_risk([releases[i] for i in chosen], [originals[i] for i in chosen], key="id")


def test_versions_of_two_series_are_no_history(folder):
    """The first version of one and the second of another, whose rows are other people with the same keys."""
    made = []
    for place, seed in enumerate((4, 5)):
        rng, here = random.Random(seed), folder / str(place)
        here.mkdir()
        rows = [draw_row(rng, number) for number in range(30)]
        originals = [write(here / f"{version}.csv", HEADER, rows[: 20 + 10 * version]) for version in range(2)]
        made.append((publish_series(here, originals), originals))
    for (first, firsts), (second, seconds) in (made, made[::-1]):
        assert kech.compute_joint_risk(first, firsts, key="id").to_json()["holds"]
        with pytest.raises(BadOption, match="different series"):
            kech.compute_joint_risk([first[0], second[1]], [firsts[0], seconds[1]], key="id")


def test_one_original_serves_no_two_versions_of_a_series(folder, run):
    """Rows that came later fit classes of the first version too: joint k would be 1, no fault of the series."""
    rng = random.Random(4)
    rows = [draw_row(rng, number) for number in range(30)]
    originals = [write(folder / f"{place}.csv", HEADER, rows[: 20 + 10 * place]) for place in range(2)]
    releases = publish_series(folder, originals)
    for original in originals:
        refused = run("verify", *releases, "--original", original)
        assert refused.code == 2 and "Name the tables in the order" in " ".join(refused.err.split())
    assert run("verify", *releases, "--original", *originals, "--key", "id").code == 0


@pytest.mark.parametrize(("waiting", "renewed"), [(0, 5), (2, 3), ("<3", 3), ("hidden", 0)])
def test_rows_that_wait_are_no_more_than_the_certificate_says(folder, waiting, renewed):
    """All five rows of March come again under other labels.  Those that may have waited are not counted."""
    again = {"[20, 25]": MARCH[:2], "[31, 40]": MARCH[2:]}
    cohorts = dict(list(COHORTS.items())[:2]) | again
    sections = [{"withdrawn": 0, "waiting": waiting}, {"withdrawn": 5}]
    versions = [(MARCH, [*cohorts][:2]), (MARCH, [*again])]

    found = kech.compute_joint_risk(*write_series(folder, versions, cohorts, sections), key="id").to_json()

    assert found["renewed"] == renewed
    assert not renewed or not found["holds"]


def test_a_series_keeps_its_k_together(folder, run, monkeypatch):
    """One row left and one was corrected: both stay as they were published, with their cohorts."""
    rng = random.Random(4)
    first = [draw_row(rng, number) for number in range(20)]
    second = [*first[:4], (*first[4][:2], 29, "d"), *first[6:], *(draw_row(rng, number) for number in range(20, 26))]
    originals = [write(folder / f"{place}.csv", HEADER, rows) for place, rows in enumerate((first, second))]
    releases = publish_series(folder, originals)

    joint = kech.compute_joint_risk(releases, originals, key="id")
    found = joint.to_json()

    assert found["rows"] >= 19
    assert found["joint_k"] >= found["k"] >= 3
    assert found["below"] == 0 and found["of_series"]
    assert found["differences"] == [{"first": 0, "second": 1, "same_label": 0, "widened": 0, "changed": 0}]
    assert found["holds"]
    monkeypatch.setattr("kech.audit.joint.measure_joint_risk", lambda *_, **__: replace(joint, joint_k=1))
    said = run("verify", *releases, "--original", *originals, "--key", "id").out
    assert "verify --series" in said and "Publish later versions" not in said  # advice that fits a series


def test_a_series_is_held_to_the_k_that_it_promises(folder, run):
    """Its classes are larger than k, and a cohort of few more rows than k enters one of them."""
    rows = [(number, "ann", 30, "abc"[number % 3]) for number in range(14)]
    originals = [write(folder / f"{place}.csv", HEADER, rows[:count]) for place, count in enumerate((10, 14))]
    releases = publish_series(folder, originals)

    found = kech.compute_joint_risk(releases, originals, key="id").to_json()

    assert (found["k"], found["goal"], found["changed"], found["holds"]) == (10, 3, 0, True)
    words = "attack", "compose", releases[0], "--original", originals[0], "--second", releases[1]
    words += "--second-original", originals[1], "--key", "id"
    assert [attack["rate"] for attack in run(*words, "--json").json["attacks"]] == [0, 0, 0]
    assert run("verify", *releases, "--original", *originals, "--key", "id", "--k", "5").code == 4


# -- a series that withdraws ---------------------------------------------------------------------------------------

COHORTS = {"[20, 24]": MARCH[:2], "[31, 39]": MARCH[2:], "[23, 30]": [(6, "fay", 23, "a"), (7, "gil", 27, "d")]}


def publish_by_hand(folder, withdrawn, cohorts=COHORTS):
    """March: the first two cohorts.  April: row 1 has left, its cohort is withdrawn, and the third one arrives."""
    gone, stays, new = cohorts
    versions = [(MARCH, [gone, stays]), ([*MARCH[1:], *cohorts[new]], [stays, new])]
    sections = [{"withdrawn": 0}, {"withdrawn": withdrawn}]
    return write_series(folder, versions, cohorts, sections)


def write_series(folder, versions, cohorts, sections):
    """Originals, and certified releases of a series: of each version its rows, the labels of its cohorts and counts."""
    releases, originals, known = [], [], set()
    for place, (rows, labels) in enumerate(versions):
        originals.append(write(folder / f"{place}.csv", HEADER, rows))
        new = [label for label in labels if label not in known]
        counts = {"version": place + 1, "cohorts": len(labels), "new_cohorts": len(new), "waiting": 0, "at_cut": {}}
        counts |= {"withdrawn_before": 0, "returned": 0, "arrivals": sum(len(cohorts[label]) for label in new)}
        known |= {*labels}
        releases.append(
            certified(
                folder / f"{place}_safe.csv", [(label.strip(), row[3]) for label in labels for row in cohorts[label]]
            )
        )
        beside = folder / f"{place}_safe.csv.certificate.json"
        claims = json.loads(beside.read_text("utf-8"))
        claims["claims"]["rows_in"], claims["parameters"]["k"] = None, 2
        beside.write_text(json.dumps(claims | {"series": counts | sections[place] | {"promise": PROMISE}}), "utf-8")
    return releases, originals


def count_worlds():
    """By every way to put rows into cohorts whose labels cover them: how many rows could be in each cohort."""
    rows = [*MARCH, *COHORTS["[23, 30]"]]
    fitting = {
        label: [row[0] for row in rows if int(label[1:3]) <= row[2] <= int(label[5:7]) and (late or row in MARCH)]
        for label, late in zip(COHORTS, (False, False, True), strict=True)
    }
    choices = [combinations(fitting[label], len(held)) for label, held in COHORTS.items()]
    worlds = [world for world in product(*choices) if len(set(chain(*world))) == len(rows)]
    return [len(set(chain(*(world[place] for world in worlds)))) for place in range(len(COHORTS))]


def test_a_row_whose_cohort_is_withdrawn_is_not_looked_for_under_other_labels(folder):
    """Row 2 is 24, and the cohort that arrives is [23, 30]; but row 2 left with its own cohort."""
    assert min(count_worlds()) == 2

    found = kech.compute_joint_risk(*publish_by_hand(folder, withdrawn=2), key="id").to_json()

    assert (found["k"], found["below"], found["rows"]) == (2, 0, 3)
    assert found["joint_k"] >= 2


def test_a_series_that_says_that_nothing_is_withdrawn_is_taken_at_its_word(folder):
    found = kech.compute_joint_risk(*publish_by_hand(folder, withdrawn=0), key="id").to_json()

    assert (found["joint_k"], found["below"]) == (1, 1)


@pytest.mark.parametrize("label", ["[20, 24] ", "[22, 24]"])
@pytest.mark.parametrize("withdrawn", [0, 2])
def test_a_cohort_that_takes_the_place_of_another_is_not_one_that_grew(folder, label, withdrawn):
    """The new cohort has the cells of the one that left and one more, under its label or another for the same rows."""
    new = [(number, "gil", age, cell) for number, age, cell in ((6, 22, "a"), (7, 23, "b"), (8, 24, "d"))]
    cohorts = dict(list(COHORTS.items())[:2]) | {label: new}

    found = kech.compute_joint_risk(*publish_by_hand(folder, withdrawn, cohorts), key="id").to_json()

    (difference,) = found["differences"]
    assert difference["same_label"] + difference["widened"] == (not withdrawn)
    assert found["holds"] or not withdrawn


def test_a_cohort_that_shares_one_value_is_found_under_the_label_of_another(folder, run):
    """No release alone shows it: the class has two cohorts.  The advice is that of a series."""
    later = [(6, "fay", 21, "c"), (7, "gil", 22, "c")]
    cohorts = dict(list(COHORTS.items())[:2]) | {"[20, 24] ": later}
    labels, rows = list(cohorts), [*MARCH, *later]
    versions = [(MARCH, labels[:2]), (rows, labels), (rows, labels)]
    releases, originals = write_series(folder, versions, cohorts, [{"withdrawn": 0}] * 3)

    found = kech.compute_joint_risk(releases, originals, key="id")
    said = run("verify", *releases, "--original", *originals, "--key", "id")
    refusal = " ".join(said.err.split())

    assert [(each.right, each.alone) for each in found.pinned] == [(2, 0)]
    assert found.joint_k == 2 and said.code == 4
    assert "share one value" in refusal and "--l 2" in refusal and "publish all" not in refusal


@pytest.mark.parametrize("withdrawn", [0, 2])
def test_two_cohorts_that_take_the_place_of_one_are_not_one_that_grew(folder, withdrawn):
    """Both have the cells of the one that left and one more, under labels for the same rows."""
    gone, stays, _ = COHORTS
    new = [
        [(10 * many + i, "gil", 22 + i, cell) for i, cell in enumerate(cells)]
        for many, cells in ((1, "abd"), (2, "abc"))
    ]
    labels = "[22, 24]", "[21, 24]"
    cohorts = dict(list(COHORTS.items())[:2]) | dict(zip(labels, new, strict=True))
    versions = [(MARCH, [gone, stays]), ([*MARCH[1:], *chain(*new)], [stays, *labels])]
    sections = [{"withdrawn": 0}, {"withdrawn": withdrawn}]

    found = kech.compute_joint_risk(*write_series(folder, versions, cohorts, sections), key="id").to_json()

    assert (found["differences"][0]["widened"], found["holds"]) == ((0, True) if withdrawn else (2, False))


@pytest.mark.parametrize(("before", "explained"), [(0, False), (4, True)])
def test_what_was_withdrawn_long_ago_explains_no_difference(folder, before, explained):
    """Both releases lack four rows: that is no exchange between them.  Only rows that the first still has may be."""
    gone, stays, _ = COHORTS
    new = [(number, "gil", age, cell) for number, age, cell in ((6, 22, "a"), (7, 23, "b"), (8, 24, "d"))]
    cohorts = dict(list(COHORTS.items())[:2]) | {"[22, 24]": new}
    versions = [(MARCH, [gone, stays]), ([*MARCH[1:], *new], [stays, "[22, 24]"])]
    sections = [{"withdrawn": 0, "withdrawn_before": 4 - before}, {"withdrawn": before, "withdrawn_before": 4 - before}]

    found = kech.compute_joint_risk(*write_series(folder, versions, cohorts, sections), key="id").to_json()

    (difference,) = found["differences"]
    assert (difference["widened"] == 0) == explained


def test_cohorts_that_left_and_came_back_in_between_explain_a_difference(folder):
    """The fourth release has a cohort that the second lacks, and lacks one: of each as many rows as the other knows."""
    gone, stays, _ = COHORTS
    new = [(number, "gil", age, cell) for number, age, cell in ((6, 22, "a"), (7, 23, "b"), (8, 24, "d"))]
    cohorts = dict(list(COHORTS.items())[:2]) | {"[22, 24]": new}
    rows = MARCH, [*MARCH[1:], *new], [*MARCH, *new], MARCH
    labels = [gone, stays], [stays, "[22, 24]"], [gone, stays, "[22, 24]"], [gone, stays]
    sections = [{"withdrawn": withdrawn} for withdrawn in (0, 2, 0, 3)]
    sections[2] |= {"withdrawn_before": 2, "returned": 2}

    found = kech.compute_joint_risk(
        *write_series(folder, list(zip(rows, labels, strict=True)), cohorts, sections), key="id"
    )

    assert not any(difference.shows_rows for difference in found.differences)


def test_a_row_that_left_while_it_waited_is_not_looked_for(folder):
    """Row 9 waits in March and is gone in April: it was never published, though later labels would hold it."""
    later = {
        "[26, 30]": [(6, "fay", 27, "a"), (7, "gil", 28, "b")],
        "[25, 29]": [(8, "hal", 25, "d"), (10, "jo", 26, "d")],
    }
    cohorts = dict(list(COHORTS.items())[:2]) | later
    labels = list(cohorts)
    april = [*MARCH, *later["[26, 30]"]]
    rows = [[*MARCH, (9, "ida", 29, "d")], april, [*april, *later["[25, 29]"]]]
    versions = list(zip(rows, (labels[:2], labels[:3], labels), strict=True))
    sections = [{"withdrawn": 0, "waiting": waiting} for waiting in ("<2", 0, 0)]

    found = kech.compute_joint_risk(*write_series(folder, versions, cohorts, sections), key="id").to_json()

    assert (found["below"], found["joint_k"], found["rows"], found["holds"]) == (0, 2, 7, True)
