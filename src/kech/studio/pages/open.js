// Step 1: choose a table; see its first rows as they are read; mend how it is read.

import { request } from "./api.js";
import { button, field, h, input, refusal, replace, select } from "./dom.js";
import { count } from "./numbers.js";
import { INSPECTED } from "./table.js";
import { work } from "./work.js";

const ENDINGS = ".csv,.tsv,.txt,.parquet,.pq,.arrow,.feather,.ipc,.xlsx,.xls,.ods";
const EXAMPLES = {
  nine: ["Nine rows", "Age, ZIP code and salary of nine people, from the paper."],
  town: ["A made-up town", "20,000 people: age, sex, ZIP code, schooling, job, and a diagnosis to protect."],
};
const DELIMITERS = [["", "found by itself"], [",", "comma ,"], [";", "semicolon ;"], ["\t", "tab"], ["|", "bar |"]];
const ENCODINGS = [["", "UTF-8"], ["utf-16", "UTF-16"], ["latin-1", "Latin-1"], ["cp1252", "Windows 1252"]];
const KINDS = [["number", "as number"], ["date", "as date"], ["set", "as text"]]; // in place of the type that was found

export const show = (root, context) => (context.table ? showTable(root, context) : showChoice(root, context));

// -- choosing ------------------------------------------------------------------------------------------------

async function showChoice(root, { go, signal }) {
  const trouble = h("div", {}), known = await request("GET", "/api/state", undefined, signal);
  const opened = (promise) => promise.then((state) => go("open", state.id), (fault) => replace(trouble, refusal(fault, "This file cannot be opened")));
  const upload = (file) => {
    replace(trouble, h("p", { class: "note" }, `Handing over ${file.name} …`));
    opened(request("POST", `/api/tables?name=${encodeURIComponent(file.name)}`, new Blob([file])));
  };
  const chosen = h("input", { type: "file", id: "file", accept: ENDINGS, onchange: (event) => event.target.files[0] && upload(event.target.files[0]) });
  const zone = h("div", { class: "drop" },
    h("p", {}, "Drop a CSV, Parquet, Arrow or Excel file here, or"), chosen, h("label", { for: "file", class: "button main" }, "Choose a file"),
    h("p", { class: "hint" }, "The file stays on this machine. It is read by a process that can do nothing else, and forgotten when the studio ends."));
  for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.toggle("over", over); });
  }
  zone.addEventListener("drop", (event) => event.dataTransfer.files[0] && upload(event.dataTransfer.files[0]));
  replace(root, h("h1", {}, "Open a table"), trouble, zone,
    h("h2", {}, "Or try an example"),
    h("div", { class: "grid examples" }, known.examples.map((name) => h("section", { class: "panel" },
      h("h3", {}, EXAMPLES[name][0]), h("p", {}, EXAMPLES[name][1]),
      button(`Open ${EXAMPLES[name][0].toLowerCase()}`, () => opened(request("POST", `/api/examples/${name}`)))))),
    known.series.length > 0 && [h("h2", { class: "next" }, "Series in this folder"),
      h("ul", {}, known.series.map((name) => h("li", {}, h("a", { href: `/series/${encodeURIComponent(name)}` }, name))))],
    known.tables.length > 0 && [h("h2", { class: "next" }, "Open tables"),
      h("ul", {}, known.tables.map((table) => h("li", {}, h("a", { href: `/tables/${table.id}/open` }, table.name))))]);
}

// -- how it is read ------------------------------------------------------------------------------------------

async function showTable(root, context) {
  const { table, go, again } = context, busy = h("div", {}), trouble = h("div", {}), rows = h("div", {}), facts = h("p", { class: "hint told" }, "Being read …"), next = h("div", { class: "next" });
  const section = table.plan.reading;
  const set = (change) => table.save((it) => { it.plan.reading = { ...it.plan.reading, ...change }; }).then(again, (fault) => replace(trouble, refusal(fault)));
  const isText = /\.(csv|tsv|txt)$/i.test(table.name);
  replace(root,
    h("h1", {}, table.name), facts, trouble,
    h("div", { class: "bar" },
      isText && field("Fields are parted by", select(DELIMITERS, section.delimiter ?? "", (value) => set({ delimiter: value }))),
      isText && field("Encoding", select(ENCODINGS, section.encoding ?? "", (value) => set({ encoding: value }))),
      field("Texts that mean “missing”", input("text", (section.null_values ?? []).join(", "), (value) => set({ null_values: split(value) }), { placeholder: "NA, ?" }))),
    busy, rows, next);
  const close = button("Close this table", () => request("DELETE", `/api/tables/${table.id}`).then(() => go("open", null)));
  const found = await work(busy, context, "inspect", INSPECTED, "Reading the table");
  if (!found) { facts.textContent = "It could not be read this way."; replace(next, close); return; }
  const dialect = found.delimiter ? `, fields parted by “${found.delimiter === "\t" ? "tab" : found.delimiter}”, ${found.encoding}` : "";
  facts.textContent = `${count(found.rows)} rows, ${found.columns.length} columns (${found.format}${dialect})`;
  replace(rows, preview(found, table, trouble));
  replace(next, button("Continue to roles", () => go("roles"), "main"), close);
}

const split = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);

function preview(found, table, trouble) {
  const types = found.columns.map(({ column, type }) => {
    const change = (kind) => table.setAxis(column, { kind }).catch((fault) => replace(trouble, refusal(fault)));
    const options = [["", type], ...KINDS];
    return h("td", {}, select(options, table.axis(column).kind ?? "", change, { class: "small", "aria-label": `Type of ${column}` }));
  });
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "First rows" }, h("table", { class: "cells" },
    h("caption", {}, "The first rows, as they are read. ", h("span", { class: "private" }, "PRIVATE")),
    h("thead", {}, h("tr", {}, found.columns.map(({ column: name }) => h("th", { scope: "col", title: name }, name))), h("tr", {}, types)),
    h("tbody", {}, found.first_rows.map((row) => h("tr", {}, row.map(cell))))));
}

export const cell = (value) => (value === null ? h("td", { class: "null" }, "missing") : h("td", { title: value }, value));
