// Open files over the listing, which stays unchanged below, and show the preview's URL. A film opens as
// a page, because only that page's policy lets it play.

import { isPlain } from "../events.js";
import { onDemand } from "../on-demand.js";
import { isFolder, rowOf } from "./rows.js";

const overlay = (reload) => onDemand(() => import("../previews/overlay.js"), reload);

document.addEventListener("click", async (event) => {
  if (event.defaultPrevented || !isPlain(event)) return;
  const link = event.target.closest("#listing a.entry[href]");
  const row = rowOf(link);
  if (!row || isFolder(row) || "page" in link.dataset) return;
  event.preventDefault();
  const address = link.href;
  (await overlay(() => location.assign(address)))?.open(address);
});

// Run before htmx, which would reload the listing.
window.addEventListener(
  "popstate",
  async (event) => {
    const dialog = document.getElementById("overlay");
    const isPreview = event.state?.isPreview === true;
    if (!dialog && !isPreview) return;
    if (isPreview || location.href === dialog.dataset.listing) event.stopImmediatePropagation();
    const preview = await overlay();
    if (isPreview) preview?.open(location.href, { isNew: false, listing: event.state.listing });
    else preview?.close();
  },
  true,
);
