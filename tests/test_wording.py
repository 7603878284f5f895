"""Refusals speak Python in Python, and the command line on the command line."""

import ast
import re
from pathlib import Path

import pytest

import kech
from kech.errors import BadOption, KechError, NoQuasiIdentifier
from kech.tables.demo import nine_rows


@pytest.mark.parametrize(
    ("typed", "spoken"),
    [
        ("--k: say: --k 5.", "k: say: k=5."),
        ("name them: --qi COLUMN ...; or not", "name them: quasi_identifiers=[COLUMN, ...]; or not"),
        ("takes both: --l 3 --l-kind recursive --c 2.", 'takes both: l=3 l_kind="recursive" c=2.'),
        ("chances: --threshold 0.09 0.2.", "chances: threshold=[0.09, 0.2]."),
        ("missing: --null-values NaN,inf,-inf.", "missing: null_values=['NaN', 'inf', '-inf']."),
        ("(--null-values), or say --axis zip=set.", "(null_values), or say axes={'zip': 'set'}."),
        ("Raise --memory or use fewer columns.", "Raise memory or use fewer columns."),
        ("allow it with --allow-composition; or", "allow it with allow_composition=True; or"),
        ("say so: kech ledger --forget FILE.", "say so: `kech.open_ledger().forget(FILE)`."),
        ("or have `kech hierarchy --pad` do it", "or have `kech.review_hierarchy(..., pad=True)` do it"),
        ("There is no column '--k 5'. The user's --k 5", "There is no column '--k 5'. The user's k=5"),
        ("--decimal , reads them", 'decimal="," reads them'),
        ("nothing to say -- at all", "nothing to say -- at all"),
    ],
)
def test_options_are_arguments_in_python(typed, spoken):
    refusal = KechError(typed)
    assert (str(refusal), refusal.typed) == (spoken, typed)


def test_a_refusal_of_the_library_names_arguments_and_the_command_options(run, tmp_path):
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table, pytest.raises(BadOption) as refusal:
        kech.make_release(table)
    assert str(refusal.value) == "k: say among how many rows every row must hide: k=5."
    assert refusal.value.typed == "--k: say among how many rows every row must hide: --k 5."
    with kech.read_table(nine_rows()) as table, pytest.raises(NoQuasiIdentifier, match=r"quasi_identifiers=\[COLUMN"):
        kech.compute_spectrum(table)
    path = tmp_path / "a.csv"
    path.write_text("age,zip\n1,2\n", "utf-8")
    assert "--k 5." in run("release", path, "--qi", "age", "-o", tmp_path / "b.csv").err


def text_of(node, filled="X"):
    """A text of the source, with X for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else filled for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def refusals():
    """The last text of each refusal that is raised with a sentence."""
    for path in sorted(Path(kech.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                refused = hasattr(kech.errors, getattr(node.exc.func, "id", ""))
                text = text_of(node.exc.args[-1]) if refused else ""
                if len(text.split()) > 3:
                    yield f"{path.name}:{node.lineno}", text


def test_refusals_are_whole_short_sentences_in_plain_words():
    said = dict(refusals())
    assert len(said) > 150
    assert [place for place, text in said.items() if not re.search(r"[.?X]\s*$", text)] == []
    sentences = [(place, part) for place, text in said.items() for part in re.split(r"(?<=[.!?:;]) ", text)]
    assert [(place, part) for place, part in sentences if len(part.split()) > 25] == []
    odd = re.compile(r"whatever|leave away|left away|as good as|by chance|\bdoors?\b|\brooms?\b", re.I)
    assert [(place, part) for place, part in sentences if odd.search(part)] == []


def messages():
    """Every text of the source that is no docstring, with 7 for what is filled in."""
    for path in sorted(Path(kech.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in silent:
                yield text_of(node, "7")


def test_every_phrase_that_the_studio_rewords_is_one_that_kech_says():
    words = (Path(kech.__file__).parent / "studio" / "pages" / "words.js").read_text("utf-8")
    listed = re.search(r"^const PHRASES = \[\n(.*?)^\];", words, re.MULTILINE | re.DOTALL)[1].splitlines()
    phrases = [re.match(r"  \[/((?:[^/\\]|\\.)+)/, ", line)[1] for line in listed]
    said = [NoQuasiIdentifier().typed, *messages()]
    assert len(phrases) > 15
    assert [phrase for phrase in phrases if not any(re.search(phrase, text) for text in said)] == []
