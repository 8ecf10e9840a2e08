// Keys of the field that narrows a list.
import { on } from "../events.js";
import { isForUs } from "../shortcuts.js";
import { allRows, linkOf } from "./rows.js";

on(document, "keydown", (event) => {
  const field = document.getElementById("q");
  if (event.key === "Escape" && event.target === field) return leave(event);
  // If the service can search, "/" opens the search instead, and never gets here.
  if (!field || !["f", "F", "/"].includes(event.key) || event.shiftKey || !isForUs(event)) return;
  event.preventDefault();
  field.focus();
});

function leave(event) {
  const { target: field } = event;
  event.preventDefault();
  if (!field.value) return field.blur();
  field.value = "";
  field.dispatchEvent(new Event("input"));
}

// Typing already filters, so Enter focuses the first match.
on(document, "submit", (event) => {
  if (event.target.id !== "filter") return;
  event.preventDefault();
  const [first] = allRows();
  if (first) linkOf(first).focus();
});
