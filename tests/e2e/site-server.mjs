// A static file server for the release build, as plain as a static host: it knows the MIME types of the site's files, answers with
// the headers that the site's own `_headers` asks for, and knows nothing of its pages. The site is mounted under a sub-path, so that
// a URL that is not relative is found out.
import { createReadStream, existsSync, readFileSync } from "node:fs";
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

/** The rules of a `_headers` file: paths, a star at their end or none, with headers below them. */
function rules(file) {
  const found = [];
  for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    if (line.startsWith("/")) found.push({ path: line, headers: {} });
    const [, name, value] = line.match(/^ +([^:]+): (.*)$/) ?? [];
    if (name) found.at(-1).headers[name] = value;
  }
  return found;
}
const applies = (rule, path) => (rule.endsWith("*") ? path.startsWith(rule.slice(0, -1)) : path === rule);

/** Serves what `folder()` names under `mount`; nothing at all where it names none. */
export function siteServer(folder, mount) {
  return createServer(async (request, response) => {
    const root = folder() && resolve(folder());
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const find = async () => {
      if (!root || !path.startsWith(mount)) return null;
      const file = normalize(join(root, path.slice(mount.length)));
      if (file !== root && !file.startsWith(root + sep)) return null;
      return (await stat(file)).isDirectory() ? join(file, "index.html") : file;
    };
    const file = await find().catch(() => null);
    const stream = file && createReadStream(file);
    if (!stream) return void response.writeHead(404).end("not found");
    stream.once("open", () => {
      const own = rules(join(root, "_headers")).filter((rule) => applies(rule.path, path.slice(mount.length - 1)));
      // As hosts do it: what several rules say is joined.
      const said = {};
      for (const { headers } of own) {
        for (const [name, value] of Object.entries(headers)) said[name] = said[name] ? `${said[name]}, ${value}` : value;
      }
      response.writeHead(200, { "Content-Type": MIME_TYPES[extname(file)] ?? "application/octet-stream", "Cache-Control": "no-store", ...said });
      stream.pipe(response);
    });
    stream.once("error", () => response.writeHead(404).end("not found"));
  });
}

if (process.argv[1] === import.meta.filename) {
  const [folder, mount, port] = process.argv.slice(2);
  if (!folder || !mount?.startsWith("/") || !mount.endsWith("/") || !(Number(port) > 0)) {
    console.error("usage: node site-server.mjs FOLDER /MOUNT/ PORT");
    process.exit(2);
  }
  siteServer(() => folder, mount).listen(Number(port), "127.0.0.1");
}
