//! Changes to the frozen models beside the policy, the plan's reward models.

use crate::plan::{Companion, CompanionModel, InstanceRole, ModelChoice, Offload, Plan};

/// Judges and simulated users that are the policy's own base model run on its instance.
pub(super) fn share(plan: &mut Plan) -> bool {
    let ModelChoice::Catalogue(policy) = plan.model.clone() else { return false };
    each(plan, |companion| {
        let talks = matches!(companion.role, Some(InstanceRole::Judge | InstanceRole::SimulatedUser));
        // Its weights are then the policy's: where they lie and how wide they are is no longer its own affair.
        let own = companion.bits.is_some() || companion.placement.is_some();
        let same = match &companion.model {
            CompanionModel::Policy => true,
            CompanionModel::Catalogue(id) => *id == policy,
            CompanionModel::Named(_) | CompanionModel::Config { .. } => false,
        };
        talks && same && !own && set(&mut companion.shared, true)
    })
}

/// All that have their own weights wait in host memory.
pub(super) fn offload(plan: &mut Plan) -> bool {
    each(plan, |companion| !companion.is_shared() && set(&mut companion.placement, Offload::Cpu))
}

/// All that wait in host memory stay on the GPU.
pub(super) fn keep(plan: &mut Plan) -> bool {
    each(plan, |companion| companion.placement == Some(Offload::Cpu) && set(&mut companion.placement, Offload::None))
}

/// All that have their own weights have them in 4 bits.
pub(super) fn quantize(plan: &mut Plan) -> bool {
    each(plan, |companion| !companion.is_shared() && set(&mut companion.bits, 4))
}

/// Sets a part; whether that changed anything.
fn set<T: PartialEq>(part: &mut Option<T>, value: T) -> bool {
    let value = Some(value);
    let differs = *part != value;
    *part = value;
    differs
}

/// Changes every reward model that can be changed; whether any was. One that is a config and nothing else is left alone.
fn each(plan: &mut Plan, mut change: impl FnMut(&mut Companion) -> bool) -> bool {
    let mut changed = false;
    for companion in plan.reward_models.iter_mut().flatten() {
        let described = matches!(companion.model, CompanionModel::Named(_) | CompanionModel::Config { .. });
        if !(companion.is_bare && described) && change(companion) {
            companion.is_bare = false;
            changed = true;
        }
    }
    changed
}
