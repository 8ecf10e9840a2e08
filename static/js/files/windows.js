// Load long listings in windows as the user scrolls. About 1,000 rows stay in the page. Windows farther
// away keep only their height, and are fetched again when they come near.
import { on } from "../events.js";
import { adopt } from "../selection/selection.js";

const MOST = 10;
const AHEAD = "1200px 0px";
const RETRY_MS = 2000;

const listing = () => document.getElementById("listing");
const windows = () => [...document.querySelectorAll("#listing .window:not(.ghosts)")];
const filledWindows = () => windows().filter((each) => !each.querySelector(".spacer"));

const observer = new IntersectionObserver(load, { rootMargin: AHEAD });

function load(entries) {
  for (const { isIntersecting, target } of entries) {
    const holder = isIntersecting && target.closest(".ghosts, .spacer");
    if (holder) window.htmx.trigger(holder, "near");
  }
}

document.addEventListener("htmx:load", ({ detail: { elt } }) => {
  if (elt.matches(".window, .ghosts")) adopt();
  if (elt.matches(".window, .ghosts, #listing, #main, body")) watch();
});

function watch() {
  trim();
  const ghosts = listing()?.querySelector(".ghosts");
  if (!ghosts) return;
  listing().dataset.rows ??= ghosts.getAttribute("hx-get");
  observer.observe(ghosts.firstElementChild);
}

function trim() {
  const distance = (each) => Math.abs(boundsOf(each).middle - innerHeight / 2);
  const far = filledWindows().sort((one, other) => distance(one) - distance(other));
  for (const each of far.slice(MOST)) empty(each);
}

// In the grid, windows have no boxes.
function boundsOf(each) {
  const { top } = each.firstElementChild.getBoundingClientRect();
  const { bottom } = each.lastElementChild.getBoundingClientRect();
  return { height: bottom - top, middle: (top + bottom) / 2 };
}

function empty(each) {
  if (each.contains(document.activeElement) || each.querySelector(".rename")) return;
  const { height } = boundsOf(each);
  // Stop loading removed pictures, which would delay the visible ones.
  for (const picture of each.querySelectorAll("img")) if (!picture.complete) picture.removeAttribute("src");
  each.replaceChildren();
  reserve(each, height);
}

// Add a spacer in place of a window's rows; htmx fetches them when it comes near. The height is set with
// an SVG attribute, because the policy allows no inline styles.
function reserve(each, height) {
  const spacer = document.getElementById("spacer").content.firstElementChild.cloneNode(true);
  const address = new URL(listing().dataset.rows, location.href);
  address.searchParams.set("from", each.dataset.from);
  address.searchParams.set("again", "1");
  spacer.setAttribute("hx-get", address.href);
  spacer.querySelector("svg").setAttribute("height", String(Math.round(height)));
  each.append(spacer);
  window.htmx.process(spacer);
  observer.observe(spacer);
}

// An observer reports only changes, but a new observation reports immediately, so this retries.
on(document, "htmx:afterRequest", ({ detail: { successful, requestConfig } }) => {
  const { elt } = requestConfig;
  if (!elt.matches(".spacer")) return;
  adopt();
  trim();
  if (successful) return;
  observer.unobserve(elt);
  setTimeout(() => elt.isConnected && observer.observe(elt), RETRY_MS);
});

// End would scroll to the last loaded row. Scroll to the last of all rows instead.
on(document, "keydown", (event) => {
  const { key, target, shiftKey, altKey, metaKey } = event;
  const ghosts = listing()?.querySelector(".ghosts");
  if (key !== "End" || shiftKey || altKey || metaKey || !ghosts) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  if (target.closest("input:not([type=checkbox]), select, textarea")) return;
  event.preventDefault();
  const isOnRow = target.closest(".window") !== null;
  reserveAll(ghosts);
  const last = windows().at(-1);
  const arrive = () => {
    scrollTo(0, document.documentElement.scrollHeight);
    if (isOnRow) last.lastElementChild.querySelector(".entry")?.focus();
  };
  last.addEventListener("htmx:afterSwap", arrive, { once: true });
  window.htmx.trigger(last.firstElementChild, "near");
});

// Reserve the space of all rows not loaded yet; they are fetched when they come near.
function reserveAll(ghosts) {
  const lastWindow = windows().at(-1);
  const filled = filledWindows().at(-1);
  const rowHeight = boundsOf(filled).height / filled.childElementCount;
  const first = Number(new URL(ghosts.getAttribute("hx-get"), location.href).searchParams.get("from"));
  const size = first - Number(lastWindow.dataset.from);
  const count = Number(listing().dataset.count);
  window.htmx.trigger(ghosts, "htmx:abort");
  for (let from = first; from < count; from += size) {
    const each = lastWindow.cloneNode(false);
    each.dataset.from = String(from);
    ghosts.before(each);
    reserve(each, rowHeight * Math.min(size, count - from));
  }
  ghosts.remove();
}
