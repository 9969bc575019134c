//! The model that the sentences of a post name, where no setting does.

use std::collections::HashMap;

use headroom_core::model::catalogue;

use super::super::draft::Rank;
use super::Gatherer;
use crate::syntax::{Source, Span, Value};
use crate::trainers::Fact;

/// Shorter words name no model by themselves.
const SHORTEST: usize = 6;

impl Gatherer<'_> {
    /// Takes the model that notes name, where all that they name is one model.
    pub(super) fn stated_models(&mut self, notes: &[bool]) {
        let facts = &self.found.draft.facts;
        if self.found.model_config.is_some()
            || [Fact::Model, Fact::Component].iter().any(|fact| facts.contains_key(fact))
        {
            return;
        }
        let called = names();
        let mut found: Option<(&str, usize, Span)> = None;
        for (place, file) in self.files.iter().enumerate().filter(|(place, _)| notes.get(*place) == Some(&true)) {
            let mut at = 0;
            for word in file.text.split_inclusive(|letter: char| letter.is_whitespace() || "`\"'(),;".contains(letter))
            {
                let start = at;
                at += word.len();
                let name = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
                let Some(id) = called.get(&name.to_ascii_lowercase()).copied() else { continue };
                match found {
                    Some((other, ..)) if other != id => return,
                    Some(_) => {}
                    None => found = Some((id, place, Source::new(&file.text).span(start, at))),
                }
            }
        }
        if let Some((id, place, span)) = found {
            self.implied(Fact::Model, Value::Text(id.to_owned()), "model", (place, span), Rank::Environment);
        }
    }
}

/// Models of the catalogue by their ids and by the names behind the owner, in lower case: those with a number and a dash, as no
/// word has.
fn names() -> HashMap<String, &'static str> {
    let is_name =
        |name: &str| name.len() >= SHORTEST && name.contains('-') && name.bytes().any(|byte| byte.is_ascii_digit());
    let mut names = HashMap::new();
    for model in catalogue() {
        for id in model.also.iter().chain([&model.id]) {
            for name in [*id, id.rsplit('/').next().unwrap_or(id)].into_iter().filter(|name| is_name(name)) {
                names.entry(name.to_ascii_lowercase()).or_insert(model.id);
            }
        }
    }
    names
}
