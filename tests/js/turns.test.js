import assert from "node:assert/strict";
import { test } from "node:test";
import { isAlive, nextOf } from "../../static/js/files/turns.js";

const uploads = (...states) => states.map((state, at) => ({ state, at }));
const places = (chosen) => chosen.map(({ at }) => at);

test("three uploads run at once, in the order in which they came", () => {
  assert.deepEqual(places(nextOf(uploads("queued", "queued", "queued", "queued"))), [0, 1, 2]);
  assert.deepEqual(places(nextOf(uploads("uploading", "queued", "moving", "queued"))), [1]);
  assert.deepEqual(nextOf(uploads("uploading", "uploading", "moving", "queued")), []);
  assert.deepEqual(nextOf(uploads("uploading", "uploading", "uploading", "uploading", "queued")), []);
});

test("a failed upload passes its turn to the next", () => {
  assert.deepEqual(places(nextOf(uploads("failed", "uploading", "uploading", "queued"))), [3]);
});

test("an ended upload isn't alive", () => {
  const states = ["queued", "uploading", "moving", "done", "failed", "stopped"];
  assert.deepEqual(uploads(...states).map(isAlive), [true, true, true, false, false, false]);
});
