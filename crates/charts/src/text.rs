//! Widths of text from a table, the same natively and in wasm.
//!
//! plotters would measure by appending a styled element to the page: a reflow per label, against a strict
//! Content-Security-Policy, and different from what the terminal gets.

/// Advance widths of U+0020 to U+007E in thousandths of an em: Helvetica's (Adobe Font Metrics), which Arial, Liberation Sans and, within
/// a few per cent, every sans-serif interface font share.
const ASCII_WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // space to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
];

/// Room for the widest of the usual fonts: DejaVu Sans, where Linux ends up without another, is an eighth wider than Helvetica.
const WIDEST_FONT: f64 = 1.125;
/// Bold letters are wider.
const BOLD_FACTOR: f64 = 1.08;

/// Width of `text` at `size` pixels per em, pixels.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    text.chars().map(|c| advance(c, bold)).sum::<f64>() * size
}

/// Advance of one character, em.
fn advance(c: char, bold: bool) -> f64 {
    let code = u32::from(c);
    let letter = match code {
        // Control characters, combining marks, zero-width characters and variation selectors.
        0..=0x1F | 0x7F..=0x9F | 0x300..=0x36F | 0x200B..=0x200F | 0xFE00..=0xFE0F => return 0.0,
        _ if is_full_width(code) => return 1.0,
        0xA0 => 278,
        0x20..=0x7E => ASCII_WIDTHS.get((code - 0x20) as usize).copied().unwrap_or(556),
        _ => 600,
    };
    f64::from(letter) / 1000.0 * WIDEST_FONT * if bold { BOLD_FACTOR } else { 1.0 }
}

/// Characters as wide as high: Han, kana, hangul, their punctuation, full-width forms, emoji.
fn is_full_width(code: u32) -> bool {
    matches!(
        code,
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE4F
            | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD
    )
}

/// Width of the widest part of `text` that [`wrap`] would not break.
pub(crate) fn widest_word(text: &str, size: f64, bold: bool) -> f64 {
    words(text).into_iter().map(|word| width(word.trim_end(), size, bold)).fold(0.0, f64::max)
}

/// Breaks `text` into at most `max_lines` lines of at most `max_width` pixels; what is left over ends in an ellipsis.
pub(crate) fn wrap(text: &str, size: f64, bold: bool, max_width: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words(text) {
        let fits = |line: &str| width(&format!("{line}{}", word.trim_end()), size, bold) <= max_width;
        match lines.last_mut() {
            Some(line) if line.is_empty() || fits(line) => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > max_lines {
        let rest = lines.split_off(max_lines.max(1));
        if let Some(last) = lines.last_mut() {
            last.push_str(&rest.concat());
        }
    }
    lines.iter().map(|line| ellipsis(line.trim_end(), size, bold, max_width)).collect()
}

/// `text`, cut with an ellipsis to at most `max_width` pixels.
pub(crate) fn ellipsis(text: &str, size: f64, bold: bool, max_width: f64) -> String {
    if width(text, size, bold) <= max_width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = width("…", size, bold);
    for c in text.chars() {
        used += advance(c, bold) * size;
        if used > max_width {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Full-width characters in a row that still count as one word: 卸载, 全部卸载.
const LONGEST_HAN_WORD: usize = 4;

/// Parts between which a line may break: after spaces, around short runs of full-width characters, and after every
/// character of a long run.
fn words(text: &str) -> Vec<&str> {
    let full_width = |c: char| is_full_width(u32::from(c));
    let mut words = Vec::new();
    for part in text.split_inclusive(' ') {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let run = rest.chars().take_while(|c| full_width(*c) == full_width(first));
            let (count, length) = run.fold((0, 0), |(count, length), c| (count + 1, length + c.len_utf8()));
            let (word, after) = rest.split_at(length);
            if full_width(first) && count > LONGEST_HAN_WORD {
                words.extend(word.split_inclusive(full_width));
            } else {
                words.push(word);
            }
            rest = after;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_the_font_metrics() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(width("GiB", 10.0, false), (7.78 + 2.22 + 6.67) * WIDEST_FONT));
        assert!(near(width("显存", 12.0, false), 24.0));
        assert!(near(width("", 12.0, true), 0.0));
        assert!(width("ZeRO-3", 12.0, true) > width("ZeRO-3", 12.0, false));
    }

    #[test]
    fn lines_break_at_spaces_and_between_han() {
        assert_eq!(wrap("ZeRO-3 + offload", 10.0, false, 54.0, 3), ["ZeRO-3 +", "offload"]);
        assert_eq!(wrap("全量微调卸载", 10.0, false, 30.0, 3), ["全量微", "调卸载"]);
        assert_eq!(wrap("ZeRO-2 + 卸载", 10.0, false, 66.0, 3), ["ZeRO-2 +", "卸载"]);
        assert_eq!(wrap("", 10.0, false, 30.0, 3), [""]);
    }

    #[test]
    fn what_does_not_fit_ends_in_an_ellipsis() {
        let lines = wrap("optimizer and parameter offload", 10.0, false, 40.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 10.0, false) <= 40.0 || line == "…"), "{lines:?}");
        assert!(lines.last().is_some_and(|line| line.ends_with('…')), "{lines:?}");
        assert_eq!(ellipsis("anything", 12.0, false, 0.0), "…");
    }
}
