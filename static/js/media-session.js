// What the lock screen and the keys of a keyboard's upper row show and do.
const session = navigator.mediaSession;

// Browsers refuse the acts that they don't know.
export function setActs(acts) {
  for (const [name, act] of Object.entries(acts)) {
    try {
      session?.setActionHandler(/** @type {MediaSessionAction} */ (name), act);
    } catch {}
  }
}

export function setMetadata(facts, picture) {
  const artwork = picture ? [{ src: new URL(picture, location.href).href }] : [];
  if (session) session.metadata = facts && new MediaMetadata({ ...facts, artwork });
}

export function setPosition({ duration, currentTime, playbackRate }) {
  if (!Number.isFinite(duration) || duration <= 0) return;
  session?.setPositionState?.({ duration, playbackRate, position: Math.min(currentTime, duration) });
}

export const seekingActs = ({ jump, seek }) => ({
  seekbackward: ({ seekOffset }) => jump(-(seekOffset ?? 10)),
  seekforward: ({ seekOffset }) => jump(seekOffset ?? 10),
  seekto: ({ seekTime }) => seek(seekTime),
});
