// The player's keys. They take precedence over those of the viewer, whose arrows open other files.
import { isForUs, showHelp } from "../shortcuts.js";

export function listen(root, controls, subtitles, on) {
  const { video } = controls;
  const actions = {
    " ": () => controls.toggle(),
    Enter: () => controls.toggle(),
    k: () => controls.toggle(),
    j: () => controls.step(-10),
    l: () => controls.step(10),
    ArrowLeft: () => controls.step(-5),
    ArrowRight: () => controls.step(5),
    ArrowUp: () => controls.setVolume(video.volume + 0.1),
    ArrowDown: () => controls.setVolume(video.volume - 0.1),
    m: () => (video.muted = !video.muted),
    c: () => subtitles.toggle(),
    f: () => controls.toggleFullscreen(),
    N: () => root.querySelector("#next")?.click(),
    "<": () => controls.changeSpeed(-1),
    ">": () => controls.changeSpeed(1),
    "?": showHelp,
  };
  for (let digit = 0; digit <= 9; digit += 1) actions[digit] = () => controls.seekShare(digit / 10);

  const press = (event) => {
    const action = actions[event.key];
    if (!action || !isMine(event, controls)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    controls.stir();
    action(event);
  };
  on(window, "keydown", press, { capture: true });
}

const isForRemote = ({ key }) => key.startsWith("Arrow") || key === "Enter";
const isOnFilm = (target) => target === document.body || target.id === "position";

// Space presses the focused button or link, and the volume slider keeps its arrow keys. On a television, arrows
// walk among the controls, except on the film itself.
function isMine(event, controls) {
  const { target, key } = event;
  if (key === " " && target.closest?.("button, a")) return false;
  if (target.id === "volume" && key.startsWith("Arrow")) return false;
  if (controls.hasRemote && isForRemote(event)) return isOnFilm(target) && !/ArrowUp|ArrowDown/.test(key);
  if (key === "Enter") return false;
  if (["volume", "position"].includes(target.id)) return !(event.altKey || event.ctrlKey || event.metaKey);
  return isForUs(event, { mayRepeat: true });
}
