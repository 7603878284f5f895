// The verdict: how well rows are hidden, what is given away and what mends it, what is lost; and pinned candidates beside it.

import { button, field, h, keepingFocus, quoted, replace, s, say } from "./dom.js";
import { numberBox } from "./forms.js";
import { choose } from "./instrument.js";
import { again, chosenK, crowds, find, found, isReady, looks, most, notRead, shown, stop, waitingFor } from "./model.js";
import { count, loss, percent } from "./numbers.js";
import { sentences } from "./sentences.js";
import { countsPeople, edit, set, state, watch } from "./store.js";
import { t } from "./text.js";

const RISKS = [0.2, 0.09], MOST_ALARMS = 3; // columns told one by one

export function begin(place) {
  const head = h("div"), kPlace = h("div"), workPlace = h("div"), rest = h("div");
  replace(place, head, kPlace, workPlace, rest);
  watch(({ id, plan, dropped, theme, fault, pins }) => [id, plan, dropped, theme, fault, pins, ...looks(), exact()?.fault, state.plan && priceOf(chosenK()), notRead()], () => { keepingFocus(head, () => drawHead(head)); keepingFocus(rest, () => draw(rest)); });
  watch(({ id, theme, drag, fault, plan }) => [id, theme, drag, fault, plan, isKnown() && most()], () => drawK(kPlace));
  watch(({ theme }) => { const entry = exact(); return [theme, isKnown(), entry?.progress?.job, entry?.progress?.share, entry?.data, entry?.fault, looks()[0]]; }, () => keepingFocus(workPlace, () => drawWork(workPlace)));
}

const isKnown = () => Boolean(state.plan) && isReady();
const wish = () => ({ k: chosenK(), with_rows: true });
const exact = () => state.plan && find("classes", wish());

function drawHead(place) {
  const answer = isKnown() ? shown() : null, data = answer?.data;
  replace(place, h("div", { class: "bar" }, h("h2", {}, t("verdict")), answer?.preview && h("span", { class: "mark preview" }, t("preview")), data && answer.stale && h("span", { class: "mark" }, t("stale")),
    data && button(t("pin"), () => pin(data), "small", { disabled: answer.stale || answer.preview, title: t("pinned") })));
}

function draw(place) {
  if (!isKnown()) { replace(place, h("p", { class: "hint" }, state.plan && t(waitingFor()))); return; }
  const answer = shown(), data = answer?.data, crowd = crowds();
  replace(place, answer?.fault && h("div", { class: "refusal", role: "alert" }, h("strong", {}, t("noAnswer")), answer.fault.message, data && h("p", { class: "hint" }, t("lastGood"))),
    data && h("div", { class: answer.stale ? "stale" : "" }, alarm(data, answer.stale, answer.preview), gauge(data), lossBar(data.figures.loss)),
    crowd && h("p", { class: "hint" }, t("asItIs", { k: crowd.k, alone: crowd.alone, people: countsPeople() })),
    pinned(data), data && h("ul", { class: `words${answer.stale ? " stale" : ""}` }, sentences(data).map((text) => h("li", {}, text))));
}

let boxK = null, builtFor = ""; // the box stays while the answers around it are drawn anew: else the focus would lay out the screen each time

function drawK(place) {
  const kind = isKnown() ? JSON.stringify([state.id, state.theme, countsPeople(), most()]) : "", value = String(state.drag ?? (kind && chosenK()) ?? "");
  if (kind !== builtFor) keepingFocus(place, () => replace(place, kind && buildK(value)));
  builtFor = kind;
  if (!kind) return;
  if (boxK.defaultValue !== value) putK(value);
  place.querySelector(".refusal")?.remove();
  if (["k", "eps", ""].includes(state.fault?.field)) place.firstChild.append(h("p", { class: "refusal", role: "alert" }, state.fault.message));
}

const putK = (value) => Object.assign(boxK, { defaultValue: value, value });

function buildK(value) {
  boxK = numberBox("k", value, (typed) => {
    const k = typed === "" ? null : Math.round(Number(typed));
    putK(String(k ?? ""));
    choose(k);
  }, { max: most() });
  return h("div", { class: "kfield" }, field(t("kField"), boxK, t("kHint", { people: countsPeople() })));
}

// A bar while the answer for these settings is on its way, and a way to stop it and to take it up again.
function drawWork(place) {
  const entry = isKnown() && exact(), isOn = entry?.progress && !entry.data && !entry.fault, bar = (value) => h("progress", { "aria-label": t("computing"), value });
  const now = place.querySelector(".on progress");
  if (isOn && now && entry.progress.share != null) { now.value = entry.progress.share; return; }
  replace(place, isKnown() && h("div", { class: isOn ? "work on" : "work" }, isOn ? [bar(entry.progress.share), button(t("cancel"), () => stop(exact()), "small")]
    : entry?.fault?.kind === "Cancelled" ? button(t("takeUp"), () => again("classes", wish()), "small") : !shown() && bar()));
}

// The loss once every class has two values; null while it is not known.
const priceOf = (k) => found("mend", { k })?.loss ?? null;

// -- what is given away comes first ----------------------------------------------------------------------------

function alarm({ shared, figures }, isStale, isPreview) {
  const given = Object.entries(shared?.given_away ?? {}).sort(([, a], [, b]) => b - a);
  if (!given.length) return null;
  const price = isStale || isPreview ? null : priceOf(chosenK()), isUnknown = price == null && !isPreview && Boolean(find("mend", { k: chosenK() })?.data);
  const mend = button(t("mend", { from: figures.loss, to: chosenK() == null ? undefined : price, isUnknown }), () => edit((next) => Object.assign(next.plan.goal, { l: 2, l_kind: null, c: null }), "mend"), "alarm", { disabled: isStale });
  return h("div", { class: "alarm", role: "alert" }, given.slice(0, MOST_ALARMS).map(([column, share]) => h("p", {}, t("givenAway", { share, column: quoted(column) }))), given.length > MOST_ALARMS && h("p", {}, t("givenMore", { n: given.length - MOST_ALARMS })), isUnknown && h("p", { class: "hint" }, t("mendNot")), mend, state.fault?.field === "mend" && h("p", { class: "refusal" }, state.fault.message));
}

function gauge({ classes, k, figures, rows_in: all }) {
  const among = classes.people ?? classes.rows, published = all - figures.suppressed;
  const above = RISKS.map((risk) => ({ risk, share: classes.rows.reduce((sum, rows, at) => sum + (1 / among[at] > risk + 1e-12 ? rows : 0), 0) / published }));
  const angle = Math.PI * (1 - Math.min(1, 1 / k)), x = 60 + 46 * Math.cos(angle), y = 60 - 46 * Math.sin(angle);
  return h("div", { class: "gauge" },
    s("svg", { width: 120, height: 66, viewBox: "0 0 120 66", role: "img", "aria-label": t("oneIn", { k: count(k) }) },
      s("path", { class: "track", d: "M 8 60 A 52 52 0 0 1 112 60" }), s("path", { class: "risk", d: arc(Math.min(1, 1 / k)) }), s("line", { class: "needle", x1: 60, y1: 60, x2: x, y2: y })),
    h("div", {}, h("strong", { class: "big" }, t("oneIn", { k: count(k) })), above.map(({ risk, share }) => h("p", { class: share > 0 && risk === RISKS[0] ? "above" : "hint" }, t("above", { risk, share })))),
    h("p", { class: "hint" }, t("oneInHint", { people: countsPeople() })));
}

function arc(share) {
  const angle = Math.PI * (1 - share);
  return `M 8 60 A 52 52 0 0 1 ${(60 + 52 * Math.cos(angle)).toFixed(1)} ${(60 - 52 * Math.sin(angle)).toFixed(1)}`;
}

function lossBar(value) {
  const bar = h("i");
  bar.style.width = `${100 * value}%`;
  return h("div", { class: "lossbar" }, h("strong", {}, t("lossTitle"), " ", loss(value)), h("span", { class: "track", role: "img", "aria-label": t("lossNow", { loss: loss(value) }) }, bar), h("span", { class: "ends hint" }, h("span", {}, "0"), h("span", {}, "1")));
}

// -- candidates side by side -------------------------------------------------------------------------------------

function pin(data) {
  const at = { plan: state.plan, dropped: state.dropped, figures: figuresOf(data) };
  set({ pins: [...state.pins.slice(-1), at] });
  say(t("pinned"));
}

const figuresOf = ({ k, figures, rows_in: all, shared }) => ({ k, loss: figures.loss, classes: figures.classes, left: figures.suppressed / all, given: Math.max(0, ...Object.values(shared?.given_away ?? {})) });
const SHOWN = { k: count, loss, classes: count, left: percent, given: percent };

function pinned(data) {
  if (!state.pins.length) return null;
  const now = data && figuresOf(data), all = [...state.pins.map(({ figures }) => figures), ...(now ? [now] : [])];
  const difference = (one, name) => (one[name] === all[0][name] ? "" : ` (${one[name] > all[0][name] ? "+" : "−"}${SHOWN[name](Math.abs(one[name] - all[0][name]))})`);
  const head = h("tr", {}, h("td"), state.pins.map((_, at) => h("th", { scope: "col" }, count(at + 1))), now && h("th", { scope: "col" }, t("now")));
  const rows = Object.keys(SHOWN).map((name) => h("tr", {}, h("th", { scope: "row" }, t(`pin:${name}`)), all.map((one) => h("td", {}, SHOWN[name](one[name]), h("small", {}, difference(one, name))))));
  const buttons = h("tr", {}, h("td", {}), state.pins.map((one, at) => h("td", {}, button(t("pinUse"), () => edit((next) => Object.assign(next, structuredClone({ plan: one.plan, dropped: one.dropped }))), "small"), button("×", () => set({ pins: state.pins.filter((_, other) => other !== at) }), "small quiet", { "aria-label": `${t("unpin")} ${at + 1}` }))), now && h("td", {}));
  return h("div", { class: "pins" }, h("h3", {}, t("pins")), h("table", {}, h("thead", {}, head), h("tbody", {}, rows, buttons)));
}

export const pinNow = () => { const answer = state.plan && isReady() ? shown() : null; if (answer?.data && !answer.stale && !answer.preview) pin(answer.data); };
