// The weighted barcode: a bar for every component while eps grows. Bars of k people or more stand out, or of k rows where every row is another person.

import { board, dragging } from "./canvas.js";
import { count, short, tickText, ticks } from "./numbers.js";

const HEIGHT = 340, FOOT = 26, SIDE = 8;

export function barcodeView({ onEps, signal }) {
  let bars = null, partial = false, top = 1, k = 2, eps = 0, regimes = [];
  const layer = document.createElement("canvas"); // the bars, drawn when k or the size changes; brushing copies it
  let layerK = null;
  const { canvas, redraw } = board(HEIGHT, "Weighted barcode", draw, signal);
  dragging(canvas, (share) => onEps(top * Math.min(1, Math.max(0, (share * canvas.clientWidth - SIDE) / (canvas.clientWidth - 2 * SIDE)))));

  function draw(pen, width, height, paint, fresh) {
    pen.fillStyle = paint.ground;
    pen.fillRect(0, 0, width, height);
    if (!bars) return;
    const place = (at) => SIDE + (Math.min(at, top) / top) * (width - 2 * SIDE);
    if (fresh || layerK !== k) drawBars(width, height, paint, place);
    pen.fillStyle = paint.tint;
    for (const { start, stop } of regimes) {
      if (start <= top) pen.fillRect(place(start), 0, Math.max(place(stop ?? top) - place(start), 2), height - FOOT);
    }
    pen.drawImage(layer, 0, 0, width, height);
    drawFoot(pen, width, height, paint, place);
    pen.fillStyle = paint.ink;
    pen.fillRect(place(eps) - 1, 0, 2, height - FOOT);
  }

  function drawBars(width, height, paint, place) {
    layer.width = canvas.width;
    layer.height = canvas.height;
    layerK = k;
    const pen = layer.getContext("2d"), step = (height - FOOT) / bars.births.length, tall = Math.max(step * (step > 3 ? 0.7 : 1), 0.35);
    pen.scale(canvas.width / width, canvas.height / height);
    for (const [many, colour] of [[false, paint.faint], [true, paint.accent]]) {
      pen.beginPath();
      for (let i = 0; i < bars.births.length; i += 1) {
        if (bars.weights[i] >= k !== many) continue;
        const left = place(bars.births[i]);
        pen.rect(left, i * step, Math.max(place(bars.deaths[i]) - left, 0.5), tall);
      }
      pen.fillStyle = colour;
      pen.fill();
    }
  }

  function drawFoot(pen, width, height, paint, place) {
    pen.fillStyle = paint.soft;
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "bottom";
    const marks = ticks(0, top, Math.max(2, width / 110));
    for (const tick of marks) {
      const text = tickText(tick, marks[1]), wide = pen.measureText(text).width;
      pen.fillText(text, Math.min(Math.max(place(tick) - wide / 2, 0), width - wide), height - 2);
      pen.fillRect(place(tick) - 0.5, height - FOOT, 1, 5);
    }
  }

  return {
    element: canvas,
    get top() { return top; },
    get ready() { return bars !== null; },
    set(found) {
      const shown = found.bars.filter((bar) => bar.dimension === 0);
      const ends = shown.map((bar) => bar.death).filter((death) => death !== null);
      top = Math.max(...ends.length ? [ends.reduce((a, b) => Math.max(a, b), 0)] : [1]) * 1.04 || 1;
      shown.sort((a, b) => a.birth - b.birth || (a.death ?? Infinity) - (b.death ?? Infinity));
      bars = {
        births: Float64Array.from(shown, (bar) => bar.birth),
        deaths: Float64Array.from(shown, (bar) => bar.death ?? Infinity),
        weights: Float64Array.from(shown, (bar) => bar.people ?? bar.weight), // what k counts
      };
      layerK = null;
      partial = found.shorter_bars > 0;
      canvas.setAttribute("aria-label", `Weighted barcode of ${partial ? "the longest " : ""}${count(shown.length)} bars, eps from 0 to ${short(top)}`);
      redraw();
    },
    mark(change) {
      ({ k = k, eps = eps, regimes = regimes } = change);
      redraw();
    },
    // Components at eps: how many, and the people or rows of the smallest; null where not all bars are here.
    at(radius) {
      if (partial) return null;
      let classes = 0, smallest = Infinity;
      for (let i = 0; i < (bars?.births.length ?? 0); i += 1) {
        if (bars.births[i] <= radius && radius < bars.deaths[i]) {
          classes += 1;
          if (bars.weights[i] < smallest) smallest = bars.weights[i];
        }
      }
      return { classes, smallest };
    },
  };
}
