//! Plans with images: what a tower adds, what stays frozen, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Program, Programs};
use headroom_core::plan::{Plan, Problem, ProblemKind};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn programs() -> Programs {
    static ALL: std::sync::OnceLock<Programs> = std::sync::OnceLock::new();
    ALL.get_or_init(read_programs).clone()
}

fn read_programs() -> Programs {
    let read = |name: &str| {
        let text = std::fs::read_to_string(root().join("static/programs").join(name)).unwrap();
        Program::from_json(&text).unwrap()
    };
    let names = std::fs::read_dir(root().join("static/programs")).unwrap();
    names.fold(Programs::none(), |all, file| all.with(read(file.unwrap().file_name().to_str().unwrap())))
}

/// The plan of a measured step, with other values of some keys.
fn plan(id: &str, changes: Value) -> Plan {
    let text = std::fs::read_to_string(root().join("tests/programs/measured.jsonl")).unwrap();
    let mut cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut plan = cases.find(|case| case["id"] == id).unwrap()["plan"].clone();
    for (key, value) in changes.as_object().unwrap() {
        if value.is_null() {
            plan.as_object_mut().unwrap().remove(key);
        } else {
            plan[key] = value.clone();
        }
    }
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|problems| panic!("{problems:?}"));
    Plan { programs: programs(), ..plan }
}

fn peak(id: &str, changes: Value) -> memory::Estimate {
    memory::estimate(&Job::resolve(&plan(id, changes)).unwrap_or_else(|problems| panic!("{problems:?}")))
}

fn refused(id: &str, changes: Value) -> Vec<Problem> {
    Job::resolve(&plan(id, changes)).unwrap_err()
}

const FROZEN: &str = "qwen2_5_vl-frozen-tower";

#[test]
fn more_images_and_larger_ones_take_more() {
    let sized = |per_sample: u64, side: u64| {
        let images = json!({"per_sample": per_sample, "height": side, "width": side});
        peak(FROZEN, json!({"images": images, "max_length": 4096}))
    };
    let bytes = |estimate: &memory::Estimate| estimate.peak.allocated_bytes;
    let (one, two, large) = (sized(1, 896), sized(2, 896), sized(1, 1792));
    assert!(bytes(&two) > bytes(&one));
    // Four times the patches of the one image; the second adds as many again.
    assert!(bytes(&large) > bytes(&two));
}

#[test]
fn an_image_of_pixels_is_brought_to_the_longest_side_and_rounded_up() {
    let sized = |height: u64, width: u64| {
        let images = json!({"images": {"per_sample": 1, "height": height, "width": width}});
        peak("mistral3-full", images).peak.allocated_bytes
    };
    // The longest side is 1,540 pixels, the step 28.
    assert_eq!(sized(3080, 1540), sized(1540, 770));
    assert_eq!(sized(1093, 869), sized(1120, 896));
    assert!(sized(1092, 896) < sized(1093, 896));
    // 4,836 patches are no multiple of eight: each layer pads a copy of the mask that 5,120 share.
    assert!(sized(1092, 868) > sized(1093, 869));
}

#[test]
fn an_image_is_cut_into_tiles_of_its_shape() {
    let of = |images: Value| peak("smolvlm-full", json!({"images": images})).peak.allocated_bytes;
    // Four tiles wide and three high, and the whole image.
    let cut = of(json!({"per_sample": 1, "height": 1200, "width": 1600}));
    assert_eq!(cut, of(json!({"per_sample": 1, "tiles": 13})));
    // One row of pixels more is cut off, two are brought to an even number and begin a row of tiles.
    assert_eq!(cut, of(json!({"per_sample": 1, "height": 1201, "width": 1600})));
    assert!(cut < of(json!({"per_sample": 1, "height": 1202, "width": 1600})));
}

#[test]
fn an_image_that_takes_more_than_the_sequence_is_refused() {
    let of = |changes: Value| refused(FROZEN, changes);
    let large = json!({"per_sample": 1, "height": 1792, "width": 1792});
    let contradiction = ProblemKind::Contradiction { other: "images.per_sample".to_owned(), fix: "4096".to_owned() };
    assert_eq!(of(json!({"images": large})), [Problem { field: "max_length".to_owned(), kind: contradiction }]);
    // Beyond 12,845,056 pixels the processor shrinks it: 16,384 positions at most.
    let fits = |max_length: u64| {
        let images = json!({"per_sample": 1, "height": 8000, "width": 8000});
        Job::resolve(&plan(FROZEN, json!({"images": images, "max_length": max_length}))).is_ok()
    };
    assert!(!fits(16_383) && fits(16_384));
}

#[test]
fn what_hears_sound_weighs_and_gets_no_gradient() {
    let whole = peak("qwen3_omni_vl-full", json!({}));
    let frozen = peak("qwen3_omni_vl-full", json!({"freeze": ["audio_tower"]}));
    assert_eq!(whole.param_count, frozen.param_count);
    assert!(whole.trainable_count > frozen.trainable_count);
    assert_eq!(whole.peak.allocated_bytes, frozen.peak.allocated_bytes);
}

#[test]
fn audio_is_refused_by_name_where_no_text_part_stands_for_a_class() {
    let of = |config: Value| {
        let plan = json!({"model": {"name": "own", "config": config}});
        let plan = Plan::from_json(&plan.to_string()).unwrap();
        let read = |name: &str| {
            let text = std::fs::read_to_string(root().join("static/programs").join(name)).unwrap();
            Program::from_json(&text).unwrap()
        };
        let programs = Programs::none().with(read("llama.json")).with(read("qwen2.json"));
        Job::resolve(&Plan { programs, ..plan }).map(|job| memory::estimate(&job).notes)
    };
    let sizes = json!({"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512,
        "vocab_size": 1000, "num_key_value_heads": 4});
    let named = |model_type: &str| {
        let mut config = sizes.clone();
        config["model_type"] = model_type.into();
        config
    };
    for model_type in ["whisper", "csm"] {
        let kind = ProblemKind::AudioNotModelled { model_type: model_type.to_owned() };
        assert_eq!(of(named(model_type)).unwrap_err(), [Problem { field: "model.config".to_owned(), kind }]);
    }
    let thinker = json!({"model_type": "qwen2_5_omni_thinker", "text_config": named("qwen2"), "audio_config": {}});
    for (model_type, part, text) in [
        ("voxtral", "text_config", named("llama")),
        ("qwen2_audio", "text_config", named("qwen2")),
        ("qwen2_5_omni", "thinker_config", thinker),
    ] {
        let notes = of(json!({"model_type": model_type, part: text, "audio_config": {}})).unwrap();
        assert!(notes.contains(&memory::Note::TextPart { of: model_type.to_owned() }), "{model_type}: {notes:?}");
    }
}

#[test]
fn frozen_parts_train_nothing() {
    let count = |freeze: Value| peak(FROZEN, json!({"freeze": freeze})).trainable_count;
    let whole = count(json!([]));
    let parts = ["vision_tower", "multi_modal_projector", "language_model"];
    let less: u64 = parts.iter().map(|part| whole - count(json!([part]))).sum();
    assert_eq!(less, whole);
    assert!(parts.iter().all(|part| count(json!([part])) < whole));
}

/// What the parts of a plan's model go by.
fn names(id: &str, changes: Value) -> Vec<String> {
    let mut changes = changes;
    changes["freeze"] = json!(["tower"]);
    match refused(id, changes).as_slice() {
        [Problem { kind: ProblemKind::NoSuchModule { name, known }, .. }] if name == "tower" => known.clone(),
        problems => panic!("{problems:?}"),
    }
}

#[test]
fn parts_are_frozen_by_the_names_of_classes_and_of_settings() {
    let trained = |images: bool, freeze: Value| {
        let mut changes = json!({"freeze": freeze});
        if !images {
            changes["images"] = Value::Null;
        }
        let estimate = peak(FROZEN, changes);
        (estimate.trainable_count, estimate.peak.allocated_bytes)
    };
    let both = json!(["vision_tower", "multi_modal_projector"]);
    for images in [true, false] {
        let of = |freeze: Value| trained(images, freeze);
        // Qwen's tower has the projector in it.
        for whole in ["visual", "model.visual", "base_model.model.model.visual"] {
            assert_eq!(of(json!([whole])), of(both.clone()), "{whole}");
        }
        for tower in [json!(["vit"]), json!(["visual.blocks", "model.visual.patch_embed"])] {
            assert_eq!(of(tower.clone()), of(json!(["vision_tower"])), "{tower}");
        }
        for projector in ["aligner", "visual.merger", "model.visual.merger"] {
            assert_eq!(of(json!([projector])), of(json!(["multi_modal_projector"])), "{projector}");
        }
        for text in [json!(["llm"]), json!(["model.language_model", "lm_head"])] {
            assert_eq!(of(text.clone()), of(json!(["language_model"])), "{text}");
        }
        // The class's text part does not have its head.
        let (head, _) = of(json!(["visual", "model.language_model"]));
        assert_eq!(head, 152_064 * 3_584);
    }
    // A single layer, a part of another class.
    for name in ["visual.blocks.3", "vision_model", "multi_modal_projector.linear_1"] {
        let problems = refused(FROZEN, json!({"freeze": [name]}));
        assert!(matches!(problems.as_slice(), [Problem { kind: ProblemKind::NoSuchModule { .. }, .. }]), "{name}");
    }
}

#[test]
fn a_head_that_is_the_table_of_embeddings_stays_with_it() {
    let count = |freeze: Value| peak("mistral3-frozen-tower", json!({"freeze": freeze})).trainable_count;
    let table = count(json!(["model.language_model.embed_tokens"]));
    assert!(table < count(json!([])));
    assert_eq!(count(json!(["lm_head"])), table);
}

#[test]
fn every_class_says_names_that_make_up_its_parts() {
    for id in [
        FROZEN,
        "qwen3_vl-lora-lm",
        "mistral3-frozen-tower",
        "qwen3_omni_vl-frozen-tower",
        "smolvlm-frozen-tower",
        "gemma3_vl-frozen-tower",
        "gemma4_vl-frozen-tower",
        "llama4_vl-frozen-tower",
        "mllama-frozen-tower",
        "internvl-frozen-tower",
        "idefics3-frozen-tower",
        "llava_vl-frozen-tower-gc",
        "llava_next-frozen-tower",
        "paligemma-frozen-tower",
        "muse_glimmer-frozen-tower",
        "glm4v-frozen-tower",
    ] {
        for images in [true, false] {
            let of = |freeze: Value| {
                let mut changes = json!({"freeze": freeze, "method": "full", "lora": null});
                if !images {
                    changes["images"] = Value::Null;
                }
                changes
            };
            let count = |freeze: Value| peak(id, of(freeze)).trainable_count;
            let known = names(id, of(json!([])));
            // With `model` before it a name is never a plan's.
            let own: Vec<String> = known.iter().map(|name| format!("model.{name}")).collect();
            let own: Vec<&String> =
                own.iter().filter(|name| Job::resolve(&plan(id, of(json!([name])))).is_ok()).collect();
            assert_eq!(count(json!(own)), 0, "{id}: {own:?}");
            for name in &own {
                assert!(count(json!([name])) < count(json!([])), "{id}: {name}");
            }
        }
    }
}

#[test]
fn a_tower_without_images_weighs_and_does_not_run() {
    let text = peak(FROZEN, json!({"images": null}));
    let images = peak(FROZEN, json!({}));
    assert_eq!(text.param_count, images.param_count);
    assert!(text.peak.allocated_bytes < images.peak.allocated_bytes);
}

#[test]
fn what_was_not_compared_with_anything_is_refused_by_name() {
    let contradicts = |changes: Value| match refused(FROZEN, changes).as_slice() {
        [Problem { field, kind: ProblemKind::Contradiction { other, .. }, .. }] => (field.to_string(), other.clone()),
        problems => panic!("{problems:?}"),
    };
    let images = || "images.per_sample".to_owned();
    assert_eq!(contradicts(json!({"attn_implementation": "eager"})), ("attn_implementation".to_owned(), images()));
    // Its flat tensors have frozen parts and parts that train.
    let fsdp1 = json!({"num_gpus": 8, "zero_stage": 3, "distributed": {"framework": "fsdp1"}});
    assert_eq!(contradicts(fsdp1), ("distributed.framework".to_owned(), "freeze".to_owned()));
    assert_eq!(contradicts(json!({"model": "Qwen/Qwen3-4B"})), (images(), "model".to_owned()));
    let named = json!([
        "vision_tower",
        "multi_modal_projector",
        "language_model",
        "visual",
        "visual.patch_embed",
        "visual.blocks",
        "visual.merger",
        "lm_head"
    ]);
    assert_eq!(json!(names(FROZEN, json!({}))), named);
}

/// Bytes at the peak of a step with Qwen2.5-VL's tower frozen and adapters on its text.
fn with_frozen_tower(changes: Value) -> u64 {
    peak("qwen2_5_vl-lora-text-gc-transformers-4", changes).peak.allocated_bytes
}

#[test]
fn what_a_frozen_tower_keeps_follows_the_release_of_transformers() {
    let by = |release: &str| with_frozen_tower(json!({"software": {"transformers": release}}));
    let (none, inputs) = (by("4.57.6"), by("5.0.0"));
    assert_eq!([by("5.24.0"), with_frozen_tower(json!({"software": null}))], [inputs, inputs]);
    // What 32 layers read at the peak of the text's backward: 4,096 patches of 1,280 in bf16.
    let of_layers = 32 * 4_096 * 1_280 * 2;
    assert!(inputs - none > of_layers && inputs - none < of_layers + of_layers / 4, "{} bytes", inputs - none);
    // SmolVLM's own function reached its tower before.
    let smolvlm = |release: &str| peak("smolvlm-lora-lm-gc", json!({"software": {"transformers": release}}));
    assert_eq!(smolvlm("4.57.6").peak.allocated_bytes, smolvlm("5.0.0").peak.allocated_bytes);
}

#[test]
fn what_a_frozen_tower_keeps_follows_the_trainer() {
    let by = |name: &str, version: &str, changes: Value| {
        let mut all = json!({"software": null, "trainer": {"name": name, "version": version}});
        all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        with_frozen_tower(all)
    };
    // LLaMA-Factory runs frozen layers without a checkpoint, and only peft's hook makes what they read require gradients.
    let factory = |changes| by("llamafactory", "0.9.5", changes);
    let lora = factory(json!({}));
    assert!(lora > factory(json!({"software": {"transformers": "4.57.6"}})) + (5 << 30));
    let full = |release: &str| factory(json!({"method": "full", "software": {"transformers": release}}));
    assert_eq!(full("4.57.6"), full("5.6.0"));
    // ms-swift switches the graph off since 4.6, unless something of the tower trains.
    let swift = |version: &str, freeze: Value| by("ms-swift", version, json!({"freeze": freeze}));
    let parts = json!(["vision_tower", "multi_modal_projector"]);
    assert!(swift("4.5.3", parts.clone()) > swift("4.6.0", parts) + (300 << 20));
    let lora = json!({"r": 16, "target_modules": "all-linear"});
    let all = |version: &str| by("ms-swift", version, json!({"freeze": [], "lora": lora}));
    assert_eq!(all("4.5.3"), all("4.6.0"));
}
