//! Optimizer state, held from the first step on.

use super::bitsandbytes::{Rule, code_tables, in_32_bits};
use super::{low_rank, muon, torchao};
use crate::job::Job;
use crate::memory::autograd::{Action, ElementType, Shape, Sym, Tape, Tensor, dims};
use crate::memory::parameter::Trainable;
use crate::memory::sharding::strategy;
use crate::memory::term::Term;
use crate::plan::Optimizer;
use std::rc::Rc;

/// Makes a tensor of state of a term, shape and element type.
pub(super) type New<'a> = dyn Fn(Term, Shape, ElementType) -> Tensor + 'a;

/// State of all tensors.
pub(in crate::memory) fn allocate_states(tape: &Rc<Tape>, job: &Job, trainable: &[Trainable]) -> Vec<Tensor> {
    let outside = tape.tag();
    let Job { sharding, .. } = job;
    let mut states = code_tables(tape, job, trainable);
    let flats = strategy(sharding).flat_partitions(tape, trainable);
    let parameters = if flats.is_empty() { trainable } else { &[] };
    for (number, parameter) in parameters.iter().enumerate() {
        tape.enter_layer(parameter.tag);
        if job.plan.optim.is_layerwise() {
            tape.tell(Action::StateBegins, u32::try_from(number).unwrap_or(u32::MAX));
        }
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

/// One number.
fn scalar() -> Shape {
    dims(&[(Sym::One, 1)])
}

/// State of one tensor beside its fp32 copy.
fn states_of(tape: &Rc<Tape>, job: &Job, updated: Updated<'_>) -> Vec<Tensor> {
    let Job { plan, sharding, .. } = job;
    let Updated { name, whole: shape, element: weight, is_part } = updated;
    let new = |term, shape: Shape, element| {
        let shape = if is_part { shape } else { strategy(sharding).state_shape(shape) };
        Tensor::new(tape, tape.label(term, name), shape, element)
    };
    // What no rank has a share of.
    let whole = |term, name, shape, element| Tensor::new(tape, tape.label(term, name), shape, element);
    let own = if job.numerics.fp32_master { ElementType::F32 } else { strategy(sharding).state_element(weight) };
    if sharding.offload_optimizer {
        return Vec::new();
    }
    let step = || whole(Term::StepCounters, "", scalar(), ElementType::F32);
    let first = || new(Term::FirstMoment, shape, own);
    let second = || new(Term::SecondMoment, shape, own);
    match plan.optim {
        Optimizer::Sgd | Optimizer::Lomo => Vec::new(),
        Optimizer::AdamwTorch | Optimizer::AdamwTorchForloop => vec![first(), second()],
        // `step` lives on the device only for the fused and capturable kernels.
        Optimizer::AdamwTorchFused => vec![first(), second(), step()],
        Optimizer::SgdMomentum => vec![first()],
        // `square_avg`, `sum`.
        Optimizer::Rmsprop | Optimizer::Adagrad => vec![second()],
        // `z`, a second copy of the weights.
        Optimizer::ScheduleFreeSgd => vec![first()],
        Optimizer::ScheduleFreeAdamw | Optimizer::ScheduleFreeRadam => vec![first(), second()],
        Optimizer::StableAdamw => stable_adamw(&new, &whole, (shape, own)),
        // On the host.
        Optimizer::Grokadamw => Vec::new(),
        Optimizer::AdamwTorch8bit | Optimizer::AdamwTorch4bit => {
            torchao::states(plan.optim, &new, &whole, (shape, own))
        }
        Optimizer::Adafactor => {
            let mut states = factored(&new, shape);
            // `state["RMS"]`, a tensor of one number (transformers optimization.py Adafactor.step).
            states.push(whole(Term::FactoredSecondMoment, "RMS", scalar(), ElementType::F32));
            states
        }
        Optimizer::Adalomo => factored(&new, shape),
        Optimizer::Muon if muon::orthogonalizes(shape, name) => vec![first()],
        Optimizer::Muon => vec![first(), second(), step()],
        Optimizer::GaloreAdamw
        | Optimizer::GaloreAdamwLayerwise
        | Optimizer::ApolloAdamw
        | Optimizer::ApolloAdamwLayerwise
        | Optimizer::GaloreAdamw8bit
        | Optimizer::GaloreAdamw8bitLayerwise
        | Optimizer::GaloreAdafactor => low_rank_states(plan.optim, &new, &whole, (shape, own, name)),
        Optimizer::AdamwBnb8bit
        | Optimizer::PagedAdamw8bit
        | Optimizer::PagedAdamw32bit
        | Optimizer::Lion32bit
        | Optimizer::Lion8bit
        | Optimizer::PagedLion32bit
        | Optimizer::PagedLion8bit
        | Optimizer::Ademamix
        | Optimizer::Ademamix8bit
        | Optimizer::PagedAdemamix32bit
        | Optimizer::PagedAdemamix8bit
        | Optimizer::RmspropBnb
        | Optimizer::RmspropBnb8bit => {
            Rule::of(plan.optim).map(|rule| rule.states(&new, shape, in_32_bits(job, name))).unwrap_or_default()
        }
    }
}

/// Makes a tensor of state that every rank has whole, with a name of its own.
pub(super) type Whole<'a> = dyn Fn(Term, &'static str, Shape, ElementType) -> Tensor + 'a;

/// torch-optimi's StableAdamW (optimi/stableadamw.py `_init_state`): both moments and Kahan summation's compensation of
/// 16-bit weights, a byte for others; the square of eps and a sum for the Triton kernel.
fn stable_adamw(new: &New<'_>, whole: &Whole<'_>, (shape, own): (Shape, ElementType)) -> Vec<Tensor> {
    let compensation = match own {
        ElementType::Half => new(Term::MasterWeights, shape, own),
        _ => whole(Term::MasterWeights, "kahan_comp", scalar(), ElementType::Byte),
    };
    vec![
        new(Term::FirstMoment, shape, own),
        new(Term::SecondMoment, shape, own),
        whole(Term::StepCounters, "eps_sq", scalar(), own),
        compensation,
        whole(Term::StepCounters, "mean_square", scalar(), ElementType::F32),
    ]
}

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

/// GaLore's and APOLLO's state: of the projected gradient where one is projected, and its projector.
fn low_rank_states(
    optim: Optimizer,
    new: &New<'_>,
    whole: &Whole<'_>,
    (shape, own, name): (Shape, ElementType, &str),
) -> Vec<Tensor> {
    // Adafactor projects the gradient's copy in fp32.
    let projected = if optim == Optimizer::GaloreAdafactor { ElementType::F32 } else { own };
    let projection = low_rank::projection(optim, shape, projected, name);
    let small = projection.map_or(shape, |projection| projection.small);
    let mut states = Vec::new();
    states.extend(projection.map(|projection| new(Term::LowRankProjections, projection.projector, projected)));
    if let Some(rule) = Rule::of(optim) {
        states.extend(rule.states(new, small, false));
        // Its arguments are those of an older bitsandbytes: `percentile_clipping=100` is read as `max_unorm` (galore_torch
        // adamw8bit.py), so that each tensor has a norm.
        states.push(whole(Term::StepCounters, "unorm_vec", scalar(), ElementType::F32));
    } else if optim == Optimizer::GaloreAdafactor {
        states.extend(factored(new, small));
        states.push(whole(Term::FactoredSecondMoment, "RMS", scalar(), ElementType::F32));
    } else {
        states.push(new(Term::FirstMoment, small, own));
        states.push(new(Term::SecondMoment, small, own));
        if low_rank::is_apollo(optim) && projection.is_some() {
            states.push(whole(Term::StepCounters, "scaled_grad", scalar(), own));
        }
    }
    states
}
