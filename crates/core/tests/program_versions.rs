//! A file with programs of several releases of transformers: the plan's chooses.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

/// Llama as it was recorded with 5.23.
fn file() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/llama.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The file with a second program: as a release would have been recorded in which rotary positions save the half that they negate.
fn with_older(release: &Value) -> Value {
    let mut file = file();
    let functions = file["functions"].as_array_mut().unwrap();
    let neg = functions.iter().position(|function| function["f"] == "neg").unwrap();
    let mut saving = functions[neg].clone();
    saving["n"] = json!([[0], ["o0"]]);
    saving["t"][0][1] = json!(["g0", "s0"]);
    let number = functions.len();
    functions.push(saving);
    let mut program = file["programs"][0].clone();
    program["versions"]["transformers"] = release.clone();
    let ops = program["layers"][0]["ops"].as_array_mut().unwrap();
    for op in ops.iter_mut().filter(|op| op[0] == json!(neg)) {
        op[0] = json!(number);
    }
    file["programs"].as_array_mut().unwrap().push(program);
    file
}

fn programs(file: &Value) -> Programs {
    Programs::none().with(Program::from_json(&file.to_string()).unwrap())
}

fn plan(programs: &Programs, more: &Value) -> Plan {
    let config = json!({
        "model_type": "llama", "hidden_size": 512, "num_hidden_layers": 3, "num_attention_heads": 8, "head_dim": 64,
        "intermediate_size": 2048, "vocab_size": 512
    });
    let mut plan = json!({
        "model": {"name": "llama", "config": config}, "per_device_train_batch_size": 2, "max_length": 2048
    });
    let fields = plan.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    Plan { programs: programs.clone(), ..Plan::from_json(&plan.to_string()).unwrap() }
}

fn bytes(programs: &Programs, more: &Value) -> u64 {
    let job = Job::resolve(&plan(programs, more)).unwrap();
    memory::estimate(&job).refined(&memory::replay(&job)).peak.allocated_bytes
}

fn under(release: &str) -> Value {
    json!({"software": {"transformers": release}})
}

#[test]
fn the_release_of_a_plan_chooses_the_program() {
    let new = bytes(&programs(&file()), &json!({}));
    let both = programs(&with_older(&json!("5.20.0")));
    let old = bytes(&both, &under("5.20.0"));
    // Of query and key half of each head of each token, 2 bytes each, in three layers.
    assert_eq!(old - new, 3 * 2 * (2 * 2048 * 8 * 32) * 2);
    for (release, expected) in [
        ("4.57.6", old),
        ("5.10.0", old),
        ("5.20", old),
        ("5.22.3", old),
        ("5.23.0", new),
        ("5.23.0.dev0", new),
        ("5.24.1", new),
        ("6.0.0", new),
    ] {
        assert_eq!(bytes(&both, &under(release)), expected, "{release}");
    }
    assert_eq!(bytes(&both, &json!({})), new);
}

#[test]
fn a_trainer_that_says_its_release_chooses_too() {
    let both = programs(&with_older(&json!("5.20.0")));
    let with = |trainer: &Value, software: &Value| {
        let said = json!({
            "trainer": trainer, "software": software, "mixed_precision": "no", "torch_dtype": "bfloat16",
            "gradient_checkpointing": false
        });
        bytes(&both, &said)
    };
    let (none, older) = (json!({}), json!({"transformers": "5.20.0"}));
    let trainer = |version: &str| json!({"name": "transformers", "version": version});
    let (old, new) = (with(&trainer("5.23.0"), &older), with(&trainer("5.23.0"), &none));
    assert!(old > new);
    // The plan's own word goes before its trainer's.
    assert_eq!(with(&trainer("5.20.0"), &none), old);
    assert_eq!(with(&trainer("5.20.0"), &json!({"transformers": "5.23.0"})), new);
    let trl = |version: &str, software: &Value| with(&json!({"name": "trl", "version": version}), software);
    assert_eq!(trl("1.16.0", &older) - trl("1.16.0", &none), old - new);
    // Measured with 4.57.
    assert_eq!(trl("0.24.0", &none), trl("0.24.0", &older));
    assert!(trl("0.24.0", &json!({"transformers": "5.23.0"})) < trl("0.24.0", &none));
}

#[test]
fn a_job_that_is_resolved_anew_takes_the_other_program() {
    let both = programs(&with_older(&json!("5.20.0")));
    let new = Job::resolve(&plan(&both, &json!({}))).unwrap();
    let old = new.with(plan(&both, &under("5.20.0"))).unwrap();
    assert_eq!(memory::estimate(&old), memory::estimate(&Job::resolve(&plan(&both, &under("5.20.0"))).unwrap()));
    assert!(memory::estimate(&old).peak.allocated_bytes > memory::estimate(&new).peak.allocated_bytes);
}

#[test]
fn releases_that_cannot_be_read_are_older_than_any() {
    let new = bytes(&programs(&file()), &json!({}));
    for release in ["", "abc", "v5.20", "-1", "99999999999999999999.1", "\u{665}.20", ".", "5".repeat(9_999).as_str()] {
        let both = programs(&with_older(&json!(release)));
        for asked in ["5.23.0", "6.0.0"] {
            assert_eq!(bytes(&both, &under(asked)), new, "{release}");
        }
        assert_eq!(bytes(&both, &json!({})), new, "{release}");
        assert!(bytes(&both, &under("0.0.1")) > new, "{release}");
    }
    // Newer than any plan: the other one holds until then.
    let later = programs(&with_older(&json!("4294967295.4294967295.4294967295")));
    assert_eq!(bytes(&later, &under("5.23.0")), new);
    assert!(bytes(&later, &json!({})) > new);
    for release in [json!(5), json!(null), json!(["5.20"])] {
        assert!(Program::from_json(&with_older(&release).to_string()).is_err(), "{release}");
    }
}

/// Transformers up to 5.14 took flash-linear-attention's gated norm, one kernel that keeps what it reads; later ones compute it in
/// operators of PyTorch's.
#[test]
fn the_gated_norm_of_qwen_3_5_is_that_of_its_release() {
    let held = |release: &str, package: &str| {
        let plan = json!({
            "model": "Qwen/Qwen3.5-4B", "gpu": "h200", "method": "full", "max_length": 4096,
            "software": {"transformers": release, "flash_linear_attention": package, "causal_conv1d": "1.7.0"},
        });
        let job = Job::resolve(&Plan::from_json(&plan.to_string()).unwrap()).unwrap();
        let estimate = memory::estimate(&job);
        estimate.phases.iter().find(|phase| phase.phase == memory::Phase::Loss).unwrap().allocated_bytes
    };
    let (fused, apart) = (held("5.14.1", "0.5.2"), held("5.15.0", "0.5.2"));
    // In each of 24 layers 4,096 tokens of 32 heads of 128: three fp32 tensors and two in 16 bits (what is normed, the gate and its
    // silu; normed, and times the weight) in place of what is normed and the gate in 16 bits.
    let each = (apart - fused) as f64 / (24 * 4096 * 4096) as f64;
    assert!((each - 12.0).abs() < 0.1, "{each}");
    assert_eq!(held("5.5.0", "0.5.2"), fused);
    assert_eq!(held("5.23.0", "0.5.2"), apart);
}
