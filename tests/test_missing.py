"""A missing value and empty text are two values, but where a format cannot tell them apart."""

import json
from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from kech.errors import ClaimBroken, KechError

WARDS = [None] * 5 + [""] * 5
ROWS = pa.table({"ward": pa.array(WARDS, pa.string()), "note": WARDS[::-1], "disease": ["flu", "cold"] * 5})
ROLES = {"quasi_identifiers": ["ward"], "sensitive": ["disease"], "keep": ["note"]}


def held(rows):
    return sorted(rows, key=lambda row: tuple((cell is None, cell or "") for cell in row))


def in_duckdb(folder):
    with duckdb.connect(str(folder / "people.db")) as connection:
        connection.execute("CREATE TABLE people AS FROM ROWS")
    return f"duckdb:{folder / 'people.db'}#people"


def in_parquet(folder):
    pq.write_table(ROWS, folder / "people.parquet")
    return folder / "people.parquet"


def in_arrow(folder):
    with pa.OSFile(str(folder / "people.arrow"), "wb") as file, pa.ipc.new_file(file, ROWS.schema) as writer:
        writer.write(ROWS)
    return folder / "people.arrow"


SOURCES = {
    "duckdb": in_duckdb,
    "parquet": in_parquet,
    "arrow": in_arrow,
    "pandas": lambda _: ROWS.to_pandas(),
    "polars": lambda _: pl.from_arrow(ROWS),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_empty_text_and_nothing_are_two_classes(kind, tmp_path):
    with kech.read_table(SOURCES[kind](tmp_path), **ROLES) as table:
        release = kech.make_release(table, k=5, protect="none")
        written = release.write(tmp_path / "safe.parquet")
        address = f"duckdb:{tmp_path / 'safe.db'}#safe"
        stored = release.write(address, tmp_path / "safe.json", allow_composition=True)

    for claims in (written["claims"], stored["claims"]):
        assert (claims["k"], claims["classes"]) == (5, 2)
    assert kech.verify_release(tmp_path / "safe.parquet")["k"] == 5
    assert kech.verify_release(address, certificate=tmp_path / "safe.json")["k"] == 5
    assert kech.compute_risk(tmp_path / "safe.parquet").k == 5
    with duckdb.connect(str(tmp_path / "safe.db")) as connection:
        found = connection.execute("SELECT ward, note FROM safe").fetchall()
    assert held(found) == held(zip(WARDS, WARDS[::-1], strict=True))


def test_a_table_that_merges_them_is_refused(tmp_path):
    """A certificate of k = 10, as it was written before."""
    with kech.read_table(ROWS, **ROLES) as table:
        address = f"duckdb:{tmp_path / 'safe.db'}#safe"
        kech.make_release(table, k=5, protect="none").write(address, tmp_path / "safe.json")
    document = json.loads((tmp_path / "safe.json").read_text())
    document["claims"] |= {"k": 10, "classes": 1}
    (tmp_path / "safe.json").write_text(json.dumps(document))

    with pytest.raises(ClaimBroken, match="k: asked 5, claimed 10, found 5"):
        kech.verify_release(address, certificate=tmp_path / "safe.json")


def test_postgresql_tells_them_apart(postgres, tmp_path):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS missing, missing_safe")
        connection.execute("CREATE TABLE missing (ward text, note text, disease text)")
        for row in zip(*ROWS.to_pydict().values(), strict=True):
            connection.execute("INSERT INTO missing VALUES (%s, %s, %s)", row)
        with kech.read_table(f"{postgres}?table=missing", **ROLES) as table:
            release = kech.make_release(table, k=5, protect="none")
            stored = release.write(f"{postgres}?table=missing_safe", tmp_path / "safe.json")
            written = release.write(tmp_path / "safe.parquet", ledger=False)
        found = connection.execute("SELECT ward, note FROM missing_safe").fetchall()

    assert (stored["claims"]["k"], stored["claims"]["classes"]) == (5, 2)
    assert (written["claims"]["k"], written["claims"]["classes"]) == (5, 2)
    assert held(found) == held(zip(WARDS, WARDS[::-1], strict=True))
    assert kech.verify_release(f"{postgres}?table=missing_safe", certificate=tmp_path / "safe.json")["k"] == 5


def test_csv_writes_them_alike_and_counts_them_as_one(tmp_path):
    path = tmp_path / "safe.csv"
    with kech.read_table(ROWS, **ROLES) as table:
        release = kech.make_release(table, k=5, protect="none")
        claims = release.write(path, mapping=tmp_path / "mapping.json")["claims"]

    assert (claims["k"], claims["classes"]) == (10, 1)
    assert b'""' not in path.read_bytes()
    readers = [
        pd.read_csv(path, keep_default_na=False)["ward"].tolist(),
        pl.read_csv(path)["ward"].to_list(),
        [cell for (cell,) in duckdb.sql(f"SELECT ward FROM read_csv('{path}', allow_quoted_nulls = false)").fetchall()],
    ]
    assert [len(set(cells)) for cells in readers] == [1, 1, 1]
    (only,) = json.loads((tmp_path / "mapping.json").read_text())["classes"]
    assert only["values"]["ward"] == [["", 5], [None, 5]]


def test_csv_that_quotes_empty_text_tells_them_apart(tmp_path, run):
    path = tmp_path / "t.csv"
    path.write_text("ward,disease\n" + ",flu\n" * 5 + '"",flu\n' * 5)

    assert run("verify", path, "--qi", "ward", "--k", "5").code == 0
    assert run("verify", path, "--qi", "ward", "--k", "6").code == 4


def test_sensitive_columns_count_both_as_nothing_said(tmp_path):
    """Empty text tells as little as a missing value, so l counts them once."""
    rows = {"age": [1] * 4, "disease": pa.array([None, None, "", ""], pa.string())}
    with kech.read_table(pa.table(rows), quasi_identifiers=["age"], sensitive=["disease"]) as table:
        certificate = kech.make_release(table, k=2).write(Path(tmp_path / "safe.parquet"))

    assert certificate["measured"]["l"] == {"disease": 1}


def test_a_set_counts_empty_text_among_its_values(tmp_path):
    wards = ["", "", "a", "a", *["b"] * 4, *[None] * 4]
    with kech.read_table(pa.table({"ward": wards}), quasi_identifiers=["ward"]) as table:
        kech.make_release(table, k=4, protect="none").write(tmp_path / "safe.parquet")
    labels = pq.read_table(tmp_path / "safe.parquet")["ward"].to_pylist()

    assert Counter(labels) == {None: 4, "b": 4, "{2 rare values}": 4}


@pytest.mark.parametrize(("first", "second", "fine"), [("csv", "parquet", False), ("parquet", "csv", True)])
def test_a_later_release_that_tells_them_apart_is_finer(tmp_path, first, second, fine):
    def write(name, **also):
        with kech.read_table(ROWS, **ROLES) as table:
            kech.make_release(table, k=5, protect="none").write(tmp_path / name, **also)

    write(f"one.{first}", ledger=False)
    if fine:
        write(f"two.{second}", earlier=[tmp_path / f"one.{first}"])
    else:
        with pytest.raises(KechError):
            write(f"two.{second}", earlier=[tmp_path / f"one.{first}"])
