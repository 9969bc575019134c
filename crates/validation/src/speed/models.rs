//! Names of models and GPUs, as publications write them, in the catalogue's words.

use serde_json::{Value, json};

/// The model as a plan names it: a catalogue id, or a config where the catalogue has none of that shape.
pub(super) fn model(name: &str) -> Option<Value> {
    let lower = name.to_ascii_lowercase();
    let lower = lower.rsplit('/').next().unwrap_or(&lower);
    let id = match lower {
        "llama 2 7b" | "llama-2-7b-hf" => "meta-llama/Llama-2-7b-hf",
        "llama 2 13b" | "llama-2-13b-hf" => "meta-llama/Llama-2-13b-hf",
        "llama 2 70b" | "llama-2-70b-hf" | "llama2-70b" => "meta-llama/Llama-2-70b-hf",
        "llama 3 8b" => "meta-llama/Meta-Llama-3-8B",
        "llama 3.1 8b" => "meta-llama/Llama-3.1-8B",
        "llama 3 70b" => "meta-llama/Meta-Llama-3-70B",
        "llama 3.1 70b" => "meta-llama/Llama-3.1-70B",
        "llama 3.1 405b" => "meta-llama/Llama-3.1-405B",
        "llama-3.2-3b" | "llama-3.2-3b-instruct" => "meta-llama/Llama-3.2-3B",
        "qwen2.5-7b" | "qwen2.5-7b-instruct" => "Qwen/Qwen2.5-7B",
        "qwen2.5-14b-instruct" => "Qwen/Qwen2.5-14B",
        "tinyllama-1.1b (random init)" => "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        "qwen3 32b" | "qwen3-32b" => "Qwen/Qwen3-32B",
        "mistral-7b-v0.2" => "mistralai/Mistral-7B-Instruct-v0.2",
        "openbuddy-mistral-7b" => "mistralai/Mistral-7B-v0.1",
        "phi-1_5" => "microsoft/phi-1_5",
        "yi-34b" | "yi-34b-chat" => "01-ai/Yi-1.5-34B",
        "yi-6b-chat" => "01-ai/Yi-1.5-6B",
        "baichuan2-7b-chat" => "baichuan-inc/Baichuan2-7B-Base",
        "baichuan2-13b-chat" => "baichuan-inc/Baichuan2-13B-Base",
        "chatglm3-6b" | "chatglm2-6b" => "THUDM/chatglm3-6b",
        "bert-large-uncased" => "google-bert/bert-large-uncased",
        _ if lower.starts_with("openbuddy-zephyr-7b") => "mistralai/Mistral-7B-v0.1",
        _ => return first_qwen(lower).or_else(|| stablelm_alpha(lower)),
    };
    Some(json!(id))
}

/// Qwen's first generation, in the shapes of its successors: biases on q, k and v, no sharing of heads.
fn first_qwen(name: &str) -> Option<Value> {
    let (hidden, layers, heads, intermediate, vocabulary) = match name.split("-chat").next()? {
        "qwen-1_8b" => (2048, 24, 16, 5504, 151_936),
        "qwen-7b" => (4096, 32, 32, 11_008, 151_936),
        "qwen-14b" => (5120, 40, 40, 13_696, 152_064),
        "qwen-72b" => (8192, 80, 64, 24_576, 152_064),
        _ => return None,
    };
    Some(json!({
        "name": name,
        "config": {
            "model_type": "qwen2", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": heads, "intermediate_size": intermediate, "vocab_size": vocabulary,
            "max_position_embeddings": 32_768, "tie_word_embeddings": false, "hidden_act": "silu",
        }
    }))
}

/// StableLM-alpha-3B: GPT-NeoX.
fn stablelm_alpha(name: &str) -> Option<Value> {
    (name == "stablelm-base-alpha-3b").then(|| {
        json!({
            "name": name,
            "config": {
                "model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 16, "num_attention_heads": 32,
                "intermediate_size": 16_384, "vocab_size": 50_688, "max_position_embeddings": 4096,
                "rotary_pct": 0.25, "use_parallel_residual": true, "tie_word_embeddings": false,
            }
        })
    })
}

/// The GPU's id in the catalogue.
pub(super) fn gpu(name: &str) -> Option<&'static str> {
    Some(match name {
        "A100-SXM4-80G" | "A100-SXM4-80GB" | "A100 80GB" | "A100" => "a100-80gb",
        "A100-SXM4-40GB" | "A100 40GB SXM" => "a100-40gb",
        "RTX 3090" => "rtx-3090",
        "RTX 4090" => "rtx-4090",
        "RTX 4070 Ti SUPER" => "rtx-4070-ti-super",
        "A5000 24GB" => "rtx-a5000",
        "L40S" => "l40s",
        "V100-SXM2-16GB" => "v100-16gb",
        "V100 32GB" => "v100-32gb",
        "H200" => "h200",
        "MI300X" => "mi300x",
        "GB200" => "gb200",
        "H100 96GB" | "H100 80GB" | "H100" => "h100-80gb",
        _ => return None,
    })
}
