"""SQL of a release: a database makes the same rows from the original, and its text tells what labels tell."""

import re
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kech
from kech.errors import BadOption
from kech.tables.demo import generate_town, nine_rows

ORDER = ["primary", "secondary", "bachelor", "master", "doctorate"]
COUNTRIES = {"World": {"Europe": ["Spain", "Poland", "Malta"], "America": ["Chile", "Canada"]}}


@pytest.fixture(scope="module")
def town():
    """Numbers, dates, texts with quotes, an order and a hierarchy; some missing, some rare."""
    rows = generate_town(600, seed=5).to_pandas()
    draw = np.random.default_rng(5)
    rows["age"] = rows["age"].astype("Float64")
    rows.loc[::17, "age"] = None
    rows.loc[5::23, "job"] = None
    rows.loc[rows.job == "law", "job"] = 'o\'law, "and" {order}'
    rows["height"] = np.round(draw.normal(170, 10, 600), 1)
    rows["country"] = draw.choice(["Spain", "Poland", "Chile", "Canada"], 600, p=[0.5, 0.3, 0.195, 0.005])
    rows["code"] = draw.choice(["123", "123X5", "12345", "999", "99912", "77712"], 600)
    return rows


CASES = {
    "numbers": (["age", "sex"], {}),
    "prefixes": (["zip", "age"], {}),
    "texts": (["job", "sex"], {}),
    "dates": (["moved_in"], {}),
    "halves": (["height"], {}),
    "order": (["schooling", "age"], {"axes": {"schooling": ORDER}}),
    "tree": (["country", "age"], {"hierarchies": {"country": COUNTRIES}}),
    "codes": (["code", "age"], {"axes": {"code": "hierarchy"}}),
    "star": (["job"], {"axes": {"job": "star"}}),
}


def release(rows, case, k=5, suppress=0.1, **options):
    columns, roles = CASES[case]
    reading = {"quasi_identifiers": columns, "sensitive": ["diagnosis"]} | roles
    return kech.make_release(rows, k=k, suppress=suppress, cut="domain", **reading, **options)


@pytest.fixture(scope="module")
def releases(town):
    """Each case, released once; texts at a level between their values and all."""
    return {case: release(town, case, 30 if case in ("order", "tree", "codes") else 5) for case in CASES}


def counted(frame):
    """Rows as texts, each with how often it occurs."""
    return Counter(tuple("" if pd.isna(cell) else str(cell) for cell in row) for row in frame.itertuples(index=False))


def run_on_duckdb(query, rows):
    with duckdb.connect() as base:
        base.register("original", pa.Table.from_pandas(rows))
        return base.execute(query).df()


def run_on_postgres(query, rows, url):
    psycopg = pytest.importorskip("psycopg")
    kinds = {"f": "double precision", "F": "double precision", "M": "timestamp"}
    types = {name: kinds.get(getattr(rows[name].dtype, "kind", "O"), "text") for name in rows}
    with psycopg.connect(url) as base:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        base.execute(f"CREATE TEMP TABLE original ({columns})")
        with base.cursor().copy("COPY original FROM STDIN") as copy:
            for row in rows.itertuples(index=False):
                copy.write_row([None if pd.isna(cell) else cell for cell in row])
        found = base.execute(query.replace("%", "%%"))
        return pd.DataFrame(found.fetchall(), columns=[column.name for column in found.description])


# The paper's nine rows


def test_the_nine_rows():
    rows = nine_rows().to_pandas()
    made = kech.make_release(rows, k=3, cut="domain", quasi_identifiers=["age", "zip"], sensitive=["salary"])
    assert counted(run_on_duckdb(made.to_sql(), rows)) == counted(made.frame)


# Both databases make the rows of the release


@pytest.mark.parametrize("case", CASES)
def test_duckdb_and_postgres_make_the_same_rows(town, releases, case, postgres):
    query, rows = releases[case].to_sql(), counted(releases[case].frame)
    assert counted(run_on_duckdb(query, town)) == rows
    assert counted(run_on_postgres(query, town, postgres)) == rows


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k", [2, 40])
def test_the_same_rows_at_other_levels(town, case, k):
    made = release(town, case, k)
    assert counted(run_on_duckdb(made.to_sql(), town)) == counted(made.frame)


def test_rows_that_are_left_out_are_left_out_by_the_query(town):
    made = release(town, "texts", suppress=0.2)
    assert 0 < len(made.frame) < len(town)
    assert counted(run_on_duckdb(made.to_sql(), town)) == counted(made.frame)


def test_a_short_code_is_no_prefix_of_longer_ones():
    """`123**` beside `1234*` stands for the code 123 alone."""
    codes = [f"{stem}{digit}" for stem in ("1234", "1235") for digit in range(10) for _ in range(2)]
    rows = pd.DataFrame({"code": [*codes, *["123", "999"] * 20]})
    made = kech.make_release(rows, k=15, cut="domain", quasi_identifiers=["code"], axes={"code": "hierarchy"})
    assert set(made.labels["code"]) == {"1234*", "1235*", "123**", "999**"}
    assert counted(run_on_duckdb(made.to_sql(), rows)) == counted(made.frame)


def test_not_a_number_is_missing_and_no_label_holds_it():
    rows = pd.DataFrame({"age": [20.0] * 5 + [90.0] * 5 + [None] * 5})
    made = kech.make_release(rows, k=5, cut="domain", quasi_identifiers=["age"])
    with duckdb.connect() as base:
        base.register("original", pa.table({"age": [20.0] * 5 + [90.0] * 5 + [float("nan")] * 5}))
        assert counted(base.execute(made.to_sql()).df()) == counted(made.frame)


def test_the_dash_form_is_written_too(town):
    made = release(town, "numbers", labels="dash")
    assert counted(run_on_duckdb(made.to_sql(), town)) == counted(made.frame)


# What the text of a query tells


@pytest.mark.parametrize("case", ["numbers", "prefixes", "texts", "dates", "halves", "codes", "star"])
def test_a_public_query_holds_no_constant_that_is_not_in_a_published_label(releases, case):
    made = releases[case]
    query = made.to_sql()
    published = " ".join(str(label) for labels in made.labels.values() for label in labels)
    constants = {text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')*)'", query)} - {"NaN"}

    assert not query.startswith("-- PRIVATE")
    assert [text for text in constants if text not in published] == []
    bare = re.sub(r"'(?:[^']|'')*'", "", query.split("WITH", 1)[1])
    assert {int(number) for number in re.findall(r"(?<!\w)\d+", bare)} <= {1, 2, 3, 4, made.parameters["k"]}  # prefixes


def test_a_suppressed_value_is_not_in_the_query(town):
    rows = pd.concat([town, town.head(1).assign(job="astronaut", age=119.0, person="nobody")])
    for case in ("texts", "numbers", "star"):
        query = release(rows, case).to_sql()
        assert "astronaut" not in query
        assert "119" not in query


@pytest.mark.parametrize("case", ["order", "tree"])
def test_a_query_that_lists_values_behind_labels_is_private(town, case, tmp_path):
    made = release(town, case, k=30)
    made.write(tmp_path / "safe.csv", sql=tmp_path / "safe.sql", ledger=False)
    text = (tmp_path / "safe.sql").read_text("utf-8")

    assert text == made.to_sql()
    assert text.startswith("-- PRIVATE: not for publication.")
    assert (tmp_path / "safe.sql").stat().st_mode & 0o077 == 0


def test_a_hierarchy_is_listed_whole_so_that_nobody_sees_which_leaves_occur(town):
    query = release(town, "tree", k=30).to_sql()
    assert "'Malta'" in query or "Europe" not in query


# The command, and what it refuses


def test_the_command_writes_the_query(run, town, folder):
    town.to_parquet(folder / "town.parquet")
    words = ["--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 5, "--suppress", "10%", "--cut", "domain"]
    done = run(
        "release", folder / "town.parquet", "-o", folder / "safe.parquet", "--as-sql", folder / "safe.sql", *words
    )
    found = run_on_duckdb((folder / "safe.sql").read_text("utf-8"), town)

    assert done.code == 0, done.err
    assert "a query that makes these rows from the original" in done.out
    assert counted(found) == counted(pd.read_parquet(folder / "safe.parquet"))


def test_what_no_query_gives_back_is_refused_and_nothing_is_written(refuse, town, folder):
    town.to_csv(folder / "town.csv", index=False)
    asked = ("release", folder / "town.csv", "-o", folder / "safe.csv", "--qi", "age", "sex", "--k", 5)
    as_sql = ("--as-sql", folder / "safe.sql")
    refuse(*asked, *as_sql, "--effort", "quick", code=2, says="only --cut domain")
    refuse(*asked, "--cut", "domain", "--as-sql", folder / "safe.txt", code=2, says="must end in .sql")
    refuse(*asked, "--cut", "domain", *as_sql, "--labels", "midpoint", code=2, says="writes labels as text")
    refuse(*asked, "--cut", "domain", *as_sql, "--null-values", "NA", code=2, says="as the database holds them")
    refuse(*asked, "--cut", "domain", *as_sql, "--person", "zip", code=2, says="counts people")
    refuse(*asked, *as_sql, "--folder", folder / "f", code=2, says="Omit --certificate, --mapping and --as-sql")


# A dataframe goes straight in


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_released_directly_and_comes_back_as_its_own_kind(library):
    rows = generate_town(120, seed=1)
    frame = {"pandas": rows.to_pandas, "polars": lambda: __import__("polars").from_arrow(rows), "pyarrow": lambda: rows}
    source = frame[library]()
    made = kech.make_release(source, k=5, quasi_identifiers=["age", "sex"], sensitive=["diagnosis"], effort="quick")

    assert type(made.frame) is type(source)
    kech.testing.assert_k_anonymous(made.frame, ["age", "sex"], k=5)


def test_a_frame_takes_a_request_and_refuses_as_a_table_does():
    rows = generate_town(60, seed=1).to_pandas()
    request = kech.Request().override(k=5, quasi_identifiers=["age"], effort="quick")
    assert kech.make_release(rows, request).partition.k >= 5
    assert list(kech.make_release(rows, request, sensitive=["job"]).columns) == ["age", "job"]
    with pytest.raises(BadOption, match="Read it first"):
        kech.make_release("people.csv", k=5)
    with pytest.raises(kech.errors.NoSuchColumn):
        kech.make_release(rows, k=5, quasi_identifiers=["none"])
    with pytest.raises(kech.errors.UsageError):
        kech.make_release(rows, k=5)
