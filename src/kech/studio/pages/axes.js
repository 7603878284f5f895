// Step 3: how every quasi-identifier is blurred, with a live view of what a value becomes.

import { asAddress, request, run } from "./api.js";
import { button, field, h, input, keepingFocus, quoted, refusal, replace, say, select } from "./dom.js";
import { plural } from "./numbers.js";
import { waitsForRoles } from "./roles.js";
import { leavesOf, pathUp, plant, toLines, treeEditor } from "./tree.js";
import { work } from "./work.js";

const KINDS = [
  ["", "what suits it"], ["number", "numbers: intervals"], ["date", "dates: calendar intervals"], ["ordered", "an order: ranges"],
  ["hierarchy", "text: a hierarchy, or prefixes"], ["set", "text: sets of values"], ["star", "as it is, or *"],
];
const BUILT = [["", "what suits it"], ["intervals", "intervals"], ["dates", "calendar"], ["prefixes", "prefixes"], ["ordered", "neighbours by 2, 4, 8"], ["star", "all or nothing"]];
const MOST_VALUES = 20000; // of a column whose tree is shown
const MANY = 500; // values offered by name

export async function show(root, context) {
  const { table, go } = context, detail = h("section", { class: "panel axis" });
  const columns = table.quasiIdentifiers;
  if (waitsForRoles(root, context, "Axes", await table.inspect(context.signal))) return;
  let shown = new URLSearchParams(location.search).get("column") ?? columns[0];
  if (!columns.includes(shown)) shown = columns[0];
  const list = columns.map((column) => button(column, () => pick(column), "", { "aria-pressed": "false" }));
  const built = {}; // columns whose hierarchy is built otherwise, to look at
  const next = button("Continue to the spectrum", () => go("spectrum"), "main");
  let leaving = new AbortController();
  const pick = (column) => {
    leaving.abort(); // a column whose answer comes late does not take the place of the next
    leaving = new AbortController();
    const now = { ...context, built, refuse: () => { next.disabled = true; }, signal: AbortSignal.any([context.signal, leaving.signal]) };
    history.replaceState(null, "", `?column=${encodeURIComponent(column)}`);
    list.forEach((item, at) => item.setAttribute("aria-pressed", String(columns[at] === column)));
    return keepingFocus(detail, async () => { next.disabled = await showAxis(detail, now, column, () => pick(column)); });
  };
  replace(root, h("h1", {}, "How is each column blurred?"),
    h("p", { class: "hint" }, "kech has chosen something for every column. Change what you know better."),
    h("div", { class: "grid axes" }, h("nav", { "aria-label": "Quasi-identifiers" }, h("ul", { class: "choices" }, list.map((item) => h("li", {}, item)))), detail),
    h("div", { class: "next" }, next, button("Back", () => go("roles"))));
  await pick(shown);
}

// Gives whether the plan for the column is refused; what may have been the reason can be set all the same.
async function showAxis(place, context, column, again) {
  const { table } = context, trouble = h("div", {}), busy = h("div", { class: "slot" }), axis = table.axis(column);
  const failed = (fault) => replace(trouble, refusal(fault));
  const set = (change) => table.setAxis(column, change).then(again, (fault) => { context.refuse(); failed(fault); }); // the field shows what is not in the plan
  place.querySelector(".slot")?.remove();
  place.append(busy); // the column before stays until this one is known
  const { distinct, type } = (await table.inspect(context.signal)).columns.find((about) => about.column === column);
  const many = distinct > MOST_VALUES && !axis.hierarchy;
  const view = { column, ...(context.built[column] ? { kind: context.built[column] } : {}) };
  const found = many ? null : await work(busy, context, "hierarchy", view, `Building the hierarchy of ${column}`);
  const isLine = (kind) => ["number", "date"].includes(kind || type);
  const hasEdges = !axis.hierarchy && isLine(axis.kind);
  const order = field("Order, low to high", h("textarea", { rows: 5, onchange: (event) => set({ kind: "ordered", order: lines(event.target.value) }) }, (axis.order ?? []).join("\n")), "one value a line; the certificate publishes this list");
  const settings = h("div", { class: "bar" },
    field("It is read as", select(KINDS, axis.kind ?? "", (kind) => (kind === "ordered" ? askOrder() : set({ kind, order: null, grid: isLine(kind) ? axis.grid : null })))),
    hasEdges && field("Edges of intervals", gridField(axis, set), "round hides every edge among k rows"),
    axis.kind === "ordered" && order,
    !found && context.built[column] && builtAs(context.built, column, again),
    h("datalist", { id: "grids" }, ["round", "exact", "1", "5", "10"].map((value) => h("option", { value }))));
  const askOrder = () => {
    const values = found ? leavesOf(plant(found.tree), MANY).map((leaf) => leaf.label) : [];
    set({ kind: "ordered", order: values.sort(), grid: null });
  };
  const note = `${plural(distinct, "value")}: too many for a tree to look at. They are blurred as above; kech hierarchy writes the tree to a file.`;
  const refused = !found && !many && h("div", {}, ...busy.childNodes);
  replace(place, h("h2", {}, column), trouble, refused, settings, many && h("p", { class: "note" }, note), found && hierarchy(found, context, column, again, failed, hasEdges));
  return Boolean(refused) && !context.built[column];
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function gridField(axis, set) {
  return input("text", axis.grid == null ? "round" : String(axis.grid), (text) => set({ grid: ["round", "exact"].includes(text.trim()) ? text.trim() : Number(text) || text }), { list: "grids", size: 10 });
}

const builtAs = (built, column, again) => field("Build it as", select(BUILT, built[column] ?? "", (kind) => { built[column] = kind; again(); }));

function hierarchy(found, context, column, again, failed, isLine) {
  const { table } = context, roots = plant(found.tree), own = Boolean(table.axis(column).hierarchy);
  const save = button("Use this hierarchy", () => keep(new Blob([toLines(roots)]), "edited.csv"), "main", { disabled: true });
  const live = becomes(roots);
  const editor = treeEditor(roots, () => { save.disabled = false; live.draw(); });
  const send = (blob, name) => request("POST", `/api/tables/${table.id}/trees?name=${encodeURIComponent(name)}`, blob);

  // A hierarchy is checked against the column before it is used; one of unequal depth is padded.
  async function keep(blob, name) {
    try {
      const { hierarchy: source } = await send(blob, name);
      let use = source;
      try {
        await run(table.id, "hierarchy", { column, source });
      } catch (fault) {
        const padded = await run(table.id, "hierarchy", { column, source, pad: true }).catch(() => { throw fault; });
        use = (await send(new Blob([toLines(plant(padded.tree))]), "padded.csv")).hierarchy;
      }
      await table.setAxis(column, { hierarchy: use });
      say(`${quoted(column)} is now published with this hierarchy.`);
      await again();
    } catch (fault) {
      failed(fault);
    }
  }
  const file = h("input", { type: "file", accept: ".csv,.toml,.json", onchange: (event) => event.target.files[0] && keep(new Blob([event.target.files[0]]), event.target.files[0].name) });
  const download = async () => {
    const { hierarchy: name } = await send(new Blob([toLines(roots)]), "export.csv");
    h("a", { href: await asAddress(`/api/tables/${table.id}/trees/${name}`), download: `${column}.csv` }).click();
  };
  const note = own ? "This hierarchy is yours: the column is published with its labels."
    : isLine ? "Levels of the lattice. A release by the local or the minimal cut takes free intervals instead, unless you use this hierarchy."
    : "Built by kech. Rename or group labels, or import your own.";
  return h("div", {},
    h("h3", {}, "What a value becomes"), live.element,
    h("h3", {}, "Hierarchy ", h("span", { class: "private" }, "PRIVATE")),
    h("p", { class: "hint" }, `${note} ${plural(found.leaves, "value")}, levels with ${found.levels.join(", ")} labels.`),
    h("div", { class: "bar" },
      !own && builtAs(context.built, column, again),
      field("Import a hierarchy", file, "CSV as ARX writes it, TOML or JSON"),
      button("Export as CSV", () => download().catch(failed)),
      own && button("Forget it", () => table.setAxis(column, { hierarchy: null }).then(again, failed))),
    editor, save);
}

function becomes(roots) {
  const leaves = leavesOf(roots, MANY), path = h("ol", { class: "becomes", "aria-live": "polite" });
  const value = input("text", leaves[0]?.label ?? "", () => draw(), { list: "values", autocomplete: "off" });
  value.addEventListener("input", () => draw());
  function draw() {
    const leaf = leavesOf(roots).find((node) => node.label === value.value);
    replace(path, leaf ? pathUp(leaf).map((label) => h("li", {}, label)) : h("li", {}, "no value of this column"));
  }
  draw();
  const some = h("datalist", { id: "values" }, leaves.map((leaf) => h("option", { value: leaf.label })));
  return { draw, element: h("div", {}, h("div", { class: "bar" }, field("A value", value), some), path) };
}
