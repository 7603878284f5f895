// Step 4: every k and every eps at once; brushing one of them moves all that hangs on it.

import { barcodeView } from "./barcode.js";
import { curves, legend } from "./curves.js";
import { button, field, h, latest, replace, select } from "./dom.js";
import { latticeView } from "./lattice.js";
import { count, loss, short } from "./numbers.js";
import { planeView } from "./plane.js";
import { waitsForRoles } from "./roles.js";
import { INSPECTED } from "./table.js";
import { work } from "./work.js";
import { zigzagView } from "./zigzag.js";

const KS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 75, 100];
const FIRST = ["domain", "local"]; // cuts that are shown without being asked for
const LANDMARKS = [2, 5, 10, 20, 50, 100];
const FEW = 2000; // rows of a table of which every k is shown at once
const LATER = "…"; // has the place of what is not known yet
const SMALL = 300; // rows of a table in which holes are looked for too
const PATHS = [["", "a path drawn in the lattice"], ["diagonal", "diagonal"], ["minimal", "minimal nodes as k grows"], ["rows", "row by row"], ["columns", "column by column"]];

export async function show(root, context) {
  const { table, go, signal } = context;
  const busy = h("div", {}), body = h("div", {});
  replace(root, h("h1", {}, "See the spectrum"), busy, body);
  const about = await work(busy, context, "inspect", INSPECTED, "Looking at the columns");
  if (!about || waitsForRoles(root, context, "Spectrum", about)) return;
  const page = spectrumPage(context, about, await table.mostToHideAmong(about.rows, signal));
  replace(body, page.element, h("div", { class: "next" },
    button("Choose this k", () => table.ask({ k: page.k, cut: page.cut }).then(() => go("choose")), "main"), button("Back", () => go("axes"))));
  signal.throwIfAborted();
  await page.load();
}

function spectrumPage(context, { rows, columns: described }, most) {
  const { table, signal } = context, columns = table.quasiIdentifiers, asked = new URLSearchParams(location.search);
  const measured = new Set(described.filter(({ type }) => type === "number" || type === "date").map(({ column }) => column));
  const drawn = [...columns.filter((column) => measured.has(column)), ...columns.filter((column) => !measured.has(column))];
  const ks = KS.filter((k) => k <= most), counted = table.countsPeople ? "people" : "rows";
  const state = {
    k: nearest(ks, Number(asked.get("k")) || table.asked("k") || 5), eps: Number(asked.get("eps")) || 0, by: asked.has("eps") ? "eps" : "k",
    x: columns.includes(asked.get("x")) ? asked.get("x") : drawn[0], y: columns.includes(asked.get("y")) ? asked.get("y") : drawn[1] ?? drawn[0],
    cut: table.asked("cut") ?? table.fields.cut.default,
  };
  let lines = [], wanted = [...FIRST], regimes = [], homological = null, seen = { classes: NaN, smallest: NaN };

  const barcode = barcodeView({ onEps: (eps) => brushEps(eps), signal });
  const plane = planeView(signal), zigzag = zigzagView(context), lattice = latticeView(context, { onPath: (path) => (path ? zigzag.show(path) : zigzag.clear()) });
  const losses = curves("Loss", "loss", { onK: brushK, signal }), classes = curves("Classes", "classes", { onK: brushK, signal });

  // -- brushes -------------------------------------------------------------------------------------------------

  const kSlider = h("input", { type: "range", min: 0, max: ks.length - 1, value: ks.indexOf(state.k), "aria-label": "k", oninput: (event) => brushK(ks[event.target.value]) });
  const epsSlider = h("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "eps", oninput: (event) => brushEps((event.target.value / 1000) * barcode.top) });
  const kTold = h("output", {}), epsTold = h("output", {});
  function brushK(k) { Object.assign(state, { k, by: "k" }); brushed(); }
  function brushEps(eps) { Object.assign(state, { eps, by: "eps" }); brushed(); }

  function brushed() {
    kSlider.value = ks.indexOf(state.k);
    kSlider.setAttribute("aria-valuetext", `${state.k} ${counted}`);
    epsSlider.value = Math.round((1000 * state.eps) / barcode.top);
    epsSlider.setAttribute("aria-valuetext", short(state.eps));
    kTold.textContent = `k = ${state.k}`;
    epsTold.textContent = `eps = ${short(state.eps)}`;
    const holds = regimes.filter((regime) => regime.k >= state.k);
    barcode.mark({ k: state.k, eps: state.eps, regimes: holds });
    losses.mark(state.k);
    classes.mark(state.k);
    lattice.mark(state.k);
    zigzag.k = state.k;
    drawFacts(holds);
    drawRows();
    drawPlane();
    remember();
  }
  const remember = () => {
    clearTimeout(remember.timer);
    remember.timer = setTimeout(() => {
      if (signal.aborted) return;
      const { k, eps, by, x, y } = state;
      history.replaceState(null, "", `?${new URLSearchParams({ k, ...(by === "eps" ? { eps: eps.toPrecision(6) } : {}), x, y })}`);
    }, 300);
  };

  // -- what hangs on them ----------------------------------------------------------------------------------------

  const facts = h("dl", { class: "figures" }), busyBarcode = h("div", { class: "slot" });
  function drawFacts(holds) {
    const { classes: number, smallest } = (barcode.ready && barcode.at(state.eps)) || seen, inside = holds.some(({ start, stop }) => start <= state.eps && state.eps < (stop ?? Infinity));
    const whole = (value) => (Number.isFinite(value) ? count(value) : LATER), known = (text) => (barcode.ready ? text : LATER);
    const start = (list) => known(list?.length ? short(list[0].start) : "none");
    const told = [["classes at eps", whole(number)], [`smallest class, ${counted}`, whole(smallest)], [`strict regime for k = ${state.k}`, known(inside ? "inside" : "outside")], ["its first eps", start(holds)]];
    if (rows <= SMALL) told.push(["homological, first eps", homological || !barcode.ready ? start(homological?.filter((regime) => regime.k >= state.k)) : "not known"]);
    replace(facts, told.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  }

  const rowsPlace = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Cuts at this k" }), busyCuts = {}, more = h("div", { class: "bar middle" });
  function drawRows() {
    const held = wanted.map((cut) => lines.find((row) => row.k === state.k && row.cut === cut) ?? { cut });
    replace(rowsPlace, h("table", {}, h("caption", {}, `What a release at k = ${state.k} would cost`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Cut"), ["Classes", "Average class", "eps", "Loss"].map((text) => h("th", { scope: "col", class: "number" }, text)))),
      h("tbody", {}, held.map((row) => h("tr", {}, h("th", { scope: "row" }, row.cut), (row.k ? [count(row.classes), short(row.average_class), short(row.eps), loss(row.loss)] : Array(4).fill(LATER)).map((text) => h("td", { class: "number" }, text)))))));
  }
  // A cut that searches shows some k first, and the others when they are known.
  async function addCut(cut) {
    if (!wanted.includes(cut)) wanted.push(cut);
    drawRows();
    const searches = table.cuts[cut].is_searched, some = ks.filter((k) => LANDMARKS.includes(k));
    for (const part of searches && rows > FEW ? [some, ks] : [ks]) {
      const found = await work(busyCuts[cut], context, "spectrum", { k: part, cut: [cut], ...(searches ? { effort: "quick" } : {}) }, `Every k, ${cut} cut`);
      if (!found) return;
      addLines(found.spectrum);
    }
  }
  function addLines(found) {
    const known = new Set(found.map((row) => `${row.cut} ${row.k}`)); // all k together know more than some
    lines = [...lines.filter((row) => !known.has(`${row.cut} ${row.k}`)), ...found].sort((a, b) => a.k - b.k);
    losses.draw(lines, ks);
    classes.draw(lines, ks);
    replace(legendPlace, legend([...new Set(lines.map((row) => row.cut))]));
    losses.mark(state.k);
    classes.mark(state.k);
    drawRows();
  }
  const legendPlace = h("div", { class: "legends" });
  for (const cut of Object.keys(table.cuts)) busyCuts[cut] = h("div", {});
  for (const cut of Object.keys(table.cuts).filter((name) => !FIRST.includes(name))) {
    const ask = button(`Add the ${cut} cut (slow)`, () => { ask.remove(); addCut(cut); }, "small");
    more.append(ask);
  }

  const busyPlane = h("div", { class: "slot" }), planeTold = h("p", { class: "hint told", role: "status" });
  const drawPlane = latest(async () => {
    const { x, y, by, eps, k } = state;
    const wish = { rows: 0, on: [x, y], ...(by === "eps" ? { radius: eps } : { k, cut: planeCut.value, protect_history: false, ...(table.cuts[planeCut.value].is_searched ? { effort: "quick" } : {}) }) };
    const answer = await work(busyPlane, context, "preview", wish, "Looking for classes", { again: () => drawPlane() }).catch((fault) => { if (fault.name !== "AbortError") throw fault; });
    if (answer) {
      const found = answer.plane;
      plane.set(found);
      if (by === "eps" && !barcode.at(eps)) { seen = { classes: found.classes, smallest: counted === "rows" ? found.smallest : NaN }; drawFacts(regimes.filter((regime) => regime.k >= k)); }
      planeTold.textContent = `${by === "eps" ? `Components at eps = ${short(eps)}` : `Classes for k = ${k}, ${planeCut.value} cut`}: ${count(found.classes)}, the smallest with ${count(found.smallest)} rows.`;
    }
  });
  const named = columns.map((column) => [column, column]);
  const planeCut = select(FIRST.toReversed().map((cut) => [cut, cut]), FIRST.includes(state.cut) ? state.cut : table.fields.cut.default, () => { state.by = "k"; drawPlane(); });
  const planePanel = h("section", { class: "panel" }, h("header", {}, h("h2", {}, "Rows and classes"), h("span", { class: "private" }, "PRIVATE")),
    h("div", { class: "bar" },
      field("Across", select(named, state.x, (column) => { state.x = column; brushed(); })), field("Up", select(named, state.y, (column) => { state.y = column; brushed(); })), field("Cut", planeCut)),
    h("div", { class: "stage" }, busyPlane, plane.element), planeTold);

  zigzag.element.querySelector("header").after(field("Path", select(PATHS, "", (path) => zigzag.show(path))));
  const busyLattice = h("div", { class: "slot" });
  const element = h("div", {},
    h("div", { class: "brushes" },
      h("div", { class: "brush" }, h("strong", {}, kTold), kSlider), h("div", { class: "brush" }, h("strong", {}, epsTold), epsSlider)),
    table.countsPeople && h("p", { class: "note" }, `k counts different people: ${count(most)} in the table. Averages, rows left out and losses count rows.`),
    h("div", { class: "grid spectrum" },
      h("section", { class: "panel wide" }, h("header", {}, h("h2", {}, "Weighted barcode"), h("span", { class: "private" }, "PRIVATE")), facts, h("div", { class: "stage" }, busyBarcode, barcode.element),
        h("p", { class: "hint" }, `Each bar is a group of rows that are together while eps grows; groups of k ${counted} or more are blue. Shaded: every group is a simplex of k ${counted} or more. Drag to brush eps.`)),
      h("div", { class: "stack" }, planePanel, zigzag.element),
      h("div", { class: "stack" }, losses.element, classes.element, h("section", { class: "panel" }, h("h2", {}, "Cuts"), legendPlace, rowsPlace, more, h("div", { class: "queue" }, Object.values(busyCuts)))),
      h("div", { class: "wide stage lattice-place" }, busyLattice, lattice.element)));

  return {
    element,
    get k() { return state.k; },
    get cut() { return planeCut.value; },
    async load() {
      brushed();
      const curvesDone = addCut("domain").then(() => addCut("local"));
      const bars = work(busyBarcode, context, "barcode", { max_dimension: rows <= SMALL ? 1 : 0 }, "Growing balls").then((found) => {
        if (!found) return;
        ({ strict: regimes, homological } = found.regimes);
        barcode.set(found);
        if (!asked.has("eps")) state.eps = regimes.find((regime) => regime.k >= state.k)?.start ?? 0;
        brushed();
      });
      const nodes = work(busyLattice, context, "lattice", { k: ks }, "Looking at every node").then((found) => found && lattice.set(found));
      await Promise.all([curvesDone, bars, nodes]);
    },
  };
}

const nearest = (list, value) => list.reduce((best, item) => (Math.abs(item - value) < Math.abs(best - value) ? item : best));
