// The store: one plain object, whoever watches a part of it, and the changes of the plan that can be undone.

import { request } from "./api.js";
import { say } from "./dom.js";
import { t } from "./text.js";

export const state = {
  known: null, // what the studio holds: examples, tables, series, releases
  cuts: {}, // the rules of every cut
  fields: {}, // of a plan: the choices, the limits, the default and an example of each
  roles: {}, // of columns, each with its field in a plan
  sensitiveGoals: [], // fields of a plan that need a sensitive column
  lKinds: {}, axisKinds: {}, // the rules of every way to count values for l, and of every kind of axis
  endings: {}, // of files: those that are read, those among them that are text, and those that are written
  id: null, name: "", source: null, revision: 0, plan: null, dropped: [],
  isGlimpsed: false, // its first rows were seen
  past: [], future: [],
  fault: null, // a refused change: { field, message }
  drag: null, // the k under the line while it is dragged
  mode: "k", zoom: 0, eps: null,
  view: "both", filter: "all", grouped: true, lit: -1,
  drawer: null, opened: 0, // the panel at the side: { kind, ... }; it grows with what is opened in it
  pins: [],
  version: 0, progress: 0, // they grow with every answer, and with every word on the way to one
  theme: 0, // grows with every change of colours or language
};

const watchers = new Set();
let asked = false;

export function set(change) {
  Object.assign(state, change);
  if (asked) return;
  asked = true;
  queueMicrotask(() => {
    asked = false;
    for (const look of watchers) look();
  });
}

// Draw now, and again whenever what `read` gives is another list of things.
export function watch(read, draw) {
  let last = null;
  const look = () => {
    const now = read(state);
    if (last && now.every((value, at) => Object.is(value, last[at]))) return;
    last = now;
    draw(state);
  };
  watchers.add(look);
  look();
}

// -- the plan ------------------------------------------------------------------------------------------------

const PARTS = ["input", "columns", "axes", "goal", "cut", "labels"];
const whole = (plan) => ({ ...Object.fromEntries(PARTS.map((part) => [part, {}])), ...plan });

// The plan as the server tells it; what could be undone stays.
export function take(told) {
  set({ id: told.id, name: told.name, source: told.source, revision: told.revision, plan: whole(told.plan), dropped: told.dropped, running: told.running });
}

// Change the plan here and on the server. A refusal stands beside its field, and the plan of before holds.
export function edit(change, field = "") {
  const before = { plan: state.plan, dropped: state.dropped }, next = structuredClone(before);
  change(next);
  next.plan = whole(tidy(next.plan));
  if (JSON.stringify(next) === JSON.stringify(before)) return saving;
  return save(field, { ...next, past: [...state.past, before], future: [] });
}

export function undo() { return step("past", "future"); }
export function redo() { return step("future", "past"); }

function step(from, to) {
  if (!state[from].length) return saving;
  const now = { plan: state.plan, dropped: state.dropped }, before = state[from].at(-1);
  return save("", { ...before, [from]: state[from].slice(0, -1), [to]: [...state[to], now] });
}

let saving = Promise.resolve(), pending = 0, held = null; // what the server holds while changes are on their way to it
export const saved = () => saving;
const planned = ({ id, plan, dropped, past, future }) => ({ id, plan, dropped, past, future });

function save(field, change) {
  const { id } = state;
  if (!pending || held.id !== id) held = planned(state);
  pending += 1;
  set({ ...change, fault: null });
  saving = saving.then(async () => {
    if (state.id !== id) return;
    const sent = planned(state);
    try {
      const told = await request("PUT", `/api/tables/${id}`, { plan: tidy(sent.plan), dropped: sent.dropped, revision: state.revision });
      held = sent;
      set({ revision: told.revision });
    } catch (fault) {
      if (fault.status === 409) {
        take(await request("GET", `/api/tables/${id}`));
        set({ past: [], future: [] });
        say(t("otherTab"));
      } else {
        set({ ...held, fault: { field, get message() { return fault.message; } } });
      }
    }
  }).finally(() => { pending -= 1; });
  return saving;
}

// What is not set is left out.
function tidy(value) {
  if (Array.isArray(value) || value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner != null && inner !== "").map(([name, inner]) => [name, tidy(inner)]));
}

// -- roles ---------------------------------------------------------------------------------------------------

export function roleOf(column, { plan, dropped } = state) {
  if (dropped.includes(column)) return "drop";
  return Object.keys(state.roles).find((role) => (plan.columns[state.roles[role]] ?? []).includes(column)) ?? "";
}

export function giveRoles(next, roles) {
  for (const [role, list] of Object.entries(state.roles)) next.plan.columns[list] = Object.keys(roles).filter((column) => roles[column] === role);
  next.dropped = Object.keys(roles).filter((column) => roles[column] === "drop");
  if (!next.plan.columns.person.length) next.plan.goal.protect_history = null; // nobody has a history then
  if (!next.plan.columns.sensitive.length) for (const goal of state.sensitiveGoals) next.plan.goal[goal] = null;
  if (next.plan.cut.levels && Object.keys(next.plan.cut.levels).sort().join() !== [...next.plan.columns.quasi_identifiers].sort().join()) next.plan.cut.levels = null;
  for (const column of Object.keys(next.plan.cut.weights ?? {})) if (roles[column] !== "quasi-identifier") delete next.plan.cut.weights[column];
  if (!Object.keys(next.plan.cut.weights ?? {}).length) next.plan.cut.weights = null;
}

export const quasi = () => state.plan?.columns.quasi_identifiers ?? [];
export const sensitive = () => state.plan?.columns.sensitive ?? [];
export const countsPeople = () => (state.plan?.columns.person ?? []).length > 0;
