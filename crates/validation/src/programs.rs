//! What recording models anew changes in bytes: the same plans by the programs before and those now.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Images, Model, Program, Programs, catalogue};
use headroom_core::plan::Plan;
use headroom_core::release::Release;
use headroom_text::problem_line;
use serde_json::{Value, json};

/// What is estimated of a class: each with its name and what it says beside the model and its batch.
const PLANS: [(&str, &str); 8] = [
    ("full, sdpa", r#"{"method": "full"}"#),
    ("full, eager", r#"{"method": "full", "attn_implementation": "eager"}"#),
    ("LoRA, sdpa", r#"{"method": "lora", "lora": {"target_modules": "all-linear"}}"#),
    ("full, sdpa, checkpointing", r#"{"method": "full", "gradient_checkpointing": true}"#),
    ("full, fp32 under autocast", r#"{"method": "full", "torch_dtype": "float32", "mixed_precision": "bf16"}"#),
    (
        "LoRA, bf16 under autocast",
        r#"{"method": "lora", "lora": {"target_modules": "all-linear"}, "torch_dtype": "bfloat16", "mixed_precision": "bf16"}"#,
    ),
    (
        "LoRA, eager under autocast",
        r#"{"method": "lora", "lora": {"target_modules": "all-linear"}, "attn_implementation": "eager", "mixed_precision": "bf16"}"#,
    ),
    (
        "QLoRA, checkpointing",
        r#"{"method": "qlora", "lora": {"target_modules": "all-linear"}, "quantization": {"bits": 4, "prepare_for_kbit_training": true}, "gradient_checkpointing": true}"#,
    ),
];

/// Sequences of a batch, and tokens of each: no more than the model has positions for.
const BATCH: u64 = 2;
const LENGTHS: [u64; 2] = [512, 4096];

/// Configs of published checkpoints, a class's own where the catalogue has none of it.
const PUBLISHED: &str = include_str!("../../core/tests/models/totals.in.jsonl");

/// Bytes allocated at a plan's peak, or why there is no estimate.
type Estimated = Result<u64, String>;

/// A plan by both programs.
struct Row {
    plan: String,
    before: Estimated,
    now: Estimated,
}

/// The text of what differs in bytes between two files of a class's programs, under each release of transformers that either has.
///
/// # Errors
/// Which of the two is no file of programs, and why.
pub fn differences(before: &str, now: &str) -> Result<String, String> {
    let read =
        |text, which| Program::from_json(text).map_err(|error| format!("the file {which} cannot be read: {error}"));
    let (old, new) = (read(before, "before")?, read(now, "now")?);
    let Some(model_type) = new.first().map(|program| program.model_type.clone()) else { return Ok(String::new()) };
    let releases: BTreeSet<Release> = old.iter().chain(&new).filter_map(Program::release).collect();
    let (old, new) = (Programs::default().with(old), Programs::default().with(new));
    let (name, config) = config_of(&model_type);
    let sees_images = now.contains("\"vision_tower\"");
    let mut said = String::new();
    for release in releases {
        let rows = rows(&config, sees_images, release, (&old, &new));
        let title = format!("{model_type} ({name}) under transformers {release}");
        let _ = write!(said, "{}", table(&title, &rows));
    }
    Ok(said)
}

/// The smallest model of the catalogue that is of the class itself, or else a published one, or one of the class's defaults, with its name.
fn config_of(model_type: &str) -> (String, Value) {
    let is_of_class = |config: &Value| config.get("model_type").is_some_and(|own| own == model_type);
    let read = |text: &str| serde_json::from_str(text).ok().filter(is_of_class);
    let known = catalogue().iter().filter_map(|model| Some((model, read(model.config)?)));
    if let Some((model, config)) = known.min_by_key(|(model, _)| model.param_count) {
        return (model.id.to_owned(), config);
    }
    let published = PUBLISHED.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut published = published.filter(|model| model.get("config").is_some_and(is_of_class));
    match published.next() {
        Some(mut model) => (model["id"].as_str().unwrap_or_default().to_owned(), model["config"].take()),
        None => ("its class's defaults".to_owned(), json!({"model_type": model_type})),
    }
}

fn rows(config: &Value, sees_images: bool, release: Release, (old, new): (&Programs, &Programs)) -> Vec<Row> {
    let model = Model::from_config_by("recorded", config, new, Images::None).ok();
    let longest = model.and_then(|model| model.max_position_embeddings).unwrap_or(u64::MAX);
    let lengths: BTreeSet<u64> = LENGTHS.iter().map(|length| longest.min(*length)).collect();
    let mut rows = Vec::new();
    for (name, said) in PLANS {
        for length in &lengths {
            let mut plan: Value = serde_json::from_str(said).unwrap_or_default();
            plan["model"] = json!({"name": "recorded", "config": config});
            plan["per_device_train_batch_size"] = json!(BATCH);
            plan["max_length"] = json!(length);
            plan["software"] = json!({"transformers": release.to_string()});
            if sees_images {
                plan["images"] = json!({"per_sample": 1, "height": 336, "width": 336});
            }
            let text = plan.to_string();
            rows.push(Row {
                plan: format!("{name}, b {BATCH}, s {length}"),
                before: estimated(&text, old),
                now: estimated(&text, new),
            });
        }
    }
    rows
}

fn estimated(plan: &str, programs: &Programs) -> Estimated {
    let resolve = |plan: Plan| Job::resolve(&Plan { programs: programs.clone(), ..plan });
    let job = Plan::from_json(plan).and_then(resolve);
    let job = job.map_err(|problems| problems.first().map(problem_line).unwrap_or_default().replace('\n', " "))?;
    Ok(memory::estimate_replayed(&job).peak.allocated_bytes)
}

/// Rows under a title; one line where no byte differs.
fn table(title: &str, rows: &[Row]) -> String {
    let counted = rows.iter().filter(|row| row.before.is_ok() && row.now.is_ok()).count();
    let mut said = String::new();
    if rows.iter().all(|row| row.before == row.now) {
        let _ = match rows.iter().find_map(|row| row.now.as_ref().err()) {
            Some(why) if counted == 0 => writeln!(said, "{title}: none of {} plans is estimated: {why}", rows.len()),
            _ => writeln!(said, "{title}: no byte of {counted} plans differs"),
        };
        return said;
    }
    let _ = writeln!(said, "{title}: bytes allocated at the peak");
    let _ = writeln!(said, "  {:<40} {:>18} {:>18} {:>18}", "", "before", "now", "difference");
    for Row { plan, before, now } in rows {
        let shown =
            |estimated: &Estimated| estimated.as_ref().map_or_else(|_| "none".to_owned(), |bytes| grouped(*bytes));
        let difference = match (before, now) {
            (Ok(before), Ok(now)) if now < before => format!("-{}", grouped(before - now)),
            (Ok(before), Ok(now)) if now > before => format!("+{}", grouped(now - before)),
            (Ok(_), Ok(_)) => "0".to_owned(),
            (Err(why), _) | (_, Err(why)) => why.clone(),
        };
        let _ = writeln!(said, "  {plan:<40} {:>18} {:>18} {difference:>18}", shown(before), shown(now));
    }
    said
}

/// Digits in groups of three.
fn grouped(bytes: u64) -> String {
    let digits = bytes.to_string();
    let mut said = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            said.push(',');
        }
        said.push(digit);
    }
    said
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn digits_stand_in_groups() {
        for (bytes, said) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(bytes), said);
        }
    }

    #[test]
    fn a_table_says_before_now_and_difference() {
        let row = |before, now| Row { plan: "LoRA".to_owned(), before, now };
        let none = || Err("no such width".to_owned());
        let said =
            table("gpt2", &[row(Ok(5_000), Ok(6_024)), row(Ok(9), Ok(8)), row(Ok(7), Ok(7)), row(Ok(1), none())]);
        let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0].join(" "), "gpt2: bytes allocated at the peak");
        assert_eq!(lines[1], ["before", "now", "difference"]);
        assert_eq!(lines[2], ["LoRA", "5,000", "6,024", "+1,024"]);
        assert_eq!(lines[3], ["LoRA", "9", "8", "-1"]);
        assert_eq!(lines[4], ["LoRA", "7", "7", "0"]);
        assert_eq!(lines[5].join(" "), "LoRA 1 none no such width");
        assert_eq!(table("gpt2", &[row(Ok(7), Ok(7)), row(none(), none())]), "gpt2: no byte of 1 plans differs\n");
        let said = table("gpt2", &[row(none(), none())]);
        assert_eq!(said, "gpt2: none of 1 plans is estimated: no such width\n");
    }

    /// The file of a small class, and the same with a second program from `release` on, whose layers keep what their first norm gives.
    fn files(release: &str) -> (String, String) {
        let before = include_str!("../../../static/programs/gpt2.json");
        let mut now: Value = serde_json::from_str(before).unwrap();
        let functions = now["functions"].as_array_mut().unwrap();
        let adds = |function: &Value| function["f"] == "add.Tensor" && function["n"] == json!([[0, 1], []]);
        let add = functions.iter().position(adds).unwrap();
        let mut saving = functions[add].clone();
        saving["n"] = json!([[0, 1], ["i0", "i1"]]);
        saving["t"] = json!([["neg", ["g0", "s0", "s1"], [["i0", "p"]], []]]);
        saving["r"] = json!([["t0", "i0"], ["t0", "i0"]]);
        functions.push(saving);
        let number = functions.len() - 1;
        let mut added = now["programs"].clone();
        for program in added.as_array_mut().unwrap() {
            program["versions"]["transformers"] = json!(release);
            for op in program["layers"][0]["ops"].as_array_mut().unwrap() {
                if op[0] == json!(add) {
                    op[0] = json!(number);
                }
            }
        }
        now["programs"].as_array_mut().unwrap().extend(added.as_array().unwrap().clone());
        (before.to_owned(), now.to_string())
    }

    #[test]
    fn a_version_that_was_added_is_told_in_bytes_under_its_release_alone() {
        let (before, now) = files("5.24.0");
        let said = differences(&before, &now).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].starts_with("gpt2 (")
                && lines[0].ends_with("under transformers 5.23.0: no byte of 16 plans differs"),
            "{said}"
        );
        assert!(lines[1].ends_with("under transformers 5.24.0: bytes allocated at the peak"), "{said}");
        assert_eq!(lines.len(), 3 + PLANS.len() * LENGTHS.len(), "{said}");
        assert!(lines[3].contains("full, sdpa, b 2, s 512 ") && lines[3].contains('+'), "{said}");
        // It has 1,024 positions.
        assert!(lines[4].contains("full, sdpa, b 2, s 1024 ") && lines[4].contains('+'), "{said}");
        // The eager way is as it was.
        assert!(lines[5].contains("full, eager, b 2, s 512 ") && lines[5].ends_with(" 0"), "{said}");
    }

    #[test]
    fn what_is_no_file_of_programs_is_said() {
        let (before, _) = files("5.24.0");
        assert!(differences(&before, "{}").is_err_and(|why| why.starts_with("the file now cannot be read: ")));
        assert_eq!(differences(&before, &before).unwrap().lines().count(), 1);
    }
}
