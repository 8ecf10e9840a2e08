// The sentences that scripts show. The server sends those of this page in one JSON block. Numbers in
// them are formatted in the page's language.
export const language = document.documentElement.lang || "en";

/** @type {Record<string, Record<string, any>>} */
export const words = {};

// If scripts fetch a page to show a part of it here, it also brings the words for that part.
export function addWords(page) {
  Object.assign(words, JSON.parse(page.getElementById("words").textContent));
}

addWords(document);

// Fill the placeholders of a sentence. If it has plural forms, each with an example number as its key,
// `count` decides which of them to use.
export function fill(sentence, values = {}) {
  const form = typeof sentence === "string" ? sentence : sentence[numberLike(values.count, Object.keys(sentence))];
  return form.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? formatNumber(value) : value;
  });
}

export function listOf(items) {
  return items.length ? items.reduce((first, next) => fill(words.shell.list, { first, next })) : "";
}

function numberLike(count, numbers) {
  const rules = new Intl.PluralRules(language);
  return numbers.find((number) => rules.select(Number(number)) === rules.select(count)) ?? numbers[0];
}

export const formatNumber = (number) => new Intl.NumberFormat(language).format(number);
