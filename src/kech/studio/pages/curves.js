// Figures of every k, a line for each cut. Lines differ by their dashes, so that colour is not needed to tell them apart.

import { h, replace, s } from "./dom.js";
import { tickText, ticks } from "./numbers.js";

export const DASHES = { local: "", domain: "7 4", minimal: "2 4", regime: "12 4 2 4" };
const HEIGHT = 250, LEFT = 52, RIGHT = 14, TOP = 12, FOOT = 30;

export function curves(title, figure, { onK, signal }) {
  const place = h("div", { class: "curves" }), cursor = s("line", { y1: TOP, y2: HEIGHT - FOOT, stroke: "var(--ink)", "stroke-width": 2 });
  let toX = null, drawn = [[], []], wide = 0;

  function draw(rows, ks) {
    drawn = [rows, ks];
    wide = place.clientWidth;
    if (!rows.length || !wide) return;
    const most = Math.max(...rows.map((row) => row[figure]));
    const span = Math.log(ks.at(-1) / ks[0]) || 1;
    toX = (k) => LEFT + (Math.log(k / ks[0]) / span) * (wide - LEFT - RIGHT);
    const toY = (value) => HEIGHT - FOOT - (value / (most || 1)) * (HEIGHT - FOOT - TOP);
    const cuts = [...new Set(rows.map((row) => row.cut))];
    const lines = cuts.map((cut) => {
      const own = rows.filter((row) => row.cut === cut);
      const path = own.map((row, i) => `${i ? "L" : "M"}${toX(row.k).toFixed(1)} ${toY(row[figure]).toFixed(1)}`).join("");
      return s("path", { d: path, fill: "none", stroke: cut === "local" ? "var(--accent)" : "var(--ink)", "stroke-width": 2, "stroke-dasharray": DASHES[cut] });
    });
    const across = ticks(0, most, 4).map((tick, _, all) => [
      s("line", { x1: LEFT, x2: wide - RIGHT, y1: toY(tick), y2: toY(tick), stroke: "var(--line)" }),
      s("text", { x: LEFT - 6, y: toY(tick) + 4, "text-anchor": "end" }, tickText(tick, all[1]))]);
    const below = ks.filter((k) => [2, 3, 5, 10, 20, 50, 100].includes(k)).map((k) => s("text", { x: toX(k), y: HEIGHT - 10, "text-anchor": "middle" }, String(k)));
    const picture = s("svg", { viewBox: `0 0 ${wide} ${HEIGHT}`, role: "img", "aria-label": `${title} against k, for ${cuts.join(" and ")}`, width: "100%", height: HEIGHT }, across, below, lines, cursor);
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * wide;
      onK(ks.reduce((best, k) => (Math.abs(toX(k) - x) < Math.abs(toX(best) - x) ? k : best)));
    });
    replace(place, picture);
  }
  const watch = new ResizeObserver(() => place.clientWidth !== wide && draw(...drawn));
  watch.observe(place);
  signal.addEventListener("abort", () => watch.disconnect());
  return {
    element: h("section", { class: "panel" }, h("h2", {}, title), place),
    draw,
    mark(k) {
      if (!toX) return;
      cursor.setAttribute("x1", toX(k));
      cursor.setAttribute("x2", toX(k));
    },
  };
}

export const legend = (cuts) => h("ul", { class: "legend" }, cuts.map((cut) => h("li", {},
  s("svg", { width: 34, height: 8, "aria-hidden": "true" }, s("line", { x1: 0, x2: 34, y1: 4, y2: 4, "stroke-width": 2, stroke: cut === "local" ? "var(--accent)" : "var(--ink)", "stroke-dasharray": DASHES[cut] })), cut)));
