// Decide which responses may still change the page.
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
