import { isForUs } from "../shortcuts.js";

const field = () => document.getElementById("query");
const links = () => [...document.querySelectorAll("#results .name")];

// Down leads from the field through the results, and Up back to the field.
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { target } = event;
  if (!step || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (target !== field() && !target.matches("#results .name")) return;
  const places = [field(), ...links()];
  const next = places[places.indexOf(target) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
});

// Results that arrive later leave the focus on the same file or folder.
let focused = "";
document.addEventListener("htmx:beforeSwap", () => {
  focused = document.activeElement.closest("#results a")?.href ?? "";
});
document.addEventListener("htmx:afterSwap", () => {
  if (!focused) return;
  const same = [...document.querySelectorAll("#results a")].find(({ href }) => href === focused);
  (same ?? field()).focus();
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape" && target.matches("#results .name")) field().focus();
  else if (key === "Escape" && target === field() && target.value) empty(event);
  else if (key === "/" && isForUs(event)) focus(event);
});

function empty(event) {
  event.preventDefault();
  event.target.value = "";
  event.target.dispatchEvent(new Event("input"));
}

function focus(event) {
  event.preventDefault();
  field().select();
}
