import assert from "node:assert/strict";
import { test } from "node:test";

const WORDS = { time: { seconds: "{seconds} s", minutes: "{minutes} min", hours: "{hours} h {minutes} min" } };
globalThis.document = {
  documentElement: { lang: "en" },
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
};
const { formatClock, formatSize, formatTime } = await import("../../static/js/units.js");

test("sizes have no more digits than people read", () => {
  const sizes = [0, 1, 999, 1000, 9949, 999_499, 999_500, 1_550_000, 99_960_000, 9_800_000_000, 5e15];
  const shown = ["0 bytes", "1 byte", "999 bytes", "1 KB", "10 KB", "999 KB", "1 MB", "1.6 MB", "100 MB", "9.8 GB"];
  assert.deepEqual(
    sizes.map((size) => formatSize(size)),
    [...shown, "5,000 TB"],
  );
  assert.equal(formatSize(2_500_000, true), "2.5 MB/s");
});

test("the time left is rounded up, and never nothing", () => {
  const times = [0, 0.2, 59, 60, 61, 3540, 3541, 7261].map(formatTime);
  assert.deepEqual(times, ["1 s", "1 s", "59 s", "1 min", "2 min", "59 min", "1 h 0 min", "2 h 2 min"]);
});

test("a clock shows hours only if there are some", () => {
  const clocks = [0, 59.9, 60, 2467, 3852, Number.NaN, -3].map(formatClock);
  assert.deepEqual(clocks, ["0:00", "0:59", "1:00", "41:07", "1:04:12", "0:00", "0:00"]);
});
