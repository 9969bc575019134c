// The engine as the page sees it: messages to it and answers from it, through a worker where there are any. One worker
// answers all views of a page.
const here = (name) => new URL(name, import.meta.url);
const listeners = new Map();
const early = new Map();
const answered = new Set();
let views = 0;
let send;

const hear = (message) => {
  answered.add(message.id);
  if (message.failure) {
    fail(message.failure);
  } else if (listeners.has(message.id)) {
    listeners.get(message.id)(message.answer);
  } else {
    early.set(message.id, [...(early.get(message.id) ?? []), message.answer]);
  }
};

export let fail = (reason) => {
  throw new Error(reason);
};
export const onFailure = (say) => {
  fail = say;
};

const besideThePage = () => {
  const waiting = [];
  send = (message) => waiting.push(message);
  import(here("answers.js"))
    .then(({ start }) => start(hear))
    .then((take) => {
      send = take;
      waiting.forEach(take);
    }, (error) => fail(String(error)));
};

const inAWorker = () => {
  const worker = new Worker(here("worker.js"), { type: "module" });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = (event) => fail(event.message || "the worker does not start");
  send = (message) => worker.postMessage(message);
};

// All frames of a site that a browser keeps together have one worker. Browsers that keep no frames together, or that refuse
// frames of other sites such workers, give each its own.
const inASharedWorker = () => {
  let isThere = false;
  const waiting = [];
  const alone = () => {
    if (isThere) return fail("the worker has stopped");
    inAWorker();
    waiting.forEach(send);
  };
  try {
    const shared = new SharedWorker(here("worker.js"), { type: "module", name: "headroom" });
    shared.port.onmessage = ({ data }) => {
      isThere = true;
      hear(data);
    };
    shared.onerror = alone;
    send = (message) => {
      if (!isThere) waiting.push(message);
      shared.port.postMessage(message);
    };
  } catch {
    alone();
  }
  addEventListener("pagehide", () => listeners.forEach((_, id) => send({ id, close: true })));
  // What was closed when the reader left does not answer any more.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
};

// Opens a view: `page` is its address without query and fragment, `languages` what the reader speaks, best first; `embedded`: in
// another page.
export const open = ({ page, fragment, languages, embedded = false }) => {
  if (!send) {
    const place = !window.Worker ? besideThePage : embedded && window.SharedWorker ? inASharedWorker : inAWorker;
    place();
  }
  views += 1;
  send({ id: views, open: { page, fragment, languages, embedded } });
  return views;
};
// Whether a pointer is held down: what the reader does meanwhile is dragging.
let isDragged = false;
for (const type of ["pointerdown", "pointerup", "pointercancel"]) {
  addEventListener(type, () => (isDragged = type === "pointerdown"), { capture: true, passive: true });
}
export const take = (id, events) => send({ id, events, isDragged });
export const bring = (id, files) => send({ id, files });
export const listen = (id, listener) => {
  listeners.set(id, listener);
  (early.get(id) ?? []).forEach(listener);
  early.delete(id);
};

// What the engine says first of the default plan was worked out when the release was built (crates/xtask/src/first_answers.mjs): newcomers
// see it while the engine is still on its way, and what they do meanwhile waits for it.
const showFirst = async (id, languages, built) => {
  const language = languages.map((tag) => tag.toLowerCase().split(/[-_]/)[0]).find((spoken) => built.includes(spoken)) ?? built[0];
  try {
    const response = await fetch(here(`first-${language}.txt`));
    const answer = Uint8Array.from(await response.text(), (byte) => byte.codePointAt(0));
    if (response.ok && !answered.has(id)) hear({ id, answer });
  } catch {
    // The engine will say it.
  }
};

// Opens the view of this document and starts its wasm module, whose names stand on the script element.
export const start = async (embedded) => {
  const { js, wasm, first } = document.querySelector("script[data-js][data-wasm]").dataset;
  onFailure((reason) => {
    const failure = document.getElementById("boot-failure");
    failure.querySelector("[data-reason]").textContent = String(reason);
    failure.hidden = false;
  });
  const query = new URLSearchParams(location.search);
  const fragment = location.hash.slice(1);
  const languages = [query.get("lang"), ...navigator.languages].filter(Boolean);
  const id = open({ page: location.origin + location.pathname, fragment, languages: languages.join(), embedded });
  if (first && !fragment) showFirst(id, languages, first.split(" "));
  // What the wasm module of the page calls.
  globalThis.headroom = {
    take: (events) => take(id, events),
    listen: (listener) => listen(id, listener),
    // With the next frame the last one is made.
    shown: () => requestAnimationFrame(() => send({ id, shown: true })),
    address: (name) => here(name).href,
  };
  try {
    const loader = await import(new URL(js, document.baseURI));
    await loader.default({ module_or_path: new URL(wasm, document.baseURI) });
  } catch (error) {
    fail(error);
    throw error;
  }
  return id;
};
