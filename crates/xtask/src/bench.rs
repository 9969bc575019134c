//! `cargo xtask bench`: how fast the core answers, natively or in the browser.

use crate::checkout;
use crate::failure::Result;
use crate::process;
use crate::setup::{self, TARGET, Toolbox};

const BENCH: [&str; 4] = ["--package", "headroom-core", "--bench", "estimate"];

pub(crate) fn bench() -> Result<()> {
    let mut command = Toolbox::default().command(checkout::cargo())?;
    process::run(command.arg("bench").args(BENCH), "the lines above say why.")
}

/// The same measurements in a headless browser, built with the page's profile.
pub(crate) fn bench_in_browser() -> Result<()> {
    let mut toolbox = setup::for_building()?;
    setup::for_browser_tests(&mut toolbox)?;
    let script = checkout::root().join("crates/xtask/src/bench_in_browser.mjs");
    let mut command = toolbox.wasm_cargo()?;
    command.args(["bench", "--profile", "web", "--target", TARGET]).args(BENCH);
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", format!("node {}", script.display()));
    if let Some(chromium) = &toolbox.chromium {
        command.env("HEADROOM_CHROMIUM", chromium);
    }
    process::run(&mut command, "the lines above say why.")
}
