// Move entries with a dialog, by dragging them onto a folder, and with cut, copy, and paste.
import { rowBy, rowOf } from "../selection/rows.js";
import { chosenCount, chosenFields, clear } from "../selection/selection.js";
import { isForUs } from "../shortcuts.js";
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import * as clipboard from "./clipboard.js";
import { folder, post } from "./rows.js";

const TYPE = "application/x-ferry-entries";
const PLACES = "#listing .window > [id^=folder-], .crumbs a[data-folder]";

let dragged = null;

const moveButton = () => document.getElementById("move-chosen");
const placeOf = (node) => node.closest?.(PLACES) ?? null;
const idOf = (place) => place.dataset.folder ?? place.id.replace("folder-", "");
export const isMove = ({ dataTransfer }) => dataTransfer.types.includes(TYPE);

// Return the chosen entries, or only `row` if it isn't among them.
function fieldsOf(row) {
  if (row && !row.querySelector(".tick")?.checked) return { count: 1, values: { entry: [row.id] } };
  return { count: chosenCount(), values: chosenFields() };
}

// If names are taken, the server asks first, and the user may cancel: keep the selection until then.
document.addEventListener("entries-placed", () => {
  clear();
  clipboard.finishPaste();
});
document.addEventListener("close", ({ target }) => target.id === "move" && clipboard.forgetPaste(), true);

// Dragging

document.addEventListener("dragstart", ({ target, dataTransfer }) => {
  const row = rowOf(target);
  if (!row || !target.closest(".entry") || !moveButton()) return;
  dragged = fieldsOf(row).values;
  dataTransfer.clearData();
  dataTransfer.setData(TYPE, "");
  dataTransfer.effectAllowed = "copyMove";
});

document.addEventListener("dragover", (event) => {
  const act = actOf(event);
  mark(act && placeOf(event.target));
  if (!act) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = act;
});

document.addEventListener("drop", (event) => {
  const act = actOf(event);
  if (!act) return;
  event.preventDefault();
  clipboard.forgetPaste();
  post(moveButton().formAction, { ...dragged, act, to: idOf(placeOf(event.target)), shown: folder() });
});

document.addEventListener("dragend", () => {
  mark(null);
  dragged = null;
});

function actOf(event) {
  const target = dragged && isMove(event) ? placeOf(event.target) : null;
  return target && clipboard.dropAct(event, dragged, target.id);
}

function mark(place) {
  document.querySelector(".over")?.classList.remove("over");
  place?.classList.add("over");
}

// Cut, copy, and paste

for (const [name, act] of Object.entries({ cut: "move", copy: "copy" })) {
  document.addEventListener(name, (event) => {
    const row = rowOf(document.activeElement);
    if (!isForFiles(event) || !(row || chosenCount()) || !getSelection().isCollapsed) return;
    event.preventDefault();
    const { count, values } = fieldsOf(chosenCount() ? null : row);
    clipboard.put({ act, values, from: moveButton().formAction });
    tell(fill(words.files[name], { count }));
    showCut();
  });
}

document.addEventListener("paste", (event) => {
  const items = isForFiles(event) && clipboard.paste(moveButton().formAction);
  if (!items) return;
  event.preventDefault();
  if (clipboard.isHere(items, moveButton().formAction)) showToast(words.files.same);
  else post(items.from, { ...items.values, act: items.act, to: folder(), shown: folder() });
});

const isForFiles = (event) => moveButton() && isForUs(event);

function showCut() {
  for (const row of document.querySelectorAll("#listing .cut")) row.classList.remove("cut");
  for (const key of clipboard.cutKeys(moveButton()?.formAction)) rowBy(key)?.classList.add("cut");
}

document.addEventListener("htmx:afterSettle", showCut);
showCut();
