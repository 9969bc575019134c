//! GPUs on which a plan would fit.

use super::fit::{Leanest, questions};
use super::lever::{Level, Lever};
use super::oracle::{FitOracle, Judgement};
use super::search::{choices, leanest};
use crate::gpu;
use crate::job::Job;
use crate::order;
use crate::plan::{GpuChoice, Plan};
use std::rc::Rc;

/// GPUs on which a plan would fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// Whether the training stays as it is on them, or becomes QLoRA.
    pub level: Level,
    /// How many.
    pub num_gpus: u64,
    /// Which; the plan's own where only their number differs.
    pub gpu: GpuChoice,
    /// What each has, bytes.
    pub memory_bytes: u64,
    /// The plan on them.
    pub plan: Plan,
}

/// Numbers of GPUs that are looked at: machines have powers of two, clusters have machines.
const COUNTS: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Ways out by hardware: as few larger GPUs as can be, and more of the plan's own; for the training as it is, then for
/// QLoRA where that needs fewer or smaller GPUs.
/// `leanest` is what needs least of all that was tried on the plan's own GPUs: the smallest GPU that it fits comes last.
pub(super) fn hardware(job: &Job, leanest: Option<&Leanest>, oracle: &dyn FitOracle) -> Vec<Hardware> {
    let mut found: Vec<Hardware> = Vec::new();
    let adapted = (!job.quantizes() && job.trains()).then(|| Lever::Qlora.apply(job));
    let smallest = leanest.and_then(|leanest| smallest_gpu(job, leanest, oracle));
    let adapted = adapted.flatten().map(|job| (Level::Different, job));
    // DeepSpeed holds gradients in 16 bits: where weights were in fp32, sharding is lower precision.
    let starts = [Some((Level::Same, job.clone())), Some((Level::Coarser, job.clone())), adapted];
    let both = |(level, start): (Level, Job)| {
        [larger_gpus(&start, level, oracle), more_gpus(&start, level, oracle)].into_iter().flatten().collect::<Vec<_>>()
    };
    for one in starts.into_iter().flatten().flat_map(both).chain(smallest) {
        // What changes the training has to do with less than what does not.
        let no_less = |other: &Hardware| other.num_gpus <= one.num_gpus && other.memory_bytes <= one.memory_bytes;
        if !found.iter().any(no_less) {
            found.push(one);
        }
    }
    found
}

/// The plan on `num_gpus` GPUs with the levers of a level that save most, and what each needs: with offload and without, as the host
/// may have no room. What changes the training has been changed already.
fn lean(job: &Job, num_gpus: u64, level: Level, oracle: &dyn FitOracle) -> Vec<(Rc<Job>, Judgement)> {
    let spread = Lever::Gpus(num_gpus).apply(job);
    let spread = if num_gpus == job.plan.num_gpus { Some(job) } else { spread.as_ref() };
    let Some(spread) = spread else { return Vec::new() };
    let questions = questions(spread, if level == Level::Coarser { level } else { Level::Same });
    let mut all = choices(spread, &questions);
    if level == Level::Same {
        all.retain(|choice| Level::between(job, &choice.job) == Level::Same);
    }
    leanest(&all, &questions, oracle)
}

/// The smallest GPU of the catalogue on which the leanest plan fits.
fn smallest_gpu(job: &Job, leanest: &Leanest, oracle: &dyn FitOracle) -> Option<Hardware> {
    let num_gpus = leanest.plan.num_gpus;
    by_memory().into_iter().filter(|(bytes, _)| *bytes >= leanest.need_bytes).find_map(|(memory_bytes, id)| {
        let gpu = GpuChoice::Catalogue(id.to_owned());
        let on_it = job.with(Plan { gpu: gpu.clone(), ..leanest.plan.clone() }).ok()?;
        let suits = oracle.suits(&on_it);
        suits.then(|| Hardware { level: Level::Different, num_gpus, gpu, memory_bytes, plan: on_it.into_plan() })
    })
}

/// GPUs of the catalogue by memory, bytes, one of each size.
fn by_memory() -> Vec<(u64, &'static str)> {
    let mut gpus: Vec<&gpu::Gpu> = gpu::catalogue().iter().collect();
    // Of one size the quickest.
    order::sort(&mut gpus, |a, b| {
        let quicker = b.memory_bandwidth_gb_s.total_cmp(&a.memory_bandwidth_gb_s);
        a.memory_bytes().cmp(&b.memory_bytes()).then(quicker)
    });
    gpus.dedup_by_key(|gpu| gpu.memory_bytes());
    gpus.into_iter().map(|gpu| (gpu.memory_bytes(), gpu.id.as_ref())).collect()
}

/// As few GPUs as can be, then the smallest of the catalogue that suffice.
fn larger_gpus(job: &Job, level: Level, oracle: &dyn FitOracle) -> Option<Hardware> {
    let gpus = by_memory();
    counts(&job.plan).find_map(|num_gpus| {
        let lean = lean(job, num_gpus, level, oracle);
        gpus.iter().filter(|(bytes, _)| *bytes >= job.memory_bytes).find_map(|(memory_bytes, id)| {
            let gpu = GpuChoice::Catalogue((*id).to_owned());
            let on_it = |job: &Job| job.with(Plan { gpu: gpu.clone(), ..job.plan.clone() }).ok();
            let enough = lean.iter().filter(|(_, judged)| judged.need_bytes <= *memory_bytes);
            let enough = enough.filter_map(|(job, judged)| Some((on_it(job)?, judged)));
            let enough = enough.filter(|(job, judged)| judged.suits_host(job));
            let (leanest, _) = enough.min_by_key(|(_, judged)| judged.need_bytes)?;
            let suits = oracle.suits(&leanest);
            let memory_bytes = *memory_bytes;
            suits.then(|| Hardware { level, num_gpus, gpu, memory_bytes, plan: leanest.into_plan() })
        })
    })
}

/// The fewest GPUs like the plan's own; bisected, as more GPUs never take more of each.
fn more_gpus(job: &Job, level: Level, oracle: &dyn FitOracle) -> Option<Hardware> {
    let on = |num_gpus| {
        let lean = lean(job, num_gpus, level, oracle);
        let suiting = lean.into_iter().filter(|(job, judged)| judged.suits(job));
        suiting.min_by_key(|(_, judged)| judged.need_bytes).map(|(job, _)| Rc::unwrap_or_clone(job).into_plan())
    };
    let counts: Vec<u64> = counts(&job.plan).collect();
    let (mut low, mut high) = (0, counts.len().checked_sub(1)?);
    let mut found = on(*counts.get(high)?)?;
    while low < high {
        let middle = low + (high - low) / 2;
        match counts.get(middle).and_then(|count| on(*count)) {
            Some(fewer) => (high, found) = (middle, fewer),
            None => low = middle + 1,
        }
    }
    let memory_bytes = job.memory_bytes;
    Some(Hardware { level, num_gpus: found.num_gpus, gpu: found.gpu.clone(), memory_bytes, plan: found })
}

fn counts(plan: &Plan) -> impl Iterator<Item = u64> {
    let own = plan.num_gpus;
    std::iter::once(own).chain(COUNTS.into_iter().filter(move |count| *count > own))
}
