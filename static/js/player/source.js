// The source of the film: HLS played by the browser itself or by hls.js, or else the original file if
// the browser can play it, or else an MP4 that the service creates. It retries once after a network
// error, and once after a media error.
import { words } from "../words.js";

const NATIVE = "application/vnd.apple.mpegurl";
const TRACK_EVENTS = "MANIFEST_PARSED AUDIO_TRACKS_UPDATED SUBTITLE_TRACKS_UPDATED LEVEL_SWITCHED AUDIO_TRACK_SWITCHED";
const POLL_MS = 2000;
const MAX_MISSES = 30;

// Apple's browsers send a film to another screen by AirPlay only if they play it themselves. Others
// may say that they could, as Chromium does, and then fail.
const playsNatively = (video) => "WebKitPlaybackTargetAvailabilityEvent" in globalThis && video.canPlayType(NATIVE);

// Whether the browser shows the film where the player can't draw over it: on a screen that it sends the film
// to, in an iPhone's full screen, or in Safari's picture in picture.
export const isElsewhere = ({
  webkitPresentationMode: mode = "inline",
  webkitCurrentPlaybackTargetIsWireless: isSent,
}) => isSent || mode !== "inline";

// Events: "tracks", "converting" (detail: percent, null: unknown), "ready", "failed" (detail: reason),
// "unburned" (the film plays on without the subtitles in its pictures).
export class Source extends EventTarget {
  hls = null;
  mode = "";
  reason = null; // why the first attempt failed, even if fallbacks fail for other reasons
  ready = null;
  hasMp4 = true; // until the service refuses it
  burned = []; // subtitles that the service can draw into the pictures
  #burnedAt = -1;
  #loadedUrl = "";
  #retries = { network: 1, media: 1 };
  #startOptions = { at: 0, isPlaying: false };

  constructor(video, facts, on) {
    super();
    this.video = video;
    this.facts = facts;
    this.signal = on.signal;
    this.library = playsNatively(video)
      ? Promise.resolve(null)
      : import(facts.library).then((module) => module.default);
    this.first = this.#request();
    on(video, "error", () => this.#handleElementError());
    for (const list of [video.textTracks, video.audioTracks])
      if (list) on(list, "addtrack removetrack", () => this.mode === "native" && this.#tellTracks());
    this.signal.addEventListener("abort", () => this.#close());
  }

  // List the film's tracks before it plays. This reads the master playlist, and nothing else.
  async prepare() {
    if (this.mode || !this.first) return;
    const [Hls, answer] = await Promise.all([this.library.catch(() => null), this.first]);
    if (this.mode || this.hls || this.signal.aborted || answer.kind !== "hls" || !Hls?.isSupported()) return;
    this.#load(Hls, this.#urlOf(answer));
  }

  async open({ at = 0, isPlaying = true } = {}) {
    this.#startOptions = { at, isPlaying };
    const Hls = await this.library.catch(() => null);
    const answer = await (this.first ?? this.#request());
    this.first = null;
    if (this.signal.aborted) return;
    if (answer.kind === "hls" && Hls?.isSupported()) return this.#playHls(Hls, this.#urlOf(answer));
    if (answer.kind === "hls" && this.video.canPlayType(NATIVE)) return this.#play("native", this.#urlOf(answer));
    if (answer.kind === "converting") return this.#await(answer, this.facts.hls);
    if (answer.kind === "original" || answer.kind === "mp4") return this.#play(answer.kind, answer.url);
    this.#fallBack(answer.reason, { isForced: answer.kind === "hls" });
  }

  // Play on with these subtitles in the pictures, or with none of them (-1).
  burn(at) {
    if (at === this.#burnedAt) return;
    this.#burnedAt = at;
    const { currentTime, paused } = this.video;
    if (this.mode) this.open({ at: currentTime || this.#startOptions.at, isPlaying: !paused });
  }

  #urlOf(answer) {
    return answer.burned?.[this.#burnedAt]?.url ?? answer.url;
  }

  async #request() {
    const answer = await requestSource(this.facts.hls, this.signal);
    this.burned = answer.burned ?? [];
    this.#tellTracks();
    return answer;
  }

  #tellTracks() {
    this.dispatchEvent(new Event("tracks"));
  }

  // The service creates an MP4 at once if it can copy the streams, or else while the user waits.
  async openMp4({ at = this.#startOptions.at, isPlaying = true } = {}) {
    this.#startOptions = { at, isPlaying };
    const answer = await requestSource(this.facts.mp4, this.signal);
    if (answer.kind === "converting") return this.#await(answer, this.facts.mp4);
    if (answer.url) return this.#play("mp4", answer.url);
    this.hasMp4 = answer.kind === "away";
    this.#fail(answer.reason);
  }

  #playHls(Hls, url) {
    if (this.mode || this.#loadedUrl !== url) this.#load(Hls, url);
    this.mode = "hls";
    const startPosition = this.#startOptions.at || -1;
    Object.assign(this.hls.config, { autoStartLoad: true, startPosition });
    this.hls.attachMedia(this.video);
    if (this.hls.levels.length) this.hls.startLoad(startPosition);
    this.#start();
  }

  #load(Hls, url) {
    this.#close();
    const hls = new Hls({
      enableWorker: false, // Starting a worker takes longer than the parsing that it would take over.
      autoStartLoad: false,
      renderTextTracksNatively: false,
      abrEwmaDefaultEstimate: 30_000_000,
      backBufferLength: 60,
    });
    this.hls = hls;
    this.#loadedUrl = url;
    for (const name of TRACK_EVENTS.split(" ")) hls.on(Hls.Events[name], () => this.#tellTracks());
    hls.on(Hls.Events.CUES_PARSED, (_event, data) => this.dispatchEvent(new CustomEvent("cues", { detail: data })));
    hls.on(Hls.Events.ERROR, (_event, data) => data.fatal && this.#handleHlsError(Hls, data));
    hls.loadSource(url);
  }

  #play(mode, url) {
    this.#close();
    this.mode = mode;
    const { at } = this.#startOptions;
    this.video.src = url;
    if (at) this.video.addEventListener("loadedmetadata", () => (this.video.currentTime = at), { once: true });
    this.#start();
    this.#tellTracks();
  }

  // Browsers may refuse to autoplay before the user interacts with the page. The play button still works.
  #start() {
    if (this.#startOptions.isPlaying) this.video.play().catch(() => {});
  }

  #handleHlsError(Hls, data) {
    if (!this.mode) return this.#close();
    const at = this.video.currentTime || this.#startOptions.at;
    if (data.type === Hls.ErrorTypes.MEDIA_ERROR && this.#retries.media-- > 0) return this.hls.recoverMediaError();
    // Request the source again: the link may have expired, or the film may be gone.
    const options = { at, isPlaying: !this.video.paused };
    if (data.type === Hls.ErrorTypes.NETWORK_ERROR && this.#retries.network-- > 0) return this.open(options);
    this.#startOptions = options;
    this.#giveUp();
  }

  #handleElementError() {
    if (!this.mode || this.mode === "hls" || !this.video.error) return;
    const at = this.video.currentTime || this.#startOptions.at;
    const isNetwork = this.video.error.code === MediaError.MEDIA_ERR_NETWORK;
    this.#startOptions = { ...this.#startOptions, at };
    // Its link may have expired, which a browser that plays HLS itself reports as any kind of error.
    if (this.mode === "native" && this.#retries.network-- > 0) return this.open(this.#startOptions);
    if (isNetwork && this.#retries.network-- > 0) return this.#play(this.mode, this.video.currentSrc);
    this.#giveUp();
  }

  // Without subtitles in its pictures, the same stream may still play.
  #giveUp() {
    if (this.#burnedAt < 0) return this.#fallBack(words.player.broken);
    this.#burnedAt = -1;
    this.dispatchEvent(new Event("unburned"));
    return this.open(this.#startOptions);
  }

  #fallBack(reason, { isForced = false } = {}) {
    const isTried = this.mode === "original" || this.mode === "mp4";
    this.reason ??= reason;
    if (!isTried && this.facts.type && this.video.canPlayType(this.facts.type))
      return this.#play("original", this.facts.original);
    if (isForced && this.mode !== "mp4") return this.openMp4(this.#startOptions);
    this.#fail(this.reason);
  }

  #fail(reason) {
    this.reason = null;
    this.#close();
    this.dispatchEvent(new CustomEvent("failed", { detail: reason || words.player.unreachable }));
  }

  // A conversion takes minutes or hours, so tolerate polls that fail.
  async #await(answer, url) {
    let misses = 0;
    while (answer.kind === "converting" && !this.signal.aborted) {
      this.dispatchEvent(new CustomEvent("converting", { detail: answer.progress }));
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (document.visibilityState !== "visible") continue;
      const fresh = await requestSource(url, this.signal);
      misses = fresh.kind === "away" ? misses + 1 : 0;
      if (!misses || misses > MAX_MISSES) answer = fresh;
    }
    if (this.signal.aborted) return;
    if (!answer.url) return this.#fail(answer.reason);
    this.ready = { url: answer.url, kind: answer.kind };
    this.dispatchEvent(new Event("ready"));
  }

  async playReady() {
    const { url, kind } = this.ready;
    const Hls = await this.library.catch(() => null);
    this.#startOptions = { ...this.#startOptions, isPlaying: true };
    if (kind === "hls" && Hls?.isSupported()) return this.#playHls(Hls, url);
    this.#play(kind === "hls" ? "native" : kind, url);
  }

  #close() {
    this.hls?.destroy();
    this.hls = null;
    this.#loadedUrl = "";
    this.mode = "";
    this.video.removeAttribute("src");
  }
}

async function requestSource(url, signal) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" }, signal });
    if (response.redirected) location.reload(); // Opens the sign-in page, which leads back here.
    return await response.json();
  } catch {
    return { kind: "away", url: "", progress: null, reason: "" };
  }
}
