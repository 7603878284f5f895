"""Between GROUP BY and partition nothing knows how many rows there are: equal points are equal work."""

import sys
from math import prod

import numpy as np
import pyarrow as pa
import pytest

import kech
from cutting import cut, say_labels
from kech import _kernels
from kech.points.points import build_points
from kech.tables.demo import generate_town

COLUMNS = ["age", "sex", "zip", "moved_in"]
TIMES = 10


def sizes(given):
    """The shapes of all arrays in what a kernel is handed."""
    if isinstance(given, np.ndarray):
        return [given.shape]
    return [shape for part in given for shape in sizes(part)] if isinstance(given, list | tuple) else []


@pytest.fixture
def asked(monkeypatch):
    """Every call of a kernel: its name, and how long its arrays are."""
    calls = []

    def watch(name, kernel):
        def run(*given):
            calls.append((name, *sizes(given)))
            return kernel(*given)

        return run

    kernels = {id(kernel): name for name, kernel in vars(_kernels).items() if not isinstance(kernel, type)}
    for module in [module for name, module in sys.modules.items() if name.startswith("kech.") and module != _kernels]:
        for name, held in list(vars(module).items()):
            if callable(held) and id(held) in kernels:
                monkeypatch.setattr(module, name, watch(name, held))
    return calls


@pytest.mark.parametrize("style", ["local", "regime"])
def test_equal_points_are_equal_work_however_many_rows_they_have(asked, style):
    town, found = generate_town(300), []
    for times in (1, TIMES):
        table = kech.read_table(pa.concat_tables([town] * times), quasi_identifiers=COLUMNS, sensitive=["diagnosis"])
        points = build_points(table, labels=say_labels(grid="exact"), with_sensitive=True)
        table.close()  # no row can be looked at from here on
        asked.clear()
        (partition,) = cut(points, [5 * times], style, effort="quick")
        assert partition.sizes.min() >= 5 * times
        assert partition.sizes.sum() == 300 * times
        found.append((points, list(asked)))
    (once, first), (often, second) = found
    assert np.array_equal(once.codes, often.codes)
    assert np.array_equal(once.weights * TIMES, often.weights)
    assert {name for name, *_ in first} == {name for name, *_ in second} != set()
    cells = [sum(prod(shape) for _, *shapes in calls for shape in shapes) for calls in (first, second)]
    assert cells[1] < 1.2 * cells[0]  # classes may differ by a few, and what is done to them
    assert max(length for _, *shapes in second for shape in shapes for length in shape) < 300 * TIMES
