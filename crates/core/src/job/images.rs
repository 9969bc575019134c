//! The images of a forward as the model's tower sees them.

use crate::model::{BatchImages, Model, Vision};
use crate::plan::{Plan, SampleImages};

/// Windows on the two sides of an image are counted in patches that are merged already; an image whose side is a whole
/// number of windows has none left over (transformers vision_utils.py `get_vision_window_index`).
fn windows(vision: &Vision, (height, width): (u64, u64)) -> u64 {
    let (Some(window), Some(patch)) = (vision.window_size, vision.patch_size) else { return 1 };
    let side = (window / vision.merge_size.max(1) / patch.max(1)).max(1);
    let of = |pixels: u64| (pixels / patch.max(1) / vision.merge_size.max(1)).div_ceil(side).max(1);
    of(height).saturating_mul(of(width))
}

/// Patches of an image's height and width. Sides are rounded to what is merged (`smart_resize` of Qwen's and GLM's processors); a tower
/// that takes pixels has them rounded up, after an image has been brought to the longest side that it knows (pixtral
/// image_processing_pixtral.py `get_resize_output_image_size`).
fn grid(vision: &Vision, images: &SampleImages) -> (u64, u64) {
    const WIDEST: u64 = 4_096;
    let merge = vision.merge_size.max(1);
    if let Some(patches) = images.patches {
        // Sizes go by how many there are; sides that are merged stay whole.
        return (patches / merge, merge);
    }
    let patch = vision.patch_size.unwrap_or(1).max(1);
    let step = patch.saturating_mul(merge);
    let pixels = |side: Option<u64>| side.or(vision.image_size).unwrap_or(WIDEST);
    let (height, width) = (pixels(images.height), pixels(images.width));
    if vision.takes_pixels {
        let longest = height.max(width).max(1);
        let most = vision.image_size.unwrap_or(longest).min(longest);
        let side = |pixels: u64| (pixels.saturating_mul(most) / longest).div_ceil(step).max(1).saturating_mul(merge);
        return (side(height), side(width));
    }
    let side = |pixels: u64| (pixels.saturating_add(step / 2) / step).max(1).saturating_mul(merge);
    (side(height), side(width))
}

/// Tiles that an image is cut into, the whole of it among them: its longest side is brought to four of them (idefics3 and smolvlm
/// image_processing_*.py: `size`, `split_images`; SmolVLM's and Idefics 3's checkpoints say the same).
fn tiles(vision: &Vision, images: &SampleImages) -> u64 {
    const LONGEST: u64 = 4;
    match (images.height, images.width) {
        (Some(height), Some(width)) if vision.splits => {
            let (short, long) = (height.min(width), height.max(width).max(1));
            let across = short.saturating_mul(LONGEST).div_ceil(long).max(1);
            LONGEST.saturating_mul(across).saturating_add(1)
        }
        _ => 1,
    }
}

/// Of a forward of `sequences`.
pub(super) fn of(plan: &Plan, model: &Model, sequences: u64) -> BatchImages {
    let (Some(vision), Some(per_sample)) = (&model.vision, plan.images.per_sample) else {
        return BatchImages::default();
    };
    let images = &plan.images;
    let count = per_sample.saturating_mul(sequences);
    let (rows, columns) = grid(vision, images);
    let of_one = images.patches.unwrap_or(rows.saturating_mul(columns));
    let pixels = |side: Option<u64>, other: Option<u64>| side.or(other).unwrap_or(0);
    let sides = (pixels(images.height, images.width), pixels(images.width, images.height));
    let together = if vision.packs { count } else { 1 };
    BatchImages {
        count: count.saturating_mul(vision.tiles.or(images.tiles).unwrap_or_else(|| tiles(vision, images))),
        patches: of_one.saturating_mul(together),
        windows: windows(vision, sides).saturating_mul(count),
        rows: rows.saturating_mul(together),
        columns,
    }
}
