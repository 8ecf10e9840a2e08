// Protect a button from clickjacking: another page may have placed it under the user's finger, so it
// works only after this page was visible and had the focus for half a second without a break.
const WAIT_MS = 500;
let hasWaited = false;
let timer = 0;
let onArmed = () => {};

export const isArmed = () => hasWaited;

export function whenArmed(callback) {
  onArmed = callback;
  restart();
}

export function restart() {
  hasWaited = false;
  clearTimeout(timer);
  if (document.visibilityState === "visible" && document.hasFocus()) timer = setTimeout(arm, WAIT_MS);
}

function arm() {
  hasWaited = true;
  onArmed();
}

document.addEventListener("visibilitychange", restart);
for (const name of ["focus", "blur", "resize"]) window.addEventListener(name, restart);
