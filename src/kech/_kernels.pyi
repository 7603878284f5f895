from typing import Any

import numpy as np
from numpy.typing import NDArray

class Widths:
    def __init__(self) -> None: ...
    def loosen(self, axis: int, left: NDArray[np.float64], right: NDArray[np.float64], narrow: float, /) -> None: ...
    def weigh(self, axis: int, weight: float) -> None: ...
    def abridge(self, printed: NDArray[np.float64], /) -> None: ...
    def add_line(
        self, left: NDArray[np.float64], right: NDArray[np.float64], length: float, cap: float, null: int
    ) -> None: ...
    def add_tree(self, single: NDArray[np.float64], gaps: NDArray[np.float64]) -> None: ...
    def width(self, axis: int, lo: int, hi: int) -> float: ...
    def limited(self, limit: float) -> Widths: ...

class Aims:
    def __init__(self, kind: int, l: float, c: float, t: float, alpha: float, ordered: list[bool]) -> None: ...

class BoxCounter:
    def __init__(
        self, codes: NDArray[np.int32], weights: NDArray[np.int64], person: NDArray[np.int32] | None = None
    ) -> None: ...
    def count(
        self,
        lo: NDArray[np.int32],
        hi: NDArray[np.int32],
        enough: int,
        listed: NDArray[np.int32] | None = None,
        axes: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]: ...

class Words:
    def __init__(self) -> None: ...
    def number(
        self, bits: NDArray[np.uint8], bit: int, ends: NDArray[np.int32], letters: NDArray[np.uint8], /
    ) -> NDArray[np.uint32]: ...
    def texts(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
    @property
    def count(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class Lattice:
    def __init__(
        self, codes: NDArray[np.int32], weights: NDArray[np.int64], person: NDArray[np.int32] | None = None
    ) -> None: ...
    def add_axis(self, cells: NDArray[np.int32], widths: NDArray[np.float64]) -> None: ...
    def roll(self, fixed: list[int], bound: int, threads: int) -> dict[str, Any]: ...
    def look(self, levels: NDArray[np.int32], bound: int, threads: int) -> dict[str, Any]: ...
    def classes(self, node: list[int], finer: NDArray[np.int64] | None = None) -> NDArray[np.int64]: ...

class ShareDraw:
    def __init__(self, starts: NDArray[np.int64], rows: NDArray[np.int64]) -> None: ...
    def draw(self, point: NDArray[np.int64], numbers: NDArray[np.uint64]) -> NDArray[np.int64]: ...

class RowShuffle:
    def __init__(self, rows: int) -> None: ...
    def draw(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint32]: ...

class Search:
    def __init__(
        self,
        codes: NDArray[np.int32],
        widths: Widths,
        levels: list[NDArray[np.int32]],
        k: int,
        split_points: bool,
        point: NDArray[np.int64],
        group: NDArray[np.int64],
        rows: NDArray[np.int64],
        seed: int,
        person: NDArray[np.int32] | None = None,
    ) -> None: ...
    def step(self, heat: float, ruin: bool, threads: int) -> None: ...
    def shares(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
    @property
    def price(self) -> float: ...
    @property
    def work(self) -> int: ...
    @property
    def rounds(self) -> int: ...

class Pricer:
    def __init__(
        self,
        codes: NDArray[np.int32],
        weights: NDArray[np.int64],
        widths: Widths,
        levels: list[NDArray[np.int32]],
        k: int,
    ) -> None: ...
    def climb(self, steps: int, goal: float) -> None: ...
    @property
    def bound(self) -> float: ...

def peel_points(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    widths: Widths,
    levels: list[NDArray[np.int32]],
    ks: list[int],
    limits: list[float],
    most_nodes: int,
    seed: int,
    alike: bool,
    threads: int,
    person: NDArray[np.int32] | None = None,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]: ...
def grow_points(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    order: NDArray[np.int64],
    widths: Widths,
    k: int,
    split_points: bool,
    stretch: int,
    seed: int,
    threads: int,
    person: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def leave_out(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    widths: Widths,
    growth: list[NDArray[np.float64]],
    k: int,
    point: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
    price: float,
    limit: int,
    person: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def order_points(
    codes: NDArray[np.int32], weights: NDArray[np.int64], widths: Widths, threads: int
) -> NDArray[np.int64]: ...
def order_by_hilbert(codes: NDArray[np.int32], widths: Widths) -> NDArray[np.int64]: ...
def cut_order(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    order: NDArray[np.int64],
    widths: Widths,
    ks: list[int],
    split_points: bool,
    threads: int,
    person: NDArray[np.int32] | None = None,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]: ...
def merge_points(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    widths: Widths,
    ball: bool,
    threads: int,
    units: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]] | None = None,  # point, person and rows
) -> dict[str, NDArray[Any]]: ...
def find_holes(
    codes: NDArray[np.int32], weights: NDArray[np.int64], widths: Widths, prime: int, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def reach_rows(
    codes: NDArray[np.int32], weights: NDArray[np.int64], widths: Widths, ks: list[int], threads: int
) -> NDArray[np.float64]: ...
def reach_all(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    widths: Widths,
    ball: bool,
    most: int,
    threads: int,
    person: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def reach_farthest(
    codes: NDArray[np.int32], weights: NDArray[np.int64], widths: Widths, ks: list[int], threads: int
) -> NDArray[np.float64]: ...
def distinct_rows(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def add_up(
    point: NDArray[np.int64], group: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def price_classes(
    codes: NDArray[np.int32],
    widths: Widths,
    point: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> float: ...
def repair_classes(
    codes: NDArray[np.int32],
    secrets: NDArray[np.int32],
    widths: Widths,
    k: int,
    aims: Aims,
    point: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
    split: bool,
    part_all: bool,
    person: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def meet_classes(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]: ...
def find_placements(
    starts: NDArray[np.int64], right: NDArray[np.int64], room: NDArray[np.int64]
) -> tuple[bool, NDArray[np.uint8]]: ...

class PathWalk:
    def __init__(self, weights: NDArray[np.int64], unions: bool, person: NDArray[np.int32] | None = None) -> None: ...
    def extend(self, path: list[NDArray[np.int64]], threads: int) -> None: ...
    def bytes(self) -> int: ...
    def finish(self) -> dict[str, NDArray[np.int64]]: ...

def walk_path(
    path: list[NDArray[np.int64]],
    weights: NDArray[np.int64],
    unions: bool,
    threads: int,
    person: NDArray[np.int32] | None = None,
) -> dict[str, NDArray[np.int64]]: ...
def gather_points(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    widths: Widths,
    ball: bool,
    k: int,
    reach: float,
    most_pairs: float,
) -> tuple[bool, tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]: ...
def narrow_balls(
    codes: NDArray[np.int32],
    metric: Widths,
    k: int,
    split_points: bool,
    point: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
    limit: float,
) -> tuple[float, tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]: ...
def cheapen_balls(
    codes: NDArray[np.int32],
    metric: Widths,
    widths: Widths,
    k: int,
    split_points: bool,
    point: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
    limit: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...

class VarianceSearch:
    def __init__(
        self,
        codes: NDArray[np.int32],
        weights: NDArray[np.int64],
        metric: Widths,
        scales: NDArray[np.float64],
        k: int,
        split_points: bool,
        orders: list[NDArray[np.int64]],
        seed: int,
    ) -> None: ...
    def step(self, threads: int) -> None: ...
    def shares(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
    @property
    def price(self) -> float: ...
    @property
    def work(self) -> int: ...
    @property
    def rounds(self) -> int: ...

def measure_variance(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    metric: Widths,
    point: NDArray[np.int64],
    group: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.float64]: ...
def bound_variance(
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    metric: Widths,
    scales: NDArray[np.float64],
    ks: list[int],
    threads: int,
) -> NDArray[np.float64]: ...
def bound_side(codes: NDArray[np.int32], weights: NDArray[np.int64], widths: Widths, k: int, threads: int) -> float: ...
def enclosing_radius(places: NDArray[np.float64]) -> float: ...
def find_largest_k(
    rows_before: NDArray[np.int64], values_before: NDArray[np.int64], ranks: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def find_hashes(sought: NDArray[np.uint8], known: NDArray[np.uint8]) -> NDArray[np.int64]: ...
def hash_texts(key: bytes, size: int, ends: NDArray[np.int64], letters: NDArray[np.uint8]) -> NDArray[np.uint8]: ...
