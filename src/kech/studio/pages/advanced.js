// For those who ask for more: goals and cuts in sentences, and every structure that kech knows, each with "Use this".

import { request, run } from "./api.js";
import { button, dialog, field, h, input, refusal, say, select } from "./dom.js";
import { choose, countRules, cutThat, defaultOf, exampleOf, kindOf, numberBox, rulesOf, takeCut } from "./forms.js";
import { about, again, chosenK, find, ladder, need, smallestK, stop } from "./model.js";
import { count, day, few, loss, percent } from "./numbers.js";
import { exporterOf } from "./pictures.js";
import { nodeWords } from "./sentences.js";
import { countsPeople, edit, quasi, saved, sensitive, set, state } from "./store.js";
import { t, tellPicture } from "./text.js";

const opened = new Set(); // sections that were asked for
const series = { name: null, seen: null, drawn: null, fault: null, note: null };
const redraw = () => set({ opened: state.opened + 1 });

export function drawAdvanced() {
  return [goals(), section("cutsTitle", "cutsText", cuts, { k: comparedK() }), section("profile", "profileText", profile), section("regimes", "regimesText", regimes), section("lattice", "latticeText", lattice), section("zigzag", "zigzagText", zigzag), section("series", "seriesText", drawSeries)];
}

// A section that computes only once it is opened.
function section(title, text, draw, values) {
  const isOpen = opened.has(title), turn = () => { opened[isOpen ? "delete" : "add"](title); redraw(); };
  return h("section", { class: "panel" }, h("h3", {}, button(`${isOpen ? "▾" : "▸"} ${t(title)}`, turn, "link", { "aria-expanded": String(isOpen) })), h("p", { class: "hint" }, t(text, values)), isOpen && draw());
}

function answerOf(verb, options, draw) {
  const entry = need(verb, options) ?? find(verb, options);
  if (entry?.fault) return [refusal(entry.fault), entry.fault.kind === "Cancelled" && button(t("takeUp"), () => again(verb, options), "small")];
  return entry?.data ? draw(entry.data) : h("p", { class: "hint" }, t("computing"), " ", entry && button(t("cancel"), () => stop(entry), "small"));
}

const use = (change) => button(t("use"), () => { edit(change, "cut"); say(t("usedThis")); }, "small");
const rowsOf = (heads, rows) => h("table", { class: "list" }, h("thead", {}, h("tr", {}, heads.map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))))), h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))))));
function shown(drawing, title, name) {
  const svg = tellPicture(drawing, quasi());
  const drawn = () => h("img", { class: "drawn", alt: `${title} (${t("private")})`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` });
  const enlarge = () => { const box = dialog(title); box.element.classList.add("wide"); box.fill(drawn()); box.open(); };
  return h("div", {}, h("button", { type: "button", class: "enlarge", onclick: enlarge, title: t("zoomIn"), "aria-label": `${t("zoomIn")}: ${title}` }, drawn()), exporterOf(svg, name));
}
const picture = (of, more = {}) => answerOf("picture", { of, k: chosenK() ?? smallestK(), ...more }, ({ svg }) => shown(svg, t(of === "barcode" ? "regimes" : of), of));

// One node of the lattice: this level of each column, and no other.
function takeNode(next, { k, levels }) {
  takeCut(next, cutThat("by_level"), { levels });
  next.plan.goal.k = k;
}

const levelsAt = (columns, node) => Object.fromEntries(columns.map((column, at) => [column, node[at]]));
const round = (share) => Number(share.toFixed(6));

// -- goals -----------------------------------------------------------------------------------------------------

function goals() {
  const { goal, cut } = state.plan, rules = rulesOf(state.plan), counted = countRules(kindOf(goal));
  const number = (name, others = {}, more = {}) => numberBox(name, goal[name] ?? "", (value) => edit((next) => { next.plan.goal[name] = value === "" ? null : Number(value); if (value === "") Object.assign(next.plan.goal, others); }, name), more);
  const box = h("input", { type: "checkbox", disabled: !rules.keeps_histories, onchange: (event) => edit((next) => { next.plan.goal.protect_history = event.target.checked || null; }, "protect_history") });
  box.checked = Boolean(goal.protect_history);
  const share = numberBox("suppress", 100 * (cut.suppress ?? defaultOf("suppress")), (value) => edit((next) => { next.plan.cut.suppress = Number(value) / 100 || null; }, "suppress"), { scale: 100, disabled: cut.eps != null });
  const effort = () => choose("effort", "effort", cut.effort, (value) => edit((next) => { next.plan.cut.effort = value === defaultOf("effort") ? null : value; }, "effort"));
  const objective = () => choose("objective", "objective", cut.objective, (value) => edit((next) => { next.plan.cut.objective = value === defaultOf("objective") ? null : value; }, "objective"));
  const beside = (name) => state.fault?.field === name && h("p", { class: "refusal", role: "alert" }, state.fault.message);
  return h("section", { class: "panel" }, h("h3", {}, t("goals")),
    field(t("cutField"), choose("cut", "cut", cut.cut, (value) => edit((next) => { takeCut(next, value); next.plan.goal.k ??= exampleOf("k"); }, "cut"))), beside("cut"),
    field(t("suppress"), share), beside("suppress"), rules.has_objective && [field(t("objective"), objective()), beside("objective")],
    rules.is_searched && [field(t("effort"), effort()), beside("effort")],
    countsPeople() && [field(t("history"), box, "", "check"), beside("protect_history")],
    sensitive().length > 0 && [
      field(t("lField"), number("l", { l_kind: null, c: null }, counted.is_whole ? {} : { step: "any" })), beside("l"),
      goal.l != null && field(t("lKind"), choose("l_kind", "l", goal.l_kind, (value) => edit((next) => Object.assign(next.plan.goal, { l_kind: value, c: countRules(value).needs_c ? goal.c ?? exampleOf("c") : null }), "l"))),
      counted.needs_c && goal.l != null && [field(t("cField"), number("c")), beside("c")],
      field(t("tField"), number("t", { t_kind: null })), beside("t"),
      goal.t != null && field(t("tKind"), choose("t_kind", "t", goal.t_kind, (value) => edit((next) => { next.plan.goal.t_kind = value; }, "t"))),
      field(t("alphaField"), number("alpha")), beside("alpha")]);
}

// -- structures --------------------------------------------------------------------------------------------------

const comparedK = () => chosenK() ?? exampleOf("k");

function cuts() {
  const k = comparedK(), names = Object.keys(state.cuts);
  return answerOf("spectrum", { k: [k], cut: names }, ({ spectrum }) => rowsOf([t("cutField"), t("figLoss"), t("figClasses"), "eps", ""], spectrum.map((row) => [t(`cut:${row.cut}`), loss(row.loss), count(row.classes), few(row.eps), use((next) => { takeCut(next, row.cut); next.plan.goal.k = k; })])));
}

function profile() {
  return [picture("profile"), answerOf("profile", {}, ({ hidden }) => rowsOf(["k", t("share"), t("earliestEps"), t("latestEps"), ""], hidden.filter(({ share }) => share > 0.95).map((row) => [count(row.k), percent(row.share), few(row.eps_at_least), few(row.eps_at_most), use((next) => { takeCut(next, cutThat("measures_balls"), { suppress: round(1 - row.share) || null }); next.plan.goal.k = Math.max(smallestK(), row.k); })])))];
}

function regimes() {
  const k = chosenK() ?? smallestK();
  return [picture("barcode"), answerOf("barcode", { k, grid: state.plan.labels.grid ?? defaultOf("grid") }, ({ regimes: found }) => {
    const rows = (found.strict ?? []).slice(0, 12);
    return rows.length ? rowsOf([t("fromEps"), t("toEps"), "k", t("figClasses"), ""], rows.map((row) => [few(row.start), row.stop == null ? t("forever") : few(row.stop), count(row.k), count(row.classes), use((next) => takeCut(next, cutThat("by_components"), { eps: row.start }))])) : h("p", {}, t("notReached"));
  })];
}

function lattice() {
  return answerOf("lattice", { k: ladder() }, ({ best }) => rowsOf(["k", t("levelsOf"), t("figClasses"), t("figLoss"), ""], best.map((node) => [count(node.k), nodeWords(node.levels), count(node.classes), loss(node.loss), use((next) => takeNode(next, node))])));
}

function zigzag() {
  return [picture("zigzag"), answerOf("zigzag", { path: "diagonal", k: chosenK() ?? smallestK() }, ({ regimes: held, path, columns }) => (held.length ? rowsOf([t("levelsOf"), t("toEps"), "k", ""], held.map((row) => [...[row.start, row.stop].map((at) => nodeWords(levelsAt(columns, path[at]))), count(row.k), use((next) => takeNode(next, { k: row.k, levels: levelsAt(columns, path[row.start]) }))])) : h("p", {}, t("notReached"))))];
}

// -- series ------------------------------------------------------------------------------------------------------

function drawSeries() {
  const names = state.known?.series ?? [];
  if (!names.length) return h("p", {}, t("noSeries"));
  const ask = (name, more = "") => request("GET", `/api/series/${encodeURIComponent(name)}${more}`).catch((fault) => ({ fault }));
  const look = async (name) => {
    Object.assign(series, { name, seen: await ask(name), drawn: null });
    redraw();
    const drawn = series.seen.fault ? null : await ask(name, "/picture");
    if (series.name === name) { Object.assign(series, { drawn }); redraw(); }
  };
  if (!series.name || !names.includes(series.name)) look(names[0]);
  const pick = select(names.map((name) => [name, name]), series.name ?? "", look, { "aria-label": t("series") }), { seen } = series;
  if (!seen || seen.fault) return [pick, seen?.fault ? refusal(seen.fault) : h("p", { class: "hint" }, t("computing"))];
  const file = input("text", `${series.name}-${seen.versions.length + 1}.csv`, () => {}, { size: 20 });
  const anyway = h("input", { type: "checkbox" });
  const busy = h("span", { class: "hint", role: "status" });
  const publish = async ({ target }) => {
    target.disabled = true;
    busy.textContent = t("writing");
    await saved();
    try {
      const told = await run(state.id, { verb: "publish", options: { series: series.name, file: file.value, ...(anyway.checked ? { most_changed: 1 } : {}) } });
      say(t("published", { version: told.series.version }));
      series.note = told.series.exchanged && t("exchanged", { whom: told.series.exchanged, name: series.name });
      await look(series.name);
      series.fault = null;
    } catch (fault) { series.fault = fault; }
    redraw();
  };
  const bars = series.drawn?.svg ? shown(series.drawn.svg, t("series"), series.name) : series.drawn?.fault ? refusal(series.drawn.fault) : h("p", { class: "hint" }, t("computing"));
  const many = (rows) => (typeof rows === "string" ? rows : count(rows)); // few rows are hidden: "<5"
  const counted = Object.entries({ rows: "rowsTitle", cohorts: "cohorts", arrivals: "arrivals", waiting: "waitingRows", held: "heldRows", corrected: "correctedRows", withdrawn: "withdrawnRows", returned: "returnedRows", kept_out: "keptOut" }).filter(([name]) => ["rows", "cohorts", "arrivals"].includes(name) || seen.versions.some((one) => one[name]));
  const versions = rowsOf([t("versions"), t("dayOfVersion"), ...counted.map(([, word]) => t(word))], seen.versions.map((one) => [count(one.version), one.time.slice(0, 10), ...counted.map(([name]) => many(one[name]))]));
  versions.classList.add("versions");
  return [pick, bars, h("div", { class: "sideways", tabindex: "0", role: "region", "aria-label": t("versions") }, versions), h("p", { class: "hint" }, t("countsOfVersions")), series.note && h("p", { class: "note", role: "status" }, series.note),
    rowsOf([t("versions"), t("cohorts"), t("rowsTitle")], seen.lives.map((bar) => [bar.versions.join(", "), count(bar.cohorts), count(bar.rows)])),
    h("div", { class: "bar" }, field(t("versionFile"), file), h("label", { class: "check" }, anyway, t("mostChanged")), button(t("publishNext"), publish, "small"), busy), series.fault && refusal(series.fault)];
}
