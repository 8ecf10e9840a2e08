import assert from "node:assert/strict";
import { setMaxListeners } from "node:events";
import { mock, test } from "node:test";
import { listenUntil } from "../../static/js/events.js";

const WORDS = { player: { burned: "{name}, burned in" }, time: { seconds: "{seconds} s" } };
const makeElement = () => ({ dataset: {}, append: () => {}, setAttribute: () => {} });

globalThis.document = Object.assign(new EventTarget(), {
  documentElement: { lang: "en" },
  body: {},
  createElement: makeElement,
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
});
globalThis.localStorage = { getItem: () => null, setItem: () => {} };
mock.method(globalThis, "setInterval", () => 1);
const { Subtitles } = await import("../../static/js/player/subtitles.js");

// A list, and what tells of its changes.
function listOf(tracks) {
  const events = new EventTarget();
  for (const name of ["addEventListener", "dispatchEvent"]) tracks[name] = events[name].bind(events);
  return tracks;
}

const track = (language, kind = "subtitles") => ({ kind, label: "", language, mode: "disabled", cues: [] });

function player({ beside = [], ...source }) {
  const textTracks = listOf(source.textTracks ?? []);
  const video = Object.assign(new EventTarget(), { paused: true, currentTime: 0, textTracks, append: () => {} });
  const part = () => ({
    dataset: {},
    children: [],
    firstElementChild: {},
    querySelectorAll: () => [],
    replaceChildren: () => {},
    setAttribute: () => {},
    toggleAttribute: () => {},
  });
  const place = Object.assign(part(), { replaceChildren: (...lines) => (place.lines = lines) });
  const root = Object.assign(new EventTarget(), {
    querySelector: (selector) => (selector === "#subtitles" ? place : part()),
    querySelectorAll: () => beside,
  });
  const facts = { hls: null, mode: "native", burned: [], burn: mock.fn(), video, ...source };
  const { signal } = new AbortController();
  setMaxListeners(20, signal);
  const on = listenUntil(signal);
  const told = Object.assign(new EventTarget(), facts);
  return { video, facts, place, source: told, subtitles: new Subtitles(root, video, told, on) };
}

test("of the tracks that Safari finds, the player draws the chosen one", () => {
  const textTracks = [track("", "metadata"), track("en"), track("fr", "captions")];
  textTracks[1].mode = "showing"; // as Safari's own settings may say
  const { subtitles } = player({ textTracks });
  const modes = () => textTracks.map(({ mode }) => mode).join(" ");
  assert.deepEqual(
    subtitles.choices().map(({ key, name }) => [key, name]),
    [
      ["native-0", "en"],
      ["native-1", "fr"],
    ],
  );
  assert.equal(modes(), "disabled disabled disabled");
  subtitles.choose("native-1");
  assert.equal(modes(), "disabled disabled hidden");
  subtitles.choose("native-0");
  assert.equal(modes(), "disabled hidden disabled");
  subtitles.choose("");
  assert.equal(modes(), "disabled disabled disabled");
});

test("where the player can't draw, Safari shows the chosen subtitles", () => {
  const textTracks = [track("en")];
  const { subtitles, video } = player({ textTracks });
  subtitles.choose("native-0");
  for (const [name, change, mode] of [
    ["webkitcurrentplaybacktargetiswirelesschanged", { webkitCurrentPlaybackTargetIsWireless: true }, "showing"],
    ["webkitcurrentplaybacktargetiswirelesschanged", { webkitCurrentPlaybackTargetIsWireless: false }, "hidden"],
    ["webkitpresentationmodechanged", { webkitPresentationMode: "fullscreen" }, "showing"],
    ["webkitpresentationmodechanged", { webkitPresentationMode: "inline" }, "hidden"],
  ]) {
    Object.assign(video, change).dispatchEvent(new Event(name));
    assert.equal(textTracks[0].mode, mode);
  }
});

test("what people choose in Safari's own menu stays chosen, and what Safari chooses doesn't", () => {
  const textTracks = [track("en"), track("fr")];
  const { subtitles, video } = player({ textTracks });
  const choose = (...modes) => {
    for (const [at, mode] of modes.entries()) textTracks[at].mode = mode;
    textTracks.dispatchEvent(new Event("change"));
    return textTracks.map(({ mode }) => mode);
  };
  subtitles.choose("native-0");
  assert.deepEqual(choose("disabled", "showing"), ["hidden", "disabled"]);
  video.webkitPresentationMode = "fullscreen";
  video.dispatchEvent(new Event("webkitpresentationmodechanged"));
  assert.deepEqual(choose("showing", "disabled"), ["showing", "disabled"]);
  assert.deepEqual(choose("disabled", "showing"), ["disabled", "showing"]);
  assert.deepEqual(choose("disabled", "disabled"), ["disabled", "disabled"]);
  assert.deepEqual(choose("showing", "disabled"), ["showing", "disabled"]);
  video.webkitPresentationMode = "inline";
  video.dispatchEvent(new Event("webkitpresentationmodechanged"));
  assert.deepEqual(choose("showing", "disabled"), ["hidden", "disabled"]);
});

test("subtitles that are pictures say that they are burned in", () => {
  const { subtitles, facts } = player({ mode: "", burned: [{ name: "English", lang: "en", url: "/burned/" }] });
  assert.deepEqual(subtitles.choices(), [{ key: "burned-0", name: "English, burned in", lang: "en" }]);
  assert.equal(facts.burn.mock.calls.length, 0);
  subtitles.choose("burned-0");
  subtitles.choose("");
  assert.deepEqual(
    facts.burn.mock.calls.map(({ arguments: [at] }) => at),
    [0, -1],
  );
});

test("a file beside the film shows its subtitles although they were off when it arrived", () => {
  const { subtitles, place } = player({
    mode: "original",
    beside: [{ textContent: "English", lang: "en", dataset: { words: "/words/" } }],
  });
  const words = { mode: "disabled", cues: null }; // as those of tracks that are off are
  const file = Object.assign(new EventTarget(), { append: () => {}, track: words });
  mock.method(document, "createElement", () => file, { times: 1 });
  subtitles.choose("beside-0");
  subtitles.choose("");
  file.dispatchEvent(new Event("load"));
  words.cues = [{ startTime: 0, endTime: 9, text: "Land in sight" }];
  subtitles.choose("beside-0");
  assert.equal(words.mode, "hidden");
  assert.equal(place.lines.length, 1);
});

test("subtitles that couldn't be burned in are no longer chosen", () => {
  const { subtitles, facts, source } = player({ mode: "hls", burned: [{ name: "English", lang: "en", url: "/b/" }] });
  subtitles.choose("burned-0");
  source.dispatchEvent(new Event("unburned"));
  subtitles.toggle();
  assert.deepEqual(
    facts.burn.mock.calls.map(({ arguments: [at] }) => at),
    [0, -1, 0],
  );
});
