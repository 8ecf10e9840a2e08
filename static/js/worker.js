// Shows a page of Ferry's own while nobody can be reached, and takes what other apps share with the
// installed Ferry. Only a secure page may have one.
const address = document.querySelector("link[rel=manifest]")?.dataset.worker;
if (address) navigator.serviceWorker?.register(address).catch(() => {});

// Nothing that was shared may wait for the next person who signs in here.
document.addEventListener("submit", async (event) => {
  if (!event.target.matches("form[data-signout]") || !("caches" in window)) return;
  event.preventDefault();
  await caches.delete("ferry-shared").catch(() => false);
  event.target.submit();
});
