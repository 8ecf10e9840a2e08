// The selection is stored in the page: ticks, hidden fields for chosen rows that aren't loaded, and a
// field that chooses all matching rows, including those not loaded yet, except for the spared ones.

import { formatSize } from "../units.js";
import { fill, words } from "../words.js";
import { allRows, rowBy, rowOf } from "./rows.js";

const HOLD_MS = 400;
const SLIP_PX = 10;
const TICK = '#listing .tick[name="entry"]';

let lastKey = "";
let isRange = false;
let hold = null;
let isHeld = false;

export const main = () => document.getElementById("main");
const form = () => document.getElementById("entries");
const everyField = () => document.getElementById("every");
const keptFields = () => document.getElementById("kept");
const sparedFields = () => document.getElementById("spared");
const headTick = () => document.getElementById("all");
const countAll = () => Number(document.getElementById("listing").dataset.count);
const tickOf = (row) => row.querySelector(".tick");
const isAll = () => !everyField().disabled;
const isSelecting = () => main().classList.contains("selecting");

export function chosenCount() {
  if (isAll()) return countAll() - sparedFields().childElementCount;
  return document.querySelectorAll(`${TICK}:checked`).length + keptFields().childElementCount;
}

export function onlyChosenRow() {
  const ticks = document.querySelectorAll(`${TICK}:checked`);
  return chosenCount() === 1 && ticks.length ? rowOf(ticks[0]) : null;
}

export function choose(row, isChosen) {
  const tick = tickOf(row);
  if (!tick) return;
  tick.checked = isChosen;
  if (isAll()) spare(row.id, !isChosen);
  lastKey = row.id;
}

function spare(key, isSpared) {
  const fields = [...sparedFields().children];
  fields.find(({ value }) => value === key)?.remove();
  if (isSpared) sparedFields().append(hiddenField("but", key));
  if (!chosenCount()) chooseNone();
}

const hiddenField = (name, value) => Object.assign(document.createElement("input"), { type: "hidden", name, value });

function chooseNone() {
  keptFields().replaceChildren();
  sparedFields().replaceChildren();
  everyField().disabled = true;
}

export function toggle(row) {
  const tick = tickOf(row);
  if (tick) choose(row, !tick.checked);
  show();
}

export function startSelecting() {
  main().classList.add("selecting");
  show();
}

export function clear() {
  form().reset();
}

// Keep rows chosen when they leave the page.
export function keep(rows) {
  if (isAll()) return;
  for (const row of rows) {
    if (!tickOf(row)?.checked) continue;
    const field = hiddenField("entry", row.id);
    field.dataset.bytes = row.dataset.bytes;
    keptFields().append(field);
  }
}

export function adopt(root) {
  const away = new Map([...keptFields().children].map((field) => [field.value, field]));
  const left = new Set([...sparedFields().children].map((field) => field.value));
  for (const tick of root.querySelectorAll('.tick[name="entry"]')) {
    const field = away.get(tick.value);
    if (field || (isAll() && !left.has(tick.value))) tick.checked = true;
    field?.remove();
  }
  show();
}

export function show() {
  const count = form() ? chosenCount() : 0;
  // Don't use :has() for this: the browser would restyle every row for each picture that loads.
  document.querySelector(".app").classList.toggle("choosing", count > 0 || isSelecting());
  if (!form()) return;
  const [number, size] = form().querySelector(".selection-count").children;
  const countText = fill(words.files.chosen, { count });
  if (number.textContent !== countText) number.textContent = countText;
  size.textContent = isAll() || !count ? "" : chosenSize();
  main().classList.toggle("chosen", count > 0);
  for (const button of form().querySelectorAll(".actionbar .btn:not(.all)")) button.disabled = !count;
  const rename = document.getElementById("rename-chosen");
  if (rename) rename.disabled = !onlyChosenRow();
  document.getElementById("select")?.setAttribute("aria-pressed", String(isSelecting()));
  const head = headTick();
  if (!head) return;
  head.checked = count > 0 && count === countAll();
  head.indeterminate = count > 0 && !head.checked;
}

function chosenSize() {
  const holders = [...document.querySelectorAll(`${TICK}:checked`)].map(rowOf).concat([...keptFields().children]);
  if (holders.some(({ dataset }) => dataset.bytes === "")) return "";
  const sizes = holders.map(({ dataset }) => Number(dataset.bytes));
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sum ? formatSize(sum) : "";
}

function chooseAll(isChosen) {
  const rows = allRows();
  for (const row of rows) {
    const tick = tickOf(row);
    if (tick) tick.checked = isChosen;
  }
  chooseNone();
  everyField().disabled = !isChosen || rows.length >= countAll();
  show();
}

function chooseRange(row, isChosen) {
  const rows = allRows();
  const from = rows.indexOf(rowBy(lastKey) ?? row);
  const to = rows.indexOf(row);
  for (const each of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) choose(each, isChosen);
}

document.addEventListener("click", (event) => {
  const { target, shiftKey } = event;
  if (target.closest(".hit") && !target.matches(".tick")) isRange = shiftKey;
  else if (target.matches(TICK)) {
    const row = rowOf(target);
    if ((shiftKey || isRange) && lastKey) chooseRange(row, target.checked);
    isRange = false;
    choose(row, target.checked);
    show();
  } else if (target.id === "choose-all") chooseAll(chosenCount() < countAll());
  else if (target.closest("#select")) {
    if (isSelecting()) clear();
    else startSelecting();
  }
});

document.addEventListener("change", ({ target }) => {
  if (target.id === "all") chooseAll(target.checked);
});

document.addEventListener("reset", ({ target }) => {
  if (target !== form()) return;
  chooseNone();
  main().classList.remove("selecting");
  setTimeout(show);
});

// While selecting by touch, a tap on a name chooses the row. Capture it before htmx opens a folder.
document.addEventListener(
  "click",
  (event) => {
    const row = rowOf(event.target);
    if (!row || !event.target.closest(".entry, .more") || !(isHeld || isSelecting())) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isHeld) toggle(row);
    isHeld = false;
  },
  true,
);

document.addEventListener("pointerdown", ({ target, pointerType, clientX, clientY }) => {
  const row = rowOf(target);
  drop();
  isHeld = false;
  if (!row || pointerType !== "touch" || !target.closest(".entry")) return;
  hold = { x: clientX, y: clientY, timer: setTimeout(take, HOLD_MS, row) };
});

document.addEventListener("pointermove", ({ clientX, clientY }) => {
  if (hold && Math.hypot(clientX - hold.x, clientY - hold.y) > SLIP_PX) drop();
});
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, drop);
document.addEventListener("scroll", drop, { passive: true });

document.addEventListener("contextmenu", (event) => {
  if (hold || isHeld) event.preventDefault();
});

function take(row) {
  hold = null;
  isHeld = true;
  navigator.vibrate?.(10);
  startSelecting();
  toggle(row);
}

function drop() {
  clearTimeout(hold?.timer);
  hold = null;
}

show();
