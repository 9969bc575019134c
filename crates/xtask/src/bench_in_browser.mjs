// Runs a benchmark that cargo has built for wasm32 in a headless browser, optimised as Trunk does it for the page, and
// prints what it logs. Cargo calls it as the target's runner: node bench_in_browser.mjs estimate-....wasm

import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [built] = process.argv.slice(2);
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const folder = join(dirname(built), 'in-browser');
const wasm = join(folder, 'bench_bg.wasm');
const run = (program, ...words) => execFileSync(program, words, { stdio: ['ignore', 'inherit', 'inherit'] });

run('wasm-bindgen', '--target', 'web', '--no-typescript', '--out-dir', folder, '--out-name', 'bench', built);
// The page's own settings, so that the two cannot drift apart.
const html = readFileSync(join(root, 'www', 'index.html'), 'utf8');
const setting = (name) => html.match(new RegExp(`data-${name}="([^"]*)"`))?.[1] ?? '';
run('wasm-opt', `-O${setting('wasm-opt')}`, ...setting('wasm-opt-params').split(' '), '--output', wasm, wasm);
console.log(`${(statSync(wasm).size / 1000).toFixed(0)} kB of wasm`);

const types = { js: 'text/javascript', wasm: 'application/wasm' };
const server = createServer((request, response) => {
  const name = request.url.slice(1);
  if (name === '') {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>bench</title>');
  } else if (name === 'bench.js' || name === 'bench_bg.wasm') {
    response.setHeader('content-type', types[name.split('.').pop()]).end(readFileSync(join(folder, name)));
  } else {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));

const { chromium } = createRequire(join(root, 'tests', 'e2e', 'package.json'))('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.HEADROOM_CHROMIUM, args: ['--no-sandbox'] });
try {
  console.log(`Chromium ${browser.version()}`);
  const page = await browser.newPage();
  page.on('console', (message) => console.log(message.text()));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate(() => import('/bench.js').then((bench) => bench.default()));
} finally {
  await browser.close();
  server.close();
}
