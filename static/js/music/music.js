// The music of this document: one sound, its queue, and the listener's choices. The page of a track
// and the bar below other pages both show it, and listen for changes.
import { on } from "../events.js";
import { seekingActs, setActs, setMetadata, setPosition } from "../media-session.js";
import { fetchJson } from "../server.js";
import { browser, tab } from "../storage.js";
import { fill } from "../words.js";
import { Queue } from "./queue.js";

export const SPEEDS = [1, 1.25, 1.5, 1.75, 2, 0.75];
export const JUMP_SECONDS = 10;
const RESTART_SECONDS = 3;
const SAVE_MS = 2000;
// The queue may be long but rarely changes; the place in it is saved every two seconds.
const QUEUE = "ferry-music";
const PLACE = "ferry-music-place";
const CHOICES = "ferry-music-choices";
const REPEATS = ["off", "all", "one"];
const EVENTS = "loadedmetadata durationchange timeupdate progress play pause ratechange seeked volumechange";

export const sound = document.createElement("audio");
export const changes = new EventTarget();
const choices = { volume: 1, isMuted: false, speed: 1, isShuffled: false, repeat: "off", ...browser.readJson(CHOICES) };
const { person } = document.body.dataset;
let queue = null;
let skippedTracks = [];
let isWanted = false;
let savedAt = 0;
let presentedKey = null;

sound.id = "sound";
sound.preload = "metadata";
document.body.append(sound);
on(sound, EVENTS, update);
// A sound that failed may report that it's paused.
on(sound, "play pause", () => (isWanted = sound.error ? isWanted : !sound.paused));
sound.addEventListener("ended", end);
sound.addEventListener("error", skip);
addEventListener("pagehide", keep);

export const current = () => queue?.current ?? null;
export const isPlaying = () => !sound.paused;
export const unplayable = () => skippedTracks.at(-1) ?? null;
export const chosen = () => choices;
export const canStep = (by) => queue?.has(by, choices.repeat === "all") ?? false;

export function begin(track, url) {
  queue = new Queue([track], url);
  open();
  keepQueue();
  complete();
}

async function complete() {
  const requestedQueue = queue;
  if (!requestedQueue?.url) return;
  const listing = await fetchJson(requestedQueue.url);
  if (!listing || requestedQueue !== queue || !queue.url) return;
  queue.complete(tracksOf(listing));
  if (choices.isShuffled) queue.shuffle();
  keepQueue();
  update();
}

function tracksOf({ tracks, url, source, tagsUrl, ...shared }) {
  return tracks.map(({ id, ...own }) => ({
    ...shared,
    ...own,
    url: fill(url, { id }),
    source: fill(source, { id }),
    tagsUrl: fill(tagsUrl, { id }),
  }));
}

function open(seconds = 0, before = []) {
  const track = current();
  skippedTracks = before;
  sound.src = track.source;
  // Before the metadata arrives, this sets the start. Browsers keep it for the next source, so set 0 too.
  sound.currentTime = seconds;
  sound.volume = choices.volume;
  sound.muted = choices.isMuted;
  sound.defaultPlaybackRate = sound.playbackRate = choices.speed;
  readTags(track);
  update();
}

async function readTags(track) {
  if (track.tags) return;
  const tags = await fetchJson(track.tagsUrl);
  if (!tags) return;
  track.tags = tags;
  if (track === current()) update();
}

// Actions

// Browsers may block playback until the user presses something; the button then still shows Play.
export function play() {
  if (sound.error) open(sound.currentTime);
  const playback = sound.play();
  // The sound may fail before its "play" event arrives.
  isWanted = !sound.paused;
  playback.then(() => channel?.postMessage("plays"), update);
}

export const toggle = () => (sound.paused ? play() : sound.pause());
export const jump = (seconds) => seek(sound.currentTime + seconds);

export function seek(seconds) {
  sound.currentTime = Math.min(Math.max(seconds, 0), sound.duration || Infinity);
  update();
}

export function step(by) {
  if (by < 0 && sound.currentTime > RESTART_SECONDS) return seek(0);
  if (queue?.step(by, choices.repeat === "all")) go();
}

function go(before) {
  open(0, before);
  play();
}

async function end() {
  if (choices.repeat === "one") return play();
  const track = current();
  if (queue.url) await complete();
  if (track !== current() || !sound.ended) return;
  if (queue.step(1, choices.repeat === "all")) go();
  else update();
}

// Skip a track that can't be played, but stop once every track has failed.
async function skip() {
  const [track, wasWanted] = [current(), isWanted];
  if (!track) return;
  isWanted = false;
  skippedTracks = [...skippedTracks, track];
  sound.pause();
  update();
  if (!wasWanted || !(await isReachable(track))) return;
  await complete();
  if (track !== current() || !sound.error) return;
  if (skippedTracks.length < queue.tracks.length && queue.step(1, choices.repeat === "all")) go(skippedTracks);
}

// While Ferry is unreachable, the next tracks would fail too.
async function isReachable(track) {
  try {
    const { status } = await fetch(track.source, { method: "HEAD", redirect: "manual", cache: "no-store" });
    return status < 500;
  } catch {
    return false;
  }
}

export function stop() {
  queue = null;
  skippedTracks = [];
  sound.pause();
  sound.removeAttribute("src");
  sound.load();
  clear();
  update();
}

// Choices

export const setVolume = (volume) => choose({ volume, isMuted: volume === 0 });
export const toggleMute = () => choose({ isMuted: !choices.isMuted });
export const turnSpeed = () => choose({ speed: SPEEDS[(SPEEDS.indexOf(choices.speed) + 1) % SPEEDS.length] });
export const turnRepeat = () => choose({ repeat: REPEATS[(REPEATS.indexOf(choices.repeat) + 1) % REPEATS.length] });

export function toggleShuffle() {
  choose({ isShuffled: !choices.isShuffled });
  if (choices.isShuffled) queue?.shuffle();
  else queue?.sort();
  if (queue) keepQueue();
  update();
}

function choose(newChoices) {
  Object.assign(choices, newChoices);
  browser.write(CHOICES, choices);
  sound.volume = choices.volume;
  sound.muted = choices.isMuted;
  sound.playbackRate = choices.speed;
  update();
}

// On pages, on the lock screen, and across pages and tabs

function update() {
  present();
  changes.dispatchEvent(new Event("change"));
  if (current() && Math.abs(performance.now() - savedAt) > SAVE_MS) keep();
}

function present() {
  const track = current();
  const { mediaSession } = navigator;
  if (!mediaSession) return;
  mediaSession.playbackState = track ? (sound.paused ? "paused" : "playing") : "none";
  if (track) setPosition(sound);
  const words = track && wordsOf(track);
  const key = track && JSON.stringify([track.url, words, canStep(1)]);
  if (key === presentedKey) return;
  presentedKey = key;
  setMetadata(words, track?.cover);
  const actions = {
    play,
    pause: () => sound.pause(),
    stop,
    ...seekingActs({ jump, seek }),
    previoustrack: () => step(-1),
    nexttrack: canStep(1) ? () => step(1) : null,
  };
  setActs(track ? actions : {});
}

export function wordsOf({ name, folder, tags }) {
  return { title: tags?.title || name, artist: tags?.artist || "", album: tags?.album || folder || "" };
}

function keep() {
  savedAt = performance.now();
  if (!queue) return;
  tab.write(PLACE, { at: queue.at, tags: current().tags, seconds: sound.currentTime, isPlaying: !sound.paused });
}

function keepQueue() {
  const { tracks, order, url } = queue;
  // If the queue doesn't fit, clear the previous one, which the new place doesn't belong to.
  if (!tab.write(QUEUE, { person, tracks, order, url })) clear();
  keep();
}

function clear() {
  for (const key of [QUEUE, PLACE]) tab.remove(key);
}

// A duplicated tab starts with the same memory. Of several tabs, only the last to start plays.
const channel = "BroadcastChannel" in window ? new BroadcastChannel("ferry-music") : null;
channel?.addEventListener("message", ({ data }) => {
  if (data === "plays") sound.pause();
});

export function resume() {
  const [savedQueue, place] = [tab.readJson(QUEUE), tab.readJson(PLACE)];
  if (!savedQueue?.tracks || !place || savedQueue.person !== person) return clear();
  const { tracks, order, url } = savedQueue;
  queue = new Queue(tracks, url, order, place.at);
  if (!current()) return stop();
  current().tags ??= place.tags;
  open(place.seconds);
  if (place.isPlaying) play();
  complete();
}
