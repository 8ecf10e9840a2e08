// Shows a page of Ferry's own while nobody can be reached, and takes what other apps share with the
// installed Ferry. Only a secure page may have one.
const address = document.querySelector("link[rel=manifest]")?.dataset.worker;
if (address) navigator.serviceWorker?.register(address).catch(() => {});

// What the worker keeps of the newest share. Another Ferry of this origin, below another path, has
// its own.
export const SHARED = `ferry-shared ${new URL(".", new URL(address ?? "", location.href)).pathname}`;

// Nothing that was shared may wait for the next person who signs in here.
document.addEventListener("submit", async (event) => {
  if (!event.target.matches("form[data-signout]") || !("caches" in window)) return;
  event.preventDefault();
  await caches.delete(SHARED).catch(() => false);
  event.target.submit();
});
