import assert from "node:assert/strict";
import { test } from "node:test";
import { Selection } from "../../static/js/selection/chosen.js";

const rowOf = (id, bytes = "1") => ({ id, dataset: { bytes } });
const ROWS = [..."abcde"].map((id) => rowOf(id));
const LOADED = ROWS.slice(0, 3);

// A folder of five rows, all of which are loaded unless a test says otherwise.
function folder(rows = ROWS, query = "") {
  const selection = new Selection();
  selection.adopt(rows, 5, query);
  return selection;
}

const shown = (selection, rows = ROWS) =>
  rows
    .map(({ id }) => id)
    .filter((id) => selection.has(id))
    .join("");

// The fields that a form adds to those of the ticked rows.
const fieldsOf = (selection, rows = ROWS) =>
  selection
    .fields([...shown(selection, rows)])
    .map((field) => field.join("="))
    .join(" ");

// Act as the page does: "b" clicks a row's box, "+b" clicks it with Shift, "*" ticks the box of all, "-" unticks it.
function act(selection, acts, rows = ROWS) {
  for (const each of acts.split(" ").filter(Boolean)) {
    const row = rows.find(({ id }) => id === each.at(-1));
    if (row) selection.chooseRange(each.startsWith("+") ? rows : [row], row, !selection.has(row.id));
    else selection.chooseAll(rows, each === "*");
  }
  return selection;
}

const CLICKS = {
  "nothing is chosen at first": ["", ""],
  "a click chooses a row": ["b", "b"],
  "a second click takes it back": ["b b", ""],
  "clicks add up in any order": ["d a", "ad"],
  "Shift chooses all rows from the last one, downwards": ["b +d", "bcd"],
  "Shift chooses all rows from the last one, upwards": ["d +b", "bcd"],
  "Shift on the last row itself takes back only that": ["b +b", ""],
  "Shift without an earlier click chooses only its row": ["+c", "c"],
  "Shift goes on from where the last range ended": ["a +c +e", "abcde"],
  "Shift takes back a range whose end was chosen": ["* d +b", "ae"],
  "Shift keeps what was chosen outside of its range": ["a c +e", "acde"],
  "a range begins at the last row, even if that was just taken back": ["b b +d", "bcd"],
  "all rows are chosen": ["*", "abcde"],
  "all rows are chosen, though some were before": ["b *", "abcde"],
  "one of all is taken back": ["* c", "abde"],
  "taking back the last ones leaves nothing": ["* a b c d e", ""],
  "all are taken back at once": ["* -", ""],
  "after all were taken back, a click chooses a single row": ["* - d", "d"],
};

for (const [name, [acts, expected]] of Object.entries(CLICKS)) {
  test(`clicks: ${name}`, () => {
    const selection = act(folder(), acts);
    assert.equal(shown(selection), expected);
    assert.equal(selection.count, expected.length);
    assert.equal(selection.isAll, false);
  });
}

// Five rows match, of which three are loaded.
const PARTLY = {
  "all means those that aren't loaded, too": ["*", "abcde", 5, "all=1"],
  "a row that is taken back is spared": ["* b", "acde", 4, "all=1 but=b"],
  "a spared row can be chosen again": ["* b b", "abcde", 5, "all=1"],
  "a range can be spared": ["* a +c", "de", 2, "all=1 but=a but=b but=c"],
  "all are chosen anew, and none is spared": ["* b *", "abcde", 5, "all=1"],
  "all are taken back, and none is spared": ["* b -", "", 0, ""],
};

for (const [name, [acts, expected, count, fields]] of Object.entries(PARTLY)) {
  test(`rows that aren't loaded: ${name}`, () => {
    const selection = act(folder(LOADED), acts, LOADED);
    assert.equal(shown(selection), expected);
    assert.equal(selection.count, count);
    assert.equal(fieldsOf(selection, LOADED), fields);
  });
}

test("once every row of all is spared, nothing is chosen, and a click chooses one row", () => {
  const selection = act(folder(LOADED), "*", LOADED);
  for (const row of ROWS) selection.choose(row, false);
  assert.deepEqual([selection.count, selection.isAll], [0, false]);
  selection.choose(ROWS[1], true);
  assert.equal(shown(selection), "b");
});

test("chosen rows that leave the page stay chosen, and are sent", () => {
  const selection = act(folder(), "b e");
  selection.adopt(LOADED, 5, "");
  assert.equal(selection.count, 2);
  assert.equal(fieldsOf(selection, LOADED), "entry=e");
  selection.adopt(ROWS, 5, "");
  assert.equal(shown(selection), "be");
  assert.equal(fieldsOf(selection), "");
});

test("chosen rows that are gone are forgotten once all others are loaded", () => {
  const selection = act(folder(), "b e");
  selection.adopt(LOADED, 3, "");
  assert.equal(selection.count, 1);
  assert.equal(fieldsOf(selection, LOADED), "");
});

test("a range doesn't reach back to a row that has left the page", () => {
  const selection = act(folder(), "a");
  assert.equal(shown(act(selection, "+d", ROWS.slice(2))), "ad");
});

const FILTERS = {
  "single rows stay chosen when the filter changes": ["b", "x", 1, false],
  "all no longer means anything when the filter changes": ["*", "x", 0, false],
  "all that match stay chosen while the filter stays": ["*", "", 5, true],
};

for (const [name, [acts, query, count, isAll]] of Object.entries(FILTERS)) {
  test(`filters: ${name}`, () => {
    const selection = act(folder(LOADED), acts, LOADED);
    selection.isSelecting = true;
    selection.adopt(LOADED.slice(1), 5, query);
    assert.deepEqual([selection.count, selection.isAll], [count, isAll]);
    assert.equal(selection.isSelecting, count > 0);
  });
}

test("all grows with the folder, and the spared rows stay spared", () => {
  const selection = act(folder(LOADED), "* b", LOADED);
  selection.adopt(LOADED, 9, "");
  assert.equal(selection.count, 8);
  assert.equal(selection.has("b"), false);
});

test("clearing ends selecting by touch, too", () => {
  const selection = act(folder(LOADED), "* b", LOADED);
  selection.isSelecting = true;
  selection.clear();
  assert.deepEqual([selection.count, selection.isAll, selection.isSelecting], [0, false, false]);
});

const SIZES = {
  "of nothing": [[], "", 0],
  "summed up": [["10", "200", "5"], "a c", 15],
  "unknown as soon as one is unknown": [["10", "", "5"], "a b", 0],
  "known again without that one": [["10", "", "5"], "a b b", 10],
};

for (const [name, [sizes, acts, bytes]] of Object.entries(SIZES)) {
  test(`sizes: ${name}`, () => {
    const rows = sizes.map((size, at) => rowOf("abc"[at], size));
    assert.equal(act(folder(rows), acts, rows).bytes, bytes);
  });
}

test("sizes: unknown if all that match are chosen", () => {
  assert.equal(act(folder(LOADED), "* b", LOADED).bytes, 0);
});

test("sizes: a chosen file that grows counts with its new size, and without its row with its last one", () => {
  const selection = act(folder(), "a b");
  selection.adopt([rowOf("a", "50")], 5, "");
  assert.equal(selection.bytes, 51);
});
