import { seekingActs, setActs, setMetadata, setPosition } from "../media-session.js";

export function present(root, video, controls, { artwork }, signal) {
  const actions = {
    play: () => video.play(),
    pause: () => video.pause(),
    ...seekingActs({ jump: (seconds) => controls.step(seconds), seek: (seconds) => controls.seek(seconds) }),
    previoustrack: link(root, "#previous"),
    nexttrack: link(root, "#next"),
  };
  setMetadata({ title: video.getAttribute("aria-label") }, artwork);
  setActs(actions);
  for (const name of ["durationchange", "seeked", "ratechange", "play"])
    video.addEventListener(name, () => setPosition(video), { signal });
  signal.addEventListener("abort", () => setActs(Object.fromEntries(Object.keys(actions).map((name) => [name, null]))));
}

function link(root, selector) {
  const element = root.querySelector(selector);
  return element && (() => element.click());
}
