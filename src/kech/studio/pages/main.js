// Which page is shown: every step has an address of its own.

import { asAddress } from "./api.js";
import { button, h, keepingFocus, refusal, replace, say } from "./dom.js";
import { Table } from "./table.js";
import * as axes from "./axes.js";
import * as choose from "./choose.js";
import * as open from "./open.js";
import * as release from "./release.js";
import * as roles from "./roles.js";
import * as series from "./series.js";
import * as spectrum from "./spectrum.js";

const STEPS = { open, roles, axes, spectrum, choose, release, series };
const TITLES = { open: "Open", roles: "Roles", axes: "Axes", spectrum: "Spectrum", choose: "Choose", release: "Release" };
const SERIES = "/series/";
const content = document.getElementById("content");
let leave = new AbortController();
let table = null;

function address() {
  if (location.pathname.startsWith(SERIES)) return { id: null, step: "series", series: decodeURIComponent(location.pathname.slice(SERIES.length)) };
  const [, id, step] = location.pathname.match(/^\/tables\/(\w+)\/(\w+)$/) ?? [];
  return { id: id ?? null, step: TITLES[step] ? step : "open" };
}

function go(step, id = table?.id) {
  history.pushState(null, "", id ? `/tables/${id}/${step}` : "/open");
  return show(true);
}

async function show(moveFocus) {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave, { id, step, series: name } = address();
  const place = h("div", {});
  replace(content, place);
  replace(document.getElementById("answers"));
  try {
    drawHead(id, step);
    table = id === null ? null : table?.id === id ? table : await Table.find(id);
    if (signal.aborted) return;
    nameTable(TITLES[step] ?? name);
    if (moveFocus) { content.focus({ preventScroll: true }); scrollTo(0, 0); }
    await STEPS[step].show(place, { table, series: name, go, signal, again: () => keepingFocus(content, () => show(false)) });
  } catch (fault) {
    if (fault.name === "AbortError" || signal.aborted) return;
    const isLockedOut = fault.status === 401;
    replace(place, refusal(fault, isLockedOut ? "This tab is locked" : undefined), !isLockedOut && h("p", {}, h("a", { href: "/open" }, "Open a table")));
  }
}

function drawHead(id, step) {
  const links = Object.entries(TITLES).map(([name, title]) => h("li", {}, id || name === "open"
    ? h("a", { href: id ? `/tables/${id}/${name}` : "/open", "aria-current": name === step ? "step" : null }, title)
    : h("span", {}, title)));
  const list = replace(document.getElementById("steps"), links), current = list.querySelector("[aria-current]");
  if (current) list.parentElement.scrollLeft = current.offsetLeft - list.offsetLeft - 60;
}

function nameTable(title) {
  document.title = `${title}${table ? ` · ${table.name}` : ""} · kech studio`;
  document.getElementById("table-name").textContent = table ? table.name : "";
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const path = link.getAttribute("href");
  if (path !== "/open" && !path.startsWith("/tables/") && !path.startsWith(SERIES)) return;
  event.preventDefault();
  history.pushState(null, "", path);
  show(true);
});
addEventListener("popstate", () => show(true));
document.addEventListener("stale", () => show(false));

// -- what the command line would have printed ------------------------------------------------------------------

const answers = document.getElementById("answers");

document.addEventListener("answered", ({ detail: { verb, path } }) => {
  if (!answers.childElementCount) answers.append(h("p", {}, "The answers on this page, as the command line prints them with --json: "));
  answers.querySelector(`[data-verb="${verb}"]`)?.remove();
  const showAnswer = async () => window.open(await asAddress(path));
  answers.firstElementChild.append(button(verb, showAnswer, "small", { "data-verb": verb }));
});

// -- light and dark ------------------------------------------------------------------------------------------

const theme = document.getElementById("theme");
const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function paint(chosen) {
  if (chosen) document.documentElement.dataset.theme = chosen;
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  document.dispatchEvent(new CustomEvent("repaint"));
}

theme.addEventListener("click", () => {
  const chosen = isDark() ? "light" : "dark";
  localStorage.setItem("theme", chosen);
  paint(chosen);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(null));
paint(localStorage.getItem("theme"));
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  if (event.reason?.name !== "AbortError") say(event.reason?.message ?? "Something went wrong.");
});
show(false);
