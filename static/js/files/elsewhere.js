import { isFolder, post } from "./rows.js";

const dialog = () => document.getElementById("share");
const PLAYABLE_ICON = /#(film|volume-2)$/;

export function isPlayable(row) {
  return isFolder(row) || PLAYABLE_ICON.test(row.querySelector(":is(.thumb, .tile-pic) use").getAttribute("href"));
}

export function addressOf(row) {
  return new URL(`${row.id}/link/`, new URL(dialog().dataset.folder, location.href)).href;
}

// The response is the dialog with the link, so one press shows it.
export function playElsewhere(row) {
  post(addressOf(row), {}, "#share", "innerHTML");
}
