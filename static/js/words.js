// Words for people: the sentences that the server sent for the scripts of this page, in one JSON
// block, and numbers, sizes, and times in the page's language.
const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
const language = document.documentElement.lang || "en";

/** @typedef {string | Record<string, string>} Sentence A sentence with several forms has a number for each that takes this form. */

/** @type {Record<string, Record<string, any>>} */
export const words = {};

// A page that is fetched to show a part of it here brings words for that part.
export function addWords(page) {
  Object.assign(words, JSON.parse(page.getElementById("words").textContent));
}

addWords(document);

/**
 * Fill the placeholders of a sentence; `count` decides which of its forms to use.
 * @param {Sentence} sentence
 * @param {Record<string, string | number>} [values]
 */
export function fill(sentence, values = {}) {
  const form = typeof sentence === "string" ? sentence : sentence[numberLike(values.count, Object.keys(sentence))];
  return form.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? formatNumber(value) : value;
  });
}

function numberLike(count, numbers) {
  const rules = new Intl.PluralRules(language);
  return numbers.find((number) => rules.select(Number(number)) === rules.select(count)) ?? numbers[0];
}

/** @param {number} number */
export const formatNumber = (number) => new Intl.NumberFormat(language).format(number);

/** @param {number} bytes */
export function formatSize(bytes, isRate = false) {
  let step = 0;
  let number = bytes;
  while (number >= 999.5 && step < UNITS.length - 1) {
    number /= 1000;
    step += 1;
  }
  const format = new Intl.NumberFormat(language, {
    style: "unit",
    unit: UNITS[step],
    unitDisplay: step ? "short" : "long",
    maximumFractionDigits: step > 1 && number < 99.95 ? 1 : 0,
  });
  const size = format.format(number).replace("kB", "KB");
  return isRate ? `${size}/s` : size;
}

/** @param {number} seconds */
export function formatTime(seconds) {
  if (seconds < 60) return fill(words.time.seconds, { seconds: Math.max(1, Math.ceil(seconds)) });
  const all = Math.ceil(seconds / 60);
  if (all < 60) return fill(words.time.minutes, { minutes: all });
  return fill(words.time.hours, { hours: Math.floor(all / 60), minutes: all % 60 });
}

/**
 * Return `41:07`, `1:04:12`.
 * @param {number} seconds
 */
export function formatClock(seconds) {
  const whole = Math.max(Math.floor(seconds || 0), 0);
  const pad = (number) => String(number).padStart(2, "0");
  const [hours, minutes, left] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(left)}` : `${minutes}:${pad(left)}`;
}
