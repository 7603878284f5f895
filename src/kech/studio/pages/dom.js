// Elements. Text is always text: nothing here reads markup, so no cell can become any.

import { t } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

export const h = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children);
export const s = (tag, properties = {}, ...children) => fill(document.createElementNS(SVG, tag), properties, children);
const real = (children) => children.flat(Infinity).filter((child) => child != null && child !== false && child !== "");

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...real(children));
  return element;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...real(children));
  return parent;
}

export const button = (text, onclick, kind = "", more = {}) => h("button", { type: "button", class: kind || null, onclick, ...more }, text);

// A name inside a sentence: whatever letters it holds, it does not turn the words around it.
export const quoted = (name) => `\u2068${name}\u2069`;

let names = 0;
// A label, its control and a hint that screen readers tell too.
export function field(text, control, hint = "", kind = "field") {
  control.id ||= `f${++names}`;
  const said = hint && h("span", { class: "hint", id: `${control.id}-hint` }, hint);
  if (said) control.setAttribute("aria-describedby", said.id);
  const label = h("label", { for: control.id }, text);
  return h("div", { class: kind }, kind === "check" ? [control, label] : [label, control], said);
}

// A plan may name a value that is not offered: it is listed as it is.
export function select(options, value, onchange, more = {}) {
  const made = h("select", { onchange: (event) => onchange(event.target.value), ...more });
  const isOffered = !value || options.some(([name]) => name === value);
  for (const [name, text] of isOffered ? options : [...options, [value, value]]) made.append(h("option", { value: name, selected: name === value }, text));
  return made;
}

// What was typed in it counts from its change on.
export const input = (type, value, onchange, more = {}) => h("input", { type, value, onchange: ({ target }) => { target.defaultValue = target.value; onchange(target.value); }, ...more });

export const refusal = (fault, title = t("cannot")) => h("div", { class: "refusal", role: "alert" }, h("strong", {}, title), fault.message);

// A dialog above everything; Escape closes it, and the focus goes back to where it was.
export function dialog(title) {
  const before = document.activeElement, content = h("div", { class: "content" });
  const heading = h("h2", { id: `d${++names}` }, title), box = h("dialog", { "aria-labelledby": heading.id }, h("div", { class: "titlebar" }, heading, button("×", () => box.close(), "quiet", { "aria-label": t("close") })), content);
  box.addEventListener("close", () => { box.remove(); if (before?.isConnected) before.focus(); });
  document.body.append(box);
  return { open: () => box.showModal(), close: () => box.close(), fill: (...children) => replace(content, ...children), element: box };
}

export function say(text) {
  const place = document.getElementById("said");
  place.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { place.textContent = ""; }, 4000);
}

// Draw a place again; what had the focus there has it afterwards, if it is there still, with what is being typed.
export function keepingFocus(place, draw) {
  const before = place.contains(document.activeElement) ? document.activeElement : null, held = before && nameOf(before);
  const typed = before?.matches(TYPED) && before.value !== before.defaultValue ? before.value : null;
  if (typed !== null) before.value = before.defaultValue; // else its removal would count as a change
  draw(); // content that is replaced at once keeps its place: to ask for it would lay out the whole screen
  const now = before && [...place.querySelectorAll("button, input, select, textarea, [tabindex]")].find((element) => nameOf(element) === held);
  if (typed !== null && now?.matches(TYPED)) now.value = typed;
  now?.focus({ preventScroll: true });
}

const TYPED = "input[type=text], input[type=number], textarea";

const nameOf = (element) => `${element.tagName} ${element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent}`;

// Only the newest call matters: while one runs, at most one waits.
export function latest(work) {
  let running = false, next = null;
  return async function call(...given) {
    next = given;
    if (running) return;
    running = true;
    try {
      while (next) {
        const now = next;
        next = null;
        await work(...now);
      }
    } finally {
      running = false;
    }
  };
}

// One call a frame, however often it is asked for.
export function eachFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}
