// The choice of sound and quality.

import { fill, words } from "../words.js";
import { current, refill } from "./controls.js";
import { recall, remember } from "./memory.js";

export class Tracks {
  #wanted = { name: "", lang: recall("sound", "") }; // until there is a sound to choose

  constructor(root, source, subtitles, signal) {
    this.root = root;
    this.source = source;
    this.subtitles = subtitles;
    source.addEventListener("tracks", () => this.#show(), { signal });
    for (const menu of root.querySelectorAll("#words-menu, #more-menu")) {
      menu.addEventListener("beforetoggle", ({ newState }) => newState === "open" && source.prepare(), { signal });
    }
    root.addEventListener(
      "click",
      ({ target }) => {
        const choice = target.closest("[data-sound], [data-level]");
        if (choice) this.#choose(choice);
      },
      { signal },
    );
  }

  #choose(choice) {
    const { hls, video } = this.source;
    const { sound, level } = choice.dataset;
    choice.closest("[popover]").hidePopover();
    if (sound) {
      const { name, lang } = this.#sounds()[Number(sound)];
      remember("sound", lang);
      if (!hls) for (const [at, each] of [...video.audioTracks].entries()) each.enabled = at === Number(sound);
      else if (hls.audioTracks.length) hls.audioTrack = Number(sound);
      else this.#wanted = { name, lang };
    } else {
      hls.nextLevel = Number(level);
    }
    this.#show();
  }

  #show() {
    this.#useWanted();
    const { hls } = this.source;
    const sounds = this.#sounds();
    this.#list("sounds", "sound", sounds.length > 1 ? sounds : []);
    const levels = (hls?.levels ?? []).map(({ height }, at) => ({
      at,
      name: `${height}p`,
      isChosen: !hls.autoLevelEnabled && hls.loadLevel === at,
    }));
    const now = hls?.levels[hls.currentLevel]?.height;
    const first = {
      at: -1,
      name: now ? fill(words.player.quality, { quality: `${now}p` }) : words.player.automatic,
      isChosen: hls?.autoLevelEnabled,
    };
    this.#list("levels", "level", levels.length > 1 ? [first, ...levels.reverse()] : []);
    this.subtitles.offer();
  }

  #sounds() {
    const { hls, video } = this.source;
    if (hls?.audioTracks.length)
      return hls.audioTracks.map(({ name, lang }, at) => ({ at, name, lang, isChosen: hls.audioTrack === at }));
    if (hls) return this.#comingSounds();
    const found = [...(video.audioTracks ?? [])];
    return found.map(({ label, language, enabled }, at) => ({
      at,
      name: label || language,
      lang: language,
      isChosen: enabled,
    }));
  }

  // Before the film plays, hls.js has chosen none.
  #comingSounds() {
    const sounds = distinct(this.source.hls.allAudioTracks);
    const chosen = this.#find(sounds) ?? sounds.find((each) => each.default) ?? sounds[0];
    return sounds.map((each, at) => ({ at, name: each.name, lang: each.lang, isChosen: each === chosen }));
  }

  // The sound that was chosen before the film played, else the language chosen for another film.
  #useWanted() {
    const { hls } = this.source;
    if (!this.#wanted || !hls?.audioTracks.length) return;
    const found = this.#find(hls.audioTracks);
    this.#wanted = null;
    if (found) hls.audioTrack = hls.audioTracks.indexOf(found);
  }

  #find(sounds) {
    const { name, lang } = this.#wanted ?? { name: "", lang: "" };
    return (
      sounds.find((each) => each.name === name && each.lang === lang) ??
      sounds.find((each) => each.lang && each.lang === lang)
    );
  }

  #list(id, name, choices) {
    const part = this.root.querySelector(`#${id}`);
    // A hidden part has no focus to keep, and takes none.
    if (choices.length) part.hidden = false;
    refill(
      part.querySelector("ul"),
      choices.map((each) => item(name, each)),
    );
    part.hidden = !choices.length;
  }
}

// A film may have the same tracks once for each of its qualities.
export function distinct(tracks) {
  const names = tracks.map(({ name, lang }) => `${lang} ${name}`);
  return tracks.filter((_each, at) => names.indexOf(names[at]) === at);
}

function item(name, { at, name: label, isChosen }) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
  button.dataset[name] = at;
  current(button, isChosen);
  const line = document.createElement("li");
  line.append(button);
  return line;
}
