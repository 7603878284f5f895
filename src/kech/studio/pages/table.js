// The open table as the page knows it: its plan, and the changes made to it.

import { request, run } from "./api.js";
import { say } from "./dom.js";

const ROLES = { "quasi-identifier": "quasi_identifiers", sensitive: "sensitive", person: "person", identifier: "identifiers", keep: "keep" };

export const INSPECTED = { rows: 10 }; // one question for all pages: its answer is kept
const COUNTED = { k: [1], cut: ["domain"] }; // the quickest question whose answer tells how many people there are

export class Table {
  constructor(state, { fields, cuts }) {
    this.fields = Object.fromEntries(fields.map((field) => [field.name, field])); // everything that can be asked for
    this.cuts = cuts; // every cut, with the rules of what can be asked of it
    this.counts = new Map(); // how many people there are, by how the table is read and who they are
    this.take(state);
  }

  static async find(id) {
    const [state, known] = await Promise.all([request("GET", `/api/tables/${id}`), request("GET", "/api/fields")]);
    return new Table(state, known);
  }

  take(state) {
    Object.assign(this, { id: state.id, name: state.name, revision: state.revision, dropped: state.dropped, running: state.running });
    this.plan = { columns: {}, axes: {}, goal: {}, cut: {}, labels: {}, reading: {}, ...state.plan };
  }

  // Change the plan here and on the server, one change after the other; another tab may have been quicker.
  save(edit) {
    this.saving = (this.saving ?? Promise.resolve()).then(async () => {
      edit(this);
      const { plan, dropped, revision } = this;
      try {
        this.take(await request("PUT", `/api/tables/${this.id}`, { plan: tidy(plan), dropped, revision }));
      } catch (fault) {
        this.take(await request("GET", `/api/tables/${this.id}`));
        if (fault.status === 409) {
          say(fault.message);
          document.dispatchEvent(new CustomEvent("stale"));
        }
        throw fault;
      }
    });
    const done = this.saving;
    this.saving = done.catch(() => {});
    return done;
  }

  inspect(signal) { return run(this.id, "inspect", INSPECTED, { signal }); }

  get quasiIdentifiers() { return this.plan.columns.quasi_identifiers ?? []; }

  roleOf(column) {
    if (this.dropped.includes(column)) return "drop";
    const found = Object.entries(ROLES).find(([, list]) => (this.plan.columns[list] ?? []).includes(column));
    return found ? found[0] : "";
  }

  // Roles of all columns at once, in the order of the table.
  setRoles(roles) {
    return this.save((table) => {
      for (const [role, list] of Object.entries(ROLES)) {
        table.plan.columns[list] = Object.keys(roles).filter((column) => roles[column] === role);
      }
      table.dropped = Object.keys(roles).filter((column) => roles[column] === "drop");
      if (!table.countsPeople) table.plan.goal.protect_history = null; // nobody has a history then
    });
  }

  // Whether it is said whose rows the table holds: of a person that is named, or each of another.
  get knowsPeople() { return Boolean(this.plan.columns.rows_are_people || this.countsPeople); }

  // Whether k counts different people, not rows.
  get countsPeople() { return (this.plan.columns.person ?? []).length > 0; }

  // The largest k: the number of people where they are named, of rows otherwise, and where nobody could count people.
  async mostToHideAmong(rows, signal) {
    if (!this.countsPeople) return rows;
    const key = JSON.stringify([this.plan.reading, this.plan.columns.person]);
    const known = this.counts.get(key) ?? (await run(this.id, "spectrum", COUNTED, { signal }).catch((fault) => {
      if (fault.name === "AbortError") throw fault;
      return null; // every other question is refused for the same reason, and says it
    }))?.people;
    if (known != null) this.counts.set(key, known);
    return known ?? rows;
  }

  axis(column) { return this.plan.axes[column] ?? {}; }

  setAxis(column, change) {
    return this.save((table) => { table.plan.axes[column] = { ...table.axis(column), ...change }; });
  }

  // A field of the request, by the name that its option has.
  asked(name) { return this.plan[this.fields[name].part][name]; }

  ask(change) {
    const fitting = change.cut ? this.fitTo(this.cuts[change.cut]) : {};
    return this.save((table) => {
      for (const [name, value] of Object.entries({ ...fitting, ...change })) {
        table.plan[table.fields[name].part][name] = value;
      }
    });
  }

  // What a cut cannot do is not asked of it.
  fitTo(rules) {
    return {
      ...(rules.by_components ? {} : { reading: null, field: null }), ...(rules.is_searched ? {} : { effort: null }),
      ...(rules.keeps_histories ? {} : { protect_history: null }),
    };
  }

  // The choices of a field, each in the page's own words where it has some.
  choices(name, words) { return this.fields[name].choices.map((choice) => [choice, words[choice] ?? choice]); }
}

// What is not set is left out.
function tidy(value) {
  if (Array.isArray(value) || value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner != null && inner !== "").map(([name, inner]) => [name, tidy(inner)]));
}
