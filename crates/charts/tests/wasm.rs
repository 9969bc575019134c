//! Pictures are the same bytes in wasm as natively: both are compared with the golden files.
//!
//! Natively with `cargo test`, in wasm with `cargo xtask test --only wasm`. There plotters' own text measuring would ask for a page that
//! the runner does not have.

mod samples;

use headroom_charts::{FitMap, Palette, comparison_svg, fit_map_svg, phases_svg, waterfall_svg};
use samples::{GIB, LEVERS_START, bars, estimate, levers, look, map, map_look};
#[cfg(not(target_arch = "wasm32"))]
use test as portable_test;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as portable_test;

#[portable_test]
fn columns_are_the_same_bytes_everywhere() {
    let svg = comparison_svg(&bars(), 24 * GIB, &look(1000, Palette::Classes)).svg;
    assert!(svg == include_str!("golden/comparison-wide.svg"));
}

#[portable_test]
fn rows_are_the_same_bytes_everywhere() {
    let svg = comparison_svg(&bars(), 24 * GIB, &look(340, Palette::Light)).svg;
    assert!(svg == include_str!("golden/comparison-narrow.svg"));
}

#[portable_test]
fn phases_are_the_same_bytes_everywhere() {
    let svg = phases_svg(&estimate(), &look(900, Palette::Light)).svg;
    assert!(svg == include_str!("golden/phases-wide.svg"));
}

#[portable_test]
fn waterfalls_are_the_same_bytes_everywhere() {
    let svg = waterfall_svg(&levers(), LEVERS_START, 24 * GIB, &look(1000, Palette::Classes)).svg;
    assert!(svg == include_str!("golden/waterfall-wide.svg"));
    let svg = waterfall_svg(&levers(), LEVERS_START, 24 * GIB, &look(340, Palette::Light)).svg;
    assert!(svg == include_str!("golden/waterfall-narrow.svg"));
}

#[portable_test]
fn fit_maps_are_the_same_bytes_everywhere() {
    let fit_map = FitMap { map: &map(), tight_share: 0.93, current: (6, 2048) };
    let svg = fit_map_svg(&fit_map, &map_look(720, Palette::Classes)).svg;
    assert!(svg == include_str!("golden/fit-map-wide.svg"));
}
