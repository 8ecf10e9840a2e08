// Register the service worker, which shows a page while Ferry is unreachable, and receives what other
// apps share with the installed Ferry. Browsers allow workers only on secure pages.
const address = document.querySelector("link[rel=manifest]")?.dataset.worker;
if (address) navigator.serviceWorker?.register(address).catch(() => {});

// The cache in which the worker stores the newest share. Another Ferry on this origin, below another
// path, has another cache.
export const basePath = new URL(".", new URL(address ?? "", location.href)).pathname;
export const SHARED = `ferry-shared ${basePath}`;

// Delete the share on sign-out, so that the next person who signs in here can't see it.
document.addEventListener("submit", async (event) => {
  if (!event.target.matches("form[data-signout]") || !("caches" in window)) return;
  event.preventDefault();
  await caches.delete(SHARED).catch(() => false);
  event.target.submit();
});
