// A canvas as sharp as the screen, drawn again when its size or the colours change.

import { eachFrame, h } from "./dom.js";

const NAMES = ["ground", "raised", "line", "ink", "soft", "accent", "tint", "faint"];

// The colours of the page as a canvas understands them.
export function colours() {
  const probe = h("span", { hidden: true });
  document.body.append(probe);
  const found = {};
  for (const name of NAMES) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

// `draw(pen, width, height, paint, fresh)`: fresh is true when size or colours are new. Gives the element and a way to ask for a drawing.
export function board(height, label, draw, signal) {
  const canvas = h("canvas", { role: "img", "aria-label": label, height });
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  let paint = null, fresh = true;
  const redraw = eachFrame(() => {
    const width = canvas.clientWidth, sharp = devicePixelRatio || 1;
    if (!width) return;
    if (canvas.width !== Math.round(width * sharp) || canvas.height !== Math.round(height * sharp)) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      fresh = true;
    }
    paint ??= colours();
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    draw(pen, width, height, paint, fresh);
    fresh = false;
  });
  const watch = new ResizeObserver(redraw);
  watch.observe(canvas);
  document.addEventListener("repaint", () => { paint = null; fresh = true; redraw(); }, { signal });
  signal?.addEventListener("abort", () => watch.disconnect());
  return { canvas, redraw };
}

// Pressing and dragging on a canvas, as a share of its width.
export function dragging(canvas, moved) {
  let held = false;
  const tell = (event) => {
    const { left, width } = canvas.getBoundingClientRect();
    moved(Math.min(1, Math.max(0, (event.clientX - left) / width)));
  };
  canvas.addEventListener("pointerdown", (event) => { held = true; canvas.setPointerCapture(event.pointerId); tell(event); });
  canvas.addEventListener("pointermove", (event) => held && tell(event));
  canvas.addEventListener("pointerup", () => { held = false; });
  canvas.addEventListener("pointercancel", () => { held = false; });
}
