// What the menu of a row and the keys do with it. Most answers are dialogs, so one press shows them.
import { folder, isFolder, post, urlOf } from "./rows.js";

const PLAYABLE_ICON = /#(film|volume-2)$/;

export const deleteRow = (row) => openDialog("delete", urlOf(row, "delete/loss/"), { entry: row.id, shown: folder() });
export const moveRow = (row) => openDialog("move", urlOf(row, "move/"), { entry: row.id, shown: folder() });
export const playElsewhere = (row) => openDialog("share", urlOf(row, `${row.id}/link/`), {});
export const unpackRow = (row) => post(urlOf(row, `${row.id}/unpack/`));

export function isPlayable(row) {
  return isFolder(row) || PLAYABLE_ICON.test(row.querySelector("use").getAttribute("href"));
}

// Pages that may change nothing lack most dialogs.
function openDialog(id, address, values) {
  if (document.getElementById(id)) post(address, values, `#${id}`, "innerHTML");
}
