// Return what of a listing that wasn't asked for may show. A busy user keeps the rows, and the next poll
// brings it again. A user who has scrolled far would lose their place, and sees only its message.
export function partOf({ isQuiet, isArrival, isBusy, isFar }) {
  if (!isQuiet && !isArrival) return "all";
  if (isBusy || (isFar && isQuiet)) return "nothing";
  return isFar ? "message" : "all";
}

// Return where the focus may go, best first, when rows are gone: to the rows after them, then to those before.
export function focusAfter(rows, goneKeys) {
  const first = rows.findIndex(({ id }) => goneKeys.includes(id));
  const nearest = [...rows.slice(first), ...rows.slice(0, Math.max(first, 0)).reverse()];
  return [...nearest.map(({ id }) => id).filter((id) => !goneKeys.includes(id)), "title"];
}
