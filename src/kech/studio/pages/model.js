// Answers: what is asked when, each kept under what it was computed from, so that going back computes nothing again.

import { cancel, run } from "./api.js";
import { exampleOf, fieldOf } from "./forms.js";
import { edit, giveRoles, quasi, saved, set, state, watch } from "./store.js";

const MANY = 60_000; // rows: beyond, the classes of every row are fetched only for the k that is chosen
const PATIENCE = 4000; // milliseconds a search that nobody wants any more may go on
const LANES = { glance: "look", inspect: "look", crowds: "count", rung: "count", bound: "count", classes: "search", mend: "search" }; // all others are slow, or wait as if they were
const answers = new Map(), busy = new Map(); // answers by key; for each lane the answer on its way

// -- what an answer is computed from -------------------------------------------------------------------------

function basis(verb) {
  const { input, columns, axes, goal, cut, labels } = state.plan;
  if (verb === "inspect" || verb === "glance") return [input];
  if (verb === "crowds") return [input, columns];
  const announced = ["picture", "barcode"].includes(verb) && cut.suppress ? [{ ...goal, k: null }, cut.weights] : []; // what the regime cut would publish
  if (["hierarchy", "icicle", "profile", "lattice", "zigzag", "picture", "barcode"].includes(verb)) return [input, columns, axes, labels, cut.suppress, ...announced];
  return [input, columns, axes, { ...goal, k: null }, ["rung", "bound"].includes(verb) ? { ...cut, effort: null } : cut, labels];
}

const bases = new WeakMap(); // what was written of a plan, by verb: a plan that holds is replaced, and never changed

function basisOf(verb) {
  if (!bases.has(state.plan)) bases.set(state.plan, new Map());
  const written = bases.get(state.plan);
  if (!written.has(verb)) written.set(verb, JSON.stringify(basis(verb)));
  return written.get(verb);
}

const keyOf = (verb, options) => `${state.id} ${verb} ${JSON.stringify(options)} ${basisOf(verb)}`;

export const find = (verb, options = {}) => (state.plan ? answers.get(keyOf(verb, options)) ?? null : null);
export const found = (verb, options = {}) => find(verb, options)?.data ?? null;

// Ask if nobody did; the answer comes by the store.
export function need(verb, options = {}) {
  const entry = find(verb, options);
  if (entry || busy.has(laneOf(verb))) return entry;
  start(verb, options);
  return find(verb, options);
}

const laneOf = (verb) => LANES[verb] ?? "slow";

async function start(verb, options) {
  const lane = laneOf(verb), key = keyOf(verb, options), { id } = state;
  const entry = { id, verb, options, data: null, fault: null, progress: null, began: performance.now() };
  answers.set(key, entry);
  busy.set(lane, { key, entry });
  set({ version: state.version + 1 });
  try {
    await saved();
    if (state.id !== id || keyOf(verb, options) !== key) throw Object.assign(new Error(), { status: 409 });
    entry.data = await run(id, { verb, options, revision: state.revision }, (job) => { entry.progress = job; if (entry.isUnwanted) stop(entry); set({ progress: state.progress + 1 }); });
  } catch (fault) {
    if (fault.status === 409 || entry.isUnwanted) answers.delete(key);
    entry.fault = fault;
  }
  if (busy.get(lane)?.entry === entry) busy.delete(lane);
  if (state.id === id) set({ version: state.version + 1 });
}

export async function stop(entry) {
  if (entry.progress) await cancel(entry.id, entry.progress.job).catch(() => {});
}

// Ask once more what was stopped or refused.
export function again(verb, options) {
  answers.delete(keyOf(verb, options));
  set({ version: state.version + 1 });
}

// What a drawer shows: of a column its one answer; otherwise all that only it asks for, and whether more can be asked.
export function contents({ column }) {
  const entry = column && state.plan && find("hierarchy", { column });
  if (column) return [entry?.data, entry?.fault, Boolean(entry) || busy.has("slow")];
  return [[...answers.values()].filter(({ verb, data, fault }) => laneOf(verb) === "slow" && (data || fault)).length, busy.has("slow"), state.opened];
}

// What is on its way, for whoever shows it.
export const working = () => [...busy.values()].map(({ entry }) => entry);

// -- what is asked, and in which order -------------------------------------------------------------------------

// All columns and the number of rows, as soon as the file is read.
export const glance = () => {
  const seen = state.plan && about();
  return seen ? { columns: seen.columns.map(({ column }) => column), rows: seen.rows } : state.plan && found("glance");
};
export const about = () => state.plan && found("inspect", INSPECT);
const INSPECT = { rows: 0, costs: false };
export const notRead = () => state.plan && find("inspect", INSPECT)?.fault; // why there is no table
export const waitingFor = () => (about() ? "waiting" : notRead() ? "notRead" : "beingRead");
export const isReady = () => Boolean(about()) && quasi().length > 0 && !unsaid().length;
export const unsaid = () => (about()?.columns ?? []).map(({ column }) => column).filter((column) => !roleNow(column));
const roleNow = (column) => state.dropped.includes(column) || Object.values(state.plan.columns).some((list) => Array.isArray(list) && list.includes(column));

export const most = () => crowds()?.people ?? about()?.rows ?? smallestK(); // the largest k
export const smallestK = () => fieldOf("k").offered[0];
export const ladder = () => fieldOf("k").offered.filter((k) => k <= most() / 2 || k === smallestK());
export const crowds = () => found("crowds");
const rungOptions = (k) => ({ k, with_rows: about().rows <= MANY });
export const chosenK = () => state.plan.goal.k ?? null;
const isSearch = () => state.plan.cut.eps == null;

function pump() {
  leaveTables();
  if (!state.id || !state.plan) return;
  const first = need("glance");
  if (!first?.fault && !state.isGlimpsed) return; // rows are seen before they are counted
  const seen = need("inspect", INSPECT)?.data;
  if (!seen) return;
  if (isFresh() && !suggested.has(state.id)) { suggest(seen); return; }
  if (isPlanned() && unsaid().length) { leaveOutRest(); return; }
  if (!isReady()) return;
  const k = chosenK(), chosen = { k, with_rows: true };
  if (need("crowds") && isSearch() && k != null) need("rung", chosen); // beside the search, which waits for neither
  leaveSearch(k, chosen);
  if (awaitsPreview()) return;
  const exact = need("classes", chosen);
  if (!(exact?.data || exact?.fault)) return;
  if (k != null && Object.keys(exact.data?.shared?.given_away ?? {}).length) need("mend", { k });
  if (isSearch()) for (const rung of near(k)) if (!need("rung", rungOptions(rung))) return;
  if (isSearch()) for (const rung of near(k)) if (!need("bound", { k: rung })) return;
}

// Of a table of which nothing is known yet the preview comes first: a search beside it would take its time.
function awaitsPreview() {
  const isKnown = [...answers.values()].some(({ id, verb, data, fault }) => id === state.id && verb === "rung" && (data || fault));
  return isSearch() && chosenK() != null && !find("crowds")?.fault && !isKnown;
}

// What another table asked for is not waited for.
function leaveTables() {
  for (const [lane, { entry }] of busy) if (entry.id !== state.id) { entry.isUnwanted = true; stop(entry); busy.delete(lane); }
}

// For each k the loss below which no release is possible, as far as that is proven.
export const bounds = () => ladder().map((k) => found("bound", { k })).filter((told) => told?.loss_lower_bound != null);
const near = (k) => ladder().sort((a, b) => Math.abs(Math.log(a / (k ?? exampleOf("k")))) - Math.abs(Math.log(b / (k ?? exampleOf("k")))));

// A search for other settings goes on for a while, since somebody may come back to it.
function leaveSearch(k, chosen) {
  const { key, entry } = busy.get("search") ?? {};
  if (!entry || key === keyOf("classes", chosen) || key === keyOf("mend", { k })) return;
  const left = PATIENCE - (performance.now() - entry.began);
  if (left > 0) setTimeout(pump, left);
  else { entry.isUnwanted = true; stop(entry); }
}

// -- roles that the studio suggests ------------------------------------------------------------------------------

const isFresh = () => !state.dropped.length && !Object.values(state.plan.columns).some((list) => Array.isArray(list) && list.length) && !state.past.length;

export function suggestedRole(column, all) {
  if (column.role === "plain" || (column.role === "quasi-identifier" && column.trouble)) return "drop";
  if (column.role === "identifier" && column.repeats && !all.some(({ role }) => role === "person")) return "drop";
  return column.role;
}

const suggested = new Set(); // tables whose roles were suggested: a refusal is not met by the same again

// A plan that was named with the table says what is published; the page changed nothing yet.
const isPlanned = () => state.revision === 0 && !state.past.length && !isFresh() && !suggested.has(state.id);

function leaveOutRest() {
  suggested.add(state.id);
  edit((next) => { next.dropped = [...next.dropped, ...unsaid()]; }).then(() => set({ past: [] }));
}

function suggest({ columns, rows }) {
  suggested.add(state.id);
  edit((next) => {
    giveRoles(next, Object.fromEntries(columns.map((column) => [column.column, suggestedRole(column, columns)])));
    for (const column of columns) if (column.suggested && !Object.keys(column.input).length && suggestedRole(column, columns) === "quasi-identifier") next.plan.axes[column.column] = { kind: column.suggested };
    next.plan.goal.k ??= next.plan.cut.eps == null ? Math.max(smallestK(), Math.min(exampleOf("k"), Math.floor(rows / 3))) : null;
  }).then(() => set({ past: [] }));
}

// -- what is shown ---------------------------------------------------------------------------------------------

let last = null; // the answer that was shown last, for as long as there is no other

// The answer for the chosen k, or under the line while it is dragged: exact, else prepared, else the last one, dimmed.
export function shown() {
  if (!state.plan || !isReady()) return null;
  const k = state.drag ?? chosenK(), exact = found("classes", { k, with_rows: true });
  const prepared = exact ?? found("rung", { k, with_rows: true });
  const near = state.drag != null && !prepared ? nearest(k) : null;
  const data = prepared ?? near;
  if (data) {
    last = { data, id: state.id };
    return { data, preview: !exact, stale: false, fault: null };
  }
  const refused = find("classes", { k, with_rows: true })?.fault ?? find("rung", { k, with_rows: true })?.fault ?? find("crowds")?.fault;
  return last?.id === state.id || refused ? { data: last?.id === state.id ? last.data : null, preview: false, stale: true, fault: refused ?? null } : null;
}

// What decides how the answer looks, for whoever draws it.
export function looks() {
  const answer = state.plan && isReady() ? shown() : null;
  return [answer?.data, answer?.stale, answer?.preview, answer?.fault, state.plan && about(), state.plan && crowds(), found("glance")];
}

function nearest(k) {
  const ready = ladder().map((rung) => found("rung", rungOptions(rung))).filter(Boolean);
  return ready.sort((a, b) => Math.abs(a.figures.k - k) - Math.abs(b.figures.k - k))[0] ?? null;
}

// Every k that is known with its loss: prepared, or searched for.
export function curve() {
  const points = new Map();
  for (const { verb, data, options } of answers.values()) {
    if (!data || (verb !== "rung" && verb !== "classes") || data.figures.k == null) continue;
    const isNow = answers.get(keyOf(verb, options))?.data === data;
    if (isNow && (verb === "classes" || !points.has(data.figures.k))) points.set(data.figures.k, { k: data.figures.k, loss: data.figures.loss, classes: data.figures.classes, exact: verb === "classes" });
  }
  return [...points.values()].sort((a, b) => a.k - b.k);
}

export const begin = () => watch(({ id, plan, version, dropped, isGlimpsed }) => [id, plan, version, dropped, isGlimpsed], pump);
