// What a release does to people's rows, in sentences of the page's language.

import { quoted } from "./dom.js";
import { defaultOf, kindOf } from "./forms.js";
import { few } from "./numbers.js";
import { countsPeople } from "./store.js";
import { t } from "./text.js";

const TIMES = [[365.25, 730, "years"], [30.44, 60, "months"]]; // days of a unit, days from which it is used, its name

export function sentences({ figures, columns, parameters, k, rows_in: all }) {
  const left = figures.suppressed / all, goals = goalWords(parameters), node = nodeWords(parameters.levels);
  return [crowdWords(k, parameters), t("classesWords", { classes: figures.classes, average: figures.average_class }), ...columns.map(columnWords),
    node && t("atLevels", { node }),
    left ? t("someLeft", { share: left }) : t("noneLeft"), figures.l > 1 && t("diverse", { l: figures.l }), goals && t("kept", { goals })].filter(Boolean);
}

export function crowdWords(k, parameters = {}) {
  if (parameters.protect_history) return t("hideHistories", { k: parameters.k });
  return t(countsPeople() ? "hidePeople" : "hideRows", { k });
}

// Columns of which a release tells nothing.
export const untold = (columns) => columns.filter(({ exact, missing, width, open }) => exact + missing <= 0.95 && width == null && !open).map(({ column }) => column);

function columnWords(about) {
  const column = quoted(about.column), rest = restWords(about);
  if (about.exact + about.missing > 0.9995) return t("stays", { column, rest });
  if (about.exact + about.missing > 0.95) return t("staysMostly", { column, exact: about.exact, rest });
  if (about.width == null) return about.open ? t("oneEnd", { column, rest }) : t("notTold", { column, rest: restWords({ missing: about.missing }) });
  return t("turns", { column, extent: extent(about.axis, about.width), exact: about.exact, rest });
}

const restWords = ({ open, missing, lost }) => [open && t("restOpen", { share: open }), missing && t("restMissing", { share: missing }), lost && t("restLost", { share: lost })].filter(Boolean).join("");

function extent(axis, width) {
  if (axis === "number") return t("ranges", { width });
  if (axis === "date") {
    const [unit, , name] = TIMES.find(([, least]) => width >= least) ?? [1, 0, "days"];
    return t(name, { width: width / unit });
  }
  return t({ hierarchy: "labels", ordered: "ordered" }[axis] ?? "sets", { width });
}

// The levels of a node of the lattice; nothing where none was chosen.
export const nodeWords = (levels) => Object.entries(levels ?? {}).map(([column, level]) => `${quoted(column)} ${level}`).join(", ");

export function goalWords(goals) {
  const said = [];
  if (goals.l != null) said.push(`l = ${few(goals.l)} (${t(`l:${kindOf(goals)}`)}${goals.c == null ? "" : `, c = ${few(goals.c)}`})`);
  if (goals.t != null) said.push(`t = ${few(goals.t)} (${t(`t:${goals.t_kind ?? defaultOf("t_kind")}`)})`);
  if (goals.alpha != null) said.push(`alpha = ${few(goals.alpha)}`);
  return said.join(", ");
}
