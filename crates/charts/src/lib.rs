//! Estimates as SVG pictures, drawn by plotters: the browser and the terminal draw the same bytes.
//!
//! [`comparison_svg`] sets plans side by side against a GPU; [`phases_svg`] follows one plan through its step;
//! [`waterfall_svg`] shows what each of several levers saves in turn; [`fit_map_svg`] what batch size and length take together;
//! [`scatter_svg`] sets estimates against measurements; [`curves_svg`] a run's step against the plan's. What each of them draws is a table
//! for spreadsheets, too ([`phases_csv`]). Words come from the caller
//! in [`Texts`], colours by class from the page's style sheet or literally ([`Palette`]). Legends are the page's, with [`swatch_class`].

mod area;
mod axis;
mod backend;
mod card;
mod columns;
mod comparison;
mod content;
mod csv;
mod curves;
mod elements;
mod fit_map;
mod floating;
mod hits;
mod ink;
mod key;
mod look;
mod need;
mod phases;
#[cfg(test)]
mod placement;
mod rows;
mod scatter;
mod step;
mod text;
mod waterfall;

pub use card::{Card, card_svg};
pub use comparison::comparison_svg;
pub use csv::{comparison_csv, curves_csv, fit_map_csv, phases_csv, waterfall_csv};
pub use curves::{Curve, CurvesLook, curves_svg};
pub use fit_map::{FitMap, FitMapLook, FitMapTexts, fit_map_svg};
pub use ink::{Palette, category_colour, stylesheet, swatch_class};
pub use look::{Bar, Hit, Look, Orientation, Picture, Texts};
pub use need::need_by_category;
pub use phases::phases_svg;
pub use scatter::{Point, ScatterLook, Series, scatter_svg};
pub use step::LeverBar;
pub use waterfall::waterfall_svg;
