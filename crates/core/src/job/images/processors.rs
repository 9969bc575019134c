//! How the processor of each class sizes an image and cuts it into tiles, as transformers 5.23 does it. What a processor takes from its
//! checkpoint's `preprocessor_config.json` stands beside the class with its source; a plan that says tiles, patches or positions goes
//! before all of it.

/// A side's height and width, in whatever unit.
type Sides = (u64, u64);

/// What a class's processor does with an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    /// Sides are rounded to patches that are merged, and their product is kept between two areas in pixels.
    Area(Area),
    /// The longest side is brought to the tower's image size where it is longer, and sides are rounded up.
    LongestSide,
    /// As many patches as make so many positions at most; the rest is padded. What the tower makes of padding is dropped behind it, which
    /// programs were recorded without: an image of fewer positions is counted with the features of all.
    Budget { positions: u64 },
    /// Of the grids next to the image's own, or to one of so many positions at most where it has more, the one whose shape is the nearest.
    NearestGrid { positions: u64 },
    /// Every image becomes the tower's own size.
    Square,
    /// Every image is padded to the tower's number of tiles, and the text attends to them instead of reading them.
    Attended,
    /// The arrangement of so many tiles at most whose shape is the nearest, and the whole image.
    NearestShape { most: u64 },
    /// The canvas of so many tiles at most that shrinks the image least, and the whole image.
    Canvas { most: u64 },
    /// The longest side becomes so many tiles, and the whole image is one more.
    LongestInTiles { tiles: u64 },
    /// The class's own resolutions ([`super::AnyResolution`]).
    Resolutions,
    /// Nothing is known: sides are rounded to patches that are merged.
    Rounded,
}

/// How many times longer than the other a side may be; the processor raises beyond it.
pub(super) const LONGEST: u64 = 200;

/// Bounds of an image's area.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    /// Least pixels.
    least: u64,
    /// Most pixels.
    most: u64,
    /// Frames that an image counts as where the bounds are of all its frames.
    frames: u64,
    /// Whether a side shorter than a merged patch is enlarged to one first.
    enlarges: bool,
}

/// Where the figures of a class's processor come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageRule {
    /// From the class's published checkpoints.
    Checkpoints,
    /// From transformers' class: what its checkpoints say is not known.
    ClassDefaults,
    /// The class's processor is not known.
    Unknown,
}

impl Rule {
    /// The rule of a class.
    pub(super) fn of(model_type: &str) -> (Self, ImageRule) {
        let area = |least, most| Self::Area(Area { least, most, frames: 1, enlarges: false });
        let rule = match model_type {
            // image_processing_qwen2_vl.py; preprocessor_config.json of Qwen2-VL, Qwen2.5-VL and Qwen3-Omni say `min_pixels` and
            // `max_pixels` (the class alone would take 1,003,520 at most).
            "qwen2_vl" | "qwen2_5_vl" | "qwen3_omni_moe_thinker" => area(3_136, 12_845_056),
            // The same class; preprocessor_config.json of Qwen3-VL and Qwen3.5: `size` of 65,536 to 16,777,216.
            "qwen3_vl" | "qwen3_vl_moe" | "qwen3_5" | "qwen3_5_moe" => area(65_536, 16_777_216),
            // The same class, whose own `size` is 56 · 56 to 28 · 28 · 1,280.
            "exaone4_5" => return (area(3_136, 1_003_520), ImageRule::ClassDefaults),
            // image_processing_glm4v.py, image_processing_glm46v.py; preprocessor_config.json of GLM-4.1V to GLM-4.6V and GLM-OCR: `size`
            // of 12,544 to 9,633,792, of the two frames that an image counts as.
            "glm4v" | "glm4v_moe" | "glm46v" | "glm_ocr" => {
                Self::Area(Area { least: 12_544, most: 9_633_792, frames: 2, enlarges: true })
            }
            // image_processing_pixtral.py; `longest_edge` is the tower's image size in Mistral Small 3.1's and Pixtral's.
            "mistral3" => Self::LongestSide,
            // image_processing_gemma4.py `max_soft_tokens`.
            "gemma4" | "gemma4_large" => Self::Budget { positions: 280 },
            // image_processing_muse_glimmer.py `max_image_tokens`.
            "muse_glimmer" => return (Self::NearestGrid { positions: 4_096 }, ImageRule::ClassDefaults),
            // image_processing_gemma3.py without `do_pan_and_scan`, its default; image_processing_llava.py with the sides of CLIP's tower;
            // image_processing_siglip.py.
            "gemma3" | "llava" | "paligemma" => Self::Square,
            // image_processing_mllama.py pads to `max_image_tiles`; processing_mllama.py leaves one token for an image.
            "mllama" => Self::Attended,
            // image_processing_got_ocr2.py `max_patches`; processing_internvl.py cuts unless told otherwise.
            "internvl" => Self::NearestShape { most: 12 },
            // image_processing_llama4.py `max_patches`; `resize_to_max_canvas` is off.
            "llama4" => Self::Canvas { most: 16 },
            // image_processing_idefics3.py, image_processing_smolvlm.py: `size` is four of `max_image_size`, in their checkpoints too.
            "idefics3" | "smolvlm" => Self::LongestInTiles { tiles: 4 },
            "llava_next" | "llava_onevision" => Self::Resolutions,
            _ => return (Self::Rounded, ImageRule::Unknown),
        };
        (rule, ImageRule::Checkpoints)
    }

    /// The same with at most so many pixels, where the processor itself has such a bound.
    #[must_use]
    pub(super) fn bounded(self, most: u64) -> Self {
        match self {
            Self::Area(area) => Self::Area(Area { most, ..area }),
            other => other,
        }
    }

    /// Whether images of other shapes have other numbers of patches; otherwise they have other numbers of tiles, if any.
    pub(super) fn counts_patches(self) -> bool {
        matches!(
            self,
            Self::Area(_) | Self::LongestSide | Self::Budget { .. } | Self::NearestGrid { .. } | Self::Rounded
        )
    }

    /// Patches of a side that become one position together, where no key of the config says it: the shuffle of InternVL's and Llama 4's
    /// pixels by a half, as their classes were recorded (`downsample_ratio`, `pixel_shuffle_ratio`).
    pub(super) fn merges(self) -> Option<u64> {
        matches!(self, Self::NearestShape { .. } | Self::Canvas { .. }).then_some(2)
    }
}

/// Sides of an image whose area is brought to `most` pixels where it is larger, as trainers do it before the processor: llamafactory
/// data/mm_plugin.py `_preprocess_image`, ms-swift template/vision_utils.py `rescale_image`.
pub(super) fn scaled_down((height, width): Sides, most: u64) -> Sides {
    let area = height.saturating_mul(width);
    if area <= most {
        return (height, width);
    }
    let by = (most as f64 / area as f64).sqrt();
    let side = |side: u64| ((side as f64 * by) as u64).max(1);
    (side(height), side(width))
}

impl Area {
    /// Height and width in pixels that an image is brought to, whole numbers of `step` (`smart_resize`); `None`: the processor raises.
    pub(super) fn resized(self, (height, width): Sides, step: u64) -> Option<Sides> {
        let (mut high, mut wide, step) = (height as f64, width as f64, step as f64);
        if self.enlarges && high.min(wide) < step {
            let scale = (step / high).max(step / wide);
            (high, wide) = ((high * scale).trunc(), (wide * scale).trunc());
        }
        if high.max(wide) / high.min(wide) > LONGEST as f64 {
            return None;
        }
        let frames = self.frames as f64;
        let (least, most) = (self.least as f64, self.most as f64);
        let rounded = |side: f64| (side / step).round_ties_even() * step;
        let area = frames * rounded(high) * rounded(wide);
        let sides = if area > most {
            let by = (frames * high * wide / most).sqrt();
            let side = |side: f64| ((side / by / step).floor() * step).max(step);
            (side(high), side(wide))
        } else if area < least {
            let by = (least / (frames * high * wide)).sqrt();
            let side = |side: f64| (side * by / step).ceil() * step;
            (side(high), side(wide))
        } else {
            (rounded(high), rounded(wide))
        };
        Some((sides.0 as u64, sides.1 as u64))
    }
}

/// Height and width in patches of an image whose longest side is at most `longest` pixels, rounded up to `step` pixels
/// (image_processing_pixtral.py `get_resize_output_image_size`).
pub(super) fn to_longest_side((height, width): Sides, longest: u64, step: u64) -> Sides {
    let by = (height as f64 / longest as f64).max(width as f64 / longest as f64);
    let side = |side: u64| {
        let pixels = if by > 1.0 { (side as f64 / by).floor() as u64 } else { side };
        pixels.div_ceil(step.max(1)).max(1)
    };
    (side(height), side(width))
}

/// Positions of an image of at most `most` of them, each of `step` pixels a side, in height and width
/// (image_processing_gemma4.py `get_aspect_ratio_preserving_size`).
pub(super) fn within_budget((height, width): Sides, most: u64, step: u64) -> Sides {
    let (high, wide, step) = (height as f64, width as f64, step as f64);
    let by = (most as f64 * step * step / (high * wide)).sqrt();
    let side = |side: f64| (by * side / step).floor() as u64;
    let along = |long: f64, short: f64| ((long / short).floor() as u64).min(most);
    match (side(high), side(wide)) {
        (0, _) => (1, along(wide, high)),
        (_, 0) => (along(high, wide), 1),
        sides => sides,
    }
}

/// Positions of an image, each of `step` pixels a side, in height and width: sides rounded down or up, whichever keeps its shape best
/// (image_processing_muse_glimmer.py `smart_resize`). Of a square image two do, and the processor takes that which a set of Python has first.
pub(super) fn nearest_grid((height, width): Sides, most: u64, step: u64) -> Sides {
    let shape = height as f64 / width as f64;
    let (mut high, mut wide) = (height as f64 / step as f64, width as f64 / step as f64);
    let ratio = if high > 0.0 { wide / high } else { 1.0 };
    if high * wide > most as f64 {
        high = (most as f64 / ratio).sqrt();
        wide = high * ratio;
    }
    let both = |side: f64| [side.floor() as u64, side.ceil() as u64];
    let pairs = both(high).into_iter().flat_map(|rows| both(wide).map(|columns| (rows, columns)));
    let fits = |&(rows, columns): &Sides| rows >= 1 && columns >= 1 && rows.saturating_mul(columns) <= most;
    let apart = |&(rows, columns): &Sides| (rows as f64 / columns as f64 - shape).abs();
    let nearest =
        in_order_of_a_set(pairs).into_iter().filter(fits).min_by(|one, other| apart(one).total_cmp(&apart(other)));
    nearest.unwrap_or((high.round_ties_even().max(1.0) as u64, wide.round_ties_even().max(1.0) as u64))
}

/// Up to four pairs in the order in which a Python set of them is read: that of its table of eight places (CPython
/// Objects/tupleobject.c `tuplehash`, Objects/setobject.c `set_add_entry`).
fn in_order_of_a_set(pairs: impl Iterator<Item = Sides>) -> Vec<Sides> {
    const LANE: u64 = 14_029_467_366_897_019_727;
    const MIX: u64 = 11_400_714_785_074_694_791;
    const SEED: u64 = 2_870_177_450_012_600_261;
    let hash = |pair: Sides| {
        let mixed = [pair.0, pair.1].into_iter().fold(SEED, |mixed, number| {
            mixed.wrapping_add(number.wrapping_mul(LANE)).rotate_left(31).wrapping_mul(MIX)
        });
        mixed.wrapping_add(2 ^ SEED ^ 3_527_539)
    };
    let mut table = [None; 8];
    for pair in pairs {
        let mut rest = hash(pair);
        let mut place = rest & 7;
        while table[place as usize].is_some_and(|other| other != pair) {
            rest >>= 5;
            place = place.wrapping_mul(5).wrapping_add(1).wrapping_add(rest) & 7;
        }
        table[place as usize] = Some(pair);
    }
    table.into_iter().flatten().collect()
}

/// Tiles of the arrangement whose shape is nearest to the image's; of several as near, the largest that the image fills by more than half
/// (image_processing_got_ocr2.py `get_optimal_tiled_canvas`). An image in several tiles has the whole of it as one more.
pub(super) fn nearest_shape((height, width): Sides, tile: u64, most: u64) -> u64 {
    let mut shapes: Vec<Sides> = (1..=most)
        .flat_map(|columns| (1..=most).map(move |rows| (columns, rows)))
        .filter(|(columns, rows)| columns * rows <= most)
        .collect();
    shapes.sort_by_key(|(columns, rows)| columns * rows);
    let shape = width as f64 / height as f64;
    let area = width as f64 * height as f64;
    let (mut nearest, mut tiles) = (f64::INFINITY, 1);
    for (columns, rows) in shapes {
        let apart = (shape - columns as f64 / rows as f64).abs();
        let fills = || area > 0.5 * tile as f64 * tile as f64 * columns as f64 * rows as f64;
        if apart < nearest || apart == nearest && fills() {
            (nearest, tiles) = (apart, columns * rows);
        }
    }
    with_whole(tiles)
}

/// Tiles of the smallest canvas that an image fits on; where it fits on none, of the one that shrinks it least; of several as good, the one
/// with the fewest (image_processing_llama4.py `get_best_fit`, which reckons in fp32).
pub(super) fn canvas((height, width): Sides, tile: u64, most: u64) -> u64 {
    let scale = |rows: u64, columns: u64| {
        let of = |tiles: u64, side: u64| tiles.saturating_mul(tile) as f32 / side as f32;
        of(rows, height).min(of(columns, width))
    };
    let all = (1..=most).flat_map(|rows| (1..=most / rows).map(move |columns| (rows, columns)));
    let scales: Vec<(f32, u64)> = all.map(|(rows, columns)| (scale(rows, columns), rows * columns)).collect();
    let enlarging = scales.iter().map(|(scale, _)| *scale).filter(|scale| *scale >= 1.0).reduce(f32::min);
    let best = enlarging.or_else(|| scales.iter().map(|(scale, _)| *scale).reduce(f32::max));
    let fewest = scales.iter().filter(|(scale, _)| Some(*scale) == best).map(|(_, tiles)| *tiles).min();
    with_whole(fewest.unwrap_or(1))
}

/// Tiles of an image whose longest side becomes `tiles` of them, the whole of it among them (image_processing_idefics3.py
/// `_resize_output_size_rescale_to_max_len`, `_resize_output_size_scale_below_upper_bound`, `resize_for_vision_encoder`, `split_images`).
pub(super) fn longest_in_tiles((height, width): Sides, tile: u64, tiles: u64) -> u64 {
    /// No side is longer, in pixels.
    const MOST: u64 = 4_096;
    let scaled = |(high, wide): Sides, longest: u64| {
        let shape = wide as f64 / high as f64;
        if wide >= high {
            ((longest as f64 / shape) as u64, longest)
        } else {
            (longest, (longest as f64 * shape) as u64)
        }
    };
    let even = |side: u64| side.saturating_add(side % 2).max(1);
    let tile = tile.max(1);
    let mut sides = scaled((height, width), tile.saturating_mul(tiles));
    sides = if width >= height { (even(sides.0), sides.1) } else { (sides.0, even(sides.1)) };
    if sides.0.max(sides.1) > MOST {
        sides = scaled(sides, MOST);
    }
    let sides = (sides.0.max(1), sides.1.max(1));
    let longest = sides.0.max(sides.1).div_ceil(tile);
    let (high, wide) = scaled(sides, longest.saturating_mul(tile));
    with_whole(high.div_ceil(tile).max(1).saturating_mul(wide.div_ceil(tile).max(1)))
}

/// Tiles with the whole image, which an image of one tile is by itself.
fn with_whole(tiles: u64) -> u64 {
    if tiles > 1 { tiles.saturating_add(1) } else { 1 }
}
