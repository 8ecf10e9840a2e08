// Choosing, menus, dragging, and keys come with the first sign of a person, or soon after the rows.
// Until then, hold what needs them, and repeat it once they are here.
import { listenUntil } from "../events.js";
import { onDemand } from "../on-demand.js";
import { isForUs } from "../shortcuts.js";

const SOON_MS = 4000;
const KEYS = /^([jkmpx]|delete)$/i;

const controller = new AbortController();
const onUntil = listenUntil(controller.signal);
let loading = null;
let press = null;

function load() {
  loading ??= import("./hand.js").then(() => {
    controller.abort();
    if (press) repeat(press);
    return true;
  });
  return loading;
}

// Nobody waits for this, so a failure says nothing.
function prefetch() {
  if (document.querySelector("#groups .transfer")) load().catch(() => (loading = null));
}

const prefetchSoon = () => setTimeout(prefetch, SOON_MS);

async function hold(event) {
  if (!needsHand(event)) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  if (await onDemand(load)) repeat(event);
  else loading = null;
}

function needsHand(event) {
  if (event.type === "click")
    return event.target.closest("a, button, .hit, .transfer")?.matches("#select, .more, .hit, .transfer");
  if (event.key === "a") return isForUs(event, { withCtrl: true });
  return KEYS.test(event.key) && isForUs(event, { mayRepeat: true });
}

const repeat = (event) => event.target.dispatchEvent(new event.constructor(event.type, event));

// A finger that still rests on a row when the script comes selects it, too.
function follow(event) {
  press = event.type === "pointerdown" ? event : null;
}

onUntil(document, "pointermove pointerdown keydown", prefetch, { capture: true });
onUntil(document, "pointerdown pointerup pointercancel", follow, { capture: true });
onUntil(document, "click keydown", hold, { capture: true });
onUntil(document, "transfers-shown", prefetchSoon);
onUntil(window, "load", prefetchSoon);
