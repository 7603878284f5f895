// A hierarchy as a tree that can be edited: rename, group, take apart. Values at the bottom, one label above all.

import { button, field, h, input, replace } from "./dom.js";
import { count, plural } from "./numbers.js";

const SHOWN = 200; // children drawn at once

// Nodes of the server's JSON, with a way up.
export function plant(nodes, parent = null) {
  return nodes.map((node) => {
    const made = { label: node.label, rows: node.rows, parent };
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
  const found = [], todo = [...roots];
  while (todo.length && found.length < most) {
    const node = todo.shift();
    if (node.children.length) todo.unshift(...node.children);
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

// The editor. `changed` hears of every edit.
export function treeEditor(roots, changed) {
  const chosen = new Set(), list = h("ul", { class: "tree", "aria-label": "Hierarchy" });
  const name = input("text", "", () => {}, { placeholder: "Label of the group" });
  const told = h("span", { class: "hint", role: "status" });
  const group = button("Group the chosen", join);

  function join() {
    const nodes = [...chosen], parent = nodes[0]?.parent, siblings = parent ? parent.children : roots;
    if (nodes.length < 2 || nodes.some((node) => node.parent !== parent)) { told.textContent = "Choose two or more labels under the same one."; return; }
    if (!name.value.trim()) { told.textContent = "Give the group a label."; name.focus(); return; }
    const made = { label: name.value.trim(), rows: nodes.reduce((sum, node) => sum + node.rows, 0), parent, children: nodes };
    siblings.splice(siblings.indexOf(nodes[0]), 0, made);
    nodes.forEach((node) => { siblings.splice(siblings.indexOf(node), 1); node.parent = made; });
    chosen.clear();
    name.value = "";
    edited("Grouped.");
  }
  function dissolve(node) {
    const siblings = node.parent ? node.parent.children : roots;
    siblings.splice(siblings.indexOf(node), 1, ...node.children);
    node.children.forEach((child) => { child.parent = node.parent; });
    edited("Taken apart.");
  }
  function edited(text) {
    told.textContent = text;
    draw();
    changed();
  }
  const draw = () => replace(list, roots.map((root) => line(root, true)));

  function line(node, open) {
    const inside = node.children.length > 0, below = h("ul", { hidden: !open });
    const label = h("span", { class: "label" }, node.label);
    const fold = inside && button(open ? "▾" : "▸", () => unfold(below.hidden), "fold", { "aria-expanded": String(open), "aria-label": `Below ${node.label}` });
    const pick = h("input", { type: "checkbox", "aria-label": `Choose ${node.label}`, onchange: (event) => chosen[event.target.checked ? "add" : "delete"](node) });
    pick.checked = chosen.has(node);
    const unfold = (now) => {
      below.hidden = !now;
      fold.textContent = now ? "▾" : "▸";
      fold.setAttribute("aria-expanded", String(now));
      if (now && !below.childElementCount) fillIn(below, node, 0);
    };
    if (inside && open) fillIn(below, node, 0);
    const rename = inside && button("Rename", () => edit(node, label), "small quiet", { "aria-label": `Rename ${node.label}` });
    const apart = inside && node.parent && button("Take apart", () => dissolve(node), "small quiet", { "aria-label": `Take apart ${node.label}` });
    return h("li", {}, h("div", { class: "node" }, fold, node.parent && pick, label, h("span", { class: "rows" }, plural(node.rows, "row")), rename, apart), inside && below);
  }
  function fillIn(below, node, from) {
    const stop = from + SHOWN;
    below.append(...node.children.slice(from, stop).map((child) => line(child, false)));
    if (stop < node.children.length) {
      const more = h("li", {}, button(`${count(node.children.length - stop)} more`, () => { more.remove(); fillIn(below, node, stop); }, "small"));
      below.append(more);
    }
  }
  function edit(node, label) {
    const box = input("text", node.label, () => {}, { "aria-label": `New label for ${node.label}` });
    const end = (keep) => {
      if (keep && box.value.trim() && box.value !== node.label) { node.label = box.value.trim(); edited("Renamed."); } else box.replaceWith(label);
    };
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") end(true);
      if (event.key === "Escape") end(false);
    });
    box.addEventListener("blur", () => box.isConnected && end(true), { once: true });
    label.replaceWith(box);
    box.select();
    box.focus();
  }
  draw();
  return h("div", {}, list, h("div", { class: "bar" }, field("New label", name), group, told));
}
