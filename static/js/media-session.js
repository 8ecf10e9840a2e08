// What the lock screen shows, and what its buttons and a keyboard's media keys do.
const session = navigator.mediaSession;
let actNames = [];

// These actions replace all others. Browsers throw on those that they don't support.
export function setActs(actions) {
  const ended = Object.fromEntries(actNames.map((name) => [name, null]));
  actNames = Object.keys(actions);
  for (const [name, handler] of Object.entries({ ...ended, ...actions })) {
    try {
      session?.setActionHandler(/** @type {MediaSessionAction} */ (name), handler);
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
