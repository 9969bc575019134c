//! The table of measured steps as text: a line a step, under a line for its file and one for its setting.
//!
//! ```text
//! covered 84 89
//! = fit
//! + sft lora 0 none true bfloat16 no sdpa adamw_torch
//! meta-llama/Llama-3.2-3B 3224 1x4096x1 fit-lora-190 a337398-12 r351040+31 e339173+4
//! ```
//!
//! A figure is the metric's letter, tenths of a MiB measured, and the signed error of the estimate in hundredths of a
//! per cent. Sorted by setting, so that equal words stand near each other: what the page fetches of it is compressed.

use super::{Figure, Metric, Setting, Sharding, Validated};
use crate::plan::{AttnImplementation, Dtype, Method, MixedPrecision, Optimizer, Task};

/// Measured steps and what is known of all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table<'a> {
    /// The steps.
    pub cases: Vec<Validated<'a>>,
    /// In how many searched steps the band held the measured figure, and of how many.
    pub coverage: (u64, u64),
}

/// Reads what [`write`] wrote; a line that says nothing is passed over.
pub fn read(text: &str) -> Table<'_> {
    let mut table = Table::default();
    let (mut file, mut gpu, mut setting) = ("", None, None);
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("covered", counts)) => table.coverage = pair(counts).unwrap_or_default(),
            Some(("=", rest)) => {
                let (name, on) = rest.split_once(' ').map_or((rest, None), |(name, on)| (name, Some(on)));
                (file, gpu) = (name, on);
            }
            Some(("+", words)) => setting = read_setting(words),
            _ => table.cases.extend(setting.and_then(|setting| read_case(line, file, gpu, setting))),
        }
    }
    table
}

/// `table` as text. Cases of a file, GPU and setting come together, in the order they first appear.
pub fn write(table: &Table<'_>) -> String {
    let mut text = format!("covered {} {}\n", table.coverage.0, table.coverage.1);
    let mut cases: Vec<&Validated<'_>> = table.cases.iter().collect();
    let first = |same: &dyn Fn(&Validated<'_>) -> bool| table.cases.iter().position(same);
    cases.sort_by_cached_key(|case| {
        (
            first(&|other| head(other) == head(case)),
            first(&|other| head(other) == head(case) && other.setting == case.setting),
            case.model,
        )
    });
    let mut before: Option<&Validated<'_>> = None;
    for case in cases {
        let same_head = before.is_some_and(|before| head(before) == head(case));
        if !same_head {
            let gpu = case.gpu.iter().map(|gpu| format!(" {gpu}")).collect::<String>();
            text.push_str(&format!("= {}{gpu}\n", case.file));
        }
        if !same_head || before.is_some_and(|before| before.setting != case.setting) {
            text.push_str(&format!("+ {}\n", setting_words(&case.setting)));
        }
        let figures: String = case.figures.iter().map(figure_word).collect();
        let Validated { model, million_params, batch, length, gpus, id, .. } = case;
        text.push_str(&format!(
            "{} {million_params} {batch}x{length}x{gpus} {}{figures}\n",
            one_word(model),
            one_word(id)
        ));
        before = Some(case);
    }
    text
}

const LETTERS: [(Metric, char); 4] =
    [(Metric::Allocated, 'a'), (Metric::Required, 'r'), (Metric::RequiredExpandable, 'e'), (Metric::Device, 'd')];

fn figure_word(figure: &Figure) -> String {
    let letter = LETTERS.iter().find(|(metric, _)| *metric == figure.metric).map_or('a', |(_, letter)| *letter);
    format!(" {letter}{}{:+}", figure.measured_tenths, figure.error_hundredths)
}

fn read_figure(word: &str) -> Option<Figure> {
    let letter = word.chars().next()?;
    let metric = LETTERS.iter().find(|(_, other)| *other == letter)?.0;
    let sign = word.find(['+', '-'])?;
    let measured_tenths = word.get(letter.len_utf8()..sign)?.parse().ok()?;
    Some(Figure { metric, measured_tenths, error_hundredths: word.get(sign..)?.parse().ok()? })
}

fn read_case<'a>(line: &'a str, file: &'a str, gpu: Option<&'a str>, setting: Setting) -> Option<Validated<'a>> {
    let mut words = line.split(' ');
    let (model, million_params) = (words.next()?, words.next()?.parse().ok()?);
    let (batch, rest) = words.next()?.split_once('x')?;
    let (length, gpus) = rest.split_once('x')?;
    Some(Validated {
        file,
        gpu,
        model,
        million_params,
        setting,
        batch: batch.parse().ok()?,
        length: length.parse().ok()?,
        gpus: gpus.parse().ok()?,
        id: words.next()?,
        figures: words.filter_map(read_figure).collect(),
    })
}

/// What stands in the line over a file's cases.
fn head<'a>(case: &Validated<'a>) -> (&'a str, Option<&'a str>) {
    (case.file, case.gpu)
}

fn setting_words(setting: &Setting) -> String {
    [
        setting.task.name(),
        setting.method.name(),
        &setting.bits.to_string(),
        setting.sharding.name(),
        if setting.gradient_checkpointing { "checkpointed" } else { "kept" },
        setting.dtype.name(),
        setting.mixed_precision.name(),
        setting.attention.name(),
        setting.optimizer.map_or("none", Optimizer::name),
    ]
    .join(" ")
}

fn read_setting(words: &str) -> Option<Setting> {
    let mut words = words.split(' ');
    Some(Setting {
        task: Task::from_name(words.next()?)?,
        method: Method::from_name(words.next()?)?,
        bits: words.next()?.parse().ok()?,
        sharding: Sharding::from_name(words.next()?)?,
        gradient_checkpointing: words.next()? == "checkpointed",
        dtype: Dtype::from_name(words.next()?)?,
        mixed_precision: MixedPrecision::from_name(words.next()?)?,
        attention: AttnImplementation::from_name(words.next()?)?,
        optimizer: Optimizer::from_name(words.next()?),
    })
}

/// Two numbers.
fn pair(text: &str) -> Option<(u64, u64)> {
    let (a, b) = text.split_once(' ')?;
    Some((a.parse().ok()?, b.parse().ok()?))
}

/// `text` without the spaces that part words.
fn one_word(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join("_")
}
