// Works out what the engine says first of the default plan, in each language, so that a newcomer's first view need not wait for the engine:
// node first_answers.mjs LOADER.js MODULE.wasm FOLDER
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { program } from "./default_program.mjs";

const [loader, module, folder] = process.argv.slice(2);
const engine = await import(pathToFileURL(resolve(loader)));
await engine.default({ module_or_path: readFileSync(module) });

// As static/answers.js does it.
const first = (language) => {
  // The page may lie anywhere: links are fragments.
  const view = new engine.Answering("", "", language);
  view.give(program);
  let turn;
  for (let steps = 0; (turn = view.work()) !== 3; steps += 1) {
    if (turn === 0 || steps > 1e6) throw new Error("The first view of the default plan never stands.");
  }
  return Buffer.from(view.answer(true));
};

for (const language of ["en", "zh"]) {
  const answer = first(language);
  const asks = answer.toString("latin1").match(/programs\/[\w-]+\.json/);
  if (asks) throw new Error(`The default plan wants ${asks[0]}: static/answers.js fetches another.`);
  // As text, which every host compresses: each byte a character.
  writeFileSync(join(folder, `first-${language}.txt`), answer.toString("latin1"));
}
