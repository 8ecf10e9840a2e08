// The service worker shows this page in place of another. Load that page as soon as Ferry responds:
// the browser's "online" event only means that there is some network.
const PAUSE_MILLISECONDS = 3000;
const page = document.querySelector("[data-offline]");

if (page && location.pathname !== page.dataset.offline) {
  page.querySelector("a.primary").href = location.pathname + location.search;
  window.addEventListener("online", check);
  document.addEventListener("visibilitychange", check);
  setInterval(check, PAUSE_MILLISECONDS);
}

async function check() {
  if (document.hidden) return;
  const signal = AbortSignal.timeout(PAUSE_MILLISECONDS);
  const address = page.dataset.offline;
  const response = await fetch(address, { cache: "no-store", credentials: "omit", signal }).catch(() => null);
  if (response?.ok) location.reload();
}
