// Runs the instrumented engine until a newcomer's first view stands, then until all of the page does, and writes which
// functions were called by then, or, of a module marked by stretches, which of those ran:
// node first_view.mjs LOADER.js INSTRUMENTED.wasm FIRST.txt [WHOLE.txt]
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [loader, module, first, whole] = process.argv.slice(2);
const engine = await import(pathToFileURL(resolve(loader)));
const exports = await engine.default({ module_or_path: readFileSync(module) });

const called = () => {
  const numbers = [];
  const kind = exports["parts:called-0"] ? "called" : "ran";
  for (let word = 0; ; word += 1) {
    const marks = exports[`parts:${kind}-${word}`];
    if (!marks) return numbers;
    for (let bit = 0; bit < 32; bit += 1) if ((marks.value >>> bit) & 1) numbers.push(word * 32 + bit);
  }
};
const write = (file) => writeFileSync(file, called().join("\n") + "\n");

// As static/answers.js does it: 0 nothing is left to do, 2 something to show, 3 the first view stands.
const view = new engine.Answering("http://localhost/", "", "en");
view.take(new Uint8Array([0]));
let turn;
for (let steps = 0; (turn = view.work()) !== 3; steps += 1) {
  if (turn === 0 || steps > 1e6) throw new Error("The first view never stands.");
  if (turn === 2) view.answer(true);
}
view.answer(true);
write(first);
if (!whole) process.exit();
view.go_on();
// What a browser measures: charts are drawn for a width.
const encoder = new TextEncoder();
const event = (action, value) => {
  const [one, two] = [encoder.encode(action), encoder.encode(value)];
  return [one.length, ...one, two.length, ...two];
};
const places = ["phases", "comparison", "map", "waterfall"];
view.take(new Uint8Array([places.length, ...places.flatMap((place) => event(`width ${place}`, "800"))]));
while ((turn = view.work()) !== 0) if (turn === 2) view.answer(true);
view.answer(false);
write(whole);
