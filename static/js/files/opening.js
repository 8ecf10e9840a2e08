// A file opens over the listing, which stays as it is below. The address is the preview's own. A film
// is a page, since only that page's policy lets it play.
import { onDemand } from "../on-demand.js";
import { isPlain } from "../shortcuts.js";
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

// Before htmx, which would fetch the listing anew.
window.addEventListener(
  "popstate",
  async (event) => {
    const shown = document.getElementById("overlay");
    const isPreview = event.state?.isPreview === true;
    if (!shown && !isPreview) return;
    if (isPreview || location.href === shown.dataset.listing) event.stopImmediatePropagation();
    const preview = await overlay();
    if (isPreview) preview?.open(location.href, { isNew: false, listing: event.state.listing });
    else preview?.close();
  },
  true,
);
