"""The studio without a browser: who may ask, what is answered, and what is left behind."""

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")
pytest.importorskip("uvicorn", reason="the extra `studio` is not installed")

import kech
from kech.errors import CannotWrite
from kech.request import reference
from kech.studio import jobs
from kech.tables.demo import generate_town, nine_rows
from strategies import begin_with, further
from studios import Studio, Unserved, running, wait_for

CANARY = "CANARY_4711"


def write_csv(table, path):
    pc.write_csv(table, path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("releases")


@pytest.fixture(scope="module")
def studio(folder):
    with running(folder) as made:
        yield made


# -- who may ask -----------------------------------------------------------------------------------------


def test_without_the_secret_nobody_is_answered(studio):
    state = "/api/state"
    assert studio.send("GET", state, secret=False)[0] == 401
    assert studio.send("GET", state, secret=False, headers={"Authorization": "Bearer x"})[0] == 401
    for scheme in ("", "Basic ", "Bearer"):  # the secret, but not as a bearer sends it
        bare = {"Authorization": f"{scheme}{studio.secret}"}
        assert studio.send("GET", state, secret=False, headers=bare)[0] == 401
    assert studio.send("GET", "/nowhere", secret=False)[0] == 401  # before any route is looked up
    assert studio.send("POST", "/", b"", secret=False)[0] == 401
    assert studio.send("GET", state)[0] == 200


def test_what_everybody_may_read_holds_nothing_of_a_table(tmp_path):
    """Every route is asked without the secret: it is refused, or answers with a file of kech, to the byte."""
    with running(tmp_path) as studio:
        table = studio.open_nine(k=3)
        pages = {page.read_bytes() for page in (Path(kech.__file__).parent / "studio" / "pages").iterdir()}
        names = {"table": table, "file": "main.js", "example": "nine", "tree": "t", "job": "j", "series": "clinic"}
        names |= {"folder": "nine-k3", "name": "nine.csv", "word": "guessed"}
        answered = {}
        for route in studio.routes:
            for method in route.methods:
                status, _, body = studio.send(method, route.path.replace(":path", "").format(**names), secret=False)
                refused = 404 if route.path == "/reports/{word}" else 401
                assert status == refused or (method == "HEAD" and not body) or body in pages, route.path
                answered[route.path] = answered.get(route.path, False) or status == 200
    assert {path for path, is_answered in answered.items() if is_answered} == {"/", "/tables/{table}", "/static/{file}"}


HOSTS = (
    "evil.example",
    "localhost",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.1",
    "[::1]",
    "127.0.0.1.",
    "127.0.0.1@evil.example",
)


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused_before_the_secret_is_looked_at(studio, host):
    assert studio.send("GET", "/", host=host)[0] == 421
    assert studio.send("GET", "/api/state", host=host, secret=False)[0] == 421


def test_the_port_that_browsers_do_not_name_need_not_be_named(tmp_path):
    web, other = Unserved(tmp_path, 80), Unserved(tmp_path, 8080)
    for name in ("127.0.0.1", "127.0.0.1:80"):
        assert web.post(host=name, origin=f"http://{name}") == 404  # it may ask, and there is no such page
        assert other.post(host=name) == 421
    assert web.post(host="127.0.0.1", origin="http://localhost") == 403
    assert web.post(host="localhost") == 421
    assert other.post(host="127.0.0.1:8080") == 404
    assert other.post(host="127.0.0.1:8080", origin="http://127.0.0.1") == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:1"])
@pytest.mark.parametrize("path", ["/run", "/api/tables", "/api/examples/nine"])
def test_other_pages_are_refused(studio, origin, path):
    assert studio.send("POST", path, b"", headers={"Origin": origin})[0] == 403


def test_other_sites_are_refused_by_what_the_browser_says_of_them(studio):
    for site in ("cross-site", "same-site"):  # another port of the machine is the same site
        assert studio.send("GET", "/api/state", headers={"Sec-Fetch-Site": site})[0] == 403
    assert studio.send("GET", "/api/state", headers={"Sec-Fetch-Site": "same-origin"})[0] == 200


@pytest.mark.parametrize("path", ["/", "/tables/x", "/api/state", "/static/main.js", "/nowhere"])
def test_every_answer_tells_the_browser_to_be_careful(studio, path):
    _, headers, _ = studio.send("GET", path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "no-store" in headers["cache-control"]
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_the_address_opens_once_and_hands_over_another_secret(tmp_path):
    with running(tmp_path) as studio:
        ahead = studio.send("GET", f"/?token={studio.token}", secret=False, headers={"Sec-Purpose": "prefetch"})
        assert ahead[0] == 503 and studio.send("HEAD", f"/?token={studio.token}", secret=False)[0] == 200
        assert studio.send("GET", "/?token=wrong", secret=False)[0] == 410
        assert studio.secret != studio.token
        status, headers, page = studio.send("GET", f"/?token={studio.token}", secret=False)
        assert status == 410 and b"somebody else" in page and studio.secret.encode() not in page
        assert "set-cookie" not in headers and studio.send("GET", "/api/state")[0] == 200


def test_many_who_open_the_address_at_once_get_one_secret(tmp_path):
    with running(tmp_path) as studio:
        got, gate = [], threading.Barrier(12)

        def enter():
            gate.wait()
            got.append(studio.send("GET", f"/?token={studio.token}", secret=False)[:2])

        threads = [threading.Thread(target=enter) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(status for status, _ in got) == [200] + [410] * 11
    assert not any("set-cookie" in headers for _, headers in got)


def test_an_address_that_nobody_opened_in_time_opens_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("kech.studio.entry.LIFETIME", -1.0)
    with running(tmp_path) as studio:
        assert studio.send("GET", f"/?token={studio.token}", secret=False)[0] == 410


def test_it_listens_on_this_machine_only(studio):
    with socket.socket() as other:
        other.settimeout(1)
        addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        for address in addresses - {"127.0.0.1", "127.0.1.1"}:
            assert other.connect_ex((address, studio.port)) != 0


# -- another user of the machine ---------------------------------------------------------------------------


def command_lines():
    """What every user of a machine can read: the command lines of all processes."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield process.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")


def modes_below(folder):
    """The mode of every file and folder that is no link."""
    return {path: oct(path.stat().st_mode & 0o777) for path in folder.rglob("*") if not path.is_symlink()}


@pytest.fixture
def shown(tmp_path):
    """The command as people type it, with a shell that sleeps as browser: process, what it was given, folder."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("the system shows no command lines below /proc")
    (tmp_path / "t").mkdir()
    (tmp_path / "people.csv").write_text(f"name,age\n{CANARY},1\n{CANARY},2\n")
    browser = tmp_path / "browser"
    here = 'exec >/dev/null 2>&1; cd "$(dirname "$0")"'
    browser.write_text(f'#!/bin/sh\n{here}; sleep 60 & echo $! > sleeper; echo "$1" > given; wait\n')
    browser.chmod(0o700)
    words = [sys.executable, "-m", "kech", "studio", str(tmp_path / "people.csv"), "-o", str(tmp_path)]
    env = os.environ | {
        "TMPDIR": str(tmp_path / "t"),
        "BROWSER": f"{browser} %s &",
        "KECH_HOME": str(tmp_path / "home"),
    }
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    wait_for(lambda: (tmp_path / "given").exists() and (tmp_path / "given").read_text().strip())
    yield process, (tmp_path / "given").read_text().strip(), tmp_path / "t"
    os.kill(int((tmp_path / "sleeper").read_text()), signal.SIGTERM)
    process.kill()
    process.communicate()


def test_another_user_of_the_machine_finds_no_way_in(shown):
    process, given, temporary = shown
    page, told = process.stdout.readline().strip(), process.stdout.readline()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", page) and "--no-browser" in told
    lines = [line for line in command_lines() if given in line]
    assert lines and not any("token" in line or page.strip("/") in line for line in command_lines())

    file = Path(given.removeprefix("file://"))
    assert file.parent.parent == temporary
    assert modes_below(temporary)[file] == "0o600"
    assert {mode for path, mode in modes_below(temporary).items() if path != file} == {"0o700"}  # folders
    (address,) = set(re.findall(r'http://[^"]+', file.read_text("utf-8")))
    studio = Studio(address)
    (table,) = studio.json("GET", "/api/state")["tables"]
    assert not file.exists()
    studio.ask(table["id"], "inspect", rows=2)
    handed = studio.upload("more.csv", b"a\n1\n")["id"]
    studio.json("POST", f"/api/tables/{handed}/trees?name=tree.csv", b"1,2\n", 201)
    files = {path.name: mode for path, mode in modes_below(temporary).items() if path.is_file()}
    assert files == {"table.csv": "0o600", "tree-1.csv": "0o600"}

    assert_opens_nothing(studio, studio.token, table["id"])
    seen = "".join(command_lines())  # with the workers
    assert studio.token not in seen and studio.secret not in seen and CANARY not in seen
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert studio.token not in out + err and studio.secret not in out + err and list(temporary.iterdir()) == []


def assert_opens_nothing(studio, token, table):
    """A token that was spent, in every place where something could be looked for."""
    places = [{"Authorization": f"{scheme} {token}"} for scheme in ("Bearer", "Basic", "Token")]
    places += [{"Cookie": f"{name}={value}"} for value in (token, studio.secret)
               for name in (f"kech-{studio.port}", "kech-secret", "token")]  # fmt: skip
    places += [{"X-Kech-Secret": token}, {"Referer": studio.address}, {}]
    for path in ("/api/state", f"/api/tables/{table}", f"/api/tables/{table}/jobs"):
        for headers in places:
            assert studio.send("GET", path, headers=headers, secret=False)[0] == 401
            assert studio.send("POST", path, b"{}", headers=headers, secret=False)[0] == 401
        for asked in (f"token={token}", f"token={studio.secret}", f"secret={studio.secret}"):
            assert studio.send("GET", f"{path}?{asked}", secret=False)[0] == 401
    for asked in (token, studio.secret):
        assert studio.send("GET", f"/?token={asked}", secret=False)[0] == 410


def test_without_a_browser_the_one_time_address_is_printed(tmp_path, run, monkeypatch):
    said = []
    monkeypatch.setattr("webbrowser.open", lambda address: said.append(address) or False)
    monkeypatch.setattr("kech.studio.server.OnceInterruptedServer.run", lambda self, sockets: None)
    assert "/?token=" in run("studio", "-o", tmp_path, "--json").json["address"]
    assert said[0].startswith("file://") and "token" not in said[0]
    assert "/?token=" in run("studio", "-o", tmp_path).out


# -- what is handed over ---------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["f=../../../../etc/hostname", "f=/etc/hostname", "x=1"])
def test_the_first_page_takes_no_parameters(studio, query):
    assert studio.send("GET", f"/?{query}", secret=False)[2] == studio.send("GET", "/", secret=False)[2]


@pytest.mark.parametrize(
    "path", ["/static/../guard.py", "/static/..%2fguard.py", "/static/%2e%2e/guard.py", "/static//etc/passwd", "/etc/x"]
)
def test_only_files_of_the_studio_are_served(studio, path):
    assert studio.send("GET", path)[0] in (400, 404)


def test_an_upload_that_is_too_large_is_refused(studio, monkeypatch):
    connection = socket.create_connection(("127.0.0.1", studio.port), 5)
    start = f"POST /up HTTP/1.1\r\nHost: {studio.host}\r\nAuthorization: Bearer {studio.secret}\r\n"
    connection.sendall(f"{start}Content-Length: 5000000000\r\n\r\n".encode())
    assert b" 413 " in connection.recv(100)
    connection.close()
    monkeypatch.setattr("kech.studio.guard.MOST_BYTES", 1000)
    connection = socket.create_connection(("127.0.0.1", studio.port), 5)  # its length is not told
    start = start.replace("/up", "/api/tables?name=a.csv")
    connection.sendall(f"{start}Transfer-Encoding: chunked\r\n\r\n".encode() + b"800\r\n" + b"x" * 2048 + b"\r\n")
    assert b" 413 " in connection.recv(100)
    connection.close()


@pytest.mark.parametrize("name", ["table.exe", "table", "", "a.csv" * 50])
def test_an_unknown_kind_of_file_is_refused(studio, name):
    assert studio.upload(name, b"a\n1\n", 422)["error"] == "UnreadableFile"


def test_an_upload_is_read_as_it_is_and_can_be_read_otherwise(studio):
    table = studio.upload("umlaut.csv", "name;age\nJörg;1\nNA;2\n".encode("latin-1"))["id"]
    refused = studio.ask(table, "inspect", 422, rows=10)
    assert refused["exit_code"] == 3 and "umlaut.csv" in refused["message"] and "/tmp" not in refused["message"]
    plan = {"input": {"encoding": "latin-1", "null_values": ["NA"]}}
    studio.json("PUT", f"/api/tables/{table}", {"plan": plan, "dropped": [], "revision": 0})
    assert studio.ask(table, "inspect", rows=10)["first_rows"] == [["Jörg", "1"], [None, "2"]]
    assert studio.ask(table, "inspect")["delimiter"] == ";"


def test_a_refused_reading_does_not_harm_the_next(studio):
    table = studio.json("POST", "/api/examples/nine", b"", 201)["id"]
    first = studio.ask(table, "inspect", rows=10)
    for revision, reading in enumerate(({"encoding": "utf-16"}, {})):
        wish = {"plan": {"input": reading}, "dropped": [], "revision": revision}
        studio.json("PUT", f"/api/tables/{table}", wish)
        if reading:
            studio.ask(table, "inspect", 422, rows=10)
    assert len(studio.ask(table, "inspect")["columns"]) == len(first["columns"])
    studio.json("DELETE", f"/api/tables/{table}")


def test_parquet_and_excel_are_read_too(studio, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pq.write_table(nine_rows(), tmp_path / "nine.parquet")
    book = openpyxl.Workbook()
    for row in [["age", "zip"], [25, "02139"]]:
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    parquet = studio.upload("nine.parquet", (tmp_path / "nine.parquet").read_bytes())["id"]
    assert studio.ask(parquet, "inspect", rows=10)["first_rows"][0] == ["25", "47677", "47000"]
    excel = studio.upload("book.xlsx", (tmp_path / "book.xlsx").read_bytes())["id"]
    assert studio.ask(excel, "inspect", rows=10)["first_rows"] == [["25", "02139"]]
    for table in (parquet, excel):
        studio.json("DELETE", f"/api/tables/{table}")
    assert studio.send("GET", f"/api/tables/{excel}")[0] == 404


# -- what is answered ------------------------------------------------------------------------------------


ACTIONS = {
    "inspect": ("inspect", [], {}),
    "first rows": ("inspect", ["--rows", "10"], {"rows": 10}),
    "hierarchy": ("hierarchy", ["age"], {"column": "age"}),
    "other hierarchy": ("hierarchy", ["zip", "--kind", "prefixes"], {"column": "zip", "kind": "prefixes"}),
    "spectrum": ("spectrum", ["--k", "2,3", "--cut", "local,domain", "--effort", "quick"],
                 {"k": [2, 3], "cut": ["local", "domain"], "effort": "quick"}),
    "barcode": (
        "barcode",
        ["--max-dimension", "0", "--no-partitions", "--k", "3", "--longest", "50000"],
        {"max_dimension": 0, "k": 3},
    ),
    "lattice": ("lattice", ["--k", "2,3"], {"k": [2, 3]}),
    "node": ("lattice", ["--node", "1,2"], {"node": [1, 2]}),
    "zigzag": ("zigzag", ["--path", "diagonal", "--k", "3", "--longest", "50000"], {"path": "diagonal", "k": 3}),
    "plane": ("preview", ["--on", "age,zip", "--rows", "0", "--k", "3", "--cut", "local", "--effort", "quick"],
              {"on": ["age", "zip"], "rows": 0, "k": 3, "cut": "local", "effort": "quick"}),
    "components": ("preview", ["--on", "zip,age", "--radius", "0.1"], {"on": ["zip", "age"], "radius": 0.1}),
    "preview": ("preview", ["--rows", "10"], {}),
}  # fmt: skip


def visits(people=60):
    """A made-up table: one, two or three rows of every person."""
    who = [person for person in range(people) for _ in range(1 + person % 3)]
    zips = [2110 + person % 7 * 5 for person in who]
    return pa.table({"patient": who, "age": [20 + person % 35 for person in who], "zip": zips})


TABLES = {
    "nine": (nine_rows, {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"]}, {"k": 3, "l": 2}),
    "town": (lambda: generate_town(800), {"quasi_identifiers": ["age", "zip"], "sensitive": ["diagnosis"]},
             {"k": 5, "effort": "quick", "suppress": 0.02, "alpha": 0.9}),
    "visits": (visits, {"quasi_identifiers": ["age", "zip"], "person": ["patient"]},
               {"k": 4, "effort": "quick"}),
}  # fmt: skip


@pytest.mark.parametrize("name", begin_with(["nine"], TABLES))
def test_every_action_answers_as_its_command_prints(studio, run, folder, tmp_path, name):
    make, roles, goals = TABLES[name]
    path = write_csv(make(), tmp_path / f"{name}.csv")
    table = studio.upload(path.name, path.read_bytes())["id"]
    others = set(make().column_names) - {column for named in roles.values() for column in named}
    state = studio.give_roles(table, dropped=others, release=goals, **roles)
    kech.write_request(msgspec.convert(state["plan"], kech.Request), tmp_path / "kech.toml")
    for action, (command, words, options) in ACTIONS.items():
        plan = [] if command == "inspect" else ["--plan", tmp_path / "kech.toml"]
        printed = run(command, path, *words, *plan, "--json")
        assert studio.ask(table, command, **options) == printed.json, action
    found = studio.ask(table, "release", folder=f"same-{name}")
    words = ["-o", path.name, "--folder", tmp_path / "same", "--plan", tmp_path / "kech.toml", "--no-ledger"]
    printed = run("release", path, *words, "--json").json
    assert alike(found, folder / f"same-{name}") == alike(printed, tmp_path / "same")
    studio.json("DELETE", f"/api/tables/{table}")


def alike(found, folder):
    """A release, but for the place and the moment: chance decides the order of its rows, and the ledger knows it."""
    told = {"ledger": 0} | {name: value for name, value in found.items() if name != "ledger"}
    told = json.loads(json.dumps(told).replace(str(folder), "FOLDER"))
    told["verified"]["unchecked"].pop("no_ledger", None)
    return told


def test_the_regime_cut_is_seen_beside_others_that_leave_rows_out(studio):
    table = studio.open_nine(k=3, suppress=0.1)
    (row,) = studio.ask(table, "spectrum", k=[3], cut=["regime"])["spectrum"]
    assert row["cut"] == "regime" and row["suppressed"] == 0
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_release_is_written_verified_and_told_as_a_command(studio, run, folder, tmp_path, monkeypatch):
    table = studio.open_nine(k=3)
    job = studio.start(table, "release", folder="nine-k3", ending=".csv")
    found = studio.json("GET", f"/api/tables/{table}/jobs/{job['job']}/result")
    target = folder / "nine-k3" / "nine.csv"
    assert Path(found["file"]) == target and found["k"] >= 3
    assert run("verify", target, "--json").json == found["verified"]
    page = tmp_path / "report.html"
    assert run("report", target, "--plan", found["plan"], "-o", page).code == 0
    assert page.read_bytes() == Path(found["report"]).read_bytes()
    (listed,) = [each for each in studio.json("GET", "/api/state")["releases"] if each["folder"] == "nine-k3"]
    assert listed["files"] == ["nine.csv", "nine.csv.certificate.json", "report.html", "kech.toml"]
    assert (listed["k"], listed["rows"]) == (found["k"], 9)
    for name in listed["files"]:
        assert studio.send("GET", f"/api/releases/nine-k3/{name}")[2] == (folder / "nine-k3" / name).read_bytes()
    again = studio.ask(table, "release", folder="more/nine-k3", ending=".parquet")
    assert Path(again["file"]).suffix == ".parquet"

    write_csv(nine_rows(), tmp_path / "nine.csv")
    monkeypatch.chdir(tmp_path)
    said = run(*shlex.split(job["command"])[1:], "--json").json
    assert alike(said, folder / "nine-k3-again") == alike(found, folder / "nine-k3")


def clinic(last):
    """Visits of a made-up clinic, as a CSV file."""
    cells = [f"{i},{20 + i * 7 % 40},{i % 3}" for i in range(last)]
    return "\n".join(["visit,age,finding", *cells]).encode()


def test_a_report_is_opened_once_at_a_secret_address(tmp_path):
    with running(tmp_path) as studio:
        studio.ask(studio.open_nine(k=3), "release", folder="nine")
        studio.json("POST", "/api/releases/nine/nine.csv", b"", 422)
        many = [studio.json("POST", "/api/releases/nine/report.html", b"")["address"] for _ in range(9)]
        assert studio.send("GET", many[0], secret=False)[0] == 404  # eight wait, and the oldest went
        for address in (many[1], many[8]):  # two tabs at once
            status, headers, body = studio.send("GET", address, secret=False)
            assert status == 200 and body == (tmp_path / "nine" / "report.html").read_bytes()
            assert studio.send("GET", address, secret=False)[0] == 404
    policy = headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'; ") and "frame-ancestors 'none'" in policy
    assert "script" not in policy and "unsafe" not in policy and headers["cache-control"] == "no-store"


def test_the_bound_of_a_k_is_that_of_its_release(studio):
    table = studio.open_nine(k=3)
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as read:
        bound = kech.make_release(read, k=2, effort=0.0, preview=True).bound().to_json()
    assert 0 < bound["loss_lower_bound"] <= bound["loss"]
    assert studio.ask(table, "bound", k=2) == bound
    studio.json("DELETE", f"/api/tables/{table}")


def test_the_price_of_two_values_is_told_after_the_exact_answer(studio):
    """The answer does not wait for it; then it is the price that `kech preview` tells."""
    rows = b"age,ill\n20,yes\n21,yes\n40,no\n41,yes\n42,no\n43,no\n"
    table = studio.upload("six.csv", rows)["id"]
    goals = {"k": 2, "grid": "exact", "protect": "none"}
    studio.give_roles(table, quasi_identifiers=["age"], sensitive=["ill"], release=goals)
    told = studio.ask(table, "classes", k=2)["shared"]
    assert told["given_away"] and told["loss_with_l_2"] is None
    shared = studio.ask(table, "preview")["shared"]
    assert shared["given_away"] == told["given_away"]
    assert studio.ask(table, "mend", k=2) == {"k": 2, "loss": shared["loss_with_l_2"]}
    assert shared["loss_with_l_2"] > 0
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_node_is_released_by_its_levels(studio, folder):
    """Not the best node for k: the one that was named, with the loss that the lattice tells."""
    table = studio.open_nine(k=3)
    found = studio.ask(table, "lattice", k=[3])
    other = next(node for node in found["minimal"]["3"] if node != list(found["best"][0]["levels"].values()))
    told = studio.ask(table, "lattice", node=other)["node"]
    levels = dict(zip(("age", "zip"), other, strict=True))
    state = studio.json("GET", f"/api/tables/{table}")
    plan = msgspec.convert(state["plan"], kech.Request).override(cut="domain", levels=levels)
    wish = {"plan": msgspec.to_builtins(plan), "dropped": [], "revision": state["revision"]}
    studio.json("PUT", f"/api/tables/{table}", wish)
    written = studio.ask(table, "release", folder="node")
    assert written["verified"]["loss"] == pytest.approx(told["loss"])
    assert told["loss"] > found["best"][0]["loss"]
    assert written["verified"]["classes"] == told["classes"]
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_series_is_seen_and_its_next_version_published(tmp_path, run):
    words = ("--series", tmp_path / "clinic", "--key", "visit", "--qi", "age", "--sensitive", "finding", "--k", 5)
    (tmp_path / "oct.csv").write_bytes(clinic(60))
    assert run("release", tmp_path / "oct.csv", "-o", tmp_path / "one.csv", *words).code == 0
    with running(tmp_path) as studio:
        assert studio.json("GET", "/api/state")["series"] == ["clinic"]
        table = studio.upload("nov.csv", clinic(83))["id"]
        job = studio.start(table, "publish", series="clinic", file="two.csv", wait=0.1)
        found = studio.json("GET", f"/api/tables/{table}/jobs/{job['job']}/result")
        assert found["series"]["version"] == 2 and Path(found["file"]) == tmp_path / "two.csv"
        assert "--series" in job["command"] and "--wait 0.1" in job["command"]
        seen = studio.json("GET", "/api/series/clinic")
        assert [each["version"] for each in seen["versions"]] == [1, 2] and seen["in_force"]["wait"] == 0.1
        assert seen["versions"] == json.loads(run("series", tmp_path / "clinic", "--json").out)["versions"]
        assert sum(bar["rows"] for bar in seen["lives"]) == found["rows"] and seen["lives"][0]["versions"] == [1, 2]
        bars = studio.json("GET", "/api/series/clinic/picture")
        assert bars["private"] and "PRIVATE" in bars["svg"] and "version" in bars["svg"]
        studio.json("GET", "/api/series/none/picture", status=422)
        for file in ("two.csv", "../two.csv"):
            asked = {"verb": "publish", "options": {"series": "clinic", "file": file}}
            studio.json("POST", f"/api/tables/{table}/jobs", asked, status=422)
        for wish in ({"file": "x.csv", "series": "none"}, {"file": "a.txt", "series": "clinic"}):
            studio.ask(table, "publish", status=422, **wish)
        studio.json("GET", "/api/series/none", status=422)
        studio.json("GET", "/api/series/%2e%2e", status=422)
        others = studio.upload("dec.csv", clinic(83).replace(b"\n", b"\nx"))["id"]
        asked = {"series": "clinic", "file": "three.csv"}
        assert "--most-changed 100%" in json.dumps(studio.ask(others, "publish", status=422, **asked))
        job = studio.start(others, "publish", **asked, most_changed=1)
        assert studio.json("GET", f"/api/tables/{others}/jobs/{job['job']}/result")["series"]["version"] == 3
        assert job["command"].endswith("--most-changed 1.0")
    assert not (tmp_path / "none").exists()
    assert run("verify", "--series", tmp_path / "clinic").code == 0


def test_a_second_release_of_a_table_is_refused_unless_it_is_allowed(studio, folder, tmp_path):
    table = studio.upload("nine.csv", write_csv(nine_rows(), tmp_path / "nine.csv").read_bytes())["id"]
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"]}
    studio.give_roles(table, **roles, release={"k": 3, "grid": "exact"})
    assert studio.ask(table, "release", folder="first")["ledger"]["verdict"] == "first"
    studio.give_roles(table, **roles, release={"k": 2, "grid": "exact"})
    assert studio.ask(table, "release", 422, folder="second")["error"] == "ReleasedBefore"
    assert not (folder / "second" / "nine.csv").exists()
    job = studio.start(table, "release", folder="second", allow_composition=True)
    found = studio.json("GET", f"/api/tables/{table}/jobs/{job['job']}/result")
    assert found["ledger"]["verdict"] == "composed" and "--allow-composition" in job["command"]
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_release_of_an_earlier_studio_is_found_where_both_write(tmp_path):
    body, roles = write_csv(nine_rows(), tmp_path / "nine.csv").read_bytes(), {"quasi_identifiers": ["age", "zip"]}
    for k, name, allowed in ((3, "first", False), (2, "second", True), (2, "third", False)):
        with running(tmp_path / "out") as studio:
            table = studio.upload("nine.csv", body)["id"]
            studio.give_roles(table, dropped=["salary"], **roles, release={"k": k, "grid": "exact"})
            found = studio.ask(table, "release", folder=name, allow_composition=allowed)["ledger"]
        verdict = {"first": "first", "second": "composed", "third": "nested"}[name]
        assert found["verdict"] == verdict, "the earlier file was at hand"


def test_an_earlier_release_that_was_deleted_is_in_nobodys_way(studio, folder):
    table = studio.open_nine(k=3)
    studio.ask(table, "release", folder="deleted")
    shutil.rmtree(folder / "deleted")
    second = studio.start(table, "release", folder="deleted-2")
    studio.json("GET", f"/api/tables/{table}/jobs/{second['job']}/result")
    third = studio.start(table, "release", folder="deleted-3", allow_composition=True)
    assert "--earlier" not in second["command"] and "--earlier" in third["command"]
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_release_whose_folder_was_deleted_is_written_again(studio, folder):
    table = studio.open_nine(k=3)
    for _ in range(2):
        assert Path(studio.ask(table, "release", folder="gone")["file"]).is_file()
        shutil.rmtree(folder / "gone")
    studio.json("DELETE", f"/api/tables/{table}")


def test_the_command_makes_the_same_of_a_file_where_it_is_found(studio, run, tmp_path, folder, monkeypatch):
    path = write_csv(nine_rows(), tmp_path / "nine.csv")
    monkeypatch.chdir(tmp_path)
    with running(tmp_path / "out", Path("nine.csv")) as own:
        (table,) = own.json("GET", "/api/state")["tables"]
        own.give_roles(table["id"], quasi_identifiers=["age", "zip"], dropped=["salary"], release={"k": 3})
        job = own.start(table["id"], "release", folder="nine")
        assert shlex.split(job["command"])[2] == str(path)
        assert own.json("GET", f"/api/tables/{table['id']}")["source"] == "file"
        own.json("GET", f"/api/tables/{table['id']}/jobs/{job['job']}/result")
    ages = b"age\n" + b"".join(b"%d\n" % (61 + row % 9) for row in range(40))
    told = studio.upload("-ages.csv", ages)
    studio.give_roles(told["id"], quasi_identifiers=["age"], release={"k": 3})
    job = studio.start(told["id"], "release", folder="dash")
    assert told["source"] == "upload" and shlex.split(job["command"])[2:5] == ["./-ages.csv", "-o", "ages.csv"]
    written = Path(studio.json("GET", f"/api/tables/{told['id']}/jobs/{job['job']}/result")["file"])
    (tmp_path / "-ages.csv").write_bytes(ages)
    again = run(*shlex.split(job["command"])[1:], "--json").json
    assert again["ledger"]["verdict"] != "first"
    assert sorted(Path(again["file"]).read_text().split()) == sorted(written.read_text().split())
    studio.json("DELETE", f"/api/tables/{told['id']}")


def test_a_release_goes_into_an_empty_folder_only(studio, folder):
    table = studio.open_nine(k=3)
    for name in ("nine.csv", "nine.csv.certificate.json", "report.html", "kech.toml", "notes.txt"):
        place = folder / f"with-{name}"
        place.mkdir()
        (place / name).write_text("mine")
        assert studio.ask(table, "release", 422, folder=place.name)["error"] == "BadTarget"
        assert [file.read_text() for file in place.iterdir()] == ["mine"]
    (place / name).unlink()
    assert Path(studio.ask(table, "release", folder=place.name)["report"]).parent == place
    studio.json("DELETE", f"/api/tables/{table}")


@pytest.mark.parametrize("broken", ["kech.views.report.make_report", "kech.audit.publication.verify_release"])
def test_a_release_that_fails_at_last_leaves_nothing(tmp_path, monkeypatch, broken):
    def fail(*_, **__):
        raise OSError(28, "full")

    def publish(folder, **options):
        return kech.publish_release(made, folder, "same.csv", **options).to_json()

    def fail_to_publish(folder, **options):
        with monkeypatch.context() as patch, pytest.raises(CannotWrite, match="no space"):
            patch.setattr(broken, fail)
            publish(folder, **options)

    below = tmp_path / "below"
    first = below / "a" / "b"
    below.mkdir()
    with kech.read_table(pa.table({"age": [30] * 9}), quasi_identifiers=["age"]) as table:
        made = kech.make_release(table, k=3)
        fail_to_publish(first)
        assert list(below.iterdir()) == [] and kech.open_ledger().list_releases() == []
        assert publish(first)["ledger"]["verdict"] == "first"
        (known,) = kech.open_ledger().list_releases()
        fail_to_publish(below / "c", earlier=[first / "same.csv"], allow_composition=True)
        held = {entry["release"] for entry in kech.open_ledger().list_releases()}
        assert held == {known["release"]}  # the same file was handed out before
    assert len(list(first.iterdir())) == 4 and list(first.parent.iterdir()) == [first]
    assert list(below.iterdir()) == [below / "a"]


@pytest.fixture(scope="module")
def confined(tmp_path_factory):
    """A studio with a table, whose folder holds links out of it, and a file."""
    below = tmp_path_factory.mktemp("above") / "below"
    below.mkdir()
    (below / "link").symlink_to(below.parent)
    (below / "loop").symlink_to(below / "loop")
    (below / "file").write_text("")
    with running(below) as studio:
        yield studio, studio.open_nine(k=3), below


@pytest.mark.parametrize(
    "name",
    [
        "../out",
        "/tmp/out",
        "a/../../out",
        ".hidden",
        "",
        "a\\b",
        "link/out",
        "file",
        "x" * 300,
        "a\nb",
        "ü" * 199,
        "loop",
    ],
)
def test_a_release_stays_below_its_folder(confined, name):
    studio, table, below = confined
    ask = {"verb": "release", "options": {"folder": name}}
    before = sorted(below.parent.rglob("*"))
    assert studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["error"] == "BadTarget"
    assert sorted(below.parent.rglob("*")) == before and not Path("/tmp/out").exists()


def test_a_release_may_go_into_a_folder_below_another(confined):
    studio, table, below = confined
    assert Path(studio.ask(table, "release", folder="a/b")["file"]).parent == below / "a" / "b"
    (listed,) = [entry for entry in studio.json("GET", "/api/state")["releases"] if entry["folder"] == "a/b"]
    for name in listed["files"]:
        status, _, body = studio.send("GET", f"/api/releases/a%2Fb/{name}")
        assert status == 200 and body == (below / "a" / "b" / name).read_bytes()


def test_a_link_out_of_the_folder_shows_no_release_behind_it(confined):
    studio, table, below = confined
    released = Path(studio.ask(table, "release", folder="here")["file"])
    for file in released.parent.iterdir():
        shutil.copy(file, below.parent)
    assert studio.send("GET", f"/api/releases/here/{released.name}")[0] == 200
    for name in (released.name, "report.html"):
        for method in ("GET", "POST"):
            assert studio.json(method, f"/api/releases/link/{name}", status=422)["error"] == "BadTarget"


def test_nothing_proceeds_with_a_column_of_which_nobody_said_what_it_is(studio):
    table = studio.json("POST", "/api/examples/nine", b"", 201)["id"]
    ask = {"verb": "preview", "options": {}}
    assert "Columns without a role: all." in studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["message"]
    studio.give_roles(table, quasi_identifiers=["age"], sensitive=["salary"], release={"k": 2})
    assert "Columns without a role: 1." in studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["message"]
    studio.give_roles(table, dropped=["age", "zip", "salary"])
    assert studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["error"] == "NoQuasiIdentifier"
    studio.give_roles(table, quasi_identifiers=["age"], sensitive=["salary"], dropped=["zip"], release={"k": 2})
    assert studio.ask(table, "preview")["figures"]["k"] == 2


def test_reading_a_table_otherwise_and_back_neither_locks_nor_loosens_it(studio):
    rows = "".join(f"{20 + at},{100 + at},{at}\n" for at in range(9))
    table = studio.upload("nine.csv", f"age,zip,salary\n{rows}".encode())["id"]
    ask = {"verb": "preview", "options": {}}
    studio.give_roles(table, quasi_identifiers=["age", "zip"], sensitive=["salary"], release={"k": 3})
    plan = studio.json("GET", f"/api/tables/{table}")["plan"]
    wrong = plan | {"input": {"delimiter": ";"}, "axes": {"age,zip,salary": {"kind": "set"}}}
    studio.json("PUT", f"/api/tables/{table}", {"plan": wrong, "dropped": ["age,zip,salary"], "revision": 1})
    assert "Columns without a role: all." in studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["message"]
    assert len(studio.ask(table, "inspect")["columns"]) == 1
    assert studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["error"] == "NoQuasiIdentifier"
    right = {"plan": wrong | {"input": {}}, "dropped": ["age,zip,salary"], "revision": 2}
    told = studio.json("PUT", f"/api/tables/{table}", right)
    assert told["dropped"] == [] and "axes" not in told["plan"] and told["plan"]["columns"] == plan["columns"]
    assert studio.ask(table, "preview")["figures"]["k"] == 3
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_late_inspection_tells_nothing_about_another_reading(studio, monkeypatch):
    table = studio.upload("late.csv", b"age,zip,sex\n1,2,m\n3,4,f\n")["id"]
    studio.ask(table, "inspect")
    otherwise = {"plan": {"input": {"delimiter": ";"}}, "dropped": [], "revision": 0}
    studio.json("PUT", f"/api/tables/{table}", otherwise)
    run, held, ended = jobs.Lane.run, [True], []

    async def end_late(lane, job):
        await run(lane, job)
        while held:
            await asyncio.sleep(0.01)
        ended.append(job.id)

    monkeypatch.setattr(jobs.Lane, "run", end_late)
    late = studio.start(table, "inspect")["job"]
    roles = {"plan": {"columns": {"quasi_identifiers": ["age"]}}, "dropped": [], "revision": 1}
    studio.json("PUT", f"/api/tables/{table}", roles)
    held.clear()
    wait_for(lambda: ended == [late])
    found = studio.json("GET", f"/api/tables/{table}/jobs/{late}/result")
    assert [column["column"] for column in found["columns"]] == ["age,zip,sex"]
    ask = {"verb": "preview", "options": {}}
    assert "Columns without a role: 2." in studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["message"]
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_hierarchy_is_handed_in_checked_used_and_written_with_the_plan(studio, folder):
    table = studio.open_nine(k=3)
    ages = nine_rows()["age"].to_pylist()
    text = "".join(f"{age};{'young' if age < 35 else 'old'};*\n" for age in sorted(ages))
    name = studio.json("POST", f"/api/tables/{table}/trees?name=../../x.csv", text.encode(), 201)["hierarchy"]
    assert re.fullmatch(r"tree-\d+\.csv", name)
    assert studio.ask(table, "hierarchy", column="age", source=name)["levels"] == [9, 2, 1]
    assert studio.send("GET", f"/api/tables/{table}/trees/{name}")[2] == text.encode()
    assert studio.send("GET", f"/api/tables/{table}/trees/..%2f..%2fx")[0] == 404
    state = studio.json("GET", f"/api/tables/{table}")
    state["plan"].setdefault("axes", {})["age"] = {"hierarchy": name}
    wish = {"plan": state["plan"], "dropped": [], "revision": state["revision"]}
    assert studio.json("PUT", f"/api/tables/{table}", wish)["plan"]["axes"]["age"]["hierarchy"] == name
    found = studio.ask(table, "release", folder="with-tree")
    assert '"young"' in Path(found["file"]).read_text()
    private = folder / "with-tree" / "private" / name
    assert kech.read_request(found["plan"]).axes["age"].hierarchy == str(private) and found["private"] == [str(private)]
    assert private.stat().st_mode & 0o777 == 0o600 and private.read_text() == text


@pytest.mark.parametrize("hierarchy", ["/etc/passwd", "../tree-1.csv", "tree-9.csv"])
def test_no_path_of_a_page_is_read(studio, hierarchy):
    table = studio.upload("a.csv", b"age\n1\n")["id"]
    plan = {"columns": {"quasi_identifiers": ["age"]}, "axes": {"age": {"hierarchy": hierarchy}}}
    wish = {"plan": plan, "dropped": [], "revision": 0}
    assert studio.json("PUT", f"/api/tables/{table}", wish, 422)["error"] == "BadOption"
    ask = {"verb": "hierarchy", "options": {"column": "age", "source": hierarchy}}
    assert studio.json("POST", f"/api/tables/{table}/jobs", ask, 422)["error"] == "BadOption"
    studio.json("DELETE", f"/api/tables/{table}")


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"verb": 3}', b'{"verb": "nothing"}', b'{"verb": "inspect", "more": 1}', b"\xff"]
)
def test_a_question_that_makes_no_sense_is_refused(studio, body):
    table = studio.upload("a.csv", b"age\n1\n")["id"]
    assert studio.json("POST", f"/api/tables/{table}/jobs", body, 422)["exit_code"] == 2
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_name_with_odd_letters_becomes_a_plain_file(studio, folder):
    table = studio.upload("a%00b%0a%E2%80%AE.csv", write_csv(nine_rows(), folder / "odd.csv").read_bytes())["id"]
    studio.give_roles(table, quasi_identifiers=["age", "zip"], dropped=["salary"], release={"k": 9})
    assert Path(studio.ask(table, "release", folder="odd")["file"]).name == "ab.csv"
    studio.json("DELETE", f"/api/tables/{table}")


def test_pictures_are_drawn_and_unknown_options_and_tables_refused(studio):
    table = studio.open_nine()
    assert studio.ask(table, "barcode", 422, more=1)["error"] == "BadOption"
    assert studio.ask(table, "lattice", 422, node=[0, 99])["error"] == "NoSuchNode"
    assert studio.send("GET", "/api/tables/nothing")[0] == 404
    assert studio.send("GET", f"/tables/{table}/nothing")[0] == 404
    assert studio.json("POST", f"/api/tables/{table}/cells", [9], 422)["error"] == "BadOption"
    assert studio.ask(table, "picture", 422, of="nothing")["error"] == "BadOption"
    drawn = studio.ask(table, "picture", of="profile")["svg"]
    assert all(words in drawn for words in ("minimal cut", "local cut", "k = 5: at best, half of the rows can hide"))
    assert "isolates most: without it" in drawn  # before the columns are asked for
    assert "not computed" not in studio.ask(table, "picture", of="barcode", k=3)["svg"]
    for path in ("nothing/nine.csv", "..%2f/x", f"{table}/kech.toml"):
        assert studio.send("GET", f"/api/releases/{path}")[0] in (404, 422)
    assert studio.send("POST", "/api/examples/nothing", b"")[0] == 404
    studio.json("DELETE", f"/api/tables/{table}")


# -- tabs, jobs and limits -------------------------------------------------------------------------------


def test_a_plan_is_saved_and_loaded_as_a_file(studio):
    table = studio.open_nine(k=3, suppress=0.1)
    text = studio.send("GET", f"/api/tables/{table}/plan")[2]
    assert b"k = 3" in text and b"suppress = 0.1" in text
    told = studio.json("POST", f"/api/tables/{table}/plan", text)["plan"]
    assert told == studio.json("GET", f"/api/tables/{table}")["plan"]
    refusal = studio.json("POST", f"/api/tables/{table}/plan", b"k = ", 422)
    assert refusal["exit_code"] in (2, 3) and refusal["message"].startswith("Plan 'plan.toml': ")
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_table_is_opened_with_its_plan_and_hierarchies(tmp_path, run):
    table, plan, tree = tmp_path / "nine.csv", tmp_path / "kech.toml", tmp_path / "ages.csv"
    pc.write_csv(nine_rows(), table)
    tree.write_text("".join(f"{age};{'young' if age < 35 else 'old'};*\n" for age in nine_rows()["age"].to_pylist()))
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"], "k": 3}
    kech.write_request(kech.Request().override(**roles, axes={"age": {"hierarchy": str(tree)}}), plan)
    with running(tmp_path, table, plan) as studio:
        page = studio.send("GET", f"/?token={studio.token}", secret=False)[2].decode()
        studio.secret = re.search(r'name="kech-secret" content="([\w-]+)"', page)[1]
        opened = studio.json("GET", f"/api{re.search('/tables/[0-9a-f]+', page)[0]}")
        assert opened["plan"]["goal"]["k"] == 3 and opened["revision"] == 0
        assert opened["plan"]["columns"]["quasi_identifiers"] == ["age", "zip"]
        studio.ask(opened["id"], "inspect")
        assert studio.ask(opened["id"], "hierarchy", column="age")["levels"] == [9, 2, 1]
    assert "Name the table too" in run("studio", "--plan", plan).err


def test_a_question_about_a_plan_that_was_changed_is_refused(studio):
    table = studio.open_nine(k=3)
    asked = {"verb": "crowds", "options": {}, "revision": 0}
    assert studio.json("POST", f"/api/tables/{table}/jobs", asked, 409)["error"] == "Stale"
    studio.json("POST", f"/api/tables/{table}/jobs", asked | {"revision": 1})
    studio.json("DELETE", f"/api/tables/{table}")


def test_two_tabs_do_no_harm(studio):
    one, two = studio.open_nine(k=3), studio.open_nine(k=2)
    assert studio.ask(one, "preview")["figures"]["k"] == 3
    assert studio.ask(two, "preview")["figures"]["k"] == 2
    wish = {"plan": {"columns": {"quasi_identifiers": ["age"]}}, "dropped": ["zip", "salary"], "revision": 0}
    assert studio.json("PUT", f"/api/tables/{one}", wish, 409)["error"] == "Stale"
    assert studio.json("GET", f"/api/tables/{one}")["plan"]["goal"] == {"k": 3}
    for table in (one, two):
        studio.json("DELETE", f"/api/tables/{table}")


@pytest.mark.long
def test_the_same_question_is_the_same_job_and_a_cancelled_one_is_asked_again(studio, tmp_path):
    path = write_csv(generate_town(3000), tmp_path / "town.csv")
    table = studio.upload("town.csv", path.read_bytes())["id"]
    columns = generate_town(1).column_names
    studio.give_roles(table, quasi_identifiers=["age", "zip", "moved_in", "job"], dropped=set(columns))
    slow = {"k": [2, 5, 10, 20, 50], "cut": ["minimal"], "effort": "best"}
    job = studio.start(table, "spectrum", **slow)
    assert studio.start(table, "spectrum", **slow)["job"] == job["job"]  # a reload in the middle finds it again
    assert [other["job"] for other in studio.json("GET", f"/api/tables/{table}")["running"]] == [job["job"]]
    lattice = studio.ask(table, "lattice", k=[2])  # a quick question does not wait for a slow one
    assert lattice["best"]
    told = studio.json("DELETE", f"/api/tables/{table}/jobs/{job['job']}")
    assert told["state"] == "cancelled"
    result = studio.json("GET", f"/api/tables/{table}/jobs/{job['job']}/result", status=422)
    assert result["exit_code"] == 130
    again = studio.start(table, "spectrum", **slow)
    assert again["job"] != job["job"]
    studio.json("DELETE", f"/api/tables/{table}/jobs/{again['job']}")
    quick = studio.ask(table, "spectrum", k=[2], cut=["domain"])  # a new child takes over
    assert quick["spectrum"][0]["k"] == 2
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_question_that_takes_too_long_is_stopped(studio, monkeypatch):
    monkeypatch.setattr("kech.studio.workspace.READING", 0.05)
    table = studio.json("POST", "/api/examples/nine", b"", 201)["id"]
    assert "longer than" in studio.ask(table, "inspect", 422, rows=10)["message"]
    monkeypatch.undo()
    assert len(studio.ask(table, "inspect", rows=10)["first_rows"]) == 9


def test_a_table_that_blows_up_takes_only_its_child_down(studio, monkeypatch):
    table = studio.json("POST", "/api/examples/nine", b"", 201)["id"]
    monkeypatch.setattr("kech.studio.jobs.MEMORY", 100 << 20)
    assert studio.ask(table, "inspect", 422, rows=10)["exit_code"] == 5
    monkeypatch.undo()
    studio.json("DELETE", f"/api/tables/{table}")
    table = studio.json("POST", "/api/examples/nine", b"", 201)["id"]
    assert len(studio.ask(table, "inspect", rows=10)["first_rows"]) == 9
    studio.json("DELETE", f"/api/tables/{table}")


def test_a_job_that_is_cancelled_while_its_child_starts_ends_with_it(tmp_path):
    async def scene():
        lane, job = jobs.Lane(tmp_path), jobs.Job("inspect", b"{}", 20)
        start, children = lane.start, []

        async def cancelled_meanwhile():
            lane.cancel(job)
            children.append(await start())
            return children[0]

        lane.start = cancelled_meanwhile
        await lane.run(job)
        return job.state, children[0].returncode, lane.process

    state, code, left = asyncio.run(scene())
    assert state == "cancelled" and code == -signal.SIGKILL and left is None


def test_a_child_that_cannot_be_started_is_a_refusal(tmp_path):
    async def scene():
        job = jobs.Job("inspect", b"{}", 20)
        await jobs.Lane(tmp_path / "nowhere").run(job)
        return job

    job = asyncio.run(scene())
    assert job.state == "refused" and "no such file" in json.loads(job.body)["message"]


def test_only_so_many_tables_are_open(tmp_path, monkeypatch):
    monkeypatch.setattr("kech.studio.workspace.MOST_TABLES", 1)
    with running(tmp_path) as studio:
        studio.upload("a.csv", b"a\n1\n")
        assert "Close one" in studio.upload("b.csv", b"a\n1\n", 422)["message"]


def test_a_table_that_is_on_its_way_has_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr("kech.studio.workspace.MOST_TABLES", 1)
    with running(tmp_path) as studio:
        for whole in (False, True):
            way = socket.create_connection(("127.0.0.1", studio.port), 5)
            way.sendall(
                f"POST /api/tables?name=a.csv HTTP/1.1\r\nHost: {studio.host}\r\n"
                f"Authorization: Bearer {studio.secret}\r\nContent-Length: 4\r\n\r\na\n".encode()
            )
            wait_for(lambda: list(studio.entry.folder.rglob("table.csv")))
            assert "Close one" in studio.json("POST", "/api/examples/nine", b"", 422)["message"]
            if whole:
                way.sendall(b"1\n")
                assert b" 201 " in way.recv(100)
            way.close()
            if not whole:
                wait_for(lambda: not list(studio.entry.folder.iterdir()))
        (table,) = studio.json("GET", "/api/state")["tables"]
        assert table["name"] == "a.csv"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no disk that is always full")
def test_an_upload_that_finds_no_space_leaves_nothing_and_takes_no_place(tmp_path, monkeypatch):
    monkeypatch.setattr("kech.studio.workspace.MOST_TABLES", 1)
    with running(tmp_path) as studio:
        with monkeypatch.context() as patch:
            patch.setattr("kech.studio.workspace.open_private", lambda *_: os.open("/dev/full", os.O_WRONLY))
            refused = studio.upload("a.csv", b"a\n1\n", 422)
        assert refused["error"] == "CannotWrite" and "no space" in refused["message"]
        assert list(studio.entry.folder.iterdir()) == []
        studio.upload("a.csv", b"a\n1\n")


def test_a_long_name_is_a_refusal(studio, folder):
    table = studio.upload("%C3%BC" * 130 + ".csv", b"age\n" + b"1\n" * 9)["id"]
    studio.give_roles(table, quasi_identifiers=["age"], release={"k": 3})
    assert studio.ask(table, "release", 422, folder="long")["error"] == "CannotWrite"
    assert not (folder / "long").exists()
    studio.json("DELETE", f"/api/tables/{table}")


# -- what is left behind ---------------------------------------------------------------------------------


@pytest.fixture
def started(tmp_path):
    """The command itself, with a table of canaries."""
    (tmp_path / "t").mkdir()
    people = tmp_path / "people.csv"
    people.write_text(f"name,age\n{CANARY},1\n{CANARY},2\n")
    words = [sys.executable, "-m", "kech", "studio", str(people), "--no-browser", "-o", str(tmp_path)]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup a suite is deaf to it, and so are its children
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path / "t")},
    )
    address = process.stdout.readline().strip()
    yield process, Studio(address), tmp_path / "t"
    process.kill()
    process.communicate()


def test_the_command_prints_one_address_and_leaves_nothing_behind(started):
    process, studio, temporary = started
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{20,}", studio.address)
    (table,) = studio.json("GET", "/api/state")["tables"]
    studio.ask(table["id"], "inspect", rows=10)
    studio.give_roles(table["id"], quasi_identifiers=["age"], identifiers=["name"], release={"k": 5})
    assert CANARY not in json.dumps(studio.ask(table["id"], "preview", 422))
    studio.start(table["id"], "spectrum", k=[2])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    held = [int(child) for child in children.read_text().split()] if children.exists() else []
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert err == "" and CANARY not in out
    assert list(temporary.iterdir()) == []
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in held))


@pytest.mark.parametrize("name", ["SIGTERM", *further(["SIGHUP"])])
def test_the_end_of_the_terminal_leaves_nothing_behind(started, name):
    process, studio, temporary = started
    (table,) = studio.json("GET", "/api/state")["tables"]
    studio.ask(table["id"], "inspect", rows=10)
    assert list(temporary.iterdir())
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=20)
    assert err == "" and list(temporary.iterdir()) == []


@pytest.mark.parametrize("is_used", [*further([False]), True])
def test_ctrl_c_pressed_again_and_again_leaves_nothing_behind(started, is_used):
    """The server was forced to end, and tables that were handed over stayed; or Python was, and said so."""
    process, studio, temporary = started
    if is_used:
        (table,) = studio.json("GET", "/api/state")["tables"]
        studio.ask(table["id"], "inspect", rows=10)
        assert list(temporary.iterdir())
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    assert (process.returncode, process.stderr.read(), list(temporary.iterdir())) == (0, "", [])


def test_children_do_not_outlive_a_studio_that_was_killed(started):
    process, studio, _ = started
    (table,) = studio.json("GET", "/api/state")["tables"]
    studio.ask(table["id"], "inspect", rows=10)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        pytest.skip("the system does not list the children of a process")
    held = children.read_text().split()
    assert held
    process.kill()
    wait_for(lambda: not any(alive(child) for child in held))


def alive(process):
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_address_can_be_printed_as_json(tmp_path):
    words = [sys.executable, "-m", "kech", "studio", "--no-browser", "--json", "-o", str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    said = json.loads(process.stdout.readline())
    process.terminate()
    process.communicate(timeout=20)
    assert said["address"].startswith("http://127.0.0.1:") and said["folder"] == str(tmp_path)


def test_what_cannot_be_served_is_refused(run, tmp_path):
    assert run("studio", tmp_path / "nothing.csv", "--no-browser", "--json").json["error"] == "NoSuchFile"
    assert run("studio", "--no-browser", "-o", tmp_path / "nothing", "--json").json["error"] == "BadTarget"
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        taken = run("studio", "--no-browser", "--port", str(held.getsockname()[1]), "--json")
    assert taken.json["error"] == "BadOption"


def test_no_thread_is_left(studio):
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("waitpid") and not thread.daemon]


def test_the_pages_are_whole_and_never_read_markup():
    pages = Path(kech.__file__).parent / "studio" / "pages"
    texts = {page.name: page.read_text("utf-8") for page in pages.iterdir()}
    scripts = {name: text for name, text in texts.items() if name.endswith(".js")}
    linked = {name for text in texts.values() for name in re.findall(r'/static/([\w.]+)"', text)}
    imported = {name for text in scripts.values() for name in re.findall(r'from "\./([\w.]+)"', text)}
    assert linked | imported <= set(texts)
    reading = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://(?!www\.w3\.org)"
    assert not [name for name, text in scripts.items() if re.search(reading, text)]


def test_one_language_of_colours(tmp_path, run, monkeypatch):
    """Orange exposed, blue hidden, red given away, in the studio, pictures, report, notebook and terminal."""
    folder = Path(kech.__file__).parent
    css, pictures, cuts = (
        (folder / name).read_text("utf-8")
        for name in ("studio/pages/base.css", "views/pictures/picture.py", "views/pictures/spectrum.py")
    )
    drawn = re.search(r'BAR, DEEP, ORANGE, RED = "#\w+", "(#\w+)", "(#\w+)", "(#\w+)"', pictures).groups()
    assert (
        tuple(re.search(rf"--{name}: light-dark\((#\w+)", css)[1] for name in ("hidden", "exposed", "given")) == drawn
    )
    assert not set(re.findall("#\\w{6}", cuts.partition("COLOURS")[2].partition("\n")[0])) & {*drawn, "#767676"}
    (tmp_path / "four.csv").write_text("age,ill\n20,yes\n21,yes\n40,no\n41,yes\n")
    with kech.read_table(tmp_path / "four.csv", quasi_identifiers=["age"], sensitive=["ill"]) as table:
        release = kech.make_release(table, k=2, grid="exact", protect="none")
        release.write(tmp_path / "safe.csv", ledger=False)
    assert f'<div style="background:{drawn[2]};color:#fff;padding:2px 6px;font-weight:600">50' in release._repr_html_()
    assert '<span class="given">' in kech.make_report(tmp_path / "safe.csv").html
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    words = ("--qi", "age", "--sensitive", "ill", "--k", "2", "--grid", "exact", "--protect", "none", "--no-ledger")
    told = run("release", tmp_path / "four.csv", *words, "-o", tmp_path / "again.csv").out
    assert "\x1b[31mWarning:\x1b[0m" in told


def test_a_table_of_frames_has_rows_to_show():
    with kech.read_table(pa.table({"a": [1, None], "b": ["x", "y"]})) as table:
        assert table.head(1) == [["1", "x"]]
        assert table.head() == [["1", "x"], [None, "y"]]


@pytest.mark.long
def test_the_field_of_a_plan_is_left_to_its_own_cut(studio):
    table = studio.open_nine(k=3, cut="regime", reading="homological", field=3)
    found = studio.ask(table, "spectrum", k=[3], cut=["local", "domain"])
    assert [row["cut"] for row in found["spectrum"]] == ["local", "domain"]
    assert studio.ask(table, "preview", cut="local")["figures"]["k"] >= 3
    studio.json("DELETE", f"/api/tables/{table}")


def test_pages_are_told_the_fields_of_a_plan_and_the_endings_of_files(studio):
    told = studio.json("GET", "/api/fields")
    endings = told.pop("endings")
    assert told == json.loads(json.dumps(reference.describe_forms()))
    assert endings["written"] == [".csv", ".parquet"]
    assert {*endings["written"], *endings["text"]} < {*endings["read"]}


# -- people ----------------------------------------------------------------------------------------------


def open_visits(studio, tmp_path, **release):
    """Visits whose person is named."""
    path = write_csv(visits(), tmp_path / "visits.csv")
    table = studio.upload(path.name, path.read_bytes())["id"]
    roles = {"quasi_identifiers": ["age", "zip"], "person": ["patient"]}
    studio.give_roles(table, release={"effort": "quick"} | release, **roles)
    return table


def test_where_a_person_is_named_answers_count_people(studio, tmp_path, folder):
    table = open_visits(studio, tmp_path, k=4)
    found = studio.ask(table, "spectrum", k=[1], cut=["domain"])
    assert (found["rows"], found["counted"], found["people"]) == (120, "people", 60)
    refused = studio.ask(table, "spectrum", status=422, k=[61], cut=["domain"])
    assert refused["error"] == "TooFewPeople" and "the table has 60 people" in refused["message"]
    (first, *_) = studio.ask(table, "preview")["words"]
    assert re.match(r"Every row hides among rows of at least \d+ different people \(stated by the maker\):", first)
    written = studio.ask(table, "release", folder="visits-k4")
    assert written["stated"] == json.loads(Path(written["certificate"]).read_text())["stated"]
    assert written["stated"]["k"] >= 4 and written["stated"]["people"] == 60 and "histories" not in written
    studio.json("DELETE", f"/api/tables/{table}")


def test_rows_are_counted_where_nobody_is_named(studio):
    table = studio.open_nine(k=3)
    assert studio.ask(table, "spectrum", k=[1], cut=["domain"])["counted"] == "rows"
    assert studio.ask(table, "preview")["words"][0].startswith("Every row hides among at least 3 rows:")
    studio.json("DELETE", f"/api/tables/{table}")


@pytest.mark.long
def test_the_price_of_histories_is_told_before_the_search(studio, tmp_path, run):
    table = open_visits(studio, tmp_path, k=4, protect_history=True)
    told = studio.ask(table, "preview", price=True)
    assert told["price"]["people"] == 60 and told["price"]["rows"] == 120 and told["price"]["most_rows"] == 3
    assert told["words"][0] == "60 people have 120 rows; the longest history has 3 rows." and told["figures"] is None
    found = studio.ask(table, "preview")
    assert found["price"] == told["price"] and "at least 4 people with all of their rows" in found["words"][0]
    words = ["--qi", "age", "zip", "--person", "patient", "--k", "4", "--protect-history", "--effort", "quick"]
    assert run("preview", tmp_path / "visits.csv", *words, "--json").json == found
    written = studio.ask(table, "release", folder="visits-histories")
    assert written["histories"]["k"] >= 4 and written["histories"]["people"] == 60
    studio.json("DELETE", f"/api/tables/{table}")


@pytest.mark.long
def test_the_spectrum_of_a_plan_with_histories_compares_rows(studio, tmp_path):
    table = open_visits(studio, tmp_path, k=4, protect_history=True)
    rows = studio.ask(table, "spectrum", k=[4], cut=["local", "domain"])["spectrum"]
    assert [row["cut"] for row in rows] == ["local", "domain"]
    plane = {"rows": 0, "on": ["age", "zip"], "k": 4, "cut": "domain"}
    assert studio.ask(table, "preview", protect_history=False, **plane)["plane"]["classes"] == rows[1]["classes"]
    assert "keeps the rows of a person together" in studio.ask(table, "preview", status=422, **plane)["message"]
    studio.json("DELETE", f"/api/tables/{table}")


def test_histories_need_a_person_and_a_cut_that_keeps_them(studio, tmp_path):
    table = open_visits(studio, tmp_path, k=4)
    state = studio.json("GET", f"/api/tables/{table}")

    def refuse(plan):
        wish = {"plan": plan, "dropped": [], "revision": state["revision"]}
        return studio.json("PUT", f"/api/tables/{table}", wish, status=422)["message"]

    goal = {"k": 4, "protect_history": True}
    assert "only --cut local" in refuse(state["plan"] | {"goal": goal, "cut": {"cut": "domain"}})
    studio.give_roles(table, ["patient"], quasi_identifiers=["age", "zip"], release=goal)
    assert "Name the column: --person" in studio.ask(table, "preview", status=422, price=True)["message"]
    studio.json("DELETE", f"/api/tables/{table}")
