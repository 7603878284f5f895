// The server: JSON in, JSON out; a refusal is an error, in the words of these pages.

import { authorization } from "./secret.js";
import { inPageWords } from "./words.js";

const KEPT = 60_000; // milliseconds

export class Refusal extends Error {
  constructor(status, said) {
    super(inPageWords(said.message));
    this.status = status;
    this.kind = said.error;
  }
}

// The secret goes in a header, so nothing but this page can ask: links to the server would be refused.
async function send(method, path, body, signal) {
  const asJson = body !== undefined && !(body instanceof Blob);
  let answer;
  try {
    const headers = { authorization: authorization() };
    answer = await fetch(path, { method, headers, body: asJson ? JSON.stringify(body) : body, signal, credentials: "omit" });
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Refusal(0, { error: "Gone", message: "The studio does not answer. Is it still running in its terminal?" });
  }
  if (answer.ok) return answer;
  throw new Refusal(answer.status, isJson(answer) ? await answer.json() : { error: "Refused", message: await answer.text() });
}

const isJson = (answer) => answer.headers.get("content-type")?.startsWith("application/json");

export async function request(method, path, body, signal) {
  const answer = await send(method, path, body, signal);
  return isJson(answer) ? answer.json() : answer.text();
}

// What the server answers, as an address of this page: for a new tab, or for a file to be saved.
export async function asAddress(path) {
  const address = URL.createObjectURL(await (await send("GET", path)).blob());
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
  return address;
}

// Ask, wait and fetch the answer. Leaving the page stops the waiting, not the work: a reload finds it again.
export async function run(table, verb, options = {}, { progress = () => {}, signal, job } = {}) {
  const jobs = `/api/tables/${table}/jobs`;
  job ??= await request("POST", jobs, { verb, options }, signal);
  progress(job);
  while (job.state === "waiting" || job.state === "running") {
    job = await request("GET", `${jobs}/${job.job}`, undefined, signal);
    progress(job);
  }
  const path = `${jobs}/${job.job}/result`, found = await request("GET", path, undefined, signal);
  document.dispatchEvent(new CustomEvent("answered", { detail: { verb, path } }));
  return found;
}

export const cancel = (table, job) => request("DELETE", `/api/tables/${table}/jobs/${job}`);
