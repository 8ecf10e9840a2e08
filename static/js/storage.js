// The browser's storage. It may be blocked or full: then reads return nothing, and writes store nothing.

/** @template T @param {() => T} access @param {T} fallback */
function attempt(access, fallback = null) {
  try {
    return access();
  } catch {
    return fallback;
  }
}

/** @param {() => Storage} storage */
const shelf = (storage) => ({
  keys: (prefix = "") => attempt(() => Object.keys(storage()), []).filter((key) => key.startsWith(prefix)),
  read: (/** @type {string} */ key) => attempt(() => storage().getItem(key)),
  readJson: (/** @type {string} */ key) => attempt(() => JSON.parse(storage().getItem(key))),
  // Return whether the value was stored.
  write: (/** @type {string} */ key, /** @type {unknown} */ value) =>
    attempt(() => {
      storage().setItem(key, typeof value === "string" ? value : JSON.stringify(value));
      return true;
    }, false),
  remove: (/** @type {string} */ key) => attempt(() => storage().removeItem(key)),
});

// Uploads that the browser can continue.
export const UPLOADS_KEY = "ferry-uploads";

export const browser = shelf(() => localStorage);
export const tab = shelf(() => sessionStorage);
