// What was dropped, with the address each file goes to. A dropped folder is made first, and with it
// the folders inside, so that nothing lands in the wrong place.
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
  const found = [];
  try {
    for (const entry of entries) await walk(entry, { upload_url: url, new_url: makeUrl }, found);
    return { files: found };
  } catch (error) {
    return { files: found, trouble: error.reason ?? words.upload.strange };
  }
}

async function walk(entry, place, found) {
  if (entry.isFile) return found.push({ file: await fileOf(entry), url: place.upload_url });
  const made = await make(entry.name, place.new_url);
  for (const each of await contentsOf(entry)) await walk(each, made, found);
}

async function make(name, url) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { ...headers(), "X-Requested-With": "ferry" },
    body: new URLSearchParams({ name }),
  });
  const made = await answer.json();
  if (!made.ok) throw made;
  return made;
}

const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

async function contentsOf(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    found.push(...some);
  }
}
