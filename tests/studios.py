"""A studio for tests: a server in a thread of this process, and a client that is no browser."""

import asyncio
import http.client
import json
import re
import threading
import time
from contextlib import contextmanager

import msgspec

import kech
from kech.studio.server import bind, make_server


class Studio:
    """A running studio, asked with its secret; the one-time address is opened when the secret is first needed."""

    def __init__(self, address):
        self.address = address
        self.host, _, self.token = address.removeprefix("http://").partition("/?token=")
        self.port = int(self.host.rpartition(":")[2])
        self._secret = None

    @property
    def secret(self):
        """What the one-time address hands over."""
        if self._secret is None:
            status, _, page = self.send("GET", f"/?token={self.token}", secret=False)
            assert status == 200, page
            self._secret = re.search(rb'<meta name="kech-secret" content="([\w-]+)"', page)[1].decode()
        return self._secret

    @secret.setter
    def secret(self, handed):
        """A browser opened the address."""
        self._secret = handed

    def send(self, method, path, body=None, headers=None, host=None, secret=True):
        """Status, headers and body; `body` is bytes, or an object for JSON."""
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.secret}"} if secret else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host=True)
        for name, value in ({"Host": host or self.host} | sent | (headers or {})).items():
            connection.putheader(name, value)
        if raw is not None:
            connection.putheader("Content-Length", str(len(raw)))
        connection.endheaders(raw)
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        found = answer.status, told, answer.read()
        connection.close()
        return found

    def json(self, method, path, body=None, status=200):
        """The object of an answer of this status."""
        got, _, raw = self.send(method, path, body)
        assert got == status, raw
        return json.loads(raw)

    # -- the way of a user -------------------------------------------------------------------------------

    def upload(self, name, body, status=201):
        """Hand a file over."""
        return self.json("POST", f"/api/tables?name={name}", body, status)

    def start(self, table, verb, **options):
        """Ask, without waiting."""
        return self.json("POST", f"/api/tables/{table}/jobs", {"verb": verb, "options": options})

    def ask(self, table, verb, status=200, **options):
        """Ask, and wait for the answer."""
        job = self.start(table, verb, **options)["job"]
        return self.json("GET", f"/api/tables/{table}/jobs/{job}/result", status=status)

    def give_roles(self, table, dropped=(), axes=None, release=None, **roles):
        """Say what every column is for."""
        state = self.json("GET", f"/api/tables/{table}")
        self.ask(table, "inspect", costs=False)
        plan = msgspec.to_builtins(kech.Request().override(**roles, axes=axes or {}, **release or {}))
        wish = {"plan": plan, "dropped": list(dropped), "revision": state["revision"]}
        return self.json("PUT", f"/api/tables/{table}", wish)

    def open_nine(self, **release):
        """The paper's nine rows with their roles."""
        table = self.json("POST", "/api/examples/nine", b"", 201)["id"]
        self.give_roles(table, quasi_identifiers=["age", "zip"], sensitive=["salary"], release=release)
        return table


@contextmanager
def running(folder, table=None, plan=None):
    """A studio that writes below a folder."""
    held = bind(0)
    server, entry = make_server(table, folder, held, plan)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [held]}, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    studio = Studio(entry.address)
    studio.entry, studio.routes = entry, server.config.app.app.routes
    try:
        yield studio
    finally:
        server.should_exit = True
        thread.join(15)
        assert not thread.is_alive()


class Address:
    """What a server asks of its socket: the port."""

    def __init__(self, port):
        self.port = port

    def getsockname(self):
        return "127.0.0.1", self.port


class Unserved:
    """A studio on a port that nobody else may take, asked without a socket."""

    def __init__(self, folder, port):
        server, entry = make_server(None, folder, Address(port))
        self.app, self.host = server.config.app, entry.host
        page = self.ask("GET", f"token={entry.token}", {"host": self.host})[1]
        self.secret = re.search(rb'<meta name="kech-secret" content="([\w-]+)"', page)[1].decode()

    def ask(self, method, query, headers, path="/"):
        """Status and body."""
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": raw}
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])

    def post(self, **headers):
        """The status of a request that changes something, with the secret."""
        return self.ask("POST", "", {"authorization": f"Bearer {self.secret}"} | headers, "/x")[0]


def wait_for(holds, seconds=15.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
