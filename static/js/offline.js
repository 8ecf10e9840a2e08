// Shown by the worker in another page's place: back to that page as soon as Ferry answers. The
// browser's own word says no more than that there is some network.
const PAUSE_MILLISECONDS = 3000;
const page = document.querySelector("[data-offline]");

if (page && location.pathname !== page.dataset.offline) {
  page.querySelector("a.primary").addEventListener("click", (event) => {
    event.preventDefault();
    location.reload();
  });
  window.addEventListener("online", look);
  document.addEventListener("visibilitychange", look);
  setInterval(look, PAUSE_MILLISECONDS);
}

async function look() {
  if (document.hidden) return;
  const signal = AbortSignal.timeout(PAUSE_MILLISECONDS);
  const address = page.dataset.offline;
  const answer = await fetch(address, { cache: "no-store", credentials: "omit", signal }).catch(() => null);
  if (answer?.ok) location.reload();
}
