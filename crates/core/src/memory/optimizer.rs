//! Optimizer state, and what clipping and the optimizer's step write for moments.

use super::autograd::{ElementType, Label, LayerTag, NO_LAYER, Shape, Sym, Tape, Tensor, dims};
use super::parameter::Trainable;
use super::phase::Phase;
use super::sharding::strategy;
use super::term::Term;
use crate::job::Job;
use crate::plan::{Optimizer, Plan};
use std::rc::Rc;

/// bitsandbytes keeps states of smaller tensors in fp32 (`min_8bit_size`, optim/optimizer.py).
const MIN_8BIT_SIZE: u64 = 4096;
/// Elements a block of bitsandbytes' 8-bit states (functional.py `blocksize=256`).
const STATE_BLOCK: u64 = 256;
/// Ranks that Hugging Face gives GaLore and APOLLO when `optim_args` says nothing (trainer_optimizer.py: rank 128 and 1).
const GALORE_RANK: u64 = 128;
const APOLLO_RANK: u64 = 1;

/// State of all optimizers, held from the first step on.
pub(super) fn allocate_states(tape: &Rc<Tape>, job: &Job, trainable: &[Trainable]) -> Vec<Tensor> {
    let outside = tape.tag();
    let Job { sharding, .. } = job;
    let mut states = code_tables(tape, job, trainable);
    let flats = strategy(sharding).flat_partitions(tape, trainable);
    let parameters = if flats.is_empty() { trainable } else { &[] };
    for parameter in parameters {
        tape.enter_layer(parameter.tag);
        let (name, whole) = (&*parameter.name, parameter.tensor.shape());
        if job.numerics.fp32_master && !sharding.offload_optimizer {
            let shape = strategy(sharding).state_shape(whole);
            states.push(Tensor::new(tape, tape.label(Term::MasterWeights, name), shape, ElementType::F32));
        }
        let element = parameter.tensor.element();
        states.extend(states_of(tape, job, Updated { name, whole, element, is_part: false }));
    }
    tape.enter_layer(outside);
    // The fp32 copies of flat partitions are there already.
    for elements in flats {
        let whole = dims(&[(Sym::Share, elements)]);
        states.extend(states_of(tape, job, Updated { name: "flat", whole, element: ElementType::F32, is_part: true }));
    }
    states
}

/// What the optimizer updates: a parameter, or a flat partition of many.
#[derive(Debug, Clone, Copy)]
struct Updated<'a> {
    name: &'a str,
    /// Its shape; of a partition, this rank's part.
    whole: Shape,
    /// In which it takes part in matmuls.
    element: ElementType,
    is_part: bool,
}

/// The 256 values that 8-bit states stand for, one table a kind of state, shared by all tensors
/// (bitsandbytes optim/optimizer.py `init_state`: `name2qmap["dynamic"].to(p.device)`, and `"udynamic"` for second moments).
fn code_tables(tape: &Rc<Tape>, job: &Job, trainable: &[Trainable]) -> Vec<Tensor> {
    let tables: &[&str] = match job.plan.optim {
        Optimizer::AdamwBnb8bit | Optimizer::PagedAdamw8bit => &["dynamic", "udynamic"],
        Optimizer::Lion8bit => &["dynamic"],
        _ => &[],
    };
    let eight_bit = trainable.iter().any(|parameter| parameter.elements() >= MIN_8BIT_SIZE);
    if !eight_bit || job.sharding.offload_optimizer {
        return Vec::new();
    }
    let new = |name: &&str| {
        let label = tape.label(Term::BlockwiseStateScales, name);
        Tensor::new(tape, label, dims(&[(Sym::TwoHundredFiftySix, 256)]), ElementType::F32)
    };
    tables.iter().map(new).collect()
}

/// State of one tensor beside its fp32 copy.
fn states_of(tape: &Rc<Tape>, job: &Job, updated: Updated<'_>) -> Vec<Tensor> {
    let Job { plan, sharding, .. } = job;
    let Updated { name, whole: shape, element: weight, is_part } = updated;
    let new = |term, shape: Shape, element| {
        let shape = if is_part { shape } else { strategy(sharding).state_shape(shape) };
        Tensor::new(tape, tape.label(term, name), shape, element)
    };
    let own = if job.numerics.fp32_master { ElementType::F32 } else { strategy(sharding).state_element(weight) };
    let mut states = Vec::new();
    if sharding.offload_optimizer {
        return states;
    }
    let step = || dims(&[(Sym::One, 1)]);
    match plan.optim {
        Optimizer::AdamwTorch | Optimizer::AdamwTorchForloop | Optimizer::AdamwTorchFused => {
            states.push(new(Term::FirstMoment, shape, own));
            states.push(new(Term::SecondMoment, shape, own));
            if plan.optim == Optimizer::AdamwTorchFused {
                // `step` lives on the device only for the fused and capturable kernels.
                states.push(Tensor::new(tape, tape.label(Term::StepCounters, ""), step(), ElementType::F32));
            }
        }
        Optimizer::AdamwBnb8bit => {
            states.extend(blockwise(&new, Term::FirstMoment, shape, false));
            states.extend(blockwise(&new, Term::SecondMoment, shape, false));
        }
        Optimizer::Lion8bit => states.extend(blockwise(&new, Term::FirstMoment, shape, false)),
        Optimizer::Lion32bit => states.push(new(Term::FirstMoment, shape, ElementType::F32)),
        // Managed memory: the driver keeps it on the host and brings pages as they are used; only the maxima and maps of
        // 8-bit states are ordinary tensors (optim/optimizer.py get_state_buffer pages tensors from 10^5 elements on).
        Optimizer::PagedAdamw8bit => {
            let paged = shape.elements() >= PAGED_SIZE;
            for term in [Term::FirstMoment, Term::SecondMoment] {
                states.extend(blockwise(&new, term, shape, paged));
            }
        }
        Optimizer::PagedAdamw32bit => {
            if shape.elements() < PAGED_SIZE {
                states.push(new(Term::FirstMoment, shape, ElementType::F32));
                states.push(new(Term::SecondMoment, shape, ElementType::F32));
            }
        }
        Optimizer::Sgd => {}
        Optimizer::SgdMomentum => states.push(new(Term::FirstMoment, shape, own)),
        Optimizer::Adafactor => {
            states.extend(factored(&new, shape));
            // `state["RMS"]`, a tensor of one number (transformers optimization.py Adafactor.step).
            states.push(Tensor::new(tape, tape.label(Term::FactoredSecondMoment, "RMS"), step(), ElementType::F32));
        }
        Optimizer::GaloreAdamw | Optimizer::ApolloAdamw => {
            let rank = if plan.optim == Optimizer::GaloreAdamw { GALORE_RANK } else { APOLLO_RANK };
            states.extend(projected(&new, shape, own, rank, name));
        }
        Optimizer::Muon => {
            states.push(new(Term::FirstMoment, shape, own));
            if shape.sizes().len() != 2 || !projects(name) {
                states.push(new(Term::SecondMoment, shape, own));
            }
        }
    }
    states
}

/// Makes a tensor of state of a term, shape and element type.
type New<'a> = dyn Fn(Term, Shape, ElementType) -> Tensor + 'a;

/// Adafactor's second moment: row and column means of a matrix, every number of anything else.
fn factored(new: &New<'_>, shape: Shape) -> Vec<Tensor> {
    let new = |shape| new(Term::FactoredSecondMoment, shape, ElementType::F32);
    match shape.sizes() {
        [rows, .., columns] => {
            let lead = shape.elements() / (*rows).max(1) / (*columns).max(1);
            vec![new(shape.rows()), new(dims(&[(Sym::N, lead), (Sym::DIn, *columns)]))]
        }
        _ => vec![new(shape)],
    }
}

/// GaLore's and APOLLO's state: the shorter side of a matrix is projected to the rank, and the moments live in the
/// projected space.
fn projected(new: &New<'_>, shape: Shape, own: ElementType, rank: u64, name: &str) -> Vec<Tensor> {
    match shape.sizes() {
        [rows, columns] if projects(name) => {
            let (long, short) = (*rows.max(columns), *rows.min(columns));
            let rank = rank.min(short);
            let small = dims(&[(Sym::R, rank), (Sym::LongSide, long)]);
            let projector = dims(&[(Sym::ShortSide, short), (Sym::R, rank)]);
            vec![
                new(Term::FirstMoment, small, own),
                new(Term::SecondMoment, small, own),
                new(Term::LowRankProjections, projector, own),
            ]
        }
        _ => vec![new(Term::FirstMoment, shape, own), new(Term::SecondMoment, shape, own)],
    }
}

/// bitsandbytes pages states from this many elements on (optim/optimizer.py `p.numel() < 1e5`).
const PAGED_SIZE: u64 = 100_000;

/// GaLore, APOLLO and Muon treat the matrices inside layers so; embeddings, head and norms get AdamW.
fn projects(name: &str) -> bool {
    !name.contains("embed") && !name.contains("head") && !name.contains("wte") && !name.contains("wpe")
}

/// One 8-bit state: its bytes, unless they are paged, and its blocks' maxima; fp32 for small tensors.
fn blockwise(new: &dyn Fn(Term, Shape, ElementType) -> Tensor, term: Term, shape: Shape, paged: bool) -> Vec<Tensor> {
    let elements = shape.elements();
    if elements < MIN_8BIT_SIZE {
        return vec![new(term, shape, ElementType::F32)];
    }
    let blocks = dims(&[(Sym::StateBlocks, elements.div_ceil(STATE_BLOCK))]);
    let scales = new(Term::BlockwiseStateScales, blocks, ElementType::F32);
    if paged { vec![scales] } else { vec![new(term, shape, ElementType::Byte), scales] }
}

/// Elements whose state paged optimizers keep in managed memory, and bytes of it an element; all layers.
pub(super) fn paged_state(plan: &Plan, trainable: &[Trainable]) -> Option<(u64, u64)> {
    let width = match plan.optim {
        Optimizer::PagedAdamw8bit => 2,
        Optimizer::PagedAdamw32bit => 8,
        _ => return None,
    };
    let large = trainable.iter().filter(|parameter| parameter.elements() >= PAGED_SIZE);
    let elements = large.map(|parameter| parameter.elements().saturating_mul(parameter.tag.repeat));
    Some((elements.fold(0, u64::saturating_add), width))
}

/// `clip_grad_norm_`: one norm a gradient in its own dtype, then all of them stacked.
pub(super) fn clip(tape: &Rc<Tape>, plan: &Plan, trainable: &[Trainable]) {
    if plan.max_grad_norm <= 0.0 {
        return;
    }
    tape.enter(Phase::GradientClipping);
    let outside = tape.tag();
    let label = tape.label(Term::ClippingTemporaries, "");
    let mut norms: Vec<(LayerTag, Tensor)> = Vec::new();
    for parameter in trainable {
        tape.enter_layer(parameter.tag);
        norms.push((parameter.tag, Tensor::new(tape, label, dims(&[(Sym::One, 1)]), parameter.tensor.element())));
    }
    for (tag, norm) in norms {
        tape.enter_layer(tag);
        drop(norm);
    }
    tape.enter_layer(outside);
}

/// `Adafactor.step` (transformers optimization.py): gradient and weight in fp32 (copies when they are not), the square, the
/// square plus eps with its two means, their product, the update's negation. Names hold the last weight's.
fn adafactor(tape: &Rc<Tape>, updated: Vec<Stepped>) {
    let (mut gradient, mut weight, mut update) = (None, None, None);
    for Stepped { tag, label, shape, element } in updated {
        tape.enter_layer(tag);
        let of = |shape| Tensor::new(tape, label, shape, ElementType::F32);
        if element != ElementType::F32 {
            drop(gradient.take());
            gradient = Some(of(shape));
            drop(weight.take());
            weight = Some(of(shape));
        }
        let square = of(shape);
        let shifted = of(shape);
        drop(square);
        drop(update.replace(shifted));
        if shape.sizes().len() >= 2 {
            let (rows, columns) = (shape.rows(), dims(&[(Sym::DIn, shape.width())]));
            drop(of(rows));
            let mean = of(columns);
            tape.row_sum(rows.elements(), shape.width());
            drop(mean);
            let factors = (of(rows), of(columns));
            let product = of(shape);
            drop(factors);
            drop(update.replace(product));
        } else {
            drop(update.replace(of(shape)));
        }
        drop(of(shape));
    }
}

/// A tensor in the optimizer's step, as this rank has it.
#[derive(Debug, Clone, Copy)]
struct Stepped {
    tag: LayerTag,
    label: Label,
    shape: Shape,
    element: ElementType,
}

fn stepped(tape: &Tape, job: &Job, trainable: &[Trainable]) -> Vec<Stepped> {
    let Job { sharding, .. } = job;
    let flats = strategy(sharding).flat_partitions(tape, trainable);
    if !flats.is_empty() {
        let label = tape.label(Term::OptimizerTemporaries, "flat");
        let of = |elements| dims(&[(Sym::Share, elements)]);
        let element = strategy(sharding).state_element(ElementType::F32);
        let flat = |elements| Stepped { tag: NO_LAYER, label, shape: of(elements), element };
        return flats.into_iter().map(flat).collect();
    }
    let one = |parameter: &Trainable| Stepped {
        tag: parameter.tag,
        label: tape.label(Term::OptimizerTemporaries, &parameter.name),
        shape: strategy(sharding).state_shape(parameter.tensor.shape()),
        element: if job.numerics.fp32_master {
            ElementType::F32
        } else {
            // Roots are as wide as what they are roots of.
            strategy(sharding).state_element(parameter.tensor.element())
        },
    };
    trainable.iter().map(one).collect()
}

/// `optimizer.step()`.
pub(super) fn step(tape: &Rc<Tape>, job: &Job, trainable: &[Trainable]) {
    let Job { plan, sharding, .. } = job;
    tape.enter(Phase::OptimizerStep);
    if sharding.offload_optimizer {
        return;
    }
    let outside = tape.tag();
    let updated = stepped(tape, job, trainable);
    match plan.optim {
        Optimizer::AdamwTorch | Optimizer::GaloreAdamw | Optimizer::ApolloAdamw | Optimizer::Muon => {
            // `_foreach_sqrt(exp_avg_sqs)` writes one tensor for each of the list before any is freed.
            let mut roots = Vec::new();
            for Stepped { tag, label, shape, element } in updated {
                tape.enter_layer(tag);
                roots.push((tag, Tensor::new(tape, label, shape, element)));
            }
            // CPython frees a list's items from the last to the first.
            for (tag, root) in roots.into_iter().rev() {
                tape.enter_layer(tag);
                drop(root);
            }
        }
        Optimizer::AdamwTorchForloop => {
            // `denom = (exp_avg_sq.sqrt() / bias_correction2_sqrt).add_(eps)`: two tensors of one weight's size, and the
            // name holds the last one's.
            let mut denominator = None;
            for Stepped { tag, label, shape, element } in updated {
                tape.enter_layer(tag);
                let root = Tensor::new(tape, label, shape, element);
                let divided = Tensor::new(tape, label, shape, element);
                drop(root);
                drop(denominator.replace(divided));
            }
        }
        Optimizer::Adafactor => adafactor(tape, updated),
        Optimizer::AdamwTorchFused
        | Optimizer::AdamwBnb8bit
        | Optimizer::PagedAdamw8bit
        | Optimizer::PagedAdamw32bit
        | Optimizer::Sgd
        | Optimizer::SgdMomentum
        | Optimizer::Lion32bit
        | Optimizer::Lion8bit => {}
    }
    tape.enter_layer(outside);
}
