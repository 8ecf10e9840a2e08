// The choice of sound and quality.
import { current, refill } from "./controls.js";
import { recall, remember } from "./memory.js";

export class Tracks {
  #isRecalled = false;

  constructor(root, source, words, signal) {
    Object.assign(this, { root, source, words });
    source.addEventListener("tracks", () => this.#show(), { signal });
    root.addEventListener("click", ({ target }) => {
      const choice = target.closest("[data-sound], [data-level]");
      if (choice) this.#choose(choice);
    }, { signal });
  }

  #choose(choice) {
    const { hls } = this.source;
    const { sound, level } = choice.dataset;
    choice.closest("[popover]").hidePopover();
    if (sound) {
      if (hls) hls.audioTrack = Number(sound);
      else [...this.source.video.audioTracks].forEach((each, at) => (each.enabled = at === Number(sound)));
      remember("sound", this.#sounds()[Number(sound)]?.lang);
    } else {
      hls.nextLevel = Number(level);
    }
    this.#show();
  }

  #show() {
    this.#recallSound();
    const { hls } = this.source;
    const sounds = this.#sounds();
    this.#list("sounds", "sound", sounds.length > 1 ? sounds : []);
    const levels = (hls?.levels ?? []).map(({ height }, at) => ({ at, name: `${height}p`, isChosen: !hls.autoLevelEnabled && hls.loadLevel === at }));
    const { auto } = this.root.querySelector("#levels ul").dataset;
    const now = hls?.levels[hls.currentLevel]?.height;
    const first = { at: -1, name: now ? `${auto} (${now}p)` : auto, isChosen: hls?.autoLevelEnabled };
    this.#list("levels", "level", levels.length > 1 ? [first, ...levels.reverse()] : []);
    this.words.offer();
  }

  #sounds() {
    const { hls, video } = this.source;
    if (hls) return hls.audioTracks.map(({ name, lang }, at) => ({ at, name, lang, isChosen: hls.audioTrack === at }));
    const found = [...(video.audioTracks ?? [])];
    return found.map(({ label, language, enabled }, at) => ({ at, name: label || language, lang: language, isChosen: enabled }));
  }

  // The language that was chosen for another film.
  #recallSound() {
    const { hls } = this.source;
    if (this.#isRecalled || !hls?.audioTracks.length) return;
    this.#isRecalled = true;
    const wanted = hls.audioTracks.findIndex(({ lang }) => lang && lang === recall("sound", ""));
    if (wanted >= 0) hls.audioTrack = wanted;
  }

  #list(id, name, choices) {
    const part = this.root.querySelector(`#${id}`);
    part.hidden = !choices.length;
    refill(part.querySelector("ul"), choices.map((each) => item(name, each)));
  }
}

function item(name, { at, name: label, isChosen }) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
  button.dataset[name] = at;
  current(button, isChosen);
  const line = document.createElement("li");
  line.append(button);
  return line;
}
