import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { listenUntil } from "../../static/js/events.js";
import { watch } from "../../static/js/player/watching.js";

let now = 0;
let timers = [];

mock.method(performance, "now", () => now);
mock.method(globalThis, "setTimeout", (act, ms) => timers.push({ act, ms }));
mock.method(globalThis, "clearTimeout", (id) => id && delete timers[id - 1]);
globalThis.window = new EventTarget();
globalThis.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
globalThis.FormData = class extends Map {
  constructor(form) {
    super(Object.entries(form.fields));
  }
};
Object.defineProperty(globalThis, "navigator", { configurable: true, value: {} });

const form = { dataset: { report: "/watch/7/" }, fields: { folder: "3" } };
let controller, reports, root, video;

beforeEach(() => {
  controller?.abort();
  controller = new AbortController();
  now = 0;
  timers = [];
  reports = [];
  document.visibilityState = "visible";
  navigator.sendBeacon = (url, fields) => reports.push({ url, ...Object.fromEntries(fields) });
  root = Object.assign(new EventTarget(), { querySelector: () => form });
  video = Object.assign(new EventTarget(), { currentTime: 0, duration: 40, paused: true, readyState: 4 });
  watch(root, video, listenUntil(controller.signal));
});

const tell = (target, ...names) => {
  for (const name of names) target.dispatchEvent(new Event(name));
};

function play(seconds) {
  video.paused = false;
  tell(video, "playing");
  for (let quarter = 0; quarter < seconds * 4; quarter += 1) {
    now += 250;
    video.currentTime += 0.25;
    tell(video, "timeupdate");
  }
}

const positions = () => reports.map(({ at }) => at);

function click(isLink) {
  const event = new Event("click");
  Object.defineProperty(event, "target", { value: { closest: () => (isLink ? {} : null) } });
  root.dispatchEvent(event);
}

test("while a film plays, its position is reported every ten seconds", () => {
  play(9.75);
  assert.deepEqual(reports, []);
  play(21);
  assert.deepEqual(positions(), ["10.00", "20.00", "30.00"]);
  assert.deepEqual(reports[0], { url: "/watch/7/", folder: "3", at: "10.00", of: "40.00" });
});

test("a film that waits for data reports no more often", () => {
  play(10);
  video.currentTime = 10.1;
  for (; now < 19_000; now += 250) tell(video, "timeupdate");
  assert.deepEqual(positions(), ["10.00"]);
});

test("a pause and the end are reported at once", () => {
  play(4);
  video.paused = true;
  tell(video, "pause");
  assert.deepEqual(positions(), ["4.00"]);
  video.currentTime = 40;
  tell(video, "ended");
  assert.deepEqual(positions(), ["4.00", "40.00"]);
});

test("seeks are reported once, a second after the last of them", () => {
  play(1);
  for (const at of [10, 20, 25]) {
    video.currentTime = at;
    tell(video, "seeked");
  }
  assert.deepEqual(reports, []);
  const pending = timers.filter(Boolean);
  assert.deepEqual(
    pending.map(({ ms }) => ms),
    [1000],
  );
  pending[0].act();
  assert.deepEqual(positions(), ["25.00"]);
});

test("every way to leave the page reports the position, and other clicks don't", () => {
  const ways = [() => click(true), () => tell(window, "beforeunload"), () => tell(window, "pagehide")];
  play(4);
  click(false);
  assert.deepEqual(reports, []);
  for (const leave of ways) {
    leave();
    video.currentTime += 1;
  }
  tell(document, "visibilitychange");
  assert.deepEqual(positions(), ["4.00", "5.00", "6.00"]);
  document.visibilityState = "hidden";
  tell(document, "visibilitychange");
  assert.deepEqual(positions(), ["4.00", "5.00", "6.00", "7.00"]);
});

test("the same position isn't reported twice", () => {
  play(4);
  tell(video, "pause");
  tell(window, "beforeunload", "pagehide");
  assert.deepEqual(positions(), ["4.00"]);
});

test("a film that hasn't played, or whose page was replaced, reports nothing", () => {
  video.currentTime = 20;
  tell(window, "pagehide");
  assert.deepEqual(reports, []);
  play(4);
  controller.abort();
  tell(window, "pagehide");
  assert.deepEqual(reports, []);
});

test("a film of unknown length reports 0 as its length", () => {
  video.duration = Number.POSITIVE_INFINITY;
  play(1);
  tell(video, "pause");
  assert.equal(reports[0].of, "0");
});
