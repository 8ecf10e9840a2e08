// A button that another page could have put under somebody's finger: it works only after this
// page was seen, with the focus, for half a second on end.
const WAIT_MS = 500;
let isArmed = false;
let waiting = 0;
let told = () => {};

export const armed = () => isArmed;

export function whenArmed(act) {
  told = act;
  restart();
}

export function restart() {
  isArmed = false;
  clearTimeout(waiting);
  if (document.visibilityState === "visible" && document.hasFocus()) waiting = setTimeout(arm, WAIT_MS);
}

function arm() {
  isArmed = true;
  told();
}

document.addEventListener("visibilitychange", restart);
for (const name of ["focus", "blur", "resize"]) window.addEventListener(name, restart);
