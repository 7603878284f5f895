// The tour: three steps through the screen, for whoever sees it first.

import { button, h, replace } from "./dom.js";
import { t } from "./text.js";

const STEPS = ["columns", "instrument", "verdict"], SEEN = "toured";

export const wasToured = () => localStorage.getItem(SEEN) === "yes";

export function startTour(at = 0) {
  const step = typeof at === "number" ? at : 0, before = document.querySelector(".tour");
  before?.remove();
  for (const name of STEPS) document.getElementById(name).classList.toggle("toured", STEPS[step] === name);
  if (step >= STEPS.length) { localStorage.setItem(SEEN, "yes"); return; }
  const end = () => startTour(STEPS.length), title = h("h2", { id: "tour-title" }, t(`tour${step + 1}`));
  const box = h("section", { class: `tour at-${STEPS[step]}`, role: "dialog", "aria-labelledby": "tour-title" });
  const go = button(t(step === STEPS.length - 1 ? "done" : "next"), () => startTour(step + 1), "main");
  replace(box, h("p", { class: "hint" }, t("tourStep", { at: step + 1 })), title, h("p", {}, t(`tour${step + 1}Text`)), h("div", { class: "bar" }, go, step > 0 && button(t("back"), () => startTour(step - 1)), button(t("close"), end, "quiet")));
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); end(); } });
  document.body.append(box);
  document.getElementById(STEPS[step]).scrollIntoView({ block: "nearest" });
  go.focus();
}
