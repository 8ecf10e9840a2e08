// Where the film comes from: HLS by hls.js or by the browser itself, else the file as it is where
// the browser plays that, else an MP4 that the service makes. After a failure of the network and
// after one of the media there is one new start each.
import { words } from "../words.js";

const NATIVE = "application/vnd.apple.mpegurl";
const POLL_MS = 2000;
const MOST_MISSES = 30;

// Events: "tracks", "converting" (detail: percent, null: unknown), "ready", "failed" (detail: why).
export class Source extends EventTarget {
  hls = null;
  sort = "";
  why = null; // the first reason counts, whatever else was tried
  ready = null;
  hasMp4 = true; // until the service refuses it
  #left = { network: 1, media: 1 };
  #wish = { at: 0, isPlaying: false };

  constructor(video, facts, signal) {
    super();
    this.video = video;
    this.facts = facts;
    this.signal = signal;
    this.library = import(facts.library).then((module) => module.default);
    this.first = ask(facts.hls, signal);
    video.addEventListener("error", () => this.#elementFailed(), { signal });
    signal.addEventListener("abort", () => this.#close());
  }

  // Lists what the film has before it plays: the master playlist is read, and nothing else.
  async prepare() {
    if (this.sort || !this.first) return;
    const [Hls, told] = await Promise.all([this.library.catch(() => null), this.first]);
    if (this.sort || this.hls || this.signal.aborted || told.kind !== "hls" || !Hls?.isSupported()) return;
    this.#load(Hls, told.url);
  }

  async open({ at = 0, isPlaying = true } = {}) {
    this.#wish = { at, isPlaying };
    const Hls = await this.library.catch(() => null);
    const told = await (this.first ?? ask(this.facts.hls, this.signal));
    this.first = null;
    if (this.signal.aborted) return;
    if (told.kind === "hls" && Hls?.isSupported()) return this.#playHls(Hls, told.url);
    if (told.kind === "hls" && this.video.canPlayType(NATIVE)) return this.#play("native", told.url);
    if (told.kind === "converting") return this.#await(told, this.facts.hls);
    if (told.kind === "original" || told.kind === "mp4") return this.#play(told.kind, told.url);
    this.#fallBack(told.reason, { isForced: told.kind === "hls" });
  }

  // Made at once where it can be copied, else while somebody waits.
  async openMp4({ at = this.#wish.at, isPlaying = true } = {}) {
    this.#wish = { at, isPlaying };
    const told = await ask(this.facts.mp4, this.signal);
    if (told.kind === "converting") return this.#await(told, this.facts.mp4);
    if (told.url) return this.#play("mp4", told.url);
    this.hasMp4 = told.kind === "away";
    this.#fail(told.reason);
  }

  #playHls(Hls, url) {
    if (!this.hls || this.sort) this.#load(Hls, url);
    this.sort = "hls";
    const startPosition = this.#wish.at || -1;
    Object.assign(this.hls.config, { autoStartLoad: true, startPosition });
    this.hls.attachMedia(this.video);
    if (this.hls.levels.length) this.hls.startLoad(startPosition);
    this.#start();
  }

  #load(Hls, url) {
    this.#close();
    const hls = new Hls({
      enableWorker: false, // A worker starts for longer than it takes to read what it would read.
      autoStartLoad: false,
      renderTextTracksNatively: false,
      abrEwmaDefaultEstimate: 30_000_000,
      backBufferLength: 60,
    });
    this.hls = hls;
    for (const name of [
      "MANIFEST_PARSED",
      "AUDIO_TRACKS_UPDATED",
      "SUBTITLE_TRACKS_UPDATED",
      "LEVEL_SWITCHED",
      "AUDIO_TRACK_SWITCHED",
    ]) {
      hls.on(Hls.Events[name], () => this.dispatchEvent(new Event("tracks")));
    }
    hls.on(Hls.Events.CUES_PARSED, (_event, data) => this.dispatchEvent(new CustomEvent("cues", { detail: data })));
    hls.on(Hls.Events.ERROR, (_event, data) => data.fatal && this.#hlsFailed(Hls, data));
    hls.loadSource(url);
  }

  #play(sort, url) {
    this.#close();
    this.sort = sort;
    const { at } = this.#wish;
    this.video.src = url;
    if (at) this.video.addEventListener("loadedmetadata", () => (this.video.currentTime = at), { once: true });
    this.#start();
    this.dispatchEvent(new Event("tracks"));
  }

  // A browser that was not touched yet may refuse to play by itself; then the button does.
  #start() {
    if (this.#wish.isPlaying) this.video.play().catch(() => {});
  }

  #hlsFailed(Hls, data) {
    if (!this.sort) return this.#close();
    const at = this.video.currentTime || this.#wish.at;
    if (data.type === Hls.ErrorTypes.MEDIA_ERROR && this.#left.media-- > 0) return this.hls.recoverMediaError();
    // Asked anew: the link may have expired, or the film may be gone, which the answer tells.
    const wish = { at, isPlaying: !this.video.paused };
    if (data.type === Hls.ErrorTypes.NETWORK_ERROR && this.#left.network-- > 0) return this.open(wish);
    this.#wish = wish;
    this.#fallBack(words.player.broken);
  }

  #elementFailed() {
    if (!this.sort || this.sort === "hls" || !this.video.error) return;
    const at = this.video.currentTime || this.#wish.at;
    const isNetwork = this.video.error.code === MediaError.MEDIA_ERR_NETWORK;
    this.#wish = { ...this.#wish, at };
    if (isNetwork && this.#left.network-- > 0) return this.#play(this.sort, this.video.currentSrc);
    this.#fallBack(words.player.broken);
  }

  #fallBack(why, { isForced = false } = {}) {
    const isTried = this.sort === "original" || this.sort === "mp4";
    this.why ??= why;
    if (!isTried && this.facts.type && this.video.canPlayType(this.facts.type))
      return this.#play("original", this.facts.original);
    if (isForced && this.sort !== "mp4") return this.openMp4(this.#wish);
    this.#fail(this.why);
  }

  #fail(why) {
    this.why = null;
    this.#close();
    this.dispatchEvent(new CustomEvent("failed", { detail: why || words.player.unreachable }));
  }

  // It takes minutes or hours, in which a poll or two may go astray.
  async #await(told, url) {
    let misses = 0;
    while (told.kind === "converting" && !this.signal.aborted) {
      this.dispatchEvent(new CustomEvent("converting", { detail: told.progress }));
      await passed(POLL_MS, this.signal);
      if (document.visibilityState !== "visible") continue;
      const fresh = await ask(url, this.signal);
      misses = fresh.kind === "away" ? misses + 1 : 0;
      if (!misses || misses > MOST_MISSES) told = fresh;
    }
    if (this.signal.aborted) return;
    if (!told.url) return this.#fail(told.reason);
    this.ready = { url: told.url, kind: told.kind };
    this.dispatchEvent(new Event("ready"));
  }

  async playReady() {
    const { url, kind } = this.ready;
    const Hls = await this.library.catch(() => null);
    this.#wish = { ...this.#wish, isPlaying: true };
    if (kind === "hls" && Hls?.isSupported()) return this.#playHls(Hls, url);
    this.#play(kind === "hls" ? "native" : kind, url);
  }

  #close() {
    this.hls?.destroy();
    this.hls = null;
    this.sort = "";
    this.video.removeAttribute("src");
  }
}

async function ask(url, signal) {
  try {
    const answer = await fetch(url, { headers: { Accept: "application/json" }, signal });
    if (answer.redirected) location.reload(); // To the sign-in, which leads back here.
    return await answer.json();
  } catch {
    return { kind: "away", url: "", progress: null, reason: "" };
  }
}

function passed(ms, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener("abort", resolve, { once: true });
  });
}
