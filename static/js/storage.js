// What the browser keeps, as strings. Storage may be forbidden or full: then it keeps nothing.

/** @param {() => Storage} storage */
function shelf(storage) {
  /** @template T @param {() => T} act @param {T} otherwise */
  const attempt = (act, otherwise) => {
    try {
      return act();
    } catch {
      return otherwise;
    }
  };
  return {
    keys: () => attempt(() => Object.keys(storage()), []),
    /** @param {string} key */
    read: (key) => attempt(() => storage().getItem(key), null),
    /** @param {string} key */
    readJson: (key) => attempt(() => JSON.parse(storage().getItem(key)), null),
    /**
     * Return whether there was room.
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

export const browser = shelf(() => localStorage);
export const tab = shelf(() => sessionStorage);
