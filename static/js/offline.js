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
  const options = { cache: "no-store", credentials: "omit", signal };
  const answer = await fetch(page.dataset.offline, options).catch(() => null);
  if (answer?.ok) location.reload();
}
