"""The command that removes what was kept of large files: clean."""

import kech
from kech.cli.intake import Flag, app
from kech.views import screen
from kech.views.screen.caches import cleared


@app.command
def clean(*, json: Flag = False) -> None:
    """Remove what kech keeps of large files to be quicker next time, and what killed runs left behind.

    Example: kech clean

    Parameters
    ----------
    json: bool
        Print one JSON object.
    """
    screen.show(kech.clear_cache().to_json(), json, cleared)
