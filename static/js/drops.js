// Drag and drop onto the page, with a veil that shows what a drop will do.

/**
 * @param {object} handlers
 * @param {(event: DragEvent) => boolean} handlers.isOurs
 * @param {() => boolean} [handlers.mayDrop]
 * @param {(data: DataTransfer) => void} [handlers.describe] fills the veil
 * @param {(data: DataTransfer) => void} handlers.take must read the data synchronously: later it's empty
 */
export function listenForDrops({ isOurs, mayDrop = () => true, describe = () => {}, take }) {
  const isOpen = () => mayDrop() && !document.querySelector("dialog[open]");

  for (const name of /** @type {const} */ (["dragenter", "dragover"])) {
    document.addEventListener(name, (event) => {
      if (!isOurs(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = isOpen() ? "copy" : "none";
      if (!isOpen() || "drag" in document.body.dataset) return;
      describe(event.dataTransfer);
      toggleVeil(true);
    });
  }

  document.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget) toggleVeil(false);
  });

  document.addEventListener("drop", (event) => {
    toggleVeil(false);
    if (!isOurs(event)) return;
    event.preventDefault();
    if (isOpen()) take(event.dataTransfer);
  });
}

function toggleVeil(isShown) {
  document.body.toggleAttribute("data-drag", isShown);
  const drop = document.querySelector(".drop");
  if (drop) drop.hidden = !isShown;
}

/** @param {DataTransfer} data */
export const entriesOf = ({ items }) => [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
