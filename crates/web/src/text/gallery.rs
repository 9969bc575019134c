//! What the texts of the scenario gallery are.

use headroom_core::scenario::{Quantity, Reason};

/// One scenario in words.
pub(crate) struct ScenarioText {
    pub(crate) title: &'static str,
    pub(crate) story: &'static str,
    /// Its plans by key.
    pub(crate) plans: &'static [(&'static str, &'static str)],
}

impl ScenarioText {
    /// The name of the plan called `key`.
    pub(crate) fn plan(&self, key: &'static str) -> &'static str {
        self.plans.iter().find(|(of, _)| *of == key).map_or(key, |(_, name)| name)
    }
}

/// All of them.
pub(crate) struct GalleryTexts {
    pub(crate) button: &'static str,
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    /// By the id of a scenario.
    pub(crate) scenario: fn(&str) -> &'static ScenarioText,
    /// Name of the table of a plan.
    pub(crate) rules_of: fn(&str) -> String,
    pub(crate) column_quantity: &'static str,
    pub(crate) column_guide: &'static str,
    pub(crate) column_ours: &'static str,
    pub(crate) column_why: &'static str,
    pub(crate) agrees: &'static str,
    pub(crate) computing: &'static str,
    pub(crate) quantity: fn(Quantity) -> &'static str,
    pub(crate) reason: fn(Reason) -> &'static str,
}

/// For an id that has no text; a test sees to it that none is missing.
pub(super) static NO_SCENARIO: ScenarioText = ScenarioText { title: "", story: "", plans: &[] };

#[cfg(test)]
mod tests {
    use headroom_core::scenario::SCENARIOS;

    use crate::text::Language;

    #[test]
    fn every_scenario_and_plan_has_words_in_every_language() {
        for language in Language::ALL {
            for scenario in SCENARIOS {
                let words = (language.texts().gallery.scenario)(scenario.id);
                assert!(!words.title.is_empty() && !words.story.is_empty(), "{language:?} {}", scenario.id);
                for plan in scenario.plans {
                    let named = words.plans.iter().any(|(key, name)| *key == plan.key && !name.is_empty());
                    assert!(named, "{language:?} {} {}", scenario.id, plan.key);
                }
            }
        }
    }
}
