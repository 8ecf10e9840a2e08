// What the lock screen and the keys of a keyboard's upper row show and do.
const session = navigator.mediaSession;
let shown = null;

export function present({ track, sound, canStep, play, seek, jump, step, stop }) {
  if (!session) return;
  session.playbackState = track ? (sound.paused ? "paused" : "playing") : "none";
  const acts = track && {
    play,
    pause: () => sound.pause(),
    stop,
    seekbackward: ({ seekOffset }) => jump(-(seekOffset ?? 10)),
    seekforward: ({ seekOffset }) => jump(seekOffset ?? 10),
    seekto: ({ seekTime }) => seek(seekTime),
    previoustrack: () => step(-1),
    nexttrack: canStep(1) ? () => step(1) : null,
  };
  const words = track && wordsOf(track);
  const key = track && JSON.stringify([track.url, words, canStep(1)]);
  if (key !== shown) {
    shown = key;
    for (const name of ["play", "pause", "stop", "seekbackward", "seekforward", "seekto", "previoustrack", "nexttrack"])
      set(name, acts?.[name] ?? null);
    session.metadata =
      track &&
      new MediaMetadata({ ...words, artwork: track.cover ? [{ src: new URL(track.cover, location.href).href }] : [] });
  }
  const { duration, currentTime, playbackRate } = sound;
  if (track && Number.isFinite(duration) && duration > 0)
    session.setPositionState?.({ duration, playbackRate, position: Math.min(currentTime, duration) });
}

export function wordsOf({ name, folder, tags }) {
  return { title: tags?.title || name, artist: tags?.artist || "", album: tags?.album || folder || "" };
}

// Browsers refuse the acts that they don't know.
function set(name, act) {
  try {
    session.setActionHandler(name, act);
  } catch {
    return;
  }
}
