//! Programs come from anywhere: one that is damaged is refused with its place, or runs to an end.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Images, Model, Program, Programs};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

fn llama() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/llama.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn plan(programs: Programs) -> Plan {
    let config = json!({
        "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 16,
        "intermediate_size": 128, "vocab_size": 512
    });
    let plan = json!({
        "model": {"name": "llama", "config": config}, "per_device_train_batch_size": 2, "max_length": 64,
        "method": "lora", "lora": {"target_modules": "all-linear"}
    });
    Plan { programs, ..Plan::from_json(&plan.to_string()).unwrap() }
}

/// Every place in `value`, as a path of keys and numbers.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, inner)| {
            let escaped = key.replace('~', "~0").replace('/', "~1");
            places(inner, &format!("{path}/{escaped}"), found);
        }),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, inner)| places(inner, &format!("{path}/{i}"), found))
        }
        _ => {}
    }
    found.push(path.to_owned());
}

/// Reads a program and runs what can be run of it; whether it was read.
fn survives(program: &Value) -> bool {
    match Program::from_json(&program.to_string()) {
        Ok(read) => {
            let plan = plan(Programs::none().with(read));
            if let Ok(job) = Job::resolve(&plan) {
                let _ = memory::estimate(&job);
            }
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn a_damaged_program_is_refused_or_runs_to_an_end() {
    let whole = llama();
    assert!(survives(&whole));
    let mut found = Vec::new();
    places(&whole, "", &mut found);
    let damages = [
        json!(null),
        json!(-1),
        json!(0),
        json!(3),
        json!(1_000_000),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1.5),
        json!(""),
        json!("t9"),
        json!("i0"),
        json!("o0"),
        json!("hidden_states"),
        json!("x0"),
        json!("w7"),
        json!([]),
        json!({}),
        json!([1, 2, 3]),
    ];
    let (mut refused, mut ran) = (0, 0);
    for (i, place) in found.iter().enumerate().step_by(5) {
        // A fifth of the places, one damage each in turn: all would take minutes.
        let Some(damage) = damages.get(i / 5 % damages.len()) else { continue };
        let mut damaged = whole.clone();
        if let Some(inner) = damaged.pointer_mut(place) {
            *inner = damage.clone();
        }
        if survives(&damaged) { ran += 1 } else { refused += 1 }
    }
    assert!(refused > 150, "{refused} of {} were refused", found.len());
    assert!(ran > 15, "{ran} of {} ran", found.len());
}

/// Gives every operator of `function` another tensor behind its own.
fn give(value: &mut Value, function: usize, tensor: &Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|inner| give(inner, function, tensor)),
        Value::Array(list) => match list.as_mut_slice() {
            [first, Value::Array(tensors), ..] if *first == json!(function) => tensors.push(tensor.clone()),
            inner => inner.iter_mut().for_each(|inner| give(inner, function, tensor)),
        },
        _ => {}
    }
}

#[test]
fn a_cast_takes_the_dtype_of_the_last_of_its_tensors() {
    let mut program = llama();
    let is_cast = |function: &Value| function["f"] == "_to_copy" && function["o"][0][1] == "h";
    let at = program["functions"].as_array().unwrap().iter().position(is_cast).unwrap();
    for code in ["i0", "i1", "i2"] {
        program["functions"][at]["o"][0][1] = json!(code);
        assert!(!survives(&program), "{code}");
    }
    program["functions"][at]["o"][0][1] = json!("i1");
    for key in ["layers", "before", "after"] {
        give(&mut program["programs"][0][key], at, &json!("x0"));
    }
    assert!(survives(&program));
    program["functions"][at]["f"] = json!("add.Tensor");
    assert!(!survives(&program));
}

#[test]
fn loops_end() {
    let mut program = llama();
    let function = program["functions"].as_array().unwrap().len();
    program["functions"].as_array_mut().unwrap().push(json!({"f": "add.Tensor", "o": [[1, "p"]]}));
    let at = program["dims"].as_array().unwrap().len();
    program["dims"].as_array_mut().unwrap().push(json!("b * 1000000000"));
    let mut inner = json!({"times": at, "carry": [], "ops": [[function, ["x0"]]]});
    for _ in 0..3 {
        inner = json!({"times": at, "carry": [], "ops": [inner]});
    }
    let layer = &mut program["programs"][0]["layers"][0];
    layer["ops"].as_array_mut().unwrap().push(inner.clone());
    // What is given is counted from the end, which is one value later now.
    layer["gives"]["hidden_states"] = json!(layer["gives"]["hidden_states"].as_u64().unwrap() + 1);
    assert!(survives(&program));
    let deeper = json!({"times": at, "carry": [], "ops": [inner]});
    *program["programs"][0]["layers"][0]["ops"].as_array_mut().unwrap().last_mut().unwrap() = deeper;
    assert!(!survives(&program));
}

#[test]
fn a_program_of_an_older_format_says_that_it_is() {
    for text in [r#"{"format": 1, "dims": []}"#, r#"[{"format": 1}]"#] {
        let error = Program::from_json(text).unwrap_err().to_string();
        assert!(error.contains("record the model anew"), "{error}");
    }
}

#[test]
fn what_is_of_another_type_is_named_with_its_place() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut program = llama();
        change(&mut program);
        Program::from_json(&program.to_string()).unwrap_err().to_string()
    };
    let layer = |program: &mut Value, key: &str, value| program["programs"][0]["layers"][0][key] = value;
    assert_eq!(
        refused(&|program| layer(program, "ops", json!(3))),
        "programs[0].layers[0].ops: is a number where a list is due"
    );
    assert_eq!(
        refused(&|program| layer(program, "modules", json!([["q_proj", "Linear"]]))),
        "programs[0].layers[0].modules[0]: has 2 entries where 3 are due"
    );
    assert_eq!(
        refused(&|program| drop(program["programs"][0]["head"].as_object_mut().unwrap().remove("name"))),
        "programs[0].head: has no name"
    );
    assert_eq!(
        refused(&|program| program["functions"][0]["f"] = json!(null)),
        "functions[0].f: is null where a text is due"
    );
    assert_eq!(
        refused(&|program| program["programs"][0]["expert_names"] = json!("llama")),
        "expert_names: llama is neither mixtral nor qwen2_moe"
    );
    assert_eq!(
        refused(&|program| program["programs"][0]["head"]["loss"] = json!(["float", "double"])),
        "head.loss: double is none of float, shift and copy"
    );
    assert!(
        refused(&|program| program["programs"][0]["head"]["loss"] = json!(vec!["copy"; 9])).starts_with("head.loss: ")
    );
    assert_eq!(refused(&|program| program["format"] = json!("two")), "format: is no whole number");
}

#[test]
fn what_a_config_lacks_is_named() {
    let read = |config: Value| {
        let programs = Programs::none().with(Program::from_json(&llama().to_string()).unwrap());
        Model::from_config_by("llama", &config, &programs, Images::None)
    };
    // The class's defaults stand for what is not there.
    assert_eq!(read(json!({"model_type": "llama", "num_hidden_layers": 2})).unwrap().vocab_size, 32_000);
    for (config, key) in [
        (json!({"model_type": "llama"}), "num_hidden_layers"),
        (json!({"model_type": "llama", "num_hidden_layers": 1_000_000}), "num_hidden_layers"),
        (json!({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": "wide"}), "hidden_size"),
        (json!({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": [1, 2]}), "hidden_size"),
        (json!({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 1e300}), "hidden_size"),
    ] {
        assert_eq!(read(config.clone()).unwrap_err().key, key, "{config}");
    }
}

#[test]
fn a_program_that_is_listed_and_not_there_is_asked_for() {
    let programs = Programs::none().listing(["qwen3_next".to_owned(), "llama".to_owned()]);
    assert_eq!(programs.missing(&json!({"model_type": "qwen3_next"})), Some("qwen3_next"));
    // Of a multimodal config the text part's.
    let nested = json!({"model_type": "some_vl", "text_config": {"model_type": "qwen3_next"}});
    assert_eq!(programs.missing(&nested), Some("qwen3_next"));
    assert_eq!(programs.missing(&json!({"model_type": "llama"})), Some("llama"));
    assert_eq!(programs.missing(&json!({"model_type": "unheard_of"})), None);
    // What a class takes its text part to be, where no part says it.
    let text = Programs::none().listing(["qwen2_vl_text".to_owned()]);
    let flat = json!({"model_type": "qwen2_vl", "hidden_size": 1536, "vision_config": {}});
    assert_eq!(text.missing(&flat), Some("qwen2_vl_text"));
    let unsaid = json!({"model_type": "qwen2_vl", "text_config": {"hidden_size": 1536}, "vision_config": {}});
    assert_eq!(text.missing(&unsaid), Some("qwen2_vl_text"));
    // Of a class whose large models have a file of their own.
    let beside = Programs::none().listing(["gemma4", "gemma4_large", "gemma4_text"].map(str::to_owned));
    let gemma = |is_large: bool| {
        json!({"model_type": "gemma4", "vision_config": {},
               "text_config": {"model_type": "gemma4_text", "attention_k_eq_v": is_large}})
    };
    assert_eq!(beside.missing(&gemma(false)), Some("gemma4"));
    assert_eq!(beside.missing(&gemma(true)), Some("gemma4_large"));
    // What stands for a class that nothing knows.
    let guesses = Programs::none().listing(["unknown_mixture".to_owned(), "llama".to_owned()]);
    let mut config = json!({"model_type": "unheard_of", "hidden_size": 1024, "intermediate_size": 2816,
                            "num_hidden_layers": 4, "num_attention_heads": 16, "vocab_size": 32000});
    assert_eq!(guesses.missing(&config), Some("llama"));
    config["num_experts"] = json!(8);
    config["num_experts_per_tok"] = json!(2);
    assert_eq!(guesses.missing(&config), Some("unknown_mixture"));
    config["num_experts_per_tok"] = json!(9);
    assert_eq!(guesses.missing(&config), None);
}

#[test]
fn what_no_class_could_run_is_an_error_that_names_the_key() {
    let error = |config: Value| match Model::from_config("test", &config) {
        Err(error) => error,
        Ok(model) => panic!("{config} was read, with {} parameters", model.param_count()),
    };
    let wrong = [json!("32"), json!(-1), json!(0), json!(1e30), json!(4096.5), json!(u64::MAX), json!(true), json!([])];
    for key in ["hidden_size", "num_attention_heads", "num_key_value_heads", "vocab_size", "intermediate_size"] {
        for value in &wrong {
            let error = error(json!({"model_type": "granite", key: value}));
            assert_eq!(error.key, key, "{value}");
            assert!(error.why.contains("whole number"), "{value}: {}", error.why);
        }
    }
    for (config, key) in [
        (json!({"model_type": "granite", "num_attention_heads": 32, "num_key_value_heads": 5}), "num_key_value_heads"),
        (json!({"model_type": "granitemoe", "num_local_experts": 4, "num_experts_per_tok": 5}), "num_experts_per_tok"),
        (json!({"model_type": "granite", "attention_bias": "yes"}), "attention_bias"),
        (json!({"model_type": "granite", "hidden_act": 3}), "hidden_act"),
        // Several operators in the place of one.
        (json!({"model_type": "granite", "hidden_act": "gelu_new"}), "hidden_act"),
        (json!({"model_type": "arcee", "hidden_act": "relu"}), "hidden_act"),
    ] {
        assert_eq!(error(config.clone()).key, key, "{config}");
    }
}
