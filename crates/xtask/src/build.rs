//! `cargo xtask build`: the optimised static site in `dist/`.

use crate::checkout;
use crate::failure::Result;
use crate::minify;
use crate::process;
use crate::setup::{self, Toolbox};
use crate::size;
use crate::split;

pub(crate) fn build() -> Result<()> {
    build_with(&setup::for_building(Some("web"))?)
}

pub(crate) fn build_with(toolbox: &Toolbox) -> Result<()> {
    // Trunk builds offline, so the crates come first; seconds when they are there.
    process::run(
        toolbox.wasm_cargo()?.args(["fetch", "--locked", "--quiet"]),
        "if the line above says that Cargo.lock needs to be updated, run `cargo check --workspace`; \
         otherwise check that this machine reaches its cargo registry.",
    )?;
    process::run(
        toolbox.command("trunk")?.args(["--skip-version-check", "build", "--config", "Trunk.toml"]),
        "the lines above say why.",
    )?;
    let dist = checkout::root().join("dist");
    split::split(toolbox, &dist)?;
    minify::minify(toolbox, &dist)?;
    println!("The site is in {}.", dist.display());
    size::check(toolbox, &dist)
}
