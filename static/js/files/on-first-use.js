// Load modules that only some actions need when the user first needs them.

import { isPlain } from "../events.js";
import { hasClosed } from "../menus.js";
import { onDemand } from "../on-demand.js";
import { rowOf } from "./rows.js";

const menus = () => onDemand(() => import("./entry-menu.js"));
const renaming = () => onDemand(() => import("./renaming.js"));
const followUnpacking = () => document.querySelector("#unpacking[hx-get]") && import("./unpacking.js");
export const uploads = () => onDemand(() => import("./uploads.js"));

export const rename = async (row) => (await renaming())?.rename(row);

document.addEventListener("click", async (event) => {
  const { target } = event;
  const more = target.closest(".more");
  if (more) {
    event.preventDefault();
    if (!hasClosed(more)) (await menus())?.open(more);
  }
  if (target.closest("#rename-chosen")) rename(rowOf(document.querySelector("#listing .tick[name=entry]:checked")));
  const upload = target.closest("[data-upload]");
  if (upload && isPlain(event) && document.getElementById("uploads")) {
    event.preventDefault();
    upload.closest("[popover]")?.hidePopover();
    (await uploads())?.pick(upload.dataset.upload);
  }
});

// Browsers of older phones can't pick folders. Scripts alone can tell.
if (!("webkitdirectory" in HTMLInputElement.prototype)) document.body.classList.add("without-folders");

document.addEventListener("change", async ({ target }) => {
  if (target.id !== "upload-files" || !target.files.length) return;
  const files = [...target.files];
  target.value = "";
  (await uploads())?.addPicked(files);
});

document.addEventListener("htmx:afterSettle", followUnpacking);
followUnpacking();
