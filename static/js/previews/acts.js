// What every viewer responds to: arrow keys, d, Esc, and its links to the previous and next file.
import { copy } from "../copying.js";
import { on, onPlainClick } from "../events.js";
import { isForUs } from "../shortcuts.js";
import { turnTo, viewer } from "./viewer.js";

onPlainClick("#viewer :is([data-step], [data-turn], [data-copy])", (link) => {
  link.closest("[popover]")?.hidePopover();
  if ("copy" in link.dataset) copy(link.href);
  else turnTo(link.href);
});

on(document, "keydown", (event) => {
  if (!viewer() || event.shiftKey || !isForUs(event, { mayRepeat: true, inside: "#overlay" })) return;
  const action = ACTIONS[event.key];
  if (action && action(event) !== false) event.preventDefault();
});

const ACTIONS = {
  ArrowLeft: (event) => isFree(event) && step("previous"),
  ArrowRight: (event) => isFree(event) && step("next"),
  d: () => press("[data-get]"),
  Escape: ({ repeat }) => !repeat && !document.getElementById("overlay") && press("#back"),
};

// Whatever scrolls sideways keeps its arrow keys, except the strip.
function isFree({ target }) {
  const scroller = target.closest?.(".viewer-body, .picture-frame, .strip");
  return !scroller || scroller.scrollWidth <= scroller.clientWidth || scroller.matches(".strip");
}

export function step(name) {
  const opposites = document.documentElement.dir === "rtl" ? { next: "previous", previous: "next" } : {};
  return press(`[data-step=${opposites[name] ?? name}]`);
}

function press(selector) {
  const link = viewer().querySelector(selector);
  link?.click();
  return link !== null;
}
