//! Snippets for other pages, in English.

use headroom_core::link::View;

use crate::embedding::EmbeddingTexts;

pub(super) const EMBEDDING: EmbeddingTexts = EmbeddingTexts {
    button: "Embed",
    title: "Put this plan in your documentation",
    intro: "Computed in your readers' browsers: no account, no cookies, nothing stored.",
    view: "Show",
    views: |view| match view {
        View::Verdict => "The verdict alone",
        View::Comparison => "Methods and sharding compared",
        View::Phases => "Memory over one step",
        View::Map => "Batch by length",
        View::Table => "Where every byte goes",
    },
    inputs: "Readers may change",
    element: "Element",
    element_help: "Follows the colours and the language of the page around it, and is as high as it needs to be. One script for all plans \
                   on a page.",
    frame: "Frame",
    frame_help: "Where no scripts are allowed.",
    picture: "Picture",
    picture_help: "For a README: an SVG with the figures as text in it. --png writes a PNG.",
    markdown: "Markdown",
    copy: "Copy",
    copied: "Copied",
    preview: "Preview",
};
