//! The pictures of advice: golden files under `tests/golden`, and what must hold of any of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod samples;

use headroom_charts::{FitMap, FitMapLook, Look, Palette, Picture, fit_map_svg, stylesheet, waterfall_svg};
use samples::{GIB, LEVERS_START, assert_golden, chinese, chinese_levers, chinese_map, levers, look, map, map_look};

fn waterfall(look: &Look) -> Picture {
    waterfall_svg(&levers(), LEVERS_START, 24 * GIB, look)
}

fn fit_map(look: &FitMapLook) -> Picture {
    fit_map_svg(&FitMap { map: &map(), tight_share: 0.93, current: (6, 2048) }, look)
}

#[test]
fn waterfalls() {
    for (name, width, palette) in [
        ("wide", 1000, Palette::Classes),
        ("wide-light", 1000, Palette::Light),
        ("wide-dark", 1000, Palette::Dark),
        ("narrow", 340, Palette::Light),
    ] {
        assert_golden(&format!("waterfall-{name}.svg"), &waterfall(&look(width, palette)).svg);
    }
    for (name, width, palette) in [("wide", 1000, Palette::Light), ("narrow", 340, Palette::Dark)] {
        let look = Look { texts: chinese(), ..look(width, palette) };
        let picture = waterfall_svg(&chinese_levers(), LEVERS_START, 24 * GIB, &look);
        assert_golden(&format!("waterfall-chinese-{name}.svg"), &picture.svg);
    }
}

#[test]
fn fit_maps() {
    for (name, width, palette) in [
        ("wide", 720, Palette::Classes),
        ("wide-light", 720, Palette::Light),
        ("wide-dark", 720, Palette::Dark),
        ("narrow", 340, Palette::Light),
    ] {
        assert_golden(&format!("fit-map-{name}.svg"), &fit_map(&map_look(width, palette)).svg);
    }
    for (name, width, palette) in [("wide", 720, Palette::Light), ("narrow", 340, Palette::Dark)] {
        let look = FitMapLook { texts: chinese_map(), ..map_look(width, palette) };
        assert_golden(&format!("fit-map-chinese-{name}.svg"), &fit_map(&look).svg);
    }
}

#[test]
fn a_page_with_a_strict_policy_can_show_them() {
    let css = stylesheet();
    for width in [340, 1000] {
        let pictures = [waterfall(&look(width, Palette::Classes)), fit_map(&map_look(width, Palette::Classes))];
        for Picture { svg, .. } in pictures {
            assert!(!svg.contains("style=") && !svg.contains("href") && !svg.contains('#'), "{svg}");
            assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
            let painted = svg.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next());
            for class in painted.filter(|class| class.starts_with("fill-") || class.starts_with("stroke-")) {
                assert!(css.contains(&format!(".{class} {{")), "{class}");
            }
        }
    }
}

#[test]
fn every_lever_has_its_bar_and_says_what_it_saves() {
    for width in [340, 1000] {
        let Picture { svg, hits, .. } = waterfall(&look(width, Palette::Classes));
        let ids: Vec<String> = levers().into_iter().map(|lever| lever.id).collect();
        let drawn: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
        assert_eq!(drawn.first().zip(drawn.last()), Some((&"before", &"after")));
        assert_eq!(drawn[1..drawn.len() - 1], ids);
        for value in ["43.7", "−1.30", "−8.80", "−5.50", "+0.80", "−2.70", "−36.9 MiB", "−3.86", "22.3"] {
            assert!(svg.contains(&format!(">{value}<")), "{value} at {width}");
        }
        assert_eq!(svg.matches("class=\"fill-saves\"").count(), 6);
        assert_eq!(svg.matches("class=\"fill-adds\"").count(), 1);
        assert!(svg.contains("LoRA rank 16 → 8: −36.9 MiB → 26.2 GiB, Does not fit; the training changes"));
    }
}

#[test]
fn only_marks_that_occur_are_explained() {
    let mild: Vec<_> = levers().into_iter().take(3).collect();
    let svg = waterfall_svg(&mild, LEVERS_START, 24 * GIB, &look(1000, Palette::Light)).svg;
    assert!(!svg.contains("the training changes<") && !svg.contains("lower precision"));
    let svg = waterfall(&look(1000, Palette::Light)).svg;
    assert!(
        svg.contains(">the training changes<") && svg.contains(">lower precision of arithmetic or optimizer state<")
    );
}

#[test]
fn a_cell_of_the_map_is_what_its_share_says() {
    let Picture { svg, hits, .. } = fit_map(&map_look(720, Palette::Classes));
    assert_eq!(hits.len(), 24 * 24);
    let of = map();
    let cells: Vec<&str> = svg.lines().filter(|line| line.contains("data-id=")).collect();
    assert_eq!(cells.len(), 24 * 24);
    for (row, shares) in of.used_share.iter().enumerate() {
        for (column, share) in shares.iter().enumerate() {
            let cell = cells.iter().find(|line| line.contains(&format!("data-id=\"{column},{row}\""))).unwrap();
            let (class, said) = match *share {
                share if share > 1.0 => ("beyond".to_owned(), "Does not fit"),
                share if share > 0.93 => ("tight".to_owned(), "Tight"),
                share => (format!("use-{}", (share * 8.0).floor()), "Fits"),
            };
            assert!(cell.contains(&format!("class=\"fill-{class}\"")), "{cell}");
            assert!(cell.contains(&format!(" %, {said}</title>")), "{cell}");
        }
    }
}

#[test]
fn cells_share_no_pixel_and_lie_where_they_are_touched() {
    let Picture { svg, hits, width, height, .. } = fit_map(&map_look(340, Palette::Classes));
    for (i, a) in hits.iter().enumerate() {
        assert!(
            a.x >= 0 && a.y >= 0 && a.x.cast_unsigned() + a.width <= width && a.y.cast_unsigned() + a.height <= height
        );
        assert!(svg.contains(&format!("<rect x=\"{}\" y=\"{}\" ", a.x, a.y)), "{a:?}");
        for b in &hits[i + 1..] {
            let besides = a.x + a.width.cast_signed() <= b.x || b.x + b.width.cast_signed() <= a.x;
            let over = a.y + a.height.cast_signed() <= b.y || b.y + b.height.cast_signed() <= a.y;
            assert!(besides || over, "{a:?} and {b:?}");
        }
    }
}
