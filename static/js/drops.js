// What is dragged onto the page, below a veil that says what a drop does.

/**
 * @param {object} acts
 * @param {(event: DragEvent) => boolean} acts.isOurs
 * @param {() => boolean} [acts.mayDrop]
 * @param {(dragged: DataTransfer) => void} [acts.describe] fills the veil
 * @param {(dropped: DataTransfer) => void} acts.take reads it at once: later it's empty
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
      veil(true);
    });
  }

  document.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget) veil(false);
  });

  document.addEventListener("drop", (event) => {
    veil(false);
    if (!isOurs(event)) return;
    event.preventDefault();
    if (isOpen()) take(event.dataTransfer);
  });
}

function veil(isDrawn) {
  document.body.toggleAttribute("data-drag", isDrawn);
  const drop = document.querySelector(".drop");
  if (drop) drop.hidden = !isDrawn;
}

/** @param {DataTransfer} dropped */
export const entriesOf = ({ items }) => [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
