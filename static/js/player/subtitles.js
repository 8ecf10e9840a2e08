// Subtitles, those inside the film and those beside it, shown by ourselves: only so can they be
// large, on a dark ground, and earlier or later.
import { fill, words } from "../words.js";
import { current, refill } from "./controls.js";
import { recall, remember } from "./memory.js";
import { distinct } from "./tracks.js";

const SIZES = [-2, 3];
const STEP_SECONDS = 0.5;

export class Subtitles {
  #cues = new Map();
  #chosen = "";
  #delay = 0;
  #shown = "";
  #latest = "";
  #isRecalled = false;

  constructor(root, video, source, signal) {
    this.root = root;
    this.video = video;
    this.source = source;
    this.signal = signal;
    this.place = root.querySelector("#subtitles");
    this.beside = [...root.querySelectorAll("#source [data-words]")];
    this.look = recall("look", { size: 0, hasGround: false });
    source.addEventListener("cues", ({ detail }) => this.#keep(detail), { signal });
    root.addEventListener("click", ({ target }) => this.#press(target), { signal });
    for (const name of ["timeupdate", "seeked", "playing", "emptied"])
      video.addEventListener(name, () => this.#draw(), { signal });
    const timer = setInterval(() => !video.paused && this.#chosen && this.#draw(), 100);
    signal.addEventListener("abort", () => clearInterval(timer));
    this.#dress();
    this.#showDelay();
    this.offer();
  }

  choices() {
    const { hls, sort, video } = this.source;
    const tracks = hls?.subtitleTracks.length ? hls.subtitleTracks : distinct(hls?.allSubtitleTracks ?? []);
    const inside = tracks.map(({ name, lang }, at) => ({ key: `hls-${at}`, name: name || lang, lang }));
    const native =
      sort === "native"
        ? [...video.textTracks].map(({ label, language }, at) => ({
            key: `native-${at}`,
            name: label || language,
            lang: language,
          }))
        : [];
    const beside = this.beside.map((each, at) => ({ key: `beside-${at}`, name: each.textContent, lang: each.lang }));
    return [...inside, ...native, ...beside];
  }

  offer() {
    const list = this.root.querySelector("#words-choices");
    const off = list.firstElementChild;
    const choices = this.choices();
    refill(list, [off, ...choices.map(({ key, name, lang }) => item(key, name, lang))]);
    this.#recallChoice(choices);
    this.#hold();
    for (const each of list.querySelectorAll("button")) current(each, each.dataset.words === this.#chosen);
  }

  // The language that was chosen for another film.
  #recallChoice(choices) {
    if (this.#isRecalled || !choices.length) return;
    const wanted = recall("words", null);
    const found =
      wanted &&
      (choices.find(({ name, lang }) => lang === wanted.lang && name === wanted.name) ??
        choices.find(({ lang }) => lang && lang === wanted.lang));
    this.#isRecalled = Boolean(found) || this.source.sort !== "";
    if (found) this.#choose(found.key);
  }

  #press(target) {
    const button = target.closest("#words-menu button");
    if (!button) return;
    if ("words" in button.dataset) {
      button.closest("[popover]").hidePopover();
      this.choose(button.dataset.words);
    }
    const acts = {
      smaller: () => this.#grow(-1),
      larger: () => this.#grow(1),
      sooner: () => this.#shift(-1),
      later: () => this.#shift(1),
      background: () => this.#ground(),
    };
    acts[button.dataset.do]?.();
  }

  choose(key) {
    this.#isRecalled = true;
    const found = this.choices().find((each) => each.key === key);
    remember("words", found ? { name: found.name, lang: found.lang } : null);
    this.#choose(key);
    this.offer();
  }

  // c: the last ones that were chosen, or the first there are.
  toggle() {
    const [first] = this.choices();
    this.choose(this.#chosen ? "" : this.#latest || first?.key || "");
  }

  #choose(key) {
    this.#chosen = key;
    if (key) this.#latest = key;
    const [sort, number] = key.split("-");
    this.#hold();
    if (sort === "native") this.video.textTracks[number].mode = "hidden";
    if (sort === "beside" && !this.#cues.has(key)) this.#fetch(key, this.beside[number].dataset.words);
    this.#draw();
  }

  // hls.js chooses by itself while it sets out, and again when it is started anew.
  #hold() {
    const [sort, number] = this.#chosen.split("-");
    const { hls } = this.source;
    const wanted = sort === "hls" ? Number(number) : -1;
    if (hls && hls.subtitleTrack !== wanted) hls.subtitleTrack = wanted;
  }

  // The browser reads WebVTT itself, and makes no markup of it that could run.
  #fetch(key, url) {
    this.#cues.set(key, []);
    const track = Object.assign(document.createElement("track"), { kind: "subtitles", src: url });
    track.addEventListener(
      "load",
      () => {
        this.#cues.set(key, [...track.track.cues]);
        this.#draw();
      },
      { once: true, signal: this.signal },
    );
    this.video.append(track);
    track.track.mode = "hidden";
  }

  #keep({ cues, track }) {
    const at =
      track === "default"
        ? this.source.hls.subtitleTracks.findIndex((each) => each.default)
        : Number(track.replace("subtitles", ""));
    const key = `hls-${at}`;
    const known = this.#cues.get(key) ?? [];
    const names = new Set(known.map(nameOf));
    this.#cues.set(key, [...known, ...cues.filter((cue) => !names.has(nameOf(cue)))]);
    this.#draw();
  }

  #draw() {
    const at = this.video.currentTime - this.#delay;
    const [sort, number] = this.#chosen.split("-");
    const cues =
      sort === "native" ? [...(this.video.textTracks[number]?.cues ?? [])] : (this.#cues.get(this.#chosen) ?? []);
    const now = cues.filter(({ startTime, endTime }) => startTime <= at && at < endTime);
    const name = now.map(nameOf).join("\n");
    if (name === this.#shown) return;
    this.#shown = name;
    this.place.hidden = !now.length;
    this.place.replaceChildren(...now.flatMap((cue, index) => (index ? ["\n", line(cue)] : [line(cue)])));
  }

  #grow(step) {
    this.look.size = Math.min(Math.max(this.look.size + step, SIZES[0]), SIZES[1]);
    this.#dress();
  }

  #ground() {
    this.look.hasGround = !this.look.hasGround;
    this.#dress();
  }

  #dress() {
    this.place.dataset.size = this.look.size;
    this.place.toggleAttribute("data-background", this.look.hasGround);
    this.root.querySelector("[data-do=background]").setAttribute("aria-pressed", this.look.hasGround);
    remember("look", this.look);
  }

  #shift(step) {
    this.#delay += step * STEP_SECONDS;
    this.#showDelay();
    this.#draw();
  }

  #showDelay() {
    this.root.querySelector("#delay").textContent = fill(words.time.seconds, { seconds: this.#delay });
  }
}

const nameOf = ({ startTime, endTime, text }) => `${startTime} ${endTime} ${text}`;

function line(cue) {
  const shown = document.createElement("span");
  shown.append(cue.getCueAsHTML?.() ?? cue.text);
  return shown;
}

function item(key, name, lang) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: name, lang });
  button.dataset.words = key;
  const entry = document.createElement("li");
  entry.append(button);
  return entry;
}
