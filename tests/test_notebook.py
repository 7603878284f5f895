"""Results in a notebook: HTML that stands alone and shows no cell, frames of the caller's library, plots into axes."""

import re
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kech
from kech.tables.demo import generate_town, nine_rows

COLUMNS = ["age", "moved_in", "sex"]
ORANGE = "#e67314"  # of classes with fewer than k rows
COUNTRIES = {
    "Europe": {"West Europe": ["Portugal", "Spain"], "East Europe": ["Hungary", "Poland"]},
    "America": {"North America": ["USA", "Canada"], "South America": ["Brazil", "Chile"]},
}
PRIVATE = ("table", "spectrum", "barcode", "profile", "lattice", "zigzag")


def results(table, **options):
    return {
        "table": table,
        "spectrum": kech.compute_spectrum(table, k=[2, 3, 5], **options),
        "barcode": kech.compute_barcode(table, max_dimension=0),
        "profile": kech.search_partitions(kech.compute_profile(table), [3], effort="quick"),
        "lattice": kech.compute_lattice(table),
        "zigzag": kech.compute_zigzag(table, "minimal"),
        "release": kech.make_release(table, k=3),
    }


@pytest.fixture(scope="module")
def town():
    frame = generate_town(200)
    with kech.read_table(frame, quasi_identifiers=COLUMNS, sensitive=["diagnosis"], identifiers=["person"]) as table:
        yield results(table, cut=["local", "domain"])


def drawn(html, name):
    """How many boxes of each colour are drawn under a name."""
    (group,) = (part for part in parse(html).iter() if part.get("data-name") == name)
    return Counter({path.get("fill"): path.get("d").count("M") for path in group if path.get("fill") != "none"})


def parse(html):
    """Well-formed, as an XML reader sees it."""
    return ElementTree.fromstring(html.replace("&nbsp;", " "))


# HTML

NO_RESULTS = {"Anonymizer", "AxisChoice", "Request"}  # scikit-learn draws the first, the others are what was asked
CANARIES = {"job": [f"CANARY{i % 9}" for i in range(90)], "age": [7_000_000 + i // 10 for i in range(90)]}


@pytest.fixture(scope="module")
def audits(tmp_path_factory):
    """One of each result that audits, previews or keeps releases, of a table whose cells would be known again."""
    folder = tmp_path_factory.mktemp("audits")
    frame = pd.DataFrame(CANARIES).assign(secret=[f"CANARY{i % 5}" for i in range(90)], key=range(90))
    roles = {"quasi_identifiers": ["job", "age"], "sensitive": ["secret"]}
    with kech.read_table(frame, **roles) as table, kech.read_table(frame, **roles, key="key") as keyed:
        release = kech.make_release(table, k=3, effort="quick")
        release.write(folder / "safe.csv", ledger=False)
        series = kech.open_series(folder / "series")
        unborn = series._repr_html_()
        series.publish(keyed, folder / "first.csv", k=3, effort="quick", ledger=False)
        preview = kech.compute_preview(release, on=["job", "age"], rows=0)
        review = kech.review_hierarchy(table, "job")
        ledger = kech.Ledger(folder)
        release.write(folder / "known.csv", ledger=ledger)
        yield (
            unborn,
            [
                kech.inspect_table(table, k=3),
                preview,
                preview.plane,
                kech.compute_mixed_lattice(table, ["age"]),
                kech.compute_risk(folder / "safe.csv"),
                kech.compute_joint_risk([folder / "safe.csv", folder / "known.csv"], [table]),
                *kech.run_attacks(folder / "safe.csv", table, attacks=["edge"]),
                kech.make_twin(folder / "safe.csv"),
                kech.compare(table, folder / "safe.csv"),
                review,
                review.tree,
                kech.make_report(folder / "safe.csv"),
                kech.publish_release(release, folder / "all", "safe.csv", ledger=False),
                series,
                ledger,
            ],
        )


def test_every_public_result_has_a_view(audits):
    public = {name: getattr(kech, name) for name in kech.__all__}
    results = {name for name, each in public.items() if isinstance(each, type)} - NO_RESULTS
    assert [name for name in results if not hasattr(public[name], "_repr_html_")] == []
    assert hasattr(type(audits[1][0]), "_repr_html_")  # an inspection, which has no public name


def test_views_of_audits_stand_alone_and_show_no_cell(audits):
    unborn, results = audits
    for html in (unborn, *(result._repr_html_() for result in results)):
        parse(html)
        assert not re.search(r"<script|<style|<link|<img|url\(|https?://", html)
        assert "CANARY" not in html and "7000" not in html.replace(",", "")


def test_columns_of_numbers_stand_at_the_right(audits, town):
    for result in (*audits[1], *(town[name] for name in ("table", "spectrum", "lattice", "release"))):
        for table in parse(result._repr_html_()).iter("table"):
            rows = [[(cell.get("style"), "".join(cell.itertext())) for cell in row] for row in table.iter("tr")]
            for column in zip(*rows, strict=True):
                aligned = {"right" in style for style, _ in column}
                texts = [text.rstrip(" %").replace(",", "") for _, text in column[1:] if text]
                assert len(aligned) == 1
                if texts and all(re.fullmatch(r"[\d.]+", text) for text in texts):
                    assert aligned == {True}


def test_figures_with_their_intervals_stand_at_the_right_and_times_in_one_line(audits):
    attack, ledger = (next(each for each in audits[1] if isinstance(each, kind)) for kind in (kech.Attack, kech.Ledger))
    (rates,) = parse(attack._repr_html_()).iter("table")
    assert all("right" in row[1].get("style") for row in rates.iter("tr"))
    cells = [cell for cell in parse(ledger._repr_html_()).iter("td") if re.match(r"20\d\d-", cell.text or "")]
    assert cells and all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", cell.text) for cell in cells)
    assert all("nowrap" in cell.get("style") for cell in cells)


def test_a_long_ledger_says_that_its_last_releases_are_shown(tmp_path):
    frame, ledger = pd.DataFrame({"age": [20, 30] * 9}), kech.Ledger(tmp_path)
    with kech.read_table(frame, quasi_identifiers=["age"]) as table:
        release = kech.make_release(table, k=9)
        for number in range(13):
            assert "The last" not in ledger._repr_html_()
            release.write(tmp_path / f"{number}.csv", ledger=ledger)
    assert "The last 12 are shown." in ledger._repr_html_()


@pytest.mark.parametrize("name", [*PRIVATE, "release"])
def test_html_stands_alone_and_has_words(town, name):
    html = town[name]._repr_html_()
    tree = parse(html)
    text = " ".join(tree.itertext())

    assert repr(town[name]) in text
    assert ("PRIVATE" in text) == (name in PRIVATE)
    assert not re.search(r"<script|<style|<link|<img|url\(|https?://", html)
    assert ("<svg" in html) == (name != "table")
    for picture in tree.iter("svg"):
        assert picture.get("aria-label")
        assert picture.get("role") == "img"
    assert len(html) < 22_000


@pytest.mark.parametrize("name", [*PRIVATE, "release"])
def test_texts_are_short_and_say_what_it_is(town, name):
    text = repr(town[name])

    assert text.startswith(type(town[name]).__name__ + "(")
    assert len(text) < 120


def test_no_cell_is_shown():
    rows = range(90)
    columns = {
        "job": [f"CANARY{i % 9}" for i in rows],
        "age": [7_000_000 + i // 10 for i in rows],
        "secret": [f"CANARY{i % 5}" for i in rows],
    }
    with kech.read_table(pa.table(columns), quasi_identifiers=["job", "age"], sensitive=["secret"]) as table:
        shown = [thing._repr_html_() + repr(thing) for thing in results(table).values()]

    assert not [text for text in shown if "CANARY" in text or "7000" in text.replace(",", "")]


def test_names_of_columns_are_text():
    frame = pa.table({"<b>x</b>": list(range(20)), 'q"&': [1, 2] * 10})
    with kech.read_table(frame, quasi_identifiers=frame.column_names) as table:
        for thing in results(table).values():
            assert "<b>" not in thing._repr_html_()
            parse(thing._repr_html_())


def test_a_closed_table_says_so():
    table = kech.read_table(nine_rows(), quasi_identifiers=["age"])
    table.close()

    assert repr(table) == "Table(closed, 3 columns)"
    assert table._repr_html_() is None


def test_a_table_without_roles_and_one_row():
    with kech.read_table(nine_rows()) as table:
        parse(table._repr_html_())
    with kech.read_table(pa.table({"a": [1]}), quasi_identifiers=["a"]) as table:
        for thing in (table, kech.compute_spectrum(table, k=[1]), kech.compute_barcode(table, max_dimension=0)):
            parse(thing._repr_html_())
        parse(kech.compute_lattice(table)._repr_html_())


def test_a_barcode_without_all_holes_says_between_which_radii_k_begins_to_hold_and_why():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        barcode = kech.search_partitions(kech.compute_barcode(table, max_dimension=0), 3)
    html, start = barcode._repr_html_(), barcode.find_start("homological", 3)

    between = f"k = 3 begins to hold between eps {start.at_least:.4g} and {start.at_most:.4g}, there in 1 class"
    assert f"{between}; {start.reason}" in html
    assert "<td" in html.split("partition</td>")[1]


def test_a_profile_says_which_column_isolates_though_nobody_asked():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        html = kech.compute_profile(table)._repr_html_()

    assert "isolates most: without it half of the rows could hide from eps" in html


def test_the_line_in_ink_is_seen_in_the_legend_on_a_dark_page():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        html = kech.compute_profile(table)._repr_html_()

    swatches = re.findall(r'<rect[^>]* fill="none" stroke="#767676"', html)
    assert len(swatches) == 2  # white is nothing exposed, ink the line of all rows


def test_the_nine_rows_have_as_many_bars_as_are_drawn():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        barcode = kech.compute_barcode(table, metric="ball", max_dimension=0)
    html = barcode._repr_html_()

    assert len(barcode.bars()) == 17
    boxes = drawn(html, "components")
    loose = [bar for bar in barcode.bars() if bar.birth < bar.simplex_from < np.inf]
    assert sum(boxes.values()) == 17 + len(loose)  # a box while it is loose, and one as a full simplex
    assert boxes[ORANGE] == 9


def test_the_paths_of_the_paper_are_drawn_with_their_holes():
    """A woman and a man of each country, and two more women of Spain (section 5)."""
    trees = {"gender": {"Person": ["Female", "Male"]}, "country": COUNTRIES}
    countries = [name for regions in COUNTRIES.values() for region in regions.values() for name in region]
    people = pa.table(
        {"gender": ["Female"] * 8 + ["Male"] * 8 + ["Female"] * 2, "country": countries * 2 + ["Spain"] * 2}
    )
    with kech.read_table(people, quasi_identifiers=["gender", "country"], hierarchies=trees) as table:
        zigzag = kech.compute_zigzag(table, "rows")
    html = zigzag._repr_html_()

    assert sum(drawn(html, "classes").values()) >= len(zigzag.birth)
    assert sum(drawn(html, "holes").values()) == np.count_nonzero(zigzag.holes) == 1


def shapes(markup):
    """Of every name in a picture: how many boxes, corners of lines and other shapes it has, of each colour."""
    found = Counter()
    for part in ElementTree.fromstring(markup).iter():
        for path in (part, *part) if part.get("data-name") else ():
            drawn, stroke = path.get("d", ""), path.get("stroke")
            if drawn and stroke != "#ffffff":  # stripes are as many as there is room for
                corners = sum(map(drawn.count, "MLHVhv"))
                found[part.get("data-name"), path.get("fill"), stroke] += corners
    return found


@pytest.mark.parametrize(("name", "least"), [("barcode", 3), ("profile", 5), ("zigzag", 1), ("spectrum", 2)])
def test_a_notebook_shows_the_picture_that_is_plotted(tmp_path, name, least):
    """What is embedded, a panel or all of them, has the shapes of the file."""
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        result = results(table, cut=["local", "domain"])[name]
    result.plot(tmp_path / "p.svg")
    (embedded,) = re.findall(r"<svg.*?</svg>", result._repr_html_(), re.S)
    shown = shapes(embedded)
    plotted = shapes((tmp_path / "p.svg").read_bytes())

    assert len(shown) >= least
    if name == "spectrum":  # the file has three panels, of the same k each; here is the first one
        assert {name: 3 * shown[name] for name in shown if name[0] in ("local", "domain")}.items() <= plotted.items()
    else:
        assert shown == plotted


def test_a_lattice_that_takes_long_shows_its_levels_only(town, monkeypatch):
    assert 'data-name="domain"' in town["lattice"]._repr_html_()
    columns = ["age", "sex", "zip", "moved_in", "job", "income"]
    with kech.read_table(generate_town(2_200), quasi_identifiers=columns) as table:
        lattice = kech.compute_lattice(table)
        monkeypatch.setattr(kech.GeneralizationLattice, "curve", None)
        html = lattice._repr_html_()
    assert "<svg" not in html
    assert all(column in html for column in columns)


def test_few_suppressed_rows_are_not_counted():
    ages = [20] * 10 + [40] * 10 + [60] * 10 + [90]
    with kech.read_table(pa.table({"age": ages}), quasi_identifiers=["age"]) as table:
        release = kech.make_release(table, k=5, cut="domain", suppress=0.1)

    assert release.partition.suppressed == 1
    assert "&lt;5" in release._repr_html_()
    assert "31" not in " ".join(parse(release._repr_html_()).itertext())


# Frames


@pytest.mark.parametrize(
    ("make", "kind"),
    [(lambda t: t.to_pandas(), pd.DataFrame), (pl.from_arrow, pl.DataFrame), (lambda t: t, pa.Table)],
)
def test_frames_are_of_the_callers_library(make, kind):
    with kech.read_table(make(generate_town(60)), quasi_identifiers=["age", "sex"]) as table:
        found = results(table)
    frames = {name: found[name].to_frame() for name in ("spectrum", "barcode", "lattice", "zigzag")}

    assert {name: isinstance(frame, kind) for name, frame in frames.items()} == dict.fromkeys(frames, True)
    assert len(frames["barcode"]) == len(found["barcode"].bars())
    assert len(frames["zigzag"]) == len(found["zigzag"].bars())


def test_a_file_gives_pandas(tmp_path):
    (tmp_path / "t.csv").write_text("age\n" + "\n".join(map(str, range(20))) + "\n", "utf-8")
    with kech.read_table(tmp_path / "t.csv", quasi_identifiers=["age"]) as table:
        assert isinstance(kech.compute_spectrum(table, k=[2]).to_frame(), pd.DataFrame)


def test_frames_hold_the_figures(town):
    spectrum = town["spectrum"].to_frame().to_pylist()
    for row, line in zip(town["spectrum"].rows(), spectrum, strict=True):
        assert {name: line[name] for name in ("k", "cut", "loss", "classes")} == {
            name: row[name] for name in ("k", "cut", "loss", "classes")
        }
        assert {name: line[f"loss[{name}]"] for name in COLUMNS} == row["loss_per_column"]
    for line in town["lattice"].to_frame(ks=[2, 5]).to_pylist():
        node = town["lattice"].best(line["k"])
        assert tuple(line[f"level[{name}]"] for name in COLUMNS) == node.levels
        assert (line["loss"], line["classes"]) == (node.loss, node.classes)
    bars = town["barcode"].to_frame().to_pylist()
    assert [bar["weight"] for bar in bars] == [bar.weight for bar in town["barcode"].bars()]
    assert [bar["death"] for bar in town["zigzag"].to_frame().to_pylist()] == [b.death for b in town["zigzag"].bars()]


# Plots


@pytest.mark.parametrize("name", ["spectrum", "barcode", "profile", "lattice", "zigzag", "release"])
def test_plots_give_axes_and_draw_into_yours(town, name):
    figure = pytest.importorskip("matplotlib.figure")
    options = {"ks": [2, 5]} if name == "lattice" else {}
    mine = figure.Figure().subplots()

    assert hasattr(town[name].plot(**options), "plot")
    assert town[name].plot(**options, ax=mine) is mine
    assert mine.get_children()


def test_the_plot_of_a_release_counts_its_classes(town):
    pytest.importorskip("matplotlib")
    release = town["release"]
    axes = release.plot()

    corners = np.array([path.vertices[:4] for bars in axes.collections for path in bars.get_paths()])
    assert np.ptp(corners[..., 1], axis=1).sum() == release.partition.classes
    assert corners[..., 0].mean(axis=1).min() == release.partition.k


# Weight


def test_importing_kech_loads_no_notebook_and_no_plot():
    code = "import sys, kech; print([m for m in sys.modules if m.startswith(('kech.views', 'matplotlib'))])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(("k", "suppressed", "loss"), [(3, "3", "0.2308"), (5, "&lt;5", "0")])
def test_a_notebook_shows_the_figures_of_the_certificate(k, suppressed, loss):
    """Where the number of suppressed rows is hidden, so is what they lose."""
    table = pa.table({"a": [1] * 5 + [2] * 5 + [50, 90, 99]})
    with kech.read_table(table, quasi_identifiers=["a"]) as read:
        shown = kech.make_release(read, k=k, suppress=0.25, cut="minimal", grid="exact")._repr_html_()
    cells = re.findall("<td[^>]*>([^<]*)</td>", shown)
    assert cells == ["columns", "a", "loss", loss, "suppressed", suppressed]


def test_a_release_says_which_values_it_gives_away():
    rows = pa.table({"age": [1] * 4 + [90] * 4, "stroke": [1] * 4 + [0, 1, 0, 1]})
    with kech.read_table(rows, quasi_identifiers=["age"], sensitive=["stroke"]) as table:
        one, two = kech.make_release(table, k=4, effort="quick"), kech.make_release(table, k=4, l=2, effort="quick")
    assert (one.given_away, two.given_away) == ({"stroke": 0.5}, {})
    assert "50\xa0% of the published rows have their stroke value given away" in one._repr_html_()
    assert "l=2 prevents it." in one._repr_html_() and "given away" not in two._repr_html_()


def test_an_inspection_tells_what_its_owner_should_know_in_words_of_python():
    """As the screen does: hints, cells that a release will refuse, columns that point at rows, people with several."""
    rows = range(120)
    table = {
        "patient_id": [row // 2 for row in rows],
        "race": [1 + row % 7 for row in rows],
        "town": ["k.A." if row % 9 == 0 else "abc"[row % 3] for row in rows],
        "charges": [900 + 37 * row for row in rows],
        "sbp": [80 + row * 7 % 60 for row in rows],
        "dbp": [50 + row * 11 % 59 for row in rows],
    }
    with kech.read_table(pd.DataFrame(table)) as read:
        inspection = kech.inspect_table(read)
    shown = " ".join(parse(inspection._repr_html_()).itertext())
    assert "'race': Its numbers seem to be codes without an order: axes={'race': 'set'} makes sets of them." in shown
    assert "'town': It has texts that often mean a missing value: null_values=['k.A.'] declares them." in shown
    assert "sbp, dbp: published as they are, and nearly every row is unique on them together" in shown
    assert "Column 'patient_id' repeats: " in shown and 'Say person="patient_id"' in shown
    assert "of the rows equal no row of another person" in shown
    assert "weights={" in shown and "--" not in shown
    odd = pd.DataFrame({"age": [*map(str, range(40)), "x"] * 3, "town": ["a", "b", "c"] * 41})
    with kech.read_table(odd) as read:
        shown = " ".join(parse(kech.inspect_table(read)._repr_html_()).itertext())
    assert "A release will refuse this table. Column 'age', row 41: " in shown and "axes={'age': 'set'}" in shown
