//! How large what no plan can say is, where that follows from the plan beside it.

use headroom_core::job::Job;
use headroom_core::model;

use super::{Import, NotExpressible};
use crate::trainers::Topic;

/// Sets the sizes of what was listed.
pub(super) fn add(imported: &mut Import) {
    let plan = &imported.plan;
    // A plan that cannot be resolved says why elsewhere, and has no sizes.
    let job = Job::resolve(plan).ok();
    for listed in &mut imported.not_expressible {
        listed.bytes = match listed.topic {
            Topic::SecondModel => second_model(listed),
            Topic::Noise => job.as_ref().map(noise),
            _ => None,
        };
    }
}

/// Weights of the model that the value names, two bytes each: the dtype that published weights are in.
fn second_model(listed: &NotExpressible) -> Option<u64> {
    let id = model::resolve(&listed.value).ok()?;
    Some(model::find(id)?.param_count.saturating_mul(2))
}

/// NEFTune's noise and its sum with the embeddings, both of shape (b, s, h) in the embeddings' dtype, before layer 0
/// (transformers `integrations/neftune.py`).
fn noise(job: &Job) -> u64 {
    let plan = job.plan();
    let elements =
        plan.per_device_train_batch_size.saturating_mul(plan.max_length).saturating_mul(job.model().hidden_size);
    elements.saturating_mul(job.numerics().weights.bytes()).saturating_mul(2)
}
