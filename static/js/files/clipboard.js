// What is cut or copied, for all pages of this tab.
import { tab } from "../storage.js";

const KEY = "ferry-clipboard";
let pasted = null; // the clipboard while its cut entries are being moved

export const put = (items) => tab.write(KEY, items);
export const isHere = (items, folder) => items?.act === "move" && items.from === folder;

// Return what to paste into a folder. Entries can't be pasted where they were cut.
export function paste(folder) {
  const items = tab.readJson(KEY);
  if (items && !isHere(items, folder)) pasted = items.act === "move" ? tab.read(KEY) : null;
  return items;
}

// The user may cancel, or drop other entries: then what was cut stays cut.
export function forgetPaste() {
  pasted = null;
}

export function finishPaste() {
  if (pasted && pasted === tab.read(KEY)) tab.remove(KEY);
  pasted = null;
}

export function cutKeys(folder) {
  const items = tab.readJson(KEY);
  return (isHere(items, folder) && items.values.entry) || [];
}

// Return what a drop does, or null if its target is among what is dragged.
export function dropAct({ ctrlKey, altKey }, dragged, key) {
  if (dragged.entry?.includes(key)) return null;
  return ctrlKey || altKey ? "copy" : "move";
}
