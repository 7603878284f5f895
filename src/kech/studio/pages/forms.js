// Forms: every choice, default and limit comes from the fields of a request, as the server describes them.

import { input, select } from "./dom.js";
import { state } from "./store.js";
import { t } from "./text.js";

export const fieldOf = (name) => state.fields[name];
export const defaultOf = (name) => fieldOf(name).default;
export const exampleOf = (name) => Number(fieldOf(name).example); // a number to begin with

// The choices of a field, or the values that it offers, each with its words.
export const optionsOf = (name, words = name) => [...fieldOf(name).choices, ...fieldOf(name).offered].map((one) => [one, t(`${words}:${one}`)]);

// A list of the choices of a field; what is not set is its default.
export const choose = (name, words, value, put) => select(optionsOf(name, words), String(value ?? defaultOf(name)), put);

// A box for the numbers of a field; `scale` is 100 where a share is typed in percent.
export function numberBox(name, value, put, { scale = 1, ...more } = {}) {
  const limits = Object.entries(fieldOf(name).numbers).filter(([, limit]) => limit != null);
  return input("number", value, put, { ...Object.fromEntries(limits.map(([side, limit]) => [side, round(limit * scale)])), ...more });
}

const round = (number) => Number(number.toPrecision(12));

// -- cuts and kinds of l ---------------------------------------------------------------------------------------

export const cutOf = (plan) => plan.cut.cut ?? defaultOf("cut");
export const rulesOf = (plan) => state.cuts[cutOf(plan)];
export const cutThat = (rule) => Object.keys(state.cuts).find((name) => state.cuts[name][rule]); // the first cut with this rule
export const kindOf = (goal) => goal.l_kind ?? defaultOf("l_kind");
export const countRules = (kind) => state.lKinds[kind];

// Take a cut; what it cannot do is not asked of it. An eps takes the place of k, and leaves no row out.
export function takeCut(next, name, more = {}) {
  const rules = state.cuts[name], { goal, cut } = next.plan;
  Object.assign(cut, { cut: name, eps: null, levels: null, gap: null, ...(rules.has_objective ? {} : { objective: null }), ...(rules.by_components ? { target: null } : { reading: null, field: null }), ...(rules.measures_balls ? {} : { metric: null }), ...(rules.is_searched ? {} : { effort: null, weights: null }), ...more });
  if (!rules.keeps_histories) goal.protect_history = null;
  if (cut.eps != null) { goal.k = null; cut.suppress = null; }
}
