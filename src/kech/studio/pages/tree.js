// A hierarchy as a tree that can be edited: group by dragging, rename, take apart, undo. Values at the bottom, one label above all.

import { button, field, h, input, replace } from "./dom.js";
import { count } from "./numbers.js";
import { t } from "./text.js";

const SHOWN = 200; // children drawn at once

// Nodes of the server's JSON, with a way up.
export function plant(nodes, parent = null) {
  return nodes.map((node) => {
    const made = { label: node.label, rows: node.rows, parent, open: parent === null || (nodes.length === 1 && parent.open) };
    made.children = plant(node.children, made);
    return made;
  });
}

// The lines of a hierarchy file: a value, then its labels upward. Every node stands as high above all its values as above the
// deepest of them; a value that gets there sooner repeats the label it has.
export function toLines(roots) {
  const heights = new Map();
  const measure = (node) => {
    heights.set(node, Math.max(-1, ...node.children.map(measure)) + 1);
    return heights.get(node);
  };
  const top = Math.max(...roots.map(measure));
  return leavesOf(roots).map((leaf) => {
    const path = [];
    for (let node = leaf; node; node = node.parent) {
      const until = node.parent ? heights.get(node.parent) : top + 1;
      while (path.length < until) path.push(quoted(node.label));
    }
    return path.join(";");
  }).join("\n") + "\n";
}

const quoted = (text) => (/[";\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export function leavesOf(roots, most = Infinity) {
  const found = [], todo = [...roots].reverse();
  while (todo.length && found.length < most) {
    const node = todo.pop();
    if (node.children.length) todo.push(...[...node.children].reverse());
    else found.push(node);
  }
  return found;
}

// What a value becomes at each level, without labels that repeat.
export function pathUp(leaf) {
  const labels = [];
  for (let node = leaf; node; node = node.parent) if (labels.at(-1) !== node.label) labels.push(node.label);
  return labels;
}

const strip = (nodes) => nodes.map(({ label, rows, open, children }) => ({ label, rows, open, children: strip(children) }));
function restore(nodes, parent = null) {
  return nodes.map((node) => { const made = { ...node, parent }; made.children = restore(node.children, made); return made; });
}

// The editor of `held.roots`. `changed` hears of every edit.
export function treeEditor(held, changed) {
  const chosen = new Set(), past = held.past ??= [], list = h("ul", { class: "tree", "aria-label": t("hierarchy") });
  const name = input("text", "", () => {}), told = h("span", { class: "hint", role: "status" });
  const back = button(t("undoTree"), stepBack, "small");
  let dragged = null;

  function siblingsOf(node) { return node.parent ? node.parent.children : held.roots; }
  function act(text, change, next) {
    past.push(strip(held.roots));
    change();
    show(text, next);
  }
  function stepBack() {
    if (!past.length) return;
    held.roots = restore(past.pop());
    chosen.clear();
    show(t("undone"), "");
  }
  // `next` is the button on which somebody without a mouse goes on; where it is gone, the undo.
  function show(text, next) {
    told.textContent = text;
    draw();
    changed();
    if (next === undefined || (element.contains(document.activeElement) && !document.activeElement.disabled)) return;
    ([...list.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === next) ?? (back.disabled ? name : back)).focus();
  }
  function join(nodes, label) {
    const { parent } = nodes[0] ?? {}, siblings = nodes[0] && siblingsOf(nodes[0]);
    if (nodes.length < 2 || nodes.some((node) => node.parent !== parent)) { told.textContent = t("groupHint"); return; }
    if (!label.trim()) { told.textContent = t("giveLabel"); name.focus(); return; }
    act(t("grouped"), () => {
      const made = { label: label.trim(), rows: nodes.reduce((sum, node) => sum + node.rows, 0), parent, children: nodes, open: true };
      siblings.splice(siblings.indexOf(nodes[0]), 0, made);
      nodes.forEach((node) => { siblings.splice(siblings.indexOf(node), 1); node.parent = made; });
      chosen.clear();
      name.value = "";
    });
  }
  const dissolve = (node) => act(t("apart"), () => {
    const siblings = siblingsOf(node);
    siblings.splice(siblings.indexOf(node), 1, ...node.children);
    node.children.forEach((child) => { child.parent = node.parent; });
  }, "");
  function draw() {
    replace(list, held.roots.map(line));
    back.disabled = !past.length;
  }

  function line(node) {
    const inside = node.children.length > 0, below = h("ul", { hidden: !node.open }), label = h("span", { class: "label" }, node.label);
    const fold = inside && button(node.open ? "▾" : "▸", () => unfold(!node.open), "fold", { "aria-expanded": String(node.open), "aria-label": t("under", { label: node.label }) });
    const pick = h("input", { type: "checkbox", "aria-label": t("choose", { label: node.label }), onchange: (event) => chosen[event.target.checked ? "add" : "delete"](node) });
    pick.checked = chosen.has(node);
    const unfold = (now) => {
      Object.assign(node, { open: now });
      below.hidden = !now;
      fold.textContent = now ? "▾" : "▸";
      fold.setAttribute("aria-expanded", String(now));
      if (now && !below.childElementCount) fillIn(below, node, 0);
    };
    if (inside && node.open) fillIn(below, node, 0);
    const rename = inside && button("✎", () => retitle(node, label), "small quiet", { "aria-label": t("rename", { label: node.label }), title: t("rename", { label: node.label }) });
    const apart = inside && node.parent && button("⨯", () => dissolve(node), "small quiet", { "aria-label": t("takeApart", { label: node.label }), title: t("takeApart", { label: node.label }) });
    const row = h("div", { class: "node", draggable: node.parent ? "true" : null }, fold, node.parent && pick, label, h("span", { class: "hint" }, count(node.rows)), rename, apart);
    if (node.parent) dropping(row, node);
    return h("li", {}, row, inside && below);
  }
  // A label that is dropped onto another under the same one is grouped with it.
  function dropping(row, node) {
    row.addEventListener("dragstart", (event) => { dragged = node; event.dataTransfer.effectAllowed = "move"; event.stopPropagation(); });
    row.addEventListener("dragover", (event) => { if (dragged && dragged !== node && dragged.parent === node.parent) { event.preventDefault(); row.classList.add("over"); } });
    row.addEventListener("dragleave", () => row.classList.remove("over"));
    row.addEventListener("drop", (event) => { event.preventDefault(); row.classList.remove("over"); if (dragged) join([node, dragged], name.value || `${node.label}, ${dragged.label}`); dragged = null; });
  }
  function fillIn(below, node, from) {
    const stop = from + SHOWN;
    below.append(...node.children.slice(from, stop).map(line));
    if (stop < node.children.length) {
      const more = h("li", {}, button(t("more", { n: count(node.children.length - stop) }), () => { more.remove(); fillIn(below, node, stop); }, "small"));
      below.append(more);
    }
  }
  function retitle(node, label) {
    const box = input("text", node.label, () => {}, { "aria-label": t("labelOf", { label: node.label }) });
    const end = (keep, byKey = false) => {
      const written = box.value.trim(), row = box.parentElement;
      if (keep && written && box.value !== node.label) act(t("renamed"), () => { node.label = written; }, byKey ? t("rename", { label: written }) : undefined);
      else { box.replaceWith(label); if (byKey) [...row.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === t("rename", { label: node.label }))?.focus(); }
    };
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); end(true, true); } // else it would press the button that has the focus next
      if (event.key === "Escape") { event.stopPropagation(); end(false, true); }
    });
    box.addEventListener("blur", () => box.isConnected && end(true), { once: true });
    label.replaceWith(box);
    box.select();
    box.focus();
  }
  const element = h("div", {}, list, h("div", { class: "bar" }, field(t("newLabel"), name), button(t("group"), () => join([...chosen], name.value)), back, told));
  element.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key.toLowerCase() !== "z" || event.target.matches("input[type=text]") || !past.length) return;
    event.preventDefault();
    event.stopPropagation(); // the tree goes back, and not the plan
    stepBack();
  });
  draw();
  return element;
}
