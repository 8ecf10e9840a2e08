// The player of a film: its source, its controls, and its resume position.
import { seekingActs, setActs, setMetadata, setPosition } from "../media-session.js";
import { showToast } from "../toasts.js";
import { words } from "../words.js";
import { Cards } from "./cards.js";
import { Controls } from "./controls.js";
import { listen as listenToKeys } from "./keys.js";
import { offerNext } from "./next-episode.js";
import { Source } from "./source.js";
import { Subtitles } from "./subtitles.js";
import { listen as listenToTouches } from "./touches.js";
import { Tracks } from "./tracks.js";
import { watch } from "./watching.js";

export function mount(root, on) {
  const video = root.querySelector("#film");
  const facts = root.querySelector("#source").dataset;
  const source = new Source(video, facts, on);
  const subtitles = new Subtitles(root, video, source, on);
  const controls = new Controls(root, video, on);
  const cards = new Cards(root, video, source, controls, on);
  new Tracks(root, source, subtitles, on);
  on(source, "unburned", () => showToast(words.player.unburned));
  listenToKeys(root, controls, subtitles, on);
  listenToTouches(root, video, controls, on);
  present(root, controls, facts.artwork, on);
  watch(root, video, on);
  offerNext(root, video, cards, on);
  const showScenes = () => import("./scenes.js").then(({ show }) => show(root, controls, facts.scenes, on));
  // A film plays without them, too.
  on(video, "loadedmetadata", () => showScenes().catch(() => {}), { once: true });
  cards.begin();
}

function present(root, controls, artwork, on) {
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
  on(video, "durationchange seeked ratechange play", () => setPosition(video));
  on.signal.addEventListener("abort", () => setActs({}));
}
