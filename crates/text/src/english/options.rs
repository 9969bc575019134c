//! The planning tools in English.

use headroom_core::advise::solve::{Question, Unknown};
use headroom_core::advise::summary::{Check, SummaryItem};
use headroom_core::units::bytes_text;

use super::terms;
use crate::options::{MapTexts, OptionTexts, PairTexts, SolveTexts, SummaryTexts, TierTexts};

pub(super) const TEXTS: OptionTexts = OptionTexts {
    tiers: TierTexts {
        title: "Method by sharding",
        intro: "Bars: what each GPU needs, up to the line that is the GPU. Times are for as many tokens as the current plan takes, with their expected range.",
        wide_adapters: "Not sharded, adapters are kept and multiplied in fp32 (peft's autocast_adapter_dtype); DeepSpeed casts them to 16 bits, which is why LoRA can be quicker and smaller there.",
        one_gpu: "On one GPU ZeRO shards nothing: only offload to host memory makes room.",
        sharding: "Sharding",
        on_gpu: "GPU",
        in_host: "host",
        time: "time",
        quickest: "quickest that fits",
        slower: "slower",
        shards_nothing: "shards nothing on one GPU",
        host_too_small: "more host memory than such machines have",
        not_offered: "quantised weights that are not sharded",
        pin: "Pin this plan as the baseline of times",
        unpin: "Unpin",
        pinned: |title| format!("Times are beside the pinned plan: {title}"),
        baseline: "baseline",
        as_chart: "The same as a chart, to save",
        ladder_title: "Four DeepSpeed presets by GPU size",
        ladder_intro: "Each sets sharding, offload, batch, accumulation and length together. The quickest that fits is marked.",
        ladder_gpu,
        ladder_setting: |batch, steps, length| format!("batch {batch} × {steps}, length {length}"),
    },
    solve: SolveTexts {
        title: "What is the most that fits?",
        intro: "Everything else stays as it is. Every answer, and that the next value does not fit, is verified by simulation.",
        question,
        searching: "Searching…",
        fits: |value| format!("{value} fits"),
        beyond: |value, fit| format!("{value}: {}", terms::fit(fit).to_lowercase()),
        no_beyond: "nothing larger to try",
        nothing: "Nothing fits, whatever the value. See the advice above.",
        is_current: "as it is now",
        largest: "Largest models",
        largest_intro: "The largest model of each family that fits, families that people train most first. What saves memory may be switched on, offload to the host left out; method, effective batch and length stay unless named.",
        largest_more: |count| match count {
            1 => "1 more family has a model that fits.".to_owned(),
            _ => format!("{count} more families have a model that fits."),
        },
        released: |month, size| format!("released {month}, {size} parameters"),
        only_model: "nothing but the model changes",
    },
    map: MapTexts {
        title: "Batch by length",
        intro: "What each pair would use of the GPU. Choose one to make it the plan: gradient accumulation then keeps the global batch where the batch divides it.",
        batch: "batch per GPU",
        length: "sequence length, tokens",
        answer_length: "answer length, tokens",
        used: "0 to 100 % of the GPU",
        keys: "Arrow keys move over the map, Enter chooses.",
        place: |batch, length, need, fit| format!("Batch {batch}, length {length}: {need}, {fit}"),
        accumulates: |steps, keeps| match (steps, keeps) {
            (steps, true) => format!(". Gradient accumulation {steps} keeps the global batch"),
            (steps, false) => format!(". Gradient accumulation stays {steps}: the global batch changes"),
        },
        with_advice: "With advice",
        sentence: |length, batch, own, longest| {
            let at_length = match batch {
                Some(batch) => format!("at length {length} a batch of up to {batch} fits"),
                None => format!("at length {length} no batch fits"),
            };
            let at_batch = match longest {
                Some(longest) => format!("at batch {own} a length of up to {longest} fits"),
                None => format!("at batch {own} no length fits"),
            };
            format!("Of the values on the map, {at_length}, and {at_batch}.")
        },
        table: "The map as a table",
        column_length: "Length",
        column_batch: "Largest batch on the map that fits",
        none_fits: "none",
    },
    pair: PairTexts {
        title: "Before and after",
        intro: "Set the plan beside another one: keep it, change something, and see what that does.",
        keep: "Keep this plan as “before”",
        paste: "Or paste a link to another plan",
        paste_help: "The whole address or the part after #. It is read here and sent nowhere.",
        no_link: "This is no link to a plan:",
        partly: "Part of this link could not be read, and stays at its default:",
        copy_link: "Copy link to both",
        swap: "Swap the two",
        kept: "This plan is kept. Change something in the form to see the difference.",
        before: "Before",
        after: "After",
        same: "The two plans are the same.",
        change: "Difference",
        differs: "What differs",
        field: "Field",
        empty: "not set",
        figures: "Results",
        figure: "Figure",
        need: "Needs on each GPU",
        verdict: "Verdict",
        effective_batch: "Effective batch",
        tokens: "Tokens a step",
        time: "Time for as many tokens",
        by_category: "At peak, by category",
        category: "Category",
        by_phase: "Peak of each phase",
        phase: "Phase",
        estimated: "Before each plan's own replay, by what other plans needed.",
    },
    summary: SummaryTexts {
        title: "Before you start",
        intro: "What the run should print when it starts, and what to check first.",
        figure: "Figure",
        value: "Value",
        checklist: "Checklist",
        copy_text: "Copy as text",
        copy_markdown: "Copy as Markdown",
        copied: "Copied",
        json: "The whole answer as JSON",
        json_intro: "For scripts: what headroom estimate --json and the packages for Node and Python print, to the byte. Sizes are in bytes.",
        copy_json: "Copy JSON",
        item,
        check,
    },
};

fn question(question: Question) -> &'static str {
    match question {
        Question::Most(Unknown::Batch) => "Batch per GPU",
        Question::Most(Unknown::Length) => "Sequence length",
        Question::Most(Unknown::Rank) => "LoRA rank",
        Question::Most(Unknown::Generations) => "Answers a prompt",
        Question::Most(Unknown::CompletionLength) => "Answer length",
        Question::FewestGpus => "Fewest GPUs",
        Question::SmallestGpu => "Smallest GPU",
    }
}

fn ladder_gpu(preset: &str) -> &'static str {
    match preset {
        "deepspeed" => "above 12 GB",
        "stage2_offload" => "6 to 12 GB",
        "stage3" => "4 to 6 GB",
        "minimal" => "below 4 GB",
        _ => "",
    }
}

fn item(item: SummaryItem) -> &'static str {
    match item {
        SummaryItem::Batch => "Batch per GPU",
        SummaryItem::Accumulation => "Accumulation",
        SummaryItem::Gpus => "GPUs",
        SummaryItem::EffectiveBatch => "Effective batch",
        SummaryItem::Prompts => "Prompts a round",
        SummaryItem::Generations => "Answers a prompt",
        SummaryItem::RoundSequences => "Sequences a round",
        SummaryItem::SequencesAtOnce => "Generated at once per GPU",
        SummaryItem::PromptTokens => "Prompt tokens",
        SummaryItem::NewTokens => "New tokens",
        SummaryItem::Length => "Sequence length",
        SummaryItem::TokensPerStep => "Tokens a step",
        SummaryItem::Rank => "LoRA rank",
        SummaryItem::Need => "Needs on each GPU",
        SummaryItem::GpuMemory => "Memory of each GPU",
        SummaryItem::HostMemory => "Host memory for offload",
    }
}

fn check(check: Check) -> String {
    let thousandths = |value: u16| format!("{:.2}", f64::from(value) / 1000.0);
    match check {
        Check::EmptyGpu => "No other process holds memory on the GPUs: see nvidia-smi before the start.".to_owned(),
        Check::ExpandableSegments => {
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True is set for every process.".to_owned()
        }
        Check::HostMemory { bytes } => {
            format!("The host has {} free for offload, beside what loading the model takes.", bytes_text(bytes))
        }
        Check::ThreeSteps => {
            "Three steps run without an out-of-memory error: optimizer states exist from the second on.".to_owned()
        }
        Check::LongestFirst => "The longest batch comes among the first: shorter ones need less.".to_owned(),
        Check::Truncation { percent } => format!("Fewer than {percent} % of sequences are cut at the length limit."),
        Check::Evaluation => {
            "Evaluation uses a batch no larger than training and keeps the loss only, not the logits.".to_owned()
        }
        Check::LossScale => "The loss scale of fp16 stays above 1.".to_owned(),
        Check::ReferenceAgrees => "Rewards and margins start at 0: policy and reference still agree.".to_owned(),
        Check::KlBands { careful, free } => {
            let [a, b, c, d] = [careful.0, careful.1, free.0, free.1].map(thousandths);
            format!("KL to the reference stays within {a}–{b} in a careful run, {c}–{d} where it may move further.")
        }
        Check::JudgeTime { seconds } => format!("The judge or reward model answers within {seconds} s."),
    }
}
