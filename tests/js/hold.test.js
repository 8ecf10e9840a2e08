import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Hold } from "../../static/js/selection/hold.js";

let now = 0;
let timer = null;
mock.method(globalThis, "setTimeout", (act, ms) => {
  timer = { act, at: now + ms };
});
mock.method(globalThis, "clearTimeout", () => {
  timer = null;
});

function pass(ms) {
  now += ms;
  if (!timer || timer.at > now) return;
  timer.act();
  timer = null;
}

let taken;
let hold;
beforeEach(() => {
  taken = 0;
  hold = new Hold();
  hold.start({ clientX: 10, clientY: 10 }, () => (taken += 1));
});

test("a finger that rests for 400 ms takes what is below, once", () => {
  pass(399);
  assert.deepEqual([taken, hold.isActive, hold.isDone], [0, true, false]);
  pass(1);
  assert.deepEqual([taken, hold.isActive, hold.isDone], [1, true, true]);
  pass(1000);
  assert.equal(taken, 1);
});

test("a finger that leaves early takes nothing", () => {
  pass(399);
  hold.end();
  pass(1000);
  assert.deepEqual([taken, hold.isActive], [0, false]);
});

test("a finger may tremble, but one that moves away takes nothing", () => {
  hold.move({ clientX: 16, clientY: 18 });
  assert.equal(hold.isActive, true);
  hold.move({ clientX: 17, clientY: 18 });
  pass(1000);
  assert.deepEqual([taken, hold.isActive], [0, false]);
});

test("moving or lifting a finger later doesn't undo what it took", () => {
  pass(400);
  hold.move({ clientX: 100, clientY: 100 });
  hold.end();
  assert.deepEqual([taken, hold.isDone], [1, true]);
});

test("a mouse that moves without a touch is ignored", () => {
  hold.end();
  hold.move({ clientX: 100, clientY: 100 });
  assert.equal(hold.isActive, false);
});
