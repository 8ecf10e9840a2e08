// The viewer, which is a page or is in an overlay: fetch it, put it in place, and load its script.
import { copy } from "../copying.js";
import { listenUntil, on, onPlainClick } from "../events.js";
import { onDemand } from "../on-demand.js";
import { isForUs } from "../shortcuts.js";
import { showToast } from "../toasts.js";
import { addWords, words } from "../words.js";

let loading = new AbortController();
let mounted = new AbortController();

export const viewer = () => document.getElementById("viewer");

// Fetch a whole page, and return its viewer once its styles have loaded. If it has no viewer, such as
// the page of an error, open that page instead, and return null.
export async function load(url) {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  const busy = document.getElementById("busy");
  busy?.classList.add("htmx-request");
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" }, signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const element = response.ok && !response.redirected ? page.getElementById("viewer") : null;
    if (!element) {
      location.assign(url);
      return null;
    }
    await Promise.all([...page.querySelectorAll("link[rel=stylesheet]")].map(addStyles));
    signal.throwIfAborted();
    addWords(page);
    // Import the viewer instead of adopting it: sound from the other document has already given up loading.
    return { viewer: document.importNode(element, true), title: page.title };
  } catch {
    if (!signal.aborted) showToast(words.shell.unreachable, () => location.assign(url));
    return null;
  } finally {
    if (signal === loading.signal) busy?.classList.remove("htmx-request");
  }
}

// Resolve when this page has loaded the styles, or has failed to.
function addStyles(link) {
  if ([...document.styleSheets].some((sheet) => sheet.href === link.href)) return null;
  return new Promise((resolve) => {
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}

// `options` carry over from the previous viewer, such as whether music or a slideshow plays.
export async function mount(fresh, options = {}) {
  mounted.abort();
  mounted = new AbortController();
  const { signal } = mounted;
  window.htmx?.process(fresh);
  if (!fresh.dataset.script) return;
  const script = await onDemand(() => import(fresh.dataset.script));
  if (!script || signal.aborted) return;
  script.mount(fresh, listenUntil(signal), options);
  fresh.dataset.mounted = "";
}

export function unmount() {
  loading.abort();
  mounted.abort();
}

export async function turnTo(url, options = {}) {
  const { step, do: action } = document.activeElement?.dataset ?? {};
  const preview = await load(url);
  if (!preview || !viewer()) return;
  const isInStrip = Boolean(document.activeElement?.closest(".strip, .queue"));
  const sound = document.getElementById("sound");
  const isPlaying = options.isPlaying ?? (sound !== null && !sound.paused);
  viewer().replaceWith(preview.viewer);
  history.replaceState(history.state, "", url);
  document.title = preview.title;
  await mount(preview.viewer, { ...options, isPlaying });
  if (viewer() !== preview.viewer) return;
  focusOn(preview.viewer, isInStrip ? "[aria-current]" : action ? `[data-do=${action}]` : `[data-step=${step}]`);
  const [name, facts] = ["h1", ".viewer-title p"].map((selector) => preview.viewer.querySelector(selector).textContent);
  document.getElementById("viewer-said")?.replaceChildren(`${name}, ${facts}`);
}

function focusOn(fresh, selector) {
  const target = [...fresh.querySelectorAll(selector)].find((each) => !each.disabled && each.checkVisibility());
  (target ?? fresh.querySelector("#back"))?.focus({ preventScroll: true });
}

// What every viewer responds to: arrow keys, d, Esc, and its links to the previous and next file.

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

// Whatever scrolls sideways keeps its arrow keys, except the strip. On a television, arrows walk among controls.
function isFree({ target }) {
  if ("television" in document.documentElement.dataset && target.matches("a, button, input")) return false;
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

// A preview that is a page, not an overlay.
if (viewer()) {
  mount(viewer());
  // The history may hold a listing that this document showed before the user reloaded it.
  on(window, "popstate", () => location.reload());
}
