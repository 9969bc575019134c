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

// Files that are chosen or dropped go to the engine as they are; charts become files. What that takes is fetched when it is
// first asked for.
const files = () => import(new URL("files.js", document.baseURI));
const bring = async (entries) => engine.bring(id, await (await files()).filesOf(entries));
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-choose], [data-picture]");
  if (button?.dataset.choose) document.getElementById(button.dataset.choose)?.click();
  if (button?.dataset.picture) (await files()).save(...button.dataset.picture.split(" "));
});
document.addEventListener("change", ({ target }) => {
  if (!target.matches?.("input[data-bring]")) return;
  bring([...target.files]);
  // The same files can be chosen again after a correction.
  target.value = "";
});
const brought = (event) => event.dataTransfer?.types.includes("Files") && !event.target.closest?.(".own-config");
document.addEventListener("dragover", (event) => brought(event) && event.preventDefault());
document.addEventListener("drop", (event) => {
  if (!brought(event)) return;
  event.preventDefault();
  // Gone when the event ends, so taken before anything is awaited.
  bring([...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean));
});
