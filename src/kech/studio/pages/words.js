// Refusals of the command line in the words of these pages: an option is the field that sets it.

import { FIELDS, FOLLOWED, PHRASES, t, translate } from "./text.js";

// A hint whose advice was followed says so.
export const followed = (hint) => hint.replace(...FOLLOWED);

// A label without its explanation.
const labelOf = (key) => t("labelled", { text: key.startsWith("=") ? key.slice(1) : t(key).replace(/ \(.*|:.*/, "") });
const fill = (text) => (typeof text === "string" ? text.replace(/\{([^}]+)\}/g, (_, key) => labelOf(key)) : text);

// In the language of the page; what is only in English says so.
export function inPageWords(message) {
  const translated = translate(message, fill);
  return withFields(translated ?? `${t("inEnglish")}${inFieldWords(message)}`);
}

function inFieldWords(message) {
  return PHRASES.reduce((text, [typed, here]) => text.replace(typed, typeof here === "function" ? (...found) => fill(here(...found)) : fill(here)), message).replace(/(--cut|--effort) (local|minimal|domain|regime|box|ball)/g, "$1 = $2");
}

const withFields = (said) => said.replace(/(?<![\w-])--[a-z][a-z-]*/g, (option) => fill(FIELDS[option] ?? option)).replaceAll("‑‑", "--");
