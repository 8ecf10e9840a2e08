// The menus for sound and quality.
import { fill, words } from "../words.js";
import { findLike, makeChoice, recall, refill, remember } from "./choices.js";

export class Tracks {
  #preferredSound = { name: "", lang: recall("sound", "") }; // until there is a sound to choose

  constructor(root, source, subtitles, on) {
    this.root = root;
    this.source = source;
    this.subtitles = subtitles;
    on(source, "tracks", () => this.#show());
    for (const menu of root.querySelectorAll("#words-menu, #more-menu"))
      on(menu, "beforetoggle", ({ newState }) => newState === "open" && source.prepare());
    on(root, "click", ({ target }) => this.#choose(target.closest("[data-sound], [data-level]")));
  }

  #choose(choice) {
    if (!choice) return;
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
    const sounds = this.#sounds();
    this.#list("sounds", "sound", sounds.length > 1 ? sounds : []);
    this.#list("levels", "level", this.#levels());
    this.subtitles.offer();
  }

  #sounds() {
    const { hls, video } = this.source;
    if (!hls) return [...(video.audioTracks ?? [])].map(nativeSound);
    const sounds = hls.audioTracks.length ? hls.audioTracks : distinct(hls.allAudioTracks);
    const chosen = hls.audioTracks.length ? sounds[hls.audioTrack] : this.#upcomingSound(sounds);
    return sounds.map((each, at) => ({ at, name: each.name, lang: each.lang, isChosen: each === chosen }));
  }

  // Before the film plays, hls.js hasn't chosen a sound yet.
  #upcomingSound(sounds) {
    return this.#findPreferred(sounds) ?? sounds.find((each) => each.default) ?? sounds[0];
  }

  #levels() {
    const { hls } = this.source;
    if (!hls || hls.levels.length < 2) return [];
    const { autoLevelEnabled, currentLevel, levels, loadLevel } = hls;
    const now = levels[currentLevel]?.height;
    const name = now ? fill(words.player.quality, { quality: `${now}p` }) : words.player.automatic;
    const choices = levels.map(({ height }, at) => ({
      at,
      name: `${height}p`,
      isChosen: !autoLevelEnabled && loadLevel === at,
    }));
    return [{ at: -1, name, isChosen: autoLevelEnabled }, ...choices.reverse()];
  }

  // Choose the sound that the user chose before the film played, or else for another film.
  #applyPreference() {
    const { hls } = this.source;
    if (!this.#preferredSound || !hls?.audioTracks.length) return;
    const match = this.#findPreferred(hls.audioTracks);
    this.#preferredSound = null;
    if (match) hls.audioTrack = hls.audioTracks.indexOf(match);
  }

  #findPreferred(sounds) {
    return this.#preferredSound && findLike(sounds, this.#preferredSound);
  }

  #list(id, data, choices) {
    const part = this.root.querySelector(`#${id}`);
    const items = choices.map(({ at, name, isChosen }) =>
      makeChoice({ [data]: at }, { textContent: name, ariaCurrent: isChosen ? "true" : null }),
    );
    // A hidden part can't keep or take the focus, so show it first.
    if (choices.length) part.hidden = false;
    refill(part.querySelector("ul"), items);
    part.hidden = !choices.length;
  }
}

const nativeSound = ({ label, language: lang, enabled }, at) => ({ at, name: label || lang, lang, isChosen: enabled });

// A film may list the same track once for each quality.
export function distinct(tracks) {
  const names = tracks.map(({ name, lang }) => `${lang} ${name}`);
  return tracks.filter((_each, at) => names.indexOf(names[at]) === at);
}
