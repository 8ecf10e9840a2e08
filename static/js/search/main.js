import "../clock.js";
import "../files/on-first-use.js";
import { isForUs } from "../shortcuts.js";

const field = () => document.getElementById("query");

// Down moves the focus from the field through the results, and Up moves it back.
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const places = [field(), ...document.querySelectorAll("#results .name")];
  const at = places.indexOf(event.target);
  const next = at < 0 ? null : places[at + step];
  if (!next || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  event.preventDefault();
  next.focus();
});

// When newer results arrive, keep the focus on the same link, or at least on the same row.
let focused = { url: "", row: "" };
document.addEventListener("htmx:beforeSwap", () => {
  const { activeElement: at } = document;
  focused = { url: at.href, row: at.closest("#results li")?.id };
});
document.addEventListener("htmx:afterSwap", () => {
  if (!focused.row) return;
  const links = [...document.querySelectorAll(`#${focused.row} a`)];
  const same = links.find(({ href }) => href === focused.url) ?? links[0];
  (same ?? document.querySelector("#results h2")).focus();
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape" && target.matches("#results .name")) field().focus();
  if (key === "Escape" && target === field() && target.value) {
    event.preventDefault();
    target.value = "";
    target.dispatchEvent(new Event("input"));
  }
  if (key === "/" && isForUs(event)) {
    event.preventDefault();
    field().select();
  }
});
