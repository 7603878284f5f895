"""The command that teaches a shell the others: completion."""

from typing import Annotated, Literal

from cyclopts import Parameter

from kech import screen
from kech.cli.intake import Flag, app


@app.command
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell: bash, zsh or fish.")],
    /,
    *,
    json: Flag = False,
) -> None:
    """Print a script that completes commands, options and file names in your shell.

    Example: kech completion bash > ~/.local/share/bash-completion/completions/kech

    Parameters
    ----------
    json: bool
        Print one JSON object.
    """
    script = app.generate_completion(shell=shell)
    screen.show({"shell": shell, "script": script}, json, screen.script)
