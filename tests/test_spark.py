"""Spark as a user runs it: from a file or an address to a release, in threads and on a cluster."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from kech.demo import generate_town
from kech.errors import BadOption

CLAIMS = ("k", "classes", "rows", "loss", "loss_per_column", "measured")
WORDS = [
    "--qi",
    "age",
    "sex",
    "--sensitive",
    "diagnosis",
    "--k",
    5,
    "--grid",
    "tight",
    "--effort",
    "quick",
    "--no-ledger",
]
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets that Spark leaves to its own end
    pytest.mark.xdist_group("cluster"),
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


def test_a_process_works_on_one_cluster(spark, folder):
    pq.write_table(pa.table({"a": [1, 2]}), folder / "a.parquet")
    master = spark("cluster")
    with kech.read_table(folder / "a.parquet", engine="spark", master=master) as table:
        assert table.rows == 2
    with pytest.raises(BadOption, match="already works on spark://"):
        kech.read_table(folder / "a.parquet", engine="spark", master="local[2]")
    with pytest.raises(BadOption, match="names another"):
        kech.read_table(f"{master}{folder}/a.parquet", master="local[2]")


def test_spark_is_asked_for_by_name():
    table = pa.table({"a": [1, 2]})
    with pytest.raises(BadOption, match="only --engine spark"):
        kech.read_table(table, master="local[2]")
    with pytest.raises(BadOption, match="this table is read by duckdb"):
        kech.read_table(table, engine="postgres")
