// Pictures as files: SVG or PNG, with their colours and their PRIVATE mark.

import { addressOf } from "./api.js";
import { button, h, s } from "./dom.js";
import { state } from "./store.js";
import { t } from "./text.js";

const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight"];
const MARK = 22; // pixels above a picture

export function exporter(element, name) {
  const picture = element.matches("svg") ? element : element.querySelector("svg");
  if (!picture) return null;
  const save = (kind, make) => button(t(kind === "svg" ? "exportSvg" : "exportPng"), async () => saveAs(await make(asFile(picture)), `${stem()}-${name}.${kind}`), "small quiet", { "aria-label": t("exportHint", { kind: kind.toUpperCase() }) });
  return h("span", { class: "exports" }, save("svg", (text) => new Blob([text], { type: "image/svg+xml" })), save("png", asPng));
}

// Buttons for a picture that the server drew.
export function exporterOf(text, name) {
  const save = (kind, make) => button(t(kind === "svg" ? "exportSvg" : "exportPng"), async () => saveAs(await make(text), `${stem()}-${name}.${kind}`), "small quiet", { "aria-label": t("exportHint", { kind: kind.toUpperCase() }) });
  return h("span", { class: "exports" }, save("svg", (svg) => new Blob([svg], { type: "image/svg+xml" })), save("png", asPng));
}

export function saveAs(blob, name) {
  h("a", { href: addressOf(blob), download: name }).click();
}

const stem = () => state.name.split(/[\\/]/).at(-1).replace(/\.[^.]*$/, "") || "table";

// A copy whose looks do not depend on this page, with the mark that it is made from raw rows.
function asFile(picture) {
  const copy = picture.cloneNode(true), wide = Number(picture.getAttribute("width")), high = Number(picture.getAttribute("height")), ground = getComputedStyle(document.documentElement).backgroundColor;
  const before = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, at) => {
    const looks = getComputedStyle(before[at]);
    for (const name of STYLED) element.setAttribute(name, looks.getPropertyValue(name));
    for (const name of ["class", "tabindex", "data-part"]) element.removeAttribute(name);
  });
  const mark = s("text", { x: wide - 8, y: -7, "text-anchor": "end", fill: "#c2410c", "font-family": "sans-serif", "font-weight": "700", "font-size": "13px" }, t("private"));
  copy.prepend(s("rect", { x: 0, y: -MARK, width: wide, height: high + MARK, fill: ground }), mark);
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
