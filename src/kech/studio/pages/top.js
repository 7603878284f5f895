// The bar at the top: file, undo and redo, plan, language, colours, and the one button that releases.

import { request } from "./api.js";
import { button, dialog, h, refusal, replace, say } from "./dom.js";
import { isReady, looks, shown } from "./model.js";
import { fileName, saveAs } from "./pictures.js";
import { openRelease } from "./release.js";
import { openStart } from "./start.js";
import { edit, redo, set, state, undo, watch } from "./store.js";
import { language, languages, speak, t } from "./text.js";
import { startTour } from "./tour.js";

export function begin(place) {
  watch(({ name, past, future, theme, plan, drawer, drag }) => [name, past, future, theme, plan, drawer, drag == null, ...looks()], () => draw(place));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => set({ theme: state.theme + 1 }));
}

function draw(place) {
  const held = place.contains(document.activeElement) ? document.activeElement.dataset.part : null;
  const tool = (part, text, act, more = {}) => button(text, act, "quiet", { "data-part": part, ...more });
  const answer = state.plan && isReady() ? shown() : null, ready = Boolean(answer?.data && !answer.stale && !answer.preview && state.drag == null);
  replace(place,
    h("h1", { class: "brand" }, h("img", { src: "/static/icon.svg", alt: "", width: "22", height: "22" }), h("span", {}, t("appName"))),
    h("nav", { class: "tools", "aria-label": t("file") },
      button(`${t("file")}: ${fileName(state.name) || t("open")}`, openStart, "file", { "data-part": "file", title: state.name }),
      tool("undo", "↶", undo, { "aria-label": t("undo"), title: t("undo"), disabled: !state.past.length }), tool("redo", "↷", redo, { "aria-label": t("redo"), title: t("redo"), disabled: !state.future.length }),
      tool("save", t("savePlan"), savePlan, { disabled: !state.plan }), tool("load", t("loadPlan"), loadPlan, { disabled: !state.plan }),
      button(t("advanced"), () => set({ drawer: state.drawer?.kind === "advanced" ? null : { kind: "advanced" } }), "quiet", { "data-part": "advanced", disabled: !isReadyNow() })),
    h("div", { class: "tools end" },
      tool("tour", t("tourAgain"), startTour), tool("language", t("otherLanguage"), () => { speak(languages.find((one) => one !== language())); set({ theme: state.theme + 1 }); }, { lang: languages.find((one) => one !== language()) }),
      tool("theme", t(isDark() ? "light" : "dark"), turnColours, { "aria-label": t(isDark() ? "toLight" : "toDark") }),
      button(t("release"), openRelease, "main", { "data-part": "release", disabled: !ready })));
  if (held) place.querySelector(`[data-part="${held}"]`)?.focus();
}

const isReadyNow = () => Boolean(state.plan) && isReady();

// -- the plan as a file ----------------------------------------------------------------------------------------

const PLAN = "kech.toml";
const treesOf = (plan) => Object.entries(plan.axes ?? {}).filter(([, axis]) => axis.hierarchy);

// The plan and the hierarchies that it names, each a file.
async function savePlan() {
  const trees = treesOf(state.plan).map(([, { hierarchy }]) => hierarchy), from = `/api/tables/${state.id}`;
  saveAs(new Blob([await request("GET", `${from}/plan`)], { type: "text/plain" }), PLAN);
  for (const name of trees) saveAs(new Blob([await request("GET", `${from}/trees/${name}`)], { type: "text/plain" }), name);
  if (trees.length) say(t("planSaved", { names: trees }));
}

function loadPlan() {
  const chosen = h("input", { type: "file", multiple: true, accept: ".toml,.csv,.json", onchange: async () => {
    try {
      await takePlan([...chosen.files]);
      say(t("planLoaded"));
    } catch (fault) { const box = dialog(t("loadPlan")); box.fill(refusal(fault)); box.open(); }
  } });
  chosen.click();
}

// A plan comes with its hierarchies, but for those that the table has already.
async function takePlan(files) {
  const to = `/api/tables/${state.id}`, texts = files.filter(({ name }) => name.endsWith(".toml")), file = texts.find(({ name }) => name === PLAN) ?? texts[0] ?? files[0];
  const { plan } = await request("POST", `${to}/plan`, new Blob([file])), wanted = treesOf(plan).filter(([column, { hierarchy }]) => state.plan.axes[column]?.hierarchy !== hierarchy);
  const lacking = wanted.filter(([, { hierarchy }]) => !files.some(({ name }) => name === hierarchy)).map(([, { hierarchy }]) => hierarchy);
  if (lacking.length) throw new Error(t("planTrees", { names: lacking }));
  for (const [, axis] of wanted) axis.hierarchy = (await request("POST", `${to}/trees?name=${encodeURIComponent(axis.hierarchy)}`, new Blob([files.find(({ name }) => name === axis.hierarchy)]))).hierarchy;
  await edit((next) => { next.plan = plan; const named = Object.values(plan.columns ?? {}).flat(); next.dropped = next.dropped.filter((column) => !named.includes(column)); }, "plan");
  if (state.fault?.field === "plan") throw new Error(state.fault.message);
}

// -- light and dark ------------------------------------------------------------------------------------------

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function turnColours() {
  const chosen = isDark() ? "light" : "dark";
  localStorage.setItem("theme", chosen);
  document.documentElement.dataset.theme = chosen;
  set({ theme: state.theme + 1 });
}
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
