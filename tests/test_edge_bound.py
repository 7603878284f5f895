"""The bound of labels whose ends hide is the least over all grids, tried one by one."""

from itertools import combinations

import numpy as np
from benchmarks.edge_bound import Ends, least_outward
from hypothesis import given
from hypothesis import strategies as st

columns = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 4)), min_size=2, max_size=8, unique_by=lambda pair: pair[0]
)


def outward(values, counts, classes, k, cells):
    """What the ends go outward on one grid; infinite where a cell has fewer than k rows."""
    if any(sum(counts[a:b]) < k for a, b in cells):
        return float("inf")
    place = {i: at for at, (a, b) in enumerate(cells) for i in range(a, b)}
    inner = range(1, len(cells) - 1)
    total = 0
    for low, high, rows in classes:
        (a, _), (_, b) = cells[place[low]], cells[place[high]]
        total += rows * (values[low] - values[a] + values[b - 1] - values[high])
        if values[high] - values[low] >= 2:
            total += rows * (a == low and place[low] in inner and place[low] > 1)
            total += rows * (b - 1 == high and place[high] in inner and place[high] < len(cells) - 2)
    return total


@given(columns, st.integers(1, 6), st.data())
def test_no_grid_goes_less_far_outward(column, k, data):
    values, counts = (list(side) for side in zip(*sorted(column), strict=True))
    place = st.integers(0, len(values) - 1)
    drawn = data.draw(st.lists(st.tuples(place, place, st.integers(1, 9)), min_size=1, max_size=5))
    classes = [(min(a, b), max(a, b), rows) for a, b, rows in drawn]
    edges = [chosen for size in range(len(values)) for chosen in combinations(range(1, len(values)), size)]
    grids = [list(zip((0, *chosen), (*chosen, len(values)), strict=True)) for chosen in edges]
    least = min(outward(values, counts, classes, k, cells) for cells in grids)

    low, high, rows = (np.array(side) for side in zip(*classes, strict=True))
    numbers = np.array(values, float)
    found = least_outward(numbers, np.array(counts), Ends(numbers[low], numbers[high], rows), k, 1.0)

    assert found == least
