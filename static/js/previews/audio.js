// The page of a track. The music belongs to the document, so it continues when this page closes.
import { setButton, setIcon, setText, showPlaying } from "../elements.js";
import { isPlain } from "../events.js";
import { unplayableWords } from "../music/bar.js";
import * as music from "../music/music.js";
import { isForUs } from "../shortcuts.js";
import { formatClock } from "../times.js";
import { fill, words } from "../words.js";
import { turnTo } from "./viewer.js";

const { changes, sound, wordsOf } = music;

let player, ownUrl, ownTrack, slider, isScrubbing, followedUrl;

export function mount(viewer, on, { isPlaying, isFollowing }) {
  player = viewer.querySelector(".audio");
  ownUrl = viewer.dataset.url;
  ownTrack = { url: ownUrl, ...player.dataset };
  slider = player.querySelector(".scrub input");
  isScrubbing = false;
  player.querySelector("audio").remove();
  player.querySelector(".controls").hidden = false;
  listen(on);
  // Other music continues to play, unless this track is to play at once.
  if (!isFollowing && !isOwn() && (isPlaying || !music.isPlaying())) music.begin(ownTrack, ownTrack.queue);
  if (!isFollowing && isPlaying) music.play();
  followedUrl = isFollowing || isOwn() ? ownUrl : "";
  follow();
}

function listen(on) {
  on(changes, "change", follow);
  on(slider, "input change", ({ type }) => {
    isScrubbing = type === "input";
    if (isScrubbing) show();
    else music.seek(Number(slider.value));
  });
  on(player.querySelector(".volume input"), "input", ({ target }) => music.setVolume(Number(target.value)));
  on(player, "click", press);
  on(document, "keydown", pressKey);
}

function press(event) {
  const button = event.target.closest("[data-do]");
  if (button?.getAttribute("aria-disabled") === "true") return;
  const action = ACTIONS[button?.dataset.do];
  const link = event.target.closest(".queue a");
  if (action) return isOwn() ? action() : playTrack(ownUrl);
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  playTrack(link.getAttribute("href"));
}

const isOwn = () => music.current()?.url === ownUrl;

function playTrack(url) {
  if (url !== ownUrl) return turnTo(url, { isPlaying: true });
  music.begin(ownTrack, ownTrack.queue);
  music.play();
}

const ACTIONS = {
  play: music.toggle,
  back: () => music.jump(-music.JUMP_SECONDS),
  forward: () => music.jump(music.JUMP_SECONDS),
  previous: () => music.step(-1),
  next: () => music.step(1),
  speed: music.turnSpeed,
  shuffle: music.toggleShuffle,
  repeat: music.turnRepeat,
  mute: music.toggleMute,
};

const KEYS = { " ": "play", k: "play", j: "back", l: "forward", m: "mute", s: "shuffle", r: "repeat" };

function pressKey(event) {
  const isSpace = event.key === " ";
  const isPressed = isSpace && event.target.closest?.("button");
  if (isPressed || event.shiftKey || !isForUs(event, { inside: "#overlay" }) || !KEYS[event.key]) return;
  event.preventDefault();
  const link = isSpace && event.target.closest?.(".queue a:not([aria-current])");
  if (link) playTrack(link.getAttribute("href"));
  else if (isOwn()) ACTIONS[KEYS[event.key]]();
  else playTrack(ownUrl);
}

// Follow the music to the page of the next track, even if that track ends before its page is ready.
function follow() {
  const now = music.current()?.url;
  if (isOwn()) followedUrl = ownUrl;
  else if (followedUrl && now && now !== followedUrl) {
    followedUrl = now;
    turnTo(now, { isFollowing: true });
  }
  show();
}

function show() {
  const find = (selector) => player.querySelector(selector);
  const track = isOwn() ? music.current() : null;
  const { speed, volume, isMuted, isShuffled, repeat } = music.chosen();
  const length = track && Number.isFinite(sound.duration) ? sound.duration : 0;
  const at = isScrubbing ? Number(slider.value) : track ? sound.currentTime : 0;
  find(".trouble").hidden = !(track && sound.error);
  setText(find(".skipped"), unplayableWords(ownUrl));
  if (track?.tags) showTags(track);
  slider.max = Math.floor(length);
  if (!isScrubbing) slider.value = Math.floor(at);
  const texts = { at: formatClock(at), length: formatClock(length) };
  slider.setAttribute("aria-valuetext", fill(words.previews.position, texts));
  find(".played").value = length ? at / length : 0;
  find(".ready").value = length && sound.buffered.length ? sound.buffered.end(sound.buffered.length - 1) / length : 0;
  find(".at").textContent = texts.at;
  find(".length").textContent = texts.length;
  find(".rate").textContent = `${speed}×`;
  find("[data-do=shuffle]").setAttribute("aria-pressed", isShuffled);
  find("[data-do=repeat]").setAttribute("aria-pressed", repeat !== "off");
  setButton(find("[data-do=repeat]"), repeat === "one" ? "repeat-1" : "repeat", words.previews[repeat]);
  find("[data-do=previous]").setAttribute("aria-disabled", !track);
  find("[data-do=next]").setAttribute("aria-disabled", !track || !music.canStep(1));
  const mute = find("[data-do=mute]");
  mute.setAttribute("aria-pressed", isMuted);
  setIcon(mute, isMuted ? "volume-x" : "volume-2");
  find(".volume input").value = isMuted ? 0 : volume;
  showPlaying(find("[data-do=play]"), Boolean(track) && music.isPlaying());
  const time = player.querySelector(".queue [aria-current] time");
  if (time && length && !time.textContent) time.textContent = formatClock(length);
}

function showTags(track) {
  const { title, artist, album } = wordsOf(track);
  const by = player.querySelector(".by");
  const credits = track.tags.artist || track.tags.album ? [artist, album].filter(Boolean).join(" · ") : "";
  setText(player.querySelector("h2"), title);
  by.hidden = !credits;
  setText(by, credits);
}
