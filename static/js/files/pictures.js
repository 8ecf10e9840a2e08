// Remove pictures that fail to load, to uncover the icons below them.
import { onCapture } from "../events.js";

onCapture("error", ({ target }) => target.matches?.("#listing img") && target.remove());

for (const picture of document.querySelectorAll("#listing img")) {
  if (picture.complete && !picture.naturalWidth && picture.currentSrc) picture.remove();
}
