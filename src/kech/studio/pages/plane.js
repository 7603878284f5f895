// Two columns: the rows as points, the classes as boxes.

import { board } from "./canvas.js";
import { quoted } from "./dom.js";
import { count, day, tickText, ticks } from "./numbers.js";

const HEIGHT = 360, LEFT = 74, RIGHT = 12, TOP = 10, FOOT = 40, LONGEST = 11;

export function planeView(signal) {
  let found = null;
  const { canvas, redraw } = board(HEIGHT, "Rows and classes on two columns", draw, signal);

  function draw(pen, width, height, paint) {
    pen.fillStyle = paint.ground;
    pen.fillRect(0, 0, width, height);
    if (!found) return;
    const x = scale(found.x, LEFT, width - RIGHT), y = scale(found.y, height - FOOT, TOP);
    pen.font = "12px system-ui, sans-serif";
    drawAxes(pen, width, height, paint, x, y);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - FOOT);
    pen.clip();
    pen.globalAlpha = Math.max(0.12, Math.min(0.8, 120 / found.boxes.length));
    pen.strokeStyle = paint.accent;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [left, right, bottom, upper, , , open] of found.boxes) {
      outline(pen, x(left) - 1.5, Math.max(x(right), x(left) + 1) + 1.5, Math.max(y(bottom), y(upper) + 1) + 1.5, y(upper) - 1.5, open);
    }
    pen.stroke();
    pen.globalAlpha = found.points.length > 2000 ? 0.5 : 0.85;
    pen.fillStyle = paint.ink;
    pen.beginPath();
    const largest = found.points.length > 500 ? 2 : 5;
    for (const [px, py, rows] of found.points) {
      const size = Math.min(1.2 + Math.sqrt(rows) * 0.35, largest);
      pen.moveTo(x(px) + size, y(py));
      pen.arc(x(px), y(py), size, 0, 7);
    }
    pen.fill();
    pen.restore();
  }

  function drawAxes(pen, width, height, paint, x, y) {
    pen.fillStyle = paint.soft;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const [at, text] of marks(found.y, 6, height / 16)) pen.fillText(cut(text), LEFT - 6, y(at));
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const named = marks(found.x, 5, width / 70);
    for (const [at, text] of named) pen.fillText(cut(text), x(at), height - FOOT + 6);
    pen.fillStyle = paint.ink;
    pen.fillText(quoted(found.x.column.slice(0, 40)), (LEFT + width - RIGHT) / 2, height - 16);
    pen.fillStyle = paint.line;
    pen.fillRect(LEFT, TOP, 1, height - TOP - FOOT);
    pen.fillRect(LEFT, height - FOOT, width - LEFT - RIGHT, 1);
  }

  return {
    element: canvas,
    set(now) {
      found = now;
      canvas.setAttribute("aria-label", `${now.x.column} and ${now.y.column}: ${count(now.points.length)} places with rows, ${count(now.classes)} classes, the smallest with ${count(now.smallest)} rows`);
      redraw();
    },
  };
}

// The sides of a box; one that is open (1 left, 2 right, 4 bottom, 8 top) is an arrow outward, for the label has no end there.
function outline(pen, left, right, bottom, top, open) {
  const sides = [[1, left, bottom, left, top], [2, right, top, right, bottom], [4, right, bottom, left, bottom], [8, left, top, right, top]];
  for (const [side, fromX, fromY, toX, toY] of sides) {
    if (!(open & side)) {
      pen.moveTo(fromX, fromY);
      pen.lineTo(toX, toY);
      continue;
    }
    const [x, y] = [(fromX + toX) / 2, (fromY + toY) / 2], [ahead, aside] = [{ 1: -1, 2: 1 }[side] || 0, { 4: 1, 8: -1 }[side] || 0];
    pen.moveTo(x - 6 * ahead - 4 * aside, y - 6 * aside - 4 * ahead);
    pen.lineTo(x, y);
    pen.lineTo(x - 6 * ahead + 4 * aside, y - 6 * aside + 4 * ahead);
  }
}

const cut = (text) => quoted(text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

// From values to pixels, with a little room on both ends.
function scale({ low, high }, from, to) {
  const room = (high - low || 1) * 0.03;
  return (value) => from + ((value - low + room) / (high - low + 2 * room || 1)) * (to - from);
}

function marks({ axis, low, high, ticks: named }, few, most) {
  if (axis === "number") return ticks(low, high, few).map((at, _, all) => [at, tickText(at, all[1] - all[0])]);
  if (axis === "date") return years(low, high, few);
  const every = Math.ceil(named.length / Math.max(most, 1));
  return named.filter((_, at) => at % every === 0);
}

function years(low, high, few) {
  const [first, last] = [low, high].map((seconds) => new Date(seconds * 1000).getUTCFullYear());
  if (last - first < 3) return [low, (low + high) / 2, high].map((at) => [at, day(at)]);
  return ticks(first + 1, last, few).filter(Number.isInteger).map((year) => [Date.UTC(year, 0, 1) / 1000, String(year)]);
}
