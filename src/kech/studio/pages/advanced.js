// For those who ask for more: goals and cuts in sentences, and every structure that kech knows, each with "Use this".

import { request, run } from "./api.js";
import { button, field, h, input, refusal, say, select } from "./dom.js";
import { about, again, chosenK, find, need, stop } from "./model.js";
import { count, day, few, loss, percent } from "./numbers.js";
import { exporterOf } from "./pictures.js";
import { countsPeople, edit, saved, sensitive, set, state } from "./store.js";
import { t } from "./text.js";

const opened = new Set(); // sections that were asked for
const series = { name: null, seen: null };
const redraw = () => set({ opened: state.opened + 1 });

export function drawAdvanced() {
  return [goals(), section("cutsTitle", "cutsText", cuts), section("profile", "profileText", profile), section("regimes", "regimesText", regimes), section("lattice", "latticeText", lattice), section("zigzag", "zigzagText", zigzag), section("series", "seriesText", drawSeries)];
}

// A section that computes only once it is opened.
function section(title, text, draw) {
  const isOpen = opened.has(title), turn = () => { opened[isOpen ? "delete" : "add"](title); redraw(); };
  return h("section", { class: "panel" }, h("h3", {}, button(`${isOpen ? "▾" : "▸"} ${t(title)}`, turn, "link", { "aria-expanded": String(isOpen) })), h("p", { class: "hint" }, t(text)), isOpen && draw());
}

function answerOf(verb, options, draw) {
  const entry = need(verb, options) ?? find(verb, options);
  if (entry?.fault) return [refusal(entry.fault), entry.fault.kind === "Cancelled" && button(t("takeUp"), () => again(verb, options), "small")];
  return entry?.data ? draw(entry.data) : h("p", { class: "hint" }, t("computing"), " ", entry && button(t("cancel"), () => stop(entry), "small"));
}

const use = (change) => button(t("use"), () => { edit(change, "cut"); say(t("usedThis")); }, "small");
const rowsOf = (heads, rows) => h("table", { class: "list" }, h("thead", {}, h("tr", {}, heads.map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))))), h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))))));
const picture = (of, more = {}) => answerOf("picture", { of, k: chosenK() ?? 2, ...more }, ({ svg }) => h("div", {}, h("img", { class: "drawn", alt: `${t(of === "barcode" ? "regimes" : of)} (${t("private")})`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` }), exporterOf(svg, of)));

// What a cut cannot do is not asked of it.
function takeCut(next, name, more = {}) {
  const rules = state.cuts[name];
  Object.assign(next.plan.cut, { cut: name, eps: null, ...(rules.by_components ? {} : { reading: null, field: null }), ...(rules.measures_balls ? {} : { metric: null }), ...(rules.is_searched ? {} : { effort: null, weights: null }), ...more });
  if (!rules.keeps_histories) next.plan.goal.protect_history = null;
  if (name === "regime") next.plan.cut.suppress = null;
}

// -- goals -----------------------------------------------------------------------------------------------------

function goals() {
  const { goal, cut } = state.plan, { fields } = state, kind = goal.l_kind ?? fields.l_kind.default, rules = state.cuts[cut.cut ?? fields.cut.default];
  const choose = (name, words, value, put) => select(fields[name].choices.map((one) => [one, t(`${words}:${one}`)]), value ?? fields[name].default, put);
  const number = (part, name, more, others = {}) => input("number", state.plan[part][name] ?? "", (value) => edit((next) => { next.plan[part][name] = value === "" ? null : Number(value); if (value === "") Object.assign(next.plan[part], others); }, "goals"), more);
  const box = h("input", { type: "checkbox", disabled: !rules.keeps_histories, onchange: (event) => edit((next) => { next.plan.goal.protect_history = event.target.checked || null; }, "goals") });
  box.checked = Boolean(goal.protect_history);
  const share = input("number", 100 * (cut.suppress ?? 0), (value) => edit((next) => { next.plan.cut.suppress = Number(value) / 100 || null; }, "goals"), { min: 0, max: 99, step: 0.1, disabled: cut.cut === "regime" });
  return h("section", { class: "panel" }, h("h3", {}, t("goals")), ["goals", "l", "cut"].includes(state.fault?.field) && h("p", { class: "refusal", role: "alert" }, state.fault.message),
    field(t("cutField"), choose("cut", "cut", cut.cut, (value) => edit((next) => { takeCut(next, value); next.plan.goal.k ??= 5; }, "cut"))),
    field(t("suppress"), share), rules.is_searched && field(t("effort"), select(["quick", "", "best"].map((one) => [one, t(`effort:${one}`)]), String(cut.effort ?? ""), (value) => edit((next) => { next.plan.cut.effort = value || null; }, "goals"))),
    countsPeople() && field(t("history"), box, "", "check"),
    sensitive().length > 0 && [
      field(t("lField"), number("goal", "l", { min: 1, step: kind === "entropy" ? 0.1 : 1 }, { l_kind: null, c: null })),
      goal.l != null && field(t("lKind"), choose("l_kind", "l", kind, (value) => edit((next) => Object.assign(next.plan.goal, { l_kind: value, c: value === "recursive" ? goal.c ?? 2 : null }), "goals"))),
      kind === "recursive" && goal.l != null && field(t("cField"), number("goal", "c", { min: 0, step: 0.1 })),
      field(t("tField"), number("goal", "t", { min: 0, max: 1, step: 0.01 }, { t_kind: null })),
      goal.t != null && field(t("tKind"), choose("t_kind", "t", goal.t_kind, (value) => edit((next) => { next.plan.goal.t_kind = value; }, "goals"))),
      field(t("alphaField"), number("goal", "alpha", { min: 0, max: 1, step: 0.01 }))]);
}

// -- structures --------------------------------------------------------------------------------------------------

function cuts() {
  const k = chosenK() ?? 5, names = Object.keys(state.cuts);
  return answerOf("spectrum", { k: [k], cut: names, effort: "quick" }, ({ spectrum }) => rowsOf([t("cutField"), t("figLoss"), t("figClasses"), "eps", ""], spectrum.map((row) => [row.cut, loss(row.loss), count(row.classes), few(row.eps), use((next) => { takeCut(next, row.cut); next.plan.goal.k = k; })])));
}

function profile() {
  return [picture("profile"), answerOf("profile", {}, ({ hidden }) => rowsOf(["k", t("share"), t("fromEps"), ""], hidden.filter(({ share }) => share > 0.95).map((row) => [count(row.k), percent(row.share), few(row.eps), use((next) => { next.plan.goal.k = Math.max(2, row.k); next.plan.cut.eps = null; })])))];
}

function regimes() {
  const k = chosenK() ?? 2;
  return [picture("barcode"), answerOf("barcode", { k }, ({ regimes: found }) => {
    const rows = (found.strict ?? []).slice(0, 12);
    return rows.length ? rowsOf([t("fromEps"), t("toEps"), "k", t("figClasses"), ""], rows.map((row) => [few(row.start), row.stop == null ? t("forever") : few(row.stop), count(row.k), count(row.classes), use((next) => { takeCut(next, "regime", { eps: row.start }); next.plan.goal = {}; })])) : h("p", {}, t("notReached"));
  })];
}

function lattice() {
  const columns = state.plan.columns.quasi_identifiers;
  return answerOf("lattice", { k: [2, 3, 5, 10, 20, 50].filter((k) => k <= about().rows / 2) }, ({ best }) => rowsOf(["k", t("levelsOf"), t("figClasses"), t("figLoss"), ""], best.map((node) => [count(node.k), columns.map((column) => node.levels[column]).join(", "), count(node.classes), loss(node.loss), use((next) => { takeCut(next, "domain"); next.plan.goal.k = node.k; })])));
}

function zigzag() {
  return [picture("zigzag"), answerOf("zigzag", { path: "diagonal", k: chosenK() ?? 2 }, ({ regimes: held }) => (held.length ? rowsOf([t("levelsOf"), t("toEps"), "k", ""], held.map((row) => [count(row.start), count(row.stop), count(row.k), use((next) => { takeCut(next, "domain"); next.plan.goal.k = row.k; })])) : h("p", {}, t("notReached"))))];
}

// -- series ------------------------------------------------------------------------------------------------------

function drawSeries() {
  const names = state.known?.series ?? [];
  if (!names.length) return h("p", {}, t("noSeries"));
  const look = async (name) => { Object.assign(series, { name, seen: await request("GET", `/api/series/${encodeURIComponent(name)}`).catch((fault) => ({ fault })) }); redraw(); };
  if (!series.name || !names.includes(series.name)) look(names[0]);
  const pick = select(names.map((name) => [name, name]), series.name ?? "", look, { "aria-label": t("series") }), { seen } = series;
  if (!seen || seen.fault) return [pick, seen?.fault ? refusal(seen.fault) : h("p", { class: "hint" }, t("computing"))];
  const file = input("text", `${series.name}-${seen.versions.length + 1}.csv`, () => {}, { size: 20 });
  const publish = async () => {
    await saved();
    try {
      const told = await run(state.id, { verb: "publish", options: { series: series.name, file: file.value } });
      say(t("published", { version: told.series.version }));
      await look(series.name);
    } catch (fault) { say(fault.message); }
  };
  return [pick, rowsOf([t("versions"), "", t("rowsTitle"), t("cohorts")], seen.versions.map((one) => [count(one.version), one.published ? day(one.published) : "", count(one.rows), count(one.cohorts)])),
    rowsOf([t("versions"), t("cohorts"), t("rowsTitle")], seen.lives.map((bar) => [bar.versions.join(", "), count(bar.cohorts), count(bar.rows)])),
    h("div", { class: "bar" }, field(t("versionFile"), file), button(t("publishNext"), publish, "small"))];
}
