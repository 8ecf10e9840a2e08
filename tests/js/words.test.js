import assert from "node:assert/strict";
import { test } from "node:test";

// What words.js reads of a page.
function pageOf(lang, words) {
  return { documentElement: { lang }, getElementById: () => ({ textContent: JSON.stringify(words) }) };
}

async function wordsOf(lang, words = { time: {} }) {
  globalThis.document = pageOf(lang, words);
  return import(`../../static/js/words.js?${lang}`);
}

test("a sentence gets its values, and numbers are written as the language does", async () => {
  const english = await wordsOf("en");
  assert.equal(english.fill("{done} of {total}", { done: 1200, total: "2 GB" }), "1,200 of 2 GB");
  assert.equal(english.fill("{name} and {name}", { name: "$& {done}" }), "$& {done} and $& {done}");
  const german = await wordsOf("de");
  assert.equal(german.fill("{done} von {total}", { done: 1200, total: 3 }), "1.200 von 3");
  assert.equal(german.formatNumber(10_000), "10.000");
});

test("the count decides the form of a sentence", async () => {
  const files = { 0: "{count} files", 1: "one file" };
  const { fill } = await wordsOf("en");
  assert.equal(fill(files, { count: 0 }), "0 files");
  assert.equal(fill(files, { count: 1 }), "one file");
  assert.equal(fill(files, { count: 5000 }), "5,000 files");
});

test("a language has as many forms as it needs", async () => {
  const files = { 0: "{count} plików", 1: "plik", 2: "{count} pliki" };
  const { fill } = await wordsOf("pl");
  const forms = [1, 2, 5, 12, 22, 101].map((count) => fill(files, { count }));
  assert.deepEqual(forms, ["plik", "2 pliki", "5 plików", "12 plików", "22 pliki", "101 plików"]);
});

test("a page that is fetched adds its words to those of the page", async () => {
  const { words, addWords } = await wordsOf("en");
  addWords(pageOf("en", { previews: { page: "Page {number}" } }));
  assert.deepEqual(Object.keys(words), ["time", "previews"]);
});
