// The browser's storage. It may be blocked or full: then reads return nothing, and writes store nothing.

function attempt(access, fallback = null) {
  try {
    return access();
  } catch {
    return fallback;
  }
}

const shelf = (storage) => ({
  keys: (prefix = "") => attempt(() => Object.keys(storage()), []).filter((key) => key.startsWith(prefix)),
  read: (key) => attempt(() => storage().getItem(key)),
  readJson: (key) => attempt(() => JSON.parse(storage().getItem(key))),
  // Return whether the value was stored.
  write: (key, value) =>
    attempt(() => {
      storage().setItem(key, typeof value === "string" ? value : JSON.stringify(value));
      return true;
    }, false),
  remove: (key) => attempt(() => storage().removeItem(key)),
});

// Uploads that the browser can continue.
export const UPLOADS_KEY = "ferry-uploads";

export const browser = shelf(() => localStorage);
export const tab = shelf(() => sessionStorage);
