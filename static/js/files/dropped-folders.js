// Pair each dropped file with its upload URL. Dropped folders and their subfolders are created first,
// so that each file goes to the right place.
import { words } from "../words.js";
import { headers } from "./upload.js";

/**
 * @param {{ entries: FileSystemEntry[], files: File[] }} dropped
 * @param {DOMStringMap} place
 */
export async function filesOf({ entries, files }, { url, new: makeUrl, here }) {
  if (!entries.some(({ isDirectory }) => isDirectory)) return { files: files.map((file) => ({ file, url })) };
  if (here === undefined) {
    const plain = await Promise.all(entries.filter(({ isFile }) => isFile).map(fileOf));
    return { files: plain.map((file) => ({ file, url })), trouble: words.upload.nodirs };
  }
  const uploads = [];
  try {
    for (const entry of entries) await walk(entry, { upload_url: url, new_url: makeUrl }, uploads);
    return { files: uploads };
  } catch (error) {
    return { files: uploads, trouble: error.reason ?? words.upload.strange };
  }
}

async function walk(entry, place, uploads) {
  if (entry.isFile) return uploads.push({ file: await fileOf(entry), url: place.upload_url });
  const folder = await make(entry.name, place.new_url);
  for (const each of await contentsOf(entry)) await walk(each, folder, uploads);
}

async function make(name, url) {
  const answer = await fetch(url, { method: "POST", headers: headers(), body: new URLSearchParams({ name }) });
  const folder = await answer.json();
  if (!folder.ok) throw folder;
  return folder;
}

const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

async function contentsOf(folder) {
  const reader = folder.createReader();
  const contents = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return contents;
    contents.push(...some);
  }
}
