//! The scenario gallery in English.

use headroom_core::scenario::{Figures, Quantity, Reason};

use crate::gallery::{GalleryTexts, NO_SCENARIO, ScenarioText};

pub(super) const TEXTS: GalleryTexts = GalleryTexts {
    button: "Scenarios",
    title: "Everyday plans and six real situations",
    intro: "Open a plan and change it. Each real situation comes from a published guide, whose figures stand beside ours with the reason for every difference.",
    scenario,
    source: "Guide:",
    figures,
    rules: "Guide and ours",
    rules_of: |plan| format!("Figures of the guide beside ours: {plan}"),
    column_quantity: "On one GPU",
    column_guide: "Guide",
    column_ours: "Headroom",
    column_why: "Why they differ",
    agrees: "agrees within 10 %",
    quantity,
    reason,
};

static EVERYDAY: ScenarioText = ScenarioText {
    title: "Four everyday plans",
    story: "What most people come with, as TRL 1.16 runs it. Take the nearest one, then choose your model, GPU, batch and length.",
    plans: &[
        ("qlora_8b_rtx_4090", "QLoRA of an 8 B model on an RTX 4090"),
        ("qlora_7b_t4", "QLoRA of a 7 B model on a T4, as free notebooks have it"),
        ("full_8b_h100", "Full fine-tuning of an 8 B model on eight H100 with ZeRO-3"),
        ("grpo_4b", "GRPO of a 4 B model with LoRA and vLLM on one A100"),
    ],
};
static REWARD_MODEL: ScenarioText = ScenarioText {
    title: "A reward model on eight 64 GB GPUs",
    story: "Mistral 7B with a one-score head, trained in full or through LoRA. The dtype of AdamW's state decides: in bf16 the full run fits, in fp32 it needs sharding.",
    plans: &[
        ("full", "Full, state in bf16"),
        ("full_fp32_state", "Full, state and master weights in fp32"),
        ("full_zero1", "Full, ZeRO-1 over the eight GPUs"),
        ("lora", "LoRA, longer and larger batches"),
    ],
};
static SAFE_DPO: ScenarioText = ScenarioText {
    title: "DPO with two reward models beside it",
    story: "Policy, frozen reference, a helpfulness and a safety scorer, all of 7 B. Sharding all four is one way; the other is an adapter that is switched off for the reference, and scorers in 4 bits.",
    plans: &[("full_zero3", "Full, everything in ZeRO-3"), ("lora_quantized_rewards", "LoRA, rewards in 4 bits")],
};
static GRPO_OUT_OF_MEMORY: ScenarioText = ScenarioText {
    title: "GRPO on one 40 GB GPU that ran out of memory",
    story: "A 7 B policy with LoRA and four answers to each prompt. Fewer sequences at once do most of the work, checkpointing the rest; a smaller rank hardly matters.",
    plans: &[
        ("before", "Before: 16 sequences in one forward"),
        ("after", "After: 8 sequences, shorter answers, half the rank"),
        ("checkpointed", "After, with gradient checkpointing"),
        ("level1", "Level 1: 4 sequences"),
        ("level2", "Level 2: 3 answers of 64 tokens"),
        ("level3", "Level 3: 2 answers, rank 4"),
    ],
};
static IDLE_GPU: ScenarioText = ScenarioText {
    title: "A run that uses a tenth of its GPU",
    story: "GRPO on a transformer of 16 layers and 32 GB GPUs that stay almost empty. Here the advice runs the other way: raise the batch in steps that divide until the GPU works.",
    plans: &[
        ("now", "Now: batch 4, 16 answers"),
        ("recommended", "Recommended: batch 8, 32 answers"),
        ("aggressive", "Aggressive: batch 12, 24 answers"),
    ],
};
static DEEPSPEED_TIERS: ScenarioText = ScenarioText {
    title: "Four DeepSpeed tiers for small GPUs",
    story: "LoRA on a model of about 1 B, the tier chosen by the size of the GPU. On one GPU the stages of ZeRO shard nothing: only shorter sequences and offload help.",
    plans: &[
        ("zero2", "16 GB: stage 2"),
        ("zero2_offload", "12 GB: stage 2, optimizer in host memory"),
        ("zero3", "6 GB: stage 3"),
        ("minimal", "4 GB: stage 3, everything in host memory"),
    ],
};
static TWO_INSTANCES: ScenarioText = ScenarioText {
    title: "The same model twice on one GPU",
    story: "Qwen3-4B plays the agent and the simulated user that it trains against. Loaded once and shared, it is counted once; 4 bits then save less than three quarters.",
    plans: &[
        ("two_instances", "Two instances in bf16"),
        ("shared", "One instance, shared"),
        ("shared_4bit", "One instance, shared, 4-bit"),
    ],
};

fn scenario(id: &str) -> &'static ScenarioText {
    match id {
        "everyday" => &EVERYDAY,
        "reward_model" => &REWARD_MODEL,
        "safe_dpo" => &SAFE_DPO,
        "grpo_out_of_memory" => &GRPO_OUT_OF_MEMORY,
        "idle_card" => &IDLE_GPU,
        "deepspeed_tiers" => &DEEPSPEED_TIERS,
        "two_instances" => &TWO_INSTANCES,
        _ => &NO_SCENARIO,
    }
}

fn figures(figures: Figures) -> &'static str {
    match figures {
        Figures::AddedUp => "Figures: parts added up.",
        Figures::Expected => "Figures: expected, not measured.",
        Figures::None => "Figures: none of memory.",
    }
}

fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Device => "In all (nvidia-smi)",
        Quantity::Weights => "Weights",
        Quantity::Gradients => "Gradients",
        Quantity::OptimizerStates => "Optimizer states",
        Quantity::Activations => "Activations",
        Quantity::KvCache => "KV cache",
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::GradientsInBuckets => "DDP's buckets hold the gradients; they count as communication buffers here.",
        Reason::ShortSequences => {
            "256 tokens in one forward keep little; only eager attention grows with the square of the length."
        }
        Reason::StateDtype => {
            "The guide's figure is state in bf16; fp32 state with master weights is three times that."
        }
        Reason::Fp32Adapters => "peft keeps adapters in fp32, and with them their gradients and state.",
        Reason::AdapterInputs => {
            "Each adapter keeps an fp32 copy of its input for backward; without checkpointing that adds up."
        }
        Reason::EverySequenceKept => {
            "Without checkpointing, every layer of all 16 sequences is kept for backward: the GPU was far too small."
        }
        Reason::SavingsDoNotAdd => {
            "The guide takes 60 % off 40 GB. Savings of levers in a row do not add up: the weights stay, and half the rank saves megabytes. It names no model: ours has 7 B parameters."
        }
        Reason::LengthAssumed => "Counted at the longest prompt and answer; the guide's run saw shorter ones.",
        Reason::GrowsWithBatchOnly => {
            "The guide expected this of larger batches. Only activations, logits and cache grow with the batch; weights and optimizer state stay."
        }
        Reason::FormulaGivesLess => "The guide's own formula gives half of what it prints.",
        Reason::UnquantizedParts => "Embeddings, head and norms stay in 16 bits, and this vocabulary is large.",
    }
}
