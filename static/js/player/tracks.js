// The menus for sound and quality.
import { fill, words } from "../words.js";
import { findLike, makeChoice, recall, refill, remember } from "./choices.js";
import { isElsewhere } from "./source.js";

export class Tracks {
  #preferredSound = { name: "", lang: recall("sound", "") };

  constructor(root, source, subtitles, on) {
    this.root = root;
    this.source = source;
    this.subtitles = subtitles;
    on(source, "tracks", () => this.#show());
    if (source.video.audioTracks) on(source.video.audioTracks, "change", () => this.#followBrowser());
    for (const menu of root.querySelectorAll("#words-menu, #more-menu"))
      on(menu, "beforetoggle", ({ newState }) => newState === "open" && source.prepare());
    on(root, "click", ({ target }) => this.#choose(target.closest("[data-sound], [data-level]")));
  }

  #choose(choice) {
    if (!choice) return;
    const { hls } = this.source;
    const { sound, level } = choice.dataset;
    choice.closest("[popover]").hidePopover();
    if (sound) {
      this.#prefer(this.#sounds()[Number(sound)]);
      this.#play(Number(sound));
    } else {
      hls.nextLevel = Number(level);
    }
    this.#show();
  }

  // Where the browser shows the film, people choose in its own menu.
  #followBrowser() {
    const chosen = this.#sounds().find(({ isChosen }) => isChosen);
    if (chosen && isElsewhere(this.source.video)) this.#prefer(chosen);
    this.#show();
  }

  #prefer({ name, lang }) {
    remember("sound", lang);
    this.#preferredSound = { name, lang };
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

  // Choose the sound that the user chose for this film, or else for another one.
  #applyPreference() {
    const { hls, video } = this.source;
    const sounds = hls?.audioTracks ?? [...(video.audioTracks ?? [])].map(nativeSound);
    const now = hls?.audioTrack ?? sounds.findIndex(({ isChosen }) => isChosen);
    const match = this.#findPreferred([...sounds.slice(now, now + 1), ...sounds]);
    if (match && match !== sounds[now]) this.#play(sounds.indexOf(match));
  }

  #play(at) {
    const { hls, video } = this.source;
    if (!hls) for (const [order, each] of [...video.audioTracks].entries()) each.enabled = order === at;
    else if (hls.audioTracks.length) hls.audioTrack = at;
  }

  #findPreferred(sounds) {
    const { name, lang } = this.#preferredSound;
    return name || lang ? findLike(sounds, { name, lang }) : undefined;
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
