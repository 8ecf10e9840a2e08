// A row is a line of the table or a tile of the grid; scripts treat both the same.
import { linkOf } from "../selection/rows.js";

export const nameOf = (row) => row.querySelector(".entry-name")?.title ?? linkOf(row).textContent;
export const isFolder = (row) => row.id.startsWith("folder-");

const places = () => document.getElementById("entry-menu").dataset;

// The folder that the page shows.
export const folder = () => places().folder;

// Return the URL of a folder's part. A row that a search found says which folder it is in.
export function urlOf(row, path) {
  return new URL(`${row.dataset.folder ?? folder()}/${path}`, new URL(places().files, location.href)).href;
}

export const post = (address, values, target = "#listing", swap = "outerHTML") =>
  window.htmx.ajax("POST", new URL(address, location.href).pathname, { source: "#go", target, swap, values });
