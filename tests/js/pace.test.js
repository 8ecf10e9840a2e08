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

test("an uneven pace doesn't make the time left jump, and a lasting change does", () => {
  const pace = new Pace(0);
  const left = new Map();
  for (let at = 250, sent = 0; at <= 90_000; at += 250) {
    sent += [4000, 9000, 500, 6500][(at / 250) % 4] * (at < 60_000 ? 1 : 0.4);
    pace.add(at, sent);
    left.set(at, pace.left(at, 5_000_000));
  }
  assert.equal(left.get(5000), null);
  const steady = [...left].filter(([at]) => at >= 12_000 && at < 60_000).map(([, seconds]) => seconds);
  assert.deepEqual(
    steady,
    steady.toSorted((one, other) => other - one),
  );
  const isNear = (seconds, expected, part) => Math.abs(seconds - expected) <= part * expected;
  assert.ok(isNear(left.get(40_000), (5_000_000 - 40_000 * 20) / 20_000, 0.1));
  assert.ok(isNear(left.get(90_000), (5_000_000 - 1_440_000) / 8000, 0.25));
});
