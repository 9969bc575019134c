//! What the texts around snippets for other pages are.

use headroom_core::link::View;

/// All of them.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct EmbeddingTexts {
    pub button: &'static str,
    pub title: &'static str,
    pub intro: &'static str,
    pub view: &'static str,
    pub views: fn(View) -> &'static str,
    pub inputs: &'static str,
    pub element: &'static str,
    pub element_help: &'static str,
    pub frame: &'static str,
    pub frame_help: &'static str,
    pub picture: &'static str,
    pub picture_help: &'static str,
    pub markdown: &'static str,
    pub copy: &'static str,
    pub copied: &'static str,
    pub preview: &'static str,
}
