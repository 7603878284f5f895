// The server: JSON in, JSON out; a refusal is an error, in the words of these pages.

import { inPageWords } from "./words.js";

export class Refusal extends Error {
  constructor(status, said) {
    super(inPageWords(said.message));
    this.status = status;
    this.kind = said.error;
  }
}

export async function request(method, path, body, signal) {
  const asJson = body !== undefined && !(body instanceof Blob);
  let answer;
  try {
    answer = await fetch(path, { method, body: asJson ? JSON.stringify(body) : body, signal, credentials: "same-origin" });
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Refusal(0, { error: "Gone", message: "The studio does not answer. Is it still running in its terminal?" });
  }
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  if (answer.ok) return isJson ? answer.json() : answer.text();
  throw new Refusal(answer.status, isJson ? await answer.json() : { error: "Refused", message: await answer.text() });
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
