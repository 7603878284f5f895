// What a release does, in plain words.

import { quoted } from "./dom.js";
import { count, percent, plural, short } from "./numbers.js";

export function consequences(found, total) {
  const { figures, columns } = found;
  const said = [`Every person hides among at least ${count(figures.k)}: ${plural(figures.classes, "class", "classes")}, ${short(figures.average_class)} rows each on average.`];
  said.push(...columns.map(columnWords));
  said.push(figures.suppressed ? `${percent(figures.suppressed / total)} of the rows are left out.` : "No row is left out.");
  if (figures.l === 1) said.push("In some class all rows share one sensitive value: who knows the class learns it. Ask for l = 2 or more.");
  else if (figures.l) said.push(`Every class has at least ${plural(figures.l, "value")} of each sensitive column.`);
  return said;
}

function columnWords({ column, axis, width, exact, lost }) {
  const name = quoted(column);
  const often = lost > 0 ? `; in ${percent(lost)} of the rows it is not told` : "";
  if (exact > 0.9995) return `${name} stays as it is.`;
  if (exact > 0.95) return `${name} stays as it is in ${percent(exact)} of the rows${often}.`;
  if (width === null) return `${name} is not told at all.`;
  const kept = exact > 0.005 ? `, as it is in ${percent(exact)} of the rows` : "";
  return `${name} becomes ${extent(axis, width)} on average${kept}${often}.`;
}

function extent(axis, width) {
  if (axis === "numeric") return `ranges of ${short(width)}`;
  if (axis !== "date") return `${axis === "tree" ? "labels that stand for" : "sets of"} ${short(width)} values`;
  if (width < 60) return `ranges of ${short(width)} days`;
  return width < 730 ? `ranges of ${short(width / 30.44)} months` : `ranges of ${short(width / 365.25)} years`;
}
