import { on } from "../events.js";

// Load a picture by https, again and again: it shows whether this browser trusts Ferry's certificate.
const PAUSE_MILLISECONDS = 3000;
const check = document.querySelector("[data-probe]");
let state = "unknown";

function probe() {
  if (document.hidden || state === "yes") return;
  const picture = new Image();
  on(picture, "load", () => show("yes"));
  on(picture, "error", () => show("no"));
  picture.src = `${check.dataset.probe}?${Date.now()}`;
}

function show(next) {
  if (state === "yes" || state === next) return;
  const wasFollowingSteps = state === "no";
  state = next;
  for (const each of check.children) each.hidden = each.dataset.when !== state;
  document.querySelector("[data-steps]")?.toggleAttribute("hidden", state === "yes");
  // Someone who comes back with the Back button finds it trusted, and stays.
  if (state === "yes" && wasFollowingSteps) proceed(document.querySelector("[data-continue]"));
}

function proceed(way) {
  if (way.matches("form")) way.requestSubmit();
  else way.click();
}

on(document, "visibilitychange", probe);
setInterval(probe, PAUSE_MILLISECONDS);
probe();
