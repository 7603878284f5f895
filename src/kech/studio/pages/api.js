// The server: JSON in, JSON out; a refusal is an error, in the words of these pages.

import { authorization } from "./secret.js";
import { t } from "./text.js";
import { inPageWords } from "./words.js";

const KEPT = 60_000; // milliseconds

class Refusal extends Error {
  constructor(status, said) {
    super();
    Object.assign(this, { status, said: said.message, kind: said.error });
  }

  get message() { return this.kind === "Gone" ? this.said : inPageWords(this.said); } // in the language that is spoken now
}

// The secret goes in a header, so nothing but this page can ask: links to the server would be refused.
async function send(method, path, body) {
  const asJson = body !== undefined && !(body instanceof Blob);
  let answer;
  try {
    const headers = { authorization: authorization() };
    answer = await fetch(path, { method, headers, body: asJson ? JSON.stringify(body) : body, credentials: "omit" });
  } catch {
    throw new Refusal(0, { error: "Gone", message: t("gone") });
  }
  if (answer.ok) return answer;
  throw new Refusal(answer.status, isJson(answer) ? await answer.json() : { error: "Refused", message: await answer.text() });
}

const isJson = (answer) => answer.headers.get("content-type")?.startsWith("application/json");

export async function request(method, path, body) {
  const answer = await send(method, path, body);
  return isJson(answer) ? answer.json() : answer.text();
}

// What the server answers, as an address of this page: for a new tab, or for a file to be saved.
export async function asAddress(path, type) {
  const blob = await (await send("GET", path)).blob();
  return addressOf(type ? new Blob([blob], { type }) : blob);
}

export function addressOf(blob) {
  const address = URL.createObjectURL(blob);
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
  return address;
}

// Ask, wait and fetch the answer; the job is told as it goes.
export async function run(table, question, progress = () => {}) {
  const jobs = `/api/tables/${table}/jobs`;
  let job = await request("POST", jobs, question);
  progress(job);
  while (job.state === "waiting" || job.state === "running") {
    job = await request("GET", `${jobs}/${job.job}`);
    progress(job);
  }
  return request("GET", `${jobs}/${job.job}/result`);
}

export const cancel = (table, job) => request("DELETE", `/api/tables/${table}/jobs/${job}`);
