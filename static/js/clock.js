// One clock for everything on a page that is asked for again. Nothing is asked while nobody looks
// or the device is offline; who comes back gets it at once.
const regions = new Set();
const LONGEST_MS = 60_000;

let timer = 0;

// `ask` answers, when it has done, in how many milliseconds it wants its next turn; null: never.
export function live(ask, firstMs) {
  const region = { ask, due: performance.now() + firstMs, failures: 0, isAsking: false };
  regions.add(region);
  wind();
  return () => hurry([region]);
}

// Has htmx request the element as its attributes say; `pause` gets the answer, and returns the pause
// as `ask` does. htmx's own polling, `every 4s`, can't wait longer after a failure, and asks for
// hidden pages too. A trigger would start the request, but not say when it has ended.
export function poll(find, pause) {
  return live(() => request(find(), pause), 0);
}

async function request(element, pause) {
  if (!element) return null;
  let answer = null;
  element.addEventListener("htmx:afterRequest", ({ detail }) => (answer = detail.xhr), { once: true });
  await window.htmx.ajax("GET", element.getAttribute("hx-get"), { source: element });
  const wanted = answer && pause(answer);
  if (wanted !== null && answer.status >= 400) throw new Error(String(answer.status));
  return wanted;
}

// Somebody who was signed out may be typing: their next act leads to the sign-in page.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const isElsewhere = event.detail.xhr.getResponseHeader("HX-Redirect") !== null;
  if (isElsewhere && event.target.matches("[data-stays]")) event.preventDefault();
});

for (const name of ["visibilitychange", "transfers-changed"]) document.addEventListener(name, () => hurry(regions));
window.addEventListener("online", () => hurry(regions));
window.addEventListener("pageshow", ({ persisted }) => persisted && hurry(regions));

const isLooking = () => !document.hidden && navigator.onLine;

function hurry(some) {
  for (const region of some) {
    region.due = 0;
    region.isHurried = region.isAsking;
  }
  wind();
}

function wind() {
  clearTimeout(timer);
  const waiting = [...regions].filter(({ isAsking }) => !isAsking);
  if (!isLooking() || !waiting.length) return;
  const due = Math.min(...waiting.map((region) => region.due));
  timer = setTimeout(tick, Math.max(due - performance.now(), 0));
}

function tick() {
  if (!isLooking()) return;
  const now = performance.now();
  for (const region of regions) if (!region.isAsking && region.due <= now) turn(region);
  wind();
}

async function turn(region) {
  region.isAsking = true;
  let pause = LONGEST_MS;
  try {
    pause = await region.ask();
    region.failures = 0;
  } catch {
    region.failures += 1;
    pause = Math.min(1000 * 2 ** region.failures, LONGEST_MS);
  }
  if (pause === null) {
    regions.delete(region);
    return;
  }
  region.isAsking = false;
  region.due = region.isHurried ? 0 : performance.now() + pause;
  region.isHurried = false;
  wind();
}
