"""Guard: who may ask, checked before any route is looked up; and what every answer says to the browser.

The one-time address hands over a secret, once.  Every request for data carries that secret in a header.  No cookie is
set or read: a browser sends cookies to every port of a host, so to the servers of other users too.
"""

import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kech.studio.entry import OneTimeAddress

MOST_BYTES = 1 << 29  # of an upload
SAFE = ("GET", "HEAD")
WEB = 80  # the port that browsers do not name
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PUBLIC = ("/static/", "/tables/", "/reports/")  # pages and scripts of kech without data; reports at secret addresses
NO_SECRET = (
    "This tab may not see the tables of this studio. Go back to the tab in which the studio opened, or duplicate that "
    "tab. If it is closed, end kech studio with Ctrl-C and start it again.\n"
)
PAGES = Path(__file__).parent / "pages"
SHELL = (PAGES / "studio.html").read_text("utf-8")
HEAD = SHELL.partition('<link rel="stylesheet" href="/static/screen.css">')[0]  # of a page without the screen
SPENT = f"{HEAD}</head>\n<body>\n{(PAGES / 'expired.html').read_text('utf-8')}</body>\n</html>\n"


class Guard:
    """Host, secret, origin and size of every request; headers of every answer; no fault is told in full."""

    def __init__(self, app: ASGIApp, entry: OneTimeAddress, hand_over: Callable[[str], Response]) -> None:
        self.app, self.entry, self.hand_over = app, entry, hand_over
        self.secret = secrets.token_urlsafe(32)
        name, _, port = entry.host.partition(":")
        self.names = [entry.host, name] if int(port) == WEB else [entry.host]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on; what is neither HTTP nor the server's own start and end is not answered."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self.answer(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            answer = self.check(scope)
            await (answer or self.app)(scope, limit_body(receive), with_headers)
        except HTTPException as refused:
            await PlainTextResponse(refused.detail, refused.status_code)(scope, receive, with_headers)
        except Exception:  # a traceback would show cells
            if not started:
                await PlainTextResponse("kech studio: an internal fault.\n", 500)(scope, receive, with_headers)

    def check(self, scope: Scope) -> Response | None:
        """None where the request may pass; the page with the secret for the one-time address; else refused."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        if headers.getlist("host") not in [[name] for name in self.names]:
            raise HTTPException(421, "kech studio answers to its own address only.\n")
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if path == "/" and method == "GET" and "token" in query:
            return self.enter(query["token"][0], headers)
        if is_public(method, path):
            return None
        if not self.has_secret(headers):
            raise HTTPException(401, NO_SECRET)
        origins = headers.getlist("origin")
        foreign = origins and origins not in [[f"http://{name}"] for name in self.names]
        if foreign or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise HTTPException(403, "kech studio does not answer to other pages.\n")
        if int(headers.get("content-length", "0")) > MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return None

    def enter(self, token: str, headers: Headers) -> Response:
        """The one-time address is answered once, with the secret; a browser that only reads ahead spends nothing."""
        if "prefetch" in headers.get("sec-purpose", ""):
            raise HTTPException(503, "kech studio answers no prefetch. Open the address yourself.\n")
        if not self.entry.use_token(token):
            return HTMLResponse(SPENT, 410)
        return self.hand_over(self.secret)

    def has_secret(self, headers: Headers) -> bool:
        """Whether the request carries the secret, compared in constant time."""
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        return scheme == "Bearer" and secrets.compare_digest(secret.encode(), self.secret.encode())


def is_public(method: str, path: str) -> bool:
    """Whether a path needs no secret in a header: pages and scripts of kech, and what is secret itself."""
    return method in SAFE and (path == "/" or path.startswith(PUBLIC))


TOO_LARGE = f"The file is larger than {MOST_BYTES >> 20} MB. Use the command line: kech release TABLE.\n"


def limit_body(receive: Receive) -> Receive:
    """A body whose length was not told is counted while it comes."""
    seen = 0

    async def receive_counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message

    return receive_counted
