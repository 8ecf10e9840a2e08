// Load modules that only some actions need when the user first needs them.
import { on, onClick, onPlainClick } from "../events.js";
import { onDemand } from "../on-demand.js";
import { rowOf } from "../selection/rows.js";

const menus = () => onDemand(() => import("./entry-menu.js"));
const renaming = () => onDemand(() => import("./renaming.js"));
const followUnpacking = () => document.querySelector("#unpacking[hx-get]") && import("./unpacking.js");
export const uploads = () => onDemand(() => import("./uploads.js"));

export const rename = async (row) => (await renaming())?.rename(row);

onClick(".more", async (more, event) => {
  event.preventDefault();
  (await menus())?.open(more);
});

onClick("#rename-chosen", () => rename(rowOf(document.querySelector("#listing .tick[name=entry]:checked"))));

onPlainClick("[data-upload]", (button) => {
  if (!document.getElementById("uploads")) return false;
  button.closest("[popover]")?.hidePopover();
  return uploads().then((module) => module?.pick(button.dataset.upload));
});

// Browsers of older phones can't pick folders. Scripts alone can tell.
if (!("webkitdirectory" in HTMLInputElement.prototype)) document.body.classList.add("without-folders");

on(document, "change", async ({ target }) => {
  if (target.id !== "upload-files" || !target.files.length) return;
  const files = [...target.files];
  target.value = "";
  (await uploads())?.add({ files, entries: [] });
});

document.addEventListener("htmx:afterSettle", followUnpacking);
followUnpacking();

if (navigator.maxTouchPoints) import("../selection/touch.js");
