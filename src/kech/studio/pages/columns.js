// The columns: what each is for, how its rows lie, how precise it stays, and how wide its labels are.

import { button, field, h, input, keepingFocus, quoted, replace, s, select } from "./dom.js";
import { defaultOf, fieldOf, rulesOf } from "./forms.js";
import { about, looks, notRead, shown, suggestedRole, unsaid } from "./model.js";
import { count, percent } from "./numbers.js";
import { reading } from "./start.js";
import { countsPeople, edit, giveRoles, quasi, roleOf, set, state, watch } from "./store.js";
import { t } from "./text.js";
import { followed, inPageWords } from "./words.js";

const BINS = 16, MANY = 12, OWN_VALUES = 0.75;
let wanted = "", isTold = false, areTold = false; // whether the meanings of roles are shown, and every column that seems to name people

export function begin(place) {
  watch(({ id, theme, fault }) => [id, toldNow(), theme, fault, notRead(), about()], () => keepingFocus(place, () => draw(place)));
  watch(looks, () => { for (const old of place.querySelectorAll(".strip")) old.replaceWith(strip(old.closest("[data-column]").dataset.column)); });
}

// What the cards tell of a plan: another k draws no card again.
const toldNow = () => { const { plan, dropped } = state; return plan && JSON.stringify([plan.input, plan.columns, plan.axes, plan.cut, dropped]); };

function draw(place) {
  const seen = about(), fault = notRead();
  if (!state.plan || !seen) {
    replace(place, h("h2", {}, t("columns")), state.plan && (fault ? [h("div", { class: "refusal", role: "alert" }, h("strong", {}, t("notRead")), fault.message), reading()] : h("p", { class: "hint" }, t("beingRead"))));
    return;
  }
  const open = unsaid().length, search = input("search", wanted, () => {}, { "aria-label": t("findColumn"), placeholder: t("findColumn") });
  search.addEventListener("input", () => { wanted = search.value; hideOthers(place); });
  replace(place, h("h2", {}, t("columns")), h("p", { class: "hint" }, t("columnsHint")), meanings(), seen.columns.length > MANY && search,
    open > 0 && h("p", { class: "note", role: "status" }, t("unsaid", { n: open }), button(t("takeSuggestions"), () => takeAll(seen), "small")),
    !quasi().length && h("p", { class: "note", role: "alert" }, t("needQuasi")), nearlyEmpty(seen), whose(seen), ["columns", "input"].includes(state.fault?.field) && refusalOf(state.fault),
    h("ul", { class: "plain" }, seen.columns.map((column) => card(column, seen))));
  hideOthers(place);
}

function meanings() {
  const roles = [...Object.keys(state.roles), "drop"].map((role) => [h("dt", { class: role }, t(`role:${role}`)), h("dd", {}, t(`means:${role}`))]);
  return h("details", { class: "meanings", open: isTold, ontoggle: (event) => { isTold = event.target.open; } }, h("summary", { class: "hint" }, t("meanings")), h("dl", {}, roles));
}

const refusalOf = ({ message }) => h("p", { class: "refusal", role: "alert" }, message);
const hideOthers = (place) => { for (const card of place.querySelectorAll("[data-column]")) card.hidden = !card.dataset.column.toLowerCase().includes(wanted.toLowerCase()); };
const allRoles = (seen) => Object.fromEntries(seen.columns.map(({ column }) => [column, roleOf(column)]));

function takeAll(seen) {
  edit((next) => giveRoles(next, Object.fromEntries(seen.columns.map((column) => [column.column, roleOf(column.column) || suggestedRole(column, seen.columns)]))), "columns");
}

// Columns that seem to name people who have several rows, while nobody said whose the rows are.
export const doubts = () => (state.plan.columns.rows_are_people || countsPeople() ? [] : about().repeated_people.map((text) => h("p", {}, inPageWords(text))));

function nearlyEmpty({ nearly_empty: [n, last], columns }) {
  return n && h("p", { class: "note" }, t("nearlyEmpty", { n, last, columns: columns.length }));
}

// The first one; of others as much as fits on one line, so that the columns are seen.
function firstDoubt() {
  const [first, ...more] = doubts();
  return [first, more.length > 0 && h("details", { open: areTold, ontoggle: (event) => { areTold = event.target.open; } }, h("summary", { class: "hint" }, t("moreDoubts", { n: more.length })), more)];
}

function whose(seen) {
  const alone = Boolean(state.plan.columns.rows_are_people);
  if ((!seen.repeated_people.length && !alone) || countsPeople()) return null;
  const box = h("input", { type: "checkbox", onchange: (event) => edit((next) => { next.plan.columns.rows_are_people = event.target.checked || null; }, "columns") });
  box.checked = alone;
  return h("div", { class: alone ? "" : "note", role: alone ? null : "alert" }, !alone && [h("strong", {}, t("doubts")), firstDoubt()], field(t("rowsPeople"), box, "", "check"));
}

function card(column, seen) {
  const name = column.column, role = roleOf(name), isQuasi = role === "quasi-identifier";
  const pick = select([...(role ? [] : [["", t("role:")]]), ...[...Object.keys(state.roles), "drop"].map((one) => [one, t(`role:${one}`)])], role, (value) => edit((next) => giveRoles(next, { ...allRoles(seen), [name]: value }), "columns"), { "aria-label": t("roleOf", { column: name }), title: role && t(`means:${role}`) });
  const facts = [t("values", { n: column.distinct }), column.nulls > 0 && t("missing", { share: percent(column.nulls / seen.rows) })].filter(Boolean).join(", ");
  const hasInput = Object.keys(column.input).length > 0, pointsAtRows = (role === "sensitive" || role === "keep") && column.distinct > OWN_VALUES * seen.rows;
  const axis = state.plan.axes[name] ?? {}, advice = pointsAtRows && !hasInput ? null : column.hint, hint = advice && column.suggested && (axis.hierarchy || axis.kind === column.suggested) ? followed(advice) : advice;
  return h("li", { class: `card ${role || "open"}`, "data-column": name },
    h("div", { class: "line" }, h("strong", { class: "name", title: name }, name), pick),
    h("div", { class: "line" }, histogram(column), h("span", { class: "hint" }, facts)),
    isQuasi && h("div", { class: "line dials" }, [[precision(name), "precisionName"], [strip(name), "widthsName"]].map(([dial, text]) => h("div", {}, dial, h("span", { class: "hint", "aria-hidden": "true" }, t(text))))),
    isQuasi && button(t("blurred"), () => set({ drawer: { kind: "hierarchy", column: name } }), "link", { "aria-label": `${name}: ${t("blurred")}` }),
    hint && role !== "drop" && h("p", { class: "hint" }, inPageWords(hint), " ", hasInput && button(t("readSo"), () => edit((next) => Object.assign(next.plan.input, column.input), "columns"), "small")),
    pointsAtRows && h("p", { class: "note" }, t("identifying", { column: quoted(name) })),
    column.trouble && h("p", { class: "hint" }, inPageWords(column.trouble)));
}

function histogram({ histogram: bars, column, distinct }) {
  if (!bars.length) return h("span", { class: "hint" }, distinct > 0 && t("noHistogram"));
  const most = Math.max(...bars), wide = 96 / bars.length;
  return s("svg", { class: "histogram", width: 96, height: 24, role: "img", "aria-label": t("histogram", { column, rows: most }) }, bars.map((rows, at) => s("rect", { x: at * wide, y: 24 - (24 * rows) / most, width: Math.max(wide - 0.5, 0.5), height: (24 * rows) / most }, s("title", {}, count(rows)))));
}

// How much the column counts in the loss: further right, it stays more precise.
function precision(name) {
  const weights = fieldOf("weights").offered, weight = state.plan.cut.weights?.[name] ?? defaultOf("weights"), at = weights.indexOf(weights.reduce((a, b) => (Math.abs(Math.log(b / weight)) < Math.abs(Math.log(a / weight)) ? b : a)));
  const put = (value) => edit((next) => { next.plan.cut.weights = { ...next.plan.cut.weights, [name]: weights[value] === defaultOf("weights") ? null : weights[value] }; if (Object.values(next.plan.cut.weights).every((each) => each == null)) next.plan.cut.weights = null; }, "columns");
  return input("range", at, (value) => put(Number(value)), { min: 0, max: weights.length - 1, step: 1, class: "precision", "aria-label": t("precision", { column: name }), "aria-valuetext": `× ${weights[at]}`, title: t("precisionHint"), disabled: !rulesOf(state.plan).is_searched });
}

// How wide the labels of all rows are: narrow ones left, wide ones right, the bluer the wider.
function strip(name) {
  const answer = shown(), widths = answer?.data?.classes.widths[name];
  if (!widths) return h("span", { class: "strip" });
  const bins = new Array(BINS).fill(0), { rows } = answer.data.classes;
  widths.forEach((width, at) => { bins[Math.min(BINS - 1, Math.floor(width * BINS))] += rows[at]; });
  const most = Math.max(...bins, 1), told = answer.data.columns.find(({ column }) => column === name);
  return s("svg", { class: `strip${answer.stale ? " stale" : ""}`, viewBox: "0 0 96 18", role: "img", "aria-label": t("widths", { column: name, loss: told?.loss ?? 0 }) }, bins.map((number, at) => s("rect", { x: at * 6, y: 18 - 18 * Math.sqrt(number / most), width: 5.5, height: 18 * Math.sqrt(number / most), opacity: 0.35 + (0.65 * at) / BINS })));
}
