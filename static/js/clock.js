// One clock for all parts of a page that refresh themselves. It pauses while the page is hidden or
// the device is offline, and catches up as soon as that ends.
import { on } from "./events.js";

const LONGEST_MS = 60_000;
const hurries = new Set();

// `refresh` resolves to the milliseconds until its next call, or to null to end the calls.
export function live(refresh, firstMs) {
  let timer = setTimeout(tick, firstMs); // 0 while a refresh is in progress
  let failures = 0;
  let isHurried = false;
  hurries.add(hurry);
  return hurry;

  async function tick() {
    if (document.hidden || !navigator.onLine) return;
    timer = 0;
    isHurried = false;
    const pause = await attempt();
    if (pause === null) hurries.delete(hurry);
    else timer = setTimeout(tick, isHurried ? 0 : pause);
  }

  async function attempt() {
    try {
      const pause = await refresh();
      failures = 0;
      return pause;
    } catch {
      failures += 1;
      return Math.min(1000 * 2 ** failures, LONGEST_MS);
    }
  }

  function hurry() {
    isHurried = true;
    if (!timer) return;
    clearTimeout(timer);
    timer = setTimeout(tick, 0);
  }
}

// Let htmx send the element's request. `pauseAfter` gets the XHR, and returns the pause as `refresh`
// does. htmx's own polling (`every 4s`) can't back off after failures, and continues in hidden pages.
// A trigger would start the request, but not report when it ends.
export function poll(find, pauseAfter, firstMs = 0) {
  return live(() => request(find(), pauseAfter), firstMs);
}

// A request that another one keeps from being sent has no XHR.
async function request(element, pauseAfter) {
  if (!element.isConnected) return null;
  let xhr = null;
  element.addEventListener("htmx:afterRequest", ({ detail }) => (xhr = detail.xhr), { once: true });
  await window.htmx.ajax("GET", element.getAttribute("hx-get"), { source: element });
  if (xhr?.status >= 400) throw new Error(String(xhr.status));
  return pauseAfter(xhr);
}

// Elements with `data-poll` refresh themselves after as many milliseconds, until they are replaced. Those
// of a user who was signed out in the meantime wait longer.
const polled = new WeakSet();

function pollAll() {
  for (const element of document.querySelectorAll("[data-poll]")) {
    if (polled.has(element)) continue;
    polled.add(element);
    const every = Number(element.dataset.poll);
    const pauseAfter = (xhr) => (xhr?.getResponseHeader("HX-Redirect") ? LONGEST_MS : every);
    poll(() => element, pauseAfter, every);
  }
}

on(document, "htmx:load", pollAll);
pollAll();

// Don't redirect a user who was signed out and may be typing, or is uploading files, which they would have
// to choose again. Their next action leads to the sign-in page.
const STAYS = "[data-stays], body:has(#sending-files:not([hidden])) #poll";
on(document, "htmx:beforeOnLoad", (event) => {
  const isElsewhere = event.detail.xhr.getResponseHeader("HX-Redirect") !== null;
  if (isElsewhere && event.target.matches(STAYS)) event.preventDefault();
});

on(document, "visibilitychange transfers-changed", hurryAll);
on(window, "online", hurryAll);

function hurryAll() {
  for (const hurry of hurries) hurry();
}
