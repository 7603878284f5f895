"""Entry: the one-time address of a studio, and the private file that leads a browser to it.

Every user of a machine can read the command lines of all processes.  So a browser is started with the path of a file
that only its owner can read, and the file leads to the address.
"""

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

LIFETIME = 600.0  # seconds in which the address can be opened
FILE = "open.html"
REDIRECT = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>kech studio</title>
<p><a href="{address}">Open kech studio</a></p>
"""


class OneTimeAddress:
    """An address that opens once."""

    def __init__(self, host: str, folder: Path) -> None:
        self.host, self.folder = host, folder
        self.token, self.is_used = secrets.token_urlsafe(32), False
        self.end = time.monotonic() + LIFETIME

    @property
    def page(self) -> str:
        """The address of the studio without its token: it opens nothing."""
        return f"http://{self.host}/"

    @property
    def address(self) -> str:
        """The one-time address."""
        return f"{self.page}?token={self.token}"

    def write_file(self) -> Path:
        """Write the file that leads to the address, for the eyes of this user only."""
        file = self.folder / FILE
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as page:
            page.write(REDIRECT.format(address=self.address).encode())
        return file

    def use_token(self, token: str) -> bool:
        """Whether the token opens the studio; from then on it opens nothing, and its file is gone."""
        fits = secrets.compare_digest(token.encode(), self.token.encode())
        if not fits or self.is_used or time.monotonic() > self.end:
            return False
        self.is_used = True
        with suppress(OSError):
            (self.folder / FILE).unlink()
        return True
