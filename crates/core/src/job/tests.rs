#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::link;
use crate::plan::{AdapterDtype, Dtype, GpuChoice, MixedPrecision, ModelChoice};

/// The job of a link with these pairs, of Qwen3-4B and of full fine-tuning where they say nothing of that.
fn job(pairs: &str) -> Job {
    let unsaid = |pair: &str| pair.split('=').next().is_some_and(|key| !pairs.contains(&format!("{key}=")));
    let own = ["model=Qwen/Qwen3-4B", "method=full"].into_iter().filter(|pair| unsaid(pair));
    let link = own.chain([pairs]).fold("v=1".to_owned(), |link, pair| format!("{link}&{pair}"));
    let decoded = link::decode(&link);
    assert_eq!(decoded.problems, [], "{link}");
    Job::resolve(&decoded.plan).unwrap_or_else(|problems| panic!("{link}: {problems:?}"))
}

#[test]
fn the_scheme_follows_from_framework_stage_gpus_and_task() {
    for (more, scheme) in [
        ("", Scheme::Single),
        ("num_gpus=4", Scheme::Ddp),
        ("num_gpus=4&framework=ddp", Scheme::Ddp),
        ("framework=fsdp2", Scheme::Single),
        ("num_gpus=4&framework=fsdp2", Scheme::Fsdp2),
        ("framework=fsdp1", Scheme::Single),
        ("num_gpus=4&framework=fsdp1", Scheme::Fsdp1),
        ("zero_stage=1", Scheme::Zero(1)),
        ("num_gpus=4&zero_stage=2", Scheme::Zero(2)),
        ("num_gpus=4&zero_stage=3", Scheme::Zero(3)),
        // Without an optimizer only what shards the weights is left.
        ("task=inference&num_gpus=4", Scheme::Single),
        ("task=inference&num_gpus=4&zero_stage=2", Scheme::Single),
        ("task=inference&num_gpus=4&zero_stage=3", Scheme::Zero(3)),
        ("task=inference&num_gpus=4&framework=fsdp2", Scheme::Fsdp2),
    ] {
        assert_eq!(job(more).sharding.scheme, scheme, "{more}");
    }
}

#[test]
fn offload_is_of_the_optimizer_or_of_all() {
    for (more, optimizer, param) in [
        ("num_gpus=4&zero_stage=2", false, false),
        ("num_gpus=4&zero_stage=2&offload_optimizer=cpu", true, false),
        ("num_gpus=4&zero_stage=3&offload_param=cpu", true, true),
        ("num_gpus=4&framework=fsdp2&cpu_offload=true", true, true),
        // One process shards nothing that could be moved.
        ("framework=fsdp2&cpu_offload=true", false, false),
        ("task=inference&num_gpus=4&zero_stage=2&offload_optimizer=cpu", false, false),
    ] {
        let sharding = job(more).sharding;
        assert_eq!((sharding.offload_optimizer, sharding.offload_param), (optimizer, param), "{more}");
    }
}

#[test]
fn buckets_are_deepspeeds_own_unless_the_trainer_fills_them() {
    let own = job("num_gpus=4&zero_stage=2").sharding;
    assert_eq!((own.reduce_bucket_size, own.prefetch_bucket_size), (500_000_000, 50_000_000));
    assert_eq!((own.reduce_buckets, own.param_persistence_threshold), (1, 100_000));
    let mut plan = job("num_gpus=4&zero_stage=3").into_plan();
    plan.distributed.let_trainer_size_buckets();
    let auto = Job::resolve(&plan).unwrap();
    let hidden = auto.model.hidden_size;
    assert_eq!(auto.sharding.reduce_bucket_size, hidden * hidden);
    assert_eq!(auto.sharding.prefetch_bucket_size, hidden * hidden * 9 / 10);
    assert_eq!(auto.sharding.param_persistence_threshold, hidden * 10);
    assert!(auto.sharding.overlap_comm, "stage 3 overlaps unless told otherwise");
    assert_eq!(job("num_gpus=4&zero_stage=2&overlap_comm=true").sharding.reduce_buckets, 2);
}

#[test]
fn an_fp32_master_copy_is_deepspeeds() {
    for (more, master) in [
        ("num_gpus=4", false),
        ("num_gpus=4&framework=fsdp2", false),
        ("num_gpus=4&zero_stage=1", true),
        ("num_gpus=4&zero_stage=3", true),
        // A copy of parameters in fp32 too.
        ("num_gpus=4&zero_stage=2&torch_dtype=float32", true),
        ("num_gpus=4&zero_stage=3&torch_dtype=float32", true),
        // The engine's bf16 optimizer, without ZeRO.
        ("num_gpus=4&bf16=true", true),
        ("num_gpus=4&bf16=true&torch_dtype=float32", false),
        ("num_gpus=4&bf16=true&task=inference", false),
    ] {
        assert_eq!(job(more).numerics.fp32_master, master, "{more}");
    }
}

#[test]
fn adapters_follow_the_base_where_the_framework_casts_modules() {
    for (more, chosen, expected) in [
        ("", AdapterDtype::Auto, Dtype::Float32),
        ("num_gpus=4", AdapterDtype::Auto, Dtype::Float32),
        ("num_gpus=4&zero_stage=2", AdapterDtype::Auto, Dtype::Bfloat16),
        ("zero_stage=2&offload_optimizer=cpu", AdapterDtype::Auto, Dtype::Bfloat16),
        ("num_gpus=4&framework=fsdp2", AdapterDtype::Auto, Dtype::Bfloat16),
        // On one GPU `fully_shard` makes no groups: nothing asks for one dtype.
        ("framework=fsdp2", AdapterDtype::Auto, Dtype::Float32),
        ("", AdapterDtype::Float16, Dtype::Float16),
        ("num_gpus=4&zero_stage=2", AdapterDtype::Float32, Dtype::Float32),
        // `zero.Init` has made the base of a trainer, so that nothing is cast any more; TRL keeps peft from casting up.
        ("num_gpus=4&zero_stage=3", AdapterDtype::Auto, Dtype::Bfloat16),
        ("num_gpus=4&zero_stage=3&trainer=transformers", AdapterDtype::Auto, Dtype::Float32),
        ("num_gpus=4&zero_stage=2&trainer=transformers", AdapterDtype::Auto, Dtype::Bfloat16),
        ("num_gpus=4&zero_stage=3&trainer=trl&trainer_version=1.6.0", AdapterDtype::Auto, Dtype::Float32),
        ("num_gpus=4&zero_stage=3&trainer=trl&trainer_version=1.9.0", AdapterDtype::Auto, Dtype::Bfloat16),
    ] {
        let mut plan = job(&format!("method=lora&{more}")).into_plan();
        plan.lora.adapter_dtype = chosen;
        assert_eq!(Job::resolve(&plan).unwrap().numerics.adapters, expected, "{more} {chosen:?}");
    }
}

#[test]
fn deepspeeds_engine_casts_what_a_trainer_loads() {
    use Dtype::{Bfloat16, Float16, Float32};
    for (more, weights, gathered, autocast) in [
        ("trainer=trl&mixed_precision=bf16&zero_stage=2", Bfloat16, Bfloat16, None),
        ("trainer=transformers&mixed_precision=fp16&zero_stage=3", Float16, Float16, None),
        ("trainer=transformers&mixed_precision=no&zero_stage=3", Float32, Float32, None),
        // No engine, or none that a trainer drives.
        ("trainer=transformers&mixed_precision=bf16", Float32, Float32, Some(Bfloat16)),
        ("mixed_precision=bf16&zero_stage=2", Float32, Float32, Some(Bfloat16)),
        ("bf16=true&zero_stage=2", Bfloat16, Bfloat16, None),
    ] {
        let numerics = job(&format!("num_gpus=4&torch_dtype=float32&method=full&{more}")).numerics;
        assert_eq!((numerics.weights, numerics.gathered, numerics.autocast), (weights, gathered, autocast), "{more}");
    }
}

#[test]
fn trl_checkpoints_reentrantly_where_adapters_meet_zero_3() {
    for (more, expected) in [
        ("task=sft&method=lora&trainer_version=1.0.0", true),
        ("task=sft&method=full&trainer_version=1.16.0", false),
        ("task=dpo&method=lora&trainer_version=1.6.0", false),
        ("task=dpo&method=lora&trainer_version=1.9.0", true),
        ("task=orpo&method=lora&trainer_version=1.16.0", false),
    ] {
        let job = job(&format!("num_gpus=4&zero_stage=3&trainer=trl&{more}"));
        assert_eq!(job.trainer.checkpoints_reentrantly(job.plan()), expected, "{more}");
    }
}

#[test]
fn matmuls_run_in_what_weights_autocast_and_framework_say() {
    for (more, gathered, autocast, float16, in_16_bits) in [
        ("", Dtype::Bfloat16, None, false, true),
        ("torch_dtype=float16", Dtype::Float16, None, true, true),
        ("torch_dtype=float32", Dtype::Float32, None, false, false),
        ("torch_dtype=float32&mixed_precision=bf16", Dtype::Float32, Some(Dtype::Bfloat16), false, true),
        ("torch_dtype=float32&mixed_precision=fp16", Dtype::Float32, Some(Dtype::Float16), true, true),
        ("torch_dtype=float32&num_gpus=4&framework=fsdp2&param_dtype=bfloat16", Dtype::Bfloat16, None, false, true),
        ("torch_dtype=float32&framework=fsdp2&param_dtype=bfloat16", Dtype::Float32, None, false, false),
        ("torch_dtype=float32&num_gpus=4&zero_stage=2&bf16=true", Dtype::Bfloat16, None, false, true),
    ] {
        let numerics = job(more).numerics;
        let found = (numerics.gathered, numerics.autocast, numerics.float16, numerics.multiplies_in_16_bits());
        assert_eq!(found, (gathered, autocast, float16, in_16_bits), "{more}");
    }
}

#[test]
fn k_bit_training_upcasts_what_is_not_quantised() {
    let of = |more: &str| job(&format!("method=qlora&{more}")).numerics.unquantized;
    assert_eq!(of("prepare_for_kbit_training=true"), Dtype::Float32);
    assert_eq!(of("prepare_for_kbit_training=false"), Dtype::Bfloat16);
    assert_eq!(of("prepare_for_kbit_training=true&task=inference"), Dtype::Bfloat16);
    assert_eq!(of("prepare_for_kbit_training=true&num_gpus=2&zero_stage=2"), Dtype::Bfloat16);
    assert_eq!(job("method=lora&prepare_for_kbit_training=true").numerics.unquantized, Dtype::Bfloat16);
}

#[test]
fn the_attention_kernel_follows_from_choice_family_and_gpu() {
    for (more, kernel) in [
        ("gpu=a100-80gb", AttentionKernel::Flash),
        ("gpu=t4", AttentionKernel::Efficient),
        ("gpu=t4&attn_implementation=eager", AttentionKernel::Eager),
        ("gpu=a100-80gb&attention_kernel=efficient", AttentionKernel::Efficient),
        ("gpu=a100-80gb&attention_kernel=math", AttentionKernel::Eager),
        ("gpu=a100-80gb&attn_implementation=flash_attention_2", AttentionKernel::Flash),
        // A class without `sdpa`.
        ("gpu=a100-80gb&model=openai/gpt-oss-20b", AttentionKernel::Eager),
    ] {
        assert_eq!(job(more).attention, kernel, "{more}");
    }
}

#[test]
fn the_reference_is_never_left_open() {
    for (more, reference) in [
        ("task=dpo", ReferenceKind::Copy),
        ("task=dpo&method=lora", ReferenceKind::AdapterDisabled),
        ("task=dpo&method=lora&reference=copy", ReferenceKind::Copy),
        ("task=grpo&per_device_train_batch_size=8", ReferenceKind::None),
        ("task=grpo&per_device_train_batch_size=8&beta=0.04", ReferenceKind::Copy),
    ] {
        assert_eq!(job(more).reference, reference, "{more}");
    }
}

#[test]
fn generated_answers_are_padded() {
    assert!(!job("").padded && job("padded_batch=true").padded);
    let grpo = job("task=grpo&per_device_train_batch_size=8");
    assert!(grpo.padded && !grpo.plan.padded_batch);
}

#[test]
fn a_model_beside_the_policy_is_held_as_its_entry_says() {
    let policy =
        job("task=ppo&method=qlora&torch_dtype=float32&mixed_precision=bf16&num_gpus=2&per_device_train_batch_size=4\
         &reward_models=[{\"model\":\"Qwen/Qwen3-0.6B\",\"bits\":4},{\"role\":\"judge\",\"shared\":true}]");
    let [value, reward, judge] = &policy.instances[..] else { panic!("{:?}", policy.instances) };
    let value = policy.for_companion(value);
    assert_eq!((value.plan.method, value.scores(), value.plan.num_labels), (Method::Full, true, 1));
    let reward = policy.for_companion(reward);
    assert_eq!(reward.model.name, "Qwen/Qwen3-0.6B");
    // bitsandbytes computes in 16 bits where the policy's weights are fp32.
    assert_eq!((reward.plan.method, reward.numerics.weights), (Method::Qlora, Dtype::Bfloat16));
    assert_eq!(reward.numerics.unquantized, Dtype::Bfloat16);
    let shared = policy.for_companion(judge);
    assert_eq!((shared.plan.method, shared.plan.task), (Method::Qlora, Task::Inference));
    for companion in [&value, &reward, &shared] {
        assert_eq!((companion.batches, companion.sharding, companion.padded), (policy.batches, policy.sharding, true));
    }
}

#[test]
fn a_changed_job_is_what_its_plan_resolves_to() {
    let before = job("task=ppo&per_device_train_batch_size=4&reward_models=[\"Qwen/Qwen3-0.6B\"]");
    let changes: [fn(&mut crate::plan::Plan); 6] = [
        |plan| plan.per_device_train_batch_size = 8,
        |plan| plan.model = ModelChoice::Catalogue("Qwen/Qwen3-8B".to_owned()),
        |plan| plan.gpu = GpuChoice::Catalogue("t4".to_owned()),
        |plan| plan.reward_models = None,
        |plan| plan.zero_stage = 3,
        |plan| (plan.torch_dtype, plan.mixed_precision) = (Dtype::Float32, MixedPrecision::Bf16),
    ];
    for change in changes {
        let mut plan = before.plan.clone();
        change(&mut plan);
        let resolved = Job::resolve(&plan).unwrap();
        assert_eq!(before.with_valid_fields(plan.clone()).as_ref(), Some(&resolved));
        let changed = before.with(plan.clone()).unwrap();
        assert_eq!(changed, resolved);
        let is_kept = plan.model == before.plan.model;
        assert_eq!(Arc::ptr_eq(&changed.model, &before.model), is_kept, "a model is read once");
    }
    let mut wrong = before.plan.clone();
    wrong.lora.r = 0;
    wrong.num_gpus = 0;
    assert_eq!(before.with(wrong.clone()), Err(Job::resolve(&wrong).unwrap_err()));
}

/// What trains, what does not, what it is gathered in, autocast.
#[test]
fn accelerate_keeps_what_trains_in_fp32_under_mixed_precision() {
    use Dtype::{Bfloat16, Float32};
    let bf16 = Some(Bfloat16);
    for (more, trained, frozen, gathered, autocast) in [
        ("framework=fsdp2&mixed_precision=bf16", Bfloat16, Bfloat16, bf16, bf16),
        ("framework=fsdp2&trainer=transformers&mixed_precision=bf16", Float32, Bfloat16, bf16, None),
        ("framework=fsdp1&trainer=transformers&mixed_precision=bf16", Float32, Bfloat16, bf16, bf16),
        ("framework=fsdp2&trainer=transformers&mixed_precision=no", Bfloat16, Bfloat16, None, None),
        (
            "framework=fsdp2&trainer=transformers&trainer_version=4.57.6&mixed_precision=bf16",
            Float32,
            Float32,
            bf16,
            None,
        ),
        ("framework=fsdp2&trainer=transformers&method=lora&mixed_precision=bf16", Float32, Bfloat16, bf16, None),
        ("framework=fsdp1&method=lora", Bfloat16, Bfloat16, None, None),
    ] {
        let job = job(&format!("num_gpus=4&{more}"));
        let sharding = job.sharding;
        let dtypes = (sharding.shard_dtype, sharding.frozen_dtype, sharding.gathered_dtype, job.numerics.autocast);
        assert_eq!(dtypes, (trained, frozen, gathered, autocast), "{more}");
    }
}

#[test]
fn a_4_bit_base_is_sharded_where_its_storage_is_of_the_weights_dtype() {
    let more = "num_gpus=4&method=qlora&trainer=transformers&mixed_precision=bf16&adapter_dtype=bfloat16";
    for (framework, storage, sharded, adapters) in [
        ("fsdp2", "uint8", false, Dtype::Bfloat16),
        ("fsdp2", "bfloat16", true, Dtype::Bfloat16),
        ("fsdp1", "bfloat16", true, Dtype::Float32),
        ("deepspeed&zero_stage=2", "bfloat16", false, Dtype::Bfloat16),
        ("deepspeed&zero_stage=3", "bfloat16", true, Dtype::Bfloat16),
        ("deepspeed&zero_stage=3", "uint8", true, Dtype::Bfloat16),
    ] {
        let job = job(&format!("{more}&framework={framework}&bnb_4bit_quant_storage={storage}"));
        assert_eq!((job.sharding.shards_four_bit, job.numerics.adapters), (sharded, adapters), "{framework} {storage}");
    }
    for (pairs, field) in [
        ("framework=fsdp1", "quantization.bnb_4bit_quant_storage"),
        ("framework=fsdp2&bnb_4bit_quant_storage=float32", "quantization.bnb_4bit_quant_storage"),
        ("framework=fsdp1&bits=8", "quantization.bits"),
        // The engine would convert the packed numbers to its own dtype.
        ("zero_stage=3&bnb_4bit_quant_storage=float32", "quantization.bnb_4bit_quant_storage"),
        ("zero_stage=2&bnb_4bit_quant_storage=float16", "quantization.bnb_4bit_quant_storage"),
    ] {
        let decoded = link::decode(&format!("v=1&model=Qwen/Qwen3-4B&{more}&{pairs}"));
        let problems = Job::resolve(&decoded.plan).unwrap_err();
        assert!(problems.iter().any(|problem| problem.field == field), "{pairs}: {problems:?}");
    }
}

#[test]
fn trl_takes_old_log_probabilities_where_rounds_and_steps_do_not_align() {
    // trl grpo_trainer.py: gradient_accumulation_steps % (steps_per_generation * num_iterations) != 0.
    let trl = "task=grpo&trainer=trl&trainer_version=1.12.0&per_device_train_batch_size=8";
    for (more, taken) in [
        ("", false),
        ("&gradient_accumulation_steps=4", false),
        ("&gradient_accumulation_steps=4&steps_per_generation=1", false),
        ("&gradient_accumulation_steps=4&steps_per_generation=8", true),
        ("&gradient_accumulation_steps=4&steps_per_generation=3", true),
        ("&num_iterations=2", true),
        ("&gradient_accumulation_steps=2&steps_per_generation=1&num_iterations=2", false),
        ("&engine=vllm", true),
        ("&num_iterations=2&old_logprobs_pass=false", false),
    ] {
        assert_eq!(job(&format!("{trl}{more}")).takes_old_logprobs(), taken, "{more}");
    }
    let rloo = job("task=rloo&trainer=trl&per_device_train_batch_size=8");
    assert!(rloo.takes_old_logprobs());
    assert_eq!((rloo.reference, rloo.batches.round.unwrap().num_generations), (ReferenceKind::Copy, 2));
    assert_eq!(job("task=rloo&trainer=trl&per_device_train_batch_size=8&beta=0").reference, ReferenceKind::None);
}

#[test]
fn trl_generates_beside_gradients_where_a_step_takes_several_rounds() {
    let of = |more: &str| {
        job(&format!("task=grpo&per_device_train_batch_size=8&gradient_accumulation_steps=4{more}"))
            .generates_beside_gradients()
    };
    assert!(of("&trainer=trl&steps_per_generation=2"));
    assert!(!of("&trainer=trl"));
    assert!(!of("&trainer=trl&steps_per_generation=2&num_iterations=2"));
    assert!(!of("&steps_per_generation=2"));
}

#[test]
fn an_engine_keeps_its_weights_on_the_host_where_trl_lets_it_sleep_at_level_1() {
    let of = |version: &str, more: &str| {
        let link = "task=grpo&trainer=trl&per_device_train_batch_size=8&engine=vllm&vllm_mode=colocate&num_gpus=2";
        job(&format!("{link}&trainer_version={version}{more}"))
    };
    const SLEEPS: &str = "&vllm_enable_sleep_mode=true";
    let old = of("0.24.0", SLEEPS);
    assert_eq!(old.sleeping_engine(), Some(2 * old.model.param_count()));
    assert_eq!(
        of("0.24.0", &[SLEEPS, "&vllm_tensor_parallel_size=2"].concat()).sleeping_engine(),
        Some(old.model.param_count())
    );
    assert_eq!(of("0.24.0", "").sleeping_engine(), None);
    assert_eq!(of("1.0.0", SLEEPS).sleeping_engine(), None);
}

#[test]
fn ms_swifts_head_reads_from_the_first_label_on() {
    let read = |more: &str, sequences| {
        let job = job(&format!("trainer=ms-swift&trainer_version=4.6.0&max_length=64{more}"));
        job.head_positions(sequences, 64)
    };
    assert_eq!(read("&label_tokens=10", 4), HeadPositions::Last(11));
    assert_eq!(read("", 4), HeadPositions::All);
    assert_eq!(read("&label_tokens=10", 1), HeadPositions::Picked(11));
    assert_eq!(job("max_length=64&label_tokens=10").head_positions(4, 64), HeadPositions::All);
}

#[test]
fn packed_documents_are_kept_apart_as_each_trainer_does() {
    for (more, batch, padded) in [
        ("trainer=trl&trainer_version=1.16.0", (1, 512), true),
        ("trainer=trl&trainer_version=1.16.0&attn_implementation=flash_attention_2", (1, 512), false),
        ("trainer=axolotl&trainer_version=0.19.0", (4, 128), true),
        ("trainer=axolotl&trainer_version=0.19.0&method=lora", (4, 128), false),
        ("trainer=axolotl&trainer_version=0.19.0&attn_implementation=flash_attention_2", (1, 512), false),
        ("trainer=llamafactory&trainer_version=0.9.5", (4, 128), true),
    ] {
        let job = job(&format!("{more}&packing=true&max_length=128&per_device_train_batch_size=4"));
        let batches = job.batches;
        assert_eq!((batches.sequences_per_forward, batches.tokens_per_sequence), batch, "{more}");
        assert_eq!(job.padded, padded, "{more}");
    }
}

#[test]
fn collators_pad_to_a_multiple() {
    for (trainer, length) in [
        ("trainer=axolotl&trainer_version=0.19.0", 384),
        ("trainer=llamafactory&trainer_version=0.9.5", 336),
        ("trainer=trl&trainer_version=1.16.0", 333),
        ("trainer=custom", 333),
    ] {
        assert_eq!(job(&format!("{trainer}&max_length=333")).batches.tokens_per_sequence, length, "{trainer}");
    }
}

#[test]
fn axolotl_runs_its_lora_kernels_unless_told_otherwise() {
    let fuses = |more: &str| {
        let job = job(&format!("trainer=axolotl&trainer_version=0.19.0&method=lora{more}"));
        job.trainer.fuses_adapters(&job.plan)
    };
    assert!(fuses("") && !fuses("&lora_kernels=false") && !fuses("&task=dpo"));
    let trl = job("trainer=trl&trainer_version=1.16.0&method=lora");
    assert!(!trl.trainer.fuses_adapters(&trl.plan));
}

/// Copies are FSDP's; every one has as many GPUs, and two at least.
#[test]
fn a_sharded_model_has_copies_of_as_many_gpus_each() {
    for (pairs, ranks, replicas, hybrid) in [
        ("num_gpus=8&framework=fsdp2", 8, 1, false),
        ("num_gpus=8&framework=fsdp2&dp_replicate_size=2", 4, 2, false),
        ("num_gpus=8&framework=fsdp1&sharding_strategy=hybrid_shard", 8, 1, true),
        // Machines of eight GPUs, unless the plan says how many there are.
        ("num_gpus=16&framework=fsdp1&sharding_strategy=hybrid_shard", 8, 2, true),
        ("num_gpus=16&framework=fsdp1&sharding_strategy=hybrid_shard_zero2&dp_replicate_size=4", 4, 4, true),
        ("num_gpus=16&framework=fsdp1&sharding_strategy=shard_grad_op", 16, 1, false),
        // Of FSDP1 alone.
        ("num_gpus=16&framework=fsdp2&sharding_strategy=hybrid_shard", 16, 1, false),
    ] {
        let sharding = job(pairs).sharding;
        assert_eq!((sharding.ranks, sharding.replicas, sharding.flat.hybrid), (ranks, replicas, hybrid), "{pairs}");
    }
    for (pairs, field) in [
        ("num_gpus=8&zero_stage=3&dp_replicate_size=2", "distributed.dp_replicate_size"),
        ("num_gpus=8&framework=fsdp1&dp_replicate_size=2", "distributed.sharding_strategy"),
        ("num_gpus=8&framework=fsdp2&dp_replicate_size=3", "distributed.dp_replicate_size"),
        ("num_gpus=8&framework=fsdp2&dp_replicate_size=8", "distributed.dp_replicate_size"),
    ] {
        let problems = Job::resolve(&link::decode(&format!("v=1&model=Qwen/Qwen3-4B&{pairs}")).plan).unwrap_err();
        assert!(problems.iter().any(|problem| problem.field == field), "{pairs}: {problems:?}");
    }
}
