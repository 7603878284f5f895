"""Lives of classes over versions: their bars are those of the complexes, and joint k is that of a plain count."""

import re
from collections import Counter, defaultdict
from dataclasses import astuple
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from kech import _kernels
from kech.errors import BadOption, ResourceError
from strategies import seeds, unhurried
from zigzag_oracles import dionysus_bars, full_complex, random_path, zigzag_complexes


def as_version(classes):
    """A pair of arrays from the class of every row; -1 where the version does not have it."""
    rows = np.flatnonzero(np.asarray(classes) >= 0)
    return rows, np.asarray(classes, np.int64)[rows]


def random_versions(rng, rows, versions):
    """Partitions whose rows come and go; numbers of classes have gaps."""
    stays, gap = rng.uniform(0.3, 1), int(rng.integers(1, 4))
    path = random_path(rng, rows, versions)
    return [np.where(rng.random(rows) < stays, gap * classes, -1) for classes in path]


def random_series(rng, versions, k, *, returns=False):
    """Cohorts of k to 2k - 1 rows, each published from one version to another; returning ones are away in between."""
    sizes = rng.integers(k, 2 * k, 3 * versions)
    cohort = np.repeat(np.arange(len(sizes)), sizes)
    lives = [np.sort(rng.choice(versions, 2)) for _ in sizes]
    alive = np.array([[first <= at <= last for first, last in lives] for at in range(versions)])
    if returns:
        alive &= rng.random(alive.shape) < 0.8
    return [np.where(here[cohort], cohort, -1) for here in alive], sizes, alive


def find_lives(path):
    """Lives of the classes of all versions."""
    return kech.compute_lives([as_version(classes) for classes in path])


def ends(lives):
    """(dimension, first, last position) of every bar, in half steps."""
    return sorted((0, int(2 * bar.birth - 2), int(2 * bar.death - 2)) for bar in lives.bars())


# The paper's nine rows


NINE = [
    [0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1, -1],
    [0, 0, 0, 1, 1, 1, -1, -1, -1, 3, 3, 3],
    [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
]


def test_cohorts_of_the_nine_rows_live_as_long_as_they_are_published():
    lives = find_lives(NINE)

    assert [*map(astuple, lives.bars())] == [
        (1, 1, 3, True, (3,)),  # rows 7 to 9 leave as a whole
        (1, 3, 3, True, (3,) * 5),
        (1, 3, 3, True, (3,) * 5),
        (2, 3, 3, True, (3,) * 3),
        (3, 3, 3, True, (3,)),  # and come back as a whole
    ]
    assert (lives.joint_k, lives.k, lives.below, lives.rows) == (3, 3, 0, 12)
    assert [(at.rows, at.classes, at.arrived, at.left) for at in lives.counts] == [
        (9, 3, 9, 0), (9, 3, 3, 3), (12, 4, 3, 0),
    ]  # fmt: skip


def test_a_second_cut_of_the_nine_rows_leaves_a_row_alone():
    """Row 3 is with 1 and 2 in the one, with 4 and 5 in the other: nobody is with row 3, or with row 6, in both."""
    lives = find_lives([[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 2, 2, 2, 2]])

    assert lives.zigzag.classes.tolist() == [3, 5, 3]
    assert (lives.joint_k, lives.k, lives.below) == (1, 2, 2)
    assert ends(lives) == [(0, 0, 1), (0, 0, 1), (0, 0, 2), (0, 1, 2), (0, 1, 2)]


# Against dionysus, and plain counts


@pytest.mark.parametrize("seed", seeds(12))
def test_bars_are_those_of_the_complexes(seed):
    pytest.importorskip("dionysus")
    rng = np.random.default_rng(seed)
    for _ in range(100):
        path = random_versions(rng, int(rng.integers(1, 11)), int(rng.integers(1, 8)))
        complexes = zigzag_complexes([full_complex(classes, 2) for classes in path], "intersection")

        assert ends(find_lives(path)) == dionysus_bars(complexes, most=0)


def rows_between(one, two):
    """Rows of each class of the meet."""
    return Counter((a, b) for a, b in zip(one.tolist(), two.tolist(), strict=True) if min(a, b) >= 0)


@pytest.mark.parametrize("seed", seeds(6))
def test_at_every_position_bars_carry_the_rows_of_its_classes(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        path = random_versions(rng, int(rng.integers(1, 30)), int(rng.integers(1, 8)))
        lives = find_lives(path)
        between = [rows_between(one, two) for one, two in pairwise(path)]
        held = [rows_between(classes, classes) for classes in path]
        found = defaultdict(list)
        for bar in lives.bars():
            for at, rows in enumerate(bar.rows):
                found[int(2 * bar.birth) - 2 + at].append(rows)

        for at in range(2 * len(path) - 1):
            assert sorted(found[at]) == sorted((between if at % 2 else held)[at // 2].values())


@pytest.mark.parametrize("seed", seeds(6))
def test_joint_k_is_the_smallest_set_of_rows_that_nothing_tells_apart(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        path = random_versions(rng, int(rng.integers(1, 30)), int(rng.integers(1, 5)))
        sets = Counter(zip(*(classes.tolist() for classes in path), strict=True))
        sets.pop((-1,) * len(path), None)
        lives = find_lives(path)

        several = [rows for at, rows in sets.items() if len(at) - at.count(-1) > 1]
        single = [rows for at, rows in sets.items() if len(at) - at.count(-1) == 1]

        assert sorted(lives.together.tolist()) == sorted(sets.values())
        assert lives.joint_k == lives.at_least == min(several or single, default=0)
        assert lives.below == sum(rows for rows in several if rows < lives.k)
        assert lives.joint.changed == sum(rows for rows in single if rows < lives.k)


@pytest.mark.parametrize("seed", seeds(9))
@pytest.mark.parametrize("returns", [False, True])
def test_in_a_safe_series_every_bar_is_a_cohort_of_k_or_more_that_never_changes(seed, returns):
    rng = np.random.default_rng(seed)
    for k in (2, 5):
        path, sizes, alive = random_series(rng, int(rng.integers(1, 9)), k, returns=returns)
        edges = np.diff(alive, axis=0, prepend=False, append=False)
        runs = [(*np.flatnonzero(edge).reshape(-1, 2)[n], size) for edge, size in zip(edges.T, sizes, strict=True)
                for n in range(edge.sum() // 2)]  # fmt: skip
        lives = kech.compute_lives([as_version(classes) for classes in path], k=k)

        assert sorted((bar.birth, bar.death, *set(bar.rows)) for bar in lives.bars()) == sorted(
            (first + 1, stop, size) for first, stop, size in runs
        )
        assert all(bar.safe for bar in lives.bars())
        assert lives.joint_k >= k or not runs


@unhurried
@given(st.integers(0, 10**6))
def test_numbers_order_and_threads_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    path = random_versions(rng, int(rng.integers(1, 20)), int(rng.integers(1, 6)))
    rows, classes = rng.permutation(40), rng.permutation(200)
    moved = []
    for version in path:
        own, of = as_version(version)
        order = rng.permutation(len(own))
        moved.append((rows[own][order], classes[of][order]))
    plain, other = find_lives(path), kech.compute_lives(moved, threads=3)

    assert ends(plain) == ends(other)
    assert plain.counts == other.counts
    assert sorted(plain.together) == sorted(other.together)


def test_bars_that_are_safe_are_so_throughout():
    lives = kech.compute_lives([as_version([0] * 6), as_version([0, 0, 0, 1, 1, 1])], k=4)

    assert [(bar.birth, bar.death, bar.weight, bar.safe) for bar in lives.bars()] == [
        (1, 2, 3, False),
        (1.5, 2, 3, False),
    ]
    assert kech.compute_lives([as_version([0] * 6)], k=6).safe.all()
    assert [line.rows for line in lives.summary()] == [3, 3]


def test_versions_without_rows_have_no_bars():
    empty = np.empty(0, np.int64), np.empty(0, np.int64)
    lives = kech.compute_lives([empty, as_version([0, 0]), empty])

    assert [(bar.birth, bar.death) for bar in lives.bars()] == [(2, 2)]
    assert [at.left for at in lives.counts] == [0, 0, 2]
    assert kech.compute_lives([empty, empty]).to_json()["joint_k"] == 0


@pytest.mark.parametrize(
    ("versions", "reason"),
    [
        ([], "there is none"),
        ([(np.array([0, 0]), np.array([1, 1]))], "version 1 names row 0 twice"),
        ([(np.array([0]), np.array([-1]))], "negative"),
        ([(np.array([0, 1]), np.array([1]))], "Give rows and classes, both int64"),
        ([(np.array([0.0]), np.array([1.0]))], "Give rows and classes, both int64"),
        (["safe.csv"], "Name one for each file"),
    ],
)
def test_what_is_no_version_is_refused(versions, reason):
    with pytest.raises(BadOption, match=reason):
        kech.compute_lives(versions)


def test_numbers_that_do_not_fit_into_memory_are_refused():
    with pytest.raises(ResourceError, match="from 0 on"):
        kech.compute_lives([(np.array([10**13]), np.array([0]))])
    with pytest.raises(ResourceError, match="400 MB are allowed"):
        kech.compute_lives([(np.array([10**8]), np.array([0]))], memory="400MB")


def test_the_kernel_refuses_classes_that_are_none():
    one = np.zeros(2, np.int64)
    for wrong in (np.array([0, -1]), np.array([0, 2**31]), np.zeros(3, np.int64)):
        with pytest.raises(ValueError, match="class"):
            _kernels.meet_classes(one, wrong)
    with pytest.raises(ValueError, match="classes"):
        _kernels.walk_path([np.array([0, -1])], one + 1, True, 1)


# Released files


def write_release(path, truth, labels):
    """A file of the classes of rows, by hand; left-out rows are -1."""
    pa.csv.write_csv(pa.table({"age": [labels[of] for of in truth if of >= 0]}), path)


def all_placings(ages, ends, sizes):
    """Every way to put rows into classes that cover them, so that each class holds as many as its file says."""
    fits = [[of for of, (low, high) in enumerate(ends) if low <= age <= high] for age in ages]
    choices = product(*([*fitting, -1] for fitting in fits))
    return [choice for choice in choices if [choice.count(of) for of in range(len(ends))] == sizes]


@pytest.mark.parametrize("seed", seeds(9))
def test_what_is_shown_of_files_is_one_of_the_placings_that_fit_them(seed, tmp_path):
    rng = np.random.default_rng(seed)
    ages = rng.integers(20, 26, 6).tolist()
    pa.csv.write_csv(pa.table({"age": ages}), tmp_path / "people.csv")
    files, placings = [tmp_path / "one.csv", tmp_path / "two.csv"], []
    for path in files:
        ends = list({(20, 26), *(tuple(np.sort(rng.integers(20, 26, 2)).tolist()) for _ in range(3))})
        fits = [[of for of, (low, high) in enumerate(ends) if low <= age <= high] for age in ages]
        truth = [fits[0][0], *(int(rng.choice([*fitting, *fitting, -1])) for fitting in fits[1:])]
        write_release(path, truth, [f"[{low}, {high}]" for low, high in ends])
        placings.append(all_placings(ages, ends, [truth.count(of) for of in range(len(ends))]))
    found = shown(kech.compute_lives(files, [tmp_path / "people.csv"], quasi_identifiers=["age"]))

    assert any(found == shown(find_lives(pair)) for pair in product(*placings))


def shown(lives):
    """Ends of bars, rows of classes at every position, and of sets that stay together; no rule decides among ties."""
    classes = [(bar.birth + at / 2, rows) for bar in lives.bars() for at, rows in enumerate(bar.rows)]
    return ends(lives), sorted(classes), sorted(lives.together.tolist())


def test_rows_stay_under_their_labels_where_they_can(tmp_path):
    """Every row fits every class; nothing but the labels before tells where it is."""
    labels = ["[20, 30]", "[20, 31]", "[19, 30]"]
    for name, ages in (("march", [25] * 9), ("april", [25] * 12)):
        pa.csv.write_csv(pa.table({"id": range(len(ages)), "age": ages}), tmp_path / f"{name}.csv")
    write_release(tmp_path / "march_safe.csv", [0, 0, 0, 1, 1, 1, 2, 2, 2], labels)
    write_release(tmp_path / "april_safe.csv", [3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0], [*labels, "[19, 31]"])
    files, originals = ([tmp_path / f"{month}{end}.csv" for month in ("march", "april")] for end in ("_safe", ""))
    lives = kech.compute_lives(files, originals, key="id", quasi_identifiers=["age"])

    assert sorted((bar.birth, bar.death, *bar.rows) for bar in lives.bars()) == [(1, 2, 3, 3, 3)] * 3 + [(2, 2, 3)]
    assert (lives.joint_k, lives.undecided) == (3, 21)


def test_a_file_that_does_not_fit_its_original_is_refused(tmp_path):
    pa.csv.write_csv(pa.table({"age": [25, 26, 27]}), tmp_path / "people.csv")
    for name in ("one.csv", "two.csv"):
        write_release(tmp_path / name, [0, 0, 1, 1], ["[20, 30]", "[25, 30]"])

    with pytest.raises(BadOption, match="1 released rows fit no row"):
        kech.compute_lives(
            [tmp_path / "one.csv", tmp_path / "two.csv"], [tmp_path / "people.csv"], quasi_identifiers=["age"]
        )


@pytest.fixture
def months(tmp_path):
    """Two originals, a row of the first leaves and two come; and releases of them, by hand, with overlapping labels."""
    people = {"id": list("abcdefgh"), "age": [20, 21, 30, 30, 35, 39, 22, 36], "ill": list("xyzxyzxy")}
    labels = ["[20, 30]"] * 3 + ["[30, 39]"] * 3
    for month, kept, found in (
        ("march", slice(0, 6), labels),
        ("april", slice(1, 8), ["[20, 30]"] * 3 + ["[30, 39]"] * 4),
    ):
        own = {name: cells[kept] for name, cells in people.items()}
        pa.csv.write_csv(pa.table(own), tmp_path / f"{month}.csv")
        pa.csv.write_csv(pa.table({"age": found, "ill": own["ill"]}), tmp_path / f"{month}_safe.csv")
    return tmp_path


def test_released_files_are_followed_by_the_key_of_their_originals(months):
    files, originals = ([months / f"{month}{end}.csv" for month in ("march", "april")] for end in ("_safe", ""))
    lives = kech.compute_lives(files, originals, key="id", quasi_identifiers=["age"])

    # a, b, c | d, e, f and b, c, g | d, e, f, h; c and d fit both labels
    assert [(at.rows, at.arrived, at.left, at.smallest) for at in lives.counts] == [(6, 6, 0, 3), (7, 2, 1, 3)]
    assert [(bar.birth, bar.death, bar.rows) for bar in lives.bars()] == [(1, 2, (3, 3, 4)), (1, 2, (3, 2, 3))]
    assert lives.undecided == 4
    joint = kech.compute_joint_risk(files, originals, key="id", quasi_identifiers=["age"])
    assert (lives.joint_k, lives.at_least, *lives.joint[2:]) == (3, 1, joint.below, joint.changed)
    assert (joint.joint_k, joint.at_least) == (3, 1)
    with pytest.raises(BadOption, match=r"^key: "):
        kech.compute_lives(files, originals, quasi_identifiers=["age"])


def test_files_of_a_series_with_held_rows_have_the_joint_k_that_verify_counts(tmp_path):
    """Rows that left stay in the file of the next version, whose own original does not have them."""
    rng = np.random.default_rng(4)
    people = pa.table({"id": range(90), "age": rng.integers(18, 90, 90), "ill": rng.integers(0, 9, 90)})
    originals, files = ([tmp_path / f"{month}{end}.csv" for month in (1, 2, 3)] for end in ("", "_safe"))
    for rows, original, file in zip((slice(0, 50), slice(3, 70), slice(6, 90)), originals, files, strict=True):
        pa.csv.write_csv(people.slice(rows.start, rows.stop - rows.start), original)
        roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "rows_are_people": True}
        with kech.read_table(original, **roles, key=["id"]) as table:
            kech.open_series(tmp_path / "clinic").publish(table, file, k=4, ledger=False)
    lives, joint = (judge(files, originals, key="id") for judge in (kech.compute_lives, kech.compute_joint_risk))
    of_series = kech.compute_lives(kech.open_series(tmp_path / "clinic"))

    assert [at.rows for at in lives.counts] == [at.rows for at in of_series.counts] == [50, 70, 90]
    assert lives.joint_k == lives.at_least == joint.joint_k >= of_series.joint_k >= 4
    assert (lives.below, lives.joint.changed) == (joint.below, joint.changed) == (0, 0)


def test_cohorts_of_a_series_are_measured_by_its_own_k(tmp_path):
    """Not by the smallest of them, by which every cohort would be safe."""
    people = pa.table({"id": range(7), "age": [40] * 7, "ill": range(7)})
    with kech.read_table(people, quasi_identifiers=["age"], sensitive=["ill"], key=["id"]) as table:
        kech.open_series(tmp_path / "clinic").publish(table, tmp_path / "safe.csv", k=4, ledger=False)

    lives = kech.compute_lives(kech.open_series(tmp_path / "clinic"))

    assert (lives.k, lives.joint_k, kech.compute_lives(kech.open_series(tmp_path / "clinic"), k=6).k) == (4, 7, 6)


# Pictures and the command


@pytest.fixture(scope="module")
def many():
    """Thousands of cohorts in 24 versions."""
    rng = np.random.default_rng(3)
    cohort, born = np.repeat(np.arange(6000), 5), rng.integers(0, 24, 6000)
    gone = born + rng.integers(0, 24, 6000)
    return find_lives([np.where(((born <= at) & (at <= gone))[cohort], cohort, -1) for at in range(24)])


def test_a_picture_is_marked_and_sums_up_equal_lives(many, tmp_path):
    for lives, said in ((find_lives(NINE), "square root"), (many, "Classes of equal life are one bar")):
        lives.plot(tmp_path / "lives.svg")
        drawn = (tmp_path / "lives.svg").read_text("utf-8")

        assert "PRIVATE" in drawn
        assert said in drawn
        assert len(drawn) < 100_000
    assert "joint k" in repr(many)
    assert "PRIVATE" in many._repr_html_()


def drawn_boxes(lives):
    """Left, right, low and high of every bar, and how many are orange."""
    (drawn,) = (one for one in lives.plot().collections if one.get_gid() == "classes")
    corners = np.array([outline.vertices[:4] for outline in drawn.get_paths()])
    reddish = drawn.get_facecolor()[:, 0] > drawn.get_facecolor()[:, 2]
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)[:, [0, 2, 1, 3]], int(reddish.sum())


def test_bars_are_as_long_as_lives_and_orange_below_k():
    path = [[0] * 9 + [1] * 4, [0] * 9 + [-1] * 4]
    for k, unsafe in ((4, 0), (5, 1), (10, 2)):
        sides, orange = drawn_boxes(kech.compute_lives([as_version(classes) for classes in path], k=k))
        high = np.sort(sides[:, 3] - sides[:, 2])

        assert sides[np.argsort(-sides[:, 3]), :2].tolist() == [[0.75, 2.25], [0.75, 1.25]]
        assert high[1] / high[0] == pytest.approx(1.5)
        assert orange == unsafe


def test_the_command_shows_files_as_json_and_on_the_screen(run, months):
    files, originals = ([months / f"{month}{end}.csv" for month in ("march", "april")] for end in ("_safe", ""))
    asked = ("zigzag", *files, "--original", *originals, "--key", "id", "--qi", "age", "--k", 3)
    found = run(*asked, "--plot", months / "lives.svg", "--longest", 1, "--json").json
    said = run(*asked).out

    figures = ("private", "joint_k", "at_least", "rows_below", "changed", "shorter_bars")
    assert [found[name] for name in figures] == [True, 3, 1, 0, 1, 1]
    assert found["bars"] == [{"birth": 1.0, "death": 2.0, "weight": 3, "safe": True, "rows": [3, 3, 4]}]
    assert (months / "lives.svg").stat().st_mode & 0o77 == 0
    assert "PRIVATE" in said
    assert "Joint k between 1 and 3: 0 of 8 rows stay together with fewer than 3" in " ".join(said.split())
    assert "came or left among fewer than 3: 1." in " ".join(said.split())
    assert "one placing that fits the files: 4 times" in " ".join(said.split())
    assert "One placing that fits the files" in (months / "lives.svg").read_text("utf-8")


def test_a_series_shows_the_lives_of_its_cohorts(run, tmp_path):
    """60 rows in cohorts of 5 or more; then 20 arrive, and one row leaves and takes its cohort along."""
    rng = np.random.default_rng(2)
    people = pa.table({"id": range(80), "age": rng.integers(18, 90, 80), "ill": rng.integers(0, 9, 80)})
    for version, rows in enumerate((people.slice(0, 60), people.slice(1)), 1):
        pa.csv.write_csv(rows, tmp_path / "people.csv")
        asked = ("--series", tmp_path / "clinic", "--key", "id", "--qi", "age", "--sensitive", "ill", "--k", 5)
        leave = ("--departures", "withdraw") if version > 1 else ()
        told = run("release", tmp_path / "people.csv", *asked, *leave, "--no-ledger", "-o", tmp_path / f"{version}.csv")
        assert told.code == 0, told.err
    found = run("zigzag", "--series", tmp_path / "clinic", "--plot", tmp_path / "lives.svg", "--json").json
    first, second = found["versions"]

    assert found["joint_k"] >= 5
    assert (first["rows"], second["arrived"], found["rows_below"], found["undecided"]) == (60, 20, 0, 0)
    assert [(line["birth"], line["death"], line["safe"]) for line in found["summary"]] == [
        (1, 1, True), (1, 2, True), (2, 2, True),
    ]  # fmt: skip
    assert sum(bar["weight"] for bar in found["bars"] if bar["death"] == 1) == second["left"] >= 5
    assert all(len(set(bar["rows"])) == 1 for bar in found["bars"])
    said = run("zigzag", "--series", tmp_path / "clinic", "--longest", 3).out
    assert re.search(r"\n +1 +2 +3 .* safe +==\n", said) and not re.search(r"\n +2 +2 ", said)
    assert f"{len(found['bars']) - 3:,} shorter bars are left out (--longest)." in said


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("a.csv", "b.csv"),
        ("a.csv", "--key", "id"),
        ("a.csv", "b.csv", "--original", "c.csv", "--path", "rows"),
        ("a.csv", "b.csv", "--original", "c.csv", "--through", "union"),
        ("a.csv", "b.csv", "--original", "c.csv", "--person", "id"),
        ("a.csv", "b.csv", "--original", "c.csv", "--grid", "exact"),
        ("a.csv", "--series", "clinic"),
        ("--series", "clinic", "--qi", "age"),
        ("--series", "clinic", "--key", "id"),
        ("--series", "clinic", "--original", "a.csv"),
    ],
)
def test_options_that_nothing_uses_are_refused(run, words):
    assert run("zigzag", *words).code == 2
