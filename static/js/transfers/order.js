// Drag transfers to another place in the queue. For touch and keys, their menu has the same.
import { onCapture } from "../events.js";
import { chosenFields, isChosen } from "../selection/selection.js";
import { canAct, place } from "./acts.js";

const TYPE = "application/x-ferry-transfers";

let dragged = null;
let target = null;

const rowOf = (node) => node.closest?.("#active .transfer") ?? null;
// In any other order, a row that is dropped would go elsewhere.
const isQueue = () => !document.querySelector('#filter [name="sort"]')?.value;

// A finger that rests on a row selects it, so only a mouse drags.
onCapture("pointerdown", ({ target, pointerType }) => {
  const row = rowOf(target);
  if (!row) return;
  row.draggable = pointerType === "mouse" && isQueue() && canAct(row, "move") && !target.closest("a, button, label");
});

document.addEventListener("dragstart", ({ target, dataTransfer }) => {
  if (rowOf(target) !== target) return;
  dragged = target;
  dataTransfer.clearData();
  dataTransfer.setData(TYPE, "");
  dataTransfer.effectAllowed = "move";
});

document.addEventListener("dragover", (event) => {
  const row = dragged && rowOf(event.target);
  mark(row, row && sideOf(row, event));
  if (row) event.preventDefault();
});

document.addEventListener("drop", (event) => {
  const row = dragged && rowOf(event.target);
  if (!row) return;
  event.preventDefault();
  const above = sideOf(row, event) === "after" ? row : row.previousElementSibling;
  place(dragged, isChosen(dragged) ? chosenFields() : { entry: [dragged.id] }, above?.id ?? "");
});

document.addEventListener("dragend", () => {
  mark(null);
  dragged = null;
});

function sideOf(row, { clientY }) {
  const { top, height } = row.getBoundingClientRect();
  return clientY < top + height / 2 ? "before" : "after";
}

function mark(row, side = "") {
  if (target !== row) target?.removeAttribute("data-drop");
  row?.setAttribute("data-drop", side);
  target = row;
}
