// Keeps the page for when there is no network. `cargo xtask build` puts in the release's name and files; a page that is being worked
// on has no service worker. Pages always come from the network first, so a new release is there at the next load, and one that was
// taken back is gone; files of a release never change.
const RELEASE = "{{release}}";
const FILES = "{{files}}".split(" ");
const scope = new URL(registration.scope);
const CACHE = `headroom ${scope.pathname} ${RELEASE}`;
const PAGES = { "": "", "index.html": "", "embed.html": "embed.html", embed: "embed.html" };
// How long a network that does not answer is waited for, milliseconds.
const PATIENCE = 3000;

// What a host redirected cannot answer a navigation.
const plain = async (response) => new Response(await response.blob(), { headers: response.headers });

const keep = async () => {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((name) => `${RELEASE}/${name}`));
  for (const name of ["", "embed.html", "headroom-plan.js"]) {
    const response = await fetch(name || "./", { cache: "no-cache" });
    if (!response.ok) throw new Error(`${response.status} for ${response.url}`);
    // A newer release may have come in between: its own service worker will keep it.
    if (name === "" && !(await response.clone().text()).includes(`/${RELEASE}/`)) throw new Error("another release");
    await cache.put(new URL(name, scope), await plain(response));
  }
};

// The release before is kept: a page that is still open may need more of it.
const tidy = async () => {
  const ours = (await caches.keys()).filter((name) => name.startsWith(`headroom ${scope.pathname} `) && name !== CACHE);
  await Promise.all(ours.slice(0, -1).map((name) => caches.delete(name)));
  await clients.claim();
};

const page = async (request, name) => {
  const fresh = fetch(request);
  const late = new Promise((_, refuse) => setTimeout(refuse, PATIENCE, new Error("late")));
  const kept = async () => (await caches.open(CACHE)).match(new URL(name, scope));
  try {
    const response = await Promise.race([fresh, late]);
    // A host that is there and has no such page is right; one that is broken is not.
    return (response.status >= 500 && (await kept())) || response;
  } catch {
    return (await kept()) ?? fresh;
  }
};

// Programs of models are many: those that were used are kept.
const used = async (request, name) => {
  const response = await fetch(request);
  if (response.ok && name.includes("/programs/")) await (await caches.open(CACHE)).put(request.url, response.clone());
  return response;
};

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(keep());
});
addEventListener("activate", (event) => event.waitUntil(tidy()));
addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== scope.origin || !pathname.startsWith(scope.pathname)) return;
  const name = pathname.slice(scope.pathname.length);
  if (request.mode === "navigate") {
    if (Object.hasOwn(PAGES, name)) event.respondWith(page(request, PAGES[name]));
  } else if (/^[0-9a-f]{16}\//.test(name)) {
    event.respondWith(caches.match(request.url).then((kept) => kept ?? used(request, name)));
  }
});
