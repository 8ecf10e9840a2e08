// A row is a line of the table or a tile of the grid; scripts treat both the same.
const ROW = "#listing .window > [id]";

export const allRows = () => [...document.querySelectorAll(ROW)];
export const rowOf = (node) => node?.closest?.(ROW) ?? null;
export const rowBy = (key) => (key ? rowOf(document.getElementById(key)) : null);
export const linkOf = (row) => row.querySelector(".entry, .name");
export const nameOf = (row) => row.querySelector(".entry-name")?.title ?? linkOf(row).textContent;
export const isFolder = (row) => row.id.startsWith("folder-");

const places = () => document.getElementById("entry-menu").dataset;

// The folder that the page shows.
export const folder = () => places().folder;

// Return the URL of a folder's part. A row that a search found says which folder it is in.
export function urlOf(row, path) {
  return new URL(`${row.dataset.folder ?? folder()}/${path}`, new URL(places().files, location.href)).href;
}

// What the filter of the listing looks for.
export const query = () => document.querySelector("#listing > [name=q]")?.value ?? "";

export const post = (address, values, target = "#listing", swap = "outerHTML") =>
  window.htmx.ajax("POST", new URL(address, location.href).pathname, { source: "#go", target, swap, values });
