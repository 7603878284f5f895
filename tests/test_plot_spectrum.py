"""The trade-off drawn: lines are the figures, knees lie on them, bounds below them."""

import numpy as np
import pytest

import kech
from kech.tables.demo import generate_town
from kech.views.pictures.spectrum import find_knee

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def spectrum():
    with kech.read_table(generate_town(500), quasi_identifiers=["age", "sex", "zip"]) as table:
        return kech.compute_spectrum(table, k=range(2, 21), cut=["local", "domain", "regime"])


def artists(ax, gid):
    return [artist for artist in (*ax.lines, *ax.collections) if artist.get_gid() == gid]


def test_lines_are_the_figures_of_each_cut(spectrum):
    panels = spectrum.plot().figure.axes
    for ax, name in zip(panels, ("loss", "classes", "eps"), strict=True):
        for cut in ("local", "domain", "regime"):
            (line,) = artists(ax, cut)
            rows = [row for row in spectrum.rows() if row["cut"] == cut]
            assert line.get_xdata().tolist() == [row["k"] for row in rows]
            assert line.get_ydata().tolist() == [row[name] for row in rows]


def test_bounds_are_shaded_below_the_lines(spectrum):
    loss, _, eps = spectrum.plot().figure.axes
    for ax, name, bound in ((loss, "loss", "loss_lower_bound"), (eps, "eps", "eps_lower_bound")):
        (shade,) = artists(ax, "bound")
        known = [row[bound] for row in spectrum.rows() if row[bound] is not None]
        assert max(shade.get_paths()[0].vertices[:, 1]) <= max(known)
        assert all(row[bound] <= row[name] + 1e-12 for row in spectrum.rows() if row[bound] is not None)
    assert {row["k"] for row in spectrum.rows() if row["loss_lower_bound"] is not None} >= {2, 3, 5, 10, 20}


def test_a_knee_is_where_the_curve_leaves_its_chord():
    ks = list(range(1, 11))
    assert find_knee(ks, np.minimum(np.array(ks), 4) * 1.0) == 3
    assert find_knee(ks, [float(k) for k in ks]) is None
    assert find_knee(ks, [1.0] * 10) is None
    assert find_knee(ks, [float(k * k) for k in ks]) is None
    assert find_knee([1, 2, 3], [0.0, 0.9, 1.0]) is None


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_files_say_that_they_are_private(spectrum, tmp_path, ending):
    spectrum.plot(tmp_path / f"s.{ending}")
    assert b"PRIVATE" in (tmp_path / f"s.{ending}").read_bytes()


def test_own_axes_are_drawn_into(spectrum):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert spectrum.plot(ax=ax) is ax
    assert ax.get_xlabel() == "k"
    assert ax.get_title("right") == "PRIVATE"
