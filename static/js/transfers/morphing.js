// Have htmx swap the list with idiomorph, which moves rows instead of replacing them, so that they
// keep the focus and their animated bars. The server sends a placeholder (`data-same`) for a row that
// hasn't changed. A list with that attribute keeps its order, and has only the rows that changed.
import { noticeFailure } from "./notices.js";

// Update many rows in slices, so that typing and scrolling stay responsive.
const SLICE_MS = 8;
// Attributes that our scripts set on a button or row while it's in use.
const OURS = new Set(["aria-expanded", "aria-busy", "draggable", "data-drop"]);

const changedRows = new Map();
let timer = 0;

// What is chosen stays so.
const beforeAttributeUpdated = (name, _element, change) =>
  name !== "checked" && (change !== "remove" || !OURS.has(name));

function beforeNodeMorphed(_shown, fresh) {
  if (!fresh.matches?.(".transfer, [data-same]")) return true;
  for (const row of fresh.matches(".transfer") ? [fresh] : fresh.children) changedRows.set(row.id, row);
  return false;
}

function update() {
  clearTimeout(timer);
  const start = performance.now();
  for (const [id, fresh] of changedRows) {
    if (performance.now() - start > SLICE_MS) {
      timer = setTimeout(update);
      return;
    }
    changedRows.delete(id);
    const shown = document.getElementById(id);
    if (!shown) continue;
    noticeFailure(shown, fresh);
    window.Idiomorph.morph(shown, fresh, { callbacks: { beforeAttributeUpdated } });
  }
}

// Idiomorph's own extension would have htmx scan all rows for its attributes, which takes longer than
// the rest of the swap.
window.htmx.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap(style, target, fragment) {
    if (style !== "morph") return false;
    window.Idiomorph.morph(target, fragment.firstElementChild, {
      callbacks: { beforeNodeMorphed, beforeAttributeUpdated },
    });
    update();
    return [];
  },
});
