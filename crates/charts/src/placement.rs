//! Words stay inside the pictures of advice and apart from each other, measured as the pictures measure them.

use headroom_core::advise::Level;
use headroom_core::advise::map::Map;

use crate::fit_map::{FitMap, FitMapLook, FitMapTexts, fit_map_svg};
use crate::ink::Palette;
use crate::look::{Look, Orientation, Picture, Texts};
use crate::step::LeverBar;
use crate::text;
use crate::waterfall::waterfall_svg;

/// A text and its box: left, top, right, bottom.
type Placed = (String, [f64; 4]);

/// The texts of `svg`, from the element as the backend writes it.
fn placed(svg: &str) -> Vec<Placed> {
    let attribute = |tag: &str, name: &str| -> Option<f64> {
        tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.parse().ok()
    };
    let of = |line: &str| {
        let (tag, rest) = line.strip_prefix("<text")?.split_once('>')?;
        let words = rest.strip_suffix("</text>")?.replace("&amp;", "&");
        let (x, y, size) = (attribute(tag, "x")?, attribute(tag, "y")?, attribute(tag, "font-size")?);
        let width = text::width(&words, size, tag.contains("bold"));
        let left = match () {
            () if tag.contains("\"middle\"") => x - width / 2.0,
            () if tag.contains("\"end\"") => x - width,
            () => x,
        };
        Some((words, [left, y - 0.76 * size, left + width, y + 0.2 * size]))
    };
    svg.lines().filter_map(of).collect()
}

/// Panics where a text leaves the picture or touches another.
fn check(name: &str, picture: &Picture) {
    let texts = placed(&picture.svg);
    assert_eq!(texts.len(), picture.svg.matches("<text").count(), "{name}");
    for (i, (words, [left, top, right, bottom])) in texts.iter().enumerate() {
        let inside = *left >= -1.0
            && *top >= -1.0
            && *right <= f64::from(picture.width) + 1.0
            && *bottom <= f64::from(picture.height) + 1.0;
        assert!(inside, "{name}, {} wide: {words:?} at {left}..{right}, {top}..{bottom}", picture.width);
        for (other, [l, t, r, b]) in texts.iter().skip(i + 1) {
            let apart = r <= left || right <= l || b <= top || bottom <= t;
            assert!(apart, "{name}, {} wide: {words:?} and {other:?}", picture.width);
        }
    }
}

const GIB: u64 = 1 << 30;

fn levers(labels: &[&str]) -> Vec<LeverBar> {
    let needs = [40.0, 39.99, 31.0, 33.5, 24.1, 24.0, 12.0, 11.999];
    let one = |((label, need), level): ((&&str, f64), &Level)| LeverBar {
        label: (*label).to_owned(),
        need_bytes: (need * GIB as f64) as u64,
        level: *level,
        id: (*label).to_owned(),
    };
    labels.iter().zip(needs).zip(Level::ALL.iter().cycle()).map(one).collect()
}

#[test]
fn words_of_a_waterfall_stand_apart() {
    let english = [
        "Expandable segments",
        "Micro-batch 4 → 2",
        "Gradient checkpointing",
        "Liger loss",
        "8-bit AdamW, states in managed memory",
        "LoRA rank 16 → 8",
        "ZeRO-3 + offload of optimizer and parameters",
        "New tokens 128 → 96",
    ];
    let chinese = [
        "可扩展显存段",
        "微批大小 4 → 2",
        "梯度检查点",
        "Liger 分块损失",
        "8 比特 AdamW,状态放统一内存",
        "LoRA 秩 16 → 8",
        "ZeRO-3 + 优化器与参数卸载",
        "新生成长度 128 → 96",
    ];
    for (name, labels) in [("English", english), ("Chinese", chinese)] {
        for (start, gpu) in [(44, 24), (600, 24), (44, 80), (44, 4)] {
            for count in [0, 1, 4, 8] {
                for width in (240..1400).step_by(40) {
                    let capacity = format!("RTX 4090, {gpu}.0\u{a0}GiB");
                    let texts = Texts::of(&headroom_text::ENGLISH, String::new(), capacity);
                    let (orientation, palette) = (Orientation::Auto, Palette::Classes);
                    let look = Look { width, height: 380, orientation, palette, texts };
                    let picture = waterfall_svg(&levers(&labels[..count]), start * GIB, gpu * GIB, &look);
                    check(&format!("{name}, {count} levers from {start} on {gpu}"), &picture);
                }
            }
        }
    }
}

#[test]
fn words_of_a_fit_map_stand_apart() {
    let own = |values: Vec<u64>, own: u64| -> Vec<u64> {
        let mut values = values;
        values[9] = own;
        values
    };
    for (batch, length, batch_step, length_step) in
        [(10, 640, 1, 64), (10, 10_000, 1, 1024), (39, 2047, 4, 192), (983, 131_000, 100, 13_107)]
    {
        let batches = own((1..=24).map(|i| i * batch_step).collect(), batch);
        let lengths = own((1..=24).map(|i| i * length_step).collect(), length);
        let used_share = lengths.iter().map(|s| batches.iter().map(|b| (b * s) as f64 / 2e5).collect()).collect();
        let map = Map { batches, lengths, used_share };
        let [title, across, up, used] =
            ["显存利用率", "每卡批大小", "序列长度", "占用显存 0 – 100 %"].map(str::to_owned);
        let [capacity, fits, tight, does_not_fit, current] =
            ["RTX 4090 显存 24.0 GiB", "放得下", "勉强放下", "放不下", "当前方案"].map(str::to_owned);
        let chinese =
            FitMapTexts { title, batch: across, length: up, used, capacity, fits, tight, does_not_fit, current };
        for texts in [FitMapTexts::of(&headroom_text::ENGLISH, String::new(), false), chinese] {
            for width in (240..1400).step_by(20) {
                let look = FitMapLook { width, palette: Palette::Classes, texts: texts.clone() };
                let shown = FitMap { map: &map, tight_share: 0.9, current: (batch, length) };
                let picture = fit_map_svg(&shown, &look);
                check("fit map", &picture);
                assert!(picture.svg.contains(&format!(">{batch}</text>")), "the current batch size is written");
                assert!(picture.svg.contains(&format!(">{length}</text>")), "the current length is written");
            }
        }
    }
}
