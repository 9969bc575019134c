//! Optimizer state, and what clipping and the optimizer's step materialise for moments, library by library.
//!
//! The state is allocated where the steady step begins; a step's temporaries follow each library's own loop: over lists of
//! all tensors (foreach), or tensor by tensor, where a Python name holds a result until the next tensor's takes its place.

mod adafactor;
mod backward;
mod bitsandbytes;
mod grokadamw;
mod low_rank;
mod muon;
mod pytorch;
mod states;
mod stepped;
mod torchao;

pub(super) use backward::InBackward;
pub(super) use states::allocate_states;

use stepped::{Stepped, stepped};

use super::autograd::{LayerTag, Sym, Tape, Tensor, dims};
use super::parameter::Trainable;
use super::phase::Phase;
use super::term::Term;
use crate::job::Job;
use crate::plan::{Optimizer, Plan};
use std::rc::Rc;

/// Elements whose optimizer state rests on the host without a framework's offloading, by bytes of it an element: paged by
/// the driver, or grokadamw's, both moments and the slow average in the weight's dtype.
pub(super) fn host_state(job: &Job, trainable: &[Trainable]) -> Vec<(u64, u64)> {
    let mut states = bitsandbytes::paged_state(job, trainable);
    if job.plan.optim == Optimizer::Grokadamw {
        for parameter in trainable {
            let elements = parameter.elements().saturating_mul(parameter.tag.repeat);
            bitsandbytes::sum_by_width(&mut states, elements, 3 * parameter.tensor.element().bytes());
        }
    }
    states
}

/// `clip_grad_norm_`: one norm a gradient in its own dtype, then all of them stacked.
pub(super) fn clip(tape: &Rc<Tape>, plan: &Plan, trainable: &[Trainable]) {
    if plan.max_grad_norm <= 0.0 || plan.optim.steps_in_backward() {
        return;
    }
    tape.enter(Phase::GradientClipping);
    let outside = tape.tag();
    let label = tape.label(Term::ClippingTemporaries, "");
    let mut norms: Vec<(LayerTag, Tensor)> = Vec::with_capacity(trainable.len());
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

/// The parameter groups of the optimizer, which its step takes one after the other: a Trainer's are what decays and what
/// does not (trainer.py `create_optimizer`: biases and norms, so vectors), GaLore's and APOLLO's what is not projected and
/// what is (trainer_optimizer.py `_setup_low_rank_optimizer`).
fn groups(job: &Job, updated: Vec<Stepped>) -> [Vec<Stepped>; 2] {
    let optim = job.plan.optim;
    if optim.is_low_rank() {
        let (projected, whole) =
            updated.into_iter().partition(|one| low_rank::is_projected(optim, one.shape, &one.name));
        return [whole, projected];
    }
    if job.trainer.is_custom() {
        return [updated, Vec::new()];
    }
    let (decays, other) = updated.into_iter().partition(|one| one.shape.sizes().len() > 1);
    [decays, other]
}

/// `optimizer.step()`.
pub(super) fn step(tape: &Rc<Tape>, job: &Job, trainable: &[Trainable]) {
    let Job { plan, sharding, .. } = job;
    tape.enter(Phase::OptimizerStep);
    if sharding.offload_optimizer || plan.optim.steps_in_backward() {
        return;
    }
    let outside = tape.tag();
    let groups = groups(job, stepped(tape, job, trainable));
    let all = || groups.iter().flatten();
    match plan.optim {
        // `_foreach_sqrt(exp_avg_sqs)`, or of RMSprop's `square_avgs`, materialises a list of all tensors.
        Optimizer::AdamwTorch | Optimizer::Rmsprop => pytorch::foreach(tape, &groups, 1),
        // `_foreach_sqrt(state_sums)` and `_foreach_mul(grads, minus_clr)`.
        Optimizer::Adagrad => pytorch::foreach(tape, &groups, 2),
        Optimizer::ScheduleFreeAdamw | Optimizer::ScheduleFreeRadam => pytorch::schedule_free(tape, &groups),
        Optimizer::AdamwTorchForloop => pytorch::for_loop(tape, all()),
        Optimizer::Adafactor | Optimizer::GaloreAdafactor => adafactor::step(tape, plan.optim, all()),
        Optimizer::GaloreAdamw | Optimizer::ApolloAdamw | Optimizer::GaloreAdamw8bit => {
            let mut held = low_rank::Held::default();
            for one in all() {
                let leaf = one.number.and_then(|number| trainable.get(number)).and_then(Trainable::leaf);
                low_rank::update(tape, plan.optim, one, &mut held, leaf);
            }
        }
        Optimizer::Muon => muon::step(tape, all()),
        Optimizer::Grokadamw => grokadamw::step(tape, all()),
        Optimizer::AdamwTorch8bit | Optimizer::AdamwTorch4bit => torchao::step(tape, plan.optim, all()),
        // One kernel a tensor, or lists updated in place.
        Optimizer::AdamwTorchFused
        | Optimizer::AdamwBnb8bit
        | Optimizer::PagedAdamw8bit
        | Optimizer::PagedAdamw32bit
        | Optimizer::Sgd
        | Optimizer::SgdMomentum
        | Optimizer::Lion32bit
        | Optimizer::Lion8bit
        | Optimizer::PagedLion32bit
        | Optimizer::PagedLion8bit
        | Optimizer::Ademamix
        | Optimizer::Ademamix8bit
        | Optimizer::PagedAdemamix32bit
        | Optimizer::PagedAdemamix8bit
        | Optimizer::RmspropBnb
        | Optimizer::RmspropBnb8bit
        | Optimizer::ScheduleFreeSgd
        | Optimizer::StableAdamw
        // In backward, above.
        | Optimizer::GaloreAdamwLayerwise
        | Optimizer::GaloreAdamw8bitLayerwise
        | Optimizer::ApolloAdamwLayerwise
        | Optimizer::Lomo
        | Optimizer::Adalomo => {}
    }
    tape.enter_layer(outside);
}
