import { isForUs } from "../shortcuts.js";
import { rename } from "./on-first-use.js";
import { deleteRow, moveRow } from "./row-acts.js";
import { allRows, linkOf, rowBy, rowOf } from "./rows.js";
import { choose, chosenCount, clear, onlyChosenRow, show, toggle } from "./selection.js";

let lastKey = "";

const focusedRow = () => rowOf(document.activeElement);
const filter = () => document.getElementById("q")?.focus();
const press = (selector) => () => document.querySelector(selector)?.click();

const ACTIONS = {
  j: (event) => move(event, 1),
  k: (event) => move(event, -1),
  ArrowDown: (event) => focusedRow() && move(event, toLine(1)),
  ArrowUp: (event) => focusedRow() && move(event, toLine(-1)),
  ArrowRight: (event) => focusedRow() && isGrid() && move(event, forward()),
  ArrowLeft: (event) => focusedRow() && isGrid() && move(event, -forward()),
};

const SINGLE = {
  x: () => focusedRow() && toggle(focusedRow()),
  u: press("#up"),
  Backspace: press("#up"),
  n: press("#new"),
  m: () => focusedRow()?.querySelector(".more")?.click(),
  f: filter,
  v: () => actOn(moveRow, "#move-chosen"),
  // If the service can search, "/" opens the search instead, and never gets here.
  "/": filter,
  F2: () => {
    const row = onlyChosenRow() ?? focusedRow();
    if (row) rename(row);
  },
  Delete: () => actOn(deleteRow, "#delete-chosen"),
};

function actOn(actOnRow, button) {
  if (chosenCount()) press(button)();
  else if (focusedRow()) actOnRow(focusedRow());
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return leave(event);
  if (!isForUs(event, { mayRepeat: true })) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = ACTIONS[key] ?? (event.shiftKey || event.repeat ? null : SINGLE[key]);
  if (action && action(event) !== false && (SINGLE[key] || focusedRow())) event.preventDefault();
});

document.addEventListener("focusin", ({ target }) => {
  lastKey = rowOf(target)?.id ?? lastKey;
});

function move({ shiftKey }, step) {
  const [row, rows] = [focusedRow(), allRows()];
  const next = row ? rows[rows.indexOf(row) + step] : (rowBy(lastKey) ?? rows[0]);
  if (!next) return;
  if (shiftKey && row) for (const each of [row, next]) choose(each, true);
  linkOf(next).focus();
  if (shiftKey) show();
}

const forward = () => (document.documentElement.dir === "rtl" ? -1 : 1);
const isGrid = () => document.querySelector("#listing .grid") !== null;

// Return the steps to the nearest tile of the next line. Lines that end a section are shorter.
function toLine(step) {
  const rows = allRows();
  const at = rows.indexOf(focusedRow());
  const top = (place) => rows[place]?.offsetTop;
  const apart = (place) => Math.abs(rows[place].offsetLeft - rows[at].offsetLeft);
  let next = at;
  while (top(next) === top(at)) next += step;
  for (let place = next; rows[place] && top(place) === top(next); place += step)
    if (apart(place) < apart(next)) next = place;
  return next - at;
}

function leave(event) {
  const { target, defaultPrevented } = event;
  if (target.id === "q") leaveFilter(event);
  else if (!defaultPrevented && !target.closest?.("input:not([type=checkbox]), dialog, [popover]")) clear();
}

function leaveFilter(event) {
  const { target: field } = event;
  event.preventDefault();
  if (!field.value) return field.blur();
  field.value = "";
  field.dispatchEvent(new Event("input"));
}

// Typing already filters, so Enter focuses the first match.
document.addEventListener("submit", (event) => {
  if (event.target.id !== "filter") return;
  event.preventDefault();
  const [first] = allRows();
  if (first) linkOf(first).focus();
});
