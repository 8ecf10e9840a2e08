// What the lock screen and the keys of a keyboard's upper row show and do.
export function present(root, video, controls, { artwork }, signal) {
  const { mediaSession } = navigator;
  if (!mediaSession) return;
  const title = video.getAttribute("aria-label");
  const pictures = artwork ? [{ src: new URL(artwork, location.href).href }] : [];
  mediaSession.metadata = new MediaMetadata({ title, artwork: pictures });
  const acts = {
    play: () => video.play(),
    pause: () => video.pause(),
    seekbackward: ({ seekOffset }) => controls.step(-(seekOffset ?? 10)),
    seekforward: ({ seekOffset }) => controls.step(seekOffset ?? 10),
    seekto: ({ seekTime }) => controls.seek(seekTime),
    previoustrack: link(root, "#previous"),
    nexttrack: link(root, "#next"),
  };
  for (const [name, act] of Object.entries(acts)) set(mediaSession, name, act);
  for (const name of ["durationchange", "seeked", "ratechange", "play"]) {
    video.addEventListener(name, () => tell(mediaSession, video), { signal });
  }
  signal.addEventListener("abort", () => {
    for (const name of Object.keys(acts)) set(mediaSession, name, null);
  });
}

function link(root, selector) {
  const found = root.querySelector(selector);
  return found && (() => found.click());
}

// Browsers refuse the acts that they don't know.
function set(mediaSession, name, act) {
  try {
    mediaSession.setActionHandler(name, act);
  } catch {
    return;
  }
}

function tell(mediaSession, { duration, currentTime, playbackRate }) {
  if (!Number.isFinite(duration) || duration <= 0) return;
  mediaSession.setPositionState?.({ duration, playbackRate, position: Math.min(currentTime, duration) });
}
