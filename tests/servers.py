"""Servers of the tests' own, on free loopback ports: PostgreSQL as a user without rights, and a cluster of Spark."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))


def find_binaries():
    """The folder of initdb and pg_ctl, or a skip with its reason."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    found = shutil.which("pg_ctl")
    folders = [*FOLDERS, *([Path(found).parent] if found else [])]
    fitting = [folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()]
    if not fitting:
        pytest.skip("no PostgreSQL server is installed")
    return fitting[-1]


def plain_user():
    """How to run a command without the rights of root, which initdb refuses; nothing for anybody else."""
    if os.geteuid() != 0:
        return {}
    import pwd  # Windows has none

    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    return pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")


def free_port():
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running_postgres():
    """The URL of a new server, which is stopped and removed afterwards."""
    binaries, user, port = find_binaries(), plain_user(), free_port()
    folder = Path(tempfile.mkdtemp(prefix="kech-postgres-", dir="/tmp"))
    if user:
        os.chown(folder, user["user"], user["group"])

    def run(*words):
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        subprocess.run(words, check=True, cwd=folder, env=environment, capture_output=True, timeout=60, **user)

    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    try:
        run(binaries / "initdb", "-D", folder / "data", "-U", "kech", "-A", "trust", "-E", "UTF8", "--no-sync")
        run(binaries / "pg_ctl", "-D", folder / "data", "-o", options, "-l", folder / "log", "-w", "start")
        try:
            yield f"postgresql://kech@127.0.0.1:{port}/postgres"
        finally:
            run(binaries / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# Small heaps and little compiling: what is tested here takes moments.  A cluster runs as Spark does by itself, but
# in threads queries are neither compiled nor planned anew on their way, which takes longer than running them.
SPARK_DEFAULTS = """spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.executor.memory 512m
spark.sql.shuffle.partitions 2
"""
IN_THREADS = """spark.sql.adaptive.enabled false
spark.sql.codegen.wholeStage false
"""


def find_spark(folder, kind):
    """The folder of pyspark, told how to run here; or a skip with its reason.  Settings last as long as the process."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark")
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed")
    (folder / "spark-defaults.conf").write_text(SPARK_DEFAULTS + (IN_THREADS if kind == "spark" else ""))
    os.environ |= {
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    return Path(pyspark.__file__).parent


@contextmanager
def running_cluster(home, folder):
    """The address of a standalone master with one worker, both gone afterwards."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    here = ["--host", "127.0.0.1", "--webui-port", "0"]
    master = ["org.apache.spark.deploy.master.Master", *here, "--port", str(port)]
    worker = ["org.apache.spark.deploy.worker.Worker", *here, "--cores", "2", "--memory", "1g"]
    with running_java(home, folder / "master.log", master, "ALIVE"):
        words = [*worker, "--work-dir", str(folder / "work"), address]
        with running_java(home, folder / "worker.log", words, "Successfully registered"):
            yield address


@contextmanager
def running_java(home, log, words, until):
    """A Java process of Spark that has said it is ready."""
    environment = os.environ | {"SPARK_HOME": str(home)}
    with log.open("w") as file:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *words], stdout=file, stderr=subprocess.STDOUT, env=environment
        )
    try:
        end = time.monotonic() + 120
        while until not in log.read_text(errors="replace"):
            assert process.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < end, log.read_text(errors="replace")[-2000:]
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(30)


def end_spark():
    """End the application of Spark in this process, if there is one."""
    from pyspark.sql import SparkSession

    if running := SparkSession._instantiatedSession:
        running.stop()
