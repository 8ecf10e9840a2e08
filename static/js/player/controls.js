// The buttons, the line, and the clock.
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
    const on = (target, names, handler) => {
      for (const name of names.split(" ")) target.addEventListener(name, handler, { signal });
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
    this.#offerSupported(on);
    video.volume = recall("volume", 1);
    this.#showPlaying();
    this.#showTime();
  }

  actions = {
    toggle: () => this.toggle(),
    back: () => this.step(-STEP_SECONDS),
    forward: () => this.step(STEP_SECONDS),
    mute: () => (this.video.muted = !this.video.muted),
    full: () => this.toggleFullscreen(),
    pip: () => this.togglePip(),
    remote: () => this.video.remote.prompt().catch(() => {}),
  };

  #press({ target }) {
    this.actions[target.closest("[data-do]")?.dataset.do]?.();
    const speed = target.closest("[data-speed]")?.dataset.speed;
    if (speed) this.setSpeed(Number(speed));
    if (speed || target.closest(".menu [data-do=remote]")) target.closest("[popover]").hidePopover();
  }

  // Before a film is loaded, its card offers how to play it, so press the card's primary button.
  toggle() {
    const button = this.video.readyState === 0 && this.root.querySelector(".card .primary[data-do]");
    if (button) button.click();
    else if (this.video.paused) this.video.play().catch(() => {});
    else this.video.pause();
  }

  step(seconds) {
    this.seek(this.video.currentTime + seconds);
  }

  seek(seconds) {
    const { duration } = this.video;
    const max = Number.isFinite(duration) ? Math.max(duration - 0.1, 0) : Infinity;
    if (this.video.readyState > 0) this.video.currentTime = Math.min(Math.max(seconds, 0), max);
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

  changeSpeed(steps) {
    const at = SPEEDS.indexOf(this.video.playbackRate);
    const next = SPEEDS[(at < 0 ? 2 : at) + steps];
    if (next) this.setSpeed(next);
  }

  async toggleFullscreen() {
    const { root, video } = this;
    const element = document.fullscreenElement ?? document.webkitFullscreenElement;
    if (element) return (document.exitFullscreen ?? document.webkitExitFullscreen).call(document);
    if (root.requestFullscreen) return root.requestFullscreen().catch(() => {});
    return (root.webkitRequestFullscreen ?? video.webkitEnterFullscreen)?.call(
      root.webkitRequestFullscreen ? root : video,
    );
  }

  togglePip() {
    if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
    else this.video.requestPictureInPicture().catch(() => {});
  }

  // Input shows the controls. They hide after three seconds without any, while the film plays.
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

  // A film of unknown duration has a clock, but no line.
  #showTime(at = this.#isScrubbing ? Number(this.line.value) : this.video.currentTime) {
    const { duration, buffered } = this.video;
    const isKnown = Number.isFinite(duration) && duration > 0;
    const max = isKnown ? duration : 1;
    const [readyBar, playedBar] = this.root.querySelectorAll(".scrub progress");
    readyBar.max = playedBar.max = this.line.max = max;
    readyBar.value = isKnown && buffered.length ? Math.min(buffered.end(buffered.length - 1), max) : 0;
    playedBar.value = isKnown ? Math.min(at, max) : 0;
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
      markCurrent(choice, Number(choice.dataset.speed) === speed);
  }

  #showFull() {
    const isFull = Boolean(document.fullscreenElement ?? document.webkitFullscreenElement);
    const label = isFull ? words.player.leave : words.player.full;
    setButton(this.root.querySelector("[data-do=full]"), isFull ? "minimize" : "maximize", label);
  }

  // Hide the buttons for what the browser doesn't support.
  #offerSupported(on) {
    const { root, video } = this;
    root.querySelector("[data-do=pip]").hidden = !(document.pictureInPictureEnabled && video.requestPictureInPicture);
    const full = root.requestFullscreen ?? root.webkitRequestFullscreen ?? video.webkitEnterFullscreen;
    root.querySelector("[data-do=full]").hidden = !full;
    const remote = root.querySelector("[data-do=remote]").parentElement;
    video.remote?.watchAvailability((isAvailable) => (remote.hidden = !isAvailable)).catch(() => {});
    const fillScreen = () => {
      const isPhone = matchMedia("(pointer: coarse)").matches && !video.paused;
      if (isPhone && screen.orientation.type.startsWith("landscape") && !document.fullscreenElement)
        this.toggleFullscreen();
    };
    if (screen.orientation?.addEventListener) on(screen.orientation, "change", fillScreen);
  }
}

const focusIndexes = new WeakMap(); // by list, while the list has no choices for a moment

// Choices may change while their menu is open, and vanish for a moment while hls.js restarts.
// Keep the focus where it was, unless the user has moved it.
export function refill(list, choices) {
  const at = [...list.children].findIndex((each) => each.contains(document.activeElement));
  if (at >= 0) focusIndexes.set(list, at);
  else if (document.activeElement !== document.body) focusIndexes.delete(list);
  list.replaceChildren(...choices);
  if (!choices.length || !focusIndexes.has(list)) return;
  [...list.querySelectorAll("button")].at(Math.min(focusIndexes.get(list), choices.length - 1))?.focus();
  focusIndexes.delete(list);
}

export function markCurrent(choice, isChosen) {
  if (isChosen) choice.setAttribute("aria-current", "true");
  else choice.removeAttribute("aria-current");
}
