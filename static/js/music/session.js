import { seekingActs, setActs, setMetadata, setPosition } from "../media-session.js";

let shownKey = null;

export function present({ track, sound, canStep, play, seek, jump, step, stop }) {
  if (!navigator.mediaSession) return;
  navigator.mediaSession.playbackState = track ? (sound.paused ? "paused" : "playing") : "none";
  const words = track && wordsOf(track);
  const key = track && JSON.stringify([track.url, words, canStep(1)]);
  if (key !== shownKey) {
    shownKey = key;
    const actions = track && {
      play,
      pause: () => sound.pause(),
      stop,
      ...seekingActs({ jump, seek }),
      previoustrack: () => step(-1),
      nexttrack: canStep(1) ? () => step(1) : null,
    };
    setActs(actions ?? {});
    setMetadata(words, track?.cover);
  }
  if (track) setPosition(sound);
}

export function wordsOf({ name, folder, tags }) {
  return { title: tags?.title || name, artist: tags?.artist || "", album: tags?.album || folder || "" };
}
