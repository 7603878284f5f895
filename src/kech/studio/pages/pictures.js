// Pictures as files: SVG or PNG, with their colours and their PRIVATE mark.

import { addressOf } from "./api.js";
import { button, h, s } from "./dom.js";
import { state } from "./store.js";
import { t } from "./text.js";

const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight"];
const MARK = 22, KEYED = 190; // pixels above a picture, and of one entry of its legend

export function exporter(element, name) {
  const picture = element.matches("svg") ? element : element.querySelector("svg");
  if (!picture) return null;
  return exporterOf(() => asFile(picture, [...element.querySelectorAll(".key")]), name);
}

// Buttons for a picture whose text is known, or made once it is asked for.
export function exporterOf(drawing, name) {
  const text = () => (typeof drawing === "function" ? drawing() : drawing);
  const save = (kind, make) => button(t(kind === "svg" ? "exportSvg" : "exportPng"), async () => saveAs(await make(text()), `${stem()}-${name}.${kind}`), "small quiet", { "aria-label": t("exportHint", { kind: kind.toUpperCase() }) });
  return h("span", { class: "exports" }, save("svg", (svg) => new Blob([svg], { type: "image/svg+xml" })), save("png", asPng));
}

export function saveAs(blob, name) {
  h("a", { href: addressOf(blob), download: name }).click();
}

export const fileName = (path) => path.split(/[\\/]/).at(-1);
export const stemOf = (path) => fileName(path).replace(/\.[^.]*$/, "");
const stem = () => stemOf(state.name) || "table";

// A copy whose looks do not depend on this page, with its legend and the mark that it is made from raw rows.
function asFile(picture, keys) {
  const copy = picture.cloneNode(true), wide = Number(picture.getAttribute("width")), high = Number(picture.getAttribute("height")), ground = getComputedStyle(document.documentElement).backgroundColor;
  const before = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, at) => {
    const looks = getComputedStyle(before[at]);
    for (const name of STYLED) element.setAttribute(name, looks.getPropertyValue(name));
    for (const name of ["class", "tabindex", "data-part"]) element.removeAttribute(name);
  });
  const looks = getComputedStyle(document.querySelector(".private")).color, words = { y: -7, "font-family": "sans-serif", "font-size": "13px" };
  const mark = s("text", { x: wide - 8, "text-anchor": "end", fill: looks, "font-weight": "700", ...words }, t("private")), ink = getComputedStyle(document.body).color;
  const legend = keys.map((key, at) => [s("rect", { x: 8 + at * KEYED, y: -17, width: 13, height: 10, fill: getComputedStyle(key).backgroundColor }), s("text", { x: 26 + at * KEYED, fill: ink, ...words }, key.nextSibling.textContent)]);
  copy.prepend(s("rect", { x: 0, y: -MARK, width: wide, height: high + MARK, fill: ground }), mark, ...legend.flat());
  copy.setAttribute("viewBox", `0 ${-MARK} ${wide} ${high + MARK}`);
  copy.setAttribute("height", high + MARK);
  return new XMLSerializer().serializeToString(copy);
}

async function asPng(text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", { width: 2 * image.naturalWidth, height: 2 * image.naturalHeight });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
