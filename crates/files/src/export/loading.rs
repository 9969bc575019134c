//! What loads the model, for Python and as settings: dtype, attention, quantisation, adapters.

use headroom_core::plan::{AttnImplementation, Dtype, Method, QuantStorage, TargetModules, Task};

use super::notation::{keywords, quoted};
use super::planned::Planned;
use super::setting::{Setting, code, set};
use super::why::Why;

/// Arguments of `from_pretrained` behind the name.
pub(super) fn from_pretrained(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let dtype = code("dtype", torch_dtype(plan.torch_dtype)).because(planned.loaded());
    let mut settings = vec![dtype, set("attn_implementation", plan.attn_implementation.name())];
    if plan.attn_implementation == AttnImplementation::FlashAttention2 {
        settings[1] = settings[1].clone().because(Why::AttentionKernel);
    }
    if is_classifier(plan.task) {
        settings.push(set("num_labels", plan.num_labels));
    }
    if plan.method == Method::Qlora {
        settings.push(code("quantization_config", "quantization_config"));
    }
    settings
}

/// Arguments of `BitsAndBytesConfig`.
pub(super) fn bitsandbytes(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let of = &plan.quantization;
    if of.bits == 8 {
        return vec![set("load_in_8bit", true)];
    }
    let mut settings = vec![
        set("load_in_4bit", true),
        set("bnb_4bit_quant_type", of.quant_type.name()),
        set("bnb_4bit_use_double_quant", of.double_quant),
        code("bnb_4bit_compute_dtype", torch_dtype(compute_dtype(planned))),
    ];
    if of.bnb_4bit_quant_storage != QuantStorage::Uint8 {
        let storage = format!("torch.{}", of.bnb_4bit_quant_storage.name());
        settings.push(code("bnb_4bit_quant_storage", storage).because(Why::QuantStorage));
    }
    settings
}

/// The format of 4-bit matmuls: that of the weights that stay unquantised, but never fp32.
fn compute_dtype(planned: &Planned<'_>) -> Dtype {
    use headroom_core::plan::MixedPrecision;
    match (planned.plan.mixed_precision, planned.plan.torch_dtype) {
        (MixedPrecision::Fp16, _) | (MixedPrecision::No, Dtype::Float16) => Dtype::Float16,
        _ => Dtype::Bfloat16,
    }
}

/// Arguments of `LoraConfig`.
pub(super) fn lora(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let of = &plan.lora;
    let rank = match planned.estimate.as_ref() {
        Some(estimate) => set("r", of.r).because(Why::Trainable(estimate.trainable_count)),
        None => set("r", of.r),
    };
    let mut settings = vec![rank, set("lora_alpha", of.lora_alpha), set("lora_dropout", of.lora_dropout)];
    settings.push(match &of.target_modules {
        TargetModules::AllLinear => set("target_modules", "all-linear"),
        TargetModules::Names(names) => set("target_modules", names.as_slice()),
    });
    if !of.target_parameters.is_empty() {
        settings.push(set("target_parameters", of.target_parameters.as_slice()));
    }
    if !of.modules_to_save.is_empty() {
        settings.push(set("modules_to_save", of.modules_to_save.as_slice()));
    }
    let kind = match plan.task {
        Task::Embedding => "FEATURE_EXTRACTION",
        task if is_classifier(task) => "SEQ_CLS",
        _ => "CAUSAL_LM",
    };
    settings.push(set("task_type", kind));
    settings
}

/// Whether the head scores or classifies.
pub(super) fn is_classifier(task: Task) -> bool {
    matches!(task, Task::SequenceClassification | Task::Reward)
}

/// The class that loads the model.
pub(super) fn auto_class(task: Task) -> &'static str {
    match task {
        Task::Embedding => "AutoModel",
        task if is_classifier(task) => "AutoModelForSequenceClassification",
        _ => "AutoModelForCausalLM",
    }
}

/// The statements that make `model`, and `peft_config` where adapters train.
pub(super) fn statements(planned: &Planned<'_>) -> String {
    let plan = planned.plan;
    let mut out = String::new();
    let call = |name: &str, settings: &[Setting]| format!("{name}(\n{})", keywords(settings, 1, planned.language));
    if plan.method == Method::Qlora {
        out += &format!("quantization_config = {}\n", call("BitsAndBytesConfig", &bitsandbytes(planned)));
    }
    let arguments = keywords(&from_pretrained(planned), 1, planned.language);
    let class = auto_class(plan.task);
    out += &format!("model = {class}.from_pretrained(\n    {},\n{arguments})\n", quoted(&planned.model()));
    if plan.method != Method::Full {
        out += &format!("peft_config = {}\n", call("LoraConfig", &lora(planned)));
    }
    out
}

/// `torch.bfloat16` and its siblings.
pub(super) fn torch_dtype(dtype: Dtype) -> String {
    format!("torch.{}", dtype.name())
}
