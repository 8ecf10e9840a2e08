// Music goes on where the page before left it. Nothing more is loaded where none was playing.
import { loadPlace, savePlace } from "./memory.js";

const place = document.getElementById("music-bar") && loadPlace();
if (place && document.querySelector("video")) savePlace({ ...place, isPlaying: false });
else if (place) resume();

async function resume() {
  const [music] = await Promise.all([import("./music.js"), import("./bar.js")]);
  music.resume();
}
