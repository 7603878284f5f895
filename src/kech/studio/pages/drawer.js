// The drawer at the side: how one column is blurred, or everything for those who ask for more.

import { drawAdvanced } from "./advanced.js";
import { button, h, keepingFocus, replace } from "./dom.js";
import { drawHierarchy } from "./hierarchy.js";
import { about } from "./model.js";
import { quasi, set, watch } from "./store.js";
import { t } from "./text.js";

let before = null;

export function begin(place) {
  watch(({ drawer, plan, version, theme, fault, pictures }) => [drawer, plan, version, theme, fault, pictures], ({ drawer }) => {
    if (!drawer || !about() || (drawer.column && !quasi().includes(drawer.column))) { close(place); return; }
    const isNew = place.dataset.shown !== JSON.stringify(drawer), isTyping = place.contains(document.activeElement) && document.activeElement.matches("input[type=text], textarea");
    if (isNew && !place.dataset.shown) before = document.activeElement;
    if (!isNew && isTyping) return; // what is being typed is not taken away
    const title = drawer.kind === "hierarchy" ? t("howBlurred", { column: drawer.column }) : t("advancedTitle");
    keepingFocus(place, () => replace(place, h("section", { class: "drawer", role: "dialog", "aria-label": title }, h("header", {}, h("h2", {}, title), button("×", () => set({ drawer: null }), "quiet", { "aria-label": t("close") })),
      h("div", { class: "content" }, drawer.kind === "hierarchy" ? drawHierarchy(drawer.column) : drawAdvanced()))));
    place.dataset.shown = JSON.stringify(drawer);
    if (isNew) place.querySelector("header button").focus();
  });
}

function close(place) {
  if (!place.dataset.shown) return;
  delete place.dataset.shown;
  replace(place);
  if (before?.isConnected) before.focus();
}
