// The time over the line: where a mouse points, where a finger drags to, or where a key or a button
// led. Screen readers have the slider's own value.
import { formatClock } from "../units.js";
import { Frames } from "./frames.js";

const STAYS_MS = 1500;

export class Bubble {
  #pointed = null; // where a mouse is, in pixels of the page
  #isDragged = false;
  #leaving = 0;

  constructor(line, video, signal) {
    this.line = line;
    this.frames = new Frames(video, signal);
    this.bubble = line.parentElement.querySelector(".bubble");
    const on = (names, act) => {
      for (const name of names.split(" ")) line.addEventListener(name, act, { signal });
    };
    on("pointermove", ({ pointerType, clientX }) => this.#point(pointerType === "touch" ? null : clientX));
    on("pointerleave pointercancel", () => this.#point(null));
    on("input change", ({ type }) => (this.#isDragged = type === "input"));
    on("focus blur", () => this.show());
    signal.addEventListener("abort", () => clearTimeout(this.#leaving));
  }

  // After a seek, whatever led to it.
  linger() {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => {
      this.#leaving = 0;
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
    const picture = bubble.querySelector("canvas");
    picture.hidden = !this.frames.draw(picture, at);
    const { left, width } = this.#track();
    const half = bubble.offsetWidth / 2;
    const share = at / Number(line.max);
    const center = left + width * (this.#isMirrored ? 1 - share : share);
    const most = Math.max(line.offsetWidth - half, half);
    bubble.style.setProperty("--center", `${Math.min(Math.max(center, half), most)}px`);
  }

  #point(pointed) {
    this.#pointed = pointed;
    this.show();
  }

  // Null where nobody looks for one.
  #time() {
    const { line } = this;
    if (this.#pointed !== null && !this.#isDragged) {
      const { left, width } = this.#track();
      const along = this.#pointed - line.getBoundingClientRect().left - left;
      const share = Math.min(Math.max(along / width, 0), 1);
      return Number(line.max) * (this.#isMirrored ? 1 - share : share);
    }
    const isShown = this.#isDragged || this.#leaving || line.matches(":focus-visible");
    return isShown ? Number(line.value) : null;
  }

  // Where the middle of the slider's thumb can be.
  #track() {
    const thumb = parseFloat(getComputedStyle(this.line).getPropertyValue("--thumb"));
    return { left: thumb / 2, width: this.line.offsetWidth - thumb };
  }

  get #isMirrored() {
    return this.line.matches(":dir(rtl)");
  }
}
