//! The gallery: everyday plans, then six situations that teams wrote guides about, each as plans that open.

use super::{Figures, Quantity, Reason, RuleOfThumb, Scenario, ScenarioPlan, Source};

const fn rule(quantity: Quantity, low: u64, high: u64, reason: Option<Reason>) -> RuleOfThumb {
    RuleOfThumb { quantity, low_bytes: low, high_bytes: high, reason }
}

/// A plan that no guide has figures of.
const fn everyday(key: &'static str, link: &'static str) -> ScenarioPlan {
    ScenarioPlan { key, link, rules: &[] }
}

/// Every scenario, in the order the gallery shows them.
pub static SCENARIOS: &[Scenario] = &[
    // What most people come with, as TRL runs it.
    Scenario {
        id: "everyday",
        source: None,
        plans: &[
            everyday(
                "qlora_8b_rtx_4090",
                "v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&trainer=trl&trainer_version=1.16.0&method=qlora&prepare_for_kbit_training=false&mixed_precision=bf16&optim=paged_adamw_8bit&per_device_train_batch_size=2&gradient_accumulation_steps=8&max_length=2048&gradient_checkpointing=true",
            ),
            everyday(
                "qlora_7b_t4",
                "v=1&model=Qwen/Qwen2.5-7B&gpu=t4&trainer=trl&trainer_version=1.16.0&method=qlora&prepare_for_kbit_training=false&torch_dtype=float16&mixed_precision=fp16&optim=paged_adamw_8bit&gradient_accumulation_steps=16&gradient_checkpointing=true",
            ),
            everyday(
                "full_8b_h100",
                "v=1&model=meta-llama/Llama-3.1-8B&gpu=h100-80gb&num_gpus=8&trainer=trl&trainer_version=1.16.0&method=full&prepare_for_kbit_training=false&mixed_precision=bf16&optim=adamw_torch_fused&per_device_train_batch_size=2&gradient_accumulation_steps=4&max_length=4096&gradient_checkpointing=true&zero_stage=3",
            ),
            everyday(
                "grpo_4b",
                "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&trainer=trl&trainer_version=1.16.0&task=grpo&prepare_for_kbit_training=false&mixed_precision=bf16&optim=adamw_torch_fused&per_device_train_batch_size=8&gradient_accumulation_steps=2&gradient_checkpointing=true&engine=vllm&num_generations=8&max_prompt_length=512&max_completion_length=1024&vllm_mode=colocate&vllm_gpu_memory_utilization=0.4",
            ),
        ],
    },
    // A reward model on eight 64 GB GPUs: full fine-tuning beside LoRA, and what the optimizer state's dtype decides.
    Scenario {
        id: "reward_model",
        source: Some(Source {
            name: "mmdpo-alignment, LORA_OPTIMIZATION.md",
            address: "https://github.com/NephrenLuca/mmdpo-alignment/blob/cf298fe34dcf7465bca901550a8fed62f9fe9b6d/LORA_OPTIMIZATION.md",
            figures: Figures::AddedUp,
        }),
        plans: &[
            ScenarioPlan {
                key: "full",
                link: "v=1&model=mistralai/Mistral-7B-v0.1&memory_gib=64&compute_capability=8.0&num_gpus=8&task=sequence_classification&method=full&optim=adamw_torch_fused&gradient_accumulation_steps=16&max_length=256&framework=ddp&gradient_as_bucket_view=true",
                rules: &[
                    rule(Quantity::Device, 59_000_000_000, 61_000_000_000, None),
                    rule(Quantity::Weights, 14_000_000_000, 14_000_000_000, None),
                    rule(Quantity::OptimizerStates, 28_000_000_000, 28_000_000_000, None),
                    rule(Quantity::Gradients, 14_000_000_000, 14_000_000_000, Some(Reason::GradientsInBuckets)),
                    rule(Quantity::Activations, 10_000_000_000, 20_000_000_000, Some(Reason::ShortSequences)),
                ],
            },
            ScenarioPlan {
                key: "full_fp32_state",
                link: "v=1&model=mistralai/Mistral-7B-v0.1&memory_gib=64&compute_capability=8.0&num_gpus=8&task=sequence_classification&method=full&optim=adamw_torch_fused&gradient_accumulation_steps=16&max_length=256&bf16=true",
                rules: &[rule(Quantity::OptimizerStates, 28_000_000_000, 28_000_000_000, Some(Reason::StateDtype))],
            },
            ScenarioPlan {
                key: "full_zero1",
                link: "v=1&model=mistralai/Mistral-7B-v0.1&memory_gib=64&compute_capability=8.0&num_gpus=8&task=sequence_classification&method=full&optim=adamw_torch_fused&gradient_accumulation_steps=16&max_length=256&zero_stage=1",
                rules: &[],
            },
            ScenarioPlan {
                key: "lora",
                link: "v=1&model=mistralai/Mistral-7B-v0.1&memory_gib=64&compute_capability=8.0&num_gpus=8&task=sequence_classification&lora_dropout=0.1&optim=adamw_torch_fused&per_device_train_batch_size=4&gradient_accumulation_steps=2&max_length=512",
                rules: &[
                    rule(Quantity::Device, 19_000_000_000, 23_000_000_000, Some(Reason::AdapterInputs)),
                    rule(Quantity::Weights, 14_000_000_000, 14_000_000_000, None),
                    rule(Quantity::OptimizerStates, 200_000_000, 200_000_000, Some(Reason::Fp32Adapters)),
                    rule(Quantity::Gradients, 200_000_000, 200_000_000, Some(Reason::Fp32Adapters)),
                    rule(Quantity::Activations, 5_000_000_000, 8_000_000_000, Some(Reason::AdapterInputs)),
                ],
            },
        ],
    },
    // Safe DPO: policy, frozen reference and two frozen reward models of 7 B on the same GPUs.
    Scenario {
        id: "safe_dpo",
        source: Some(Source {
            name: "mmdpo-alignment, TRAINING_GUIDE.md",
            address: "https://github.com/NephrenLuca/mmdpo-alignment/blob/5eb8ecf4877e32167c87dbc8a98800b066f5305d/TRAINING_GUIDE.md",
            figures: Figures::None,
        }),
        plans: &[
            ScenarioPlan {
                key: "full_zero3",
                link: "v=1&model=mistralai/Mistral-7B-v0.1&memory_gib=64&compute_capability=8.0&num_gpus=8&task=dpo&method=full&optim=adamw_torch_fused&gradient_accumulation_steps=8&max_length=512&gradient_checkpointing=true&zero_stage=3&reward_models=%5B%7B%7D,%7B%7D%5D",
                rules: &[],
            },
            ScenarioPlan {
                key: "lora_quantized_rewards",
                link: "v=1&model=mistralai/Mistral-7B-v0.1&memory_gib=64&compute_capability=8.0&num_gpus=8&task=dpo&optim=adamw_torch_fused&gradient_accumulation_steps=8&max_length=512&gradient_checkpointing=true&reward_models=%5B%7B%22bits%22:4%7D,%7B%22bits%22:4%7D%5D",
                rules: &[],
            },
        ],
    },
    // GRPO with LoRA on one 40 GB GPU that ran out of memory, before and after its levers.
    Scenario {
        id: "grpo_out_of_memory",
        source: Some(Source {
            name: "grpo-dual, MEMORY_OPTIMIZATION.md",
            address: "https://github.com/BoBaCai/grpo-dual/blob/c339aef2d9ade5ec8a6e5a901144b8e86eb925d3/MEMORY_OPTIMIZATION.md",
            figures: Figures::Expected,
        }),
        plans: &[
            ScenarioPlan {
                key: "before",
                link: "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&per_device_train_batch_size=16&num_generations=4&max_prompt_length=256&max_completion_length=128&beta=0.04&steps_per_generation=1",
                rules: &[rule(Quantity::Device, 40_000_000_000, 40_000_000_000, Some(Reason::EverySequenceKept))],
            },
            ScenarioPlan {
                key: "after",
                link: "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&r=8&lora_alpha=16&per_device_train_batch_size=8&gradient_accumulation_steps=2&num_generations=4&max_prompt_length=256&max_completion_length=96&beta=0.04&steps_per_generation=1",
                rules: &[rule(Quantity::Device, 16_000_000_000, 16_000_000_000, Some(Reason::SavingsDoNotAdd))],
            },
            ScenarioPlan {
                key: "checkpointed",
                link: "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&r=8&lora_alpha=16&per_device_train_batch_size=8&gradient_accumulation_steps=2&gradient_checkpointing=true&num_generations=4&max_prompt_length=256&max_completion_length=96&beta=0.04&steps_per_generation=1",
                rules: &[],
            },
            ScenarioPlan {
                key: "level1",
                link: "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&r=8&lora_alpha=16&per_device_train_batch_size=4&gradient_accumulation_steps=4&num_generations=4&max_prompt_length=256&max_completion_length=96&beta=0.04&steps_per_generation=1",
                rules: &[],
            },
            ScenarioPlan {
                key: "level2",
                link: "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&r=8&lora_alpha=16&per_device_train_batch_size=3&gradient_accumulation_steps=4&num_generations=3&max_prompt_length=256&max_completion_length=64&beta=0.04&steps_per_generation=1",
                rules: &[],
            },
            ScenarioPlan {
                key: "level3",
                link: "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&r=4&lora_alpha=8&per_device_train_batch_size=2&gradient_accumulation_steps=4&num_generations=2&max_prompt_length=256&max_completion_length=64&beta=0.04&steps_per_generation=1",
                rules: &[],
            },
        ],
    },
    // A reinforcement run of a small transformer that uses a twelfth of its GPU.
    Scenario {
        id: "idle_card",
        source: Some(Source {
            name: "nanoChat_mxfp4, RL训练显存利用优化方案.md",
            address: "https://github.com/DorakuCN/nanoChat_mxfp4/blob/41e7313681471795c3d91c95ca6c44b6a3086ef6/RL%E8%AE%AD%E7%BB%83%E6%98%BE%E5%AD%98%E5%88%A9%E7%94%A8%E4%BC%98%E5%8C%96%E6%96%B9%E6%A1%88.md",
            figures: Figures::Expected,
        }),
        plans: &[
            ScenarioPlan {
                key: "now",
                link: "v=1&config=%7B%22architectures%22:%5B%22LlamaForCausalLM%22%5D,%22head_dim%22:128,%22hidden_size%22:1024,%22intermediate_size%22:4096,%22model_type%22:%22llama%22,%22num_attention_heads%22:8,%22num_hidden_layers%22:16,%22num_key_value_heads%22:8,%22tie_word_embeddings%22:false,%22vocab_size%22:65536%7D&name=16%20layers%20of%201024&memory_gib=32&compute_capability=8.0&task=grpo&method=full&optim=adamw_torch_fused&per_device_train_batch_size=4&prompts=32&num_generations=16&max_prompt_length=256&max_completion_length=256&sequences_at_once=4",
                rules: &[rule(Quantity::Device, 3_000_000_000, 3_000_000_000, Some(Reason::LengthAssumed))],
            },
            ScenarioPlan {
                key: "recommended",
                link: "v=1&config=%7B%22architectures%22:%5B%22LlamaForCausalLM%22%5D,%22head_dim%22:128,%22hidden_size%22:1024,%22intermediate_size%22:4096,%22model_type%22:%22llama%22,%22num_attention_heads%22:8,%22num_hidden_layers%22:16,%22num_key_value_heads%22:8,%22tie_word_embeddings%22:false,%22vocab_size%22:65536%7D&name=16%20layers%20of%201024&memory_gib=32&compute_capability=8.0&task=grpo&method=full&optim=adamw_torch_fused&per_device_train_batch_size=8&prompts=64&num_generations=32&max_prompt_length=256&max_completion_length=256&sequences_at_once=8",
                rules: &[
                    rule(Quantity::Device, 10_000_000_000, 15_000_000_000, Some(Reason::GrowsWithBatchOnly)),
                    rule(Quantity::KvCache, 512_000_000, 512_000_000, Some(Reason::FormulaGivesLess)),
                ],
            },
            ScenarioPlan {
                key: "aggressive",
                link: "v=1&config=%7B%22architectures%22:%5B%22LlamaForCausalLM%22%5D,%22head_dim%22:128,%22hidden_size%22:1024,%22intermediate_size%22:4096,%22model_type%22:%22llama%22,%22num_attention_heads%22:8,%22num_hidden_layers%22:16,%22num_key_value_heads%22:8,%22tie_word_embeddings%22:false,%22vocab_size%22:65536%7D&name=16%20layers%20of%201024&memory_gib=32&compute_capability=8.0&task=grpo&method=full&optim=adamw_torch_fused&per_device_train_batch_size=12&prompts=96&num_generations=24&max_prompt_length=256&max_completion_length=256&sequences_at_once=12",
                rules: &[rule(Quantity::Device, 18_000_000_000, 25_000_000_000, Some(Reason::GrowsWithBatchOnly))],
            },
        ],
    },
    // Four DeepSpeed tiers by the size of one GPU, for a model of about 1 B.
    Scenario {
        id: "deepspeed_tiers",
        source: Some(Source {
            name: "agent_data_collect, MEMORY_OPTIMIZATION_GUIDE.md",
            address: "https://github.com/hunwenpinghao/agent_data_collect/blob/432809b3e1dffc61553d266e64fe09294d954c31/MEMORY_OPTIMIZATION_GUIDE.md",
            figures: Figures::None,
        }),
        plans: &[
            ScenarioPlan {
                key: "zero2",
                link: "v=1&model=TinyLlama/TinyLlama-1.1B-Chat-v1.0&memory_gib=16&compute_capability=7.5&lora_alpha=8&target_modules=q_proj,k_proj,v_proj,o_proj&torch_dtype=float16&per_device_train_batch_size=4&gradient_accumulation_steps=4&max_length=2048&gradient_checkpointing=true&zero_stage=2",
                rules: &[],
            },
            ScenarioPlan {
                key: "zero2_offload",
                link: "v=1&model=TinyLlama/TinyLlama-1.1B-Chat-v1.0&memory_gib=12&compute_capability=7.5&lora_alpha=8&target_modules=q_proj,k_proj,v_proj,o_proj&torch_dtype=float16&per_device_train_batch_size=3&gradient_accumulation_steps=6&max_length=1792&gradient_checkpointing=true&zero_stage=2&offload_optimizer=cpu",
                rules: &[],
            },
            ScenarioPlan {
                key: "zero3",
                link: "v=1&model=TinyLlama/TinyLlama-1.1B-Chat-v1.0&memory_gib=6&compute_capability=7.5&lora_alpha=8&target_modules=q_proj,k_proj,v_proj,o_proj&torch_dtype=float16&per_device_train_batch_size=2&gradient_accumulation_steps=8&max_length=1536&gradient_checkpointing=true&zero_stage=3",
                rules: &[],
            },
            ScenarioPlan {
                key: "minimal",
                link: "v=1&model=TinyLlama/TinyLlama-1.1B-Chat-v1.0&memory_gib=4&compute_capability=7.5&lora_alpha=8&target_modules=q_proj,k_proj,v_proj,o_proj&torch_dtype=float16&gradient_accumulation_steps=16&gradient_checkpointing=true&zero_stage=3&offload_optimizer=cpu&offload_param=cpu",
                rules: &[],
            },
        ],
    },
    // One GPU, an agent and a simulated user: the same model twice, shared, and in 4 bit.
    Scenario {
        id: "two_instances",
        source: Some(Source {
            name: "AGentCL, MEMORY_OPTIMIZATION.md",
            address: "https://github.com/YolanyYwy/AGentCL/blob/216ae60cdf4a2c28648fb651802ffa9e5bdef453/MEMORY_OPTIMIZATION.md",
            figures: Figures::AddedUp,
        }),
        plans: &[
            ScenarioPlan {
                key: "two_instances",
                link: "v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&task=grpo&per_device_train_batch_size=4&gradient_checkpointing=true&num_generations=4&max_prompt_length=512&max_completion_length=256&reward_models=%5B%7B%22role%22:%22simulated_user%22%7D%5D",
                rules: &[
                    rule(Quantity::Device, 20_000_000_000, 24_000_000_000, None),
                    rule(Quantity::Weights, 8_000_000_000, 8_000_000_000, None),
                ],
            },
            ScenarioPlan {
                key: "shared",
                link: "v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&task=grpo&per_device_train_batch_size=4&gradient_checkpointing=true&num_generations=4&max_prompt_length=512&max_completion_length=256&reward_models=%5B%7B%22role%22:%22simulated_user%22,%22shared%22:true%7D%5D",
                rules: &[],
            },
            ScenarioPlan {
                key: "shared_4bit",
                link: "v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&task=grpo&method=qlora&per_device_train_batch_size=4&gradient_checkpointing=true&num_generations=4&max_prompt_length=512&max_completion_length=256&reward_models=%5B%7B%22role%22:%22simulated_user%22,%22shared%22:true%7D%5D",
                rules: &[
                    rule(Quantity::Device, 6_000_000_000, 8_000_000_000, None),
                    rule(Quantity::Weights, 2_000_000_000, 2_000_000_000, Some(Reason::UnquantizedParts)),
                ],
            },
        ],
    },
];
