//! What is rarely touched.

use headroom_core::job::{self, Job};
use headroom_core::model::{FeedForward, ModelKind};
use headroom_core::plan::{
    AdapterDtype, AttentionKernel, BackwardPrefetch, Dtype, EvalStrategy, Framework, LossImplementation, LossType,
    Method, PackingStrategy, Plan, QuantStorage, ShardingStrategy, Task, TrainerName,
};
use headroom_text::{ChoiceText, NO_CHOICE, Texts};
use headroom_view::Element;

use super::choice::{auto_words, or_trainer};
use super::groups::made_when_open;
use super::images::{has_images, sees_images};
use super::rows::Input::{self, List, ListOrTrainer, Switch, SwitchOf, Typed};
use super::rows::{self, Row, row, row_where};
use crate::page::Page;

/// The step, whatever is trained.
const STEP: &[Row] = &[
    row_where(
        "loss_implementation",
        ListOrTrainer(
            |t, name| LossImplementation::from_name(name).map_or(NO_CHOICE, t.loss),
            |plan, name| LossImplementation::from_name(name).is_some_and(|loss| plan.offers_loss(loss)),
            |t, job| (t.loss)(job.loss().chosen()).label,
        ),
        |plan, _| plan.task == Task::Sft,
    ),
    row_where("loss_type", LOSS_TYPES, |plan, _| plan.offers_chunked_nll()),
    row_where("max_target_length", Typed, has_target),
    row_where("label_tokens", Typed, |plan, _| plan.counts_label_tokens() || plan.label_tokens.is_some()),
    row_where("packing", Switch, |plan, _| {
        plan.packing || plan.task == Task::Sft && plan.trainer.name != TrainerName::Transformers
    }),
    row_where(
        "packing_strategy",
        List(|t, name| PackingStrategy::from_name(name).map_or(NO_CHOICE, t.packing_strategy)),
        |plan, _| plan.task == Task::Sft && plan.packing,
    ),
    row_where("padding_free", Switch, |plan, _| {
        let packs = plan.packing && plan.packing_strategy != PackingStrategy::Wrapped;
        plan.task == Task::Sft && (plan.policy.padding_free || plan.can_flatten_batch() && !packs)
    }),
    row("padded_batch", Switch),
    row("logits_to_fp32", Switch),
    row("keep_outputs", Switch),
    row("expandable_segments", Switch),
    row("non_pytorch_memory_mib", Typed),
    row_where("images.tiles", Typed, has_images),
    row_where("images.patches", Typed, has_images),
    row_where("images.positions", Typed, has_images),
    row_where("freeze", Typed, sees_images),
    row_where(
        "eval_strategy",
        List(|t, name| EvalStrategy::from_name(name).map_or(NO_CHOICE, t.eval_strategy)),
        |plan, _| plan.task != Task::Inference,
    ),
    row_where("per_device_eval_batch_size", Typed, |plan, _| plan.evaluates()),
    row_where("eval_length", Typed, |plan, _| plan.evaluates()),
    row_where("compute_metrics", Switch, |plan, _| plan.evaluates() && plan.task == Task::Sft),
    row("host_memory_gib", Typed),
    row("attention_kernel", List(|t, name| AttentionKernel::from_name(name).map_or(NO_CHOICE, t.kernel))),
    row("expand_kv_heads", List(auto_words)),
    row("max_grad_norm", Typed),
];

/// Adapters and the base under them.
const ADAPTERS: &[Row] = &[
    row_where(
        "lora.adapter_dtype",
        List(|t, name| AdapterDtype::from_name(name).map_or(NO_CHOICE, t.adapter_dtype)),
        adapts,
    ),
    row_where("lora.target_parameters", Typed, |plan, job| {
        adapts(plan, job) && (routes(job) || !plan.lora.target_parameters.is_empty())
    }),
    row_where("lora.modules_to_save", Typed, adapts),
    row_where("lora.kernels", List(auto_words), |plan, job| {
        adapts(plan, job) && plan.trainer.name == TrainerName::Axolotl
    }),
    row_where("lora.lora_alpha", Typed, adapts),
    row_where("enable_input_require_grads", List(auto_words), adapts),
    row_where("quantization.quantize_moe_experts", Switch, |plan, job| {
        plan.method == Method::Qlora && routes(job) || plan.quantization.quantize_moe_experts
    }),
    row_where("quantization.fused_4bit_gemm", Switch, adapts),
    row_where(
        "quantization.bnb_4bit_quant_storage",
        List(|t, name| QuantStorage::from_name(name).map_or(NO_CHOICE, t.quant_storage)),
        |plan, _| {
            let sharded = plan.distributed.framework.is_fsdp() && plan.num_gpus > 1;
            let four_bit = plan.method == Method::Qlora && plan.quantization.bits == 4;
            four_bit && (sharded || plan.quantization.bnb_4bit_quant_storage != QuantStorage::Uint8)
        },
    ),
];

const DEEPSPEED: &[Row] = &[
    row("distributed.reduce_bucket_size", Typed),
    row("distributed.allgather_bucket_size", Typed),
    row("distributed.stage3_prefetch_bucket_size", Typed),
    row("distributed.stage3_param_persistence_threshold", Typed),
    row("distributed.stage3_max_live_parameters", Typed),
    row("distributed.sub_group_size", Typed),
    row("distributed.overlap_comm", List(auto_words)),
    row("distributed.contiguous_gradients", Switch),
    row("distributed.round_robin_gradients", Switch),
    row("distributed.grad_accum_dtype", List(dtype)),
    row("distributed.pin_memory", Switch),
];

const FSDP2: &[Row] = &[
    row("distributed.reshard_after_forward", Switch),
    row("distributed.param_dtype", GATHERED),
    row("distributed.reduce_dtype", REDUCED),
    row("distributed.wrap", SwitchOf("layer+embed+root", "layer+root")),
    row("distributed.dp_replicate_size", Typed),
    row("distributed.pin_memory", Switch),
];

const FSDP1: &[Row] = &[
    row("distributed.sharding_strategy", SHARDING),
    row("distributed.dp_replicate_size", Typed),
    row("distributed.backward_prefetch", PREFETCH),
    row("distributed.param_dtype", GATHERED),
    row("distributed.reduce_dtype", REDUCED),
];

const DDP: &[Row] = &[
    row("distributed.bucket_cap_mb", Typed),
    row("distributed.gradient_as_bucket_view", Switch),
    row("distributed.static_graph", Switch),
    row("distributed.find_unused_parameters", Switch),
];

/// Whether the model has a mixture of experts.
fn routes(job: Option<&Job>) -> bool {
    let is_mixture =
        |job: &Job| job.model().layers.iter().any(|run| matches!(run.layer.feed_forward, FeedForward::Experts(_)));
    job.is_some_and(is_mixture)
}

/// Whether the model writes a text of another length than it reads.
fn has_target(plan: &Plan, job: Option<&Job>) -> bool {
    let reads_source = |job: &Job| job.model().kind == ModelKind::EncoderDecoder;
    plan.max_target_length.is_some() || job.is_some_and(reads_source)
}

/// Whether adapters are trained.
fn adapts(plan: &Plan, _: Option<&Job>) -> bool {
    plan.method != Method::Full
}

/// TRL's `loss_type` of the task.
pub(super) const LOSS_TYPES: Input = ListOrTrainer(
    |t, name| or_trainer(t, LossType::from_name(name).map(t.loss_type)),
    |plan, name| LossType::from_name(name).is_none_or(|kind| kind.is_of(plan.task)),
    |_, job| match job.plan().task {
        Task::Grpo => "dapo",
        Task::Cpo => "sigmoid",
        _ if job.loss() == job::LossImplementation::ChunkedNll => "chunked_nll",
        _ => "nll",
    },
);

const SHARDING: Input = ListOrTrainer(
    |t, name| or_trainer(t, ShardingStrategy::from_name(name).map(t.sharding_strategy)),
    |_, _| true,
    |t, job| {
        let reshards = job.sharding().flat.reshards;
        (t.sharding_strategy)(if reshards { ShardingStrategy::FullShard } else { ShardingStrategy::ShardGradOp }).label
    },
);

const PREFETCH: Input = ListOrTrainer(
    |t, name| or_trainer(t, BackwardPrefetch::from_name(name).map(t.backward_prefetch)),
    |_, _| true,
    |t, job| (t.backward_prefetch)(job.sharding().flat.prefetch).label,
);

/// FSDP's dtypes, and what is taken where the plan names none.
const GATHERED: Input = ListOrTrainer(
    |t, name| or_trainer(t, Dtype::from_name(name).map(t.dtype)),
    |_, _| true,
    |t, job| (t.dtype)(job.sharding().param_dtype).label,
);
const REDUCED: Input = ListOrTrainer(
    |t, name| or_trainer(t, Dtype::from_name(name).map(t.dtype)),
    |_, _| true,
    |t, job| (t.dtype)(job.sharding().reduce_dtype).label,
);

fn dtype(texts: &'static Texts, name: &'static str) -> ChoiceText {
    Dtype::from_name(name).map_or(ChoiceText { label: texts.as_weights, gloss: "" }, texts.dtype)
}

/// The framework's own keys, under its name.
const fn of_framework(framework: Framework) -> (&'static str, &'static [Row]) {
    match framework {
        Framework::Deepspeed => ("DeepSpeed", DEEPSPEED),
        Framework::Fsdp2 => ("FSDP2", FSDP2),
        Framework::Fsdp1 => ("FSDP1", FSDP1),
        Framework::Ddp => ("DDP", DDP),
    }
}

/// The whole section.
pub(super) fn section(page: &Page) -> Element {
    let (_, own) = of_framework(page.plan().distributed.framework);
    let names: Vec<&str> = [STEP, ADAPTERS, own].into_iter().flatten().filter_map(|row| row.name(page)).collect();
    made_when_open(page, ("advanced", page.texts.section_advanced), &names, fields)
}

// Most readers never unfold it: its code need not be there for the first view.
#[inline(never)]
fn fields(page: &Page) -> Vec<Element> {
    let (title, rows) = of_framework(page.plan().distributed.framework);
    let mut fields = rows::group(page, "step", page.texts.advanced_general, STEP);
    fields.extend(rows::group(page, "adapters", page.texts.advanced_lora, ADAPTERS));
    fields.extend(rows::group(page, title, title, rows));
    fields
}
