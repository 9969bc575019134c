//! Pictures as they are: golden files under `tests/golden`, rewritten with `HEADROOM_UPDATE_GOLDEN=1`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod samples;

use headroom_charts::{Look, Orientation, Palette, comparison_svg, phases_svg, stylesheet};
use samples::{GIB, assert_golden, bars, chinese, chinese_bars, compare, estimate, look};

#[test]
fn comparison_wide_by_classes() {
    assert_golden("comparison-wide.svg", &comparison_svg(&bars(), 24 * GIB, &look(1000, Palette::Classes)).svg);
}

#[test]
fn comparison_wide_light_and_dark() {
    for (name, palette) in [("light", Palette::Light), ("dark", Palette::Dark)] {
        let picture = comparison_svg(&bars(), 24 * GIB, &look(1000, palette));
        assert_golden(&format!("comparison-wide-{name}.svg"), &picture.svg);
    }
}

#[test]
fn comparison_narrow() {
    assert_golden("comparison-narrow.svg", &comparison_svg(&bars(), 24 * GIB, &look(340, Palette::Light)).svg);
}

#[test]
fn comparison_in_chinese() {
    for (name, width, palette) in [("wide", 1000, Palette::Light), ("narrow", 340, Palette::Dark)] {
        let look = Look { texts: chinese(), ..look(width, palette) };
        let picture = comparison_svg(&chinese_bars(), 24 * GIB, &look);
        assert_golden(&format!("comparison-chinese-{name}.svg"), &picture.svg);
    }
}

#[test]
fn phases() {
    for (name, width) in [("wide", 900), ("narrow", 340)] {
        let picture = phases_svg(&estimate(), &look(width, Palette::Light));
        assert_golden(&format!("phases-{name}.svg"), &picture.svg);
    }
}

#[test]
fn the_style_sheet_file_is_what_the_inks_say() {
    compare(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("charts.css"), &stylesheet());
}

#[test]
fn a_page_with_a_strict_policy_can_show_it() {
    for width in [340, 1000] {
        let svg = comparison_svg(&bars(), 24 * GIB, &look(width, Palette::Classes)).svg;
        assert!(!svg.contains("style="), "inline style");
        assert!(!svg.contains("<script") && !svg.contains("href"), "script or reference");
        assert!(!svg.contains('#'), "a literal colour");
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert_eq!(svg.matches("data-id=").count(), bars().len());
    }
}

#[test]
fn every_class_is_in_the_style_sheet() {
    let css = stylesheet();
    let svg = comparison_svg(&bars(), 24 * GIB, &look(1000, Palette::Classes)).svg;
    let painted = svg.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let paints = painted.filter(|class| class.starts_with("fill-") || class.starts_with("stroke-"));
    assert!(paints.clone().count() > 50);
    for class in paints {
        assert!(css.contains(&format!(".{class} {{")), "{class}");
    }
}

#[test]
fn an_exceeding_bar_is_cut_marked_and_its_value_printed() {
    let svg = comparison_svg(&bars(), 24 * GIB, &look(1000, Palette::Light)).svg;
    assert!(svg.contains(">612<"), "the value of the bar that is cut");
    assert!(svg.contains("Full, ZeRO-0: 612 GiB, Does not fit"));
    assert!(svg.contains("QLoRA 4-bit, ZeRO-0: 7.05 GiB, Fits"));
}

#[test]
fn labels_decide_between_columns_and_rows() {
    let wide = comparison_svg(&bars(), 24 * GIB, &look(1000, Palette::Light));
    assert_eq!((wide.width, wide.height), (1000, 420));
    let narrow = comparison_svg(&bars(), 24 * GIB, &look(340, Palette::Light));
    assert_eq!(narrow.width, 340);
    assert!(narrow.hits.iter().all(|hit| hit.x == 0 && hit.width == 340), "rows span the picture");
    let mut many = bars();
    many.extend(bars());
    many.extend(bars());
    let crowded = comparison_svg(&many, 24 * GIB, &look(1000, Palette::Light));
    assert!(crowded.hits.iter().all(|hit| hit.width == 1000), "columns too thin for their labels become rows");
}

#[test]
fn touching_a_lane_means_its_bar() {
    for orientation in [Orientation::Columns, Orientation::Rows] {
        let picture = comparison_svg(&bars(), 24 * GIB, &Look { orientation, ..look(1000, Palette::Light) });
        let ids: Vec<&str> = picture.hits.iter().map(|hit| hit.id.as_str()).collect();
        assert_eq!(ids, bars().iter().map(|bar| bar.id.clone()).collect::<Vec<_>>());
        for (i, a) in picture.hits.iter().enumerate() {
            let inside = a.x >= 0
                && a.y >= 0
                && a.x.cast_unsigned() + a.width <= picture.width
                && a.y.cast_unsigned() + a.height <= picture.height;
            assert!(inside, "{a:?} in {} x {}", picture.width, picture.height);
            for b in &picture.hits[i + 1..] {
                let apart = a.x + a.width.cast_signed() <= b.x || a.y + a.height.cast_signed() <= b.y;
                assert!(apart, "{a:?} and {b:?}");
            }
        }
    }
}
