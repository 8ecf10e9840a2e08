import { entriesOf, listenForDrops } from "../drops.js";
import { onCapture } from "../events.js";
import { fill, words } from "../words.js";
import "./keys.js";
import { isMove } from "./moving.js";
import { uploads } from "./on-first-use.js";
import "./opening.js";
import "./swaps.js";
import "./windows.js";

// Upload files that are dropped on the page to the open folder.
listenForDrops({
  isOurs: (event) => event.dataTransfer?.types.includes("Files") && !isMove(event),
  mayDrop: () => document.getElementById("uploads") !== null,
  describe: ({ items }) => {
    document.getElementById("drop-count").textContent = fill(words.files.drop, { count: items.length });
  },
  take: async (dropped) => {
    const [files, entries] = [[...dropped.files], entriesOf(dropped)];
    (await uploads())?.add({ files, entries });
  },
});

// Remove pictures that fail to load, to uncover the icons below them.
onCapture("error", ({ target }) => target.matches?.("#listing img") && target.remove());
for (const picture of document.querySelectorAll("#listing img")) {
  if (picture.complete && !picture.naturalWidth && picture.currentSrc) picture.remove();
}
