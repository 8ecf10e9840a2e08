import assert from "node:assert/strict";
import { test } from "node:test";

// What words.js reads of a page.
function pageOf(lang, words) {
  return { documentElement: { lang }, getElementById: () => ({ textContent: JSON.stringify(words) }) };
}

const TIME = { seconds: "{seconds} s", minutes: "{minutes} min", hours: "{hours} h {minutes} min" };

async function wordsOf(lang, words = { time: TIME }) {
  globalThis.document = pageOf(lang, words);
  return import(`../../static/js/words.js?${lang}`);
}

test("a sentence gets its values, and numbers are written as the language does", async () => {
  const english = await wordsOf("en");
  assert.equal(english.fill("{done} of {total}", { done: 1200, total: "2 GB" }), "1,200 of 2 GB");
  assert.equal(english.fill("{name} and {name}", { name: "$& {done}" }), "$& {done} and $& {done}");
  const german = await wordsOf("de");
  assert.equal(german.fill("{done} von {total}", { done: 1200, total: 3 }), "1.200 von 3");
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

test("sizes have no more digits than people read", async () => {
  const { formatSize } = await wordsOf("en");
  const sizes = [0, 1, 999, 1000, 9949, 999_499, 999_500, 1_550_000, 99_960_000, 9_800_000_000, 5e15];
  const shown = ["0 bytes", "1 byte", "999 bytes", "1 KB", "10 KB", "999 KB", "1 MB", "1.6 MB", "100 MB", "9.8 GB"];
  assert.deepEqual(
    sizes.map((size) => formatSize(size)),
    [...shown, "5,000 TB"],
  );
  assert.equal(formatSize(2_500_000, true), "2.5 MB/s");
  assert.equal((await wordsOf("de")).formatSize(2_500_000), "2,5 MB");
});

test("the time left is rounded up, and never nothing", async () => {
  const { formatTime } = await wordsOf("en");
  const times = [0, 0.2, 59, 60, 61, 3540, 3541, 7261].map(formatTime);
  assert.deepEqual(times, ["1 s", "1 s", "59 s", "1 min", "2 min", "59 min", "1 h 0 min", "2 h 2 min"]);
});

test("a clock shows hours only if there are some", async () => {
  const { formatClock } = await wordsOf("en");
  const clocks = [0, 59.9, 60, 2467, 3852, Number.NaN, -3].map(formatClock);
  assert.deepEqual(clocks, ["0:00", "0:59", "1:00", "41:07", "1:04:12", "0:00", "0:00"]);
});
