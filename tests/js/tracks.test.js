import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { documentElement: { lang: "en" }, getElementById: () => ({ textContent: "{}" }) };
const { distinct } = await import("../../static/js/player/tracks.js");

test("tracks that a film has once for each quality are listed once", () => {
  const tracks = [
    { name: "English", lang: "en" },
    { name: "Commentary", lang: "en" },
    { name: "English", lang: "en" },
    { name: "English", lang: "de" },
  ];
  assert.deepEqual(distinct(tracks), [tracks[0], tracks[1], tracks[3]]);
});
