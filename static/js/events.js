// Ways to listen. What listens on the document also serves elements that the page gets later.

/** @typedef {(event: any) => unknown} Handler */

/**
 * @param {EventTarget} target
 * @param {string} names separated by spaces
 * @param {Handler} handler
 * @param {AddEventListenerOptions} [options]
 */
export function on(target, names, handler, options) {
  for (const name of names.split(" ")) target.addEventListener(name, handler, options);
}

/**
 * Listen on the document before everything else, and to events that don't bubble.
 * @param {string} names
 * @param {Handler} handler
 */
export function onCapture(names, handler) {
  on(document, names, handler, { capture: true });
}

/**
 * Return `on` for what ends with a signal.
 * @param {AbortSignal} signal
 * @returns {typeof on}
 */
export function listenUntil(signal) {
  return (target, names, handler, options) => on(target, names, handler, { signal, ...options });
}

export const isPlain = ({ ctrlKey, metaKey, shiftKey, altKey }) => !(ctrlKey || metaKey || shiftKey || altKey);

/**
 * Handle clicks on what matches.
 * @param {string} selector
 * @param {(element: any, event: any) => unknown} handler
 */
export function onClick(selector, handler) {
  on(document, "click", (event) => {
    const element = event.target.closest(selector);
    if (element) handler(element, event);
  });
}

/**
 * Handle clicks in place of the browser, unless the user wants a new tab, or the handler returns false.
 * @param {string} selector
 * @param {(element: any, event: any) => unknown} handler
 */
export function onPlainClick(selector, handler) {
  onClick(selector, (element, event) => {
    if (isPlain(event) && !event.defaultPrevented && handler(element, event) !== false) event.preventDefault();
  });
}
