// Upload files as soon as they are dropped, picked, or pasted on the page.
import { listenForDrops, sortDropped } from "../drops.js";
import { on } from "../events.js";
import { onDemand } from "../on-demand.js";
import { put } from "./box.js";

// Most visits upload nothing.
const uploads = () => onDemand(() => import("./uploads.js"));
const add = async (files) => (await uploads())?.add(files);

on(document, "change", ({ target }) => {
  if (!target.matches("input[data-files]")) return;
  add([...target.files]);
  target.value = "";
});

document.addEventListener("paste", (event) => {
  if (!event.clipboardData.files.length) return;
  event.preventDefault();
  add([...event.clipboardData.files]);
});

listenForDrops({
  // The field handles dropped text itself.
  isOurs: ({ dataTransfer, target }) => {
    const isInField = /** @type {Element} */ (target).id === "omni";
    const ours = isInField ? ["Files"] : ["Files", "text/uri-list", "text/plain"];
    return ours.some((type) => dataTransfer?.types.includes(type));
  },
  take: async (dropped) => {
    const { folders, files } = sortDropped(dropped);
    const text = dropped.getData("text/uri-list").replaceAll(/^#.*$/gm, "") || dropped.getData("text/plain");
    if (folders.length) (await uploads())?.addFolders(folders);
    if (files.length) add(files);
    else if (!folders.length && text.trim()) put(text);
  },
});
