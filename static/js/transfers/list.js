// Keep the list up to date: htmx polls for changes, and morphs them into the page. This module adds
// what htmx can't do: time the polls, skip swaps during a press, restore the focus, and load more rows.
import { poll } from "../clock.js";
import { on, onCapture, onPlainClick } from "../events.js";
import { tell } from "../toasts.js";
import { words } from "../words.js";
import { notice } from "./notices.js";

const AHEAD = "800px 0px";

const form = document.getElementById("poll");
const list = () => document.getElementById("transfers");
const unreachable = document.getElementById("unreachable");
const isAway = () => document.querySelector("#away .banner") !== null;
let isDown = false;
let isDragging = false;
let isLate = false;
let wasAway = isAway();
let focus = null;

export const hurry = poll(
  () => form,
  () => Number(document.getElementById("seen").dataset.every),
);

// A drag also ends the press with which it began.
onCapture("pointerdown pointerup pointercancel dragstart dragend", ({ type }) => {
  if (type.startsWith("drag")) isDragging = type === "dragstart";
  else isDown = type === "pointerdown";
  if (isLate && !isHeld()) setTimeout(hurry);
  isLate &&= isHeld();
});
const isHeld = () => isDown || isDragging;
window.addEventListener("offline", () => (unreachable.hidden = false));

// Rows must not move while a finger or button is down.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.shouldSwap || detail.requestConfig.elt !== form) return;
  if (isHeld()) {
    detail.shouldSwap = false;
    isLate = true;
  }
  focus = readFocus();
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.requestConfig.elt !== form) return;
  notice();
  if (wasAway && !isAway()) tell(words.transfers.fresh);
  wasAway = isAway();
  refocus();
  watch();
  showHead();
  document.dispatchEvent(new CustomEvent("transfers-shown"));
});

on(form, "htmx:afterRequest", ({ detail: { xhr } }) => {
  unreachable.hidden = xhr.status >= 200 && xhr.status < 400;
});

function readFocus() {
  const element = document.activeElement;
  if (!list().contains(element)) return null;
  const row = element.closest(".transfer");
  return { element, row, next: row?.nextElementSibling ?? row?.previousElementSibling };
}

// A row that moved has lost the focus, so give it back. If the row is gone, focus its neighbor.
function refocus() {
  if (!focus || (document.activeElement !== document.body && document.activeElement.checkVisibility())) return;
  if (focus.element.isConnected && focus.element.checkVisibility()) return focus.element.focus({ preventScroll: true });
  const row = focus.row?.isConnected ? focus.row : focus.next;
  const target = row?.isConnected ? row.querySelector("a, button") : null;
  (target ?? document.getElementById("title")).focus({ preventScroll: true });
}

// Load more rows when the end of the list comes near.
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) widen(target);
  },
  { rootMargin: AHEAD },
);

function watch() {
  for (const link of document.querySelectorAll("a[data-more]")) observer.observe(link);
}

function widen(link) {
  observer.unobserve(link);
  for (const [name, count] of new URL(link.href).searchParams) form.elements[name].value = count;
  hurry();
}

onPlainClick("a[data-more]", widen);

// The head of the page has a button that selects rows, once there are some.
function showHead() {
  const button = document.getElementById("select");
  if (button) button.hidden = !document.querySelector("#groups .transfer");
}

watch();
