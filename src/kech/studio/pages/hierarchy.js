// How one column is blurred: its kind, its edges, and its hierarchy, which can be edited, imported and exported.

import { request, run } from "./api.js";
import { button, field, h, input, quoted, refusal, replace, say, select } from "./dom.js";
import { defaultOf, fieldOf, optionsOf } from "./forms.js";
import { about, find, need } from "./model.js";
import { saveAs } from "./pictures.js";
import { edit, saved, state } from "./store.js";
import { t } from "./text.js";
import { leavesOf, pathUp, plant, toLines, treeEditor } from "./tree.js";

const MOST_VALUES = 20_000, MANY = 500; // of a column whose tree is shown; values offered by name
const edited = new Map(); // trees that were changed and not used yet, by table, column and what they were built from

export function drawHierarchy(column) {
  const axis = state.plan.axes[column] ?? {}, { distinct, type } = about().columns.find((one) => one.column === column);
  const put = (change) => edit((next) => { next.plan.axes[column] = { ...next.plan.axes[column], ...change }; next.plan.cut.levels = null; }, "axis");
  const rules = (kind) => state.axisKinds[kind] ?? {}, isLine = (kind) => rules(kind || type).has_grid, hasEdges = !axis.hierarchy && isLine(axis.kind);
  const isMany = distinct > MOST_VALUES && !axis.hierarchy, entry = isMany ? null : need("hierarchy", { column }) ?? find("hierarchy", { column });
  const kind = select([["", t("kind:")], ...optionsOf("axes.kind", "kind")], axis.kind ?? "", (value) => (rules(value).needs_order ? askOrder(value) : put({ kind: value, order: null, grid: isLine(value) ? axis.grid : null, domain: isLine(value) ? axis.domain : null })));
  const askOrder = (kind) => put({ kind, order: entry?.data ? leavesOf(plant(entry.data.tree), MANY).map(({ label }) => label).sort() : [], grid: null, domain: null });
  return [h("div", { class: "fields" }, field(t("kind"), kind),
    hasEdges && field(t("grid"), input("text", String(axis.grid ?? state.plan.labels.grid ?? defaultOf("grid")), (text) => put({ grid: fieldOf("axes.grid").choices.includes(text.trim()) ? text.trim() : Number(text) || text }), { size: 10 }), t("gridHint")),
    rules(axis.kind).needs_order && field(t("order"), h("textarea", { rows: 5, onchange: (event) => put({ order: lines(event.target.value) }) }, (axis.order ?? []).join("\n")), t("orderHint"))),
  state.fault?.field === "axis" && h("p", { class: "refusal", role: "alert" }, state.fault.message), isMany && h("p", { class: "note" }, t("tooMany", { n: distinct })),
  entry?.fault && refusal(entry.fault), entry && !entry.data && !entry.fault && h("p", { class: "hint" }, t("computing")), entry?.data && tree(entry.data, column, hasEdges)];
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function tree(found, column, isLine) {
  const own = Boolean(state.plan.axes[column]?.hierarchy), key = JSON.stringify([state.id, column, state.plan.axes[column], found.levels]), trouble = h("div", {});
  const held = edited.get(key) ?? { roots: plant(found.tree), isChanged: false };
  const use = button(t("useTree"), () => keep(new Blob([toLines(held.roots)]), "edited.csv"), "main", { disabled: !held.isChanged });
  const live = becomes(held);
  const editor = treeEditor(held, () => { held.isChanged = true; edited.set(key, held); use.disabled = false; live.draw(); });
  const send = (blob, name) => request("POST", `/api/tables/${state.id}/trees?name=${encodeURIComponent(name)}`, blob);
  const ask = (options) => run(state.id, { verb: "hierarchy", options });

  // A hierarchy is checked against the column before it is used; one of unequal depth is padded.
  async function keep(blob, name) {
    try {
      await saved();
      const { hierarchy: source } = await send(blob, name);
      let chosen = source;
      try {
        await ask({ column, source });
      } catch (fault) {
        const padded = await ask({ column, source, pad: true }).catch(() => { throw fault; });
        chosen = (await send(new Blob([toLines(plant(padded.tree))]), "padded.csv")).hierarchy;
      }
      edited.delete(key);
      await edit((next) => { next.plan.axes[column] = { ...next.plan.axes[column], hierarchy: chosen, kind: null, grid: null, order: null, domain: null }; next.plan.cut.levels = null; }, "axis");
      say(t("used", { column: quoted(column) }));
    } catch (fault) {
      replace(trouble, refusal(fault));
    }
  }
  const file = h("input", { type: "file", id: "tree-file", class: "unseen", accept: ".csv,.toml,.json", onchange: (event) => event.target.files[0] && keep(new Blob([event.target.files[0]]), event.target.files[0].name) });
  return h("div", {}, trouble, h("h3", {}, t("becomes")), live.element,
    h("h3", {}, `${t("hierarchy")} `, h("span", { class: "private" }, t("private"))), h("p", { class: "hint" }, `${t(own ? "own" : isLine ? "lineNote" : "built")} ${t("levels", found)}`),
    editor, h("div", { class: "bar" }, use, button(t("exportTree"), () => saveAs(new Blob([toLines(held.roots)], { type: "text/csv" }), `${column}.csv`)), own && button(t("forget"), () => edit((next) => { next.plan.axes[column].hierarchy = null; next.plan.cut.levels = null; }, "axis"))),
    h("p", {}, file, h("label", { for: "tree-file", class: "button" }, t("importTree")), " ", h("span", { class: "hint" }, t("importHint"))));
}

function becomes(held) {
  const leaves = leavesOf(held.roots, MANY), path = h("ol", { class: "becomes", "aria-live": "polite" });
  const value = input("text", leaves[0]?.label ?? "", () => draw(), { list: "values", autocomplete: "off" });
  value.addEventListener("input", () => draw());
  function draw() {
    const leaf = leavesOf(held.roots).find((node) => node.label === value.value);
    replace(path, leaf ? pathUp(leaf).map((label) => h("li", {}, label)) : h("li", {}, t("noValue")));
  }
  draw();
  return { draw, element: h("div", {}, field(t("aValue"), value), h("datalist", { id: "values" }, leaves.map((leaf) => h("option", { value: leaf.label }))), path) };
}
