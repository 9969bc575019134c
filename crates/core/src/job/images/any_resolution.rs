//! Images that are cut into tiles by their shape and put together again (LLaVA-NeXT, LLaVA-OneVision).

use crate::model::{AnyResolution, Vision};
use crate::plan::SampleImages;

/// An image in tiles, and what is left of it once they are put together; more images of its size are one below the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tiled {
    /// Tiles of its height and width; the whole of it is one more.
    pub(super) tiles: (u64, u64),
    /// Rows and columns of features.
    pub(super) features: (u64, u64),
    /// Positions of the text: features, a newline behind each row, and those of the whole.
    pub(super) positions: u64,
}

impl AnyResolution {
    /// Height and width that an image is brought to: those that keep most of it, and of them the smallest (transformers
    /// `image_processing_utils.py` `select_best_resolution`).
    fn best(&self, (height, width): (u64, u64)) -> Option<(u64, u64)> {
        let mut best: Option<(u64, u64, (u64, u64))> = None;
        for &(rows, columns) in &self.resolutions {
            let scale = (columns as f64 / width as f64).min(rows as f64 / height as f64);
            let scaled = |side: u64| (side as f64 * scale) as u64;
            let kept = scaled(width).saturating_mul(scaled(height)).min(width.saturating_mul(height));
            let wasted = rows.saturating_mul(columns).saturating_sub(kept);
            let beats = |&(most, least, _): &(u64, u64, _)| kept > most || (kept == most && wasted < least);
            if kept > 0 && best.as_ref().is_none_or(beats) {
                best = Some((kept, wasted, (rows, columns)));
            }
        }
        best.map(|(.., found)| found)
    }

    /// An image of `pixels` (height, width) by itself in a sample, in tiles of `tile` pixels and `side` patches (transformers
    /// llava_onevision/modeling_llava_onevision.py `pack_image_features`, `unpad_image`). Of images scaled down the features before
    /// that are not counted: they live in the tower's last operators alone.
    fn tiled(&self, pixels: (u64, u64), tile: u64, side: u64) -> Option<Tiled> {
        /// From how much on features are scaled down.
        const MOST: f64 = 1.1;
        let (height, width) = self.best(pixels)?;
        let tiles = (height / tile.max(1), width / tile.max(1));
        let (mut rows, mut columns) = (tiles.0.saturating_mul(side), tiles.1.saturating_mul(side));
        let (high, wide) = (pixels.0 as f64, pixels.1 as f64);
        // What is left of `all` when `wanted` is in the middle of it.
        let middle =
            |all: u64, wanted: f64| all - all.saturating_sub((wanted * 1e7).round() as u64 / 10_000_000) / 2 * 2;
        if wide / high > columns as f64 / rows as f64 {
            rows = middle(rows, high * (columns as f64 / wide));
        } else {
            columns = middle(columns, wide * (rows as f64 / high));
        }
        let most = |tiles: u64| tiles.max(1) as f64 * side as f64 * side as f64;
        let ratio = self.most_tiles.map_or(0.0, |tiles| (rows as f64 * columns as f64 / most(tiles)).sqrt());
        if ratio > MOST {
            (rows, columns) = ((rows as f64 / ratio) as u64, (columns as f64 / ratio) as u64);
        }
        let positions = side.saturating_mul(side).saturating_add(rows.saturating_mul(columns.saturating_add(1)));
        Some(Tiled { tiles, features: (rows, columns), positions })
    }
}

/// The images of a sample where its class puts tiles together: where it cuts one alone, each of several is one tile with one newline
/// behind it.
pub(super) fn put_together(
    vision: &Vision,
    images: &SampleImages,
    sides: (u64, u64),
    per_sample: u64,
) -> Option<Tiled> {
    let any = vision.any_resolution.as_ref()?;
    let tile = vision.image_size?;
    let side = tile / vision.patch_size.unwrap_or(1).max(1);
    let whole = side.saturating_mul(side);
    let mut found = match images.tiles {
        _ if per_sample > 1 && !any.cuts_several => {
            Tiled { tiles: (0, 0), features: (1, 0), positions: whole.saturating_add(1) }
        }
        Some(tiles) => {
            let rows = tiles.saturating_sub(1);
            let features = (rows.saturating_mul(side), side);
            let positions = whole.saturating_add(features.0.saturating_mul(side.saturating_add(1)));
            Tiled { tiles: (rows, 1), features, positions }
        }
        None => any.tiled(sides, tile, side)?,
    };
    found.positions = images.positions.unwrap_or(found.positions);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{AnyResolution, Tiled};

    /// Tiles, features and positions by `image_size_to_num_patches`, `pack_image_features` and the processors' `_get_number_of_features`
    /// of transformers 5.23.
    #[test]
    fn images_are_cut_and_put_together_as_their_class_does() {
        let resolutions = (1..=6).flat_map(|rows| (1..=6).map(move |columns| (384 * rows, 384 * columns))).collect();
        let onevision = AnyResolution { resolutions, most_tiles: Some(9), cuts_several: false };
        let resolutions = vec![(336, 672), (672, 336), (672, 672), (1_008, 336), (336, 1_008)];
        let next = AnyResolution { resolutions, most_tiles: None, cuts_several: true };
        let tiled = |tiles, features, positions| Some(Tiled { tiles, features, positions });
        assert_eq!(onevision.tiled((700, 1_000), 384, 27), tiled((2, 3), (54, 77), 4_941));
        assert_eq!(onevision.tiled((640, 1_100), 384, 27), tiled((2, 3), (48, 81), 4_665));
        assert_eq!(onevision.tiled((1_152, 768), 384, 27), tiled((3, 2), (81, 54), 5_184));
        // More than nine tiles: scaled down.
        assert_eq!(onevision.tiled((1_500, 2_300), 384, 27), tiled((4, 6), (65, 100), 7_294));
        assert_eq!(next.tiled((700, 1_000), 336, 24), tiled((2, 2), (34, 48), 2_242));
        assert_eq!(next.tiled((300, 900), 336, 24), tiled((1, 3), (24, 72), 2_328));
    }
}
