// Tells the server where somebody is: at most once in ten seconds while the film runs, and when
// they pause, seek or leave.
const EVERY_MS = 10_000;
const SEEK_MS = 1000;

export function watch(root, video, signal) {
  const form = root.querySelector("#watching");
  if (!form) return;
  let last = performance.now();
  let told = -1;
  let hasPlayed = false;
  let seeking = 0;
  const on = (target, name, act) => target.addEventListener(name, act, { signal });

  on(video, "playing", () => (hasPlayed = true));
  on(video, "timeupdate", () => {
    if (!video.paused && performance.now() - last >= EVERY_MS) send();
  });
  on(video, "pause", () => send());
  on(video, "ended", () => send());
  on(video, "seeked", () => {
    clearTimeout(seeking);
    seeking = setTimeout(() => send(), SEEK_MS);
  });
  // Before the page that comes next is asked for, which may tell the position.
  on(root, "click", ({ target }) => target.closest("a[href]") && send());
  // Pages that come by Back are asked for before this one is hidden.
  for (const name of ["beforeunload", "pagehide"]) on(window, name, () => send());
  on(document, "visibilitychange", () => document.visibilityState === "hidden" && send());
  signal.addEventListener("abort", () => clearTimeout(seeking));

  // A beacon outlives the page.
  function send() {
    const { currentTime, duration } = video;
    if (!hasPlayed || signal.aborted || currentTime === told || video.readyState === 0) return;
    last = performance.now();
    told = currentTime;
    const fields = new FormData(form);
    fields.set("at", currentTime.toFixed(2));
    fields.set("of", Number.isFinite(duration) ? duration.toFixed(2) : "0");
    navigator.sendBeacon(form.dataset.report, fields);
  }
}
