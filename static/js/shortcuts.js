import { browser } from "./storage.js";

const STORAGE_KEY = "ferry-keys";
const SEQUENCE_MS = 1500;
let prefix = { keys: "", until: 0 };

document.addEventListener("keydown", (event) => {
  if (event.key === "?" && isForUs(event, { inside: "#overlay" })) return showHelp(event);
  if (!isForUs(event) || event.shiftKey) return;
  follow(event, event.timeStamp < prefix.until ? `${prefix.keys} ${event.key}` : event.key);
});

export function isForUs(event, { mayRepeat = false, withCtrl = false, inside = "" } = {}) {
  const { altKey, ctrlKey, metaKey, isComposing, repeat, defaultPrevented, target } = event;
  if (altKey || Boolean(ctrlKey || metaKey) !== withCtrl || isComposing || defaultPrevented) return false;
  if (repeat && !mayRepeat) return false;
  if (target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]")) return false;
  return !document.querySelector(`dialog[open]:not(${inside || "#no"}), :popover-open`) && isOn();
}

// A viewer covers the page, so show its shortcuts rather than the page's.
export function showHelp(event) {
  event.preventDefault();
  (document.getElementById("viewer-keys") ?? document.getElementById("keys"))?.showModal();
}

function follow(event, keys) {
  prefix.until = 0;
  const links = [...document.querySelectorAll("a[data-key]")];
  const link = links.find(({ dataset }) => dataset.key === keys);
  if (link) {
    event.preventDefault();
    link.click();
  } else if (links.some(({ dataset }) => dataset.key.startsWith(`${keys} `))) {
    prefix = { keys, until: event.timeStamp + SEQUENCE_MS };
  }
}

export const isOn = () => browser.read(STORAGE_KEY) !== "off";
export const turn = (isOn) => browser.write(STORAGE_KEY, isOn ? "on" : "off");
