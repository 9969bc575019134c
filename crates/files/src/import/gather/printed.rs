//! What trainers print of their settings as they start: logs have it above the failure.

use headroom_core::plan::TrainerName;

use super::super::draft::{Rank, Statement};
use super::{Evidence, Gatherer};
use crate::syntax::{Node, Source, Span, Value};
use crate::trainers::{As, Fact};

/// Lines of transformers' Trainer (trainer.py `_inner_training_loop`) and of Unsloth's banner, in small letters, and the fields that
/// they say.
const LINES: [(&str, &str); 2] = [
    ("batch size per device = ", "per_device_train_batch_size"),
    ("gradient accumulation steps = ", "gradient_accumulation_steps"),
];
/// How Unsloth's banner says how many GPUs it uses (unsloth models/_utils.py).
const GPUS: [&str; 3] = ["num gpus = ", "num gpus used = ", "data parallel gpus = "];
/// How ms-swift's log says over how many processes it runs, and what it loads (swift/utils/torch_utils.py, swift/llm/model/utils.py).
const PROCESSES: &str = ", world_size: ";
const LOADED: &str = "loading the model using model_dir: ";
/// How its banner begins.
const UNSLOTH: &str = "==((====))==";
/// How it says that the GPU has no bf16.
const WITHOUT_BF16: &str = "bfloat16 = false";

impl Gatherer<'_> {
    /// Takes what a log of `place` prints; files and commands count before it.
    pub(super) fn printed(&mut self, place: usize, text: &str) {
        let source = Source::new(text);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            self.printed_line(place, line, &|from, to| source.span(start + from, start + to));
            start += line.len();
        }
    }

    /// The same of what a notebook's cells have printed; everything stands where its line is quoted.
    pub(super) fn printed_by_cells(&mut self, place: usize, text: &str) {
        let Ok(notebook) = crate::syntax::json(text) else { return };
        for output in super::super::notebook::printed(&notebook) {
            for line in output.text().unwrap_or_default().lines() {
                self.printed_line(place, line, &|_, _| output.span);
            }
        }
    }

    fn printed_line(&mut self, place: usize, line: &str, span_of: &dyn Fn(usize, usize) -> Span) {
        let lower = line.to_ascii_lowercase();
        let number = |mark: &str| -> Option<(i64, usize)> {
            let at = lower.find(mark)?;
            let digits: String = lower[at + mark.len()..].chars().take_while(char::is_ascii_digit).collect();
            Some((digits.parse().ok().filter(|number| *number > 0)?, at))
        };
        let statement = |key: &str, span: Span, value: Value| {
            let (key, node) = (key.to_owned(), Node { value, span });
            Statement { file: place, key, span, node, rank: Rank::Artifact, tool: "" }
        };
        let said = |(number, at): (i64, usize), mark: &str| {
            let key = mark.trim_end_matches([' ', '=', ':']);
            statement(key, span_of(at, at + key.len()), Value::Integer(number))
        };
        for (mark, field) in LINES {
            if let Some(found) = number(mark) {
                self.found.draft.sets.entry(field).or_default().push((said(found, mark), As::Whole));
            }
        }
        for mark in GPUS {
            if let Some(found) = number(mark) {
                self.found.draft.say(Fact::Processes, said(found, mark));
            }
        }
        if let Some((number, at)) = number(PROCESSES) {
            let mark = PROCESSES.trim_start_matches([',', ' ']);
            self.found.draft.say(Fact::Processes, said((number, at + PROCESSES.len() - mark.len()), mark));
        }
        if let Some(at) = lower.find(LOADED) {
            let path = line[at + LOADED.len()..].trim();
            let span = span_of(at + LOADED.len(), at + LOADED.len() + path.len());
            self.found.draft.say(Fact::Model, statement("model_dir", span, Value::Text(path.to_owned())));
        }
        if let Some(at) = lower.find(WITHOUT_BF16) {
            let span = span_of(at, at + WITHOUT_BF16.len());
            self.found.draft.say(Fact::HasBf16, statement("Bfloat16", span, Value::Flag(false)));
        }
        if line.contains(UNSLOTH) && line.contains("Unsloth") {
            self.trainer(TrainerName::Unsloth, Evidence::Patch);
        }
    }
}
