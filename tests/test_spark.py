"""Spark as a user runs it: from a file or an address to a release, in threads and on a cluster."""

import os
import stat
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import kech
from kech.errors import BadOption, BadTarget, UnreadableFile
from kech.tables.demo import generate_town

CLAIMS = ("k", "classes", "rows", "loss", "loss_per_column", "measured")
WORDS = [
    "--qi",
    "age",
    "sex",
    "--sensitive",
    "diagnosis",
    "--k",
    5,
    "--protect",
    "none",
    "--effort",
    "quick",
    "--no-ledger",
]
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets that Spark leaves to its own end
]


def test_a_cluster_releases_what_duckdb_releases(spark, run, folder):
    master, town = spark("cluster"), folder / "town.parquet"
    pq.write_table(pa.table(generate_town(300)), town)
    claims = []
    for source, more in ((town, []), (town, ["--engine", "spark", "--master", master]), (f"{master}{town}", [])):
        done = run("release", source, "-o", folder / "safe.csv", *WORDS, "--json", *more)
        assert done.code == 0, done.err
        assert kech.check_certificate(folder / "safe.csv")["k"] >= 5
        claims.append({name: done.json[name] for name in CLAIMS})
    assert claims[0] == claims[1] == claims[2]


def visits(month):
    """A made-up clinic: visits leave, come back, are corrected and arrive; some cells are missing."""
    ids = [*range(80), *range(80, 90 + 30 * month)] if month != 1 else [*range(6), *range(9, 120)]
    rows = [
        (
            i,
            None if i % 11 == 3 else 20 + (i * 37) % 60 + 0.5 * (i % 2),
            f"0{2100 + i % 9}",
            date(2020, 1 + i % 12, 1),
            None if i % 13 == 5 else f"f{i % 4}" if (i, month) != (20, 2) else "corrected",
        )
        for i in ids
    ]
    names = ("visit", "age", "zip", "seen", "finding")
    return pa.table({name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)})


@pytest.mark.parametrize("engines", [("spark", "spark", "spark"), ("duckdb", "spark", "duckdb")])
@pytest.mark.filterwarnings("ignore::kech.errors.RepeatedPeople")
def test_a_series_on_spark_publishes_what_duckdb_publishes(spark, folder, engines):
    """The same rows under the same labels in every month, also where engines change."""
    master = spark("spark")
    roles = {"quasi_identifiers": ["age", "zip", "seen"], "sensitive": ["finding"], "key": ["visit"], "threads": 1}
    counts = []
    for name, used in (("here", ("duckdb",) * 3), ("there", engines)):
        series = kech.open_series(folder / name)
        for month, engine in enumerate(used):
            more = {"engine": "spark", "master": master} if engine == "spark" else {}
            with kech.read_table(visits(month), **roles, **more) as table:
                asked = {"k": 4, "effort": "quick", "departures": "withdraw", "wait": 0.1, "ledger": False}
                found = series.publish(table, folder / f"{name}{month}.csv", **asked)
            rows = sorted((folder / f"{name}{month}.csv").read_text().splitlines())
            own = ("folder", "id")  # of each series
            counts.append((rows, {key: value for key, value in found["series"].items() if key not in own}))
        assert kech.verify_series(series)["holds"]
    assert counts[:3] == counts[3:]
    assert [part["withdrawn"] > 0 for _, part in counts[:3]] == [False, True, False] and counts[2][1]["returned"] > 0


@pytest.mark.filterwarnings("ignore::kech.errors.RepeatedPeople")
def test_chosen_rows_leave_their_workers_as_they_are(spark):
    """The new rows of a series are cut here: queries of Spark take as long for a few rows as for many."""
    roles = {"quasi_identifiers": ["age", "zip", "seen"], "sensitive": ["finding"], "key": ["visit"]}
    rows, numbers = visits(0), np.array([3, 7, 20, 21])
    with (
        kech.read_table(rows, **roles, engine="spark", master=spark("spark")) as table,
        kech.read_table(rows.take(pa.array(numbers)), **roles) as here,
    ):
        some = table.choose(numbers, {})
        assert table.engine.backend.on_workers and not some.engine.backend.on_workers
        assert [some.facts(name) for name in some.loaded] == [here.facts(name) for name in here.loaded]
        assert some.head() == here.head()


def test_a_process_works_on_one_cluster(spark, folder):
    pq.write_table(pa.table({"a": [1, 2]}), folder / "a.parquet")
    master = spark("cluster")
    with kech.read_table(folder / "a.parquet", engine="spark", master=master) as table:
        assert table.rows == 2
    with pytest.raises(BadOption, match="already works on spark://"):
        kech.read_table(folder / "a.parquet", engine="spark", master="local[2]")
    with pytest.raises(BadOption, match="names another"):
        kech.read_table(f"{master}{folder}/a.parquet", master="local[2]")


def test_no_setting_of_a_running_application_is_changed(spark):
    """What it says of itself stays true: whether it encrypts is decided when it starts."""
    spark("spark")
    from pyspark.sql import SparkSession

    with kech.read_table(pa.table({"a": [1, 2]}), engine="spark") as table:  # an application is running now
        mine = SparkSession(table.engine.backend.session.sparkContext)
        names = ("spark.app.name", "spark.io.encryption.enabled", "spark.log.level", "spark.driver.memory")
        before = {name: mine.conf.get(name, None) for name in names}
        with kech.read_table(pa.table({"a": [1, 2]}), engine="spark", memory="1GB"):
            assert {name: mine.conf.get(name, None) for name in names} == before


def test_what_spark_does_not_reach_is_refused(spark, folder):
    spark("spark")
    with pytest.raises(UnreadableFile, match="cannot access it"):
        kech.read_table("s3a://bucket/people")
    (folder / "a.parquet").write_bytes(b"PAR1 is not enough")
    with pytest.raises(UnreadableFile, match="as Parquet"):
        kech.read_table(f"file://{folder}/a.parquet")
    (folder / "a.parquet").unlink()
    with pytest.raises(UnreadableFile, match="no Parquet file"):
        kech.read_table(f"file://{folder}")
    (folder / "_delta_log").mkdir()
    with pytest.raises(UnreadableFile, match="of Delta"):
        kech.read_table(f"file://{folder}")


def test_another_file_system_is_read_and_written_by_spark(spark, folder, run):
    """A mount table of Hadoop, as it would stand in the settings of a cluster."""
    master = spark("spark")
    from kech.tables.spark import open_session

    os.umask(mask := os.umask(0))
    (folder / "mounted").mkdir()
    settings = open_session(master)._jsc.hadoopConfiguration()
    settings.set("fs.viewfs.mounttable.default.link./data", f"file://{folder}/mounted")
    pq.write_table(pa.table(generate_town(200)), folder / "mounted" / "town.parquet")
    words = ["-o", "viewfs:///data/safe", "--certificate", folder / "c.json", *WORDS]
    assert run("release", "viewfs:///data/town.parquet", *words).code == 0
    assert run("verify", "viewfs:///data/safe", "--certificate", folder / "c.json").code == 0
    assert pq.read_table(folder / "mounted" / "safe").num_rows == 200
    assert stat.S_IMODE((folder / "mounted" / "safe").stat().st_mode) == 0o777 & ~mask
    assert {path.name for path in (folder / "mounted").iterdir()} == {"town.parquet", "safe"}


def test_what_is_copied_instead_of_renamed_is_no_target_of_spark(spark, folder, monkeypatch):
    spark("spark")
    monkeypatch.setattr("kech.tables.spark.RENAMES", ("hdfs",))
    with kech.read_table(pa.table(generate_town(50)), quasi_identifiers=["age"]) as table:
        with pytest.raises(BadTarget, match="renames by copying"):
            kech.make_release(table, k=5).write(f"file://{folder}/safe", folder / "c.json")
    assert list(folder.iterdir()) == []


def test_a_table_that_has_its_name_stays_in_the_ledger(spark, folder, monkeypatch):
    """The earlier release cannot be deleted; the new one is in place all the same."""
    spark("spark")
    from py4j.protocol import Py4JError

    from kech.tables.spark import Folder

    def keeps(self, real=Folder.delete):
        if "kech-earlier" in str(self):
            raise Py4JError("denied")
        real(self)

    monkeypatch.setattr(Folder, "delete", keeps)
    for seed in (1, 2):
        with kech.read_table(pa.table(generate_town(50, seed=seed)), quasi_identifiers=["age"]) as table:
            kech.make_release(table, k=5).write(f"file://{folder}/safe", folder / "c.json")
        assert len(kech.open_ledger().list_releases()) == seed
        assert kech.verify_release(f"file://{folder}/safe", certificate=folder / "c.json")["k"] >= 5


def test_the_folder_of_the_source_is_no_target_of_spark(spark, folder):
    spark("spark")
    pq.write_table(pa.table(generate_town(50)), folder / "town.parquet")
    with kech.read_table(folder, quasi_identifiers=["age"], engine="spark") as table:
        made = kech.make_release(table, k=5)
        for target in (folder, folder / "safe"):
            with pytest.raises(BadTarget, match="source table"):
                made.write(f"file://{target}", folder.parent / "c.json")


def test_a_folder_is_the_same_table_on_spark_and_duckdb(spark, folder):
    """Partitions as text, files in folders without a name, patterns that stand for themselves, and what is no part."""
    spark("spark")
    table = pa.table({"zip": ["02138", "10001", None, "02138"], "age": [1, 2, 3, 4], "a b": ["x", "y/z", "%", "x"]})
    parts = folder / "p[12]*{x}"
    ds.write_dataset(table, parts, format="parquet", partitioning=["zip", "a b"], partitioning_flavor="hive")
    (parts / "_SUCCESS").write_text("")
    (parts / ".hidden.parquet").write_text("")
    (parts / "readme.txt").write_text("")
    (folder / "p1x").mkdir()
    plain = folder / "plain"
    (plain / "below").mkdir(parents=True)
    for name in ("a.parquet", "below/b.pq"):
        pq.write_table(table, plain / name)
    for source in (parts, plain):
        found = [seen(source), seen(source, engine="spark"), seen(f"file://{source}")]
        assert found[0] == found[1] == found[2]


def seen(source, **how):
    """Facts of every column, but for the order of rows; its values; and the hash of it all."""
    with kech.read_table(source, **how) as table:
        facts = {name: replace(table.facts(name), first_other=None, first_not_date=None) for name in table.columns}
        values = {name: list(table.engine.count_values(table.index(name), "text")[0]) for name in table.columns}
        return facts, values, table.fingerprint()


def test_spark_is_asked_for_by_name():
    table = pa.table({"a": [1, 2]})
    with pytest.raises(BadOption, match=r"only engine=.spark. has a master"):
        kech.read_table(table, master="local[2]")
    with pytest.raises(BadOption, match="only duckdb reads this table"):
        kech.read_table(table, engine="postgres")
