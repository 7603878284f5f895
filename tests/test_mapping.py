"""The mapping: exactly the values of the original behind each label, for its owner only, and only when asked."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from kech.errors import BadTarget, CannotWrite
from kech.tables.demo import generate_town

COLUMNS = ["age", "zip"]


@pytest.fixture(scope="module")
def town():
    rows = generate_town(200, seed=4).to_pandas()
    rows.loc[::9, "age"] = None
    with kech.read_table(rows, quasi_identifiers=COLUMNS, sensitive=["diagnosis"], keep=["person"]) as table:
        yield rows, kech.make_release(table, k=4, effort="quick", suppress=0.02)


def text_of(value):
    return None if pd.isna(value) else str(value)


@pytest.mark.parametrize("name", ["safe.csv", "safe.parquet"])
def test_values_are_those_of_the_rows_that_were_written(town, tmp_path, name):
    """The kept column tells which row of the original each written one is."""
    original, release = town
    written = release.write(tmp_path / name, mapping=tmp_path / "map.json", ledger=False)
    mapping = json.loads((tmp_path / "map.json").read_text("utf-8"))
    published = read_rows(tmp_path / name)
    behind = original.set_index(original.person.astype(str))
    expected = defaultdict(lambda: defaultdict(Counter))
    for row in published:
        for column in COLUMNS:
            labels = tuple(row[column] or None for column in COLUMNS)
            expected[labels][column][text_of(behind[column][str(row["person"])])] += 1

    found = {tuple(one["labels"].values()): one for one in mapping["classes"]}
    assert found.keys() == expected.keys()
    for labels, one in found.items():
        assert one["rows"] == sum(expected[labels]["age"].values())
        for column in COLUMNS:
            assert dict(one["values"][column]) == dict(expected[labels][column])
    assert mapping["released"] == written["file"]["sha256"]


def read_rows(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_says_that_it_is_private_and_nobody_else_can_read_it(town, tmp_path):
    _, release = town
    release.write(tmp_path / "safe.csv", mapping=tmp_path / "map.json", ledger=False)

    first, *_ = (tmp_path / "map.json").read_text("utf-8").splitlines()
    assert first.startswith('{"private": true, "notice": "PRIVATE: not for publication.')
    assert (tmp_path / "map.json").stat().st_mode & 0o777 == 0o600


def test_nothing_is_mapped_unless_it_is_asked_for(town, tmp_path):
    _, release = town
    release.write(tmp_path / "safe.csv", ledger=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["safe.csv", "safe.csv.certificate.json"]


def test_the_release_is_no_other_for_being_mapped(town, tmp_path):
    _, release = town
    plain = release.write(tmp_path / "plain.csv", ledger=False)
    mapped = release.write(tmp_path / "mapped.csv", mapping=tmp_path / "map.json", ledger=False)
    for certificate in (plain, mapped):
        del certificate["file"]
    assert plain == mapped


@pytest.mark.parametrize("name", ["map.csv", "safe.csv.certificate.json", "none/map.json"])
def test_a_place_that_is_none_is_refused(town, tmp_path, name):
    _, release = town
    with pytest.raises(BadTarget):
        release.write(tmp_path / "safe.csv", mapping=tmp_path / name, ledger=False)
    assert not list(tmp_path.iterdir())


def test_a_mapping_that_cannot_be_written_leaves_nothing(town, tmp_path, monkeypatch):
    written = Path.write_bytes

    def fail(self, contents):
        if "map.json" in self.name:
            raise OSError(28, "No space left on device")
        return written(self, contents)

    monkeypatch.setattr(Path, "write_bytes", fail)
    _, release = town
    with pytest.raises(CannotWrite):
        release.write(tmp_path / "safe.csv", mapping=tmp_path / "map.json", ledger=False)
    assert not list(tmp_path.iterdir())


def test_a_table_of_a_database_is_mapped_too(town, tmp_path):
    _, release = town
    address = f"duckdb:{tmp_path / 'base.db'}#safe"
    release.write(address, tmp_path / "safe.json", mapping=tmp_path / "map.json", ledger=False)
    mapping = json.loads((tmp_path / "map.json").read_text("utf-8"))
    assert sum(one["rows"] for one in mapping["classes"]) == int(release.partition.rows.sum())


def test_the_command_says_what_it_wrote(run, folder):
    source = folder / "people.csv"
    source.write_text("age,name\n" + "".join(f"{age},x\n" for age in range(20, 40)), "utf-8")
    words = ["release", source, "-o", folder / "safe.csv", "--qi", "age", "--k", "5", "--mapping", folder / "map.json"]
    outcome = run(*words)

    assert outcome.code == 0
    assert "PRIVATE" in outcome.out
    assert run(*words, "--json").json["mapping"] == str(folder / "map.json")
    assert run(*words[:-1], folder / "map.txt").code == 2


def test_rows_in_several_batches_add_up(tmp_path):
    """More rows than are counted together: values, missing ones and empty text of each class."""
    rng = np.random.default_rng(3)
    rows = {
        "text": rng.choice(np.array([None, "", "a", "b"], object), 230_000, p=[0.1, 0.2, 0.3, 0.4]),
        "number": rng.integers(0, 8, 230_000),
    }
    with kech.read_table(pa.table(rows), quasi_identifiers=["text", "number"]) as table:
        release = kech.make_release(table, k=20_000, effort="quick")
        release.write(tmp_path / "t.parquet", mapping=tmp_path / "map.json", ledger=False)
    classes = json.loads((tmp_path / "map.json").read_text("utf-8"))["classes"]
    for name, cells in rows.items():
        found = Counter()
        for one in classes:
            found.update(dict(one["values"][name]))
        assert found == Counter(None if cell is None else str(cell) for cell in cells)
    published = pq.read_table(tmp_path / "t.parquet").to_pylist()
    written = Counter((row["text"], row["number"]) for row in published)
    assert {tuple(one["labels"].values()): one["rows"] for one in classes} == written
