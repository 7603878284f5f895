"""The security probe: seventeen checks of a studio from outside, and for each a planted fault that it must see."""

import importlib
import json
import re
import socket
import subprocess
import threading
import types
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")
pytest.importorskip("uvicorn", reason="the extra `studio` is not installed")

import studios
from studios import Studio, wait_for

CELL = "<script>window.hacked=1</script>"
STATE = "/api/state"


def header(name):
    """The value of a header of the page that data is asked by."""
    return lambda studio: studio.send("GET", STATE)[1].get(name, "")


def shows_no_cell(studio):
    """Cells come as JSON only; pages run no script of their own, and hold no cell."""
    table = studio.upload("cells.csv", f"age,{CELL}\n1,{CELL}\n".encode())["id"]
    job = studio.start(table, "inspect", rows=1)["job"]
    _, headers, cells = studio.send("GET", f"/api/tables/{table}/jobs/{job}/result")
    pages = [studio.send("GET", path)[2] for path in ("/", f"/tables/{table}", "/?token=spent")]
    scripts = [script for page in pages for script in re.findall(rb"<script[^>]*>[^<]*", page)]
    assert CELL in json.dumps(json.loads(cells))
    return (
        headers["content-type"] == "application/json"
        and not any(b"hacked" in page for page in pages)
        and {script.partition(b" src=")[2] for script in scripts} == {b'"/static/main.js">'}
    )


def refuses_oversized_upload(studio):
    """A length that is too large is refused before the body comes."""
    with socket.create_connection(("127.0.0.1", studio.port), 5) as connection:
        start = f"POST /up HTTP/1.1\r\nHost: {studio.host}\r\nAuthorization: Bearer {studio.secret}\r\n"
        connection.sendall(f"{start}Content-Length: 5000000000\r\n\r\n".encode())
        connection.settimeout(5)
        return b" 413 " in connection.recv(100)


def other_addresses():
    """Addresses of this machine that other machines could reach."""
    told = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
    return [address for address in told if re.fullmatch(r"[\d.]+", address) and not address.startswith("127.")]


def is_reachable(address, port):
    with socket.socket() as other:
        other.settimeout(1)
        return other.connect_ex((address, port)) == 0


def is_first_page(studio, query):
    """Whether a query changes nothing: the answer is the first page, and no file."""
    return studio.send("GET", f"/?{query}")[2] == studio.send("GET", "/")[2]


CHECKS = {
    "no secret": lambda studio: studio.send("GET", STATE, secret=False)[0] == 401,
    "wrong secret": lambda studio: (
        studio.send("GET", STATE, secret=False, headers={"Authorization": "Bearer x"})[0] == 401
    ),
    "right secret": lambda studio: studio.send("GET", STATE)[0] == 200,
    "evil host": lambda studio: studio.send("GET", STATE, host=f"evil.example:{studio.port}")[0] == 421,
    "other origin": lambda studio: (
        studio.send("POST", "/run", b"", headers={"Origin": "http://evil.example"})[0] == 403
    ),
    "origin null": lambda studio: studio.send("POST", "/run", b"", headers={"Origin": "null"})[0] == 403,
    "no sharing with other origins": lambda studio: not header("access-control-allow-origin")(studio),
    "no inline script": lambda studio: (
        "default-src 'none'" in header("content-security-policy")(studio)
        and "unsafe" not in header("content-security-policy")(studio)
    ),
    "no frame": lambda studio: "frame-ancestors 'none'" in header("content-security-policy")(studio),
    "no sniffing": lambda studio: header("x-content-type-options")(studio) == "nosniff",
    "no cache": lambda studio: "no-store" in header("cache-control")(studio),
    "no referrer": lambda studio: header("referrer-policy")(studio) == "no-referrer",
    "cells are no markup": shows_no_cell,
    "path upwards": lambda studio: (
        is_first_page(studio, "f=../../../../etc/hostname") and studio.send("GET", "/static/..%2fguard.py")[0] == 404
    ),
    "whole path": lambda studio: (
        is_first_page(studio, "f=/etc/hostname") and studio.send("GET", "/static/%2fetc%2fhostname")[0] == 404
    ),
    "oversized upload": refuses_oversized_upload,
    "this machine only": lambda studio: not any(is_reachable(one, studio.port) for one in other_addresses()),
}
SERVED_FILE = """async def static(request: Request) -> Response:
        if request.path_params["file"] not in files:
            raise HTTPException(404)
        body, kind = files[request.path_params["file"]]"""
ANY_FILE = """async def static(request: Request) -> Response:
        body, kind = (PAGES / request.path_params["file"]).read_bytes(), "text/plain\""""
ANY_PATH = ('Route("/static/{file}", static)', 'Route("/static/{file:path}", static)')
TAKES_LENGTH = """> MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return None"""
FAULTS = {
    "no secret": ("guard", ("if not self.has_secret(headers):", "if False:")),
    "wrong secret": ("guard", ("if not self.has_secret(headers):", 'if "authorization" not in headers:')),
    "right secret": ("guard", ('return scheme == "Bearer" and', "return False and")),
    "evil host": ("guard", ("if headers.getlist(", "if False and headers.getlist(")),
    "other origin": ("guard", ("foreign = origins and", 'foreign = origins == ["null"] and')),
    "origin null": ("guard", ("foreign = origins and", 'foreign = origins != ["null"] and origins and')),
    "no sharing with other origins": ("guard", ("HEADERS = {", 'HEADERS = {"access-control-allow-origin": "*",')),
    "no inline script": ("guard", ("script-src 'self'", "script-src 'self' 'unsafe-inline'")),
    "no frame": ("guard", (" frame-ancestors 'none';", "")),
    "no sniffing": ("guard", ('"nosniff"', '"sniff"')),
    "no cache": ("guard", ('"no-store"', '"private"')),
    "no referrer": ("guard", ('"referrer-policy": "no-referrer"', '"referrer-policy": "unsafe-url"')),
    "cells are no markup": ("routes", ('422, media_type="application/json"', '422, media_type="text/html"')),
    "path upwards": ("routes", (SERVED_FILE, ANY_FILE), ANY_PATH),
    "whole path": ("routes", (SERVED_FILE, ANY_FILE), ANY_PATH),
    "oversized upload": ("guard", (TAKES_LENGTH, "< 0:\n            pass\n        return None")),
    "this machine only": ("server", ('.bind(("127.0.0.1", port))', '.bind(("0.0.0.0", port))')),
}  # a module of the studio, what it says, and what it must not say


@contextmanager
def probed(folder, fault=None):
    """A studio to be probed; with a fault in its source."""
    made = with_fault(*fault) if fault else studios
    held = made.bind(0)
    served, entry = made.make_server(None, folder, held)
    thread = threading.Thread(target=served.run, kwargs={"sockets": [held]}, daemon=True)
    thread.start()
    wait_for(lambda: served.started)
    try:
        yield Studio(entry.address)
    finally:
        served.should_exit = True
        thread.join(15)


def with_fault(name, *changes):
    """The module `server` over a module of the studio that says something else; nothing is changed on disk."""
    modules = {}
    for one in dict.fromkeys((name, "server")):
        found = importlib.import_module(f"kech.studio.{one}")
        text = Path(found.__file__).read_text("utf-8")
        for said, planted in changes if one == name else ():
            assert said in text
            text = text.replace(said, planted)
        modules[one] = types.ModuleType(found.__name__)
        modules[one].__file__ = found.__file__
        exec(compile(text, found.__file__, "exec"), vars(modules[one]))
    made = modules["server"]
    for public in ("Guard", "make_app", "hand_over"):
        if public in vars(modules[name]) and public in vars(made):
            setattr(made, public, vars(modules[name])[public])
    return made


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with probed(tmp_path_factory.mktemp("probed")) as made:
        yield made


def test_the_probe_has_seventeen_checks_each_with_a_fault():
    assert len(CHECKS) == 17 and CHECKS.keys() == FAULTS.keys()


@pytest.mark.parametrize("name", CHECKS)
def test_security_probe(studio, name):
    assert CHECKS[name](studio)


@pytest.mark.parametrize("name", FAULTS)
def test_the_probe_sees_a_planted_fault(tmp_path, name):
    if name == "this machine only" and not other_addresses():
        pytest.skip("this machine has no address that others could reach")
    with probed(tmp_path, FAULTS[name]) as faulty:
        if name == "right secret":
            faulty.secret = "unknown"
        assert not CHECKS[name](faulty)
