"""Reports: recomputable from public files alone, free of cells, true to the other commands, and well-formed."""

import base64
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise

import gudhi
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kech
from by_hand import certify
from conftest import read_cells
from kech.errors import BadCertificate, BadOption, BadTarget, ClaimBroken
from kech.tables.demo import generate_town, write_csv
from oracles import interval_ends, label_width, read_date
from test_canary import ROLES, canaries, found_in

SCRIPT = "<script>alert(1)</script>"
VOID = {"meta"}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A release with axes of every kind, its certificate and its plan; and the original."""
    folder = tmp_path_factory.mktemp("town")
    write_csv(generate_town(600, seed=5), folder / "people.csv")
    plan = kech.Request().override(
        identifiers=["person"],
        sensitive=["diagnosis"],
        keep=["income"],
        quasi_identifiers=["age", "sex", "zip", "moved_in", "schooling", "job"],
        axes={"schooling": ["primary", "secondary", "bachelor", "master", "doctorate"]},
        k=5,
        l=2,
        effort="quick",
    )
    kech.write_request(plan, folder / "kech.toml")
    with kech.read_table(folder / "people.csv", plan) as table:
        kech.make_release(table).write(folder / "safe.csv")
    return folder


@pytest.mark.parametrize(("effort", "told"), [(None, "normal"), (0, 0), ("best", "best")])
def test_a_plan_is_told_with_its_effort(town, effort, told):
    asked = (town / "kech.toml").read_text("utf-8").replace('effort = "quick"\n', "")
    (town / "other.toml").write_text(asked, "utf-8")
    plan = kech.read_request(town / "other.toml").override(**({} if effort is None else {"effort": effort}))
    assert kech.make_report(town / "safe.csv", plan=plan).figures["plan"]["effort"] == told


@pytest.fixture(scope="module")
def report(town):
    return kech.make_report(town / "safe.csv", plan=town / "kech.toml")


@pytest.fixture(scope="module")
def private(town):
    with kech.read_table(town / "people.csv", kech.read_request(town / "kech.toml")) as table:
        return kech.make_report(town / "safe.csv", plan=town / "kech.toml", original=table)


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in its turn; texts, attributes and ids are kept."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, element, attributes):
        assert len(dict(attributes)) == len(attributes)
        self.seen.append((element, dict(attributes), tuple(self.open)))
        if element not in VOID:
            self.open.append(element)

    def handle_endtag(self, element):
        assert self.open.pop() == element

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def all(self, element):
        return [attributes for name, attributes, _ in self.seen if name == element]

    @property
    def text(self):
        return "".join(data for path, data in self.texts if "style" not in path)


# -- recomputable, byte for byte -------------------------------------------------------------------------


def test_a_stranger_makes_the_same_page(town, report, tmp_path):
    for name in ("safe.csv", "safe.csv.certificate.json", "kech.toml"):
        shutil.copy(town / name, tmp_path)
    other = {
        "PATH": os.environ["PATH"],
        "TZ": "Pacific/Auckland",
        "PYTHONHASHSEED": "7",
        "LC_ALL": "C",
        "HOME": str(tmp_path),
    }
    words = [sys.executable, "-m", "kech", "report", "safe.csv", "-o", "again.html", "--plan", "kech.toml"]
    subprocess.run(words, cwd=tmp_path, env=other, check=True, capture_output=True)

    assert (tmp_path / "again.html").read_bytes() == report.html.encode()
    assert "people.csv" not in report.html
    assert str(town) not in report.html


def test_the_plan_shows_only_where_it_is_given(town, report):
    bare = kech.make_report(town / "safe.csv")
    assert bare.html == kech.make_report(str(town / "safe.csv")).html
    assert bare.figures["plan"] is None
    assert "not published: person." in Page(report.html).text
    assert "Named as identifiers" not in Page(bare.html).text


# -- nothing that was not published ----------------------------------------------------------------------


@pytest.fixture
def planted(folder):
    """A release of a table in which every cell is a canary."""
    with (folder / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([canaries(), *zip(*canaries().values(), strict=True)])
    return folder


def test_no_canary_is_in_a_public_report(run, planted):
    assert (
        run("release", planted / "people.csv", "-o", planted / "safe.csv", *ROLES, "--k", 5, "--axis", "job=set").code
        == 0
    )
    assert found_in((planted / "safe.csv").read_bytes()) == {"disease", "kept"}  # every job is rare
    for words in ((), ("--json",)):
        outcome = run("report", planted / "safe.csv", "-o", planted / "report.html", *words)
        assert outcome.code == 0
        assert found_in(outcome.out, outcome.err, (planted / "report.html").read_bytes()) == set()


def test_the_canaries_of_a_private_report_are_seen(run, planted):
    run("release", planted / "people.csv", "-o", planted / "safe.csv", *ROLES, "--k", 5, "--axis", "job=set")
    run("report", planted / "safe.csv", "-o", planted / "private.html", "--original", planted / "people.csv")
    assert found_in((planted / "private.html").read_bytes()) >= {"job", "disease"}


# -- the same figures as the other commands --------------------------------------------------------------


def test_figures_are_those_of_risk_and_verify(run, town):
    shown = run("report", town / "safe.csv", "--json").json
    risk = run("risk", town / "safe.csv", "--json").json
    verified = run("verify", town / "safe.csv", "--json").json

    assert shown["risk"] == {name: risk[name] for name in shown["risk"]}
    assert shown["verified"] == {name: verified[name] for name in shown["verified"]}
    assert {column["column"]: column["loss"] for column in shown["columns"]} == verified["loss_per_column"]
    assert (shown["private"], shown["page"]) == (False, None)


def test_figures_stand_on_the_page(town, report):
    text, figures = Page(report.html).text, report.figures
    risk = figures["risk"]
    assert f"{risk['prosecutor']['highest']:.1%}" in text
    assert f"{figures['verified']['loss']:.4f}" in text
    for column in figures["columns"]:
        assert f"{column['loss']:.4f}" in text
    for formula in risk["formulas"].values():
        assert formula in text
    for promise in figures["not_promised"]:
        assert promise in text
    assert figures["file"]["sha256"] in text
    assert text.count("not available") >= 4
    assert "kech verify safe.csv" in text


def axes_of(path):
    certificate = json.loads(path.with_name(f"{path.name}.certificate.json").read_text("utf-8"))
    return {axis["column"]: axis for axis in certificate["quasi_identifiers"]}


def test_columns_add_up(town, report):
    cells, axes = read_cells(town / "safe.csv"), axes_of(town / "safe.csv")
    for column in report.figures["columns"]:
        assert sum(column["sharpness"]) + column["missing"] == len(cells["age"])
        assert column["width"] == pytest.approx(column["loss"], abs=1e-12)  # nothing is suppressed
        axis, rows = axes[column["column"]], set(cells[column["column"]])
        assert column["distinct"] == len(rows)
        if axis["axis"] in ("number", "date"):
            starts = {
                match[1] for label in rows if label and (match := re.match(r"\[(.+), |>= (.+)", label)) and match[1]
            }
            assert starts <= set(column["edges"])
        else:
            assert column["edges"] is None
    moved = next(column for column in report.figures["columns"] if column["column"] == "moved_in")
    assert moved["extent"]["mean"] / moved["extent"]["of"] == pytest.approx(moved["loss"], rel=1e-3)


def test_thresholds_are_those_asked_for(run, town, folder):
    run("report", town / "safe.csv", "-o", folder / "report.html", "--threshold", "0.05")
    text = Page((folder / "report.html").read_text()).text
    assert "records above 0.05" in text
    assert "kech report safe.csv --threshold 0.05 -o again.html" in text


# -- the first page --------------------------------------------------------------------------------------


def advise(path):
    """The recommendation of a page."""
    return Page(kech.make_report(path).html).text.split("Recommendation. ")[1].split("In plain words")[0]


@pytest.mark.parametrize(
    ("k", "advice"), [(2, "only with people you trust"), (5, "agreed to rules"), (12, "speaks against sharing")]
)
def test_the_first_page_recommends_by_the_highest_chance(tmp_path, k, advice):
    with kech.read_table(generate_town(200), quasi_identifiers=["age", "sex"]) as table:
        kech.make_release(table, k=k, effort="quick").write(tmp_path / "safe.csv", ledger=False)
    said = advise(tmp_path / "safe.csv")
    assert advice in said and "Nobody looked whether the same table was released before." in said


def test_what_gives_people_away_comes_before_any_recommendation(town, tmp_path):
    assert advise(town / "safe.csv").startswith("Mend this before") is bool(
        kech.make_report(town / "safe.csv").figures["identifying"]
    )
    with kech.read_table(town / "people.csv", quasi_identifiers=["age"], sensitive=["diagnosis"]) as table:
        kech.make_release(table, k=2, effort="quick").write(tmp_path / "safe.csv", ledger=False)
    said = advise(tmp_path / "safe.csv")
    assert said.startswith("Mend this before") and "Release it with --l 2." in said
    html = kech.make_report(tmp_path / "safe.csv").html
    assert '<li>Release it with <span class="option">--l 2</span>' in html  # for all that is given away, not the last


def test_the_first_page_names_few_of_many_columns(tmp_path):
    many = pa.table({f"c{place:02}": [0, 1] * 4 for place in range(40)})
    with kech.read_table(many, quasi_identifiers=many.column_names[:20], sensitive=many.column_names[20:]) as table:
        kech.make_release(table, k=4, effort="quick").write(tmp_path / "safe.csv", ledger=False)
    first, rest = Page(kech.make_report(tmp_path / "safe.csv").html).text.split("Contents", 1)
    assert "c00, c01, c02, c03, c04 and 15 others of a person" in first
    assert "c20, c21, c22, c23, c24 and 15 others" in first and "c34" not in first
    assert all(name in rest for name in many.column_names)


def test_beta_and_delta_are_shown_where_somebody_asks(town):
    plain, all_models = (Page(kech.make_report(town / "safe.csv", all_models=each).html).text for each in (False, True))
    assert "l, distinct" in plain and not any(word in plain for word in ("beta", "delta", "entropy"))
    assert all(word in all_models for word in ("beta, basic", "delta", "l, entropy", "--all-models -o again.html"))


# -- well-formed, self-contained, accessible -------------------------------------------------------------


@pytest.mark.parametrize("which", ["report", "private"])
def test_the_page_is_sound(which, request):
    html = request.getfixturevalue(which).html
    page = Page(html)

    assert html.startswith('<!doctype html>\n<html lang="en">')
    names = {name for name, _, _ in page.seen}
    assert not names & {"script", "link", "img", "iframe", "object", "form", "input", "base", "use", "image"}
    attributes = {key for _, given, _ in page.seen for key in given}
    assert not {key for key in attributes if key.startswith("on") or key in ("style", "src", "srcset")}
    assert "http://" not in html
    assert "https://" not in html
    assert "url(" not in html
    ids = [given["id"] for _, given, _ in page.seen if "id" in given]
    assert len(ids) == len(set(ids))
    assert {given["aria-labelledby"] for given in page.all("section")} == set(ids)
    assert [given["href"] for given in page.all("a")] == [f"#{key}" for key in ids]  # the contents, and nothing else


@pytest.mark.parametrize("which", ["report", "private"])
def test_the_page_can_be_heard(which, request):
    page = Page(request.getfixturevalue(which).html)
    assert len(page.all("h1")) == 1
    assert len(page.all("caption")) == len(page.all("table")) > 5
    assert all(given.get("scope") in ("row", "col") for given in page.all("th"))
    assert all("aria-label" in given or given.get("aria-hidden") == "true" for given in page.all("svg"))
    figures = [path for name, _, path in page.seen if name == "svg" and "figure" in path]
    assert len(figures) == len(page.all("figcaption")) >= 2


def test_only_the_style_of_the_page_may_load(report):
    (style,) = re.findall(r"<style>(.*?)</style>", report.html, re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [given["content"] for given in Page(report.html).all("meta") if "http-equiv" in given]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "@media print" in style
    assert "prefers-color-scheme: dark" in style
    assert not re.search(r"</|@import", style)


def test_every_word_of_others_is_escaped(folder):
    rows = {
        f"age\"'>{SCRIPT}": [SCRIPT, "<b>&amp;"] * 10,
        "x": [f"{SCRIPT}{i % 4}" for i in range(20)],
        "s": ["</table>", "b"] * 10,
    }
    tree = {0: [f"{SCRIPT}{i}" for i in range(4)], 1: [f"</style>{SCRIPT}"] * 4}
    names = list(rows)
    target = folder / f"{SCRIPT.replace('/', '')} &.csv"
    given = {names[0]: kech.AxisChoice("set"), "x": kech.AxisChoice(hierarchy=tree)}
    with kech.read_table(pa.table(rows), quasi_identifiers=names[:2], sensitive=["s"], axes=given) as table:
        kech.make_release(table, k=6).write(target)
        made = [kech.make_report(target), kech.make_report(target, original=table)]
    for each in made:
        page = Page(each.html)
        assert not page.all("script")
        assert not page.all("b")
        assert SCRIPT in page.text
        assert f"age\"'>{SCRIPT}" in page.text


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
def test_no_text_breaks_out_of_an_element(folder, text):
    """Whatever the name of a column, the page has the same elements, and the same attributes in them."""
    pages = []
    for name in ("x", f"x{text}"):
        axis = {"column": name, "axis": "number", "domain": [0, 9], "grid": "round"}
        path = certify(folder / "t.csv", (name,), [("[1, 2]",)] * 3, [axis])
        pages.append(Page(kech.make_report(path).html))
    plain, other = ([(name, sorted(given), inside) for name, given, inside in page.seen] for page in pages)
    assert plain == other


def test_a_name_that_is_no_text_is_shown_as_text(folder):
    axis = {"column": "x", "axis": "number", "domain": [0, 9], "grid": "round"}
    path = certify(folder / os.fsdecode(b"\xff.csv"), ("x",), [("[1, 2]",)] * 3, [axis])
    Page(kech.make_report(path).html.encode("utf-8").decode("utf-8"))


# -- refusals --------------------------------------------------------------------------------------------


def test_a_release_that_does_not_hold_gets_no_report(run, town, folder):
    for name in ("safe.csv", "safe.csv.certificate.json"):
        shutil.copy(town / name, folder)
    lines = (folder / "safe.csv").read_text().splitlines(keepends=True)
    (folder / "safe.csv").write_text("".join(lines[:-1]))
    outcome = run("report", folder / "safe.csv", "-o", folder / "report.html")

    assert outcome.code == 4
    assert "sha256" in outcome.err
    assert not (folder / "report.html").exists()
    with pytest.raises(ClaimBroken):
        kech.make_report(folder / "safe.csv")
    (folder / "safe.csv.certificate.json").unlink()
    with pytest.raises(BadCertificate):
        kech.make_report(folder / "safe.csv")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Name the page"),
        (("-o", "report.pdf"), ".html"),
        (("-o", "nowhere/report.html"), "folder"),
        (("-o", "r.html", "--threshold", "2"), "--threshold"),
        (("-o", "r.html", "--seed", "3"), "original"),
        (("-o", "r.html", "--target", "job"), "original"),
    ],
)
def test_questions_that_are_refused(run, town, folder, monkeypatch, words, says):
    monkeypatch.chdir(folder)
    outcome = run("report", town / "safe.csv", *words)
    assert outcome.code == 2
    assert says in outcome.err
    assert list(folder.iterdir()) == []


def test_a_plan_of_another_release_is_refused(town, folder):
    plan = kech.read_request(town / "kech.toml").override(k=7, keep=[])
    with pytest.raises(BadOption, match="keep, k differ"):
        kech.make_report(town / "safe.csv", plan=plan)


def test_a_page_is_written_whole_or_not_at_all(report, folder):
    (folder / "report.html").mkdir()
    with pytest.raises(BadTarget):
        report.write(folder / "report.html")


# -- odd releases ----------------------------------------------------------------------------------------


def test_few_suppressed_rows_are_not_counted(folder):
    rows = {"town": ["a"] * 20 + ["b"] * 20 + ["c"] * 2}
    with kech.read_table(pa.table(rows), quasi_identifiers=["town"], axes={"town": "star"}) as table:
        kech.make_release(table, k=5, cut="domain", suppress=0.1).write(folder / "safe.csv")
    made = kech.make_report(folder / "safe.csv")
    assert made.figures["claims"]["suppressed"] == "<5"
    assert "<strong>&lt;5</strong>" in made.html
    assert not re.search(r"\b42\b", Page(made.html).text)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_points_at_rows_is_told(folder, ending):
    count = 25_000
    rows = {
        "age": [i % 2 for i in range(count)],
        "badge": [f"b{i}" for i in range(count)],
        "pair": [f"p{i // 2}" for i in range(count)],  # two rows share each, seldom among the first ones
        "rare": ["x" if i % 8 else None for i in range(count)],
    }
    with kech.read_table(
        pa.table(rows), quasi_identifiers=["age"], sensitive=["pair"], keep=["badge", "rare"]
    ) as table:
        kech.make_release(table, k=5, effort="quick").write(folder / f"safe.{ending}")
    made = kech.make_report(folder / f"safe.{ending}")
    assert made.figures["identifying"] == ["badge"]
    assert "and most of their values occur in one row only: badge. Who knows" in Page(made.html).text.replace(
        "\u2068", ""
    )


def test_empty_cells_constant_columns_and_parquet(folder):
    rows = {"born": ["1990-01-01"] * 6, "size": [None] * 3 + [1.5] * 3, "job": [None] * 6, "s": ["x"] * 6}
    with kech.read_table(pa.table(rows), quasi_identifiers=["born", "size", "job"], sensitive=["s"]) as table:
        kech.make_release(table, k=3).write(folder / "safe.parquet")
    made = kech.make_report(folder / "safe.parquet")
    assert {column["column"]: column["missing"] for column in made.figures["columns"]} == {
        "born": 0,
        "size": 3,
        "job": 6,
    }
    assert '<span class="given">6</span>' in made.html
    assert "missing" in Page(made.html).text


def test_an_exact_grid_is_called_what_it_is(folder):
    with kech.read_table(pa.table({"age": [22, 24, 25, 36, 38, 43]}), quasi_identifiers=["age"]) as table:
        kech.make_release(table, k=3, grid="exact").write(folder / "safe.csv")
    made = kech.make_report(folder / "safe.csv")
    assert "may be somebody's value" in Page(made.html).text
    (column,) = made.figures["columns"]
    assert column["edges"] == ["22", "36"]
    assert "No column was named as sensitive" in made.html


def drawn_sizes(folder, sizes):
    """What the picture of a release with classes of these sizes says of each bar: its ends, and its classes."""
    axis = {"column": "x", "axis": "number", "domain": [0, 9], "grid": "round"}
    rows = [(str(i),) for i, size in enumerate(sizes) for _ in range(size)]
    html = kech.make_report(certify(folder / "t.csv", ("x",), rows, [axis])).html
    said = re.findall(r"<title>(\d+) classes of (\d+)(?:\u2013([\d,]+))? rows</title>", html)
    return {(int(low), int((high or low).replace(",", ""))): int(classes) for classes, low, high in said}


def test_class_sizes_are_all_drawn(folder):
    assert drawn_sizes(folder, [5, 5, 5, 7]) == {(5, 5): 3, (6, 6): 0, (7, 7): 1}
    bins = drawn_sizes(folder, [5, 5, 5, 7, 900, 900])
    assert sum(bins.values()) == 6
    ends = list(bins)
    assert all(high + 1 == low for (_, high), (low, _) in pairwise(ends))
    assert (ends[0][0], ends[-1][1] >= 900) == (5, True)


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"parameters": {"k": 3, "cut": ["<i>"], "grid": {"<i>": 1}}}, False),
        ({"parameters": {"k": 3, "x": [None, 0.5]}}, True),
        ({"kech": "<i>"}, False),
        ({"parameters": {"k": 3, "owner_secret": "yes"}}, True),
        ({"parameters": {"k": 3, "allow_composition": True, "no_ledger": True}}, False),
        ({"certificate": 1}, True),
        ({"quasi_identifiers": [{"column": "age", "axis": "number", "domain": ["22", "1e999"], "grid": []}]}, True),
    ],
)
def test_an_odd_certificate_is_shown_or_refused(folder, change, refused):
    with kech.read_table(pa.table({"age": [22, 24, 25, 36, 38, 43]}), quasi_identifiers=["age"]) as table:
        certificate = kech.make_release(table, k=3, grid="exact").write(folder / "safe.csv")
    if "quasi_identifiers" in change:
        certificate["claims"] |= {"loss": 0.0, "loss_per_column": {"age": 0.0}}
    (folder / "safe.csv.certificate.json").write_text(json.dumps(certificate | change))
    if refused:
        with pytest.raises(BadCertificate):
            kech.make_report(folder / "safe.csv")
    else:
        page = Page(kech.make_report(folder / "safe.csv").html)
        assert not page.all("i")
        assert ("Nobody looked" in page.text) == ("no_ledger" in change.get("parameters", {}))
        assert ("allowed to stand beside earlier releases" in page.text) == (
            "no_ledger" in change.get("parameters", {})
        )


FORGED = "Nobody can ever be found in this file; it is differentially private."


def test_a_report_repeats_no_sentence_of_a_certificate(folder):
    with kech.read_table(pa.table({"age": [22, 24, 25, 36, 38, 43]}), quasi_identifiers=["age"]) as table:
        certificate = kech.make_release(table, k=3, grid="exact").write(folder / "safe.csv")
    true = kech.make_report(folder / "safe.csv")
    certificate |= {"kech": FORGED}
    certificate["parameters"] |= {"reading": FORGED, "coarse": {"step": FORGED}}
    certificate["quasi_identifiers"][0]["grid"] = FORGED
    (folder / "safe.csv.certificate.json").write_text(json.dumps(certificate))

    made = kech.make_report(folder / "safe.csv")

    assert FORGED not in made.html
    assert made.figures["not_promised"] == true.figures["not_promised"] == certificate["not_promised"]
    assert len(certificate["not_promised"]) > 3
    assert made.figures["parameters"] == true.figures["parameters"]
    assert FORGED not in json.dumps(made.to_json())


@pytest.mark.parametrize(
    "forge", [lambda _: [], lambda _: [FORGED], lambda true: [*true, FORGED], lambda true: true[:-1]]
)
def test_a_certificate_that_promises_more_in_words_is_refused(folder, forge):
    with kech.read_table(pa.table({"age": [22, 24, 25, 36, 38, 43]}), quasi_identifiers=["age"]) as table:
        certificate = kech.make_release(table, k=3, grid="exact").write(folder / "safe.csv")
    forged = certificate | {"not_promised": forge(certificate["not_promised"])}
    (folder / "safe.csv.certificate.json").write_text(json.dumps(forged))

    with pytest.raises(ClaimBroken, match="not_promised"):
        kech.make_report(folder / "safe.csv")


# -- the private variant ---------------------------------------------------------------------------------


@pytest.mark.long
def test_a_private_report_says_so(run, town, private, folder):
    outcome = run(
        "report",
        town / "safe.csv",
        "-o",
        folder / "p.html",
        "--plan",
        town / "kech.toml",
        "--original",
        town / "people.csv",
    )
    assert "PRIVATE" in outcome.out
    assert (folder / "p.html").read_text() == private.html
    assert "<title>PRIVATE." in private.html
    assert Page(private.html).all("h2")[0]
    banner = [path for path, text in Page(private.html).texts if text.startswith("PRIVATE: ")]
    assert banner == [("html", "body", "div", "div", "div")]
    assert private.to_json()["private"] is True
    with kech.read_table(town / "people.csv", kech.read_request(town / "kech.toml")) as table:
        assert private.figures["comparison"] == kech.compare(table, town / "safe.csv").to_json()
        assert private.figures["attacks"] == [found.to_json() for found in kech.run_attacks(town / "safe.csv", table)]


def test_a_public_report_does_not(report):
    assert "private" not in Page(report.html).text.lower()


def test_loss_of_each_column_beside_the_attacks(run, town):
    words = ("risk", town / "safe.csv", "--original", town / "people.csv", "--plan", town / "kech.toml")
    assert run(*words, "--json").json["loss_per_column"] == kech.check_certificate(town / "safe.csv")["loss_per_column"]
    assert run("risk", town / "safe.csv", "--json").json["loss_per_column"] is None


# -- the barcode of the released table -------------------------------------------------------------------


def hull_eps(axes, classes):
    """The definition itself, for columns of every kind: the longest side around all labels, halved."""
    widths = []
    for j, axis in enumerate(axes):
        labels = [labels[j] for labels in classes]
        widths.append(1.0 if len({label == "" for label in labels}) > 1 else hull_width(axis, labels))
    return max(widths) / 2


def hull_width(axis, labels):
    if axis["axis"] == "set":
        return 0.0 if len(set(labels)) == 1 and not labels[0].startswith(("{", "*")) else 1.0
    if len(set(labels)) == 1:
        return label_width(labels[0] or None, axis)
    if axis["axis"] in ("number", "date"):
        read = read_date if axis["axis"] == "date" else float
        start, stop = (read(str(end)) for end in axis["domain"])
        ends = [interval_ends(label, read)[:2] for label in labels]
        low = min(start if low is None else max(low, start) for low, _ in ends)
        return (max(stop if high is None else min(high, stop) for _, high in ends) - low) / (stop - start)
    if "*" in labels:
        return 1.0
    if axis["axis"] == "ordered":
        places = [axis["order"].index(end) for label in labels for end in label.split("..")]
        return (max(places) - min(places)) / (len(axis["order"]) - 1)
    prefixes = [label for label in axis["labels"] if all(other.startswith(label.rstrip("*")) for other in labels)]
    return min((label_width(label, axis) for label in prefixes), default=1.0)


def gudhi_bars(axes, classes):
    """Births and deaths of the bars that live, by a library that shares nothing with kech."""
    tree = gudhi.SimplexTree()
    for i, one in enumerate(classes):
        tree.insert([i], hull_eps(axes, [one]))
        for j, other in enumerate(classes[:i]):
            tree.insert([i, j], hull_eps(axes, [one, other]))
    tree.compute_persistence(min_persistence=1e-9, persistence_dim_max=True)
    return np.sort(tree.persistence_intervals_in_dimension(0), axis=0)


def test_bars_are_those_of_another_library(town):
    axes, cells = axes_of(town / "safe.csv"), read_cells(town / "safe.csv")
    classes = list(set(zip(*(cells[name] for name in axes), strict=True)))
    found = kech.make_report(town / "safe.csv").figures["barcode"]
    ours = np.array([[bar["birth"], np.inf if bar["death"] is None else bar["death"]] for bar in found["bars"]])
    theirs = gudhi_bars(list(axes.values()), classes)
    long = ours[ours[:, 1] - ours[:, 0] > 1e-9]
    assert np.sort(long, axis=0) == pytest.approx(theirs, abs=1e-9)
    assert sum(bar["weight"] for bar in found["bars"]) == len(cells["age"])
    assert (ours[:, 0] <= ours[:, 1]).all()
    assert np.isinf(ours[:, 1]).sum() == 1


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
def test_components_at_a_radius(folder, boxes):
    sizes = {f"[{low}, {low + wide}]" if wide else str(low): size for low, wide, size in boxes}
    axis = {"column": "x", "axis": "number", "domain": [0, 30], "grid": "round"}
    rows = [(label,) for label, size in sizes.items() for _ in range(size)]
    barcode = kech.make_report(certify(folder / "t.csv", ("x",), rows, [axis])).figures["barcode"]
    ends = [(bar["birth"], np.inf if bar["death"] is None else bar["death"], bar["weight"]) for bar in barcode["bars"]]
    for eps in (0.0, 0.1, 0.2, 0.35, 0.5):
        alive = [label for label in sizes if hull_eps([axis], [(label,)]) <= eps + 1e-12]
        groups = {label: {label} for label in alive}
        for one in alive:
            for other in alive:
                if hull_eps([axis], [(one,), (other,)]) <= eps + 1e-12 and groups[one] is not groups[other]:
                    groups[one] |= groups[other]
                    for member in groups[other]:
                        groups[member] = groups[one]
        born = [bar for bar in ends if bar[0] <= eps + 1e-12]
        assert len(born) == len(alive)
        assert sum(death > eps + 1e-12 for _, death, _ in born) == len({id(part) for part in groups.values()})
        assert sum(weight for *_, weight in born) == sum(sizes[label] for label in alive)
    for at in barcode["at"]:
        born = [bar for bar in ends if bar[0] <= at["eps"]]
        living = sum(death > at["eps"] for _, death, _ in born)
        assert (at["classes"], at["rows"], at["components"]) == (len(born), sum(bar[2] for bar in born), living)


def test_of_many_classes_some_are_drawn_and_it_is_said(folder):
    axis = {"column": "x", "axis": "number", "domain": [0, 9000], "grid": "round"}
    made = kech.make_report(certify(folder / "t.csv", ("x",), [(str(i),) for i in range(6_003)], [axis]))
    barcode = made.figures["barcode"]
    assert len(barcode["bars"]) == barcode["drawn"] <= 6_000 < barcode["classes"] == 6_003
    assert f"of {barcode['classes']:,}, every n-th by its labels" in made.html


def test_json_is_json(report):
    assert json.loads(json.dumps(report.to_json(), allow_nan=False)) == json.loads(json.dumps(report.figures))


def one_sensitive(folder):
    """A release of two quasi-identifiers and one sensitive column."""
    rows = range(300)
    sizes = {name: [start + row % 50 for row in rows] for name, start in (("age", 20), ("size", 150))}
    table = pa.table(sizes | {"bili": [row % 3 for row in rows]})
    with kech.read_table(table, quasi_identifiers=["age", "size"], sensitive=["bili"]) as read:
        kech.make_release(read, k=5).write(folder / "one.csv", ledger=False)
    return folder / "one.csv"


def test_what_columns_have_in_common_is_said_once(tmp_path):
    rows = range(300)
    labs = {name: [(row * step) % 101 for row in rows] for name, step in (("bili", 7), ("albumin", 13), ("urea", 29))}
    table = {"age": [20 + row % 50 for row in rows], "size": [150 + row % 50 for row in rows]}
    table |= {"Pers.-Nr.": [f"p{row}" for row in rows], **labs, "urban": [row % 50 % 2 for row in rows]}
    table["urea"] = [row // 3 for row in rows]
    plan = tmp_path / "kech.toml"
    plan.write_text(
        '[columns]\nquasi_identifiers = ["age", "size"]\nidentifiers = ["Pers.-Nr."]\n'
        'sensitive = ["bili", "albumin", "urea", "urban"]\n'
        "[goal]\nk = 5\n",
        "utf-8",
    )
    with kech.read_table(pa.table(table), kech.read_request(plan)) as read:
        kech.make_release(read).write(tmp_path / "safe.csv", ledger=False)
    tables = [kech.make_report(path).html.count("<table") for path in (tmp_path / "safe.csv", one_sensitive(tmp_path))]
    assert tables[0] == tables[1]
    text = Page(kech.make_report(tmp_path / "safe.csv", plan=plan).html).text
    for said in ("min number of values", "who knows the class learns it", "hide k rows or more of the table"):
        assert text.count(said) == 1
    assert text.count("together they are unique in nearly every row: bili, urea; albumin, urea.") == 1
    assert "not published: Pers.-Nr.No other" in text
    assert "read as numberbili, albumin, urea, urban" in text
