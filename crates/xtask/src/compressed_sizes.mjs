// Prints "<raw> <gzip> <brotli> <file>" for every .js, .wasm and .txt file in the folder given as the only argument.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2];
for (const name of readdirSync(folder).sort()) {
  if (!/\.(js|wasm|txt)$/.test(name)) continue;
  const bytes = readFileSync(join(folder, name));
  const gzip = gzipSync(bytes, { level: 9 }).length;
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
  console.log(`${bytes.length} ${gzip} ${brotli} ${name}`);
}
