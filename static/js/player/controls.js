// The buttons, the line and the clock.
import { setButton, showPlaying } from "../icons.js";
import { formatClock } from "../units.js";
import { fill, words } from "../words.js";
import { Bubble } from "./bubble.js";
import { recall, remember } from "./memory.js";

const IDLE_MS = 3000;
const STEP_SECONDS = 10;
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 2];

export class Controls {
  #idle = 0;
  #isScrubbing = false;

  constructor(root, video, signal) {
    this.root = root;
    this.video = video;
    this.line = root.querySelector("#position");
    this.bubble = new Bubble(this.line, video, signal);
    this.volume = root.querySelector("#volume");
    const on = (target, names, act) => {
      for (const name of names.split(" ")) target.addEventListener(name, act, { signal });
    };
    on(root, "click", (event) => this.#press(event));
    on(video, "play pause ended", () => this.#showPlaying());
    on(video, "timeupdate durationchange progress seeking seeked emptied", () => this.#showTime());
    on(video, "volumechange", () => this.#showVolume());
    on(video, "ratechange", () => this.#showSpeed());
    on(video, "waiting stalled", () => root.classList.add("waiting"));
    on(video, "playing canplay", () => root.classList.remove("waiting"));
    on(this.line, "input", () => this.#scrub());
    on(this.line, "change", () => this.#leap());
    on(this.volume, "input", () => this.setVolume(Number(this.volume.value)));
    on(document, "fullscreenchange webkitfullscreenchange", () => this.#showFull());
    on(root, "pointermove keydown focusin touchstart", () => this.stir());
    on(document, "keydown", () => this.stir());
    this.#showWays(on);
    video.volume = recall("volume", 1);
    this.#showPlaying();
    this.#showTime();
  }

  acts = {
    toggle: () => this.toggle(),
    back: () => this.step(-STEP_SECONDS),
    forward: () => this.step(STEP_SECONDS),
    mute: () => (this.video.muted = !this.video.muted),
    full: () => this.full(),
    pip: () => this.pip(),
    remote: () => this.video.remote.prompt().catch(() => {}),
  };

  #press({ target }) {
    this.acts[target.closest("[data-do]")?.dataset.do]?.();
    const speed = target.closest("[data-speed]")?.dataset.speed;
    if (speed) this.setSpeed(Number(speed));
    if (speed || target.closest(".menu [data-do=remote]")) target.closest("[popover]").hidePopover();
  }

  // Before there is a film, playing is what the card offers first.
  toggle() {
    const offered = this.video.readyState === 0 && this.root.querySelector(".card .primary[data-do]");
    if (offered) offered.click();
    else if (this.video.paused) this.video.play().catch(() => {});
    else this.video.pause();
  }

  step(seconds) {
    this.seek(this.video.currentTime + seconds);
  }

  seek(seconds) {
    const { duration } = this.video;
    const most = Number.isFinite(duration) ? Math.max(duration - 0.1, 0) : Infinity;
    if (this.video.readyState > 0) this.video.currentTime = Math.min(Math.max(seconds, 0), most);
    this.bubble.linger();
    this.stir();
  }

  seekShare(share) {
    if (Number.isFinite(this.video.duration)) this.seek(this.video.duration * share);
  }

  setVolume(volume) {
    this.video.volume = Math.min(Math.max(volume, 0), 1);
    this.video.muted = this.video.volume === 0;
    remember("volume", this.video.volume);
  }

  setSpeed(speed) {
    this.video.playbackRate = speed;
    this.video.defaultPlaybackRate = speed;
  }

  faster(places) {
    const at = SPEEDS.indexOf(this.video.playbackRate);
    const next = SPEEDS[(at < 0 ? 2 : at) + places];
    if (next) this.setSpeed(next);
  }

  async full() {
    const { root, video } = this;
    const shown = document.fullscreenElement ?? document.webkitFullscreenElement;
    if (shown) return (document.exitFullscreen ?? document.webkitExitFullscreen).call(document);
    if (root.requestFullscreen) return root.requestFullscreen().catch(() => {});
    return (root.webkitRequestFullscreen ?? video.webkitEnterFullscreen)?.call(
      root.webkitRequestFullscreen ? root : video,
    );
  }

  pip() {
    if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
    else this.video.requestPictureInPicture().catch(() => {});
  }

  // Input shows everything; three seconds without any, while the film runs, leave the film alone.
  stir() {
    this.root.classList.remove("idle");
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#rest(), IDLE_MS);
  }

  #rest() {
    const isBusy = this.video.paused || this.root.querySelector(":popover-open, .card");
    if (!isBusy) this.root.classList.add("idle");
  }

  #scrub() {
    this.#isScrubbing = true;
    this.#showTime(Number(this.line.value));
  }

  #leap() {
    this.#isScrubbing = false;
    this.seek(Number(this.line.value));
  }

  #showPlaying() {
    showPlaying(this.root.querySelector("[data-do=toggle]"), !this.video.paused);
    this.stir();
  }

  // A film that doesn't say how long it is has a clock, but no line.
  #showTime(at = this.#isScrubbing ? Number(this.line.value) : this.video.currentTime) {
    const { duration, buffered } = this.video;
    const isKnown = Number.isFinite(duration) && duration > 0;
    const most = isKnown ? duration : 1;
    const [ready, played] = this.root.querySelectorAll(".scrub progress");
    ready.max = played.max = this.line.max = most;
    ready.value = isKnown && buffered.length ? Math.min(buffered.end(buffered.length - 1), most) : 0;
    played.value = isKnown ? Math.min(at, most) : 0;
    this.line.disabled = !isKnown;
    if (!this.#isScrubbing) this.line.value = isKnown ? at : 0;
    const length = isKnown ? formatClock(duration) : "?";
    this.line.setAttribute("aria-valuetext", fill(words.player.position, { at: formatClock(at), length }));
    this.root.querySelector("#at").textContent = formatClock(at);
    this.root.querySelector("#of").textContent = isKnown ? `/ ${formatClock(duration)}` : "";
    this.bubble.show();
  }

  #showVolume() {
    const { muted, volume } = this.video;
    this.volume.value = muted ? 0 : volume;
    const isMuted = muted || volume === 0;
    const button = this.root.querySelector("[data-do=mute]");
    setButton(button, isMuted ? "volume-x" : "volume-2", isMuted ? words.player.unmute : words.player.mute);
  }

  #showSpeed() {
    const speed = this.video.playbackRate;
    this.root.querySelector("#speed").textContent = `${speed}×`;
    for (const choice of this.root.querySelectorAll("[data-speed]"))
      current(choice, Number(choice.dataset.speed) === speed);
  }

  #showFull() {
    const isFull = Boolean(document.fullscreenElement ?? document.webkitFullscreenElement);
    const label = isFull ? words.player.leave : words.player.full;
    setButton(this.root.querySelector("[data-do=full]"), isFull ? "minimize" : "maximize", label);
  }

  // What the browser hasn't is not offered.
  #showWays(on) {
    const { root, video } = this;
    root.querySelector("[data-do=pip]").hidden = !(document.pictureInPictureEnabled && video.requestPictureInPicture);
    const full = root.requestFullscreen ?? root.webkitRequestFullscreen ?? video.webkitEnterFullscreen;
    root.querySelector("[data-do=full]").hidden = !full;
    const remote = root.querySelector("[data-do=remote]").parentElement;
    video.remote?.watchAvailability((isThere) => (remote.hidden = !isThere)).catch(() => {});
    const turn = () => {
      const isPhone = matchMedia("(pointer: coarse)").matches && !video.paused;
      if (isPhone && screen.orientation.type.startsWith("landscape") && !document.fullscreenElement) this.full();
    };
    if (screen.orientation?.addEventListener) on(screen.orientation, "change", turn);
  }
}

const focused = new WeakMap(); // the position of the focus in a list that has no choices for a moment

// Choices may change while their menu is open, and vanish for a moment while hls.js starts again.
// The focus stays where it was, unless the person has moved it.
export function refill(list, choices) {
  const at = [...list.children].findIndex((each) => each.contains(document.activeElement));
  if (at >= 0) focused.set(list, at);
  else if (document.activeElement !== document.body) focused.delete(list);
  list.replaceChildren(...choices);
  if (!choices.length || !focused.has(list)) return;
  [...list.querySelectorAll("button")].at(Math.min(focused.get(list), choices.length - 1))?.focus();
  focused.delete(list);
}

export function current(choice, isChosen) {
  if (isChosen) choice.setAttribute("aria-current", "true");
  else choice.removeAttribute("aria-current");
}
