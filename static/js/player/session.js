import { listenUntil } from "../events.js";
import { seekingActs, setActs, setMetadata, setPosition } from "../media-session.js";

export function present(root, video, controls, { artwork }, signal) {
  const on = listenUntil(signal);
  setMetadata({ title: video.getAttribute("aria-label") }, artwork);
  setActs({
    play: () => video.play(),
    pause: () => video.pause(),
    ...seekingActs({ jump: (seconds) => controls.step(seconds), seek: (seconds) => controls.seek(seconds) }),
    previoustrack: link(root, "#previous"),
    nexttrack: link(root, "#next"),
  });
  on(video, "durationchange seeked ratechange play", () => setPosition(video));
  signal.addEventListener("abort", () => setActs({}));
}

function link(root, selector) {
  const element = root.querySelector(selector);
  return element && (() => element.click());
}
