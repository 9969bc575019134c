//! What the inks promise, measured.

use super::*;

/// Linear sRGB components of `#rrggbb`.
fn linear(hex: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or(0)) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

/// WCAG 2.2 contrast ratio.
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |hex: &str| {
        let [r, g, b] = linear(hex);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// CIELAB (D65, 2°) of linear sRGB, IEC 61966-2-1.
fn lab(rgb: [f64; 3]) -> [f64; 3] {
    const XYZ: [[f64; 3]; 3] = [
        [0.412_456_4, 0.357_576_1, 0.180_437_5],
        [0.212_672_9, 0.715_152_2, 0.072_175_0],
        [0.019_333_9, 0.119_192_0, 0.950_304_1],
    ];
    const WHITE: [f64; 3] = [0.950_47, 1.0, 1.088_83];
    let mut curved = [0.0; 3];
    for ((to, row), white) in curved.iter_mut().zip(XYZ).zip(WHITE) {
        let t = row.iter().zip(rgb).map(|(m, c)| m * c).sum::<f64>() / white;
        *to = if t > 216.0 / 24_389.0 { t.cbrt() } else { (24_389.0 / 27.0 * t + 16.0) / 116.0 };
    }
    let [x, y, z] = curved;
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// CIEDE2000 with its usual weights of 1 (Sharma, Wu and Dalal 2005, equations 2 to 22).
fn ciede2000([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
    let far = |chroma: f64| (chroma.powi(7) / (chroma.powi(7) + 25f64.powi(7))).sqrt();
    let widened = 1.0 + 0.5 * (1.0 - far((a1.hypot(b1) + a2.hypot(b2)) / 2.0));
    let (a1, a2) = (a1 * widened, a2 * widened);
    let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
    let hue = |a: f64, b: f64| if a == 0.0 && b == 0.0 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) };
    let (h1, h2) = (hue(a1, b1), hue(a2, b2));
    let is_grey = c1 * c2 == 0.0;
    let turn = match h2 - h1 {
        _ if is_grey => 0.0,
        turn if turn > 180.0 => turn - 360.0,
        turn if turn < -180.0 => turn + 360.0,
        turn => turn,
    };
    let mean_hue = match h1 + h2 {
        sum if is_grey => sum,
        sum if (h1 - h2).abs() <= 180.0 => sum / 2.0,
        sum if sum < 360.0 => (sum + 360.0) / 2.0,
        sum => (sum - 360.0) / 2.0,
    };
    let (mean_l, mean_c) = ((l1 + l2) / 2.0, (c1 + c2) / 2.0);
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(mean_hue - 30.0) + 0.24 * cos(2.0 * mean_hue) + 0.32 * cos(3.0 * mean_hue + 6.0)
        - 0.20 * cos(4.0 * mean_hue - 63.0);
    let squared = (mean_l - 50.0).powi(2);
    let light = (l2 - l1) / (1.0 + 0.015 * squared / (20.0 + squared).sqrt());
    let chroma = (c2 - c1) / (1.0 + 0.045 * mean_c);
    let hue = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin() / (1.0 + 0.015 * mean_c * t);
    let rotated = 60.0 * (-((mean_hue - 275.0) / 25.0).powi(2)).exp();
    let rotation = -2.0 * far(mean_c) * rotated.to_radians().sin();
    (light.powi(2) + chroma.powi(2) + hue.powi(2) + rotation * chroma * hue).sqrt()
}

#[test]
fn the_difference_of_colours_is_that_of_its_authors() {
    // Pairs 1, 7, 10, 17, 19 and 25 of table 1 of Sharma, Wu and Dalal 2005.
    let pairs = [
        ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
        ([50.0, 0.0, 0.0], [50.0, -1.0, 2.0], 2.3669),
        ([50.0, 2.49, -0.001], [50.0, -2.49, 0.0010], 7.1792),
        ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
        ([50.0, 2.5, 0.0], [56.0, -27.0, -3.0], 31.9030),
        ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
    ];
    for (a, b, difference) in pairs {
        assert!((ciede2000(a, b) - difference).abs() < 1e-4, "{a:?} and {b:?}: {}", ciede2000(a, b));
        assert!((ciede2000(b, a) - difference).abs() < 1e-4, "{b:?} and {a:?}: {}", ciede2000(b, a));
    }
}

/// Normal sight, and protanopia, deuteranopia and tritanopia (severity 1.0) after Machado, Oliveira and Fernandes 2009, table 1.
const SIGHTS: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
];

/// What the rows of [`SIGHTS`] are called.
const NAMES: [&str; 4] = ["normal sight", "protanopia", "deuteranopia", "tritanopia"];

/// CIEDE2000 difference of two colours as each of [`SIGHTS`] sees them.
fn differences(a: &str, b: &str) -> [f64; 4] {
    let seen = |hex: &str, sight: &[[f64; 3]; 3]| {
        let rgb = linear(hex);
        lab(sight.map(|row| row.iter().zip(rgb).map(|(m, c)| m * c).sum::<f64>().clamp(0.0, 1.0)))
    };
    SIGHTS.map(|sight| ciede2000(seen(a, &sight), seen(b, &sight)))
}

/// The smallest of them: about 1 is just noticeable.
fn distance(a: &str, b: &str) -> f64 {
    differences(a, b).into_iter().fold(f64::INFINITY, f64::min)
}

#[test]
fn categories_stand_out_from_the_ground() {
    for dark in [false, true] {
        let ground = if dark { "#14181f" } else { "#ffffff" };
        for category in Category::ALL {
            let colour = category_colour(*category, dark);
            assert!(contrast(colour, ground) >= 3.0, "{colour} on {ground}: {}", contrast(colour, ground));
        }
    }
}

#[test]
fn the_weakest_pair_of_categories_is_told_apart_by_every_sight() {
    for dark in [false, true] {
        for (at, sight) in NAMES.iter().enumerate() {
            let mut weakest = (f64::INFINITY, "", "");
            for (i, a) in Category::ALL.iter().enumerate() {
                for b in Category::ALL.iter().skip(i + 1) {
                    let far = differences(category_colour(*a, dark), category_colour(*b, dark))[at];
                    if far < weakest.0 {
                        weakest = (far, a.name(), b.name());
                    }
                }
            }
            let (far, a, b) = weakest;
            println!("{} ground, {sight}: {a} and {b}, {far:.2}", if dark { "dark" } else { "light" });
            assert!(far > 20.0, "{sight}: {a} and {b}, {far}");
        }
    }
}

#[test]
fn text_inks_are_legible() {
    for ink in [Ink::Text, Ink::Muted, Ink::Capacity] {
        let swatch = ink.swatch().1;
        assert!(contrast(swatch.light, "#ffffff") >= 4.5, "{}", swatch.name);
        assert!(contrast(swatch.dark, "#14181f") >= 4.5, "{}", swatch.name);
        // The current plan's labels stand on its lane.
        assert!(contrast(swatch.light, Ink::Lane.swatch().1.light) >= 4.5, "{}", swatch.name);
        assert!(contrast(swatch.dark, Ink::Lane.swatch().1.dark) >= 4.5, "{}", swatch.name);
    }
}

fn colours(ink: Ink) -> [&'static str; 2] {
    let swatch = ink.swatch().1;
    [swatch.light, swatch.dark]
}

#[test]
fn steps_of_a_waterfall_are_told_apart() {
    let inks = [Ink::Need, Ink::Saves, Ink::Adds].map(colours);
    for (theme, ground) in colours(Ink::Surface).into_iter().enumerate() {
        for (i, a) in inks.iter().enumerate() {
            assert!(contrast(a[theme], ground) >= 3.0, "{}", a[theme]);
            for b in &inks[i + 1..] {
                assert!(distance(a[theme], b[theme]) > 20.0, "{} and {}", a[theme], b[theme]);
            }
        }
    }
}

#[test]
fn the_scale_of_use_runs_one_way_and_what_does_not_fit_is_not_on_it() {
    let scale: Vec<[&str; 2]> = (0..8).map(|eighth| colours(Ink::Use(eighth))).collect();
    let [tight, beyond] = [Ink::Tight, Ink::Beyond].map(colours);
    for (theme, ground) in colours(Ink::Surface).into_iter().enumerate() {
        for pair in scale.windows(2) {
            let [a, b] = [pair[0][theme], pair[1][theme]];
            assert!(contrast(b, ground) > contrast(a, ground), "{b} after {a}");
            assert!(distance(a, b) >= 6.0, "{a} and {b}: {}", distance(a, b));
        }
        for step in &scale {
            for apart in [tight, beyond] {
                let far = distance(step[theme], apart[theme]);
                assert!(far >= 15.0, "{} and {}: {far}", step[theme], apart[theme]);
            }
        }
        assert!(distance(tight[theme], beyond[theme]) >= 14.0);
    }
}

#[test]
fn every_ink_survives_the_way_through_plotters() {
    for swatch in &SWATCHES {
        let RGBColor(r, g, b) = swatch.ink.token();
        assert_eq!(Ink::from_token((r, g, b)), swatch.ink);
    }
}

#[test]
fn swatches_are_named_like_fills() {
    for category in Category::ALL {
        let name = swatch_class(*category).trim_start_matches("swatch-");
        assert_eq!(Ink::Category(*category).fill(Palette::Classes), format!("class=\"fill-{name}\""));
    }
}
