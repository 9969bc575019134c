//! Where figures come from.
//!
//! Whatever the source, the total was counted anew: transformers 5.23 built the class from the config on the meta
//! device. Classes that live beside their weights (InternLM2, Baichuan, ChatGLM) were counted as a Llama of the same shapes
//! plus their biases.

/// Figures as LitGPT holds them, each beside a link to the model's `config.json`.
pub(super) const LITGPT: &str = "LitGPT, litgpt/config.py";
/// Copies of `config.json` in MLC LLM.
pub(super) const MLC: &str = "MLC LLM, python/mlc_llm/model/model_preset.py";
/// A copy of `config.json` in the tests of TensorRT-LLM.
pub(super) const TENSORRT_LLM: &str = "TensorRT-LLM, tests of Qwen2-MoE";
/// The model's `config.json`; its count agrees with the total published with the weights.
pub(super) const PUBLISHED: &str = "config.json of the model, agrees with the total in the headers of its weights";
/// The model's `config.json`. Its weights' headers count one thing more.
pub(super) const DEEPSEEK_V3: &str = "config.json of the model; the headers of its weights (without multi-token prediction) \
    have 14,848 elements more: correction biases of the routers, buffers in transformers";
/// The model's `config.json`.
pub(super) const CONFIG: &str = "config.json of the model";
/// The class's defaults are this model's figures.
pub(super) const TRANSFORMERS: &str = "class defaults of transformers 5.23";
/// Copies of `config.json` in the projects named, each read to the total that transformers counts.
pub(super) const AICONFIGURATOR: &str = "copy of the model's config.json in aiconfigurator, model_configs";
pub(super) const AICONFIGURATOR_NVFP4: &str =
    "copy in aiconfigurator, model_configs, of the config.json of NVIDIA's quantised weights, which keeps the model's";
pub(super) const TT_METAL: &str = "copy of the model's config.json in tt-metal, model_params";
pub(super) const EXECUTORCH: &str = "figures of ExecuTorch, examples/models";
pub(super) const MAXTEXT: &str =
    "copy of the model's config.json in MaxText, hf_model_configs.py, or its figures, configs/models";
pub(super) const SLIME: &str = "figures of slime, scripts/models";
pub(super) const MEGATRON_BRIDGE: &str = "figures of Megatron-Bridge, tests of its models";
/// The script that converted the weights holds the figures.
pub(super) const CONVERSION: &str = "transformers, the script that converted the weights";
/// Tests or documents of a public project hold a copy.
pub(super) const FIXTURE: &str = "copy of the model's config.json in tests or documents of a public project";
/// Table 1 of the paper.
pub(super) const OPT_PAPER: &str = "OPT paper, arXiv 2205.01068, table 1";
