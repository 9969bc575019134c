//! Names of the tabs of the answer and of the pages beside it.

use headroom_core::link::Tab;

/// All of them.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct TabTexts {
    pub name: fn(Tab) -> &'static str,
    /// What the tabs are tabs of.
    pub answer: &'static str,
    /// What the pages are pages of.
    pub pages: &'static str,
    /// The page with form and answer.
    pub planner: &'static str,
    /// Where the verdict comes from: the panel under the advice.
    pub basis: &'static str,
    pub files_title: &'static str,
    pub files_intro: &'static str,
    pub files_open: &'static str,
}
