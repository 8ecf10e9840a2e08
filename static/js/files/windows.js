// 10,000 rows arrive in windows as one scrolls. Some 2,000 stay in the page; of a window further
// away only its height is left, and its rows are fetched again when they come near.
import { adopt, keep } from "./selection.js";

const MOST = 10;
const AHEAD = "1200px 0px";
const RETRY_MS = 2000;
const SVG = "http://www.w3.org/2000/svg";

const addresses = new WeakMap();
const listing = () => document.getElementById("listing");
const windows = () => [...document.querySelectorAll("#listing .window:not(.ghosts)")];
const isEmptied = (each) => each.querySelector(".spacer") !== null;

const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      const holder = target.closest(".ghosts, .window");
      if (!holder) continue;
      if (holder.matches(".ghosts")) window.htmx.trigger(holder, "near");
      else refill(holder);
    }
  },
  { rootMargin: AHEAD },
);

document.addEventListener("htmx:load", ({ detail: { elt } }) => {
  if (elt.matches(".window, .ghosts")) adopt(elt);
  if (elt.matches(".window, .ghosts, #listing, #main, body")) watch();
});
watch();

function watch() {
  const ghosts = listing()?.querySelector(".ghosts");
  if (!ghosts) return trim();
  addresses.set(listing(), ghosts.getAttribute("hx-get"));
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
  keep(each.children);
  for (const picture of each.querySelectorAll("img")) stop(picture);
  each.replaceChildren(spacer(each, Math.round(height)));
  observer.observe(each.querySelector(".spacer"));
}

// Else those that nobody waits for any more are fetched before those that somebody looks at.
function stop(picture) {
  if (!picture.complete) picture.removeAttribute("src");
}

// The height is an attribute of a drawing, since the policy allows no style in the page.
function spacer(each, height) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("width", "1");
  drawing.setAttribute("height", String(height));
  if (each.matches("ul")) return wrap("li", drawing);
  const row = document.createElement("tr");
  const cell = wrap("td", drawing);
  cell.colSpan = 5;
  row.append(cell);
  return row;
}

// Browsers know End for what is loaded; here it leads to the last of all rows.
document.addEventListener("keydown", async (event) => {
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
  reserve(ghosts);
  const last = windows().at(-1);
  await refill(last);
  scrollTo(0, document.documentElement.scrollHeight);
  if (isOnRow) last.lastElementChild.querySelector(".entry")?.focus();
});

// Rows that nobody has loaded take their place, and are fetched when they come near.
function reserve(ghosts) {
  const shown = windows().at(-1);
  const full = windows().findLast((each) => !isEmptied(each));
  const { top } = full.firstElementChild.getBoundingClientRect();
  const rowHeight = (full.lastElementChild.getBoundingClientRect().bottom - top) / full.childElementCount;
  const first = Number(new URL(ghosts.getAttribute("hx-get"), location.href).searchParams.get("from"));
  const size = first - Number(shown.dataset.from);
  const count = Number(listing().dataset.count);
  window.htmx.trigger(ghosts, "htmx:abort");
  for (let from = first; from < count; from += size) {
    const each = shown.cloneNode(false);
    each.dataset.from = String(from);
    each.append(spacer(each, Math.round(rowHeight * Math.min(size, count - from))));
    ghosts.before(each);
    window.htmx.process(each);
    observer.observe(each.querySelector(".spacer"));
  }
  ghosts.remove();
}

function wrap(name, child) {
  const element = document.createElement(name);
  element.className = "spacer";
  element.setAttribute("aria-hidden", "true");
  element.append(child);
  return element;
}

async function refill(each) {
  if (!isEmptied(each) || each.dataset.busy) return;
  each.dataset.busy = "1";
  try {
    const rows = await rowsFrom(each.dataset.from);
    each.replaceChildren(...rows);
    window.htmx.process(each);
    adopt(each);
  } catch {
    setTimeout(again, RETRY_MS, each);
  } finally {
    delete each.dataset.busy;
  }
  trim();
}

async function rowsFrom(from) {
  const address = new URL(addresses.get(listing()), location.href);
  address.searchParams.set("from", from);
  const answer = await fetch(address, { headers: { "HX-Request": "true" } });
  const template = document.createElement("template");
  template.innerHTML = await answer.text();
  const shown = template.content.querySelector("#shown");
  if (shown && !template.content.querySelector(".ghosts"))
    document.getElementById("shown").replaceChildren(...shown.childNodes);
  return template.content.querySelector(".window:not(.ghosts)").children;
}

// An observer tells only of changes; one that is set anew tells at once what is in sight.
function again(each) {
  const spacer = each.querySelector(".spacer");
  if (!spacer || !each.isConnected) return;
  observer.unobserve(spacer);
  observer.observe(spacer);
}
