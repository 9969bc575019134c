/** A field of a plan as JSON has it. */
export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

/**
 * A plan: what is trained, how, and on what. Every field has a default; names are those of the trainers' own configuration.
 * `LINKS.md` of Headroom lists all of them.
 */
export interface Plan {
  /** A model of the catalogue by any name that means one, or a config.json. */
  model?: string | { config: { [key: string]: Value }; name?: string };
  /** A GPU by any name that means one, or one of your own. */
  gpu?: string | { [key: string]: Value };
  num_gpus?: number;
  task?: string;
  method?: "full" | "lora" | "qlora";
  per_device_train_batch_size?: number;
  gradient_accumulation_steps?: number;
  max_length?: number;
  gradient_checkpointing?: boolean;
  zero_stage?: 0 | 1 | 2 | 3;
  [field: string]: Value | { [key: string]: Value } | undefined;
}

/** Bytes of one phase of the step. */
export interface Phase {
  /** Its name. */
  phase: string;
  /** Bytes of tensors alive at its peak. */
  allocated_bytes: number;
  /** The same with fragmentation and context: what it needs of the GPU. */
  needed_bytes: number;
  [key: string]: Value;
}

/** What a tensor, or several of a kind, takes. */
export interface Allocation {
  name: string;
  module: string;
  category: string;
  /** The most it ever holds, bytes. */
  bytes: number;
  /** What it holds at the peak of the step, bytes. */
  bytes_at_peak: number;
  formula: string;
  formula_with_numbers: string;
  source: string;
  [key: string]: Value;
}

/** What a plan needs. All sizes in bytes. */
export interface Estimate {
  model: string;
  gpu: string;
  /** The fragment of a link to the plan. */
  link: string;
  param_count: number;
  active_param_count: number;
  trainable_count: number;
  verdict: "fits" | "tight" | "does_not_fit";
  headroom_bytes: number;
  used_share: number;
  /** Memory of the GPU as its driver reports it. */
  card_bytes: number;
  peak: { [key: string]: Value };
  phases: Phase[];
  allocations: Allocation[];
  overheads: { name: string; category: string; bytes: number; source: string }[];
  failure: { [key: string]: Value } | null;
  host_bytes: number;
  host: { [key: string]: Value }[];
  host_verdict: Value;
  step_time: { [key: string]: Value };
  batches: { [key: string]: Value };
  models: { [key: string]: Value }[];
  rollout: { [key: string]: Value } | null;
  /** Sentences. */
  notes: string[];
  /** Measured steps near the plan, with the estimate's error on each. */
  accuracy: { [key: string]: Value };
}

/** What to change so that a plan fits its GPUs, or what to raise where they are idle. Each proposal has a `link`. */
export interface Advice {
  link: string;
  fits: boolean;
  needed_bytes: number;
  card_bytes: number;
  /** Where frozen weights load in fp32: the change that loads them in 16 bits. */
  frozen_in_float32: { [key: string]: Value } | null;
  /** Where the plan generates with transformers: the change that generates with vLLM. */
  vllm: { [key: string]: Value } | null;
  /** Where an evaluation runs out of memory between steps: the largest batch that may fit. */
  smaller_evaluation: { per_device_eval_batch_size: number; link: string } | null;
  levels: { [key: string]: Value }[] | null;
  hardware: { [key: string]: Value }[] | null;
  fill: { [key: string]: Value } | null;
  levers: { [key: string]: Value }[];
  tiers: { [key: string]: Value }[];
  ladder: { [key: string]: Value }[];
}

/** What the text of a failure or of a monitor states, and what is behind it. Figures that it does not state are absent. */
export interface Diagnosis {
  /** The message that the findings are about. */
  reading: { format: string; line: number; [figure: string]: Value };
  readings: { [figure: string]: Value }[];
  findings: { id: string; severity: "note" | "warning" | "error"; message: string; mend: string; [key: string]: Value }[];
  /** Keys of the run's plan that are to be given: none where the plan was. */
  missing: string[];
  /** Fields of the plan that the text says. */
  plan?: { [field: string]: string };
  /** Ids of the GPUs that it can be of, the likeliest first. */
  gpus?: string[];
}

/** How a link opens. */
export interface LinkOptions {
  /** A second plan: the link compares the two. */
  other?: Plan | string;
  /** The page that the link opens; without it the link is the fragment alone, with its `#`. */
  page?: string;
  view?: "verdict" | "comparison" | "phases" | "map" | "table";
  lang?: "en" | "zh";
  theme?: "light" | "dark";
}

/** What a link says. */
export interface Link {
  link: string;
  title: string;
  /** Every field. */
  plan: Plan;
  other?: Plan;
  view?: string;
  lang?: string;
  theme?: string;
}

/** What `plan` needs: an object, its JSON, or a link. Throws an Error that names the field and its fix. */
export function estimate(plan: Plan | string): Estimate;
/** The same as the text that `headroom estimate --json` prints. */
export function estimateJson(plan: Plan | string): string;
/** What to change in `plan`. Takes up to some seconds for the largest models. */
export function advise(plan: Plan | string): Advice;
/** The same as the text that `headroom advise --json` prints. */
export function adviseJson(plan: Plan | string): string;
/** What a failure's or a monitor's text states, beside the plan of the run, where it is given. Throws an Error where it states nothing. */
export function diagnose(said: string, plan?: Plan | string): Diagnosis;
/** The same as the text that `headroom diagnose --json` prints. */
export function diagnoseJson(said: string, plan?: Plan | string): string;
/** A link to `plan`. */
export function link(plan: Plan | string, options?: LinkOptions): string;
/** What a link says. */
export function readLink(link: string): Link;
/** The plan of a link, every field. */
export function fromLink(link: string): Plan;
