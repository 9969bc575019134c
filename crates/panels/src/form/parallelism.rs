//! Sharding over GPUs, and offload to the host.

use headroom_core::plan::{Framework, Offload, Plan};
use headroom_text::{ChoiceText, NO_CHOICE, Texts};
use headroom_view::Element;

use super::choice::{buttons_of, choice, switch, switch_of};
use crate::page::Page;

/// The fields of the group.
pub(super) const NAMES: &[&str] =
    &["distributed.framework", "zero_stage", "offload_optimizer", "offload_param", "distributed.cpu_offload"];

/// Framework, stage, offload. Each framework is asked only for what it has; what it has not is shown only while the plan
/// still says it, so that it can be fixed.
pub(super) fn fields(page: &Page) -> Vec<Element> {
    let plan = page.plan();
    let framework = plan.distributed.framework;
    let mut fields = vec![choice(page, "distributed.framework", |t, name| {
        Framework::from_name(name).map_or(NO_CHOICE, t.framework)
    })];
    if has_stages(plan) {
        fields.push(buttons_of(page, "zero_stage", stage_words, &["0", "1", "2", "3"]));
    }
    let says_offload = [plan.offload_optimizer, plan.offload_param].contains(&Offload::Cpu);
    if says_offload || framework == Framework::Deepspeed {
        fields.push(switch_of(page, "offload_optimizer", "cpu", "none"));
        fields.push(switch_of(page, "offload_param", "cpu", "none"));
    }
    if framework.is_fsdp() {
        fields.push(switch(page, "distributed.cpu_offload"));
    }
    fields
}

fn has_stages(plan: &Plan) -> bool {
    match plan.distributed.framework {
        Framework::Deepspeed => true,
        Framework::Fsdp1 | Framework::Fsdp2 => matches!(plan.zero_stage, 1 | 2),
        Framework::Ddp => plan.zero_stage > 0,
    }
}

fn stage_words(texts: &'static Texts, name: &'static str) -> ChoiceText {
    name.parse().ok().and_then(|stage: usize| texts.zero_stages.get(stage).copied()).unwrap_or(NO_CHOICE)
}
