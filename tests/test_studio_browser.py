"""The studio in a browser: the whole way of a user on three tables, by eye, by keyboard and by a screen reader's rules.

`make browser` installs what is needed.  With KECH_PICTURES=FOLDER every step is drawn there, in light and dark.
"""

import ast
import asyncio
import csv
import functools
import io
import json
import os
import random
import re
import shutil
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")
pytest.importorskip("playwright", reason="no Playwright: run `make browser`")

from playwright.sync_api import TimeoutError, expect, sync_playwright

import kech
from kech.errors import BadOption
from kech.studio import jobs
from studios import running
from test_canary import canaries, found_in

AXE = Path(__file__).parents[1] / ".browser" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = os.environ.get("KECH_PICTURES")
SLOW = 120_000 if PICTURES else 60_000  # milliseconds a step may take on a busy machine
BARS, SIXTIETH = 10_000, 17  # milliseconds of a frame at 60 a second, rounded up
FIELDS = {
    "allow-composition",
    "alpha",
    "axis",
    "c",
    "cut",
    "delimiter",
    "effort",
    "encoding",
    "eps",
    "grid",
    "k",
    "kind",
    "l",
    "l-kind",
    "null-values",
    "path",
    "person",
    "protect-history",
    "qi",
    "rows-are-people",
    "sensitive",
    "suppress",
    "t",
    "t-kind",
}  # fmt: skip - options that a page sets
SHIFTS = """window.jumps = [];
const what = ({ node, previousRect: a, currentRect: b }) =>
  `${node?.nodeName} ${(node?.textContent ?? "").slice(0, 30)}: ${a.x},${a.y} ${a.width}x${a.height} to ${b.x},${b.y}`;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  if (!entry.hadRecentInput) window.jumps.push([entry.value, entry.sources.map(what)]);
})).observe({ type: "layout-shift", buffered: true });"""  # what jumps without being touched, as browsers measure it


class Browser:
    """Chromium, which can be started anew."""

    def __init__(self, launch):
        self.launch, self.process = launch, launch()

    def start_over(self):
        self.process.close()
        self.process = self.launch()


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium: run `make browser`")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        made = Browser(lambda: playwright.chromium.launch(executable_path=path, args=options))
        yield made
        made.process.close()


def tried_again(test):
    """On a crowded machine Chromium may stop drawing, and waiting is in vain: once more, in a fresh browser."""

    @functools.wraps(test)
    def trying(visit, **others):
        try:
            test(visit, **others)
        except TimeoutError as stuck:
            print(f"tried again in a fresh browser: {stuck}")
            visit.start_over()
            test(visit, **others)

    return trying


@pytest.mark.parametrize(("fault", "tries"), [(TimeoutError("stuck"), 2), (AssertionError("wrong"), 1)])
def test_only_waiting_in_vain_is_tried_again(fault, tries):
    seen = []

    class Crowded:
        def start_over(self):
            seen.append("a fresh browser")

    @tried_again
    def walk(visit):
        seen.append("a walk")
        raise fault

    with pytest.raises(type(fault)):
        walk(Crowded())
    assert seen == ["a walk", "a fresh browser", "a walk"][: 2 * tries - 1]


class Visitor:
    """Somebody with a browser; whatever goes wrong on a page is a failure."""

    def __init__(self, page, studio):
        self.page, self.studio, self.trouble, self.step = page, studio, [], 0
        self.themes = ("light", "dark")
        page.set_default_timeout(SLOW)
        page.on("console", self.hear)
        page.on("pageerror", lambda fault: self.trouble.append(str(fault)))
        page.on("request", self.stays_here)

    def hear(self, said):
        """A refusal is no trouble: the page shows it."""
        if said.type in ("error", "warning") and not re.search(r"status of (409|422)", said.text):
            self.trouble.append(said.text)

    def stays_here(self, request):
        if not request.url.startswith((f"http://{self.studio.host}/", "data:")):
            self.trouble.append(f"asked {request.url}")

    def press(self, name, **more):
        """A button, by keyboard."""
        found = self.page.get_by_role("button", name=name, **more)
        found.focus()
        self.page.keyboard.press("Enter")

    def look(self, name):
        """Nothing went wrong, nothing sticks out, a screen reader finds its way; and a picture, where one is wanted."""
        page = self.page
        assert self.trouble == []
        assert page.evaluate("window.hacked === undefined")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), f"{name} sticks out"
        jumps = page.evaluate("[window.jumps, window.jumps = []][0]")
        assert sum(jump for jump, _ in jumps) < 0.1, f"{name}: {jumps}"
        if AXE.exists():
            for theme in self.themes:
                page.emulate_media(color_scheme=theme)
                assert serious(page, ["color-contrast"] if theme != self.themes[0] else []) == [], f"{name}, {theme}"
        if PICTURES:
            self.draw(name)
        page.emulate_media(color_scheme="light")

    def draw(self, name):
        from PIL import Image

        self.step += 1
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        self.page.evaluate("scrollTo(0, 0)")
        for theme in ("light", "dark"):
            self.page.emulate_media(color_scheme=theme)
            self.page.locator("#said:empty").wait_for(state="attached")
            self.page.wait_for_timeout(300)
            picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB").quantize(64)
            picture.save(Path(PICTURES) / f"{self.step}-{name}-{theme}.png", optimize=True)


def serious(page, rules=()):
    """What axe-core calls serious or worse, by all rules or some: only one looks at colours."""
    if not page.evaluate("!!window.axe"):
        page.context.new_cdp_session(page).send("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
    asked = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = page.evaluate("(asked) => axe.run(document, asked)", asked)
    return [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]][:3])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


class Visits:
    """Visitors of one studio, each with a window of some width."""

    def __init__(self, browser, folder):
        self.browser, self.folder, self.open, self.studio = browser, folder, ExitStack(), None

    def __call__(self, width=1280, height=800):
        if self.studio is None:
            released = tempfile.TemporaryDirectory(dir="/tmp" if PICTURES else self.folder, prefix="releases-")
            self.studio = self.open.enter_context(running(Path(self.open.enter_context(released))))
        size = {"width": width, "height": height}
        context = self.open.enter_context(self.browser.process.new_context(viewport=size, reduced_motion="reduce"))
        context.add_init_script(SHIFTS)
        visitor = Visitor(context.new_page(), self.studio)
        visitor.page.goto(self.studio.address)
        visitor.page.get_by_role("heading", name="Open a table").wait_for()
        self.studio.secret = visitor.page.evaluate("sessionStorage.getItem('kech-secret')")
        return visitor

    def start_over(self):
        """A fresh browser and a fresh studio."""
        self.open.close()
        self.studio = None
        self.browser.start_over()


@pytest.fixture
def visit(browser, tmp_path):
    made = Visits(browser, tmp_path)
    yield made
    made.open.close()


def verified(visitor, folder, name):
    """Write the release, read the page's verdict, and check the file again with the library."""
    page = visitor.page
    page.get_by_label("Folder").fill(folder)
    visitor.press("Write the release")
    page.get_by_role("heading", name="The written file holds").wait_for()
    files = page.locator("li code").all_inner_texts()
    figures = kech.check_certificate(files[0])
    assert Path(files[0]).parent.name == folder and Path(files[0]).name == name
    assert [Path(file).name for file in files[2:4]] == ["report.html", "kech.toml"]
    assert {Path(file).parent.name for file in files[4:]} <= {"private"}
    assert kech.read_request(files[3]).goal.k and "<html" in Path(files[2]).read_text("utf-8")
    names, values = (page.locator(f".holds {tag}").all_inner_texts() for tag in ("dt", "dd"))
    shown = dict(zip(names, values, strict=True))
    assert int(shown["k"]) == figures["k"] and int(shown["rows"].replace(",", "")) == figures["rows"]
    return figures


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core: run `make browser`; no page was checked for screen readers")
@tried_again
def test_a_page_without_names_is_found_by_the_rules_of_screen_readers(visit):
    page = visit().page
    assert serious(page) == []
    page.evaluate("document.body.append(document.createElement('button'))")
    assert [rule for rule, _ in serious(page)] == ["button-name"]


@pytest.mark.long
@tried_again
def test_a_series_is_seen_and_continued(visit):
    visitor = visit(width=390)
    page, folder = visitor.page, Path(visitor.studio.json("GET", "/api/state")["folder"])
    for month, last in enumerate((60, 75, 90)):
        rows = [("visit", "age", "ill"), *((i, 20 + i * 7 % 40, i % 3) for i in range(5 * month, last))]
        with (folder / f"{month}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        if month < 2:
            roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "key": ["visit"]}
            with kech.read_table(folder / f"{month}.csv", **roles) as table:
                asked = {"k": 5, "effort": "quick", "ledger": False}
                kech.open_series(folder / "clinic").publish(table, folder / f"safe{month}.csv", **asked)
    page.reload()
    page.get_by_role("link", name="clinic", exact=True).click()
    page.get_by_role("heading", name="Lives of cohorts").wait_for()
    visitor.look("series")
    page.set_viewport_size({"width": 1024, "height": 800})
    visitor.press("Publish the next version")
    assert "Choose the table" in page.get_by_role("alert").inner_text()
    page.get_by_label("Table", exact=True).set_input_files(folder / "2.csv")
    visitor.press("Publish the next version")
    page.locator("tbody tr").nth(2).wait_for()
    last = kech.open_series(folder / "clinic").to_json()["versions"][2]
    shown = page.locator("tbody tr").nth(2).locator("td").all_inner_texts()
    assert shown[2:6] == [str(last[name]) for name in ("rows", "cohorts", "arrivals", "waiting")]
    page.reload()
    page.get_by_role("heading", name="Lives of cohorts").wait_for()
    visitor.look("series, continued")
    assert kech.verify_series(folder / "clinic")["holds"]


@pytest.mark.long
@tried_again
def test_a_release_that_is_cancelled_after_a_reload_is_taken_up_again(visit, monkeypatch):
    monkeypatch.undo()  # what a first try left
    visitor, start, held = visit(), jobs.Lane.start, [True]
    table = visitor.studio.open_nine(k=3)

    async def later(lane):
        while held:
            await asyncio.sleep(0.02)
        return await start(lane)

    monkeypatch.setattr(jobs.Lane, "start", later)
    visitor.page.goto(f"http://{visitor.studio.host}/tables/{table}/release")
    visitor.press("Write the release")
    visitor.page.get_by_role("button", name="Cancel").wait_for()
    visitor.page.reload()
    visitor.press("Cancel")
    visitor.page.get_by_role("button", name="Take it up again").wait_for()
    held.clear()
    visitor.press("Take it up again")
    visitor.page.get_by_role("heading", name="The written file holds").wait_for()


@pytest.mark.long
@tried_again
def test_rows_left_out_are_no_matter_of_the_regime_cut(visit):
    visitor = visit()
    table = visitor.studio.open_nine(k=3, suppress=0.1)
    visitor.page.goto(f"http://{visitor.studio.host}/tables/{table}/choose")
    visitor.page.get_by_label("Left out (%)").wait_for()
    visitor.page.get_by_label("Cut").select_option("regime")
    expect(visitor.page.get_by_label("Left out (%)")).to_have_count(0)
    expect(visitor.page.get_by_role("button", name="Continue to the release")).to_be_enabled()
    assert visitor.studio.json("GET", f"/api/tables/{table}")["plan"]["cut"] == {"cut": "regime"}


@pytest.mark.long
@tried_again
def test_edges_that_are_refused_are_mended_where_they_were_typed(visit):
    visitor = visit()
    page, table = visitor.page, visitor.studio.open_nine(k=3)
    edges, kind, tree = (page.get_by_label(name) for name in ("Edges of intervals", "It is read as", "A value"))
    refusal, go_on = page.get_by_role("alert"), page.get_by_role("button", name="Continue to the spectrum")

    def type_edges(text):
        edges.fill(text)
        edges.press("Tab")

    page.goto(f"http://{visitor.studio.host}/tables/{table}/axes?column=age")
    tree.wait_for()
    type_edges("abc")
    refusal.get_by_text("“Edges of intervals” (Axes)").wait_for()
    expect(edges).to_have_value("abc")
    expect(go_on).to_be_disabled()
    page.reload()
    expect(edges).to_have_value("round")
    expect(go_on).to_be_enabled()
    type_edges("5")
    tree.wait_for()
    expect(go_on).to_be_enabled()
    assert visitor.studio.json("GET", f"/api/tables/{table}")["plan"]["axes"] == {"age": {"grid": 5}}
    type_edges("abc")
    refusal.wait_for()
    kind.select_option("set")
    tree.wait_for()
    expect(go_on).to_be_enabled()
    assert visitor.studio.json("GET", f"/api/tables/{table}")["plan"]["axes"] == {"age": {"kind": "set"}}
    assert visitor.trouble == []


@pytest.mark.long
@tried_again
def test_a_hierarchy_that_cannot_be_built_is_built_otherwise_where_it_was_chosen(visit):
    visitor = visit()
    page, table = visitor.page, visitor.studio.open_nine(k=3)
    page.goto(f"http://{visitor.studio.host}/tables/{table}/axes?column=age")
    page.get_by_label("Build it as").select_option("dates")
    page.get_by_role("alert").wait_for()
    expect(page.get_by_role("button", name="Continue to the spectrum")).to_be_enabled()  # it was only looked at
    page.get_by_label("Build it as").select_option("prefixes")
    page.get_by_label("A value").wait_for()
    expect(page.get_by_role("alert")).to_have_count(0)


# -- what stays in the browser -----------------------------------------------------------------------------

STORED = """async () => JSON.stringify({
  local: {...localStorage}, session: {...sessionStorage}, bases: await indexedDB.databases(),
  caches: await caches.keys(), workers: (await navigator.serviceWorker.getRegistrations()).length,
})"""
KEPT = {"local": {"theme": "dark"}, "session": {}, "bases": [], "caches": [], "workers": 0}
STEPS = ("preview", "roles", "axes", "spectrum", "choose", "release")
SEEDED = {
    "local": "localStorage.setItem('last', 'CANARY_name_0001')",
    "session": "sessionStorage.setItem('last', 'CANARY_name_0001')",
    "bases": "new Promise((done) => { indexedDB.open('CANARY_name_0001').onsuccess = () => done(1) })",
    "caches": "caches.open('CANARY_name_0001').then(() => 1)",
    "cookies": "(document.cookie = 'last=CANARY_name_0001', 1)",
}


def left_in(visitor):
    """What the browser keeps of the studio, but its secret: by place."""
    kept = json.loads(visitor.page.evaluate(STORED))
    assert kept["session"].pop("kech-secret") == visitor.studio.secret
    return kept | {"cookies": [cookie["name"] for cookie in visitor.page.context.cookies()]}


@pytest.mark.long
@tried_again
def test_no_canary_stays_in_the_storage_of_the_browser(visit):
    visitor, headers = visit(), []
    visitor.page.on("response", lambda answer: headers.append(answer.headers.get("cache-control")))
    cells = canaries()
    rows = [",".join(cells), *(",".join(row) for row in zip(*cells.values(), strict=True))]
    table = visitor.studio.upload("CANARY_source_0001.csv", "\n".join(rows).encode())["id"]
    roles = {"quasi_identifiers": ["job", "income"], "sensitive": ["disease"], "keep": ["kept"]}
    visitor.studio.give_roles(table, dropped=["name", "note", "born"], **roles, release={"k": 5})
    for step in STEPS:
        visitor.page.goto(f"http://{visitor.studio.host}/tables/{table}/{step}")
        visitor.page.wait_for_load_state("networkidle")
    visitor.press("Write the release")
    visitor.page.get_by_role("heading", name="The written file holds").wait_for()
    visitor.page.evaluate("localStorage.setItem('theme', 'dark')")
    assert left_in(visitor) == KEPT | {"cookies": []}
    assert found_in(json.dumps(visitor.page.context.cookies())) == set()
    assert set(headers) == {"no-store"}
    for place, leak in SEEDED.items():
        visitor.page.evaluate(leak)
        assert left_in(visitor)[place] != (KEPT | {"cookies": []})[place]


# -- another user of the machine -----------------------------------------------------------------------------


class Eavesdropper(BaseHTTPRequestHandler):
    """A server of another user on another port, which keeps all that a browser sends."""

    def do_GET(self):
        self.server.heard.append((self.path, dict(self.headers)))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>other</title><p>another page")

    def __getattr__(self, name):
        """Every other method is answered alike."""
        if name.startswith("do_"):
            return self.do_GET
        raise AttributeError(name)

    def log_message(self, *said):
        """Silent."""


@contextmanager
def eavesdropping():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Eavesdropper)
    server.heard = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


ATTACK = """async (studio) => {
  const tried = {};
  const look = async (name, ask) => { tried[name] = await ask().then(() => "answered", () => "refused"); };
  await look("fetch", () => fetch(`${studio}/api/state`, { credentials: "include" }));
  const blind = { mode: "no-cors", credentials: "include" };
  await look("blind", async () => { if (!(await fetch(`${studio}/api/state`, blind)).status) throw 0; });
  await look("frame", () => new Promise((done, fail) => {
    const frame = document.createElement("iframe");
    frame.src = `${studio}/open`;
    frame.onload = () => { try { frame.contentWindow.sessionStorage.length; done(); } catch (e) { fail(e); } };
    document.body.append(frame);
  }));
  await look("script", () => import(`${studio}/static/secret.js`));
  return { tried, session: { ...sessionStorage }, local: { ...localStorage }, cookie: document.cookie };
}"""


@tried_again
def test_a_page_on_another_port_receives_nothing(visit):
    visitor = visit()
    page, studio = visitor.page, visitor.studio
    studio.open_nine(k=3)
    assert page.context.cookies() == [] and page.url == f"http://{studio.host}/open"
    assert "token" not in page.evaluate("JSON.stringify([location.href, document.referrer, document.head.innerHTML])")
    page.reload()
    page.get_by_role("link", name="nine.csv").wait_for()
    with eavesdropping() as other:
        tab = page.context.new_page()
        tab.goto(f"http://127.0.0.1:{other.server_port}/")
        found = tab.evaluate(ATTACK, f"http://{studio.host}")
        page.evaluate("(port) => { location.href = `http://127.0.0.1:${port}/left`; }", other.server_port)
        page.wait_for_url("**/left")
        assert {path for path, _ in other.heard} >= {"/", "/left"}
        said = json.dumps(other.heard)
    assert found == {
        "tried": dict.fromkeys(("fetch", "blind", "frame", "script"), "refused"),
        "session": {},
        "local": {},
        "cookie": "",
    }
    assert not {name.lower() for _, headers in other.heard for name in headers} & {"cookie", "authorization"}
    referrers = {headers["Referer"] for _, headers in other.heard if "Referer" in headers}
    assert referrers <= {
        f"http://127.0.0.1:{other.server_port}/{path}" for path in ("", "left")
    }  # its own, for its icon
    assert studio.token not in said and studio.secret not in said
    page.go_back()
    page.get_by_role("link", name="nine.csv").wait_for()


@tried_again
def test_a_tab_that_is_opened_by_hand_says_how_to_get_in(visit):
    visitor = visit()
    table = visitor.studio.open_nine(k=3)
    for path in ("/", "/open", f"/tables/{table}/choose"):
        tab = visitor.page.context.new_page()
        tab.goto(f"http://{visitor.studio.host}{path}")
        tab.get_by_role("alert").get_by_text("duplicate that tab").wait_for()
        assert "nine" not in tab.content()
        tab.close()
    tab = visitor.page.context.new_page()
    assert tab.goto(visitor.studio.address).status == 410


@tried_again
def test_a_browser_comes_in_through_the_private_file(visit, tmp_path):
    visit.studio = visit.open.enter_context(running(tmp_path))
    page = visit.open.enter_context(visit.browser.process.new_context()).new_page()
    page.goto(visit.studio.entry.write_file().as_uri())
    page.get_by_role("heading", name="Open a table").wait_for()
    page.reload()
    page.get_by_role("heading", name="Open a table").wait_for()
    assert page.url == f"http://{visit.studio.host}/open"


@tried_again
def test_answers_and_hierarchies_are_fetched_with_the_secret(visit):
    visitor = visit()
    page, table = visitor.page, visitor.studio.open_nine(k=3)
    page.goto(f"http://{visitor.studio.host}/tables/{table}/axes?column=age")
    page.get_by_label("A value").wait_for()
    with page.expect_download() as saved:
        visitor.press("Export as CSV")
    assert saved.value.suggested_filename == "age.csv" and saved.value.path().stat().st_size
    with page.context.expect_page() as tab:
        page.locator("#answers").get_by_role("button", name="hierarchy").click()
    assert json.loads(tab.value.locator("body").inner_text())["column"] == "age"
    assert visitor.trouble == []


# -- nine rows, by keyboard, on a small screen -------------------------------------------------------------


@pytest.mark.long
@tried_again
def test_nine_rows_by_keyboard_on_a_telephone(visit):
    visitor = visit(390, 800)
    page = visitor.page
    visitor.press("Open nine rows")
    page.get_by_role("cell", name="47677").wait_for()
    visitor.look("preview")
    visitor.press("Continue to roles")
    page.get_by_text("3 columns have no role yet.").wait_for()
    assert page.get_by_role("button", name="Continue to axes").is_disabled()
    for column, role in (("age", "Q"), ("zip", "Q"), ("salary", "S")):
        page.get_by_label(f"Role of {column}").focus()
        page.keyboard.type(role)
    page.get_by_text("Every column has a role.").wait_for()
    visitor.look("roles")
    visitor.press("Continue to axes")
    page.get_by_label("A value").fill("43")
    assert page.locator(".becomes li").all_inner_texts()[0].endswith("43")
    assert len(page.locator(".becomes li").all()) > 2
    visitor.look("axes")
    visitor.press("Continue to the spectrum")
    page.get_by_label("k", exact=True).focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.get_by_text("k = 3", exact=True).wait_for()
    page.locator(".legend").get_by_text("local").wait_for()
    page.get_by_role("button", name="Best for k = 3").wait_for()
    page.locator("dl.figures").first.get_by_text("strict regime for k = 3").wait_for()
    page.get_by_label("Lattice: arrow keys").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    visitor.look("spectrum")
    visitor.press("Choose this k")
    page.get_by_text("Every row hides among at least 3").wait_for()
    visitor.look("choose")
    expect(page.get_by_role("button", name="Continue to the release")).to_be_enabled(timeout=SLOW)
    visitor.press("Continue to the release")
    assert verified(visitor, "nine-k3", "nine.csv")["k"] >= 3
    visitor.look("release")
    page.go_back()
    page.get_by_text("Every row hides among at least 3").wait_for()
    page.go_back()
    page.get_by_role("heading", name="See the spectrum").wait_for()
    assert re.search(r"/tables/\w+/spectrum", page.url)
    page.go_forward()
    page.get_by_role("heading", name="Choose", exact=True).wait_for()
    assert visitor.trouble == []


# -- the town ------------------------------------------------------------------------------------------------


@pytest.mark.long
@tried_again
def test_the_town_with_a_reload_a_second_tab_and_a_cancelled_job(visit):
    visitor = visit(1280, 800)
    visitor.themes = ("dark",)
    page = visitor.page
    visitor.look("open")
    visitor.press("Open a made-up town")
    page.get_by_text("20,000 rows, 9 columns").wait_for()
    visitor.look("preview")
    visitor.press("Continue to roles")
    visitor.press("Take the suggestions")
    page.get_by_text("Every column has a role.").wait_for()
    meddle_in_a_second_tab(visitor)
    visitor.look("roles")
    visitor.press("Continue to axes")
    edit_the_zip_codes(visitor)
    visitor.look("axes")
    visitor.press("Continue to the spectrum")
    page.get_by_role("button", name="Cancel: Every k, local cut").wait_for()
    page.reload()
    page.get_by_role("button", name="Best for k = 5").wait_for()
    if PICTURES:
        page.locator(".legend").get_by_text("local").wait_for()
    else:
        if page.get_by_role("button", name="Cancel: Every k, local cut").is_visible():
            visitor.press("Cancel: Every k, local cut")
        visitor.press("Add the minimal cut (slow)")
        visitor.press("Cancel: Every k, minimal cut")
        page.get_by_text("Every k, minimal cut: cancelled.").wait_for()
    brush_eps(visitor)
    draw_a_path(visitor)
    page.mouse.wheel(0, -5000)
    visitor.look("spectrum")
    visitor.press("Choose this k")
    page.get_by_label("Search").select_option("quick")
    page.get_by_text("labels that stand for").wait_for()
    page.get_by_text("Every row hides among at least 5").wait_for()
    assert page.locator("tr.pair").count() == 10
    visitor.look("choose")
    expect(page.get_by_role("button", name="Continue to the release")).to_be_enabled(timeout=SLOW)
    visitor.press("Continue to the release")
    assert verified(visitor, "town-k5", "town.csv")["k"] == 5
    visitor.look("release")


def edit_the_zip_codes(visitor):
    """Group two districts under a name, and use the hierarchy."""
    page = visitor.page
    visitor.press("zip", exact=True)
    page.get_by_role("heading", name="zip", exact=True).wait_for()
    for label in ("0****", "02***", "021**"):
        visitor.press(f"Below {label}")
    for label in ("0210*", "0211*"):
        page.get_by_label(f"Choose {label}", exact=True).focus()
        page.keyboard.press("Space")
    page.get_by_label("New label").fill("harbour")
    visitor.press("Group the chosen")
    page.get_by_label("A value").fill("02105")
    assert page.locator(".becomes li").all_inner_texts()[:3] == ["02105", "0210*", "harbour"]
    visitor.press("Use this hierarchy")
    page.get_by_text("This hierarchy is yours").wait_for()


def brush_eps(visitor):
    """Dragging on the barcode moves the figures and the plane."""
    page = visitor.page
    canvas = page.get_by_label("Weighted barcode of").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 60, steps=5)
    page.mouse.up()
    page.get_by_text(re.compile(r"Components at eps = 0\.0")).wait_for()
    classes = page.locator("dl.figures dd").first.inner_text()
    assert int(classes.replace(",", "")) > 100
    page.get_by_text(re.compile("Components at eps")).filter(has_text=classes).wait_for()


def draw_a_path(visitor):
    """Two nodes are drawn, and their zig-zag is shown."""
    page = visitor.page
    visitor.press("Draw a path")
    page.locator(".nodes button").first.click()
    page.get_by_text(re.compile(r"2 nodes, [\d,]+ bars")).wait_for()


def meddle_in_a_second_tab(visitor):
    """Another tab changes the plan; the first one says so, shows it, and does not overwrite it."""
    page = visitor.page
    with page.context.expect_page() as duplicate:  # a tab that is duplicated keeps the secret, as one that is opened so
        page.evaluate("window.open(location.href)")
    other = duplicate.value
    with other.expect_response(lambda answer: answer.request.method == "PUT"):
        other.get_by_label("Role of income").select_option("drop")
    other.close()
    page.bring_to_front()
    page.get_by_label("Role of sex").select_option("keep")
    page.get_by_text("changed in another tab").wait_for()
    page.get_by_text("Every column has a role.").wait_for()
    assert page.get_by_label("Role of income").input_value() == "drop"
    assert page.get_by_label("Role of sex").input_value() == "quasi-identifier"


# -- a nasty table ---------------------------------------------------------------------------------------------


def nasty_table():
    """Sixty columns whose names and cells are markup, every script of the world, and formulas."""
    chance = random.Random(3)
    script, image = "<script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>"
    names = [script, "Zürich \u202e RTL", "名前", "a b;c", "'quote\"", image, "age", "😀"]
    names += [f"col{i:02d}" for i in range(52)]
    cells = [
        [script, "<b>x</b>", "\u0301e"],
        ["ß", "ſ", "Ω"],
        ["田中", "=cmd()", "山本"],
        ["x;y", "z"],
        ["it's", '"q"'],
    ]
    cells += [[image, "javascript:window.hacked=1"], range(1, 90), ["😀", "🎉"], *["ab12"] * 52]
    rows = [[chance.choice(column) for column in cells] for _ in range(200)]
    text = io.StringIO()
    csv.writer(text).writerows([names, *rows])
    return text.getvalue().encode()


def hand_over(page, name, body):
    """Choose a file."""
    page.set_input_files("#file", [{"name": name, "mimeType": "text/csv", "buffer": body}])


@tried_again
def test_a_nasty_table_stays_text(visit):
    visitor = visit(2560, 1200)
    visitor.themes = ("light",)
    page = visitor.page
    hand_over(page, "<img src=x onerror=window.hacked=1>.csv", nasty_table())
    page.get_by_text("200 rows, 60 columns").wait_for()
    page.get_by_role("cell", name="<script>window.hacked=1</script>").first.wait_for()
    visitor.look("preview")
    visitor.press("Continue to roles")
    page.get_by_placeholder("Find a column").fill("col")
    assert page.locator("tbody tr:visible").count() == 52
    page.get_by_placeholder("Find a column").fill("")
    for row in page.locator("tbody tr").all():
        name = row.get_attribute("data-column")
        row.locator("select").select_option("drop" if name.startswith("col") else "quasi-identifier")
    page.get_by_label("Role of col51").select_option("sensitive")
    page.get_by_text("Every column has a role.").wait_for()
    visitor.look("roles")
    visitor.press("Continue to axes")
    page.locator(".becomes li").first.wait_for()
    visitor.look("axes")
    visitor.press("Continue to the spectrum")
    page.locator(".legend").get_by_text("domain").wait_for()
    page.get_by_role("button", name="Best for k = 5").wait_for()
    visitor.look("spectrum")
    visitor.press("Choose this k")
    page.get_by_text("Every row hides among at least 5").wait_for()
    visitor.look("choose")
    expect(page.get_by_role("button", name="Continue to the release")).to_be_enabled(timeout=SLOW)
    visitor.press("Continue to the release")
    assert verified(visitor, "nasty", "<img src=x onerror=window.hacked=1>.csv")["k"] >= 5
    visitor.look("release")


@pytest.mark.long
@tried_again
def test_an_answer_that_comes_late_does_not_take_a_later_refusal_away(visit):
    visitor, asked = visit(), []
    page, table = visitor.page, visitor.studio.open_nine(k=3)

    def pass_on(route):
        asked.append(route)
        if len(asked) != 2:  # the first looks at the columns
            route.continue_()

    page.route("**/result", pass_on)
    page.goto(f"http://{visitor.studio.host}/tables/{table}/choose")
    page.get_by_label("k", exact=True).wait_for()
    while len(asked) < 2:
        page.wait_for_timeout(10)
    page.get_by_label("k", exact=True).fill("99")
    page.get_by_label("k", exact=True).press("Enter")
    refusal = page.get_by_role("alert").get_by_text("k=99 needs 99 rows")
    refusal.wait_for()
    with page.expect_response("**/result"):
        asked[1].continue_()
    page.locator("#answers").get_by_text("preview").wait_for()
    assert refusal.is_visible()


@pytest.mark.long
@tried_again
def test_refusals_are_shown_where_they_happen(visit):
    visitor = visit()
    page = visitor.page
    hand_over(page, "bad.exe", b"a\n1\n")
    page.get_by_role("alert").get_by_text("unknown ending").wait_for()
    hand_over(page, "bad.csv", b"a,b\n1\n")
    page.get_by_role("alert").get_by_text("line 2").wait_for()
    page.goto(f"http://{visitor.studio.host}/open")
    visitor.press("Open nine rows")
    page.get_by_role("cell", name="47677").wait_for()
    visitor.press("Continue to roles")
    visitor.press("Take the suggestions")
    page.get_by_label("Role of age").select_option("quasi-identifier")
    visitor.press("Continue to axes")
    page.locator(".becomes li").first.wait_for()
    page.goto(page.url.partition("?")[0].replace("/axes", "/choose"))
    page.get_by_label("k", exact=True).fill("99")
    page.get_by_label("k", exact=True).press("Enter")
    page.get_by_role("alert").get_by_text("k=99 needs 99 rows").wait_for()
    assert page.get_by_role("button", name="Continue to the release").is_disabled()
    page.get_by_label("k", exact=True).fill("3")
    page.get_by_label("k", exact=True).press("Enter")
    expect(page.get_by_role("button", name="Continue to the release")).to_be_enabled(timeout=SLOW)
    page.get_by_label("alpha", exact=True).fill("2")
    page.get_by_label("alpha", exact=True).press("Enter")
    page.get_by_role("alert").get_by_text("“alpha”: alpha is a share: write a number above 0 and at most 1").wait_for()


@tried_again
def test_later_steps_wait_for_roles_with_one_refusal(visit):
    visitor = visit()
    table = visitor.studio.json("POST", "/api/examples/nine", b"", 201)["id"]
    for step in ("axes", "spectrum", "choose"):
        visitor.page.goto(f"http://{visitor.studio.host}/tables/{table}/{step}")
        visitor.page.get_by_role("alert").get_by_text("3 columns have no role yet.").wait_for()
        assert visitor.page.get_by_role("alert").count() == 1
    visitor.press("Go to roles")
    visitor.page.get_by_label("Role of age").wait_for()
    assert visitor.trouble == []


def messages():
    """Texts of the library with an option in them, and what every field says of a wrong value: possible refusals."""
    parts = [getattr(kech.Request(), part) for part in kech.Request.__struct_fields__ if part != "axes"]
    for name in [name for part in parts for name in part.__struct_fields__]:
        try:
            kech.Request().override(**{name: object()})  # some fields take any value until a table is read
        except BadOption as refused:
            yield refused.typed
    for path in sorted(Path(kech.__file__).parent.rglob("*.py")):
        texts = [node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)]
        yield from (text for text in texts if isinstance(text, str) and re.search(r"--[a-z]", text))


@pytest.mark.long
@tried_again
def test_refusals_name_fields_and_no_options(visit):
    found = list(messages())
    told = visit().page.evaluate("async (all) => all.map((await import('/static/words.js')).inPageWords)", found)
    assert FIELDS - {option for text in found for option in options_in(text)} == set()
    assert [text for text in told if options_in(text) & FIELDS] == []


def options_in(text):
    return set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text))


@pytest.mark.long
@tried_again
def test_goals_for_sensitive_columns_are_set_on_the_page(visit):
    visitor = visit()
    table, page = visitor.studio.open_nine(k=3), visitor.page
    page.goto(f"http://{visitor.studio.host}/tables/{table}/choose")
    assert page.get_by_label("l counts").is_disabled() and page.get_by_label("Distance").is_disabled()
    for field, value in (("l", "2"), ("t", "0.9"), ("alpha", "0.6")):
        with page.expect_response(lambda answer: answer.request.method == "PUT"):
            page.get_by_label(field, exact=True).fill(value)
            page.get_by_label(field, exact=True).press("Enter")
    page.get_by_label("l counts").select_option("recursive")
    page.get_by_label("Distance").select_option("ordered")
    page.get_by_text("l = 2 (recursive, c = 2), t = 0.9 (ordered distance), alpha = 0.6.").wait_for()
    goals = {"l": 2.0, "l_kind": "recursive", "c": 2.0, "t": 0.9, "t_kind": "ordered", "alpha": 0.6}
    assert visitor.studio.json("GET", f"/api/tables/{table}")["plan"]["goal"] == {"k": 3} | goals
    visitor.look("goals")
    page.get_by_label("l", exact=True).fill("")
    page.get_by_label("l", exact=True).press("Enter")
    page.get_by_text("As asked, every class keeps t = 0.9 (ordered distance), alpha = 0.6.").wait_for()


# -- frames ----------------------------------------------------------------------------------------------------

BRUSH = """async (bars) => {
  const { barcodeView } = await import("/static/barcode.js");
  const view = barcodeView({ onEps() {}, signal: new AbortController().signal });
  document.getElementById("content").replaceChildren(view.element);
  const birth = (i) => (i % 97) / 500, death = (i) => birth(i) + (i % 89) / 100 + 0.01;
  const bar = (_, i) => ({ dimension: 0, birth: birth(i), death: death(i), weight: 1 + (i % 41) });
  const found = Array.from({ length: bars }, bar);
  view.set({ bars: found });
  let work = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame((start) => {
    work.push(performance.now() - start);
    resolve(start);
  }));
  for (let i = 0; i < 10; i += 1) await frame();
  const times = async (change) => {
    const taken = [];
    work = [];
    let last = await frame();
    for (let i = 0; i < 90; i += 1) {
      view.mark(change(i));
      view.at(i / 90);
      const now = await frame();
      taken.push(now - last);
      last = now;
    }
    const middle = (list) => list.sort((a, b) => a - b)[45];
    return { frame: middle(taken), drawing: middle(work) };
  };
  return { eps: await times((i) => ({ eps: i / 90 })), k: await times((i) => ({ k: 2 + (i % 30) })) };
}"""


@pytest.mark.long
@tried_again
def test_ten_thousand_bars_are_brushed_at_sixty_frames_a_second(visit, record_property):
    visitor = visit(1280, 800)
    for _ in range(5):  # somebody else may use the machine
        found = visitor.page.evaluate(BRUSH, BARS)
        slowest = max(found["eps"]["frame"], found["k"]["frame"])
        if slowest <= SIXTIETH:
            break
    record_property("frames", found)
    print(f"{BARS:,} bars, median ms of a frame and of the drawing in it: {found}")
    assert slowest <= SIXTIETH


@tried_again
def test_people_with_several_rows_are_said_on_roles_and_before_the_release(visit):
    visitor = visit()
    page, studio = visitor.page, visitor.studio
    rows = "".join(f"{70_000 + number % 40},{20 + number % 40}\n" for number in range(120))
    table = studio.upload("visits.csv", f"patient_id,age\n{rows}".encode())["id"]
    warning, role = page.get_by_text("'patient_id' repeats: 40 values"), page.get_by_label("Role of patient_id")
    page.goto(f"http://{studio.host}/tables/{table}/roles")
    warning.wait_for()
    assert page.get_by_text("Give it the role Person").count() == 1
    visitor.press("Take the suggestions")
    expect(role).to_have_value("person")
    page.get_by_text(
        re.compile(r"As it is, k = \d+ by people: .* of the rows equal no row of another person on")
    ).wait_for()
    expect(warning).to_have_count(0)
    role.select_option("identifier")
    expect(warning).to_have_count(1)
    page.get_by_label("Every row is another person").check()
    expect(warning).to_have_count(0)
    assert studio.json("GET", f"/api/tables/{table}")["plan"]["columns"]["rows_are_people"] is True
    studio.give_roles(table, quasi_identifiers=["age"], dropped=["patient_id"], release={"k": 3})
    page.goto(f"http://{studio.host}/tables/{table}/release")
    warning.wait_for()
    assert visitor.trouble == []


VISITS = b"patient_id,age,zip\n" + b"".join(
    b"%d,%d,%05d\n" % (70_000 + person, 20 + person % 35, 2110 + person % 7 * 5)
    for person in range(60)
    for _ in range(1 + person % 3)
)  # 60 people, 120 rows


@pytest.mark.long
@tried_again
def test_where_a_person_is_named_k_counts_people_on_every_page(visit):
    visitor = visit()
    page, studio = visitor.page, visitor.studio
    table = studio.upload("visits.csv", VISITS)["id"]
    roles = {"quasi_identifiers": ["age", "zip"], "person": ["patient_id"]}
    studio.give_roles(table, **roles, release={"k": 5, "effort": "quick"})
    at = f"http://{studio.host}/tables/{table}"
    promised = re.compile(
        r"Every row hides among rows of at least ([5-9]|\d\d) different people \(stated by the maker\):"
    )

    page.goto(f"{at}/spectrum")
    page.get_by_text("k counts different people: 60 in the table").wait_for()
    expect(page.get_by_label("k", exact=True)).to_have_attribute("aria-valuetext", "5 people")
    page.get_by_label("k", exact=True).press("End")
    expect(page.get_by_label("k", exact=True)).to_have_attribute("aria-valuetext", "50 people")
    expect(page.get_by_text("smallest class, people")).to_have_count(1)

    page.goto(f"{at}/choose")
    page.get_by_text(promised).wait_for()
    expect(page.get_by_label("k", exact=True)).to_have_attribute("max", "60")
    visitor.look("people")
    page.get_by_label("Protect whole histories").check()
    page.get_by_text("60 people have 120 rows; the longest history has 3 rows.").wait_for()
    page.get_by_text("Every person hides among at least 5 people with all of their rows").wait_for()
    visitor.look("histories")
    page.get_by_label("Cut").select_option("domain")
    expect(page.get_by_label("Protect whole histories")).to_be_disabled()
    page.get_by_text(promised).wait_for()
    expect(page.get_by_text("the longest history")).to_have_count(0)
    assert studio.json("GET", f"/api/tables/{table}")["plan"]["goal"] == {"k": 5}

    page.goto(f"{at}/release")
    page.get_by_text("Every row will hide among rows of at least 5 different people (stated by the maker)").wait_for()
    visitor.press("Write the release")
    page.get_by_text("Stated by the maker: every class holds rows of at least").wait_for()
    assert page.locator(".holds dt").first.inner_text() == "k (rows)"
    visitor.look("released")


@pytest.mark.long
@tried_again
def test_histories_that_cannot_be_kept_show_their_price_and_the_field_that_mends_it(visit):
    visitor = visit()
    page, studio = visitor.page, visitor.studio
    many = b"".join(b"70000,25,%05d\n" % (2110 + visit) for visit in range(9))  # a history that nobody shares
    table = studio.upload("visits.csv", VISITS + many)["id"]
    roles = {"quasi_identifiers": ["age", "zip"], "person": ["patient_id"]}
    studio.give_roles(table, **roles, release={"k": 5, "effort": "quick", "protect_history": True})
    page.goto(f"http://{studio.host}/tables/{table}/choose")
    page.get_by_role("heading", name="What whole histories cost").wait_for()
    refusal = page.get_by_role("alert")
    expect(refusal).to_contain_text("without “Protect whole histories” a person hides with each row alone")
    needed = re.search(r"Allow that with “Left out” = ([\d.]+)", refusal.inner_text())[1]
    expect(page.get_by_role("button", name="Continue to the release")).to_be_disabled()
    page.get_by_label("Left out (%)").fill(needed)
    page.get_by_label("Left out (%)").press("Enter")
    page.get_by_text("Every person hides among at least 5 people with all of their rows").wait_for()
    expect(refusal).to_have_count(0)
    assert visitor.trouble == []
