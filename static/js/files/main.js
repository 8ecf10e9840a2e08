import { entriesOf, listenForDrops } from "../drops.js";
import { onCapture, onPlainClick } from "../events.js";
import { onDemand } from "../on-demand.js";
import { rowOf } from "../selection/rows.js";
import { fill, words } from "../words.js";
import "./keys.js";
import { isMove } from "./moving.js";
import { uploads } from "./on-first-use.js";
import { isFolder } from "./rows.js";
import "./swaps.js";
import "./windows.js";

// Open files over the listing, which stays unchanged below, and show the preview's URL. A film opens as
// a page, because only that page's policy lets it play.
const overlay = (reload) => onDemand(() => import("../previews/overlay.js"), reload);

onPlainClick("#listing a.entry[href]", (link) => {
  const { dataset, href } = link;
  const row = rowOf(link);
  if (!row || isFolder(row) || "page" in dataset) return false;
  return overlay(() => location.assign(href)).then((module) => module?.open(href));
});

// Run before htmx, which would reload the listing.
window.addEventListener("popstate", follow, { capture: true });

async function follow(event) {
  const dialog = document.getElementById("overlay");
  const isPreview = event.state?.isPreview === true;
  if (!dialog && !isPreview) return;
  if (isPreview || location.href === dialog.dataset.listing) event.stopImmediatePropagation();
  const preview = await overlay();
  if (isPreview) preview?.open(location.href, { isNew: false, listing: event.state.listing });
  else preview?.close();
}

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
