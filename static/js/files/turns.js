// Run up to three uploads at once, in the order in which they were added.
const AT_ONCE = 3;

const isRunning = ({ state }) => state === "uploading" || state === "moving";
const isWaiting = ({ state }) => state === "queued";

export const isAlive = (upload) => isWaiting(upload) || isRunning(upload);

export function nextOf(uploads) {
  const running = uploads.filter(isRunning).length;
  return uploads.filter(isWaiting).slice(0, Math.max(AT_ONCE - running, 0));
}
