"""Server: one socket on this machine, one address that opens once, until it is interrupted."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import uvicorn

from kech.errors import BadOption, NoSuchFile
from kech.studio.entry import OneTimeAddress
from kech.studio.guard import Guard
from kech.studio.routes import hand_over, make_app
from kech.studio.workspace import Workspace
from kech.system.console import ignore_interrupts
from kech.system.machine import STOP_SIGNALS

GRACE = 2  # seconds for answers on their way when the studio ends


def serve(
    table: Path | None, plan: Path | None, folder: Path, port: int, announce: Callable[[OneTimeAddress], None]
) -> None:
    """Serve a studio until it is interrupted; the port is bound before its address is told."""
    with bind(port) as server_socket:
        server, entry = make_server(table, folder, server_socket, plan)
        with end_on_signals(server):
            announce(entry)
            server.run(sockets=[server_socket])
        ignore_interrupts()


class OnceInterruptedServer(uvicorn.Server):
    """A server that ignores a second Ctrl-C, so that uploaded tables are always deleted."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Once is enough."""
        if not self.should_exit:
            super().handle_exit(sig, frame)


@contextmanager
def end_on_signals(server: uvicorn.Server) -> Iterator[None]:
    """Ctrl-C and the end of the terminal end the server from now on, unless they are to be ignored (nohup)."""
    alone = threading.current_thread() is not threading.main_thread()
    heard = [x for x in STOP_SIGNALS if not alone and signal.getsignal(x) is not signal.SIG_IGN]
    before = {number: signal.signal(number, server.handle_exit) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def make_server(
    table: Path | None, folder: Path, server_socket: socket.socket, plan: Path | None = None
) -> tuple[uvicorn.Server, OneTimeAddress]:
    """A server for a socket, silent because a log could show cells; and the way in."""
    if table is not None and not table.is_file():
        raise NoSuchFile(table)
    if plan is not None and table is None:
        raise BadOption("--plan", "it is for a table. Name the table too.")
    workspace = Workspace(folder)
    home = f"/tables/{workspace.open_file(table, plan).id}" if table is not None else "/"
    entry = OneTimeAddress(f"127.0.0.1:{server_socket.getsockname()[1]}", workspace.folder)
    guard = Guard(make_app(workspace), entry, partial(hand_over, home=home))
    settings = uvicorn.Config(
        guard, log_config=None, log_level="critical", access_log=False, server_header=False, ws="none",
        lifespan="on", timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    return OnceInterruptedServer(settings), entry


def bind(port: int) -> socket.socket:
    """A socket that only this machine reaches; 0 is any free port."""
    server_socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server_socket.bind(("127.0.0.1", port))
        server_socket.listen()  # who comes before the server is ready waits
    except (OSError, OverflowError):
        server_socket.close()
        raise BadOption("--port", "it is taken or cannot be used. Omit it, and kech takes a free one.") from None
    return server_socket
