// Keeps the frame of Ferry's pages and the page that is shown while nobody can be reached, and
// takes what another app shares with the installed Ferry. Nothing of anybody's is kept but the
// newest share; what is not about these goes to the network as if no worker were there.
const VERSION = "{{ version }}";
const SHELL = [{% for url in shell %}
  "{{ url }}",{% endfor %}
];
const scope = new URL(self.registration.scope);
const OWN = `ferry-shell ${scope.pathname} `;
const KEEP = `ferry-shared ${scope.pathname}`;
const offline = new URL("offline/?language={{ language }}", scope).href;
const share = new URL("add/share/", scope).pathname;
const shown = new URL("add/?shared", scope).href;
const failed = new URL("add/?shared=none", scope).href;
// A download is no page, and programs ask for themselves.
const BYTES = /\/(?:download|zip|raw|pdf|image|hls|mp4)\/$|^(?:content|rest|stream|s)\//;

// A new version takes over at once: pages ask for files by names that tell their content, so that
// those of another version are still the server's to give.
self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(keepShell());
});
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

// The offline page is asked for as a stranger: nothing of whoever is signed in stands in it.
async function keepShell() {
  const page = await fetch(offline, { credentials: "omit", cache: "reload" });
  if (!page.ok) throw new TypeError(`The offline page answers ${page.status}.`);
  const cache = await caches.open(OWN + VERSION);
  await cache.addAll(SHELL);
  await cache.put(offline, page);
}

async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(OWN) && name !== OWN + VERSION);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (origin !== scope.origin) return;
  if (method === "POST" && pathname === share) event.respondWith(taken(event.request));
  if (method !== "GET") return;
  if (SHELL.includes(pathname)) event.respondWith(kept(event.request));
  else if (mode === "navigate" && isPage(pathname)) event.respondWith(visited(event.request));
});

function isPage(pathname) {
  return pathname.startsWith(scope.pathname) && !BYTES.test(pathname.slice(scope.pathname.length));
}

async function kept(request) {
  const cache = await caches.open(OWN + VERSION);
  return (await cache.match(request.url, { ignoreVary: true })) ?? fetch(request);
}

async function visited(request) {
  try {
    return await fetch(request);
  } catch (trouble) {
    const cache = await caches.open(OWN + VERSION);
    const page = await cache.match(offline, { ignoreVary: true });
    if (page) return page;
    throw trouble;
  }
}

async function taken(request) {
  try {
    await keep(await request.formData());
    return Response.redirect(shown, 303);
  } catch {
    return Response.redirect(failed, 303);
  }
}

// Only the newest share is kept, until the page that asks has shown it.
async function keep(form) {
  await caches.delete(KEEP);
  const cache = await caches.open(KEEP);
  let number = 0;
  for (const [name, value] of form) {
    const isFile = value instanceof File;
    if (isFile ? !value.name : !value.trim()) continue;
    const headers = { "X-Field": name, "X-Name": encodeURIComponent(isFile ? value.name : "") };
    await cache.put(`${share}${number}`, new Response(value, { headers }));
    number += 1;
  }
}
