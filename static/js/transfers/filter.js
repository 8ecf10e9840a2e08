// Filter and sort: the fields decide what the next poll requests, and the page's address says so.
import { on, onCapture, onPlainClick } from "../events.js";
import "../selection/filter-keys.js";
import { hurry } from "./list.js";

const PAUSE_MS = 150;

let timer = 0;
let isNarrowing = false;
const field = () => document.getElementById("q");

// Clearing the field with Escape sends an event that doesn't bubble.
onCapture("input", ({ target }) => {
  if (target !== field()) return;
  clearTimeout(timer);
  timer = setTimeout(narrow, PAUSE_MS);
});
on(document, "change", ({ target }) => target.matches("#filter select") && narrow());
onPlainClick("a[data-whole]", () => {
  for (const each of document.querySelectorAll("#filter .input")) each.value = "";
  field().focus();
  narrow();
});

function narrow() {
  clearTimeout(timer);
  const form = /** @type {HTMLFormElement} */ (document.getElementById("filter"));
  const values = [...new FormData(form)].filter(([, value]) => value).map(([name, value]) => [name, String(value)]);
  const view = new URLSearchParams(values).toString();
  for (const each of document.querySelectorAll('input[name="view"]')) each.value = view;
  history.replaceState(history.state, "", view ? `?${view}` : location.pathname);
  isNarrowing = true;
  hurry();
}

// A filtered list that changes by itself says nothing.
document.addEventListener("transfers-shown", () => {
  if (!isNarrowing) return;
  isNarrowing = false;
  const [words] = document.getElementById("matches").childNodes;
  document.getElementById("said").textContent = words?.textContent.trim() ?? "";
});
