// Begin a selection with a finger that rests on a row. Pages load this only where there are fingers.
import { on } from "../events.js";
import { Hold } from "./hold.js";
import { rowOf } from "./rows.js";
import { startSelecting, tickOf } from "./selection.js";

const SURFACE = ".entry, .transfer";
const isOnSurface = (target) => !target.closest(".hit") && target.closest(SURFACE);

const hold = new Hold();

document.addEventListener("pointerdown", (event) => {
  const row = rowOf(event.target);
  hold.end();
  hold.isDone = false;
  if (row && tickOf(row) && event.pointerType === "touch" && isOnSurface(event.target)) {
    hold.start(event, () => {
      navigator.vibrate?.(10);
      startSelecting(row);
    });
  }
});

document.addEventListener("pointermove", (event) => hold.move(event));
on(document, "pointerup pointercancel scroll", () => hold.end());
document.addEventListener("contextmenu", (event) => hold.isActive && event.preventDefault());

// The click that ends it comes to the window first, so that it doesn't choose the row again.
window.addEventListener("click", endHold, { capture: true });

function endHold(event) {
  if (!hold.isDone) return;
  event.preventDefault();
  event.stopPropagation();
  hold.isDone = false;
}
