"use strict";
// Finds sections that hold every word typed; those with a word in their heading come first.
(() => {
  const form = document.querySelector("form.search");
  const root = document.currentScript.dataset.root;
  const [input, list] = [form.querySelector("input"), form.querySelector("ol")];
  const score = ([, title, text], words) => {
    const [high, low] = [title.toLowerCase(), text.toLowerCase()];
    if (!words.every((word) => high.includes(word) || low.includes(word))) return 0;
    return 1 + 10 * words.filter((word) => high.includes(word)).length;
  };
  const line = ([address, title]) => {
    const [item, link] = [document.createElement("li"), document.createElement("a")];
    link.href = `${root}/${address}`;
    link.textContent = title;
    item.append(link);
    return item;
  };
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? window.pages.map((page) => [score(page, words), page]).filter(([points]) => points) : [];
    found.sort(([a], [b]) => b - a);
    list.replaceChildren(...found.slice(0, 12).map(([, page]) => line(page)));
    if (words.length && !found.length) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing found" }));
  };
  input.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      input.value = "";
      show();
    }
  });
  form.hidden = false;
})();
