// Opening a table: a file, an example, or one that is open already; and how the file is read.

import { request } from "./api.js";
import { button, dialog, field, h, input, quoted, refusal, replace, select } from "./dom.js";
import { choose, defaultOf, fieldOf, numberBox, optionsOf } from "./forms.js";
import { about } from "./model.js";
import { edit, set, state, take } from "./store.js";
import { t } from "./text.js";

// Open a table; the one of a file that was dropped at once.
export async function openStart(dropped = null) {
  const known = await request("GET", "/api/state");
  set({ known });
  const trouble = h("div", {}), box = dialog(t("startTitle"));
  const opened = (promise) => promise.then((told) => { box.close(); show(told); }, (fault) => replace(trouble, refusal(fault, t("notOpened"))));
  const upload = (file) => {
    replace(trouble, h("p", { class: "note" }, t("handing", { name: file.name })));
    opened(request("POST", `/api/tables?name=${encodeURIComponent(file.name)}`, new Blob([file])));
  };
  const file = h("input", { type: "file", id: "file", class: "unseen", accept: state.endings.read.join(","), onchange: (event) => event.target.files[0] && upload(event.target.files[0]) });
  const zone = h("div", { class: "zone" }, h("p", {}, t("dropHere")), file, h("label", { for: "file", class: "button main" }, t("chooseFile")), h("p", { class: "hint" }, t("staysHere")));
  for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.toggle("over", over); });
  }
  zone.addEventListener("drop", (event) => event.dataTransfer.files[0] && upload(event.dataTransfer.files[0]));
  box.fill(trouble, zone, state.plan && reading(),
    h("h3", {}, t("examples")), h("div", { class: "examples" }, known.examples.map((name) => h("button", { type: "button", onclick: () => opened(request("POST", `/api/examples/${name}`)) }, h("strong", {}, t(name)), h("span", { class: "hint" }, t(`${name}Text`))))),
    known.tables.length > 0 && [h("h3", {}, t("openTables")), h("ul", { class: "plain" }, known.tables.map((table) => h("li", {}, button(table.name, () => opened(request("GET", `/api/tables/${table.id}`)), "link"))))],
    h("p", { class: "hint" }, t("keys")), state.id && button(t("closeTable"), () => request("DELETE", `/api/tables/${state.id}`).then(() => { box.close(); leave(); }), "quiet"));
  box.open();
  if (dropped instanceof File) upload(dropped);
}

// Show a table that the server holds.
export function show(told) {
  history.replaceState(null, "", `/tables/${told.id}`);
  set({ past: [], future: [], fault: null, drag: null, eps: null, zoom: 0, filter: "all", lit: -1, drawer: null, pins: [], isGlimpsed: false });
  take(told);
}

function leave() {
  history.replaceState(null, "", "/");
  set({ id: null, name: "", plan: null, dropped: [], past: [], future: [], drawer: null, pins: [], lit: -1 });
  openStart();
}

// -- how it is read ------------------------------------------------------------------------------------------

export function reading() {
  const now = state.plan.input, trouble = h("div", {}), facts = h("p", { class: "hint" });
  const refused = () => replace(trouble, state.fault?.field === "input" && h("p", { class: "refusal", role: "alert" }, state.fault.message));
  const put = (name) => (value) => { facts.hidden = true; edit((next) => { next.plan.input[name] = value; }, "input").then(refused); };
  const isBook = [".xlsx", ".xls", ".ods"].some((ending) => state.name.toLowerCase().endsWith(ending));
  const isText = state.endings.text.some((ending) => state.name.toLowerCase().endsWith(ending)), seen = about();
  if (seen) facts.append(t("facts", { rows: seen.rows, columns: seen.columns.length, format: seen.format }));
  refused();
  const pick = (name) => isText && field(t(name), choose(name, name, now[name], (value) => put(name)(value === defaultOf(name) ? null : value)));
  return h("details", { class: "panel", open: !seen }, h("summary", {}, `${t("reading")}: ${quoted(state.name)}`),
    seen && facts, trouble,
    h("div", { class: "fields" },
      isText && field(t("delimiter"), select([["", t("foundItself")], ...optionsOf("delimiter")], now.delimiter ?? "", put("delimiter"))),
      isBook && field(t("sheet"), input("text", now.sheet ?? "", (value) => put("sheet")(value || null), { placeholder: t("firstSheet") })),
      (isText || isBook) && field(t("headerLine"), numberBox("header_line", now.header_line ?? "", (value) => put("header_line")(value === "" ? null : Number(value)))),
      pick("encoding"), pick("decimal"), pick("dates"),
      field(t("nulls"), input("text", (now.null_values ?? []).join(", "), (value) => put("null_values")(split(value)), { placeholder: fieldOf("null_values").example.replaceAll(" ", ", ") }))),
    isText && tick("rename_duplicates", now, put), tick("fold_variants", now, put));
}

function tick(name, now, put) {
  const box = h("input", { type: "checkbox", onchange: (event) => put(name)(event.target.checked || null) });
  box.checked = Boolean(now[name]);
  return field(t(name), box, "", "check");
}

const split = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);
