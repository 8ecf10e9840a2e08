// Upload files as soon as they are dropped, picked, or pasted on the page, with a row for each.
import { entriesOf, listenForDrops } from "../drops.js";
import { filesOf } from "../files/dropped-folders.js";
import { UploadQueue } from "../files/upload-queue.js";
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { folder, put } from "./box.js";
import { tellOthers, uploadUrl, urls } from "./sender.js";

const queue = new UploadQueue(document.getElementById("sending-files"), { home: "omni", announce });

// A torrent file starts a transfer, so announce the outcome of that instead of an upload.
function announce({ answer }) {
  if (!answer.items) return false;
  const [{ name, sentence }] = answer.items;
  tell(fill(words.add.item, { name: `\u2068${name}\u2069`, outcome: sentence }));
  tellOthers();
  return true;
}

function add(files) {
  const url = uploadUrl(folder());
  queue.add([...files].map((file) => ({ file, url })));
}

// Create the folder in the destination of transfers, and upload its files into it.
async function addFolders(entries) {
  const folderUrl = urls.folder?.replace("/0/", `/${folder() || 0}/`);
  const place = { url: `${folderUrl}upload/`, new: `${folderUrl}new/`, here: folderUrl };
  const { files, trouble } = await filesOf({ entries, files: [] }, place);
  if (trouble) showToast(trouble);
  queue.add(files);
}

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

listenForDrops({
  // The field handles dropped text itself.
  isOurs: ({ dataTransfer, target }) => {
    const types = dataTransfer?.types ?? [];
    if (types.includes("Files")) return true;
    return (
      /** @type {Element} */ (target).id !== "omni" &&
      ["text/uri-list", "text/plain"].some((type) => types.includes(type))
    );
  },
  take: (dropped) => {
    const folders = entriesOf(dropped).filter(({ isDirectory }) => isDirectory);
    const files = [...dropped.files].filter(({ name }) => !folders.some((each) => each.name === name));
    const text = dropped.getData("text/uri-list").replaceAll(/^#.*$/gm, "") || dropped.getData("text/plain");
    if (folders.length) addFolders(folders);
    if (files.length) add(files);
    else if (!folders.length && text.trim()) put(text);
  },
});
