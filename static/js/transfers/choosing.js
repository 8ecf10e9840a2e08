// Open the choice of files in a dialog: from a row, and by itself for what was just added to choose from.
import { onPlainClick } from "../events.js";
import { onDemand } from "../on-demand.js";

const dialog = document.getElementById("choose-files");
const awaitedKeys = new Set(new URLSearchParams(location.search).getAll("choose"));

onPlainClick("a[data-choose]", ({ href }) => dialog !== null && open(href));

async function open(url) {
  await window.htmx.ajax("GET", url, { source: "#title", target: dialog, swap: "innerHTML" });
  (await onDemand(() => import("../choosing/choice.js")))?.begin();
}

document.addEventListener("files-awaited", (event) => {
  event.preventDefault();
  for (const key of event.detail) awaitedKeys.add(key);
  openNext();
});

// Don't interrupt someone who types, or who has opened something else.
function openNext() {
  const isTyping = document.activeElement?.matches("textarea:not(:placeholder-shown), .input");
  if (!dialog || isTyping || document.querySelector("dialog[open], :popover-open")) return;
  for (const key of awaitedKeys) {
    const link = document.querySelector(`#${CSS.escape(key)} .btn[data-choose]`);
    if (!link) continue;
    awaitedKeys.delete(key);
    return open(link.href);
  }
}

document.addEventListener("transfers-shown", openNext);
dialog?.addEventListener("close", openNext);
openNext();
