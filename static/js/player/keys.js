// The player's keys. They come before those of the viewer, whose arrows turn pages.
import { isForUs, showHelp } from "../shortcuts.js";

export function listen(root, controls, subtitles, signal) {
  const { video } = controls;
  const acts = {
    " ": () => controls.toggle(),
    k: () => controls.toggle(),
    j: () => controls.step(-10),
    l: () => controls.step(10),
    ArrowLeft: () => controls.step(-5),
    ArrowRight: () => controls.step(5),
    ArrowUp: () => controls.setVolume(video.volume + 0.1),
    ArrowDown: () => controls.setVolume(video.volume - 0.1),
    m: () => (video.muted = !video.muted),
    c: () => subtitles.toggle(),
    f: () => controls.full(),
    N: () => root.querySelector("#next")?.click(),
    "<": () => controls.faster(-1),
    ">": () => controls.faster(1),
    "?": showHelp,
  };
  for (let digit = 0; digit <= 9; digit += 1) acts[digit] = () => controls.seekShare(digit / 10);

  window.addEventListener(
    "keydown",
    (event) => {
      const act = acts[event.key];
      if (!act || !isMine(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      controls.stir();
      act(event);
    },
    { capture: true, signal },
  );
}

// Space presses the button that has the focus, and the volume's slider keeps its arrows.
function isMine(event) {
  const { target, key } = event;
  if (key === " " && target.closest?.("button, a")) return false;
  if (target.id === "volume") return !key.startsWith("Arrow") && isFree(event);
  if (target.id === "position") return isFree(event);
  return isForUs(event, { mayRepeat: true });
}

function isFree({ altKey, ctrlKey, metaKey }) {
  return !(altKey || ctrlKey || metaKey);
}
