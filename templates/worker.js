// Caches the files that all pages share and the page that is shown while Ferry is unreachable, receives
// what other apps share with the installed Ferry, and shows notifications. The newest share is
// the only personal data in its caches. All other requests go to the network as if there were no worker.
const VERSION = "{{ version }}";
const SHELL = [{% for url in shell %}
  "{{ url }}",{% endfor %}
];
const scope = new URL(self.registration.scope);
const CACHE_PREFIX = `ferry-shell ${scope.pathname} `;
const SHARE_CACHE = `ferry-shared ${scope.pathname}`;
const offline = new URL("offline/?language={{ language }}", scope).href;
const share = new URL("add/share/", scope).pathname;
const successUrl = new URL("add/?shared", scope).href;
const failureUrl = new URL("add/?shared=none", scope).href;
const transfers = new URL("transfers/", scope);
// Downloads aren't pages, nor is anything below the paths that other programs use.
const BYTES = /\/(?:download|zip|raw|pdf|image|hls|mp4)\/$|^(?:content|rest|stream|s)\//;

// A new version takes over at once. Open pages of another version still work: the names of their files
// contain hashes, so the worker leaves requests for them to the server.
self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(cacheShell());
});
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

// Request the offline page without credentials, so that it contains nothing about the signed-in user.
async function cacheShell() {
  const page = await fetch(offline, { credentials: "omit", cache: "reload" });
  if (!page.ok) throw new TypeError(`The offline page answers ${page.status}.`);
  const cache = await caches.open(CACHE_PREFIX + VERSION);
  await cache.addAll(SHELL);
  await cache.put(offline, page);
}

async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(CACHE_PREFIX) && name !== CACHE_PREFIX + VERSION);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (origin !== scope.origin) return;
  if (method === "POST" && pathname === share) event.respondWith(receiveShare(event.request));
  if (method !== "GET") return;
  if (SHELL.includes(pathname)) event.respondWith(serveShell(event.request));
  else if (mode === "navigate" && isPage(pathname)) event.respondWith(servePage(event.request));
});

function isPage(pathname) {
  return pathname.startsWith(scope.pathname) && !BYTES.test(pathname.slice(scope.pathname.length));
}

async function serveShell(request) {
  const cache = await caches.open(CACHE_PREFIX + VERSION);
  return (await cache.match(request.url, { ignoreVary: true })) ?? fetch(request);
}

async function servePage(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const cache = await caches.open(CACHE_PREFIX + VERSION);
    const page = await cache.match(offline, { ignoreVary: true });
    if (page) return page;
    throw error;
  }
}

async function receiveShare(request) {
  try {
    await saveShare(await request.formData());
    return Response.redirect(successUrl, 303);
  } catch {
    return Response.redirect(failureUrl, 303);
  }
}

// Keep only the newest share, until the page that shows it deletes it.
async function saveShare(form) {
  await caches.delete(SHARE_CACHE);
  const cache = await caches.open(SHARE_CACHE);
  let number = 0;
  for (const [name, value] of form) {
    const isFile = value instanceof File;
    if (isFile ? !value.name : !value.trim()) continue;
    const headers = { "X-Field": name, "X-Name": encodeURIComponent(isFile ? value.name : "") };
    await cache.put(`${share}${number}`, new Response(value, { headers }));
    number += 1;
  }
}

// Show what Ferry pushes, in the form that WebKit shows without a script. An open page of transfers that has
// the focus shows it itself.
self.addEventListener("push", (event) => event.waitUntil(show(event.data?.json()?.notification ?? {})));

async function show({ title = "Ferry", body, navigate = transfers.href, lang, tag, app_badge: badge }) {
  const page = await findPage(navigate);
  if (page?.focused && new URL(navigate).pathname === transfers.pathname) return;
  await self.registration.showNotification(title, { body, lang, tag, data: { navigate } });
  if (badge) await self.navigator.setAppBadge?.(Number(badge)).catch(() => {});
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(follow(event.notification.data?.navigate ?? transfers.href));
});

async function follow(address) {
  const page = await findPage(address);
  return page ? page.focus() : self.clients.openWindow(address);
}

async function findPage(address) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const found = pages.filter(({ url }) => new URL(url).pathname === new URL(address).pathname);
  return found.find(({ focused }) => focused) ?? found[0];
}
