// The instrument: the loss for every k with a line to drag, or which rows are together while eps grows.

import { button, h, replace, s } from "./dom.js";
import { cutThat, exampleOf, takeCut } from "./forms.js";
import { exporter } from "./pictures.js";
import { bounds, chosenK, curve, find, found, isReady, ladder, most, need, shown, smallestK, waitingFor, working } from "./model.js";
import { count, few, ticks } from "./numbers.js";
import { countsPeople, edit, set, state, watch } from "./store.js";
import { t } from "./text.js";

const HIGH = 200, LEFT = 58, RIGHT = 14, TOP = 20, FOOT = 44, NARROW = 500, NAMED = 140, EPS_ZOOM = [1, 2, 5, 20];
const BUSY = ["classes", "rung", "icicle", "crowds"], DOING = { classes: "searching", rung: "preparing" }; // what is told first of all that is on its way
let place, wide = 600, left = 0, drawn = null; // eps at the left edge; the curve that was drawn last, and of which table

export function begin(where) {
  place = where;
  new ResizeObserver(([entry]) => { const now = Math.round(entry.contentRect.width); if (now && now !== wide) { wide = now; draw(); } }).observe(place);
  watch(({ plan, version, drag, mode, zoom, eps, theme, fault }) => [plan, version, drag, mode, zoom, eps, theme, fault], draw);
}

function draw() {
  const held = place.contains(document.activeElement) ? document.activeElement.dataset.part : null;
  const ready = state.plan && isReady(), isEps = state.mode === "eps", title = t(isEps ? "instrumentEps" : "instrument");
  const picture = ready ? (isEps ? drawIcicle() : drawCurve()) : null;
  replace(place, h("div", { class: "bar" }, h("h2", {}, title),
    h("div", { class: "picks", role: "group", "aria-label": title }, ["k", "eps"].map((mode) => button(t(mode === "k" ? "overK" : "overEps"), () => set({ mode }), "pick", { "aria-pressed": String(state.mode === mode), "data-part": mode }))),
    h("div", { class: "picks" }, button("+", () => set({ zoom: Math.min(state.zoom + 1, 3) }), "pick", { "aria-label": t("zoomIn"), disabled: state.zoom > 2, "data-part": "in" }), button("−", () => set({ zoom: Math.max(state.zoom - 1, 0) }), "pick", { "aria-label": t("zoomOut"), disabled: !state.zoom, "data-part": "out" })),
    picture && exporter(picture, isEps ? "icicle" : "loss"), !isEps && ready && wide < NARROW && h("strong", { class: shown()?.stale ? "stale" : null }, readOut()), busy()), picture ?? h("p", { class: "hint empty" }, t(state.plan ? waitingFor() : "beingRead")));
  if (held) place.querySelector(`[data-part="${held}"]`)?.focus();
}

function readOut() {
  const answer = shown(), figures = answer?.data?.figures;
  return figures?.k == null ? "" : `${t("atK", figures)}${answer.stale ? ` (${t("stale")})` : ""}`;
}

function busy() {
  const job = BUSY.map((verb) => working().find((one) => one.verb === verb)).find(Boolean);
  return h("span", { class: "hint busy" }, job ? [h("i", { class: "spin" }), t((job.options.k != null && DOING[job.verb]) || "computing", job.options)] : "");
}

// -- over k --------------------------------------------------------------------------------------------------

function range() {
  const steps = ladder(), top = Math.max(...steps, chosenK() <= most() ? chosenK() : 0), factor = [Infinity, 4, 2, 1.4][state.zoom], k = Math.max(smallestK(), chosenK() ?? exampleOf("k")); // a k that will be refused may be typed
  return [Math.max(smallestK(), k / factor), Math.max(Math.min(top, k * factor), 3)];
}

function drawCurve() {
  const [low, high] = range(), all = curve(), isOld = !all.length && drawn?.id === state.id, old = isOld ? " stale" : "";
  if (!isOld) drawn = { id: state.id, points: all };
  const points = drawn.points.filter(({ k }) => k >= low && k <= high);
  const known = bounds().filter(({ k }) => k >= low && k <= high);
  const top = Math.min(1, Math.max(0.05, ...points.map((point) => point.loss)) * 1.2);
  const x = (k) => LEFT + (Math.log(k / low) / Math.log(high / low)) * (wide - LEFT - RIGHT), y = (value) => TOP + (1 - value / top) * (HIGH - TOP - FOOT);
  const line = (list, value) => list.map((point) => `${x(point.k).toFixed(1)},${y(value(point)).toFixed(1)}`).join(" ");
  const now = state.drag ?? chosenK(), answer = shown(), told = answer?.data?.figures;
  const read = readOut(), kind = answer?.stale ? "read stale" : "read", at = x(Math.min(Math.max(now ?? low, low), high));
  const people = t(countsPeople() ? "countedPeople" : "countedRows");
  const picture = s("svg", { class: "picture", width: wide, height: HIGH, viewBox: `0 0 ${wide} ${HIGH}`, role: "group", "aria-label": t("instrument") },
    ticks(0, top, 4).map((value) => [s("line", { class: "rule", x1: LEFT, x2: wide - RIGHT, y1: y(value), y2: y(value) }), s("text", { class: "tick", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, few(value))]),
    [...new Set([...ladder(), ...(state.zoom ? ticks(low, high, 6).map(Math.round) : [])])].filter((k) => k >= low && k <= high && (hasRoom(k) || k === high)).map((k) => s("text", { class: "tick", x: x(k), y: HIGH - FOOT + 20, "text-anchor": "middle" }, count(k))),
    s("text", { class: "axis", x: (LEFT + wide - RIGHT) / 2, y: HIGH - 6, "text-anchor": "middle" }, t("kAxis", { counted: people })),
    s("text", { class: "axis", x: -(TOP + (HIGH - TOP - FOOT) / 2), y: 11, transform: "rotate(-90)", "text-anchor": "middle" }, wide > 500 ? t("lossAxis") : t("lossTitle")),
    known.length > 1 && s("polygon", { class: "impossible", points: `${x(known[0].k)},${y(0)} ${line(steps(known), (row) => row.loss_lower_bound)} ${x(known.at(-1).k)},${y(0)}` }, s("title", {}, t("impossible"))),
    known.length > 1 && x(known.at(-1).k) - x(known[0].k) > NAMED && s("text", { class: "tick", x: x(known.at(-1).k) - 6, y: y(0) - 5, "text-anchor": "end" }, t("impossible")),
    points.length > 1 && s("polyline", { class: `curve${old}`, points: line(points, (point) => point.loss) }),
    points.map((point) => s("circle", { class: `dot${point.exact ? " exact" : ""}${old}`, cx: x(point.k), cy: y(point.loss), r: 4 }, s("title", {}, `${t("atK", point)} (${t(isOld ? "stale" : point.exact ? "exact" : "preview")})`))),
    wide >= NARROW && [["sample", "preview", 8], ["sample exact", "exact", 84]].map(([kind, name, from]) => [s("circle", { class: kind, cx: from, cy: HIGH - 10, r: 4 }), s("text", { class: "tick", x: from + 8, y: HIGH - 6 }, t(name))]),
    now != null && handle(at, { label: t("line"), value: now, low: smallestK(), high: most(), text: told && told.k === now ? t("atK", told) : `k = ${now}` }));
  draggable(picture, (px) => Math.round(low * (high / low) ** share(px)), (k) => set({ drag: k }), (k) => choose(k));
  keys(picture, (by, far) => choose(far ? (by > 0 ? most() : smallestK()) : stepFrom(chosenK() ?? smallestK(), by)));
  if (wide >= NARROW) picture.append(s("text", at < (LEFT + wide) / 2 ? { class: kind, x: at + 8, y: TOP - 7 } : { class: kind, x: at - 8, y: TOP - 7, "text-anchor": "end" }, read));
  return picture;
}

// Between two k only the bound of the smaller one is proven.
const steps = (known) => known.flatMap((told, at) => (at ? [{ ...known[at - 1], k: told.k }, told] : [told]));
const hasRoom = (k) => wide > 520 || /^[125]0*$/.test(k);
const share = (px) => Math.min(1, Math.max(0, (px - LEFT) / (wide - LEFT - RIGHT)));
const stepFrom = (k, by) => Math.min(most(), Math.max(smallestK(), k + by));

export function choose(k) {
  set({ drag: null });
  edit((next) => { next.plan.goal.k = k; Object.assign(next.plan.cut, { eps: null, levels: null }); }, "k");
}

// -- over eps ------------------------------------------------------------------------------------------------

function drawIcicle() {
  const data = need("icicle")?.data ?? found("icicle"), fault = find("icicle")?.fault;
  if (!data) return fault ? h("p", { class: "refusal", role: "alert" }, fault.message) : h("p", { class: "hint empty" }, t("computing"));
  const k = chosenK() ?? smallestK(), holds = (data.at.find(({ smallest }) => smallest >= k) ?? data.at.at(-1)).eps; // lines of some rows may end before
  const last = Math.max(...data.lines.map(({ eps }) => eps.at(-1)), holds, 1e-9) * 1.08, span = last / EPS_ZOOM[state.zoom];
  const eps = Math.min(state.eps ?? state.plan.cut.eps ?? holds, last); // at first where k holds
  left = Math.min(Math.max(eps < left || eps > left + span ? eps - span / 2 : left, 0), last - span); // the line stays in the picture
  const right = left + span, within = (value) => Math.min(Math.max(value, left), right);
  const x = (value) => LEFT + ((within(value) - left) / span) * (wide - LEFT - RIGHT), all = HIGH - TOP - FOOT;
  let from = TOP;
  const bars = data.lines.map((row) => {
    const tall = (row.rows / data.rows) * all, at = row.among.findIndex((among) => among >= k), begins = at < 0 ? right : row.eps[at], y = from;
    from += tall;
    const gap = data.lines.length < 40 ? 1 : 0;
    return s("g", {}, s("title", {}, at < 0 ? t("hidesNever", { rows: row.rows, k }) : t("hidesFrom", { rows: row.rows, k, eps: begins })), s("rect", { class: "exposed", x: x(left), y, width: x(begins) - x(left), height: Math.max(tall - gap, 0.3) }), begins < right && s("rect", { class: "hidden", x: x(begins), y, width: x(right) - x(begins), height: Math.max(tall - gap, 0.3) }));
  });
  const step = [...data.at].reverse().find((one) => one.eps <= eps) ?? data.at[0], text = t("atEps", step); // classes are counted there, so this eps is told and used
  const picture = s("svg", { class: "picture", width: wide, height: HIGH, viewBox: `0 0 ${wide} ${HIGH}`, role: "group", "aria-label": t("instrumentEps") }, bars,
    ticks(left, right, 6).map((value) => s("text", { class: "tick", x: x(value), y: HIGH - FOOT + 20, "text-anchor": "middle" }, few(value))),
    s("text", { class: "axis", x: (LEFT + wide - RIGHT) / 2, y: HIGH - 6, "text-anchor": "middle" }, t("epsAxis")),
    s("text", { class: "axis", x: -(TOP + all / 2), y: 11, transform: "rotate(-90)", "text-anchor": "middle" }, t("rowsAxis")),
    handle(x(step.eps), { label: t("lineEps"), value: step.eps, low: 0, high: last, text }));
  draggable(picture, (px) => left + share(px) * span, (value) => set({ eps: value }), (value) => set({ eps: value }));
  keys(picture, (by, far) => set({ eps: far ? (by > 0 ? last : 0) : Math.min(last, Math.max(0, eps + (by * span) / 100)) }));
  const use = button(t("useEps"), () => edit((next) => takeCut(next, cutThat("by_components"), { eps: step.eps }), "eps"), "small", { "data-part": "use" });
  return h("div", { class: "icicle" }, picture, h("p", { class: "legend" }, h("i", { class: "key exposed" }), t("exposedNow"), h("i", { class: "key hidden" }), t("hiddenNow"), h("strong", {}, text), use, data.sampled && h("span", { class: "hint" }, t("sampled", { lines: data.lines.length, rows: data.rows }))));
}

// -- the line ------------------------------------------------------------------------------------------------

function handle(x, { label, value, low, high, text }) {
  return s("g", { class: "handle", tabindex: "0", role: "slider", "data-part": "line", "aria-label": label, "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": value, "aria-valuetext": text },
    s("line", { x1: x, x2: x, y1: TOP - 16, y2: HIGH - FOOT }), s("circle", { cx: x, cy: HIGH - FOOT, r: 8 }));
}

function draggable(picture, valueAt, move, end) {
  const at = (event) => valueAt(event.clientX - picture.getBoundingClientRect().left);
  picture.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    const area = place.closest("section");
    const moving = (next) => move(valueAt(next.clientX - area.querySelector("svg.picture").getBoundingClientRect().left));
    const ending = (next) => { removeEventListener("pointermove", moving); removeEventListener("pointerup", ending); removeEventListener("pointercancel", ending); end(valueAt(next.clientX - area.querySelector("svg.picture").getBoundingClientRect().left)); };
    addEventListener("pointermove", moving);
    addEventListener("pointerup", ending);
    addEventListener("pointercancel", ending);
    move(at(event));
  });
}

function keys(picture, step) {
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -1, End: 1 }[event.key];
    if (!by || !event.target.closest(".handle")) return;
    event.preventDefault();
    step(by, event.key === "Home" || event.key === "End");
  });
}

export const focusLine = () => place.querySelector('[data-part="line"]')?.focus();
