//! What a picture draws as comma-separated values (RFC 4180), one row for each drawn value, for spreadsheets and scripts.
//!
//! Bytes are whole numbers. Words are in the language of the caller's texts; a word that a spreadsheet would take for a formula
//! begins with an apostrophe.

use headroom_core::advise::Level;
use headroom_core::memory::{Category, Estimate, Fit};
use headroom_text::Texts;

use crate::curves::Curve;
use crate::fit_map::FitMap;
use crate::look::Bar;
use crate::step::LeverBar;

/// A table under way.
struct Csv(String);

impl Csv {
    /// One with a first row of headings.
    fn new(heads: &[&str]) -> Self {
        let mut csv = Self(String::new());
        for (at, head) in heads.iter().enumerate() {
            csv.separate(at);
            csv.word(head);
        }
        csv.end();
        csv
    }

    /// A row: words first, then figures as they are written.
    fn row(&mut self, words: &[&str], figures: &[String]) {
        for (at, word) in words.iter().enumerate() {
            self.separate(at);
            self.word(word);
        }
        for (at, figure) in figures.iter().enumerate() {
            self.separate(at + words.len());
            self.0.push_str(figure);
        }
        self.end();
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.0.push(',');
        }
    }

    fn end(&mut self) {
        self.0.push_str("\r\n");
    }

    /// A word: quoted where it has to be, and never a formula.
    fn word(&mut self, word: &str) {
        let guard = if word.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
        if word.contains([',', '"', '\n', '\r']) {
            self.0.push('"');
            self.0.push_str(guard);
            self.0.push_str(&word.replace('"', "\"\""));
            self.0.push('"');
        } else {
            self.0.push_str(guard);
            self.0.push_str(word);
        }
    }
}

/// A share of the GPU in per cent, to a hundredth.
fn percent(bytes: u64, gpu_bytes: u64) -> String {
    format!("{:.2}", 100.0 * bytes as f64 / gpu_bytes.max(1) as f64)
}

/// What stands at the end of a row about `bytes`: they, the GPU's, the one in per cent of the other.
fn of_gpu(bytes: u64, gpu_bytes: u64) -> [String; 3] {
    [bytes.to_string(), gpu_bytes.to_string(), percent(bytes, gpu_bytes)]
}

/// What [`comparison_svg`](crate::comparison_svg) draws: each bar's categories, and its whole.
pub fn comparison_csv(bars: &[Bar], gpu_bytes: u64, words: &Texts) -> String {
    let of = &words.charts;
    let mut csv = Csv::new(&[of.method, words.column_plan, of.category, of.memory_bytes, of.gpu_bytes, of.share]);
    for bar in bars {
        let row = |name: &str, bytes: u64, csv: &mut Csv| {
            csv.row(&[&bar.group, &bar.label, name], &of_gpu(bytes, gpu_bytes));
        };
        for (category, bytes) in bar.parts.iter().filter(|(_, bytes)| *bytes > 0) {
            row((words.category)(*category), *bytes, &mut csv);
        }
        row(of.total, bar.total, &mut csv);
    }
    csv.0
}

/// What [`phases_svg`](crate::phases_svg) draws: each phase's categories, and its whole.
pub fn phases_csv(estimate: &Estimate, words: &Texts) -> String {
    let of = &words.charts;
    let mut csv = Csv::new(&[words.column_phase, of.category, of.memory_bytes, of.gpu_bytes, of.share]);
    for used in &estimate.phases {
        let phase = (words.phase)(used.phase);
        let parts: Vec<(Category, u64)> = estimate.need_by_category(used);
        for (category, bytes) in parts.into_iter().filter(|(_, bytes)| *bytes > 0) {
            csv.row(&[phase, (words.category)(category)], &of_gpu(bytes, estimate.gpu_bytes));
        }
        csv.row(&[phase, of.total], &of_gpu(estimate.need_bytes(used), estimate.gpu_bytes));
    }
    csv.0
}

/// What [`waterfall_svg`](crate::waterfall_svg) draws: the plan as it is, each lever with what it saves (less than nothing) or adds,
/// and what is then needed. The last row's need is that of the last bar.
pub fn waterfall_csv(levers: &[LeverBar], start_bytes: u64, gpu_bytes: u64, words: &Texts) -> String {
    let of = &words.charts;
    let heads = [words.advice.column_change, of.effect, of.change_bytes, of.then_bytes, of.gpu_bytes, of.share];
    let mut csv = Csv::new(&heads);
    let mut before = start_bytes;
    let mut row = |name: &str, effect: &str, need: u64| {
        let sign = if need < before { "-" } else { "" };
        let mut figures = vec![format!("{sign}{}", need.abs_diff(before))];
        figures.extend(of_gpu(need, gpu_bytes));
        csv.row(&[name, effect], &figures);
        before = need;
    };
    row(words.waterfall_before, "", start_bytes);
    for lever in levers {
        let effect = match lever.level {
            Level::Same => "",
            Level::Coarser => words.level_coarser,
            Level::Different => words.level_different,
        };
        row(&lever.label, effect, lever.need_bytes);
    }
    csv.0
}

/// What [`fit_map_svg`](crate::fit_map_svg) draws: a row for each cell, from the smallest batch and length on.
pub fn fit_map_csv(map: &FitMap<'_>, gpu_bytes: u64, answers: bool, words: &Texts) -> String {
    let (of, map_words) = (&words.charts, &words.options().map);
    let length = if answers { map_words.answer_length } else { map_words.length };
    let mut csv = Csv::new(&[words.column_verdict, map_words.batch, length, of.memory_bytes, of.gpu_bytes, of.share]);
    for (length, shares) in map.map.lengths.iter().zip(&map.map.used_share) {
        for (batch, share) in map.map.batches.iter().zip(shares) {
            let fit = match *share {
                share if share <= map.tight_share.min(1.0) => Fit::Fits,
                share if share <= 1.0 => Fit::Tight,
                _ => Fit::DoesNotFit,
            };
            let bytes = (share * gpu_bytes as f64).round() as u64;
            let mut figures = vec![batch.to_string(), length.to_string()];
            figures.extend(of_gpu(bytes, gpu_bytes));
            csv.row(&[(words.fit)(fit)], &figures);
        }
    }
    csv.0
}

/// What [`curves_svg`](crate::curves_svg) draws: the points of each curve; the step's course in per cent.
pub fn curves_csv(curves: [&Curve; 2], words: &Texts) -> String {
    let of = &words.charts;
    let mut csv = Csv::new(&[of.curve, of.passed, of.memory_bytes]);
    for curve in curves {
        for (passed, bytes) in &curve.points {
            csv.row(&[&curve.name], &[format!("{:.3}", passed * 100.0), bytes.to_string()]);
        }
    }
    csv.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

    use headroom_core::advise::map::Map;
    use headroom_core::job::Job;
    use headroom_core::memory;
    use headroom_core::plan::Plan;
    use headroom_text::{ENGLISH, Language};

    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn no_word_breaks_out_of_its_cell_or_becomes_a_formula() {
        let bar = |group: &str, label: &str| Bar {
            label: label.to_owned(),
            group: group.to_owned(),
            parts: vec![(Category::Weights, GIB), (Category::KvCache, 0)],
            total: GIB,
            selected: false,
            id: String::new(),
        };
        let bars = [bar("=HYPERLINK(\"x\")", "a, \"b\"\nc"), bar("@SUM", "-1"), bar("+1", "plain")];
        let csv = comparison_csv(&bars, 2 * GIB, &ENGLISH);
        let expected = "Method,Plan,Category,Memory (bytes),GPU memory (bytes),Share of the GPU (%)\r\n\
            \"'=HYPERLINK(\"\"x\"\")\",\"a, \"\"b\"\"\nc\",Weights,1073741824,2147483648,50.00\r\n\
            \"'=HYPERLINK(\"\"x\"\")\",\"a, \"\"b\"\"\nc\",Total,1073741824,2147483648,50.00\r\n\
            '@SUM,'-1,Weights,1073741824,2147483648,50.00\r\n'@SUM,'-1,Total,1073741824,2147483648,50.00\r\n\
            '+1,plain,Weights,1073741824,2147483648,50.00\r\n'+1,plain,Total,1073741824,2147483648,50.00\r\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn the_categories_of_a_phase_add_up_to_its_total() {
        let estimate = memory::outline(&Job::resolve(&Plan::default()).expect("the first plan is one"));
        for language in Language::ALL {
            let words = language.texts();
            let csv = phases_csv(&estimate, words);
            let mut sum = 0;
            let mut totals = 0;
            for line in csv.lines().skip(1) {
                let cells: Vec<&str> = line.split(',').collect();
                let bytes: u64 = cells[2].parse().expect("bytes are whole");
                if cells[1] == words.charts.total {
                    assert_eq!(sum, bytes, "{line}");
                    (sum, totals) = (0, totals + 1);
                } else {
                    sum += bytes;
                }
            }
            assert_eq!(totals, estimate.phases.len());
            assert!(csv.lines().next().is_some_and(|heads| heads.starts_with(words.column_phase)));
        }
    }

    #[test]
    fn a_saving_is_less_than_nothing() {
        let lever = LeverBar { label: "Liger".to_owned(), need_bytes: GIB, level: Level::Coarser, id: String::new() };
        let csv = waterfall_csv(&[lever], 3 * GIB, 2 * GIB, &ENGLISH);
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(rows[0], "now,,0,3221225472,2147483648,150.00");
        assert!(rows[1].starts_with("Liger,") && rows[1].ends_with(",-2147483648,1073741824,2147483648,50.00"));
    }

    #[test]
    fn every_cell_of_the_map_has_its_verdict() {
        let map = Map { batches: vec![1, 2], lengths: vec![64], used_share: vec![vec![0.5, 1.25]] };
        let shown = FitMap { map: &map, tight_share: 0.9, current: (1, 64) };
        let csv = fit_map_csv(&shown, 1000, false, &ENGLISH);
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(rows, ["Fits,1,64,500,1000,50.00", "Does not fit,2,64,1250,1000,125.00"]);
    }
}
