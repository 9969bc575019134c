//! The page in English.

mod accuracy;
mod advice;
mod charts;
mod choices;
mod embedding;
mod fields;
mod form;
mod gallery;
pub(crate) mod guide;
mod notes;
mod options;
mod problems;
mod sources;
mod tabs;
mod tasks;
mod terms;
pub(crate) mod why;

use crate::labels::{choice, field};
use crate::texts::Texts;

pub use problems::problem_line;

pub(super) const TEXTS: Texts = Texts {
    full_fine_tuning: "full fine-tuning",
    open_in_headroom: "Open in Headroom",
    versus: "vs",
    tagline: "GPU memory of a training run, before the run",
    skip_to_result: "Skip to the verdict",
    language: "Language",
    theme: "Theme",
    theme_system: "System",
    theme_light: "Light",
    theme_dark: "Dark",
    read_files: "Paste or drop",
    write_files: "Export",
    copy_link: "Copy link",
    link_copied: "Link copied",
    copy_by_hand: "The browser did not allow copying. Select this and copy it yourself:",
    start_over: "Start over",
    undo: "Undo",
    redo: "Redo",
    recent: "Recent",
    recent_none: "No plans yet.",
    recent_where: "Kept in this browser only.",
    recent_forget: "Forget these plans",
    close: "Close",
    link_problems_title: "Part of this link could not be read",
    link_problems_intro: "The page opened with everything else. What was left at its default:",
    private_note: "The plan lives in the part of the address after #, which browsers never send to a server.",
    units_note: "GiB = 2³⁰ bytes. GB = 10⁹ bytes, only where a maker states it.",
    licence_note: "Free software, under either licence:",
    source_code: "Source code",
    tabs: tabs::TEXTS,
    charts: charts::TEXTS,

    form_title: "Plan",
    section_method: "Training",
    section_savers: "Memory savers",
    section_parallel: "Sharding and offload",
    section_advanced: "Advanced",
    advanced_general: "Step",
    advanced_lora: "Adapters",
    form: form::TEXTS,
    fields: fields::FIELDS,
    further_fields: || &fields::FURTHER,
    last_good_stays: "The last good value stays in use.",
    no_match: "Nothing matches. Try fewer letters, or give a config.json below.",
    no_gpu_match: "Nothing matches. Try fewer letters, or give its memory.",
    only_near: "Nothing has this name. The nearest:",
    matches: |count| if count == 1 { "1 match".to_owned() } else { format!("{count} matches") },
    parameters: "parameters",
    active: "active",
    own_config: "Use your own config.json",
    own_config_help: "Paste it, choose the file, or drop the file anywhere on this box. It stays in your browser and travels in the link.",
    program_fetching: |class| format!("Fetching the recorded forward code of {class}…"),
    program_not_fetched: |class| {
        format!(
            "The recorded forward code of {class} could not be fetched, so the model is read as a Llama-like one. Check the connection, then choose the model again."
        )
    },
    config_text: "config.json",
    config_file: "Choose a file",
    config_name: "Name to show",
    config_use: "Use this config",
    config_drop: "Drop the file to read it",
    config_empty: "Paste the text of a config.json first.",
    config_unreadable: "The file could not be read as text. Paste its content instead.",
    config_too_large: |size| {
        format!(
            "This is {size}; a config.json is never above 1 MiB. Choose the file called config.json (not tokenizer.json or an index of weights)."
        )
    },
    config_read: |class, layers, params| format!("Read as {class}: {layers} layers, {params} parameters."),
    config_complete: "It says everything that decides the model's size.",
    config_assumed: "It does not say these, so the defaults of its class are assumed; add what differs:",
    config_assumed_rest: |count| format!("{count} further keys that were assumed"),
    own_model: "my model",
    trainer_decides: "as the trainer decides",
    computing: "computing…",
    custom_gpu: "Another GPU: give its memory",
    tasks: || &tasks::TEXTS,
    sources: || &sources::TEXTS,
    embedding: || &embedding::EMBEDDING,
    gallery: || &gallery::TEXTS,
    options: || &options::TEXTS,
    effective_batch: |batch, steps, gpus, effective| {
        let noun = if effective == 1 { "sequence" } else { "sequences" };
        format!("{batch} × {steps} × {gpus} = {effective} {noun} a step")
    },
    tokens_per_step: |tokens| format!("{tokens} tokens"),
    all_linear: "All linear layers",
    attention_only: "Attention: q, k, v, o",
    named_modules: "Chosen by name",
    named_modules_label: "Module names, separated by commas",
    auto: "auto",
    on: "on",
    off: "off",
    as_weights: "as the weights",
    zero_stages: [
        choice("0", "nothing is sharded"),
        choice("1", "optimizer states"),
        choice("2", "and gradients"),
        choice("3", "and weights"),
    ],

    verdict_title: "Verdict",
    used_of: |used, total| format!("{used} of {total}"),
    headroom: |bytes| format!("{bytes} of headroom"),
    missing: |bytes| format!("{bytes} over"),
    band: |low, high| format!("Expected range: {low} to {high}."),
    expandable_saves: |less| format!("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True lowers it by {less}."),
    limit: |name, request, phase, stranded| {
        format!("On a smaller GPU “{name}” ({request}, {phase}) fails first, with {stranded} free but fragmented.")
    },
    fails: |place, tried, free, name| {
        format!("Fails {place}: “CUDA out of memory. Tried to allocate {tried}”, with {free} free. It is for: {name}.")
    },
    while_loading: "while the model is loaded",
    in_step: |phase, step| format!("in step {step}, {phase}"),
    times_used: |times| format!("{times} times the memory of the GPU"),
    percent_used: |percent| format!("{percent} % of the GPU"),
    capacity: "GPU",
    peak: tasks::peak,
    how_accurate: "How accurate is this?",
    per_gpu: "on each GPU",
    cannot_estimate: "This plan cannot be estimated yet",
    fix_it: |field, value| format!("Set {field} to {value}"),
    fix_these: "Fix these settings:",
    changed_with_it: "Changed with it:",
    why: "Why:",
    last_good: "The figures below belong to the last plan that could be estimated.",
    trainable: |trainable, all, percent| format!("{trainable} of {all} parameters are trained ({percent} %)"),
    accuracy: || &accuracy::TEXTS,
    advice: advice::TEXTS,

    comparison_title: "Compare",
    comparison_intro: "The same model, data and GPUs, each way to train and to shard. Choose one to make it the plan.",
    comparison_table: "The comparison as a table",
    current_plan: "current plan",
    use_plan: "Use",
    offload_optimizer_short: "offload",
    offload_param_short: "parameter offload",
    offload_all_short: "full offload",
    unsharded: "not sharded",
    bits: |bits| format!("{bits}-bit"),
    gpu_capacity: |bytes| format!("GPU: {bytes}"),
    column_plan: "Plan",
    column_total: "Needs",
    column_verdict: "Verdict",
    cannot_run: "cannot run",
    bar_description: |plan, bytes, fit| format!("{plan}: {bytes}, {fit}"),

    phases_title: "Memory over one step",
    phases_intro: "What each phase of one step needs at its own peak; overhead is the CUDA context with NCCL, and what the allocator needs beyond the tensors of that phase. The verdict stands on the highest of these, never on the sum of everything.",
    phases_table: "Phases as a table",
    column_phase: "Phase",
    peak_mark: "peak",
    waterfall_before: "now",
    waterfall_after: "advised",
    level_coarser: "lower precision of arithmetic or optimizer state",
    level_different: "the training changes",
    breakdown_title: "Where every byte goes",
    breakdown_intro: |phase, bytes| {
        format!(
            "What lives at the peak, in the phase “{phase}”: {bytes} in tensors, and what is needed beside them. Open a row for its formula."
        )
    },
    breakdown_sum: "Needed in all, as in the verdict",
    formula: "Formula",
    with_numbers: "With numbers",
    result: "Result",
    result_bytes: |bytes, exact| format!("{bytes} = {exact} bytes"),
    source: "Source",
    lives_in: "Lives in",
    not_at_peak: "Allocations that are not alive at the peak",
    exact_bytes: |exact| format!("{exact} bytes"),

    metrics_title: "What each tool would show",
    metric_allocated: field("Allocated", "", "Tensors alive at the peak: torch.cuda.max_memory_allocated."),
    metric_required: field(
        "Required",
        "",
        "The smallest memory on which the step runs with PyTorch's default allocator, context apart.",
    ),
    metric_required_expandable: field(
        "Required, expandable segments",
        "",
        "The same with expandable_segments:True, which leaves fewer holes.",
    ),
    metric_reserved: field(
        "Reserved",
        "",
        "What the caching allocator takes on a GPU that never runs short: torch.cuda.max_memory_reserved.",
    ),
    metric_context: field("Context", "", "CUDA context, libraries and NCCL, outside PyTorch's allocator."),
    metric_device: field("Device", "", "What nvidia-smi shows: reserved and context together."),
    host_title: "Host memory",
    host_intro: |machines| match machines {
        1 => "On this machine, for all its processes together.".to_owned(),
        _ => format!("On all {machines} machines together."),
    },
    pinned: "pinned",
    notes_title: "Assumptions and warnings",

    category: terms::category,
    phase: terms::phase,
    term: terms::term,
    fit: terms::fit,
    guessed_fit: terms::guessed_fit,
    step_alone_fits: "Step fits, evaluation does not",
    note: notes::note,
    problem: problems::problem,
    segment: terms::segment,
    task: choices::task,
    method: choices::method,
    dtype: choices::dtype,
    precision: choices::precision,
    trainer: choices::trainer,
    optimizer: choices::optimizer,
    attention: choices::attention,
    kernel: choices::kernel,
    framework: choices::framework,
    adapter_dtype: choices::adapter_dtype,
    quant_type: choices::quant_type,
    quant_storage: choices::quant_storage,
    loss: choices::loss,
    loss_type: choices::loss_type,
    eval_strategy: choices::eval_strategy,
    packing_strategy: choices::packing_strategy,
    pooling: choices::pooling,
    embedding_loss: choices::embedding_loss,
    sharding_strategy: choices::sharding_strategy,
    backward_prefetch: choices::backward_prefetch,
};
