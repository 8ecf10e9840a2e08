import { on } from "./events.js";
import { tab } from "./storage.js";

// Register the service worker, which shows a page while Ferry is unreachable, and receives what other
// apps share with the installed Ferry. Browsers allow workers only on secure pages.
const address = document.querySelector("link[rel=manifest]")?.dataset.worker;
if (address) navigator.serviceWorker?.register(address).catch(() => {});

// The badge of the installed Ferry counts what came while no page was open.
const clearBadge = () => document.hidden || navigator.clearAppBadge?.().catch(() => {});
on(document, "visibilitychange", clearBadge);
clearBadge();

// The cache in which the worker stores the newest share. Another Ferry on this origin, below another
// path, has another cache.
export const basePath = new URL(".", new URL(address ?? "", location.href)).pathname;
export const SHARED = `ferry-shared ${basePath}`;
export const DRAFTS = `ferry-draft ${basePath} `;

// Delete on sign-out what the next person who signs in here must not see: drafts, music, and the share.
// Pages save once more as they close.
on(document, "submit", async (event) => {
  if (!event.target.matches("form[data-signout]")) return;
  event.preventDefault();
  for (const key of [...tab.keys(DRAFTS), ...tab.keys("ferry-music")]) tab.remove(key);
  tab.write = () => false;
  await window.caches?.delete(SHARED).catch(() => false);
  event.target.submit();
});
