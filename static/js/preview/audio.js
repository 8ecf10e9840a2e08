// One track; the next of the folder plays when it ends. The lock screen has the same buttons.
import { isForUs } from "../shortcuts.js";
import { clockWords, fill } from "../files/words.js";
import { turnTo } from "./viewer.js";

const SPEEDS = [1, 1.25, 1.5, 1.75, 2, 0.75];
const JUMP_SECONDS = 10;
const memory = "ferry-speed";

let player, sound, slider, isScrubbing;

export function mount(viewer, signal, { isPlaying } = {}) {
  player = viewer.querySelector(".audio");
  sound = player.querySelector("audio");
  slider = player.querySelector("input");
  isScrubbing = false;
  sound.controls = false;
  player.querySelector(".controls").hidden = false;
  sound.playbackRate = recall();
  listen(viewer, signal);
  tellSession(viewer, signal);
  show();
  if (sound.error) fail();
  if (isPlaying) play();
}

function listen(viewer, signal) {
  const on = (target, name, act) => target.addEventListener(name, act, { signal });
  for (const name of ["loadedmetadata", "durationchange", "timeupdate", "progress", "play", "pause", "ratechange", "seeked"]) on(sound, name, show);
  on(sound, "error", fail);
  on(sound, "ended", () => next(viewer));
  on(slider, "input", () => {
    isScrubbing = true;
    show();
  });
  on(slider, "change", () => {
    isScrubbing = false;
    sound.currentTime = Number(slider.value);
  });
  on(player, "click", ({ target }) => ACTS[target.closest("[data-do]")?.dataset.do]?.());
  on(document, "keydown", press);
  signal.addEventListener("abort", sound.pause.bind(sound));
}

const ACTS = {
  play: () => (sound.paused ? play() : sound.pause()),
  back: () => jump(-JUMP_SECONDS),
  forward: () => jump(JUMP_SECONDS),
  speed: () => {
    sound.playbackRate = SPEEDS[(SPEEDS.indexOf(sound.playbackRate) + 1) % SPEEDS.length];
    remember(sound.playbackRate);
  },
};

const KEYS = { " ": ACTS.play, k: ACTS.play, j: ACTS.back, l: ACTS.forward, m: () => (sound.muted = !sound.muted) };

function press(event) {
  const isPressed = event.key === " " && event.target.closest?.("button, a");
  if (isPressed || event.shiftKey || !isForUs(event, { inside: "#overlay" }) || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
}

// A browser may want a press first; the button says so by what it shows.
function play() {
  sound.play().catch(() => show());
}

function jump(seconds) {
  if (sound.readyState > 0) sound.currentTime = Math.min(Math.max(sound.currentTime + seconds, 0), sound.duration || 0);
}

function next(viewer) {
  const link = viewer.querySelector("[data-step=next]");
  if (link) turnTo(link.href, { isPlaying: true });
}

function fail() {
  player.querySelector(".trouble").hidden = false;
  player.querySelector(".controls").hidden = true;
}

function show() {
  const length = Number.isFinite(sound.duration) ? sound.duration : 0;
  const at = isScrubbing ? Number(slider.value) : sound.currentTime;
  const find = (selector) => player.querySelector(selector);
  const button = find("[data-do=play]");
  const icon = button.querySelector("use");
  slider.max = Math.floor(length);
  if (!isScrubbing) slider.value = Math.floor(at);
  slider.setAttribute("aria-valuetext", fill(slider.dataset.words, { at: clockWords(at), length: clockWords(length) }));
  find(".played").value = length ? at / length : 0;
  find(".ready").value = length && sound.buffered.length ? sound.buffered.end(sound.buffered.length - 1) / length : 0;
  find(".at").textContent = clockWords(at);
  find(".length").textContent = clockWords(length);
  find(".rate").textContent = `${sound.playbackRate}×`;
  button.setAttribute("aria-label", sound.paused ? button.dataset.play : button.dataset.pause);
  icon.setAttribute("href", icon.getAttribute("href").replace(/#.*/, sound.paused ? "#play" : "#pause"));
  if (length) navigator.mediaSession?.setPositionState({ duration: length, position: Math.min(sound.currentTime, length), playbackRate: sound.playbackRate });
}

// The lock screen

function tellSession(viewer, signal) {
  const session = navigator.mediaSession;
  if (!session) return;
  const cover = player.querySelector("img.cover");
  session.metadata = new MediaMetadata({
    title: player.querySelector("h2").textContent,
    album: player.querySelector("h2 + p").textContent,
    artwork: cover ? [{ src: cover.src }] : [],
  });
  const press = (step) => {
    const link = viewer.querySelector(`[data-step=${step}]`);
    return link && (() => turnTo(link.href, { isPlaying: true }));
  };
  const acts = {
    play,
    pause: () => sound.pause(),
    seekbackward: ACTS.back,
    seekforward: ACTS.forward,
    seekto: ({ seekTime }) => (sound.currentTime = seekTime),
    previoustrack: press("previous"),
    nexttrack: press("next"),
  };
  for (const [name, act] of Object.entries(acts)) session.setActionHandler(name, act);
  signal.addEventListener("abort", () => {
    for (const name of Object.keys(acts)) session.setActionHandler(name, null);
    session.metadata = null;
  });
}

// Storage may be forbidden.
function recall() {
  try {
    const kept = Number(localStorage.getItem(memory));
    return SPEEDS.includes(kept) ? kept : 1;
  } catch {
    return 1;
  }
}

function remember(speed) {
  try {
    localStorage.setItem(memory, String(speed));
  } catch {
    return;
  }
}
