// The next picture every few seconds, until someone stops it, acts otherwise, or reaches the end.
import { isForUs } from "../shortcuts.js";
import { turnTo } from "./viewer.js";

const PACE_MS = 5000;

export function mount(viewer, signal, isRunning) {
  const button = viewer.querySelector("[data-do=slideshow]");
  const next = viewer.querySelector("[data-step=next]");
  if (!button) return;
  button.disabled = !next;
  if (!next) return;
  let timer = 0;
  const run = (isOn) => {
    clearTimeout(timer);
    button.ariaPressed = String(isOn);
    if (isOn) whenShown(viewer, signal, wait);
  };
  const wait = () => {
    clearTimeout(timer);
    if (button.ariaPressed !== "true") return;
    timer = setTimeout(() => (isBusy() ? wait() : turnTo(next.href, { isSlideshow: true })), PACE_MS);
  };
  const toggle = () => run(button.ariaPressed !== "true");
  button.addEventListener("click", toggle, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "s" && isForUs(event, { inside: "#overlay" })) toggle();
    },
    { signal },
  );
  if (isRunning) run(true);
}

// Someone looks closer, or reads something else.
const isBusy = () => document.querySelector(".zoomed, :popover-open, dialog[open]:not(#overlay)") !== null;

// On a slow connection, a picture that is still arriving isn't skipped.
function whenShown(viewer, signal, act) {
  const image = viewer.querySelector(".picture-frame img");
  if (!image || image.complete) return act();
  for (const event of ["load", "error"]) image.addEventListener(event, act, { signal, once: true });
}
