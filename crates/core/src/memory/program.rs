//! A program from beginning to end: weights are loaded, then comes one training step, or one generation.

use super::autograd::{
    ElementType, Extent, Marks, Processors, Record, Sink, Sym, Tape, Tensor, VOCABULARY, Wanted, dims,
};
use super::loss::{language_model_loss, score_loss};
use super::optimizer;
use super::sharding::{Acts, Hooked, strategy};
use super::step::{Update, batch_inputs, forward};
use super::tasks;
use super::term::Term;
use super::weights::{Counts, Holder, load};
use crate::gpu::multiprocessors;
use crate::job::Job;
use crate::model::ModuleKind;
use crate::plan::Task;
use crate::units::MIB;
use std::rc::Rc;

/// What a step leaves behind.
pub(super) struct Step {
    pub(super) record: Record,
    pub(super) counts: Counts,
    /// Elements and bytes an element of optimizer state that rests on the host without offloading.
    pub(super) on_host: Vec<(u64, u64)>,
    /// Pinned blocks of offloaded activations: bytes of one, and how many.
    pub(super) activations_on_host: Vec<(u64, u64)>,
}

/// Runs the steady step of a job: the second one or any later, when optimizer state exists.
pub(super) fn run(job: &Job, extent: Extent, wanted: Wanted) -> Step {
    run_beside(job, (extent, wanted), &mut None)
}

/// The same for one of several jobs that differ in batch size and length alone: `acts` is what DeepSpeed's stage 3 does in
/// all of them, once it is known.
pub(super) fn run_beside(job: &Job, (extent, wanted): (Extent, Wanted), acts: &mut Option<Acts>) -> Step {
    let Job { plan, sharding, .. } = job;
    let hooks = job.trains() && strategy(sharding).acts_on_hooks();
    // What the framework does where hooks run comes between the events.
    let sink = if hooks && wanted != Wanted::Rows { Sink::events(&VOCABULARY) } else { Sink::new(wanted, &VOCABULARY) };
    let tape = Tape::new(&VOCABULARY, extent, sink);
    let mut weights = load(&tape, job, Holder::POLICY);
    let modules = if hooks { weights.hook(strategy(sharding).hook(&tape, &weights.parameters)) } else { None };
    let mut counts = weights.counts;
    let workspaces = workspaces(&tape, job);
    if let Some(compute_capability) = job.gpu.compute_capability {
        let (count, threads) = multiprocessors(&job.gpu);
        tape.processors.set(Some(Processors { count, threads, compute_capability }));
    }
    tape.mark(|marks, at| {
        *marks = Marks { states: at, step: at, optimizer_step: at, end: at, ..Marks::default() };
    });
    let mut trainable = weights.trainable.clone();
    match plan.task {
        Task::Inference => {
            tasks::infer(&tape, job, &weights);
            tape.mark(|marks, at| marks.end = at);
        }
        Task::Sft | Task::SequenceClassification => {
            let (tape, weights, trainable) = (&tape, &weights, &trainable);
            let update = Update { tape, job, weights, trainable, after: &|| () };
            update.run(batch_inputs(tape, job), Vec::new, |context| {
                let hidden = forward(context, job, weights)?;
                if weights.score.is_some() {
                    score_loss(context, job, weights, hidden)
                } else {
                    language_model_loss(context, job, weights, hidden)
                }
            });
        }
        Task::Dpo
        | Task::Kto
        | Task::Orpo
        | Task::Cpo
        | Task::Reward
        | Task::Grpo
        | Task::Rloo
        | Task::Ppo
        | Task::Embedding => {
            trainable = tasks::run(&tape, job, &weights);
        }
    }
    counts.trainable = trainable.iter().fold(counts.untouched, |sum, parameter| {
        sum.saturating_add(parameter.elements().saturating_mul(parameter.tag.repeat))
    });
    let on_host = optimizer::host_state(job, &trainable);
    drop((trainable, weights, workspaces));
    let activations_on_host = tape.host_blocks.take();
    let record = match (tape.finish(), modules) {
        (Record::Rows(record), Some(modules)) => {
            let accumulates = job.batches.forwards_per_step > 1;
            let replayed = extent == Extent::Whole;
            strategy(sharding).unroll(Hooked { record, modules: &modules, wanted, accumulates, replayed }, acts)
        }
        (record, _) => record,
    };
    Step { record, counts, on_host, activations_on_host }
}

/// cuBLAS workspaces (CUDABlas.cpp getChosenWorkspaceSize): 32 MiB on Hopper and later, 8.125 MiB before.
///
/// PyTorch 2.15 takes and gives one back around each matmul. Earlier ones keep one for the main thread and one for
/// autograd's; up to 2.10 matmuls with a bias have a further 1 MiB each in the same way. 2.11 has that for threads that add a
/// bias (measured on an H200: one for GPT-2, two with checkpoints, which autograd's thread recomputes, none without biases).
fn workspaces(tape: &Rc<Tape>, job: &Job) -> Vec<Tensor> {
    let bytes = match job.gpu.compute_capability {
        Some((9.., _)) => 32 * MIB,
        _ => 8 * MIB + 128 * 1024,
    };
    let torch = job.plan.software.torch_version();
    if torch.is_none_or(|version| version >= (2, 15)) {
        tape.workspace.set(bytes);
        tape.bias_workspace.set(MIB);
        return Vec::new();
    }
    let standing = |bytes, name| {
        let shape = dims(&[(Sym::Workspace, bytes)]);
        Tensor::new(tape, tape.label(Term::CublasWorkspace, name), shape, ElementType::Byte)
    };
    let mut held = vec![standing(bytes, ""), standing(bytes, "")];
    let adding = match torch {
        Some(version) if version <= (2, 10) => 2,
        _ if !adds_biases(job) => 0,
        _ => 1 + usize::from(job.plan.gradient_checkpointing),
    };
    held.extend((0..adding).map(|_| standing(MIB, "lt")));
    held
}

/// Whether a layer that runs has a linear module with a bias.
fn adds_biases(job: &Job) -> bool {
    let mut modules = job.model.layer_kinds().flat_map(|(layer, _)| &layer.modules);
    modules.any(|module| matches!(module.kind, ModuleKind::Linear { bias: true, .. }))
}
