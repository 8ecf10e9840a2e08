// The sentences that scripts show. The server sends those of this page in one JSON block. Numbers in
// them are formatted in the page's language.
export const language = document.documentElement.lang || "en";

/** @typedef {string | Record<string, string>} Sentence A sentence with plural forms has an example number as the key of each form. */

/** @type {Record<string, Record<string, any>>} */
export const words = {};

// If scripts fetch a page to show a part of it here, it also brings the words for that part.
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

/** @param {string[]} items */
export function listOf(items) {
  return items.length ? items.reduce((first, next) => fill(words.shell.list, { first, next })) : "";
}

function numberLike(count, numbers) {
  const rules = new Intl.PluralRules(language);
  return numbers.find((number) => rules.select(Number(number)) === rules.select(count)) ?? numbers[0];
}

/** @param {number} number */
export const formatNumber = (number) => new Intl.NumberFormat(language).format(number);
