// Load long listings in windows as the user scrolls. About 1,000 rows stay in the page. Windows farther
// away keep only their height, and are fetched again when they come near.
import { adopt } from "./selection.js";

const MOST = 10;
const AHEAD = "1200px 0px";
const RETRY_MS = 2000;
const SVG = "http://www.w3.org/2000/svg";
const SPACER = {
  "hx-trigger": "near",
  "hx-target": "closest .window",
  "hx-select": ".window:not(.ghosts) > *",
  "hx-swap": "innerHTML settle:0ms",
  "hx-indicator": ".list-foot .spin",
  "hx-sync": "this:drop",
  "data-quiet": "",
};

const listing = () => document.getElementById("listing");
const windows = () => [...document.querySelectorAll("#listing .window:not(.ghosts)")];
const isEmptied = (each) => each.querySelector(".spacer") !== null;

const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      const holder = target.closest(".ghosts, .spacer");
      if (holder) window.htmx.trigger(holder, "near");
    }
  },
  { rootMargin: AHEAD },
);

document.addEventListener("htmx:load", ({ detail: { elt } }) => {
  if (elt.matches(".window, .ghosts")) adopt();
  if (elt.matches(".window, .ghosts, #listing, #main, body")) watch();
});
watch();

function watch() {
  const ghosts = listing()?.querySelector(".ghosts");
  if (!ghosts) return trim();
  listing().dataset.rows ??= ghosts.getAttribute("hx-get");
  observer.observe(ghosts.firstElementChild);
  trim();
}

function trim() {
  const full = windows().filter((each) => !isEmptied(each));
  if (full.length <= MOST) return;
  const middle = innerHeight / 2;
  const far = full.map((each) => ({ each, distance: Math.abs(middleOf(each) - middle) }));
  far.sort((one, other) => other.distance - one.distance);
  for (const { each } of far.slice(0, full.length - MOST)) empty(each);
}

function middleOf(each) {
  return (
    (each.firstElementChild.getBoundingClientRect().top + each.lastElementChild.getBoundingClientRect().bottom) / 2
  );
}

function empty(each) {
  if (each.contains(document.activeElement) || each.querySelector(".rename")) return;
  const top = each.firstElementChild.getBoundingClientRect().top;
  const height = each.lastElementChild.getBoundingClientRect().bottom - top;
  for (const picture of each.querySelectorAll("img")) stop(picture);
  each.replaceChildren();
  reserve(each, height);
}

// Stop loading a removed picture, which would delay the visible ones.
function stop(picture) {
  if (!picture.complete) picture.removeAttribute("src");
}

// Add a spacer in place of a window's rows; htmx fetches them when it comes near. The height is set with
// an SVG attribute, because the policy allows no inline styles.
function reserve(each, height) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("width", "1");
  drawing.setAttribute("height", String(Math.round(height)));
  const spacer = document.createElement(each.matches("ul") ? "li" : "tr");
  if (spacer.matches("li")) spacer.append(drawing);
  else {
    spacer.append(document.createElement("td"));
    spacer.firstElementChild.setAttribute("colspan", "5");
    spacer.firstElementChild.append(drawing);
  }
  const address = new URL(listing().dataset.rows, location.href);
  address.searchParams.set("from", each.dataset.from);
  const attributes = { class: "spacer", "aria-hidden": "true", "hx-get": address.href, ...SPACER };
  for (const [name, value] of Object.entries(attributes)) spacer.setAttribute(name, value);
  each.append(spacer);
  window.htmx.process(spacer);
  observer.observe(spacer);
}

// The response for a window in the middle doesn't count the loaded rows below it, so don't show its count.
let isLast = true;

document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  isLast = !windows().includes(target) || target === windows().at(-1);
});

document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (detail.target.id === "shown" && !isLast) detail.shouldSwap = false;
});

document.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
  if (!windows().includes(target)) return;
  adopt();
  trim();
});

// An observer reports only changes, but a new observation reports immediately, so this retries.
document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (detail.successful || !target.matches(".spacer")) return;
  observer.unobserve(target);
  setTimeout(() => target.isConnected && observer.observe(target), RETRY_MS);
});

// End would scroll to the last loaded row. Scroll to the last of all rows instead.
document.addEventListener("keydown", (event) => {
  const { key, target, shiftKey, altKey, metaKey } = event;
  const ghosts = listing()?.querySelector(".ghosts");
  if (
    key !== "End" ||
    shiftKey ||
    altKey ||
    metaKey ||
    !ghosts ||
    document.querySelector("dialog[open], :popover-open")
  )
    return;
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
  const full = windows().findLast((each) => !isEmptied(each));
  const { top } = full.firstElementChild.getBoundingClientRect();
  const rowHeight = (full.lastElementChild.getBoundingClientRect().bottom - top) / full.childElementCount;
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
