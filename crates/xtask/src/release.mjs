// Arranges the built site for hosts and for readers that are offline: node release.mjs SITE
// All that pages fetch goes into a folder named by its content, so that it may be kept for ever and no two releases are ever mixed.
// What has a fixed address stays: the pages, the script that embeds plans, the service worker. Beside them come the headers for
// hosts (docs/hosting.md); their policies are those that stand in the pages.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { name as program } from "./default_program.mjs";

const [site] = process.argv.slice(2);
const PAGES = ["embed.html", "index.html"];
const LASTING = ["headroom-plan.js", "LICENSE-APACHE.txt", "LICENSE-MIT.txt", "preview.jpg"];
const FIXED = [...PAGES, ...LASTING, "sw.js"];
// Where the site will be, for those who show a picture of what a link leads to: most of them want whole addresses.
const address = (process.env.HEADROOM_ADDRESS ?? "").replace(/\/*$/, "/");

const names = readdirSync(site).sort();
const isFolder = (name) => statSync(join(site, name)).isDirectory();
const files = readdirSync(site, { recursive: true }).filter((name) => !isFolder(name)).sort();
const hash = createHash("sha256");
for (const name of files) hash.update(`${name}\0`).update(readFileSync(join(site, name)));
const release = hash.digest("hex").slice(0, 16);
const moved = names.filter((name) => !FIXED.includes(name));
// What is kept for when there is no network: of the folders the default plan's program, and what was used.
const kept = [...moved.filter((name) => !isFolder(name)), program];
// Languages whose first answer was worked out (first_answers.mjs), the page's own first.
const LANGUAGES = ["en", "zh"];
const firsts = LANGUAGES.filter((language) => moved.includes(`first-${language}.txt`));
if (firsts.length < LANGUAGES.length) throw new Error(`first answers in ${firsts} alone`);

mkdirSync(join(site, release));
for (const name of moved) renameSync(join(site, name), join(site, release, name));

const read = (name) => readFileSync(join(site, name), "utf8");
const write = (name, text) => writeFileSync(join(site, name), text);
const policies = {};
for (const name of PAGES) {
  const page = read(name)
    .replace(/ (href|src|data-js|data-wasm)="(?:\.?\/)*([^"/]+)"/g, (whole, attribute, file) =>
      moved.includes(file) ? ` ${attribute}="./${release}/${file}"` : whole)
    .replace("<script type=\"module\" src=", name === "index.html" ? `<script type="module" data-offline="./sw.js" data-first="${firsts.join(" ")}" src=` : "$&")
    .replace('content="preview.jpg"', (relative) => (address === "/" ? relative : `content="${address}preview.jpg"`))
    .replace(/\n\s*(?=\n)/g, "");
  const unmoved = moved.filter((file) => page.includes(`"./${file}"`) || page.includes(`"${file}"`));
  if (unmoved.length > 0) throw new Error(`${name} still asks for ${unmoved}`);
  policies[name] = page.match(/http-equiv="Content-Security-Policy" content="([^"]+)"/)[1];
  write(name, page);
}
const worker = read("sw.js");
for (const place of ["{{release}}", "{{files}}"]) if (!worker.includes(place)) throw new Error(`sw.js has no ${place}`);
write("sw.js", worker.replace("{{release}}", release).replace("{{files}}", kept.join(" ")));

// Only the page of embedded plans may stand in frames of other sites, which a page cannot say for itself.
const policy = `${policies["index.html"]}; frame-ancestors 'self'`;
const embedded = `${policies["embed.html"]}; frame-ancestors *`;
const ASK = "no-cache";
const HOUR = "public, max-age=3600";
const EVER = "public, max-age=31536000, immutable";
// The last two let sites that are isolated from others (COEP) embed plans.
const ALWAYS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

// Netlify and Cloudflare Pages: rules that never meet, as both would join two policies into one. Cloudflare leaves ".html" out.
const rule = (path, policy, cache) => {
  const headers = { "Content-Security-Policy": policy, "Cache-Control": cache, ...ALWAYS };
  return [path, ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)].join("\n");
};
write("_headers", [
  ...["/", "/index.html", "/sw.js"].map((path) => rule(path, policy, ASK)),
  ...["/embed.html", "/embed"].map((path) => rule(path, embedded, ASK)),
  ...LASTING.map((name) => rule(`/${name}`, policy, HOUR)),
  rule(`/${release}/*`, policy, EVER),
].join("\n\n") + "\n");
// GitHub Pages: every file as it is. It takes no headers: the pages' own policies hold there.
write(".nojekyll", "");

mkdirSync(join(site, "hosting"));
write("hosting/nginx.conf", `# Headroom at /headroom/ from the folder /srv/headroom/. This block belongs into "http" (a file of its own in conf.d/) ...
map $uri $headroom_policy {
  default "${policy}";
  ~/embed\\.html$ "${embedded}";
}
map $uri $headroom_cache {
  default "${ASK}";
  ~/headroom-plan\\.js$ "${HOUR}";
  "~/[0-9a-f]{16}/" "${EVER}";
}
# ... and this one into your "server".
# location /headroom/ {
#   alias /srv/headroom/;
#   types { text/html html; text/css css; text/javascript js; application/wasm wasm; image/svg+xml svg; text/plain txt; }
#   charset utf-8;
#   gzip_static on;
#   # brotli_static on;  # with the brotli module
#   add_header Content-Security-Policy $headroom_policy always;
#   add_header Cache-Control $headroom_cache always;
${Object.entries(ALWAYS).map(([name, value]) => `#   add_header ${name} "${value}" always;`).join("\n")}
# }
`);
write("hosting/Caddyfile", `# Headroom at /headroom/ from the folder /srv/headroom/.
headroom.example {
  handle_path /headroom/* {
    root * /srv/headroom
    @embedded path /embed.html
    @others not path /embed.html
    @kept path_regexp ^/[0-9a-f]{16}/
    @script path /headroom-plan.js
    @asked not path_regexp ^/([0-9a-f]{16}/|headroom-plan\\.js$)
    header @embedded Content-Security-Policy "${embedded}"
    header @others Content-Security-Policy "${policy}"
    header @kept Cache-Control "${EVER}"
    header @script Cache-Control "${HOUR}"
    header @asked Cache-Control "${ASK}"
${Object.entries(ALWAYS).map(([name, value]) => `    header ${name} "${value}"`).join("\n")}
    file_server {
      precompressed br gzip
    }
  }
}
`);
