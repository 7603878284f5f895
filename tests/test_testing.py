"""assert_k_anonymous: pandas counts classes as the oracle; messages name sizes and never a value."""

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from by_hand import certify
from kech.errors import BadOption, ColumnInTwoRoles, NoQuasiIdentifier, NoSuchColumn
from kech.tables.demo import generate_town

assert_k_anonymous = kech.testing.assert_k_anonymous
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "checks.md"
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "polars lazy": pl.LazyFrame, "pyarrow": pa.table}

cells = st.sampled_from([None, "a", "b", ""])
tables = st.lists(st.tuples(cells, st.sampled_from([1, 2])), min_size=1, max_size=12)


@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=30, deadline=None)
@given(rows=tables)
def test_it_fails_below_the_smallest_class_that_pandas_counts(library, rows):
    frame = LIBRARIES[library]({"x": [x for x, _ in rows], "y": [y for _, y in rows]})
    smallest = int(pd.DataFrame(rows, columns=["x", "y"]).groupby(["x", "y"], dropna=False).size().min())

    assert_k_anonymous(frame, ["x", "y"], smallest)
    with pytest.raises(AssertionError):
        assert_k_anonymous(frame, ["x", "y"], smallest + 1)


def test_the_message_names_classes_by_size_and_no_value():
    frame = pd.DataFrame({"who": ["zorro"] + ["batman"] * 2 + ["robin"] * 2 + ["joker"] * 5})
    with pytest.raises(AssertionError) as refused:
        assert_k_anonymous(frame, ["who"], 5)
    assert str(refused.value) == (
        "not 5-anonymous on 'who': 3 of 4 classes have fewer than 5 rows, of sizes 1, 2 (2 times) (5 of 10 rows)"
    )


def test_many_sizes_are_cut_short():
    frame = {"x": [str(size) for size in range(1, 30) for _ in range(size)]}
    with pytest.raises(AssertionError, match=r"of sizes 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, \.\.\. \("):
        assert_k_anonymous(pa.table(frame), ["x"], 29)


def test_goals_hold_for_every_sensitive_column():
    frame = pl.DataFrame({"x": ["a", "a", "b", "b"], "s": ["flu", "flu", "flu", "cold"]})
    assert_k_anonymous(frame, ["x"], 2, sensitive=["s"], l=1, t=0.25)
    for goal, said in (({"l": 2}, "l of 's'"), ({"t": 0.2}, "t of 's'"), ({"alpha": 0.9}, "alpha of 's'")):
        with pytest.raises(AssertionError, match=said) as refused:
            assert_k_anonymous(frame, ["x"], 2, sensitive=["s"], **goal)
        assert "flu" not in str(refused.value)


@pytest.mark.parametrize(
    "column",
    [
        pd.cut(pd.Series([1, 2, 7, 9]), [0, 5, 10]),
        pd.Series([25, 25, "*", "*"], dtype=object),
        pd.Series([0.5, 0.5, None, None]),
        pd.Series(["m", "m", None, None], dtype="category"),
        pd.to_datetime(pd.Series(["2001-02-03"] * 2 + ["2001-02-04"] * 2)),
    ],
    ids=["pandas cut", "mixed", "numbers", "category", "dates"],
)
def test_columns_of_any_kind(column):
    frame = pd.DataFrame({"x": column})
    assert_k_anonymous(frame, ["x"], 2)
    with pytest.raises(AssertionError, match="2 of 2 classes"):
        assert_k_anonymous(frame, ["x"], 3)


def test_a_frame_without_rows_fails():
    with pytest.raises(AssertionError, match="no rows"):
        assert_k_anonymous(pd.DataFrame({"x": []}), ["x"], 1)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"k": 0}, BadOption),
        ({"quasi_identifiers": []}, NoQuasiIdentifier),
        ({"quasi_identifiers": ["y"]}, NoSuchColumn),
        ({"sensitive": ["x"]}, ColumnInTwoRoles),
        ({"l": 2}, BadOption),
    ],
)
def test_a_wrong_question_is_a_refusal_and_no_failed_assertion(options, kind):
    with pytest.raises(kind):
        assert_k_anonymous(pa.table({"x": [1]}), **({"quasi_identifiers": ["x"], "k": 1} | options))


def test_a_release_keeps_what_it_promises():
    with kech.read_table(generate_town(300).to_pandas(), quasi_identifiers=["age", "sex"], sensitive=["job"]) as table:
        release = kech.make_release(table, k=6, l=2, effort="quick")
        assert_k_anonymous(release.frame, ["age", "sex"], 6, sensitive=["job"], l=2)


def test_a_released_file_is_asserted_and_the_plugin_makes_a_test_of_every_certificate(tmp_path):
    (plugin,) = [block for block in blocks("python") if block.startswith("pytest_plugins")]
    (tmp_path / "conftest.py").write_text(plugin, "utf-8")
    axis = {"column": "age", "axis": "number", "domain": [0, 99]}
    good, bad = (certify(tmp_path / name, ("age",), [("[41, 42]",)] * 5, [axis]) for name in ("good.csv", "bad.csv"))
    bad.write_text(bad.read_text("utf-8").replace("42", "47"), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    kech.testing.assert_release(good)
    with pytest.raises(AssertionError, match="not the file that was certified"):
        kech.testing.assert_release(bad)
    assert "1 failed, 1 passed" in ran.stdout
    assert "bad.csv.certificate.json" in ran.stdout
    assert "47" not in ran.stdout


# The copies that people paste


def blocks(language):
    return re.findall(rf"```{language}[^\n]*\n(.*?)```", PAGE.read_text("utf-8"), re.S)


def test_the_pytest_example_fails_without_showing_a_value(tmp_path):
    (example,) = [block for block in blocks("python") if "def test_" in block]
    (tmp_path / "test_release.py").write_text(example, "utf-8")
    pd.DataFrame({"age": [41, 41, 77], "zip": ["x"] * 3, "diagnosis": ["flu"] * 3}).to_csv(tmp_path / "safe.csv")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_release.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ran.returncode == 1
    assert "AssertionError: not 5-anonymous" in ran.stdout
    assert "of sizes 1, 2" in ran.stdout


def test_the_sql_of_the_manual_finds_small_classes():
    (plain,) = blocks("sql")
    people = pa.table({"age": [1, 1, 1, None, None], "zip": ["x", "x", "x", "y", "y"]})
    with duckdb.connect() as base:
        base.register("people", people)
        found = [base.execute(plain.replace("5", k)).fetchall() for k in "23"]

    assert found == [[], [(2,)]]


GENERIC = Path(__file__).parents[1] / "dbt" / "macros" / "k_anonymous.sql"


def find_failures(people, k, sensitive=(), least=1):
    """What the test of dbt finds in a table, written out as dbt does it."""
    query = re.search(r"%}(.*){% endtest %}", GENERIC.read_text("utf-8"), re.S)[1]
    each = re.search(r"{%- for column in sensitive %}(.*?){%- endfor %}", query, re.S)
    query = query.replace(each[0], "".join(each[1].replace("{{ column }}", name) for name in sensitive))
    words = {"model": "people", "quasi_identifiers | join(', ')": "age, zip", "k": k, "l": least}
    for name, word in words.items():
        query = query.replace(f"{{{{ {name} }}}}", str(word))
    with duckdb.connect() as base:
        base.register("people", people)
        return base.execute(query).fetchall()


def test_the_test_of_dbt_finds_small_classes_few_values_and_empty_tables():
    people = pa.table({"age": [1, 1, 1, None, None], "zip": list("xxxyy"), "ill": ["a", "b", "b", "a", None]})
    assert find_failures(people, 2) == []
    assert find_failures(people, 3) == [(2,)]
    assert find_failures(people, 2, ["ill"], 2) == []
    assert sorted(find_failures(people, 2, ["ill"], 3)) == [(2,), (3,)]
    assert find_failures(people.slice(0, 0), 2) == [(0,)]


def test_the_job_of_the_manual_stops_where_a_class_is_too_small(run, folder):
    (command,) = re.findall(r"- run: kech (verify.*)", blocks("yaml")[0])
    people = {"age": [1] * 6 + [2] * 4}
    frame = pd.DataFrame(people)
    frame.to_csv(folder / "safe.csv", index=False)
    outcome = run(*command.replace("safe.csv", f"{folder / 'safe.csv'} --qi age").split())

    assert outcome.code == 4
    assert "k: asked 5, found 4" in outcome.err
