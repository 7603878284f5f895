// Work that takes a while: what is being done, how far it is, and a way to stop it.

import { cancel, run } from "./api.js";
import { button, h, refusal, replace } from "./dom.js";

const PATIENCE = 250; // milliseconds before the box appears
const newest = new WeakMap(); // for each place, the work that may show something there

// Runs a verb and gives its answer; null where it was refused, and then `place` says why. Cancelled work can be taken up again:
// here, or by `again` where whoever asked does not wait. What was asked later in the same place has the word.
export async function work(place, { table, signal }, verb, options, title, { job, again, named = () => {} } = {}) {
  for (;;) {
    const box = progressBox(place, table, title, named);
    try {
      return await run(table.id, verb, options, { progress: box.progress, signal, job });
    } catch (fault) {
      if (fault.kind === "Cancelled" && again) return box.end(cancelled(title, again));
      if (fault.kind === "Cancelled") {
        job = undefined; // one that was found after a reload is over: it is asked again
        await new Promise((resume) => box.end(cancelled(title, resume)));
      } else if (fault.name === "AbortError") throw fault;
      else return box.end(refusal(fault));
    } finally {
      box.end();
    }
  }
}

const cancelled = (title, resume) => h("p", { class: "note" }, `${title}: cancelled. `, button("Take it up again", resume, "small"));

function progressBox(place, table, title, named) {
  let open = true, known = null;
  const job = new Promise((resolve) => { known = resolve; }); // a click may come before the server has named the job
  job.then(named);
  const doing = h("span", {}, title), bar = h("progress", { "aria-label": title });
  const stop = button("Cancel", async () => cancel(table.id, (await job).job), "small", { "aria-label": `Cancel: ${title}` });
  const box = h("div", { class: "work", role: "group", "aria-label": title }, doing, stop, bar);
  newest.set(place, box);
  const show = (...shown) => { if (newest.get(place) === box) replace(place, shown); };
  const timer = setTimeout(() => show(box), PATIENCE);
  return {
    progress(now) {
      known(now);
      doing.textContent = `${title}: ${now.state === "waiting" ? "waiting its turn" : now.doing}`;
      if (now.share == null) bar.removeAttribute("value");
      else bar.value = now.share;
    },
    end(...shown) {
      if (open) show(...shown);
      open = false;
      clearTimeout(timer);
      return null;
    },
  };
}
