// Upload files that are dropped on the page to the open folder.
import { entriesOf, listenForDrops } from "../drops.js";
import { fill, words } from "../words.js";
import { isMove } from "./moving.js";
import { uploads } from "./on-first-use.js";

listenForDrops({
  isOurs: (event) => event.dataTransfer?.types.includes("Files") && !isMove(event),
  mayDrop: () => document.getElementById("uploads") !== null,
  describe: ({ items }) => {
    document.getElementById("drop-count").textContent = fill(words.files.drop, { count: items.length });
  },
  take: async (dropped) => {
    const [files, entries] = [[...dropped.files], entriesOf(dropped)];
    (await uploads())?.addDropped({ files, entries });
  },
});
