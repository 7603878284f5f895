// The open table as the page knows it: its plan, and the changes made to it.

import { request, run } from "./api.js";
import { say } from "./dom.js";

const ROLES = { "quasi-identifier": "quasi_identifiers", sensitive: "sensitive", identifier: "identifiers", keep: "keep" };

export const INSPECTED = { rows: 10 }; // one question for all pages: its answer is kept

export class Table {
  constructor(state, fields) {
    this.fields = Object.fromEntries(fields.map((field) => [field.name, field])); // everything that can be asked for
    this.take(state);
  }

  static async find(id) {
    const [state, known] = await Promise.all([request("GET", `/api/tables/${id}`), request("GET", "/api/fields")]);
    return new Table(state, known.fields);
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
    });
  }

  axis(column) { return this.plan.axes[column] ?? {}; }

  setAxis(column, change) {
    return this.save((table) => { table.plan.axes[column] = { ...table.axis(column), ...change }; });
  }

  // A field of the request, by the name that its option has.
  asked(name) { return this.plan[this.fields[name].part][this.fields[name].attribute]; }

  ask(change) {
    const plain = change.cut && change.cut !== "regime" ? { reading: null, field: null } : {}; // only the regime cut has them
    return this.save((table) => {
      for (const [name, value] of Object.entries({ ...plain, ...change })) {
        table.plan[table.fields[name].part][table.fields[name].attribute] = value;
      }
    });
  }

  // The choices of a field, each in the page's own words where it has some.
  choices(name, words) { return this.fields[name].choices.map((choice) => [choice, words[choice] ?? choice]); }
}

// What is not set is left out.
function tidy(value) {
  if (Array.isArray(value) || value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner != null && inner !== "").map(([name, inner]) => [name, tidy(inner)]));
}
