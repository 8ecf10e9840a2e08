import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { documentElement: { lang: "en" }, getElementById: () => ({ textContent: "{}" }) };
const { Bubble } = await import("../../static/js/player/bubble.js");
const { partOf } = await import("../../static/js/player/frames.js");

const chapterAt = (chapters, at) => Bubble.prototype.chapterAt.call({ chapters }, at);
const STRIP = { frames: 100, columns: 10, width: 1600, height: 900 };

test("a share of a film leads to its part of the filmstrip", () => {
  assert.deepEqual(partOf(STRIP, 0), [0, 0, 160, 90]);
  assert.deepEqual(partOf(STRIP, 0.126), [320, 90, 160, 90]);
  assert.deepEqual(partOf(STRIP, 1), [1440, 810, 160, 90]);
  assert.deepEqual(partOf({ ...STRIP, frames: 95 }, 0.999), [640, 810, 160, 90]);
});

test("a chapter lasts until the next one", () => {
  const chapters = [
    { at: 0, title: "Ebb" },
    { at: 60, title: "Flood" },
  ];
  assert.equal(chapterAt(chapters, 59.9).title, "Ebb");
  assert.equal(chapterAt(chapters, 60).title, "Flood");
  assert.equal(chapterAt([{ at: 5, title: "Late" }], 1), undefined);
});
