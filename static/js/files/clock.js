// Asks again while the service is away, but only for somebody who is looking.
const EVERY_MS = 30_000;

setInterval(tick, EVERY_MS);
document.addEventListener("visibilitychange", tick);

function tick() {
  const refresh = document.getElementById("refresh");
  if (refresh && !document.hidden && navigator.onLine) window.htmx.trigger(refresh, "tick");
}
