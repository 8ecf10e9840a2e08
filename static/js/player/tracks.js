// The menus for sound and quality.

import { fill, words } from "../words.js";
import { markCurrent, refill } from "./controls.js";
import { recall, remember } from "./memory.js";

export class Tracks {
  #preferredSound = { name: "", lang: recall("sound", "") }; // until there is a sound to choose

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
      else this.#preferredSound = { name, lang };
    } else {
      hls.nextLevel = Number(level);
    }
    this.#show();
  }

  #show() {
    this.#applyPreference();
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
    if (hls) return this.#upcomingSounds();
    const tracks = [...(video.audioTracks ?? [])];
    return tracks.map(({ label, language, enabled }, at) => ({
      at,
      name: label || language,
      lang: language,
      isChosen: enabled,
    }));
  }

  // Before the film plays, hls.js hasn't chosen a sound yet.
  #upcomingSounds() {
    const sounds = distinct(this.source.hls.allAudioTracks);
    const chosen = this.#find(sounds) ?? sounds.find((each) => each.default) ?? sounds[0];
    return sounds.map((each, at) => ({ at, name: each.name, lang: each.lang, isChosen: each === chosen }));
  }

  // Choose the sound that the user chose before the film played, or else for another film.
  #applyPreference() {
    const { hls } = this.source;
    if (!this.#preferredSound || !hls?.audioTracks.length) return;
    const match = this.#find(hls.audioTracks);
    this.#preferredSound = null;
    if (match) hls.audioTrack = hls.audioTracks.indexOf(match);
  }

  #find(sounds) {
    const { name, lang } = this.#preferredSound ?? { name: "", lang: "" };
    return (
      sounds.find((each) => each.name === name && each.lang === lang) ??
      sounds.find((each) => each.lang && each.lang === lang)
    );
  }

  #list(id, name, choices) {
    const part = this.root.querySelector(`#${id}`);
    // A hidden part can't keep or take the focus, so show it first.
    if (choices.length) part.hidden = false;
    refill(
      part.querySelector("ul"),
      choices.map((each) => item(name, each)),
    );
    part.hidden = !choices.length;
  }
}

// A film may list the same track once for each quality.
export function distinct(tracks) {
  const names = tracks.map(({ name, lang }) => `${lang} ${name}`);
  return tracks.filter((_each, at) => names.indexOf(names[at]) === at);
}

function item(name, { at, name: label, isChosen }) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
  button.dataset[name] = at;
  markCurrent(button, isChosen);
  const line = document.createElement("li");
  line.append(button);
  return line;
}
