// Subtitles inside the film and in files beside it. The player draws them itself: only then can users
// enlarge them, give them a dark background, and shift them in time.
import { makeElement } from "../elements.js";
import { fill, words } from "../words.js";
import { findLike, makeChoice, markCurrent, recall, refill, remember } from "./choices.js";
import { isElsewhere } from "./source.js";
import { distinct } from "./tracks.js";

const SIZES = [-2, 3];
const STEP_SECONDS = 0.5;
const ELSEWHERE_EVENTS = "webkitpresentationmodechanged webkitcurrentplaybacktargetiswirelesschanged";
const KINDS = ["subtitles", "captions"];

export class Subtitles {
  #cues = new Map(); // those that hls.js finds, by key
  #fetched = new Map(); // tracks of files beside the film, by key
  #chosenKey = "";
  #delay = 0;
  #drawnName = "";
  #latestKey = "";
  #isRecalled = false;

  constructor(root, video, source, on) {
    this.root = root;
    this.video = video;
    this.source = source;
    this.on = on;
    this.place = root.querySelector("#subtitles");
    this.beside = [...root.querySelectorAll("#source [data-words]")];
    this.look = recall("look", { size: 0, hasGround: false });
    on(source, "cues", ({ detail }) => this.#addCues(detail));
    on(source, "unburned", () => this.#choose(""));
    on(root, "click", ({ target }) => this.#press(target));
    on(video, "timeupdate seeked playing emptied", () => this.#draw());
    on(video, ELSEWHERE_EVENTS, () => this.#enforceChoice());
    on(video.textTracks, "change", () => this.#followBrowser());
    const timer = setInterval(() => !video.paused && this.#chosenKey && this.#draw(), 100);
    on.signal.addEventListener("abort", () => clearInterval(timer));
    this.#changeLook({});
    this.#shift(0);
    this.offer();
  }

  choices() {
    const { burned, hls } = this.source;
    const tracks = hls?.subtitleTracks.length ? hls.subtitleTracks : distinct(hls?.allSubtitleTracks ?? []);
    return [
      ...tracks.map(({ name, lang }, at) => ({ key: `hls-${at}`, name: name || lang, lang })),
      ...this.#nativeTracks().map(({ label, language }, at) => ({
        key: `native-${at}`,
        name: label || language,
        lang: language,
      })),
      ...this.beside.map(({ textContent: name, lang }, at) => ({ key: `beside-${at}`, name, lang })),
      ...burned.map(({ name, lang }, at) => ({ key: `burned-${at}`, name: fill(words.player.burned, { name }), lang })),
    ];
  }

  offer() {
    const list = this.root.querySelector("#words-choices");
    const off = list.firstElementChild;
    const choices = this.choices();
    const items = choices.map(({ key, name, lang }) => makeChoice({ words: key }, { textContent: name, lang }));
    refill(list, [off, ...items]);
    this.#recallChoice(choices);
    this.#enforceChoice();
    markCurrent(list, (data) => data.words === this.#chosenKey);
  }

  // Choose the language that the user chose for another film. To burn subtitles costs the server so much
  // that the user has to ask for each film.
  #recallChoice(choices) {
    if (this.#isRecalled || !choices.length) return;
    const preference = recall("words", null);
    const free = choices.filter(({ key }) => !key.startsWith("burned"));
    const match = preference && findLike(free, preference);
    this.#isRecalled = Boolean(match) || this.source.mode !== "";
    if (match) this.#choose(match.key);
  }

  #press(target) {
    const button = target.closest("#words-menu button");
    if (!button) return;
    if ("words" in button.dataset) {
      button.closest("[popover]").hidePopover();
      this.choose(button.dataset.words);
    }
    const actions = {
      smaller: () => this.#changeLook({ size: Math.max(this.look.size - 1, SIZES[0]) }),
      larger: () => this.#changeLook({ size: Math.min(this.look.size + 1, SIZES[1]) }),
      background: () => this.#changeLook({ hasGround: !this.look.hasGround }),
      sooner: () => this.#shift(-STEP_SECONDS),
      later: () => this.#shift(STEP_SECONDS),
    };
    actions[button.dataset.do]?.();
  }

  choose(key) {
    this.#isRecalled = true;
    const choice = this.choices().find((each) => each.key === key);
    remember("words", choice ? { name: choice.name, lang: choice.lang } : null);
    this.#choose(key);
    this.offer();
  }

  // Turn subtitles off, or turn on those that the user chose last, or else the first.
  toggle() {
    const [first] = this.choices();
    this.choose(this.#chosenKey ? "" : this.#latestKey || first?.key || "");
  }

  #choose(key) {
    this.#chosenKey = key;
    if (key) this.#latestKey = key;
    const [kind, number] = key.split("-");
    this.source.burn(kind === "burned" ? Number(number) : -1);
    if (kind === "beside" && !this.#fetched.has(key)) this.#fetch(key, this.beside[number].dataset.words);
    this.#enforceChoice();
    this.#draw();
  }

  // hls.js and browsers make their own choices whenever they start, so override them.
  #enforceChoice() {
    const [kind, number] = this.#chosenKey.split("-");
    const { hls } = this.source;
    const track = kind === "hls" ? Number(number) : -1;
    if (hls && hls.subtitleTrack !== track) hls.subtitleTrack = track;
    for (const [key, each] of this.#browserTracks()) {
      const mode = key !== this.#chosenKey ? "disabled" : isElsewhere(this.video) ? "showing" : "hidden";
      if (each.mode !== mode) each.mode = mode;
    }
  }

  // Where the browser shows the film, people choose in its own menu, which may turn off all tracks.
  #followBrowser() {
    if (!isElsewhere(this.video)) return this.#enforceChoice();
    const tracks = this.#browserTracks();
    const other = [...tracks.keys()].find((key) => key !== this.#chosenKey && tracks.get(key).mode === "showing");
    const isOff = tracks.get(this.#chosenKey)?.mode === "disabled";
    if (other || isOff) this.choose(other ?? "");
  }

  #browserTracks() {
    const tracks = new Map(this.#fetched);
    for (const [at, each] of this.#nativeTracks().entries()) tracks.set(`native-${at}`, each);
    return tracks;
  }

  // Without those of files beside the film, which are also among the film's.
  #nativeTracks() {
    const { mode, video } = this.source;
    const beside = [...this.#fetched.values()];
    const isNative = (each) => KINDS.includes(each.kind) && !beside.includes(each);
    return mode === "native" ? [...video.textTracks].filter(isNative) : [];
  }

  // Browsers parse WebVTT themselves, and never turn it into markup that could run.
  #fetch(key, url) {
    const track = makeElement("track", { kind: "subtitles", src: url });
    this.on(track, "load", () => this.#draw());
    this.video.append(track);
    this.#fetched.set(key, track.track);
  }

  #addCues({ cues, track }) {
    const { subtitleTracks } = this.source.hls;
    const at = track === "default" ? subtitleTracks.findIndex((each) => each.default) : track.replace("subtitles", "");
    const key = `hls-${at}`;
    const earlier = this.#cues.get(key) ?? [];
    const names = new Set(earlier.map(nameOf));
    this.#cues.set(key, [...earlier, ...cues.filter((cue) => !names.has(nameOf(cue)))]);
    this.#draw();
  }

  #draw() {
    const at = this.video.currentTime - this.#delay;
    const [kind, number] = this.#chosenKey.split("-");
    const track = kind === "native" ? this.#nativeTracks()[number] : this.#fetched.get(this.#chosenKey);
    const cues = track?.cues ?? this.#cues.get(this.#chosenKey) ?? [];
    const now = [...cues].filter(({ startTime, endTime }) => startTime <= at && at < endTime);
    const name = now.map(nameOf).join("\n");
    if (name === this.#drawnName) return;
    this.#drawnName = name;
    this.place.hidden = !now.length;
    this.place.replaceChildren(...now.flatMap((cue, index) => (index ? ["\n", line(cue)] : [line(cue)])));
  }

  #changeLook(change) {
    Object.assign(this.look, change);
    this.place.dataset.size = this.look.size;
    this.place.toggleAttribute("data-background", this.look.hasGround);
    this.root.querySelector("[data-do=background]").setAttribute("aria-pressed", this.look.hasGround);
    remember("look", this.look);
  }

  #shift(seconds) {
    this.#delay += seconds;
    this.root.querySelector("#delay").textContent = fill(words.time.seconds, { seconds: this.#delay });
    this.#draw();
  }
}

const nameOf = ({ startTime, endTime, text }) => `${startTime} ${endTime} ${text}`;
const line = (cue) => makeElement("span", {}, cue.getCueAsHTML?.() ?? cue.text);
