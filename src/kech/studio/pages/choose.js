// Step 5: the goal, and what it does to people's rows.

import { cancel } from "./api.js";
import { button, field, h, input, keepingFocus, refusal, replace, select } from "./dom.js";
import { loss } from "./numbers.js";
import { waitsForRoles } from "./roles.js";
import { INSPECTED } from "./table.js";
import { work } from "./work.js";

const CUTS = { local: "local: lowest loss", minimal: "minimal: smallest blur of any row", domain: "domain: one level for a whole column", regime: "regime: connected components" };
const L_KINDS = { distinct: "distinct values", recursive: "recursive (c, l)" };
const T_KINDS = { equal: "equal: any other value", ordered: "ordered: along the order" };
const GOALS = ["k", "eps", "cut", "suppress", "effort", "l", "l_kind", "c", "t", "t_kind", "alpha"];
const EFFORTS = [["quick", "quick"], ["", "normal"], ["best", "best"]];

export async function show(root, context) {
  const { table, go } = context, busy = h("div", { class: "slot" }), trouble = h("div", {}), result = h("div", { class: "outcome" });
  const next = button("Continue to the release", () => go("release"), "main", { disabled: true });
  const about = await work(busy, context, "inspect", INSPECTED, "Looking at the columns");
  if (!about) { replace(root, h("h1", {}, "Choose"), busy); return; }
  if (waitsForRoles(root, context, "Choose", about)) return;
  if (table.asked("k") == null && table.asked("eps") == null) await table.ask({ k: Math.min(5, about.rows) });
  let turn = 0, current = null;
  async function look() {
    const mine = ++turn;
    next.disabled = true;
    if (current) await cancel(table.id, current).catch(() => {}); // nobody waits for what is not wanted any more
    if (mine !== turn) return;
    const found = await work(busy, context, "preview", {}, "Trying it", { named: ({ job }) => { if (mine === turn) current = job; } });
    if (mine !== turn) return;
    current = null;
    replace(result, found && preview(found));
    next.disabled = !found;
  }
  const set = (change) => table.ask(change).then(() => { replace(trouble); keepingFocus(form, draw); return look(); }, (fault) => { replace(trouble, refusal(fault)); });
  const form = h("div", {});
  const number = (name, more) => input("number", table.asked(name) ?? "", (value) => set({ [name]: value === "" ? null : Number(value) }), more);

  function draw() {
    const now = Object.fromEntries(GOALS.map((name) => [name, table.asked(name)])), cut = now.cut ?? table.fields.cut.default;
    const secret = (table.asked("sensitive") ?? []).length > 0;
    replace(form, h("div", { class: "bar" },
      field("k", number("k", { min: 1, max: about.rows, step: 1 }), "rows to hide among"),
      field("Cut", select(table.choices("cut", CUTS), cut, (value) => set({ cut: value, effort: ["local", "minimal"].includes(value) ? now.effort : null, suppress: value === "regime" ? null : now.suppress }))),
      cut !== "regime" && field("Left out (%)", input("number", 100 * (now.suppress ?? 0), (value) => set({ suppress: Number(value) / 100 || null }), { min: 0, max: 99, step: 0.1 }), "rows, at most"),
      ["local", "minimal"].includes(cut) && field("Search", select(EFFORTS, now.effort ?? "", (value) => set({ effort: value || null })))),
      secret && h("div", { class: "bar" }, sensitiveGoals(now)));
  }
  // What every class keeps of each sensitive column; a field that has no say yet keeps its place.
  function sensitiveGoals(now) {
    const clear = (name, value, others) => set({ [name]: value, ...(value == null ? others : {}) });
    const goal = (name, others, more) => input("number", now[name] ?? "", (value) => clear(name, value === "" ? null : Number(value), others), more);
    const kind = now.l_kind ?? table.fields.l_kind.default, counted = select(table.choices("l_kind", L_KINDS), kind, (value) => set({ l_kind: value, c: value === "recursive" ? now.c ?? 2 : null }), { disabled: now.l == null });
    return [
      field("l", goal("l", { l_kind: null, c: null }, { min: 1, step: kind === "entropy" ? 0.1 : 1 }), "values in every class"), field("l counts", counted),
      field("c", goal("c", {}, { min: 0, step: 0.1, disabled: kind !== "recursive" || now.l == null }), "of recursive l"),
      field("t", goal("t", { t_kind: null }, { min: 0, max: 1, step: 0.01 }), "distance from the table"),
      field("Distance", select(table.choices("t_kind", T_KINDS), now.t_kind ?? table.fields.t_kind.default, (value) => set({ t_kind: value }), { disabled: now.t == null })),
      field("alpha", goal("alpha", {}, { min: 0, max: 1, step: 0.01 }), "largest share of one value")];
  }
  draw();
  replace(root, h("div", { class: "headline" }, h("h1", {}, "Choose"), busy), form, trouble, result, h("div", { class: "next" }, next, button("Back", () => go("spectrum"))));
  await look();
}

function preview(found) {
  const most = Math.max(...found.columns.map((column) => column.loss), 1e-9);
  return h("div", { class: "grid choose" },
    h("section", { class: "panel" }, h("h2", {}, "What it does"), h("ul", { class: "words" }, found.words.map((text) => h("li", {}, text)))),
    h("section", { class: "panel" }, h("h2", {}, `Loss ${loss(found.figures.loss)}`),
      h("p", { class: "hint" }, "How wide a published cell is on average: 0 tells all, 1 tells nothing."),
      h("table", { class: "losses" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Column"), h("th", { scope: "col" }, "Share of the widest"), h("th", { scope: "col", class: "number" }, "Loss"))),
        h("tbody", {}, found.columns.map((column) => h("tr", {}, h("th", { scope: "row" }, column.column), h("td", {}, track(column.loss / most)), h("td", { class: "number" }, loss(column.loss))))))),
    h("section", { class: "panel wide" }, h("header", {}, h("h2", {}, "Ten rows, before and after"), h("span", { class: "private" }, "PRIVATE")), rows(found)));
}

function track(share) {
  const bar = h("i");
  bar.style.width = `${100 * share}%`;
  return h("span", { class: "track" }, bar);
}

function rows({ names, before, after }) {
  const folded = (value) => (value ?? "missing").split(/(?<=, )/).map((part) => h("span", { class: "whole" }, part)); // at its commas
  const cell = (value, old) => h("td", { title: value }, value === old ? value ?? "missing" : h("span", { class: "changed" }, folded(value)));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ten rows, before and after" }, h("table", { class: "cells folded" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Row"), names.map((name) => h("th", { scope: "col", title: name }, name)))),
    h("tbody", {}, before.map((row, at) => [
      h("tr", { class: "pair" }, h("td", {}, `${at + 1} before`), row.map((value) => h("td", { title: value }, value ?? "missing"))),
      h("tr", {}, h("td", {}, "after"), after[at] ? after[at].map((value, j) => cell(value, row[j])) : h("td", { colspan: names.length }, "left out"))]))));
}
