//! Fields that are more than one member of the plan: the model and the GPU, each an id or a description, and two with values
//! of their own kind.

use serde_json::Value;

use super::fields::Field;
use super::keep::set_config;
use super::leaf::{Leaf, not_one_of, shown};
use super::{GpuChoice, ModelChoice, Plan, Problem, ProblemKind};
use crate::{gpu, model};

/// Bits that bitsandbytes quantises to.
pub(super) const BITS: &[&str] = &["4", "8"];

/// What FSDP2 wraps: each layer and the root, or the token embedding too.
pub(super) const WRAPS: &[&str] = &["layer+root", "layer+embed+root"];

pub(super) fn model_id(plan: &Plan) -> Value {
    if let ModelChoice::Catalogue(id) = &plan.model { Value::from(id.as_str()) } else { Value::Null }
}

pub(super) fn set_model_id(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let given: String = field.read(value)?;
    // What means one model is that model from here on; what does not stays as typed and is told when the model is needed.
    plan.model = ModelChoice::Catalogue(model::resolve(&given).map_or(given, str::to_owned));
    Ok(())
}

pub(super) fn model_config(plan: &Plan) -> Value {
    if let ModelChoice::Config { config, .. } = &plan.model { config.clone() } else { Value::Null }
}

pub(super) fn set_model_config(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    if value.is_null() {
        return Ok(());
    }
    let before = plan.model.clone();
    set_config(plan, value).map_err(|kind| {
        plan.model = before;
        Problem::new(field.name, kind)
    })
}

pub(super) fn model_name(plan: &Plan) -> Value {
    if let ModelChoice::Config { name, .. } = &plan.model { Value::from(name.as_str()) } else { Value::Null }
}

pub(super) fn set_model_name(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let given: Option<String> = field.read(value)?;
    match (&mut plan.model, given) {
        (_, None) => Ok(()),
        (ModelChoice::Config { name, .. }, Some(given)) => {
            *name = given;
            Ok(())
        }
        (ModelChoice::Catalogue(_), Some(_)) => Err(Problem::new("model.config", ProblemKind::Missing)),
    }
}

pub(super) fn gpu_id(plan: &Plan) -> Value {
    if let GpuChoice::Catalogue(id) = &plan.gpu { Value::from(id.as_str()) } else { Value::Null }
}

pub(super) fn set_gpu_id(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let given: String = field.read(value)?;
    plan.gpu = GpuChoice::Catalogue(gpu::resolve(&given).map_or(given, |gpu| gpu.id.to_string()));
    Ok(())
}

pub(super) fn gpu_memory(plan: &Plan) -> Value {
    if let GpuChoice::Custom { memory_gib, .. } = &plan.gpu { memory_gib.write() } else { Value::Null }
}

pub(super) fn set_gpu_memory(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    /// Ampere's, the oldest that multiplies bf16.
    const USUAL_CAPABILITY: (u8, u8) = (8, 0);
    let given = field.read(value)?;
    match &mut plan.gpu {
        GpuChoice::Custom { memory_gib, .. } => *memory_gib = given,
        GpuChoice::Catalogue(_) => {
            plan.gpu = GpuChoice::Custom { name: None, memory_gib: given, compute_capability: USUAL_CAPABILITY };
        }
    }
    Ok(())
}

pub(super) fn gpu_capability(plan: &Plan) -> Value {
    match plan.gpu {
        GpuChoice::Custom { compute_capability: (major, minor), .. } => Value::from(format!("{major}.{minor}")),
        GpuChoice::Catalogue(_) => Value::Null,
    }
}

pub(super) fn set_gpu_capability(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
    let out = || ProblemKind::OutOfRange { value: shown(value), min: "1.0".to_owned(), max: "99.9".to_owned() };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(major) || !digits(minor) {
        return Err(Problem::new(field.name, ProblemKind::WrongType { expected: "number" }));
    }
    let given = match (major.parse(), minor.parse()) {
        (Ok(major @ 1..=99), Ok(minor @ 0..=9)) => (major, minor),
        _ => return Err(Problem::new(field.name, out())),
    };
    let GpuChoice::Custom { compute_capability, .. } = &mut plan.gpu else { return Err(memory_missing()) };
    *compute_capability = given;
    Ok(())
}

pub(super) fn gpu_name(plan: &Plan) -> Value {
    if let GpuChoice::Custom { name, .. } = &plan.gpu { name.write() } else { Value::Null }
}

pub(super) fn set_gpu_name(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let given: Option<String> = field.read(value)?;
    match &mut plan.gpu {
        GpuChoice::Custom { name, .. } => *name = given,
        GpuChoice::Catalogue(_) if given.is_none() => {}
        GpuChoice::Catalogue(_) => return Err(memory_missing()),
    }
    Ok(())
}

fn memory_missing() -> Problem {
    Problem::new("gpu.memory_gib", ProblemKind::Missing)
}

pub(super) fn bits(plan: &Plan) -> Value {
    plan.quantization.bits.write()
}

pub(super) fn set_bits(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    plan.quantization.bits = match shown(value).as_str() {
        "4" => 4,
        "8" => 8,
        _ => return Err(Problem::new(field.name, not_one_of(value, BITS))),
    };
    Ok(())
}

pub(super) fn wrap(plan: &Plan) -> Value {
    Value::from(WRAPS[usize::from(plan.distributed.wrap_embedding)])
}

pub(super) fn set_wrap(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    plan.distributed.wrap_embedding = match value.as_str().and_then(|text| WRAPS.iter().position(|wrap| *wrap == text))
    {
        Some(wrapped) => wrapped == 1,
        None => return Err(Problem::new(field.name, not_one_of(value, WRAPS))),
    };
    Ok(())
}
