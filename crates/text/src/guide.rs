//! The pages beside the planner: how it works, what the words mean, how accurate it is.
//!
//! They are no part of [`Texts`](crate::Texts), so that the page fetches them with the pages that show them.

/// A heading and what stands under it.
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// Paragraphs.
    pub paragraphs: &'static [&'static str],
}

/// A word and its meaning.
pub struct Entry {
    /// Id of the element that holds it: `word-peak`.
    pub id: &'static str,
    /// The word as the page writes it.
    pub word: &'static str,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
}

/// Words of the page about accuracy.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct AccuracyPage {
    pub title: &'static str,
    /// Steps measured, and how many of those on real GPUs.
    pub lead: fn(&str, &str) -> String,
    pub summary_title: &'static str,
    pub column_figure: &'static str,
    pub column_steps: &'static str,
    pub column_median: &'static str,
    pub column_95: &'static str,
    pub column_worst: &'static str,
    pub by_allocator: &'static str,
    pub on_gpus: &'static str,
    /// How the figures were obtained, and how to check one's own run.
    pub sections: &'static [Section],
    pub near_title: &'static str,
    pub not_near: &'static str,
}

/// All of them.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct Guide {
    pub how_title: &'static str,
    pub how: &'static [Section],
    pub glossary_title: &'static str,
    pub glossary_intro: &'static str,
    pub entries: &'static [Entry],
    pub accuracy: AccuracyPage,
}
