//! Values of files as those of fields.

use serde_json::Value as Json;

use crate::syntax::{Node, Value};
use crate::trainers::As;

/// Why a value sets no field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is computed when the program runs.
    Computed,
    /// It is a kind of what the key switches on.
    Kind,
    /// It is not what the key takes.
    Bad(&'static str),
}

/// The value of `node` as that of a field.
pub(crate) fn convert(node: &Node, how: As) -> Result<Json, Unread> {
    if matches!(node.value, Value::Expression(_) | Value::Call { .. }) {
        return Err(Unread::Computed);
    }
    match how {
        As::Whole => whole(node).map(Json::from).ok_or(Unread::Bad("a whole number")),
        As::Real => real(node).map(Json::from).ok_or(Unread::Bad("a number")),
        As::Flag => flag(node).map(Json::from).ok_or(Unread::Bad("true or false")),
        As::FlagOrKind => flag(node).map(Json::from).ok_or(Unread::Kind),
        As::NotFlag => flag(node).map(|flag| Json::from(!flag)).ok_or(Unread::Bad("true or false")),
        As::Text => text(node).map(Json::from).ok_or(Unread::Bad("a text")),
        As::PackingStrategy => text(node)
            .map(|text| match text.to_ascii_lowercase().as_str() {
                // trl 0.18's name, and 0.26's.
                "ffd" => Json::from("bfd"),
                "bfd-requeue" => Json::from("bfd_split"),
                other => Json::from(other),
            })
            .ok_or(Unread::Bad("a text")),
        As::Lower => text(node).map(|text| Json::from(text.to_ascii_lowercase())).ok_or(Unread::Bad("a text")),
        As::Dtype => {
            text(node).and_then(|text| dtype(&text)).map(Json::from).ok_or(Unread::Bad("bfloat16, float16 or float32"))
        }
        As::Names => Ok(Json::from(names(node))),
        As::Targets => Ok(targets(node)),
        As::Optimizer => text(node).map(|text| Json::from(optimizer(&text))).ok_or(Unread::Bad("an optimizer")),
        As::Device => text(node).map(|text| Json::from(device(&text))).ok_or(Unread::Bad("cpu or none")),
        As::DeviceSwitch => {
            flag(node).map(|on| Json::from(if on { "cpu" } else { "none" })).ok_or(Unread::Bad("true or false"))
        }
        As::Level => real(node).map(|level| Json::from(level > 0.0)).ok_or(Unread::Bad("a number")),
        As::Bucket => match text(node).as_deref() {
            Some("auto") => Ok(Json::from("auto")),
            _ => whole(node).map(Json::from).ok_or(Unread::Bad("a number or auto")),
        },
        As::Attention => text(node)
            .and_then(|text| attention(&text))
            .map(Json::from)
            .ok_or(Unread::Bad("sdpa, eager or flash_attention_2")),
    }
}

/// A switch; texts and numbers that stand for one count.
pub(crate) fn flag(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Flag(flag) => Some(*flag),
        Value::Integer(0) => Some(false),
        Value::Integer(1) => Some(true),
        Value::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" | "t" | "y" => Some(true),
            "false" | "no" | "off" | "0" | "f" | "n" | "none" | "" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a key is not used: switched off, empty, zero.
pub(crate) fn is_off(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Flag(false) | Value::Integer(0) => true,
        Value::Number(number) => *number == 0.0,
        Value::Text(text) => {
            matches!(text.to_ascii_lowercase().as_str(), "" | "none" | "null" | "false" | "no" | "off" | "0" | "0.0")
        }
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// A whole number, also as a text or `2e8`.
pub(crate) fn whole(node: &Node) -> Option<u64> {
    const EXACT: f64 = 9e15;
    match &node.value {
        Value::Integer(whole) => u64::try_from(*whole).ok(),
        Value::Number(number) if number.fract() == 0.0 && (0.0..EXACT).contains(number) => Some(*number as u64),
        Value::Text(text) => {
            let digits = text.trim().replace('_', "");
            let float = || {
                digits.parse::<f64>().ok().filter(|n| n.fract() == 0.0 && (0.0..EXACT).contains(n)).map(|n| n as u64)
            };
            digits.parse().ok().or_else(float)
        }
        _ => None,
    }
}

/// A number, also as a text.
pub(crate) fn real(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Integer(whole) => Some(*whole as f64),
        Value::Number(number) => Some(*number),
        Value::Text(text) => text.trim().replace('_', "").parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// A text; numbers and switches as written.
pub(crate) fn text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.trim().to_owned()),
        Value::Integer(whole) => Some(whole.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Flag(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The number format called `name`.
pub(crate) fn dtype(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    Some(match name.strip_prefix("torch.").unwrap_or(&name) {
        "bfloat16" | "bf16" => "bfloat16",
        "float16" | "fp16" | "half" => "float16",
        "float32" | "fp32" | "float" => "float32",
        "uint8" => "uint8",
        "auto" => "auto",
        _ => return None,
    })
}

/// Names in a list, or in a text with commas or blanks.
pub(crate) fn names(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(items) => items.iter().flat_map(names).collect(),
        Value::Text(text) => {
            let parts = text.split([',', ' ', '\n']).map(|name| name.trim_matches(['\'', '"', '[', ']']).trim());
            parts.filter(|name| !name.is_empty()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Names of modules, or the word for all linear ones.
pub(crate) fn targets(node: &Node) -> Json {
    let names = names(node);
    let all = |name: &String| {
        matches!(name.to_ascii_lowercase().as_str(), "all" | "all-linear" | "all_linear" | "default_all")
    };
    if names.iter().any(all) { Json::from("all-linear") } else { Json::from(names) }
}

/// Optimizers that trainers add to those of transformers (axolotl utils/schemas/enums.py `CustomSupportedOptimizers` and its
/// earlier ones, LLaMA-Factory's `use_badam`, `use_adam_mini`).
pub(crate) const OTHER_OPTIMIZERS: [&str; 13] = [
    "optimi_adamw",
    "ao_adamw_fp8",
    "adopt_adamw",
    "came_pytorch",
    "dion",
    "flash_adamw",
    "flash_adam",
    "flash_lion",
    "flash_sgd",
    "sinkgd",
    "lion_pytorch",
    "q_galore_adamw8bit",
    "badam",
];

/// transformers' name of an optimizer: the enum's own aliases, those of older versions, and those of other trainers.
pub(crate) fn optimizer(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_prefix("optimizernames.").unwrap_or(&name);
    match name {
        "adamw_hf" | "adamw" | "adam" => "adamw_torch",
        "adamw_8bit" | "adamw8bit" => "adamw_bnb_8bit",
        "paged_adamw" => "paged_adamw_32bit",
        "lion" => "lion_32bit",
        "paged_lion" => "paged_lion_32bit",
        "paged_ademamix" => "paged_ademamix_32bit",
        "rmsprop_bnb_32bit" => "rmsprop_bnb",
        // axolotl's earlier names (utils/schemas/validation.py).
        "ao_adamw_8bit" => "adamw_torch_8bit",
        "ao_adamw_4bit" => "adamw_torch_4bit",
        other => other,
    }
    .to_owned()
}

/// Where something lives; an NVMe is reached through the host's memory.
pub(crate) fn device(name: &str) -> &'static str {
    match name.to_ascii_lowercase().as_str() {
        "cpu" | "nvme" | "true" => "cpu",
        _ => "none",
    }
}

/// transformers' name of an attention; `None` for those that follow the libraries or are not modelled.
pub(crate) fn attention(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    Some(match name.as_str() {
        "fa2" | "flash_attn" | "flash_attention_2" | "flash_attention" | "flash-attn" | "flash_attn_2" | "fa" => {
            "flash_attention_2"
        }
        "sdpa" | "torch" => "sdpa",
        "eager" | "disabled" | "vanilla" => "eager",
        kernel if kernel.starts_with("kernels-community/flash-attn2") || kernel == "kernels-community/flash-attn" => {
            "flash_attention_2"
        }
        _ => return None,
    })
}
