// Files that are dragged onto the page are uploaded to the open folder.

import { fill, words } from "../words.js";
import { uploads } from "./on-first-use.js";

for (const name of /** @type {const} */ (["dragenter", "dragover"])) {
  document.addEventListener(name, (event) => {
    const { dataTransfer } = event;
    if (!hasFiles(dataTransfer)) return;
    event.preventDefault();
    dataTransfer.dropEffect = mayDrop() ? "copy" : "none";
    if (mayDrop() && !("drag" in document.body.dataset)) unveil(dataTransfer.items.length);
  });
}

document.addEventListener("dragleave", ({ relatedTarget }) => {
  if (!relatedTarget) veil(false);
});

// What was dropped can be read only before anything is awaited.
document.addEventListener("drop", async (event) => {
  if (!hasFiles(event.dataTransfer)) return;
  event.preventDefault();
  veil(false);
  if (!mayDrop()) return;
  const files = [...event.dataTransfer.files];
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  (await uploads())?.addDropped({ files, entries });
});

function hasFiles(dataTransfer) {
  return dataTransfer?.types.includes("Files") ?? false;
}

function mayDrop() {
  return document.getElementById("uploads") !== null && !document.querySelector("dialog[open]");
}

function unveil(count) {
  document.getElementById("drop-count").textContent = fill(words.files.drop, { count });
  veil(true);
}

function veil(isDrawn) {
  document.body.toggleAttribute("data-drag", isDrawn);
  const drop = document.querySelector(".drop");
  if (drop) drop.hidden = !isDrawn;
}
