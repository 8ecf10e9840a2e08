// Preserve the selection and the focus when a response replaces the listing, and decide which status
// messages screen readers announce.
import { isPlain, onCapture } from "../events.js";
import { allRows, linkOf, query, rowBy, rowOf } from "../selection/rows.js";
import { adopt, clear } from "../selection/selection.js";
import { browser, UPLOADS_KEY } from "../storage.js";
import { showToast, tell } from "../toasts.js";
import { words } from "../words.js";
import { fateOf, focusAfter, isLast, isOpening, open, partOf } from "./late.js";

const NOTICE_MS = 2000;

let focusKeys = [];
let wasStale = false;
let isDown = false;
let isQuiet = false;

const listing = () => document.getElementById("listing");

onCapture("pointerdown pointerup pointercancel", ({ type }) => (isDown = type === "pointerdown"));

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { elt } = detail.requestConfig;
  isQuiet = ["refresh", "look"].includes(elt?.id);
  if (!detail.shouldSwap || detail.target?.id !== "listing") return;
  const part = partOf({ isQuiet, isArrival: elt.id === "unpacking", isBusy: isBusy(), isFar: isFar() });
  if (part === "nothing") detail.shouldSwap = false;
  if (part === "nothing" && isQuiet && isDown) document.addEventListener("pointerup", refresh, { once: true });
  if (part === "message") detail.swapOverride = "none";
  if (part !== "all") return;
  focusKeys = candidates(elt);
  wasStale = listing().classList.contains("stale");
  if (elt.closest("#delete, #move")) clear();
});

document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target.id === "listing") settle(target);
  // The response is a download, so the page and its selection stay.
  if (target.id === "packed") {
    target.click();
    tell(target.textContent);
  }
  if (target.id === "main") target.focus({ preventScroll: true });
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { elt, successful } = detail;
  if (successful && elt.id === "try-now" && listing().classList.contains("stale")) showToast(words.files.still);
});

// A background refresh doesn't change the order or the filter, so don't announce anything.
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (detail.target.id === "said" && isQuiet) detail.shouldSwap = false;
});

// Keep htmx from opening a link in this tab when the user wants a new one.
onCapture("click", (event) => {
  if (!isPlain(event) && event.target.closest("#main a[href]")) event.stopPropagation();
});

export async function refresh() {
  const look = document.getElementById("look");
  if (look) await window.htmx.ajax("GET", look.getAttribute("hx-get"), { source: look }).catch(() => {});
}

const isFar = () => document.querySelectorAll("#listing .window:not(.ghosts)").length > 1;

// A folder that opens also swaps the meter, for which htmx needs the row whose link was clicked.
function isBusy() {
  return isDown || isOpening() || document.querySelector("#listing .rename, dialog[open], #entry-menu:popover-open");
}

function candidates(elt) {
  const row = rowOf(document.activeElement);
  if (!elt.closest("#delete, #move")) return row ? [row.id] : [];
  const goneKeys = [...elt.querySelectorAll("[name=entry]")].map(({ value }) => value);
  return focusAfter(allRows(), goneKeys);
}

function settle(fresh) {
  const field = document.getElementById("q");
  if (document.activeElement !== field) field.value = query();
  adopt();
  if (wasStale && !fresh.classList.contains("stale")) tell(words.files.fresh);
  const newRow = rowBy(fresh.dataset.new);
  if (newRow) return linkOf(newRow).focus();
  if (!isFocusLost() || !focusKeys.length) return;
  const row = focusKeys.map(rowBy).find(Boolean);
  (row ? linkOf(row) : document.getElementById("title")).focus();
}

// A closed dialog or a disabled button keeps the focus for a moment.
function isFocusLost() {
  const { activeElement: at } = document;
  return at === document.body || at.id === "main" || at.disabled || !at.checkVisibility();
}

// The server may notice only once the page has loaded that its reload has interrupted an upload to this folder.
const start = `["${document.getElementById("uploads")?.dataset.url}",`;
const uploadKeys = Object.keys(browser.readJson(UPLOADS_KEY) ?? {});
if (uploadKeys.some((key) => key.startsWith(start))) setTimeout(refresh, NOTICE_MS);

// Responses that arrive after the user has opened another folder must not change it.

document.addEventListener("htmx:beforeRequest", ({ detail }) => detail.target.id === "main" && open(detail.xhr));

document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.target.id === "main" && !isLast(event.detail.xhr)) event.preventDefault();
});

// The page no longer contains the source of a later response, so its events reach only the old #main.
document.addEventListener("htmx:beforeSwap", ({ detail: { shouldSwap, target } }) => {
  if (!shouldSwap || target.id !== "main") return;
  target.addEventListener("htmx:beforeOnLoad", showMessages);
  for (const name of ["htmx:sendError", "htmx:timeout"]) target.addEventListener(name, repeat);
});

const repeat = ({ type, detail }) => document.dispatchEvent(new CustomEvent(type, { detail }));

function showMessages(event) {
  const { detail } = event;
  const { verb } = detail.requestConfig;
  const [redirect, target] = ["HX-Redirect", "HX-Retarget"].map((name) => detail.xhr.getResponseHeader(name));
  const fate = fateOf({ verb, status: detail.xhr.status, redirect, target });
  if (fate !== "follow") event.preventDefault();
  if (fate === "fail") repeat({ type: "htmx:responseError", detail });
  if (fate !== "ask" && fate !== "tell") return;
  const page = new DOMParser().parseFromString(detail.xhr.response, "text/html");
  const toasts = [...page.querySelectorAll(".toast")].map(({ outerHTML }) => outerHTML);
  window.htmx.swap("#toasts", toasts.join(""), { swapStyle: "beforeend" });
  if (fate === "ask") showToast(page.getElementById("move-title").textContent);
  refresh();
}
