// Show the next picture every few seconds, until the user stops it, does something else, or reaches the end.
import { isForUs } from "../shortcuts.js";
import { turnTo } from "./viewer.js";

const PACE_MS = 5000;

export function mount(viewer, image, on, isRunning) {
  const button = viewer.querySelector("[data-do=slideshow]");
  const next = viewer.querySelector("[data-step=next]");
  if (!button) return;
  button.disabled = !next;
  if (!next) return;
  let timer = 0;
  const run = (isOn) => {
    clearTimeout(timer);
    button.ariaPressed = String(isOn);
    // On a slow connection, don't skip a picture that is still loading.
    if (isOn) image.decode().then(wait, wait);
  };
  const wait = () => {
    clearTimeout(timer);
    if (on.signal.aborted || button.ariaPressed !== "true") return;
    timer = setTimeout(() => (isBusy() ? wait() : turnTo(next.href, { isSlideshow: true })), PACE_MS);
  };
  const toggle = () => run(button.ariaPressed !== "true");
  on(button, "click", toggle);
  on(document, "keydown", (event) => event.key === "s" && isForUs(event, { inside: "#overlay" }) && toggle());
  on.signal.addEventListener("abort", () => clearTimeout(timer));
  if (isRunning) run(true);
}

// The user has zoomed in, or has opened a menu or a dialog.
const isBusy = () => document.querySelector(".zoomed, :popover-open, dialog[open]:not(#overlay)") !== null;
