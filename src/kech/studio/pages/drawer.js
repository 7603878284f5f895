// The drawer at the side: how one column is blurred, or everything for those who ask for more.

import { drawAdvanced } from "./advanced.js";
import { button, h, keepingFocus, replace } from "./dom.js";
import { drawHierarchy } from "./hierarchy.js";
import { about, contents } from "./model.js";
import { quasi, set, watch } from "./store.js";
import { t } from "./text.js";

const section = h("section", { class: "drawer", role: "dialog" });
let before = null, last = null;

export function begin(place) {
  watch(({ drawer, plan, theme, fault, known }) => [drawer, plan, theme, fault, known, ...(drawer ? contents(drawer) : [])], ({ drawer }) => {
    if (!drawer || !about() || (drawer.column && !quasi().includes(drawer.column))) { close(); return; }
    const isNew = last !== JSON.stringify(drawer), title = drawer.kind === "hierarchy" ? t("howBlurred", { column: drawer.column }) : t("advancedTitle");
    if (last === null) { before = document.activeElement; place.append(section); }
    last = JSON.stringify(drawer);
    section.setAttribute("aria-label", title);
    keepingFocus(section, () => replace(section, h("div", { class: "titlebar" }, h("h2", {}, title), button("×", () => set({ drawer: null }), "quiet", { "aria-label": t("close") })),
      h("div", { class: "content" }, drawer.kind === "hierarchy" ? drawHierarchy(drawer.column) : drawAdvanced())));
    if (isNew) { section.scrollTop = 0; section.querySelector(".titlebar button").focus(); }
  });
}

function close() {
  if (last === null) return;
  last = null;
  section.remove();
  if (before?.isConnected) before.focus();
}
