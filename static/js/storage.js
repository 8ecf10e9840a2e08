// The browser's storage. It may be blocked or full: then reads return nothing, and writes store nothing.

/** @param {() => Storage} storage */
function shelf(storage) {
  /** @template T @param {() => T} access @param {T} fallback */
  const attempt = (access, fallback) => {
    try {
      return access();
    } catch {
      return fallback;
    }
  };
  return {
    keys: () => attempt(() => Object.keys(storage()), []),
    /** @param {string} key */
    read: (key) => attempt(() => storage().getItem(key), null),
    /** @param {string} key */
    readJson: (key) => attempt(() => JSON.parse(storage().getItem(key)), null),
    /**
     * Return whether the value was stored.
     * @param {string} key
     * @param {unknown} value
     */
    write: (key, value) =>
      attempt(() => {
        storage().setItem(key, typeof value === "string" ? value : JSON.stringify(value));
        return true;
      }, false),
    /** @param {string} key */
    remove: (key) => attempt(() => storage().removeItem(key), undefined),
  };
}

// Uploads that the browser can continue.
export const UPLOADS_KEY = "ferry-uploads";

export const browser = shelf(() => localStorage);
export const tab = shelf(() => sessionStorage);
