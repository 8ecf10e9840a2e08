import { words } from "./words.js";

export function makeElement(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Change a text only if it differs, so that screen readers don't announce it again.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Swap icons, and the labels of buttons without text.
export function setIcon(element, name) {
  const use = element.querySelector("use");
  const href = use.getAttribute("href");
  const newHref = href.replace(/#.*/, `#${name}`);
  if (href !== newHref) use.setAttribute("href", newHref);
}

export function setButton(button, icon, label) {
  setIcon(button, icon);
  if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
}

// The same button plays and pauses, and shows which it will do.
export function showPlaying(button, isPlaying) {
  setButton(button, isPlaying ? "pause" : "play", isPlaying ? words.shell.pause : words.shell.play);
}
