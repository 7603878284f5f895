// The one screen: every part begins, and the table that the address names is shown.

import { request } from "./api.js";
import { begin as beginColumns } from "./columns.js";
import { h, refusal, replace, say } from "./dom.js";
import { begin as beginDrawer } from "./drawer.js";
import { begin as beginGrid, focusTable } from "./grid.js";
import { begin as beginInstrument, focusLine } from "./instrument.js";
import { begin as beginModel } from "./model.js";
import { openRelease } from "./release.js";
import { openStart, show } from "./start.js";
import { redo, set, state, undo, watch } from "./store.js";
import { t } from "./text.js";
import { begin as beginTop } from "./top.js";
import { startTour, wasToured } from "./tour.js";
import { begin as beginVerdict, pinNow } from "./verdict.js";

const place = (name) => document.getElementById(name);

async function begin() {
  const [known, { cuts, fields, roles, endings, l_kinds: lKinds, axis_kinds: axisKinds, sensitive_goals: sensitiveGoals }] = await Promise.all([request("GET", "/api/state"), request("GET", "/api/fields")]);
  set({ known, cuts, fields, roles, endings, lKinds, axisKinds, sensitiveGoals });
  beginTop(place("top"));
  beginColumns(place("columns"));
  beginInstrument(place("instrument"));
  beginGrid(place("grid"));
  beginVerdict(place("verdict"));
  beginDrawer(place("drawer"));
  beginModel();
  watch(({ name, theme }) => [name, theme], () => { document.title = `${state.name ? `${state.name} · ` : ""}${t("appName")}`; nameParts(); });
  await openFirst(known);
}

function nameParts() {
  for (const [name, text] of [["columns", "columns"], ["instrument", "instrument"], ["grid", "table"], ["verdict", "verdict"]]) place(name).setAttribute("aria-label", t(text));
}

// The table of the address; on a first run the made-up town, with a tour.
async function openFirst(known) {
  const [, id] = location.pathname.match(/^\/tables\/(\w+)$/) ?? [];
  if (id) show(await request("GET", `/api/tables/${id}`));
  else if (known.tables.length) show(await request("GET", `/api/tables/${known.tables.at(-1).id}`));
  else if (!wasToured()) show(await request("POST", "/api/examples/town"));
  else openStart();
  if (!wasToured()) startTour();
}

const KEYS = { k: focusLine, t: focusTable, p: pinNow, r: () => { const main = document.querySelector('[data-part="release"]'); if (main && !main.disabled) openRelease(); } };

addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase(), isTyping = event.target.matches?.("input, textarea, select"), isText = event.target.matches?.("input[type=text], input[type=search], textarea"), isOpen = Boolean(document.querySelector("dialog[open]"));
  if ((event.ctrlKey || event.metaKey) && !isText && !isOpen && (key === "z" || key === "y")) { // a dialog says what is true of this plan
    event.preventDefault();
    if (key === "y" || event.shiftKey) redo(); else undo();
  } else if (key === "escape" && !isOpen && state.drawer) set({ drawer: null });
  else if (!isTyping && !isOpen && !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[key]) { event.preventDefault(); KEYS[key](); }
});

// A file may be dropped anywhere; elsewhere the browser would show it in place of the studio.
for (const name of ["dragover", "drop"]) {
  addEventListener(name, (event) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (name === "drop" && !document.querySelector("dialog[open]")) openStart(event.dataTransfer.files[0]);
  });
}

addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  say(event.reason?.message || t("wrong"));
});

begin().catch((fault) => {
  const isLocked = fault.status === 401;
  replace(place("screen"), h("div", { class: "expired" }, h("h1", {}, t(isLocked ? "expiredTitle" : "cannot")), isLocked ? h("p", { role: "alert" }, t("expired")) : refusal(fault), !isLocked && h("p", {}, h("a", { href: "/" }, t("startTitle")))));
});
