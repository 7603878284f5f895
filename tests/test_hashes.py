"""Hashes of many texts at once equal those of the standard library, one by one."""

from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kech import _kernels
from kech.release.series import hashes

LENGTHS = (0, 1, 8, 127, 128, 129, 255, 256, 257, 700, 0)  # around the blocks of 128 bytes


@pytest.mark.parametrize("size", [1, 8, 16, 64])
@pytest.mark.parametrize("key", [b"k", bytes(range(32)), bytes(64)])
def test_keyed_hashes_are_those_of_hashlib(key, size):
    texts = [bytes(i % 251 for i in range(length)) for length in LENGTHS]
    ends = np.cumsum([0, *map(len, texts)])

    found = _kernels.hash_texts(key, size, ends, np.frombuffer(b"".join(texts), np.uint8))

    assert found.tobytes() == b"".join(blake2b(text, key=key, digest_size=size).digest() for text in texts)


@pytest.mark.parametrize(
    ("key", "size", "ends"),
    [(b"", 8, [0, 1]), (b"k" * 65, 8, [0]), (b"k", 65, [0]), (b"k", 8, [0, 9]), (b"k", 8, [1, 0])],
)
def test_what_cannot_be_hashed_is_refused(key, size, ends):
    with pytest.raises(ValueError):
        _kernels.hash_texts(key, size, np.array(ends), np.zeros(3, np.uint8))


texts = st.text(st.sampled_from("09aZe. :-–+\t ­é'") | st.characters(codec="utf-8"), max_size=32)


@pytest.mark.parametrize("fold", [hashes.CELLS, hashes.PEOPLE])
@settings(deadline=None)
@given(st.lists(texts))
@example(["1.0", "01", "1e2", "12", "2020-01-02 00:00:00", "A1", "10" * 20, " x", "x ", "1,0", "ſ", ""])
def test_texts_folded_together_are_those_folded_one_by_one(fold, cells):
    assert fold.fold_texts(pa.array(cells, pa.string())).to_pylist() == list(map(fold.one, cells))
