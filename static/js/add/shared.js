// What the worker keeps of the newest share, in the order in which it came.
import { SHARED } from "../worker.js";

export async function shared() {
  const kept = { texts: [], title: "", files: [] };
  if (!("caches" in window) || !(await caches.has(SHARED))) return kept;
  const cache = await caches.open(SHARED);
  for (const request of await cache.keys()) {
    const answer = await cache.match(request);
    const name = decodeURIComponent(answer.headers.get("X-Name") ?? "");
    const field = answer.headers.get("X-Field");
    if (name) kept.files.push(new File([await answer.blob()], name));
    else if (field === "title") kept.title = await answer.text();
    else kept.texts.push(await answer.text());
  }
  return kept;
}

export async function forget() {
  if ("caches" in window) await caches.delete(SHARED).catch(() => false);
}
