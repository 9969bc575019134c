//! Images of a sample, which stand beside its length: a vision tower takes a step's memory by them, and the text its tokens.

use headroom_core::job::Job;
use headroom_core::plan::Plan;
use headroom_view::Element;

use super::rows::Input::Typed;
use super::rows::{Row, row_where};
use crate::page::Page;

const IMAGES: &[Row] = &[
    row_where("images.per_sample", Typed, sees_images),
    row_where("images.height", Typed, has_images),
    row_where("images.width", Typed, has_images),
    row_where("images.max_pixels", Typed, has_images),
];

/// How many images and how large, for models that see them.
pub(super) fn fields(page: &Page) -> Vec<Element> {
    IMAGES.iter().filter_map(|row| row.draw(page)).collect()
}

/// Whether the model could see images, or the plan says some.
pub(super) fn sees_images(plan: &Plan, job: Option<&Job>) -> bool {
    plan.images.per_sample.is_some() || !plan.freeze.is_empty() || job.is_some_and(|job| job.model().reads_images())
}

/// Whether samples have images.
pub(super) fn has_images(plan: &Plan, _: Option<&Job>) -> bool {
    plan.images.per_sample.is_some()
}
