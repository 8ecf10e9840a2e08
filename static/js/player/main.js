// The player of a film: its source, its controls, and its resume position.
import { listenUntil } from "../events.js";
import { seekingActs, setActs, setMetadata, setPosition } from "../media-session.js";
import { Cards } from "./cards.js";
import { Controls } from "./controls.js";
import { listen as listenToKeys } from "./keys.js";
import { offerNext } from "./next-episode.js";
import { Source } from "./source.js";
import { Subtitles } from "./subtitles.js";
import { listen as listenToTouches } from "./touches.js";
import { Tracks } from "./tracks.js";
import { watch } from "./watching.js";

export function mount(root, signal) {
  const video = root.querySelector("#film");
  const facts = root.querySelector("#source").dataset;
  const source = new Source(video, facts, signal);
  const subtitles = new Subtitles(root, video, source, signal);
  const controls = new Controls(root, video, signal);
  const cards = new Cards(root, video, source, controls, signal);
  new Tracks(root, source, subtitles, signal);
  listenToKeys(root, controls, subtitles, signal);
  listenToTouches(root, video, controls, signal);
  present(root, controls, facts.artwork, signal);
  watch(root, video, signal);
  offerNext(root, video, cards, signal);
  const showScenes = async () => {
    const scenes = await import("./scenes.js");
    await scenes.show(root, controls, facts.scenes, signal);
  };
  // A film plays without them, too.
  video.addEventListener("loadedmetadata", () => showScenes().catch(() => {}), { once: true, signal });
  cards.begin();
}

function present(root, controls, artwork, signal) {
  const { video } = controls;
  const clicker = (link) => link && (() => link.click());
  setMetadata({ title: video.getAttribute("aria-label") }, artwork);
  setActs({
    play: () => video.play(),
    pause: () => video.pause(),
    ...seekingActs({ jump: (seconds) => controls.step(seconds), seek: (seconds) => controls.seek(seconds) }),
    previoustrack: clicker(root.querySelector("#previous")),
    nexttrack: clicker(root.querySelector("#next")),
  });
  listenUntil(signal)(video, "durationchange seeked ratechange play", () => setPosition(video));
  signal.addEventListener("abort", () => setActs({}));
}
