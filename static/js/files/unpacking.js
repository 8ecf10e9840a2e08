// Poll the progress of ZIP files that are being unpacked.
import "../clock.js";

// The message that an unpacked folder has arrived replaces the one that unpacking has begun.
document.addEventListener("htmx:afterSettle", () => {
  const older = new Map();
  for (const field of document.querySelectorAll('#toasts [name=undo][value^="unpacked:"]')) {
    older.get(field.value)?.closest(".toast").remove();
    older.set(field.value, field);
  }
});
