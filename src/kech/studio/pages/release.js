// Step 6: write the release where the user says, and show that it holds.

import { request } from "./api.js";
import { button, field, h, input, quoted, replace, say, select } from "./dom.js";
import { count, loss, percent } from "./numbers.js";
import { peopleInDoubt } from "./roles.js";
import { INSPECTED } from "./table.js";
import { work } from "./work.js";

export async function show(root, context) {
  const { table, go, signal } = context;
  if (table.asked("k") == null && table.asked("eps") == null) {
    replace(root, h("h1", {}, "Release"), h("p", {}, "Choose k first."), button("Go to choose", () => go("choose"), "main"));
    return;
  }
  const known = await request("GET", "/api/state", undefined, signal), busy = h("div", {}), result = h("div", { role: "status" });
  const doubts = h("div", {}), crowd = promise(table);
  const stem = table.name.split(/[\\/]/).at(-1).replace(/\.[^.]*$/, "").replace(/^\.+/, "") || "release";
  const folder = input("text", `${stem}-k${table.asked("k")}`, () => {}, { size: 30, autocomplete: "off" });
  const ending = select([[".csv", "CSV"], [".parquet", "Parquet"]], ".csv", () => {});
  const write = button("Write the release", () => start(), "main");

  const anyway = h("input", { type: "checkbox" });
  const allow = field("Release it all the same: together the two tell more than each alone", anyway, "", "field row");

  async function start(job) {
    write.disabled = true;
    replace(result);
    const wish = { folder: folder.value.trim(), ending: ending.value, ...(anyway.checked ? { allow_composition: true } : {}) };
    let command = "";
    const found = await work(busy, context, "release", wish, "Writing the release", { job, named: (now) => { ({ command } = now); } });
    write.disabled = false;
    if (found) replace(result, written(found, command));
    else if (busy.textContent.includes("released before")) busy.append(allow);
  }
  replace(root, h("h1", {}, "Release"),
    h("p", {}, crowd && `${crowd} `, "The table, its certificate, a report that explains it and the plan that makes it again are written into a new folder. Rows are shuffled; only quasi-identifiers, sensitive and kept columns are published."),
    h("div", { class: "bar" }, field("Folder", folder, `below ${known.folder}`), field("Format", ending), write, button("Back", () => go("choose"))), doubts, busy, result);
  const about = await work(busy, context, "inspect", INSPECTED, "Looking at the columns");
  if (about) replace(doubts, peopleInDoubt(table, about));
  const running = table.running?.find((job) => job.verb === "release");
  if (running) await start(running);
}

// What is promised where people are named, before anything is written.
function promise(table) {
  const k = table.asked("k");
  if (!table.countsPeople || k == null) return null;
  if (table.asked("protect_history")) return `Every person will hide among at least ${count(k)} people with all of their rows.`;
  return `Every row will hide among rows of at least ${count(k)} different people (stated by the maker).`;
}

// What is known of people: recounted where the file numbers them, otherwise stated.
function people({ stated, histories }) {
  if (histories) {
    return [`Recounted from the file by its person numbers: every person hides among at least ${count(histories.k)} people with all of their rows; ${count(histories.people)} people.`,
      "Stated by the maker: every person number is one person."];
  }
  return stated ? [`Stated by the maker: every class holds rows of at least ${count(stated.k)} different people; the file holds rows of ${count(stated.people)}. Nobody can recount people from the file; you can, with the original.`] : [];
}

function written(release, command) {
  const { verified, plan, report, private: secrets } = release;
  const warnings = [
    ...Object.entries(release.given_away).map(([column, part]) => `${percent(part)} of the published rows have their ${quoted(column)} value given away: their whole class shares it; a missing value counts as one.`),
    ...(release.loss_with_l_2 == null ? [] : [`Choose l = 2 to mend it: the loss becomes about ${loss(release.loss_with_l_2)} or less, instead of ${loss(release.loss)}.`]),
    ...release.identifying.map((column) => `${quoted(column)} is published as it is, and nearly every row has a value of its own: give it no role; a number or a date may be a quasi-identifier.`),
    ...release.identifying_together.map((columns) => `${columns.map(quoted).join(", ")} are published as they are, and nearly every row is unique on them together: give one of them no role; a number or a date may be a quasi-identifier.`),
    ...release.rare_texts.map((column) => `Of ${quoted(column)} nearly every row has a text of its own, so labels hardly tell anything: give it a hierarchy, or no role.`),
    ...(release.ledger.joint_k == null ? [] : [`Together with earlier releases every row has at least ${count(release.ledger.joint_k)} candidates (at worst ${count(release.ledger.worst_k)}).`]),
    ...release.unhidden_edges.map((column) => `Edges of ${quoted(column)} need not hide among k ${release.stated ? "people" : "rows"}.`),
  ];
  const figures = [[release.stated ? "k (rows)" : "k", count(verified.k)], ["rows", count(verified.rows)], ["classes", count(verified.classes)], ["loss", verified.loss == null ? "not known" : loss(verified.loss)], ["left out", String(release.suppressed)]];
  return h("div", {},
    h("section", { class: "holds" }, h("h2", {}, "✓ The written file holds"),
      h("p", {}, "Recomputed from the file alone:"),
      h("dl", { class: "figures" }, figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
      people(release).map((text) => h("p", {}, text)),
      h("p", {}, "k-anonymity hides rows in a crowd. It does not stop somebody who knows more than the columns you named.")),
    warnings.map((text) => h("p", { class: "note" }, text)),
    h("h2", {}, "Files"), h("ul", {}, [release.file, release.certificate, report, plan].map((file) => h("li", {}, h("code", {}, file))),
      secrets.map((file) => h("li", {}, h("code", {}, file), " ", h("span", { class: "private" }, "PRIVATE")))),
    secrets.length > 0 && h("p", { class: "note" }, "Hierarchies hold values of the table. The plan needs them; do not publish them."),
    release.dropped.length > 0 && h("p", {}, `Not published: ${release.dropped.map(quoted).join(", ")}`),
    h("h2", {}, "The same from the command line, into another folder"), h("pre", { tabindex: "0" }, command),
    button("Copy the command", () => navigator.clipboard.writeText(command).then(() => say("Copied."), () => say("Copying was not allowed."))));
}
