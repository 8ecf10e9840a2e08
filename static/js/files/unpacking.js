// Asks how far ZIP files are unpacked, as long as the page shows any.
let isLive = false;

const progress = () => document.querySelector("#unpacking[hx-get]");

export function unpackRow(row) {
  const { files, folder } = document.getElementById("entry-menu").dataset;
  const address = `${files}${folder}/${row.id}/unpack/`;
  window.htmx.ajax("POST", address, { source: "#go", target: "#listing", swap: "outerHTML" });
}

async function follow() {
  if (isLive || !progress()) return;
  isLive = true;
  const { poll } = await import("../clock.js");
  poll(findProgress, () => 1000);
}

function findProgress() {
  isLive = progress() !== null;
  return progress();
}

// The message that a folder is there takes the place of the one that it would be.
function dropOlderToasts() {
  const older = new Map();
  for (const field of document.querySelectorAll('#toasts [name=undo][value^="unpacked:"]')) {
    older.get(field.value)?.closest(".toast").remove();
    older.set(field.value, field);
  }
}

document.addEventListener("htmx:afterSettle", () => {
  dropOlderToasts();
  follow();
});
follow();
