"""Refusals speak Python in Python, and the command line on the command line."""

import ast
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import kech
from kech.errors import BadOption, KechError, NoQuasiIdentifier
from kech.request import reference
from kech.tables.demo import nine_rows


@pytest.mark.parametrize(
    ("typed", "spoken"),
    [
        ("--k: say: --k 5.", "k: say: k=5."),
        ("name them: --qi COLUMN ...; or not", "name them: quasi_identifiers=[COLUMN, ...]; or not"),
        ("takes both: --l 3 --l-kind recursive --c 2.", 'takes both: l=3, l_kind="recursive", c=2.'),
        ("chances: --threshold 0.09 0.2.", "chances: threshold=[0.09, 0.2]."),
        ("missing: --null-values NaN,inf,-inf.", "missing: null_values=['NaN', 'inf', '-inf']."),
        ("(--null-values), or say --axis zip=set.", "(null_values), or say axes={'zip': 'set'}."),
        ("say --axis 'a b=set'.", "say axes={'a b': 'set'}."),
        ("say --axis 'a b'=set.", "say axes={'a b': 'set'}."),
        ("--weights 'a b=0.3' keeps it, --weights zip=2", "weights={'a b': 0.3} keeps it, weights={'zip': 2}"),
        (
            "missing value: --null-values=- --null-values N/A '?' declares them.",
            "missing value: null_values=['-', 'N/A', '?'] declares them.",
        ),
        ("or say --null-values 98 99, which holds", "or say null_values=['98', '99'], which holds"),
        ("Then say --null-values. --dates dmy declares them.", 'Then say null_values. dates="dmy" declares them.'),
        (
            "sets: kech hierarchy TABLE PLZ --kind prefixes -o trees/PLZ.csv, then --hierarchies trees.",
            'sets: `tree = kech.review_hierarchy(table, COLUMN, kind="prefixes").tree`, then hierarchies={COLUMN: '
            "tree}.",
        ),
        ("Raise --memory or use fewer columns.", "Raise memory or use fewer columns."),
        ("allow it with --allow-composition; or", "allow it with allow_composition=True; or"),
        ("say so: kech ledger --forget FILE.", "say so: `kech.open_ledger().forget(FILE)`."),
        ("or have `kech hierarchy --pad` do it", "or have `kech.review_hierarchy(..., pad=True)` do it"),
        ("There is no column '--k 5'. The user's --k 5", "There is no column '--k 5'. The user's k=5"),
        ("--decimal , reads them", 'decimal="," reads them'),
        ("nothing to say -- at all", "nothing to say -- at all"),
        ("The people are named by --person. Omit one.", "The people are named by person. Omit one."),
        ("Say --person 'the id', or --person id.", 'Say person="the id", or person="id".'),
        ("Omit --null-values, --dates and --fold-variants.", "Omit null_values, dates and fold_variants."),
        ("Take --labels text or --labels dash.", 'Take labels="text" or labels="dash".'),
        ("Let rows wait: --wait 10%. Or --suppress 2.5%", "Let rows wait: wait=0.1. Or suppress=0.025"),
        ("say so: --most-changed 100%.", "say so: most_changed=1."),
        ("name two: --on COLUMN COLUMN.", "name two: on=[COLUMN, COLUMN]."),
        ("Search the whole lattice: --search lattice.", 'Search the whole lattice: search="lattice".'),
        ("Use --engine duckdb.", 'Use engine="duckdb".'),
        ("only --engine spark has a master.", 'only engine="spark" has a master.'),
        ("Add --from FILE, or omit --pad.", "Add source=FILE, or omit pad."),
        (
            "Begin one: kech release TABLE --series FOLDER ...",
            "Begin one: `kech.open_series(FOLDER).publish(table, path)`",
        ),
        ("name its folder (--series FOLDER).", "name its folder (`kech.open_series(FOLDER)`)."),
        (
            "another key: --series NEW_FOLDER --key COLUMN.",
            "another key: `kech.open_series(NEW_FOLDER)`, key=[COLUMN].",
        ),
        ("Check the files: kech verify --series FOLDER.", "Check the files: `kech.verify_series(FOLDER)`."),
        ("forget it: kech series FOLDER --forget.", "forget it: `kech.open_series(FOLDER).forget()`."),
        ("lie: kech series FOLDER --moved FILE ...", "lie: `kech.open_series(FOLDER).find_files(FILE, ...)`"),
        ("0 or more: --eps 0.01,0.05,0.2.", "0 or more: eps=[0.01, 0.05, 0.2]."),
        ("Name these: --original FILE ...", "Name these: original=[FILE, ...]"),
    ],
)
def test_options_are_arguments_in_python(typed, spoken):
    refusal = KechError(typed)
    assert (str(refusal), refusal.typed) == (spoken, typed)


def test_a_refusal_of_the_library_names_arguments_and_the_command_options(run, tmp_path):
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table, pytest.raises(BadOption) as refusal:
        kech.make_release(table)
    assert str(refusal.value) == "k: it is missing. Say among how many rows every row must hide: k=5."
    assert refusal.value.typed == "--k: it is missing. Say among how many rows every row must hide: --k 5."
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


VERBS = """
    add allow ask begin cast change check choose close collect convert copy correct count create declare delete did
    drop export fill free give go import install join keep leave let lower make mend move name number omit pass
    publish put raise read release remove rename replace report restore round run save say search set shorten start
    take try use wait write
"""
ADVICE = re.compile(rf"(?:^|[.:;,(?X] |\bor |\band )(?:please )?(?:{'|'.join(VERBS.split())})\b", re.I | re.M)
WORDED_BY_CLASS = """
    AlreadyReleased BadLedger BadRowKey ClaimBroken ColumnInTwoRoles ManyValues MissingExtra NeedsMemory
    NoQuasiIdentifier NoSuchColumn NoSuchFile NotAPath OutOfMemory RepeatedIdentifier TooFewPeople TooFewRows
    TooLarge TooLittleMemory TooManyNodes TooManyPoints
"""  # these classes tell what to do, not the code that raises them
PACKAGES = """
    errors request system certificate tables axes points spectrum.py cli audit release topology cuts views studio
"""


def variants(node, names, depth=0):
    """Every text that an expression may have: one for each branch, X for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        return ["".join(text) for text in product(*(variants(part, names, depth) for part in parts))]
    if isinstance(node, ast.IfExp | ast.BoolOp):
        branches = node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse)
        return [text for branch in branches for text in variants(branch, names, depth)]
    if isinstance(node, ast.Name) and node.id in names and depth < 4:
        return [text for value in names[node.id] for text in variants(value, names, depth + 1)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else ["X"]


def values_of_names(nodes):
    """The values that a piece of code gives to each of its names."""
    names = {}
    for node in (node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        names.setdefault(node.targets[0].id, []).append(node.value)
    return names


def reasons(tree):
    """The texts with which refusals are made, but for those that end with a sentence that is filled in."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        names = values_of_names(tree.body) | values_of_names(ast.walk(function))
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args):
            kind = getattr(call.func, "id", "")
            if kind not in WORDED_BY_CLASS.split() and (
                kind == "unusable_value" or isinstance(vars(kech.errors).get(kind), type)
            ):
                yield from (text for text in variants(call.args[-1], names) if not re.search(r"(^|[.:X] ?)X$", text))


@pytest.mark.parametrize("package", PACKAGES.split())
def test_every_refusal_says_what_to_do(package):
    root = Path(kech.__file__).parent / package
    trees = [ast.parse(path.read_text("utf-8")) for path in ([root] if root.is_file() else sorted(root.rglob("*.py")))]
    texts = [text for tree in trees for text in reasons(tree)]
    classes = [node for tree in trees for node in tree.body if getattr(node, "name", "") in WORDED_BY_CLASS.split()]
    advice = {"ClaimBroken": kech.errors.DO_NOT_PUBLISH}
    texts += ["\n".join([*map(text_of, ast.walk(each)), advice.get(each.name, "")]) for each in classes]
    assert texts
    assert [text for text in texts if not ADVICE.search(text)] == []


def messages():
    """Every text of the source that is no docstring, with 7 for what is filled in."""
    for path in sorted(Path(kech.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in silent:
                yield text_of(node, "7")


def test_every_phrase_that_the_studio_rewords_is_one_that_kech_says():
    words = (Path(kech.__file__).parent / "studio" / "pages" / "text.js").read_text("utf-8")
    listed = re.search(r"^export const PHRASES = \[\n(.*?)^\];", words, re.MULTILINE | re.DOTALL)[1].splitlines()
    phrases = [re.match(r"  \[/((?:[^/\\]|\\.)+)/, ", line)[1] for line in listed]
    said = [NoQuasiIdentifier().typed, *messages()]
    assert len(phrases) > 15
    assert [phrase for phrase in phrases if not any(re.search(phrase, text) for text in said)] == []


def test_a_refusal_in_the_studio_names_fields_by_their_labels_in_both_languages():
    labels = (Path(kech.__file__).parent / "studio" / "pages" / "text.js").read_text("utf-8")
    words = labels[labels.index("export const FIELDS") : labels.index("const TEXTS")]
    keys = set(re.findall(r"(?<!\$)\{([a-z][\w:-]*)\}", words))
    assert len(keys) > 15
    assert [key for key in keys if len(re.findall(rf'^  "?{key}"?: "', labels, re.MULTILINE)) != 2] == []
    by_hand = set(re.findall("“([^”$]+)”", words))
    assert by_hand <= {"alpha", "c", "k", "l", "t"}
    shown = re.findall(r'^  \w+Field: "(?:.*\((\w+)\)|(\w+)(?: .*)?)",$', labels, re.MULTILINE)
    assert by_hand <= {letter for pair in shown for letter in pair}


def choices_of_options():
    """The words of every option that takes words: those of the forms, and those of single commands."""
    fields = {name: field for name, field in reference.describe_forms()["fields"].items() if "." not in name}
    words = {name: [*field["choices"], *field["offered"]] for name, field in fields.items()}
    words = {name: [word for word in listed if isinstance(word, str)] for name, listed in words.items()}
    return {name: listed for name, listed in words.items() if listed} | {
        "reading": [*words["reading"], "partition"],
        "search": ["lattice", "chain"],
    }


def test_every_word_of_an_option_is_quoted_in_python():
    words = choices_of_options()
    assert len(words) >= 14
    for name, listed in words.items():
        option = name.replace("_", "-")
        said = {word: str(KechError(f"Use --{option} {word} here.")) for word in listed if re.match(r"\w|,", word)}
        assert said == {word: f'Use {name}="{word}" here.' for word in said}
        assert str(KechError(f"Use --{option} wisely.")) == f"Use {name} wisely."


def test_a_message_is_in_python_before_a_request_is_imported():
    code = "import kech; print(kech.errors.KechError('Say --qi COLUMN ..., --cut domain and --rename-duplicates.'))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == 'Say quasi_identifiers=[COLUMN, ...], cut="domain" and rename_duplicates=True.\n'


def test_no_sentence_gives_an_argument_a_word_that_it_does_not_take():
    given = re.compile(r'(\w+)="([^"]*)"(?: or (\w+))?')
    pairs = [pair for text in messages() if not given.search(text) for pair in given.findall(str(KechError(text)))]
    names = choices_of_options()
    assert len(pairs) > 20
    assert [pair for pair in pairs if pair[0] != "person" and pair[1] not in names[pair[0]]] == []
    assert [pair for pair in pairs if pair[0] == "person" and pair[1] != "7"] == []
    assert [pair for pair in pairs if pair[2] in names.get(pair[0], ())] == []
