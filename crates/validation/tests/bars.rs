//! The kept cases against the bars, and the core's table of measured steps against the cases.

#![allow(clippy::unwrap_used)]

use std::sync::OnceLock;

use headroom_core::accuracy;
use headroom_validation::bars::BARS;
use headroom_validation::{Kept, Reasons, folder, report, speed, table};

/// Every kept case, estimated once for all tests.
fn kept() -> &'static Kept {
    static KEPT: OnceLock<Kept> = OnceLock::new();
    KEPT.get_or_init(|| Kept::read().unwrap())
}

#[test]
fn bars_hold_and_open_ones_are_marked() {
    let kept = kept();
    let mut wrong = Vec::new();
    for bar in &BARS {
        let Some(value) = bar.value(kept) else { continue };
        let name = format!("{}, {}, {}: {value:.5}", bar.scope.words(), bar.metric, bar.figure.words());
        match (bar.is_met(value), bar.open) {
            (false, None) => wrong.push(format!("{name} misses {}", bar.limit)),
            (true, Some(_)) => wrong.push(format!("{name} is met now: take its `open` out of BARS")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_of_measured_steps_holds_what_was_measured() {
    let kept = kept();
    let fresh = table::table(kept);
    let embedded = accuracy::read(include_str!("../../core/src/accuracy/cases.txt"));
    assert_eq!(embedded.cases.len(), fresh.cases.len(), "run `cargo xtask validate`");
    assert_eq!(accuracy::read(&accuracy::write(&fresh)).cases.len(), fresh.cases.len());
    for case in &fresh.cases {
        let found = embedded.cases.iter().find(|other| (&other.file, &other.id) == (&case.file, &case.id)).unwrap();
        // Errors follow the estimate and change with it: `cargo xtask validate --check` compares them.
        let measured = |of: &accuracy::Validated| {
            of.figures.iter().map(|figure| (figure.metric, figure.measured_tenths)).collect::<Vec<_>>()
        };
        assert_eq!(measured(found), measured(case), "{}: run `cargo xtask validate`", case.id);
        let mut same = found.clone();
        same.figures.clone_from(&case.figures);
        assert_eq!(&same, case, "run `cargo xtask validate`");
    }
}

#[test]
fn reasons_are_of_cases_that_exist() {
    let kept = kept();
    let text = std::fs::read_to_string(folder().join("reasons.json")).unwrap();
    let reasons = Reasons::read(&text).unwrap();
    for (metric, id) in reasons.cases() {
        let found = kept.compared.iter().find(|case| case.case.id == id);
        assert!(found.is_some_and(|case| case.row(metric).is_some()), "{metric} of {id}");
    }
    assert!(report::markdown(kept, &reasons, None).contains("## Bars"));
    assert!(report::picture(kept).starts_with("<svg"));
}

#[test]
fn published_step_times_keep_their_order_and_ratios() {
    let times = speed::kept(&folder()).unwrap().unwrap();
    assert!(times.overall.is_met(), "{:?}", times.overall);
    assert!(times.left_out.is_empty(), "{:?}", times.left_out);
}
