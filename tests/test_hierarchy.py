import csv
import re
import time
from dataclasses import replace
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points
from kech import GeneralizationTree, read_hierarchy
from kech.axes.hierarchy import build_prefix_tree
from kech.errors import BadHierarchy, BadTarget, NoSuchFile, UnreadableFile
from kech.points.points import build_points

DATA = Path(__file__).parents[2] / "shared/data"
COUNTRIES = """\
Portugal;West Europe;Europe;all
Hungary;East Europe;Europe;all
USA;North America;America;all
Spain;West Europe;Europe;all
Canada;North America;America;all
Romania;East Europe;Europe;all
"""
OTHERS = (("Other", "Other", "*"), ("Misc", "Other", "*"), ("Clerk", "Office", "*"))


def write(folder, content, name="country.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def span(tree, lo, hi):
    first, last = tree.spans(np.array([lo]), np.array([hi]))
    return int(first[0]), int(last[0])


def widths(tree, lo, hi):
    first, last = tree.spans(lo, hi)
    return (last - first) / max(len(tree.leaves) - 1, 1)


def leaf_widths(tree):
    codes = np.arange(len(tree.leaves))
    return widths(tree, codes, codes)


def gap_widths(tree):
    codes = np.arange(len(tree.leaves))
    return widths(tree, codes[:-1], codes[1:])


@pytest.fixture
def countries(tmp_path):
    return read_hierarchy(write(tmp_path, COUNTRIES))


# The paper's countries


def test_leaves_stand_depth_first_and_siblings_as_they_first_appear(countries):
    assert countries.leaves == ("Portugal", "Spain", "Hungary", "Romania", "USA", "Canada")
    assert countries.paths[1] == ("Spain", "West Europe", "Europe", "all")
    assert countries.height == 4


@pytest.mark.parametrize(
    ("lo", "hi", "label", "under"),
    [
        (0, 0, "Portugal", (0, 0)),
        (0, 1, "West Europe", (0, 1)),
        (1, 2, "Europe", (0, 3)),
        (4, 5, "North America", (4, 5)),
        (3, 4, "all", (0, 5)),
    ],
)
def test_countries_meet_at_their_lowest_common_ancestor(countries, lo, hi, label, under):
    assert countries.label(lo, hi) == label
    assert span(countries, lo, hi) == under


def test_countries_have_the_widths_of_their_ancestors(countries):
    assert gap_widths(countries).tolist() == [1 / 5, 3 / 5, 1 / 5, 1, 1 / 5]
    assert leaf_widths(countries).tolist() == [0] * 6


def test_countries_have_nodes_at_every_level(countries):
    assert countries.level_codes(1).tolist() == [0, 0, 1, 1, 2, 2]
    assert countries.level_codes(1).dtype == np.int32
    assert countries.level_labels(1) == ("West Europe", "East Europe", "North America")
    assert countries.level_codes(3).tolist() == [0] * 6
    assert countries.leaf_counts()["Europe"] == 4
    assert countries.leaf_counts()["all"] == 6
    assert countries.leaf_counts()["Spain"] == 1


def test_level_codes_cannot_be_changed_by_a_caller(countries):
    with pytest.raises(ValueError, match="read-only"):
        countries.level_codes(0)[0] = 7


# Adult


@pytest.mark.skipif(not DATA.exists(), reason="shared data is not on this machine")
def test_adult_is_covered_by_its_hierarchies():
    with (DATA / "adult.csv").open(newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    folder = DATA / "adult_hierarchies"
    trees = {column: read_hierarchy(path) for column in header for path in folder.glob(f"*_{column}.csv")}

    assert {column: (len(tree.leaves), tree.height) for column, tree in trees.items()} == {
        "age": (100, 5),
        "education": (16, 4),
        "marital-status": (7, 3),
        "native-country": (41, 3),
        "occupation": (14, 3),
        "race": (5, 2),
        "salary-class": (2, 2),
        "sex": (2, 2),
        "workclass": (8, 3),
    }
    for column, values in zip(header, zip(*rows, strict=True), strict=True):
        assert set(trees[column].restrict(values).leaves) == set(values)


# Laws on random trees; the oracle knows paths and sets only


@st.composite
def tree_rows(draw):
    """Shuffled paths of a random tree; here and there a node bears the label of the node above it."""
    height = draw(st.integers(2, 5))
    meets = draw(st.lists(st.integers(1, height - 1), max_size=9))
    labels = {(height - 1, 0): "root"}
    paths = [["root"] for _ in range(len(meets) + 1)]
    for level in reversed(range(height - 1)):
        firsts = set()
        for leaf, path in enumerate(paths):
            node = (level, sum(meet > level for meet in meets[:leaf]))
            if node not in labels:
                takes = path[-1] not in firsts and draw(st.booleans())
                labels[node] = path[-1] if takes else f"{level}.{node[1]}"
                firsts.add(path[-1])
            path.append(labels[node])
    return draw(st.permutations([tuple(reversed(path)) for path in paths]))


def grow(rows):
    return read_hierarchy(dict(enumerate(zip(*rows, strict=True))))


def lowest_common(paths):
    return next(labels[0] for labels in zip(*paths, strict=True) if len(set(labels)) == 1)


def readers_set(tree, label):
    """Every leaf a reader of the label may think of."""
    return [leaf for leaf, path in enumerate(tree.paths) if label in path]


def brute_width(tree, lo, hi):
    under = readers_set(tree, lowest_common(tree.paths[lo : hi + 1]))
    return (len(under) - 1) / max(len(tree.paths) - 1, 1)


def grouped(rows, level):
    """Depth-first order by its definition: nodes as they first appear, one subtree after the other."""
    nodes = dict.fromkeys(row[level] for row in rows)
    groups = ([row for row in rows if row[level] == node] for node in nodes)
    return list(rows) if level == 0 else [row for group in groups for row in grouped(group, level - 1)]


@given(tree_rows())
def test_order_is_depth_first(rows):
    assert list(grow(rows).paths) == grouped(rows, len(rows[0]) - 1)


@given(tree_rows())
def test_label_and_span_are_those_of_the_lowest_common_ancestor(rows):
    tree = grow(rows)

    for lo, hi in combinations_with_replacement(range(len(rows)), 2):
        label = lowest_common(tree.paths[lo : hi + 1])
        under = readers_set(tree, label)
        assert tree.label(lo, hi) == label
        assert span(tree, lo, hi) == (under[0], under[-1])
        assert len(under) == under[-1] - under[0] + 1


@given(tree_rows())
def test_width_of_a_range_is_its_widest_gap(rows):
    tree = grow(rows)
    gaps, leaves = gap_widths(tree), leaf_widths(tree)

    assert (len(gaps), len(leaves)) == (len(rows) - 1, len(rows))
    for lo, hi in combinations_with_replacement(range(len(rows)), 2):
        assert (leaves[lo] if lo == hi else gaps[lo:hi].max()) == brute_width(tree, lo, hi)


@given(tree_rows(), st.data())
def test_a_restricted_tree_is_the_tree_of_fewer_rows(rows, data):
    tree = grow(rows)
    kept = data.draw(st.sets(st.sampled_from(tree.leaves), min_size=1))
    small = tree.restrict(kept)

    assert small.paths == tuple(path for path in tree.paths if path[0] in kept)
    for lo, hi in combinations_with_replacement(range(len(kept)), 2):
        width = gap_widths(small)[lo:hi].max() if lo < hi else leaf_widths(small)[lo]
        assert width == brute_width(small, lo, hi)


@given(tree_rows())
def test_levels_and_counts_agree_with_the_paths(rows):
    tree = grow(rows)

    for level in range(tree.height):
        labels, codes = tree.level_labels(level), tree.level_codes(level)
        assert [labels[code] for code in codes] == [path[level] for path in tree.paths]
    labels = {label for path in tree.paths for label in path}
    assert tree.leaf_counts() == {label: len(readers_set(tree, label)) for label in labels}


def rooted(rows):
    return rows if len({row[-1] for row in rows}) == 1 and len(rows[0]) > 1 else [(*row, "*") for row in rows]


def is_tree(rows):
    """A label names one node, or nodes straight above each other: checked for every two places it stands."""
    places = [(path, level) for path in rows for level in range(len(path))]
    return all(
        (path[low:] == other[low:] if low == high else set(path[low : high + 1]) == {path[low]})
        for (path, low), (other, high) in product(places, places)
        if low <= high and path[low] == other[high]
    )


@given(st.integers(1, 4).flatmap(lambda height: st.lists(st.tuples(*[st.sampled_from("abc*")] * height), min_size=1)))
def test_a_table_of_labels_is_accepted_if_and_only_if_it_is_a_tree(rows):
    if is_tree(rooted(rows)):
        assert set(grow(rows).paths) == set(rooted(rows))
    else:
        with pytest.raises(BadHierarchy):
            grow(rows)


# Labels that repeat upward


def test_a_leaf_that_shares_its_text_with_a_wider_node_is_as_wide_as_that_node():
    tree = GeneralizationTree(OTHERS)

    assert leaf_widths(tree).tolist() == [0.5, 0, 0]
    assert gap_widths(tree).tolist() == [0.5, 1]
    assert span(tree, 0, 0) == (0, 1)
    assert tree.leaf_counts() == {"Other": 2, "Misc": 1, "Clerk": 1, "Office": 1, "*": 3}


def test_an_inner_node_that_shares_its_text_with_the_root_is_as_wide_as_the_root():
    tree = GeneralizationTree((("a", "*", "*"), ("b", "*", "*"), ("c", "d", "*")))

    assert gap_widths(tree).tolist() == [1, 1]
    assert span(tree, 0, 1) == (0, 2)


def test_a_leaf_is_narrow_again_once_its_twin_above_covers_nothing_else():
    tree = GeneralizationTree(OTHERS).restrict(["Other", "Clerk"])

    assert leaf_widths(tree).tolist() == [0, 0]


def test_one_leaf_and_no_leaf_have_no_width():
    one, none = GeneralizationTree((("a", "b", "*"),)), GeneralizationTree(())

    assert (leaf_widths(one).tolist(), gap_widths(one).tolist(), one.label(0, 0)) == ([0], [], "a")
    assert (leaf_widths(none).tolist(), gap_widths(none).tolist(), none.leaf_counts()) == ([], [], {})


# Dialects


@pytest.mark.parametrize(
    "content",
    [
        "a;x;*\nb;y;*\n",
        "a,x,*\nb,y,*",
        "a\tx\t*\nb\ty\t*\n",
        "\ufeffa;x;*\r\nb;y;*\r\n",
        "\n  \na;x;*\n\n;;\nb;y;*\na;x;*\n",
        '"a","x","*"\n"b",y,*\n',
        "a;x\nb;y\n",
    ],
)
def test_dialects_of_one_tree(tmp_path, content):
    assert read_hierarchy(write(tmp_path, content)).paths == (("a", "x", "*"), ("b", "y", "*"))


def test_a_quoted_delimiter_and_a_quoted_line_break_belong_to_the_label(tmp_path):
    path = write(tmp_path, '"[0; 5)","low\r\n, still",*\r\n7,"[5, 9)",*\r\n')

    assert read_hierarchy(path).paths == (("[0; 5)", "low\r\n, still", "*"), ("7", "[5, 9)", "*"))


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        ("a\nb\n", (("a", "*"), ("b", "*"))),
        ("a\n", (("a", "*"),)),
        ("Male;Male;*\nFemale;Female;*\n", (("Male", "Male", "*"), ("Female", "Female", "*"))),
        (";none;*\na;some;*\n", (("", "none", "*"), ("a", "some", "*"))),
    ],
)
def test_small_files(tmp_path, content, paths):
    assert read_hierarchy(write(tmp_path, content)).paths == paths


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        ("a;x;*\nb;*\n", (("a", "x", "*"), ("b", "b", "*"))),
        ("a;x;y\nb;z\n", (("a", "x", "y", "*"), ("b", "z", "z", "*"))),
    ],
)
def test_pad_repeats_the_label_below_the_root(tmp_path, content, paths):
    assert read_hierarchy(write(tmp_path, content), pad=True).paths == paths


NESTED = (
    ("Portugal", "West", "Europe", "*"),
    ("Spain", "West", "Europe", "*"),
    ("Hungary", "East", "Europe", "*"),
    ("USA", "North", "America", "*"),
)


JSON = '{"Europe": {"West": ["Portugal","Spain"], "East": ["Hungary"]}, "America": {"North": ["USA"]}}'
TOML = 'Europe.West = ["Portugal", "Spain"]\nEurope.East = ["Hungary"]\nAmerica.North = ["USA"]'


@pytest.mark.parametrize(("name", "content"), [("c.json", JSON), ("c.toml", TOML), ("c.JSON", f'{{"*": {JSON}}}')])
def test_nested_files(tmp_path, name, content):
    assert read_hierarchy(write(tmp_path, content, name)).paths == NESTED


def test_nested_mappings():
    assert read_hierarchy({"all": {"low": [1, np.int64(2)], "high": ["3"]}}).paths == (
        ("1", "low", "all"),
        ("2", "low", "all"),
        ("3", "high", "all"),
    )
    assert read_hierarchy({0: ["1"], 5: ["6"]}).paths == (("1", "0", "*"), ("6", "5", "*"))
    uneven = {"Europe": {"West": ["Spain"]}, "America": ["USA"]}
    assert read_hierarchy(uneven, pad=True).paths[1] == ("USA", "America", "America", "*")


def test_levels_as_anjana_keeps_them():
    levels = {0: np.array([31, 64, 31]), 1: ["[30, 40)", "[60, 70)", "[30, 40)"]}

    assert read_hierarchy(levels, column="age") == read_hierarchy(levels)
    assert read_hierarchy(levels).paths == (("31", "[30, 40)", "*"), ("64", "[60, 70)", "*"))


def test_the_raw_column_of_a_dataframe_may_hold_missing_values_and_fractions():
    """ANJANA's own documentation builds its dictionaries from the columns of the table, one label for each row."""
    raw = pd.DataFrame({"age": [29, None, 17, 29.5], "city": ["Rome", "Oslo", None, "Rome"]})
    ages = ["[25, 30)", "*", "[15, 20)", "[25, 30)"]
    given = {
        "age": {0: raw["age"].values, 1: ages, 2: np.array(["*"] * 4)},
        "city": {0: raw["city"].values, 1: np.array(["*"] * 4)},
    }
    assert read_hierarchy(given["age"]).leaves == ("29.0", "29.5", "17.0")
    with kech.read_table(raw, quasi_identifiers=["age", "city"], hierarchies=given) as table:
        released = kech.make_release(table, k=2, suppress=0.5).frame
    assert set(released["age"]) <= {*ages, "*"}


def test_hierarchies_read_by_pandas_as_anjana_does(tmp_path):
    path = write(tmp_path, "1,low,*\n2,low,*\n3,high,*\n")
    assert read_hierarchy(dict(pd.read_csv(path, header=None))) == read_hierarchy(path)


# The way back

odd = st.text(st.sampled_from("ab;,\t\"'*\n\r \ufeff\u2028é"), min_size=1, max_size=4).filter(str.strip)


@given(st.lists(st.tuples(odd, odd), min_size=1, max_size=6))
def test_what_is_written_is_read_again(tmp_path_factory, pairs):
    try:
        tree = read_hierarchy({0: [leaf for leaf, _ in pairs], 1: [f"over {label}" for _, label in pairs]})
    except BadHierarchy:
        return  # two parents
    path = tmp_path_factory.getbasetemp() / "written.csv"
    tree.write(path)

    assert read_hierarchy(path).paths == tree.paths
    assert read_hierarchy(tree.to_levels()).paths == tree.paths
    with path.open(encoding="utf-8", newline="") as file:  # as anybody reads it
        assert [tuple(row) for row in csv.reader(file, delimiter=";", strict=True)] == list(tree.paths)


def test_files_of_arx_come_back_as_they_were(tmp_path, countries):
    countries.write(tmp_path / "back.csv")
    assert sorted((tmp_path / "back.csv").read_text("utf-8").splitlines()) == sorted(COUNTRIES.splitlines())
    with pytest.raises(BadTarget):
        countries.write(tmp_path / "back.txt")


def test_a_given_tree_is_checked_and_put_in_order():
    shuffled = GeneralizationTree((OTHERS[0], OTHERS[2], OTHERS[1]))

    assert read_hierarchy(shuffled).paths == OTHERS
    with pytest.raises(BadHierarchy, match="two parents"):
        read_hierarchy(GeneralizationTree((("a", "x", "*"), ("a", "y", "*"))))


# Refusals


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("a;x;*\na;x;*\na;y;*\n", 3, ["a value at level 0", "two parents", "'x' (line 1)", "'y'", "Keep one"]),
        ("a;x;p;*\nb;y;q;*\n\nc;x;q;*\n", 4, ["'x' at level 1", "two parents", "'p' (line 1)", "'q'"]),
        ("c;d;e;*\nx;a;b;a\n", 2, ["'a' at level 1", "cycle", "Rename"]),
        ("a;b;a\n", 1, ["a value at level 0", "cycle"]),
        ("p;x;y;*\nq;z;x;*\nr;z;x;*\n", 1, ["'x' at level 1", "level 2 (line 2)", "ambiguous", "Rename"]),
        ("p;q;*\na;p;*\n", 1, ["a value at level 0", "level 1 (line 2)", "ambiguous"]),
        ("a;x;*\nb;*\n", 2, ["a value has 2 levels", "the first has 3", "pad=True"]),
        ("a;x;*\nb;x;\n", 2, ["empty label at level 2", "Fill it"]),
        ("a;x;*\nb; ;*\n", 2, ["empty label at level 1"]),
        ('a;x;*\n"b"c;x;*\n', 2, ["not CSV", "quotes"]),
        ('a;x;*\n"b;x;*', 2, ["not CSV"]),
        (b"a;x;*\n\xe9;x;*\n", 2, ["not UTF-8", "Save"]),
        (b"\xef\xbb\xbfa;x;*\nb;x;*\n\xe9;x;*\n", 3, ["not UTF-8"]),
        (b"a;x;*\n\0b;x;*\n", 2, ["NUL", "Remove"]),
    ],
)
def test_a_bad_line_is_named(tmp_path, content, line, words):
    path = write(tmp_path, content)

    with pytest.raises(BadHierarchy) as refusal:
        read_hierarchy(path)
    message = str(refusal.value)
    assert message.startswith(f"Hierarchy {str(path)!r}, line {line}: ")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("c.csv", "", ["empty"]),
        ("c.csv", "\n \n", ["empty"]),
        ("c.json", "{}", ["empty"]),
        ("c.toml", "# nothing", ["empty"]),
        ("c.xlsx", "a", [".csv, .toml, .json", "Convert"]),
        ("c.json", '{"E": {"W": ["a"]}, "A": ["b"]}', ["a value has 2 levels", "the first has 3", "pad=True"]),
        ("c.json", '{"W": "a"}', ["node 'W' is of type str", "list of leaves"]),
        ("c.json", '{"W": [1.5]}', ["node 'W'", "float", "in quotes"]),
        ("c.json", '{"W": [true]}', ["node 'W'", "bool"]),
        ("c.json", '{"W": ["a", ["b"]]}', ["node 'W'", "list"]),
        ("c.json", "7", ["the top is of type int"]),
        ("c.toml", "W = []", ["node 'W' has no leaves"]),
        ("c.toml", "'' = ['a']\nW = ['b']", ["empty label at level 1"]),
        ("c.json", '{"W": ["a", "b", "a"]}', ["a leaf of node 'W' is listed twice"]),
        ("c.json", '["a", "a"]', ["a leaf is listed twice"]),
        ("c.json", '{"a": ["a", "a"]}', ["a leaf is listed twice"]),
        ("c.json", '{"W": ["a"], "E": ["a"]}', ["a value at level 0 has two parents, 'W' and 'E'"]),
        ("c.json", '{"E": {"o": ["a"]}, "A": {"o": ["b"]}}', ["'o' at level 1 has two parents, 'E' and 'A'"]),
        ("c.json", '{"W": ["a"], "W": ["b"]}', ["node 'W' is written twice"]),
        ("c.toml", "a.b.a = ['x']", ["'a' at level 1", "cycle"]),
        ("c.json", '{"x": {"y": ["a"]}, "z": {"x": ["b"]}}', ["'x' at level 1", "at level 2,", "ambiguous"]),
        ("c.toml", "W = ['a'\nE", ["cannot be parsed", "line 2"]),
        ("c.json", "[" * 100_000, ["cannot be parsed"]),
        ("c.json", '{"a":' * 200 + '["x"]' + "}" * 200, ["node 'a' is deeper than 100 levels"]),
    ],
)
def test_a_bad_file_is_named_with_its_node(tmp_path, name, content, words):
    path = write(tmp_path, content, name)

    with pytest.raises(BadHierarchy) as refusal:
        read_hierarchy(path)
    message = str(refusal.value)
    assert message.startswith(f"Hierarchy {str(path)!r}: ")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("oslo;x;*\noslo;*\n", "a value at level 0 has two parents, 'x' (line 1) and a value."),  # which is padded
        ("oslo;oslo;p;*\noslo;oslo;q;*\n", "a value at level 1 has two parents, 'p' (line 1) and 'q'."),
        ("a;oslo;x;*\noslo;oslo;y;*\n", "a value at level 1 has two parents, 'x' (line 1) and 'y'."),
    ],
)
def test_a_leaf_that_is_a_label_too_is_not_named(tmp_path, content, words):
    with pytest.raises(BadHierarchy) as refusal:
        read_hierarchy(write(tmp_path, content, "c.csv"), pad=True)
    assert words in str(refusal.value)
    assert "oslo" not in str(refusal.value)


def test_a_json_error_has_its_line(tmp_path):
    with pytest.raises(BadHierarchy, match=r"c\.json', line 2: it cannot be parsed"):
        read_hierarchy(write(tmp_path, '{"a":\n}', "c.json"))


def test_a_missing_and_an_unreadable_file_are_refused(tmp_path):
    with pytest.raises(NoSuchFile):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UnreadableFile):
        read_hierarchy(tmp_path / "folder.csv")


@pytest.mark.parametrize(
    ("levels", "where", "words"),
    [
        ({0: ["secret", "secret"], 1: ["hidden", "private"]}, ", line 2", "two parents"),
        ({0: ["secret", "x"], 1: ["x", "hidden"]}, ", line 2", "ambiguous"),
        ({0: ["secret"], 1: ["hidden"], 2: ["secret"]}, ", line 1", "cycle"),
        ({0: ["secret"], 1: [""]}, ", line 1", "empty label"),
        ({0: ["secret", "hidden"], 1: ["private"]}, "", "level 1 has 1 labels and level 0 has 2"),
        ({0: "secret"}, "", "level 0 is no list"),
        ({0: ["secret"], 1: [None]}, "", "level 1 holds a label of type NoneType"),
        ({0: [float("inf")], 1: ["hidden"]}, "", "level 0 holds a label of type float"),
        ({0: [None]}, "", "empty"),
        ({}, "", "empty"),
    ],
)
def test_labels_that_may_be_cells_are_not_shown(levels, where, words):
    with pytest.raises(BadHierarchy) as refusal:
        read_hierarchy(levels, column="job")
    message = str(refusal.value)
    assert message.startswith(f"Hierarchy 'job'{where}: ")
    assert words in message
    assert not re.search("secret|hidden|private", message)


def test_values_without_a_leaf_are_counted_and_not_shown(tmp_path):
    path = write(tmp_path, COUNTRIES)

    with pytest.raises(BadHierarchy) as refusal:
        read_hierarchy(path).restrict(["Spain", "Atlantis", "Utopia", "Utopia"])
    message = str(refusal.value)
    assert message.startswith(f"Hierarchy {str(path)!r}: it has no leaf for 2 distinct values of the column.")
    assert not re.search("Atlantis|Utopia", message)


# Which file belongs to which column


def test_the_longest_column_name_owns_the_file(tmp_path):
    files = {
        "age.csv": "a;of age\nb;of age",
        "adult_status.json": '{"of status": ["a", "b"]}',
        "adult_marital_status.TOML": "'of marital status' = ['a', 'b']",
        "notes.csv": "a;of notes\nb;of notes",
        "usage.csv": "a;of usage\nb;of usage",
        "age.txt": "a;of text\nb;of text",
        "._zip.csv": "a;of a hidden file\nb;of a hidden file",
    }
    for name, content in files.items():
        write(tmp_path, content, name)
    (tmp_path / "zip.csv").mkdir()

    assert tops_of(["age", "status", "marital_status", "zip"], str(tmp_path)) == {
        "age": "of age",
        "status": "of status",
        "marital_status": "of marital status",
    }


def tops_of(columns, hierarchies):
    """What stands above `a` in each tree that somebody gave for a column; cells are `a` and `b`."""
    with kech.read_table(pa.table({column: ["a", "b"] for column in columns}), hierarchies=hierarchies) as table:
        reviews = {column: kech.review_hierarchy(table, column) for column in columns}
    return {name: review.tree.paths[0][1] for name, review in reviews.items() if review.to_json()["kind"] == "given"}


def test_two_files_for_one_column_are_refused(tmp_path):
    write(tmp_path, "a;*\nb;*", "age.csv")
    write(tmp_path, "all = ['a', 'b']", "my_age.toml")

    with pytest.raises(BadHierarchy, match=r"'age\.csv' and 'my_age\.toml' belong to column 'age'"):
        tops_of(["age"], tmp_path)


def test_a_mapping_gives_its_own_sources():
    tree = read_hierarchy({0: ["a", "b"], 1: ["of age"] * 2})

    assert tops_of(["age", "sex"], {"age": tree, "zip": "zip.csv"}) == {"age": "of age"}


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(NoSuchFile):
        tops_of(["age"], tmp_path / "none")
    with pytest.raises(UnreadableFile, match="not a folder"):
        tops_of(["age"], write(tmp_path, "a;*"))


# Trees built from values


def test_prefixes_of_zip_codes():
    tree = build_prefix_tree(["47905", "47677", "47602", "47677"])

    assert tree.leaves == ("47602", "47677", "47905")
    assert tree.paths[1] == ("47677", "4767*", "476**", "47***", "4****", "*")
    assert (tree.label(0, 1), tree.label(1, 2)) == ("476**", "47***")


def test_prefixes_of_unequal_lengths_meet_where_the_shorter_ends():
    tree = build_prefix_tree(["47677", "476", "912"])

    assert tree.paths[0] == ("476", "476**", "476**", "47***", "4****", "*")
    assert tree.label(0, 1) == "476**"
    assert tree.label(1, 2) == "*"


@given(st.lists(st.text("0aB*!", max_size=5), min_size=1))
def test_prefix_trees_are_trees_of_all_their_values(values):
    is_tree_of(build_prefix_tree(values), values)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text("0aB*!", min_size=1, max_size=5), min_size=1))
def test_star_trees_are_trees_of_all_their_values(values):
    is_tree_of(star_tree(values), values)


def is_tree_of(tree, values):
    assert sorted(tree.leaves) == sorted(set(values))
    assert {path[-1] for path in tree.paths} == {"*"}
    assert read_hierarchy(tree) == tree


def star_tree(values):
    """The tree of a column of which somebody said that its values are kept or starred."""
    (axis,) = code_points(pa.table({"c": values}), roles={"axes": {"c": "star"}}).axes
    return axis.tree


@given(st.lists(st.text("012", min_size=4, max_size=4), min_size=1, unique=True))
def test_two_codes_share_the_label_of_their_common_prefix(values):
    tree = build_prefix_tree(values)

    assert list(tree.leaves) == sorted(values)
    for lo, hi in combinations_with_replacement(range(len(values)), 2):
        low, high = tree.leaves[lo], tree.leaves[hi]
        common = next(length for length in range(4, -1, -1) if low[:length] == high[:length])
        assert tree.label(lo, hi) == (low[:common].ljust(4, "*") if common else "*")


def test_a_star_tree_is_all_or_nothing():
    tree = star_tree(["b", "a", "c", "a"])

    assert tree.paths == (("a", "*"), ("b", "*"), ("c", "*"))
    assert gap_widths(tree).tolist() == [1, 1]
    assert leaf_widths(star_tree(["*", "a"])).tolist() == [1, 0]


def test_a_column_without_values_has_a_tree_without_leaves():
    assert build_prefix_tree([]) == GeneralizationTree(())
    assert build_prefix_tree([""]).paths == (("", "*"),)


ZIPS = [f"47{number}" for number in range(600, 630)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (ZIPS, True),
        (ZIPS + [f"{code}-0001" for code in ZIPS], True),
        ([f"SW{number // 5} {number % 5}AA" for number in range(50, 80)], True),
        (ZIPS[:19], False),
        (ZIPS * 2 + ["476", "4760"], False),
        ([f"{a}{b}" for a in "1234567" for b in "1234567"], False),
        ([f"name{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"], False),
        ([f"{number * 7919 % 100:02}{number}" for number in range(100, 140)], False),
        ([f"-----{number}" for number in range(100, 140)], False),
        ([], False),
    ],
)
def test_codes_are_told_from_other_text(values, expected):
    cells = pa.table({"c": pa.array(values, pa.string())})
    with kech.read_table(cells, quasi_identifiers=["c"]) as table:
        (axis,) = build_points(replace(table, kinds={"c": "text"})).axes
    assert axis.kind == ("hierarchy" if expected else "set")


# Size


@pytest.mark.long
def test_a_hundred_thousand_leaves_take_seconds(tmp_path):
    rows = (f"{n:05};{n // 10:04}*;{n // 100:03}**;{n // 1000:02}***;*" for n in range(100_000))
    path = write(tmp_path, "\n".join(rows))
    start = time.process_time()

    tree = read_hierarchy(path).restrict(f"{n:05}" for n in range(0, 100_000, 2))
    gaps = gap_widths(tree)
    spans = [span(tree, leaf, leaf + 1) for leaf in range(2000)]

    assert time.process_time() - start < 10
    assert (len(gaps), gaps[0], gaps.max()) == (49_999, 4 / 49_999, 1)
    assert spans[4] == (0, 49)
