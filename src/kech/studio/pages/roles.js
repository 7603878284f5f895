// Step 2: what every column is for. Nothing proceeds while one of them is open.

import { button, field, h, input, quoted, refusal, replace, select } from "./dom.js";
import { count, percent, plural } from "./numbers.js";
import { INSPECTED } from "./table.js";
import { inPageWords } from "./words.js";
import { work } from "./work.js";

const ROLES = [
  ["", "choose …"], ["quasi-identifier", "Quasi-identifier"], ["sensitive", "Sensitive"], ["person", "Person"], ["identifier", "Identifier"],
  ["keep", "Keep as it is"], ["drop", "Leave out"],
];
const MEANING = {
  "quasi-identifier": "others may know it of a person, so it is blurred",
  sensitive: "to be protected, published as it is",
  person: "rows with the same value are one person, and k counts people; never published",
  identifier: "names a person, never published",
  keep: "published as it is",
  drop: "not published",
};
const SUGGESTED = { plain: "drop" };
const suggestion = (column) => SUGGESTED[column.role] ?? column.role;
const wording = Object.fromEntries(ROLES);

// What is still to be said about the columns; empty where nothing is.
function unsaid(roles) {
  const open = roles.filter((role) => !role).length;
  if (open) return `${plural(open, "column has", "columns have")} no role yet.`;
  return roles.includes("quasi-identifier") ? "" : "Name at least one quasi-identifier.";
}

// Columns that seem to name people who have several rows, while nobody said whose the rows are.
export function peopleInDoubt(table, { repeated_people: said }) {
  return table.knowsPeople ? [] : said.map((text) => h("p", { class: "note", role: "alert" }, inPageWords(text)));
}

// Later steps show this, and nothing else, while roles are open; gives whether they are.
export function waitsForRoles(root, { table, go }, title, { columns }) {
  const said = unsaid(columns.map(({ column }) => table.roleOf(column)));
  if (said) replace(root, h("h1", {}, title), refusal({ message: said }, "Not yet"), button("Go to roles", () => go("roles"), "main"));
  return Boolean(said);
}

export async function show(root, context) {
  const { table, go } = context, busy = h("div", {}), trouble = h("div", {}), body = h("div", {});
  replace(root, h("h1", {}, "What is every column for?"),
    h("ul", { class: "hint" }, ROLES.slice(1).map(([role, text]) => h("li", {}, h("strong", {}, text), `: ${MEANING[role]}`))), busy, trouble, body);
  const found = await work(busy, context, "inspect", INSPECTED, "Looking at the columns");
  if (!found) return;
  const roles = Object.fromEntries(found.columns.map(({ column }) => [column, table.roleOf(column)]));
  const rows = found.columns.map((column) => line(column, roles, found.rows, changed));
  const left = h("span", { role: "status" }), next = button("Continue to axes", () => go("axes"), "main");
  const filter = input("search", "", () => {}, { "aria-label": "Show columns whose name holds", placeholder: "Find a column" });
  filter.addEventListener("input", () => rows.forEach((row) => { row.hidden = !row.dataset.name.includes(filter.value.toLowerCase()); }));

  const people = h("div", {}), alone = h("input", { type: "checkbox", checked: Boolean(table.asked("rows_are_people")), onchange: () => keep(table.ask({ rows_are_people: alone.checked })) });
  const keep = (saved) => saved.then(() => { replace(trouble); draw(); }, (fault) => { alone.checked = Boolean(table.asked("rows_are_people")); replace(trouble, refusal(fault)); });

  function changed() {
    draw();
    return keep(table.setRoles(roles));
  }
  function draw() {
    const said = unsaid(Object.values(roles));
    next.disabled = said !== "";
    left.textContent = said || "Every column has a role.";
    replace(people, peopleInDoubt(table, found));
    rows.forEach((row) => {
      row.dataset.open = String(!roles[row.dataset.column]);
      row.querySelector("select").value = roles[row.dataset.column];
    });
  }
  const takeAll = () => {
    found.columns.forEach((column) => { roles[column.column] ||= suggestion(column); });
    return changed();
  };
  const byPeople = found.counted === "people";
  replace(body,
    h("div", { class: "bar middle" }, button("Take the suggestions", takeAll), found.columns.length > 12 && filter, left), people,
    field("Every row is another person", alone, table.fields.rows_are_people.help, "field row"),
    found.k != null && h("p", {}, `As it is, k = ${found.k}${byPeople ? " by people" : ""}: ${percent(found.unique_share)} of the rows ${byPeople ? "equal no row of another person" : "are unique"} on ${found.quasi_identifiers.map(quoted).join(", ")}.`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns" }, h("table", { class: "roles" },
      h("thead", {}, h("tr", {}, ["Column", "Role", "Suggestion", "Type"].map((text) => h("th", { scope: "col" }, text)),
        h("th", { scope: "col", class: "number" }, "Distinct"), h("th", { scope: "col", class: "number" }, "Missing"), h("th", { scope: "col" }, "Rows by value"))),
      h("tbody", {}, rows))),
    h("div", { class: "next" }, next, button("Back", () => go("open"))));
  draw();
}

function line(column, roles, total, changed) {
  const role = select(ROLES, roles[column.column], (value) => { roles[column.column] = value; changed(); }, { "aria-label": `Role of ${column.column}` });
  return h("tr", { "data-name": column.column.toLowerCase(), "data-column": column.column },
    h("th", { scope: "row" }, column.column),
    h("td", {}, role),
    h("td", {}, wording[suggestion(column)], h("br"), h("span", { class: "hint" }, column.reason), column.trouble && h("div", { class: "hint" }, column.trouble)),
    h("td", {}, column.type),
    h("td", { class: "number" }, count(column.distinct)),
    h("td", { class: "number" }, column.nulls ? percent(column.nulls / total) : "none"),
    h("td", {}, histogram(column)));
}

function histogram({ histogram: bars, type, column }) {
  if (!bars.length) return h("span", { class: "hint" }, "too many values");
  const most = Math.max(...bars);
  const text = type === "text" ? `the most frequent of ${plural(bars.length, "value")} has ${count(most)} rows` : `${bars.length} equal steps, ${count(most)} rows in the fullest`;
  const made = h("div", { class: "histogram", role: "img", "aria-label": `Histogram of ${column}: ${text}`, title: text });
  for (const rows of bars) {
    const bar = h("i");
    bar.style.height = `${(100 * rows) / most}%`;
    made.append(bar);
  }
  return made;
}
