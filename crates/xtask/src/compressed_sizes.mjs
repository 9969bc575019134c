// Compresses every text and wasm file of the folder given as the only argument beside its original (`.br`, `.gz`), as hosts
// serve them, and prints "<raw> <gzip> <brotli> <file>" for each.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2];
for (const name of readdirSync(folder, { recursive: true }).sort()) {
  // Hosts read what is in there; readers do not.
  if (name.startsWith("hosting")) continue;
  if (!/\.(css|html|js|json|svg|wasm|txt)$/.test(name)) continue;
  const bytes = readFileSync(join(folder, name));
  const gzip = gzipSync(bytes, { level: 9 });
  const brotli = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  writeFileSync(join(folder, `${name}.gz`), gzip);
  writeFileSync(join(folder, `${name}.br`), brotli);
  console.log(`${bytes.length} ${gzip.length} ${brotli.length} ${name}`);
}
