"""A PostgreSQL server of the tests' own: in a temporary folder, on a free loopback port, as a user without rights."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
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
