//! `cargo xtask bench`: how fast the core answers, natively or in the browser.

use std::process::Command;

use crate::checkout;
use crate::failure::Result;
use crate::process;
use crate::setup::{self, TARGET, Toolbox};

const BENCH: [&str; 4] = ["--package", "headroom-core", "--bench", "estimate"];

pub(crate) fn bench() -> Result<()> {
    let mut command = Toolbox::default().command(checkout::cargo())?;
    process::run(command.arg("bench").args(BENCH), "the lines above say why.")
}

/// What a reader of the page waits for, against the bars, on the release build in a headless browser; then the core's
/// measurements there, built with the page's profile.
pub(crate) fn bench_in_browser() -> Result<()> {
    let mut toolbox = setup::for_building(Some("web"))?;
    setup::for_browser_tests(&mut toolbox)?;
    crate::build::build_with(&toolbox)?;
    let in_browser = |mut command: Command| {
        if let Some(chromium) = &toolbox.chromium {
            command.env("HEADROOM_CHROMIUM", chromium);
        }
        process::run(&mut command, "the lines above say why.")
    };
    let sources = checkout::root().join("crates/xtask/src");
    let mut page = toolbox.command("node")?;
    page.arg(sources.join("bench_page.mjs")).arg(checkout::root().join("dist"));
    in_browser(page)?;
    let mut core = toolbox.wasm_cargo()?;
    core.args(["bench", "--profile", "web", "--target", TARGET]).args(BENCH);
    let runner = format!("node {}", sources.join("bench_in_browser.mjs").display());
    core.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner);
    in_browser(core)
}
