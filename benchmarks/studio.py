"""Times of the studio in a browser, against the goals of its issue.  Run on an idle machine with two cores:

usage: python -m benchmarks.studio [--tries 3] [--page]     (three minutes; Chromium and Playwright: make browser)

A town of 20,000: the first useful screen, the preview under a dragged line, the exact answer for a new k, and a k that
was seen before.  A town of 300,000: its first screen, and the frames while it is scrolled.  Every time is printed once
it is known, with the CPU seconds that kech and the page's own thread took: those hardly depend on what else runs.
Three tries or more write benchmarks/pages/studio.md.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parent
sys.path.insert(0, str(BENCHMARKS))  # scripts beside this one import each other by their plain names

from benchmarks.measure import busy_seconds  # noqa: E402
from benchmarks.page import draw  # noqa: E402
from benchmarks.run import describe_run  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from kech.studio.server import bind, make_server  # noqa: E402
from kech.tables.demo import generate_town, write_csv  # noqa: E402

RESULTS, PAGE = BENCHMARKS / "results" / "studio.json", BENCHMARKS / "pages" / "studio.md"
WAIT = 180_000  # milliseconds that any step may take
LEAST_TRIES = 3  # of a page
NEW_KS, SEEN_KS = (6, 9, 13, 25, 40), (6, 25, 13)
TICKS = os.sysconf("SC_CLK_TCK")
FIRST, DRAGGED, NEW, SEEN = (
    "town: first useful screen (rows, columns, verdict)",
    "town: preview while dragging",
    "town: exact answer for a new k",
    "town: a k that was seen before",
)
SCREEN, FRAME = "300,000 rows: first screen", "300,000 rows: frame while scrolling"
WORK, JUMP = "300,000 rows: script, style and layout of a frame", "300,000 rows: the same while jumping"
GOALS = {FIRST: 3.0, DRAGGED: 0.1, NEW: 2.0, SEEN: 0.1, SCREEN: 10.0, FRAME: 0.017, WORK: 0.0167, JUMP: 0.0167}
# seconds; of what is not here, the time is only told

DRAG = """async (share) => {
  const picture = document.querySelector("#instrument svg.picture"), box = picture.getBoundingClientRect();
  const at = (part) => ({ clientX: box.left + 60 + part * (box.width - 80), clientY: box.top + 60, bubbles: true });
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const taken = [];
  picture.dispatchEvent(new PointerEvent("pointerdown", { ...at(0.05), button: 0 }));
  await frame();
  for (let step = 1; step <= 20; step += 1) {
    const began = performance.now();
    dispatchEvent(new PointerEvent("pointermove", at(0.05 + 0.045 * step)));
    await frame();
    taken.push(performance.now() - began);
  }
  dispatchEvent(new PointerEvent("pointerup", at(share)));
  return taken;
}"""  # milliseconds from each move to the frame that shows it
FRAMES = """async (step) => {
  const view = document.querySelector(".viewport"), taken = [], frame = () => new Promise(requestAnimationFrame);
  let last = await frame();
  for (let at = 0; at < 240; at += 1) {
    view.scrollTop += step;
    const now = await frame();
    taken.push(now - last);
    last = now;
  }
  return taken;
}"""
EXACT = """() => !document.querySelector('[data-part="release"]').disabled"""
KNOWN = """() => document.querySelector("#verdict .big") !== null"""
LADDER = """() => document.querySelectorAll(".picture .dot").length >= 12"""
FILLED = """() => document.querySelector("#grid .rows .cell:nth-child(2)")?.textContent.length > 1"""


def main() -> None:
    """Measure, or draw the page again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=LEAST_TRIES, help="how often each table is opened")
    parser.add_argument("--page", action="store_true", help="measure nothing; draw the page again")
    asked = parser.parse_args()
    if not asked.page:
        found = measure(asked.tries)
        print("\n" + draw_table(found))
        if asked.tries < LEAST_TRIES:
            return
        RESULTS.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    PAGE.write_text(draw_page(json.loads(RESULTS.read_text("utf-8"))), "utf-8")


def measure(tries: int) -> dict[str, Any]:
    """Each table some times, in a fresh studio each time."""
    measured: dict[str, list[dict[str, float]]] = {}
    began, busy, ours = time.monotonic(), busy_seconds(), cpu_of_all()
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(tries):
            for time_table in (time_town, time_large):
                for name, line in time_table(browser):
                    measured.setdefault(name, []).append(line)
        others = max(0.0, busy_seconds() - busy - (cpu_of_all() - ours)) / (time.monotonic() - began)
        browser.close()
    return describe_run(WAIT / 1000) | {"tries": tries, "others": others, "measured": measured}


# -- what is timed ---------------------------------------------------------------------------------------------

Line = tuple[str, dict[str, float]]


def time_town(browser: Browser) -> Iterator[Line]:
    """The made-up town, opened by a click."""
    with tempfile.TemporaryDirectory() as folder, studio(Path(folder)) as address:
        page = visit(browser, address)
        clock = Clock(page)
        page.get_by_role("button", name="A made-up town").click()
        page.locator("#grid .rows .line:visible").first.wait_for()
        yield clock.tell("town: first rows")
        page.wait_for_function(KNOWN)
        yield clock.tell(FIRST)
        page.wait_for_function(EXACT)
        yield clock.tell("town: exact answer after opening")
        page.wait_for_function(LADDER)
        yield clock.tell("town: ladder of previews after opening")
        for _ in range(2):
            yield from clock.tell_all(DRAGGED, [milliseconds / 1000 for milliseconds in page.evaluate(DRAG, 0.4)])
        page.wait_for_function(EXACT)
        for name, k in [(NEW, k) for k in NEW_KS] + [(SEEN, k) for k in SEEN_KS]:
            page.get_by_label("k", exact=True).fill(str(k))
            clock.start()
            choose(page, k)
            yield clock.tell(name)
        clock.start()
        page.get_by_label("Role of sex").select_option("keep")
        page.get_by_text("As the table is, k = ").wait_for()
        yield clock.tell("town: k as it is for other roles")


def choose(page: Page, k: int) -> None:
    """Take the k that was typed, and wait for its exact answer."""
    page.get_by_label("k", exact=True).press("Enter")
    page.wait_for_function(f"""() => document.querySelector(".kfield input").value === "{k}"
        && !document.querySelector('[data-part="release"]').disabled
        && document.querySelector(".picture .handle").getAttribute("aria-valuenow") === "{k}" """)


def time_large(browser: Browser) -> Iterator[Line]:
    """A file of 300,000 rows that is handed over."""
    with tempfile.TemporaryDirectory() as folder, studio(Path(folder)) as address:
        table = write_csv(generate_town(300_000), Path(folder) / "large.csv")
        page = visit(browser, address)
        clock = Clock(page)
        page.set_input_files("#file", table)
        page.get_by_text("300,000 of 300,000 rows").wait_for()
        page.wait_for_function(FILLED)
        yield clock.tell(SCREEN)
        page.wait_for_function(KNOWN)
        yield clock.tell("300,000 rows: verdict (preview)")
        page.wait_for_function(EXACT)
        yield clock.tell("300,000 rows: exact answer after opening")
        frames, work = scroll(page, clock, 197)
        yield clock.tell(FRAME, statistics.median(frames))
        yield clock.tell("300,000 rows: frame while scrolling, 95 of 100", sorted(frames)[len(frames) * 95 // 100])
        yield clock.tell(WORK, work)
        yield clock.tell(JUMP, scroll(page, clock, 29_876)[1])


OWN_WORK = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")


def scroll(page: Page, clock: "Clock", step: int) -> tuple[list[float], float]:
    """Seconds from frame to frame, and the CPU seconds that the page itself takes of one: without a graphics card a
    browser paints on the same cores, so the time from frame to frame also tells of the machine."""
    before = clock.metrics()
    frames = [milliseconds / 1000 for milliseconds in page.evaluate(FRAMES, step)]
    after = clock.metrics()
    return frames, sum(after[name] - before[name] for name in OWN_WORK) / len(frames)


# -- clocks ----------------------------------------------------------------------------------------------------


class Clock:
    """Seconds since a start, and CPU seconds since the last line."""

    def __init__(self, page: Page) -> None:
        self.asked = page.context.new_cdp_session(page)
        self.asked.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.start()

    def start(self) -> None:
        """What follows is timed from now on."""
        self.before, self.began = self.cpu(), time.monotonic()

    def tell(self, name: str, seconds: float | None = None) -> Line:
        """One line: the seconds since the start, unless they were measured otherwise."""
        (line,) = self.tell_all(name, [time.monotonic() - self.began if seconds is None else seconds])
        return line

    def tell_all(self, name: str, times: Sequence[float]) -> list[Line]:
        """A line for each time; the CPU since the last line is shared among them."""
        now = self.cpu()
        kech, page = ((after - before) / len(times) for after, before in zip(now, self.before, strict=True))
        self.before = now
        worst = f"{max(times):7.3f} s{f', the worst of {len(times)}' if len(times) > 1 else ''}"
        print(f"{name:52s}{worst}   CPU of kech {kech:5.2f} s, of the page {page:5.2f} s", flush=True)
        return [(name, {"seconds": seconds, "kech": kech, "page": page}) for seconds in times]

    def cpu(self) -> tuple[float, float]:
        """CPU seconds of the workers of studios, ended ones included, and of the page's thread."""
        ended = os.times()
        workers = sum(seconds for seconds, command in children() if b"kech.studio.worker" in command)
        return ended.children_user + ended.children_system + workers, self.metrics()["TaskDuration"]

    def metrics(self) -> dict[str, float]:
        """What the browser counts of the page's thread."""
        return {one["name"]: one["value"] for one in self.asked.send("Performance.getMetrics")["metrics"]}


def children(of: int | None = None) -> Iterator[tuple[float, bytes]]:
    """CPU seconds and command line of each living child of a process, its own children included."""
    told = {}
    for folder in Path("/proc").glob("[0-9]*"):
        fields = read(folder / "stat").rpartition(b")")[2].split()
        if fields:
            told[int(folder.name)] = (int(fields[1]), sum(map(int, fields[11:13])) / TICKS, folder)
    waiting = [of or os.getpid()]
    while waiting:
        parent = waiting.pop()
        for process, (above, seconds, folder) in told.items():
            if above == parent:
                waiting.append(process)
                yield seconds, read(folder / "cmdline")


def cpu_of_all() -> float:
    """CPU seconds of this process and all that it started: studio, workers and browser."""
    return sum(os.times()[:4]) + sum(seconds for seconds, _ in children())


def read(file: Path) -> bytes:
    """A file of the kernel; nothing if its process ended meanwhile."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


# -- a studio and a window ---------------------------------------------------------------------------------------


def visit(browser: Browser, address: str) -> Page:
    """A window of a user who has seen the tour."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en").new_page()
    page.set_default_timeout(WAIT)
    page.add_init_script("localStorage.setItem('toured', 'yes')")
    page.goto(address)
    page.get_by_role("heading", name="Open a table").wait_for()
    return page


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """A studio in a thread; its address."""
    held = bind(0)
    server, entry = make_server(None, folder, held, None)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [held]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield entry.address
    finally:
        server.should_exit = True
        thread.join(15)


# -- the page ----------------------------------------------------------------------------------------------------


def draw_table(found: dict[str, Any]) -> str:
    """Every time beside its goal."""
    header = ["step", "goal", "median", "worst", "", "CPU of kech", "CPU of the page"]
    return draw(header, (draw_row(name, lines) for name, lines in found["measured"].items()))


def draw_row(name: str, lines: list[dict[str, float]]) -> list[str]:
    """One step: its times, whether the median meets the goal, and the CPU that it takes."""
    goal, times = GOALS.get(name), [line["seconds"] for line in lines]
    median = statistics.median(times)
    met = "" if goal is None else "met" if median <= goal else "**missed**"
    cpu = [f"{statistics.median(line[part] for line in lines):.2f} s" for part in ("kech", "page")]
    return [name, "" if goal is None else tell_seconds(goal), *map(tell_seconds, (median, max(times))), met, *cpu]


def tell_seconds(value: float) -> str:
    """Milliseconds where it is short."""
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.0f} ms" if value >= 0.1 else f"{1000 * value:.1f} ms"


def draw_page(found: dict[str, Any]) -> str:
    """The page of the manual."""
    about = ", ".join(f"{name} {value}" for name, value in {**found["machine"], **found["versions"]}.items())
    tries = "once" if found["tries"] == 1 else f"{found['tries']} times"
    return f"""# The studio

Generated by `python -m benchmarks.studio`; do not edit. Measured with {about}.

While the figures were taken, everything else on the machine kept {found["others"]:.2f} of its cores busy.

Chromium without a graphics card, 1440 by 900, opens each table {tries}. The town has 20,000 rows, six
blurred columns and a protected one; the large table is the same town with 300,000 rows, handed over as CSV. Times are
what a user waits; a goal is met where the median meets it. The CPU of kech is that of its child processes since the
line above, the CPU of the page that of its own thread. At 60 frames a second one takes 16.7 ms.

{draw_table(found)}
"""


if __name__ == "__main__":
    main()
