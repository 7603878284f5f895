from typing import Any

import numpy as np
from numpy.typing import NDArray

class Widths:
    def __init__(self) -> None: ...
    def add_line(
        self, left: NDArray[np.float64], right: NDArray[np.float64], length: float, cap: float, null: int
    ) -> None: ...
    def add_tree(self, single: NDArray[np.float64], gaps: NDArray[np.float64]) -> None: ...
    def width(self, axis: int, lo: int, hi: int) -> float: ...

def order_points(
    codes: NDArray[np.int32], weights: NDArray[np.int64], widths: Widths, threads: int
) -> NDArray[np.int64]: ...
def cut_order(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    order: NDArray[np.int64],
    widths: Widths,
    ks: list[int],
    part: bool,
    threads: int,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]: ...
def merge_points(
    codes: NDArray[np.int32], weights: NDArray[np.int64], widths: Widths, ball: bool, threads: int
) -> dict[str, NDArray[Any]]: ...
def walk_path(
    path: list[NDArray[np.int64]], weights: NDArray[np.int64], unions: bool, threads: int
) -> dict[str, NDArray[np.int64]]: ...
def enclosing_radius(places: NDArray[np.float64]) -> float: ...
