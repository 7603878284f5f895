// A series: its versions, the lives of its cohorts, and the next version of it.

import { request } from "./api.js";
import { board } from "./canvas.js";
import { button, field, h, input, quoted, refusal, replace } from "./dom.js";
import { count, percent, plural } from "./numbers.js";
import { work } from "./work.js";

const ENDINGS = ".csv,.tsv,.txt,.parquet,.pq,.arrow,.feather,.ipc,.xlsx,.xls,.ods";
const COUNTS = ["rows", "cohorts", "arrivals", "waiting", "held", "corrected", "withdrawn"];
const HEIGHT = 260, FOOT = 24, SIDE = 12, GAP = 2;

const told = (number) => (typeof number === "string" ? number : count(number)); // "<5" where rows are few
const nameOf = (path) => path.split(/[\\/]/).at(-1);

export async function show(root, { series: name, signal, again }) {
  const found = await request("GET", `/api/series/${encodeURIComponent(name)}`, undefined, signal);
  const { in_force: force, versions, k } = found;
  replace(root, h("h1", {}, `Series ${name}`),
    h("p", {}, `Every row hides among at least ${count(k)} through all versions together. ${found.key.length ? `Rows are known by ${found.key.map(quoted).join(", ")}.` : "Rows are known by all of their cells."}`),
    h("p", { class: "hint" }, `In force: at most ${percent(force.wait)} of the new rows wait; rows that leave: ${force.departures}; corrected rows: ${force.corrections}.`),
    versionTable(versions), lives(found, signal), nextVersion(found, { signal, again }));
}

function versionTable(versions) {
  const rows = versions.map((each) => h("tr", {}, h("td", {}, count(each.version)), h("td", {}, each.time.slice(0, 10)),
    COUNTS.map((name) => h("td", { class: "number" }, told(each[name]))),
    h("td", { title: each.file }, nameOf(each.file), !each.found && h("strong", {}, " not there, or changed"))));
  return [h("h2", { class: "next" }, "Versions"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Versions" }, h("table", { class: "cells" },
      h("thead", {}, h("tr", {}, ["version", "day", ...COUNTS, "file"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows))),
    h("p", { class: "hint" }, "Held rows left the table and stay until their whole cohort leaves; corrected ones stay as first published.")];
}

// -- lives ---------------------------------------------------------------------------------------------------

function lives({ lives: bars, versions, k }, signal) {
  const said = `${plural(bars.reduce((sum, bar) => sum + bar.cohorts, 0), "cohort")} over ${plural(versions.length, "version")}; every one has at least ${count(k)} rows and never changes.`;
  const { canvas } = board(HEIGHT, `Lives of cohorts: ${said}`, draw, signal);

  function draw(pen, width, height, paint) {
    pen.fillStyle = paint.ground;
    pen.fillRect(0, 0, width, height);
    const step = (width - 2 * SIDE) / versions.length, all = bars.reduce((sum, bar) => sum + Math.sqrt(bar.rows), 0);
    pen.font = "12px system-ui, sans-serif";
    let top = 0;
    for (const bar of bars) {
      const tall = (Math.sqrt(bar.rows) / all) * (height - FOOT), high = Math.max(tall - GAP, 1);
      for (const [first, last] of runs(bar.versions)) {
        pen.fillStyle = paint.accent;
        pen.fillRect(SIDE + (first - 1) * step + GAP, top, (last - first + 1) * step - 2 * GAP, high);
        const text = `${count(bar.rows)} rows, ${plural(bar.cohorts, "cohort")}`;
        pen.fillStyle = paint.raised;
        pen.textBaseline = "middle";
        if (high > 14 && pen.measureText(text).width < (last - first + 1) * step - 16) pen.fillText(text, SIDE + (first - 1) * step + 8, top + high / 2);
      }
      top += tall;
    }
    pen.fillStyle = paint.soft;
    pen.textBaseline = "bottom";
    const every = Math.ceil(36 / step);
    versions.forEach(({ version }, at) => { if (at % every === 0) pen.fillText(count(version), SIDE + (at + 0.5) * step - 4, height - 4); });
  }

  return h("section", { class: "panel" }, h("header", {}, h("h2", {}, "Lives of cohorts"), h("span", { class: "private" }, "PRIVATE")),
    h("p", { class: "hint told" }, `${said} Cohorts of equal life are one bar; heights are square roots of rows.`), h("div", { class: "stage" }, canvas));
}

// Versions in a row, as first and last: a cohort may leave and come back.
function runs(versions) {
  const found = [];
  for (const version of versions) {
    if (found.at(-1)?.[1] === version - 1) found.at(-1)[1] = version;
    else found.push([version, version]);
  }
  return found;
}

// -- the next version ----------------------------------------------------------------------------------------

function nextVersion({ name, versions, in_force: force }, { signal, again }) {
  const trouble = h("div", {}), busy = h("div", {}), last = nameOf(versions.at(-1).file);
  const chosen = h("input", { type: "file", accept: ENDINGS, required: true });
  const file = input("text", `${name}-${versions.length + 1}${last.slice(last.lastIndexOf("."))}`, () => {}, { size: 30, autocomplete: "off" });
  const wait = input("number", String(100 * force.wait), () => {}, { min: 0, max: 99, step: "any" });
  const write = button("Publish the next version", () => publish().finally(() => { write.disabled = false; }), "main");

  async function publish() {
    const table = chosen.files[0];
    if (!table) { replace(trouble, refusal({ message: "Choose the table of this version first." })); return; }
    write.disabled = true;
    replace(trouble, h("p", { class: "note" }, `Handing over ${table.name} …`));
    let state = null;
    try {
      state = await request("POST", `/api/tables?name=${encodeURIComponent(table.name)}`, new Blob([table]), signal);
      replace(trouble);
      const wish = { series: name, file: file.value.trim(), wait: Number(wait.value) / 100 };
      const found = await work(busy, { table: state, signal }, "publish", wish, "Publishing the next version");
      if (found) await again();
    } catch (fault) {
      if (fault.name === "AbortError") throw fault;
      replace(trouble, refusal(fault));
    } finally {
      if (state) await request("DELETE", `/api/tables/${state.id}`).catch(() => {});
    }
  }

  return h("section", { class: "panel" }, h("h2", {}, "Next version"),
    h("p", {}, "Take the table as it is now, with the same columns. Known rows keep their labels; new ones form new cohorts."),
    h("div", { class: "bar" }, field("Table", chosen), field("File to write", file, "below the folder of the studio"),
      field("New rows that may wait, in %", wait), write), trouble, busy);
}
