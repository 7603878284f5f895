// Step 5: the goal, and what it does to people's rows.

import { cancel } from "./api.js";
import { button, field, h, input, keepingFocus, refusal, replace, select } from "./dom.js";
import { count, loss } from "./numbers.js";
import { waitsForRoles } from "./roles.js";
import { INSPECTED } from "./table.js";
import { inPageWords } from "./words.js";
import { work } from "./work.js";

const L_KINDS = { distinct: "distinct values", recursive: "recursive (c, l)" };
const T_KINDS = { equal: "equal: any other value", ordered: "ordered: along the order" };
const GOALS = ["k", "eps", "cut", "suppress", "effort", "l", "l_kind", "c", "t", "t_kind", "alpha", "protect_history"];
const EFFORTS = [["quick", "quick"], ["", "normal"], ["best", "best"]];

export async function show(root, context) {
  const { table, go } = context, busy = h("div", { class: "slot" }), trouble = h("div", {}), price = h("div", {}), result = h("div", { class: "outcome" });
  const next = button("Continue to the release", () => go("release"), "main", { disabled: true });
  const about = await work(busy, context, "inspect", INSPECTED, "Looking at the columns");
  if (!about) { replace(root, h("h1", {}, "Choose"), busy); return; }
  if (waitsForRoles(root, context, "Choose", about)) return;
  let turn = 0, current = null, most = about.rows;
  if (table.asked("k") == null && table.asked("eps") == null) {
    most = await table.mostToHideAmong(about.rows, context.signal);
    await table.ask({ k: Math.min(5, most) });
  }
  async function look() {
    const mine = ++turn;
    next.disabled = true;
    if (current) await cancel(table.id, current).catch(() => {}); // nobody waits for what is not wanted any more
    if (mine !== turn) return;
    const ask = (options, title) => work(busy, context, "preview", options, title, { named: ({ job }) => { if (mine === turn) current = job; } });
    const cost = table.asked("protect_history") ? await ask({ price: true }, "Counting histories") : null;
    if (mine !== turn) return;
    replace(price, cost && priceOf(cost)); // before the search, which may be refused or take long
    const found = table.asked("protect_history") && !cost ? null : await ask({}, "Trying it");
    if (mine !== turn) return;
    current = null;
    replace(result, found && preview(found));
    next.disabled = !found;
  }
  const set = (change) => table.ask(change).then(() => { replace(trouble); keepingFocus(form, draw); return look(); }, (fault) => { replace(trouble, refusal(fault)); });
  const form = h("div", {}), crowd = h("p", { class: "hint" }, "k counts different people.");
  const number = (name, more) => input("number", table.asked(name) ?? "", (value) => set({ [name]: value === "" ? null : Number(value) }), more);

  function draw() {
    const now = Object.fromEntries(GOALS.map((name) => [name, table.asked(name)])), cut = now.cut ?? table.fields.cut.default;
    const secret = (table.asked("sensitive") ?? []).length > 0, rules = table.cuts[cut];
    replace(form, h("div", { class: "bar" },
      field("k", number("k", { min: 1, max: most, step: 1 }), table.countsPeople ? "people to hide among" : "rows to hide among"),
      field("Cut", select(Object.entries(table.cuts).map(([name, { purpose }]) => [name, `${name}: ${purpose}`]), cut, (value) => set({ cut: value }))),
      field("Left out (%)", input("number", 100 * (now.suppress ?? 0), (value) => set({ suppress: Number(value) / 100 || null }), { min: 0, max: 99, step: 0.1 }), "rows, at most"),
      rules.is_searched && field("Search", select(EFFORTS, now.effort ?? "", (value) => set({ effort: value || null })))),
      table.countsPeople && historySwitch(now, rules),
      secret && h("div", { class: "bar" }, sensitiveGoals(now)));
  }
  function historySwitch(now, rules) {
    const hint = rules.keeps_histories ? table.fields.protect_history.help : `Only the cut ${keepers(table)} keeps the rows of a person together.`;
    const box = h("input", { type: "checkbox", checked: Boolean(now.protect_history), disabled: !rules.keeps_histories, onchange: () => set({ protect_history: box.checked || null }) });
    return h("div", { class: "bar" }, field("Protect whole histories", box, hint, "field row"));
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
  replace(root, h("div", { class: "headline" }, h("h1", {}, "Choose"), busy), table.countsPeople && crowd, form, trouble, price, result, h("div", { class: "next" }, next, button("Back", () => go("spectrum"))));
  const counting = table.countsPeople && table.mostToHideAmong(about.rows, context.signal).then((people) => {
    most = people;
    crowd.textContent = `k counts different people: ${count(people)} in the table.`;
    return keepingFocus(form, draw);
  });
  await Promise.all([look(), counting]);
}

const keepers = ({ cuts }) => Object.keys(cuts).filter((name) => cuts[name].keeps_histories).join(", ");

function priceOf({ words }) {
  return h("section", { class: "panel price" }, h("header", {}, h("h2", {}, "What whole histories cost"), h("span", { class: "private" }, "PRIVATE")),
    h("ul", { class: "words" }, words.map((text) => h("li", {}, inPageWords(text)))));
}

function preview(found) {
  const most = Math.max(...found.columns.map((column) => column.loss), 1e-9);
  return h("div", { class: "grid choose" },
    h("section", { class: "panel" }, h("h2", {}, "What it does"), h("ul", { class: "words" }, [...found.words, ...found.columns.map((column) => column.words)].map((text) => h("li", {}, inPageWords(text))))),
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
