"""Server: one socket on this machine, one address with a token, until it is interrupted."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from kech.errors import BadOption, NoSuchFile
from kech.studio.desk import Desk
from kech.studio.guard import Guard
from kech.studio.routes import make_app

GRACE = 2  # seconds for answers on their way when the studio ends


def serve(table: Path | None, folder: Path, port: int, announce: Callable[[str], None]) -> None:
    """Bind first, so that the address that is told is the one that answers."""
    with bind(port) as held:
        server, address = make_server(table, folder, held)
        with ended_by_the_terminal(server), suppress(KeyboardInterrupt):
            announce(address)
            server.run(sockets=[held])


@contextmanager
def ended_by_the_terminal(server: uvicorn.Server) -> Iterator[None]:
    """The end of the terminal ends the server as an interrupt does, unless it is to be ignored (nohup)."""
    heard = threading.current_thread() is threading.main_thread()
    if not heard or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGHUP, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def make_server(table: Path | None, folder: Path, held: socket.socket) -> tuple[uvicorn.Server, str]:
    """A server for a socket, silent because a log could show cells; and the address that opens it."""
    if table is not None and not table.is_file():
        raise NoSuchFile(table)
    desk = Desk(folder)
    home = f"/tables/{desk.open_file(table).id}/open" if table is not None else "/open"
    guard = Guard(make_app(desk), held.getsockname()[1], home)
    settings = uvicorn.Config(
        guard, log_config=None, log_level="critical", access_log=False, server_header=False, ws="none",
        lifespan="on", timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    return uvicorn.Server(settings), f"http://{guard.host}/?token={guard.token}"


def bind(port: int) -> socket.socket:
    """A socket that only this machine reaches; 0 is any free port."""
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind(("127.0.0.1", port))
        held.listen()  # who comes before the server is ready waits
    except (OSError, OverflowError):
        held.close()
        raise BadOption("--port", "it is taken or cannot be used. Leave it away for a free one.") from None
    return held
