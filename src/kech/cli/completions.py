"""The command that teaches a shell the others: completion."""

from typing import Annotated, Literal

from cyclopts import Parameter

from kech.cli.intake import Json, app
from kech.views import screen

SPLIT_NAMES = 'COMPREPLY=( $(compgen -f -- "${cur}") )'  # it splits names with spaces
WHOLE_NAMES = """local IFS=$'\\n' typed="${cur#[\\"\\']}"
                compopt -o filenames 2>/dev/null
                COMPREPLY=( $(compgen -f -- "${typed//\\\\/}") )"""


@app.command
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="Shell: bash, zsh or fish.")],
    /,
    *,
    json: Json = False,
) -> None:
    """Print a script that completes commands, options and file names in your shell.

    Example: kech completion bash > ~/.local/share/bash-completion/completions/kech
    """
    screen.show({"shell": shell, "script": script_for(shell)}, json, screen.print_script)


def script_for(shell: Literal["bash", "zsh", "fish"]) -> str:
    """The completion script of a shell; that of bash is changed to complete names with spaces."""
    return app.generate_completion(shell=shell).replace(SPLIT_NAMES, WHOLE_NAMES)
