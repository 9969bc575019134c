// What is brought as files, and charts as files: fetched when it is first needed.
const MOST_FILES = 64;
// Larger ones are not read; the engine says so.
const LARGEST = 64 * 2 ** 20;

// The files of a drop, folders walked.
export const filesOf = async (entries) => {
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
  return Promise.all(files.map(async (file) => {
    const bytes = new Uint8Array(file.size > LARGEST ? 0 : await file.arrayBuffer());
    return { name: file.name, size: file.size, bytes };
  }));
};

const download = (name, url) => Object.assign(document.createElement("a"), { download: name, href: url }).click();

// A chart of the page as a file of its own: what the style sheet says is written into it.
const PAINT = ["fill", "stroke", "font-family", "font-weight", "opacity"];
export const save = async (button) => {
  const [place, form] = button.dataset.picture.split(" ");
  const name = `headroom-${place}.${form}`;
  // Spreadsheets tell UTF-8 by the mark at its start.
  const { csv } = button.parentNode.dataset;
  if (form === "csv") return download(name, "data:text/csv;charset=utf-8," + encodeURIComponent("\ufeff" + csv));
  const svg = document.querySelector(`[data-width=${place}] .drawing svg`);
  if (!svg) return;
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
  if (form === "svg") return download(name, url);
  const image = Object.assign(new Image(), { src: url });
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  download(name, canvas.toDataURL("image/png"));
};
