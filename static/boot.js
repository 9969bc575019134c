// Starts the page. A file of its own because the Content-Security-Policy allows no inline script; the names of the
// loader that wasm-bindgen wrote and of the wasm module carry hashes, so Trunk hands them over as data attributes.
import * as engine from "./engine.js";

// Language and theme that were chosen last stand where a choice of this visit would: in the query. static/memory.js keeps them.
try {
  const address = new URL(location);
  const chosen = JSON.parse(localStorage.getItem("headroom-reader")) ?? {};
  for (const key of ["lang", "theme"]) {
    if (typeof chosen[key] === "string" && !address.searchParams.has(key)) address.searchParams.set(key, chosen[key]);
  }
  if (address.href !== location.href) history.replaceState(null, "", address);
} catch {
  // A browser that keeps nothing, or not what was kept.
}
// Styles of what no first view shows: nothing that is painted waits for them.
const styles = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("later.css", import.meta.url).href });
document.head.append(styles);
import("./memory.js");
import("./announce.js");

const id = await engine.start(false);

// Files that are chosen or dropped go to the engine as they are; charts become files, and say their values. What
// that takes is fetched when it is first asked for.
const files = () => import("./files.js");
const bring = async (entries) => engine.bring(id, await (await files()).filesOf(entries));
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-choose], [data-picture]");
  if (button?.dataset.choose) document.getElementById(button.dataset.choose)?.click();
  if (button?.dataset.picture) (await files()).save(button);
});
for (const type of ["pointerover", "focusin"]) {
  document.addEventListener(type, async ({ target }) => {
    const mark = target.closest?.(".mark");
    if (mark) (await import("./values.js")).show(mark);
  });
}
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

// The preview of an embedded plan is as high as what it shows, as it will be where it is put (docs/embedding.md).
addEventListener("message", ({ source, origin, data }) => {
  if (origin !== location.origin || data?.headroom !== 1 || data.type !== "ready") return;
  const frame = [...document.querySelectorAll("iframe")].find(({ contentWindow }) => contentWindow === source);
  if (!frame) return;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => data.type === "size" && data.height > 40 && (frame.style.height = `${data.height}px`);
  source.postMessage({ headroom: 1, type: "connect", theme: document.documentElement.dataset.theme }, origin, [port2]);
});

// The page is there without a network from the next load on (static/sw.js); only a release has what that takes. Nothing is fetched for
// it before the first answer is whole.
const { offline } = document.querySelector("script[data-js]").dataset;
if (offline && navigator.serviceWorker) {
  const root = document.documentElement;
  const whole = new MutationObserver(() => {
    if (root.hasAttribute("data-computing")) return;
    whole.disconnect();
    navigator.serviceWorker.register(offline, { updateViaCache: "none" }).catch(() => {});
  });
  whole.observe(root, { attributeFilter: ["data-computing"] });
}
