"""Words and packing: texts held once, rows as numbers, and nothing that can be seen from outside changes."""

from collections import Counter
from time import process_time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kech
from kech.errors import KechError
from kech.tables import batches as table_batches
from kech.tables import duckdb
from kech.tables.batches import TextNumbers
from kech.tables.duckdb import DuckDB
from kech.tables.engine import Engine
from kech.tables.sql import ColumnCodes

pytestmark = pytest.mark.usefixtures("temporary")
unhurried = settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
cells = st.lists(st.none() | st.sampled_from(["", "a", "b", "ab" * 40]) | st.text(max_size=12), max_size=40)


def load(columns, pieces=1):
    """An engine that reads a table in so many batches."""
    table, made = pa.table(columns), Engine(DuckDB(threads=2))
    batches = table.to_reader(max_chunksize=max(-(-len(table) // pieces), 1))
    made.backend.load_arrow(batches, range(table.num_columns), (), "t")
    return made


@given(st.lists(cells, max_size=4), st.integers(0, 3), st.sampled_from([pa.string(), pa.large_string()]))
@settings(deadline=None, max_examples=30)
def test_each_text_has_one_number_and_null_has_none(parts, skipped, kind):
    numbering = TextNumbers([0], 1)
    batches = [pa.record_batch({"c0": pa.array(part, kind)}).slice(skipped) for part in parts]
    numbered = [x for piece in numbering.number(batches) for x in piece["k0"].to_pylist()]
    known = numbering.list_words(0).to_pydict()
    assert [known["c0"][x] for x in numbered] == [x for part in parts for x in part[skipped:]]
    assert known["k0"] == list(range(len(known["c0"])))
    assert len(set(known["c0"])) == len(known["c0"])
    assert known["c0"][0] is None


def test_texts_that_agree_in_all_but_a_letter_stay_apart():
    texts = [f"{'x' * n}{letter}{'y' * m}" for n in range(20) for m in range(20) for letter in "ab"]
    numbering = TextNumbers([0], 2)
    (piece,) = numbering.number([pa.record_batch({"c0": texts})])
    assert len(set(piece["k0"].to_pylist())) == len(set(texts))


def test_texts_of_too_many_bytes_are_spelled_out_and_let_go():
    texts = [f"{i % 40}{'x' * 100}" for i in range(400)]
    numbering = TextNumbers([0], 1, most=2_000)
    pieces = list(numbering.number([pa.record_batch({"c0": texts[start : start + 10]}) for start in range(0, 400, 10)]))
    assert [piece.column_names for piece in pieces] == [["k0"]] + 39 * [["c0"]]
    assert numbering.list_words(0)["c0"].to_pylist()[1:] == texts[:20]
    assert not numbering.given_up


@pytest.mark.parametrize(("most", "numbered"), [(None, [0, 1]), (10_000, [0, 1]), (4_000, [1])])
def test_the_words_of_all_columns_share_what_they_may_take(most, numbered):
    made = Engine(DuckDB(threads=1))
    made.backend.word_bytes = most
    table = pa.table({"a": [f"{i % 40}{'x' * 100}" for i in range(400)], "b": ["y"] * 400})
    made.backend.load_arrow(table.to_reader(max_chunksize=100), range(2), (), "t")
    assert [i for i, held in made.layout.columns.items() if held.in_words] == numbered
    assert made.count_values(0, "text")[0] == sorted(set(table["a"].to_pylist()))


def seen(engine, kinds):
    """Everything an engine says about its table."""
    mappings = []
    for column, kind in enumerate(kinds):
        values, _ = engine.count_values(column, kind)
        mappings.append(ColumnCodes(column, kind, values, np.arange(len(values), dtype=np.int32), len(values)))
    points, rows = engine.group(mappings)
    facts = [engine.describe(column) for column in range(len(kinds))]
    return facts, points.tolist(), rows.tolist(), engine.code_rows(mappings).tolist(), engine.head([0, 1], 100)


@given(cells, st.integers(1, 4), st.integers(0, 12))
@unhurried
def test_nobody_can_tell_whether_texts_are_numbered(texts, pieces, few):
    table = {"a": pa.array(texts, pa.string()), "b": pa.array(range(len(texts)), pa.int64())}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_batches, "REPEATED", 1000)
        patch.setattr(duckdb, "PIECE", 1)
        found = []
        for limit in (few, -1, 1000):  # given up on the way, from the beginning, and never
            patch.setattr(table_batches, "FEW_TEXTS", limit)
            engine = load(table, pieces)
            columns = engine.layout.columns
            found.append((seen(engine, ["text", "number"]), [(i, held.type) for i, held in columns.items()]))
            assert columns[0].in_words == (not texts or len({*texts} - {None}) + 1 <= limit)
            engine.close()
    assert found[0] == found[1] == found[2]


def test_numbers_become_wider_and_rows_keep_their_order(monkeypatch):
    monkeypatch.setattr(duckdb, "PIECE", 50_000)
    texts = [f"t{i % (100 if i < 50_000 else 300 if i < 100_000 else 70_000)}" for i in range(250_000)]
    engine = load({"a": texts, "b": [f"u{i // 2}" if i < 240_000 else "u" for i in range(250_000)]}, 5)
    held = dict(engine.backend.connection.execute("SELECT column_name, data_type FROM duckdb_columns()").fetchall())
    assert held["k0"] == "UINTEGER"
    assert held["c1"] == "VARCHAR"
    values, _ = engine.count_values(0, "text")
    mapping = ColumnCodes(0, "text", values, np.arange(len(values), dtype=np.int32), 0)
    assert [values[i] for i in engine.code_rows([mapping])[:, 0]] == texts
    assert engine.describe(0).distinct == len(set(texts))
    engine.close()


@given(st.lists(st.integers(1, 50_000), min_size=1, max_size=30), st.integers(0, 2**32))
@settings(unhurried, max_examples=25)
def test_codes_come_back_from_their_numbers_in_the_same_order(sizes, seed):
    """Codes of several columns are packed into few numbers, by which the engine groups."""
    chance = np.random.default_rng(seed)
    codes = np.stack([chance.integers(0, size, 50) for size in sizes], axis=1)
    engine = load({f"a{j}": codes[:, j] for j in range(len(sizes))})
    every = [np.unique(np.r_[codes[:, j], sizes[j] - 1]) for j in range(len(sizes))]
    mappings = [
        ColumnCodes(j, "number", x.astype(float), x.astype(np.int32), sizes[j] % 7) for j, x in enumerate(every)
    ]
    found, rows = engine.group(mappings)
    engine.close()
    assert list(zip(found.tolist(), rows.tolist(), strict=True)) == sorted(
        (list(code), n) for code, n in Counter(map(tuple, codes.tolist())).items()
    )


def test_rows_that_take_several_numbers_are_grouped(rng=np.random.default_rng(7)):  # noqa: B008
    columns = [rng.integers(0, 90, 40).repeat(3) for _ in range(12)]
    engine = load({f"a{j}": column for j, column in enumerate(columns)})
    mappings = []
    for j in range(12):
        values, _ = engine.count_values(j, "number")
        mappings.append(ColumnCodes(j, "number", values, (values * 1000).astype(np.int32), 0))
    assert 90_000**12 > 2**64  # so many codes are no one number
    codes, rows = engine.group(mappings)
    wanted = Counter(zip(*((1000 * column).tolist() for column in columns), strict=True))
    assert dict(zip(map(tuple, codes.tolist()), rows.tolist(), strict=True)) == wanted
    assert codes.tolist() == sorted(codes.tolist())
    engine.close()


@pytest.mark.parametrize(
    ("most", "expected"), [(1 << 28, [6, 40, 9]), (100, [6, 40, 2, 7]), (1, [1, 2, 3, 40, 1, 1, 7])]
)
@pytest.mark.parametrize("kind", [pa.string(), pa.string_view()])
def test_batches_are_gathered_by_rows_and_by_bytes(most, expected, kind):
    """Found by review: texts of many batches, each of which fits, were more than Arrow holds in one."""
    batches = [pa.record_batch({"x": pa.array(["abcdefgh"] * n, kind)}) for n in (1, 2, 3, 40, 1, 1, 7)]
    assert [len(piece) for piece in table_batches.join_small_batches(batches, 6, most)] == expected


class Counted:
    """A batch that knows how often its rows were counted."""

    nbytes = asked = 0

    def __len__(self):
        self.asked += 1
        return 1


def test_a_batch_is_looked_at_once_however_many_are_gathered(monkeypatch):
    """Found by review: all that were held were counted again at each that came."""
    monkeypatch.setattr(table_batches, "join_batches", len)
    batches = [Counted() for _ in range(100)]
    assert list(table_batches.join_small_batches(batches, 1_000, 1 << 28)) == [100]
    assert {batch.asked for batch in batches} == {1}


def test_what_arrow_cannot_gather_is_a_refusal(monkeypatch):
    def too_long(_):
        raise pa.ArrowInvalid("offset overflow at CANARY")

    monkeypatch.setattr("kech.tables.batches.pa.concat_batches", too_long)
    piece = pa.table({"a": ["CANARY"] * 4})
    with pytest.raises(KechError) as refusal:
        kech.read_table(pa.concat_tables([piece, piece]), quasi_identifiers=["a"])
    assert "CANARY" not in str(refusal.value)


def test_nobody_can_choose_texts_that_meet_at_one_place():
    """Found by review: these bits cancelled each other in the lower half of an unkeyed hash."""
    numbers = np.arange(1 << 15, dtype=np.uint64)
    chosen = numbers << np.uint64(49) | numbers << np.uint64(17)
    plain = np.random.default_rng(1).permutation(1 << 15).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    ends = np.arange((1 << 15) + 1, dtype=np.int32) * 8
    spent = {}
    for name, texts in {"plain": plain, "chosen": chosen}.items():
        cells = pa.Array.from_buffers(pa.string(), len(numbers), [None, pa.py_buffer(ends), pa.py_buffer(texts)])
        start = process_time()
        numbering = TextNumbers([0], 1)
        list(numbering.number([pa.record_batch({"c0": cells})]))
        spent[name] = process_time() - start
        known = numbering.list_words(0)["c0"].combine_chunks().cast(pa.large_binary()).to_pylist()
        assert known == [None, *(text.tobytes() for text in texts)]
    assert spent["chosen"] < 20 * max(spent["plain"], 0.002)


def test_numbers_are_by_arrival():
    (found,) = TextNumbers([0], 1).number([pa.record_batch({"c0": [str(i * i % 97) for i in range(500)]})])
    seen = {}
    assert found["k0"].to_pylist() == [seen.setdefault(i * i % 97, len(seen) + 1) for i in range(500)]
