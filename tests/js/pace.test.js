import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "../../static/js/files/pace.js";

test("the rate is that of the last eight seconds", () => {
  const pace = new Pace(0);
  assert.equal(pace.rate, 0);
  pace.add(10_000, 1000);
  pace.add(12_000, 3000);
  assert.equal(pace.rate, 1000);
});

test("the time left is unknown in the first ten seconds, or before a byte was sent", () => {
  const pace = new Pace(0);
  pace.add(9000, 9000);
  assert.equal(pace.left(9999, 100_000), null);
  assert.notEqual(pace.left(10_000, 100_000), null);
  assert.equal(new Pace(0).left(60_000, 100_000), null);
});

test("the time left counts down while the pace stays close to the estimate", () => {
  const pace = new Pace(0);
  pace.add(10_000, 10_000);
  assert.equal(pace.left(10_000, 100_000), 90);
  pace.add(11_000, 10_500);
  assert.equal(pace.left(11_000, 100_000), 89);
});

test("the estimate follows a pace that is well off", () => {
  const pace = new Pace(0);
  pace.add(10_000, 10_000);
  pace.left(10_000, 100_000);
  pace.add(20_000, 60_000);
  assert.ok(pace.left(20_000, 100_000) < 15);
});
