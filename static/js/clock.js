// One clock for all parts of a page that refresh themselves. It pauses while the page is hidden or
// the device is offline, and catches up as soon as that ends.
const regions = new Set();
const LONGEST_MS = 60_000;

let timer = 0;

// `refresh` resolves to the milliseconds until its next call, or to null to end the calls.
export function live(refresh, firstMs) {
  const region = { refresh, due: performance.now() + firstMs, failures: 0, isRefreshing: false };
  regions.add(region);
  schedule();
  return () => hurry([region]);
}

// Let htmx send the element's request. `pauseAfter` gets the XHR, and returns the pause as `refresh`
// does. htmx's own polling (`every 4s`) can't back off after failures, and continues in hidden pages.
// A trigger would start the request, but not report when it ends.
export function poll(find, pauseAfter) {
  return live(() => request(find(), pauseAfter), 0);
}

async function request(element, pauseAfter) {
  if (!element) return null;
  let xhr = null;
  element.addEventListener("htmx:afterRequest", ({ detail }) => (xhr = detail.xhr), { once: true });
  await window.htmx.ajax("GET", element.getAttribute("hx-get"), { source: element });
  const pause = xhr && pauseAfter(xhr);
  if (pause !== null && xhr.status >= 400) throw new Error(String(xhr.status));
  return pause;
}

// Don't redirect a user who was signed out and may be typing, or is uploading files, which they would have
// to choose again. Their next action leads to the sign-in page.
const STAYS = "[data-stays], body:has(#sending-files:not([hidden])) #poll";
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const isElsewhere = event.detail.xhr.getResponseHeader("HX-Redirect") !== null;
  if (isElsewhere && event.target.matches(STAYS)) event.preventDefault();
});

for (const name of ["visibilitychange", "transfers-changed"]) document.addEventListener(name, () => hurry(regions));
window.addEventListener("online", () => hurry(regions));
window.addEventListener("pageshow", ({ persisted }) => persisted && hurry(regions));

const mayRefresh = () => !document.hidden && navigator.onLine;

function hurry(some) {
  for (const region of some) {
    region.due = 0;
    region.isHurried = region.isRefreshing;
  }
  schedule();
}

function schedule() {
  clearTimeout(timer);
  const idle = [...regions].filter(({ isRefreshing }) => !isRefreshing);
  if (!mayRefresh() || !idle.length) return;
  const due = Math.min(...idle.map((region) => region.due));
  timer = setTimeout(tick, Math.max(due - performance.now(), 0));
}

function tick() {
  if (!mayRefresh()) return;
  const now = performance.now();
  for (const region of regions) if (!region.isRefreshing && region.due <= now) refreshRegion(region);
  schedule();
}

async function refreshRegion(region) {
  region.isRefreshing = true;
  let pause = LONGEST_MS;
  try {
    pause = await region.refresh();
    region.failures = 0;
  } catch {
    region.failures += 1;
    pause = Math.min(1000 * 2 ** region.failures, LONGEST_MS);
  }
  if (pause === null) {
    regions.delete(region);
    return;
  }
  region.isRefreshing = false;
  region.due = region.isHurried ? 0 : performance.now() + pause;
  region.isHurried = false;
  schedule();
}
