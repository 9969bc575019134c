//! `cargo xtask build`: the optimised static site in `dist/`.

use crate::checkout;
use crate::failure::Result;
use crate::minify;
use crate::process;
use crate::setup::{self, Toolbox};
use crate::size;
use crate::split;
use crate::trim;

pub(crate) fn build() -> Result<()> {
    build_with(&setup::for_building(Some("web"))?)
}

pub(crate) fn build_with(toolbox: &Toolbox) -> Result<()> {
    process::run(
        toolbox.command("trunk")?.args(["--skip-version-check", "build", "--config", "Trunk.toml"]),
        "the lines above say why.",
    )?;
    let dist = checkout::root().join("dist");
    trim::trim(toolbox, &dist)?;
    split::split(toolbox, &dist)?;
    minify::minify(toolbox, &dist)?;
    let arrange = checkout::root().join("crates/xtask/src/release.mjs");
    process::run(toolbox.command("node")?.arg(arrange).arg(&dist), "the lines above say why.")?;
    println!("The site is in {}.", dist.display());
    size::check(toolbox, &dist)
}
