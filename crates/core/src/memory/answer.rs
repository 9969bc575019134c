//! The estimate of a job: one step run on sizes, read phase by phase, and what the caching allocator makes of it.

use super::autograd::{Extent, Wanted};
use super::device_overhead::DeviceOverhead;
use super::estimate::*;
use super::guess::{Guess, GuessReason};
use super::host::{self, HostAllocation, HostVerdict};
use super::ledger;
use super::overhead;
use super::phase::Phase;
use super::program;
use super::replay::{Replay, replay};
use super::sharding::{self, Elements, strategy};
use super::task_use;
use super::term::{Category, Term};
use super::verdict::verdict;
use crate::gpu::HostMemory;
use crate::job::{
    AttentionKernel, ENGINE_DTYPE, Job, Scheme, SeenImage, applies_liger, fuses_experts, fuses_liger_loss,
};
use crate::model::{self, FeedForward, KernelPackages, Layer, Model, Reading, Recorded};
use crate::plan::{Alternative, Method, ModelChoice, Plan, Task, unmatched_targets};
use headroom_torch::allocator::Mode;

/// Runs one step of `job` on sizes and says what it holds, when, and whether it fits.
pub fn estimate(job: &Job) -> Estimate {
    answer(job, true)
}

/// The same without the list of allocations: what a comparison of many plans needs, in less time.
pub fn outline(job: &Job) -> Estimate {
    answer(job, false)
}

/// The nearest plan that fits, the method and everything but sharding left as they are: the stages of ZeRO one by one,
/// then offload; `None` when none fits.
pub fn smallest_change(job: &Job) -> Option<Alternative> {
    let plan = &job.plan;
    let others = job.alternatives().into_iter().filter(|other| other.method == plan.method && other.plan != *plan);
    let (kept, moved): (Vec<Alternative>, Vec<Alternative>) = others.partition(|other| !other.offload);
    let fits = |other: &Alternative| {
        let changed = job.with(other.plan.clone());
        changed.is_ok_and(|changed| outline(&changed).verdict.fit != Fit::DoesNotFit)
    };
    kept.into_iter().chain(moved).find(fits)
}

fn answer(job: &Job, with_rows: bool) -> Estimate {
    let Job { plan, model, .. } = job;
    let wanted = if with_rows { Wanted::Rows } else { Wanted::Moments };
    // What waits to be copied to the host outlives its layer: no layer stands for another.
    let extent = if plan.activation_offloading { Extent::EveryLayer } else { Extent::Representative };
    let step = program::run(job, extent, wanted);
    let ledger = ledger::read(&step.record, model.num_hidden_layers());
    let counts = step.counts;
    let context = DeviceOverhead::of(job);
    let device_overhead = context.total();
    let mode = if plan.expandable_segments { Mode::Expandable } else { Mode::Default };
    let required = |mode| overhead::heuristic_required(ledger.peak_bytes, mode);
    let reserved = overhead::heuristic_reserved(ledger.peak_bytes);
    let peak = Peak {
        phase: ledger.peak_phase,
        allocated_bytes: ledger.peak_bytes,
        required_bytes: required(Mode::Default).expected,
        required_bytes_expandable: required(Mode::Expandable).expected,
        reserved_bytes: reserved,
        device_bytes: reserved.saturating_add(device_overhead.expected),
        context_bytes: device_overhead.expected,
        nccl_bytes: context.nccl.expected,
        band: required(mode).plus(device_overhead),
        safe_bytes: required(mode).plus(device_overhead).high,
        device_overhead,
        limit: None,
        basis: Basis::Heuristic,
        is_guess: false,
        expandable: plan.expandable_segments,
    };
    let active = model.active_param_count().saturating_add(counts.adapters);
    let mut host = if step.on_host.is_empty() {
        strategy(&job.sharding).host(Elements { trained: counts.trainable, params: counts.base })
    } else {
        let paged = |(elements, width): &(u64, u64)| sharding::paged_state(&job.sharding, *elements, *width);
        step.on_host.iter().map(paged).collect()
    };
    if let Some(engine) = job.sleeping_engine() {
        host.push(sharding::sleeping_weights(engine, ENGINE_DTYPE.bytes()));
    }
    host.extend(host::activations(&step.activations_on_host, plan.num_gpus));
    let guess = guess(job);
    let peak = guessed(peak, guess);
    let step = Estimate {
        guess,
        evaluation: None,
        param_count: counts.base.saturating_add(counts.adapters),
        active_param_count: active,
        trainable_count: counts.trainable,
        verdict: verdict(&peak, None, job.memory_bytes),
        peak,
        phases: ledger
            .phases
            .into_iter()
            .map(|used| {
                let needed = overhead::heuristic_required(used.allocated_bytes, mode).expected;
                PhaseUse { fragmentation_bytes: needed - used.allocated_bytes, ..used }
            })
            .collect(),
        failure: None,
        task: task_use::task_use(job, &ledger.allocations),
        allocations: ledger.allocations,
        gpu_bytes: job.memory_bytes,
        notes: notes(job, &step, &host),
        host_verdict: HostVerdict::of(job, counts.base, &host),
        host,
    };
    step.with_evaluation(job)
}

/// [`estimate`], refined by a whole replay: what a verdict should stand on where milliseconds are to be had.
pub fn estimate_replayed(job: &Job) -> Estimate {
    answer(job, true).refined(&replay(job))
}

impl Estimate {
    /// Verdict and expected need of the step of an estimate without a replay, with `expandable_segments` set the other way: the tensors
    /// are the same.
    pub(crate) fn with_other_allocator(&self) -> (Verdict, u64) {
        let mode = if self.peak.expandable { Mode::Default } else { Mode::Expandable };
        let band = overhead::heuristic_required(self.peak.allocated_bytes, mode).plus(self.peak.device_overhead);
        let peak = Peak { band, safe_bytes: band.high, expandable: !self.peak.expandable, ..self.peak.clone() };
        let peak = guessed(peak, self.guess);
        (verdict(&peak, None, self.gpu_bytes), band.expected)
    }

    /// The estimate with what the caching allocator makes of it.
    #[must_use]
    pub fn refined(mut self, replay: &Replay) -> Self {
        let expandable = self.peak.expandable;
        let (mode, demand) = match expandable {
            true => (Mode::Expandable, &replay.demand_expandable),
            false => (Mode::Default, &replay.demand),
        };
        for used in &mut self.phases {
            let blocks = replay.phases.iter().find(|(phase, _)| *phase == used.phase).map_or(0, |(_, bytes)| *bytes);
            let unsplit = blocks.saturating_sub(used.allocated_bytes);
            used.allocated_bytes += unsplit;
            for (category, bytes) in &mut used.by_category {
                if *category == Term::UnsplitRemainders.category() {
                    *bytes += unsplit;
                }
            }
        }
        let most = self.phases.iter().enumerate().max_by_key(|(i, used)| (used.allocated_bytes, usize::MAX - i));
        let Some((_, most)) = most else { return self };
        let (phase, allocated) = (most.phase, most.allocated_bytes);
        self.list_unsplit(phase);
        let required = |mode| overhead::replayed(allocated, replay, mode);
        let (band, sure) = required(mode);
        for used in &mut self.phases {
            // What the search found is fragmentation of the peak: on a device of that size the allocator holds all of it
            // there, whichever phase made it take the last segment.
            let demand = match demand.iter().find(|(other, _)| *other == used.phase) {
                _ if used.phase == phase => band.expected,
                Some((_, bytes)) => band.expected.min(*bytes),
                None => 0,
            };
            used.fragmentation_bytes = demand.saturating_sub(used.allocated_bytes);
        }
        let reserved = if expandable { replay.reserved_bytes_expandable } else { replay.reserved_bytes };
        let reserved = reserved.max(allocated);
        let device_overhead = self.peak.device_overhead;
        self.peak = Peak {
            phase,
            allocated_bytes: allocated,
            required_bytes: required(Mode::Default).0.expected,
            required_bytes_expandable: required(Mode::Expandable).0.expected,
            reserved_bytes: reserved,
            device_bytes: reserved.saturating_add(device_overhead.expected),
            context_bytes: device_overhead.expected,
            nccl_bytes: self.peak.nccl_bytes,
            band: band.plus(device_overhead),
            safe_bytes: sure.saturating_add(device_overhead.high),
            device_overhead,
            limit: replay.limit.clone().filter(|_| !expandable),
            basis: Basis::Replayed,
            is_guess: false,
            expandable,
        };
        self.peak = guessed(self.peak, self.guess);
        self.verdict = verdict(&self.peak, self.evaluation, self.gpu_bytes);
        self.failure = replay.failure.clone().filter(|_| self.verdict.fit == Fit::DoesNotFit);
        self
    }

    /// Everything that a GPU must give while `used` is at its peak, by category in the order of [`Category::ALL`]: what is
    /// allocated, and as overhead what the allocator cannot use and what context and libraries take.
    pub fn need_by_category(&self, used: &PhaseUse) -> Vec<(Category, u64)> {
        let beyond = used.fragmentation_bytes.saturating_add(self.peak.context_bytes);
        let of = |category: &Category| {
            let held = used.by_category.iter().find(|(other, _)| other == category).map_or(0, |(_, bytes)| *bytes);
            let beyond = if *category == Category::Overhead { beyond } else { 0 };
            (*category, held.saturating_add(beyond))
        };
        Category::ALL.iter().map(of).collect()
    }

    /// The sum of [`Estimate::need_by_category`], bytes. Of the peak's phase it is the verdict's figure.
    pub fn need_bytes(&self, used: &PhaseUse) -> u64 {
        used.allocated_bytes.saturating_add(used.fragmentation_bytes).saturating_add(self.peak.context_bytes)
    }

    /// The phase at whose peak the most is allocated: the verdict's figure is its need.
    pub fn peak_phase(&self) -> Option<&PhaseUse> {
        self.phases.iter().find(|used| used.phase == self.peak.phase)
    }

    /// What makes up the verdict's figure besides [`Estimate::allocations`], bytes, those with none left out.
    pub fn overheads(&self) -> Vec<(Term, u64)> {
        let fragmentation = self.peak_phase().map_or(0, |used| used.fragmentation_bytes);
        let context = self.peak.context_bytes.saturating_sub(self.peak.nccl_bytes);
        let all = [
            (Term::Fragmentation, fragmentation),
            (Term::CudaContext, context),
            (Term::NcclBuffers, self.peak.nccl_bytes),
        ];
        all.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
    }

    /// Adds the row that makes each phase's rows sum to its blocks, and counts all rows at the peak of `phase`.
    fn list_unsplit(&mut self, phase: Phase) {
        if self.allocations.is_empty() {
            return;
        }
        let rest = |used: &PhaseUse| {
            let category = Term::UnsplitRemainders.category();
            let bytes = used.by_category.iter().find(|(other, _)| *other == category).map_or(0, |(_, bytes)| *bytes);
            (bytes > 0).then_some((used.phase, bytes))
        };
        let phases: Vec<(Phase, u64)> = self.phases.iter().filter_map(rest).collect();
        let most = phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        if most > 0 {
            self.allocations.push(Allocation {
                term: Term::UnsplitRemainders,
                module: String::new(),
                bytes_at_peak: 0,
                phases,
                formula: "Σ blocks − Σ tensors".to_owned(),
                formula_with_numbers: format!("{most} B"),
                formula_bytes: most,
            });
        }
        for row in &mut self.allocations {
            row.bytes_at_peak = row.phases.iter().find(|(other, _)| *other == phase).map_or(0, |(_, bytes)| *bytes);
        }
    }
}

/// What makes the figures of a job a guess, all of it together.
fn guess(job: &Job) -> Option<Guess> {
    let vendor = (!job.gpu.has_cuda()).then_some(Guess::OTHER_VENDOR);
    [stand_in(&job.plan), class_guess(&job.model), vendor].into_iter().flatten().reduce(Guess::and)
}

/// Another trainer's step stands for the one that runs.
fn stand_in(plan: &Plan) -> Option<Guess> {
    let by = plan.launched_by?;
    let (low_percent, high_percent) = by.percent(plan.method);
    Some(Guess { low_percent, high_percent, reason: GuessReason::StandIn { by, step: plan.trainer.name } })
}

/// What is not known of the model's class.
fn class_guess(model: &Model) -> Option<Guess> {
    match model.reading {
        Reading::Generic => Some(Guess::UNKNOWN_CLASS),
        Reading::Known if !model.is_measured => Some(Guess::UNMEASURED_CLASS),
        Reading::Known => None,
    }
}

/// `peak` with the range of `guess`.
fn guessed(peak: Peak, guess: Option<Guess>) -> Peak {
    let Some(guess) = guess else { return peak };
    let band = guess.of(peak.band);
    Peak { band, safe_bytes: band.high, is_guess: true, ..peak }
}

/// What of a recorded model runs in PyTorch's operators although packages have kernels for it.
fn torch_scan(recorded: &Recorded, job: &Job) -> Option<Note> {
    let is_eager = job.attention == AttentionKernel::Eager;
    let (wanted, installed) = (recorded.kernel_packages(), job.plan.software.kernels());
    let missing = wanted.without(recorded.kernels_that_run(is_eager, installed));
    if missing == KernelPackages::default() {
        // Each such layer has a convolution that causal-conv1d has a kernel for.
        let lacks_convolution = installed.causal_conv1d && !wanted.causal_conv1d;
        let is_unknown = recorded.scans() && (wanted == KernelPackages::default() || lacks_convolution);
        return is_unknown.then(|| Note::TorchScan { packages: Vec::new() });
    }
    let named = [
        (missing.flash_linear_attention, "flash_linear_attention"),
        (missing.causal_conv1d, "causal_conv1d"),
        (missing.mamba_ssm, "mamba_ssm"),
    ];
    Some(Note::TorchScan {
        packages: named.iter().filter(|(is_missing, _)| *is_missing).map(|(_, name)| *name).collect(),
    })
}

fn notes(job: &Job, step: &program::Step, host: &[HostAllocation]) -> Vec<Note> {
    let Job { plan, model, .. } = job;
    let mut notes = Vec::new();
    notes.extend(stand_in(plan).map(Note::Guess));
    if !job.gpu.has_cuda() {
        notes.push(Note::OtherVendor { gpu: job.gpu.name.to_string() });
    }
    let class = class_guess(model);
    if let Some(guess) = class.filter(|guess| guess.reason == GuessReason::UnknownClass) {
        notes.push(Note::GenericModel { model_type: model.model_type.clone(), guess });
    }
    if matches!(plan.model, ModelChoice::Config { .. }) {
        let keys: Vec<_> = model.assumed.iter().filter(|key| key.decides_size()).cloned().collect();
        notes.extend((!keys.is_empty()).then_some(Note::AssumedKeys { keys }));
    }
    for model::Note::TextPart { of } in &model.notes {
        notes.push(Note::TextPart { of: of.clone() });
    }
    let model_type = &model.model_type;
    if let Some(guess) = class.filter(|guess| guess.reason == GuessReason::UnmeasuredClass) {
        notes.push(Note::FamilyNotMeasured { model_type: model_type.clone(), guess });
    }
    notes.extend(torch_scan(&model.recorded, job));
    if plan.use_liger_kernel {
        let has_kernels = applies_liger(plan);
        let has_experts = model.layers.iter().any(|run| matches!(run.layer.feed_forward, FeedForward::Experts(_)));
        let is_counted = !has_experts || fuses_experts(plan, model_type);
        if !has_kernels || !is_counted || (plan.task == Task::Sft && !fuses_liger_loss(plan)) {
            notes.push(Note::Liger { has_kernels, model_type: model_type.clone() });
        }
    }
    let is_eager = job.attention == AttentionKernel::Eager;
    let is_refused = match plan.attn_implementation.name() {
        "sdpa" => !model.behaviour.supports_sdpa,
        "eager" => false,
        _ => model.behaviour.attends_by_itself,
    };
    if is_refused && is_eager {
        notes.push(Note::EagerOnly { model_type: model_type.clone() });
    }
    let unmatched = unmatched_targets(plan, model);
    if !unmatched.is_empty() {
        notes.push(Note::UnmatchedTargets { names: unmatched.into_iter().map(str::to_owned).collect() });
    }
    if plan.zero_stage > 0 && plan.num_gpus == 1 {
        notes.push(Note::ZeroOnOneGpu);
    }
    if plan.fsdp_offloads() && !plan.distributed.cpu_offload && plan.offload_optimizer != plan.offload_param {
        notes.push(Note::Fsdp2OffloadsAll);
    }
    if job.quantizes() && job.sharding.shards_weights() && plan.num_gpus > 1 && !job.sharding.shards_four_bit {
        let can = job.sharding.is_fsdp() && plan.quantization.bits == 4;
        notes.push(Note::QuantizedBaseNotSharded { storage: can.then_some(plan.torch_dtype.name()) });
    }
    if job.sharding.shards_four_bit && matches!(job.sharding.scheme, Scheme::Zero(_)) && plan.num_gpus > 1 {
        notes.push(Note::PackedWeightsHeld);
    }
    notes.extend(host_note(job, step.counts.base, host));
    if !job.gpu.bf16 && (plan.torch_dtype.name() == "bfloat16" || plan.mixed_precision.name() == "bf16") {
        notes.push(Note::GpuLacksBfloat16);
    }
    if plan.attn_implementation.name() == "sdpa" && job.attention == AttentionKernel::Efficient {
        notes.push(Note::AttentionKernel { kernel: "efficient" });
    }
    notes.extend(job.sleeping_blocks().map(|bytes| Note::SleepIsCounted { bytes }));
    notes.extend(engine_needs_more(job));
    notes.extend(images(job).or_else(|| no_images(job)));
    if let Some(max) = model.max_position_embeddings.filter(|max| plan.max_length > *max) {
        notes.push(Note::LongerThanPositions { max_position_embeddings: max });
    }
    notes.extend(not_measured(plan).into_iter().map(|what| Note::NotMeasured { what }));
    if plan.method == Method::Qlora && plan.task != Task::Inference {
        notes.push(Note::UnquantizedParts { bytes: step.counts.unquantized_bytes });
    }
    notes
}

/// That the host has no room for what it is to hold.
fn host_note(job: &Job, base: u64, host: &[HostAllocation]) -> Option<Note> {
    let needed = host.iter().fold(0_u64, |sum, used| sum.saturating_add(used.bytes));
    let HostMemory { bytes: usual, source } = job.host_memory();
    let verdict = HostVerdict::of(job, base, host);
    if verdict.is_stated && !verdict.fits {
        let HostVerdict { held_bytes: held, loading_bytes: loading, loading_copies: copies, available_bytes, .. } =
            verdict;
        return Some(Note::HostTooSmall { held, loading, copies, available: available_bytes });
    }
    (!verdict.is_stated && needed > usual).then_some(Note::HostMemory { needed, usual, source })
}

/// What a vLLM on the GPUs that train holds and its share is not known to hold.
fn engine_needs_more(job: &Job) -> Option<Note> {
    job.engine_share()?;
    let keeps_state = |(layer, _): (&Layer, u64)| !layer.sees_images() && layer.attention.num_key_value_heads == 0;
    let states = job.model.layer_kinds().any(keeps_state);
    let images = job.model.reads_images();
    (states || images).then_some(Note::EngineNeedsMore { states, images })
}

/// What an image of the plan becomes.
fn images(job: &Job) -> Option<Note> {
    let SeenImage { sides, is_assumed, tiles, patches, positions, rule, .. } = job.image()?;
    let model_type = job.model.model_type.clone();
    Some(Note::Images { model_type, sides, is_assumed, tiles, patches, positions, rule })
}

/// That a model with a vision tower is estimated without images.
fn no_images(job: &Job) -> Option<Note> {
    let is_blind = job.plan.images.per_sample.is_none() && job.model.reads_images();
    is_blind.then_some(Note::ImagesNotCounted { is_modelled: job.plan.task == Task::Sft })
}

/// Options whose allocations were read off the library's code and not compared with a measurement.
fn not_measured(plan: &Plan) -> Vec<&'static str> {
    let mut options = Vec::new();
    if plan.task == Task::Inference {
        return options;
    }
    if plan.policy.use_liger_loss && (plan.is_reinforcement() || plan.task == Task::Dpo) {
        options.push("use_liger_loss");
    }
    if plan.is_reinforcement() && plan.rollout.is_colocated() {
        options.push("rollout.engine");
    }
    use Task::{Cpo, Dpo, Embedding, Grpo, Kto, Orpo, Ppo, Reward, Rloo};
    let tasks = [Dpo, Kto, Orpo, Cpo, Reward, Grpo, Rloo, Ppo, Embedding];
    if tasks.contains(&plan.task) && plan.num_gpus > 1 {
        options.push("num_gpus");
    }
    if plan.use_liger_kernel && plan.task != Task::Sft {
        options.push("use_liger_kernel");
    }
    options
}
