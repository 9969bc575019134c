//! What must hold for the step time of every plan: finite, its parts sum to it, more work never takes less.

#![allow(clippy::unwrap_used, clippy::panic)]

mod any_plan;
use headroom_core::advise;
use headroom_core::job::Job;
use headroom_core::plan::{AttnImplementation, Method, Offload, Optimizer, Plan, Task};
use headroom_core::speed::{
    Generation, LayerTimes, Part, Per, StepTime, generation_time, ratio, ratio_per, step_time, step_time_with,
};
use headroom_core::{gpu, link, model};
use proptest::prelude::*;

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

fn time(plan: &Plan) -> StepTime {
    step_time(&job(plan))
}

fn plan(fragment: &str) -> Plan {
    let decoded = link::decode(fragment);
    assert!(decoded.problems.is_empty(), "{:?}", decoded.problems);
    decoded.plan
}

#[track_caller]
fn assert_sound(time: &StepTime) {
    let whole = time.seconds;
    assert!(whole.expected.is_finite() && whole.expected > 0.0, "{time:?}");
    assert!(whole.low <= whole.expected && whole.expected <= whole.high);
    let sum: f64 = time.parts.iter().map(|part| part.seconds.expected).sum();
    assert!((sum / whole.expected - 1.0).abs() < 1e-9, "{time:?}");
    assert!(time.parts.iter().all(|part| part.seconds.expected > 0.0 && part.seconds.expected.is_finite()));
}

#[test]
fn every_model_and_every_gpu_has_a_step_time() {
    let base = plan("v=1&model=meta-llama/Llama-3.2-1B&gpu=a100-80gb");
    for entry in model::catalogue() {
        for method in Method::ALL {
            let mut plan = base.clone();
            plan.model = headroom_core::plan::ModelChoice::Catalogue(entry.id.to_owned());
            plan.method = *method;
            plan.max_length = 128;
            assert_sound(&time(&plan));
        }
    }
    for gpu in gpu::catalogue() {
        let mut plan = base.clone();
        plan.gpu = headroom_core::plan::GpuChoice::Catalogue(gpu.id.to_string());
        for gpus in [1, 8, 64] {
            plan.num_gpus = gpus;
            assert_sound(&time(&plan));
        }
    }
}

/// What a layer's time depends on is all there: with layers that other plans left behind each plan takes what it takes alone.
#[test]
fn layers_are_timed_once_and_only_where_they_run_alike() {
    let layer_times = LayerTimes::default();
    let mut timed = 0;
    for fragment in [
        "model=Qwen/Qwen3-4B&method=lora",
        "model=Qwen/Qwen3-4B&method=full&max_length=4096&gpu=rtx-4090",
        "model=Qwen/Qwen3-4B&method=qlora&mixed_precision=fp16&torch_dtype=float16&gpu=t4",
        "model=Qwen/Qwen3-4B&method=lora&task=dpo&trainer=trl",
        "model=Qwen/Qwen3-4B&method=full&task=grpo&num_gpus=4&zero_stage=3&per_device_train_batch_size=8",
        "model=Qwen/Qwen3-30B-A3B&method=full&num_gpus=8&framework=fsdp2&zero_stage=3&mixed_precision=bf16",
        "model=google/gemma-2-9b&method=lora&attn_implementation=flash_attention_2&padded_batch=true",
        "model=google/gemma-2-9b&task=inference&max_length=4096",
    ] {
        let base = job(&plan(&format!("v=1&{fragment}")));
        let mut jobs = vec![base.clone()];
        for lever in advise::levers(&base) {
            let Some(changed) = lever.apply(&base) else { continue };
            jobs.extend(advise::levers(&changed).into_iter().filter_map(|lever| lever.apply(&changed)));
            jobs.push(changed);
        }
        for job in jobs {
            assert_eq!(step_time_with(&job, &layer_times), step_time(&job), "{:?}", job.plan());
            timed += 1;
        }
    }
    assert!(timed > 2000, "{timed}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_plan_that_can_be_estimated_has_a_step_time(plan in any_plan::any_plan()) {
        if let Ok(job) = Job::resolve(&plan) {
            let time = step_time(&job);
            assert_sound(&time);
            let same = ratio(&time, &time);
            prop_assert!((same.expected - 1.0).abs() < 1e-9 && same.low > 0.9 && same.high < 1.1);
            prop_assert_eq!(ratio_per(&time, &time, Per::Token).expected, same.expected);
            // bitsandbytes takes its fused kernel up to some number of tokens, whichever way would be quicker there.
            let plan = {
                let mut plan = plan.clone();
                plan.quantization.fused_4bit_gemm = false;
                plan
            };
            let time = step_time(&job.with(plan.clone()).unwrap());
            for grow in [
                (|plan| plan.per_device_train_batch_size += 1) as fn(&mut Plan),
                |plan| plan.max_length += 1,
                |plan| plan.gradient_accumulation_steps += 1,
                |plan| plan.lora.r += 1,
            ] {
                let mut more = plan.clone();
                grow(&mut more);
                // A round of generation has its own size: a larger batch there is the same work in fewer forwards.
                let Some(job) = job.with(more).ok().filter(|_| !plan.is_reinforcement()) else { continue };
                let more = step_time(&job);
                let longer = more.seconds.expected;
                // Where the host is what is waited for, more work shifts that wait between forward and backward, and the one
                // that it goes to hides more of a transfer: never more than there is less to wait for.
                let moved = (time.part(Part::Launches) - more.part(Part::Launches)).max(0.0);
                let least = time.seconds.expected * (1.0 - 1e-9) - moved;
                prop_assert!(longer >= least, "{longer} < {least}");
            }
        }
    }
}

#[test]
fn more_work_takes_longer() {
    let base = plan("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=full&max_length=2048&per_device_train_batch_size=2");
    let longer = |change: fn(&mut Plan)| {
        let mut other = base.clone();
        change(&mut other);
        ratio(&time(&base), &time(&other)).expected
    };
    assert!(longer(|plan| plan.per_device_train_batch_size = 4) > 1.5);
    assert!(longer(|plan| plan.max_length = 4096) > 1.8);
    let recomputed = longer(|plan| plan.gradient_checkpointing = true);
    assert!((1.15..1.4).contains(&recomputed), "{recomputed}");
    assert!(longer(|plan| plan.attn_implementation = AttnImplementation::Eager) > 1.1);
    assert!(longer(|plan| plan.use_liger_kernel = true) < 1.0);
    // Adapters skip weight gradients and the optimizer, and pay with elementwise work; in fp32 they gain least.
    assert!(longer(|plan| plan.method = Method::Lora) < 1.0);
    assert!(longer(|plan| plan.optim = Optimizer::AdamwTorchFused) < 1.0);
    assert!(longer(|plan| plan.optim = Optimizer::AdamwBnb8bit) < 1.0);
    assert!(longer(|plan| plan.gradient_accumulation_steps = 4) > 3.0);
}

#[test]
fn adapters_skip_weight_gradients_and_quantised_bases_are_written_out() {
    let lora = time(&plan("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=lora&max_length=4096&mixed_precision=bf16"));
    let full = time(&plan("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=full&max_length=4096"));
    let qlora = time(&plan("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=qlora&max_length=4096"));
    assert!(lora.part(Part::BackwardMatmuls) < 0.65 * full.part(Part::BackwardMatmuls));
    assert!(lora.part(Part::Optimizer) < 0.1 * full.part(Part::Optimizer));
    assert_eq!(lora.part(Part::Dequantization), 0.0);
    assert!(qlora.part(Part::Dequantization) > 0.0);
}

#[test]
fn sharing_out_costs_communication_and_offload_costs_more() {
    let link = "v=1&model=meta-llama/Llama-3.1-8B&method=full&num_gpus=8&max_length=2048&gpu=";
    let on = |gpu: &str, stage: u8, offload: bool| {
        let mut plan = plan(&format!("{link}{gpu}"));
        plan.zero_stage = stage;
        if offload {
            plan.offload_optimizer = Offload::Cpu;
        }
        time(&plan)
    };
    let (second, third) = (on("a100-80gb", 2, false), on("a100-80gb", 3, false));
    assert!(third.part(Part::Communication) > 0.0 && second.part(Part::Communication) > 0.0);
    assert_eq!(on("a100-80gb", 0, false).part(Part::Offload), 0.0);
    assert!(on("rtx-4090", 3, false).part(Part::Communication) > 5.0 * third.part(Part::Communication));
    let offloaded = on("a100-80gb", 2, true);
    assert!(offloaded.part(Part::HostOptimizer) > 1.0, "eight billion parameters at 0.25 ns");
    assert!(offloaded.seconds.expected > second.seconds.expected);
    let mut parameters = plan(&format!("{link}rtx-4090"));
    (parameters.zero_stage, parameters.offload_optimizer) = (3, Offload::Cpu);
    let mut both = parameters.clone();
    both.offload_param = Offload::Cpu;
    assert!(time(&both).seconds.expected >= time(&parameters).seconds.expected);
}

#[test]
fn experts_that_a_token_does_not_visit_take_no_time() {
    let mixture = time(&plan("v=1&model=Qwen/Qwen3-30B-A3B&gpu=h100-80gb&method=lora&max_length=8192"));
    let dense = time(&plan("v=1&model=Qwen/Qwen3-32B&gpu=h100-80gb&method=lora&max_length=8192"));
    assert!(ratio(&dense, &mixture).expected < 0.5);
}

#[test]
fn generation_reads_the_weights_for_every_token() {
    let mut plan = plan("v=1&model=meta-llama/Llama-3.1-8B&gpu=a100-80gb&task=inference&max_length=512");
    plan.rollout.new_tokens = 256;
    let job = job(&plan);
    let one = generation_time(&job, Generation { batch: 1, prompt: 512, new_tokens: 256 });
    assert_eq!(one, step_time(&job));
    let many = generation_time(&job, Generation { batch: 16, prompt: 512, new_tokens: 256 });
    // 16 GB over 2 TB/s: no token comes sooner than after 8 ms, and sixteen at once cost little more than one.
    assert!(one.seconds.expected > 256.0 * 0.008);
    assert!(ratio(&one, &many).expected < 2.0);
    assert_eq!(plan.task, Task::Inference);
}

#[test]
fn fewer_sequences_a_step_are_compared_by_sequence() {
    let small = time(&plan("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&max_length=1024&per_device_train_batch_size=1"));
    let large = time(&plan("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&max_length=1024&per_device_train_batch_size=8"));
    assert!(ratio(&small, &large).expected > 1.0);
    assert!(ratio_per(&small, &large, Per::Sequence).expected < 1.0);
}

/// A plan from JSON text.
fn plan_of(text: &str) -> Plan {
    Plan::from_json(text).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn pairs_pay_for_their_reference() {
    let with = |reference: &str| {
        time(&plan_of(&format!(
            r#"{{"model": "Qwen/Qwen2.5-1.5B", "task": "dpo", "method": "full", "gpu": "a100-80gb", "max_length": 1024,
                "per_device_train_batch_size": 4, "reference": {{"kind": "{reference}"}}}}"#
        )))
    };
    let (copy, precomputed) = (with("copy"), with("precomputed"));
    assert_eq!(precomputed.part(Part::Scoring), 0.0);
    let forward: f64 = [Part::ForwardMatmuls, Part::Attention].iter().map(|part| copy.part(*part)).sum();
    assert!(copy.part(Part::Scoring) > forward * 0.8, "a forward more: {copy:?}");
    assert_eq!(copy.sequences, 4, "pairs count once");
    assert_eq!(copy.tokens, 8192);
}

#[test]
fn rollouts_wait_for_python_unless_an_engine_generates() {
    let by = |engine: &str, more: &str| {
        time(&plan_of(&format!(
            r#"{{"model": "Qwen/Qwen2.5-7B", "task": "grpo", "method": "full", "gpu": "h100-80gb", "num_gpus": 8,
                "zero_stage": 3, "per_device_train_batch_size": 8, "gradient_checkpointing": true, "beta": 0.04,
                "rollout": {{"engine": "{engine}", "num_generations": 8, "max_prompt_length": 512,
                "max_completion_length": 1024{more}}}}}"#
        )))
    };
    let (python, engine) = (by("generate", ""), by("vllm", ""));
    assert!(ratio(&engine, &python).expected > 2.0);
    // 15 GB over 3.35 TB/s for each of 1024 tokens.
    assert!(engine.part(Part::Decoding) > 4.6 && engine.part(Part::Decoding) < 7.0, "{engine:?}");
    assert_eq!(engine.part(Part::Launches), 0.0);
    assert!(by("vllm", r#", "enforce_eager": true"#).part(Part::Launches) > 0.0);
    assert!(by("vllm", r#", "vllm_enable_sleep_mode": true"#).part(Part::Offload) > 0.0);
    let halved = by("vllm", r#", "vllm_tensor_parallel_size": 2"#);
    assert!(halved.part(Part::Decoding) < 0.7 * engine.part(Part::Decoding));
    assert!(engine.part(Part::Scoring) > 0.0, "the reference reads every answer");
    assert_eq!((engine.sequences, engine.tokens), (64, 64 * 1536));
}

#[test]
fn a_round_is_shared_by_the_steps_it_feeds() {
    let of = |accumulation: u64, round: u64| {
        time(&plan_of(&format!(
            r#"{{"model": "Qwen/Qwen2.5-1.5B", "task": "grpo", "gpu": "a100-80gb", "per_device_train_batch_size": 8,
                "gradient_accumulation_steps": {accumulation}, "steps_per_generation": {round}}}"#
        )))
    };
    // Twice as many sequences generate side by side in hardly more time, and feed two steps.
    assert!(of(1, 2).part(Part::Decoding) < 0.7 * of(1, 1).part(Part::Decoding));
}

#[test]
fn value_and_reward_models_take_their_time() {
    let with = |more: &str| {
        time(&plan_of(&format!(
            r#"{{"model": "Qwen/Qwen2.5-1.5B", "task": "ppo", "method": "full", "gpu": "a100-80gb",
                "per_device_train_batch_size": 8{more}}}"#
        )))
    };
    let alone = with("");
    let judged = with(r#", "reward_models": ["Qwen/Qwen2.5-7B"]"#);
    assert!(judged.part(Part::Scoring) > 2.0 * alone.part(Part::Scoring));
    let visiting = with(r#", "reward_models": [{"model": "Qwen/Qwen2.5-7B", "placement": "cpu"}]"#);
    assert!(visiting.part(Part::Offload) > 0.5, "15 GB through PCI Express and back");
    let shared = with(r#", "value_model": {"shared": true}"#);
    assert!(shared.part(Part::BackwardMatmuls) < 0.7 * alone.part(Part::BackwardMatmuls));
}

/// A plan with images of the text's length whatever they are.
fn with_images(count: u64, side: u64, more: &str) -> StepTime {
    time(&plan_of(&format!(
        r#"{{"model": "Qwen/Qwen2.5-VL-7B-Instruct", "gpu": "h100-80gb", "method": "full", "max_length": 20000,
            "images": {{"per_sample": {count}, "height": {side}, "width": {side}}}{more}}}"#
    )))
}

#[test]
fn a_tower_takes_longer_for_more_patches() {
    let (one, four) = (with_images(1, 448, ""), with_images(4, 1792, ""));
    let matmuls = |time: &StepTime| time.part(Part::ForwardMatmuls) + time.part(Part::BackwardMatmuls);
    // 1,024 patches and 65,536: the tower's 0.65 thousand millions of parameters, six operations each.
    let more = matmuls(&four) - matmuls(&one);
    let least = 6.0 * 0.63e9 * 64_512.0 / 989e12;
    assert!(more > least && more < 2.0 * least, "{more} beside {least}");
    assert!(four.part(Part::Attention) > one.part(Part::Attention));
    // The tower's whole layers see 16,384 patches of each image, the others windows of 64.
    assert!(four.part(Part::MemoryTraffic) > one.part(Part::MemoryTraffic));
    // Frozen, it runs forward alone and is not run again.
    let frozen =
        |more: &str| with_images(4, 1792, &format!(r#", "freeze": ["vision_tower", "multi_modal_projector"]{more}"#));
    let idle = with_images(1, 448, r#", "freeze": ["vision_tower", "multi_modal_projector"]"#);
    let more = frozen("").part(Part::BackwardMatmuls) - idle.part(Part::BackwardMatmuls);
    assert!(more.abs() < 1e-9, "{more}");
    assert!(frozen("").part(Part::Optimizer) < four.part(Part::Optimizer));
    let again = r#", "gradient_checkpointing": true, "enable_input_require_grads": false"#;
    let recomputed = frozen(again).part(Part::Recomputation);
    assert!(recomputed < with_images(4, 1792, r#", "gradient_checkpointing": true"#).part(Part::Recomputation));
}

#[test]
fn layers_that_carry_a_state_take_time() {
    let of = |model: &str, more: &str| {
        time(&plan_of(&format!(
            r#"{{"model": "{model}", "gpu": "h100-80gb", "method": "full", "max_length": 4096,
                "per_device_train_batch_size": 4{more}}}"#
        )))
    };
    // Three of four layers of Qwen3.5 are gated delta nets; packages have kernels for them.
    let kernels = r#", "software": {"flash_linear_attention": "0.4.0", "causal_conv1d": "1.5.0"}"#;
    let (torch, packages) = (of("Qwen/Qwen3.5-2B", ""), of("Qwen/Qwen3.5-2B", kernels));
    assert!(torch.seconds.expected > 1.3 * packages.seconds.expected, "{torch:?}\n{packages:?}");
    assert!(torch.part(Part::Attention) > packages.part(Part::Attention));
}

#[test]
fn a_window_costs_less_than_attention_to_all() {
    let of = |attention: &str, window: u64| {
        time(&plan_of(&format!(
            r#"{{"model": {{"config": {{"model_type": "mistral", "architectures": ["MistralForCausalLM"], "hidden_size": 4096,
                "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
                "vocab_size": 32000, "sliding_window": {window}}}}}, "gpu": "h100-80gb", "method": "lora",
                "max_length": 16384, "attn_implementation": "{attention}"}}"#
        )))
        .part(Part::Attention)
    };
    let (windowed, whole) = (of("flash_attention_2", 4096), of("flash_attention_2", 32768));
    // Of s keys a query sees s/2 in the mean; of w it sees w·(1 - w/2s).
    let expected = (4096.0 * (1.0 - 4096.0 / 32768.0)) / 8192.0;
    assert!((windowed / whole - expected).abs() < 0.03, "{windowed} {whole}");
    // To PyTorch's function a window is a mask, which hides and skips nothing.
    assert!(of("sdpa", 4096) > 2.0 * of("sdpa", 32768));
}
