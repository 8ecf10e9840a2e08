// Show what is chosen, and choose by clicks and touch.
import { setText } from "../elements.js";
import { on, onCapture } from "../events.js";
import { formatSize } from "../sizes.js";
import { fill, words } from "../words.js";
import { Selection } from "./chosen.js";
import { Hold } from "./hold.js";
import { allRows, query, rowOf } from "./rows.js";

const TICK = '#listing .tick[name="entry"]';

let selection = new Selection();
let isRange = false;
const hold = new Hold();

const main = () => document.getElementById("main");
const form = () => document.getElementById("entries");
const tickOf = (row) => row.querySelector(".tick");
const tickableRows = () => allRows().filter(tickOf);

// Each folder that opens has its own selection.
document.addEventListener("htmx:load", ({ target }) => {
  if (target.id !== "main") return;
  selection = new Selection();
  adopt();
});

export const chosenCount = () => selection.count;

export function onlyChosenRow() {
  return (chosenCount() === 1 && allRows().find(({ id }) => selection.has(id))) || null;
}

export function choose(row, isChosen) {
  if (tickOf(row)) selection.choose(row, isChosen);
}

export function toggle(row) {
  choose(row, !selection.has(row.id));
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
  selection.adopt(allRows(), Number(document.getElementById("listing")?.dataset.count), query());
  show();
}

export function show() {
  const { count, total, bytes, isSelecting } = selection;
  // Don't use :has() for this: the browser would restyle every row for each picture that loads.
  document.querySelector(".app").classList.toggle("choosing", count > 0 || isSelecting);
  if (!form()) return;
  for (const row of tickableRows()) tickOf(row).checked = selection.has(row.id);
  const [number, size] = form().querySelector(".selection-count").children;
  setText(number, fill(words.files.chosen, { count }));
  size.textContent = bytes ? formatSize(bytes) : "";
  main().classList.toggle("chosen", count > 0);
  main().classList.toggle("selecting", isSelecting);
  for (const button of form().querySelectorAll(".actionbar .btn:not(.all)")) button.disabled = !count;
  const rename = document.getElementById("rename-chosen");
  if (rename) rename.disabled = !onlyChosenRow();
  document.getElementById("select")?.setAttribute("aria-pressed", String(isSelecting));
  const head = document.getElementById("all");
  if (!head) return;
  head.checked = count > 0 && count === total;
  head.indeterminate = count > 0 && !head.checked;
}

function chooseAll(isChosen) {
  selection.chooseAll(tickableRows(), isChosen);
  show();
}

document.addEventListener("click", (event) => {
  const { target, shiftKey } = event;
  if (target.closest(".hit") && !target.matches(".tick")) isRange = shiftKey;
  else if (target.matches(TICK)) {
    const row = rowOf(target);
    selection.chooseRange(shiftKey || isRange ? tickableRows() : [row], row, target.checked);
    isRange = false;
    show();
  } else if (target.id === "choose-all") chooseAll(chosenCount() < selection.total);
  else if (target.closest("#select")) {
    selection.isSelecting = !selection.isSelecting;
    if (selection.isSelecting) show();
    else clear();
  }
});

document.addEventListener("change", ({ target }) => target.id === "all" && chooseAll(target.checked));
document.addEventListener("reset", ({ target }) => target === form() && clear());

document.addEventListener("formdata", ({ target, formData }) => {
  if (target !== form()) return;
  for (const [name, value] of selection.fields(formData.getAll("entry"))) formData.append(name, value);
});

// While selecting by touch, a tap on a name chooses the row. Capture it before htmx opens a folder.
onCapture("click", (event) => {
  const row = rowOf(event.target);
  if (!row || !event.target.closest(".entry, .more") || !(hold.isDone || selection.isSelecting)) return;
  event.preventDefault();
  event.stopPropagation();
  if (!hold.isDone) toggle(row);
  hold.isDone = false;
});

document.addEventListener("pointerdown", (event) => {
  const row = rowOf(event.target);
  hold.end();
  hold.isDone = false;
  if (row && event.pointerType === "touch" && event.target.closest(".entry")) {
    hold.start(event, () => {
      navigator.vibrate?.(10);
      startSelecting(row);
    });
  }
});

document.addEventListener("pointermove", (event) => hold.move(event));
on(document, "pointerup pointercancel scroll", () => hold.end());
document.addEventListener("contextmenu", (event) => hold.isActive && event.preventDefault());

adopt();
