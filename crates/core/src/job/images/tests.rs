#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::processors::{Rule, nearest_grid};
use super::{ImageRule, refused, seen};
use crate::job::Job;
use crate::model::{Program, Programs};
use crate::plan::{Plan, SampleImages, TrainerName};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The job of a measured step with images, read by `program`.
fn job(id: &str, program: &str) -> Job {
    let text = std::fs::read_to_string(root().join("tests/programs/measured.jsonl")).unwrap();
    let mut cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let plan = cases.find(|case| case["id"] == id).unwrap()["plan"].clone();
    by(program, &plan)
}

fn by(program: &str, plan: &Value) -> Job {
    let text = std::fs::read_to_string(root().join(format!("static/programs/{program}.json"))).unwrap();
    let plan = Plan::from_json(&plan.to_string()).unwrap();
    let programs = Programs::none().with(Program::from_json(&text).unwrap());
    Job::resolve(&Plan { programs, ..plan }).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Every processor of `python/image_sizes.py` with the jobs of the classes that have it.
fn classes() -> Vec<(&'static str, Vec<Job>)> {
    let smolvlm2 = "HuggingFaceTB/SmolVLM2-500M-Video-Instruct";
    let smolvlm2 = json!({"model": smolvlm2, "images": {"per_sample": 1}, "max_length": 4_096});
    let qwen3 = [
        job("qwen3_vl-lora-lm", "qwen3_vl"),
        job("qwen3_vl_moe-full", "qwen3_vl_moe"),
        job("qwen3_5_vl-full", "qwen3_5"),
        job("qwen3_5_moe_vl-full-gc", "qwen3_5_moe"),
    ];
    vec![
        ("qwen2_vl", vec![job("qwen2_vl-full", "qwen2_vl"), job("qwen2_5_vl-frozen-tower", "qwen2_5_vl")]),
        ("qwen3_vl", qwen3.to_vec()),
        ("qwen3_omni", vec![job("qwen3_omni_vl-full", "qwen3_omni_moe_thinker")]),
        ("exaone4_5", vec![job("exaone4_5-full", "exaone4_5")]),
        ("glm4v", vec![job("glm4v-full", "glm4v"), job("glm4v_moe-full", "glm4v_moe")]),
        ("glm46v", vec![job("glm46v-full", "glm46v"), job("glm_ocr-full", "glm_ocr")]),
        ("muse_glimmer", vec![job("muse_glimmer-full", "muse_glimmer")]),
        ("internvl", vec![job("internvl-full", "internvl")]),
        ("llama4", vec![job("llama4_vl-full", "llama4")]),
        ("mllama", vec![job("mllama-lora-lm", "mllama")]),
        ("gemma3", vec![job("gemma3_vl-lora-all", "gemma3")]),
        ("gemma4", vec![job("gemma4_vl-full-gc", "gemma4")]),
        ("mistral3", vec![job("mistral3-full", "mistral3")]),
        ("idefics3", vec![job("idefics3-full", "idefics3")]),
        ("smolvlm", vec![job("smolvlm-full", "smolvlm")]),
        ("smolvlm2", vec![by("smolvlm", &smolvlm2)]),
        ("llava", vec![job("llava_vl-full", "llava")]),
        ("paligemma", vec![job("paligemma-full", "paligemma")]),
        ("llava_next", vec![job("llava_next-full", "llava_next")]),
        ("llava_onevision", vec![job("llava_onevision-full", "llava_onevision")]),
    ]
}

/// `tests/images/processors.jsonl` is what the processors of transformers 5.23 make of images of tiny, huge, long and ordinary sizes:
/// `python/image_sizes.py` runs them.
#[test]
fn images_become_what_their_processors_make_of_them() {
    let text = std::fs::read_to_string(root().join("tests/images/processors.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (processor, jobs) in classes() {
        for row in rows.iter().filter(|row| row[0] == processor) {
            let side = |i: usize| row[i].as_u64();
            for job in &jobs {
                let images =
                    SampleImages { per_sample: Some(1), height: side(1), width: side(2), ..Default::default() };
                let image = seen(&Plan { images, ..job.plan.clone() }, &job.model);
                let found = image.map_or(Value::Null, |image| json!([image.tiles, image.patches, image.positions]));
                if found != row[3] {
                    wrong.push(format!("{}: {row} {found}", job.model.model_type));
                }
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, rows.len());
}

const SQUARES: [(u64, u64); 8] =
    [(100, 4), (337, 12), (500, 17), (512, 19), (768, 28), (1_000, 36), (1_024, 37), (1_920, 64)];

/// What CPython 3.11 gives for `smart_resize` of image_processing_muse_glimmer.py, merged patches of 28 pixels.
#[test]
fn square_images_become_the_grid_that_python_finds_first() {
    let side = |pixels: u64| nearest_grid((pixels, pixels), 4_096, 28);
    let found = SQUARES.map(|(pixels, _)| (pixels, side(pixels).0));
    assert_eq!(found, SQUARES);
}

/// `smart_resize` with that bound, and behind LLaMA-Factory's scaling.
#[test]
fn pixels_of_an_image_are_bounded_by_the_processor_or_before_it() {
    let job = job("qwen2_5_vl-frozen-tower", "qwen2_5_vl");
    let positions = |trainer: TrainerName, (height, width): (u64, u64), most: u64| {
        let images = SampleImages {
            per_sample: Some(1),
            height: Some(height),
            width: Some(width),
            max_pixels: Some(most),
            ..Default::default()
        };
        let mut plan = Plan { images, ..job.plan.clone() };
        plan.trainer.name = trainer;
        seen(&plan, &job.model).unwrap().positions
    };
    let of = |trainer| {
        [((8_000, 8_000), 1_003_520), ((1_200, 1_600), 262_144), ((600, 800), 1_003_520)]
            .map(|(sides, most)| positions(trainer, sides, most))
    };
    assert_eq!(of(TrainerName::MsSwift), [1_225, 315, 609]);
    assert_eq!(of(TrainerName::LlamaFactory), [1_296, 336, 609]);
}

#[test]
fn what_the_plan_says_goes_before_the_rule() {
    let internvl = job("internvl-full", "internvl");
    let said = |images: Value| {
        let plan = internvl.plan.clone();
        let of = |key: &str| images[key].as_u64();
        let images = SampleImages {
            per_sample: Some(1),
            height: of("height"),
            width: of("width"),
            tiles: of("tiles"),
            positions: of("positions"),
            ..Default::default()
        };
        let image = seen(&Plan { images, ..plan }, &internvl.model).unwrap();
        (image.tiles, image.positions, image.is_assumed)
    };
    // 8,000 pixels each way are one shape with the tile: two and a half thousand patches are enough for three by three of it.
    assert_eq!(said(json!({"height": 8_000, "width": 8_000})), (10, 2_560, false));
    assert_eq!(said(json!({"height": 8_000, "width": 8_000, "tiles": 5})), (5, 1_280, false));
    assert_eq!(said(json!({"height": 448, "width": 448, "positions": 300})), (1, 300, false));
    assert_eq!(said(json!({})), (10, 2_560, true));
}

#[test]
fn positions_of_images_fit_the_sequence() {
    let job = job("qwen2_5_vl-frozen-tower", "qwen2_5_vl");
    let with = |per_sample: u64, side: Option<u64>, width: Option<u64>| {
        let images = SampleImages { per_sample: Some(per_sample), height: side, width, ..Default::default() };
        refused(&Plan { images, ..job.plan.clone() }, &job.model).map(|problem| problem.field)
    };
    // 1,024 positions each, of 2,048.
    assert_eq!(with(2, Some(896), None), None);
    assert_eq!(with(3, Some(896), None).as_deref(), Some("max_length"));
    // A size that the plan does not say is assumed, 1,369 positions each, and has to fit like one that it says.
    assert_eq!(with(1, None, None), None);
    assert_eq!(with(2, None, None).as_deref(), Some("max_length"));
    // 200 times as long as the other side, and longer.
    assert_eq!(with(1, Some(28), Some(5_600)), None);
    assert_eq!(with(1, Some(28), Some(5_601)).as_deref(), Some("images.height"));
    assert_eq!(with(1, Some(5_601), Some(28)).as_deref(), Some("images.width"));
}

#[test]
fn every_recorded_class_with_images_has_a_rule() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("static/programs")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        for program in file["programs"].as_array().unwrap() {
            if program["inputs"].get("pixel_values").is_some() {
                let (_, rule) = Rule::of(program["model_type"].as_str().unwrap());
                assert_ne!(rule, ImageRule::Unknown, "{}", program["model_type"]);
                seen += 1;
            }
        }
    }
    assert!(seen >= 24);
    assert_eq!(Rule::of("another"), (Rule::Rounded, ImageRule::Unknown));
}
