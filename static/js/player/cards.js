// What stands over the film: resume or start over, getting ready, and failed.
import { formatTime } from "../units.js";
import { fill, words } from "../words.js";

const TOLD = [25, 50, 75, 100];
// After less than that, the pace is a guess.
const PACE_SECONDS = 10;
const PACE_PERCENT = 1;

export class Cards {
  #told = 0;
  #first = null; // when somebody began to look, and how far it was then

  constructor(root, video, source, controls, signal) {
    this.root = root;
    this.source = source;
    this.controls = controls;
    this.stage = root.querySelector("#stage");
    const on = (target, name, act) => target.addEventListener(name, act, { signal });
    on(source, "converting", ({ detail }) => this.#converting(detail));
    on(source, "ready", () => this.show("ready"));
    on(source, "failed", ({ detail }) => this.#failed(detail));
    on(video, "playing", () => this.clear());
    on(root, "click", ({ target }) => this.#press(target.closest(".card [data-do]")?.dataset.do));
  }

  begin() {
    const resume = this.root.querySelector("#resume");
    if (!resume) return this.source.open();
    resume.hidden = false;
    resume.querySelector("[autofocus]").focus();
  }

  #press(act) {
    const resume = this.root.querySelector("#resume");
    const acts = {
      resume: () => this.source.open({ at: Number(resume.dataset.at) }),
      restart: () => this.source.open(),
      play: () => this.source.playReady(),
      mp4: () => this.source.openMp4(),
      stay: () => {},
    };
    if (!acts[act]) return;
    acts[act]();
    this.clear();
    this.root.querySelector("[data-do=toggle]").focus();
  }

  show(name) {
    const template = this.root.querySelector(`template#${name}`);
    this.clear();
    if (!template) return null;
    this.stage.append(template.content.cloneNode(true));
    this.controls.stir();
    const card = this.stage.querySelector(".card");
    card.querySelector("button, a")?.focus({ preventScroll: true });
    return card;
  }

  #converting(percent) {
    const shown = this.stage.querySelector("[aria-labelledby=converting-title]");
    const card = shown ?? this.show("converting");
    for (const part of card.querySelectorAll(".pct, .route")) part.hidden = percent === null;
    if (percent === null) return;
    const whole = Math.floor(percent);
    card.querySelector(".pct span").textContent = whole;
    card.querySelector("progress").value = whole;
    const seconds = this.#secondsLeft(percent);
    const left = card.querySelector("[data-left]");
    left.textContent = seconds === null ? "" : fill(words.player.left, { time: formatTime(seconds) });
    const reached = TOLD.filter((each) => each <= whole).at(-1) ?? 0;
    if (reached > this.#told) this.root.querySelector("#player-said").textContent = `${reached}%`;
    this.#told = Math.max(reached, this.#told);
  }

  // At the pace since somebody looks; null until there is one.
  #secondsLeft(percent) {
    const now = performance.now();
    if (!this.#first || percent < this.#first.percent) this.#first = { now, percent };
    const passed = (now - this.#first.now) / 1000;
    const done = percent - this.#first.percent;
    return passed >= PACE_SECONDS && done >= PACE_PERCENT ? ((100 - percent) * passed) / done : null;
  }

  #failed(why) {
    const card = this.show("failed");
    card.querySelector(".why").textContent = why;
    if (!this.source.hasMp4) for (const part of card.querySelectorAll(".mp4-way")) part.remove();
    card.querySelector("button, a").focus({ preventScroll: true });
  }

  clear() {
    this.stage.replaceChildren();
  }
}
