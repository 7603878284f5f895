"""Guard: who may ask, checked before any route is looked up; and what every answer says to the browser."""

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
NO_TOKEN = (
    "kech studio: this page opens only with the address that `kech studio` printed, and that address opens once. "
    "Start kech studio again for a new one.\n"
)


class Guard:
    """Host, token, origin and size of every request; headers of every answer; no fault is told in full."""

    def __init__(self, app: ASGIApp, port: int, home: str) -> None:
        self.app, self.home = app, home
        self.token, self.visit = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.opened = False  # the address was used
        self.host = f"127.0.0.1:{port}"
        self.names = [self.host, "127.0.0.1"] if port == WEB else [self.host]
        self.cookie = f"kech-{port}"  # cookies are shared by all ports of a host

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
                    headers[name] = value
            await send(message)

        try:
            answer = self.check(scope)
            await (answer or self.app)(scope, limited(receive), with_headers)
        except HTTPException as refused:
            await PlainTextResponse(refused.detail, refused.status_code)(scope, receive, with_headers)
        except Exception:  # a traceback would show cells
            if not started:
                await PlainTextResponse("kech studio: an internal fault.\n", 500)(scope, receive, with_headers)

    def check(self, scope: Scope) -> Response | None:
        """None where the request may pass; the answer where the address was opened; else refused."""
        headers, method = Headers(scope=scope), scope["method"]
        if headers.getlist("host") not in [[name] for name in self.names]:
            raise HTTPException(421, "kech studio answers to its own address only.\n")
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["path"] == "/" and method == "GET" and list(query) == ["token"]:
            return self.enter(query["token"][0], headers)
        by_cookie, (scheme, _, token) = self.has_cookie(headers), headers.get("authorization", "").partition(" ")
        if not by_cookie and not (scheme == "Bearer" and self.is_token(token)):
            raise HTTPException(401, NO_TOKEN)
        origins = headers.getlist("origin")
        foreign = origins and origins not in [[f"http://{name}"] for name in self.names]
        unsure = by_cookie and not origins and method not in SAFE
        if foreign or unsure or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise HTTPException(403, "kech studio does not answer to other pages.\n")
        if int(headers.get("content-length", "0")) > MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return None

    def enter(self, token: str, headers: Headers) -> Response:
        """The printed address opens once, and leaves a cookie in place of its token."""
        fresh = not self.opened and self.is_token(token)
        if not fresh and not self.has_cookie(headers):
            raise HTTPException(401, NO_TOKEN)
        answer = RedirectResponse(self.home, 303)
        if fresh:
            self.opened = True
            answer.set_cookie(self.cookie, self.visit, httponly=True, samesite="strict", path="/")
        return answer

    def has_cookie(self, headers: Headers) -> bool:
        """Whether the request carries the cookie that the address left."""
        try:
            held = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return held is not None and secrets.compare_digest(held.value.encode(), self.visit.encode())

    def is_token(self, text: str) -> bool:
        """Compared in constant time."""
        return secrets.compare_digest(text.encode(), self.token.encode())


TOO_LARGE = f"The file is larger than {MOST_BYTES >> 20} MB. Use the command line: kech release TABLE.\n"


def limited(receive: Receive) -> Receive:
    """A body whose length was not told is counted while it comes."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message

    return counted
