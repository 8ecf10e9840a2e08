import { onCapture, onPlainClick } from "../events.js";
import { formatSize } from "../sizes.js";
import { formatTime } from "../times.js";
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { countFolders, filesOf } from "./dropped-folders.js";
import { refresh } from "./swaps.js";
import { UploadQueue } from "./upload-queue.js";

const queue = new UploadQueue(document.getElementById("uploads"), { home: "title", finish: refresh, draw });
let folderCount = 0; // of the set
let readings = 0; // of folders whose files aren't in the queue yet

function draw() {
  const { panel, uploads } = queue;
  const { url } = panel.dataset;
  if (readings) panel.hidden = false;
  if (panel.hidden) folderCount = 0;
  panel.querySelector(".sect p").textContent = facts().join(" · ");
  panel.querySelector("[data-do=clear]").hidden = !uploads.length;
  // When the last file has arrived, the folder only looks empty until the page refreshes.
  const isFilling = readings > 0 || uploads.some((each) => each.url === url && each.state !== "failed");
  if (isFilling || uploads.length || panel.hidden) panel.toggleAttribute("data-filling", isFilling);
  for (const item of document.querySelectorAll("#interrupted li")) item.hidden ||= isContinued(item, url);
}

// What the set consists of, how much of it has arrived, and how long the rest takes.
function facts() {
  const { done, total, doneBytes, totalBytes, seconds } = queue.sums;
  const folders = folderCount ? [fill(words.files.folders, { count: folderCount })] : [];
  if (readings && !queue.isActive) return folders;
  const bytes = { done: formatSize(doneBytes), total: formatSize(totalBytes) };
  const left = seconds === null ? [] : [fill(words.upload.left, { time: formatTime(seconds) })];
  return [...folders, fill(words.files.sum, { done, total }), fill(words.upload.of, bytes), ...left];
}

const isContinued = (item, url) =>
  queue.uploads.some((each) => each.url === url && each.file.name === item.querySelector("bdi").textContent);

export function pick(kind) {
  const note = document.getElementById("upload-note");
  const input = queue.panel.querySelector("input");
  input.webkitdirectory = kind === "folder";
  if (!note) return input.click();
  note.returnValue = "";
  note.showModal();
}

onCapture("close", ({ target }) => {
  if (target.id === "upload-note" && target.returnValue === "go") queue.panel.querySelector("input").click();
});

export async function add(chosen) {
  const count = countFolders(chosen);
  if (!queue.isActive && !readings) folderCount = 0;
  folderCount += count;
  readings += count;
  draw();
  const { files, trouble } = await filesOf(chosen, queue.panel.dataset);
  readings -= count;
  if (trouble) showToast(trouble);
  if (count) refresh();
  queue.add(files);
}

// Leaving the page would end its uploads, so open other pages in a new tab.
onPlainClick("header.site a[href]", (link) => {
  if (!queue.isActive) return false;
  if (link.matches("[aria-current], .brand")) return document.querySelector(".crumbs a")?.click();
  window.open(link.href, "_blank", "noopener");
  tell(words.files.tab);
});

// When the user opens another folder, keep the panel with the uploads in progress.
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.id !== "main") return;
  const { panel } = queue;
  const fresh = document.getElementById("uploads");
  if (!queue.uploads.length) queue.panel = fresh ?? panel;
  else if (fresh) {
    delete panel.dataset.here;
    Object.assign(panel.dataset, fresh.dataset);
    fresh.replaceWith(panel);
  } else document.getElementById("listing").before(panel);
  queue.draw();
});
