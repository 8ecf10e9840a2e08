// What only an act of the reader needs is loaded with the first such act.
import { onDemand } from "../on-demand.js";
import { rowOf } from "./rows.js";

const menus = () => onDemand(() => import("./entry-menu.js"));
const renaming = () => onDemand(() => import("./renaming.js"));
export const uploads = () => onDemand(() => import("./uploads.js"));

export const rename = async (row) => (await renaming())?.rename(row);

let pressedOpen = null;

document.addEventListener(
  "pointerdown",
  ({ target }) => {
    const more = target.closest(".more");
    pressedOpen = more?.getAttribute("aria-expanded") === "true" ? more : null;
  },
  true,
);

document.addEventListener("click", async (event) => {
  const { target, ctrlKey, metaKey } = event;
  const more = target.closest(".more");
  if (more) {
    event.preventDefault();
    const isToggled = more === pressedOpen;
    pressedOpen = null;
    if (!isToggled) (await menus())?.open(more);
  }
  if (target.closest("#rename-chosen")) rename(rowOf(document.querySelector("#listing .tick[name=entry]:checked")));
  const upload = target.closest("a[data-upload]");
  if (upload && !ctrlKey && !metaKey && document.getElementById("uploads")) {
    event.preventDefault();
    upload.closest("[popover]")?.hidePopover();
    (await uploads())?.pick();
  }
});

document.addEventListener("change", async ({ target }) => {
  if (target.id !== "upload-files" || !target.files.length) return;
  const files = [...target.files];
  target.value = "";
  (await uploads())?.addPicked(files);
});
