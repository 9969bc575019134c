// Builds a documentation site from the very snippets of docs/embedding.md: node build.mjs SYSTEM HEADROOM SOURCES SITE [GUIDE]
// HEADROOM is the address of the page and, where it is given, GUIDE that of the site, in place of the document's examples.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const here = import.meta.dirname;
const EXAMPLE = "https://headroom.example/";
const GUIDE = "https://guide.example/";

/** The files that the document shows for `system`, by their names. */
export function snippets(system, document = readFileSync(join(here, "../../docs/embedding.md"), "utf8")) {
  const files = new Map();
  const pattern = /<!-- file: (\S+) (\S+) -->\n```[a-z]*\n([\s\S]*?)\n```\n/g;
  for (const [, of, name, text] of document.matchAll(pattern)) if (of === system) files.set(name, text + "\n");
  if (files.size === 0) throw new Error(`docs/embedding.md shows no file of ${system}`);
  return files;
}

const run = (program, args, cwd) => execFileSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
const python = process.env.HEADROOM_DOCS_PYTHON ?? "python3";
const npx = (args, cwd) => run("npx", ["--no-install", ...args], cwd);

const BUILD = {
  bare: (sources, site) => writeFileSync(join(site, "index.html"), readFileSync(join(sources, "index.html"))),
  vitepress: (sources, site) => {
    symlinkSync(join(here, "node_modules"), join(sources, "node_modules"));
    npx(["vitepress", "build", "--outDir", site], sources);
  },
  mkdocs: (sources, site) => run(python, ["-m", "mkdocs", "build", "--quiet", "--site-dir", site], sources),
  sphinx: (sources, site) => run(python, ["-m", "sphinx", "-q", "-b", "html", sources, site], sources),
  mdbook: (sources, site) => run("mdbook", ["build", sources, "--dest-dir", site], sources),
  docusaurus: (sources, site) => {
    // It wants its packages beside the sources.
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, "docusaurus", name), join(sources, name));
    run("npm", ["ci", "--no-audit", "--no-fund", "--silent"], sources);
    npx(["docusaurus", "build", "--out-dir", site], sources);
  },
  jupyter: (sources, site) => {
    const source = readFileSync(join(sources, "cell.py"), "utf8");
    const cell = { cell_type: "code", execution_count: null, id: "plan", metadata: {}, outputs: [], source };
    const kernelspec = { display_name: "Python 3", language: "python", name: "python3" };
    const notebook = { cells: [cell], metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
    writeFileSync(join(sources, "index.ipynb"), JSON.stringify(notebook));
    run(python, ["-m", "nbconvert", "--to", "html", "--execute", "--output-dir", site, "index.ipynb"], sources);
  },
};
export const SYSTEMS = Object.keys(BUILD);

/** Writes the snippets for `system` to `sources` and builds them into `site`. */
export function build(system, headroom, sources, site, guide = GUIDE) {
  rmSync(sources, { recursive: true, force: true });
  rmSync(site, { recursive: true, force: true });
  mkdirSync(site, { recursive: true });
  for (const [name, text] of snippets(system)) {
    const path = join(sources, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll(EXAMPLE, headroom).replaceAll(GUIDE, guide));
  }
  BUILD[system](sources, site);
}

if (process.argv[1] === import.meta.filename) {
  const [system, headroom, sources, site, guide] = process.argv.slice(2);
  build(system, headroom, resolve(sources), resolve(site), guide);
}
