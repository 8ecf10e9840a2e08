// Keys that walk through rows, and select them. A page adds its own.
import { isForUs } from "../shortcuts.js";
import "./filter-keys.js";
import { allRows, linkOf, rowBy, rowOf } from "./rows.js";
import { choose, chooseAll, chosenCount, clear, show, toggle } from "./selection.js";

let lastKey = "";

export const focusedRow = () => rowOf(document.activeElement);
export const press = (selector) => () => document.querySelector(selector)?.click();

// These also work with Shift, and repeat.
const WALKS = {
  j: (event) => walk(event, 1),
  k: (event) => walk(event, -1),
  ArrowDown: (event) => focusedRow() && walk(event, 1),
  ArrowUp: (event) => focusedRow() && walk(event, -1),
};

const SINGLE = {
  x: () => focusedRow() && toggle(focusedRow()),
  m: () => focusedRow()?.querySelector(".more")?.click(),
};

export function listenForKeys({ walks = {}, single = {} }) {
  const walksHere = { ...WALKS, ...walks };
  const singleHere = { ...SINGLE, ...single };
  document.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "Escape") return leave(event);
    if (key === "a" && !event.shiftKey && isForUs(event, { withCtrl: true })) return selectAll(event);
    if (!isForUs(event, { mayRepeat: true })) return;
    const action = walksHere[key] ?? (event.shiftKey || event.repeat ? null : singleHere[key]);
    if (action && action(event) !== false && (singleHere[key] || focusedRow())) event.preventDefault();
  });
}

document.addEventListener("focusin", ({ target }) => {
  lastKey = rowOf(target)?.id ?? lastKey;
});

export function walk({ shiftKey }, step) {
  const [row, rows] = [focusedRow(), allRows()];
  const next = row ? rows[rows.indexOf(row) + step] : (rowBy(lastKey) ?? rows[0]);
  if (!next) return;
  if (shiftKey && row) for (const each of [row, next]) choose(each, true);
  linkOf(next).focus();
  if (shiftKey) show();
}

function selectAll(event) {
  if (!document.querySelector(".tick[name=entry]")) return;
  event.preventDefault();
  chooseAll(true);
}

function leave(event) {
  const { target, defaultPrevented } = event;
  if (defaultPrevented || target.closest?.("input:not([type=checkbox]), dialog, [popover]")) return;
  if (chosenCount()) event.preventDefault();
  clear();
}
