//! Every sentence that people read, in one place per language, for the page and the terminal.
//!
//! A language is a [`Texts`] value whose members match over the core's enums: a text that a language lacks does not compile.
//! The core says what it knows as data ([`Note`](headroom_core::memory::Note), [`Problem`](headroom_core::plan::Problem),
//! [`Term`](headroom_core::memory::Term), …) and speaks no language. The page speaks all of them; the terminal speaks English,
//! [`ENGLISH`].

mod accuracy;
mod advice;
mod charts;
mod chinese;
mod embedding;
mod english;
mod field_text;
mod fields;
mod form;
mod gallery;
mod guide;
mod labels;
mod language;
mod later;
mod named;
mod options;
mod sources;
mod tabs;
mod tasks;
mod texts;
mod title;
mod why;

pub use accuracy::AccuracyTexts;
pub use advice::AdviceTexts;
pub use charts::ChartTexts;
pub use embedding::EmbeddingTexts;
pub use english::problem_line;
pub use field_text::field_text;
pub use fields::{Fields, FurtherFields};
pub use form::FormTexts;
pub use gallery::{GalleryTexts, ScenarioText};
pub use guide::{AccuracyPage, Entry, Guide, Section};
pub use labels::{ChoiceText, FieldText, NO_CHOICE};
pub use language::{ENGLISH, Language, guide, why};
pub use named::launched_by;
pub use options::{MapTexts, OptionTexts, PairTexts, SolveTexts, SummaryTexts, TierTexts};
pub use sources::SourceTexts;
pub use tabs::TabTexts;
pub use tasks::{TaskFields, TaskTexts};
pub use texts::Texts;
pub use why::WhyTexts;
