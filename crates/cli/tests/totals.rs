//! What the terminal prints adds up: text and JSON of plans drawn at random.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../../core/tests/runnable_plan/mod.rs"]
mod runnable_plan;

mod program;

use headroom_core::link;
use program::headroom;
use serde_json::Value;

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} is not a whole number in {value}"))
}

/// Hundredths of a GiB, as they are printed.
fn hundredths(text: &str) -> u64 {
    text.replace('.', "").parse().unwrap_or_else(|_| panic!("{text} is no figure"))
}

/// The rows of the table under the heading that begins with `title`.
fn table<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| !line.starts_with(title)).skip(2).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn every_printed_total_is_the_verdicts_figure() {
    for plan in runnable_plan::runnable_plans(200) {
        let link = format!("#{}", link::encode(&plan));
        let json = headroom(&["estimate", &link, "--json"]).json();
        let need = number(&json["peak"]["band"], "expected");
        let sum = |rows: &Value, key: &str| rows.as_array().unwrap().iter().map(|row| number(row, key)).sum::<u64>();
        assert_eq!(sum(&json["allocations"], "bytes_at_peak") + sum(&json["overheads"], "bytes"), need, "{link}");
        let phases = json["phases"].as_array().unwrap();
        assert_eq!(phases.iter().map(|phase| number(phase, "needed_bytes")).max(), Some(need), "{link}");
        for phase in phases {
            let parts = number(phase, "allocated_bytes") + number(phase, "fragmentation_bytes");
            assert_eq!(parts + number(&json["peak"], "context_bytes"), number(phase, "needed_bytes"), "{link}");
        }

        let text = headroom(&["estimate", &link, "--full"]).out;
        let needs = text.split_once(": needs ").unwrap().1;
        let verdict = needs.strip_prefix("about ").unwrap_or(needs).split(' ').next().unwrap();
        let mut peaks = 0;
        for row in table(&text, "What each phase needs at its peak") {
            let (figures, is_peak) = (row.trim_end_matches("  peak"), row.ends_with("  peak"));
            let cells: Vec<u64> =
                figures.split("  ").filter(|cell| cell.contains('.')).map(|cell| hundredths(cell.trim())).collect();
            let [parts @ .., total, _] = cells.as_slice() else { panic!("{row}") };
            assert_eq!(parts.iter().sum::<u64>(), *total, "{row}\n{link}");
            if is_peak {
                peaks += 1;
                let shown: String = verdict.chars().take(verdict.find('.').unwrap() + 3).collect();
                assert!(hundredths(&shown).abs_diff(*total) <= 1, "{row}: the verdict says {verdict}\n{link}");
            }
        }
        assert_eq!(peaks, 1, "{text}");
    }
}
