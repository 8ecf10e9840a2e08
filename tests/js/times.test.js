import assert from "node:assert/strict";
import { test } from "node:test";

const WORDS = { time: { seconds: "{seconds} s", minutes: "{minutes} min", hours: "{hours} h {minutes} min" } };
globalThis.document = {
  documentElement: { lang: "en" },
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
};
const { formatClock, formatTime } = await import("../../static/js/times.js");

test("the time left is rounded up, and never nothing", () => {
  const times = [0, 0.2, 59, 60, 61, 3540, 3541, 7261].map(formatTime);
  assert.deepEqual(times, ["1 s", "1 s", "59 s", "1 min", "2 min", "59 min", "1 h 0 min", "2 h 2 min"]);
});

test("a clock shows hours only if there are some", () => {
  const clocks = [0, 59.9, 60, 2467, 3852, Number.NaN, -3].map(formatClock);
  assert.deepEqual(clocks, ["0:00", "0:59", "1:00", "41:07", "1:04:12", "0:00", "0:00"]);
});
