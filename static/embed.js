// Starts an embedded plan, and talks with the page around it (docs/embedding.md). Nothing that a host may say does more than a reader
// can do by hand, so any page may be host; what is said of the plan goes through the port that the host sent, and nowhere else.
import * as engine from "./engine.js";

const VERSION = 1;
const root = document.documentElement;
let port;
const say = (message) => port?.postMessage({ headroom: VERSION, ...message });

const height = () => Math.ceil(document.body.getBoundingClientRect().height);
const change = () => say({ type: "change", link: location.hash.slice(1), title: document.title.replace(/ · Headroom$/, "") });

const setTheme = (theme) => {
  const address = new URL(location);
  if (theme === "light" || theme === "dark") address.searchParams.set("theme", theme);
  else address.searchParams.delete("theme");
  // The module reads it there when it starts.
  history.replaceState(null, "", address);
  if (address.searchParams.has("theme")) root.dataset.theme = theme;
  else delete root.dataset.theme;
};
const hear = ({ data }) => {
  if (data?.headroom !== VERSION) return;
  if (data.type === "theme") setTheme(data.theme);
  if (data.type === "plan" && typeof data.link === "string") location.hash = data.link;
};
addEventListener("message", (event) => {
  if (event.source !== parent || event.data?.headroom !== VERSION || event.data.type !== "connect") return;
  port?.close();
  [port] = event.ports;
  if (!port) return;
  port.onmessage = hear;
  if ("theme" in event.data) setTheme(event.data.theme);
  // The room that the host has kept is filled: nothing on the page moves.
  if (event.data.height > 0) document.body.style.minHeight = `${Number(event.data.height)}px`;
  say({ type: "size", height: height() });
});
// Tells nobody anything but that it is there.
if (parent !== window) parent.postMessage({ headroom: VERSION, type: "ready" }, "*");
new ResizeObserver(() => say({ type: "size", height: height() })).observe(document.body);
addEventListener("headroom-plan", change);

// What a chart's mark stands for, fetched when it is first pointed at.
for (const type of ["pointerover", "focusin"]) {
  document.addEventListener(type, async ({ target }) => {
    const mark = target.closest?.(".mark");
    if (mark) (await import("./values.js")).show(mark);
  });
}

await engine.start(true);
