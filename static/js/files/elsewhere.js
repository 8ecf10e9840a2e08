import { isFolder, post, urlOf } from "./rows.js";

const PLAYABLE_ICON = /#(film|volume-2)$/;

export function isPlayable(row) {
  return isFolder(row) || PLAYABLE_ICON.test(row.querySelector("use").getAttribute("href"));
}

// The response is the dialog with the link, so one press shows it.
export function playElsewhere(row) {
  post(urlOf(row, `${row.id}/link/`), {}, "#share", "innerHTML");
}
