// How htmx swaps the list: idiomorph moves the rows, so that each keeps its elements, and with them
// the focus and a bar that glides. A row that the page has already comes as a placeholder,
// `data-same`; a list with that attribute keeps its order, and brings only the rows that changed.
import { noticeFailure } from "./notices.js";

// Many rows at once must not hold up who is typing or scrolling.
const SLICE_MS = 8;
// What our scripts say of a button while it is in use.
const OURS = new Set(["aria-expanded", "aria-busy"]);

const changed = new Map();
let timer = 0;

const beforeAttributeUpdated = (name, _element, change) => change !== "remove" || !OURS.has(name);

function beforeNodeMorphed(_shown, fresh) {
  if (!fresh.matches?.(".transfer, [data-same]")) return true;
  for (const row of fresh.matches(".transfer") ? [fresh] : fresh.children) changed.set(row.id, row);
  return false;
}

function update() {
  clearTimeout(timer);
  const begun = performance.now();
  for (const [id, fresh] of changed) {
    if (performance.now() - begun > SLICE_MS) {
      timer = setTimeout(update);
      return;
    }
    changed.delete(id);
    const shown = document.getElementById(id);
    if (!shown) continue;
    noticeFailure(shown, fresh);
    window.Idiomorph.morph(shown, fresh, { callbacks: { beforeAttributeUpdated } });
  }
}

// After idiomorph's own extension, htmx would look for its attributes in all rows, which takes longer
// than the rest of the swap.
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
