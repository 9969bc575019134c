// Loads the module that reads and writes files, once, and hands on what is asked of it.
const MOST_FILES = 64;
let loaded;

const load = async () => {
  const module = await import(new URL("headroom-files-page.js", document.baseURI));
  await module.default({ module_or_path: new URL("headroom-files-page_bg.wasm", document.baseURI) });
  const root = document.getElementById("files");
  root.addEventListener("headroom-picture", ({ detail }) => save(detail));
  const tell = () => root.dispatchEvent(new CustomEvent("headroom-files", { detail: {} }));
  new MutationObserver(tell).observe(document.documentElement, { attributeFilter: ["lang"] });
  window.addEventListener("headroom-plan", tell);
  window.addEventListener("popstate", tell);
};

const download = (name, url) => Object.assign(document.createElement("a"), { download: name, href: url }).click();

// A chart of the page as a file of its own: what the style sheet says is written into it.
const PAINT = ["fill", "stroke", "font-family", "font-weight", "opacity"];
const save = async ({ svg, form }) => {
  const copy = svg.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((from, at) => {
    const style = getComputedStyle(from);
    for (const name of PAINT) copies[at].setAttribute(name, style.getPropertyValue(name));
    copies[at].removeAttribute("class");
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--chart-surface").trim();
  copy.insertAdjacentHTML("afterbegin", `<rect width="${width}" height="${height}" fill="${ground}"/>`);
  const url = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  if (form === "svg") return download("headroom.svg", url);
  const image = Object.assign(new Image(), { src: url });
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  download("headroom.png", canvas.toDataURL("image/png"));
};

// The files of a drop, folders walked.
const filesOf = async (entries) => {
  const files = [];
  const walk = async (entry) => {
    if (files.length >= MOST_FILES) return;
    if (entry instanceof File) {
      files.push(entry);
    } else if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      files.push(file);
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) break;
        for (const inner of some) await walk(inner);
      }
    }
  };
  for (const entry of entries) await walk(entry);
  return files;
};

export const open = async ({ tab, entries = [] }) => {
  const root = document.getElementById("files");
  root.setAttribute("aria-busy", "true");
  try {
    await (loaded ??= load());
    root.dispatchEvent(new CustomEvent("headroom-files", { detail: { tab, files: await filesOf(entries) } }));
  } catch (error) {
    loaded = undefined;
    root.textContent = String(error);
  } finally {
    root.removeAttribute("aria-busy");
  }
};
