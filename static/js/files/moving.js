// Move entries with a dialog, by dragging them onto a folder, and with cut, copy, and paste.
import { isOn } from "../shortcuts.js";
import { tab } from "../storage.js";
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { rowBy, rowOf } from "./rows.js";
import { chosenCount, clear } from "./selection.js";

const TYPE = "application/x-ferry-entries";
const PLACES = "#listing .window > [id^=folder-], .crumbs a[data-folder]";
const CLIPBOARD = "ferry-clipboard";

let dragSource = null;
let dropTarget = null;
let cutItems = ""; // the clipboard whose items are being pasted

const moveButton = () => document.getElementById("move-chosen");
const folder = () => document.getElementById("entry-menu").dataset.folder;
const placeOf = (node) => node.closest?.(PLACES) ?? null;
const idOf = (place) => place.dataset.folder ?? place.id.replace("folder-", "");
export const isMove = ({ dataTransfer }) => dataTransfer.types.includes(TYPE);

export function moveChosen() {
  moveButton()?.click();
}

export function moveRow(row) {
  if (moveButton()) send(moveButton().formAction, { entry: row.id }, "#move", "innerHTML");
}

// Return the chosen entries, or only `row` if it isn't among them.
function fieldsOf(row) {
  const isChosen = row?.querySelector(".tick")?.checked;
  if (row && !isChosen) return { count: 1, values: { entry: [row.id] } };
  const values = {};
  for (const [name, value] of new FormData(document.getElementById("entries"))) {
    if (name !== "csrfmiddlewaretoken") values[name] = [...(values[name] ?? []), value];
  }
  return { count: chosenCount(), values };
}

function send(address, values, target = "#listing", swap = "outerHTML") {
  return window.htmx.ajax("POST", new URL(address).pathname, { source: "#go", target, swap, values });
}

function place(act, address, values, to, cut = "") {
  cutItems = cut;
  send(address, { ...values, act, to, shown: folder() });
}

// If names are taken, the server asks first, and the user may cancel: keep the selection until then.
document.addEventListener("entries-placed", () => {
  clear();
  if (cutItems && cutItems === tab.read(CLIPBOARD)) tab.remove(CLIPBOARD);
  cutItems = "";
});
document.addEventListener("close", forgetPaste, true);

function forgetPaste({ target }) {
  if (target.id === "move") cutItems = "";
}

// Dragging

document.addEventListener("dragstart", ({ target, dataTransfer }) => {
  const row = rowOf(target);
  if (!row || !target.closest(".entry") || !moveButton()) return;
  dragSource = fieldsOf(row);
  dataTransfer.clearData();
  dataTransfer.setData(TYPE, "");
  dataTransfer.effectAllowed = "copyMove";
});

document.addEventListener("dragover", (event) => {
  const target = dragSource && isMove(event) ? targetOf(event.target) : null;
  mark(target);
  if (!target) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = actOf(event);
});

document.addEventListener("drop", (event) => {
  const target = dragSource && isMove(event) ? targetOf(event.target) : null;
  if (!target) return;
  event.preventDefault();
  place(actOf(event), moveButton().formAction, dragSource.values, idOf(target));
});

document.addEventListener("dragend", () => {
  mark(null);
  dragSource = null;
});

const actOf = ({ ctrlKey, altKey }) => (ctrlKey || altKey ? "copy" : "move");

function targetOf(node) {
  const target = placeOf(node);
  return target && !dragSource.values.entry?.includes(target.id) ? target : null;
}

function mark(target) {
  if (target === dropTarget) return;
  dropTarget?.classList.remove("over");
  target?.classList.add("over");
  dropTarget = target;
}

// Cut, copy, and paste

for (const [name, act] of [
  ["cut", "move"],
  ["copy", "copy"],
]) {
  document.addEventListener(name, (event) => {
    const row = rowOf(document.activeElement);
    if (!isForFiles(event) || !(row || chosenCount()) || !getSelection().isCollapsed) return;
    event.preventDefault();
    const { count, values } = fieldsOf(chosenCount() ? null : row);
    tab.write(CLIPBOARD, { act, values, from: moveButton().formAction });
    tell(fill(words.files[name], { count }));
    showCut();
  });
}

document.addEventListener("paste", (event) => {
  const clipboard = tab.readJson(CLIPBOARD);
  if (!isForFiles(event) || !clipboard) return;
  event.preventDefault();
  if (clipboard.act === "move" && clipboard.from === moveButton().formAction) return showToast(words.files.same);
  const cut = clipboard.act === "move" ? tab.read(CLIPBOARD) : "";
  place(clipboard.act, clipboard.from, clipboard.values, folder(), cut);
});

const isForFiles = ({ target, defaultPrevented }) =>
  moveButton() &&
  !defaultPrevented &&
  isOn() &&
  !target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable], dialog");

function showCut() {
  const clipboard = tab.readJson(CLIPBOARD);
  const isHere = clipboard?.act === "move" && clipboard.from === moveButton()?.formAction;
  for (const row of document.querySelectorAll("#listing .cut")) row.classList.remove("cut");
  for (const key of (isHere && clipboard.values.entry) || []) rowBy(key)?.classList.add("cut");
}

document.addEventListener("htmx:afterSettle", showCut);
showCut();
