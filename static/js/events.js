// Ways to listen. What listens on the document also serves elements that the page gets later.

// Spaces separate the names of events.
export function on(target, names, handler, options) {
  for (const name of names.split(" ")) target.addEventListener(name, handler, options);
}

// Listen on the document before everything else, and to events that don't bubble.
export function onCapture(names, handler) {
  on(document, names, handler, { capture: true });
}

// Return `on` for what ends with a signal, which is part of it.
export function listenUntil(signal) {
  const onUntil = (target, names, handler, options) => on(target, names, handler, { signal, ...options });
  return Object.assign(onUntil, { signal });
}

export const isPlain = ({ ctrlKey, metaKey, shiftKey, altKey }) => !(ctrlKey || metaKey || shiftKey || altKey);

// Handle clicks on what matches.
export function onClick(selector, handler) {
  on(document, "click", (event) => {
    const element = event.target.closest(selector);
    if (element) handler(element, event);
  });
}

// Handle clicks in place of the browser, unless the user wants a new tab, or `handler` returns false.
export function onPlainClick(selector, handler) {
  onClick(selector, (element, event) => {
    if (isPlain(event) && !event.defaultPrevented && handler(element, event) !== false) event.preventDefault();
  });
}
