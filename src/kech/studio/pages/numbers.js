// How numbers are written.

const few = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (value) => whole.format(value);
export const short = (value) => (Math.abs(value) >= 1000 ? whole : few).format(value);
export const percent = (share) => {
  if (share > 0 && share < 0.001) return "less than 0.1\u00a0%";
  return share < 1 && share > 0.999 ? "more than 99.9\u00a0%" : `${few.format(100 * share)}\u00a0%`;
};
export const loss = (value) => value.toFixed(value < 0.1 ? 4 : 3);
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
export const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

// A tick, with as many digits as its step needs.
export function tickText(value, step) {
  const digits = Math.min(10, Math.max(0, Math.ceil(-Math.log10(step || 1) - 1e-9)));
  return new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: Math.abs(value) >= 100000 }).format(value + 0);
}

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
