// Keeps the page's own files, so that it opens at once and without a network. Games and pictures
// are always asked from the server.
const CACHE = "kiebitz-page-1";

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(["/", "/icon.svg", "/manifest.webmanifest"])));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin || url.pathname.startsWith("/api/")) {
    return;
  }
  // Files with a fingerprint in their name never change; everything else is asked for first.
  event.respondWith(url.pathname.startsWith("/assets/") ? kept(request) : fresh(request));
});

async function kept(request) {
  const cache = await caches.open(CACHE);
  const found = await cache.match(request);
  if (found) {
    return found;
  }
  const answer = await fetch(request);
  if (answer.ok) {
    cache.put(request, answer.clone());
  }
  return answer;
}

async function fresh(request) {
  const cache = await caches.open(CACHE);
  const name = request.mode === "navigate" ? "/" : request;
  try {
    const answer = await fetch(request);
    if (answer.ok && !answer.redirected) {
      cache.put(name, answer.clone());
    }
    return answer;
  } catch (error) {
    const found = await cache.match(name);
    if (found) {
      return found;
    }
    throw error;
  }
}
