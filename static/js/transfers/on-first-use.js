// Choosing, menus, dragging, and keys come with the first sign of a person, or soon after the rows.
// Until then, hold what needs them, and repeat it once they are here. No drag can be repeated, so
// where there is a mouse, they come at once.
import { listenUntil } from "../events.js";
import { onDemand } from "../on-demand.js";
import { isForUs } from "../shortcuts.js";

const LATER_MS = 4000;
const SOON_MS = matchMedia("(pointer: fine)").matches ? 0 : LATER_MS;
const TICK = ".tick[name=entry]";
const KEYS = /^([jkmpx]|delete)$/i;

const controller = new AbortController();
const onUntil = listenUntil(controller.signal);
let loading = null;
let press = null;

function load() {
  loading ??= import("./hand.js").then(begin, pause);
  return loading;
}

function begin() {
  controller.abort();
  if (press) repeat(press);
  return true;
}

// A pointer that moves must not ask for a missing script again and again.
function pause(error) {
  setTimeout(() => (loading = null), LATER_MS);
  throw error;
}

// Nobody waits for this, so a failure says nothing.
function prefetch() {
  if (document.querySelector("#groups .transfer")) load().catch(() => {});
}

const prefetchSoon = () => setTimeout(prefetch, SOON_MS);

async function hold(event) {
  if (!needsHand(event)) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  if (await onDemand(load)) repeat(event);
}

function needsHand(event) {
  if (event.type === "click")
    return event.target.closest("a, button, .hit, .transfer")?.matches("#select, .more, .hit, .transfer");
  if (event.key === "a") return isForUs(event, { withCtrl: true }) && document.querySelector(TICK);
  return KEYS.test(event.key) && isForUs(event, { mayRepeat: true });
}

const repeat = (event) => event.target.dispatchEvent(new event.constructor(event.type, event));

// A finger that still rests on a row when the script comes selects it, too.
function follow(event) {
  press = event.type === "pointerdown" ? event : null;
}

// Nor may the browser select its text or open its own menu.
function keepMenuClosed(event) {
  if (press?.pointerType === "touch" && press.target.closest(".selectable")) event.preventDefault();
}

onUntil(document, "pointermove pointerdown keydown", prefetch, { capture: true });
onUntil(document, "pointerdown pointerup pointercancel", follow, { capture: true });
onUntil(document, "contextmenu", keepMenuClosed);
onUntil(document, "click keydown", hold, { capture: true });
onUntil(document, "transfers-shown", prefetchSoon);
onUntil(window, "load", prefetchSoon);
