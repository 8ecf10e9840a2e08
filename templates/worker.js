// Caches the files that all pages share, the page that is shown while Ferry is unreachable, and the lists that
// a person opened last; receives what other apps share with the installed Ferry, and shows notifications.
// The lists and the newest share are the only personal data in its caches. All other requests go to the
// network as if there were no worker.
const VERSION = "{{ version }}";
const SHELL = [{% for url in shell %}
  "{{ url }}",{% endfor %}
];
const scope = new URL(self.registration.scope);
const CACHE_PREFIX = `ferry-shell ${scope.pathname} `;
const SHARE_CACHE = `ferry-shared ${scope.pathname}`;
// The lists in this cache belong to the person whose key ends its name.
const LIST_PREFIX = `ferry-lists ${scope.pathname} `;
const LIST = /^(?:files\/[^/]+\/|transfers\/)?$/;
const MOST_LISTS = 30;
const LONGEST_LIST = 2 ** 20;
// Then a session would have ended, too.
const LIST_MS = {{ session_ms }};
const NOTE = "{% filter escapejs %}{% include "errors/_past.html" %}{% endfilter %}";
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
  await deleteCaches((name) => name.startsWith(CACHE_PREFIX) && name !== CACHE_PREFIX + VERSION);
  await self.clients.claim();
}

async function deleteCaches(matches) {
  const names = await caches.keys();
  await Promise.all(names.filter(matches).map((name) => caches.delete(name)));
}

self.addEventListener("fetch", (event) => {
  const { headers, method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (origin !== scope.origin) return;
  if (method === "POST" && pathname === share) event.respondWith(receiveShare(event.request));
  if (method !== "GET") return;
  if (SHELL.includes(pathname)) event.respondWith(serveShell(event.request));
  else if (isPage(pathname) && (mode === "navigate" || headers.has("HX-Boosted"))) event.respondWith(servePage(event));
});

function isPage(pathname) {
  return pathname.startsWith(scope.pathname) && !BYTES.test(pathname.slice(scope.pathname.length));
}

async function serveShell(request) {
  const cache = await caches.open(CACHE_PREFIX + VERSION);
  return (await cache.match(request.url, { ignoreVary: true })) ?? fetch(request);
}

async function servePage(event) {
  const { mode, url } = event.request;
  try {
    const response = await fetch(event.request);
    const isShown = response.ok && response.headers.get("Content-Type")?.startsWith("text/html");
    if (isShown) event.waitUntil(keepList(url, response.clone()));
    return response;
  } catch (error) {
    const page = mode === "navigate" && ((await findList(url)) ?? (await findOffline()));
    if (page) return page;
    throw error;
  }
}

async function findOffline() {
  const cache = await caches.open(CACHE_PREFIX + VERSION);
  return cache.match(offline, { ignoreVary: true });
}

// Each page names its person, except to strangers, such as those who were signed out: so any page deletes the
// lists of everyone else. A cache that is deleted while a list arrives takes it along.
async function keepList(url, response) {
  const person = response.headers.get("X-Person");
  const name = LIST_PREFIX + person;
  await deleteCaches((each) => each.startsWith(LIST_PREFIX) && each !== name);
  if (!person || !LIST.test(new URL(url).pathname.slice(scope.pathname.length))) return;
  const cache = await caches.open(name);
  const html = await response.text();
  if (html.length > LONGEST_LIST) return;
  const headers = { "X-Saved-At": Date.now() };
  for (const each of ["Content-Type", "Content-Security-Policy"]) headers[each] = response.headers.get(each);
  await cache.delete(url);
  await cache.put(url, new Response(html, { headers }));
  const urls = await cache.keys();
  await Promise.all(urls.slice(0, -MOST_LISTS).map((old) => cache.delete(old)));
}

// A filtered list falls back to the whole one, never to one with another filter.
async function findList(url) {
  const { origin, pathname } = new URL(url);
  const list = (await caches.match(url)) ?? (await caches.match(origin + pathname));
  const savedAt = Number(list?.headers.get("X-Saved-At") ?? 0);
  return Date.now() - savedAt < LIST_MS ? showPast(list, new Date(savedAt)) : null;
}

// Show a list as it was, without scripts, which would update it, and without controls, which wouldn't work.
async function showPast(list, savedAt) {
  const isToday = savedAt.toDateString() === new Date().toDateString();
  const form = { dateStyle: isToday ? undefined : "long", timeStyle: "short", hourCycle: "h23" };
  const time = savedAt.toLocaleString("{{ language }}", form);
  const html = (await list.text())
    .replaceAll(/<script src=[^]*?<\/script>/g, "")
    .replaceAll(/<(?:button|form|input|label|select|textarea|div(?= class="page-actions))\b/g, "$& hidden")
    .replaceAll(/<a(?= [^>]*\bdata-(?:choose|remove)\b)/g, "$& hidden")
    .replace(/<main\b[^>]*>/, (tag) => tag + NOTE.replace("{time}", time));
  return new Response(html, { headers: list.headers });
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
