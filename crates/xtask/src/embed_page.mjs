// What stands beside the page that Trunk has built: the page of embedded plans, which shares its names, the picture that links to the
// page are shown with, and the licences. node embed_page.mjs SITE
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [site] = process.argv.slice(2);
const page = readFileSync(join(site, "index.html"), "utf8");
const one = (pattern) => {
  const found = page.match(pattern);
  if (!found) throw new Error(`${site}/index.html has nothing like ${pattern}`);
  return found;
};
one(/<link rel="stylesheet"/);
const styles = [...page.matchAll(/<link rel="stylesheet" href="[^"]+"[^>]*>/g)].map(([link]) => link.replace(/="\.?\//g, '="'));
const [, js] = one(/data-js="(?:\.?\/)?([^"]+)"/);
const [, wasm] = one(/data-wasm="(?:\.?\/)?([^"]+)"/);
const template = readFileSync(join(import.meta.dirname, "../../../www/embed.html"), "utf8");
const embedded = template.replace("{{styles}}", styles.join("\n  ")).replace("{{module}}", `data-js="${js}" data-wasm="${wasm}"`);
writeFileSync(join(site, "embed.html"), embedded);

const root = join(import.meta.dirname, "../../..");
copyFileSync(join(root, "static/preview.jpg"), join(site, "preview.jpg"));
for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, name), join(site, `${name}.txt`));
