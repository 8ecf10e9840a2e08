// What every viewer responds to: arrow keys, d, Esc, and its links to the previous and next file.
import { copy } from "../copying.js";
import { isPlain } from "../events.js";
import { isForUs } from "../shortcuts.js";
import { turnTo, viewer } from "./viewer.js";

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || !isPlain(event)) return;
  const link = event.target.closest("#viewer :is([data-step], [data-turn])");
  const address = event.target.closest("#viewer [data-copy]");
  if (!link && !address) return;
  event.preventDefault();
  event.target.closest("[popover]")?.hidePopover();
  if (link) turnTo(link.href);
  else copy(address.href);
});

document.addEventListener("keydown", (event) => {
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
