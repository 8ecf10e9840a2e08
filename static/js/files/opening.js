// Open files over the listing, which stays unchanged below, and show the preview's URL. A film opens as
// a page, because only that page's policy lets it play.
import { onPlainClick } from "../events.js";
import { onDemand } from "../on-demand.js";
import { isFolder, rowOf } from "./rows.js";

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
