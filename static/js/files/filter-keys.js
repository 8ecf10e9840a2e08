import { allRows, linkOf } from "./rows.js";

// Typing already filters, so Enter focuses the first match.
document.addEventListener("submit", (event) => {
  if (event.target.id !== "filter") return;
  event.preventDefault();
  const [first] = allRows();
  if (first) linkOf(first).focus();
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key !== "Escape" || target.id !== "q") return;
  event.preventDefault();
  if (!target.value) return target.blur();
  target.value = "";
  target.dispatchEvent(new Event("input"));
});
