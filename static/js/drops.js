// Drag and drop onto the page, with a veil that shows what a drop will do.
import { on } from "./events.js";

// `describe` fills the veil. `take` must read the data synchronously: later it's empty.
export function listenForDrops({ isOurs, mayDrop = () => true, describe = (_data) => {}, take }) {
  const isOpen = () => mayDrop() && !document.querySelector("dialog[open]");

  on(document, "dragenter dragover", (event) => {
    if (!isOurs(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = isOpen() ? "copy" : "none";
    if (!isOpen() || "drag" in document.body.dataset) return;
    describe(event.dataTransfer);
    toggleVeil(true);
  });
  on(document, "dragleave", ({ relatedTarget }) => !relatedTarget && toggleVeil(false));
  on(document, "drop", (event) => {
    toggleVeil(false);
    if (!isOurs(event)) return;
    event.preventDefault();
    if (isOpen()) take(event.dataTransfer);
  });
}

const toggleVeil = (isShown) => document.body.toggleAttribute("data-drag", isShown);

// Return the folders of a drop, and the files that aren't in them.
export function sortDropped(data) {
  const folders = entriesOf(data).filter(({ isDirectory }) => isDirectory);
  const files = [...data.files].filter(({ name }) => !folders.some((each) => each.name === name));
  return { folders, files };
}

export const entriesOf = ({ items }) => [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
