//! One file a family or group of like families: class defaults and modules, after the classes of transformers 5.23,
//! or after the code that comes with the weights where transformers has no class.
//!
//! Classes are recorded as programs; readers remain of those whose programs do not give the same bytes in every measured step, or do
//! not read all that their configs say.
//!
//! To add a class that cannot be recorded: a reader beside its relatives, built from [`figures`] and [`blocks`]; a row in [`READERS`]; a config
//! in `tests/models/tensors.in.jsonl` and a real model in `tests/models/totals.in.jsonl`, and the expected values
//! written anew by `tests/models/list_parameters.py`.

mod blocks;
mod bloom;
mod deepseek;
mod encoder;
mod experts;
mod falcon;
mod figures;
mod generic;
mod glm;
mod gpt;
mod gpt_neox;
mod llama;
mod mistral;
mod nemotron;
mod opt;
mod qwen;
mod stablelm;

pub(super) use generic::{generic, guess};

use super::Model;
use super::config::{Config, ConfigError};

/// A reader of one class's configs.
pub(super) type Reader = fn(&Config<'_>) -> Result<Model, Box<ConfigError>>;

/// Classes whose steps were compared with PyTorch's allocator, in order.
const MEASURED: &[&str] = &[
    "afmoe",
    "apertus",
    "arcee",
    "aria_text",
    "axk1",
    "axk2",
    "bailing_hybrid",
    "bamba",
    "bert",
    "biogpt",
    "bitnet",
    "bloom",
    "camembert",
    "codegen",
    "cohere",
    "cohere2",
    "cohere2_moe",
    "cohere_compass_text",
    "cwm",
    "data2vec-text",
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "distilbert",
    "dots1",
    "electra",
    "ernie4_5",
    "ernie4_5_moe",
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
    "hyperclovax",
    "idefics3",
    "inkling_text",
    "internlm3",
    "internvl",
    "iquestcoder",
    "jais2",
    "jamba",
    "kimi_linear",
    "kolibri1",
    "laguna",
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
    "mpt",
    "mt5",
    "nanochat",
    "nemotron",
    "nemotron_h",
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
    "roberta",
    "roberta-prelayernorm",
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
    "zaya",
];

/// Whether steps of the class were compared with PyTorch's allocator.
pub(super) fn is_measured(model_type: &str) -> bool {
    MEASURED.contains(&model_type)
}

/// Every `model_type` that is known, with its reader, in order.
const READERS: &[(&str, Reader)] = &[
    ("Yi", llama::llama),
    ("bert", encoder::bert),
    ("bloom", bloom::bloom),
    ("camembert", encoder::roberta),
    ("chatglm", glm::chatglm),
    ("deepseek_v2", deepseek::deepseek_v2),
    ("deepseek_v3", deepseek::deepseek_v3),
    ("distilbert", encoder::distilbert),
    ("falcon", falcon::falcon),
    ("gpt2", gpt::gpt2),
    ("gpt_neox", gpt_neox::gpt_neox),
    ("kimi_k2", deepseek::deepseek_v3),
    ("llama", llama::llama),
    ("mistral", mistral::mistral),
    ("nemotron", nemotron::nemotron),
    ("opt", opt::opt),
    ("qwen2", qwen::qwen2),
    ("qwen2_5_omni_text", qwen::qwen2_5_omni_text),
    ("qwen2_5_vl", qwen::qwen2_vl_text),
    ("qwen2_5_vl_text", qwen::qwen2_vl_text),
    ("qwen2_moe", qwen::qwen2_moe),
    ("qwen2_vl", qwen::qwen2_vl_text),
    ("qwen2_vl_text", qwen::qwen2_vl_text),
    ("qwen3", qwen::qwen3),
    ("qwen3_moe", qwen::qwen3_moe),
    ("qwen3_vl_text", qwen::qwen3),
    ("roberta", encoder::roberta),
    ("xlm-roberta", encoder::roberta),
    ("stablelm", stablelm::stablelm),
];

/// The reader for `model_type`, if the class is known.
pub(super) fn reader(model_type: &str) -> Option<Reader> {
    READERS.iter().find(|(name, _)| *name == model_type).map(|(_, reader)| *reader)
}

/// Classes of transformers before 4.48 whose flash-attention of their own repeats shared keys and values, although the package
/// does not need that (4.45 models/*/modeling_*.py, `repeat_kv` in `*FlashAttention2`).
pub(super) fn flash_repeats_heads(model_type: &str) -> bool {
    matches!(model_type, "mistral" | "mixtral" | "phi3" | "qwen2" | "qwen2_moe" | "starcoder2")
}

/// Classes whose block of experts DeepSpeed gathers at once (`DEFAULT_LEAF_MODULE_CLASSES` in DeepSpeed 0.19
/// runtime/zero/leaf_module_config.py).
pub(super) fn gathers_experts_at_once(model_type: &str) -> bool {
    matches!(model_type, "mixtral" | "qwen2_moe" | "qwen3_moe")
}

/// Every `model_type` whose class is known, in alphabetical order.
pub fn known_model_types() -> impl Iterator<Item = &'static str> {
    READERS.iter().map(|(name, _)| *name)
}

/// The `model_type` behind the first entry of `architectures`, where a config has no `model_type`:
/// `Qwen2MoeForCausalLM` is `qwen2_moe`.
pub(super) fn model_type_of(architecture: &str) -> Option<&'static str> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let class = ["ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForSequenceClassification", "Model"]
        .iter()
        .find_map(|suffix| architecture.strip_suffix(suffix))?;
    let mut known = known_model_types().chain(MEASURED.iter().copied());
    known.find(|name| plain(name) == plain(class))
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
