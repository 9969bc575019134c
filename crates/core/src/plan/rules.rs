//! Which fields cannot go together. Few and true: whatever runs in reality passes.

use super::modules::{adapts_table, targets_head, unties_head};
use super::{
    AttentionKernel, AttnImplementation, Auto, Dtype, EmbeddingLoss, Framework, LossType, Method, MixedPrecision,
    Offload, Plan, Problem, ProblemKind, ReferenceKind, Release, RolloutEngine, ShardingStrategy, Task, TrainerName,
    frozen,
};
use crate::gpu::Gpu;
use crate::model::{Model, ModelKind, ModuleKind, Role};

/// Every contradiction of `plan`; `fuses_lm_head`: its trainer puts the head into the loss.
pub(crate) fn contradictions(plan: &Plan, model: &Model, gpu: &Gpu, fuses_lm_head: bool) -> Vec<Problem> {
    let mut problems = within(plan);
    problems.extend(flash_attention(plan, gpu));
    problems.extend(positions(plan, model));
    problems.extend(frozen_table_unsharded(plan, model));
    problems.extend(adapted_ends(plan, model, fuses_lm_head));
    problems.extend(images(plan, model));
    problems.extend(sources(plan, model));
    problems.extend(frozen::unknown(plan, model));
    problems.extend(state_space_kernels(plan, model));
    problems
}

/// Images want a model whose tower was recorded. How a policy generates from images was not compared with anything, nor were FSDP1's flat
/// tensors of which a part is frozen.
fn images(plan: &Plan, model: &Model) -> Option<Problem> {
    plan.images.per_sample?;
    if model.vision.is_none() {
        return contradiction("images.per_sample", "model", "");
    }
    if model.vision.as_ref().is_some_and(|vision| !vision.runs_eager)
        && plan.attn_implementation == AttnImplementation::Eager
    {
        return contradiction("attn_implementation", "images.per_sample", "sdpa");
    }
    let is_flat = plan.distributed.framework == Framework::Fsdp1 && plan.num_gpus > 1;
    match plan.task {
        Task::Sft if is_flat && plan.method == Method::Full && !plan.freeze.is_empty() => {
            contradiction("distributed.framework", "freeze", "fsdp2")
        }
        Task::Sft => None,
        _ => contradiction("task", "images.per_sample", "sft"),
    }
}

/// An encoder-decoder trains on pairs of a source and a target of its own length, which no other model has. Its class was recorded with
/// PyTorch's attention and without padding, whose masks would be made into a bias for each sequence (transformers
/// integrations/sdpa_attention.py `create_position_bias_mask`).
fn sources(plan: &Plan, model: &Model) -> Option<Problem> {
    if model.kind != ModelKind::EncoderDecoder {
        plan.max_target_length?;
        return contradiction("max_target_length", "model", "");
    }
    if plan.task != Task::Sft {
        return contradiction("task", "model", "sft");
    }
    if plan.attn_implementation != AttnImplementation::Sdpa {
        return contradiction("attn_implementation", "model", "sdpa");
    }
    if plan.padded_batch {
        return contradiction("padded_batch", "model", "false");
    }
    if plan.packing || plan.policy.padding_free {
        return contradiction(if plan.packing { "packing" } else { "policy.padding_free" }, "model", "false");
    }
    if plan.use_liger_kernel {
        return contradiction("use_liger_kernel", "model", "false");
    }
    // T5's second projection stays as it is, and what it reads is cast for it (modeling_t5.py `T5DenseActDense.forward`).
    let keeps_fp32 = !model.recorded.program.keeps.is_empty();
    match (plan.method, plan.torch_dtype) {
        (Method::Qlora, _) if keeps_fp32 => contradiction("method", "model", "lora"),
        (_, Dtype::Float16) if keeps_fp32 => contradiction("torch_dtype", "model", "bfloat16"),
        _ => None,
    }
}

/// mamba-ssm's function for a whole state-space layer calls causal-conv1d's, which are `None` where that is not installed, and
/// multiplies by the output projection's weight as it is: the packed bytes of a quantised one have another shape ("mat1 and mat2
/// shapes cannot be multiplied"; mamba_ssm/ops/triton/ssd_combined.py, ops/selective_scan_interface.py). It runs in training alone;
/// what layers call otherwise was not recorded.
fn state_space_kernels(plan: &Plan, model: &Model) -> Option<Problem> {
    let software = &plan.software;
    software.mamba_ssm.as_ref()?;
    let recorded = Some(&model.recorded).filter(|recorded| recorded.kernel_packages().mamba_ssm)?;
    if software.causal_conv1d.is_none() {
        return contradiction("software.causal_conv1d", "software.mamba_ssm", CAUSAL_CONV1D);
    }
    let trains = matches!(plan.task, Task::Sft | Task::SequenceClassification | Task::Embedding);
    if !trains {
        return contradiction("software.mamba_ssm", "task", "");
    }
    let reads_packed = plan.method == Method::Qlora && recorded.kernels_bypass_linear_layers(software.kernels());
    reads_packed.then(|| contradiction("software.mamba_ssm", "method", "")).flatten()
}

/// The release of causal-conv1d that programs were recorded with.
const CAUSAL_CONV1D: &str = "1.7.0";

/// FSDP1 without sharding makes parameters of its views after each forward, and raises where a frozen table is the head too:
/// "as_params=True type(prim_param)=<class 'torch.Tensor'>" (torch/distributed/fsdp/_flat_param.py `_use_unsharded_views`).
fn frozen_table_unsharded(plan: &Plan, model: &Model) -> Option<Problem> {
    let whole = plan.num_gpus < 2 || plan.distributed.sharding_strategy == Some(ShardingStrategy::NoShard);
    let flat = plan.distributed.framework == Framework::Fsdp1 && plan.trainer.name != TrainerName::Custom;
    let frozen = plan.method != Method::Full && plan.task != Task::Inference && model.tie_word_embeddings;
    let raises = whole && flat && frozen && plan.lora.modules_to_save.is_empty();
    raises.then(|| contradiction("distributed.framework", "method", "fsdp2")).flatten()
}

/// Adapters and copies at a model's ends that were not run under the allocator: a head that they part from its embedding, and
/// an adapter on the embedding, where parameters are gathered.
fn adapted_ends(plan: &Plan, model: &Model, fuses_lm_head: bool) -> Option<Problem> {
    if plan.method == Method::Full || plan.task == Task::Inference {
        return None;
    }
    let sharded = plan.num_gpus > 1 || plan.trainer.name != TrainerName::Custom;
    let (gathers, field, fix) = match plan.distributed.framework {
        Framework::Fsdp1 | Framework::Fsdp2 => (sharded, "distributed.framework", "ddp"),
        Framework::Deepspeed => (plan.zero_stage == 3, "zero_stage", "2"),
        Framework::Ddp => (false, "", ""),
    };
    let on_table = adapts_table(plan, model);
    let skips_adapters =
        fuses_lm_head && matches!(plan.task, Task::Sft | Task::Dpo | Task::Kto | Task::Grpo | Task::Rloo);
    if skips_adapters && targets_head(plan) {
        // "Applying a PEFT adapter to `lm_head` is not supported" (trl trainer/sft_trainer.py and others).
        contradiction("lora.target_modules", "trainer.version", "all-linear")
    } else if gathers && on_table {
        contradiction(field, "lora.target_modules", fix)
    } else if gathers && unties_head(plan, model) {
        contradiction(field, "lora.modules_to_save", fix)
    } else {
        None
    }
}

/// Those that no model and no GPU can change.
pub(super) fn within(plan: &Plan) -> Vec<Problem> {
    // Functions, not their answers: advice asks about hundreds of plans, and most have nothing to move.
    const RULES: [fn(&Plan) -> Option<Problem>; 17] = [
        super::trainer::unmodelled,
        reference,
        policy_loss,
        pair_loss,
        embedding_loss,
        sharding,
        hybrid,
        nodes,
        quantized_base,
        quantized_engine,
        optimizer_offload,
        optimizer,
        compiled,
        adapter_kernels,
        gradient_accumulation,
        kernel,
        flash_in_fp32,
    ];
    RULES.iter().filter_map(|rule| rule(plan)).collect()
}

fn contradiction(field: &str, other: &str, fix: &str) -> Option<Problem> {
    Some(Problem::new(field, ProblemKind::Contradiction { other: other.to_owned(), fix: fix.to_owned() }))
}

/// Liger's loss within TRL's GRPO was not run under the allocator: `use_liger_loss`, and from TRL 1.0
/// until its fused LM head took its place in 1.16, `use_liger_kernel`.
fn policy_loss(plan: &Plan) -> Option<Problem> {
    if plan.trainer.name != TrainerName::Trl || !matches!(plan.task, Task::Grpo | Task::Rloo) {
        return None;
    }
    let release = plan.trainer.release();
    let kernel = (Release::new(1, 0, 0)..Release::new(1, 16, 0)).contains(&release) && plan.task == Task::Grpo;
    let field = match (plan.policy.use_liger_loss, plan.use_liger_kernel && kernel) {
        (true, _) => "use_liger_loss",
        (_, true) => "use_liger_kernel",
        _ => return None,
    };
    Some(Problem::new(field, ProblemKind::NotModelled { value: "true".to_owned(), modelled: vec!["false"] }))
}

/// Of CPO's losses LLaMA-Factory has SimPO's alone, and no cross-entropy beside it (train/dpo/trainer.py `simpo_loss`).
fn pair_loss(plan: &Plan) -> Option<Problem> {
    if plan.task != Task::Cpo || plan.trainer.name != TrainerName::LlamaFactory {
        return None;
    }
    let other = plan.policy.loss_type.iter().find(|loss| *loss != LossType::Simpo && loss.is_of(Task::Cpo))?;
    let kind = ProblemKind::NotModelled { value: other.name().to_owned(), modelled: vec![LossType::Simpo.name()] };
    Some(Problem::new("loss_type", kind))
}

/// Several forwards of one step under frameworks that gather weights, and several backwards where gradients are reduced as
/// they come, were not run under the allocator.
fn embedding_loss(plan: &Plan) -> Option<Problem> {
    use EmbeddingLoss::{CachedMultipleNegativesRanking, InfoNce, MultipleNegativesRanking};
    if plan.task != Task::Embedding {
        return None;
    }
    let framework = plan.distributed.framework;
    let stage = match framework {
        Framework::Fsdp1 | Framework::Fsdp2 if plan.num_gpus > 1 => 3,
        Framework::Deepspeed => plan.zero_stage,
        _ => 0,
    };
    let modelled: &[EmbeddingLoss] = match (plan.embedding.loss, stage) {
        (CachedMultipleNegativesRanking, 1 | 2) => &[InfoNce, MultipleNegativesRanking],
        (CachedMultipleNegativesRanking | MultipleNegativesRanking, 3..) => &[InfoNce],
        _ => return None,
    };
    let value = [plan.embedding.loss.name(), " under ", framework.name()].concat();
    let modelled = modelled.iter().map(|loss| loss.name()).collect();
    Some(Problem::new("embedding.loss", ProblemKind::NotModelled { value, modelled }))
}

/// The adapter can only be switched off where there is one, and pairs and rewards need no reference.
fn reference(plan: &Plan) -> Option<Problem> {
    let trains_adapter = plan.method != Method::Full;
    let uses_reference = matches!(plan.task, Task::Dpo | Task::Kto | Task::Grpo | Task::Rloo | Task::Ppo);
    if uses_reference && plan.reference.kind == ReferenceKind::AdapterDisabled && !trains_adapter {
        return contradiction("reference.kind", "method", "copy");
    }
    None
}

/// ZeRO's stages are DeepSpeed's; FSDP does what stage 3 does. DDP offloads nothing.
fn sharding(plan: &Plan) -> Option<Problem> {
    const FRAMEWORK: &str = "distributed.framework";
    let offloads_param = plan.offload_param == Offload::Cpu;
    match (plan.distributed.framework, plan.zero_stage) {
        (Framework::Ddp, 1..) => contradiction("zero_stage", FRAMEWORK, "0"),
        (Framework::Fsdp1 | Framework::Fsdp2, 1 | 2) => contradiction("zero_stage", FRAMEWORK, "3"),
        (Framework::Ddp, _) if offloads_param => contradiction("offload_param", FRAMEWORK, "none"),
        (Framework::Deepspeed, 0..=2) if offloads_param => contradiction("zero_stage", "offload_param", "3"),
        _ => None,
    }
}

/// Every machine has as many GPUs.
fn nodes(plan: &Plan) -> Option<Problem> {
    let (gpus, nodes) = (plan.num_gpus, plan.num_nodes?);
    if nodes > 0 && gpus.is_multiple_of(nodes) {
        return None;
    }
    let nearest = (1..nodes.min(gpus)).rev().find(|nodes| gpus.is_multiple_of(*nodes)).into_iter().collect();
    let kind = ProblemKind::NotDivisible { value: nodes, other: "num_gpus".to_owned(), other_value: gpus, nearest };
    Some(Problem::new("num_nodes", kind))
}

/// Copies of a sharded model are FSDP's, and of FSDP1 its hybrid strategies' alone. Every copy has as many GPUs, and two at
/// least: with one there is nothing to shard, and FSDP1 would not average between the nodes either (_init_utils.py
/// `_init_core_state` falls back to `NO_SHARD` in the group of one).
fn hybrid(plan: &Plan) -> Option<Problem> {
    const REPLICAS: &str = "distributed.dp_replicate_size";
    const STRATEGY: &str = "distributed.sharding_strategy";
    let keys = &plan.distributed;
    let asked = keys.dp_replicate_size.unwrap_or(1) > 1;
    if asked && !keys.framework.is_fsdp() {
        return contradiction(REPLICAS, "distributed.framework", "1");
    }
    if asked && keys.framework == Framework::Fsdp1 && !keys.sharding_strategy.is_some_and(ShardingStrategy::is_hybrid) {
        return contradiction(STRATEGY, REPLICAS, ShardingStrategy::HybridShard.name());
    }
    let (gpus, replicas) = (plan.num_gpus, plan.replicas());
    if replicas < 2 || replicas < gpus && gpus.is_multiple_of(replicas) {
        return None;
    }
    let near =
        (1..replicas.min(gpus)).rev().find(|copies| *copies == 1 || *copies < gpus && gpus.is_multiple_of(*copies));
    let nearest = near.into_iter().collect();
    let kind = ProblemKind::NotDivisible { value: replicas, other: "num_gpus".to_owned(), other_value: gpus, nearest };
    Some(Problem::new(REPLICAS, kind))
}

/// FSDP flattens or gathers parameters of one dtype: FSDP1 refuses a base in bytes ("Cannot flatten integer dtype tensors",
/// "Must flatten tensors with uniform dtype" in _flat_param.py), and FSDP2 would convert packed weights of another dtype.
fn quantized_base(plan: &Plan) -> Option<Problem> {
    const STORAGE: &str = "quantization.bnb_4bit_quant_storage";
    if plan.method != Method::Qlora || plan.num_gpus < 2 {
        return None;
    }
    let storage = plan.quantization.bnb_4bit_quant_storage;
    // DeepSpeed's engine converts every parameter of a floating dtype to its own (runtime/engine.py
    // `_configure_distributed_model`: `module.bfloat16()`), and with another storage dtype the packed numbers with them.
    let engine = plan.weights_dtype();
    let converts = plan.distributed.framework == Framework::Deepspeed && plan.zero_stage > 0;
    if converts && plan.quantization.bits == 4 && storage.dtype().is_some_and(|dtype| dtype != engine) {
        return contradiction(STORAGE, plan.weights_dtype_field(), engine.name());
    }
    if !plan.distributed.framework.is_fsdp() {
        return None;
    }
    let flat = plan.distributed.framework == Framework::Fsdp1;
    if plan.quantization.bits == 8 {
        return if flat { contradiction("quantization.bits", "distributed.framework", "4") } else { None };
    }
    match storage.dtype() {
        None if !flat => None,
        Some(dtype) if dtype == plan.torch_dtype => None,
        _ => contradiction(STORAGE, "torch_dtype", plan.torch_dtype.name()),
    }
}

/// TRL stops before it makes an engine for a base in 8 bits: vLLM quantises to 4 alone as it loads
/// (generation/vllm_generation.py).
fn quantized_engine(plan: &Plan) -> Option<Problem> {
    let makes_one = plan.is_reinforcement() && plan.rollout.is_colocated();
    let is_trls = plan.trainer.name == TrainerName::Trl && plan.rollout.engine() == RolloutEngine::Vllm;
    let eight_bit = plan.method == Method::Qlora && plan.quantization.bits == 8;
    if makes_one && is_trls && eight_bit { contradiction("quantization.bits", "rollout.engine", "4") } else { None }
}

fn optimizer_offload(plan: &Plan) -> Option<Problem> {
    // Without training there is no optimizer, wherever it would live.
    if plan.offload_optimizer == Offload::None || plan.task == Task::Inference {
        return None;
    }
    match plan.distributed.framework {
        Framework::Ddp => contradiction("offload_optimizer", "distributed.framework", "none"),
        // With parameter offload the stage has to be 3 anyway.
        Framework::Deepspeed if plan.zero_stage == 0 && plan.offload_param == Offload::None => {
            contradiction("zero_stage", "offload_optimizer", "2")
        }
        Framework::Deepspeed | Framework::Fsdp1 | Framework::Fsdp2 => None,
    }
}

/// Where an optimizer raises, and where its step over shards is not modelled.
fn optimizer(plan: &Plan) -> Option<Problem> {
    const OPTIM: &str = "optim";
    let (optim, framework) = (plan.optim, plan.distributed.framework);
    if plan.task == Task::Inference {
        return None;
    }
    // trainer_optimizer.py `_setup_low_rank_optimizer`: "does not support gradient accumulation".
    if optim.is_layerwise() && plan.gradient_accumulation_steps > 1 {
        return contradiction("gradient_accumulation_steps", OPTIM, "1");
    }
    if !optim.updates_shards() {
        let stage = framework == Framework::Deepspeed && plan.zero_stage > 0;
        if plan.offload_param == Offload::Cpu {
            return contradiction("offload_param", OPTIM, "none");
        } else if plan.offload_optimizer == Offload::Cpu {
            return contradiction("offload_optimizer", OPTIM, "none");
        } else if stage {
            return contradiction("zero_stage", OPTIM, "0");
        } else if framework.is_fsdp() && plan.num_gpus > 1 {
            return contradiction("distributed.framework", OPTIM, "ddp");
        }
    }
    // The same function refuses DDP; LOMO's hooks free what DDP reduces.
    if optim.steps_in_backward() && plan.num_gpus > 1 {
        return contradiction("num_gpus", OPTIM, "1");
    }
    None
}

/// inductor's partitioner decides by the compiled graph's minimum cut what is kept for backward and what is computed again
/// (torch/_functorch/partitioners.py), and fuses what lies between: an eager step is half as large again.
fn compiled(plan: &Plan) -> Option<Problem> {
    let kind = || ProblemKind::NotModelled { value: "true".to_owned(), modelled: vec!["false"] };
    plan.torch_compile.then(|| Problem::new("torch_compile", kind()))
}

/// Kernels for adapters that only axolotl has.
fn adapter_kernels(plan: &Plan) -> Option<Problem> {
    let asked = plan.lora.kernels == Auto::Set(true) && plan.trainer.name != TrainerName::Axolotl;
    let kind = ProblemKind::NotModelled { value: "true".to_owned(), modelled: vec!["auto", "false"] };
    asked.then(|| Problem::new("lora.kernels", kind))
}

/// DeepSpeed's `data_types.grad_accum_dtype`: without ZeRO the engine takes the weights' own dtype only
/// (runtime/engine.py `_do_optimizer_sanity_check`). With it, wider than the weights is what is estimated.
fn gradient_accumulation(plan: &Plan) -> Option<Problem> {
    const FIELD: &str = "distributed.grad_accum_dtype";
    let chosen = plan.distributed.grad_accum_dtype.filter(|dtype| *dtype != plan.weights_dtype())?;
    if plan.distributed.framework != Framework::Deepspeed || plan.task == Task::Inference {
        return None;
    }
    match (plan.zero_stage, chosen) {
        (0, _) => contradiction(FIELD, "zero_stage", plan.weights_dtype().name()),
        (_, Dtype::Float32) => None,
        (_, Dtype::Bfloat16 | Dtype::Float16) => {
            contradiction(FIELD, plan.weights_dtype_field(), plan.weights_dtype().name())
        }
    }
}

/// The kernel is a choice within `sdpa`.
fn kernel(plan: &Plan) -> Option<Problem> {
    let chosen = match (plan.attn_implementation, plan.attention_kernel) {
        (_, AttentionKernel::Auto) | (AttnImplementation::Sdpa, _) => false,
        (AttnImplementation::FlashAttention2, kernel) => kernel != AttentionKernel::Flash,
        (AttnImplementation::Eager, _) => true,
    };
    if chosen { contradiction("attention_kernel", "attn_implementation", "auto") } else { None }
}

/// Flash kernels exist for 16-bit numbers, and the flash-attn package for compute capability 8.0 and later.
fn flash_attention(plan: &Plan, gpu: &Gpu) -> Option<Problem> {
    let is_older = gpu.compute_capability.is_some_and(|(major, _)| major < 8);
    if plan.attn_implementation == AttnImplementation::FlashAttention2 && is_older && flash_in_fp32(plan).is_none() {
        return contradiction("attn_implementation", "gpu", "sdpa");
    }
    None
}

/// Flash kernels know no fp32.
fn flash_in_fp32(plan: &Plan) -> Option<Problem> {
    let sixteen_bit = plan.torch_dtype != Dtype::Float32
        || plan.mixed_precision != MixedPrecision::No
        || plan.distributed.bf16_enabled == Auto::Set(true)
        || plan.distributed.param_dtype.is_some_and(|dtype| dtype != Dtype::Float32);
    match (plan.attn_implementation, plan.attention_kernel) {
        _ if sixteen_bit => None,
        (AttnImplementation::FlashAttention2, _) => contradiction("attn_implementation", "torch_dtype", "sdpa"),
        (AttnImplementation::Sdpa, AttentionKernel::Flash) => contradiction("attention_kernel", "torch_dtype", "auto"),
        _ => None,
    }
}

/// A table of learned positions has no row for a longer sequence.
fn positions(plan: &Plan, model: &Model) -> Option<Problem> {
    let table = model.embeddings.iter().find(|module| module.role == Role::PositionEmbedding)?;
    let ModuleKind::Embedding { rows, .. } = table.kind else { return None };
    // Some tables hold rows that no token gets: OPT's and RoBERTa's first two.
    let longest = model.max_position_embeddings.unwrap_or(rows).min(rows).max(1);
    if plan.is_reinforcement() {
        let (prompt, answer) = (plan.rollout.max_prompt_length(), plan.rollout.max_completion_length());
        if prompt.saturating_add(answer) > longest {
            let max = longest.saturating_sub(prompt.min(longest.saturating_sub(1))).to_string();
            let kind = ProblemKind::OutOfRange { value: answer.to_string(), min: "1".to_owned(), max };
            return Some(Problem::new("rollout.max_completion_length", kind));
        }
        return None;
    }
    let new_tokens = if plan.task == Task::Inference { plan.rollout.new_tokens } else { 0 };
    if plan.max_length > longest {
        let (value, max) = (plan.max_length.to_string(), longest.to_string());
        return Some(Problem::new("max_length", ProblemKind::OutOfRange { value, min: "1".to_owned(), max }));
    }
    // The last token generated is not fed back, so it needs no position.
    let most_new_tokens = longest - plan.max_length + 1;
    if new_tokens > most_new_tokens {
        let (value, max) = (new_tokens.to_string(), most_new_tokens.to_string());
        return Some(Problem::new("rollout.new_tokens", ProblemKind::OutOfRange { value, min: "0".to_owned(), max }));
    }
    None
}
