// Refusals of the command line in the words of these pages: an option is the field that sets it.

import { t, translate } from "./text.js";

// An option, and in {} the key of the label (text.js) of the field that sets it.  Letters are the same on every page.
const FIELDS = {
  "--allow-composition": "{anyway}", "--alpha": "“alpha”", "--axis": "{kind}", "--c": "“c”", "--cut": "{cutField}", "--delimiter": "{delimiter}", "--domain": "the domain in the plan",
  "--earlier": "the earlier file", "--effort": "{effort}", "--encoding": "{encoding}", "--eps": "eps", "--fold-variants": "{fold_variants}", "--from": "an imported one", "--grid": "{grid}", "--k": "“k”",
  "--kind": "{kind}", "--l": "“l”", "--l-kind": "{lKind}", "--null-values": "{nulls} under {file}", "--objective": "{objective}", "--path": "the path", "--person": "the role {role:person}", "--protect-history": "{history}", "--qi": "the role {role:quasi-identifier}",
  "--reading": "the reading", "--rename-duplicates": "{rename_duplicates}", "--rows-are-people": "{rowsPeople}", "--sheet": "{sheet}", "--header-line": "{headerLine}", "--sensitive": "the role {role:sensitive}", "--suppress": "{suppress} under {advanced}", "--t": "“t”", "--t-kind": "{tKind}",
};
// Whole phrases whose advice is typed, and what is done here instead.
const PHRASES = [
  [/Name a column that numbers the people \(--person COLUMN\), or say (--rows-are-people)\./, "Give a column that numbers the people the role {role:person}, or tick $1."],
  [/(--fold-variants joins them); in a plan, fold_variants = true below \[input\]\./, "$1."],
  [/(Name it|Rename them), or say (--rename-duplicates)\./, "Tick $2."],
  [/^--l 2 mends it:/, "l = 2 mends it:"],
  [/^kech preview with --l 2 tells whether/, "Choose l = 2 to see whether"],
  [/(allow|Allow that with) --suppress (\d[\d.e-]*)/, (_, allow, share) => `${allow} ${labelOf("suppress")} = ${Math.ceil(1000 * share - 1e-9) / 10}\u00a0%`],
  [/only --cut (\w+) keeps the rows of a person together\. Omit --cut\./, "only the cut $1 keeps the rows of a person together. Choose it as {cutField}."],
  [/Name the column: --person COLUMN\./, "Give a column the role {role:person}."],
  [/Say --person (?:'[^']*'|\S+), or (--rows-are-people)\./, "Give it the role {role:person}, or tick $1."],
  [/Make it the person: --person (?:'[^']*'|\S+)\. (If every row is another person), say (--rows-are-people)\./, "Make it the person. $1, tick $2."],
  [/and name it: --person COLUMN\. Or say (--rows-are-people)\./, "and give it the role {role:person}. Or tick $1."],
  [/: --qi COLUMN \.\.\.; [^.]*\./, "."],
  [/(--allow-composition) needs them too: name the earlier one, so that the two can be compared: --earlier FILE or TABLE\./, "$1 needs the files of both to compare them: use the command line."],
  [/Name its encoding: --encoding [^.]*\./, "Choose another {encoding}."],
  [/(?:kech hierarchy TABLE .+)? --kind prefixes -o [^,]*/, "read it as a hierarchy, under {blurred}"],
  [/, then --hierarchies trees\./, "."],
  [/without an order: --axis (?:.+ makes sets of them\.)?/, "without an order: read them as sets, under {blurred}."],
  [/make it a quasi-identifier, or leave it out\./, "give it the role {role:quasi-identifier}, or leave it out."],
  [/a few are not: --axis .+? makes sets of them\./, "a few are not: read them as sets, under {blurred}."],
  [/Then say --null-values\./, "Then list them as {nulls}, under {file}."],
  [/like a code: --axis (?:.+ shortens it to its beginning\.)?/, "like a code: read it as a hierarchy, under {blurred}."],
  [/or say --axis (.+)=set\./, "or read it as text."],
  [/ Say so: --encoding utf-16\./, " Choose it as {encoding}."],
  [/, say --null-values NaN,inf,-inf\./, ", list them as {nulls}."],
  [/Raise --memory, name fewer columns, or use/, "Use"],
  [/; write a tab as \$'\\t'/, ""],
  [/or leave holes out: --max-dimension 0\./, "or look at more than 300 rows without holes."],
  [/Write --l 3 --l-kind recursive --c 2\./, "Write l = 3 and c = 2."],
  [/Say among how many rows every row must hide: --k 5\./, "Say among how many rows every row must hide, such as 5."],
  [/ or use --no-ledger\./, " or start the studio again with another one."],
  [/or release without a ledger: --no-ledger\./, "or mend it first."],
  [/kech ledger --forget (FILE|HASH)/, "kech ledger ‑‑forget $1, in a terminal"],
];

// A hint whose advice was followed says so.
export const followed = (hint) => hint.replace(/(It looks like a code|Its numbers seem to be codes without an order|Nearly all its values are numbers or dates, and a few are not): --axis .+? (?:shortens it to its beginning|makes sets of them)\./, "$1: it is read so.");

// A label without its explanation.
const labelOf = (key) => `“${t(key).replace(/ \(.*|:.*/, "")}”`;
const fill = (text) => (typeof text === "string" ? text.replace(/\{([^}]+)\}/g, (_, key) => labelOf(key)) : text);

// In the language of the page; what is only in English says so.
export function inPageWords(message) {
  const translated = translate(message, fill);
  return withFields(translated ?? `${t("inEnglish")}${inFieldWords(message)}`);
}

function inFieldWords(message) {
  return PHRASES.reduce((text, [typed, here]) => text.replace(typed, fill(here)), message).replace(/(--cut|--effort) (local|minimal|domain|regime|box|ball)/g, "$1 = $2");
}

const withFields = (said) => said.replace(/(?<![\w-])--[a-z][a-z-]*/g, (option) => fill(FIELDS[option] ?? option)).replaceAll("‑‑", "--");
