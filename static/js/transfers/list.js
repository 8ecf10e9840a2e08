// The list as it stands, and what is new of it: one question for all transfers. The answer names
// the order where that changed and carries the rows that did; everything else stays untouched,
// and with it the focus, an open menu, and what somebody is pointing at.
import { live } from "../clock.js";
import { tell } from "../toasts.js";
import { patch } from "./patching.js";
import { notice } from "./notices.js";

const AHEAD = "800px 0px";
const MOST_NEEDED = 150;
const SLICE_MS = 8;

const list = () => document.getElementById("transfers");
const unreachable = () => document.getElementById("unreachable");
const sizes = new URLSearchParams(location.search);
const held = [];
let shown = Promise.resolve();
let begun = 0;
let isDown = false;
let wasAway = false;
let lastMissing = "";

export const hurry = live(ask, 0);

for (const [name, isPressed] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  document.addEventListener(name, () => {
    isDown = isPressed;
    if (!isDown) setTimeout(release);
  }, true);
}
window.addEventListener("offline", () => (unreachable().hidden = false));

async function ask() {
  const fresh = await fetched({});
  if (fresh) await take(fresh);
  return Number(list().dataset.every);
}

async function fetched({ need = [] }) {
  const { url, revision } = list().dataset;
  const query = new URLSearchParams({ seen: revision });
  for (const name of ["active", "failed", "done"]) if (sizes.has(name)) query.set(name, sizes.get(name));
  for (const key of need) query.append("need", key);
  const answer = await answerOf(`${url}?${query}`);
  unreachable().hidden = true;
  // A page that still shows files on their way is not left: a browser gives them out only once.
  if (answer.status === 204 || answer.headers.has("HX-Redirect")) return null;
  return parsed(await answer.text());
}

async function answerOf(url) {
  try {
    const answer = await fetch(url, { headers: { "HX-Request": "true", "HX-Current-URL": location.href } });
    const elsewhere = answer.headers.get("HX-Redirect");
    if (elsewhere && !document.querySelector("#sending-files:not([hidden])")) {
      location.assign(elsewhere);
      await new Promise(() => {});
    }
    if (!answer.ok) throw new Error(String(answer.status));
    return answer;
  } catch (error) {
    unreachable().hidden = false;
    throw error;
  }
}

function parsed(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

// A row does not move away under a finger.
async function take(fresh) {
  held.push(fresh);
  if (!isDown) await release();
}

function release() {
  if (isDown) return shown;
  for (const fresh of held.splice(0)) shown = shown.catch(() => {}).then(() => show(fresh));
  return shown;
}

async function show(fresh) {
  begun = performance.now();
  const next = fresh.getElementById("transfers");
  const focus = focused();
  notice(next);
  for (const part of next.querySelectorAll("[data-part]")) {
    const old = list().querySelector(`[data-part="${part.dataset.part}"]`);
    if (old.innerHTML !== part.innerHTML) old.innerHTML = part.innerHTML;
  }
  const isWhole = "whole" in next.dataset;
  const rows = new Map([...next.querySelectorAll("[data-rows] > li")].map((row) => [row.id, row]));
  const missing = [];
  for (const part of next.querySelectorAll("[data-rows]")) missing.push(...(await arrange(part, rows, isWhole)));
  for (const name of ["under-way", "failed", "ended", "ways"]) document.getElementById(name).hidden = fresh.getElementById(name).hidden;
  for (const name of ["summary", "running", "meter"]) renew(name, fresh.getElementById(name));
  Object.assign(list().dataset, next.dataset);
  delete list().dataset.whole;
  document.title = next.dataset.title;
  const isAway = next.querySelector('[data-part="away"] .banner') !== null;
  if (wasAway && !isAway) tell(next.dataset.back);
  wasAway = isAway;
  refocus(focus);
  watch();
  document.dispatchEvent(new CustomEvent("transfers-shown"));
  if (missing.length) fill(missing);
  else lastMissing = "";
}

// Rows that moved up into the window without a change of their own.
async function fill(missing) {
  const isAgain = missing.join() === lastMissing;
  lastMissing = missing.join();
  try {
    if (isAgain) throw new Error("these rows are nowhere");
    await take(await fetched({ need: missing.slice(0, MOST_NEEDED) }));
  } catch {
    list().dataset.revision = "";
  }
}

// Many rows at once must not hold up who is typing or scrolling.
async function breath() {
  if (performance.now() - begun < SLICE_MS) return;
  await new Promise((resolve) => setTimeout(resolve));
  begun = performance.now();
}

async function arrange(part, rows, isWhole) {
  const rowList = document.getElementById(part.id);
  rowList.className = part.className;
  const { order } = part.dataset;
  const keys = order === undefined ? [...rows.keys()].filter((key) => rowList.children.namedItem(key)) : order.split(" ").filter(Boolean);
  if (order === undefined && !isWhole) {
    for (const key of keys) {
      patch(document.getElementById(key), rows.get(key));
      await breath();
    }
    return [];
  }
  return place(rowList, order === undefined ? [] : keys, rows);
}

async function place(rowList, keys, rows) {
  const missing = [];
  const wanted = new Set(keys);
  for (const row of [...rowList.children]) if (!wanted.has(row.id)) row.remove();
  let at = rowList.firstElementChild;
  for (const key of keys) {
    const row = rowFor(key, rows);
    if (!row) {
      missing.push(key);
      continue;
    }
    if (row === at) at = at.nextElementSibling;
    else rowList.insertBefore(row, at);
    await breath();
  }
  return missing;
}

function rowFor(key, rows) {
  const old = document.getElementById(key);
  const fresh = rows.get(key);
  if (old && fresh) patch(old, fresh);
  return old ?? fresh ?? null;
}

function renew(id, fresh) {
  const old = document.getElementById(id);
  if (old && fresh) patch(old, fresh);
}

function focused() {
  const element = document.activeElement;
  const row = element?.closest(".transfer");
  return list().contains(element) ? { element, row, next: row?.nextElementSibling ?? row?.previousElementSibling } : null;
}

// A row that was put elsewhere loses the focus for a moment; of one that is gone the next one gets it.
function refocus(focus) {
  if (!focus || (document.activeElement !== document.body && document.activeElement.checkVisibility())) return;
  if (focus.element.isConnected && focus.element.checkVisibility()) return focus.element.focus({ preventScroll: true });
  const row = focus.row?.isConnected ? focus.row : focus.next;
  const target = row?.isConnected ? row.querySelector("a, button") : null;
  (target ?? document.getElementById("title")).focus({ preventScroll: true });
}

// What lies below is asked for when it comes near.
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) widen(target);
}, { rootMargin: AHEAD });

function watch() {
  for (const link of document.querySelectorAll("a[data-more]")) observer.observe(link);
}

function widen(link) {
  observer.unobserve(link);
  const { searchParams } = new URL(link.href);
  for (const [name, count] of searchParams) sizes.set(name, count);
  hurry();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  widen(link);
});

wasAway = document.querySelector('[data-part="away"] .banner') !== null;
document.title = list().dataset.title;
watch();
