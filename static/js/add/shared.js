// Return what the service worker saved of the newest share, in its original order.
import { SHARED } from "../worker.js";

export async function readShare() {
  const share = { texts: [], title: "", files: [] };
  if (!("caches" in window) || !(await caches.has(SHARED))) return share;
  const cache = await caches.open(SHARED);
  for (const request of await cache.keys()) {
    const answer = await cache.match(request);
    const name = decodeURIComponent(answer.headers.get("X-Name") ?? "");
    const field = answer.headers.get("X-Field");
    if (name) share.files.push(new File([await answer.blob()], name));
    else if (field === "title") share.title = await answer.text();
    else share.texts.push(await answer.text());
  }
  return share;
}

export async function forget() {
  if ("caches" in window) await caches.delete(SHARED).catch(() => false);
}
