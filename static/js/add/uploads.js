// Upload files to the destination of transfers, with a row for each.
import { filesOf } from "../files/dropped-folders.js";
import { LEAST_BYTES, uploadOf } from "../files/resumable.js";
import { Upload } from "../files/upload.js";
import { UploadQueue } from "../files/upload-queue.js";
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { folder, isChoosing } from "./box.js";
import { awaitFiles, tellOthers, uploadUrl, urls } from "./sender.js";

// Ferry reads torrents as a whole, and puts only what is for a folder together from pieces.
const isResumable = ({ name, size }) => urls.folder && size >= LEAST_BYTES && !/\.torrent$/i.test(name);
const make = (file, ...rest) => (isResumable(file) ? uploadOf(file, ...rest) : new Upload(file, ...rest));
const queue = new UploadQueue(document.getElementById("sending-files"), { home: "omni", announce, make });

// A torrent file starts a transfer, so announce the outcome of that instead of an upload.
function announce({ answer }) {
  if (!answer?.items) return false;
  const [{ name, sentence }] = answer.items;
  tell(fill(words.add.item, { name: `\u2068${name}\u2069`, outcome: sentence }));
  tellOthers();
  if (isChoosing()) awaitFiles(answer.items, !queue.uploads.length);
  return true;
}

export function add(files) {
  const url = uploadUrl(folder(), isChoosing());
  queue.add(files.map((file) => ({ file, url: isResumable(file) ? `${folderUrl()}upload/` : url })));
}

const folderUrl = () => urls.folder?.replace("/0/", `/${folder() || 0}/`);

// Create the folder in the destination of transfers, and upload its files into it.
export async function addFolders(entries) {
  const here = folderUrl();
  const place = { url: `${here}upload/`, new: `${here}new/`, here };
  const { files, trouble } = await filesOf({ entries, files: [] }, place);
  if (trouble) showToast(trouble);
  queue.add(files);
}
