// What only an act of the reader needs is loaded with the first such act.
import { onDemand } from "../on-demand.js";
import { rowOf } from "./rows.js";
import { fill, numberWords } from "./words.js";

const menus = () => onDemand(() => import("./entry-menu.js"));
const renaming = () => onDemand(() => import("./renaming.js"));
const uploads = () => onDemand(() => import("./uploads.js"));

export const rename = async (row) => (await renaming())?.rename(row);

// Every act begins with one of these, so the looks of what it opens are there in time.
for (const name of ["pointerdown", "keydown", "dragenter", "change"]) document.addEventListener(name, dress, { once: true, capture: true });

function dress() {
  const looks = document.getElementById("looks");
  if (looks) document.head.append(looks.content);
  looks?.remove();
}

let pressedOpen = null;

document.addEventListener("pointerdown", ({ target }) => {
  const more = target.closest(".more");
  pressedOpen = more?.getAttribute("aria-expanded") === "true" ? more : null;
}, true);

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

for (const name of ["dragenter", "dragover"]) {
  document.addEventListener(name, (event) => {
    const { dataTransfer } = event;
    if (!hasFiles(dataTransfer)) return;
    event.preventDefault();
    dataTransfer.dropEffect = mayDrop() ? "copy" : "none";
    if (mayDrop() && !("drag" in document.body.dataset)) unveil(dataTransfer.items.length);
  });
}

document.addEventListener("dragleave", ({ relatedTarget }) => {
  if (!relatedTarget) veil(false);
});

// What was dropped can be read only before anything is awaited.
document.addEventListener("drop", async (event) => {
  if (!hasFiles(event.dataTransfer)) return;
  event.preventDefault();
  veil(false);
  if (!mayDrop()) return;
  const files = [...event.dataTransfer.files];
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  (await uploads())?.addDropped({ files, entries });
});

function hasFiles(dataTransfer) {
  return dataTransfer?.types.includes("Files") ?? false;
}

function mayDrop() {
  return document.getElementById("uploads") !== null && !document.querySelector("dialog[open]");
}

function unveil(count) {
  const { one, many } = document.getElementById("uploads").dataset;
  document.getElementById("drop-count").textContent = fill(count === 1 ? one : many, { count: numberWords(count) });
  veil(true);
}

function veil(isDrawn) {
  document.body.toggleAttribute("data-drag", isDrawn);
  const drop = document.querySelector(".drop");
  if (drop) drop.hidden = !isDrawn;
}
