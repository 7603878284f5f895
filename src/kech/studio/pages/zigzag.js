// The zig-zag barcode along a path of nodes: which classes live on from node to node, and where k holds.

import { board } from "./canvas.js";
import { h, replace } from "./dom.js";
import { count, plural } from "./numbers.js";
import { work } from "./work.js";

const HEIGHT = 260, FOOT = 24, SIDE = 12, MOST = 600;

export function zigzagView(context) {
  let found = null, k = 2;
  const busy = h("div", { class: "slot" }), told = h("p", { class: "hint told", role: "status" }, "Draw a path in the lattice, or take a ready one.");
  const { canvas, redraw } = board(HEIGHT, "Zig-zag barcode", draw, context.signal);

  function draw(pen, width, height, paint) {
    pen.fillStyle = paint.ground;
    pen.fillRect(0, 0, width, height);
    if (!found) return;
    const last = Math.max(found.path.length - 1, 0.5), place = (at) => SIDE + (at / last) * (width - 2 * SIDE);
    pen.fillStyle = paint.tint;
    for (const { start, stop } of found.regimes) {
      for (let node = start; node <= stop; node += 1) pen.fillRect(place(node) - 4, 0, 8, height - FOOT);
    }
    const bars = found.summary.filter((bar) => bar.dimension === 0).sort((a, b) => a.birth - b.birth || b.death - a.death).slice(0, MOST);
    const all = bars.reduce((sum, bar) => sum + Math.sqrt(bar.count), 0), unit = (height - FOOT) / all;
    let top = 0;
    for (const bar of bars) {
      const tall = Math.sqrt(bar.count) * unit;
      pen.fillStyle = (bar.fewest_people ?? bar.weight) >= k ? paint.accent : paint.faint;
      pen.fillRect(place(bar.birth) - 2, top, Math.max(place(bar.death) - place(bar.birth), 0) + 4, Math.max(tall * 0.8, 0.4));
      top += tall;
    }
    pen.fillStyle = paint.soft;
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "bottom";
    const wide = pen.measureText(found.path[0].join(",")).width + 10, every = Math.ceil((wide * found.path.length) / (width - 2 * SIDE));
    found.path.forEach((node, at) => {
      if (at % every === 0) pen.fillText(node.join(","), Math.min(Math.max(place(at) - wide / 2 + 5, 0), width - wide), height - 2);
    });
  }

  return {
    element: h("section", { class: "panel" }, h("header", {}, h("h2", {}, "Zig-zag along a path"), h("span", { class: "private" }, "PRIVATE")), told, h("div", { class: "stage" }, busy, canvas)),
    async show(path) {
      if (!path) return;
      const now = await work(busy, context, "zigzag", { path, k }, "Walking the path");
      if (!now) return;
      found = now;
      const held = found.regimes.map(({ start, stop }) => (start === stop ? `node ${start}` : `nodes ${start} to ${stop}`));
      told.textContent = `${plural(found.path.length, "node")}, ${count(found.bars.length + found.shorter_bars)} bars. ${held.length ? `k-anonymous for k = ${k}, under every reading: ${held.join(", ")} (counted from 0).` : `No node is k-anonymous for k = ${k}.`}`;
      canvas.setAttribute("aria-label", told.textContent);
      redraw();
    },
    clear() { found = null; redraw(); replace(busy); told.textContent = "Draw a path in the lattice, or take a ready one."; },
    set k(now) { k = now; },
  };
}
