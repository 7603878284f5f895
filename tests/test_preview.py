"""What a release would do, before it is written: the same as what it does."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech.errors import BadOption, NoSuchColumn
from kech.release.sentences import column_words
from kech.tables.demo import generate_town, nine_rows, write_csv
from oracles import listed

COLUMNS = ["age", "sex", "zip", "moved_in", "job"]


@pytest.fixture(scope="module")
def town():
    with kech.read_table(generate_town(1500), quasi_identifiers=COLUMNS, sensitive=["diagnosis"]) as table:
        yield table


@pytest.fixture(scope="module", params=["local", "domain", "left out"])
def release(request, town):
    if request.param == "local":
        return kech.make_release(town, k=5, effort="quick")
    return kech.make_release(town, k=5, cut="domain", suppress=0.1 if request.param == "left out" else 0.0)


def test_the_first_rows_are_those_of_the_table(town):
    people = generate_town(1500).to_pylist()
    for shown, person in zip(town.head(20), people[:20], strict=True):
        assert shown == [None if person[name] is None else str(person[name]) for name in town.loaded]


def test_rows_after_are_rows_of_the_release(release):
    outlook = kech.compute_preview(release, rows=40)
    published = {tuple(row[name] for name in outlook.names) for row in release.frame.to_pylist()}
    assert len(outlook.before) == len(outlook.after) == 40
    assert {tuple(row) for row in outlook.after if row is not None} <= published
    secret = outlook.names.index("diagnosis")
    for before, after in zip(outlook.before, outlook.after, strict=True):
        assert after is None or after[secret] == before[secret]


@pytest.mark.parametrize("suppress", [0.0, 0.1])
def test_equal_rows_are_shown_in_the_classes_that_they_go_to(suppress):
    """A point may be divided among classes: of each class as many rows are shown as the release has."""
    ages = np.random.default_rng(4).integers(20, 26, 90)
    with kech.read_table(pa.table({"age": np.append(ages, [80, 95])}), quasi_identifiers=["age"]) as table:
        release = kech.make_release(table, k=7, grid="exact", suppress=suppress)
        shown = [row for row in kech.compute_preview(release, rows=table.rows).after if row is not None]
        published = [tuple(row.values()) for row in release.frame.to_pylist()]
    assert sorted(map(tuple, shown)) == sorted(published)


def test_shares_are_those_of_the_labels(release):
    outlook, frame = kech.compute_preview(release), release.frame
    for column in outlook.columns:
        labels = frame[column.column].to_pylist()
        assert column.lost == pytest.approx(np.mean([label == "*" for label in labels]))
        assert column.missing == pytest.approx(np.mean([label is None for label in labels]))
        if column.axis == "set":
            single = [label is not None and label != "*" and not label.startswith("{") for label in labels]
            assert column.exact == pytest.approx(np.mean(single))
    assert outlook.figures["loss_per_column"] == {column.column: column.loss for column in outlook.columns}
    assert outlook.figures["classes"] == len({tuple(row[name] for name in COLUMNS) for row in frame.to_pylist()})


def test_widths_are_in_the_words_of_the_column():
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table:
        outlook = kech.compute_preview(kech.make_release(table, k=3, grid="exact"))
        (age,) = outlook.columns
        ends = [[int(x) for x in label.strip("[]").split(", ")] for label in table_labels(outlook)]
        assert age.width == pytest.approx(np.mean([high - low + 1 for low, high in ends]))
        assert age.exact == 0


def table_labels(outlook):
    return [row[0] for row in outlook.after]


def test_nothing_is_told_of_a_column_that_is_lost_everywhere():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        outlook = kech.compute_preview(kech.make_release(table, k=9))
        assert [(column.width, column.lost) for column in outlook.columns] == [(None, 1.0)] * 2


def test_rows_that_a_free_cut_leaves_out_are_counted_and_not_shown():
    people = [("c", 150), ("d", -70), ("e", 95)] + [("a", 20)] * 44 + [("b", 60)] * 43
    crowd = pa.table({"group": [group for group, _ in people], "age": [age for _, age in people]})
    with kech.read_table(crowd, quasi_identifiers=["group", "age"]) as table:
        release = kech.make_release(table, k=8, grid="exact", suppress=0.05)
        outlook, plane = kech.compute_preview(release), kech.compute_preview(release, on=["age", "group"]).plane
    assert outlook.figures["suppressed"] == 3
    assert outlook.before == outlook.after == [["a", "20"]] * 10
    assert sum(box[4] for box in plane.boxes) == 87


def test_open_ended_ranges_are_told_and_not_averaged():
    """The paper's nine rows: `>= 30` has no width that anybody knows."""
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        release = kech.make_release(table, k=2)
        outlook, plane = kech.compute_preview(release), kech.compute_preview(release, on=["age", "zip"]).plane
        labels = release.frame["age"].to_pylist()
    open_ended = [label.startswith(("<=", ">=")) for label in labels]
    ends = [label.strip("[]").split(", ") for label, is_open in zip(labels, open_ended, strict=True) if not is_open]
    age = outlook.columns[0]
    assert age.open == pytest.approx(np.mean(open_ended)) and 0 < age.open < 1
    assert age.width == pytest.approx(np.mean([int(high) - int(low) + 1 for low, high in ends]))
    assert any("open-ended in" in column.words for column in outlook.columns)
    assert sorted(map(tuple, plane.points)) == sorted(
        (age, zip_code, 1)
        for age, zip_code in zip(*(nine_rows()[name].to_pylist() for name in ("age", "zip")), strict=True)
    )
    for left, right, *_, opened in plane.boxes:
        assert (left == plane.x.low, right == plane.x.high) == (int(opened) & 1 > 0, int(opened) & 2 > 0)


@pytest.mark.parametrize("most", [20_000, 2])
def test_dots_lie_between_the_rows_of_their_cells(town, release, most, monkeypatch):
    monkeypatch.setattr("kech.release.plane.MOST_DOTS", most)
    plane = kech.compute_preview(release, on=["age", "moved_in"]).plane
    ages = [int(row[town.loaded.index("age")]) for row in town.head(1500)]
    places = [point[0] for point in plane.points]
    assert min(ages) <= min(places) <= max(places) <= max(ages)
    assert set(places) <= set(ages) or most == 2
    assert plane.x.low < min(ages) and plane.x.high > max(ages)


def test_the_plane_holds_every_row_and_every_class(release):
    plane = kech.compute_preview(release, on=["moved_in", "job"]).plane
    published = len(release.frame)
    boxes, points = np.array(plane.boxes), np.array(plane.points)
    runs = count_runs(release, "job")
    assert boxes[:, 5].sum() == runs.sum() >= plane.classes
    assert boxes[:, 4].sum() == (runs * release.partition.sizes).sum()
    assert points[:, 2].sum() in (published, release.table.rows)
    assert (boxes[:, 0] <= boxes[:, 1]).all() and (boxes[:, 2] <= boxes[:, 3]).all()
    assert boxes[:, 0].min() >= plane.x.low - 1e-6 and boxes[:, 1].max() <= plane.x.high + 1e-6
    assert plane.smallest >= 5


def count_runs(release, column):
    """For each class the stretches of neighbouring values that its label lists; values stand by their rows."""
    rows = Counter(row[release.table.loaded.index(column)] for row in release.table.head(release.table.rows))
    ranked = sorted(rows, key=lambda value: (value is None, -rows[value], value))
    runs = []
    for label in release.labels[column]:
        at = sorted(
            ranked.index(value) for value in ([None] if label is None else ranked if label == "*" else listed(label)[0])
        )
        runs.append(1 + sum(after > before + 1 for before, after in pairwise(at)))
    return np.array(runs)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 0.6))
def test_a_plane_at_eps_shows_the_components(eps):
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        barcode = kech.compute_barcode(table, max_dimension=0)
        plane, (at,) = kech.compute_preview(barcode, on=["age", "zip"], eps=eps).plane, barcode.at([eps])
    assert (plane.classes, plane.smallest) == (at["classes"], at["k"])
    assert sum(point[2] for point in plane.points) == 9
    ages = sorted(nine_rows()["age"].to_pylist())
    assert sorted(point[0] for point in plane.points) == ages


def test_a_plane_needs_columns_and_a_radius(town, release):
    barcode = kech.compute_barcode(town, max_dimension=0)
    with pytest.raises(BadOption):
        kech.compute_preview(barcode, on=["age", "zip"])
    with pytest.raises(BadOption):
        kech.compute_preview(barcode, on=["age", "zip"], eps=-1.0)
    for found in ({"seen": release}, {"seen": barcode, "eps": 0.1}):
        with pytest.raises(BadOption, match=r"'diagnosis' is no quasi-identifier here\. Name two of age, sex, zip"):
            kech.compute_preview(on=["age", "diagnosis"], **found)
        with pytest.raises(NoSuchColumn):
            kech.compute_preview(on=["age", "diagnose"], **found)


def test_missing_cells_are_told_apart_from_exact_ones():
    people = pa.table({"age": [30] * 95 + [None] * 5})
    with kech.read_table(people, quasi_identifiers=["age"]) as table:
        outlook = kech.compute_preview(kech.make_release(table, k=5, grid="exact"))
    (age,) = outlook.columns
    assert (age.exact, age.missing, age.lost, age.width) == (0.95, 0.05, 0.0, 1.0)
    assert age.words == "\u2068age\u2069 stays as it is; missing in 5\u00a0% of the rows."


@pytest.mark.parametrize("column", ["age", "sex", "moved_in", "job"])
def test_a_histogram_counts_every_row_that_is_not_missing(town, column):
    (found,) = [report for report in kech.inspect_table(town).columns if report.column == column]
    assert len(found.histogram) <= 24
    assert sum(found.histogram) == town.rows - found.nulls


# -- in words, and as commands -------------------------------------------------------------------------------


def words_of(**goals):
    with kech.read_table(generate_town(400), quasi_identifiers=COLUMNS, sensitive=["diagnosis"]) as table:
        return kech.compute_preview(kech.make_release(table, **goals), rows=0).words


def test_words_say_what_the_figures_say(release):
    outlook = kech.compute_preview(release)
    told = " ".join(column.words for column in outlook.columns)
    classes, left_out = outlook.figures["classes"], outlook.figures["suppressed"]
    assert outlook.words[0].startswith(f"Every row hides among at least {release.partition.k} rows: {classes} classes")
    assert all(f"\u2068{column.column}\u2069" in told for column in outlook.columns)
    assert ("No row is left out." in outlook.words) == (left_out == 0)


@pytest.fixture(scope="module")
def nine():
    """What becomes of the ages of the nine rows; none is open-ended."""
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table:
        (column,) = kech.compute_preview(kech.make_release(table, k=3)).columns
    return replace(column, open=0.0)


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (("number", 4.0, 0.0, 0.0, 0.0), "becomes ranges of 4 on average."),
        (("date", 45.0, 0.0, 0.0, 0.0), "becomes ranges of 45 days on average."),
        (("date", 91.32, 0.0, 0.0, 0.0), "becomes ranges of 3 months on average."),
        (("date", 3652.5, 0.0, 0.0, 0.0), "becomes ranges of 10 years on average."),
        (("hierarchy", 12.0, 0.25, 0.0, 0.0), "becomes labels that stand for 12 values on average, as it is in 25\u00a0% of the rows."),  # noqa: E501
        (("set", 2.0, 0.0, 0.0, 0.5), "becomes sets of 2 values on average; in 50\u00a0% of the rows it is hidden."),
        (("number", 1.0, 1.0, 0.0, 0.0), "stays as it is."),
        (("number", 1.0, 0.97, 0.0, 0.03), "stays as it is in 97\u00a0% of the rows; in 3\u00a0% of the rows it is hidden."),  # noqa: E501
        (("number", 1.0, 0.9877, 0.0123, 0.0), "stays as it is; missing in 1.23\u00a0% of the rows."),
        (("date", 45.0, 0.0, 0.02, 0.0), "becomes ranges of 45 days on average; missing in 2\u00a0% of the rows."),
        (("number", None, 0.0, 0.0, 1.0), "is hidden."),
        (("number", None, 0.0, 0.0, 0.0, 0.5, 1.0), "is told by one end only; open-ended in 100\u00a0% of the rows."),
        (("number", 5.0, 0.0, 0.0, 0.0, 0.5, 0.4), "becomes ranges of 5 on average; open-ended in 40\u00a0% of the rows."),  # noqa: E501
    ],
)  # fmt: skip
def test_a_column_in_words(nine, column, sentence):
    names = ("axis", "width", "exact", "missing", "lost", "loss", "open")
    about = replace(nine, **dict(zip(names, column, strict=False)))
    assert column_words(about) == f"\u2068age\u2069 {sentence}"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0004, "less than 0.1"), (0.9996, "more than 99.9"), (0.002, "0.2"), (0.126, "12.6"), (1, "100")],
)
def test_a_share_is_not_rounded_to_nothing_or_all(nine, share, text):
    about = replace(nine, width=None, exact=0.0, missing=share, lost=1 - share)
    assert f"; missing in {text}\u00a0% of the rows" in column_words(about)


def test_goals_are_named():
    told = words_of(k=5, effort="quick", l=1.5, l_kind="entropy", t=0.9, t_kind="ordered", alpha=0.9)
    assert told[-1] == "As asked, every class keeps l = 1.5 (entropy), t = 0.9 (equal distance), alpha = 0.9."  # texts


def test_commands_say_the_same(run, tmp_path):
    path = write_csv(nine_rows(), tmp_path / "nine.csv")
    goals = ("--qi", "age", "zip", "--k", 3)
    said = run("preview", path, *goals, "--rows", 2).out
    assert "Every row hides among at least 3 rows" in said and "ranges of" in said and "47602" in said
    assert "3 classes, the smallest of 3 rows" in run("preview", path, "--on", "age", "zip", *goals).out
    drawn = run("preview", path, "--on", "age", "zip", *goals, "--plot", tmp_path / "plane.svg").out
    assert "plane.svg" in drawn and "PRIVATE" in (tmp_path / "plane.svg").read_text("utf-8")
    assert "47602" in run("inspect", path, "--rows", 2).out and "47602" not in run("inspect", path).out


@pytest.mark.parametrize(
    "words",
    [
        ("preview", "--on", "age,zip", "--radius", 0.1, "--k", 3),
        ("preview", "--on", "age,zip", "--radius", 0.1, "--seed", 3),
        ("preview", "--on", "age,zip", "--radius", -1),
        ("preview", "--on", "age,zip"),
        ("preview", "--on", "age", "--k", 3),
        ("preview", "--plot", "plane.svg", "--k", 3),
        ("preview", "--k", 3, "--rows", -1),
        ("inspect", "--rows", -1),
        ("lattice", "--node", "1,1", "--k", 3),
        ("lattice", "--node", "up"),
        ("barcode", "--longest", -1),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(run, tmp_path, words):
    command, *more = words
    path = write_csv(nine_rows(), tmp_path / "nine.csv")
    assert run(command, path, *more, "--qi", "age", "zip", "--json").json["error"] == "BadOption"


def test_dates_and_names_stand_on_the_axes_of_a_plane(town):
    release = kech.make_release(town, k=5, effort="quick")
    drawn = kech.compute_preview(release, on=["moved_in", "job"]).plane.plot()
    drawn.figure.canvas.draw()
    assert all(len(tick.get_text()) == len("2001-01-01") for tick in drawn.get_xticklabels())
    jobs = {"NULL", *(job[:12] for job in generate_town(1500)["job"].to_pylist() if job)}
    assert {tick.get_text() for tick in drawn.get_yticklabels()} <= jobs
