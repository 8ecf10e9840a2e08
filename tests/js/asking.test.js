import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

const WORDS = {
  ask: {
    none: "nothing",
    some: "add {chosen} of {total}?",
    all: { 1: "add this?", 2: "add {count}?" },
    button: { 1: "add it", 2: "add {count}" },
    size: "{size} to upload.",
    sentences: "{first} {next}",
    partly: "partly",
    done: "done",
    here: "already here",
  },
};
const timers = [];
globalThis.window = new EventTarget();
globalThis.document = Object.assign(new EventTarget(), {
  documentElement: { lang: "en" },
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
  visibilityState: "visible",
  hasFocus: () => hasFocus,
});
mock.method(globalThis, "setTimeout", (act, ms) => timers.push({ act, ms }));
mock.method(globalThis, "clearTimeout", (id) => {
  if (id) timers[id - 1].act = null;
});

const { Outcomes, textsFor } = await import("../../static/js/add/outcomes.js");
const { isArmed, restart, whenArmed } = await import("../../static/js/add/clickjacking.js");

// Of a list with so many items, so many are ticked.
const TEXTS = {
  "nothing to add": [{ count: 0, chosen: 0 }, "nothing", ""],
  "a single item": [{ count: 1, chosen: 1 }, "add this?", ""],
  "a single item that was unticked": [{ count: 1, chosen: 0 }, "add this?", ""],
  "all of several": [{ count: 3, chosen: 3 }, "add 3?", ""],
  "one of several": [{ count: 3, chosen: 1 }, "add 1 of 3?", ""],
  "none of several": [{ count: 3, chosen: 0 }, "add 0 of 3?", ""],
  "free space": [{ count: 1, chosen: 1, free: "5 GB free." }, "add this?", "5 GB free."],
  "files without known space": [{ count: 1, chosen: 1, bytes: 2000 }, "add this?", "2 KB to upload."],
  "files and free space": [
    { count: 2, chosen: 1, bytes: 2000, free: "5 GB free." },
    "add 1 of 2?",
    "2 KB to upload. 5 GB free.",
  ],
};

for (const [name, [list, title, hint]] of Object.entries(TEXTS)) {
  test(`the question about ${name}`, () => {
    const button = list.chosen === 1 ? "add it" : `add ${list.chosen}`;
    assert.deepEqual(textsFor({ bytes: 0, ...list }), { title, button, hint });
  });
}

// What was added, already here, or failed; what stopped the rest; how many are still ticked.
const ENDS = {
  "everything was added": [[2, 0, 0], "", 0, "done", true, true],
  "some were here before, so the window stays": [[1, 1, 0], "", 0, "done", true, false],
  "all were here before, so the window stays": [[0, 2, 0], "", 0, "already here", true, false],
  "one failed": [[1, 0, 1], "", 1, "partly", false, false],
  "one failed, and another was here before": [[0, 1, 1], "", 1, "partly", false, false],
  "all failed": [[0, 0, 2], "", 2, "", false, false],
  "the connection was lost at first": [[0, 0, 0], "cut", 2, "", false, false],
  "the connection was lost later": [[1, 0, 0], "cut", 1, "partly", false, false],
  "the connection was lost, and none is ticked": [[1, 0, 0], "cut", 0, "partly", false, false],
  "some are left, though nothing failed": [[1, 0, 0], "", 1, "partly", false, false],
};

for (const [name, [counts, trouble, left, title, isDone, mayClose]] of Object.entries(ENDS)) {
  test(`the answer: ${name}`, () => {
    const [added, known, failed] = counts;
    const outcomes = Object.assign(new Outcomes(), { added, known, failed });
    assert.deepEqual(outcomes.end(trouble, left), { isDone, mayClose, title });
  });
}

// Protection from clickjacking

let armed = 0;
let hasFocus = true;
beforeEach(() => {
  [armed, hasFocus, document.visibilityState] = [0, true, "visible"];
  whenArmed(() => {
    armed += 1;
  });
});

function ring() {
  for (const timer of timers) {
    timer.act?.();
    timer.act = null;
  }
}

test("the button works once the page was seen for half a second", () => {
  assert.deepEqual([isArmed(), timers.at(-1).ms], [false, 500]);
  ring();
  assert.deepEqual([isArmed(), armed], [true, 1]);
});

const BREAKS = {
  "another window takes the focus": () => {
    hasFocus = false;
    window.dispatchEvent(new Event("blur"));
  },
  "another tab covers it": () => {
    document.visibilityState = "hidden";
    document.dispatchEvent(new Event("visibilitychange"));
  },
};

for (const [name, leave] of Object.entries(BREAKS)) {
  test(`the button waits anew after ${name}, before and after it was armed`, () => {
    leave();
    ring();
    assert.equal(isArmed(), false);
    [hasFocus, document.visibilityState] = [true, "visible"];
    window.dispatchEvent(new Event("focus"));
    ring();
    assert.equal(isArmed(), true);
    leave();
    assert.equal(isArmed(), false);
  });
}

test("a page that is resized, or shows a new list, waits anew, once", () => {
  window.dispatchEvent(new Event("resize"));
  restart();
  assert.equal(isArmed(), false);
  ring();
  assert.deepEqual([isArmed(), armed], [true, 1]);
});
