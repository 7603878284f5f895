// The table: all rows by virtual scrolling, before and after, tinted by how wide their labels are, grouped by class.

import { request } from "./api.js";
import { button, eachFrame, h, latest, replace, select } from "./dom.js";
import { chosenK, crowds, glance, looks, shown, smallestK } from "./model.js";
import { count } from "./numbers.js";
import { countsPeople, quasi, roleOf, saved, sensitive, set, state, watch } from "./store.js";
import { t } from "./text.js";

const HEIGHT = 28, OVER = 8, MOST_KEPT = 20_000, BLURRED = 0.1, MOST_WIDE = 22, MOSTLY = 0.8, MOST_TURNED = 11; // pixels of a row, rows beyond the window, cells kept, share of rows, rem, share of rows that keep a value, letters
const VIEWS = ["original", "both", "released"], FILTERS = ["all", "exposed", "blurred", "left", "given"];
const cells = new Map(); // of rows that were seen, by their place in the table
let order = new Int32Array(0), pool = [], columns = [], facts = null, lines = "";

const body = h("div", { class: "rows", role: "rowgroup" }), head = h("div", { class: "head", role: "rowgroup" });
const table = h("div", { class: "cells", role: "table" }, head, body), viewport = h("div", { class: "viewport", tabindex: "0", role: "region" }, table);
const bar = h("div", { class: "bar" }), foot = h("p", { class: "foot", role: "status" });

export function begin(place) {
  replace(place, bar, viewport, foot);
  viewport.addEventListener("scroll", paint, { passive: true });
  new ResizeObserver(() => paint()).observe(viewport);
  body.addEventListener("pointermove", (event) => light(placeOf(event.target)));
  body.addEventListener("pointerdown", (event) => light(placeOf(event.target)));
  body.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType === "mouse") light(-1); }); // a finger that was lifted points on
  viewport.addEventListener("keydown", walk);
  watch((now) => [now.id, readingOf(now)], () => { cells.clear(); viewport.scrollTop = 0; });
  watch(({ plan, view, filter, grouped, theme, dropped, id }) => [plan, view, filter, grouped, theme, dropped, id, ...looks()], draw);
  watch(({ lit }) => [lit], () => { paint(); tell(); });
}

const readingOf = ({ plan }) => JSON.stringify(plan?.input);

// -- which rows, in which order ------------------------------------------------------------------------------

function draw() {
  const seen = glance();
  facts = seen && lookAt(shown());
  if (!seen) { order = new Int32Array(0); draw.key = null; replace(head); drawBar(); paint(); tell(); return; }
  const { view } = state, published = (name) => ["quasi-identifier", "sensitive", "keep"].includes(roleOf(name));
  columns = seen.columns.map((column, at) => ({ column, at, role: roleOf(column), published: published(column) })).filter(({ published: is }) => is || view !== "released");
  if (state.filter === "given") columns.sort((a, b) => (b.role === "sensitive") - (a.role === "sensitive")); // what is given away is seen first
  const key = [facts?.key, state.filter, state.grouped, state.id, seen.rows, state.view === "original"].join();
  if (key !== draw.key) { draw.key = key; order = arrange(seen.rows); }
  columns.forEach((one, j) => table.style.setProperty(`--w${j}`, `${widthOf(one).toFixed(1)}rem`));
  table.style.setProperty("--gutter", `${gutterOf(seen.rows).toFixed(1)}rem`);
  drawHead();
  drawBar(seen.rows);
  viewport.setAttribute("aria-label", t("rowsShown", { n: order.length, all: seen.rows }));
  table.setAttribute("aria-label", t("table"));
  table.setAttribute("aria-rowcount", order.length + 1);
  body.style.height = `${order.length * HEIGHT}px`;
  viewport.classList.toggle("stale", Boolean(facts?.stale));
  const now = JSON.stringify(columns.map(({ column, role }) => [column, role]));
  if (now !== lines) { lines = now; pool.forEach((row) => row.element.remove()); pool = []; }
  pool.forEach((row) => { row.shown = -1; });
  paint();
  tell();
}

let number = 0;
const known = new WeakMap(); // what is derived from an answer
// What the table needs of an answer: the class of each row, whether it gives a value away, how blurred it is.
function lookAt(answer) {
  if (!answer?.data?.class_of_row) return null;
  if (!known.has(answer.data)) {
    const { classes, class_of_row: of } = answer.data, all = Object.values(classes.widths);
    const blur = Float64Array.from(classes.rows, (_, at) => all.reduce((sum, widths) => sum + widths[at], 0) / Math.max(all.length, 1));
    const given = new Map();
    for (const [column, list] of Object.entries(classes.given_away)) for (const one of list) given.set(one, [...(given.get(one) ?? []), column]);
    const exact = Object.fromEntries(answer.data.columns.map((one) => [one.column, one.exact]));
    known.set(answer.data, { key: ++number, largest: classes.rows.reduce((most, rows) => Math.max(most, rows), 0), of: Int32Array.from(of), classes, blur, given, exact });
  }
  return { ...known.get(answer.data), stale: answer.stale, preview: answer.preview };
}

function arrange(rows) {
  const all = Int32Array.from({ length: rows }, (_, at) => at), { filter } = state, crowd = crowds()?.crowd, k = chosenK() ?? smallestK();
  const keep = { exposed: (row) => crowd && crowd[row] < k, left: (row) => facts && facts.of[row] < 0, given: (row) => facts && facts.given.has(facts.of[row]) }[filter];
  let chosen = keep ? all.filter(keep) : all;
  if (filter === "blurred" && facts) {
    const blur = (row) => (facts.of[row] < 0 ? 1 : facts.blur[facts.of[row]]);
    return chosen.sort((a, b) => blur(b) - blur(a) || facts.of[a] - facts.of[b] || a - b).subarray(0, Math.ceil(rows * BLURRED));
  }
  if (state.grouped && facts && state.view !== "original") chosen = byClass(chosen);
  return chosen;
}

// Rows of a class together, in the order of the table: counted, since a comparison for each pair takes longer than a frame.
function byClass(rows) {
  const { of, classes } = facts, next = new Int32Array(classes.rows.length + 2), sorted = new Int32Array(rows.length);
  for (const row of rows) next[of[row] + 2] += 1;
  for (let at = 1; at < next.length; at += 1) next[at] += next[at - 1];
  for (const row of rows) sorted[next[of[row] + 1]++] = row;
  return sorted;
}

// -- the bar above, and the names of columns -------------------------------------------------------------------

function drawBar(rows) {
  const picks = (name, list) => list.map((one) => button(t(`${name}:${one}`), () => set({ [name]: one }), `pick ${one}`, { "aria-pressed": String(state[name] === one) }));
  const box = h("input", { type: "checkbox", id: "grouped", onchange: (event) => set({ grouped: event.target.checked }) });
  box.checked = state.grouped;
  const filter = select(FILTERS.map((one) => [one, t(`filter:${one}`)]), state.filter, (value) => { set({ filter: value }); viewport.scrollTop = 0; }, { "aria-label": t("filter") });
  replace(bar, h("h2", {}, t("table")), h("div", { class: "picks", role: "group", "aria-label": t("view") }, picks("view", VIEWS)),
    filter, h("label", { class: "check" }, box, t("groupByClass")), rows != null && h("span", { class: "hint" }, t("rowsShown", { n: order.length, all: rows })),
    facts?.preview && h("span", { class: "mark preview" }, t("preview")), facts?.stale && h("span", { class: "mark" }, t("stale")), h("span", { class: "private" }, t("private")));
}

function drawHead() {
  const name = ({ column, role, published }, j) => sized(h("div", { class: `cell ${published ? role : "gone"}`, role: "columnheader", title: role ? `${column}: ${t(`role:${role}`)}` : column }, column), j);
  replace(head, h("div", { class: "line", role: "row", "aria-rowindex": "1" }, h("div", { class: "cell gutter", role: "columnheader" }, gutterName()), columns.map(name)));
}

// Whether the first row of each class tells how many rows the class has.
const tellsSizes = () => Boolean(facts) && state.grouped && state.view !== "original";

// As wide as its name and its longest number.
const gutterName = () => t(tellsSizes() ? "rowAndSize" : "row");
const gutterOf = (rows) => 1.5 + 0.52 * Math.max(gutterName().length * 0.9, `${count(rows)}${tellsSizes() ? ` · ${count(facts.largest)}` : ""}`.length);

// As wide as its name, its cells and most of its labels, within reason.
function widthOf({ column, role, at }) {
  const labels = role === "quasi-identifier" && state.view !== "original" ? facts?.classes.labels[column] : null;
  const cell = Math.max(5, ...[...cells.values()].slice(0, 50).map((row) => row[at]?.length ?? 7)), label = labels ? usualLength(labels, rowsOfClasses()) : 0;
  const isKept = state.filter === "all" && facts?.exact[column] > MOSTLY, turned = label && isKept ? Math.min(cell + 3 + turnedLength(labels, column), MOST_TURNED) : cell + 3 + label;
  const letters = label && state.view === "both" ? Math.max(turned, label) : Math.max(cell, label);
  return Math.min(MOST_WIDE, 1.4 + Math.max(letters, column.length) * 0.56);
}

// How many rows of each class are shown; of a filter that shows none, all.
function rowsOfClasses() {
  const { of, classes } = facts;
  if (state.filter === "all" || !order.length) return classes.rows;
  const rows = new Int32Array(classes.rows.length);
  for (const row of order) if (of[row] >= 0) rows[of[row]] += 1;
  return rows;
}

// Of a column whose values mostly stay: how long labels are where they do not.
const turnedLength = (labels, column) => usualLength(labels, rowsOfClasses().map((rows, group) => (facts.classes.widths[column][group] > 0 ? rows : 0)));

// Nine of ten rows have a label of this length or a shorter one.
function usualLength({ at, texts }, rows) {
  const counts = [];
  at.forEach((place, group) => { const long = texts[place]?.length ?? 7; counts[long] = (counts[long] ?? 0) + rows[group]; });
  let left = 0.1 * rows.reduce((sum, number) => sum + number, 0), long = counts.length - 1;
  while (long > 0 && (left -= counts[long] ?? 0) >= 0) long -= 1;
  return long;
}
const sized = (element, j) => { element.style.setProperty("--cell", `var(--w${j})`); return element; };

// -- the rows in the window ------------------------------------------------------------------------------------

const paint = eachFrame(() => {
  const first = Math.max(0, Math.floor(viewport.scrollTop / HEIGHT) - OVER), size = Math.ceil(viewport.clientHeight / HEIGHT) + 2 * OVER;
  const last = Math.min(order.length, first + size);
  while (pool.length < Math.min(size, order.length)) pool.push(addLine());
  const used = new Map();
  for (const line of pool) if (line.at >= first && line.at < last) used.set(line.at, line);
  const free = pool.filter((line) => !(line.at >= first && line.at < last) || used.get(line.at) !== line);
  for (let at = first; at < last; at += 1) {
    const line = used.get(at) ?? free.pop();
    if (!line) break;
    if (line.at !== at) { line.at = at; line.element.style.transform = `translateY(${at * HEIGHT}px)`; line.element.hidden = false; line.element.setAttribute("aria-rowindex", at + 2); }
    fill(line, order[at], at);
  }
  for (const line of free) if (line.at !== -1) { line.at = -1; line.shown = -1; line.element.hidden = true; }
  fetchMissing(first, last);
});

function addLine() {
  const gutter = h("div", { class: "cell gutter", role: "rowheader" }), made = columns.map(({ role, published }) => ({ before: h("span", { class: "before" }), after: h("span", { class: "after" }), kind: published ? role : "gone" }));
  const parts = made.map((one, j) => { one.element = sized(h("div", { class: `cell ${one.kind}`, role: "cell" }, one.before, one.after), j); return one; });
  const element = h("div", { class: "line", role: "row" }, gutter, parts.map((one) => one.element));
  body.append(element);
  return { element, gutter, parts, at: -1, shown: -1, known: false };
}

function fill(line, row, at) {
  const held = cells.get(row), group = facts ? facts.of[row] : -2, isLit = state.lit >= 0 && (row === state.lit || (group >= 0 && facts.of[state.lit] === group));
  if (line.shown === row && line.known === Boolean(held) && line.lit === isLit) return;
  Object.assign(line, { shown: row, known: Boolean(held), lit: isLit });
  const isFirst = group >= 0 && (at === 0 || facts.of[order[at - 1]] !== group), alone = (crowds()?.crowd[row] ?? Infinity) < (chosenK() ?? smallestK());
  line.gutter.textContent = isFirst && tellsSizes() ? `${count(row + 1)} · ${count(facts.classes.rows[group])}` : count(row + 1);
  line.element.className = `line${group % 2 ? " odd" : ""}${isLit ? " lit" : ""}${isFirst ? " first" : ""}${group === -1 ? " left" : ""}${alone && (state.view === "original" || state.filter === "exposed" || group < 0) ? " exposed" : ""}`;
  columns.forEach(({ column, at: place, role }, j) => fillCell(line.parts[j], held ? held[place] : undefined, column, role, group));
}

function fillCell({ before, after, element }, value, column, role, group) {
  const old = value === undefined ? "…" : value ?? t("missingCell"), label = role === "quasi-identifier" && group >= 0 && state.view !== "original" ? labelOf(column, group) : null;
  const text = group === -1 && state.view === "released" ? t("leftOut") : old;
  before.textContent = label === null || (state.view === "both" && label !== old) ? text : "";
  after.textContent = label === null ? "" : label;
  element.title = label === null ? text : `${old} → ${label}`;
  element.classList.toggle("given", role === "sensitive" && group >= 0 && state.view !== "original" && Boolean(facts.given.get(group)?.includes(column)));
  element.style.setProperty("--wide", label === null ? "0" : String(Math.round(100 * Math.sqrt(facts.classes.widths[column][group]))));
}

const labelOf = (column, group) => { const labels = facts.classes.labels[column]; return labels ? labels.texts[labels.at[group]] ?? t("missingCell") : null; };

const fetchMissing = latest(async (first, last) => {
  await saved(); // rows are read as the plan says
  const { id } = state, reading = readingOf(state), wanted = Array.from(order.subarray(first, last)).filter((row) => !cells.has(row));
  if (!wanted.length || id === null) { if (glance() && !order.length) set({ isGlimpsed: true }); return; }
  if (cells.size > MOST_KEPT) cells.clear();
  const told = await request("POST", `/api/tables/${id}/cells`, wanted).catch(() => null);
  if (state.id !== id || readingOf(state) !== reading) return;
  const isFirst = !cells.size;
  if (isFirst) set({ isGlimpsed: true });
  if (!told) return;
  wanted.forEach((row, at) => cells.set(row, told.cells[at]));
  if (isFirst) draw(); // now it is known how wide cells are
  else paint();
});

// -- one row, and those it hides among ---------------------------------------------------------------------------

const placeOf = (element) => { const line = pool.find((one) => one.element.contains(element)); return line && line.at >= 0 ? order[line.at] : -1; };
const light = (row) => { if (row !== state.lit) set({ lit: row }); };

function walk(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || !order.length) return;
  event.preventDefault();
  const now = order.indexOf(state.lit), at = Math.min(order.length - 1, Math.max(0, now < 0 ? Math.floor(viewport.scrollTop / HEIGHT) : now + by));
  const top = at * HEIGHT, room = viewport.clientHeight - 2 * HEIGHT;
  if (top < viewport.scrollTop || top > viewport.scrollTop + room) viewport.scrollTop = Math.max(0, top - (by > 0 ? room : 0));
  light(order[at]);
}

function tell() {
  const row = state.lit, crowd = crowds();
  if (row < 0 || !glance()) { foot.textContent = order.length || !glance() ? t("pointAt") : t("none"); return; }
  if (!facts || state.view === "original") { foot.textContent = crowd ? t("crowd", { row: row + 1, n: crowd.crowd[row], people: countsPeople() }) : ""; return; }
  const group = facts.of[row];
  if (group < 0) { foot.textContent = t("hidesNot", { row: row + 1 }); return; }
  const labels = quasi().filter((column) => column in facts.classes.labels).map((column) => `${column} ${spoken(labelOf(column, group))}`).join(", "), given = (facts.given.get(group) ?? []).filter((column) => sensitive().includes(column));
  foot.textContent = t("hides", { row: row + 1, n: facts.classes.rows[group], people: facts.classes.people?.[group], labels }) + (given.length ? `.${t("given", { columns: given.join(", ") })}` : "");
}

// "[33, 51]" is said as "33 to 51", "[33, 51)" as "33 to under 51", "<= 29" as "29 or less", "*" as "not told".
const ENDS = { "<=": "orLess", ">=": "orMore", "<": "below" };
const spoken = (label) => (label === "*" ? t("untold") : label.replace(/^\[([^,\]]+), ([^\])]+)([\])])$/, (_, low, high, end) => t(end === "]" ? "toRange" : "toUnder", { low, high })).replace(/^(<=|>=|<) (.+)$/, (_, sign, end) => t(ENDS[sign], { end })));

export const focusTable = () => viewport.focus();
