// A row is a line of the table or a tile of the grid; scripts treat both the same.
const ROW = "#listing .window > [id]";

export const allRows = () => [...document.querySelectorAll(ROW)];
export const rowOf = (node) => node?.closest?.(ROW) ?? null;
export const rowBy = (key) => (key ? rowOf(document.getElementById(key)) : null);
export const linkOf = (row) => row.querySelector(".entry");
export const nameOf = (row) => row.querySelector(".entry-name").title;
export const isFolder = (row) => row.id.startsWith("folder-");

export function beside(row, step) {
  const rows = allRows();
  return rows[rows.indexOf(row) + step] ?? null;
}

export const post = (address, values, target = "#listing", swap = "outerHTML") =>
  window.htmx.ajax("POST", new URL(address, location.href).pathname, { source: "#go", target, swap, values });

export function say(words) {
  document.getElementById("said").textContent = words;
}
