"""Packing: the codes of a row as one number, or as a few; numbers order as codes do, and -1 has no place on its axis.

In: mappings.  Out: by what each code is multiplied, in which number it is added, and the codes back from the numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.tables.engines import Mapping1D

LARGEST = 2**62


class Packing:
    """Where the codes of each mapping are: `keys[i]` lists the mappings in number i, from the highest place down."""

    def __init__(self, mappings: Sequence[Mapping1D]) -> None:
        self.lowest = [min(int(mapping.codes.min(initial=0)), mapping.null, 0) for mapping in mappings]
        highest = [max(int(mapping.codes.max(initial=0)), mapping.null) for mapping in mappings]
        self.sizes = [high - low + 1 for low, high in zip(self.lowest, highest, strict=True)]
        self.strides = [1] * len(mappings)
        self.keys: list[list[int]] = [[]]
        for j, size in enumerate(self.sizes):
            held = self.keys[-1]
            if held and size * self.strides[held[0]] * self.sizes[held[0]] > LARGEST:
                self.keys.append(held := [])
            for i in held:
                self.strides[i] *= size
            held.append(j)

    @property
    def names(self) -> list[str]:
        """The numbers as columns."""
        return [f"q{i}" for i in range(len(self.keys))]

    def unpack(self, found: Any) -> NDArray[np.int32]:
        """Codes, a row for each row of an Arrow table of numbers."""
        codes = np.empty((len(found), len(self.sizes)), np.int32)
        for name, held in zip(self.names, self.keys, strict=True):
            rest = np.asarray(found[name].to_numpy(), np.int64) - sum(self.lowest[j] * self.strides[j] for j in held)
            for j in held:
                place, rest = np.divmod(rest, self.strides[j])
                codes[:, j] = place + self.lowest[j]
        return codes
