//! Whatever is drawn, there is a picture.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod samples;

use headroom_charts::{
    Bar, FitMap, FitMapLook, FitMapTexts, LeverBar, Look, Orientation, Palette, Texts, comparison_svg, fit_map_svg,
    phases_svg, waterfall_svg,
};
use headroom_core::advise::Level;
use headroom_core::advise::map::Map;
use headroom_core::memory::Category;
use headroom_text::ENGLISH;
use proptest::prelude::*;

/// Bytes of every order of magnitude, with the ends.
fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)]
}

fn some_bar() -> impl Strategy<Value = Bar> {
    let parts = prop::collection::vec((0..Category::ALL.len(), bytes()), 0..12);
    (parts, bytes(), "\\PC{0,24}", prop_oneof![Just(""), Just("Full"), Just("全量微调")], any::<bool>(), "\\PC{0,8}")
        .prop_map(|(parts, total, label, group, selected, id)| Bar {
            label,
            group: group.to_owned(),
            parts: parts.into_iter().map(|(category, bytes)| (Category::ALL[category], bytes)).collect(),
            total,
            selected,
            id,
        })
}

fn some_look() -> impl Strategy<Value = Look> {
    let side = || prop_oneof![0u32..2000, Just(u32::MAX)];
    let orientation = prop_oneof![Just(Orientation::Auto), Just(Orientation::Columns), Just(Orientation::Rows)];
    let palette = prop_oneof![Just(Palette::Classes), Just(Palette::Light), Just(Palette::Dark)];
    (side(), side(), orientation, palette, "\\PC{0,40}", any::<String>()).prop_map(
        |(width, height, orientation, palette, capacity, title)| Look {
            width,
            height,
            orientation,
            palette,
            texts: Texts::of(&ENGLISH, title, capacity),
        },
    )
}

fn some_lever() -> impl Strategy<Value = LeverBar> {
    ("\\PC{0,24}", bytes(), 0..Level::ALL.len(), "\\PC{0,8}").prop_map(|(label, need_bytes, level, id)| LeverBar {
        label,
        need_bytes,
        level: Level::ALL[level],
        id,
    })
}

/// A map whose rows need not be as long as its axes say.
fn some_map() -> impl Strategy<Value = Map> {
    let axis = || prop::collection::vec(bytes(), 0..10);
    let share = prop_oneof![0.0..3.0f64, Just(1.0), Just(f64::INFINITY), Just(f64::NAN), Just(-1.0), any::<f64>()];
    let used_share = prop::collection::vec(prop::collection::vec(share, 0..10), 0..10);
    (axis(), axis(), used_share).prop_map(|(batches, lengths, used_share)| Map { batches, lengths, used_share })
}

/// Numbers of the attribute `name` in `svg`.
fn numbers<'a>(svg: &'a str, name: &str) -> impl Iterator<Item = f64> + 'a {
    let opening = format!(" {name}=\"");
    let values: Vec<&str> = svg.split(opening.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    values.into_iter().filter_map(|value| value.parse().ok())
}

proptest! {
    #[test]
    fn every_comparison_is_drawn(bars in prop::collection::vec(some_bar(), 0..40), gpu in bytes(), look in some_look()) {
        let picture = comparison_svg(&bars, gpu, &look);
        prop_assert!(picture.svg.starts_with("<svg ") && picture.svg.ends_with("</svg>\n"));
        prop_assert_eq!(picture.hits.len(), bars.len());
        prop_assert_eq!(picture.svg.matches("<g ").count(), bars.len());
        prop_assert_eq!(picture.svg.matches("</g>").count(), bars.len());
        for (name, most) in [("x", picture.width), ("y", picture.height), ("width", picture.width), ("height", picture.height)] {
            for value in numbers(&picture.svg, name) {
                prop_assert!((-4.0..=f64::from(most) + 4.0).contains(&value), "{name}={value} of {most}");
            }
        }
    }

    #[test]
    fn the_same_bars_give_the_same_bytes(bars in prop::collection::vec(some_bar(), 0..8), gpu in bytes(), look in some_look()) {
        prop_assert_eq!(comparison_svg(&bars, gpu, &look), comparison_svg(&bars, gpu, &look));
    }

    #[test]
    fn every_estimate_is_drawn(gpu in bytes(), context in bytes(), look in some_look(), kept in 0usize..8) {
        let mut estimate = samples::estimate();
        estimate.gpu_bytes = gpu;
        estimate.peak.context_bytes = context;
        estimate.phases.truncate(kept);
        let picture = phases_svg(&estimate, &look);
        prop_assert!(picture.svg.ends_with("</svg>\n"));
        prop_assert_eq!(picture.hits.len(), kept.min(7));
    }

    #[test]
    fn every_waterfall_is_drawn(levers in prop::collection::vec(some_lever(), 0..20), start in bytes(), gpu in bytes(), look in some_look()) {
        let picture = waterfall_svg(&levers, start, gpu, &look);
        prop_assert!(picture.svg.starts_with("<svg ") && picture.svg.ends_with("</svg>\n"));
        prop_assert_eq!(picture.hits.len(), levers.len() + 2);
        let drawn = ["need", "saves", "adds"].map(|ink| picture.svg.matches(&format!("class=\"fill-{ink}\"")).count());
        if look.palette == Palette::Classes {
            prop_assert_eq!(drawn.iter().sum::<usize>(), levers.len() + 2, "a bar each, however small");
        }
        for (name, most) in [("x", picture.width), ("y", picture.height), ("width", picture.width), ("height", picture.height)] {
            for value in numbers(&picture.svg, name) {
                prop_assert!((-4.0..=f64::from(most) + 4.0).contains(&value), "{name}={value} of {most}");
            }
        }
    }

    #[test]
    fn every_fit_map_is_drawn(map in some_map(), tight_share in any::<f64>(), current in (bytes(), bytes()), width in any::<u32>()) {
        let look = FitMapLook { width, palette: Palette::Classes, texts: FitMapTexts::of(&ENGLISH, String::new(), false) };
        let picture = fit_map_svg(&FitMap { map: &map, tight_share, current }, &look);
        prop_assert!(picture.svg.starts_with("<svg ") && picture.svg.ends_with("</svg>\n"));
        prop_assert_eq!(picture.hits.len(), map.batches.len() * map.lengths.len());
        for (name, most) in [("x", picture.width), ("y", picture.height)] {
            for value in numbers(&picture.svg, name) {
                prop_assert!((0.0..=f64::from(most)).contains(&value), "{name}={value} of {most}");
            }
        }
    }
}
