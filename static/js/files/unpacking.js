// Poll the progress of ZIP files while the page shows any that are being unpacked.
let isLive = false;

const progress = () => document.querySelector("#unpacking[hx-get]");

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

// The message that an unpacked folder has arrived replaces the one that unpacking has begun.
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
