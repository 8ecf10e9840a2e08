import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { documentElement: { lang: "en" }, getElementById: () => ({ textContent: "{}" }) };
const { ConversionPace } = await import("../../static/js/player/cards.js");

const SECOND = 1000;

test("the time left is unknown in the first ten seconds, and before a percent is done", () => {
  const pace = new ConversionPace();
  assert.equal(pace.secondsLeft(0, 30), null);
  assert.equal(pace.secondsLeft(9.9 * SECOND, 70), null);
  const slow = new ConversionPace();
  slow.secondsLeft(0, 30);
  assert.equal(slow.secondsLeft(60 * SECOND, 30.9), null);
});

test("the pace is that since the user began to wait", () => {
  const pace = new ConversionPace();
  pace.secondsLeft(5 * SECOND, 30);
  assert.equal(pace.secondsLeft(15 * SECOND, 80), 4);
  assert.equal(pace.secondsLeft(25 * SECOND, 90), 20 / 6);
});

test("a conversion that starts again is measured again", () => {
  const pace = new ConversionPace();
  pace.secondsLeft(0, 80);
  assert.equal(pace.secondsLeft(20 * SECOND, 10), null);
  assert.equal(pace.secondsLeft(30 * SECOND, 20), 80);
});
