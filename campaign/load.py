"""Load: the studio under parallel requests, bad uploads, slow clients and killed workers.

usage: python -m campaign.load [--uploads 1000] [--requests 50]
The server answers all the time, its memory returns to where it was, nobody without the secret sees a job, and no answer
to a bad file shows a cell.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from campaign.core import ROOT, Tally, own_place
from campaign.tables import as_csv, calm_columns, damage

sys.path.insert(0, str(ROOT / "tests"))

from studios import Studio

CANARY = "CANARY_4711"
READ = 20  # every so many uploads one is read too, in a worker of its own
GROWTH = 1.3
SLOW = 20  # clients


@contextmanager
def studio_of(place: Path, faults: Iterable[str] = ()) -> Iterator[tuple[int, Studio]]:
    """The command itself, maybe with faults in it: its process and a client."""
    planted = "".join(FAULTS[fault] for fault in faults)
    start = ["-c", f"{planted}\nfrom kech.cli import main\nmain()"] if planted else ["-m", "kech"]
    words = [sys.executable, *start, "studio", "--no-browser", "-o", str(place)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        yield process.pid, Studio(process.stdout.readline().strip())
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def resident(process: int) -> int:
    """Bytes of the server in memory, without its workers."""
    return int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def workers_of(process: int) -> list[int]:
    """The children of the server."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()]


def answers(tally: Tally, studio: Studio, after: str) -> None:
    """The server still answers, within seconds."""
    began = time.monotonic()
    try:
        status = studio.send("GET", "/api/state")[0]
    except OSError as failure:
        status = type(failure).__name__
    tally.expect(status == 200 and time.monotonic() - began < 20, f"after {after} the studio says {status}")


def together(tasks: list[Callable[[], Any]]) -> None:
    """All at once."""
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ask_in_parallel(tally: Tally, studio: Studio, table: str, requests: int) -> None:
    """Every request gets the answer that it would get alone."""
    alone = studio.ask(table, "preview")["figures"]
    found: list[bool] = []

    def ask(i: int) -> None:
        if i % 2:
            found.append(studio.ask(table, "preview")["figures"] == alone)
        else:
            found.append(studio.send("GET", f"/api/tables/{table}")[0] == 200)

    together([lambda i=i: ask(i) for i in range(requests)])  # type: ignore[misc]
    tally.expect(found == [True] * requests, f"{requests - sum(found)} of {requests} parallel requests failed")
    tally.cases += requests


def look_without_secret(tally: Tally, studio: Studio, table: str) -> None:
    """Jobs and tables are nobody else's."""
    job = studio.start(table, "spectrum", k=[2])["job"]
    for path in ("/api/state", f"/api/tables/{table}", f"/api/tables/{table}/jobs/{job}/result"):
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            status, _, body = studio.send("GET", path, headers=headers, secret=False)
            tally.expect(status in (401, 403) and job.encode() not in body, f"{path} is answered {status} to anybody")
            tally.cases, tally.faults = tally.cases + 1, tally.faults + 1


def upload_bad_files(tally: Tally, studio: Studio, uploads: int, rng: random.Random) -> None:
    """Damaged tables: accepted or refused, closed again, and no cell in a refusal."""
    for i in range(uploads):
        columns = calm_columns(rng, 30) | {"d": [CANARY] * 30}
        body = damage(rng, damage(rng, as_csv(rng, columns, "utf-8")))
        ending = rng.choice(["csv", "csv", "parquet", "arrow", "xlsx", "exe"])
        status, _, raw = studio.send("POST", f"/api/tables?name=t{i}.{ending}", body)
        tally.expect(status in (201, 422), f"upload {i}: status {status}")
        if status == 201:
            table = json.loads(raw)["id"]
            if i % READ == 0:
                read, _, raw = ask_raw(studio, table)
                tally.expect(read in (200, 422), f"upload {i}: reading it ends in {read}")
                tally.expect(read == 200 or CANARY.encode() not in raw, f"upload {i}: the refusal shows a cell")
            studio.json("DELETE", f"/api/tables/{table}")
        tally.cases, tally.faults = tally.cases + 1, tally.faults + 1


def ask_raw(studio: Studio, table: str) -> tuple[int, dict[str, str], bytes]:
    """What the page asks first of a table."""
    job = studio.start(table, "inspect")["job"]
    return studio.send("GET", f"/api/tables/{table}/jobs/{job}/result")


def dawdle(tally: Tally, studio: Studio) -> None:
    """Clients that begin a request and never end it."""
    held = []
    for _ in range(SLOW):
        client = socket.create_connection(("127.0.0.1", studio.port))
        client.sendall(f"POST /api/tables?name=t.csv HTTP/1.1\r\nHost: {studio.host}\r\nContent-Le".encode())
        held.append(client)
    answers(tally, studio, f"{SLOW} slow clients")
    for client in held:
        client.close()
    tally.cases, tally.faults = tally.cases + SLOW, tally.faults + SLOW


def kill_workers(tally: Tally, studio: Studio, process: int, table: str) -> None:
    """A worker that dies is replaced at the next question."""
    for worker in workers_of(process):
        os.kill(worker, signal.SIGKILL)
        tally.faults += 1
    status = ask_raw(studio, table)[0]
    again = ask_raw(studio, table)[0]
    tally.expect(status in (200, 422) and again == 200, f"after its worker was killed a table says {status}, {again}")
    tally.cases += 2


def return_to_base(tally: Tally, studio: Studio, process: int, base: int) -> None:
    """Memory is where it was, and so are tables."""
    end = resident(process)
    tally.figures |= {"base_MB": base >> 20, "end_MB": end >> 20}
    tally.expect(end < GROWTH * base, f"memory grew from {base >> 20} to {end >> 20} MB")
    tally.expect(len(studio.json("GET", "/api/state")["tables"]) == 1, "closed tables are still there")


def load(tally: Tally, place: Path, uploads: int, requests: int) -> None:
    """One studio, everything in turn."""
    rng = random.Random(0)
    with studio_of(place) as (process, studio):
        table = studio.open_nine(k=3)
        ask_in_parallel(tally, studio, table, requests)
        upload_bad_files(tally, studio, min(uploads, 100), rng)
        base = resident(process)
        upload_bad_files(tally, studio, max(0, uploads - 100), rng)
        answers(tally, studio, f"{uploads} bad uploads")
        dawdle(tally, studio)
        look_without_secret(tally, studio, table)
        kill_workers(tally, studio, process, table)
        ask_in_parallel(tally, studio, table, requests)
        answers(tally, studio, "all of it")
        return_to_base(tally, studio, process, base)


# Faults, to see that they are seen: what the studio runs before it starts.
FAULTS = {
    "any secret is right": """
from kech.studio.guard import Guard
Guard.has_secret = lambda self, headers: "authorization" in headers
""",
    "uploads stay in memory": """
from kech.studio.workspace import Workspace
kept, added = [], Workspace.add
Workspace.add = lambda self, *given: (kept.append(b"x" * 20_000_000), added(self, *given))[1]
""",
    "tables are never closed": """
async def forget(self, table): pass
Workspace.forget = forget
""",
    "a bad file is a fault": """
taken = Workspace.take_upload
async def take(self, name, chunks): return await taken(self, name, chunks) if "exe" not in name else 1 / 0
Workspace.take_upload = take
""",
}


def main() -> int:
    """One studio."""
    parser = argparse.ArgumentParser(description="The studio under load.")
    parser.add_argument("--uploads", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=50)
    asked = parser.parse_args()
    tally = Tally("load")
    with own_place() as place:
        load(tally, place, asked.uploads, asked.requests)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
