"""Results do not depend on the number of threads: points, merge tree, lattice, bounds and search."""

import numpy as np
import pytest

import kech
from kech.points.points import build_points
from kech.tables.demo import generate_town

COLUMNS = ["age", "sex", "zip", "moved_in"]


@pytest.fixture(scope="module")
def towns():
    town = generate_town(3000)
    opened = [kech.read_table(town, quasi_identifiers=COLUMNS, sensitive=["diagnosis"], threads=n) for n in (1, 2)]
    yield opened
    for table in opened:
        table.close()


def test_points_and_merge_trees(towns):
    one, two = (build_points(table, with_sensitive=True) for table in towns)
    assert np.array_equal(one.codes, two.codes)
    assert np.array_equal(one.weights, two.weights)

    trees = [kech.compute_barcode(table, max_dimension=0).filtration for table in towns]
    for name in ("parent", "weight", "birth", "death", "simplex_from", "order"):
        assert np.array_equal(*(getattr(tree, name) for tree in trees)), name


def test_coarse_points(towns):
    one, two = (kech.make_release(table, k=5, max_points=200, effort="quick").partition.points for table in towns)
    assert one.step == two.step > 0
    assert np.array_equal(one.codes, two.codes)


def test_lattices(towns):
    one, two = (kech.compute_lattice(table).to_json([2, 5, 20]) for table in towns)
    assert one == two


def test_searches_and_bounds(towns):
    one, two = (kech.compute_spectrum(table, k=[5], cut=["local", "minimal"], effort="quick").rows() for table in towns)
    assert one == two


def test_releases(towns):
    one, two = (kech.make_release(table, k=5, effort="quick").partition for table in towns)
    for name in ("point", "group", "rows", "lo", "hi"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
