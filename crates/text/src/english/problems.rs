//! What is wrong with a plan, in English.

use headroom_core::plan::{EngineNeed, Problem, ProblemKind};
use headroom_core::units::{bytes_text, count_text};

/// A problem in one line, after the name of its field: `lora.r: write a whole number here`.
///
/// ```
/// use headroom_core::plan::Plan;
/// use headroom_text::problem_line;
///
/// let problems = Plan::from_json(r#"{"model": "Qwen/Qwen3-4B", "max_lenght": 512}"#).unwrap_err();
/// assert_eq!(problem_line(&problems[0]), "max_lenght: unknown key; did you mean max_length?");
/// ```
pub fn problem_line(problem: &Problem) -> String {
    format!("{}: {}", problem.field, said(problem))
}

/// The same as a sentence, without the name of the field.
pub(super) fn problem(problem: &Problem) -> String {
    let said = said(problem);
    let end = if said.ends_with('?') { "" } else { "." };
    let begins_as_typed = matches!(
        problem.kind,
        ProblemKind::UnknownModel { .. }
            | ProblemKind::UnknownGpu { .. }
            | ProblemKind::NotOneOf { .. }
            | ProblemKind::NotModelled { .. }
    );
    if begins_as_typed {
        // What was typed stays as it is.
        return format!("{said}{end}");
    }
    let mut letters = said.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}{end}", first.to_uppercase(), letters.as_str()))
}

/// What is wrong and the fix, as the end of a line.
fn said(Problem { field, kind }: &Problem) -> String {
    match kind {
        ProblemKind::OutOfRange { value, min, max } => {
            format!("{value} is outside {min} to {max}; choose a value in that range")
        }
        ProblemKind::NotOneOf { value, allowed, nearest } => {
            let nearest = nearest.as_ref().map_or_else(String::new, |near| format!("; did you mean {near}?"));
            format!("{value} is not one of {}{nearest}", allowed.join(", "))
        }
        ProblemKind::WrongType { expected: "object" } => "paste a JSON object here".to_owned(),
        ProblemKind::WrongType { expected } => format!("write {} here", with_article(expected)),
        ProblemKind::UnknownKey { nearest: Some(near) } => format!("unknown key; did you mean {near}?"),
        ProblemKind::UnknownKey { nearest: None } => "unknown key; remove it".to_owned(),
        ProblemKind::UnknownModel { id, matches: 0, candidates } => {
            format!("{id} is not in the catalogue; paste its config.json{}", or_one_of(candidates))
        }
        ProblemKind::UnknownGpu { id, matches: 0, candidates } => {
            format!("{id} is not in the catalogue; give its memory in GiB{}", or_one_of(candidates))
        }
        ProblemKind::UnknownModel { id, matches, candidates } | ProblemKind::UnknownGpu { id, matches, candidates } => {
            let more = match matches.saturating_sub(candidates.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{id} can be {}{more}; choose one", candidates.join(", "))
        }
        ProblemKind::BadConfig { key, why } => format!("config.json, key {key}: {why}"),
        ProblemKind::NotRecorded { model_type, key, why } => format!(
            "the class {model_type} is not known here, and its config is not like Llama's (key {key}: {why}); \
             record it with python -m headroom.record and give the page the file"
        ),
        ProblemKind::ProgramNotFetched { model_type } => format!(
            "the recorded forward code of {model_type} is not here yet; it is fetched with the page, so stay online and reload if it does not come"
        ),
        ProblemKind::AudioNotModelled { model_type } => {
            format!(
                "{model_type} reads or writes sound, and audio is not modelled; choose a model of text or of text and images"
            )
        }
        ProblemKind::NoSuchModule { name, known } => {
            format!("the model has no module {name}; it has {}", known.join(", "))
        }
        ProblemKind::NotDivisible { value, other, other_value, nearest } => {
            let nearest: Vec<String> = nearest.iter().map(ToString::to_string).collect();
            let choose = if nearest.is_empty() { String::new() } else { format!("; choose {}", nearest.join(" or ")) };
            let rule = match (field.as_str(), other.as_str()) {
                ("per_device_train_batch_size", _) => {
                    format!(
                        ", times accumulation steps and GPUs, must be a multiple of {other_value} (answers per prompt)"
                    )
                }
                ("rollout.prompts", _) => format!(" must be a multiple of {other_value} ({other})"),
                (_, "per_device_train_batch_size") => {
                    format!(" must be a multiple or a divisor of {other_value} ({other})")
                }
                (_, "num_gpus") => format!(" must divide {other_value} (num_gpus)"),
                _ => format!(" must divide the {other_value} sequences of the {other}"),
            };
            format!("{value}{rule}{choose}")
        }
        ProblemKind::Contradiction { other, fix } if fix.is_empty() => {
            format!("contradicts {other}; leave {field} empty")
        }
        ProblemKind::Contradiction { other, fix } => format!("contradicts {other}; set {field} to {fix}"),
        ProblemKind::EngineShare { need, least, shorter, in_16_bits } => {
            engine_share(need, least.as_deref(), shorter.as_ref(), in_16_bits.as_deref())
        }
        ProblemKind::NotModelled { value, modelled } => {
            format!("{value} is not modelled; choose one of {}", modelled.join(", "))
        }
        ProblemKind::NotJson { line, column } => {
            format!("not JSON at line {line}, column {column}; check quotes, commas and brackets")
        }
        ProblemKind::TooLong { max_bytes } => format!("longer than {max_bytes} bytes; shorten it"),
        ProblemKind::Missing => "missing; give it".to_owned(),
        ProblemKind::Duplicate => "given more than once; give it once".to_owned(),
        ProblemKind::BadEscape => "the link is damaged here; copy the whole link again".to_owned(),
        ProblemKind::UnknownVersion { value, newest } => format!(
            "version {value} of links is unknown and was read as version {newest}; open the link with a newer Headroom"
        ),
    }
}

fn or_one_of(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!(", or did you mean {}?", candidates.join(", ")) }
}

/// What [`ProblemKind::WrongType`] expects, as a sentence needs it.
fn with_article(expected: &'static str) -> &'static str {
    match expected {
        "number" => "a number",
        "whole number" => "a whole number",
        "list of models" => "a list of models",
        "module names" => "a list of module names",
        "version" => "a version such as 2.15.0",
        "language tag" => "a language tag such as en or zh-Hans",
        other => other,
    }
}

/// Why vLLM does not start with a share, and with which it does.
fn engine_share(
    need: &EngineNeed,
    least: Option<&str>,
    shorter: Option<&(u64, String)>,
    in_16_bits: Option<&str>,
) -> String {
    let [requested, needed, free] = [need.requested, need.needed, need.free].map(bytes_text);
    let why = if need.requested > need.free {
        format!("{} of the GPU is {requested}, and {free} are free when vLLM starts", need.share)
    } else {
        format!("{} of the GPU is {requested}, and vLLM does not start with it", need.share)
    };
    let [weights, cache] = [need.weights, need.cache].map(bytes_text);
    let rest = bytes_text(need.needed.saturating_sub(need.weights).saturating_sub(need.cache));
    let parts = format!(
        "It needs {needed}: weights {weights}, cache for one sequence of {} tokens {cache}, profiling, graphs and buffers {rest}",
        count_text(need.longest)
    );
    let bounded = |(length, share): &(u64, String)| format!("vllm_max_model_length {length} lowers that to {share}");
    match (least, shorter) {
        (Some(least), None) => format!("{why}. {parts}; set it to {least}"),
        (Some(least), Some(shorter)) => format!("{why}. {parts}; set it to {least}; {}", bounded(shorter)),
        (None, Some((length, share))) => {
            format!("{why}. {parts}; no share works; set vllm_max_model_length to {length} and the share to {share}")
        }
        (None, None) if in_16_bits.is_some() => format!(
            "{why}. {parts}; no share works beside frozen weights in float32, which leave {free}; set it to bfloat16 and the share to {}",
            in_16_bits.unwrap_or_default()
        ),
        (None, None) => format!(
            "{why}. {parts}; no share works beside the trainer's models, which leave {free}; use a larger GPU, or vllm_mode server"
        ),
    }
}
