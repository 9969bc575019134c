//! The model that the sentences of a post name, where no setting does.

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
        let mut found: Option<(&str, usize, Span)> = None;
        for (place, file) in self.files.iter().enumerate().filter(|(place, _)| notes.get(*place) == Some(&true)) {
            let mut at = 0;
            for word in file.text.split_inclusive(|letter: char| letter.is_whitespace() || "`\"'(),;".contains(letter))
            {
                let start = at;
                at += word.len();
                let name = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
                let Some(id) = model_called(name) else { continue };
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

/// The model of the catalogue with this id or this name, which has a number and a dash as no word has.
fn model_called(name: &str) -> Option<&'static str> {
    let is_name = name.len() >= SHORTEST && name.contains('-') && name.bytes().any(|byte| byte.is_ascii_digit());
    if !is_name {
        return None;
    }
    let is_it = |id: &str| {
        id.eq_ignore_ascii_case(name) || id.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(name))
    };
    catalogue().iter().find(|model| is_it(model.id) || model.also.iter().any(|id| is_it(id))).map(|model| model.id)
}
