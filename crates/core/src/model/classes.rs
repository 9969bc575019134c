//! What is known of classes of transformers by their `model_type` alone. What their code does is recorded (`program`).

use serde_json::{Map, Value as Json};

use super::behaviour::{Dispatch, EarlierExperts, LinearExperts};

/// Classes whose steps were compared with PyTorch's allocator, in order.
const MEASURED: &[&str] = &[
    "afmoe",
    "apertus",
    "apertus1p5_text",
    "arcee",
    "aria_text",
    "axk1",
    "axk2",
    "bailing_hybrid",
    "bamba",
    "beam",
    "bert",
    "bert-generation",
    "biogpt",
    "bitnet",
    "bloom",
    "camembert",
    "codegen",
    "cohere",
    "cohere2",
    "cohere2_moe",
    "cohere_compass_text",
    "cpmant",
    "ctrl",
    "cwm",
    "data2vec-text",
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "deepseek_v4",
    "diffllama",
    "distilbert",
    "doge",
    "dory",
    "dots1",
    "dots3_note_text",
    "electra",
    "ernie",
    "ernie4_5",
    "ernie4_5_moe",
    "eurobert",
    "exaone",
    "exaone4",
    "exaone4_5",
    "exaone_moe",
    "falcon",
    "falcon_h1",
    "falcon_mamba",
    "flex_olmo",
    "flint",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "gemma3n_text",
    "gemma4",
    "gemma4_text",
    "gemma4_unified_text",
    "glm",
    "glm4",
    "glm46v",
    "glm4_moe",
    "glm4_moe_lite",
    "glm4v",
    "glm4v_moe",
    "glm4v_moe_text",
    "glm4v_text",
    "glm_moe_dsa",
    "glm_ocr",
    "glm_ocr_text",
    "gpt2",
    "gpt_bigcode",
    "gpt_neo",
    "gpt_neox",
    "gpt_neox_japanese",
    "gpt_oss",
    "gptj",
    "granite",
    "granite_swa",
    "granitemoe",
    "granitemoe_swa",
    "granitemoehybrid",
    "granitemoeshared",
    "helium",
    "hunyuan_v1_dense",
    "hunyuan_v1_moe",
    "hy_v3",
    "hy_v4",
    "hyperclovax",
    "idefics3",
    "inkling_text",
    "internlm3",
    "internvl",
    "iquestcoder",
    "jais2",
    "jamba",
    "jetmoe",
    "kimi_linear",
    "kolibri1",
    "laguna",
    "lara_mini",
    "lfm2",
    "lfm2_moe",
    "lfm3",
    "llama",
    "llama4",
    "llama4_text",
    "llava",
    "llava_next",
    "llava_onevision",
    "mamba",
    "mamba2",
    "megatron-bert",
    "mellum",
    "mimo_v2_flash",
    "minicpm3",
    "minimax",
    "minimax_m2",
    "minimax_m3_vl_text",
    "ministral",
    "ministral3",
    "mistral",
    "mistral3",
    "mixtral",
    "mllama",
    "mllama_text_model",
    "modernbert",
    "modernbert-decoder",
    "mpnet",
    "mpt",
    "mt5",
    "muse_glimmer",
    "muse_glimmer_text",
    "nanochat",
    "nemotron",
    "nemotron_h",
    "nomic_bert",
    "olmo",
    "olmo2",
    "olmo3",
    "olmo_hybrid",
    "olmoe",
    "openai-gpt",
    "opt",
    "paligemma",
    "persimmon",
    "phi",
    "phi3",
    "phimoe",
    "qwen2",
    "qwen2_5_vl",
    "qwen2_5_vl_text",
    "qwen2_moe",
    "qwen2_vl",
    "qwen2_vl_text",
    "qwen3",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_5_moe_text",
    "qwen3_5_text",
    "qwen3_moe",
    "qwen3_next",
    "qwen3_omni_moe_text",
    "qwen3_omni_moe_thinker",
    "qwen3_vl",
    "qwen3_vl_moe",
    "qwen3_vl_moe_text",
    "qwen3_vl_text",
    "recurrent_gemma",
    "rembert",
    "roberta",
    "roberta-prelayernorm",
    "roformer",
    "rwkv",
    "sarvam_mla",
    "sarvam_moe",
    "seed_oss",
    "smollm3",
    "smolvlm",
    "solar_open",
    "stablelm",
    "starcoder2",
    "t5",
    "umt5",
    "vaultgemma",
    "xglm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "youtu",
    "zamba2",
    "zaya",
];

/// Whether steps of the class were compared with PyTorch's allocator.
pub(super) fn is_measured(model_type: &str) -> bool {
    MEASURED.contains(&model_type)
}

/// Classes of transformers before 4.48 whose flash-attention of their own repeats shared keys and values, although the package
/// does not need that (4.45 models/*/modeling_*.py, `repeat_kv` in `*FlashAttention2`).
pub(super) fn flash_repeats_heads(model_type: &str) -> bool {
    matches!(model_type, "mistral" | "mixtral" | "phi3" | "qwen2" | "qwen2_moe" | "starcoder2")
}

/// Classes of transformers 4 whose own `enable_input_require_grads` hooks their tower's embeddings, too (4.57
/// models/*/modeling_*.py).
pub(super) fn hooks_tower_by_itself(model_type: &str) -> bool {
    matches!(model_type, "idefics2" | "idefics3" | "smolvlm")
}

/// How transformers 4 held a class's routed experts (4.57 models/*/modeling_*.py).
pub(super) fn earlier_experts(model_type: &str) -> Option<EarlierExperts> {
    use Dispatch::{SortsTokens, SumsInHiddenDtype, SumsInWeightsDtype};
    const LLAMA: [&str; 3] = ["gate_proj", "up_proj", "down_proj"];
    const MIXTRAL: [&str; 3] = ["w1", "w3", "w2"];
    let linear = |names, routes_linearly, dispatch| {
        Some(EarlierExperts::Linear(LinearExperts { names, routes_linearly, dispatch }))
    };
    match model_type {
        "mixtral" | "minimax" | "phimoe" => linear(MIXTRAL, true, SumsInHiddenDtype),
        "qwen2_moe"
        | "qwen3_moe"
        | "qwen3_next"
        | "qwen3_omni_moe_text"
        | "qwen3_omni_moe_thinker"
        | "olmoe"
        | "flex_olmo"
        | "jamba" => linear(LLAMA, true, SumsInHiddenDtype),
        // Their routers are in fp32 by themselves, and no router of these is quantised here.
        "ernie4_5_moe" | "hunyuan_v1_moe" => linear(LLAMA, false, SumsInHiddenDtype),
        "deepseek_v3" | "kimi_k2" | "dots1" | "glm4_moe" | "glm4v_moe" | "glm4v_moe_text" => {
            linear(LLAMA, false, SumsInWeightsDtype)
        }
        "deepseek_v2" => linear(LLAMA, false, SortsTokens),
        "aria_text" | "gpt_oss" | "granitemoe" | "granitemoehybrid" | "granitemoeshared" | "jetmoe" | "llama4"
        | "llama4_text" | "qwen3_vl_moe" | "qwen3_vl_moe_text" => Some(EarlierExperts::Stacked),
        _ => None,
    }
}

/// Classes whose gated norm was `FusedRMSNormGated` of flash-linear-attention up to transformers 5.14 (models/*/modeling_*.py).
pub(super) fn takes_gated_norm(model_type: &str) -> bool {
    matches!(model_type, "qwen3_next" | "qwen3_5" | "qwen3_5_text" | "qwen3_5_moe" | "qwen3_5_moe_text")
}

/// Classes whose block of experts DeepSpeed gathers at once (`DEFAULT_LEAF_MODULE_CLASSES` in DeepSpeed 0.19
/// runtime/zero/leaf_module_config.py).
pub(super) fn gathers_experts_at_once(model_type: &str) -> bool {
    matches!(model_type, "mixtral" | "qwen2_moe" | "qwen3_moe")
}

/// The `model_type` behind the first entry of `architectures`, where a config has no `model_type`:
/// `Qwen2MoeForCausalLM` is `qwen2_moe`.
pub(super) fn model_type_of(architecture: &str) -> Option<&'static str> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let class = ["ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForSequenceClassification", "Model"]
        .iter()
        .find_map(|suffix| architecture.strip_suffix(suffix))?;
    MEASURED.iter().copied().find(|name| plain(name) == plain(class))
}

/// The file that the programs of a class with images lie in, by its `model_type` and its config: Gemma 4's large models, whose keys are
/// values where attention is full, have one of their own, as one for all kinds would be too large.
pub(super) fn file_of<'a>(model_type: &'a str, fields: &Map<String, Json>) -> &'a str {
    let is_large = || fields.get("text_config")?.get("attention_k_eq_v")?.as_bool();
    if model_type == "gemma4" && is_large() == Some(true) { "gemma4_large" } else { model_type }
}

/// The class of a multimodal model's text part, where the part does not say it itself.
pub(super) fn text_model_type(whole: &str) -> &str {
    match whole {
        "gemma3" => "gemma3_text",
        "paligemma" => "gemma",
        "mistral3" | "voxtral" => "mistral",
        "mllama" => "mllama_text_model",
        "qwen2_vl" | "qwen2_5_vl" => "qwen2_vl_text",
        "qwen2_5_omni_thinker" => "qwen2_5_omni_text",
        "glm4v" => "glm4v_text",
        "qwen2_audio" | "internvl" | "llava_onevision" => "qwen2",
        "qwen3_vl" => "qwen3_vl_text",
        "qwen3_vl_moe" => "qwen3_vl_moe_text",
        "llava" | "llava_next" | "video_llava" | "vipllava" | "idefics3" | "smolvlm" => "llama",
        other => other,
    }
}

/// Classes that read sound or write it, of which no text part could stand for the whole: they would be read as a Llama-like decoder by keys
/// that mean something else (Whisper's layers are its encoder's, CSM's beside a decoder of codes and a codec).
const AUDIO: &[&str] = &[
    "bark",
    "clap",
    "csm",
    "dac",
    "dia",
    "encodec",
    "fastspeech2_conformer",
    "higgs_audio_v2",
    "hubert",
    "kyutai_speech_to_text",
    "mimi",
    "moonshine",
    "moshi",
    "musicgen",
    "musicgen_melody",
    "parakeet_ctc",
    "parakeet_encoder",
    "pop2piano",
    "seamless_m4t",
    "seamless_m4t_v2",
    "speech-encoder-decoder",
    "speech_to_text",
    "speecht5",
    "unispeech",
    "unispeech-sat",
    "vibevoice",
    "vits",
    "wav2vec2",
    "wav2vec2-bert",
    "wav2vec2-conformer",
    "wavlm",
    "whisper",
    "xcodec",
];

/// The class of a config that is about sound; those with a text part of their own are read by that, and a note says so.
pub(crate) fn audio(config: &serde_json::Value) -> Option<&str> {
    let model_type = config.get("model_type")?.as_str()?;
    AUDIO.contains(&model_type).then_some(model_type)
}
