// Starts the page. A file of its own because the Content-Security-Policy allows no inline script; the names of the
// loader that wasm-bindgen wrote and of the wasm module carry hashes, so Trunk hands them over as data attributes.
import * as engine from "./engine.js";

const { js, wasm } = document.querySelector("script[data-js][data-wasm]").dataset;
const fail = (reason) => {
  const failure = document.getElementById("boot-failure");
  failure.querySelector("[data-reason]").textContent = String(reason);
  failure.hidden = false;
};
engine.onFailure(fail);

const query = new URLSearchParams(location.search);
const id = engine.open({
  page: location.origin + location.pathname,
  fragment: location.hash.slice(1),
  languages: [query.get("lang"), ...navigator.languages].filter(Boolean).join(),
});
// What the wasm module of the page calls.
globalThis.headroom = {
  take: (events) => engine.take(id, events),
  listen: (listener) => engine.listen(id, listener),
};

try {
  const loader = await import(new URL(js, document.baseURI));
  await loader.default({ module_or_path: new URL(wasm, document.baseURI) });
} catch (error) {
  fail(error);
  throw error;
}

// The room for files is a module of its own: files.js fetches it when it is first asked for, or something is dropped.
const openFiles = async (asked) => (await import(new URL("files.js", document.baseURI))).open(asked);
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-files]");
  if (button) openFiles({ tab: button.dataset.files });
});
const brought = (event) => event.dataTransfer?.types.includes("Files") && !event.target.closest?.(".own-config");
document.addEventListener("dragover", (event) => brought(event) && event.preventDefault());
document.addEventListener("drop", (event) => {
  if (!brought(event)) return;
  event.preventDefault();
  // Gone when the event ends, so taken before anything is awaited.
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
  openFiles({ tab: "read", entries });
});
