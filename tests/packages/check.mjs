// The packages for scripts as their users have them: installed, their READMEs' examples run, their answers compared with the terminal's
// to the byte. node check.mjs --packages FOLDER --headroom PROGRAM --plans FILE [--python PROGRAM]
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs, promisify } from "node:util";
import { pathToFileURL } from "node:url";

const here = import.meta.dirname;
const option = { type: "string" };
const { values } = parseArgs({ options: { packages: option, headroom: option, plans: option, python: option } });
const { packages, headroom, python } = values;
const plans = readFileSync(values.plans, "utf8").trim().split("\n");
const work = join(packages, "installed");
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const built = (end) => join(packages, readdirSync(packages).find((name) => name.endsWith(end)));
let wrong = 0;
const check = (isRight, what) => {
  if (isRight) return;
  wrong += 1;
  if (wrong <= 20) console.log(`WRONG  ${what}`);
};

/** The example of a README, as a file. */
const example = (readme, language) => readFileSync(readme, "utf8").match(new RegExp("```" + language + "\n([\\s\\S]*?)```"))[1];

// npm: installed from the archive, without a registry.
writeFileSync(join(work, "package.json"), `{ "private": true, "type": "module" }`);
execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", built(".tgz")], { cwd: work, stdio: "inherit" });
const module = join(work, "node_modules", "headroom-planner");
const npm = await import(pathToFileURL(join(module, "node.js")));
writeFileSync(join(work, "example.mjs"), example(join(module, "README.md"), "js"));
const ran = execFileSync("node", ["example.mjs"], { cwd: work, encoding: "utf8" });
check(/^fits \d+ of \d+ bytes\n/.test(ran) && /\nhttps:\/\/headroom\.example\/#v=1&.*vs\.method=full/.test(ran) && /\n\d+\n$/.test(ran), `npm's example prints ${ran}`);
const declared = (text, name) => text.match(new RegExp(`(?:interface|class) ${name}\\b[^{(]*[({:][^\\n]*\\n([\\s\\S]*?)\\n(?:}|\\n|class)`))[1].match(/^ +(\w+)\??:/gm).map((line) => line.trim().replace(/\??:$/, ""));
const types = readFileSync(join(module, "index.d.ts"), "utf8");
const fits = { model: "Qwen/Qwen3-0.6B", gpu: "rtx-4090" };
const answers = [["Estimate", npm.estimate(fits)], ["Advice", npm.advise(fits)]];
for (const [name, answer] of answers) {
  check(Object.keys(answer).sort().join() === declared(types, name).sort().join(), `index.d.ts: ${name} is not ${Object.keys(answer)}`);
}
const refused = (call) => {
  try {
    return call();
  } catch (error) {
    return `refused: ${error.message}`;
  }
};

// Python: the wheel in a folder of its own.
let ask = null;
if (python) {
  const site = join(work, "python");
  execFileSync(python, ["-m", "zipfile", "-e", built(".whl"), site]);
  const env = { ...process.env, PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: "1" };
  writeFileSync(join(work, "example.py"), example(join(here, "../../crates/python/README.md"), "python"));
  const said = execFileSync(python, ["example.py"], { cwd: work, env, encoding: "utf8" });
  check(said === ran.replaceAll("undefined", "None"), `Python's example prints ${said}, npm's ${ran}`);
  const stub = readFileSync(join(site, "headroom", "__init__.pyi"), "utf8");
  for (const [name, answer] of answers) {
    check(Object.keys(answer).sort().join() === declared(stub, name).sort().join(), `__init__.pyi: ${name} is not ${Object.keys(answer)}`);
  }
  const child = spawn(python, [join(here, "answer.py")], { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  ask = async (what, plan) => {
    child.stdin.write(JSON.stringify([what, plan]) + "\n");
    return JSON.parse((await lines.next()).value);
  };
  ask.end = () => child.stdin.end();
}

// The terminal, one process a plan, as many at once as there are cores.
const run = promisify(execFile);
const terminal = (words) =>
  run(headroom, words, { maxBuffer: 2 ** 28 }).then(
    ({ stdout }) => stdout,
    ({ stderr }) => `refused: ${stderr.replace(/^headroom: /, "").trimEnd()}`,
  );
const ahead = [];
let next = 0;
const fill = () => {
  while (ahead.length < availableParallelism() && next < plans.length) {
    const plan = plans[next];
    ahead.push({ plan, at: next, said: terminal(["estimate", "--json", plan]) });
    next += 1;
  }
};
let sound = 0;
for (fill(); ahead.length > 0; fill()) {
  const { plan, at, said } = ahead.shift();
  const fromNpm = refused(() => npm.estimateJson(plan));
  const fromPython = ask && (await ask("estimate", plan));
  const fromTerminal = await said;
  sound += fromTerminal.startsWith("{");
  check(fromNpm === fromTerminal, `npm, plan ${at}: ${plan}`);
  if (ask) check(fromPython === fromTerminal, `Python, plan ${at}: ${plan}`);
  // Advice takes seconds.
  if (at % 100 === 0 && fromTerminal.startsWith("{")) {
    check(npm.link(plan) + "\n" === (await terminal(["link", plan])), `npm, link to plan ${at}: ${plan}`);
    if (ask) check((await ask("link", plan)) + "\n" === (await terminal(["link", plan])), `Python, link to plan ${at}: ${plan}`);
    const advice = await terminal(["advise", "--json", plan]);
    check(npm.adviseJson(plan) === advice, `npm, advice on plan ${at}: ${plan}`);
    if (ask) check((await ask("advise", plan)) === advice, `Python, advice on plan ${at}: ${plan}`);
  }
}
ask?.end();
const who = ask ? "npm, Python and the terminal" : "npm and the terminal";
console.log(`${plans.length} plans, ${sound} of them sound: ${who} ${wrong ? `differ ${wrong} times` : "answer the same to the byte"}`);
process.exit(wrong ? 1 : 0);
