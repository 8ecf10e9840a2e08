// The time above the line: where the mouse points, where a finger drags, or where a key or a button
// sought to. Screen readers get the value of the slider instead.
import { formatClock } from "../times.js";
import { Frames } from "./frames.js";

const STAYS_MS = 1500;

export class Bubble {
  chapters = [];
  #pointerX = null; // the position of the mouse, in pixels of the page
  #isDragging = false;
  #lingerTimer = 0;

  constructor(line, video, on) {
    this.line = line;
    this.frames = new Frames(video, on);
    this.bubble = line.parentElement.querySelector(".bubble");
    on(line, "pointermove", ({ pointerType, clientX }) => this.#point(pointerType === "touch" ? null : clientX));
    on(line, "pointerleave pointercancel", () => this.#point(null));
    on(line, "input change", ({ type }) => (this.#isDragging = type === "input"));
    on(line, "focus blur", () => this.show());
    on.signal.addEventListener("abort", () => clearTimeout(this.#lingerTimer));
  }

  // Show the time for a while after any seek.
  linger() {
    clearTimeout(this.#lingerTimer);
    this.#lingerTimer = setTimeout(() => {
      this.#lingerTimer = 0;
      this.show();
    }, STAYS_MS);
    this.show();
  }

  show() {
    const { line, bubble } = this;
    const at = line.disabled ? null : this.#time();
    bubble.hidden = at === null;
    if (at === null) return;
    bubble.querySelector("span").textContent = formatClock(at);
    const title = bubble.querySelector("b");
    const chapter = this.chapterAt(at);
    title.hidden = !chapter;
    title.textContent = chapter?.title ?? "";
    const picture = bubble.querySelector("canvas");
    picture.hidden = !this.frames.draw(picture, at);
    const { left, width } = this.#track();
    const half = bubble.offsetWidth / 2;
    const share = at / Number(line.max);
    const center = left + width * (this.#isMirrored ? 1 - share : share);
    const max = Math.max(line.offsetWidth - half, half);
    bubble.style.setProperty("--center", `${Math.min(Math.max(center, half), max)}px`);
  }

  chapterAt(at) {
    return this.chapters.findLast((each) => each.at <= at);
  }

  #point(x) {
    this.#pointerX = x;
    this.show();
  }

  // Return null if the user isn't looking for a time.
  #time() {
    const { line } = this;
    if (this.#pointerX !== null && !this.#isDragging) {
      const { left, width } = this.#track();
      const along = this.#pointerX - line.getBoundingClientRect().left - left;
      const share = Math.min(Math.max(along / width, 0), 1);
      return Number(line.max) * (this.#isMirrored ? 1 - share : share);
    }
    const isShown = this.#isDragging || this.#lingerTimer || line.matches(":focus-visible");
    return isShown ? Number(line.value) : null;
  }

  // The range of the center of the slider's thumb.
  #track() {
    const thumb = parseFloat(getComputedStyle(this.line).getPropertyValue("--thumb"));
    return { left: thumb / 2, width: this.line.offsetWidth - thumb };
  }

  get #isMirrored() {
    return this.line.matches(":dir(rtl)");
  }
}
