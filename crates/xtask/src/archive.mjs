// Packs the built site for those who host it: node archive.mjs SITE NAME OUT. Writes OUT/NAME.tar.gz, in which nothing tells one
// machine or hour from another, with the checksums of all files inside, and OUT/SHA256SUMS with its own.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [site, name, out] = process.argv.slice(2);
const sum = (bytes) => createHash("sha256").update(bytes).digest("hex");

rmSync(out, { recursive: true, force: true });
const folder = join(out, name);
mkdirSync(folder, { recursive: true });
cpSync(site, folder, { recursive: true });
const files = readdirSync(folder, { recursive: true }).filter((file) => statSync(join(folder, file)).isFile()).sort();
const sums = files.map((file) => `${sum(readFileSync(join(folder, file)))}  ${file}\n`).join("");
writeFileSync(join(folder, "SHA256SUMS"), sums);

const same = ["--sort=name", "--format=ustar", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
const packed = gzipSync(execFileSync("tar", [...same, "-cf", "-", "-C", out, name], { maxBuffer: 2 ** 30 }), { level: 9 });
const archive = `${name}.tar.gz`;
writeFileSync(join(out, archive), packed);
writeFileSync(join(out, "SHA256SUMS"), `${sum(packed)}  ${archive}\n`);
rmSync(folder, { recursive: true });
console.log(`${(packed.length / 1e6).toFixed(1)} MB  ${sum(packed)}  ${join(out, archive)}`);
