"""Plots: what is drawn is what the barcode says, however many bars there are, and no cell is in any file."""

import re
import subprocess
import sys
from base64 import b64decode
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import kech
from kech import WeightedBarcode
from kech.errors import BadOption, BadTarget, CannotWrite, MissingExtra
from kech.tables.demo import nine_rows
from kech.views.pictures.bars import coverage
from strategies import unhurried

Figure = pytest.importorskip("matplotlib.figure").Figure

NINE_HOLES = {1: np.array([[0.1669, 0.1801], [0.1834, 0.1879], [0.5021, 0.5031], [0.6, 0.6]])}
NONE = {1: np.empty((0, 2))}
FEW, FEW_LOOSE, ENOUGH = np.array([[230, 115, 20], [250, 210, 175], [125, 160, 195]]) / 255


def barcode_of(table, holes=NONE, columns=("x", "y"), metric="box"):
    with kech.read_table(table, quasi_identifiers=list(columns)) as opened:
        found = kech.compute_barcode(opened, metric=metric, max_dimension=0)
    return WeightedBarcode(found.filtration, holes)


@pytest.fixture(scope="module")
def nine():
    return barcode_of(nine_rows(), NINE_HOLES, ("age", "zip"), "ball")


@pytest.fixture(scope="module")
def many():
    """10,000 points, some of them heavy, with 3,000 holes."""
    rng = np.random.default_rng(5)
    births = rng.uniform(0.003, 0.013, 3000)
    holes = {1: np.stack([births, births + rng.exponential(0.001, 3000)], axis=1)}
    return barcode_of(pd.DataFrame(rng.random((10_000, 2)), columns=["x", "y"]), holes)


def drawn(ax, name):
    """Sides of the boxes drawn under a name: left, right, low, high."""
    (collection,) = (one for one in ax.collections if one.get_gid() == name)
    corners = np.array([path.vertices[:4] for path in collection.get_paths()])
    sides = np.concatenate([corners.min(axis=1)[:, :1], corners.max(axis=1)[:, :1], corners[:, [0, 1], 1]], axis=1)
    return sides, collection.get_facecolor()[:, :3]


def words(figure):
    return " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


# -- the paper's nine rows -------------------------------------------------------------------------------


def test_several_k_stand_side_by_side_and_one_stands_alone(nine):
    panels = nine.plot(k=(2, 3, 4))

    assert [panel.get_title("left")[:5] for panel in panels] == ["k = 2", "k = 3", "k = 4"]
    assert len({panel.figure for panel in panels}) == 1
    alone = nine.plot(k=(3,))
    assert alone.get_title("left") == "Rows joined with 2 others or more: 50 % from eps 0.15, all from 0.214"
    assert "k = 3 holds from eps 0.2142, 2 classes" in [text.get_text() for text in alone.figure.texts]
    assert nine.plot(k=(3,), reading="strict").get_title("left") == "k = 3 holds from eps 0.7071, 1 class"


@pytest.mark.parametrize("reading", ["homological", "strict", "partition"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_shaded_spans_are_the_regimes(nine, k, reading):
    ax = nine.plot(k=(k,), reading=reading)
    right = ax.get_xlim()[1]
    regimes = [regime for regime in nine.regimes(reading, k) if regime.start < right]
    sides, _ = drawn(ax, "regimes")

    assert regimes
    assert sorted(sides[:, :2].tolist()) == [[regime.start, min(regime.stop, right)] for regime in regimes]
    assert f"{regimes[-1].classes} class" in words(ax)


def test_a_component_is_drawn_while_it_lives_in_the_colour_of_its_weight(nine):
    """At every eps the boxes under a vertical line are the components there, none above another."""
    tree = nine.filtration
    ax = nine.plot(k=(3,))
    sides, colours = drawn(ax, "components")
    for eps in np.linspace(0, 0.75, 76):
        under = (sides[:, 0] <= eps) & (eps < sides[:, 1])
        few = (colours[under, None] == np.array([FEW, FEW_LOOSE])).all(axis=2).any(axis=1)

        assert under.sum() == len(tree.nodes_at(eps))
        assert few.sum() == (tree.weight[tree.nodes_at(eps)] < 3).sum()
        assert np.isclose((sides[under, 3] - sides[under, 2]).sum(), 1)


def test_a_full_simplex_is_dark_and_a_loose_component_light(nine):
    sides, colours = drawn(nine.plot(k=(3,)), "components")
    root = sides[:, 3] - sides[:, 2] > 0.99
    light, dark = np.argsort(sides[root, 0])

    assert root.sum() == 2
    assert np.isclose(sides[root, 0][[light, dark]], [0.38094, 0.70711], atol=1e-5).all()
    assert (colours[root][dark] == ENOUGH).all()


def test_holes_are_drawn_but_for_those_of_zero_length(nine):
    ax = nine.plot(k=(3,))
    sides, _ = drawn(ax, "holes")

    assert np.allclose(sorted(sides[:, 0]), NINE_HOLES[1][:3, 0])
    assert "H1: 3" in words(ax)


def test_without_holes_the_radii_between_which_k_begins_to_hold_are_said_and_not_shaded(nine):
    ax = WeightedBarcode(nine.filtration).plot(k=(3,))
    latest = nine.regimes("strict", 3)[0]

    begin = f"k = 3 begins to hold between eps 0.2142 and {latest.start:.4g}, there in 1 class"
    assert f"One eps for all rows, homological: {begin}." in words(ax.figure)
    assert "k = 3: rows joined with 2 others or more: all from eps 0.214" in words(ax.figure)
    assert "holes\nnot\ncomputed" in words(ax)
    assert "At the lower eps 2 components are large enough, but holes were not computed." in words(ax.figure)
    assert not [one for one in ax.collections if one.get_gid() == "regimes"]


def test_your_own_axes_are_drawn_into(nine):
    mine = Figure().subplots()

    assert nine.plot(k=[4], ax=mine) is mine
    assert len(mine.figure.axes) == 1
    assert "PRIVATE" in words(mine)
    assert len(drawn(mine, "holes")[0]) == 3


def test_your_own_axes_say_what_is_drawn_together(many):
    assert "smallest bars are drawn together" in many.plot(k=[5], ax=Figure().subplots()).get_xlabel()


def test_a_hole_without_end_goes_to_the_margin(nine):
    ax = WeightedBarcode(nine.filtration, {1: np.array([[0.3, np.inf]])}).plot()

    assert drawn(ax, "holes")[0][0, :2].tolist() == [0.3, ax.get_xlim()[1]]


def test_your_own_axes_take_one_k(nine):
    with pytest.raises(BadOption, match="one k"):
        nine.plot(k=(2, 3), ax=Figure().subplots())
    with pytest.raises(BadOption, match="one k or more"):
        nine.plot(k=())


# -- laws ------------------------------------------------------------------------------------------------

quarters = st.integers(-2, 22).map(lambda x: x / 4)  # of cells, and beyond the edge


@unhurried
@given(arrays(float, st.tuples(st.integers(0, 6), st.just(4)), elements=quarters))
def test_small_boxes_cover_cells_by_their_overlap(sides):
    boxes = np.concatenate([np.sort(sides[:, :2]), np.sort(sides[:, 2:]), np.zeros((len(sides), 2))], axis=1)
    found = coverage(boxes, (0, 5, 0, 3), (3, 5))

    for (row, column), share in np.ndenumerate(found):
        expected = [overlap(box[:2], column) * overlap(box[2:], row) for box in boxes[:, :4]]
        assert np.isclose(share, sum(expected))


def overlap(ends, cell):
    return max(0.0, min(ends[1], cell + 1) - max(ends[0], cell))


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from([1, 1, 2, 30, 500]), min_size=1, max_size=12))
def test_points_are_as_thick_as_their_rows(weights):
    rows = np.repeat(np.arange(len(weights)), weights)
    sides, _ = drawn(barcode_of(pd.DataFrame({"x": rows}), {}, ["x"]).plot(), "components")
    points = sides[sides[:, 0] == 0]
    points = points[np.argsort(points[:, 2])]

    assert np.allclose(sorted(points[:, 3] - points[:, 2]), np.sort(weights) / len(rows))
    assert np.allclose(points[1:, 2], points[:-1, 3])
    assert (points[0, 2], points[-1, 3]) == (pytest.approx(0), pytest.approx(1))


def test_rows_that_a_regime_leaves_out_are_grey_from_there_on():
    """Five rows close together and one far away: without the far one, k = 5 holds from eps 0.01 on."""
    barcode = barcode_of(pd.DataFrame({"x": [0, 1, 2, 3, 4, 100]}), {}, ["x"])
    sides, colours = drawn(barcode.plot(k=(5,), reading="strict", suppress=0.2), "components")
    grey = np.isclose(colours, np.array([190] * 3) / 255).all(axis=1)
    start = barcode.regimes("strict", 5, 0.2)[0].start

    assert start == pytest.approx(0.02)
    ends = np.log10([start, 0.48]).tolist()  # most rows join early: the axis is logarithmic
    assert [box[:2] for box in sides[grey].tolist()] == [pytest.approx(ends)]
    assert sides[grey][0, 3] - sides[grey][0, 2] == pytest.approx(1 / 6)


def test_what_cuts_reach_is_marked_at_its_eps():
    barcode = kech.search_partitions(barcode_of(pd.DataFrame({"x": np.arange(30) ** 2}), {}, ["x"]), 3)
    ax = barcode.plot(k=(3,), reading="partition")
    places = {
        line.get_gid(): float(line.get_segments()[0][0, 0])
        for line in ax.collections
        if str(line.get_gid()).endswith("cut")
    }
    reached = barcode.reached[3]

    assert places.get("minimal cut", places.get("local, minimal cut")) == pytest.approx(reached.eps_at_most)
    assert places.get("local cut", places.get("local, minimal cut")) == pytest.approx(reached.local_eps)
    narrow, cheap = (f"into {count} classes" for count in (reached.classes, reached.local_classes))
    assert f"--effort normal --cut local puts all rows {cheap}, none wider than eps" in words(ax.figure)
    assert f"--cut minimal {narrow}, none wider than" in words(ax.figure)
    assert "k = 3 holds from eps" in ax.get_title("left")


def test_the_title_says_what_to_do_and_what_isolates():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(0, 90, 300), "sex": rng.integers(0, 2, 300)})
    barcode = kech.search_partitions(barcode_of(frame, {}, ["age", "sex"]), 5)
    many = barcode.reached[5].local_classes
    head = f"k = 5: all rows fit into {many} classes; age isolates most"

    assert head in [text.get_text() for text in barcode.plot(k=(5,)).figure.texts]
    assert barcode.plot(k=(5,), ax=Figure(figsize=(15, 5)).subplots()).get_title("left") == head
    panels = kech.search_partitions(barcode, [2, 9]).plot(k=(2, 5, 9))
    assert panels[1].get_title("left") == f"k = 5: all rows fit into {many} classes"


# -- many bars -------------------------------------------------------------------------------------------


def test_ten_thousand_bars_are_few_artists_and_the_figure_says_so(many):
    ax = many.plot(k=(5,))
    alone = len(drawn(ax, "components")[0])
    (together,) = re.findall(r"The ([\d,]+) smallest bars are drawn together", words(ax.figure))
    bars = len(many.filtration.birth) + 3000

    assert alone <= 2000
    assert bars - alone <= int(together.replace(",", "")) < bars
    assert len(ax.figure.findobj()) < 1000
    assert {image.get_gid() for image in ax.images} == {"components together", "holes together"}


def test_the_image_of_small_bars_turns_from_few_to_enough(many):
    (image,) = (one for one in many.plot(k=(5,)).images if one.get_gid() == "components together")
    picture = image.get_array()

    assert np.allclose(picture[:, 0, :3], FEW, atol=0.05)
    assert np.allclose(picture[:, 0, 3], 1)


def test_files_of_many_bars_are_small(many, tmp_path):
    many.plot(tmp_path / "b.svg", k=(5,))

    assert (tmp_path / "b.svg").stat().st_size < 2e6


# -- odd tables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [[1.0], [1.0, 1.0], [1.0, 1.0, 5.0, 5.0, 9.0], np.repeat([1.0, 2.0, 9.0], [1, 5000, 30])],
    ids=["one row", "twins", "two pairs and one", "heavy"],
)
@pytest.mark.parametrize("k", [1, 2, 10**6])
def test_odd_tables_are_drawn(values, k, tmp_path):
    barcode = barcode_of(pd.DataFrame({"x": values}), {}, ["x"])
    barcode.plot(tmp_path / "b.png", k=(k,))
    title = barcode.plot(k=(k,)).get_title("left")

    assert (f"k = {k:,} holds nowhere" in title) == (k > len(values))


def test_a_hole_beyond_dimension_one_has_its_own_count(nine):
    barcode = WeightedBarcode(nine.filtration, NINE_HOLES | {2: np.array([[0.3, 0.5]])})

    assert "H2: 1\nH1: 3" in words(barcode.plot())


# -- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["b.svg", "b.png", "b.html", "B.SVG"])
def test_a_file_is_written_whole_and_nothing_is_left_beside_it(nine, tmp_path, name):
    target = tmp_path / name
    target.write_text("old")
    nine.plot(target, k=(2, 3, 4))
    assert target.stat().st_mode & 0o777 == 0o600
    start = {"svg": b"<?xml", "png": b"\x89PNG", "html": b"<!doctype html>"}[name.lower().split(".")[1]]

    assert target.read_bytes().startswith(start)
    assert b"PRIVATE" in target.read_bytes()
    assert list(tmp_path.iterdir()) == [target]


def test_the_same_barcode_is_the_same_file(nine, tmp_path):
    for name in ("a.svg", "b.svg"):
        nine.plot(tmp_path / name)

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_an_html_page_needs_nothing_else(nine, tmp_path):
    nine.plot(tmp_path / "b.html", k=(3,))
    page = (tmp_path / "b.html").read_text("utf-8")

    assert "<title>PRIVATE" in page
    assert re.search(r"<text[^>]*>PRIVATE</text>", page)
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)", page)
    assert not re.findall(r"url\((?!#)", page)


@pytest.mark.parametrize("name", ["b.svg", "b.html"])
def test_no_cell_is_in_a_file(tmp_path, name):
    """Numbers that cannot be radii, weights or counts; and the names of columns are not drawn either."""
    frame = pd.DataFrame(
        {"canary_column": ["kanarie", "serin", "kanarie", "canari"], "x": [77.7031, 88.8042, 99.9053, 66.6064]}
    )
    barcode_of(frame, NONE, ["canary_column", "x"]).plot(tmp_path / name, k=(2, 3))
    text = (tmp_path / name).read_text("utf-8")

    assert "PRIVATE" in text
    assert not [word for word in ("canar", "serin", "kanarie", "77.7", "88.8", "99.9", "66.6") if word in shown(text)]


def shown(text):
    """Words of a picture, without the numbers that place its lines."""
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", text)) + re.sub(r"\d+\.\d+", "", text)


def test_no_cell_of_the_nine_rows_is_in_a_picture(nine, tmp_path):
    nine.plot(tmp_path / "b.svg", k=(2,))
    text = shown((tmp_path / "b.svg").read_text("utf-8"))

    assert not [
        zipcode
        for zipcode in nine_rows().to_pydict()["zip"] + nine_rows().to_pydict()["salary"]
        if str(zipcode) in text
    ]


@pytest.mark.parametrize("name", ["b.pdf", "b", "b.svg.gz"])
def test_another_ending_is_refused_and_nothing_is_written(nine, tmp_path, name):
    with pytest.raises(BadTarget, match=r"\.svg, \.png or \.html") as refusal:
        nine.plot(tmp_path / name)

    assert refusal.value.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(nine, tmp_path):
    with pytest.raises(CannotWrite, match="missing"):
        nine.plot(tmp_path / "missing" / "b.svg")


def test_a_failure_keeps_the_old_file(nine, tmp_path, monkeypatch):
    target = tmp_path / "b.svg"
    target.write_text("old")
    monkeypatch.setattr("kech.views.pictures.render_file", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        nine.plot(target)

    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_matplotlib_is_asked_for_by_name(nine, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for target in (None, tmp_path / "b.png"):
        with pytest.raises(MissingExtra, match=r"kech\[plot\]"):
            nine.plot(target)
    nine.plot(tmp_path / "b.svg")
    nine.plot(tmp_path / "b.html")


def test_nothing_is_left_in_the_process(nine, tmp_path):
    """Pyplot is never imported, and the settings of matplotlib are as they were."""
    import matplotlib

    before = dict(matplotlib.rcParams)
    nine.plot(tmp_path / "b.png")

    assert dict(matplotlib.rcParams) == before
    code = "import sys, kech.views.pictures as p; p.load_matplotlib(); sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- two painters, one picture ---------------------------------------------------------------------------


def painted(svg, name):
    """Left, right, top and bottom of the boxes under a name of an SVG picture, in pixels, and their colours."""
    (group,) = (part for part in ElementTree.fromstring(svg).iter() if part.get("data-name") == name)
    found = [
        ([x, x + wide, y, y + high], path.get("fill"))
        for path in group
        if path.get("fill") != "none"
        for x, y, wide, high in (
            map(float, box) for box in re.findall(r"M([-\d.]+) ([-\d.]+)h([\d.]+)v([\d.]+)H[-\d.]+z", path.get("d"))
        )
    ]
    return np.array([box for box, _ in found]), [colour for _, colour in found]


def test_svg_has_the_boxes_of_matplotlib_where_the_panel_lies(nine, tmp_path):
    """One map from axes to pixels fits them all: along eps to the right, along rows upward."""
    nine.plot(tmp_path / "b.svg", k=(3,))
    svg, ax = (tmp_path / "b.svg").read_text("utf-8"), nine.plot(k=(3,))
    places, pixels = [], []
    for name in ("components", "holes", "regimes"):
        sides, colours = painted(svg, name)
        boxes, shades = drawn(ax, name)
        names = ["#{:02x}{:02x}{:02x}".format(*np.round(shade * 255).astype(int)) for shade in shades]
        assert sorted(colours) == sorted(names)
        places.append(np.concatenate([np.sort(boxes[:, :2], axis=0), -np.sort(-boxes[:, [3, 2]], axis=0)], axis=1))
        pixels.append(np.sort(sides, axis=0))
    for columns, sign in (([0, 1], 1), ([2, 3], -1)):
        x, y = (np.concatenate(found)[:, columns].ravel() for found in (places, pixels))
        slope, start = np.polyfit(x, y, 1)
        assert np.sign(slope) == sign
        assert np.abs(slope * x + start - y).max() < 1  # a gap, and tenths of a pixel


def test_an_image_is_read_back_by_another_library(many, tmp_path):
    from matplotlib.image import imread

    many.plot(tmp_path / "b.svg", k=(5,))
    embedded = re.findall(r"data:image/png;base64,([\w+/=]+)", (tmp_path / "b.svg").read_text("utf-8"))
    images = many.plot(k=(5,)).images
    assert len(embedded) == len(images) == 2
    for text, image in zip(embedded, images, strict=True):
        cells, expected = imread(BytesIO(b64decode(text))), image.get_array()
        assert len(np.unique(cells)) > 20
        assert np.abs(cells - expected[::-1]).max() < 1 / 255


def test_names_of_columns_are_text_in_a_file(tmp_path):
    frame = pd.DataFrame({"<b>&\"'": range(20), "$x$ <script>": [1, 2] * 10})
    with kech.read_table(frame, quasi_identifiers=list(frame.columns)) as table:
        plane = kech.compute_preview(kech.make_release(table, k=2), on=list(frame.columns))
    plane.plot(tmp_path / "p.svg")
    plane.plot(tmp_path / "p.html")
    tree = ElementTree.parse(tmp_path / "p.svg")

    assert {part.tag.split("}")[1] for part in tree.iter()} <= {"svg", "title", "desc", "rect", "g", "path", "text"}
    assert {*frame.columns} <= {part.text for part in tree.iter()}
    assert "<script" not in (tmp_path / "p.html").read_text("utf-8")
