// The buttons, the line, and the clock.
import { setButton, showPlaying } from "../elements.js";
import { formatClock } from "../times.js";
import { fill, words } from "../words.js";
import { Bubble } from "./bubble.js";
import { markCurrent, recall, remember } from "./choices.js";

const IDLE_MS = 3000;
const STEP_SECONDS = 10;
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 2];

export class Controls {
  #idle = 0;
  #isScrubbing = false;
  hasRemote = "television" in document.documentElement.dataset;

  constructor(root, video, on) {
    this.root = root;
    this.video = video;
    this.line = root.querySelector("#position");
    this.bubble = new Bubble(this.line, video, on);
    this.volume = root.querySelector("#volume");
    on(root, "click", (event) => this.#press(event));
    on(video, "play pause ended", () => this.#showPlaying());
    on(video, "timeupdate durationchange progress seeking seeked emptied", () => this.#showTime());
    on(video, "volumechange", () => this.#showVolume());
    on(video, "ratechange", () => this.#showSpeed());
    on(video, "waiting stalled", () => root.classList.add("waiting"));
    on(video, "playing canplay", () => root.classList.remove("waiting"));
    on(this.line, "input change", ({ type }) => this.#scrub(type === "input"));
    on(this.volume, "input", () => this.setVolume(Number(this.volume.value)));
    on(document, "fullscreenchange", () => this.#showFull());
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
    remote: () => {
      if (this.video.webkitShowPlaybackTargetPicker) this.video.webkitShowPlaybackTargetPicker();
      else this.video.remote.prompt().catch(() => {});
    },
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

  // On an iPhone, only the film itself can fill the screen.
  async toggleFullscreen() {
    const { root, video } = this;
    if (document.fullscreenElement) return document.exitFullscreen();
    return root.requestFullscreen ? root.requestFullscreen().catch(() => {}) : video.webkitEnterFullscreen?.();
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

  // Seek once the line is released.
  #scrub(isScrubbing) {
    const at = Number(this.line.value);
    this.#isScrubbing = isScrubbing;
    if (isScrubbing) this.#showTime(at);
    else this.seek(at);
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
    markCurrent(this.root.querySelector("#speed-menu"), (data) => Number(data.speed) === speed);
  }

  #showFull() {
    const isFull = Boolean(document.fullscreenElement);
    const label = isFull ? words.player.leave : words.player.full;
    setButton(this.root.querySelector("[data-do=full]"), isFull ? "minimize" : "maximize", label);
  }

  // Hide the buttons for what the browser doesn't support.
  #offerSupported(on) {
    const { root, video } = this;
    root.querySelector("[data-do=pip]").hidden = !(document.pictureInPictureEnabled && video.requestPictureInPicture);
    root.querySelector("[data-do=full]").hidden = !(root.requestFullscreen ?? video.webkitEnterFullscreen);
    const remote = root.querySelector("[data-do=remote]").parentElement;
    on(video, "webkitplaybacktargetavailabilitychanged", ({ availability }) => {
      remote.hidden = availability !== "available";
    });
    if (!video.webkitShowPlaybackTargetPicker)
      video.remote?.watchAvailability((isAvailable) => (remote.hidden = !isAvailable)).catch(() => {});
    const fillScreen = () => {
      const isPhone = matchMedia("(pointer: coarse)").matches && !video.paused;
      if (isPhone && screen.orientation.type.startsWith("landscape") && !document.fullscreenElement)
        this.toggleFullscreen();
    };
    if (screen.orientation?.addEventListener) on(screen.orientation, "change", fillScreen);
  }
}
