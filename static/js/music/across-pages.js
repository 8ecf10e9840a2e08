// Resume music where the previous page left off. If there is none, load nothing else.
import { loadPlace, savePlace } from "./memory.js";

const place = document.getElementById("music-bar") && loadPlace();
if (place && document.querySelector("video")) savePlace({ ...place, isPlaying: false });
else if (place) resume();

async function resume() {
  const [music] = await Promise.all([import("./music.js"), import("./bar.js")]);
  music.resume();
}
