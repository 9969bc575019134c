//! What trainers print of their settings as they start: logs have it above the failure.

use headroom_core::plan::TrainerName;

use super::super::draft::{Rank, Statement};
use super::{Evidence, Gatherer};
use crate::syntax::{Node, Source, Value};
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

impl Gatherer<'_> {
    /// Takes what a log of `place` prints; files and commands count before it.
    pub(super) fn printed(&mut self, place: usize, text: &str) {
        let source = Source::new(text);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let lower = line.to_ascii_lowercase();
            let number = |mark: &str| -> Option<(i64, usize)> {
                let at = lower.find(mark)?;
                let digits: String = lower[at + mark.len()..].chars().take_while(char::is_ascii_digit).collect();
                Some((digits.parse().ok().filter(|number| *number > 0)?, at))
            };
            let said = |(number, at): (i64, usize), key: &str| {
                let span = source.span(start + at, start + at + key.trim_end_matches([' ', '=', ':']).len());
                let node = Node { value: Value::Integer(number), span };
                Statement {
                    file: place,
                    key: key.trim_end_matches([' ', '=', ':']).to_owned(),
                    span,
                    node,
                    rank: Rank::Artifact,
                    tool: "",
                }
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
                let span = source.span(start + at + LOADED.len(), start + at + LOADED.len() + path.len());
                let node = Node { value: Value::Text(path.to_owned()), span };
                let key = "model_dir".to_owned();
                let loaded = Statement { file: place, key, span, node, rank: Rank::Artifact, tool: "" };
                self.found.draft.say(Fact::Model, loaded);
            }
            if line.contains(UNSLOTH) && line.contains("Unsloth") {
                self.trainer(TrainerName::Unsloth, Evidence::Patch);
            }
            start += line.len();
        }
    }
}
