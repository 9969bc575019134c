//! What the texts of the scenario gallery are.

use headroom_core::scenario::{Figures, Quantity, Reason};

/// One scenario in words.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct ScenarioText {
    pub title: &'static str,
    pub story: &'static str,
    /// Its plans by key.
    pub plans: &'static [(&'static str, &'static str)],
}

impl ScenarioText {
    /// The name of the plan called `key`.
    pub fn plan(&self, key: &'static str) -> &'static str {
        self.plans.iter().find(|(of, _)| *of == key).map_or(key, |(_, name)| name)
    }
}

/// All of them.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct GalleryTexts {
    pub button: &'static str,
    pub title: &'static str,
    pub intro: &'static str,
    /// By the id of a scenario.
    pub scenario: fn(&str) -> &'static ScenarioText,
    /// What stands before the link to a scenario's guide, and what its figures are.
    pub source: &'static str,
    pub figures: fn(Figures) -> &'static str,
    /// What opens the table of a plan, and its name.
    pub rules: &'static str,
    pub rules_of: fn(&str) -> String,
    pub column_quantity: &'static str,
    pub column_guide: &'static str,
    pub column_ours: &'static str,
    pub column_why: &'static str,
    pub agrees: &'static str,
    pub quantity: fn(Quantity) -> &'static str,
    pub reason: fn(Reason) -> &'static str,
}

/// For an id that has no text; a test sees to it that none is missing.
pub(super) static NO_SCENARIO: ScenarioText = ScenarioText { title: "", story: "", plans: &[] };

#[cfg(test)]
mod tests {
    use headroom_core::scenario::SCENARIOS;

    use crate::Language;

    #[test]
    fn every_scenario_and_plan_has_words_in_every_language() {
        for language in Language::ALL {
            for scenario in SCENARIOS {
                let words = (language.texts().gallery().scenario)(scenario.id);
                assert!(!words.title.is_empty() && !words.story.is_empty(), "{language:?} {}", scenario.id);
                for plan in scenario.plans {
                    let named = words.plans.iter().any(|(key, name)| *key == plan.key && !name.is_empty());
                    assert!(named, "{language:?} {} {}", scenario.id, plan.key);
                }
            }
        }
    }
}
