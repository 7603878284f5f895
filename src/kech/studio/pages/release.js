// The release: what will be published and what is promised; then the files, the command that does the same, and all releases.

import { asAddress, request, run } from "./api.js";
import { doubts } from "./columns.js";
import { button, dialog, field, h, input, quoted, refusal, replace, say, select } from "./dom.js";
import { about, chosenK, crowds, shown } from "./model.js";
import { count, day, loss } from "./numbers.js";
import { fileName, stemOf } from "./pictures.js";
import { crowdWords, goalWords, untold } from "./sentences.js";
import { edit, giveRoles, roleOf, saved, set, state } from "./store.js";
import { t } from "./text.js";

export async function openRelease() {
  const box = dialog(t("releaseTitle")), known = await request("GET", "/api/state"), { data } = shown();
  set({ known });
  const folder = input("text", freeName(known), () => {}, { size: 28, autocomplete: "off" }), ending = select(state.endings.written.map((one) => [one, t(`format:${one}`)]), state.endings.written[0], () => {});
  const busy = h("div", {}), result = h("div", {}), past = h("div", {}, history(known)), anyway = h("input", { type: "checkbox" }), write = button(t("write"), start, "main", { disabled: true });
  const checked = h("input", { type: "checkbox", onchange: () => { write.disabled = !checked.checked; } });

  async function start() {
    write.disabled = true;
    replace(result);
    replace(busy, h("p", { class: "hint", role: "status" }, t("writing")), h("progress", { "aria-label": t("writing") }));
    busy.scrollIntoView({ block: "nearest" }); // a long dialog begins to scroll above it
    try {
      await saved();
      let command = "";
      const wish = { folder: folder.value.trim(), ending: ending.value, ...(anyway.checked ? { allow_composition: true } : {}) };
      const told = await run(state.id, { verb: "release", options: wish, revision: state.revision }, (job) => { ({ command } = job); });
      const now = await request("GET", "/api/state");
      set({ known: now });
      replace(busy);
      before.hidden = true;
      replace(result, written(told, command, wish.folder));
      replace(past, history(now));
      result.querySelector("h3").focus();
    } catch (fault) {
      replace(busy, refusal(fault), fault.kind === "ReleasedBefore" && field(t("anyway"), anyway, "", "check"));
      write.disabled = !checked.checked;
    }
  }
  const before = h("div", {}, publishes(), promises(data, box.close), h("div", { class: "fields" }, field(t("folder"), folder, t("folderHint", { folder: known.folder })), field(t("format"), ending)), field(t("checked"), checked, "", "check"), h("p", {}, write));
  box.fill(before, busy, result, past);
  box.open();
}

function freeName({ releases }) {
  const stem = stemOf(state.name).replace(/^\.+/, "") || "release", taken = new Set(releases.map(({ folder }) => folder));
  const first = `${stem}-${chosenK() == null ? `eps${state.plan.cut.eps}` : `k${chosenK()}`}`;
  let name = first;
  for (let at = 2; taken.has(name); at += 1) name = `${first}-${at}`;
  return name;
}

function publishes() {
  const of = { "quasi-identifier": "blurredColumns", sensitive: "asIs", keep: "asIs" }, groups = { blurredColumns: [], asIs: [], never: [] };
  for (const { column } of about().columns) groups[of[roleOf(column)] ?? "never"].push(quoted(column));
  return h("section", {}, doubts().length > 0 && h("div", { class: "note", role: "alert" }, h("strong", {}, t("doubts")), doubts()), h("h3", {}, t("willPublish")), h("dl", { class: "pairs" }, Object.entries(groups).filter(([, list]) => list.length).map(([name, list]) => [h("dt", { class: name }, t(name)), h("dd", {}, list.join(", "))])));
}

function promises(data, close) {
  const goals = goalWords(state.plan.goal), together = crowds()?.identifying_together ?? [];
  return h("section", {}, h("h3", {}, t("willHold")), h("ul", {}, h("li", {}, crowdWords(state.plan.goal.k ?? data.k, state.plan.goal)), goals && h("li", {}, t("kept", { goals }))),
    givenAway(data.shared?.given_away ?? {}), together.map((columns) => h("p", { class: "note" }, t("identifyingTogether", { columns: columns.map(quoted).join(", ") }))),
    untold(data.columns).map((column) => h("p", { class: "note" }, t("hidden", { column: quoted(column) }), button(t("leaveOut", { column: quoted(column) }), () => { close(); leaveOut(column); }, "small"))), h("p", { class: "hint" }, t("limits")));
}

function leaveOut(left) {
  const roles = Object.fromEntries(about().columns.map(({ column }) => [column, column === left ? "drop" : roleOf(column)]));
  edit((next) => giveRoles(next, roles), "columns");
}

// -- what was written --------------------------------------------------------------------------------------------

function written(told, command, folder) {
  const { verified } = told;
  const figures = [[t(told.stated ? "figKRows" : "figK"), count(verified.k)], [t("figRows"), count(verified.rows)], [t("figClasses"), count(verified.classes)], [t("figLoss"), verified.loss == null ? t("notKnown") : loss(verified.loss)], [t("figLeft"), String(told.suppressed)]];
  const shell = h("pre", { tabindex: "0" }, command);
  return h("div", { class: "written" }, givenAway(told.given_away),
    h("h3", { tabindex: "-1" }, `✓ ${t("holds")}`), h("dl", { class: "figures" }, figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))), people(told).map((text) => h("p", {}, text)), notes(told).map((text) => h("p", { class: "note" }, text)),
    h("h3", {}, t("files")), h("ul", { class: "files" }, [told.file, told.certificate, told.report, told.plan].map((path) => h("li", {}, fileLinks(folder, fileName(path)), h("code", {}, path))), told.private.map((path) => h("li", {}, h("code", {}, path), " ", h("span", { class: "private" }, t("private"))))),
    told.private.length > 0 && h("p", { class: "note" }, t("secretFiles")),
    h("h3", {}, t("commandTitle")), shell, h("p", { class: "hint" }, t(`commandOf:${state.source}`, { name: quoted(state.name) })), button(t("copyCommand"), () => copy(shell, command)));
}

function copy(shell, command) {
  const pick = () => { getSelection().selectAllChildren(shell); say(t("notCopied")); };
  if (navigator.clipboard) navigator.clipboard.writeText(command).then(() => say(t("copied")), pick);
  else pick();
}

// One alarm for all columns, the worst first.
function givenAway(shares) {
  const given = Object.entries(shares).sort(([, a], [, b]) => b - a);
  return given.length > 0 && h("div", { class: "alarm" }, given.map(([column, share]) => h("p", {}, t("givenAway", { share, column: quoted(column) }))));
}

function notes(told) {
  return [
    ...told.identifying.map((column) => t("identifying", { column: quoted(column) })), ...told.identifying_together.map((columns) => t("identifyingTogether", { columns: columns.map(quoted).join(", ") })),
    ...(told.hidden ?? []).map((column) => t("hidden", { column: quoted(column) })), ...told.rare_texts.filter((column) => !(told.hidden ?? []).includes(column)).map((column) => t("rareTexts", { column: quoted(column) })), ...(told.ledger.joint_k == null ? [] : [t("jointK", { k: told.ledger.joint_k })]), ...told.unhidden_edges.map((column) => t("unhidden", { column: quoted(column) })),
  ];
}

const people = ({ stated, histories }) => (histories ? [t("recountedPeople", histories)] : stated ? [t("statedPeople", stated)] : []);

// -- files and history -------------------------------------------------------------------------------------------

// A file of a release as links. A report has its own styles, which this page forbids, so the server shows it at an address of its own.
function fileLinks(folder, name) {
  const path = `/api/releases/${encodeURIComponent(folder)}/${encodeURIComponent(name)}`, link = (text, act) => h("a", { href: path, onclick: (event) => { event.preventDefault(); act().catch((fault) => say(fault.message)); } }, text);
  const isText = /\.(json|toml|csv)$/.test(name), isPage = name.endsWith(".html");
  const open = async () => window.open(isPage ? (await request("POST", path)).address : await asAddress(path, "text/plain"), "_blank", "noopener");
  return [h("strong", {}, name), " ", (isText || isPage) && [link(t("openFile"), open), " "], link(t("saveFile"), async () => h("a", { href: await asAddress(path), download: name }).click()), " "];
}

function history({ releases, series }) {
  if (!releases.length && !series.length) return null;
  return h("section", { class: "history" }, h("h3", {}, t("historyTitle")), h("ul", { class: "files" }, releases.map((one) => h("li", {}, h("strong", {}, one.folder), ` ${t(one.is_stated ? "figKRows" : "figK")} = ${count(one.k)}, ${count(one.rows)} ${t("figRows")}, ${day(one.when)} `, one.files.map((name) => h("span", { class: "part" }, fileLinks(one.folder, name)))))),
    series.length > 0 && h("p", {}, t("seriesHere", { names: series.map(quoted).join(", ") })));
}
