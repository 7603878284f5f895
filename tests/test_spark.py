"""Spark on a cluster: a master and a worker on loopback, and kech as a user runs it."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from kech.demo import generate_town
from kech.errors import BadOption
from servers import free_port

WORDS = [
    "--qi",
    "age",
    "sex",
    "--sensitive",
    "diagnosis",
    "--k",
    "5",
    "--grid",
    "tight",
    "--effort",
    "quick",
    "--no-ledger",
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a standalone master with one worker, both gone afterwards."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark")
    home, folder, port = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("cluster"), free_port()
    master = f"spark://127.0.0.1:{port}"
    words = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    with running(home, folder / "master.log", words, "ALIVE"):
        words = ["org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0"]
        words += ["--cores", "2", "--memory", "1g", "--work-dir", str(folder / "work"), master]
        with running(home, folder / "worker.log", words, "Successfully registered"):
            yield master


@contextmanager
def running(home, log, words, until):
    """A Java process that has said it is ready."""
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with log.open("w") as file:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *words], stdout=file, stderr=subprocess.STDOUT, env=environment
        )
    try:
        end = time.monotonic() + 120
        while until not in log.read_text(errors="replace"):
            assert process.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < end, log.read_text(errors="replace")[-2000:]
            time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait(30)


def test_a_cluster_releases_what_duckdb_releases(cluster, tmp_path):
    pq.write_table(pa.table(generate_town(300)), tmp_path / "town.parquet")
    claims = []
    for name, more in {"duckdb": [], "spark": ["--engine", "spark", "--master", cluster]}.items():
        words = [tmp_path / "town.parquet", "-o", tmp_path / f"{name}.csv", *WORDS, "--json", *more]
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        done = subprocess.run(
            [sys.executable, "-m", "kech", "release", *words],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            timeout=500,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert kech.check_certificate(tmp_path / f"{name}.csv")["k"] >= 5
        found = json.loads(re.search(r"^\{.*\}$", done.stdout, re.M)[0])
        claims.append({name: found[name] for name in ("k", "classes", "rows", "loss", "loss_per_column", "measured")})
    assert claims[0] == claims[1]


def test_spark_is_asked_for_by_name():
    table = pa.table({"a": [1, 2]})
    with pytest.raises(BadOption, match="only --engine spark"):
        kech.read_table(table, master="local[2]")
    with pytest.raises(BadOption, match="this table is read by duckdb"):
        kech.read_table(table, engine="postgres")
