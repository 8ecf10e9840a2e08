// Report the position to the server: at most once in ten seconds while the film plays, and when the
// user pauses, seeks, or leaves.

const EVERY_MS = 10_000;
const SEEK_MS = 1000;

export function watch(root, video, on) {
  const form = root.querySelector("#watching");
  if (!form) return;
  let last = performance.now();
  let lastPosition = -1;
  let hasPlayed = false;
  let seekTimer = 0;

  on(video, "playing", () => (hasPlayed = true));
  on(video, "timeupdate", () => {
    if (!video.paused && performance.now() - last >= EVERY_MS) send();
  });
  on(video, "pause ended", send);
  on(video, "seeked", () => {
    clearTimeout(seekTimer);
    seekTimer = setTimeout(send, SEEK_MS);
  });
  // Report before the browser requests the next page, which may show the position.
  on(root, "click", ({ target }) => target.closest("a[href]") && send());
  // On Back, browsers request the other page before they hide this one.
  on(window, "beforeunload pagehide", send);
  on(document, "visibilitychange", () => document.visibilityState === "hidden" && send());
  on.signal.addEventListener("abort", () => clearTimeout(seekTimer));

  // A beacon outlives the page.
  function send() {
    const { currentTime, duration } = video;
    if (!hasPlayed || on.signal.aborted || currentTime === lastPosition || video.readyState === 0) return;
    last = performance.now();
    lastPosition = currentTime;
    const fields = new FormData(form);
    fields.set("at", currentTime.toFixed(2));
    fields.set("of", Number.isFinite(duration) ? duration.toFixed(2) : "0");
    navigator.sendBeacon(form.dataset.report, fields);
  }
}
