//! From a publication's description of a run to a plan, or why no plan can say it.

use headroom_core::gpu::{Gpu, Interconnect};
use headroom_core::job::Job;
use headroom_core::plan::{Plan, Problem};
use headroom_text::problem_line;
use serde_json::{Map, Value, json};

use super::models;
use super::row::Row;

/// A step that `torch.compile` fused: no plan says it, so such steps are compared with each other only.
pub(super) const COMPILED: &str = "compiled";

/// A run that a plan can say.
pub(super) struct Described {
    pub(super) job: Job,
    /// The plan as JSON, as far as the publication says it.
    pub(super) said: Value,
    /// How many units a step has, of which the row gives the seconds of one.
    pub(super) units: f64,
    /// What no plan says, and both rows of a ratio must have in common.
    pub(super) condition: &'static str,
}

/// Reads `row` as a plan.
///
/// # Errors
/// What a plan cannot say, or what the publication does not.
pub(super) fn described(row: &Row) -> Result<Described, String> {
    let said = match row.value("plan") {
        Value::Null => plan_value(row)?,
        plan => plan.clone(),
    };
    let plan = Plan::from_value(&said).map_err(|problems| problems_text(&problems))?;
    let mut job = Job::resolve(&plan).map_err(|problems| problems_text(&problems))?;
    if let Some(gb_s) = slot(row) {
        let slower = Gpu { interconnect: Interconnect::Pcie { gb_s }, ..job.gpu().clone() };
        job = job.on_gpu(slower);
    }
    let micro_batches = plan.gradient_accumulation_steps as f64;
    let sequences = plan.per_device_train_batch_size as f64 * micro_batches;
    let units = match row.text("cmp_unit") {
        "s per micro-batch" => micro_batches,
        "s per sample" => sequences,
        "s per token per GPU" => sequences * plan.max_length as f64,
        "s per optimizer step" => 1.0,
        other => return Err(format!("unit {other}")),
    };
    let condition = if row.value("compile").as_bool() == Some(true) { COMPILED } else { "" };
    Ok(Described { job, said, units, condition })
}

/// GB/s of the slot where it is not the GPU's own: stated, or of the second slot of most older consumer boards, four lanes of
/// PCI Express 3.0, where the publication calls it slow.
pub(super) fn slot(row: &Row) -> Option<f64> {
    const SECOND_SLOT: f64 = 4.0 * 0.984_375;
    row.number("slot_gb_s").or_else(|| row.text("notes").contains("slow PCIe lanes").then_some(SECOND_SLOT))
}

fn plan_value(row: &Row) -> Result<Value, String> {
    let mut plan = Map::new();
    let mut set = |key: &str, value: Value| plan.insert(key.to_owned(), value);
    set("model", models::model(row.text("model")).ok_or_else(|| format!("model {}", row.text("model")))?);
    set("gpu", json!(models::gpu(row.text("gpu")).ok_or_else(|| format!("GPU {}", row.text("gpu")))?));
    set("per_device_train_batch_size", json!(row.count("micro_batch").ok_or("batch size not stated")?));
    set("gradient_accumulation_steps", json!(row.count("gradient_accumulation").unwrap_or(1)));
    set("max_length", json!(length(row)?));
    set("gradient_checkpointing", json!(checkpointing(row.value("grad_ckpt"))?));
    set("optim", json!(optimizer(row.text("optimizer"))?));
    set("max_grad_norm", json!(1.0));
    attention(row, &mut plan)?;
    precision(row, &mut plan)?;
    method(row, &mut plan)?;
    parallel(row, &mut plan)?;
    Ok(Value::Object(plan))
}

/// Tokens of a sequence: as stated, or the mean of what is stated of the data.
fn length(row: &Row) -> Result<u64, String> {
    let kind = row.text("seq_len_kind");
    let stated = row.count("seq_len");
    // Mean tokens of a micro-batch where they were published.
    if let (Some(mean), Some(batch)) = (row.number("mean_tokens_per_micro_batch"), row.count("micro_batch")) {
        return Ok((mean / batch as f64).round() as u64);
    }
    if kind.starts_with("data-dependent (Alpaca") {
        // Alpaca's samples with their prompt have 110 tokens in the mean.
        return if row.count("micro_batch") == Some(1) { Ok(110) } else { Err("padded lengths not stated".to_owned()) };
    }
    let Some(stated) = stated else { return Err("length not stated".to_owned()) };
    if kind.starts_with("max_length with") {
        if row.count("micro_batch") != Some(1) {
            return Err("padded lengths not stated".to_owned());
        }
        return Ok(capped_mean(stated as f64, kind.contains("truncation_left")).round() as u64);
    }
    Ok(stated)
}

/// Mean length of ms-swift's benchmark data (3234 ± 2548 tokens, taken as log-normal) when samples longer than `cap` are
/// cut, or else left out.
fn capped_mean(cap: f64, cut: bool) -> f64 {
    const MEAN: f64 = 3234.0;
    const DEVIATION: f64 = 2548.0;
    let variance = (1.0 + (DEVIATION / MEAN).powi(2)).ln();
    let sigma = variance.sqrt();
    let mu = MEAN.ln() - variance / 2.0;
    let below = normal((cap.ln() - mu) / sigma);
    let mass = MEAN * normal((cap.ln() - mu) / sigma - sigma);
    if cut { mass + cap * (1.0 - below) } else { mass / below }
}

/// The normal distribution function (Abramowitz and Stegun 26.2.17, to 1e-7).
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series =
        t * (0.319_381_53 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * series;
    if x >= 0.0 { 1.0 - tail } else { tail }
}

fn checkpointing(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(on) => Ok(*on),
        Value::String(text) if text == "full" => Ok(true),
        Value::String(text) if text == "none" => Ok(false),
        Value::String(text) => Err(format!("checkpointing: {text}")),
        _ => Err("checkpointing not stated".to_owned()),
    }
}

fn optimizer(text: &str) -> Result<&'static str, String> {
    let lower = text.to_ascii_lowercase();
    if lower.contains("bwd") || lower.contains("backward") || lower.contains("lora-fa") {
        return Err(format!("optimizer {text}"));
    }
    Ok(match lower.as_str() {
        "adafactor" => "adafactor",
        "bnb adam8bit" | "adamw8bit" => "adamw_bnb_8bit",
        "bnb pagedadamw" => "paged_adamw_32bit",
        _ if lower.contains("adamw (hf default)") => "adamw_torch_forloop",
        _ if lower.contains("fused") => "adamw_torch_fused",
        _ if lower.contains("adam") => "adamw_torch",
        _ => return Err(format!("optimizer {text}")),
    })
}

fn attention(row: &Row, plan: &mut Map<String, Value>) -> Result<(), String> {
    let text = row.text("attn");
    let name = match text {
        "flash_attn_2" => "flash_attention_2",
        "eager" => "eager",
        _ if text.starts_with("no flash-attn") => "eager",
        _ if text.starts_with("sdpa") => "sdpa",
        _ => return Err(format!("attention {text}")),
    };
    plan.insert("attn_implementation".to_owned(), json!(name));
    plan.insert("padded_batch".to_owned(), json!(text.contains("padding mask")));
    // Losses that form no whole logits: Liger's is the one a plan can say, and it brings norms along.
    Ok(())
}

fn precision(row: &Row, plan: &mut Map<String, Value>) -> Result<(), String> {
    let (weights, mixed) = (row.text("weight_dtype"), row.text("mixed_precision"));
    if mixed.contains("float8") || mixed.contains("mxfp8") {
        return Err(format!("precision {mixed}"));
    }
    let full = weights.starts_with("float32");
    plan.insert("torch_dtype".to_owned(), json!(if full { "float32" } else { "bfloat16" }));
    let autocast = match mixed {
        _ if mixed.starts_with("bf16 autocast") => "bf16",
        _ if mixed.starts_with("fp16 autocast") => "fp16",
        _ => "no",
    };
    plan.insert("mixed_precision".to_owned(), json!(autocast));
    Ok(())
}

fn method(row: &Row, plan: &mut Map<String, Value>) -> Result<(), String> {
    let (text, weights) = (row.text("method"), row.text("weight_dtype"));
    if weights.contains("GPTQ") || weights.contains("torchao") {
        return Err(format!("quantised by {weights}"));
    }
    if row.text("source").contains("-mica.json") || row.text("source").contains("bdlora") {
        return Err("a variant of LoRA".to_owned());
    }
    if text.starts_with("full (sequence classification)") {
        plan.insert("task".to_owned(), json!("sequence_classification"));
    }
    if text.starts_with("full") {
        plan.insert("method".to_owned(), json!("full"));
        return Ok(());
    }
    let quantised = text.starts_with("qlora");
    if !quantised && !text.starts_with("lora") || text.starts_with("lora-fa") {
        return Err(format!("method {text}"));
    }
    plan.insert("method".to_owned(), json!(if quantised { "qlora" } else { "lora" }));
    let saved: &[&str] = if text.contains("trainable wte") { &["embed_tokens", "lm_head"] } else { &[] };
    let bf16 = !weights.contains("adapter float32") && row.text("mixed_precision").contains("pure bf16");
    plan.insert(
        "lora".to_owned(),
        json!({
            "r": row.count("lora_r").unwrap_or(8), "target_modules": targets(row)?, "modules_to_save": saved,
            "adapter_dtype": if bf16 { "bfloat16" } else { "auto" }, "lora_dropout": dropout(row),
        }),
    );
    if quantised {
        // Published before bitsandbytes multiplied short inputs without writing the weight out, and looked values up.
        plan.insert("software".to_owned(), json!({"bitsandbytes": "0.42.0"}));
        let upcasts = row.text("group").starts_with("swift");
        plan.insert(
            "quantization".to_owned(),
            json!({
                "bits": 4, "double_quant": weights.contains("-dq"), "prepare_for_kbit_training": upcasts,
                "fused_4bit_gemm": false,
            }),
        );
    }
    Ok(())
}

/// The scripts' own defaults: fsdp_qlora/train.py 0.1, peft's method comparison 0, 0.05 in Qwen's finetune.py, ms-swift and
/// LitGPT.
fn dropout(row: &Row) -> f64 {
    match row.text("group") {
        group if group.starts_with("fsdpq") => 0.1,
        group if group.starts_with("peft") || group.starts_with("tune") => 0.0,
        _ => 0.05,
    }
}

fn targets(row: &Row) -> Result<Value, String> {
    let neox = row.text("model").contains("stablelm");
    Ok(match row.text("lora_targets") {
        "all linear" | "c_attn, c_proj (attn and mlp), w1, w2" => json!("all-linear"),
        "c_attn" => json!(["q_proj", "k_proj", "v_proj"]),
        text if text.starts_with("q,v") && neox => json!(["query_key_value"]),
        text if text.starts_with("q,v") => json!(["q_proj", "v_proj"]),
        "k,q,v,up,down,gate_proj" => json!(["k_proj", "q_proj", "v_proj", "up_proj", "down_proj", "gate_proj"]),
        "q_proj,v_proj,output_proj + mlp" => json!(["q_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]),
        "" => return Err("adapters' targets not stated".to_owned()),
        text if text.contains(' ') => return Err(format!("targets {text}")),
        text => json!(text.split(',').collect::<Vec<_>>()),
    })
}

fn parallel(row: &Row, plan: &mut Map<String, Value>) -> Result<(), String> {
    let text = row.text("parallel");
    let gpus = row.count("n_gpus").unwrap_or(1);
    let mut set = |key: &str, value: Value| plan.insert(key.to_owned(), value);
    let splits = [" TP", "/TP", "x CP", "CP ", " PP", "device_map", "sequence parallel", "2 nodes", "graph_trainer"];
    if splits.iter().any(|split| text.contains(split)) {
        return Err(format!("parallelism {text}"));
    }
    set("num_gpus", json!(gpus));
    match text {
        "single" => {}
        _ if text.starts_with("ZeRO-") => {
            let stage = text.get(5..6).and_then(|digit| digit.parse::<u64>().ok()).unwrap_or(0);
            set("zero_stage", json!(stage));
            set("distributed", json!({"framework": "deepspeed", "stage3_prefetch_bucket_size": "auto"}));
        }
        _ if text.contains("NO_SHARD") => {
            set("distributed", json!({"framework": "ddp"}));
        }
        _ if text.starts_with("FSDP") => {
            let mut keys = json!({"framework": "fsdp2", "cpu_offload": text.contains("CPU param offload")});
            if row.text("mixed_precision").contains("param bf16") {
                keys["param_dtype"] = json!("bfloat16");
                keys["reduce_dtype"] = json!("float32");
            }
            set("distributed", keys);
        }
        _ => return Err(format!("parallelism {text}")),
    }
    Ok(())
}

fn problems_text(problems: &[Problem]) -> String {
    problems.iter().map(problem_line).collect::<Vec<_>>().join(" | ")
}
