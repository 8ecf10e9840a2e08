import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

let now = 0;
const timers = [];

globalThis.document = Object.assign(new EventTarget(), { hidden: false, querySelectorAll: () => [] });
globalThis.window = new EventTarget();
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { onLine: true } });
mock.method(performance, "now", () => now);
mock.method(globalThis, "setTimeout", (act, ms) => timers.push({ act, at: now + ms }));
mock.method(globalThis, "clearTimeout", (id) => {
  if (id) timers[id - 1] = null;
});

const { live } = await import("../../static/js/clock.js");

const settled = () => new Promise(setImmediate);

// Let time pass in steps of half a second.
async function pass(ms) {
  for (const end = now + ms; now < end; now += 500) {
    for (const timer of timers.filter((each) => each && each.at <= now)) {
      timers[timers.indexOf(timer)] = null;
      timer.act();
    }
    await settled();
  }
}

function show(isShown) {
  document.hidden = !isShown;
  document.dispatchEvent(new Event("visibilitychange"));
}

// A region that answers as told, and notes when it was asked.
function region(answer) {
  const times = [];
  const begun = now;
  const hurry = live(async () => {
    times.push(now - begun);
    return answer(times.length);
  }, 0);
  return { times, hurry };
}

let stop = false;
beforeEach(async () => {
  stop = true;
  show(true);
  await pass(120_000);
  stop = false;
});

const every = (ms) => () => (stop ? null : ms);

test("a region polls at once, and after each pause that it requests", async () => {
  const { times } = region(every(4000));
  await pass(13_000);
  assert.deepEqual(times, [0, 4000, 8000, 12_000]);
});

test("null ends the polling", async () => {
  const { times } = region((turn) => (turn === 2 ? null : 1000));
  await pass(10_000);
  assert.deepEqual(times, [0, 1000]);
});

test("failures double the pause, up to a minute", async () => {
  const { times } = region(() => {
    if (stop) return null;
    throw new Error("away");
  });
  await pass(200_000);
  const pauses = times.slice(1).map((time, at) => time - times[at]);
  assert.deepEqual(pauses, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test("a hidden page doesn't poll, and polls at once when it is shown again", async () => {
  const { times } = region(every(1000));
  await pass(500);
  show(false);
  await pass(30_000);
  assert.deepEqual(times, [0]);
  show(true);
  await pass(500);
  assert.equal(times.length, 2);
});

test("a hurried region polls again, even while a poll is in progress", async () => {
  let release;
  const { times, hurry } = region((turn) =>
    turn === 1 ? new Promise((resolve) => (release = () => resolve(60_000))) : every(60_000)(),
  );
  await pass(1000);
  hurry();
  await pass(1000);
  assert.equal(times.length, 1);
  release();
  await pass(1000);
  assert.equal(times.length, 2);
});
