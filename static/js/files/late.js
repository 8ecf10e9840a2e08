// Decide which responses may change the page, and what they may do.
let lastRequest = null; // for another folder

export function open(request) {
  lastRequest = request;
}

export const isOpening = () => [1, 2, 3].includes(lastRequest?.readyState);

// If the user opens several folders before the first one arrives, only the last one counts.
export const isLast = (request) => request === lastRequest;

// Return what becomes of the response to a request from a folder that the user has left since.
export function fateOf({ verb, status, redirect, target }) {
  if (redirect) return "follow";
  if (verb === "get") return "ignore";
  if (status >= 400 && target === null) return "fail";
  // Nothing was moved yet: the server asks about taken names.
  return target === "#move" ? "ask" : "tell";
}

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
