//! Findings in English.

use headroom_core::units::{bytes_text, count_text};
use headroom_text::Language;

use super::causes::is_over_share;
use super::near::Nearest;
use super::recognise::{Class, Recognised};
use super::tried::{Change, Tried};
use super::{
    Kind, Library, Place, Replayed, Said, likely_own, off_per_mille, per_cent, share_in_hundredths, whole_mib,
};
use crate::diagnose::reading::{EngineFigures, Process};
use crate::snapshot::{Comparison, OfSize};

pub(super) fn said(kind: &Kind) -> Said {
    let (what, fix) = match kind {
        Kind::OtherProcesses { bytes, processes, decisive } => others(*bytes, processes, *decisive),
        Kind::Processes { bytes, processes } => asked_processes(*bytes, processes),
        Kind::UnexplainedUse { bytes } => (
            format!(
                "{} are in use beyond what PyTorch and a CUDA context explain: another process holds them.",
                bytes_text(*bytes)
            ),
            "Look at nvidia-smi: what is not part of the run can end, or the run can take another GPU.".to_owned(),
        ),
        Kind::Fragmentation { unallocated, tried, replayed } => fragmentation(*unallocated, *tried, *replayed),
        Kind::FailedRequest(recognised) => (recognised_text(recognised), class_fix(recognised.class).to_owned()),
        Kind::UnknownRequest { tried, is_shared_segment, nearest } => {
            unknown(*tried, *is_shared_segment, nearest.as_ref())
        }
        Kind::Full { allocated, total, tried } => full(*allocated, *total, *tried),
        Kind::LargerThanGpu { tried, total } => (
            format!("The request of {} is more than the {} that the GPU has.", bytes_text(*tried), bytes_text(*total)),
            "Make what it is for smaller: fewer tokens at once, another attention or loss, or more GPUs to shard over."
                .to_owned(),
        ),
        Kind::ImpossibleSize => (
            "More than an exbibyte was asked for: the size is wrong, not the memory short.".to_owned(),
            "Look at the first error above it, of this rank and of others: a collective that failed, or a length or a shape \
             that was read of spoiled data."
                .to_owned(),
        ),
        Kind::RefusedThoughFree { tried, free } => (
            format!(
                "The driver refused {} although {} were free: a limit of the job, the container, WSL or a virtual GPU, or \
                 another process took them and has ended since.",
                bytes_text(*tried),
                bytes_text(*free)
            ),
            "Look for a memory limit on this process, and watch the monitor while it runs.".to_owned(),
        ),
        Kind::Capped { allowed, total } => (
            format!(
                "set_per_process_memory_fraction allows {} of the {} that the GPU has.",
                bytes_text(*allowed),
                bytes_text(*total)
            ),
            "Raise the fraction, or remove the call.".to_owned(),
        ),
        Kind::Context { bytes, planned } => context(*bytes, *planned),
        Kind::Library { library, tried } => (library_text(*library, *tried), library_fix(*library).to_owned()),
        Kind::EngineCache { needed, available } => engine(*needed, *available),
        Kind::EngineShare { share, free, total } => engine_share(*share, *free, *total),
        Kind::EngineTokens { request, cache } => (
            format!(
                "A request may have {} tokens, and the engine's cache has room for {}.",
                count_text(*request),
                count_text(*cache)
            ),
            format!("Lower max_model_len to {cache}, or raise gpu_memory_utilization."),
        ),
        Kind::EngineStart(figures) => engine_start(figures),
        Kind::EngineRequest { tried } => (
            format!(
                "The request of {} failed in the engine that generates, not in the training step: its weights, graphs and cache \
                 had taken the GPU.",
                bytes_text(*tried)
            ),
            "Lower gpu_memory_utilization (mem_fraction_static) or max_num_seqs: an engine keeps its cache for as long as it runs."
                .to_owned(),
        ),
        Kind::HostRanOut { bytes, planned } => host_ran_out(*bytes, *planned),
        Kind::HostTooSmall { held, loading, available } => (
            host_use(*held, *loading, *available),
            "Load with device_map or on one rank only, offload less, or take a machine with more memory.".to_owned(),
        ),
        Kind::Retries { retries, ooms } => (
            format!(
                "The allocator gave its cache back {} to go on, and {} failed all the same: the run is at the limit, and each \
                 retry stalls the GPU.",
                counted(*retries, "time"),
                counted(*ooms, "request")
            ),
            "Leave it more room: a smaller micro-batch, or expandable_segments:True.".to_owned(),
        ),
        Kind::OtherGpu { stated, planned } => (
            format!(
                "The text is of a GPU with {}, the plan of one with {}.",
                bytes_text(*stated),
                bytes_text(*planned)
            ),
            "Choose the GPU that the run was on.".to_owned(),
        ),
        Kind::DoesNotFit { needed, there } => (
            format!("The plan needs {} for tensors, and the GPU leaves {}.", bytes_text(*needed), bytes_text(*there)),
            "The advice shows the quickest way to fit.".to_owned(),
        ),
        Kind::Agrees { measured, estimated } => (
            format!("Measured {}, by the plan {}: the same run.", bytes_text(*measured), bytes_text(*estimated)),
            String::new(),
        ),
        Kind::Differs { measured, estimated, tried } => (
            format!("Measured {}, by the plan {}.", bytes_text(*measured), bytes_text(*estimated)),
            explanations(tried),
        ),
        Kind::Snapshot(comparison) => snapshot(comparison),
        Kind::SnapshotWithoutStep => (
            "The trace has no whole step: it begins too late, or the run ended in its first step.".to_owned(),
            "Call torch.cuda.memory._record_memory_history() before the first step and dump after the third."
                .to_owned(),
        ),
        Kind::NoBatchSize => (
            "auto_find_batch_size tried smaller and smaller batches, and a batch of one ran out of memory too.".to_owned(),
            "Take what does not shrink with the batch: shorter sequences, gradient checkpointing, LoRA or a 4-bit base, \
             sharding. The advice shows the quickest way to fit."
                .to_owned(),
        ),
        Kind::HiddenProcess => (
            "The message counts no memory, or less than none, for the process itself: a container hides it from NVML. The figure \
             says nothing of other processes."
                .to_owned(),
            String::new(),
        ),
    };
    Said { what, fix }
}

fn others(bytes: u64, processes: &[Process], decisive: Option<bool>) -> (String, String) {
    let mut what = format!("Other processes hold {} of the GPU", bytes_text(bytes));
    let named: Vec<String> = processes.iter().take(3).map(process).collect();
    if !named.is_empty() {
        what.push_str(&format!(" ({})", named.join(", ")));
    }
    match decisive {
        Some(true) => what.push_str(": without them the request would have been met."),
        Some(false) => what.push_str("; the request would have failed without them, too."),
        None => what.push('.'),
    }
    (what, "If they are not part of the run, end them, or choose another GPU with CUDA_VISIBLE_DEVICES.".to_owned())
}

fn asked_processes(bytes: u64, processes: &[Process]) -> (String, String) {
    let own = likely_own(processes);
    if own.is_empty() {
        return (format!("Processes hold {} of the GPU.", bytes_text(bytes)), String::new());
    }
    let named = own.iter().map(|one| process(one)).collect::<Vec<_>>().join(", ");
    let names = own.iter().map(|one| name(one)).collect::<Vec<_>>().join(", ");
    let (be, pronoun) = if own.len() == 1 { ("Is", "it") } else { ("Are", "them") };
    let fix = format!(
        "{be} {names} your run? If so, that memory is the run's own, and nothing has to end. If not, a run beside {pronoun} has \
         that much less; CUDA_VISIBLE_DEVICES chooses another GPU."
    );
    (format!("Processes hold {} of the GPU ({named}).", bytes_text(bytes)), fix)
}

/// `python 41823`.
fn name(process: &Process) -> String {
    let name = process.name.as_deref().unwrap_or("process");
    process.pid.map_or_else(|| name.to_owned(), |pid| format!("{name} {pid}"))
}

fn process(process: &Process) -> String {
    format!("{}: {}", name(process), bytes_text(process.bytes))
}

fn fragmentation(unallocated: u64, tried: Option<u64>, replayed: Option<Replayed>) -> (String, String) {
    let mut what = format!("PyTorch had {} that it had taken and not handed out", bytes_text(unallocated));
    if let Some(tried) = tried {
        what.push_str(&format!(", and could not meet a request for {}: fragmentation", bytes_text(tried)));
    }
    what.push('.');
    if let Some(Replayed { required, required_expandable, there }) = replayed {
        let runs = if required_expandable <= there { "runs" } else { "still does not run" };
        what.push_str(&format!(
            " By replay the plan needs {} for tensors, {} with expandable segments: on this GPU, which leaves {}, it {runs}.",
            bytes_text(required),
            bytes_text(required_expandable),
            bytes_text(there)
        ));
    }
    (what, "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the environment of every process.".to_owned())
}

/// Step, phase and what it is: `the logits, in Loss of step 1`.
fn place(place: &Place) -> String {
    let texts = Language::English.texts();
    let term = (texts.term)(place.term);
    let module = if place.module.is_empty() { String::new() } else { format!(" of {}", place.module) };
    let phase = (texts.phase)(place.phase);
    match place.step {
        0 => format!("{term}{module}, while loading"),
        1 => format!("{term}{module} ({phase}, first step)"),
        _ => format!("{term}{module} ({phase})"),
    }
}

/// `2.32 GiB in the plan`, and by how much that is more or less than what the message says, where the digits differ.
fn in_plan(bytes: u64, tried: u64) -> String {
    let off =
        if bytes_text(bytes) == bytes_text(tried) { String::new() } else { format!(" ({})", off_by(bytes, tried)) };
    format!("{} in the plan{off}", bytes_text(bytes))
}

/// `0.4 % more`.
fn off_by(bytes: u64, tried: u64) -> String {
    let (off, is_more) = off_per_mille(bytes, tried);
    format!("{} % {}", per_cent(off), if is_more { "more" } else { "less" })
}

fn recognised_text(recognised: &Recognised) -> String {
    let Recognised { bytes, tried, allocated_gap, is_predicted, is_in_stack, others, .. } = recognised;
    let request = bytes_text(*tried);
    let first = format!("{}: {}, {}", class(recognised.class), place(&recognised.place), in_plan(*bytes, *tried));
    let listed: Vec<String> =
        others.iter().map(|(other, bytes)| format!("{}, {}", place(other), in_plan(*bytes, *tried))).collect();
    let mut what = if others.is_empty() || recognised.is_told_apart() {
        format!("The failed request of {request} is {first}.")
    } else {
        let count = count_text(others.len() as u64 + 1);
        format!("The failed request of {request} matches {count} requests of the plan: {first}; {}.", listed.join("; "))
    };
    if *is_predicted {
        what.push_str(" The plan's own replay fails at it on this GPU.");
    }
    if *is_in_stack {
        what.push_str(" The stack above the message is in that part of the step.");
    }
    if let Some(gap) = allocated_gap.filter(|gap| *gap > 0) {
        what.push_str(&format!(" What was allocated is {} outside what the plan has there.", bytes_text(gap)));
    }
    if !others.is_empty() && recognised.is_told_apart() {
        what.push_str(&format!(" Of about the same size: {}.", listed.join("; ")));
    }
    what
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Logits => "the logits",
        Class::LogitsFp32 => "the fp32 copy of the logits",
        Class::Loss => "what the loss makes of the logits",
        Class::AttentionScores => "the attention scores",
        Class::GatheredLayer => "a gathered layer",
        Class::Bucket => "a communication bucket",
        Class::OptimizerSetup => "the optimizer's set-up",
        Class::OptimizerFirstStep => "the optimizer's first step",
        Class::OptimizerStep => "the optimizer's step",
        Class::Expert => "an expert's",
        Class::Weights => "weights",
        Class::Gradient => "a gradient",
        Class::KvCache => "the KV cache",
        Class::Clipping => "gradient clipping",
        Class::Activation => "an activation",
    }
}

fn class_fix(class: Class) -> &'static str {
    match class {
        Class::Logits | Class::LogitsFp32 | Class::Loss => {
            "Compute the loss without whole logits (use_liger_kernel, loss_implementation), or take a smaller micro-batch."
        }
        Class::AttentionScores => {
            "Take attn_implementation=sdpa or flash_attention_2: neither materialises the scores."
        }
        Class::GatheredLayer => {
            "Gather less at once: stage3_max_live_parameters, stage3_prefetch_bucket_size, or wrap each layer."
        }
        Class::Bucket => "Take smaller buckets: reduce_bucket_size, allgather_bucket_size, bucket_cap_mb.",
        Class::OptimizerFirstStep => {
            "The state stays from here on: an 8-bit or paged optimizer, LoRA, sharding (ZeRO, FSDP) or offload."
        }
        Class::OptimizerSetup => {
            "Offload the optimizer (offload_optimizer), shard over more GPUs, or train adapters: DeepSpeed makes fp32 states before the first step."
        }
        Class::OptimizerStep => "Take adamw_torch_fused, which needs no temporaries, or an 8-bit optimizer.",
        Class::Expert | Class::Activation => "Take a smaller micro-batch or length, or gradient_checkpointing.",
        Class::Weights => "Load in fewer bits (16, or 4 with adapters), or shard the weights.",
        Class::Gradient => "Shard the gradients (ZeRO-2, FSDP), or train adapters.",
        Class::KvCache => "Generate fewer sequences at once, or shorter ones.",
        Class::Clipping => {
            "Leave the clipping's temporaries room: a smaller micro-batch does not help here, sharding does."
        }
    }
}

fn unknown(bytes: u64, is_shared_segment: bool, nearest: Option<&Nearest>) -> (String, String) {
    let tried = bytes_text(bytes);
    if is_shared_segment {
        let what = format!(
            "The failed request is unknown: {tried} is the segment that the allocator takes for any request of up to 1 or 10 MiB."
        );
        return (what, "The GPU was full before: look at what is allocated, not at the request.".to_owned());
    }
    if nearest.is_some_and(|nearest| tried == bytes_text(nearest.bytes)) {
        let what = format!("The failed request of {tried} is unknown: many requests of any plan are that small.");
        return (what, "The GPU was full before: look at what is allocated, not at the request.".to_owned());
    }
    let mut what = format!("The failed request of {tried} is unknown: no request of the plan has that size.");
    if let Some(nearest) = nearest {
        let size = bytes_text(nearest.bytes);
        what.push_str(&format!(
            " The nearest is {}, {size} ({}).",
            place(&nearest.place),
            off_by(nearest.bytes, bytes)
        ));
    }
    (what, "The run is not as the plan says: compare batch size, length, dtype and loss.".to_owned())
}

fn full(allocated: Option<u64>, total: Option<u64>, tried: u64) -> (String, String) {
    let what = match (total, allocated) {
        (Some(total), Some(allocated)) if allocated > total => format!(
            "{} are tensors, more than the {} of the GPU: the driver keeps the rest in host memory, as it does on Windows.",
            bytes_text(allocated),
            bytes_text(total)
        ),
        (Some(total), Some(allocated)) => {
            format!("The GPU of {} is full: {} are tensors.", bytes_text(total), bytes_text(allocated))
        }
        (Some(total), None) => format!("The GPU of {} is full.", bytes_text(total)),
        (None, _) => format!("The GPU has no {} left.", bytes_text(tried)),
    };
    (what, "Give the plan, and Headroom names the request and the quickest way to fit.".to_owned())
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn context(bytes: u64, planned: Option<u64>) -> (String, String) {
    let mut what =
        format!("The process has {} besides PyTorch's memory: CUDA context, kernels, NCCL.", bytes_text(bytes));
    if let Some(planned) = planned {
        what.push_str(&format!(" The plan counts with {}.", bytes_text(planned)));
    }
    (what, format!("To calibrate to this machine, set non_pytorch_memory_mib to {}.", whole_mib(bytes)))
}

fn library_text(library: Library, tried: Option<u64>) -> String {
    let name = match library {
        Library::Cuda => "The CUDA driver",
        Library::Cublas => "cuBLAS or cuDNN",
        Library::Nccl => "NCCL",
        Library::Bitsandbytes => "bitsandbytes",
        Library::VllmCumem => "vLLM's allocator for sleep mode (cumem_allocator.cpp)",
    };
    let tried = tried.map(|tried| format!(" of {}", bytes_text(tried))).unwrap_or_default();
    format!(
        "{name} got no memory for a request{tried} of its own: PyTorch's cache, or another process, holds all of the GPU."
    )
}

fn library_fix(library: Library) -> &'static str {
    match library {
        Library::Cuda => {
            "Look at nvidia-smi for other processes; leave PyTorch less (set_per_process_memory_fraction) or need less."
        }
        Library::Cublas => {
            "Leave room beside PyTorch's cache: a smaller micro-batch. If memory is free, an index out of range is the usual cause."
        }
        Library::Nccl => {
            "NCCL needs some hundred MiB at the first collective: leave them free, or set NCCL_BUFFSIZE lower."
        }
        Library::VllmCumem => {
            "An engine that wakes takes back its weights and cache at once: let the trainer give back its cache before \
             (torch.cuda.empty_cache), lower gpu_memory_utilization, or offload what trains meanwhile."
        }
        Library::Bitsandbytes => "Paged optimizers need host memory as well; else take a smaller micro-batch.",
    }
}

fn engine(needed: Option<u64>, available: Option<u64>) -> (String, String) {
    let what = match (needed, available) {
        (Some(needed), Some(available)) => {
            format!("The engine needs {} and has {}.", bytes_text(needed), bytes_text(available))
        }
        (None, Some(available)) => format!("The engine has {} left for its cache.", bytes_text(available)),
        _ => "Nothing is left for the engine's cache beside weights and activations.".to_owned(),
    };
    let fix =
        "Raise gpu_memory_utilization (mem_fraction_static), lower max_model_len, or free what else is on the GPU.";
    (what, fix.to_owned())
}

fn engine_share(share: u64, free: u64, total: Option<u64>) -> (String, String) {
    let of = total.map_or_else(String::new, |total| format!(" of {}", bytes_text(total)));
    let what =
        format!("The engine's share is {}, and {}{of} are free when it starts.", bytes_text(share), bytes_text(free));
    let to = total.map_or_else(String::new, |total| format!(" to 0.{:02}", share_in_hundredths(free, total).min(99)));
    (what, format!("Lower gpu_memory_utilization{to}, or free what else is on the GPU."))
}

fn engine_start(figures: &EngineFigures) -> (String, String) {
    let parts = [
        (figures.weights_bytes, "weights"),
        (figures.activation_bytes, "activations of its profile run"),
        (figures.non_torch_bytes, "outside of PyTorch"),
        (figures.graphs_bytes, "CUDA graphs"),
        (figures.kv_cache_bytes, "KV cache"),
    ];
    let said = parts.iter().filter_map(|(bytes, what)| Some(format!("{} {what}", bytes_text((*bytes)?))));
    let mut what = format!("The engine's start: {}", said.collect::<Vec<_>>().join(", "));
    if let Some(tokens) = figures.kv_cache_tokens {
        what.push_str(&format!(" ({} tokens)", count_text(tokens)));
    }
    what.push('.');
    if let (Some(hundredths), Some(tokens)) = (figures.concurrency_hundredths, figures.request_tokens) {
        let (whole, rest) = (hundredths / 100, hundredths % 100);
        what.push_str(&format!(" {whole}.{rest:02} requests of {} tokens have room at once.", count_text(tokens)));
    }
    if let (Some(taken), Some(share)) = (figures.taken_bytes(), figures.share_bytes) {
        what.push_str(&format!(" Together {}, of a share of {}.", bytes_text(taken), bytes_text(share)));
    }
    let fix = match figures.suggested_cache_bytes {
        _ if !is_over_share(figures) => String::new(),
        Some(bytes) => {
            format!("Set --kv-cache-memory={bytes}, by the engine's own count, or lower gpu_memory_utilization.")
        }
        None => "Lower gpu_memory_utilization: some of it came on top of the share.".to_owned(),
    };
    (what, fix)
}

fn host_use(held: u64, loading: u64, available: u64) -> String {
    format!(
        "By the plan {} stay in host memory and loading takes {}, of {}.",
        bytes_text(held),
        bytes_text(loading),
        bytes_text(available)
    )
}

fn host_ran_out(bytes: Option<u64>, planned: Option<(u64, u64, u64)>) -> (String, String) {
    let mut what =
        "The host ran out of memory, not the GPU: the system ended the process, or refused it memory.".to_owned();
    if let Some(bytes) = bytes {
        what.push_str(&format!(" The text says {}.", bytes_text(bytes)));
    }
    if let Some((held, loading, available)) = planned {
        what.push(' ');
        what.push_str(&host_use(held, loading, available));
    }
    let fix = "Load on one rank only, offload less, lower dataloader_num_workers, or add memory; swap does not hold pinned pages.";
    (what, fix.to_owned())
}

fn explanations(tried: &[Tried]) -> String {
    if tried.is_empty() {
        return "No single setting explains the difference: compare model, batch size and versions.".to_owned();
    }
    let one = |tried: &Tried| format!("{} ({})", change(&tried.change), bytes_text(tried.bytes));
    format!("It would be explained by: {}.", tried.iter().map(one).collect::<Vec<_>>().join("; "))
}

fn change(change: &Change) -> String {
    match change {
        Change::Fields(fields) => {
            fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
        }
        Change::SecondModel => "a second copy of the model".to_owned(),
        Change::Length { tokens } => format!("sequences of {} tokens", count_text(*tokens)),
    }
}

fn snapshot(comparison: &Comparison) -> (String, String) {
    let Comparison { run_peak_bytes, plan_peak_bytes, run_requests, matched_requests, only_run, only_plan, .. } =
        comparison;
    let mut what = format!(
        "The run's last step peaks at {}, the plan's at {}; {} of its {} requests have one of the same size in the plan.",
        bytes_text(*run_peak_bytes),
        bytes_text(*plan_peak_bytes),
        count_text(*matched_requests as u64),
        count_text(*run_requests as u64)
    );
    let list = |sizes: &[OfSize]| sizes.iter().take(5).map(of_size).collect::<Vec<_>>().join("; ");
    if !only_run.is_empty() {
        what.push_str(&format!(" Only the run holds at its peak: {}.", list(only_run)));
    }
    if !only_plan.is_empty() {
        what.push_str(&format!(" Only the plan holds at its peak: {}.", list(only_plan)));
    }
    (what, String::new())
}

fn of_size(one: &OfSize) -> String {
    let texts = Language::English.texts();
    let mut text = format!("{} × {}", one.count, bytes_text(one.bytes));
    if let Some((term, module)) = one.terms.first() {
        text.push_str(&format!(" {}{}{module}", (texts.term)(*term), if module.is_empty() { "" } else { " " }));
    } else if let Some(frame) = one.stack.first() {
        text.push_str(&format!(" at {frame}"));
    }
    text
}
