import { words } from "./words.js";

// Exchange icons, and the names of buttons that have no other words.
export function setIcon(element, name) {
  const use = element.querySelector("use");
  const shown = use.getAttribute("href");
  const wanted = shown.replace(/#.*/, `#${name}`);
  if (shown !== wanted) use.setAttribute("href", wanted);
}

export function setButton(button, icon, label) {
  setIcon(button, icon);
  if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
}

// One button plays and pauses, and says which.
export function showPlaying(button, isPlaying) {
  setButton(button, isPlaying ? "pause" : "play", isPlaying ? words.shell.pause : words.shell.play);
}
