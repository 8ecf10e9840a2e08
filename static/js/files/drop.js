// Files that are dragged onto the page are uploaded to the open folder.
import { entriesOf, listenForDrops } from "../drops.js";
import { fill, words } from "../words.js";
import { uploads } from "./on-first-use.js";

listenForDrops({
  isOurs: ({ dataTransfer }) => dataTransfer?.types.includes("Files") ?? false,
  mayDrop: () => document.getElementById("uploads") !== null,
  describe: ({ items }) => {
    document.getElementById("drop-count").textContent = fill(words.files.drop, { count: items.length });
  },
  take: async (dropped) => {
    const [files, entries] = [[...dropped.files], entriesOf(dropped)];
    (await uploads())?.addDropped({ files, entries });
  },
});
