// Runs the instrumented engine until the default plan's first view stands, then until those of usual links do, of a reader of Chinese, embedded
// plans, and all of the page, and writes which functions were called by then, each time in a file; or, of a module marked by stretches, which of those
// ran for the newcomer: node first_view.mjs LOADER.js INSTRUMENTED.wasm FIRST.txt [STAGE.txt ...]
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [loader, module, first, ...stages] = process.argv.slice(2);
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

const encoder = new TextEncoder();
// A text as Event::encode writes it, its length in sevens of bits.
const text = (value) => {
  const bytes = encoder.encode(value);
  const length = [];
  let rest = bytes.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return [...length, rest, ...bytes];
};
const event = (action, value) => [...text(action), ...text(value)];

// Takes what the engine shows, and brings the program of a class that it asks for; whether it asked for one.
const answer = (view, given) => {
  const shown = Buffer.from(view.answer(true)).toString("latin1");
  const name = [...shown.matchAll(/programs\/[\w-]+\.json/g)].map(([name]) => name).find((name) => !given.has(name));
  if (!name) return false;
  given.add(name);
  const program = readFileSync(new URL(`../../../static/${name}`, import.meta.url), "utf8");
  view.take(new Uint8Array([1, ...event(`fetched ${name}`, program)]));
  return true;
};

// Opens the page with the plan of `link` until the first view stands. As static/answers.js does it: 0 nothing is left to do, 2 something
// to show, 3 the first view stands.
const open = (link, language = "en", isEmbedded = false) => {
  const { embedded } = engine.Answering;
  const view = isEmbedded ? embedded("http://localhost/embed.html", link, language) : new engine.Answering("http://localhost/", link, language);
  view.take(new Uint8Array([0]));
  const given = new Set();
  if (!link) view.give(readFileSync(new URL("../../../static/programs/qwen3.json", import.meta.url), "utf8"));
  let turn;
  for (let steps = 0; (turn = view.work()) !== 3; steps += 1) {
    const brought = turn !== 1 && answer(view, given);
    if ((turn === 0 && !brought) || steps > 1e6) throw new Error(`The first view of ${link} never stands.`);
  }
  view.answer(true);
  return view;
};

const view = open("");
write(first);
if (stages.length === 0) process.exit();

// What links open with, the most frequent kinds first (what fits one GPU, what does not, several GPUs, other tasks): each kind is a stage of its own, so that a link need not fetch what only others do.
const LINKS = [
  [
    "v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&per_device_train_batch_size=2&max_length=4096",
    "v=1&model=meta-llama%2FLlama-3.1-8B&gpu=rtx-4090&method=qlora&lora_r=64&gradient_checkpointing=false",
    "v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&method=full&optim=adamw_8bit&gradient_accumulation_steps=8",
    "v=1&model=meta-llama/Llama-3.2-1B&gpu=t4&method=lora&mixed_precision=fp16&torch_dtype=float16",
  ],
  [
    "v=1&per_device_train_batch_size=64",
    "v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090&method=full",
  ],
  [
    "v=1&model=meta-llama/Llama-3.1-8B&gpu=a100-80gb&num_gpus=4&method=lora",
    "v=1&model=meta-llama/Llama-3.1-8B&gpu=a100-80gb&num_gpus=8&method=full&framework=deepspeed&zero_stage=3",
    "v=1&model=Qwen/Qwen3-8B&gpu=a100-80gb&num_gpus=4&method=full&framework=deepspeed&zero_stage=2&offload_optimizer=cpu",
    "v=1&model=Qwen/Qwen3-8B&gpu=a100-80gb&num_gpus=4&method=full&framework=fsdp2",
  ],
  [
    "v=1&task=dpo&model=Qwen/Qwen3-4B&gpu=a100-80gb",
    "v=1&task=grpo&model=Qwen/Qwen2.5-1.5B&gpu=rtx-4090&engine=vllm",
  ],
];
LINKS.forEach((links, at) => {
  for (const link of links) open(link).free();
  write(stages[at]);
});
for (const link of ["", ...LINKS.flat()]) open(link, "zh").free();
write(stages[LINKS.length]);

// What is further down, until nothing is left to do; charts are drawn for a width, which a browser measures: of a wide screen, of a frame in
// a page of documentation, and of a phone.
const goOn = (view) => {
  view.go_on();
  for (const width of ["800", "640", "330"]) {
    const places = ["phases", "comparison", "map", "waterfall"];
    view.take(new Uint8Array([places.length, ...places.flatMap((place) => event(`width ${place}`, width))]));
    let turn;
    while ((turn = view.work()) !== 0) if (turn === 2) view.answer(true);
    view.answer(false);
  }
};

// What stands below the verdict of an embedded plan (docs/embedding.md), and what a reader may change there, as the element says it.
const VIEWS = ["", "&view=comparison", "&view=phases", "&view=map", "&view=table", "&inputs=method%2Cgpu%2Cper_device_train_batch_size"];
for (const below of VIEWS) {
  const embedded = open(`${LINKS[0][1]}${below}&lang=en`, "en", true);
  goOn(embedded);
  embedded.free();
}
write(stages[LINKS.length + 1]);

goOn(view);
write(stages[LINKS.length + 2]);
