"""The trade-off drawn: lines are the figures, knees lie on them, bounds below them."""

import pytest

import kech
from kech.tables.demo import generate_town

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def spectrum():
    with kech.read_table(generate_town(500), quasi_identifiers=["age", "sex", "zip"]) as table:
        return kech.compute_spectrum(table, k=range(2, 21), cut=["local", "domain", "regime"], bound=True)


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


@pytest.mark.parametrize(
    ("losses", "knee"),
    [
        ([1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0], [4]),
        ([float(k) for k in range(1, 11)], []),
        ([1.0] * 10, []),
        ([float(k * k) for k in range(1, 11)], []),
        ([0.0, 0.9, 1.0], []),
    ],
    ids=["bent", "straight", "flat", "below its chord", "too few k"],
)
def test_a_knee_is_where_the_curve_leaves_its_chord(spectrum, losses, knee, monkeypatch):
    held = {"cut": "local", "classes": 9, "eps": 0.1}
    rows = [held | {"k": k, "loss": loss} for k, loss in enumerate(losses, 1)]
    monkeypatch.setattr(kech.Spectrum, "rows", lambda _: rows)
    ax = spectrum.plot().figure.axes[0]
    assert [(float(x), float(y)) for mark in artists(ax, "local knee") for x, y in mark.get_offsets()] == [
        (k, losses[k - 1]) for k in knee
    ]
    assert [text.get_text() for text in ax.texts if "knee" in text.get_text()] == [f"knee: k = {k}" for k in knee]


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
