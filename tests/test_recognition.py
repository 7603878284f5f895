"""The ledger knows rows and people again, however their table was changed, and lets different people pass."""

import json
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pytest

import kech
from kech.errors import BadLedger, ReleasedBefore, RepeatedIdentifier, RepeatedPeople
from kech.release.recognition import share_rows
from kech.tables.demo import generate_town
from strategies import begin_with, further

ROLES = {"quasi_identifiers": ["age", "zip", "moved_in"], "sensitive": ["diagnosis"]}


@pytest.fixture(scope="module")
def town():
    return generate_town(300).to_pandas()


def release(folder, source, name, k=5, allow=False, **roles):
    """Write a release; gives the word of the ledger."""
    with kech.read_table(source, **(roles or ROLES)) as table:
        made = kech.make_release(table, k=k, effort="quick")
        made.write(folder / name, allow_composition=allow)
    return made.admissions[-1]


def saved(folder, frame, name):
    """The frame as a file, or as a table of a database."""
    path = folder / name
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".db":
        with duckdb.connect(str(path)) as base:
            base.register("given", frame)
            base.execute("CREATE TABLE people AS SELECT * FROM given")
        return f"duckdb:{path}#people"
    else:
        frame.to_csv(path, index=False)
    return path


DISGUISES = {
    "renamed.csv": lambda frame: frame.iloc[:-1],
    "wide.csv": lambda frame: frame.assign(visit=range(len(frame))),
    "more.csv": lambda frame: pd.concat([frame, frame.iloc[[5]].assign(person="new", age=50)]),
    "moved.csv": lambda frame: frame.assign(age=frame["age"] + 1e-9, income=frame["income"] + 1e-9),
    "narrow.csv": lambda frame: frame[["age", "zip", "diagnosis"]],
    "copy.parquet": lambda frame: frame.iloc[1:].astype({"age": "float64"}),
    "base.db": lambda frame: frame.iloc[1:],
    "shuffled.csv": lambda frame: frame.iloc[1:].sample(frac=1, random_state=3)[frame.columns[::-1]],
    "half.csv": lambda frame: frame.sample(frac=0.5, random_state=3),
    "grown.csv": lambda frame: pd.concat(
        [frame.iloc[60:], generate_town(100, seed=8).to_pandas().assign(person=range(100))]
    ),
    "edited.csv": lambda frame: frame.assign(zip=frame["zip"].replace(frame["zip"].mode()[0], "99999")),
}


@pytest.mark.parametrize(
    "name", begin_with(["moved.csv", "copy.parquet", "base.db", "half.csv", "grown.csv"], DISGUISES)
)
def test_a_table_is_known_again_in_any_disguise(folder, town, name):
    assert release(folder, saved(folder, town, "people.csv"), "one.csv").verdict == "first"
    again = saved(folder, DISGUISES[name](town), name)
    roles = ROLES if name != "narrow.csv" else {"quasi_identifiers": ["age", "zip"], "sensitive": ["diagnosis"]}
    target = "duckdb.csv" if name == "base.db" else "two.csv"
    with pytest.raises(ReleasedBefore, match=r"^Some rows of this table were .*series"):
        release(folder, again, target, k=7, **roles)
    assert not (folder / target).exists()
    word = release(folder, again, target, k=7, allow=True, **roles)
    assert (word.verdict, word.shared) == ("composed", 1)
    assert word.composition.joint_k < word.composition.k


@pytest.mark.parametrize("spell", begin_with([str.upper], [str.upper, " {} ".format, "{}_".format, str.title]))
def test_names_of_columns_that_are_spelled_otherwise_are_known_again(folder, town, spell):
    assert release(folder, saved(folder, town, "people.csv"), "one.csv").verdict == "first"
    again = saved(folder, town.iloc[1:].rename(columns=spell), "again.csv")
    roles = {role: list(map(spell, names)) for role, names in ROLES.items()}
    with pytest.raises(ReleasedBefore, match=r"'one.csv'.* There is no column .* as they were named then"):
        release(folder, again, "two.csv", k=7, **roles)


def test_a_column_that_the_table_lacks_is_known_to_others(folder, town):
    """Without the column, a row fits several earlier classes; who knows it knows which one."""
    release(folder, town, "one.csv", k=5)
    narrow = town.drop(columns="moved_in")
    roles = {"quasi_identifiers": ["age"], "sensitive": ["diagnosis"]}
    with pytest.raises(ReleasedBefore, match=r"The table lacks 'moved_in', .*Put the columns back"):
        release(folder, narrow, "two.csv", k=5, **roles)
    assert not (folder / "two.csv").exists()
    told = release(folder, narrow, "two.csv", k=5, allow=True, **roles).composition
    assert told.joint_k == 1
    assert told.below > len(town) / 2


def test_a_frame_and_other_roles_are_known_again(folder, town):
    release(folder, saved(folder, town, "people.csv"), "one.csv")
    with pytest.raises(ReleasedBefore):
        release(folder, town.iloc[1:], "two.csv", quasi_identifiers=["age", "sex", "income"], keep=["zip"])


@pytest.mark.parametrize("change", ["wide.csv", "moved.csv"])
def test_a_repeat_passes_though_the_table_is_written_otherwise(folder, town, change):
    roles = {"quasi_identifiers": ["zip", "moved_in"], "sensitive": ["diagnosis"]}
    release(folder, saved(folder, town, "people.csv"), "one.csv", **roles)
    word = release(folder, saved(folder, DISGUISES[change](town), change), "two.csv", **roles)
    assert word.verdict == "nested"


def test_rows_that_are_written_otherwise_are_refused_not_taken_for_strangers(folder, town):
    """No label of the earlier file covers a cell with a space in front; that must not look like safety."""
    release(folder, saved(folder, town, "people.csv"), "one.csv")
    spelled = town.iloc[1:].assign(zip="x" + town["zip"], diagnosis=town["diagnosis"].str.upper())
    with pytest.raises(ReleasedBefore, match="written or read in another way"):
        release(folder, saved(folder, spelled, "spelled.csv"), "two.csv", allow=True)


# -- different people ----------------------------------------------------------------------------------------------


def coarse(rng, rows):
    ages = np.clip(rng.normal(45, 18, rows), 0, 100).astype(int)
    return pd.DataFrame({"age": ages, "sex": rng.choice(["m", "f"], rows), "region": rng.integers(0, 16, rows)})


def skewed(rng, rows):
    towns = np.minimum(rng.zipf(1.4, rows), 3000).astype(str)
    incomes = (np.round(rng.lognormal(9.5, 0.6, rows) / 100) * 100).astype(int)
    return pd.DataFrame({"town": towns, "income": incomes, "job": np.minimum(rng.zipf(1.7, rows), 300)})


def visits(rng, rows):
    people = pd.DataFrame({"age": rng.integers(0, 100, rows // 3), "zip": rng.integers(10_000, 10_400, rows // 3)})
    return people.iloc[rng.integers(0, rows // 3, rows)].reset_index(drop=True).assign(ward=rng.integers(0, 30, rows))


def fine(rng, rows):
    born = pd.to_datetime(rng.integers(0, 30_000, rows), unit="D")
    return pd.DataFrame(
        {"born": born, "sex": rng.choice(["m", "f"], rows), "height": rng.normal(170, 10, rows).round(1)}
    )


def quota(rng, rows):
    return coarse(rng, rows).assign(region=np.arange(rows) % 40)


def numbered(rng, rows):
    return coarse(rng, rows).assign(id=np.arange(1, rows + 1))


POPULATIONS = {draw.__name__: draw for draw in (coarse, skewed, visits, fine, quota, numbered)}


def roles_of(frame):
    return {
        "quasi_identifiers": [name for name in frame if name != "id"],
        "identifiers": [n for n in frame if n == "id"],
    }


@pytest.mark.parametrize("seed", [1, *further(range(2, 20))])
@pytest.mark.parametrize("name", begin_with({"coarse", "visits", "numbered"}, POPULATIONS))
def test_different_people_of_one_population_pass_and_the_same_ones_do_not(folder, name, seed):
    rng = np.random.default_rng(seed)
    first, second = POPULATIONS[name](rng, 900), POPULATIONS[name](rng, 600)
    assert release(folder, first, "one.csv", k=20, **roles_of(first)).verdict == "first"
    assert release(folder, second, "two.csv", k=20, **roles_of(first)).verdict == "first"
    word = release(folder, first.drop(index=[7]), "three.csv", k=20, allow=True, **roles_of(first))
    assert (word.verdict, word.shared) == ("composed", 1)


# -- names of people -----------------------------------------------------------------------------------------------


def patients(rng, people, visits):
    """Visits of people who are numbered from 1,000 on in no order."""
    frame = pd.DataFrame({"patient": rng.permutation(100_000)[:people], "age": rng.integers(0, 100, people)})
    return frame.iloc[rng.integers(0, people, visits)].assign(ward=rng.integers(0, 9, visits)).reset_index(drop=True)


NAMED = {"quasi_identifiers": ["age"], "sensitive": ["ward"], "person": ["patient"]}


def test_people_are_known_again_by_other_visits(folder):
    rng = np.random.default_rng(5)
    march = patients(rng, 300, 700)
    april = pd.concat([march.drop_duplicates("patient").head(40).assign(ward=3), patients(rng, 200, 500)])
    release(folder, march, "one.csv", **NAMED)
    with pytest.raises(ReleasedBefore, match="Some rows"):
        release(folder, april, "two.csv", **NAMED)
    assert release(folder, patients(rng, 200, 500), "three.csv", **NAMED).verdict == "first"


def test_joint_candidates_are_people_where_they_are_named(folder):
    """Two people with four visits each at either end: eight rows in a joint class are two people."""
    ages = [20] * 8 + [30] * 8 + [40] * 8
    rows = pd.DataFrame({"age": ages, "zip": ["a"] * 12 + ["b"] * 12, "who": [f"p{i // 4}" for i in range(24)]})
    release(folder, rows, "one.csv", k=2, quasi_identifiers=["age"], person=["who"], cut="domain")
    word = release(folder, rows, "two.csv", k=2, allow=True, quasi_identifiers=["zip"], person=["who"])
    joint = word.composition
    assert (joint.counted, joint.k, joint.joint_k) == ("people", 2, 1)
    assert joint.below == 8  # of those at 30, one person lives in a and one in b


# -- one row more or less ------------------------------------------------------------------------------------------


def test_a_newcomer_under_an_equal_label_is_pinned(folder):
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"age": np.repeat(np.arange(40), 10), "ward": rng.integers(0, 9, 400)})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ward"]}
    with kech.read_table(rows, **roles) as table:
        kech.make_release(table, k=5, grid="exact").write(folder / "one.csv")
    more = pd.concat([rows, pd.DataFrame({"age": [7], "ward": [4]})])
    with kech.read_table(more, **roles) as table:
        made = kech.make_release(table, k=5, grid="exact")
        with pytest.raises(ReleasedBefore, match="1 row came or left among fewer than 10: the difference of the files"):
            made.write(folder / "two.csv")


@pytest.mark.parametrize("change", ["left", "came"])
def test_one_row_more_or_less_is_pinned_by_a_coarser_release_too(folder, change):
    rng = np.random.default_rng(11)
    town = pd.DataFrame(
        {
            "id": np.arange(600),
            "age": rng.integers(20, 80, 600),
            "zip": rng.choice(["02110", "02220", "02330"], 600),
            "ward": rng.integers(0, 3, 600),
        }
    )
    first, second = (town, town.iloc[1:]) if change == "left" else (town.iloc[1:], town)
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ward"], "identifiers": ["id"]}
    with kech.read_table(first, **roles) as table:
        kech.make_release(table, k=5, cut="domain").write(folder / "one.csv")
    with kech.read_table(second, **roles) as table:
        coarser = kech.make_release(table, k=40, cut="domain")
        with pytest.raises(ReleasedBefore, match="1 row came or left"):
            coarser.write(folder / "two.csv")


def test_one_person_with_many_rows_is_pinned_too(folder):
    """Seven visits left, more than k = 5 rows, and all of them are one person's."""
    who = np.concatenate([np.zeros(7, int), np.arange(1, 201).repeat(2)])
    visits = pd.DataFrame({"who": who, "age": who % 40, "ward": np.arange(len(who)) % 3})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ward"], "person": ["who"]}
    with kech.read_table(visits, **roles) as table:
        kech.make_release(table, k=5, grid="exact").write(folder / "one.csv")
    with kech.read_table(visits[visits["who"] > 0], **roles) as table:
        again = kech.make_release(table, k=5, grid="exact")
        with pytest.raises(ReleasedBefore, match=r"\('one.csv', 20.*; together, joint k = 5.* 7 rows came or left"):
            again.write(folder / "two.csv")


def test_rows_that_fit_several_classes_count_where_they_hide_least(folder):
    """No cell is published as it is, so nothing is subtracted; joint k is 9 or less, and 1 cannot be excluded."""
    rng = np.random.default_rng(1)
    ages, zips = rng.choice([20, 30, 40, 50, 60], 300), rng.choice(["02110", "02220", "02330", "02440"], 300)
    town = pd.DataFrame({"id": np.arange(300), "age": ages, "zip": zips})
    roles = {"quasi_identifiers": ["age", "zip"], "identifiers": ["id"]}
    with kech.read_table(town, **roles) as table:
        kech.make_release(table, k=5).write(folder / "one.csv")
    with kech.read_table(town.iloc[1:], **roles) as table:
        with pytest.raises(ReleasedBefore, match="joint k is between 1 and 9"):
            kech.make_release(table, k=20).write(folder / "two.csv")


def test_a_table_of_few_values_is_recognised_and_other_people_are_not(folder):
    def draw(seed):
        rng = np.random.default_rng(seed)
        ages, zips = rng.choice([20, 30, 40, 50, 60], 300), rng.choice(["02110", "02220", "02330"], 300)
        return pd.DataFrame({"age": ages, "zip": zips, "ward": rng.integers(0, 3, 300)})

    def publish(rows, name):
        with kech.read_table(rows, quasi_identifiers=["age", "zip"], sensitive=["ward"]) as table:
            kech.make_release(table, k=5).write(folder / name)

    publish(draw(4), "one.csv")
    for seed in range(5, 25):
        publish(draw(seed), f"{seed}.csv")
    with pytest.raises(ReleasedBefore, match="1 row came or left"):
        publish(draw(4).iloc[1:], "two.csv")


def staff(seed, rows=400):
    """Two columns of many values, two of few."""
    rng = np.random.default_rng(seed)
    jobs, findings = rng.integers(0, 5, rows).astype(str), rng.integers(0, 31, rows).astype(str)
    born = pd.to_datetime(rng.integers(0, 20_000, rows), unit="D")
    pay = rng.integers(1_000, 9_000, rows)
    return pd.DataFrame(
        {"age": rng.integers(0, 91, rows), "pay": pay, "born": born, "job": "j" + jobs, "finding": "f" + findings}
    )


STAFF = {"quasi_identifiers": ["age", "pay", "job"], "sensitive": ["finding"]}
BORN = {"quasi_identifiers": ["born", "job"], "sensitive": ["finding"]}
ALTERED = {
    "other columns": (lambda rows: rows[["born", "job", "finding"]], BORN),
    "rounded": (lambda rows: rows.assign(pay=rows["pay"] // 100 * 100, age=rows["age"] // 5 * 5), STAFF),
}


@pytest.mark.parametrize("name", ALTERED)
def test_two_columns_of_few_values_are_enough_whatever_the_others_are(folder, name):
    alter, roles = ALTERED[name]
    release(folder, staff(1), "one.csv", **STAFF)
    assert release(folder, alter(staff(2)), "two.csv", **roles).verdict == "first"
    with pytest.raises(ReleasedBefore, match="Some rows"):
        release(folder, alter(staff(1)), "three.csv", **roles)


class ColumnKind(NamedTuple):
    kind: str
    columns: tuple[str, ...]


class CountedColumn:
    """A column as a sketch of all its values shows it."""

    depth = 0

    def __init__(self, name, values):
        self.of, self.rows = ColumnKind("column", (name,)), len(values)
        self.counts = np.unique(values, return_counts=True)

    def sample(self, _):
        return self.counts


def draw_columns(rng, rows, has_quota):
    """Few values, skewed ones, and three columns that tell the same."""
    base = rng.integers(0, 12, rows)
    first = np.arange(rows) % 31 if has_quota else rng.integers(0, 31, rows)
    columns = [first, rng.integers(0, 5, rows), np.minimum(rng.zipf(1.6, rows), 20), base, base + 100, base // 2]
    return [CountedColumn(str(at), values) for at, values in enumerate(columns)]


def recognise_columns(one, other):
    return share_rows({sketch.of: sketch for sketch in one}, other)


@pytest.mark.parametrize("has_quota", [False, True])
def test_counts_of_different_people_are_not_too_alike(has_quota):
    rng = np.random.default_rng(3)
    drawn = [[draw_columns(rng, 400, has_quota) for _ in range(2)] for _ in range(200)]
    assert not any(recognise_columns(one, other) for one, other in drawn)
    assert all(recognise_columns(one, one) for one, _ in drawn)


# -- what recognition cannot see -----------------------------------------------------------------------------------


def test_what_is_not_recognised(folder, town):
    """The page says so: few rows, other columns, renamed columns, all values moved."""
    release(folder, saved(folder, town, "people.csv"), "one.csv")
    unseen = {
        "few": town.sample(8, random_state=1),
        "other": town[["income", "job", "schooling"]].iloc[1:],
        "renamed": town.iloc[1:].rename(columns=lambda name: f"{name}_2"),
    }
    for number, frame in enumerate(unseen.values()):
        names = [name for name in frame if name.removesuffix("_2") in ("age", "zip", "income", "job")]
        assert (
            release(folder, frame, f"{number}.csv", k=3, quasi_identifiers=names, rows_are_people=True).verdict
            == "first"
        )


# -- the files -------------------------------------------------------------------------------------------------------


def test_sketches_are_private_keyed_and_gone_with_their_release(folder, town, own_ledger):
    release(folder, town, "one.csv")
    (file,) = (own_ledger / "rows").iterdir()
    assert (own_ledger / "rows").stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    with kech.read_table(town, **ROLES) as table:
        plain = table.hash_values("zip", 0).hashes
    assert not any(value.tobytes() in file.read_bytes() for value in plain)
    assert not any(cell.encode() in file.read_bytes() for cell in set(town["zip"]))
    (own_ledger / "rows" / "leftover").write_bytes(b"")
    kech.open_ledger().forget(folder / "one.csv")
    assert not list((own_ledger / "rows").iterdir())


def test_two_secrets_give_sketches_that_have_nothing_in_common(folder, town, tmp_path):
    for name in ("one", "two"):
        with kech.read_table(town, **ROLES) as table:
            kech.make_release(table, k=5, effort="quick").write(folder / "out.csv", ledger=kech.Ledger(tmp_path / name))
    (one,), (two,) = (
        [kech.Ledger(tmp_path / name).read_sketches(held) for held in kech.Ledger(tmp_path / name).read().releases]
        for name in ("one", "two")
    )
    for ours, theirs in zip(one, two, strict=True):
        assert ours.columns == theirs.columns
        assert not {*ours.sample(0)[0].tolist()} & {*theirs.sample(0)[0].tolist()}


def test_a_secret_that_was_replaced_is_refused(folder, town, own_ledger):
    release(folder, town, "one.csv")
    (own_ledger / "secret").unlink()
    with pytest.raises(BadLedger, match="the secret beside it is another one"):
        release(folder, town.iloc[1:], "two.csv")


def test_damaged_sketches_are_refused(folder, town, own_ledger):
    release(folder, town, "one.csv")
    (file,) = (own_ledger / "rows").iterdir()
    file.write_bytes(b"damaged")
    with pytest.raises(BadLedger, match="are damaged"):
        release(folder, town.iloc[1:], "two.csv")


def test_a_ledger_of_the_first_version_is_read_and_knows_whole_tables(folder, town, own_ledger):
    release(folder, saved(folder, town, "people.csv"), "one.csv")
    book = json.loads((own_ledger / "ledger.json").read_text("utf-8"))
    (held,) = book["releases"]
    old = {name: held[name] for name in ("table", "source", "release", "k", "time")}
    (own_ledger / "ledger.json").write_text(json.dumps({"ledger": 1, "key": book["key"], "releases": [old]}), "utf-8")
    with pytest.raises(ReleasedBefore, match=r"^This table was"):
        release(folder, folder / "people.csv", "two.csv", k=9)
    assert release(folder, town.iloc[1:], "three.csv").verdict == "first"
    found = kech.open_ledger().list_releases()
    assert [(one["rows"], one["columns"]) for one in found] == [
        (None, []),
        (299, ["age", "zip", "moved_in", "diagnosis"]),
    ]


def test_the_list_names_no_file_and_no_cell(folder, town, run):
    release(folder, saved(folder, town, "secret_project.csv"), "one.csv")
    shown = run("ledger").out
    assert all(column in shown for column in ("age", "zip", "moved_in", "diagnosis"))
    assert "300" in shown
    assert "secret_project" not in shown


# -- identifiers that repeat, and people who are too fine --------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [["A", "a", "b"], ["x", " x ", "y"], ["1", "1.0", "2"], [b"\x01", b"\x01", b"\x02"], ["001", "1", "2"]],
)
def test_an_identifier_that_repeats_once_it_is_folded_is_refused(names):
    frame = pd.DataFrame({"who": names * 4, "age": range(12)})
    frame["who"] = [
        name if i < 3 else type(name)(str(i) + "z", *(["utf-8"] * isinstance(name, bytes)))
        for i, name in enumerate(frame["who"])
    ]
    with kech.read_table(frame, quasi_identifiers=["age"], identifiers=["who"]) as table:
        with pytest.raises(RepeatedIdentifier):
            kech.make_release(table, k=3)


def test_long_numbers_are_told_apart_by_every_digit():
    frame = pd.DataFrame({"who": [f"1234567890123456789{i}" for i in range(10)], "age": range(10)})
    with kech.read_table(frame, quasi_identifiers=["age"], identifiers=["who"]) as table:
        assert kech.make_release(table, k=3)


def test_a_person_column_that_is_finer_than_an_identifier_is_noticed():
    frame = pd.DataFrame(
        {"patient": [i // 3 for i in range(60)], "visit": range(60), "age": [i // 3 for i in range(60)]}
    )
    roles = {"quasi_identifiers": ["age"], "identifiers": ["patient"], "person": ["visit"]}
    with kech.read_table(frame, **roles) as table:
        with pytest.warns(RepeatedPeople, match="k counts one person several times. Say person=.patient"):
            kech.make_release(table, k=3)
    with kech.read_table(frame, **roles | {"identifiers": ["visit"], "person": ["patient"]}) as table:
        assert kech.make_release(table, k=3)
