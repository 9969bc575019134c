//! An estimate for people.

use std::io::Write;

use headroom_core::link;
use headroom_core::memory::{Allocation, Category, Estimate, FailedRequest};
use headroom_core::plan::{Method, MixedPrecision, Offload, Plan, Task, Trainer, TrainerName};
use headroom_core::units::{bytes_text, count_text, gib_apart, gib_parts, gib_text};
use headroom_text::ENGLISH;

use super::{accuracy, task, time};
use crate::layout::{Align, Table};
use crate::outcome::Failure;
use headroom_answers::Estimated;

/// Rows below this share of the peak are counted together, so that what matters is on one screen.
const SMALL_SHARE: f64 = 0.001;

/// Lines of a short estimate: what a small terminal shows at once.
const SHORT_LINES: usize = 20;

/// Notes in a short estimate.
const SHORT_NOTES: usize = 5;

/// How much is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What fits a screen.
    Short,
    /// Everything, rows that are too small to matter counted together.
    Full,
    /// Every row.
    All,
}

/// Writes `estimated`.
pub(super) fn write(estimated: &Estimated, extent: Extent, out: &mut dyn Write) -> Result<(), Failure> {
    if extent == Extent::Short {
        return write_short(estimated, out);
    }
    write_header(estimated, out)?;
    let estimate = &estimated.estimate;
    writeln!(
        out,
        "\nWhat each phase needs at its peak, GiB; overhead: what the allocator needs beyond the tensors, context, NCCL"
    )?;
    write_phases(estimate, estimate.phases.len(), out)?;
    write_peak(estimated.job.plan().task, estimate, out)?;
    accuracy::write(estimated, out)?;
    write_allocations(estimate, extent, out)?;
    task::write(&estimated.job, estimate, out)?;
    write_host(estimated.job.plan(), estimate, out)?;
    time::write(estimated, out)?;
    if !estimate.notes.is_empty() {
        writeln!(out, "\nNotes")?;
        for note in &estimate.notes {
            writeln!(out, "  {}", (ENGLISH.note)(note))?;
        }
    }
    Ok(())
}

/// What fits a screen: the verdict and the notes whole, and of the phases those with the highest need.
fn write_short(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, .. } = estimated;
    let (mut above, mut below) = (Vec::new(), Vec::new());
    write_header(estimated, &mut above)?;
    if let Some(failure) = &estimate.failure {
        write_failure(failure, &mut below)?;
    }
    write_host_total(job.plan(), estimate, &mut below)?;
    time::write_total(estimated, &mut below)?;
    let shown = if estimate.notes.len() > SHORT_NOTES { SHORT_NOTES - 1 } else { SHORT_NOTES };
    for note in estimate.notes.iter().take(shown) {
        writeln!(below, "Note: {}", (ENGLISH.note)(note))?;
    }
    if let more @ 1.. = estimate.notes.len().saturating_sub(shown) {
        writeln!(below, "{more} more notes: --full")?;
    }
    let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    // A blank line, the sentence and the table's heading.
    let rows = SHORT_LINES.saturating_sub(lines(&above) + lines(&below) + 3).clamp(1, estimate.phases.len().max(1));
    let which = match estimate.phases.len() {
        all if all > rows => format!(" (the highest {rows} of {all})"),
        _ => String::new(),
    };
    out.write_all(&above)?;
    writeln!(
        out,
        "\nWhat each phase needs at its peak, GiB{which}; --full lists every tensor with its formula, and how accurate this is"
    )?;
    write_phases(estimate, rows, out)?;
    out.write_all(&below)?;
    Ok(())
}

fn write_header(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, .. } = estimated;
    let plan = job.plan();
    let mut table = Table::new(&[]);
    let share = estimate.trainable_count as f64 / estimate.param_count.max(1) as f64 * 100.0;
    let trained = format!("{} of them trained, {share:.2} %", count_text(estimate.trainable_count));
    let model = format!("{}, {} parameters, {trained}", job.model().name, count_text(estimate.param_count));
    table.row(["model", &model]);
    table.row(["run", &run_text(plan)]);
    if plan.task != Task::Inference {
        table.row(["trainer", &trainer_text(plan)]);
        if !plan.gradient_checkpointing && plan.trainer.name != TrainerName::Custom {
            table.row(["", "gradient checkpointing is off: the activations of every layer are kept"]);
        }
    }
    let gpus = if plan.num_gpus > 1 { format!("{} x ", plan.num_gpus) } else { String::new() };
    table.row(["GPU", &format!("{gpus}{}, {}", job.gpu().name, bytes_text(estimate.gpu_bytes))]);
    table.row(["link", &format!("#{}", link::encode(plan))]);
    table.row(["verdict", &verdict_text(estimate)]);
    table.write(out)?;
    Ok(())
}

/// What runs, in the plan's own words.
fn run_text(plan: &Plan) -> String {
    let mut parts = vec![plan.task.name().to_owned(), plan.method.name().to_owned()];
    match plan.method {
        Method::Full => {}
        Method::Lora => parts.push(format!("r {}", plan.lora.r)),
        Method::Qlora => parts.push(format!("{} bit, r {}", plan.quantization.bits, plan.lora.r)),
    }
    let engine = plan.engine_dtype();
    parts.push(match engine.filter(|dtype| *dtype != plan.torch_dtype) {
        // The engine's cast, and `zero.Init` before it, leave nothing in the checkpoint's dtype.
        Some(dtype) => format!("{} made {} by DeepSpeed", plan.torch_dtype.name(), dtype.name()),
        None => plan.torch_dtype.name().to_owned(),
    });
    parts.push(plan.optim.name().to_owned());
    let batches = plan.batches();
    parts.push(format!("{} x {} tokens", batches.sequences_per_forward, count_text(batches.tokens_per_sequence)));
    if plan.mixed_precision != MixedPrecision::No && engine.is_none() {
        parts.push(format!("autocast to {}", plan.mixed_precision.name()));
    }
    if plan.gradient_checkpointing {
        parts.push("gradient checkpointing".to_owned());
    }
    if plan.use_liger_kernel {
        parts.push("Liger kernel".to_owned());
    }
    if plan.zero_stage > 0 {
        parts.push(format!("ZeRO-{}", plan.zero_stage));
    }
    for (place, what) in [(plan.offload_optimizer, "optimizer"), (plan.offload_param, "parameters")] {
        if place == Offload::Cpu {
            parts.push(format!("{what} offloaded"));
        }
    }
    parts.join(", ")
}

/// Who launches the run, and whose step is replayed. A plan without a trainer is a custom training loop, and the row says what
/// it does not do.
fn trainer_text(plan: &Plan) -> String {
    let Trainer { name, version } = &plan.trainer;
    let label = (ENGLISH.trainer)(*name).label;
    let checkpointing = if plan.gradient_checkpointing { "" } else { ", no gradient checkpointing" };
    let step = match (version, name.measured().last()) {
        _ if *name == TrainerName::Custom => format!("custom training loop{checkpointing}"),
        (Some(version), _) => format!("{label} {version}"),
        (None, Some(newest)) => format!("{label}, no version given: the step of {newest}"),
        (None, None) => label.to_owned(),
    };
    match plan.launched_by {
        Some(by) => format!("{}, estimated by: {step}", headroom_text::launched_by(by)),
        None if *name == TrainerName::Custom => format!("none given ({step}); trainer=trl gives TRL's defaults"),
        None => step,
    }
}

fn verdict_text(estimate: &Estimate) -> String {
    let verdict = &estimate.verdict;
    // The figures of a guess are no exact ones.
    let about = if estimate.guess.is_some() { "about " } else { "" };
    let margin = [about, &bytes_text(verdict.headroom_bytes.unsigned_abs())].concat();
    let margin = if verdict.headroom_bytes < 0 { (ENGLISH.missing)(&margin) } else { (ENGLISH.headroom)(&margin) };
    let band = estimate.peak.band;
    let less = estimate.peak.required_bytes.saturating_sub(estimate.peak.required_bytes_expandable);
    let expandable = if less == 0 || estimate.peak.expandable {
        String::new()
    } else {
        format!("\n{}", (ENGLISH.expandable_saves)(&bytes_text(less)))
    };
    let [need, gpu] = gib_apart([band.expected, estimate.gpu_bytes], 2);
    format!(
        "{}: needs {about}{need} of {gpu} GiB ({}), {margin}\n{}{expandable}",
        ENGLISH.verdict_word(estimate).to_uppercase(),
        share_text(verdict.used_share),
        (ENGLISH.band)(&bytes_text(band.low), &bytes_text(band.high)),
    )
}

/// A share of the GPU: per cent, and from ten times on how many times it is.
fn share_text(share: f64) -> String {
    if share < 10.0 {
        (ENGLISH.percent_used)(&format!("{:.0}", share * 100.0))
    } else {
        (ENGLISH.times_used)(&format!("{share:.0}"))
    }
}

/// Phases down, categories across; categories that never hold a byte are left out. Every row adds up, and the peak's is
/// what the verdict says.
/// Of more than `most` phases those with the highest need are written, in the order of the step.
fn write_phases(estimate: &Estimate, most: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let needs: Vec<Vec<(Category, u64)>> = estimate.phases.iter().map(|used| estimate.need_by_category(used)).collect();
    let of = |parts: &[(Category, u64)], category: Category| -> u64 {
        parts.iter().filter(|(c, _)| *c == category).map(|(_, bytes)| *bytes).fold(0, u64::saturating_add)
    };
    let used: Vec<Category> =
        Category::ALL.iter().copied().filter(|category| needs.iter().any(|parts| of(parts, *category) > 0)).collect();
    let mut align = vec![Align::Left];
    align.resize(used.len() + 3, Align::Right);
    let mut table = Table::new(&align);
    let heading = used.iter().map(|category| (ENGLISH.category)(*category).to_owned());
    table.row(
        [ENGLISH.column_phase.to_owned()]
            .into_iter()
            .chain(heading)
            .chain(["total", "of it allocated"].map(str::to_owned)),
    );
    let mut highest: Vec<usize> = (0..estimate.phases.len()).collect();
    let need = |place: &usize| estimate.phases.get(*place).map_or(0, |phase| estimate.need_bytes(phase));
    highest.sort_by_key(|place| std::cmp::Reverse(need(place)));
    highest.truncate(most);
    for (place, (phase, parts)) in estimate.phases.iter().zip(&needs).enumerate() {
        if !highest.contains(&place) {
            continue;
        }
        let bytes: Vec<u64> = used.iter().map(|category| of(parts, *category)).collect();
        let peak = if phase.phase == estimate.peak.phase { "peak" } else { "" };
        let name = (ENGLISH.phase)(phase.phase).to_owned();
        let total = [gib_text(estimate.need_bytes(phase)), gib_text(phase.allocated_bytes), peak.to_owned()];
        table.row([name].into_iter().chain(gib_parts(&bytes)).chain(total));
    }
    table.write(out)?;
    Ok(())
}

fn write_peak(task: Task, estimate: &Estimate, out: &mut dyn Write) -> Result<(), Failure> {
    let peak = &estimate.peak;
    let mut table = Table::new(&[Align::Left, Align::Right]);
    for (metric, bytes) in [
        (&ENGLISH.metric_allocated, peak.allocated_bytes),
        (&ENGLISH.metric_required, peak.required_bytes),
        (&ENGLISH.metric_required_expandable, peak.required_bytes_expandable),
        (&ENGLISH.metric_reserved, peak.reserved_bytes),
        (&ENGLISH.metric_context, peak.context_bytes),
        (&ENGLISH.metric_device, peak.device_bytes),
    ] {
        table.row([metric.label, &gib_text(bytes), metric.help]);
    }
    for (name, bytes, meaning) in [
        ("Needed, low", peak.band.low, "Required and context together: the low end of the band."),
        ("Needed", peak.band.expected, "What the verdict compares with the GPU."),
        ("Needed, high", peak.band.high, "The high end of the band."),
    ] {
        table.row([name, &gib_text(bytes), meaning]);
    }
    writeln!(out, "\n{}, GiB", (ENGLISH.peak)(task, peak.phase))?;
    table.write(out)?;
    write_limit(estimate, out)
}

/// The request that fails on this plan's GPU, or else first on a smaller one.
fn write_limit(estimate: &Estimate, out: &mut dyn Write) -> Result<(), Failure> {
    match (&estimate.failure, &estimate.peak.limit) {
        (Some(failure), _) => write_failure(failure, out),
        (None, Some(limit)) => {
            let (request, stranded) = (bytes_text(limit.request_bytes), bytes_text(limit.stranded_bytes));
            let said = (ENGLISH.limit)((ENGLISH.term)(limit.term), &request, (ENGLISH.phase)(limit.phase), &stranded);
            Ok(writeln!(out, "{said}")?)
        }
        (None, None) => Ok(()),
    }
}

/// The error of this plan on this GPU, with the figures of PyTorch's own message.
fn write_failure(failure: &FailedRequest, out: &mut dyn Write) -> Result<(), Failure> {
    let term = (ENGLISH.term)(failure.term);
    let name = if failure.module.is_empty() { term.to_owned() } else { format!("{term}, {}", failure.module) };
    let place = match failure.step {
        0 => ENGLISH.while_loading.to_owned(),
        step => (ENGLISH.in_step)((ENGLISH.phase)(failure.phase), step),
    };
    let [tried, free] = [failure.tried_bytes, failure.free_bytes].map(bytes_text);
    writeln!(
        out,
        "{} {} is allocated by PyTorch, {} is reserved by PyTorch but unallocated.",
        (ENGLISH.fails)(&place, &tried, &free, &name),
        bytes_text(failure.allocated_bytes),
        bytes_text(failure.stranded_bytes),
    )?;
    Ok(())
}

/// The largest first: what to look at when it does not fit.
fn write_allocations(estimate: &Estimate, extent: Extent, out: &mut dyn Write) -> Result<(), Failure> {
    let mut rows: Vec<&Allocation> = estimate.allocations.iter().filter(|row| row.bytes_at_peak > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes_at_peak));
    let is_whole = extent == Extent::All;
    let least = if is_whole { 0 } else { (estimate.peak.allocated_bytes as f64 * SMALL_SHARE) as u64 };
    let small: Vec<&Allocation> = rows.split_off(rows.partition_point(|row| row.bytes_at_peak >= least));
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Right]);
    for row in &rows {
        let name = (ENGLISH.term)(row.term);
        let name = if row.module.is_empty() { name.to_owned() } else { format!("{name}, {}", row.module) };
        let formula = formula_text(&row.formula, &row.formula_with_numbers);
        let category = (ENGLISH.category)(row.category()).to_owned();
        table.row([name, category, bytes_text(row.bytes_at_peak), formula]);
    }
    writeln!(out, "\nWhat lives at the peak, with the formula of the most it ever holds")?;
    if !small.is_empty() {
        let bytes = small.iter().map(|row| row.bytes_at_peak).fold(0, u64::saturating_add);
        table.row([
            format!("{} smaller", small.len()),
            String::new(),
            bytes_text(bytes),
            "shown with --all".to_owned(),
        ]);
    }
    let overheads = estimate.overheads();
    for (term, bytes) in &overheads {
        let (name, category) = ((ENGLISH.term)(*term), (ENGLISH.category)(term.category()));
        table.row([name, category, &bytes_text(*bytes), ""]);
    }
    table.row([ENGLISH.breakdown_sum, "", &bytes_text(estimate.peak.band.expected)]);
    table.write(out)?;
    let mut sources = Table::new(&[]);
    let terms: Vec<_> = rows.iter().map(|row| row.term).chain(overheads.iter().map(|(term, _)| *term)).collect();
    for (i, term) in terms.iter().enumerate() {
        if !terms[..i].contains(term) {
            sources.row([(ENGLISH.term)(*term), term.source()]);
        }
    }
    writeln!(out, "\nWhere the formulas come from")?;
    sources.write(out)?;
    Ok(())
}

/// What the machine's host memory holds, in a line; nothing where it holds nothing.
fn write_host_total(plan: &Plan, estimate: &Estimate, out: &mut dyn Write) -> Result<(), Failure> {
    if !estimate.host.is_empty() {
        let total = estimate.host.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
        let whose = match plan.machines() {
            1 => "the machine, all its processes".to_owned(),
            machines => format!("all {machines} machines together"),
        };
        writeln!(out, "Host memory of {whose}: {}", bytes_text(total))?;
    }
    Ok(())
}

fn write_host(plan: &Plan, estimate: &Estimate, out: &mut dyn Write) -> Result<(), Failure> {
    if estimate.host.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[Align::Left, Align::Right]);
    for row in &estimate.host {
        let pinned = if row.pinned { ENGLISH.pinned } else { "pageable" };
        let formula = formula_text(&row.formula, &row.formula_with_numbers);
        table.row([(ENGLISH.term)(row.term), &bytes_text(row.bytes), pinned, &formula]);
    }
    writeln!(out)?;
    write_host_total(plan, estimate, out)?;
    table.write(out)?;
    Ok(())
}

fn formula_text(symbols: &str, numbers: &str) -> String {
    match (symbols.is_empty(), numbers.is_empty()) {
        (false, false) => format!("{symbols} = {numbers}"),
        _ => format!("{symbols}{numbers}"),
    }
}
