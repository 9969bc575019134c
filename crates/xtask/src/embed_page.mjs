// The page of embedded plans beside the page that Trunk has built, whose names it shares: node embed_page.mjs SITE
import { readFileSync, writeFileSync } from "node:fs";
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
