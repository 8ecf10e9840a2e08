// Files that are dropped, picked or pasted on the page: each is sent at once, with a row of its own.
import { filesOf } from "../files/dropped-folders.js";
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { folder, put } from "./box.js";
import { fileTo, tellOthers, uploadOf, urls } from "./sender.js";

const AT_ONCE = 3;
const IN_SIGHT = 12;
const panel = document.getElementById("sending-files");
const list = panel.querySelector("ul");
const template = panel.querySelector("template");
const veil = document.querySelector(".drop");
let queue = [];
let uploaded = 0;

const isAlive = ({ state }) => ["queued", "uploading", "moving"].includes(state);

export function add(files) {
  queue.push(...[...files].map((file) => uploadOf(file, folder(), changed)));
  go();
}

function go() {
  const running = queue.filter(({ state }) => state === "uploading" || state === "moving").length;
  for (const upload of queue.filter(({ state }) => state === "queued").slice(0, AT_ONCE - running)) upload.start();
  panel.hidden = !queue.length;
  for (const upload of queue.slice(0, IN_SIGHT)) if (!upload.row) list.append(upload.drawn(template));
}

function changed(upload) {
  const { state, answer } = upload;
  if (state === "done") {
    remove(upload);
    if (answer.items) tellOf(answer.items[0]);
    else uploaded += 1;
  }
  if (uploaded && !queue.some(isAlive)) {
    tell(fill(words.upload.done, { count: uploaded }));
    uploaded = 0;
  }
  go();
}

function tellOf({ name, sentence }) {
  tell(fill(words.add.item, { name: `\u2068${name}\u2069`, outcome: sentence }));
  tellOthers();
}

// A folder is made where the transfers go, and its files are uploaded into it.
async function addFolders(entries) {
  const there = urls.folder?.replace("/0/", `/${folder() || 0}/`);
  const place = { url: `${there}upload/`, new: `${there}new/`, here: there };
  const { files, trouble } = await filesOf({ entries, files: [] }, place);
  if (trouble) showToast(trouble);
  queue.push(...files.map(({ file, url }) => fileTo(file, url, changed)));
  go();
}

function remove(upload) {
  const next = upload.row?.nextElementSibling ?? upload.row?.previousElementSibling;
  const hadFocus = upload.row?.contains(document.activeElement);
  queue = queue.filter((each) => each !== upload);
  upload.row?.remove();
  if (hadFocus) (next?.querySelector("[data-do=cancel]") ?? document.getElementById("omni")).focus();
}

panel.addEventListener("click", ({ target }) => {
  const act = target.closest("[data-do]")?.dataset.do;
  const upload = queue.find(({ row }) => row?.contains(target));
  if (!act || !upload) return;
  if (act === "retry") upload.again();
  else {
    upload.stop();
    remove(upload);
  }
  go();
});

document.addEventListener("change", ({ target }) => {
  if (!target.matches("input[data-files]")) return;
  add(target.files);
  target.value = "";
});

document.addEventListener("paste", (event) => {
  if (!event.clipboardData.files.length) return;
  event.preventDefault();
  add(event.clipboardData.files);
});

const kindOf = ({ types } = { types: [] }) =>
  types.includes("Files") ? "files" : types.includes("text/uri-list") || types.includes("text/plain") ? "text" : "";
const isOurs = (event) =>
  kindOf(event.dataTransfer) === "files" || (kindOf(event.dataTransfer) === "text" && event.target.id !== "omni");
const mayDrop = () => !document.querySelector("dialog[open]");

for (const name of /** @type {const} */ (["dragenter", "dragover"])) {
  document.addEventListener(name, (event) => {
    if (!isOurs(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = mayDrop() ? "copy" : "none";
    if (mayDrop()) unveil(true);
  });
}

document.addEventListener("dragleave", ({ relatedTarget }) => {
  if (!relatedTarget) unveil(false);
});

document.addEventListener("drop", (event) => {
  unveil(false);
  if (!isOurs(event)) return;
  event.preventDefault();
  if (!mayDrop()) return;
  // Entries can be read only now, before anything is awaited.
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const folders = entries.filter(({ isDirectory }) => isDirectory);
  const files = [...event.dataTransfer.files].filter(({ name }) => !folders.some((each) => each.name === name));
  const text =
    event.dataTransfer.getData("text/uri-list").replaceAll(/^#.*$/gm, "") || event.dataTransfer.getData("text/plain");
  if (folders.length) addFolders(folders);
  if (files.length) add(files);
  else if (!folders.length && text.trim()) put(text);
});

function unveil(isDrawn) {
  document.body.toggleAttribute("data-drag", isDrawn);
  veil.hidden = !isDrawn;
}

window.addEventListener("beforeunload", (event) => {
  if (queue.some(isAlive)) event.preventDefault();
});
