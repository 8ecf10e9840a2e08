import { browser } from "./storage.js";

const memory = "ferry-keys";
const patienceMs = 1500;
let pressed = "";
let forgetting = 0;

document.addEventListener("keydown", (event) => {
  if (event.key === "?" && isForUs(event, { inside: "#overlay" })) return showHelp(event);
  if (!isForUs(event) || event.shiftKey) return;
  follow(event, pressed ? `${pressed} ${event.key}` : event.key);
});

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-keys-switch]")) browser.write(memory, target.checked ? "on" : "off");
});

document.addEventListener("htmx:load", ({ detail }) => showSwitches(detail.elt));
showSwitches(document);

export const isPlain = ({ ctrlKey, metaKey, shiftKey, altKey }) => !(ctrlKey || metaKey || shiftKey || altKey);

export function isForUs(event, { mayRepeat = false, inside = "" } = {}) {
  const { altKey, ctrlKey, metaKey, isComposing, repeat, defaultPrevented, target } = event;
  if (altKey || ctrlKey || metaKey || isComposing || defaultPrevented) return false;
  if (repeat && !mayRepeat) return false;
  if (target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]")) return false;
  return !document.querySelector(`dialog[open]:not(${inside || "#no"}), :popover-open`) && isOn();
}

// A viewer lies over the page, so its keys come first.
export function showHelp(event) {
  event.preventDefault();
  (document.getElementById("viewer-keys") ?? document.getElementById("keys"))?.showModal();
}

function follow(event, keys) {
  forget();
  const links = [...document.querySelectorAll("a[data-key]")];
  const link = links.find(({ dataset }) => dataset.key === keys);
  if (link) {
    event.preventDefault();
    link.click();
  } else if (links.some(({ dataset }) => dataset.key.startsWith(`${keys} `))) {
    pressed = keys;
    forgetting = setTimeout(forget, patienceMs);
  }
}

function forget() {
  clearTimeout(forgetting);
  pressed = "";
}

function showSwitches(root) {
  for (const box of root.querySelectorAll("[data-keys-switch]")) box.checked = isOn();
}

export function isOn() {
  return browser.read(memory) !== "off";
}
