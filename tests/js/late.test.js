import assert from "node:assert/strict";
import { test } from "node:test";
import { fateOf, focusAfter, isLast, isOpening, open, partOf } from "../../static/js/files/late.js";

// Folders are requested in the order of the letters, and arrive in the given one.
const ORDERS = {
  "a single folder opens": ["a", "a"],
  "of two slow folders, the last one opens, though it arrives last": ["ab", "b"],
  "of two slow folders, the last one opens, though it arrives first": ["ba", "b"],
  "of three slow folders, only the last one opens": ["bca", "c"],
};

for (const [name, [arrivals, opened]] of Object.entries(ORDERS)) {
  test(name, () => {
    const requests = Object.fromEntries([...arrivals].map((each) => [each, {}]));
    for (const each of [...arrivals].sort()) open(requests[each]);
    assert.equal([...arrivals].filter((each) => isLast(requests[each])).join(""), opened);
  });
}

test("a folder that arrived before the next one was requested has opened", () => {
  const [first, second] = [{}, {}];
  open(first);
  assert.equal(isLast(first), true);
  open(second);
  assert.deepEqual([isLast(first), isLast(second)], [false, true]);
});

test("a folder is opening until its response has arrived, or its request was aborted", () => {
  const request = { readyState: 1 };
  open(request);
  assert.equal(isOpening(), true);
  for (const readyState of [0, 4]) {
    request.readyState = readyState;
    assert.equal(isOpening(), false);
  }
});

const OK = { verb: "post", status: 200, redirect: null, target: null };
const FATES = {
  "an act that was done says so": [{}, "tell"],
  "an act that Ferry refused says so": [{ status: 409, target: "#toasts" }, "tell"],
  "a question about taken names says that nothing was moved": [{ target: "#move" }, "ask"],
  "such a question with the status of a refusal, too": [{ status: 409, target: "#move" }, "ask"],
  "a proxy's page counts as a failure": [{ status: 502 }, "fail"],
  "Ferry's own page of an error, too": [{ status: 400 }, "fail"],
  "rows that were asked for are ignored": [{ verb: "get" }, "ignore"],
  "rows that failed are ignored, too": [{ verb: "get", status: 500 }, "ignore"],
  "a redirect is followed after an act": [{ redirect: "/signin/" }, "follow"],
  "a redirect is followed after a look": [{ redirect: "/signin/", verb: "get" }, "follow"],
  "a redirect is followed, whatever the status": [{ redirect: "/signin/", status: 403, target: "#toasts" }, "follow"],
};

for (const [name, [response, fate]] of Object.entries(FATES)) {
  test(`after leaving a folder: ${name}`, () => assert.equal(fateOf({ ...OK, ...response }), fate));
}

// Each kind of listing, for a user who is idle, busy, has scrolled far, or both.
const PARTS = {
  "one that was asked for always shows": [{}, ["all", "all", "all", "all"]],
  "a refresh waits for a busy user, and leaves a scrolled page alone": [
    { isQuiet: true },
    ["all", "nothing", "nothing", "nothing"],
  ],
  "an unpacked folder waits for a busy user, and only says so on a scrolled page": [
    { isArrival: true },
    ["all", "nothing", "message", "nothing"],
  ],
};

for (const [name, [kind, parts]] of Object.entries(PARTS)) {
  test(`listings: ${name}`, () => {
    const states = [{}, { isBusy: true }, { isFar: true }, { isBusy: true, isFar: true }];
    assert.deepEqual(
      states.map((state) =>
        partOf({ isQuiet: false, isArrival: false, isBusy: false, isFar: false, ...kind, ...state }),
      ),
      parts,
    );
  });
}

const FOCUS = {
  "the row after the one that is gone": ["b", "c d e a title"],
  "the rows before, if the last one is gone": ["e", "d c b a title"],
  "the rows after the first one of several": ["bd", "c e a title"],
  "the heading, if none is left": ["abcde", "title"],
  "the last row, if those that are gone weren't loaded": ["z", "e title"],
};

for (const [name, [goneKeys, expected]] of Object.entries(FOCUS)) {
  test(`focus: ${name}`, () => {
    const rows = [..."abcde"].map((id) => ({ id }));
    assert.equal(focusAfter(rows, [...goneKeys]).join(" "), expected);
  });
}
