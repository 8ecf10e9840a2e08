// Rows that can be selected: lines and tiles of a folder, and transfers.
const ROW = "#listing .window > [id], #groups .transfer";

export const allRows = () => [...document.querySelectorAll(ROW)];
export const rowOf = (node) => node?.closest?.(ROW) ?? null;
export const rowBy = (key) => (key ? rowOf(document.getElementById(key)) : null);

// What has the focus when a person walks through the rows.
export const linkOf = (row) => row.querySelector(".entry, .name") ?? row.querySelector(".tick, .more");

// How many rows match, loaded or not.
export const total = () => Number(document.querySelector("#listing, #groups")?.dataset.count);

// What the list is narrowed to.
export function query() {
  const { q, view } = document.getElementById("entries")?.elements ?? {};
  return (q ?? view)?.value ?? "";
}
