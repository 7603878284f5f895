// The lattice of levels: walk from node to node; the minimal nodes for the chosen k stand out; a path can be drawn.

import { run } from "./api.js";
import { button, h, latest, quoted, refusal, replace, s } from "./dom.js";
import { count, loss, plural } from "./numbers.js";

const MOST_DOTS = 3000, MOST_LINES = 400, WIDE = 1100, GAP_X = 26, GAP_Y = 26;

export function latticeView(context, { onPath }) {
  let found = null, columns = [], heights = [], k = 2, here = null, path = [], drawing = false;
  const figure = h("div", { class: "hasse", tabindex: "0", role: "application", "aria-label": "Lattice: arrow keys walk between nodes" });
  const detail = h("div", {}), heard = h("p", { class: "unseen", role: "status" }), minimal = h("div", { class: "bar middle" }), drawn = h("p", { class: "hint" });
  const pencil = button("Draw a path", () => { drawing = !drawing; pencil.setAttribute("aria-pressed", String(drawing)); if (drawing && here) addStep(here); }, "small", { "aria-pressed": "false" });
  const clear = button("Clear the path", () => { path = []; tellPath(); }, "small");
  const dots = new Map();

  const minimalNodes = () => found?.minimal?.[String(k)] ?? [];
  const reaches = (levels) => minimalNodes().some((node) => node.every((level, at) => level <= levels[at]));

  function tellPath() {
    drawn.textContent = path.length ? `Path: ${path.map((node) => node.join(",")).join(" → ")}` : "";
    paintDots();
    onPath(path.map((node) => node.join(",")).join(" "));
  }
  function addStep(levels) {
    if (path.at(-1)?.join() !== levels.join()) path.push(levels);
    tellPath();
  }
  const look = latest(async (levels) => {
    try {
      drawDetail(await run(context.table.id, "lattice", { node: levels }, { signal: context.signal }));
    } catch (fault) {
      if (fault.name !== "AbortError") replace(detail, refusal(fault));
    }
  });
  function visit(levels) {
    here = levels;
    if (drawing) addStep(levels);
    paintDots();
    return look(levels);
  }

  // -- one node and its neighbours ---------------------------------------------------------------------------

  function drawDetail(answer) {
    const [node] = inOrder([answer.node]), up = inOrder(answer.up), down = inOrder(answer.down);
    const item = (other) => button([h("strong", {}, step(node, other)), h("br"), h("small", {}, `k = ${count(other.k)}, ${plural(other.classes, "class", "classes")}, loss ${loss(other.loss)}`)], () => visit(other.levels), other.k >= k ? "reaches" : "");
    heard.textContent = `Node ${node.levels.join(" ")}: k ${node.k}, ${plural(node.classes, "class", "classes")}, loss ${loss(node.loss)}`;
    replace(detail,
      h("h3", {}, `Node ${node.levels.join(",")}`),
      h("p", {}, columns.map((column, at) => `${quoted(column)} ${node.levels[at]} of ${heights[at] - 1}`).join(" · ")),
      h("dl", { class: "figures" }, pair("k", count(node.k)), pair("classes", count(node.classes)), pair("loss", loss(node.loss)), pair(`reaches k = ${k}`, node.k >= k ? "yes" : "no")),
      up.length > 0 && [h("h3", {}, "One level up"), h("div", { class: "nodes" }, up.map(item))],
      down.length > 0 && [h("h3", {}, "One level down"), h("div", { class: "nodes" }, down.map(item))]);
  }
  const levelsOf = (named) => columns.map((column) => named[column]);
  const inOrder = (nodes) => nodes.map((node) => ({ ...node, levels: levelsOf(node.levels) }));
  const pair = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  function step(from, to) {
    const at = to.levels.findIndex((level, j) => level !== from.levels[j]);
    return `${quoted(columns[at])} ${to.levels[at] > from.levels[at] ? "↑" : "↓"} ${to.levels[at]}`;
  }

  // -- all nodes, row by row -----------------------------------------------------------------------------------

  function drawDots() {
    dots.clear();
    if (found.nodes > MOST_DOTS) { replace(figure, h("p", { class: "hint" }, `${count(found.nodes)} nodes: too many to draw. Walk from one of the minimal nodes.`)); figure.hidden = true; return; }
    const ranks = [];
    for (const levels of product(heights)) (ranks[levels.reduce((a, b) => a + b, 0)] ??= []).push(levels);
    const most = Math.max(...ranks.map((rank) => rank.length)), gap = Math.min(GAP_X, WIDE / most), wide = most * gap + 20, tall = ranks.length * GAP_Y + 10;
    const places = new Map();
    ranks.forEach((rank, row) => rank.forEach((levels, at) => places.set(levels.join(), [wide / 2 + (at - (rank.length - 1) / 2) * gap, tall - 16 - row * GAP_Y])));
    const picture = s("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, "aria-hidden": "true" });
    if (found.nodes <= MOST_LINES) picture.append(...edges(places));
    for (const [name, [x, y]] of places) {
      const dot = s("circle", { cx: x, cy: y, r: Math.min(8, gap * 0.48), onclick: () => visit(name.split(",").map(Number)) }, s("title", {}, name));
      dots.set(name, dot);
      picture.append(dot);
    }
    replace(figure, picture);
  }
  function* edges(places) {
    for (const [name, [x, y]] of places) {
      const levels = name.split(",").map(Number);
      for (let at = 0; at < levels.length; at += 1) {
        const above = places.get(levels.map((level, j) => level + (j === at)).join());
        if (above) yield s("line", { x1: x, y1: y, x2: above[0], y2: above[1] });
      }
    }
  }
  function paintDots() {
    const least = new Set(minimalNodes().map(String)), trail = new Set(path.map(String));
    for (const [name, dot] of dots) {
      const levels = name.split(",").map(Number);
      const kinds = [least.has(name) ? "minimal" : reaches(levels) ? "reaches" : "", here?.join() === name ? "here" : "", trail.has(name) ? "onpath" : ""];
      dot.setAttribute("class", kinds.join(" ").trim());
    }
  }
  // Up and down change the last column that can; left and right walk along a row.
  figure.addEventListener("keydown", (event) => {
    if (!here || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const names = [...dots.keys()].filter((name) => rankOf(name) === rankOf(here.join())), at = names.indexOf(here.join());
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const beside = names[at + (event.key === "ArrowRight" ? 1 : -1)];
    if (by) {
      const column = heights.findIndex((height, j) => here[j] + by >= 0 && here[j] + by < height);
      if (column >= 0) visit(here.map((level, j) => level + by * (j === column)));
    } else if (beside) visit(beside.split(",").map(Number));
  });
  const rankOf = (name) => name.split(",").reduce((a, b) => a + Number(b), 0);

  function drawMinimal() {
    const best = found.best.find((node) => node.k === k), nodes = minimalNodes().slice(0, 12);
    replace(minimal,
      best && button(`Best for k = ${k}: ${levelsOf(best.levels).join(",")}`, () => visit(levelsOf(best.levels)), "small"),
      found.minimal && h("span", { class: "hint" }, `${plural(minimalNodes().length, "minimal node")}: `),
      nodes.map((node) => button(node.join(","), () => visit(node), "small")));
  }

  return {
    element: h("section", { class: "panel lattice" }, h("header", {}, h("h2", {}, "Lattice"), h("span", { class: "private" }, "PRIVATE")),
      h("p", { class: "hint" }, "A node has one level for every row of a column. Filled nodes reach k; the darkest are minimal: nothing below them does."),
      h("div", { class: "bar middle" }, pencil, clear, drawn), minimal, figure, heard, detail),
    set(now) {
      found = now;
      columns = context.table.quasiIdentifiers; // an object of JavaScript would put names that are numbers first
      heights = levelsOf(now.heights);
      drawDots();
      drawMinimal();
      const best = now.best.find((node) => node.k === k) ?? now.best[0];
      return visit(best ? levelsOf(best.levels) : heights.map(() => 0));
    },
    mark(now) {
      k = now;
      if (!found) return;
      drawMinimal();
      paintDots();
      if (here) look(here);
    },
  };
}

function* product(heights, from = []) {
  if (from.length === heights.length) yield from;
  else for (let level = 0; level < heights[from.length]; level += 1) yield* product(heights, [...from, level]);
}
