import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { listenUntil } from "../../static/js/events.js";

globalThis.document = {
  documentElement: { lang: "en" },
  createElement: () => ({ dataset: {}, append: () => {} }),
  getElementById: () => ({ textContent: "{}" }),
};
globalThis.localStorage = { getItem: () => null, setItem: mock.fn() };
const { distinct, Tracks } = await import("../../static/js/player/tracks.js");

test("tracks that a film has once for each quality are listed once", () => {
  const tracks = [
    { name: "English", lang: "en" },
    { name: "Commentary", lang: "en" },
    { name: "English", lang: "en" },
    { name: "English", lang: "de" },
  ];
  assert.deepEqual(distinct(tracks), [tracks[0], tracks[1], tracks[3]]);
});

test("the sound that people choose in Safari's own menu stays chosen", () => {
  const sound = (language, enabled) => ({ label: "", language, enabled });
  const tracks = [sound("en", true), sound("de", false)];
  const events = new EventTarget();
  const audioTracks = Object.assign(tracks, { addEventListener: events.addEventListener.bind(events) });
  const list = { children: [], contains: () => false, replaceChildren: () => {} };
  const part = { querySelector: () => list };
  const root = Object.assign(new EventTarget(), { querySelector: () => part, querySelectorAll: () => [] });
  const video = { audioTracks, webkitPresentationMode: "fullscreen" };
  const source = Object.assign(new EventTarget(), { hls: null, video });
  new Tracks(root, source, { offer: () => {} }, listenUntil(new AbortController().signal));
  const play = (at) => {
    for (const [order, each] of tracks.entries()) each.enabled = order === at;
    events.dispatchEvent(new Event("change"));
    return tracks.findIndex(({ enabled }) => enabled);
  };
  assert.equal(play(1), 1);
  assert.equal(play(0), 0);
  video.webkitPresentationMode = "inline";
  assert.equal(play(1), 0);
  const saved = globalThis.localStorage.setItem.mock.calls.map(({ arguments: [, value] }) => value);
  assert.deepEqual(saved, ['"de"', '"en"']);
});
