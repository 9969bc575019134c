// A static file server for the release build, as plain as a static host: it knows the MIME types of the site's files
// and nothing of its pages. The site is mounted under a sub-path, so that a URL that is not relative is found out.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, resolve, sep } from "node:path";

const MIME_TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

const [folder, mount, port] = process.argv.slice(2);
if (!folder || !mount?.startsWith("/") || !mount.endsWith("/") || !(Number(port) > 0)) {
  console.error("usage: node site-server.mjs FOLDER /MOUNT/ PORT");
  process.exit(2);
}
const root = resolve(folder);

async function fileOf(url) {
  const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  if (!path.startsWith(mount)) return null;
  const file = normalize(join(root, path.slice(mount.length)));
  if (file !== root && !file.startsWith(root + sep)) return null;
  const found = await stat(file);
  return found.isDirectory() ? join(file, "index.html") : file;
}

const server = createServer(async (request, response) => {
  const file = await fileOf(request.url).catch(() => null);
  const stream = file && createReadStream(file);
  if (!stream) {
    response.writeHead(404).end("not found");
    return;
  }
  stream.once("open", () => {
    response.writeHead(200, {
      "Content-Type": MIME_TYPES[extname(file)] ?? "application/octet-stream",
      "Cache-Control": "no-store",
    });
    stream.pipe(response);
  });
  stream.once("error", () => response.writeHead(404).end("not found"));
});

server.listen(Number(port), "127.0.0.1");
