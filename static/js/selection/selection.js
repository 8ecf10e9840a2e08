// Show what is chosen, and choose by clicks and touch.
import { setText } from "../elements.js";
import { onCapture } from "../events.js";
import { formatSize } from "../sizes.js";
import { fill, words } from "../words.js";
import { Selection } from "./chosen.js";
import { allRows, query, rowOf, total } from "./rows.js";

const TICK = '.tick[name="entry"]';
// What a finger taps to choose its row.
const isOnSurface = (target) => !target.closest(".hit") && target.closest(".entry, .transfer, .more");

let selection = new Selection();
let isRange = false;

const main = () => document.getElementById("main");
const form = () => document.getElementById("entries");
export const tickOf = (row) => row.querySelector(TICK);
const tickableRows = () => allRows().filter(tickOf);

// Each folder that opens has its own selection.
document.addEventListener("htmx:load", ({ target }) => {
  if (target.id !== "main") return;
  selection = new Selection();
  adopt();
});

export const chosenCount = () => selection.count;
export const isChosen = (row) => selection.has(row.id);

export function onlyChosenRow() {
  return (chosenCount() === 1 && allRows().find(isChosen)) || null;
}

// Return the fields with which the form sends the selection.
export function chosenFields() {
  const fields = new FormData(form());
  fields.delete("csrfmiddlewaretoken");
  return Object.fromEntries([...new Set(fields.keys())].map((name) => [name, fields.getAll(name)]));
}

export function choose(row, shallChoose) {
  if (tickOf(row)) selection.choose(row, shallChoose);
}

export function toggle(row) {
  choose(row, !isChosen(row));
  show();
}

// Choose by touch, beginning with this row.
export function startSelecting(row) {
  selection.isSelecting = true;
  toggle(row);
}

export function clear() {
  selection.clear();
  show();
}

export function adopt() {
  selection.adopt(allRows(), total(), query());
  show();
}

export function show() {
  const { count, total, bytes, isSelecting } = selection;
  // Don't use :has() for this: the browser would restyle every row for each picture that loads.
  document.querySelector(".app").classList.toggle("choosing", count > 0 || isSelecting);
  if (!form()) return;
  for (const row of tickableRows()) tickOf(row).checked = selection.has(row.id);
  const [number, size] = form().querySelector(".selection-count").children;
  setText(number, fill(words.selection.chosen, { count }));
  size.textContent = bytes ? formatSize(bytes) : "";
  main().classList.toggle("chosen", count > 0);
  main().classList.toggle("selecting", isSelecting);
  for (const button of form().querySelectorAll(".actionbar .btn:not(.all)")) button.disabled = !count;
  const rename = document.getElementById("rename-chosen");
  if (rename) rename.disabled = !onlyChosenRow();
  document.getElementById("select")?.setAttribute("aria-pressed", String(isSelecting));
  document.dispatchEvent(new CustomEvent("selection-shown"));
  const head = document.getElementById("all");
  if (!head) return;
  head.checked = count > 0 && count === total;
  head.indeterminate = count > 0 && !head.checked;
}

export function chooseAll(shallChoose) {
  selection.adopt(allRows(), total(), query());
  selection.chooseAll(tickableRows(), shallChoose);
  show();
}

document.addEventListener("click", (event) => {
  const { target, shiftKey } = event;
  if (target.closest(".hit") && !target.matches(".tick")) isRange = shiftKey;
  else if (target.matches(TICK)) {
    chooseUpTo(rowOf(target), { isRange: shiftKey || isRange, shallChoose: target.checked });
    isRange = false;
  } else if (isChoice(event)) {
    const row = rowOf(target);
    chooseUpTo(row, { isRange: shiftKey, shallChoose: shiftKey || !isChosen(row) });
  } else if (target.id === "choose-all") chooseAll(chosenCount() < total());
  else if (target.closest("#select")) {
    selection.isSelecting = !selection.isSelecting;
    if (selection.isSelecting) show();
    else clear();
  }
});

function chooseUpTo(row, { isRange, shallChoose }) {
  if (!tickOf(row)) return;
  selection.chooseRange(isRange ? tickableRows() : [row], row, shallChoose);
  show();
}

// A click with Ctrl or Shift beside a row's links and buttons.
function isChoice({ target, ctrlKey, metaKey, shiftKey }) {
  return (ctrlKey || metaKey || shiftKey) && rowOf(target) && !target.closest("a, button, label");
}

// Such a click would also select text.
document.addEventListener("mousedown", (event) => event.shiftKey && isChoice(event) && event.preventDefault());

document.addEventListener("change", ({ target }) => target.id === "all" && chooseAll(target.checked));
document.addEventListener("reset", ({ target }) => target === form() && clear());

document.addEventListener("formdata", ({ target, formData }) => {
  if (target !== form()) return;
  for (const [name, value] of selection.fields(formData.getAll("entry"))) formData.append(name, value);
});

// While selecting by touch, a tap on a row chooses it. Capture it before htmx opens a folder.
onCapture("click", (event) => {
  const row = rowOf(event.target);
  if (!selection.isSelecting || !row || !isOnSurface(event.target)) return;
  event.preventDefault();
  event.stopPropagation();
  toggle(row);
});

adopt();
