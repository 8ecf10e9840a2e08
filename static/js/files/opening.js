// A file opens over the listing, which stays as it is below. The address is the preview's own. A film
// is a page, since only that page's policy lets it play.
import { isFolder, rowOf } from "./rows.js";

const overlay = () => import("../preview/overlay.js");

document.addEventListener("click", async (event) => {
  const { ctrlKey, metaKey, shiftKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || ctrlKey || metaKey || shiftKey || altKey) return;
  const link = event.target.closest("#listing a.entry[href]");
  const row = rowOf(link);
  if (!row || isFolder(row) || "page" in link.dataset) return;
  event.preventDefault();
  (await overlay()).open(link.href);
});

// Before htmx, which would fetch the listing anew.
window.addEventListener("popstate", async (event) => {
  const shown = document.getElementById("overlay");
  const isPreview = event.state?.isPreview === true;
  if (!shown && !isPreview) return;
  if (isPreview || location.href === shown.dataset.listing) event.stopImmediatePropagation();
  const { close, open } = await overlay();
  if (isPreview) open(location.href, { isNew: false, listing: event.state.listing });
  else close();
}, true);
