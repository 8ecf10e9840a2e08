import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

let now = 0;
let stored = {};
let broken = new Set(); // names of tracks that can't be played
let isAnnounced = true; // whether "play" arrives before the error of the same track
let answers = {};
let requests = [];

const NAMES = ["one", "two", "three"];
const nameOf = (url) => url.split("/").at(-1);
const tell = (target, name) => target.dispatchEvent(new Event(name));

// An audio element that loads and fails as those of browsers do.
class Sound extends EventTarget {
  paused = true;
  ended = false;
  error = null;
  currentTime = 0;
  duration = Number.NaN;
  playbackRate = 1;
  defaultPlaybackRate = 1;
  #src = "";
  get src() {
    return this.#src;
  }
  set src(url) {
    this.#src = url;
    this.error = null;
    this.ended = false;
    this.playbackRate = this.defaultPlaybackRate;
    setImmediate(() => this.#load(url));
  }
  #load(url) {
    if (url !== this.#src || !url) return;
    if (broken.has(nameOf(url))) {
      this.error = { code: 4 };
      this.pause();
      tell(this, "error");
    } else {
      this.duration = 60;
      tell(this, "loadedmetadata");
    }
  }
  async play() {
    this.paused = false;
    if (isAnnounced) queueMicrotask(() => tell(this, "play"));
    else setImmediate(() => setImmediate(() => tell(this, "play")));
  }
  pause() {
    if (this.paused) return;
    this.paused = true;
    tell(this, "pause");
  }
  load() {}
  removeAttribute() {
    this.#src = "";
  }
  finish() {
    this.currentTime = this.duration;
    this.ended = this.paused = true;
    tell(this, "pause");
    tell(this, "ended");
  }
}

class FakeStorage {
  constructor(values) {
    this.values = values;
    this.sizes = [];
  }
  getItem = (key) => this.values[key] ?? null;
  setItem(key, value) {
    this.sizes.push(value.length);
    this.values[key] = value;
  }
  removeItem(key) {
    delete this.values[key];
  }
}

mock.method(performance, "now", () => now);
globalThis.window = {};
globalThis.addEventListener = () => {};
globalThis.sessionStorage = new FakeStorage(stored);
globalThis.localStorage = new FakeStorage({});
Object.defineProperty(globalThis, "navigator", { configurable: true, value: {} });
globalThis.document = Object.assign(new EventTarget(), {
  documentElement: { lang: "en" },
  body: { dataset: { person: "7" }, append() {} },
  createElement: () => new Sound(),
  getElementById: () => ({ textContent: "{}" }),
});
globalThis.fetch = async (url, { method = "GET" } = {}) => {
  requests.push(`${method} ${url}`);
  const answer = answers[`${method} ${url}`] ?? answers[method];
  if (answer instanceof Error) throw answer;
  return { ok: true, status: 200, json: async () => structuredClone(await answer) };
};

const FOLDER = { tagsUrl: "/tags/{id}", url: "/view/{id}", source: "/raw/{id}" };
const listing = (names) => ({ ...FOLDER, tracks: names.map((name) => ({ id: name, name })) });
const track = (name) => ({ name, url: `/view/${name}`, source: `/raw/${name}`, tagsUrl: `/tags/${name}` });
const heads = () => requests.filter((each) => each.startsWith("HEAD"));

// A page has its own module; the storage of the tab connects them.
let pages = 0;
const openPage = () => import(`../../static/js/music/music.js?page=${++pages}`);

async function settle() {
  for (let turn = 0; turn < 60; turn += 1) await new Promise(setImmediate);
}

let music;

async function click(name) {
  music.begin(track(name), "/queue/");
  music.play();
  await settle();
}

beforeEach(async () => {
  stored = {};
  globalThis.sessionStorage = new FakeStorage(stored);
  globalThis.localStorage = new FakeStorage({});
  broken = new Set();
  isAnnounced = true;
  requests = [];
  answers = { GET: {}, HEAD: {}, "GET /queue/": listing(NAMES) };
  music = await openPage();
});

const isAt = (name, isPlaying) => {
  assert.equal(music.current().name, name);
  assert.equal(music.isPlaying(), isPlaying);
};

test("tracks follow each other until the last", async () => {
  await click("two");
  isAt("two", true);
  music.sound.finish();
  await settle();
  isAt("three", true);
  assert.equal(music.canStep(1), false);
  music.sound.finish();
  await settle();
  isAt("three", false);
});

test("a track or all tracks repeat if the listener wants that", async () => {
  music.turnRepeat();
  await click("three");
  music.sound.finish();
  await settle();
  isAt("one", true);
  music.turnRepeat();
  music.sound.finish();
  await settle();
  isAt("one", true);
  assert.equal(music.chosen().repeat, "one");
});

test("the previous track is only reached in the first three seconds", async () => {
  await click("two");
  music.sound.currentTime = 4;
  music.step(-1);
  isAt("two", true);
  assert.equal(music.sound.currentTime, 0);
  music.step(-1);
  await settle();
  isAt("one", true);
});

test("the next track starts at its beginning, and a seek stays within the track", async () => {
  await click("one");
  music.jump(10);
  assert.equal(music.sound.currentTime, 10);
  music.jump(-20);
  assert.equal(music.sound.currentTime, 0);
  music.seek(90);
  assert.equal(music.sound.currentTime, 60);
  music.step(1);
  assert.equal(music.sound.currentTime, 0);
});

for (const [when, does] of [
  ["after they are announced", true],
  ["before they are announced", false],
]) {
  test(`music continues past tracks that fail ${when}`, async () => {
    isAnnounced = does;
    broken = new Set(["one", "two"]);
    await click("one");
    isAt("three", true);
    assert.equal(music.unplayable().name, "two");
  });
}

test("music stops at the end of the folder, if its last tracks can't be played", async () => {
  broken = new Set(["two", "three"]);
  await click("one");
  music.sound.finish();
  await settle();
  isAt("three", false);
  assert.equal(music.unplayable().name, "three");
});

test("a folder of which no track can be played is tried once, even if it repeats", async () => {
  music.turnRepeat();
  assert.equal(music.chosen().repeat, "all");
  broken = new Set(NAMES);
  await click("two");
  assert.deepEqual(heads(), ["HEAD /raw/two", "HEAD /raw/three", "HEAD /raw/one"]);
  isAt("one", false);
  assert.equal(music.unplayable().name, "one");
});

test("a track that fails while nobody plays it is not skipped", async () => {
  broken = new Set(["one"]);
  music.begin(track("one"), "/queue/");
  await settle();
  isAt("one", false);
  assert.deepEqual(heads(), []);
});

test("music waits at its track while Ferry can't be reached, and plays on request", async () => {
  await click("one");
  answers.HEAD = new TypeError("Failed to fetch");
  broken = new Set(NAMES);
  music.step(1);
  await settle();
  isAt("two", false);
  assert.equal(music.unplayable().name, "two");
  broken = new Set();
  music.toggle();
  await settle();
  isAt("two", true);
  assert.equal(music.unplayable(), null);
});

test("music plays on in the next page, where it was and with the tags it had", async () => {
  let tag;
  answers["GET /tags/two"] = new Promise((resolve) => (tag = () => resolve({ title: "Drift Ice" })));
  await click("two");
  tag();
  await settle();
  music.sound.currentTime = 12;
  now += 2001;
  tell(music.sound, "timeupdate");
  requests = [];
  music = await openPage();
  music.resume();
  await settle();
  isAt("two", true);
  assert.equal(music.sound.currentTime, 12);
  assert.deepEqual(music.current().tags, { title: "Drift Ice" });
  assert.deepEqual(requests, []);
});

test("music that was paused stays paused in the next page, and another person's isn't played", async () => {
  await click("two");
  music.sound.pause();
  now += 2001;
  tell(music.sound, "timeupdate");
  music = await openPage();
  music.resume();
  isAt("two", false);
  document.body.dataset.person = "8";
  music = await openPage();
  music.resume();
  assert.equal(music.current(), null);
  assert.deepEqual(Object.keys(stored), []);
  document.body.dataset.person = "7";
});

test("a page left before the queue has come asks for it again", async () => {
  answers["GET /queue/"] = new Promise(() => {});
  await click("one");
  assert.equal(music.canStep(1), false);
  answers["GET /queue/"] = listing(NAMES);
  music = await openPage();
  music.resume();
  await settle();
  music.step(1);
  await settle();
  isAt("two", true);
});

test("what is stored every two seconds doesn't grow with the queue", async () => {
  const names = Array.from({ length: 600 }, (_, number) => `track ${number}`);
  answers["GET /queue/"] = listing(names);
  await click(names[0]);
  assert.ok(Math.max(...sessionStorage.sizes) > 10_000);
  sessionStorage.sizes = [];
  for (let beat = 0; beat < 40; beat += 1) {
    now += 250;
    tell(music.sound, "timeupdate");
  }
  assert.ok(sessionStorage.sizes.length >= 4 && sessionStorage.sizes.length <= 5);
  assert.ok(Math.max(...sessionStorage.sizes) < 200);
});

test("volume, speed, and order are kept for the next track and the next page", async () => {
  await click("one");
  music.setVolume(0.3);
  music.turnSpeed();
  music.toggleShuffle();
  music.step(1);
  const sounds = () => [music.sound.volume, music.sound.playbackRate];
  assert.deepEqual(sounds(), [0.3, 1.25]);
  await settle();
  music = await openPage();
  music.resume();
  assert.deepEqual(sounds(), [0.3, 1.25]);
  const { repeat, ...kept } = music.chosen();
  assert.deepEqual(kept, { volume: 0.3, isMuted: false, speed: 1.25, isShuffled: true });
});

test("stopping the music forgets it", async () => {
  await click("one");
  music.stop();
  assert.equal(music.current(), null);
  assert.deepEqual(Object.keys(stored), []);
});
