//! `cargo xtask test`: all tests, cheapest first, and a count of them at the end.

pub(crate) mod browser;
mod parts;
mod tally;

use std::time::Instant;

use crate::failure::{Failure, Result};
use crate::setup;
use tally::Tally;

/// A part of the tests that can be run by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Formatting, lints, all tests that run natively, and whether the report on the measured cases is up to date.
    Rust,
    /// The tests of core and charts in wasm.
    Wasm,
    /// The release build and the tests of its page in a browser.
    EndToEnd,
    /// Documentation sites with embedded plans, of every system that `docs/embedding.md` speaks of.
    DocsSites,
}

impl Part {
    pub(crate) fn named(name: &str) -> Result<Self> {
        match name {
            "rust" => Ok(Self::Rust),
            "wasm" => Ok(Self::Wasm),
            "e2e" => Ok(Self::EndToEnd),
            _ => Err(Failure::new(format!("`{name}` is no part of the tests: choose rust, wasm or e2e."))),
        }
    }
}

/// Runs all tests, or those of one part; words in `filter` go to the browser tests' runner.
pub(crate) fn test(only: Option<Part>, filter: &[&str]) -> Result<()> {
    let runs = |part| only.is_none_or(|only| only == part);
    let mut toolbox = setup::for_building(None)?;
    let has_browser = runs(Part::EndToEnd) || runs(Part::DocsSites);
    if has_browser {
        setup::for_browser_tests(&mut toolbox)?;
    }
    if runs(Part::DocsSites) {
        setup::for_docs_sites(&mut toolbox)?;
    }
    // Those that Python builds are built when they are asked for: no other test needs a Python.
    let python = if only == Some(Part::DocsSites) { Some(setup::for_pythons_docs_sites()?) } else { None };
    let mut total = Tally::default();
    let mut part = |name: &str, run: &mut dyn FnMut() -> Result<Tally>| {
        println!("\n== {name}");
        let start = Instant::now();
        // A part that fails does not keep the others from being run and counted.
        let tally = run().unwrap_or_else(|failure| {
            println!("{failure}");
            Tally::of(false)
        });
        println!("== {name}: {tally} ({:.1} s)", start.elapsed().as_secs_f64());
        total.add(tally);
        tally.failed == 0
    };
    if runs(Part::Rust) {
        part("formatting", &mut parts::formatting);
        part("lints", &mut parts::lints);
        part("lints of the page", &mut || parts::page_lints(&toolbox));
        part("native tests", &mut parts::native);
        part("report on the measured cases", &mut parts::report);
        part("answers that must not move", &mut parts::golden);
    }
    if runs(Part::Wasm) {
        part("wasm tests", &mut || parts::wasm(&toolbox));
        part("packages for scripts", &mut || parts::packages(&toolbox));
    }
    if has_browser && part("release build", &mut || parts::release_build(&toolbox)) {
        if runs(Part::EndToEnd) {
            part("browser tests", &mut || parts::browser(&toolbox, filter));
        }
        if runs(Part::DocsSites) {
            part("documentation sites", &mut || parts::docs_sites(&toolbox, python.as_deref()));
        }
    }
    println!("\n{total}");
    if total.failed == 0 { Ok(()) } else { Err(Failure::new("Some tests failed: the lines above say which.")) }
}
