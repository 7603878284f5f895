// How numbers are written, in the language of the page.

const made = new Map();
function writer(options) {
  const key = document.documentElement.lang + JSON.stringify(options);
  if (!made.has(key)) made.set(key, new Intl.NumberFormat(document.documentElement.lang, options));
  return made.get(key);
}

export const count = (value) => writer({ maximumFractionDigits: 0 }).format(value);
export const few = (value) => writer(Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 }).format(value);
export const percent = (share) => {
  if (share > 0 && share < 0.001) return `< ${few(0.1)}\u00a0%`;
  return share < 1 && share > 0.999 ? `> ${few(99.9)}\u00a0%` : `${few(100 * share)}\u00a0%`;
};
export const loss = (value) => writer({ minimumFractionDigits: 3, maximumFractionDigits: value < 0.1 ? 4 : 3 }).format(value);
export const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

// About `wanted` round numbers between two ends.
export function ticks(low, high, wanted = 5) {
  const raw = (high - low) / wanted;
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.75) * power;
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; at += 1) found.push(at * step);
  return found;
}
