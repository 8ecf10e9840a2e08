import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { listenUntil } from "../../static/js/events.js";

const WORDS = { player: { unreachable: "Can't reach Ferry.", broken: "The film stopped." } };

globalThis.document = Object.assign(new EventTarget(), {
  documentElement: { lang: "en" },
  visibilityState: "visible",
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
});
globalThis.location = { reload: mock.fn() };
globalThis.MediaError = { MEDIA_ERR_NETWORK: 2, MEDIA_ERR_DECODE: 3 };

// What the player uses of hls.js. Tests report the errors that hls.js would.
globalThis.Hls = class {
  static isSupported = () => true;
  static ErrorTypes = { NETWORK_ERROR: "network", MEDIA_ERROR: "media" };
  static Events = new Proxy({}, { get: (_target, name) => name });
  static all = [];
  #handlers = {};
  config = {};
  levels = [];
  recoverMediaError = mock.fn();
  attachMedia = mock.fn();
  destroy = mock.fn();
  constructor(options) {
    Object.assign(this.config, options);
    globalThis.Hls.all.push(this);
  }
  on(name, handler) {
    this.#handlers[name] = handler;
  }
  loadSource(url) {
    this.url = url;
  }
  fail(type) {
    return this.#handlers.ERROR("ERROR", { fatal: true, type });
  }
};
const { Hls } = globalThis;
const { Source } = await import("../../static/js/player/source.js");

const FACTS = { library: "data:text/javascript,export default globalThis.Hls", hls: "/hls/", mp4: "/mp4/" };
const AWAY = Symbol("Ferry can't be reached.");
const hls = (name) => ({ kind: "hls", url: `/${name}.m3u8`, progress: null, reason: "" });
const converting = (progress) => ({ kind: "converting", url: "", progress, reason: "" });
const none = (reason) => ({ kind: "none", url: "", progress: null, reason });

let requests;
let controller;
let sleeping = []; // the timers that have been set

mock.method(globalThis, "setTimeout", (act, ms) => sleeping.push({ act, ms }));

// The server gives these answers in turn, and repeats the last of each URL.
function serve(answers) {
  requests = [];
  globalThis.fetch = async (url, { signal }) => {
    signal.throwIfAborted();
    requests.push(url);
    const queue = answers[url];
    const answer = queue.length > 1 ? queue.shift() : queue[0];
    if (answer === AWAY) throw new TypeError("Failed to fetch");
    return { redirected: false, json: async () => answer, ...answer.response };
  };
}

class Video extends EventTarget {
  currentTime = 0;
  paused = true;
  error = null;
  src = "";
  plays = true; // whether the browser can play the original file
  playsHls = false;
  textTracks = new EventTarget();
  play = mock.fn(async () => (this.paused = false));
  canPlayType = (type) => {
    const plays = type === "video/mp4" ? this.plays : this.playsHls;
    return plays ? "maybe" : "";
  };
  removeAttribute = () => (this.src = "");
  get currentSrc() {
    return this.src;
  }
}

function film(facts = {}, { playsHls = false } = {}) {
  const video = Object.assign(new Video(), { playsHls });
  controller = new AbortController();
  const source = new Source(video, { ...FACTS, ...facts }, listenUntil(controller.signal));
  const events = [];
  for (const name of ["converting", "ready", "failed"])
    source.addEventListener(name, ({ detail }) => events.push(detail === undefined ? name : [name, detail]));
  return { video, source, events };
}

// Imports and answers take several turns of the event loop.
async function settle() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

async function polls(count) {
  for (let poll = 0; poll < count; poll += 1) {
    for (const { act } of sleeping.splice(0)) act();
    await settle();
  }
}

beforeEach(() => {
  delete globalThis.WebKitPlaybackTargetAvailabilityEvent;
  controller?.abort();
  sleeping = [];
  Hls.all = [];
  document.visibilityState = "visible";
  globalThis.location.reload.mock.resetCalls();
});

test("before a film plays, only the way to play it is requested", async () => {
  serve({ "/hls/": [hls("a")] });
  film();
  await settle();
  assert.deepEqual(requests, ["/hls/"]);
  assert.equal(Hls.all.length, 0);
});

test("a menu that opens before the film plays reads the playlist, and nothing else", async () => {
  serve({ "/hls/": [hls("a")] });
  const { source } = film();
  await source.prepare();
  assert.equal(Hls.all.length, 1);
  assert.equal(Hls.all[0].url, "/a.m3u8");
  assert.equal(Hls.all[0].config.autoStartLoad, false);
  assert.equal(Hls.all[0].attachMedia.mock.callCount(), 0);
  await source.open({ at: 20 });
  assert.equal(Hls.all.length, 1);
  assert.equal(Hls.all[0].config.startPosition, 20);
});

test("a film resumes where the viewer left it, or starts over", async () => {
  for (const [at, startPosition] of [
    [20, 20],
    [undefined, -1],
  ]) {
    serve({ "/hls/": [hls("a")] });
    const { source, video } = film();
    await source.open({ at });
    assert.equal(Hls.all.at(-1).config.startPosition, startPosition);
    assert.equal(video.play.mock.callCount(), 1);
  }
});

test("a conversion is awaited, although polls fail", async () => {
  serve({ "/hls/": [converting(40), AWAY, { kind: "away" }, AWAY, converting(50), hls("a")] });
  const { source, events, video } = film();
  source.open();
  await settle();
  assert.deepEqual(
    sleeping.map(({ ms }) => ms),
    [2000],
  );
  await polls(5);
  const shown = events.filter((each) => each !== "ready").map(([, percent]) => percent);
  assert.deepEqual(shown, [40, 40, 40, 40, 50]);
  assert.equal(events.at(-1), "ready");
  assert.equal(video.play.mock.callCount(), 0);
  await source.playReady();
  assert.equal(Hls.all[0].url, "/a.m3u8");
  assert.equal(video.play.mock.callCount(), 1);
});

test("the wait ends after thirty failed polls in a row", async () => {
  serve({ "/hls/": [converting(40), AWAY, converting(41), AWAY] });
  const { source, events } = film();
  source.open();
  await settle();
  await polls(2);
  await polls(30);
  assert.equal(events.filter(([name]) => name === "failed").length, 0);
  await polls(1);
  assert.deepEqual(events.at(-1), ["failed", "Can't reach Ferry."]);
  const { length } = requests;
  await polls(2);
  assert.equal(requests.length, length);
});

test("a hidden page doesn't poll", async () => {
  serve({ "/hls/": [converting(40)] });
  const { source } = film();
  source.open();
  await settle();
  document.visibilityState = "hidden";
  await polls(5);
  assert.equal(requests.length, 1);
  document.visibilityState = "visible";
  await polls(1);
  assert.equal(requests.length, 2);
});

test("a page that is left polls no more", async () => {
  serve({ "/hls/": [converting(40)] });
  const { source, events } = film();
  source.open();
  await settle();
  controller.abort();
  await polls(3);
  assert.equal(requests.length, 1);
  assert.deepEqual(events, [["converting", 40]]);
});

test("a viewer whose session has ended is led to the sign-in page", async () => {
  const signin = { response: { redirected: true, json: async () => JSON.parse("<!DOCTYPE html>") } };
  serve({ "/hls/": [converting(40), signin] });
  const { source, events } = film();
  source.open();
  await settle();
  await polls(1);
  assert.equal(globalThis.location.reload.mock.callCount(), 1);
  assert.deepEqual(events.at(-1), ["converting", 40]);
});

test("a film that stops is requested again once, and continues where it was", async () => {
  serve({ "/hls/": [hls("a"), hls("b")] });
  const { source, events, video } = film();
  await source.open();
  video.currentTime = 12;
  await Hls.all[0].fail("network");
  assert.deepEqual(
    Hls.all.map(({ url }) => url),
    ["/a.m3u8", "/b.m3u8"],
  );
  assert.equal(Hls.all[1].config.startPosition, 12);
  assert.equal(Hls.all[0].destroy.mock.callCount(), 1);
  await Hls.all[1].fail("network");
  assert.deepEqual(events, [["failed", "The film stopped."]]);
});

test("a film that was deleted while it played says so", async () => {
  serve({ "/hls/": [hls("a"), none("This file no longer exists.")] });
  const { source, events } = film();
  await source.open();
  await Hls.all[0].fail("network");
  assert.deepEqual(events, [["failed", "This file no longer exists."]]);
});

test("a decoder that fails is restarted once", async () => {
  serve({ "/hls/": [hls("a")] });
  const { source, events } = film();
  await source.open();
  Hls.all[0].fail("media");
  assert.equal(Hls.all[0].recoverMediaError.mock.callCount(), 1);
  Hls.all[0].fail("media");
  assert.deepEqual(events, [["failed", "The film stopped."]]);
});

test("the file itself plays if the service makes nothing of it and the browser can play it", async () => {
  serve({ "/hls/": [none("Nobody converts.")] });
  const facts = { original: "/raw/", type: "video/mp4" };
  const { source, events, video } = film(facts);
  await source.open();
  assert.equal(video.src, "/raw/");
  assert.equal(video.play.mock.callCount(), 1);
  assert.deepEqual(events, []);
  const other = film(facts);
  other.video.plays = false;
  await other.source.open();
  assert.equal(other.video.src, "");
  assert.deepEqual(other.events, [["failed", "Nobody converts."]]);
});

test("a download of the file that breaks off continues once where it was", async () => {
  serve({ "/hls/": [none("Nobody converts.")] });
  const { source, events, video } = film({ original: "/raw/", type: "video/mp4" });
  await source.open();
  const stop = (code) => {
    video.error = { code };
    video.currentTime = 8;
    video.dispatchEvent(new Event("error"));
  };
  stop(MediaError.MEDIA_ERR_NETWORK);
  assert.equal(video.src, "/raw/");
  assert.equal(video.play.mock.callCount(), 2);
  video.currentTime = 0;
  video.dispatchEvent(new Event("loadedmetadata"));
  assert.equal(video.currentTime, 8);
  stop(MediaError.MEDIA_ERR_NETWORK);
  assert.deepEqual(events, [["failed", "Nobody converts."]]);
});

test("an MP4 copy plays when it is ready", async () => {
  serve({ "/hls/": [none("")], "/mp4/": [converting(10), { kind: "mp4", url: "/copy.mp4" }] });
  const { source, events, video } = film();
  source.openMp4();
  await settle();
  await polls(1);
  assert.deepEqual(events, [["converting", 10], "ready"]);
  await source.playReady();
  assert.equal(video.src, "/copy.mp4");
});

test("an MP4 copy is offered until the service refuses it", async () => {
  serve({ "/hls/": [none("")], "/mp4/": [{ kind: "away", url: "" }, none("No copy of this.")] });
  const { source, events } = film();
  await source.openMp4();
  assert.equal(source.hasMp4, true);
  await source.openMp4();
  assert.equal(source.hasMp4, false);
  assert.deepEqual(events.at(-1), ["failed", "No copy of this."]);
});

const UNLOADABLE = { library: "data:text/javascript,throw new Error('Nobody needs hls.js.')" };
const becomeSafari = () => (globalThis.WebKitPlaybackTargetAvailabilityEvent = Event);

test("Safari plays HLS itself, without hls.js, since only then AirPlay works", async () => {
  becomeSafari();
  serve({ "/hls/": [hls("a")] });
  const { source, events, video } = film(UNLOADABLE, { playsHls: true });
  await source.prepare();
  await source.open({ at: 20 });
  assert.equal(source.mode, "native");
  assert.equal(video.src, "/a.m3u8");
  video.dispatchEvent(new Event("loadedmetadata"));
  assert.equal(video.currentTime, 20);
  assert.equal(Hls.all.length, 0);
  assert.deepEqual(events, []);
});

test("browsers that only say they play HLS use hls.js", async () => {
  serve({ "/hls/": [hls("a")] });
  const { source } = film({}, { playsHls: true });
  await source.open();
  assert.equal(source.mode, "hls");
  assert.equal(Hls.all[0].url, "/a.m3u8");
});

test("a film that Safari can't go on with is requested again once, and then says so", async () => {
  becomeSafari();
  serve({ "/hls/": [hls("a"), hls("b")] });
  const { source, events, video } = film(UNLOADABLE, { playsHls: true });
  await source.open();
  const stop = () => {
    video.error = { code: MediaError.MEDIA_ERR_DECODE };
    video.currentTime = 8;
    video.dispatchEvent(new Event("error"));
  };
  stop();
  await settle();
  assert.equal(video.src, "/b.m3u8");
  video.currentTime = 0;
  video.dispatchEvent(new Event("loadedmetadata"));
  assert.equal(video.currentTime, 8);
  stop();
  assert.deepEqual(events, [["failed", "The film stopped."]]);
});

test("tracks that Safari finds are offered, and those of hls.js aren't twice", async () => {
  for (const isSafari of [true, false]) {
    if (isSafari) becomeSafari();
    else delete globalThis.WebKitPlaybackTargetAvailabilityEvent;
    serve({ "/hls/": [hls("a")] });
    const { source, video } = film({}, { playsHls: true });
    await source.open();
    const told = mock.fn();
    source.addEventListener("tracks", told);
    for (const name of ["addtrack", "change"]) video.textTracks.dispatchEvent(new Event(name));
    assert.equal(told.mock.callCount(), isSafari ? 1 : 0);
  }
});

test("subtitles that are pictures are part of another stream, from where the film is", async () => {
  for (const isSafari of [true, false]) {
    if (isSafari) becomeSafari();
    else delete globalThis.WebKitPlaybackTargetAvailabilityEvent;
    serve({ "/hls/": [{ ...hls("a"), burned: [{ name: "English", lang: "en", url: "/burned.m3u8" }] }] });
    const { source, video } = film({}, { playsHls: true });
    const url = () => (isSafari ? video.src : Hls.all.at(-1).url);
    await source.open();
    assert.equal(source.burned[0].name, "English");
    assert.equal(url(), "/a.m3u8");
    Object.assign(video, { currentTime: 12, paused: true });
    for (const [at, expected] of [
      [0, "/burned.m3u8"],
      [0, "/burned.m3u8"],
      [-1, "/a.m3u8"],
    ]) {
      source.burn(at);
      await settle();
      assert.equal(url(), expected);
    }
    assert.equal(video.play.mock.callCount(), 1);
    if (isSafari) video.dispatchEvent(new Event("loadedmetadata"));
    else assert.equal(Hls.all.at(-1).config.startPosition, 12);
    assert.equal(video.currentTime, 12);
  }
});

test("subtitles whose stream fails are dropped, and the film plays on where it was", async () => {
  for (const isSafari of [true, false]) {
    if (isSafari) becomeSafari();
    else delete globalThis.WebKitPlaybackTargetAvailabilityEvent;
    serve({ "/hls/": [{ ...hls("a"), burned: [{ name: "English", lang: "en", url: "/burned.m3u8" }] }] });
    const { source, events, video } = film({ original: "/raw/", type: "video/mp4" }, { playsHls: true });
    const unburned = mock.fn();
    source.addEventListener("unburned", unburned);
    await source.open();
    source.burn(0);
    await settle();
    video.currentTime = 12;
    video.error = { code: MediaError.MEDIA_ERR_DECODE };
    const stop = () => (isSafari ? video.dispatchEvent(new Event("error")) : Hls.all.at(-1).fail("network"));
    stop(); // Its link may have expired.
    await settle();
    assert.equal(unburned.mock.callCount(), 0);
    stop();
    await settle();
    assert.equal(unburned.mock.callCount(), 1);
    assert.equal(isSafari ? video.src : Hls.all.at(-1).url, "/a.m3u8");
    if (isSafari) video.dispatchEvent(new Event("loadedmetadata"));
    else assert.equal(Hls.all.at(-1).config.startPosition, 12);
    assert.equal(video.currentTime, 12);
    assert.deepEqual(events, []);
  }
});

test("subtitles that are chosen before a film plays are part of it from the beginning", async () => {
  serve({ "/hls/": [{ ...hls("a"), burned: [{ name: "English", lang: "en", url: "/burned.m3u8" }] }] });
  const { source } = film();
  await source.prepare();
  source.burn(0);
  await source.open();
  assert.equal(Hls.all.at(-1).url, "/burned.m3u8");
});
