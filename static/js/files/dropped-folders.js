// Pair each file that was dropped, or chosen with its folder, with its upload URL. Folders and their
// subfolders are created first, so that each file goes to the right place.
import { request } from "../server.js";
import { words } from "../words.js";

export function countFolders({ entries, files }) {
  const dropped = entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
  const picked = files.map((file) => pathOf(file).split("/")[0]);
  return new Set([...dropped, ...picked].filter(Boolean)).size;
}

export async function filesOf(chosen, place) {
  const places = new Map([["", { upload_url: place.url, new_url: place.new }]]);
  const uploads = [];
  let trouble;
  try {
    for await (const { file, path } of list(chosen)) {
      if (path && place.here === undefined) trouble = words.upload.nodirs;
      else {
        const { upload_url: url } = await placeAt(path, places);
        if (file) uploads.push({ file, url });
      }
    }
  } catch (error) {
    trouble = error.reason ?? words.upload.strange;
  }
  return { files: uploads, trouble };
}

// Each file with the path of its folder, and each dropped folder, which may be empty.
async function* list({ entries, files }) {
  if (entries.some(({ isDirectory }) => isDirectory)) for (const entry of entries) yield* walk(entry, "");
  else for (const file of files) yield { file, path: pathOf(file) };
}

async function* walk(entry, path) {
  if (entry.isFile) return yield { file: await fileOf(entry), path };
  const below = path ? `${path}/${entry.name}` : entry.name;
  yield { path: below };
  for (const each of await contentsOf(entry)) yield* walk(each, below);
}

const pathOf = ({ webkitRelativePath = "" }) => webkitRelativePath.split("/").slice(0, -1).join("/");

async function placeAt(path, places) {
  if (!places.has(path)) {
    const cut = path.lastIndexOf("/");
    const above = await placeAt(path.slice(0, Math.max(cut, 0)), places);
    places.set(path, await make(path.slice(cut + 1), above.new_url));
  }
  return places.get(path);
}

async function make(name, url) {
  const answer = await request(url, { method: "POST", body: new URLSearchParams({ name }) });
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
