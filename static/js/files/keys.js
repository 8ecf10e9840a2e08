import { isForUs } from "../shortcuts.js";
import { deleteChosen, deleteRow } from "./deleting.js";
import { moveChosen, moveRow } from "./moving.js";
import { rename } from "./on-first-use.js";
import { allRows, beside, linkOf, rowBy, rowOf } from "./rows.js";
import { choose, chosenCount, clear, main, onlyChosen, show, toggle } from "./selection.js";

let lastKey = "";

const present = () => rowOf(document.activeElement);
const filter = () => document.getElementById("q")?.focus();
const press = (selector) => () => document.querySelector(selector)?.click();

const ACTS = {
  j: (event) => move(event, 1),
  k: (event) => move(event, -1),
  ArrowDown: (event) => present() && move(event, toLine(1)),
  ArrowUp: (event) => present() && move(event, toLine(-1)),
  ArrowRight: (event) => present() && isGrid() && move(event, forward()),
  ArrowLeft: (event) => present() && isGrid() && move(event, -forward()),
};

const SINGLE = {
  x: () => present() && toggle(present()),
  u: press("#up"),
  Backspace: press("#up"),
  n: press("#new"),
  m: () => present()?.querySelector(".more")?.click(),
  f: filter,
  v: () => {
    if (chosenCount()) moveChosen();
    else if (present()) moveRow(present());
  },
  // Where the service can search, "/" leads to the search, and never gets here.
  "/": filter,
  F2: () => {
    const row = onlyChosen() ?? present();
    if (row) rename(row);
  },
  Delete: () => {
    if (chosenCount()) deleteChosen();
    else if (present()) deleteRow(present());
  },
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return leave(event);
  if (!isForUs(event, { mayRepeat: true })) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const act = ACTS[key] ?? (event.shiftKey || event.repeat ? null : SINGLE[key]);
  if (act && act(event) !== false && (SINGLE[key] || present())) event.preventDefault();
});

document.addEventListener("focusin", ({ target }) => {
  lastKey = rowOf(target)?.id ?? lastKey;
});

function move({ shiftKey }, step) {
  const row = present();
  const next = row ? beside(row, step) : (rowBy(lastKey) ?? allRows()[0]);
  if (!next) return;
  if (shiftKey && row) for (const each of [row, next]) choose(each, true);
  linkOf(next).focus();
  if (shiftKey) show();
}

const isGrid = () => document.querySelector("#listing .grid") !== null;

// The steps to the nearest tile of the next line: lines that end a section are shorter.
function toLine(step) {
  const rows = allRows();
  const at = rows.indexOf(present());
  const top = (place) => rows[place]?.offsetTop;
  const apart = (place) => Math.abs(rows[place].offsetLeft - rows[at].offsetLeft);
  let next = at;
  while (top(next) === top(at)) next += step;
  for (let place = next; rows[place] && top(place) === top(next); place += step)
    if (apart(place) < apart(next)) next = place;
  return next - at;
}

function forward() {
  return document.documentElement.dir === "rtl" ? -1 : 1;
}

function leave({ target, defaultPrevented }) {
  if (defaultPrevented || target.closest?.("input:not([type=checkbox]), dialog, [popover]")) return;
  if (chosenCount() || main().classList.contains("selecting")) clear();
}
