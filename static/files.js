// Loads the module that reads and writes files, once, and hands on what is asked of it.
const MOST_FILES = 64;
let loaded;

const load = async () => {
  const module = await import(new URL("headroom-files-page.js", document.baseURI));
  await module.default({ module_or_path: new URL("headroom-files-page_bg.wasm", document.baseURI) });
  const root = document.getElementById("files");
  const tell = () => root.dispatchEvent(new CustomEvent("headroom-files", { detail: {} }));
  new MutationObserver(tell).observe(document.documentElement, { attributeFilter: ["lang"] });
  window.addEventListener("headroom-plan", tell);
  window.addEventListener("popstate", tell);
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
