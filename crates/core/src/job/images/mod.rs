//! The images of a forward as the model's tower sees them, by the rule of its class's processor.

mod any_resolution;
mod processors;
#[cfg(test)]
mod tests;

use crate::model::{BatchImages, Model, Vision};
use crate::plan::{Plan, Problem, ProblemKind, TrainerName};
use any_resolution::Tiled;
pub use processors::ImageRule;
use processors::Rule;

/// Pixels of each side of an image of which the plan says nothing; a note says so.
const UNSAID: u64 = 1_024;

/// An image as its processor gives it to the tower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenImage {
    /// Height and width in pixels, where the plan does not say tiles or patches instead.
    pub(crate) sides: Option<(u64, u64)>,
    /// Whether the plan says nothing of its size.
    pub(crate) is_assumed: bool,
    /// Tiles that the tower sees as images of their own, the whole image among them.
    pub(crate) tiles: u64,
    /// Patches of a tile, padding among them.
    pub(crate) patches: u64,
    /// Patches of a tile's height and width, without padding.
    grid: (u64, u64),
    /// Positions of the text that its features take.
    pub(crate) positions: u64,
    /// What is known of the processor.
    pub(crate) rule: ImageRule,
    /// Of a class that puts tiles together.
    together: Tiled,
}

/// Patches of a tile's side, where the config says it.
fn tile_side(vision: &Vision) -> Option<u64> {
    Some(vision.image_size? / vision.patch_size.unwrap_or(1).max(1))
}

/// Tiles, patches and positions of an image by its class's rule, whatever the plan says of those; `None`: the processor refuses it.
fn by_rule(rule: Rule, vision: &Vision, sides: (u64, u64)) -> Option<(u64, (u64, u64), u64, u64)> {
    let merge = rule.merges().unwrap_or(vision.merge_size).max(1);
    let patch = vision.patch_size.unwrap_or(1).max(1);
    let step = patch.saturating_mul(merge);
    let times = |(rows, columns): (u64, u64), by: u64| (rows.saturating_mul(by), columns.saturating_mul(by));
    let area = |(rows, columns): (u64, u64)| rows.saturating_mul(columns);
    let tile = vision.image_size.unwrap_or(step).max(1);
    let in_tiles = |tiles: u64, square: u64| {
        let side = tile_side(vision).unwrap_or(1);
        let of_each = vision.positions_per_tile.unwrap_or(area((side, side)) / square.max(1));
        (tiles, (side, side), area((side, side)), tiles.saturating_mul(of_each))
    };
    let merged = |grid: (u64, u64)| (1, times(grid, merge), area(times(grid, merge)), area(grid));
    let squared = merge.saturating_mul(merge);
    Some(match rule {
        Rule::Area(bounds) => {
            let (height, width) = bounds.resized(sides, step)?;
            merged((height / step, width / step))
        }
        Rule::LongestSide => {
            let longest = vision.image_size.unwrap_or(sides.0.max(sides.1));
            merged(processors::to_longest_side(sides, longest, step))
        }
        Rule::Budget { positions } => {
            let (tiles, grid, _, seen) = merged(processors::within_budget(sides, positions, step));
            (tiles, grid, positions.saturating_mul(squared), seen)
        }
        Rule::NearestGrid { positions } => merged(processors::nearest_grid(sides, positions, step)),
        Rule::Square | Rule::Resolutions => in_tiles(1, squared),
        Rule::Attended => {
            let (tiles, grid, patches, _) = in_tiles(vision.tiles.unwrap_or(1), squared);
            (tiles, grid, patches, 0)
        }
        Rule::NearestShape { most } => in_tiles(processors::nearest_shape(sides, tile, most), squared),
        Rule::Canvas { most } => in_tiles(processors::canvas(sides, tile, most), squared),
        Rule::LongestInTiles { tiles } => in_tiles(processors::longest_in_tiles(sides, tile, tiles), squared),
        Rule::Rounded => {
            let side = |pixels: u64| (pixels.saturating_add(step / 2) / step).max(1);
            merged((side(sides.0), side(sides.1)))
        }
    })
}

/// An image of the plan; `None` without images, or where the processor refuses one of such a shape.
pub(super) fn seen(plan: &Plan, model: &Model) -> Option<SeenImage> {
    let vision = model.vision.as_ref()?;
    let per_sample = plan.images.per_sample?;
    let images = &plan.images;
    let (rule, known) = Rule::of(&model.recorded.program.model_type);
    let said = |side: Option<u64>, other: Option<u64>| side.or(other).unwrap_or(UNSAID).max(1);
    let sides = (said(images.height, images.width), said(images.width, images.height));
    let (rule, sides) = match images.max_pixels {
        // LLaMA-Factory's bound goes before the processor, whatever that takes.
        Some(most) if matches!(rule, Rule::Area(_)) && plan.trainer.name != TrainerName::LlamaFactory => {
            (rule.bounded(most), sides)
        }
        Some(most) => (rule, processors::scaled_down(sides, most)),
        None => (rule, sides),
    };
    let (tiles, grid, patches, positions) = by_rule(rule, vision, sides)?;
    let together = any_resolution::put_together(vision, images, sides, per_sample);
    let is_counted = images.tiles.is_some() || images.patches.is_some();
    let merge = rule.merges().unwrap_or(vision.merge_size).max(1);
    let of_tile = positions / tiles.max(1);
    let (tiles, positions) = match (together, vision.tiles.or(images.tiles)) {
        (Some(image), _) => (image.tiles.0.saturating_mul(image.tiles.1).saturating_add(1), image.positions),
        (None, Some(said)) => (said, of_tile.saturating_mul(said)),
        (None, None) => (tiles, positions),
    };
    let (grid, patches, positions) = match images.patches {
        // Sizes go by how many there are; sides that are merged stay whole.
        Some(patches) if rule.counts_patches() => ((patches / merge, merge), patches, patches / merge / merge),
        said => (grid, said.unwrap_or(patches), positions),
    };
    Some(SeenImage {
        sides: (!is_counted).then_some(sides),
        is_assumed: !is_counted && images.height.or(images.width).is_none(),
        tiles,
        patches,
        grid,
        positions: images.positions.unwrap_or(positions),
        rule: known,
        together: together.unwrap_or_default(),
    })
}

/// Windows on the two sides of an image are counted in patches as they are merged before the tower; an image whose side is a whole
/// number of windows has none left over (transformers vision_utils.py `get_vision_window_index`).
fn windows(vision: &Vision, (rows, columns): (u64, u64)) -> u64 {
    let Some(window) = vision.window else { return 1 };
    let of = |patches: u64| (patches / window.merge_size.max(1)).div_ceil(window.side.max(1)).max(1);
    of(rows).saturating_mul(of(columns))
}

/// Of a forward of `sequences`.
pub(super) fn of(plan: &Plan, model: &Model, sequences: u64) -> BatchImages {
    let (Some(vision), Some(per_sample), Some(image)) = (&model.vision, plan.images.per_sample, seen(plan, model))
    else {
        return BatchImages::default();
    };
    let count = per_sample.saturating_mul(sequences);
    let together = if vision.packs { count } else { 1 };
    let Tiled { tiles, features, positions } = image.together;
    BatchImages {
        count: count.saturating_mul(image.tiles),
        tile_grid: (tiles.0.saturating_mul(count), tiles.1),
        feature_grid: (features.0.saturating_mul(count), features.1),
        positions: positions.saturating_mul(count),
        patches: image.patches.saturating_mul(together),
        windows: windows(vision, image.grid).saturating_mul(count),
        rows: image.grid.0.saturating_mul(together),
        columns: image.grid.1,
    }
}

/// Images that the processor refuses, and more of them than the text has positions for: a processor that is to cut the text raises where
/// that cuts an image (transformers processing_utils.py `_check_special_mm_tokens`).
pub(super) fn refused(plan: &Plan, model: &Model) -> Option<Problem> {
    let problem = |field: &str, other: &str, fix: String| {
        Some(Problem::new(field, ProblemKind::Contradiction { other: other.to_owned(), fix }))
    };
    let per_sample = plan.images.per_sample.filter(|_| model.vision.is_some())?;
    let Some(image) = seen(plan, model) else {
        let (height, width) = (plan.images.height.unwrap_or(UNSAID), plan.images.width.unwrap_or(UNSAID));
        let least = height.max(width).div_ceil(processors::LONGEST).to_string();
        let (shorter, other) =
            if height < width { ("images.height", "images.width") } else { ("images.width", "images.height") };
        return problem(shorter, other, least);
    };
    let positions = image.positions.saturating_mul(per_sample);
    if positions <= plan.max_length {
        return None;
    }
    problem("max_length", "images.per_sample", positions.to_string())
}
