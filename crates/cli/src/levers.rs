//! Levers, and what differs between two plans, in words.

use headroom_core::advise::difference::Changed;
use headroom_core::advise::{Level, Lever};
use headroom_core::plan::Plan;
use headroom_core::units::bytes_text;
use serde_json::{Value, json};

/// What a lever does, in words and fields of the plan.
pub(crate) fn lever_text(lever: Lever) -> String {
    match lever {
        Lever::MicroBatch(batch) => format!("per_device_train_batch_size {batch}, accumulation to match"),
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let offload = match (offload_optimizer, offload_param) {
                (false, false) => "",
                (true, false) => ", optimizer in host memory",
                (_, true) => ", optimizer and parameters in host memory",
            };
            if zero_stage == 0 { format!("no sharding{offload}") } else { format!("ZeRO-{zero_stage}{offload}") }
        }
        Lever::Rank(r) => format!("lora_r {r}"),
        Lever::Length(length) => format!("max_length {length}"),
        Lever::Generations(generations) => format!("num_generations {generations}"),
        Lever::CompletionLength(tokens) => format!("max_completion_length {tokens}"),
        Lever::Model(id) => format!("model {id}"),
        Lever::Cards(count) => format!("num_gpus {count}"),
        Lever::Card(id) => format!("gpu {id}"),
        other => name(other).to_owned(),
    }
}

/// A lever's short name, for under a bar: with what was before where it changes a number.
pub(crate) fn lever_label(lever: Lever, before: &Plan) -> String {
    let step = |name: &str, from: u64, to: u64| format!("{name} {from} → {to}");
    let name = match lever {
        Lever::MicroBatch(batch) => return step("batch", before.per_device_train_batch_size, batch),
        Lever::Rank(r) => return step("LoRA r", before.lora.r, r),
        Lever::Length(length) => return step("length", before.max_length, length),
        Lever::Generations(count) => return step("answers", before.rollout.num_generations(), count),
        Lever::CompletionLength(tokens) => return step("new tokens", before.rollout.max_completion_length(), tokens),
        Lever::Cards(count) => return step("cards", before.num_gpus, count),
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let offload = if offload_optimizer || offload_param { " + offload" } else { "" };
            return if zero_stage == 0 { format!("unsharded{offload}") } else { format!("ZeRO-{zero_stage}{offload}") };
        }
        other => name(other),
    };
    name.to_owned()
}

/// The name of a lever that has no number.
const fn name(lever: Lever) -> &'static str {
    match lever {
        Lever::ExpandableSegments => "expandable segments",
        Lever::Sdpa => "SDPA",
        Lever::FusedOptimizer => "fused optimizer",
        Lever::Liger => "Liger",
        Lever::Checkpointing => "gradient checkpointing",
        Lever::NoCheckpointing => "no checkpointing",
        Lever::SmallBuckets => "small buckets",
        Lever::DropOutputs => "outputs dropped",
        Lever::EightBitOptimizer => "8-bit AdamW",
        Lever::PagedOptimizer => "paged 8-bit AdamW",
        Lever::Adafactor => "Adafactor",
        Lever::PureBfloat16 => "pure bf16",
        Lever::AdapterReference => "reference without adapter",
        Lever::PrecomputedReference => "reference precomputed",
        Lever::SharedInstances => "instances shared",
        Lever::OffloadedInstances => "frozen models on the host",
        Lever::QuantizedInstances => "frozen models in 4 bits",
        Lever::Lora => "LoRA",
        Lever::Qlora => "QLoRA",
        Lever::NarrowAdapters => "16-bit adapters",
        Lever::AttentionAdapters => "adapters on attention",
        Lever::Model(id) | Lever::Card(id) => id,
        other => other.name(),
    }
}

/// What a level does to the result.
pub(crate) const fn level_text(level: Level) -> &'static str {
    match level {
        Level::Same => "nothing about the result changes",
        Level::Coarser => "the same training, more coarsely computed",
        Level::Different => "something else is trained",
    }
}

/// Changed fields in one line: `per_device_train_batch_size 4 -> 8, max_length 512 -> 1024`.
pub(crate) fn changed_text(fields: &[Changed]) -> String {
    let one = |Changed { field, before, after }: &Changed| {
        let or_nothing = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        format!("{field} {} -> {}", or_nothing(before), or_nothing(after))
    };
    fields.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Changed fields for scripts.
pub(crate) fn changed_json(fields: &[Changed]) -> Value {
    let one = |one: &Changed| json!({"field": one.field, "before": one.before, "after": one.after});
    fields.iter().map(one).collect()
}

/// One changed field's short name, for under a bar: `lora.r 16 → 8`, or the field and what it becomes where that is long.
pub(crate) fn changed_label(changed: &Changed) -> String {
    let Changed { field, before, after } = changed;
    if before.len() + after.len() <= 12 { format!("{field} {before} → {after}") } else { format!("{field} {after}") }
}

/// A saving as what happens to the need: `-1.30 GiB`.
pub(crate) fn need_text(saved_bytes: i64) -> String {
    let sign = match saved_bytes {
        0 => "",
        ..0 => "+",
        _ => "-",
    };
    format!("{sign}{}", bytes_text(saved_bytes.unsigned_abs()))
}
