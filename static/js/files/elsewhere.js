import { isFolder } from "./rows.js";

const dialog = () => document.getElementById("share");
const PLAYED = /#(film|volume-2)$/;

export function isPlayed(row) {
  return isFolder(row) || PLAYED.test(row.querySelector(":is(.thumb, .tile-pic) use").getAttribute("href"));
}

export function addressOf(row) {
  return new URL(`${row.id}/link/`, new URL(dialog().dataset.folder, location.href)).href;
}

// The answer is the link itself: one press, and it is on the screen.
export function playElsewhere(row) {
  window.htmx.ajax("POST", addressOf(row), { source: "#go", target: "#share", swap: "innerHTML" });
}
