// The cards over the film: whether to resume, the progress of a conversion, readiness, and failure.
import { formatTime } from "../times.js";
import { fill, words } from "../words.js";

const MILESTONES = [25, 50, 75, 100];
// With less progress than this, the pace of a conversion would be a guess.
const MIN_SECONDS = 10;
const MIN_PERCENT = 1;

export class Cards {
  #announcedPercent = 0;
  #pace = new ConversionPace();

  constructor(root, video, source, controls, on) {
    this.root = root;
    this.source = source;
    this.controls = controls;
    this.stage = root.querySelector("#stage");
    on(source, "converting", ({ detail }) => this.#showConversion(detail));
    on(source, "ready", () => this.show("ready"));
    on(source, "failed", ({ detail }) => this.#showFailure(detail));
    on(video, "playing", () => this.clear());
    on(root, "click", ({ target }) => this.#press(target.closest(".card [data-do]")?.dataset.do));
  }

  begin() {
    const resume = this.root.querySelector("#resume");
    if (!resume) return this.source.open();
    resume.hidden = false;
    resume.querySelector("[autofocus]").focus();
  }

  #press(name) {
    const resume = this.root.querySelector("#resume");
    const actions = {
      resume: () => this.source.open({ at: Number(resume.dataset.at) }),
      restart: () => this.source.open(),
      play: () => this.source.playReady(),
      mp4: () => this.source.openMp4(),
      stay: () => {},
    };
    if (!actions[name]) return;
    actions[name]();
    this.clear();
    this.root.querySelector(this.controls.hasRemote ? "#position" : "[data-do=toggle]").focus();
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

  #showConversion(percent) {
    const existing = this.stage.querySelector("[aria-labelledby=converting-title]");
    const card = existing ?? this.show("converting");
    for (const part of card.querySelectorAll(".pct, .route")) part.hidden = percent === null;
    if (percent === null) return;
    const whole = Math.floor(percent);
    card.querySelector(".pct span").textContent = whole;
    card.querySelector("progress").value = whole;
    const seconds = this.#pace.secondsLeft(performance.now(), percent);
    const left = card.querySelector("[data-left]");
    left.textContent = seconds === null ? "" : fill(words.player.left, { time: formatTime(seconds) });
    const milestone = MILESTONES.filter((each) => each <= whole).at(-1) ?? 0;
    if (milestone > this.#announcedPercent) this.root.querySelector("#player-said").textContent = `${milestone}%`;
    this.#announcedPercent = Math.max(milestone, this.#announcedPercent);
  }

  #showFailure(reason) {
    const card = this.show("failed");
    card.querySelector(".why").textContent = reason;
    if (!this.source.hasMp4) for (const part of card.querySelectorAll(".mp4-way")) part.remove();
    card.querySelector("button, a").focus({ preventScroll: true });
  }

  clear() {
    this.stage.replaceChildren();
  }
}

// The time left of a conversion, extrapolated from its pace while the user waits.
export class ConversionPace {
  #first = null; // the time and percentage when the user began to wait

  // Return null until the pace is known.
  secondsLeft(milliseconds, percent) {
    if (!this.#first || percent < this.#first.percent) this.#first = { milliseconds, percent };
    const elapsed = (milliseconds - this.#first.milliseconds) / 1000;
    const done = percent - this.#first.percent;
    return elapsed >= MIN_SECONDS && done >= MIN_PERCENT ? ((100 - percent) * elapsed) / done : null;
  }
}
