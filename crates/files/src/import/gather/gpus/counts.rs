//! How many GPUs a text says there are.

use super::lines;
use super::places::sentence;
use crate::syntax::{Source, Span};

/// `GPU number: 4` of `llamafactory-cli env`.
pub(super) fn listed_count(text: &str) -> Option<(i64, Span)> {
    let source = Source::new(text);
    lines(text).find_map(|(start, line)| {
        // What accelerate prints of the GPUs that it found (commands/launch.py `_validate_launch_command`).
        let printed = line.trim().strip_prefix("`--num_processes` was set to a value of `");
        if let Some(count) = printed.and_then(|rest| rest.split('`').next()?.parse::<i64>().ok()) {
            return (count > 0).then(|| (count, source.span(start, start + line.len())));
        }
        let (label, value) = line.trim().trim_start_matches(['-', '*', ' ']).split_once(':')?;
        let is_count = ["gpu number", "gpu count"].contains(&label.trim().to_ascii_lowercase().as_str());
        let count = value.trim().parse::<i64>().ok().filter(|count| is_count && *count > 0)?;
        Some((count, source.span(start, start + line.len())))
    })
}

/// `with 4 GPUs` of a note, where all its sentences say the same number.
pub(super) fn told_count(text: &str) -> Option<(i64, Span)> {
    let source = Source::new(text);
    let mut found: Option<(i64, Span)> = None;
    for (start, line) in lines(text) {
        if sentence(line, true).is_some() {
            // Of `2台4卡(8卡)` what one machine has counts: its number of machines stands in the command.
            let each = on_each(line);
            for count in each.into_iter().chain(unnamed_counts(line).filter(|_| each.is_none())) {
                match found {
                    Some((other, _)) if count != other => return None,
                    Some(_) => {}
                    None => found = Some((count, source.span(start, start + line.len()))),
                }
            }
        }
        // A condition holds for its clause.
        let clauses = line.split([',', '，', '。', ';', '；', '!', '?']).flat_map(|clause| clause.split(". "));
        let words: Vec<&str> = clauses.filter(|clause| counts_run(clause)).flat_map(str::split_whitespace).collect();
        for pair in words.windows(2) {
            let [count, unit] = pair else { continue };
            let unit = unit.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_ascii_lowercase();
            let count = count.parse::<i64>().ok().filter(|count| *count > 0 && (unit == "gpus" || unit == "gpu"));
            match (count, found) {
                (Some(count), Some((other, _))) if count != other => return None,
                (Some(count), None) => found = Some((count, source.span(start, start + line.len()))),
                _ => {}
            }
        }
    }
    found
}

/// Whether a clause says what the run has: an engine beside it has GPUs of its own.
fn counts_run(clause: &str) -> bool {
    !clause.to_ascii_lowercase().contains("vllm") && sentence(clause, true).is_some()
}

/// The GPUs of one machine of several: `2台4卡`, `2机8卡`, `2台机器每台8卡`.
fn on_each(line: &str) -> Option<i64> {
    let (before, behind) = ["台", "机", "个节点"].iter().find_map(|unit| line.split_once(unit))?;
    let behind = ["机器", "服务器", "机", "，", "每台", "每个节点", "各"]
        .iter()
        .fold(behind, |behind, word| behind.strip_prefix(word).unwrap_or(behind));
    let digits = behind.find(|letter: char| !letter.is_ascii_digit())?;
    let counts = before.ends_with(|last: char| last.is_ascii_digit() || "两二三四".contains(last));
    let unit = behind[digits..].trim_start();
    let is_unit = unit.starts_with(['卡', '张', '块']) || unit.starts_with("个GPU");
    behind[..digits].parse().ok().filter(|count| counts && is_unit && (1..=64).contains(count))
}

/// Numbers of GPUs as Chinese sentences count them without their name: `在7卡上`, `4张显卡`, `8块GPU`.
pub(super) fn unnamed_counts(line: &str) -> impl Iterator<Item = i64> {
    const UNITS: [&str; 9] = ["卡", "张卡", "块卡", "张显卡", "块显卡", "个显卡", "张GPU", "块GPU", "个GPU"];
    const MOST: i64 = 4096;
    line.match_indices(|letter: char| letter.is_ascii_digit()).filter_map(move |(at, _)| {
        let is_first =
            !line[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || "._-*x×".contains(before));
        let digits = line[at..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(line.len() - at);
        let behind = line[at + digits..].trim_start_matches(' ');
        let is_unit = UNITS.iter().any(|unit| behind.starts_with(unit));
        // A name behind it is counted with the name.
        let name = behind.trim_start_matches(['张', '块', '个', '卡']).trim_start();
        let is_named = name.starts_with(|first: char| first.is_ascii_alphanumeric()) && !name.starts_with("GPU");
        let count = line[at..at + digits].parse::<i64>().ok().filter(|count| (1..=MOST).contains(count));
        count.filter(|_| is_first && is_unit && !is_named)
    })
}
