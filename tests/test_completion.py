"""Completion: the scripts know every command and option, and bash completes with them."""

import shlex
import shutil
import subprocess
import sys
from functools import cache

import pytest

from test_docs import COMMANDS, options

SHELLS = ["bash", "zsh", "fish"]


@cache
def script_of(shell):
    command = [sys.executable, "-m", "kech", "completion", shell]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module", params=SHELLS)
def script(request):
    return script_of(request.param)


def test_the_command_prints_the_script(run):
    outcome = run("completion", "bash")
    assert (outcome.code, outcome.out) == (0, script_of("bash"))
    assert run("completion", "fish", "--json").json["shell"] == "fish"
    assert run("completion", "tcsh").code == 2


def test_every_command_and_option_is_in_every_script(script):
    for command in COMMANDS:
        assert command in script
        for option in options(command):
            assert option.lstrip("-") in script, option


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_its_script(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / f"kech.{shell}"
    path.write_text(script_of(shell), "utf-8")
    subprocess.run([shell, "-n", path], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["sp"], ["spectrum"]),
        (["re"], ["release", "report"]),
        (["release", "people.csv", "--lab"], ["--labels"]),
        (["verify", "safe.csv", "--pop"], ["--population"]),
        (["spectrum", "people.csv", "--json"], ["--json", "--json-lines"]),
        (["completion", "z"], ["zsh"]),
        (["inspect", "peo"], ["people.csv"]),
        (["inspect", "my"], ["my file.csv"]),
        (["inspect", r"my\ f"], ["my file.csv"]),
        (["inspect", '"my f'], ["my file.csv"]),
        (["release", "people.csv", "--earlier", "my"], ["my file.csv"]),
        (["risk", "people.csv", "--population", "peo"], ["people.csv"]),
        (["release", "people.csv", "--labels", ""], ["columns", "dash", "midpoint", "text"]),
        (["attack", "or"], ["order"]),
        (["attack", "on"], ["one-row"]),
        (["attack", "order", "peo"], ["people.csv"]),
    ],
)
def test_bash_completes(words, expected, tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    for name in ("people.csv", "my file.csv"):
        (tmp_path / name).touch()
    (tmp_path / "kech.bash").write_text(script_of("bash"), "utf-8")
    typed = ["kech", *words]
    line = " ".join(typed)
    asked = f"""source kech.bash
        COMP_WORDS=({shlex.join(typed)}); COMP_CWORD={len(words)}; COMP_LINE={shlex.quote(line)}; COMP_POINT={len(line)}
        _kech kech {shlex.join([typed[-1], typed[-2]])}
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    command = ["bash", "--norc", "--noprofile", "-c", asked]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert sorted(ran.stdout.splitlines()) == expected
